"""Random weights of a reservoir: sparse recurrent matrices of a given spectral radius, and dense uniform ones.

Pure functions of seeds, used by :mod:`gramian.reservoir.reservoir` alone.
"""

from __future__ import annotations

from functools import lru_cache
from typing import Any

import numpy as np
from scipy.sparse import csr_array
from scipy.sparse.linalg import ArpackNoConvergence, eigs

from gramian.checks import is_whole, real, whole
from gramian.grams.tiles import slices
from gramian.typing import Array, Matrix

DENSE = 0.15  # share of non-zeros from which a product with the full matrix is the faster one
_NILPOTENT = 1e-12
_TRIES = 10
_LARGE = 1000  # units up to which all eigenvalues are computed
_ROWS = 256


def check_connectivity(connectivity: Any) -> int | float:
    """Connections per unit (a whole number) or share of all pairs (a float in (0, 1])."""
    if is_whole(connectivity):
        return whole(connectivity, "connectivity", instead="a share of all pairs of units, a float in (0, 1]")
    return real(connectivity, "connectivity", above=0, most=1, instead="a whole number of connections per unit")


def recurrent_weights(n_units: int, connectivity: int | float, spectral_radius: float, seed: int) -> Matrix:
    """A random n×n matrix whose largest eigenvalue has the size ``spectral_radius``.

    Parameters
    ----------
    n_units : int
    connectivity : int or float
        As :func:`check_connectivity` returns it; no unit has more connections than there are units.
    spectral_radius : float
    seed : int

    Returns
    -------
    W : CSR array or ndarray (n, n)
        Dense where many entries are not zero. Zero for a radius of zero.
    """
    for attempt in range(_TRIES):
        radius = _radius(n_units, connectivity, seed, attempt)
        if radius >= _NILPOTENT:
            W = _drawn(n_units, connectivity, seed, attempt) * (spectral_radius / radius)
            return W.toarray() if W.nnz > DENSE * n_units**2 else W
    raise ValueError(
        f"connectivity={connectivity!r} gives n_units={n_units} no loop in {_TRIES} draws, so there is no spectral "
        "radius to scale; pass a larger connectivity"
    )


def uniform_weights(shape: tuple[int, ...], seed: int) -> Array:
    """Numbers uniform on [-1, 1)."""
    return np.random.default_rng(seed).uniform(-1, 1, shape)


def _drawn(n_units: int, connectivity: int | float, seed: int, attempt: int) -> Any:
    """A sparse matrix of numbers uniform on [-1, 1), before it is scaled."""
    rng = np.random.default_rng([seed, attempt])
    columns: list[Array] = []
    for rows in slices(n_units, _ROWS):
        keys = rng.random((rows.stop - rows.start, n_units))
        if isinstance(connectivity, int):
            chosen = min(connectivity, n_units)
            columns += list(np.sort(np.argpartition(keys, chosen - 1, axis=1)[:, :chosen], axis=1))
        else:
            columns += [np.flatnonzero(row < connectivity) for row in keys]
    indptr = np.cumsum([0, *map(len, columns)]).astype(np.int32)
    indices = np.concatenate(columns).astype(np.int32)
    return csr_array((rng.uniform(-1, 1, len(indices)), indices, indptr), shape=(n_units, n_units))


@lru_cache(maxsize=256)  # a search over other parameters draws the same matrix again and again
def _radius(n_units: int, connectivity: int | float, seed: int, attempt: int) -> float:
    """Size of the largest eigenvalue of the matrix that :func:`_drawn` draws."""
    W = _drawn(n_units, connectivity, seed, attempt)
    if n_units > _LARGE and W.nnz:
        try:
            # One eigenvalue alone misses the largest at times: those of a random matrix crowd at the rim of a disk.
            start = uniform_weights((n_units,), seed)
            return float(np.abs(eigs(W, 6, ncv=80, v0=start, return_eigenvectors=False)).max())
        except ArpackNoConvergence:
            pass
    return float(np.abs(np.linalg.eigvals(W.toarray())).max())
