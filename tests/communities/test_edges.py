"""Edges become a symmetric adjacency matrix: weights of all lines between two nodes add up, loops do not count."""

import numpy as np
import pytest

from gramian.communities import Edges, UnreadableEdges


def test_the_adjacency_is_the_sum_over_lines():
    rng = np.random.default_rng(0)
    ends, weights = rng.integers(0, 6, (2, 40)), rng.integers(0, 4, 40).astype(float)
    edges = Edges("here", [str(i) for i in range(6)], ends, weights, True)
    slow = np.zeros((6, 6))
    for one, other, weight in zip(*ends, weights, strict=True):
        if one != other:
            slow[one, other] += weight
            slow[other, one] += weight
    np.testing.assert_allclose(edges.adjacency.toarray(), slow)
    assert edges.n_edges == np.count_nonzero(np.triu(slow))


def test_what_does_not_count_is_said():
    ends = np.array([[0, 1, 2, 0, 1], [1, 0, 2, 2, 2]])
    told = Edges("here", list("abc"), ends, np.array([1.0, 1, 1, 0, 2]), True).remarks()
    assert told == [
        "Edges have weights, which count.",
        "1 self loop does not count.",
        "1 line repeats an edge; weights add up.",
        "1 edge of weight 0 does not count.",
    ]
    assert Edges("here", list("ab"), np.array([[0], [1]]), np.ones(1)).remarks() == []


def test_weights_are_counts_where_every_edge_weighs_one():
    once = np.array([[0, 1], [1, 2]])
    assert Edges("here", list("abc"), once, np.ones(2)).counted
    assert not Edges("here", list("abc"), once, np.array([1.0, 2.0])).counted
    assert not Edges("here", list("abc"), np.hstack([once, once]), np.ones(4)).counted


def test_weights_too_large_to_add_up_are_refused():
    ends = np.array([[0, 0], [1, 1]])
    with pytest.raises(UnreadableEdges, match=r"^here: the weight 1e\+308 is too large to add up; divide all weights"):
        Edges("here", ["a", "b"], ends, np.array([1e308, 1e308]), True)
    assert np.isfinite(Edges("here", ["a", "b"], ends, np.array([1e299, 1e299]), True).adjacency.sum())
