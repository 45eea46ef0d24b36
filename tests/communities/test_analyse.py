"""Communities are those that were drawn, their figures those of a slow count, and bad networks are one line."""

import io

import networkx
import numpy as np
import pytest

from communities.clubs import clubs, written
from gramian import NetworkKSC
from gramian.communities import divide, read_edges
from gramian.communities.analyse import by_size


def test_clubs_are_found(divided):
    found, _ = divided
    assert found.verdict == "clear"
    firsts = [
        {name[0] for name, label in zip(found.edges.nodes, found.labels, strict=True) if label == c}
        for c in range(1, 5)
    ]
    assert firsts == [{"x"}, {"y"}, {"z"}, {"p", "q"}]
    assert [item.size for item in found.communities] == [16, 14, 12, 2]
    assert [item.apart for item in found.communities] == [False, False, False, True]


def test_figures_are_those_of_networkx(divided):
    found, _ = divided
    graph = networkx.Graph(clubs())
    groups = {
        c: {name for name, label in zip(found.edges.nodes, found.labels, strict=True) if label == c}
        for c in range(1, 5)
    }
    assert np.isclose(found.own.modularity, networkx.community.modularity(graph, groups.values()))
    for item in found.communities:
        own = groups[item.number]
        assert item.inside == graph.subgraph(own).number_of_edges()
        assert item.leaving == networkx.cut_size(graph, own)
        assert np.isclose(item.conductance, networkx.conductance(graph, own))
        degrees = sorted((d for _, d in graph.subgraph(own).degree), reverse=True)
        assert [graph.subgraph(own).degree(found.edges.nodes[hub]) for hub in item.hubs] == degrees[:5]


def test_bridges_are_well_connected_nodes_of_low_membership(divided):
    found, _ = divided
    memberships = [found.membership[bridge.node] for bridge in found.bridges]
    assert memberships == sorted(memberships)
    assert memberships[-1] < 1
    graph = networkx.Graph(clubs())
    place = dict(zip(found.edges.nodes, found.labels, strict=True))
    for bridge in found.bridges:
        name = found.edges.nodes[bridge.node]
        assert graph.degree(name) >= np.median([d for _, d in graph.degree])
        parts = np.bincount([place[other] for other in graph[name]], minlength=5) / graph.degree(name)
        parts[place[name]] = 0
        assert np.isclose(bridge.share, parts.max())
        assert parts[bridge.other] == parts.max()


def test_levels_are_nested(divided):
    found, _ = divided
    assert len(found.levels) > 1
    for fine, coarse in zip(found.levels[:-1], found.levels[1:], strict=True):
        assert coarse.communities < fine.communities
        assert all(len(set(coarse.labels[fine.labels == c])) == 1 for c in range(1, fine.communities + 1))


def test_a_number_of_communities_is_kept_and_the_stages_told():
    told = []
    found, model = divide(
        read_edges(io.StringIO(written(clubs()))), communities=2, notify=lambda *what: told.append(what)
    )
    assert model.clusterer.n_clusters_ == 2
    assert found.own.communities == 3  # and the pair
    assert [name for name, _ in told] == ["finding communities", "comparing", "drawing", ""]
    assert not found.levels


def test_a_random_network_has_no_clear_communities():
    graph = networkx.gnm_random_graph(60, 400, seed=1)
    assert divide(read_edges(graph))[0].verdict != "clear"


def test_communities_are_those_of_the_estimator(divided):
    found, _ = divided
    labels = NetworkKSC().fit(found.edges.adjacency).labels_
    np.testing.assert_array_equal(by_size(labels)[1], found.labels)


@pytest.mark.parametrize(
    ("text", "options", "why"),
    [
        ("a a\nb b\n", {}, "file has no edge between two different nodes, so there are no communities"),
        ("a b 0\n", {}, "no edge between two different nodes"),
        ("a b\nb c\n", {"communities": 4}, "communities=4 is more than the 3 nodes; pass at most 3"),
        ("a b\nb c\n", {"communities": 0}, "communities=0 must be a whole number >= 1 or None"),
        ("a b\nb c\n", {"communities": 2.5}, "communities=2.5 must be a whole number >= 1 or None"),
        ("a b\nb c\n", {"random_state": -1}, "random_state=-1 must be a whole number >= 0"),
        (written(clubs()), {"communities": 44}, "n_clusters=44 is more than the 42 nodes in components"),
    ],
)
def test_bad_networks_are_one_line(text, options, why):
    with pytest.raises(ValueError, match=why):
        divide(read_edges(io.StringIO(text)), **options)


def test_the_smallest_networks_work():
    for text in ("a b\n", "a b\nb c\n", "a b\nc d\n", "a b 3\nb c 1\nc a 2\n"):
        found, model = divide(read_edges(io.StringIO(text)), levels=True)
        assert found.labels.min() >= 1
        assert model.place(read_edges(io.StringIO("new a\n"))).labels[0] >= 1
    found, model = divide(read_edges(networkx.complete_graph(12)), levels=True)
    assert (found.own.communities, model.levels) == (1, None)
    assert found.sentences[-1].startswith("All nodes are joined to each other with the same weight")


@pytest.mark.parametrize("text", ["a b\n", "hub a\nhub b\nhub c\nhub d\n"])
def test_one_community_is_none(text):
    found, model = divide(read_edges(io.StringIO(text)))
    assert (found.verdict, found.own.communities, found.own.modularity) == ("none", 1, 0)
    assert "The modularity of one community is 0." in found.sentences
    assert model.place(read_edges(io.StringIO("new a\n"))).labels.tolist() == [1]


def test_huge_weights_are_those_of_their_ratios():
    lines = [(a, b) for a, b in clubs()]
    plain, _ = divide(read_edges(io.StringIO(written(lines))))
    huge, _ = divide(read_edges(io.StringIO("".join(f"{a} {b} 1e200\n" for a, b in lines))))
    np.testing.assert_array_equal(huge.labels, plain.labels)
    assert huge.own.modularity == pytest.approx(plain.own.modularity)
    assert huge.chance == pytest.approx(plain.chance)
