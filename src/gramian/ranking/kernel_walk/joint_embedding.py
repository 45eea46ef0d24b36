"""The embedding in which distances are resistances of a graph and inner products are PageRank scores.

With L_β = (1 + β) D − K and its inverse G_β, β vol G_β is the Gram matrix of an embedding Z of the samples, so that
‖z_i − z_j‖² = vol R_α(i, j), a generalised effective resistance, and π(s) = D Z Zᵀ s / vol. Two truncations of it
are here; :class:`~gramian.ranking.ranked_clustering.RankedClustering` clusters their rows.
"""

from __future__ import annotations

import warnings
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from gramian.checks import whole
from gramian.clustering.core import Placement
from gramian.grams import Gram
from gramian.kernels import Kernel
from gramian.ranking.kernel_walk.components import DeflatedGram
from gramian.ranking.kernel_walk.walk import Walk, odds
from gramian.typing import Array, Matrix

_SINGLE, _MANY = 3.0, 100  # an axis spread over fewer samples than the first, of at least the second, shows no cluster


@dataclass
class JointAxes:
    """Leading columns of Z for some samples, and how new samples are placed beside them.

    Attributes
    ----------
    values : ndarray (k,)
        Eigenvalues λ of D^-½ K D^-½ without the trivial one, falling; or μ of L_β, rising.
    embedding : ndarray (n, k)
    coefficients : ndarray (n, k)
        A new x is placed at Σ_i k(x, x_i) coefficients_i over a divisor for each column: d(x) under D^-½ K D^-½,
        (1 + β) d(x) − μ under L_β.
    pole : float or None
        1 + β under L_β.
    """

    values: Array
    embedding: Array
    coefficients: Array
    pole: float | None = None

    def placement(self, kernel: Kernel, X: Matrix, gram: Gram, inside: Array) -> Placement:
        """What embeds new samples, from the fitted samples ``inside`` that these axes are of."""
        coefficients = np.zeros((len(inside), len(self.values)), self.coefficients.dtype)
        coefficients[inside] = self.coefficients
        place = Placement.of(kernel, X, gram, coefficients, inside, power=1.0)
        return place if self.pole is None else LaplacianPlacement(place.expansion, 1.0, mu=self.values, pole=self.pole)


@dataclass
class LaplacianPlacement(Placement):
    """New samples under eigenvectors of L_β: each column j is divided by (1 + β) d(x) − μ_j.

    Attributes
    ----------
    mu : ndarray (k,)
    pole : float
        1 + β.
    """

    mu: Array = field(kw_only=True)
    pole: float = field(kw_only=True)

    def divisors(self, degrees: Array) -> Array:
        poles = self.pole * degrees - self.mu.astype(degrees.dtype)
        # A new sample on a pole of the extension has no place; a fitted one is never there.
        return np.where(np.abs(poles) > 1e-8 * np.abs(degrees).max(initial=0.0), poles, 0)


def walk_axes(walk: Walk, k: int) -> tuple[Array, Array]:
    """The k leading eigenpairs of the walk beyond the trivial one, those of positive eigenvalue."""
    values, vectors = DeflatedGram(walk).eigenpairs(min(k, len(walk.degrees) - 1))
    keep = values > max(1e-6, 10 * float(np.finfo(values.dtype).eps))
    return np.minimum(values[keep], 1), np.ascontiguousarray(vectors[:, keep])


def normalized_axes(walk: Walk, restart: float, pairs: tuple[Array, Array]) -> JointAxes:
    """λ, Z = √(β vol) D^-½ E (1 + β − Λ)^-½ and Z Λ^-1, without the constant first column of Z.

    A new x has z_j(x) = Σ_i k(x, x_i) z_ij / λ_j / d(x).
    """
    values, vectors = pairs
    beta = odds(restart)
    scale = np.sqrt(beta * walk.volume / (1 + beta - values.astype(np.float64)))
    Z = (vectors / walk.roots[:, None] * scale).astype(vectors.dtype)
    return JointAxes(values, Z, Z / values)


def laplacian_axes(walk: Walk, restart: float, k: int) -> JointAxes:
    """μ, Z = √(β vol) E M^-½ from the k smallest eigenpairs (μ, e) of L_β, as published, and Z again.

    A new x has z_j(x) = Σ_i k(x, x_i) z_ij / ((1 + β) d(x) − μ_j).
    """
    laplacian = walk.gram.scaled(-1.0).shifted((1 + odds(restart)) * walk.degrees)
    values, vectors = laplacian.eigenpairs(min(k, len(walk.degrees)), "smallest")
    # Rounding of float32 may take the smallest below the bound that theory gives.
    values = np.maximum(values, odds(restart) * float(walk.degrees.min()) * (1 - 1e-6)).astype(values.dtype)
    scale = np.sqrt(odds(restart) * walk.volume / values.astype(np.float64))
    Z = (vectors * scale).astype(vectors.dtype)
    return JointAxes(values, Z, Z, 1 + odds(restart))


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
    drop = whole(drop, "prune_low_degree", least=0, most=len(low) - 2, instead="'auto' or None")
    inside = np.ones(len(low), bool)
    inside[np.argsort(degrees, kind="stable")[:drop]] = False
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
