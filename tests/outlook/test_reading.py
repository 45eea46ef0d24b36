"""Series are read from tables: the column, its times, what is known in advance, and where the past ends."""

import io

import numpy as np
import pandas as pd
import polars as pl
import pytest

from gramian.outlook import SeriesModel
from gramian.outlook.reading import labels_of, read_series
from outlook.shop import shop


def test_the_first_dates_are_the_time_and_rows_are_sorted():
    frame = shop(30)
    series = read_series(frame.iloc[::-1].reset_index(drop=True), "sold")
    assert series.time == "day"
    np.testing.assert_array_equal(series.values, frame["sold"])
    np.testing.assert_array_equal(series.values.index, frame["day"])
    assert any("not in the order of day" in note for note in series.notes)


def test_files_and_polars_give_the_same():
    frame = shop(30)
    expected = read_series(frame, "sold")
    for other in (io.StringIO(frame.to_csv(index=False)), pl.from_pandas(frame)):
        found = read_series(other, "sold")
        np.testing.assert_allclose(found.values, expected.values)
        assert labels_of(found.values.index) == labels_of(expected.values.index)


def test_times_of_a_zone_are_told_to_be_universal():
    """Whoever writes 02:00+02:00 finds 00:00 in the forecast, and must know why."""
    days = pd.date_range("2024-06-01", periods=30, freq="h", tz="Europe/Oslo")
    frame = pd.DataFrame({"time": days, "v": np.arange(30.0) ** 1.5})
    texts = io.StringIO(frame.assign(time=[day.isoformat() for day in days]).to_csv(index=False))
    for given in (frame, texts):
        series = read_series(given, "v")
        assert labels_of(series.values.index)[0] == "2024-05-31 22:00"
        assert "time: times of a zone, as universal time (UTC)." in series.notes
    for zone in (None, "UTC"):
        plain = frame.assign(time=days.tz_convert("UTC").tz_localize(None).tz_localize(zone))
        assert not read_series(io.StringIO(plain.to_csv(index=False)), "v").notes
        assert not read_series(plain, "v").notes


def test_rows_after_the_last_value_are_ahead():
    series = read_series(shop(30, ahead=5), "sold", known=["price"])
    assert len(series.values) == len(series.known) == 30
    np.testing.assert_array_equal(series.ahead["price"], shop(30, ahead=5)["price"].iloc[-5:])
    assert any("last 5 rows have no sold" in note for note in series.notes)


def test_without_dates_rows_are_the_steps():
    series = read_series(pd.DataFrame({"v": [1.5, 2.5, 4.5]}))
    assert series.time is None
    assert (series.column, labels_of(series.values.index)) == ("v", ["1", "2", "3"])


def test_labels_are_as_short_as_the_times_allow():
    assert labels_of(pd.date_range("2024-01-01", periods=2, freq="D")) == ["2024-01-01", "2024-01-02"]
    assert labels_of(pd.date_range("2024-01-01", periods=2, freq="h"))[1] == "2024-01-01 01:00"
    assert labels_of(pd.date_range("2024-01-01", periods=2, freq="s"))[1] == "2024-01-01 00:00:01"


@pytest.mark.parametrize(
    ("text", "options", "why"),
    [
        ("t,v\n1,1.5\n2,abc\n3,2.5\n", {"column": "v"}, "row 3, column 'v': 'abc' is not a number"),
        ("a,b\n1.5,2.5\n2.5,1.5\n3,4.5\n", {}, "2 columns of numbers, 'a', 'b'; name the one"),
        ("a,b\nx,y\ny,x\n", {}, "no column of numbers"),
        ("a,b\n1.5,2.5\n2.5,1.5\n", {"column": "c"}, "no column 'c'"),
        ("a,b\n1.5,2.5\n2.5,1.5\n", {"column": "a", "time": "c"}, "no column 'c'"),
        ("a,b\n1.5,2.5\n2.5,1.5\n", {"column": "a", "known": ["a"]}, "cannot be known in advance"),
        (
            "day,v\n2024-01-01,1.5\n,2.5\n2024-01-03,3.5\n",
            {"column": "v"},
            "row 2: the time in column 'day' is missing",
        ),
        ("v,w\n,1\n,2\n,3\n", {"column": "v"}, "has no value"),
    ],
)
def test_what_cannot_be_read_is_said(text, options, why):
    with pytest.raises(ValueError, match=why):
        read_series(io.StringIO(text), **options)


def test_texts_among_the_numbers_are_told():
    """A few are holes, with a note; where many are, the first is named with its row."""
    rows = [f"2024-01-{day:02d},{'closed' if day == 9 else day * day % 7 + 0.5}" for day in range(1, 31)]
    series = read_series(io.StringIO("day,sold\n" + "\n".join(rows)), "sold")
    assert np.flatnonzero(series.values.isna()).tolist() == [8]
    assert any("'closed'" in note for note in series.notes)
    with pytest.raises(ValueError, match="row 2, column 'sold': 'closed'"):
        read_series(io.StringIO("day,sold\n2024-01-01,closed\n2024-01-02,2\n2024-01-03,3\n"), "sold")


