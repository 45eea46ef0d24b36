"""MultiViewNetworkRegressor: late fusion of identity maps is the closed form, and views do not disturb each other."""

import numpy as np
import pytest
import torch

from gramian import MultiViewLSSVMRegressor
from gramian.deep import MultiViewNetworkRegressor
from gramian.deep.architecture import build
from gramian.deep.multiview_network import fused_loss, joined_loss, predictions
from gramian.kernels import Linear

VIEWS = [[0, 1], [2, 3]]


@pytest.fixture
def data():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(80, 4))
    return X, X @ [1.0, -0.5, 0.5, 2.0] + 0.3 * rng.normal(size=80)


def test_late_fusion_of_identity_maps_is_the_closed_form(data):
    X, y = data
    X, y = (X - X.mean(axis=0)) / X.std(axis=0), (y - y.mean()) / y.std()
    model = MultiViewNetworkRegressor(
        VIEWS,
        hidden_layer_sizes=(),
        regularization=20.0,
        coupling=10.0,
        max_iter=1500,
        batch_size=80,
        learning_rate=0.01,
        random_state=0,
    ).fit(X, y)
    closed = MultiViewLSSVMRegressor(VIEWS, kernel=Linear(), regularization=20 / 80, coupling=10 / 80).fit(X, y)
    np.testing.assert_allclose(model.predict_views(X), closed.predict_views(X), atol=2e-3)


def test_without_coupling_views_are_trained_as_if_alone(data):
    X, y = data
    setting = {"max_iter": 30, "batch_size": 80, "random_state": 0}
    both = MultiViewNetworkRegressor(VIEWS, **setting).fit(X, y)
    alone = MultiViewNetworkRegressor([[0, 1]], **setting)
    with pytest.warns(UserWarning, match="views leaves out 2, 3"):
        alone.fit(X, y)
    np.testing.assert_allclose(both.predict_views(X)[:, 0], alone.predict_views(X)[:, 0], atol=1e-5)


def test_view_weights_are_larger_for_the_better_view(data):
    X, y = data
    model = MultiViewNetworkRegressor(
        VIEWS, view_weights="validation", combine="weighted", max_iter=150, learning_rate=0.01, random_state=0
    ).fit(X, y)
    assert 0 < model.view_weights_[0] < model.view_weights_[1] < 1
    each = model.predict_views(X)
    np.testing.assert_allclose(model.predict(X), np.average(each, axis=1, weights=model.view_weights_))


def test_early_fusion(data):
    X, y = data
    model = MultiViewNetworkRegressor(VIEWS, fusion="early", max_iter=300, learning_rate=0.01, random_state=0)
    assert model.fit(X, y).score(X, y) > 0.9
    assert model.fit(X, np.c_[y, y]).predict(X).shape == (80, 2)
    with pytest.raises(ValueError, match="fusion='early' has one output"):
        model.predict_views(X)


def test_gradients_of_both_losses():
    rng = np.random.default_rng(0)
    views, y = [torch.tensor(rng.normal(size=(5, 2))) for _ in range(2)], torch.tensor(rng.normal(size=(5, 1)))
    late = MultiViewNetworkRegressor(VIEWS, hidden_layer_sizes=(3,))._description([2, 2], 1, late=True)
    early = MultiViewNetworkRegressor(VIEWS, hidden_layer_sizes=(3,))._description([2, 2], 1, late=False)
    G = np.array([[2.0, 1.0], [1.0, 3.0]])
    for described, loss in (
        (late, lambda net: fused_loss(net, views, y, G, np.ones(2))["loss"]),
        (early, lambda net: joined_loss(net, views, y, 2.0)["loss"]),
    ):
        network = build(described, torch.Generator().manual_seed(0)).double()
        names, values = zip(*network.named_parameters(), strict=True)

        def value(*new, network=network, names=names, loss=loss):
            with torch.nn.utils.parametrize.cached():
                for name, tensor in zip(names, new, strict=True):
                    owner, _, leaf = name.rpartition(".")
                    setattr_tensor(network.get_submodule(owner), leaf, tensor)
                return loss(network)

        inputs = tuple(tensor.detach().clone().requires_grad_() for tensor in values)
        assert torch.autograd.gradcheck(value, inputs)


def setattr_tensor(module, name, tensor):
    """Put a plain tensor in the place of a parameter."""
    module._parameters.pop(name, None)
    setattr(module, name, tensor)


def test_pairs_of_views_count_once():
    described = MultiViewNetworkRegressor(VIEWS, hidden_layer_sizes=())._description([2, 2], 1, late=True)
    network = build(described, torch.Generator().manual_seed(0)).double()
    rng = np.random.default_rng(0)
    views, y = [torch.tensor(rng.normal(size=(6, 2))) for _ in range(2)], torch.tensor(rng.normal(size=(6, 1)))
    e = (y[:, None] - predictions(network, views)).detach().numpy()[:, :, 0]
    G = np.array([[2.0, 0.7], [0.7, 3.0]])
    expected = np.mean(e[:, 0] ** 2 + 1.5 * e[:, 1] ** 2 + 0.7 * e[:, 0] * e[:, 1])
    assert fused_loss(network, views, y, G, np.ones(2))["fit"].item() == pytest.approx(expected)


@pytest.mark.parametrize(
    ("setting", "message"),
    [
        ({"coupling": 3000.0}, "has the eigenvalue -2e"),
        ({"fusion": "middle"}, "fusion='middle'"),
        ({"activation": "step"}, "activation='step'"),
        ({"view_weights": [1.0, -1.0]}, "view_weights"),
        ({"fusion": "early", "view_weights": "validation"}, "view_weights='validation'"),
        ({"fusion": "early", "view_weights": [1.0, 2.0]}, "view_weights=.* pass None"),
        ({"fusion": "early", "coupling": 5.0}, "pass coupling=0"),
        ({"fusion": "early", "regularization": [1.0, 2.0]}, "regularization=.* pass one"),
        ({"combine": "best"}, "combine='best'"),
    ],
)
def test_bad_parameters_are_named(data, setting, message):
    with pytest.raises(ValueError, match=message):
        MultiViewNetworkRegressor(VIEWS, **setting).fit(*data)
