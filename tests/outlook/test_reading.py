"""Series are read from tables: the column, its times, what is known in advance, and where the past ends."""

import io

import numpy as np
import pandas as pd
import polars as pl
import pytest

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
