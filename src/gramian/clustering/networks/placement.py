"""Labels of nodes from their scores, and from their neighbours where a score says nothing."""

from __future__ import annotations

import warnings

import numpy as np

from gramian.clustering.ksc import Directions
from gramian.clustering.networks.subgraph import SubgraphModel
from gramian.typing import Array, Matrix

UNKNOWN = np.iinfo(np.int32).max
"""The distance of a node that has no label."""


def warn_unplaced(count: int) -> None:
    """Say how many nodes have no community because they have no edge to a node that has one."""
    if count:
        who = "1 node has" if count == 1 else f"{count} nodes have"
        warnings.warn(
            f"{who} no edge to a fitted node with a community, and label -1; give edges to such nodes in the rows of X",
            UserWarning,
            stacklevel=3,
        )


def decoded(model: SubgraphModel, decoder: Directions, graph: Matrix) -> tuple[Array, Array]:
    """Label of each row by its scores, and a mask of the rows whose scores say something; others are −1."""
    labels = np.empty(graph.shape[0], np.int64)
    for part, scores in model.blocks(graph):
        labels[part] = decoder.labels(scores) if scores.shape[1] else 0
    known = model.reaches(graph)
    labels[~known] = -1
    return labels, known


def spread(graph: Matrix, labels: Array, known: Array) -> tuple[Array, Array]:
    """Labels of all nodes, where those without one take it from their neighbours, and their distance to a known one.

    A node next to known ones has distance 1 and the label of most of their weight; then come the neighbours of such
    nodes, and so on.
    """
    labels, distance = labels.copy(), np.where(known, 0, UNKNOWN).astype(np.int32)
    left = np.flatnonzero(~known)
    step = 0
    while len(left):
        step += 1
        found = majority(graph[left], labels, distance)
        told = found >= 0
        if not told.any():
            break
        labels[left[told]], distance[left[told]] = found[told], step
        left = left[~told]
    return labels, distance


def majority(rows: Matrix, labels: Array, distance: Array) -> Array:
    """The label of most weight among the nearest neighbours of each row, those of least distance; −1 without any.

    Parameters
    ----------
    rows : CSR array (r, n)
    labels, distance : ndarray (n,)
        As :func:`spread` returns them. The first of equal labels wins.
    """
    r = rows.shape[0]
    row = np.repeat(np.arange(r), np.diff(rows.indptr))
    far = distance[rows.indices]
    least = np.full(r, UNKNOWN, np.int32)
    np.minimum.at(least, row, far)
    counted = (far == least[row]) & (far < UNKNOWN)
    row, column, weight = row[counted], rows.indices[counted], rows.data[counted]
    k = int(labels.max(initial=0)) + 1
    pair, place = np.unique(row.astype(np.int64) * k + labels[column], return_inverse=True)
    total = np.bincount(place, weight, len(pair))
    best = np.lexsort((pair % k, -total, pair // k))  # by row, then the heaviest, then the first label
    owner = pair[best] // k
    first = np.concatenate([[True], owner[1:] != owner[:-1]]) if len(best) else np.empty(0, bool)
    found = np.full(r, -1, np.int64)
    found[owner[first]] = pair[best][first] % k
    return found
