"""Arguments and answers of the kernel rankings: numbers of components, seeds as sparse columns, ranked lists.

Used by KernelPageRank and RankedClustering; ``best_first`` is public.
"""

from __future__ import annotations

from collections.abc import Callable
from numbers import Integral, Real
from typing import Any

import numpy as np
from scipy.sparse import csc_array

from gramian.checks import check_count, one_of
from gramian.grams.tiles import slices
from gramian.ranking.graphs.seeds import restart_matrix
from gramian.typing import Array

_BLOCK_ENTRIES = 16_000_000  # of scores that are ranked at a time


def check_eigenvalue_tol(owner: Any) -> float | None:
    """The parameter ``eigenvalue_tol``, a number between 0 and 1 or None."""
    value = owner.eigenvalue_tol
    if value is None:
        return None
    if not isinstance(value, Real) or isinstance(value, bool) or not 0 < float(value) < 1:
        raise ValueError(f"eigenvalue_tol={value!r} must be a number between 0 and 1, or None to use all")
    return float(value)


def check_components(owner: Any, n: int) -> int | None:
    """The parameter ``n_components`` as a number of the n − 1 components, of which a float is a part."""
    value = owner.n_components
    if isinstance(value, Real) and not isinstance(value, (Integral, bool)) and 0 < float(value) <= 1:
        return max(1, round(float(value) * (n - 1)))
    count = check_count(owner, "n_components", n, none_allowed=True)
    return None if count is None else min(count, n - 1)


def best_first(scores: Array, top: int | None = None) -> Array:
    """Indices by falling score, ties to the lowest index; (n,) or a column for each column of (n, q)."""
    n = len(scores)
    if top is None or top >= n:
        return np.argsort(-scores, axis=0, kind="stable")
    columns = np.ascontiguousarray(scores.reshape(n, -1).T)
    # The top-th largest score, then only those not below it are sorted.
    least = np.partition(columns, n - top, axis=1)[:, n - top]
    best = np.empty((top, len(columns)), np.intp)
    for j, (column, bound) in enumerate(zip(columns, least, strict=True)):
        candidates = np.flatnonzero(column >= bound)
        best[:, j] = candidates[np.argsort(-column[candidates], kind="stable")[:top]]
    return best[:, 0] if scores.ndim == 1 else best


def ranked_lists(
    blocks: Callable[[slice], Array], n: int, q: int, top: int | None, divisor: Array | None, *, exclude: Any = None
) -> Array:
    """Ranked lists of q queries, (length, q), without holding the scores of all of them at once.

    Parameters
    ----------
    blocks : callable
        From a slice of the queries to their scores, (n, columns), a new array.
    n, q : int
        Numbers of samples and queries.
    top : int or None
        Length of the lists.
    divisor : ndarray (n, 1) or None
        Divides the scores.
    exclude : csc_array (n, q), optional
        Its entries are left out, and lists are as short as the shortest.
    """
    length = n if exclude is None else n - int(np.diff(exclude.indptr).max(initial=0))
    if length == 0:
        raise ValueError("all samples are seeds, so exclude_seeds=True leaves none to rank; pass fewer seeds")
    length = length if top is None else min(top, length)
    found = np.empty((length, q), np.intp)
    for columns in slices(q, max(1, _BLOCK_ENTRIES // n)):
        values = blocks(columns)
        if divisor is not None:
            values /= divisor
        if exclude is not None:
            part = exclude[:, columns].tocoo()
            values[part.row, part.col] = -np.inf
        found[:, columns] = best_first(values, length)
    return found


def restart_columns(seeds: Any, degrees: Array) -> tuple[Any, bool]:
    """Seeds as sparse columns of sum one, (n, q), and whether one query was meant."""
    columns, single = restart_matrix(seeds, len(degrees), degrees=degrees)
    columns = csc_array(columns)
    columns.eliminate_zeros()
    return columns, single


def degree_divisor(normalize: Any, degrees: Array) -> Array | None:
    """What ``normalize`` divides the scores of each sample by, (n, 1), or None for nothing."""
    one_of(normalize, "normalize", ("none", "sqrt_degree", "degree"))
    if normalize == "none":
        return None
    return (np.sqrt(degrees) if normalize == "sqrt_degree" else degrees)[:, None]
