"""Levels of communities by growing thresholds on the angles between scores (MH-KSC).

Pure functions on a matrix of distances. :class:`gramian.MultilevelKSC` gives them the distances of some nodes or rows,
and the levels to all others.
"""

from __future__ import annotations

import numpy as np

from gramian.typing import Array


def grouped(distances: Array, threshold: float, *, most: bool) -> Array:
    """Groups of items nearer than a threshold to a seed.

    A seed takes all items left that are nearer than the threshold, then comes the next seed: the first item left, or
    with ``most`` the one that takes most. Groups are numbered by their first items.

    Parameters
    ----------
    distances : ndarray (m, m)
    threshold : float
    most : bool
    """
    m = len(distances)
    near = distances < threshold
    near[np.diag_indices(m)] = True
    left = np.ones(m, bool)
    counts = near.sum(axis=1)
    groups = np.empty(m, np.int64)
    number = 0
    while left.any():
        seed = int(np.argmax(np.where(left, counts, -1))) if most else int(np.argmax(left))
        members = np.flatnonzero(near[seed] & left)
        groups[members] = number
        left[members] = False
        if most:
            counts = counts - near[:, members].sum(axis=1)
        number += 1
    _, first, groups = np.unique(groups, return_index=True, return_inverse=True)
    renumbered: Array = np.argsort(np.argsort(first))[groups]
    return renumbered


def averaged(distances: Array, groups: Array) -> Array:
    """Mean distance of the items of two groups; the diagonal means nothing."""
    k = int(groups.max()) + 1
    member = np.equal.outer(np.arange(k), groups).astype(distances.dtype)
    sizes = member.sum(axis=1)
    between: Array = (member @ distances @ member.T) / np.outer(sizes, sizes)
    return between


def nearest_mean(distances: Array) -> float:
    """The mean distance to the nearest other item."""
    others = distances + np.where(np.eye(len(distances), dtype=bool), np.inf, 0).astype(distances.dtype)
    return float(others.min(axis=1).mean())


def hierarchy(distances: Array, threshold: float, max_levels: int) -> tuple[list[Array], list[float]]:
    """Groups of every level, coarser and coarser, and their thresholds.

    The first level groups the items by ``threshold``. On each further one the groups are items, their distance is the
    mean over their members, the threshold is the mean distance to the nearest, and the item that takes most is the
    next seed. It ends where nothing is joined: with two groups at the latest, whose distance is the threshold itself.

    Returns
    -------
    levels : list of ndarray
        The first has the group of each item; each next one the group of each group before.
    thresholds : list of float
    """
    levels, thresholds = [grouped(distances, threshold, most=False)], [threshold]
    distances = averaged(distances, levels[0])
    while len(levels) < max_levels and len(distances) > 2:
        limit = nearest_mean(distances)
        groups = grouped(distances, limit, most=True)
        if groups.max() + 1 == len(distances):
            break
        levels.append(groups)
        thresholds.append(limit)
        if groups.max() == 0:
            break
        distances = averaged(distances, groups)
    return levels, thresholds


def linkage_of(parents: list[Array], n_leaves: int) -> Array:
    """SciPy's linkage matrix of nested levels: the leaves are the communities of the finest, a height is a level.

    Parameters
    ----------
    parents : list of ndarray
        For each level but the finest, the group of each group of the level below.
    n_leaves : int

    Returns
    -------
    linkage : ndarray (n_leaves − 1, 4)
        What is left at the top is joined one level above the last.
    """
    name, size = list(range(n_leaves)), [1] * n_leaves
    merges: list[tuple[float, float, float, float]] = []
    for height, groups in enumerate([*parents, None], start=1):
        groups = np.zeros(len(name), np.int64) if groups is None else groups
        names, sizes = [], []
        for group in range(int(groups.max()) + 1):
            first, *rest = np.flatnonzero(groups == group)
            tip, total = name[first], size[first]
            for other in rest:
                total += size[other]
                merges.append((tip, name[other], height, total))
                tip = n_leaves + len(merges) - 1
            names.append(tip)
            sizes.append(total)
        name, size = names, sizes
    return np.array(merges, dtype=np.float64).reshape(-1, 4)
