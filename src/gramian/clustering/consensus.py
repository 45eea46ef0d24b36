"""Consensus clustering: many quick partitions vote on which rows belong together.

The votes are kept as a thin sparse matrix of memberships; the n×n co-association matrix is only written down, within
the memory budget, where a linkage has to read it. k-means partitions come from ``ensemble/``, those of rows with
missing values from :class:`gramian.kernels.ClusterKernel`.
"""

from __future__ import annotations

import warnings
from math import ceil, floor, sqrt
from numbers import Real
from typing import Any

import numpy as np
from scipy.sparse import csr_array, issparse
from sklearn.base import ClusterMixin
from sklearn.utils.validation import check_is_fitted, validate_data

from gramian.checks import check_choice, check_count, check_samples, check_whole, n_workers, remember_columns
from gramian.clustering.core.embedding import labels_by_first_row
from gramian.clustering.core.n_clusters import longest_lived
from gramian.clustering.ensemble.agreement import affinities, spectral_labels
from gramian.clustering.ensemble.evidence import (
    coassociation,
    condensed_distances,
    cut,
    require_pairs,
    single_linkage,
    strip_rows,
)
from gramian.clustering.ensemble.partitions import KMeansPartitions
from gramian.configuration import require_memory
from gramian.diagram import Estimator
from gramian.grams.tiles import slices
from gramian.kernels import ClusterKernel
from gramian.partitions import DistributedAnswers
from gramian.progress import steps
from gramian.randomness import generator, spawn
from gramian.typing import Array, Matrix, RandomState

_LINKAGE_ROWS = 10_000  # linkage="auto" reads all pairs up to here; a fixed number, so that machines agree
# Blobs and rings that lie apart last this long, and this many times longer than any other number; wine, iris, seeds,
# breast_w and noise do not.
_CERTAIN_LIFETIME, _CERTAIN_RATIO = 0.15, 1.6
_MEMBERSHIPS_AT_ONCE = 2**22  # of new rows, which are answered in parts


