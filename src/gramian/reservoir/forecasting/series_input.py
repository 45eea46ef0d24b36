"""Read series: arrays, pandas and polars series and frames, with their times, on a regular grid of steps.

:func:`read_series` names what it found: duplicates, disorder and gaps of times are told in a warning, steps that no
grid fits are refused. :class:`Table` keeps the form, so that forecasts come back in it.
"""

from __future__ import annotations

import warnings
from dataclasses import dataclass
from typing import Any

import numpy as np

from gramian.partitions import refuse_partitions
from gramian.reservoir.forecasting.calendar import DAY, Clock, told
from gramian.typing import Array

OFF_GRID = 0.02  # share of a step by which a time may miss the grid
_LARGEST = 1e150
MOST_HOLES = 20  # steps of the grid for each row, beyond which times are refused


@dataclass(frozen=True)
class Table:
    """Columns of numbers and what is known of their rows.

    Attributes
    ----------
    values : ndarray (n, q)
        float64 with NaN for holes.
    times : ndarray (n,) or None
        datetime64 or numbers.
    names : tuple of str
    form : {"numpy", "pandas", "polars"}
    flat : bool
        Whether it came as one series and not as columns.
    dtype : dtype
        Of the answers.
    time_name : str
        Column of the times, of a frame that had one.
    zone : str
        Time zone of the times; empty for none.
    wall : bool
        Whether times are those of the clocks in that zone and not UTC: days there have 23 to 25 hours.
    frequency : str
        Of pandas' periods.
    labels : tuple of str, int or None
        The columns as pandas names them; empty where they are no more than names.
    """

    values: Array
    times: Array | None
    names: tuple[str, ...]
    form: str
    flat: bool
    dtype: Any
    time_name: str = "time"
    zone: str = ""
    wall: bool = False
    frequency: str = ""
    labels: tuple[str | int | None, ...] = ()


def read_table(given: Any, name: str, like: Table | None = None) -> Table:
    """Read an array, a series or a frame.

    Parameters
    ----------
    given : array-like, series or frame
    name : str
        Of the argument, for messages.
    like : Table, optional
        Whose zone and clocks the times are read in. By default their own zone, by its clocks where these show the same
        hour every day.
    """
    refuse_partitions(name, given, f"pass {name}.compute(), or many series to backtest_each")
    module = type(given).__module__.partition(".")[0]
    if module == "pandas":
        return _pandas(given, name, like)
    if module == "polars":
        return _polars(given, name, like)
    if hasattr(given, "toarray"):
        raise ValueError(f"{name} is sparse; pass a dense array, because a series has a value at every step")
    if isinstance(given, np.ma.MaskedArray):
        given = np.where(np.ma.getmaskarray(given), np.nan, np.ma.getdata(given))
    array = given if isinstance(given, np.ndarray) else np.asarray(given)
    if array.ndim not in (1, 2):
        raise ValueError(f"{name} has shape {array.shape}; pass (T,) for one series or (T, q) for several")
    columns = array[:, None] if array.ndim == 1 else array
    names = tuple(str(j) for j in range(columns.shape[1]))
    values = np.column_stack(
        [_numbers(columns[:, j], name, names[j]) for j in range(columns.shape[1])] or [np.empty((len(columns), 0))]
    )
    return Table(values, None, names, "numpy", array.ndim == 1, _dtype([array.dtype]))


def _pandas(given: Any, name: str, like: Table | None) -> Table:
    import pandas as pd

    flat = isinstance(given, pd.Series)
    frame = given.to_frame() if flat else given
    if not isinstance(frame, pd.DataFrame):
        return read_table(np.asarray(given), name)
    index, time_name = frame.index, str(frame.index.name or "time")
    dated = [column for column in frame.columns if pd.api.types.is_datetime64_any_dtype(frame[column])]
    if dated:
        _one_time(dated, name)
        index, time_name = pd.DatetimeIndex(frame[dated[0]]), str(dated[0])
        frame = frame.drop(columns=dated)
    times, zone, wall = _pandas_times(index, name, like)
    columns = [_numbers(frame.iloc[:, j].to_numpy(), name, str(c)) for j, c in enumerate(frame.columns)]
    values = np.column_stack(columns) if columns else np.empty((len(frame), 0))
    names, dtype = tuple(map(str, frame.columns)), _dtype(list(frame.dtypes))
    frequency = str(index.freqstr) if isinstance(index, pd.PeriodIndex) else ""
    given_names = [given.name] if flat else frame.columns.tolist()
    labels = tuple(given_names) if all(one is None or type(one) in (str, int) for one in given_names) else ()
    return Table(values, times, names, "pandas", flat, dtype, time_name, zone, wall, frequency, labels)


