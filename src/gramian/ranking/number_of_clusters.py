"""How many clusters? The gap after the leading eigenvalues of a walk, of any Gram or of thresholded similarities."""

from __future__ import annotations

from dataclasses import dataclass
from numbers import Integral, Real
from typing import Any

import numpy as np
from scipy.sparse import csr_array, issparse, vstack
from sklearn.utils.validation import check_array

from gramian.grams.gaps import relative_gap
from gramian.grams.sparse import SparseGram
from gramian.grams.tiles import slices
from gramian.kernels.given import symmetric
from gramian.ranking.joint_embedding import walk_axes
from gramian.ranking.walk import Walk
from gramian.typing import Array


def choose_n_clusters(walk: Walk, max_clusters: int, n_axes: int) -> tuple[int, tuple[Array, Array], Array]:
    """The number of clusters by :func:`relative_gap`, the eigenpairs found on the way, and the eigenvalues it saw.

    At least ``n_axes`` pairs are found, if there are so many; the trivial pair is not among them.
    """
    most = min(max_clusters, len(walk.degrees) - 1)
    if most < 2:
        raise ValueError(
            f"n_clusters=None needs max_clusters >= 2 and at least three samples; got max_clusters={max_clusters} and "
            f"n_samples={len(walk.degrees)}: pass n_clusters"
        )
    axes = walk_axes(walk, max(most, n_axes))
    found = axes[0][:most]
    values = np.zeros(most + 1)
    values[0], values[1 : len(found) + 1] = 1, found
    return relative_gap(values, graph=not walk.gram.diagonal().any()), axes, values


@dataclass
class ClusterCount:
    """An estimate of the number of clusters and what it rests on.

    Attributes
    ----------
    n_clusters : int
        Without the singletons.
    n_singletons : int
        Samples that the threshold has cut off from all others.
    eigenvalues : ndarray
        The largest ones of the walk on the other samples, falling, for a plot.
    """

    n_clusters: int
    n_singletons: int
    eigenvalues: Array


def estimate_n_clusters(K: Any, *, threshold: float = 0.05, max_clusters: int = 20) -> ClusterCount:
    """The number of eigenvalues of a thresholded walk that come before its largest gap.

    Similarities below the threshold are taken as zero, off the diagonal. The transition matrix D^-1 K then has one
    eigenvalue near 1 for each group that a walk hardly leaves; k is where λ_k − λ_{k+1} is largest, and 1 only if
    λ_2 < 0.5. A sample that is left alone would add an eigenvalue of 1 that means nothing, and is counted apart.

    Parameters
    ----------
    K : array or sparse (n, n)
        Symmetric similarities, at least 0.
    threshold : float, default 0.05
        For similarities of at most 1, such as those of the cluster kernel.
    max_clusters : int, default 20

    Returns
    -------
    count : ClusterCount

    References
    ----------
    Løkse (2014). Joint ranking and clustering based on Markov Chain transition probabilities learned from data.

    Examples
    --------
    >>> import numpy as np
    >>> K = np.kron(np.eye(3), np.full((5, 5), 0.9)) + 0.02
    >>> estimate_n_clusters(K).n_clusters
    3
    """
    K = symmetric(check_array(K, accept_sparse="csr", dtype=np.float64, input_name="K"))
    if not isinstance(threshold, Real) or isinstance(threshold, bool) or not 0 <= float(threshold) < np.inf:
        raise ValueError(f"threshold={threshold!r} must be a number >= 0")
    if not isinstance(max_clusters, Integral) or isinstance(max_clusters, bool) or max_clusters < 1:
        raise ValueError(f"max_clusters={max_clusters!r} must be a whole number >= 1")
    if K.min() < 0:
        raise ValueError("K has negative similarities, which define no walk; use a kernel with values >= 0")
    strips = [csr_array(_cut(K[rows], threshold, rows.start)) for rows in slices(K.shape[0], 1024)]
    graph = csr_array(vstack(strips))
    graph.eliminate_zeros()
    others = graph.indptr[1:] - graph.indptr[:-1] - (graph.diagonal() != 0)
    linked = np.flatnonzero(others)
    n_singletons = K.shape[0] - len(linked)
    if len(linked) < 3:
        return ClusterCount(min(1, len(linked)), n_singletons, np.ones(min(1, len(linked))))
    walk = SparseGram(csr_array(graph[linked][:, linked])).normalized()
    values = walk.eigenpairs(min(int(max_clusters), len(linked) - 1) + 1)[0]
    if values[-1] > 1 - 1e-8:  # at least as many separate groups as clusters considered
        return ClusterCount(len(values) - 1, n_singletons, values)
    gaps = values[:-1] - values[1:]
    if values[1] >= 0.5:
        gaps[0] = -np.inf
    return ClusterCount(1 + int(np.argmax(gaps)), n_singletons, values)


def _cut(strip: Any, threshold: float, start: int) -> Array:
    """Rows with what is below the threshold set to zero, the diagonal kept."""
    rows = strip.toarray() if issparse(strip) else np.array(strip)
    own = np.arange(len(rows)), np.arange(start, start + len(rows))
    diagonal = rows[own]
    rows[rows < threshold] = 0
    rows[own] = diagonal
    return rows
