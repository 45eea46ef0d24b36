"""Personalised PageRank of any graph by Gauss–Seidel sweeps: every node uses the newest scores of its neighbours.

Needs the compiled loops; without them ``power.py`` and ``reversible.py`` do the same in
more time. Columns are swept in panels, so that a neighbour's row is a few whole cache lines; a sweep is sequential, and
threads work on different panels. Most sweeps are in single precision, which halves the memory to be moved; the last
ones, and the bound on the error, are in double precision. Called by :func:`gramian.personalized_pagerank`.
"""

from __future__ import annotations

from types import ModuleType

import numpy as np
from scipy.sparse import csr_array, issparse

from gramian.grams.tiles import run_threaded
from gramian.ranking.graphs.graph_walk import GraphWalk, unsigned
from gramian.ranking.graphs.push import DANGLING
from gramian.ranking.graphs.reversible import isolated_in_closed_form
from gramian.typing import Array, Matrix

_PANEL = 32  # columns: two cache lines in single precision
_SINGLE_STEP = 1e-6  # the step down to which single precision is good: ten times its rounding
_ORDER_COLUMNS = 16  # from so many on, finding a better order of the nodes is paid back
_ORDER_NODES = 2**17  # with fewer, a panel fits the cache in any order
_ORDER_ROUNDS = 3


def gauss_seidel(
    walk: GraphWalk, loops: ModuleType, restarts: Matrix, restart: float, tol: float, max_iter: int, dangling: str
) -> tuple[Array, float]:
    """Solve π = (1 − α) Sᵀ π + α s, where S is P with its dangling rows filled in, by sweeps over the nodes.

    A sweep changes node i by Δ_i = ω (what its equation demands − π_i). When its turn is over its equation is violated
    by (1 − ω) / ω Δ_i, and what node j > i changes later adds (1 − α) S_ji Δ_j. So after a sweep the residual is at
    most (abs(1 − ω) / ω + 1 − α) Σ abs(Δ_j) in L1, and the error at most that over α.

    On a directed graph ω = 1: I − (1 − α) Sᵀ is an M-matrix, for which sweeps converge at least as fast as power
    iteration; taking the scores to sum one before each sweep removes the slowest part of the error, the stationary
    distribution. On a symmetric graph the system is symmetric positive definite in ⟨a, b⟩ = Σ a_i b_i / d_i, so that
    every 0 < ω < 2 converges (Ostrowski). We take Young's ω = 2 / (1 + √(1 − (1 − α)²)), the best where sweeps can be
    analysed: half the sweeps of ω = 1, and about as many as conjugate gradients need products.

    Parameters
    ----------
    walk : GraphWalk
    loops : module
        The compiled loops.
    restarts : ndarray or sparse (n, q)
        Columns s.
    restart, tol : float
        α and the L1 error.
    max_iter : int
    dangling : {"uniform", "seeds", "self"}

    Returns
    -------
    scores : ndarray (n, q)
        Their sums differ from one by at most the error.
    error : float
        Bound on the L1 error of the worst column.
    """
    n, q = restarts.shape
    symmetric = walk.symmetric
    incoming = csr_array(walk.incoming)
    degrees = np.where(walk.degrees > 0, walk.degrees, 1.0)
    names = np.arange(n)
    if walk.sparse and q >= _ORDER_COLUMNS and n >= _ORDER_NODES:
        names = neighbours_together(incoming, loops)
        incoming, degrees = _renamed(incoming, names), degrees[names]
    sink = walk.degrees[names] == 0
    graph = (
        unsigned(incoming.indptr), unsigned(incoming.indices), np.empty(0) if walk.unit else incoming.data,
        walk.scale, degrees, sink, names,
    )  # fmt: skip
    relaxation = 2.0 / (1.0 + np.sqrt(1.0 - (1.0 - restart) ** 2)) if symmetric else 1.0
    per_step = (abs(1.0 - relaxation) / relaxation + 1.0 - restart) / restart
    # The sinks of a symmetric graph are isolated, and in closed form.
    rule = 3 if symmetric or not sink.any() else DANGLING.index(dangling)
    # Scores over degrees must be within the exponents of single precision.
    single = degrees.min() > 1e-30
    most_single = min(max_iter - 1, int(np.log(_SINGLE_STEP) / np.log1p(-restart))) if single else 0
    panels = np.array_split(np.arange(q), max(-(-q // _PANEL), min(2, q // 8), 1))
    scores, errors = np.empty((n, q)), np.empty(len(panels))

    def work(p: int) -> None:
        columns = slice(panels[p][0], panels[p][-1] + 1)
        seeds = restarts[:, columns]
        seeds = seeds.toarray() if issparse(seeds) else np.ascontiguousarray(seeds)
        if symmetric and seeds[walk.dangling].any():
            seeds = isolated_in_closed_form(walk, seeds, restart, dangling) / restart
        seeded = seeds.any(axis=1)[names]
        width = seeds.shape[1]
        x = np.zeros((n, width), np.float32 if most_single else np.float64)
        stuck, factor, moved, mass = np.zeros(width), np.ones(width), np.empty(width), np.empty(width)
        for sweeps in range(max_iter):
            loops.sweep(*graph, seeds, seeded, x, stuck, factor, restart, relaxation, rule, moved, mass)
            step = float((moved / factor).max())
            errors[p] = step * per_step
            if x.dtype == np.float32:
                if step <= _SINGLE_STEP or sweeps + 1 >= most_single:
                    x = x.astype(np.float64)
                    stuck = x[sink].sum(axis=0)
            elif errors[p] <= tol:
                break
            elif rule < 2:
                stuck = x[sink].sum(axis=0)  # summed anew: what was added up change by change drifts by rounding
            if not symmetric:
                # Instead of dividing the scores by their sum we multiply the seeds by it.
                factor = mass.copy()
        x *= degrees[:, None]
        x /= factor
        scores[names, columns] = x

    run_threaded(work, range(len(panels)), entries=float(incoming.nnz) * q)
    return scores, float(errors.max())


def neighbours_together(incoming: Matrix, loops: ModuleType) -> Array:
    """An order of the nodes in which neighbours are near each other, so that their scores share the cache.

    Label propagation: nodes join the community of most of their neighbours, a few times, and communities are lined up.
    Where there are none the order stays about what it is.

    Parameters
    ----------
    incoming : csr_array (n, n)
        Weights do not matter.
    loops : module
        The compiled loops.

    Returns
    -------
    names : ndarray (n,) of int
        The nodes in their new order.
    """
    n = incoming.shape[0]
    labels, counts = np.arange(n, dtype=np.uint32), np.zeros(n, np.int32)
    for _ in range(_ORDER_ROUNDS):
        loops.join_neighbours(unsigned(incoming.indptr), unsigned(incoming.indices), labels, counts)
    return np.argsort(labels, kind="stable")


def _renamed(matrix: Matrix, names: Array) -> Matrix:
    """The matrix of the same graph, node names[i] being called i; rows are not sorted."""
    place = np.empty(len(names), matrix.indices.dtype)
    place[names] = np.arange(len(names))
    rows = matrix[names]
    return csr_array((rows.data, place[rows.indices], rows.indptr), shape=matrix.shape)
