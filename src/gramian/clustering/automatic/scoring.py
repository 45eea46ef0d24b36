"""Which of several clusterings of the same rows is best, without labels.

A clustering is good if other ways to cluster come to the same, and if few edges between near rows lead out of its
clusters. Compactness does not count: it would prefer round pieces to winding clusters.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from scipy.sparse import csr_array
from scipy.stats import rankdata

from gramian.typing import Array

_COMPARED = 3


def agreements(clusterings: Sequence[Array], families: Sequence[str]) -> Array:
    """Adjusted Rand indices between clusterings, (m, m); NaN between those of one family.

    Parameters
    ----------
    clusterings : sequence of m ndarrays (n,) of int
        From 0.
    families : sequence of m str
        Clusterings of one family come to the same whether it is right or not.
    """
    sizes = [int(labels.max()) + 1 for labels in clusterings]
    starts = np.cumsum([0, *sizes])
    n, m = len(clusterings[0]), len(clusterings)
    places = np.column_stack([labels + start for labels, start in zip(clusterings, starts[:-1], strict=True)])
    members = csr_array((np.ones(n * m), places.ravel(), np.arange(0, n * m + 1, m)), shape=(n, starts[-1]))
    # Rows that every two clusters share, from one product; then pairs of rows that both clusterings keep together.
    shared = (members.T @ members).toarray()
    both = np.add.reduceat(np.add.reduceat(shared * (shared - 1) / 2, starts[:-1], axis=0), starts[:-1], axis=1)
    each, pairs = np.diagonal(both), n * (n - 1) / 2
    expected, most = np.outer(each, each) / pairs, (each[:, None] + each) / 2
    index = np.divide(both - expected, most - expected, out=np.ones((m, m)), where=most > expected)
    return np.where(np.equal.outer(families, families), np.nan, index)


def closest(agreements: Array) -> Array:
    """Mean agreement of each clustering with the three that agree most with it, (m,); 0 without any other."""
    known = np.where(np.isnan(agreements), -np.inf, agreements)
    best = -np.sort(-known, axis=1)[:, :_COMPARED]
    counted = np.isfinite(best)
    total = np.where(counted, best, 0.0).sum(axis=1)
    return np.divide(total, counted.sum(axis=1), out=np.zeros(len(best)), where=counted.any(axis=1))


def normalized_cut(labels: Array, graph: csr_array) -> float:
    """Mean over clusters of cut(c) vol(all) / (vol(c) vol(others)): 0 if no edge leads out of a cluster, 1 by chance.

    cut(c) is the weight of the edges that lead out of the cluster and vol the sum of degrees, so that each term is the
    conductance of the cluster divided by what a random cluster of its size would have.

    Parameters
    ----------
    labels : ndarray (n,) of int
        From 0.
    graph : csr_array (n, n)
        Symmetric edges.

    Examples
    --------
    >>> import numpy as np
    >>> from scipy.sparse import csr_array
    >>> pairs = csr_array(np.kron(np.eye(2), [[0, 1], [1, 0]]))
    >>> normalized_cut(np.array([0, 0, 1, 1]), pairs), normalized_cut(np.array([0, 1, 0, 1]), pairs)
    (0.0, 2.0)
    """
    n, k = len(labels), int(labels.max()) + 1
    members = csr_array((np.ones(n), labels, np.arange(n + 1)), shape=(n, k))
    between = (members.T @ (graph @ members)).toarray()
    volume = between.sum(axis=1)
    cut, others = volume - np.diagonal(between), volume.sum() - volume
    product = volume * others
    return float(np.mean(np.divide(cut * volume.sum(), product, out=np.zeros(k), where=product > 0)))


def scores(agreement: Array, cuts: Array) -> Array:
    """Rank of the agreement plus rank of minus the cut, (m,), as a share of the most it could be; ties share a rank."""
    ranks: Array = rankdata(agreement) + rankdata(-cuts)
    return ranks / (2 * len(ranks))
