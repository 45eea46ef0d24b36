"""The folder of a network is written whole or not at all, and its files agree."""

import csv
import io

import pytest

import gramian
from communities.clubs import clubs
from gramian.communities import divide, read_edges
from gramian.report import OutputExists, network_nodes, network_summary, placed_nodes, write_network_folder

pytest_plugins = ["communities.conftest"]


def test_nothing_is_left_of_a_folder_that_could_not_be_written(divided, tmp_path, monkeypatch):
    from gramian.report import networks

    def broken(*_):
        raise OSError("no room")

    monkeypatch.setattr(networks, "save", broken)
    with pytest.raises(OSError, match="no room"):
        write_network_folder(*divided, tmp_path / "out")
    assert not list(tmp_path.iterdir())


def test_a_folder_is_replaced_only_by_force(divided, tmp_path):
    write_network_folder(*divided, tmp_path / "out")
    with pytest.raises(OutputExists, match="add --force"):
        write_network_folder(*divided, tmp_path / "out")
    write_network_folder(*divided, tmp_path / "out", force=True)
    names = {"report.html", "nodes.csv", "summary.json", "model.gramian"}
    assert {path.name for path in (tmp_path / "out").iterdir()} == names
    assert gramian.load(tmp_path / "out" / "model.gramian").nodes == list(divided[0].edges.nodes)


def test_names_of_any_kind_come_through_the_csv(tmp_path):
    pairs = [(f'{a}, "quoted"', b) for a, b in clubs()] + [("01", "1"), ("ä ö", "01")]
    edges = read_edges(io.StringIO("".join(f'"{a.replace(chr(34), chr(34) * 2)}";"{b}"\n' for a, b in pairs)))
    write_network_folder(*divide(edges), tmp_path / "out")
    with (tmp_path / "out" / "nodes.csv").open(encoding="utf-8", newline="") as file:
        assert [row["node"] for row in csv.DictReader(file)] == list(edges.nodes)


def test_frames_and_summary_say_the_same(divided):
    found, model = divided
    nodes, told = network_nodes(found).set_index("node"), network_summary(found)
    for item in told["communities"]:
        assert (nodes["community"] == item["number"]).sum() == item["size"]
        assert (nodes["community"][item["hubs"]] == item["number"]).all()
    for bridge in told["bridges"]:
        row = nodes.loc[bridge["node"]]
        assert (row["community"], row["degree"]) == (bridge["community"], bridge["degree"])
        assert row["membership"] == pytest.approx(bridge["membership"], abs=1e-4)
    for i, level in enumerate(told["levels"], start=1):
        assert nodes[f"level_{i}"].nunique() == level["communities"]
    edges = read_edges(io.StringIO("new x00\n"))
    assert placed_nodes(model, edges).equals(placed_nodes(model, edges, placed=model.place(edges)))
