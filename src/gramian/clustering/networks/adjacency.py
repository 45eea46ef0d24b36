"""A network as a symmetric CSR matrix of weights: what users pass, its self loops, and its connected components.

Every estimator of networks checks its graph here, once. A graph has no class of its own.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy.sparse import csr_array, diags_array
from scipy.sparse.csgraph import connected_components
from sklearn.utils.validation import validate_data

from gramian.checks import canonical_csr, check_samples
from gramian.partitions import refuse_partitions
from gramian.typing import Array, Matrix


def as_adjacency(owner: Any, X: Any) -> tuple[Matrix, bool]:
    """The weights of a network, symmetric and without self loops, and whether its edges had directions.

    Parameters
    ----------
    owner : estimator
        For messages.
    X : scipy sparse, array-like, networkx graph or igraph graph
        Entry (i, j) is the weight, >= 0, of the edge from i to j. Duplicates add up. Of a directed graph the mean of
        both directions is taken.

    Returns
    -------
    adjacency : CSR array (n, n)
        Weights relative to the largest, in float32 or float64.
    directed : bool
    """
    graph = check_samples(owner, sparse_of(X), accept_sparse=True, dtype=[np.float64, np.float32], ensure_min_samples=2)
    if graph.shape[0] != graph.shape[1]:
        raise ValueError(
            f"X has shape {graph.shape}; {type(owner).__name__} takes the square adjacency matrix of a network, one "
            "row and one column per node"
        )
    graph = canonical_csr(graph)
    least, most = (float(graph.data.min()), float(graph.data.max())) if graph.nnz else (0.0, 0.0)
    if least < 0:
        raise ValueError(
            f"Negative values in data passed to {type(owner).__name__}: X has an edge of weight {least:g}; drop "
            "negative edges or take absolute values"
        )
    if most != 1.0 and most > 0:
        # Weights far below the largest become zero, and a zero that is stored would be an edge without weight.
        scaled = csr_array((graph.data / graph.dtype.type(most), graph.indices, graph.indptr), shape=graph.shape)
        graph = canonical_csr(scaled)
    graph = without_loops(graph)
    if not graph.nnz:
        raise ValueError("X has no edge between two different nodes, so there are no communities; check the network")
    mirrored = csr_array(graph.T)
    same = np.array_equal(mirrored.indptr, graph.indptr) and np.array_equal(mirrored.indices, graph.indices)
    if same and np.abs(mirrored.data - graph.data).max() <= 10 * np.finfo(graph.dtype).eps:
        return graph, False
    both = csr_array(graph + mirrored)
    both.data /= 2
    both.sort_indices()
    return canonical_csr(both), True


def sparse_of(graph: Any) -> Any:
    """The adjacency matrix of a networkx or igraph graph, in the order of its nodes; anything else as it is."""
    if hasattr(graph, "get_adjacency_sparse"):  # igraph
        if not graph.ecount():
            return csr_array((graph.vcount(), graph.vcount()))
        return graph.get_adjacency_sparse("weight" if "weight" in graph.es.attributes() else None)
    if hasattr(graph, "adjacency") and hasattr(graph, "number_of_nodes"):
        import networkx

        if not graph.number_of_nodes():
            return csr_array((0, 0))
        return networkx.to_scipy_sparse_array(graph, dtype=np.float64, format="csr")
    return graph


def without_loops(graph: Matrix) -> Matrix:
    """The graph less its diagonal."""
    if not graph.diagonal().any():
        return graph
    rows = np.repeat(np.arange(graph.shape[0]), np.diff(graph.indptr))
    off = rows != graph.indices
    counts = np.bincount(rows[off], minlength=graph.shape[0])
    pointers = np.concatenate([[0], np.cumsum(counts)]).astype(graph.indptr.dtype)
    return csr_array((graph.data[off], graph.indices[off], pointers), shape=graph.shape)


def with_loops(graph: Matrix) -> Matrix:
    """The graph with a self loop at every node, as heavy as the mean of its edges: one where all edges weigh one."""
    counts = np.diff(graph.indptr)
    weights = np.asarray(graph.sum(axis=1)).astype(graph.dtype)
    loops = np.divide(weights, counts, out=np.zeros_like(weights), where=counts > 0)
    return csr_array(graph + diags_array(loops, format="csr"))


def unit_rows(rows: Matrix) -> Matrix:
    """Rows of a CSR matrix scaled to length one; empty rows stay empty."""
    largest = abs(rows).max(axis=1).toarray().ravel() if rows.nnz else np.zeros(rows.shape[0], rows.dtype)
    counts = np.diff(rows.indptr)
    relative = rows.data / np.repeat(np.where(largest > 0, largest, 1), counts)
    squares = np.bincount(np.repeat(np.arange(rows.shape[0]), counts), relative.astype(np.float64) ** 2, rows.shape[0])
    data = relative / np.sqrt(np.repeat(squares, counts))
    return csr_array((data.astype(rows.dtype), rows.indices, rows.indptr), shape=rows.shape)


def component_labels(graph: Matrix, min_size: int) -> tuple[Array, Array]:
    """A mask of the nodes in large connected components, and a number for each small component.

    Every component has an eigenvalue 1 of its own, so that pairs and triples of nodes would take the leading
    eigenvectors from the large components.

    Parameters
    ----------
    graph : CSR array (n, n)
    min_size : int
        Smaller components are small, except where the largest one is.

    Returns
    -------
    large : ndarray (n,) of bool
    small : ndarray (n,) of int
        0, 1, … for the small components of two and more nodes in the order of their first nodes, −1 elsewhere.
    """
    labels = connected_components(graph, directed=False)[1]
    sizes = np.bincount(labels)
    least = min(min_size, int(sizes.max()))
    large = sizes[labels] >= max(least, 2)
    small = np.full(len(labels), -1)
    rest = ~large & (sizes[labels] > 1)
    if rest.any():
        small[rest] = np.unique(labels[rest], return_inverse=True)[1]  # SciPy numbers components by their first nodes
    return large, small


def numbered_components(graph: Matrix, inside: Array) -> Array:
    """Numbers 0, 1, … of the connected components of some nodes, given by a mask, for each of those nodes."""
    nodes = np.flatnonzero(inside)
    labels: Array = connected_components(graph[nodes][:, nodes], directed=False)[1]
    return labels


def check_edges(owner: Any, X: Any) -> Matrix:
    """Weights of the edges of new nodes to the fitted ones, as canonical CSR."""
    refuse_partitions(owner, X)
    rows = canonical_csr(validate_data(owner, X, reset=False, accept_sparse=True, dtype=[np.float64, np.float32]))
    if rows.nnz and rows.data.min() < 0:
        raise ValueError(f"X has an edge of weight {rows.data.min():g}; pass weights >= 0, as at fit")
    return rows
