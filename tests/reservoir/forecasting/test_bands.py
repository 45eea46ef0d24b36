"""Coverage of the bands on exchangeable noise and under drift."""

import numpy as np

from gramian.reservoir.forecasting.bands import AdaptiveBands


def test_exchangeable_errors_are_covered_as_promised():
    """The share of new errors inside is the coverage, within three binomial standard errors."""
    rng = np.random.default_rng(0)
    inside = []
    for _ in range(60):
        bands = AdaptiveBands(np.abs(rng.normal(size=(99, 1, 1))), 0.9)
        inside.append(np.abs(rng.normal(size=50)) <= bands.half_widths()[0, 0])
    n = np.size(inside)
    # Errors of one calibration share its quantile: the variance of a Beta(90, 10) beside that of the draws.
    error = np.sqrt(0.09 / n + 0.9 * 0.1 / (101 * 60))
    assert abs(np.mean(inside) - 0.9) < 3 * error


def test_level_follows_a_drift():
    """Errors that triple are covered again after a while, and the rate of misses returns to its promise."""
    rng = np.random.default_rng(1)
    bands = AdaptiveBands(np.abs(rng.normal(size=(300, 1, 1))), 0.9)
    truth = 3 * rng.normal(size=(1500, 1))
    forecasts = np.zeros((1501, 1, 1))
    widths = bands.follow(forecasts, truth, np.arange(1500))[:, 0, 0]
    inside = np.abs(truth[1:, 0]) <= widths[:-1]
    assert abs(inside[300:].mean() - 0.9) < 0.03


def test_values_are_held_against_the_band_issued_for_them():
    """A miss at horizon 2 counts by the band of two steps ago, not by that of today."""
    bands = AdaptiveBands(np.ones((50, 2, 1)), 0.9)
    before = bands.levels.copy()
    bands.observe(np.array([[5.0], [np.nan]]))
    assert bands.levels[0, 0] < before[0, 0]
    assert bands.levels[1, 0] == before[1, 0]


def test_wider_coverage_is_a_wider_band():
    """Half-widths grow with the coverage; without errors they are zero."""
    bands = AdaptiveBands(np.abs(np.random.default_rng(0).normal(size=(500, 2, 1))), 0.9)
    assert (bands.half_widths(0.99) > bands.half_widths(0.9)).all()
    assert (bands.half_widths(0.5) < bands.half_widths(0.9)).all()
    assert not AdaptiveBands(np.full((3, 1, 1), np.nan), 0.9).half_widths().any()


def test_a_horizon_without_errors_is_no_surer_than_the_one_before():
    errors = np.array([1.0, 2.0, 3.0])[:, None, None] * np.ones((3, 4, 1))
    errors[:, 2:] = np.nan
    assert AdaptiveBands(errors, 0.9).half_widths()[:, 0].tolist() == [3.0] * 4
