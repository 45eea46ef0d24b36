"""Cholesky in single precision whose solutions products in double correct: iterative refinement.

The factor takes half the time of one in double. It and K are held by their halves, so that together they take three
quarters of what one n×n array of K would. :mod:`gramian.grams.solve` decides where it is used and what follows where
it does not reach double precision.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator

import numpy as np
from scipy.linalg import get_lapack_funcs

from gramian.grams.base import Gram
from gramian.grams.tiles import run_threaded, slices
from gramian.grams.triangular import NotDefiniteError
from gramian.typing import Array

_STRIP = 256  # rows handled together
_TILE = 1024  # columns evaluated together
_GAIN = 0.1  # a correction that leaves more of the residual is worth less than a factor in double
_ROUNDING = 4  # units in the last place that the backward error may have where a correction gains nothing more
_EPS = float(np.finfo(np.float64).eps)


class SingleCholesky:
    """S (K + diag(d)) S = Uᵀ U in single precision, S powers of two that bring the diagonal to about one.

    Parameters
    ----------
    gram : Gram
        K, float64. Its products are used where it is held; else the lower half of K is kept.
    d : ndarray (n,)

    Raises
    ------
    NotDefiniteError
        If there is no such factor.
    """

    def __init__(self, gram: Gram, d: Array) -> None:
        diagonal = gram.diagonal() + d
        if not (np.isfinite(diagonal) & (diagonal > 0)).all():
            raise NotDefiniteError
        n = gram.shape[0]
        self.scale = np.exp2(-np.round(np.log2(diagonal) / 2))
        self.norm_bound = n * float(diagonal.max(initial=0.0))  # of the 1-norm, as no entry is above the diagonal
        self.gram, self.d = gram, d
        self.half = None if gram.held else LowerHalf(n)
        self.factor = Packed(n)
        squares = np.zeros(n)

        def fill(rows: slice) -> None:
            K = self._lower_rows(rows)
            A = self.scale[rows, None] * K
            A *= self.scale[: rows.stop]
            own = np.arange(rows.start, rows.stop)
            A[own - rows.start, own] += self.scale[rows] ** 2 * d[rows]
            squares[rows.start] = 2 * np.vdot(A, A) - np.vdot(A[:, rows], A[:, rows])
            self.factor.put(rows, A)

        with np.errstate(over="ignore", under="ignore", invalid="ignore"):  # then there is no factor
            run_threaded(fill, list(self.factor.strips()), entries=n * n / 2)
        self.size = float(np.sqrt(squares.sum()))
        self.factor.factorize()

    def _lower_rows(self, rows: slice) -> Array:
        """K[rows, : rows.stop], kept where there is a half to keep it in."""
        K = np.empty((rows.stop - rows.start, rows.stop))
        for columns in slices(rows.stop, _TILE):
            K[:, columns] = self.gram._block(rows, columns)
        if self.half is not None:
            self.half.rows[rows.start] = K
        return K

    def product(self, V: Array) -> Array:
        """(K + diag(d)) V."""
        KV = self.gram @ V if self.half is None else self.half.product(V)
        return np.asarray(KV + self.d[:, None] * V)

    def solve(self, B: Array) -> tuple[Array, int] | None:
        """X with (K + diag(d)) X = B and the number of products; None where refinement does not reach double."""
        scale = self.scale[:, None]
        power = np.frexp(np.abs(scale * B).max(axis=0, initial=0.0))[1]
        found = refined(
            lambda V: scale * self.product(scale * V), self.factor.solve, np.ldexp(scale * B, -power), self.size
        )
        return None if found is None else (np.ldexp(scale * found[0], power), found[1])

    @property
    def least_pivot(self) -> float:
        """The smallest squared diagonal entry of the Cholesky factor of K + diag(d)."""
        return float(((self.factor.diagonal().astype(np.float64) / self.scale) ** 2).min(initial=np.inf))


def refined(
    apply: Callable[[Array], Array], near: Callable[[Array], Array], B: Array, size: float
) -> tuple[Array, int] | None:
    """X with A X = B by corrections X + M⁻¹ (B − A X), and the number of products with A.

    The end is where the next residual would be rounding of B, or where a correction gains nothing more and the backward
    error ‖B − A X‖ / (‖A‖ ‖X‖) of every column is within four units in the last place.

    Parameters
    ----------
    apply : callable
        V (n, b) -> A V in double.
    near : callable
        V (n, b) -> M⁻¹ V with M near A.
    B : ndarray (n, b)
    size : float
        ‖A‖ in the Frobenius norm.

    Returns
    -------
    (X, n_products), or None where M is not near enough.
    """
    wanted = before = np.linalg.norm(B, axis=0)
    wanted = _EPS * wanted
    X = near(B)
    n_products = 0
    while True:
        residual = B - apply(X)
        n_products += 1
        left = np.linalg.norm(residual, axis=0)
        if not (left <= np.maximum(_GAIN * before, wanted)).all():
            done = left <= _ROUNDING * _EPS * size * np.linalg.norm(X, axis=0)
            return (X, n_products) if done.all() else None
        X = X + near(residual)
        # As much again of the residual goes with this correction as went with the last one.
        if (left * left <= wanted * before).all():
            return X, n_products
        before = left


class LowerHalf:
    """The lower half of a symmetric matrix, in strips of rows up to the diagonal."""

    def __init__(self, n: int) -> None:
        self.n = n
        self.rows: dict[int, Array] = {}

    def product(self, V: Array) -> Array:
        """The whole matrix times V (n, b), each entry read once for both of its places."""
        thin = np.ascontiguousarray(V.T)  # BLAS is faster with the thin factor on the left
        out = np.zeros_like(thin)
        for start in sorted(self.rows):  # sums in the same order in every run
            K = self.rows[start]
            stop = start + len(K)
            out[:, start:stop] += thin[:, :stop] @ K.T
            out[:, :start] += thin[:, start:stop] @ K[:, :start]
        return out.T


class Packed:
    """A symmetric float32 matrix, then its Cholesky factor, in n (n + 1) / 2 numbers: LAPACK's full packed format.

    The last n − h columns of the upper half, h = n // 2, stand side by side, and the first h of them as rows below.
    """

    def __init__(self, n: int) -> None:
        self.n, self.h = n, n // 2
        self.values = np.empty(n * (n + 1) // 2, np.float32)
        self._columns = self.values.reshape(n - self.h, n + 1 - n % 2)

    def strips(self) -> Iterator[slice]:
        """The rows that :meth:`put` takes together."""
        for first, last in ((0, self.h), (self.h, self.n)):
            for part in slices(last - first, _STRIP):
                yield slice(first + part.start, first + part.stop)

    def put(self, rows: slice, A: Array) -> None:
        """A strip of rows up to and with the diagonal block."""
        h = self.h
        lower = np.tri(A.shape[0], dtype=bool)
        if rows.start >= h:
            place = self._columns[rows.start - h : rows.stop - h]
        else:
            place = self._columns.T[rows.start + h + 1 : rows.stop + h + 1]
        place[:, : rows.start] = A[:, : rows.start]
        place[:, rows][lower] = A[:, rows][lower]

    def factorize(self) -> None:
        """Put the factor in the place of the matrix."""
        if not self.n:
            return
        pftrf = get_lapack_funcs(("pftrf",), (self.values,))[0]
        self.values, failed = pftrf(self.n, self.values, uplo="U", overwrite_a=1)
        self._columns = self.values.reshape(self._columns.shape)
        if failed or not np.isfinite(self.diagonal()).all():
            raise NotDefiniteError

    def diagonal(self) -> Array:
        """The n diagonal entries."""
        h = self.h
        return np.concatenate([np.diagonal(self._columns, h + 1)[:h], np.diagonal(self._columns, h)])

    def solve(self, B: Array) -> Array:
        """A⁻¹ B for B (n, b), float64, to about single precision."""
        if not B.size:
            return np.zeros(B.shape)
        unit = np.abs(B).max(axis=0)
        unit = np.where(unit > 0, unit, 1.0)  # the range of single precision is small
        pftrs = get_lapack_funcs(("pftrs",), (self.values,))[0]
        X = pftrs(self.n, self.values, np.asfortranarray(B / unit, np.float32), uplo="U", overwrite_b=1)[0]
        return np.asarray(X * unit)
