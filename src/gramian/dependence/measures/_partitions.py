"""The Grams of two samples whose rows lie on the workers of a Dask cluster, and the sums over their pairs.

Both are held by features, so all sums over pairs are small products of them, one pass over the partitions each.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial, reduce
from typing import Any

import numpy as np
from scipy.sparse import csr_array

from gramian.dependence.measures._pair_sums import PairSums, Side, noise_of_centred, pair_sums
from gramian.grams import Gram
from gramian.grams.distributed import DistributedFactor, DistributedGram
from gramian.grams.features import Factor, MatrixFactor, inner, squared_norms, written_out
from gramian.grams.tiles import slices
from gramian.kernels import Kernel
from gramian.partitions import DistributedRows, in_lengths, is_distributed, reduced, with_lengths
from gramian.typing import Array

_STRIP = 4096  # rows centred together


def refuse_pairs_of_partitions(X: Any, Y: Any, name: str, value: str, instead: str) -> None:
    """An error for Dask inputs where rows of all partitions would meet."""
    if is_distributed(X) or is_distributed(Y):
        raise TypeError(
            f"{name}={value!r} brings rows of all partitions of a Dask input together; pass {name}={instead}, which is "
            "a sum over them, or some of the rows in memory"
        )


def lengths_of(X: Any, Y: Any) -> tuple[int, ...]:
    """The partitions of the side that is Dask's, the first if both are."""
    given = with_lengths(X if is_distributed(X) else Y)
    lengths: tuple[int, ...] = given.chunks[0]
    return lengths


def in_partitions(data: Any, name: str, lengths: tuple[int, ...]) -> Any:
    """One side as a Dask array (n, d) in partitions of these lengths; a vector is a table of one column."""
    array = in_lengths(data, lengths, name)
    return array[:, None] if array.ndim == 1 else array


def refuse_without_features(kernel: Kernel, name: str, choice: Any) -> None:
    """An error where rows in partitions have no features to be held by."""
    if not (kernel.has_features or kernel.has_many_features):
        raise TypeError(
            f"kernel_{name.lower()}={choice!r} has no finite features, and the n×n similarities of a Dask input fit in "
            "no memory; pass approximation='nystroem'"
        )


def partition_gram(rows: DistributedRows, name: str, kernel: Kernel) -> DistributedGram:
    """The Gram of one side, with the kernel fitted on a sample of the rows."""
    low, high = rows.reduced(_ends, _wider)
    if np.array_equal(low, high):  # whatever the kernel, all similarities are equal
        return DistributedGram(DistributedFactor.of_rows(_ones, rows, 1))
    try:
        kernel._fitted(rows.sample())
    except ValueError as error:
        raise ValueError(f"{name}: {error}") from error
    return DistributedGram(kernel._distributed_factor(rows))


def partition_labels(labels: Any, name: str, check: Callable[[Array, str], Array]) -> DistributedGram:
    """The Gram of the kernel 1[y = y'], by the indicators of the categories; ``check`` refuses what is no label."""
    if labels.shape[1] != 1:
        raise ValueError(f"{name} has shape {labels.shape}; labels are a vector with one category per sample")
    names = np.asarray(reduced(partial(_distinct, check, name), _all_distinct, labels, name=name))
    part = partial(_indicators, names)
    return DistributedGram(DistributedFactor(part, (labels,), len(names), np.float64))


def sums_of_pairs(x: Gram, y: Gram, *, squares: bool) -> PairSums:
    """The sums of two Grams of the same samples, in memory or on workers."""
    if x.on_workers:
        return partition_sums(x, y, squares=squares)
    return pair_sums(x, y, squares=squares)


