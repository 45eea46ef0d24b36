"""Personalised PageRank of any graph by Gauss–Seidel sweeps: every node uses the newest scores of its neighbours.

Needs the compiled loops; without them :mod:`gramian.ranking.power` does the same in more steps. A sweep is sequential;
threads work on different columns. One column at a time is also the fastest on one thread, as long as a vector of scores
fits the processor's cache and a block of them does not. Called by :func:`gramian.personalized_pagerank`.
"""

from __future__ import annotations

from types import ModuleType

import numpy as np
from scipy.sparse import csr_array

from gramian.grams.tiles import run_threaded
from gramian.ranking.push import DANGLING
from gramian.ranking.transitions import Transitions, unsigned
from gramian.typing import Array


def gauss_seidel(
    walk: Transitions, loops: ModuleType, restarts: Array, restart: float, tol: float, max_iter: int, dangling: str
) -> tuple[Array, float]:
    """Solve π = (1 − α) Sᵀ π + α s, where S is P with its dangling rows filled in, by sweeps over the nodes.

    When node i is updated its equation holds; what node j > i changes later by Δ_j disturbs it by (1 − α) S_ji Δ_j. So
    after a sweep the residual is at most (1 − α) Σ|Δ_j| in L1, and the error at most that over α: the rule of power
    iteration. I − (1 − α) Sᵀ is an M-matrix, for which sweeps converge at least as fast as power iteration. Scaling
    the scores to sum one before each sweep takes out the slowest part of the error, the stationary distribution.

    Parameters
    ----------
    walk : Transitions
    loops : module
        The compiled loops.
    restarts : ndarray (n, q)
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
    incoming, sink = csr_array(walk.incoming), walk.degrees == 0
    degrees = np.where(sink, 1.0, walk.degrees if walk.unit else walk.degrees / walk.scale)
    weights = np.empty(0) if walk.unit else incoming.data
    graph = (unsigned(incoming.indptr), unsigned(incoming.indices), weights, degrees, sink)
    rule = DANGLING.index(dangling)
    scores, errors = np.empty((n, q)), np.empty(q)

    def work(column: int) -> None:
        seeds = np.ascontiguousarray(restarts[:, column])
        x = seeds / degrees
        stuck = float(seeds[sink].sum())
        for _ in range(max_iter):
            stuck, moved, mass = loops.sweep(*graph, seeds, x, stuck, restart, rule)
            errors[column] = moved * (1.0 - restart) / restart
            if errors[column] <= tol:
                break
            x /= mass
            stuck /= mass
        # After the last sweep the scores were scaled if it was not good enough, which the bound then has to bear.
        errors[column] += abs(mass - 1.0) if errors[column] > tol else 0.0
        scores[:, column] = x * degrees

    run_threaded(work, range(q), entries=float(walk.matrix.nnz) * q if walk.sparse else 0.0)
    return scores, float(errors.max())
