"""Personalised PageRank around one or a few nodes, touching only the part of the graph that matters.

Forward push: mass that starts at the seeds is settled node by node, a share α staying and the rest moving on along the
edges; nodes with little unsettled mass per edge are left alone. Nothing of size n is computed, checked or summed, so a
query costs the same on a graph of any size.
"""

from __future__ import annotations

from numbers import Real
from typing import Any, NamedTuple

import numpy as np
from scipy.sparse import issparse

from gramian.ranking.graphs.graph_walk import as_matrix, compiled
from gramian.ranking.graphs.seeds import check_restart, check_top, restart_matrix
from gramian.typing import Array, Matrix

_COMPILE_EDGES = 50_000  # with fewer, loading the compiler takes longer than the query
_FINER = 0.25  # how much less mass per edge is worth a push in the next round
_SHARPENED = 512  # of the best nodes of an undirected graph
DANGLING = ("uniform", "seeds", "self")


class PushResult(NamedTuple):
    """The result of :func:`push_pagerank`."""

    nodes: Array
    """Nodes that mass has reached, best first; ties go to the lowest index."""

    scores: Array
    """Their scores: lower bounds of the exact ones, or estimates with ``directed=False``."""

    residual: float
    """Bound of the L1 error of the scores, counting all nodes that are not listed as zero: the mass not settled."""

    edges_touched: int
    """Edges along which mass was pushed, each as often as it was used."""

    beyond: float = 0.0
    """The best score that is not listed."""

    @property
    def certified(self) -> int:
        """The largest k for which the first k nodes are proved to be the k best, in some order.

        No node can gain more than the residual. So a list is proved where the scores fall by more than that; it is
        usually right long before.
        """
        falls = self.scores - np.append(self.scores[1:], self.beyond)
        proved = np.flatnonzero(falls > self.residual)
        return int(proved[-1]) + 1 if len(proved) else 0


def push_pagerank(
    graph: Any,
    seeds: Any,
    *,
    restart: float = 0.15,
    tol: float = 1e-3,
    dangling: str = "seeds",
    max_edges: float | None = None,
    directed: bool = True,
    top: int | None = None,
) -> PushResult:
    """Personalised PageRank near the seeds, without looking at the rest of the graph.

    Keeps scores p and residuals r >= 0 with π = p + Σ_i r_i π(i), where π(i) are the scores for the single seed i.
    A push at node i moves α r_i into p_i and (1 − α) r_i P_ij into r_j. Since every π(i) sums to one, ‖π − p‖₁ is
    exactly the residual mass Σ r. At the end p + α r is returned, because π(i) has at least α at i.

    Parameters
    ----------
    graph : scipy sparse or ndarray (n, n)
        Directed or not, weights >= 0; CSR is used as it is. Only the weights that are met are checked.
    seeds : int, list of int, dict, float (n,), bool (n,)
        Where the walker restarts; see :func:`gramian.ranking.restart_matrix`.
    restart : float, default 0.15
        Probability α of restarting at each step.
    tol : float, default 1e-3
        Largest L1 error. Much of the last tenth is spread thinly over the whole graph, so a small ``tol`` is not local.
    dangling : {"seeds", "uniform", "self"}, default "seeds"
        Where a walker goes who can go nowhere; ``"uniform"`` is not local, so mass it would send counts as residual
        until nothing else is left to push.
    max_edges : float, optional
        Stop after so many edges even if ``tol`` is not reached: what one gives for a list of the best nodes, whose
        order is nearly right long before their scores are. The residual says what the error is, and ``certified``
        how much of the list it proves.
    directed : bool, default True
        False says that the graph is symmetric (which is not checked, because that would mean to look at all of it).
        Then a walk is as likely backwards, and what node j still gets is d_j times a mean of r_i / d_i over where walks
        from j end, d being degrees. Walks of no step and of one are looked up; long ones end anywhere, by degree,
        so for the others the mean over the whole graph is taken. That brings the best 512 nodes closer to their order.
    top : int, optional
        List only so many nodes; sorting all that were reached takes as long as the query.

    Returns
    -------
    PushResult
        ``nodes``, ``scores``, ``residual``, ``edges_touched``.

    References
    ----------
    Andersen, Chung, Lang (2006). Local graph partitioning using PageRank vectors. FOCS.

    Examples
    --------
    >>> from scipy.sparse import csr_array
    >>> from gramian.ranking import push_pagerank
    >>> chain = csr_array([[0, 1, 0, 0], [1, 0, 1, 0], [0, 1, 0, 1], [0, 0, 1, 0]])
    >>> found = push_pagerank(chain, 0, tol=0.01)
    >>> found.nodes[:2], found.residual <= 0.01
    (array([1, 0]), True)
    """
    matrix = csr_of(graph)
    n = matrix.shape[0]
    restart = check_restart(restart)
    check_dangling(dangling)
    if isinstance(seeds, (int, np.integer)) and not isinstance(seeds, bool):
        # A dense column for one node of a million would cost more than the query.
        if not 0 <= int(seeds) < n:
            raise ValueError(f"seeds={seeds} is not a node; pass an index from 0 to {n - 1}")
        nodes, shares = np.array([int(seeds)]), np.ones(1)
    else:
        column, single = restart_matrix(seeds, n)
        if not single:
            raise ValueError("push_pagerank takes one restart distribution; call it once for each column of seeds")
        nodes = np.flatnonzero(column[:, 0])
        shares = column[nodes, 0]
    if not isinstance(tol, Real) or isinstance(tol, bool) or not 0 < float(tol) < np.inf:
        raise ValueError(f"tol={tol!r} must be a positive number, the L1 error")
    if max_edges is not None and not (isinstance(max_edges, Real) and max_edges > 0):
        raise ValueError(f"max_edges={max_edges!r} must be a positive number, or None")
    top = check_top(top)
    if not isinstance(directed, (bool, np.bool_)):
        raise ValueError(f"directed={directed!r} must be True, or False for a graph that is symmetric")
    state = PushState(matrix, nodes, shares, restart, dangling)
    state.run(tol, np.inf if max_edges is None else float(max_edges))
    nodes, scores = state.found()
    added = 0.0 if directed else state.sharpen(nodes, scores)
    if top is not None and top < len(nodes):
        # All that may be among the best, ties included, and the best one beyond; sorting all would take as long again.
        least = np.partition(scores, len(scores) - top - 1)[len(scores) - top - 1]
        nodes, scores = nodes[scores >= least], scores[scores >= least]
    order = np.lexsort((nodes, -scores))
    nodes, scores = nodes[order], scores[order]
    listed = len(nodes) if top is None else min(top, len(nodes))
    beyond = float(scores[listed]) if listed < len(scores) else 0.0
    return PushResult(nodes[:listed], scores[:listed], state.error + added, state.edges, beyond)