def _pandas_times(index: Any, name: str, like: Table | None) -> tuple[Array | None, str, bool]:
    """Times, their zone, and whether they are those of its clocks."""
    import pandas as pd

    if isinstance(index, pd.MultiIndex):
        raise ValueError(f"{name} has an index of {index.nlevels} levels; pass one series, or one column for each")
    if isinstance(index, pd.PeriodIndex):
        index = index.to_timestamp()
    if isinstance(index, pd.DatetimeIndex):
        zone = _zone(None if index.tz is None else str(index.tz), name, like)
        index = index.tz_convert(zone) if zone else index
        universal, local = (part.to_numpy("datetime64[us]") for part in (index, index.tz_localize(None)))
        return _zoned(universal, local, zone, like)
    if isinstance(index, pd.RangeIndex) and index.start == 0 and index.step == 1:
        return None, "", False
    if not pd.api.types.is_numeric_dtype(index):
        _refuse_text_dates(index, name)
        return None, "", False
    return _known(index.to_numpy() if pd.api.types.is_integer_dtype(index) else np.asarray(index, float)), "", False


def _refuse_text_dates(index: Any, name: str) -> None:
    """Rows with names are steps one after another; names that are dates were meant as times."""
    import pandas as pd

    few = index[:5].astype(str)
    dates = few.str.match(r"\d+([-/:]|\.\d+\.)\d+") & pd.to_datetime(few, errors="coerce", format="mixed").notna()
    if len(few) and dates.all():
        raise ValueError(
            f"the index of {name} has dates as text or objects, such as {few[0]!r}; make them times with "
            "pd.to_datetime first"
        )


def _zone(zone: str | None, name: str, like: Table | None) -> str:
    """The zone that times are told in, "" for none: that of ``like``, where it has times."""
    if like is None or like.times is None or like.times.dtype.kind != "M":
        return zone or ""
    if bool(zone) != bool(like.zone):
        here, there = (f"are in {one}" if one else "have no time zone" for one in (zone, like.zone))
        raise ValueError(
            f"the times of {name} {here}, but those that y was fitted with {there}; pass all with a zone or without"
        )
    return like.zone


def _zoned(universal: Array, local: Array, zone: str, like: Table | None) -> tuple[Array, str, bool]:
    """Times that are regular also where clocks are put forward and back."""
    if not zone:
        return _known(universal), "", False
    if like is not None and like.zone == zone:
        wall = like.wall
    else:
        wall = len(np.unique(_known(local).astype(np.int64) % DAY)) == 1
    return _known(local if wall else universal), zone, wall


def _polars(given: Any, name: str, like: Table | None) -> Table:
    import polars as pl

    flat = isinstance(given, pl.Series)
    frame = given.to_frame() if flat else given
    if not isinstance(frame, pl.DataFrame):
        raise ValueError(f"{name} is a lazy polars frame; pass {name}.collect()")
    dated = [column for column in frame.columns if frame[column].dtype in (pl.Date, pl.Datetime)]
    times, zone, wall = None, "", False
    if dated:
        _one_time(dated, name)
        of_zone = getattr(frame[dated[0]].dtype, "time_zone", None)
        zone = _zone(of_zone, name, like)
        moments = frame[dated[0]].cast(pl.Datetime("us", of_zone))
        told = [moments.dt.convert_time_zone(one) for one in ("UTC", zone)] if zone else [moments, moments]
        both = [one.dt.replace_time_zone(None).to_numpy() for one in told]
        times, zone, wall = _zoned(both[0], both[1], zone, like)
        frame = frame.drop(dated)
    columns = [_numbers(frame[c].to_numpy(), name, c) for c in frame.columns]
    values = np.column_stack(columns) if columns else np.empty((len(frame), 0))
    dtypes = [frame[c].to_numpy().dtype for c in frame.columns]
    time_name = str(dated[0]) if dated else "time"
    return Table(values, times, tuple(frame.columns), "polars", flat, _dtype(dtypes), time_name, zone, wall)


