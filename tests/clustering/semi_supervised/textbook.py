"""Semi-supervised kernel spectral clustering as printed: slow, for tests alone."""

import numpy as np


def dual(K, labelled, C, smoothness, label_weight):
    """α (n, q) and b (q,) of the non-symmetric system (I − R (I − 11ᵀR / 1ᵀR1) K) α = γ₂ (I − R 11ᵀ / 1ᵀR1) c."""
    n = len(K)
    A = np.zeros(n)
    A[labelled] = 1
    full = np.zeros((n, C.shape[1]))
    full[labelled] = C
    R = smoothness / K.sum(axis=1) - label_weight * A
    s = R.sum()
    system = np.eye(n) - R[:, None] * (K - (R @ K)[None] / s)
    alpha = np.linalg.solve(system, label_weight * (full - np.outer(R, full.sum(axis=0)) / s))
    b = -(R @ K @ alpha + label_weight * full.sum(axis=0)) / s
    return alpha, b


def hessian(K, labelled, smoothness, label_weight):
    """The matrix of second derivatives in (w, b), in the eigenvectors of K, with J = ±1 where K is indefinite."""
    values, vectors = np.linalg.eigh(K)
    kept = np.abs(values) > 1e-10 * np.abs(values).max()
    F = vectors[:, kept] * np.sqrt(np.abs(values[kept]))
    R = smoothness / K.sum(axis=1)
    R[labelled] -= label_weight
    G = np.column_stack([F, np.ones(len(K))])
    return np.diag(np.append(np.sign(values[kept]), 0.0)) - G.T @ (R[:, None] * G)


def left_out(K, labelled, C, smoothness, label_weight):
    """The score of every labelled row of a model that was fitted without its label."""
    scores = np.empty(C.shape)
    for i in range(len(labelled)):
        others = np.delete(np.arange(len(labelled)), i)
        alpha, b = dual(K, labelled[others], C[others], smoothness, label_weight)
        scores[i] = K[labelled[i]] @ alpha + b
    return scores


def clouds(rng, n=90, d=3, k=3, distance=2.5):
    """Rows of k Gaussian clouds, and their clouds."""
    y = np.arange(n) % k
    X = rng.normal(size=(n, d))
    X[:, 0] += distance * y
    X[:, 1] += distance * (y == 1)
    return X, y


def few_labels(rng, y, per_class=4):
    """−1 but for a few rows of each class."""
    few = np.full(len(y), -1)
    for c in np.unique(y):
        few[rng.choice(np.flatnonzero(y == c), per_class, replace=False)] = c
    return few
