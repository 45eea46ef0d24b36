"""Scores by a few eigenvectors of a walk: which are kept, what they give, and how far that is from exact.

:class:`LowRank` is the part of :class:`~gramian.ranking.kernel_pagerank.KernelPageRank` that depends on the restart
probability. It needs no Gram: changing the restart costs no product with K.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy.sparse import diags_array

from gramian.ranking.kernel_walk.components import Spectrum
from gramian.ranking.kernel_walk.walk import odds
from gramian.typing import Array


@dataclass
class RankingError:
    """How far low-rank scores π̂ may be from exact ones π.

    Attributes
    ----------
    scaled : float or ndarray (q,)
        ‖D^-½ (π − π̂)‖² / β²; for a random query its expectation.
    share : float or ndarray (q,)
        Of ‖D^-½ (π − d/vol)‖² / β², all that depends on the query: 0 is exact, 1 says nothing but base scores.
    is_bound : bool
        Whether the numbers are upper bounds, because some eigenvectors were not computed; else they are exact.
    per_sample : ndarray (n,) or (n, q)
        abs(π_i − π̂_i) is at most this, β √(d_i · scaled); for a random query, its root mean square is.
    """

    scaled: Any
    share: Any
    is_bound: bool
    per_sample: Array

    def first(self) -> RankingError:
        """Of several queries, the first alone."""
        return RankingError(float(self.scaled[0]), float(self.share[0]), self.is_bound, self.per_sample[:, 0])


class LowRank:
    """Personalised PageRank by a few eigenvectors of the walk.

    π̂(s) = d / vol + β D^½ Σ_{j kept} e_j c_j / (1 + β − λ_j) with coordinates c_j = e_jᵀ D^-½ s.

    Parameters
    ----------
    spectrum : Spectrum
    degrees : ndarray (n,)
    restart : float
    order : {"query", "eigenvalue", "restart"}
        Which components are kept; with "restart" every query keeps its own.
    count : int or None
        How many; None keeps all that are allowed.
    allowed : ndarray (p,) of bool
        Components that may be kept.
    complete : bool
        Whether no component outside the spectrum may be kept.

    Attributes
    ----------
    selected : ndarray (k,)
        Indices of the components that coordinates are for, ascending.
    values, vectors, gains : ndarray (k,), (n, k), (k,)
        Their λ_j, e_j and 1 / (1 + β − λ_j).
    count : int
        Components in a score; with "restart" fewer than there are coordinates.
    expected, expected_share : float
        See :class:`RankingError`, for a random query.
    is_certain : bool
        Whether no component that was not computed can have been worth more than one that is kept, for any seeds.
    """

    def __init__(
        self,
        spectrum: Spectrum,
        degrees: Array,
        restart: float,
        order: str,
        count: int | None,
        allowed: Array,
        *,
        complete: bool,
    ) -> None:
        wanted = importance(spectrum, order, restart)
        index = np.flatnonzero(allowed)
        best = np.sort(index[np.argsort(-wanted[index], kind="stable")][:count])
        self.restart = restart
        self.count = len(best)
        self.picks = order == "restart" and len(best) < len(index)
        self.selected = index if self.picks else best
        whole = len(self.selected) == len(spectrum.values)
        self.vectors = spectrum.vectors if whole else np.ascontiguousarray(spectrum.vectors[:, self.selected])
        self.values = spectrum.values[self.selected]
        self.gains = spectrum.gains(restart)[self.selected]
        self.degrees, self.volume = degrees, float(degrees.sum())
        lost, everything = expected_error(spectrum, restart, best)
        if self.picks:
            lost = self._expected_of_picks(spectrum, lost, best)
        self.expected, self.expected_share = lost, lost / everything if everything > 0 else 0.0
        self.is_certain = complete or choice_is_certain(spectrum, order, restart, best, degrees)

    # Scores ------------------------------------------------------------------------------------------------

    def coordinates(self, seeds: Any) -> Array:
        """e_jᵀ D^-½ s for sparse columns s, shape (k, q)."""
        scaled = diags_array(1 / np.sqrt(self.degrees)) @ seeds
        return np.asarray((scaled.T @ self.vectors).T, np.float64)

    def kept(self, coordinates: Array) -> Array:
        """Which coordinates enter the scores of each query, (k, q) of bool."""
        kept = np.full(coordinates.shape, not self.picks)
        if self.picks:
            worth = np.abs(coordinates * self.gains[:, None])
            np.put_along_axis(kept, np.argsort(-worth, axis=0, kind="stable")[: self.count], True, axis=0)
        return kept

    def weights(self, coordinates: Array) -> Array:
        """β c_j / (1 + β − λ_j), zero for what is not kept, (k, q)."""
        return np.where(self.kept(coordinates), odds(self.restart) * self.gains[:, None] * coordinates, 0.0)

    def scores(self, weights: Array) -> Array:
        """Scores of the fitted samples, (n, q), a contiguous piece of memory for each query."""
        values = (weights.T.astype(self.vectors.dtype) @ self.vectors.T).astype(np.float64, copy=False)
        values *= np.sqrt(self.degrees)
        values += self.degrees / self.volume
        return values.T

    # Errors ------------------------------------------------------------------------------------------------

    def error(self, spectrum: Spectrum, seeds: Any, moment: Array) -> RankingError:
        """The error for sparse columns of seeds s, with sᵀ D^-1 K D^-1 s of each."""
        scaled = diags_array(1 / np.sqrt(self.degrees)) @ seeds
        energy = np.asarray(scaled.multiply(scaled).sum(axis=0)).ravel()
        coordinates = np.asarray((scaled.T @ spectrum.vectors).T, np.float64)
        kept = np.zeros(coordinates.shape, bool)
        kept[self.selected] = self.kept(coordinates[self.selected])
        lost, everything = seed_errors(spectrum, self.restart, coordinates, kept, energy, moment, self.volume)
        share = np.divide(lost, everything, out=np.zeros_like(lost), where=everything > 0)
        return RankingError(lost, share, not spectrum.exact, self._per_sample()[:, None] * np.sqrt(lost))

    def random_error(self, spectrum: Spectrum) -> RankingError:
        """The error to expect of a random query."""
        per_sample = self._per_sample() * np.sqrt(self.expected)
        return RankingError(self.expected, self.expected_share, not spectrum.exact, per_sample)

    def _per_sample(self) -> Array:
        return odds(self.restart) * np.sqrt(self.degrees)

    def _expected_of_picks(self, spectrum: Spectrum, lost: float, best: Array) -> float:
        """The expected error when each of the n single queries keeps the components that are best for it."""
        fixed = float((spectrum.sizes[best] * spectrum.gains(self.restart)[best] ** 2).sum())
        squares = (self.vectors.astype(np.float64) * self.gains) ** 2 / self.degrees[:, None]
        own = np.partition(squares, squares.shape[1] - self.count, axis=1)[:, squares.shape[1] - self.count :]
        return max(0.0, lost + (fixed - float(own.sum())) / len(squares))


def importance(spectrum: Spectrum, order: str, restart: float) -> Array:
    """How much each component is wanted: its eigenvalue, or its share in the score of a random query."""
    if order == "eigenvalue":
        return spectrum.values.astype(np.float64)
    return spectrum.sizes * spectrum.gains(restart) ** 2


def choice_is_certain(spectrum: Spectrum, order: str, restart: float, chosen: Array, degrees: Array) -> bool:
    """Whether no component that was not computed could have been wanted more than the least wanted chosen one.

    With "restart" the seeds decide what is wanted. One query may have nothing but a component that the average query
    hardly has, so the choice is certain only if all components were computed.
    """
    if len(spectrum.values) == len(degrees) - 1 or order == "eigenvalue" or not len(chosen):
        return True
    if order == "restart":
        return False
    gain = 1 / (1 + odds(restart) - spectrum.ceiling)
    largest = min(1 / float(degrees.min()), spectrum.missing) * gain**2
    return bool(importance(spectrum, order, restart)[chosen].min() >= largest)


def expected_error(spectrum: Spectrum, restart: float, chosen: Array) -> tuple[float, float]:
    """Expected ‖D^-½ ε / β‖² of a random query when only ``chosen`` is kept, and the same when nothing is.

    The first number is exact or, with uncomputed components, an upper bound; so is their ratio.
    """
    n = len(spectrum.vectors)
    shares = spectrum.sizes * spectrum.gains(restart) ** 2
    rest = float(spectrum.most_missing(restart, np.array(spectrum.missing), np.array(spectrum.missing_moment)))
    kept = float(shares[chosen].sum())
    lost = float(np.delete(shares, chosen).sum()) + rest
    return lost / n, (kept + lost) / n


def seed_errors(
    spectrum: Spectrum, restart: float, coordinates: Array, kept: Array, energy: Array, moment: Array, volume: float
) -> tuple[Array, Array]:
    """‖D^-½ ε / β‖² for given seeds when the components ``kept`` are kept, and the same when none is.

    Parameters
    ----------
    spectrum : Spectrum
    restart : float
    coordinates : ndarray (p, q)
        c_i = e_iᵀ D^-½ s.
    kept : ndarray (p, q) of bool
    energy, moment : ndarray (q,)
        ‖D^-½ s‖² and sᵀ D^-1 K D^-1 s: they tell what Σ c_i² and Σ λ_i c_i² the missing components have.
    volume : float
    """
    squares = coordinates**2
    shares = squares * spectrum.gains(restart)[:, None] ** 2
    rest = np.zeros(coordinates.shape[1])
    if len(spectrum.values) < len(spectrum.vectors) - 1:
        left = np.maximum(energy - squares.sum(axis=0) - 1 / volume, 0.0)
        rest = spectrum.most_missing(restart, left, moment - spectrum.values @ squares - 1 / volume)
    lost = np.where(kept, 0.0, shares).sum(axis=0) + rest
    return lost, np.where(kept, shares, 0.0).sum(axis=0) + lost
