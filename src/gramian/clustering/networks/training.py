"""The training nodes of a network: a FURS subset that grows until its kernel holds together."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy.sparse import csr_array
from scipy.sparse.csgraph import connected_components

from gramian.clustering.networks.adjacency import unit_rows
from gramian.landmarks.furs import selected
from gramian.typing import Array, Matrix

ENOUGH_ALIKE = 20.0  # other training nodes that share a neighbour with one, on average
_LEAST = 5000  # training nodes of a large network, the published size
_LOOSE = 0.01  # share of the training nodes that may be apart from the others
_LOOKED_AT = 500  # training nodes whose likenesses are counted


@dataclass
class TrainingSet:
    """Training nodes and what their kernel looks like.

    Attributes
    ----------
    nodes : ndarray (m,)
        In the order of their selection.
    rows : CSR array (m, n)
        Their rows of the graph, scaled to length one: K = rows rowsᵀ.
    alike : float
        Other training nodes that share a neighbour with one, on average.
    loose : float
        Share of the training nodes outside the largest parts of the kernel, one part per component of the network.
    """

    nodes: Array
    rows: Matrix
    alike: float
    loose: float

    @property
    def holds_together(self) -> bool:
        """Whether the kernel is as connected as the network."""
        return self.loose <= _LOOSE

    @property
    def all_alike(self) -> bool:
        """Whether all rows are the same, as where everyone is joined to everyone alike: nothing tells nodes apart."""
        m, own = self.rows.shape[0], int(self.rows.indptr[1])
        if not (np.diff(self.rows.indptr) == own).all():
            return False
        indices, data = self.rows.indices.reshape(m, own), self.rows.data.reshape(m, own)
        equal = 100 * np.finfo(data.dtype).eps
        return bool((indices == indices[0]).all() and np.abs(data - data[0]).max() <= equal)


def training_set(graph: Matrix, looped: Matrix, fraction: float, least: int, most: int | None) -> TrainingSet:
    """The smallest of a growing sequence of FURS subsets whose kernel is as connected as the network.

    A subset of a fixed size fails on a large sparse network: its nodes share no neighbours, the kernel falls apart and
    all its leading eigenvalues are one. So subsets grow until a node has ``ENOUGH_ALIKE`` others on average and all but
    one in a hundred are in one part per connected component of the network.

    Parameters
    ----------
    graph, looped : CSR arrays (n, n)
        Without and with self loops.
    fraction : float
        Share of the nodes at most, where that is more than a few thousand.
    least : int
        Nodes at least.
    most : int or None
        Nodes at most, whatever the kernel then looks like.
    """
    n = graph.shape[0]
    ceiling = min(n, max(round(fraction * n), _LEAST)) if most is None else min(n, most)
    size = min(ceiling, max(least, min(round(fraction * n), _LEAST)))
    weights = np.asarray(graph.sum(axis=1)).astype(np.float64)
    order = np.argsort(-weights, kind="stable")
    heavy = int((weights >= np.median(weights)).sum())
    nodes = selected(graph, order[:heavy], ceiling)
    if len(nodes) < ceiling:
        # Below the median, once all above are taken.
        nodes = np.concatenate([nodes, selected(graph, order[heavy:], ceiling - len(nodes))])
    wanted = connected_components(graph, directed=False)[0]
    while True:
        rows = unit_rows(looped[nodes[:size]])
        found = TrainingSet(nodes[:size], rows, _alike(rows), _loose(rows, wanted))
        if size == ceiling or (found.alike >= ENOUGH_ALIKE and found.holds_together):
            return found
        missing = ENOUGH_ALIKE / max(found.alike, 1e-9)  # how many are alike grows about in proportion
        size = min(ceiling, int(size * min(2.0, max(1.25, 1.05 * missing))) + 1)


def _alike(rows: Matrix) -> float:
    """How many other rows share a column with a row, on average over some rows spread evenly."""
    some = rows[np.linspace(0, rows.shape[0] - 1, min(_LOOKED_AT, rows.shape[0])).astype(int)]
    return (some @ csr_array(rows.T)).nnz / some.shape[0] - 1


def _loose(rows: Matrix, n_parts: int) -> float:
    """Share of the rows outside the ``n_parts`` largest connected components of the graph of rows sharing a column."""
    m, n = rows.shape
    pointers = np.concatenate([rows.indptr, np.full(n, rows.indptr[-1], rows.indptr.dtype)])
    both = csr_array((rows.data, rows.indices + np.asarray(m, rows.indices.dtype), pointers), shape=(m + n, m + n))
    sizes = np.bincount(connected_components(both, directed=False)[1][:m])
    return 1.0 - float(np.sort(sizes)[::-1][:n_parts].sum()) / m
