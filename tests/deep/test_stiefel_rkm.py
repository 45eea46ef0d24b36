"""StiefelRKM: with linear maps it finds the principal components; its projection stays orthonormal."""

import numpy as np
import pytest
import torch
from scipy.linalg import subspace_angles
from sklearn.datasets import load_iris
from sklearn.decomposition import PCA
from sklearn.preprocessing import StandardScaler

from gramian.deep import StiefelRKM
from gramian.deep.architecture import build
from gramian.deep.stiefel_rkm import RetractedAdam, projection_terms


@pytest.fixture
def X():
    return load_iris().data


@pytest.mark.parametrize("init", ["random", "pca"])
def test_linear_maps_find_the_principal_components(X, init):
    model = StiefelRKM(2, hidden_layer_sizes=(), init=init, max_iter=800, learning_rate=0.01, random_state=0).fit(X)
    Z = StandardScaler().fit_transform(X)
    pca = PCA(2).fit(Z)
    assert subspace_angles(pca.components_.T, model.components_.T).max() < 1e-3
    np.testing.assert_allclose(model.explained_variance_, pca.explained_variance_ * 149 / 150, rtol=1e-4)
    codes = model.transform(X)
    np.testing.assert_allclose(np.cov(codes.T, bias=True), np.diag(model.explained_variance_), atol=1e-6)
    back = StandardScaler().fit(X).inverse_transform(pca.inverse_transform(pca.transform(Z)))
    np.testing.assert_allclose(model.inverse_transform(codes), back, atol=1e-2)


def test_networks_learn_and_the_projection_is_orthonormal(X):
    model = StiefelRKM(2, hidden_layer_sizes=(16,), n_features=8, max_iter=300, random_state=0).fit(X)
    np.testing.assert_allclose(model.components_ @ model.components_.T, np.eye(2), atol=1e-10)
    assert model.loss_curve_[-1] < 0.5 * model.loss_curve_[0]


def test_retraction_keeps_columns_orthonormal():
    weight = torch.nn.Parameter(torch.linalg.qr(torch.ones(4, 2) + torch.eye(4, 2))[0])
    optimizer = RetractedAdam([weight], 0.5, weight)
    torch.sum(weight**3).backward()
    optimizer.step()
    np.testing.assert_allclose((weight.T @ weight).detach(), np.eye(2), atol=1e-6)


def test_gradients(X):
    described = StiefelRKM(2, hidden_layer_sizes=(3,), n_features=3)._description(4)
    network = build(described, torch.Generator().manual_seed(0)).double()
    rows = torch.tensor(X[:6]).requires_grad_()
    assert torch.autograd.gradcheck(lambda x: projection_terms(network, x, 0.7)["loss"], (rows,))


def test_bad_input_is_named(X):
    with pytest.raises(ValueError, match="n_components=6 is more than n_features=4"):
        StiefelRKM(6, n_features=4).fit(X)
    with pytest.raises(ValueError, match="init='zero'"):
        StiefelRKM(init="zero").fit(X)
    with pytest.raises(ValueError, match="reconstruction_weight=-1"):
        StiefelRKM(reconstruction_weight=-1).fit(X)
    with pytest.raises(ValueError, match="Z has 3 columns"):
        StiefelRKM(2, max_iter=1).fit(X).inverse_transform(np.ones((2, 3)))


def test_a_callback_sees_an_estimator_that_transforms_as_the_fitted_one(X):
    seen = []

    def watch(step, terms, model):
        seen.append(model.transform(X[:5]))

    model = StiefelRKM(2, hidden_layer_sizes=(4,), n_features=4, max_iter=3, callbacks=watch, random_state=0).fit(X)
    assert len(seen) == 3
    np.testing.assert_allclose(seen[-1], model.transform(X[:5]))
