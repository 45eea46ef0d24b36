"""How far clusters lie apart in the space of a kernel."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Literal

import numpy as np
from numpy.typing import ArrayLike

from gramian.grams import Gram
from gramian.kernels import Kernel, as_kernel
from gramian.metrics.partitions import label_codes
from gramian.typing import Array, Matrix


def cauchy_schwarz_divergence(
    X: Matrix | Gram,
    memberships: ArrayLike,
    *,
    kernel: Kernel | str | Callable[[Any, Any], Any] = "rbf",
    pair_normalization: Literal["mean", "paper"] = "mean",
) -> float:
    """Cauchy–Schwarz divergence of clusters: how far apart their densities are, by kernel density estimates.

    With a column a_c of memberships for each of k clusters and a kernel matrix K, the overlap of two clusters is the
    cosine of the angle between their mean features, and the divergence is minus the logarithm of the mean overlap,

        D = −log( 2 / (k (k − 1)) Σ_{c<e} a_cᵀ K a_e / √(a_cᵀ K a_c · a_eᵀ K a_e) ).

    It is 0 for clusters of equal densities and infinite for clusters without any similarity between them.

    Parameters
    ----------
    X : array or sparse (n, d), (n, n) similarities with ``kernel="precomputed"``, or a Gram
    memberships : array-like of shape (n,) or (n, k)
        Labels, or the membership of each sample in each cluster, at least 0. Scaling a column changes nothing.
    kernel : Kernel, str or callable, default "rbf"
        Fitted to X; not used for a Gram.
    pair_normalization : {"mean", "paper"}, default "mean"
        "paper" divides the sum over pairs by k, as published for deep clustering; D is then at least −log((k − 1) / 2).

    Returns
    -------
    float

    References
    ----------
    M. Kampffmeyer et al., "Deep divergence-based approach to clustering", Neural Networks 113 (2019).

    Examples
    --------
    >>> import numpy as np
    >>> from gramian.metrics import cauchy_schwarz_divergence
    >>> K = np.array([[1.0, 0.5], [0.5, 1.0]])
    >>> round(cauchy_schwarz_divergence(K, [0, 1], kernel="precomputed"), 4)
    0.6931
    """
    if pair_normalization not in ("mean", "paper"):
        raise ValueError(f"pair_normalization={pair_normalization!r} is not known; pass 'mean' or 'paper'")
    gram = X if isinstance(X, Gram) else as_kernel(kernel).fit(X).gram(X)
    A = _memberships(memberships, gram.shape[0])
    k = A.shape[1]
    products = A.T @ (gram @ A.astype(gram.dtype, copy=False)).astype(np.float64)
    inner = np.diagonal(products)
    if not (inner > 0).all():
        raise ValueError(f"cluster {int(np.argmin(inner))} is not similar to itself under this kernel; use another one")
    length = np.sqrt(inner)  # of each mean; a product of two squares would leave the range of numbers
    overlap = float((products / length / length[:, None])[np.triu_indices(k, 1)].sum())
    share = overlap * (2 / (k * (k - 1)) if pair_normalization == "mean" else 1 / k)
    return -float(np.log(share)) if share > 0 else np.inf


def _memberships(memberships: ArrayLike, n: int) -> Array:
    """Memberships (n, k), each column scaled to a largest value of 1, so that small ones keep their digits."""
    values = np.asarray(memberships)
    if values.ndim == 1:
        codes, names = label_codes("memberships", values)
        values = np.eye(len(names))[codes]
    A = values.astype(np.float64)
    if A.ndim != 2 or len(A) != n:
        raise ValueError(f"memberships has shape {A.shape}; pass ({n},) labels or ({n}, k) memberships")
    if not np.isfinite(A).all() or A.min() < 0:
        raise ValueError("memberships has entries that are negative or not finite; pass values >= 0")
    if A.shape[1] < 2 or not A.any(axis=0).all():
        raise ValueError("memberships must have at least two clusters, none of them empty; drop empty columns")
    return A / A.max(axis=0)
