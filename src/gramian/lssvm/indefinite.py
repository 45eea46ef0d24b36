"""Kernels that are not positive semi-definite: as they are, or with another spectrum.

The machine itself needs no definite kernel; its solution is then a stationary point in a Kreĭn space. Where another
spectrum is wanted, K = U Λ Uᵀ becomes P K with a matrix P, and new rows k(x) become k(x) P: P goes into the
coefficients once and prediction stays what it was.
"""

from __future__ import annotations

import numpy as np

from gramian.configuration import require_memory
from gramian.grams import FeatureGram, Gram
from gramian.grams.features import MatrixFactor
from gramian.typing import Array

INDEFINITE = ("direct", "clip", "flip", "shift", "square")
_ROUNDING = 1e-10  # eigenvalues smaller than this share of the largest count as zero


class Repaired:
    """A Gram with its spectrum made non-negative, and the map from its coefficients to those of the kernel.

    =========  ==================  ======================
    how        eigenvalue λ        P with K' = P K
    =========  ==================  ======================
    clip       max(λ, 0)           U₊ U₊ᵀ
    flip       |λ|                 U sign(Λ) Uᵀ
    square     λ²                  K
    shift      λ − min λ           none: the fitted rows only
    =========  ==================  ======================

    Attributes
    ----------
    gram : Gram
        K'.
    """

    def __init__(self, gram: Gram, how: str) -> None:
        self.how = how
        n = gram.shape[0]
        require_memory(
            float(n) * n * gram.dtype.itemsize,
            f"the {n}×{n} eigenvectors for indefinite={how!r}",
            "use indefinite='direct', or landmarks, kernel=gramian.Nystroem(n_components, kernel=...)",
        )
        values, self.U = gram.eigenpairs(gram.shape[0])
        self.values = values.astype(np.float64)
        self.raised = max(0.0, -float(self.values.min())) if how == "shift" else 0.0
        if how == "shift":
            self.gram = gram.shifted(self.raised)
            return
        repaired = {"clip": self.values.clip(min=0), "flip": np.abs(self.values), "square": self.values**2}[how]
        kept = repaired > _ROUNDING * max(float(repaired.max(initial=0.0)), np.finfo(np.float64).tiny)
        F = self.U[:, kept] * np.sqrt(repaired[kept]).astype(self.U.dtype)
        self.gram = FeatureGram(MatrixFactor(F if F.shape[1] else np.zeros((len(F), 1), F.dtype)))

    def coefficients(self, alpha: Array) -> Array:
        """P α, the coefficients of k(x, x_i) in f."""
        if self.how == "shift":
            return alpha
        factors = {"clip": self.values > 0, "flip": np.sign(self.values), "square": self.values}[self.how]
        return self.U @ (np.asarray(factors, self.U.dtype)[:, None] * (self.U.T @ alpha.astype(self.U.dtype)))

    def similarities(self, block: Array, diagonal: Array) -> tuple[Array, Array]:
        """k'(x_i, x) and k'(x, x) of new rows.

        What K' has more than K at the fitted rows, k(x, x) has more by the same functions of x:
        k'(x, x) = k(x, x) + Σ_j (λ'_j − λ_j) (u_j·k(x) / λ_j)². Squared, k' is the product of the columns k(x).

        Parameters
        ----------
        block : ndarray (n, b)
            k(x_i, x).
        diagonal : ndarray (b,)
            k(x, x).
        """
        if self.how == "shift":
            return block, diagonal + self.raised
        if self.how == "square":
            return self.coefficients(block), np.einsum("ij,ij->j", block, block)
        negative = self.values < -_ROUNDING * float(np.abs(self.values).max(initial=0.0))
        size = -self.values[negative, None]
        extra = ((self.U[:, negative].T @ block) ** 2 / size).sum(axis=0)
        return self.coefficients(block), diagonal + (extra if self.how == "clip" else 2 * extra)


def nearest_eigenvalue(gram: Gram, regularization: float) -> float:
    """The eigenvalue of the centred Gram, or of the Gram, that comes nearest to −1/γ."""
    values = np.concatenate([view.eigenpairs(gram.shape[0])[0] for view in (gram, gram.centered())])
    return float(values[np.argmin(np.abs(values + 1 / regularization))])
