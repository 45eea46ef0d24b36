"""What happens to the columns before the kernel sees them: one scale for all, and values for the holes.

Learned with the model and saved with it, so that new rows are treated alike. For ``kernel="auto"`` of all machines, for
views, and for the targets of fixed-size machines; a kernel that the user chose sees the columns as they are.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy.sparse import issparse
from sklearn.impute import KNNImputer

from gramian.grams.tiles import slices
from gramian.mixture import IncompleteGaussianMixture
from gramian.partitions import DistributedRows
from gramian.typing import Array, Matrix, RandomState

_NEIGHBOURS = 10  # rows that a hole is filled from
_STRIP = 4096  # rows that are looked at together
_ROUNDING = 100.0  # a column that varies by fewer units in the last place is constant


class Standardization:
    """Columns less their mean, over their standard deviation; columns that do not vary are ignored.

    Missing values stay missing. Sparse columns are not centred, which would fill them; differences of rows are the
    same.

    Parameters
    ----------
    X : ndarray, CSR or DistributedRows (n, d)
        May have holes, where it is dense.
    weights : ndarray (n,), optional
        How often each row counts; not for rows on workers.

    Attributes
    ----------
    mean : ndarray (d,)
    scale : ndarray (d,)
        Standard deviations; infinite where a column does not vary, or has no value.
    """

    def __init__(self, X: Matrix, weights: Array | None = None) -> None:
        if isinstance(X, DistributedRows):
            _, self.mean, deviation, largest = X.reduced(_part_moments, _merged_moments)
        else:
            n = X.shape[0]
            share = np.full(n, 1 / n) if weights is None else weights / weights.sum(dtype=np.float64)
            moments = _sparse_moments(X, share) if issparse(X) else _dense_moments(X, share)
            self.mean, deviation, largest = moments
        varying = deviation > _ROUNDING * np.finfo(X.dtype).eps * largest
        self.scale = np.where(varying, deviation, np.inf)

    def rows(self, X: Matrix) -> Matrix:
        """X in standard units."""
        inverse = (1 / self.scale).astype(X.dtype)
        if issparse(X):
            return X.multiply(inverse).tocsr()
        with np.errstate(over="ignore", invalid="ignore"):
            Z = (X - self.mean.astype(X.dtype)) * inverse
        lost = np.isnan(Z)
        if lost.any():  # out of range in a column that is ignored; holes are none of this
            Z[lost & ~np.isnan(X)] = 0
        # A row that is out of range of the rows of fit by a hundred orders of magnitude is like none of them.
        most = np.sqrt(np.finfo(X.dtype).max) / 1e3
        return np.clip(Z, -most, most, out=Z)

    def original(self, Z: Matrix) -> Matrix:
        """Rows in the user's units again; columns that do not vary have their mean."""
        varying = np.isfinite(self.scale)
        scale = np.where(varying, self.scale, 0.0).astype(Z.dtype)
        return Z.multiply(scale).tocsr() if issparse(Z) else Z * scale + self.mean.astype(Z.dtype)


def _sparse_moments(X: Matrix, share: Array) -> tuple[Array, Array, Array]:
    """Mean, standard deviation and largest size of every column."""
    largest = abs(X).max(axis=0).toarray().ravel().astype(np.float64)
    unit = np.where(largest > 0, largest, 1.0)  # squares of huge entries overflow; in units of the largest they do not
    small = X.astype(np.float64).multiply(1 / unit).tocsr()
    mean = np.asarray(share @ small).ravel()
    variance = np.asarray(share @ small.multiply(small)).ravel() - mean**2
    return mean * unit, np.sqrt(np.maximum(variance, 0)) * unit, largest


def _dense_moments(X: Array, share: Array) -> tuple[Array, Array, Array]:
    """Mean, standard deviation and largest size of the known values of every column; zeros where there are none."""
    n, d = X.shape
    first, seen = np.zeros(d), np.zeros(d, bool)
    unit, largest, weight = np.zeros(d), np.zeros(d), np.zeros(d)
    for strip in slices(n, _STRIP):
        known = ~np.isnan(X[strip])
        fresh = known.any(axis=0) & ~seen
        first[fresh] = X[strip][known.argmax(axis=0), np.arange(d)][fresh]
        seen |= fresh
        # From a value of its own every column is measured exactly: a constant one is zero, whatever its size.
        unit = np.maximum(unit, np.where(known, np.abs(X[strip] - first), 0).max(axis=0))
        largest = np.maximum(largest, np.where(known, np.abs(X[strip]), 0).max(axis=0))
        weight += share[strip] @ known
    unit, weight = np.where(unit > 0, unit, 1.0), np.where(weight > 0, weight, 1.0)
    mean, variance = np.zeros(d), np.zeros(d)
    for strip in slices(n, _STRIP):
        mean += share[strip] @ np.nan_to_num((X[strip] - first) / unit) / weight
    for strip in slices(n, _STRIP):
        variance += share[strip] @ np.nan_to_num((X[strip] - first) / unit - mean) ** 2 / weight
    return first + mean * unit, np.sqrt(variance) * unit, largest


_Moments = tuple[Array, Array, Array, Array]


def _part_moments(X: Array) -> _Moments:
    """Number of known values, mean, standard deviation and largest size of every column of one partition."""
    return (~np.isnan(X)).sum(axis=0).astype(np.float64), *_dense_moments(X, np.full(len(X), 1 / len(X)))


def _merged_moments(parts: list[_Moments]) -> _Moments:
    """Those of all rows of several partitions."""
    n, mean, deviation, largest = parts[0]
    for more, other, spread, size in parts[1:]:
        total = np.maximum(n + more, 1)
        a, b = n / total, more / total
        # Chan's formula by roots: squares of huge entries would overflow.
        within = np.hypot(np.sqrt(a) * deviation, np.sqrt(b) * spread)
        deviation = np.hypot(within, np.sqrt(a) * np.sqrt(b) * np.abs(other - mean))
        mean = np.where(n > 0, mean + b * (other - mean), other)
        n, largest = n + more, np.maximum(largest, size)
    return n, mean, deviation, largest


class Preparation(Standardization):
    """Columns with mean 0 and deviation 1, holes filled in.

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
        super().__init__(X, weights)
        self.filling = filling
        self.filler: Any = None
        if filling == "mean" or issparse(X):
            return
        Z = self.rows(X)
        Z[:, np.isnan(Z).all(axis=0)] = 0  # a column without a value tells nothing
        if filling == "neighbours":
            self.filler = KNNImputer(n_neighbors=min(_NEIGHBOURS, len(Z)), keep_empty_features=True).fit(Z)
        else:
            components = 1 if len(Z) < 20 * Z.shape[1] else 3
            self.filler = IncompleteGaussianMixture(components, random_state=random_state).fit(Z)

    def __call__(self, X: Matrix) -> Matrix:
        """The rows as the kernel takes them."""
        Z = self.rows(X)
        if issparse(Z) or not np.isnan(Z).any():
            return Z
        if self.filling == "neighbours" and self.filler is not None:
            Z = np.asarray(self.filler.transform(Z), Z.dtype)
        elif self.filler is not None:
            Z = np.asarray(self.filler.impute(Z), Z.dtype)
        return np.where(np.isnan(Z), np.zeros((), Z.dtype), Z)
