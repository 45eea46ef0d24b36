"""A map of rows: alike ones lie close."""

from __future__ import annotations

import numpy as np
from sklearn.manifold import TSNE
from sklearn.neighbors import NearestNeighbors

from gramian.typing import Array

_PLACED = 2000  # rows whose places are solved for; the others go where their like are
_NEAR = 5
_STEPS, _ANGLE = 450, 0.8  # of t-SNE: more steps and finer angles change no neighbours, only the last decimals


def map_of_rows(embedding: Array, *, seed: int = 0) -> Array:
    """Coordinates (n, 2) for a map, from unit rows whose dot products are likenesses.

    t-SNE of at most 2,000 rows; any other row lies at the mean of the most alike of these, with a little spread.
    """
    n = len(embedding)
    rng = np.random.default_rng(seed)
    if n < 5:
        return np.column_stack([np.arange(n, dtype=float), np.zeros(n)])
    chosen = np.arange(n) if n <= _PLACED else np.sort(rng.choice(n, _PLACED, replace=False))
    start = embedding[chosen][:, :2].astype(np.float64)
    start = np.pad(start, ((0, 0), (0, 2 - start.shape[1])))
    spread = max(float(start.std()), 1e-12)
    start = 1e-4 * (start - start.mean(axis=0)) / spread + 1e-6 * rng.standard_normal(start.shape)
    perplexity = min(30.0, (len(chosen) - 1) / 3)
    solver = TSNE(perplexity=perplexity, init=start, max_iter=_STEPS, angle=_ANGLE, random_state=seed)
    placed = solver.fit_transform(embedding[chosen])
    placed = (placed - placed.mean(axis=0)) / max(float(np.abs(placed).max()), 1e-12)
    if n == len(chosen):
        return np.asarray(placed, np.float64)
    places = np.empty((n, 2))
    places[chosen] = placed
    others = np.setdiff1d(np.arange(n), chosen, assume_unique=True)
    search = NearestNeighbors(n_neighbors=_NEAR).fit(embedding[chosen])
    distances, near = search.kneighbors(embedding[others])
    weights = 1 / (distances + 1e-3)
    weights /= weights.sum(axis=1, keepdims=True)
    # Neighbours on both sides of a gap would put a row into it; the nearest one decides on which side it is.
    far = np.linalg.norm(placed[near] - placed[near[:, :1]], axis=2) > 0.1
    weights[far] = 0.0
    weights /= weights.sum(axis=1, keepdims=True)
    jitter = 0.01 * rng.standard_normal((len(others), 2))
    places[others] = np.einsum("ij,ijk->ik", weights, placed[near]) + jitter
    return places
