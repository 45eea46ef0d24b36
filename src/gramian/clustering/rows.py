"""Two small steps that several clusterings share: rows of unit length, and life for empty clusters."""

from __future__ import annotations

import numpy as np

from gramian.typing import Array


def unit_rows(Z: Array) -> Array:
    """Rows scaled to length one; zero rows stay zero."""
    norms = np.linalg.norm(Z, axis=1, keepdims=True)
    return np.divide(Z, norms, out=np.zeros_like(Z), where=norms > 0)


def refill_empty(labels: Array, misfit: Array, k: int) -> bool:
    """Give each empty cluster the row that fits its own cluster worst, in place; says whether any was empty.

    Parameters
    ----------
    labels : ndarray (n,)
    misfit : ndarray (n,)
        How badly each row fits the cluster it has. A cluster's only row is never taken.
    k : int
        Number of clusters.
    """
    sizes = np.bincount(labels, minlength=k)
    empty = np.flatnonzero(sizes == 0).tolist()
    if not empty:
        return False
    for row in np.argsort(-misfit, kind="stable"):
        if not empty:
            break
        if sizes[labels[row]] > 1:
            sizes[labels[row]] -= 1
            labels[row] = empty.pop(0)
    return True


def used_labels(labels: Array) -> tuple[Array, Array]:
    """Labels renumbered without gaps, and the old numbers that were in use."""
    used, renumbered = np.unique(labels, return_inverse=True)
    return renumbered, used


def labels_by_first_row(labels: Array) -> tuple[Array, Array]:
    """Labels numbered by their first row, so that rounding does not rename clusters, and the old numbers in use."""
    used, first, renumbered = np.unique(labels, return_index=True, return_inverse=True)
    order = np.argsort(first)
    return np.argsort(order)[renumbered], used[order]
