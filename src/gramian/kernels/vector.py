"""Kernels of vectors, in three families: of the inner product, of the squared distance, of the L1 distance.

The first two cost one GEMM per tile and an elementwise function in place; the squared distance itself is a GEMM
of augmented rows. All are computed in the dtype of the data.
"""

from __future__ import annotations

from collections.abc import Callable
from numbers import Integral
from typing import Any, ClassVar

import numpy as np
from scipy.sparse import diags_array, hstack, issparse
from scipy.spatial.distance import cdist
from sklearn.exceptions import NotFittedError

from gramian.checks import check_real
from gramian.grams.features import squared_norms
from gramian.kernels.base import FeatureKernel, Kernel, dot
from gramian.kernels.widths import Metric, resolve_width
from gramian.typing import Array, Matrix


class _WidthMixin:
    """A ``width`` that is a number or a rule resolved in ``fit``."""

    width: float | str
    _metric: ClassVar[Metric] = "euclidean"

    def _resolve(self, X: Matrix) -> None:
        self.width_ = resolve_width(self.width, X, self._metric)

    def _get_width(self) -> float:
        if hasattr(self, "width_"):
            return self.width_
        if isinstance(self.width, str):
            raise NotFittedError(f"width={self.width!r} is a rule about the data; call fit(X) first or pass a number")
        return resolve_width(self.width, np.empty((0, 0)))


# Inner products --------------------------------------------------------------------------------------------


class Linear(FeatureKernel):
    """k(x, y) = x·y; its features are the data.

    Examples
    --------
    >>> Linear()([[1.0, 2.0]], [[3.0, 4.0]])
    array([[11.]])
    """

    accepts_sparse: bool = True

    def _check_overflow(self, X: Matrix) -> None:
        self._finite_diagonal(X)

    def _diagonal(self, X: Matrix) -> Array:
        return squared_norms(X)

    def _features(self, X: Matrix) -> Matrix:
        return X


class Cosine(FeatureKernel):
    """k(x, y) = x·y / (‖x‖ ‖y‖); a zero row is like nothing, not even itself.

    Examples
    --------
    >>> Cosine()([[1.0, 0.0]], [[2.0, 0.0], [0.0, 3.0]])
    array([[1., 0.]])
    """

    accepts_sparse: bool = True

    def _features(self, X: Matrix) -> Matrix:
        # Divided by the largest entry first, so that squares of very large or small rows stay in range.
        return _divided(_divided(X, np.abs), lambda rows: np.sqrt(squared_norms(rows)))


def _divided(X: Matrix, size: Callable[[Matrix], Any]) -> Matrix:
    """Rows over their size (the largest entry of it, if there are several); rows of size zero stay."""
    sizes = size(X)
    sizes = (
        np.asarray(sizes.max(axis=1).todense()).ravel()
        if issparse(sizes)
        else sizes.reshape(len(sizes), -1).max(axis=1)
    )
    sizes = np.where(sizes > 0, sizes, 1).astype(X.dtype)
    return (diags_array(1 / sizes) @ X).tocsr() if issparse(X) else X / sizes[:, None]


class _InnerProductKernel(Kernel):
    """k(x, y) = f(x·y). Subclasses write ``_of_product``, which may work in place."""

    accepts_sparse: bool = True

    def _of_product(self, product: Array) -> Array:
        raise NotImplementedError

    def _tile(self, left: Any, right: Any) -> Array:
        return self._of_product(dot(left, right))

    def _diagonal(self, X: Matrix) -> Array:
        return self._of_product(squared_norms(X))


