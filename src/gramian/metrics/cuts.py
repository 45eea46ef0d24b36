"""Scores for groups in a graph, given by its affinity matrix."""

from __future__ import annotations

from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import ArrayLike

from gramian.metrics.partitions import label_codes
from gramian.typing import Array, Matrix


def normalized_cut(W: Matrix, labels: ArrayLike) -> float:
    """Normalised cut of a partition of a graph: Σ_c cut(c, rest) / vol(c), in [0, number of groups].

    vol(c) = Σ_{i∈c} d_i with degrees d = W 1, and cut(c, rest) is the weight that leaves c. A group without
    any weight adds 0.

    Parameters
    ----------
    W : array or SciPy sparse matrix of shape (n, n)
        Symmetric affinities, at least 0. Sparse stays sparse.
    labels : array-like of shape (n,)

    References
    ----------
    J. Shi, J. Malik, "Normalized cuts and image segmentation", IEEE TPAMI 22 (2000).

    Examples
    --------
    A path of four nodes cut in the middle: one edge of three leaves halves of volume 3.

    >>> import numpy as np
    >>> from gramian.metrics import normalized_cut
    >>> path = np.eye(4, k=1) + np.eye(4, k=-1)
    >>> round(normalized_cut(path, [0, 0, 1, 1]), 4)
    0.6667
    """
    inside, volume = _group_weights(W, labels)
    return float(_ratio(volume - inside, volume).sum())


def modularity(W: Matrix, labels: ArrayLike) -> float:
    """Newman's modularity of a partition of a graph: Σ_c [w_in(c)/s - (vol(c)/s)²], in [-1/2, 1].

    s = Σ_ij w_ij, and w_in(c) = Σ_{i,j∈c} w_ij counts each edge from both ends. A self-loop counts as the
    matrix says, once; libraries of graphs count it twice, which here means a doubled diagonal.

    Parameters
    ----------
    W : array or SciPy sparse matrix of shape (n, n)
        Symmetric affinities, at least 0, not all 0. Sparse stays sparse.
    labels : array-like of shape (n,)

    References
    ----------
    M. E. J. Newman, "Modularity and community structure in networks", PNAS 103 (2006).

    Examples
    --------
    >>> import numpy as np
    >>> from gramian.metrics import modularity
    >>> two_pairs = np.kron(np.eye(2), [[0, 1], [1, 0]])
    >>> modularity(two_pairs, [0, 0, 1, 1])
    0.5
    """
    inside, volume = _group_weights(W, labels)
    total = volume.sum()
    if total == 0:
        raise ValueError("W has no edges, so modularity is undefined; pass a graph with at least one weight > 0")
    return float((inside / total - (volume / total) ** 2).sum())


def conductance(W: Matrix, labels: ArrayLike) -> Array:
    """Conductance of each group of a graph: cut(c, rest) / min(vol(c), vol(rest)), in [0, 1].

    A group without weight, or without weight outside it, has nothing to cut and gets 0.

    Parameters
    ----------
    W : array or SciPy sparse matrix of shape (n, n)
        Symmetric affinities, at least 0. Sparse stays sparse.
    labels : array-like of shape (n,)

    Returns
    -------
    array of shape (number of groups,)
        In the sorted order of the labels, the order of ``numpy.unique(labels)``.

    References
    ----------
    R. Kannan, S. Vempala, A. Vetta, "On clusterings: good, bad and spectral", Journal of the ACM 51 (2004).

    Examples
    --------
    >>> import numpy as np
    >>> from gramian.metrics import conductance
    >>> path = np.eye(4, k=1) + np.eye(4, k=-1)
    >>> conductance(path, ["end", "middle", "middle", "middle"])
    array([1., 1.])
    """
    inside, volume = _group_weights(W, labels)
    return _ratio(volume - inside, np.minimum(volume, volume.sum() - volume))


def _group_weights(W: Matrix, labels: ArrayLike) -> tuple[Array, Array]:
    """Weight inside each group, diag(Hᵀ W H) with the indicator matrix H, and its volume, Hᵀ W 1."""
    codes, names = label_codes("labels", labels)
    affinity: Any = W if sp.issparse(W) else np.asarray(W)
    n = len(codes)
    if affinity.ndim != 2 or affinity.shape != (n, n):
        raise ValueError(f"W has shape {affinity.shape} but there are {n} labels; pass W of shape ({n}, {n})")
    if affinity.dtype.kind != "f":
        affinity = affinity.astype(np.float64)  # bools and unsigned ints cannot be subtracted
    entries: Array = affinity.tocoo().data if sp.issparse(W) else affinity
    if not np.isfinite(entries).all() or (entries < 0).any():
        raise ValueError("W has entries that are negative or not finite; pass an uncentred affinity >= 0")
    if abs(affinity - affinity.T).max() > 1e-8 * max(entries.max(initial=0.0), 0.0):
        raise ValueError("W is not symmetric; for a directed graph pass (W + W.T) / 2")
    indicator = sp.csr_array((np.ones(n), (codes, np.arange(n))), shape=(len(names), n))
    by_group: Any = indicator @ affinity
    inside = (by_group @ indicator.T).diagonal()
    return np.asarray(inside, dtype=np.float64), np.asarray(by_group.sum(axis=1), dtype=np.float64).ravel()


def _ratio(cut: Array, volume: Array) -> Array:
    """Cut over volume, 0 where there is no volume; rounding below 0 is removed."""
    return np.divide(np.maximum(cut, 0.0), volume, out=np.zeros_like(volume), where=volume > 0)
