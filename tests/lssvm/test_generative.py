"""The generative machine: its eigenproblem, the scale of what it generates, and digits with their labels."""

import numpy as np
import pytest
from sklearn.datasets import load_digits
from sklearn.linear_model import LinearRegression
from sklearn.metrics import r2_score
from sklearn.model_selection import train_test_split

from gramian.kernels import RBF, Linear
from gramian.lssvm import GenerativeKernelMachine


def centre(K):
    """M K M."""
    M = np.eye(len(K)) - 1 / len(K)
    return M @ K @ M


def linear_toy(n=200, seed=0):
    """Two linear views of three causes."""
    rng = np.random.default_rng(seed)
    causes = rng.normal(size=(n, 3))
    X = causes @ rng.normal(size=(3, 6)) + 0.1 * rng.normal(size=(n, 6))
    return X, causes @ rng.normal(size=(3, 2)) + 0.1 * rng.normal(size=(n, 2))


def test_hidden_features_solve_the_eigenproblem_with_zero_objective():
    """(K_x/η_x + K_y/η_y) H = H Λ, and η_x UᵀU + η_y VᵀV = Λ with U = Φᵀ H / η."""
    X, Y = linear_toy(60)
    model = GenerativeKernelMachine(4, kernel=Linear(), eta=1.5, eta_y=0.7, random_state=0).fit(X, Y)
    H, Xc, Yc = model.hidden_, X - X.mean(axis=0), Y - Y.mean(axis=0)
    K = Xc @ Xc.T / 1.5 + Yc @ Yc.T / 0.7
    np.testing.assert_allclose(K @ H, H * model.eigenvalues_, atol=1e-8)
    U, V = Xc.T @ H / 1.5, Yc.T @ H / 0.7
    np.testing.assert_allclose(1.5 * U.T @ U + 0.7 * V.T @ V, np.diag(model.eigenvalues_), atol=1e-8)
    scores = (Xc @ U * H).sum() + (Yc @ V * H).sum()
    objective = -scores + model.eigenvalues_.sum() / 2 + 1.5 * (U**2).sum() / 2 + 0.7 * (V**2).sum() / 2
    assert objective == pytest.approx(0, abs=1e-8)


@pytest.mark.parametrize("etas", [(1.0, 1.0), (1.5, 0.7), (10.0, 0.1)])
def test_a_view_is_predicted_as_well_as_by_least_squares_whatever_eta(etas):
    """The scale is right for every η: R² within 0.01 of least squares."""
    X, Y = linear_toy(400)
    fitted, new = slice(0, 300), slice(300, None)
    model = GenerativeKernelMachine(3, kernel=Linear(), eta=etas[0], eta_y=etas[1], random_state=0)
    model.fit(X[fitted], Y[fitted])
    best = r2_score(Y[new], LinearRegression().fit(X[fitted], Y[fitted]).predict(X[new]))
    assert r2_score(Y[new], model.predict_view(X[new])) > best - 0.01


def test_hidden_features_of_a_row_by_its_first_view():
    """h(x) = (Hᵀ K_x H)⁻¹ Hᵀ k_x(x) by definition."""
    X, Y = linear_toy(50)
    model = GenerativeKernelMachine(5, kernel=RBF(width=3.0), random_state=0).fit(X, Y)
    new = X[:4] + 0.1
    K = np.exp(-((X[:, None] - X[None]) ** 2).sum(axis=2) / 18)
    k = np.exp(-((new[:, None] - X[None]) ** 2).sum(axis=2) / 18)
    central = k - k.mean(axis=1, keepdims=True) - K.mean(axis=0) + K.mean()
    H = model.hidden_
    expected = central @ H @ np.linalg.inv(H.T @ centre(K) @ H)
    np.testing.assert_allclose(model.transform(new), expected, atol=1e-8)


