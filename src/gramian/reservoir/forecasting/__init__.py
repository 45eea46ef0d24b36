"""Forecasts of series with bands, holes and a safeguard, by ensembles of echo state networks."""

from gramian.reservoir.forecasting.backtest import Backtest
from gramian.reservoir.forecasting.forecaster import EchoStateForecaster
from gramian.reservoir.forecasting.networks import TooShort

__all__ = ["Backtest", "EchoStateForecaster", "TooShort"]
