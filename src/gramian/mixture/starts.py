"""Where EM begins: the scale of incomplete columns, and clusters of the rows with their holes filled by means.

Pure functions on arrays, used by :class:`gramian.mixture.IncompleteGaussianMixture`.
"""

from __future__ import annotations

from warnings import catch_warnings, simplefilter

import numpy as np
from sklearn.cluster import KMeans, kmeans_plusplus
from sklearn.exceptions import ConvergenceWarning
from sklearn.metrics import pairwise_distances_argmin, pairwise_distances_argmin_min

from gramian.mixture.columns import column_moments
from gramian.mixture.em import CovarianceType, Parameters
from gramian.mixture.levels import Levels, level_probabilities
from gramian.typing import Array

__all__ = ["cluster_labels", "observed_scale", "quick_clusters", "start_from_labels", "start_levels"]


def observed_scale(X: Array, *, common: bool = False) -> tuple[Array, Array]:
    """Mean and standard deviation of the observed values of each column.

    Parameters
    ----------
    X : ndarray (n, d)
        NaN where missing; every column has a value.
    common : bool
        One deviation for all columns, the root of their mean variance.

    Returns
    -------
    center, scale : ndarray (d,)
        A column whose values are all equal is scaled by its value, or by 1 if that is 0.

    Examples
    --------
    >>> import numpy as np
    >>> observed_scale(np.array([[1.0, 5.0], [3.0, np.nan], [np.nan, 5.0]]))
    (array([2., 5.]), array([1., 5.]))
    """
    _, center, scale = column_moments(X)
    low = np.nanmin(X, axis=0)
    # Squares of what takes the place of a missing scale must be numbers.
    instead = np.clip(np.where(low == 0, 1.0, np.abs(low)), 1e-140, 1e140)
    if common:
        largest = scale.max()
        shared = largest * np.sqrt(np.mean((scale / largest) ** 2)) if largest > 0 else instead.max()
        return center, np.full_like(scale, shared)
    return center, np.where(scale > 0, scale, instead)


def cluster_labels(X: Array, n_clusters: int, method: str, rng: np.random.Generator) -> Array:
    """A cluster for each row of a complete table (n, d).

    ``"kmeans++"`` seeds centres far from each other and moves them once, which keeps restarts different;
    ``"kmeans"`` moves them until they settle.
    """
    if n_clusters == 1:
        return np.zeros(len(X), np.intp)
    seed = int(rng.integers(2**31))
    centers, _ = kmeans_plusplus(X, n_clusters, random_state=seed)
    if method == "kmeans":
        with catch_warnings():  # fewer distinct rows than clusters are no trouble here, see start_from_labels
            simplefilter("ignore", ConvergenceWarning)
            return KMeans(n_clusters, init=centers, n_init=1, random_state=seed).fit(X).labels_
    labels = pairwise_distances_argmin(X, centers)
    counts = np.bincount(labels, minlength=n_clusters)[:, None]
    sums = np.stack([np.bincount(labels, column, n_clusters) for column in X.T], axis=1)
    return pairwise_distances_argmin(X, np.where(counts, sums / np.maximum(counts, 1), centers))


