"""A table with holes, its rows sorted by which columns they miss.

All rows with the same holes share one conditional distribution per Gaussian, so the work of EM is done once per
pattern. Patterns with equally many holes are stacked and solved as one batch, which keeps thousands of patterns of
one row each as cheap as a few large ones. Used by ``conditionals.py`` and ``em.py``.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

import numpy as np

from gramian.typing import Array

CHUNK_BYTES = 2**20  # of one array (components, columns, rows); it and two companions stay in the cache
_FEWEST_ROWS = 256  # a chunk is not cut shorter for the sake of threads


class Block(NamedTuple):
    """Consecutive rows of a stack whose patterns have ``each`` rows: (patterns × each) rows in all."""

    rows: slice  # of the chunk
    patterns: slice  # of the stack
    each: int


class Stack(NamedTuple):
    """Consecutive rows of a chunk with equally many holes q."""

    rows: slice  # of the chunk
    missing: Array  # (patterns, q) indices of the missing columns
    blocks: list[Block]


class Chunk(NamedTuple):
    """Consecutive rows of the sorted table that are worked on together."""

    rows: slice  # of the table
    stacks: list[Stack]


class _Piece(NamedTuple):
    start: int
    stop: int
    first: int  # pattern
    last: int
    holes: int
    cost: int


class IncompleteTable:
    """Rows sorted by missing pattern, column by column in memory.

    Parameters
    ----------
    X : ndarray (n, d)
        NaN where a value is missing. Columns should be standardised: sums of squares are taken around the means
        of components, not around exact zeros.
    indicators : ndarray (L, n) of bool, optional
        Which level of the categorical columns each row has, beside X; see :mod:`gramian.mixture.levels`.

    Attributes
    ----------
    values : ndarray (d, n)
        The sorted rows, transposed, with 0 in the holes.
    observed : ndarray of bool (d, n)
        Where there is a value.
    indicators : ndarray of bool (L, n)
        Those given, of the sorted rows; L = 0 if none were.
    order : ndarray (n,)
        ``values[:, i]`` is row ``order[i]`` of X.
    patterns : ndarray of bool (P, d)
        The distinct patterns of missing columns, in the order of the rows; ``sizes`` counts their rows.

    Examples
    --------
    >>> import numpy as np
    >>> table = IncompleteTable(np.array([[np.nan, 1.0], [2.0, 3.0], [np.nan, 4.0]]))
    >>> table.patterns.astype(int).tolist(), table.sizes.tolist(), table.order.tolist()
    ([[0, 0], [1, 0]], [1, 2], [1, 0, 2])
    """

    def __init__(self, X: Array, indicators: Array | None = None) -> None:
        missing = np.isnan(X)
        label, n_patterns = _labels(missing)
        sizes = np.bincount(label, minlength=n_patterns)
        holes = missing.sum(axis=1)
        self.order = np.lexsort((label, sizes[label], holes))
        ranked = label[self.order]
        first = np.flatnonzero(np.r_[True, ranked[1:] != ranked[:-1]])
        self.patterns = missing[self.order[first]]
        self.sizes = np.diff(np.r_[first, len(X)])
        self.observed = np.ascontiguousarray(~missing[self.order].T)
        self.values = np.where(self.observed, X[self.order].T, np.zeros((), X.dtype))
        self.indicators = np.empty((0, len(X)), bool) if indicators is None else indicators[:, self.order]
        self._chunks: dict[tuple[int, int], list[Chunk]] = {}

    @property
    def shape(self) -> tuple[int, int]:
        """Rows and columns."""
        d, n = self.values.shape
        return n, d

    def unsorted(self, values: Array) -> Array:
        """Values of the sorted rows, (..., n), as rows in the order of X, (n, ...)."""
        out = np.empty(values.shape[::-1], values.dtype)
        out[self.order] = values.T
        return out

    def chunks(self, n_components: int) -> list[Chunk]:
        """The table cut so that one number per component, column and row of a chunk fills the cache."""
        if (key := (n_components, CHUNK_BYTES)) not in self._chunks:
            self._chunks[key] = self._cut(n_components)
        return self._chunks[key]

    def _cut(self, n_components: int) -> list[Chunk]:
        n, d = self.shape
        fits = CHUNK_BYTES // (self.values.itemsize * n_components)
        limit = max(d, min(fits, max(_FEWEST_ROWS * d, n * d // 16)))
        chunks: list[Chunk] = []
        waiting: list[_Piece] = []
        cost = 0
        for piece in self._pieces(limit):
            if waiting and cost + piece.cost > limit:
                chunks.append(self._chunk(waiting))
                waiting, cost = [], 0
            waiting.append(piece)
            cost += piece.cost
        return [*chunks, self._chunk(waiting)]

    def _pieces(self, limit: int) -> Iterator[_Piece]:
        """Runs of patterns with equally many holes and rows, cut to ``limit`` numbers per component."""
        d = self.shape[1]
        holes = self.patterns.sum(axis=1)
        alike = (holes[1:] == holes[:-1]) & (self.sizes[1:] == self.sizes[:-1])
        edges = np.flatnonzero(np.r_[True, ~alike, True])
        begins = np.r_[0, np.cumsum(self.sizes)]
        for first, last in zip(edges[:-1].tolist(), edges[1:].tolist(), strict=True):
            q, each = int(holes[first]), int(self.sizes[first])
            cost = each * d + q * q
            if cost <= limit:
                per = limit // cost
                for a in range(first, last, per):
                    b = min(a + per, last)
                    yield _Piece(int(begins[a]), int(begins[b]), a, b, q, (b - a) * cost)
                continue
            length = max(1, (limit - q * q) // d)
            for p in range(first, last):
                for start in range(int(begins[p]), int(begins[p + 1]), length):
                    stop = min(start + length, int(begins[p + 1]))
                    yield _Piece(start, stop, p, p + 1, q, (stop - start) * d + q * q)

    def _chunk(self, pieces: list[_Piece]) -> Chunk:
        start = pieces[0].start
        stacks = []
        for q in dict.fromkeys(piece.holes for piece in pieces):
            members = [piece for piece in pieces if piece.holes == q]
            blocks, masks, n_patterns = [], [], 0
            for piece in members:
                count = piece.last - piece.first
                rows = slice(piece.start - start, piece.stop - start)
                blocks.append(Block(rows, slice(n_patterns, n_patterns + count), (piece.stop - piece.start) // count))
                masks.append(self.patterns[piece.first : piece.last])
                n_patterns += count
            missing = np.nonzero(np.concatenate(masks))[1].reshape(n_patterns, q)
            stacks.append(Stack(slice(members[0].start - start, members[-1].stop - start), missing, blocks))
        return Chunk(slice(start, pieces[-1].stop), stacks)


def _labels(missing: Array) -> tuple[Array, int]:
    """A number for each row's pattern, equal for equal patterns, and how many there are."""
    packed = np.packbits(missing, axis=1)
    words = np.zeros((len(packed), -(-packed.shape[1] // 8)), np.uint64)
    words.view(np.uint8)[:, : packed.shape[1]] = packed
    label, count = np.zeros(len(packed), np.intp), 1
    for word in words.T:  # 64 columns at a time; sorting numbers is far quicker than sorting rows
        distinct, part = np.unique(word, return_inverse=True)
        both, label = np.unique(label * len(distinct) + part, return_inverse=True)
        count = len(both)
    return label, count
