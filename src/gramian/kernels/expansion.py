"""The representer form f(x) = Σ_i k(x, x_i) a_i, which is what every kernel method is for a new sample."""

from __future__ import annotations

import copy
from typing import Any

import numpy as np
from scipy.sparse import issparse

from gramian.grams.base import Gram
from gramian.grams.features import Factor
from gramian.grams.tiles import slices
from gramian.kernels.base import Kernel
from gramian.typing import Array, Matrix


class Expansion:
    """Several functions f_j(x) = Σ_i k(x, x_i) A_ij, evaluated for new rows without an n_new×n block.

    With ``center`` weights v the features of x are taken relative to their mean Σ_i v_i φ(x_i). Where the kernel has
    finite features the sums are folded into weights, f(x) = (φ(x) − φ̄)·W, and the fitted samples are not kept. Of an
    indefinite kernel with features and signs J, K = F J Fᵀ, the signs are part of the weights, W = J Fᵀ A.

    Parameters
    ----------
    kernel : fitted Kernel
    points : array or CSR (n, d)
        The fitted samples x_i.
    coefficients : ndarray (n, b)
        A; with ``center`` its columns sum to zero.
    gram : Gram, optional
        Of the fitted samples; saves computing its features or products again.
    center : ndarray (n,), optional
        v, summing to one.
    """

    def __init__(
        self,
        kernel: Kernel,
        points: Matrix,
        coefficients: Array,
        *,
        gram: Gram | None = None,
        center: Array | None = None,
    ) -> None:
        n = points.shape[0]
        if np.ndim(coefficients) != 2 or len(coefficients) != n:
            raise ValueError(f"coefficients has shape {np.shape(coefficients)}; pass ({n}, b), a row for each point")
        self.kernel = kernel
        self.weights: Array | None = None
        self.offset: Array | None = None
        self.points: Matrix | None = None
        self.coefficients: Array | None = None
        signs = kernel.feature_signs
        if kernel.has_features or signs is not None:
            held = None if gram is None else gram._signed_factor
            factor = kernel._factor(points) if held is None else held[0]
            self.weights = factor.transposed_product(np.asarray(coefficients, factor.dtype))
            if signs is not None:
                self.weights *= signs[:, None].astype(factor.dtype)
            if center is not None:
                self.offset = factor.transposed_product(np.asarray(center, factor.dtype)[:, None])[:, 0]
            return
        # The fitted samples of a precomputed kernel are columns of what comes later, not rows to keep.
        self.points = None if kernel.pairwise else points
        self.coefficients = coefficients
        if center is not None:
            gram = kernel._unchecked("gram")(points) if gram is None else gram
            self.offset = -((gram @ center) @ coefficients)

    @classmethod
    def of_weights(cls, kernel: Kernel, weights: Array, offset: Array | None = None) -> Expansion:
        """f(x) = (φ(x) − offset)·W for a kernel with finite features, where W is known.

        Parameters
        ----------
        kernel : fitted Kernel
        weights : ndarray (m, b)
        offset : ndarray (m,), optional
        """
        expansion = cls.__new__(cls)
        expansion.kernel, expansion.weights, expansion.offset = kernel, weights, offset
        expansion.points = expansion.coefficients = None
        return expansion

    def __call__(self, X: Matrix) -> Array:
        """f(x) for every row of X, shape (n_X, b)."""
        return self.unchecked(self.kernel._checked(X))

    def beside(self, other: Expansion) -> Expansion:
        """The functions of both, those of ``other`` last, at the cost of one evaluation of the kernel.

        Parameters
        ----------
        other : Expansion
            Of the same kernel and fitted samples.
        """
        if self.kernel is not other.kernel or self.points is not other.points:
            raise ValueError("the two expansions must be of the same kernel and the same fitted samples")
        if (self.offset is None) != (other.offset is None):
            raise ValueError("one of the expansions is centred and the other is not; join two of the same kind")
        joined = copy.copy(self)
        if self.weights is not None and other.weights is not None:  # the offset is that of the features
            joined.weights = np.hstack([self.weights, other.weights])
            return joined
        assert self.coefficients is not None
        assert other.coefficients is not None
        joined.coefficients = np.hstack([self.coefficients, other.coefficients])
        if self.offset is not None and other.offset is not None:
            joined.offset = np.concatenate([self.offset, other.offset])
        return joined

    def columns(self, index: Any) -> Expansion:
        """Some of the functions, as many as the index of columns names."""
        chosen = copy.copy(self)
        if self.weights is not None:  # the offset is that of the features
            chosen.weights = np.ascontiguousarray(self.weights[:, index])
            return chosen
        assert self.coefficients is not None
        chosen.coefficients = np.ascontiguousarray(self.coefficients[:, index])
        chosen.offset = None if self.offset is None else self.offset[index]
        return chosen

    def unchecked(self, X: Matrix) -> Array:
        """f(x) for rows that are checked already, as those of an estimator are."""
        offset = None if self.offset is None else self.offset.astype(X.dtype, copy=False)
        if self.weights is not None:
            # Features are used once here, so a chunk of them at a time is enough.
            return _weighted(self.kernel._streamed(X), self.weights.astype(X.dtype, copy=False), offset)
        assert self.coefficients is not None
        values = self.kernel._unchecked("product")(X, self.points, self.coefficients.astype(X.dtype, copy=False))
        return values if offset is None else values + offset


def _weighted(factor: Factor, weights: Array, offset: Array | None) -> Array:
    """(F − offset) @ weights; subtracting first keeps the digits of rows that lie together far from the origin."""
    if offset is None:
        return factor.product(weights)
    out = np.empty((factor.shape[0], weights.shape[1]), factor.dtype)
    # Short pieces of a chunk, because the difference is a copy.
    for rows, chunk in factor.chunks():
        for piece in slices(rows.stop - rows.start, 4096):
            part = chunk[piece]
            out[rows][piece] = ((part.toarray() if issparse(part) else part) - offset) @ weights
    return out
