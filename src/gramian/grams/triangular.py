"""Symmetric matrices factorised in place: Cholesky where they are definite, Bunch–Kaufman LDL where they are not.

One n×n array in all: the factor replaces the matrix. Pure LAPACK on arrays; :mod:`gramian.grams.solve` decides what is
factorised and says what went wrong.
"""

from __future__ import annotations

import numpy as np
from scipy.linalg import get_blas_funcs, get_lapack_funcs

from gramian.grams.tiles import slices
from gramian.typing import Array

_STRIP = 256  # rows of the inverse computed together, for twice as many columns


class NotDefiniteError(np.linalg.LinAlgError):
    """Raised where a Cholesky factor does not exist."""


class Triangular:
    """Pᵀ A P = L D Lᵀ with L lower triangular; D is the identity for Cholesky, else has blocks of size 1 and 2.

    Parameters
    ----------
    A : ndarray (n, n)
        Symmetric, C- or F-contiguous; becomes the factor.
    definite : {True, False, None}
        Cholesky alone, LDL alone, or LDL where Cholesky fails.

    Attributes
    ----------
    method : {"cholesky", "ldl"}
    reciprocal_condition : float
        LAPACK's estimate of 1 / (‖A‖ ‖A⁻¹‖) in the 1-norm.
    """

    def __init__(self, A: Array, definite: bool | None) -> None:
        A = A if A.flags.f_contiguous else A.T  # symmetric, and LAPACK reads columns
        lange, potrf, pocon = get_lapack_funcs(("lange", "potrf", "pocon"), (A,))
        self.order: Array | None = None
        self.blocks: _Blocks | None = None
        self.unit = False
        size = float(lange("1", A)) if len(A) else 0.0
        if not np.isfinite(size):
            raise ValueError("the Gram holds NaN or infinite values, so nothing can be solved; check the kernel and X")
        if definite is not False or not len(A):  # LAPACK has no LDL of no rows
            diagonal = np.diagonal(A).copy()
            self.L, failed = potrf(A, lower=1, clean=0, overwrite_a=1)
            if not failed:
                self.method = "cholesky"
                self.reciprocal_condition = float(pocon(self.L, size, uplo="L")[0]) if len(A) else 1.0
                return
            if definite:
                raise NotDefiniteError
            A = _restored(self.L, diagonal)
        self._bunch_kaufman(A, size)

    def _bunch_kaufman(self, A: Array, size: float) -> None:
        sytrf, sycon, syconv, workspace = get_lapack_funcs(("sytrf", "sycon", "syconv", "sytrf_lwork"), (A,))
        length = int(workspace(len(A), lower=1)[0])
        factor, pivots, singular = sytrf(A, lower=1, lwork=length, overwrite_a=1)
        self.method = "ldl"
        self.reciprocal_condition = 0.0 if singular else float(sycon(factor, pivots, size, lower=1)[0])
        if singular:
            raise np.linalg.LinAlgError("singular")
        self.L, beside, _ = syconv(factor, pivots, lower=1, overwrite_a=1)
        self.unit = True
        self.order = _order(pivots)
        self.blocks = _Blocks(np.diagonal(self.L).copy(), beside[:-1])

    def solve(self, B: Array) -> Array:
        """A⁻¹ B for B (n, b) in the dtype of A."""
        half = self._forward(B if self.order is None else B[self.order])
        out = self._triangular(half if self.blocks is None else self.blocks.solve(half), transposed=True)
        if self.order is None:
            return out
        back = np.empty_like(out)
        back[self.order] = out
        return back

    def quadratic(self, B: Array) -> Array:
        """bᵀ A⁻¹ b of every column b of B (n, b)."""
        half = self._forward(B if self.order is None else B[self.order])
        return np.einsum("ij,ij->j", half, half if self.blocks is None else self.blocks.solve(half))

    def inverse_diagonal(self) -> Array:
        """The diagonal of A⁻¹, a strip of L⁻¹ at a time: n³/3 multiplications and no second n×n array."""
        L, n = self.L, len(self.L)
        out = np.empty(n, L.dtype)
        pieces = list(slices(n, _STRIP))
        trtri, trmm = get_lapack_funcs(("trtri",), (L,))[0], get_blas_funcs(("trmm",), (L,))[0]
        # With the small triangles on the diagonal inverted once, all else is products.
        corners = [trtri(L[rows, rows], lower=1, unitdiag=int(self.unit))[0] for rows in pieces]
        if self.unit:
            for corner in corners:
                np.fill_diagonal(corner, 1)
        wide = 2 if self.blocks is None else 1
        for start in range(0, len(pieces), wide):
            first, width = pieces[start].start, min(wide * _STRIP, n - pieces[start].start)
            X = np.zeros((n - first, width), L.dtype)
            X[:width] = np.eye(width, dtype=L.dtype)
            for rows, corner in zip(pieces[start:], corners[start:], strict=True):
                here = slice(rows.start - first, rows.stop - first)
                if here.start:
                    X[here] -= L[rows, first : rows.start] @ X[: here.start]
                # corner @ X[here] in half the multiplications
                X[here] = trmm(1.0, corner, X[here].T, side=1, lower=1, trans_a=1, overwrite_b=1).T
            solved = X
            if self.blocks is not None:
                whole = np.zeros((n, width), L.dtype)
                whole[first:] = X
                solved = self.blocks.solve(whole)[first:]
            out[first : first + width] = np.einsum("ij,ij->j", X, solved)
        if self.order is None:
            return out
        back = np.empty_like(out)
        back[self.order] = out
        return back

    def log_determinant(self) -> float:
        """log |det A|."""
        if self.blocks is not None:
            return self.blocks.log_determinant()
        return float(2 * np.log(np.diagonal(self.L).astype(np.float64)).sum())

    def _forward(self, B: Array) -> Array:
        return self._triangular(B, transposed=False)

    def _triangular(self, B: Array, *, transposed: bool) -> Array:
        if not B.size:
            return B.copy()
        trtrs = get_lapack_funcs(("trtrs",), (self.L,))[0]
        out: Array = trtrs(self.L, B, lower=1, trans=int(transposed), unitdiag=int(self.unit))[0]
        return out


