"""The second stage of sparsity: which prototypes can a fixed-size model do without?

All penalties work on f = Σ_j β_j k(x, p_j) + b from sums alone: m×m matrices, never the rows. Each gives the prototypes
that are left; the model is then fitted anew on these. Used by :mod:`gramian.lssvm.fixed_size`.
"""

from __future__ import annotations

import warnings
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from scipy.linalg import eigh, qr, solve_triangular
from sklearn.exceptions import ConvergenceWarning

from gramian.checks import one_of, real, whole
from gramian.grams.triangular import Triangular
from gramian.landmarks import NormalEquations
from gramian.lssvm.basis import cross_validated, total
from gramian.typing import Array

PENALTIES = ("rwl1", "l0", "scad", "lq", "two_level")
_A = 3.7  # of SCAD, the value of Fan and Li
_GRID = 10.0 ** (-np.arange(1, 15) / 2)  # strengths tried, from where nothing is left on
_SLACK = 0.02  # the fewest prototypes whose error is this close to the smallest are taken
_SMALLEST = 1e-3  # of the largest: a re-weighted ridge leaves small coefficients, not zeros


@dataclass(frozen=True)
class Sparsity:
    """How the second stage removes prototypes; see :class:`gramian.FixedSizeLSSVMRegressor`.

    Parameters
    ----------
    penalty : {"rwl1", "l0", "scad", "lq", "two_level"}
    regularization : float, optional
        Weight of the squared errors against the penalty: larger keeps more prototypes. None chooses it by
        cross-validation.
    exponent : float
        q of "lq", in (0, 1].
    level : float
        Weight of the large coefficients in "two_level", in (0, 1).
    n_large : int, optional
        How many coefficients count as large in "two_level"; default a tenth of the prototypes.
    max_rounds : int
    """

    penalty: str
    regularization: float | None = None
    exponent: float = 0.5
    level: float = 0.1
    n_large: int | None = None
    max_rounds: int = 10

    @classmethod
    def of(cls, sparsity: Any, options: Any) -> Sparsity | None:
        """From the parameters ``sparsity`` and ``sparsity_options`` of an estimator."""
        if options is not None and not isinstance(options, dict):
            raise ValueError(f"sparsity_options={options!r} must be a dict or None")
        unknown = set(options or ()) - {"regularization", "exponent", "level", "n_large", "max_rounds"}
        if unknown:
            raise ValueError(
                f"sparsity_options has the unknown {', '.join(map(repr, sorted(unknown)))}; pass some of "
                "'regularization', 'exponent', 'level', 'n_large', 'max_rounds'"
            )
        if sparsity is None:
            return None
        chosen = cls(one_of(sparsity, "sparsity", (*PENALTIES, None)), **(options or {}))
        prefix = "sparsity_options: "
        if chosen.regularization is not None:
            real(chosen.regularization, f"{prefix}regularization", above=0, instead="None")
        real(chosen.exponent, f"{prefix}exponent", above=0, most=1)
        real(chosen.level, f"{prefix}level", above=0, below=1)
        if chosen.n_large is not None:
            whole(chosen.n_large, f"{prefix}n_large", instead="None")
        whole(chosen.max_rounds, f"{prefix}max_rounds")
        return chosen


@dataclass(frozen=True)
class Sparsified:
    """What is left after the second stage.

    Attributes
    ----------
    kept : ndarray of int (r,)
        The prototypes, in increasing order.
    coef : ndarray (r, q)
        β of the model fitted anew on them.
    intercept : ndarray (q,)
    regularization : float
        Of the second stage.
    counts : list of int
        Prototypes left after every round.
    """

    kept: Array
    coef: Array
    intercept: Array
    regularization: float
    counts: list[int]


