"""Labels from neighbours, against a loop."""

import numpy as np
from scipy.sparse import csr_array

from clustering.networks.small_graphs import weighted_graph
from gramian.clustering.networks.placement import UNKNOWN, majority, spread


def test_majority_is_that_of_the_nearest_neighbours(rng):
    """The heaviest label among the neighbours of least distance, the first of equal ones, −1 without any."""
    graph = weighted_graph(rng, 50, 0.06)
    labels, distance = rng.integers(0, 4, 50), rng.integers(0, 3, 50).astype(np.int32)
    distance[::9] = UNKNOWN
    found = majority(graph, labels, distance)
    for i, row in enumerate(graph.toarray()):
        near = np.flatnonzero((row > 0) & (distance < UNKNOWN))
        if not len(near):
            assert found[i] == -1
            continue
        near = near[distance[near] == distance[near].min()]
        assert found[i] == np.argmax(np.bincount(labels[near], row[near], 4))


def test_labels_walk_along_a_path():
    """On a path with one labelled end every node takes its label, at its distance; what is apart has none."""
    path = np.eye(7, k=1)
    path[5, 6] = 0
    graph = csr_array(path + path.T)
    labels, distance = spread(graph, np.array([3, -1, -1, -1, -1, -1, -1]), np.arange(7) == 0)
    np.testing.assert_array_equal(labels, [3] * 6 + [-1])
    np.testing.assert_array_equal(distance, [0, 1, 2, 3, 4, 5, UNKNOWN])


def test_a_node_finds_its_label_again(rng):
    """The majority among neighbours of least distance is what gave a node its label, its own loop or not."""
    graph = weighted_graph(rng, 200, 0.012)
    known = rng.random(200) < 0.2
    start = np.where(known, rng.integers(0, 5, 200), -1)
    labels, distance = spread(graph, start, known)
    told = (distance > 0) & (distance < UNKNOWN)
    assert distance[told].max() > 1
    again = majority(csr_array(graph + np.eye(200)), labels, distance)
    np.testing.assert_array_equal(again[told], labels[told])
