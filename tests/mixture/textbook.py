"""EM for incomplete rows as the books print it, row by row: slow, obvious, and independent of the library."""

import numpy as np
from scipy.stats import multivariate_normal


def matrices(covariances, kind, K, d):
    """Full covariance matrices (K, d, d) of any kind of covariances."""
    if kind == "full":
        return np.array(covariances)
    if kind == "tied":
        return np.array([covariances] * K)
    if kind == "diag":
        return np.array([np.diag(v) for v in covariances])
    return np.array([v * np.eye(d) for v in covariances])


def reduced(full, counts, kind):
    """The maximum-likelihood covariances of a kind, from unrestricted ones (K, d, d) and the components' counts."""
    if kind == "full":
        return full
    if kind == "tied":
        return np.tensordot(counts, full, 1) / counts.sum()
    diagonal = np.array([np.diag(S) for S in full])
    return diagonal if kind == "diag" else diagonal.mean(axis=1)


def log_densities(X, means, full):
    """log N of the observed part of each row under each component, (n, K)."""
    out = np.zeros((len(X), len(means)))
    for i, x in enumerate(X):
        o = ~np.isnan(x)
        for k, (mean, S) in enumerate(zip(means, full, strict=True)):
            if o.any():
                out[i, k] = multivariate_normal(mean[o], S[np.ix_(o, o)], allow_singular=False).logpdf(x[o])
    return out


def conditional(x, mean, S):
    """The row completed by its conditional mean, and the conditional covariance of the holes, (d,) and (d, d)."""
    o = ~np.isnan(x)
    m = ~o
    completed, C = np.where(o, x, mean), np.zeros((len(x), len(x)))
    if o.any():
        slopes = np.linalg.solve(S[np.ix_(o, o)], S[np.ix_(o, m)])
        completed[m] = mean[m] + (x[o] - mean[o]) @ slopes
        C[np.ix_(m, m)] = S[np.ix_(m, m)] - S[np.ix_(m, o)] @ slopes
    else:
        C[:] = S
    return completed, C


def em(X, weights, means, covariances, kind, n_iter, *, double_gamma=False):
    """``n_iter`` iterations; returns the parameters and the mean log-likelihood before each of them.

    ``double_gamma`` counts the memberships twice in the covariances, as the paper prints it by mistake.
    """
    n, d = X.shape
    K = len(weights)
    bounds = []
    for _ in range(n_iter):
        full = matrices(covariances, kind, K, d)
        joint = log_densities(X, means, full) + np.log(weights)
        likelihood = np.logaddexp.reduce(joint, axis=1)
        gamma = np.exp(joint - likelihood[:, None])
        bounds.append(likelihood.mean())
        counts = gamma.sum(axis=0)
        completed = [[conditional(x, means[k], full[k]) for x in X] for k in range(K)]
        means = np.array([sum(g * Y for g, (Y, _) in zip(gamma[:, k], completed[k], strict=True)) for k in range(K)])
        means /= counts[:, None]
        new = np.zeros((K, d, d))
        for k in range(K):
            for g, (Y, C) in zip(gamma[:, k], completed[k], strict=True):
                power = g * g if double_gamma else g
                new[k] += power * (np.outer(Y - means[k], Y - means[k]) + C)
        new /= counts[:, None, None]
        weights, covariances = counts / n, reduced(new, counts, kind)
    return weights, means, covariances, np.array(bounds)


def level_log_probabilities(codes, probabilities):
    """Log-probability of the observed levels of each row under each component, (n, K), entry by entry."""
    K = len(probabilities[0]) if probabilities else 0
    out = np.zeros((len(codes), K))
    for i, row in enumerate(codes):
        for k in range(K):
            for j, code in enumerate(row):
                if code >= 0:
                    out[i, k] += np.log(probabilities[j][k, code])
    return out


def mixed_em(X, codes, weights, means, covariances, probabilities, kind, n_iter, *, smoothing, shares):
    """``n_iter`` iterations for numbers X and categories ``codes`` (−1: missing), loops throughout.

    ``probabilities`` and ``shares`` have one array for each categorical column. Returns the parameters and, before
    each iteration, the mean log-likelihood plus the log-density of the Dirichlet prior over n, up to a constant.
    """
    n, d = X.shape
    K = len(weights)
    bounds = []
    for _ in range(n_iter):
        full = matrices(covariances, kind, K, d)
        joint = log_densities(X, means, full) + level_log_probabilities(codes, probabilities) + np.log(weights)
        likelihood = np.logaddexp.reduce(joint, axis=1)
        gamma = np.exp(joint - likelihood[:, None])
        prior = sum(smoothing * s @ np.log(p[k]) for p, s in zip(probabilities, shares, strict=True) for k in range(K))
        bounds.append(likelihood.mean() + prior / n)
        new_means, scatters = np.zeros((K, d)), np.zeros((K, d, d))
        for k in range(K):
            rows = [conditional(x, means[k], full[k]) for x in X]
            new_means[k] = sum(g * Y for g, (Y, _) in zip(gamma[:, k], rows, strict=True)) / gamma[:, k].sum()
            for g, (Y, C) in zip(gamma[:, k], rows, strict=True):
                scatters[k] += g * (np.outer(Y - new_means[k], Y - new_means[k]) + C) / gamma[:, k].sum()
        new = []
        for j, share in enumerate(shares):
            p = np.zeros((K, len(share)))
            for k in range(K):
                observed = codes[:, j] >= 0
                for level in range(len(share)):
                    p[k, level] = gamma[codes[:, j] == level, k].sum() + smoothing * share[level]
                p[k] /= gamma[observed, k].sum() + smoothing
            new.append(p)
        counts = gamma.sum(axis=0)
        weights, means, covariances, probabilities = counts / n, new_means, reduced(scatters, counts, kind), new
    return weights, means, covariances, probabilities, np.array(bounds)
