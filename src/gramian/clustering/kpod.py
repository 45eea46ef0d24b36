"""k-means for data with missing values (k-POD): fill with the centres, cluster, and fill again."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np
from sklearn.base import ClusterMixin
from sklearn.cluster import kmeans_plusplus
from sklearn.utils.validation import check_is_fitted, validate_data

from gramian.checks import check_count, check_real, check_samples, check_whole, remember_columns
from gramian.clustering.core.embedding import labels_by_first_row
from gramian.diagram import Estimator
from gramian.grams.tiles import slices
from gramian.partitions import DistributedAnswers
from gramian.randomness import generator
from gramian.typing import Array, Matrix, RandomState

_LLOYD_STEPS = 300  # rows that lie equally far from two centres could go round for ever
_ENTRIES_AT_ONCE = 2**24  # distances of all rows to the centres of several starts


class KPOD(ClusterMixin, DistributedAnswers, Estimator):
    """Cluster data with missing values by k-means on the observed entries (k-POD).

    With Ω the observed entries, it minimises Σ_{(i, j) ∈ Ω} (x_ij − θ_{c(i) j})² over labels c and centres θ: missing
    entries of a row are filled from its centre, the filled rows are clustered by k-means from the current centres, and
    so on. The objective of the filled rows lies above that of the observed entries and touches it at the current
    centres, so no round raises it. Without missing values this is k-means.

    Parameters
    ----------
    n_clusters : int, default 8
    n_init : int, default 10
        k-means++ starts, on the rows filled with column means. Starts that k-means leads to the same partition go on as
        one.
    max_iter : int, default 100
        Most rounds of filling.
    tol : float, default 1e-8
        Stop when a round lowers the objective by at most this share.
    random_state : int, Generator or None, default None

    Attributes
    ----------
    labels_ : ndarray (n,)
        −1, with a warning, for a row without any observed entry.
    cluster_centers_ : ndarray (n_clusters, d)
    inertia_ : float
        The objective: squared distances to the centres over the observed entries.
    objective_path_ : ndarray (n_iter_,)
        The objective of the best start, after its first k-means and after each round of filling.
    n_iter_ : int
        How often the best start was clustered by k-means.

    References
    ----------
    J. T. Chi, E. C. Chi, R. G. Baraniuk, "k-POD: a method for k-means clustering of missing data", The American
    Statistician 70 (2016).

    Examples
    --------
    >>> import numpy as np
    >>> from gramian import KPOD
    >>> X = np.array([[0.0, 0.1], [np.nan, 0.0], [5.0, np.nan], [5.1, 5.0]])
    >>> model = KPOD(2, random_state=0).fit(X)
    >>> model.labels_
    array([0, 0, 1, 1])
    >>> model.predict([[4.0, np.nan]])
    array([1])
    """

    def __init__(
        self,
        n_clusters: int = 8,
        *,
        n_init: int = 10,
        max_iter: int = 100,
        tol: float = 1e-8,
        random_state: RandomState = None,
    ) -> None:
        self.n_clusters = n_clusters
        self.n_init = n_init
        self.max_iter = max_iter
        self.tol = tol
        self.random_state = random_state

    def fit(self, X: Matrix, y: Any = None) -> KPOD:
        """Cluster the rows of X.

        Parameters
        ----------
        X : array-like (n, d)
            NaN is a missing value; no column may be missing altogether.
        y : ignored

        Returns
        -------
        self : KPOD
        """
        check_whole(self, "n_init", "max_iter")
        check_real(self, "tol", least=0)
        given = X
        X = check_samples(self, X, dtype=[np.float64, np.float32], ensure_all_finite="allow-nan")
        observed = ~np.isnan(X)
        filled = observed.any(axis=1)
        k = check_count(self, "n_clusters", int(filled.sum()))
        assert k is not None
        if (empty := np.flatnonzero(~observed.any(axis=0))).size:
            raise ValueError(f"column {empty[0]} of X has no observed value; drop it")
        rows, known = X[filled].astype(np.float64), observed[filled]
        mean = np.nanmean(rows, axis=0)
        rows = np.where(known, rows - mean, 0.0)  # around the means, so that filling with zero is filling with them
        best: tuple[Array, Array, list[float]] | None = None
        for labels, centers in self._starts(rows, k):
            found = self._descend(rows, known, labels, centers)
            if best is None or found[2][-1] < best[2][-1]:
                best = found
        assert best is not None
        labels, centers, path = best
        labels, used = labels_by_first_row(labels)
        order = np.concatenate([used, np.setdiff1d(np.arange(k), used)])
        self.labels_ = np.full(len(X), -1)
        self.labels_[filled] = labels
        self.cluster_centers_ = (centers[order] + mean).astype(X.dtype)
        self.objective_path_, self.inertia_, self.n_iter_ = np.array(path), path[-1], len(path)
        remember_columns(self, given)
        _warn_empty(int((~filled).sum()))
        return self

    def _starts(self, X: Array, k: int) -> list[tuple[Array, Array]]:
        """Labels and centres of k-means on the filled rows from every start, those of equal partitions once."""
        seeds = generator(self.random_state).integers(2**31 - 1, size=int(self.n_init))
        starts = np.stack([kmeans_plusplus(X, k, random_state=int(seed))[0] for seed in seeds])
        found: dict[bytes, tuple[Array, Array]] = {}
        for part in slices(len(starts), max(1, _ENTRIES_AT_ONCE // (k * len(X)))):
            for labels, centers in zip(*lloyd(X, starts[part]), strict=True):
                found.setdefault(labels_by_first_row(labels)[0].tobytes(), (labels, centers))
        return list(found.values())

    def _descend(self, X: Array, observed: Array, labels: Array, centers: Array) -> tuple[Array, Array, list[float]]:
        """Fill and cluster in turns from one start; labels, centres, and the objective after each round."""
        path = [_misfit(X, observed, labels, centers)]
        if observed.all():
            return labels, centers, path
        for _ in range(int(self.max_iter)):
            (labels,), (centers,) = lloyd(np.where(observed, X, centers[labels]), centers[None])
            path.append(_misfit(X, observed, labels, centers))
            if path[-2] - path[-1] <= self.tol * path[-2]:
                break
        return labels, centers, path

    def predict(self, X: Matrix) -> Array:
        """The centre nearest to each row in the row's observed entries.

        A fitted row with missing values may change its cluster: while fitting, a missing entry counts as the value of
        the row's own centre, which holds the row there; here it does not count at all.

        Parameters
        ----------
        X : array-like (n_new, d)
            NaN is a missing value.

        Returns
        -------
        labels : ndarray (n_new,)
            −1, with a warning, for a row without any observed entry.
        """
        check_is_fitted(self, "cluster_centers_")
        X = validate_data(self, X, reset=False, dtype=[np.float64, np.float32], ensure_all_finite="allow-nan")
        observed = ~np.isnan(X)
        mean = self.cluster_centers_.mean(axis=0, dtype=np.float64)
        centers = self.cluster_centers_ - mean
        rows = np.where(observed, X - mean, 0.0)
        labels: Array = (observed @ (centers**2).T - 2 * rows @ centers.T).argmin(axis=1)
        alone = ~observed.any(axis=1)
        _warn_empty(int(alone.sum()))
        return np.where(alone, -1, labels)

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.allow_nan = True
        return tags


def lloyd(X: Array, centers: Array) -> tuple[Array, Array]:
    """k-means from many starts at once, each until its labels repeat.

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
    for _ in range(_LLOYD_STEPS):
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


def _misfit(X: Array, observed: Array, labels: Array, centers: Array) -> float:
    return float(((X - centers[labels])[observed] ** 2).sum())


def _warn_empty(count: int) -> None:
    if count:
        who = "1 row has" if count == 1 else f"{count} rows have"
        warnings.warn(f"{who} no observed value and label -1; drop such rows", UserWarning, stacklevel=3)
