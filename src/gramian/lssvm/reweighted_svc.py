"""The support vector machine by re-weighted least squares: its hinge loss as a sequence of LS-SVMs."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from typing import Any, NamedTuple

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
_GUESSES = 50  # of which rows are on the margin


class ReweightedSVC(ClassifierMixin, KernelEstimator):
    """Support vector classification of two classes, solved by iteratively re-weighted least squares.

    The objective ½‖w‖² + C Σ_i max(0, 1 − y_i f(x_i)) is bounded from above, at errors u_i = 1 − y_i f(x_i) > 0, by a
    sum of squares with weights C / u_i. Its least point is an LS-SVM on the rows with u_i > 0; a step towards it that
    lowers the objective gives the next errors. These steps become slow near the solution, so once it is known which
    rows are on the margin, their equations y_i f(x_i) = 1 are solved as one more bordered system. scikit-learn's
    ``SVC`` solves the same problem faster: this one shows that the SVM is a sequence of LS-SVMs, and takes any kernel
    of this library.

    Parameters
    ----------
    C : float, default 1.0
        What an error counts against the size of w.
    kernel : Kernel, str or callable, default "rbf"
    floor : float, default 1e-6
        Errors count as at least this large, so that weights stay finite.
    max_iter : int, default 500
        Most steps.
    tol : float, default 1e-6
        The steps end when no f(x_i) changes by more.

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
        tol: float = 1e-6,
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
        here = _State(np.zeros(len(y)), np.zeros(len(y)), 0.0)
        objective = float(costs.sum())
        enough = 0.01  # change below which it is worth looking at the margin, less after every failure
        for step in range(1, self.max_iter + 1):
            errors = 1 - y * here.values
            wrong = np.flatnonzero((errors > 0) & (costs > 0))
            if len(np.unique(y[wrong])) < 2:
                return here.beta, here.intercept, objective, step - 1, True
            ahead = _towards(gram, y, wrong, costs[wrong] / np.maximum(errors[wrong], self.floor))
            t, lower = _search(here, ahead, y, costs, objective)
            change = t * float(np.abs(ahead.values - here.values).max())
            here, objective = here.moved(ahead, t), lower
            if change < self.tol or change < enough or t == 0:
                enough = change / 10
                exact = _margin(gram, y, costs, here, self.floor)
                if exact is not None and exact.objective(y, costs) <= objective * (1 + 1e-9):
                    return exact.beta, exact.intercept, exact.objective(y, costs), step, True
                if change < self.tol or t == 0:
                    return here.beta, here.intercept, objective, step, True
        return here.beta, here.intercept, objective, self.max_iter, False

    def decision_function(self, X: Matrix) -> Array:
        """f(x), positive for ``classes_[1]``, shape (n,)."""
        check_is_fitted(self)
        X = self._check_new(X)
        return self._expansion.unchecked(X)[:, 0] + self.intercept_[0].astype(X.dtype)

    def predict(self, X: Matrix) -> Array:
        """Classes of new rows."""
        scores = self.decision_function(X)
        return self.classes_[(scores >= 0).astype(np.intp)]

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.classifier_tags.multi_class = False
        return tags


class _State(NamedTuple):
    """β, K β and b."""

    beta: Array
    smooth: Array
    intercept: float

    @property
    def values(self) -> Array:
        """f at the fitted rows."""
        return self.smooth + self.intercept

    def moved(self, to: _State, t: float) -> _State:
        """The point at share t of the way."""
        return _State(
            self.beta + t * (to.beta - self.beta),
            self.smooth + t * (to.smooth - self.smooth),
            self.intercept + t * (to.intercept - self.intercept),
        )

    def objective(self, y: Array, costs: Array) -> float:
        """½ βᵀ K β + Σ C_i max(0, 1 − y_i f_i)."""
        return 0.5 * float(self.beta @ self.smooth) + float(costs @ np.maximum(0, 1 - y * self.values))


def _towards(gram: Gram, y: Array, index: Array, weights: Array) -> _State:
    """The LS-SVM of some rows with these weights."""
    found, intercept = BorderedSystem(gram.restricted(index), 1.0, weights).solve(y[index, None])
    beta = np.zeros(len(y))
    beta[index] = found[:, 0]
    return _State(beta, gram @ beta, float(intercept[0]))


def _search(here: _State, ahead: _State, y: Array, costs: Array, objective: float) -> tuple[float, float]:
    """The first of 1, ½, ¼, … of the way that lowers the objective, and the objective there; 0 if none does."""
    t = 1.0
    while t > _SHORTEST:
        lower = here.moved(ahead, t).objective(y, costs)
        if lower < objective - 1e-12 * abs(objective):
            return t, lower
        t /= 2
    return 0.0, objective


def _margin(gram: Gram, y: Array, costs: Array, start: _State, floor: float) -> _State | None:
    """The solution from the rows on the margin, found by guessing them; None if the guesses do not settle.

    With α_i = y_i β_i, a row has α = C where α/C + u >= 1, α = 0 where it is <= 0, and lies on the margin (u = 0)
    between: the conditions of the optimum, solved as equations for the margin and read again until they repeat.
    """
    state, before = start, None
    bound = np.maximum(costs, np.finfo(np.float64).tiny)
    for _ in range(_GUESSES):
        place = np.clip(y * state.beta / bound + 1 - y * state.values, 0, 1)
        place[costs == 0] = 0
        margin = np.flatnonzero((place > 0) & (place < 1))
        guess = (place >= 1) + 2 * ((place > 0) & (place < 1))
        if before is not None and np.array_equal(guess, before):
            return state
        if not len(margin):
            return None
        before = guess
        beta = np.where(place >= 1, y * costs, 0.0)
        pulled = gram @ beta
        system = BorderedSystem(gram.restricted(margin), 1.0, costs[margin] / floor)
        found, intercept = system.solve((y - pulled)[margin, None], -float(beta.sum()))
        beta[margin] = found[:, 0]
        state = _State(beta, gram @ beta, float(intercept[0]))
    return None


def _of_those_that_count(y: Any, weights: Array, classes: Array, codes: Array) -> tuple[Array, Array]:
    """Classes of the rows whose weight is not zero, and the codes of all rows; the others have any."""
    used = weights > 0
    if used.all():
        return classes, codes
    classes, kept = check_classes(np.asarray(y)[used], int(used.sum()))
    codes = np.zeros(len(used), np.intp)
    codes[used] = kept
    return classes, codes
