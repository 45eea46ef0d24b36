"""FURS selects nodes of a network that represent its dense regions.

:class:`gramian.NetworkKSC` trains on them. A graph is a SciPy sparse matrix; the loop over its edges is compiled where
numba is installed, and is array arithmetic with the same answer elsewhere.
"""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np

from gramian.checks import canonical_csr, is_real, whole
from gramian.typing import Array, Matrix

_NEVER = np.iinfo(np.int64).max


def furs(adjacency: Matrix, n_select: int, *, threshold: float | str = "median", exclude: Any = None) -> Array:
    """Choose nodes of high degree from different dense regions of a network (FURS).

    Nodes are taken in order of their degree. A node that is taken puts its neighbours aside until nobody is left;
    then those put aside come back, and the next round begins. So no two nodes of one round are adjacent. Nothing is
    drawn at random, and the first m nodes selected are those that ``n_select=m`` selects.

    Parameters
    ----------
    adjacency : scipy sparse or array-like (n, n)
        Symmetric; a weight is not zero where there is an edge. Self loops do not count.
    n_select : int
        How many nodes.
    threshold : float or "median", default "median"
        Least degree (sum of weights) of a candidate. Nodes *at* the median are candidates: in a network whose degrees
        are nearly equal there would be few others, of few regions. ``-numpy.inf`` makes all nodes candidates.
    exclude : array-like of int or bool, optional
        Nodes that are not to be selected, such as those of another subset.

    Returns
    -------
    nodes : ndarray of int (at most n_select,)
        In the order of their selection; fewer, with a warning, if there are not so many candidates.

    References
    ----------
    R. Mall, R. Langone, J. Suykens, "FURS: fast and unique representative subset selection retaining large-scale
    community structure", Social Network Analysis and Mining 3 (2013).

    Examples
    --------
    Two stars, joined by their centres 0 and 4; the second round takes the second centre:

    >>> import numpy as np
    >>> from gramian.landmarks import furs
    >>> edges = np.array([(0, 1), (0, 2), (0, 3), (0, 4), (4, 5), (4, 6)])
    >>> adjacency = np.zeros((7, 7))
    >>> adjacency[edges[:, 0], edges[:, 1]] = adjacency[edges[:, 1], edges[:, 0]] = 1
    >>> furs(adjacency, 4)
    array([0, 5, 6, 4])
    """
    graph = canonical_csr(adjacency)
    n = graph.shape[0]
    if graph.shape != (n, n) or n == 0:
        raise ValueError(f"adjacency has shape {graph.shape}; pass a square matrix, one row and one column per node")
    if not np.isfinite(graph.data).all():
        raise ValueError("adjacency has weights that are NaN or infinite; correct or drop these edges")
    n_select = whole(n_select, "n_select", most=n)
    weights = np.asarray(graph.sum(axis=1), dtype=np.float64) - graph.diagonal()
    if not isinstance(threshold, str) and is_real(threshold) and not np.isnan(threshold):
        least = float(threshold)
    elif isinstance(threshold, str) and threshold == "median":
        least = float(np.median(weights))
    else:
        raise ValueError(f"threshold={threshold!r} must be a number or 'median'")
    candidate = weights >= least
    if exclude is not None:
        candidate[_places(exclude, n)] = False
    order = np.flatnonzero(candidate)
    order = order[np.argsort(-weights[order], kind="stable")]
    nodes = selected(graph, order, n_select)
    if len(nodes) < n_select:
        warnings.warn(
            f"n_select={n_select} but only {len(nodes)} nodes reach the degree {least:g} and are not excluded; lower "
            "threshold, or pass -numpy.inf for all nodes",
            UserWarning,
            stacklevel=2,
        )
    return nodes


def selected(graph: Matrix, order: Array, n_select: int) -> Array:
    """At most ``n_select`` of the candidates ``order``, best first, of a canonical CSR graph."""
    try:
        from gramian.landmarks._furs_loops import select
    except ImportError:
        return by_rounds(graph, order, n_select)
    state = np.zeros(graph.shape[0], np.int8)
    state[order] = 1
    nodes: Array = select(graph.indptr, graph.indices, order, state, n_select)
    return nodes


def by_rounds(graph: Matrix, order: Array, n_select: int) -> Array:
    """The same with arrays.

    In a round all candidates that come before all their waiting neighbours are taken together, and their neighbours
    put aside, until nobody waits. One after the other they would be taken as well: no earlier one can be in the way.
    """
    n = graph.shape[0]
    rank = np.full(n, _NEVER)
    rank[order] = np.arange(len(order))
    rows = np.repeat(np.arange(n), np.diff(graph.indptr))
    off = rows != graph.indices
    rows, columns = rows[off], graph.indices[off]
    taken: list[Array] = []
    left, count = order, 0
    while len(left) and count < n_select:
        waiting = np.zeros(n, bool)
        waiting[left] = True
        this_round = []
        while waiting.any():
            edge = waiting[rows] & waiting[columns]
            before = np.full(n, _NEVER)
            np.minimum.at(before, rows[edge], rank[columns[edge]])
            first = waiting & (rank < before)
            this_round.append(np.flatnonzero(first))
            waiting &= ~first
            waiting[columns[first[rows]]] = False
        chosen = np.concatenate(this_round)
        chosen = chosen[np.argsort(rank[chosen])]
        taken.append(chosen)
        count += len(chosen)
        left = left[~np.isin(left, chosen)]
    return np.concatenate(taken)[:n_select] if taken else np.empty(0, np.int64)


def _places(exclude: Any, n: int) -> Array:
    """Nodes to leave out, as whole numbers or a mask."""
    nodes = np.asarray(exclude)
    if nodes.size == 0:
        return np.empty(0, np.int64)
    fits = nodes.ndim == 1 and (nodes.dtype.kind in "iu" or (nodes.dtype.kind == "b" and len(nodes) == n))
    if not fits or (nodes.dtype.kind != "b" and (nodes.min() < 0 or nodes.max() >= n)):
        raise ValueError(f"exclude does not name nodes; pass whole numbers from 0 to {n - 1}, or {n} booleans")
    return nodes
