"""The search for width and regularization: leave-one-out over a grid, then between its points, without a refit.

One eigendecomposition of the centred Gram per width gives the errors of all regularizations
(:mod:`gramian.lssvm.spectrum`). Above 400 rows the widths are first tried on a part of them.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np

from gramian.grams.base import Gram
from gramian.kernels import RBF, Kernel, resolve_width
from gramian.lssvm.spectrum import CenteredSpectrum
from gramian.lssvm.system import NEAR_SINGULAR
from gramian.typing import Array, Matrix

WIDTHS = (0.25, 8.0)  # the least and the most, times the median distance
REGULARIZATIONS = np.geomspace(1e-2, 1e6, 15)  # over the mean eigenvalue
_SMALL = 400  # rows up to which every width is tried on all of them
_MOST = 2500  # rows up to which all of them choose the regularization
_PART = 2000  # rows that choose it where there are more
_POINTS = 9  # regularizations tried at once between two points of the grid
_EQUAL = 1e-4  # scores that differ by less count as equal, or rounding would choose on a plateau


@dataclass
class Problem:
    """What a machine is to learn, and how a choice is judged.

    Parameters
    ----------
    Y : ndarray (n, q)
        Targets.
    weights : ndarray (n,), optional
        v > 0 of the errors.
    counts : ndarray (n,), optional
        How many rows each stands for.
    output_scale : ndarray (q,)
        What the errors of each output are divided by, so that outputs of different size count alike.
    criterion : {"loo", "cv", "robust"}
        Mean square with each row left out, the same with each of ``n_splits`` parts left out, or the mean absolute
        value with each row left out, which outliers cannot drive.
    each : bool
        Whether every output has a regularization of its own.
    strata : ndarray of int (n,), optional
        Classes; a part of the rows then has some of each.
    given : ndarray (1,) or (q,), optional
        Regularizations that the user chose, so that only widths are compared.
    rng : Generator
        Draws parts of the rows; the same part for every kernel.
    trials : list of dict
        What was tried.
    """

    Y: Array
    weights: Array | None
    counts: Array | None
    output_scale: Array
    criterion: str = "loo"
    n_splits: int = 10
    each: bool = False
    strata: Array | None = None
    given: Array | None = None
    rng: np.random.Generator = field(default_factory=lambda: np.random.default_rng(0))
    trials: list[dict[str, Any]] = field(default_factory=list)
    parts: dict[int, Array] = field(default_factory=dict)

    def part(self, index: Array) -> Problem:
        """The same question about some of the rows; what is tried is written into the same table."""
        weights = None if self.weights is None else self.weights[index]
        counts = None if self.counts is None else self.counts[index]
        strata = None if self.strata is None else self.strata[index]
        return Problem(
            self.Y[index], weights, counts, self.output_scale, self.criterion, self.n_splits, self.each, strata,
            self.given, self.rng, self.trials,
        )  # fmt: skip

    def spectrum(self, gram: Gram) -> CenteredSpectrum:
        return CenteredSpectrum(gram, self.Y, self.weights, self.counts)

    def scores(self, spectrum: CenteredSpectrum, regularizations: Array) -> Array:
        """The criterion for every γ and output, shape (g, q); infinite where the system is singular."""
        n = len(self.Y)
        if self.criterion == "cv":
            folds = np.array_split(np.random.default_rng(0).permutation(n), min(self.n_splits, n))
            residuals = spectrum.folds_left_out(regularizations, folds)
        else:
            residuals = spectrum.left_out(regularizations)
        residuals = residuals / self.output_scale
        size = np.abs(residuals) if self.criterion == "robust" else residuals**2
        found = np.average(size, axis=0, weights=spectrum.weights)
        return np.where(np.isfinite(found), found, np.inf)

    def swept(self, gram: Gram, **label: Any) -> Best:
        """The best regularization of the grid for a Gram."""
        spectrum = self.spectrum(gram)
        if self.given is not None:
            scores = self._tried(spectrum, self.given, label)
            return Best(self.given, float(np.diagonal(scores).sum()), spectrum, label)
        grid = _grid(spectrum)
        gamma, score = _least(grid, self._tried(spectrum, grid, label))
        return Best(gamma, float(score.sum()), spectrum, label, np.log(grid[1] / grid[0]) if len(grid) > 1 else 0.0)

    def refined(self, best: Best) -> Best:
        """The same between the points of the grid: twice nine points at once, closer each time."""
        if self.given is not None:
            return best
        gamma, step = best.regularization.copy(), best.step
        score = np.full(len(gamma), np.inf)
        for _ in range(2):
            for j in range(len(gamma)):
                near = gamma[j] * np.exp(np.linspace(-step, step, _POINTS))
                near = near[near <= max(_limit(best.spectrum), gamma[j])]
                found, value = _least(near, self._tried(best.spectrum, near, best.label)[:, j : j + 1])
                if value[0] < (1 - _EQUAL) * score[j]:
                    gamma[j], score[j] = found[0], value[0]
            step /= (_POINTS - 1) / 2
        return Best(gamma, float(score.sum()), best.spectrum, best.label)

    def _tried(self, spectrum: CenteredSpectrum, regularizations: Array, label: dict[str, Any]) -> Array:
        """Scores (g, q), or (g, 1) where all outputs share γ; written into the table."""
        scores = self.scores(spectrum, regularizations)
        total = scores.mean(axis=1)
        for gamma, score in zip(regularizations, total, strict=True):
            self.trials.append({**label, "rows": len(self.Y), "regularization": float(gamma), "score": float(score)})
        return scores if self.each else total[:, None]


@dataclass
class Best:
    """The best that was found: γ of every output (or of all), its score, and what it takes to look closer."""

    regularization: Array
    score: float
    spectrum: CenteredSpectrum
    label: dict[str, Any]
    step: float = 0.0


def table(trials: list[dict[str, Any]]) -> dict[str, Array]:
    """What was tried, as columns."""
    names = ("kernel", "width", "rows", "regularization", "score")
    return {name: np.array([trial[name] for trial in trials]) for name in names}


def choose_regularization(gram: Gram, problem: Problem, name: str) -> Best:
    """γ for a Gram whose kernel is settled; from a part of the rows where there are many and no features."""
    n = gram.shape[0]
    few_features = gram.factor is not None and gram.factor.shape[1] <= _PART
    if n > _MOST and not few_features:
        index = part_of(problem, _PART)
        gram, problem = gram.restricted(index), problem.part(index)
    return problem.refined(problem.swept(gram, kernel=name, width=np.nan))


def choose_width(X: Matrix, problem: Problem, name: str = "rbf") -> tuple[Kernel, Best]:
    """An RBF kernel for prepared rows and its regularization.

    Half the median distance, itself and twice it are tried; from an end on, half or twice as much, down to a quarter
    and up to eight times; then the least of the parabola through the best and its neighbours. Above 400 rows this is
    done on 400 of them, and the width found and two beside it are tried on all, or on 2,000 above 2,500.
    """
    n = X.shape[0]
    part, rows = problem, X
    if n > _SMALL:
        index = part_of(problem, _SMALL)
        part, rows = problem.part(index), X[index]
    typical = typical_distance(X, problem.counts)
    scores: dict[float, float] = {}
    best: Best | None = None
    waiting = [1.0, 0.5, 2.0]
    while waiting:
        width = waiting.pop(0) * typical
        found = _attempt(width, rows, part, name)
        scores[width] = found.score
        best = _better(best, found)
        if not waiting:
            waiting = _beyond(scores, typical)
    if n > _SMALL:  # the widths are ordered now; how much γ and how narrow a width more rows bear, more rows say
        if n > _MOST:
            index = part_of(problem, _PART)
            problem, X = problem.part(index), X[index]
        middle = _vertex(scores)
        first, narrower = (_attempt(width, X, problem, name) for width in (middle, middle / np.sqrt(2)))
        best = _better(first, narrower)
        third = middle / 2 if best is narrower else middle * np.sqrt(2)
        best = _better(best, _attempt(third, X, problem, name))
    elif (width := _vertex(scores)) not in scores:
        best = _better(best, _attempt(width, X, problem, name))
    assert best is not None
    return RBF(best.label["width"]), problem.refined(best)


def _beyond(scores: dict[float, float], typical: float) -> list[float]:
    """The next width, relative to the typical distance, where the best so far is the least or the most; or none."""
    best = min(scores, key=lambda width: scores[width])
    if best == max(scores) and best < WIDTHS[1] * typical:
        return [2 * best / typical]
    if best == min(scores) and best > WIDTHS[0] * typical:
        return [best / typical / 2]
    return []


def _attempt(width: float, rows: Matrix, problem: Problem, name: str) -> Best:
    kernel = RBF(float(width))._fitted(rows)
    return problem.swept(kernel._unchecked("gram")(rows), kernel=name, width=float(width))


def _better(first: Best | None, second: Best) -> Best:
    """The one of smaller score; of equal ones the wider kernel, for rounding should not choose."""
    if first is None or second.score < (1 - _EQUAL) * first.score:
        return second
    equal = second.score <= (1 + _EQUAL) * first.score
    return second if equal and second.label["width"] > first.label["width"] else first


def part_of(problem: Problem, size: int) -> Array:
    """Some of the rows, drawn at random once; of classes each in its share, at least two rows where there are."""
    if size not in problem.parts:
        problem.parts[size] = _drawn(problem, size)
    return problem.parts[size]


def _drawn(problem: Problem, size: int) -> Array:
    n = len(problem.Y)
    if problem.strata is None:
        return np.sort(problem.rng.choice(n, size, replace=False))
    order = problem.rng.permutation(n)
    strata = problem.strata[order]
    places = np.empty(n)
    for stratum in np.unique(strata):
        members = np.flatnonzero(strata == stratum)
        places[members] = np.where(np.arange(len(members)) < 2, -1.0, (np.arange(len(members)) + 0.5) / len(members))
    return np.sort(order[np.argsort(places, kind="stable")[:size]])


def typical_distance(X: Matrix, counts: Array | None) -> float:
    """The median distance of two rows; 1 where all are equal or there is only one."""
    if X.shape[0] < 2:
        return 1.0
    first = X[:1].toarray() if hasattr(X, "toarray") else X[:1]
    same = abs(X - first).max() if not hasattr(X, "toarray") else abs(X.toarray() - first).max()
    return 1.0 if same == 0 else resolve_width("median", X, "euclidean", counts)


def _grid(spectrum: CenteredSpectrum) -> Array:
    if spectrum.largest <= 1e3 * float(np.finfo(spectrum.dtype).eps) * spectrum.norm:
        return np.ones(1)  # all rows are alike to the kernel, and any γ predicts the mean
    grid = REGULARIZATIONS / spectrum.size
    return np.unique(np.minimum(grid, max(_limit(spectrum), grid[0])))


def _limit(spectrum: CenteredSpectrum) -> float:
    """γ above which 1/γ is lost in the rounding of the largest eigenvalue."""
    return 0.1 / (NEAR_SINGULAR[np.dtype(spectrum.dtype).itemsize] * spectrum.norm) if spectrum.norm > 0 else np.inf


def _least(regularizations: Array, scores: Array) -> tuple[Array, Array]:
    """For every column the smallest γ whose score is the least up to ``_EQUAL``."""
    where = np.argmax(scores <= (1 + _EQUAL) * scores.min(axis=0), axis=0)
    return regularizations[where].astype(np.float64), scores[where, np.arange(scores.shape[1])].copy()


def _vertex(scores: dict[float, float]) -> float:
    """The width at the least of the parabola in log width and log score through the best one and its neighbours."""
    widths = np.array(sorted(scores))
    values = np.array([scores[width] for width in widths])
    i = int(np.argmin(values))
    if not 0 < i < len(widths) - 1 or not (values[i - 1 : i + 2] > 0).all() or not np.isfinite(values).all():
        return float(widths[i])
    left, middle, right = np.log(values[i - 1 : i + 2])
    bend = left - 2 * middle + right
    if not bend > 0:
        return float(widths[i])
    return float(widths[i] * (widths[i + 1] / widths[i]) ** (0.5 * (left - right) / bend))
