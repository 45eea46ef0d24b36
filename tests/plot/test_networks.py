"""Networks are drawn with every node in the colour of its community."""

import numpy as np
import pytest
from matplotlib.colors import to_hex

import gramian
from gramian import plot
from gramian.colours import GROUPS
from gramian.datasets import make_planted_graph


@pytest.fixture(scope="module")
def graph():
    return make_planted_graph(120, 3, degree=10, inside=0.9, random_state=0)[0]


@pytest.fixture(scope="module")
def model(graph):
    return gramian.NetworkKSC().fit(graph)


def nodes(ax):
    """Numbers of nodes by the colours of their dots."""
    return {to_hex(dots.get_facecolors()[0]): len(dots.get_offsets()) for dots in ax.collections[2:]}


def test_nodes_have_the_colours_of_their_labels(graph, model):
    ax = plot.network(model, graph)
    sizes = np.bincount(model.labels_)
    assert nodes(ax) == {GROUPS["light"][label]: size for label, size in enumerate(sizes)}
    assert {text.get_text() for text in ax.texts} == {"0", "1", "2"}


def test_every_edge_is_a_line_inside_or_between(graph, model):
    between, inside = plot.network(model, graph).collections[:2]
    one, other = graph.tocoo().coords
    same = model.labels_[one] == model.labels_[other]
    assert len(inside.get_segments()) == (same & (one < other)).sum()
    assert len(between.get_segments()) == (~same & (one < other)).sum()


def test_what_network_returns_needs_no_graph(graph):
    outcome = gramian.network(graph)
    ax = plot.network(outcome)
    assert sorted(nodes(ax).values()) == sorted(community.size for community in outcome.found.communities)
    places = np.vstack([dots.get_offsets() for dots in ax.collections[2:]])
    assert {tuple(place) for place in places} == {tuple(place) for place in outcome.found.layout.nodes}


def test_large_networks_are_discs(monkeypatch, graph, model):
    monkeypatch.setattr("gramian.communities.layout.MOST_NODES", 50)
    ax = plot.network(model, graph)
    assert len(ax.patches) == model.n_clusters_
    areas = sorted(disc.radius**2 for disc in ax.patches)
    np.testing.assert_allclose(areas, np.sort(np.bincount(model.labels_)))


def test_errors_ask_for_the_fitted_graph(graph, model):
    with pytest.raises(TypeError, match=r"plot.network\(model, graph\)"):
        plot.network(model)
    with pytest.raises(ValueError, match="graph has 60 nodes and labels_ 120; pass the fitted graph"):
        plot.network(model, graph[:60, :60])