def quick_clusters(X: Array, n_clusters: int, rng: np.random.Generator, max_iter: int = 20) -> Array:
    """k-means of a small table (n, d), for starts: k-means++ seeds, and at most ``max_iter`` moves.

    Hundreds of starts of a few hundred rows would otherwise wait for the checks around the arithmetic.

    Examples
    --------
    >>> import numpy as np
    >>> X = np.array([[0.0], [1.0], [10.0], [11.0]])
    >>> labels = quick_clusters(X, 2, np.random.default_rng(0))
    >>> bool(labels[0] == labels[1] != labels[2] == labels[3])
    True
    """
    n = len(X)
    squares = np.einsum("ij,ij->i", X, X)
    centers = np.empty((n_clusters, X.shape[1]))
    nearest = np.full(n, np.inf)
    for k in range(n_clusters):
        total = nearest.sum() if k else 0.0
        # Far rows are likelier; where all rows are centres already, any will do.
        chosen = (
            min(int(np.searchsorted(nearest.cumsum(), total * rng.random())), n - 1) if total > 0 else rng.integers(n)
        )
        centers[k] = X[chosen]
        nearest = np.minimum(nearest, np.maximum(squares - 2 * (X @ X[chosen]) + squares[chosen], 0.0))
    labels = np.full(n, -1)
    for _ in range(max_iter):
        closest = (np.einsum("ij,ij->i", centers, centers) - 2 * (X @ centers.T)).argmin(axis=1)
        if (closest == labels).all():
            break
        labels = closest
        hot = (labels[:, None] == np.arange(n_clusters)).astype(X.dtype)
        counts = hot.sum(axis=0)[:, None]
        centers = np.where(counts > 0, hot.T @ X / np.maximum(counts, 1), centers)
    return labels


def start_levels(hot: Array, labels: Array, n_components: int, levels: Levels) -> Array:
    """Probabilities (K, L) of the levels in clusters of the rows; every level is possible in every cluster."""
    members = np.zeros((n_components, len(labels)))
    members[labels, np.arange(len(labels))] = 1
    return level_probabilities(members @ hot.T, levels._replace(smoothing=max(levels.smoothing, 1.0)))


def start_from_labels(
    X: Array,
    labels: Array,
    n_components: int,
    covariance_type: CovarianceType,
    ridge: float,
    n_numbers: int | None = None,
) -> Parameters:
    """Parameters of a mixture whose components are clusters of the rows of a complete table.

    A cluster's covariance is drawn towards that within all clusters, as much as d + 1 more rows would do: with fewer
    rows than columns its own is singular, and EM would never leave it. A cluster without rows is put at the row
    farthest from the others' means. With ``n_numbers``, only so many of the first columns are those of the mixture.

    Examples
    --------
    >>> import numpy as np
    >>> X = np.array([[0.0], [2.0], [10.0], [12.0]])
    >>> start = start_from_labels(X, np.array([0, 0, 1, 1]), 2, "tied", 0.0)
    >>> start.means.ravel(), start.covariances
    (array([ 1., 11.]), array([[1.]]))
    """
    n, d = X.shape
    counts = np.bincount(labels, minlength=n_components).astype(X.dtype)
    hot = np.zeros((n, n_components), X.dtype)
    hot[np.arange(n), labels] = 1
    means = hot.T @ X / np.maximum(counts, 1)[:, None]
    residuals = X - means[labels]
    for k in np.flatnonzero(counts == 0):
        _, distances = pairwise_distances_argmin_min(X, means[np.flatnonzero(counts)])
        means[k] = X[np.argmax(distances)]
        counts[k] = 1
    if n_numbers is not None:
        d = n_numbers
        X, means, residuals = X[:, :d], means[:, :d], residuals[:, :d]
    pooled = residuals.T @ residuals / n
    pooled[np.diag_indices(d)] += ridge
    weights = counts / counts.sum()
    if covariance_type == "tied":
        return Parameters(weights, means, pooled)
    share = (counts / (counts + d + 1))[:, None]
    if covariance_type == "full":
        own = np.stack([residuals[labels == k].T @ residuals[labels == k] for k in range(n_components)])
        own /= counts[:, None, None]
        own[:, np.arange(d), np.arange(d)] += ridge
        return Parameters(weights, means, share[:, :, None] * own + (1 - share[:, :, None]) * pooled)
    variances = hot.T @ residuals**2 / counts[:, None] + ridge
    variances = np.maximum(share * variances + (1 - share) * np.diag(pooled), 1e-12)
    return Parameters(weights, means, variances if covariance_type == "diag" else variances.mean(axis=1))
