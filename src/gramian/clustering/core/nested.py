"""Several clusterings of the same rows as one tree: parents, strict nesting, SciPy's linkage.

Labels are whole numbers from 0, -1 for a row without a cluster, and levels run from the root to the leaves. Pure
functions on label arrays, for the clusterings that have levels.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise

import numpy as np

from gramian.typing import Array


def overlaps(coarse: Array, fine: Array, shape: tuple[int, int] = (0, 0)) -> Array:
    """How many rows each cluster of one clustering shares with each cluster of another.

    Parameters
    ----------
    coarse, fine : ndarray of int (n,)
    shape : tuple of int
        Counts are given for at least so many clusters of each.

    Returns
    -------
    counts : ndarray of int (n_coarse, n_fine)
        Rows without a cluster in either are not counted.
    """
    coarse, fine = _labels(coarse, "coarse"), _labels(fine, "fine")
    if len(coarse) != len(fine):
        raise ValueError(f"coarse has {len(coarse)} labels and fine has {len(fine)}; pass two for every row")
    shape = max(shape[0], int(coarse.max(initial=-1)) + 1), max(shape[1], int(fine.max(initial=-1)) + 1)
    both = (coarse >= 0) & (fine >= 0)
    return np.bincount(coarse[both] * shape[1] + fine[both], minlength=shape[0] * shape[1]).reshape(shape)


def parents(coarse: Array, fine: Array) -> Array:
    """The coarser cluster that holds most rows of each finer one; of equals the one with the lower number.

    Parameters
    ----------
    coarse, fine : ndarray of int (n,)

    Returns
    -------
    parents : ndarray of int (n_fine,)
        -1 for a finer cluster that shares no row with a coarser one.

    Examples
    --------
    >>> parents([0, 0, 0, 1, 1], [0, 0, 2, 2, 2])
    array([ 0, -1,  1])
    """
    counts = overlaps(coarse, fine)
    if not len(counts):
        return np.full(counts.shape[1], -1)
    found: Array = np.where(counts.any(axis=0), counts.argmax(axis=0), -1)
    return found


def strays(coarse: Array, fine: Array, ancestry: Array) -> Array:
    """Mask (n,) of the rows whose finer cluster has another parent than their coarser cluster.

    Parameters
    ----------
    coarse, fine : ndarray of int (n,)
    ancestry : ndarray of int (n_fine,)
        The parents of the finer clusters.
    """
    coarse, fine = _labels(coarse, "coarse"), _labels(fine, "fine")
    astray: Array = (fine >= 0) & (coarse >= 0) & (np.append(ancestry, -1)[fine] != coarse)
    return astray


def refined(coarse: Array, fine: Array, ancestry: Array, memberships: Array | None = None) -> Array:
    """The finer labels with every stray row moved into a child of its coarser cluster.

    Rows that share a finer cluster then share a coarser one. A row without a coarser cluster has no finer one, and
    neither has a stray row of a coarser cluster without children.

    Parameters
    ----------
    coarse, fine : ndarray of int (n,)
    ancestry : ndarray of int (n_fine,)
        The parents of the finer clusters.
    memberships : ndarray (n, n_fine), optional
        A stray row goes to the child in which its membership is largest, of equals to the first. Without them it
        goes to the child with most rows.

    Returns
    -------
    labels : ndarray of int (n,)

    Examples
    --------
    >>> refined([0, 0, 0, 1, 1, 1], [0, 0, 1, 1, 1, 2], [0, 1, 1])
    array([0, 0, 0, 1, 1, 2])
    """
    coarse, labels = _labels(coarse, "coarse"), _labels(fine, "fine").copy()
    ancestry = np.asarray(ancestry)
    astray = np.flatnonzero(strays(coarse, labels, ancestry))
    if memberships is None:
        sizes = np.bincount(labels[labels >= 0], minlength=len(ancestry)).astype(np.float64)
        memberships = np.broadcast_to(sizes, (len(labels), len(ancestry)))
    among = np.where(coarse[astray, None] == ancestry, memberships[astray], -np.inf)
    labels[astray] = np.where(np.isfinite(among).any(axis=1), among.argmax(axis=1), -1) if len(astray) else -1
    labels[coarse < 0] = -1
    return labels


def linkage(ancestry: Sequence[Array], heights: Sequence[float] | None = None) -> Array:
    """The tree of nested clusters as SciPy's linkage matrix, whose leaves are the clusters of the finest level.

    The children of a cluster are joined two at a time at the same height, and the clusters of the coarsest level are
    joined to a single root at the last height.

    Parameters
    ----------
    ancestry : sequence of ndarray of int
        From the root to the leaves: the parents of the clusters of each level. Those of the coarsest level are the
        root and all zero.
    heights : sequence of float, optional
        From the root to the leaves: at which height the clusters of each level are joined to their parents, never
        rising from one to the next. Default the number of levels from the finest one, counted from 1.

    Returns
    -------
    Z : ndarray (n_leaves - 1, 4)
        As :func:`scipy.cluster.hierarchy.linkage`; the last column counts leaves.

    Examples
    --------
    Two clusters, of which the first has three children and the second one:

    >>> linkage([[0, 0], [0, 1, 0, 0]])
    array([[0., 2., 1., 2.],
           [4., 3., 1., 3.],
           [5., 1., 2., 4.]])
    """
    levels = [np.asarray(level) for level in ancestry]
    if not levels:
        return np.empty((0, 4))
    heights = list(range(len(levels), 0, -1)) if heights is None else list(heights)
    if len(heights) != len(levels) or any(np.diff(heights) > 0):
        raise ValueError(f"heights={heights} must be {len(levels)} numbers, one for each level, that never rise")
    for level, (up, n_above) in enumerate(zip(levels, [1, *map(len, levels)], strict=False)):
        if not np.array_equal(np.unique(up), np.arange(n_above)):
            raise ValueError(
                f"ancestry[{level}]={up.tolist()} must name each of the {n_above} clusters above it, from 0; leave "
                "clusters without parent or children out"
            )
    n_leaves = len(levels[-1])
    nodes, sizes = np.arange(n_leaves), [1] * n_leaves  # of the clusters of the level at hand; of every node
    joins: list[tuple[float, float, float, float]] = []
    for up, height in zip(reversed(levels), reversed(heights), strict=True):
        above = np.full(int(up.max(initial=0)) + 1, -1)
        for child, parent in enumerate(up):
            if above[parent] < 0:
                above[parent] = nodes[child]
                continue
            left, right = int(above[parent]), int(nodes[child])
            joins.append((left, right, float(height), sizes[left] + sizes[right]))
            above[parent] = len(sizes)
            sizes.append(sizes[left] + sizes[right])
        nodes = above
    return np.array(joins, np.float64).reshape(-1, 4)


def ancestry_of(levels: Sequence[Array]) -> list[Array]:
    """The parents of the clusters of every level, from the root to the leaves, as :func:`linkage` takes them.

    Parameters
    ----------
    levels : sequence of ndarray of int (n,)
        From the coarsest to the finest.

    Returns
    -------
    ancestry : list of ndarray of int
        As many as levels; the first is all zero.
    """
    if not len(levels):
        return []
    root = np.zeros(int(_labels(levels[0], "levels[0]").max(initial=-1)) + 1, np.intp)
    return [root, *(parents(coarse, fine) for coarse, fine in pairwise(levels))]


def _labels(labels: Array, name: str) -> Array:
    labels = np.asarray(labels)
    if labels.ndim != 1 or labels.dtype.kind not in "iu" or labels.min(initial=0) < -1:
        raise ValueError(f"{name} must hold one whole number >= -1 for every row; got {labels!r}")
    return labels
