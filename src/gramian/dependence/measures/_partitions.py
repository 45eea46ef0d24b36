"""The Grams of two samples whose rows lie on the workers of a Dask cluster, and the sums over their pairs.

Both are held by features, so all sums over pairs are small products of them, one pass over the partitions each.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np
from scipy.sparse import csr_array

from gramian.dependence.measures._pair_sums import PairSums, SideSums, noise_of_centred, pair_sums
from gramian.distributed import DistributedRows, in_lengths, is_distributed, reduced
from gramian.grams import Gram
from gramian.grams.distributed import DistributedFactor, DistributedGram
from gramian.grams.features import Factor, MatrixFactor
from gramian.kernels import Kernel
from gramian.typing import Array


def refuse_pairs_of_partitions(X: Any, Y: Any, name: str, value: str, instead: str) -> None:
    """An error for Dask inputs where rows of all partitions would meet."""
    if is_distributed(X) or is_distributed(Y):
        raise TypeError(
            f"{name}={value!r} brings rows of all partitions of a Dask input together; pass {name}={instead}, which is "
            "a sum over them, or some of the rows in memory"
        )


def lengths_of(X: Any, Y: Any) -> tuple[int, ...]:
    """The partitions of the side that is Dask's, the first if both are."""
    given = _array_of(X if is_distributed(X) else Y)
    lengths: tuple[int, ...] = given.chunks[0]
    return lengths


def in_partitions(data: Any, name: str, lengths: tuple[int, ...]) -> Any:
    """One side as a Dask array (n, d) in partitions of these lengths; a vector is a table of one column."""
    array = in_lengths(data, lengths, name)
    return array[:, None] if array.ndim == 1 else array


def refuse_without_features(kernel: Kernel, name: str, choice: Any) -> None:
    """An error where rows in partitions have no features to be held by."""
    if not kernel.has_features:
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
    names = np.asarray(reduced(partial(_distinct, check, name), _all_distinct, labels))
    part = partial(_indicators, names)
    return DistributedGram(DistributedFactor(part, (labels,), len(names), np.float64))


def sums_of_pairs(x: Gram, y: Gram, *, squares: bool) -> PairSums:
    """The sums of two Grams of the same samples, in memory or on workers."""
    if x.on_workers:
        return partition_sums(x, y, squares=squares)
    return pair_sums(x, y, squares=squares)


def partition_sums(x: Any, y: Any, *, squares: bool) -> PairSums:
    """The sums of centred features over all pairs; see :func:`gramian.dependence.measures._pair_sums.pair_sums`.

    The diagonals stay on the workers: as what is to be computed, or, where they are asked for several times, in
    their memory.
    """
    import dask
    import dask.array

    n = x.shape[0]
    centred = x.centered(), y.centered()
    xy = float(np.sum(centred[0].factor.cross(centred[1].factor).astype(np.float64) ** 2))
    xx, yy = (float(np.sum(view.factor.dual().astype(np.float64) ** 2)) for view in centred)
    diagonals = tuple(view.diagonal().astype(np.float64) for view in centred)
    if squares:
        diagonals = dask.persist(*diagonals)
    zeros = dask.array.zeros_like(diagonals[0])
    sides = [
        SideSums(
            zeros,
            diagonal,
            noise_of_centred(gram.dtype, float(gram.diagonal().max())) if squares else 0.0,
            float(np.finfo(gram.dtype).eps),
        )
        for gram, diagonal in zip((x, y), diagonals, strict=True)
    ]
    return PairSums(n, sides[0], sides[1], xy, xx if squares else None, yy if squares else None)


def _array_of(X: Any) -> Any:
    array = X.to_dask_array(lengths=True) if hasattr(X, "to_dask_array") else X
    return array.compute_chunk_sizes() if any(np.isnan(length) for length in array.chunks[0]) else array


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
