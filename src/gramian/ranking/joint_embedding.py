"""The embedding in which distances are resistances of a graph and inner products are PageRank scores.

With L_β = (1 + β) D − K and its inverse G_β, β vol G_β is the Gram matrix of an embedding Z of the samples, so that
‖z_i − z_j‖² = vol R_α(i, j), a generalised effective resistance, and π(s) = D Z Zᵀ s / vol. Two truncations of it
are here; :class:`~gramian.ranking.ranked_clustering.RankedClustering` clusters their rows.
"""

from __future__ import annotations

import warnings
from dataclasses import dataclass
from numbers import Integral
from typing import Any

import numpy as np

from gramian.grams import Gram
from gramian.kernels import Expansion, Kernel, Precomputed
from gramian.ranking.components import DeflatedWalk
from gramian.ranking.walk import Walk, odds
from gramian.typing import Array, Matrix

_SINGLE, _MANY = 3.0, 100  # an axis spread over fewer samples than the first, of at least the second, shows no cluster


class RestartLaplacian(Gram):
    """L_β = (1 + β) D − K as an operator."""

    def __init__(self, walk: Walk, restart: float) -> None:
        super().__init__(walk.gram.shape[0], walk.gram.dtype)
        self.base = walk.gram
        self.cheap_products = walk.gram.cheap_products
        self.diagonal_part = ((1 + odds(restart)) * walk.degrees).astype(self.dtype)

    def _product(self, V: Array) -> Array:
        return self.diagonal_part[:, None] * V - self.base._product(V)

    def _rows(self, index: Array) -> Array:
        rows = -self.base._rows(index)
        rows[np.arange(len(index)), index] += self.diagonal_part[index]
        return rows

    def _diagonal(self) -> Array:
        return self.diagonal_part - self.base._diagonal()


@dataclass
class JointEmbedding:
    """Leading columns of Z, for fitted and for new samples.

    Attributes
    ----------
    values : ndarray (k,)
        Eigenvalues λ of D^-½ K D^-½ without the trivial one, falling; or μ of L_β, rising.
    embedding : ndarray (n, k)
    expansion : Expansion
        Σ_i k(x, x_i) times the columns' coefficients, and d(x).
    restart : float
    normalized : bool
    """

    values: Array
    embedding: Array
    expansion: Expansion
    restart: float
    normalized: bool

    @classmethod
    def of(
        cls,
        kernel: Kernel,
        X: Matrix,
        gram: Gram,
        inside: Array,
        restart: float,
        parts: tuple[Array, Array, Array],
        *,
        normalized: bool,
    ) -> JointEmbedding:
        """From values, embedding and coefficients of the samples ``inside``; the others are placed as new ones are."""
        values, Z, coefficients = parts
        # One more column sums k(x, x_i): the degree of a new sample.
        whole = np.zeros((len(inside), coefficients.shape[1] + 1), coefficients.dtype)
        whole[inside, :-1], whole[inside, -1] = coefficients, 1
        found = cls(values, Z, Expansion(kernel, X, whole, gram=gram), restart, normalized)
        if not inside.all():
            found.embedding = np.empty((len(inside), Z.shape[1]), Z.dtype)
            found.embedding[inside], found.embedding[~inside] = Z, found(X[~inside])[0]
        return found

    def __call__(self, rows: Matrix) -> tuple[Array, Array]:
        """The embedding of checked new rows, and a mask of those that are similar to no fitted sample."""
        sums = self.expansion(rows)
        sums, degrees = sums[:, :-1], sums[:, -1:]
        alone = degrees <= 0
        poles = (1 + odds(self.restart)) * degrees - self.values.astype(sums.dtype)
        divisor = degrees if self.normalized else poles
        # A new sample on a pole of the extension has no place; a fitted one is never there.
        safe = ~alone & (self.normalized | (np.abs(divisor) > 1e-8 * np.abs(degrees).max(initial=0.0)))
        return np.divide(sums, divisor, out=np.zeros_like(sums), where=safe), alone[:, 0]


def walk_axes(walk: Walk, k: int) -> tuple[Array, Array]:
    """The k leading eigenpairs of the walk beyond the trivial one, those of positive eigenvalue."""
    values, vectors = DeflatedWalk(walk).eigenpairs(min(k, len(walk.degrees) - 1))
    keep = values > max(1e-6, 10 * float(np.finfo(values.dtype).eps))
    return np.minimum(values[keep], 1), np.ascontiguousarray(vectors[:, keep])


