"""Consensus clustering: many quick partitions vote on which rows belong together.

The votes are kept as a thin sparse matrix of memberships; the n×n co-association matrix is only written down, within
the memory budget, where a linkage has to read it. k-means partitions are made here, all at once in batches; those of
rows with missing values come from :class:`gramian.kernels.ClusterKernel`.
"""

from __future__ import annotations

from collections.abc import Callable
from math import ceil, floor, sqrt
from numbers import Integral, Real
from typing import Any

import numpy as np
from joblib import effective_n_jobs
from scipy.cluster.hierarchy import linkage as scipy_linkage
from scipy.sparse import coo_array, csr_array, issparse
from scipy.sparse.csgraph import connected_components
from sklearn.base import BaseEstimator, ClusterMixin
from sklearn.utils.validation import check_is_fitted, validate_data

from gramian.checks import check_choice, check_count, check_whole
from gramian.clustering.rows import used_labels
from gramian.clustering.spectral import SpectralClustering
from gramian.configuration import require_memory, threads
from gramian.grams import FeatureGram, Gram, tiles
from gramian.grams.features import Factor, MatrixFactor
from gramian.grams.tiles import slices
from gramian.kernels import ClusterKernel, Linear
from gramian.progress import steps
from gramian.randomness import generator, spawn
from gramian.typing import Array, Matrix, RandomState

_LINKAGE_ROWS = 10_000  # linkage="auto" reads all pairs up to here; a fixed number, so that machines agree
_MAX_ITER = 5  # steps of a base k-means, few on purpose: partitions that are not finished differ more
_TRAINING_ROWS = 10_000  # a base k-means learns its centres from at most so many rows, or so many per centre:
_ROWS_PER_CENTER = 100
_BATCH_CENTERS = 1024  # centres whose distances are one product
_MEMBERSHIPS_AT_ONCE = 2**22  # of new rows, which are answered in parts


