"""What to compare a partition with: Leiden and Louvain of igraph, and networks joined at random."""

from __future__ import annotations

import random
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import numpy as np
from scipy.sparse import coo_array, csr_array

from gramian.communities.result import Partition
from gramian.metrics import conductance, modularity
from gramian.typing import Array, Matrix

MOST_EDGES = 1_000_000
"""Edges up to which a network is compared."""


def judged(method: str, graph: Matrix, labels: Array) -> Partition:
    """Number of communities, modularity and mean conductance of a partition; nodes of label 0 have no edges."""
    parts = conductance(graph, labels)[int((labels == 0).any()) :]
    return Partition(method, len(parts), modularity(graph, labels), float(parts.mean()))


def by_igraph(graph: Matrix, seed: int) -> list[Partition] | None:
    """Partitions of Leiden, run until nothing changes, and Louvain; None if igraph is not installed."""
    try:
        import igraph
    except ImportError:
        return None
    one, other, weights = _pairs(graph)
    n = graph.shape[0]
    net = igraph.Graph(n, np.column_stack([one, other]))
    with _seeded(igraph, seed):
        leiden = net.community_leiden(objective_function="modularity", weights=weights, n_iterations=-1)
        louvain = net.community_multilevel(weights=weights)
    inside = np.diff(graph.indptr) > 0
    found = {"Leiden": leiden.membership, "Louvain": louvain.membership}
    return [judged(name, graph, np.where(inside, np.asarray(labels) + 1, 0)) for name, labels in found.items()]


@contextmanager
def _seeded(igraph: Any, seed: int) -> Iterator[None]:
    """Let igraph draw from a generator of our own, and then from Python's again, as it does by default."""
    igraph.set_random_number_generator(random.Random(seed))
    try:
        yield
    finally:
        igraph.set_random_number_generator(random)


def joined_at_random(graph: Matrix, rng: np.random.Generator) -> Matrix:
    """A network whose edges have other ends: every node keeps the number of its edges, but for loops that come up."""
    one, other, weights = _pairs(graph)
    one, other = rng.permutation(np.concatenate([one, other])).reshape(2, -1)
    kept = one != other
    one, other, weights = one[kept], other[kept], weights[kept]
    ends = np.concatenate([one, other]), np.concatenate([other, one])
    return csr_array(coo_array((np.concatenate([weights, weights]), ends), shape=graph.shape))


def _pairs(graph: Matrix) -> tuple[Array, Array, Array]:
    """Ends and weights of all edges, each once."""
    entries = coo_array(graph)
    one, other = entries.coords
    upper = one < other
    return one[upper], other[upper], entries.data[upper]
