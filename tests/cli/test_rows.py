"""``gramian assign``, ``predict`` and ``rank``: answers of a model file, also of a damaged one."""

import io
import json
import re
import zipfile

import numpy as np
import pandas as pd
import pytest

import gramian
from cli.conftest import error_of
from exploration.conftest import customers
from learning.houses import houses

pytest_plugins = ["exploration.conftest"]


def test_new_rows_are_assigned(run, explored):
    _, _, folder = explored
    new, group = customers(40, seed=9)
    new.to_csv("new.csv", index=False)
    result = run("assign", folder / "model.gramian", "new.csv")
    rows = pd.read_csv(io.StringIO(result.stdout))
    assert len(rows) == 40
    # Groups are numbered by size, as they were drawn.
    assert (rows["group"] == group + 1).mean() > 0.8
    assert run("assign", folder / "model.gramian", "new.csv", "--out", "a.csv").exit_code == 0
    pd.testing.assert_frame_equal(pd.read_csv("a.csv"), rows)
    assert "a.csv exists" in error_of(run("assign", folder / "model.gramian", "new.csv", "--out", "a.csv"))
    lines = run("assign", folder / "model.gramian", "new.csv", "--json").stdout.splitlines()
    assert [json.loads(line)["group"] for line in lines] == rows["group"].tolist()


def test_new_rows_are_predicted(run, learned):
    new = houses(30, seed=5)
    new.to_csv("new.csv", index=False)
    result = run("predict", learned / "price" / "model.gramian", "new.csv")
    rows = pd.read_csv(io.StringIO(result.stdout))
    assert np.corrcoef(rows["prediction"], new["price"])[0, 1] > 0.8
    assert (rows["lower"] < rows["prediction"]).all()
    assert (rows["prediction"] < rows["upper"]).all()
    assert run("predict", learned / "price" / "model.gramian", "new.csv", "--out", "p.csv").exit_code == 0
    pd.testing.assert_frame_equal(pd.read_csv("p.csv"), rows)
    assert "p.csv exists" in error_of(run("predict", learned / "price" / "model.gramian", "new.csv", "--out", "p.csv"))
    lines = run("predict", learned / "sold" / "model.gramian", "new.csv", "--json").stdout.splitlines()
    for line in map(json.loads, lines):
        assert line["probability_open"] + line["probability_sold"] == pytest.approx(1, abs=2e-4)
    odd = new.drop(columns=["price", "sold"]).iloc[:2].assign(area=[None, 1e7])
    odd.loc[0, ["town", "garden", "built", "noise"]] = None
    odd.to_csv("odd.csv", index=False)
    told = run("predict", learned / "price" / "model.gramian", "odd.csv").stderr
    assert "1 row has values that were not seen: area (1)" in told
    assert told.endswith("1 row has no value to compare by\n")


def test_models_are_told_apart(run, learned, explored):
    houses(5).to_csv("new.csv", index=False)
    model = learned / "price" / "model.gramian"
    wrong = error_of(run("assign", model, "new.csv"))
    assert wrong == "gramian: model.gramian predicts the column 'price'; use gramian predict"
    assert "use gramian assign" in error_of(run("predict", explored[2] / "model.gramian", "new.csv"))
    printed = run("info", model).stdout
    assert "predicts: price\n" in printed
    assert re.search(r"rmse: [\d.]+ \(trivial predictor [\d.]+\)", printed)
    assert json.loads(run("info", learned / "sold" / "model.gramian", "--json").stdout)["classes"] == ["open", "sold"]


def test_missing_columns_are_named(run, explored):
    customers(5)[0].drop(columns="age").to_csv("new.csv", index=False)
    assert "age" in error_of(run("assign", explored[2] / "model.gramian", "new.csv"))


def test_new_rows_are_read_as_the_table_was(run, tmp_path):
    """Codes of missing values and the order of day and month need not be said again; slips are told."""
    rng = np.random.default_rng(0)
    days = pd.to_datetime("2021-01-01") + pd.to_timedelta(rng.integers(0, 365, 60), unit="D")
    size = np.where(rng.random(60) < 0.5, rng.normal(0, 1, 60), rng.normal(9, 1, 60)).round(3).astype(str)
    size[:2] = "-999", "about 3"
    table = pd.DataFrame({"size": size, "day": days.strftime("%d/%m/%Y")})
    table.to_csv("t.csv", index=False)
    assert run("explore", "t.csv", "--missing", -999, "--quiet").exit_code == 0
    (tmp_path / "new.csv").write_text("size,day\n-999,03/04/2021\n")
    new = json.loads(run("assign", "t_explored/model.gramian", "new.csv", "--json").stdout)
    assert (new["size"], new["day"]) == (None, "2021-04-03T00:00:00")
    again = run("assign", "t_explored/model.gramian", "t.csv", "--out", "new/a.csv")
    assert again.stderr == "gramian: t.csv: 1 row has values that cannot be read and count as missing: size (1)\n"
    rows = pd.read_csv("t_explored/rows.csv", parse_dates=["day"])
    found = pd.read_csv("new/a.csv", parse_dates=["day"])
    pd.testing.assert_frame_equal(found[["size", "day", "group"]], rows[["size", "day", "group"]])


