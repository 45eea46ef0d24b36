"""A classifier of kernel layers trained one after another by their dependence on the labels, without gradients."""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from dataclasses import replace
from numbers import Integral, Real
from typing import Any, Literal, NamedTuple

import numpy as np
from scipy.special import softmax
from sklearn.base import ClassifierMixin, ClassNamePrefixFeaturesOutMixin, TransformerMixin
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils.validation import check_consistent_length, check_is_fitted, column_or_1d, validate_data

from gramian.checks import check_choice, check_real, check_whole, remember_columns
from gramian.configuration import require_memory
from gramian.dependence.network._labelled_samples import (
    all_equal,
    check_classes,
    count_contradictions,
    renumbered,
    scaled,
    telling_rows,
)
from gramian.dependence.network._layer_diagnostics import LayerReport, report_table
from gramian.dependence.network._network_layers import (
    FEATURE_MAPS,
    NetworkLayer,
    Projection,
    fit_feature_map,
    input_components,
    layer_report,
    objective_components,
    solve_projection,
)
from gramian.dependence.network._network_output import class_means, closeness, forward, temperature
from gramian.dependence.network.label_bandwidth import (
    LABEL_KERNELS,
    SEARCHES,
    Criterion,
    FoundWidth,
    LabelKernel,
    Search,
    best_width,
)
from gramian.dependence.projection._estimator import ColumnScaling
from gramian.dependence.projection.weights import PairWeights
from gramian.diagram import Estimator
from gramian.kernels import resolve_width
from gramian.partitions import DistributedAnswers
from gramian.progress import steps
from gramian.randomness import spawn
from gramian.typing import Array, Matrix, RandomState

_WIDTH_ROWS = 1000  # the curve of the width search is smooth: this many rows place its maximum within a few per cent
_SMALLEST, _LARGEST = 1e-150, 1e150  # entries whose squares are numbers, and not zero
_SPACES = ("features", "projection")
_SHRINK, _RISE = (0.7, 0.5, 0.35), 1e-6  # of the width, where H/H* must rise; and what counts as a rise


class _Trained(NamedTuple):
    """A layer, what it achieves, and how its width and projection were found."""

    layer: NetworkLayer
    report: LayerReport
    width: FoundWidth
    projection: Projection


