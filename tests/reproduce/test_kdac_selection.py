"""The rule of inequality (3.10) runs in small and takes what it says."""

import numpy as np
import pytest

from reproduce import kdac_selection
from reproduce.table import Options


@pytest.fixture
def small_grid(monkeypatch):
    monkeypatch.setattr(kdac_selection, "WIDTHS", (0.2, 1.0))
    monkeypatch.setattr(kdac_selection, "NOVELTIES", (0.04, 1.0))


def test_runs_in_small(small_grid):
    """Four settings, seven ways to choose, one line each; the best knows the labels."""
    records, report = kdac_selection.EXPERIMENT.run(Options(runs=1, datasets=("SG",)))
    grid = [one for one in records if one["part"] == "grid"]
    chosen = {one["method"]: one for one in records if one["part"] == "chosen"}
    assert len(grid) == 4
    assert set(chosen) == set(kdac_selection.METHODS)
    assert chosen[kdac_selection.BEST]["nmi"] == max(one["nmi"] for one in grid)
    assert chosen[kdac_selection.QUALITY]["quality"] == max(one["quality"] for one in grid)
    assert all(one["met"] <= one["met tighter"] for one in grid)
    assert "| SG, the rule | " in report


def test_settings_that_meet_the_inequality_come_first():
    """Among those quality decides, among the others nearness; a point that is not stationary comes last."""

    def told(met, quality, stationary=True):
        return {"met": met, "quality": quality, "stationary": stationary}

    order = [told(1.5, 2.0), told(4.0, 1.0), told(0.9, 5.0), told(0.1, 9.0), told(7.0, 9.0, stationary=False)]
    merits = [kdac_selection._by_rule(one, "met") for one in order]
    assert merits == sorted(merits, reverse=True)


def test_conditions_are_those_of_the_objective():
    """The eigengap and the printed bound by loops over pairs, on a few rows."""
    X, given, _ = kdac_selection.load("SG", 0, None, 16)
    model = kdac_selection.fitted(X, given, 0, kernel=kdac_selection.RBF(2.0), novelty=0.04, n_components=1)
    found = kdac_selection.conditions(X, given, model)
    W, U, n = kdac_selection.last_problem(X, given, model)[1].components.T, model.embedding_, len(X)
    Y = given[:, None] == np.unique(given)
    H = np.eye(n) - 1 / n
    root = np.sqrt(model.degrees_)
    gamma = H @ (U @ U.T - 0.04 * Y @ Y.T.astype(float)) @ H / np.outer(root, root)
    phi, bound = np.zeros((2, 2)), 0.0
    for i in range(n):
        for j in range(n):
            d = X[i] - X[j]
            value = gamma[i, j] * np.exp(-((W.T @ d) ** 2).sum() / 8)
            phi -= value / 8 * np.outer(d, d)
            bound += abs(value) / 64 * 4 * (d @ d) ** 2
    values = np.linalg.eigvalsh(phi)
    assert found["stationary"]
    assert found["met"] == pytest.approx(2 * (values[1] - values[0]) / bound, rel=1e-6)