class _Blocks:
    """D of an LDL factor: ``diagonal``, and ``beside`` it where two rows form a block."""

    def __init__(self, diagonal: Array, beside: Array) -> None:
        self.first = np.flatnonzero(beside)
        a, c, b = diagonal[self.first], diagonal[self.first + 1], beside[self.first]
        # The inverse of [[a, b], [b, c]] divided by b first: b² may overflow, and LAPACK does the same.
        self.scale = b * ((a / b) * (c / b) - 1)
        self.inverse_diagonal = np.empty_like(diagonal)
        single = np.ones(len(diagonal), bool)
        single[self.first] = single[self.first + 1] = False
        self.inverse_diagonal[single] = 1 / diagonal[single]
        self.inverse_diagonal[self.first] = (c / b) / self.scale
        self.inverse_diagonal[self.first + 1] = (a / b) / self.scale
        self._logs = np.log(np.abs(diagonal[single].astype(np.float64))).sum()
        self._logs += (np.log(np.abs(b.astype(np.float64))) + np.log(np.abs(self.scale.astype(np.float64)))).sum()

    def solve(self, X: Array) -> Array:
        out = self.inverse_diagonal[:, None] * X
        out[self.first] -= X[self.first + 1] / self.scale[:, None]
        out[self.first + 1] -= X[self.first] / self.scale[:, None]
        return out

    def log_determinant(self) -> float:
        return float(self._logs)


def _restored(A: Array, diagonal: Array) -> Array:
    """The symmetric matrix of which a failed Cholesky left the upper triangle and ``diagonal``."""
    for columns in slices(len(A), _STRIP):
        A[columns.stop :, columns] = A[columns, columns.stop :].T
        corner = np.triu(A[columns, columns], 1)
        A[columns, columns] = corner + corner.T
    np.fill_diagonal(A, diagonal)
    return A


def _order(pivots: Array) -> Array:
    """LAPACK's interchanges of rows as one order: A[order][:, order] = L D Lᵀ."""
    order = np.arange(len(pivots))
    k = 0
    while k < len(pivots):
        if pivots[k] > 0:
            place, other, step = k, pivots[k] - 1, 1
        else:  # of a block of two, the second row was interchanged
            place, other, step = k + 1, -pivots[k + 1] - 1, 2
        order[[place, other]] = order[[other, place]]
        k += step
    return order
