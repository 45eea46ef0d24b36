"""Ridge regression of all horizons at once, from sums over the origins.

Every horizon has the columns that all share and a few of its own. One eigendecomposition of the shared part serves
all horizons and all penalties; the own part of each is a small system beside it.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy.linalg import eigh

from gramian.landmarks import NormalEquations
from gramian.reservoir.readouts import RELATIVE_RIDGES
from gramian.typing import Array

_NOTHING = 1e-18  # mean square of targets, in standard units, that is rounding
_ROUNDING = 1e-14  # of the trace of own columns, which are dependent where they are days of the week


@dataclass
class Solution:
    """A linear forecast of each horizon.

    Attributes
    ----------
    shared : ndarray (..., H, m, q)
        Coefficients of the shared columns.
    own : list of ndarray (..., p, q)
        Coefficients of each horizon's own columns.
    intercept : ndarray (..., H, q)
    """

    shared: Array
    own: list[Array]
    intercept: Array


class DirectSums:
    """Sums over origins that ridge regression of several horizons is solved from.

    Minimises, for each horizon h apart, Σ_t ‖r_{t,h} − Wᵀ s_t − Vᵀ g_{t,h} − b‖² + λ (‖W‖² + ‖V‖²), with shared
    columns s and own columns g. All horizons have the same origins.
    """

    def __init__(self, n_horizons: int) -> None:
        self.shared = NormalEquations()  # its targets: those of each horizon, then the own columns of each
        self.own = [NormalEquations() for _ in range(n_horizons)]

    def add(self, S: Array, own: list[Array], targets: list[Array]) -> DirectSums:
        """Add origins: S (n, m), and for each horizon own columns (n, p) and targets (n, q)."""
        self.shared.add(S, np.hstack([*targets, *own]))
        for sums, G, R in zip(self.own, own, targets, strict=True):
            sums.add(G, R)
        return self

    def __add__(self, other: DirectSums) -> DirectSums:
        out = DirectSums(len(self.own))
        out.shared = self.shared + other.shared
        out.own = [a + b for a, b in zip(self.own, other.own, strict=True)]
        return out

    @property
    def scale(self) -> float:
        """Trace of the shared products, which penalties are relative to."""
        return float(np.trace(self.shared.feature_products)) or 1.0

    def path(self, ridges: Array) -> Solution:
        """The solutions for penalties (c, H), one row after another; shapes (c, H, m, q), (c, p, q), (c, H, q)."""
        values, vectors = eigh(self.shared.feature_products, check_finite=False)
        values = np.maximum(values, 0)
        n_horizons, q = len(self.own), self.own[0].cross_products.shape[1]
        rotated = vectors.T @ self._crossed()
        c, m = len(ridges), len(values)
        turned, own = np.empty((n_horizons, m, c * q)), []
        for h, sums in enumerate(self.own):
            a, B = rotated[:, h * q : (h + 1) * q], rotated[:, self._columns(h)]
            inverse = 1 / (values + ridges[:, h, None])  # (c, m)
            least = _ROUNDING * float(np.trace(sums.feature_products))
            D = sums.feature_products + (ridges[:, h, None, None] + least) * np.eye(B.shape[1])
            left = D - np.einsum("mi,cm,mj->cij", B, inverse, B, optimize=True)
            right = self._targets(h) - np.einsum("mi,cm,mj->cij", B, inverse, a, optimize=True)
            V = np.linalg.solve(left, right) if B.shape[1] else right
            W = inverse[:, :, None] * (a - B @ V)  # (c, m, q)
            turned[h] = W.transpose(1, 0, 2).reshape(m, c * q)
            own.append(V)
        shared = (vectors @ turned).reshape(n_horizons, m, c, q).transpose(2, 0, 1, 3)
        b = np.stack([self._intercept(h, shared[:, h], own[h]) for h in range(n_horizons)], axis=1)
        return Solution(shared, own, b)

    def squares(self, solution: Solution) -> Array:
        """Σ_t residual² of every solution, horizon and target, (c, H, q), from the sums alone."""
        A, C = self.shared.feature_products, self.shared.cross_products
        out: Array = np.empty(solution.intercept.shape)
        q = solution.intercept.shape[-1]
        for h, sums in enumerate(self.own):
            W, V = solution.shared[:, h], solution.own[h]
            a, B, d = C[:, h * q : (h + 1) * q], C[:, self._columns(h)], sums.cross_products
            about = sums.target_squares + (W * (A @ W - 2 * a + 2 * (B @ V))).sum(axis=1)
            about += (V * (sums.feature_products @ V - 2 * d)).sum(axis=1)
            offset = self._intercept(h, W, V) - solution.intercept[:, h]
            out[:, h] = np.maximum(about, 0) + sums.weight * offset**2
        return out

    def _columns(self, h: int) -> slice:
        """Where the own columns of horizon h stand among the crossed ones."""
        n_horizons, q = len(self.own), self.own[0].cross_products.shape[1]
        p = len(self.own[0].feature_mean)
        return slice(n_horizons * q + h * p, n_horizons * q + (h + 1) * p)

    def _steady(self, h: int) -> Array:
        """Targets that do not vary: a mean is their whole forecast, and the rest rounding."""
        sums = self.own[h]
        return np.asarray(sums.target_squares <= _NOTHING * max(sums.weight, 1.0))

    def _crossed(self) -> Array:
        crossed = self.shared.cross_products.copy()
        q = self.own[0].cross_products.shape[1]
        for h in range(len(self.own)):
            crossed[:, h * q : (h + 1) * q][:, self._steady(h)] = 0.0
        return crossed

    def _targets(self, h: int) -> Array:
        return np.where(self._steady(h), 0.0, self.own[h].cross_products)

    def _intercept(self, h: int, W: Array, V: Array) -> Array:
        sums = self.own[h]
        return np.asarray(sums.target_mean - self.shared.feature_mean @ W - sums.feature_mean @ V)


def chosen(learned: DirectSums, judged: DirectSums) -> tuple[Array, Solution]:
    """Penalties that do best on the origins of ``judged`` when learned from the others, and that solution.

    Returns
    -------
    relative : ndarray (H,)
        Penalties over the trace.
    solution : Solution
        Learned from ``learned`` alone, shapes (H, m, q), (p, q), (H, q).
    """
    n_horizons = len(learned.own)
    grid = np.repeat(RELATIVE_RIDGES[:, None], n_horizons, axis=1)
    path = learned.path(grid * learned.scale)
    errors = judged.squares(path)  # (c, H, q)
    floor = _NOTHING * max(judged.own[0].weight, 1.0)
    relative = (np.sqrt(errors + floor) / np.sqrt(errors.min(axis=0) + floor)).mean(axis=2)
    best = relative.argmin(axis=0)
    return RELATIVE_RIDGES[best], picked(path, best)


def picked(path: Solution, best: Array) -> Solution:
    """One solution of a path for each horizon."""
    horizons = np.arange(len(best))
    return Solution(
        path.shared[best, horizons], [V[k] for V, k in zip(path.own, best, strict=True)], path.intercept[best, horizons]
    )


def solved(sums: DirectSums, relative: Array) -> Solution:
    """The solution for one penalty of each horizon, relative to the trace."""
    path = sums.path(relative[None] * sums.scale)
    return picked(path, np.zeros(len(relative), int))
