"""Rules of thumb for a kernel's width, from the distances in the data.

Each rule is a function of X and of the metric the kernel measures with. Above 2,000 rows a fixed random subset
of 2,000 stands for all pairs: medians and quantiles of distances, which such a sample gives to about 1 %.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from numbers import Real
from typing import Literal

import numpy as np
from scipy.sparse import issparse
from scipy.special import gammaincinv
from sklearn.metrics import pairwise_distances
from sklearn.neighbors import NearestNeighbors

from gramian.typing import Array, Matrix

Metric = Literal["euclidean", "manhattan"]
_MOST_ROWS = 2000
_KNN = 10


def resolve_width(width: float | str, X: Matrix, metric: Metric = "euclidean") -> float:
    """A width as a number: itself, or what its rule says about X.

    Parameters
    ----------
    width : float or str
        A positive number, or the name of a rule:

        ========================  =================================================================
        ``"median"``              median distance of two samples
        ``"median20"``, …         20 % (or the given percentage) of that median
        ``"silverman"``           s (4 / ((d+2) n))^(1/(d+4)), s² the mean variance of the features
        ``"range"``               15 % of the range of the distances
        ``"spectroscopy"``        95 % quantile of the samples' 5 % distance quantiles, over √χ²_d(0.95)
        ``"mean_knn"``            mean distance to the 10 nearest neighbours
        ========================  =================================================================
    X : array or CSR (n, d)
        The data.
    metric : {"euclidean", "manhattan"}
        Distance that the kernel uses.

    Examples
    --------
    >>> import numpy as np
    >>> resolve_width("median", np.array([[0.0], [1.0], [3.0]]))
    2.0
    """
    if isinstance(width, Real) and not isinstance(width, bool):
        if not (width > 0 and 1e-150 < float(width) < 1e150):
            raise ValueError(f"width={width!r} must be positive and finite; pass a number > 0 or a rule like 'median'")
        return float(width)
    rule, scale = _rule(width)
    if X.shape[0] == 1:
        raise ValueError(f"width={width!r} needs distances but n_samples=1; pass a number, e.g. width=1.0")
    some = X
    if X.shape[0] > _MOST_ROWS:
        some = X[np.sort(np.random.default_rng(0).choice(X.shape[0], _MOST_ROWS, replace=False))]
    value = scale * rule(some, X, metric)
    if not value > 0:
        raise ValueError(f"width={width!r} cannot be found because {_why_zero(some)}; pass a number, e.g. width=1.0")
    return value


def _why_zero(X: Matrix) -> str:
    low, high = (part.toarray() if issparse(part) else part for part in (X.min(axis=0), X.max(axis=0)))
    return "all rows are equal" if np.array_equal(low, high) else "too many rows are equal, or too few differ"


def _rule(width: object) -> tuple[Callable[[Matrix, Matrix, Metric], float], float]:
    rules = {
        "median": _median,
        "silverman": _silverman,
        "range": _range,
        "spectroscopy": _spectroscopy,
        "mean_knn": _mean_knn,
    }
    if isinstance(width, str):
        if width in rules:
            return rules[width], 1.0
        if (match := re.fullmatch(r"median(\d+)", width)) and int(match[1]) > 0:
            return _median, int(match[1]) / 100
    raise ValueError(
        f"width={width!r} is neither a positive number nor a rule; the rules are {', '.join(map(repr, rules))} "
        "and 'median20' for 20 % of the median"
    )


def _distances(X: Matrix, metric: Metric) -> Array:
    """All pairwise distances, diagonal exactly zero."""
    if not issparse(X):
        X = X - X.mean(axis=0, dtype=np.float64)  # keeps the expanded square exact for data far from the origin
    D: Array = pairwise_distances(X, metric=metric)
    np.fill_diagonal(D, 0.0)
    return D


def _median(X: Matrix, whole: Matrix, metric: Metric) -> float:
    pairs = _distances(X, metric)[np.triu_indices(X.shape[0], 1)]
    median = float(np.median(pairs))
    if median == 0 and pairs.any():  # many duplicates: look at the pairs that differ
        median = float(np.median(pairs[pairs > 0]))
    return median


def _silverman(X: Matrix, whole: Matrix, metric: Metric) -> float:
    n, d = whole.shape
    if issparse(whole):
        squares, mean = (np.asarray(part).ravel() for part in (whole.power(2).mean(axis=0), whole.mean(axis=0)))
        variance = float(np.mean(squares - mean**2))
    else:
        variance = float(np.mean(whole.var(axis=0, dtype=np.float64)))
        if np.array_equal(whole.min(axis=0), whole.max(axis=0)):
            variance = 0.0  # the mean of equal values need not be that value
    return float(np.sqrt(max(variance, 0.0)) * (4 / ((d + 2) * n)) ** (1 / (d + 4)))


def _range(X: Matrix, whole: Matrix, metric: Metric) -> float:
    return 0.15 * float(np.ptp(_distances(X, metric)[np.triu_indices(X.shape[0], 1)]))


def _spectroscopy(X: Matrix, whole: Matrix, metric: Metric) -> float:
    near = np.quantile(_distances(X, metric), 0.05, axis=1)
    # The 95 % quantile of χ² with d degrees of freedom; scipy.stats would be slow to import.
    return float(np.quantile(near, 0.95) / np.sqrt(2 * gammaincinv(X.shape[1] / 2, 0.95)))


def _mean_knn(X: Matrix, whole: Matrix, metric: Metric) -> float:
    # The sample asks, all rows answer: in a thinner sample neighbours would be farther away.
    n_neighbors = min(_KNN, whole.shape[0] - 1)
    search = NearestNeighbors(n_neighbors=n_neighbors + 1, metric=metric).fit(whole)
    return float(search.kneighbors(X)[0].sum() / (n_neighbors * X.shape[0]))  # itself is at distance zero
