"""Effective resistance between the nodes of a graph, plain and with restarts.

Uses SciPy's sparse factorisation; the plain resistance is the limit of the one with restarts.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy.linalg import eigvalsh
from scipy.sparse import csr_array, dia_array
from scipy.sparse.csgraph import connected_components
from scipy.sparse.linalg import splu

from gramian.configuration import require_memory
from gramian.grams.tiles import slices
from gramian.ranking.graphs.graph_walk import GraphWalk
from gramian.ranking.graphs.seeds import check_restart
from gramian.typing import Array, Matrix

_COLUMNS = 256  # of the inverse that are held at once


def effective_resistance(graph: Any, pairs: Any = None, *, restart: float | None = None) -> Array:
    """Effective resistance between nodes of a graph whose edges are conductors.

    R(i, j) = (x_i − x_j)ᵀ L⁺ (x_i − x_j), with L = D − K, its pseudo-inverse L⁺ and x_i the indicator of node i. With a
    restart probability α, R_α(i, j) = β (x_i − x_j)ᵀ ((1 + β) D − K)^-1 (x_i − x_j), β = α / (1 − α), which is finite
    also between components. As α falls, R_α / β approaches R within a component; see
    :func:`resistance_error_bound`.

    Parameters
    ----------
    graph : scipy sparse or ndarray (n, n)
        Symmetric, weights >= 0.
    pairs : array-like (m, 2) of int, optional
        Pairs of nodes; by default all.
    restart : float, optional
        α; None is the plain resistance.

    Returns
    -------
    ndarray (m,) or (n, n)
        Infinite between nodes of different components (with a restart: only where a node has no edge at all).

    References
    ----------
    Doyle, Snell (1984). Random Walks and Electric Networks.
    Chung, Zhao (2010). PageRank and random walks on graphs. Fete of Combinatorics and Computer Science.

    Examples
    --------
    >>> from gramian.ranking import effective_resistance
    >>> path = [[0.0, 1.0, 0.0], [1.0, 0.0, 2.0], [0.0, 2.0, 0.0]]  # one ohm, then half an ohm
    >>> effective_resistance(path, [(0, 1), (0, 2)]).round(12)
    array([1. , 1.5])
    """
    K, degrees, labels = _affinity(graph)
    n = len(degrees)
    index = None if pairs is None else _checked_pairs(pairs, n)
    if index is None:
        require_memory(32.0 * n * n, f"the resistances of all pairs of {n} nodes", "pass pairs")
    if restart is None:
        beta, scale = 0.0, 1.0
    else:
        beta = check_restart(restart) / (1 - restart)
        scale = beta
    earthed = np.unique(labels, return_index=True)[1] if restart is None else np.empty(0, np.intp)
    # A sparse factor: the inverse is wanted at a few nodes, and graphs seldom fill in. Grams have no such method.
    solve = splu(_system(K, degrees, earthed, beta)).solve
    nodes = np.arange(n) if index is None else np.unique(index)
    require_memory(8.0 * len(nodes) ** 2, f"the inverse at {len(nodes)} nodes", "pass fewer pairs at a time")
    inverse = np.empty((len(nodes), len(nodes)))
    for columns in slices(len(nodes), _COLUMNS):
        unit = np.zeros((n, columns.stop - columns.start))
        unit[nodes[columns], np.arange(unit.shape[1])] = 1.0
        unit[earthed] = 0.0  # their potential is zero
        inverse[:, columns] = solve(unit)[nodes]
    diagonal = np.diagonal(inverse)
    if index is None:
        i, j = np.arange(n)[:, None], np.arange(n)[None, :]
        values = diagonal[:, None] + diagonal - inverse - inverse.T
    else:
        at = np.searchsorted(nodes, index)
        i, j = index[:, 0], index[:, 1]
        values = diagonal[at[:, 0]] + diagonal[at[:, 1]] - inverse[at[:, 0], at[:, 1]] - inverse[at[:, 1], at[:, 0]]
    apart = labels[i] != labels[j]
    if restart is not None:
        apart &= (degrees[i] == 0) | (degrees[j] == 0)
    values = np.where(apart, np.inf, np.maximum(scale * values, 0.0))
    return np.where(i == j, 0.0, values)


def resistance_error_bound(graph: Any, pairs: Any = None, *, restart: float) -> Array:
    """Bound of the difference between resistances with restarts, R_α, and without, β R.

    It is (β² / μ²) (1 / d_i + 1 / d_j), where μ is the smallest non-zero eigenvalue of the normalised Laplacian
    I − D^-½ K D^-½. The thesis that states the bound has the eigenvalue of D − K instead, and with that the bound fails
    as soon as the weights are large: R and 1 / d scale alike with the weights, but the eigenvalues of D − K scale the
    other way.

    Parameters
    ----------
    graph, pairs
        As for :func:`effective_resistance`.
    restart : float
        α.

    Returns
    -------
    ndarray (m,) or (n, n)
        Infinite between components, where R is.

    References
    ----------
    Løkse (2014). Joint ranking and clustering based on Markov chain transition probabilities learned from data,
    equation 8.8, corrected.

    Examples
    --------
    >>> from gramian.ranking import resistance_error_bound
    >>> resistance_error_bound([[0.0, 2.0], [2.0, 0.0]], [(0, 1)], restart=0.5)
    array([0.25])
    """
    K, degrees, labels = _affinity(graph)
    n = len(degrees)
    beta = check_restart(restart) / (1 - restart)
    if pairs is None:
        i, j = np.arange(n)[:, None], np.arange(n)[None, :]
    else:
        i, j = _checked_pairs(pairs, n).T
    require_memory(16.0 * n * n, f"the dense normalised Laplacian of {n} nodes", "take a sample of the graph")
    linked = np.flatnonzero(degrees)  # a node without edges would add an eigenvalue that means nothing
    roots = np.sqrt(degrees[linked])
    spectrum = eigvalsh(np.eye(len(linked)) - K[linked][:, linked].toarray() / np.outer(roots, roots))
    zeros = len(np.unique(labels[linked]))  # one for each component
    smallest = spectrum[zeros] if zeros < len(linked) else np.inf
    over = np.divide(1.0, degrees, out=np.full(n, np.inf), where=degrees > 0)
    bound = (beta / smallest) ** 2 * (over[i] + over[j])
    return np.where(i == j, 0.0, np.where(labels[i] == labels[j], bound, np.inf))


def _affinity(graph: Any) -> tuple[Matrix, Array, Array]:
    """K as CSR, its degrees and the component of each node."""
    walk = GraphWalk(graph)
    if not walk.symmetric:
        raise ValueError("graph is not symmetric, and resistance has no direction; pass (graph + graph.T) / 2")
    K = csr_array(walk.matrix)
    return K, np.asarray(K.sum(axis=1), np.float64), connected_components(K, directed=False)[1]


def _system(K: Matrix, degrees: Array, earthed: Array, beta: float) -> Matrix:
    """(1 + β) D − K in CSC, without the rows and columns of the earthed nodes.

    L is singular; earthing one node of each component changes no difference of potentials within the component.
    """
    n = len(degrees)
    keep = np.ones(n)
    keep[earthed] = 0.0
    mask = dia_array((keep[None, :], [0]), shape=(n, n))
    diagonal = np.where((keep > 0) & (degrees > 0), (1 + beta) * degrees, 1.0)
    return (dia_array((diagonal[None, :], [0]), shape=(n, n)) - mask @ K @ mask).tocsc()


def _checked_pairs(pairs: Any, n: int) -> Array:
    index = np.asarray(pairs)
    if index.ndim != 2 or index.shape[1] != 2 or index.dtype.kind not in "iu" or not len(index):
        raise ValueError(f"pairs has shape {index.shape} and type {index.dtype}; pass whole numbers of shape (m, 2)")
    if index.min() < 0 or index.max() >= n:
        raise ValueError(f"pairs contains {index.min() if index.min() < 0 else index.max()}; nodes are 0 to {n - 1}")
    return index
