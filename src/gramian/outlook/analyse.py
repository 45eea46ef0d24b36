"""Forecast a series, or go on with one whose later values have come, and look at how such forecasts did before."""

from __future__ import annotations

import importlib.metadata
import re
import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import replace
from typing import Any

import numpy as np

import gramian
from gramian.exploration.stages import Stages
from gramian.exploration.wording import count
from gramian.outlook.model import SeriesModel
from gramian.outlook.reading import Series, labels_of
from gramian.outlook.result import Outlook, Rival
from gramian.outlook.sentences import overview
from gramian.reservoir import EchoStateForecaster, TooShort
from gramian.typing import Array

_ORIGINS = 60
_WORK = {"learning": 4.0, "forecasting": 0.5, "looking back": 4.0}


def foresee(
    series: Series,
    horizon: int,
    *,
    period: Any = "auto",
    coverage: float = 0.9,
    safeguard: bool = True,
    random_state: int = 0,
    notify: Callable[[str, float], None] | None = None,
) -> tuple[Outlook, SeriesModel]:
    """Forecast the steps that follow a series.

    Parameters
    ----------
    series : Series
    horizon : int
        How many steps.
    period : int, sequence of int, None or "auto"
        Steps of the seasons.
    coverage : float
        Of the bands.
    safeguard : bool
        Whether a simple rule makes the forecast where it does as well as the networks.
    random_state : int
    notify : callable, optional
        Called with the name of each stage and the part of the work done before it.

    Returns
    -------
    outlook : Outlook
    model : SeriesModel
    """
    stages, notes = Stages(_WORK, notify), list[str]()
    _ahead(series, list(series.known) if series.known is not None else [], horizon)  # before any work is done
    forecaster = EchoStateForecaster(
        horizon, period=period, coverage=coverage, safeguard=safeguard, random_state=random_state
    )
    with stages("learning"), _noted(notes):
        forecaster.fit(series.values, series.known)
    model = SeriesModel(forecaster, series.column, series.time, None if series.known is None else list(series.known))
    model.remember(series.values)
    model.remember_reading(series)
    with stages("forecasting"):
        outlook = _outlook(series, model, horizon, series.values, [*series.notes, *notes])
    with stages("looking back"), _noted([]):
        found = None
        if forecaster.n_steps_ >= 3 * (horizon + 1):
            # The steps before the last fifth may be too few, or too full of holes, though all together are enough.
            with suppress(TooShort):
                found = forecaster.backtest(series.values, series.known, n_origins=_ORIGINS)
        if found is not None:
            chosen = found.forecasts.get(forecaster.chosen_)
            rivals = [Rival(row["model"], row["mase"], row["nrmse"], row["coverage"]) for row in found.rows]
            outlook = replace(
                outlook,
                rivals=rivals,
                origins=len(found.origins),
                repeated=int(found.repeated[0]),
                errors=np.empty(0) if chosen is None else _mean_by_step(np.abs(found.truth - chosen)),
            )
    outlook.made.update(_made(stages, forecaster, random_state))
    outlook.sentences.extend(overview(outlook))
    return outlook, model


def go_on(
    model: SeriesModel, later: Series | None, horizon: int | None = None, coverage: float | None = None
) -> tuple[Outlook, SeriesModel]:
    """Forecast again, after later values of the series if there are some; nothing is learned again.

    Parameters
    ----------
    model : SeriesModel
        Changed in place by the later values.
    later : Series or None
        Later values, coming values of columns known in advance, or both.
    horizon, coverage : int and float, optional
        Those of the model by default.
    """
    history, notes = model.history, list[str]()
    ahead = None
    if later is not None:
        values, known, ahead = _after(history, later, notes) if model.time is not None else _rows(later)
        if len(values):
            with _noted(notes):
                model.forecaster.update(values, known)
            history = _joined(history, values)
            model.remember(history)
    source = "the model" if later is None else later.source
    series = Series(source, model.column, model.time, history, None, ahead, [])
    steps = int(model.forecaster.horizon) if horizon is None else horizon
    outlook = _outlook(series, model, steps, history, notes + ([] if later is None else later.notes), coverage)
    outlook.sentences.extend(overview(outlook))
    return outlook, model


def _rows(series: Series) -> tuple[Any, Any, Any]:
    return series.values, series.known, series.ahead


