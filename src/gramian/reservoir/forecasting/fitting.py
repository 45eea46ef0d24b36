"""How a forecaster learns: units, reference and models, judged on the last steps of the series.

Used by :mod:`gramian.reservoir.forecasting.forecaster` alone.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
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
_SIMPLER = 0.99  # a network must have less than this share of a simple rule's error to be preferred
_LOG_HELPS = 0.99
_EXACT = 1e-9  # an error, over the deviation of the series, that is rounding


@dataclass
class Models:
    """What was learned: rules by name, with their bands, errors and states."""

    units: Units
    layout: Layout
    window: Window
    rules: dict[str, Any]
    states: dict[str, Any]  # before the last H steps of the window
    bands: dict[str, AdaptiveBands]
    errors: dict[str, float] = field(default_factory=dict)


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
            raise ValueError(
                f"y has {len(self.values)} steps, too few for a network with horizon={self.layout.horizon}, "
                f"lags={self.layout.lags} and period={self.layout.recalled or None}; pass a longer series, a smaller "
                "horizon, or safeguard=True"
            )
        units, layout = self._choice()
        window = self._window(units, layout)
        rules: dict[str, Any] = {"naive": Naive(layout.horizon)}
        if layout.recalled:
            rules["seasonal_naive"] = SeasonalNaive(layout.horizon, self._best_period(window))
        forecasts, states = {}, {}
        if self.enough:
            lags = DirectForecast(layout)
            networks = self._networks(layout)
            if not window.known.all():
                self._refill(window, networks)
            for name, rule in (("lags", lags), ("networks", networks)):
                rules[name] = rule
                forecasts[name], states[name] = rule.learn(window, self.first, self.cut)
        judged = self.cut if self.enough else min(max(layout.recalled, default=1), window.stop - 1)
        for name in ("naive", "seasonal_naive"):
            if name in rules:
                forecasts[name], states[name] = rules[name].run(window, judged, window.stop, None)
        truth = _ahead(window, judged, layout.horizon)
        bands = {name: AdaptiveBands(np.abs(found - truth), self.coverage) for name, found in forecasts.items()}
        errors = {name: self._error(units, found, truth) for name, found in forecasts.items()}
        return Models(units, layout, window, rules, states, bands, errors)

    def _choice(self) -> tuple[Units, Layout]:
        """Logarithms or not, and what forecasts are differences to: what a model on lags does best with."""
        layout = self.layout
        plain = Units(self.values)
        anchors = [0, *layout.recalled, -1]
        if not self.enough:
            return plain, layout.with_anchor(anchors[min(1, len(layout.recalled))])
        horizons = np.unique(np.linspace(1, layout.horizon, _TRIED).round().astype(int)).tolist()
        trials = [plain, Units(self.values, log=True)] if takes_log(self.values) else [plain]
        cut_off = max(0, len(self.values) - max(_RECENT, 5 * (len(self.values) - self.cut)))
        best, found = np.inf, (plain, layout)
        for units in trials:
            window = self._window(units, layout)
            window = replace(window.tail(len(window.values) - cut_off))
            truth = _ahead(window, self.cut, layout.horizon)
            for anchor in anchors:
                trial = layout.with_anchor(anchor)
                forecasts, _ = DirectForecast(trial, horizons=horizons).learn(
                    window, max(self.first, window.first + layout.memory), self.cut
                )
                error = self._error(units, forecasts, truth)
                if error < best * (_LOG_HELPS if units is not found[0] else 1.0):
                    best, found = error, (units, trial)
        return found

    def _window(self, units: Units, layout: Layout) -> Window:
        standard = units.standard(self.values)
        known = np.isfinite(standard)
        filled = last_values(standard, min(layout.recalled, default=0))
        return Window(0, filled, known, padded(self.others, layout.horizon))

    def _refill(self, window: Window, networks: NetworkEnsemble) -> None:
        """Fill the holes anew, with the forecasts of networks that learned from a simpler filling."""
        networks.learn(window, self.first, self.cut)
        fill(networks, window, window.first, networks.start(), window.values[0])

    def _networks(self, layout: Layout) -> NetworkEnsemble:
        seeds = spawn(self.random_state, self.n_networks)
        members = []
        for seed in seeds:
            reservoir = self._default() if self.reservoir is None else clone(self.reservoir)
            if "random_state" in reservoir.get_params(deep=False):
                reservoir.set_params(random_state=int(seed.integers(2**31)))
            members.append(DirectForecast(layout, reservoir))
        return NetworkEnsemble(members)

    def _default(self) -> Reservoir:
        n = len(self.values)
        return Reservoir(min(400, max(50, n // 5)), bias_scaling=0.2, leak_rate=0.5)

    def _best_period(self, window: Window) -> int:
        """The season whose repetition was nearest to the series."""

        def error(m: int) -> float:
            return float(np.abs(window.values[m:] - window.values[:-m]).mean())

        return min((m for m in self.layout.recalled if m < len(window.values)), key=error)

    def _error(self, units: Units, forecasts: Array, truth: Array) -> float:
        """Mean absolute error, in units of each column's deviation."""
        found, true = units.original(forecasts), units.original(truth)
        spread = np.nanstd(self.values, axis=0)
        spread = np.where(spread > 0, spread, 1.0)
        errors = np.abs(found - true) / spread
        known = np.isfinite(errors)
        return float(errors[known].mean()) if known.any() else np.inf


def simplest(errors: dict[str, float]) -> str:
    """The rule with the least error; one that is less simple must be clearly better."""
    best = "naive"
    for name in ("seasonal_naive", "lags", "networks"):
        if name in errors and errors[name] < _SIMPLER * errors[best] - _EXACT:
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
