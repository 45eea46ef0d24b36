"""Ensembles with full or tied covariance: every mixture is the textbook's EM from its start, also with levels."""

import numpy as np
import pytest

from gramian.mixture.dense_ensemble import dense_posteriors, fit_dense_mixtures, split_dense, stack_dense
from gramian.mixture.ensemble import initial_mixtures
from gramian.mixture.levels import indicators, observed_levels
from mixture.textbook import level_log_probabilities, log_densities, matrices, mixed_em

SIZES = np.array([1, 2, 3])
LEVELS = np.array([3, 2])
FLOOR = np.full(2, 1e-3)


@pytest.fixture
def rows():
    rng = np.random.default_rng(2)
    labels = rng.integers(2, size=50)
    X = rng.normal(size=(50, 2)) + 2 * labels[:, None]
    X -= X.mean(axis=0)
    codes = np.column_stack([(labels + rng.integers(2, size=50)), labels ^ (rng.random(50) < 0.2)]).astype(int)
    X[rng.random(X.shape) < 0.15] = np.nan
    codes[rng.random(codes.shape) < 0.15] = -1
    return X, codes


@pytest.mark.parametrize("tied", [False, True])
def test_one_step_is_the_textbook_s_with_the_floor_added(rows, tied):
    X, codes = rows
    kind = "tied" if tied else "full"
    levels, hot = observed_levels(codes, LEVELS, 1.0), indicators(codes, LEVELS).T.astype(float)
    starts = initial_mixtures(X, SIZES, np.random.default_rng(0), FLOOR, hot=hot, levels=levels).split(1)
    fitted = fit_dense_mixtures(
        X, SIZES, np.random.default_rng(0), tied=tied, max_iter=1, floor=FLOOR, hot=hot, levels=levels
    )
    for start, found in zip(starts, fitted, strict=True):
        covariances = start.variances[:, :, None] * np.eye(2)
        covariances = np.tensordot(start.weights, covariances, 1) if tied else covariances
        shares = np.split(levels.shares, [3])
        weights, means, covariances, probabilities, _ = mixed_em(
            X,
            codes,
            start.weights,
            start.means,
            covariances,
            np.split(start.levels, [3], axis=1),
            kind,
            1,
            smoothing=1.0,
            shares=shares,
        )
        np.testing.assert_allclose(found.weights, weights, atol=1e-9)
        np.testing.assert_allclose(found.means, means, atol=1e-9)
        np.testing.assert_allclose(found.covariances, covariances + 1e-3 * np.eye(2), atol=1e-9)
        np.testing.assert_allclose(found.levels, np.hstack(probabilities), atol=1e-9)


@pytest.mark.parametrize("with_levels", [False, True])
@pytest.mark.parametrize("tied", [False, True])
def test_stacked_mixtures_come_apart_again_and_give_posteriors(rows, tied, with_levels):
    X, codes = rows
    levels = observed_levels(codes, LEVELS, 1.0) if with_levels else None
    hot = indicators(codes, LEVELS).T.astype(float) if with_levels else None
    fitted = fit_dense_mixtures(
        X, SIZES, np.random.default_rng(0), tied=tied, max_iter=5, floor=FLOOR, hot=hot, levels=levels
    )
    apart = split_dense(SIZES, *stack_dense(fitted))
    for one, other in zip(fitted, apart, strict=True):
        for a, b in zip(one[:3], other[:3], strict=True):
            np.testing.assert_array_equal(a, b)
    for parameters, gamma in zip(apart, dense_posteriors(apart, X, hot), strict=True):
        K = len(parameters.weights)
        joint = np.log(parameters.weights) + log_densities(
            X, parameters.means, matrices(parameters.covariances, "tied" if tied else "full", K, 2)
        )
        if with_levels:
            joint += level_log_probabilities(codes, np.split(parameters.levels, [3], axis=1))
        expected = np.exp(joint - np.logaddexp.reduce(joint, axis=1)[:, None])
        np.testing.assert_allclose(gamma.T, expected, atol=1e-9)
