"""Kernel spectral clustering that remembers the model of an earlier snapshot of the data.

:func:`memory_system` solves the published linear system, :func:`remembered` makes as many score columns of it as the
snapshot has use for. They ask a Gram for products and a factorization; :class:`~gramian.EvolvingKSC` stands on them.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from gramian.clustering.ksc.model import Eigenproblem
from gramian.grams import Gram
from gramian.typing import Array

_RANK = {8: 1e-9, 4: 1e-4}  # of the largest singular value, by itemsize: what is less is rounding


def memory_system(gram: Gram, weights: Array, past: Array, *, memory: float, gamma: float) -> tuple[Array, Array]:
    """Kernel spectral clustering with memory: minimise ½ wᵀw − γ/2 eᵀVe − ν wᵀw_old, where e = Φw + b.

    The optimum has w = Φᵀα + ν w_old, α = γ V e and 1ᵀα = 0, which is the linear system

        (I/γ − V M_V K) α = ν V M_V K_old α_old,    V M_V = V − V 1 1ᵀ V / (1ᵀ V 1).

    With V M_V = V^½ Π V^½ and α = V^½ β it is the symmetric (I/γ − Π V^½ K V^½ Π) β = ν Π V^½ K_old α_old, which is
    positive definite as long as 1/γ is above the largest eigenvalue, and has no solution where it equals one.

    Parameters
    ----------
    gram : Gram
        K, of the snapshot.
    weights : ndarray (n,)
        The diagonal of V: one over the degrees, zero for rows that are left out.
    past : ndarray (n, q)
        K_old α_old: what the earlier model says of the rows, without its intercept.
    memory : float
        ν. It scales the solution and nothing else.
    gamma : float
        γ.

    Returns
    -------
    coefficients : ndarray (n, q)
        α.
    intercept : ndarray (q,)
        b = −1ᵀ V (K α + ν K_old α_old) / (1ᵀ V 1).

    References
    ----------
    Langone, Alzate, Suykens (2013). Kernel spectral clustering with memory effect. Physica A 392(10).
    """
    weights = weights.astype(gram.dtype, copy=False)
    roots = np.sqrt(weights)
    unit = roots / np.linalg.norm(roots)
    right = memory * roots[:, None] * past
    right -= np.outer(unit, unit @ right)
    system = gram.weighted_centered(weights).scaled(-1.0).factorization(1 / gamma)
    coefficients = balanced(roots[:, None] * system.solve(right), weights)
    return coefficients, intercepts(gram, weights, coefficients, memory * past)


@dataclass(frozen=True)
class Remembered:
    """Score columns e(x) = Σ_i α_i k(x, x_i) + Σ_j a_j k(x, x_j) + b, with x_i of this snapshot and x_j of the earlier.

    Attributes
    ----------
    coefficients : ndarray (n, q)
        α.
    turn : ndarray (q_old, q)
        a = α_old turn. Zero in the columns that remember nothing.
    intercept : ndarray (q,)
        b.
    values : ndarray (q,)
        βᵀSβ of the columns scaled to length one, see :func:`remembered`; eigenvalues where nothing is remembered.
    scores : ndarray (n, q)
        e of the snapshot's own rows.
    n_kept : int
        The first so many columns remember; the others are new.
    """

    coefficients: Array
    turn: Array
    intercept: Array
    values: Array
    scores: Array
    n_kept: int


def remembered(problem: Eigenproblem, gram: Gram, past: Array, memory: float) -> Remembered:
    """As many score columns as the eigenproblem has, of which those that the earlier model knew remember it.

    Solutions of :func:`memory_system` for γ = (1 − ν)/λ₁ lead from the present (ν near 0, where the system amplifies
    the leading eigenvectors without bound) to the past (ν near 1, where α vanishes). A fixed γ would not do: ν alone
    scales all scores, and no label depends on it.

    Any combination of solutions is one for the same combination of earlier functions. Those are taken whose β are
    orthonormal and that lie along the principal axes of the present, S = Π V^½ K V^½ Π, on their span. A column is kept
    if the present still has what it tells apart: βᵀSβ >= (1 − ν) λ_j, where λ_j is what the j-th eigenvector has. The
    rest is what the eigenvectors have beyond these columns: something new. Without an earlier model it is all.

    Parameters
    ----------
    problem : Eigenproblem
        Of the snapshot, with one solution less than clusters are wanted.
    gram : Gram
    past : ndarray (n, q_old)
        As in :func:`memory_system`.
    memory : float
        ν, from 0 to below 1.
    """
    weights = problem.degrees.weights.astype(gram.dtype)
    roots = np.sqrt(weights)
    present = gram.weighted_centered(weights)
    q, q_old = len(problem.values), past.shape[1]
    vectors, values = _unscaled(problem.coefficients, roots), problem.values
    scale, turn, n_kept = np.ones(q), np.zeros((q_old, q)), 0
    if memory > 0 and q_old:
        gamma = (1 - memory) / float(problem.values[0])
        solved = memory_system(gram, weights, past, memory=1.0, gamma=gamma)[0]
        kept, mixed, along = _principal(present, *_orthonormal(_unscaled(solved, roots)))
        still = np.append(along[:q] >= (1 - memory) * problem.values[: len(along)], False)
        n_kept = int(np.argmin(still))
    if n_kept:
        kept = kept[:, :n_kept]
        new = np.linalg.svd(vectors - kept @ (kept.T @ vectors), full_matrices=False)[0][:, : q - n_kept]
        vectors, values = np.hstack([kept, new]), np.append(along[:n_kept], np.sum(new * (present @ new), axis=0))
        scale[:n_kept] = gamma * along[:n_kept]  # so that e = value · d · α, as it is of eigenvectors
        turn[:, :n_kept] = mixed[:, :n_kept] * scale[:n_kept]
    coefficients = balanced(roots[:, None] * vectors * scale.astype(gram.dtype), weights)
    turn = turn.astype(gram.dtype)
    intercept = intercepts(gram, weights, coefficients, past @ turn)
    scores = gram @ coefficients + past @ turn + intercept
    return Remembered(coefficients, turn, intercept, values, scores, n_kept)


def balanced(coefficients: Array, weights: Array) -> Array:
    """α with 1ᵀα = 0 to the last digit: a constant added to the kernel must not move the scores."""
    out: Array = coefficients - weights[:, None] * (coefficients.sum(axis=0) / weights.sum())
    return out


def intercepts(gram: Gram, weights: Array, coefficients: Array, past: Array) -> Array:
    """b = −1ᵀ V (K α + past) / (1ᵀ V 1): the weighted mean of the scores is zero."""
    out: Array = -(coefficients.T @ (gram @ weights) + past.T @ weights) / weights.sum()
    return out


def _unscaled(coefficients: Array, roots: Array) -> Array:
    """β = V^-½ α; zero for rows that are left out."""
    return np.divide(coefficients, roots[:, None], out=np.zeros_like(coefficients), where=roots[:, None] > 0)


def _orthonormal(vectors: Array) -> tuple[Array, Array]:
    """An orthonormal basis of the span, (n, r), and how it is combined of the vectors, (q, r)."""
    left, sizes, right = np.linalg.svd(vectors, full_matrices=False)
    solid = sizes > max(_RANK[vectors.dtype.itemsize] * float(sizes.max(initial=0.0)), np.finfo(vectors.dtype).tiny)
    return left[:, solid], right[solid].T / sizes[solid]


def _principal(view: Gram, basis: Array, turn: Array) -> tuple[Array, Array, Array]:
    """The principal axes of an operator on the span of a basis, with the values that it has along them, falling."""
    values, axes = np.linalg.eigh(basis.T @ (view @ basis))
    axes = axes[:, ::-1]
    return basis @ axes, turn @ axes, values[::-1]
