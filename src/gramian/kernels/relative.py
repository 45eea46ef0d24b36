"""The Gaussian kernel whose width follows the density of the data."""

from __future__ import annotations

from typing import Any

import numpy as np
from sklearn.exceptions import NotFittedError
from sklearn.neighbors import NearestNeighbors
from sklearn.utils.validation import check_is_fitted

from gramian.checks import check_whole
from gramian.grams.tiles import slices
from gramian.kernels.base import Kernel
from gramian.kernels.profile import Exponential, Profile, beta_sides, beta_tile
from gramian.typing import Array, Matrix

_CHUNK = 2**21  # numbers in a block of differences
_GAUSSIAN = Exponential("distance", -0.5)


class _WithWidths:
    """Prepared rows and the width of each, sliced together."""

    def __init__(self, rows: Any, widths: Array) -> None:
        self.rows, self.widths = rows, widths

    def __getitem__(self, index: Any) -> _WithWidths:
        return _WithWidths(self.rows[index], self.widths[index])


class RelativeRBF(Kernel, name="relative_rbf"):
    """k(x, y) = exp(−‖x − y‖² / (2 w(x) w(y))), where w(x) is the scale of the data around x.

    With r_1, …, r_m the distances from x to its m nearest training rows that differ from it and from each other,

        w(x)² = Σ_j r_j / Σ_j (1 / r_j),

    their arithmetic times their harmonic mean: small in dense regions, large in thin ones. Not definite in general.

    Parameters
    ----------
    n_neighbors : int, default 49
        m. Fewer where there are fewer distinct rows.

    Attributes
    ----------
    distinct_ : ndarray or CSR (u, d)
        The distinct training rows.
    widths_ : ndarray (n,)
        w of the training rows.

    References
    ----------
    Wu, Miller, Chang, Sznaier, Dy (2019). Solving interpretable kernel dimension reduction. NeurIPS.

    Examples
    --------
    >>> RelativeRBF(n_neighbors=2).fit([[0.0], [1.0], [3.0]]).widths_.round(3)
    array([1.732, 1.414, 2.449])
    """

    definite: bool = False
    accepts_sparse: bool = False

    def __init__(self, n_neighbors: int = 49) -> None:
        self.n_neighbors = n_neighbors

    def _resolve(self, X: Matrix, sample_weight: Array | None = None) -> None:
        check_whole(self, "n_neighbors")
        distinct = np.unique(X if sample_weight is None else X[sample_weight > 0], axis=0)
        if len(distinct) < 2:
            why = "n_samples=1" if len(X) == 1 else "all rows of X are equal"
            raise ValueError(f"RelativeRBF needs distances but {why}; pass rows that differ")
        self.distinct_ = distinct
        self.widths_ = self._widths(X)

    def _widths(self, X: Array) -> Array:
        """w(x) for every row."""
        check_is_fitted(self, "distinct_")
        distinct = self.distinct_
        if distinct.dtype != X.dtype:
            # A training row given in another precision must still find itself, at distance zero.
            distinct = np.unique(distinct.astype(X.dtype), axis=0)
            if len(distinct) < 2:
                raise ValueError(f"the fitted rows of RelativeRBF are all equal in {X.dtype}; pass X in float64")
        distinct = distinct.astype(np.float64)
        m = min(int(self.n_neighbors), len(distinct) - 1)
        search = NearestNeighbors(n_neighbors=m + 1).fit(distinct - distinct[0])
        squared = np.empty((len(X), m + 1))
        for rows in slices(len(X), max(1, _CHUNK // (squared.shape[1] * X.shape[1]))):
            x = X[rows].astype(np.float64)
            near = search.kneighbors(x - distinct[0], return_distance=False)
            # From the differences: the search's own distances lose digits far from zero.
            squared[rows] = ((distinct[near] - x[:, None]) ** 2).sum(axis=2)
        squared.sort(axis=1)
        # A training row finds itself first, at distance zero; a new row does not, and then leaves out its last.
        itself = squared[:, 0] == 0
        # Squares of the smallest differences vanish, though the rows differ.
        r = np.sqrt(np.maximum(np.where(itself[:, None], squared[:, 1:], squared[:, :m]), np.finfo(np.float64).tiny))
        return np.sqrt(r.sum(axis=1) / (1 / r).sum(axis=1)).astype(X.dtype)

    def _sides(self, X: Matrix, Y: Matrix) -> tuple[Any, Any]:
        widths = self._widths(X)
        return self._sides_of_widths(X, Y, widths, widths if Y is X else self._widths(Y))

    def _sides_of_widths(self, X: Matrix, Y: Matrix, left: Array, right: Array) -> tuple[Any, Any]:
        """As ``_sides``, for rows whose widths are known, such as projections of the training rows."""
        sides = beta_sides("distance", X, Y)
        return _WithWidths(sides[0], left.astype(X.dtype)), _WithWidths(sides[1], right.astype(X.dtype))

    def _tile(self, left: Any, right: Any) -> Array:
        squared = beta_tile("distance", left.rows, right.rows)
        squared /= left.widths[:, None]
        squared /= right.widths
        return _GAUSSIAN.value(squared, out=squared)

    def _diagonal(self, X: Matrix) -> Array:
        check_is_fitted(self, "distinct_")
        return np.ones(X.shape[0], X.dtype)

    def profile(self) -> Profile:
        """The Gaussian of distances over the widths of the fitted rows; see :meth:`Kernel.profile`."""
        if not hasattr(self, "widths_"):
            raise NotFittedError("the widths of RelativeRBF depend on the data; call fit(X) first")
        return Exponential("distance", -0.5, 1 / self.widths_.astype(np.float64))
