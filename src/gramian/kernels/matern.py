"""The Matérn kernel: between the exponential of the distance and the Gaussian, by its smoothness."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from gramian.checks import is_real
from gramian.kernels.profile import Profile, VectorKernel
from gramian.kernels.widths import WidthMixin
from gramian.typing import Array, Matrix

_LEAST = 1e-6  # of a scaled distance, where a derivative that grows without bound is cut off

# By smoothness: f, −2 f′ / rate and 4 f″ / rate², each over exp(−s), as functions of s and r = 1/s.
_FORMULAS: dict[float, tuple[Callable[[Any, Any], Any], ...]] = {
    0.5: (lambda s, r: 1, lambda s, r: r, lambda s, r: r**2 * (1 + r)),
    1.5: (lambda s, r: 1 + s, lambda s, r: 1, lambda s, r: r),
    2.5: (lambda s, r: 1 + s + s**2 / 3, lambda s, r: (1 + s) / 3, lambda s, r: 1 / 3),
}


class Matern(WidthMixin, VectorKernel, name="matern"):
    """k(x, y) = p(s) exp(−s), s = √(2 smoothness) ‖x − y‖ / width: rougher functions than the Gaussian kernel's.

    The polynomial p is 1 for smoothness 0.5 (the exponential of the Euclidean distance), 1 + s for 1.5 and
    1 + s + s²/3 for 2.5. Functions of the kernel's space have as many derivatives as whole numbers below
    the smoothness; the Gaussian kernel is the limit of infinite smoothness.

    Parameters
    ----------
    width : float or str, default "median"
        A number or a rule; see :func:`gramian.kernels.resolve_width`.
    smoothness : {0.5, 1.5, 2.5}, default 1.5
        Written ν elsewhere.

    Examples
    --------
    >>> Matern(width=1.0, smoothness=0.5)([[0.0, 0.0]], [[3.0, 4.0]]).round(4)
    array([[0.0067]])
    """

    def __init__(self, width: float | str = "median", smoothness: float = 1.5) -> None:
        self.width = width
        self.smoothness = smoothness

    def _resolve(self, X: Matrix, sample_weight: Array | None = None) -> None:
        self._check_smoothness()
        super()._resolve(X, sample_weight)

    def _check_smoothness(self) -> float:
        if not is_real(self.smoothness) or self.smoothness not in _FORMULAS:
            raise ValueError(f"smoothness={self.smoothness!r} must be one of {', '.join(map(str, _FORMULAS))}")
        return float(self.smoothness)

    def profile(self) -> Profile:
        return _Matern(self._get_width(), self._check_smoothness())


class _Matern(Profile):
    """f(β) = p(s) exp(−s) with s² = rate · β.

    Where f′ or f″ grow without bound towards β = 0 they are cut off at s = 10⁻⁶, and zero at β = 0: a pair of equal
    rows draws a projection in no direction.
    """

    kind = "distance"
    nonnegative = decreasing = True

    def __init__(self, width: float, smoothness: float) -> None:
        self.resolution = width
        self.smoothness = smoothness
        self.rate = 2 * smoothness / width**2

    def _value(self, beta: Array) -> Array:
        s = np.sqrt(self.rate * beta)
        np.exp(-s, out=beta)
        beta *= _FORMULAS[self.smoothness][0](s, None)
        return beta

    def both(self, beta: Array) -> tuple[Array, Array]:
        slope = self._derivative(beta, 1)
        return self._value(beta), slope

    def second_derivative(self, beta: Array) -> Array:
        return self._derivative(beta, 2)

    def _derivative(self, beta: Array, order: int) -> Array:
        s = np.sqrt(self.rate * beta)
        r = np.where(s > 0, 1 / np.maximum(s, _LEAST), 0).astype(s.dtype)
        return np.asarray((-0.5 * self.rate) ** order * np.exp(-s) * _FORMULAS[self.smoothness][order](s, r))

    def gaussian_rates(self, size: int, rng: np.random.Generator) -> tuple[float, Array] | None:
        # Student-t frequencies: normal ones over the root of a χ² variable of 2·smoothness degrees of freedom.
        return 1.0, 0.5 * self.rate / rng.chisquare(2 * self.smoothness, size)