def test_every_step_has_a_label_of_its_own():
    """Numbers of rows beyond a million, seconds since 1970 and years with decimals differ in their last digits."""
    assert labels_of(pd.RangeIndex(1_234_565, 1_234_567)) == ["1234566", "1234567"]
    assert labels_of(pd.Index([1609459200.0, 1609462800.0])) == ["1609459200", "1609462800"]
    assert labels_of(pd.Index([1749.0, 0.1 * 3])) == ["1749", "0.3"]
    assert labels_of(pd.Index([20, 21])) == ["20", "21"]
    assert labels_of(pd.Index([2024 + 10 / 12, 2024 + 11 / 12])) == ["2024.833333", "2024.916667"]
    assert labels_of(pd.Index([0.1 + 0.2])) == ["0.3"]


@pytest.mark.parametrize("make", [pd.DatetimeIndex, lambda days: days.to_period("D")])
def test_times_in_the_index_are_the_time(make):
    """Of a data frame and of a series; a gap would be lost otherwise."""
    days = pd.date_range("2024-01-01", periods=30, freq="D").delete([7, 8])
    values = pd.Series(np.arange(28.0) ** 2, make(days))
    for given in (values.rename("v"), values.to_frame("v"), values):
        series = read_series(given)
        assert series.time == "time"
        assert (series.values.index == days).all()
        np.testing.assert_array_equal(series.values, values)
    named = read_series(values.rename_axis("day").to_frame("day_"))
    assert (named.time, named.column) == ("day", "day_")
    assert read_series(values.reset_index(drop=True)).time is None


def test_later_rows_are_read_as_the_series_was():
    """03/02 is the third of February if the series had the day first, and -999 stays a code."""
    days = pd.date_range("2024-01-01", periods=33, freq="D")
    values = np.arange(33.0) ** 1.5
    values[[5, 32]] = -999

    def text(rows):
        return io.StringIO(
            pd.DataFrame({"day": days[rows].strftime("%d/%m/%Y"), "v": values[rows]}).to_csv(index=False)
        )

    series = read_series(text(slice(0, 31)), "v", missing=[-999])
    model = SeriesModel()
    model.remember_reading(series)
    later = read_series(text(slice(31, 33)), "v", like=model)
    assert later.values.index.tolist() == [days[31]]
    assert read_series(text(slice(31, 33)), "v").values.index.tolist() != days[31:].tolist()  # by itself: January 2


def test_later_rows_may_have_columns_known_in_advance_alone():
    series = read_series(shop(30), "sold", known=["price"])
    model = SeriesModel()
    model.remember_reading(series)
    ahead = shop(30, ahead=5).iloc[30:]
    later = read_series(ahead, "sold", known=["price"], like=model)
    assert (len(later.values), len(later.ahead)) == (0, 5)
    with pytest.raises(ValueError, match="has no value"):
        read_series(ahead, "sold", like=model)


@pytest.mark.parametrize("values", [[0, 1, 1, 0, 1, 0], [5.0] * 6, [1, 2, 3, 4, 5, 6]])
def test_the_only_numbers_may_be_of_another_kind(values):
    """0 and 1, a constant and a count are series too, where there is nothing else; later rows are numbers."""
    frame = pd.DataFrame({"day": pd.date_range("2024-01-01", periods=6), "shop": list("abcdef"), "v": values})
    series = read_series(frame)
    assert series.column == "v"
    np.testing.assert_array_equal(series.values, values)
    model = SeriesModel()
    model.remember_reading(series)
    later = read_series(io.StringIO("day,v\n2024-01-07,2.5\n2024-01-08,7\n"), "v", time="day", like=model)
    assert later.values.tolist() == [2.5, 7.0]


def test_rising_years_are_the_time():
    """Where there are no dates, and something else to forecast."""
    years = pd.DataFrame({"year": range(1950, 1980), "v": np.random.default_rng(0).normal(size=30)})
    series = read_series(years)
    assert (series.time, series.column) == ("year", "v")
    assert labels_of(series.values.index)[:2] == ["1950", "1951"]
    assert read_series(years, "v").time == "year"
    assert read_series(years[["year"]]).column == "year"
    assert read_series(years.iloc[::-1], "v").time is None
    assert read_series(years.assign(day=pd.date_range("1950-01-01", periods=30)), "v").time == "day"


def test_times_are_dates_or_numbers():
    quarters = io.StringIO("quarter,v\n" + "".join(f"2020-Q{k},{k * k}.5\n" for k in (1, 2, 3, 4)))
    with pytest.raises(ValueError, match=r"column 'quarter' of .* holds no dates or numbers .*'2020-Q1'; write times"):
        read_series(quarters, "v", time="quarter")
