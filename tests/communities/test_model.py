"""New nodes are placed by their edges to known ones, before and after saving; a damaged file is refused in one line."""

import io

import numpy as np
import pytest

import gramian
from communities.clubs import clubs
from gramian.communities import CommunityModel, load_community_model, read_edges
from gramian.persistence import ModelFileError

NEW = "new x00\nnew x01\nnew x02\nold y00\nold y01\nold new\nfar off\nx00 x01\nlate p\n"


def test_new_nodes_are_placed_by_their_neighbours(divided):
    found, model = divided
    placed = model.place(read_edges(io.StringIO(NEW)))
    assert placed.nodes == ["new", "old", "far", "off", "late"]
    assert placed.labels.tolist() == [1, 2, 0, 0, 4]
    assert placed.membership.tolist() == [1.0, 1.0, 0.0, 0.0, 1.0]
    assert placed.degree.tolist() == [3.0, 2.0, 0.0, 0.0, 1.0]
    assert placed.notes == ["", "", *["no edge to a node of the model"] * 2, ""]
    assert placed.remarks == [
        "2 edges among new nodes are not used",
        "1 edge among nodes of the model is not used",
        "2 nodes have no edge to a node of the model and no community",
    ]
    assert len(placed.levels) == len(found.levels)
    for level, labels in zip(found.levels, placed.levels, strict=True):
        assert labels[4] == level.labels[found.edges.nodes.index("p")]


def test_membership_is_the_share_of_edges_and_a_better_community_is_noted(divided):
    _, model = divided
    text = "n x00\nn x01\nn x02\nn y01\n" + "".join(f"m x{i:02} 0.1\n" for i in range(10)).replace(" 0.1", "") + "m p\n"
    placed = model.place(read_edges(io.StringIO(text)))
    assert (placed.labels[0], placed.membership[0]) == (1, 0.75)
    assert (placed.labels[1], placed.notes[1]) == (1, "")


def test_a_node_whose_edges_go_elsewhere_is_noted(divided):
    _, model = divided
    one = model.numbers_.copy()
    try:
        model.numbers_ = np.where(one == 1, 2, np.where(one == 2, 1, one))
        model.clusterer.labels_, kept = model.clusterer.labels_[::-1].copy(), model.clusterer.labels_
        placed = model.place(read_edges(io.StringIO("n x00\nn x01\n")))
    finally:
        model.numbers_, model.clusterer.labels_ = one, kept
    assert placed.notes[0].startswith("most of its edges go to community ")


def test_names_come_back_whole(divided):
    found, model = divided
    assert model.nodes == list(found.edges.nodes)
    other = CommunityModel()
    names = ["", "ä", "日本", "a b\n", "1"]
    other.remember(names, np.array([1]), [], 0.0)
    assert other.nodes == names


def test_a_saved_model_places_the_same(divided, tmp_path):
    _, model = divided
    gramian.save(model, tmp_path / "m.gramian")
    again = load_community_model(tmp_path / "m.gramian")
    edges = read_edges(io.StringIO(NEW))
    one, other = model.place(edges), again.place(edges)
    assert (one.nodes, one.notes, one.labels.tolist()) == (other.nodes, other.notes, other.labels.tolist())
    for a, b in zip(one.levels, other.levels, strict=True):
        np.testing.assert_array_equal(a, b)


def test_files_without_new_nodes_and_other_models_are_refused(divided, tmp_path):
    _, model = divided
    with pytest.raises(ValueError, match=r"file: all 2 nodes are in the model; nodes.csv has their communities"):
        model.place(read_edges(io.StringIO("x00 x01\n")))
    gramian.save(gramian.KernelPCA(), tmp_path / "pca.gramian")
    with pytest.raises(ModelFileError, match="holds a KernelPCA, not what network writes"):
        load_community_model(tmp_path / "pca.gramian")
    gramian.save(CommunityModel(), tmp_path / "empty.gramian")
    with pytest.raises(ModelFileError, match="read the network again"):
        load_community_model(tmp_path / "empty.gramian")


@pytest.mark.parametrize(
    ("part", "value"),
    [("stops_", np.array([1, 2])), ("numbers_", np.array([1])), ("level_numbers_", []), ("modularity_", "x")],
)
def test_parts_that_do_not_fit_are_noticed(divided, part, value):
    _, model = divided
    torn = CommunityModel(model.clusterer, model.levels)
    torn.remember(model.nodes, model.numbers_, model.level_numbers_, model.modularity_)
    torn.check()
    setattr(torn, part, value)
    with pytest.raises(ValueError, match=r"its parts disagree|could not convert"):
        torn.check()


def test_hidden_members_come_home():
    """Two of every club are left out and placed by their friends."""
    pairs = clubs(seed=3, inside=0.8)
    hidden = {"x00", "x01", "y00", "y01", "z00", "z01"}
    divided = gramian.network(io.StringIO("".join(f"{a} {b}\n" for a, b in pairs if not {a, b} & hidden)))
    late = io.StringIO("".join(f"{a} {b}\n" for a, b in pairs if len({a, b} & hidden) == 1))
    home = dict(zip(divided.nodes["node"], divided.nodes["community"], strict=True))
    placed = divided.place(late)
    assert set(placed["node"]) == hidden
    assert all(row.community == home[f"{row.node[0]}05"] for row in placed.itertuples())
