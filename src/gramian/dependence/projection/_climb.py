"""The iteration of the iterative spectral method, from a start to a stationary point.

At a stationary point W spans an invariant subspace of Φ(W), so the leading eigenvectors of Φ(W) are the next W. Taken
plainly that can cycle. With a level shift ρ, the leading eigenvectors of Φ + ρ WWᵀ are a shorter step in a direction of
ascent: ρ grows while J would fall and shrinks when it has risen a few times. A slow climb is extrapolated.
"""

from __future__ import annotations

import warnings
from dataclasses import dataclass
from typing import Any

import numpy as np
from sklearn.exceptions import ConvergenceWarning

from gramian.dependence.projection._eigenspace import Space, space_of
from gramian.dependence.projection._pairs import OVERFLOW
from gramian.grams.eigen import fix_signs
from gramian.progress import steps
from gramian.typing import Array

_SAME_OBJECTIVE = 1e-12  # of J: rounding, not a fall
_FIRST_SHIFT = 0.1  # of the span of the eigenvalues
_LARGEST_SHIFT = 1e6
_NO_SHIFT = 1e-4
_PATIENCE = 3  # steps without a fall before the shift is halved
_SLOW = 0.7  # ratio of two steps from which on the climb is extrapolated
_VANISHING_GAP = 1e-10
_STATIONARY = 1e-3  # of the tolerance: a residual so small ends the climb however long the last step was
_FLAT = 1e-13  # of what cancels in Φ: rounding
_STALLED = 1e3  # times the tolerance: a residual below it, where J no longer tells up from down, is an end too


@dataclass(frozen=True)
class ISMResult:
    """What :func:`ism` found.

    Attributes
    ----------
    components : ndarray (q, d)
        Wᵀ, orthonormal rows, in the order of the eigenvalues.
    eigenvalues : ndarray (q,)
        Of Φ inside the subspace, descending.
    spectrum : ndarray
        Eigenvalues of Φ, descending: all of them, or the leading ones where only products with Φ were computed.
    objective : float
        J at the end.
    objective_path : ndarray
        J at the start, after every step, and after every extrapolation that was taken.
    n_iter, n_evaluations : int
        Steps taken, and passes over the pairs.
    converged : bool
    status : {"converged", "stalled", "max_iter", "closed form"}
        Why it stopped. "stalled" means that rounding hides any further ascent; of a kernel that is flat from the start
        on, the start is returned.
    residual : float
        ‖Φ W − W (WᵀΦW)‖ / ‖Φ W‖, zero at a stationary point.
    top_eigenspace : bool
        Whether W spans the leading eigenvectors of Φ itself, without a shift.
    level_shift : float
        ρ at the end; zero where the plain method would have done.
    """

    components: Array
    eigenvalues: Array
    spectrum: Array
    objective: float
    objective_path: Array
    n_iter: int
    n_evaluations: int
    converged: bool
    status: str
    residual: float
    top_eigenspace: bool
    level_shift: float


