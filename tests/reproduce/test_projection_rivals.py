"""The rivals of Tables 3.1 and 5.4 run in small, and the thesis is quoted right."""

import numpy as np
import pytest

from reproduce import kdac_tables, projection_rivals
from reproduce.projection_rivals import CLUSTERS_PUBLISHED, PUBLISHED
from reproduce.table import Options


def test_quotes_the_rows_of_rivals():
    """Spot checks of both tables."""
    assert PUBLISHED["wine", "Gaussian", "DG"] == ["-1201 ± 25", "93.2 ± 5.5", "7.9"]
    assert PUBLISHED["cancer", "polynomial", "SM"] == ["-1737000 ± 84000", "97.4 ± 0.3", "198"]
    assert CLUSTERS_PUBLISHED["LG", "SM", "random"] == ["0.4 ± 0.49", "1.9 ± 0.031", "0.6 ± 0.49", "11.21 ± 11.01"]
    assert CLUSTERS_PUBLISHED["MoonN", "DG", "random"][0] == "0 ± 0.0"
    assert len(CLUSTERS_PUBLISHED) == 16


def test_runs_without_files(tmp_path, capsys):
    """Small Gaussians: every method finds the other clustering from the spectral start, or says what it found."""
    options = Options(runs=1, datasets=("SG", "face"), data=tmp_path)
    records, report = projection_rivals.EXPERIMENT.run(options)
    assert "face left out: images/cmu_faces.npz" in capsys.readouterr().err
    assert len(records) == 6
    ours = next(r for r in records if r["method"] == "ISM" and r["start"] == "spectral")
    assert ours["nmi"] == pytest.approx(1)
    assert "| SG, spectral, SM | 1 | " in report
    assert "What the figures do not say" in report


def test_the_plain_alternation_is_the_estimators():
    """With ISM as optimiser it finds the clusters and the quality of AlternativeClustering."""
    X, given, sought = kdac_tables.load("LG", 0, None, 80)
    done = projection_rivals.alternation(X, given, kdac_tables.SETTINGS["LG"], "ISM", "spectral", 0)
    (record,) = kdac_tables.one_run("LG", "spectral", 0, None, 80)
    assert projection_rivals._nmi(sought, done["labels"]) == pytest.approx(record["nmi"])
    assert done["quality"] == pytest.approx(record["quality"], rel=1e-3)
    assert done["printed_cost"] == pytest.approx(record["printed_cost"], rel=1e-2)


def test_one_fold_ends_at_the_same_cost():
    """On Wine with a Gaussian kernel the manifolds reach the cost of ISM."""
    records = [r for r in projection_rivals.one_fold("wine", 0, None, None) if r["kernel"] == "Gaussian"]
    costs = {record["method"]: record["cost"] for record in records}
    assert set(costs) == {"ISM", "SM", "GM", "DG"}
    np.testing.assert_allclose([costs["SM"], costs["GM"]], costs["ISM"], rtol=1e-3)
