"""k-means by angle: clusters are directions from the origin."""

from __future__ import annotations

import numpy as np
from sklearn.utils.validation import check_array

from gramian.checks import one_of, whole
from gramian.clustering.core.embedding import refill_empty
from gramian.grams.features import unit_rows
from gramian.partitions import refuse_partitions
from gramian.randomness import spawn
from gramian.typing import Array, RandomState


def angular_kmeans(
    Z: Array,
    n_clusters: int,
    *,
    start: str = "random",
    n_init: int = 10,
    max_iter: int = 300,
    random_state: RandomState = None,
) -> tuple[Array, Array, float]:
    """Cluster rows by the cosine of their angle to the cluster means.

    A row goes to the mean m_c of largest cos∠(z, m_c); a mean is the plain average of its rows, so long rows
    count more. The start picks rows at large mutual angles. A row of zeros has no direction and goes to cluster 0.

    Parameters
    ----------
    Z : ndarray (n, d)
    n_clusters : int
    start : {"random", "farthest"}, default "random"
        "random" draws rows with a probability that grows with the angle to those drawn before, k-means++-like.
        "farthest" begins with the longest row and goes on with the row at the largest angle to all chosen before (of
        equal ones the longest; short rows count less); it is deterministic and finds each of k separated directions.
    n_init : int, default 10
        Random starts; the one with the largest sum of cosines is kept.
    max_iter : int, default 300
    random_state : int, Generator or None

    Returns
    -------
    labels : ndarray (n,)
    centers : ndarray (n_clusters, d)
    score : float
        Σ_i cos∠(z_i, m_c(i)), at most n.

    References
    ----------
    Jenssen (2010). Kernel entropy component analysis. IEEE TPAMI.

    Examples
    --------
    >>> import numpy as np
    >>> Z = np.array([[1.0, 0.0], [5.0, 0.1], [0.0, 2.0]])
    >>> labels, centers, score = angular_kmeans(Z, 2, random_state=0)
    >>> bool(labels[0] == labels[1] != labels[2])
    True
    """
    refuse_partitions("angular_kmeans", Z, "pass some of the rows, for instance Z[:100_000].compute()")
    Z = check_array(Z, dtype=[np.float64, np.float32], input_name="Z")
    one_of(start, "start", ("random", "farthest"))
    n_init, max_iter, n_clusters = whole(n_init, "n_init"), whole(max_iter, "max_iter"), whole(n_clusters, "n_clusters")
    if n_clusters > len(Z):
        raise ValueError(f"n_clusters={n_clusters} is more than the n_samples={len(Z)}; pass n_clusters <= {len(Z)}")
    # A zero row has no direction: it must neither seed a cluster nor fill an empty one.
    pointing = np.flatnonzero(Z.any(axis=1))
    labels = np.zeros(len(Z), np.intp)
    if not len(pointing):
        return labels, np.zeros((n_clusters, Z.shape[1]), Z.dtype), 0.0
    Z = Z[pointing]
    U = unit_rows(Z)
    if start == "farthest":
        starts = [_farthest_rows(Z, U, n_clusters)]
    else:
        starts = [_spread_rows(U, n_clusters, rng) for rng in spawn(random_state, n_init)]
    runs = [_one_run(Z, U, rows, max_iter) for rows in starts]
    labels[pointing], centers, score = max(runs, key=lambda run: run[2])
    return labels, centers, score


def nearest_direction(Z: Array, centers: Array) -> Array:
    """Index of the centre at the smallest angle to each row."""
    labels: Array = np.argmax(unit_rows(Z) @ unit_rows(centers).T, axis=1)
    return labels


def _one_run(Z: Array, U: Array, rows: list[int], max_iter: int) -> tuple[Array, Array, float]:
    centers, n_clusters = U[rows], len(rows)
    labels = np.full(len(Z), -1)
    for _ in range(max_iter):
        cosines = U @ unit_rows(centers).T
        new = np.argmax(cosines, axis=1)
        refill_empty(new, -cosines[np.arange(len(new)), new], n_clusters)
        if np.array_equal(new, labels):
            break
        labels = new
        members = np.equal.outer(np.arange(n_clusters), labels).astype(Z.dtype)
        centers = members @ Z / np.maximum(members.sum(axis=1, keepdims=True), 1)
    score = float((U * unit_rows(centers)[labels]).sum())
    return labels, centers, score


def _spread_rows(U: Array, n_clusters: int, rng: np.random.Generator) -> list[int]:
    """Rows drawn one after the other with probability growing with the angle to those drawn before."""
    chosen = [int(rng.integers(len(U)))]
    closest = U @ U[chosen[0]]
    while len(chosen) < n_clusters:
        distance = np.maximum(1 - closest, 0).astype(np.float64)
        total = distance.sum()
        chosen.append(int(rng.choice(len(U), p=distance / total) if total > 0 else rng.integers(len(U))))
        closest = np.maximum(closest, U @ U[chosen[-1]])
    return chosen


def _farthest_rows(Z: Array, U: Array, n_clusters: int) -> list[int]:
    """The longest row, and then the rows at the largest angle to those before; of equal ones the longest.

    Short rows lie between the directions, or beside all of them, and point anywhere: one of less than half the median
    length counts the less, the shorter it is.
    """
    lengths = np.linalg.norm(Z, axis=1)
    order = np.argsort(-lengths, kind="stable")
    sorted_rows = np.ascontiguousarray(U[order])
    trust = np.minimum(1, 2 * lengths[order] / np.median(lengths))
    chosen = [0]
    closest = sorted_rows @ sorted_rows[0]
    while len(chosen) < n_clusters:
        chosen.append(int(np.argmax(trust * (1 - closest))))
        np.maximum(closest, sorted_rows @ sorted_rows[chosen[-1]], out=closest)
    return [int(row) for row in order[chosen]]
