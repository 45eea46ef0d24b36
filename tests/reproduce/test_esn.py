"""Echo state networks: the scripts run in small, quote the table right and mark what is damaged."""

import gzip

import numpy as np
import pytest

from gramian import KernelPCA
from reproduce import esn_figures, esn_sequences, esn_table1, esn_table3, esn_table4
from reproduce.table import Options


def row(name):
    return next(row for row in esn_table3.ROWS if row.name == name)


def test_all_rows_are_quoted():
    assert len(esn_table3.ROWS) == 18
    assert len({row.name for row in esn_table3.ROWS}) == 18
    best = row("NARMA, ν-SVR, kPCA")
    assert (best.n, best.rho, best.omega_f, best.d, best.gamma_k, best.error) == (
        460,
        0.962,
        0.037,
        163,
        0.028,
        5.852e-2,
    )
    assert (row("MSO, ridge, PCA").ridge, row("MSO, ridge, PCA").error) == (0.601, 0.7642)
    assert sum(bool(row.damage) for row in esn_table3.ROWS) == 4
    assert [row.name for row in esn_table3.ROWS if row.error is None] == ["MG, ν-SVR, kPCA", "MSO, ν-SVR, kPCA"]


def test_models_have_the_published_parameters():
    model = esn_table3.network(row("NARMA, ridge, kPCA"), 3)
    assert isinstance(model.reduction, KernelPCA)
    assert 0.5 / model.reduction.kernel.width**2 == pytest.approx(0.008)
    assert (model.n_units, model.connectivity, model.regularization, model.washout) == (342, 0.25, 0.001, 100)
    model = esn_table3.network(row("MSO, ν-SVR, PCA"), 3)
    assert (model.reduction, model.n_components, model.readout.nu) == ("pca", 225, 0.38)


def test_targets_are_ahead_by_the_published_steps():
    U, y = esn_table3.series("MSO", 300)
    np.testing.assert_array_equal(U[20:, 0], y[:-20])
    U, y = esn_table3.series("MG", 300)
    np.testing.assert_array_equal(U[6:, 0], y[:-6])


def test_narma_runs_in_small(monkeypatch):
    chosen = [row("NARMA, ridge, none"), row("NARMA, ν-SVR, kPCA"), row("MSO, ridge, none")]
    monkeypatch.setattr(esn_table3, "ROWS", chosen)
    records, report = esn_table3.EXPERIMENT.run(Options(runs=1, samples=1200, datasets=("NARMA",)))
    assert len(records) == 2
    assert all(0 < record["nrmse"] < 1 for record in records)
    assert "| NARMA, ridge, none | 0.376 ± 0.001 |" in report
    assert "γ_r lost" in report
    assert "What the figures do not say" in report
    assert len(list(esn_table3.tasks(Options(), 2))) == 6


def error_of(name, n_networks=2):
    """Mean error of networks on the whole series."""
    return np.mean([esn_table3.one_network(row(name), seed, None)[0]["nrmse"] for seed in range(n_networks)])


@pytest.mark.parametrize("name", ["NARMA, ridge, none", "NARMA, ridge, PCA"])
def test_narma_has_the_published_error(name):
    assert error_of(name) == pytest.approx(row(name).error, rel=0.15)


def test_a_few_components_and_a_support_vector_machine_are_far_below_ridge_on_mackey_glass():
    assert error_of("MG, ν-SVR, PCA", 1) < error_of("MG, ridge, none") / 5


def test_full_runs_as_often_as_the_paper():
    assert esn_table3.EXPERIMENT.published_runs == 32
    assert esn_table3.EXPERIMENT.runs == 5


def test_slopes_are_those_of_powers(monkeypatch):
    sizes = [(t, 200) for t in (1, 2, 4)] + [(2, n) for n in (100, 400)]
    records = [{"steps": t, "units": n, "seconds": t**2 * n, "peak": 3.0 * n**2} for t, n in sizes]
    assert esn_table1.slope(records, "steps", "seconds") == pytest.approx(2)
    assert esn_table1.slope(records, "units", "seconds") == pytest.approx(1)
    assert esn_table1.slope(records, "units", "peak") == pytest.approx(2)
    monkeypatch.setattr(esn_table1, "UNITS", (32, 40, 64))
    records, report = esn_table1.EXPERIMENT.run(Options(runs=1, samples=150))
    assert len(records) == 4 * 5
    assert "| ridge, kPCA | T³ + d³ | T² |" in report


