"""AutoClustering: the automatic choice of a similarity and a number of clusters, as a scikit-learn estimator."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from sklearn.base import BaseEstimator, ClusterMixin
from sklearn.utils.validation import check_is_fitted, validate_data

from gramian.checks import check_count, check_samples, check_whole, remember_columns
from gramian.clustering.automatic.assignment import votes
from gramian.clustering.automatic.chance import structure
from gramian.clustering.automatic.choice import Choice, Evidence, Judged, Trials, choose, gather_evidence
from gramian.clustering.automatic.completion import CompletedGraph
from gramian.clustering.automatic.graphs import KINDS
from gramian.clustering.automatic.rows import SHARPENED, Rows
from gramian.clustering.automatic.views import MIXTURE, WAYS, fitting_ways, mixture_parts
from gramian.kernels import ClusterKernel, Kernel, NeighborGraph
from gramian.randomness import generator
from gramian.typing import Array, Matrix, RandomState

__all__ = ["AutoClustering"]

_CHECKS: dict[str, Any] = {"dtype": [np.float64, np.float32], "ensure_all_finite": "allow-nan"}


class AutoClustering(ClusterMixin, BaseEstimator):
    """Cluster samples with nothing to tune: similarity and number of clusters are chosen from the data.

    At most 1,000 rows are clustered in nine ways: spectral clustering of four neighbour graphs and of two forms of the
    cluster kernel, Genie linkage, k-means, and a Gaussian mixture. The way is chosen that others agree with and that
    cuts few edges between near rows. The number of clusters is where the eigenvalues of one of three random walks fall
    off: the largest number on which the ways agree. ``verdict_`` says whether there are clusters at all.

    Columns count in standard deviations. Missing values are filled from the nearest row that has them; the cluster
    kernel takes them as they are.

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
    n_clusters_ : int
    verdict_ : {"clear", "weak", "none"}
        "none" where a table without clusters would look alike; "clear" where other ways find the same clusters (median
        adjusted Rand index of at least 0.8) and every cluster is found again in resampled rows (Jaccard index of at
        least 0.6).
    stability_ : float
        Mean adjusted Rand index with clusterings of resampled rows, from 0 to 1.
    cluster_stability_ : ndarray (n_clusters_,)
        Mean largest Jaccard index of each cluster in clusterings of resampled rows.
    agreement_ : float
        Median adjusted Rand index of the chosen clustering with the other ways.
    candidates_ : list of dict
        What was tried with the chosen number of clusters, best first: ``name``, ``title``, ``n_clusters``,
        ``agreement`` (mean adjusted Rand index with the three ways that agree most), ``cut`` (share of edges between
        near rows that lead out of a cluster, 1 by chance), ``score`` (sum of the ranks of both, as a share of the most
        possible) and ``chosen``.
    evidence_ : list of (int, float)
        Numbers of clusters, and the stability of the chosen way with each.
    kernel_ : Kernel
        The similarity of the chosen way, fitted; the cluster kernel for k-means, linkage and the mixture.

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

    def fit(self, X: Matrix, y: Any = None, *, feature_columns: Sequence[Any] | None = None) -> AutoClustering:
        """Cluster X.

        Parameters
        ----------
        X : array-like (n, d)
            NaN where missing.
        y : ignored
        feature_columns : sequence (d,), optional
            The column of a table that each feature comes from, where one column became several features, as a category
            becomes indicators: together they count as one. By default each is its own.

        Returns
        -------
        self : AutoClustering
        """
        given = X
        X = check_samples(self, X, ensure_min_samples=2, **_CHECKS)
        k = check_count(self, "n_clusters", len(X), none_allowed=True)
        check_whole(self, "max_clusters", least=2)
        rng = generator(self.random_state)
        seed = int(rng.integers(2**31 - 1))
        judged = Judged.of(X, k, int(self.max_clusters), feature_columns, rng)
        rows, mixtures, completion = Rows.of(X[judged.index], feature_columns, seed)
        if judged.most == 1:
            choice, evidence = _one_cluster(len(rows))
        else:
            ways = ["kmeans"] if judged.of_few_kinds else fitting_ways(rows)
            choice, shown = choose(Trials(rows, ways, seed), judged)
            excess = np.inf if judged.of_few_kinds else structure(X, feature_columns, rng)
            evidence = gather_evidence(choice, rows, shown, excess, seed)
        self.completion_, self.rows_, self.row_labels_ = completion, rows.completed, choice.labels
        self.n_clusters_ = int(choice.labels.max()) + 1
        self.mixture_, self.components_ = None, None
        if choice.name == MIXTURE:
            self.mixture_, self.components_ = mixture_parts(choice.candidates[0]["n_clusters"], rows, seed)
        self.kernel_ = _kernel(choice.name, mixtures, X[judged.index], feature_columns)
        self.verdict_, self.agreement_, self.candidates_ = evidence.verdict, choice.agreement, choice.candidates
        self.stability_, self.cluster_stability_ = evidence.stability, evidence.cluster_stability
        self.evidence_ = evidence.counts
        self.labels_ = np.empty(len(X), np.intp)
        self.labels_[judged.index] = choice.labels
        others = np.setdiff1d(np.arange(len(X)), judged.index, assume_unique=True)
        self.labels_[others] = self._shares(X[others]).argmax(axis=1)
        remember_columns(self, given)
        return self

    def predict(self, X: Matrix) -> Array:
        """Cluster of each new row.

        Parameters
        ----------
        X : array-like (n_new, d)

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
        X : array-like (n_new, d)

        Returns
        -------
        probabilities : ndarray (n_new, n_clusters_)
        """
        check_is_fitted(self, "labels_")
        return self._shares(validate_data(self, X, reset=False, **_CHECKS))

    def _shares(self, X: Array) -> Array:
        if not len(X):
            return np.zeros((0, self.n_clusters_))
        completed = self.completion_.transform(X)
        if self.mixture_ is not None:
            posterior = np.asarray(self.mixture_.predict_proba(completed))[:, self.components_]
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
    return choice, Evidence(1.0, np.ones(1), [(1, 1.0)], "none")


def _kernel(name: str, mixtures: ClusterKernel, X: Array, columns: Sequence[Any] | None) -> Kernel:
    """The similarity of a way to cluster, fitted to X."""
    if name in KINDS:
        return CompletedGraph(name, columns).fit(X)
    kernel = mixtures.set_params(threshold=ClusterKernel().threshold)
    return NeighborGraph(SHARPENED, kernel=kernel).fit(X) if name == "sharpened_kernel" else kernel
