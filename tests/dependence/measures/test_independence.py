"""Tests of independence against all permutations, the textbook, and uniform p-values."""

from itertools import permutations

import numpy as np
import pytest
from scipy.stats import kstest

import gramian
from dependence.measures.textbook_hsic import centred, gaussian, gretton_gamma
from gramian.dependence import hsic_test
from gramian.dependence.measures import _pair_sums as pair_sums
from gramian.dependence.measures.independence import permutation_moments
from gramian.grams import DenseGram
from gramian.kernels import RBF

# Tests of independence -------------------------------------------------------------------------------------


@pytest.mark.parametrize("n", [5, 6, 7])
def test_moments_over_all_pairings(rng, n):
    """The closed forms of mean and variance are those of all n! values, for any two matrices."""
    Y = rng.exponential(size=(n, 3))
    K, L = gaussian(rng.normal(size=(n, 2))), Y @ Y.T
    A, B = centred(K), centred(L)
    values = np.array([np.sum(A * B[np.ix_(order, order)]) for order in map(list, permutations(range(n)))])
    for x, y in ((K, L), (L, K)):
        sums = pair_sums.pair_sums(DenseGram(x), DenseGram(y), squares=True)
        mean, variance = permutation_moments(sums)
        assert mean == pytest.approx(values.mean(), rel=1e-10)
        assert variance == pytest.approx(values.var(), rel=1e-10)


def test_gamma_beside_the_textbook(rng):
    """For large n the gamma test has the moments and the p-values of Gretton et al. (2007)."""
    n = 400
    for strength in (0.0, 0.0, 0.1):
        X = rng.normal(size=n)
        Y = strength * X**2 + rng.normal(size=n)
        K, L = gaussian(X), gaussian(Y)
        test = hsic_test(X, Y, kernel_x=RBF(1.0), kernel_y=RBF(1.0), method="gamma")
        pvalue, mean, variance = gretton_gamma(K, L)
        scale = n**2 / (n - 1) ** 2
        assert test.null_mean == pytest.approx(mean * scale, rel=0.01)
        assert test.null_variance == pytest.approx(variance * scale**2, rel=0.2)
        assert test.pvalue == pytest.approx(pvalue, abs=0.03)


def test_gamma_beside_permutations(rng):
    """Gamma and permutations agree in p-value, mean and variance."""
    for strength in (0.0, 0.05, 0.15):
        X = rng.normal(size=(150, 2))
        Y = strength * X[:, 0] + rng.normal(size=150)
        fast, slow = (
            hsic_test(X, Y, method="gamma"),
            hsic_test(X, Y, n_permutations=3000, random_state=0),
        )
        assert fast.statistic == pytest.approx(slow.statistic, rel=1e-9)
        assert fast.null_mean == pytest.approx(slow.null_mean, rel=0.03)
        assert fast.null_variance == pytest.approx(slow.null_variance, rel=0.15)
        assert fast.pvalue == pytest.approx(slow.pvalue, abs=0.03)


def test_pvalue_of_all_pairings(rng):
    """The permutation p-value estimates the share of all 720 pairings that are at least as dependent, ties counted."""
    labels = np.array([0, 0, 0, 1, 1, 1])
    X = labels + 0.4 * rng.normal(size=6)
    A, B = centred(gaussian(X)), np.equal.outer(labels, labels).astype(float)
    values = np.array([np.sum(A * B[np.ix_(order, order)]) for order in map(list, permutations(range(6)))])
    share = np.mean(values >= np.sum(A * B) - 1e-9)
    test = hsic_test(X, labels, kernel_x=RBF(1.0), kernel_y="labels", n_permutations=4000, random_state=0)
    assert test.pvalue == pytest.approx(share, abs=4 * np.sqrt(share * (1 - share) / 4000))
    # The share of pairings that keep the groups together is 2 (3!)² / 6!; rounding must not lose them.
    assert share >= 0.1 - 1e-12


def test_pvalues_are_uniform(rng):
    """Of independent samples p-values are uniform: for permutations, gamma and blocks."""
    pairs = [(rng.normal(size=(48, 2)), rng.exponential(size=48)) for _ in range(200)]
    for method in ("permutation", "gamma", "block"):
        pvalues = [
            hsic_test(X, Y, method=method, n_permutations=99, random_state=seed).pvalue
            for seed, (X, Y) in enumerate(pairs)
        ]
        assert kstest(pvalues, "uniform").pvalue > 0.001
        assert np.mean(np.array(pvalues) <= 0.05) < 0.05 + 3 * np.sqrt(0.05 * 0.95 / 200)


def test_shapes_without_correlation(rng):
    """A parabola, a circle and a wave have next to no correlation, but more HSIC than chance gives.

    A wave is seen only by a kernel narrower than its period.
    """
    n = 200
    x, angle = rng.uniform(-1, 1, n), rng.uniform(0, 2 * np.pi, n)
    shapes = [
        (x, x**2, "median"),
        (np.cos(angle), np.sin(angle), "median"),
        (x, np.cos(3 * np.pi * x), "median20"),
    ]
    for first, second, width in shapes:
        assert abs(np.corrcoef(first, second)[0, 1]) < 0.15
        noisy = second + 0.05 * rng.normal(size=n)
        for method in ("permutation", "gamma"):
            assert hsic_test(first, noisy, kernel_x=RBF(width), method=method, random_state=0).pvalue <= 0.005
    assert hsic_test(x, rng.normal(size=n), random_state=0).pvalue > 0.05
    assert hsic_test(x, np.cos(3 * np.pi * x), random_state=0).pvalue > 0.05


def test_approximate_tests(rng):
    """With landmarks on both sides a test stores no matrix, and sees the same dependence."""
    X = rng.normal(size=(3000, 2))
    Y = X[:, :1] ** 2 + rng.normal(size=(3000, 1))
    with gramian.config(memory_budget="20MB"):
        with pytest.raises(gramian.MemoryBudgetError, match="method='gamma'"):
            hsic_test(X, Y)
        with pytest.raises(gramian.MemoryBudgetError, match="method='gamma'"):
            hsic_test(X, Y[:, 0] > 0, kernel_y="labels")
        options = {"approximation": "nystroem", "n_features": 60, "random_state": 0}
        assert hsic_test(X, Y, n_permutations=19, **options).pvalue == 0.05
        assert hsic_test(X, Y, method="gamma", **options).pvalue < 1e-6
        assert hsic_test(X, Y, method="gamma").pvalue < 1e-6
        assert hsic_test(X, Y, method="block", random_state=0).pvalue < 0.01
