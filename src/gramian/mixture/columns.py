"""Location, spread and resolution of the columns of a table with holes, without copying the table."""

from __future__ import annotations

import numpy as np

from gramian.grams.tiles import slices
from gramian.typing import Array

_CHUNK_ROWS = 16_384
_STEP_ROWS = 10_000  # enough to see how finely a column was recorded


def column_moments(X: Array) -> tuple[Array, Array, Array]:
    """Which columns have two different observed values, and the mean and deviation of their observed values.

    Parameters
    ----------
    X : ndarray (n, d)
        NaN where missing.

    Returns
    -------
    varies : ndarray (d,) of bool
    means, deviations : ndarray (d,), float64
        Population deviations; 0 where there is no observed value.
    """
    d = X.shape[1]
    least, most = np.full(d, np.inf), np.full(d, -np.inf)
    counts, sums, squares = np.zeros(d), np.zeros(d), np.zeros(d)
    for rows in slices(len(X), _CHUNK_ROWS):
        part = np.asarray(X[rows], np.float64)
        np.minimum(least, np.fmin.reduce(part, axis=0), out=least, where=~np.isnan(part).all(axis=0))
        np.maximum(most, np.fmax.reduce(part, axis=0), out=most, where=~np.isnan(part).all(axis=0))
        observed = ~np.isnan(part)
        counts += observed.sum(axis=0)
        sums += np.where(observed, part, 0).sum(axis=0)
    means = sums / np.maximum(counts, 1)
    for rows in slices(len(X), _CHUNK_ROWS):
        squares += np.nansum((np.asarray(X[rows], np.float64) - means) ** 2, axis=0)
    return least < most, means, np.sqrt(squares / np.maximum(counts, 1))


def column_steps(X: Array) -> Array:
    """The usual step between neighbouring recorded values of each column, shape (d,); 0 if there is one value.

    Counts and ratings have a step of 1, measurements that of their last digit, and columns without a grid one that
    is small beside their spread. The median is not misled by a few values off the grid.
    """
    few = X[:: -(-len(X) // _STEP_ROWS)]
    steps = np.zeros(X.shape[1])
    for j, column in enumerate(few.T):
        values = np.unique(column[~np.isnan(column)])
        if len(values) > 1:
            steps[j] = np.median(np.diff(values))
    return steps
