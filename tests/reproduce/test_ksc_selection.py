"""Choosing the number of clusters, and indefinite kernels: the scripts run in small and count right."""

import gzip

import numpy as np
import pytest

from reproduce import ksc_indefinite, ksc_selection
from reproduce.table import Options


@pytest.mark.parametrize("run", range(4))
def test_draws_are_what_they_say(run):
    """2 to 8 clusters of 30 to 200 rows, centres at least 6 apart; another run is another draw."""
    X, y = ksc_selection.gaussians(run)
    sizes = np.bincount(y)
    assert 2 <= len(sizes) <= 8
    assert sizes.min() >= 30
    assert sizes.max() <= 200
    centers = np.array([X[y == k].mean(axis=0) for k in range(len(sizes))])
    apart = np.linalg.norm(centers[:, None] - centers, axis=2)[np.triu_indices(len(sizes), 1)]
    assert apart.min() > 5
    assert not np.array_equal(X[:20], ksc_selection.gaussians(run + 1)[0][:20, : X.shape[1]])


def test_the_rule_is_counted_beside_the_published_criteria():
    """Rings and noise: the rule is right on both, and criteria without angles are wrong on two clusters."""
    records, report = ksc_selection.EXPERIMENT.run(Options(runs=1, datasets=("two rings", "uniform noise")))
    assert {record["method"] for record in records} == set(ksc_selection.METHODS)
    lines = [line.split("|") for line in report.splitlines() if line.startswith(("| two", "| uniform"))]
    assert lines[0][2].strip() == "1 of 1"
    assert lines[0][5].strip() == lines[0][6].strip() == "0 of 1"
    assert [cell.strip() for cell in lines[1][2:5]] == ["1 of 1", "–", "–"]


def test_indefinite_kernels_are_compared_on_the_same_columns(tmp_path, capsys):
    rng = np.random.default_rng(0)
    y = np.repeat([0, 1, 2], 30)
    X = rng.normal(size=(90, 2)) + 8 * np.eye(3)[y][:, :2]
    (tmp_path / "uci").mkdir()
    with gzip.open(tmp_path / "uci" / "iris.csv.gz", "wt") as file:
        file.write("\n".join(["a,b,label", *(f"{a:.6g},{b:.6g},{'xyz'[c]}" for (a, b), c in zip(X, y, strict=True))]))
    records, report = ksc_indefinite.EXPERIMENT.run(Options(runs=1, data=tmp_path))
    assert [record["method"] for record in records] == list(ksc_indefinite.KERNELS)
    by = {record["method"]: record for record in records}
    assert min(by[kernel]["ari"] for kernel in ("RBF", "RBF, [0, 1]", "TL1")) > 0.9
    assert by["TL1"]["negative"] > 0 == by["RBF"]["negative"]
    assert "| mean |" in report
    assert "wine left out" in capsys.readouterr().err
