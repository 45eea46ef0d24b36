"""Grams that are not held: the kernel is computed tile by tile on all threads when its values are needed."""

from __future__ import annotations

from functools import cached_property
from typing import Any

import numpy as np

from gramian.grams import tiles
from gramian.grams.base import Gram, Index, count, on_diagonal
from gramian.grams.dense import DenseGram
from gramian.typing import Array, Matrix


class LazyGram(Gram):
    """A Gram that is computed tile by tile, exact at sizes where n×n does not fit in memory.

    Parameters
    ----------
    kernel : fitted kernel
        Anything with the tile hooks of :class:`gramian.grams.tiles.TileKernel`.
    X : ndarray or CSR (n, d)
        The samples.
    dtype : numpy dtype
        Of the kernel values.
    """

    def __init__(self, kernel: Any, X: Matrix, dtype: Any = None) -> None:
        super().__init__(X.shape[0], X.dtype if dtype is None else dtype)
        self.kernel = kernel
        self.X = X

    def _product(self, V: Array) -> Array:
        return tiles.gram_product(self.kernel, self.X, V)

    def _rows(self, index: Array) -> Array:
        rows = tiles.block(self.kernel, self.X[index], self.X, self.dtype)
        rows[np.arange(len(index)), index] = self._diagonal()[index]
        return rows

    def _block(self, rows: Index, columns: Index) -> Array:
        left, right = self._both_sides
        block = tiles.rectangle(self.kernel, left[rows], right[columns], (count(rows), count(columns)), self.dtype)
        i, j = on_diagonal(rows, columns)
        if len(i):  # exact, where a GEMM would leave rounding
            block[i, j] = self._diagonal_held[rows][i]
        return block

    # Kept from the first block on: preparing both sides anew for every tile would cost as much as the tile.

    @cached_property
    def _both_sides(self) -> tuple[Any, Any]:
        return self.kernel._sides(self.X, self.X)

    @cached_property
    def _diagonal_held(self) -> Array:
        return self._diagonal()

    def _restricted(self, index: Array) -> Gram:
        return LazyGram(self.kernel, self.X[index], self.dtype)

    def _diagonal(self) -> Array:
        return self.kernel._diagonal(self.X)

    def _dense(self) -> Array:
        return tiles.block(self.kernel, self.X, None, self.dtype)


class DeferredGram(LazyGram):
    """K(X, X) as an n×n array that the first product evaluates.

    For whoever needs K once. A factorization evaluates entries into an array of its own, so that there is no other; an
    iteration needs many products, and the array then spares it all evaluations but one.
    """

    @property
    def held(self) -> bool:  # type: ignore[override]
        return "_whole" in self.__dict__

    @cached_property
    def _whole(self) -> DenseGram:
        return DenseGram(super()._dense())

    def hold(self) -> Gram:
        _ = self._whole
        return self

    def _product(self, V: Array) -> Array:
        return self._whole._product(V)

    def _rows(self, index: Array) -> Array:
        return self._whole._rows(index) if self.held else super()._rows(index)

    def _block(self, rows: Index, columns: Index) -> Array:
        return self._whole._block(rows, columns) if self.held else super()._block(rows, columns)

    def _restricted(self, index: Array) -> Gram:
        return self._whole._restricted(index) if self.held else DeferredGram(self.kernel, self.X[index], self.dtype)

    def _dense(self) -> Array:
        return self._whole._dense() if self.held else super()._dense()
