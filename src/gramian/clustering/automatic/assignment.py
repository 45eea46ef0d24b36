"""Clusters of rows that were not clustered: the nearest clustered rows vote."""

from __future__ import annotations

import numpy as np
from sklearn.neighbors import NearestNeighbors

from gramian.typing import Array

_VOTERS = 5
_EQUAL = 1e-6  # standard deviations: what rounding leaves of the distance between equal rows
_TRIFLE = 1e-9
_AT_ONCE = 20_000


def votes(rows: Array, clustered: Array, labels: Array, k: int) -> Array:
    """Share of the 5 nearest clustered rows in each cluster, (n, k).

    Of clusters with equal shares, that of the nearest row has the larger one, by a trifle. For a row that is equal to
    clustered ones, only those vote.

    Parameters
    ----------
    rows : ndarray (n, d)
    clustered : ndarray (m, d)
    labels : ndarray (m,) of int
        From 0 to k − 1.
    k : int
    """
    shares = np.empty((len(rows), k))
    # Of two precisions scikit-learn would take the slow way.
    known = clustered.astype(rows.dtype, copy=False)
    search = NearestNeighbors(n_neighbors=min(_VOTERS, len(clustered))).fit(known)
    for start in range(0, len(rows), _AT_ONCE):
        here = slice(start, start + _AT_ONCE)
        distances, index = search.kneighbors(rows[here])
        equal = distances <= _EQUAL
        weights = np.where(equal.any(axis=1, keepdims=True), equal, 1.0)
        weights[:, 0] += _TRIFLE
        cells = np.arange(len(index))[:, None] * k + labels[index]
        sums = np.bincount(cells.ravel(), weights.ravel(), len(index) * k).reshape(-1, k)
        shares[here] = sums / sums.sum(axis=1, keepdims=True)
    return shares
