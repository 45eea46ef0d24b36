"""Rows with holes brought to one scale and completed from other rows, for what needs complete rows."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from scipy.sparse import csr_array
from sklearn.base import BaseEstimator, TransformerMixin

from gramian.grams import SparseGram
from gramian.grams.tiles import slices
from gramian.kernels import Kernel, NeighborGraph
from gramian.typing import Array, Matrix

_DISTANCES_AT_ONCE = 8_000_000


class Completion(TransformerMixin, BaseEstimator):
    """Columns in standard deviations, and holes filled with the value of the nearest row that has one.

    Rows are compared by what both have, as scikit-learn's ``KNNImputer(1)`` does; here all distances come from three
    products. A mean of several rows would lie between the clusters and tie them together. Features without two
    different values say nothing and are left out.

    Parameters
    ----------
    columns : sequence (d,), optional
        The column that each feature comes from; features of one column count together as much as any other column. By
        default each is its own.

    Attributes
    ----------
    used_ : ndarray (d,) of bool
        Features that are not left out.
    columns_ : ndarray (d',) of int
        Their columns.
    center_, scale_ : ndarray (d',)
    donors_ : ndarray (n, d')
        The fitted rows in standard deviations, NaN where missing.
    """

    def __init__(self, columns: Sequence[Any] | Array | None = None) -> None:
        self.columns = columns

    def fit(self, X: Array, y: Any = None) -> Completion:
        self.used_ = np.array([len(np.unique(feature[~np.isnan(feature)])) > 1 for feature in X.T])
        columns = np.arange(X.shape[1]) if self.columns is None else np.asarray(self.columns)
        self.columns_ = np.unique(columns[self.used_], return_inverse=True)[1]
        self.center_ = np.nanmean(X[:, self.used_], axis=0)
        self.scale_ = np.sqrt(np.bincount(self.columns_, np.nanvar(X[:, self.used_], axis=0)))[self.columns_]
        self.donors_ = self.scaled(X)
        return self

    def transform(self, X: Array) -> Array:
        rows = self.scaled(X)
        holed = np.flatnonzero(np.isnan(rows).any(axis=1))
        for part in slices(len(holed), max(1, _DISTANCES_AT_ONCE // len(self.donors_))):
            rows[holed[part]] = _filled(rows[holed[part]], self.donors_)
        return rows

    def scaled(self, X: Array) -> Array:
        """Rows in standard deviations, holes left as they are."""
        scaled: Array = (X[:, self.used_] - self.center_) / self.scale_
        return scaled


def shared_distances(rows: Array, others: Array) -> Array:
    """Mean squared difference in the features that both rows have, (n, m); infinite where they share none."""
    seen, given = ~np.isnan(rows), ~np.isnan(others)
    R, S = np.where(seen, rows, 0.0), np.where(given, others, 0.0)
    V, W = seen.astype(R.dtype), given.astype(R.dtype)
    squares = R**2 @ W.T + V @ (S**2).T - 2 * R @ S.T
    common = V @ W.T
    distances: Array = np.divide(squares, common, out=np.full_like(squares, np.inf), where=common > 0)
    return np.maximum(distances, 0.0, out=distances)


def _filled(rows: Array, donors: Array) -> Array:
    """Rows with each hole filled from the nearest donor that has the value; zero, the mean, if none can be compared."""
    seen, given = ~np.isnan(rows), ~np.isnan(donors)
    R, S = np.where(seen, rows, 0.0), np.where(given, donors, 0.0)
    distances = shared_distances(rows, donors)
    for j in np.flatnonzero(~seen.all(axis=0)):
        holes, having = np.flatnonzero(~seen[:, j]), np.flatnonzero(given[:, j])
        own = distances[np.ix_(holes, having)]
        nearest = own.argmin(axis=1)
        reached = np.isfinite(own[np.arange(len(holes)), nearest])
        R[holes, j] = np.where(reached, S[having[nearest], j], 0.0)
    return R


class CompletedGraph(Kernel):
    """The neighbour graph of rows with holes and in any units.

    Columns count in standard deviations, and holes are filled from other rows, by :class:`Completion`.

    Parameters
    ----------
    n_neighbors : int, default 10
    columns : sequence (d,), optional
        The column that each feature comes from; by default each is its own.

    Examples
    --------
    >>> import numpy as np
    >>> X = np.array([[0.0, 1.0], [0.1, np.nan], [5.0, 900.0], [np.nan, 901.0]])
    >>> CompletedGraph(1).fit(X)(X).toarray()
    array([[0., 1., 0., 0.],
           [1., 0., 0., 0.],
           [0., 0., 0., 1.],
           [0., 0., 1., 0.]])
    """

    definite: bool = False
    accepts_nan: bool = True
    sparse_blocks: bool = True

    def __init__(self, n_neighbors: int = 10, columns: Sequence[Any] | None = None) -> None:
        self.n_neighbors = n_neighbors
        self.columns = columns

    def fit(self, X: Matrix, y: Any = None, sample_weight: Any = None) -> CompletedGraph:
        """Learn the units of the columns and keep rows to fill holes from; see :meth:`Kernel.fit`."""
        X = self._checked(X, reset=True)
        self.completion_ = Completion(self.columns).fit(X)
        self.graph_ = NeighborGraph(self.n_neighbors).fit(self.completion_.transform(X))
        return self

    def __call__(self, X: Matrix, Y: Matrix | None = None) -> csr_array:
        """The sparse block of edges, CSR of shape (n_X, n_Y)."""
        return self.graph_(self._completed(X), None if Y is None else self._completed(Y))

    def diagonal(self, X: Matrix) -> Array:
        """All zero: no row is its own neighbour."""
        return np.zeros(len(X))

    def gram(self, X: Matrix) -> SparseGram:
        """The graph of X as a SparseGram."""
        return self.graph_.gram(self._completed(X))

    def product(self, X: Matrix, Y: Matrix, V: Array) -> Array:
        """Edges from X to Y, times V."""
        return self.graph_.product(self._completed(X), self._completed(Y), V)

    def _completed(self, X: Matrix) -> Array:
        completed: Array = self.completion_.transform(self._checked(X))
        return completed
