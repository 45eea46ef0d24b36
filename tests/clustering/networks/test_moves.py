"""The loop of moves, run as plain Python and compiled, against a search over all single moves."""

import numpy as np
import pytest
from scipy.sparse import csr_array

from clustering.networks.small_graphs import weighted_graph
from gramian.clustering.networks._moves import move_nodes
from gramian.clustering.networks.refinement import refined
from gramian.metrics import modularity


def moved(graph, labels, k, most=10**9):
    labels = labels.copy()
    degrees = np.asarray(graph.sum(axis=1))
    volumes, sizes = np.bincount(labels, degrees, k), np.bincount(labels, minlength=k)
    moves = move_nodes(graph.indptr, graph.indices, graph.data, degrees, labels, volumes, sizes, most)
    np.testing.assert_allclose(volumes, np.bincount(labels, degrees, k), atol=1e-9)
    np.testing.assert_array_equal(sizes, np.bincount(labels, minlength=k))
    return labels, moves


@pytest.mark.parametrize("seed", range(4))
def test_no_single_move_to_a_neighbour_is_left(seed):
    """Modularity has risen, and no node can raise it by joining the community of a neighbour."""
    rng = np.random.default_rng(seed)
    graph, k = weighted_graph(rng, 40, 0.15), 4
    start = rng.permutation(np.arange(40) % k)
    labels, _ = moved(graph, start, k)
    best = modularity(graph, labels)
    assert best > modularity(graph, start)
    for i in range(40):
        for c in np.unique(labels[graph[[i]].indices]):
            other = labels.copy()
            other[i] = c
            assert modularity(graph, other) <= best + 1e-9 or (labels == labels[i]).sum() == 1


def test_compiled_and_plain_agree(rng):
    """The compiled loop is the same loop."""
    graph = weighted_graph(rng, 80, 0.1)
    start = rng.integers(0, 6, 80)
    np.testing.assert_array_equal(refined(graph, start, 6), moved(graph, start, 6)[0])


def test_moves_can_be_limited(rng):
    graph = weighted_graph(rng)
    assert moved(graph, rng.integers(0, 3, 60), 3, most=2)[1] == 2


def test_edges_without_weight_count_nowhere():
    """A weight may underflow to zero; entered as a neighbour it once ran beyond the list of communities."""
    graph = weighted_graph(np.random.default_rng(0), 30, 0.3)
    labels = np.arange(30) % 3
    plain = moved(graph, labels, 3)[0]
    stored = graph.toarray()
    empty = csr_array(np.ones((30, 30)) - np.eye(30))
    empty.data = stored[np.repeat(np.arange(30), 29), empty.indices]  # all pairs are stored, most of them as zeros
    assert (empty.data == 0).sum() > 3
    np.testing.assert_array_equal(moved(empty, labels, 3)[0], plain)
