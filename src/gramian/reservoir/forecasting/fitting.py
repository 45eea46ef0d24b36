"""How a forecaster learns: units, reference and models, judged on the last steps of the series.

Used by :mod:`gramian.reservoir.forecasting.forecaster` alone.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from sklearn.base import clone

from gramian.randomness import spawn
from gramian.reservoir.forecasting.bands import AdaptiveBands
from gramian.reservoir.forecasting.holes import fill, last_values
from gramian.reservoir.forecasting.networks import DirectForecast, NetworkEnsemble, TooShort
from gramian.reservoir.forecasting.rules import Naive, SeasonalNaive
from gramian.reservoir.forecasting.transforms import Units, takes_log
from gramian.reservoir.forecasting.window import Layout, Window
from gramian.reservoir.reservoir import Reservoir
from gramian.typing import Array

_JUDGED = 0.2  # share of the steps, the last ones, that judge
_MOST_JUDGED = 20_000
_FEWEST = 30  # steps that a model is learned from and judged by, beyond those that its columns reach back to
_TRIED = 6  # horizons by which units and reference are chosen
_RECENT = 20_000  # steps from which they are chosen
_SIMPLER = 0.99  # share of a simpler rule's error that a rule must be below to be preferred
_LOG_HELPS = 0.99  # the same for logarithms
_LEAKS = (1.0, 0.3)
_UNITS, _FEWEST_UNITS = 400, 50
_EXACT = 1e-9  # an error, over the deviation of the series, that is rounding


@dataclass
class Models:
    """What was learned: rules by name, with their states, bands and errors."""

    units: Units
    layout: Layout
    window: Window
    rules: dict[str, Any]
    filler: Any  # the rule whose one-step forecasts fill holes
    limits: Array  # (2, q), least and largest value
    states: dict[str, Any]  # before the last H steps of the window
    bands: dict[str, AdaptiveBands]
    judged: dict[str, Array]  # errors from each origin of the last steps


class Fitting:
    """One call of ``fit``.

    Parameters
    ----------
    values : ndarray (n, q)
        With holes; the first row has a value in each column.
    others : ndarray (n, d)
        In standard units, without holes.
    layout : Layout
    reservoir : StateTransformer or None
    n_networks : int
    coverage : float
    random_state : int, Generator, RandomState or None
    """

    def __init__(
        self,
        values: Array,
        others: Array,
        layout: Layout,
        *,
        reservoir: Any,
        n_networks: int,
        coverage: float,
        random_state: Any,
    ) -> None:
        self.values, self.others, self.layout = values, others, layout
        self.reservoir, self.n_networks, self.coverage = reservoir, n_networks, coverage
        self.random_state = random_state
        n = len(values)
        self.first = min(max(layout.memory, min(100, n // 10)), n)
        usable = n - self.first
        self.cut = n - min(max(int(_JUDGED * usable), layout.horizon + 10), _MOST_JUDGED)
        self.enough = usable - (n - self.cut) - layout.horizon >= _FEWEST and n - self.cut > layout.horizon
        if layout.horizon > 1 and usable - (n - self.cut) < 2 * layout.horizon:
            self.enough = False

    def models(self, *, needs_network: bool) -> Models:
        """Learn all that the series is long enough for."""
        if needs_network and not self.enough:
            raise TooShort(
                f"y has {len(self.values)} steps, too few for a network with horizon={self.layout.horizon}, "
                f"lags={self.layout.lags} and period={self.layout.recalled or None}; pass a longer series, a smaller "
                "horizon, or safeguard=True"
            )
        try:
            return self._models()
        except TooShort:
            if needs_network:
                raise
            self.enough = False  # so many holes that only the simple rules are left
            return self._models()

    def _models(self) -> Models:
        units, layout = self._choice()
        window = self._window(units, layout)
        rules: dict[str, Any] = {"naive": Naive(layout.horizon)}
        if layout.recalled:
            rules["seasonal_naive"] = SeasonalNaive(layout.horizon, self._best_period(window))
        forecasts: dict[str, Array] = {}
        states: dict[str, Any] = {}
        limits = np.stack([np.where(window.known, window.values, s * np.inf) for s in (1, -1)])
        limits = np.stack([limits[0].min(axis=0), limits[1].max(axis=0)])
        filler = rules.get("seasonal_naive", rules["naive"])
        if self.enough:
            lags = DirectForecast(layout)
            networks = self._networks(units, layout)
            filler = self._refill(window, layout, limits)
            for name, rule in (("lags", lags), ("networks", networks)):
                rules[name] = rule
                forecasts[name], states[name] = rule.learn(window, self.first, self.cut)
        start = self.cut if self.enough else min(max(layout.recalled, default=1) - 1, window.stop - 1)
        for name in ("naive", "seasonal_naive"):
            if name in rules:
                forecasts[name], states[name] = rules[name].run(window, start, window.stop, None)
        truth = _ahead(window, start, layout.horizon)
        bands = {name: AdaptiveBands(np.abs(found - truth), self.coverage) for name, found in forecasts.items()}
        judged = {name: self._errors(units, found, truth) for name, found in forecasts.items()}
        return Models(units, layout, window, rules, filler, limits, states, bands, judged)

    def _choice(self) -> tuple[Units, Layout]:
        """Logarithms or not, and what forecasts are differences to: what a model on lags does best with."""
        layout = self.layout
        plain = Units(self.values)
        anchors = [0, *layout.recalled, -1]
        if not self.enough:
            return plain, layout.with_anchor(anchors[min(1, len(layout.recalled))])
        trials = [plain, Units(self.values, log=True)] if takes_log(self.values) else [plain]
        best, found = np.inf, (plain, layout)
        for units in trials:
            for anchor in anchors:
                trial = layout.with_anchor(anchor)
                error = self._trial(units, trial)
                if error < best * (_LOG_HELPS if units is not found[0] else 1.0):
                    best, found = error, (units, trial)
        return found

    def _trial(self, units: Units, layout: Layout, reservoir: Any = None) -> float:
        """Error of a direct model at a few horizons, learned from the recent steps."""
        window = self._window(units, layout)
        window = window.tail(max(_RECENT, 5 * (len(self.values) - self.cut)))
        horizons = np.unique(np.linspace(1, layout.horizon, _TRIED).round().astype(int)).tolist()
        model = DirectForecast(layout, reservoir, horizons)
        forecasts, _ = model.learn(window, max(self.first, window.first + layout.memory), self.cut)
        return self._error(units, forecasts, _ahead(window, self.cut, layout.horizon))

    def _window(self, units: Units, layout: Layout) -> Window:
        standard = units.standard(self.values)
        known = np.isfinite(standard)
        filled = last_values(standard, min(layout.recalled, default=0))
        return Window(0, filled, known, padded(self.others, layout.horizon))

    def _refill(self, window: Window, layout: Layout, limits: Array) -> DirectForecast:
        """Fill the holes anew, with the one-step forecasts of a model that learned from a simpler filling."""
        filler = DirectForecast(layout, horizons=[1])
        filler.learn(window, self.first, self.cut)
        fill(filler, window, window.first + 1, limits)
        return filler

    def _networks(self, units: Units, layout: Layout) -> NetworkEnsemble:
        seeds = [int(child.integers(2**31)) for child in spawn(self.random_state, self.n_networks)]
        base = self._default(units, layout, seeds[0]) if self.reservoir is None else self.reservoir
        members = []
        for seed in seeds:
            reservoir = clone(base)
            if "random_state" in reservoir.get_params(deep=False):
                reservoir.set_params(random_state=seed)
            members.append(DirectForecast(layout, reservoir))
        return NetworkEnsemble(members)

    def _default(self, units: Units, layout: Layout, seed: int) -> Reservoir:
        """A reservoir as fast or slow as suits the series."""
        size = min(_UNITS, max(_FEWEST_UNITS, len(self.values) // 5))
        found = [Reservoir(size, bias_scaling=0.2, leak_rate=leak, random_state=seed) for leak in _LEAKS]
        return min(found, key=lambda reservoir: self._trial(units, layout, clone(reservoir)))

    def _best_period(self, window: Window) -> int:
        """The season whose repetition was nearest to the series."""

        def error(m: int) -> float:
            return float(np.abs(window.values[m:] - window.values[:-m]).mean())

        return min((m for m in self.layout.recalled if m < len(window.values)), key=error)

    def _error(self, units: Units, forecasts: Array, truth: Array) -> float:
        """Mean absolute error, in units of each column's deviation."""
        errors = self._errors(units, forecasts, truth)
        known = np.isfinite(errors)
        return float(errors[known].mean()) if known.any() else np.inf

    def _errors(self, units: Units, forecasts: Array, truth: Array) -> Array:
        """Mean absolute error from each origin, (n,), in units of each column's deviation; NaN where none is known."""
        spread = np.nanstd(self.values, axis=0)
        errors = np.abs(units.original(forecasts) - units.original(truth)) / np.where(spread > 0, spread, 1.0)
        known = np.isfinite(errors)
        count = known.sum(axis=(1, 2))
        total = np.where(known, errors, 0.0).sum(axis=(1, 2))
        return np.where(count > 0, total / np.maximum(count, 1), np.nan)


