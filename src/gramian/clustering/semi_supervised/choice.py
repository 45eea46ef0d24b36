"""The choice of width, smoothness and label weight by leaving out one label at a time, without a refit.

For every width the similarities of some rows are factorised once, and the labelled rows, each without its own label,
are predicted for all label weights from one small eigendecomposition (``response.py``). Used by
:class:`gramian.SemiSupervisedKSC`.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from sklearn.base import clone

from gramian.clustering.semi_supervised.labels import Labels
from gramian.clustering.semi_supervised.response import LabelForces, Response, walk_weights
from gramian.grams import Gram
from gramian.kernels import Kernel, resolve_width
from gramian.typing import Array, Matrix

WIDTHS = 2.0 ** np.arange(-3, 2)
"""Times the width that the kernel has by itself; then √2 less and more than the best."""

SMOOTHNESS = (0.0, 0.9)
"""0.5 and 0.99 among them changed no mean accuracy by more than 0.001 on 17 tables."""

LABEL_WEIGHTS = (10**0.5, 10.0, 10**1.5)
"""Over the mean of k(x, x)."""

GRAPH_WEIGHTS = (0.1, 10**-0.5, 1.0)
"""Over the mean degree, for graphs without loops, whose negative eigenvalues larger weights would meet. Scores are then
small, and the level, which labels of so little weight cannot hold, smaller still."""

_SCALES = {"width", "radius"}
_EQUAL = 0.05  # errors that differ by less than this share are tied: few labels cannot tell them apart
_ROWS, _LABELLED = 500, 200  # most rows that parameters are chosen on, and most labelled ones of them


@dataclass
class Choice:
    """What was chosen: a kernel that is not fitted yet, γ₁, γ₂, and the table of what was tried."""

    kernel: Kernel
    smoothness: float
    label_weight: float
    table: dict[str, Array] | None = None


@dataclass
class _Trial:
    kernel: Kernel
    scale: float
    smoothness: float
    label_weight: float
    error: float
    safe: bool


def choose(
    kernel: Kernel,
    X: Matrix,
    labels: Labels,
    *,
    open_width: bool,
    smoothness: float | None,
    label_weight: float | None,
    rng: np.random.Generator,
) -> Choice:
    """The best width of a kernel, smoothness and label weight, as far as they are open.

    The error is the mean square of s e − c over the labelled rows, e without the own label and s >= 0 at its best, for
    the size of the scores decides nothing. It is compared among solutions that are minima. Of errors within five per
    cent of the least the largest smoothness is taken, then the widest kernel, then the least error.

    Parameters
    ----------
    kernel : Kernel
        Not fitted.
    X : array or CSR (n, d)
        Checked rows.
    labels : Labels
    open_width : bool
        Whether the kernel's width is to be chosen.
    smoothness, label_weight : float, optional
        As given, or None.
    rng : Generator
        Draws rows where there are more than 500.
    """
    sample, part = _sample(labels, rng)
    everything = len(sample) == labels.n
    rows = X if everything or kernel.pairwise else X[sample]
    trials: list[_Trial] = []

    def attempt(kernel: Kernel, scale: float) -> None:
        fitted = clone(kernel)._fitted(rows)
        gram = fitted._unchecked("gram")(rows)
        gram = gram if gram.shape[0] == len(sample) else gram.restricted(sample)
        trials.extend(_tried(kernel, scale, gram, part, smoothness, label_weight, approximate=fitted.approximate))

    if open_width:
        name, unit = _scale_of(kernel, rows)
        for scale in unit * WIDTHS:
            attempt(clone(kernel).set_params(**{name: float(scale)}), float(scale))
        middle = _least(trials).scale
        for scale in (middle / np.sqrt(2), middle * np.sqrt(2)):
            attempt(clone(kernel).set_params(**{name: float(scale)}), float(scale))
    else:
        attempt(kernel, np.nan)
    if not trials:
        raise ValueError(
            f"smoothness={smoothness!r} and label_weight={label_weight!r} leave a singular system for this kernel; "
            "change them a little, or pass None"
        )
    best = _best(trials)
    table = {
        name: np.array([getattr(trial, name) for trial in trials])
        for name in ("scale", "smoothness", "label_weight", "error", "safe")
    }
    return Choice(best.kernel, best.smoothness, best.label_weight, table)


def has_width(kernel: Kernel) -> bool:
    """Whether a kernel has a scale to choose."""
    return not (kernel.pairwise or kernel.sparse_blocks) and bool(_SCALES & set(kernel.get_params(deep=False)))


def _scale_of(kernel: Kernel, X: Matrix) -> tuple[str, float]:
    """The parameter that is a kernel's scale, and what it is by itself."""
    if "width" in kernel.get_params(deep=False):
        return "width", float(clone(kernel)._fitted(X).width_)
    return "radius", 2 * resolve_width("median", X, "manhattan")  # of a truncated L1 distance


