"""Seasons of a series: how many steps it takes to repeat itself, found from its autocorrelation and its calendar.

A period counts as a season if the mean of each phase, taken over every other season, explains the seasons between.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy.fft import irfft, next_fast_len, rfft
from scipy.ndimage import uniform_filter1d

from gramian.checks import is_whole
from gramian.typing import Array

_MOST = 3  # seasons
_REPEATS = 3  # times that a season must be seen
_EXPLAINED = 0.1  # share of the variance that a season must explain
_CALENDAR = 0.03  # the same for a day, a week or a year
_NEAR_BEST = 0.7  # of the best period, that a shorter one must explain to be taken instead
_TRIED = 12  # peaks of the autocorrelation


def check_periods(period: Any) -> tuple[int, ...] | None:
    """The periods that were asked for, the shortest first; None for "auto"."""
    if isinstance(period, str) and period == "auto":
        return None
    if period is None:
        return ()
    given = list(period) if isinstance(period, (list, tuple, np.ndarray)) else [period]
    if not all(is_whole(m) and m >= 1 for m in given):
        raise ValueError(f"period={period!r} must be a whole number >= 1, several of them, None or 'auto'")
    return tuple(sorted({int(m) for m in given if m > 1}))


def find_periods(values: Array, cycles: tuple[float, ...] = ()) -> tuple[int, ...]:
    """Seasons of a series.

    Parameters
    ----------
    values : ndarray (n, q)
        In the order of time, with holes.
    cycles : tuple of float
        Steps of a day, a week and a year, where these are known.

    Returns
    -------
    periods : tuple of int
        The shortest first; empty where there are none.

    Examples
    --------
    >>> import numpy as np
    >>> from gramian.reservoir.forecasting.seasons import find_periods
    >>> t = np.arange(400)
    >>> find_periods(np.sin(2 * np.pi * t / 12)[:, None])
    (12,)
    >>> find_periods((0.1 * t)[:, None])
    ()
    """
    columns = [_filled(column) for column in values.T if np.isfinite(column).sum() >= 4]
    columns = [(x - x.mean()) / x.std() for x in columns if x.std() > 1e-12 * np.abs(x).max()]
    if not columns:
        return ()
    n = len(values)
    calendar = {round(c) for c in cycles if _REPEATS * round(c) <= n}
    found: list[int] = []
    for _ in range(_MOST):
        peaks = set().union(*(_peaks(x) for x in columns)) if len(found) < 2 else set()
        scores = {m: float(np.mean([_explained(x, m) for x in columns])) for m in sorted(peaks | calendar)}
        # An ACF also peaks beside a calendar's cycle and at multiples of it.
        good = {
            m: s
            for m, s in scores.items()
            if s >= (_CALENDAR if m in calendar else _EXPLAINED)
            and not any(abs(m - c) <= 0.05 * c for c in (calendar | set(found)) - {m})
        }
        if not good:
            break
        best = max(good.values())
        period = min(m for m, s in good.items() if s >= _NEAR_BEST * best)
        found.append(period)
        columns = [x - _profile(x, period) for x in columns]
        columns = [x / x.std() for x in columns if x.std() > 1e-6]
        if not columns:
            break
    return tuple(sorted(set(found)))


def _filled(column: Array) -> Array:
    """A column without holes and without its straight line."""
    known = np.isfinite(column)
    steps = np.arange(len(column), dtype=float)
    x = np.interp(steps, steps[known], column[known])
    slope, level = np.polyfit(steps, x, 1)
    rest = x - level - slope * steps
    return rest if rest.std() > 1e-9 * max(np.abs(x).max(), 1e-300) else np.zeros_like(x)


def _peaks(x: Array) -> set[int]:
    """Lags of the highest peaks of the autocorrelation of x and of its differences."""
    found: set[int] = set()
    for series in (x, np.diff(x)):
        n, most = len(series), len(series) // _REPEATS
        if most < 3 or series.std() == 0:
            continue
        size = next_fast_len(2 * n)
        power = np.abs(rfft(series - series.mean(), size)) ** 2
        acf = irfft(power, size)[: most + 2]
        acf = acf / acf[0] * n / (n - np.arange(len(acf)))
        inner = acf[1:-1]
        top = np.flatnonzero((inner > acf[:-2]) & (inner >= acf[2:]) & (inner > 2 / np.sqrt(n))) + 1
        top = top[top >= 2]
        found |= {int(m) for m in top[np.argsort(-acf[top])][:_TRIED]}
    return found


def _explained(x: Array, period: int) -> float:
    """Share of the variance about a moving mean that the other seasons' phase means explain."""
    n = len(x)
    if n < _REPEATS * period:
        return 0.0
    rest = x - uniform_filter1d(x, period, mode="nearest")
    total = float((rest**2).sum())
    if total <= 1e-18 * n:
        return 0.0
    phase, odd = np.arange(n) % period, (np.arange(n) // period) % 2 == 1
    lost = 0.0
    for part in (odd, ~odd):
        counts = np.bincount(phase[~part], minlength=period)
        means = np.bincount(phase[~part], rest[~part], minlength=period) / np.maximum(counts, 1)
        lost += float(((rest[part] - means[phase[part]]) ** 2).sum())
    return 1.0 - lost / total


def _profile(x: Array, period: int) -> Array:
    """The mean of each phase, repeated."""
    phase = np.arange(len(x)) % period
    means = np.bincount(phase, x, minlength=period) / np.maximum(np.bincount(phase, minlength=period), 1)
    return np.asarray(means[phase])
