"""gramian.network takes files, matrices, frames and graphs, and its result writes what the command line writes."""

import io
import json

import networkx
import numpy as np
import pandas as pd
import pytest

import gramian
from communities.clubs import clubs, written
from gramian.networker import Divided


@pytest.fixture(scope="module")
def divided():
    return gramian.network(io.StringIO(written(clubs())))


def test_all_kinds_of_input_give_the_same_communities(divided):
    """Up to the order of the nodes: groups of names."""

    def groups(found):
        return {frozenset(names) for _, names in found.nodes.groupby("community")["node"]}

    assert isinstance(divided, Divided)
    frame = pd.DataFrame(clubs(), columns=["source", "target"])
    assert groups(gramian.network(frame)) == groups(gramian.network(networkx.Graph(clubs()))) == groups(divided)
    matrix = gramian.network(divided.found.edges.adjacency)
    np.testing.assert_array_equal(matrix.nodes["community"], divided.nodes["community"])


def test_frames_and_summary(divided, tmp_path):
    assert divided.verdict == "clear"
    assert divided.communities["size"].tolist() == [16, 14, 12, 2]
    assert list(divided.nodes) == ["node", "community", "membership", "degree"]
    folder = divided.save(tmp_path / "out")
    assert json.loads((folder / "summary.json").read_text("utf-8")) == divided.summary()
    saved = pd.read_csv(folder / "nodes.csv")
    pd.testing.assert_frame_equal(saved, divided.nodes, check_dtype=False)
    assert divided.report(tmp_path / "mine.html").read_text("utf-8") == (folder / "report.html").read_text("utf-8")
    assert repr(divided).startswith("44 nodes and ")
    new = divided.place(pd.DataFrame({"u": ["ann", "ann"], "v": ["x00", "x01"]}))
    assert new["community"].tolist() == [1]
    again = gramian.load(folder / "model.gramian")
    assert again.nodes == divided.nodes["node"].tolist()


def test_weights_count_unless_told_otherwise():
    frame = pd.DataFrame({"u": ["a", "b"], "v": ["b", "c"], "w": [2.5, 1.0]})
    assert gramian.network(frame).nodes["degree"].tolist() == [2.5, 3.5, 1.0]
    assert gramian.network(frame, weighted=False).nodes["degree"].tolist() == [1, 2, 1]
