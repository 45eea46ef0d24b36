"""The support vector machine by re-weighted least squares: its hinge loss as a sequence of LS-SVMs."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from typing import Any

import numpy as np
from sklearn.base import ClassifierMixin
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils.validation import check_is_fitted

from gramian.checks import check_classes, check_positive, check_whole
from gramian.estimator import KernelEstimator
from gramian.grams.base import Gram
from gramian.kernels import Expansion, Kernel
from gramian.lssvm.system import BorderedSystem
from gramian.typing import Array, Matrix

_SHORTEST = 1e-10  # step of the line search below which the objective does not fall any more


class ReweightedSVC(ClassifierMixin, KernelEstimator):
    """Support vector classification of two classes, solved by iteratively re-weighted least squares.

    The objective ½‖w‖² + C Σ_i max(0, 1 − y_i f(x_i)) is bounded from above, at errors u_i = 1 − y_i f(x_i) > 0, by a
    sum of squares with weights C / u_i. Its least point is an LS-SVM on the rows with u_i > 0; a step towards it that
    lowers the objective gives the next errors. scikit-learn's ``SVC`` solves the same problem faster: this one shows
    that the SVM is a sequence of LS-SVMs, and takes any kernel and weights of this library.

    Parameters
    ----------
    C : float, default 1.0
        What an error counts against the size of w.
    kernel : Kernel, str or callable, default "rbf"
    floor : float, default 1e-6
        Errors count as at least this large, so that weights stay finite.
    max_iter : int, default 500
        Most steps.
    tol : float, default 1e-8
        The steps end when no f(x_i) changes by more, or the objective falls by less than a hundredth of this share.

    Attributes
    ----------
    classes_ : ndarray (2,)
    support_ : ndarray of int
        Rows with a coefficient.
    dual_coef_ : ndarray (1, n_support)
        Coefficients of these rows, signed by class, as ``SVC`` has them.
    intercept_ : ndarray (1,)
    objective_ : float
        What was minimised.
    n_iter_ : int
    kernel_ : Kernel

    Notes
    -----
    For more than two classes wrap it in ``sklearn.multiclass.OneVsOneClassifier``.

    References
    ----------
    F. Pérez-Cruz et al., "Convergence of the IRWLS procedure to the support vector machine solution", Neural
    Computation 17, 2005.

    Examples
    --------
    >>> import numpy as np
    >>> from gramian.lssvm import ReweightedSVC
    >>> X = np.array([[0.0], [0.4], [2.0], [2.4]])
    >>> model = ReweightedSVC(kernel="linear").fit(X, ["low", "low", "high", "high"])
    >>> model.predict([[0.9], [1.5]])
    array(['low', 'high'], dtype='<U4')
    """

    def __init__(
        self,
        C: float = 1.0,
        *,
        kernel: Kernel | str | Callable[[Any, Any], Any] = "rbf",
        floor: float = 1e-6,
        max_iter: int = 500,
        tol: float = 1e-8,
    ) -> None:
        self.C = C
        self.kernel = kernel
        self.floor = floor
        self.max_iter = max_iter
        self.tol = tol

    def fit(self, X: Matrix, y: Any, sample_weight: Any = None) -> ReweightedSVC:
        """Learn two classes.

        Parameters
        ----------
        X : array-like or sparse (n, d)
            Rows; (n, n) similarities for ``kernel="precomputed"``.
        y : array-like (n,)
            Two classes.
        sample_weight : array-like (n,), optional
            Multiplies C for each row.

        Returns
        -------
        self : ReweightedSVC
        """
        rows = self._check_rows(X)
        classes, codes = check_classes(y, rows.shape[0])
        weights = self._check_weights(sample_weight, rows)
        if weights is not None:
            classes, codes = _of_those_that_count(y, weights, classes, codes)
        if len(classes) > 2:
            raise ValueError(
                f"Only binary classification is supported. The type of the target is multiclass: y has {len(classes)} "
                "classes; use sklearn.multiclass.OneVsOneClassifier(ReweightedSVC())"
            )
        check_positive(self, "C", "floor", "tol")
        check_whole(self, "max_iter")
        kernel, gram = self._fit_on(rows, weights)
        costs = float(self.C) * (np.ones(len(codes)) if weights is None else weights.astype(np.float64))
        signs = 2.0 * codes - 1
        beta, intercept, objective, n_iter, settled = self._descend(gram, signs, costs)
        if not settled:
            warnings.warn(
                f"max_iter={self.max_iter} steps were not enough; raise max_iter, or tol={self.tol:g}",
                ConvergenceWarning,
                stacklevel=2,
            )
        self.classes_, self.objective_, self.n_iter_ = classes, objective, n_iter
        self.support_ = np.flatnonzero(np.abs(beta) > 1e-9 * costs.max())
        beta = beta.astype(rows.dtype)
        self.dual_coef_ = beta[None, self.support_]
        self.intercept_ = np.array([intercept], rows.dtype)
        if kernel.pairwise:
            self._expansion = Expansion(kernel, rows, beta[:, None])
        else:
            self._expansion = Expansion(kernel, rows[self.support_], beta[self.support_, None])
        self._keep(kernel, X)
        return self

    def _descend(self, gram: Gram, y: Array, costs: Array) -> tuple[Array, float, float, int, bool]:
        """Coefficients, intercept, objective, steps, and whether nothing was left to gain."""
        beta, smooth, b = np.zeros(len(y)), np.zeros(len(y)), 0.0  # f = smooth + b with smooth = K β
        objective = float(costs.sum())
        for step in range(1, self.max_iter + 1):
            errors = 1 - y * (smooth + b)
            wrong = (errors > 0) & (costs > 0)
            if not (wrong & (y > 0)).any() or not (wrong & (y < 0)).any():
                return beta, b, objective, step - 1, True
            index = np.flatnonzero(wrong)
            system = BorderedSystem(gram.restricted(index), 1.0, costs[index] / np.maximum(errors[index], self.floor))
            found, intercept = system.solve(y[index, None])
            target = np.zeros(len(y))
            target[index] = found[:, 0]
            towards = gram @ target - smooth
            move, lift = target - beta, float(intercept[0]) - b

            # The objective along the line, whose quadratic part has three numbers.
            square = float(beta @ smooth), float(move @ smooth), float(move @ towards)

            def along(t: float, s: Array = smooth, d: Array = towards, q: tuple[float, ...] = square,
                      b: float = b, lift: float = lift) -> float:  # fmt: skip
                hinge = np.maximum(0, 1 - y * (s + t * d + b + t * lift))
                return 0.5 * (q[0] + 2 * t * q[1] + t * t * q[2]) + float(costs @ hinge)

            t = 1.0
            while t > _SHORTEST and along(t) > objective - 1e-12 * abs(objective):
                t /= 2
            if t <= _SHORTEST:
                return beta, b, objective, step, True
            before, objective = objective, along(t)
            beta, smooth, b = beta + t * move, smooth + t * towards, b + t * lift
            change = t * float(np.abs(towards + lift).max())
            if change < self.tol or before - objective < 0.01 * self.tol * abs(before):
                return beta, b, objective, step, True
        return beta, b, objective, self.max_iter, False

    def decision_function(self, X: Matrix) -> Array:
        """f(x), positive for ``classes_[1]``, shape (n,)."""
        check_is_fitted(self)
        X = self._check_new(X)
        return self._expansion.unchecked(X)[:, 0] + self.intercept_[0].astype(X.dtype)

    def predict(self, X: Matrix) -> Array:
        """Classes of new rows."""
        return self.classes_[(self.decision_function(X) >= 0).astype(np.intp)]

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.classifier_tags.multi_class = False
        return tags


def _of_those_that_count(y: Any, weights: Array, classes: Array, codes: Array) -> tuple[Array, Array]:
    """Classes of the rows whose weight is not zero, and the codes of all rows; the others have any."""
    used = weights > 0
    if used.all():
        return classes, codes
    classes, kept = check_classes(np.asarray(y)[used], int(used.sum()))
    codes = np.zeros(len(used), np.intp)
    codes[used] = kept
    return classes, codes
