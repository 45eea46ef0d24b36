"""Sums over all pairs of samples of two Grams, from which HSIC and the moments of its null distribution follow.

Where both Grams have factors the sums are small products of them. Otherwise one pass over the tiles on and above the
diagonal evaluates each kernel once and keeps nothing. Any a may be subtracted as K_ij − a_i − a_j, because centring
removes it; with a near the row means the sums keep their digits where K is nearly constant or in single precision.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable
from dataclasses import dataclass
from itertools import combinations_with_replacement
from typing import Any

import numpy as np
from scipy.sparse import issparse

from gramian.configuration import require_memory
from gramian.grams import Gram
from gramian.grams.features import Factor, squared_norms
from gramian.grams.tiles import run_threaded, slices
from gramian.kernels.base import dot
from gramian.typing import Array, Matrix

Rows = slice | Array

_EDGE = 256  # two float64 tiles and a temporary stay in the cache next to the processor
_SHARES = 32  # parts of the work with totals of their own: the sums do not depend on the number of threads
_ANCHORS = 64
_MOST_SAMPLES = 500_000
_CHUNK_ROWS = 4096
_DENSE_BYTES = 64 * 2**20


class Side(ABC):
    """What is asked of the row sums r_i = Σ_j K_ij and the diagonal of one Gram, beside those of another one.

    Attributes
    ----------
    noise : float
        The rounding error of a constant K_ii.
    eps : float
    """

    noise: float
    eps: float

    @property
    @abstractmethod
    def n(self) -> int:
        """The number of samples."""

    @abstractmethod
    def row_products(self, other: Any) -> tuple[float, float, float]:
        """Σ r, Σ r' and r·r'."""

    @abstractmethod
    def off_diagonal_products(self, other: Any) -> tuple[float, float, float, float]:
        """K_ii·K'_ii; and with the diagonals taken as zero Σ r, Σ r' and r·r'."""

    @abstractmethod
    def centred_trace(self) -> tuple[float, float]:
        """Σ_i (HKH)_ii and Σ_i (HKH)_ii² with H = I − 11ᵀ/n."""

    def is_rounding(self, size: float) -> bool:
        """Whether a trace or norm of HKH is no more than rounding leaves of equal similarities."""
        return not size > self.n * self.noise


@dataclass(frozen=True)
class SideSums(Side):
    """Row sums (n,) and diagonal (n,) of one Gram."""

    rows: Array
    diagonal: Array
    noise: float
    eps: float

    @property
    def n(self) -> int:
        return len(self.rows)

    def row_products(self, other: SideSums) -> tuple[float, float, float]:
        return _products(self.rows, other.rows)

    def off_diagonal_products(self, other: SideSums) -> tuple[float, float, float, float]:
        both = _products(self.rows - self.diagonal, other.rows - other.diagonal)
        return float(self.diagonal @ other.diagonal), *both

    def centred_diagonal(self) -> Array:
        """(HKH)_ii."""
        return self.diagonal - 2 / self.n * self.rows + self.rows.sum() / self.n**2

    def centred_trace(self) -> tuple[float, float]:
        diagonal = self.centred_diagonal()
        return float(diagonal.sum()), float(diagonal @ diagonal)


def _products(r: Array, s: Array) -> tuple[float, float, float]:
    return float(r.sum()), float(s.sum()), float(r @ s)


@dataclass(frozen=True)
class PairSums:
    """Sums over all pairs of samples, the diagonal included: xy = Σ_ij K_ij L_ij, xx = Σ K_ij², yy = Σ L_ij².

    ``xx`` and ``yy`` are None unless they were asked for.
    """

    n: int
    x: Side
    y: Side
    xy: float
    xx: float | None
    yy: float | None

    def centred(self) -> float:
        """tr(KHLH)."""
        return centred_product(self.xy, self.x, self.y)

    def squares(self) -> tuple[float, float]:
        """tr(KHKH) and tr(LHLH)."""
        assert self.xx is not None
        assert self.yy is not None
        return centred_product(self.xx, self.x, self.x), centred_product(self.yy, self.y, self.y)


def centred_product(product: float, x: Side, y: Side) -> float:
    """tr(KHLH) = Σ K∘L − (2/n) r·s + (Σr)(Σs)/n², r and s the row sums."""
    total_x, total_y, together = x.row_products(y)
    return product - 2 / x.n * together + total_x * total_y / x.n**2


