"""From a table whose rows are steps of time to one series: its values, their times, and columns known in advance.

It uses :mod:`gramian.tables` for files and cells; order, gaps and duplicates of time are the forecaster's to judge.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from gramian.exploration.wording import are_years
from gramian.tables import BOOLEAN, CONSTANT, DATE, IDENTIFIER, NUMBER, Column, Reading, Table, read_table

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
    columns : list of Column
        How the columns that are used were read.
    missing : list of str
        The codes of missing values that were declared.
    """

    source: str
    column: str
    time: str | None
    values: Any
    known: Any
    ahead: Any
    notes: list[str]
    columns: list[Column] = field(default_factory=list)
    missing: list[str] = field(default_factory=list)


def read_series(
    source: Any,
    column: str | None = None,
    *,
    time: str | None = None,
    known: Sequence[str] = (),
    missing: Collection[Any] = (),
    like: Reading | None = None,
) -> Series:
    """Read the column of a table that is to be forecast.

    Parameters
    ----------
    source : path, open file, pandas or polars data frame, pandas series, or Table
        An index of dates is a column of time.
    column : str, optional
        By default the only column of numbers.
    time : str, optional
        By default the first column of dates, or else the only one of rising years, if there is one.
    known : sequence of str
        Columns whose values are known in advance. Rows after the last value of ``column`` hold the coming ones.
    missing : collection of str or numbers
        Codes of missing values, such as -999.
    like : Reading, optional
        A model of the series, of which these are later rows: they are read as the series was, with the same order of
        day and month and the same codes of missing values, and may all be without a value.

    Examples
    --------
    >>> import io
    >>> text = "day,sold,price\\n2024-01-01,5,2\\n2024-01-02,7,1\\n2024-01-03,,1\\n"
    >>> series = read_series(io.StringIO(text), "sold", known=["price"])
    >>> series.time, series.values.tolist(), series.ahead["price"].tolist()
    ('day', [5.0, 7.0], [1.0])
    """
    numbers = [*([] if column is None else [column]), *known]
    source = _with_times(source)
    table = source if isinstance(source, Table) else read_table(source, number=numbers, missing=missing, like=like)
    if time is None:
        time = _time_column(table, {column, *known})
    column = _only_number(table, {*known, time}) if column is None else column
    if column in known:
        raise ValueError(f"column {column!r} is to be forecast, so it cannot be known in advance; name another one")
    for name in (column, *known, *([] if time is None else [time])):
        if name not in table.frame:
            raise ValueError(f"{table.source} has no column {name!r}; it has {', '.join(map(repr, table.frame))}")
    told = [item for item in table.columns if item.name in (time, column, *known) and item.note]
    notes = [*table.notes, *(f"{item.name}: {item.note}." for item in told)]
    values = table.frame[column].astype("float64")
    others = table.frame[list(known)].astype("float64") if known else None
    if time is not None:
        index = table.frame[time]
        _check_times(table, time)
        if index.isna().any():
            row = int(np.flatnonzero(index.isna())[0]) + 1
            raise ValueError(f"{table.source}, row {row}: the time in column {time!r} is missing; fill or drop the row")
        order = np.argsort(index.to_numpy(), kind="stable")
        if (order != np.arange(len(order))).any():
            notes.append(f"Rows were not in the order of {time}; they were sorted.")
        values = values.iloc[order].set_axis(index.iloc[order])
        others = None if others is None else others.iloc[order].set_axis(index.iloc[order])
    used = [replace(item, kind=NUMBER) if item.name in (column, *known) else item for item in table.columns]
    used = [item for item in used if item.name in (time, column, *known)]
    return _cut(table, column, time, values, others, notes, used, later=like is not None)


def _with_times(source: Any) -> Any:
    """What is read; of pandas a data frame in which times of the index are a column."""
    if type(source).__module__.partition(".")[0] != "pandas":
        return source
    import pandas as pd

    frame = source
    if isinstance(source, pd.Series):
        frame = source.to_frame("value" if source.name is None else source.name)
    index = frame.index.to_timestamp() if isinstance(frame.index, pd.PeriodIndex) else frame.index
    if not isinstance(index, pd.DatetimeIndex):
        return frame
    name = str(index.name or "time")
    while name in frame:
        name += "_"
    return frame.set_axis(index.rename(name)).reset_index()


