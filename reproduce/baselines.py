"""What the cluster kernel is compared with: k-POD, simple imputation before a clustering, and Gaussian mixtures.

:func:`contest` runs a list of methods on one table with holes and scores each; every experiment on clustering here is
a loop around it. It uses the public names of gramian and scikit-learn alone.
"""

from __future__ import annotations

import time
import warnings
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
from numpy.typing import ArrayLike
from sklearn.base import BaseEstimator, ClusterMixin
from sklearn.cluster import KMeans, kmeans_plusplus
from sklearn.exceptions import ConvergenceWarning
from sklearn.impute import SimpleImputer

from gramian import SpectralClustering
from gramian.kernels import RBF, ClusterKernel, resolve_width
from gramian.metrics import adjusted_rand, clustering_accuracy, normalized_mutual_info
from gramian.mixture import IncompleteGaussianMixture

Array = np.ndarray
Convention = Literal["half", "paper"]

N_INIT = 100
"""Starts of every k-means in the paper's experiments."""


class KPOD(ClusterMixin, BaseEstimator):
    """k-means for tables with holes: only observed cells count.

    Minimises Σ over observed (i, j) of (x_ij − θ_{c(i) j})² by filling each hole with the value of its row's centre,
    clustering the filled table by k-means from the current centres, and filling again. The filled objective lies above
    the observed one and touches it at the current centres, so no round raises it. Without holes this is k-means.

    Parameters
    ----------
    n_clusters : int, default 8
    n_init : int, default 100
        k-means++ starts on the table filled with column means; those that k-means leads to the same partition go on
        as one, since all that follows is the same for them.
    max_iter : int, default 100
        Rounds of filling.
    tol : float, default 1e-8
        Stop when a round lowers the objective by less than this share.
    random_state : int or None, default None

    Attributes
    ----------
    labels_ : ndarray (n,)
    cluster_centers_ : ndarray (n_clusters, d)
    inertia_ : float
        The objective: squared distances to the centres over observed cells.
    objective_path_ : ndarray
        The objective of the best start, after the first k-means and after each round.
    X_imputed_ : ndarray (n, d)
        X with each hole filled from its row's centre.

    References
    ----------
    J. T. Chi, E. C. Chi, R. G. Baraniuk, "k-POD: a method for k-means clustering of missing data", The American
    Statistician 70 (2016).

    Examples
    --------
    >>> import numpy as np
    >>> from reproduce.baselines import KPOD
    >>> X = np.array([[0.0, 0.1], [np.nan, 0.0], [5.0, np.nan], [5.1, 5.0]])
    >>> labels = KPOD(2, random_state=0).fit_predict(X)
    >>> bool(labels[0] == labels[1] != labels[2] == labels[3])
    True
    """

    def __init__(
        self,
        n_clusters: int = 8,
        *,
        n_init: int = N_INIT,
        max_iter: int = 100,
        tol: float = 1e-8,
        random_state: int | None = None,
    ) -> None:
        self.n_clusters = n_clusters
        self.n_init = n_init
        self.max_iter = max_iter
        self.tol = tol
        self.random_state = random_state

    def fit(self, X: ArrayLike, y: Any = None) -> KPOD:
        """Cluster the rows of X, in which NaN is a hole; no column may be empty."""
        X = np.asarray(X, dtype=np.float64)
        observed = ~np.isnan(X)
        counts = observed.sum(axis=0)
        if not counts.all():
            raise ValueError(f"column {int(counts.argmin())} of X holds no value; drop it")
        if self.n_clusters > len(X):
            raise ValueError(f"n_clusters={self.n_clusters} is more than the {len(X)} samples; pass n_clusters <= n")
        # Around the mean, so that x² − 2xθ + θ² keeps its digits and a filled column mean is zero.
        mean = np.where(observed, X, 0.0).sum(axis=0) / counts
        shifted = np.where(observed, X - mean, 0.0)
        draws = np.random.RandomState(self.random_state)
        starts = np.stack(
            [kmeans_plusplus(shifted, self.n_clusters, random_state=draws)[0] for _ in range(self.n_init)]
        )
        labels, centers = lloyd(shifted, starts)
        best: tuple[Array, Array, list[float]] | None = None
        for start in _distinct(labels):
            found = self._descend(shifted, observed, labels[start], centers[start])
            if best is None or found[2][-1] < best[2][-1]:
                best = found
        assert best is not None
        self.labels_, centers, path = best
        self.cluster_centers_ = centers + mean
        self.X_imputed_ = np.where(observed, X, self.cluster_centers_[self.labels_])
        self.objective_path_ = np.array(path)
        self.inertia_ = path[-1]
        return self

    def _descend(self, X: Array, observed: Array, labels: Array, centers: Array) -> tuple[Array, Array, list[float]]:
        """Fill and cluster in turns from one start; labels, centres, and the objective after each round."""
        path = [_misfit(X, observed, labels, centers)]
        if observed.all():
            return labels, centers, path
        for _ in range(self.max_iter):
            filled = np.where(observed, X, centers[labels])
            (labels,), (centers,) = lloyd(filled, centers[None])
            path.append(_misfit(X, observed, labels, centers))
            if path[-2] - path[-1] <= self.tol * path[-2]:
                break
        return labels, centers, path

    def predict(self, X: ArrayLike) -> Array:
        """Nearest centre in the observed coordinates of each row.

        A fitted row may change its cluster: while fitting, a hole counts as the value of the row's own centre, which
        holds the row there; here it does not count at all.
        """
        X = np.asarray(X, dtype=np.float64)
        observed = ~np.isnan(X)
        centers = self.cluster_centers_
        return (observed @ (centers**2).T - 2 * np.where(observed, X, 0.0) @ centers.T).argmin(axis=1)


