"""Do clusters lie apart, are they found again, and is there anything to find?

A clustering is compared with clusterings of resampled rows: as a whole by the adjusted Rand index, and cluster by
cluster by the largest Jaccard index. Whether a table has clusters at all is asked of its neighbour graph: a walk on it
stays longer among some rows than it would on reference tables without clusters.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence

import numpy as np
from scipy.sparse import csr_array

from gramian.kernels import NeighborGraph
from gramian.metrics import adjusted_rand
from gramian.typing import Array

Resampled = Sequence[tuple[Array, Array]]
"""Clusterings of resampled rows: the rows, and their labels."""

NEIGHBORS = 10
"""Of each row, in the graph that clusters are judged by."""

TESTED_ROWS = 500
"""So many are enough to tell whether there is anything to find."""

_FEWEST_ROWS = 8  # fewer do not show clusters
_REFERENCES = 20  # tables of each kind
_DEVIATIONS = 2.5  # beyond the mean of the references
_EIGENVALUES = 7
_RESOLUTION = 0.02  # of −log(1 − λ): finer differences between tables say nothing
_FEW_VALUES = 20


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


def separation(labels: Array, K: Array, graph: csr_array) -> float:
    """How well clusters lie apart, from 0 to 1: (q · q/q_max · s)^⅓.

    q is the modularity of the clusters in a graph, q_max the most that clusters of these degrees could have, and s the
    mean silhouette by similarities: of a row with mean similarity a to its own cluster and b to the next,
    (a − b) / max(a, b). The graph sees gaps between clusters of any shape, the silhouette whether they are compact.

    Parameters
    ----------
    labels : ndarray (n,) of int
        From 0.
    K : ndarray (n, n)
        Similarities, at least 0; the diagonal does not count.
    graph : csr_array (n, n)
        Symmetric edges.

    Examples
    --------
    >>> import numpy as np
    >>> from scipy.sparse import csr_array
    >>> K = np.kron(np.eye(2), np.ones((3, 3)))
    >>> round(separation(np.repeat([0, 1], 3), K, csr_array(K - np.eye(6))), 3)  # q = 1/2, q_max = 1/2, s = 1
    0.794
    """
    n, k = len(labels), int(labels.max()) + 1
    members = np.zeros((n, k))
    members[np.arange(n), labels] = 1
    between = members.T @ (graph @ members)
    shares = between.sum(axis=1) / between.sum()
    most = 1 - float(np.sum(shares**2))
    modularity = max(0.0, float(np.trace(between) / between.sum()) - 1 + most)
    sizes = members.sum(axis=0)
    to_clusters = K @ members
    own = (to_clusters[np.arange(n), labels] - np.diagonal(K)) / np.maximum(sizes[labels] - 1, 1)
    to_clusters /= np.maximum(sizes, 1)
    to_clusters[np.arange(n), labels] = 0
    other = to_clusters.max(axis=1)
    silhouettes = np.divide(own - other, np.maximum(own, other), out=np.zeros(n), where=np.maximum(own, other) > 0)
    silhouettes[sizes[labels] <= 1] = 0
    silhouette = max(0.0, float(silhouettes.mean()))
    return float((modularity * modularity / most * silhouette) ** (1 / 3)) if most > 0 else 0.0


def beyond_chance(
    completed: Array, holes: Array, columns: Array, complete: Callable[[Array], Array], rng: np.random.Generator
) -> float:
    """By how much a walk on the neighbour graph is held up more than on tables without clusters.

    The leading eigenvalues λ_2, λ_3, … of the walk are near 1 if groups of rows hardly lead to others; here they count
    as −log(1 − λ). Reference tables have as many rows and columns, and the same holes, but no clusters: normal with the
    covariance of the rows; uniform in a box along their principal axes; and independent, uniform. A feature of few
    different values is drawn to the nearest of them, or shuffled where it is independent; features that say the same of
    a row in several ways, as indicators of a category do, are shuffled together. The largest excess of an
    eigenvalue over the references, in their standard deviations, is divided by what one reference in hundreds would
    have over the others; the least of the three quotients counts.

    Parameters
    ----------
    completed : ndarray (n, d)
        Features in comparable units, holes filled.
    holes : ndarray (n, d) of bool
    columns : ndarray (d,) of int
        The column of the table that each feature comes from.
    complete : callable
        How holes were filled.
    rng : Generator

    Returns
    -------
    excess : float
        Above 1, the rows have structure that the references do not have.

    References
    ----------
    Tibshirani, Walther, Hastie (2001). Estimating the number of clusters in a data set via the gap statistic. Journal
    of the Royal Statistical Society B 63, for the reference tables.
    """
    if len(completed) < _FEWEST_ROWS:
        return 0.0
    found = _held_up(completed)
    quotients = []
    for draw in _references(completed, columns):
        tables = [draw(rng) for _ in range(_REFERENCES)]
        if holes.any():
            tables = [complete(np.where(holes, np.nan, table)) for table in tables]
        quotients.append(_excess(found, np.array([_held_up(table) for table in tables])))
    return min(quotients)


def _excess(found: Array, references: Array) -> float:
    """Largest difference from the mean of the references, in their deviations, by what is usual of each of them."""
    total, squares, count = references.sum(axis=0), (references**2).sum(axis=0), len(references)

    def largest(values: Array, total: Array, squares: Array, count: int) -> Array:
        mean = total / count
        deviation = np.sqrt(np.maximum(squares / count - mean**2, _RESOLUTION**2))
        peaks: Array = ((values - mean) / deviation).max(axis=-1)
        return peaks

    usual = largest(references, total - references, squares - references**2, count - 1)
    # Where the references are all alike, as graphs of a dozen rows are, a step of the resolution is the least level.
    level = max(1.0, float(usual.mean() + _DEVIATIONS * usual.std(ddof=1)))
    return float(largest(found, total, squares, count)) / level


def _held_up(rows: Array) -> Array:
    """−log(1 − λ) of the leading eigenvalues of a walk to neighbours, but the trivial one."""
    rows = rows if rows.shape[1] else np.zeros((len(rows), 1))  # of a reference in which every feature is constant
    graph = NeighborGraph(NEIGHBORS).fit(rows).gram(rows)
    values = graph.normalized().eigenpairs(min(_EIGENVALUES + 1, len(rows) - 1), tol=1e-4)[0]
    return -np.log(np.maximum(1 - values[1:], 1e-3))


def _references(completed: Array, columns: Array) -> Iterator[Callable[[np.random.Generator], Array]]:
    """Functions that draw a table without clusters."""
    n = len(completed)
    together = [features for column in np.unique(columns) if len(features := np.flatnonzero(columns == column)) > 1]
    alone = np.setdiff1d(np.arange(len(columns)), np.concatenate([*together, []]))
    few = np.array([j for j in alone if len(np.unique(completed[:, j])) <= min(_FEW_VALUES, n // 2)], int)
    levels = [np.unique(completed[:, j]) for j in few]
    center, low, high = (f(completed[:, alone], axis=0) for f in (np.mean, np.min, np.max))
    _, lengths, axes = np.linalg.svd(completed[:, alone] - center, full_matrices=False)
    lengths, m = lengths / np.sqrt(n), len(lengths)

    def table(drawn: Array, rng: np.random.Generator) -> Array:
        rows = np.empty_like(completed)
        rows[:, alone] = drawn
        for features in together:
            rows[:, features] = completed[np.ix_(rng.permutation(n), features)]
        return rows

    def along_axes(drawn: Array, rng: np.random.Generator) -> Array:
        rows = table(center + (drawn * lengths) @ axes, rng)
        for j, values in zip(few, levels, strict=True):
            rows[:, j] = values[np.searchsorted((values[1:] + values[:-1]) / 2, rows[:, j])]
        return rows

    def independent(rng: np.random.Generator) -> Array:
        rows = table(rng.uniform(low, high, (n, len(alone))), rng)
        rows[:, few] = rng.permuted(completed[:, few], axis=0)
        return rows

    yield lambda rng: along_axes(rng.standard_normal((n, m)), rng)
    yield lambda rng: along_axes(rng.uniform(-(3**0.5), 3**0.5, (n, m)), rng)
    yield independent
