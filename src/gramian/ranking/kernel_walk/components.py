"""The eigenvectors of a walk beyond the trivial one: found, ordered, and what leaving some out costs.

With K_n = D^-½ K D^-½ = Σ_i λ_i e_i e_iᵀ, λ_1 = 1 and e_1 = √(d / vol), personalised PageRank is

    π(s) = d / vol + β D^½ Σ_{i>=2} e_i (e_iᵀ D^-½ s) / (1 + β − λ_i),     β = α / (1 − α).

Everything here is about the sum: it may be cut, and what is cut is known exactly or bounded.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from gramian.grams.views import SandwichGram
from gramian.ranking.kernel_walk.walk import Walk, odds
from gramian.typing import Array

_WHOLE_SAMPLES = 1000  # up to here the whole spectrum takes LAPACK less than a second
_MOST_COMPONENTS = 200  # that a rule about eigenvalues alone may ask of an iteration
_FIRST_COMPONENTS = 80  # usually enough for a kernel of smooth similarities
_INDISTINCT = 1e-9  # an eigenvalue this small is not told from that of the deflated vector


class DeflatedGram(SandwichGram):
    """K_n − e_1 e_1ᵀ as an operator: ``walk.normalized`` without its trivial eigenvector.

    A walk on several components has the eigenvalue 1 several times, and a solver then returns any mixture of e_1 with
    the others. Projecting e_1 off moves it to the eigenvalue 0, out of the way of the leading ones, changes no other
    pair, and leaves features features. (Subtracting 3 e_1 e_1ᵀ would move it to −2 but be a product of no features.)
    """

    def __init__(self, walk: Walk) -> None:
        super().__init__(walk.gram, walk.normalized.inverse_roots, walk.trivial[:, None])
        self.walk = walk

    def _known_top(self, most: int) -> Array | None:
        top = self.walk.normalized._known_top(most + 1)
        if top is None or top.shape[1] < 2:
            return None
        # Combinations of the components' vectors that are orthogonal to the trivial one: their coefficients are the
        # columns of a reflection that takes the trivial one's coefficients to the first axis.
        along = top.T.astype(np.float64) @ self.walk.trivial
        along /= np.linalg.norm(along)
        mirror = along.copy()
        mirror[0] += 1 if along[0] >= 0 else -1
        reflection = np.eye(len(along)) - 2 * np.outer(mirror, mirror) / (mirror @ mirror)
        return np.ascontiguousarray((top @ reflection[:, 1:]).astype(self.dtype))


@dataclass
class Spectrum:
    """Eigenpairs of a walk beyond the trivial one, by falling eigenvalue.

    Attributes
    ----------
    values : ndarray (p,)
    vectors : ndarray (n, p)
    sizes : ndarray (p,)
        ‖D^-½ e_i‖², what a random query has on average, times n, of component i.
    missing, missing_moment : float
        Σ ‖D^-½ e_i‖² and Σ λ_i ‖D^-½ e_i‖² over the components that are not here; all together have Σ_j 1/d_j and
        Σ_j K_jj/d_j².
    floor, ceiling : float
        The components that are not here have eigenvalues between these.
    exact : bool
        Whether the two are one (or there are none), so that nothing about the missing ones is unknown.
    """

    values: Array
    vectors: Array
    sizes: Array
    missing: float
    missing_moment: float
    floor: float
    ceiling: float
    exact: bool

    def gains(self, restart: float) -> Array:
        """1 / (1 + β − λ_i)."""
        return 1 / (1 + odds(restart) - self.values.astype(np.float64))

    def most_missing(self, restart: float, mass: Array, moment: Array) -> Array:
        """An upper bound of Σ m_i / (1 + β − λ_i)² over the missing components with Σ m_i = mass, Σ λ_i m_i = moment.

        The function is convex, so between floor and ceiling it lies below its chord, whose sum mass and moment tell.
        """
        low, high = ((1 + odds(restart) - value) ** -2 for value in (self.floor, self.ceiling))
        if self.exact or self.ceiling <= self.floor:
            return mass * high
        part = np.clip((moment - self.floor * mass) / (self.ceiling - self.floor), 0.0, mass)
        return mass * low + part * (high - low)


def decompose(walk: Walk, n_components: int | None, least: float | None, *, definite: bool) -> Spectrum:
    """The eigenpairs that scores may be made of.

    Parameters
    ----------
    walk : Walk
    n_components : int or None
        How many will be chosen, so that enough are there to choose from; None for as many as ``least`` allows.
    least : float or None
        Eigenvalues of at most this magnitude are of no use to the caller.
    definite : bool
        Whether no eigenvalue can be negative.
    """
    n = walk.gram.shape[0]
    if n <= _WHOLE_SAMPLES or (n_components is not None and n_components > (n - 1) // 2):
        values, vectors = walk.normalized.eigenpairs(
            n - 1, known=walk.trivial[:, None].astype(walk.gram.dtype), method="lapack"
        )
        return _spectrum(walk, np.minimum(values, 1), vectors, (-1.0, -1.0), True)
    deflated = DeflatedGram(walk)
    factor = walk.gram.factor
    rank = n - 1 if factor is None else min(n - 1, factor.shape[1])
    if n_components is not None:
        values, vectors = deflated.eigenpairs(min(rank, 2 * n_components + 10))
    else:
        values, vectors = deflated.eigenpairs(min(rank, _FIRST_COMPONENTS))
        floor = _INDISTINCT if least is None else least
        if values[-1] > floor and len(values) < min(rank, _MOST_COMPONENTS):
            values, vectors = deflated.eigenpairs(min(rank, _MOST_COMPONENTS))
    # With fewer features than samples, or found zeros of a definite kernel, all that is missing is zero.
    exact = len(values) >= rank < n - 1 or bool(definite and values[-1] <= _INDISTINCT)
    ceiling = 0.0 if exact else float(values[-1])
    useful = np.abs(values) > max(_INDISTINCT, least or 0.0)
    if not useful.all():
        dropped = float(values[~useful].max())
        exact = exact and dropped <= _INDISTINCT
        ceiling = ceiling if exact else max(ceiling, dropped)
        values, vectors = values[useful], vectors[:, useful]
    floor = 0.0 if definite or factor is not None else -1.0
    return _spectrum(walk, np.minimum(values, 1), vectors, (floor, ceiling), exact)


def _spectrum(walk: Walk, values: Array, vectors: Array, limits: tuple[float, float], exact: bool) -> Spectrum:
    sizes = np.einsum("ij,ij,i->j", vectors, vectors, 1 / walk.degrees, optimize=True)
    n = len(vectors)
    missing = moment = 0.0
    if len(values) < n - 1:
        # All eigenvectors together have tr D^-1 and tr D^-1 K D^-1, and the trivial one n / volume of each.
        missing = max(0.0, float((1 / walk.degrees).sum() - sizes.sum() - n / walk.volume))
        own = float((walk.gram.diagonal() / walk.degrees**2).sum())
        moment = own - float(sizes @ values.astype(np.float64)) - n / walk.volume
    return Spectrum(values, vectors, sizes, missing, moment, *limits, exact)
