"""The figures of dependence networks are drawn in small, and Theorem 6.3 holds with the squared norm alone."""

import numpy as np
import pytest

from gramian.dependence.projection.weights import PairWeights
from reproduce import kdn_figures
from reproduce.table import Options


def test_drawn_in_small(tmp_path):
    """A picture of layers per data set, one of curves, and a line per layer."""
    options = Options(runs=1, datasets=("random", "wine"), samples=40, pictures=tmp_path)
    records, report = kdn_figures.EXPERIMENT.run(options)
    drawn = sorted(path.stem for path in tmp_path.glob("*.png"))
    assert drawn == ["kdn_figure_6_1", "kdn_figure_6_3_random", "kdn_figure_6_3_wine"]
    for record in records:
        assert record["pull"] - record["penalty"] == pytest.approx(record["surrogate"], rel=1e-6)
        assert record["sum of D"] == pytest.approx(record["hsic"] / record["width"] ** 2, rel=1e-9)
        assert record["unsquared"] != pytest.approx(record["surrogate"], rel=1e-3)
    wine = [record for record in records if record["dataset"] == "wine"]
    assert wine[-1]["contrast"] > wine[0]["contrast"]
    assert f"| wine, layer {len(wine)} |" in report
    assert "| wine | 6.1 / " in report


def test_penalties_by_a_double_loop():
    """Pull and penalty of five rows, pair by pair."""
    rng = np.random.default_rng(0)
    Z, y = rng.standard_normal((5, 2)), np.array([0, 0, 1, 1, 1])
    K = np.exp(-((Z[:, None] - Z) ** 2).sum(axis=2))
    weights = PairWeights.of_labels(y)
    G = weights.dense() * K / 4
    pull = sum(G[i, j] * Z[i] @ Z[j] for i in range(5) for j in range(5))
    penalty = sum(G[i, j] * Z[i] @ Z[i] for i in range(5) for j in range(5))
    found = kdn_figures.penalties(Z, K, weights, 2.0)
    assert found["pull"] == pytest.approx(pull)
    assert found["penalty"] == pytest.approx(penalty)


def test_shown_keeps_the_ends():
    """The first and the last layer are always drawn."""
    np.testing.assert_array_equal(kdn_figures.shown(3, 5), [0, 1, 2])
    assert kdn_figures.shown(12, 5)[[0, -1]].tolist() == [0, 11]
