"""``gramian explore`` and ``learn``: what is printed, written and returned."""

import json
import re

import numpy as np
import pandas as pd

from cli.conftest import error_of
from exploration.conftest import customers
from learning.houses import houses

pytest_plugins = ["exploration.conftest"]


def test_explore_writes_a_folder(run, customers_file, tmp_path):
    result = run("explore", customers_file, "--out", "found", "--quiet")
    assert (result.exit_code, result.output) == (0, "")
    assert sorted(path.name for path in tmp_path.iterdir()) == ["found"]
    assert len(pd.read_csv(tmp_path / "found" / "rows.csv")) == 150
    again = run("explore", customers_file, "--out", "found")
    assert "found exists; add --force" in error_of(again)


def test_explore_prints_json(run, customers_file):
    result = run("explore", customers_file, "--json", "--clusters", 2, "--ignore", "noise,id", "--seed", 1)
    found = json.loads(result.stdout)
    assert (found["rows"], len(found["groups"]), found["folder"]) == (150, 2, "customers_explored")
    assert {column["name"]: column["kind"] for column in found["columns"]}["noise"] == "ignored"


def test_explore_reads_standard_input(run, tmp_path):
    text = customers(60)[0].to_csv(index=False)
    result = run("explore", "-", "--quiet", input=text)
    assert result.exit_code == 0, result.stderr
    assert (tmp_path / "table_explored" / "report.html").exists()


def test_learn_writes_a_folder_and_says_how_well(run, learned, tmp_path):
    assert sorted(path.name for path in (learned / "price").iterdir()) == [
        "model.gramian", "report.html", "rows.csv", "summary.json",
    ]  # fmt: skip
    result = run("learn", learned / "houses.csv", "--target", "price", "--columns", "area,town")
    assert result.output.startswith("The other columns explain ")
    assert "Open houses_learned/report.html in a browser." in result.output
    assert "exists; add --force" in error_of(run("learn", learned / "houses.csv", "--target", "price"))
    told = json.loads(run("learn", learned / "houses.csv", "--target", "sold", "--force", "--json").stdout)
    assert (told["target"], told["classes"], told["folder"]) == ("sold", ["open", "sold"], "houses_learned")
    assert [path.name for path in tmp_path.iterdir()] == ["houses_learned"]


def test_whole_numbers_to_predict_may_be_classes_and_that_is_told(run, tmp_path):
    """Values 1, 2, 3 in an order that the other columns follow are numbers, unless the user knows better."""
    label = np.arange(60) % 3 + 1
    rng = np.random.default_rng(0)
    table = pd.DataFrame({"a": label + 0.3 * rng.normal(size=60), "b": label + rng.normal(size=60), "grade": label})
    table.round(4).to_csv("t.csv", index=False)
    told = "grade is read as a number and has 3 different whole values; if they are classes, pass --category grade."
    assert " ".join(run("learn", "t.csv", "--target", "grade").output.split()).startswith(told)
    assert told in (tmp_path / "t_learned" / "report.html").read_text("utf-8")
    classes = run("learn", "t.csv", "--target", "grade", "--category", "grade", "--json", "--force").stdout
    assert json.loads(classes)["classes"] == ["1", "2", "3"]
    assert "is read as a number" not in classes


def test_targets_that_cannot_be_learned(run, learned, tmp_path):
    file = learned / "houses.csv"
    assert "did you mean 'price'" in error_of(run("learn", file, "--target", "prize"))
    assert "looks like an identifier" in error_of(run("learn", file, "--target", "id"))
    assert "has one value only" in error_of(run("learn", file, "--target", "country"))
    assert "no column but 'price'" in error_of(run("learn", file, "--target", "price", "--columns", "id,country"))
    assert "is left out" in error_of(run("learn", file, "--target", "price", "--ignore", "price"))
    houses(9).to_csv("few.csv", index=False)
    assert "has 9 values; at least 10" in error_of(run("learn", "few.csv", "--target", "price"))
    assert [path.name for path in tmp_path.iterdir()] == ["few.csv"]


def test_a_column_with_one_exception_is_explored(run, tmp_path):
    """Two values, of which one occurs once."""
    rng = np.random.default_rng(0)
    table = pd.DataFrame(rng.normal(size=(40, 2)).round(3) + 6 * (np.arange(40) % 2)[:, None], columns=["a", "b"])
    table["flag"] = ["yes", *["no"] * 39]
    table["kind"] = [0] * 39 + [1]
    table.to_csv("t.csv", index=False)
    result = run("explore", "t.csv", "--quiet")
    assert (result.exit_code, result.output) == (0, "")
    assert len(pd.read_csv("t_explored/rows.csv")) == 40


def test_cells_are_written_as_they_came(run, tmp_path):
    """Also those that a spreadsheet takes for formulas: they are the user's own."""
    words = ["=1+1", "+x", "-y", "@SUM(A1)"]
    rows = "".join(f"{words[i % 4]},{i % 7}.5,{i % 5}.25\n" for i in range(40))
    (tmp_path / "t.csv").write_text("word,a,b\n" + rows)
    assert run("explore", "t.csv", "--quiet").exit_code == 0
    assert pd.read_csv("t_explored/rows.csv")["word"].tolist() == [words[i % 4] for i in range(40)]


