"""Reading series: forms, times, duplicates, gaps and what is refused."""

import numpy as np
import pandas as pd
import polars as pl
import pytest

from gramian.reservoir.forecasting.series_input import on_grid, read_table, regular

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
        (np.zeros((2, 2, 2)), "shape"),
        (np.array([1j, 2]), "real numbers"),
        (pd.DataFrame({"a": HOURS, "b": HOURS, "c": 1.0}), "several columns of times"),
    ],
)
def test_bad_columns_are_named(given, message):
    """The message says what is wrong and where."""
    with pytest.raises(ValueError, match=message):
        read_table(given, "y")
