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


def test_half_widths_are_the_order_statistic_of_the_textbook():
    """At coverage 0.85 the ⌈11 · 0.85⌉ = 10th of ten errors, and the ⌈41 · 0.85⌉ = 35th of forty; at most the last."""
    for n, rank in ((10, 10), (40, 35), (3, 3)):
        errors = np.random.default_rng(n).permutation(np.arange(1.0, n + 1))[:, None, None]
        assert AdaptiveBands(errors, 0.85).half_widths().tolist() == [[rank]]


def test_levels_move_by_the_rule():
    """α ← α + 0.02 (0.1 − [outside]); for another coverage the level is taken in proportion."""
    bands = AdaptiveBands(np.arange(1.0, 1001.0)[:, None, None], 0.9)
    level = 0.1
    for outside in (True, True, False, True):
        bands.observe(np.array([[1e6 if outside else 0.0]]))
        level += 0.02 * (0.1 - outside)
        np.testing.assert_allclose(bands.levels, level)
    ordered = np.sort(np.r_[np.arange(5.0, 1001.0), 1e6, 1e6, 0.0, 1e6])
    for coverage in (0.9, 0.5):
        rank = int(np.ceil(1001 * (1 - level * (1 - coverage) / 0.1)))
        assert bands.half_widths(coverage)[0, 0] == ordered[rank - 1]


def test_following_a_series_is_the_textbook_loop():
    """Every value is held against the band that was issued for it, h steps before."""
    rng, horizon, n = np.random.default_rng(4), 3, 80
    first = np.abs(rng.normal(size=(30, horizon, 1)))
    truth = rng.normal(size=(n, 1)) * np.geomspace(1, 1e4, n)[:, None]
    truth[20] = np.nan
    forecasts = 0.3 * rng.normal(size=(n + horizon, horizon, 1))
    widths = AdaptiveBands(first, 0.9).follow(forecasts, truth, np.arange(n))[:, :, 0]

    seen, levels = [first[:, h, 0].tolist() for h in range(horizon)], [1 - 0.9] * horizon

    def half_width(h):
        rank = min(max(int(np.ceil((len(seen[h]) + 1) * (1 - levels[h]))), 1), len(seen[h]))
        return sorted(seen[h])[rank - 1] * (1 + 2 * max(-levels[h], 0))

    issued = {origin: [half_width(h) for h in range(horizon)] for origin in range(-horizon, 0)}
    for t in range(n):
        for h in range(horizon):
            origin = t - h - 1
            error = abs(truth[t, 0] - forecasts[horizon + origin, h, 0])
            if not np.isnan(error):
                levels[h] += 0.02 * (1 - 0.9 - (error > issued[origin][h]))
                seen[h].append(error)
        issued[t] = [half_width(h) for h in range(horizon)]
        np.testing.assert_allclose(widths[t], issued[t])
    assert min(levels) < 0  # the series drifts so far that no quantile is wide enough


def test_rounding_is_no_miss():
    bands = AdaptiveBands(np.ones((50, 1, 1)), 0.9)
    bands.observe(np.array([[1 + 1e-15]]))
    assert bands.levels[0, 0] > 0.1
    bands.observe(np.array([[1 + 1e-6]]))
    assert bands.levels[0, 0] < 0.1
