"""The alternation of KernelNet: train the network against a target, change the target, and again."""

from __future__ import annotations

from collections.abc import Callable
from copy import copy, deepcopy
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import torch
from torch import nn

from gramian.clustering.core import kmeans, unit_rows
from gramian.deep.identity_network import make_identity
from gramian.deep.kernel_net_objective import Walk, one_hot, pair_dependence, sample_factor, walk
from gramian.deep.stiefel import cayley_ascent
from gramian.deep.training import Settings, torch_generator, train
from gramian.kernels import RBF
from gramian.typing import Array

_CAYLEY_STEPS = 5
_STATE = ("width", "weight", "U", "labels", "objectives", "changes", "walk")


@dataclass(frozen=True)
class Plan:
    """What an alternation is to do, checked and resolved.

    Attributes
    ----------
    n_clusters, n_components : int
        Clusters, and columns of U.
    width : float or str
    update : str
        ``"eig"``, ``"sma"`` or ``"none"``.
    init : str
        ``"identity"`` or ``"pretrain"``.
    max_iter, n_refine, pretrain_iter, n_init : int
    or_indicators : bool
        Make the first round with the indicators of the clusters too, and go on from the larger objective.
    tol : float
    reconstruction_weight : float
    by_ratio : bool
        Whether the weight is relative to the terms at the start.
    zero_diagonal : bool
    jitter : float
        Deviation of the noise on the rows of a batch, in widths.
    refine_width : float
        What the width is multiplied by for the refinement.
    settings : Settings
        Of the training between two changes of U.
    """

    n_clusters: int
    n_components: int
    width: float | str
    update: str
    init: str
    max_iter: int
    n_refine: int
    pretrain_iter: int
    n_init: int
    or_indicators: bool
    tol: float
    reconstruction_weight: float
    by_ratio: bool
    zero_diagonal: bool
    jitter: float
    refine_width: float
    settings: Settings


