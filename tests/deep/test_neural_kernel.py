"""Neural-kernel networks: one block is ridge on Fourier features; blocks have length one."""

import numpy as np
import pytest
import torch
from sklearn.datasets import load_digits
from sklearn.linear_model import Ridge

from gramian.deep import NeuralKernelClassifier, NeuralKernelRegressor
from gramian.deep.architecture import build
from gramian.deep.neural_kernel import FourierBlock
from gramian.deep.scaling import standard_scaling


@pytest.fixture
def curve():
    X = np.random.default_rng(0).uniform(-2, 2, size=(60, 1))
    return X, np.sin(2 * X[:, 0])


def test_one_block_of_the_columns_is_ridge_on_fourier_features(curve):
    X, y = curve
    model = NeuralKernelRegressor(
        1,
        projection="identity",
        n_features=20,
        weight_decay=0.01,
        max_iter=1500,
        batch_size=60,
        learning_rate=0.02,
        random_state=0,
    ).fit(X, y)
    Z = standard_scaling(X).apply(X)
    W, c = (model.weights_[f"0.{name}"].astype(float) for name in ("frequencies", "center"))
    angles = (Z - c) @ W
    F = np.hstack([np.cos(angles), np.sin(angles)]) / np.sqrt(10)
    target = (y - y.mean()) / y.std()
    ridge = Ridge(alpha=60 * 0.01).fit(F, target)
    np.testing.assert_allclose(model.predict(X), ridge.predict(F) * y.std() + y.mean(), atol=1e-3)


def test_frequencies_are_those_of_fourier_features(curve):
    X, y = curve
    model = NeuralKernelRegressor(1, projection="identity", n_features=4000, max_iter=0, random_state=0).fit(X, y)
    Z = standard_scaling(X).apply(X)
    angles = Z @ model.weights_["0.frequencies"].astype(float)
    gaps = np.abs(Z - Z.T)
    width = np.median(gaps[np.triu_indices(60, 1)])
    waves = np.cos(angles) @ np.cos(angles).T + np.sin(angles) @ np.sin(angles).T
    np.testing.assert_allclose(waves / 2000, np.exp(-(gaps**2) / (2 * width**2)), atol=0.1)


def test_rows_of_a_block_have_length_one_and_correct_gradients():
    block = FourierBlock(3, 5, trained=True)
    with torch.no_grad():
        block.frequencies.copy_(torch.randn(3, 5, generator=torch.Generator().manual_seed(0)))
    block = block.double()
    h = torch.tensor(np.random.default_rng(0).normal(size=(4, 3)) * 100)
    np.testing.assert_allclose(torch.linalg.norm(block(h), dim=1).detach(), 1)
    assert torch.autograd.gradcheck(block, (h.clone().requires_grad_(),))


def test_frequencies_are_weights_only_if_trained():
    fixed, trained = (
        build({"kind": "fourier_blocks", "sizes": [2, 3, 3], "n_frequencies": 4, "outputs": 1, "trained": flag})
        for flag in (False, True)
    )
    assert len(list(trained.parameters())) - len(list(fixed.parameters())) == 2
    assert fixed(torch.zeros(5, 2)).shape == (5, 1)


def test_digits():
    X, y = load_digits(return_X_y=True)
    model = NeuralKernelClassifier(max_iter=200, random_state=0).fit(X[::2], y[::2])
    assert model.score(X[1::2], y[1::2]) > 0.95
    shares = model.predict_proba(X[:5])
    np.testing.assert_allclose(shares.sum(axis=1), 1)
    np.testing.assert_allclose(
        np.log(shares[0] / shares[0, 0]), (lambda s: s - s[0])(model.decision_function(X[:1])[0])
    )


def test_several_targets_and_two_classes(curve):
    X, y = curve
    both = np.c_[y, -y]
    model = NeuralKernelRegressor(max_iter=150, random_state=0).fit(X, both)
    assert model.predict(X).shape == (60, 2)
    two = NeuralKernelClassifier(max_iter=50, random_state=0).fit(X, np.where(y > 0, "up", "down"))
    assert two.decision_function(X).shape == (60,)
    np.testing.assert_array_equal(two.predict(X) == "up", two.decision_function(X) > 0)


@pytest.mark.parametrize(
    ("setting", "message"),
    [
        ({"n_features": 5}, "n_features=5 must be even"),
        ({"projection": "none"}, "projection='none'"),
        ({"weight_decay": -1}, "weight_decay=-1"),
        ({"width": "wide"}, "width='wide'"),
        ({"n_layers": 0}, "n_layers=0"),
    ],
)
def test_bad_parameters_are_named(curve, setting, message):
    with pytest.raises(ValueError, match=message):
        NeuralKernelRegressor(**setting).fit(*curve)
