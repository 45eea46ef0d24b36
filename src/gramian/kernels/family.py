"""More kernels that are one smooth function of an inner product or of a squared distance.

They are what the dependence solver adds to ``vector.py``: two with heavy tails, one without bounds, one whose width
follows the density of the data, and one that the user writes with its derivative.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from sklearn.neighbors import NearestNeighbors
from sklearn.utils.validation import check_is_fitted

from gramian.checks import check_real, check_whole
from gramian.grams.features import squared_norms
from gramian.grams.tiles import slices
from gramian.kernels.base import Kernel, dot
from gramian.kernels.vector import _DistanceKernel, _InnerProductKernel, _WidthDistanceKernel, _WidthMixin
from gramian.typing import Array, Matrix

_CHUNK = 2**21  # numbers in a block of differences


class InverseMultiquadric(_DistanceKernel):
    """k(x, y) = 1 / √(‖x − y‖² + offset²): falls off like one over the distance.

    Parameters
    ----------
    offset : float, default 1.0
        Positive.

    Examples
    --------
    >>> InverseMultiquadric(offset=4.0)([[0.0]], [[3.0]])
    array([[0.2]])
    """

    def __init__(self, offset: float = 1.0) -> None:
        self.offset = offset

    def _resolve(self, X: Matrix) -> None:
        check_real(self, "offset", above=0)

    def _resolution(self) -> float:
        return float(self.offset)

    def _of_distance(self, squared: Array) -> Array:
        squared += squared.dtype.type(check_real(self, "offset", above=0) ** 2)
        np.sqrt(squared, out=squared)
        return np.reciprocal(squared, out=squared)


class RationalQuadratic(_WidthDistanceKernel):
    """k(x, y) = (1 + ‖x − y‖² / (2 exponent width²))^(−exponent): Gaussians of many widths, averaged.

    Parameters
    ----------
    width : float or str, default "median"
        A number or a rule; see :func:`gramian.kernels.resolve_width`.
    exponent : float, default 1.0
        Positive. Large exponents give the Gaussian kernel of the same width.

    Examples
    --------
    >>> RationalQuadratic(width=1.0)([[0.0]], [[2.0]]).round(3)
    array([[0.333]])
    """

    def __init__(self, width: float | str = "median", exponent: float = 1.0) -> None:
        self.width = width
        self.exponent = exponent

    def _resolve(self, X: Matrix) -> None:
        check_real(self, "exponent", above=0)
        super()._resolve(X)

    def _of_distance(self, squared: Array) -> Array:
        exponent = check_real(self, "exponent", above=0)
        squared *= squared.dtype.type(0.5 / (exponent * self._get_width() ** 2))
        # log1p keeps the digits that 1 + small would lose, and they matter under a large exponent.
        np.log1p(squared, out=squared)
        squared *= squared.dtype.type(-exponent)
        return np.exp(squared, out=squared)


class ExponentialProduct(_WidthMixin, _InnerProductKernel):
    """k(x, y) = exp(x·y / width²): the Gaussian kernel without its normalisation, so long rows weigh more.

    Parameters
    ----------
    width : float or str, default "median"
        A number or a rule; see :func:`gramian.kernels.resolve_width`.

    Examples
    --------
    >>> ExponentialProduct(width=1.0)([[0.0, 1.0]], [[2.0, 0.0]])
    array([[1.]])
    """

    def __init__(self, width: float | str = "median") -> None:
        self.width = width

    def _of_product(self, product: Array) -> Array:
        product *= product.dtype.type(self._get_width() ** -2)
        return np.exp(product, out=product)


class _WithWidths:
    """Prepared rows and the width of each, sliced together."""

    def __init__(self, rows: Any, widths: Array) -> None:
        self.rows, self.widths = rows, widths

    def __getitem__(self, index: Any) -> _WithWidths:
        return _WithWidths(self.rows[index], self.widths[index])


class RelativeRBF(_DistanceKernel):
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

    def _resolve(self, X: Matrix) -> None:
        check_whole(self, "n_neighbors")
        distinct = np.unique(X, axis=0)
        if len(distinct) < 2:
            why = "n_samples=1" if len(X) == 1 else "all rows of X are equal"
            raise ValueError(f"RelativeRBF needs distances but {why}; pass rows that differ")
        self.distinct_ = distinct
        self.widths_ = self._widths(X)

    def _widths(self, X: Array) -> Array:
        """w(x) for every row."""
        check_is_fitted(self, "distinct_")
        m = min(int(self.n_neighbors), len(self.distinct_) - 1)
        distinct = self.distinct_.astype(np.float64)
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
        sides = super()._sides(X, Y)
        return _WithWidths(sides[0], left.astype(X.dtype)), _WithWidths(sides[1], right.astype(X.dtype))

    def _tile(self, left: Any, right: Any) -> Array:
        squared = dot(left.rows, right.rows)
        np.maximum(squared, 0, out=squared)
        squared /= -2 * left.widths[:, None]
        squared /= right.widths
        return np.exp(squared, out=squared)

    def _of_distance(self, squared: Array) -> Array:
        check_is_fitted(self, "distinct_")
        return np.exp(-squared)  # only asked for the diagonal, where every distance is zero


class ProfileKernel(Kernel):
    """k(x, y) = f(x·y) or f(‖x − y‖²) for a function f that the user writes, with its derivative.

    Parameters
    ----------
    value : callable
        f: takes an array of any shape, returns a new array of that shape.
    derivative : callable
        f′, likewise. The dependence solver needs it.
    second_derivative : callable, optional
        f″. Only the second-order certificate needs it.
    kind : {"distance", "inner"}, default "distance"
        What f is a function of: the squared distance or the inner product.

    Examples
    --------
    >>> import numpy as np
    >>> logarithmic = ProfileKernel(lambda b: -np.log1p(b), lambda b: -1 / (1 + b))
    >>> logarithmic([[0.0]], [[2.0]]).round(3)
    array([[-1.609]])
    """

    definite: bool = False
    accepts_sparse: bool = True

    def __init__(
        self,
        value: Callable[[Array], Array],
        derivative: Callable[[Array], Array],
        second_derivative: Callable[[Array], Array] | None = None,
        kind: str = "distance",
    ) -> None:
        self.value = value
        self.derivative = derivative
        self.second_derivative = second_derivative
        self.kind = kind

    def _resolve(self, X: Matrix) -> None:
        self._plain()

    def _plain(self) -> _DistanceKernel | _InnerProductKernel:
        """The kernel without its derivatives."""
        if self.kind not in ("distance", "inner"):
            raise ValueError(f"kind={self.kind!r} must be 'distance' or 'inner'")
        for name in ("value", "derivative"):
            if not callable(getattr(self, name)):
                raise ValueError(f"{name}={getattr(self, name)!r} must be a function of an array")
        if self.second_derivative is not None and not callable(self.second_derivative):
            raise ValueError(f"second_derivative={self.second_derivative!r} must be a function of an array, or None")
        return _OfDistance(self.value) if self.kind == "distance" else _OfProduct(self.value)

    def _sides(self, X: Matrix, Y: Matrix) -> tuple[Any, Any]:
        return self._plain()._sides(X, Y)

    def _tile(self, left: Any, right: Any) -> Array:
        return self._plain()._tile(left, right)

    def _diagonal(self, X: Matrix) -> Array:
        squared = np.zeros(X.shape[0], X.dtype) if self.kind == "distance" else squared_norms(X)
        return applied(self.value, squared)


def applied(function: Callable[[Array], Array], argument: Array, name: str = "value") -> Array:
    """A user's function of an array, in the argument's dtype."""
    out = function(argument)
    if np.shape(out) != argument.shape or np.asarray(out).dtype.kind not in "fiub":
        shown = "None" if out is None else f"{np.asarray(out).dtype} of shape {np.shape(out)}"
        raise ValueError(
            f"{name} of ProfileKernel returned {shown} for an array of shape {argument.shape}; return one like it, of "
            "real numbers"
        )
    return np.asarray(out, argument.dtype)


class _OfDistance(_DistanceKernel):
    def __init__(self, function: Callable[[Array], Array]) -> None:
        self.function = function

    def _of_distance(self, squared: Array) -> Array:
        return applied(self.function, squared)


class _OfProduct(_InnerProductKernel):
    def __init__(self, function: Callable[[Array], Array]) -> None:
        self.function = function

    def _of_product(self, product: Array) -> Array:
        return applied(self.function, product)