def unbiased_product(product: float, x: Side, y: Side) -> float:
    """Σ_{i≠j} K̃_ij L̃_ij of the U-centred matrices; n (n − 3) times the unbiased HSIC.

    With the diagonals taken as zero this is Σ K∘L + (Σr)(Σs)/((n−1)(n−2)) − 2/(n−2) r·s.
    """
    n = x.n
    diagonal, total_x, total_y, together = x.off_diagonal_products(y)
    return product - diagonal + total_x * total_y / ((n - 1) * (n - 2)) - 2 / (n - 2) * together


def pair_sums(x: Gram, y: Gram, *, squares: bool) -> PairSums:
    """The sums of two Grams of the same samples.

    Parameters
    ----------
    x, y : Gram (n, n)
    squares : bool
        Whether Σ K_ij² and Σ L_ij² are wanted too.
    """
    if x.factor is not None and y.factor is not None:
        return _factored(x, y, x.factor, y.factor, squares)
    n = x.shape[0]
    if n > _MOST_SAMPLES:
        raise ValueError(
            f"n_samples={n}: all pairs of more than {_MOST_SAMPLES} samples would take too long; pass "
            "approximation='nystroem' or estimator='block' (method='block' in hsic_test)"
        )
    return _streamed(x, y, squares)


# All pairs, tile by tile -----------------------------------------------------------------------------------


class Tiles:
    """Tiles of K − a1ᵀ − 1aᵀ, with a near the row means, for any Gram K.

    Parameters
    ----------
    gram : Gram (n, n)

    Attributes
    ----------
    diagonal : ndarray (n,)
    eps, noise : float
        Of the dtype; and what rounding may leave of equal similarities.
    """

    def __init__(self, gram: Gram) -> None:
        n = gram.shape[0]
        self._entries, self._exact_diagonal, self.noise = _entries(gram)
        self.eps = float(np.finfo(gram.dtype).eps)
        anchors = np.unique(np.linspace(0, n - 1, min(n, _ANCHORS)).astype(np.intp))
        means = np.concatenate([self._entries(rows, anchors).mean(axis=1) for rows in slices(n, _CHUNK_ROWS)])
        self._shift: Array = (means - means[anchors].mean() / 2).astype(gram.dtype, copy=False)
        self.diagonal = self._exact_diagonal.astype(np.float64) - 2 * self._shift.astype(np.float64)

    def __call__(self, rows: Rows, columns: Rows) -> Array:
        """The tile as a new array; ``rows is columns`` for tiles on the diagonal."""
        tile = self._entries(rows, columns)
        if rows is columns:
            np.fill_diagonal(tile, self._exact_diagonal[rows])  # exact, where a GEMM would leave rounding
        tile -= self._shift[rows, None]
        tile -= self._shift[columns]
        return tile


def _entries(gram: Gram) -> tuple[Callable[[Rows, Rows], Array], Array, float]:
    """The function that gives K[rows, columns] as a new array, the diagonal, and the noise; features are centred."""
    diagonal = gram.diagonal()
    if gram.factor is None:
        return gram.block, diagonal, _noise(gram, diagonal)
    F = held_features(gram.factor)
    noise = _noise(gram, diagonal) if issparse(F) else noise_of_centred(gram.dtype, float(np.abs(diagonal).max()))
    return (lambda rows, columns: dot(F[rows], F[columns])), squared_norms(F), noise


def _noise(gram: Gram, diagonal: Array) -> float:
    """The rounding error of centred similarities of this size."""
    return float(10 * np.finfo(gram.dtype).eps * np.abs(diagonal).max())


def noise_of_centred(dtype: Any, largest: float) -> float:
    """The rounding error where features are centred before they are multiplied: a large offset costs no digits."""
    return float((30 * np.finfo(dtype).eps) ** 2 * largest)


def held_features(factor: Factor) -> Matrix:
    """F − mean where F is dense or small, F itself where it is a large sparse matrix."""
    n, m = factor.shape
    require_memory(
        float(n) * m * factor.dtype.itemsize, f"the {n}×{m} array of features", "use a kernel with fewer features"
    )
    F = factor.chunk_of(slice(0, n))
    if issparse(F):
        if n * m * F.dtype.itemsize > _DENSE_BYTES:
            return F
        F = F.toarray()
    return F - F.mean(axis=0, dtype=np.float64).astype(F.dtype)


