"""Restricted kernel machines: LS-SVM and kernel PCA with hidden features, in one level, in several, or generative."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from sklearn.base import BaseEstimator, ClassNamePrefixFeaturesOutMixin, clone
from sklearn.metrics import accuracy_score, r2_score
from sklearn.utils import get_tags
from sklearn.utils.metaestimators import available_if
from sklearn.utils.validation import check_is_fitted

from gramian.checks import check_choice, check_positive, check_whole, reals, whole
from gramian.estimator import KernelEstimator
from gramian.kernels import Expansion, Kernel, as_kernel
from gramian.lssvm._levels import ascend, greedy
from gramian.lssvm.classification import LSSVMClassifier
from gramian.lssvm.regression import LSSVMRegressor
from gramian.partitions import in_one_place, in_parts
from gramian.typing import Array, Matrix, RandomState

_KINDS = ("regression", "classification", "pca")


def _predicts(self: RestrictedKernelMachine) -> bool:
    """``predict`` is for kind="regression" and kind="classification"."""
    return self.kind != "pca"


def _embeds(self: RestrictedKernelMachine) -> bool:
    """``transform`` is for kind="pca" and for several levels."""
    return self.kind == "pca" or self.levels is not None


class RestrictedKernelMachine(ClassNamePrefixFeaturesOutMixin, KernelEstimator):
    """Regression, classification or kernel PCA as a restricted kernel machine of one level or several (RKM).

    A restricted kernel machine replaces the errors or scores of a kernel model by hidden features h_i. For regression
    and classification it is

        min over w, max over h of  Σ_i [(y_i − Wᵀφ(x_i) − b)ᵀh_i − (λ/2) h_iᵀh_i] + (η/2) tr(WᵀW) ,

    whose solution is the LS-SVM of regularization 1/(λη) with h = η α: use :class:`LSSVMRegressor` or
    :class:`LSSVMClassifier` unless you want h. For ``kind="pca"`` it is (1/η) K_c H = H Λ with HᵀH = I: kernel PCA
    whose scores have equal spread.

    ``levels`` stacks kernel PCAs, the hidden features of one being the rows of the next, and climbs on their common
    objective Σ_l (1/η_l) tr(H_lᵀ K_l H_l). On top of them a ``head`` predicts. New rows pass level by level, without
    the coupling of a level to those above it: an approximation, exact for one level. Levels multiply n×n Grams: they
    are for a few thousand rows at most. They do not help to predict: R² of diabetes was .43 with levels (10,), .38 with
    (10, 5) and .32 with (20, 10) under a tuned LS-SVM, and .44 without levels; of 400 rows of Friedman 1 .87, .26, .64
    and .88 (five splits, 50 rounds).

    Parameters
    ----------
    kind : {"regression", "classification", "pca"}, default "regression"
    kernel : Kernel, str, or a list of one per level, default "rbf"
        Levels above the first need a kernel of the distance, such as "rbf".
    eta : float or array-like (n_levels,), default 1.0
        η.
    lambda_ : float, default 1.0
        λ, for regression and classification. A smaller one fits harder.
    n_components : int, default 2
        Hidden features of ``kind="pca"`` in one level.
    levels : sequence of int, optional
        Hidden features of every level, such as (10, 5).
    head : estimator, optional
        What predicts from the hidden features of the last level, scaled by √n; by default an LS-SVM of regularization
        1/(λη) with an RBF.
    max_iter : int, default 300
        Rounds of the ascent.
    tol : float, default 1e-6
        Norm of the gradient at which it stops.
    random_state : int, Generator, RandomState or None, default None

    Attributes
    ----------
    hidden_ : ndarray (n, s)
        h_i of the last level, or of the LS-SVM: (n,), or (n, bits) for several outputs or classes.
    hidden_levels_ : list of ndarray
        With ``levels``, H of every level.
    eigenvalues_ : ndarray (s,)
        Λ of the last level, for ``kind="pca"`` and for levels.
    objective_path_ : ndarray
        The objective of the levels, before the first and after every round.
    n_iter_ : int
        Rounds; 1 without levels.
    machine_ : estimator
        The LS-SVM, or the head.
    classes_ : ndarray
        For ``kind="classification"``.

    References
    ----------
    Suykens (2017). Deep restricted kernel machines using conjugate feature duality. Tonin, Patrinos, Suykens (2021).
    Unsupervised learning of disentangled representations in deep restricted kernel machines with orthogonality
    constraints.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from gramian.lssvm import RestrictedKernelMachine
    >>> X, y = load_iris(return_X_y=True)
    >>> RestrictedKernelMachine("classification", eta=1.0, lambda_=0.1).fit(X, y).hidden_.shape
    (150, 3)
    >>> deep = RestrictedKernelMachine("pca", levels=(4, 2), max_iter=20).fit(X)
    >>> bool(deep.objective_path_[-1] > deep.objective_path_[0])
    True
    """

    def __init__(
        self,
        kind: str = "regression",
        *,
        kernel: Kernel | str | Callable[[Any, Any], Any] | Sequence[Any] = "rbf",
        eta: float | Sequence[float] = 1.0,
        lambda_: float = 1.0,
        n_components: int = 2,
        levels: Sequence[int] | None = None,
        head: BaseEstimator | None = None,
        max_iter: int = 300,
        tol: float = 1e-6,
        random_state: RandomState = None,
    ) -> None:
        self.kind = kind
        self.kernel = kernel  # type: ignore[assignment]
        self.eta = eta
        self.lambda_ = lambda_
        self.n_components = n_components
        self.levels = levels
        self.head = head
        self.max_iter = max_iter
        self.tol = tol
        self.random_state = random_state

    def fit(self, X: Matrix, y: Any = None) -> RestrictedKernelMachine:
        """Find the hidden features.

        Parameters
        ----------
        X : array-like (n, d)
        y : array-like (n,) or (n, q)
            Targets or labels; not used by ``kind="pca"``.

        Returns
        -------
        self : RestrictedKernelMachine
        """
        check_choice(self, "kind", _KINDS)
        check_positive(self, "lambda_", "tol")
        check_whole(self, "n_components", "max_iter")
        if self.head is not None and not hasattr(self.head, "fit"):
            raise ValueError(f"head={self.head!r} must be an estimator with fit and predict, or None")
        kernels = self._kernels()
        etas = reals(self.eta, "eta", (len(kernels),), above=0) * np.ones(len(kernels))
        if self.levels is None and self.kind != "pca":
            return self._fit_machine(X, y, kernels[0], float(etas[0]))
        rows = self._check_rows(X, min_samples=2)
        self._fit_levels(rows, kernels, etas)
        if self.kind != "pca":
            self._fit_head(y, float(etas[-1]))
        self._keep(kernels[0], X)
        return self

    def _fit_machine(self, X: Matrix, y: Any, kernel: Kernel, eta: float) -> RestrictedKernelMachine:
        """One level: the LS-SVM itself."""
        machine = self._lssvm(kernel, eta).fit(X, y)
        self.machine_, self.n_iter_ = machine, 1
        self.hidden_ = eta * machine.dual_coef_
        self._keep(machine.kernel_, X)
        self._remember_classes()
        return self

    def _fit_levels(self, X: Matrix, kernels: list[Kernel], etas: Array) -> None:
        sizes = [self.n_components] if self.levels is None else list(self.levels)
        most = X.shape[0] - 1
        sizes = [whole(size, "n_components" if self.levels is None else "levels", most=most) for size in sizes]
        levels, path = ascend(greedy(X, kernels, etas.tolist(), sizes), int(self.max_iter), float(self.tol))
        self.objective_path_, self.n_iter_ = path, max(1, len(path) - 1)
        self.hidden_levels_ = [level.hidden for level in levels]
        self.hidden_ = levels[-1].hidden
        self.expansions_ = []
        n = X.shape[0]
        rows = X
        for level in levels:
            # h(x) = (Hᵀ K H)⁻¹ Hᵀ k(x), which for eigenvectors H is Λ⁻¹ Hᵀ k(x) / η.
            inner = level.hidden.T @ (level.gram @ level.hidden)
            coefficients = level.hidden @ np.linalg.pinv((inner + inner.T) / 2, rcond=1e-10, hermitian=True)
            center = np.full(n, 1 / n, coefficients.dtype)
            self.expansions_.append(Expansion(level.kernel, rows, coefficients, center=center))
            rows = level.hidden
        self.eigenvalues_ = np.diagonal(inner) / etas[-1]

    def _fit_head(self, y: Any, eta: float) -> None:
        head = self._lssvm(as_kernel("rbf"), eta) if self.head is None else clone(self.head)
        self.machine_ = head.fit(self._scaled(self.hidden_), y)
        self._remember_classes()

    def _remember_classes(self) -> None:
        if self.kind == "classification":
            self.classes_ = self.machine_.classes_

    def _scaled(self, hidden: Array) -> Array:
        """Rows of unit spread: columns of H have length one, so their entries shrink with n."""
        return np.asarray(hidden * np.sqrt(len(self.hidden_)), hidden.dtype)

    def _lssvm(self, kernel: Kernel, eta: float) -> Any:
        machine = LSSVMRegressor if self.kind == "regression" else LSSVMClassifier
        return machine(kernel, regularization=1 / (float(self.lambda_) * eta), random_state=self.random_state)

    def _kernels(self) -> list[Kernel]:
        if self.levels is not None and (not isinstance(self.levels, (list, tuple)) or not len(self.levels)):
            raise ValueError(f"levels={self.levels!r} must list the hidden features of every level, such as (10, 5)")
        n_levels = 1 if self.levels is None else len(self.levels)
        given: list[Any] = list(self.kernel) if isinstance(self.kernel, (list, tuple)) else [self.kernel] * n_levels
        if len(given) != n_levels:
            raise ValueError(f"kernel has {len(given)} entries for {n_levels} levels; pass one, or one for each level")
        return [as_kernel(kernel) for kernel in given]

    def _unfitted_kernel(self, n_samples: int = 0) -> Kernel:
        return self._kernels()[0]

    @available_if(_predicts)
    @in_parts
    def predict(self, X: Matrix) -> Array:
        """Predict targets or classes.

        Parameters
        ----------
        X : array-like (n_new, d)

        Returns
        -------
        y : ndarray (n_new,) or (n_new, q)
        """
        check_is_fitted(self, "machine_")
        return np.asarray(self.machine_.predict(self._seen_by_machine(X)))

    @available_if(_predicts)
    @in_one_place
    def score(self, X: Matrix, y: Any) -> float:
        """R² of the predictions, or the share of right classes."""
        found = self.predict(X)
        return float(r2_score(y, found) if self.kind == "regression" else accuracy_score(y, found))

    @available_if(lambda self: self.kind == "classification")
    @in_parts
    def decision_function(self, X: Matrix) -> Array:
        """Scores of the classes, see :meth:`LSSVMClassifier.decision_function`."""
        check_is_fitted(self, "machine_")
        return np.asarray(self.machine_.decision_function(self._seen_by_machine(X)))

    def _seen_by_machine(self, X: Matrix) -> Matrix:
        return X if self.levels is None else self._scaled(self.transform(X))

    @available_if(_embeds)
    @in_parts
    def transform(self, X: Matrix, level: int = -1) -> Array:
        """Hidden features of new rows.

        Parameters
        ----------
        X : array-like (n_new, d)
        level : int, default -1
            Which level; the last by default.

        Returns
        -------
        hidden : ndarray (n_new, s)
        """
        check_is_fitted(self, "expansions_")
        hidden = self._check_new(X)
        for expansion in self.expansions_[: range(len(self.expansions_))[level] + 1]:
            hidden = expansion.unchecked(hidden)
        return np.asarray(hidden)

    @available_if(_embeds)
    def fit_transform(self, X: Matrix, y: Any = None) -> Array:
        """Fit and return the hidden features of X, ``hidden_``."""
        return np.asarray(self.fit(X, y).hidden_ if self.kind == "pca" else self.fit(X, y).hidden_levels_[-1])

    @property
    def _n_features_out(self) -> int:
        return int(self.hidden_.shape[1])

    def __sklearn_is_fitted__(self) -> bool:
        return hasattr(self, "hidden_")  # the name of lambda_ looks like something learned

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        if self.kind in ("regression", "classification"):
            like = get_tags(LSSVMRegressor() if self.kind == "regression" else LSSVMClassifier())
            tags.estimator_type, tags.target_tags = like.estimator_type, like.target_tags
            tags.regressor_tags, tags.classifier_tags = like.regressor_tags, like.classifier_tags
        return tags
