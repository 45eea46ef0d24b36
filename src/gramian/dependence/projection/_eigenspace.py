"""Leading eigenvectors of the matrix Φ of the dependence solver: of the first projection, and of every step.

:class:`ConstantPhi` is Φ at W = 0, where every slope is f′(0): Xᵀ C diag(s) Cᵀ X times a number, plus Xᵀ diag(D) X
where the weights are not centred. It gives the first projection, and the only one if the kernel's slope is constant.
A step takes the leading eigenvectors of Φ + ρ WWᵀ, for one or several level shifts ρ. Where Φ is a matrix LAPACK finds
them; all d eigenvalues are shown to the user, so there is no choice of a method to be made as ``grams/eigen.py`` makes
it for an n×n Gram. Where only products are to be had, they are sought in a block Krylov space that starts from the
present W and the directions next to it, as accurately as the progress of the solver deserves. The space contains W, so
another ρ is another small eigenproblem and takes no further product.
"""

from __future__ import annotations

import numpy as np
from scipy.linalg import eigh, eigvalsh
from scipy.sparse.linalg import LinearOperator

from gramian.dependence.projection._pairs import OVERFLOW, Evaluation, symmetric_product
from gramian.dependence.projection.weights import PairWeights
from gramian.grams.eigen import block_krylov, fix_signs, orthonormalize
from gramian.grams.tiles import slices
from gramian.kernels.profile import WeightedProfiles
from gramian.typing import Array

_RANK = 1e-10  # eigenvalues below this part of the largest are zero
_FORMED = 1500  # columns up to which d×d matrices are formed
_WHOLE = 300  # columns up to which all eigenvectors cost little more than some
_EXTRA = 4  # directions next to W that are followed too: they show the gap and help through it
_MOST_BLOCKS = 20
_ACCURACY = 0.05  # of a step, relative to its length
_FINAL_ACCURACY = 1e-8  # of the eigenvectors that the end is compared with, one more than W has
_SHOWN_ACCURACY = 1e-3  # of as many eigenvalues after them, which only show where the gap is
_NOTHING = 1e-8  # of Φ
_PRODUCTS_FOR_MATRIX = 1 / 8  # columns multiplied at the cost of a column formed: thin products run at a quarter speed


# The first projection ---------------------------------------------------------------------------------------


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
        slopes = []
        with np.errstate(divide="ignore", invalid="ignore"):
            for weight, profile in profiles:
                slopes.append(weight * float(profile.derivative(np.zeros(1))[0]))
        for (weight, profile), slope in zip(profiles, slopes, strict=True):
            # Where all slopes vanish (a polynomial without offset), or one does not exist: that of a rising similarity.
            if not np.isfinite(slope) or not np.any(slopes):
                slope = weight if profile.kind == "inner" else -weight
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


# One step --------------------------------------------------------------------------------------------------


class _Space:
    """What both kinds share: ΦW, and how far W is from spanning an invariant subspace."""

    def __init__(self, W: Array, image: Array, size: float) -> None:
        if not np.isfinite(size):
            raise ValueError(OVERFLOW)
        self.W = W
        self.image = image  # Φ W
        self.size = size
        self.rayleigh = (W.T @ image + image.T @ W) / 2
        off = image - W @ self.rayleigh
        # Where Φ vanishes on the subspace, what rounding leaves of it is no direction to go.
        length = max(float(np.linalg.norm(image)), _NOTHING * size, float(np.finfo(float).tiny))
        self.residual = float(np.linalg.norm(off)) / length

    def rotated(self) -> tuple[Array, Array]:
        """Eigenvalues of WᵀΦW, descending, and W turned to their directions."""
        values, rotation = np.linalg.eigh(self.rayleigh)
        return values[::-1], self.W @ rotation[:, ::-1]


class MatrixSpace(_Space):
    """Φ as a matrix."""

    costly = False
    neighbours = None

    def __init__(self, phi: Array, W: Array) -> None:
        super().__init__(W, phi @ W, float(np.linalg.norm(phi)))
        self.phi = phi
        self._values: Array | None = None

    def leading(self, shift: float, *, final: bool = False) -> tuple[Array, Array]:
        """Leading eigenvalues of Φ + shift·WWᵀ, descending, one more than W has columns, and the first vectors."""
        d, q = self.W.shape
        shifted = self.phi + shift * (self.W @ self.W.T) if shift else self.phi
        wanted = None if d <= _WHOLE else (max(0, d - q - 1), d - 1)
        values, vectors = eigh(shifted, subset_by_index=wanted, check_finite=False)
        if wanted is None and not shift:
            self._values = values[::-1]
        return values[::-1][: q + 1], vectors[:, ::-1][:, :q]

    def spectrum(self) -> Array:
        """All eigenvalues of Φ, descending."""
        if self._values is None:
            self._values = eigvalsh(self.phi, check_finite=False)[::-1]
        return self._values

    def span(self) -> float:
        """λ_max − λ_min of Φ."""
        values = self.spectrum()
        return float(values[0] - values[-1])


