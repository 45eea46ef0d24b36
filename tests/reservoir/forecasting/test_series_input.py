"""Reading series: forms, times, duplicates, gaps and what is refused."""

import numpy as np
import pandas as pd
import polars as pl
import pytest

from gramian.reservoir.forecasting.series_input import as_given, on_grid, read_table, regular

HOURS = pd.date_range("2021-01-01", periods=6, freq="h")


def test_forms_hold_the_same_numbers():
    """An array, a pandas series, and frames with an index or a column of times."""
    y = np.arange(6.0)
    frame = pd.DataFrame({"when": HOURS, "a": y})
    tables = [
        read_table(y, "y"),
        read_table(pd.Series(y, HOURS), "y"),
        read_table(frame, "y"),
        read_table(pl.from_pandas(frame), "y"),
        read_table(pd.Series(y, HOURS.to_period("h")), "y"),
    ]
    for table in tables:
        np.testing.assert_array_equal(table.values[:, 0], y)
    for table in tables[1:]:
        np.testing.assert_array_equal(table.times, HOURS.to_numpy("datetime64[us]"))


def test_regular_names_disorder_duplicates_and_gaps():
    """Rows are sorted, the last of equal times is kept, and gaps are counted."""
    times = HOURS.to_numpy("datetime64[us]")[[0, 2, 1, 1, 5]]
    clock, steps, kept, notes = regular(times)
    assert clock.step == 3600e6
    np.testing.assert_array_equal(steps, [0, 1, 2, 5])
    np.testing.assert_array_equal(kept, [0, 3, 1, 4])
    assert [word in note for word, note in zip(["order", "twice", "2 steps are missing"], notes, strict=True)] == [
        True
    ] * 3
    np.testing.assert_array_equal(np.isnan(on_grid(np.ones((4, 1)), steps, 6))[:, 0], [0, 0, 0, 1, 1, 0])


def test_irregular_times_are_refused_by_name():
    """A time between the steps is named with its row."""
    times = np.array(["2021-01-01T00:00", "2021-01-01T01:00", "2021-01-01T02:00", "2021-01-01T03:31"], "datetime64[us]")
    with pytest.raises(ValueError, match="irregular: 2021-01-01T03:31"):
        regular(times)


def test_months_are_steps_of_the_calendar():
    """First days of months are regular, though months differ in length."""
    clock, steps, _, notes = regular(pd.date_range("2020-01-01", periods=30, freq="MS").to_numpy("datetime64[us]"))
    assert clock.unit == "month"
    assert not notes
    np.testing.assert_array_equal(steps, np.arange(30))


@pytest.mark.parametrize(
    ("given", "message"),
    [
        (np.array(["1", "x"], object), "'x' in row 1"),
        (np.array([1.0, np.inf]), "infinity in row 1"),
        (np.array([1.0, -1e300]), r"-1e\+300 in row 1, whose square overflows"),
        (np.zeros((2, 2, 2)), "shape"),
        (np.array([1j, 2]), "real numbers"),
        (pd.DataFrame({"a": HOURS, "b": HOURS, "c": 1.0}), "several columns of times"),
        (pd.Series(1.0, HOURS.astype(str)), "dates as text or objects, such as '2021-01-01 00:00:00'"),
        (pd.Series(1.0, pd.MultiIndex.from_product([["a", "b"], range(3)])), "index of 2 levels"),
        (pd.Series(1.0, [0.0, 1.0, np.nan]), "time of row 2 is missing"),
    ],
)
def test_bad_columns_are_named(given, message):
    """The message says what is wrong and where."""
    with pytest.raises(ValueError, match=message):
        read_table(given, "y")


@pytest.mark.parametrize("frequency", ["MS", "ME", "QE", "YE", "W", "B", "h"])
def test_times_of_pandas_go_on_as_pandas_has_them(frequency):
    """Forecasts of months that are named by their last day are named so; weekends of business days are holes."""
    times = pd.date_range("2000-01-31", periods=43, freq=frequency)
    clock, steps, _, _ = regular(times[:40].to_numpy())
    assert (clock.times(steps) == times[:40].to_numpy()).all()
    assert clock.places(times.to_numpy())[:40].tolist() == steps.tolist()
    if frequency != "B":
        assert (clock.times(np.arange(40, 43)) == times[40:].to_numpy()).all()


def test_the_same_day_of_every_month_is_regular():
    times = pd.date_range("2000-01-01", periods=30, freq="MS") + pd.Timedelta("14D 6h")
    clock, steps, _, notes = regular(times.to_numpy())
    assert clock.unit == "month"
    assert (clock.times(steps) == times.to_numpy()).all()
    assert not notes
    off = times[:1] + pd.Timedelta("2D")
    assert abs(clock.places(off.to_numpy())[0]) > 0.05


