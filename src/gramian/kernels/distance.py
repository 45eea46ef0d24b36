"""Kernels of the Euclidean distance ‖x − y‖, each given by its profile."""

from __future__ import annotations

import numpy as np

from gramian.checks import check_real
from gramian.kernels.profile import Exponential, Power, Profile, VectorKernel
from gramian.kernels.widths import WidthMixin
from gramian.typing import Array, Matrix


class RBF(WidthMixin, VectorKernel, name="rbf"):
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

    def profile(self) -> Profile:
        return Exponential("distance", -0.5 / self._get_width() ** 2)


class Cauchy(WidthMixin, VectorKernel, name="cauchy"):
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

    def profile(self) -> Profile:
        return Power("distance", -1, offset=1.0, scale=self._get_width() ** -2)


class RationalQuadratic(WidthMixin, VectorKernel, name="rational_quadratic"):
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

    def _resolve(self, X: Matrix, sample_weight: Array | None = None) -> None:
        check_real(self, "exponent", above=0)
        super()._resolve(X, sample_weight)

    def profile(self) -> Profile:
        exponent = check_real(self, "exponent", above=0)
        return Power("distance", -exponent, offset=1.0, scale=0.5 / (exponent * self._get_width() ** 2))


class GaussianDifference(WidthMixin, VectorKernel, name="gaussian_difference"):
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

    def _resolve(self, X: Matrix, sample_weight: Array | None = None) -> None:
        check_real(self, "ratio", above=1)
        check_real(self, "weight", least=0)
        super()._resolve(X, sample_weight)

    def profile(self) -> Profile:
        return _Difference(self._get_width(), float(self.ratio), float(self.weight))


class _Difference(Profile):
    """f(β) = exp(−narrow β) − weight · exp(−wide β)."""

    kind = "distance"

    def __init__(self, width: float, ratio: float, weight: float) -> None:
        self.narrow = 0.5 / width**2
        self.wide = self.narrow / ratio**2
        self.weight = weight
        self.resolution = width

    def _value(self, beta: Array) -> Array:
        wide = np.exp(beta * -self.wide)
        wide *= self.weight
        beta *= -self.narrow
        np.exp(beta, out=beta)
        beta -= wide
        return beta

    def both(self, beta: Array) -> tuple[Array, Array]:
        slope = self._terms(beta, 1)
        return self._value(beta), slope

    def second_derivative(self, beta: Array) -> Array:
        return self._terms(beta, 2)

    def _terms(self, beta: Array, order: int) -> Array:
        """The derivative of f of the given order."""
        terms = np.exp(beta * -self.narrow) * (-self.narrow) ** order
        terms -= np.exp(beta * -self.wide) * (self.weight * (-self.wide) ** order)
        return np.asarray(terms)


class SquaredDistance(VectorKernel, name="squared_distance"):
    """k(x, y) = −‖x − y‖²; positive semi-definite only after centring, so treated as indefinite.

    The sign makes it a similarity: as a bare distance it would rank the farthest as the most alike.

    Examples
    --------
    >>> SquaredDistance()([[0.0]], [[3.0]])
    array([[-9.]])
    """

    definite: bool = False

    def profile(self) -> Profile:
        return Power("distance", 1, amplitude=-1.0)


class Multiquadric(VectorKernel, name="multiquadric"):
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

    def _resolve(self, X: Matrix, sample_weight: Array | None = None) -> None:
        check_real(self, "offset", above=0)

    def profile(self) -> Profile:
        return Power("distance", 0.5, offset=check_real(self, "offset", above=0) ** 2, amplitude=-1.0)


class InverseMultiquadric(VectorKernel, name="inverse_multiquadric"):
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

    def _resolve(self, X: Matrix, sample_weight: Array | None = None) -> None:
        check_real(self, "offset", above=0)

    def profile(self) -> Profile:
        return Power("distance", -0.5, offset=check_real(self, "offset", above=0) ** 2)
