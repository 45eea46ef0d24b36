"""The first projection of the iterative spectral method, and the only one if the kernel's slope is constant.

At W = 0 every slope is f′(0), so Φ is Xᵀ C diag(s) Cᵀ X times a number, plus Xᵀ diag(D) X where the weights are not
centred. Its leading eigenvectors need no d×d matrix when D vanishes, as it does for labels and targets.
"""

from __future__ import annotations

import numpy as np
from scipy.linalg import eigh
from scipy.sparse.linalg import LinearOperator

from gramian.dependence.projection._pairs import symmetric_product
from gramian.dependence.projection.weights import PairWeights
from gramian.grams.eigen import block_krylov, fix_signs
from gramian.grams.tiles import slices
from gramian.kernels.profile import Profile, WeightedProfiles
from gramian.typing import Array

_RANK = 1e-10  # eigenvalues below this part of the largest are zero
_FORMED = 1500  # columns up to which d×d matrices are formed


class ConstantPhi:
    """Φ = A diag(t) Aᵀ + Xᵀ diag(D) X for slopes that do not depend on the projection.

    Parameters
    ----------
    X : ndarray (n, d)
    weights : PairWeights
    profiles : tuple of (float, Profile)
        Their slopes at zero are taken.
    zero_diagonal : bool
    """

    def __init__(
        self, X: Array, weights: PairWeights, profiles: WeightedProfiles, *, zero_diagonal: bool = False
    ) -> None:
        self.X = X
        sides, scales = [], []
        D = np.zeros(len(X))
        size = 0.0  # what D is small against
        for slope, profile in _slopes_at_zero(profiles):
            u = profile.row_scales
            scaled = weights if u is None else PairWeights(u[:, None] * weights.factor, weights.scale)
            side = np.zeros((X.shape[1], len(weights.scale)))
            for rows in slices(len(X), 8192):
                side += scaled.project(X[rows], rows).T
            sides.append(side)
            scales.append((slope if profile.kind == "inner" else -2 * slope) * weights.scale)
            if profile.kind == "distance":
                D += 2 * slope * scaled.row_sums()
            elif zero_diagonal:
                D -= slope * scaled.diagonal()
            size += abs(slope) * float(np.abs(scaled.diagonal()).max())
        self.A, self.t = np.hstack(sides), np.concatenate(scales)
        with np.errstate(over="ignore", invalid="ignore"):
            finite = np.isfinite(np.sum(self.A**2) * np.abs(self.t).max())
        if not finite:
            raise ValueError("sums over X overflow; scale its columns, for instance with StandardScaler")
        self.D = D if np.abs(D).max() > 1e-12 * size * len(X) ** 0.5 else None

    def leading(self, q: int) -> tuple[Array, Array]:
        """The q algebraically largest eigenvalues, zero where they are rounding, and their vectors (d, q).

        Vectors of the eigenvalue zero are arbitrary in a large space; here they are the leading principal directions
        of X inside it, so that they say something and do not depend on the linear algebra library.
        """
        if self.D is not None:
            values, vectors = self._dense_leading(q)
            return np.where(np.abs(values) > 10 * _RANK * np.abs(values).max(), values, 0.0), vectors
        values, vectors = self._solid()
        d = self.X.shape[1]
        positive = int(np.sum(values > 0))
        n_zeros = min(max(0, q - positive), d - len(values))
        if n_zeros:
            zero = self._principal(vectors, n_zeros)
            vectors = np.hstack([vectors[:, :positive], zero, vectors[:, positive:]])
            values = np.concatenate([values[:positive], np.zeros(n_zeros), values[positive:]])
        return values[:q], fix_signs(vectors[:, :q])

    def spectrum(self, least: int) -> Array:
        """All eigenvalues, descending; of a matrix too large to form the ``least`` leading ones."""
        d = self.X.shape[1]
        if self.D is not None:
            return self.leading(d if d <= _FORMED else min(d, least))[0]
        values = self._solid()[0]
        return np.sort(np.concatenate([values, np.zeros(d - len(values))]))[::-1]

    def _solid(self) -> tuple[Array, Array]:
        """The eigenvalues that are not zero, descending, and their vectors, where D vanishes."""
        Q, R = np.linalg.qr(self.A)
        values, rotation = np.linalg.eigh((R * self.t) @ R.T)
        solid = np.abs(values) > _RANK * np.abs(values).max(initial=0.0)
        return values[solid][::-1], (Q @ rotation[:, solid])[:, ::-1]

    def _dense_leading(self, q: int) -> tuple[Array, Array]:
        d = self.X.shape[1]
        assert self.D is not None
        if d > _FORMED:
            operator = LinearOperator((d, d), matvec=self._product, matmat=self._product, dtype=np.float64)
            values, vectors = block_krylov(operator, q)
            return values, fix_signs(vectors)
        phi = (self.A * self.t) @ self.A.T + symmetric_product(self.X, self.D)
        # The tie-break of the zero eigenvalues, small enough not to touch the others.
        spread = _scatter(self.X)
        phi += _RANK * np.linalg.norm(phi, 2) / max(np.linalg.norm(spread, 2), np.finfo(float).tiny) * spread
        values, vectors = eigh(phi, subset_by_index=(d - q, d - 1))
        return values[::-1], fix_signs(vectors[:, ::-1])

    def _product(self, V: Array) -> Array:
        V = V.reshape(len(V), -1)
        assert self.D is not None
        return self.A @ (self.t[:, None] * (self.A.T @ V)) + self.X.T @ (self.D[:, None] * (self.X @ V))

    def _principal(self, known: Array, k: int) -> Array:
        """The k leading principal directions of X orthogonal to ``known``."""
        d = self.X.shape[1]
        if d <= _FORMED:
            rest = np.linalg.qr(known, mode="complete")[0][:, known.shape[1] :]
            scatter = rest.T @ _scatter(self.X) @ rest
            m = len(scatter)
            return rest @ eigh(scatter, subset_by_index=(m - k, m - 1))[1][:, ::-1]
        mean = self.X.mean(axis=0)

        def product(V: Array) -> Array:
            V = V.reshape(d, -1)
            XV = self.X @ V
            return self.X.T @ (XV - mean @ V)

        operator = LinearOperator((d, d), matvec=product, matmat=product, dtype=np.float64)
        return block_krylov(operator, k, known=known)[1]


def _scatter(X: Array) -> Array:
    """Xᵀ H X."""
    mean = X.mean(axis=0)
    return symmetric_product(X, np.ones(len(X))) - len(X) * np.outer(mean, mean)


def _slopes_at_zero(profiles: WeightedProfiles) -> list[tuple[float, Profile]]:
    """μ f′(0) of every profile.

    Where all of them vanish (a polynomial without offset), or one does not exist, the sign of a rising similarity.
    """
    with np.errstate(divide="ignore", invalid="ignore"):
        slopes = [(weight, float(profile.derivative(np.zeros(1))[0]), profile) for weight, profile in profiles]
    flat = all(weight * slope == 0 for weight, slope, _ in slopes)
    return [
        (weight * (slope if np.isfinite(slope) and not flat else 1.0 if profile.kind == "inner" else -1.0), profile)
        for weight, slope, profile in slopes
    ]