class ConsensusClustering(ClusterMixin, BaseEstimator):
    """Combine many weak partitions of the same rows into one good one (evidence accumulation).

    Each of M base partitions has its own random start and its own number of clusters, usually far more than wanted.
    With H the n×Σk matrix that has a one where a row is in a base cluster, the co-association of two rows is the
    share of partitions that keep them together,

        S = H Hᵀ / M,     S_ij = (partitions with i and j in the same cluster) / M.

    S is positive semi-definite, has ones on the diagonal and values in [0, 1]. The consensus is found from 1 − S by
    average or single linkage, or from S by spectral clustering, which needs only H. Clusters may have any shape that
    small pieces can follow: single linkage separates rings and moons that k-means cuts across.

    A new row x is put into base clusters by the stored base models. It joins the consensus cluster with whose rows it
    shares most partitions on average.

    Parameters
    ----------
    n_clusters : int or None, default None
        None takes, of the dendrogram with merge heights h_0 ≤ … ≤ h_{n−2}, the number of clusters of the longest
        lifetime h_{n−k} − h_{n−k−1}, 2 ≤ k ≤ n − 1, the smaller k of equals. With ``linkage="spectral"`` it takes the
        largest relative eigengap, as :class:`SpectralClustering` does, up to 20.
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
        Threads; by default those of :class:`gramian.config`. The result does not depend on it.
    random_state : int, Generator or None, default None
    verbose : int, default 0
        1 shows a progress bar.

    Attributes
    ----------
    labels_ : ndarray (n,)
    n_clusters_ : int
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

    References
    ----------
    Fred, Jain (2005). Combining multiple clusterings using evidence accumulation. IEEE TPAMI 27(6).

    Examples
    --------
    >>> from gramian import ConsensusClustering
    >>> from sklearn.datasets import make_blobs
    >>> X, y = make_blobs(200, centers=3, cluster_std=0.6, random_state=0)
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
        X = validate_data(self, X, reset=True, ensure_min_samples=2, **self._checks())
        n = X.shape[0]
        base = self._choose_base(X)
        k = check_count(self, "n_clusters", n, none_allowed=True)
        if k is None and n < 3:
            raise ValueError(f"n_clusters=None needs at least three samples; got n_samples={n}: pass n_clusters")
        method = self.linkage
        if method == "auto":
            method = "average" if n <= _LINKAGE_ROWS else "spectral"
        if method == "average" or (method == "single" and self.subsample is not None):
            _require_pairs(n)  # before the partitions, not after
        rng = generator(self.random_state)
        models, H, seen = self._partition(X, base, rng)
        tree, lifetimes = None, None
        if method == "spectral":
            labels = _spectral_labels(H, k, rng)
        else:
            by_rows = method == "single" and seen is None
            tree = _single_linkage(H) if by_rows else scipy_linkage(_condensed_distances(H, seen), method)
            lifetimes = np.diff(tree[:, 2])[::-1]
            labels = _cut(tree, _longest_lived(lifetimes) if k is None else k)
        labels, used = used_labels(labels)
        self.affinities_ = _affinities(H, labels)
        self.labels_, self.n_clusters_ = labels, len(used)
        self.linkage_matrix_, self.lifetimes_ = tree, lifetimes
        self.memberships_, self.seen_, self.base_ = H, seen, models
        return self

    # What the parameters mean for this X -------------------------------------------------------------------

    def _check_parameters(self) -> None:
        check_whole(self, "n_partitions")
        check_whole(self, "verbose", least=0)
        check_choice(self, "base", ("auto", "kmeans", "mixture"))
        check_choice(self, "linkage", ("auto", "average", "single", "spectral"))
        part, jobs = self.subsample, self.n_jobs
        if part is not None and (not isinstance(part, Real) or isinstance(part, bool) or not 0 < float(part) <= 1):
            raise ValueError(f"subsample={part!r} must be a number above 0, at most 1, or None")
        if jobs is not None and (not isinstance(jobs, Integral) or isinstance(jobs, bool) or jobs == 0):
            raise ValueError(f"n_jobs={jobs!r} must be a whole number other than 0, or None")

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
            H = models.fit(X, counts, seen, children, n_workers=self._n_workers(), advance=advance)
        return models, H, seen

    def _n_workers(self) -> int:
        return threads() if self.n_jobs is None else int(effective_n_jobs(self.n_jobs))

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
        return np.vstack([_coassociation(self.memberships_, self.seen_, rows) for rows in slices(n, _strip(n))])

    def predict(self, X: Matrix) -> Array:
        """Cluster of each new row: the one with whose rows it is most often together.

        Parameters
        ----------
        X : array-like or sparse (n_new, d)

        Returns
        -------
        labels : ndarray (n_new,)
        """
        labels: Array = np.argmax(self.decision_function(X), axis=1)
        return labels

    def decision_function(self, X: Matrix) -> Array:
        """Mean co-association of each new row with the fitted rows of each cluster, between 0 and 1.

        Parameters
        ----------
        X : array-like or sparse (n_new, d)

        Returns
        -------
        means : ndarray (n_new, n_clusters_)
        """
        check_is_fitted(self, "affinities_")
        X = validate_data(self, X, reset=False, **self._checks())
        if isinstance(self.base_, KMeansPartitions) and _has_missing(X):
            raise ValueError(
                "X has missing values (NaN) but the rows of fit had none, so the partitions are k-means, which cannot "
                "take them; fit with base='mixture'"
            )
        means = np.empty((X.shape[0], self.n_clusters_), self.affinities_.dtype)
        for rows in slices(X.shape[0], max(1, _MEMBERSHIPS_AT_ONCE // int(self.n_partitions))):
            means[rows] = self._memberships(X[rows]) @ self.affinities_
        return means

    def _memberships(self, X: Matrix) -> csr_array:
        if isinstance(self.base_, KMeansPartitions):
            return self.base_.memberships(X, n_workers=self._n_workers())
        return _mixture_memberships(self.base_, X)

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.allow_nan = self.base != "kmeans" and self.subsample is None
        tags.input_tags.sparse = self.base != "mixture"
        return tags


class KMeansPartitions:
    """Many k-means partitions of the same rows, found in batches, and the clusters of new rows.

    The distances of all rows to all centres of a batch are one product. Rows are moved and scaled as a whole first,
    which changes no partition but keeps digits where the data lie far from zero, and products in range.

    Attributes
    ----------
    batches : list of KMeansBatch
    shift : ndarray (d,) or None
    scale : float
    """

    def __init__(self) -> None:
        self.batches: list[KMeansBatch] = []
        self.shift: Array | None = None
        self.scale = 1.0

    def fit(
        self,
        X: Matrix,
        counts: Array,
        seen: Array | None,
        children: list[np.random.Generator],
        *,
        n_workers: int,
        advance: Callable[..., None],
    ) -> csr_array:
        """Learn a partition for each count, and return the memberships of X.

        Parameters
        ----------
        X : ndarray or CSR (n, d)
        counts : ndarray (M,)
            Centres of each partition. Those of a batch are padded to equally many, so they are best sorted.
        seen : ndarray (n, M) of bool or None
            The rows that each partition may use.
        children : list of M generators
        n_workers : int
        advance : callable
            Told how many partitions are done.
        """
        if not issparse(X):
            # The median of some rows: a mean would follow a single far outlier away from all the others.
            self.shift = np.median(X[:: max(1, len(X) // 1000)], axis=0).astype(X.dtype)
        X = self._framed(X)
        largest = float(abs(X).max())
        self.scale = largest if largest > 0 else 1.0
        X = X / X.dtype.type(self.scale)
        # What a batch is must not depend on the number of workers: rounding, and so the result, may.
        parts = list(slices(len(counts), max(1, _BATCH_CENTERS // int(counts.max()))))
        batches = [KMeansBatch() for _ in parts]
        places = np.empty((X.shape[0], len(counts)), np.int32)

        def learn(task: int) -> None:
            part = parts[task]
            mask = None if seen is None else seen[:, part]
            places[:, part] = batches[task].fit(X, counts[part], mask, children[part])
            advance(len(batches[task].columns))

        tiles.run_threaded(learn, range(len(parts)), entries=float(X.shape[0]) * counts.sum(), n_workers=n_workers)
        first = 0
        for batch, part in zip(batches, parts, strict=True):
            batch.columns += first
            first = int(batch.columns.max()) + 1
            places[:, part] = _columns(batch.columns, places[:, part])
        self.batches = batches
        return self._one_hot(places, seen, X.dtype)

    def memberships(self, X: Matrix, *, n_workers: int) -> csr_array:
        """H for new rows, as one-hot as that of the fitted ones."""
        X = self._framed(X)
        X = X / X.dtype.type(self.scale)
        ends = np.cumsum([len(batch.columns) for batch in self.batches])
        places = np.empty((X.shape[0], ends[-1]), np.int32)

        def assign(task: int) -> None:
            batch = self.batches[task]
            part = slice(ends[task] - len(batch.columns), ends[task])
            places[:, part] = _columns(batch.columns, batch.nearest(X))

        entries = float(X.shape[0]) * sum(batch.columns.size for batch in self.batches)
        tiles.run_threaded(assign, range(len(self.batches)), entries=entries, n_workers=n_workers)
        return self._one_hot(places, None, X.dtype)

    def _framed(self, X: Matrix) -> Matrix:
        if self.shift is None:
            return X
        return (X.toarray() if issparse(X) else X) - self.shift.astype(X.dtype)

    def _one_hot(self, places: Array, seen: Array | None, dtype: Any) -> csr_array:
        """H from the column of each row in each partition; rows that a partition did not see have none in it."""
        width = int(self.batches[-1].columns.max()) + 1
        lengths = np.full(len(places), places.shape[1]) if seen is None else seen.sum(axis=1)
        indices = places.ravel() if seen is None else places[seen]
        ends = np.concatenate([[0], np.cumsum(lengths)])
        return csr_array((np.ones(len(indices), dtype), indices, ends), shape=(len(places), width))


class KMeansBatch:
    """Some k-means partitions advanced together.

    Attributes
    ----------
    centers : ndarray (b, k, d)
    offsets : ndarray (b, k)
        ‖c‖² / 2 of each centre c; infinite for those that only fill up a partition with fewer than k, or hold no row.
    columns : ndarray (b, k)
        The column of H that belongs to each centre; any for those without.
    """

    def fit(self, X: Matrix, counts: Array, seen: Array | None, children: list[np.random.Generator]) -> Array:
        """A few steps of Lloyd's algorithm from random rows; returns the cluster of each row, (n, b)."""
        n, (b, k) = X.shape[0], (len(counts), int(counts.max()))
        self.centers = np.zeros((b, k, X.shape[1]), X.dtype)
        for m, (child, count) in enumerate(zip(children, counts, strict=True)):
            rows = child.choice(n if seen is None else np.flatnonzero(seen[:, m]), count, replace=False)
            self.centers[m, :count] = X[rows].toarray() if issparse(X) else X[rows]
        used = np.arange(k) < counts[:, None]
        self._set_offsets(used)
        training, mask = X, seen
        if n > (limit := max(_TRAINING_ROWS, _ROWS_PER_CENTER * k)):
            rows = np.sort(children[0].choice(n, limit, replace=False))
            training, mask = X[rows], None if seen is None else seen[rows]
        before = None
        for _ in range(_MAX_ITER):
            labels = self.nearest(training)
            if before is not None and np.array_equal(labels, before):
                break
            before = labels
            members = _members(labels, k, mask, X.dtype)
            sizes = np.asarray(members.sum(axis=1)).reshape(b, k, 1)
            sums = members @ training
            sums = (sums.toarray() if issparse(sums) else sums).reshape(self.centers.shape)
            # A centre without rows stays where it is; more diversity is all that an empty cluster costs.
            np.divide(sums, sizes, out=self.centers, where=sizes > 0)
            self._set_offsets(used)
        labels = self.nearest(X)
        held = np.asarray(_members(labels, k, seen, X.dtype).sum(axis=1)).reshape(b, k) > 0
        self._set_offsets(held)
        self.columns = (np.maximum(np.cumsum(held.ravel()), 1) - 1).reshape(b, k).astype(np.int32)
        return labels

    def _set_offsets(self, used: Array) -> None:
        halves = np.einsum("bkd,bkd->bk", self.centers, self.centers) / 2
        self.offsets = np.where(used, halves, np.inf).astype(self.centers.dtype)

    def nearest(self, X: Matrix) -> Array:
        """The nearest centre of each row in each partition, (n, b); the first of equals."""
        b, k, d = self.centers.shape
        axes = np.ascontiguousarray(self.centers.reshape(b * k, d).T)
        labels = np.empty((X.shape[0], b), np.int32)
        # Tiles stay in cache between product and search, and are written to the same memory again and again.
        length = min(X.shape[0], max(1, tiles.TILE_BYTES // (b * k * X.dtype.itemsize)))
        memory = np.empty((length, b * k), np.result_type(X.dtype, axes.dtype))
        for rows in slices(X.shape[0], length):
            tile = memory[: rows.stop - rows.start]
            scores = X[rows] @ axes if issparse(X) else np.matmul(X[rows], axes, out=tile)
            scores -= self.offsets.ravel()  # ‖x − c‖² is least where x·c − ‖c‖²/2 is largest
            labels[rows] = scores.reshape(-1, b, k).argmax(axis=2)
        return labels


def _members(labels: Array, k: int, seen: Array | None, dtype: Any) -> csr_array:
    """The (b·k)×n matrix with a one where a row, if seen, is in a cluster."""
    n, b = labels.shape
    weights = np.ones(n * b, dtype) if seen is None else seen.ravel().astype(dtype)
    columns = (labels + k * np.arange(b, dtype=np.int32)).ravel()
    return csr_array((weights, columns, np.arange(0, n * b + 1, b)), shape=(n, b * k)).T


def _columns(columns: Array, labels: Array) -> Array:
    """columns[m, labels[i, m]] for all i and m."""
    return columns[np.arange(len(columns)), labels]


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


def _coassociation(H: csr_array, seen: Array | None, rows: slice, start: int = 0) -> Array:
    """S[rows, start:], dense: together in a cluster over seen together; a row is always together with itself."""
    others = slice(start, H.shape[0])
    # Sparse times sparse: the work is that of the pairs that ever meet.
    block: Array = (H[rows] @ H[others].T).toarray()
    if seen is None:
        block /= H.indptr[1]
        return block
    both = seen[rows].astype(H.dtype) @ seen[others].T.astype(H.dtype)
    return np.divide(block, both, out=np.zeros_like(block), where=both > 0)


def _strip(n: int) -> int:
    """Rows of S that are computed at a time."""
    return max(1, 2**22 // n)


def _require_pairs(n: int) -> None:
    # The linkage works on a copy of the distances, in double precision.
    require_memory(
        2 * 8 * (float(n) * (n - 1) / 2),
        f"linkage of the distances between all pairs of {n} rows",
        "pass linkage='spectral', which needs only the memberships",
    )


def _condensed_distances(H: csr_array, seen: Array | None) -> Array:
    """1 − S above the diagonal, row after row, as SciPy's linkage takes it."""
    n = H.shape[0]
    distances = np.empty(n * (n - 1) // 2)
    done = 0
    for rows in slices(n, _strip(n)):
        block = _coassociation(H, seen, rows, rows.start)
        above = block[np.arange(block.shape[1]) > np.arange(len(block))[:, None]]
        np.subtract(1, above, out=distances[done : done + len(above)])
        done += len(above)
    return distances


def _single_linkage(H: csr_array) -> Array:
    """The dendrogram of single linkage from the minimum spanning tree of 1 − S, a row of S at a time (Prim)."""
    n, total = H.shape[0], int(H.indptr[1])
    members = H.tocsc()
    places = H.indices.reshape(n, total)
    edges = np.empty((n - 1, 2), np.intp)
    heights = np.empty(n - 1)
    # For the rows outside the tree: most partitions shared with a row inside (−1: none known yet), and which that is.
    nearest, origin = np.full(n, -1), np.zeros(n, np.intp)
    outside = np.ones(n, bool)
    row = 0
    for step in range(n - 1):
        outside[row], nearest[row] = False, -2
        starts, ends = members.indptr[places[row]].tolist(), members.indptr[places[row] + 1].tolist()
        company = [members.indices[start:end] for start, end in zip(starts, ends, strict=True)]
        shared = np.bincount(np.concatenate(company), minlength=n)
        closer = np.flatnonzero((shared > nearest) & outside)
        nearest[closer] = shared[closer]
        origin[closer] = row
        row = int(np.argmax(nearest))
        edges[step], heights[step] = (origin[row], row), 1 - nearest[row] / total
    return _dendrogram(edges, heights)


def _dendrogram(edges: Array, heights: Array) -> Array:
    """A spanning tree's edges, shortest first, as merges in SciPy's format."""
    n = len(edges) + 1
    tree = np.empty((n - 1, 4))
    above = list(range(2 * n - 1))  # above[node]: on the way to the latest cluster that has the node
    sizes = [1] * n

    def top(node: int) -> int:
        while above[node] != node:
            above[node] = above[above[node]]
            node = above[node]
        return node

    for merge, edge in enumerate(np.argsort(heights, kind="stable")):
        left, right = sorted((top(int(edges[edge, 0])), top(int(edges[edge, 1]))))
        above[left] = above[right] = n + merge
        sizes.append(sizes[left] + sizes[right])
        tree[merge] = left, right, heights[edge], sizes[-1]
    return tree


def _longest_lived(lifetimes: Array) -> int:
    """The number of clusters of the longest lifetime; lifetimes start at two clusters."""
    # Equal up to rounding is equal, and then the smaller number is taken.
    return 2 + int(np.argmax(lifetimes > lifetimes.max() - 1e-12))


def _cut(tree: Array, k: int) -> Array:
    """Labels of exactly k clusters: the first n − k merges, also where heights are equal."""
    n = len(tree) + 1
    merged = np.arange(n, 2 * n - k)
    pairs = tree[: n - k, :2].astype(np.intp)
    ends = (pairs.ravel(), np.repeat(merged, 2))
    graph = coo_array((np.ones(2 * len(merged)), ends), shape=(2 * n - k, 2 * n - k))
    labels: Array = connected_components(graph, directed=False)[1][:n]
    return labels


class _Coassociation(Linear):
    """The linear kernel of membership rows, whose Gram is always held by those rows."""

    def _factor(self, X: Matrix) -> Factor:
        return MatrixFactor(X)

    def gram(self, X: Matrix) -> Gram:
        """S as a product of memberships, however few rows there are."""
        return _CoassociationGram(self._checked(X))


class _CoassociationGram(FeatureGram):
    """S = F Fᵀ that hides F from its views.

    A view that knows F scales a copy of it, piece by piece, at every product. F has too many columns for the
    eigen-solver to make use of it otherwise, and scaling the vectors instead takes half the time.
    """

    @property
    def factor(self) -> Factor | None:  # type: ignore[override]
        return None


def _spectral_labels(H: csr_array, k: int | None, rng: np.random.Generator) -> Array:
    """Labels by spectral clustering of the co-association, held as a product of features."""
    model = SpectralClustering(k, kernel=_Coassociation(), random_state=rng).fit(_unit_memberships(H))
    labels: Array = model.labels_
    return labels


def _unit_memberships(H: csr_array) -> csr_array:
    """F with F Fᵀ = n_ij / √(m_i m_j), m_i the partitions that saw row i; that is S where all saw all."""
    counts = np.diff(H.indptr)
    return csr_array((np.repeat(1 / np.sqrt(counts), counts).astype(H.dtype), H.indices, H.indptr), shape=H.shape)


def _affinities(H: csr_array, labels: Array) -> Array:
    """Hᵀ diag(1/m_i) Y / |c|, (Σk, n_clusters): a new row's memberships times this is its mean S with each cluster."""
    counts, sizes = np.diff(H.indptr), np.bincount(labels)
    weights = (1 / (counts * sizes[labels])).astype(H.dtype)
    Y = csr_array((weights, labels, np.arange(len(labels) + 1)), shape=(len(labels), len(sizes)))
    return (H.T @ Y).toarray()


def _has_missing(X: Matrix) -> bool:
    return bool(np.isnan(X.data if issparse(X) else X).any())
