"""Personalised PageRank of any graph by power iteration, many restart distributions at once.

Uses the product of :class:`~.graph_walk.GraphWalk`; called by :func:`gramian.personalized_pagerank`.
"""

from __future__ import annotations

import numpy as np

from gramian.ranking.graphs.edge_partitions import PartitionedWalk
from gramian.ranking.graphs.graph_walk import GraphWalk
from gramian.typing import Array


def power_iteration(
    walk: GraphWalk | PartitionedWalk, restarts: Array, restart: float, tol: float, max_iter: int, dangling: str
) -> tuple[Array, float]:
    """Iterate r ← (1 − α) Sᵀ r + α s from r = s, where S is P with its dangling rows filled in.

    The map contracts distances of distributions in L1 by 1 − α, so a step of length δ = ‖r' − r‖₁ leaves an error of
    at most δ (1 − α) / α: a column stops when its step is at most tol α / (1 − α), and leaves the block.

    Parameters
    ----------
    walk : GraphWalk or PartitionedWalk
    restarts : ndarray (n, q)
        Columns s.
    restart, tol : float
        α and the L1 error.
    max_iter : int
    dangling : {"uniform", "seeds", "self"}

    Returns
    -------
    scores : ndarray (n, q)
    error : float
        Bound on the L1 error of the worst column.
    """
    n, q = restarts.shape
    onward = 1.0 - restart
    product, inverse, sinks = walk.product, walk.inverse, walk.dangling
    result = np.empty((n, q))
    live = np.arange(q)
    seeds = restarts
    now = np.array(restarts, order="C")
    scaled = now * inverse
    after, scaled_after = np.empty_like(now), np.empty_like(now)
    worst = 0.0
    steps = from_seeds = everywhere = np.empty(0)

    def advance(t: int, rows: slice) -> None:
        new = product(rows, scaled)
        new *= onward
        new += from_seeds * seeds[rows]
        if everywhere.any():
            new += everywhere
        if dangling == "self" and len(sinks):
            kept = sinks[np.searchsorted(sinks, rows.start) : np.searchsorted(sinks, rows.stop)]
            new[kept - rows.start] += onward * now[kept]
        after[rows] = new
        np.multiply(new, inverse[rows], out=scaled_after[rows])
        new -= now[rows]
        steps[t] = np.abs(new, out=new).sum(axis=0)

    for iteration in range(max_iter):
        stuck = onward * now[sinks].sum(axis=0)
        steps = np.zeros((len(walk.tiles), len(live)))
        # What every node gets per unit of its restart probability, and what every node gets anyway.
        from_seeds = restart + stuck if dangling == "seeds" else np.full(len(live), restart)
        everywhere = stuck / n if dangling == "uniform" else np.zeros(len(live))
        walk.each(advance, len(live))
        now, after, scaled, scaled_after = after, now, scaled_after, scaled
        errors = steps.sum(axis=0) * (onward / restart)
        last = iteration == max_iter - 1
        done = np.ones(len(live), bool) if last else errors <= tol
        if done.any():
            result[:, live[done]] = now[:, done]
            worst = max(worst, float(errors[done].max()))
            rest = ~done
            live = live[rest]
            if not len(live):
                break
            seeds, now, scaled = (np.ascontiguousarray(block[:, rest]) for block in (seeds, now, scaled))
            after, scaled_after = np.empty_like(now), np.empty_like(now)
    # Rounding moves the sums by some 1e-15; the scores are a distribution.
    result /= result.sum(axis=0)
    return result, worst
