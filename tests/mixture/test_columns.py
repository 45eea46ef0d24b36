"""Moments and grain of columns with holes, against NumPy where NumPy can, and beyond."""

import numpy as np
import pytest
from numpy.testing import assert_allclose

from gramian.mixture import columns
from gramian.mixture.columns import column_grain, column_moments


@pytest.fixture
def X():
    rng = np.random.default_rng(0)
    return np.where(rng.random((90, 3)) < 0.3, np.nan, rng.normal(size=(90, 3)) * [1, 50, 1e-3] + [0, 7, 1e4])


@pytest.mark.parametrize("chunk", [7, 1000])
def test_moments_are_those_of_the_observed_values(X, chunk, monkeypatch):
    """Mean and population deviation of each column without its holes, however the rows are cut."""
    monkeypatch.setattr(columns, "_CHUNK_ROWS", chunk)
    varies, means, deviations = column_moments(X)
    assert varies.all()
    assert_allclose(means, np.nanmean(X, axis=0), rtol=1e-12)
    assert_allclose(deviations, np.nanstd(X, axis=0), rtol=1e-9)


@pytest.mark.parametrize("size", [1e160, 1e-170, 1e300])
def test_squares_neither_overflow_nor_vanish(X, size):
    """Units whose squares are no numbers give the same moments in those units."""
    small = X[:, :2]
    _, means, deviations = column_moments(small * size)
    assert_allclose(means / size, np.nanmean(small, axis=0), rtol=1e-10)
    assert_allclose(deviations / size, np.nanstd(small, axis=0), rtol=1e-10)


def test_the_whole_range_of_numbers():
    """The largest and the least number in one column have a deviation."""
    most = np.finfo(np.float64).max
    varies, means, deviations = column_moments(np.array([[most], [-most]]))
    assert varies.all()
    assert np.isfinite(means).all()
    assert_allclose(deviations, most)


def test_columns_that_do_not_vary():
    """Equal values have a mean without rounding and no deviation; a column without values has zeros."""
    X = np.array([[0.1, np.nan, np.nan], [0.1, 2.0, np.nan], [0.1, np.nan, np.nan]])
    varies, means, deviations = column_moments(X)
    assert not varies.any()
    assert means.tolist() == [0.1, 2.0, 0.0]
    assert deviations.tolist() == [0, 0, 0]


def test_grain_of_ratings_and_measurements():
    """Ratings step by one, also if a few values lie between; a measured column steps finely; one value, not at all."""
    rng = np.random.default_rng(1)
    ratings = rng.integers(1, 11, 300).astype(float)
    ratings[:2] = 3.5, np.nan
    measured = rng.normal(size=300)
    steps, _ = column_grain(np.column_stack([ratings, measured, np.ones(300)]))
    assert steps[0] == 1
    assert 0 < steps[1] < 0.05
    assert steps[2] == 0


def test_spread_is_not_moved_by_outliers():
    """The middle half of a normal column tells its deviation, whatever a few rows are."""
    rng = np.random.default_rng(2)
    column = rng.normal(scale=3.0, size=5000)
    column[:20] = 1e9
    assert_allclose(column_grain(column[:, None]).spreads, 3.0, rtol=0.05)
