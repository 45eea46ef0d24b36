"""Features whose rows lie on the workers of a Dask cluster, and the Gram that is held by them.

What is as long as the data (products, degrees, the diagonal, eigenvectors) is a Dask array in the partitions of the
rows, computed when it is asked for; what is as wide as the features is NumPy's, summed over the partitions in a tree.
A worker computes the features of a partition a chunk at a time, so that its memory does not grow with the partition.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import cached_property, partial, reduce
from operator import add
from typing import Any

import numpy as np
from scipy.sparse import issparse

from gramian.configuration import require_memory
from gramian.grams.base import Gram, Index, Which, as_array, multiplier
from gramian.grams.eigen import dual_axes
from gramian.grams.features import Factor, FeatureGram, MatrixFactor, inner, scaled_rows, squared_norms, written_out
from gramian.grams.tiles import slices
from gramian.partitions import DistributedRows, in_lengths, is_distributed, reduced
from gramian.typing import Array, Matrix

Change = Callable[..., Matrix]
"""Another view of a chunk of features: the chunk, and what other arrays hold for its rows."""

_STRIP = 4096  # rows centred together
_NARROWER = (
    "Grams of a Dask input are held by features, of which this is none; use products, centered(), normalized(), "
    "weighted_centered() or eigenpairs(), or restricted() to some of the rows"
)


class DistributedFactor(Factor):
    """F of shape (n, m) in partitions of rows.

    Parameters
    ----------
    part : callable
        The features of one partition: its parts of ``arrays`` to a :class:`~gramian.grams.features.Factor`.
    arrays : tuple of dask.array.Array (n, ·)
        In the same partitions of known length, and one block wide.
    n_features : int
    dtype : numpy dtype
    dual : ndarray (m, m), optional
        Fᵀ F where it is known.
    origin : ndarray (m,), optional
        The mean that was taken off the features before, in float64.
    """

    def __init__(
        self,
        part: Callable[..., Factor],
        arrays: tuple[Any, ...],
        n_features: int,
        dtype: Any,
        dual: Array | None = None,
        origin: Array | None = None,
    ) -> None:
        super().__init__((int(arrays[0].shape[0]), n_features), dtype)
        self.part, self.arrays, self.origin = part, arrays, origin
        self._known_dual = dual
        self.lengths: tuple[int, ...] = arrays[0].chunks[0]

    @classmethod
    def of_rows(cls, part: Callable[[Array], Factor], rows: DistributedRows, n_features: int) -> DistributedFactor:
        """The features that ``part`` gives of a partition of rows."""
        return cls(part, (rows.array,), n_features, rows.dtype)

    # Sums over all rows, NumPy's -------------------------------------------------------------------------------

    def summed(self, function: Callable[..., Any], merge: Callable[[list[Any]], Any], *others: Any) -> Any:
        """What ``function`` makes of each partition's Factor and its parts of other arrays, merged in a tree."""
        return reduced(partial(_with_factor, function, self.part, len(self.arrays)), merge, *self.arrays, *others)

    def transposed_product(self, V: Any) -> Array:
        """Fᵀ V, shape (m, b), of a Dask array V in the same partitions, or of any V with n rows."""
        return np.asarray(self.summed(_transposed, _total, self.aligned(V)), self.dtype)

    def dual(self) -> Array:
        if self._known_dual is None:
            self._known_dual = np.asarray(self.summed(_dual, _total), self.dtype)
        return self._known_dual

    @cached_property
    def column_sums(self) -> Array:
        """Fᵀ 1, shape (m,), in float64."""
        return np.asarray(self.summed(_column_sums, _total))

    def spanned(self, W: Array) -> tuple[Array, Array, Array, Array]:
        """Of B = F W in one pass: Fᵀ B, Bᵀ B, and the smallest and largest entries of its columns."""
        found: tuple[Array, Array, Array, Array] = self.summed(partial(_spanned, W), _spanned_total)
        return found

    def moments(self, weights: Any = None) -> Moments:
        """Mean and scatter of the rows, which count by weights (n, 1) where there are some."""
        found: Moments = self.summed(_moments, _moments_total, *([] if weights is None else [weights]))
        return found

    # As long as the data, Dask's -------------------------------------------------------------------------------

    def mapped(self, function: Callable[[Factor], Array], width: int, dtype: Any = None) -> Any:
        """A Dask array (n, width) of what ``function`` gives for each partition's Factor."""
        import dask.array

        kind = np.dtype(dtype or self.dtype)
        apply = partial(_answered, function, self.part, width, kind)
        chunks = (self.lengths, (width,))
        return dask.array.map_blocks(apply, *self.arrays, chunks=chunks, dtype=kind, meta=np.empty((0, 0), kind))

    def product(self, W: Array) -> Any:
        """F W, a Dask array (n, b)."""
        return self.mapped(partial(_product, np.asarray(W, self.dtype)), W.shape[1])

    def rows(self) -> Any:
        """F itself, a Dask array (n, m)."""
        return self.mapped(_whole, self.shape[1])

    def squared_norms(self) -> Any:
        """‖f‖² of every row, a Dask array (n,)."""
        return self.mapped(_norms, 1)[:, 0]

    def aligned(self, V: Any) -> Any:
        """V of shape (n,) or (n, b) as a Dask array (n, b) in the partitions of the rows, in the features' dtype."""
        V = in_lengths(V, self.lengths, "V")
        return (V[:, None] if V.ndim == 1 else V).astype(self.dtype)

    # Other features --------------------------------------------------------------------------------------------

    def viewed(self, change: Change, *others: Any, **known: Any) -> DistributedFactor:
        """Features that are changed a chunk at a time, with the chunk's rows of other Dask arrays (n, 1)."""
        part = partial(_viewed, self.part, len(self.arrays), change)
        return DistributedFactor(part, (*self.arrays, *others), self.shape[1], self.dtype, **known)

    def centered(self, weights: Any = None) -> DistributedFactor:
        """√v (f − mean) of every row f, with the mean weighted by v (n, 1); the pass for it gives the dual too."""
        moments = self.moments(weights)
        change = partial(_less, moments.mean.astype(self.dtype))
        others = [] if weights is None else [weights]
        dual = moments.scatter.astype(self.dtype, copy=False)
        # A mean is rounded: where all rows are alike, what differs from it is that and nothing else.
        rounding = 10 * float(np.finfo(self.dtype).eps)
        if np.trace(moments.scatter) <= moments.weight * rounding**2 * (moments.mean @ moments.mean):
            dual = np.zeros_like(dual)
        return self.viewed(change, *others, dual=dual, origin=moments.mean)

    def chunk_of(self, rows: Index) -> Matrix:
        """The features of some rows, brought into memory."""
        import dask

        wanted = np.arange(*rows.indices(self.shape[0])) if isinstance(rows, slice) else as_array(rows)
        ends = np.cumsum(self.lengths)
        home = np.searchsorted(ends, wanted, side="right")
        starts = np.concatenate([[0], ends])
        blocks = list(zip(*(array.to_delayed().ravel() for array in self.arrays), strict=True))
        picked = [
            dask.delayed(_picked)(self.part, wanted[home == place] - starts[place], *blocks[place])
            for place in np.unique(home)
        ]
        out = np.empty((len(wanted), self.shape[1]), self.dtype)
        for place, found in zip(np.unique(home), dask.compute(*picked), strict=True):
            out[home == place] = found
        return out

    def restricted(self, index: Array) -> Factor:
        """The features of some samples, in memory."""
        k, m = len(index), self.shape[1]
        require_memory(float(k) * m * self.dtype.itemsize, f"the {k}×{m} array of features", "choose fewer samples")
        return MatrixFactor(self.chunk_of(index))


