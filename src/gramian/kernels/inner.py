"""Kernels of the inner product x·y, among them the linear one and the cosine, whose features are the rows."""

from __future__ import annotations

from collections.abc import Callable
from functools import lru_cache
from math import comb
from typing import Any

import numpy as np
from scipy.sparse import diags_array, issparse

from gramian.checks import check_real, whole
from gramian.grams.features import squared_norms, written_out
from gramian.kernels.base import FeatureKernel
from gramian.kernels.profile import Exponential, Power, Profile, VectorKernel
from gramian.kernels.widths import WidthMixin
from gramian.typing import Array, Matrix


class Linear(FeatureKernel, name="linear"):
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

    def profile(self) -> Profile:
        return Power("inner", 1)


class Cosine(FeatureKernel, name="cosine"):
    """k(x, y) = x·y / (‖x‖ ‖y‖); a zero row is similar to nothing, not even itself.

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


class Polynomial(VectorKernel, name="polynomial"):
    """k(x, y) = (x·y + offset)^degree.

    Its features are the monomials of the columns up to the degree, scaled. Rows on the workers of a Dask cluster are
    held by them, up to 2,000 monomials; in memory similarities are cheaper.

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

    def _resolve(self, X: Matrix, sample_weight: Array | None = None) -> None:
        self._check()

    def _check(self) -> None:
        whole(self.degree, "degree")
        check_real(self, "offset", least=0)

    def profile(self) -> Profile:
        self._check()
        return Power("inner", self.degree, offset=self.offset)

    @property
    def has_many_features(self) -> bool:  # type: ignore[override]
        return type(self).profile is Polynomial.profile  # monomials are of this formula, not of a subclass's

    def _n_features(self, X: Matrix) -> int:
        return comb(X.shape[1] + self.degree - (self.offset == 0), self.degree)

    def _features(self, X: Matrix) -> Matrix:
        if not self.has_many_features:
            return super()._features(X)
        expansion, scales = _monomials(X.shape[1], self.degree, float(self.offset))
        return np.asarray(expansion.transform(written_out(X)) * scales.astype(X.dtype))


@lru_cache
def _monomials(d: int, degree: int, offset: float) -> tuple[Any, Array]:
    """The monomials of d columns, and the roots of their coefficients in (x·y + offset)^degree."""
    from scipy.special import factorial  # these take a while to load, and few need them
    from sklearn.preprocessing import PolynomialFeatures

    lowest = 0 if offset else degree
    expansion = PolynomialFeatures((lowest, degree), include_bias=not lowest).fit(np.zeros((1, d)))
    powers = expansion.powers_
    rest = degree - powers.sum(axis=1)
    orders = factorial(degree) / (factorial(powers).prod(axis=1) * factorial(rest))
    return expansion, np.sqrt(orders * offset**rest)


class Tanh(VectorKernel, name="tanh"):
    """k(x, y) = tanh(slope · x·y + offset); indefinite.

    Expect no gain over :class:`RBF`: in LS-SVM classifiers of ten tables, each with its parameter chosen, accuracy was
    0.833 against 0.869 (``reproduce/lssvm_indefinite.py``).

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

    def _resolve(self, X: Matrix, sample_weight: Array | None = None) -> None:
        check_real(self, "slope")
        check_real(self, "offset")

    def profile(self) -> Profile:
        return _HyperbolicTangent(float(self.slope), float(self.offset))


class _HyperbolicTangent(Profile):
    """f(β) = tanh(slope β + offset)."""

    kind = "inner"

    def __init__(self, slope: float, offset: float) -> None:
        self.slope = slope
        self.offset = offset

    def _value(self, beta: Array) -> Array:
        beta *= self.slope
        beta += self.offset
        return np.tanh(beta, out=beta)

    def both(self, beta: Array) -> tuple[Array, Array]:
        value = self._value(beta)
        return value, self.slope * (1 - value**2)

    def second_derivative(self, beta: Array) -> Array:
        value = self.value(beta)
        return np.asarray(-2 * self.slope**2 * value * (1 - value**2))


class ExponentialProduct(WidthMixin, VectorKernel, name="exponential_product"):
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

    def profile(self) -> Profile:
        return Exponential("inner", self._get_width() ** -2)
