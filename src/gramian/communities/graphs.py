"""Networks in memory to edges: adjacency matrices, graphs of networkx and igraph, and GraphML through networkx."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any, BinaryIO

import numpy as np
from scipy.sparse import coo_array, issparse

from gramian.communities.columns import checked_weight
from gramian.communities.edges import Edges, UnreadableEdges
from gramian.typing import Array


def graph_edges(graph: Any, weighted: bool) -> Edges:
    """The edges of an adjacency matrix or a graph; a matrix has nodes 0, 1, … and each of its edges once."""
    if hasattr(graph, "get_edgelist"):  # igraph
        names = graph.vs["name"] if "name" in graph.vs.attributes() else range(graph.vcount())
        weights = graph.es["weight"] if weighted and "weight" in graph.es.attributes() else None
        return _listed("the igraph graph", names, graph.get_edgelist(), weights)
    if hasattr(graph, "number_of_nodes"):
        return _networkx_edges("the networkx graph", graph, weighted)
    return _matrix_edges(graph, weighted)


def graphml_edges(file: BinaryIO, name: str, weighted: bool) -> Edges:
    """The edges of a GraphML file; nodes have their labels as names, where these differ."""
    try:
        import networkx
    except ImportError as error:
        raise UnreadableEdges(f"{name} looks like GraphML, which needs networkx; run pip install networkx") from error
    try:
        graph = networkx.read_graphml(file)
    except (networkx.NetworkXException, SyntaxError, KeyError, ValueError) as error:  # SyntaxError: damaged XML
        why = " ".join(str(error).split())[:120]
        raise UnreadableEdges(f"{name} is no GraphML that networkx reads ({why}); save it again") from error
    labels = [label for _, label in graph.nodes(data="label")]
    if labels and None not in labels and len(set(map(str, labels))) == len(labels):
        graph = networkx.relabel_nodes(graph, dict(zip(graph, labels, strict=True)))
    return _networkx_edges(name, graph, weighted)


def _networkx_edges(source: str, graph: Any, weighted: bool) -> Edges:
    place = {node: i for i, node in enumerate(graph)}
    edges = list(graph.edges(data="weight"))
    ends = [(place[one], place[other]) for one, other, _ in edges]
    given = weighted and any(weight is not None for _, _, weight in edges)
    weights = [1.0 if weight is None else weight for _, _, weight in edges] if given else None
    return _listed(source, place, ends, weights)


def _matrix_edges(graph: Any, weighted: bool) -> Edges:
    source = "the adjacency matrix"
    try:
        matrix = coo_array(graph if issparse(graph) else np.asarray(graph, dtype=np.float64))
    except (TypeError, ValueError) as error:
        raise TypeError(
            f"edges is a {type(graph).__name__}; pass a path, a square SciPy matrix, a data frame of edges, or a graph "
            "of networkx or igraph"
        ) from error
    if matrix.ndim != 2 or matrix.shape[0] != matrix.shape[1]:
        raise UnreadableEdges(f"{source} has shape {matrix.shape}; pass a square one, one row and column per node")
    matrix.sum_duplicates()
    matrix.eliminate_zeros()
    difference = abs(matrix - matrix.T)
    symmetric = difference.nnz == 0 or difference.max() <= 1e-12 * abs(matrix).max()
    one, other = matrix.coords
    kept = one <= other if symmetric else np.ones(len(one), bool)
    weights = np.asarray(matrix.data[kept], dtype=np.float64)
    has_weights = weighted and not (weights == 1).all()
    ends = np.column_stack([one, other])[kept]
    return _listed(source, range(matrix.shape[0]), ends, weights if has_weights else None)


def _listed(source: str, names: Iterable[Any], ends: Any, weights: Sequence[float] | Array | None) -> Edges:
    nodes = [str(name) for name in names]
    if len(set(nodes)) < len(nodes):
        raise UnreadableEdges(f"two nodes of {source} have the same name as text; rename one")
    pairs = np.asarray(ends, dtype=np.int64).reshape(-1, 2).T
    if weights is None:
        return Edges(source, nodes, pairs, np.ones(pairs.shape[1]))
    try:
        values = np.array([checked_weight(weight) for weight in weights])
    except ValueError as error:
        raise UnreadableEdges(f"{source}: {error}") from None
    return Edges(source, nodes, pairs, values, True)
