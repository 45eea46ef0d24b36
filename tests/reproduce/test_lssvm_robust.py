"""The robust curve runs in small, and its draws are those described."""

import numpy as np

from reproduce.lssvm_robust import EXPERIMENT, METHODS, REIMPLEMENTED, curve
from reproduce.table import Options


def test_draws_have_six_outliers():
    """All other points are within the noise of the curve."""
    off = np.abs(curve(0) - np.sinc(np.arange(-6, 6.0001, 0.2)) - 0.05) > 0.051
    assert np.flatnonzero(off).tolist() == [14, 16, 18, 40, 43, 45]


def test_the_script_runs_and_robust_fits_are_ten_times_better():
    records, report = EXPERIMENT.run(Options(runs=2))
    assert set(METHODS) == set(REIMPLEMENTED)
    assert len(records) == 2 * len(METHODS)
    errors = {m: np.mean([r["mse"] for r in records if r["method"] == m]) for m in METHODS}
    assert max(errors[m] for m in ("Huber", "Hampel", "logistic")) < errors["no weights"] / 10
    assert "| Huber | 0.0008 |" in report
