"""Coupled LS-SVMs of several views against the bordered system of the paper, and their limits."""

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.linalg import block_diag

from gramian import MultiViewLSSVMRegressor, config
from gramian.kernels import RBF, Linear

VIEWS = [[0, 1], [2, 3, 4]]
KERNELS = [RBF(width=1.0), RBF(width=2.0)]


def data(n=40, seed=0):
    """Rows of two views and a target that both tell something of."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, 5))
    return X, np.sin(X[:, 0]) + X[:, 3] + 0.1 * rng.normal(size=n)


def printed_dual(grams, gamma, rho, y):
    """α (V, n) and b (V,) of the system as it is printed in the paper, each pair of views counted once."""
    V, n = len(grams), len(y)
    Gamma, one = np.kron(np.diag(gamma), np.eye(n)), np.kron(np.eye(V), np.ones((n, 1)))
    beside = np.kron(np.ones((V, V)) - np.eye(V), np.eye(n))
    Omega, stacked = block_diag(*grams), np.tile(y, V)
    A = np.block(
        [
            [np.zeros((V, V)), one.T],
            [Gamma @ one + rho * beside @ one, Gamma @ Omega + np.eye(n * V) + rho * beside @ Omega],
        ]
    )
    solution = np.linalg.solve(A, np.r_[np.zeros(V), Gamma @ stacked + (V - 1) * rho * stacked])
    return solution[V:].reshape(V, n), solution[:V]


def lssvm(K, gamma, y):
    """α and b of one LS-SVM by the bordered system."""
    n = len(y)
    A = np.block([[np.zeros((1, 1)), np.ones((1, n))], [np.ones((n, 1)), K + np.eye(n) / gamma]])
    solution = np.linalg.solve(A, np.r_[0, y])
    return solution[1:], solution[0]


def grams(X):
    return [kernel(X[:, view]) for kernel, view in zip(KERNELS, VIEWS, strict=True)]


@pytest.mark.parametrize("rho", [0.0, 0.7, 1.9])
def test_the_solution_is_that_of_the_printed_system(rho):
    """α and b solve the paper's unsymmetric system."""
    X, y = data()
    model = MultiViewLSSVMRegressor(VIEWS, kernel=KERNELS, regularization=[2.0, 3.0], coupling=rho).fit(X, y)
    alpha, b = printed_dual(grams(X), [2.0, 3.0], rho, y)
    np.testing.assert_allclose(model.dual_coef_, alpha, atol=1e-10)
    np.testing.assert_allclose(model.intercept_, b, atol=1e-10)
    expected = np.stack([K @ a + c for K, a, c in zip(grams(X), alpha, b, strict=True)], axis=1)
    np.testing.assert_allclose(model.predict_views(X), expected, atol=1e-10)
    np.testing.assert_allclose(model.predict(X), expected.mean(axis=1), atol=1e-10)


def test_without_coupling_the_views_are_separate_models():
    """ρ = 0 gives an LS-SVM for each view, solved apart."""
    X, y = data()
    model = MultiViewLSSVMRegressor(VIEWS, kernel=KERNELS, regularization=2.0).fit(X, y)
    for v, K in enumerate(grams(X)):
        alpha, b = lssvm(K, 2.0, y)
        np.testing.assert_allclose(model.dual_coef_[v], alpha, atol=1e-10)
        assert model.intercept_[v] == pytest.approx(b, abs=1e-10)
    assert len(model.solvers_) == 2


def test_full_coupling_is_one_model_of_the_summed_kernels():
    """ρ = γ: the average prediction is that of the sum of the kernels, and every α is V times its α."""
    X, y = data()
    model = MultiViewLSSVMRegressor(VIEWS, kernel=KERNELS, regularization=2.0, coupling=2.0).fit(X, y)
    alpha, b = lssvm(sum(grams(X)), 2.0, y)
    np.testing.assert_allclose(model.predict(X), sum(grams(X)) @ alpha + b, atol=1e-10)
    np.testing.assert_allclose(model.dual_coef_, np.tile(2 * alpha, (2, 1)), atol=1e-10)


