"""Units that a series is modelled in: standard ones, after a logarithm where that helps.

:class:`Units` takes values to those units and forecasts back.
"""

from __future__ import annotations

import numpy as np

from gramian.typing import Array

_EXPONENT = 60.0  # logarithms beyond this many deviations of 1 are cut off


class Units:
    """Columns in standard units: less their mean, over their deviation, of logarithms or of the values themselves.

    Parameters
    ----------
    values : ndarray (n, q)
        With holes.
    log : bool
        Whether logarithms are taken, of the values plus a tenth of their median where some are zero or nearly so.
    """

    def __init__(self, values: Array, log: bool = False) -> None:
        self.log = log
        self.offset = _offsets(values) if log else np.zeros(values.shape[1])
        self.floor = 0.1 * np.nanmin(np.where(values + self.offset > 0, values + self.offset, np.inf), axis=0)
        raw = self._raw(values)
        self.mean = np.nanmean(raw, axis=0)
        deviation = np.nanstd(raw, axis=0)
        largest = np.nanmax(np.abs(raw), axis=0)
        self.scale = np.where(deviation > 100 * np.finfo(float).eps * largest, deviation, 1.0)

    def standard(self, values: Array) -> Array:
        """Values (..., q) in standard units; under a logarithm, values below those that fit it are cut off."""
        return (self._raw(values) - self.mean) / self.scale

    def original(self, standard: Array) -> Array:
        """Standard units back in the units of the series."""
        raw = standard * self.scale + self.mean
        if not self.log:
            return np.asarray(raw)
        return np.exp(np.minimum(raw, self.mean + _EXPONENT)) - self.offset

    def _raw(self, values: Array) -> Array:
        if not self.log:
            return values
        with np.errstate(invalid="ignore"):
            return np.log(np.maximum(values + self.offset, self.floor))


def takes_log(values: Array) -> bool:
    """Whether logarithms make sense: nothing is negative, and every column has three values or more, one positive.

    Of two values, such as 0 and 1, logarithms are two values again: they cannot help, and the way back would bend.
    """
    if np.nanmin(values) < 0 or not (np.nanmax(values, axis=0) > 0).all():
        return False
    between = (values > np.nanmin(values, axis=0)) & (values < np.nanmax(values, axis=0))
    return bool(between.any(axis=0).all())


def _offsets(values: Array) -> Array:
    median = np.nanmedian(values, axis=0)
    mean = np.nanmean(values, axis=0)
    typical = np.where(median > 0, median, mean)
    return np.where(np.nanmin(values, axis=0) > 0.02 * typical, 0.0, 0.1 * typical)