def labels_of(index: Any) -> list[str]:
    """Times as people write them; numbers of rows are counted from 1."""
    import pandas as pd

    if not isinstance(index, pd.DatetimeIndex):
        if isinstance(index, pd.RangeIndex) or pd.api.types.is_integer_dtype(index):
            shift = 1 if isinstance(index, pd.RangeIndex) else 0
            return [str(value + shift) for value in index]
        steps = np.abs(np.diff(np.asarray(index, np.float64)))
        least = float(steps[steps > 0].min(initial=np.inf))
        places = 4 - int(np.floor(np.log10(least))) if np.isfinite(least) else 12  # a ten-thousandth of a step
        return [f"{round(float(value), places):.15g}" for value in index]
    whole_days = bool((index == index.normalize()).all())
    whole_minutes = bool((index.second == 0).all())
    clock = "" if whole_days else " %H:%M" if whole_minutes else " %H:%M:%S"
    return list(index.strftime("%Y-%m-%d" + clock))


def _cut(
    table: Table,
    column: str,
    time: str | None,
    values: Any,
    others: Any,
    notes: list[str],
    used: list[Column],
    *,
    later: bool,
) -> Series:
    """The series up to its last value; what is known after it is apart. Only ``later`` rows may have no value."""
    there = np.flatnonzero(values.notna())
    if not len(there) and not (later and others is not None):
        raise ValueError(f"column {column!r} of {table.source} has no value; nothing can be forecast")
    end = int(there[-1]) + 1 if len(there) else 0
    if end < len(values):
        notes.append(f"The last {len(values) - end} rows have no {column}: the forecast starts there.")
    past, ahead = (None, None) if others is None else (others.iloc[:end], others.iloc[end:])
    return Series(
        table.source, column, time, values.iloc[:end], past, ahead, notes, columns=used, missing=table.missing
    )


def _only_number(table: Table, others: set[Any]) -> str:
    """The only column of numbers; where there is none, of numbers that are 0 or 1, always the same, or count."""
    free = [item for item in table.columns if item.name not in others]
    names = [item.name for item in free if item.kind == NUMBER] or [
        item.name
        for item in free
        if item.kind in (BOOLEAN, CONSTANT, IDENTIFIER) and table.frame[item.name].dtype.kind in "biuf"
    ]
    if len(names) == 1:
        return names[0]
    if not names:
        raise ValueError(f"{table.source} has no column of numbers; name the one to forecast with --column")
    shown = ", ".join(map(repr, names[:8])) + (", …" if len(names) > 8 else "")
    raise ValueError(
        f"{table.source} has {len(names)} columns of numbers, {shown}; name the one to forecast with --column"
    )


def _time_column(table: Table, others: set[Any]) -> str | None:
    """The first column of dates; without one, the only column of years that rise from row to row."""
    dates = [item.name for item in table.columns if item.kind == DATE and item.name not in others]
    numbers = [item.name for item in table.columns if table.frame[item.name].dtype.kind in "biuf"]
    years = [name for name in numbers if name not in others and _rising_years(table.frame[name])]
    alone = len(years) == 1 and len(numbers) > 1  # a lone column is the series
    return dates[0] if dates else years[0] if alone else None


def _rising_years(values: Any) -> bool:
    numbers = values.to_numpy(np.float64, na_value=np.nan)
    return len(numbers) > 2 and bool((np.diff(numbers) > 0).all()) and are_years(numbers)


def _check_times(table: Table, time: str) -> None:
    """Times are dates or numbers."""
    kind = table.frame[time].dtype.kind
    if kind not in "Miuf":
        shown = next(iter(table.frame[time].dropna().astype(str)), "")
        raise ValueError(
            f"column {time!r} of {table.source} holds no dates or numbers but values such as {shown!r}; write times as "
            "2024-01-31 or 2024-01, or leave --time out to take the rows as steps"
        )
