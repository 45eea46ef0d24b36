"""RankedClustering: clusters, and rankings within them, across them and for a query, from one random walk."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from numbers import Integral
from typing import Any

import numpy as np
from sklearn.utils.validation import check_is_fitted

from gramian.checks import check_choice, check_count, check_whole, whole
from gramian.clustering.angular import angular_kmeans
from gramian.clustering.core import choose_by_gap, kmeans, used_labels
from gramian.clustering.placed import PlacedClusters
from gramian.kernels import Expansion, Kernel
from gramian.partitions import fit_to_sample, is_distributed
from gramian.randomness import generator
from gramian.ranking._queries import best_first
from gramian.ranking.graphs import check_restart, check_top
from gramian.ranking.kernel_walk.cluster_rankings import ClusterRankings, memberships
from gramian.ranking.kernel_walk.estimator import WalkEstimator
from gramian.ranking.kernel_walk.extension import warn_alone
from gramian.ranking.kernel_walk.joint_embedding import (
    JointAxes,
    laplacian_axes,
    low_degrees,
    normalized_axes,
    unpruned,
    walk_axes,
    warn_localized,
)
from gramian.ranking.kernel_walk.walk import Walk, exact_scores
from gramian.typing import Array, Matrix, RandomState

# What a Dask fit says of all rows, and the method that tells.
_ANSWERS = {
    "labels_": "predict",
    "embedding_": "transform",
    "memberships_": "predict_proba",
    "base_scores_": "score_samples",
}


class RankedClustering(PlacedClusters, WalkEstimator):
    """Cluster samples, and rank them within clusters, across clusters and for a query, by one random walk.

    A walk goes from sample to sample by similarity and with probability α restarts at the seeds s; its scores are
    personalised PageRank, π(s) = β D G_β s with G_β = ((1 + β) D − K)^-1 and β = α / (1 − α). Samples are embedded so
    that z_i·z_j = β vol G_β(i, j): distances are resistances of the graph, and inner products are scores,
    π_i(s) = (d_i / vol) z_i·Σ_j s_j z_j. k-means on the leading columns of Z gives the clusters; with the seeds a
    cluster, a sample or everything, the scores give the rankings. Scores are exact, by all columns of Z.

    The membership of sample i in cluster c is the probability that a walk that restarts anywhere, found at i, last
    restarted in c: (n_c / n) π_i(c) / π_i(all), with the seeds all n_c members of c. Scores of the clusters add up to
    those of everything, so memberships add up to 1.

    Parameters
    ----------
    n_clusters : int or None, default None
        None chooses it, from 2 to ``max_clusters``, by the largest relative gap among the eigenvalues of the walk.
    kernel : Kernel, str or callable, default "cluster"
        Its values must be >= 0. The cluster kernel takes missing values and has nothing to tune.
    restart : float, default 0.15
        α.
    normalized : bool, default True
        Take the leading columns of Z from the eigenvectors of D^-½ K D^-½, the constant one left out, or (False)
        from those of (1 + β) D − K, as published. All columns together are the same embedding turned; the leading
        ones are not: the published ones go, one by one, to samples of low degree where there are some, the
        normalised ones only to samples that are similar to themselves alone. There is a warning where they do.
    n_components : int, optional
        Columns that are clustered; default ``n_clusters`` − 1, or ``n_clusters`` if not ``normalized``.
    metric : {"euclidean", "cosine"}, default "euclidean"
        Between embedded samples; "cosine" for clusters that lie on rays.
    prune_low_degree : int, "auto" or None, default None
        Leave this many samples of lowest degree out of the embedding, or those of ``low_degree_mask_``. They have
        label −1, and are ranked with the others.
    max_clusters : int, default 20
        Most clusters considered when ``n_clusters=None``.
    n_init : int, default 10
        Starts of k-means.
    random_state : int, Generator or None, default None

    Attributes
    ----------
    labels_ : ndarray (n,)
    n_clusters_ : int
    fitted_labels_ : ndarray (n,)
        ``labels_`` of the fitted samples, also where ``labels_`` are of all rows of a Dask input.
    embedding_ : ndarray (n, n_components)
        Leading columns of Z.
    eigenvalues_ : ndarray (n_components,)
        Of D^-½ K D^-½, falling, without the trivial 1; or of (1 + β) D − K, rising.
    transition_eigenvalues_ : ndarray
        Only with ``n_clusters=None``: those whose gap was looked at, with the trivial 1.
    cluster_centers_ : ndarray (n_clusters_, n_components)
        In the embedding.
    memberships_ : ndarray (n, n_clusters_)
        Rows sum to 1. A pruned sample that no walk reaches belongs to all alike.
    cluster_scores_ : ndarray (n, n_clusters_)
        π with the seeds a cluster; columns sum to 1.
    cohesion_ : ndarray (n_clusters_,)
        Part of a cluster's scores that its own members hold, from α to 1.
    exemplars_ : ndarray (n_clusters_,)
        The best-ranked member of each cluster.
    base_scores_ : ndarray (n,)
        d / vol: how typical each sample is.
    outlier_scores_ : ndarray (n,)
        From 0 for the sample of largest base score towards 1 for those like nothing else.
    low_degree_mask_ : ndarray (n,) of bool
        Samples of so small a degree that the published embedding spends an axis on each.
    restart_ : float
        The α of the fit.
    kernel_ : Kernel

    References
    ----------
    Løkse (2014). Joint ranking and clustering based on Markov Chain transition probabilities learned from data.
    Master's thesis, UiT The Arctic University of Norway.

    Examples
    --------
    >>> from sklearn.datasets import make_blobs
    >>> from gramian import RankedClustering
    >>> from gramian.kernels import RBF
    >>> X, y = make_blobs(90, centers=3, cluster_std=0.6, random_state=4)
    >>> model = RankedClustering(kernel=RBF("median20"), random_state=0).fit(X)
    >>> model.n_clusters_
    3
    >>> bool((model.labels_[model.query(7, top=5)] == model.labels_[7]).all())
    True
    >>> model.memberships_[7].max() > 0.5
    np.True_
    """

    def __init__(
        self,
        n_clusters: int | None = None,
        *,
        kernel: Kernel | str | Callable[[Any, Any], Any] = "cluster",
        restart: float = 0.15,
        normalized: bool = True,
        n_components: int | None = None,
        metric: str = "euclidean",
        prune_low_degree: int | str | None = None,
        max_clusters: int = 20,
        n_init: int = 10,
        random_state: RandomState = None,
    ) -> None:
        self.n_clusters = n_clusters
        self.kernel = kernel
        self.restart = restart
        self.normalized = normalized
        self.n_components = n_components
        self.metric = metric
        self.prune_low_degree = prune_low_degree
        self.max_clusters = max_clusters
        self.n_init = n_init
        self.random_state = random_state

    def fit(self, X: Matrix, y: Any = None) -> RankedClustering:
        """Embed, cluster and rank X.

        Parameters
        ----------
        X : array-like or sparse (n, d), or (n, n) similarities with ``kernel="precomputed"``
            A Dask array or data frame is clustered and ranked by 10,000 of its rows, drawn by number
            (``sample_indices_``), which are the fitted samples that :meth:`rank`, :meth:`query` and ``exemplars_``
            count. Of all rows ``labels_``, ``embedding_``, ``memberships_`` and ``base_scores_`` are then Dask arrays,
            computed partition by partition when asked for.
        y : ignored

        Returns
        -------
        self : RankedClustering
        """
        check_restart(self.restart)
        check_choice(self, "normalized", (True, False))
        check_choice(self, "metric", ("euclidean", "cosine"))
        check_whole(self, "max_clusters", "n_init")
        if is_distributed(X):
            return fit_to_sample(self, X, answers=_ANSWERS)
        samples = X
        X, kernel, gram = self._fit_kernel(X, min_samples=2)
        n = X.shape[0]
        k = check_count(self, "n_clusters", n, none_allowed=True)
        n_axes = check_count(self, "n_components", n, none_allowed=True)
        walk = self._walk_on(kernel, gram)
        low = low_degrees(walk, self.restart)
        inside = unpruned(self.prune_low_degree, walk.degrees, low)
        part = walk if inside.all() else self._walk_on(kernel, gram.restricted(inside))
        pairs: tuple[Array, Array] | None = None
        if k is None:
            eigenpairs = partial(walk_axes, part)
            k, pairs, candidates = choose_by_gap(
                part.gram, eigenpairs, int(self.max_clusters), n_axes or 0, trivial=False
            )
        if k > inside.sum():
            raise ValueError(
                f"n_clusters={k} is more than the {inside.sum()} samples left by prune_low_degree; lower it"
            )
        axes = self._axes(part, k, n_axes, pairs)
        place = axes.placement(kernel, X, gram, inside)
        embedding = axes.embedding
        if not inside.all():  # the others are placed as new samples are
            embedding = np.empty((n, len(axes.values)), axes.embedding.dtype)
            embedding[inside], embedding[~inside] = axes.embedding, place(X[~inside])[0]
        if (same := kernel._met_again(X)) is not None:  # equal rows get equal labels, now and in predict
            embedding = embedding[same]
        labels, centers = self._cluster(embedding[inside], k)
        self._keep(kernel, samples)
        if self.n_clusters is None:
            self.transition_eigenvalues_ = candidates
        self.X_fit_, self._walk, self.place_, self.restart_ = X, walk, place, float(self.restart)
        self.low_degree_mask_, self.base_scores_ = low, walk.base_scores
        self.degrees_, self.volume_ = walk.degrees, walk.volume
        self.eigenvalues_, self.cluster_centers_, self.n_clusters_ = axes.values, centers, len(centers)
        self.labels_ = np.full(n, -1)
        self.labels_[inside] = labels
        self.embedding_, self.fitted_labels_ = embedding, self.labels_
        rankings = ClusterRankings.of(walk, self.labels_, self.n_clusters_, self.restart_)
        self.cluster_scores_, self.memberships_ = rankings.scores, rankings.memberships
        self.cohesion_, self.exemplars_ = rankings.cohesion, rankings.exemplars
        self.outlier_scores_ = 1 - self.base_scores_ / self.base_scores_.max()
        self.expansion_ = Expansion(kernel, X, rankings.steps(walk), gram=walk.gram)
        warn_localized(axes.embedding, low[inside])
        return self

    # Steps of fit ------------------------------------------------------------------------------------------

    def _axes(self, walk: Walk, k: int, n_axes: int | None, pairs: tuple[Array, Array] | None) -> JointAxes:
        """The columns of Z that are clustered, from the eigenpairs of the walk where they are known."""
        if not self.normalized:
            return laplacian_axes(walk, self.restart, n_axes or k)
        n_axes = n_axes or max(1, k - 1)
        values, vectors = walk_axes(walk, n_axes) if pairs is None else pairs
        if not len(values) and k > 1:
            raise ValueError(
                "the walk has no positive eigenvalue beyond the trivial one, as when all samples are alike or a graph "
                "has no groups; check X and the kernel, or pass normalized=False"
            )
        if not len(values):
            values, vectors = np.ones(1), walk.trivial[:, None]  # a column of ones: one cluster needs no more
        return normalized_axes(walk, self.restart, (values[:n_axes], vectors[:, :n_axes]))

    def _cluster(self, Z: Array, k: int) -> tuple[Array, Array]:
        n_init = int(self.n_init)
        if self.metric == "cosine":
            labels, centers, _ = angular_kmeans(Z, k, n_init=n_init, random_state=self.random_state)
        else:
            seed = int(generator(self.random_state).integers(2**31 - 1))
            labels, centers = kmeans(Z, k, seed=seed, n_init=n_init, pivots=False)
        labels, used = used_labels(labels)
        return labels, centers[used]

    # Rankings of the fitted samples ------------------------------------------------------------------------

    def rank(
        self, cluster: int | None = None, within: bool = True, top: int | None = None, *, target: Any = None
    ) -> Array:
        """Fitted samples by their score with a cluster as seeds, best first.

        Parameters
        ----------
        cluster : int or None
            The seeds; None is all samples.
        within : bool, default True
            List only members of ``cluster``; False lists all samples.
        top : int, optional
            Only so many.
        target : int, optional
            List the members of this cluster instead: those that are most like ``cluster``.

        Returns
        -------
        index : ndarray
        """
        check_is_fitted(self, "expansion_")
        check_top(top)
        scores = self.scores() if cluster is None else self.cluster_scores_[:, self._known(cluster, "cluster")]
        listed = target if target is not None else cluster if within else None
        if listed is None:
            return best_first(scores, top)
        members = np.flatnonzero(self.fitted_labels_ == self._known(listed, "target"))
        return members[best_first(scores[members], top)]

    def top_per_cluster(self, top: int = 10) -> list[Array]:
        """The best members of each cluster, as :meth:`rank` lists them."""
        check_is_fitted(self, "expansion_")
        return [self.rank(cluster, top=top) for cluster in range(self.n_clusters_)]

    def query(self, index_or_row: Any, top: int | None = 10) -> Array:
        """The fitted samples most like a given one.

        Parameters
        ----------
        index_or_row : int or array-like (d,)
            A fitted sample, which is left out of its own list, or a new row.
        top : int or None, default 10

        Returns
        -------
        index : ndarray (top,)
        """
        check_is_fitted(self, "expansion_")
        check_top(top)
        if np.ndim(index_or_row) == 0 and not isinstance(index_or_row, Integral):
            raise ValueError(f"index_or_row={index_or_row!r} must be the index of a fitted sample or a new row")
        if np.ndim(index_or_row) > 0:
            return best_first(self.scores(query=index_or_row), top)
        scores = self.scores(index_or_row)
        scores[int(index_or_row)] = -np.inf
        return best_first(scores, len(scores) - 1 if top is None else min(int(top), len(scores) - 1))

    def scores(self, seeds: Any = None, *, query: Any = None) -> Array:
        """Exact scores of the fitted samples for any seeds.

        Parameters
        ----------
        seeds, query
            As in :meth:`gramian.KernelPageRank.scores`: fitted samples, or new rows whose restart is their first
            step to the fitted ones.

        Returns
        -------
        scores : ndarray (n,), or (n, q) for q queries
        """
        check_is_fitted(self, "expansion_")
        walk = self._the_walk()
        S, rows, single = self._restarts(seeds, query)
        if rows is None:
            values = exact_scores(walk, S, self.restart_)
        else:
            values = (1 - self.restart_) * exact_scores(walk, self._first_step(rows), self.restart_)
        return values[:, 0] if single else values

    def _known(self, cluster: Any, name: str) -> int:
        return whole(cluster, name, least=0, most=self.n_clusters_ - 1)

    # New samples -------------------------------------------------------------------------------------------

    def _place(self, X: Matrix) -> tuple[Array, Array]:
        check_is_fitted(self, "expansion_")
        return self.place_(self._check_new(X))

    @property
    def _by_direction(self) -> bool:
        return self.metric == "cosine"

    def predict_proba(self, X: Matrix) -> Array:
        """Memberships of new samples, by one step of the walk from them; rows sum to 1.

        Parameters
        ----------
        X : array-like or sparse (n_new, d)

        Returns
        -------
        memberships : ndarray (n_new, n_clusters_)
            All alike, with a warning, for a sample that is similar to no fitted one.
        """
        values = self._steps(X)
        joint = np.maximum(values[:, :-1], 0)
        warn_alone(int((joint.sum(axis=1) <= 0).sum()), "belong to all clusters alike")
        return memberships(joint)

    def score_samples(self, X: Matrix) -> Array:
        """Base scores d(x) / vol of new samples: high is typical, low is an outlier.

        Parameters
        ----------
        X : array-like or sparse (n_new, d)

        Returns
        -------
        scores : ndarray (n_new,); a fitted sample has its entry of ``base_scores_``
        """
        return self._steps(X)[:, -1] / self.volume_

    def _steps(self, X: Matrix) -> Array:
        check_is_fitted(self, "expansion_")
        return self.expansion_(self._check_new(X)).astype(np.float64, copy=False)
