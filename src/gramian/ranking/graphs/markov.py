"""Finite Markov chains: kinds of stochastic matrices, stationary distribution, reversibility.

Small functions on dense or sparse matrices of transition probabilities, for users and for the rankings of this package.
A chain is right stochastic here (row i holds the probabilities of leaving i) unless only its columns sum to one.
"""

from __future__ import annotations

import warnings
from typing import Any, Literal

import numpy as np
from scipy.sparse import csr_array, dia_array, eye_array, issparse
from scipy.sparse.csgraph import connected_components
from sklearn.exceptions import ConvergenceWarning

from gramian.checks import whole
from gramian.ranking.graphs.graph_walk import as_matrix
from gramian.typing import Array, Matrix

_MAX_STEPS = 10_000


def stochastic_type(P: Any, *, atol: float = 1e-10) -> Literal["left", "right", "doubly"] | None:
    """Whether the rows, the columns or both of a matrix are probability distributions.

    Parameters
    ----------
    P : ndarray or scipy sparse (n, n)
    atol : float, default 1e-10
        How far a sum may be from one and an entry below zero.

    Returns
    -------
    {"right", "left", "doubly"} or None
        Rows sum to one; columns do; both do; neither does, or an entry is negative.

    References
    ----------
    Norris (1997). Markov Chains. Cambridge University Press.

    Examples
    --------
    >>> from gramian.ranking import stochastic_type
    >>> stochastic_type([[0.5, 0.5], [0.1, 0.9]])
    'right'
    """
    P = as_matrix(P, "P")
    values = P.data if issparse(P) else P
    if values.size and not values.min() >= -atol:
        return None
    rows, columns = (bool(np.all(np.abs(np.asarray(P.sum(axis=axis)) - 1) <= atol)) for axis in (1, 0))
    if rows and columns:
        return "doubly"
    return "right" if rows else "left" if columns else None


def k_step(P: Any, k: int) -> Matrix:
    """Transition probabilities over k steps, P^k, by repeated squaring.

    For a right stochastic P entry (i, j) of P^k is Pr(X_{t+k} = j | X_t = i); for a left stochastic one it is
    Pr(X_{t+k} = i | X_t = j).

    Parameters
    ----------
    P : ndarray or scipy sparse (n, n)
    k : int
        At least 0.

    Returns
    -------
    ndarray or csr_array (n, n)
        Sparse where P is.

    References
    ----------
    Norris (1997). Markov Chains. Cambridge University Press.

    Examples
    --------
    >>> from gramian.ranking import k_step
    >>> k_step([[0.0, 1.0], [1.0, 0.0]], 3)
    array([[0., 1.],
           [1., 0.]])
    """
    k = whole(k, "k", least=0)
    square = as_matrix(P, "P")
    if not issparse(square):
        return np.linalg.matrix_power(square, k)
    product = csr_array(eye_array(square.shape[0]))
    left = k
    while left:
        if left % 2:
            product = product @ square
        left //= 2
        square = square @ square if left else square
    return product


def is_irreducible(P: Any) -> bool:
    """Whether every state can be reached from every other.

    Parameters
    ----------
    P : ndarray or scipy sparse (n, n)
        Transition probabilities or any weights; positive entries are possible steps.

    References
    ----------
    Norris (1997). Markov Chains. Cambridge University Press.

    Examples
    --------
    >>> from gramian.ranking import is_irreducible
    >>> is_irreducible([[0.5, 0.5], [0.0, 1.0]])
    False
    """
    pattern = csr_array(as_matrix(P, "P"))
    pattern = csr_array((pattern.data > 0, pattern.indices, pattern.indptr), shape=pattern.shape)
    pattern.eliminate_zeros()
    return bool(connected_components(pattern, directed=True, connection="strong", return_labels=False) == 1)


