"""Sums of kernels for the dependence solver: how well each agrees with the weights of pairs, and what it counts."""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from functools import reduce
from typing import Any

import numpy as np
from scipy.optimize import nnls
from sklearn.utils.validation import check_array

from gramian.dependence.measures._pair_sums import pair_sums
from gramian.dependence.projection._pairs import profiles_of
from gramian.dependence.projection.ism import _check_sizes
from gramian.dependence.projection.weights import PairWeights
from gramian.grams import Gram, LazyGram
from gramian.kernels import Kernel, Scaled
from gramian.typing import Array

__all__ = ["alignment_weights", "combined_kernel"]


def alignment_weights(
    X: Any, weights: PairWeights, kernels: Sequence[Kernel], *, method: str = "align", normalize: bool = True
) -> Array:
    """Weights of the kernels in a sum: how well each agrees with the weights of pairs, on all columns of X.

    Parameters
    ----------
    X : array-like (n, d)
    weights : PairWeights
        Γ, centred, as labels and targets give.
    kernels : sequence of Kernel
        Fitted, smooth functions of inner products or squared distances.
    method : {"align", "alignf", "uniform"}, default "align"
        With K_m the centred matrices and ρ_m = ⟨K_m, Γ⟩ / (‖K_m‖ ‖Γ‖): "align" is max(ρ_m, 0), made to sum to 1;
        "alignf" maximises the alignment of the sum itself over numbers that are not negative, and has norm 1.
    normalize : bool, default True
        Take every kernel divided by ‖K_m‖; matters only for "alignf".

    Returns
    -------
    shares : ndarray (m,)
        Not negative.

    References
    ----------
    Cortes, Mohri, Rostamizadeh (2012). Algorithms for learning kernels based on centered alignment. JMLR.

    Examples
    --------
    >>> import numpy as np
    >>> from gramian.kernels import RBF, Linear
    >>> X = np.random.default_rng(0).normal(size=(50, 3))
    >>> alignment_weights(X, PairWeights.of_targets(X[:, 0]), [Linear(), RBF(width=0.01)]).round(1)
    array([0.8, 0.2])
    """
    if method not in ("align", "alignf", "uniform"):
        raise ValueError(f"method={method!r} is not known; pass 'align', 'alignf' or 'uniform'")
    X, kernels = _checked(X, weights, kernels)
    if method == "uniform":
        return np.full(len(kernels), 1 / len(kernels))
    target = np.array([_agreement(X, weights, kernel) for kernel in kernels])
    inner = _inner_products(X, kernels)
    norms = np.sqrt(np.diag(inner))
    if not norms.all():
        raise ValueError("a kernel is constant on X, so it cannot be aligned; leave it out or scale its width")
    aligned = target / norms
    if not np.any(aligned > 0):
        warnings.warn("no kernel agrees with the weights, so all get the same share", UserWarning, stacklevel=2)
        return np.full(len(kernels), 1 / len(kernels))
    if method == "align":
        positive = np.maximum(aligned, 0)
        return positive / positive.sum()
    if normalize:
        target, inner = aligned, inner / np.outer(norms, norms)
    # min vᵀMv − 2 vᵀa over v >= 0 is a least-squares problem with the square root of M.
    values, vectors = np.linalg.eigh(inner)
    solid = values > 1e-12 * values[-1]
    root = np.sqrt(values[solid])[:, None] * vectors[:, solid].T
    shares = nnls(root, (vectors[:, solid] / np.sqrt(values[solid])).T @ target)[0]
    return shares / np.linalg.norm(shares)


def combined_kernel(
    X: Any,
    weights: PairWeights,
    kernels: Sequence[Kernel],
    *,
    shares: Any = "align",
    normalize: bool = True,
) -> Kernel:
    """The sum of kernels Σ_m share_m k_m / ‖K_m‖, which :func:`gramian.dependence.projection.ism.ism` takes.

    Parameters
    ----------
    X : array-like (n, d)
    weights : PairWeights
    kernels : sequence of Kernel
        Fitted.
    shares : {"align", "alignf", "uniform"} or array-like (m,), default "align"
        See :func:`alignment_weights`; or numbers that are not negative.
    normalize : bool, default True
        Divide each kernel by the norm of its centred matrix on X. Without that the one with the largest values, such as
        a polynomial, decides alone.

    Returns
    -------
    kernel : Kernel

    Examples
    --------
    >>> import numpy as np
    >>> from gramian.kernels import RBF, Polynomial
    >>> X = np.random.default_rng(0).normal(size=(50, 3))
    >>> weights = PairWeights.of_targets(X[:, 0])
    >>> combined_kernel(X, weights, [RBF(width=1.0), Polynomial(3)], shares=[1, 0], normalize=False)
    Scaled(factor=1.0, kernel=RBF(width=1.0))
    """
    X, kernels = _checked(X, weights, kernels)
    if isinstance(shares, str):
        shares = alignment_weights(X, weights, kernels, method=shares, normalize=normalize)
    shares = np.asarray(shares, np.float64)
    if shares.shape != (len(kernels),) or not np.all(np.isfinite(shares)) or shares.min() < 0 or not shares.any():
        raise ValueError(f"shares={shares} must be {len(kernels)} numbers >= 0, not all zero")
    if normalize:
        norms = [np.sqrt(_inner_products(X, [kernel])[0, 0]) for kernel in kernels]
        shares = shares / np.where(shares > 0, norms, 1.0)
    parts: list[Kernel] = [Scaled(float(share), kernel) for share, kernel in zip(shares, kernels, strict=True) if share]
    return reduce(lambda first, second: first + second, parts)


def _checked(X: Any, weights: PairWeights, kernels: Sequence[Kernel]) -> tuple[Array, list[Kernel]]:
    X = check_array(X, dtype=np.float64, input_name="X", ensure_min_samples=2)
    if isinstance(kernels, Kernel):
        raise ValueError(f"kernels={kernels!r} is one kernel; pass a list of them")
    if not kernels:
        raise ValueError("kernels is empty; pass at least one")
    for kernel in kernels:
        _check_sizes(X, weights, profiles_of(kernel))
    return X, list(kernels)


def _agreement(X: Array, weights: PairWeights, kernel: Kernel) -> float:
    """⟨K, Γ⟩; a centred Γ centres K too."""
    return weights.agreement(_gram(X, kernel))


def _gram(X: Array, kernel: Kernel) -> Gram:
    """By its features where they are few, else evaluated again for every pair of kernels: none is stored."""
    if kernel.has_features and kernel._n_features(X) < len(X):
        return kernel.gram(X)
    kernel._check_overflow(X)
    return LazyGram(kernel, X)


def _inner_products(X: Array, kernels: Sequence[Kernel]) -> Array:
    """⟨H K_l H, H K_m H⟩ for all pairs of kernels."""
    grams = [_gram(X, kernel) for kernel in kernels]
    m = len(grams)
    out = np.empty((m, m))
    for i in range(m):
        for j in range(i, m):
            out[i, j] = out[j, i] = pair_sums(grams[i], grams[j], squares=False).centred()
    return out
