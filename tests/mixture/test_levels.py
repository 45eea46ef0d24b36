"""Levels of categorical columns side by side: indicators, shares, and probabilities that maximise the posterior."""

import numpy as np
import pytest
from scipy.optimize import minimize

from gramian.mixture.levels import (
    Levels,
    indicators,
    level_probabilities,
    log_prior,
    matching_features,
    observed_levels,
)

SIZES = np.array([2, 3])


@pytest.fixture
def codes():
    rng = np.random.default_rng(3)
    return np.column_stack([rng.integers(-1, 2, 40), rng.integers(-1, 3, 40)])


def test_an_indicator_is_one_where_the_row_has_the_level(codes):
    hot = indicators(codes, SIZES)
    for i, row in enumerate(codes):
        expected = [row[0] == 0, row[0] == 1, row[1] == 0, row[1] == 1, row[1] == 2]
        assert hot[:, i].tolist() == expected


def test_shares_count_observed_entries_only(codes):
    shares = observed_levels(codes, SIZES, 1.0).shares
    for start, column in ((0, codes[:, 0]), (2, codes[:, 1])):
        seen = column[column >= 0]
        expected = np.bincount(seen) / len(seen)
        np.testing.assert_allclose(shares[start : start + len(expected)], expected, atol=1e-9)


@pytest.mark.parametrize("smoothing", [0.5, 2.0])
def test_probabilities_maximise_counts_and_prior(smoothing):
    """Σ n log p + smoothing Σ share log p, maximised by a general optimiser over the softmax of free numbers."""
    counts, shares = np.array([4.0, 0.0, 1.5]), np.array([0.5, 0.3, 0.2])
    levels = Levels(np.array([3]), shares, smoothing)

    def loss(free):
        p = np.exp(free) / np.exp(free).sum()
        return -(counts @ np.log(p)) - log_prior(p[None], levels)

    free = minimize(loss, np.zeros(3), tol=1e-14).x
    np.testing.assert_allclose(
        level_probabilities(counts[None], levels)[0], np.exp(free) / np.exp(free).sum(), atol=1e-6
    )


def test_without_smoothing_nothing_is_impossible_and_an_empty_component_has_the_shares():
    levels = Levels(SIZES, np.array([0.25, 0.75, 0.2, 0.3, 0.5]), 0.0)
    p = level_probabilities(np.array([[3.0, 0.0, 0.0, 0.0, 0.0]]), levels)[0]
    assert 0 < p[1] < 1e-9
    np.testing.assert_allclose(p[2:], levels.shares[2:], atol=1e-12)
    np.testing.assert_allclose([p[:2].sum(), p[2:].sum()], 1)


def test_no_categorical_column_has_no_levels():
    levels = observed_levels(np.empty((4, 0), int), np.array([], int), 1.0)
    assert indicators(np.empty((4, 0), int), levels.sizes).shape == (0, 4)
    assert level_probabilities(np.empty((2, 0)), levels).shape == (2, 0)
    assert log_prior(np.empty((2, 0)), levels) == 0


def test_levels_that_differ_are_as_far_apart_as_two_rows_of_a_number_on_average(codes):
    complete = np.where(codes < 0, 0, codes)
    levels = observed_levels(complete, SIZES, 1.0)
    rows = matching_features(np.zeros((40, 1)), indicators(complete, SIZES), levels)
    squared = ((rows[:, None] - rows[None]) ** 2).sum(axis=2)
    differ = complete[:, None] != complete[None]
    chance = differ.mean(axis=(0, 1))
    np.testing.assert_allclose(squared, (2 * differ / chance).sum(axis=2))
    np.testing.assert_allclose(squared.mean(), 4)  # two columns
    # A missing entry is at the mean of the observed ones.
    observed = codes[:, 1] >= 0
    rows = matching_features(np.zeros((40, 1)), indicators(codes, SIZES), observed_levels(codes, SIZES, 1.0))
    np.testing.assert_allclose(rows[~observed, 3:], np.tile(rows[observed, 3:].mean(axis=0), ((~observed).sum(), 1)))