class ConsensusClustering(ClusterMixin, DistributedAnswers, Estimator):
    """Cluster by the votes of many quick partitions of the same rows (evidence accumulation).

    Each of M base partitions has its own random start and its own number of clusters, usually far more than wanted.
    With H the n×Σk matrix that has a one where a row is in a base cluster, the co-association of two rows is the
    share of partitions that keep them together,

        S = H Hᵀ / M,     S_ij = (partitions with i and j in the same cluster) / M.

    S is positive semi-definite, has ones on the diagonal and values in [0, 1]. The consensus is found from 1 − S by
    average or single linkage, or from S by spectral clustering, which needs only H. Clusters may have any shape that
    small pieces can follow: single linkage separates rings and moons that k-means cuts across.

    A new row x is put into base clusters by the stored base models. It joins the consensus cluster with whose rows it
    shares most partitions on average; but a row that is in the same base clusters as a fitted one, as every fitted row
    given again is, joins the cluster of that one.

    Parameters
    ----------
    n_clusters : int or None, default None
        None takes, of the dendrogram with merge heights h_0 ≤ … ≤ h_{n−2}, the number of clusters of the longest
        lifetime h_{n−k} − h_{n−k−1}, 2 ≤ k ≤ n − 1, the smaller k of equals. Where clusters overlap no number lasts
        long, and the partitions do not tell: ``n_clusters_is_certain_`` is then False, with a warning. With
        ``linkage="spectral"`` it takes the largest relative eigengap, as :class:`SpectralClustering` does, up to 20.
    n_partitions : int, default 200
        M.
    min_components, max_components : int, optional
        Each partition's number of clusters is drawn from this range. Default max(2, ⌊√n / 2⌋) to ⌈√n⌉.
    base : {"auto", "kmeans", "mixture"}, default "auto"
        "kmeans" takes the columns as they are: scale them first if they have different units. Each k-means starts at
        random rows and makes a few steps only; beyond 10,000 rows it learns from a random part of them. "mixture"
        takes rows with missing values: the hard memberships of a :class:`~gramian.kernels.ClusterKernel`, which
        scales the columns itself. It has equally many mixtures of every size in the range, M or slightly more in all.
        "auto" is "mixture" if X has missing values and "kmeans" otherwise.
    linkage : {"auto", "average", "single", "spectral"}, default "auto"
        "average" suits compact clusters, "single" and "spectral" long and winding ones too, single linkage only
        if nothing lies between them. "average" holds the n² / 2 distances of all pairs; "single" (without
        ``subsample``) looks at them row by row and "spectral" works on H alone, both for hundreds of thousands of
        rows. "auto" is "average" up to 10,000 rows and "spectral" beyond.
    subsample : float, optional
        Part of the rows, between 0 and 1, that each k-means partition sees (resampling). S_ij is then the share among
        the partitions that saw both rows, 0 if none did, and S need not be positive semi-definite. For "spectral",
        which needs a product of features, the denominator is the geometric mean of the numbers of partitions that
        saw each row; it is the same S, scaled, but for the diagonal and noise.
    n_jobs : int, optional
        Threads; by default those of :class:`gramian.config`. The result does not depend on it. With
        ``joblib.parallel_config(backend="dask")`` partitions are found by the workers of a cluster instead.
    random_state : int, Generator or None, default None
    verbose : int, default 0
        1 shows a progress bar.

    Attributes
    ----------
    labels_ : ndarray (n,)
    n_clusters_ : int
    n_clusters_is_certain_ : bool
        False if ``n_clusters=None`` and the lifetimes do not tell the number of clusters; then prefer
        :class:`~gramian.AutoClustering`, or pass ``n_clusters``.
    memberships_ : csr_array (n, Σk)
        H, one-hot: a one for each base cluster that the row is in, partition by partition.
    linkage_matrix_ : ndarray (n − 1, 4) or None
        The dendrogram in SciPy's format; None with "spectral".
    lifetimes_ : ndarray (n − 2,) or None
        Lifetimes of 2, 3, …, n − 1 clusters; None with "spectral".
    seen_ : ndarray (n, M) of bool or None
        The rows that each partition saw; None without ``subsample``.
    base_ : KMeansPartitions or ClusterKernel
        The base models, which put new rows into base clusters.
    affinities_ : ndarray (Σk, n_clusters_)
        Mean co-association with the rows of each cluster that a new row gets from being in a base cluster.
    signatures_ : ndarray (m,)
        A number for each set of base clusters that fitted rows are in, rising.
    signature_labels_ : ndarray (m,)
        The cluster of those rows.

    References
    ----------
    Fred, Jain (2005). Combining multiple clusterings using evidence accumulation. IEEE TPAMI 27(6).

    Examples
    --------
    >>> from gramian import ConsensusClustering
    >>> from sklearn.datasets import make_blobs
    >>> X, y = make_blobs(200, centers=3, cluster_std=0.4, center_box=(-15, 15), random_state=0)
    >>> model = ConsensusClustering(random_state=0).fit(X)
    >>> model.n_clusters_
    3
    >>> bool((model.predict(X) == model.labels_).all())
    True
    """

    def __init__(
        self,
        n_clusters: int | None = None,
        *,
        n_partitions: int = 200,
        min_components: int | None = None,
        max_components: int | None = None,
        base: str = "auto",
        linkage: str = "auto",
        subsample: float | None = None,
        n_jobs: int | None = None,
        random_state: RandomState = None,
        verbose: int = 0,
    ) -> None:
        self.n_clusters = n_clusters
        self.n_partitions = n_partitions
        self.min_components = min_components
        self.max_components = max_components
        self.base = base
        self.linkage = linkage
        self.subsample = subsample
        self.n_jobs = n_jobs
        self.random_state = random_state
        self.verbose = verbose

    def fit(self, X: Matrix, y: Any = None) -> ConsensusClustering:
        """Cluster X.

        Parameters
        ----------
        X : array-like or sparse (n, d)
            NaN is a missing value. Sparse rows are for k-means only.
        y : ignored

        Returns
        -------
        self : ConsensusClustering
        """
        self._check_parameters()
        given = X
        X = check_samples(self, X, ensure_min_samples=2, **self._checks())
        n = X.shape[0]
        base = self._choose_base(X)
        k = check_count(self, "n_clusters", n, none_allowed=True)
        if k is None and n < 3:
            raise ValueError(f"n_clusters=None needs at least three samples; got n_samples={n}: pass n_clusters")
        method = self.linkage
        if method == "auto":
            method = "average" if n <= _LINKAGE_ROWS else "spectral"
        if method == "average" or (method == "single" and self.subsample is not None):
            require_pairs(n)  # before the partitions, not after
        rng = generator(self.random_state)
        models, H, seen = self._partition(X, base, rng)
        tree, lifetimes, certain = None, None, True
        if method == "spectral":
            labels = spectral_labels(H, k, rng)
        else:
            by_rows = method == "single" and seen is None
            tree = single_linkage(H) if by_rows else _tree(condensed_distances(H, seen), method)
            lifetimes = np.diff(tree[:, 2])[::-1]
            labels = cut(tree, longest_lived(lifetimes) if k is None else k)
            certain = k is not None or _is_certain(lifetimes)
        labels, used = labels_by_first_row(labels)
        self.affinities_ = affinities(H, labels)
        # A row given again is put into the base clusters of all partitions, also those that did not see it.
        everywhere = H if seen is None else models.memberships(X, n_workers=n_workers(self))
        self.signatures_, rows = np.unique(_signatures(everywhere), return_index=True)
        self.signature_labels_ = labels[rows]
        self.labels_, self.n_clusters_, self.n_clusters_is_certain_ = labels, len(used), certain
        self.linkage_matrix_, self.lifetimes_ = tree, lifetimes
        self.memberships_, self.seen_, self.base_ = H, seen, models
        remember_columns(self, given)
        if not certain:
            warnings.warn(
                f"the partitions do not tell the number of clusters: {len(used)} lasts longest in the dendrogram, but "
                "not long; pass n_clusters, or choose it by AutoClustering",
                UserWarning,
                stacklevel=2,
            )
        return self

    # What the parameters mean for this X -------------------------------------------------------------------

    def _check_parameters(self) -> None:
        check_whole(self, "n_partitions")
        check_whole(self, "verbose", least=0)
        check_choice(self, "base", ("auto", "kmeans", "mixture"))
        check_choice(self, "linkage", ("auto", "average", "single", "spectral"))
        part = self.subsample
        n_workers(self)
        if part is not None and (not isinstance(part, Real) or isinstance(part, bool) or not 0 < float(part) <= 1):
            raise ValueError(f"subsample={part!r} must be a number above 0, at most 1, or None")

    def _checks(self) -> dict[str, Any]:
        """What scikit-learn's validation is to allow; missing values are looked at in :meth:`_choose_base`."""
        return {
            "accept_sparse": False if self.base == "mixture" else "csr",
            "dtype": [np.float64, np.float32],
            "ensure_all_finite": "allow-nan",
        }

    def _choose_base(self, X: Matrix) -> str:
        missing = _has_missing(X)
        base = ("mixture" if missing else "kmeans") if self.base == "auto" else self.base
        if base == "kmeans" and missing:
            raise ValueError("X has missing values (NaN), which base='kmeans' cannot take; pass base='mixture'")
        if base == "mixture" and issparse(X):
            raise ValueError("a sparse X must not have missing values (NaN); pass a dense array")
        if base == "mixture" and self.subsample is not None:
            raise ValueError(
                f"subsample={self.subsample} is for base='kmeans' and X without missing values (NaN); pass "
                "subsample=None, mixtures already learn from a random part of the rows"
            )
        return base

    def _component_range(self, n: int) -> tuple[int, int]:
        """The least and the largest number of clusters of a partition of n rows."""
        most = self._n_seen(n)
        low = check_count(self, "min_components", n, none_allowed=True)
        high = check_count(self, "max_components", n, none_allowed=True)
        for name, value in (("min_components", low), ("max_components", high)):
            if value is not None and value > most:
                raise ValueError(
                    f"{name}={value} is more than the {most} rows that each partition sees with subsample="
                    f"{self.subsample}; pass {name} <= {most} or a larger subsample"
                )
        if low is not None and high is not None and low > high:
            raise ValueError(f"min_components={low} is more than max_components={high}; swap them or leave one out")
        usual = max(2, floor(sqrt(n) / 2))
        if low is None:
            low = min(usual, most) if high is None else min(usual, high)
        if high is None:
            high = min(max(low + 1, ceil(sqrt(n))), most)
        return low, high

    def _n_seen(self, n: int) -> int:
        """How many of n rows each partition sees."""
        return n if self.subsample is None else max(2, ceil(float(self.subsample) * n))

    # Base partitions ---------------------------------------------------------------------------------------

    def _partition(self, X: Matrix, base: str, rng: np.random.Generator) -> tuple[Any, csr_array, Array | None]:
        """The fitted base models, H, and, with ``subsample``, a mask (n, M) of the rows each partition saw."""
        n = X.shape[0]
        low, high = self._component_range(n)
        require_memory(
            float(n) * int(self.n_partitions) * (X.dtype.itemsize + 4),
            f"the memberships of {n} rows in n_partitions={self.n_partitions} partitions",
            "lower n_partitions",
        )
        if base == "mixture":
            kernel = ClusterKernel(
                ceil(int(self.n_partitions) / (high - low + 1)),
                high,
                min_components=low,
                hard=True,
                n_jobs=self.n_jobs,
                random_state=int(rng.integers(2**31 - 1)),  # a model file carries a number, no generator
                verbose=self.verbose,
            ).fit(X)
            return kernel, _mixture_memberships(kernel, X), None
        children = spawn(rng, int(self.n_partitions))
        counts = np.sort([child.integers(low, high + 1) for child in children])
        seen = None if self.subsample is None else _draw_rows(n, self._n_seen(n), children)
        models = KMeansPartitions()
        with steps("Base partitions", total=len(children), verbose=self.verbose) as advance:
            H = models.fit(X, counts, seen, children, n_workers=n_workers(self), advance=advance)
        return models, H, seen

    # Answers -----------------------------------------------------------------------------------------------

    def coassociation(self) -> Array:
        """The co-association S of the fitted rows as a dense n×n array; refused above the memory budget.

        Returns
        -------
        S : ndarray (n, n)
        """
        check_is_fitted(self, "memberships_")
        n = self.memberships_.shape[0]
        require_memory(
            float(n) * n * self.memberships_.dtype.itemsize,
            f"the dense {n}×{n} co-association matrix",
            "work with memberships_, whose products give it",
        )
        return np.vstack([coassociation(self.memberships_, self.seen_, rows) for rows in slices(n, strip_rows(n))])

    def predict(self, X: Matrix) -> Array:
        """Cluster of each new row: that of the fitted rows with which it is most often together.

        Parameters
        ----------
        X : array-like or sparse (n_new, d)

        Returns
        -------
        labels : ndarray (n_new,)
        """
        means, signatures = self._together(X)
        labels: Array = np.argmax(means, axis=1)
        place = np.minimum(np.searchsorted(self.signatures_, signatures), len(self.signatures_) - 1)
        return np.where(self.signatures_[place] == signatures, self.signature_labels_[place], labels)

    def decision_function(self, X: Matrix) -> Array:
        """Mean co-association of each new row with the fitted rows of each cluster, between 0 and 1.

        Parameters
        ----------
        X : array-like or sparse (n_new, d)

        Returns
        -------
        means : ndarray (n_new, n_clusters_)
        """
        return self._together(X)[0]

    def _together(self, X: Matrix) -> tuple[Array, Array]:
        """Mean co-association of new rows with each cluster, and the signatures of their base clusters."""
        check_is_fitted(self, "affinities_")
        X = validate_data(self, X, reset=False, **self._checks())
        if isinstance(self.base_, KMeansPartitions) and _has_missing(X):
            raise ValueError(
                "X has missing values (NaN) but the rows of fit had none, so the partitions are k-means, which cannot "
                "take them; fit with base='mixture'"
            )
        signatures = np.empty(X.shape[0], np.uint64)
        means = np.empty((X.shape[0], self.n_clusters_), self.affinities_.dtype)
        for rows in slices(X.shape[0], max(1, _MEMBERSHIPS_AT_ONCE // int(self.n_partitions))):
            H = self._memberships(X[rows])
            means[rows], signatures[rows] = H @ self.affinities_, _signatures(H)
        return means, signatures

    def _memberships(self, X: Matrix) -> csr_array:
        if isinstance(self.base_, KMeansPartitions):
            return self.base_.memberships(X, n_workers=n_workers(self))
        return _mixture_memberships(self.base_, X)

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.allow_nan = self.base != "kmeans" and self.subsample is None
        tags.input_tags.sparse = self.base != "mixture"
        return tags


def _mixture_memberships(kernel: Any, X: Array) -> csr_array:
    """H of rows with missing values: the hard features of a cluster kernel, ones instead of 1/√M."""
    F = csr_array(kernel.features(X))
    return csr_array((np.ones_like(F.data), F.indices, F.indptr), shape=F.shape)


def _draw_rows(n: int, size: int, children: list[np.random.Generator]) -> Array:
    """A mask (n, M) of ``size`` random rows for each partition; a row that none has drawn is seen by all."""
    seen = np.zeros((n, len(children)), bool)
    for m, child in enumerate(children):
        seen[child.choice(n, size, replace=False), m] = True
    seen[~seen.any(axis=1)] = True
    return seen


# The consensus -----------------------------------------------------------------------------------------------


def _tree(distances: Array, method: str) -> Array:
    from scipy.cluster.hierarchy import linkage  # slow to import

    tree: Array = linkage(distances, method)
    return tree


def _is_certain(lifetimes: Array) -> bool:
    """Whether one number of clusters lasts long, and far longer than any other."""
    longest = np.sort(lifetimes)[::-1][:2]
    return bool(longest[0] >= _CERTAIN_LIFETIME and longest[0] >= _CERTAIN_RATIO * longest[1:].sum())


def _signatures(H: csr_array) -> Array:
    """A number for each row that tells, but for a chance of n² / 2^64, which base clusters it is in."""
    numbers = np.random.default_rng(0).integers(2**63, size=H.shape[1], dtype=np.uint64)
    return np.add.reduceat(numbers[H.indices], H.indptr[:-1])


def _has_missing(X: Matrix) -> bool:
    return bool(np.isnan(X.data if issparse(X) else X).any())