def test_weighted_views_are_stationary():
    """s_v w_v = Φ_vᵀ (s_v γ_v e_v + Σ_u ρ √(s_v s_u) e_u) with the features of linear kernels, and 1ᵀα_v = 0."""
    X, y = data()
    s, gamma, rho = np.array([0.4, 1.7]), np.array([2.0, 3.0]), 1.5
    model = MultiViewLSSVMRegressor(
        VIEWS, kernel=Linear(), regularization=gamma, coupling=rho, view_weights=s, combine="weighted"
    ).fit(X, y)
    parts = [X[:, view] for view in VIEWS]
    w = [Phi.T @ alpha / weight for Phi, alpha, weight in zip(parts, model.dual_coef_, s, strict=True)]
    e = [y - Phi @ v - b for Phi, v, b in zip(parts, w, model.intercept_, strict=True)]
    for v, u in ((0, 1), (1, 0)):
        right = s[v] * gamma[v] * e[v] + rho * np.sqrt(s[v] * s[u]) * e[u]
        np.testing.assert_allclose(s[v] * w[v], parts[v].T @ right, atol=1e-9)
        assert abs(model.dual_coef_[v].sum()) < 1e-9
    shares = s / s.sum()
    np.testing.assert_allclose(model.predict(X), model.predict_views(X) @ shares, atol=1e-10)
    # A constant factor in all weights changes nothing.
    again = MultiViewLSSVMRegressor(
        VIEWS, kernel=Linear(), regularization=gamma, coupling=rho, view_weights=7 * s, combine="weighted"
    ).fit(X, y)
    np.testing.assert_allclose(again.predict(X), model.predict(X), atol=1e-9)


def test_a_weight_of_two_is_a_row_given_twice_and_zero_a_row_left_out():
    """Weights are repetitions, with fixed widths."""
    X, y = data()
    weights = np.ones(40)
    weights[3], weights[8] = 2, 0
    repeated = np.r_[np.delete(np.arange(40), 8), 3]
    build = MultiViewLSSVMRegressor(VIEWS, kernel=KERNELS, regularization=2.0, coupling=1.0, view_weights="validation")
    weighted = build.fit(X, y, weights).predict(X)
    # Leave-one-out of a row that stands twice is another thing than of a row of weight two, so the weights are given.
    build.set_params(view_weights=build.view_weights_)
    np.testing.assert_allclose(build.fit(X[repeated], y[repeated]).predict(X), weighted, atol=1e-9)


def test_views_are_weighted_by_their_leave_one_out_error():
    """s_v = exp(−mean squared error of n refits, targets in standard deviations)."""
    X, y = data(25)
    model = MultiViewLSSVMRegressor(VIEWS, kernel=KERNELS, regularization=2.0, view_weights="validation").fit(X, y)
    for v, K in enumerate(grams(X)):
        errors = []
        for i in range(len(y)):
            rest = np.delete(np.arange(len(y)), i)
            alpha, b = lssvm(K[np.ix_(rest, rest)], 2.0, y[rest])
            errors.append(y[i] - K[i, rest] @ alpha - b)
        assert model.view_weights_[v] == pytest.approx(np.exp(-np.mean(np.square(errors)) / y.var()), rel=1e-9)


@settings(max_examples=25, deadline=None)
@given(st.integers(1, 3), st.floats(0, 1), st.integers(0, 1000))
def test_order_of_views_and_shift_of_targets(outputs, share, seed):
    """The order of the views does not matter, and y + c is predicted as y, plus c."""
    rng = np.random.default_rng(seed)
    X, y = rng.normal(size=(15, 5)), rng.normal(size=(15, outputs))
    model = MultiViewLSSVMRegressor(VIEWS, kernel=Linear(), regularization=2.0, coupling=2.0 * share)
    found = model.fit(X, y).predict(X)
    swapped = MultiViewLSSVMRegressor(VIEWS[::-1], kernel=Linear(), regularization=2.0, coupling=2.0 * share)
    np.testing.assert_allclose(swapped.fit(X, y).predict(X), found, atol=1e-8)
    np.testing.assert_allclose(model.fit(X, y + 5).predict(X), found + 5, atol=1e-8)


