"""The output of a trained network against its layers applied one after the other."""

import numpy as np
import pytest
from scipy.optimize import minimize
from scipy.spatial.distance import cdist
from scipy.special import log_softmax
from sklearn.datasets import load_iris

import gramian
from gramian import DependenceNetwork
from gramian.dependence.network._network_output import class_means, closeness, forward, temperature
from gramian.grams import tiles


@pytest.fixture(scope="module")
def trained():
    X, y = load_iris(return_X_y=True)
    model = DependenceNetwork(max_layers=2, n_features=40, random_state=0).fit(X, y)
    return model, X, y


def by_hand(model, X, space):
    """All rows through all layers, features between them."""
    R = model.scaler_.informative(X) if model.scaler_ is not None else X
    for layer in model.layers_[:-1]:
        R = layer.features(layer.project(R))
    Z = model.layers_[-1].project(R)
    return model.layers_[-1].features(Z) if space == "features" else Z


@pytest.mark.parametrize("space", ["features", "projection"])
def test_strips_are_the_layers_one_after_the_other(trained, space, monkeypatch):
    """However few rows a strip has, the strips together are the output for all rows."""
    model, X, _ = trained
    expected = by_hand(model, X, space)
    (whole,) = forward(X, model.scaler_, model.layers_, space)
    np.testing.assert_allclose(whole, expected, atol=1e-10)
    monkeypatch.setattr(tiles, "TILE_BYTES", 8 * 40 * 4)
    strips = list(forward(X, model.scaler_, model.layers_, space))
    assert len(strips) > 5
    np.testing.assert_allclose(np.vstack(strips), expected, atol=1e-10)


def test_means_of_classes(trained, monkeypatch):
    """The mean of every class, whatever strips it falls into."""
    model, X, y = trained
    out = by_hand(model, X, "features")
    expected = np.vstack([out[y == g].mean(axis=0) for g in range(3)])
    monkeypatch.setattr(tiles, "TILE_BYTES", 8 * 40 * 4)
    np.testing.assert_allclose(class_means(X, y, model.scaler_, model.layers_, "features"), expected, atol=1e-10)


def test_closeness_is_the_negative_squared_distance(rng):
    rows, means = rng.normal(size=(20, 3)), rng.normal(size=(4, 3))
    np.testing.assert_allclose(closeness(rows, means), -cdist(rows, means, "sqeuclidean"), atol=1e-12)
    assert closeness(means, means).max() <= 0


def test_temperature_is_the_most_likely(rng):
    """The temperature minimises the cross-entropy with held-back labels, here by another minimiser."""
    codes = rng.integers(3, size=200)
    scores = 4 * np.eye(3)[codes] + rng.normal(size=(200, 3)) * 3
    counts = np.bincount(codes)
    own = (counts + 1) / (counts + 3)
    targets = np.repeat(((1 - own) / 2)[codes][:, None], 3, axis=1)
    targets[np.arange(200), codes] = own[codes]

    def loss(log):
        return -(targets * log_softmax(scores / np.exp(log[0]), axis=1)).sum()

    expected = np.exp(minimize(loss, [0.0], method="Nelder-Mead", options={"xatol": 1e-8, "fatol": 1e-10}).x[0])
    assert temperature(scores, codes) == pytest.approx(expected, rel=1e-3)
    assert temperature(10 * scores, codes) == pytest.approx(10 * expected, rel=1e-3)


def test_scores_that_say_nothing_have_temperature_one():
    assert temperature(np.zeros((4, 2)), np.array([0, 1, 0, 1])) == 1.0


def test_a_perfect_training_set_keeps_some_doubt():
    """However far apart the classes are, the temperature stays above zero and probabilities below one."""
    codes = np.arange(30) % 3
    scores = 100.0 * np.eye(3)[codes]
    found = temperature(scores, codes)
    assert found > 0
    probability = np.exp(log_softmax(scores / found, axis=1))[np.arange(30), codes]
    np.testing.assert_allclose(probability, 11 / 13, rtol=1e-3)  # (n_g + 1) / (n_g + k)


def test_too_many_distances_are_refused(rng):
    """Distances to very many means are refused before they are computed."""
    with gramian.config(memory_budget="1kB"), pytest.raises(gramian.MemoryBudgetError, match="fewer classes"):
        closeness(rng.normal(size=(100, 2)), rng.normal(size=(50, 2)))
