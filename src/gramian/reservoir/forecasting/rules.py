"""Simple rules that a forecast must beat: the last value, and the value of the last season.

A linear model on lags, the third rule, is :class:`gramian.reservoir.forecasting.networks.DirectForecast` without a
reservoir; all have the same method ``run``.
"""

from __future__ import annotations

import numpy as np

from gramian.reservoir.forecasting.window import Window, seasonal
from gramian.typing import Array


class Naive:
    """Every forecast is the last value."""

    def __init__(self, horizon: int) -> None:
        self.horizon = horizon

    def start(self) -> None:
        return None

    def run(
        self, window: Window, start: int, stop: int, state: None = None, ahead: int | None = None
    ) -> tuple[Array, None]:
        """Forecasts (stop − start, H, q) from these origins."""
        last = window.values[start - window.first : stop - window.first]
        return np.repeat(last[:, None, :], ahead or self.horizon, axis=1), None


class SeasonalNaive:
    """Every forecast is the value at the same phase of the last season."""

    def __init__(self, horizon: int, period: int) -> None:
        self.horizon, self.period = horizon, period

    def start(self) -> None:
        return None

    def run(
        self, window: Window, start: int, stop: int, state: None = None, ahead: int | None = None
    ) -> tuple[Array, None]:
        """Forecasts (stop − start, H, q) from these origins."""
        steps = np.arange(start, stop)
        found = [seasonal(window, steps, h, self.period) for h in range(1, (ahead or self.horizon) + 1)]
        return np.stack(found, axis=1), None
