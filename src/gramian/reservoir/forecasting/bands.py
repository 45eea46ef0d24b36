"""Bands around forecasts: quantiles of recent errors at each horizon, at a level that is adapted on line.

Used by the forecaster for the rule it has chosen, and by the backtest for each.
"""

from __future__ import annotations

import numpy as np

from gramian.typing import Array

_RATE = 0.02
_STRETCH = 2.0
_ROUNDING = 1e-9  # of the deviation of the series
_RECENT = 1000  # errors of each horizon that are remembered


class AdaptiveBands:
    """Conformal half-widths of each horizon and series, whose level follows the misses.

    A band at coverage 1 − α is the forecast ± the ⌈(n + 1)(1 − α_h)⌉-th smallest of the last n errors of horizon h.
    After each step α_h ← α_h + η (α − [the value was outside]): misses widen the bands, hits narrow them slowly.

    Parameters
    ----------
    errors : ndarray (n, H, q)
        Absolute errors of forecasts that the model had not learned from; NaN where the value is missing.
    coverage : float

    References
    ----------
    I. Gibbs, E. Candès, "Adaptive conformal inference under distribution shift", NeurIPS 34, 2021.
    """

    def __init__(self, errors: Array, coverage: float) -> None:
        self.coverage = coverage
        _, horizon, q = errors.shape
        self.errors = np.full((_RECENT, horizon, q), np.inf)  # +inf where there is none
        self.counts = np.zeros((horizon, q), np.intp)
        for h in range(horizon):
            for j in range(q):
                known = errors[:, h, j][np.isfinite(errors[:, h, j])][-_RECENT:]
                self.errors[: len(known), h, j] = known
                self.counts[h, j] = len(known)
        self.places = self.counts % _RECENT
        self.levels = np.full((horizon, q), 1.0 - coverage)
        # Bands of the last H origins, the latest first: a value is held against the band that was issued for it.
        self.issued = np.repeat(self.half_widths()[None], horizon, axis=0)

    def half_widths(self, coverage: float | None = None) -> Array:
        """Half-widths (H, q); for another coverage the adapted level is taken in proportion."""
        levels = self.levels
        if coverage is not None and coverage != self.coverage:
            levels = levels * (1.0 - coverage) / (1.0 - self.coverage)
        n = self.counts
        ranks = np.ceil((n + 1) * (1.0 - levels)).astype(np.intp)
        ranks = np.clip(ranks, 1, np.maximum(n, 1)) - 1
        ordered = np.sort(self.errors, axis=0)
        found = np.take_along_axis(ordered, ranks[None], axis=0)[0]
        # Below level 0 no quantile is wide enough: the largest error is stretched instead of an infinite band.
        found = np.where(n > 0, found * (1.0 + _STRETCH * np.maximum(-levels, 0.0)), 0.0)
        # A horizon without errors, of a series that is hardly longer, is no surer than the one before it.
        for h in range(1, len(found)):
            found[h] = np.where(n[h] > 0, found[h], found[h - 1])
        return found

    def observe(self, errors: Array) -> None:
        """Learn from the errors (H, q) of one step, one for each horizon that it was forecast at; NaN for none."""
        seen = np.isfinite(errors)
        horizons = np.arange(len(errors))
        # Of a series of few values, 0 and 1 or counts, most errors are equal to the band: rounding is no miss.
        outside = errors > self.issued[horizons, horizons] + _ROUNDING
        step = _RATE * ((1.0 - self.coverage) - outside)
        self.levels = np.where(seen, np.clip(self.levels + step, -1.0, 1.0), self.levels)
        h, j = np.nonzero(seen)
        self.errors[self.places[h, j], h, j] = errors[h, j]
        self.places[h, j] = (self.places[h, j] + 1) % _RECENT
        self.counts[h, j] = np.minimum(self.counts[h, j] + 1, _RECENT)
        self.issued = np.concatenate([self.half_widths()[None], self.issued[:-1]])

    def follow(self, forecasts: Array, truth: Array, record: Array | None = None) -> Array:
        """Observe the last steps one after another.

        Parameters
        ----------
        forecasts : ndarray (k + n, H, q)
            From the k = H origins before the steps, fewer at the start of a series, and from the steps themselves.
        truth : ndarray (n, q)
        record : ndarray of int, optional
            Steps after which the half-widths are wanted.

        Returns
        -------
        widths : ndarray (len(record), H, q)
        """
        n, k = len(truth), len(forecasts) - len(truth)
        horizon, q = self.levels.shape
        wanted = {} if record is None else {int(step): place for place, step in enumerate(record)}
        widths = np.empty((len(wanted), horizon, q))
        for step in range(n):
            errors = np.full((horizon, q), np.nan)
            reach = min(horizon, k + step)
            h = np.arange(reach)
            errors[:reach] = np.abs(truth[step] - forecasts[k + step - 1 - h, h])
            self.observe(errors)
            if step in wanted:
                widths[wanted[step]] = self.issued[0]
        return widths
