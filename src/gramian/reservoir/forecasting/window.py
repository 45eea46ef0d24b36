"""What the models of a forecaster see at each step: lags, values of earlier seasons, calendar and other columns.

:class:`Window` holds a stretch of the series in standard units without holes; :class:`Layout` says which of its values
are columns. Rules and networks of this folder stand on both.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from gramian.reservoir.forecasting.calendar import Clock
from gramian.typing import Array

_HARMONICS = 4  # waves per season beside the values of earlier seasons
_SEASONAL_LAGS = 8  # last values whose counterparts in the season before are columns
_OLDEST = 24.0  # steps without a value that count as long ago


@dataclass
class Window:
    """A stretch of the series, in standard units.

    Attributes
    ----------
    first : int
        Number of the first step, counted from the start of ``fit``.
    values : ndarray (n, q)
        Without holes: what was missing is filled.
    known : ndarray of bool (n, q)
        Where the values were observed.
    others : ndarray (n + a, d)
        Exogenous columns without holes; those known in advance reach a steps further, the others repeat.
    """

    first: int
    values: Array
    known: Array
    others: Array

    def __post_init__(self) -> None:
        self.age = _age(self.known)

    @property
    def stop(self) -> int:
        """Number of the step after the last one."""
        return self.first + len(self.values)

    def extended(self, values: Array, known: Array, others: Array) -> Window:
        """The window and the steps that follow; ``others`` begins with their own rows."""
        return Window(
            self.first,
            np.vstack([self.values, values]),
            np.vstack([self.known, known]),
            np.vstack([self.others[: len(self.values)], others]),
        )

    def tail(self, length: int) -> Window:
        """The last steps; all, where there are fewer."""
        cut = max(len(self.values) - length, 0)
        return Window(self.first + cut, self.values[cut:].copy(), self.known[cut:].copy(), self.others[cut:].copy())


@dataclass(frozen=True)
class Layout:
    """Which columns the models see.

    Attributes
    ----------
    horizon : int
        Steps ahead that are forecast at once.
    lags : int
        Last values that are columns.
    periods : tuple of int
        Steps of each season, the shortest first.
    clock : Clock
        Dates of the steps.
    ahead : tuple of int
        Exogenous columns that are known in advance.
    anchor : int
        What forecasts are differences to: −1 the mean, 0 the last value, or the period of the season before.
    recalled : tuple of int
        Those of the periods whose values of earlier seasons are columns; the others enter as waves.
    seasons : int
        How many earlier seasons.
    """

    horizon: int
    lags: int
    periods: tuple[int, ...]
    clock: Clock
    ahead: tuple[int, ...] = ()
    anchor: int = 0
    recalled: tuple[int, ...] = ()
    seasons: int = 2

    def with_anchor(self, anchor: int) -> Layout:
        return replace(self, anchor=anchor)

    @property
    def memory(self) -> int:
        """Steps before an origin that its columns reach back to."""
        longest = max(self.recalled, default=0)
        return max(self.lags, longest * self.seasons, longest + _SEASONAL_LAGS if longest else 1)

    def inputs(self, window: Window, rows: slice) -> Array:
        """What drives a reservoir: values and exogenous columns of the step, and the phase of each season."""
        cut = slice(rows.start - window.first, rows.stop - window.first)
        steps = np.arange(rows.start, rows.stop) + 1
        return np.hstack([window.values[cut], window.others[cut], self.clock.waves(steps, self.periods, 1)])

    def common(self, window: Window, rows: slice) -> Array:
        """Columns of an origin that serve every horizon (n, m): lags, exogenous columns, age of the last value."""
        steps = np.arange(rows.start - window.first, rows.stop - window.first)
        lagged = [window.values[np.maximum(steps - lag, 0)] for lag in range(self.lags)]
        # How far the last values lie from those of a season before tells how far the next ones will.
        lagged += [
            window.values[np.maximum(steps - m - lag, 0)] for m in self.recalled for lag in range(_SEASONAL_LAGS)
        ]
        return np.hstack([*lagged, window.others[steps], window.age[steps]])

    def anchors(self, window: Window, steps: Array, h: int) -> Array:
        """What the forecasts h steps after these origins are differences to, (n, q)."""
        if self.anchor < 0:
            return np.zeros((len(steps), window.values.shape[1]))
        if self.anchor == 0:
            return window.values[steps - window.first]
        return seasonal(window, steps, h, self.anchor)

    def specific(self, window: Window, steps: Array, h: int) -> Array:
        """Columns of an origin for one horizon (n, p): seasons before, calendar, columns known in advance."""
        columns = [seasonal(window, steps, h, m, k) for m in self.recalled for k in range(self.seasons)]
        columns.append(self.clock.waves(steps + h, self.periods, _HARMONICS))
        columns.append(self.clock.days(steps + h))
        if self.ahead:
            there = window.others[steps + h - window.first][:, self.ahead]
            columns += [there, there**2]
            for m in self.recalled[:1]:
                back = m * -(-h // m)
                before = window.others[np.maximum(steps + h - back - window.first, 0)][:, self.ahead]
                columns += [before, before**2]
        return np.hstack(columns)


def seasonal(window: Window, steps: Array, h: int, period: int, earlier: int = 0) -> Array:
    """Values at the same phase as h steps after each origin, in the last season known there or an earlier one."""
    back = period * (-(-h // period) + earlier)
    return window.values[np.maximum(steps + h - back - window.first, 0)]


def _age(known: Array) -> Array:
    """Steps since the last known value of each column, 0 to 1."""
    steps = np.arange(len(known))[:, None]
    last = np.maximum.accumulate(np.where(known, steps, -1), axis=0)
    return np.minimum(steps - last, _OLDEST) / _OLDEST
