"""Fitted scores: similarities and features, convexity, resonances, isolated rows."""

import numpy as np
import pytest
from scipy.linalg import LinAlgWarning

from clustering.semi_supervised.textbook import clouds, dual, few_labels, hessian
from gramian import Nystroem
from gramian.clustering.semi_supervised.choice import Choice
from gramian.clustering.semi_supervised.labels import Labels
from gramian.clustering.semi_supervised.model import ScoreModel
from gramian.kernels import RBF, TL1, NeighborGraph, Precomputed

KERNELS = {"rbf": RBF(width=1.0), "tl1": TL1(radius=6.0)}


@pytest.fixture
def rows():
    rng = np.random.default_rng(0)
    X, y = clouds(rng)
    return X, Labels.of(few_labels(rng, y), len(y))


def dense(kernel, X, labels, smoothness, label_weight):
    kernel = kernel._fitted(X)
    return ScoreModel.of_similarities(kernel, kernel.gram(X), X, labels, Choice(kernel, smoothness, label_weight))


@pytest.mark.parametrize("name", KERNELS)
@pytest.mark.parametrize("smoothness", [0.0, 0.9])
def test_new_rows_are_scored_by_the_expansion(rows, name, smoothness):
    """e(x) = Σ α_i k(x, x_i) + b; of fitted rows it is what the fit has."""
    X, labels = rows
    model = dense(KERNELS[name], X, labels, smoothness, 5.0)
    K = KERNELS[name].fit(X)(X)
    alpha, b = dual(K, labels.rows, labels.targets, max(smoothness, 1e-300), 5.0)
    assert np.allclose(model.scores, K @ alpha + b, atol=1e-7)
    assert np.allclose(model(X), model.scores, atol=1e-8)
    assert np.allclose(model.intercept, b, atol=1e-8)
    new = X[:7] + 0.1
    assert np.allclose(model(new), KERNELS[name](new, X) @ alpha + b, atol=1e-7)


@pytest.mark.parametrize("name", KERNELS)
def test_all_rows_as_landmarks_are_the_dense_model(rows, name):
    X, labels = rows
    exact = dense(KERNELS[name], X, labels, 0.9, 5.0)
    kernel = Nystroem(len(X), kernel=KERNELS[name], random_state=0)._fitted(X)
    by_landmarks = ScoreModel.of_features(kernel, X, labels, Choice(kernel, 0.9, 5.0))
    new = X[::5] + 0.2
    assert np.allclose(by_landmarks(new), exact(new), atol=1e-6)
    assert np.allclose(by_landmarks.left_out, exact.left_out, atol=1e-6)
    assert by_landmarks.is_convex == exact.is_convex


@pytest.mark.parametrize("name", KERNELS)
@pytest.mark.parametrize("smoothness", [0.0, 0.5, 1.6])
@pytest.mark.parametrize("label_weight", [0.02, 1.0, 100.0])
def test_convex_is_what_the_hessian_says(rows, name, smoothness, label_weight):
    """The flag is the Cholesky factorisation of the primal Hessian, definite kernel or not."""
    X, labels = rows
    model = dense(KERNELS[name], X, labels, smoothness, label_weight)
    second = hessian(KERNELS[name].fit(X)(X), labels.rows, smoothness, label_weight)
    assert model.is_convex == bool(np.linalg.eigvalsh(second).min() > 0)


def test_a_resonance_is_named(rows):
    """At smoothness = 1/λ the eigenvalue stands in the warning."""
    X, labels = rows
    kernel = RBF(width=1.0)._fitted(X)
    gram = kernel.gram(X)
    value = float(gram.weighted_centered(1 / gram.degrees()).eigenpairs(2)[0][1])
    with pytest.warns(LinAlgWarning, match=f"eigenvalue {value:.6g}"[:-1]):
        dense(RBF(width=1.0), X, labels, 1 / value * (1 + 1e-13), 5.0)


def test_labels_that_balance_the_intercept_are_warned_of():
    """All rows alike and s = ρ: γ₂ l = γ₁ n / n."""
    K = np.ones((10, 10)) + 1e-3 * np.eye(10)
    labels = Labels.of([0, 1, *[-1] * 8], 10)
    kernel = Precomputed()._fitted(K)
    gram = kernel.gram(K)
    weight = 0.9 * float((1 / gram.degrees()).sum()) / 2
    found = []
    for factor in (1 + 1e-3, 10.0):
        choice = Choice(kernel, 0.9, weight * factor)
        found.append(ScoreModel.of_similarities(kernel, gram, K, labels, choice).reciprocal_condition)
    assert found[0] < 1e-2 * found[1]


def test_rows_like_no_other_are_set_aside_with_a_warning():
    """Their labels are of no use to others, and their own score is the level of all."""
    X = np.r_[np.arange(12.0), 1000.0, 2000.0][:, None]
    y = np.array([0, 0, 0, -1, -1, -1, -1, -1, -1, 1, 1, 1, 1, -1])
    kernel = NeighborGraph(radius=2.0)._fitted(X)
    choice = Choice(kernel, 0.9, 5.0)
    with pytest.warns(UserWarning, match="2 rows are similar to no other row.* 1 of them"):
        model = ScoreModel.of_similarities(kernel, kernel.gram(X), X, Labels.of(y, 14), choice)
    assert np.isfinite(model.scores).all()
    assert np.isnan(model.left_out).ravel().sum() == 1
    lonely = np.full(14, -1)
    lonely[[12, 13]] = 0, 1
    with (
        pytest.warns(UserWarning, match="similar to no other row"),
        pytest.raises(ValueError, match="no labelled row of X"),
    ):
        ScoreModel.of_similarities(kernel, kernel.gram(X), X, Labels.of(lonely, 14), choice)
