"""Scores for forecasts and their intervals."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from gramian.checks import whole
from gramian.typing import Array


def nrmse(y_true: ArrayLike, y_pred: ArrayLike) -> float:
    """Root mean square error over the standard deviation of the truth: 0 for a perfect forecast, 1 for the mean.

    NRMSE = √( Σ_t ‖y_t − ŷ_t‖² / Σ_t ‖y_t − mean(y)‖² ); for one output it is √(1 − R²).

    Parameters
    ----------
    y_true : array-like of shape (n,) or (n, q)
        Steps with a missing value (NaN) are left out.
    y_pred : array-like of the same shape

    Returns
    -------
    float

    Examples
    --------
    >>> from gramian.metrics import nrmse
    >>> nrmse([1.0, 2.0, 3.0], [2.0, 2.0, 2.0])
    1.0
    """
    true, found = _forecast(y_true, y_pred)
    centred = true - true[:1]  # exactly zero where nothing varies, which differences from a mean need not be
    unit = float(np.abs(centred).max())  # squares of large or small errors leave the range of numbers
    if not unit > 0:
        raise ValueError(
            "y_true does not vary, so errors cannot be measured by its deviation; use the mean square error"
        )
    centred /= unit
    spread = ((centred - centred.mean(axis=0)) ** 2).sum()
    return float(np.sqrt((((true - found) / unit) ** 2).sum() / spread))


def mase(y_true: ArrayLike, y_pred: ArrayLike, y_train: ArrayLike, *, period: int = 1) -> float:
    """Mean absolute error over that of the seasonal naive forecast on the training series.

    MASE = mean_t abs(y_t − ŷ_t) / mean_t abs(x_t − x_{t−period}). Below 1 the forecast is better than repeating the
    last season, as that does one season ahead on the training series x. Several outputs are averaged, each over its
    own.

    Parameters
    ----------
    y_true, y_pred : array-like of shape (n,) or (n, q)
        Steps with a missing true value (NaN) are left out.
    y_train : array-like of shape (T,) or (T, q)
        In the order of time, holes allowed.
    period : int, default 1
        Steps of a season; 1 compares with the last value.

    Returns
    -------
    float

    References
    ----------
    R. J. Hyndman, A. B. Koehler, "Another look at measures of forecast accuracy", International Journal of
    Forecasting 22 (2006).

    Examples
    --------
    >>> from gramian.metrics import mase
    >>> mase([5.0, 6.0], [5.5, 6.5], [1.0, 2.0, 3.0, 4.0])
    0.5
    """
    true, found = _forecast(y_true, y_pred)
    series = np.asarray(y_train, np.float64)
    series = series[:, None] if series.ndim == 1 else series
    lag = whole(period, "period")
    if series.ndim != 2 or series.shape[1] != true.shape[1]:
        raise ValueError(f"y_train has shape {series.shape}; pass the {true.shape[1]} columns of y_true")
    if len(series) <= lag:
        raise ValueError(f"period={lag} needs more than the {len(series)} steps of y_train; pass a smaller period")
    with np.errstate(invalid="ignore"):
        steps = np.abs(series[lag:] - series[:-lag])
    known = np.isfinite(steps)
    scale = np.where(known, steps, 0).sum(axis=0) / np.maximum(known.sum(axis=0), 1)
    if not (scale > 0).all():
        raise ValueError(f"y_train repeats itself exactly, or is never known, at period={lag}; nothing to compare with")
    return float((np.abs(true - found).mean(axis=0) / scale).mean())


def interval_coverage(y_true: ArrayLike, lower: ArrayLike, upper: ArrayLike) -> float:
    """Share of the true values inside their intervals, ends included.

    Parameters
    ----------
    y_true : array-like of shape (n,) or (n, q)
        Missing values (NaN) are left out.
    lower, upper : array-like of the same shape
        Ends, which may be infinite.

    Returns
    -------
    float

    Examples
    --------
    >>> from gramian.metrics import interval_coverage
    >>> interval_coverage([1.0, 2.0, 3.0, 4.0], [0.0, 0.0, 0.0, 5.0], [1.0, 3.0, 2.0, 6.0])
    0.5
    """
    true, low, high = (np.asarray(values, np.float64) for values in (y_true, lower, upper))
    if not true.shape == low.shape == high.shape or true.ndim not in (1, 2) or not true.size:
        shapes = f"{true.shape}, {low.shape} and {high.shape}"
        raise ValueError(f"y_true, lower and upper have shapes {shapes}; pass one shape, (n,) or (n, q)")
    known = ~np.isnan(true)
    if not known.any():
        raise ValueError("y_true has no known value; pass at least one")
    if np.isnan(low[known]).any() or np.isnan(high[known]).any():
        raise ValueError("lower or upper holds NaN where y_true is known; pass an interval for each known value")
    return float(((low <= true) & (true <= high))[known].mean())


def _forecast(y_true: ArrayLike, y_pred: ArrayLike) -> tuple[Array, Array]:
    """Truth and forecast (n, q) of the steps whose truth is known."""
    true, found = np.asarray(y_true, np.float64), np.asarray(y_pred, np.float64)
    if true.shape != found.shape or true.ndim not in (1, 2) or not true.size:
        raise ValueError(f"y_true has shape {true.shape} and y_pred {found.shape}; pass one shape, (n,) or (n, q)")
    true, found = (side.reshape(len(side), -1) for side in (true, found))
    known = ~np.isnan(true).any(axis=1)
    if not known.any():
        raise ValueError("y_true has no step whose values are all known; pass at least one")
    true, found = true[known], found[known]
    if not (np.isfinite(true).all() and np.isfinite(found).all()):
        raise ValueError("y_true is infinite, or y_pred is NaN or infinite where y_true is known; drop these steps")
    return true, found
