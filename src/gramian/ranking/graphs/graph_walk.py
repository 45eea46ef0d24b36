"""The random walk on a graph: its checks, its degrees, and the one product that every solver of this folder needs.

A walker on node i goes to node j with probability P_ij = A_ij / Σ_k A_ik. Solvers need Pᵀ X = Aᵀ (X / degrees), a tile
of rows at a time, so that a tile's vector arithmetic happens while it is in the processor's cache. The graph is never
scaled or copied: a symmetric CSR matrix is used as it is, and of a directed one without weights only the pattern is
transposed.

:class:`GraphWalk` is the walk of a graph: one matrix, directed or not, perhaps with nodes that no edge leaves. The
walk of a Gram, symmetric and held in any way, is :class:`gramian.ranking.kernel_walk.walk.Walk`.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cache, cached_property
from types import ModuleType
from typing import Any

import numpy as np
from scipy.sparse import csr_array, issparse

from gramian.checks import canonical_csr
from gramian.configuration import threads
from gramian.grams.tiles import run_threaded
from gramian.typing import Array, Matrix

_TILE_ROWS = 2**14
_COMPILE_EDGES = 200_000  # with fewer, loading the compiler takes longer than all products
_SAME = 1e-12  # relative difference at which A_ij and A_ji are the same weight: below the error of any score


@cache
def compiled() -> ModuleType | None:
    """The compiled loops, or None where numba is not installed."""
    try:
        from gramian.ranking.graphs import _compiled
    except ImportError:
        return None
    return _compiled


class GraphWalk:
    """The random walk on a graph.

    Parameters
    ----------
    graph : scipy sparse, ndarray or Gram (n, n)
        Entry (i, j) is the weight of the edge from i to j; finite and >= 0.
    directed : bool, optional
        False promises that the graph is symmetric, True forgoes the advantages of that; by default we look.

    Attributes
    ----------
    n : int
        Number of nodes.
    degrees : ndarray (n,)
        Total weight of the edges that leave each node, in units of the largest weight.
    scale : float
        That unit: what weights are multiplied by.
    inverse : ndarray (n, 1)
        1 / degrees, and 0 for nodes that no edge leaves.
    dangling : ndarray of int
        Those nodes.
    loops : module or None
        The compiled loops, where they are worth it.
    """

    def __init__(self, graph: Any, directed: bool | None = None) -> None:
        if directed is not None and not isinstance(directed, (bool, np.bool_)):
            raise ValueError(f"directed={directed!r} must be True, False or None")
        self.matrix = as_matrix(graph)
        self.n = self.matrix.shape[0]
        self.sparse = issparse(self.matrix)
        self._directed = directed
        values = self.matrix.data if self.sparse else self.matrix
        least, most = (float(values.min()), float(values.max())) if values.size else (0.0, 0.0)
        check_weights(least, most)
        self.unit = self.sparse and least == most > 0
        """Whether all edges weigh the same."""
        self.scale = unit_of_weights(most)
        if self.unit:
            self.degrees = np.diff(self.matrix.indptr).astype(np.float64)
        else:
            self.degrees = np.asarray(self.matrix @ np.full(self.n, self.scale))
        self.inverse = inverse_of(self.degrees)
        self.dangling = np.flatnonzero(self.degrees == 0)
        vanished = not self.unit and len(self.dangling) > 0 and self.matrix[self.dangling].max() > 0
        check_degrees(self.inverse, vanished)
        self.loops = compiled() if self.sparse and self.matrix.nnz >= _COMPILE_EDGES else None

    @cached_property
    def symmetric(self) -> bool:
        """Whether the edges run both ways."""
        if self._directed is not None:
            return not self._directed
        if not self.sparse:
            A = self.matrix
            return bool(np.all(np.abs(A - A.T) <= _SAME * A))
        if self.loops is not None:
            return self._symmetric_by_cursors(self.loops)
        T = self._transpose
        A = self.matrix
        return bool(
            np.array_equal(A.indptr, T.indptr)
            and np.array_equal(A.indices, T.indices)
            and np.all(np.abs(A.data - T.data) <= _SAME * A.data)
        )

    def _symmetric_by_cursors(self, loops: ModuleType) -> bool:
        A = self.matrix
        indptr, indices = unsigned(A.indptr), unsigned(A.indices)
        weights = np.empty(0) if self.unit else A.data
        bounds = np.searchsorted(A.indptr, np.linspace(0, A.nnz, threads() + 1)).clip(0, self.n)
        bounds[0], bounds[-1] = 0, self.n
        answers = np.zeros(len(bounds) - 1, bool)

        def look(part: int) -> None:
            start, stop = int(bounds[part]), int(bounds[part + 1])
            place = indptr[:-1].copy()
            if start:
                loops.first_from(indptr, indices, start, place)
            answers[part] = loops.is_symmetric(indptr, indices, weights, place, start, stop, _SAME)

        # The first rows of a directed graph nearly always tell, so they are looked at alone.
        early = min(self.n, 1000)
        if not loops.is_symmetric(indptr, indices, weights, indptr[:-1].copy(), 0, early, _SAME):
            return False
        run_threaded(look, range(len(answers)), entries=A.nnz)
        return bool(answers.all())

    @cached_property
    def _transpose(self) -> Matrix:
        """Aᵀ in CSR, with data that mean nothing where all edges weigh the same and loops are compiled."""
        A = self.matrix
        if not (self.unit and self.loops is not None):
            return csr_array(A.T)
        pointers, columns = np.zeros_like(A.indptr), np.empty_like(A.indices)
        pair = (unsigned(A.indptr), unsigned(A.indices), unsigned(pointers), unsigned(columns))
        self.loops.transpose_pattern(*pair)
        return csr_array((np.broadcast_to(np.ones(1), A.nnz), columns, pointers), shape=A.shape)

    @cached_property
    def incoming(self) -> Matrix:
        """The matrix whose row j holds the edges into node j."""
        if not self.sparse:
            return self.matrix if self.symmetric else self.matrix.T
        return self.matrix if self.symmetric else self._transpose

    @cached_property
    def tiles(self) -> list[slice]:
        """Rows to be worked on together; the same whatever the number of threads, and so are the sums."""
        if not self.sparse:
            return [slice(0, self.n)]
        return [slice(start, min(start + _TILE_ROWS, self.n)) for start in range(0, self.n, _TILE_ROWS)]

    @cached_property
    def product(self) -> Callable[[slice, Array], Array]:
        """The function (rows, Y) → rows of Aᵀ Y, a new array, for a C-contiguous Y of shape (n, q).

        With Y = X · inverse it gives Pᵀ X.
        """
        T = self.incoming
        if not self.sparse:
            return lambda rows, Y: self.scale * (T @ Y)
        if self.unit and self.loops is not None:
            loops, indptr, indices = self.loops, unsigned(T.indptr), unsigned(T.indices)

            def gather(rows: slice, Y: Array) -> Array:
                out = np.empty((rows.stop - rows.start, Y.shape[1]))
                if Y.shape[1] == 1:
                    loops.gather(indptr, indices, Y[:, 0], out[:, 0], rows.start, rows.stop)
                else:
                    loops.gather_block(indptr, indices, Y, out, rows.start, rows.stop)
                return out

            return gather
        scale = self.scale
        parts = {rows.start: _row_view(T, rows) for rows in self.tiles}

        def multiply(rows: slice, Y: Array) -> Array:
            out = parts[rows.start] @ Y
            if scale != 1.0:
                out *= scale
            return np.asarray(out)

        return multiply

    def each(self, work: Callable[[int, slice], None], width: int) -> None:
        """Call ``work(t, rows)`` for every tile, on threads where that pays; ``width`` columns are worked on."""
        entries = (self.matrix.nnz if self.sparse else 0) * width
        run_threaded(lambda t: work(t, self.tiles[t]), range(len(self.tiles)), entries=entries)


def as_matrix(graph: Any, name: str = "graph") -> Matrix:
    """The graph as canonical CSR without stored zeros, or as an array, in float64; not copied if it is that already."""
    if hasattr(graph, "csr"):  # a Gram
        graph = graph.dense() if graph.csr is None else graph.csr
    sparse = issparse(graph)
    if not sparse:
        graph = np.asarray(graph)
    if graph.dtype.kind not in "biuf":
        raise ValueError(f"{name} has entries of type {graph.dtype}; pass a SciPy sparse matrix or an array of numbers")
    if graph.ndim != 2 or graph.shape[0] != graph.shape[1]:
        raise ValueError(f"{name} has shape {graph.shape}; pass a square matrix, one row and one column per node")
    if graph.shape[0] == 0:
        raise ValueError(f"{name} has no nodes; pass a matrix with at least one row")
    if not sparse:
        return np.ascontiguousarray(graph, np.float64)
    return canonical_csr(graph, np.float64)


def check_weights(least: float, most: float) -> None:
    """Refuse weights a walker cannot choose by."""
    if not (np.isfinite(least) and np.isfinite(most)):
        raise ValueError("graph has weights that are NaN or infinite; replace them by numbers, or drop those edges")
    if least < 0:
        raise ValueError(
            f"graph has the weight {least:g}; a walker needs weights >= 0: drop negative edges, take absolute values, "
            "and do not centre a kernel"
        )


def unit_of_weights(most: float) -> float:
    """What weights are multiplied by: relative to the largest, sums of numbers near the largest float are finite."""
    if 0 < most < np.finfo(float).tiny:
        raise ValueError(f"graph has no weight above {most:g}, too small to divide by; multiply the weights")
    return 1.0 / most if most > 0 else 1.0


def inverse_of(degrees: Array) -> Array:
    """1 / degrees, shape (n, 1), and 0 for nodes that no edge leaves."""
    with np.errstate(over="ignore"):  # check_degrees says so
        return np.divide(1.0, degrees, out=np.zeros(len(degrees)), where=degrees > 0)[:, None]


def check_degrees(inverse: Array, vanished: bool) -> None:
    """Refuse nodes that have edges, but so light that the walk cannot leave by them."""
    if vanished or not np.isfinite(inverse).all():
        raise ValueError(
            f"graph has a node whose edges weigh less than {np.finfo(float).tiny:.0e} of the heaviest edge; "
            "drop such edges or take logarithms of the weights"
        )


def unsigned(index: Array) -> Array:
    """Indices as the compiled loops want them."""
    return index.view(np.uint32) if index.dtype.itemsize == 4 else index


def _row_view(matrix: Matrix, rows: slice) -> Matrix:
    """Some rows of a CSR matrix, sharing its memory; SciPy's own slicing copies."""
    first, last = matrix.indptr[rows.start], matrix.indptr[rows.stop]
    return csr_array(
        (matrix.data[first:last], matrix.indices[first:last], matrix.indptr[rows.start : rows.stop + 1] - first),
        shape=(rows.stop - rows.start, matrix.shape[1]),
    )
