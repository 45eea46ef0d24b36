"""Leave-one-out errors of a whole range of regularizations from one eigendecomposition of the centred Gram.

The eigenpairs come from the Gram's own door; every further regularization costs two products. The search of
:mod:`gramian.lssvm.tuning` stands on this.
"""

from __future__ import annotations

import numpy as np

from gramian.grams.base import Gram
from gramian.grams.tiles import slices
from gramian.lssvm.system import left_out
from gramian.typing import Array

_ROWS = 512  # rows whose squared eigenvector entries are held at a time


class CenteredSpectrum:
    """Residuals of the machine for any γ, with K centred by its weights and diagonalised once.

    With u = √v / ‖√v‖, B = Π V^½ K V^½ Π = U S Uᵀ and z = Π V^½ y the coefficients are
    α = V^½ U (S + 1/γ)⁻¹ Uᵀ z, and (A⁻¹)_ii = v_i (Σ_k U_ik² / (S_k + 1/γ) − γ u_i²). Where there are fewer
    eigenpairs than rows the rest have S = 0.

    Parameters
    ----------
    gram : Gram
        K of the n rows.
    Y : ndarray (n, q)
        Targets.
    weights : ndarray (n,), optional
        v > 0.
    counts : ndarray (n,), optional
        How many rows each stands for, see :func:`gramian.lssvm.system.left_out`.

    Attributes
    ----------
    values : ndarray (m,)
        S.
    norm : float
        About that of K before it was centred, which the factorization has to do with.
    """

    def __init__(self, gram: Gram, Y: Array, weights: Array | None = None, counts: Array | None = None) -> None:
        n = gram.shape[0]
        centred = gram.centered() if weights is None else gram.weighted_centered(weights)
        m = n if gram.factor is None else min(n, gram.factor.shape[1])
        values, self.U = centred.eigenpairs(m)
        self.values = values.astype(np.float64)
        self.dtype = gram.dtype
        self.roots = np.ones(n) if weights is None else np.sqrt(weights.astype(np.float64))
        self.weights = self.roots**2
        self.counts = counts
        direction = self.roots / np.linalg.norm(self.roots)
        Z = self.roots[:, None] * (Y.astype(np.float64) - Y[:1])  # of a constant exactly zero
        self.Z = Z - direction[:, None] * (direction @ Z)
        self.along = direction**2
        self.T = (self.U.T @ self.Z.astype(self.dtype)).astype(np.float64)
        self.complete = m == n
        self.norm = max(self.largest, float(np.abs(gram.degrees()).max()) * float(self.weights.max()))

    @property
    def size(self) -> float:
        """Mean eigenvalue, over rows with their copies: regularizations are tried relative to it."""
        return float(np.abs(self.values).sum()) / float(len(self.Z) if self.counts is None else self.counts.sum())

    @property
    def largest(self) -> float:
        """The largest |S|."""
        return float(np.abs(self.values).max(initial=0.0))

    def shrunk(self, regularizations: Array) -> Array:
        """1 / (S_k + 1/γ_g), shape (m, g); NaN where an eigenvalue cancels 1/γ to rounding."""
        sums = self.values[:, None] + 1 / regularizations
        lost = np.abs(sums) <= 10 * np.finfo(self.dtype).eps * max(self.largest, 1 / float(regularizations.max()))
        return 1 / np.where(lost, np.nan, sums)

    def coefficients(self, regularizations: Array) -> Array:
        """V^-½ α for every γ, shape (n, g, q)."""
        n, q, g = len(self.Z), self.T.shape[1], len(regularizations)
        right = (self.shrunk(regularizations)[:, :, None] * self.T[:, None]).reshape(-1, g * q)
        beta = (self.U @ right.astype(self.dtype)).astype(np.float64).reshape(n, g, q)
        if not self.complete:
            outside = self.Z - self.U @ self.T.astype(self.dtype)
            beta += regularizations[:, None] * outside[:, None]
        return beta

    def inverse_diagonal(self, regularizations: Array) -> Array:
        """(A⁻¹)_ii / v_i for every γ, shape (n, g)."""
        weights = self.shrunk(regularizations).astype(self.dtype)
        out = np.empty((len(self.Z), len(regularizations)))
        inside = np.empty(len(self.Z))
        for rows in slices(len(out), _ROWS):
            squares = self.U[rows] ** 2
            out[rows] = squares @ weights
            inside[rows] = squares.sum(axis=1)
        outside = 0.0 if self.complete else (1 - inside).clip(min=0)
        out += regularizations * (outside - self.along)[:, None]
        return out

    def left_out(self, regularizations: Array) -> Array:
        """Residuals with each row left out, shape (n, g, q)."""
        noise = 1 / (regularizations * self.weights[:, None])
        beta, diagonal = self.coefficients(regularizations), self.inverse_diagonal(regularizations)
        return left_out(self.roots[:, None, None] * beta, self.weights[:, None] * diagonal, noise, self.counts)

    def folds_left_out(self, regularizations: Array, folds: list[Array]) -> Array:
        """Residuals of every row with its whole fold left out, shape (n, g, q).

        e_F = ((A⁻¹)_FF)⁻¹ α_F, one small system per fold and γ instead of a refit.
        """
        beta = self.coefficients(regularizations)
        shrunk = self.shrunk(regularizations)
        out = np.empty_like(beta)
        direction = np.sqrt(self.along)
        for fold in folds:
            U = self.U[fold].astype(np.float64)
            for g, gamma in enumerate(regularizations):
                block = (U * shrunk[:, g]) @ U.T - gamma * np.outer(direction[fold], direction[fold])
                if not self.complete:
                    block += gamma * (np.eye(len(fold)) - U @ U.T)
                if np.isfinite(block).all():
                    out[fold, g] = np.linalg.solve(block, beta[fold, g]) / self.roots[fold, None]
                else:
                    out[fold, g] = np.nan
        return out