def _one_time(dated: list[Any], name: str) -> None:
    if len(dated) > 1:
        raise ValueError(f"{name} has several columns of times, {', '.join(map(repr, dated))}; drop all but one")


def _known(times: Array) -> Array:
    missing = np.isnat(times) if times.dtype.kind == "M" else ~np.isfinite(times)
    if missing.any():
        row = int(missing.argmax())
        raise ValueError(f"the time of row {row} is missing; drop that row or fill its time")
    return times


def _numbers(column: Array, name: str, label: str) -> Array:
    """A column as float64; text that is no number is named with its row."""
    if column.dtype.kind in "fiub":
        found = column.astype(np.float64)
    elif column.dtype.kind in "cmM":
        raise ValueError(f"column {label!r} of {name} has type {column.dtype}; pass real numbers")
    else:
        found = np.empty(len(column))
        for row, cell in enumerate(column):
            found[row] = _number(cell, row, name, label)
    if np.isinf(found).any():
        row = int(np.isinf(found).argmax())
        raise ValueError(f"column {label!r} of {name} has infinity in row {row}; pass a number, or NaN for a hole")
    if (np.abs(found) > _LARGEST).any():
        row = int((np.abs(found) > _LARGEST).argmax())
        raise ValueError(
            f"column {label!r} of {name} has {found[row]:g} in row {row}, whose square overflows; pass NaN if the "
            "value is missing, or the series in larger units"
        )
    return found


def _number(cell: Any, row: int, name: str, label: str) -> float:
    # The NA of pandas comes first: whether it is equal to anything is NA too.
    if cell is None or type(cell).__name__ == "NAType" or cell == "" or cell != cell:
        return np.nan
    try:
        return float(cell)
    except (TypeError, ValueError):
        raise ValueError(
            f"column {label!r} of {name} has {str(cell)!r} in row {row}, which is not a number; pass numbers or NaN"
        ) from None


def _dtype(dtypes: list[Any]) -> Any:
    return np.float32 if dtypes and all(str(dtype).lower() == "float32" for dtype in dtypes) else np.float64


# Times -----------------------------------------------------------------------------------------------------


def regular(times: Array) -> tuple[Clock, Array, Array, list[str]]:
    """The grid that times lie on.

    Parameters
    ----------
    times : ndarray (n,)
        datetime64 or numbers, in any order.

    Returns
    -------
    clock : Clock
    steps : ndarray of int (m,)
        Step of each row that is kept, rising.
    kept : ndarray of int (m,)
        Those rows; of equal times the last.
    notes : list of str
        What had to be changed, in words.
    """
    notes = []
    order = np.argsort(times, kind="stable")
    if (order != np.arange(len(times))).any():
        row = int((order != np.arange(len(times))).argmax())
        notes.append(f"times were not in order (from row {row} on); rows are sorted")
    ordered = times[order]
    last = np.append(ordered[1:] != ordered[:-1], True)
    if not last.all():
        twice = told(ordered[~last][0])
        notes.append(f"{int((~last).sum())} times occur twice, such as {twice}; the last value of each is kept")
    kept, ordered = order[last], ordered[last]
    clock, places = _grid(ordered)
    steps = np.round(places).astype(np.int64)
    off = np.abs(places - steps) > OFF_GRID
    if off.any() or (len(steps) > 1 and (np.diff(steps) < 1).any()):
        row = int(off.argmax()) if off.any() else int((np.diff(steps) < 1).argmax())
        raise ValueError(
            f"times are irregular: {told(ordered[row])} (row {int(kept[row])}) is not a whole number of steps of "
            f"{_step_text(clock)} after {told(ordered[0])}; bring the series to a regular step first, for example with "
            "pandas' resample"
        )
    n_grid = int(steps[-1]) + 1
    if n_grid > MOST_HOLES * len(steps) + 100:
        raise ValueError(
            f"{len(steps)} times from {told(ordered[0])} to {told(ordered[-1])} are {n_grid} steps of "
            f"{_step_text(clock)}, nearly all of them missing; check the times, or bring the series to a longer step"
        )
    if n_grid > len(steps):
        after = told(ordered[int((np.diff(steps) > 1).argmax())])
        missing = n_grid - len(steps)
        which = "1 step is missing, after" if missing == 1 else f"{missing} steps are missing, the first after"
        notes.append(f"{which} {after}, and treated as {'a hole' if missing == 1 else 'holes'}")
    return clock, steps, kept, notes


