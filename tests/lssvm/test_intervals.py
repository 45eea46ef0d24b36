"""Prediction intervals: the quantile, and their coverage."""

import numpy as np
import pytest
from sklearn.datasets import load_diabetes, make_friedman1, make_friedman3
from sklearn.model_selection import train_test_split

from gramian.kernels import RBF
from gramian.lssvm import LSSVMRegressor
from gramian.lssvm.intervals import conformal_radius
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
