"""The representer form f(x) = Σ_i k(x, x_i) a_i, which is what every kernel method is for a new sample."""

from __future__ import annotations

import numpy as np
from scipy.sparse import issparse

from gramian.grams.base import Gram
from gramian.grams.features import Factor
from gramian.kernels.base import Kernel
from gramian.typing import Array, Matrix


class Expansion:
    """Several functions f_j(x) = Σ_i k(x, x_i) A_ij, evaluated for new rows without an n_new×n block.

    With ``center`` weights v the features of x are taken relative to their mean Σ_i v_i φ(x_i). Where the kernel has
    finite features the sums are folded into weights, f(x) = (φ(x) − φ̄)·W, and the fitted samples are not kept.

    Parameters
    ----------
    kernel : fitted Kernel
    points : array or CSR (n, d)
        The fitted samples x_i.
    coefficients : ndarray (n, b)
        A; with ``center`` its columns sum to zero.
    gram : Gram
        Of the fitted samples; its features are used again.
    center : ndarray (n,), optional
        v, summing to one.
    """

    def __init__(
        self, kernel: Kernel, points: Matrix, coefficients: Array, *, gram: Gram, center: Array | None = None
    ) -> None:
        self.kernel = kernel
        self.weights: Array | None = None
        self.offset: Array | None = None
        self.points: Matrix | None = None
        self.coefficients: Array | None = None
        if kernel.has_features:
            factor = kernel._factor(points) if gram.factor is None else gram.factor
            self.weights = factor.transposed_product(np.asarray(coefficients, factor.dtype))
            if center is not None:
                self.offset = factor.transposed_product(np.asarray(center, factor.dtype)[:, None])[:, 0]
            return
        # The fitted samples of a precomputed kernel are columns of what comes later, not rows to keep.
        self.points = None if kernel.pairwise else points
        self.coefficients = coefficients
        if center is not None:
            self.offset = -(center @ (gram @ coefficients))

    def __call__(self, X: Matrix) -> Array:
        """f(x) for every row of X, shape (n_X, b)."""
        X = self.kernel._checked(X)
        if self.weights is not None:
            return self._centered_features(X).product(self.weights.astype(X.dtype, copy=False))
        assert self.coefficients is not None
        values = self.kernel.product(X, self.points, self.coefficients.astype(X.dtype, copy=False))
        return values if self.offset is None else values + self.offset.astype(X.dtype, copy=False)

    def _centered_features(self, X: Matrix) -> Factor:
        factor = self.kernel._factor(X)
        if self.offset is None:
            return factor
        offset = self.offset.astype(X.dtype, copy=False)

        def chunk_of(rows: slice) -> Array:
            chunk = factor.chunk_of(rows)
            # Subtracting before the product keeps the digits of rows that lie far from the origin together.
            return (chunk.toarray() if issparse(chunk) else chunk) - offset

        return Factor(factor.shape, factor.dtype, chunk_of)
