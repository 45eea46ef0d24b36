"""AutoClustering: the automatic choice of a similarity and a number of clusters, as a scikit-learn estimator."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from sklearn.base import BaseEstimator, ClusterMixin
from sklearn.utils.validation import check_is_fitted, validate_data

from gramian.checks import check_samples, remember_columns
from gramian.clustering.automatic.views import choose_view
from gramian.typing import Array, Matrix, RandomState

__all__ = ["AutoClustering"]

_CHECKS: dict[str, Any] = {"dtype": [np.float64, np.float32], "ensure_all_finite": "allow-nan"}


class AutoClustering(ClusterMixin, BaseEstimator):
    """Cluster samples with nothing to tune: similarity and number of clusters are chosen from the data.

    Several views of the rows are clustered: graphs, the cluster kernel, a Gaussian mixture. The one whose clusters lie
    apart best and are found again in resampled rows is kept. ``verdict_`` says whether there are clusters at all.

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
        −1 for a row that is similar to no other.
    n_clusters_ : int
    verdict_ : {"clear", "weak", "none"}
        Whether there are clusters: "none" where tables without clusters look alike.
    stability_ : float
        Mean adjusted Rand index with clusterings of resampled rows, from 0 to 1.
    cluster_stability_ : ndarray (n_clusters_,)
        Mean largest Jaccard index of each cluster in clusterings of resampled rows.
    candidates_ : list of dict
        What was tried with the chosen number of clusters, best first: ``name``, ``title``, ``n_clusters``,
        ``stability``, ``separation``, ``score`` and ``chosen``.
    evidence_ : list of (int, float)
        Numbers of clusters that were tried, and the stability of the chosen view with each.
    kernel_ : Kernel
        The similarity of the chosen view, fitted; the cluster kernel where the view is a mixture.
    model_ : SpectralClustering or IncompleteGaussianMixture
        The chosen view's clustering.

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
        choice = choose_view(
            X,
            self.n_clusters,
            max_clusters=self.max_clusters,
            feature_columns=feature_columns,
            random_state=self.random_state,
        )
        self.model_, self.kernel_ = choice.model, choice.kernel
        self.labels_, self.n_clusters_ = choice.labels, choice.n_clusters
        self.verdict_, self.stability_, self.cluster_stability_ = (
            choice.verdict,
            choice.stability,
            choice.cluster_stability,
        )
        self.candidates_, self.evidence_ = choice.candidates, choice.evidence
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
            −1, with a warning, for a row that is similar to no fitted one.
        """
        return np.asarray(self.model_.predict(self._checked(X)), np.intp)

    def predict_proba(self, X: Matrix) -> Array:
        """Probability of each cluster for new rows: the posterior of a mixture, otherwise 1 for the predicted cluster.

        Parameters
        ----------
        X : array-like (n_new, d)

        Returns
        -------
        probabilities : ndarray (n_new, n_clusters_)
            All equal for a row that is similar to no fitted one.
        """
        X = self._checked(X)
        if hasattr(self.model_, "predict_proba"):
            return np.asarray(self.model_.predict_proba(X))
        labels = np.asarray(self.model_.predict(X))
        certain: Array = (labels[:, None] == np.arange(self.n_clusters_)).astype(np.float64)
        certain[labels < 0] = 1 / self.n_clusters_
        return certain

    def _checked(self, X: Matrix) -> Array:
        check_is_fitted(self, "model_")
        checked: Array = validate_data(self, X, reset=False, **_CHECKS)
        return checked

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.allow_nan = True
        return tags
