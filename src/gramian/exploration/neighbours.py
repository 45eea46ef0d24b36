"""t-SNE of a few thousand rows at most, by sums over all pairs: the places of a map.

For so few rows all pairs, as products of matrices, are quicker than a tree over the places. Used by ``chart.py``.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from gramian.typing import Array

_EXAGGERATION, _EXAGGERATED, _STEPS = 12.0, 80, 200  # more steps change no neighbours, only the last decimals
_MOMENTA = 0.5, 0.8  # while exaggerated, and after
_LEAST_GAIN = 0.01
_TILE_ROWS = 128
_BISECTIONS = 40


def neighbour_map(rows: Array, start: Array, *, perplexity: float) -> Array:
    """Places (n, 2) at which near rows are near: t-distributed stochastic neighbour embedding.

    With q_ij = 1 / (1 + ‖y_i − y_j‖²) and Z = Σ_{i≠j} q_ij, the places y minimise KL(p ‖ q / Z). The gradient is

        4 Σ_j (p_ij − q_ij / Z) q_ij (y_i − y_j),

    p twelve times as large in the first steps.

    Parameters
    ----------
    rows : ndarray (n, d)
    start : ndarray (n, 2)
        Places near 0.
    perplexity : float
        Of the neighbours of each row; below n.

    References
    ----------
    van der Maaten, Hinton (2008). Visualizing data using t-SNE. JMLR.

    Belkina et al. (2019). Automated optimized parameters for t-distributed stochastic neighbor embedding. Nature
    Communications. (The size of a step.)
    """
    n = len(rows)
    gradient = _gradient(likely_neighbours(rows, perplexity))
    places = np.array(start, np.float32)
    moves, gains = np.zeros_like(places), np.ones_like(places)
    rate = np.float32(max(n / _EXAGGERATION / 4, 50.0))
    for step in range(_STEPS):
        early = step < _EXAGGERATED
        slope = gradient(places, _EXAGGERATION if early else 1.0)
        if step == _EXAGGERATED:
            moves[:], gains[:] = 0.0, 1.0
        gains = np.where(slope * moves < 0, gains + np.float32(0.2), gains * np.float32(0.8))
        np.maximum(gains, np.float32(_LEAST_GAIN), out=gains)
        moves = np.float32(_MOMENTA[0 if early else 1]) * moves - rate * gains * slope
        places += moves
    return places


def likely_neighbours(rows: Array, perplexity: float) -> Array:
    """p_ij (n, n), which sum to 1: normal densities around each row, as wide as makes its perplexity the given one.

    Rows beyond the 3 · perplexity nearest have none.
    """
    n = len(rows)
    count = min(n - 1, int(3 * perplexity + 1))
    centred = (rows - rows.mean(axis=0)).astype(np.float64)
    squares = np.einsum("ij,ij->i", centred, centred)
    distances = np.maximum(squares[:, None] - 2 * (centred @ centred.T) + squares, 0.0)
    np.fill_diagonal(distances, np.inf)
    near = np.argpartition(distances, count - 1, axis=1)[:, :count]
    distances = np.take_along_axis(distances, near, axis=1)
    distances -= distances.min(axis=1, keepdims=True)
    # The entropy falls with the precision: bisection, in octaves around that of the mean distance.
    usual = -np.log2(np.maximum(distances.mean(axis=1, keepdims=True), 1e-200))
    low, high = usual - 40, usual + 40
    for _ in range(_BISECTIONS):
        middle = (low + high) / 2
        shares, entropy = _shares(distances, np.exp2(middle))
        wide = entropy > np.log(perplexity)
        low, high = np.where(wide, middle, low), np.where(wide, high, middle)
    joint = np.zeros((n, n), np.float32)
    np.put_along_axis(joint, near, shares, axis=1)
    joint += joint.T.copy()
    joint /= joint.sum(dtype=np.float64)
    return joint


def _shares(distances: Array, precisions: Array) -> tuple[Array, Array]:
    weights = np.exp(-distances * precisions)
    total = weights.sum(axis=1, keepdims=True)
    shares = weights / total
    entropy = np.log(total) + precisions * (shares * distances).sum(axis=1, keepdims=True)
    return shares, entropy


def _gradient(likely: Array) -> Callable[[Array, float], Array]:
    """The gradient as a function of the places and the exaggeration; some rows at a time, which stay in the cache."""
    n = len(likely)
    pulls, pushes = np.empty((n, 3), np.float32), np.empty((n, 3), np.float32)
    similar, product = np.empty((2, min(n, _TILE_ROWS), n), np.float32)

    def gradient(places: Array, exaggeration: float) -> Array:
        squares = np.einsum("ij,ij->i", places, places)[:, None]
        one = np.ones_like(squares)
        left, right = np.hstack([-2 * places, squares + 1, one]), np.hstack([places, one, squares]).T
        beside = np.hstack([places, one])
        total = -float(n)
        for start in range(0, n, _TILE_ROWS):
            rows = slice(start, min(start + _TILE_ROWS, n))
            q, weighted = (part[: rows.stop - start] for part in (similar, product))
            np.reciprocal(np.matmul(left[rows], right, out=q), out=q)  # 1 / (1 + ‖y_i − y_j‖²)
            total += float(q.sum(axis=1).sum(dtype=np.float64))
            pulls[rows] = np.multiply(likely[rows], q, out=weighted) @ beside
            pushes[rows] = np.multiply(q, q, out=weighted) @ beside
        pull, push = (sums[:, 2:] * places - sums[:, :2] for sums in (pulls, pushes))
        return np.float32(4) * (np.float32(exaggeration) * pull - push / np.float32(total))

    return gradient
