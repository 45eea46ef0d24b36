"""Match rows by time: those of X with those of y, and later ones with the steps seen before.

Used by :mod:`gramian.reservoir.forecasting.forecaster`.
"""

from __future__ import annotations

import numpy as np

from gramian.reservoir.forecasting.calendar import Clock, told
from gramian.reservoir.forecasting.series_input import OFF_GRID, Table, on_grid, tell
from gramian.typing import Array


def both_timed(times: Array | None, others: Array | None) -> bool:
    """Whether rows can be matched by time: both have dates, or both have numbers."""
    return times is not None and others is not None and (times.dtype.kind == "M") == (others.dtype.kind == "M")


def at_steps(clock: Clock, table: Table, start: int, n: int, wanted: Array) -> Array:
    """Rows of X at n steps from ``start`` on, NaN where it has none, which is told of the wanted ones."""
    steps, rows = _rows_on_grid(clock, table)
    steps -= start
    inside = (steps >= 0) & (steps < n)
    missing = len(np.setdiff1d(wanted, steps))
    if missing and missing == len(wanted):
        first = told(clock.times(start + wanted[:1])[0])
        raise ValueError(f"X has no row at the times of y, such as {first}; bring both to the same times")
    if missing:
        tell([f"{missing} steps of y have no row; they are treated as holes"], "X")
    return on_grid(table.values[rows[inside]], steps[inside], n)


def rows_ahead(clock: Clock, table: Table, stop: int, n: int) -> Array:
    """Rows of X at the n steps to come, all of which it must have."""
    missing = np.setdiff1d(stop + np.arange(n), _rows_on_grid(clock, table)[0])
    if len(missing):
        raise ValueError(
            f"X has no row for {told(clock.times(missing[:1])[0])}; pass a row for each of the {n} steps after "
            f"{told(clock.times(np.array([stop - 1]))[0])}"
        )
    return at_steps(clock, table, stop, n, np.arange(n))


def _rows_on_grid(clock: Clock, table: Table) -> tuple[Array, Array]:
    """Steps, and the rows that lie at them: those between two steps belong to neither."""
    places = clock.places(np.asarray(table.times))
    steps = np.round(places).astype(np.int64)
    rows = np.flatnonzero(np.abs(places - steps) <= OFF_GRID)
    return steps[rows], rows


def steps_after(clock: Clock, times: Array, stop: int) -> tuple[Array, list[str]]:
    """Steps of times, counted from the first one that is to come."""
    places = clock.places(times)
    steps = np.round(places).astype(np.int64)
    if (np.abs(places - steps) > OFF_GRID).any():
        row = int((np.abs(places - steps) > OFF_GRID).argmax())
        raise ValueError(f"the time {told(times[row])} of y is not a whole number of steps after those of fit")
    if (steps < stop).any():
        row = int((steps < stop).argmax())
        last = told(clock.times(np.array([stop - 1]))[0])
        raise ValueError(
            f"the time {told(times[row])} of y is not after the last one seen, {last}; pass later steps only"
        )
    notes = []
    if len(np.unique(steps)) < len(steps):
        notes.append("times occur twice; the last value of each is kept")
    if (missing := int(steps.max()) + 1 - stop - len(np.unique(steps))) > 0:
        notes.append(f"{missing} steps are missing; they are treated as holes")
    return steps - stop, notes
