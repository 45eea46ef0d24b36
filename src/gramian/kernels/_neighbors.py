"""Searching neighbours for :class:`~gramian.kernels.NeighborGraph`: among known rows, nearest or most similar."""

from __future__ import annotations

from collections.abc import Callable
from itertools import chain
from typing import Any

import numpy as np
from scipy.sparse import csr_array, vstack
from scipy.spatial import cKDTree
from sklearn.metrics.pairwise import euclidean_distances
from sklearn.neighbors import NearestNeighbors

from gramian.configuration import memory_budget, require_memory, threads
from gramian.grams import tiles
from gramian.kernels.base import Kernel
from gramian.typing import Array, Matrix

_TILE_ROWS, _TILE_COLUMNS = 256, 512
_TREE_FEATURES = 15  # beyond, a k-d tree visits most of the points and brute force by GEMM wins


class KnownRows:
    """Rows that others are connected to, and what has been found out about them.

    Attributes
    ----------
    rows : ndarray (n, d)
    first : ndarray (m,)
        Indices of the rows that occur for the first time.
    number : ndarray (n,)
        For every row the number of its first occurrence.
    distinct : ndarray (m, d)
        ``rows[first]``.
    graph : csr_array (n, n) or None
    bound : ndarray (m,) or None
        The distance, or similarity, of the last neighbour of each distinct row: it would name any row closer than that.
    features : array or None
        Those of the distinct rows, under the weighting kernel.
    """

    def __init__(self, rows: Matrix) -> None:
        self.rows = rows
        self.first, self.number = first_occurrences(rows)
        self.distinct = rows if len(self.first) == rows.shape[0] else rows[self.first]
        self.graph: csr_array | None = None
        self.bound: Array | None = None
        self.features: Matrix | None = None
        self._hashes: tuple[Array, Array] | None = None
        self._search: Any = None

    def columns(self, edges: csr_array) -> csr_array:
        """Edges to the distinct rows as edges to all of them."""
        if len(self.first) == self.rows.shape[0]:
            return edges
        shape = edges.shape[0], self.rows.shape[0]
        return csr_array((edges.data, self.first[edges.indices], edges.indptr), shape=shape)

    def find(self, X: Matrix) -> Array:
        """For each row of X the known row it is a copy of, by its first occurrence; −1 for a new one."""
        if self._hashes is None:
            hashes = row_hashes(_bits(self.distinct))
            order = np.argsort(hashes)
            self._hashes = hashes[order], order
        hashes, order = self._hashes
        bits = _bits(X.astype(self.rows.dtype, copy=False))
        candidates = order[np.minimum(np.searchsorted(hashes, row_hashes(bits)), len(order) - 1)]
        equal = (bits == _bits(self.distinct[candidates])).all(axis=1)
        return np.where(equal, self.first[candidates], -1)

    def nearest(self, X: Matrix, n_neighbors: int, own: Array | None = None) -> tuple[Array, Array, Array]:
        """Distances, indices and row pointers of the nearest of the distinct rows, the row ``own`` left out."""
        wanted = n_neighbors + (own is not None)
        by_tree = X.shape[1] <= _TREE_FEATURES
        if self._search is None:
            self._search = cKDTree(self.distinct) if by_tree else NearestNeighbors(algorithm="brute").fit(self.distinct)
        if by_tree:
            distances, index = self._search.query(X, k=np.arange(1, wanted + 1), workers=threads())
        else:
            distances, index = self._search.kneighbors(X, wanted)
        if own is not None:
            # Rounding may keep a row from finding itself: then the last neighbour goes.
            itself = index == own[:, None]
            itself[~itself.any(axis=1), -1] = True
            distances, index = distances[~itself], index[~itself]
        return distances.ravel(), index.ravel(), np.arange(0, index.size + 1, n_neighbors)

    def reached(self, X: Matrix) -> tuple[Array, Array, Array]:
        """Distances, indices and row pointers of the distinct rows to which X is closer than their last neighbour."""
        assert self.bound is not None
        if X.shape[1] <= _TREE_FEATURES:
            found = cKDTree(X).query_ball_point(self.distinct, self.bound, workers=threads(), return_sorted=False)
            columns = np.repeat(np.arange(len(found)), np.fromiter(map(len, found), np.intp, len(found)))
            rows = np.fromiter(chain.from_iterable(found), np.intp, len(columns))
            distances = np.linalg.norm(X[rows] - self.distinct[columns], axis=1)
        else:
            parts = []
            for part in tiles.slices(X.shape[0], max(1, tiles.TILE_BYTES // (8 * len(self.distinct)))):
                tile = euclidean_distances(X[part], self.distinct, squared=True)
                near = np.nonzero(tile < self.bound**2)
                parts.append((near[0] + part.start, near[1], np.sqrt(tile[near])))
            rows, columns, distances = (np.concatenate(piece) for piece in zip(*parts, strict=True))
        closer = np.flatnonzero(distances < self.bound[columns])
        closer = closer[np.argsort(rows[closer], kind="stable")]
        counts = np.bincount(rows[closer], minlength=X.shape[0])
        return distances[closer], columns[closer], np.concatenate([[0], np.cumsum(counts)])


def first_occurrences(X: Array) -> tuple[Array, Array]:
    """Indices of the rows that occur for the first time, and for every row the number of its first occurrence."""
    bits = _bits(X)
    _, first, number = np.unique(row_hashes(bits), return_index=True, return_inverse=True)
    number = number.ravel()
    if len(first) < len(bits) and not np.array_equal(bits[first[number]], bits):  # different rows, equal hashes
        _, first, number = np.unique(bits, axis=0, return_index=True, return_inverse=True)
        number = number.ravel()
    order = np.argsort(first)
    position = np.empty_like(order)
    position[order] = np.arange(len(order))
    return first[order], position[number]


def _bits(X: Array) -> Array:
    """Rows as whole numbers that are equal where the rows are."""
    rows = np.ascontiguousarray(X) + X.dtype.type(0)  # −0 and 0 are equal
    rows[np.isnan(rows)] = np.nan  # so are all kinds of NaN
    return rows.view(np.uint64 if rows.itemsize == 8 else np.uint32)


def row_hashes(bits: Array) -> Array:
    """A number for each row that equal rows share; sorting numbers is far faster than sorting rows."""
    multipliers = np.random.default_rng(0).integers(2**63, size=(2, bits.shape[1]), dtype=np.uint64) | np.uint64(1)
    mixed = bits.astype(np.uint64)
    for multiplier in multipliers:  # small whole numbers differ in their leading bits only
        mixed ^= mixed >> np.uint64(32)
        mixed *= multiplier
    return mixed.sum(axis=1, dtype=np.uint64)


def within(X: Array, Y: Array, radius: float, *, same: bool) -> tuple[Array, Array, Array]:
    """Distances, column indices and row pointers of all pairs closer than ``radius``."""
    search = NearestNeighbors(radius=radius).fit(Y)
    parts, total = [], 0
    for rows in tiles.slices(X.shape[0], 1000):
        part = search.radius_neighbors_graph(X[rows], mode="distance").tocsr()
        total += part.nnz
        require_memory(
            24.0 * total, f"the graph of all pairs within radius={radius:g}", "use a smaller radius or n_neighbors"
        )
        parts.append(part)
    graph = vstack(parts, "csr")
    owner = np.repeat(np.arange(X.shape[0]), np.diff(graph.indptr))
    keep = (graph.data < radius) & ~(same & (owner == graph.indices))
    indptr = np.concatenate([[0], np.cumsum(np.bincount(owner[keep], minlength=X.shape[0]))])
    return graph.data[keep], graph.indices[keep], indptr


def most_similar(
    kernel: Kernel,
    X: Matrix,
    Y: Matrix,
    n_neighbors: int,
    *,
    own: Array | None = None,
    bound: Array | None = None,
    sides: tuple[Any, Any] | None = None,
) -> tuple[csr_array, csr_array]:
    """Edges from X to the most similar of the distinct rows Y, and to those whose ``bound`` is passed.

    The values come in tiles. The row ``own`` is left out; ``sides`` are X and Y as the kernel prepares them, where that
    has been done.
    """
    n, m = X.shape[0], Y.shape[0]
    index = np.zeros((n, n_neighbors), np.intp)
    weights = np.full((n, n_neighbors), -np.inf, X.dtype)
    passed: list[tuple[Array, Array, Array]] = []
    if sides is None and float(n) * m * X.dtype.itemsize <= memory_budget() / 4:
        whole = kernel._block(X, None if X is Y else Y)  # in one go, which saves work for symmetric blocks
        tile_of: Callable[[slice, slice], Array] = lambda rows, columns: whole[rows, columns]  # noqa: E731
    else:
        prepared = kernel._sides(X, Y) if sides is None else sides
        tile_of = lambda rows, columns: kernel._tile(prepared[0][rows], prepared[1][columns])  # noqa: E731

    def select(rows: slice) -> None:
        for columns in tiles.slices(m, _TILE_COLUMNS):
            tile = tile_of(rows, columns)
            if own is not None:
                here = own[rows] - columns.start
                inside = np.flatnonzero((here >= 0) & (here < tile.shape[1]))
                tile[inside, here[inside]] = -np.inf
            if bound is not None:
                above = np.nonzero(tile > bound[columns])
                passed.append((tile[above], above[0] + rows.start, above[1] + columns.start))
            # The best so far compete with those of this tile.
            values = np.hstack([weights[rows], tile])
            numbers = np.broadcast_to(np.arange(columns.start, columns.stop), tile.shape)
            best = np.argpartition(-values, n_neighbors - 1, axis=1)[:, :n_neighbors]
            weights[rows] = np.take_along_axis(values, best, axis=1)
            index[rows] = np.take_along_axis(np.hstack([index[rows], numbers]), best, axis=1)

    tiles.run_threaded(select, list(tiles.slices(n, _TILE_ROWS)), entries=float(n) * m)
    indptr = np.arange(0, index.size + 1, n_neighbors)
    named = csr_array((weights.ravel(), index.ravel(), indptr), shape=(n, m))
    if not passed:
        return named, csr_array((n, m), dtype=X.dtype)
    values, left, right = (np.concatenate(piece) for piece in zip(*passed, strict=True))
    return named, csr_array((values, (left, right)), shape=(n, m))


def pair_values(kernel: Kernel, X: Matrix, Y: Matrix, indptr: Array, index: Array) -> Array:
    """k(x_i, y_j) for the listed pairs only, from strips of kernel rows."""
    left, right = kernel._sides(X, Y)
    values = np.empty(len(index), X.dtype)
    length = max(1, tiles.TILE_BYTES // (Y.shape[0] * X.dtype.itemsize))

    def evaluate(rows: slice) -> None:
        here = slice(indptr[rows.start], indptr[rows.stop])
        owner = np.repeat(np.arange(rows.stop - rows.start), np.diff(indptr[rows.start : rows.stop + 1]))
        values[here] = kernel._tile(left[rows], right)[owner, index[here]]

    tiles.run_threaded(evaluate, list(tiles.slices(X.shape[0], length)), entries=float(X.shape[0]) * Y.shape[0])
    return values