@dataclass(frozen=True)
class PartitionSide(Side):
    """One of two Grams of centred features, whose row sums are zero and whose diagonals stay on the workers.

    Attributes
    ----------
    place : int
        0 for X, 1 for Y.
    count : int
        n.
    traces : ndarray (2,)
        Sums of the diagonals of both.
    products : ndarray (2, 2)
        Products of the diagonals of both.
    """

    place: int
    count: int
    traces: Array
    products: Array
    noise: float
    eps: float

    @property
    def n(self) -> int:
        return self.count

    def row_products(self, other: PartitionSide) -> tuple[float, float, float]:
        return 0.0, 0.0, 0.0

    def off_diagonal_products(self, other: PartitionSide) -> tuple[float, float, float, float]:
        product = float(self.products[self.place, other.place])
        return product, -float(self.traces[self.place]), -float(self.traces[other.place]), product

    def centred_trace(self) -> tuple[float, float]:
        return float(self.traces[self.place]), float(self.products[self.place, self.place])


def partition_sums(x: Any, y: Any, *, squares: bool) -> PairSums:
    """The sums over all pairs of centred features, from a pass over each side and one over both."""
    n, grams = x.shape[0], (x, y)
    moments = [gram.factor.moments() for gram in grams]
    means = [found.mean.astype(gram.dtype) for found, gram in zip(moments, grams, strict=True)]
    joint = x.factor.summed(partial(_together, means, y.factor.part), _together_total, *y.factor.arrays)
    noises = [noise_of_centred(gram.dtype, float(size)) for gram, size in zip(grams, joint.largest, strict=True)]
    sides = [
        PartitionSide(place, n, joint.traces, joint.products, noises[place], float(np.finfo(grams[place].dtype).eps))
        for place in range(2)
    ]
    xx, yy = (float(np.sum(found.scatter**2)) if squares else None for found in moments)
    return PairSums(n, sides[0], sides[1], float(np.sum(joint.crossed**2)), xx, yy)


@dataclass
class _Together:
    """Fcᵀ Gc, and of the centred diagonals the sums and products; the largest entries of those of K and L."""

    crossed: Array
    traces: Array
    products: Array
    largest: Array

    def merged(self, other: _Together) -> _Together:
        return _Together(
            self.crossed + other.crossed,
            self.traces + other.traces,
            self.products + other.products,
            np.maximum(self.largest, other.largest),
        )


def _together(means: list[Array], other: Callable[..., Factor], factor: Factor, *arrays: Array) -> _Together:
    sides = factor, other(*arrays)
    found = []
    for rows in slices(factor.shape[0], min(_STRIP, *(side.chunk_length for side in sides))):
        chunks = [written_out(side.chunk_of(rows)) for side in sides]
        largest = np.array([squared_norms(chunk).max() for chunk in chunks], np.float64)
        F, G = (chunk - mean for chunk, mean in zip(chunks, means, strict=True))
        diagonals = np.stack([squared_norms(F), squared_norms(G)]).astype(np.float64)
        found.append(_Together(inner(F, G), diagonals.sum(axis=1), diagonals @ diagonals.T, largest))
    return _together_total(found)


def _together_total(parts: list[_Together]) -> _Together:
    return reduce(_Together.merged, parts)


def _ends(part: Array) -> tuple[Array, Array]:
    return part.min(axis=0), part.max(axis=0)


def _wider(parts: list[tuple[Array, Array]]) -> tuple[Array, Array]:
    lows, highs = zip(*parts, strict=True)
    return np.min(lows, axis=0), np.max(highs, axis=0)


def _ones(part: Array) -> Factor:
    return MatrixFactor(np.ones((len(part), 1), part.dtype))


def _distinct(check: Any, name: str, part: Array) -> Array:
    return np.unique(check(part[:, 0], name))


def _all_distinct(parts: list[Array]) -> Array:
    return np.unique(np.concatenate(parts))


def _indicators(names: Array, part: Array) -> Factor:
    codes = np.searchsorted(names, part[:, 0])
    n = len(codes)
    return MatrixFactor(csr_array((np.ones(n), codes, np.arange(n + 1)), shape=(n, len(names))))
