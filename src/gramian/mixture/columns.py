"""Location and spread of the columns of a table with holes, from a pass over its rows that copies little."""

from __future__ import annotations

import numpy as np

from gramian.grams.tiles import slices
from gramian.typing import Array

_CHUNK_ROWS = 16_384


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
