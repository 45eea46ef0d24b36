"""HSIC by sums over quadruples and by whole matrices, as in the textbook."""

from itertools import permutations
from math import factorial

import numpy as np
from scipy.stats import gamma

from gramian.dependence import hsic


def gaussian(X, width=1.0):
    X = np.asarray(X, np.float64).reshape(len(X), -1)
    return np.exp(-np.sum((X[:, None] - X[None]) ** 2, axis=-1) / (2 * width**2))


def centred(K):
    H = np.eye(len(K)) - 1 / len(K)
    return H @ K @ H


def trace(K, L):
    H = np.eye(len(K)) - 1 / len(K)
    return np.trace(K @ H @ L @ H)


def given(K, L, **options):
    return hsic(K, L, kernel_x="precomputed", kernel_y="precomputed", **options)


def falling(n, k):
    return factorial(n) / factorial(n - k)


def unbiased_by_quadruples(K, L):
    """The U-statistic as its definition: means over pairs, triples and quadruples of different samples."""
    n = len(K)
    pairs = sum(K[i, j] * L[i, j] for i, j in permutations(range(n), 2)) / falling(n, 2)
    triples = sum(K[i, j] * L[i, q] for i, j, q in permutations(range(n), 3)) / falling(n, 3)
    quadruples = sum(K[i, j] * L[q, r] for i, j, q, r in permutations(range(n), 4)) / falling(n, 4)
    return pairs + quadruples - 2 * triples


def gretton_gamma(K, L):
    """The gamma approximation of Gretton et al. (2007), as printed: p-value, mean and variance for tr(KHLH)/n²."""
    n = len(K)
    Kc, Lc = centred(K), centred(L)
    products = (Kc * Lc) ** 2
    variance = (products.sum() - np.trace(products)) / (n * (n - 1)) * 2 * (n - 4) * (n - 5) / falling(n, 4)
    mu_x, mu_y = ((M.sum() - np.trace(M)) / (n * (n - 1)) for M in (K, L))
    mean = (1 + mu_x * mu_y - mu_x - mu_y) / n
    return gamma.sf(np.sum(Kc * Lc) / n**2, mean**2 / variance, scale=variance / mean), mean, variance