@pytest.mark.parametrize("frequency", ["h", "D"])
@pytest.mark.parametrize("form", ["pandas", "polars"])
def test_time_zones_come_back(frequency, form):
    """Across the end of summer time neither hours nor local days are irregular, and answers have the zone."""
    times = pd.date_range("2021-10-20", periods=33, freq=frequency, tz="Europe/Oslo")
    y = pd.Series(np.arange(33.0), times, name="y")
    given = y[:30] if form == "pandas" else pl.from_pandas(y[:30].rename_axis("t").reset_index())
    table = read_table(given, "y")
    clock, steps, _, notes = regular(table.times)
    assert steps.tolist() == list(range(30))
    assert not notes
    answer = as_given(np.ones((3, 1)), clock.times(np.arange(30, 33)), table, ("y",), flat=form == "pandas")
    found = answer.index if form == "pandas" else pd.DatetimeIndex(answer["t"].to_pandas())
    assert (found == times[30:]).all()
    assert str(found.tz) == "Europe/Oslo"
    assert read_table(y[30:31], "y", table).times[0] == clock.times(np.array([30]))[0]


@pytest.mark.parametrize("form", ["pandas", "polars"])
def test_times_are_read_in_the_zone_of_the_series(form):
    """Later days told in another zone are the same days; times without a zone are not taken for any."""
    days = pd.date_range("2021-10-20", periods=33, freq="D", tz="Europe/Oslo")

    def given(times):
        series = pd.Series(np.arange(len(times), dtype=float), times.rename("t"), name="y")
        return series if form == "pandas" else pl.from_pandas(series.reset_index())

    table = read_table(given(days[:30]), "y")
    np.testing.assert_array_equal(
        read_table(given(days[30:].tz_convert("UTC")), "y", table).times, days[30:].tz_localize(None).to_numpy()
    )
    with pytest.raises(ValueError, match=r"times of X have no time zone, but .* are in Europe/Oslo"):
        read_table(given(days.tz_localize(None)), "X", table)
    plain = read_table(given(days.tz_localize(None)), "y")
    with pytest.raises(ValueError, match=r"times of y are in Europe/Oslo, but .* have no time zone"):
        read_table(given(days), "y", plain)


def test_masked_values_are_holes():
    masked = np.ma.masked_array([1, 2, 3], [False, True, False])
    np.testing.assert_array_equal(read_table(masked, "y").values[:, 0], [1, np.nan, 3])


def test_names_that_are_no_dates_are_rows_in_order():
    assert read_table(pd.Series(1.0, ["a", "0.5", "7"]), "y").times is None
    assert read_table(pd.Series(1.0, ["0.5", "1.5"]), "y").times is None


def test_indexes_come_back_in_their_kind():
    for index in (pd.period_range("2000-01", periods=13, freq="M"), pd.RangeIndex(100, 126, 2)):
        table = read_table(pd.Series(np.arange(12.0), index[:12]), "y")
        clock, *_ = regular(table.times)
        answer = as_given(np.ones((1, 1)), clock.times(np.array([12])), table, ("y",), flat=True)
        assert answer.index.dtype == index.dtype
        assert answer.index[0] == index[12]


def test_missing_values_of_pandas_are_holes():
    """Of numbers that may be NA, which are objects as an array."""
    for dtype in ("Int64", "Float64", "boolean"):
        y = pd.Series([1, None, 0], dtype=dtype)
        np.testing.assert_array_equal(read_table(y, "y").values[:, 0], [1, np.nan, 0])
    objects = np.array([1.5, None, "", pd.NA, float("nan"), "2"], object)
    np.testing.assert_array_equal(read_table(objects, "y").values[:, 0], [1.5, np.nan, np.nan, np.nan, np.nan, 2])


def test_numbers_that_were_rounded_are_regular():
    """Months as decimal years with four digits, with a gap; a step that is not there is still refused."""
    years = np.round(1749 + np.delete(np.arange(3310), [700, 701]) / 12, 4)
    clock, steps, _, notes = regular(years)
    assert abs(clock.step - 1 / 12) < 1e-7
    assert steps[-1] == 3309
    assert [note.startswith("2 steps are missing") for note in notes] == [True]
    np.testing.assert_allclose(clock.times(np.array([3310])), 1749 + 3310 / 12, atol=1e-3)
    years[50] += 0.02
    with pytest.raises(ValueError, match="times are irregular"):
        regular(years)
    whole = regular(np.array([3, 5, 7, 11]))
    assert (whole[0].step, whole[1].tolist()) == (2.0, [0, 1, 2, 4])
