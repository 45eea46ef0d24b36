"""The one training loop: mini-batches, Adam, early stopping, and what happens when a step goes wrong.

An estimator says how the loss of some rows is computed; :func:`train` does the rest. It changes the module in place and
returns the curves.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
import torch
from sklearn.exceptions import ConvergenceWarning
from torch import nn

from gramian.deep.architecture import seed_layers
from gramian.progress import steps as progress_bar
from gramian.typing import Array

Terms = dict[str, Any]
Loss = Callable[[Any], Terms]
"""From the numbers of some rows (a LongTensor) to the terms of their loss; ``"loss"`` is what is minimised."""

MOST_FAILURES = 5
_IMPROVEMENT = 1e-4  # relative to the best loss so far


class TrainingFailure(ValueError):
    """The loss or its gradient was not finite, again and again."""


@dataclass(frozen=True)
class Settings:
    """How to train.

    Attributes
    ----------
    max_iter : int
        Steps of the optimiser.
    batch_size : int
        Rows of a step; all of them where there are fewer.
    learning_rate : float
    cool_down : float
        Part of the steps, at the end, over which the rate falls linearly to zero.
    early_stopping : bool
        Hold rows back, and keep the weights with the lowest loss on them.
    keep_on_interrupt : bool
        With early stopping, a keyboard interrupt ends the training with the best weights so far.
    validation_fraction : float
        Part of the rows that is held back.
    n_iter_no_change : int
        Passes over the rows without a better loss on the rows held back before training stops.
    batches : str
        ``"draws"``: each batch is drawn from all rows anew. ``"passes"``: the rows are shuffled and cut into batches,
        again and again; an incomplete last batch is left out.
    weight_decay : float
    gradient_clip : float or None
        Largest norm of the gradient of all weights.
    label : str
        What the progress bar says.
    verbose : int
    """

    max_iter: int
    batch_size: int = 100
    learning_rate: float = 1e-3
    cool_down: float = 0.0
    early_stopping: bool = False
    keep_on_interrupt: bool = False
    validation_fraction: float = 0.15
    n_iter_no_change: int = 10
    batches: str = "draws"
    weight_decay: float = 0.0
    gradient_clip: float | None = None
    label: str = "Training"
    verbose: int = 0

    def but(self, **changes: Any) -> Settings:
        """These settings with some of them changed."""
        return replace(self, **changes)


@dataclass
class History:
    """What a training run reports.

    Attributes
    ----------
    curves : dict of ndarray (n_iter,)
        Each term at every step, on the rows of that step.
    validation : ndarray (checks, 2)
        Step and loss on the rows held back; no rows without early stopping.
    n_iter : int
        Steps that were taken.
    stopped : str
        Why training ended: ``"max_iter"``, ``"early_stopping"``, ``"callback"`` or ``"interrupt"``.
    n_failures : int
        Steps whose loss or gradient was not finite.
    """

    curves: dict[str, Array] = field(default_factory=dict)
    validation: Array = field(default_factory=lambda: np.empty((0, 2)))
    n_iter: int = 0
    stopped: str = "max_iter"
    n_failures: int = 0


def train(
    module: nn.Module,
    loss: Loss,
    rows: int | Array,
    settings: Settings,
    rng: np.random.Generator,
    *,
    parameters: Sequence[Any] | None = None,
    optimizer: Callable[[Sequence[Any], float], Any] | None = None,
    on_step: Callable[[int, dict[str, float]], Any] | None = None,
) -> History:
    """Train a module in place.

    Parameters
    ----------
    module : torch.nn.Module
    loss : callable
        From the numbers of some rows, as a LongTensor, to a dict of terms; ``"loss"`` is minimised.
    rows : int or ndarray of int
        The number of rows, or the numbers of those to train on.
    settings : Settings
    rng : numpy.random.Generator
        Draws the rows held back, the batches and what layers draw while training.
    parameters : sequence of tensors, optional
        What is trained; all parameters of the module by default.
    optimizer : callable, optional
        From parameters and a learning rate to an optimiser of torch; Adam by default.
    on_step : callable, optional
        Called after each step with its number (the first is 1) and the terms; a true answer ends the training.

    Returns
    -------
    history : History

    Raises
    ------
    TrainingFailure
        If the loss or its gradient is not finite for the fifth time. Before that, the last good weights are restored
        and training goes on with half the rate.
    """
    run = _Run(module, loss, np.arange(rows) if isinstance(rows, int) else rows, settings, rng, parameters, optimizer)
    was_training = module.training
    module.train()
    try:
        # A user's layers, such as nn.Dropout, draw from torch's global generators, which are put back afterwards.
        with (
            torch.random.fork_rng(devices=range(torch.cuda.device_count())),
            progress_bar(settings.label, total=settings.max_iter, verbose=settings.verbose) as advance,
        ):
            torch.manual_seed(run.seed)
            run.go(on_step, advance)
    finally:
        module.train(was_training)
    return run.history


class _Run:
    """One call of :func:`train`."""

    def __init__(
        self,
        module: nn.Module,
        loss: Loss,
        rows: Array,
        settings: Settings,
        rng: np.random.Generator,
        parameters: Sequence[Any] | None,
        optimizer: Callable[[Sequence[Any], float], Any] | None,
    ) -> None:
        self.module, self.loss, self.settings, self.rng = module, loss, settings, rng
        self.history = History()
        self.parameters = list(module.parameters() if parameters is None else parameters)
        self.make = optimizer or (lambda p, rate: torch.optim.Adam(p, rate, weight_decay=settings.weight_decay))
        self.rate = settings.learning_rate
        self.optimizer = self.make(self.parameters, self.rate)
        # Buffers, such as the means of a batch normalisation, are restored with the weights.
        self.state = [*self.parameters, *(buffer for buffer in module.buffers())]
        self.good = [tensor.detach().clone() for tensor in self.state]
        generator = torch_generator(rng)
        self.seed = generator.initial_seed()
        seed_layers(module, generator)
        self.rows, self.held_back = _split(rows, settings, rng)
        self.best: list[Any] = []
        self.best_loss, self.waited = np.inf, 0

    def go(self, on_step: Callable[[int, dict[str, float]], Any] | None, advance: Callable[..., None]) -> None:
        curves: dict[str, list[float]] = {}
        checks: list[tuple[int, float]] = []
        batches = draw_batches(self.rows, self.settings.batch_size, self.rng, self.settings.batches)
        every = max(1, len(self.rows) // min(self.settings.batch_size, len(self.rows)))
        try:
            for step in range(1, self.settings.max_iter + 1):
                terms = self.step(step, next(batches))
                for name, value in terms.items():
                    curves.setdefault(name, []).append(value)
                self.history.n_iter = step
                advance()
                if on_step is not None and on_step(step, terms):
                    self.history.stopped = "callback"
                    break
                if len(self.held_back) and (step % every == 0 or step == self.settings.max_iter):
                    checks.append((step, self.held_back_loss()))
                    if self.has_settled(checks[-1][1]):
                        self.history.stopped = "early_stopping"
                        break
        except KeyboardInterrupt:
            if not (self.settings.keep_on_interrupt and self.best):
                raise
            self.history.stopped = "interrupt"
        if self.best:
            _copy(self.best, self.state)
        self.history.curves = {name: np.array(values) for name, values in curves.items()}
        self.history.validation = np.array(checks, dtype=float).reshape(-1, 2)

    def step(self, step: int, batch: Array) -> dict[str, float]:
        """One step; after a loss or gradient that is not finite, from the last good weights with half the rate."""
        while True:
            self.optimizer.zero_grad(set_to_none=True)
            terms = self.loss(torch.from_numpy(batch))
            values = {name: value.item() if torch.is_tensor(value) else float(value) for name, value in terms.items()}
            if np.isfinite(values["loss"]):
                if terms["loss"].requires_grad:
                    terms["loss"].backward()
                trained = [p for p in self.parameters if p.grad is not None]
                if self.settings.gradient_clip is None:
                    norm = nn.utils.get_total_norm([p.grad for p in trained]) if trained else torch.zeros(())
                else:
                    norm = nn.utils.clip_grad_norm_(trained, self.settings.gradient_clip)
                if torch.isfinite(norm):
                    _copy(self.state, self.good)
                    self.set_rate(step)
                    self.optimizer.step()
                    return values
            self.recover(step)

    def set_rate(self, step: int) -> None:
        """The rate of a step; that of the last one is the least, but not zero."""
        falling = self.settings.cool_down * self.settings.max_iter
        if falling:
            for group in self.optimizer.param_groups:
                group["lr"] = self.rate * min(1.0, (self.settings.max_iter + 1 - step) / falling)

    def recover(self, step: int) -> None:
        self.history.n_failures += 1
        if self.history.n_failures >= MOST_FAILURES:
            raise TrainingFailure(
                f"training gave up at step {step}: the loss or its gradient was not finite {MOST_FAILURES} times, the "
                f"last time with a learning rate of {self.rate:g}; scale the columns of X, for instance with "
                f"StandardScaler, or pass a learning_rate below {self.settings.learning_rate:g}"
            )
        _copy(self.good, self.state)
        self.rate /= 2
        self.optimizer = self.make(self.parameters, self.rate)  # its moments may not be finite either

    def held_back_loss(self) -> float:
        """Mean loss of the rows held back, in batches, with the network as it answers."""
        self.module.eval()
        total, n_parts = 0.0, -(-len(self.held_back) // self.settings.batch_size)
        with torch.no_grad():
            # Parts of equal size: a loss of pairs of rows has no value for a last part of one row.
            for part in np.array_split(self.held_back, n_parts):
                total += len(part) * self.loss(torch.from_numpy(part))["loss"].item()
        self.module.train()
        return total / len(self.held_back)

    def has_settled(self, loss: float) -> bool:
        """Note the loss on the rows held back; whether it has not become better for long enough."""
        if loss < self.best_loss - _IMPROVEMENT * abs(self.best_loss if np.isfinite(self.best_loss) else 0.0):
            self.best_loss, self.waited = loss, 0
            self.best = [tensor.detach().clone() for tensor in self.state]
        else:
            self.waited += 1
        return self.waited >= self.settings.n_iter_no_change


def draw_batches(rows: Array, size: int, rng: np.random.Generator, how: str = "draws") -> Iterator[Array]:
    """Batches of row numbers without end: drawn each time anew, or passes over the shuffled rows.

    Parameters
    ----------
    rows : ndarray of int
    size : int
        All rows where there are fewer.
    rng : numpy.random.Generator
    how : str
        ``"draws"`` or ``"passes"``, as in :class:`Settings`.

    Yields
    ------
    batch : ndarray of int64 (min(size, n),)
        No row twice.
    """
    n, size = len(rows), min(size, len(rows))
    rows = np.asarray(rows, np.int64)
    while True:
        if size == n:
            yield rows.copy()
        elif how == "draws":
            yield rows[rng.choice(n, size, replace=False)]
        else:
            order = rng.permutation(n)
            for start in range(0, n - size + 1, size):
                yield rows[order[start : start + size]]


def torch_generator(rng: np.random.Generator) -> torch.Generator:
    """A generator of torch, seeded by a draw from a generator of NumPy."""
    return torch.Generator().manual_seed(int(rng.integers(2**63)))


def warn_if_unsettled(message: str) -> None:
    """Tell of a result that training did not really reach."""
    warnings.warn(message, ConvergenceWarning, stacklevel=3)


def _split(rows: Array, settings: Settings, rng: np.random.Generator) -> tuple[Array, Array]:
    """Rows to train on, and rows held back (none without early stopping)."""
    rows = np.asarray(rows, np.int64)
    if not settings.early_stopping:
        return rows, rows[:0]
    n_held = min(max(2, round(settings.validation_fraction * len(rows))), len(rows) - 2)
    if n_held < 2:
        raise ValueError(
            f"early_stopping=True holds at least two rows back, but X has only {len(rows)} samples; pass False"
        )
    order = rng.permutation(len(rows))
    return rows[np.sort(order[n_held:])], rows[np.sort(order[:n_held])]


def _copy(source: Sequence[Any], target: Sequence[Any]) -> None:
    with torch.no_grad():
        for old, new in zip(target, source, strict=True):
            old.copy_(new)
