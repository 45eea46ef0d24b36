"""Prediction intervals: the quantile, and their coverage."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.datasets import load_diabetes, make_friedman1, make_friedman3
from sklearn.model_selection import train_test_split

from gramian import ClusterKernel
from gramian.kernels import RBF, Tanh
from gramian.lssvm import LSSVMRegressor
from gramian.lssvm.intervals import conformal_radius, radii_of_others
from lssvm.textbook_lssvm import problem

PROBLEMS = {
    "diabetes": lambda: load_diabetes(return_X_y=True),
    "friedman 1": lambda: make_friedman1(900, noise=1.0, random_state=0),
    "friedman 3": lambda: make_friedman3(900, noise=0.1, random_state=0),
}


@pytest.mark.parametrize("name", PROBLEMS)
def test_intervals_cover_what_they_promise(name):
    """Over five splits the share of new targets inside is 0.9 within 0.03."""
    X, y = PROBLEMS[name]()
    inside = []
    for seed in range(5):
        train, new, targets, truth = train_test_split(X, y, test_size=0.5, random_state=seed)
        low, high = LSSVMRegressor(random_state=0).fit(train, targets).predict_interval(new, 0.9).T
        inside.append(np.mean((low <= truth) & (truth <= high)))
    assert np.mean(inside) == pytest.approx(0.9, abs=0.03)


def test_noise_need_not_be_normal():
    """Exponential noise is covered as well."""
    rng = np.random.default_rng(0)
    X = rng.uniform(-2, 2, (1200, 1))
    y = np.sin(2 * X[:, 0]) + rng.exponential(size=1200)
    model = LSSVMRegressor(random_state=0).fit(X[:400], y[:400])
    low, high = model.predict_interval(X[400:], 0.8).T
    assert np.mean((low <= y[400:]) & (y[400:] <= high)) == pytest.approx(0.8, abs=0.04)


def test_intervals_widen_away_from_the_data():
    X, y = problem()
    low, high = LSSVMRegressor(RBF(1.0), regularization=10.0).fit(X, y).predict_interval(np.array([X[0], X[0] + 10])).T
    assert (high - low)[1] > 1.2 * (high - low)[0]


def test_intervals_are_the_formula():
    """f ± q d, q the quantile of |left-out residual| / d at the rows, d² = posterior variance of f + noise."""
    X, y = problem(50)
    new = X[:5] + 0.4
    model = LSSVMRegressor(RBF(1.0), regularization=10.0).fit(X, y)
    left = np.empty(50)
    for i in range(50):
        without = LSSVMRegressor(RBF(1.0), regularization=10.0).fit(np.delete(X, i, 0), np.delete(y, i))
        left[i] = without._remaining(X[i : i + 1])[0][0, 0]
    scores = np.sort(np.abs(model.loo_residuals()) / np.sqrt(left + 0.1))
    half = scores[int(np.ceil(0.9 * 51)) - 1] * np.sqrt(model._remaining(new)[0][:, 0] + 0.1)
    middle = model.predict(new)
    np.testing.assert_allclose(model.predict_interval(new), np.column_stack([middle - half, middle + half]), rtol=1e-8)


def test_similarities_alone_give_even_intervals():
    X, y = problem(50)
    K = RBF(1.0)(X)
    model = LSSVMRegressor("precomputed", regularization=10.0).fit(K, y)
    widths = np.ptp(model.predict_interval(K[:5]), axis=1)
    np.testing.assert_allclose(widths, widths[0])
    with pytest.raises(ValueError, match="return_std"):
        model.predict(K[:5], return_std=True)


def test_a_single_row_tells_nothing_of_errors():
    """Neither a deviation nor an end of an interval."""
    model = LSSVMRegressor().fit([[1.0, 2.0]], [3.0])
    value, deviation = model.predict([[1.0, 2.0]], return_std=True)
    assert value == 3
    assert np.isnan(deviation)
    np.testing.assert_array_equal(model.predict_interval([[1.0, 2.0]]), [[-np.inf, np.inf]])


@pytest.mark.parametrize("indefinite", ["direct", "clip", "flip", "shift", "square"])
def test_indefinite_kernels_give_even_intervals(indefinite):
    """They have no posterior: its variance at new rows is negative, or huge, where at the fitted ones it is neither."""
    X, y = make_friedman1(400, n_features=6, noise=1.0, random_state=0)
    X = 3 * (X - 0.5)
    model = LSSVMRegressor(Tanh(0.2, -0.5), regularization=1.0, indefinite=indefinite).fit(X[:100], y[:100])
    low, high = model.predict_interval(X[100:]).T
    half = conformal_radius(np.abs(model.loo_residuals()), 0.9)
    np.testing.assert_allclose(high - low, 2 * half, rtol=1e-9)
    np.testing.assert_allclose((low + high) / 2, model.predict(X[100:]), rtol=1e-9)
    np.testing.assert_allclose(np.ptp(model.loo_interval(), axis=1).mean(), 2 * half, rtol=0.05)


def test_the_quantile_counts_copies():
    scores = np.random.default_rng(0).random(40)
    counts = np.random.default_rng(1).integers(1, 5, 40)
    expected = conformal_radius(np.repeat(scores, counts), 0.85)
    assert conformal_radius(scores, 0.85, counts * 1.0) == expected


@pytest.mark.parametrize("coverage", [0, 1, 1.5, np.nan, "most"])
def test_impossible_coverage_is_refused(coverage):
    X, y = problem(20)
    with pytest.raises(ValueError, match="coverage"):
        LSSVMRegressor(RBF(1.0), regularization=1.0).fit(X, y).predict_interval(X, coverage)


@settings(deadline=None, max_examples=50)
@given(
    st.lists(st.integers(0, 20), min_size=1, max_size=25),
    st.sampled_from([0.1, 0.5, 0.8, 0.9]),
    st.integers(0, 2**32 - 1),
)
def test_the_radius_of_the_others_is_that_without_the_row(scores, coverage, seed):
    """Row by row: drop one copy of the row and take the plain radius; equal scores and copies are no trouble."""
    scores = np.array(scores, float)
    counts = np.random.default_rng(seed).integers(1, 4, len(scores)).astype(float)
    for given_counts in (None, counts):
        found = radii_of_others(scores, coverage, given_counts)
        for i in range(len(scores)):
            repeated = np.repeat(scores, 1 if given_counts is None else counts.astype(int))
            others = np.delete(repeated, np.flatnonzero(repeated == scores[i])[0])
            assert found[i] == conformal_radius(others, coverage)


def test_the_radius_is_a_score_of_the_right_rank():
    assert conformal_radius(np.arange(1.0, 20.0), 0.9) == 18.0
    assert conformal_radius(np.arange(1.0, 5.0), 0.9) == np.inf


@pytest.mark.parametrize("outputs", [1, 2])
def test_left_out_intervals_are_those_of_refits(outputs):
    """Centre and deviation from a machine without the row, the quantile from the other rows' left-out scores."""
    X, y = problem(40)
    Y = y if outputs == 1 else np.column_stack([y, X[:, 0] - y])
    kernel, gamma = RBF(1.3), 6.0
    model = LSSVMRegressor(kernel, regularization=gamma).fit(X, Y)
    found = model.loo_interval(coverage=0.8).reshape(40, outputs, 2)
    K = np.exp(-np.sum((X[:, None] - X[None]) ** 2, axis=2) / (2 * 1.3**2))
    targets = Y.reshape(40, outputs)
    centre, deviation = np.empty((40, outputs)), np.empty(40)
    for i in range(40):
        rest = np.arange(40) != i
        A = np.zeros((40, 40))
        A[0, 1:] = A[1:, 0] = 1
        A[1:, 1:] = K[np.ix_(rest, rest)] + np.eye(39) / gamma
        border = np.concatenate([[1.0], K[i, rest]])
        solved = np.linalg.solve(A, np.column_stack([np.vstack([np.zeros(outputs), targets[rest]]), border]))
        centre[i] = border @ solved[:, :-1]
        deviation[i] = np.sqrt(1 - border @ solved[:, -1] + 1 / gamma)
    for j in range(outputs):
        scores = np.abs(targets[:, j] - centre[:, j]) / deviation
        radius = np.array([conformal_radius(np.delete(scores, i), 0.8) for i in range(40)])
        np.testing.assert_allclose(found[:, j, 0], centre[:, j] - radius * deviation, rtol=1e-7, atol=1e-7)
        np.testing.assert_allclose(found[:, j, 1], centre[:, j] + radius * deviation, rtol=1e-7, atol=1e-7)


def test_rows_of_weight_zero_have_no_left_out_interval():
    X, y = problem(30)
    weights = np.ones(30)
    weights[4] = 0
    found = LSSVMRegressor(RBF(1.0), regularization=3.0).fit(X, y, sample_weight=weights).loo_interval()
    np.testing.assert_array_equal(np.isnan(found).any(axis=1), weights == 0)


def test_rows_of_which_less_is_known_have_no_narrower_interval():
    """k(x, x) of the cluster kernel falls with the values a row misses, and would make its posterior the surest."""
    X, y = make_friedman1(200, n_features=5, noise=1.0, random_state=0)
    X[np.random.default_rng(0).random(X.shape) < 0.3] = np.nan
    model = LSSVMRegressor(ClusterKernel(5, random_state=0), regularization=5.0).fit(X[:150], y[:150])
    new = np.vstack([X[150:], np.full((1, 5), np.nan)])
    half = conformal_radius(np.abs(model.loo_residuals()), 0.9)
    np.testing.assert_allclose(np.ptp(model.predict_interval(new), axis=1), 2 * half)