@dataclass
class Moments:
    """Weight, mean (m,) and scatter Σ v (f − mean)(f − mean)ᵀ of rows, kept about their mean as they are merged.

    What :class:`gramian.landmarks.primal.NormalEquations` sums for features with targets, below the kernels.
    """

    weight: float
    mean: Array
    scatter: Array

    def merged(self, other: Moments) -> Moments:
        """Those of both sets of rows."""
        weight = self.weight + other.weight
        if weight == 0:
            return self
        apart = other.mean - self.mean
        scatter = self.scatter + other.scatter
        scatter += (self.weight * other.weight / weight) * np.outer(apart, apart)
        return Moments(weight, self.mean + (other.weight / weight) * apart, scatter)


class DistributedGram(FeatureGram):
    """K = F Fᵀ of rows in partitions. Products, degrees, the diagonal and eigenvectors are Dask arrays.

    Views are other features of the same rows, so they are Grams of this kind; what has no features is refused.

    Parameters
    ----------
    factor : DistributedFactor
    """

    on_workers = True
    _factor: DistributedFactor

    def __init__(self, factor: DistributedFactor) -> None:
        super().__init__(factor)

    @property
    def factor(self) -> DistributedFactor:
        return self._factor

    def dot(self, x: Any) -> Any:
        """K x, a Dask array, for x of shape (n,) or (n, b); SciPy would make one array of a Dask one."""
        if not is_distributed(x):
            x = np.asarray(x)
        if x.ndim not in (1, 2) or x.shape[0] != self.shape[0]:
            raise ValueError(f"dimension mismatch: x has shape {x.shape}; pass {self.shape[0]} rows")
        out = self._product(x)
        return out[:, 0] if x.ndim == 1 else out

    matvec = matmat = rmatvec = rmatmat = dot

    def _rdot(self, x: Any) -> Any:
        return self.dot(x.T).T

    def degrees(self) -> Any:
        """Row sums K 1."""
        return self._factor.product(self._factor.column_sums[:, None])[:, 0]

    def form(self, A: Any, B: Any) -> Array:
        """Aᵀ K B, in one pass."""
        import dask.array

        both = self._factor.transposed_product(dask.array.hstack([self._factor.aligned(V) for V in (A, B)]))
        width = A.shape[1]
        return np.asarray(both[:, :width].T @ both[:, width:])

    def hold_some(self, most: float) -> FeatureGram:
        return self  # the workers' memory is theirs

    def eigenpairs(
        self,
        k: int,
        which: Which = "largest",
        *,
        tol: float | None = None,
        known: Any = None,
        method: str = "auto",
        random_state: Any = 0,
    ) -> tuple[Array, Any]:
        """The leading eigenvalues, and eigenvectors as a Dask array; fewer than k where the rank is lower.

        They come from the m×m dual, so ``tol`` and ``random_state`` have no say.
        """
        values, axes = self.eigenaxes(k, which, known=known, method=method)
        return values, self._factor.product(axes)

    def eigenaxes(
        self, k: int, which: Which = "largest", *, known: Any = None, method: str = "auto"
    ) -> tuple[Array, Array]:
        """The leading eigenvalues and axes A (m, k) such that F A are the eigenvectors; neither is on workers."""
        if which not in ("largest", "magnitude") or known is not None or method not in ("auto", "dual"):
            raise ValueError(
                f"which={which!r}, method={method!r}: a Dask input has only its largest eigenvalues computed, by "
                "method='dual' and without known vectors; use a Gram in memory for others"
            )
        n = self.shape[0]
        if not 1 <= k <= n:
            raise ValueError(f"k={k} eigenpairs asked of {n}; pass 1 <= k <= {n}")
        if not np.isfinite(self._factor.dual()).all():
            raise ValueError(
                f"products of the features of X overflow {self.dtype}; scale the columns, for instance by X.std(axis=0)"
            )
        values, axes = dual_axes(self._factor, k)
        return values.astype(self.dtype, copy=False), axes.astype(self.dtype, copy=False)

    # Views -----------------------------------------------------------------------------------------------------

    def centered(self) -> DistributedGram:
        return DistributedGram(self._factor.centered())

    def weighted_centered(self, weights: Any) -> DistributedGram:
        return DistributedGram(self._factor.centered(self._checked_weights(weights)))

    def _checked_weights(self, weights: Any) -> Any:
        n = self.shape[0]
        given = weights if is_distributed(weights) else np.asarray(weights)
        shape = given.shape
        good = shape == (n,)
        if good:
            low, high = reduced(_range, _wider, in_lengths(given, self._factor.lengths, "weights"))
            good = bool(low >= 0 and 0 < high < np.inf)
        if not good:
            raise ValueError(f"weights must be {n} finite values >= 0, not all zero; got shape {shape}")
        return self._factor.aligned(given)

    def normalized(self) -> DistributedGram:
        """D^-½ K D^-½; a chunk of features tells the degrees of its rows by the column sums."""
        sums = self._factor.column_sums
        low, high = self._factor.summed(partial(_range_of_degrees, sums), _wider)
        if low < -100 * float(np.finfo(self.dtype).eps) * max(abs(low), abs(high)):
            raise ValueError(
                "the kernel gives negative similarities, so it defines no walk on the samples; use one with values "
                ">= 0, such as kernel='rbf'"
            )
        return DistributedGram(self._factor.viewed(partial(_by_degrees, sums)))

    def scaled(self, c: float) -> DistributedGram:
        c = multiplier(c, self.dtype)
        if c < 0:
            raise TypeError(_NARROWER)
        return DistributedGram(self._factor.viewed(partial(_times, np.sqrt(c))))

    def shifted(self, shift: float | Array) -> Gram:
        raise TypeError(_NARROWER)

    def deflated(self, scores: Array) -> Gram:
        raise TypeError(_NARROWER)

    def with_diagonal(self, diagonal: float | Array) -> Gram:
        raise TypeError(_NARROWER)

    def factorization(self, *arguments: Any, **options: Any) -> Any:
        raise TypeError(_NARROWER)

    def signature(self, k: int | None = None) -> Any:
        raise TypeError(_NARROWER)

    # Hooks -----------------------------------------------------------------------------------------------------

    def _product(self, V: Any) -> Any:
        return self._factor.product(self._factor.transposed_product(V))

    def _diagonal(self) -> Any:
        return self._factor.squared_norms()

    def _rows(self, index: Array) -> Any:
        return self._factor.product(np.ascontiguousarray(self._factor.chunk_of(index).T)).T

    def _dense(self) -> Array:
        F = self._factor.chunk_of(slice(0, self.shape[0]))
        return np.asarray(F @ F.T)