def sparsified(folds: list[NormalEquations], columns: Array, ridge: float, how: Sparsity) -> Sparsified:
    """Remove prototypes and fit the rest anew.

    Parameters
    ----------
    folds : list of NormalEquations
        Sums of the features φ, by fold; several where the strength is to be chosen.
    columns : ndarray (m, m), upper triangular
        T with φ(x) T = k(x, prototypes).
    ridge : float
        Of the first stage and of the new fit.
    how : Sparsity

    References
    ----------
    Mall, Suykens (2015). Very sparse LSSVM reductions for large-scale data. IEEE TNNLS 26(5).
    """
    problem = _Problem.of(total(folds), columns, ridge, how)
    if how.regularization is not None or len(folds) < 2 or not problem.largest > 0:
        strength = how.regularization or 1.0
        kept, counts = problem.support(1 / strength)
        return _fitted(problem, columns, ridge, kept, strength, counts)
    tried: list[tuple[float, Array, list[int], float]] = []
    best = float(cross_validated(folds, np.array([ridge]))[0])
    for share in _GRID:
        kept, counts = problem.support(share * problem.largest)
        error = _error(folds, columns, ridge, kept)
        tried.append((error, kept, counts, 1 / (share * problem.largest)))
        if error <= best * (1 + _SLACK / 4) or len(kept) == len(columns):
            break  # as good as with all prototypes: weaker penalties keep more of them for nothing
        best = min(best, error)
    good = [one for one in tried if one[0] <= best * (1 + _SLACK)] or [min(tried, key=lambda one: one[0])]
    _, kept, counts, strength = min(good, key=lambda one: len(one[1]))
    return _fitted(problem, columns, ridge, kept, strength, counts)


def _restriction(columns: Array, kept: Array) -> tuple[Array, Array]:
    """Q, R with the columns T_S = Q R: F Q are the features of the kept prototypes alone, and β = R^-1 w."""
    return qr(columns[:, kept], mode="economic")


def _error(folds: list[NormalEquations], columns: Array, ridge: float, kept: Array) -> float:
    if not len(kept):
        return 1.0
    Q, _ = _restriction(columns, kept)
    return float(cross_validated([fold.mapped(Q) for fold in folds], np.array([ridge]))[0])


def _fitted(
    problem: _Problem, columns: Array, ridge: float, kept: Array, strength: float, counts: list[int]
) -> Sparsified:
    if not len(kept):
        # Nothing of x is left; a model without any prototype would have no shape.
        kept = np.array([problem.most_telling])
    Q, R = _restriction(columns, kept)
    w, intercept = problem.sums.mapped(Q).solve(ridge)
    return Sparsified(kept, solve_triangular(R, w), intercept, float(strength), counts)