def test_a_table_pasted_four_times_gives_the_same_groups(run):
    """Also the identifier is still none of the data."""
    once = customers(80, seed=3)[0].rename(columns={"id": "customer_id"})
    once.to_csv("once.csv", index=False)
    pd.concat([once] * 4).to_csv("often.csv", index=False)
    first, second = (json.loads(run("explore", name, "--json").stdout) for name in ("once.csv", "often.csv"))
    assert "240 rows are copies of others and changed nothing." in second["overview"]
    kinds = [{column["name"]: column["kind"] for column in found["columns"]} for found in (first, second)]
    assert kinds[0] == kinds[1]
    groups = [pd.read_csv(f"{name}_explored/rows.csv")["group"].to_numpy() for name in ("once", "often")]
    np.testing.assert_array_equal(np.tile(groups[0], 4), groups[1])
    assert first["missing"]["informative"] == second["missing"]["informative"]
    assert [item["column"] for item in first["features"]] == [item["column"] for item in second["features"]]
    assert first["odd_rows"] == second["odd_rows"]
    for one, other in zip(first["groups"], second["groups"], strict=True):
        assert one["sentence"] == other["sentence"]
        assert one["typical"] == other["typical"]
    assert [level["sentence"] for level in first["levels"]] == [level["sentence"] for level in second["levels"]]


def test_codes_are_told_and_can_be_overruled(run):
    rng = np.random.default_rng(3)
    status, gender = rng.integers(0, 4, 120), rng.integers(1, 3, 120)
    size = 9.0 * np.array([2, 0, 3, 1])[status] + rng.normal(size=120)
    table = pd.DataFrame({"status": status, "gender": gender, "size": size, "speed": rng.normal(size=120)})
    table.to_csv("t.csv", index=False)
    result = run("explore", "t.csv", "--clusters", 2)
    assert "Read as codes: status, gender; --number NAME reads one as a number." in result.stdout

    def kinds(*options):
        found = json.loads(run("explore", "t.csv", "--force", "--json", "--clusters", 2, *options).stdout)
        return [column["kind"] for column in found["columns"]]

    assert kinds() == ["category", "category", "number", "number"]
    assert kinds("--number", "status,gender") == ["number"] * 4
    assert kinds("--number", "status", "--number", "gender", "--category", "speed")[:2] == ["number"] * 2
    error = error_of(run("explore", "t.csv", "--force", "--category", "sttaus"))
    assert error == "gramian: t.csv has no column 'sttaus'; did you mean 'status'?"


def test_levels_like_exponents_are_read_as_text(run):
    rng = np.random.default_rng(0)
    group = np.arange(60) % 3
    table = pd.DataFrame({"part": [f"e-{g}" for g in group], "size": 9.0 * group + rng.normal(size=60)})
    table.to_csv("t.csv", index=False)
    found = json.loads(run("explore", "t.csv", "--json").stdout)
    assert found["columns"][0]["kind"] == "category"
    assert pd.read_csv("t_explored/rows.csv")["part"].tolist() == table["part"].tolist()


def test_years_have_no_thousands_separator(run):
    rng = np.random.default_rng(0)
    group = np.arange(90) % 3
    years = 1985 + 12 * group + rng.integers(0, 4, 90)
    table = pd.DataFrame(rng.normal(size=(90, 3)) + 9.0 * group[:, None], columns=["size", "age", "speed"])
    table.insert(0, "year", years)
    table.to_csv("t.csv", index=False)
    found = json.loads(run("explore", "t.csv", "--clusters", 3, "--json").stdout)
    assert any(item["column"] == "year" for group in found["groups"] for item in group["differences"])
    for path in ("t_explored/report.html", "t_explored/summary.json"):
        with open(path) as file:
            assert not re.search(r"\b(1,9|2,0)\d\d\b", file.read())


def test_explore_takes_a_folder_of_files(run, customers_file, tmp_path):
    frame = pd.read_csv(customers_file)
    (tmp_path / "shop").mkdir()
    for i, part in enumerate(np.array_split(np.arange(len(frame)), 3)):
        frame.iloc[part].to_csv(tmp_path / "shop" / f"{i}.csv", index=False)
    result = run("explore", "shop/*.csv", "--workers", 1, "--json")
    assert result.exit_code == 0, result.stderr
    found = json.loads(result.stdout)
    assert (found["rows"], found["folder"]) == (150, "shop_explored")
    assert len(list((tmp_path / "shop_explored" / "rows").iterdir())) == 3
    assert "shop_explored exists; add --force" in error_of(run("explore", "shop"))


def test_folders_that_cannot_be_explored(run, customers_file, tmp_path):
    (tmp_path / "empty").mkdir()
    assert "empty holds no Parquet" in error_of(run("explore", "empty", "--workers", 1))
    assert "no file matches empty/*.csv" in error_of(run("explore", "empty/*.csv", "--workers", 1))
    (tmp_path / "one").mkdir()
    (tmp_path / "one" / "a.csv").write_text("a,b\n1,2\n")
    both = run("explore", "one", "--workers", 1, "--scheduler", "tcp://127.0.0.1:9")
    assert "exclude each other" in error_of(both)
    assert "are for a folder of files" in error_of(run("explore", customers_file, "--workers", 2))
    assert sorted(path.name for path in tmp_path.iterdir()) == ["empty", "one"]
