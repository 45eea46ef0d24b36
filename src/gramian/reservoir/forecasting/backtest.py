"""Forecast the end of a series as if it were the future, by networks and by simple rules, and compare them."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from sklearn.base import clone

from gramian.checks import whole
from gramian.metrics import interval_coverage
from gramian.reservoir.forecasting.networks import TooShort
from gramian.typing import Array

_TESTED = 0.2
_ROUNDING = 1e-12  # of the largest value


@dataclass(frozen=True, eq=False, repr=False)
class Backtest:
    """A comparison of forecasts with what came.

    Attributes
    ----------
    rows : list of dict
        For each rule "model", "mase", "nrmse", "coverage" of its bands, their mean "width" in units of the series, and
        whether it was "chosen" from the steps before. Errors are means over the series whose unit is not 0; NaN
        if there is none.
    origins : ndarray of int (k,)
        Steps that forecasts were made from.
    truth : ndarray (k, horizon, q)
    forecasts : dict of str to ndarray (k, horizon, q)
        Of each rule, in units of the series.
    lower, upper : dict of str to ndarray (k, horizon, q)
    scale : ndarray (q,)
        Mean absolute error of repeating the last season (the last value, where there is none) in the steps before; 0
        where that is exact, or never known.
    repeated : ndarray of int (q,)
        Steps of that season, the one that repeats best; 1 for the last value.
    """

    rows: list[dict[str, Any]]
    origins: Array
    truth: Array
    forecasts: dict[str, Array]
    lower: dict[str, Array]
    upper: dict[str, Array]
    scale: Array
    repeated: Array

    @cached_property
    def frame(self) -> Any:
        """The rows as a pandas DataFrame. Needs pandas."""
        try:
            import pandas as pd
        except ImportError as error:
            raise ImportError("Backtest.frame needs pandas; install it with: pip install 'gramian[app]'") from error
        return pd.DataFrame(self.rows)

    def __repr__(self) -> str:
        head = f"{'model':<16}{'MASE':>8}{'NRMSE':>8}{'coverage':>10}{'width':>12}"
        lines = [
            f"{row['model'] + (' *' if row['chosen'] else ''):<16}{row['mase']:>8.3f}{row['nrmse']:>8.3f}"
            f"{row['coverage']:>10.3f}{row['width']:>12.4g}"
            for row in self.rows
        ]
        return "\n".join([head, *lines])


def run_backtest(forecaster: Any, y: Any, X: Any, horizon: int | None, n_origins: int, known: Any) -> Backtest:
    """See :meth:`gramian.EchoStateForecaster.backtest`."""
    model = clone(forecaster)
    if horizon is not None:
        model.set_params(horizon=whole(horizon, "horizon"))
    model._check_parameters()
    h = int(model.horizon)
    n_wanted = whole(n_origins, "n_origins")
    read = model._read(y, X)
    _, _, values, others, _ = read
    n = len(values)
    tested = max(int(_TESTED * n), h + 1)
    if n - tested < h + 2:
        raise ValueError(f"horizon={h} is too long for a backtest on {n} steps; pass horizon <= {max((n - 3) // 3, 1)}")
    cut = n - tested
    model._fit_read(*_before(read, cut), known)
    room = tested - h  # origins whose whole horizon is known
    origins = np.unique(np.linspace(0, room - 1, min(n_wanted, room)).round().astype(int))
    found = model._advance(values[cut:], others[cut:], list(model._models.rules), record=origins)
    truth = np.stack([values[cut + origins + k] for k in range(1, h + 1)], axis=1)
    if not np.isfinite(truth).any():
        raise TooShort(f"none of the last {tested} values of y is known; a backtest needs some to compare with")
    scale, repeated = _scale(values[:cut], model.periods_)
    return _compared(model, origins + cut, truth, found, scale, repeated)


def _before(read: tuple[Any, ...], cut: int) -> tuple[Any, ...]:
    table, clock, values, others, names = read
    return table, clock, values[:cut], others[:cut], names


def _compared(
    model: Any, origins: Array, truth: Array, found: dict[str, Any], scale: Array, repeated: Array
) -> Backtest:
    units = model._models.units
    rows, forecasts, lower, upper = [], {}, {}, {}
    spread = np.nanmean((truth - np.nanmean(truth, axis=(0, 1))) ** 2, axis=(0, 1))
    rounding = _ROUNDING * np.nanmax(np.abs(truth), axis=(0, 1))
    spread = np.where(spread > rounding**2, spread, 0.0)
    for name, (standard, halves) in found.items():
        forecasts[name] = units.original(standard)
        lower[name], upper[name] = units.original(standard - halves), units.original(standard + halves)
        errors = truth - forecasts[name]
        known = np.isfinite(errors)
        with np.errstate(divide="ignore", invalid="ignore"):
            mase = np.nanmean(np.abs(errors), axis=(0, 1)) / scale
            nrmse = np.sqrt(np.nanmean(errors**2, axis=(0, 1)) / spread)
        rows.append(
            {
                "model": name,
                "mase": _mean_of_varying(mase, scale),
                "nrmse": _mean_of_varying(nrmse, spread),
                "coverage": interval_coverage(
                    truth[known], (lower[name] - rounding)[known], (upper[name] + rounding)[known]
                ),
                "width": float((upper[name] - lower[name]).mean()),
                "chosen": name == model.chosen_,
            }
        )
    rows.sort(key=lambda row: row["mase"])
    return Backtest(rows, origins, truth, forecasts, lower, upper, scale, repeated)


def _mean_of_varying(scores: Array, unit: Array) -> float:
    """Mean over the series whose unit is not 0; NaN if there is none."""
    return float(np.mean(scores[unit > 0])) if (unit > 0).any() else float("nan")


def _scale(values: Array, periods: tuple[int, ...]) -> tuple[Array, Array]:
    """Mean absolute error of repeating the last season, of the period that repeats best, and that period."""
    candidates = np.array([m for m in periods if m < len(values)] or [1])
    changes = [np.abs(values[m:] - values[:-m]) for m in candidates]
    counts = np.stack([np.isfinite(change).sum(axis=0) for change in changes])
    errors = np.stack([np.nansum(change, axis=0) for change in changes]) / np.maximum(counts, 1)
    errors = np.where(counts > 0, errors, np.inf)
    scale: Array = errors.min(axis=0)
    useless = ~np.isfinite(scale) | (scale <= _ROUNDING * np.nanmax(np.abs(values), axis=0))
    return np.where(useless, 0.0, scale), candidates[errors.argmin(axis=0)]
