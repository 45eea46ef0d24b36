"""Ascent over matrices with orthonormal columns, by Cayley steps.

Used where an eigenvector problem is to be followed step by step instead of being solved, as in the alternation of
:class:`gramian.deep.KernelNetClustering`. NumPy only.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from gramian.typing import Array

_LEAST_STEP, _MOST_STEP = 1e-10, 1e3
_ARMIJO = 1e-4


def cayley_step(U: Array, gradient: Array, step: float) -> Array:
    """Move U along an ascent direction without leaving the matrices with orthonormal columns.

    With G the gradient, A = −(G Uᵀ − U Gᵀ) is skew-symmetric, and the Cayley transform of a skew-symmetric matrix is
    orthogonal, so that

        U⁺ = (I + τ/2 A)⁻¹ (I − τ/2 A) U

    has orthonormal columns for any step τ. (The thesis prints A with a plus sign; U⁺ is then orthonormal for no τ.)
    A = P Rᵀ has rank 2c, so that only a system of 2c equations is solved.

    Parameters
    ----------
    U : ndarray (n, c)
        Orthonormal columns.
    gradient : ndarray (n, c)
        G, the slope of what is to grow.
    step : float
        τ.

    Returns
    -------
    U : ndarray (n, c)

    References
    ----------
    Wen, Yin (2013). A feasible method for optimization with orthogonality constraints.

    Examples
    --------
    >>> import numpy as np
    >>> from gramian.deep.stiefel import cayley_step
    >>> rng = np.random.default_rng(0)
    >>> U, _ = np.linalg.qr(rng.normal(size=(10, 2)))
    >>> moved = cayley_step(U, rng.normal(size=(10, 2)), 5.0)
    >>> bool(np.allclose(moved.T @ moved, np.eye(2)))
    True
    """
    P, R = np.hstack([-gradient, U]), np.hstack([U, gradient])
    inner = np.eye(P.shape[1], dtype=U.dtype) + (step / 2) * (R.T @ P)
    return U - step * (P @ np.linalg.solve(inner, R.T @ U))


def slope_along(U: Array, gradient: Array) -> float:
    """Slope of the Cayley step at τ = 0: ‖G‖² − tr((GᵀU)²), which is ‖A‖²/2 and never negative."""
    inner = gradient.T @ U
    return max(float(np.sum(gradient**2) - np.sum(inner * inner.T)), 0.0)


def cayley_ascent(
    U: Array, product: Callable[[Array], Array], *, max_steps: int = 5, step: float = 1.0, tol: float = 1e-12
) -> tuple[Array, float]:
    """Raise tr(Uᵀ L U) over orthonormal U from where it is, by Cayley steps with a line search.

    Parameters
    ----------
    U : ndarray (n, c)
        Start, with orthonormal columns.
    product : callable
        From V to L V, for a symmetric L.
    max_steps : int
    step : float
        First step that is tried; later ones start at twice the last.
    tol : float
        Slope below which U counts as stationary. Any eigenvectors of L are, not only the leading ones.

    Returns
    -------
    U : ndarray (n, c)
    value : float
        tr(Uᵀ L U), not below that of the start.
    """
    images = product(U)
    value = float(np.sum(U * images))
    for _ in range(max_steps):
        gradient = 2 * images
        slope = slope_along(U, gradient)
        if slope < tol:
            break
        while step > _LEAST_STEP:
            moved = orthonormalized(cayley_step(U, gradient, step))
            moved_images = product(moved)
            moved_value = float(np.sum(moved * moved_images))
            if moved_value >= value + _ARMIJO * step * slope:
                break
            step /= 2
        else:
            break
        U, images, value = moved, moved_images, moved_value
        step = min(2 * step, _MOST_STEP)
    return U, value


def orthonormalized(U: Array) -> Array:
    """The orthonormal factor of U by QR, with the signs that keep a U that is orthonormal as it is."""
    Q, R = np.linalg.qr(U)
    return np.asarray(Q * np.where(np.diagonal(R) < 0, -1.0, 1.0))