class Polynomial(_InnerProductKernel):
    """k(x, y) = (x·y + offset)^degree.

    Parameters
    ----------
    degree : int, default 2
        At least 1.
    offset : float, default 1.0
        Not negative; it weighs the lower-order terms.

    Examples
    --------
    >>> Polynomial(degree=2)([[1.0, 2.0]], [[3.0, 4.0]])
    array([[144.]])
    """

    def __init__(self, degree: int = 2, offset: float = 1.0) -> None:
        self.degree = degree
        self.offset = offset

    def _resolve(self, X: Matrix) -> None:
        self._check()

    def _check(self) -> None:
        if not isinstance(self.degree, Integral) or isinstance(self.degree, bool) or self.degree < 1:
            raise ValueError(f"degree={self.degree!r} must be a whole number >= 1")
        check_real(self, "offset", least=0)

    def _of_product(self, product: Array) -> Array:
        self._check()
        product += product.dtype.type(self.offset)
        return np.power(product, int(self.degree), out=product)


class Tanh(_InnerProductKernel):
    """k(x, y) = tanh(slope · x·y + offset); indefinite.

    Parameters
    ----------
    slope : float, default 1.0
    offset : float, default 0.0

    Examples
    --------
    >>> Tanh(slope=0.0, offset=0.0)([[1.0, 2.0]])
    array([[0.]])
    """

    definite: bool = False

    def __init__(self, slope: float = 1.0, offset: float = 0.0) -> None:
        self.slope = slope
        self.offset = offset

    def _resolve(self, X: Matrix) -> None:
        check_real(self, "slope")
        check_real(self, "offset")

    def _of_product(self, product: Array) -> Array:
        product *= product.dtype.type(self.slope)
        product += product.dtype.type(self.offset)
        return np.tanh(product, out=product)


# Squared distances -----------------------------------------------------------------------------------------


