"""The machine from its definition: a bordered matrix, solved, and refits for leave-one-out."""

import numpy as np


def bordered(K, y, regularization, weights=None):
    """α, b and the inverse of [0 1ᵀ; 1 K + diag(1/(γ v))]."""
    n = len(y)
    v = np.ones(n) if weights is None else weights
    A = np.zeros((n + 1, n + 1))
    A[0, 1:] = A[1:, 0] = 1
    A[1:, 1:] = K + np.diag(1 / (regularization * v))
    solution = np.linalg.solve(A, np.concatenate([[0.0], y]))
    return solution[1:], solution[0]


def refits(K, y, regularization, weights=None):
    """y_i − f^(−i)(x_i) by n fits."""
    out = np.empty(len(y))
    for i in range(len(y)):
        rest = np.arange(len(y)) != i
        v = None if weights is None else weights[rest]
        alpha, b = bordered(K[np.ix_(rest, rest)], y[rest], regularization, v)
        out[i] = y[i] - K[i, rest] @ alpha - b
    return out


def problem(n=60, d=3, seed=0):
    """A smooth function with noise."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, d))
    return X, np.sin(2 * X[:, 0]) + 0.5 * X[:, 1] ** 2 + 0.1 * rng.normal(size=n) + 3
