"""The command line: what is printed, written and returned, also when something is wrong or breaks off."""

import io
import json
import os
import re
import signal
import subprocess
import sys
import time
import urllib.request
import zipfile

import numpy as np
import pandas as pd
import pytest
from typer.testing import CliRunner

import gramian
from exploration.conftest import customers
from gramian.cli import app
from learning.houses import houses
from tables.malformed_files import write_refused

pytest_plugins = ["exploration.conftest"]


@pytest.fixture
def run(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("COLUMNS", "200")

    def call(*arguments, **options):
        return CliRunner().invoke(app, [str(argument) for argument in arguments], **options)

    return call


def error_of(result):
    """The only line of an error."""
    assert result.exit_code == 2, result.output
    lines = result.stderr.splitlines()
    assert len(lines) == 1, result.stderr
    return lines[0]


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


@pytest.fixture(scope="module")
def learned(tmp_path_factory):
    """The folders of a learned price and of learned classes."""
    place = tmp_path_factory.mktemp("learned")
    houses(100).to_csv(place / "houses.csv", index=False)
    for target, other in (("price", "sold"), ("sold", "price")):
        call = [
            "learn",
            place / "houses.csv",
            "--target",
            target,
            "--ignore",
            other,
            "--out",
            place / target,
            "--quiet",
        ]
        result = CliRunner().invoke(app, [str(argument) for argument in call])
        assert (result.exit_code, result.output) == (0, "")
    return place


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
    assert again.stderr == "gramian: t.csv, column 'size': 1 value such as 'about 3' as missing\n"
    rows = pd.read_csv("t_explored/rows.csv", parse_dates=["day"])
    found = pd.read_csv("new/a.csv", parse_dates=["day"])
    pd.testing.assert_frame_equal(found[["size", "day", "group"]], rows[["size", "day", "group"]])


def test_files_that_are_not_there(run, explored, tmp_path):
    assert error_of(run("info", "no.gramian")) == "gramian: no.gramian: No such file or directory; check the path"
    customers(5)[0].to_csv("new.csv", index=False)
    model = explored[2] / "model.gramian"
    assert "is a folder; name a file" in error_of(run("assign", model, "new.csv", "--out", tmp_path, "--force"))


def test_rank(run, explored):
    found, model, folder = explored
    lines = run("rank", folder / "model.gramian", "--like", 8, "--top", 4).stdout.splitlines()
    assert [int(line.split()[0]) - 1 for line in lines[1:]] == model.like(7, 4)[0].tolist()
    listed = json.loads(run("rank", folder / "model.gramian", "--cluster", 2, "--json").stdout)
    assert [item["row"] - 1 for item in listed][:5] == found.clusters[1].typical
    assert "either --like" in error_of(run("rank", folder / "model.gramian"))
    assert "there are 3 groups" in error_of(run("rank", folder / "model.gramian", "--cluster", 4))


def test_info(run, explored):
    printed = run("info", explored[2] / "model.gramian").stdout
    assert f"gramian: {gramian.__version__}" in printed
    assert "groups: 3" in printed
    assert "age" in json.loads(run("info", explored[2] / "model.gramian", "--json").stdout)["columns"]


def test_models_of_other_kinds(run):
    from gramian import KernelPCA
    from gramian.exploration.model import TableModel
    from gramian.tables.prepare import Preparation

    gramian.save(KernelPCA(), "pca.gramian")
    assert "KernelPCA" in run("info", "pca.gramian").stdout
    assert "not what explore writes" in error_of(run("rank", "pca.gramian", "--like", 1))
    gramian.save(TableModel(Preparation()), "old.gramian")
    assert "explore the table again" in error_of(run("rank", "old.gramian", "--like", 1))
    with open("broken.gramian", "wb") as file:
        file.write(b"no zip")
    assert "broken.gramian" in error_of(run("info", "broken.gramian"))


def test_malformed_files(run, tmp_path):
    """One line that names the file and what is wrong, exit code 2, and nothing written."""
    refused = write_refused(tmp_path)
    assert len(refused) >= 20
    before = sorted(tmp_path.iterdir())
    for path, message in refused.values():
        line = error_of(run("explore", path))
        assert re.search(re.escape(path.name) + message, line), line
    assert sorted(tmp_path.iterdir()) == before


def test_names_with_commas(run, tmp_path):
    (tmp_path / "t.csv").write_text('"size, cm",b,c\n' + "".join(f"{i % 5}.5,{i % 3}.5,{i % 2}\n" for i in range(30)))
    found = json.loads(run("explore", "t.csv", "--ignore", '"size, cm", c', "--json").stdout)
    assert [column["name"] for column in found["columns"] if column["kind"] == "ignored"] == ["size, cm", "c"]


def test_help_has_examples(run):
    assert "gramian explore data.csv" in run("explore", "--help").output
    assert {"explore", "assign", "rank", "info", "reproduce", "serve"} <= set(run("--help").output.split())
    assert gramian.__version__ in run("--version").output


def test_reproduce_lists_experiments(run, monkeypatch):
    monkeypatch.chdir(os.path.dirname(os.path.dirname(os.path.dirname(__file__))))
    result = run("reproduce")
    assert "pckid_wine" in result.output


@pytest.mark.parametrize(("number", "code"), [(signal.SIGINT, 130), (signal.SIGTERM, 130), (signal.SIGKILL, -9)])
def test_broken_off_at_any_moment(tmp_path, number, code):
    """No partial output, and the next run works: drafts of a killed process are cleared."""
    customers(300)[0].to_csv(tmp_path / "t.csv", index=False)
    command = [sys.executable, "-m", "gramian.cli", "explore", "t.csv", "--out", "out", "--quiet"]
    rng = np.random.default_rng(int(number))
    process = subprocess.Popen(command, cwd=tmp_path, stderr=subprocess.PIPE)
    time.sleep(rng.uniform(1.0, 5.0))
    process.send_signal(number)  # nothing happens if it has ended by now
    process.communicate()
    if not (tmp_path / "out").exists():
        assert process.returncode in (code, -number)  # the signal itself, while Python is still starting
    shown = {path.name for path in tmp_path.iterdir() if not path.name.startswith(".")}
    assert shown <= {"t.csv", "out"}
    done = subprocess.run([*command, "--force"], cwd=tmp_path, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    assert {path.name for path in tmp_path.iterdir()} == {"t.csv", "out"}


def test_serve_answers_and_ends_politely(tmp_path):
    command = [sys.executable, "-m", "gramian.cli", "serve", "--folder", str(tmp_path / "jobs"), "--port", "0"]
    process = subprocess.Popen(command, stdout=subprocess.PIPE, text=True, env=os.environ | {"PYTHONUNBUFFERED": "1"})
    try:
        url = re.search(r"http://[\d.:]+\S*", process.stdout.readline())[0]
        with urllib.request.urlopen(url, timeout=30) as answer:
            assert b"<html" in answer.read()
        process.send_signal(signal.SIGINT)
        assert process.wait(30) in (0, 130)
    finally:
        process.kill()
        process.communicate()


# Without the extra, and without patience -----------------------------------------------------------------------------

BLOCKED = """
import json, sys

APP = {"fastapi", "jinja2", "matplotlib", "openpyxl", "pandas", "pyarrow", "python_multipart", "starlette", "uvicorn"}


class Finder:
    def find_spec(self, name, path=None, target=None):
        if name.partition(".")[0] in APP:
            raise ModuleNotFoundError(f"No module named {name!r}", name=name)


sys.meta_path.insert(0, Finder())
from gramian_command import main

for arguments in json.loads(sys.argv[1]):
    sys.argv = ["gramian", *arguments]
    try:
        main()
    except SystemExit as end:
        print("code", end.code, file=sys.stderr, flush=True)
"""

INTERRUPTED = """
import os, signal, sys

module, sys.argv = sys.argv[1], ["gramian", "explore", "nothing.csv"]


class Finder:
    def find_spec(self, name, path=None, target=None):
        if name == module:
            os.kill(os.getpid(), signal.SIGINT)


sys.meta_path.insert(0, Finder())
from gramian_command import main

main()
"""


def test_without_the_extra_every_command_names_it(explored, tmp_path):
    """A plain installation has no pandas: one line that says what to install, exit code 2, no traceback."""
    model = str(explored[2] / "model.gramian")
    (tmp_path / "t.csv").write_text("a,b\n1,2\n3,4\n")
    commands = [["explore"], ["explore", "t.csv"], ["assign", model, "t.csv"], ["serve", "--port", "0"]]
    lighter = [["rank", model, "--like", "1"], ["info", model], ["--help"], ["--version"]]
    command = [sys.executable, "-c", BLOCKED, json.dumps(commands + lighter)]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=True)
    lines = done.stderr.splitlines()
    assert len(lines) == 2 * len(commands) + len(lighter), done.stderr
    pattern = r"gramian: this command needs \w+, which is not installed; run pip install 'gramian\[app\]'"
    for message, code in zip(lines[: 2 * len(commands) : 2], lines[1 : 2 * len(commands) : 2], strict=True):
        assert re.fullmatch(pattern, message)
        assert code == "code 2"
    assert lines[2 * len(commands) :] == ["code 0"] * len(lighter)


@pytest.mark.parametrize(
    ("module", "said"),
    [("gramian.cli", ""), ("sklearn", "gramian: stopped\n"), ("gramian.report", "gramian: stopped\n")],
)
def test_an_interrupt_while_libraries_load_is_quiet(tmp_path, module, said):
    """Ctrl-C at the import of a library: no traceback, exit code 130."""
    command = [sys.executable, "-c", INTERRUPTED, module]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=False)
    assert (done.returncode, done.stdout, done.stderr) == (130, "", said)


def test_a_missing_library_of_no_extra_keeps_its_traceback(run, monkeypatch):
    """A module that nobody promised is a fault of the installation, not of the user."""

    def broken(*_, **__):
        raise ModuleNotFoundError("No module named 'nobody'", name="nobody")

    monkeypatch.setattr("gramian.explorer.read_table", broken)
    assert isinstance(run("explore", "t.csv").exception, ModuleNotFoundError)


# Tables that were refused ---------------------------------------------------------------------------------------------


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


# Models that lack something -------------------------------------------------------------------------------------------


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


def test_serve_names_its_limits(run):
    printed = run("serve", "--help").output
    for option in ("--keep", "--keep-size", "--max-size", "--time-limit", "--memory-limit"):
        assert option in printed


# What is said of rows ------------------------------------------------------------------------------------------------


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
    from gramian.cli import _digits_that_differ

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


def test_a_new_file_with_another_spelling_names_the_nearest_column(run, explored):
    customers(5)[0].rename(columns={"income": "Incomes"}).to_csv("new.csv", index=False)
    error = error_of(run("assign", explored[2] / "model.gramian", "new.csv"))
    assert "no column 'income'; rename 'Incomes' if it is meant" in error


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