class _DistanceKernel(Kernel):
    """k(x, y) = f(‖x − y‖²). Subclasses write ``_of_distance``, which may work in place.

    With rows augmented to (x, ‖x‖², 1) and (−2y, 1, ‖y‖²) the squared distance is their inner product: one GEMM,
    no further pass. The expansion loses digits where ‖x‖ and ‖y‖ are both large against the kernel's width. So dense
    data are taken relative to their median (a mean would follow outliers), and pairs of rows that are still too far
    out for the dtype are computed from their differences.
    """

    accepts_sparse: bool = True

    def _of_distance(self, squared: Array) -> Array:
        raise NotImplementedError

    def _resolution(self) -> float:
        """The distance at which the kernel changes; infinite where only large distances matter."""
        return np.inf

    def _sides(self, X: Matrix, Y: Matrix) -> tuple[Any, Any]:
        if issparse(X) or issparse(Y):
            return _augmented(X, left=True), _augmented(Y, left=False)
        center = np.median(Y[:: max(1, Y.shape[0] // 1000)], axis=0).astype(Y.dtype)
        return _augmented(X - center, left=True), _augmented(Y - center, left=False)

    def _tile(self, left: Any, right: Any) -> Array:
        squared = dot(left, right)
        np.maximum(squared, 0, out=squared)
        self._refine(squared, left, right)
        return self._of_distance(squared)

    def _refine(self, squared: Array, left: Any, right: Any) -> None:
        """Recompute, in place, the squared distances of pairs of far-out rows from their differences."""
        accuracy = 1e-9 if squared.dtype == np.float64 else 2e-6
        limits = np.finfo(squared.dtype)
        limit = min(accuracy * self._resolution() ** 2 / float(limits.eps), float(limits.max))
        far_left, far_right = (
            np.flatnonzero(_column(side, place) > limit) for side, place in ((left, -2), (right, -1))
        )
        if len(far_left) and len(far_right):
            x, y = (side[rows][:, :-2] for side, rows in ((left, far_left), (right, far_right)))
            x, y = (part.toarray() if issparse(part) else part for part in (x, y))
            squared[np.ix_(far_left, far_right)] = cdist(x, y / -2, "sqeuclidean")

    def _diagonal(self, X: Matrix) -> Array:
        return self._of_distance(np.zeros(X.shape[0], X.dtype))


def _column(side: Matrix, place: int) -> Array:
    return side[:, [place]].toarray().ravel() if issparse(side) else side[:, place]


def _augmented(X: Matrix, *, left: bool) -> Matrix:
    """Rows (x, ‖x‖², 1) or (−2x, 1, ‖x‖²)."""
    with np.errstate(over="ignore"):
        norms = squared_norms(X)[:, None].astype(X.dtype, copy=False)
    if not np.isfinite(norms).all():
        raise ValueError(
            f"distances between rows of X overflow {X.dtype}; scale the columns, for instance with StandardScaler"
        )
    ones = np.ones_like(norms)
    columns = [X, norms, ones] if left else [-2 * X, ones, norms]
    return hstack(columns, "csr") if issparse(X) else np.hstack(columns)


class _WidthDistanceKernel(_WidthMixin, _DistanceKernel):
    """k(x, y) = f(‖x − y‖² / width²)."""

    def _resolution(self) -> float:
        return self._get_width()


class RBF(_WidthDistanceKernel):
    """k(x, y) = exp(−‖x − y‖² / (2 width²)), the Gaussian kernel.

    Parameters
    ----------
    width : float or str, default "median"
        σ, or a rule resolved in ``fit``; see :func:`gramian.kernels.resolve_width`. scikit-learn's ``gamma`` is
        1 / (2 width²).

    Attributes
    ----------
    width_ : float
        The width in use.

    Examples
    --------
    >>> import numpy as np
    >>> RBF(width=1.0)([[0.0]], [[0.0], [np.sqrt(2 * np.log(2))]])
    array([[1. , 0.5]])
    """

    def __init__(self, width: float | str = "median") -> None:
        self.width = width

    def _of_distance(self, squared: Array) -> Array:
        squared *= squared.dtype.type(-0.5 / self._get_width() ** 2)
        return np.exp(squared, out=squared)


class Cauchy(_WidthDistanceKernel):
    """k(x, y) = 1 / (1 + ‖x − y‖² / width²): like RBF, with a heavy tail.

    Parameters
    ----------
    width : float or str, default "median"
        A number or a rule; see :func:`gramian.kernels.resolve_width`.

    Examples
    --------
    >>> Cauchy(width=1.0)([[0.0]], [[1.0]])
    array([[0.5]])
    """

    def __init__(self, width: float | str = "median") -> None:
        self.width = width

    def _of_distance(self, squared: Array) -> Array:
        squared *= squared.dtype.type(self._get_width() ** -2)
        squared += 1
        return np.reciprocal(squared, out=squared)


class GaussianDifference(_WidthDistanceKernel):
    """k(x, y) = exp(−d²/(2 width²)) − weight · exp(−d²/(2 (ratio·width)²)), d = ‖x − y‖; indefinite.

    Near samples are alike, those at middle distance are unlike (negative), far ones are unrelated.

    Parameters
    ----------
    width : float or str, default "median"
        Of the first, narrow Gaussian: a number or a rule.
    ratio : float, default 2.0
        How much wider the second one is, > 1.
    weight : float, default 0.5
        Of the second one, >= 0.

    Examples
    --------
    >>> GaussianDifference(width=1.0, weight=0.25)([[0.0]])
    array([[0.75]])
    """

    definite: bool = False

    def __init__(self, width: float | str = "median", ratio: float = 2.0, weight: float = 0.5) -> None:
        self.width = width
        self.ratio = ratio
        self.weight = weight

    def _resolve(self, X: Matrix) -> None:
        check_real(self, "ratio", above=1)
        check_real(self, "weight", least=0)
        super()._resolve(X)

    def _of_distance(self, squared: Array) -> Array:
        squared *= squared.dtype.type(-0.5 / self._get_width() ** 2)
        wide = np.exp(squared * squared.dtype.type(self.ratio**-2))
        wide *= squared.dtype.type(self.weight)
        np.exp(squared, out=squared)
        squared -= wide
        return squared


class SquaredDistance(_DistanceKernel):
    """k(x, y) = −‖x − y‖²; positive semi-definite only after centring, so treated as indefinite.

    The sign makes it a similarity: as a bare distance it would rank the farthest as the most alike.

    Examples
    --------
    >>> SquaredDistance()([[0.0]], [[3.0]])
    array([[-9.]])
    """

    definite: bool = False

    def _of_distance(self, squared: Array) -> Array:
        return np.negative(squared, out=squared)


class Multiquadric(_DistanceKernel):
    """k(x, y) = −√(‖x − y‖² + offset²); like :class:`SquaredDistance` definite only after centring.

    Parameters
    ----------
    offset : float, default 1.0
        Positive.

    Examples
    --------
    >>> Multiquadric(offset=4.0)([[0.0]], [[3.0]])
    array([[-5.]])
    """

    definite: bool = False

    def __init__(self, offset: float = 1.0) -> None:
        self.offset = offset

    def _resolve(self, X: Matrix) -> None:
        check_real(self, "offset", above=0)

    def _resolution(self) -> float:
        return float(self.offset)

    def _of_distance(self, squared: Array) -> Array:
        squared += squared.dtype.type(self.offset**2)
        np.sqrt(squared, out=squared)
        return np.negative(squared, out=squared)


# L1 distances ----------------------------------------------------------------------------------------------


class _ManhattanKernel(Kernel):
    """k(x, y) = f(‖x − y‖₁). Subclasses write ``_of_distance``, which may work in place."""

    def _of_distance(self, distance: Array) -> Array:
        raise NotImplementedError

    def _tile(self, left: Any, right: Any) -> Array:
        return self._of_distance(cdist(left, right, "cityblock").astype(left.dtype, copy=False))

    def _diagonal(self, X: Matrix) -> Array:
        return self._of_distance(np.zeros(X.shape[0], X.dtype))


class Laplacian(_WidthMixin, _ManhattanKernel):
    """k(x, y) = exp(−‖x − y‖₁ / width).

    Parameters
    ----------
    width : float or str, default "median"
        A number or a rule, which then measures L1 distances; see :func:`gramian.kernels.resolve_width`.

    Examples
    --------
    >>> import numpy as np
    >>> Laplacian(width=1.0)([[0.0]], [[np.log(4.0)]])
    array([[0.25]])
    """

    _metric: ClassVar[Metric] = "manhattan"

    def __init__(self, width: float | str = "median") -> None:
        self.width = width

    def _of_distance(self, distance: Array) -> Array:
        distance *= distance.dtype.type(-1 / self._get_width())
        return np.exp(distance, out=distance)


class TL1(_ManhattanKernel):
    """k(x, y) = max(radius − ‖x − y‖₁, 0), the truncated L1 kernel; indefinite, locally linear.

    Parameters
    ----------
    radius : float, optional
        Where the similarity ends. Default 0.7 d for d features scaled to [0, 1].

    References
    ----------
    Huang, Suykens, Wang, Hornegger, Maier (2018). Classification with truncated ℓ1 distance kernel. IEEE TNNLS.

    Examples
    --------
    >>> TL1(radius=2.0)([[0.0]], [[0.5], [3.0]])
    array([[1.5, 0. ]])
    """

    definite: bool = False

    def __init__(self, radius: float | None = None) -> None:
        self.radius = radius

    def _resolve(self, X: Matrix) -> None:
        self.radius_ = 0.7 * X.shape[1] if self.radius is None else check_real(self, "radius", above=0)

    def _of_distance(self, distance: Array) -> Array:
        radius = getattr(self, "radius_", self.radius)
        if radius is None:
            raise NotFittedError("radius=None depends on the data; call fit(X) first or pass a number")
        np.subtract(distance.dtype.type(radius), distance, out=distance)
        return np.maximum(distance, 0, out=distance)
