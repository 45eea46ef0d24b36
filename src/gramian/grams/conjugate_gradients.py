"""Conjugate gradients for many right-hand sides, and the landmarks of a Nyström preconditioner.

:mod:`gramian.grams.solve` uses both where no factor of a Gram fits. Pure functions of products; nothing here asks what
the operator is.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable
from typing import TYPE_CHECKING

import numpy as np
from scipy.linalg import eigh
from sklearn.exceptions import ConvergenceWarning

from gramian.configuration import memory_budget
from gramian.randomness import generator
from gramian.typing import Array, RandomState

if TYPE_CHECKING:
    from gramian.grams.base import Gram

MAX_PRODUCTS = 1000  # before the iteration gives up
_PILOT = 200  # landmarks whose spectrum decides whether a preconditioner pays, and how many it needs
_MOST_LANDMARKS = 1000
_WORTH_EXPLAINING = 0.5  # share of K that the pilot may leave unexplained; with more, landmarks save no products

Operator = Callable[[Array], Array]


def conjugate_gradients(
    apply: Operator, B: Array, *, tol: float, start: Array | None = None, precondition: Operator | None = None
) -> tuple[Array, int]:
    """X with A X = B for a positive definite A given by its products, every column to ‖B − A X‖ <= tol ‖B‖.

    Columns share their products, as one block, and leave it when they are done.

    Parameters
    ----------
    apply : callable
        V (n, b) -> A V in float64.
    B : ndarray (n, b)
    tol : float
        Wanted residual, relative to ‖B‖ of the column.
    start : ndarray (n, b), optional
        A first guess.
    precondition : callable, optional
        V (n, b) -> M⁻¹ V with M positive definite and near A.

    Returns
    -------
    X : ndarray (n, b), float64
    n_products : int

    Warns
    -----
    ConvergenceWarning
        After 1,000 products; the message says how far it came.
    """
    # Columns are brought to about 1 by powers of two, which is exact: the squares of others might over- or underflow.
    zero = ~B.any(axis=0)
    power = np.frexp(np.abs(B).max(axis=0, initial=0.0).astype(np.float64))[1]
    B = np.ldexp(B.astype(np.float64, copy=False), -power)
    X = np.zeros(B.shape) if start is None else np.where(zero, 0.0, np.ldexp(start.astype(np.float64), -power))
    residual = B.copy() if start is None else B - apply(X)
    n_products = 0 if start is None else 1
    goal = tol**2 * _squares(B, B)
    live = np.flatnonzero(_squares(residual, residual) > goal)  # columns that are not done
    residual = residual[:, live]
    direction = residual.copy() if precondition is None else precondition(residual)
    size = _squares(residual, direction)  # rᵀ M⁻¹ r
    while len(live):
        if n_products >= MAX_PRODUCTS:
            worst = float(np.sqrt((_squares(residual, residual) / goal[live]).max()))
            warnings.warn(
                f"conjugate gradients stopped after {MAX_PRODUCTS} products with a residual {worst:.1e} times what "
                f"tol={tol:.0e} asks for; raise tol, or what is added to the diagonal",
                ConvergenceWarning,
                stacklevel=5,
            )
            break
        image = apply(direction)
        n_products += 1
        curvature = _squares(direction, image)
        if not (curvature > 0).all():
            raise np.linalg.LinAlgError(
                "K + diag(diagonal) is not positive definite, or not finite, so conjugate gradients cannot solve with "
                "it; raise diagonal, or use method='ldl'"
            )
        step = size / curvature
        X[:, live] += step * direction
        residual -= step * image
        squares = _squares(residual, residual)
        if not (going := squares > goal[live]).all():
            live, residual, direction = live[going], residual[:, going], direction[:, going]
            size, squares = size[going], squares[going]
        before, size = size, squares
        new = residual
        if precondition is not None:
            new = precondition(residual)
            size = _squares(residual, new)
        direction = new + (size / before) * direction
    return np.ldexp(X, power), n_products


def _squares(left: Array, right: Array) -> Array:
    """The inner products of columns."""
    return np.einsum("ij,ij->j", left, right)


# The preconditioner ----------------------------------------------------------------------------------------


def landmark_features(
    gram: Gram, d: Array, n_landmarks: int | str = "auto", random_state: RandomState = 0
) -> tuple[Array, float] | None:
    """F (n, r) and ρ for the preconditioner F Fᵀ + ρ I + diag(d) of K + diag(d); None where it would save nothing.

    F Fᵀ is the Nyström approximation of K by random landmarks and ρ the mean diagonal of what it leaves of K. Without
    ρ a kernel so narrow that K is nearly the identity is made worse: with it 33 products stay 33 instead of 43.

    With "auto" a pilot of 200 landmarks decides, by the eigenvalues s of its own block of K times n/200, which estimate
    those of K. No preconditioner is built where the largest is below ten times d (plain iterations are few) or where
    each landmark is not half explained by the others (the kernel is too narrow). Where the effective dimension
    Σ s / (s + d) is below half the pilot, the pilot is enough; the nearer it comes to the whole of it, the more
    landmarks are taken, up to 1,000 and n/3.

    Parameters
    ----------
    gram : Gram
    d : ndarray (n,) or ()
    n_landmarks : int or "auto"
    random_state : int, Generator or None
    """
    n = gram.shape[0]
    fits = memory_budget() // (4 * max(1, n) * gram.dtype.itemsize)
    most = min(_MOST_LANDMARKS, n // 3, fits)
    order = generator(random_state).permutation(n)
    wanted = min(_PILOT, most) if n_landmarks == "auto" else min(int(n_landmarks), n)
    if wanted < 1:
        return None
    values, vectors = _spectrum(gram, order[:wanted])
    if n_landmarks == "auto":
        level = float(np.mean(d))
        spectrum = values * (n / wanted)
        if spectrum[-1] <= 10 * max(level, 0.0) or values[0] < -_rounding(gram) * values[-1]:
            return None
        if _unexplained(values, vectors, gram) > _WORTH_EXPLAINING:
            return None
        spectrum = spectrum[spectrum > 0]
        used = float((spectrum / (spectrum + max(level, 0.0))).sum()) / wanted
        more = int(min(most, wanted / (2 * (1 - used)))) if used < 1 else most
        if more > wanted:
            wanted = more
            values, vectors = _spectrum(gram, order[:wanted])
    kept = values > _rounding(gram) * max(float(values[-1]), 0.0)
    root = (vectors[:, kept] / np.sqrt(values[kept])).astype(gram.dtype)
    F = gram.rows(order[:wanted]).T @ root
    left = float(np.mean(gram.diagonal() - np.einsum("ij,ij->i", F, F)))
    left = max(left, 0.0)
    return (F, left) if float(np.min(d)) + left > 0 else None


def _spectrum(gram: Gram, index: Array) -> tuple[Array, Array]:
    return eigh(gram.block(index, index).astype(np.float64), overwrite_a=True, check_finite=False)


def _rounding(gram: Gram) -> float:
    """Eigenvalues below this share of the largest are rounding of the entries."""
    return 1e-10 if gram.dtype == np.float64 else 1e-5


def _unexplained(values: Array, vectors: Array, gram: Gram) -> float:
    """The share of a landmark's k(x, x) that the other landmarks do not explain: the mean of 1 / (W⁻¹)_ii."""
    values = np.maximum(values, _rounding(gram) * values[-1])
    inverse_diagonal = np.einsum("ij,j,ij->i", vectors, 1 / values, vectors)
    return float((1 / inverse_diagonal).sum() / values.sum())
