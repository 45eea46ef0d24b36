"""GenerativeRKM: with linear maps it is kernel PCA of the columns and predicts a view as least squares does."""

import numpy as np
import pytest
import torch
from sklearn.linear_model import LinearRegression

from gramian import KernelPCA
from gramian.deep import GenerativeRKM
from gramian.deep.architecture import build
from gramian.deep.generative_rkm import energy, returned_error
from gramian.deep.scaling import standard_scaling
from gramian.kernels import Linear

VIEWS = [[0, 1, 2], [3, 4]]


@pytest.fixture
def X():
    rng = np.random.default_rng(0)
    latent = rng.normal(size=(100, 2))
    return np.c_[latent, latent.sum(axis=1), latent @ [[1, 2], [-1, 1]]] + 0.2 * rng.normal(size=(100, 5))


@pytest.mark.parametrize("eta", [(1.0, 1.0), (1.5, 0.7)])
def test_linear_maps_are_kernel_pca_of_the_weighted_columns(X, eta):
    model = GenerativeRKM(2, views=VIEWS, eta=eta, hidden_layer_sizes=(), random_state=0).fit(X)
    Z = standard_scaling(X).apply(X) / np.sqrt([*[eta[0]] * 3, *[eta[1]] * 2])
    pca = KernelPCA(2, kernel=Linear()).fit(Z)
    np.testing.assert_allclose(model.eigenvalues_, pca.eigenvalues_)
    H = pca.embedding_ / np.sqrt(pca.eigenvalues_)
    np.testing.assert_allclose(np.abs(np.sum(H * model.hidden_, axis=0)), 1)
    np.testing.assert_allclose(model.hidden_.T @ model.hidden_, np.eye(2), atol=1e-10)
    np.testing.assert_allclose(model.transform(X), model.hidden_, atol=1e-10)
    seen = standard_scaling(X).apply(X)
    parts = [seen[:, part] for part in VIEWS]
    assert energy(parts, model.hidden_, model.eigenvalues_, np.array(eta)) == pytest.approx(0, abs=1e-9)
    scales = sum(e * U.T @ U for e, U in zip(eta, model.maps_, strict=True))
    np.testing.assert_allclose(scales, np.diag(model.eigenvalues_), atol=1e-9)


@pytest.mark.parametrize("eta", [(1.0, 1.0), (1.5, 0.7), (10.0, 0.1)])
def test_a_view_is_predicted_as_by_least_squares(X, eta):
    model = GenerativeRKM(2, views=VIEWS, eta=eta, hidden_layer_sizes=(), random_state=0).fit(X)
    found = model.predict_view(X[:, :3], given=0, target=1)
    line = LinearRegression().fit(X[:, :3], X[:, 3:]).predict(X[:, :3])
    spread = np.sum((X[:, 3:] - X[:, 3:].mean(axis=0)) ** 2)
    lost = [np.sum((X[:, 3:] - guess) ** 2) / spread for guess in (found, line)]
    assert lost[0] - lost[1] < 0.03


def test_networks_learn_to_return_the_rows(X):
    setting = {"views": VIEWS, "hidden_layer_sizes": (16,), "n_features": 8, "random_state": 0}
    errors = [
        np.mean((GenerativeRKM(3, max_iter=steps, **setting).fit(X).reconstruct(X) - X) ** 2) for steps in (1, 300)
    ]
    assert errors[1] < 0.5 * errors[0]


def test_samples_look_like_the_rows(X):
    drawn = GenerativeRKM(2, views=VIEWS, hidden_layer_sizes=(), n_modes=1, random_state=0).fit(X).sample(400)
    assert drawn.shape == (400, 5)
    np.testing.assert_allclose(drawn.mean(axis=0), X.mean(axis=0), atol=0.4)
    np.testing.assert_allclose(np.corrcoef(drawn.T), np.corrcoef(X.T), atol=0.2)


def test_gradient_of_the_decoder(X):
    described = GenerativeRKM(hidden_layer_sizes=(3,), n_features=2)._description([2])
    network = build(described, torch.Generator().manual_seed(0)).double()
    rows = torch.tensor(X[:8, :2])
    returned_error(network, [rows], np.ones(1), 2).backward()
    weight = network["decoder0"][0][0].weight
    slope, step = weight.grad[0, 0].item(), 1e-6
    values = []
    for move in (step, -step):
        with torch.no_grad():
            weight[0, 0] += move
            values.append(returned_error(network, [rows], np.ones(1), 2).item())
            weight[0, 0] -= move
    assert (values[0] - values[1]) / (2 * step) == pytest.approx(slope, rel=1e-5)


def test_bad_input_is_named(X):
    with pytest.raises(ValueError, match="eta"):
        GenerativeRKM(eta=-1.0).fit(X)
    with pytest.raises(ValueError, match="n_components=200"):
        GenerativeRKM(200).fit(X)
    with pytest.raises(ValueError, match="all samples have the same features"):
        GenerativeRKM(2, hidden_layer_sizes=()).fit(np.ones((10, 3)))
    model = GenerativeRKM(2, views=VIEWS, hidden_layer_sizes=()).fit(X)
    with pytest.raises(ValueError, match="view 0 has 3"):
        model.predict_view(X)
    with pytest.raises(ValueError, match="target=2"):
        model.predict_view(X[:, :3], target=2)
    with pytest.raises(ValueError, match="one view only"):
        GenerativeRKM(2, hidden_layer_sizes=()).fit(X).predict_view(X)


def test_a_callback_sees_an_estimator_that_transforms_as_the_fitted_one(X):
    seen = []

    def watch(step, terms, model):
        seen.append(model.transform(X[:5]))

    model = GenerativeRKM(
        2, views=VIEWS, hidden_layer_sizes=(4,), n_features=4, max_iter=3, callbacks=watch, random_state=0
    ).fit(X)
    assert len(seen) == 3
    np.testing.assert_allclose(seen[-1], model.transform(X[:5]))
