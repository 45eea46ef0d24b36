"""Personalised PageRank of a graph: one door over power iteration, conjugate gradients, a direct solve and push.

Arguments are checked here, once; the solvers beside this file are pure functions on arrays.
"""

from __future__ import annotations

import warnings
from numbers import Real
from typing import Any

import numpy as np
from scipy.sparse import issparse
from sklearn.exceptions import ConvergenceWarning

from gramian.checks import one_of, whole
from gramian.configuration import require_memory
from gramian.partitions import is_distributed
from gramian.ranking.graphs.direct import direct_solution
from gramian.ranking.graphs.edge_partitions import PartitionedWalk
from gramian.ranking.graphs.gauss_seidel import gauss_seidel
from gramian.ranking.graphs.graph_walk import GraphWalk, compiled
from gramian.ranking.graphs.power import power_iteration
from gramian.ranking.graphs.push import PushState, check_dangling, csr_of
from gramian.ranking.graphs.reversible import chebyshev, isolated_in_closed_form, reversible_cg
from gramian.ranking.graphs.seeds import check_restart, restart_matrix
from gramian.typing import Array, Matrix

METHODS = ("auto", "power", "gauss_seidel", "cg", "chebyshev", "direct", "push")
NORMALIZATIONS = (None, "sqrt_degree", "degree")
_BLOCK_BYTES = 2**27  # of one (n, q) array of an iteration
_DIRECT_RESTART = 1e-3  # below, an iteration needs thousands of products
_DIRECT_NODES = 5000


