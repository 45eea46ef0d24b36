"""Arguments and answers of the kernel rankings: numbers of components, seeds as sparse columns, ranked lists."""

from __future__ import annotations

from numbers import Integral, Real
from typing import Any

import numpy as np
from scipy.sparse import csc_array

from gramian.checks import check_count
from gramian.ranking.graphs.seeds import restart_matrix
from gramian.typing import Array


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


def restart_columns(seeds: Any, degrees: Array) -> tuple[Any, bool]:
    """Seeds as sparse columns of sum one, (n, q), and whether one query was meant."""
    columns, single = restart_matrix(seeds, len(degrees), degrees=degrees)
    columns = csc_array(columns)
    columns.eliminate_zeros()
    return columns, single
