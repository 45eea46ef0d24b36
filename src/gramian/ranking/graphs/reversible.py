"""Personalised PageRank of symmetric graphs in fewer products: conjugate gradients and Chebyshev's iteration.

On a symmetric graph the walk is reversible: Pᵀ is self-adjoint in the inner product ⟨a, b⟩ = Σ a_i b_i / d_i, with
eigenvalues in [−1, 1]. Both methods are written in that inner product, so that the residual they carry along is the
residual of the scores themselves and its L1 norm over α bounds their L1 error: what ``tol`` promises, and what the
symmetric solvers of :mod:`gramian.grams` do not measure. Called by :func:`gramian.personalized_pagerank`.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from gramian.ranking.graphs.graph_walk import GraphWalk
from gramian.typing import Array


def isolated_in_closed_form(walk: GraphWalk, restarts: Array, restart: float, dangling: str) -> Array:
    """The right side b of π = (1 − α) Pᵀ π + b once the mass that isolated nodes send away is known.

    In a symmetric graph nothing flows into a node that nothing leaves, so its score is b_i and the total c that such
    nodes send away solves a scalar equation: with u the distribution it goes to and I the isolated nodes,
    b = α s + c u and c = (1 − α) b(I), hence c = (1 − α) α s(I) / (1 − (1 − α) u(I)).
    """
    right = restart * restarts
    alone, onward = walk.dangling, 1.0 - restart
    if len(alone) and dangling == "self":
        right[alone] = restarts[alone]
    elif len(alone):
        sent = onward * right[alone].sum(axis=0)
        if dangling == "uniform":
            right += sent / (1.0 - onward * len(alone) / walk.n) / walk.n
        else:
            right += restarts * (sent / (1.0 - onward * restarts[alone].sum(axis=0)))
    return right


def reversible_cg(walk: GraphWalk, right: Array, restart: float, tol: float, max_iter: int) -> tuple[Array, float]:
    """Solve (I − (1 − α) Pᵀ) π = b for each column b by conjugate gradients in ⟨a, b⟩ = Σ a_i b_i / d_i.

    The operator's eigenvalues lie in [α, 2 − α], and the start b / α has the right total, so the eigenvalue α of
    each component's stationary distribution is out of the game: the better the graph mixes, the fewer products.

    Parameters
    ----------
    walk : GraphWalk
        Symmetric.
    right : ndarray (n, q)
        From :func:`isolated_in_closed_form`.
    restart, tol : float
        α and the L1 error.
    max_iter : int

    Returns
    -------
    scores : ndarray (n, q)
    error : float
        Bound on the L1 error of the worst column.
    """
    onward = 1.0 - restart
    product, inverse = walk.product, walk.inverse
    result = right / restart
    result[walk.dangling] = right[walk.dangling]
    live = np.arange(right.shape[1])
    scores = result.copy()
    residual, bounds = _residual(walk, right, scores, restart)
    direction = residual.copy()
    scaled = direction * inverse
    image = np.empty_like(direction)
    squares = _sums(walk, lambda rows: residual[rows] ** 2 * inverse[rows], len(live))
    worst = 0.0
    length = turn = np.empty(0)
    parts = np.empty(0)

    def apply(t: int, rows: slice) -> None:
        flow = product(rows, scaled)
        flow *= -onward
        flow += direction[rows]
        image[rows] = flow
        parts[0, t] = np.einsum("ij,ij->j", flow, scaled[rows])

    def move(t: int, rows: slice) -> None:
        scores[rows] += length * direction[rows]
        left = residual[rows]
        left -= length * image[rows]
        parts[1, t] = np.abs(left).sum(axis=0)
        parts[2, t] = np.einsum("ij,ij->j", left, left * inverse[rows])

    def aim(t: int, rows: slice) -> None:
        ahead = direction[rows]
        ahead *= turn
        ahead += residual[rows]
        np.multiply(ahead, inverse[rows], out=scaled[rows])

    for iteration in range(max_iter + 1):
        # A little below tol, because the residual that is carried along drifts from the true one.
        done = np.full(len(live), iteration == max_iter) | (bounds <= 0.99 * tol) | (squares == 0)
        if done.any():
            finished = np.ascontiguousarray(scores[:, done])
            true = _residual(walk, right[:, live[done]], finished, restart)[1]
            result[:, live[done]] = finished
            worst = max(worst, float(true.max()))
            live = live[~done]
            if not len(live):
                break
            scores, residual, direction, scaled, image = (
                np.ascontiguousarray(block[:, ~done]) for block in (scores, residual, direction, scaled, image)
            )
            squares = squares[~done]
        parts = np.zeros((3, len(walk.tiles), len(live)))
        walk.each(apply, len(live))
        length = squares / parts[0].sum(axis=0)
        walk.each(move, len(live))
        bounds, new_squares = parts[1].sum(axis=0) / restart, parts[2].sum(axis=0)
        turn, squares = new_squares / squares, new_squares
        walk.each(aim, len(live))
    return result, worst


def chebyshev(walk: GraphWalk, right: Array, restart: float, tol: float, max_iter: int) -> tuple[Array, float]:
    """Solve (I − (1 − α) Pᵀ) π = b for each column b by Chebyshev's semi-iteration.

    p'' = ω ((1 − α) Pᵀ p' + b − p) + p with ω from 1 / (1 − ρ² ω / 4), ρ = 1 − α: the error falls by the factor
    ρ / (1 + √(1 − ρ²)) per product (0.56 for α = 0.15) whatever the graph, without inner products.
    Parameters and results are those of :func:`reversible_cg`.
    """
    onward = 1.0 - restart
    product, inverse = walk.product, walk.inverse
    now = right / restart
    now[walk.dangling] = right[walk.dangling]
    before = np.zeros_like(now)
    scaled = now * inverse
    scaled_after = np.empty_like(scaled)
    live = np.arange(right.shape[1])
    result = np.empty_like(now)
    weight, worst = 1.0, 0.0
    parts = np.empty(0)

    def advance(t: int, rows: slice) -> None:
        new = product(rows, scaled)
        new *= onward
        new += right[rows]
        parts[t] = np.abs(new - now[rows]).sum(axis=0)
        new -= before[rows]
        new *= weight
        new += before[rows]
        before[rows] = new
        np.multiply(new, inverse[rows], out=scaled_after[rows])

    for iteration in range(max_iter + 1):
        parts = np.zeros((len(walk.tiles), len(live)))
        walk.each(advance, len(live))
        bounds = parts.sum(axis=0) / restart
        done = np.ones(len(live), bool) if iteration == max_iter else bounds <= tol
        if done.any():
            result[:, live[done]] = now[:, done]
            worst = max(worst, float(bounds[done].max()))
            live = live[~done]
            if not len(live):
                break
            right, now, before, scaled, scaled_after = (
                np.ascontiguousarray(block[:, ~done]) for block in (right, now, before, scaled, scaled_after)
            )
        now, before, scaled, scaled_after = before, now, scaled_after, scaled
        weight = 1.0 / (1.0 - onward**2 / (2.0 if iteration == 0 else 4.0 / weight))
    return result, worst


def _residual(walk: GraphWalk, right: Array, scores: Array, restart: float) -> tuple[Array, Array]:
    """b − (I − (1 − α) Pᵀ) p and the bounds that its L1 norms give on the L1 errors."""
    scaled = scores * walk.inverse
    residual = np.empty_like(scores)

    def fill(t: int, rows: slice) -> None:
        flow = walk.product(rows, scaled)
        flow *= 1.0 - restart
        flow += right[rows]
        flow -= scores[rows]
        residual[rows] = flow

    walk.each(fill, scores.shape[1])
    return residual, _sums(walk, lambda rows: np.abs(residual[rows]), scores.shape[1]) / restart


def _sums(walk: GraphWalk, values: Callable[[slice], Array], width: int) -> Array:
    """Column sums of values(rows) over all tiles, in the order of the tiles."""
    total = np.zeros(width)
    for rows in walk.tiles:
        total += values(rows).sum(axis=0)
    return total
