"""How well do score vectors fall into clusters? Memberships and the selection criteria of kernel spectral clustering.

Pure functions on the scores e (n, k − 1) of k clusters; they know no estimator. :mod:`gramian.metrics` offers the
criteria to users, :mod:`gramian.clustering.ksc` chooses models by them.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from gramian.checks import real
from gramian.grams.features import unit_rows
from gramian.typing import Array

__all__ = [
    "average_membership_strength",
    "balanced_angular_fit",
    "balanced_angular_similarity",
    "balanced_line_fit",
    "mean_scores",
    "memberships",
]

_CLOSEST = 1e-15  # distances to a prototype below this are none: the membership is 1
_NO_SPREAD = 1e-12  # of the mean square: a cluster of less variance is a point, which is a perfect line


def memberships(scores: Array, prototypes: Array) -> Array:
    """Soft memberships: how much of each cluster a row of scores is.

    With d_p = 1 − cos∠(e, s_p) the distance to the prototype s_p, the membership of cluster p is
    Π_{j≠p} d_j / Σ_q Π_{j≠q} d_j, which is (1/d_p) / Σ_q (1/d_q).

    Of two clusters the scores are single numbers, and d_p = max(0, 1 − e / s_p). The published |e − s_p| changes sides
    midway between the prototypes, where labels do not, and sinks again beyond a prototype.

    Parameters
    ----------
    scores : ndarray (n, k − 1)
        e.
    prototypes : ndarray (k, k − 1)
        s_p, the mean scores of the clusters.

    Returns
    -------
    memberships : ndarray (n, k)
        Rows sum to one; the largest entry is that of the prototype of the smallest angle. A row of zeros has no
        direction and is as much of one cluster as of another.

    References
    ----------
    Langone, Mall, Suykens (2013). Soft kernel spectral clustering. IJCNN.

    Examples
    --------
    >>> import numpy as np
    >>> memberships(np.array([[2.0], [0.5], [0.0]]), np.array([[1.0], [-1.0]])).round(2)
    array([[1.  , 0.  ],
           [0.75, 0.25],
           [0.5 , 0.5 ]])
    """
    if scores.shape[1] == 1:
        side = prototypes[:, 0]
        distances = np.maximum(1 - scores / np.where(side == 0, np.inf, side), 0)
    else:
        distances = 1 - unit_rows(scores) @ unit_rows(prototypes).T
    strength = -np.log(np.maximum(distances, _CLOSEST))
    strength -= strength.max(axis=1, keepdims=True)
    np.exp(strength, out=strength)
    strength /= strength.sum(axis=1, keepdims=True)
    return strength


def mean_scores(scores: Array, labels: Array, k: int) -> Array:
    """The mean score of each of k clusters, (k, k − 1); zero for an empty one. Labels below zero count nowhere."""
    members = np.equal.outer(np.arange(k), labels).astype(scores.dtype)
    return members @ scores / np.maximum(members.sum(axis=1, keepdims=True), 1)


def balanced_line_fit(
    scores: ArrayLike, labels: ArrayLike, *, balance: float = 0.25, degrees: ArrayLike | None = None
) -> float:
    """Balanced line fit: do the scores of every cluster lie on a line?

    In the ideal case e_i = d_i a_p, so a cluster is a ray. With ζ₁ ≥ ζ₂ ≥ … the eigenvalues of the covariance of the
    scores of a cluster,

        fit = (k − 1)/(k − 2) · (mean over clusters of ζ₁ / Σ ζ − 1/(k − 1)),

    and the criterion is (1 − balance) · fit + balance · (smallest cluster / largest cluster).

    Two clusters have one score, to which the degree is added as a second coordinate; both are divided by their root
    mean square. Without that, which is not in the paper, the degree is so much larger that every pair of clusters is a
    perfect line.

    Parameters
    ----------
    scores : array-like (n, k − 1)
        Of rows that were not fitted.
    labels : array-like (n,)
        Their clusters, at most k.
    balance : float, default 0.25
        Weight of the balance of the sizes, from 0 to 1. The papers differ in which term they give it to.
    degrees : array-like (n,), optional
        Σ_j k(x, x_j) of the rows; needed for two clusters.

    Returns
    -------
    criterion : float
        At most 1. A cluster without rows, or of one row, adds nothing to the fit.

    References
    ----------
    Alzate, Suykens (2010). Multiway spectral clustering with out-of-sample extensions through weighted kernel PCA.
    IEEE TPAMI 32(2).

    Examples
    --------
    >>> from gramian.metrics import balanced_line_fit
    >>> scores = [[1.0, 0.0], [2.0, 0.0], [0.0, 1.0], [0.0, 3.0], [-1.0, -1.0], [-2.0, -2.0]]
    >>> round(balanced_line_fit(scores, [0, 0, 1, 1, 2, 2]), 12)
    1.0
    """
    E, codes, k, weight = _checked(scores, labels, balance)
    if k == 2:
        if degrees is None:
            raise ValueError("the line fit of two clusters needs the degrees of the rows; pass degrees, (n,)")
        second = np.asarray(degrees, np.float64)
        if second.shape != (len(E),):
            raise ValueError(f"degrees has shape {second.shape}; pass one for each of the {len(E)} rows")
        E = np.column_stack([_of_unit_square(E[:, 0]), _of_unit_square(second)])
    # Sorted once: a mask for each cluster would read all labels k times.
    ends = np.cumsum(np.bincount(codes, minlength=k))
    lines = sum(_line(rows) for rows in np.split(E[np.argsort(codes, kind="stable")], ends[:-1]))
    fit = lines - 1 if k == 2 else (k - 1) / (k - 2) * (lines / k - 1 / (k - 1))
    return _balanced(fit, codes, k, weight)


def balanced_angular_fit(scores: ArrayLike, labels: ArrayLike, *, balance: float = 0.25) -> float:
    """Balanced angular fit: how small is the angle between scores and the mean score of a cluster?

    With MS(i) = max_p cos∠(e_i, μ_p), the fit is the mean of MS over the rows nearest to each μ_p, averaged over the
    clusters; the criterion is (1 − balance) · fit + balance · (smallest cluster / largest cluster).

    Parameters
    ----------
    scores : array-like (n, k − 1)
        For k of at least three: the angles of single numbers are all 0 or π.
    labels : array-like (n,)
        Their clusters, at most k.
    balance : float, default 0.25
        Weight of the balance of the sizes, from 0 to 1.

    Returns
    -------
    criterion : float
        At most 1. A cluster to which no row is nearest adds nothing to the fit.

    References
    ----------
    Mall, Langone, Suykens (2013). Kernel spectral clustering for big data networks. Entropy 15(5).

    Examples
    --------
    >>> from gramian.metrics import balanced_angular_fit
    >>> round(balanced_angular_fit([[1.0, 0.0], [0.0, 2.0], [-1.0, -1.0]], ["a", "b", "c"]), 12)
    1.0
    """
    E, codes, k, weight = _checked(scores, labels, balance)
    _at_least_three(k, "balanced_angular_fit")
    cosines = unit_rows(E) @ unit_rows(mean_scores(E, codes, k)).T
    fit = _mean_of_clusters(cosines.max(axis=1), cosines.argmax(axis=1), k)
    return _balanced(fit, codes, k, weight)


def average_membership_strength(
    scores: ArrayLike, labels: ArrayLike, *, prototypes: ArrayLike | None = None, balance: float = 0.25
) -> float:
    """Average membership strength: how clearly is a row of one cluster and of no other?

    The soft membership of the cluster of which a row is most, averaged over the rows of each cluster and then over
    the clusters; the criterion is (1 − balance) · fit + balance · (smallest cluster / largest cluster).

    Parameters
    ----------
    scores : array-like (n, k − 1)
    labels : array-like (n,)
        Their clusters, at most k.
    prototypes : array-like (k, k − 1), optional
        Mean scores of the clusters of a fitted model; by default those of these rows.
    balance : float, default 0.25
        Weight of the balance of the sizes, from 0 to 1.

    Returns
    -------
    criterion : float
        At most 1. A cluster of which no row is most adds nothing to the fit.

    References
    ----------
    Langone, Mall, Suykens (2013). Soft kernel spectral clustering. IJCNN.

    Examples
    --------
    >>> from gramian.metrics import average_membership_strength
    >>> round(average_membership_strength([[1.0], [1.0], [-1.0], [-1.0]], [0, 0, 1, 1]), 12)
    1.0
    """
    E, codes, k, weight = _checked(scores, labels, balance)
    strength = memberships(E, _prototypes(prototypes, E, codes, k))
    fit = _mean_of_clusters(strength.max(axis=1), strength.argmax(axis=1), k)
    return _balanced(fit, codes, k, weight)


def balanced_angular_similarity(
    scores: ArrayLike, labels: ArrayLike, *, prototypes: ArrayLike | None = None, balance: float = 0.25
) -> float:
    """Balanced angular similarity: how much nearer is the prototype of one cluster than that of the next?

    For models on a reduced set of rows. The strength of a row is 1 − δ₁/δ₂, where δ₁ ≤ δ₂ are the two smallest
    distances between its score and the prototypes, all scaled to length one; it is averaged over the rows of each
    cluster and then over the clusters. The criterion is (1 − balance) · fit + balance · (smallest cluster / largest
    cluster).

    Parameters
    ----------
    scores : array-like (n, k − 1)
        For k of at least three.
    labels : array-like (n,)
        Their clusters, at most k.
    prototypes : array-like (k, k − 1), optional
        Mean scores of the clusters of a fitted model; by default those of these rows.
    balance : float, default 0.25
        Weight of the balance of the sizes, from 0 to 1.

    Returns
    -------
    criterion : float
        At most 1.

    References
    ----------
    Mall, Langone, Suykens (2015). Agglomerative hierarchical kernel spectral data clustering. IEEE SSCI.

    Examples
    --------
    >>> from gramian.metrics import balanced_angular_similarity
    >>> round(balanced_angular_similarity([[1.0, 0.0], [0.0, 2.0], [-1.0, -1.0]], ["a", "b", "c"]), 6)
    1.0
    """
    E, codes, k, weight = _checked(scores, labels, balance)
    _at_least_three(k, "balanced_angular_similarity")
    cosines = unit_rows(E) @ unit_rows(_prototypes(prototypes, E, codes, k)).T
    distances = np.sqrt(np.maximum(2 - 2 * cosines, 0))
    two = np.partition(distances, 1, axis=1)[:, :2]
    strength = 1 - np.divide(two[:, 0], two[:, 1], out=np.ones(len(two)), where=two[:, 1] > 0)
    fit = _mean_of_clusters(strength, distances.argmin(axis=1), k)
    return _balanced(fit, codes, k, weight)


# Inside ----------------------------------------------------------------------------------------------------


def _checked(scores: ArrayLike, labels: ArrayLike, balance: Any) -> tuple[Array, Array, int, float]:
    E = np.asarray(scores, np.float64)
    if E.ndim != 2 or not E.size or not np.isfinite(E).all():
        raise ValueError(f"scores has shape {E.shape}; pass finite numbers of shape (n, k - 1), one row or more")
    names = np.asarray(labels)
    if names.shape != (len(E),):
        raise ValueError(f"labels has shape {names.shape}; pass one for each of the {len(E)} rows of scores")
    k = E.shape[1] + 1
    weight = real(balance, "balance", least=0, most=1)
    if names.dtype.kind in "iu" and names.min() >= 0 and names.max() < k:
        return E, names.astype(np.intp), k, weight  # numbers of prototypes keep their place, also of empty clusters
    used, codes = np.unique(names, return_inverse=True)
    if len(used) > k:
        raise ValueError(f"labels has {len(used)} clusters but scores of {k - 1} columns are of {k}; pass at most {k}")
    return E, codes, k, weight


def _prototypes(prototypes: ArrayLike | None, E: Array, codes: Array, k: int) -> Array:
    if prototypes is None:
        return mean_scores(E, codes, k)
    given = np.asarray(prototypes, np.float64)
    if given.shape != (k, k - 1) or not np.isfinite(given).all():
        raise ValueError(f"prototypes has shape {given.shape}; pass finite numbers of shape ({k}, {k - 1})")
    return given


def _at_least_three(k: int, name: str) -> None:
    if k < 3:
        raise ValueError(
            f"{name} of two clusters is 1 whatever the labels, because single numbers have no angle; use "
            "balanced_line_fit or average_membership_strength"
        )


def _balanced(fit: float, codes: Array, k: int, weight: float) -> float:
    sizes = np.bincount(codes, minlength=k)
    return float((1 - weight) * fit + weight * sizes.min() / sizes.max())


def _mean_of_clusters(values: Array, nearest: Array, k: int) -> float:
    """The mean over k clusters of the mean over their rows; an empty cluster counts as zero."""
    sizes = np.bincount(nearest, minlength=k)
    sums: Array = np.bincount(nearest, values, minlength=k)
    return float((sums / np.maximum(sizes, 1)).mean())


def _line(rows: Array) -> float:
    """The share of the variance along the longest axis."""
    if len(rows) < 2:
        return 0.0
    spread = np.linalg.eigvalsh(np.cov(rows.T, bias=True))
    total = float(spread.sum())
    if total <= _NO_SPREAD * float((rows**2).sum(axis=1).mean()):
        return 1.0
    return float(spread[-1]) / total


def _of_unit_square(values: Array) -> Array:
    size = float(np.sqrt((values**2).mean()))
    return values / size if size > 0 else values