def _grid(ordered: Array) -> tuple[Clock, Array]:
    """A clock for rising times, and the place of each on its grid."""
    if ordered.dtype.kind != "M":
        gaps = np.diff(ordered)
        step = float(np.median(gaps)) if len(gaps) else 1.0
        # Steps that were rounded, as 0.0833 of a year for a month, add up to less than the way from end to end.
        count = float(np.round(gaps / step).sum())
        step = float(ordered[-1] - ordered[0]) / count if count else step
        return Clock(float(ordered[0]), step, "number"), (ordered - ordered[0]) / step
    micro = ordered.astype("datetime64[us]").astype(np.int64)
    months = ordered.astype("datetime64[M]").astype(np.int64)
    gaps = np.diff(micro)
    days = gaps / 86_400_000_000
    if len(gaps) and np.median(days) >= 28:
        # The same day of every month, or as many days before its end.
        for later in (0, 1):
            offsets = micro - (months + later).astype("datetime64[M]").astype("datetime64[us]").astype(np.int64)
            if (offsets == offsets[0]).all():
                step = int(np.bincount(np.diff(months)).argmax())
                return Clock(float(months[0]), float(step), "month", int(offsets[0])), (months - months[0]) / step
    step = int(np.median(gaps)) if len(gaps) else 86_400_000_000
    return Clock(float(micro[0]), float(step), "time"), (micro - micro[0]) / step


def _step_text(clock: Clock) -> str:
    if clock.unit == "time":
        return str(np.timedelta64(int(clock.step), "us").astype("timedelta64[s]"))
    return f"{clock.step:g} months" if clock.unit == "month" else f"{clock.step:g}"


def on_grid(values: Array, steps: Array, n: int) -> Array:
    """Rows at their steps, NaN between them."""
    out = np.full((n, values.shape[1]), np.nan)
    out[steps] = values
    return out


def tell(notes: list[str], name: str) -> None:
    """Say what was changed in a series."""
    for note in notes:
        warnings.warn(f"{name}: {note}", UserWarning, stacklevel=4)


# Answers ---------------------------------------------------------------------------------------------------


def as_given(found: Array, times: Array, like: Table, names: tuple[str, ...], *, flat: bool) -> Any:
    """Columns (n, k) in the form of the series; arrays of one series are flat.

    Parameters
    ----------
    found : ndarray (n, k)
    times : ndarray (n,)
    like : Table
    names : tuple of str
    flat : bool
        Whether a single column comes as a series.
    """
    found = found.astype(like.dtype, copy=False)
    if like.form == "numpy":
        return found[:, 0] if flat else found
    if like.form == "pandas":
        import pandas as pd

        index = _pandas_index(times, like)
        if like.times is None:
            index = pd.RangeIndex(int(times[0]), int(times[0]) + len(times)) if len(times) else pd.RangeIndex(0)
        labels = like.labels if like.labels and names == like.names else names
        if flat:
            return pd.Series(found[:, 0], index=index, name=labels[0])
        return pd.DataFrame(found, index=index, columns=list(labels))
    import polars as pl

    if flat and like.times is None:
        return pl.Series(names[0], found[:, 0])
    moments = pl.Series(like.time_name, times)
    if like.zone:
        moments = moments.dt.replace_time_zone(
            like.zone if like.wall else "UTC", ambiguous="earliest", non_existent="null"
        ).dt.convert_time_zone(like.zone)
    columns = {} if like.times is None else {like.time_name: moments}
    return pl.DataFrame(columns | {name: found[:, j] for j, name in enumerate(names)})


def _pandas_index(times: Array, like: Table) -> Any:
    """Times as the index of the series had them: periods, with a zone, or whole numbers."""
    import pandas as pd

    if like.times is None:
        return pd.Index(times)
    if like.times.dtype.kind in "iu" and (times == np.round(times)).all():
        times = times.astype(np.int64)
    index = pd.Index(times, name=like.time_name)
    if like.zone and like.wall:
        return index.tz_localize(like.zone, ambiguous=np.ones(len(index), bool), nonexistent="shift_forward")
    if like.zone:
        return index.tz_localize("UTC").tz_convert(like.zone)
    return index.to_period(like.frequency) if like.frequency else index
