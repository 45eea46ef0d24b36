"""Nine ways to cluster the same rows: what they are called, and their clusters for any numbers of clusters."""

from __future__ import annotations

import warnings
from dataclasses import dataclass

from sklearn.exceptions import ConvergenceWarning

from gramian.clustering.automatic.genie import labels_after
from gramian.clustering.automatic.rows import Rows
from gramian.clustering.core import kmeans, labels_by_first_row, unit_rows
from gramian.mixture import IncompleteGaussianMixture
from gramian.typing import Array


@dataclass(frozen=True)
class Way:
    """A way to cluster.

    Attributes
    ----------
    family : str
        Ways of one family err alike.
    title : str
        For people.
    """

    family: str
    title: str


WAYS = {
    "nearest": Way("graph", "Each row is tied to its 10 nearest rows, columns in standard deviations"),
    "mutual": Way("graph", "Rows are tied if each is among the 10 nearest rows of the other"),
    "continuous": Way("graph", "Rows are tied if they are near, measured by how near others are"),
    "self_tuning": Way("graph", "Each row is tied to its 20 nearest rows, the nearer the more"),
    "sharpened_kernel": Way(
        "sharpened_kernel",
        "Rows are tied to the 20 rows that mixtures of many sizes most often keep them together with",
    ),
    "cluster_walk": Way("cluster_walk", "Rows are alike if mixtures of many sizes keep them together"),
    "genie": Way("genie", "Near rows are merged step by step, small groups first where sizes grow unequal"),
    "kmeans": Way("kmeans", "Each row belongs to the nearest of as many centres"),
    "gaussian_mixture": Way("gaussian_mixture", "Groups are normal distributions, each with correlations of its own"),
}
MIXTURE = "gaussian_mixture"

_STARTS = 4
_MOST_CORRELATED = 100  # features: a mixture with more, or with few rows for each, cannot learn how they vary together


def fitting_ways(rows: Rows) -> list[str]:
    """Names of the ways that the rows allow."""
    n, d = rows.completed.shape
    return [name for name in WAYS if name != MIXTURE or d <= min(_MOST_CORRELATED, n // 2)]


def clusterings(name: str, rows: Rows, counts: list[int], seed: int, *, n_init: int = _STARTS) -> dict[int, Array]:
    """Labels (n,) by the number of clusters.

    Parameters
    ----------
    name : str
        Of the way.
    rows : Rows
    counts : list of int
        Numbers of clusters, at most the number of rows.
    seed : int
    n_init : int, default 4
        Starts of k-means; the mixture has one fewer.
    """
    if name == MIXTURE:
        Z = rows.completed
        return {k: mixture(k, Z, seed, n_init=max(1, n_init - 1)).predict(Z) for k in counts}
    if name == "genie":
        return {k: labels_after(rows.tree[0], rows.merges, k) for k in counts}
    if name == "kmeans":
        return {k: kmeans(rows.completed, k, seed=seed, n_init=n_init, pivots=False)[0] for k in counts}
    if not counts:
        return {}
    gram = rows.gram(name)
    vectors = gram.normalized().eigenpairs(max(counts))[1]
    # Rows of length one: the factor D^-½ of each row does not change its direction.
    return {k: kmeans(unit_rows(vectors[:, :k]), k, seed=seed, n_init=n_init)[0] for k in counts}


def mixture_parts(k: int, rows: Rows, seed: int) -> tuple[IncompleteGaussianMixture, Array]:
    """The mixture that :func:`clusterings` fits, and its components in the order of the clusters."""
    model = mixture(k, rows.completed, seed, n_init=_STARTS - 1)
    return model, labels_by_first_row(model.predict(rows.completed))[1]


def mixture(k: int, Z: Array, seed: int, *, n_init: int) -> IncompleteGaussianMixture:
    """A Gaussian mixture with full covariances, fitted to complete rows."""
    model = IncompleteGaussianMixture(k, n_init=n_init, init="kmeans", reg_covar=1e-3, max_iter=50, random_state=seed)
    with warnings.catch_warnings(action="ignore", category=ConvergenceWarning):
        # One that does not settle agrees with no other, and so is not chosen.
        return model.fit(Z)