@dataclass(frozen=True)
class _Problem:
    """½ ‖Z − C β‖² + strength · penalty(β), with as few rows in Z and C as there are prototypes.

    Attributes
    ----------
    C, Z : ndarray (m, m), (m, q)
        With Cᵀ C and Cᵀ Z the centred products of similarities and targets over all rows.
    unit : ndarray (m,)
        Standard deviation of each column over the rows.
    start : ndarray (m, q)
        β of the first stage.
    weight : float
        Number of rows.
    """

    C: Array
    Z: Array
    unit: Array
    start: Array
    weight: float
    how: Sparsity
    sums: NormalEquations = field(repr=False)

    @classmethod
    def of(cls, sums: NormalEquations, columns: Array, ridge: float, how: Sparsity) -> _Problem:
        values, vectors = eigh(sums.feature_products)
        values = np.maximum(values, np.finfo(np.float64).eps * len(values) * max(values[-1], 1e-300))
        root = np.sqrt(values)[:, None]
        C = (root * vectors.T) @ columns
        Z = vectors.T @ sums.cross_products / root
        unit = np.sqrt(np.einsum("ij,ij->j", C, C) / sums.weight)
        start = solve_triangular(columns, sums.solve(ridge)[0])
        return cls(C, Z, np.where(unit > 0, unit, 1.0), start, sums.weight, how, sums)

    @property
    def most_telling(self) -> int:
        """The column that explains most alone."""
        return int(np.argmax(_sizes(self.C.T @ self.Z) / self.unit))

    @property
    def largest(self) -> float:
        """The strength from which on nothing is left."""
        if self.how.penalty == "l0":
            return float((self.Z**2).sum())
        return float((_sizes(self.C.T @ self.Z) / self._first_weights()).max())

    def support(self, strength: float) -> tuple[Array, list[int]]:
        """The prototypes that a strength leaves, and their number after every round."""
        if self.how.penalty == "l0":
            return self._reweighted_ridge(strength)
        return self._reweighted_lasso(strength)

    # Re-weighted ℓ1 ----------------------------------------------------------------------------------------

    def _first_weights(self) -> Array:
        if self.how.penalty == "scad":
            return self.unit  # the first round of the local linear approximation is a plain lasso
        return self._weights(self.start, 1.0)

    def _weights(self, beta: Array, strength: float) -> Array:
        """The weight of each |β_j| in the next round, shape (m,)."""
        how = self.how
        size = _sizes(beta)
        little = 0.1 * float(np.median(_sizes(self.start))) or 1.0
        if how.penalty == "rwl1":
            return 1 / (size + little)
        if how.penalty == "lq":  # the derivative of Σ |unit β|^q
            return how.exponent * self.unit * ((size + little) * self.unit) ** (how.exponent - 1)
        size = size * self.unit
        if how.penalty == "two_level":
            n_large = how.n_large or max(1, len(size) // 10)
            level = np.ones(len(size))
            level[np.argsort(-size, kind="stable")[:n_large]] = how.level
            return level * self.unit
        threshold = strength / self.weight
        falling = np.maximum(_A * threshold - size, 0) / ((_A - 1) * threshold)
        # A weight of zero would be no penalty at all; a small one is the same to the lasso, which divides by it.
        return np.clip(falling, 1e-3, 1.0) * self.unit

    def _reweighted_lasso(self, strength: float) -> tuple[Array, list[int]]:
        """Lasso after lasso, each on the columns that the last one left, its weights from the last coefficients."""
        beta, weights = self.start, self._first_weights()
        kept = np.arange(len(beta))
        counts = []
        for _ in range(self.how.max_rounds):
            coef = _lasso(self.C[:, kept] / weights[kept], self.Z, strength) / weights[kept][:, None]
            found = np.zeros_like(beta)
            found[kept] = coef
            kept = np.flatnonzero(_sizes(found))
            counts.append(len(kept))
            change = float(np.abs(found - beta).max())
            beta = found
            if not len(kept) or change <= 1e-4 * float(np.abs(beta).max()):
                break
            weights = self._weights(beta, strength)
        return kept, counts

    # Re-weighted ℓ2, of ℓ0 type ----------------------------------------------------------------------------

    def _reweighted_ridge(self, strength: float) -> tuple[Array, list[int]]:
        """Ridges with weights 1 / (β² + ε), which in the limit count the coefficients that are not zero."""
        beta = self.start
        kept = np.arange(len(beta))
        floor = 1e-10 * max(float((beta**2).max()), 1e-200)
        gone = 2 * np.sqrt(floor)  # at the floor nothing tells a coefficient from zero
        counts = []
        for _ in range(10 * self.how.max_rounds):
            scale = np.sqrt((beta[kept] ** 2).mean(axis=1) + floor)  # λ^-½: in these units the system is well posed
            C = self.C[:, kept] * scale
            system = C.T @ C
            # A strength that rounding would hide leaves a matrix that Cholesky cannot have.
            system.flat[:: len(kept) + 1] += max(strength, 1e-13 * float(np.trace(system)))
            found = np.zeros_like(beta)
            found[kept] = scale[:, None] * Triangular(system, True).solve(C.T @ self.Z)
            change = float(np.abs(found - beta).max())
            beta = found
            size = _sizes(beta)
            kept = np.flatnonzero(size > gone)
            counts.append(len(kept))
            if not len(kept) or change <= 1e-6 * float(size.max()):
                break
        kept = np.flatnonzero(size > max(_SMALLEST * size.max(), gone))
        return kept, [*counts, len(kept)]


def _sizes(beta: Array) -> Array:
    """One number per prototype: the root mean square of its coefficients over the targets."""
    return np.asarray(np.sqrt((beta**2).mean(axis=1)))


def _lasso(C: Array, Z: Array, strength: float) -> Array:
    """Minimise ½ ‖Z − C B‖² + strength · Σ_j ‖B_j‖; with several targets a row is zero for all or for none."""
    from sklearn.linear_model import Lasso, MultiTaskLasso  # which take long to import

    n, q = Z.shape
    with warnings.catch_warnings():
        # Similar prototypes make the descent slow near its end; the next round goes on from there.
        warnings.simplefilter("ignore", ConvergenceWarning)
        if q == 1:
            coef = Lasso(strength / n, fit_intercept=False, precompute=True, max_iter=2000).fit(C, Z[:, 0]).coef_
            return np.asarray(coef).reshape(-1, 1)
        # Sizes are root mean squares, √q less than the norms that scikit-learn's penalty takes.
        model = MultiTaskLasso(strength / (n * np.sqrt(q)), fit_intercept=False, max_iter=500).fit(C, Z)
        return np.asarray(model.coef_).T
