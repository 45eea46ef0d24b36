"""A Gram held as a sparse symmetric matrix: graphs, neighbour graphs, millions of nodes."""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy.sparse import csr_array
from scipy.sparse.csgraph import connected_components

from gramian.grams.base import Gram, Index, as_diagonal, multiplier
from gramian.typing import Array


class SparseGram(Gram):
    """A Gram held as a CSR matrix.

    Parameters
    ----------
    matrix : scipy sparse (n, n)
        Symmetric, real.

    Examples
    --------
    >>> from scipy.sparse import csr_array
    >>> path = SparseGram(csr_array([[0.0, 1.0, 0.0], [1.0, 0.0, 1.0], [0.0, 1.0, 0.0]]))
    >>> path.degrees()
    array([1., 2., 1.])
    """

    cheap_products: bool = True
    held: bool = True

    def __init__(self, matrix: Any) -> None:
        matrix = csr_array(matrix)
        if matrix.dtype.kind != "f":
            matrix = matrix.astype(np.float64)
        super().__init__(matrix.shape[0], matrix.dtype)
        self.matrix = matrix

    def _product(self, V: Array) -> Array:
        return self.matrix @ V

    def _rows(self, index: Array) -> Array:
        return self.matrix[index].toarray()

    def _block(self, rows: Index, columns: Index) -> Array:
        return self.matrix[rows][:, columns].toarray()

    def _restricted(self, index: Array) -> Gram:
        return SparseGram(self.matrix[index][:, index])

    def scaled(self, c: float) -> SparseGram:
        """c K, sparse again; only the weights are copied."""
        K = self.matrix
        return SparseGram(csr_array((K.data * multiplier(c, K.dtype), K.indices, K.indptr), shape=K.shape))

    def with_diagonal(self, diagonal: float | Array) -> SparseGram:
        """K with its diagonal replaced, sparse again; zeros there are not stored."""
        n, edges = self.shape[0], self.matrix.tocoo()
        values = as_diagonal(diagonal, n, self.dtype)
        loops = np.flatnonzero(values)
        off = edges.row != edges.col
        rows, columns = (np.concatenate([part[off], loops]) for part in (edges.row, edges.col))
        return SparseGram(csr_array((np.concatenate([edges.data[off], values[loops]]), (rows, columns)), shape=(n, n)))

    @property
    def csr(self) -> csr_array:
        return self.matrix

    def _diagonal(self) -> Array:
        return self.matrix.diagonal()

    def _dense(self) -> Array:
        return self.matrix.toarray()

    def least(self) -> float:
        """The smallest entry; 0 if all stored ones are larger."""
        return float(self.matrix.data.min(initial=0.0))

    def components(self) -> Array | None:
        """Label of the connected component of each node; None where weights may be negative."""
        if self.matrix.nnz and self.matrix.data.min() < 0:
            return None
        edges = self.matrix
        if edges.nnz and edges.data.min() == 0:  # SciPy takes a zero that is stored for an edge
            edges = edges.copy()
            edges.eliminate_zeros()
        labels: Array = connected_components(edges, directed=False)[1]
        return labels
