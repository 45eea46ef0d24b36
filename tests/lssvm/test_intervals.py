"""Quantiles of residuals for intervals, against sorting by hand and against refits."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from gramian.kernels import RBF
from gramian.lssvm import LSSVMRegressor
from gramian.lssvm.intervals import conformal_radius, radii_of_others
from lssvm.textbook_lssvm import problem


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
