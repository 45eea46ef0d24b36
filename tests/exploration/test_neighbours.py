"""The places of the map are those of t-SNE: its probabilities, its gradient, and neighbours that stay neighbours."""

import numpy as np
import pytest
from sklearn.manifold import trustworthiness

from gramian.exploration import neighbours
from gramian.exploration.neighbours import likely_neighbours, neighbour_map


def blobs(n=150, seed=0):
    rng = np.random.default_rng(seed)
    group = np.arange(n) % 3
    return (4 * np.eye(5)[group] + rng.normal(size=(n, 5))).astype(np.float32), group


def test_probabilities_have_the_perplexity_and_sum_to_one():
    """Before they are made symmetric: so the conditional ones are recovered by another search of each width."""
    rows, _ = blobs(60)
    joint = likely_neighbours(rows, 7.0)
    np.testing.assert_allclose(joint, joint.T)
    assert joint.sum() == pytest.approx(1, abs=1e-5)
    assert (np.diagonal(joint) == 0).all()
    conditional = np.zeros((60, 60))
    for i, row in enumerate(rows.astype(float)):
        squares = ((rows - row) ** 2).sum(axis=1)
        squares[i] = np.inf
        near = np.argsort(squares)[:22]  # 3 · perplexity + 1
        low, high = 1e-6, 1e6
        for _ in range(200):
            precision = np.sqrt(low * high)
            weights = np.exp(-(squares[near] - squares[near].min()) * precision)
            shares = weights / weights.sum()
            entropy = -(shares * np.log(np.maximum(shares, 1e-300))).sum()
            low, high = (precision, high) if entropy > np.log(7.0) else (low, precision)
        conditional[i, near] = shares
    np.testing.assert_allclose(joint, (conditional + conditional.T) / 120, rtol=1e-3, atol=1e-7)


@pytest.mark.parametrize("exaggeration", [1.0, 12.0])
def test_the_gradient_is_that_of_the_divergence(monkeypatch, exaggeration):
    """By differences of −Σ a p log q + log Z, which is the divergence up to a constant for an exaggeration a of 1."""
    monkeypatch.setattr(neighbours, "_TILE_ROWS", 16)  # of 40 rows: three tiles, the last one shorter
    rows, _ = blobs(40)
    likely = likely_neighbours(rows, 5.0)
    places = np.random.default_rng(1).normal(size=(40, 2))

    def objective(flat):
        y = flat.reshape(40, 2)
        q = 1 / (1 + ((y[:, None] - y) ** 2).sum(axis=2))
        np.fill_diagonal(q, 0)
        pull = -(exaggeration * likely[q > 0] * np.log(q[q > 0])).sum()
        return pull + np.log(q.sum())

    step = 1e-5
    slopes = [
        (objective(places.ravel() + step * unit) - objective(places.ravel() - step * unit)) / (2 * step)
        for unit in np.eye(80)
    ]
    found = neighbours._gradient(likely)(places.astype(np.float32), exaggeration)
    np.testing.assert_allclose(found.ravel(), slopes, rtol=2e-3, atol=2e-5)


def test_neighbours_stay_neighbours():
    rows, group = blobs()
    start = 1e-4 * np.random.default_rng(0).normal(size=(150, 2))
    places = neighbour_map(rows, start, perplexity=15.0)
    assert trustworthiness(rows, places, n_neighbors=10) > 0.9
    distances = np.linalg.norm(places[:, None] - places, axis=2)
    np.fill_diagonal(distances, np.inf)
    assert (group[distances.argmin(axis=1)] == group).mean() > 0.98
    np.testing.assert_array_equal(neighbour_map(rows, start, perplexity=15.0), places)


@pytest.mark.parametrize("scale", [0.0, 1e-30, 1e15])
def test_rows_of_any_scale_have_places(scale):
    rows, _ = blobs(30)
    start = 1e-4 * np.random.default_rng(0).normal(size=(30, 2))
    assert np.isfinite(neighbour_map(rows * np.float32(scale), start, perplexity=9.0)).all()