# Work on one partition: pure functions of its Factor ------------------------------------------------------------------


def _with_factor(function: Callable[..., Any], part: Callable[..., Factor], count: int, *arrays: Array) -> Any:
    return function(part(*arrays[:count]), *arrays[count:])


def _answered(
    function: Callable[[Factor], Array], part: Callable[..., Factor], width: int, dtype: Any, *arrays: Array
) -> Array:
    if not len(arrays[0]):
        return np.empty((0, width), dtype)
    return function(part(*arrays)).astype(dtype, copy=False)


def _product(W: Array, factor: Factor) -> Array:
    return factor.product(W)


def _whole(factor: Factor) -> Array:
    return written_out(factor.chunk_of(slice(0, factor.shape[0])))


def _norms(factor: Factor) -> Array:
    return np.concatenate([squared_norms(chunk) for _, chunk in factor.chunks()])[:, None]


def _picked(part: Callable[..., Factor], index: Array, *arrays: Array) -> Array:
    found = part(*(array[index] for array in arrays)).chunk_of(slice(0, len(index)))
    return found.toarray() if issparse(found) else np.asarray(found)


def _transposed(factor: Factor, V: Array) -> Array:
    return _sum(inner(chunk, V[rows]) for rows, chunk in factor.chunks())


def _dual(factor: Factor) -> Array:
    return _sum(inner(chunk, chunk) for _, chunk in factor.chunks())