def test_features_are_solved_in_the_primal_and_agree():
    """Kernels with few features take the small dual of the coupled features."""
    X, y = data(60)
    model = MultiViewLSSVMRegressor(VIEWS, kernel=Linear(), regularization=[2.0, 3.0], coupling=1.0).fit(X, y)
    assert model.solvers_ == ["dual"]
    alpha, b = printed_dual([X[:, v] @ X[:, v].T for v in VIEWS], [2.0, 3.0], 1.0, y)
    np.testing.assert_allclose(model.dual_coef_, alpha, atol=1e-9)
    np.testing.assert_allclose(model.intercept_, b, atol=1e-9)


def test_without_room_for_the_matrix_it_iterates():
    """Above the memory budget products are enough, with the same predictions."""
    X, y = data(60)
    model = MultiViewLSSVMRegressor(VIEWS, kernel=KERNELS, regularization=2.0, coupling=1.0)
    expected = model.fit(X, y).predict(X)
    with config(memory_budget=30_000):
        model.fit(X, y)
    assert model.solvers_ == ["cg"]
    np.testing.assert_allclose(model.predict(X), expected, atol=1e-6)


def test_named_kernels_see_standard_deviations_and_frames_name_columns():
    """Rescaled columns change nothing for a kernel by name; names and numbers are the same views."""
    X, y = data()
    frame = pd.DataFrame(X * [1, 10, 1, 100, 1] + 3, columns=list("abcde"))
    by_name = MultiViewLSSVMRegressor([["a", "b"], ["c", "d", "e"]], coupling=0.5).fit(frame, y)
    by_number = MultiViewLSSVMRegressor(VIEWS, coupling=0.5).fit(X, y)
    np.testing.assert_allclose(by_name.predict(frame), by_number.predict(X), atol=1e-9)


def test_median_of_three_views():
    """combine="median" takes the middle prediction."""
    X, y = data()
    model = MultiViewLSSVMRegressor([[0], [1, 2], [3, 4]], combine="median").fit(X, y)
    np.testing.assert_allclose(model.predict(X), np.median(model.predict_views(X), axis=1))


def test_single_precision_is_kept():
    """float32 in, float32 out."""
    X, y = data()
    model = MultiViewLSSVMRegressor(VIEWS, coupling=0.5).fit(X.astype(np.float32), y)
    assert model.predict(X.astype(np.float32)).dtype == np.float32
    assert model.dual_coef_.dtype == np.float32


@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        ({"kernel": [RBF()]}, "kernel has 1 entries for 2 views"),
        ({"kernel": "precomputed"}, "no columns to split into views"),
        ({"view_weights": "other"}, "view_weights='other' is not known"),
        ({"view_weights": [1.0, -1.0]}, "view_weights"),
        ({"combine": "best"}, "combine='best' is not known"),
        ({"coupling": 3.0}, "eigenvalue -2"),
    ],
)
def test_bad_parameters_are_named(parameters, message):
    """Each error names its parameter."""
    X, y = data()
    with pytest.raises(ValueError, match=message):
        MultiViewLSSVMRegressor(VIEWS, **parameters).fit(X, y)


def test_a_weight_of_two_is_the_row_twice_where_views_are_weighed():
    """Leave-one-out errors of the views leave out one copy, not both."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(40, 2))
    y = np.sin(X[:, 0]) + 0.1 * rng.normal(size=40)
    counts = rng.integers(1, 4, 40)
    options = {"kernel": RBF(1.0), "regularization": 2.0, "coupling": 0.7, "view_weights": "validation"}
    weighted = MultiViewLSSVMRegressor([[0], [1]], **options).fit(X, y, sample_weight=counts)
    repeated = MultiViewLSSVMRegressor([[0], [1]], **options).fit(np.repeat(X, counts, axis=0), np.repeat(y, counts))
    np.testing.assert_allclose(weighted.view_weights_, repeated.view_weights_, rtol=1e-8)
    np.testing.assert_allclose(weighted.predict(X), repeated.predict(X), rtol=1e-8)
    small = MultiViewLSSVMRegressor([[0], [1]], **options).fit(X, 1e-200 * y, sample_weight=counts)
    np.testing.assert_allclose(small.view_weights_, weighted.view_weights_, rtol=1e-8)