def test_digits_and_their_labels():
    """With 50 hidden features held-out labels are right in 98 of 100 cases, and images of a label look like it."""
    X, y = load_digits(return_X_y=True)
    X = X / 16
    X, X_new, y, y_new = train_test_split(X, y, test_size=0.3, stratify=y, random_state=0)
    squares = ((X[:400, None] - X[None, 400:800]) ** 2).sum(axis=2)
    model = GenerativeKernelMachine(50, kernel=RBF(width=np.sqrt(np.median(squares) / 2)), random_state=0).fit(X, y)
    assert (model.predict_view(X_new) == y_new).mean() >= 0.98
    assert ((model.reconstruct(X) - X) ** 2).mean() < 0.0125
    rows, labels = model.sample(200)
    assert rows.shape == (200, 64)
    assert len(np.unique(labels)) > 5
    assert (model.predict_view(rows) == labels).mean() > 0.8
    images = model.predict_rows(np.arange(10))
    assert (model.predict_view(images) == np.arange(10)).mean() >= 0.8


def test_one_view_alone_generates():
    """Without y there are rows and no second view."""
    X, _ = linear_toy(60)
    model = GenerativeKernelMachine(3, random_state=0).fit(X)
    rows, second = model.sample(7)
    assert rows.shape == (7, 6)
    assert second is None
    with pytest.raises(ValueError, match="no second view"):
        model.predict_view(X)


def test_a_kernel_of_the_second_view_takes_means_of_fitted_targets():
    """With an RBF on y, generated targets lie within those that were fitted and follow them."""
    X, Y = linear_toy(150)
    model = GenerativeKernelMachine(8, kernel_y="rbf", random_state=0).fit(X, Y[:, 0])
    found = model.predict_view(X)
    assert found.min() >= Y[:, 0].min()
    assert found.max() <= Y[:, 0].max()
    assert np.corrcoef(found, Y[:, 0])[0, 1] > 0.8


def test_bad_input_is_named():
    """Errors say which parameter."""
    X, Y = linear_toy(20)
    with pytest.raises(ValueError, match="n_components=40 is more than 20"):
        GenerativeKernelMachine(40).fit(X, Y)
    with pytest.raises(ValueError, match="eta_y"):
        GenerativeKernelMachine(2, eta_y=0).fit(X, Y)
    with pytest.raises(ValueError, match="y contains NaN"):
        GenerativeKernelMachine(2).fit(X, np.full(20, np.nan))
    with pytest.raises(ValueError, match="labels that were not fitted"):
        GenerativeKernelMachine(2).fit(X, np.arange(20) % 2).predict_rows([7])


def test_labels_that_cannot_be_learned_are_named():
    X = np.random.default_rng(0).normal(size=(20, 2))
    with pytest.raises(ValueError, match="y has 10"):
        GenerativeKernelMachine(3).fit(X, ["a", "b"] * 5)
    with pytest.raises(ValueError, match="None in 10 of 20 labels"):
        GenerativeKernelMachine(3).fit(X, np.array(["a", None] * 10, object))
    with pytest.raises(ValueError, match="alike"):
        GenerativeKernelMachine(3, kernel=RBF(1.0)).fit(np.ones((20, 2)))


def test_a_reconstruction_is_the_mean_of_the_rows_most_like_it():
    """Weights are the similarities K H h scaled from 0 to 1 over all fitted rows, of the n_neighbors largest."""
    X = np.random.default_rng(0).normal(size=(40, 3))
    model = GenerativeKernelMachine(6, kernel=RBF(1.5), n_neighbors=7, random_state=0).fit(X)
    new = X[:5] + 0.3
    K = np.exp(-((X[:, None] - X[None]) ** 2).sum(axis=2) / 4.5)
    M = np.eye(40) - 1 / 40
    H = model.hidden_
    for x, h in zip(model.reconstruct(new), model.transform(new), strict=True):
        alike = M @ K @ M @ H @ h
        alike = (alike - alike.min()) / np.ptp(alike)
        nearest = np.argsort(-alike)[:7]
        np.testing.assert_allclose(x, alike[nearest] @ X[nearest] / alike[nearest].sum(), rtol=1e-9)
