"""Filling holes from the past alone."""

import numpy as np

from gramian.reservoir.forecasting.holes import fill, last_values
from gramian.reservoir.forecasting.rules import SeasonalNaive
from gramian.reservoir.forecasting.window import Window

NAN = np.nan


def test_last_value_and_season_before():
    """Holes take the last value, or the one a period before; leading ones the first that is known."""
    column = np.array([NAN, 1.0, 2.0, NAN, NAN, 5.0])[:, None]
    np.testing.assert_array_equal(last_values(column)[:, 0], [1, 1, 2, 2, 2, 5])
    np.testing.assert_array_equal(last_values(column, 2)[:, 0], [1, 1, 2, 1, 2, 5])
    np.testing.assert_array_equal(last_values(np.array([[NAN]]), before=np.array([[7.0]])), [[7.0]])


def test_fill_takes_one_step_forecasts_in_turn():
    """A filled value is the input of the next forecast, and stays between the limits."""
    values = np.array([1.0, 2, 3, 0, 0, 0, 0])[:, None]
    known = values > 0
    window = Window(0, values.copy(), known, np.zeros((8, 0)))
    fill(SeasonalNaive(1, 3), window, 1, np.array([[0.0], [2.5]]))
    np.testing.assert_array_equal(window.values[:, 0], [1, 2, 3, 1, 2, 2.5, 1])