class Climb:
    """The iteration from a start to a stationary point.

    Parameters
    ----------
    total : PairSum, FourierPairSum or NystroemPairSum
        Evaluates J and Φ.
    convergence, tol, max_iter, safeguard
        As of :func:`gramian.dependence.projection.ism.ism`.
    rng : numpy.random.Generator
        For directions beside the first W.
    """

    def __init__(
        self, total: Any, convergence: str, tol: float, max_iter: int, safeguard: bool, rng: np.random.Generator
    ) -> None:
        self.total = total
        self.convergence = convergence
        self.tol = tol
        self.max_iter = max_iter
        self.safeguard = safeguard
        self.rng = rng
        self.n_evaluations = 0
        self.shift = 0.0
        self._calm = 0

    def run(self, W: Array, basis: Array | None, verbose: int) -> ISMResult:
        """Climb from W (d, q), orthonormal; the components are given in the space that ``basis`` spans."""
        current = self._evaluate(W)
        space = space_of(current, W, None, self.rng)
        path = [current.objective]
        trail = [W]
        values: Array | None = None
        status, moved = "max_iter", np.inf
        n_iter = 0
        if space.size <= _FLAT * current.size:
            return self._result(space, basis, path, n_iter, "stalled", flat=True)
        if len(W) == W.shape[1]:  # J is the same for every rotation
            return self._result(space, basis, path, n_iter, "converged")
        with steps("Projecting", total=self.max_iter, verbose=verbose) as advance:
            while True:
                if n_iter and self._settled(space.residual, moved, path):
                    status = "converged"
                    break
                if n_iter == self.max_iter:
                    break
                taken = self._step(space, path[-1])
                if taken is None:
                    status = "stalled"
                    break
                trial, W_new, new_values = taken
                n_iter += 1
                moved = sine(space.W, W_new)
                beside = space.neighbours
                if space.costly:
                    self.total.form()
                path.append(trial.objective)
                trail.append(W_new)
                if len(trail) == 3:
                    trial, W_new = self._leap(trail, trial, path)
                space = space_of(trial, W_new, beside, self.rng)
                self._relax(space)
                advance()
                if self.convergence == "eigenvalues" and values is not None:
                    change = np.linalg.norm(new_values - values)
                    if change < self.tol * np.linalg.norm(new_values):
                        status = "converged"
                        break
                values = new_values
        return self._result(space, basis, path, n_iter, status)

    def _evaluate(self, W: Array) -> Any:
        self.n_evaluations += 1
        evaluation = self.total.evaluate(W)
        if not np.isfinite(evaluation.objective):
            raise ValueError(OVERFLOW)
        return evaluation

    def _step(self, space: Space, objective: float) -> tuple[Any, Array, Array] | None:
        """The next evaluation, its W, and the eigenvalues there; None if no shift makes J rise."""
        while True:
            values, W = space.leading(self.shift)
            values = values[: W.shape[1]] - self.shift * np.sum((space.W.T @ W) ** 2, axis=0)
            W = _aligned(W, space.W)
            trial = self._evaluate(W)
            if not self.safeguard or trial.objective >= objective - _SAME_OBJECTIVE * abs(objective):
                return trial, W, values
            span = space.span()
            self.shift = max(2 * self.shift, _FIRST_SHIFT * span)
            self._calm = 0
            if not 0 < self.shift <= _LARGEST_SHIFT * span:  # no span: Φ is zero up to rounding, and so is any ascent
                return None

    def _leap(self, trail: list[Array], trial: Any, path: list[float]) -> tuple[Any, Array]:
        """From three points of a slow climb a guess of where it leads, taken if J is higher there.

        Steps r and then r + v that shrink by a constant factor lead from W to W − 2 α r + α² v with α = −‖r‖/‖v‖,
        which is exact where the factor is the same in all directions (squared extrapolation, Varadhan and Roland).
        """
        first, second, last = trail
        del trail[:-1]
        r, v = second - first, last - 2 * second + first
        ratio = float(np.linalg.norm(last - second)) / max(float(np.linalg.norm(r)), np.finfo(float).tiny)
        if not self.safeguard or not _SLOW < ratio < 1:
            return trial, last
        alpha = -float(np.linalg.norm(r)) / float(np.linalg.norm(v))
        W = _aligned(first - 2 * alpha * r + alpha**2 * v, last)
        leap = self._evaluate(W)
        if leap.objective < path[-1]:
            # Products with Φ belong to the latest evaluation, so that the point before has to be evaluated again.
            return (trial if trial.matrix is not None else self._evaluate(last)), last
        path.append(leap.objective)
        trail[:] = [W]
        return leap, W

    def _relax(self, space: Space) -> None:
        """Halve the shift after some steps in peace."""
        self._calm += 1
        if self.shift and self._calm >= _PATIENCE:
            self.shift = 0.0 if self.shift < _NO_SHIFT * space.span() else self.shift / 2
            self._calm = 0

    def _settled(self, residual: float, moved: float, path: list[float]) -> bool:
        if self.convergence == "subspace":
            # Under a large shift the steps are short, so that the residual has to be small too.
            return max(moved, residual) < self.tol or residual < _STATIONARY * self.tol
        if self.convergence == "stationarity":
            return residual < self.tol
        if self.convergence == "objective" and len(path) > 1:
            return abs(path[-1] - path[-2]) <= self.tol * abs(path[-1])
        return False

    def _result(
        self, space: Space, basis: Array | None, path: list[float], n_iter: int, status: str, *, flat: bool = False
    ) -> ISMResult:
        eigenvalues, W = space.rotated()
        leading, top = space.leading(0.0, final=True)
        converged = status == "converged" or (status == "stalled" and space.residual < _STALLED * self.tol and not flat)
        if not flat:
            warn_of_gap(leading, W.shape[1], stacklevel=5)
        if not converged:
            warnings.warn(self._why(status, flat, space.residual), ConvergenceWarning, stacklevel=4)
        return ISMResult(
            components=fix_signs(W if basis is None else basis @ W).T,
            eigenvalues=eigenvalues,
            spectrum=space.spectrum(),
            objective=path[-1],
            objective_path=np.array(path),
            n_iter=n_iter,
            n_evaluations=self.n_evaluations,
            converged=converged,
            status=status,
            residual=space.residual,
            top_eigenspace=sine(top, W) < 1e-3,
            level_shift=self.shift,
        )

    def _why(self, status: str, flat: bool, residual: float) -> str:
        """What to say of a climb that did not arrive."""
        if flat:
            return (
                "the kernel is flat on all projections of X, up to rounding, so the start is returned; centre and "
                "scale X, or widen the kernel"
            )
        if status == "max_iter":
            return (
                f"the projection had not settled after max_iter={self.max_iter} steps (residual {residual:.1e}); "
                "raise max_iter or tol"
            )
        return (
            f"no step raises the objective, though the projection is not stationary (residual {residual:.1e}); scale "
            "X, or check the derivative of a kernel of your own"
        )


def warn_of_gap(values: Array, q: int, stacklevel: int) -> None:
    """Warn if the eigenvalues after the q-th begin where it ends."""
    if len(values) > q and values[q - 1] - values[q] <= _VANISHING_GAP * abs(values[0]):
        warnings.warn(
            f"the eigenvalues of components {q} and {q + 1} are equal to rounding, so the last components are not "
            "determined; pass another n_components",
            UserWarning,
            stacklevel=stacklevel,
        )


def _aligned(W: Array, V: Array) -> Array:
    """The basis of the subspace of W that is nearest to V, orthonormal to rounding.

    J does not depend on the basis, but its approximation by waves does, a little.
    """
    W = np.linalg.qr(W)[0]
    left, _, right = np.linalg.svd(W.T @ V)
    return W @ (left @ right)


def sine(V: Array, W: Array) -> float:
    """The sine of the largest angle between the subspaces of two orthonormal bases."""
    return min(1.0, float(np.linalg.norm(W - V @ (V.T @ W), 2)))