def _after(history: Any, later: Series, notes: list[str]) -> tuple[Any, Any, Any]:
    """The rows of a series that follow those of the history, by time."""
    end = history.index[-1]
    found = [part if part is None else part[np.asarray(part.index > end)] for part in _rows(later)]
    values: Any = found[0]
    known, ahead = found[1:]
    if not len(values) and (ahead is None or not len(ahead)):
        raise ValueError(
            f"{later.source} has no row after {labels_of(history.index[-1:])[0]}, where the series of the model ends; "
            "pass later rows"
        )
    if left := len(later.values) - len(values):
        notes.append(f"{count(left, 'row')} {'was' if left == 1 else 'were'} known already and left out.")
    return values, known, ahead


def _joined(history: Any, values: Any) -> Any:
    import pandas as pd

    if isinstance(history.index, pd.RangeIndex):
        start = history.index.stop
        values = values.set_axis(pd.RangeIndex(start, start + len(values)))
        both = pd.concat([history, values])
        return both.set_axis(pd.RangeIndex(history.index.start, start + len(values)))
    return pd.concat([history, values])


def _outlook(
    series: Series,
    model: SeriesModel,
    horizon: int,
    history: Any,
    notes: list[str],
    coverage: float | None = None,
) -> Outlook:
    """The forecast, without a look back."""
    forecaster = model.forecaster
    ahead = _ahead(series, model.known or [], horizon)
    said, ends = forecaster.predict(horizon, ahead), forecaster.predict_interval(horizon, coverage, X=ahead)
    return Outlook(
        series.source,
        model.column,
        model.time,
        labels_of(history.index),
        _places(history.index),
        history.to_numpy(np.float64),
        labels_of(said.index),
        _places(said.index),
        forecaster.n_steps_,
        forecaster.n_missing_,
        said.to_numpy(np.float64),
        ends["lower"].to_numpy(np.float64),
        ends["upper"].to_numpy(np.float64),
        float(forecaster.coverage if coverage is None else coverage),
        forecaster.chosen_,
        list(forecaster.periods_),
        [],
        0,
        np.empty(0),
        known=list(model.known or ()),
        notes=notes,
        tried="networks" in forecaster.errors_,
    )


def _mean_by_step(errors: Array) -> Array:
    """Means (h,) of errors (k, h, q) from all origins; NaN for a step ahead of which no value is known."""
    known = np.isfinite(errors)
    total, seen = np.where(known, errors, 0.0).sum(axis=(0, 2)), known.sum(axis=(0, 2))
    return np.where(seen > 0, total / np.maximum(seen, 1), np.nan)


def _ahead(series: Series, known: list[str], horizon: int) -> Any:
    """The coming values of the columns known in advance; None if there are no such columns."""
    given = 0 if series.ahead is None else len(series.ahead)
    if known and given < horizon:
        last = f"after the last {series.column}"
        where = f"{series.source} has {given} rows {last}" if series.ahead is not None else "there are none"
        raise ValueError(
            f"the next {horizon} values of {', '.join(known)} are needed, but {where}; pass rows {last} in which "
            f"{series.column} is left empty, shorten --horizon, or leave --known out"
        )
    return series.ahead.iloc[:horizon] if known else None


@contextmanager
def _noted(notes: list[str]) -> Iterator[None]:
    """Take down what the forecaster warns of, as sentences."""
    with warnings.catch_warnings(record=True) as told:
        warnings.simplefilter("always", UserWarning)
        yield
    for warning in told:
        text = re.sub("^y (?=does)", "the series ", str(warning.message).removeprefix("y: "))
        sentence = text[:1].upper() + text[1:].rstrip(".") + "."
        if issubclass(warning.category, UserWarning) and sentence not in notes:
            notes.append(sentence)


def _places(index: Any) -> Array:
    """Times as numbers, for a picture."""
    import pandas as pd

    if isinstance(index, pd.DatetimeIndex):
        return index.to_numpy("datetime64[us]").astype(np.int64) / 1e6
    return np.asarray(index, np.float64)


def _made(stages: Stages, forecaster: EchoStateForecaster, seed: int) -> dict[str, Any]:
    names = ("numpy", "scipy", "scikit-learn", "pandas")
    return {
        "parameters": {
            "horizon": int(forecaster.horizon),
            "seasons": list(forecaster.periods_) or "none",
            "networks": int(forecaster.n_networks),
            "last values used": forecaster.lags_,
            "logarithms": forecaster.log_,
            "safeguard": bool(forecaster.safeguard),
            "seed": seed,
        },
        "versions": {"gramian": gramian.__version__} | {name: importlib.metadata.version(name) for name in names},
        "seconds": {name: round(seconds, 1) for name, seconds in stages.seconds.items()},
    }
