"""Rules of thumb for a kernel's width, from the distances in the data.

Each rule is a function of the rows, their weights and the metric the kernel measures with; a row of weight 2 counts as
the row given twice. Above 2,000 rows a fixed random subset of 2,000 stands for all pairs: it gives means, medians and
quantiles of distances to about 1 %, and their range, which hangs on the farthest rows, to about 10 %.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import ClassVar, Literal, NamedTuple

import numpy as np
from scipy.sparse import issparse
from scipy.special import gammaincinv
from sklearn.exceptions import NotFittedError
from sklearn.metrics import pairwise_distances
from sklearn.neighbors import NearestNeighbors

from gramian.checks import is_real
from gramian.typing import Array, Matrix

Metric = Literal["euclidean", "manhattan", "chi_square"]
_MOST_ROWS = 2000
_KNN = 10


def resolve_width(
    width: float | str, X: Matrix, metric: Metric = "euclidean", sample_weight: Array | None = None
) -> float:
    """The width as a number; a rule such as ``"median"`` is resolved on X.

    Parameters
    ----------
    width : float or str
        A positive number, or the name of a rule:

        ========================  =================================================================
        ``"median"``              median distance of two samples
        ``"median20"``, …         20 % (or the given percentage) of that median
        ``"mean"``                mean distance of two samples
        ``"mean10"``, …           10 % (or the given percentage) of that mean
        ``"range10"``, …          10 % (or the given percentage) of the largest minus the smallest
                                  distance of two samples; 10 to 20 % are usual for normalised cuts
        ``"range"``               the same as ``"range15"``
        ``"silverman"``           s (4 / ((d+2) n))^(1/(d+4)), s² the mean variance of the features
        ``"spectroscopy"``        95 % quantile of the samples' 5 % distance quantiles, over √χ²_d(0.95)
        ``"mean_knn"``            mean distance to the 10 nearest neighbours
        ========================  =================================================================
    X : array or CSR (n, d)
        The data.
    metric : {"euclidean", "manhattan", "chi_square"}
        Distance that the kernel uses. Only medians, means and ranges are known of "chi_square".
    sample_weight : ndarray (n,), optional
        How often each row counts; n is their sum. Weights that are not whole numbers are scaled to a mean of one.

    Examples
    --------
    >>> import numpy as np
    >>> resolve_width("median", np.array([[0.0], [1.0], [3.0]]))
    2.0
    """
    if is_real(width):
        if not 1e-150 < float(width) < 1e150:
            raise ValueError(f"width={width!r} must be positive and finite; pass a number > 0 or a rule like 'median'")
        return float(width)
    rule, scale = _rule(width)
    if metric == "chi_square" and rule not in (_median, _mean, _range):
        raise ValueError(f"width={width!r} is not a rule for χ² distances; pass 'mean', 'median', 'range' or a number")
    rows = _Rows.of(X, sample_weight)
    if rows.total < 2:
        raise ValueError(f"width={width!r} needs distances but n_samples=1; pass a number, e.g. width=1.0")
    largest = max(abs(float(X.min())), abs(float(X.max())))
    if metric == "euclidean" and not 1e-150 < largest < 1e150 and largest > 0:
        size = "large" if largest > 1 else "small"
        raise ValueError(
            f"width={width!r} cannot be found because values of X, up to {largest:.3g}, are too {size} for squared "
            "distances; scale the columns, for instance with StandardScaler"
        )
    some = rows
    if rows.X.shape[0] > _MOST_ROWS:
        some = rows.part(np.sort(np.random.default_rng(0).choice(rows.X.shape[0], _MOST_ROWS, replace=False)))
    value = scale * rule(some, rows, metric)
    if not value > 0:
        raise ValueError(f"width={width!r} cannot be found because {_why_zero(some.X)}; pass a number, e.g. width=1.0")
    return value


class _Rows(NamedTuple):
    """Rows and how often each counts; None is once."""

    X: Matrix
    counts: Array | None

    @classmethod
    def of(cls, X: Matrix, weights: Array | None) -> _Rows:
        if weights is None:
            return cls(X, None)
        used = weights > 0
        counts = weights[used].astype(np.float64)
        if counts.max(initial=0) > 2**31 or not np.array_equal(counts, np.floor(counts)):  # all large floats are whole
            counts /= counts.mean()
        return cls(X[used], None if np.all(counts == 1) else counts)

    def part(self, index: Array) -> _Rows:
        return _Rows(self.X[index], None if self.counts is None else self.counts[index])

    @property
    def total(self) -> float:
        return float(self.X.shape[0] if self.counts is None else self.counts.sum())


def _why_zero(X: Matrix) -> str:
    low, high = (part.toarray() if issparse(part) else part for part in (X.min(axis=0), X.max(axis=0)))
    return "all rows are equal" if np.array_equal(low, high) else "too many rows are equal, or too few differ"


def _rule(width: object) -> tuple[Callable[[_Rows, _Rows, Metric], float], float]:
    rules: dict[str, tuple[Callable[[_Rows, _Rows, Metric], float], float]] = {
        "median": (_median, 1.0),
        "mean": (_mean, 1.0),
        "range": (_range, 0.15),
        "silverman": (_silverman, 1.0),
        "spectroscopy": (_spectroscopy, 1.0),
        "mean_knn": (_mean_knn, 1.0),
    }
    if isinstance(width, str):
        if width in rules:
            return rules[width]
        if (match := re.fullmatch(r"(median|mean|range)([0-9]{1,6})", width)) and int(match[2]) > 0:
            return rules[match[1]][0], int(match[2]) / 100
    raise ValueError(
        f"width={width!r} is neither a positive number nor a rule; the rules are {', '.join(map(repr, rules))}, "
        "and 'median20', 'mean20' or 'range20' for 20 % of the median, the mean or the range"
    )


def chi_square_distances(X: Array, Y: Array) -> Array:
    """Σ_j (x_j − y_j)² / (x_j + y_j) for all pairs of rows without negative values; 0/0 counts as 0."""
    total = np.zeros((len(X), len(Y)), X.dtype)
    for x, y in zip(X.T[:, :, None], Y.T[:, None, :], strict=True):
        sums, squares = x + y, (x - y) ** 2
        total += np.divide(squares, sums, out=squares, where=sums > 0)
    return total


def _distances(X: Matrix, metric: Metric) -> Array:
    """All pairwise distances, diagonal exactly zero."""
    if metric == "chi_square":
        return chi_square_distances(X, X)
    if not issparse(X):
        X = X - X.mean(axis=0, dtype=np.float64)  # keeps the expanded square exact for data far from the origin
    D: Array = pairwise_distances(X, metric=metric)
    np.fill_diagonal(D, 0.0)
    return D


def _pairs(rows: _Rows, metric: Metric) -> tuple[Array, Array | None]:
    """Distances of two samples, and how often each occurs; copies of a row are at distance zero."""
    upper = np.triu_indices(rows.X.shape[0], 1)
    pairs = _distances(rows.X, metric)[upper]
    if rows.counts is None:
        return pairs, None
    counts = rows.counts[upper[0]] * rows.counts[upper[1]]
    copies = float((rows.counts * (rows.counts - 1)).clip(min=0).sum()) / 2
    return (np.append(pairs, 0.0), np.append(counts, copies)) if copies else (pairs, counts)


def _quantile(values: Array, q: float, counts: Array | None) -> Array:
    """Quantiles along the last axis of values that occur ``counts`` times each."""
    if counts is None:
        return np.asarray(np.median(values, axis=-1) if q == 0.5 else np.quantile(values, q, axis=-1))
    order = np.argsort(values, axis=-1)
    ordered, end = np.take_along_axis(values, order, -1), np.cumsum(counts[order], axis=-1)
    # With its copies a value has the places first to last of the sorted sample; between places lie straight lines.
    first = end - counts[order]
    last = np.maximum(end - 1, first)
    place = q * max(float(counts.sum()) - 1, 0.0)
    here = np.sum(first <= place, axis=-1, keepdims=True) - 1
    following = np.minimum(here + 1, values.shape[-1] - 1)
    low, left = (np.take_along_axis(part, here, -1) for part in (ordered, last))
    high, right = (np.take_along_axis(part, following, -1) for part in (ordered, first))
    between = np.where(right > left, (place - left) / np.where(right > left, right - left, 1), 0).clip(0, 1)
    return np.asarray(low + between * (high - low))[..., 0]


def _median(rows: _Rows, whole: _Rows, metric: Metric) -> float:
    pairs, counts = _pairs(rows, metric)
    median = float(_quantile(pairs, 0.5, counts))
    if median == 0 and pairs.any():  # many duplicates: look at the pairs that differ
        apart = pairs > 0
        median = float(_quantile(pairs[apart], 0.5, None if counts is None else counts[apart]))
    return median


def _mean(rows: _Rows, whole: _Rows, metric: Metric) -> float:
    pairs, counts = _pairs(rows, metric)
    return float(np.average(pairs, weights=counts))


def _range(rows: _Rows, whole: _Rows, metric: Metric) -> float:
    return float(np.ptp(_pairs(rows, metric)[0]))


def _silverman(rows: _Rows, whole: _Rows, metric: Metric) -> float:
    X, counts, n, d = whole.X, whole.counts, whole.total, whole.X.shape[1]
    weights = np.full(X.shape[0], 1 / n) if counts is None else counts / n
    if issparse(X):
        mean = weights @ X
        variance = float(np.mean(weights @ X.power(2) - mean**2))
    elif np.array_equal(X.min(axis=0), X.max(axis=0)):
        variance = 0.0  # the mean of equal values need not be that value
    else:
        variance = float(np.mean(weights @ (X - weights @ X) ** 2))
    return float(np.sqrt(max(variance, 0.0)) * (4 / ((d + 2) * n)) ** (1 / (d + 4)))


def _spectroscopy(rows: _Rows, whole: _Rows, metric: Metric) -> float:
    near = _quantile(_distances(rows.X, metric), 0.05, rows.counts)
    # The 95 % quantile of χ² with d degrees of freedom; scipy.stats would be slow to import.
    return float(_quantile(near, 0.95, rows.counts) / np.sqrt(2 * gammaincinv(rows.X.shape[1] / 2, 0.95)))


def _mean_knn(rows: _Rows, whole: _Rows, metric: Metric) -> float:
    # The sample asks, all rows answer: in a thinner sample neighbours would be farther away.
    n, wanted = whole.X.shape[0], min(float(_KNN), whole.total - 1)
    counts = np.ones(n) if whole.counts is None else whole.counts
    enough = int(np.searchsorted(np.cumsum(np.sort(counts)), wanted + 1)) + 1  # rows, even if the rarest are near
    search = NearestNeighbors(n_neighbors=min(enough, n), metric=metric).fit(whole.X)
    distances, index = search.kneighbors(rows.X)
    before = np.cumsum(counts[index], axis=1) - counts[index]
    taken = np.clip(wanted + 1 - before, 0, counts[index])  # one of them is the sample itself, at distance zero
    means = (distances * taken).sum(axis=1) / wanted
    return float(np.average(means, weights=rows.counts))


class WidthMixin:
    """A ``width`` that is a number or a rule resolved in ``fit``."""

    width: float | str
    _metric: ClassVar[Metric] = "euclidean"

    def _resolve(self, X: Matrix, sample_weight: Array | None = None) -> None:
        self.width_ = resolve_width(self.width, X, self._metric, sample_weight)

    def _get_width(self) -> float:
        if hasattr(self, "width_"):
            return self.width_
        if isinstance(self.width, str):
            raise NotFittedError(f"width={self.width!r} is a rule about the data; call fit(X) first or pass a number")
        return resolve_width(self.width, np.empty((0, 0)))
