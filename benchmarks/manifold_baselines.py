"""Other optimisers for the projection problem, for comparison only: two manifolds of pymanopt, and dimension growth.

They see the objective J and the gradient 2 Φ W of our own sum over pairs, the gradient by products that never form Φ,
so that what is compared is the way to the maximum. pymanopt (``pip install pymanopt``) is no dependency of the project.
"""

from __future__ import annotations

import time
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from threadpoolctl import threadpool_limits

from gramian.dependence.projection._eigenspace import ConstantPhi
from gramian.dependence.projection._pairs import PairSum, profiles_of
from gramian.dependence.projection.weights import PairWeights
from gramian.kernels import RBF, Kernel
from gramian.typing import Array


@dataclass(frozen=True)
class Problem:
    """Maximise J over W (d, q) with orthonormal columns.

    Parameters
    ----------
    X : ndarray (n, d)
        Centred and scaled.
    weights : PairWeights
    kernel : Kernel
        Fitted.
    n_components : int
    """

    X: Array
    weights: PairWeights
    kernel: Kernel
    n_components: int

    def threads(self) -> AbstractContextManager[Any]:
        """One BLAS thread for small problems, where more would wait for each other; so does ``ism``."""
        return threadpool_limits(1, "blas") if self.X.size <= 1_000_000 else nullcontext()

    def start(self) -> Array:
        """The spectral start of :func:`gramian.dependence.projection.ism.ism`, from which all methods leave."""
        return ConstantPhi(self.X, self.weights, profiles_of(self.kernel)).leading(self.n_components)[1]


@dataclass(frozen=True)
class Ascent:
    """Where an optimiser came to.

    Attributes
    ----------
    objective : float
        The best J.
    n_evaluations : int
        Of J, with or without gradient.
    status : str
        "goal", "limit", or what the optimiser says.
    W : ndarray (d, q) or None
        The columns of dimension growth, fewer than q if the limit cut them short.
    """

    objective: float
    n_evaluations: int
    status: str
    W: Array | None = None


class _Enough(Exception):
    """Thrown out of an optimiser that knows no goal."""


@dataclass
class _Counted:
    """J and its gradient, counted, until J reaches a goal or the processor has worked long enough."""

    problem: Problem
    goal: float
    limit: float
    best: float = -np.inf
    n_evaluations: int = 0
    started: float = field(default_factory=time.process_time)

    def __post_init__(self) -> None:
        problem = self.problem
        self._sum = PairSum(problem.X, problem.weights, profiles_of(problem.kernel), hold=True)
        self._at: Array | None = None

    def objective(self, W: Array) -> float:
        if self._at is None or not np.array_equal(self._at, W):
            self._evaluation = self._sum.evaluate(W)
            self._at = W.copy()
            self.n_evaluations += 1
            self.best = max(self.best, self._evaluation.objective)
            if self.best >= self.goal:
                raise _Enough("goal")
            if time.process_time() - self.started > self.limit:
                raise _Enough("limit")
        return self._evaluation.objective

    def gradient(self, W: Array) -> Array:
        self.objective(W)
        return 2 * self._evaluation.product(W)


def manifold_ascent(problem: Problem, manifold: str, *, goal: float = np.inf, limit: float = np.inf) -> Ascent:
    """Conjugate gradients of pymanopt, with its own settings, from the spectral start.

    Parameters
    ----------
    problem : Problem
    manifold : {"Stiefel", "Grassmann"}
    goal : float
        J at which to stop.
    limit : float
        Seconds of the processor after which to stop.
    """
    import pymanopt
    from pymanopt import manifolds
    from pymanopt.optimizers import ConjugateGradient

    d, q = problem.X.shape[1], problem.n_components
    space = getattr(manifolds, manifold)(d, q)
    pairs = _Counted(problem, goal, limit)

    @pymanopt.function.numpy(space)
    def cost(W: Array) -> float:
        return -pairs.objective(W)

    @pymanopt.function.numpy(space)
    def gradient(W: Array) -> Array:
        return -pairs.gradient(W)

    try:
        with problem.threads():
            W = problem.start()
            # pymanopt's 1e-6 is for costs of about one.
            flat = 1e-6 * abs(pairs.objective(W))
            optimizer = ConjugateGradient(max_time=np.inf, verbosity=0, min_gradient_norm=flat)
            done = optimizer.run(pymanopt.Problem(space, cost, euclidean_gradient=gradient), initial_point=W)
        status = str(done.stopping_criterion)
    except _Enough as end:
        status = str(end)
    return Ascent(pairs.best, pairs.n_evaluations, status)


