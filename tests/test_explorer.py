"""gramian.explore takes frames, paths, files and tables, and its result writes what the command line writes."""

import io
import json
import re
from html import unescape

import numpy as np
import pandas as pd
import pytest

import gramian
from gramian import explorer
from gramian.explorer import Explored, explore_folder
from gramian.metrics import adjusted_rand
from gramian.tables import UnreadableTable, read_table


@pytest.fixture(scope="module")
def frame():
    """Three groups, far apart in every column."""
    rng = np.random.default_rng(1)
    kind = np.repeat([0, 1, 2], [60, 50, 40])
    centres = 8.0 * np.array([[0, 0, 0, 0], [1, 0, 1, 1], [0, 1, 1, -1]])
    values = pd.DataFrame(rng.normal(size=(150, 4)) + centres[kind], columns=["size", "speed", "age", "weight"])
    values.loc[::9, "speed"] = np.nan
    values["coat"] = np.array(["long", "short", "none"])[kind]
    return values


@pytest.fixture(scope="module")
def explored(frame):
    return gramian.explore(frame, alternative=False)


def test_groups_and_rows_are_frames(frame, explored):
    assert isinstance(explored, Explored)
    assert explored.verdict == "clear"
    assert explored.groups["size"].tolist() == [60, 50, 40]
    assert explored.groups["share"].sum() == pytest.approx(1)
    assert (explored.rows["group"] == np.repeat([1, 2, 3], [60, 50, 40])).all()
    pd.testing.assert_series_equal(explored.rows["speed"], frame["speed"])
    typical = explored.groups["typical_row"] - 1
    assert (explored.rows["rank_in_group"].iloc[typical] == 1).all()
    assert repr(explored).startswith("The 150 rows fall clearly into 3 groups.")


def test_rows_keep_the_index_of_a_data_frame(frame, explored):
    """What was found can be joined to the frame it was found in."""
    named = frame.set_axis([f"pet {i}" for i in range(len(frame))])
    rows = gramian.explore(named, n_clusters=3, alternative=False).rows
    assert rows.index.equals(named.index)
    assert named.join(rows[["group"]])["group"].notna().all()


def test_rows_have_the_values_and_types_of_the_data_frame(frame):
    """Texts stay texts and whole numbers whole, also where explore reads truth values, dates or codes in them."""
    rng = np.random.default_rng(0)
    given = frame.assign(
        member=rng.choice(["t", "f"], 150),
        paid=rng.integers(0, 2, 150),
        year=rng.integers(1990, 2020, 150),
        day=pd.Timestamp("2024-02-11") + pd.to_timedelta(rng.integers(0, 90, 150), "D"),
        born=[f"{day:02d}.02.2024" for day in rng.integers(1, 28, 150)],
        code=pd.array(rng.integers(1, 4, 150), dtype="Int8"),
        kind=pd.Categorical(rng.choice(["x", "y"], 150)),
        group="mine",
    )
    found = gramian.explore(given, n_clusters=3, alternative=False)
    names = ["gramian_group", "membership", "rank_in_group", "oddness"]
    pd.testing.assert_frame_equal(found.rows.drop(columns=names), given)
    assert list(found.rows)[-4:] == names
    before = found.rows
    given["paid"] = 7
    given["more"] = 8
    pd.testing.assert_frame_equal(found.rows, before)
    polars = pytest.importorskip("polars").from_pandas(before[["size", "speed", "member", "paid", "year"]])
    rows = gramian.explore(polars, n_clusters=3, alternative=False).rows
    pd.testing.assert_frame_equal(rows[list(polars.columns)], polars.to_pandas())
    assert rows["group"].isin([1, 2, 3]).all()


def test_paths_files_tables_and_polars_give_the_same(frame, explored, tmp_path):
    path = tmp_path / "pets.csv"
    frame.to_csv(path, index=False)
    polars = pytest.importorskip("polars").from_pandas(frame)
    for source in (path, str(path), io.BytesIO(path.read_bytes()), read_table(path), polars):
        again = gramian.explore(source, alternative=False)
        np.testing.assert_array_equal(again.found.labels, explored.found.labels)


