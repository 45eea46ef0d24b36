"""From similarities to landmarks to features: F = K(X, landmarks) L^-T, where K(landmarks, landmarks) = L Lᵀ.

The rows of F are computed a few at a time and in place, so besides F itself almost nothing is stored, and the
triangular factor costs half the arithmetic of the usual K_mm^-½. Nyström features and leverage scores use this.
Where K(landmarks, landmarks) is indefinite it has no such L; its eigenvectors and the signs of its eigenvalues do.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy.linalg import eigh, solve_triangular
from scipy.linalg.lapack import dpstrf

from gramian.configuration import threads
from gramian.grams import tiles
from gramian.kernels.base import Kernel
from gramian.typing import Array, Matrix

_TRUNCATIONS = {8: (1e-10, 1e-6, 1e-4, 1e-3, 3e-3, 1e-2, 3e-2), 4: (1e-5, 1e-4, 1e-3, 3e-3, 1e-2, 3e-2)}  # by itemsize
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


def signed_root(K: Array, truncation: float) -> tuple[Array, Array]:
    """A projection P and signs J with K⁺ = P diag(J) Pᵀ, for a symmetric K that need not be definite.

    Parameters
    ----------
    K : ndarray (m, m)
    truncation : float
        Eigenvalues below this share of the largest magnitude count as zero.

    Returns
    -------
    P : ndarray (m, r)
        Eigenvectors over the roots of |λ|, in K's dtype.
    J : ndarray (r,)
        Signs of the eigenvalues, the positive ones first.

    Examples
    --------
    >>> import numpy as np
    >>> P, J = signed_root(np.array([[0.0, 2.0], [2.0, 0.0]]), 1e-10)
    >>> J.tolist(), np.allclose(P @ np.diag(J) @ P.T, [[0.0, 0.5], [0.5, 0.0]])
    ([1, -1], True)
    """
    values, vectors = eigh(K.astype(np.float64), check_finite=False)
    solid = np.abs(values) > truncation * float(np.abs(values).max())
    order = np.flatnonzero(solid)[::-1]
    P = vectors[:, order] / np.sqrt(np.abs(values[order]))
    return P.astype(K.dtype), np.sign(values[order]).astype(np.int8)


def best_truncation(K: Array, across: Array, among: Array) -> float:
    """The truncation of an indefinite K(landmarks, landmarks) whose features describe other rows best.

    Eigenvalues of both signs leave some close to zero by chance, and over these the features of other rows are large
    and wrong. Rows that are no landmarks tell where to cut.

    Parameters
    ----------
    K : ndarray (m, m)
        Of the landmarks.
    across : ndarray (v, m)
        From v other rows to the landmarks.
    among : ndarray (v, v)
        Between the other rows.

    Returns
    -------
    truncation : float
        A share of the largest |λ|. The smallest there is, unless another one has an error a tenth smaller.
    """
    candidates = _TRUNCATIONS[K.dtype.itemsize]
    errors = []
    for truncation in candidates:
        P, J = signed_root(K, truncation)
        F = across @ P
        errors.append(float(np.linalg.norm(among - (F * J) @ F.T)))
    best = int(np.argmin(errors))
    return candidates[best if errors[best] < 0.9 * errors[0] else 0]


def projected(kernel: Kernel, X: Matrix, landmarks: Matrix, P: Array) -> Array:
    """K(X, landmarks) P, shape (n, r), in the dtype of X."""
    product = kernel._unchecked("product")
    return np.asarray(product(X, landmarks.astype(X.dtype, copy=False), P.astype(X.dtype, copy=False)))


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
