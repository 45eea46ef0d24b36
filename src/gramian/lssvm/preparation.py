"""What happens to the columns before the kernel sees them: one scale for all, and values for the holes.

Learned with the model and saved with it, so that new rows are treated alike. Used by :mod:`gramian.lssvm.tuning` for
``kernel="auto"``; a kernel that the user chose sees the columns as they are.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy.sparse import issparse
from sklearn.impute import KNNImputer

from gramian.mixture import IncompleteGaussianMixture
from gramian.typing import Array, Matrix, RandomState

_NEIGHBOURS = 10  # rows that a hole is filled from


class Preparation:
    """Columns with mean 0 and deviation 1, holes filled in.

    A constant column stays constant. A sparse X is scaled only, for centring would fill it.

    Parameters
    ----------
    X : ndarray or CSR (n, d)
        May have holes.
    weights : ndarray (n,), optional
        How often each row counts.
    filling : {"mean", "neighbours", "mixture"}
        What a hole becomes: the column's mean, the mean over near rows, or what a Gaussian mixture expects of it given
        the rest of its row.
    """

    def __init__(
        self, X: Matrix, weights: Array | None = None, filling: str = "mean", random_state: RandomState = 0
    ) -> None:
        self.center, self.scale = _moments(X, weights)
        self.filling = filling
        self.filler: Any = None
        if filling == "mean" or issparse(X):
            return
        Z = self._standardized(X)
        Z[:, np.isnan(Z).all(axis=0)] = 0  # a column without a value tells nothing
        if filling == "neighbours":
            self.filler = KNNImputer(n_neighbors=min(_NEIGHBOURS, len(Z)), keep_empty_features=True).fit(Z)
        else:
            components = 1 if len(Z) < 20 * Z.shape[1] else 3
            self.filler = IncompleteGaussianMixture(components, random_state=random_state).fit(Z)

    def __call__(self, X: Matrix) -> Matrix:
        """The rows as the kernel takes them."""
        Z = self._standardized(X)
        if issparse(Z) or not np.isnan(Z).any():
            return Z
        if self.filling == "neighbours" and self.filler is not None:
            Z = np.asarray(self.filler.transform(Z), Z.dtype)
        elif self.filler is not None:
            Z = np.asarray(self.filler.impute(Z), Z.dtype)
        return np.where(np.isnan(Z), np.zeros((), Z.dtype), Z)

    def _standardized(self, X: Matrix) -> Matrix:
        scale = self.scale.astype(X.dtype)
        if issparse(X):
            return X.multiply(1 / scale[None, :]).tocsr()
        return (X - self.center.astype(X.dtype)) / scale


def _moments(X: Matrix, weights: Array | None) -> tuple[Array, Array]:
    """Mean and standard deviation of every column over its known values; 0 and 1 where there is nothing to scale."""
    v = np.ones(X.shape[0]) if weights is None else weights.astype(np.float64)
    if issparse(X):
        size = np.maximum(abs(X).max(axis=0).toarray().ravel().astype(np.float64), np.finfo(np.float64).tiny)
        Z = X.astype(np.float64).multiply(1 / size).tocsr()
        mean = (v @ Z) / v.sum()
        variance = (v @ Z.power(2)) / v.sum() - mean**2
        return np.zeros(X.shape[1]), _positive(np.sqrt(np.maximum(variance, 0)) * size, size)
    known = ~np.isnan(X)
    first = np.where(known.any(axis=0), X[known.argmax(axis=0), np.arange(X.shape[1])], 0).astype(np.float64)
    Z = np.where(known, X - first, 0).astype(np.float64)  # a constant column is exactly zero
    size = np.abs(Z).max(axis=0)
    size = np.where(size > 0, size, 1.0)
    Z /= size
    counts = np.maximum(v @ known, np.finfo(np.float64).tiny)
    mean = (v @ Z) / counts
    variance = (v @ (np.where(known, Z - mean, 0) ** 2)) / counts
    return first + mean * size, _positive(np.sqrt(variance) * size, size)


def _positive(deviation: Array, size: Array) -> Array:
    return np.where(deviation > 1e-12 * size, deviation, 1.0)
