"""A Gram held by its features, K = F Fᵀ: two thin products instead of one large one, and never n×n.

F may be an array, a CSR matrix, or recomputed chunk by chunk from a kernel's ``features`` when even F is too
large. :class:`Factor` is that choice; views (centring, scaling) act on it a chunk at a time.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterator
from typing import Any

import numpy as np
from scipy.sparse import csr_array, issparse, vstack

from gramian.configuration import memory_budget, require_memory
from gramian.grams.base import Gram, Index, as_array, count
from gramian.grams.tiles import slices
from gramian.typing import Array, Matrix

_CHUNK_BYTES = 64 * 2**20
_ROWS = 4096  # multiplied together in the dtype of the data
_SPARSE_DUAL = 0.02  # more non-zeros than this, and a dense product of rows written out is faster


class Factor(ABC):
    """F of shape (n, m) as a sequence of row chunks; a kind of factor writes ``chunk_of``.

    Parameters
    ----------
    shape : (int, int)
        n and m.
    dtype : numpy dtype
    chunk_length : int, optional
        Rows per chunk; by default chunks of about 64 MiB.
    """

    def __init__(self, shape: tuple[int, int], dtype: Any, chunk_length: int | None = None) -> None:
        self.shape = shape
        self.dtype = np.dtype(dtype)
        bytes_per_row = max(1, shape[1]) * self.dtype.itemsize
        self.chunk_length = chunk_length or max(1, min(_CHUNK_BYTES, memory_budget()) // bytes_per_row)

    @property
    def is_sparse(self) -> bool:
        """Whether chunks are known to be CSR."""
        return False

    @property
    def held(self) -> bool:
        """Whether F is in memory."""
        return False

    @abstractmethod
    def chunk_of(self, rows: Index) -> Matrix:
        """F[rows], dense or CSR, for a slice or an array of whole numbers."""

    def restricted(self, index: Array) -> Factor:
        """The features of some samples."""
        return _SelectedFactor(self, index)

    def chunks(self) -> Iterator[tuple[slice, Matrix]]:
        """Pairs (rows, F[rows]) that cover F."""
        for rows in slices(self.shape[0], self.chunk_length):
            yield rows, self.chunk_of(rows)

    def transposed_product(self, V: Array) -> Array:
        """Fᵀ V, shape (m, b)."""
        total = np.zeros((self.shape[1], V.shape[1]), self.dtype)
        for rows, chunk in self.chunks():
            total += chunk.T @ V[rows]
        return total

    def product(self, W: Array) -> Array:
        """F W, shape (n, b)."""
        out = np.empty((self.shape[0], W.shape[1]), self.dtype)
        for rows, chunk in self.chunks():
            out[rows] = chunk @ W
        return out

    def dual(self) -> Array:
        """The small matrix Fᵀ F, shape (m, m)."""
        total = np.zeros((self.shape[1], self.shape[1]))
        for _, chunk in self.chunks():
            total += inner(chunk, chunk)
        return total.astype(self.dtype, copy=False)


class _SelectedFactor(Factor):
    """Some rows of another factor."""

    def __init__(self, base: Factor, index: Array) -> None:
        super().__init__((len(index), base.shape[1]), base.dtype)
        self.base, self.index = base, index

    @property
    def is_sparse(self) -> bool:
        return self.base.is_sparse

    @property
    def held(self) -> bool:
        return self.base.held

    def chunk_of(self, rows: Index) -> Matrix:
        return self.base.chunk_of(self.index[rows])


class MatrixFactor(Factor):
    """F held in memory, dense or CSR, as one chunk."""

    def __init__(self, F: Matrix) -> None:
        F = csr_array(F) if issparse(F) else np.asarray(F)
        self.matrix = F if F.dtype.kind == "f" else F.astype(np.float64)
        super().__init__(F.shape, self.matrix.dtype, max(1, F.shape[0]))

    @property
    def is_sparse(self) -> bool:
        return issparse(self.matrix)

    @property
    def held(self) -> bool:
        return True

    def chunk_of(self, rows: Index) -> Matrix:
        whole = isinstance(rows, slice) and rows == slice(0, self.shape[0])
        return self.matrix if whole else self.matrix[rows]

    def restricted(self, index: Array) -> Factor:
        return MatrixFactor(self.matrix[index])


class KernelFactor(Factor):
    """F recomputed from a kernel's features whenever it is needed."""

    def __init__(self, kernel: Any, X: Matrix, n_features: int, chunk_length: int | None = None) -> None:
        super().__init__((X.shape[0], n_features), X.dtype, chunk_length)
        self.kernel = kernel
        self.X = X

    def chunk_of(self, rows: Index) -> Matrix:
        return self.kernel._features(self.X[rows])

    def restricted(self, index: Array) -> Factor:
        return KernelFactor(self.kernel, self.X[index], self.shape[1], self.chunk_length)