def _tried(
    kernel: Kernel,
    scale: float,
    gram: Gram,
    labels: Labels,
    smoothness: float | None,
    label_weight: float | None,
    *,
    approximate: bool,
) -> list[_Trial]:
    """All open parameters of one kernel."""
    weights = np.ones(labels.n)
    if smoothness != 0:
        weights = walk_weights(gram.degrees(), approximate=approximate)
        labels = labels.restricted(weights[labels.rows] > 0)
    likeness = float(np.mean(np.abs(gram.diagonal())))
    loops = likeness > 0
    tried = np.array(LABEL_WEIGHTS) / likeness if loops else np.array(GRAPH_WEIGHTS) / float(np.mean(gram.degrees()))
    trials = []
    for gamma in SMOOTHNESS if smoothness is None else (smoothness,):
        if gamma == 0:
            block, repulsion, definite = gram.block(labels.rows, labels.rows).astype(np.float64), 0.0, True
        else:
            response = Response.beside_resonances(gram, weights, gamma, labels.rows)
            block, repulsion, definite = response.block, response.repulsion, response.is_definite is not False
        for weight in tried if label_weight is None else (label_weight,):
            try:
                forces = LabelForces(block, repulsion, labels.targets, float(weight))
            except np.linalg.LinAlgError:  # at a resonance
                continue
            safe = forces.is_safe if loops else forces.system.method == "cholesky"
            error = _error(forces.left_out, labels.targets)
            trials.append(_Trial(kernel, scale, float(gamma), float(weight), error, definite and safe))
    return trials


def _error(scores: Array, targets: Array) -> float:
    if not np.isfinite(scores).all():
        return np.inf
    size = float((scores**2).sum())
    factor = max(float((scores * targets).sum()) / size, 0.0) if size > 0 else 0.0
    return float(np.mean((factor * scores - targets) ** 2))


# Indefinite similarities may leave no solution that is a minimum; then the others are compared.


def _least(trials: list[_Trial]) -> _Trial:
    return min([trial for trial in trials if trial.safe] or trials, key=lambda trial: trial.error)


def _best(trials: list[_Trial]) -> _Trial:
    trials = [trial for trial in trials if trial.safe] or trials
    least = min(trial.error for trial in trials)
    tied = [trial for trial in trials if trial.error <= (1 + _EQUAL) * least]
    return max(tied, key=lambda trial: (trial.smoothness, np.nan_to_num(trial.scale), -trial.error))


def _sample(labels: Labels, rng: np.random.Generator) -> tuple[Array, Labels]:
    """Some rows, and the labels of those, with their places among them."""
    if labels.n <= _ROWS and len(labels.rows) <= _LABELLED:
        return np.arange(labels.n), labels
    kept = np.arange(len(labels.rows))
    if len(kept) > _LABELLED:
        kept = np.sort(_spread(labels, rng)[:_LABELLED])
    others = np.setdiff1d(np.arange(labels.n), labels.rows[kept])
    wanted = min(len(others), max(_ROWS - len(kept), 0))
    sample = np.sort(np.concatenate([labels.rows[kept], rng.choice(others, wanted, replace=False)]))
    part = labels.restricted(kept)
    rows = np.searchsorted(sample, part.rows)
    return sample, Labels(len(sample), rows, part.classes, part.codes, part.targets)


def _spread(labels: Labels, rng: np.random.Generator) -> Array:
    """The labelled rows in random order, one of each class in turn."""
    order = rng.permutation(len(labels.rows))
    codes: Any = labels.codes[order]
    if codes.ndim == 2:
        return order
    turn = np.empty(len(order), np.intp)
    for code in np.unique(codes):
        members = np.flatnonzero(codes == code)
        turn[members] = np.arange(len(members))
    return np.asarray(order[np.argsort(turn, kind="stable")])