def _streamed(x: Gram, y: Gram, squares: bool) -> PairSums:
    n = x.shape[0]
    sides = Tiles(x), Tiles(y)
    products, rows_of = np.zeros((_SHARES, 3)), np.zeros((_SHARES, 2, n))
    pairs = list(combinations_with_replacement(slices(n, _EDGE), 2))

    def add(share: int) -> None:
        for rows, columns in pairs[share::_SHARES]:
            once = rows == columns
            K, L = (side(rows, rows if once else columns) for side in sides)
            weight = 1 if once else 2  # the tile below the diagonal is this one's transpose
            products[share, 0] += weight * dot_product(K, L)
            if squares:
                products[share, 1:] += weight * dot_product(K, K), weight * dot_product(L, L)
            for total, tile in zip(rows_of[share], (K, L), strict=True):
                total[rows] += tile.sum(axis=1)
                if not once:
                    total[columns] += tile.sum(axis=0)

    run_threaded(add, range(_SHARES), entries=float(n) * n)
    xy, xx, yy = products.sum(axis=0).tolist()
    x_sums, y_sums = (
        SideSums(total, side.diagonal, side.noise, side.eps)
        for total, side in zip(rows_of.sum(axis=0), sides, strict=True)
    )
    return PairSums(n, x_sums, y_sums, xy, xx if squares else None, yy if squares else None)


def dot_product(K: Array, L: Array) -> float:
    """Σ K∘L, short sums in the tiles' dtype and their total in double precision."""
    return float(np.einsum("ij,ij->i", K, L).sum(dtype=np.float64))


# Both sides with features ----------------------------------------------------------------------------------


def _factored(x: Gram, y: Gram, F: Factor, G: Factor, squares: bool) -> PairSums:
    """K = Fc Fcᵀ and L = Gc Gcᵀ with centred features, so that Σ K∘L = ‖Fcᵀ Gc‖² and row sums are zero."""
    n = F.shape[0]
    centred_x, centred_y = Centred(F), Centred(G)
    xy = float(np.sum(cross_product(centred_x, centred_y) ** 2))
    xx = float(np.sum(cross_product(centred_x, centred_x) ** 2)) if squares else None
    yy = float(np.sum(cross_product(centred_y, centred_y) ** 2)) if squares else None
    x_sums, y_sums = (
        SideSums(
            np.zeros(n),
            side.diagonal(),
            noise_of_centred(gram.dtype, float(np.abs(gram.diagonal()).max())),
            float(np.finfo(gram.dtype).eps),
        )
        for side, gram in ((centred_x, x), (centred_y, y))
    )
    return PairSums(n, x_sums, y_sums, xy, xx, yy)


class Centred:
    """Features minus their mean, a few rows at a time; sparse ones are left as they are where that is enough."""

    def __init__(self, factor: Factor) -> None:
        self.factor = factor
        self.n, self.m = factor.shape
        total = np.zeros(self.m)
        for rows in slices(self.n, _CHUNK_ROWS):
            total += np.asarray(factor.chunk_of(rows).sum(axis=0, dtype=np.float64)).ravel()
        self.mean = (total / self.n).astype(factor.dtype)

    def dense(self, rows: slice) -> Array:
        """Fc[rows]."""
        chunk = self.factor.chunk_of(rows)
        return (chunk.toarray() if issparse(chunk) else chunk) - self.mean

    def either(self, rows: slice) -> Matrix:
        """F[rows] where sparse, else Fc[rows]: the same in a product with something centred."""
        chunk = self.factor.chunk_of(rows)
        return chunk if issparse(chunk) else chunk - self.mean

    def diagonal(self) -> Array:
        """‖fc‖² of every row."""
        return np.concatenate(
            [squared_norms(self.dense(rows)).astype(np.float64) for rows in slices(self.n, _chunk_rows(self.m))]
        )


def cross_product(F: Centred, G: Centred) -> Array:
    """Fcᵀ Gc in double precision, shape (m_F, m_G)."""
    if F.m < G.m:
        F, G = G, F  # the narrower side is the one written out
    require_memory(8.0 * F.m * G.m, f"the {F.m}×{G.m} product of features", "use a kernel with fewer features")
    total = np.zeros((F.m, G.m))
    for rows in slices(F.n, _chunk_rows(G.m)):
        left = F.either(rows)
        total += left.T @ (left if F is G and not issparse(left) else G.dense(rows))
    return total


def _chunk_rows(m: int) -> int:
    return max(1, min(_CHUNK_ROWS, _DENSE_BYTES // (8 * m)))
