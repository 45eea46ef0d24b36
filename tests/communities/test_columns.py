"""Columns of edge lists are known by their names; data frames give edges as files do."""

import pandas as pd
import polars as pl
import pytest

from gramian.communities import UnreadableEdges
from gramian.communities.columns import checked_weight, end_columns, frame_edges, node_name


def test_usual_names_are_known_in_any_spelling():
    assert end_columns(["From Node ID", "to_node_id", "Weight"]) == (0, 1, 2)
    assert end_columns(["day", "TARGET", "source"]) == (2, 1)
    assert end_columns(["source", "name"]) is None
    assert end_columns(["u", "v", "w"]) == (0, 1, 2)
    assert end_columns(["u", "v", "w"], letters=False) is None


@pytest.mark.parametrize("library", [pd, pl])
def test_frames_of_pandas_and_polars(library):
    frame = library.DataFrame({"day": [1, 2], "source": ["a", "b"], "target": [7, 7], "weight": [0.5, 2]})
    edges = frame_edges(frame, True)
    assert (edges.nodes, edges.ends.tolist()) == (["a", "b", "7"], [[0, 1], [2, 2]])
    assert (edges.weights.tolist(), edges.weighted) == ([0.5, 2.0], True)
    assert frame_edges(frame, False).weights.tolist() == [1.0, 1.0]


def test_columns_without_usual_names_are_taken_by_place():
    edges = frame_edges(pd.DataFrame({"who": [1.0, 2.0], "whom": ["x", "y"], "times": [3, 4]}), True)
    assert (edges.nodes, edges.weights.tolist()) == (["1", "2", "x", "y"], [3.0, 4.0])
    assert node_name(2.0) == node_name(2) == "2"


def test_bad_rows_are_named():
    with pytest.raises(UnreadableEdges, match="row 2: the name of a node is missing"):
        frame_edges(pd.DataFrame({"u": ["a", None], "v": ["b", "c"]}), True)
    with pytest.raises(UnreadableEdges, match="row 1: the weight -1 is negative"):
        frame_edges(pd.DataFrame({"u": ["a"], "v": ["b"], "w": [-1]}), True)
    with pytest.raises(UnreadableEdges, match="has 1 columns"):
        frame_edges(pd.DataFrame({"u": ["a"]}), True)


@pytest.mark.parametrize(
    ("value", "why"),
    [("abc", "is not a number"), (None, "is not a number"), ("-2", "is negative"), ("nan", "is not finite")],
)
def test_weights_are_numbers_from_0_on(value, why):
    with pytest.raises(ValueError, match=why):
        checked_weight(value)
    assert checked_weight("0") == 0
