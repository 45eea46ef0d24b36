"""Another clustering than the one you have: kernel dimension alternative clustering."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from typing import Any

import numpy as np
from sklearn.base import ClusterMixin, clone
from sklearn.metrics import normalized_mutual_info_score

from gramian.checks import check_count, check_real, check_samples
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
)
from gramian.dependence.projection.weights import PairWeights, checked_target, has_fractions
from gramian.kernels import RBF, Kernel, resolve_width
from gramian.randomness import generator
from gramian.typing import Array, RandomState

__all__ = ["AlternativeClustering", "alternative_search"]

_WIDTHS = (0.5, 0.2, 0.1, 0.05)  # of the median distance, from which kernel="auto" chooses
_CLEAR = 0.5  # clusters of a separation below this do not stand apart
_TRIAL_ROWS = 1000  # rows on which widths are tried


class AlternativeClustering(ClusterMixin, Projector):
    """Find a good clustering that differs from one, or several, already known.

    With the known labels Y, clusters U (UᵀU = I) and a projection W (WᵀW = I), maximises

        Tr(Uᵀ Q U) − novelty · Tr(Yᵀ Q Y),   Q = H D^-½ K D^-½ H,   K_ij = k(Wᵀx_i, Wᵀx_j),   D = diag(K 1):

    the projection is to show clusters, and as little as possible of the known ones. W and U are found in turns; the
    labels are k-means on U. Kernels that may be negative go without D.

    Parameters
    ----------
    n_clusters : int, default 2
        Of the alternative; need not be the number of known clusters.
    kernel : Kernel or str, default "auto"
        "auto" is RBF with a width that is chosen: 50, 20, 10 and 5 % of the median distance are tried, on at most
        1000 rows, and the one whose clusters stand apart most clearly (``separation_``) is taken. Where none exceeds
        0.5 no clear alternative was found, and 50 % serves. The result depends on the width far more than on
        ``novelty``. Kernels as in :class:`gramian.DependenceReduction`.
    novelty : float or "balance", default 1.0
        How much likeness to the known clusters costs. Columns of Y are as long as the root of a cluster's size, those
        of U of length one, so the number of known clusters over n weighs both alike: too little to keep clear known
        clusters from coming back (``novelty_`` near 1). 1 does, and forbids even likeness by chance. "balance" makes
        both terms equal under all columns.
    n_components : int or None, default None
        Columns of the projection. None: as many as X has less the directions that the known clusters' means span
        (their number less one each), at least 1.
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
        From 0 to 1: 1 − (1 − λ_{k−1}) / (1 − λ_k) of the eigenvalues of Q; 0 for one cluster.
    novelty_weight_ : float
        ``novelty``, or what "balance" made of it.
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
        novelty: float | str = 1.0,
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
        q = check_n_components(self.n_components, d) or _default_components(known, d)
        seed = int(generator(self.random_state).integers(2**31))
        problem = _Problem(self, known, k, q, seed)
        kernel = self._unfitted_kernel()
        if _is_auto(self.kernel):
            kernel, turns, weight = problem.solve_with_best_width(X, verbose=self.verbose)
        else:
            turns, weight = problem.solve(X, kernel.fit(X), verbose=self.verbose)
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
            if self.novelty != "balance":
                raise ValueError(f"novelty={self.novelty!r} is not known; pass a number >= 0 or 'balance'")
        else:
            check_real(self, "novelty", least=0)

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
        return self.clusters_.predict(self._projected(X))

    def is_outlier(self, X: Any) -> Array:
        """Which new rows are similar to no fitted one; ``predict`` gives them the label of the nearest.

        Parameters
        ----------
        X : array-like (n_new, d)

        Returns
        -------
        mask : ndarray (n_new,) of bool
        """
        return self.clusters_.place(self._projected(X))[1]


class _Problem:
    """Alternative clustering with everything chosen but the kernel."""

    def __init__(self, model: AlternativeClustering, known: Array | None, k: int, q: int, seed: int) -> None:
        self.model, self.known, self.k, self.q, self.seed = model, known, k, q, seed

    def solve(self, X: Array, kernel: Kernel, *, verbose: int = 0) -> tuple[Alternation, float]:
        """The end of the turns, and the weight of novelty."""
        model = self.model
        normalize = has_degrees(kernel)  # refuses kernels of other families
        approximation = Approximation.of(model.approximation, model.n_features, kernel, len(X), self.seed)
        start = clusters_of_all_columns(X, self.k, approximation)
        labels = None if self.known is None else PairWeights.of_labels(self.known)
        if labels is not None and labels.norm() == 0:  # a draw of rows may have one cluster only
            labels = None
        weight = 0.0 if labels is None else float(model.novelty) if model.novelty != "balance" else None
        if weight is None and labels is not None:
            gram = approximation.fitted(RBF(), X).gram(X)
            shown = _divided(labels, start.roots).agreement(gram)
            weight = float(start.values.sum()) / shown if shown > 0 else 1.0
        assert weight is not None

        def weights(U: Array, roots: Array | None) -> PairWeights:
            pairs = PairWeights.of_embedding(U)
            if labels is not None and weight:
                pairs = pairs - weight * labels
            return pairs if roots is None else pairs.divided(roots)

        turns = alternate(
            X, kernel, self.q, start.vectors, weights, self.k,
            approximation=approximation, normalize=normalize, init=model.init, max_iter=int(model.max_iter),
            tol=float(model.tol), verbose=verbose,
        )  # fmt: skip
        return turns, weight

    def solve_with_best_width(self, X: Array, *, verbose: int = 0) -> tuple[Kernel, Alternation, float]:
        """With the width whose clusters stand apart most clearly, the widest of equals; and the kernel."""
        median = resolve_width("median", X)
        rows = np.arange(len(X))
        if len(X) > _TRIAL_ROWS:
            rows = np.sort(generator(self.seed).choice(rows, _TRIAL_ROWS, replace=False))
        known = None if self.known is None else self.known[rows]
        trial = _Problem(self.model, known, self.k, self.q, self.seed)
        width, clearest, kept = 0.0, _CLEAR, None
        for part in _WIDTHS:
            kernel = RBF(part * median).fit(X[rows])
            turns, weight = trial.solve(X[rows], kernel, verbose=verbose)
            if kept is None or turns.clusters.separation > clearest + 1e-3:
                width, kept = part * median, (kernel, turns, weight)
                clearest = max(clearest, turns.clusters.separation)
        if kept is not None and len(rows) == len(X):
            return kept
        kernel = RBF(width).fit(X)
        return kernel, *self.solve(X, kernel, verbose=verbose)


def alternative_search(
    X: Any,
    y: Any,
    n_clusters: int = 2,
    *,
    widths: tuple[float, ...] = (0.05, 0.1, 0.2, 0.5, 1.0),
    novelty: tuple[float, ...] = (0.1, 1.0, 10.0),
    **options: Any,
) -> list[AlternativeClustering]:
    """Alternatives over a grid of widths and of weights of novelty, best first.

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


def _default_components(known: Array | None, d: int) -> int:
    """All directions but those that the means of the known clusters span."""
    spanned = 1 if known is None else sum(len(np.unique(column)) - 1 for column in known.T)
    return max(1, d - max(1, spanned))


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
