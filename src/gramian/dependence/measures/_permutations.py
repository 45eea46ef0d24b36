"""HSIC of randomly permuted samples, for the permutation test, without evaluating a kernel again.

A shuffled factor is a factor with its rows shuffled, so many shuffles are one GEMM. Where a side has no thin factor
the matrices are gathered instead. Either way each value is the same whatever the number of threads.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
from scipy.sparse import issparse

from gramian.configuration import require_memory
from gramian.dependence.measures._pair_sums import dot_product, held_features
from gramian.grams import Gram
from gramian.grams.tiles import run_threaded, slices
from gramian.typing import Array

_STRIP = 32  # rows gathered together; they stay in the cache
_BATCH = 64  # shuffles drawn together
_STACK_BYTES = 64 * 2**20
_GATHER = 16  # a gathered value costs as much as this many products in a GEMM
_INSTEAD = "use method='gamma', which stores none, or approximation='nystroem'"


def permuted_traces(x: Gram, y: Gram, n_permutations: int, rng: np.random.Generator) -> tuple[float, Array]:
    """tr(KHLH), and the same for ``n_permutations`` random orders of the samples of one side.

    Parameters
    ----------
    x, y : Gram (n, n)
    n_permutations : int
    rng : numpy.random.Generator

    Returns
    -------
    observed : float
    permuted : ndarray (n_permutations,)
    """
    if _rank(y) > _rank(x):
        x, y = y, x
    n = x.shape[0]
    if y.factor is not None and _rank(x) * _rank(y) <= _GATHER * n:
        return _by_products(x, y, n_permutations, rng)
    require_memory(float(n) * n * (x.dtype.itemsize + y.dtype.itemsize), f"two {n}×{n} matrices to permute", _INSTEAD)
    return _by_gathering(_centred(x), _centred(y), n_permutations, rng)


def _centred(gram: Gram) -> Array:
    """HKH, exactly zero where all similarities are equal up to rounding."""
    A = gram.centered().dense()
    if max(A.max(), -A.min()) <= 10 * np.finfo(A.dtype).eps * np.abs(gram.diagonal()).max():
        A[:] = 0
    return A


def _rank(gram: Gram) -> int:
    return int(gram.shape[0] if gram.factor is None else gram.factor.shape[1])


def _orders(n: int, n_permutations: int, batch: int, rng: np.random.Generator) -> Iterator[Array]:
    """The order as it is, then random ones, a batch (b, n) at a time; the same orders for every batch size."""
    yield np.arange(n)[None, :]
    for some in slices(n_permutations, batch):
        yield np.stack([rng.permutation(n) for _ in range(some.stop - some.start)])


def _by_products(x: Gram, y: Gram, n_permutations: int, rng: np.random.Generator) -> tuple[float, Array]:
    """‖Fᵀ Gπ‖² = tr(Gπᵀ K Gπ), with Gπ the centred factor of one side in another order."""
    assert y.factor is not None
    G = held_features(y.factor)
    if issparse(G):
        G = G.toarray() - np.asarray(G.mean(axis=0)).ravel()
    n, r = G.shape
    F = None if x.factor is None else held_features(x.factor)
    if F is None and not x.held:  # its tiles would be evaluated again for every batch
        require_memory(float(n) * n * x.dtype.itemsize, f"the {n}×{n} kernel matrix to permute", _INSTEAD)
        x = x.hold()
    values = []
    for orders in _orders(n, n_permutations, max(1, _STACK_BYTES // (8 * n * r)), rng):
        stacked = G[orders.T].reshape(n, -1)
        if F is None:
            squares = np.einsum("ij,ij->j", x._product(stacked.astype(x.dtype, copy=False)), stacked)
        else:
            product = F.T @ stacked
            squares = np.einsum("ij,ij->j", product, product)
        values.append(squares.reshape(len(orders), r).sum(axis=1, dtype=np.float64))
    return float(values[0][0]), np.concatenate(values[1:])


def _by_gathering(A: Array, B: Array, n_permutations: int, rng: np.random.Generator) -> tuple[float, Array]:
    """Σ_ij A_ij B_π(i)π(j) with the centred matrices A and B."""
    n = len(A)
    values = []
    for orders in _orders(n, n_permutations, _BATCH, rng):
        traces = np.empty(len(orders))

        def trace(place: int, orders: Array = orders, traces: Array = traces) -> None:
            traces[place] = _gathered(A, B, orders[place])

        run_threaded(trace, range(len(orders)), entries=float(len(orders)) * n * n)
        values.append(traces)
    return float(values[0][0]), np.concatenate(values[1:])


def _gathered(A: Array, B: Array, order: Array) -> float:
    """Σ_ij A_ij B[order[i], order[j]], from the lower triangles and the squares on the diagonal."""
    total = 0.0
    for rows in slices(len(A), _STRIP):
        part = B.take(order[rows], axis=0).take(order[: rows.stop], axis=1, mode="clip")
        total += 2 * dot_product(A[rows, : rows.start], part[:, : rows.start])
        total += dot_product(A[rows, rows], part[:, rows.start :])
    return total
