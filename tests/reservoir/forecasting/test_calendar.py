"""Dates of steps: times to come, phases and days of the week."""

import numpy as np

from gramian.reservoir.forecasting.calendar import DAY, Clock

HOURS = Clock(float(np.datetime64("2021-03-01T00:00", "us").astype(np.int64)), DAY / 24, "time")


def test_times_go_on_by_the_step():
    """Times are those of NumPy's own arithmetic, for hours and for months."""
    assert HOURS.times(np.array([0, 25]))[1] == np.datetime64("2021-03-02T01:00")
    months = Clock(float(np.datetime64("2020-11", "M").astype(np.int64)), 1.0, "month")
    assert list(months.times(np.array([1, 2])).astype("datetime64[D]").astype(str)) == ["2020-12-01", "2021-01-01"]


def test_days_are_those_of_the_calendar():
    """The seven columns tell Python's weekday up to where the week starts."""
    steps = np.arange(24 * 14)
    columns = HOURS.days(steps).argmax(axis=1)
    weekdays = [HOURS.times(np.array([s]))[0].astype(object).weekday() for s in steps]
    assert len({(c, w) for c, w in zip(columns, weekdays, strict=True)}) == 7


def test_waves_repeat_with_the_exact_cycle():
    """365 days stand for a calendar's year, so that phases do not drift by leap days."""
    days = Clock(0.0, float(DAY), "time")
    waves = days.waves(np.array([0, 146097]), (365,), 1)  # 400 years
    np.testing.assert_allclose(waves[0], waves[1], atol=1e-6)
    assert Clock().waves(np.arange(5), (), 4).shape == (5, 0)