def stationary_distribution(P: Any, *, tol: float = 1e-12) -> Array:
    """The stationary distribution of an irreducible chain, πᵀ P = πᵀ: the share of time it spends in each state.

    Parameters
    ----------
    P : ndarray or scipy sparse (n, n)
        A stochastic matrix, left or right, or a symmetric affinity K >= 0, which stands for P = D^-1 K and has
        π = d / Σd.
    tol : float, default 1e-12
        For sparse chains, which are iterated as (P + I) / 2 (the same π, and no period): the L1 length of the step
        at which to stop. Dense ones are solved.

    Returns
    -------
    ndarray (n,)
        Positive, sum one.

    References
    ----------
    Norris (1997). Markov Chains. Cambridge University Press.

    Examples
    --------
    >>> from gramian.ranking import stationary_distribution
    >>> stationary_distribution([[0.9, 0.1], [0.3, 0.7]]).round(12)
    array([0.75, 0.25])
    """
    P = as_matrix(P, "P")
    kind = stochastic_type(P)
    if kind is None and (not _is_affinity(P) or P.sum() == 0):
        raise ValueError(
            "P is neither stochastic (rows or columns of probabilities that sum to one) nor a symmetric affinity >= 0; "
            "divide each row by its sum"
        )
    if not is_irreducible(P):
        raise ValueError(
            "P is not irreducible, so it has no single stationary distribution; take one strongly connected component"
        )
    if kind is None:
        degrees = np.asarray(P.sum(axis=1), np.float64)
        return degrees / degrees.sum()
    columns = P if kind == "left" else P.T  # columns[j, i]: the probability of i → j
    n = columns.shape[0]
    if not issparse(columns):
        # Not symmetric and not square, so no Gram.
        system = np.vstack([columns - np.eye(n), np.ones(n)])
        pi = np.maximum(np.linalg.lstsq(system, np.append(np.zeros(n), 1.0), rcond=None)[0], 0.0)
        return pi / pi.sum()
    columns = csr_array(columns)
    pi = np.full(n, 1.0 / n)
    for _ in range(_MAX_STEPS):
        new = 0.5 * (columns @ pi + pi)
        new /= new.sum()
        step = float(np.abs(new - pi).sum())
        pi = new
        if step < tol:
            return pi
    warnings.warn(
        f"the chain still moved by {step:.1e}, above tol={tol:g}, after {_MAX_STEPS} steps; pass P as a dense array",
        ConvergenceWarning,
        stacklevel=2,
    )
    return pi


def reverse_chain(P: Any, pi: Any = None) -> Matrix:
    """The time-reversed chain: p'_ij = π_j p_ji / π_i.

    Parameters
    ----------
    P : ndarray or scipy sparse (n, n)
        Stochastic; the reverse has P's kind.
    pi : array-like (n,), optional
        The stationary distribution, where known.

    Returns
    -------
    ndarray or csr_array (n, n)

    References
    ----------
    Norris (1997). Markov Chains. Cambridge University Press.

    Examples
    --------
    >>> from gramian.ranking import reverse_chain
    >>> reverse_chain([[0.0, 1.0, 0.0], [0.0, 0.0, 1.0], [1.0, 0.0, 0.0]])  # a ring, turned round
    array([[0., 0., 1.],
           [1., 0., 0.],
           [0., 1., 0.]])
    """
    P, pi, left = _chain(P, pi)
    if issparse(P):
        n = P.shape[0]
        by, over = (dia_array((values[None, :], [0]), shape=(n, n)) for values in (pi, 1 / pi))
        return csr_array(by @ P.T @ over) if left else csr_array(over @ P.T @ by)
    return pi[:, None] * P.T / pi if left else P.T * pi / pi[:, None]


def is_reversible(P: Any, pi: Any = None, *, atol: float = 1e-10) -> bool:
    """Whether the chain is in detailed balance, π_i p_ij = π_j p_ji: forwards and backwards look the same.

    Parameters
    ----------
    P : ndarray or scipy sparse (n, n)
        Stochastic.
    pi : array-like (n,), optional
        The stationary distribution, where known.
    atol : float, default 1e-10

    References
    ----------
    Norris (1997). Markov Chains. Cambridge University Press.

    Examples
    --------
    >>> from gramian.ranking import is_reversible
    >>> is_reversible([[0.9, 0.1], [0.3, 0.7]])
    True
    """
    P, pi, left = _chain(P, pi)
    if issparse(P):
        weights = dia_array((pi[None, :], [0]), shape=P.shape)
        flow = csr_array(P @ weights if left else weights @ P)
    else:
        flow = P * pi if left else pi[:, None] * P
    return bool(abs(flow - flow.T).max() <= atol)


def _chain(P: Any, pi: Any) -> tuple[Matrix, Array, bool]:
    """P, its stationary distribution, and whether its columns are the distributions."""
    P = as_matrix(P, "P")
    kind = stochastic_type(P)
    if kind is None:
        raise ValueError("P is not stochastic: neither rows nor columns sum to one; divide each row by its sum")
    if pi is None:
        return P, stationary_distribution(P), kind == "left"
    pi = np.asarray(pi, np.float64)
    if pi.shape != (P.shape[0],):
        raise ValueError(f"pi has shape {pi.shape}; pass one probability per state, {P.shape[0]}")
    if not np.all(np.isfinite(pi)) or pi.min() <= 0:
        raise ValueError("pi must be positive everywhere; leave states that the chain never returns to out of P")
    pi = pi / pi.sum()
    after = np.asarray(P @ pi if kind == "left" else P.T @ pi)
    if float(np.abs(after - pi).max()) > 1e-6:
        raise ValueError("pi is not the stationary distribution of P; pass pi=None to have it computed")
    return P, pi, kind == "left"


def _is_affinity(K: Matrix) -> bool:
    values = K.data if issparse(K) else K
    if not values.size or not np.isfinite(values).all() or values.min() < 0:
        return False
    return bool(abs(K - K.T).max() <= 1e-8 * values.max())
