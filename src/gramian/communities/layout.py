"""Where nodes and communities are drawn: discs of communities that do not overlap, and nodes inside their disc.

Pure functions on arrays. Edges pull, everything else pushes (Fruchterman and Reingold, 1991), first among communities,
then among the nodes of each, which edges to other communities pull towards those.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy.sparse import csr_array

from gramian.typing import Array, Matrix

MOST_NODES = 5000
"""Nodes that are drawn; in a larger network communities are."""
MOST_DISCS = 150

_STEPS = 60
_PUSHED_BY = 400  # nodes of a community that push the others, at most
_GAP = 1.12  # distance of discs that touch, in sums of their radii


@dataclass(frozen=True)
class Layout:
    """Places of communities and nodes in a plane.

    Attributes
    ----------
    discs : ndarray (k, 3)
        Centre and radius of the communities 1, 2, …, k.
    between : ndarray (k, k)
        Weight of the edges between them.
    nodes : ndarray (n, 2), or (0, 2)
        Of all nodes; empty if there are too many of them. NaN for a node outside the discs.
    """

    discs: Array
    between: Array
    nodes: Array


def lay_out(graph: Matrix, labels: Array, seed: int = 0) -> Layout:
    """Place the largest communities, and nodes if there are few enough.

    Parameters
    ----------
    graph : CSR array (n, n)
        Symmetric weights.
    labels : ndarray (n,)
        Communities from 1, largest first; 0 for none.
    seed : int
    """
    rng = np.random.default_rng(seed)
    k = min(int(labels.max(initial=0)), MOST_DISCS)
    shown = np.where(labels <= k, labels, 0)
    n = len(labels)
    member = csr_array((np.ones(n), (np.arange(n), shown)), shape=(n, k + 1))
    between = (member.T @ graph @ member).toarray()[1:, 1:]
    np.fill_diagonal(between, 0)
    sizes = np.bincount(shown, minlength=k + 1)[1:]
    discs = np.column_stack([place_discs(between, np.sqrt(sizes), rng), np.sqrt(sizes)])
    if n > MOST_NODES:
        return Layout(discs, between, np.empty((0, 2)))
    centres = np.vstack([np.full(2, np.nan), discs[:, :2]])[shown]
    nodes = np.full((n, 2), np.nan)
    for number in range(1, k + 1):
        own = np.flatnonzero(shown == number)
        pull = _outward(graph[own], centres, discs[number - 1, :2], shown != number)
        inner = place_nodes(graph[own][:, own], pull, rng)
        nodes[own] = discs[number - 1, :2] + discs[number - 1, 2] * inner
    return Layout(discs, between, nodes)


def place_discs(between: Array, radii: Array, rng: np.random.Generator) -> Array:
    """Centres (k, 2) of discs of given radii: joined ones near each other, none on top of another."""
    k = len(radii)
    if k < 2:
        return np.zeros((k, 2))
    reach = radii[:, None] + radii[None, :]
    strength = between / (between.sum(axis=1, keepdims=True) + 1e-300)
    strength = (strength + strength.T) / 2
    angle = 2 * np.pi * np.arange(k) * 0.381966
    spot = np.sqrt(np.arange(k) + 0.5)[:, None] * np.column_stack([np.cos(angle), np.sin(angle)]) * radii.mean()
    spot += 0.01 * radii.mean() * rng.standard_normal(spot.shape)
    for step in range(6 * _STEPS):
        heat = max(1 - step / (4 * _STEPS), 0)  # at last nothing pulls, and discs only get out of each other's way
        away = spot[:, None] - spot[None, :]
        far = np.sqrt((away**2).sum(axis=2)) + 1e-9  # a disc has no way to itself, so no force either
        push = np.maximum(_GAP * reach - far, 0) / 2
        pull = strength * np.maximum(far - _GAP * reach, 0)
        force = (away / far[..., None] * (push - 0.3 * heat * pull)[..., None]).sum(axis=1)
        # To the middle, so that what is apart stays in sight; large discs first, else they end up around the small.
        spot = spot + 0.8 * force - 0.03 * heat * (radii / radii.max())[:, None] * spot
    return spot - spot.mean(axis=0)


def place_nodes(graph: Matrix, pull: Array, rng: np.random.Generator) -> Array:
    """Places (n, 2) of the nodes of one community in a disc of radius one.

    Parameters
    ----------
    graph : CSR array (n, n)
        Edges inside the community.
    pull : ndarray (n, 2)
        Where edges to others pull each node, of length at most one.
    rng : Generator
    """
    n = graph.shape[0]
    if n == 1:
        return np.zeros((1, 2))
    angle = 2 * np.pi * np.arange(n) * 0.381966
    spot = np.sqrt((np.arange(n) + 0.5) / n)[:, None] * np.column_stack([np.cos(angle), np.sin(angle)])
    spot = 0.9 * spot[rng.permutation(n)]
    ideal = 1.4 / np.sqrt(n)
    degrees = np.asarray(graph.sum(axis=1)).ravel()
    average = csr_array(graph.multiply(1 / np.maximum(degrees, 1e-300)[:, None]))
    joined = degrees > 0
    for step in range(_STEPS):
        some = np.arange(n) if n <= _PUSHED_BY else rng.choice(n, _PUSHED_BY, replace=False)
        away = spot[:, None] - spot[None, some]
        square = (away**2).sum(axis=2) + 1e-4 * ideal**2
        push = ideal**2 * (away / square[..., None]).sum(axis=1) * (n / len(some))
        toward = np.where(joined[:, None], average @ spot - spot, -spot)
        force = 0.35 * push + 2.5 * toward + 0.9 * pull
        length = np.sqrt((force**2).sum(axis=1, keepdims=True)) + 1e-12
        heat = 0.25 * (1 - step / _STEPS) + 0.01
        spot = spot + force / length * np.minimum(length, heat)
        spot -= spot.mean(axis=0)
        spot /= max(1.0, np.sqrt((spot**2).sum(axis=1)).max() / 0.94)
    spot = _spread(spot)
    return spot * (0.94 / max(np.sqrt((spot**2).sum(axis=1)).max(), 1e-9) if n > 2 else 1.0)


def _spread(spot: Array) -> Array:
    """Places half-way to where the same order, left to right and bottom to top, would fill the disc evenly.

    The best-connected nodes pull a dense core together, in which nobody tells them apart.
    """
    rank = (spot.argsort(axis=0).argsort(axis=0) + 0.5) / len(spot)
    grid = np.linspace(-1, 1, 201)
    below = 0.5 + (grid * np.sqrt(1 - grid**2) + np.arcsin(grid)) / np.pi  # the part of a disc to the left of it
    return (spot + np.interp(rank, below, grid)) / 2


def _outward(rows: Matrix, centres: Array, own: Array, foreign: Array) -> Array:
    """Mean direction from a disc to the communities that its nodes have edges to, times the share of such edges."""
    row = np.repeat(np.arange(rows.shape[0]), np.diff(rows.indptr))
    counted = foreign[rows.indices] & np.isfinite(centres[rows.indices, 0])
    ways = centres[rows.indices[counted]] - own
    ways /= np.sqrt((ways**2).sum(axis=1, keepdims=True)) + 1e-300
    total = np.maximum(np.asarray(rows.sum(axis=1)).ravel(), 1e-300)
    weights = rows.data[counted]
    parts = [np.bincount(row[counted], weights * ways[:, axis], rows.shape[0]) / total for axis in (0, 1)]
    return np.column_stack(parts)
