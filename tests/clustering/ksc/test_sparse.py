"""Models on few rows: with all rows they are the full model, with few they keep its clusters."""

import numpy as np
import pytest
from scipy.sparse.csgraph import connected_components

from gramian import Nystroem
from gramian.clustering.ksc import Eigenproblem, decoder_of
from gramian.clustering.ksc.sparse import (
    group_lasso_rows,
    landmark_kernel,
    landmark_model,
    large_parts,
    pivot_rows,
    quantile_rows,
    reduced_set,
)
from gramian.grams import DenseGram
from gramian.kernels import RBF, TL1, Precomputed
from gramian.metrics import adjusted_rand


@pytest.fixture
def X():
    rng = np.random.default_rng(5)
    return np.vstack([rng.normal(size=(30, 2)) * 0.7 + center for center in ((0, 0), (4, 0), (2, 4))])


@pytest.mark.parametrize("kernel", [RBF(1.0), TL1(3.0)], ids=["rbf", "tl1"])
def test_all_landmarks_are_the_full_model(kernel, X):
    """With every row a landmark, eigenvalues and scores of new rows are those of the dense problem."""
    exact = Eigenproblem.of(kernel.gram(X), 2)
    landmarks = landmark_kernel(kernel, len(X), 0)._fitted(X)
    gram = landmarks.gram(X)
    problem = Eigenproblem.of(gram, 2)
    np.testing.assert_allclose(problem.values, exact.values, atol=1e-8)
    new = X + 0.1
    full = exact.model(kernel.fit(X), X)(new)[0]
    found = landmark_model(problem, landmarks, X, gram)(new)[0]
    np.testing.assert_allclose(np.abs(found), np.abs(full), atol=1e-6)


def test_landmark_model_is_the_model_of_its_features(X):
    """An expansion in 20 landmarks gives the scores of the features, at no whitening."""
    landmarks = Nystroem(20, kernel=RBF(1.0), random_state=0).fit(X)
    gram = landmarks.gram(X)
    problem = Eigenproblem.of(gram, 2)
    few, features = landmark_model(problem, landmarks, X, gram), problem.model(landmarks, X, gram)
    assert few.expansion.points.shape[0] <= 20
    for found, expected in zip(few(X + 0.1), features(X + 0.1), strict=True):
        np.testing.assert_allclose(found, expected, atol=1e-8)


@pytest.mark.parametrize("kernel", [RBF(1.0), TL1(3.0), Precomputed()], ids=["rbf", "tl1", "precomputed"])
def test_reduced_set_of_all_rows_is_the_full_model(kernel, X):
    if kernel.pairwise:
        X = RBF(1.0)(X)
    kernel.fit(X)
    gram = kernel.gram(X)
    problem = Eigenproblem.of(gram, 2)
    found = reduced_set(problem, kernel, X, gram, np.arange(len(X)))
    full = problem.model(kernel, X, gram)
    np.testing.assert_allclose(found.model(X)[0], full(X)[0], atol=1e-6)
    np.testing.assert_allclose(found.model.intercept, problem.intercept, atol=1e-6)


def test_reduced_set_solves_its_equations(X):
    """ζ = (K_ψψ + ridge)⁻¹ K_ψ· α, and the weighted mean of the scores is zero."""
    kernel, rows = RBF(1.0).fit(X), np.arange(0, len(X), 7)
    gram = kernel.gram(X)
    problem = Eigenproblem.of(gram, 2)
    found = reduced_set(problem, kernel, X, gram, rows)
    K = gram.dense()
    zeta = np.linalg.solve(K[np.ix_(rows, rows)], K[rows] @ problem.coefficients)
    np.testing.assert_allclose(found.coefficients, zeta, atol=1e-6)
    scores = K[:, rows] @ zeta + found.model.intercept
    np.testing.assert_allclose(found.model(X)[0], scores, atol=1e-6)
    np.testing.assert_allclose((1 / K.sum(axis=1)) @ scores, 0, atol=1e-6)


def test_few_rows_keep_the_clusters(X):
    """Ten rows of each choice label all 90 as the full model does."""
    kernel = RBF(1.0).fit(X)
    gram = kernel.gram(X)
    problem = Eigenproblem.of(gram, 2)
    scores = problem.scores()
    decoder = decoder_of(scores, 3)
    labels = decoder.labels(scores)
    choices = quantile_rows(scores, labels, decoder.prototypes, 10), group_lasso_rows(problem, gram, 10)
    for rows in choices:
        assert len(np.unique(rows)) == len(rows)
        assert 8 <= len(rows) <= 12
        few = reduced_set(problem, kernel, X, gram, rows).model(X)[0]
        assert adjusted_rand(labels, decoder_of(few, 3).labels(few)) > 0.9
    assert set(labels[choices[0]]) == {0, 1, 2}


def test_group_lasso_minimises_its_objective(X):
    """The rows kept are those that a plain proximal gradient descent, run to the end, keeps at some strength."""
    gram = RBF(2.0).gram(X)
    problem = Eigenproblem.of(gram, 2)
    K, alpha = gram.dense(), problem.coefficients
    found = group_lasso_rows(problem, gram, 12)
    step = 1 / (2.02 * np.linalg.eigvalsh(K)[-1])
    top = 2 * np.linalg.norm(K @ alpha, axis=1).max()
    best = 0.0
    zeta = np.zeros_like(alpha)
    for share in 0.7 ** np.arange(3, 12):
        for _ in range(300):
            moved = zeta - 2 * step * (K @ (zeta - alpha))
            sizes = np.linalg.norm(moved, axis=1, keepdims=True)
            zeta = moved * np.maximum(1 - step * share * top / np.maximum(sizes, 1e-300), 0)
        largest = np.argsort(-np.linalg.norm(zeta, axis=1))[:12]
        best = max(best, len(set(largest) & set(found)) / 12)
    assert best >= 0.75


def test_group_lasso_refuses_indefinite_kernels(X):
    K = DenseGram(TL1(3.0)(X) - 2 * np.eye(len(X)))
    problem = Eigenproblem.of(TL1(3.0).gram(X), 2)
    with pytest.raises(ValueError, match="reduction='reduced_set'"):
        group_lasso_rows(problem, K, 10)


def test_pivots_of_many_rows_come_from_some():
    rng = np.random.default_rng(0)
    assert pivot_rows(5000, 100, rng) is None
    some = pivot_rows(50_000, 100, rng)
    assert len(np.unique(some)) == len(some) == 5000
    assert len(pivot_rows(50_000, 1000, rng)) == 10_000


def test_parts_are_those_of_the_whole_matrix():
    """Rows hang together through landmarks as they do in K; a row like no landmark is in no part."""
    chain = np.arange(0.0, 60.0, 1.5)[:, None]
    X = np.vstack([chain, 200 + chain[:9], [[-500.0], [900.0], [900.5]]])
    kernel = RBF(1.0)
    landmarks = landmark_kernel(kernel, 25, 0)._fitted(X)
    adjacent = np.abs(X - X.T) < 7
    _, parts = connected_components(adjacent)
    seen = adjacent[:, landmarks.landmark_indices_].any(axis=1)
    assert 0 < (~seen).sum() < 4
    for least in (1, 2, 5, 20):
        np.testing.assert_array_equal(large_parts(landmarks, X, least), seen & (np.bincount(parts)[parts] >= least))
    assert large_parts(landmark_kernel(RBF(500.0), 10, 0)._fitted(X), X, 5) is None
