"""The search for width and regularization: leave-one-out over a grid, then between its points, without a refit.

One eigendecomposition of the centred Gram per width gives the errors of all regularizations
(:mod:`gramian.lssvm.spectrum`). Above 600 rows the widths are first tried on a part of them.
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

WIDTHS = 2.0 ** np.arange(-2, 4)  # times the median distance
REGULARIZATIONS = np.geomspace(1e-2, 1e6, 15)  # over the mean eigenvalue
_SMALL = 600  # rows up to which every width is tried on all of them
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

    def best(self, gram: Gram, **label: Any) -> Best:
        """The best regularization for a Gram: over the grid, then between its points."""
        spectrum = self.spectrum(gram)
        if self.given is not None:
            scores = self._tried(spectrum, self.given, label)
            return Best(self.given, float(np.diagonal(scores).sum()))
        grid = _grid(spectrum)
        scores = self._tried(spectrum, grid, label)
        gamma, score = _least(grid, scores)
        step = np.full(scores.shape[1], np.log(grid[1] / grid[0]) if len(grid) > 1 else 0.0)
        for _ in range(2):
            for j in range(scores.shape[1]):
                near = gamma[j] * np.exp(np.linspace(-step[j], step[j], _POINTS))
                near = near[near <= _limit(spectrum)]
                found, value = _least(near, self._tried(spectrum, near, label)[:, j : j + 1])
                if value[0] < (1 - _EQUAL) * score[j]:
                    gamma[j], score[j] = found[0], value[0]
            step /= (_POINTS - 1) / 2
        return Best(gamma if self.each else gamma[:1], float(score.sum()))

    def _tried(self, spectrum: CenteredSpectrum, regularizations: Array, label: dict[str, Any]) -> Array:
        """Scores (g, q), or (g, 1) where all outputs share γ; written into the table."""
        scores = self.scores(spectrum, regularizations)
        total = scores.mean(axis=1)
        for gamma, score in zip(regularizations, total, strict=True):
            self.trials.append({**label, "rows": len(self.Y), "regularization": float(gamma), "score": float(score)})
        return scores if self.each else total[:, None]


@dataclass
class Best:
    """The best that was found: γ of every output (or of all), and its score."""

    regularization: Array
    score: float


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
    return problem.best(gram, kernel=name, width=np.nan)


def choose_width(X: Matrix, problem: Problem, name: str = "rbf") -> tuple[Kernel, Best]:
    """An RBF kernel for prepared rows and its regularization.

    Widths from a quarter of the median distance to eight times are tried; then the least of the parabola through the
    best and its neighbours. Above 600 rows this is done on 600 of them, and the width found and a narrower one
    are tried on all, or on 2,000 above 2,500: with more rows narrower widths are best.
    """
    n = X.shape[0]
    typical = typical_distance(X, problem.counts)
    small = part_of(problem, _SMALL) if n > _SMALL else np.arange(n)
    rows, part = (X, problem) if n <= _SMALL else (X[small], problem.part(small))
    tried: dict[float, Best] = {}

    def attempt(width: float, rows: Matrix, problem: Problem) -> Best:
        kernel = RBF(width)._fitted(rows)
        return problem.best(kernel._unchecked("gram")(rows), kernel=name, width=width)

    for width in WIDTHS * typical:
        tried[float(width)] = attempt(float(width), rows, part)
    width = _vertex(tried)
    if n <= _SMALL:
        if width not in tried:
            tried[width] = attempt(width, rows, part)
    else:
        if n > _MOST:
            index = part_of(problem, _PART)
            X, problem = X[index], problem.part(index)
        tried = {w: attempt(w, X, problem) for w in (width, width / np.sqrt(2))}
    least = min(best.score for best in tried.values())
    width = max(w for w, best in tried.items() if best.score <= (1 + _EQUAL) * least)
    return RBF(width), tried[width]


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
    size = spectrum.size
    if not size > 0:
        return np.ones(1)
    grid = REGULARIZATIONS / size
    return np.unique(np.minimum(grid, max(_limit(spectrum), grid[0])))


def _limit(spectrum: CenteredSpectrum) -> float:
    """γ above which 1/γ is lost in the rounding of the largest eigenvalue."""
    return 0.1 / (NEAR_SINGULAR[np.dtype(spectrum.dtype).itemsize] * spectrum.norm) if spectrum.norm > 0 else np.inf


def _least(regularizations: Array, scores: Array) -> tuple[Array, Array]:
    """For every column the smallest γ whose score is the least up to ``_EQUAL``."""
    where = np.argmax(scores <= (1 + _EQUAL) * scores.min(axis=0), axis=0)
    return regularizations[where].astype(np.float64), scores[where, np.arange(scores.shape[1])].copy()


def _vertex(tried: dict[float, Best]) -> float:
    """The width at the least of the parabola in log width and log score through the best one and its neighbours."""
    widths = np.array(sorted(tried))
    scores = np.array([tried[width].score for width in widths])
    i = int(np.argmin(scores))
    if not 0 < i < len(widths) - 1 or not (scores[i - 1 : i + 2] > 0).all() or not np.isfinite(scores).all():
        return float(widths[i])
    left, middle, right = np.log(scores[i - 1 : i + 2])
    bend = left - 2 * middle + right
    if not bend > 0:
        return float(widths[i])
    return float(widths[i] * (widths[i + 1] / widths[i]) ** (0.5 * (left - right) / bend))
