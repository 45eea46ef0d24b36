"""``gramian network``, and what ``assign`` and ``info`` say of its model; bad input is one line and writes nothing."""

import io
import json
from pathlib import Path

import pandas as pd
import pytest

from cli.conftest import error_of
from communities.clubs import clubs, written


@pytest.fixture
def folder(run):
    Path("clubs.txt").write_text(written(clubs()))
    result = run("network", "clubs.txt", "--levels")
    assert result.exit_code == 0, result.output
    assert "fall into 4 communities" in result.stdout
    assert result.stdout.endswith("Open clubs_network/report.html in a browser.\n")
    return Path("clubs_network")


def test_a_network_becomes_a_folder_and_a_model(run, folder):
    nodes = pd.read_csv(folder / "nodes.csv")
    assert list(nodes)[:4] == ["node", "community", "membership", "degree"]
    assert "level_1" in nodes
    assert nodes.groupby("community")["node"].agg(lambda names: names.str[0].nunique()).tolist() == [1, 1, 1, 2]
    assert {path.name for path in folder.iterdir()} == {"report.html", "nodes.csv", "summary.json", "model.gramian"}
    told = json.loads((folder / "summary.json").read_text())
    assert (told["number_of_communities"], told["nodes"], told["source"]) == (4, 44, "clubs.txt")

    printed = run("info", folder / "model.gramian").stdout
    assert "communities: 4\nnodes fitted: 44\nmodularity: 0." in printed
    Path("new.csv").write_text("source,target\nann,x00\nann,x01\nbob,carl\n")
    result = run("assign", folder / "model.gramian", "new.csv")
    rows = pd.read_csv(io.StringIO(result.stdout), keep_default_na=False)
    assert rows[["node", "community"]].values.tolist() == [["ann", 1], ["bob", 0], ["carl", 0]]
    assert rows["note"].tolist() == ["", *["no edge to a node of the model"] * 2]
    assert result.stderr.splitlines() == [
        "gramian: new.csv: 1 edge among new nodes is not used",
        "gramian: new.csv: 2 nodes have no edge to a node of the model and no community",
    ]
    lines = run("assign", folder / "model.gramian", "-", "--json", input="ann x00\n").stdout.splitlines()
    assert json.loads(lines[0])["community"] == 1
    assert run("assign", folder / "model.gramian", "new.csv", "--out", "a.csv").exit_code == 0
    assert "a.csv exists" in error_of(run("assign", folder / "model.gramian", "new.csv", "--out", "a.csv"))
    assert "--missing is for tables" in error_of(run("assign", folder / "model.gramian", "new.csv", "--missing", "x"))
    assert "use gramian assign" in error_of(run("predict", folder / "model.gramian", "new.csv"))
    assert "use gramian assign" in error_of(run("rank", folder / "model.gramian", "--like", 1))


def test_json_quiet_standard_input_and_force(run):
    result = run("network", "-", "--json", "--communities", 2, input=written(clubs()))
    told = json.loads(result.stdout)
    assert (told["folder"], told["number_of_communities"]) == ("network_network", 3)
    assert "add --force" in error_of(run("network", "-", input=written(clubs())))
    again = run("network", "-", "--quiet", "--force", "--unweighted", input="a b 7\nb c 1\n")
    assert (again.exit_code, again.output) == (0, "")
    assert pd.read_csv("network_network/nodes.csv")["degree"].tolist() == [1, 2, 1]


@pytest.mark.parametrize(
    ("text", "options", "why"),
    [
        ("", [], "e.txt holds no edges"),
        ("a b\nb\n", [], "e.txt, line 2: 1 field; write 'u v' or 'u v weight'"),
        ("a a\n", [], "e.txt has no edge between two different nodes"),
        ("a b -1\n", [], "e.txt, line 1: the weight -1 is negative"),
        ("a b\n", ["--communities", "9"], "communities=9 is more than the 2 nodes"),
    ],
)
def test_bad_input_is_one_line_and_leaves_nothing(run, text, options, why):
    Path("e.txt").write_text(text)
    assert why in error_of(run("network", "e.txt", *options))
    assert sorted(path.name for path in Path().iterdir()) == ["e.txt"]


def test_a_file_that_is_not_there(run):
    assert error_of(run("network", "no.txt")) == "gramian: no.txt does not exist; check the path"
