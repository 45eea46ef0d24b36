"""Are clusters found again in resampled rows?

A clustering is compared with clusterings of resampled rows: as a whole by the adjusted Rand index, and cluster by
cluster by the largest Jaccard index.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from gramian.metrics import adjusted_rand
from gramian.typing import Array

Resampled = Sequence[tuple[Array, Array]]
"""Clusterings of resampled rows: the rows, and their labels."""


def stability(labels: Array, resampled: Resampled) -> float:
    """Mean adjusted Rand index of the labels with those of resampled rows, at least 0; 0 without any.

    Parameters
    ----------
    labels : ndarray (n,)
    resampled : list of (rows, labels of these rows)

    Examples
    --------
    >>> import numpy as np
    >>> stability(np.array([0, 0, 1, 1]), [(np.array([0, 1, 2]), np.array([5, 5, 3]))])
    1.0
    """
    indices = [adjusted_rand(labels[rows], others) for rows, others in resampled]
    return max(0.0, float(np.mean(indices))) if indices else 0.0


def cluster_stability(labels: Array, resampled: Resampled) -> Array:
    """How well each cluster is found again: the mean, over resamples, of the largest Jaccard index.

    A resample that holds no row of a cluster says nothing about it; a cluster in no resample has 0.

    Parameters
    ----------
    labels : ndarray (n,) of int
        From 0; −1 for rows of no cluster.
    resampled : list of (rows, labels of these rows)

    Returns
    -------
    found : ndarray (k,)

    References
    ----------
    Hennig (2007). Cluster-wise assessment of cluster stability. Computational Statistics & Data Analysis 52.

    Examples
    --------
    >>> import numpy as np
    >>> cluster_stability(np.array([0, 0, 1, 1]), [(np.arange(4), np.array([0, 0, 0, 1]))]).round(2)
    array([0.67, 0.5 ])
    """
    k = int(labels.max()) + 1
    total, seen = np.zeros(k), np.zeros(k)
    for rows, others in resampled:
        names, codes = np.unique(others, return_inverse=True)
        both = np.zeros((k, len(names)))
        inside = labels[rows] >= 0
        np.add.at(both, (labels[rows][inside], codes[inside]), 1)
        here, there = both.sum(axis=1), both.sum(axis=0)
        largest = (both / np.maximum(here[:, None] + there - both, 1)).max(axis=1)
        total += np.where(here > 0, largest, 0)
        seen += here > 0
    return np.divide(total, seen, out=np.zeros(k), where=seen > 0)
