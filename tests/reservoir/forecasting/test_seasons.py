"""Periods of series whose seasons are known."""

import numpy as np
import pytest

from gramian.reservoir.forecasting.seasons import check_periods, find_periods


def noise(n, seed=0):
    return np.random.default_rng(seed).normal(size=n)


def test_one_season_in_noise_and_holes():
    """A season of 24 is found under noise, a trend and a fifth of holes."""
    t = np.arange(1200)
    y = 0.01 * t + np.sin(2 * np.pi * t / 24) + 0.5 * noise(1200)
    y[np.random.default_rng(1).random(1200) < 0.2] = np.nan
    assert find_periods(y[:, None]) == (24,)


def test_two_seasons():
    """A day of hours and a week of days, both."""
    t = np.arange(24 * 7 * 8)
    y = np.sin(2 * np.pi * t / 24) + 1.5 * ((t // 24) % 7 >= 5) + 0.1 * noise(len(t))
    assert find_periods(y[:, None]) == (24, 168)


@pytest.mark.parametrize("seed", range(3))
def test_noise_and_random_walks_have_none(seed):
    """Nothing repeats in noise, and nothing in its sums."""
    assert find_periods(noise(500, seed)[:, None]) == ()
    assert find_periods(np.cumsum(noise(500, seed))[:, None]) == ()


def test_constants_have_none():
    """A constant series has no season."""
    assert find_periods(np.ones((100, 1))) == ()


def test_what_is_asked_for():
    """One period, several, none, or a refusal that names the value."""
    assert check_periods([7, 365, 7]) == (7, 365)
    assert check_periods(None) == check_periods(1) == ()
    assert check_periods("auto") is None
    with pytest.raises(ValueError, match=r"period=2\.5"):
        check_periods(2.5)
