"""The page of a network: its numbers come out again from nodes.csv and the edges, and strangers' names stay text."""

import io
import re
from dataclasses import replace

import networkx
import numpy as np
import pytest
from networkx.algorithms.community import modularity
from networkx.algorithms.cuts import conductance

from communities.clubs import clubs
from gramian.communities import Division, Edges, divide, read_edges
from gramian.communities.analyse import bridges, described
from gramian.communities.comparison import judged
from gramian.communities.graphs import graph_edges
from gramian.communities.layout import lay_out
from gramian.communities.model import community_weights, weight_to
from gramian.datasets import make_planted_graph
from gramian.report import network_nodes
from gramian.report.network_page import render_network, write_network_report
from gramian.report.words import number, share
from report.decoder import Page

pytest_plugins = ["communities.conftest"]


@pytest.fixture(scope="module")
def page(divided):
    return Page(render_network(divided[0]))


@pytest.fixture(scope="module")
def graph():
    return networkx.Graph(clubs())


def lines(page, section):
    """The cells of a section's table rows: text, or the value to sort by where a cell has one."""
    found = {}
    for cell in page.elements:
        if cell.tag in ("td", "th") and cell.within("tbody") and in_section(cell, section):
            value = cell.attributes.get("data-value")
            found.setdefault(id(cell.parent), []).append(" ".join(cell.text.split()) if value is None else float(value))
    return list(found.values())


def in_section(element, section):
    while element is not None and element.tag != "section":
        element = element.parent
    return element is not None and element.attributes["id"] == section


def test_figures_come_out_again_from_nodes_and_edges(divided, page, graph):
    nodes = network_nodes(divided[0]).set_index("node")["community"]
    parts = [set(nodes.index[nodes == c]) for c in range(1, nodes.max() + 1)]
    overview = page.by_id("overview").text
    kept = sum(nodes[a] == nodes[b] for a, b in graph.edges)
    for figure in (len(graph), graph.number_of_edges(), len(parts)):
        assert re.search(rf"\b{number(figure)}\b", overview)
    assert share(kept / graph.number_of_edges()) in overview
    assert f"{modularity(graph, parts):.3f}" in overview


def test_the_table_of_communities_comes_out_again(divided, page, graph):
    nodes = network_nodes(divided[0]).set_index("node")["community"]
    rows = lines(page, "communities")
    assert [row[0] for row in rows] == list(range(1, nodes.max() + 1))
    for community, size, inside, leaving, cut, hubs in rows:
        own = set(nodes.index[nodes == community])
        assert size == len(own)
        assert inside == graph.subgraph(own).number_of_edges()
        assert leaving == networkx.cut_size(graph, own)
        assert cut == pytest.approx(conductance(graph, own) if leaving else 0)
        degrees = dict(graph.subgraph(own).degree)
        best = sorted(degrees.values(), reverse=True)[: len(hubs.split(","))]
        assert [degrees[name.strip()] for name in hubs.split(",")] == best


def test_bridges_come_out_again(divided, page, graph):
    nodes = network_nodes(divided[0]).set_index("node")["community"]
    rows = lines(page, "bridges")
    assert [row[3] for row in rows] == sorted(row[3] for row in rows)
    for name, degree, own, membership, other, part in rows:
        neighbours = [nodes[friend] for friend in graph[name]]
        assert degree == len(neighbours)
        assert own == nodes[name]
        assert membership == pytest.approx(np.mean(np.equal(neighbours, own)))
        assert part == pytest.approx(np.mean(np.equal(neighbours, other)))


def test_levels_and_methods_come_out_again(divided, page, graph):
    found = divided[0]
    nodes = network_nodes(found)
    for level, column, k, largest, quality in lines(page, "levels"):
        sizes = nodes[column].value_counts()
        assert (column, k, largest) == (f"level_{level}", str(len(sizes)), str(sizes.max()))
        parts = [set(nodes["node"][nodes[column] == c]) for c in sizes.index]
        assert float(quality.replace("−", "-")) == pytest.approx(modularity(graph, parts), abs=5e-4)
    methods = {row[0]: row[1:] for row in lines(page, "compared")}
    assert list(methods)[:3] == ["This report", *(item.method for item in found.others)][:3]
    parts = [set(own) for _, own in nodes.groupby("community")["node"]]
    mean = np.mean([conductance(graph, own) if networkx.cut_size(graph, own) else 0 for own in parts])
    assert methods["This report"] == [str(len(parts)), f"{modularity(graph, parts):.3f}", f"{mean:.3f}"]