def normalized_embedding(walk: Walk, restart: float, axes: tuple[Array, Array]) -> tuple[Array, Array, Array]:
    """λ, Z = √(β vol) D^-½ E (1 + β − Λ)^-½ and Z Λ^-1, without the constant first column of Z.

    A new x has z_j(x) = Σ_i k(x, x_i) z_ij / λ_j / d(x).
    """
    values, vectors = axes
    beta = odds(restart)
    scale = np.sqrt(beta * walk.volume / (1 + beta - values.astype(np.float64)))
    Z = (vectors / walk.roots[:, None] * scale).astype(vectors.dtype)
    return values, Z, Z / values


def laplacian_embedding(walk: Walk, restart: float, k: int) -> tuple[Array, Array, Array]:
    """μ, Z = √(β vol) E M^-½ from the k smallest eigenpairs (μ, e) of L_β, as published, and Z again.

    A new x has z_j(x) = Σ_i k(x, x_i) z_ij / ((1 + β) d(x) − μ_j).
    """
    values, vectors = RestartLaplacian(walk, restart).eigenpairs(min(k, len(walk.degrees)), "smallest")
    # Rounding of float32 may take the smallest below the bound that theory gives.
    values = np.maximum(values, odds(restart) * float(walk.degrees.min()) * (1 - 1e-6)).astype(values.dtype)
    scale = np.sqrt(odds(restart) * walk.volume / values.astype(np.float64))
    Z = (vectors * scale).astype(vectors.dtype)
    return values, Z, Z


def restricted(kernel: Kernel, X: Matrix, inside: Array) -> Gram:
    """The Gram of some of the samples."""
    if kernel.pairwise:
        part = X[inside][:, inside]
        return Precomputed().fit(part).gram(part)
    return kernel.gram(X[inside])


def low_degrees(walk: Walk, restart: float) -> Array:
    """Mask of the samples of so small a degree that an axis of the published embedding goes to each of them.

    The vector of sample i alone has the quotient (1 + β) d_i − K_ii under L_β; it comes before the vectors of
    clusters if that is below β vol / n, the quotient of the constant vector.
    """
    beta = odds(restart)
    own = (1 + beta) * walk.degrees - walk.gram.diagonal()
    return own < beta * walk.volume / len(own)


def unpruned(drop: Any, degrees: Array, low: Array) -> Array:
    """Mask of the samples that are embedded, as ``prune_low_degree`` asks."""
    if drop is None:
        return np.ones(len(low), bool)
    if isinstance(drop, str) and drop == "auto":
        return ~low
    if not isinstance(drop, Integral) or isinstance(drop, bool) or not 0 <= int(drop) <= len(low) - 2:
        raise ValueError(
            f"prune_low_degree={drop!r} must be a whole number from 0 to n_samples - 2 = {len(low) - 2}, 'auto' or None"
        )
    inside = np.ones(len(low), bool)
    inside[np.argsort(degrees, kind="stable")[: int(drop)]] = False
    return inside


def warn_localized(Z: Array, low: Array) -> None:
    """Say that columns of Z went to single samples, or to a few of low degree, if some did."""
    squares = Z.astype(np.float64) ** 2
    totals = squares.sum(axis=0)
    count = int((squares[low].sum(axis=0) > 0.5 * totals).sum())
    if count and low.mean() < 0.25:  # where they are many, the kernel is narrow and they are no outliers
        who = "1 sample" if low.sum() == 1 else f"{low.sum()} samples"
        where = f"{who} of low degree (low_degree_mask_); use prune_low_degree='auto'"
    else:
        # The mask knows which samples come before the first axis; others may still come before the last ones.
        spread = np.divide(totals**2, (squares**2).sum(axis=0), out=np.full(len(totals), np.inf), where=totals > 0)
        count = int((spread < _SINGLE).sum()) if len(Z) >= _MANY else 0
        where = "single samples; use prune_low_degree with their number"
    if count:
        warnings.warn(
            f"{count} of {Z.shape[1]} axes of the embedding went to {where}, a wider kernel or normalized=True",
            UserWarning,
            stacklevel=3,
        )