class KrylovSpace(_Space):
    """Φ by its products.

    Parameters
    ----------
    evaluation : Evaluation
    W : ndarray (d, q)
        Orthonormal.
    beside : ndarray (d, p)
        Directions to start from too, such as the ``neighbours`` of the step before.
    """

    def __init__(self, evaluation: Evaluation, W: Array, beside: Array) -> None:
        self._evaluation = evaluation
        self._Q = np.hstack([W, orthonormalize(beside, W)[0]])
        self._image = evaluation.product(self._Q)
        super().__init__(W, self._image[:, : W.shape[1]], float(np.linalg.norm(self._image)))
        self._T = self._Q.T @ self._image
        self._fixed = False
        self._n_known = W.shape[1] + 1

    def leading(self, shift: float, *, final: bool = False) -> tuple[Array, Array]:
        """As of :class:`MatrixSpace`, to the accuracy that the length of the step deserves, or the end."""
        q = self.W.shape[1]
        goal = _FINAL_ACCURACY if final else max(_ACCURACY * self.residual, 1e-12)
        goal *= float(np.linalg.norm(self.image))
        wanted = q + 1 if final else q
        block = min(len(self.W), 2 * q + _EXTRA) if final else q + _EXTRA
        while True:
            values, Y = self._solve(shift)
            if self._fixed or self._Q.shape[1] >= min(len(self.W), _MOST_BLOCKS * block):
                break
            # Columns of Φ Q Y + ρ W WᵀQ Y − Q Y Θ; W is the first q columns of Q.
            top = Y[:, :block]
            image = self._image @ top + shift * (self.W @ top[:q])
            error = image - self._Q @ (top * values[:block])
            done = np.linalg.norm(error[:, :wanted]) <= goal
            if done and not final:
                break
            if done and top.shape[1] == block and np.linalg.norm(error) <= _SHOWN_ACCURACY / _FINAL_ACCURACY * goal:
                self._n_known = block
                break
            self._grow(error)
        self._fixed = True  # the next evaluation replaces the matrix behind the products
        return values[: q + 1], self._Q @ Y[:, :q]

    def spectrum(self) -> Array:
        """The leading eigenvalues of Φ, descending, as many as are known."""
        return self._solve(0.0)[0][: self._n_known]

    def span(self) -> float:
        """λ_max − λ_min of Φ, as far as the space shows it."""
        values = self._solve(0.0)[0]
        return float(values[0] - values[-1])

    @property
    def costly(self) -> bool:
        """Whether this step has taken so many products that forming Φ would have been cheaper."""
        return self._Q.shape[1] > max(4 * (self.W.shape[1] + _EXTRA), _PRODUCTS_FOR_MATRIX * len(self.W))

    @property
    def neighbours(self) -> Array:
        """Directions that come next after the leading ones."""
        q = self.W.shape[1]
        return self._Q @ self._solve(0.0)[1][:, q : q + _EXTRA]

    def _solve(self, shift: float) -> tuple[Array, Array]:
        q = self.W.shape[1]
        T = (self._T + self._T.T) / 2
        T[range(q), range(q)] += shift
        values, Y = np.linalg.eigh(T)
        return values[::-1], Y[:, ::-1]

    def _grow(self, directions: Array) -> None:
        lengths = np.linalg.norm(directions, axis=0)
        new = orthonormalize(directions[:, lengths > 0] / lengths[lengths > 0], self._Q)[0]
        if new.shape[1] == 0:
            self._fixed = True
            return
        image = self._evaluation.product(new)
        self._Q = np.hstack([self._Q, new])
        self._image = np.hstack([self._image, image])
        self._T = self._Q.T @ self._image


Space = MatrixSpace | KrylovSpace


def space_of(evaluation: Evaluation, W: Array, beside: Array | None, rng: np.random.Generator) -> Space:
    """The space in which the next step from W is sought."""
    if evaluation.matrix is not None:
        return MatrixSpace(evaluation.matrix, W)
    if beside is None:
        beside = rng.standard_normal((len(W), min(_EXTRA, len(W) - W.shape[1])))
    return KrylovSpace(evaluation, W, beside)
