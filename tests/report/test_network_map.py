"""The pictures of a network: every node lies in the disc of its community, bars of a level in the bar above."""

import numpy as np
import pytest

from gramian.communities import Level
from gramian.report.network_map import level_tree, network_map

pytest_plugins = ["communities.conftest"]


def test_nodes_lie_in_their_discs_and_discs_in_the_picture(divided):
    found = divided[0]
    picture = network_map(found)
    assert [disc.size for disc in picture.discs] == [item.size for item in found.communities]
    for disc in picture.discs:
        own = picture.places[found.labels == disc.number]
        assert (np.hypot(*(own - [disc.x, disc.y]).T) <= disc.radius + 0.2).all()
        for place, end in ((disc.x, picture.width), (disc.y, picture.height)):
            assert disc.radius <= place <= end - disc.radius
    areas = np.array([disc.radius**2 / disc.size for disc in picture.discs])
    np.testing.assert_allclose(areas, areas[0], rtol=0.05)


def test_every_edge_and_node_is_drawn_once(divided):
    found = divided[0]
    picture = network_map(found)
    assert picture.ends.shape[1] == found.edges.n_edges
    assert sum(path.count("L") for _, path in picture.edges) == found.edges.n_edges
    assert sum(path.count("h0") for _, _, path in picture.dots) == len(found.labels)
    across = sum(path.count("L") for colour, path in picture.edges if colour < 0)
    assert across == round(sum(item.leaving for item in found.communities) / 2)
    few = network_map(found, most_edges=10)
    assert few.ends.shape == (2, 10)
    assert (found.edges.adjacency[few.ends[0], few.ends[1]] > 0).all()


def test_rings_mark_the_first_bridges_and_few_nodes(divided):
    found = divided[0]
    picture = network_map(found)
    assert len(picture.rings) == min(len(found.bridges), 5)  # a tenth of 44 nodes
    for bridge, (x, y, _) in zip(found.bridges, picture.rings, strict=False):
        assert (x, y) == pytest.approx(tuple(picture.places[bridge.node]))


def test_bars_stand_below_those_they_are_part_of():
    fine = np.array([1, 1, 2, 3, 3, 3, 2, 0])
    levels = [Level(fine, 3, 0.1), Level(np.array([2, 2, 1, 2, 2, 2, 1, 0]), 2, 0.2), Level((fine > 0) * 1, 1, 0.0)]
    tree = level_tree(levels)
    assert [level for level, _ in tree.rows] == [3, 2, 1]
    assert [[(cell.number, cell.size) for cell in cells] for _, cells in tree.rows] == [
        [(1, 7)],
        [(1, 2), (2, 5)],
        [(2, 2), (1, 2), (3, 3)],
    ]
    assert [[cell.colour for cell in cells] for _, cells in tree.rows] == [[-1], [0, 1], [0, 1, 1]]
    for (_, above), (_, below) in zip(tree.rows, tree.rows[1:], strict=False):
        ends = [round(cell.x, 1) for cell in below]
        assert all(round(cell.x, 1) in ends for cell in above)
    assert tree.rows[0][1][0].width == tree.width


def test_a_level_of_very_many_communities_stays_a_few_bars():
    """Each of 10,000 nodes alone, under two halves: one bar for each half."""
    halves = np.repeat([1, 2], 5000)
    tree = level_tree([Level(np.arange(1, 10_001), 10_000, 0.0), Level(halves, 2, 0.5)])
    (_, coarse), (_, fine) = tree.rows
    assert [(cell.size, cell.communities) for cell in coarse] == [(5000, 1), (5000, 1)]
    assert [(cell.size, cell.communities, cell.colour) for cell in fine] == [(5000, 5000, 0), (5000, 5000, 1)]
    assert not any(cell.labelled for cell in fine)
