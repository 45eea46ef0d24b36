"""The Gram: the likenesses of n samples as an operator that a task can multiply with, never mind how it is held.

A new kind of Gram writes three hooks (``_product``, ``_rows``, ``_diagonal``) and inherits everything else.
Kernels make Grams; tasks use them; neither knows which kind it has.
"""

from __future__ import annotations

from abc import abstractmethod
from typing import TYPE_CHECKING, Any, Literal

import numpy as np
from scipy.sparse.linalg import LinearOperator

from gramian.configuration import require_memory
from gramian.typing import Array, RandomState

if TYPE_CHECKING:
    from gramian.grams.features import Factor
    from gramian.grams.views import NormalizedGram

Which = Literal["largest", "magnitude", "smallest"]


class Gram(LinearOperator):
    """A symmetric n×n operator K of pairwise similarities.

    Parameters
    ----------
    n : int
        Number of samples.
    dtype : numpy dtype
        ``float32`` or ``float64``; products are computed and returned in it.

    Attributes
    ----------
    cheap_products : bool
        Whether K @ V costs little more than touching V (sparse K); the eigen-solver then uses narrow blocks.
    """

    cheap_products: bool = False

    def __init__(self, n: int, dtype: Any) -> None:
        super().__init__(dtype=np.dtype(dtype), shape=(n, n))
        self._degrees: Array | None = None

    # What a kind of Gram must say about itself -------------------------------------------------------------

    @abstractmethod
    def _product(self, V: Array) -> Array:
        """K @ V for V of shape (n, b) in the Gram's dtype."""

    @abstractmethod
    def _rows(self, index: Array) -> Array:
        """K[index] as a dense array (len(index), n)."""

    @abstractmethod
    def _diagonal(self) -> Array:
        """The n entries K[i, i]."""

    def _dense(self) -> Array:
        return self._rows(np.arange(self.shape[0]))

    @property
    def factor(self) -> Factor | None:
        """F with K = F Fᵀ where the Gram has one, else None."""
        return None

    # What tasks call ---------------------------------------------------------------------------------------

    def degrees(self) -> Array:
        """Row sums K 1, computed once."""
        if self._degrees is None:
            self._degrees = self._product(np.ones((self.shape[0], 1), self.dtype))[:, 0]
            self._degrees.flags.writeable = False  # the same array is handed to every caller
        return self._degrees

    def diagonal(self) -> Array:
        """The diagonal k(x_i, x_i), without the matrix."""
        return self._diagonal()

    def rows(self, index: Any) -> Array:
        """Rows K[index] as a dense array of shape (len(index), n)."""
        if not isinstance(index, slice):
            index = np.asarray(index, np.intp) if np.size(index) == 0 else np.atleast_1d(np.asarray(index))
        index = np.arange(self.shape[0])[index]
        require_memory(float(len(index)) * self.shape[0] * self.dtype.itemsize, "rows(index)", "ask for fewer rows")
        return self._rows(index)

    def dense(self) -> Array:
        """The whole matrix as a new n×n array; refused above the memory budget."""
        n = self.shape[0]
        require_memory(
            float(n) * n * self.dtype.itemsize,
            f"the dense {n}×{n} Gram matrix",
            "work with products, degrees() and eigenpairs(), which need no matrix, or approximate the kernel by "
            "landmarks: kernel=gramian.Nystroem(n_components, kernel=...)",
        )
        return self._dense()

    def least(self) -> float | None:
        """The smallest entry, where every entry is held; None where that would mean to compute them all."""
        return None

    def trace(self) -> float:
        """Sum of the diagonal, which is the sum of all eigenvalues."""
        return float(self.diagonal().sum(dtype=np.float64))

    def eigenpairs(
        self,
        k: int,
        which: Which = "largest",
        *,
        tol: float | None = None,
        known: Array | None = None,
        method: str = "auto",
        random_state: RandomState = 0,
    ) -> tuple[Array, Array]:
        """k eigenvalues and orthonormal eigenvectors; see :func:`gramian.grams.eigen.eigenpairs`."""
        from gramian.grams.eigen import eigenpairs

        return eigenpairs(self, k, which, tol=tol, known=known, method=method, random_state=random_state)

    def _known_top(self, most: int) -> Array | None:
        """At most ``most`` orthonormal eigenvectors of the largest eigenvalue, where known without solving."""
        return None

    # Views: operators of the same kind, copying nothing ----------------------------------------------------

    def centered(self) -> Gram:
        """M K M with M = I − 11ᵀ/n: the Gram of the features minus their mean."""
        from gramian.grams.views import centered

        return centered(self)

    def normalized(self) -> NormalizedGram:
        """D^-½ K D^-½ with D the degrees; a row of degree zero stays zero."""
        from gramian.grams.views import normalized

        return normalized(self)

    def weighted_centered(self, weights: Array) -> Gram:
        """Π V^½ K V^½ Π with V = diag(weights) and Π orthogonal to √weights: weighted kernel PCA's operator."""
        from gramian.grams.views import weighted_centered

        return weighted_centered(self, weights)

    def shifted(self, shift: float) -> Gram:
        """K + shift·I."""
        from gramian.grams.views import ShiftedGram

        return ShiftedGram(self, shift)

    # SciPy's side of the protocol --------------------------------------------------------------------------

    def _matmat(self, V: Array) -> Array:
        # A float64 block against a float32 Gram must not make a float64 copy of the Gram.
        return self._product(np.ascontiguousarray(V, dtype=self.dtype))

    def _matvec(self, v: Array) -> Array:
        return self._matmat(np.reshape(v, (-1, 1)))[:, 0]

    def _adjoint(self) -> Gram:
        return self

    def _transpose(self) -> Gram:
        return self
