"""Genie linkage: single linkage that does not let cluster sizes become too unequal.

Single linkage merges along the minimum spanning tree, short edges first, and so collects one large cluster and many
stray rows. Genie does the same, but while the Gini index of the cluster sizes exceeds a threshold, only merges with one
of the smallest clusters are allowed.
"""

from __future__ import annotations

import numpy as np
from scipy.sparse import csr_array
from scipy.sparse.csgraph import connected_components

from gramian.typing import Array

_THRESHOLD = 0.3  # as the paper recommends


def genie_merges(edges: Array, *, threshold: float = _THRESHOLD) -> Array:
    """The order in which the edges of a spanning tree are merged.

    Parameters
    ----------
    edges : ndarray (n − 1, 2)
        Of the minimum spanning tree of n rows, short ones first.
    threshold : float, default 0.3
        Largest Gini index of the cluster sizes that lets the shortest edge merge; 1 is single linkage.

    Returns
    -------
    order : ndarray (n − 1,)
        Indices of edges.

    References
    ----------
    Gagolewski, Bartoszuk, Cena (2016). Genie: a new, fast, and outlier-resistant hierarchical clustering algorithm.
    Information Sciences 363.

    Examples
    --------
    >>> import numpy as np
    >>> edges = np.array([[0, 1], [1, 2], [3, 4], [2, 3], [4, 5]])
    >>> genie_merges(edges, threshold=1.0)
    array([0, 1, 2, 3, 4])
    >>> genie_merges(edges)  # sizes 3, 2, 1 are too unequal: row 5, the smallest cluster, is merged first
    array([0, 1, 2, 4, 3])
    """
    n = len(edges) + 1
    cluster, size = np.arange(n), np.ones(n, np.intp)
    left = np.arange(n - 1)
    order = np.empty(n - 1, np.intp)
    for step in range(n - 1):
        sizes = size[size > 0]
        place = 0
        if gini_index(sizes) > threshold:
            smallest = size[cluster[edges[left]]] == sizes.min()
            place = int(smallest.any(axis=1).argmax())
        order[step] = left[place]
        left = np.delete(left, place)
        kept, lost = cluster[edges[order[step]]]
        cluster[cluster == lost] = kept
        size[kept] += size[lost]
        size[lost] = 0
    return order


def gini_index(sizes: Array) -> float:
    """How unequal m sizes are, from 0 (equal) to 1: Σ_i (m − 2i + 1) c_(i) / ((m − 1) Σ c), c_(1) the largest.

    Examples
    --------
    >>> import numpy as np
    >>> gini_index(np.array([4, 4, 4])), gini_index(np.array([3, 1]))
    (0.0, 0.5)
    """
    m = len(sizes)
    if m < 2:
        return 0.0
    falling = np.sort(sizes)[::-1]
    return float((m - 1 - 2 * np.arange(m)) @ falling / ((m - 1) * falling.sum()))


def labels_after(edges: Array, order: Array, k: int) -> Array:
    """Labels (n,) of the k clusters that are left when all but k − 1 merges have been made.

    Parameters
    ----------
    edges : ndarray (n − 1, 2)
    order : ndarray (n − 1,)
        From :func:`genie_merges`.
    k : int
    """
    n = len(edges) + 1
    merged = edges[order[: n - k]]
    tree = csr_array((np.ones(len(merged)), (merged[:, 0], merged[:, 1])), shape=(n, n))
    labels: Array = connected_components(tree, directed=False)[1]
    return labels
