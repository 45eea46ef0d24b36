"""The choice of a similarity, a number of clusters and a clustering for a table, with nothing to tune.

Several views of the same rows are clustered and compared, on at most a thousand rows: by how well their clusters lie
apart and by how well they are found again in resampled rows. The best view is then fitted to the table. One ensemble of
mixtures serves all views and resamples: its features are sliced, by rows and by mixtures, instead of fitted again.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property
from numbers import Integral
from typing import Any

import numpy as np
from scipy.sparse import csr_array
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils.validation import check_array

from gramian.clustering.automatic.completion import CompletedGraph, Completion
from gramian.clustering.automatic.stability import (
    NEIGHBORS,
    TESTED_ROWS,
    Resampled,
    beyond_chance,
    cluster_stability,
    separation,
    stability,
)
from gramian.clustering.core.embedding import kmeans, unit_rows
from gramian.clustering.core.n_clusters import most_seen
from gramian.clustering.spectral import SpectralClustering
from gramian.grams import DenseGram, Gram, SparseGram
from gramian.kernels import ClusterKernel, Kernel, NeighborGraph
from gramian.mixture import IncompleteGaussianMixture
from gramian.randomness import generator
from gramian.typing import Array, Matrix, RandomState

TITLES = {
    "cluster_kernel": "Rows are alike if mixtures of many sizes keep them together",
    "cluster_walk": "The same, as a walk from row to row, so that large and small groups count alike",
    "sharpened_kernel": "The same, only between each row and its 20 most similar rows, for long and winding groups",
    "neighbor_graph": "Each row is tied to its 10 nearest rows, columns in standard deviations",
    "gaussian_mixture": "Groups are normal distributions, each with correlations of its own",
}

_JUDGED_ROWS = 1000
_FITTED_ROWS = 5000  # the others are assigned by ``predict``
_ASSIGNED_AT_ONCE = 20_000
_FEWEST_ROWS = 8  # different ones; fewer do not show groups, unless each of them occurs often
_FEWEST_IN_CLUSTER = 3  # rows that show one
_RESTARTS, _LARGEST_MIXTURE = 12, 30
_RESAMPLES, _PART = 6, 0.7
_SHARPENED = 20
_MOST_CORRELATED = 100  # features: a mixture with more, or with few rows for each, cannot learn how they vary together
_STABLE = 0.75  # of the best stability; more is not better, because coarse clusterings are the most stable ones
_CLEAR = 0.75  # stability of structure that needs no warning


@dataclass(frozen=True)
class Choice:
    """The chosen view of a table and its clusters.

    Attributes
    ----------
    candidates : list of dict
        What was tried, best first; the first is the chosen one.
    kernel : Kernel
        The similarity of the chosen view, fitted; for "gaussian_mixture", which has none, the cluster kernel.
    n_clusters : int
    labels : ndarray (n,)
        −1 for a row that is like no other.
    evidence : list of (int, float)
        Numbers of clusters and the stability of the chosen view with each.
    stability : float
        Mean adjusted Rand index with clusterings of resampled rows.
    cluster_stability : ndarray (n_clusters,)
        Mean largest Jaccard index of each cluster.
    model : SpectralClustering or IncompleteGaussianMixture
        Fitted, with ``predict`` for new rows.
    verdict : {"clear", "weak", "none"}
        Whether there are clusters: "none" where tables without clusters look alike.
    """

    candidates: list[dict[str, Any]]
    kernel: Kernel
    n_clusters: int
    labels: Array
    evidence: list[tuple[int, float]]
    stability: float
    cluster_stability: Array
    model: Any
    verdict: str


def choose_view(
    X: Matrix,
    n_clusters: int | None = None,
    *,
    max_clusters: int = 20,
    feature_columns: Sequence[Any] | None = None,
    random_state: RandomState = None,
) -> Choice:
    """Cluster rows under the view that shows their clusters best.

    The number of clusters is where the eigenvalues of a walk from row to row fall off, in the walk that sees most: one
    goes between all rows by the cluster kernel, one between the most similar of them only, and one between nearest
    neighbours. Every view is clustered with that number. What lies apart best wins, by :func:`separation`; but of
    clusterings that are far less stable than the best one, with less than three quarters of its stability, the score is
    lower in proportion. The verdict compares the neighbour graph with those of tables without clusters, by
    :func:`beyond_chance`; it takes features with heavy tails for structure, which
    :class:`~gramian.tables.Preparation` bends.

    Parameters
    ----------
    X : array-like (n, d)
        NaN where missing.
    n_clusters : int, optional
        None chooses it, from 2 to ``max_clusters``.
    max_clusters : int, default 20
    feature_columns : sequence (d,), optional
        The column of the table that each feature comes from, where one column became several features, as a category
        becomes indicators: together they count as one, and noise in them is known. By default each is its own.
    random_state : int, Generator, RandomState or None

    Returns
    -------
    choice : Choice

    Examples
    --------
    >>> import numpy as np
    >>> from sklearn.datasets import make_blobs
    >>> from gramian.clustering.automatic.views import choose_view
    >>> X, y = make_blobs(150, centers=3, cluster_std=0.6, random_state=4)
    >>> X[::7, 0] = np.nan
    >>> choice = choose_view(X, random_state=0)
    >>> choice.n_clusters, choice.verdict
    (3, 'clear')
    """
    X = check_array(X, dtype=[np.float64, np.float32], ensure_all_finite="allow-nan", ensure_min_samples=2)
    _check_counts(n_clusters, max_clusters, len(X))
    rng = generator(random_state)
    seed = int(rng.integers(2**31 - 1))
    kinds, distinct, copies = np.unique(np.where(np.isnan(X), np.inf, X), axis=0, return_index=True, return_counts=True)
    if len(distinct) == 1:
        raise ValueError("X has no column with two different observed values, so no row can be told from another")
    if n_clusters is not None and n_clusters > len(distinct):
        most = len(distinct)
        raise ValueError(f"n_clusters={n_clusters} is more than the {most} different rows; pass n_clusters <= {most}")
    heaps = int(np.sum(np.isfinite(kinds).all(axis=1) & (copies >= _FEWEST_IN_CLUSTER)))
    of_few_kinds = len(kinds) < _FEWEST_ROWS and heaps > 1 and not _all_combinations(kinds, feature_columns)
    if of_few_kinds:  # the kinds are the groups, and only with their copies can they be resampled
        n_clusters, distinct = n_clusters or min(heaps, max_clusters), np.arange(len(X))
    length = min(len(distinct), max(_JUDGED_ROWS, 5 * (n_clusters or 1)))
    judged = np.sort(rng.choice(distinct, length, replace=False))
    most = _most_clusters(n_clusters, max_clusters, len(judged))
    names = ["sharpened_kernel"] if most == 1 else list(TITLES)
    if X.shape[1] > min(_MOST_CORRELATED, len(judged) // 2):
        names = [name for name in names if name != "gaussian_mixture"]
    with warnings.catch_warnings(action="ignore", category=ConvergenceWarning):
        # A mixture that does not settle is not found again either, and so not chosen.
        rows = _Rows.of(X[judged], feature_columns, seed)
        seen = [most] if n_clusters is not None or most <= 2 else most_seen(rows.grams, most)
        k = max(seen)
        nearby = (*seen, k - 1, k + 1) if n_clusters is None else ()
        shown = sorted({k, *(other for other in nearby if 2 <= other <= most)})
        # A mixture costs far more than k-means, and is not tried with numbers that are only shown.
        counts = {name: [k] if name == "gaussian_mixture" else shown for name in names}
        trials = [trial for name in names for trial in _trials(name, rows, counts[name], rng)]
        _resample(trials, rows, rng)
        best = _ranked([trial for trial in trials if trial.k == k])
        n = len(X)
        fitted = np.arange(n) if n <= _FITTED_ROWS else np.sort(rng.choice(n, _FITTED_ROWS, replace=False))
        kernel = _kernel(best[0].name, len(fitted), feature_columns, seed)
        model, labels = _fit(best[0], kernel, X, fitted, rng)
        structure = most > 1 and (of_few_kinds or _beyond_chance(X, feature_columns, rng) > 1)
    found = stability(labels[judged], best[0].resampled)
    return Choice(
        candidates=[trial.told(chosen=trial is best[0]) for trial in best],
        kernel=getattr(model, "kernel_", None) or kernel.fit(X[judged]),
        n_clusters=int(labels.max()) + 1,
        labels=labels,
        evidence=[(trial.k, trial.stability) for trial in _of(trials, best[0].name) if trial.resampled],
        stability=found,
        cluster_stability=cluster_stability(labels[judged], best[0].resampled),
        model=model,
        verdict="none" if not structure else "clear" if found >= _CLEAR else "weak",
    )


def _check_counts(n_clusters: int | None, max_clusters: int, n: int) -> None:
    for name, value, least in (("n_clusters", n_clusters, 1), ("max_clusters", max_clusters, 2)):
        if value is not None and (not isinstance(value, Integral) or isinstance(value, bool) or value < least):
            raise ValueError(f"{name}={value!r} must be a whole number >= {least}")
    if n_clusters is not None and n_clusters > n:
        raise ValueError(f"n_clusters={n_clusters} is more than the {n} rows; pass n_clusters <= {n}")


def _most_clusters(n_clusters: int | None, max_clusters: int, n: int) -> int:
    """The number of clusters, or the most to look for."""
    if n_clusters is not None:
        return int(n_clusters)
    return max(2, min(int(max_clusters), n // _FEWEST_IN_CLUSTER)) if n >= _FEWEST_ROWS else 1


def _all_combinations(kinds: Array, feature_columns: Sequence[Any] | None) -> bool:
    """Whether every value of each of several columns occurs with every value of the others, as without groups."""
    names = np.arange(kinds.shape[1]) if feature_columns is None else np.asarray(feature_columns)
    values = [len(np.unique(kinds[:, names == name], axis=0)) for name in np.unique(names)]
    varying = [count for count in values if count > 1]
    return len(varying) > 1 and len(kinds) == int(np.prod(varying))


# Judging ------------------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class _Rows:
    """Some rows, as the views see them.

    Attributes
    ----------
    features : ndarray (n, m)
        Memberships in the components of all mixtures; their products are the cluster kernel.
    restarts : ndarray (m,)
        The restart that each of the features comes from.
    completed : ndarray (n, d)
        Columns in standard deviations, holes filled.
    """

    features: Array
    restarts: Array
    completed: Array

    @classmethod
    def of(cls, X: Array, feature_columns: Sequence[Any] | None, seed: int) -> _Rows:
        kernel = _cluster_kernel(len(X), seed, threshold=0).fit(X)
        restarts = np.repeat(np.arange(len(kernel.sizes_)) // (len(kernel.sizes_) // _RESTARTS), kernel.sizes_)
        return cls(kernel.features(X), restarts, Completion(feature_columns).fit_transform(X))

    @cached_property
    def similarities(self) -> Array:
        K: Array = self.features @ self.features.T
        return K

    @cached_property
    def neighbors(self) -> csr_array:
        graph: csr_array = NeighborGraph(NEIGHBORS).fit(self.completed)(self.completed)
        return graph

    @cached_property
    def grams(self) -> tuple[Gram, Gram, Gram]:
        """Similarities of all rows, of the most similar ones, and edges between nearest neighbours."""
        K = self.similarities
        return DenseGram(K), SparseGram(_most_similar(K)), SparseGram(self.neighbors)

    def part(self, rng: np.random.Generator) -> tuple[Array, _Rows]:
        """Some of the rows, without replacement, seen by half of the mixtures."""
        n = len(self.features)
        rows = np.sort(rng.choice(n, max(2, round(_PART * n)), replace=False))
        seen = np.isin(self.restarts, rng.choice(_RESTARTS, _RESTARTS // 2, replace=False))
        return rows, _Rows(self.features[np.ix_(rows, seen)], self.restarts[seen], self.completed[rows])


@dataclass
class _Trial:
    """A view with k clusters, and how it was judged."""

    name: str
    k: int
    labels: Array
    separation: float
    resampled: Resampled = ()
    stability: float = 0.0
    score: float = 0.0

    def told(self, *, chosen: bool) -> dict[str, Any]:
        return {
            "name": self.name,
            "title": TITLES[self.name],
            "n_clusters": self.k,
            "stability": self.stability,
            "separation": self.separation,
            "score": self.score,
            "chosen": chosen,
        }


def _of(trials: list[_Trial], name: str) -> list[_Trial]:
    return [trial for trial in trials if trial.name == name]


def _trials(name: str, rows: _Rows, counts: list[int], rng: np.random.Generator) -> list[_Trial]:
    """The rows clustered in one view, with every number of clusters."""
    found = _clusterings(name, rows, counts, rng, n_init=3)
    K, graph = rows.similarities, rows.neighbors
    return [_Trial(name, k, labels, separation(labels, K, graph)) for k, labels in found.items()]


def _resample(trials: list[_Trial], rows: _Rows, rng: np.random.Generator) -> None:
    """Cluster parts of the rows in every view, and see which clusters are found again."""
    found: dict[tuple[str, int], list[tuple[Array, Array]]] = {}
    for _ in range(_RESAMPLES):
        kept, part = rows.part(rng)
        for name in dict.fromkeys(trial.name for trial in trials):
            own = [trial for trial in _of(trials, name) if trial.k <= len(kept)]
            for k, labels in _clusterings(name, part, [trial.k for trial in own], rng, n_init=1).items():
                found.setdefault((name, k), []).append((kept, labels))
    for trial in trials:
        if (trial.name, trial.k) in found:
            trial.resampled = found[trial.name, trial.k]
            trial.stability = stability(trial.labels, trial.resampled)


def _ranked(trials: list[_Trial]) -> list[_Trial]:
    """Best first: what lies apart best, unless it is far less stable than the most stable one."""
    enough = _STABLE * max(trial.stability for trial in trials)
    for trial in trials:
        trial.score = trial.separation * (min(1.0, trial.stability / enough) if enough > 0 else 1.0)
    return sorted(trials, key=lambda trial: trial.score, reverse=True)


def _beyond_chance(X: Array, feature_columns: Sequence[Any] | None, rng: np.random.Generator) -> float:
    """Whether rows, equal ones among them as in the table, have structure that references have not."""
    X = X[~np.isnan(X).all(axis=1)]  # rows without values would all lie in the middle, between the groups
    sample = X[np.sort(rng.choice(len(X), min(len(X), TESTED_ROWS), replace=False))]
    completion = Completion(feature_columns)
    completed = completion.fit_transform(sample)
    columns = completion.columns_
    return beyond_chance(
        completed, np.isnan(sample)[:, completion.used_], columns, Completion(columns).fit_transform, rng
    )


# Clustering rows in a view ------------------------------------------------------------------------------------------


def _clusterings(
    name: str, rows: _Rows, counts: list[int], rng: np.random.Generator, *, n_init: int
) -> dict[int, Array]:
    """Labels by the number of clusters."""
    if name == "gaussian_mixture":
        Z = rows.completed
        return {k: _mixture(k, rng, n_init).fit(Z).predict(Z) for k in counts}
    if not counts:
        return {}
    axes = _axes(name, rows, max(counts))
    seeds = rng.integers(2**31 - 1, size=len(counts))
    return {
        k: kmeans(axes(k), k, seed=int(seed), n_init=n_init, pivots=False)[0]
        for k, seed in zip(counts, seeds, strict=True)
    }


def _axes(name: str, rows: _Rows, most: int) -> Callable[[int], Array]:
    """A function that gives the rows in the space in which k clusters are looked for."""
    if name == "cluster_kernel":
        values, vectors = rows.grams[0].eigenpairs(most)
        Z = vectors * np.sqrt(np.maximum(values, 0))
        return lambda k: Z[:, :k]
    gram = rows.grams[("cluster_walk", "sharpened_kernel", "neighbor_graph").index(name)]
    vectors = gram.normalized().eigenpairs(most)[1]
    return lambda k: unit_rows(vectors[:, :k])  # the factor D^-½ of each row does not change its direction


def _most_similar(K: Array) -> csr_array:
    """Similarities of each row with the rows most similar to it, kept if one of the two names the other."""
    n = len(K)
    count = min(_SHARPENED, n - 1)
    others = K - 2 * np.diag(np.diagonal(K)) - np.eye(n)
    best = np.argpartition(-others, count - 1, axis=1)[:, :count]
    values = np.take_along_axis(K, best, axis=1)
    edges = csr_array((values.ravel(), best.ravel(), np.arange(0, n * count + 1, count)), shape=(n, n))
    return csr_array(edges.maximum(edges.T))


# The chosen view ----------------------------------------------------------------------------------------------------


def _kernel(name: str, n: int, feature_columns: Sequence[Any] | None, seed: int) -> Kernel:
    """The similarity of a view of n rows."""
    if name == "neighbor_graph":
        return CompletedGraph(NEIGHBORS, feature_columns)
    kernel = _cluster_kernel(n, seed)
    return NeighborGraph(_SHARPENED, kernel=kernel) if name == "sharpened_kernel" else kernel


def _fit(trial: _Trial, kernel: Kernel, X: Array, fitted: Array, rng: np.random.Generator) -> tuple[Any, Array]:
    """The chosen view's model, fitted on some rows, and labels of all rows."""
    if trial.name == "gaussian_mixture":
        return _fitted_mixture(trial.k, X, fitted, rng)
    embedding = "kpca" if trial.name == "cluster_kernel" else "sym"
    seed = int(rng.integers(2**31 - 1))
    model = SpectralClustering(trial.k, kernel=kernel, embedding=embedding, random_state=seed).fit(X[fitted])
    labels = np.full(len(X), -1)
    labels[fitted] = model.labels_
    others = np.setdiff1d(np.arange(len(X)), fitted, assume_unique=True)
    labels[others] = _assigned(model, X[others])
    return model, labels


def _fitted_mixture(k: int, X: Array, fitted: Array, rng: np.random.Generator) -> tuple[Any, Array]:
    """A mixture each of whose components is the most probable one of some row, and labels of all rows."""
    while True:
        model = _mixture(k, rng, n_init=5).fit(X[fitted])
        labels = _assigned(model, X)
        used = len(np.unique(labels))
        if used == k:
            return model, labels
        k = used


def _assigned(model: Any, X: Array) -> Array:
    starts = range(0, len(X), _ASSIGNED_AT_ONCE)
    parts = [np.asarray(model.predict(X[start : start + _ASSIGNED_AT_ONCE])) for start in starts]
    return np.concatenate(parts) if parts else np.zeros(0, np.intp)


def _cluster_kernel(n: int, seed: int, **options: Any) -> ClusterKernel:
    return ClusterKernel(_RESTARTS, min(_LARGEST_MIXTURE, n), random_state=seed, **options)


def _mixture(k: int, rng: np.random.Generator, n_init: int) -> IncompleteGaussianMixture:
    seed = int(rng.integers(2**31 - 1))
    return IncompleteGaussianMixture(k, n_init=n_init, init="kmeans", reg_covar=1e-3, max_iter=50, random_state=seed)
