"""Networks as users pass them, against NumPy and networkx."""

import igraph
import networkx as nx
import numpy as np
import pytest
from scipy.sparse import coo_array, csr_array

from clustering.networks.small_graphs import cliques, weighted_graph
from gramian import NetworkKSC
from gramian.clustering.networks.adjacency import (
    as_adjacency,
    check_edges,
    component_labels,
    sparse_of,
    unit_rows,
    with_loops,
    without_loops,
)


def test_weights_are_relative_and_the_diagonal_is_dropped(rng):
    """The adjacency is the matrix over its largest entry, without self loops."""
    A = weighted_graph(rng).toarray()
    found, directed = as_adjacency(NetworkKSC(), A * 7 + np.diag(np.arange(len(A))))
    largest = max((A * 7).max(), len(A) - 1)
    np.testing.assert_allclose(found.toarray(), A * 7 / largest)
    assert not directed


def test_directions_are_averaged(rng):
    """Of a directed network the mean of both directions is taken."""
    A = rng.random((20, 20)) * (rng.random((20, 20)) < 0.2)
    np.fill_diagonal(A, 0)
    found, directed = as_adjacency(NetworkKSC(), csr_array(A))
    assert directed
    np.testing.assert_allclose(found.toarray(), (A + A.T) / 2 / A.max())


def test_duplicates_add_up_and_the_input_stays():
    """Edges listed twice add their weights; the caller's matrix is not touched."""
    given = coo_array((np.ones(6), ([0, 1, 0, 1, 1, 2], [1, 0, 1, 0, 2, 1])), shape=(3, 3))
    found, _ = as_adjacency(NetworkKSC(), given)
    np.testing.assert_allclose(found.toarray(), [[0, 1, 0], [1, 0, 0.5], [0, 0.5, 0]])
    assert given.nnz == 6


@pytest.mark.parametrize("weights", [True, False])
def test_graphs_of_other_libraries(weights):
    """networkx and igraph graphs are their adjacency matrices in the order of their nodes."""
    graph = nx.karate_club_graph()
    if not weights:
        nx.set_edge_attributes(graph, 1, "weight")
    expected = nx.to_numpy_array(graph)
    other = igraph.Graph(34, list(graph.edges))
    if weights:
        other.es["weight"] = [graph.edges[edge]["weight"] for edge in graph.edges]
    for given in (graph, other):
        np.testing.assert_array_equal(sparse_of(given).toarray(), expected)


@pytest.mark.parametrize(
    ("X", "message"),
    [
        (np.ones((3, 4)), "square"),
        (np.zeros((3, 3)), "no edge"),
        (np.eye(4), "no edge"),
        (np.array([[0, -1.0], [-1.0, 0]]), "weight -1"),
        (np.ones((1, 1)), "minimum of 2"),
        (csr_array((0, 0)), r"0 sample"),
        (nx.Graph(), r"0 sample"),
        (np.array([[0, np.nan], [np.nan, 0]]), "NaN"),
    ],
    ids=["not square", "no edges", "self loops only", "negative", "one node", "empty", "empty networkx", "NaN"],
)
def test_what_is_no_network_is_refused(X, message):
    with pytest.raises(ValueError, match=message):
        as_adjacency(NetworkKSC(), X)


def test_loops(rng):
    """A self loop weighs as much as the mean edge of its node, and can be taken off again."""
    A = weighted_graph(rng)
    looped = with_loops(A)
    dense = A.toarray()
    counts = (dense > 0).sum(axis=1)
    means = np.divide(dense.sum(axis=1), counts, out=np.zeros(len(dense)), where=counts > 0)
    np.testing.assert_allclose(looped.toarray(), dense + np.diag(means))
    np.testing.assert_allclose(without_loops(looped).toarray(), dense)


def test_unit_rows_do_not_overflow(rng):
    """Rows of any size have length one; empty ones stay empty."""
    rows = csr_array(rng.random((4, 5)) * np.array([[1e200], [1.0], [1e-200], [0.0]]))
    np.testing.assert_allclose(np.linalg.norm(unit_rows(rows).toarray(), axis=1), [1, 1, 1, 0])


def test_components_by_size():
    """Small components are numbered, isolated nodes are not, and the largest is never small."""
    A = np.zeros((19, 19))
    A[:12, :12] = cliques(1, 12).toarray()
    A[12:15, 12:15] = cliques(1, 3).toarray()
    A[15:17, 15:17] = cliques(1, 2).toarray()
    large, small = component_labels(csr_array(A), 10)
    np.testing.assert_array_equal(large, np.arange(19) < 12)
    np.testing.assert_array_equal(small, [-1] * 12 + [0] * 3 + [1] * 2 + [-1] * 2)
    assert component_labels(cliques(2, 3), 10)[0].all()


def test_new_edges_are_checked():
    model = NetworkKSC(2).fit(cliques(2, 5))
    assert check_edges(model, np.eye(10)).shape == (10, 10)
    with pytest.raises(ValueError, match="weight -1"):
        check_edges(model, -np.ones((1, 10)))
    with pytest.raises(ValueError, match="9 features"):
        check_edges(model, np.ones((1, 9)))


@pytest.mark.parametrize("directed", [False, True])
def test_weights_that_vanish_beside_the_largest_are_no_edges(directed):
    graph = np.full((6, 6), 1e-150)
    graph[0, 1] = graph[1, 0] = 1e200
    found, _ = as_adjacency(NetworkKSC(), np.triu(graph) if directed else graph)
    assert found.nnz == 2
    assert found.data.all()