def dimension_growth(problem: Problem, *, limit: float = np.inf) -> Ascent:
    """One column after the other (Niu, Dy, Jordan 2014), for an RBF kernel, which is a product over columns.

    With P the kernel of the columns found so far, a new column w climbs Σ_ij Γ_ij P_ij k(wᵀx_i, wᵀx_j) along its
    gradient, orthogonal to the others, until it moves by less than 1 % or no step length helps.
    """
    if not isinstance(problem.kernel, RBF):
        raise ValueError(f"dimension growth is for RBF kernels here, not kernel={problem.kernel!r}")
    with problem.threads():
        return _grow(problem, 1 / (2 * problem.kernel.width_**2), limit)


def _grow(problem: Problem, rate: float, limit: float) -> Ascent:
    X, started, n_evaluations = problem.X, time.process_time(), 0
    weighted = problem.weights.dense()  # Γ∘P
    found = np.zeros((X.shape[1], 0))
    objective = -np.inf
    for first in problem.start().T:
        w = _across(first, found)
        objective, K = _column(X @ w, weighted, rate)
        n_evaluations += 1
        for _ in range(3000):
            # ∇ = −4 rate Xᵀ (diag(S1) − S) X w with S = Γ∘P∘K.
            S = weighted * K
            Xw = X @ w
            gradient = -4 * rate * (X.T @ (S.sum(axis=1) * Xw - S @ Xw))
            direction = _across(gradient, np.column_stack([found, w]))
            length, moved = 0.9, 0.0
            while length > 1e-6:
                trial = np.sqrt(1 - length**2) * w + length * direction
                value, K_trial = _column(X @ trial, weighted, rate)
                n_evaluations += 1
                if value > objective:
                    moved = float(np.linalg.norm(trial - w))
                    w, objective, K = trial, value, K_trial
                    break
                length /= 2
            if time.process_time() - started > limit:
                columns = np.column_stack([found, w])
                return Ascent(objective, n_evaluations, f"limit, {found.shape[1]} columns", columns)
            if moved < 0.01:
                break
        weighted *= K
        found = np.column_stack([found, w])
    return Ascent(objective, n_evaluations, "converged", found)


def _across(v: Array, found: Array) -> Array:
    """The direction of v orthogonal to the columns found, twice for the rounding."""
    for _ in range(2):
        v = v - found @ (found.T @ v)
    return v / max(float(np.linalg.norm(v)), np.finfo(float).tiny)


def _column(z: Array, weighted: Array, rate: float) -> tuple[float, Array]:
    """Σ (Γ∘P)∘K and K for one projected coordinate."""
    K = np.exp(-rate * (z[:, None] - z) ** 2)
    return float(np.vdot(weighted, K)), K


def thesis_clusters(X: Array, q: int, k: int, width: float, *, turns: int) -> dict[str, Any]:
    """Projection and clusters in turns as the thesis has them, written plainly with whole n×n matrices.

    Γ = D^-½ H U Uᵀ H D^-½; the leading eigenvectors of Φ = −Xᵀ (diag(Ψ1) − Ψ) X, Ψ = Γ∘K, until the eigenvalues change
    by less than 1 %; then U, the leading eigenvectors of H D^-½ K D^-½ H, until their eigenvalues do too.

    Returns
    -------
    done : dict
        The last U, the projected rows Z, the turns taken, and the processor seconds of each.
    """
    from scipy.spatial.distance import cdist

    def kernel(Z: Array) -> Array:
        return np.exp(-cdist(Z, Z, "sqeuclidean") / (2 * width**2))

    def centred(K: Array) -> Array:
        return K - K.mean(axis=0) - K.mean(axis=1)[:, None] + K.mean()

    def clusters(K: Array) -> tuple[Array, Array, Array]:
        root = np.sqrt(K.sum(axis=1))
        values, vectors = np.linalg.eigh(centred(K / np.outer(root, root)))
        return values[-k:], vectors[:, -k:], root

    old, U, _ = clusters(kernel(X))
    W = None
    root = np.ones(len(X))
    seconds: list[float] = []
    while len(seconds) < turns:
        start = time.process_time()
        gamma = centred(U @ U.T) / np.outer(root, root)
        values: Array | None = None
        for _ in range(100):
            psi = gamma if W is None else gamma * kernel(X @ W)
            phi = -X.T @ (psi.sum(axis=1)[:, None] * X - psi @ X)
            new, vectors = np.linalg.eigh(phi)
            new, W = new[-q:], vectors[:, -q:]
            if values is not None and np.linalg.norm(new - values) < 0.01 * np.linalg.norm(new):
                break
            values = new
        new, U, root = clusters(kernel(X @ W))
        seconds.append(time.process_time() - start)
        if np.linalg.norm(new - old) < 0.01 * np.linalg.norm(new):
            break
        old = new
    return {"U": U, "Z": X @ W, "turns": len(seconds), "seconds": seconds}
