"""From scores to probabilities, learned on scores of rows that were left out of the fit.

Used by :class:`gramian.lssvm.LSSVMClassifier`.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy.special import expit
from sklearn.isotonic import IsotonicRegression

from gramian.typing import Array

CALIBRATIONS = ("platt", "isotonic")


class Calibration:
    """P(class | scores) from leave-one-out scores: a monotone function per class, then normalised.

    Parameters
    ----------
    scores : ndarray (n, C), or (n,) for two classes
        Of rows that the fit had not seen.
    codes : ndarray of int (n,)
        Their classes.
    weights : ndarray (n,)
        How often each row counts.
    kind : {"platt", "isotonic"}
        A sigmoid, or a step function.
    """

    def __init__(self, scores: Array, codes: Array, weights: Array, kind: str) -> None:
        self.kind = kind
        self.binary = scores.ndim == 1
        columns = [(scores, codes == 1)] if self.binary else [(s, codes == c) for c, s in enumerate(scores.T)]
        learn = platt if kind == "platt" else _isotonic
        self.maps: list[Any] = [learn(s.astype(np.float64), here, weights) for s, here in columns]

    def __call__(self, scores: Array) -> Array:
        """Probabilities (n, C) that add up to one."""
        columns = [scores] if self.binary else list(scores.T)
        shares = np.stack([self._apply(*pair) for pair in zip(self.maps, columns, strict=True)], axis=1)
        if self.binary:
            return np.hstack([1 - shares, shares]).astype(scores.dtype)
        total = shares.sum(axis=1, keepdims=True)
        even = np.full_like(shares, 1 / shares.shape[1])
        return np.where(total > 0, shares / np.where(total > 0, total, 1), even).astype(scores.dtype)

    def _apply(self, learned: Any, scores: Array) -> Array:
        scores = scores.astype(np.float64)
        if self.kind == "platt":
            return np.asarray(expit(learned[0] * scores + learned[1]))
        return np.asarray(learned.predict(scores))


def platt(scores: Array, positive: Array, weights: Array) -> tuple[float, float]:
    """Slope and offset of the sigmoid 1 / (1 + exp(−slope · score − offset)) of largest likelihood.

    Targets are (N₊ + 1) / (N₊ + 2) and 1 / (N₋ + 2) instead of 1 and 0, as Platt proposed, so that separated classes
    have a finite slope. The slope is not negative: a higher score is never less likely.

    References
    ----------
    J. C. Platt, "Probabilistic outputs for support vector machines", Advances in Large Margin Classifiers, 1999.
    """
    n_positive, n_negative = float(weights[positive].sum()), float(weights[~positive].sum())
    target = np.where(positive, (n_positive + 1) / (n_positive + 2), 1 / (n_negative + 2))
    center, scale = float(np.average(scores, weights=weights)), float(scores.std())
    scale = scale if scale > 0 else 1.0
    z = np.column_stack([(scores - center) / scale, np.ones_like(scores)])
    w = np.array([0.0, np.log((n_positive + 1) / (n_negative + 1))])

    def loss(w: Array) -> float:
        t = z @ w
        return float(weights @ (np.logaddexp(0, t) - target * t))

    for _ in range(100):
        p = expit(z @ w)
        gradient = z.T @ (weights * (p - target))
        curvature = (z * (weights * p * (1 - p))[:, None]).T @ z + 1e-10 * weights.sum() * np.eye(2)
        step = np.linalg.solve(curvature, gradient)
        size, before = 1.0, loss(w)
        while loss(w - size * step) > before and size > 1e-8:
            size /= 2
        w = w - size * step
        if np.abs(size * step).max() < 1e-9:
            break
    if w[0] < 0:
        share = float(np.average(target, weights=weights))
        return 0.0, float(np.log(share / (1 - share)))
    return float(w[0] / scale), float(w[1] - w[0] * center / scale)


def _isotonic(scores: Array, positive: Array, weights: Array) -> IsotonicRegression:
    return IsotonicRegression(y_min=0, y_max=1, out_of_bounds="clip").fit(scores, positive * 1.0, weights)
