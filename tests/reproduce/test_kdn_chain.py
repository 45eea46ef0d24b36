"""Chains of class averages and curves of widths are drawn in small, with numbers that a loop confirms."""

import numpy as np
import pytest

from reproduce import kdn_chain
from reproduce.table import Options


def test_drawn_in_small(tmp_path):
    """Chains, two layers and a curve of one kind of points."""
    options = Options(runs=1, datasets=("random",), samples=30, pictures=tmp_path)
    records, report = kdn_chain.EXPERIMENT.run(options)
    drawn = sorted(path.stem for path in tmp_path.glob("*.png"))
    assert drawn == ["kdn_figure_6_2_random", "kdn_figure_d_17", "kdn_figure_d_5_random"]
    assert [record["method"] for record in records[:5]] == ["class", "scalar", "polar", "closed form", "width 1e-5"]
    closed = records[3]
    assert closed["relative"] >= 0.99
    assert records[4]["apart"] > 1e3
    (curve,) = [record for record in records if record["figure"] == "D.17"]
    assert curve["hsic"] == pytest.approx(curve["separation"], rel=1e-3)  # classes of equal size
    assert "| random, class | 12 | " in report


def test_the_highest_of_the_curve_is_the_width(tmp_path):
    """On Wine the library's widths are where an independent grid is highest."""
    (record,) = kdn_chain.width_curves(["wine"], tmp_path)
    for criterion in ("hsic", "separation"):
        assert record[criterion] == pytest.approx(record[f"grid {criterion}"], rel=0.05)


def test_means_and_distances_by_loops():
    """Of six points, pair by pair."""
    rng = np.random.default_rng(0)
    X, y = rng.standard_normal((6, 2)), np.array([0, 0, 1, 1, 1, 1])
    squared = np.array([[((a - b) ** 2).sum() for a in X] for b in X])
    found = kdn_chain.means(squared, y, 1.3)
    pairs = [(i, j, np.exp(-squared[i, j] / (2 * 1.3**2))) for i in range(6) for j in range(6)]
    assert found["within"] == pytest.approx(np.mean([k for i, j, k in pairs if y[i] == y[j]]))
    assert found["between"] == pytest.approx(np.mean([k for i, j, k in pairs if y[i] != y[j]]))
    assert kdn_chain.relative_hsic(X, y, 1.3) == pytest.approx(found["hsic"])
    nearest = min(squared[i, j] for i, j, _ in pairs if y[i] != y[j])
    farthest = max(squared[i, j] for i, j, _ in pairs if y[i] == y[j])
    assert kdn_chain.apart(X, y) == pytest.approx(np.sqrt(nearest / farthest))
