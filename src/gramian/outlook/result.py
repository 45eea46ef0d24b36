"""What was found about a series and its next steps: plain data, from which the page and the files are made.

Steps are in the order of time. Labels of time are texts, as people write them; without a column of time they are the
numbers of the rows, counted from 1.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from gramian.typing import Array

NAMES = {
    "networks": "echo state networks",
    "lags": "a linear model of the last values",
    "seasonal_naive": "the value one season ago",
    "naive": "the last value",
}
"""The rules that a forecaster compares, in the words of the report."""


@dataclass(frozen=True)
class Rival:
    """How one rule did in the backtest.

    Attributes
    ----------
    rule : str
        One of :data:`NAMES`, or "forecast" for the model as it is used, whichever rule that follows.
    mase : float
        Mean absolute error by that of the value one season (or one step) ago within the history; NaN where that is
        exact.
    nrmse : float
        Root mean squared error by the standard deviation of what was to be forecast.
    coverage : float
        Share of the values inside their band; NaN for rules without one.
    """

    rule: str
    mase: float
    nrmse: float
    coverage: float = float("nan")

    @property
    def name(self) -> str:
        return NAMES.get(self.rule, self.rule)


@dataclass(frozen=True)
class Outlook:
    """A series, its forecast, and how such forecasts did before.

    Attributes
    ----------
    source, column : str
        Name of the table, and of the column that is forecast.
    time : str or None
        Name of the column of time.
    labels, places, values : list of str (n,), ndarray (n,), ndarray (n,)
        The rows that were read: their times as texts and as numbers, and their values, NaN where one is missing.
    next_labels, next_places : list of str (h,), ndarray (h,)
        The same of the steps that are forecast.
    n_steps, n_missing : int
        Steps that the forecaster has seen, from the first to the last, and how many of them had no value.
    forecast, lower, upper : ndarray (h,)
    coverage : float
        Share of the values that the bands are to hold.
    chosen : str
        The rule that made the forecast, one of :data:`NAMES`.
    periods : list of int
        Steps of the seasons found or given.
    rivals : list of Rival
        The backtest; empty where the series is too short for one.
    origins : int
        Moments of the past from which the backtest forecast.
    errors : ndarray (h,)
        Mean absolute error of the backtest at each step ahead; empty without a backtest.
    known : list of str
        Columns whose coming values are known.
    notes : list of str
        What was done about order, gaps and duplicates of time.
    sentences : list of str
    made : dict
        Parameters, versions, seconds.
    tried : bool
        Whether the series was long enough to try networks.
    repeated : int
        Steps of the season whose repetition is the unit of errors in the backtest; 1 for the last value.
    """

    source: str
    column: str
    time: str | None
    labels: list[str]
    places: Array
    values: Array
    next_labels: list[str]
    next_places: Array
    n_steps: int
    n_missing: int
    forecast: Array
    lower: Array
    upper: Array
    coverage: float
    chosen: str
    periods: list[int]
    rivals: list[Rival]
    origins: int
    errors: Array
    known: list[str] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)
    sentences: list[str] = field(default_factory=list)
    made: dict[str, Any] = field(default_factory=dict)
    tried: bool = True
    repeated: int = 1

    @property
    def repeating(self) -> str:
        """What errors of the backtest are a multiple of, in words."""
        return "repeating the last season" if self.repeated > 1 else "repeating the last value"