def lloyd(X: Array, centers: Array) -> tuple[Array, Array]:
    """k-means from many starts at once, each until its labels repeat (or for 300 steps: rows that tie could go round).

    Parameters
    ----------
    X : ndarray (n, d)
        Complete.
    centers : ndarray (n_starts, k, d)

    Returns
    -------
    labels : ndarray (n_starts, n)
    centers : ndarray (n_starts, k, d)
        Means of the rows with each label. A cluster that ran empty moved to the row farthest from its own centre.
    """
    centers = centers.copy()
    n_starts, k, d = centers.shape
    labels = np.full((n_starts, len(X)), -1)
    running = np.arange(n_starts)
    norms = (X**2).sum(axis=1)
    for _ in range(300):
        if not len(running):
            break
        current = centers[running]
        products = (current.reshape(-1, d) @ X.T).reshape(len(running), k, len(X))
        distances = (current**2).sum(axis=2)[:, :, None] - 2 * products
        nearest = distances.argmin(axis=1)
        moved = (nearest != labels[running]).any(axis=1)
        labels[running] = nearest
        running, nearest, distances = running[moved], nearest[moved], distances[moved]
        members = (nearest[:, None, :] == np.arange(k)[:, None]).astype(np.float64)
        sizes = members.sum(axis=2)
        sums = (members.reshape(-1, len(X)) @ X).reshape(len(running), k, d)
        centers[running] = sums / np.maximum(sizes, 1.0)[:, :, None]
        for place in np.flatnonzero((sizes == 0).any(axis=1)):
            own = norms + distances[place].min(axis=0)
            empty = np.flatnonzero(sizes[place] == 0)
            centers[running[place], empty] = X[np.argsort(-own, kind="stable")[: len(empty)]]
    return labels, centers


def _distinct(labels: Array) -> list[int]:
    """The first of the starts with each partition, whatever its clusters are numbered."""
    first: dict[bytes, int] = {}
    for start, row in enumerate(labels):
        _, where, codes = np.unique(row, return_index=True, return_inverse=True)
        order = np.argsort(np.argsort(where))  # clusters numbered as they appear
        first.setdefault(order[codes].tobytes(), start)
    return list(first.values())


def _misfit(X: Array, observed: Array, labels: Array, centers: Array) -> float:
    return float(((X - centers[labels])[observed] ** 2).sum())


# Treatments of holes ------------------------------------------------------------------------------------------------

IMPUTATIONS: dict[str, dict[str, Any]] = {
    "zero": {"strategy": "constant", "fill_value": 0.0},
    "mean": {"strategy": "mean"},
    "median": {"strategy": "median"},
    "most frequent": {"strategy": "most_frequent"},
}
"""The paper's four simple imputations. Of values that are all distinct the smallest counts as most frequent."""


def standardize(X: Array) -> Array:
    """Columns shifted and scaled to mean 0 and variance 1 of their observed values; a constant one is only shifted."""
    spread = np.nanstd(X, axis=0)
    return (X - np.nanmean(X, axis=0)) / np.where(spread > 0, spread, 1.0)


def impute(X: Array, imputation: str) -> Array:
    """X with its holes filled by one of ``IMPUTATIONS``."""
    return SimpleImputer(**IMPUTATIONS[imputation]).fit_transform(X)


def rbf(X: Array, rbf_convention: Convention) -> RBF:
    """The RBF kernel of width σ = 20 % of the median distance, as the paper writes it or as its figures say.

    "half" is exp(−d²/(2σ²)), the formula of the text. "paper" is exp(−d²/σ²), which alone gives the published figures;
    in gramian's terms that is the width σ/√2.
    """
    if rbf_convention not in ("half", "paper"):
        raise ValueError(f"rbf_convention={rbf_convention!r} is not known; pass 'half' or 'paper'")
    width = resolve_width("median20", X)
    return RBF(width if rbf_convention == "half" else width / np.sqrt(2))


