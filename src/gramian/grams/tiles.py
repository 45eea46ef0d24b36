"""Kernel blocks computed tile by tile, on several threads, with a bounded temporary.

A tile is small enough to stay in the processor's cache between its GEMM, its exponential and its use, and the
threads share nothing but the output, so the cost is that of the arithmetic. Everything that touches a kernel
matrix without storing it (lazy Grams, out-of-sample expansions) and everything that does store it (dense Grams)
goes through here.
"""

from __future__ import annotations

import os
import threading
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import ThreadPoolExecutor, wait
from functools import cache
from itertools import combinations_with_replacement
from typing import Any, Protocol

import numpy as np
from threadpoolctl import ThreadpoolController

from gramian.configuration import threads
from gramian.typing import Array, Matrix

TILE_BYTES = 4 * 2**20
_SERIAL_ENTRIES = 2**18  # below this many kernel values starting threads costs more than it saves
_inside_worker = threading.local()


class TileKernel(Protocol):
    """What a kernel offers to be evaluated tile by tile."""

    def _sides(self, X: Matrix, Y: Matrix) -> tuple[Any, Any]: ...
    def _tile(self, left: Any, right: Any) -> Array: ...
    def _diagonal(self, X: Matrix) -> Array: ...


class _OneBlasThread:
    """Holds BLAS to one thread while any caller is inside; the last one out gives its threads back.

    The limit is the process's, so callers on several threads would otherwise restore each other's limits.
    """

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._inside = 0
        self._controller: ThreadpoolController | None = None

    def __enter__(self) -> None:
        with self._lock:
            self._inside += 1
            if self._inside == 1:
                self._controller = self._controller or ThreadpoolController()
                self._limit = self._controller.limit(limits=1, user_api="blas")

    def __exit__(self, *exception: object) -> None:
        with self._lock:
            self._inside -= 1
            if self._inside == 0:
                self._limit.restore_original_limits()


_one_blas_thread = _OneBlasThread()


def run_threaded(
    work: Callable[[Any], None], tasks: Iterable[Any], *, entries: float, n_workers: int | None = None
) -> None:
    """Call ``work`` for every task, on threads when ``entries`` kernel values are worth it.

    BLAS is held to one thread meanwhile: the tiles are the parallelism. A call from inside a worker runs
    serially, so nested use neither deadlocks nor oversubscribes. ``n_workers`` is by default the library's setting.
    """
    n_workers = threads() if n_workers is None else n_workers
    if n_workers == 1 or entries < _SERIAL_ENTRIES or getattr(_inside_worker, "yes", False):
        for task in tasks:
            work(task)
        return

    with _one_blas_thread:
        running = [_pool(n_workers).submit(work, task) for task in tasks]
        try:
            for part in running:
                part.result()
        finally:  # nothing is still written when an error is told
            for part in running:
                part.cancel()
            wait(running)


@cache
def _pool(n_workers: int) -> ThreadPoolExecutor:
    """Threads that wait for work: new ones for every call would cost more than many a call, above all in memory."""
    return ThreadPoolExecutor(n_workers, "gramian", initializer=_enter)


def _enter() -> None:
    _inside_worker.yes = True


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_pool.cache_clear)  # a copy of the process has no threads


def slices(n: int, length: int) -> Iterator[slice]:
    """Consecutive slices of at most ``length`` that cover ``range(n)``."""
    for start in range(0, n, length):
        yield slice(start, min(start + length, n))


def _edge(itemsize: int) -> int:
    """Side of a square tile of about ``TILE_BYTES``."""
    return int((TILE_BYTES / itemsize) ** 0.5)


