"""``gramian.forecast``: one call from a series to its next steps with bands, a report and a model that goes on.

Beside :mod:`gramian.explorer`, :mod:`gramian.learner` and :mod:`gramian.networker`: it reads and forecasts
(:mod:`gramian.outlook`) and writes (:mod:`gramian.report`).
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence
from copy import deepcopy
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from gramian.outcome import Outcome
from gramian.outlook import Outlook, Series, SeriesModel, foresee, go_on, read_series
from gramian.report import forecast_steps, forecast_summary, write_forecast_folder, write_forecast_report

__all__ = ["Forecasted", "forecast", "forecast_again"]


@dataclass(frozen=True, repr=False)
class Forecasted(Outcome):
    """What :func:`forecast` found about a series and its next steps.

    Attributes
    ----------
    found : Outlook
        Everything, as plain data.
    model : SeriesModel
        To go on with; ``gramian.save(model, path)`` keeps it, and ``gramian forecast`` reads it.
    """

    found: Outlook
    model: SeriesModel

    @property
    def steps(self) -> Any:
        """One row per step to come: time, forecast, lower and upper end of its band; a pandas DataFrame."""
        return forecast_steps(self.found)

    @property
    def rules(self) -> Any:
        """How the networks and the simple rules did when looking back; a pandas DataFrame."""
        import pandas as pd

        names = ["rule", "mase", "nrmse", "coverage"]
        rows = [(rival.name, rival.mase, rival.nrmse, rival.coverage) for rival in self.found.rivals]
        return pd.DataFrame(rows, columns=names).set_index("rule")

    def update(self, source: Any, horizon: int | None = None) -> Forecasted:
        """The forecast after later values have come; nothing is learned anew, and this one stays as it is.

        Parameters
        ----------
        source : what :func:`forecast` reads
            Later rows, with the same columns.
        horizon : int, optional
        """
        return forecast_again(deepcopy(self.model), source, horizon=horizon)

    def summary(self) -> dict[str, Any]:
        """The findings without the single steps of the history, ready for JSON."""
        return forecast_summary(self.found)

    def _write_report(self, path: Path) -> Path:
        return write_forecast_report(self.found, path)

    def _write_folder(self, folder: Path, *, force: bool) -> None:
        write_forecast_folder(self.found, self.model, folder, force=force)


def forecast(
    source: Any,
    column: str | None = None,
    *,
    horizon: int = 12,
    time: str | None = None,
    known: Sequence[str] = (),
    period: Any = "auto",
    coverage: float = 0.9,
    safeguard: bool = True,
    missing: Collection[Any] = (),
    random_state: int = 0,
    notify: Callable[[str, float], None] | None = None,
) -> Forecasted:
    """Forecast the next steps of a series, with bands, and report the error of past forecasts.

    Missing values and gaps in time are welcome; nothing has to be tuned.

    Parameters
    ----------
    source : path, open file, pandas or polars data frame, pandas series, Table or Series
        A table whose rows are steps of time, or what :func:`gramian.outlook.read_series` has read of one. An index of
        dates is a column of time.
    column : str, optional
        The column to forecast; by default the only one of numbers.
    horizon : int, default 12
        How many steps to forecast.
    time : str, optional
        The column of time; by default the first one of dates. Without any, the rows are the steps.
    known : sequence of str
        Columns whose values are known in advance. The rows after the last value of ``column`` hold the coming ones.
    period : int, sequence of int, None or "auto", default "auto"
        Steps of a season, or of several.
    coverage : float, default 0.9
        Share of the values to come that the bands are to hold.
    safeguard : bool, default True
        Let a simple rule make the forecast where it does as well as the networks.
    missing : collection of str or numbers
        Codes of missing values, such as -999.
    random_state : int, default 0
    notify : callable, optional
        Called with the name of each stage and the part of the work done before it.

    Returns
    -------
    forecasted : Forecasted

    Examples
    --------
    >>> import numpy as np, pandas as pd
    >>> import gramian
    >>> rng = np.random.default_rng(0)
    >>> days = pd.date_range("2024-01-01", periods=300, freq="D")
    >>> sold = 100 + 20 * np.sin(2 * np.pi * np.arange(300) / 7) + rng.normal(size=300)
    >>> found = gramian.forecast(pd.DataFrame({"day": days, "sold": sold}), horizon=7)
    >>> found.found.periods, list(found.steps), found.steps["day"].iloc[0]
    ([7], ['day', 'forecast', 'lower', 'upper'], '2024-10-27')
    """
    series = source
    if not isinstance(source, Series):
        series = read_series(source, column, time=time, known=known, missing=missing)
    found, model = foresee(
        series,
        horizon,
        period=period,
        coverage=coverage,
        safeguard=safeguard,
        random_state=random_state,
        notify=notify,
    )
    return Forecasted(found, model)


def forecast_again(
    model: SeriesModel,
    source: Any = None,
    *,
    horizon: int | None = None,
    coverage: float | None = None,
    missing: Collection[Any] = (),
) -> Forecasted:
    """Go on with a model of a series, after later values if there are some; the model is changed by them.

    Parameters
    ----------
    model : SeriesModel
    source : what :func:`forecast` reads, optional
        Later rows, read as those of the series were.
    horizon, coverage : int and float, optional
        Those of the model by default.
    missing : collection of str or numbers
        Codes of missing values beside those of the series.
    """
    later = None
    if source is not None:
        later = read_series(source, model.column, time=model.time, known=model.known or (), missing=missing, like=model)
    return Forecasted(*go_on(model, later, horizon, coverage))
