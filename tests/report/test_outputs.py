"""The output folder: whole or not there, never over something else, and readable again."""

import json
import os
from dataclasses import replace
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from gramian.exploration import explore
from gramian.report.outputs import (
    OutputExists,
    assigned_rows,
    check_free,
    json_lines,
    plain,
    whole_folder,
    write_file,
    write_rows,
)
from gramian.tables import Table, read_table


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


def test_an_earlier_folder_is_back_if_its_replacement_fails(tmp_path, monkeypatch):
    with whole_folder(tmp_path / "out") as draft:
        (draft / "summary.json").write_text("old")
    rename = Path.rename

    def second_breaks_off(path, target):
        monkeypatch.setattr(Path, "rename", broken)
        return rename(path, target)

    def broken(path, target):
        monkeypatch.setattr(Path, "rename", rename)
        raise KeyboardInterrupt

    monkeypatch.setattr(Path, "rename", second_breaks_off)
    with pytest.raises(KeyboardInterrupt), whole_folder(tmp_path / "out", force=True) as draft:
        (draft / "summary.json").write_text("new")
    assert (tmp_path / "out" / "summary.json").read_text() == "old"
    assert entries(tmp_path) == ["out"]


def test_of_two_runs_at_once_the_first_to_end_stays(tmp_path):
    def run(text, meanwhile=lambda: None):
        with whole_folder(tmp_path / "out") as draft:
            (draft / "summary.json").write_text(text)
            meanwhile()

    with pytest.raises(OutputExists, match="--force"):
        run("slow", meanwhile=lambda: run("fast"))
    assert (tmp_path / "out" / "summary.json").read_text() == "fast"
    assert entries(tmp_path) == ["out"]


def test_drafts_of_a_folder_with_a_name_like_a_pattern(tmp_path):
    stale = tmp_path / f".a[1].{2**22 + 1}.abc.part"
    stale.mkdir()
    with whole_folder(tmp_path / "a[1]"):
        pass
    assert entries(tmp_path) == ["a[1]"]


def test_what_is_in_the_way_is_named(tmp_path, monkeypatch):
    (tmp_path / "file").write_text("x")
    with pytest.raises(OutputExists, match="file exists and is not a folder"):
        check_free(tmp_path / "file", force=True)
    with pytest.raises(PermissionError, match="cannot be written in"):
        check_free(tmp_path / "file" / "out")
    mine = tmp_path / "mine"
    mine.mkdir()
    check_free(mine)
    (mine / "summary.json").write_text("{}")
    with pytest.raises(OutputExists, match="add --force"):
        check_free(mine)
    check_free(mine, force=True)
    monkeypatch.chdir(mine)
    with pytest.raises(OutputExists, match="the folder you are in"):
        check_free(mine, force=True)


def test_files_of_others_are_never_replaced(tmp_path):
    """Not even beside a file that is called like one of an exploration."""
    for name in ("summary.json", "thesis.doc"):
        (tmp_path / name).write_text("mine")
    with pytest.raises(OutputExists, match=r"holds other files \(thesis.doc\)"), whole_folder(tmp_path, force=True):
        pass
    assert entries(tmp_path) == ["summary.json", "thesis.doc"]


def test_a_file_appears_whole(tmp_path):
    write_file(tmp_path / "new" / "a.csv", "x,y\n")
    assert (tmp_path / "new" / "a.csv").read_text() == "x,y\n"
    assert entries(tmp_path / "new") == ["a.csv"]


def test_json_lines_keep_numbers_and_gaps():
    frame = pd.DataFrame({
        "tiny": [1e-13, np.nan],
        "long": [0.1 + 0.2, 12345678.987654321],
        "whole": pd.array([2**53 + 1, None], "Int64"),
        "flag": pd.array([True, None], "boolean"),
        "day": pd.to_datetime(["2020-01-31", None]),
        "level": pd.Categorical(["ä", None]),
    })  # fmt: skip
    rows = [json.loads(line) for line in json_lines(frame).splitlines()]
    assert rows[0] == {
        "tiny": 1e-13, "long": 0.1 + 0.2, "whole": 2**53 + 1, "flag": True, "day": "2020-01-31T00:00:00", "level": "ä"
    }  # fmt: skip
    assert rows[1] == dict.fromkeys(frame) | {"long": 12345678.987654321}


def test_columns_of_the_table_keep_their_names(explored, tmp_path):
    """Also those of a table that was explored twice before."""
    exploration, model, _ = explored
    names = {"noise": "group", "id": "gramian_group"}
    twice = replace(exploration, frame=exploration.frame.rename(columns=names))
    write_rows(twice, tmp_path / "rows.csv")
    rows = pd.read_csv(tmp_path / "rows.csv")
    np.testing.assert_allclose(rows["group"], exploration.frame["noise"])
    np.testing.assert_array_equal(rows["gramian_group"], exploration.frame["id"])
    np.testing.assert_array_equal(rows["gramian_gramian_group"], exploration.labels + 1)
    frame = exploration.frame.assign(group="x", gramian_group="y")
    assigned = assigned_rows(model, Table(frame, exploration.columns, "new.csv"))
    assert set(assigned["group"]) == {"x"}
    assert set(assigned["gramian_group"]) == {"y"}


