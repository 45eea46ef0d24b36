"""Unbiased HSIC of many small blocks of samples: an estimate in linear time, with its standard error."""

from __future__ import annotations

import numpy as np

from gramian.dependence.measures._pair_sums import Tiles
from gramian.grams import Gram
from gramian.grams.tiles import run_threaded, slices
from gramian.typing import Array

_STRIP = 128  # samples compared with each other at once, of which only the blocks on the diagonal are used


def block_values(x: Gram, y: Gram, block_size: int, rng: np.random.Generator) -> Array:
    """The unbiased HSIC of every block of ``block_size`` samples, blocks drawn at random.

    Parameters
    ----------
    x, y : Gram (n, n)
    block_size : int
        At least 4. The n mod block_size samples that fill no block are left out.
    rng : numpy.random.Generator

    Returns
    -------
    values : ndarray (n // block_size,)
        Independent of each other and equally distributed, if the samples are.
    """
    n_blocks = x.shape[0] // block_size
    # Tables are often sorted, and a block of one class would know nothing of dependence.
    order = rng.permutation(x.shape[0])[: n_blocks * block_size]
    sides = Tiles(x), Tiles(y)
    values = np.empty(n_blocks)

    def fill(some: slice) -> None:
        index = order[some.start * block_size : some.stop * block_size]
        K, L = (_diagonal_blocks(side(index, index), block_size) for side in sides)
        found = _unbiased(K, L)
        # Where no two samples are alike, or all are, only rounding is left. Its mean over blocks is not zero, and a
        # test would take it for dependence.
        values[some] = np.where(np.abs(found) > _noise(K, L, *sides), found, 0.0)

    length = max(1, _STRIP // block_size)
    entries = float(n_blocks) * length * block_size**2
    run_threaded(fill, list(slices(n_blocks, length)), entries=entries)
    return values


def _diagonal_blocks(tile: Array, size: int) -> Array:
    """The square blocks along the diagonal of a tile, (b, size, size), with zeros on their diagonals."""
    count = len(tile) // size
    every = np.arange(count)
    blocks = tile.reshape(count, size, count, size)[every, :, every].astype(np.float64)
    blocks[:, np.arange(size), np.arange(size)] = 0
    return blocks


def _noise(K: Array, L: Array, x: Tiles, y: Tiles) -> Array:
    """The rounding error of the estimate from each pair of matrices."""
    size_x, size_y = (np.sqrt(np.einsum("bij,bij->b", M, M)) / M.shape[1] for M in (K, L))
    return np.asarray(x.noise * size_y + y.noise * size_x + 10 * max(x.eps, y.eps) * size_x * size_y)


def _unbiased(K: Array, L: Array) -> Array:
    """[Σ K∘L + (ΣK)(ΣL)/((n−1)(n−2)) − 2/(n−2) r·s] / (n(n−3)) of each pair of matrices with zero diagonals."""
    n = K.shape[1]
    r, s = K.sum(axis=2), L.sum(axis=2)
    products = np.einsum("bij,bij->b", K, L)
    products += r.sum(axis=1) * s.sum(axis=1) / ((n - 1) * (n - 2))
    products -= 2 / (n - 2) * np.einsum("bi,bi->b", r, s)
    return products / (n * (n - 3))
