"""Evidence that rows belong together: co-association from memberships, its dendrogram, and where to cut that."""

from __future__ import annotations

import numpy as np
from scipy.sparse import coo_array, csr_array
from scipy.sparse.csgraph import connected_components

from gramian.configuration import require_memory
from gramian.grams.tiles import slices
from gramian.typing import Array


def coassociation(H: csr_array, seen: Array | None, rows: slice, start: int = 0) -> Array:
    """S[rows, start:], dense: together in a cluster over seen together; a row is always together with itself."""
    others = slice(start, H.shape[0])
    # Sparse times sparse: the work is that of the pairs that ever meet.
    block: Array = (H[rows] @ H[others].T).toarray()
    if seen is None:
        block /= H.indptr[1]
        return block
    both = seen[rows].astype(H.dtype) @ seen[others].T.astype(H.dtype)
    return np.divide(block, both, out=np.zeros_like(block), where=both > 0)


def strip_rows(n: int) -> int:
    """Rows of S that are computed at a time."""
    return max(1, 2**22 // n)


def require_pairs(n: int) -> None:
    # The linkage works on a copy of the distances, in double precision.
    require_memory(
        2 * 8 * (float(n) * (n - 1) / 2),
        f"linkage of the distances between all pairs of {n} rows",
        "pass linkage='spectral', which needs only the memberships",
    )


def condensed_distances(H: csr_array, seen: Array | None) -> Array:
    """1 − S above the diagonal, row after row, as SciPy's linkage takes it."""
    n = H.shape[0]
    distances = np.empty(n * (n - 1) // 2)
    done = 0
    for rows in slices(n, strip_rows(n)):
        block = coassociation(H, seen, rows, rows.start)
        above = block[np.arange(block.shape[1]) > np.arange(len(block))[:, None]]
        np.subtract(1, above, out=distances[done : done + len(above)])
        done += len(above)
    return distances


def single_linkage(H: csr_array) -> Array:
    """The dendrogram of single linkage from the minimum spanning tree of 1 − S, a row of S at a time (Prim)."""
    n, total = H.shape[0], int(H.indptr[1])
    members = H.tocsc()
    places = H.indices.reshape(n, total)
    edges = np.empty((n - 1, 2), np.intp)
    heights = np.empty(n - 1)
    # For the rows outside the tree: most partitions shared with a row inside (−1: none known yet), and which that is.
    nearest, origin = np.full(n, -1), np.zeros(n, np.intp)
    outside = np.ones(n, bool)
    row = 0
    for step in range(n - 1):
        outside[row], nearest[row] = False, -2
        starts, ends = members.indptr[places[row]].tolist(), members.indptr[places[row] + 1].tolist()
        company = [members.indices[start:end] for start, end in zip(starts, ends, strict=True)]
        shared = np.bincount(np.concatenate(company), minlength=n)
        closer = np.flatnonzero((shared > nearest) & outside)
        nearest[closer] = shared[closer]
        origin[closer] = row
        row = int(np.argmax(nearest))
        edges[step], heights[step] = (origin[row], row), 1 - nearest[row] / total
    return _dendrogram(edges, heights)


def _dendrogram(edges: Array, heights: Array) -> Array:
    """A spanning tree's edges, shortest first, as merges in SciPy's format."""
    n = len(edges) + 1
    tree = np.empty((n - 1, 4))
    above = list(range(2 * n - 1))  # above[node]: on the way to the latest cluster that has the node
    sizes = [1] * n

    def top(node: int) -> int:
        while above[node] != node:
            above[node] = above[above[node]]
            node = above[node]
        return node

    for merge, edge in enumerate(np.argsort(heights, kind="stable")):
        left, right = sorted((top(int(edges[edge, 0])), top(int(edges[edge, 1]))))
        above[left] = above[right] = n + merge
        sizes.append(sizes[left] + sizes[right])
        tree[merge] = left, right, heights[edge], sizes[-1]
    return tree


def cut(tree: Array, k: int) -> Array:
    """Labels of exactly k clusters: the first n − k merges, also where heights are equal."""
    n = len(tree) + 1
    merged = np.arange(n, 2 * n - k)
    pairs = tree[: n - k, :2].astype(np.intp)
    ends = (pairs.ravel(), np.repeat(merged, 2))
    graph = coo_array((np.ones(2 * len(merged)), ends), shape=(2 * n - k, 2 * n - k))
    labels: Array = connected_components(graph, directed=False)[1][:n]
    return labels
