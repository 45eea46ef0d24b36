"""Neighbour graphs of complete rows, and the minimum spanning tree that connects them.

Four ways to say which rows are tied, and how strongly. A graph that falls apart has arbitrary eigenvectors; the edges
of the spanning tree hold it together, at the places where that costs least.
"""

from __future__ import annotations

import numpy as np
from scipy.sparse import coo_array, csr_array
from scipy.sparse.csgraph import connected_components, minimum_spanning_tree
from scipy.spatial.distance import cdist

from gramian.kernels import NeighborGraph
from gramian.typing import Array

_STRIP = 256  # rows whose distances are held at once
_LEAST = 1e-8  # weight of an edge: less would cut the graph in two
_REACH, _SCALE = 10, 7  # the neighbours that say how near others are
KINDS = {"nearest": 10, "mutual": 10, "continuous": 20, "self_tuning": 20}
"""Kinds of graphs, and how many neighbours a row names."""


def neighbor_edges(kind: str, rows: Array, others: Array | None = None, *, least: int = 1) -> csr_array:
    """Edges between rows, symmetric (n, n), or between rows and others, (n, m).

    ==================  ======================================================================  =====================
    kind                rows i and j are tied if                                                by weight
    ==================  ======================================================================  =====================
    ``"nearest"``       one is among the 10 nearest of the other                                1, or ½ if only one is
    ``"mutual"``        both are                                                                1
    ``"continuous"``    one is among the 20 nearest of the other, and d(i, j)² < d₁₀(i) d₁₀(j)  1
    ``"self_tuning"``   one is among the 20 nearest of the other                                exp(−d(i, j)² / sᵢ sⱼ)
    ==================  ======================================================================  =====================

    d₁₀ is the distance to the 10th neighbour and s that to the 7th. A row is tied to its ``least`` nearest ones in any
    case.

    Parameters
    ----------
    kind : str
    rows : ndarray (n, d)
    others : ndarray (m, d), optional
        Complete, as the rows.
    least : int, default 1

    References
    ----------
    Berry, Sauer (2019). Consistent manifold representation for topological data analysis. Foundations of Data
    Science 1.

    Zelnik-Manor, Perona (2004). Self-tuning spectral clustering. Advances in Neural Information Processing Systems 17.
    """
    named = rows if others is None else others
    base = NeighborGraph(KINDS[kind]).fit(named)
    edges = base(rows) if others is None else base(rows, others)
    lengths, place = _lengths(edges, rows, named), _SCALE if kind == "self_tuning" else _REACH
    among = edges if others is None else base(others)
    among_lengths = lengths if others is None else _lengths(among, named, named)

    def ends(place: int) -> tuple[Array, Array]:
        """Lengths at a place, for both ends of every edge."""
        here = np.repeat(_length_at(edges, lengths, place), np.diff(edges.indptr))
        return here, _length_at(among, among_lengths, place)[edges.indices]

    here, there = ends(place)
    if kind == "nearest":
        edges.data[:] = ((lengths <= here).astype(float) + (lengths <= there)) / 2
    elif kind == "mutual":
        edges.data[:] = (lengths <= here) & (lengths <= there) | (lengths <= np.maximum(*ends(least)))
    elif kind == "continuous":
        edges.data[:] = (lengths**2 < here * there) | (lengths <= np.maximum(*ends(least)))
    else:
        edges.data[:] = _fallen(lengths, here * there)
    edges.eliminate_zeros()
    return edges


def _fallen(lengths: Array, products: Array) -> Array:
    with np.errstate(over="ignore"):  # among copies of a row the scale is zero, and any length is infinitely many of it
        return np.maximum(np.exp(-(lengths**2) / np.maximum(products, np.finfo(float).tiny)), _LEAST)


def _lengths(edges: csr_array, rows: Array, others: Array) -> Array:
    """Distances between the ends of the edges."""
    differences = rows[np.repeat(np.arange(len(rows)), np.diff(edges.indptr))] - others[edges.indices]
    return np.sqrt(np.einsum("ij,ij->i", differences, differences))