def test_a_cell_that_cannot_be_read_is_noted_beside_its_row(run, explored, learned):
    """One slip refuses no file: the row is answered for by its other values, and the cell comes back as it was."""
    new = customers(4, seed=9, holes=0)[0].astype(object)
    new.loc[0, "age"], new.loc[1, "income"], new.loc[2, "joined"] = "abc", "inf", "gestern"
    new.to_csv("new.csv", index=False)
    result = run("assign", explored[2] / "model.gramian", "new.csv")
    rows = pd.read_csv(io.StringIO(result.stdout), dtype=str, keep_default_na=False)
    notes = ["age 'abc' is not a number", "income 'inf' is not a number", "joined 'gestern' is not a date", ""]
    assert rows["note"].tolist() == notes
    assert (rows["group"] != "0").all()
    assert rows[list(new)].to_numpy().tolist() == new.astype(str).to_numpy().tolist()
    told = "3 rows have values that cannot be read and count as missing: age (1), income (1), joined (1)"
    assert result.stderr == f"gramian: new.csv: {told}\n"
    lines = run("assign", explored[2] / "model.gramian", "new.csv", "--json").stdout.splitlines()
    assert [json.loads(line)["note"] for line in lines] == notes
    new["age"] = ["abc", "old", "young", 30]
    new.to_csv("new.csv", index=False)
    refused = error_of(run("assign", explored[2] / "model.gramian", "new.csv"))
    assert "row 2, column 'age': 'abc' is not a number, as 3 of 4 filled cells" in refused
    house = houses(5, seed=5).astype({"area": object})
    house.loc[3, "area"] = "large"
    house.to_csv("house.csv", index=False)
    result = run("predict", learned / "price" / "model.gramian", "house.csv")
    rows = pd.read_csv(io.StringIO(result.stdout))
    assert rows["note"][3] == "area 'large' is not a number"
    assert rows["prediction"].notna().all()
    assert "1 row has values that cannot be read and count as missing: area (1)" in result.stderr


def test_rank(run, explored):
    found, model, folder = explored
    lines = run("rank", folder / "model.gramian", "--like", 8, "--top", 4).stdout.splitlines()
    assert [int(line.split()[0]) - 1 for line in lines[1:]] == model.like(7, 4)[0].tolist()
    listed = json.loads(run("rank", folder / "model.gramian", "--cluster", 2, "--json").stdout)
    assert [item["row"] - 1 for item in listed][:5] == found.clusters[1].typical
    assert "either --like" in error_of(run("rank", folder / "model.gramian"))
    assert "there are 3 groups" in error_of(run("rank", folder / "model.gramian", "--cluster", 4))


@pytest.mark.parametrize("part", ["places_", "ranks_", "number_", "ranker_", "oddness_", "clusterer", "rows_"])
def test_a_model_without_a_part_is_one_line(run, explored, part):
    model = gramian.load(explored[2] / "model.gramian")
    if part == "clusterer":
        model.clusterer = None
    else:
        delattr(model, part)
    gramian.save(model, "torn.gramian")
    customers(5)[0].to_csv("new.csv", index=False)
    assert "torn.gramian lacks what this version of gramian keeps" in error_of(run("rank", "torn.gramian", "--like", 1))
    assert "explore the table again" in error_of(run("assign", "torn.gramian", "new.csv"))


def test_a_model_that_promises_too_much_is_not_called_a_large_table(run, explored):
    """An array header of 1e11 entries in a model file is damage of that file, not of the table."""
    with zipfile.ZipFile(explored[2] / "model.gramian") as parts:
        found = {name: parts.read(name) for name in parts.namelist()}
    name = next(name for name in found if name.endswith(".npy"))
    header = io.BytesIO()
    np.lib.format.write_array_header_1_0(header, {"shape": (10**11,), "fortran_order": False, "descr": "<f8"})
    with zipfile.ZipFile("huge.gramian", "w") as parts:
        for part, content in found.items():
            parts.writestr(part, header.getvalue() if part == name else content)
    customers(5)[0].to_csv("new.csv", index=False)
    assert "huge.gramian is damaged" in error_of(run("assign", "huge.gramian", "new.csv"))