class DependenceNetwork(
    ClassNamePrefixFeaturesOutMixin, ClassifierMixin, TransformerMixin, DistributedAnswers, Estimator
):
    """Classify by a stack of kernel layers, each trained by itself to depend as much as possible on the labels (KDN).

    Layer l projects its input R onto orthonormal columns W, z = Wᵀr, and hands on features φ(z) of the Gaussian kernel
    k(z, z') = exp(−‖z − z'‖² / (2 width²)). W maximises H = Tr(Γ K), the HSIC of the layer with the labels, where
    Γ = H Y Yᵀ H; it is found by a few eigendecompositions (ISM), there is no back-propagation. Layers are added until
    the normalised H reaches ``threshold``. A new sample takes the class whose mean is nearest in the last layer.

    What it is for: to watch how classes come apart, layer by layer (``summary``, ``kernel_sequence``). As a classifier
    it equals logistic regression or an SVM on easy tables and is below them on harder ones. It fits any labels of
    distinct rows, random ones too, so a perfect fit says nothing about new samples.

    Parameters
    ----------
    n_features : int, default 300
        Features that stand for a layer's kernel in the next layer.
    spectrum_kept : float, default 0.9
        Share of the spectrum that decides the number of components.
    n_components : {"input_spectrum", "objective_spectrum"} or int, default "input_spectrum"
        Columns of W. As many as make up ``spectrum_kept`` of the singular values of the layer's input, at least two
        per class; or of the positive eigenvalues of the objective's matrix; or a number.
    feature_map : {"fourier", "orthogonal", "exact", "nystroem"}, default "fourier"
        Random waves, waves orthogonal to each other, the kernel itself (memory n², time n³), or landmarks, which follow
        the kernel better than as many waves: on digits H then keeps rising where 300 waves make it fall again.
    width : {"hsic", "separation", "median"}, float or sequence of float, default "hsic"
        Of the kernels: what :func:`gramian.dependence.label_width` finds for the layer's input by one of its
        criteria, the median distance, one number for all layers, or one for each (which then limit the depth).
    width_search : {"global", "local", "plateau"}, default "global"
        See :func:`gramian.dependence.label_width`. The published networks climb from the median ("local"); on labels
        without meaning that sometimes stops at a width that is too large.
    label_kernel : {"onehot", "balanced"}, default "onehot"
        "balanced" divides Γ by the class sizes. With three or more classes of very unequal sizes "onehot" is better
        served by merging small classes; ``fit`` warns where that is so.
    threshold : float, default 0.99
        Stop at this normalised HSIC.
    max_layers : int, default 15
    patience, min_gain : int and float, default 2 and 1e-3
        Stop when so many layers in a row did not raise the best normalised HSIC by ``min_gain``.
    prune : bool, default False
        Drop the layers after the one with the highest normalised HSIC.
    enforce_monotone : bool, default False
        Where H does not rise, try smaller widths; stop if none helps.
    decision_space : {"features", "projection"}, default "features"
        Where class means are compared: φ(z) or z of the last layer.
    standardize : bool, default True
        Centre and scale the columns of X.
    max_samples : int or None, default 4000
        Most rows, drawn in proportion to the classes, on which layers are trained and judged: that compares pairs,
        time n². The others count in the scaling and in the class means. None, and ``feature_map="exact"``, takes all.
        A class gives two rows at least, so there may be up to twice as many; where that is not enough, the smallest
        classes have no part in the layers, only a mean.
    tol, max_iter : float and int, default 0.01 and 200
        Relative change of the eigenvalues at which a layer's solver stops, and its most steps.
    random_state : int, Generator, RandomState or None, default None
        For features and drawn rows.
    verbose : int, default 0

    Attributes
    ----------
    classes_ : ndarray (k,)
    layers_ : list of NetworkLayer
        Each with ``components``, ``width`` and ``feature_map``.
    n_layers_ : int
    n_components_, widths_ : ndarray (n_layers_,)
        Of the layers.
    report_ : list of LayerReport
        H, H/H*, normalised HSIC, scatter and cosine ratios of each layer; :meth:`summary` prints them.
    class_means_ : ndarray (k, m)
        In the decision space of the last layer.
    temperature_ : float
        Of the probabilities: fitted on the training data, with targets held off 0 and 1 as in Platt's method.
    n_iter_ : int
        Most steps that the solver took for a layer.
    scaler_ : ColumnScaling or None
        Its ``mean`` and ``scale`` are taken from and divided out of the columns that vary.

    References
    ----------
    Wu (2020). Learning representations via kernel dependence measure. Thesis, Northeastern University, chapter 6.

    Wu, Masoomi, Gretton, Dy (2022). Deep layer-wise networks have closed-form weights. AISTATS.

    Examples
    --------
    >>> from sklearn.datasets import load_wine
    >>> X, y = load_wine(return_X_y=True)
    >>> network = DependenceNetwork(random_state=0).fit(X[::2], y[::2])
    >>> bool(network.score(X[1::2], y[1::2]) > 0.9)
    True
    >>> print(network.summary().splitlines()[0])
    layer    width  components         H    H/H*   align       T       C  steps
    >>> bool(network.report_[-1].relative_hsic > network.report_[0].relative_hsic)
    True
    """

    def __init__(
        self,
        *,
        n_features: int = 300,
        spectrum_kept: float = 0.90,
        n_components: int | str = "input_spectrum",
        feature_map: str = "fourier",
        width: float | Criterion | Literal["median"] | Sequence[float] = "hsic",
        width_search: Search = "global",
        label_kernel: LabelKernel = "onehot",
        threshold: float = 0.99,
        max_layers: int = 15,
        patience: int = 2,
        min_gain: float = 1e-3,
        prune: bool = False,
        enforce_monotone: bool = False,
        decision_space: str = "features",
        standardize: bool = True,
        max_samples: int | None = 4000,
        tol: float = 0.01,
        max_iter: int = 200,
        random_state: RandomState = None,
        verbose: int = 0,
    ) -> None:
        self.n_features = n_features
        self.spectrum_kept = spectrum_kept
        self.n_components = n_components
        self.feature_map = feature_map
        self.width = width
        self.width_search = width_search
        self.label_kernel = label_kernel
        self.threshold = threshold
        self.max_layers = max_layers
        self.patience = patience
        self.min_gain = min_gain
        self.prune = prune
        self.enforce_monotone = enforce_monotone
        self.decision_space = decision_space
        self.standardize = standardize
        self.max_samples = max_samples
        self.tol = tol
        self.max_iter = max_iter
        self.random_state = random_state
        self.verbose = verbose

    def fit(self, X: Matrix, y: Any) -> DependenceNetwork:
        """Train the layers, then place the class means.

        Parameters
        ----------
        X : array-like (n, d)
        y : array-like (n,)
            Classes, of any type.

        Returns
        -------
        self : DependenceNetwork
        """
        self._check_parameters()
        samples = X
        X, classes, codes = check_classes(self, X, y)
        if all_equal(X):
            raise ValueError("all rows of X are equal, so nothing tells classes apart; check X")
        scaler = ColumnScaling(X, standardize=True) if self.standardize else None
        row_rng, *layer_rngs = spawn(self.random_state, 1 + int(self.max_layers))
        rows = telling_rows(X, codes, None if self.feature_map == "exact" else self.max_samples, row_rng)
        trained = self._train(scaled(scaler, X[rows]), renumbered(codes[rows]), layer_rngs)
        if self.prune:
            trained = trained[: 1 + int(np.argmax([one.report.alignment for one in trained]))]
        layers = [one.layer for one in trained]
        means = class_means(X, codes, scaler, layers, self.decision_space)
        known = np.vstack([closeness(part, means) for part in forward(X[rows], scaler, layers, self.decision_space)])
        self.classes_, self.scaler_, self.layers_ = classes, scaler, layers
        self.report_ = [one.report for one in trained]
        self.n_layers_ = len(layers)
        self.n_components_ = np.array([len(layer.components) for layer in layers])
        self.widths_ = np.array([layer.width for layer in layers])
        self.class_means_ = means
        self.temperature_ = temperature(known, codes[rows])
        self.n_iter_ = max(1, *(report.n_iter for report in self.report_))
        remember_columns(self, samples)
        self._warn_about_labels(X, codes)
        self._warn_about_training(trained)
        return self

    # The steps of fit --------------------------------------------------------------------------------------

    def _train(self, R: Array, codes: Array, rngs: list[np.random.Generator]) -> list[_Trained]:
        """Layers on checked and scaled rows, until the labels are reached or nothing more is gained."""
        largest = float(np.abs(R).max())
        if not _SMALLEST < largest < _LARGEST:
            raise ValueError(f"X has entries of {largest:.0e}, whose squares are out of range; pass standardize=True")
        weights = PairWeights.of_labels(codes, balanced=self.label_kernel == "balanced")
        trained: list[_Trained] = []
        given = self._given_widths()
        depth = int(self.max_layers) if given is None else len(given)
        with steps("Training layers", total=depth, verbose=int(self.verbose)) as advance:
            for place in range(depth):
                rng = rngs[place]
                width = self._find_width(R, codes, rng) if given is None else FoundWidth(given[place], on_bound=False)
                if width is None:
                    break
                reached = trained[-1].report.relative_hsic if trained else -np.inf
                one = self._next_layer(R, codes, weights, width, int(rng.integers(2**31)), reached)
                if one is None:
                    break
                trained.append(one)
                R = one.layer.features(one.layer.project(R))
                advance()
                if self._is_done([one.report.alignment for one in trained]):
                    break
        if not trained:
            raise ValueError(
                "no two of the compared rows of X differ, so no width is found; check X, or pass max_samples=None"
            )
        return trained

    def _next_layer(
        self, R: Array, codes: Array, weights: PairWeights, width: FoundWidth, seed: int, reached: float
    ) -> _Trained | None:
        """The layer of a width or, where H must rise above what is reached, of smaller ones; None if it does not."""
        one = self._fit_layer(R, codes, weights, width, seed)
        if not self.enforce_monotone:
            return one
        for shrink in _SHRINK:
            if one.report.relative_hsic > reached + _RISE:
                return one
            one = self._fit_layer(R, codes, weights, replace(width, width=shrink * width.width), seed)
        return one if one.report.relative_hsic > reached + _RISE else None

    def _find_width(self, R: Array, codes: Array, rng: np.random.Generator) -> FoundWidth | None:
        """The width of the next layer's kernel, from its input; None if all rows are equal."""
        rows = telling_rows(R, codes, _WIDTH_ROWS, rng)
        if self.width == "separation" or self.width == "hsic":
            return best_width(R[rows], renumbered(codes[rows]), self.width, self.width_search, self.label_kernel)
        return None if all_equal(R[rows]) else FoundWidth(resolve_width("median", R[rows]), on_bound=False)

    def _given_widths(self) -> list[float] | None:
        """The widths of the layers where the parameter has numbers, at most ``max_layers``; None for a rule."""
        if isinstance(self.width, str):
            return None
        widths = [float(width) for width in np.ravel(np.asarray(self.width, float))]
        return (widths * int(self.max_layers) if np.ndim(self.width) == 0 else widths)[: int(self.max_layers)]

    def _fit_layer(self, R: Array, codes: Array, weights: PairWeights, width: FoundWidth, seed: int) -> _Trained:
        """Number of components, projection and feature map at a width, and what they achieve on these rows."""
        sigma = width.width
        solver: dict[str, Any] = {"tol": float(self.tol), "max_iter": int(self.max_iter), "seed": seed}
        if isinstance(self.n_components, str):
            q = input_components(R, float(self.spectrum_kept), int(codes.max()) + 1)
        else:
            q = min(int(self.n_components), R.shape[1])
        found = solve_projection(R, weights, sigma, q, **solver)
        if self.n_components == "objective_spectrum":
            q = objective_components(R, weights, sigma, found, float(self.spectrum_kept))
            found = solve_projection(R, weights, sigma, q, init=np.ascontiguousarray(found.components[:q].T), **solver)
        Z = R @ found.components.T
        feature_map = fit_feature_map(self.feature_map, Z, sigma, int(self.n_features), seed)
        layer = NetworkLayer(found.components, sigma, feature_map)
        return _Trained(layer, layer_report(layer, Z, codes, self.label_kernel, found.n_iter), width, found)

    def _is_done(self, alignments: list[float]) -> bool:
        """Whether the labels are reached, or the last layers have brought nothing."""
        patience = int(self.patience)
        if alignments[-1] > self.threshold:
            return True
        if len(alignments) < patience + 2:
            return False
        return max(alignments[-patience:]) < max(alignments[:-patience]) + self.min_gain

    # Checks ------------------------------------------------------------------------------------------------

    def _check_parameters(self) -> None:
        check_whole(self, "n_features", "max_layers", "patience", "max_iter")
        if self.max_samples is not None:
            check_whole(self, "max_samples", least=2)
        for name in ("spectrum_kept", "threshold"):
            if not 0 < check_real(self, name, above=0) <= 1:
                raise ValueError(f"{name}={getattr(self, name)!r} must lie in (0, 1]")
        check_real(self, "min_gain", least=0)
        check_real(self, "tol", above=0)
        check_real(self, "verbose", least=0)
        check_choice(self, "feature_map", FEATURE_MAPS)
        check_choice(self, "width_search", SEARCHES)
        check_choice(self, "label_kernel", LABEL_KERNELS)
        check_choice(self, "decision_space", _SPACES)
        for name in ("prune", "enforce_monotone", "standardize"):
            check_choice(self, name, (True, False))
        if isinstance(self.n_components, str):
            check_choice(self, "n_components", ("input_spectrum", "objective_spectrum"))
        elif not isinstance(self.n_components, Integral) or isinstance(self.n_components, bool):
            raise ValueError(
                f"n_components={self.n_components!r} must be a whole number >= 1, 'input_spectrum' or "
                "'objective_spectrum'"
            )
        else:
            check_whole(self, "n_components")
        self._check_width()

    def _check_width(self) -> None:
        if isinstance(self.width, str):
            check_choice(self, "width", ("hsic", "separation", "median"))
            return
        widths = np.atleast_1d(np.asarray(self.width, dtype=object))
        good = [
            isinstance(width, Real) and not isinstance(width, bool) and 1e-150 < float(width) < 1e150
            for width in widths
        ]
        if not good or not all(good):
            raise ValueError(
                f"width={self.width!r} must be 'hsic', 'separation', 'median', a positive number or one per layer"
            )

    def _warn_about_labels(self, X: Array, codes: Array) -> None:
        counts = np.bincount(codes)
        if self.label_kernel == "onehot" and len(counts) > 2:
            shares = np.sort(counts) / counts.sum()
            if shares @ shares > shares[0] + shares[1]:  # the largest entry of the label kernel between two classes
                warnings.warn(
                    f"the class sizes {counts.min()} to {counts.max()} are so unequal that merging small classes "
                    "raises the dependence; pass label_kernel='balanced'",
                    UserWarning,
                    stacklevel=3,
                )
        contradicted = count_contradictions(X, codes)
        if contradicted:
            warnings.warn(
                f"{contradicted} rows of X equal a row of another class, so no kernel fits y; "
                "drop them or give them one class",
                UserWarning,
                stacklevel=3,
            )

    def _warn_about_training(self, trained: list[_Trained]) -> None:
        if trained[0].width.on_bound:
            warnings.warn(
                "the width of the first layer lies on the bound of its search: y does not follow the distances between "
                "rows of X, and the fit may be of no use for new ones",
                UserWarning,
                stacklevel=3,
            )
        places = [str(place) for place, one in enumerate(trained, start=1) if not one.projection.converged]
        if places:
            warnings.warn(
                f"the solver of layer {', '.join(places)} stopped at max_iter={self.max_iter}; raise max_iter or tol",
                ConvergenceWarning,
                stacklevel=3,
            )

    # Answers -----------------------------------------------------------------------------------------------

    def transform(self, X: Matrix, layer: int = -1, space: str | None = None) -> Array:
        """The output of a layer.

        Parameters
        ----------
        X : array-like (n, d)
        layer : int, default -1
            0 is the first, -1 the last. With ``set_output`` only the last can be named.
        space : {"features", "projection"}, optional
            φ(z) or z; by default the decision space.

        Returns
        -------
        output : ndarray (n, m) or (n, n_components_[layer])
        """
        check_is_fitted(self, "layers_")
        space = self.decision_space if space is None else space
        if space not in _SPACES:
            raise ValueError(f"space={space!r} is not known; pass one of {', '.join(map(repr, _SPACES))}")
        if not isinstance(layer, Integral) or not -self.n_layers_ <= layer < self.n_layers_:
            raise ValueError(
                f"layer={layer!r} is not one of the n_layers_={self.n_layers_}; pass 0 to {self.n_layers_ - 1}"
            )
        X = self._check_new(X)
        upto = self.layers_[: int(layer) % self.n_layers_ + 1]
        return np.vstack(list(forward(X, self.scaler_, upto, space))).astype(X.dtype, copy=False)

    def decision_function(self, X: Matrix) -> Array:
        """Negative squared distances to the class means; for two classes their difference, positive for the second.

        Parameters
        ----------
        X : array-like (n, d)

        Returns
        -------
        scores : ndarray (n, k) or (n,)
        """
        scores = self._scores(X)
        return scores[:, 1] - scores[:, 0] if scores.shape[1] == 2 else scores

    def predict(self, X: Matrix) -> Array:
        """The class whose mean is nearest; of equally near ones the first.

        Parameters
        ----------
        X : array-like (n, d)

        Returns
        -------
        y : ndarray (n,)
        """
        scores = self._scores(X)
        return self.classes_[scores.argmax(axis=1)]

    def predict_proba(self, X: Matrix) -> Array:
        """Softmax of the negative squared distances over ``temperature_``.

        The temperature fits the training data, which a deep network knows by heart: do not take the values for
        frequencies on new samples.

        Parameters
        ----------
        X : array-like (n, d)

        Returns
        -------
        probabilities : ndarray (n, k)
        """
        return softmax(self._scores(X) / self.temperature_, axis=1)

    def kernel_sequence(self, X: Matrix, y: Any = None) -> list[Array]:
        """The Gaussian kernel matrix of every layer, which turns into one block per class.

        Parameters
        ----------
        X : array-like (n, d)
        y : array-like (n,), optional
            Sort rows and columns by these labels.

        Returns
        -------
        kernels : list of ndarray (n, n)
        """
        check_is_fitted(self, "layers_")
        X = self._check_new(X)
        if y is not None:
            labels = column_or_1d(y)
            check_consistent_length(X, labels)
            X = X[np.argsort(labels, kind="stable")]
        kernels = []
        R = scaled(self.scaler_, X)
        for layer in self.layers_:
            Z = layer.project(R)
            kernels.append(layer.kernel()(Z))
            R = layer.features(Z)
        return kernels

    def summary(self) -> str:
        """The report as a table: width, components, H, H/H*, normalised HSIC, T, C and solver steps of each layer."""
        check_is_fitted(self, "layers_")
        return report_table(self.report_)

    def _scores(self, X: Matrix) -> Array:
        check_is_fitted(self, "layers_")
        X = self._check_new(X)
        n, k = len(X), len(self.classes_)
        require_memory(8.0 * n * k, f"the scores of {n} rows for {k} classes", "pass fewer rows at a time")
        parts = forward(X, self.scaler_, self.layers_, self.decision_space)
        return np.vstack([closeness(part, self.class_means_) for part in parts])

    def _check_new(self, X: Matrix) -> Array:
        return validate_data(self, X, reset=False, dtype=[np.float64, np.float32], order="C")

    @property
    def _n_features_out(self) -> int:
        return int(self.class_means_.shape[1])

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.transformer_tags.preserves_dtype = ["float64", "float32"]
        return tags
