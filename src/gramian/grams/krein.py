"""A Gram held by features of which some count negative, K = F J Fᵀ with J = diag(±1): indefinite, and never n×n.

Indefinite kernels have such features through landmarks (:class:`gramian.Nystroem`). Eigenpairs and linear systems go
through the m×m dual with its signs (``eigen.py``, ``solve.py``), so an indefinite kernel costs little more
than a definite one.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy.sparse import issparse

from gramian.grams.base import Gram, Index
from gramian.grams.features import Factor, FeatureGram, dot
from gramian.grams.tiles import slices
from gramian.typing import Array, Matrix


class KreinGram(Gram):
    """An indefinite Gram held by its features, K = F J Fᵀ with J = diag(signs).

    Parameters
    ----------
    F : ndarray, scipy sparse or Factor (n, m)
        The features.
    signs : array-like (m,)
        1 for a feature that counts as usual, −1 for one whose products are subtracted.

    Attributes
    ----------
    signs : ndarray (m,)
        In the dtype of F.

    Examples
    --------
    >>> import numpy as np
    >>> F = np.array([[1.0, 0.0], [0.0, 2.0], [1.0, 1.0]])
    >>> gram = KreinGram(F, [1, -1])
    >>> gram.diagonal()
    array([ 1., -4.,  0.])
    >>> np.allclose(gram.dense(), F @ np.diag([1, -1]) @ F.T)
    True
    """

    def __init__(self, F: Matrix | Factor, signs: Any) -> None:
        self._features = FeatureGram(F)
        super().__init__(self._features.shape[0], self._features.dtype)
        self.signs = _checked(signs, self._features.factor.shape[1], self.dtype)

    @property
    def factor(self) -> Factor | None:
        """F where no feature counts negative, else None."""
        return None if (self.signs < 0).any() else self._features.factor

    @property
    def _signed_factor(self) -> tuple[Factor, Array] | None:
        return self._features.factor, self.signs.astype(np.float64)

    @property
    def held(self) -> bool:  # type: ignore[override]
        return self._features.held

    def hold(self) -> KreinGram:
        """This Gram with its features in memory."""
        return self if self.held else KreinGram(self._features.hold().factor, self.signs)

    def hold_some(self, most: float) -> KreinGram:
        return self if self.held else KreinGram(self._features.hold_some(most).factor, self.signs)

    def _product(self, V: Array) -> Array:
        factor = self._features.factor
        return factor.product(self.signs[:, None] * factor.transposed_product(V))

    def _rows(self, index: Array) -> Array:
        # A recomputed F is asked for no more rows at a time than its chunks have.
        factor = self._features.factor
        wanted = np.empty((len(index), factor.shape[1]), self.dtype)
        for some in slices(len(index), factor.chunk_length):
            wanted[some] = _written_out(factor.chunk_of(index[some]))
        wanted *= self.signs
        return np.ascontiguousarray(factor.product(np.ascontiguousarray(wanted.T)).T)

    def _block(self, rows: Index, columns: Index) -> Array:
        return self._positive._block(rows, columns) - self._negative._block(rows, columns)

    def _dense(self) -> Array:
        # Two symmetric products instead of one that rounding leaves not quite symmetric.
        K = self._positive._dense()
        K -= self._negative._dense()
        return K

    def _diagonal(self) -> Array:
        out = np.empty(self.shape[0], self.dtype)
        for rows, chunk in self._features.factor.chunks():
            squares = chunk.multiply(chunk).tocsr() if issparse(chunk) else chunk**2
            out[rows] = squares @ self.signs
        return out

    def _restricted(self, index: Array) -> Gram:
        return KreinGram(self._features.factor.restricted(index), self.signs)

    @property
    def _positive(self) -> FeatureGram:
        return FeatureGram(_Columns(self._features.factor, np.flatnonzero(self.signs > 0)))

    @property
    def _negative(self) -> FeatureGram:
        return FeatureGram(_Columns(self._features.factor, np.flatnonzero(self.signs < 0)))


class _Columns(Factor):
    """Some of the features of another factor."""

    def __init__(self, base: Factor, columns: Array) -> None:
        super().__init__((base.shape[0], len(columns)), base.dtype, base.chunk_length)
        self.base, self.columns = base, columns

    def chunk_of(self, rows: Index) -> Matrix:
        return self.base.chunk_of(rows)[:, self.columns]


def signed_dot(left: Matrix, right: Matrix, signs: Array) -> Array:
    """left diag(signs) rightᵀ as a dense array; symmetric to the last bit where ``left is right``."""
    if left is not right or issparse(left):
        return dot(_written_out(left) * signs, right)
    positive, negative = left[:, signs > 0], left[:, signs < 0]
    out = positive @ positive.T
    out -= negative @ negative.T
    return np.asarray(out)


def _written_out(rows: Matrix) -> Array:
    return np.asarray(rows.toarray() if issparse(rows) else rows)


def _checked(signs: Any, m: int, dtype: Any) -> Array:
    """One sign per feature."""
    given = np.asarray(signs)
    if given.shape != (m,) or given.dtype.kind not in "fiu" or not np.isin(given, (-1, 1)).all():
        raise ValueError(f"signs={signs!r} must be {m} numbers that are 1 or -1, one for each feature")
    out: Array = given.astype(dtype)
    out.flags.writeable = False
    return out
