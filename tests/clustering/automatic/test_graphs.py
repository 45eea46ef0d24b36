"""Graphs and spanning tree, against loops over all pairs and SciPy's tree of the full matrix of distances."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.sparse.csgraph import connected_components, minimum_spanning_tree
from scipy.spatial.distance import cdist

from gramian.clustering.automatic.graphs import (
    KINDS,
    connected_graph,
    neighbor_edges,
    shortest_bridges,
    spanning_tree,
)


@pytest.fixture
def rows():
    rng = np.random.default_rng(0)
    return np.vstack([rng.normal(0, 1, (40, 2)), rng.normal(0, 4, (30, 2)) + 9, rng.normal(60, 1, (25, 2))])


def textbook(kind, rows, least=1):
    """Weights of all pairs by their definitions."""
    n, D = len(rows), cdist(rows, rows)
    ranks = np.argsort(np.argsort(D + np.diag(np.full(n, -1.0)), axis=1), axis=1)  # 0 is the row itself
    tenth, seventh = np.sort(D, axis=1)[:, 10], np.sort(D, axis=1)[:, 7]
    W = np.zeros((n, n))
    for i in range(n):
        for j in range(n):
            if i == j:
                continue
            ten, twenty = (ranks[i, j] <= 10, ranks[j, i] <= 10), ranks[i, j] <= 20 or ranks[j, i] <= 20
            if kind == "nearest":
                W[i, j] = sum(ten) / 2
            elif kind == "mutual":
                W[i, j] = all(ten) or min(ranks[i, j], ranks[j, i]) <= least
            elif kind == "continuous":
                close = D[i, j] < np.sqrt(tenth[i] * tenth[j]) or min(ranks[i, j], ranks[j, i]) <= least
                W[i, j] = twenty and close
            else:
                W[i, j] = max(np.exp(-(D[i, j] ** 2) / (seventh[i] * seventh[j])), 1e-8) if twenty else 0
    return W


@pytest.mark.parametrize("least", [1, 3])
@pytest.mark.parametrize("kind", KINDS)
def test_edges_are_those_of_the_definition(kind, least, rows):
    expected = textbook(kind, rows, least)
    np.testing.assert_allclose(neighbor_edges(kind, rows, least=least).toarray(), expected, atol=1e-12)


@pytest.mark.parametrize("kind", KINDS)
def test_a_fitted_row_given_again_finds_its_edges_again(kind, rows):
    whole = neighbor_edges(kind, rows).toarray()
    np.testing.assert_allclose(neighbor_edges(kind, rows[40:60].copy(), rows).toarray(), whole[40:60])
    new = neighbor_edges(kind, np.array([[59.0, 60.0]]), rows).toarray()
    assert new[0, :70].max() < 1e-6  # a new row in the third group is tied to that
    assert new[0, 70:].max() > 0.1


@pytest.mark.parametrize("kind", KINDS)
def test_the_tree_connects_the_graph_and_changes_nothing_else(kind, rows):
    edges, lengths = spanning_tree(rows)
    graph = connected_graph(kind, rows, (edges, lengths))
    assert connected_components(graph)[0] == 1
    graph = graph.toarray()
    np.testing.assert_array_equal(graph, graph.T)
    bridges = np.zeros_like(graph, dtype=bool)
    bridges[edges[:, 0], edges[:, 1]] = bridges[edges[:, 1], edges[:, 0]] = True
    np.testing.assert_allclose(graph[~bridges], textbook(kind, rows)[~bridges], atol=1e-12)
    assert graph[bridges].min() >= {"nearest": 0.5, "self_tuning": 1e-8}.get(kind, 1.0)


@settings(max_examples=30, deadline=None)
@given(seed=st.integers(0, 10**6), n=st.integers(2, 60), d=st.integers(1, 5), grid=st.booleans())
def test_the_tree_is_as_short_as_that_of_all_distances(seed, n, d, grid):
    rng = np.random.default_rng(seed)
    rows = rng.integers(0, 3, (n, d)).astype(float) if grid else rng.standard_normal((n, d))
    edges, lengths = spanning_tree(rows)
    assert edges.shape == (n - 1, 2)
    assert (np.diff(lengths) >= 0).all()
    np.testing.assert_allclose(lengths, np.linalg.norm(rows[edges[:, 0]] - rows[edges[:, 1]], axis=1), atol=1e-12)
    D = cdist(rows, rows) + 1.0  # SciPy takes zeros for no edge
    np.fill_diagonal(D, 0)
    assert lengths.sum() == pytest.approx(minimum_spanning_tree(D).sum() - (n - 1))
    adjacency = np.zeros((n, n))
    adjacency[edges[:, 0], edges[:, 1]] = 1
    assert connected_components(adjacency, directed=False)[0] == 1


def test_bridges_are_the_edges_of_the_tree_between_parts():
    rng = np.random.default_rng(0)
    rows = np.vstack([rng.normal(c, 0.3, (20, 2)) for c in (0, 5, 13, 40)])
    part = np.repeat([2, 0, 1, 3], 20)
    edges, lengths = shortest_bridges(rows, part)
    tree, all_lengths = spanning_tree(rows)
    across = part[tree[:, 0]] != part[tree[:, 1]]
    np.testing.assert_allclose(lengths, all_lengths[across])
    assert sorted(part[edges].ravel()) == sorted(part[tree[across]].ravel())


def test_strips_of_rows_give_the_same_tree(rows, monkeypatch):
    whole = spanning_tree(rows)
    monkeypatch.setattr("gramian.clustering.automatic.graphs._STRIP", 7)
    np.testing.assert_array_equal(spanning_tree(rows)[1], whole[1])


def test_rows_far_from_crowds_of_copies_are_tied_least_and_without_a_warning():
    """The seventh neighbour of a copy is no distance away, so a squared length over its scale overflows."""
    rows = np.repeat([[0.0], [1e3]], 12, axis=0)
    rows = np.vstack([rows + 1e-160 * np.arange(24)[:, None], [[500.0]]])
    graph = neighbor_edges("self_tuning", rows)
    assert np.isfinite(graph.data).all()
    assert graph.data.min() == 1e-8
