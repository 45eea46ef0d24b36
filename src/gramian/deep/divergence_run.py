"""One training run of divergence-based clustering: warm-up on labels where there are some, then the divergence loss.

Labels of a neighbour graph are found anew during the warm-up: the graph of what the network has learned from the first
ones, and from moved copies of the images, is better than that of the pixels.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from copy import deepcopy
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import torch
from torch import nn
from torch.nn.functional import cross_entropy

from gramian.checks import is_real
from gramian.deep.architecture import Description, build
from gramian.deep.base import weights_of
from gramian.deep.cluster_losses import TERMS, divergence_terms, parse_width
from gramian.deep.partners import Partners
from gramian.deep.training import Settings, TrainingFailure, torch_generator, train
from gramian.deep.votes import align_labels
from gramian.deep.warm_start import spectral_labels
from gramian.grams.tiles import slices
from gramian.typing import Array

SMOOTHING = 0.1  # of the labels of the warm-up
N_LOOKS = 3
MOST_UNEVEN = 1.05  # how much Σ of the squared shares of the clusters may grow by looking again
_LEAST_AGREEMENT = 1e-8
_ROWS_AT_ONCE = 128
GIVEN = "given"


@dataclass(frozen=True)
class Task:
    """Everything that a run needs, so that it can be sent to another process.

    Attributes
    ----------
    description : dict
        Of the network.
    network : torch.nn.Module or None
        The user's own, whose description is only a name.
    settings : Settings
        Its ``max_iter`` counts the warm-up too.
    n_warm_up : int
        Steps of cross-entropy on ``labels``.
    labels : ndarray (n,)
        −1 for rows that the warm-up leaves out.
    partners : Partners
    width, term_weights, options
        Of the loss; ``options`` go to :func:`gramian.deep.cluster_losses.divergence_terms`.
    n_looks : int
        How often the warm-up finds the labels anew, by spectral clustering of the hidden layer.
    fresh : bool
        Draw new weights for the user's network.
    """

    description: Description
    network: nn.Module | None
    settings: Settings
    n_warm_up: int
    labels: Array
    partners: Partners
    width: Any
    term_weights: Sequence[float]
    options: dict[str, str] = field(default_factory=dict)
    n_looks: int = 0
    fresh: bool = False


@dataclass(frozen=True)
class Run:
    """What a run found.

    Attributes
    ----------
    weights : dict of ndarray
    loss : float
        Mean over the last pass through the rows, or with early stopping the best on the rows held back; runs are
        compared by it.
    curves : dict of ndarray
        The loss and its terms at each step after the warm-up.
    n_iter : int
        All steps.
    failure : str
        Why the training gave up; such a run has no weights and an infinite loss.
    """

    weights: dict[str, Array]
    loss: float
    curves: dict[str, Array]
    n_iter: int
    failure: str = ""


def hidden_and_scores(network: nn.Module, rows: Any) -> tuple[Any, Any]:
    """The last hidden layer and the scores before the softmax."""
    if not isinstance(network, nn.Sequential):
        found = network(rows)
        return found[0], found[1]
    for layer in network[:-1]:
        rows = layer(rows)
    return rows, network[-1](rows)


def build_described(description: Description) -> nn.Module:
    """The module of a description that the user wrote."""
    try:
        return build(description)
    except (KeyError, TypeError) as error:
        raise ValueError(
            f"network={description!r} is not the description of a network ({type(error).__name__}: {error}); pass for "
            'instance {"kind": "mlp", "sizes": [columns, units, clusters]}'
        ) from error


def check_network(network: nn.Module, X: Any, n_outputs: int) -> None:
    """Refuse a module of the user's that does not return hidden rows and one score per cluster."""
    if isinstance(network, nn.Sequential) and not len(network):
        raise ValueError("network has no layers; pass a module that returns (hidden, scores)")
    network = deepcopy(network).to(X.device, X.dtype).eval()
    try:
        found = hidden_and_scores(network, X[:2]) if isinstance(network, nn.Sequential) else network(X[:2])
    except RuntimeError as error:  # NotImplementedError, of a module without forward, is one too
        raise ValueError(f"network does not take rows of X, of {X.shape[1]} columns: {error}") from error
    shapes = [tuple(part.shape) if torch.is_tensor(part) else type(part).__name__ for part in _parts(found)]
    n = len(X[:2])
    fits = len(shapes) == 2 and all(isinstance(shape, tuple) and len(shape) == 2 for shape in shapes)
    if not fits or shapes[0][0] != n or shapes[1] != (n, n_outputs):
        raise ValueError(
            f"network returned {shapes} for {n} rows; return the pair (hidden, scores) of shapes ({n}, units) and "
            f"({n}, {n_outputs})"
        )
    if not found[1].requires_grad:
        raise ValueError("network has no weights that its scores depend on, so there is nothing to train")


