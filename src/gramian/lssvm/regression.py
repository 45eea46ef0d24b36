"""Regression by a least-squares support vector machine: kernel ridge with an intercept, tuned by leave-one-out."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from typing import Any

import numpy as np
from sklearn.base import RegressorMixin
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils.validation import check_is_fitted

from gramian.checks import check_targets, real
from gramian.grams.tiles import slices
from gramian.kernels import Kernel
from gramian.lssvm.intervals import conformal_radius, radii_of_others
from gramian.lssvm.machine import LeastSquaresMachine
from gramian.lssvm.robust import Reweighting, as_reweighting, reweight
from gramian.lssvm.solution import Sample, Solution, Weights
from gramian.lssvm.system import left_out_variance
from gramian.lssvm.tuning import Problem, choose_regularization
from gramian.typing import Array, Matrix, RandomState

_STRIP = 512  # new rows whose deviations are computed together


class LSSVMRegressor(RegressorMixin, LeastSquaresMachine):
    """Kernel regression with an intercept that chooses its width and regularization by exact leave-one-out.

    It minimises ½‖w‖² + (γ/2) Σ_i v_i (y_i − w·φ(x_i) − b)². The solution is f(x) = Σ_i α_i k(x, x_i) + b with

    [0 1ᵀ; 1 K + diag(1/(γ v))] [b; α] = [0; y],

    and the residual of row i without it is α_i over the i-th diagonal entry of the inverse of that matrix: no refit.
    γ is ``regularization``; a larger one fits harder. It is 1 / ``alpha`` of scikit-learn's ``KernelRidge`` and of its
    ``GaussianProcessRegressor``, which have no intercept.

    Parameters
    ----------
    kernel : Kernel, str or callable, default "auto"
        "auto" standardises the columns, which becomes part of the model, and chooses the width of an RBF by
        ``criterion``. With missing values (NaN) the same criterion decides between RBF on values from near rows, RBF on
        values from a Gaussian mixture, and :class:`gramian.ClusterKernel`. Anything else sees the columns as they are.
    regularization : float, array-like (q,), "each" or None, default None
        γ > 0. None chooses it by ``criterion``, "each" chooses one for every output.
    criterion : {"loo", "cv", "robust"}, default "loo"
        What a choice is judged by: the mean square of leave-one-out residuals, of residuals with each of ``n_splits``
        parts left out, or the mean size of leave-one-out residuals with outliers weighted down. All three come from
        one eigendecomposition per width. Outputs count relative to their deviation.
    n_splits : int, default 10
        For "cv", whose parts have all copies of a row that ``sample_weight`` counts.
    robust : {None, "weighted", "huber", "hampel", "logistic", "myriad"} or Reweighting, default None
        Rows with large residuals count less: once ("weighted", Hampel's weights) or until the fit settles. See
        :class:`gramian.lssvm.robust.Reweighting` for thresholds and scales.
    indefinite : {"direct", "clip", "flip", "shift", "square"}, default "direct"
        What happens to negative eigenvalues of a kernel that is not definite: nothing, for the system needs none (its
        solution is then a stationary point, no minimum); set to zero; made positive; all eigenvalues raised by the
        least one, at the fitted rows only; or all squared.
    solver : {"auto", "cholesky", "refined", "ldl", "dual", "cg"}, default "auto"
        See :func:`gramian.grams.solve.factorization`. "auto" solves in the features of a kernel that has few, by an
        n×n factor up to 10,000 rows, by conjugate gradients where it does not fit; ``solver_`` tells. From 5,000 rows
        on, and with a given regularization, the factor is in single precision and refined, which is as accurate; the
        first residual left out, interval or deviation then takes a second factor, in double. "cholesky" takes that one
        at once.
    random_state : int, Generator, RandomState or None, default None
        Draws the rows on which widths are tried where there are more than 400.

    Attributes
    ----------
    dual_coef_ : ndarray (n,) or (n, q)
        α.
    intercept_ : float or ndarray (q,)
        b.
    regularization_ : float or ndarray (q,)
        γ in use.
    kernel_ : Kernel
    tuning_ : dict of arrays, or None
        What was tried: "kernel", "width", "rows" used, "regularization", "score". None if nothing was to be chosen.
    preparation_ : Preparation or None
        What ``kernel="auto"`` does to the columns.
    signature_ : tuple (n_positive, n_negative, n_zero)
        Eigenvalues of the kernel matrix, computed when asked for.
    solver_ : {"cholesky", "refined", "ldl", "dual", "cg"}
    weights_ : ndarray (n,) or (n, q)
        Robust weights; 1 without ``robust``.
    scale_ : float or ndarray (q,)
        Robust deviation of the residuals; NaN without ``robust``.
    n_iter_ : int
        Rounds of weighting, the most of all outputs; 0 without ``robust``.
    converged_ : bool
        Whether the weights settled. Where they do not, the fit is that of the last round, and ``fit`` warns. With an
        indefinite kernel and ``indefinite="direct"``, whose fit is no minimum, they may not; "clip" or "flip" then.

    Notes
    -----
    ``sample_weight`` of whole numbers counts copies of rows: a row of weight 2 is the row given twice, also where
    one copy is left out. Other weights say how much an error counts.

    Intervals promise their coverage for rows like those fitted. Those of 90 % held 88 to 91 % of the other half of five
    tables split at random. On half-hours of electricity demand, from 14 earlier values, a model of the first 1,000 held
    84 % of the 3,018 that came later, because the series drifts, and 87 % where it was fitted anew after every 200; on
    daily temperatures 92 % and 91 %. The promise is one for all rows together: of Friedman 1 with holes (450 rows of 6
    columns learned from, four draws) those of 90 % held 100, 94, 83 and 73 % of the rows that missed none, 1 or 2, 3 or
    4, and more of their values.

    The factor of the last system is kept for residuals, deviations and intervals, n² numbers; it is not saved with the
    model, and computed anew when a loaded model needs it.

    References
    ----------
    J. A. K. Suykens et al., "Least Squares Support Vector Machines", World Scientific, 2002.
    G. C. Cawley, N. L. C. Talbot, "Fast exact leave-one-out cross-validation of sparse least-squares support vector
    machines", Neural Networks 17, 2004.
    K. De Brabanter et al., "Robustness of kernel based regression: a comparison of iterative weighting schemes",
    ICANN 2009.

    Examples
    --------
    >>> import numpy as np
    >>> from gramian.lssvm import LSSVMRegressor
    >>> X = np.linspace(-3, 3, 60)[:, None]
    >>> y = np.sinc(X[:, 0]) + 5
    >>> model = LSSVMRegressor().fit(X, y)
    >>> bool(abs(model.predict([[0.0]])[0] - 6) < 0.01)
    True
    >>> model.predict_interval([[0.0], [1.0]], coverage=0.9).shape
    (2, 2)
    """

    def __init__(
        self,
        kernel: Kernel | str | Callable[[Any, Any], Any] = "auto",
        *,
        regularization: float | str | Array | None = None,
        criterion: str = "loo",
        n_splits: int = 10,
        robust: str | Reweighting | None = None,
        indefinite: str = "direct",
        solver: str = "auto",
        random_state: RandomState = None,
    ) -> None:
        self.kernel = kernel
        self.regularization = regularization
        self.criterion = criterion
        self.n_splits = n_splits
        self.robust = robust
        self.indefinite = indefinite
        self.solver = solver
        self.random_state = random_state

    def fit(self, X: Matrix, y: Any, sample_weight: Any = None) -> LSSVMRegressor:
        """Learn f from rows and their targets.

        Parameters
        ----------
        X : array-like or sparse (n, d)
            Rows; (n, n) similarities for ``kernel="precomputed"``.
        y : array-like (n,) or (n, q)
            Numbers to predict.
        sample_weight : array-like (n,), optional
            How much each row counts; rows of weight 0 are not used.

        Returns
        -------
        self : LSSVMRegressor

        Warns
        -----
        sklearn.exceptions.ConvergenceWarning
            If robust weights do not settle.
        """
        rows = self._check_rows(X)
        targets = check_targets(y, rows.shape[0]).astype(rows.dtype, copy=False)
        Y = targets.reshape(len(targets), -1)
        weights = Weights.of(self._check_weights(sample_weight, rows))
        given = self._check_settings(Y.shape[1])
        scheme = None if self.robust is None else as_reweighting(self.robust)
        deviation = _deviation(Y, weights.product)
        scale = np.where(deviation > 0, deviation, 1.0)
        sample, regularization, tried = self._chosen(rows, Y, weights, given, scale, once=scheme is None)
        if scheme is None:
            solution, robust = self._solved(sample, regularization), None
            self._warn_singular(sample, solution.systems[-1])
            outcome = {"scale_": np.full(Y.shape[1], np.nan), "n_iter_": 0, "converged_": True}
        else:
            solution, robust, outcome = self._robust(sample, regularization, scheme, scale, given is None)
        self._keep_solution(X, solution, tried)
        self._keep_shapes(solution, robust, outcome, targets.ndim == 1)
        return self

    def _robust(
        self, sample: Sample, regularization: Array, scheme: Reweighting, scale: Array, choose: bool
    ) -> tuple[Solution, Array, dict[str, Any]]:
        """The solution with its robust weights (n, q), scales and rounds."""
        solution = self._unsolved(sample)
        gammas = np.array(np.broadcast_to(regularization, sample.Y.shape[1:]), np.float64)
        weights = np.ones(sample.Y.shape)
        scales = np.full(len(gammas), np.nan)
        again = self.criterion == "robust" and choose
        for _ in range(2 if again else 1):
            rounds, settled = 0, True
            for j, y in enumerate(sample.Y.T):
                fit = self._weighted_fit(solution, y, gammas[j])
                found = reweight(fit, scheme, sample.weights.counts, float(scale[j]))
                weights[:, j], scales[j] = found.weights, found.scale
                rounds, settled = max(rounds, found.n_iter), settled and found.converged
            if again:  # the outliers are known now, so choose without them, and weigh anew
                again = False
                gammas = self._chosen_again(sample, weights, scale, gammas)
        if not settled:
            warnings.warn(
                f"the robust weights did not settle in {rounds} rounds, and the fit is that of the last one; raise "
                f"max_iter={scheme.max_iter} or tol={scheme.tol:g}, as in "
                f"robust=Reweighting({scheme.function!r}, max_iter={2 * scheme.max_iter})",
                ConvergenceWarning,
                stacklevel=3,
            )
        solution.fit(gammas, weights)
        return solution, weights, {"scale_": scales, "n_iter_": rounds, "converged_": settled}

    def _weighted_fit(
        self, solution: Solution, y: Array, gamma: float
    ) -> Callable[[Array | None], tuple[Array, float, Array]]:
        def fit(robust: Array | None) -> tuple[Array, float, Array]:
            system = solution.system(gamma, robust)
            alpha, intercept = system.solve(y[:, None])
            return alpha[:, 0], float(intercept[0]), alpha[:, 0] * system.noise

        return fit

    def _chosen_again(self, sample: Sample, weights: Array, scale: Array, gammas: Array) -> Array:
        """Regularizations by the mean size of leave-one-out residuals, outliers weighted down in fit and mean."""
        out = gammas.copy()
        for j in range(len(gammas)):
            problem = Problem(
                sample.Y[:, j : j + 1], sample.weights.times(weights[:, j]), sample.weights.counts,
                scale[j : j + 1], "robust",
            )  # fmt: skip
            out[j] = choose_regularization(sample.repair(self.indefinite), problem, "robust").regularization[0]
        return out

    def _keep_shapes(self, solution: Solution, robust: Array | None, outcome: dict[str, Any], flat: bool) -> None:
        """What was learned, in the shape of y."""
        sample = solution.sample
        alpha = sample.spread(solution.alpha)
        weights = np.ones_like(alpha) if robust is None else sample.spread(robust.astype(alpha.dtype))
        gammas = np.array([system.regularization for system in solution.systems])
        self._robust_weights = robust
        self._flat = flat
        self.dual_coef_ = alpha[:, 0] if flat else alpha
        self.intercept_ = float(solution.intercept[0]) if flat else solution.intercept
        self.regularization_ = float(gammas[0]) if len(gammas) == 1 else gammas
        self.weights_ = weights[:, 0] if flat else weights
        self.scale_ = float(outcome["scale_"][0]) if flat else outcome["scale_"]
        self.n_iter_ = outcome["n_iter_"]
        self.converged_ = outcome["converged_"]

    def predict(self, X: Matrix, return_std: bool = False) -> Any:
        """Targets of new rows.

        Parameters
        ----------
        X : array-like or sparse (n, d)
        return_std : bool, default False
            Also return the posterior deviation of f under the Gaussian process that has the same mean: prior covariance
            s² k, a flat prior on the intercept, noise variance s²/γ. s² is estimated so that leave-one-out residuals
            have the mean square that the process expects, s² = mean of α_i² / (A⁻¹)_ii.

        Returns
        -------
        y : ndarray (n,) or (n, q)
        std : ndarray (n,) or (n, q)
            Of f, without the noise; NaN where a single row was learned from. Only if ``return_std``. An indefinite
            kernel has no such process: "direct" may say 0, and "clip" and "flip" very large numbers for new rows.
        """
        X = self._check_new(X)
        rows = self._prepared(X)
        values = self._expansion.unchecked(rows)
        values += np.asarray(self.intercept_, values.dtype)
        values = values[:, 0] if self._flat else values
        if not return_std:
            return values
        process = self._process_deviation()  # first, for it asks for the inverse that the other then solves with
        remaining, _ = self._remaining(rows)
        deviation = (process * np.sqrt(remaining)).astype(values.dtype)
        return values, deviation[:, 0] if self._flat else deviation

    def loo_residuals(self) -> Array:
        """y_i − f^(−i)(x_i): residuals of the fitted rows, each left out of the fit, for one factorization in all.

        They are those of refits to rounding; of 2,000 rows and more that count alike to a millionth, because the
        inverse is then one in single precision, where that is so good. Robust weights stay as they are. A row of
        whole-number weight loses one of its copies. Rows of weight 0 have NaN, and so has a single row.

        Returns
        -------
        residuals : ndarray (n,) or (n, q)
        """
        check_is_fitted(self)
        solution = self._with_system()
        found = solution.left_out()
        sample = solution.sample
        if sample.active is not None:
            every = np.full((len(sample.active), found.shape[1]), np.nan, found.dtype)
            every[sample.active] = found
            found = every
        return found[:, 0] if self._flat else found

    def predict_interval(self, X: Matrix, coverage: float = 0.9) -> Array:
        """Intervals that hold the target of a new row with the given probability.

        f(x) ± q d(x), where d(x) is the posterior deviation with the noise of a row of mean weight, and q the quantile
        of leave-one-out residuals over the same deviation at their rows. The residuals need not be normal; rows must be
        exchangeable, and the choice of width and regularization is not repeated with each row left out. Coverage holds
        for all rows together: where noise is larger than elsewhere, it is less there. Below coverage / (1 − coverage)
        rows the interval is infinite. Where there is no posterior d is 1: with ``kernel="precomputed"``, for the
        self-similarity of new rows is not known, with an indefinite kernel, and with one that takes missing values.

        Parameters
        ----------
        X : array-like or sparse (n, d)
        coverage : float, default 0.9
            Between 0 and 1.

        Returns
        -------
        interval : ndarray (n, 2), or (n, q, 2) for q outputs
            Lower and upper end.
        """
        coverage = real(coverage, "coverage", above=0, below=1)
        X = self._check_new(X)
        rows = self._prepared(X)
        centre = self._expansion.unchecked(rows).astype(np.float64) + self.intercept_
        solution = self._with_system()
        counts = solution.sample.weights.counts
        residuals = np.abs(solution.left_out().astype(np.float64))
        new = np.ones_like(centre)
        if self._has_posterior:
            remaining, gammas = self._remaining(rows)
            new = np.sqrt(remaining + 1 / (gammas * solution.sample.weights.typical))
        inside = self._left_out_deviations(solution)
        radius = [conformal_radius(score, coverage, counts) for score in (residuals / inside).T]
        ends = np.stack([centre - radius * new, centre + radius * new], axis=-1).astype(X.dtype)
        return ends[:, 0] if self._flat else ends

    def loo_interval(self, coverage: float = 0.9) -> Array:
        """Intervals for the targets of the fitted rows, each left out of the fit; see :meth:`predict_interval`.

        The centre is y_i minus entry i of ``loo_residuals()``, the deviation d_i that of a fit without row i, and the
        quantile that of the other rows' residuals over their deviations.

        Parameters
        ----------
        coverage : float, default 0.9
            Between 0 and 1.

        Returns
        -------
        interval : ndarray (n, 2), or (n, q, 2) for q outputs
            Lower and upper end; NaN for rows of weight 0.
        """
        coverage = real(coverage, "coverage", above=0, below=1)
        check_is_fitted(self)
        solution = self._with_system()
        sample = solution.sample
        residuals = solution.left_out().astype(np.float64)
        deviations = self._left_out_deviations(solution)
        scores = np.abs(residuals) / deviations
        radii = np.stack([radii_of_others(score, coverage, sample.weights.counts) for score in scores.T], axis=1)
        centre = sample.Y - residuals
        found = np.stack([centre - radii * deviations, centre + radii * deviations], axis=-1).astype(sample.Y.dtype)
        if sample.active is not None:
            every = np.full((len(sample.active), *found.shape[1:]), np.nan, found.dtype)
            every[sample.active] = found
            found = every
        return found[:, 0] if self._flat else found

    @property
    def _has_posterior(self) -> bool:
        """Whether intervals can be as wide as the posterior says.

        With an indefinite kernel the variance at a new row may be negative, or of any size where a small eigenvalue is
        made positive, while that at the fitted rows is neither. Where the kernel takes missing values, k(x, x) is the
        smaller the more of them a row has, and the posterior the surer the less is known.
        """
        return self.kernel_.definite and not self.kernel_.pairwise and not self.kernel_.accepts_nan

    def _left_out_deviations(self, solution: Solution) -> Array:
        """Posterior deviations with noise at the fitted rows, each left out, in units of the process: (n, q)."""
        deviations = np.ones(solution.alpha.shape)
        if not self._has_posterior:
            return deviations
        weights = solution.sample.weights
        for j, system in enumerate(self._each_system(solution)):
            left = left_out_variance(system.inverse_diagonal, system.noise, weights.counts)
            deviations[:, j] = np.sqrt(left + 1 / (system.regularization * weights.typical))
        return deviations

    def _each_system(self, solution: Solution) -> list[Any]:
        q = solution.alpha.shape[1]
        return solution.systems * q if len(solution.systems) == 1 else solution.systems

    def _process_deviation(self) -> Array:
        """s of every output, (q,)."""
        solution = self._with_system()
        counts = solution.sample.weights.counts
        errors = solution.left_out().astype(np.float64)
        unit = np.abs(errors).max(axis=0)
        unit = np.where(unit > 0, unit, 1.0)
        squares = (errors / unit) * (solution.alpha / unit)  # e_i² (A⁻¹)_ii, summed over the copies of i
        total = np.where(squares < 0, 0, squares).sum(axis=0)  # NaN of a single row, whose error nothing tells
        return unit * np.sqrt(total / (len(squares) if counts is None else counts.sum()))

    def _remaining(self, rows: Matrix) -> tuple[Array, Array]:
        """The posterior variance of f at new rows in units of the kernel, (n, q), and γ of every output."""
        solution = self._with_system()
        if self.kernel_.pairwise:
            raise ValueError("return_std=True needs k(x, x) of new rows, which kernel='precomputed' does not know")
        systems = solution.systems
        out = np.empty((rows.shape[0], len(systems)))
        for part in slices(rows.shape[0], _STRIP):
            block = self.kernel_._block(solution.sample.rows, rows[part])
            diagonal = self.kernel_._diagonal(rows[part])
            if solution.sample.repaired is not None:
                block, diagonal = solution.sample.repaired.similarities(block, diagonal)
            for j, system in enumerate(systems):
                out[part, j] = system.remaining_variance(block, diagonal)
        q = solution.alpha.shape[1]
        gammas = np.array([system.regularization for system in systems])
        return np.maximum(np.broadcast_to(out, (len(out), q)), 0), np.broadcast_to(gammas, (q,))

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.target_tags.multi_output = True
        return tags


def _deviation(Y: Array, weights: Array | None) -> Array:
    """The standard deviation of every output, (q,)."""
    Z = Y.astype(np.float64) - Y[:1]
    unit = np.abs(Z).max(axis=0)
    Z /= np.where(unit > 0, unit, 1.0)  # squares of large or small targets leave the range of numbers
    mean = np.average(Z, axis=0, weights=weights)
    return unit * np.sqrt(np.average((Z - mean) ** 2, axis=0, weights=weights))