def _length_at(edges: csr_array, lengths: Array, place: int) -> Array:
    """Length of each row's edge at a place, the shortest first; of its longest one if it has fewer."""
    counts = np.diff(edges.indptr)
    order = np.lexsort((lengths, np.repeat(np.arange(len(counts)), counts)))
    at = edges.indptr[:-1] + np.minimum(place, counts) - 1
    return np.where(counts > 0, lengths[order][np.minimum(at, len(order) - 1)], 0.0)


def connected_graph(kind: str, rows: Array, tree: tuple[Array, Array]) -> csr_array:
    """:func:`neighbor_edges` and the edges of the spanning tree, by the weight of their kind (½ for "nearest").

    Parameters
    ----------
    kind : str
    rows : ndarray (n, d)
    tree : (edges, lengths)
        From :func:`spanning_tree`.
    """
    edges, lengths = tree
    found = neighbor_edges(kind, rows)
    weights = np.full(len(edges), 0.5 if kind == "nearest" else 1.0)
    if kind == "self_tuning":
        near = _length_at(found, _lengths(found, rows, rows), _SCALE)
        weights = _fallen(lengths, near[edges[:, 0]] * near[edges[:, 1]])
    bridges = csr_array((weights, (edges[:, 0], edges[:, 1])), shape=found.shape)
    return csr_array(found.maximum(bridges + bridges.T))


def spanning_tree(rows: Array) -> tuple[Array, Array]:
    """Edges (n − 1, 2) of the Euclidean minimum spanning tree and their lengths, short ones first."""
    return shortest_bridges(rows, np.arange(len(rows)))


def shortest_bridges(rows: Array, part: Array) -> tuple[Array, Array]:
    """Edges (m − 1, 2) that connect m parts and are as short as possible together, and their lengths, rising.

    Borůvka's algorithm: each part but the largest is joined to the row nearest to it, until there is one part.
    Distances are computed strip by strip in every round, so that no n×n array is held.

    Parameters
    ----------
    rows : ndarray (n, d)
    part : ndarray (n,) of int
        From 0 to m − 1.
    """
    edges, lengths = np.zeros((0, 2), np.intp), np.zeros(0)
    while (n_parts := int(part.max()) + 1) > 1:
        asked = np.flatnonzero(part != np.bincount(part).argmax())
        nearest_length, nearest_row = _nearest_outside(rows, part, asked)
        # The shortest edge out of each part.
        order = np.lexsort((nearest_length, part[asked]))
        parts, first = np.unique(part[asked][order], return_index=True)
        starts, ends, found = asked[order[first]], nearest_row[order[first]], nearest_length[order[first]]
        new = csr_array(
            (np.maximum(found, np.finfo(float).tiny), (parts, part[ends])), shape=(n_parts, n_parts)
        )  # SciPy takes zeros for no edge; copies of a row are the nearest of all
        # Of edges that are equally long, some may close a circle: the tree of the parts leaves them out.
        kept = coo_array(minimum_spanning_tree(new))
        taken = np.searchsorted(parts, kept.row)
        edges = np.vstack([edges, np.column_stack([starts[taken], ends[taken]])])
        lengths = np.concatenate([lengths, found[taken]])
        part = connected_components(kept, directed=False)[1][part]
    order = np.argsort(lengths, kind="stable")
    return edges[order], lengths[order]


def _nearest_outside(rows: Array, part: Array, asked: Array) -> tuple[Array, Array]:
    """Distance to the nearest row of another part, and which it is, for the rows asked about."""
    length, index = np.empty(len(asked)), np.empty(len(asked), np.intp)
    for start in range(0, len(asked), _STRIP):
        here = asked[start : start + _STRIP]
        distances = cdist(rows[here], rows)
        distances[part[here, None] == part] = np.inf
        index[start : start + _STRIP] = distances.argmin(axis=1)
        length[start : start + _STRIP] = distances.min(axis=1)
    return length, index
