"""A kernel as a function f of one number per pair of rows: the one place of its formula.

For rows x and y that number β is their inner product x·y or their squared distance ‖x − y‖². A :class:`Profile` knows
f, its two derivatives and, where there is one, its Fourier transform. Blocks of kernel values, Fourier features,
neighbour search, HSIC and the dependence solver all ask ``kernel.profile()``, so a new formula is written once.
The functions at the end compute tiles of β from rows that are prepared once.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import Any, Literal

import numpy as np
from scipy.sparse import hstack, issparse
from scipy.spatial.distance import cdist

from gramian.grams.features import squared_norms
from gramian.kernels.base import Kernel, dot
from gramian.typing import Array, Matrix

Kind = Literal["inner", "distance"]
WeightedProfiles = tuple[tuple[float, "Profile"], ...]
_FEW_ROWS = 12  # whose pairs tell whether a derivative is right


class Profile(ABC):
    """f(β), f′(β) and f″(β) of a kernel that is a function of one number per pair of rows.

    A subclass writes ``both`` and ``second_derivative``; where f alone is cheaper than both, also ``_value``.

    Attributes
    ----------
    kind : {"inner", "distance"}
        Whether β is an inner product or a squared distance.
    nonnegative : bool
        Whether f is never negative, so that row sums of the kernel can serve as degrees.
    decreasing : bool
        Whether β is a distance and f falls with it, so that the most similar rows are the nearest ones.
    constant_slope : bool
        Whether f′ is a constant: the dependence solver then has one eigenproblem to solve.
    resolution : float
        The distance at which f changes; infinite where only large distances matter.
    row_scales : ndarray (n,) or None
        u, where the kernel is f(u_i u_j β_ij) with a scale of its own for each fitted row.
    """

    kind: Kind
    nonnegative: bool = False
    decreasing: bool = False
    constant_slope: bool = False
    resolution: float = np.inf
    row_scales: Array | None = None

    @abstractmethod
    def both(self, beta: Array) -> tuple[Array, Array]:
        """f(β) and f′(β); may overwrite β."""

    @abstractmethod
    def second_derivative(self, beta: Array) -> Array:
        """f″(β), a new array."""

    def _value(self, beta: Array) -> Array:
        """f(β); may overwrite β."""
        return self.both(beta)[0]

    def value(self, beta: Array, out: Array | None = None) -> Array:
        """f(β) in the dtype of β.

        Parameters
        ----------
        beta : ndarray
        out : ndarray, optional
            Where to write; may be ``beta`` itself. By default a new array.
        """
        if out is None:
            out = _floats(beta)
        elif out is not beta:
            out[...] = beta
        found = self._value(out)
        if found is not out:
            out[...] = found
        return out

    def derivative(self, beta: Array) -> Array:
        """f′(β), a new array."""
        return self.both(_floats(beta))[1]

    def gaussian_rates(self, size: int, rng: np.random.Generator) -> tuple[float, Array] | None:
        """A and random τ with f(β) = A · mean of exp(−τ β), or None where f is no mean of Gaussians."""
        return None

    def frequencies(self, d: int, size: int, rng: np.random.Generator, *, orthogonal: bool = False) -> Array | None:
        """Random ω in the columns of a (d, size) array, with f(‖x − y‖²) = f(0) · mean of cos(ω·(x − y)).

        A kernel of the distance that is definite for rows of every length is a mean of Gaussians (Schoenberg), and a
        Gaussian exp(−τ β) has normal frequencies of variance 2τ.

        Parameters
        ----------
        d : int
            Number of features of a row.
        size : int
            Number of frequencies.
        rng : numpy.random.Generator
        orthogonal : bool
            Make them orthogonal in groups of d, see :func:`orthogonal_frequencies`.

        Returns
        -------
        frequencies : ndarray (d, size) or None
            None where f is no mean of Gaussians.
        """
        drawn = self.gaussian_rates(size, rng)
        if drawn is None:
            return None
        normal = orthogonal_frequencies(d, size, rng) if orthogonal else rng.standard_normal((d, size))
        return normal * np.sqrt(2 * drawn[1])

    def check_derivative(self, X: Array) -> None:
        """An error if f′ is not the derivative of f on a few pairs of rows of X."""
        some = X[np.linspace(0, len(X) - 1, min(len(X), _FEW_ROWS)).astype(np.intp)]
        if self.kind == "inner":
            beta = (some @ some.T)[np.triu_indices(len(some))]
        else:
            beta = ((some[:, None] - some[None]) ** 2).sum(axis=2)[np.triu_indices(len(some), 1)]
        step = 1e-5 * np.abs(beta)
        beta, step = beta[step > 0], step[step > 0]
        slope = self.derivative(beta)
        change = (self.value(beta + step) - self.value(beta - step)) / (2 * step)
        size = np.maximum(np.abs(slope), np.abs(change))
        tells = size * step > 1e-9 * np.abs(self.value(beta))  # elsewhere the difference is rounding
        wrong = tells & (np.abs(slope - change) > 0.01 * size)
        if 2 * np.count_nonzero(wrong) > np.count_nonzero(tells):  # a few may lie at a kink
            at = int(np.argmax(wrong))
            raise ValueError(
                f"derivative of the kernel's profile is {slope[at]:g} at β = {beta[at]:g}, but value changes by "
                f"{change[at]:g} per unit there; pass the derivative of value"
            )


class Exponential(Profile):
    """f(β) = exp(rate · β).

    Parameters
    ----------
    kind : {"inner", "distance"}
    rate : float
        Negative for distances.
    row_scales : ndarray (n,), optional
    """

    nonnegative = True

    def __init__(self, kind: Kind, rate: float, row_scales: Array | None = None) -> None:
        self.kind = kind
        self.rate = float(rate)
        self.row_scales = row_scales
        self.decreasing = kind == "distance" and self.rate < 0 and row_scales is None
        if self.decreasing:
            self.resolution = (-0.5 / self.rate) ** 0.5

    def _value(self, beta: Array) -> Array:
        beta *= self.rate
        return np.exp(beta, out=beta)

    def both(self, beta: Array) -> tuple[Array, Array]:
        value = self._value(beta)
        return value, value * self.rate

    def second_derivative(self, beta: Array) -> Array:
        return np.asarray(np.exp(self.rate * beta) * self.rate**2)

    def gaussian_rates(self, size: int, rng: np.random.Generator) -> tuple[float, Array] | None:
        return (1.0, np.full(size, -self.rate)) if self.decreasing else None


class Power(Profile):
    """f(β) = amplitude · (offset + scale · β)^exponent.

    Parameters
    ----------
    kind : {"inner", "distance"}
    exponent : float
    offset : float
        Not negative.
    scale : float
        Positive.
    amplitude : float
    """

    def __init__(
        self, kind: Kind, exponent: float, *, offset: float = 0.0, scale: float = 1.0, amplitude: float = 1.0
    ) -> None:
        self.kind = kind
        self.exponent = float(exponent)
        self.offset = float(offset)
        self.scale = float(scale)
        self.amplitude = float(amplitude)
        self.nonnegative = amplitude > 0 and kind == "distance"
        self.decreasing = kind == "distance" and amplitude * exponent < 0
        self.constant_slope = self.exponent == 1
        if kind == "distance" and offset > 0:
            self.resolution = (self.offset / self.scale) ** 0.5

    def _value(self, beta: Array) -> Array:
        if self.offset == 1 and not _is_simple(self.exponent):
            # log1p keeps the digits that 1 + small would lose, and they matter under a large exponent.
            beta *= self.scale
            np.log1p(beta, out=beta)
            beta *= self.exponent
            value = np.exp(beta, out=beta)
        else:
            value = _raised(self._base(beta), self.exponent)
        if self.amplitude != 1:
            value *= self.amplitude
        return value

    def both(self, beta: Array) -> tuple[Array, Array]:
        base = self._base(beta)
        slope = _raised(base.copy(), self.exponent - 1)
        base *= slope
        slope *= self.amplitude * self.exponent * self.scale
        if self.amplitude != 1:
            base *= self.amplitude
        return base, slope

    def second_derivative(self, beta: Array) -> Array:
        factor = self.amplitude * self.exponent * (self.exponent - 1) * self.scale**2
        if factor == 0:
            return np.zeros(np.shape(beta))
        return _raised(self._base(_floats(beta)), self.exponent - 2) * factor

    def _base(self, beta: Array) -> Array:
        """offset + scale β, over β."""
        if self.scale != 1:
            beta *= self.scale
        if self.offset != 0:
            beta += self.offset
        return beta

    def gaussian_rates(self, size: int, rng: np.random.Generator) -> tuple[float, Array] | None:
        if self.kind == "inner" or self.exponent >= 0 or self.offset <= 0:
            return None
        # The mean of exp(−τ β) over a Gamma distribution of τ is a negative power of 1 + θβ.
        rates = rng.gamma(-self.exponent, self.scale / self.offset, size)
        return self.amplitude * self.offset**self.exponent, rates


def _is_simple(exponent: float) -> bool:
    """Whether products and roots give the power, ten times faster than a logarithm."""
    return 2 * exponent == int(2 * exponent) and abs(exponent) <= 8


def _raised(base: Array, exponent: float) -> Array:
    """base^exponent, over the base."""
    if not _is_simple(exponent):
        return np.power(base, exponent, out=base)
    whole, half = divmod(abs(int(2 * exponent)), 2)
    if whole + half == 0:
        base[...] = 1
    factor = base.copy() if whole + half > 1 else base
    if half:
        np.sqrt(base, out=base)
    for _ in range(whole - 1 + half):
        base *= factor
    return np.reciprocal(base, out=base) if exponent < 0 else base


def _floats(beta: Any) -> Array:
    """A copy of β in floating point."""
    return np.array(beta, np.result_type(np.asarray(beta).dtype, np.float32))


def orthogonal_frequencies(d: int, size: int, rng: np.random.Generator) -> Array:
    """Columns (d, size), each standard normal, orthogonal within consecutive groups of d."""
    n_groups = -(-size // d)
    directions, triangles = np.linalg.qr(rng.standard_normal((n_groups, d, d)))
    # With the signs of R's diagonal, Q is uniform over the orthogonal matrices.
    directions *= np.sign(np.diagonal(triangles, axis1=1, axis2=2))[:, None, :]
    lengths = np.sqrt(rng.chisquare(d, size=(n_groups, 1, d)))
    return (directions * lengths).transpose(1, 0, 2).reshape(d, -1)[:, :size]


# Kernels with a profile ------------------------------------------------------------------------------------


class VectorKernel(Kernel):
    """A kernel that is a function of one number per pair of rows. Subclasses write ``profile``."""

    accepts_sparse: bool = True

    def profile(self) -> Profile:
        raise NotImplementedError(f"{type(self).__name__} must write profile()")

    def _formula(self) -> Profile:
        """The profile that the values come from, also where a subclass changes them further and so has none itself."""
        for base in type(self).__mro__:
            written = vars(base).get("profile", Kernel.profile)
            if written is not Kernel.profile:
                found: Profile = written(self)
                return found
        raise AssertionError("VectorKernel itself has a profile")

    def _sides(self, X: Matrix, Y: Matrix) -> tuple[Any, Any]:
        return beta_sides(self._formula().kind, X, Y)

    def _tile(self, left: Any, right: Any) -> Array:
        profile = self._formula()
        beta = beta_tile(profile.kind, left, right, profile.resolution)
        return profile.value(beta, out=beta)

    def _diagonal(self, X: Matrix) -> Array:
        profile = self._formula()
        beta = beta_diagonal(profile.kind, X)
        return profile.value(beta, out=beta)


# Tiles of β ------------------------------------------------------------------------------------------------


def beta_sides(kind: Kind, X: Matrix, Y: Matrix) -> tuple[Matrix, Matrix]:
    """Both sets of rows prepared for :func:`beta_tile`, which takes any rows of each.

    With rows augmented to (x, ‖x‖², 1) and (−2y, 1, ‖y‖²) the squared distance is their inner product: one GEMM,
    no further pass. The expansion loses digits where ‖x‖ and ‖y‖ are both large, so dense rows are taken relative to
    their median (a mean would follow outliers).
    """
    if kind == "inner":
        return X, Y
    if issparse(X) or issparse(Y):
        return _augmented(X, left=True), _augmented(Y, left=False)
    center = np.median(Y[:: max(1, Y.shape[0] // 1000)], axis=0).astype(Y.dtype)
    return _augmented(X - center, left=True), _augmented(Y - center, left=False)


def beta_tile(kind: Kind, left: Matrix, right: Matrix, resolution: float = np.inf) -> Array:
    """A new tile of β between prepared rows; squared distances are right relative to ``resolution``²."""
    beta = dot(left, right)
    if kind == "distance":
        np.maximum(beta, 0, out=beta)
        if resolution < np.inf:
            _refine(beta, left, right, resolution)
    return beta


def beta_diagonal(kind: Kind, X: Matrix) -> Array:
    """β of every row with itself, a new array."""
    return squared_norms(X) if kind == "inner" else np.zeros(X.shape[0], X.dtype)


def has_far_rows(left: Matrix, right: Matrix, resolution: float) -> bool:
    """Whether :func:`beta_tile` has distances of rows prepared for it to recompute; if not, it needs no resolution."""
    limit = _farthest(left.dtype, resolution)
    return bool(_column(left, -2).max(initial=0) > limit and _column(right, -1).max(initial=0) > limit)


def _farthest(dtype: np.dtype[Any], resolution: float) -> float:
    """The squared norm up to which the expanded square keeps enough digits."""
    limits = np.finfo(dtype)
    accuracy = 1e-9 if dtype == np.float64 else 2e-6
    return min(accuracy * resolution**2 / float(limits.eps), float(limits.max))


def _refine(squared: Array, left: Matrix, right: Matrix, resolution: float) -> None:
    """Recompute, in place, the squared distances of rows that are too far out for the dtype from their differences."""
    limit = _farthest(squared.dtype, resolution)
    far_left, far_right = (np.flatnonzero(_column(side, place) > limit) for side, place in ((left, -2), (right, -1)))
    if len(far_left) and len(far_right):
        x, y = (side[rows][:, :-2] for side, rows in ((left, far_left), (right, far_right)))
        x, y = (part.toarray() if issparse(part) else part for part in (x, y))
        squared[np.ix_(far_left, far_right)] = cdist(x, y / -2, "sqeuclidean")


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
