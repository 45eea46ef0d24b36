"""Losses of soft clusters: how much they overlap under a kernel, how evenly rows spread, how near they are to corners.

Plain functions of arrays or of torch tensors: arrays in, numbers out; tensors in, tensors out, with gradients.
:class:`~gramian.deep.DivergenceClustering` minimises their sum; a script that trains a network of its own can log them.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any

import torch

from gramian.checks import is_real, one_of
from gramian.deep.losses import as_given, as_tensors

DIVERGENCES = ("cauchy-schwarz", "kl", "kl-cosine")
PAIR_NORMALIZATIONS = ("paper", "mean")
REDUCTIONS = ("mean", "sum")
TERMS = ("separation", "orthogonality", "corners")
_LEAST_PRODUCT = 1e-18  # of two clusters' similarities to themselves
_LEAST_WIDTH_SQUARE = 1e-9
_LEAST_DENSITY = 1e-12
_RULE = re.compile(r"median(_sq)?(\d+(?:\.\d+)?)")


def cauchy_schwarz_divergence(K: Any, A: Any, *, pair_normalization: str = "mean") -> Any:
    """Cauchy–Schwarz divergence of soft clusters, as :func:`gramian.metrics.cauchy_schwarz_divergence`, with gradients.

    D = −log( c Σ_{i<j} R_ij ),  R_ij = α_iᵀ K α_j / √(α_iᵀ K α_i · α_jᵀ K α_j),

    with α_i the columns of A and c = 2 / (k (k − 1)) ("mean") or 1 / k ("paper"). R_ij is the cosine of the angle
    between the mean features of two clusters.

    Parameters
    ----------
    K : array-like or tensor (n, n)
        Similarities of the rows, symmetric and not negative.
    A : array-like or tensor (n, k)
        Memberships, at least 0. Scaling a column changes nothing.
    pair_normalization : {"mean", "paper"}, default "mean"

    Returns
    -------
    divergence : float, or tensor of no dimension
        0 for clusters of equal densities ("mean"); infinite for clusters without any similarity between them.

    References
    ----------
    M. Kampffmeyer et al., "Deep divergence-based approach to clustering", Neural Networks 113 (2019).

    Examples
    --------
    >>> import numpy as np
    >>> from gramian.deep import cauchy_schwarz_divergence
    >>> K = np.array([[1.0, 0.5], [0.5, 1.0]])
    >>> round(cauchy_schwarz_divergence(K, np.eye(2)), 4)
    0.6931
    """
    kernel, memberships = _checked_pair(K, A)
    overlap = cluster_overlap(kernel, memberships, pair_normalization=pair_normalization)
    return as_given(-torch.log(overlap), K, A)


def simplex_orthogonality(A: Any, *, reduction: str = "mean") -> Any:
    """How alike the assignments of different rows are: the inner products of all pairs of rows of A.

    Σ_{q<l} ⟨a_q, a_l⟩ = ½ ( Σ_i (Σ_q a_qi)² − Σ_q ‖a_q‖² ). It is least, n (n − k) / (2k), where the rows spread evenly
    over the k corners of the simplex, and largest, n (n − 1) / 2, where all are in the same corner.

    Parameters
    ----------
    A : array-like or tensor (n, k)
        Assignments; rows sum to one.
    reduction : {"mean", "sum"}, default "mean"
        The mean of the pairs is in [0, 1]. The sum is what the paper writes.

    Returns
    -------
    value : float, or tensor of no dimension

    References
    ----------
    M. Kampffmeyer et al., "Deep divergence-based approach to clustering", Neural Networks 113 (2019).

    Examples
    --------
    >>> import numpy as np
    >>> from gramian.deep import simplex_orthogonality
    >>> simplex_orthogonality(np.eye(2)[[0, 0, 1, 1]], reduction="sum")
    2.0
    """
    one_of(reduction, "reduction", REDUCTIONS)
    (values,) = as_tensors(A)
    n = len(values)
    if values.ndim != 2 or n < 2:
        raise ValueError(f"A has shape {tuple(values.shape)}; pass (n, k) assignments of at least two rows")
    total = (values.sum(dim=0).square().sum() - values.square().sum()) / 2
    return as_given(total if reduction == "sum" else total * (2 / (n * (n - 1))), A)


def simplex_corner_similarity(A: Any) -> Any:
    """Similarity exp(−‖a_q − e_i‖²) of each row's assignment to each corner of the simplex.

    Parameters
    ----------
    A : array-like or tensor (n, k)
        Assignments; rows sum to one.

    Returns
    -------
    M : ndarray or tensor (n, k)
        1 at the row's own corner, e⁻² at the others for a row that is in a corner.

    References
    ----------
    M. Kampffmeyer et al., "Deep divergence-based approach to clustering", Neural Networks 113 (2019).

    Examples
    --------
    >>> import numpy as np
    >>> from gramian.deep import simplex_corner_similarity
    >>> simplex_corner_similarity(np.eye(2)).round(4)
    array([[1.    , 0.1353],
           [0.1353, 1.    ]])
    """
    (values,) = as_tensors(A)
    return as_given(torch.exp(2 * values - values.square().sum(dim=1, keepdim=True) - 1), A)


# What the network's loss is made of ------------------------------------------------------------------------


def cluster_overlap(K: Any, A: Any, *, pair_normalization: str = "paper") -> Any:
    """c Σ_{i<j} R_ij of tensors, see :func:`cauchy_schwarz_divergence`: its divergence is minus the logarithm."""
    return _pair_sum(overlaps(K, A), pair_normalization)


def overlaps(K: Any, A: Any) -> Any:
    """R, the k×k cosines of the angles between the mean features of soft clusters, for tensors."""
    # The cosines do not change with the scale of a column; without it almost empty clusters underflow.
    A = A / A.detach().amax(dim=0).clamp_min(torch.finfo(A.dtype).tiny)
    products = A.T @ (K @ A)
    own = torch.diagonal(products)
    return products / torch.sqrt((own[:, None] * own[None, :]).clamp_min(_LEAST_PRODUCT))


def density_overlap(K: Any, A: Any, *, pair_normalization: str = "paper") -> Any:
    """c Σ_{i<j} exp(−J_ij), J_ij the symmetrised Kullback–Leibler divergence of the clusters' densities at the rows.

    With p_i(q) = Σ_l a_li k_ql / Σ_l a_li, scaled to sum one over the rows q,
    J_ij = Σ_q (p_i(q) − p_j(q)) (log p_i(q) − log p_j(q)).
    """
    A = A / A.detach().amax(dim=0).clamp_min(torch.finfo(A.dtype).tiny)
    P = (K @ A).clamp_min(_LEAST_DENSITY)
    P = (P / P.sum(dim=0)).clamp_min(_LEAST_DENSITY)
    logs = torch.log(P)
    own, crossed = (P * logs).sum(dim=0), P.T @ logs
    divergences = own[:, None] + own[None, :] - crossed - crossed.T
    return _pair_sum(torch.exp(-divergences), pair_normalization)


def _pair_sum(R: Any, pair_normalization: str) -> Any:
    k = len(R)
    one_of(pair_normalization, "pair_normalization", PAIR_NORMALIZATIONS)
    factor = 2 / (k * max(k - 1, 1)) if pair_normalization == "mean" else 1 / k  # one cluster has no pair
    return factor * (R.sum() - torch.diagonal(R).sum()) / 2


def hidden_kernel(H: Any, width: Any = "median_sq15", *, cosine: bool = False) -> Any:
    """The Gaussian kernel of hidden rows with a width from the rows of this batch, for tensors.

    The width counts as a constant: no gradient flows through it. ``cosine`` is (1 + cos(h_q, h_l)) / 2 instead.
    """
    if cosine:
        unit = H / torch.linalg.norm(H, dim=1, keepdim=True).clamp_min(_LEAST_DENSITY)
        return (1 + unit @ unit.T) / 2
    squares = squared_distances(H)
    return torch.exp(squares / (-2 * width_square(squares.detach(), width)))


def squared_distances(H: Any) -> Any:
    """Squared distances of all rows; zero on the diagonal and never negative."""
    norms = H.square().sum(dim=1)
    squares = (norms[:, None] + norms[None, :] - 2 * (H @ H.T)).clamp_min(0)
    return squares - torch.diag_embed(torch.diagonal(squares))


def width_square(squares: Any, width: Any) -> Any:
    """σ² by a rule: "median15" is (0.15 · median of d)², "median_sq15" is 0.15 · median of d², a number is σ itself.

    The median is that of pairs of different rows.
    """
    if is_real(width):
        return float(width) ** 2
    squared, percent = parse_width(width)
    n = len(squares)
    # The n zeros of the diagonal are the least values: the median of the others is this one.
    place = n + (n * (n - 1) - 1) // 2
    median = torch.kthvalue(squares.reshape(-1), place + 1).values if n > 1 else squares.sum()
    share = percent / 100
    return ((share if squared else share**2) * median).clamp_min(_LEAST_WIDTH_SQUARE)


def parse_width(width: Any) -> tuple[bool, float]:
    """Whether a rule is one of squared distances, and its percentage."""
    found = _RULE.fullmatch(width) if isinstance(width, str) else None
    if found is None or not float(found[2]) > 0:
        raise ValueError(
            f"width={width!r} is not known; pass 'median_sq15' (σ² is 15 % of the median squared distance), 'median15' "
            "(σ is 15 % of the median distance), another percentage, a number > 0, or a function of the step"
        )
    return found[1] is not None, float(found[2])


def divergence_terms(
    H: Any,
    A: Any,
    *,
    width: Any = "median_sq15",
    orthogonality: str = "mean",
    pair_normalization: str = "paper",
    divergence: str = "cauchy-schwarz",
) -> tuple[Any, Any, Any]:
    """The three terms of divergence-based clustering, for tensors.

    Parameters
    ----------
    H : tensor (n, m)
        Last hidden layer.
    A : tensor (n, k)
        Soft assignments.
    width, orthogonality, pair_normalization, divergence
        As in :class:`~gramian.deep.DivergenceClustering`.

    Returns
    -------
    separation, orthogonality, corners : tensors of no dimension
        Overlap of the clusters, alikeness of assignments, and overlap of the clusters by nearness to the corners.
    """
    K = hidden_kernel(H, width, cosine=divergence == "kl-cosine")
    overlap: Callable[..., Any] = cluster_overlap if divergence == "cauchy-schwarz" else density_overlap
    return (
        overlap(K, A, pair_normalization=pair_normalization),
        simplex_orthogonality(A, reduction=orthogonality),
        overlap(K, simplex_corner_similarity(A), pair_normalization=pair_normalization),
    )


def _checked_pair(K: Any, A: Any) -> tuple[Any, Any]:
    kernel, memberships = as_tensors(K, A)
    n = len(kernel)
    if kernel.ndim != 2 or kernel.shape[1] != n:
        raise ValueError(f"K has shape {tuple(kernel.shape)}; pass a square matrix of similarities")
    if memberships.ndim != 2 or len(memberships) != n or memberships.shape[1] < 2:
        raise ValueError(f"A has shape {tuple(memberships.shape)}; pass ({n}, k) memberships in at least two clusters")
    return kernel, memberships
