"""The script for alternative clustering runs in small without data files, and quotes the thesis right."""

import re

import numpy as np
import pytest

from gramian.dependence.projection.alternative import AlternativeClustering
from gramian.kernels import RBF
from reproduce import kdac_tables
from reproduce.table import Options


def test_quotes_table_3_1():
    """Spot checks of the printed rows, five data sets with two starts each."""
    table = kdac_tables.PUBLISHED
    assert len(table) == 10
    assert table["SG", "spectral"] == ["1", "2", "0", "-1.2", "0.02"]
    assert table["Moon", "random"] == ["0.4 ± 0.4", "2.0 ± 0.0", "0.5 ± 0.5", "269.98 ± 43", "3.07 ± 1.4"]
    assert table["Faces", "spectral"] == ["0.57", "0.61", "0.004", "59.6", "1.5"]
    assert all(len(row) == 5 for row in table.values())


def test_runs_without_files(tmp_path, capsys):
    """Small Gaussians and moons from a spectral start are found; faces are left out with a note."""
    options = Options(runs=1, datasets=("SG", "MoonN", "Faces"), data=tmp_path)
    records, report = kdac_tables.EXPERIMENT.run(options)
    assert "Faces, pose given left out: images/cmu_faces.npz" in capsys.readouterr().err
    assert [record["dataset"] for record in records] == ["SG"] * 3 + ["MoonN"] * 3
    for record in records:
        assert 0 <= record["quality"] <= 2 + 1e-9
        if record["method"] == "spectral":
            assert record["nmi"] == pytest.approx(1)
            assert record["novelty"] < 0.01
    assert re.search(r"\| SG, spectral \| 1 \| 1\.000 \| 2 \| 1\.0\d\d \| 0 \| 0\.000 \|", report)
    assert "| SG, spectral | -1.2 | -1.0" in report
    assert "LG" not in report


def test_the_printed_cost_counts_columns_of_labels():
    """With as many components as given clusters it is the cost; with one more, a new cluster counts as an old one."""
    X, given, _ = kdac_tables.load("LG", 0, None, 80)
    models = {
        q: AlternativeClustering(2, kernel=RBF(5.0), n_components=q, standardize=False, random_state=0).fit(X, given)
        for q in (2, 3)
    }
    assert kdac_tables.printed_cost(models[2], X, given) == pytest.approx(models[2].cost_, rel=1e-6)
    assert kdac_tables.printed_cost(models[3], X, given) > models[3].cost_ + 1


@pytest.mark.parametrize(("name", "columns"), [("SG", 2), ("LG", 4), ("Moon", 4), ("MoonN", 7)])
def test_samples_are_centred_and_differ_from_run_to_run(name, columns):
    """Noise columns have a third of the others' deviation."""
    X, given, sought = kdac_tables.load(name, 0, None, None)
    other, _, _ = kdac_tables.load(name, 1, None, None)
    assert X.shape == (len(given), columns) == (len(sought), columns)
    np.testing.assert_allclose(X.mean(axis=0), 0, atol=1e-12)
    assert not np.allclose(X, other)
    if name == "MoonN":
        np.testing.assert_allclose(X.std(axis=0), [1] * 4 + [1 / 3] * 3)


def test_faces_are_twenty_components(tmp_path):
    """Of unit variance, with either labelling given."""
    rng = np.random.default_rng(0)
    labels = {"pose": np.arange(60) % 4, "person": np.arange(60) // 3}
    (tmp_path / "images").mkdir()
    np.savez(tmp_path / "images" / "cmu_faces.npz", X=rng.integers(0, 255, (60, 6, 5)).astype(np.uint8), **labels)
    X, given, sought = kdac_tables.load("Faces, pose given", 3, tmp_path, None)
    assert X.shape == (60, 20)
    np.testing.assert_allclose(X.std(axis=0), 1)
    np.testing.assert_array_equal(given, labels["pose"])
    np.testing.assert_array_equal(sought, labels["person"])