@dataclass
class Alternation:
    """One run.

    Attributes
    ----------
    module : ModuleDict
        With ``"encoder"`` and, where the plan needs one, ``"decoder"``. Trained in place.
    rows : ndarray (n, d)
        Scaled.
    tensor : Tensor (n, d)
        The same on the device, in the precision of training.
    plan : Plan
    rng : numpy.random.Generator
    watch : callable, optional
        Called after each step with its number over all rounds and the terms.
    """

    module: Any
    rows: Array
    tensor: Any
    plan: Plan
    rng: np.random.Generator
    watch: Callable[[int, dict[str, float]], Any] | None = None
    width: float = 0.0
    weight: float = 0.0
    U: Array = field(default_factory=lambda: np.empty((0, 0)))
    labels: Array = field(default_factory=lambda: np.empty(0, np.intp))
    objectives: list[float] = field(default_factory=list)
    changes: list[float] = field(default_factory=list)
    n_steps: int = 0
    stopped: bool = False
    walk: Walk = field(init=False)

    def run(self) -> None:
        """Start, alternate and refine."""
        self.start()
        start = self.state() if self.plan.or_indicators else None
        self.alternate()
        if start is not None and not self.stopped:
            # Both have one round of training: more of it alone makes the objective larger.
            alternated = self.state()
            self.restore(start)
            self.follow_clusters(self.cluster())
            if self.objectives[-1] < alternated[0]["objectives"][-1]:
                self.restore(alternated)
        self.refine()

    def state(self) -> tuple[dict[str, Any], dict[str, Any]]:
        """What a run changes, and the weights, as they are now."""
        return {name: copy(getattr(self, name)) for name in _STATE}, deepcopy(self.module.state_dict())

    def restore(self, state: tuple[dict[str, Any], dict[str, Any]]) -> None:
        """Go back to a state."""
        values, weights = state
        for name, value in values.items():
            setattr(self, name, copy(value))
        self.module.load_state_dict(weights)

    def alternate(self) -> None:
        """Network and U in turns."""
        for _ in range(self.plan.max_iter):
            if self.stopped:
                break
            self.fit_network(self.U)
            before = self.U
            self.update()
            self.changes.append(1 - float(np.sum((before.T @ self.U) ** 2)) / before.shape[1])
            if self.plan.update != "none" and self.changes[-1] < self.plan.tol:
                break

    def refine(self) -> None:
        """Indicators of the clusters in place of U."""
        self.labels = self.cluster()
        self.weight = 0.0
        if self.plan.n_refine and self.plan.refine_width != 1:
            self.width *= self.plan.refine_width
            self.walk = self.walk_now()
        for _ in range(self.plan.n_refine):
            if self.stopped:
                break
            self.follow_clusters(self.labels)
            self.labels = self.cluster()

    def follow_clusters(self, labels: Array) -> None:
        """A round with the indicators of clusters in place of U."""
        self.fit_network(one_hot(labels, self.plan.n_clusters))
        self.update()

    def start(self) -> None:
        """The network as the identity, the width of its kernel, and U by eigenvectors."""
        # A pre-trained network is only almost the identity, and where it folds the rows the spectral embedding of its
        # output is lost; that of the rows themselves is not.
        self.width = float(RBF(self.plan.width).fit(self.rows).width_)
        self.walk = walk(self.rows, self.width, zero_diagonal=self.plan.zero_diagonal)
        if self.plan.init == "identity":
            for part in self.module.values():
                make_identity(part, self.rng)
        else:
            self.pretrain()
        values, self.U = self.walk.leading(self.plan.n_components)
        self.objectives.append(float(values.sum()))
        self.weight = self.plan.reconstruction_weight
        if self.weight and self.plan.by_ratio:
            error = self.reconstruction_error()
            if not error > 0:
                raise ValueError(
                    "reconstruction_scale='ratio' compares with the error at the start, which is zero; pass "
                    "init='pretrain' or reconstruction_scale='absolute'"
                )
            self.weight *= abs(self.objectives[0]) / error

    def pretrain(self) -> None:
        """Train encoder and decoder to return their input."""
        encoder, decoder = self.module["encoder"], self.module["decoder"]

        def loss(batch: Any) -> dict[str, Any]:
            batch = batch.to(self.tensor.device)
            x = self.tensor[batch]
            z = encoder(x)
            return {"loss": nn.functional.mse_loss(z, x) + nn.functional.mse_loss(decoder(z), x)}

        self.train(loss, self.plan.settings.but(max_iter=self.plan.pretrain_iter))

    def fit_network(self, target: Array) -> None:
        """Train the network while the target and the degrees stand still."""
        B = torch.tensor(self.walk.targets(target), dtype=self.tensor.dtype, device=self.tensor.device)
        n, width, weight = len(self.rows), self.width, self.weight
        noise, spread = torch_generator(self.rng), self.plan.jitter * self.width

        def loss(batch: Any) -> dict[str, Any]:
            batch = batch.to(self.tensor.device)
            x = self.tensor[batch]
            if spread:
                x = x + spread * torch.randn(x.shape, generator=noise, dtype=x.dtype).to(x.device)
            z = self.module["encoder"](x)
            terms = {"dependence": sample_factor(n, len(batch)) * pair_dependence(z, B[batch], width)}
            terms["loss"] = -terms["dependence"]
            if weight:
                terms["reconstruction"] = torch.sum((self.module["decoder"](z) - x) ** 2) * (n / len(batch))
                terms["loss"] = terms["loss"] + weight * terms["reconstruction"]
            return terms

        self.train(loss, self.plan.settings)

    def train(self, loss: Callable[[Any], dict[str, Any]], settings: Settings) -> None:
        done, watch = self.n_steps, self.watch
        tell = None if watch is None else (lambda step, terms: watch(done + step, terms))
        history = train(self.module, loss, len(self.rows), settings, self.rng, on_step=tell)
        self.n_steps += history.n_iter
        self.stopped = self.stopped or history.stopped == "callback"

    def update(self) -> None:
        """The walk on the rows as they are embedded now, and U for it."""
        self.walk = self.walk_now()
        if self.plan.update == "eig":
            values, self.U = self.walk.leading(self.plan.n_components)
            value = float(values.sum())
        elif self.plan.update == "sma":
            self.U, value = cayley_ascent(self.U, self.walk.operator.__matmul__, max_steps=_CAYLEY_STEPS)
        else:
            value = self.walk.value(self.U)
        self.objectives.append(value)

    def walk_now(self) -> Walk:
        """The walk on the rows as they are embedded."""
        return walk(self.embedded(), self.width, zero_diagonal=self.plan.zero_diagonal)

    def cluster(self) -> Array:
        """k-means on the rows of U."""
        U = self.U if self.U.shape[1] == 1 else unit_rows(self.U)  # of a single column only signs would be left
        seed = int(self.rng.integers(2**31 - 1))
        return kmeans(U, self.plan.n_clusters, seed=seed, n_init=self.plan.n_init)[0]

    def embedded(self) -> Array:
        """The rows through the encoder, in double precision."""
        return embed(self.module["encoder"], self.rows)

    def reconstruction_error(self) -> float:
        """Squared error of all rows through encoder and decoder."""
        back = embed(self.module["decoder"], self.embedded())
        return float(np.sum((back - self.rows) ** 2))


def embed(network: nn.Module, rows: Array) -> Array:
    """Rows through a network in double precision, on the CPU."""
    exact = deepcopy(network).cpu().double().eval()
    with torch.no_grad():
        return np.asarray(exact(torch.tensor(np.asarray(rows, np.float64))).numpy())
