"""The similarity that the codes of a kernel autoencoder are to follow, block by block.

A step of the training needs the similarities of the rows of its batch alone. A prior is held as one n×n matrix in
single precision where that is small, and otherwise asked for each block: of features, of a matrix on disk, or of the
rows. No n×n matrix in double precision is ever made here.
"""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np
import torch
from scipy.sparse import csr_array, issparse

from gramian.deep import base
from gramian.grams.base import Gram
from gramian.grams.dense import DenseGram
from gramian.grams.features import FeatureGram
from gramian.grams.lazy import LazyGram
from gramian.grams.sparse import SparseGram
from gramian.grams.tiles import slices
from gramian.kernels import Kernel
from gramian.typing import Array, Matrix

HELD_BYTES = 2**28  # of a prior that is held as a matrix: 8192 rows in single precision
_STRIP = 512
_LOOKED_AT = 500  # rows whose similarities are looked at before training


class Prior:
    """Similarities of the rows to train on.

    Parameters
    ----------
    gram : Gram (n, n)
        Checked. One that is a matrix already is kept as it is, and may be mapped from a file.
    """

    def __init__(self, gram: Gram) -> None:
        self.n = gram.shape[0]
        self._gram = gram
        dtype = np.dtype(str(base.TRAINING_DTYPE).removeprefix("torch."))
        # A block of features costs a product in every step, of entries that are computed anew even more.
        costly = gram.factor is not None or not gram.held
        if costly and float(self.n) ** 2 * dtype.itemsize <= HELD_BYTES:
            held = np.empty((self.n, self.n), dtype)
            for rows in slices(self.n, _STRIP):
                held[rows] = gram.rows(np.arange(rows.start, rows.stop))
            self._gram = DenseGram(held)

    def block(self, index: Array) -> Array:
        """P[index][:, index]."""
        return np.asarray(self._gram.block(index, index))

    def tensor(self, batch: Any, device: Any) -> Any:
        """P of a batch, a LongTensor of row numbers, in the precision of training."""
        return torch.tensor(_unit(self.block(batch.numpy())), dtype=base.TRAINING_DTYPE, device=device)

    def look(self, what: str, *, nonnegative_codes: bool, centered: bool = False) -> None:
        """Refuse a prior of zeros, and warn of one that codes cannot follow, judged by up to 500 of its rows."""
        index = np.unique(np.linspace(0, self.n - 1, min(self.n, _LOOKED_AT)).astype(np.intp))
        P = self.block(index).astype(np.float64)
        if not np.isfinite(P).all():
            raise ValueError(f"{what} gives similarities of X that are not finite; pass another kernel or scale X")
        largest = np.abs(P).max()
        if largest == 0:
            raise ValueError(f"{what} gives only zeros for X, so no code can follow it; pass another kernel or prior")
        rest = P - P.mean(axis=0) - P.mean(axis=1)[:, None] + P.mean()
        if centered and np.abs(rest).max() <= 1e-9 * largest:
            raise ValueError(
                f"{what} gives only zeros for X after centring, so no code can follow it; pass another prior, "
                "or alignment='distance'"
            )
        if nonnegative_codes and P.min() < -1e-6 * largest:
            warnings.warn(
                f"{what} has negative similarities, down to {P.min():.3g}, but codes that are never negative have "
                "none; pass code_activation='identity' or 'tanh'",
                UserWarning,
                stacklevel=4,
            )
        spectrum = np.linalg.eigvalsh(P / largest)
        # Rounding alone makes eigenvalues of a definite matrix in single precision this negative.
        if spectrum[0] < -1e-5 * max(spectrum[-1], 1.0):
            warnings.warn(
                f"{what} is not positive semi-definite (an eigenvalue is {spectrum[0] * largest:.3g}); products of "
                "codes are, so they follow its positive part only",
                UserWarning,
                stacklevel=4,
            )


