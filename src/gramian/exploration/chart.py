"""A map of rows: alike ones lie close, and copies of a row lie side by side."""

from __future__ import annotations

import numpy as np
from sklearn.neighbors import NearestNeighbors

from gramian.exploration.neighbours import neighbour_map
from gramian.typing import Array

_PLACED = 2000  # different rows whose places are solved for; the others go where their like are
_NEAR = 5
_PERPLEXITY = 20.0  # 30, the usual one, keeps no more neighbours
_GOLDEN = np.pi * (3 - np.sqrt(5))  # the angle between seeds of a sunflower


def map_of_rows(rows: Array, *, seed: int = 0) -> Array:
    """Coordinates (n, 2) for a map, by t-SNE of at most 2,000 different rows.

    Any other row lies at the mean of the most alike of these, with a little spread. Copies of a row fill a disc around
    its place: t-SNE itself would draw them as a ring.

    Parameters
    ----------
    rows : ndarray (n, d)
        Complete, in units that can be compared.
    seed : int, default 0
    """
    n = len(rows)
    rows = np.asarray(rows, np.float32) if rows.shape[1] else np.zeros((n, 1), np.float32)
    kinds, kind = _kinds(rows)
    copies = np.bincount(kind)
    places = _places_of_kinds(kinds, np.random.default_rng(seed))
    if len(kinds) == n:
        return places[kind]
    # The area of a disc goes with its copies; all together they cover a quarter of the map.
    order = np.argsort(kind, kind="stable")
    turn = np.empty(n)
    turn[order] = np.arange(n) - np.repeat(np.cumsum(copies) - copies, copies)
    radius = np.sqrt(turn / n) * min(0.5, _room(places, copies / n))
    return places[kind] + radius[:, None] * np.column_stack([np.cos(turn * _GOLDEN), np.sin(turn * _GOLDEN)])


def _kinds(rows: Array) -> tuple[Array, Array]:
    """The different rows, in order if they are few, and which of them each row is."""
    # Sorting one number for each row is far quicker than sorting rows. Of a million rows, two different ones share a
    # number once in thirty million tables, and then a place on the map.
    factors = np.random.default_rng(0).integers(2**63, size=(rows.shape[1],), dtype=np.uint64) | np.uint64(1)
    bits = (rows + np.float32(0)).view(np.uint32)  # −0 and 0 are equal
    sums = np.zeros(len(rows), np.uint64)
    for j in range(rows.shape[1]):
        sums = (sums ^ bits[:, j]) * factors[j]
        sums ^= sums >> np.uint64(32)
    _, first, kind = np.unique(sums, return_index=True, return_inverse=True)
    order = np.argsort(first) if len(first) > _PLACED else np.lexsort(rows[first].T[::-1])
    return rows[first[order]], np.argsort(order)[kind.ravel()]


def _places_of_kinds(kinds: Array, rng: np.random.Generator) -> Array:
    n = len(kinds)
    if n < 5:
        return np.column_stack([np.linspace(-0.5, 0.5, n) if n > 1 else np.zeros(n), np.zeros(n)])
    chosen = np.arange(n) if n <= _PLACED else np.sort(rng.choice(n, _PLACED, replace=False))
    some = kinds[chosen]
    perplexity = min(_PERPLEXITY, (len(chosen) - 1) / 3)
    placed = neighbour_map(some, _start(some, rng), perplexity=perplexity)
    placed = (placed - placed.mean(axis=0)) / max(float(np.abs(placed).max()), 1e-12)
    if n == len(chosen):
        return np.asarray(placed, np.float64)
    places = np.empty((n, 2))
    places[chosen] = placed
    others = np.setdiff1d(np.arange(n), chosen, assume_unique=True)
    distances, near = NearestNeighbors(n_neighbors=_NEAR).fit(some).kneighbors(kinds[others])
    weights = 1 / (distances + 1e-3)
    # Neighbours on both sides of a gap would put a row into it; the nearest one decides on which side it is.
    weights[np.linalg.norm(placed[near] - placed[near[:, :1]], axis=2) > 0.1] = 0.0
    weights /= weights.sum(axis=1, keepdims=True)
    jitter = 0.01 * rng.standard_normal((len(others), 2))
    places[others] = np.einsum("ij,ijk->ik", weights, placed[near]) + jitter
    return places


def _start(rows: Array, rng: np.random.Generator) -> Array:
    """The first two principal components, very small, as t-SNE wants its start."""
    centred = (rows - rows.mean(axis=0)).astype(np.float64)
    vectors = np.linalg.eigh(centred.T @ centred)[1][:, ::-1][:, :2]
    start = np.pad(centred @ vectors, ((0, 0), (0, 2 - min(2, rows.shape[1]))))
    return 1e-4 * start / max(float(start.std()), 1e-12) + 1e-6 * rng.standard_normal(start.shape)


def _room(places: Array, shares: Array) -> float:
    """The factor of the radius √share at which no two discs overlap much."""
    if len(places) < 2:
        return 0.5
    # Of very many kinds the most frequent ones tell.
    largest = np.argsort(-shares)[:200]
    distances = np.linalg.norm(places[largest][:, None] - places[largest], axis=2)
    together = np.sqrt(shares[largest])[:, None] + np.sqrt(shares[largest])
    np.fill_diagonal(distances, np.inf)
    return float(np.min(distances / together))
