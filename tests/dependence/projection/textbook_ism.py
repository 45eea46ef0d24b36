"""The dependence problem written out pair by pair, as slowly and plainly as the formulas read."""

from __future__ import annotations

import numpy as np
from scipy.spatial.distance import cdist
from sklearn.base import clone
from sklearn.preprocessing import StandardScaler

from gramian.dependence.projection.weights import PairWeights
from gramian.kernels import (
    RBF,
    Cauchy,
    ExponentialProduct,
    InverseMultiquadric,
    Linear,
    Multiquadric,
    Polynomial,
    ProfileKernel,
    RationalQuadratic,
    RelativeRBF,
    SquaredDistance,
)


def rows(n=24, d=5, seed=0):
    """Samples, seeded."""
    return np.random.default_rng(seed).normal(size=(n, d))


def orthonormal(d=5, q=2, seed=1):
    """A random projection."""
    return np.linalg.qr(np.random.default_rng(seed).normal(size=(d, q)))[0]


def logarithm():
    """A kernel as a user would write one."""
    return ProfileKernel(lambda b: -np.log1p(b), lambda b: -1 / (1 + b), lambda b: 1 / (1 + b) ** 2)


KERNELS = {
    "linear": Linear(),
    "polynomial": Polynomial(3, 1.0),
    "scaled polynomial": 0.125 * Polynomial(3, 2.0),
    "even polynomial": Polynomial(2, 0.0),
    "rbf": RBF(1.3),
    "cauchy": Cauchy(1.2),
    "squared distance": SquaredDistance(),
    "multiquadric": Multiquadric(0.7),
    "inverse multiquadric": InverseMultiquadric(0.8),
    "rational quadratic": RationalQuadratic(1.1, 1.7),
    "exponential product": ExponentialProduct(2.5),
    "relative rbf": RelativeRBF(6),
    "written": logarithm(),
    "written inner": ProfileKernel(np.sin, np.cos, lambda b: -np.sin(b), kind="inner"),
    "sum": RBF(1.3) + 0.3 * Polynomial(2, 0.5) + 0.2 * Multiquadric(1.0),
}


def kernel_of(name, X):
    """The kernel of that name, fitted."""
    return clone(KERNELS[name]).fit(X)


def pair_weights(kind, n=24, seed=2):
    """Γ of three kinds: of labels, of any symmetric low-rank matrix, and the difference of two, degree-normalised."""
    rng = np.random.default_rng(seed)
    y = rng.integers(0, 3, n)
    if kind == "labels":
        return PairWeights.of_labels(y)
    if kind == "general":
        return PairWeights(rng.normal(size=(n, 3)), [1.0, -0.7, 0.4])
    U = np.linalg.qr(rng.normal(size=(n, 2)))[0]
    return (PairWeights.of_embedding(U) - 0.5 * PairWeights.of_labels(y)).divided(rng.uniform(0.5, 2, n))


WEIGHTS = ["labels", "general", "difference"]


def objective(X, gamma, kernel, W, zero_diagonal=False):
    """Σ_ij Γ_ij k(Wᵀx_i, Wᵀx_j) from the kernel's own block."""
    K = projected(kernel, X, W)
    if zero_diagonal:
        np.fill_diagonal(K, 0)
    return float(np.sum(gamma * K))


def projected(kernel, X, W):
    """The kernel of the projected rows, widths of rows as they were on X."""
    Z = X @ W
    if isinstance(kernel, RelativeRBF):
        squared = ((Z[:, None] - Z[None]) ** 2).sum(axis=2)
        return np.exp(-squared / (2 * np.outer(kernel.widths_, kernel.widths_)))
    return np.asarray(kernel._block(Z, None))


def central_gradient(function, W, step=1e-6):
    """∂function/∂W by central differences."""
    gradient = np.zeros_like(W)
    for index in np.ndindex(W.shape):
        change = np.zeros_like(W)
        change[index] = step
        gradient[index] = (function(W + change) - function(W - change)) / (2 * step)
    return gradient


def double_loop_phi(X, gamma, profiles, W, zero_diagonal=False):
    """Φ = ½ Σ_ij Γ_ij f′(β_ij) (b aᵀ + a bᵀ), pair by pair."""
    n, d = X.shape
    phi = np.zeros((d, d))
    for weight, profile in profiles:
        for i in range(n):
            for j in range(n):
                if zero_diagonal and i == j:
                    continue
                u = 1.0 if profile.row_scales is None else profile.row_scales[i] * profile.row_scales[j]
                a, b = (X[i], X[j]) if profile.kind == "inner" else (X[i] - X[j], X[i] - X[j])
                beta = a @ W @ W.T @ b
                slope = float(profile.derivative(np.array([u * beta]))[0]) * u
                phi += 0.5 * weight * gamma[i, j] * slope * (np.outer(b, a) + np.outer(a, b))
    return phi


def projector(W):
    """W Wᵀ of a basis given as columns."""
    return W @ W.T


def standardised(load):
    """A data set with columns of mean 0 and variance 1, its labels, and the median of its distance matrix."""
    X, y = load(return_X_y=True)
    X = StandardScaler().fit_transform(X)
    return X, y, float(np.median(cdist(X, X)))


def blobs(n=120, d=6, seed=0):
    """Three classes that differ in two of the columns."""
    rng = np.random.default_rng(seed)
    y = rng.integers(0, 3, n)
    X = rng.normal(size=(n, d))
    X[:, :2] += 2 * np.array([[0, 0], [1, 0], [0, 1]])[y]
    return X - X.mean(axis=0), y
