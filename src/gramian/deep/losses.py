"""Alignment of kernels: how alike two Gram matrices are, whatever their scales.

Plain functions of arrays or of torch tensors: arrays in, numbers out; tensors in, tensors out, with gradients.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import torch

from gramian.checks import check_classes
from gramian.typing import Array

_FLOOR = 1e-12


def kernel_alignment(K: Any, L: Any, *, centered: bool = False) -> Any:
    """Alignment ⟨K, L⟩ / (‖K‖ ‖L‖) of two Gram matrices, the cosine of the angle between them.

    Parameters
    ----------
    K, L : array-like or tensor (n, n)
        Symmetric.
    centered : bool
        Centre both first, as the centred alignment of Cortes et al. does.

    Returns
    -------
    alignment : float, or tensor of no dimension
        In [−1, 1]; in [0, 1] where both are positive semi-definite; 0 where one of them is zero.

    References
    ----------
    N. Cristianini et al., "On kernel-target alignment" (2001). C. Cortes et al., "Algorithms for learning kernels
    based on centered alignment" (2012).

    Examples
    --------
    >>> import numpy as np
    >>> from gramian.deep import kernel_alignment
    >>> K = np.array([[2.0, 1.0], [1.0, 2.0]])
    >>> round(kernel_alignment(K, 3 * K), 6)
    1.0
    >>> round(kernel_alignment(K, np.eye(2)), 4)
    0.8944
    """
    return as_given(_alignment(*_pair(K, L, centered)), K, L)


def alignment_distance(K: Any, L: Any, *, centered: bool = False, squared: bool = False) -> Any:
    """Distance ‖K/‖K‖ − L/‖L‖‖ of two Gram matrices after scaling both to norm one.

    Parameters
    ----------
    K, L : array-like or tensor (n, n)
        Symmetric.
    centered : bool
        Centre both first.
    squared : bool
        The square of the distance, 2 − 2 · alignment, which is smooth where the two agree.

    Returns
    -------
    distance : float, or tensor of no dimension
        sqrt(2 − 2 · alignment); at most √2 where both are positive semi-definite.

    References
    ----------
    M. Kampffmeyer et al., "The deep kernelized autoencoder" (2018).

    Examples
    --------
    >>> import numpy as np
    >>> from gramian.deep import alignment_distance, ideal_kernel
    >>> y = np.repeat(np.arange(10), 5)
    >>> round(alignment_distance(np.ones((50, 50)), ideal_kernel(y)), 4)
    1.1694
    """
    return as_given(_distance(_alignment(*_pair(K, L, centered)), squared), K, L)


def ideal_kernel(y: Any) -> Array:
    """The kernel of labels: 1 for two rows of the same label, 0 for others.

    Parameters
    ----------
    y : array-like (n,)
        Labels of any type.

    Returns
    -------
    K : ndarray (n, n)

    Examples
    --------
    >>> from gramian.deep import ideal_kernel
    >>> ideal_kernel(["a", "b", "a"])
    array([[1., 0., 1.],
           [0., 1., 0.],
           [1., 0., 1.]])
    """
    codes = check_classes(y, len(y), least=1)[1]
    return np.equal.outer(codes, codes).astype(np.float64)


def code_alignment(Z: Any, P: Any, *, centered: bool = False) -> Any:
    """Alignment of Z Zᵀ with P, for tensors Z (n, m) of codes and P (n, n)."""
    if centered:
        Z = Z - Z.mean(dim=0)  # H Z Zᵀ H is the Gram matrix of centred codes
        P = _centered(P)
    C = Z @ Z.T if len(Z) <= Z.shape[1] else Z.T @ Z  # both have the same norm
    norms = torch.linalg.norm(C) * torch.linalg.norm(P)
    return torch.sum(Z * (P @ Z)) / norms.clamp_min(_FLOOR)


def code_distance(Z: Any, P: Any, *, centered: bool = False, squared: bool = False) -> Any:
    """:func:`alignment_distance` of Z Zᵀ and P, for tensors."""
    return _distance(code_alignment(Z, P, centered=centered), squared)


def as_tensors(*values: Any) -> tuple[Any, ...]:
    """Tensors as they are, everything else as tensors in double precision."""
    return tuple(
        value if torch.is_tensor(value) else torch.tensor(np.asarray(value), dtype=torch.float64) for value in values
    )


def as_given(result: Any, *given: Any) -> Any:
    """A result as a float or array, or as a tensor if any of the given values is one."""
    if any(torch.is_tensor(value) for value in given):
        return result
    return result.item() if result.ndim == 0 else result.numpy()


def _pair(K: Any, L: Any, centered: bool) -> tuple[Any, Any]:
    K, L = as_tensors(K, L)
    for name, M in (("K", K), ("L", L)):
        if M.ndim != 2 or M.shape != K.shape or M.shape[0] != M.shape[1]:
            raise ValueError(f"{name} has shape {tuple(M.shape)}; pass two square matrices of the same size")
    return (_centered(K), _centered(L)) if centered else (K, L)


def _centered(K: Any) -> Any:
    """H K H with H = I − 11ᵀ/n, for symmetric K."""
    means = K.mean(dim=0)
    return K - means[None, :] - means[:, None] + means.mean()


def _alignment(K: Any, L: Any) -> Any:
    K, L = _unit(K), _unit(L)
    norms = torch.linalg.norm(K) * torch.linalg.norm(L)
    return torch.sum(K * L) / norms.clamp_min(_FLOOR)


def _unit(K: Any) -> Any:
    """K with a largest magnitude of one, so that no square overflows or vanishes; zero stays zero."""
    return K / K.detach().abs().amax().clamp_min(torch.finfo(K.dtype).tiny)


def _distance(alignment: Any, squared: bool) -> Any:
    square = 2 - 2 * alignment
    # The root has no slope at zero; the floor keeps its gradient finite.
    return square if squared else torch.sqrt(square.clamp_min(_FLOOR))
