"""The outlier score of an exploration: how far rows are from the rows nearest to them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from sklearn.base import BaseEstimator

from gramian.clustering import Completion, shared_distances
from gramian.typing import Array

_COMPARED = 2000  # rows that all others are compared with
_NEAREST = 11  # of which the nearest, the row itself where it is among those compared, does not count
_SMALL_GROUP = 5  # fewer rows do not make each other ordinary
_HALF = 5.0  # deviations beyond the usual that make a row half as odd as can be
_LEAST_DEVIATION = 0.1  # of the median distance of two rows: of copies, what is usual is nothing


class Oddness(BaseEstimator):
    """A score from 0 to 1 for rows that are unlike their own group and unlike everything else.

    r is the mean distance to the 10 nearest of at most 2,000 fitted rows, by the columns that both have. It is compared
    with what is usual among all fitted rows, and with what is usual in the own group: z = (r − median) / deviation, the
    smaller of the two, so that a small group far from the others is not odd row by row. The score is z / (z + 5), and 0
    for z <= 0. Similarity by mixtures would not tell: they count a row, however far, to the nearest component.

    Parameters
    ----------
    columns : sequence (d,), optional
        The column that each feature comes from, as in :class:`~gramian.clustering.Completion`.
    seed : int, default 0
        For the choice of rows to compare with.

    Attributes
    ----------
    units_ : Completion
        Scale of the columns, and the rows that all others are compared with.
    center_, deviation_ : ndarray (k + 1,)
        Median and deviation of r in each group; the last of all rows.

    Examples
    --------
    >>> import numpy as np
    >>> X = np.random.default_rng(0).standard_normal((200, 3))
    >>> oddness = Oddness().fit(X)
    >>> oddness.score(np.array([[0.1, 0.0, np.nan], [9.0, np.nan, 9.0]])).round(1)
    array([0. , 0.9])
    """

    def __init__(self, columns: Sequence[Any] | None = None, seed: int = 0) -> None:
        self.columns = columns
        self.seed = seed

    def fit(self, X: Array, groups: Array | None = None) -> Oddness:
        """Learn what is usual.

        Parameters
        ----------
        X : ndarray (n, d)
            NaN where missing.
        groups : ndarray (n,), optional
            From 0; −1 for rows of no group.
        """
        groups = np.full(len(X), -1) if groups is None else np.asarray(groups)
        self.units_ = Completion(self.columns).fit(X)
        if len(X) > _COMPARED:
            rows = np.sort(np.random.default_rng(self.seed).choice(len(X), _COMPARED, replace=False))
            X, groups, self.units_.donors_ = X[rows], groups[rows], self.units_.donors_[rows]
        compared = self.units_.donors_
        reach = _reach(self.units_.compare(X, _NEAREST)[1])
        known = np.isfinite(reach)
        step = max(1, len(compared) // 100)
        apart = shared_distances(compared[::step], compared)
        apart = apart[np.isfinite(apart) & (apart > 1e-12)]
        least = _LEAST_DEVIATION * float(np.sqrt(np.median(apart))) if len(apart) else 1e-12
        # A group of its own for all rows; groups of a few rows are judged by it too.
        parts = [known & (groups == group) for group in range(int(groups.max()) + 1)]
        parts = [part if part.sum() >= _SMALL_GROUP else known for part in (*parts, known)]
        found = [reach[part] if part.any() else np.zeros(1) for part in parts]
        self.center_ = np.array([np.median(values) for values in found])
        spreads = [1.4826 * float(np.median(np.abs(values - np.median(values)))) for values in found]
        self.deviation_ = np.maximum(spreads, max(spreads[-1], least))
        return self

    def renumber(self, order: Array) -> None:
        """Put what is usual in each group in another order of the groups; all rows together stay the last."""
        parts = [*order, -1]
        self.center_, self.deviation_ = self.center_[parts], self.deviation_[parts]

    def score(self, X: Array, groups: Array | None = None) -> Array:
        """Of new rows (n,), given their groups; 0 for a row of which nothing is known."""
        return self.score_and_complete(X, groups)[0]

    def score_and_complete(self, X: Array, groups: Array | None = None) -> tuple[Array, Array]:
        """Scores (n,), and the rows in the units of comparison with holes filled (n, d'), for little more."""
        own = np.full(len(X), -1) if groups is None else np.asarray(groups)  # −1 is the last: all rows
        completed, distances = self.units_.compare(X, _NEAREST)
        reach = _reach(distances)
        beyond = [(reach - self.center_[of]) / self.deviation_[of] for of in (own, -1)]
        z = np.where(np.isfinite(reach), np.maximum(np.minimum(*beyond), 0.0), 0.0)
        return z / (z + _HALF), completed


def _reach(distances: Array) -> Array:
    """Mean distance to the nearest rows compared, but the very nearest."""
    nearest = np.sqrt(distances, dtype=np.float64)
    reach: Array = nearest[:, min(1, nearest.shape[1] - 1) :].mean(axis=1)
    return reach
