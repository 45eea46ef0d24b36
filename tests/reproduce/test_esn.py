"""Echo state networks: the scripts run in small, quote the table right and mark what is damaged."""

import numpy as np
import pytest

from gramian import KernelPCA
from reproduce import esn_table1, esn_table3
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