# Methods ------------------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Ensemble:
    """How large a cluster kernel to fit; the defaults are the paper's."""

    n_restarts: int = 30
    max_components: int = 30
    standardize: bool = True

    def kernel(self, random_state: int) -> ClusterKernel:
        # One thread: the runs of an experiment share the cores already.
        return ClusterKernel(
            self.n_restarts,
            self.max_components,
            standardize=self.standardize,
            n_jobs=1,
            random_state=random_state,
        )


Method = Callable[[Array, int, int, Ensemble], Array]
"""(table, number of clusters, seed, ensemble) → labels."""


def _spectral(X: Array, k: int, kernel: Any, seed: int) -> Array:
    """The paper's clustering: as many uncentred kernel principal components as clusters, then k-means."""
    return SpectralClustering(k, kernel=kernel, embedding="kpca", n_init=N_INIT, random_state=seed).fit(X).labels_


def _cluster_kernel(X: Array, k: int, seed: int, ensemble: Ensemble) -> Array:
    return _spectral(X, k, ensemble.kernel(seed), seed)


def _kmeans(X: Array, k: int, seed: int, ensemble: Ensemble) -> Array:
    return KMeans(k, n_init=N_INIT, random_state=seed).fit(X).labels_


def _kpod(X: Array, k: int, seed: int, ensemble: Ensemble) -> Array:
    return KPOD(k, random_state=seed).fit(X).labels_


def _rbf_half(X: Array, k: int, seed: int, ensemble: Ensemble) -> Array:
    return _spectral(X, k, rbf(X, "half"), seed)


def _rbf_paper(X: Array, k: int, seed: int, ensemble: Ensemble) -> Array:
    return _spectral(X, k, rbf(X, "paper"), seed)


def _mixture(n_init: int) -> Method:
    def labels(X: Array, k: int, seed: int, ensemble: Ensemble) -> Array:
        model = IncompleteGaussianMixture(
            k, covariance_type="diag", tol=1e-6, max_iter=200, n_init=n_init, random_state=seed
        )
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", ConvergenceWarning)  # to stop after 200 steps is the protocol
            return model.fit_predict(X)

    return labels


WITH_HOLES: dict[str, Method] = {
    "PCKID": _cluster_kernel,
    "GMM, 10 starts": _mixture(10),
    "GMM, 1 start": _mixture(1),
    "k-POD": _kpod,
}
"""Methods that take the table as it is."""

FILLED: dict[str, Method] = {
    "PCK": _cluster_kernel,
    "k-means": _kmeans,
    "RBF exp(-d²/σ²)": _rbf_paper,
    "RBF exp(-d²/2σ²)": _rbf_half,
}
"""Methods that need the holes filled first; each is run once per imputation."""


def contest(X: Array, y: Array, seed: int, *, methods: tuple[str, ...], ensemble: Ensemble) -> Iterator[dict[str, Any]]:
    """Cluster X by each method, into as many clusters as y has classes, and score the labels against y.

    Parameters
    ----------
    X : ndarray (n, d)
        With holes; scaled as the experiment wants it.
    y : ndarray (n,)
    seed : int
    methods : names from ``WITH_HOLES`` and ``FILLED``
    ensemble : Ensemble

    Yields
    ------
    score : dict
        ``method``, ``imputation``, ``acc``, ``nmi``, ``ari``, ``seconds``.
    """
    k = len(np.unique(y))
    tables = {name: impute(X, name) for name in IMPUTATIONS}
    for method in methods:
        if method in WITH_HOLES:
            yield {"method": method, "imputation": "", **_scores(WITH_HOLES[method], X, y, k, seed, ensemble)}
            continue
        done: dict[str, dict[str, float]] = {}
        for name, table in tables.items():
            # Zero is the mean of a standardised column: two imputations, one table, one answer.
            same = next((other for other in done if np.allclose(tables[other], table, atol=1e-12)), None)
            done[name] = done[same] if same else _scores(FILLED[method], table, y, k, seed, ensemble)
            yield {"method": method, "imputation": name, **done[name]}


def _scores(method: Method, X: Array, y: Array, k: int, seed: int, ensemble: Ensemble) -> dict[str, float]:
    start = time.perf_counter()
    labels = method(X, k, seed, ensemble)
    seconds = time.perf_counter() - start
    return {
        "acc": float(clustering_accuracy(y, labels)),
        "nmi": normalized_mutual_info(y, labels),
        "ari": adjusted_rand(y, labels),
        "seconds": round(seconds, 4),
    }
