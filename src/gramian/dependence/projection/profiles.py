"""The kernels that the dependence solver can project: those that are a smooth function f of one number per pair.

For rows x_i, x_j and a projection W that number is β_ij = (Wᵀx_i)·(Wᵀx_j) or ‖Wᵀ(x_i − x_j)‖². A :class:`Profile`
knows f and its two derivatives; :func:`profiles_of` finds the profiles of a kernel, of its multiples and of sums.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import Literal

import numpy as np

from gramian.checks import check_real
from gramian.kernels import (
    RBF,
    Cauchy,
    ExponentialProduct,
    InverseMultiquadric,
    Kernel,
    Linear,
    Multiquadric,
    Polynomial,
    ProfileKernel,
    RationalQuadratic,
    RelativeRBF,
    Scaled,
    SquaredDistance,
    Sum,
)
from gramian.kernels.family import applied
from gramian.typing import Array

__all__ = ["Profile", "ProfileKernel", "profiles_of"]

Kind = Literal["inner", "distance"]
WeightedProfiles = tuple[tuple[float, "Profile"], ...]
_FEW_ROWS = 12  # whose pairs tell whether a derivative is right


class Profile(ABC):
    """f(β), f′(β) and f″(β) of a kernel that is a function of one number per pair.

    Attributes
    ----------
    kind : {"inner", "distance"}
        Whether β is an inner product or a squared distance.
    nonnegative : bool
        Whether f is never negative, so that row sums of the kernel can serve as degrees.
    constant_slope : bool
        Whether f′ is a constant: Φ then does not depend on the projection and one eigenproblem solves everything.
    row_scales : ndarray (n,) or None
        u, where the kernel is f(u_i u_j β_ij) with numbers of its own for the rows.
    """

    kind: Kind
    nonnegative: bool
    constant_slope: bool = False
    row_scales: Array | None = None

    def value(self, beta: Array) -> Array:
        """f(β), a new array."""
        return self.both(np.array(beta, np.float64))[0]

    def derivative(self, beta: Array) -> Array:
        """f′(β), a new array."""
        return self.both(np.array(beta, np.float64))[1]

    @abstractmethod
    def both(self, beta: Array) -> tuple[Array, Array]:
        """f(β) and f′(β); may overwrite β."""

    @abstractmethod
    def second_derivative(self, beta: Array) -> Array:
        """f″(β), a new array."""

    def gaussian_rates(self, size: int, rng: np.random.Generator) -> tuple[float, Array] | None:
        """A and random τ with f(β) = A · mean of exp(−τ β), or None where f is no mean of Gaussians."""
        return None


class _Exponential(Profile):
    """f = exp(rate β)."""

    nonnegative = True

    def __init__(self, kind: Kind, rate: float, row_scales: Array | None = None) -> None:
        self.kind = kind
        self.rate = rate
        self.row_scales = row_scales

    def both(self, beta: Array) -> tuple[Array, Array]:
        beta *= self.rate
        np.exp(beta, out=beta)
        return beta, beta * self.rate

    def second_derivative(self, beta: Array) -> Array:
        return np.asarray(np.exp(self.rate * beta) * self.rate**2)

    def gaussian_rates(self, size: int, rng: np.random.Generator) -> tuple[float, Array] | None:
        if self.kind == "inner" or self.row_scales is not None:
            return None
        return 1.0, np.full(size, -self.rate)


class _Power(Profile):
    """f = amplitude · (offset + scale β)^exponent."""

    def __init__(
        self, kind: Kind, exponent: float, *, offset: float = 0.0, scale: float = 1.0, amplitude: float = 1.0
    ) -> None:
        self.kind = kind
        self.exponent = float(exponent)
        self.offset = offset
        self.scale = scale
        self.amplitude = amplitude
        self.nonnegative = amplitude > 0 and kind == "distance" and offset >= 0
        self.constant_slope = self.exponent == 1

    def both(self, beta: Array) -> tuple[Array, Array]:
        beta *= self.scale
        beta += self.offset
        slope = _raised(beta, self.exponent - 1)
        beta *= slope
        slope *= self.amplitude * self.exponent * self.scale
        if self.amplitude != 1:
            beta *= self.amplitude
        return beta, slope

    def second_derivative(self, beta: Array) -> Array:
        factor = self.amplitude * self.exponent * (self.exponent - 1) * self.scale**2
        if factor == 0:
            return np.zeros(np.shape(beta))
        return _raised(self.offset + self.scale * np.asarray(beta, np.float64), self.exponent - 2) * factor

    def gaussian_rates(self, size: int, rng: np.random.Generator) -> tuple[float, Array] | None:
        if self.kind == "inner" or self.exponent >= 0 or self.offset <= 0:
            return None
        # The mean of exp(−τ β) over a Gamma distribution of τ is a negative power of 1 + θβ.
        rates = rng.gamma(-self.exponent, self.scale / self.offset, size)
        return self.amplitude * self.offset**self.exponent, rates


def _raised(base: Array, exponent: float) -> Array:
    """base^exponent as a new array; whole and half exponents by products and roots, ten times faster than a power."""
    doubled = 2 * exponent
    if doubled != int(doubled) or abs(exponent) > 8:
        return np.asarray(np.power(base, exponent))
    whole, half = divmod(abs(int(doubled)), 2)
    out = np.sqrt(base) if half else base.copy() if whole else np.ones_like(base)
    for _ in range(whole - 1 + half):
        out *= base
    return np.reciprocal(out, out=out) if exponent < 0 else out


class _Written(Profile):
    """What a user wrote."""

    nonnegative = False

    def __init__(self, kernel: ProfileKernel) -> None:
        kernel._plain()
        self.kernel = kernel
        self.kind = "inner" if kernel.kind == "inner" else "distance"

    def both(self, beta: Array) -> tuple[Array, Array]:
        return self._called("value", beta), self._called("derivative", beta)

    def second_derivative(self, beta: Array) -> Array:
        if self.kernel.second_derivative is None:
            raise ValueError("the kernel has second_derivative=None, which the second-order certificate needs; pass f″")
        return self._called("second_derivative", beta)

    def _called(self, name: str, beta: Array) -> Array:
        """One of the user's functions, as a new array; an error if it gives no numbers."""
        with np.errstate(all="ignore"):
            out = np.array(applied(getattr(self.kernel, name), np.array(beta, np.float64), name))
        if not np.isfinite(out).all():
            where = float(np.asarray(beta)[~np.isfinite(out)].flat[0])
            raise ValueError(
                f"{name} of ProfileKernel is not finite at β = {where:g}; return finite numbers there, for instance by "
                "an offset, or scale the columns of X"
            )
        return out


