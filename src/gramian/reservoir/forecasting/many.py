"""Backtests of many series, one task each: in this process, in others by joblib, or where Dask holds the series."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from joblib import Parallel, delayed

from gramian.partitions import is_distributed
from gramian.reservoir.forecasting.backtest import Backtest, run_backtest


def run_backtests(
    forecaster: Any, series: Any, horizon: int | None, n_origins: int, n_jobs: int | None
) -> dict[Any, Backtest]:
    """See :meth:`gramian.EchoStateForecaster.backtest_each`."""
    named = _named(series)
    if not named:
        raise ValueError("series is empty; pass at least one series")
    calls = [(forecaster, name, one, horizon, n_origins) for name, one in named.items()]
    if any(is_distributed(one) for one in named.values()):
        import dask

        alone = dask.delayed(_one, traverse=False, pure=False)
        found = dask.compute(*(alone(*call) for call in calls))
    else:
        found = Parallel(n_jobs=n_jobs)(delayed(_one)(*call) for call in calls)
    return dict(zip(named, found, strict=True))


def _one(forecaster: Any, name: Any, y: Any, horizon: int | None, n_origins: int) -> Backtest:
    try:
        return run_backtest(forecaster, y, None, horizon, n_origins, None)
    except ValueError as error:
        raise ValueError(f"series {name!r}: {error}") from error


def _named(series: Any) -> dict[Any, Any]:
    """The series by name, or by number where they have none."""
    if isinstance(series, Mapping):
        return dict(series)
    if getattr(series, "ndim", 2) != 2:
        raise ValueError("series is one series; pass a list of series, or backtest(series)")
    if hasattr(series, "columns") and hasattr(series, "dtypes") and hasattr(series, "index"):  # of pandas or Dask
        return _columns(series)
    if getattr(series, "ndim", 0) == 2:
        return {j: _whole(series[:, j]) for j in range(series.shape[1])}
    return {i: _whole(one) for i, one in enumerate(series)}


def _columns(frame: Any) -> dict[Any, Any]:
    """Every column by itself, with the times that stand in a column."""
    from pandas.api.types import is_datetime64_any_dtype

    dated = [name for name in frame.columns if is_datetime64_any_dtype(frame.dtypes[name])]
    others = [name for name in frame.columns if name not in dated]
    return {name: _whole(frame[[*dated, name]] if dated else frame[name]) for name in others}


def _whole(one: Any) -> Any:
    """A series in one piece, put together by the worker that needs it."""
    if not hasattr(one, "npartitions") or not hasattr(one, "to_delayed"):
        return one
    import dask

    return dask.delayed(_joined)(list(one.to_delayed().ravel() if hasattr(one, "chunks") else one.to_delayed()))


def _joined(parts: list[Any]) -> Any:
    import numpy as np

    if isinstance(parts[0], np.ndarray):
        return np.concatenate(parts)
    import pandas as pd

    return pd.concat(parts)
