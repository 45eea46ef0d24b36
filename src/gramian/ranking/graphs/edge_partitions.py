"""The random walk on a graph whose edges lie in the partitions of a Dask data frame.

Each worker keeps its edges as a small sparse matrix; a step of the walk sends the scores of all nodes to the workers
and adds up what comes back. Scores, n×q for q queries, are held by the caller, edges never are. It has what
:func:`~.power.power_iteration` asks of a :class:`~.graph_walk.GraphWalk`, so that there is one iteration for both.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from scipy.sparse import csr_array

from gramian.configuration import require_memory
from gramian.partitions import in_tree, on_workers
from gramian.ranking.graphs.graph_walk import check_degrees, check_weights, inverse_of, unit_of_weights
from gramian.typing import Array

COLUMNS = ("source", "target", "weight")


class PartitionedWalk:
    """The random walk on a graph given as an edge table in partitions.

    Parameters
    ----------
    edges : dask.dataframe.DataFrame
        Columns ``source`` and ``target``, whole numbers >= 0, and ``weight`` >= 0, or all edges weigh the same. Edges
        that occur twice add up. An undirected graph has every edge in both directions.

    Attributes
    ----------
    n : int
        One more than the largest node.
    degrees, scale, inverse, dangling
        As of :class:`~.graph_walk.GraphWalk`.
    """

    symmetric, unit, loops = False, False, None

    def __init__(self, edges: Any) -> None:
        import dask

        missing = [name for name in COLUMNS[:2] if name not in getattr(edges, "columns", ())]
        if missing:
            raise ValueError(
                f"graph is a Dask collection without a column {missing[0]!r}; pass a Dask data frame with columns "
                "'source', 'target' and, where edges have weights, 'weight'"
            )
        parts = edges[[name for name in COLUMNS if name in edges.columns]].to_delayed()
        pieces = dask.persist(*(dask.delayed(_piece)(part, number) for number, part in enumerate(parts)))
        reach = dask.compute(*(dask.delayed(_reach)(piece) for piece in pieces))
        self.pieces = [piece for piece, (last, _) in zip(pieces, reach, strict=True) if last >= 0]
        if not self.pieces:
            raise ValueError("graph has no edges in any of its partitions; pass at least one")
        self.n = 1 + max(last for last, _ in reach)
        self.scale = unit_of_weights(max(heaviest for _, heaviest in reach))
        sources, weights = in_tree([dask.delayed(_leaving)(piece, self.scale) for piece in self.pieces], _added)
        require_memory(8.0 * self.n, f"the scores of {self.n} nodes", "number the nodes from 0 without large gaps")
        self.degrees = np.zeros(self.n)
        self.degrees[sources] = weights
        self.inverse = inverse_of(self.degrees)
        # Sources are nodes with an edge that weighs something.
        check_degrees(self.inverse, not np.all(weights > 0))
        self.dangling = np.flatnonzero(self.degrees == 0)
        self.tiles = [slice(0, self.n)]

    def product(self, rows: slice, Y: Array) -> Array:
        """Aᵀ Y in units of the heaviest edge; ``rows`` are all."""
        import dask

        sent = on_workers(Y)
        targets, sums = in_tree([dask.delayed(_walked)(piece, sent, self.scale) for piece in self.pieces], _added)
        out = np.zeros((self.n, Y.shape[1]))
        out[targets] = sums
        return out[rows]

    def each(self, work: Callable[[int, slice], None], width: int) -> None:
        """Call ``work`` for the one tile."""
        work(0, self.tiles[0])


Piece = tuple[Array, Array, csr_array]
"""Targets, sources, and the weights of the edges between them."""


def _piece(part: Any, number: int) -> Piece:
    """The edges of one partition; an error says which it is."""
    try:
        ends = [_nodes(part, name) for name in COLUMNS[:2]]
        weights = part["weight"].to_numpy(np.float64, na_value=np.nan) if "weight" in part else np.ones(len(part))
        if len(weights):
            check_weights(float(weights.min()), float(weights.max()))
    except ValueError as error:
        raise ValueError(f"partition {number} of graph: {error}") from error
    kept = weights > 0
    sources, i = np.unique(ends[0][kept], return_inverse=True)
    targets, j = np.unique(ends[1][kept], return_inverse=True)
    # Nodes whose only edges weigh nothing are nodes all the same.
    last = max((int(nodes.max()) for nodes in ends if len(nodes)), default=-1)
    if last >= 0 and last not in (*sources[-1:], *targets[-1:]):
        targets = np.append(targets, last)
    return targets, sources, csr_array((weights[kept], (j, i)), shape=(len(targets), len(sources)))


def _nodes(part: Any, name: str) -> Array:
    values = part[name]
    if values.isna().any():
        raise ValueError(f"column {name!r} has missing values; drop those edges")
    numbers = values.to_numpy()
    if numbers.dtype.kind not in "iu":
        raise ValueError(f"column {name!r} is of type {values.dtype}; number the nodes from 0")
    if len(numbers) and numbers.min() < 0:
        raise ValueError(f"column {name!r} has the node {numbers.min()}; number the nodes from 0")
    return np.asarray(numbers, np.int64)


def _reach(piece: Piece) -> tuple[int, float]:
    """The largest node and the heaviest edge."""
    targets, sources, weights = piece
    last = max((int(nodes[-1]) for nodes in (targets, sources) if len(nodes)), default=-1)
    return last, float(weights.data.max()) if weights.nnz else 0.0


def _leaving(piece: Piece, scale: float) -> tuple[Array, Array]:
    return piece[1], np.asarray(piece[2].sum(axis=0)) * scale


def _walked(piece: Piece, Y: Array, scale: float) -> tuple[Array, Array]:
    targets, sources, weights = piece
    return targets, (weights @ Y[sources]) * scale


def _added(parts: list[tuple[Array, Array]]) -> tuple[Array, Array]:
    """Sums by node of what several pieces give to nodes."""
    nodes, place = np.unique(np.concatenate([part[0] for part in parts]), return_inverse=True)
    values = np.concatenate([part[1] for part in parts])
    ones = csr_array((np.ones(len(place)), (place, np.arange(len(place)))), shape=(len(nodes), len(place)))
    return nodes, ones @ values