def check_slopes(profiles: WeightedProfiles, X: Array) -> None:
    """An error if the derivative that a user wrote is not that of the value, on a few pairs of rows of X."""
    some = X[np.linspace(0, len(X) - 1, min(len(X), _FEW_ROWS)).astype(np.intp)]
    for _, profile in profiles:
        if not isinstance(profile, _Written):
            continue
        if profile.kind == "inner":
            beta = (some @ some.T)[np.triu_indices(len(some))]
        else:
            beta = ((some[:, None] - some[None]) ** 2).sum(axis=2)[np.triu_indices(len(some), 1)]
        step = 1e-5 * np.abs(beta)
        beta, step = beta[step > 0], step[step > 0]
        slope = profile.derivative(beta)
        change = (profile.value(beta + step) - profile.value(beta - step)) / (2 * step)
        size = np.maximum(np.abs(slope), np.abs(change))
        tells = size * step > 1e-9 * np.abs(profile.value(beta))  # elsewhere the difference is rounding
        wrong = tells & (np.abs(slope - change) > 0.01 * size)
        if 2 * np.count_nonzero(wrong) > np.count_nonzero(tells):  # a few may lie at a kink
            at = int(np.argmax(wrong))
            raise ValueError(
                f"derivative of ProfileKernel is {slope[at]:g} at β = {beta[at]:g}, but value changes by "
                f"{change[at]:g} per unit there; pass the derivative of value"
            )


def profiles_of(kernel: Kernel) -> WeightedProfiles:
    """The functions f of a kernel and their weights.

    Parameters
    ----------
    kernel : Kernel
        Linear, Polynomial, RBF, Cauchy, SquaredDistance, Multiquadric, InverseMultiquadric, RationalQuadratic,
        ExponentialProduct, RelativeRBF, ProfileKernel, or a sum of multiples of them; fitted if it has a rule.

    Returns
    -------
    profiles : tuple of (float, Profile)
        k = Σ weight · f.

    Examples
    --------
    >>> from gramian.kernels import RBF, Linear
    >>> [(weight, profile.kind) for weight, profile in profiles_of(RBF(width=1.0) + 0.5 * Linear())]
    [(1.0, 'distance'), (0.5, 'inner')]
    """
    if isinstance(kernel, Sum):
        parts = tuple(part for child in kernel._parts() for part in profiles_of(child))
        return tuple((weight, profile) for weight, profile in parts if weight) or parts
    if isinstance(kernel, Scaled):
        if not 0 <= kernel.factor < np.inf:
            raise ValueError(f"factor={kernel.factor!r} of a kernel in a sum must be a finite number >= 0")
        return tuple((kernel.factor * weight, profile) for weight, profile in profiles_of(kernel._inner))
    return ((1.0, _profile(kernel)),)


def _profile(kernel: Kernel) -> Profile:
    match kernel:
        case Linear():
            return _Power("inner", 1)
        case Polynomial():
            kernel._check()
            return _Power("inner", kernel.degree, offset=float(kernel.offset))
        case RBF():
            return _Exponential("distance", -0.5 / kernel._get_width() ** 2)
        case ExponentialProduct():
            return _Exponential("inner", kernel._get_width() ** -2)
        case RelativeRBF():
            if not hasattr(kernel, "widths_"):
                raise ValueError("the widths of RelativeRBF depend on the data; call fit(X) first")
            return _Exponential("distance", -0.5, 1 / kernel.widths_.astype(np.float64))
        case Cauchy():
            return _Power("distance", -1, offset=1.0, scale=kernel._get_width() ** -2)
        case RationalQuadratic():
            check_real(kernel, "exponent", above=0)
            scale = 0.5 / (kernel.exponent * kernel._get_width() ** 2)
            return _Power("distance", -kernel.exponent, offset=1.0, scale=scale)
        case SquaredDistance():
            return _Power("distance", 1, amplitude=-1.0)
        case Multiquadric():
            check_real(kernel, "offset", above=0)
            return _Power("distance", 0.5, offset=float(kernel.offset) ** 2, amplitude=-1.0)
        case InverseMultiquadric():
            check_real(kernel, "offset", above=0)
            return _Power("distance", -0.5, offset=float(kernel.offset) ** 2)
        case ProfileKernel():
            return _Written(kernel)
    raise ValueError(
        f"kernel={kernel!r} is not a smooth function of an inner product or squared distance; use Linear, Polynomial, "
        "RBF, Cauchy, SquaredDistance, Multiquadric, InverseMultiquadric, RationalQuadratic, ExponentialProduct, "
        "RelativeRBF, sums of multiples of them, or write your own as ProfileKernel(value, derivative)"
    )
