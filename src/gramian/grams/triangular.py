"""Symmetric matrices factorised in place: Cholesky where they are definite, Bunch–Kaufman LDL where they are not.

One n×n array in all: the factor replaces the matrix. Pure LAPACK on arrays; :mod:`gramian.grams.solve` decides what is
factorised and says what went wrong.
"""

from __future__ import annotations

from functools import cached_property
from threading import Lock
from typing import Any

import numpy as np
from scipy.linalg import get_lapack_funcs

from gramian.grams.tiles import slices
from gramian.typing import Array

_STRIP = 256  # columns handled together
_PROBES = 32  # random vectors, and columns, that tell how good an inverse in single precision is
SURE = 1e6  # so far below the least pivot the least eigenvalue lies only of matrices made for that


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
    """

    def __init__(self, A: Array, definite: bool | None) -> None:
        A = A if A.flags.f_contiguous else A.T  # symmetric, and LAPACK reads columns
        lange, potrf = get_lapack_funcs(("lange", "potrf"), (A,))
        self.order: Array | None = None
        self.blocks: _Blocks | None = None
        self.unit = False
        self._lock = Lock()
        self.size = float(lange("1", A)) if len(A) else 0.0
        if not np.isfinite(self.size):
            raise ValueError("the Gram holds NaN or infinite values, so nothing can be solved; check the kernel and X")
        if definite is not False or not len(A):  # LAPACK has no LDL of no rows
            diagonal = np.diagonal(A).copy()
            self.L, failed = potrf(A, lower=1, clean=0, overwrite_a=1)
            if not failed:
                self.method = "cholesky"
                return
            if definite:
                raise NotDefiniteError
            A = self.L
            _mirror(A, diagonal)
        self._bunch_kaufman(A)

    def _bunch_kaufman(self, A: Array) -> None:
        sytrf, sycon, syconv, workspace = get_lapack_funcs(("sytrf", "sycon", "syconv", "sytrf_lwork"), (A,))
        length = int(workspace(len(A), lower=1)[0])
        factor, pivots, singular = sytrf(A, lower=1, lwork=length, overwrite_a=1)
        self.method = "ldl"
        self.reciprocal_condition = 0.0 if singular else float(sycon(factor, pivots, self.size, lower=1)[0])
        if singular:
            raise np.linalg.LinAlgError("singular")
        self.L, beside, _ = syconv(factor, pivots, lower=1, overwrite_a=1)
        self.unit = True
        self.order = _order(pivots)
        self.blocks = _Blocks(np.diagonal(self.L).copy(), beside[:-1])

    @cached_property
    def reciprocal_condition(self) -> float:
        """LAPACK's estimate of 1 / (‖A‖ ‖A⁻¹‖) in the 1-norm, for about ten solutions."""
        pocon = get_lapack_funcs(("pocon",), (self.L,))[0]
        with self._lock:
            return float(pocon(self.L, self.size, uplo="L")[0]) if len(self.L) else 1.0

    def worse_than(self, limit: float) -> bool:
        """Whether the reciprocal condition is below the limit; not estimated where the pivots are far above it."""
        if self.method == "cholesky":
            least = float(np.diagonal(self.L).min(initial=np.inf)) ** 2
            if least > SURE * limit * self.size:
                return False
        return self.reciprocal_condition < limit

    def solve(self, B: Array) -> Array:
        """A⁻¹ B for B (n, b) in the dtype of A."""
        half = self._triangular(self._ordered(B), transposed=False)
        return self._restored_order(
            self._triangular(half if self.blocks is None else self.blocks.solve(half), transposed=True)
        )

    def quadratic(self, B: Array) -> Array:
        """bᵀ A⁻¹ b of every column b of B (n, b)."""
        half = self._triangular(self._ordered(B), transposed=False)
        return np.einsum("ij,ij->j", half, half if self.blocks is None else self.blocks.solve(half))

    def inverse_diagonal(self, rtol: float = 0.0) -> Array:
        """The diagonal of A⁻¹, from L⁻¹ in the place of L: n³/3 multiplications and no second n×n array.

        Where a relative error ``rtol`` is allowed, from L⁻¹ in single precision and half an array more, if that is as
        good: half the time.
        """
        if not len(self.L):
            return np.empty(0, self.L.dtype)
        if rtol and self.method == "cholesky" and self.L.dtype == np.float64:
            near, error = self._single_inverse_diagonal()
            if error <= rtol:
                return near
        trtri = get_lapack_funcs(("trtri",), (self.L,))[0]
        with self._lock:
            diagonal = np.diagonal(self.L).copy()
            _mirror(self.L.T, diagonal)  # the upper triangle is free, and keeps L meanwhile
            try:
                trtri(self.L, lower=1, unitdiag=int(self.unit), overwrite_c=1)
                out = self._column_squares()
            finally:
                _mirror(self.L, diagonal)
        return self._restored_order(out)

    def _single_inverse_diagonal(self) -> tuple[Array, float]:
        """Squared columns of X ≈ L⁻¹ in single precision, and the largest relative error of the worst of them.

        Row j of (L⁻¹ − X)ᵀ V with random signs V tells the size of the error of column j. Of the columns where it is
        largest the squares are computed in double.
        """
        n = len(self.L)
        signs = np.random.default_rng(0).choice([-1.0, 1.0], (n, _PROBES))
        wanted = self._triangular(signs, transposed=True)
        squares, missed = np.empty(n), np.empty(n)
        with np.errstate(all="ignore"):  # what leaves the range of single precision leaves a large error
            with self._lock:
                X = self.L.astype(np.float32)
            X = get_lapack_funcs(("trtri",), (X,))[0](X, lower=1, overwrite_c=1)[0]
            for columns in slices(n, _STRIP):
                part = X[columns.start :, columns].T.astype(np.float64)
                corner = part[:, : len(part)]
                corner[...] = np.triu(corner)
                squares[columns] = np.einsum("ij,ij->i", part, part)
                missed[columns] = ((part @ signs[columns.start :] - wanted[columns]) ** 2).sum(axis=1)
            worst = np.argsort(missed / squares)[-_PROBES:]  # NaN is last
            unit = np.zeros((n, len(worst)))
            unit[worst, np.arange(len(worst))] = 1
            exact = (self._triangular(unit, transposed=False) ** 2).sum(axis=0)
            return squares, float(np.abs(squares[worst] / exact - 1).max())

    def _column_squares(self) -> Array:
        """xᵀ D⁻¹ x of every column x of L⁻¹, which lies in the lower triangle."""
        X, n = self.L, len(self.L)
        out = np.empty(n, X.dtype)
        for columns in slices(n, _STRIP):
            corner = np.tril(X[columns, columns])
            if self.unit:
                np.fill_diagonal(corner, 1)
            if self.blocks is None:
                below = X[columns.stop :, columns].T  # its rows are contiguous
                out[columns] = np.einsum("ij,ij->j", corner, corner) + np.einsum("ij,ij->i", below, below)
            else:
                whole = np.zeros((n, corner.shape[1]), X.dtype)
                whole[columns], whole[columns.stop :] = corner, X[columns.stop :, columns]
                out[columns] = np.einsum("ij,ij->j", whole, self.blocks.solve(whole))
        return out

    def log_determinant(self) -> float:
        """log |det A|."""
        if self.blocks is not None:
            return self.blocks.log_determinant()
        return float(2 * np.log(np.diagonal(self.L).astype(np.float64)).sum())

    def _ordered(self, B: Array) -> Array:
        """Rows in the order of the factor."""
        return B if self.order is None else B[self.order]

    def _restored_order(self, out: Array) -> Array:
        if self.order is None:
            return out
        back = np.empty_like(out)
        back[self.order] = out
        return back

    def _triangular(self, B: Array, *, transposed: bool) -> Array:
        if not B.size:
            return B.copy()
        trtrs = get_lapack_funcs(("trtrs",), (self.L,))[0]
        with self._lock:
            out: Array = trtrs(self.L, B, lower=1, trans=int(transposed), unitdiag=int(self.unit))[0]
        return out

    def __getstate__(self) -> dict[str, Any]:
        return {name: value for name, value in self.__dict__.items() if name != "_lock"}

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.__dict__.update(state, _lock=Lock())


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


def _mirror(A: Array, diagonal: Array) -> None:
    """Copy the upper triangle of A into the lower one, and ``diagonal`` between them."""
    for columns in slices(len(A), _STRIP):
        A[columns.stop :, columns] = A[columns, columns.stop :].T
        corner = np.triu(A[columns, columns], 1)
        A[columns, columns] = corner + corner.T
    np.fill_diagonal(A, diagonal)


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
