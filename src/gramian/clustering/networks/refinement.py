"""Partitions of a network: their modularity and conductance, and local moves that raise modularity."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache

import numpy as np

from gramian.clustering.networks._moves import move_nodes
from gramian.typing import Array, Matrix

_MOVES = 20  # per node: far more than any network has needed


def refined(graph: Matrix, labels: Array, k: int) -> Array:
    """Labels after moving single nodes among k communities until no move raises modularity.

    Parameters
    ----------
    graph : CSR array (n, n)
        Symmetric weights without self loops.
    labels : ndarray (n,)
        From 0 to k − 1.
    k : int
    """
    labels = labels.astype(np.int64)  # a copy, which is written
    degrees = np.asarray(graph.sum(axis=1)).astype(np.float64)
    volumes = np.bincount(labels, degrees, k)
    sizes = np.bincount(labels, minlength=k)
    weights = graph.data.astype(np.float64, copy=False)  # the loop is compiled once for each type
    _compiled()(graph.indptr, graph.indices, weights, degrees, labels, volumes, sizes, _MOVES * len(labels))
    return labels


@cache
def _compiled() -> Callable[..., int]:
    """The loop of moves, compiled if numba is installed."""
    try:
        from numba import njit
    except ImportError:
        return move_nodes
    compiled: Callable[..., int] = njit(nogil=True, cache=True)(move_nodes)
    return compiled


def group_weights(graph: Matrix, labels: Array, k: int) -> tuple[Array, Array]:
    """Weight inside each of k communities, each edge counted from both ends, and its volume; −1 is none."""
    degrees = np.asarray(graph.sum(axis=1)).astype(np.float64)
    known = labels >= 0
    volumes = np.bincount(labels[known], degrees[known], k)
    ends = np.repeat(labels, np.diff(graph.indptr))
    inner = (ends == labels[graph.indices]) & (ends >= 0)
    return np.bincount(ends[inner], graph.data[inner], k), volumes


def modularity_of(inside: Array, volumes: Array) -> float:
    """Σ_c inside_c / s − (vol_c / s)² with s = Σ_c vol_c."""
    total = volumes.sum()
    return float((inside / total - (volumes / total) ** 2).sum())


def conductance_of(inside: Array, volumes: Array) -> Array:
    """cut(c, rest) / min(vol(c), vol(rest)) of each community, 0 where there is nothing to cut."""
    least = np.minimum(volumes, volumes.sum() - volumes)
    return np.divide(np.maximum(volumes - inside, 0), least, out=np.zeros_like(volumes), where=least > 0)
