"""Forecast a series with prediction bands, and compare with simple rules.

The application behind ``gramian.forecast`` and ``gramian forecast``: it reads a table whose rows are steps of time
(:mod:`gramian.outlook.reading`), forecasts with :class:`gramian.EchoStateForecaster` and says what was found as plain
data, which :mod:`gramian.report` writes.
"""

from gramian.outlook.analyse import foresee, go_on
from gramian.outlook.model import SeriesModel, load_series_model
from gramian.outlook.reading import Series, read_series
from gramian.outlook.result import Outlook, Rival

__all__ = ["Outlook", "Rival", "Series", "SeriesModel", "foresee", "go_on", "load_series_model", "read_series"]
