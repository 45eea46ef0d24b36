"""One step of the dependence solver: the leading eigenvectors of Φ + ρ WWᵀ, for one or several level shifts ρ.

Where Φ is a matrix LAPACK finds them. Where only products are to be had, they are sought in a block Krylov space that
starts from the present W and the directions next to it, as accurately as the progress of the solver deserves. The
space contains W, so another ρ is another small eigenproblem and takes no further product.
"""

from __future__ import annotations

import numpy as np
from scipy.linalg import eigh, eigvalsh

from gramian.dependence.projection._pairs import OVERFLOW, Evaluation
from gramian.grams.eigen import orthonormalize
from gramian.typing import Array

_WHOLE = 300  # columns up to which all eigenvectors cost little more than some
_EXTRA = 4  # directions next to W that are followed too: they show the gap and help through it
_MOST_BLOCKS = 20
_ACCURACY = 0.05  # of a step, relative to its length
_FINAL_ACCURACY = 1e-8  # of the eigenvectors that the end is compared with, one more than W has
_SHOWN_ACCURACY = 1e-3  # of as many eigenvalues after them, which only show where the gap is
_NOTHING = 1e-8  # of Φ
_PRODUCTS_FOR_MATRIX = 1 / 8  # columns multiplied at the cost of a column formed: thin products run at a quarter speed


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

    def costly(self) -> bool:
        """No: the matrix is there."""
        return False

    def neighbours(self) -> None:
        """Nothing to hand on."""


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

    def costly(self) -> bool:
        """Whether this step has taken so many products that forming Φ would have been cheaper."""
        return self._Q.shape[1] > max(4 * (self.W.shape[1] + _EXTRA), _PRODUCTS_FOR_MATRIX * len(self.W))

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
    phi = evaluation.matrix()
    if phi is not None:
        return MatrixSpace(phi, W)
    if beside is None:
        beside = rng.standard_normal((len(W), min(_EXTRA, len(W) - W.shape[1])))
    return KrylovSpace(evaluation, W, beside)
