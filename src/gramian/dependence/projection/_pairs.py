"""Sum a kernel over all weighted pairs of samples, with the matrix Φ of the gradient of that sum.

With kernel profiles f_m of weights μ_m (``kernels/profile.py``), pair weights Γ and β_ij of the projected rows,

    J(W) = Σ_ij Γ_ij Σ_m μ_m f_m(β_ij),    ∇J(W) = 2 Φ(W) W,    Φ = Xᵀ P X + Xᵀ diag(D) X,

where a profile of inner products adds Γ∘f′ to P, and one of distances adds −2 Γ∘f′ to P and 2 (Γ∘f′) 1 to D. One
pass over tiles on and above the diagonal gives J and, as asked, Φ (d×d) or P (n×n) for products with Φ. A Gram would
give the values f without the slopes f′, so tiles come from the profile; a second pass would cost twice the time. The
approximations in ``_approximate.py`` offer the same methods at a cost linear in n.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol

import numpy as np

from gramian.configuration import require_memory, threads
from gramian.dependence.projection.weights import PairWeights
from gramian.grams.features import squared_norms
from gramian.grams.tiles import run_threaded, slices
from gramian.kernels import Kernel
from gramian.kernels.profile import Kind, WeightedProfiles, beta_sides, beta_tile, has_far_rows
from gramian.typing import Array

_EDGE = 256  # a tile of β, one of Γ and one of f′ then stay in the cache next to the processor
_SERIAL_ROWS = 362  # fewer rows are one tile
OVERFLOW = "the kernel overflows on the projected X; scale the columns, for instance with StandardScaler"


def profiles_of(kernel: Kernel) -> WeightedProfiles:
    """The functions f of a kernel and their weights, k = Σ weight · f; the kernel is fitted if it has a rule.

    Examples
    --------
    >>> from gramian.kernels import RBF, Linear
    >>> [(weight, profile.kind) for weight, profile in profiles_of(RBF(width=1.0) + 0.5 * Linear())]
    [(1.0, 'distance'), (0.5, 'inner')]
    """
    profiles = kernel.profiles()
    if profiles is None:
        raise ValueError(
            f"kernel={kernel!r} is not a smooth function of an inner product or squared distance; use Linear, "
            "Polynomial, RBF, Cauchy, SquaredDistance, Multiquadric, InverseMultiquadric, RationalQuadratic, "
            "ExponentialProduct, RelativeRBF, sums of multiples of them, or write your own as "
            "ProfileKernel(value, derivative)"
        )
    return profiles


class Evaluation(Protocol):
    """J at one projection, and Φ there on demand.

    ``size`` is the sum of the lengths of what cancels in Φ: of that, Φ is right to rounding. ``matrix`` is Φ (d, d), or
    None where only products are to be had.
    """

    @property
    def objective(self) -> float: ...
    @property
    def size(self) -> float: ...
    @property
    def matrix(self) -> Array | None: ...
    def product(self, V: Array) -> Array:
        """Φ V."""


@dataclass(frozen=True)
class Formed:
    """J and Φ as a matrix."""

    objective: float
    size: float
    matrix: Array

    def product(self, V: Array) -> Array:
        return self.matrix @ V


@dataclass(frozen=True)
class Held:
    """J and products with Φ = Xᵀ (c P + diag(D)) X, P held as n×n."""

    objective: float
    size: float
    X: Array
    P: Array
    coefficient: float
    D: Array
    matrix: None = None

    def product(self, V: Array) -> Array:
        XV = self.X @ V
        inside = self.P @ XV
        inside *= self.coefficient
        inside += self.D[:, None] * XV
        return self.X.T @ inside


class KernelTiles:
    """Kernel values and slopes between the rows of two sets of projected samples, tile by tile.

    Parameters
    ----------
    left, right : ndarray (n, q), (m, q)
    profiles : tuple of (float, Profile)

    Attributes
    ----------
    kinds : keys, of β that the profiles take
    """

    def __init__(self, left: Array, right: Array, profiles: WeightedProfiles) -> None:
        self.profiles = profiles
        self._sides: dict[Kind, tuple[Array, Array]] = {}
        for _, profile in profiles:
            if profile.kind not in self._sides:
                self._sides[profile.kind] = beta_sides(profile.kind, left, right)
        self.kinds = self._sides.keys()
        # Whether some rows are too far out for the expanded square is asked once, not for every tile.
        self._resolutions: list[float] = []
        for _, profile in profiles:
            far = profile.kind == "distance" and has_far_rows(*self._sides["distance"], profile.resolution)
            self._resolutions.append(profile.resolution if far else np.inf)

    def beta(self, kind: Kind, rows: slice, columns: slice, *, same: bool, resolution: float = np.inf) -> Array:
        """A new tile of β; ``same`` says that it is a tile on the diagonal."""
        left, right = self._sides[kind]
        beta = beta_tile(kind, left[rows], right[columns], resolution)
        if same and kind == "distance":
            np.fill_diagonal(beta, 0)
        return beta

    def __call__(self, rows: slice, columns: slice, *, same: bool) -> tuple[Array, dict[Kind, Array]]:
        """Σ_m μ_m f_m(β) on a tile, and the same sum of slopes f′ for each kind of β."""
        values: Array | None = None
        slopes: dict[Kind, Array] = {}
        for (weight, profile), resolution in zip(self.profiles, self._resolutions, strict=True):
            kind, scales = profile.kind, None
            beta = self.beta(kind, rows, columns, same=same, resolution=resolution)
            if profile.row_scales is not None:
                scales = profile.row_scales[rows, None] * profile.row_scales[columns]
                beta *= scales
            f, slope = profile.both(beta)
            if scales is not None:
                slope *= scales
            if weight != 1:
                f *= weight
                slope *= weight
            values = f if values is None else np.add(values, f, out=values)
            slopes[kind] = np.add(slopes[kind], slope, out=slopes[kind]) if kind in slopes else slope
        assert values is not None
        return values, slopes


class PairSum:
    """J(W) and Φ(W) exactly, from all pairs.

    Parameters
    ----------
    X : ndarray (n, d), float64
    weights : PairWeights
        Γ.
    profiles : tuple of (float, Profile)
    zero_diagonal : bool
        Leave the pairs (i, i) out.
    hold : bool
        Keep P (n×n) for products with Φ instead of forming Φ; cheaper where d is much larger than the number of
        components. The matrix belongs to the latest evaluation only.
    n_workers : int, optional
    """

    def __init__(
        self,
        X: Array,
        weights: PairWeights,
        profiles: WeightedProfiles,
        *,
        zero_diagonal: bool = False,
        hold: bool = False,
        n_workers: int | None = None,
    ) -> None:
        self.X = X
        self.weights = weights
        self.profiles = profiles
        self.zero_diagonal = zero_diagonal
        self.n_workers = n_workers
        n = len(X)
        self._P = np.empty((n, n)) if hold else None
        edge = n if n <= _SERIAL_ROWS else min(_EDGE, -(-n // (4 * (n_workers or threads()))))
        self._strips = list(slices(n, edge))

    def form(self) -> None:
        """Form Φ from the next evaluation on, instead of holding P."""
        self._P = None

    def objective(self, W: Array) -> float:
        """J(W) alone."""
        Z = self.X @ W
        tiles, parts = KernelTiles(Z, Z, self.profiles), self._parts(0)

        def add(share: int) -> None:
            with np.errstate(over="ignore", invalid="ignore"):  # what is not finite is refused by those who ask
                for place in range(share, len(self._strips), len(parts)):
                    rows = self._strips[place]
                    for columns in self._strips[place:]:
                        values, _, gamma = self._tile(tiles, rows, columns)
                        parts[share].objective += (1 if rows == columns else 2) * float(np.vdot(gamma, values))

        run_threaded(add, range(len(parts)), entries=float(len(Z)) ** 2, n_workers=self.n_workers)
        return sum(part.objective for part in parts)

    def evaluate(self, W: Array) -> Formed | Held:
        """J(W) and Φ(W) in one pass."""
        d = self.X.shape[1] if self._P is None else 0
        Z = self.X @ W
        tiles, parts = KernelTiles(Z, Z, self.profiles), self._parts(d)

        def add(share: int) -> None:
            part = parts[share]
            with np.errstate(over="ignore", invalid="ignore"):  # as above
                for place in range(share, len(self._strips), len(parts)):
                    rows = self._strips[place]
                    image = np.zeros((rows.stop - rows.start, d))
                    for columns in self._strips[place:]:
                        values, slopes, gamma = self._tile(tiles, rows, columns)
                        same = rows == columns
                        part.objective += (1 if same else 2) * float(np.vdot(gamma, values))
                        P = self._weighted(part, slopes, gamma, rows, columns)
                        if same:
                            part.diagonal[rows] = np.diagonal(P)
                        if self._P is not None:
                            self._P[rows, columns] = (P + P.T) / 2 if same else P
                            self._P[columns, rows] = self._P[rows, columns].T
                        else:
                            # Tiles above the diagonal count twice; so does everything when Φ is added to its transpose.
                            image += (0.5 * P if same else P) @ self.X[columns]
                    if self._P is None:
                        part.phi += self.X[rows].T @ image

        run_threaded(add, range(len(parts)), entries=float(len(Z)) ** 2, n_workers=self.n_workers)
        total = parts[0]
        for part in parts[1:]:
            total.objective += part.objective
            total.degrees += part.degrees
            total.diagonal += part.diagonal
            total.phi += part.phi
        coefficient = -2.0 if tiles.kinds == {"distance"} else 1.0
        size = float((np.abs(total.degrees) + np.abs(coefficient * total.diagonal)) @ squared_norms(self.X))
        if self._P is not None:
            return Held(total.objective, size, self.X, self._P, coefficient, total.degrees)
        phi = coefficient * (total.phi + total.phi.T)
        if "distance" in tiles.kinds:
            phi += symmetric_product(self.X, total.degrees)
        return Formed(total.objective, size, phi)

    def _tile(self, tiles: KernelTiles, rows: slice, columns: slice) -> tuple[Array, dict[Kind, Array], Array]:
        """Σ μ f, the slopes and Γ of a tile."""
        same = rows == columns
        values, slopes = tiles(rows, columns, same=same)
        if self.zero_diagonal and same:
            for array in (values, *slopes.values()):
                np.fill_diagonal(array, 0)
        return values, slopes, self.weights.block(rows, columns)

    def _weighted(self, part: _Part, slopes: dict[Kind, Array], gamma: Array, rows: slice, columns: slice) -> Array:
        """P of a tile, up to the common coefficient, with its row sums added to the degrees; overwrites slopes."""
        for slope in slopes.values():
            slope *= gamma
        if "distance" in slopes:
            psi = slopes["distance"]
            part.degrees[rows] += 2 * psi.sum(axis=1)
            if rows != columns:
                part.degrees[columns] += 2 * psi.sum(axis=0)
        if len(slopes) == 1:
            return next(iter(slopes.values()))
        slopes["inner"] -= 2 * slopes["distance"]
        return slopes["inner"]

    def _parts(self, d: int) -> list[_Part]:
        """One total per share of the strips, dealt out beforehand: the sums are the same in every run."""
        n_shares = min(self.n_workers or threads(), len(self._strips))
        require_memory(8.0 * d * d * n_shares, f"the {d}×{d} matrix of each thread", "use fewer columns, or n_jobs=1")
        parts = []
        for _ in range(n_shares):
            parts.append(_Part(np.zeros(len(self.X)), np.zeros(len(self.X)), np.zeros((d, d))))
        return parts


@dataclass
class _Part:
    """What one thread adds up."""

    degrees: Array
    diagonal: Array
    phi: Array
    objective: float = 0.0


def symmetric_product(X: Array, weights: Array, chunk: int = 8192) -> Array:
    """Xᵀ diag(weights) X, a few rows at a time."""
    total = np.zeros((X.shape[1], X.shape[1]))
    for rows in slices(len(X), chunk):
        total += X[rows].T @ (weights[rows, None] * X[rows])
    return (total + total.T) / 2