def _column_sums(factor: Factor) -> Array:
    return _sum(np.asarray(chunk.sum(axis=0, dtype=np.float64)).ravel() for _, chunk in factor.chunks())


def _spanned(W: Array, factor: Factor) -> tuple[Array, Array, Array, Array]:
    W = W.astype(factor.dtype, copy=False)
    found = []
    for _, chunk in factor.chunks():
        B = np.asarray(chunk @ W)
        found.append((inner(chunk, B), inner(B, B), B.min(axis=0), B.max(axis=0)))
    return _spanned_total(found)


def _spanned_total(parts: list[tuple[Array, Array, Array, Array]]) -> tuple[Array, Array, Array, Array]:
    images, squares, low, high = zip(*parts, strict=True)
    return _total(list(images)), _total(list(squares)), np.min(low, axis=0), np.max(high, axis=0)


def _moments(factor: Factor, weights: Array | None = None) -> Moments:
    found = []
    for rows, chunk in factor.chunks():
        for piece in slices(rows.stop - rows.start, _STRIP):
            v = None if weights is None else weights[rows][piece, 0].astype(np.float64)
            found.append(_moments_of(written_out(chunk[piece]), v))
    return _moments_total(found)


def _moments_of(F: Array, v: Array | None) -> Moments:
    """Those of a strip, centred before it is multiplied, in its own dtype."""
    weight = float(len(F) if v is None else v.sum())
    shares = np.full(len(F), 1 / len(F)) if v is None else v / (weight or 1.0)
    # From a row of its own the mean of equal rows is exact, however the products are added up.
    first = F[0].astype(np.float64) * (weight > 0)
    mean = np.asarray(first + shares @ (F - first))
    near = mean.astype(F.dtype)
    F = F - near
    if v is not None:
        F *= np.sqrt(v).astype(F.dtype)[:, None]
    # A mean rounded to float32 is not the mean: the scatter about it is moved to the true one.
    off = mean - near
    return Moments(weight, mean, inner(F, F) - weight * np.outer(off, off))