def test_what_is_saved_can_be_used_again(explored, tmp_path):
    folder = explored.save(tmp_path / "out")
    names = {path.name for path in folder.iterdir()}
    assert {"report.html", "rows.csv", "summary.json", "model.gramian"} <= names
    assert json.loads((folder / "summary.json").read_text()) == json.loads(json.dumps(explored.summary()))
    model = gramian.load(folder / "model.gramian")
    prepared = model.preparation.transform(read_table(folder / "rows.csv", like=model.preparation))
    np.testing.assert_array_equal(model.answer(prepared)[0], explored.found.labels)
    with pytest.raises(FileExistsError, match="add --force"):
        explored.save(folder)
    explored.save(folder, force=True)


def test_the_report_is_one_file(explored, tmp_path):
    page = explored.report(tmp_path / "page.html")
    assert page == tmp_path / "page.html"
    assert "<title>" in page.read_text()
    assert explored.report().exists()


def test_columns_are_used_as_asked(frame):
    coded = frame.assign(coat=frame["coat"].map({"long": 1, "short": 2, "none": 3}))
    found = gramian.explore(coded, category=["coat"], ignore=["speed"], n_clusters=3, alternative=False).found
    assert [column.kind for column in found.columns] == ["number", "ignored", "number", "number", "category"]


def test_a_notebook_shows_the_whole_report_within_a_megabyte(explored):
    """The page in the frame is that of report(), which needs nothing from elsewhere."""
    shown = explored._repr_html_()
    page = unescape(re.search(r'srcdoc="([^"]*)"', shown)[1])
    written = explored.report().read_text(encoding="utf-8")
    assert len(page.encode()) <= 1_000_000
    assert page == written  # a small table fits
    assert not re.search(r'(src|href)="https?:', page)


def test_an_empty_folder_is_told_before_workers_are_started(tmp_path, monkeypatch):
    monkeypatch.setattr(explorer, "open_workers", None)
    (tmp_path / "pets").mkdir()
    with pytest.raises(UnreadableTable, match="pets holds no Parquet"):
        explore_folder(tmp_path / "pets", tmp_path / "out")
    assert {path.name for path in tmp_path.iterdir()} == {"pets"}


def test_a_folder_of_files_is_explored_by_workers(frame, explored, tmp_path):
    """Two processes find the groups of a single file from a part of the rows; nothing half-written stays."""
    source, out = tmp_path / "pets", tmp_path / "out"
    source.mkdir()
    for i, part in enumerate(np.array_split(np.arange(150), 4)):
        frame.iloc[part].to_parquet(source / f"{i}.parquet", index=False)
    found = explore_folder(source, out, workers=2, alternative=False, sample=60)
    rows = pd.concat([pd.read_parquet(path) for path in sorted((out / "rows").iterdir())], ignore_index=True)
    assert adjusted_rand(rows["group"], explored.rows["group"]) == 1
    assert sorted(found.groups["size"]) == [40, 50, 60]
    assert len(found.rows) == 60
    pd.testing.assert_series_equal(found.rows["size"], frame["size"].loc[found.rows.index])
    assert json.loads((out / "summary.json").read_text("utf-8"))["rows"] == 150
    names = {"groups.png", "map.png", "missing.png", "model.gramian", "report.html", "rows", "summary.json"}
    assert {path.name for path in out.iterdir()} == names
    (source / "4.parquet").write_bytes(b"PAR1")
    with pytest.raises(UnreadableTable, match=r"4.parquet is damaged"):
        explore_folder(source, out, workers=1, force=True)
    assert {path.name for path in tmp_path.iterdir()} == {"pets", "out"}
    assert {path.name for path in out.iterdir()} == names