def test_plain_values_for_json():
    found = plain({"a": np.float64(np.nan), "b": [np.int64(3), (1.5, np.inf)], 4: np.array([True])})
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

    exploration, _, folder = explored
    found = json.loads((folder / "summary.json").read_text())
    assert found["rows"] == len(exploration.labels)
    assert [group["size"] for group in found["groups"]] == np.bincount(exploration.labels).tolist()
    assert sorted(entries(folder)) == [
        "groups.png", "map.png", "missing.png", "model.gramian", "report.html", "rows.csv", "summary.json",
    ]  # fmt: skip
    check_free(folder, force=True)  # all of them may be replaced
    model = gramian.load(folder / "model.gramian")
    new = Table(exploration.frame, exploration.columns, "again.csv", [])
    again = assigned_rows(model, new)
    assert (again["group"] == exploration.labels + 1).mean() > 0.9


def test_values_come_back_as_they_came(tmp_path):
    """t and f, 1 and 0, dates, years and decimals, in rows.csv and from assign."""
    rng = np.random.default_rng(0)
    n = 60
    lines = ["flag,code,day,year,weight"]
    for i in range(n):
        group = i % 2
        flag = "t" if rng.random() < 0.5 else "f"
        day = f"{1 + i % 28:02d}.02.2024"
        lines.append(f"{flag},{i % 3 % 2},{day},{2007 + 5 * group + i % 3},{10 * group + rng.normal():.2f}0")
    table = tmp_path / "table.csv"
    table.write_text("\n".join(lines) + "\n")
    read = read_table(table)
    found, model = explore(read)
    write_rows(found, tmp_path / "rows.csv")
    written = (tmp_path / "rows.csv").read_text().splitlines()
    assert [line.split(",")[:5] for line in written[1:]] == [line.split(",") for line in lines[1:]]
    again = assigned_rows(model, read_table(table, like=model.preparation), as_read=True).to_csv(index=False)
    assert [line.split(",")[:5] for line in again.splitlines()[1:]] == [line.split(",") for line in lines[1:]]


def mixed_cells(n=40):
    """Cells as people write them: umlauts, a comma in a text, yes and no, times of day, leading zeros."""
    rng = np.random.default_rng(0)
    group = np.arange(n) % 2
    return pd.DataFrame(
        {
            "name": [("Bär", "Ägir, Ö", "x")[i % 3] for i in range(n)],
            "ok": rng.choice(["yes", "no"], n),
            "price": [f"{1000 * g + v}" for g, v in zip(group, rng.integers(1000, 1999, n), strict=True)],
            "when": [f"{1 + i % 28:02d}.0{1 + i % 9}.2021 {8 + i % 10:02d}:30" for i in range(n)],
            "size": [f"{v:.2f}" for v in 20 + 9 * group + rng.normal(size=n)],
            "code": [f"{i % 3:03d}" for i in range(n)],
        }
    )


def typed_cells():
    cells = mixed_cells().astype({"size": float, "price": float})
    cells["ok"] = cells["ok"] == "yes"
    cells["when"] = pd.to_datetime(cells["when"], format="%d.%m.%Y %H:%M")
    cells["day"] = cells["when"].dt.normalize()
    cells.loc[3, ["price", "when"]] = None
    return cells


def write_windows(path):
    path.write_bytes(mixed_cells().to_csv(index=False).encode("cp1252"))
    return mixed_cells()


def write_decimal_comma(path):
    cells = mixed_cells()
    cells["size"] = cells["size"].str.replace(".", ",")
    cells["price"] = [f"{int(text):,}".replace(",", ".") for text in cells["price"]]
    path.write_text(cells.to_csv(index=False, sep=";"))
    return cells


def written(cells):
    """Typed cells as people write them."""
    texts = pd.DataFrame(
        {
            "name": cells["name"],
            "ok": cells["ok"].map({True: "true", False: "false"}),
            "price": [f"{v:.0f}" for v in cells["price"]],
            "when": cells["when"].dt.strftime("%Y-%m-%d %H:%M:%S"),
            "size": [f"{v:g}" for v in cells["size"]],
            "code": cells["code"],
            "day": cells["day"].dt.strftime("%Y-%m-%d"),
        }
    )
    return texts.where(cells.notna(), "")


def write_excel(path):
    typed_cells().to_excel(path, index=False)
    return written(typed_cells())


def write_parquet(path):
    typed_cells().astype({"price": "Int64"}).to_parquet(path)
    return written(typed_cells())


@pytest.mark.parametrize("write", [write_windows, write_decimal_comma, write_excel, write_parquet])
def test_cells_of_all_formats_come_back(tmp_path, write):
    source = tmp_path / ("t.xlsx" if write is write_excel else "t.csv")
    expected = write(source)
    found, model = explore(read_table(source), n_clusters=2, alternative=False)
    write_rows(found, tmp_path / "rows.csv")
    again = assigned_rows(model, read_table(source, like=model.preparation), as_read=True)
    again.to_csv(tmp_path / "a.csv", index=False)
    for name in ("rows.csv", "a.csv"):
        again = pd.read_csv(tmp_path / name, dtype=str, keep_default_na=False)
        pd.testing.assert_frame_equal(again[list(expected)], expected.astype(object).astype(again.dtypes.iloc[0]))
