"""The table of communities of networks runs on small networks and prints published and our figures."""

from gramian.datasets import make_planted_graph
from reproduce import ksc_networks
from reproduce.table import Options


def written(path, seed):
    """A planted network as an edge list."""
    adjacency, _ = make_planted_graph(400, 4, degree=14, inside=0.85, random_state=seed)
    edges = adjacency.tocoo()
    path.write_text("".join(f"{u} {v}\n" for u, v in zip(edges.row, edges.col, strict=True) if u <= v))


def test_networks_and_levels(tmp_path, capsys):
    """Every method stands in the table; networks that are not there are named; PGP has levels."""
    (tmp_path / "networks").mkdir()
    for seed, file in enumerate(("pgp", "celegans_metabolic")):
        written(tmp_path / "networks" / f"{file}.edgelist.gz", seed)
    records, report = ksc_networks.EXPERIMENT.run(Options(data=tmp_path))
    assert "Enron left out" in capsys.readouterr().err
    by_method = {r["method"]: r for r in records if r["dataset"] == "PGP"}
    assert set(by_method) == {
        ksc_networks.AS_PUBLISHED,
        ksc_networks.PLAIN,
        ksc_networks.DEFAULT,
        *ksc_networks.PEERS,
    }
    assert by_method[ksc_networks.DEFAULT]["modularity"] >= by_method["Louvain"]["modularity"] - 0.01
    assert "105 / 0.88 / 0.045" in report
    assert "VI to Louvain" in report
    assert "MH-KSC, level 0" in report
