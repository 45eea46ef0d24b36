"""The dates of the steps: phases of seasons, days of the week, and the times of steps to come.

:class:`Clock` counts steps from the first one of ``fit``; a series without dates has a clock without a calendar.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from gramian.typing import Array

DAY = 86_400_000_000  # microseconds
YEAR = 365.2425 * DAY
_SAME = 0.01  # relative difference of two periods that are one


def told(time: Any) -> str:
    """A time for a message, without the parts of the day that are zero."""
    return str(np.datetime_as_string(time, unit="auto") if isinstance(time, np.datetime64) else time)


@dataclass(frozen=True)
class Clock:
    """Times of the steps.

    Attributes
    ----------
    start : int
        Time of step 0: microseconds since 1970, months since then, or a number.
    step : float
        From one step to the next, in the same unit.
    unit : {"none", "number", "time", "month"}
        "none" for a series without times.
    offset : int
        Of months: microseconds after the start of the month, or, negative, before its end.
    """

    start: float = 0.0
    step: float = 1.0
    unit: str = "none"
    offset: int = 0

    def times(self, steps: Array) -> Array:
        """Times of the steps: datetime64, or numbers."""
        if self.unit == "time":
            return (int(self.start) + np.asarray(steps, np.int64) * int(self.step)).astype("datetime64[us]")
        if self.unit == "month":
            return self._in_month(int(self.start) + np.asarray(steps, np.int64) * int(self.step))
        return self.start + np.asarray(steps) * self.step

    def places(self, times: Array) -> Array:
        """Steps of times: whole numbers where these lie on the grid."""
        if self.unit == "number":
            return np.asarray((np.asarray(times, float) - self.start) / self.step)
        micro = times.astype("datetime64[us]").astype(np.int64)
        if self.unit == "time":
            return np.asarray((micro - int(self.start)) / self.step)
        months = times.astype("datetime64[M]").astype(np.int64)
        here = self._in_month(months).astype(np.int64)
        way = np.where(micro < here, -1, 1)  # to the month before or after
        length = np.abs(self._in_month(months + way).astype(np.int64) - here)
        return np.asarray((months - int(self.start) + (micro - here) / length) / self.step)

    def _in_month(self, months: Array) -> Array:
        """The time within each month, counted from 1970, that the steps lie at."""
        begins = (months + (self.offset < 0)).astype("datetime64[M]").astype("datetime64[us]")
        return np.asarray(begins + np.timedelta64(self.offset, "us"))

    @property
    def cycles(self) -> tuple[float, ...]:
        """Steps of a day, a week and a year, as far as they are more than two."""
        if self.unit == "time":
            found: tuple[float, ...] = (DAY / self.step, 7 * DAY / self.step, YEAR / self.step)
        else:
            found = (12 / self.step,) if self.unit == "month" else ()
        return tuple(cycle for cycle in found if cycle >= 2)

    def waves(self, steps: Array, periods: tuple[int, ...], count: int) -> Array:
        """Sines and cosines of each season at these steps, (n, 2 · count · seasons); a calendar's year is exact."""
        exact = [next((c for c in self.cycles if abs(c - m) <= _SAME * m), float(m)) for m in periods]
        columns = []
        for period in exact:
            for k in range(1, min(count, int(period // 2)) + 1):
                angle = 2 * np.pi * k * (np.asarray(steps) % period) / period
                columns += [np.sin(angle), np.cos(angle)]
        return np.column_stack(columns) if columns else np.empty((len(steps), 0))

    def days(self, steps: Array) -> Array:
        """Seven columns, one for each day of the week, where there are dates; else none."""
        if self.unit != "time" or self.step > DAY:
            return np.empty((len(steps), 0))
        day = (int(self.start) + np.asarray(steps, np.int64) * int(self.step)) // DAY % 7
        return np.eye(7)[day]
