"""The output folder: whole or not there, never over something else, and readable again."""

import json
import os

import numpy as np
import pandas as pd
import pytest

from gramian.explore.outputs import OutputExists, _plain, check_free, whole_folder, write_file


def entries(folder):
    return sorted(path.name for path in folder.iterdir())


def test_a_folder_appears_whole(tmp_path):
    with whole_folder(tmp_path / "out") as draft:
        (draft / "summary.json").write_text("{}")
        assert not (tmp_path / "out").exists()
    assert entries(tmp_path) == ["out"]
    assert entries(tmp_path / "out") == ["summary.json"]


@pytest.mark.parametrize("error", [RuntimeError, KeyboardInterrupt])
def test_nothing_is_left_of_broken_work(tmp_path, error):
    def work():
        with whole_folder(tmp_path / "out") as draft:
            (draft / "half").write_text("x")
            raise error

    with pytest.raises(error):
        work()
    assert entries(tmp_path) == []


def test_an_earlier_folder_survives_broken_work(tmp_path):
    with whole_folder(tmp_path / "out") as draft:
        (draft / "summary.json").write_text("old")
    with pytest.raises(RuntimeError), whole_folder(tmp_path / "out", force=True):
        raise RuntimeError
    assert (tmp_path / "out" / "summary.json").read_text() == "old"
    with whole_folder(tmp_path / "out", force=True) as draft:
        (draft / "summary.json").write_text("new")
    assert (tmp_path / "out" / "summary.json").read_text() == "new"
    assert entries(tmp_path) == ["out"]


def test_drafts_of_dead_processes_are_cleared(tmp_path):
    number = 2**22 + 1  # beyond what Linux gives out
    (tmp_path / f".out.{number}.abc.part").mkdir()
    (tmp_path / f".out.{os.getpid()}.abc.part").mkdir()
    with whole_folder(tmp_path / "out"):
        pass
    assert entries(tmp_path) == [f".out.{os.getpid()}.abc.part", "out"]


def test_what_is_in_the_way_is_named(tmp_path):
    (tmp_path / "file").write_text("x")
    with pytest.raises(OutputExists, match="file exists and is no folder"):
        check_free(tmp_path / "file", force=True)
    (tmp_path / "mine").mkdir()
    check_free(tmp_path / "mine")
    (tmp_path / "mine" / "thesis.doc").write_text("x")
    with pytest.raises(OutputExists, match="no folder of an exploration"):
        check_free(tmp_path / "mine", force=True)
    (tmp_path / "mine" / "summary.json").write_text("{}")
    with pytest.raises(OutputExists, match="--force"):
        check_free(tmp_path / "mine")
    check_free(tmp_path / "mine", force=True)


def test_a_file_appears_whole(tmp_path):
    write_file(tmp_path / "a.csv", "x,y\n")
    assert (tmp_path / "a.csv").read_text() == "x,y\n"
    assert entries(tmp_path) == ["a.csv"]


def test_plain_values_for_json():
    found = _plain({"a": np.float64(np.nan), "b": [np.int64(3), (1.5, np.inf)], 4: np.array([True])})
    assert json.loads(json.dumps(found, allow_nan=False)) == {"a": None, "b": [3, [1.5, None]], "4": [True]}


def test_rows_of_the_output(explored):
    """Every row of the input in its order, with what was found; groups count from 1."""
    exploration, _, folder = explored
    rows = pd.read_csv(folder / "rows.csv")
    assert len(rows) == len(exploration.frame)
    assert list(rows.columns[: exploration.frame.shape[1]]) == list(exploration.frame.columns)
    np.testing.assert_array_equal(rows["group"], exploration.labels + 1)
    for _, part in rows.groupby("group"):
        assert sorted(part["rank_in_group"]) == list(range(1, len(part) + 1))
    assert rows["membership"].between(0, 1).all()
    assert rows["oddness"].between(0, 1).all()


def test_summary_and_model_of_the_output(explored):
    import gramian
    from gramian.explore.outputs import assigned_rows
    from gramian.explore.read import Table

    exploration, _, folder = explored
    found = json.loads((folder / "summary.json").read_text())
    assert found["rows"] == len(exploration.labels)
    assert [group["size"] for group in found["groups"]] == np.bincount(exploration.labels).tolist()
    assert sorted(entries(folder)) == [
        "groups.png", "map.png", "missing.png", "model.gramian", "report.html", "rows.csv", "summary.json",
    ]  # fmt: skip
    model = gramian.load(folder / "model.gramian")
    new = Table(exploration.frame, exploration.columns, "again.csv", [])
    again = assigned_rows(model, new)
    assert (again["group"] == exploration.labels + 1).mean() > 0.9