def test_table_4_is_quoted_and_runs_in_small():
    assert esn_table4.PUBLISHED["Lorenz", "D₂"] == (2.068, 1.8871, 2.1722, 1.8614, 1.6044)
    assert esn_table4.PUBLISHED["Moore–Spiegel", "λ₁"][-1] == 0.75421
    records, report = esn_table4.EXPERIMENT.run(Options(runs=1, samples=900, datasets=("Lorenz",)))
    assert len(records) == 1 + 5
    assert records[0]["sum"] == pytest.approx(-(10 + 1 + 8 / 3), abs=0.02)
    assert "| Lorenz | λ₁ | published | 0.9056 | 0.9181 | 1.04 | 0.915 | 0.7614 |" in report
    assert "Moore–Spiegel" not in report.split("###")[0].split("From the equations")[1]
    assert "What the figures do not say" in report


def test_the_flows_of_table_4_are_those_of_the_trajectories():
    for system, flow in (("Lorenz", esn_table4.lorenz_flow), ("Moore–Spiegel", esn_table4.moore_spiegel_flow)):
        points = esn_table4.trajectory(system, 4000, 0)
        speed = np.gradient(points, esn_table4.STEP[system], axis=0)[1:-1]
        assert np.corrcoef(speed[:, 0], flow(points[1:-1])[:, 0])[0, 1] > 0.99


def test_figures_are_drawn_in_small(monkeypatch, tmp_path):
    monkeypatch.setattr(esn_figures, "FOLDER", tmp_path)
    monkeypatch.setattr(esn_figures, "MODELS", {("ridge", None): "ridge, none", ("nu_svr", "pca"): "ν-SVR, PCA"})
    monkeypatch.setattr(esn_figures, "COLORS", ("red", "blue"))
    sizes = {"population_size": 3, "n_generations": 2, "n_offspring": 2, "n_evaluations": 1}
    monkeypatch.setattr(esn_figures, "SMALL", sizes)
    options = Options(runs=1, samples=500, datasets=("NARMA", "Lorenz"))
    records, report = esn_figures.EXPERIMENT.run(options)
    curves = [record["best"] for record in records if record.get("method") == "ridge, none"]
    assert len(curves) == 3
    assert sorted(p.name for p in tmp_path.glob("*.png")) == ["esn_figure_4.png", "esn_figure_5.png"]
    assert "### Figure 4" in report
    assert "What the figures do not say" in report
    flat = {record["method"]: record["flatness"] for record in records if "flatness" in record}
    assert flat["three units"] < flat["true"]
    assert esn_figures.PAPER["population_size"] == 50


def test_a_flat_cloud_is_flat():
    assert esn_figures.flatness(np.random.default_rng(0).normal(size=(500, 3)) * [1, 1, 0]) == pytest.approx(
        0, abs=1e-12
    )


@pytest.fixture
def folder(tmp_path):
    """Slow and fast waves as sequences of different length and as a table with its parts."""
    series, rng = tmp_path / "series", np.random.default_rng(0)
    series.mkdir()
    y, test = np.arange(60) % 2, np.arange(60) >= 30
    X = np.sin(np.outer(0.3 + 0.5 * y, np.arange(25)) + rng.uniform(0, 6, (60, 1)))
    X += 0.1 * rng.normal(size=X.shape)
    lengths = rng.integers(15, 26, 60)
    np.savez(series / "japanese_vowels.npz", X=np.stack([X, X**2], axis=2), length=lengths, y=y, is_test=test)
    header = ",".join([*(f"t{i:03}" for i in range(25)), "split", "label"])
    parts = np.where(test, "test", "train")
    rows = [f"{','.join(map(str, x))},{part},{k}" for x, part, k in zip(X.tolist(), parts, y, strict=True)]
    with gzip.open(series / "gunpoint.csv.gz", "wt") as file:
        file.write("\n".join([header, *rows]) + "\n")
    return tmp_path


def test_sequences_are_told_apart_and_missing_sets_are_told(folder):
    with pytest.warns(UserWarning, match="is left out") as told:
        records, report = esn_sequences.EXPERIMENT.run(Options(runs=1, data=folder))
    assert [str(warning.message).split()[0] for warning in told] == ["italypowerdemand", "ecg5000_train"]
    assert {record["dataset"] for record in records} == {"japanese_vowels", "gunpoint"}
    scores = {(record["dataset"], record["method"]): record.get("acc") for record in records}
    assert scores["gunpoint", "mean state, LS-SVM"] > 0.9
    assert scores["japanese_vowels", "mean state, logistic"] > 0.9
    assert scores["gunpoint", "mean and deviation, logistic"] < 0.9
    assert "What the figures do not say" in report


def test_parts_and_lengths_are_read(folder):
    sequences, _, test = esn_sequences.load("gunpoint", folder / "series", 0)
    assert sequences[0].shape == (25, 1)
    assert test.sum() == 30
    assert not test[:30].any()
    sequences, _, test = esn_sequences.load("japanese_vowels", folder / "series", 0)
    assert {s.shape[1] for s in sequences} == {2}
    assert len({len(s) for s in sequences}) > 3
    assert esn_sequences.padded(sequences[:2], 30).shape == (2, 60)
