"""The simple rules against their words."""

import numpy as np

from gramian.reservoir.forecasting.rules import Naive, SeasonalNaive
from gramian.reservoir.forecasting.window import Window

SERIES = Window(0, np.arange(20.0)[:, None], np.ones((20, 1), bool), np.zeros((20, 0)))


def test_naive_repeats_the_last_value():
    """Every horizon has the origin's value."""
    found, _ = Naive(3).run(SERIES, 10, 12)
    np.testing.assert_array_equal(found[:, :, 0], [[10, 10, 10], [11, 11, 11]])


def test_seasonal_naive_repeats_the_last_season():
    """Phases repeat, also beyond one season ahead."""
    found, _ = SeasonalNaive(5, 3).run(SERIES, 10, 11)
    np.testing.assert_array_equal(found[0, :, 0], [8, 9, 10, 8, 9])
    assert SeasonalNaive(5, 3).run(SERIES, 10, 11, ahead=1)[0].shape == (1, 1, 1)
