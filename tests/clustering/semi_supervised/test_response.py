"""The systems of semi-supervised clustering against the printed, non-symmetric one."""

import numpy as np
import pytest

from clustering.semi_supervised.textbook import clouds, dual, few_labels, hessian, left_out
from gramian.clustering.semi_supervised.response import LabelForces, Response, walk_weights
from gramian.grams import DenseGram, FeatureGram
from gramian.kernels import RBF, TL1
from gramian.lssvm import LSSVMRegressor


@pytest.fixture(params=[RBF(width=1.0), TL1(radius=4.0)], ids=["rbf", "tl1"])
def problem(request):
    """A kernel matrix, definite or not, labelled rows and their ±1."""
    rng = np.random.default_rng(0)
    X, y = clouds(rng)
    K = request.param.fit(X)(X)
    labelled = np.flatnonzero(few_labels(rng, y) >= 0)
    return K, labelled, np.where(y[labelled, None] == np.arange(3), 1.0, -1.0), X


def solved(K, labelled, C, smoothness, label_weight):
    gram = DenseGram(K)
    response = Response(gram, walk_weights(gram.degrees()), smoothness, labelled)
    return response, LabelForces(response.block, response.repulsion, C, label_weight)


@pytest.mark.parametrize(("smoothness", "label_weight"), [(0.1, 1.0), (0.9, 10.0), (0.99, 100.0), (1.0, 10.0)])
def test_coefficients_solve_the_printed_system(problem, smoothness, label_weight):
    """α is that of the non-symmetric system, and obeys α = R e + γ₂ c, 1ᵀα = 0, e = K α + b."""
    K, labelled, C, _ = problem
    response, forces = solved(K, labelled, C, smoothness, label_weight)
    alpha, scores = response.coefficients(forces), response.scores(forces)
    expected, b = dual(K, labelled, C, smoothness, label_weight)
    assert np.allclose(alpha, expected, atol=1e-9 * np.abs(expected).max())
    assert np.allclose(scores, K @ alpha + b, atol=1e-8)
    full = np.zeros_like(alpha)
    full[labelled] = C
    R = smoothness / K.sum(axis=1)
    R[labelled] -= label_weight
    assert np.abs(alpha - R[:, None] * scores - label_weight * full).max() < 1e-8
    assert np.abs(alpha.sum(axis=0)).max() < 1e-8


def test_without_smoothness_it_is_the_ls_svm_of_the_labelled_rows(problem):
    K, labelled, C, _ = problem
    within = K[np.ix_(labelled, labelled)]
    forces = LabelForces(within, 0.0, C, 3.0)
    machine = LSSVMRegressor("precomputed", regularization=3.0).fit(within, C)
    assert np.allclose(forces.forces, machine.dual_coef_, atol=1e-10)
    assert np.allclose(forces.level, machine.intercept_, atol=1e-10)
    assert np.allclose(C - forces.left_out, machine.loo_residuals(), atol=1e-9)


@pytest.mark.parametrize("smoothness", [0.5, 0.95])
def test_a_label_left_out_is_a_refit_without_it(problem, smoothness):
    """The row stays, unlabelled; degrees do not change."""
    K, labelled, C, _ = problem
    _, forces = solved(K, labelled, C, smoothness, 5.0)
    assert np.allclose(forces.left_out, left_out(K, labelled, C, smoothness, 5.0), atol=1e-8)


@pytest.mark.parametrize("label_weight", [0.01, 0.3, 3.0, 100.0])
@pytest.mark.parametrize("smoothness", [0.3, 0.99, 1.7, 4.0])
def test_negative_directions_are_those_of_the_primal_hessian(problem, smoothness, label_weight):
    """Signs of eigenvalues: the Hessian with labels has as many fewer negative ones as the labels turn."""
    K, labelled, C, _ = problem
    response, forces = solved(K, labelled, C, smoothness, label_weight)
    values = response.operator.eigenpairs(len(K))[0]
    before = 1 + int((values > 1 / smoothness).sum()) + int((np.linalg.eigvalsh(K) < -1e-10 * K.trace()).sum())
    after = int((np.linalg.eigvalsh(hessian(K, labelled, smoothness, label_weight)) < 0).sum())
    assert before - forces.n_negative == after