def test_the_listing_has_every_node_and_the_drawn_edges(divided, page, graph):
    facts, nodes = page.facts, network_nodes(divided[0])
    assert [row["name"] for row in facts["rows"]] == nodes["node"].tolist()
    assert [row["values"][:3] for row in facts["rows"]] == nodes[["community", "membership", "degree"]].values.tolist()
    names = nodes["node"].tolist()
    pairs = np.reshape(facts["edges"], (-1, 2))
    assert {frozenset((names[a], names[b])) for a, b in pairs} == {frozenset(edge) for edge in graph.edges}


def test_pages_are_well_formed_accessible_and_need_nothing_else(page):
    assert not page.mismatched
    assert "http://" not in page.html
    assert "https://" not in page.html
    assert " style=" not in page.html
    ids = [element.attributes["id"] for element in page.elements if "id" in element.attributes]
    assert len(ids) == len(set(ids))
    for link in page.all("a"):
        assert link.attributes["href"][1:] in ids
    assert all(cell.attributes.get("scope") for cell in page.all("th"))
    assert len(page.all("caption")) == len(page.all("table"))
    assert all(svg.attributes.get("aria-label") or svg.attributes.get("aria-hidden") for svg in page.all("svg"))


def test_strangers_names_stay_text(tmp_path):
    bad = ["<script>alert(1)</script>", "</script><b>", '"><img src=x onerror=alert(1)>']
    pairs = [(a, b) for i, a in enumerate(bad) for b in bad[i + 1 :]] + clubs()
    names = sorted({name for pair in pairs for name in pair})
    ends = np.array([[names.index(a), names.index(b)] for a, b in pairs]).T
    found, _ = divide(Edges("<i>net</i>", names, ends, np.ones(len(pairs))))
    html = write_network_report(found, tmp_path / "p.html").read_text("utf-8")
    for tag in ("<script>alert", "<img", "</script><b>", "<i>"):
        assert tag not in html
    assert {row["name"] for row in Page(html).facts["rows"]} >= set(bad)


def test_weights_are_called_weights():
    text = "a b 2.5\nb c 1\nc a 4\n"
    page = Page(render_network(divide(read_edges(io.StringIO(text)), communities=1)[0]))
    assert "Weight inside" in page.by_id("communities").text
    assert page.facts["head"][2] == "Weight of edges"
    assert "All nodes are in one." in page.by_id("overview").text
    assert "bridges" not in {element.attributes.get("id") for element in page.elements}


def test_a_network_without_comparison_says_so(divided):
    page = Page(render_network(replace(divided[0], chance=[], others=[])))
    assert "Judged by their modularity alone" in page.by_id("overview").text
    assert "if igraph is installed" in page.by_id("compared").text


def test_a_large_network_has_discs_and_names_those_it_speaks_of(divided):
    """5,500 nodes whose labels are given: dividing them would take a second and test something else."""
    adjacency, y = make_planted_graph(5500, 11, degree=8, inside=0.8, random_state=0)
    order = np.argsort(-np.bincount(y), kind="stable")
    labels = np.argsort(order)[y] + 1
    found = large(divided[0], adjacency, labels)
    page = Page(render_network(found))
    assert "single ones are not drawn" in page.by_id("map").text
    circles = [item for item in page.all("circle") if "full" in item.attributes.get("class", "")]
    assert len(circles) == 11
    facts = page.facts
    assert len(facts["rows"]) == 5000
    assert not facts["edges"]
    assert "5,000 of 5,500 nodes" in page.by_id("rows").text
    shown = {row["name"] for row in facts["rows"]}
    assert {found.edges.nodes[node] for item in found.communities for node in item.hubs} <= shown
    assert len(page.html) < 2_000_000


def large(found: Division, adjacency, labels):
    edges = graph_edges(adjacency, False)
    graph = edges.adjacency
    weights = community_weights(graph, labels, int(labels.max()))
    degree, within = np.asarray(graph.sum(axis=1)).ravel(), weight_to(weights, labels)
    return replace(
        found, edges=edges, labels=labels, degree=degree, within=within, levels=[],
        communities=described(labels, degree, within), bridges=bridges(labels, degree, within, weights),
        own=judged("gramian", graph, labels), layout=lay_out(graph, labels),
    )  # fmt: skip
