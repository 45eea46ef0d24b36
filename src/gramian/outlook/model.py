"""What is kept of a series to forecast it again when later values have come."""

from __future__ import annotations

import os
from typing import Any

import numpy as np
from sklearn.base import BaseEstimator

from gramian.outlook.reading import Series
from gramian.persistence import load_whole
from gramian.reservoir import EchoStateForecaster
from gramian.typing import Array

_KEPT = 2000  # steps of the history that a later report shows


class SeriesModel(BaseEstimator):
    """A fitted forecaster with the names of its columns and the end of the series.

    Made by :func:`gramian.outlook.foresee` and saved as ``model.gramian``.

    Parameters
    ----------
    forecaster : EchoStateForecaster
        Fitted.
    column : str
        The column that is forecast.
    time : str, optional
        The column of time.
    known : list of str, optional
        Columns known in advance.

    Attributes
    ----------
    values_ : ndarray (at most 2,000,)
        The last steps of the series.
    times_ : ndarray of int64
        Microseconds since 1970 of these steps, or their numbers where the column of time has numbers or is missing.
    dated_ : bool
        Whether the times are dates.
    kinds_, forms_, missing_ : dict of str, dict of str, list of str
        How the columns were read, so that later rows are read alike: see :class:`gramian.tables.Reading`.
    """

    def __init__(
        self,
        forecaster: Any = None,
        column: str = "",
        time: str | None = None,
        known: list[str] | None = None,
    ) -> None:
        self.forecaster = forecaster
        self.column = column
        self.time = time
        self.known = known

    def remember(self, values: Any) -> None:
        """Keep the last steps of a pandas series."""
        tail = values.iloc[-_KEPT:]
        self.values_ = tail.to_numpy(np.float64)
        self.times_, self.dated_ = _numbers(tail.index)

    def remember_reading(self, series: Series) -> None:
        """Keep how the columns of a series were read."""
        self.kinds_ = {column.name: column.kind for column in series.columns}
        self.forms_ = {column.name: column.form for column in series.columns}
        self.missing_ = list(series.missing)

    @property
    def history(self) -> Any:
        """The steps that are kept, as a pandas series."""
        import pandas as pd

        if self.time is None:
            index: Any = pd.RangeIndex(int(self.times_[0]), int(self.times_[-1]) + 1)
        elif not self.dated_:
            index = pd.Index(self.times_, name=self.time)
        else:
            index = pd.DatetimeIndex(self.times_.astype("datetime64[us]"), name=self.time)
        return pd.Series(self.values_, index=index, name=self.column)

    def facts(self) -> dict[str, Any]:
        """What ``gramian info`` says of it."""
        model = self.forecaster
        told: dict[str, Any] = {"forecasts": self.column}
        told |= {"time": self.time} if self.time is not None else {}
        told |= {"known in advance": self.known} if self.known else {}
        told |= {"steps seen": model.n_steps_, "steps ahead": model.horizon}
        return told | {"seasons": [str(period) for period in model.periods_] or ["none"]}

    def check(self) -> None:
        """Raise an error if a part is missing or does not fit the others: forecast a step."""
        if not isinstance(self.forecaster, EchoStateForecaster):
            raise TypeError("the forecaster is of another kind")
        if len(self.values_) != len(self.times_) or not len(self.values_):
            raise ValueError("its parts disagree on the number of steps")
        if set(self.kinds_) != set(self.forms_) or not isinstance(self.missing_, list):
            raise ValueError("its parts disagree on the columns")
        if not self.known:
            self.forecaster.predict(1)


def load_series_model(path: str | os.PathLike[str]) -> SeriesModel:
    """Read the model that a forecast has written, and check that it is complete.

    Parameters
    ----------
    path : str or path-like
        A ``model.gramian``.

    Returns
    -------
    model : SeriesModel

    Raises
    ------
    ModelFileError
        If the file is no model file, holds another model, or a model that lacks one of its parts.
    """
    return load_whole(path, SeriesModel, writer="forecast", again="forecast the series again")


def _numbers(index: Any) -> tuple[Array, bool]:
    import pandas as pd

    if isinstance(index, pd.DatetimeIndex):
        return index.to_numpy("datetime64[us]").astype(np.int64), True
    return index.to_numpy(), False
