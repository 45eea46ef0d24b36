"""Personalised PageRank by factorising a matrix: exact, for graphs of moderate size or tiny restart probabilities.

Called by :func:`gramian.personalized_pagerank`; what the iterations are tested against is a dense solve of its own.
"""

from __future__ import annotations

import numpy as np
from scipy.linalg import solve
from scipy.sparse import dia_array
from scipy.sparse.linalg import splu

from gramian.configuration import require_memory
from gramian.ranking.graphs.graph_walk import GraphWalk
from gramian.typing import Array


def direct_solution(walk: GraphWalk, restarts: Array, restart: float, dangling: str) -> Array:
    """Scores from one factorisation of D − (1 − α) Aᵀ, for all columns of ``restarts``.

    With dangling rows of P left empty (and d_i = 1 there) Y = D (D − (1 − α) Aᵀ)^-1 S are the expected visits before
    the walker restarts or is stuck. What is stuck enters linearly: sent to u, it adds c y_u with
    c = (1 − α) δᵀ π = (1 − α) α δᵀ Y / (1 − (1 − α) δᵀ y_u), δ marking the dangling nodes; sent to the seeds
    themselves it multiplies, so that π = Y / ΣY; kept, it stays 1 / α times as long.

    Parameters
    ----------
    walk : GraphWalk
    restarts : ndarray (n, q)
        Columns s.
    restart : float
        α.
    dangling : {"uniform", "seeds", "self"}

    Returns
    -------
    scores : ndarray (n, q)
    """
    n, onward, sinks = walk.n, 1.0 - restart, walk.dangling
    uniform = dangling == "uniform" and len(sinks) > 0
    right = np.column_stack([restarts, np.full(n, 1.0 / n)]) if uniform else restarts
    degrees = np.where(walk.degrees > 0, walk.degrees, 1.0)
    visits = degrees[:, None] * _solve(walk, degrees, onward, right)
    if not len(sinks):
        return restart * visits
    if dangling == "self":
        visits[sinks] /= restart
        return restart * visits
    if dangling == "seeds":
        return visits / visits.sum(axis=0)
    Y, y_uniform = visits[:, :-1], visits[:, -1]
    sent = onward * restart * Y[sinks].sum(axis=0) / (1.0 - onward * y_uniform[sinks].sum())
    return restart * Y + np.outer(y_uniform, sent)


def _solve(walk: GraphWalk, degrees: Array, onward: float, right: Array) -> Array:
    # Directed graphs make the system unsymmetric, so it is not one of a Gram.
    n = walk.n
    if walk.sparse:
        A = walk.matrix
        system = dia_array((degrees[None, :], [0]), shape=(n, n)).tocsc() - (onward * walk.scale) * A.T.tocsc()
        return np.asarray(splu(system.tocsc()).solve(np.ascontiguousarray(right)))
    require_memory(8.0 * n * n, f"the dense {n}×{n} system of method='direct'", "use method='power'")
    # In the form I − (1 − α) Pᵀ, which is well conditioned however far apart the weights are.
    system = walk.matrix.T * (-onward * walk.scale / degrees)
    system[np.diag_indices(n)] += 1.0
    return np.asarray(solve(system, right, overwrite_a=True)) / degrees[:, None]
