"""How far rows are from the rows nearest to them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from sklearn.base import BaseEstimator

from gramian.clustering import Completion, shared_distances
from gramian.typing import Array

_COMPARED = 2000  # rows that all others are compared with
_NEAREST = 11  # with the row itself, where it is among those
_HALF = 5.0  # deviations beyond the usual that make a row half as odd as can be
_DISTANCES_AT_ONCE = 4_000_000


class Oddness(BaseEstimator):
    """A score from 0 to 1 for rows that are like few others, among them rows that come later.

    The distance r to the 11th nearest of at most 2,000 fitted rows, by the columns that both have, is compared with
    that of the fitted rows: z = (r − median) / (1.48 · median absolute deviation), and the score is z / (z + 5), 0 for
    z <= 0. Likeness by mixtures would not tell: they count a row, however far, to the component that is least far.

    Parameters
    ----------
    columns : sequence (d,), optional
        The column that each feature comes from, as in :class:`~gramian.clustering.Completion`.
    seed : int, default 0
        For the choice of rows to compare with.

    Attributes
    ----------
    units_ : Completion
        Scale of the columns.
    compared_ : ndarray (m, d')
    center_, deviation_ : float
        Of r.

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

    def fit(self, X: Array) -> Oddness:
        self.units_ = Completion(self.columns).fit(X)
        self.compared_ = self.units_.donors_
        if len(X) > _COMPARED:
            rows = np.random.default_rng(self.seed).choice(len(X), _COMPARED, replace=False)
            self.compared_ = self.compared_[np.sort(rows)]
        reach = self._reach(self.compared_)
        reach = reach[np.isfinite(reach)] if np.isfinite(reach).any() else np.zeros(1)
        self.center_ = float(np.median(reach))
        usual = 1.4826 * float(np.median(np.abs(reach - self.center_)))
        # Where most rows have doubles, what is usual is nothing.
        self.deviation_ = max(usual, 0.05 * float(reach.mean()), 1e-12)
        return self

    def score(self, X: Array) -> Array:
        """Of new rows, (n,); 0 for a row of which nothing is known."""
        reach = self._reach(self.units_.scaled(X))
        z = np.where(np.isfinite(reach), np.maximum(reach - self.center_, 0.0) / self.deviation_, 0.0)
        return z / (z + _HALF)

    def _reach(self, rows: Array) -> Array:
        place = min(_NEAREST, len(self.compared_)) - 1
        reach = np.empty(len(rows))
        length = max(1, _DISTANCES_AT_ONCE // len(self.compared_))
        for start in range(0, len(rows), length):
            distances = shared_distances(rows[start : start + length], self.compared_)
            reach[start : start + length] = np.sqrt(np.partition(distances, place, axis=1)[:, place])
        return reach