def block(kernel: TileKernel, X: Matrix, Y: Matrix | None, dtype: np.dtype[Any]) -> Array:
    """The dense block K(X, Y); with ``Y=None`` exactly symmetric, at half the cost."""
    if Y is not None:
        return rectangle(kernel, *kernel._sides(X, Y), (X.shape[0], Y.shape[0]), dtype)

    out = np.empty((X.shape[0], X.shape[0]), dtype)
    pairs, tile_of = _upper_tiles(kernel, X, out.itemsize)

    def mirror(pair: tuple[slice, slice]) -> None:
        rows, columns = pair
        tile = tile_of(pair)
        out[rows, columns] = tile
        out[columns, rows] = tile.T

    run_threaded(mirror, pairs, entries=out.size)
    return out


def rectangle(kernel: TileKernel, left: Any, right: Any, shape: tuple[int, int], dtype: np.dtype[Any]) -> Array:
    """The dense block of two prepared sides, as a new array of the shape (rows of left, rows of right)."""
    edge = _edge(np.dtype(dtype).itemsize)
    if 0 < shape[0] * shape[1] <= edge * edge:  # one tile: cut and copied it would cost a fifth more
        return np.asarray(kernel._tile(left, right), dtype)
    out = np.empty(shape, dtype)

    def fill(rows: slice) -> None:
        for columns in slices(out.shape[1], 4 * edge):
            out[rows, columns] = kernel._tile(left[rows], right[columns])

    run_threaded(fill, list(slices(out.shape[0], max(1, edge // 4))), entries=out.size)
    return out


def product(kernel: TileKernel, X: Matrix, Y: Matrix, V: Array) -> Array:
    """K(X, Y) @ V without the block; V is (n_Y, b)."""
    out = np.empty((X.shape[0], V.shape[1]), V.dtype)
    left, right = kernel._sides(X, Y)
    edge = _edge(out.itemsize)

    def accumulate(rows: slice) -> None:
        total = np.zeros((rows.stop - rows.start, V.shape[1]), V.dtype)
        for columns in slices(Y.shape[0], edge):
            total += kernel._tile(left[rows], right[columns]) @ V[columns]
        out[rows] = total

    # Short strips when there are few rows, so that every thread gets some.
    length = max(1, min(edge, -(-X.shape[0] // (4 * threads()))))
    run_threaded(accumulate, list(slices(X.shape[0], length)), entries=float(X.shape[0]) * Y.shape[0])
    return out


def gram_product(kernel: TileKernel, X: Matrix, V: Array) -> Array:
    """K(X, X) @ V without the block, each tile above the diagonal evaluated once and used twice."""
    pairs, tile_of = _upper_tiles(kernel, X, V.itemsize)
    # One total per share of the tiles, shares dealt out beforehand: the sum is the same in every run.
    totals = [np.zeros_like(V) for _ in range(threads())]

    def accumulate(share: int) -> None:
        total = totals[share]
        for rows, columns in pairs[share :: len(totals)]:
            tile = tile_of((rows, columns))
            total[rows] += tile @ V[columns]
            if rows != columns:
                total[columns] += tile.T @ V[rows]

    run_threaded(accumulate, range(len(totals)), entries=float(X.shape[0]) ** 2)
    for other in totals[1:]:
        totals[0] += other
    return totals[0]


def _upper_tiles(
    kernel: TileKernel, X: Matrix, itemsize: int
) -> tuple[list[tuple[slice, slice]], Callable[[tuple[slice, slice]], Array]]:
    """The (rows, columns) of all tiles on and above the diagonal, and the function that evaluates one."""
    n = X.shape[0]
    left, right = kernel._sides(X, X)
    diagonal = kernel._diagonal(X)

    def tile_of(pair: tuple[slice, slice]) -> Array:
        rows, columns = pair
        tile = kernel._tile(left[rows], right[columns])
        if rows == columns:
            # Rounding in the GEMM leaves k(x, y) and k(y, x) an ulp apart and k(x, x) off its exact value.
            tile = (tile + tile.T) / 2
            np.fill_diagonal(tile, diagonal[rows])
        return tile

    edge = max(1, min(_edge(itemsize), -(-n // (2 * threads()))))
    return list(combinations_with_replacement(slices(n, edge), 2)), tile_of
