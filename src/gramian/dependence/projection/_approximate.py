"""The sum over pairs for an approximated kernel, at a cost linear in the number of samples.

Both classes stand in for ``PairSum`` of ``_pairs.py``. Landmarks and frequencies are drawn once, so what
they evaluate is one fixed function of W, and the gradient that Φ gives is that of the approximated J, not an
approximation of the exact one. A first pass over the rows gives J; Φ takes a second one, and only if it is asked for.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable
from functools import cached_property

import numpy as np

from gramian.configuration import require_memory, threads
from gramian.dependence.projection._pairs import OVERFLOW, KernelTiles
from gramian.dependence.projection.weights import PairWeights
from gramian.grams import DenseGram
from gramian.grams.features import squared_norms
from gramian.grams.tiles import run_threaded, slices
from gramian.kernels.profile import Kind, WeightedProfiles, orthogonal_frequencies
from gramian.landmarks.selection import uniform
from gramian.typing import Array

_CHUNK_BYTES = 2 * 2**20  # of one array of features of a chunk of rows
_JITTER = 1e-8  # of the kernel among landmarks, relative to its mean diagonal at the first projection


class _Lazy:
    """J now, Φ and the size of what cancels in it when they are asked for."""

    def __init__(self, objective: float, form: Callable[[], tuple[Array, float]]) -> None:
        self.objective = objective
        self._form = form

    @cached_property
    def _formed(self) -> tuple[Array, float]:
        phi, size = self._form()
        return (phi + phi.T) / 2, size

    @property
    def size(self) -> float:
        return self._formed[1]

    @property
    def matrix(self) -> Array:
        return self._formed[0]

    def product(self, V: Array) -> Array:
        return self.matrix @ V


class _Rows:
    """The rows of X in chunks, dealt out to threads beforehand so that sums are the same in every run."""

    def __init__(self, n: int, n_features: int, n_workers: int | None) -> None:
        self.n_workers = n_workers or threads()
        self.n = n
        self.chunks = list(slices(n, max(64, _CHUNK_BYTES // (8 * n_features))))
        self.entries = float(n) * n_features

    def sums(self, start: Callable[[], list[Array]], add: Callable[[list[Array], slice], None]) -> list[Array]:
        """Arrays made by ``start`` and added to by ``add(arrays, rows)`` for every chunk, summed over threads."""
        totals = [start() for _ in range(min(self.n_workers, len(self.chunks)))]

        def work(share: int) -> None:
            with np.errstate(over="ignore", invalid="ignore"):  # what is not finite is refused by those who ask
                for rows in self.chunks[share :: len(totals)]:
                    add(totals[share], rows)

        run_threaded(work, range(len(totals)), entries=self.entries, n_workers=self.n_workers)
        for other in totals[1:]:
            for total, part in zip(totals[0], other, strict=True):
                total += part
        return totals[0]


class _ApproximatePairSum(ABC):
    """J and Φ of a kernel approximated by random features, which are drawn at the start.

    Parameters
    ----------
    X : ndarray (n, d), float64
    weights : PairWeights
    profiles : tuple of (float, Profile)
    n_components : int
        q, the number of columns of W.
    n_features : int
    rng : numpy.random.Generator
    zero_diagonal : bool
        Leave the pairs (i, i) out.
    n_workers : int, optional
    """

    def __init__(
        self,
        X: Array,
        weights: PairWeights,
        profiles: WeightedProfiles,
        n_components: int,
        n_features: int,
        rng: np.random.Generator,
        *,
        zero_diagonal: bool = False,
        n_workers: int | None = None,
    ) -> None:
        self.X = X
        self.weights = weights
        self.profiles = profiles
        self.zero_diagonal = zero_diagonal
        self.n_workers = n_workers
        self._rows = self._draw(n_components, n_features, rng)

    @abstractmethod
    def _draw(self, n_components: int, n_features: int, rng: np.random.Generator) -> _Rows:
        """Draw what the approximation needs, and cut the rows by the number of their features."""

    @abstractmethod
    def evaluate(self, W: Array) -> _Lazy:
        """J(W) now, Φ(W) when asked for."""

    def objective(self, W: Array) -> float:
        """J(W) alone."""
        return self.evaluate(W).objective


class FourierPairSum(_ApproximatePairSum):
    """Kernels that are means of Gaussians of the distance, as means of random waves.

    With frequencies ω_l drawn once in R^q and amplitudes a_l,

        k(x, y) ≈ Σ_l a_l cos(ω_l·Wᵀ(x − y)).

    The part of Φ between the subspace and its complement, which is the gradient, is that of this sum; the parts inside
    the two, which only shape the step, use f′ ≈ −Σ_l a_l τ_l cos(…), τ_l being the Gaussian's rate. Frequencies in
    R^d, projected with the data, would make J independent of the basis of the subspace; but then the maximum fits the
    frequencies as much as the data. These give every subspace the same, slightly wrong kernel.

    The profiles are those of distances, each with ``gaussian_rates``; ``n_features`` are cosines and sines together.
    """

    def _draw(self, n_components: int, n_features: int, rng: np.random.Generator) -> _Rows:
        size = max(1, n_features // (2 * len(self.profiles)))
        amplitudes, rates = [], []
        for weight, profile in self.profiles:
            drawn = profile.gaussian_rates(size, rng)
            if drawn is None:
                raise ValueError(
                    "approximation='fourier' is for kernels that average Gaussians of the distance (RBF, Cauchy, "
                    "RationalQuadratic, InverseMultiquadric and their sums); use 'nystroem' or None"
                )
            amplitudes.append(np.full(size, weight * drawn[0] / size))
            rates.append(drawn[1])
        self.amplitudes, self.rates = np.concatenate(amplitudes), np.concatenate(rates)
        self.frequencies = orthogonal_frequencies(n_components, len(self.rates), rng) * np.sqrt(2 * self.rates)
        self.constant = self.amplitudes.sum() * self.weights.diagonal().sum() if self.zero_diagonal else 0.0
        rows = _Rows(len(self.X), len(self.rates), self.n_workers)
        r, d, m = len(self.weights.scale), self.X.shape[1], 2 * len(self.rates)
        require_memory(
            8.0 * r * d * m * min(rows.n_workers, len(rows.chunks)),
            f"approximation='fourier' with {r} classes or targets, {d} columns and {m} features",
            "use approximation='nystroem', or a smaller n_features",
        )
        return rows

    def evaluate(self, W: Array) -> _Lazy:
        """J(W) now, Φ(W) when asked for."""
        r, D = len(self.weights.scale), len(self.rates)

        def add(totals: list[Array], rows: slice) -> None:
            for total, wave in zip(totals, _waves(self.X[rows] @ W, self.frequencies), strict=True):
                total += self.weights.project(wave, rows)

        cosines, sines = self._rows.sums(lambda: [np.zeros((r, D)) for _ in range(2)], add)
        power = (cosines**2 + sines**2) @ self.amplitudes
        objective = float(self.weights.scale @ power) - self.constant
        return _Lazy(objective, lambda: self._form(W, cosines, sines))

    def _form(self, W: Array, cosines: Array, sines: Array) -> tuple[Array, float]:
        d, D = self.X.shape[1], len(self.rates)
        r = len(self.weights.scale)
        strength = np.sqrt(self.amplitudes * self.rates)

        def start() -> list[Array]:
            return [np.zeros((d, D)), np.zeros((d, d)), np.zeros((r, d, 2 * D))]

        def add(totals: list[Array], rows: slice) -> None:
            X = self.X[rows]
            cosine, sine = _waves(X @ W, self.frequencies)
            along, across = self.weights.expand(cosines, rows), self.weights.expand(sines, rows)
            totals[0] += X.T @ (sine * along - cosine * across)
            # The degrees Σ_j Γ_ij f′(β_ij), up to their sign.
            along *= cosine
            across *= sine
            along += across
            totals[1] += X.T @ ((along @ strength**2)[:, None] * X)
            cosine *= strength
            sine *= strength
            self.weights.add_moments(totals[2], X, np.hstack([cosine, sine]), rows)

        slopes, phi, sums = self._rows.sums(start, add)
        phi *= -2
        for scale, moment in zip(self.weights.scale, self.weights.moments(sums), strict=True):
            phi += (2 * scale) * (moment @ moment.T)
        # Σ_ij Γ_ij sin(θ_i − θ_j)(x_i − x_j) is twice the column of ``slopes``; half the gradient follows.
        error = -(slopes * self.amplitudes) @ self.frequencies.T - phi @ W
        error -= W @ (W.T @ error)
        # The waves are wrong by more than rounding: only what is exactly zero counts as nothing.
        return phi + error @ W.T + W @ error.T, 0.0


def _waves(Z: Array, frequencies: Array) -> tuple[Array, Array]:
    """cos and sin of Z @ frequencies, both from t = tan(θ/2), which costs a third of the two calls."""
    t = Z @ (0.5 * frequencies)
    np.tan(t, out=t)
    cosine = t * t
    cosine += 1
    np.divide(2, cosine, out=cosine)
    t *= cosine
    cosine -= 1
    return cosine, t


class NystroemPairSum(_ApproximatePairSum):
    """Any positive semi-definite kernel through landmarks: k(x, y) ≈ k(x, L) (K_LL + ε I)^-1 k(L, y).

    With g_a = K_LX C_a and α_a = (K_LL + ε I)^-1 g_a the approximated sum is J = Σ_a s_a g_a·α_a, and its gradient
    is that of the exact kernel summed over two smaller sets of pairs: samples with landmarks, of weights 2 C S αᵀ, and
    landmarks with landmarks, of weights −α S αᵀ. That is Φ W. The part of Φ inside the complement of the subspace,
    which only shapes the step, is the exact one summed over pairs of a sample and a landmark, scaled up to all pairs.

    The kernel is positive semi-definite; ``n_features`` are landmarks, drawn from the rows.
    """

    def _draw(self, n_components: int, n_features: int, rng: np.random.Generator) -> _Rows:
        n = len(self.X)
        indices = np.sort(uniform(n, min(n_features, n), rng))
        self.landmarks = self.X[indices]
        self._coordinates = self.weights.factor_rows(indices)
        self._jitter: float | None = None
        return _Rows(n, len(indices), self.n_workers)

    def evaluate(self, W: Array) -> _Lazy:
        """J(W) now, Φ(W) when asked for."""
        Z, L = self.X @ W, self.landmarks @ W
        m = len(L)
        every = slice(0, m)
        across, among = KernelTiles(Z, L, self.profiles), KernelTiles(L, L, self.profiles)

        def tile(rows: slice) -> tuple[Array, dict[Kind, Array]]:
            return across(rows, every, same=False)

        def add(totals: list[Array], rows: slice) -> None:
            totals[0] += self.weights.project(tile(rows)[0], rows)

        (sums,) = self._rows.sums(lambda: [np.zeros((len(self.weights.scale), m))], add)
        with np.errstate(over="ignore", invalid="ignore"):
            within, slopes = among(every, every, same=True)
        if self._jitter is None:
            # Fixed from the first projection on: a jitter that moved with W would have a gradient of its own.
            self._jitter = _JITTER * float(np.trace(within)) / m or 1.0  # of a kernel that is zero, anything
        if not (np.isfinite(within).all() and np.isfinite(sums).all()):
            raise ValueError(OVERFLOW)
        alpha = DenseGram(within).factorization(self._jitter, "cholesky").solve(sums.T)
        objective = float(self.weights.scale @ np.einsum("am,ma->a", sums, alpha))
        diagonal = self._diagonal(Z) if self.zero_diagonal else None
        if diagonal is not None:
            objective -= float(self.weights.diagonal() @ diagonal[0])
        return _Lazy(objective, lambda: self._form(W, tile, alpha, slopes, diagonal))

    def _diagonal(self, Z: Array) -> tuple[Array, Array]:
        """Σ_m μ_m f_m(β_ii), and the same sum of the slopes of inner products."""
        norms = np.einsum("ij,ij->i", Z, Z)
        values, slope = np.zeros(len(Z)), np.zeros(len(Z))
        for weight, profile in self.profiles:
            f, df = profile.both(norms.copy() if profile.kind == "inner" else np.zeros(len(Z)))
            values += weight * f
            if profile.kind == "inner":
                slope += weight * df
        return values, slope

    def _form(
        self,
        W: Array,
        tile: Callable[[slice], tuple[Array, dict[Kind, Array]]],
        alpha: Array,
        slopes: dict[Kind, Array],
        diagonal: tuple[Array, Array] | None,
    ) -> tuple[Array, float]:
        L = self.landmarks
        (m, d), q = L.shape, W.shape[1]
        part = len(self.X) / m

        def start() -> list[Array]:
            shapes = (m, d), (m,), (d, d), (m, q), (m,), (d, q), (1,)
            return [np.zeros(shape) for shape in shapes]

        def add(totals: list[Array], rows: slice) -> None:
            X, by_kind = self.X[rows], tile(rows)[1]
            Z = X @ W
            # All pairs of samples with landmarks, weighted as they are: X by columns for the landmarks to multiply.
            P, left, right = _split(by_kind, part * self.weights.expand(self._coordinates.T, rows))
            totals[0] += P.T @ X
            totals[1] += right
            totals[2] += X.T @ (left[:, None] * X)
            totals[6] += np.abs(left) @ squared_norms(X)
            # The same pairs with the weights of the gradient, only as far as the product with W needs them.
            P, left, right = _split(by_kind, 2 * self.weights.expand(alpha.T, rows))
            totals[3] += P.T @ Z
            totals[4] += right
            totals[5] += X.T @ (left[:, None] * Z + P @ (L @ W))

        image, degrees, phi, image_W, degrees_W, gradient, size = self._rows.sums(start, add)
        cross = L.T @ image
        phi += cross + cross.T + L.T @ (degrees[:, None] * L)
        P, left, right = _split(slopes, -(alpha * self.weights.scale) @ alpha.T)
        LW = L @ W
        gradient += L.T @ (image_W + (degrees_W + left + right)[:, None] * LW + P @ LW + P.T @ LW)
        if diagonal is not None:
            gradient -= self.X.T @ ((self.weights.diagonal() * diagonal[1])[:, None] * (self.X @ W))
        error = gradient - phi @ W
        inside = W.T @ error
        phi += error @ W.T + W @ error.T - W @ ((inside + inside.T) / 2) @ W.T
        return phi, float(size[0])


def _split(slopes: dict[Kind, Array], weights: Array) -> tuple[Array, Array, Array]:
    """P, l, r with ½ Σ_ij w_ij f′_ij A_ij = Xᵀ P Y + Yᵀ Pᵀ X + Xᵀ diag(l) X + Yᵀ diag(r) Y over rows of X and Y."""
    P = np.zeros_like(weights)
    left, right = np.zeros(weights.shape[0]), np.zeros(weights.shape[1])
    if "distance" in slopes:
        P = -(slopes["distance"] * weights)
        left, right = -P.sum(axis=1), -P.sum(axis=0)
    if "inner" in slopes:
        P += 0.5 * (slopes["inner"] * weights)
    return P, left, right
