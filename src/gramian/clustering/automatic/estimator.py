"""AutoClustering: the automatic choice of a similarity and a number of clusters, as a scikit-learn estimator."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from typing import Any

import numpy as np
from sklearn.base import ClusterMixin
from sklearn.utils.validation import check_is_fitted, validate_data

from gramian.checks import check_count, check_samples, check_whole, remember_columns
from gramian.clustering.automatic.assignment import votes
from gramian.clustering.automatic.chance import structure
from gramian.clustering.automatic.choice import Choice, Evidence, Judged, Trials, choose, gather_evidence
from gramian.clustering.automatic.completion import CompletedGraph, Completion
from gramian.clustering.automatic.frames import PreparedFrame, has_other_kinds, new_features
from gramian.clustering.automatic.graphs import KINDS
from gramian.clustering.automatic.latent_classes import by_size
from gramian.clustering.automatic.mixed import MixedChoice, MixedModel, choose_mixed
from gramian.clustering.automatic.rows import SHARPENED, Rows
from gramian.clustering.automatic.views import MIXTURE, WAYS, fitting_ways, mixture_parts
from gramian.diagram import Estimator
from gramian.kernels import ClusterKernel, Kernel, NeighborGraph
from gramian.partitions import DistributedAnswers, fit_to_sample, is_distributed
from gramian.randomness import generator
from gramian.typing import Array, Matrix, RandomState

__all__ = ["AutoClustering"]

STABLE = 0.6
"""Jaccard index from which a cluster counts as found again."""

_CLASSES = "Groups are classes, each with its own shares of every category and means of every number"
_CHECKS: dict[str, Any] = {"dtype": [np.float64, np.float32], "ensure_all_finite": "allow-nan"}


class AutoClustering(ClusterMixin, DistributedAnswers, Estimator):
    """Cluster samples with nothing to tune: similarity and number of clusters are chosen from the data.

    At most 1,000 rows are clustered in nine ways: spectral clustering of four neighbour graphs and of two forms of the
    cluster kernel, Genie linkage, k-means, and a Gaussian mixture. The way is chosen that others agree with and that
    cuts few edges between near rows. The number of clusters is where the eigenvalues of two random walks fall off, and
    where the ways agree. ``verdict_`` says whether there are clusters at all.

    In a table with categories (``categorical_columns``), those that no other column depends on are left out, and where
    categories are a third of what counts or more, or where there is hardly a doubt about them, the clusters are latent
    classes: each with its own shares of every category and means of every number. Numbers that are skewed within
    classes are bent first.

    Columns count in standard deviations. Missing values are filled from the nearest row that has them; the cluster
    kernel takes them as they are. A data frame with columns that are no numbers (text, categories, truth values,
    dates) is prepared as :func:`gramian.explore` does it; one of numbers alone is taken as the array it holds.

    Parameters
    ----------
    n_clusters : int, optional
        None chooses it, from 2 to ``max_clusters``.
    max_clusters : int, default 20
        Most clusters considered when ``n_clusters=None``.
    random_state : int, Generator, RandomState or None, default None

    Attributes
    ----------
    labels_ : ndarray (n,)
        0 is the largest cluster.
    n_clusters_ : int
    verdict_ : {"clear", "weak", "none"}
        "none" where a table without clusters would look alike; "clear" where other ways find the same clusters (median
        adjusted Rand index of at least 0.8) and every cluster is found again in resampled rows (Jaccard index of at
        least 0.6). Latent classes have no other ways: instead, ``stability_`` has to be at least 0.75, and the
        largest posterior of fewer than a tenth of the rows below 0.9.
    stability_ : float
        Mean adjusted Rand index with clusterings of resampled rows, from 0 to 1.
    cluster_stability_ : ndarray (n_clusters_,)
        Mean largest Jaccard index of each cluster in clusterings of resampled rows.
    agreement_ : float
        Median adjusted Rand index of the chosen clustering with the other ways; 1 where there are none, as for latent
        classes.
    left_out_ : list
        Categories that no other column depends on, which do not count.
    crossing_ : list
        Categories that move the numbers alike in every cluster: clusters are told beside them, not by them.
    row_levels_ : dict of int to ndarray
        Labels of the clustered rows at other numbers of clusters whose clusters are all found again; see
        :meth:`labels_at`.
    level_stability_ : dict of int to ndarray
        As ``cluster_stability_``, of the clusters of each of these levels.
    candidates_ : list of dict
        What was tried with the chosen number of clusters, best first: ``name``, ``title``, ``n_clusters``,
        ``agreement`` (mean adjusted Rand index with the three ways that agree most), ``cut`` (share of edges between
        near rows that lead out of a cluster, 1 by chance), ``score`` (sum of the ranks of both, as a share of the most
        possible) and ``chosen``.
    evidence_ : list of (int, float)
        Numbers of clusters, and the stability of the least stable cluster with each.
    kernel_ : Kernel
        The similarity of the chosen way, fitted; the cluster kernel for k-means, linkage and the mixture, and one that
        knows categories for latent classes. Of the features that count: ``used_``.
    preparation_ : Preparation or None
        How the columns of a data frame became features; None if they are features already.

    Notes
    -----
    Rows beyond the clustered ones, and new rows, join the cluster of most of the 5 nearest clustered rows, or that of
    the largest posterior where the way is a mixture. ``benchmarks/no_knobs.md`` compares with other methods.

    Examples
    --------
    >>> import numpy as np
    >>> from sklearn.datasets import make_blobs
    >>> from gramian import AutoClustering
    >>> X, y = make_blobs(150, centers=3, cluster_std=0.6, random_state=4)
    >>> X[::7, 0] = np.nan
    >>> model = AutoClustering(random_state=0).fit(X)
    >>> model.n_clusters_, model.verdict_
    (3, 'clear')
    """

    def __init__(
        self, n_clusters: int | None = None, *, max_clusters: int = 20, random_state: RandomState = None
    ) -> None:
        self.n_clusters = n_clusters
        self.max_clusters = max_clusters
        self.random_state = random_state

    def fit(
        self,
        X: Matrix,
        y: Any = None,
        *,
        feature_columns: Sequence[Any] | None = None,
        categorical_columns: Collection[Any] = (),
    ) -> AutoClustering:
        """Cluster X.

        Parameters
        ----------
        X : array-like or data frame (n, d)
            NaN where missing. Frames of pandas and polars may have columns of any kind. A Dask array or data frame of
            numbers is clustered by 10,000 of its rows, drawn by number; ``labels_`` of all rows is then a Dask array,
            computed partition by partition when asked for.
        y : ignored
        feature_columns : sequence (d,), optional
            The column of a table that each feature comes from, where one column became several features, as a category
            becomes indicators: together they count as one. By default each is its own.
        categorical_columns : collection, optional
            Which of these columns are categories or truth values; without ``feature_columns``, numbers of features.

        Returns
        -------
        self : AutoClustering
        """
        check_whole(self, "max_clusters", least=2)
        if is_distributed(X):
            chosen: dict[str, Any] = {"feature_columns": feature_columns, "categorical_columns": categorical_columns}
            return fit_to_sample(self, X, **chosen)
        given, preparation = X, None
        if feature_columns is None and not len(categorical_columns) and has_other_kinds(X):
            frame = PreparedFrame.of(X)
            X, preparation = frame.features, frame.preparation
            feature_columns, categorical_columns = frame.columns, frame.categories
        X = check_samples(self, X, ensure_min_samples=2, **_CHECKS)
        k = check_count(self, "n_clusters", len(X), none_allowed=True)
        rng = generator(self.random_state)
        seed = int(rng.integers(2**31 - 1))
        columns = list(range(X.shape[1])) if feature_columns is None else list(feature_columns)
        mixed = None
        if categories := set(categorical_columns) & set(columns):
            most = int(self.max_clusters)
            mixed = choose_mixed(X, columns, categories, rng, n_clusters=k, max_clusters=most, seed=seed)
        used = np.array([mixed is None or name not in mixed.left_out for name in columns])
        if mixed is not None and (mixed.nothing or not used.any()):
            k, used = 1, np.ones(len(columns), bool)
        kept = [name for name, counts in zip(columns, used, strict=True) if counts]
        if mixed is not None and mixed.found is not None:
            self._keep_classes(X, mixed, kept, used)
        else:
            self._keep_views(X[:, used], k, kept, rng, seed)
            if mixed is not None and mixed.groupless:
                # The views' references shuffle categories, as if they were independent; those of classes do not.
                self.verdict_ = "none"
        self.preparation_ = preparation
        self.left_out_, self.used_ = [] if mixed is None else mixed.left_out, used
        self.crossing_ = [] if mixed is None else list(mixed.crossing)
        self.__dict__.pop("sample_indices_", None)  # of an earlier fit to rows of a Dask input
        remember_columns(self, given)
        return self

    def _keep_views(self, X: Array, k: int | None, columns: list[Any], rng: np.random.Generator, seed: int) -> None:
        """Choose among the ways to cluster, and keep what was found."""
        judged = Judged.of(X, k, int(self.max_clusters), columns, rng)
        rows, mixtures, completion = Rows.of(X[judged.index], columns, seed)
        if judged.most == 1:
            choice, evidence = _one_cluster(len(rows))
        else:
            ways = ["kmeans"] if judged.of_few_kinds else fitting_ways(rows)
            choice, shown = choose(Trials(rows, ways, seed), judged)
            excess = np.inf if judged.of_few_kinds else structure(X, columns, rng)
            evidence = gather_evidence(choice, rows, shown, excess, seed)
        self.classes_: MixedModel | None = None
        self.mixture_, self.components_ = None, None
        if choice.name == MIXTURE:
            self.mixture_, self.components_ = mixture_parts(choice.candidates[0]["n_clusters"], rows, seed)
        self.kernel_ = _kernel(choice.name, mixtures, X[judged.index], columns)
        self.agreement_, self.candidates_ = choice.agreement, choice.candidates
        self._keep(X, judged.index, choice.labels, (completion, rows.completed), evidence)

    def _keep_classes(self, X: Array, mixed: MixedChoice, columns: list[Any], used: Array) -> None:
        """Keep the latent classes of a table with categories."""
        found, kernel = mixed.found, mixed.kernel
        assert found is not None
        assert kernel is not None
        features = X[:, used]
        completion = Completion(columns).fit(features[mixed.rows])
        self.classes_, self.mixture_, self.components_ = mixed.model, None, None
        self.kernel_ = kernel()
        self.agreement_ = 1.0
        k = found.posteriors.shape[1]
        candidate = {"name": "latent_classes", "title": _CLASSES, "n_clusters": k, "agreement": np.nan, "cut": np.nan}
        self.candidates_ = [{**candidate, "score": 1.0, "chosen": True}]
        evidence = Evidence(
            found.stability,
            found.cluster_stability,
            sorted(found.tried.items()),
            found.verdict,
            found.alternatives,
            found.alternative_stability,
        )
        rows = completion.filled(features[mixed.rows])
        self._keep(X, mixed.rows, found.labels, (completion, rows), evidence)

    def _keep(
        self, X: Array, judged: Array, labels: Array, completed: tuple[Completion, Array], evidence: Evidence
    ) -> None:
        self.completion_, self.rows_ = completed
        self.row_labels_, self.n_clusters_ = labels, int(labels.max()) + 1
        self.verdict_, self.evidence_ = evidence.verdict, evidence.counts
        self.stability_, self.cluster_stability_ = evidence.stability, evidence.cluster_stability
        self.labels_ = np.empty(len(X), np.intp)
        self.labels_[judged] = labels
        others = np.setdiff1d(np.arange(len(X)), judged, assume_unique=True)
        self.labels_[others] = self._shares(X[others]).argmax(axis=1)
        self._number_by_size()
        self.row_levels_, self.level_stability_ = {}, {}
        for k, least in evidence.counts:
            if least >= STABLE and k in evidence.levels and k not in (1, self.n_clusters_):
                order = by_size(evidence.levels[k], k)
                self.row_levels_[k] = np.argsort(order)[evidence.levels[k]]
                self.level_stability_[k] = evidence.level_stability[k][order]

    def _number_by_size(self) -> None:
        """Number the clusters by all of their rows, those that were not clustered among them."""
        order = by_size(self.labels_, self.n_clusters_)
        place = np.argsort(order)
        self.labels_, self.row_labels_ = place[self.labels_], place[self.row_labels_]
        self.cluster_stability_ = self.cluster_stability_[order]
        if self.components_ is not None:
            self.components_ = self.components_[order]
        if self.classes_ is not None:
            self.classes_ = self.classes_.ordered(order)

    def labels_at(self, n_clusters: int, X: Matrix) -> Array:
        """Clusters of rows at a coarser or finer level, one of the keys of ``row_levels_``.

        Parameters
        ----------
        n_clusters : int
        X : array-like or data frame (n_new, d)

        Returns
        -------
        labels : ndarray (n_new,)
        """
        check_is_fitted(self, "labels_")
        if n_clusters not in self.row_levels_:
            raise ValueError(
                f"n_clusters={n_clusters} is not a level that was found; pass one of {list(self.row_levels_)}"
            )
        X = self._features(X)
        if self.classes_ is not None:
            return self.classes_.posteriors(X, n_clusters).argmax(axis=1)
        completed = self.completion_.filled(X[:, self.used_])
        labels: Array = votes(completed, self.rows_, self.row_levels_[n_clusters], n_clusters).argmax(axis=1)
        return labels

    def predict(self, X: Matrix) -> Array:
        """Cluster of each new row.

        Parameters
        ----------
        X : array-like or data frame (n_new, d)

        Returns
        -------
        labels : ndarray (n_new,)
        """
        labels: Array = self.predict_proba(X).argmax(axis=1)
        return labels

    def predict_proba(self, X: Matrix) -> Array:
        """Probability of each cluster: the posterior of a mixture, otherwise the share of the 5 nearest clustered rows.

        Parameters
        ----------
        X : array-like or data frame (n_new, d)

        Returns
        -------
        probabilities : ndarray (n_new, n_clusters_)
        """
        check_is_fitted(self, "labels_")
        X = self._features(X)
        return self._shares(X if self.classes_ is not None else X[:, self.used_])

    def _features(self, X: Matrix) -> Array:
        """New rows as the features that were fitted."""
        if self.preparation_ is not None:
            return new_features(self.preparation_, X)
        return np.asarray(validate_data(self, X, reset=False, **_CHECKS))

    def _shares(self, X: Array) -> Array:
        """Shares of rows of all features for latent classes, of those used otherwise."""
        if not len(X):
            return np.zeros((0, self.n_clusters_))
        if self.classes_ is not None:
            return self.classes_.posteriors(X)
        completed = self.completion_.filled(X)
        if self.mixture_ is not None:
            posterior = np.asarray(self.mixture_.predict_proba(completed))[:, self.components_]
            # A row may be sure to come from a component that no clustered row is in, which is no cluster.
            if (lost := ~posterior.any(axis=1)).any():
                posterior[lost] = votes(completed[lost], self.rows_, self.row_labels_, self.n_clusters_)
            return posterior / posterior.sum(axis=1, keepdims=True)
        return votes(completed, self.rows_, self.row_labels_, self.n_clusters_)

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.allow_nan = True
        return tags


def _one_cluster(n: int) -> tuple[Choice, Evidence]:
    """All rows in one cluster, where they are too few to tell or one is asked for."""
    candidate = {"name": "kmeans", "title": WAYS["kmeans"].title, "n_clusters": 1, "agreement": 1.0, "cut": 0.0}
    choice = Choice("kmeans", np.zeros(n, np.intp), [{**candidate, "score": 1.0, "chosen": True}], np.zeros(0))
    return choice, Evidence(1.0, np.ones(1), [(1, 1.0)], "none", {}, {})


def _kernel(name: str, mixtures: ClusterKernel, X: Array, columns: Sequence[Any] | None) -> Kernel:
    """The similarity of a way to cluster, fitted to X."""
    if name in KINDS:
        return CompletedGraph(name, columns).fit(X)
    kernel = mixtures.set_params(threshold=ClusterKernel().threshold)
    return NeighborGraph(SHARPENED, kernel=kernel.frozen()).fit(X) if name == "sharpened_kernel" else kernel
