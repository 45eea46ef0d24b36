"""Probabilities of the levels of categorical columns in the components of a mixture: pure functions on arrays.

A component k gives level l of column j the probability p_kjl, and a missing entry has probability 1 whatever it might
be. With all levels of all columns side by side, a row is a vector of zeros and ones, one 1 for each entry that is
there, and its log-probability under all components is one matrix product. Used by ``em.py`` and ``ensemble.py``.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from gramian.typing import Array

_LEAST_PROBABILITY = 1e-10  # the logarithm of 0 would make even a missing entry impossible


class Levels(NamedTuple):
    """The L levels of all categorical columns, side by side, and the Dirichlet prior on their probabilities."""

    sizes: Array  # (c,), levels of each column
    shares: Array  # (L,), of the observed entries of the column
    smoothing: float  # pseudo-rows with these shares in every component


def observed_levels(codes: Array, sizes: Array, smoothing: float) -> Levels:
    """Levels with their shares among the observed entries.

    Parameters
    ----------
    codes : ndarray (n, c) of int
        From 0 in each column, −1 where missing.
    sizes : ndarray (c,) of int
    smoothing : float

    Examples
    --------
    >>> import numpy as np
    >>> observed_levels(np.array([[0, 1], [1, -1], [1, 0], [1, 1]]), np.array([2, 2]), 1.0).shares.round(2)
    array([0.25, 0.75, 0.33, 0.67])
    """
    counts = indicators(codes, sizes).sum(axis=1).astype(np.float64)
    return Levels(sizes, _normalized(np.maximum(counts, _LEAST_PROBABILITY), sizes), float(smoothing))


def indicators(codes: Array, sizes: Array) -> Array:
    """Zeros and ones of shape (L, n): which level each row has; no one where it is missing.

    Examples
    --------
    >>> import numpy as np
    >>> indicators(np.array([[0, 2], [1, -1]]), np.array([2, 3])).astype(int)
    array([[1, 0],
           [0, 1],
           [0, 0],
           [0, 0],
           [1, 0]])
    """
    n, total = len(codes), int(np.sum(sizes))
    hot = np.zeros((total, n), bool)
    rows, columns = np.nonzero(codes >= 0)
    starts = np.cumsum(sizes) - sizes
    hot[starts[columns] + codes[rows, columns], rows] = True
    return hot


def level_probabilities(counts: Array, levels: Levels) -> Array:
    """p_kjl = (n_kjl + smoothing · share_jl) / (n_kj + smoothing), which maximises the posterior density.

    Parameters
    ----------
    counts : ndarray (K, L)
        n_kjl, the memberships of the rows with level l in component k. Missing entries do not count.
    levels : Levels

    Examples
    --------
    >>> import numpy as np
    >>> level_probabilities(np.array([[3.0, 0.0]]), Levels(np.array([2]), np.array([0.5, 0.5]), 1.0))
    array([[0.875, 0.125]])
    """
    raised = np.maximum(counts, 0) + levels.smoothing * levels.shares
    # A component that sees no entry of a column knows only the shares.
    raised = raised + _LEAST_PROBABILITY * levels.shares
    return _normalized(np.maximum(raised, _LEAST_PROBABILITY * _totals(raised, levels.sizes)), levels.sizes)


def log_prior(probabilities: Array, levels: Levels) -> float:
    """Log-density of the Dirichlet prior, up to a constant."""
    return float(levels.smoothing * (np.log(probabilities) @ levels.shares).sum())


def matching_features(numbers: Array, hot: Array, levels: Levels) -> Array:
    """Rows whose squared distances add up differences of numbers and levels that do not match.

    Two rows with different levels in a column are 2 / P apart, squared, if P is the chance that two rows differ there:
    on average 2, as for a column of numbers in standard units. A missing entry is at the mean.

    Parameters
    ----------
    numbers : ndarray (n, d)
        In standard units, complete.
    hot : ndarray (L, n) of bool
        The levels of the rows.
    levels : Levels

    Returns
    -------
    features : ndarray (n, d + L)
    """
    sizes = levels.sizes
    if not len(sizes):
        return numbers
    differ = np.maximum(1 - _totals(levels.shares**2, sizes), 1e-3)
    observed = _totals(hot.T.astype(numbers.dtype), sizes)
    filled = hot.T + (1 - observed) * levels.shares
    return np.hstack([numbers, (filled / np.sqrt(differ)).astype(numbers.dtype, copy=False)])


def _totals(values: Array, sizes: Array) -> Array:
    """For each level the sum over the levels of its column, along the last axis."""
    if not len(sizes):
        return values
    starts = np.cumsum(sizes) - sizes
    return np.repeat(np.add.reduceat(values, starts, axis=-1), sizes, axis=-1)


def _normalized(values: Array, sizes: Array) -> Array:
    """Values that sum to 1 within each column."""
    return values / _totals(values, sizes)
