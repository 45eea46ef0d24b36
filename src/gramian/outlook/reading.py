"""From a table whose rows are steps of time to one series: its values, their times, and columns known in advance.

It uses :mod:`gramian.tables` for files and cells; order, gaps and duplicates of time are the forecaster's to judge.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from gramian.tables import DATE, NUMBER, Table, read_table

__all__ = ["Series", "labels_of", "read_series"]


@dataclass(frozen=True)
class Series:
    """One column of a table in the order of its rows.

    Attributes
    ----------
    source, column : str
    time : str or None
        Name of the column of time; without one the rows are the steps.
    values : pandas.Series (n,)
        Up to the last row that has a value, by time if there is one.
    known : pandas.DataFrame (n, d) or None
        Columns known in advance, at the same steps.
    ahead : pandas.DataFrame (m, d) or None
        The same columns in the rows after the last value.
    notes : list of str
        What a reader should know about how the series was read.
    """

    source: str
    column: str
    time: str | None
    values: Any
    known: Any
    ahead: Any
    notes: list[str]


def read_series(
    source: Any,
    column: str | None = None,
    *,
    time: str | None = None,
    known: Sequence[str] = (),
    missing: Collection[Any] = (),
) -> Series:
    """Read the column of a table that is to be forecast.

    Parameters
    ----------
    source : path, open file, pandas or polars data frame, or Table
    column : str, optional
        By default the only column of numbers.
    time : str, optional
        By default the first column of dates, if there is one.
    known : sequence of str
        Columns whose values are known in advance. Rows after the last value of ``column`` hold the coming ones.
    missing : collection of str or numbers
        Codes of missing values, such as -999.

    Examples
    --------
    >>> import io
    >>> text = "day,sold,price\\n2024-01-01,5,2\\n2024-01-02,7,1\\n2024-01-03,,1\\n"
    >>> series = read_series(io.StringIO(text), "sold", known=["price"])
    >>> series.time, series.values.tolist(), series.ahead["price"].tolist()
    ('day', [5.0, 7.0], [1.0])
    """
    numbers = [*([] if column is None else [column]), *known]
    table = source if isinstance(source, Table) else read_table(source, number=numbers, missing=missing)
    column = _only_number(table, {*known, time}) if column is None else column
    if column in known:
        raise ValueError(f"column {column!r} is to be forecast, so it cannot be known in advance; name another one")
    for name in (column, *known, *([] if time is None else [time])):
        if name not in table.frame:
            raise ValueError(f"{table.source} has no column {name!r}; it has {', '.join(map(repr, table.frame))}")
    time = _time_column(table) if time is None else time
    told = [item for item in table.columns if item.name in (time, column, *known) and item.note]
    notes = [*table.notes, *(f"{item.name}: {item.note}." for item in told)]
    values = table.frame[column].astype("float64")
    others = table.frame[list(known)].astype("float64") if known else None
    if time is not None:
        index = table.frame[time]
        if index.isna().any():
            row = int(np.flatnonzero(index.isna())[0]) + 1
            raise ValueError(f"{table.source}, row {row}: the time in column {time!r} is missing; fill or drop the row")
        order = np.argsort(index.to_numpy(), kind="stable")
        if (order != np.arange(len(order))).any():
            notes.append(f"Rows were not in the order of {time}; they were sorted.")
        values = values.iloc[order].set_axis(index.iloc[order])
        others = None if others is None else others.iloc[order].set_axis(index.iloc[order])
    return _cut(table.source, column, time, values, others, notes)


def labels_of(index: Any) -> list[str]:
    """Times as people write them; numbers of rows are counted from 1."""
    import pandas as pd

    if not isinstance(index, pd.DatetimeIndex):
        shift = 1 if isinstance(index, pd.RangeIndex) else 0
        return [f"{value + shift:g}" for value in index]
    whole_days = bool((index == index.normalize()).all())
    whole_minutes = bool((index.second == 0).all())
    clock = "" if whole_days else " %H:%M" if whole_minutes else " %H:%M:%S"
    return list(index.strftime("%Y-%m-%d" + clock))


def _cut(source: str, column: str, time: str | None, values: Any, others: Any, notes: list[str]) -> Series:
    """The series up to its last value; what is known after it is apart."""
    there = np.flatnonzero(values.notna())
    if not len(there):
        raise ValueError(f"column {column!r} of {source} has no value; nothing can be forecast")
    end = int(there[-1]) + 1
    if end < len(values):
        notes.append(f"The last {len(values) - end} rows have no {column}: the forecast starts there.")
    ahead = None if others is None else others.iloc[end:]
    return Series(source, column, time, values.iloc[:end], None if others is None else others.iloc[:end], ahead, notes)


def _only_number(table: Table, others: set[Any]) -> str:
    names = [item.name for item in table.columns if item.kind == NUMBER and item.name not in others]
    if len(names) == 1:
        return names[0]
    if not names:
        raise ValueError(f"{table.source} has no column of numbers that vary; name the one to forecast with --column")
    shown = ", ".join(map(repr, names[:8])) + (", …" if len(names) > 8 else "")
    raise ValueError(
        f"{table.source} has {len(names)} columns of numbers, {shown}; name the one to forecast with --column"
    )


def _time_column(table: Table) -> str | None:
    return next((item.name for item in table.columns if item.kind == DATE), None)
