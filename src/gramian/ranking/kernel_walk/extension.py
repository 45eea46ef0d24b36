"""Embeddings, scores and queries of new samples, by extending the eigenvectors of a walk to them."""

from __future__ import annotations

import copy
import warnings

import numpy as np

from gramian.kernels import Expansion, Kernel
from gramian.ranking.kernel_walk.components import Spectrum
from gramian.ranking.kernel_walk.low_rank import LowRank
from gramian.ranking.kernel_walk.walk import Walk
from gramian.typing import Array, Matrix


class Extension:
    """Eigenvectors of a walk extended to new samples.

    Solving the eigenvector equation for a new x gives e_j(x) = Σ_i k(x, x_i) e_ij / √d_i / (λ_j √d(x)). The degree
    d(x) = Σ_i k(x, x_i) counts the fitted samples only. For a fitted sample this is its own entry again.

    Parameters
    ----------
    kernel : fitted Kernel
    points : array or CSR (n, d)
        The fitted samples.
    walk : Walk
        On them.
    spectrum : Spectrum
    usable : ndarray (p,) of bool
        Components that scores may be made of. Only for these is anything kept: a kernel of many features keeps a
        number for each feature and component.
    """

    def __init__(self, kernel: Kernel, points: Matrix, walk: Walk, spectrum: Spectrum, usable: Array) -> None:
        dtype = walk.gram.dtype
        self.usable = usable
        scaled = spectrum.vectors[:, usable] / walk.roots[:, None].astype(dtype)
        # One more column sums k(x, x_i): the degree of a new sample.
        coefficients = np.hstack([scaled, np.ones((len(scaled), 1), dtype)])
        self.expansion = Expansion(kernel, points, coefficients, gram=walk.gram)
        self.volume = walk.volume

    def _places(self, low_rank: LowRank) -> Array:
        """Where the functions of the selected components stand among those that are kept."""
        places: Array = (np.cumsum(self.usable) - 1)[low_rank.selected]
        return places

    def _images(self, low_rank: LowRank, rows: Matrix) -> tuple[Array, Array]:
        """√d(x) e_j(x) of checked rows, (n_new, k), and d(x) as a column."""
        refuse_division_by_zero(low_rank.values)
        values = self.expansion(rows)
        degrees = np.maximum(values[:, -1:], 0)
        warn_alone(int((degrees <= 0).sum()), "placed at the origin")
        return values[:, self._places(low_rank)] / low_rank.values.astype(values.dtype), degrees

    def embed(self, low_rank: LowRank, rows: Matrix) -> Array:
        """z_j(x) = e_j(x) / √(1 + β − λ_j); zero where d(x) is."""
        images, degrees = self._images(low_rank, rows)
        Z = np.divide(images, np.sqrt(degrees), out=np.zeros_like(images), where=degrees > 0)
        return Z * np.sqrt(low_rank.gains).astype(Z.dtype)

    def embedder(self, low_rank: LowRank, count: int) -> Expansion:
        """√d(x) z_j(x) of new rows as functions, for the first ``count`` of the selected components."""
        refuse_division_by_zero(low_rank.values)
        held = self.expansion.coefficients if self.expansion.weights is None else self.expansion.weights
        assert held is not None
        places = self._places(low_rank)[:count]
        mix = np.zeros((held.shape[1], len(places)))
        mix[places, np.arange(len(places))] = (np.sqrt(low_rank.gains) / low_rank.values)[:count]
        return combined(self.expansion, mix)

    def coordinates(self, low_rank: LowRank, rows: Matrix) -> Array:
        """e_j(x) / √d(x), (k, q): what e_jᵀ D^-½ s is for a restart at x; zero where d(x) is."""
        images, degrees = self._images(low_rank, rows)
        found = np.divide(images, degrees, out=np.zeros_like(images), where=degrees > 0)
        return found.T.astype(np.float64, copy=False)

    def scorer(self, low_rank: LowRank, coordinates: Array) -> Expansion:
        """Scores of new rows as functions, one for each column of ``coordinates``, and d(x) as the last."""
        refuse_division_by_zero(low_rank.values)
        weights = low_rank.weights(coordinates)
        held = self.expansion.coefficients if self.expansion.weights is None else self.expansion.weights
        assert held is not None
        mix = np.zeros((held.shape[1], weights.shape[1] + 1))
        mix[self._places(low_rank), :-1] = weights / low_rank.values[:, None]
        mix[-1, :-1] = 1 / self.volume
        mix[-1, -1] = 1
        return combined(self.expansion, mix)


def combined(expansion: Expansion, mix: Array) -> Expansion:
    """The functions Σ_j f_j(x) mix_jk, at the cost of as many functions as ``mix`` has columns."""
    combined = copy.copy(expansion)
    if expansion.weights is not None:
        combined.weights = expansion.weights @ mix.astype(expansion.weights.dtype)
    if expansion.coefficients is not None:
        combined.coefficients = expansion.coefficients @ mix.astype(expansion.coefficients.dtype)
    return combined


def warn_alone(count: int, consequence: str) -> None:
    """Say how many new samples are similar to no fitted one."""
    if count:
        who = "1 new sample is similar to no fitted one" if count == 1 else f"{count} new samples are similar to none"
        warnings.warn(f"{who} and {consequence}; widen the kernel or raise n_neighbors", UserWarning, stacklevel=5)


def refuse_division_by_zero(values: Array) -> None:
    """Refuse to extend eigenvectors of eigenvalue zero, by which new samples would be divided."""
    if float(np.abs(values).min(initial=1.0)) <= 1e-8:
        raise ValueError(
            "new samples cannot be placed by eigenvectors of eigenvalue zero, which this model keeps; fit with "
            "eigenvalue_tol=0.01, or use method='one_step'"
        )
