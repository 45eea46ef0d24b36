"""Full and tied mixtures of the cluster kernel against a textbook EM, row by row, from the same starts."""

import numpy as np
import pytest
from scipy.stats import multivariate_normal

from gramian.mixture.dense_ensemble import dense_posteriors, fit_dense_mixtures, split_dense, stack_dense
from gramian.mixture.ensemble import initial_mixtures
from mixture.textbook import em, log_densities, matrices

SIZES = np.array([2, 3])
FLOOR = np.full(3, 1e-6)


@pytest.fixture(params=["complete", "holes"])
def X(request):
    """Two slanted groups in three columns, without or with missing values."""
    rng = np.random.default_rng(5)
    rows = rng.multivariate_normal(np.zeros(3), [[2, 1.5, 0], [1.5, 2, 0], [0, 0, 1]], 60)
    rows[30:] += [4, -4, 1]
    rows -= rows.mean(axis=0)
    return rows if request.param == "complete" else np.where(rng.random(rows.shape) < 0.2, np.nan, rows)


@pytest.mark.parametrize("tied", [True, False])
def test_steps_are_the_textbooks(X, tied):
    """Three steps of EM, each adding the floor to the variances, from the moments of the diagonal starts."""
    kind = "tied" if tied else "full"
    fitted = fit_dense_mixtures(X, SIZES, np.random.default_rng(1), tied=tied, max_iter=3, floor=FLOOR)
    starts = initial_mixtures(X, SIZES, np.random.default_rng(1), FLOOR).split(1)
    for found, start in zip(fitted, starts, strict=True):
        covariances = np.array([np.diag(v) for v in start.variances])
        weights, means = start.weights, start.means
        if tied:
            covariances = np.tensordot(weights, covariances, 1)
        for _ in range(3):
            weights, means, covariances, _ = em(X, weights, means, covariances, kind, 1)
            covariances = covariances + np.diag(FLOOR)
        np.testing.assert_allclose(found.weights, weights, rtol=1e-7)
        np.testing.assert_allclose(found.means, means, atol=1e-7)
        np.testing.assert_allclose(found.covariances, covariances, atol=1e-7)


@pytest.mark.parametrize("tied", [True, False])
@pytest.mark.parametrize("sizes", [[2, 3], [1, 2], [2]])
def test_stacked_and_split_again(tied, sizes):
    """Splitting gives back what was stacked, mixture by mixture."""
    X = np.random.default_rng(2).standard_normal((40, 3))
    fitted = fit_dense_mixtures(X, np.array(sizes), np.random.default_rng(3), tied=tied, max_iter=2, floor=FLOOR)
    weights, means, covariances = stack_dense(fitted)
    assert means.shape == (sum(sizes), 3)
    assert covariances.shape == (len(sizes) if tied else sum(sizes), 3, 3)
    again = split_dense(np.array(sizes), weights, means, covariances)
    for one, other in zip(fitted, again, strict=True):
        for a, b in zip(one, other, strict=True):
            np.testing.assert_array_equal(a, b)


@pytest.mark.parametrize("tied", [True, False])
def test_posteriors_are_bayes(X, tied):
    """γ_k ∝ w_k N(x | μ_k, Σ_k) over the observed part of each row, components first, in the precision of X."""
    kind = "tied" if tied else "full"
    fitted = fit_dense_mixtures(X, SIZES, np.random.default_rng(1), tied=tied, max_iter=2, floor=FLOOR)
    for found, parameters in zip(dense_posteriors(fitted, X), fitted, strict=True):
        full = matrices(parameters.covariances, kind, len(parameters.weights), 3)
        joint = parameters.weights * np.exp(log_densities(X, parameters.means, full))
        np.testing.assert_allclose(found, (joint / joint.sum(axis=1, keepdims=True)).T, atol=1e-10)
    assert next(dense_posteriors(fitted, X.astype(np.float32))).dtype == np.float32


def test_a_slanted_group_is_one_component():
    """With full covariances two slanted groups need two components: their likelihood beats two diagonal ones'."""
    rng = np.random.default_rng(4)
    X = np.vstack([rng.multivariate_normal([0, 3 * s], [[4, 3.9], [3.9, 4]], 100) for s in (-1, 1)])
    (mixture,) = fit_dense_mixtures(X, np.array([2]), rng, tied=True, max_iter=100, floor=np.full(2, 1e-6))
    gamma = next(dense_posteriors([mixture], X))
    assert max(np.mean(gamma[0, :100] > 0.5), np.mean(gamma[1, :100] > 0.5)) == 1
    density = multivariate_normal([0, 0], mixture.covariances).logpdf([2.0, 2.0])
    assert density > multivariate_normal([0, 0], np.diag(np.diag(mixture.covariances))).logpdf([2.0, 2.0])
