"""Restricted kernel machines: the system of hidden features, kernel PCA of zero objective, levels with a head."""

import numpy as np
import pytest
from sklearn.datasets import load_iris
from sklearn.linear_model import LogisticRegression

from gramian import RestrictedKernelMachine
from gramian.kernels import RBF, Linear

X, LABELS = load_iris(return_X_y=True)
X = X[::2]
LABELS = LABELS[::2]


def gaussian(A, B, width=1.0):
    """exp(−‖x−y‖²/(2 width²))."""
    return np.exp(-((A[:, None] - B[None]) ** 2).sum(axis=2) / (2 * width**2))


@pytest.mark.parametrize("outputs", [1, 2])
def test_regression_solves_the_system_of_hidden_features(outputs):
    """[K/η + λI, 1; 1ᵀ, 0][H; b] = [Y; 0], and predictions are (1/η) Σ h_i k(x, x_i) + b."""
    eta, lambda_, n = 2.0, 0.3, len(X)
    Y = X[:, :outputs] ** 2
    model = RestrictedKernelMachine(kernel=RBF(width=1.0), eta=eta, lambda_=lambda_)
    model.fit(X, Y[:, 0] if outputs == 1 else Y)
    K = gaussian(X, X)
    A = np.block([[K / eta + lambda_ * np.eye(n), np.ones((n, 1))], [np.ones((1, n)), np.zeros((1, 1))]])
    solution = np.linalg.solve(A, np.vstack([Y, np.zeros((1, outputs))]))
    np.testing.assert_allclose(model.hidden_.reshape(n, -1), solution[:-1], atol=1e-8)
    expected = gaussian(X[:5] + 0.1, X) @ solution[:-1] / eta + solution[-1]
    np.testing.assert_allclose(model.predict(X[:5] + 0.1).reshape(5, -1), expected, atol=1e-8)


def test_classification_has_a_hidden_feature_per_class():
    """h solves the same system for targets ±1, and the scores are those of the LS-SVM."""
    model = RestrictedKernelMachine("classification", kernel=RBF(width=1.0), lambda_=0.1).fit(X, LABELS)
    assert model.hidden_.shape == (len(X), 3)
    Y = np.where(LABELS[:, None] == np.arange(3), 1.0, -1.0)
    errors = Y - model.decision_function(X)
    np.testing.assert_allclose(errors, 0.1 * model.hidden_, atol=1e-8)  # e = λ h
    assert model.score(X, LABELS) > 0.95


def test_pca_has_zero_objective():
    """(1/η) K_c H = H Λ with HᵀH = I, and the objective vanishes at every stationary point."""
    eta = 1.7
    model = RestrictedKernelMachine("pca", kernel=RBF(width=1.0), eta=eta, n_components=4).fit(X)
    K = gaussian(X, X)
    K = K - K.mean(axis=0) - K.mean(axis=1)[:, None] + K.mean()
    H = model.hidden_
    np.testing.assert_allclose(K @ H / eta, H * model.eigenvalues_, atol=1e-8)
    objective = -np.trace(H.T @ K @ H) / eta + model.eigenvalues_.sum() / 2 + np.trace(H.T @ K @ H) / eta / 2
    assert objective == pytest.approx(0, abs=1e-8)
    np.testing.assert_allclose(model.transform(X), H, atol=1e-8)


def test_levels_give_the_fitted_rows_again_and_rise():
    """One level after the other; the first is exact for the fitted rows."""
    model = RestrictedKernelMachine("pca", levels=(4, 2), max_iter=30).fit(X)
    assert [H.shape[1] for H in model.hidden_levels_] == [4, 2]
    assert np.diff(model.objective_path_).min() > -1e-10
    again = model.transform(X)
    assert again.shape == (len(X), 2)
    # The last level is solved exactly on the first level's features of the fitted rows.
    first = model.transform(X, level=0)
    assert np.corrcoef(first[:, 0], model.hidden_levels_[0][:, 0])[0, 1] > 0.9


def test_a_head_predicts_from_the_last_level():
    """An LS-SVM by default, or any estimator."""
    for head in (None, LogisticRegression()):
        model = RestrictedKernelMachine("classification", levels=(6, 4), head=head, lambda_=0.01, max_iter=10).fit(
            X, LABELS
        )
        assert model.classes_.tolist() == [0, 1, 2]
        assert model.score(X, LABELS) > 0.85


def test_methods_are_those_of_the_kind():
    """Nothing is offered that the kind cannot do."""
    assert not hasattr(RestrictedKernelMachine("pca"), "predict")
    assert not hasattr(RestrictedKernelMachine("regression"), "transform")
    assert hasattr(RestrictedKernelMachine("regression", levels=(3,)), "transform")
    assert not hasattr(RestrictedKernelMachine("regression"), "decision_function")


@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        ({"kind": "tree"}, "kind='tree' is not known"),
        ({"eta": 0.0}, "eta=0.0"),
        ({"lambda_": -1}, "lambda_=-1"),
        ({"levels": ()}, "levels"),
        ({"levels": (500,)}, "levels=500 is more than 74"),
        ({"levels": (3, 2), "kernel": ["rbf", Linear()]}, "levels above the first"),
        ({"kernel": ["rbf", "rbf"]}, "kernel has 2 entries for 1 levels"),
        ({"kind": "pca", "n_components": 0}, "n_components=0"),
    ],
)
def test_bad_parameters_are_named(parameters, message):
    """Each error names its parameter."""
    with pytest.raises(ValueError, match=message):
        RestrictedKernelMachine(**parameters).fit(X, X[:, 0])
