"""Rivals of the iterative spectral method that climb gradients: Stiefel and Grassmann manifolds, dimension growth.

The thesis compares with the curvilinear search of Wen and Yin (2013) on the Stiefel manifold (SM), with the Grassmann
manifold of Manopt (GM; here conjugate gradients, where its authors took the steepest descent) and with dimension growth
(DG; Niu, Dy, Jordan 2014). All see the objective J and the gradient 2 Φ W of the library's sum over pairs, so that what
is compared is the way to the maximum. None is part of the library.
"""

from __future__ import annotations

import time
from dataclasses import dataclass, field

import numpy as np

from benchmarks.manifold_baselines import Problem, dimension_growth
from gramian.dependence.projection._pairs import PairSum, profiles_of

Array = np.ndarray

_SUFFICIENT, _MEMORY, _SHRINK = 1e-4, 0.85, 0.2  # of Wen and Yin: rise asked for, weight of earlier J, shorter steps
_SHORTEST = 1e-12


@dataclass(frozen=True)
class Ascent:
    """Where an optimiser came to: Wᵀ W = I, J without the pairs of a sample with itself if so asked, and its cost."""

    W: Array
    objective: float
    n_evaluations: int
    status: str


@dataclass
class Descent:
    """F = −J and its gradient −2 Φ W, counted."""

    problem: Problem
    zero_diagonal: bool = False
    limit: float = np.inf
    n_evaluations: int = 0
    started: float = field(default_factory=time.process_time)

    def __post_init__(self) -> None:
        profiles = profiles_of(self.problem.kernel)
        weights = self.problem.weights
        self._sum = PairSum(self.problem.X, weights, profiles, hold=True, zero_diagonal=self.zero_diagonal)

    def __call__(self, W: Array) -> tuple[float, Array]:
        self.n_evaluations += 1
        evaluation = self._sum.evaluate(W)
        return -evaluation.objective, -2 * evaluation.product(W)

    @property
    def is_late(self) -> bool:
        return time.process_time() - self.started > self.limit

    def end(self, W: Array, F: float, status: str) -> Ascent:
        return Ascent(W, -F, self.n_evaluations, status)


def random_start(d: int, q: int, seed: int) -> Array:
    return np.linalg.qr(np.random.default_rng(seed).standard_normal((d, q)))[0]


def stiefel(
    problem: Problem, *, zero_diagonal: bool = False, tol: float = 1e-5, max_iter: int = 500, limit: float = np.inf
) -> Ascent:
    """Curvilinear search: W(t) = (I + t/2 A)⁻¹ (I − t/2 A) W with A = G Wᵀ − W Gᵀ, steps of Barzilai and Borwein.

    It ends when ‖G − W GᵀW‖ is below ``tol`` ‖G‖. J may fall for a while: a step is compared with a mean of earlier J.
    """
    descent = Descent(problem, zero_diagonal, limit)
    W = problem.start()
    F, G = descent(W)
    slope = G - W @ (G.T @ W)
    best = (F, W)
    mean, weight, step = F, 1.0, 1e-3
    for place in range(max_iter):
        if np.linalg.norm(slope) < tol * np.linalg.norm(G):
            return descent.end(*best[::-1], "converged")
        if descent.is_late:
            return descent.end(*best[::-1], "limit")
        while True:
            trial = _cayley(W, G, step)
            F_trial, G_trial = descent(trial)
            if F_trial <= mean - _SUFFICIENT * step * np.vdot(slope, slope):
                break
            step *= _SHRINK
            if step < _SHORTEST:
                return descent.end(*best[::-1], "no step")
        moved, old_slope = trial - W, slope
        W, F, G = trial, F_trial, G_trial
        slope = G - W @ (G.T @ W)
        best = min(best, (F, W), key=lambda pair: pair[0])
        turned = slope - old_slope
        across = abs(float(np.vdot(moved, turned)))
        if across > 0:
            step = float(np.vdot(moved, moved) / across if place % 2 else across / np.vdot(turned, turned))
        step = min(max(step, 1e-10), 1e10)
        weight, before = _MEMORY * weight + 1, weight
        mean = (_MEMORY * before * mean + F) / weight
    return descent.end(*best[::-1], "max_iter")


def _cayley(W: Array, G: Array, step: float) -> Array:
    """W(t), by a 2q × 2q system where that is smaller than d × d, orthonormal again up to rounding."""
    d, q = W.shape
    if 2 * q < d:
        U, V = np.hstack([G, W]), np.hstack([W, -G])
        moved = W - step * U @ np.linalg.solve(np.eye(2 * q) + step / 2 * (V.T @ U), V.T @ W)
    else:
        A = G @ W.T - W @ G.T
        moved = np.linalg.solve(np.eye(d) + step / 2 * A, W - step / 2 * (A @ W))
    return _orthonormal(moved) if np.abs(moved.T @ moved - np.eye(q)).max() > 1e-12 else moved


def grassmann(
    problem: Problem, *, zero_diagonal: bool = False, tol: float = 1e-5, max_iter: int = 500, limit: float = np.inf
) -> Ascent:
    """Conjugate gradients (Polak and Ribière, never negative) with the retraction of the QR factorisation.

    The gradient is (I − WWᵀ) G; steps are halved until F falls enough, and doubled after. It ends as :func:`stiefel`.
    """
    descent = Descent(problem, zero_diagonal, limit)
    W = problem.start()
    F, G = descent(W)
    slope = G - W @ (W.T @ G)
    direction = -slope
    step = 1 / max(float(np.linalg.norm(slope)), np.finfo(float).tiny)
    for _ in range(max_iter):
        if np.linalg.norm(slope) < tol * np.linalg.norm(G):
            return descent.end(W, F, "converged")
        if descent.is_late:
            return descent.end(W, F, "limit")
        rise = float(np.vdot(slope, direction))
        if rise >= 0:
            direction, rise = -slope, -float(np.vdot(slope, slope))
        while True:
            trial = _orthonormal(W + step * direction)
            F_trial, G_trial = descent(trial)
            if F_trial <= F + _SUFFICIENT * step * rise:
                break
            step /= 2
            if step < _SHORTEST:
                return descent.end(W, F, "no step")
        old = slope
        W, F, G = trial, F_trial, G_trial
        slope = G - W @ (W.T @ G)
        carried = old - W @ (W.T @ old)
        turn = max(0.0, float(np.vdot(slope, slope - carried) / max(np.vdot(old, old), np.finfo(float).tiny)))
        direction = -slope + turn * (direction - W @ (W.T @ direction))
        step *= 2
    return descent.end(W, F, "max_iter")


def _orthonormal(M: Array) -> Array:
    Q, R = np.linalg.qr(M)
    return Q * np.where(np.diagonal(R) < 0, -1.0, 1.0)


@dataclass(frozen=True)
class StartedProblem(Problem):
    """A problem that starts from a given W."""

    first: Array | None = None

    def start(self) -> Array:
        return super().start() if self.first is None else self.first


def growth(problem: Problem, *, zero_diagonal: bool = False, limit: float = np.inf) -> Ascent:
    """Dimension growth: one column after the other, for Gaussian kernels."""
    found = dimension_growth(problem, limit=limit)
    assert found.W is not None
    # Pairs of a sample with itself have the kernel value 1 under every projection.
    alone = float(np.sum(problem.weights.factor**2 * problem.weights.scale)) if zero_diagonal else 0.0
    return Ascent(found.W, found.objective - alone, found.n_evaluations, found.status)
