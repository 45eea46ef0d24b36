"""A Gram held as a full matrix: one GEMM per product, for n up to about ten thousand."""

from __future__ import annotations

import numpy as np

from gramian.grams.base import Gram, Index
from gramian.typing import Array


class DenseGram(Gram):
    """A Gram held as an n×n array, which is not copied.

    Parameters
    ----------
    matrix : ndarray (n, n)
        Symmetric; not checked here, :class:`gramian.kernels.Precomputed` does that for what users pass.
    owned : bool
        Whether nobody else holds the array, so that a factorization may take its place.

    Examples
    --------
    >>> import numpy as np
    >>> K = DenseGram(np.array([[2.0, 1.0], [1.0, 2.0]]))
    >>> K.degrees()
    array([3., 3.])
    >>> K.eigenpairs(1)[0]
    array([3.])
    """

    held: bool = True

    def __init__(self, matrix: Array, *, owned: bool = False) -> None:
        if matrix.dtype.kind != "f":
            matrix = matrix.astype(np.float64)
        super().__init__(matrix.shape[0], matrix.dtype)
        self.matrix = matrix
        self._owned = owned

    def _product(self, V: Array) -> Array:
        # K is symmetric, and BLAS is half as fast again with the thin factor on the left.
        return (V.T @ self.matrix).T

    def _rows(self, index: Array) -> Array:
        return self.matrix[index]

    def _block(self, rows: Index, columns: Index) -> Array:
        if isinstance(rows, slice) or isinstance(columns, slice):
            return np.array(self.matrix[rows, columns])
        return self.matrix[np.ix_(rows, columns)]

    def _restricted(self, index: Array) -> Gram:
        k = len(index)
        if k and np.array_equal(index, np.arange(index[0], index[0] + k)):  # neighbours in memory need no copy
            return DenseGram(self.matrix[index[0] : index[0] + k, index[0] : index[0] + k])
        return super()._restricted(index)

    def _diagonal(self) -> Array:
        return np.diagonal(self.matrix).copy()

    def _dense(self) -> Array:
        return self.matrix.copy()

    def _surrendered(self) -> Array:
        if not self._owned:
            return self.matrix.copy()
        matrix, self.matrix = self.matrix, np.empty((0, 0), self.dtype)
        return matrix

    def least(self) -> float:
        """The smallest entry."""
        return float(self.matrix.min())
