"""Columns of a window: lags, seasons before and their reach."""

import numpy as np

from gramian.reservoir.forecasting.calendar import Clock
from gramian.reservoir.forecasting.window import Layout, Window, seasonal


def window(n=60, extra=5):
    values = np.arange(n, dtype=float)[:, None]
    return Window(100, values, np.ones((n, 1), bool), np.zeros((n + extra, 0)))


def test_seasonal_value_is_never_ahead_of_its_origin():
    """h steps ahead, the last season known at the origin is ⌈h / m⌉ seasons before."""
    steps = np.array([150])
    for h in range(1, 20):
        found = seasonal(window(), steps, h, 7)[0, 0] + 100
        assert found <= 150
        assert (150 + h - found) % 7 == 0
        assert found > 150 - 7


def test_each_horizon_sees_its_phase_of_the_two_seasons_before():
    """h steps ahead of step 150, the values 7 and 14 steps before that one, or the last such that are known."""
    layout = Layout(9, 1, (7,), Clock(), recalled=(7,), seasons=2)
    for h, back in ((1, 7), (7, 7), (8, 14)):
        found = layout.specific(window(), np.array([150]), h)
        assert found[0, :2].tolist() == [50 + h - back, 50 + h - back - 7]


def test_lags_are_the_last_values():
    """The first columns of an origin are its own value and those before it."""
    found = Layout(1, 3, (), Clock()).common(window(), slice(120, 122))
    np.testing.assert_array_equal(found[:, :3], [[20, 19, 18], [21, 20, 19]])


def test_age_counts_steps_since_a_value():
    """After three missing steps the age is three, in units of a day of hours."""
    known = np.ones((10, 1), bool)
    known[5:8] = False
    held = Window(0, np.zeros((10, 1)), known, np.zeros((10, 0)))
    np.testing.assert_allclose(held.age[:, 0] * 24, [0, 0, 0, 0, 0, 1, 2, 3, 0, 0])


def test_tail_and_extension_keep_the_numbers_of_steps():
    """A tail of a longer window has the same steps."""
    longer = window().extended(np.array([[60.0]]), np.ones((1, 1), bool), np.zeros((6, 0)))
    assert longer.stop == 161
    short = longer.tail(4)
    assert (short.first, short.stop, short.values[-1, 0]) == (157, 161, 60.0)