def _moments_total(parts: list[Moments]) -> Moments:
    return reduce(Moments.merged, parts)


def _range(part: Array) -> tuple[float, float]:
    return float(part.min()), float(part.max())


def _range_of_degrees(sums: Array, factor: Factor) -> tuple[float, float]:
    return _range(factor.product(sums[:, None].astype(factor.dtype)))


def _wider(parts: list[tuple[float, float]]) -> tuple[float, float]:
    lows, highs = zip(*parts, strict=True)
    # NaN stays NaN, whatever stands beside it.
    return float(np.min(lows)), float(np.max(highs))


def _total(parts: list[Array]) -> Array:
    return reduce(add, parts)


def _sum(parts: Iterator[Array]) -> Array:
    return _total(list(parts))


# Other features of the same rows --------------------------------------------------------------------------------------


class _ViewedPart(Factor):
    """A partition's features, changed a chunk at a time."""

    def __init__(self, base: Factor, change: Change, others: tuple[Array, ...]) -> None:
        super().__init__(base.shape, base.dtype)
        self.base, self.change, self.others = base, change, others

    def chunk_of(self, rows: Index) -> Matrix:
        return self.change(self.base.chunk_of(rows), *(other[rows] for other in self.others))


def _viewed(part: Callable[..., Factor], count: int, change: Change, *arrays: Array) -> Factor:
    return _ViewedPart(part(*arrays[:count]), change, arrays[count:])


def _less(mean: Array, chunk: Matrix, weights: Array | None = None) -> Array:
    centred = written_out(chunk) - mean
    return centred if weights is None else np.sqrt(weights) * centred


def _by_degrees(sums: Array, chunk: Matrix) -> Matrix:
    degrees = np.asarray(chunk @ sums.astype(chunk.dtype))
    positive = degrees > 0
    return scaled_rows(chunk, np.where(positive, 1.0, 0.0) / np.sqrt(np.where(positive, degrees, 1.0)))


def _times(c: float, chunk: Matrix) -> Matrix:
    return chunk * c
