"""The representer form f(x) = Σ_i k(x, x_i) a_i, which is what every kernel method is for a new sample."""

from __future__ import annotations

import numpy as np

from gramian.kernels.base import Kernel
from gramian.typing import Array, Matrix


class Expansion:
    """Several functions f_j(x) = Σ_i k(x, x_i) A_ij, evaluated for new rows without an n_new×n block.

    Where the kernel has finite features the sum is folded into weights, f(x) = φ(x)·(Fᵀ A), and the fitted samples
    are not kept.

    Parameters
    ----------
    kernel : fitted Kernel
    points : array or CSR (n, d)
        The fitted samples x_i.
    coefficients : ndarray (n, b)
        A.
    """

    def __init__(self, kernel: Kernel, points: Matrix, coefficients: Array) -> None:
        self.kernel = kernel
        self.weights: Array | None = None
        self.points: Matrix | None = None
        self.coefficients: Array | None = None
        if kernel.has_features:
            points = kernel._checked(points)
            self.weights = kernel._factor(points).transposed_product(np.asarray(coefficients, points.dtype))
        else:
            # The fitted samples of a precomputed kernel are columns of what comes later, not rows to keep.
            self.points = None if kernel.pairwise else points
            self.coefficients = coefficients

    def __call__(self, X: Matrix) -> Array:
        """f(x) for every row of X, shape (n_X, b)."""
        X = self.kernel._checked(X)
        if self.weights is not None:
            return self.kernel._factor(X).product(self.weights.astype(X.dtype, copy=False))
        assert self.coefficients is not None
        return self.kernel.product(X, self.points, self.coefficients.astype(X.dtype, copy=False))
