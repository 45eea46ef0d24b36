"""How many clusters? Every rule of the library, each with what speaks for it.

======================================  ===========================================  ================================
rule                                    reads                                        used by
======================================  ===========================================  ================================
:func:`relative_gap`                    eigenvalues of one walk                      dependence, the two below
:func:`relative_gaps`                   eigenvalues of several walks                 kernel spectral clustering
:func:`choose_by_gap`                   one walk, keeping its eigenpairs             spectral, ranked clustering
:func:`gaps_from_one`                   eigenvalues, where one cluster is possible   EvolvingKSC
:func:`shares_of_gaps`                  several walks on the same rows               AutoClustering
:func:`estimate_n_clusters`             a walk on thresholded similarities           users, of any similarity matrix
:func:`longest_lived`                   merge heights of a dendrogram                ConsensusClustering
======================================  ===========================================  ================================
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from numbers import Real
from typing import Any

import numpy as np
from scipy.sparse import csr_array, issparse, vstack
from sklearn.utils.validation import check_array

from gramian.checks import whole
from gramian.grams import Gram, SparseGram
from gramian.grams.tiles import slices
from gramian.kernels.given import symmetric
from gramian.typing import Array

_GRAPH_POWER, _KERNEL_POWER, _SHARED_POWER = 0.9, 0.5, 0.8


def relative_gap(values: Array, *, graph: bool) -> int:
    """The k >= 2 of largest (λ_k − λ_{k+1}) / (1 − λ_{k+1})^p among falling eigenvalues of D^-½ K D^-½.

    The plain gap would take the fine structure of a long cluster for clusters; p = 0.9 on a graph, which has much of
    it, and 0.5 under a kernel. Evidence: on 48 labelled sets (shapes and tables of UCI) the gap of the walk gives a
    mean adjusted Rand index of 0.58, judging every k by separation and stability 0.52.

    Parameters
    ----------
    values : ndarray (m,)
        At least three; k is at most m − 1.
    graph : bool
        Whether K has a zero diagonal.
    """
    return 2 + int(np.argmax(relative_gaps(values, _GRAPH_POWER if graph else _KERNEL_POWER)))


def relative_gaps(values: Array, power: float = _KERNEL_POWER) -> Array:
    """(λ_k − λ_{k+1}) / (1 − λ_{k+1})^p for k = 2, …, m − 1, (m − 2,).

    With p = 1 it is 1 − (1 − λ_k) / (1 − λ_{k+1}): how much slower a walk changes between k clusters than within them,
    however slow it is within a long one. Evidence, for :class:`~gramian.KernelSpectralClustering`: over several widths
    of a Gaussian kernel p = 0.5 finds the number of Gaussian clusters and misses rings, p = 1 finds rings.
    """
    if values[-1] > 1 - 1e-8:  # at least as many separate components as clusters considered
        return np.eye(len(values) - 2)[-1]
    below = np.maximum(1 - values[2:].astype(np.float64), 1e-9)
    gaps: Array = (values[1:-1] - values[2:]) / below**power
    return gaps


def gaps_from_one(values: Array, *, graph: bool) -> Array:
    """The relative gaps of :func:`relative_gap` for k = 1, 2, …, so that a single cluster is an answer too.

    Parameters
    ----------
    values : ndarray (m,)
        Falling eigenvalues after the trivial one, λ₂, λ₃, …
    graph : bool
        Whether K has a zero diagonal.

    Returns
    -------
    gaps : ndarray (m,)
        For k = 1, …, m; that of one cluster is (1 − λ₂)^(1 − p).
    """
    return relative_gaps(np.concatenate([[1.0, 1.0], values]), _GRAPH_POWER if graph else _KERNEL_POWER)


def choose_by_gap(
    gram: Gram,
    eigenpairs: Callable[[int], tuple[Array, Array]],
    max_clusters: int,
    n_axes: int = 0,
    *,
    trivial: bool = True,
) -> tuple[int, tuple[Array, Array], Array]:
    """The number of clusters by :func:`relative_gap`, with the eigenpairs found on the way.

    Parameters
    ----------
    gram : Gram
        K.
    eigenpairs : callable
        Gives so many leading eigenpairs of D^-½ K D^-½, or fewer if there are not so many positive ones.
    max_clusters : int
    n_axes : int
        At least so many eigenpairs are found.
    trivial : bool
        Whether the eigenpairs include the trivial one, of eigenvalue 1.

    Returns
    -------
    n_clusters : int
    eigenpairs : (values, vectors)
    candidates : ndarray (at most max_clusters + 1,)
        The eigenvalues whose gaps were compared, the trivial one first.
    """
    n = gram.shape[0]
    most = min(max_clusters, n - 1)
    if most < 2:
        raise ValueError(
            f"n_clusters=None needs max_clusters >= 2 and at least three samples; got max_clusters={max_clusters} and "
            f"n_samples={n}: pass n_clusters"
        )
    values, vectors = eigenpairs(max(most + trivial, n_axes))
    found = values[: most + trivial]
    if trivial:
        candidates = found
    else:
        candidates = np.zeros(most + 1)
        candidates[0], candidates[1 : len(found) + 1] = 1, found
    return relative_gap(candidates, graph=not gram.diagonal().any()), (values, vectors), candidates


def shares_of_gaps(grams: Sequence[Gram], most: int) -> Array:
    """How wide a gap walks on the same rows have after k eigenvalues, for k = 2, …, ``most``, from 0 to 1.

    The relative gaps of :func:`relative_gap`, with p = 0.8, as shares of the widest one of their walk.

    Parameters
    ----------
    grams : sequence of Gram (m,)
        Graphs: their diagonals are zero.
    most : int
        The largest number considered, at least two.

    Returns
    -------
    shares : ndarray (m, most − 1)
        Zero for numbers beyond those that so few rows allow.
    """
    shares = np.zeros((len(grams), most - 1))
    for gram, share in zip(grams, shares, strict=True):
        values = gram.normalized().eigenpairs(min(most + 1, gram.shape[0] - 1))[0]
        gaps = np.maximum(relative_gaps(values, _SHARED_POWER), 0)
        share[: len(gaps)] = gaps / max(float(gaps.max()), np.finfo(float).tiny)
    return shares


def longest_lived(lifetimes: Array) -> int:
    """The number of clusters that lasts longest while a dendrogram is cut at rising heights.

    Lifetimes are differences of successive merge heights (Fred and Jain, 2005), for 2, 3, … clusters. Evidence: it
    finds blobs, rings and moons that lie apart; where clusters overlap it finds too many (8 on wine, 9 on breast_w).

    Parameters
    ----------
    lifetimes : ndarray (m,)
    """
    # Equal up to rounding is equal, and then the smaller number is taken.
    return 2 + int(np.argmax(lifetimes > lifetimes.max() - 1e-12))


# A walk on thresholded similarities --------------------------------------------------------------------------


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
    """The number of eigenvalues of a thresholded random walk that come before its largest gap.

    Similarities below the threshold are taken as zero, off the diagonal. The transition matrix D^-1 K then has one
    eigenvalue near 1 for each group that a walk hardly leaves; k is where λ_k − λ_{k+1} is largest, and 1 only if
    λ_2 < 0.5. A sample that is left alone would add an eigenvalue of 1 that means nothing, and is counted apart.
    Evidence: it is the published rule for the cluster kernel, and the only one here that can answer 1.

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
    >>> from gramian.ranking import estimate_n_clusters
    >>> K = np.kron(np.eye(3), np.full((5, 5), 0.9)) + 0.02
    >>> estimate_n_clusters(K).n_clusters
    3
    """
    K = symmetric(check_array(K, accept_sparse="csr", dtype=np.float64, input_name="K"))
    if not isinstance(threshold, Real) or isinstance(threshold, bool) or not 0 <= float(threshold) < np.inf:
        raise ValueError(f"threshold={threshold!r} must be a number >= 0")
    max_clusters = whole(max_clusters, "max_clusters")
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
    values = walk.eigenpairs(min(max_clusters, len(linked) - 1) + 1)[0]
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