def test_values_that_were_not_seen_are_flagged(run, explored):
    """Per row in the output, and summed up on the terminal; a row without values has no group."""
    new = customers(6, seed=9, holes=0)[0].astype(object)
    new.loc[0, "plan"] = "blue"
    new.loc[1, ["plan", "age"]] = "green", 900
    new.loc[2, "joined"] = "2049-01-01"
    new.loc[3, new.columns.drop("id")] = None
    new.to_csv("new.csv", index=False)
    model = explored[2] / "model.gramian"
    result = run("assign", model, "new.csv")
    assert result.stderr.splitlines() == [
        "gramian: new.csv: 3 rows have values that were not seen: age (1), plan (2), joined (1)",
        "gramian: new.csv: 1 row has no value to compare by and no group",
    ]
    rows = pd.read_csv(io.StringIO(result.stdout), keep_default_na=False)
    age = explored[0].frame["age"]
    assert rows["note"][0] == "plan 'blue' was not seen"
    assert rows["note"][1] == f"age 900 lies outside {age.min():.0f}–{age.max():.0f}; plan 'green' was not seen"
    assert rows["note"][2].startswith("joined 2049-01-01 lies outside 2020-")
    assert rows["note"][3:].tolist() == ["no value to compare by", "", ""]
    assert (rows["group"] == 0).tolist() == [False, False, False, True, False, False]
    lines = [json.loads(line) for line in run("assign", model, "new.csv", "--json").stdout.splitlines()]
    assert [line["note"] for line in lines] == rows["note"].tolist()
    assert [line["country"] for line in lines[:3]] == ["NO"] * 3  # not a boolean


def test_rank_prints_rows_with_their_values(run, explored):
    """A header, the identifier and the columns that tell most, as the file has them; scores that differ."""
    found, _, folder = explored
    lines = run("rank", folder / "model.gramian", "--cluster", 1, "--top", 5).stdout.splitlines()
    header = lines[0].split()
    assert header[:4] == ["row", "group", "score", "id"]
    assert header[4:] == [item.column for item in found.importances[:4]]
    cells = pd.read_csv(folder / "rows.csv", dtype=str, keep_default_na=False)
    listed = json.loads(run("rank", folder / "model.gramian", "--cluster", 1, "--top", 5, "--json").stdout)
    for line, item in zip(lines[1:], listed, strict=True):
        row = cells.iloc[item["row"] - 1]
        assert item["values"] == row[header[3:]].to_dict()
        assert (row["group"], row["rank_in_group"]) == ("1", str(listed.index(item) + 1))
        assert line.split()[:2] == [str(item["row"]), "1"]
        assert row["id"] in line.split()
    assert len({line.split()[2] for line in lines[1:]}) == 5


def test_close_scores_are_told_apart():
    from gramian.cli.rows import _digits_that_differ

    assert _digits_that_differ([1.0, 0.5, 0.5]) == 2
    assert _digits_that_differ([0.99994, 0.99991, 0.9]) == 5
    assert _digits_that_differ([1.0, 1.0]) == 2


def test_groups_and_rows_are_counted_alike_everywhere(run, explored):
    """rows.csv, summary, rank and assign: row 1 is the first of the table, group 1 the largest."""
    folder = explored[2]
    rows = pd.read_csv(folder / "rows.csv")
    summary = json.loads((folder / "summary.json").read_text())
    sizes = rows["group"].value_counts().sort_index()
    assert sizes.tolist() == sorted(sizes, reverse=True) == [group["size"] for group in summary["groups"]]
    assert [group["label"] for group in summary["groups"]] == [1, 2, 3]
    for group in summary["groups"]:
        first = group["typical"][0]
        assert (rows["group"][first - 1], rows["rank_in_group"][first - 1]) == (group["label"], 1)
        listed = json.loads(run("rank", folder / "model.gramian", "--cluster", group["label"], "--json").stdout)
        assert [item["row"] for item in listed[:5]] == group["typical"]
    for item in summary["odd_rows"]:
        assert rows["oddness"][item["row"] - 1] == pytest.approx(item["score"], abs=1e-4)
    again = run("assign", folder / "model.gramian", folder / "rows.csv").stdout
    assert (pd.read_csv(io.StringIO(again))["gramian_group"] == rows["group"]).mean() > 0.95


def test_a_new_file_with_another_spelling_names_the_nearest_column(run, explored):
    customers(5)[0].rename(columns={"income": "Incomes"}).to_csv("new.csv", index=False)
    error = error_of(run("assign", explored[2] / "model.gramian", "new.csv"))
    assert "no column 'income'; rename 'Incomes' if it is meant" in error
