"""Regression on several views of one table, whose errors are coupled.

The columns of X fall into views (stations, sensors, delays of a series); every view has a kernel and an LS-SVM of its
own, and a coupling makes their errors oppose each other. One linear system of :class:`gramian.grams.CoupledGram` fits
all views together.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from scipy.sparse.csgraph import connected_components
from sklearn.base import MultiOutputMixin, RegressorMixin
from sklearn.utils.validation import check_is_fitted, validate_data

from gramian.checks import (
    check_choice,
    check_samples,
    check_targets,
    check_weights,
    one_of,
    reals,
    remember_columns,
)
from gramian.diagram import Estimator
from gramian.grams import CoupledGram, Gram
from gramian.kernels import Expansion, Kernel, as_kernel
from gramian.lssvm.preparation import Preparation
from gramian.lssvm.solution import Weights
from gramian.lssvm.system import BorderedSystem, left_out
from gramian.lssvm.views import check_coupling, rooted, view_columns
from gramian.partitions import DistributedAnswers
from gramian.typing import Array, Matrix

_CHECKS: dict[str, Any] = {"dtype": [np.float64, np.float32]}


class MultiViewLSSVMRegressor(MultiOutputMixin, RegressorMixin, DistributedAnswers, Estimator):
    """LS-SVM regression on several views of the samples, with coupled errors.

    With e_v = y − Φ_v w_v − b_v the errors of view v, the model minimises

        ½ Σ_v s_v (‖w_v‖² + γ_v ‖e_v‖²) + Σ_{v<u} ρ_vu √(s_v s_u) e_vᵀ e_u .

    ``regularization`` is γ (larger fits harder), ``coupling`` ρ (each pair of views counts once) and ``view_weights``
    s. A coupling of 0 fits every view alone and averages the predictions; a coupling as large as γ penalises only the
    sum of the errors, so that the average prediction is that of one LS-SVM with the sum of all kernels. In between,
    errors of views that cancel each other cost less.

    Near ρ = γ the views compensate each other's errors by design: what :meth:`predict_views` gives for one of them is
    then no prediction to be used alone. Expect a gain of a few per cent over separate models, none where the other
    views know nothing of the target, and next to none over one LS-SVM of all columns: in forecasts of temperature,
    coupling lowered the mean absolute error from 5.62 to 5.51 °F (three airports as views) and from 2.38 to 2.31 °C
    (five delays), where a tuned :class:`LSSVMRegressor` of all columns had 5.54 and 2.30
    (``reproduce/lssvm_multiview.py``).

    Parameters
    ----------
    views : list of column groups, optional
        A group is a list of column numbers, a slice, or a list of column names where X is a data frame. Views may share
        columns; columns of no view are left out, with a warning. None is one view of all columns.
    kernel : Kernel, str, or a list of one per view, default "rbf"
        A Kernel sees the columns as they are; a name sees them in standard deviations.
    regularization : float or array-like (V,), default 1.0
        γ of every view.
    coupling : float or array-like (V, V), default 0.0
        ρ. The matrix with γ on its diagonal and ρ beside it must have no negative eigenvalue; 0 <= ρ <= min γ suffices
        for a number, not for a matrix of different ones.
    view_weights : None, "validation" or array-like (V,), default None
        s > 0. "validation": exp(−mean squared leave-one-out error of the view alone), targets in standard deviations.
    combine : {"mean", "weighted", "median"}, default "mean"
        How the predictions of the views become one; "weighted" averages by s.

    Attributes
    ----------
    dual_coef_ : ndarray (V, n) or (V, n, q)
        α_v, with w_v = Φ_vᵀ α_v / s_v. Every α_v sums to zero.
    intercept_ : ndarray (V,) or (V, q)
        b_v.
    coupling_ : ndarray (V, V)
        γ on the diagonal and ρ beside it, scaled by √(s_v s_u).
    view_weights_ : ndarray (V,)
    kernels_ : list of Kernel
    columns_ : list of ndarray
        The column numbers of every view.
    solvers_ : list of str
        How each group of coupled views was solved, see :mod:`gramian.grams.solve`.

    References
    ----------
    Houthuys, Karevan, Suykens (2017). Multi-view LS-SVM regression for black-box temperature prediction in weather
    forecasting. Karevan, Houthuys, Suykens (2018). Multi-view deep and weighted LS-SVM models.

    Examples
    --------
    >>> import numpy as np
    >>> from gramian import MultiViewLSSVMRegressor
    >>> rng = np.random.default_rng(0)
    >>> signal = rng.normal(size=200)
    >>> X = signal[:, None] + 0.5 * rng.normal(size=(200, 4))  # two sensors of two channels
    >>> model = MultiViewLSSVMRegressor([[0, 1], [2, 3]], regularization=1.0, coupling=0.5).fit(X[:150], signal[:150])
    >>> round(model.score(X[150:], signal[150:]), 2)
    0.93
    """

    def __init__(
        self,
        views: Sequence[Any] | None = None,
        *,
        kernel: Kernel | str | Callable[[Any, Any], Any] | Sequence[Any] = "rbf",
        regularization: float | Sequence[float] = 1.0,
        coupling: float | Sequence[Sequence[float]] = 0.0,
        view_weights: str | Sequence[float] | None = None,
        combine: str = "mean",
    ) -> None:
        self.views = views
        self.kernel = kernel
        self.regularization = regularization
        self.coupling = coupling
        self.view_weights = view_weights
        self.combine = combine

    def fit(self, X: Matrix, y: Any, sample_weight: Any = None) -> MultiViewLSSVMRegressor:
        """Fit all views together.

        Parameters
        ----------
        X : array-like (n, d)
        y : array-like (n,) or (n, q)
        sample_weight : array-like (n,), optional
            A row of weight 2 counts as two rows, of weight 0 not at all.

        Returns
        -------
        self : MultiViewLSSVMRegressor
        """
        check_choice(self, "combine", ("mean", "weighted", "median"))
        rows = check_samples(self, X, ensure_min_samples=2, **_CHECKS)
        targets = check_targets(y, len(rows)).astype(rows.dtype)
        ones = np.ones(len(rows), rows.dtype)
        weights = ones if sample_weight is None else check_weights(sample_weight, len(rows), rows.dtype)
        columns = view_columns(self.views, rows.shape[1], getattr(X, "columns", None))
        kernels, named = self._kernels(len(columns))
        G = check_coupling(self.regularization, self.coupling, len(columns))
        preparations = [
            Preparation(rows[:, part], weights) if by_name else None
            for part, by_name in zip(columns, named, strict=True)
        ]
        seen = [_seen(rows, *where) for where in zip(columns, preparations, strict=True)]
        grams = [
            kernel._fitted(part, None if sample_weight is None else weights)._unchecked("gram")(part)
            for kernel, part in zip(kernels, seen, strict=True)
        ]
        share = weights / weights.sum()
        center = targets[0] + share @ (targets - targets[0])  # of a constant exactly that constant
        right = np.sqrt(weights)[:, None] * (targets - center).reshape(len(rows), -1)
        central = [gram.centered() if sample_weight is None else gram.weighted_centered(weights) for gram in grams]
        s = self._weights_of_views(grams, targets.reshape(len(rows), -1), np.diagonal(G), weights)
        coupling = G * np.sqrt(np.outer(s, s))
        scaled = [gram.scaled(1 / weight) for gram, weight in zip(central, s, strict=True)]
        solution, solvers = _solved(scaled, coupling, right)
        alpha = np.sqrt(weights)[:, None] * solution / s[:, None, None].astype(rows.dtype)
        remember_columns(self, X)
        self.kernels_, self.columns_, self.preparations_ = kernels, columns, preparations
        self.coupling_, self.view_weights_, self.solvers_ = coupling, s, solvers
        outputs = targets.shape[1:]
        self.dual_coef_ = (alpha * s[:, None, None].astype(rows.dtype)).reshape(len(columns), len(rows), *outputs)
        means = [share @ (gram @ part) for gram, part in zip(grams, alpha, strict=True)]
        self.intercept_ = np.stack([(center - mean.reshape(outputs)) for mean in means])
        self.expansions_ = [
            Expansion(kernel, part, coefficients, gram=gram)
            for kernel, part, coefficients, gram in zip(kernels, seen, alpha, grams, strict=True)
        ]
        return self

    def predict_views(self, X: Matrix) -> Array:
        """What every view predicts.

        Parameters
        ----------
        X : array-like (n_new, d)

        Returns
        -------
        predictions : ndarray (n_new, V) or (n_new, V, q)
        """
        check_is_fitted(self, "expansions_")
        X = validate_data(self, X, reset=False, **_CHECKS)
        parts = zip(self.expansions_, self.columns_, self.preparations_, self.intercept_, strict=True)
        shape = len(X), *self.intercept_.shape[1:]
        return np.stack(
            [
                view.unchecked(_seen(X, cols, scale)).reshape(shape) + b.astype(X.dtype)
                for view, cols, scale, b in parts
            ],
            axis=1,
        )

    def predict(self, X: Matrix) -> Array:
        """The prediction of all views together.

        Parameters
        ----------
        X : array-like (n_new, d)

        Returns
        -------
        y : ndarray (n_new,) or (n_new, q)
        """
        each = self.predict_views(X)
        if self.combine == "median":
            return np.asarray(np.median(each, axis=1))
        shares = self.view_weights_ if self.combine == "weighted" else np.ones(each.shape[1])
        return np.asarray(np.average(each, axis=1, weights=shares), each.dtype)

    def _kernels(self, n_views: int) -> tuple[list[Kernel], list[bool]]:
        """A fresh kernel for every view, and whether it was given by name."""
        given: list[Any] = list(self.kernel) if isinstance(self.kernel, (list, tuple)) else [self.kernel] * n_views
        if len(given) != n_views:
            raise ValueError(f"kernel has {len(given)} entries for {n_views} views; pass one, or one for each view")
        kernels = [as_kernel(kernel) for kernel in given]
        if any(kernel.pairwise for kernel in kernels):
            raise ValueError("kernel='precomputed' has no columns to split into views; pass a kernel of rows")
        return kernels, [isinstance(kernel, str) for kernel in given]

    def _weights_of_views(self, grams: list[Gram], targets: Array, regularization: Array, weights: Array) -> Array:
        """s (V,), all 1 where none are asked for."""
        asked = self.view_weights
        if asked is None:
            return np.ones(len(grams))
        if isinstance(asked, str):
            one_of(asked, "view_weights", ("validation", None))
            targets = targets - targets[:1]
            targets = targets / (np.abs(targets).max(initial=0.0) or 1.0)  # squares of any other size might be lost
            mean = np.average(targets, axis=0, weights=weights)
            spread = float(np.average(((targets - mean) ** 2).sum(axis=1), weights=weights))
            errors = [
                _left_out(gram, targets, gamma, weights) for gram, gamma in zip(grams, regularization, strict=True)
            ]
            return np.exp(-np.array(errors) / spread) if spread else np.ones(len(grams))
        return reals(asked, "view_weights", (len(grams),), above=0) * np.ones(len(grams))

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = False
        return tags


def _solved(grams: list[Gram], coupling: Array, right: Array) -> tuple[Array, list[str]]:
    """α (V, n, q) with α = (G ⊗ I)(1_V ⊗ y − blockdiag(K_v) α), and the solvers used.

    With G = R Rᵀ and α = (R ⊗ I) β it is (I + Σ_v (r_v r_vᵀ) ⊗ K_v) β = (Rᵀ 1_V) ⊗ y: symmetric, definite, and as
    small as the rank of G, also where G is singular. Views that nothing couples are solved apart.
    """
    alpha = np.zeros((len(grams), *right.shape), right.dtype)
    solvers = []
    n_parts, part_of = connected_components(coupling != 0, directed=False)
    for part in range(n_parts):
        views = np.flatnonzero(part_of == part)
        R = rooted(coupling[np.ix_(views, views)]).astype(right.dtype)
        system = CoupledGram([grams[v] for v in views], R).factorization(1.0)
        stacked = R.sum(axis=0)[:, None, None] * right
        beta = system.solve(stacked.reshape(-1, right.shape[1])).reshape(stacked.shape)
        alpha[views] = np.tensordot(R, beta, axes=1)
        solvers.append(system.method)
    return alpha, solvers


def _left_out(gram: Gram, targets: Array, gamma: float, weights: Array) -> float:
    """Mean squared leave-one-out error of an LS-SVM on one view."""
    used = weights > 0
    system = BorderedSystem(gram if used.all() else gram.restricted(used), gamma, weights[used])
    alpha, _ = system.solve(targets[used])
    errors = left_out(alpha, system.inverse_diagonal, system.noise, Weights.of(weights[used]).counts)
    return float(np.average((errors**2).sum(axis=1), weights=weights[used]))


def _seen(X: Array, columns: Array, preparation: Preparation | None) -> Array:
    """What a view sees of X."""
    part = np.ascontiguousarray(X[:, columns])
    return part if preparation is None else np.asarray(preparation(part))
