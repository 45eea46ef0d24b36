"""Location, spread and grain of the columns of a table with holes, in passes that copy little of it."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from gramian.grams.tiles import slices
from gramian.typing import Array

_CHUNK_ROWS = 16_384
_GRAIN_ROWS = 10_000  # enough to see how finely a column was recorded and where its middle half lies
_NORMAL_QUARTILES = 1.349  # a normal column's quartiles are so many deviations apart


class Moments(NamedTuple):
    """Of the observed values of each column; 0 where there is none."""

    varies: Array  # (d,) bool: two different values
    means: Array  # (d,)
    deviations: Array  # (d,)


def column_moments(X: Array) -> Moments:
    """Mean and population deviation of each column's observed values, in double precision.

    Sums are of values relative to the column's range, so that neither they nor squares overflow or vanish, and the
    mean of equal values has no rounding in it.

    Parameters
    ----------
    X : ndarray (n, d)
        NaN where missing.
    """
    d = X.shape[1]
    low, high, counts = np.full(d, np.inf), np.full(d, -np.inf), np.zeros(d)
    for rows in slices(len(X), _CHUNK_ROWS):
        part = np.asarray(X[rows], np.float64)
        low, high = np.fmin(low, np.fmin.reduce(part, axis=0)), np.fmax(high, np.fmax.reduce(part, axis=0))
        counts += (~np.isnan(part)).sum(axis=0)
    low, high = np.where(counts > 0, low, 0.0), np.where(counts > 0, high, 0.0)
    unit = np.where(high > low, high / 2 - low / 2, 1.0)
    unit = np.where(unit > 0, unit, np.finfo(np.float64).tiny)  # half of the least difference there is
    sums, squares = np.zeros(d), np.zeros(d)
    for rows in slices(len(X), _CHUNK_ROWS):
        sums += np.nansum(np.asarray(X[rows], np.float64) / unit - low / unit, axis=0)
    relative = sums / np.maximum(counts, 1)
    for rows in slices(len(X), _CHUNK_ROWS):
        squares += np.nansum((np.asarray(X[rows], np.float64) / unit - low / unit - relative) ** 2, axis=0)
    deviations = unit * np.sqrt(squares / np.maximum(counts, 1))
    return Moments(high > low, low + unit * relative, np.where(high > low, deviations, 0.0))


class Grain(NamedTuple):
    """How fine a column is beside its deviation."""

    steps: Array  # (d,) usual difference between neighbouring recorded values
    spreads: Array  # (d,) deviation of a normal column with the same middle half


def column_grain(X: Array) -> Grain:
    """Step and robust spread of each column, both 0 if it has one value only.

    Counts and ratings have a step of 1, measurements that of their last digit, and columns without a grid one that
    is small beside their spread. The median is not misled by a few values off the grid, nor the quartiles by a few
    far away.
    """
    few = X[:: -(-len(X) // _GRAIN_ROWS)]
    steps, spreads = np.zeros(X.shape[1]), np.zeros(X.shape[1])
    for j, column in enumerate(few.T):
        observed = column[~np.isnan(column)].astype(np.float64)
        values = np.unique(observed)
        if len(values) > 1:
            steps[j] = 2 * np.median(np.diff(values / 2))  # halves, because a range may overflow
            quarter, three_quarters = np.percentile(observed / 2, [25, 75])
            spreads[j] = 2 * (three_quarters - quarter) / _NORMAL_QUARTILES
    return Grain(steps, spreads)
