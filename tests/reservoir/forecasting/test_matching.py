"""Rows are matched by time, whatever their order."""

import numpy as np
import pandas as pd
import pytest

from gramian import EchoStateForecaster
from gramian.reservoir.forecasting.calendar import Clock
from gramian.reservoir.forecasting.matching import both_timed, steps_after

DAYS = pd.date_range("2020-01-01", periods=200, freq="D")


@pytest.fixture(scope="module")
def parts():
    rng = np.random.default_rng(0)
    X = pd.DataFrame({"x": rng.normal(size=200), "k": np.arange(200) % 7.0}, index=DAYS)
    y = pd.Series(10 + np.sin(np.arange(200)) + 2 * X["x"], name="y")
    return y, X


def quick(y, X=None):
    return EchoStateForecaster(3, n_networks=1, lags=8, random_state=0).fit(y, X)


def test_other_columns_are_matched_with_the_series_by_time(parts):
    """Rows of X in another order, in fit, update and predict, change nothing; foreign columns are left out."""
    y, X = parts
    straight = quick(y[:180], X[:180]).update(y[180:190], X[180:190]).predict(X=X[190:193])
    turned = quick(y[:180], X[:185][::-1]).update(y[180:190][::-1], X[178:190]).predict(X=X[188:195][::-1])
    np.testing.assert_array_equal(turned, straight)


def test_times_that_other_columns_lack_are_named(parts):
    y, X = parts
    model = quick(y[:180], X[:180])
    with pytest.raises(ValueError, match="X has no row for 2020-06-29"):
        model.predict(X=X[183:186])
    with pytest.warns(UserWarning, match="X: 10 steps of y have no row"):
        quick(y[:180], X[:170])


def test_rows_between_the_steps_belong_to_none(parts):
    """Half days do not stand in for days, and the first of a month is not its last day."""
    y, X = parts
    often = pd.concat([X, (X + 9).set_axis(DAYS + pd.Timedelta("11h"))]).sort_index()
    np.testing.assert_array_equal(quick(y[:180], often).predict(X=often), quick(y[:180], X).predict(X=X))
    months = pd.date_range("2000-01-31", periods=200, freq="ME")
    with pytest.raises(ValueError, match="X has no row at the times of y, such as 2000-01-31"):
        quick(y.set_axis(months), X.set_axis(months - pd.offsets.MonthBegin()))


def test_columns_of_later_values_are_matched_by_name(parts):
    y, X = parts
    both = pd.DataFrame({"a": y, "b": -X["x"]})
    straight = quick(both[:180]).update(both[180:]).predict()
    pd.testing.assert_frame_equal(quick(both[:180]).update(both[180:][["b", "a"]]).predict(), straight)
    with pytest.raises(ValueError, match="y has the columns c, b, but fit had a, b"):
        quick(both[:180]).update(both[180:].rename(columns={"a": "c"}))


def test_a_time_far_off_is_taken_for_an_error(parts):
    """A mistyped year must not become a million holes."""
    model = quick(parts[0])
    with pytest.raises(ValueError, match=r"2120-01-01.* is \d+ steps after the last one seen"):
        model.update(pd.Series([1.0], [pd.Timestamp("2120-01-01")]))


def test_steps_are_counted_from_the_first_one_to_come():
    clock = Clock(10.0, 2.0, "number")
    steps, notes = steps_after(clock, np.array([20, 26, 26]), 5)
    assert steps.tolist() == [0, 3, 3]
    assert len(notes) == 2
    with pytest.raises(ValueError, match="not a whole number of steps"):
        steps_after(clock, np.array([21]), 5)
    assert both_timed(np.array([1]), np.array([2.0]))
    assert not both_timed(DAYS.to_numpy(), np.array([1.0]))