def test_labels_that_do_not_hold_the_intercept_are_not_safe(problem):
    """γ₂ l below γ₁ Σ 1/d: the solution is a saddle."""
    K, labelled, C, _ = problem
    weights = 1 / K.sum(axis=1)
    balance = 0.9 * weights.sum() / len(labelled)
    _, weak = solved(K, labelled, C, 0.9, 0.5 * balance)
    assert not weak.is_safe


def test_features_give_the_same_response():
    """A Gram of features is solved in their number, and answers alike."""
    rng = np.random.default_rng(1)
    F = np.abs(rng.normal(size=(40, 5)))
    labelled = np.array([3, 8, 21])
    weights = walk_weights(DenseGram(F @ F.T).degrees())
    blocks = [Response(gram, weights, 0.8, labelled).block for gram in (DenseGram(F @ F.T), FeatureGram(F))]
    assert np.allclose(*blocks, atol=1e-10)


@pytest.mark.parametrize("distance", [0.0, 1e-14, 1e-12, 1e-10, 1e-8, -1e-8, 1e-6])
@pytest.mark.parametrize("place", [0, 1])
def test_scores_at_a_resonance_are_those_of_the_printed_system(problem, place, distance):
    """At γ₁ = 1/λ of the first eigenvectors the printed system, which labels hold, is regular."""
    K, labelled, C, _ = problem
    gram = DenseGram(K)
    weights = walk_weights(gram.degrees())
    smoothness = 1 / gram.weighted_centered(weights).eigenpairs(place + 1)[0][place] + distance
    response = Response.beside_resonances(gram, weights, smoothness, labelled)
    scores = response.scores(LabelForces(response.block, response.repulsion, C, 10.0))
    alpha, b = dual(K, labelled, C, smoothness, 10.0)
    assert np.abs(scores - K @ alpha - b).max() < 1e-5 * np.abs(scores).max()


def test_a_group_without_label_has_score_zero_at_its_resonance():
    """Three groups apart and γ₁ = 1: the system is singular, and nothing is known of the third."""
    gram, labelled = DenseGram(np.kron(np.eye(3), np.ones((5, 5)))), np.array([0, 5])
    response = Response.beside_resonances(gram, walk_weights(gram.degrees()), 1.0, labelled)
    scores = response.scores(LabelForces(response.block, response.repulsion, np.array([[-1.0], [1.0]]), 10.0))
    assert np.allclose(scores[:, 0], np.repeat([-1, 1, 0], 5), atol=1e-5)


def test_with_vanishing_label_weight_scores_take_the_direction_of_spectral_clustering():
    """γ₂ → 0 and γ₁ → 1/λ₁: α turns to the first eigenvector of V M_V K."""
    rng = np.random.default_rng(0)
    X, y = clouds(rng, k=2)
    K = RBF(width=1.0).fit(X)(X)
    gram = DenseGram(K)
    weights = walk_weights(gram.degrees())
    value, vector = gram.weighted_centered(weights).eigenpairs(1)
    direction = np.sqrt(weights) * vector[:, 0]
    labelled = np.flatnonzero(few_labels(rng, y) >= 0)
    C = np.where(y[labelled, None] == 1, 1.0, -1.0)
    cosines = []
    for gap in (1e-2, 1e-4, 1e-6):
        response = Response(gram, weights, 1 / value[0] - gap, labelled)
        alpha = response.coefficients(LabelForces(response.block, response.repulsion, C, 1e-8))[:, 0]
        cosines.append(abs(alpha @ direction) / np.linalg.norm(alpha) / np.linalg.norm(direction))
    assert cosines[0] < cosines[1] < cosines[2]
    assert cosines[1] > 0.99
    assert cosines[2] > 0.99999


def test_weights_are_one_over_degrees_and_zero_for_rows_like_none():
    assert np.allclose(walk_weights(np.array([2.0, 0.0, 0.5])), [0.5, 0.0, 2.0])


def test_a_row_far_from_all_landmarks_counts_as_little_more_than_others():
    """Its degree, which the landmarks miss, becomes a thousandth of the median one."""
    weights = walk_weights(np.array([4.0, 5.0, 6.0, 1e-9, -1e-3]), approximate=True)
    assert np.allclose(weights[3:], 1 / (1e-3 * 4.0))


def test_negative_degrees_are_refused_with_their_number():
    with pytest.raises(ValueError, match="2 of 3 rows a negative sum"):
        walk_weights(np.array([1.0, -1.0, -2.0]))


def test_rows_that_are_all_alone_are_refused():
    with pytest.raises(ValueError, match="no row of X is similar to another row"):
        walk_weights(np.zeros(3))
