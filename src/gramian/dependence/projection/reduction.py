"""Supervised, unsupervised and semi-supervised dimension reduction that maximises dependence (HSIC)."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from typing import Any

import numpy as np
from sklearn.utils.metaestimators import available_if
from sklearn.utils.validation import check_array, check_is_fitted

from gramian.checks import check_choice, check_count, check_real, check_samples
from gramian.dependence.projection._alternating import (
    Alternation,
    ClustersForNewRows,
    alternate,
    clusters_of_all_columns,
)
from gramian.dependence.projection._estimator import (
    Approximation,
    ColumnScaling,
    Projector,
    check_n_components,
    has_degrees,
    projected_kernel,
)
from gramian.dependence.projection.certificates import SecondOrder, second_order
from gramian.dependence.projection.ism import ISMResult, ism, suggest_n_components
from gramian.dependence.projection.weights import (
    UNKNOWN,
    ClusterWeights,
    PairWeights,
    checked_target,
    has_fractions,
    is_partial,
    partial_weights,
    target_kind,
    target_weights,
)
from gramian.kernels import Kernel
from gramian.partitions import SAMPLE, fit_to_sample, in_parts, is_distributed
from gramian.randomness import generator
from gramian.typing import Array, RandomState

__all__ = ["DependenceReduction"]

_TURNS = 50  # of projection and clusters, without labels


class DependenceReduction(Projector):
    """Reduce columns to a few linear combinations that depend as much as possible on y or on clusters (IKDR).

    Maximises Σ_ij Γ_ij k(Wᵀx_i, Wᵀx_j) over W with orthonormal columns, which is HSIC(XW, ·) times (n − 1)²:

    ==============  ===============  =================================================================
    ``fit(X, y)``   y is             Γ
    ==============  ===============  =================================================================
    supervised      labels, targets  H L H, L the kernel of y
    unsupervised    not given        H U Uᵀ H, U the clusters seen in the projection, found in turns
    semi            labels, −1 =     the same, plus ``label_weight`` times that of the labels; both
                    unknown          in units of their norms
    ==============  ===============  =================================================================

    H = I − 11ᵀ/n centres. The projection is linear, so each
    component is a list of signed weights of the columns, whatever the kernel: it can be read, and new rows need no
    kernel at all. For the accuracy of a classifier on a few components, linear discriminant analysis and
    neighbourhood components analysis are often better; the guide has figures.

    Parameters
    ----------
    n_components : int or None, default 2
        Columns of the projection, at most as many as X has; with as many, W is the rotation that orders them, and
        nothing is lost. None: first as many as there are clusters, or classes less one, then as many as lie before the
        widest gap in the spectrum of Φ, fitted again; but at least as many as there are classes less one, or, of
        positive eigenvalue, clusters less one. k groups span that many directions, and the first is often so much the
        strongest that the widest gap lies behind it.
    kernel : Kernel or str, default "rbf"
        Of the projected rows, with a width rule looking at all columns. Linear, Polynomial, RBF, Cauchy,
        SquaredDistance, Multiquadric, InverseMultiquadric, RationalQuadratic, ExponentialProduct, RelativeRBF,
        ProfileKernel, and sums of multiples of them.
    mode : {"auto", "supervised", "unsupervised", "semi"}, default "auto"
        "auto" looks at y: none given is unsupervised; labels with −1 beside two or more others, none of them negative,
        are semi-supervised. Labels −1 and 1 are two classes.
    n_clusters : int or None, default None
        Without labels for all rows. None: the number of known classes, or, without any, the widest relative gap
        in the spectrum of all columns, at most 20. Better given, if known.
    target : {"auto", "labels", "linear", "rbf"}, default "auto"
        The kernel of y: 1 for equal labels, the inner product, or a Gaussian of median width. "auto" takes "rbf" for
        real numbers, and for whole ones of more than 20 values with fewer than 5 rows each on average; "labels"
        otherwise, also for several columns.
    label_weight : float, default 100.0
        How much known labels count in semi-supervised mode. 0 ignores them; try several values.
    standardize : bool, default True
        Scale columns to unit variance. They are always centred, and constant ones get no weight.
    whiten : bool, default False
        Look for W among the principal components of the scaled columns, each divided by its deviation, so that
        directions of little variance count as much as others, as in linear discriminant analysis. It helps where
        columns are strongly correlated and rows are many, and hurts where rows are few: directions of noise count
        too. ``components_`` are weights of the scaled columns all the same, but no longer orthonormal.
    normalize : bool, default False
        Divide the kernel by its degrees D where y does not say everything; only for kernels that are never negative.
        It balances dense and thin regions, but the objective may then fall, and the clusters of 2,000 MNIST digits are
        worse (NMI 0.43, without it 0.48).
    init : {"spectral", "random"}, default "spectral"
        The first projection. "random" is for looking for other maxima: fit with several ``random_state`` and keep the
        largest ``objective_``. Targets that are even functions of the columns need it.
    approximation : {"auto", None, "nystroem", "fourier"}, default "auto"
        "auto" sums over all pairs up to 20,000 samples and uses ``n_features`` landmarks beyond, at a cost linear in
        n; kernels that are not positive semi-definite stay exact, and linear ones need no sum over pairs.
    n_features : int, default 512
        Landmarks or waves of the approximation.
    n_init : int, default 10
        Starts of the k-means that turns U into labels.
    max_iter : int, default 200
        Steps of the solver with labels; without, at most 50 turns are taken.
    tol : float, default 1e-6
        Sine of the largest angle between successive projections at which the solver stops, with labels.
    random_state : int, Generator or None, default None
    verbose : int, default 0

    Attributes
    ----------
    components_ : ndarray (n_components_, d)
        Wᵀ: signed weights of the scaled columns, strongest component first. Orthonormal unless ``whiten=True``.
    mean_, scale_ : ndarray (d,)
        Taken from and divided out of the columns.
    feature_importances_ : ndarray (d,)
        √Σ_j max(λ_j, 0) W_ij², summing to 1.
    projector_diag_ : ndarray (d,)
        How much of each column the projection keeps, from 0 to 1: the diagonal of the orthogonal projector on the rows
        of ``components_``, W Wᵀ.
    eigenvalues_ : ndarray (n_components_,)
        λ: what each component adds, to first order.
    eigengaps_ : ndarray
        Differences of successive eigenvalues of Φ.
    objective_ : float
        The sum that was maximised.
    objective_path_ : ndarray
        Its values on the way.
    n_iter_ : int
        Steps, or turns without labels.
    converged_ : bool
    stationarity_ : float
        ‖Φ W − W (WᵀΦW)‖ / ‖Φ W‖, zero at a stationary point.
    level_shift_ : float
        Zero where the plain iterative spectral method would have done.
    solution_ : ISMResult
        All that the solver says.
    labels_ : ndarray (n,)
        Clusters; not in supervised mode. Nor are the next three.
    embedding_ : ndarray (n, k)
        U, of which the labels are k-means.
    n_clusters_ : int
    cluster_centers_ : ndarray (n_clusters_, k)
        Among rows of U of unit length.
    n_components_ : int
    mode_ : str
    target_ : str or None
        The kernel of y in supervised mode, otherwise None.
    kernel_ : Kernel
        Fitted on the scaled columns.

    References
    ----------
    Wu, Miller, Chang, Sznaier, Dy (2019). Solving interpretable kernel dimension reduction. NeurIPS.

    Niu, Dy, Jordan (2011). Dimensionality reduction for spectral clustering. AISTATS.

    Barshan, Ghodsi, Azimifar, Jahromi (2011). Supervised principal component analysis. Pattern Recognition.

    Examples
    --------
    >>> from sklearn.datasets import load_wine
    >>> from gramian import DependenceReduction
    >>> X, y = load_wine(return_X_y=True, as_frame=True)
    >>> model = DependenceReduction(2).fit(X, y)
    >>> model.transform(X).shape
    (178, 2)
    >>> X.columns[model.feature_importances_.argmax()]
    'proline'

    Without y it also clusters:

    >>> model = DependenceReduction(3, n_clusters=3, random_state=0).fit(X)
    >>> from gramian.metrics import normalized_mutual_info
    >>> normalized_mutual_info(y, model.labels_) > 0.84
    True
    """

    def __init__(
        self,
        n_components: int | None = 2,
        *,
        kernel: Kernel | str | Callable[[Any, Any], Any] = "rbf",
        mode: str = "auto",
        n_clusters: int | None = None,
        target: str = "auto",
        label_weight: float = 100.0,
        standardize: bool = True,
        whiten: bool = False,
        normalize: bool = False,
        init: str = "spectral",
        approximation: str | None = "auto",
        n_features: int = 512,
        n_init: int = 10,
        max_iter: int = 200,
        tol: float = 1e-6,
        random_state: RandomState = None,
        verbose: int = 0,
    ) -> None:
        self.n_components = n_components
        self.kernel = kernel
        self.mode = mode
        self.n_clusters = n_clusters
        self.target = target
        self.label_weight = label_weight
        self.standardize = standardize
        self.whiten = whiten
        self.normalize = normalize
        self.init = init
        self.approximation = approximation
        self.n_features = n_features
        self.n_init = n_init
        self.max_iter = max_iter
        self.tol = tol
        self.random_state = random_state
        self.verbose = verbose

    def fit(self, X: Any, y: Any = None) -> DependenceReduction:
        """Find the projection.

        Parameters
        ----------
        X : array-like (n, d)
            Of a Dask array or data frame the projection is found on 50,000 rows, drawn by number
            (``sample_indices_``), so that "auto" takes landmarks; ``transform(X)`` and, where there are
            clusters, ``labels_`` are Dask arrays of all rows, and all else is of the sample.
        y : array-like (n,) or (n, v), optional
            Labels or targets; −1 for an unknown label.

        Returns
        -------
        self : DependenceReduction
        """
        self._check_parameters()
        if is_distributed(X):
            return fit_to_sample(self, X, y, most=SAMPLE, answers={"labels_": "predict"})
        samples = X
        X = check_samples(self, X, dtype=[np.float64, np.float32], ensure_min_samples=2)
        dtype = X.dtype
        columns = ColumnScaling(X, standardize=bool(self.standardize), whiten=bool(self.whiten))
        X = columns.informative(X)
        n, d = X.shape
        mode, y = self._mode_of(y, n)
        q = check_n_components(self.n_components, d)
        k = check_count(self, "n_clusters", n, none_allowed=True)
        seed = int(generator(self.random_state).integers(2**31))
        kernel = self._unfitted_kernel()
        approximation = Approximation.of(self.approximation, self.n_features, kernel.fit(X), n, seed)
        if self.normalize and not has_degrees(kernel):
            raise ValueError(f"normalize=True needs a kernel that is never negative, not kernel={kernel!r}; use 'rbf'")
        turns: Alternation | None = None
        kind: str | None = None
        said: list[warnings.WarningMessage] = []
        if mode == "supervised":
            kind = self._target_kind(y)
            labels = target_weights(y, kind)
            # Several columns of labels are several groupings, each of which spans directions of its own.
            groupings = list(map(np.unique, y.reshape(n, -1).T)) if kind == "labels" else []
            spanned = sum(map(len, groupings)) - len(groupings)

            def project(count: int) -> ISMResult:
                return ism(
                    X, labels, kernel, count, init=self.init, tol=self.tol, max_iter=self.max_iter,
                    approximation=approximation.kind, n_features=approximation.n_features, random_state=seed,
                    verbose=self.verbose,
                )  # fmt: skip

            with warnings.catch_warnings(record=True) as said:
                warnings.simplefilter("always", UserWarning)  # they are to name the caller's line, not one of this file
                solution = self._components(q, spanned or 2, d, project, spanned)
        else:
            weights = self._cluster_weights(y)
            if k is None and mode == "semi":
                k = len(np.unique(y[y != -1]))
            first = clusters_of_all_columns(X, k, approximation)
            k = k or first.vectors.shape[1]

            def turn(count: int) -> Alternation:
                return alternate(
                    X, kernel, count, first.vectors, weights, k,
                    approximation=approximation, normalize=bool(self.normalize), init=self.init, max_iter=_TURNS,
                    verbose=self.verbose,
                )  # fmt: skip

            turns = self._components(q, k, d, turn, k - 1)
            solution = turns.solution
        self._keep(kernel, samples)
        self._keep_projection(solution, columns)
        self._keep_strengths(solution)
        self.mode_ = mode
        self.target_ = kind
        for stale in ("labels_", "embedding_", "n_clusters_", "cluster_centers_", "clusters_", "degree_roots_"):
            self.__dict__.pop(stale, None)
        if turns is not None and k is not None:
            self._keep_clusters(turns, k, seed, dtype)
            turns.warn_if_unsettled("use fewer components, or a wider kernel")
        for warning in said:
            warnings.warn(warning.message, stacklevel=2)
        return self

    # The steps of fit --------------------------------------------------------------------------------------

    def _check_parameters(self) -> None:
        check_choice(self, "mode", ("auto", "supervised", "unsupervised", "semi"))
        check_choice(self, "target", ("auto", "labels", "linear", "rbf"))
        check_choice(self, "whiten", (True, False))
        check_choice(self, "normalize", (True, False))
        check_real(self, "label_weight", least=0)
        self._check_solver_parameters()

    def _mode_of(self, y: Any, n: int) -> tuple[str, Array | None]:
        """The mode that the parameter and y say, and y as an array."""
        mode = self.mode
        if y is None or mode == "unsupervised":
            if mode in ("supervised", "semi"):
                raise ValueError(f"mode={mode!r} requires y to be passed, but the target y is None")
            return "unsupervised", None
        y = checked_target(y, n)
        if mode == "auto":
            mode = "semi" if self._target_kind(y) == "labels" and is_partial(y) else "supervised"
        whole = y.ndim == 1 and y.dtype.kind in "if" and not has_fractions(y)
        if mode == "semi" and not (whole and self.target in ("auto", "labels")):
            raise ValueError("mode='semi' needs y of whole numbers, one column, with -1 for unknown labels")
        return mode, y

    def _target_kind(self, y: Array) -> str:
        return target_kind(y) if self.target == "auto" else self.target

    def _cluster_weights(self, y: Array | None) -> ClusterWeights:
        return ClusterWeights(None if y is None else partial_weights(y), float(self.label_weight))

    def _components(self, q: int | None, start: int, d: int, solve: Callable[[int], Any], least: int) -> Any:
        """The solution with q components, or with as many as the gap of a first one says, but at least ``least``."""
        if q is not None:
            return solve(q)
        start = max(1, min(start, d - 1))
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", UserWarning)  # the first number of components may be too large
            first = solve(start)
        seen = getattr(first, "solution", first)
        if seen is not first:  # clusters are not given: a direction of negative eigenvalue would blur them
            least = min(least, int((seen.spectrum > 0).sum()))
        least = min(least, max(1, d - 1))
        count = min(max(suggest_n_components(seen), least), d)
        return first if count == start else solve(count)

    def _keep_strengths(self, solution: ISMResult) -> None:
        self.eigenvalues_, self.eigengaps_ = solution.eigenvalues, -np.diff(solution.spectrum)
        self.objective_, self.objective_path_ = solution.objective, solution.objective_path
        self.n_iter_, self.converged_ = solution.n_iter, solution.converged
        self.level_shift_ = solution.level_shift
        self.projector_diag_ = (np.linalg.qr(self.components_.T)[0] ** 2).sum(axis=1)
        strength = np.sqrt(np.maximum(self.eigenvalues_, 0) @ self.components_**2)
        strength = strength if strength.any() else np.sqrt(self.projector_diag_)
        self.feature_importances_ = strength / strength.sum()

    def _keep_clusters(self, turns: Alternation, k: int, seed: int, dtype: Any) -> None:
        self.clusters_ = ClustersForNewRows(turns, k, int(self.n_init), seed)
        self.labels_, self.cluster_centers_ = self.clusters_.labels, self.clusters_.centers
        self.n_clusters_ = len(self.cluster_centers_)
        self.embedding_ = turns.clusters.vectors.astype(dtype)
        self.degree_roots_ = turns.clusters.roots
        self.objective_, self.objective_path_ = turns.objective, turns.objective_path
        self.n_iter_, self.converged_ = turns.n_iter, turns.converged

    # Answers -----------------------------------------------------------------------------------------------

    def inverse_transform(self, Z: Any) -> Array:
        """The rows inside the projection's subspace that have the coordinates Z.

        Parameters
        ----------
        Z : array-like (n_new, n_components_)

        Returns
        -------
        X : ndarray (n_new, d)
        """
        check_is_fitted(self, "components_")
        Z = check_array(Z, dtype=[np.float64, np.float32], input_name="Z")
        if Z.shape[1] != self.n_components_:
            raise ValueError(f"Z has {Z.shape[1]} columns but the model has n_components_={self.n_components_}")
        lifted = self.columns_.lifted(self.solution_.components)
        return ((Z @ lifted) * self.scale_ + self.mean_).astype(Z.dtype, copy=False)

    @available_if(lambda self: self.mode != "supervised" and getattr(self, "mode_", "") != "supervised")
    @in_parts
    def predict(self, X: Any) -> Array:
        """The cluster of each new row; not in supervised mode.

        Parameters
        ----------
        X : array-like (n_new, d)

        Returns
        -------
        labels : ndarray (n_new,)
        """
        check_is_fitted(self, "clusters_")
        return self.clusters_.predict(self._projected(X))

    def score(self, X: Any, y: Any = None) -> float:
        """HSIC of the projection with y, or with the predicted clusters where y is not given.

        Comparable between projections under the same kernel and width only. Where y is constant, as in a small fold,
        it is 0.

        Parameters
        ----------
        X : array-like (n, d), at least two rows
        y : array-like (n,) or (n, v), optional

        Returns
        -------
        score : float
        """
        check_is_fitted(self, "components_")
        rows = self._projected(X)
        if len(rows) < 2:
            raise ValueError("X has n_samples=1; a score needs at least 2")
        if y is None:
            if self.mode_ == "supervised":
                raise ValueError("y=None, but a model that was fitted with labels is scored with labels; pass y")
            weights = PairWeights.of_labels(self.clusters_.predict(rows))
        else:
            y = checked_target(y, len(rows))
            told = y[y != UNKNOWN] if self.mode_ == "semi" else y
            if len(np.unique(told, axis=0)) < 2:
                return 0.0
            # A fold has fewer rows of a value than fit had, so it may read otherwise.
            kind = self.target_ or self._target_kind(y)
            weights = partial_weights(y) if self.mode_ == "semi" else target_weights(y, kind)
        approximation = Approximation.of(self.approximation, self.n_features, self.kernel_, len(rows), 0)
        gram = approximation.fitted(projected_kernel(self.kernel_), rows).gram(rows)
        return weights.agreement(gram) / (len(rows) - 1) ** 2

    def second_order(self, X: Any, y: Any = None) -> SecondOrder:
        """Whether the projection is a local maximum, by the curvature of the objective.

        Parameters
        ----------
        X, y : as passed to ``fit``
            They are not kept.

        Returns
        -------
        certificate : SecondOrder
        """
        check_is_fitted(self, "components_")
        X = self.columns_.informative(self._check_new(X))
        mode, y = self._mode_of(y, len(X))
        if mode != self.mode_:
            raise ValueError(
                f"this y asks for mode {mode!r}, but the model was fitted in mode {self.mode_!r}; pass X and y of fit"
            )
        if y is not None and mode == "supervised":
            weights = target_weights(y, self._target_kind(y))
        else:
            weights = self._cluster_weights(y)(self.embedding_, self.degree_roots_)
        return second_order(X, weights, self.kernel_, self.solution_)

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.target_tags.required = isinstance(self.mode, str) and self.mode in ("supervised", "semi")
        return tags
