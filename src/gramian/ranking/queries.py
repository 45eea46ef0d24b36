"""What a user asks of a ranking and what comes back: the restart probability, seeds, and lists with the best first."""

from __future__ import annotations

from numbers import Integral, Real
from typing import Any

import numpy as np
from scipy.sparse import csc_array

from gramian.ranking.seeds import restart_matrix
from gramian.typing import Array


def check_restart(restart: Any) -> float:
    """A probability of restarting, neither 0 nor 1."""
    if not isinstance(restart, Real) or isinstance(restart, bool) or not 0 < float(restart) < 1:
        raise ValueError(f"restart={restart!r} must be a probability between 0 and 1, both excluded")
    return float(restart)


def check_top(top: Any) -> None:
    """Refuse what is no length of a list."""
    if top is not None and (not isinstance(top, Integral) or isinstance(top, bool) or top < 1):
        raise ValueError(f"top={top!r} must be a whole number >= 1, or None for all")


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
    return csc_array(columns), single
