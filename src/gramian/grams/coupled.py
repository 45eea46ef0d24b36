"""One Gram of several: the same n samples seen by V Grams, mixed into q outputs.

K = Σ_v (r_v r_vᵀ) ⊗ K_v has q n rows, first all samples of output 0, then all of output 1, and so on. Models that fit
several views of a table together have such a matrix; it holds its V Grams and nothing of size (q n)².
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property
from typing import Any

import numpy as np
from scipy.sparse import csr_array, hstack, issparse

from gramian.grams.base import Gram, Index
from gramian.grams.features import Factor, FeatureGram, scaled_rows
from gramian.typing import Array, Matrix


class CoupledGram(Gram):
    """One Gram of several Grams of the same samples, K = Σ_v (r_v r_vᵀ) ⊗ K_v.

    Parameters
    ----------
    grams : sequence of V Grams
        K_v, of the same n samples.
    mixing : array-like (V, q)
        The rows r_v: what view v counts in each output.

    Examples
    --------
    >>> import numpy as np
    >>> from gramian.grams import CoupledGram, DenseGram
    >>> gram = CoupledGram([DenseGram(np.eye(2)), DenseGram(np.ones((2, 2)))], [[1.0, 0.0], [1.0, 2.0]])
    >>> gram.dense()
    array([[2., 1., 2., 2.],
           [1., 2., 2., 2.],
           [2., 2., 4., 4.],
           [2., 2., 4., 4.]])
    """

    def __init__(self, grams: Sequence[Gram], mixing: Any) -> None:
        dtype = np.result_type(*(gram.dtype for gram in grams))
        self.grams = list(grams)
        self.mixing = np.asarray(mixing, dtype)
        self.n = grams[0].shape[0]
        super().__init__(self.mixing.shape[1] * self.n, dtype)

    @property
    def held(self) -> bool:  # type: ignore[override]
        return all(gram.held for gram in self.grams)

    def _product(self, V: Array) -> Array:
        mixed = np.tensordot(self.mixing, V.reshape(-1, self.n, V.shape[1]), axes=1)
        images = np.stack([gram @ part for gram, part in zip(self.grams, mixed, strict=True)])
        return np.tensordot(self.mixing.T, images, axes=1).reshape(V.shape)

    def _rows(self, index: Array) -> Array:
        output, sample = np.divmod(index, self.n)
        rows = np.zeros((len(index), self.mixing.shape[1], self.n), self.dtype)
        for gram, mixing in zip(self.grams, self.mixing, strict=True):
            rows += (mixing[output, None] * mixing)[:, :, None] * gram._rows(sample)[:, None, :]
        return rows.reshape(len(index), self.shape[0])

    def _diagonal(self) -> Array:
        diagonals = np.stack([gram._diagonal() for gram in self.grams])
        return np.asarray((self.mixing.T**2) @ diagonals, self.dtype).ravel()

    def _dense(self) -> Array:
        q = self.mixing.shape[1]
        K = np.zeros((q, self.n, q, self.n), self.dtype)
        for gram, mixing in zip(self.grams, self.mixing, strict=True):
            held = gram._dense()
            for a, b in np.argwhere(np.outer(mixing, mixing)):  # pairs of outputs, of which there are few
                K[a, :, b] += mixing[a] * mixing[b] * held
        return K.reshape(self.shape)

    def _restricted(self, index: Array) -> Gram:
        return super()._restricted(index) if self.factor is None else FeatureGram(self.factor.restricted(index))

    @cached_property
    def factor(self) -> Factor | None:
        """[r_1 ⊗ F_1, …, r_V ⊗ F_V] where every K_v = F_v F_vᵀ."""
        factors = [gram.factor for gram in self.grams]
        return None if any(factor is None for factor in factors) else _CoupledFactor(factors, self.mixing)


class _CoupledFactor(Factor):
    """The features of every view, scaled for each output and set side by side."""

    def __init__(self, factors: Sequence[Any], mixing: Array) -> None:
        self.factors, self.mixing, self.n = factors, mixing, factors[0].shape[0]
        m = sum(factor.shape[1] for factor in factors)
        super().__init__((mixing.shape[1] * self.n, m), mixing.dtype)

    @property
    def is_sparse(self) -> bool:
        return all(factor.is_sparse for factor in self.factors)

    @property
    def held(self) -> bool:
        return all(factor.held for factor in self.factors)

    def chunk_of(self, rows: Index) -> Matrix:
        output, sample = np.divmod(np.arange(self.shape[0])[rows], self.n)
        parts = [
            scaled_rows(factor.chunk_of(sample), mixing[output])
            for factor, mixing in zip(self.factors, self.mixing, strict=True)
        ]
        if self.is_sparse:
            return csr_array(hstack(parts, "csr"))
        return np.hstack([part.toarray() if issparse(part) else part for part in parts])
