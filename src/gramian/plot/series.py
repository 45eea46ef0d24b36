"""A series, its forecast, and the band that holds what comes with a given frequency."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from gramian.checks import whole
from gramian.plot.canvas import Colours, asked, axes_for, short
from gramian.typing import Array

if TYPE_CHECKING:
    from matplotlib.axes import Axes

_HISTORY = 5  # horizons of history that are drawn
_LEAST_HISTORY = 60


def forecast(
    model: Any,
    y: Any = None,
    *,
    horizon: int | None = None,
    X: Any = None,
    actual: Any = None,
    coverage: float | None = None,
    history: int | None = None,
    ax: Axes | None = None,
) -> Axes:
    """Draw the last part of a series, its forecast and the forecast's band.

    Parameters
    ----------
    model : fitted forecaster with ``predict`` and ``predict_interval``
        As :class:`gramian.EchoStateForecaster`, or what :func:`gramian.forecast` returns, which needs no y.
    y : array-like (T,), series or frame, optional
        The series that was fitted, up to the step before the forecast. Without it only the forecast is drawn.
    horizon : int, optional
        Steps to forecast; that of the model by default.
    X : array-like (horizon, d) or frame, optional
        Columns known in advance, where the model was fitted with them.
    actual : array-like (h,), optional
        What came, to compare with.
    coverage : float, optional
        Of the band; that of the model by default.
    history : int, optional
        Steps of y to draw; by default five times the horizon, and at least 60.
    ax : Axes, optional

    Returns
    -------
    ax : Axes

    Examples
    --------
    >>> from gramian import EchoStateForecaster, plot
    >>> from gramian.datasets import load_series
    >>> y = load_series("sunspots_yearly").values[:, 0]
    >>> model = EchoStateForecaster(horizon=11, random_state=0).fit(y)
    >>> ax = plot.forecast(model, y)
    >>> [line.get_label() for line in ax.lines]
    ['history', 'forecast']
    """
    found = getattr(model, "found", None)
    if found is not None and hasattr(found, "next_places"):
        dated = bool(getattr(model.model, "dated_", False))
        past, ahead = (_moments(places, dated) for places in (found.places, found.next_places))
        band = np.column_stack([found.lower, found.upper])
        middle, name = np.asarray(found.forecast), short(found.column)
        drawn = _Drawn(past, np.asarray(found.values), ahead, middle, band, float(found.coverage), name)
    else:
        drawn = _asked(model, y, horizon, X, coverage)
    ax = axes_for(ax, (7.6, 4.0))
    colours = Colours.on(ax)
    most = max(_HISTORY * len(drawn.middle), _LEAST_HISTORY)
    shown = most if history is None else whole(history, "history", least=0)
    if len(drawn.values):
        start = max(len(drawn.values) - shown, 0)
        ax.plot(drawn.past[start:], drawn.values[start:], color=colours.quiet, linewidth=1.3, label="history")
    ax.fill_between(
        drawn.ahead, drawn.band[:, 0], drawn.band[:, 1], color=colours.group(0), alpha=0.22, linewidth=0,
        label=f"{100 * drawn.coverage:.0f} % band",
    )  # fmt: skip
    mark = "o" if len(drawn.middle) == 1 else None
    ax.plot(drawn.ahead, drawn.middle, color=colours.group(0), linewidth=2, marker=mark, label="forecast")
    if actual is not None:
        came = np.asarray(actual, dtype=float).ravel()[: len(drawn.ahead)]
        ax.plot(drawn.ahead[: len(came)], came, color=colours.group(1), linewidth=1.4, label="what came")
    if drawn.name:
        ax.set_ylabel(drawn.name)
    if drawn.past.dtype.kind not in "M" and drawn.ahead.dtype.kind not in "M":
        ax.set_xlabel("step")
    else:
        from matplotlib import dates

        kinds: Any = dates  # matplotlib has no types for them
        places = kinds.AutoDateLocator()
        ax.xaxis.set_major_locator(places)
        ax.xaxis.set_major_formatter(kinds.ConciseDateFormatter(places))
    ax.margins(x=0.01)
    ax.legend(loc="upper left", ncols=4, frameon=False, bbox_to_anchor=(0.0, 1.12))
    return ax


@dataclass(frozen=True)
class _Drawn:
    """A forecast as arrays: times and values of the past, times, middle and band of what comes."""

    past: Array
    values: Array
    ahead: Array
    middle: Array
    band: Array
    coverage: float
    name: str


def _asked(model: Any, y: Any, horizon: int | None, X: Any, coverage: float | None) -> _Drawn:
    intervals = asked(model, "predict_interval", question="plot.forecast", models="EchoStateForecaster and its like")
    steps = asked(model, "n_steps_", question="plot.forecast", models="EchoStateForecaster and its like")
    if int(model.n_series_) > 1:
        raise ValueError(f"the model forecasts {model.n_series_} series; plot.forecast draws one: fit it to one column")
    told = model.predict(horizon, X=X)
    band = np.asarray(intervals(horizon, coverage, X=X), dtype=float)
    middle = np.asarray(told, dtype=float).ravel()
    values, past, name = _series(y, int(steps))
    if len(values) > steps:
        raise ValueError(f"y has {len(values)} steps and the model has seen {steps}; pass later ones as actual=")
    ahead = _times(told)
    if ahead is None or past.dtype.kind != ahead.dtype.kind:
        ahead = int(steps) + np.arange(len(middle))
        past = np.arange(int(steps) - len(values), int(steps))
    return _Drawn(past, values, ahead, middle, band.reshape(-1, 2), float(coverage or model.coverage), name)


def _series(y: Any, steps: int) -> tuple[Array, Array, str]:
    """Values, times (or the numbers of steps) and name of the series."""
    if y is None:
        return np.empty(0), np.empty(0, dtype="datetime64[ns]"), ""
    values = np.asarray(y, dtype=float)
    if values.ndim == 2 and values.shape[1] == 1:
        values = values[:, 0]
    if values.ndim != 1:
        raise ValueError(f"y has shape {values.shape}; plot.forecast draws one series: pass one column")
    times = _times(y)
    name = getattr(y, "name", None)
    return values, np.arange(steps - len(values), steps) if times is None else times, short(name) if name else ""


def _times(series: Any) -> Array | None:
    """The dates of a pandas series or frame; None of anything else."""
    index = getattr(series, "index", None)
    if index is None or callable(index):
        return None
    found = np.asarray(index.to_timestamp() if hasattr(index, "to_timestamp") else index)
    return found if found.dtype.kind == "M" else None


def _moments(places: Array, dated: bool) -> Array:
    """Places of an outlook as dates, of which they are seconds, or as they are."""
    return (1e6 * np.asarray(places)).astype("datetime64[us]") if dated else np.asarray(places)