def _parts(found: Any) -> list[Any]:
    return list(found) if isinstance(found, tuple | list) else [found]


def run(rng: np.random.Generator, task: Task, X: Any, watch: Any = None) -> Run:
    """Train one network.

    Parameters
    ----------
    rng : numpy.random.Generator
    task : Task
    X : tensor (n, d)
        Scaled.
    watch : callable, optional
        From the module to a function of step and terms; for callbacks.

    Returns
    -------
    run : Run
    """
    module = start_network(task, rng).to(X.device)
    losses = _Losses(task, X, module, rng)
    on_step = None if watch is None else watch(module)
    n_warm, stopped = 0, False
    shares = _shares(task.n_warm_up, task.n_looks)
    for number, n_steps in enumerate(shares):
        if number:
            losses.look_again(rng, last=number == len(shares) - 1)  # a short warm-up has fewer looks
        warm = task.settings.but(max_iter=n_steps, early_stopping=False)
        history = train(module, losses.labels, losses.labelled(), warm, rng, on_step=_later(on_step, n_warm))
        n_warm, stopped = n_warm + history.n_iter, history.stopped == "callback"
        if stopped:
            break
    left = 0 if stopped else task.settings.max_iter - task.n_warm_up
    losses.step = n_warm  # a schedule of the width counts all steps
    settings = task.settings.but(max_iter=left)
    history = train(module, losses.divergence, len(X), settings, rng, on_step=_later(on_step, n_warm))
    curve = history.curves.get("loss", np.empty(0))
    last = max(1, len(X) // task.settings.batch_size)
    loss = float(curve[-last:].mean()) if len(curve) else np.inf
    if len(history.validation):  # the weights are those of the best loss on the rows held back, not the last ones
        loss = float(history.validation[:, 1].min())
    return Run(weights_of(module), loss, history.curves, n_warm + history.n_iter)


def _shares(n_steps: int, n_looks: int) -> list[int]:
    """Steps of the warm-up before, between and after its looks; the first share is twice as long as the others."""
    if n_steps == 0:
        return []
    ends = [round(n_steps * part / (n_looks + 2)) for part in range(2, n_looks + 3)]
    return [end - start for start, end in zip([0, *ends], ends, strict=False) if end > start]


def _later(on_step: Any, n_before: int) -> Any:
    """The watch of a training that goes on after some steps."""
    return None if on_step is None else (lambda step, terms: on_step(step + n_before, terms))


def run_or_fail(rng: np.random.Generator, task: Task, X: Any, watch: Any = None) -> Run:
    """:func:`run`, but a training that gives up is a run of infinite loss, so that other runs still count."""
    try:
        return run(rng, task, X, watch)
    except TrainingFailure as failure:
        return Run({}, np.inf, {}, 0, str(failure))


def start_network(task: Task, rng: np.random.Generator) -> nn.Module:
    """The network with the weights that a run starts from."""
    if task.network is None:
        return build(task.description, torch_generator(rng))
    module = deepcopy(task.network).float()
    seed = int(rng.integers(2**63))
    if task.fresh:
        # The layers' own rules draw from the global generator, which is put back afterwards.
        with torch.random.fork_rng(devices=[]):
            torch.manual_seed(seed)
            for layer in module.modules():
                if callable(reset := getattr(layer, "reset_parameters", None)):
                    reset()
    return module


class _Losses:
    """The losses of a batch, for the training loop."""

    def __init__(self, task: Task, X: Any, module: nn.Module, rng: np.random.Generator) -> None:
        self.task, self.X, self.module = task, X, module
        self.rng = rng.spawn(1)[0]
        self.targets = torch.from_numpy(task.labels).to(X.device)
        self.step = 0
        self.first: tuple[Any, dict[str, Any]] | None = None

    def _pairs(self, batch: Any) -> tuple[Any, Any]:
        """Rows and, below them, their partners."""
        rows = self.X[batch]
        partners = self.task.partners
        both = torch.cat([rows, partners.of(self.X, batch, self.rng)]) if partners else rows
        return hidden_and_scores(self.module, both)

    def labels(self, batch: Any) -> dict[str, Any]:
        """Cross-entropy of the rows, and of their partners, with the labels of the warm-up."""
        batch = batch.to(self.X.device)
        scores = self._pairs(batch)[1]
        targets = self.targets[batch]
        return {"loss": cross_entropy(scores, targets.repeat(len(scores) // len(batch)), label_smoothing=SMOOTHING)}

    def labelled(self) -> Array:
        """The numbers of the rows that have a label."""
        return np.flatnonzero(self.targets.cpu().numpy() >= 0)

    def look_again(self, rng: np.random.Generator, *, last: bool = False) -> None:
        """Take the labels of spectral clustering of what the network has learned, in place of those it learned from.

        The last look goes back to the first labels, and to the weights learned from them, if clusters have become
        clearly less even since: this loss is for clusters of roughly equal size.
        """
        if self.first is None:
            self.first = self.targets, deepcopy(self.module.state_dict())
        rows = self.labelled()
        hidden, scores = self._answers(rows)
        found = spectral_labels(hidden, scores.shape[1], rng)
        inside = np.flatnonzero(found >= 0)
        if len(inside):  # otherwise the hidden rows tell nothing, and the labels remain
            # The clusters keep their outputs, so that what these have learned is not lost.
            found[inside] = align_labels(np.argmax(scores[inside], axis=1), found[inside], n_clusters=scores.shape[1])
            labels = np.full(len(self.X), -1)
            labels[rows] = found
            self.targets = torch.from_numpy(labels).to(self.X.device)
        if last and unevenness(self.targets) > MOST_UNEVEN * unevenness(self.first[0]):
            self.targets, weights = self.first
            self.module.load_state_dict(weights)

    def _answers(self, rows: Array) -> tuple[Array, Array]:
        """Hidden layer and scores of some rows, as after training."""
        self.module.eval()
        found: list[Array] = []
        with torch.inference_mode():
            for part in slices(len(rows), _ROWS_AT_ONCE):
                answers = hidden_and_scores(self.module, self.X[torch.from_numpy(rows[part]).to(self.X.device)])
                if not found:  # as in NetworkEstimator._answer
                    found = [np.empty((len(rows), answer.shape[1]), np.float32) for answer in answers]
                for kept, answer in zip(found, answers, strict=True):
                    kept[part] = answer.cpu().numpy()
        hidden, scores = found
        return hidden, scores

    def divergence(self, batch: Any) -> dict[str, Any]:
        """The divergence loss of the rows, and of their partners, and how differently these are assigned."""
        batch = batch.to(self.X.device)
        self.step += self.module.training
        width = width_at(self.task.width, self.step)
        hidden, scores = self._pairs(batch)
        A = torch.softmax(scores, dim=1)
        n = len(batch)
        sides = [
            divergence_terms(hidden[start : start + n], A[start : start + n], width=width, **self.task.options)
            for start in range(0, len(A), n)
        ]
        values = {name: sum(parts) / len(sides) for name, parts in zip(TERMS, zip(*sides, strict=True), strict=True)}
        loss = sum(weight * values[name] for weight, name in zip(self.task.term_weights, TERMS, strict=True))
        if len(sides) == 2:
            values["consistency"] = -torch.log((A[:n] * A[n:]).sum(dim=1) + _LEAST_AGREEMENT).mean()
            loss = loss + values["consistency"]
        return {"loss": loss} | values


def unevenness(labels: Any) -> float:
    """Σ of the squared shares of the clusters, for labels as a tensor; −1 is no label. Least for equal clusters."""
    sizes = torch.bincount(labels[labels >= 0]).double()
    return float((sizes / sizes.sum()).square().sum())


def width_at(width: Any, step: int) -> Any:
    """The width rule of a step, where ``width`` is a schedule."""
    if not callable(width):
        return width
    found: Any = width(step)
    check_width(found, f"width({step})")
    return found


def check_width(width: Any, name: str = "width") -> None:
    """Refuse what is no rule, number or schedule."""
    if callable(width):
        return
    if is_real(width):
        if not 0 < width < np.inf:
            raise ValueError(f"{name}={width!r} must be above 0 and finite")
        return
    parse_width(width)


def check_batch(batch_size: int, name: str, n_outputs: int) -> None:
    """Refuse batches that cannot hold two rows of each cluster; ``name`` is the parameter that counts the clusters."""
    if batch_size < 2 * n_outputs:
        raise ValueError(
            f"batch_size={batch_size} is too small for {name}={n_outputs}: a batch must hold several rows of each "
            f"cluster; pass batch_size >= {2 * n_outputs}, better {10 * n_outputs}"
        )


def check_term_weights(term_weights: Any) -> list[float]:
    """The weights of the three terms as numbers, refused where they cannot be weights."""
    found = np.asarray(term_weights, dtype=object)
    if found.shape != (3,) or not all(is_real(w) and 0 <= w < np.inf for w in found) or not any(found):
        raise ValueError(f"term_weights={term_weights!r} must be three numbers >= 0, not all of them 0")
    return [float(weight) for weight in found]


Watch = Callable[[nn.Module], Callable[[int, dict[str, float]], bool] | None]
