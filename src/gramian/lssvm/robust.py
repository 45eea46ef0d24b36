"""Weights against outliers: large residuals count less, and the fit is repeated with them.

Pure functions on residuals, and the loop. Used by :class:`gramian.lssvm.LSSVMRegressor`.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import NamedTuple

import numpy as np

from gramian.checks import one_of, real, whole
from gramian.typing import Array

SCHEMES = ("weighted", "huber", "hampel", "logistic", "myriad")
_FLOOR = 1e-6


@dataclass(frozen=True)
class Reweighting:
    """How residuals become weights: V(r) of the residuals r in units of a robust scale.

    ==========  ================================================================  =============
    function    V(r)                                                              redescending
    ==========  ================================================================  =============
    huber       1 up to ``threshold``, then threshold / |r|                       no
    hampel      1 up to ``threshold``, falls to ``floor`` at ``cutoff``           yes
    logistic    tanh(r) / r                                                       no
    myriad      threshold² / (threshold² + r²)                                    yes
    ==========  ================================================================  =============

    Parameters
    ----------
    function : {"huber", "hampel", "logistic", "myriad"}
    threshold : float, optional
        By default 1.345 (huber), 2.5 (hampel), 2 (myriad). A myriad of small threshold can be worse than no weights,
        even from the Huber fit that it starts from.
    cutoff : float
        Where Hampel's weight has fallen to ``floor``.
    floor : float
        The weight of the farthest outliers under Hampel.
    scale : {"mad", "iqr"}
        1.483 times the median deviation from the median, or the distance of the quartiles over 1.349.
    max_iter : int
        Rounds; 1 is the weighted LS-SVM. From half of them on the scale stays as it is: measured anew in each round it
        may go back and forth for ever, and the weights with it.
    tol : float
        Largest change of the coefficients, as a Euclidean norm relative to the deviation of y, at which the rounds end;
        a millionth of their own norm ends them too.
    """

    function: str = "hampel"
    threshold: float | None = None
    cutoff: float = 3.0
    floor: float = 1e-4
    scale: str = "mad"
    max_iter: int = 500
    tol: float = 1e-4

    def check(self) -> Reweighting:
        """The same with its numbers checked and the default threshold filled in."""
        one_of(self.function, "robust.function", SCHEMES[1:])
        one_of(self.scale, "robust.scale", ("mad", "iqr"))
        whole(self.max_iter, "robust.max_iter")
        real(self.tol, "robust.tol", least=0)
        real(self.floor, "robust.floor", above=0, most=1)
        default = {"huber": 1.345, "hampel": 2.5, "logistic": 1.0, "myriad": 2.0}[self.function]
        threshold = default if self.threshold is None else real(self.threshold, "robust.threshold", above=0)
        if self.function == "hampel":
            real(self.cutoff, "robust.cutoff", above=threshold)
        return replace(self, threshold=threshold)

    def weights(self, r: Array) -> Array:
        """V(r) within [1e-6, 1]."""
        size = np.abs(r)
        c = 1.0 if self.threshold is None else self.threshold
        if self.function == "huber":
            v = c / np.maximum(size, c)
        elif self.function == "hampel":
            v = np.where(size <= self.cutoff, (self.cutoff - size) / (self.cutoff - c), self.floor)
            v = np.maximum(v, self.floor)
        elif self.function == "logistic":
            small = size < 1e-4
            v = np.where(small, 1 - size**2 / 3, np.tanh(size) / np.where(small, 1, size))
        else:
            v = c**2 / (c**2 + size**2)
        return v.clip(_FLOOR, 1)


def as_reweighting(robust: str | Reweighting) -> Reweighting:
    """What the parameter ``robust`` stands for."""
    if isinstance(robust, Reweighting):
        return robust.check()
    one_of(robust, "robust", SCHEMES)
    if robust == "weighted":
        return Reweighting("hampel", max_iter=1).check()
    return Reweighting(robust).check()


def robust_scale(residuals: Array, counts: Array | None, kind: str = "mad") -> float:
    """The deviation of the bulk of the residuals; rows count as often as ``counts`` says."""
    if kind == "iqr":
        return (_quantile(residuals, 0.75, counts) - _quantile(residuals, 0.25, counts)) / 1.349
    middle = _quantile(residuals, 0.5, counts)
    return 1.483 * _quantile(np.abs(residuals - middle), 0.5, counts)


def _quantile(values: Array, q: float, counts: Array | None) -> float:
    """Linear between order statistics, copies counted one by one."""
    if counts is None:
        return float(np.quantile(values, q))
    order = np.argsort(values)
    end = np.cumsum(counts[order])
    place = q * (end[-1] - 1)
    low, high = (values[order][np.searchsorted(end - 1, edge)] for edge in (np.floor(place), np.ceil(place)))
    return float(low + (place - np.floor(place)) * (high - low))


class Reweighted(NamedTuple):
    """The fit at the end of the rounds."""

    coefficients: Array
    intercept: float
    weights: Array
    scale: float
    n_iter: int
    converged: bool


def reweight(
    solve: Callable[[Array | None], tuple[Array, float, Array]],
    scheme: Reweighting,
    counts: Array | None,
    deviation: float,
) -> Reweighted:
    """Fit, weigh by the residuals, and fit again until the coefficients settle.

    Parameters
    ----------
    solve : callable
        Robust weights (n,), or None for none, to coefficients (n,), intercept and residuals (n,).
    scheme : Reweighting
    counts : ndarray (n,), optional
    deviation : float
        Of the targets, > 0; residuals of a scale below 1e-12 of it are rounding, and nothing to weigh by.
    """
    weights: Array | None = None
    if scheme.function == "myriad":  # redescending weights from a bad start lock onto it
        weights = reweight(solve, Reweighting("huber").check(), counts, deviation).weights
    alpha, intercept, residuals = solve(weights)
    weights = np.ones(len(alpha)) if weights is None else weights
    scale, n_iter, converged = robust_scale(residuals, counts, scheme.scale), 0, False
    while n_iter < scheme.max_iter and not converged:
        if n_iter <= scheme.max_iter // 2:
            scale = robust_scale(residuals, counts, scheme.scale)
        if not scale > 1e-12 * deviation:
            converged = True
            break
        weights = scheme.weights(residuals / scale)
        before = alpha
        alpha, intercept, residuals = solve(weights)
        n_iter += 1
        change = float(np.linalg.norm((alpha - before) / deviation))
        converged = change <= max(scheme.tol, 1e-6 * float(np.linalg.norm(alpha / deviation)))
    return Reweighted(alpha, intercept, weights, scale, n_iter, converged or scheme.max_iter == 1)
