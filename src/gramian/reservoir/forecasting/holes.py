"""Fill holes with what could be known at the time: the season before or the last value, then own forecasts."""

from __future__ import annotations

from typing import Any

import numpy as np

from gramian.reservoir.forecasting.window import Window
from gramian.typing import Array


def last_values(values: Array, period: int = 0, before: Array | None = None) -> Array:
    """Values (n, q) with every hole filled from before it: a period ago where given, else by the last value.

    Parameters
    ----------
    values : ndarray (n, q)
    period : int
        0 for the last value throughout.
    before : ndarray (k, q), optional
        Filled values of the steps before the first; without them leading holes take the first value that is known.
    """
    start = np.empty((0, values.shape[1])) if before is None else before
    known = np.vstack([start, values])
    n_before = len(start)
    missing = np.isnan(known)
    for j in np.flatnonzero(missing.any(axis=0)):
        column, lost = known[:, j], missing[:, j]
        if lost.all():
            column[:] = 0.0
            continue
        place = np.where(lost, 0, np.arange(len(column)))
        first = int((~lost).argmax())
        place[:first] = first
        np.maximum.accumulate(place, out=place)
        held = column[place]
        if period:
            for t in np.flatnonzero(lost):
                column[t] = column[t - period] if t >= period + first else held[t]
        else:
            known[:, j] = held
    return known[n_before:]


def fill(rule: Any, window: Window, start: int, limits: Array) -> None:
    """Fill the holes of a window from step ``start`` on, in place, with one-step forecasts from the steps before.

    Parameters
    ----------
    rule : object with ``run``
        Without a state: a filled value is an input of the next forecast, and only a rule that learned from the same
        kind of filling is stable then.
    window : Window
    start : int
        At least one after the first step.
    limits : ndarray (2, q)
        Filled values are kept between these.
    """
    lost = np.asarray(~window.known.all(axis=1))
    lost[: start - window.first] = False
    for t in np.flatnonzero(lost) + window.first:
        forecasts, _ = rule.run(window, t - 1, t, None, ahead=1)
        row = t - window.first
        hole = ~window.known[row]
        window.values[row, hole] = np.clip(forecasts[0, 0], *limits)[hole]