def simplest(judged: dict[str, Array], horizon: int) -> str:
    """The rule with the least error; one that is less simple must be clearly better.

    Parameters
    ----------
    judged : dict of str to ndarray (n,)
        Errors of each rule from the same origins, one after another; NaN where nothing was known.
    horizon : int
        Errors of origins that are fewer steps apart are not independent.
    """
    best = "naive"
    for name in ("seasonal_naive", "lags", "networks"):
        if name not in judged:
            continue
        gain = judged[best] - judged[name]
        gain = gain[np.isfinite(gain)]
        blocks = [part.mean() for part in np.array_split(gain, max(len(gain) // horizon, 1)) if len(part)]
        if not blocks:
            continue
        doubt = float(np.std(blocks) / np.sqrt(max(len(blocks) - 1, 1)))
        least = max((1 - _SIMPLER) * float(np.nanmean(judged[best])) + _EXACT, doubt)
        if gain.mean() > least:
            best = name
    return best


def padded(others: Array, horizon: int) -> Array:
    """Exogenous rows, and the last of them repeated for the steps that are not known yet."""
    return np.vstack([others, np.repeat(others[-1:], horizon, axis=0)])


def _ahead(window: Window, start: int, horizon: int) -> Array:
    """What each origin from ``start`` on forecasts, (n, H, q); NaN where it is missing or still to come."""
    truth = np.where(window.known, window.values, np.nan)
    truth = np.vstack([truth, np.full((horizon, truth.shape[1]), np.nan)])[start - window.first :]
    n = window.stop - start
    return np.stack([truth[h : h + n] for h in range(1, horizon + 1)], axis=1)


__all__ = ["Fitting", "Models", "TooShort", "padded", "simplest"]
