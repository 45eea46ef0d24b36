"""Alternative clustering: a good clustering that differs from the known ones (KDAC)."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from itertools import product
from typing import Any, NamedTuple

import numpy as np
from sklearn.base import ClusterMixin, clone
from sklearn.metrics import normalized_mutual_info_score

from gramian.checks import check_count, check_real, check_samples
from gramian.dependence.projection._alternating import (
    Alternation,
    ClustersForNewRows,
    RelaxedClusters,
    alternate,
    clusters_of_all_columns,
)
from gramian.dependence.projection._estimator import (
    Approximation,
    ColumnScaling,
    Projector,
    check_n_components,
    has_degrees,
)
from gramian.dependence.projection.weights import PairWeights, checked_target, embedding_weights, has_fractions
from gramian.kernels import RBF, Kernel, NeighborGraph, resolve_width
from gramian.randomness import generator
from gramian.typing import Array, RandomState

__all__ = ["AlternativeClustering", "alternative_search"]

_WIDTHS = (0.5, 0.2, 0.1, 0.05)  # of the median distance, from which kernel="auto" chooses
_TRIAL_ROWS, _TRIAL_TURNS = 300, 1  # of the first round, which all settings enter
_FINAL_ROWS, _FINALISTS = 1000, 2  # of the second
_CLEAR = 0.95  # a merit that needs no other start and no other finalist
_NEIGHBORS = 10  # of the graph whose clusters are one start


class AlternativeClustering(ClusterMixin, Projector):
    """Find a good clustering that differs from those already known.

    With the known labels Y, clusters U (UᵀU = I) and a projection W (WᵀW = I), maximises

        Tr(Uᵀ Q U) − novelty · Tr(Yᵀ Q Y),   Q = H D^-½ K D^-½ H,   K_ij = k(Wᵀx_i, Wᵀx_j),   D = diag(K 1):

    the projection is to show clusters, and as little as possible of the known ones. W and U are found in turns; the
    labels are k-means on U. Kernels that may be negative go without D.

    What is left open of width, ``novelty`` and ``n_components`` is chosen together. All settings get one turn on at
    most 300 rows, the best two all turns on at most 1000, and the one whose clusters are the clearest and least like
    the known ones (``separation_`` less the part of U that known labels explain) is taken. These turns start from
    spectral clusters of what is left of the columns when the means of the known clusters are projected out: of its
    neighbour graph, and, where no setting is clear, under a Gaussian kernel. Where all three are given there is one
    run, which starts from the clusters of all columns as published.

    Parameters
    ----------
    n_clusters : int, default 2
        Of the alternative; need not be the number of known clusters.
    kernel : Kernel or str, default "auto"
        "auto" is RBF of 50, 20, 10 or 5 % of the median distance. Kernels as in
        :class:`gramian.DependenceReduction`.
    novelty : float, "auto" or "balance", default "auto"
        How much likeness to the known clusters costs. Columns of Y are as long as the root of a cluster's size, those
        of U of length one, so the number of known clusters over n weighs both alike; 1 forbids even likeness by
        chance. "auto" chooses 1/n or 0.1. "balance" makes both terms equal under all columns.
    n_components : int or None, default None
        Columns of the projection. None chooses ``n_clusters`` or one less.
    standardize : bool, default True
        Scale columns to unit variance; they are always centred, and constant ones get no weight.
    init : {"spectral", "random"}, default "spectral"
        The first projection.
    approximation : {"auto", None, "nystroem", "fourier"}, default "auto"
        "auto" sums over all pairs up to 20,000 samples and uses ``n_features`` landmarks beyond, at a cost linear in
        n. Landmarks cannot resolve a width much smaller than their distance.
    n_features : int, default 512
    n_init : int, default 10
        Starts of k-means.
    max_iter : int, default 20
        Turns.
    tol : float, default 1e-3
        Sine of the largest angle between successive subspaces, of W and of U, at which the turns end.
    random_state : int, Generator or None, default None
    verbose : int, default 0

    Attributes
    ----------
    labels_ : ndarray (n,)
        The alternative.
    components_ : ndarray (n_components_, d)
        Wᵀ: signed weights of the scaled columns.
    embedding_ : ndarray (n, n_clusters)
        U.
    degrees_ : ndarray (n,) or None
        The diagonal of D.
    quality_ : float
        Tr(Uᵀ Q U), from 0 to n_clusters with degrees.
    novelty_ : float or ndarray (v,)
        Normalised mutual information (geometric) of the alternative and each known labelling; 0 is new. 0 if none.
    novelty_hsic_ : float
        Tr(Yᵀ Q Y): what the projection still shows of the known clusters.
    cost_ : float
        novelty · novelty_hsic_ − quality_, what was minimised.
    separation_ : float
        How clearly the clusters stand apart in the projection, from 0 to 1: 1 − (1 − λ_{k−1}) / (1 − λ_k) of the
        eigenvalues of Q; 0 for one cluster. It is no test: the projection was chosen to show clusters, and under a
        narrow kernel noise in a few columns reaches 0.9 too. Nor does it say that the clusters are new
        (``novelty_``), true to some grouping, or as many as there are. Values under different kernels compare only
        roughly.
    novelty_weight_ : float
        ``novelty``, or what "auto" chose or "balance" made of it.
    eigenvalues_ : ndarray (n_clusters,)
        Of Q.
    cluster_centers_ : ndarray
        Among rows of U of unit length.
    mean_, scale_ : ndarray (d,)
        Taken from and divided out of the columns.
    objective_path_ : ndarray
        −cost after every turn.
    n_iter_ : int
    converged_ : bool
    stationarity_ : float
        Residual of the last projection, zero at a stationary point.
    n_clusters_, n_components_ : int
    kernel_ : Kernel

    References
    ----------
    Wu, Ioannidis, Sznaier, Li, Kaeli, Dy (2018). Iterative spectral method for alternative clustering. AISTATS.

    Niu, Dy, Jordan (2014). Iterative discovery of multiple alternative clustering views. IEEE TPAMI.

    Examples
    --------
    >>> from gramian import AlternativeClustering
    >>> from gramian.datasets import make_moon_views
    >>> from gramian.metrics import normalized_mutual_info
    >>> X, known, hidden = make_moon_views(200, random_state=0)
    >>> model = AlternativeClustering(2, random_state=0).fit(X, known)
    >>> round(normalized_mutual_info(hidden, model.labels_), 2), round(model.novelty_, 2)
    (1.0, 0.0)

    For a third view, pass what is known by now as columns:

    >>> import numpy as np
    >>> third = AlternativeClustering(2, kernel="rbf", random_state=0)
    >>> third.fit(X, np.column_stack([known, model.labels_])).novelty_.shape
    (2,)
    """

    def __init__(
        self,
        n_clusters: int = 2,
        *,
        kernel: Kernel | str | Callable[[Any, Any], Any] = "auto",
        novelty: float | str = "auto",
        n_components: int | None = None,
        standardize: bool = True,
        init: str = "spectral",
        approximation: str | None = "auto",
        n_features: int = 512,
        n_init: int = 10,
        max_iter: int = 20,
        tol: float = 1e-3,
        random_state: RandomState = None,
        verbose: int = 0,
    ) -> None:
        self.n_clusters = n_clusters
        self.kernel = kernel
        self.novelty = novelty
        self.n_components = n_components
        self.standardize = standardize
        self.init = init
        self.approximation = approximation
        self.n_features = n_features
        self.n_init = n_init
        self.max_iter = max_iter
        self.tol = tol
        self.random_state = random_state
        self.verbose = verbose

    def fit(self, X: Any, y: Any = None) -> AlternativeClustering:
        """Cluster X otherwise than y.

        Parameters
        ----------
        X : array-like (n, d)
        y : array-like (n,) or (n, v), optional
            Known labels, or several labellings as columns. None: nothing is known, and the result is a clustering in
            a projection of its own.

        Returns
        -------
        self : AlternativeClustering
        """
        self._check_parameters()
        samples = X
        X = check_samples(self, X, dtype=[np.float64, np.float32], ensure_min_samples=2)
        dtype = X.dtype
        columns = ColumnScaling(X, standardize=bool(self.standardize))
        X = columns.informative(X)
        n, d = X.shape
        k = check_count(self, "n_clusters", n)
        assert k is not None
        known = None if y is None else _labellings(y, n)
        if known is not None and n < 3:
            raise ValueError(f"X has n_samples={n}; an alternative to y needs at least 3")
        if known is not None and not (known != known[0]).any():
            warnings.warn("y has only one cluster, so it does not restrict the alternative", UserWarning, stacklevel=2)
        q = check_n_components(self.n_components, d)
        seed = int(generator(self.random_state).integers(2**31))
        kernel, turns, weight = _Problem(self, known, k, seed).solve(X, self._kernels(X), self._sizes(q, k, d))
        clusters = ClustersForNewRows(turns, k, int(self.n_init), seed)
        self._keep(kernel, samples)
        self._keep_projection(turns.solution, columns)
        self.clusters_ = clusters
        self.labels_, self.cluster_centers_ = clusters.labels, clusters.centers
        self.n_clusters_ = len(clusters.centers)
        self.embedding_ = turns.clusters.vectors.astype(dtype)
        self.eigenvalues_ = turns.clusters.values
        self.degrees_ = None if turns.clusters.roots is None else turns.clusters.roots**2
        self.objective_path_, self.n_iter_, self.converged_ = turns.objective_path, turns.n_iter, turns.converged
        self.separation_ = turns.clusters.separation
        self.novelty_weight_ = weight
        self.quality_ = float(turns.clusters.values.sum())
        self.novelty_hsic_ = _shown(turns, known)
        self.cost_ = weight * self.novelty_hsic_ - self.quality_
        self.novelty_ = _likeness(self.labels_, known)
        turns.warn_if_unsettled("raise max_iter, or use a wider kernel")
        return self

    def _check_parameters(self) -> None:
        self._check_solver_parameters()
        if isinstance(self.novelty, str):
            if self.novelty not in ("auto", "balance"):
                raise ValueError(f"novelty={self.novelty!r} is not known; pass a number >= 0, 'auto' or 'balance'")
        else:
            check_real(self, "novelty", least=0)

    def _kernels(self, X: Array) -> list[Kernel]:
        """The fitted kernels to choose from, the widest first."""
        if not _is_auto(self.kernel):
            return [self._unfitted_kernel().fit(X)]
        median = resolve_width("median", X)
        return [RBF(part * median).fit(X) for part in _WIDTHS]

    def _sizes(self, q: int | None, k: int, d: int) -> list[int]:
        """The numbers of components to choose from."""
        return [q] if q is not None else sorted({min(max(1, k - 1), d), min(k, d)})

    def _unfitted_kernel(self, n_samples: int = 0) -> Kernel:
        return RBF() if _is_auto(self.kernel) else super()._unfitted_kernel(n_samples)

    # Answers -----------------------------------------------------------------------------------------------

    def predict(self, X: Any) -> Array:
        """The alternative cluster of each new row.

        Parameters
        ----------
        X : array-like (n_new, d)

        Returns
        -------
        labels : ndarray (n_new,)
        """
        rows = self._projected(X)  # first: it refuses a model that was not fitted
        return self.clusters_.predict(rows)

    def is_outlier(self, X: Any) -> Array:
        """Which new rows are similar to no fitted one; ``predict`` gives them the label of the nearest.

        Parameters
        ----------
        X : array-like (n_new, d)

        Returns
        -------
        mask : ndarray (n_new,) of bool
        """
        rows = self._projected(X)
        return self.clusters_.place(rows)[1]


class _Setting(NamedTuple):
    """What is chosen: the first clusters, a fitted kernel, the weight of novelty (None: "balance"), components."""

    start: str  # "all": of all columns; of what is left without the known means "graph" or "gaussian"
    kernel: Kernel
    novelty: float | None
    n_components: int


class _Problem:
    """The search for an alternative to known labels (n, v) with k clusters."""

    def __init__(self, model: AlternativeClustering, known: Array | None, k: int, seed: int) -> None:
        self.model, self.known, self.k, self.seed = model, known, k, seed
        self._starts: dict[tuple[int, bool, str], RelaxedClusters] = {}

    def solve(self, X: Array, kernels: list[Kernel], sizes: list[int]) -> tuple[Kernel, Alternation, float]:
        """The best of all settings: its kernel, where its turns ended, and its weight of novelty."""
        novelties = self._novelties(len(X))
        is_open = len(kernels) * len(novelties) * len(sizes) > 1 and self.known is not None
        starts = ["graph", "gaussian"] if is_open else ["all"]
        settings = [_Setting(*each) for each in product(starts, kernels, novelties, sizes)]
        if len(settings) == 1:
            return settings[0].kernel, *self._turns(X, settings[0])
        few, problem = self._draw(X, _TRIAL_ROWS)
        merits: list[float] = []
        for setting in settings:
            best = max(merits, default=0.0)
            if best == 1 or (setting.start == "gaussian" and best > _CLEAR):
                break
            merits.append(round(problem._merit(problem._turns(few, setting, max_iter=_TRIAL_TURNS)[0]), 3))
        more, problem = self._draw(X, _FINAL_ROWS)
        finalists = []
        for place in np.argsort(-np.array(merits), kind="stable")[:_FINALISTS]:  # the widest of equals
            found = problem._turns(more, settings[place])
            finalists.append((problem._merit(found[0]), settings[place], found))
            if finalists[-1][0] > _CLEAR:
                break
        _, setting, found = max(finalists, key=lambda each: each[0])
        return setting.kernel, *(found if more is X else self._turns(X, setting))

    def _novelties(self, n: int) -> list[float | None]:
        novelty = self.model.novelty
        if self.known is None:
            return [0.0]
        if isinstance(novelty, str):
            return [0.1, 1 / n] if novelty == "auto" else [None]
        return [float(novelty)]

    def _draw(self, X: Array, most: int) -> tuple[Array, _Problem]:
        """At most so many rows of X, and the problem of alternatives among them."""
        if len(X) <= most:
            return X, self
        rows = np.sort(generator(self.seed).choice(len(X), most, replace=False))
        return X[rows], _Problem(self.model, None if self.known is None else self.known[rows], self.k, self.seed)

    def _merit(self, turns: Alternation) -> float:
        """The separation less the part of the clusters that the known labels explain."""
        cuts = turns.clusters.vectors[:, : max(1, self.k - 1)]
        if self.known is None:
            return turns.clusters.separation
        explained = [
            sum(float(np.sum(part.sum(axis=0) ** 2)) / len(part) for part in _groups(cuts, column)) / cuts.shape[1]
            for column in self.known.T
        ]
        return turns.clusters.separation - max(explained)

    def _turns(self, X: Array, setting: _Setting, *, max_iter: int | None = None) -> tuple[Alternation, float]:
        """The end of the turns, and the weight of novelty."""
        model = self.model
        _, kernel, weight, q = setting
        normalize = has_degrees(kernel)  # refuses kernels of other families
        approximation = Approximation.of(model.approximation, model.n_features, kernel, len(X), self.seed)
        labels = None if self.known is None else PairWeights.of_labels(self.known)
        if labels is not None and labels.norm() == 0:  # a draw of rows may have one cluster only
            labels, weight = None, 0.0
        start = self._start(X, approximation, setting.start)
        if weight is None and labels is not None:
            every = self._start(X, approximation, "all")
            shown = _divided(labels, every.roots).agreement(approximation.fitted(RBF(), X).gram(X))
            weight = float(every.values.sum()) / shown if shown > 0 else 1.0
        assert weight is not None

        def weights(U: Array, roots: Array | None) -> PairWeights:
            pairs = embedding_weights(U)
            if labels is not None and weight:
                pairs = pairs - weight * labels
            return pairs if roots is None else pairs.divided(roots)

        turns = alternate(
            X, kernel, q, start.vectors, weights, self.k,
            approximation=approximation, normalize=normalize, init=model.init,
            max_iter=max_iter or int(model.max_iter), tol=float(model.tol), verbose=model.verbose,
        )  # fmt: skip
        return turns, weight

    def _start(self, X: Array, approximation: Approximation, start: str) -> RelaxedClusters:
        """The first clusters, found once for all settings."""
        place = id(X), approximation.landmarks, start
        if place not in self._starts:
            rest = X if start == "all" or self.known is None else _without_means(X, self.known)
            if start == "graph":
                graph = NeighborGraph(min(_NEIGHBORS, len(X) - 1)).fit(rest).gram(rest)
                self._starts[place] = RelaxedClusters.of(graph, self.k, normalize=True)
            else:
                self._starts[place] = clusters_of_all_columns(rest, self.k, approximation)
        return self._starts[place]


def _groups(rows: Array, labels: Array) -> list[Array]:
    """The rows of each label."""
    return [rows[labels == label] for label in np.unique(labels)]


def _without_means(X: Array, known: Array) -> Array:
    """X without the directions that the means of the known clusters span; X itself where nothing would be left."""
    means = np.vstack([group.mean(axis=0) for column in known.T for group in _groups(X, column)])
    _, lengths, axes = np.linalg.svd(means - X.mean(axis=0), full_matrices=False)
    spanned = axes[lengths > 1e-8 * max(float(lengths[0]), np.finfo(float).tiny)]
    rest = X - X @ spanned.T @ spanned
    return rest if np.abs(rest).max() > 1e-8 * np.abs(X).max() else X


def alternative_search(
    X: Any,
    y: Any,
    n_clusters: int = 2,
    *,
    widths: tuple[float, ...] = (0.05, 0.1, 0.2, 0.5, 1.0),
    novelty: tuple[float, ...] = (0.1, 1.0, 10.0),
    **options: Any,
) -> list[AlternativeClustering]:
    """Search alternatives over a grid of widths and of weights of novelty; the best comes first.

    Ordered by ``separation_`` less the largest ``novelty_``: clear clusters that say nothing of the known ones. Look
    at ``quality_``, ``novelty_`` and ``cost_`` of the first few; costs of different settings do not compare.

    Parameters
    ----------
    X, y : as for :meth:`AlternativeClustering.fit`
    n_clusters : int, default 2
    widths : tuple of float
        Of the RBF kernel, in units of the median distance of the scaled rows.
    novelty : tuple of float
    **options
        Further parameters of :class:`AlternativeClustering`.

    Returns
    -------
    models : list of AlternativeClustering
        Fitted.

    Examples
    --------
    >>> from gramian.datasets import make_small_gauss
    >>> X, known, hidden = make_small_gauss(random_state=0)
    >>> models = alternative_search(X, known, widths=(0.1, 0.5), novelty=(1.0,), random_state=0)
    >>> [round(model.kernel_.width_, 2) for model in models]
    [0.2, 1.0]
    """
    if not widths or not novelty:
        raise ValueError("widths and novelty must name at least one value each")
    model = AlternativeClustering(n_clusters, **options)
    checked = check_samples(model, X, dtype=[np.float64, np.float32], ensure_min_samples=2)
    rows = ColumnScaling(checked, standardize=bool(model.standardize)).informative(checked)
    median = resolve_width("median", rows)
    models = []
    for width in widths:
        for weight in novelty:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore", UserWarning)  # settings far off may not settle; they come last
                trial = clone(model).set_params(kernel=RBF(width * median), novelty=weight)
                models.append(trial.fit(X, y))
    return sorted(models, key=lambda fitted: -(fitted.separation_ - float(np.max(fitted.novelty_))))


def _is_auto(kernel: Any) -> bool:
    return isinstance(kernel, str) and kernel == "auto"


def _labellings(y: Any, n: int) -> Array:
    """Known labels as columns (n, v)."""
    y = checked_target(y, n)
    if has_fractions(y):
        raise ValueError("y holds real numbers; pass the labels of a known clustering, (n,) or (n, v)")
    return y.reshape(n, -1)


def _shown(turns: Alternation, known: Array | None) -> float:
    """Tr(Yᵀ Q Y)."""
    if known is None:
        return 0.0
    labels = PairWeights.of_labels(known)
    return _divided(labels, turns.clusters.roots).agreement(turns.gram)


def _divided(weights: PairWeights, roots: Array | None) -> PairWeights:
    return weights if roots is None else weights.divided(roots)


def _likeness(labels: Array, known: Array | None) -> Any:
    if known is None:
        return 0.0
    each = [float(normalized_mutual_info_score(column, labels, average_method="geometric")) for column in known.T]
    return each[0] if len(each) == 1 else np.array(each)