def _unit(P: Array) -> Array:
    """P scaled by a power of two, which rounds nothing, to a largest magnitude near one: its scale means nothing."""
    return np.ldexp(P, -int(np.frexp(np.abs(P).max())[1]))


def prior_of_kernel(kernel: Kernel, X: Matrix) -> Prior:
    """The prior of a fitted kernel on checked rows.

    Features are held where the kernel has them; other kernels are asked for each block.
    """
    if float(len(X)) ** 2 * 4 > HELD_BYTES and X.dtype != np.float32:
        with np.errstate(over="ignore"):
            single = X.astype(np.float32)  # for features that are used in single precision anyway
        X = single if np.array_equal(np.isfinite(single), np.isfinite(X)) else X
    if kernel.has_features:
        return Prior(FeatureGram(kernel._factor(X)))
    if kernel.sparse_blocks:
        return Prior(kernel._unchecked("gram")(X))
    return Prior(LazyGram(kernel, X))


def prior_of_matrix(prior: Any, n: int) -> Prior:
    """The prior that the user gives: a Gram of this library, or a symmetric matrix, dense, sparse or mapped."""
    given = prior if isinstance(prior, Gram) or issparse(prior) else _as_array(prior)
    if given.shape != (n, n):
        raise ValueError(f"prior has shape {given.shape} but X has {n} rows; pass a matrix of shape ({n}, {n})")
    if isinstance(given, Gram):
        return Prior(given)
    if issparse(given):
        matrix = _as_csr(given)
        _check_matrix(matrix)
        return Prior(SparseGram(matrix))
    _check_matrix(given)
    return Prior(DenseGram(given))


def prior_of_features(features: Any, n: int) -> Prior:
    """The prior Φ Φᵀ of given features."""
    Phi = _as_csr(features) if issparse(features) else _as_array(features)
    if Phi.ndim != 2 or Phi.shape[0] != n or not Phi.shape[1]:
        raise ValueError(f"prior_features has shape {Phi.shape} but X has {n} rows; pass one row for each of them")
    values = Phi.data if issparse(Phi) else Phi
    if not np.isfinite(values).all():
        raise ValueError("prior_features contains NaN or infinity; pass finite features")
    return Prior(FeatureGram(Phi))


def prior_of_labels(codes: Array) -> Prior:
    """The ideal kernel of labels 0, 1, …: 1 for equal ones, 0 for others."""
    n = len(codes)
    return Prior(FeatureGram(csr_array((np.ones(n), codes, np.arange(n + 1)), shape=(n, int(codes.max()) + 1))))


def _as_array(values: Any) -> Array:
    try:
        found = values if isinstance(values, np.ndarray) else np.asarray(values, dtype=np.float64)
    except (TypeError, ValueError):
        found = np.empty(0, object)
    if found.dtype.kind not in "fiub":
        raise ValueError("prior must be a matrix of numbers or a Gram of gramian; pass one similarity per pair of rows")
    return found.astype(np.float64) if found.dtype.kind != "f" else found


def _as_csr(values: Any) -> Any:
    matrix = csr_array(values)
    return matrix if matrix.dtype.kind == "f" else matrix.astype(np.float64)


def _check_matrix(P: Any) -> None:
    """Finite and symmetric, looked at strip by strip: the matrix may be on disk."""
    largest = asymmetry = 0.0
    for rows in slices(P.shape[0], _STRIP):
        strip, mirror = P[rows], P[:, rows].T
        strip, mirror = (part.toarray() if issparse(part) else part for part in (strip, mirror))
        if not np.isfinite(strip).all():
            raise ValueError("prior contains NaN or infinity; pass finite similarities")
        largest = max(largest, float(np.abs(strip).max()))
        asymmetry = max(asymmetry, float(np.abs(strip - mirror).max()))
    tolerance = 1e-8 if P.dtype == np.float64 else 1e-6
    if asymmetry > tolerance * largest:
        raise ValueError(
            f"prior is not symmetric: two entries that mirror each other differ by {asymmetry:.3g}; pass (P + P.T) / 2"
        )