class PartlyHeldFactor(Factor):
    """The first rows of F in memory, the others as another factor gives them.

    Parameters
    ----------
    base : Factor
        All of F.
    most : float
        Bytes to hold; whole chunks of the base are.
    """

    def __init__(self, base: Factor, most: float) -> None:
        super().__init__(base.shape, base.dtype, base.chunk_length)
        self.base = base
        chunk_bytes = float(self.chunk_length) * base.shape[1] * self.dtype.itemsize
        kept = self.chunk_length * int(most // max(chunk_bytes, 1.0))
        self.head = base.chunk_of(slice(0, min(kept, base.shape[0])))

    @property
    def is_sparse(self) -> bool:
        return self.base.is_sparse

    def chunk_of(self, rows: Index) -> Matrix:
        if isinstance(rows, slice) and rows.stop is not None and rows.stop <= self.head.shape[0]:
            return self.head[rows]
        return self.base.chunk_of(rows)

    def restricted(self, index: Array) -> Factor:
        return self.base.restricted(index)


class FeatureGram(Gram):
    """A Gram held by its features, K = F Fᵀ.

    Parameters
    ----------
    F : ndarray, scipy sparse or Factor (n, m)
        The features.

    Examples
    --------
    >>> import numpy as np
    >>> F = np.array([[1.0, 0.0], [0.0, 2.0], [1.0, 1.0]])
    >>> np.allclose(FeatureGram(F) @ np.eye(3), F @ F.T)
    True
    """

    def __init__(self, F: Matrix | Factor) -> None:
        self._factor = F if isinstance(F, Factor) else MatrixFactor(F)
        super().__init__(self._factor.shape[0], self._factor.dtype)

    @property
    def factor(self) -> Factor:
        return self._factor

    def _product(self, V: Array) -> Array:
        return self._factor.product(self._factor.transposed_product(V))

    @property
    def held(self) -> bool:  # type: ignore[override]
        return self._factor.held

    def hold(self) -> FeatureGram:
        """This Gram with its features in memory."""
        if self.held:
            return self
        n, m = self._factor.shape
        require_memory(
            float(n) * m * self.dtype.itemsize, f"the {n}×{m} array of features", "use a kernel with fewer features"
        )
        chunks = [chunk for _, chunk in self._factor.chunks()]
        return FeatureGram(vstack(chunks, "csr") if all(map(issparse, chunks)) else np.vstack(chunks))

    def hold_some(self, most: float) -> FeatureGram:
        return self if self.held else FeatureGram(PartlyHeldFactor(self._factor, most))

    def _block(self, rows: Index, columns: Index) -> Array:
        # A recomputed F is asked for no more rows at a time than its chunks have.
        length = self._factor.chunk_length
        if count(rows) <= length and count(columns) <= length:
            return dot(self._factor.chunk_of(rows), self._factor.chunk_of(columns))
        rows, columns = as_array(rows), as_array(columns)
        block = np.empty((len(rows), len(columns)), self.dtype)
        for some in slices(len(rows), length):
            left = self._factor.chunk_of(rows[some])
            for others in slices(len(columns), length):
                block[some, others] = dot(left, self._factor.chunk_of(columns[others]))
        return block

    def _restricted(self, index: Array) -> Gram:
        return FeatureGram(self._factor.restricted(index))

    def _rows(self, index: Array) -> Array:
        # Gathering the wanted rows chunk by chunk keeps a recomputed F out of memory.
        wanted = np.zeros((self._factor.shape[1], len(index)), self.dtype)
        for rows, chunk in self._factor.chunks():
            here = np.flatnonzero((index >= rows.start) & (index < rows.stop))
            picked = chunk[index[here] - rows.start]
            wanted[:, here] = (picked.toarray() if issparse(picked) else picked).T
        return np.ascontiguousarray(self._factor.product(wanted).T)

    def _diagonal(self) -> Array:
        out = np.empty(self.shape[0], self.dtype)
        for rows, chunk in self._factor.chunks():
            out[rows] = squared_norms(chunk)
        return out

    def _dense(self) -> Array:
        if self._factor.chunk_length >= self.shape[0]:
            F = self._factor.chunk_of(slice(0, self.shape[0]))
            K = F @ F.T
            return K.toarray() if issparse(K) else K
        return self._rows(np.arange(self.shape[0]))


def dot(left: Matrix, right: Matrix) -> Array:
    """left rightᵀ as a dense array, whichever of the two are sparse."""
    block = left @ right.T
    return block.toarray() if issparse(block) else np.asarray(block)


def inner(left: Matrix, right: Matrix) -> Array:
    """leftᵀ right in float64, for left dense or CSR and right dense or left itself.

    Products of a few thousand rows are computed in the dtype of the data and summed in float64.
    """
    if issparse(left) and (left is not right or left.nnz < _SPARSE_DUAL * left.shape[0] * left.shape[1]):
        product = left.T @ right
        return (product.toarray() if issparse(product) else product).astype(np.float64, copy=False)
    if left.shape[0] <= _ROWS and not issparse(left):
        return (left.T @ right).astype(np.float64, copy=False)
    total = np.zeros((left.shape[1], right.shape[1]))
    for rows in slices(left.shape[0], _ROWS):
        part = left[rows].toarray() if issparse(left) else left[rows]
        total += part.T @ (part if left is right else right[rows])
    return total


def written_out(rows: Matrix) -> Array:
    """Rows as a dense array, whether they came so or sparse."""
    return rows.toarray() if issparse(rows) else np.asarray(rows)


def scaled_rows(rows: Matrix, scale: Array) -> Matrix:
    """diag(scale) rows, dense or CSR as they came."""
    return rows.multiply(scale[:, None]).tocsr() if issparse(rows) else scale[:, None] * rows


def squared_norms(rows: Matrix) -> Array:
    """‖x‖² of every row, dense or sparse."""
    if issparse(rows):
        norms: Array = np.asarray(rows.multiply(rows).sum(axis=1)).ravel()
        return norms
    return np.einsum("ij,ij->i", rows, rows)


def unit_rows(Z: Array) -> Array:
    """Rows scaled to length one; zero rows stay zero."""
    norms = np.linalg.norm(Z, axis=1, keepdims=True)
    return np.divide(Z, norms, out=np.zeros_like(Z), where=norms > 0)
