"""Training nodes grow until their kernel holds together."""

import numpy as np
from scipy.sparse.csgraph import connected_components

from clustering.networks.small_graphs import karate
from gramian.clustering.networks.adjacency import component_labels, with_loops
from gramian.clustering.networks.training import ENOUGH_ALIKE, training_set
from gramian.datasets import make_planted_graph
from gramian.landmarks import furs


def chosen(graph, **options):
    arguments = {"fraction": 0.15, "least": 2, "most": None} | options
    return training_set(graph, with_loops(graph), **arguments)


def dense_kernel(graph, nodes):
    rows = with_loops(graph).toarray()[nodes]
    rows /= np.linalg.norm(rows, axis=1, keepdims=True)
    return rows @ rows.T


def test_nodes_are_those_of_furs_and_rows_give_the_cosines():
    """The training nodes are a FURS selection, and rows rowsᵀ is the cosine kernel."""
    graph, _ = make_planted_graph(800, 4, degree=30, random_state=0)
    found = chosen(graph)
    np.testing.assert_array_equal(found.nodes, furs(graph, len(found.nodes)))
    K = dense_kernel(graph, found.nodes)
    np.testing.assert_allclose((found.rows @ found.rows.T).toarray(), K)
    assert found.alike >= ENOUGH_ALIKE
    np.testing.assert_allclose(found.alike, (K > 0).sum(axis=1).mean() - 1)


def test_a_sparse_network_gets_more_training_nodes():
    """The subset grows where its nodes share no neighbours; a limit stops it, and the kernel is then in pieces."""
    graph, _ = make_planted_graph(20_000, 10, degree=6, random_state=0)
    large = component_labels(graph, 10)[0]
    graph = graph[large][:, large]
    few, enough = chosen(graph, most=100), chosen(graph)
    assert len(few.nodes) == 100
    assert not few.holds_together
    parts = connected_components(few.rows @ few.rows.T, directed=False)[1]
    np.testing.assert_allclose(few.loose, 1 - np.bincount(parts).max() / 100)
    assert enough.holds_together
    assert len(enough.nodes) > 3000


def test_a_small_network_is_trained_on_as_a_whole():
    """Of a club of 34 all nodes are taken, those below the median degree last."""
    found = chosen(karate())
    assert sorted(found.nodes) == list(range(34))
    degrees = np.asarray(karate().sum(axis=1))[found.nodes]
    assert degrees[:10].min() >= np.median(degrees) > degrees[-1]
