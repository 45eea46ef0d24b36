"""Prediction intervals from leave-one-out residuals, without an assumption about their distribution.

Pure functions on arrays; used by :class:`gramian.lssvm.LSSVMRegressor`.
"""

from __future__ import annotations

import numpy as np

from gramian.typing import Array


def conformal_radius(scores: Array, coverage: float, counts: Array | None = None) -> float:
    """The ⌈coverage (n + 1)⌉-th smallest of n scores; infinite where there are too few for the coverage.

    If the score of a new row is as likely to have any rank among those of the n rows, it lies below with probability
    >= coverage.

    Parameters
    ----------
    scores : ndarray (n,)
        Sizes of residuals, in units that are alike for all rows.
    coverage : float
        Between 0 and 1.
    counts : ndarray (n,), optional
        How often each counts.

    Examples
    --------
    >>> import numpy as np
    >>> conformal_radius(np.arange(1.0, 20.0), 0.9)
    18.0
    >>> conformal_radius(np.arange(1.0, 5.0), 0.9)
    inf
    """
    n = float(len(scores) if counts is None else counts.sum())
    rank = np.ceil(coverage * (n + 1) - 1e-9)
    if rank > n:
        return np.inf
    order = np.argsort(scores)
    places = np.arange(1, len(scores) + 1) if counts is None else np.cumsum(counts[order])
    return float(scores[order][np.searchsorted(places, rank - 1e-9)])


def radii_of_others(scores: Array, coverage: float, counts: Array | None = None) -> Array:
    """For every row the :func:`conformal_radius` of the other rows' scores; of a row with copies one copy is gone.

    Examples
    --------
    >>> import numpy as np
    >>> radii_of_others(np.array([5.0, 1.0, 3.0]), 0.5)
    array([3., 5., 5.])
    """
    n = float(len(scores) if counts is None else counts.sum())
    rank = np.ceil(coverage * n - 1e-9)
    order = np.argsort(scores, kind="stable")
    ranked = np.append(scores[order], np.inf)
    places = np.arange(1, len(scores) + 1) if counts is None else np.cumsum(counts[order])
    # Without a row that comes later the radius is the score of this rank, otherwise that of the next.
    here, next_ = np.searchsorted(places, [rank - 1e-9, rank + 1 - 1e-9])
    own = np.empty(len(scores), np.intp)
    own[order] = np.arange(len(scores))
    return np.where(own > here, ranked[here], ranked[next_])
