"""Restart distributions: one reading of ``seeds``, ``restart`` and ``top`` for every ranking method.

A node, several nodes, weights, a batch of either: all become columns that sum to one. Uses NumPy and SciPy alone;
the solvers of this folder and the kernel methods of :mod:`gramian.ranking` call it.
"""

from __future__ import annotations

from collections.abc import Mapping
from numbers import Integral, Real
from typing import Any

import numpy as np
from scipy.sparse import csc_array, issparse

from gramian.checks import whole
from gramian.typing import Array, Matrix


def check_restart(restart: Any) -> float:
    """The restart probability as a float: neither 0 nor 1, and not lost in rounding."""
    if not isinstance(restart, Real) or isinstance(restart, bool) or not 0 < float(restart) < 1:
        raise ValueError(f"restart={restart!r} must be a probability between 0 and 1, both excluded")
    if restart < 1e-12:
        raise ValueError(f"restart={restart!r} is lost in rounding; pass at least 1e-12")
    return float(restart)


def check_top(top: Any) -> int | None:
    """The length of a ranked list, or None for all."""
    return None if top is None else whole(top, "top", instead="None for all")


def restart_matrix(seeds: Any, n: int, *, degrees: Array | None = None) -> tuple[Matrix, bool]:
    """The restart distributions that ``seeds`` describe, one per column.

    Parameters
    ----------
    seeds : int, list of int, bool (n,), dict, float (n,), float (n, q), sparse (n, q), None or str
        One node; several nodes, each as likely; a mask of nodes; ``{node: weight}``; a weight for each node; q
        columns of weights. None and ``"uniform"``: all nodes, each as likely; ``"stationary"``: in proportion to
        ``degrees``. Weights need not sum to one.
    n : int
        Number of nodes.
    degrees : ndarray (n,), optional
        What ``"stationary"`` stands for.

    Returns
    -------
    restarts : ndarray (n, q) of float64, or csc_array (n, q) where ``seeds`` was sparse
        Columns are >= 0 and sum to one.
    squeeze : bool
        Whether ``seeds`` describes a single distribution, so that results should have shape (n,).

    Examples
    --------
    >>> restart_matrix({0: 1.0, 2: 3.0}, 3)
    (array([[0.25],
           [0.  ],
           [0.75]]), True)
    >>> restart_matrix([1, 2], 2)
    Traceback (most recent call last):
    ...
    ValueError: seeds contains node 2, but the nodes are 0 to 1; pass indices below n=2
    """
    if seeds is None or (isinstance(seeds, str) and seeds == "uniform"):
        return np.full((n, 1), 1.0 / n), True
    if isinstance(seeds, str):
        if seeds != "stationary" or degrees is None:
            known = "'uniform'" if degrees is None else "'uniform' or 'stationary'"
            raise ValueError(f"seeds={seeds!r} is not known; pass {known}, indices or weights")
        return _columns(np.asarray(degrees, np.float64)[:, None], n), True
    if issparse(seeds):
        return _sparse_columns(seeds, n), False
    if isinstance(seeds, Mapping):
        return _one(_indices(list(seeds), n), _numbers(list(seeds.values())), n), True
    if isinstance(seeds, (set, frozenset, range)):
        seeds = sorted(seeds)
    values = np.asarray(seeds)
    if values.ndim == 0:
        return _one(_indices([seeds], n), np.ones(1), n), True
    if values.dtype == bool and values.ndim == 1:
        if values.shape != (n,):
            raise ValueError(f"seeds is a mask of {len(values)} nodes; pass a mask of all n={n} nodes, or indices")
        values = np.flatnonzero(values)
    if values.ndim == 1 and (values.dtype.kind in "iu" or values.size == 0):
        nodes = _indices(np.unique(values).tolist(), n)
        return _one(nodes, np.ones(len(nodes)), n), True
    if values.ndim > 2 or values.shape[0] != n:
        raise ValueError(
            f"seeds has shape {values.shape}; pass whole numbers as indices, or weights of shape ({n},) or ({n}, q)"
        )
    values = _numbers(values)
    return _columns(values.reshape(n, -1), n), values.ndim == 1


def _numbers(values: Any) -> Array:
    numbers = np.asarray(values)
    if numbers.dtype.kind not in "biuf":
        raise ValueError(f"seeds has weights of type {numbers.dtype}; pass real numbers")
    return numbers.astype(np.float64)


def _indices(nodes: list[Any], n: int) -> Array:
    for node in nodes:
        if not isinstance(node, Integral) or isinstance(node, bool):
            raise ValueError(f"seeds contains {node!r}, which is not a node; pass whole numbers from 0 to {n - 1}")
        if not 0 <= int(node) < n:
            raise ValueError(f"seeds contains node {node}, but the nodes are 0 to {n - 1}; pass indices below n={n}")
    return np.array([int(node) for node in nodes], np.intp)


def _one(nodes: Array, weights: Array, n: int) -> Array:
    if len(nodes) == 0:
        raise ValueError("seeds is empty; name at least one node, or pass None for all")
    column = np.zeros((n, 1))
    column[nodes, 0] = weights
    return _columns(column, n)


def _columns(weights: Array, n: int) -> Array:
    """Each column divided by its sum."""
    if weights.shape[1] == 0:
        raise ValueError(f"seeds has shape {weights.shape}, no column; pass at least one restart distribution")
    _require_weights(weights)
    # The largest weight is taken out first: the sum of numbers near the largest float is infinite.
    weights = weights / _require_mass(weights.max(axis=0))
    return weights / weights.sum(axis=0)


def _sparse_columns(seeds: Any, n: int) -> Matrix:
    if seeds.ndim != 2 or seeds.shape[0] != n or seeds.shape[1] == 0:
        raise ValueError(f"seeds has shape {seeds.shape}; pass one row per node and one column per query, ({n}, q)")
    columns = csc_array(seeds, dtype=np.float64, copy=True)
    columns.sum_duplicates()
    _require_weights(columns.data)
    counts = np.diff(columns.indptr)
    columns.data /= np.repeat(_require_mass(columns.max(axis=0).toarray().ravel()), counts)
    columns.data /= np.repeat(columns.sum(axis=0), counts)
    return columns


def _require_weights(weights: Array) -> None:
    bad = ~np.isfinite(weights) | (weights < 0)
    if bad.any():
        raise ValueError(f"seeds has the weight {weights[bad].flat[0]}; weights must be finite and not negative")


def _require_mass(largest: Array) -> Array:
    if not largest.all():
        column = int(np.flatnonzero(largest == 0)[0])
        raise ValueError(f"seeds has no weight in column {column}; give at least one node a positive weight")
    return largest
