"""The page of a network: its figures are those of the division, and strangers' names stay text."""

import io
import json
from dataclasses import replace

import numpy as np
import pytest

from gramian.communities import divide, read_edges
from gramian.communities.layout import Layout
from gramian.report.network_page import drawn_map, drawn_tree, render_network, write_network_report
from report.decoder import Page

pytest_plugins = ["communities.conftest"]


@pytest.fixture(scope="module")
def page(divided):
    return Page(render_network(divided[0]))


def test_figures_of_the_page_are_those_of_the_division(divided, page):
    found, _ = divided
    text = page.by_id("overview").text
    for said in (*found.sentences, f"{found.own.modularity:.3g}"):
        assert " ".join(said.split()) in " ".join(text.replace("\u00a0", " ").split())
    told = page.by_id("communities").text
    for item in found.communities:
        assert f"{item.conductance:.3f}" in told
        assert all(found.edges.nodes[hub] in told for hub in item.hubs)
    assert all(found.edges.nodes[bridge.node] in page.by_id("bridges").text for bridge in found.bridges)
    for other in (found.own, *found.others):
        assert f"{other.modularity:.3f}" in page.by_id("compared").text
    assert f"{np.mean(found.chance):.3f}" in page.by_id("compared").text


def test_every_node_is_listed_and_drawn_in_the_disc_of_its_community(divided, page):
    found, _ = divided
    rows = json.loads(page.by_id("facts").text)["rows"]
    assert [row["name"] for row in rows] == list(found.edges.nodes)
    assert [row["values"][0] for row in rows] == found.labels.tolist()
    discs = {disc.number: disc for disc in drawn_map(found).discs}
    for row in rows:
        disc = discs[row["values"][0]]
        assert np.hypot(row["x"] - disc.x, row["y"] - disc.y) <= disc.radius + 0.2
    picture = drawn_map(found)
    assert sum(disc.dots.count("M") for disc in picture.discs) == len(rows)
    assert picture.n_lines == found.edges.n_edges == picture.lines.count("M")


def test_beyond_5000_nodes_communities_are_drawn_and_joined_by_bands(divided):
    found, _ = divided
    picture = drawn_map(replace(found, layout=Layout(found.layout.discs, found.layout.between, np.empty((0, 2)))))
    assert not picture.lines
    assert not any(disc.dots for disc in picture.discs)
    assert len(picture.bands) == np.count_nonzero(np.triu(found.layout.between, 1))
    assert picture.bands[0][4] == max(band[4] for band in picture.bands)
    for disc in picture.discs:
        assert disc.radius <= disc.x <= picture.width - disc.radius
        assert disc.radius <= disc.y <= picture.height - disc.radius


def test_blocks_of_the_tree_stand_beside_their_parts(divided):
    found, _ = divided
    tree = drawn_tree(found)
    coarse, fine = found.levels[-1].labels, found.levels[0].labels
    places = sorted({block.x for block in tree.blocks})
    assert len(places) == len(found.levels)
    heights = {}
    for place, labels in ((places[0], coarse), (places[-1], fine)):
        column = [block for block in tree.blocks if block.x == place]
        assert {block.number: block.size for block in column} == {
            int(number): int((labels == number).sum()) for number in np.unique(labels)
        }
        heights[place] = {block.number: (block.y, block.y + block.height) for block in column}
    for number, (top, bottom) in heights[places[-1]].items():
        above = heights[places[0]][int(coarse[fine == number][0])]
        assert above[0] - 0.2 <= top
        assert bottom <= above[1] + 0.2


@pytest.mark.parametrize("levels", [False, True])
def test_names_of_strangers_stay_text(levels, tmp_path):
    bad = "<script>alert(1)</script>"
    lines = [f"{bad}{i % 4}\tx{i}\n" for i in range(12)] + [f"{bad}0\t</title>\u202e\n", "x1\tx2\n"]
    found, _ = divide(read_edges(io.StringIO("".join(lines))), levels=levels)
    text = write_network_report(found, tmp_path / "report.html").read_text("utf-8")
    assert "<script>alert" not in text
    assert "\u202e" not in text
    assert text.count("<script") == 2
    assert ("levels-title" in text) == levels


def test_a_network_of_one_edge_and_one_without_comparison_have_a_page(divided):
    found, _ = divide(read_edges(io.StringIO("a b\n")))
    assert "All nodes are in one." in render_network(found)
    text = render_network(replace(divided[0], chance=[], others=[]))
    assert "joined at random for comparison" in text
    assert "if igraph is installed" in text
