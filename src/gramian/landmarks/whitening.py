"""From similarities to landmarks to features: F = K(X, landmarks) L^-T, where K(landmarks, landmarks) = L Lᵀ.

The rows of F are computed a few at a time and in place, so besides F itself almost nothing is stored, and the
triangular factor costs half the arithmetic of the usual K_mm^-½. Nyström features and leverage scores use this.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy.linalg import solve_triangular
from scipy.linalg.lapack import dpstrf

from gramian.configuration import threads
from gramian.grams import tiles
from gramian.kernels.base import Kernel
from gramian.typing import Array, Matrix

_PANEL = 128  # columns whitened by one GEMM: fewer waste its speed, more waste flops below the diagonal


def pivoted_cholesky(K: Array) -> tuple[Array, Array]:
    """The rows of K that say everything about it, and their triangular factor.

    Parameters
    ----------
    K : ndarray (m, m)
        Symmetric positive semi-definite.

    Returns
    -------
    pivots : ndarray (r,) of int
        Rows of K, most informative first; the others are combinations of these to within rounding.
    L : ndarray (r, r)
        Lower triangular, K[pivots][:, pivots] = L Lᵀ, in K's dtype.

    Examples
    --------
    >>> import numpy as np
    >>> pivots, L = pivoted_cholesky(np.array([[1.0, 2.0], [2.0, 4.0]]))  # the first row is half the second
    >>> pivots, L
    (array([1]), array([[2.]]))
    """
    # A pivot this small is what rounding of the kernel values (2e-16 or 1e-7) leaves after the division by √pivot
    # that the features see; keeping it would add noise, not rank.
    tolerance = (1e-10 if K.dtype == np.float64 else 1e-5) * max(float(np.diagonal(K).max()), 0.0)
    factor, pivots, rank, _ = dpstrf(K.astype(np.float64), tol=tolerance, lower=1)
    if tolerance == 0.0:  # every similarity is zero: one landmark, and features of zero
        return np.zeros(1, np.intp), np.ones((1, 1), K.dtype)
    return pivots[:rank].astype(np.intp) - 1, np.tril(factor[:rank, :rank]).astype(K.dtype)


def whitened(kernel: Kernel, X: Matrix, landmarks: Matrix, L: Array) -> Array:
    """K(X, landmarks) L^-T, shape (n, r), in the dtype of X.

    Parameters
    ----------
    kernel : fitted Kernel
    X : array or CSR (n, d)
    landmarks : array or CSR (r, d)
    L : ndarray (r, r)
        Lower triangular, not singular.
    """
    n, r = X.shape[0], L.shape[0]
    panels = _panels(L.astype(X.dtype, copy=False))
    landmarks = landmarks.astype(X.dtype, copy=False)
    out = np.empty((n, r), X.dtype)
    length = max(1, tiles.TILE_BYTES // (r * out.itemsize))
    # The kernel prepares its two sides for several tiles at once, yet never for all rows of a long X.
    for strip in tiles.slices(n, 16 * threads() * length):
        _fill(out[strip], kernel, *kernel._sides(X[strip], landmarks), panels, length)
    return out


def _fill(out: Array, kernel: Kernel, left: Any, right: Any, panels: list[tuple[slice, Array]], length: int) -> None:
    def whiten(rows: slice) -> None:
        F = out[rows]
        F[...] = kernel._tile(left[rows], right)
        for columns, panel in panels:
            F[:, columns] = F[:, : columns.stop] @ panel

    tiles.run_threaded(whiten, list(tiles.slices(out.shape[0], length)), entries=float(out.size))


def _panels(L: Array) -> list[tuple[slice, Array]]:
    """Forward substitution as a few GEMMs: F[:, columns] = F[:, :columns.stop] @ panel, panel after panel.

    With the columns before already whitened (F₁) and these not yet (B), F₂ = (B − F₁ L₂₁ᵀ) L₂₂^-T is one product of
    [F₁ B] with [−L₂₁ᵀ; I] L₂₂^-T. BLAS has this as TRSM, but SciPy's wrapper holds Python's lock, so the threads
    would wait for each other; GEMM does not, and is as fast.
    """
    panels = []
    for columns in tiles.slices(L.shape[0], _PANEL):
        stacked = np.vstack([-L[columns, : columns.start].T, np.eye(columns.stop - columns.start, dtype=L.dtype)])
        panel = solve_triangular(L[columns, columns], stacked.T, lower=True, check_finite=False).T
        panels.append((columns, np.ascontiguousarray(panel)))
    return panels