class PushState:
    """The scores and residuals of one query while it is being answered; see :func:`push_pagerank`."""

    def __init__(self, matrix: Matrix, nodes: Array, shares: Array, restart: float, dangling: str) -> None:
        n = matrix.shape[0]
        self.matrix, self.restart, self.dangling = matrix, restart, dangling
        self.seeds, self.shares = nodes.astype(np.int64), shares
        # Zeros that nobody writes to take no memory: the system gives pages out when they are first touched.
        self.scores, self.residual = np.zeros(n), np.zeros(n)
        self.queued = np.zeros(n, np.uint8)
        self.touched, self.queue = np.empty(n, np.int64), np.empty(n, np.int64)
        self.touched[: len(nodes)] = nodes
        self.queued[nodes] = 1
        self.n_touched = len(nodes)
        self.residual[nodes] = shares
        self.waiting = 0.0  # mass on its way to all nodes alike
        self.edges = 0
        self.left = 1.0
        self.loops = compiled() if matrix.nnz >= _COMPILE_EDGES else None

    @property
    def error(self) -> float:
        """L1 error of what :meth:`found` returns."""
        return (1.0 - self.restart) * (self.left - self.waiting) + self.waiting

    def run(self, tol: float, max_edges: float) -> None:
        """Push until the error is at most ``tol`` or ``max_edges`` edges were used."""
        threshold = self._coarse_threshold()
        while self.error > tol and self.edges <= max_edges:
            waited, edges = (self._round if self.loops is None else self._compiled_round)(threshold, max_edges)
            self.waiting += waited
            self.edges += edges
            pushable = float(self.residual[self.touched[: self.n_touched]].sum())
            self.left = pushable + self.waiting
            threshold *= _FINER
            # Waiting mass above half of tol must arrive sooner or later, and is not worth it before it is the most.
            if self.waiting > max(0.5 * tol, pushable) and self.error > tol:
                self._spread()
                threshold = self._coarse_threshold()

    def _coarse_threshold(self) -> float:
        """A tenth of the largest residual per edge."""
        nodes = self.touched[: self.n_touched]
        return 0.1 * float((self.residual[nodes] / np.maximum(self._counts(nodes), 1)).max())

    def _spread(self) -> None:
        """Let the waiting mass arrive, everywhere: from here on the query is no longer local."""
        n = len(self.residual)
        self.residual += self.waiting / n
        self.waiting = 0.0
        fresh = np.flatnonzero(self.queued == 0)
        self.touched[self.n_touched : self.n_touched + len(fresh)] = fresh
        self.n_touched = n
        self.queued[fresh] = 1

    def found(self) -> tuple[Array, Array]:
        """The touched nodes, in no order, and their scores."""
        nodes = self.touched[: self.n_touched].copy()
        return nodes, self.scores[nodes] + self.restart * self.residual[nodes]

    def sharpen(self, nodes: Array, scores: Array) -> float:
        """Add to the best scores, in place, what symmetric edges are expected to bring; return how much in all."""
        best = np.argpartition(-scores, _SHARPENED)[:_SHARPENED] if len(scores) > _SHARPENED else np.arange(len(scores))
        degrees, weights, owner, position = self._edges(nodes[best])
        self.edges += len(owner)
        if not len(owner):
            return 0.0
        # Degrees of other nodes would cost all their edges; the best nodes tell what an edge weighs.
        per_edge = degrees.sum() / len(owner)
        neighbours = self.matrix.indices[position]
        per_edge_of = self.residual[neighbours] / self._counts(neighbours)
        near = np.bincount(owner, weights * per_edge_of, len(best)) / per_edge
        far = float(self.residual[nodes].sum()) / self.matrix.nnz * (degrees / per_edge)
        expected = (1.0 - self.restart) * (self.restart * near + (1.0 - self.restart) * far)
        scores[best] += expected
        return float(expected.sum())

    def _compiled_round(self, threshold: float, max_edges: float) -> tuple[float, int]:
        A = self.matrix
        assert self.loops is not None
        self.n_touched, waited, edges = self.loops.push(
            A.indptr, A.indices, A.data, self.scores, self.residual, self.seeds, self.shares, self.touched,
            self.n_touched, self.queued, self.queue, threshold, self.restart, DANGLING.index(self.dangling),
            int(min(max_edges - self.edges, 2.0**62)),
        )  # fmt: skip
        if edges < 0:
            _refuse(-1 - edges)
        return waited, edges

    def _round(self, threshold: float, max_edges: float) -> tuple[float, int]:
        """The same in NumPy: all nodes that are worth it are pushed together, again and again."""
        A, alpha = self.matrix, self.restart
        edges, waited = 0, 0.0
        while edges <= max_edges - self.edges:
            live = self.touched[: self.n_touched]
            counts = self._counts(live)
            worth = self.residual[live] > threshold * np.maximum(counts, 1)
            if not worth.any():
                break
            active = live[worth]
            mass = self.residual[active]
            self.residual[active] = 0.0
            totals, weights, owner, position = self._edges(active)
            edges += len(position)
            stuck = totals == 0
            onward = (1.0 - alpha) * mass
            self.scores[active] += alpha * mass
            over = np.where(stuck, 1.0, totals)[owner]
            self._receive(A.indices[position], onward[owner] * weights / over)
            if stuck.any():
                lost = float(onward[stuck].sum())
                if self.dangling == "self":
                    self.scores[active[stuck]] += onward[stuck]
                elif self.dangling == "uniform":
                    waited += lost
                else:
                    self._receive(self.seeds, lost * self.shares)
        return waited, edges

    def _counts(self, nodes: Array) -> Array:
        """How many edges each node has."""
        return self.matrix.indptr[nodes + 1] - self.matrix.indptr[nodes]

    def _edges(self, nodes: Array) -> tuple[Array, Array, Array, Array]:
        """The degrees of nodes, and of all their edges the weights, whose of the nodes they are, and the positions."""
        A = self.matrix
        counts = self._counts(nodes)
        ends = np.cumsum(counts)
        position = np.arange(ends[-1]) + np.repeat(A.indptr[nodes] - (ends - counts), counts)
        weights, owner = A.data[position], np.repeat(np.arange(len(nodes)), counts)
        bad = ~(weights >= 0) | ~np.isfinite(weights)
        if bad.any():
            _refuse(int(nodes[owner[bad][0]]))
        degrees = np.bincount(owner, weights, len(nodes))
        if np.isinf(degrees).any():
            _refuse(int(nodes[np.isinf(degrees)][0]))
        return degrees, weights, owner, position

    def _receive(self, nodes: Array, mass: Array) -> None:
        np.add.at(self.residual, nodes, mass)
        fresh = np.unique(nodes[self.queued[nodes] == 0])
        self.touched[self.n_touched : self.n_touched + len(fresh)] = fresh
        self.n_touched += len(fresh)
        self.queued[fresh] = 1


def csr_of(graph: Any) -> Matrix:
    """The graph as CSR, as it is where possible: duplicates and order do not matter to a push."""
    if issparse(graph) and graph.format == "csr" and graph.dtype == np.float64 and graph.ndim == 2:
        if graph.shape[0] != graph.shape[1]:
            raise ValueError(f"graph has shape {graph.shape}; pass a square matrix, one row and one column per node")
        return graph
    matrix = as_matrix(graph)
    if issparse(matrix):
        return matrix
    from scipy.sparse import csr_array

    return csr_array(matrix)


def check_dangling(dangling: Any) -> None:
    """Check the parameter ``dangling``."""
    if not isinstance(dangling, str) or dangling not in DANGLING:
        raise ValueError(f"dangling={dangling!r} is not known; pass one of {', '.join(map(repr, DANGLING))}")


def _refuse(node: int) -> None:
    raise ValueError(
        f"graph has weights at node {node} that are negative or not finite, or whose sum is not finite; pass weights "
        ">= 0 of moderate size"
    )