def personalized_pagerank(
    graph: Any,
    seeds: Any = None,
    *,
    restart: float = 0.15,
    method: str = "auto",
    tol: float = 1e-8,
    dangling: str = "uniform",
    normalize: str | None = None,
    directed: bool | None = None,
    max_iter: int | None = None,
) -> Array:
    """Personalised PageRank: scores of all nodes of a graph, high for those close to the seeds.

    At each step the walker restarts at a seed drawn from s with probability α, and otherwise follows an edge, i → j
    with probability P_ij = A_ij / Σ_k A_ik. The scores are the share of time spent at each node,

        π = (1 − α) Pᵀ π + α s,    π = α (I − (1 − α) Pᵀ)^-1 s,

    where α is ``restart`` and s are the ``seeds``. Without seeds this is PageRank.

    Parameters
    ----------
    graph : scipy sparse, ndarray or Gram (n, n), or dask.dataframe.DataFrame
        Entry (i, j) is the weight, >= 0, of the edge from i to j; directed or not. Or a Dask data frame of edges with
        columns ``source``, ``target`` and perhaps ``weight``, nodes numbered from 0, every edge of an undirected graph
        in both directions: the edges stay on the workers, the scores come here, and the method is power iteration.
    seeds : int, list of int, {int: float}, bool (n,), float (n,), float (n, q), sparse (n, q), str or None
        A node, nodes, nodes with weights, a mask, weights of all nodes, or q columns of weights for q queries at
        once. None or ``"uniform"``: all nodes alike; ``"stationary"``: in proportion to the degrees. Whole numbers
        in one dimension are indices, other numbers weights.
    restart : float, default 0.15
        Probability α of restarting, not of going on (0.85 in networkx and igraph).
    method : {"auto", "power", "gauss_seidel", "cg", "chebyshev", "direct", "push"}, default "auto"
        ``"power"`` takes any graph; so does ``"gauss_seidel"``, if numba is installed, in about half the steps, or a
        quarter on symmetric graphs, where it over-relaxes. ``"cg"`` (conjugate gradients) and ``"chebyshev"`` take
        symmetric graphs, with about a third of the products of power iteration where the graph mixes slowly.
        ``"direct"`` factorises a sparse or dense matrix. ``"push"`` works outwards from the seeds. ``"auto"`` is
        gauss_seidel for large graphs, but cg for one column of a symmetric one, whose products use all cores;
        without numba or for small graphs it is cg or power; for small ones with a restart below 0.001, direct.
    tol : float, default 1e-8
        Largest error of the scores, Σ_i abs(π_i − exact π_i), of each column: of the result, not of the last step.
    dangling : {"uniform", "seeds", "self"}, default "uniform"
        Where a walker goes from a node that no edge leaves (isolated nodes too): to any node, to the seeds (what
        networkx and igraph's PRPACK do when given a personalisation), or nowhere. With ``"seeds"`` scores are not
        linear in s if there are such nodes.
    normalize : {None, "sqrt_degree", "degree"}, default None
        Divide by (the root of) each node's degree, to see what the seeds add beyond a node's popularity. Scores of
        nodes without edges stay as they are. ``tol`` holds for the scores before the division.
    directed : bool, optional
        False promises that the graph is symmetric and saves looking; True treats it as directed anyway.
    max_iter : int, optional
        Most products; default three times what the slowest graph needs for ``tol``.

    Returns
    -------
    scores : ndarray (n,) or (n, q)
        float64; without ``normalize`` they are >= 0 and every column sums to one. One-dimensional if ``seeds``
        describes one distribution.

    Warns
    -----
    ConvergenceWarning
        If ``max_iter`` was reached before ``tol``.

    See Also
    --------
    gramian.ranking.push_pagerank : the best nodes only, at a cost that does not depend on the size of the graph.

    References
    ----------
    Page, Brin, Motwani, Winograd (1999). The PageRank citation ranking: bringing order to the web.
    Chung, Zhao (2010). PageRank and random walks on graphs. Fete of Combinatorics and Computer Science.

    Examples
    --------
    >>> import numpy as np
    >>> from gramian import personalized_pagerank
    >>> path = np.array([[0, 1, 0], [1, 0, 1], [0, 1, 0]])
    >>> personalized_pagerank(path, seeds=0).round(4)
    array([0.3453, 0.4595, 0.1953])
    >>> personalized_pagerank(path, seeds=np.eye(3)).shape  # three queries at once
    (3, 3)
    >>> personalized_pagerank(path, seeds=3)
    Traceback (most recent call last):
    ...
    ValueError: seeds contains node 3, but the nodes are 0 to 2; pass indices below n=3
    """
    restart = check_restart(restart)
    one_of(method, "method", METHODS)
    one_of(normalize, "normalize", NORMALIZATIONS)
    check_dangling(dangling)
    if not isinstance(tol, Real) or isinstance(tol, bool) or not 0 < float(tol) < np.inf:
        raise ValueError(f"tol={tol!r} must be a positive number, the L1 error of the scores")
    walk = PartitionedWalk(graph) if is_distributed(graph) else GraphWalk(graph, directed)
    restarts, squeeze = restart_matrix(seeds, walk.n, degrees=walk.degrees)
    q = restarts.shape[1]
    require_memory(8.0 * walk.n * q, f"the scores of {walk.n} nodes for {q} queries", "pass fewer columns of seeds")
    method = _for_edges(method) if isinstance(walk, PartitionedWalk) else _chosen(walk, method, restart, q)
    # The slowest mode falls by 1 − α per product.
    needed = np.log(min(float(tol), 0.5) * restart / 2) / np.log1p(-restart)
    most = 3 * int(needed) + 10 if max_iter is None else whole(max_iter, "max_iter", instead="None")
    if method == "gauss_seidel" and isinstance(walk, GraphWalk):
        scores, worst = _swept(walk, restarts, restart, float(tol), most, dangling)
    else:
        scores, worst = np.empty((walk.n, q)), 0.0
        width = int(np.clip(_BLOCK_BYTES // (8 * walk.n), 8, 256))
        for first in range(0, q, width):
            columns = slice(first, min(first + width, q))
            part = restarts[:, columns]
            part = part.toarray() if issparse(part) else np.ascontiguousarray(part)
            scores[:, columns], error = _solve(walk, graph, part, restart, method, float(tol), most, dangling)
            worst = max(worst, error)
    if worst > tol:
        warnings.warn(
            f"method={method!r} stopped after max_iter={most} with an L1 error of up to {worst:.1e}, above "
            f"tol={tol:g}; raise max_iter, tol or restart, or use method='direct'",
            ConvergenceWarning,
            stacklevel=2,
        )
    if normalize is not None:
        degrees = np.where(walk.degrees > 0, walk.degrees / walk.scale, 1.0)[:, None]
        scores /= np.sqrt(degrees) if normalize == "sqrt_degree" else degrees
    return scores[:, 0] if squeeze else scores


def _solve(
    walk: GraphWalk | PartitionedWalk,
    graph: Any,
    restarts: Array,
    restart: float,
    method: str,
    tol: float,
    most: int,
    dangling: str,
) -> tuple[Array, float]:
    """Scores for a few columns and a bound on the L1 error of the worst."""
    if method == "power" or isinstance(walk, PartitionedWalk):
        return power_iteration(walk, restarts, restart, tol, most, dangling)
    if method == "direct":
        return _distributions(direct_solution(walk, restarts, restart, dangling)), 0.0
    if method == "push":
        return _pushed(csr_of(graph), restarts, restart, tol, most, dangling)
    right = isolated_in_closed_form(walk, restarts, restart, dangling)
    solver = reversible_cg if method == "cg" else chebyshev
    # Half the tolerance, because bringing the sum back to one can double the error.
    scores, error = solver(walk, right, restart, tol / 2, most)
    return _distributions(scores), 2 * error


def _swept(
    walk: GraphWalk, restarts: Matrix, restart: float, tol: float, most: int, dangling: str
) -> tuple[Array, float]:
    loops = compiled()
    assert loops is not None  # _chosen saw to it
    scores, error = gauss_seidel(walk, loops, restarts, restart, tol / 2, most, dangling)
    return _distributions(scores), 2 * error


def _pushed(matrix: Any, restarts: Array, restart: float, tol: float, most: int, dangling: str) -> tuple[Array, float]:
    scores, worst = np.zeros(restarts.shape), 0.0
    for j in range(restarts.shape[1]):
        nodes = np.flatnonzero(restarts[:, j])
        state = PushState(matrix, nodes, restarts[nodes, j], restart, dangling)
        state.run(tol / 2, float(most) * max(matrix.nnz, matrix.shape[0]))
        touched, found = state.found()
        scores[touched, j] = found
        worst = max(worst, 2 * state.error)
    return _distributions(scores), worst


def _distributions(scores: Array) -> Array:
    """Columns >= 0 of sum one: what lies below zero is error."""
    np.maximum(scores, 0.0, out=scores)
    scores /= scores.sum(axis=0)
    return scores


def _chosen(walk: GraphWalk, method: str, restart: float, q: int) -> str:
    if method == "auto":
        if restart < _DIRECT_RESTART and walk.n <= _DIRECT_NODES:
            return "direct"
        # Of one column conjugate gradients use all cores; sweeps use one for each panel of columns, and far less time.
        if walk.symmetric and (q == 1 or walk.loops is None):
            return "cg"
        return "power" if walk.loops is None else "gauss_seidel"
    if method == "gauss_seidel" and compiled() is None:
        raise ValueError("method='gauss_seidel' needs numba: pip install gramian[fast]; or use method='power'")
    if method in ("cg", "chebyshev") and not walk.symmetric:
        raise ValueError(f"method={method!r} needs a symmetric graph; use method='power' or pass (graph + graph.T) / 2")
    return method


def _for_edges(method: str) -> str:
    if method not in ("auto", "power"):
        raise ValueError(f"method={method!r} needs the whole graph in one memory; edges in partitions take 'power'")
    return "power"
