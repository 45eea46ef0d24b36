"""Refinement keeps what is promised; modularity and conductance agree with the metrics."""

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from clustering.networks.small_graphs import cliques, weighted_graph
from gramian.clustering.networks import refinement
from gramian.clustering.networks.refinement import conductance_of, group_weights, modularity_of, refined
from gramian.metrics import conductance, modularity


@settings(max_examples=25, deadline=None)
@given(st.integers(0, 10**6), st.integers(2, 7))
def test_refinement_never_loses_modularity_or_a_community(seed, k):
    """There are as many communities as before, and modularity is not lower."""
    rng = np.random.default_rng(seed)
    graph = weighted_graph(rng, 30, 0.2)
    start = rng.permutation(np.arange(30) % k)
    found = refined(graph, start, k)
    assert len(np.unique(found)) == k
    assert modularity(graph, found) >= modularity(graph, start) - 1e-12


def test_weights_of_groups_give_the_metrics(rng):
    """The same modularity and conductance as the metrics; nodes of label −1 count nowhere."""
    graph, labels = weighted_graph(rng), rng.integers(0, 5, 60)
    parts = group_weights(graph, labels, 5)
    np.testing.assert_allclose(modularity_of(*parts), modularity(graph, labels))
    np.testing.assert_allclose(conductance_of(*parts), conductance(graph, labels))
    some = labels.copy()
    some[labels == 4] = -1
    inside, volumes = group_weights(graph, some, 4)
    np.testing.assert_allclose(inside, parts[0][:4])
    np.testing.assert_allclose(volumes, parts[1][:4])


def test_without_numba_the_loop_runs_as_it_is(monkeypatch, rng):
    """Where numba is missing the answer is the same."""
    graph, start = weighted_graph(rng), rng.integers(0, 4, 60)
    expected = refined(graph, start, 4)
    monkeypatch.setattr(refinement, "_compiled", lambda: refinement.move_nodes)
    np.testing.assert_array_equal(refined(graph, start, 4), expected)


def test_cliques_are_found_from_a_poor_start():
    """A node in the wrong clique goes home."""
    labels = np.repeat([0, 1, 2], 6)
    wrong = labels.copy()
    wrong[[0, 7]] = [1, 2]
    np.testing.assert_array_equal(refined(cliques(3, 6), wrong, 3), labels)
