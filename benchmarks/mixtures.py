"""How fast is a full-covariance mixture on a table with holes, and does it reach the same likelihood?"""

from __future__ import annotations

from importlib.util import find_spec
from typing import Any, NamedTuple

import numpy as np
from scipy.linalg import cho_solve, cholesky, solve_triangular
from scipy.special import logsumexp

from benchmarks.case import Case, Scores
from gramian import IncompleteGaussianMixture

_K = 10
_STEPS = 20
_RIDGE = 1e-6

Mixture = tuple[np.ndarray, np.ndarray, np.ndarray]


class _Holed(NamedTuple):
    X: np.ndarray
    start: Mixture


def _holed(n: int = 20_000, d: int = 20, n_patterns: int = 200, rate: float = 0.2) -> _Holed:
    """Correlated groups, 20 % missing in a few hundred patterns, and parameters to start from."""
    rng = np.random.default_rng(0)
    labels = rng.integers(_K, size=n)
    mixing = rng.normal(size=(_K, d, d)) / np.sqrt(d)
    X = np.einsum("ni,nij->nj", rng.normal(size=(n, d)), mixing[labels]) + rng.normal(size=(_K, d))[labels]
    patterns = rng.random((n_patterns, d)) < rate
    X[patterns[rng.integers(n_patterns, size=n)]] = np.nan
    X = (X - np.nanmean(X, axis=0)) / np.nanstd(X, axis=0)
    means = np.nan_to_num(X[rng.choice(n, _K, replace=False)])
    return _Holed(X, (np.full(_K, 1 / _K), means, np.tile(np.eye(d), (_K, 1, 1))))


def _gramian(data: _Holed) -> Mixture:
    weights, means, covariances = data.start
    model = IncompleteGaussianMixture(
        _K,
        weights_init=weights,
        means_init=means,
        covariances_init=covariances,
        max_iter=_STEPS,
        tol=0,
        reg_covar=_RIDGE,
    ).fit(data.X)
    return model.weights_, model.means_, model.covariances_


def _by_pattern(X: np.ndarray) -> list[tuple[np.ndarray, np.ndarray, np.ndarray]]:
    """Observed columns, row numbers and observed values of every pattern."""
    patterns, inverse = np.unique(~np.isnan(X), axis=0, return_inverse=True)
    rows = [np.flatnonzero(inverse == p) for p in range(len(patterns))]
    return [(np.flatnonzero(o), r, X[np.ix_(r, np.flatnonzero(o))]) for o, r in zip(patterns, rows, strict=True)]


def _log_densities(groups: Any, n: int, mixture: Mixture) -> np.ndarray:
    weights, means, covariances = mixture
    out = np.empty((n, len(weights)))
    for o, rows, values in groups:
        for k, (weight, mean, S) in enumerate(zip(weights, means, covariances, strict=True)):
            L = cholesky(S[np.ix_(o, o)], lower=True)
            z = solve_triangular(L, (values - mean[o]).T, lower=True)
            norm = len(o) * np.log(2 * np.pi) + 2 * np.log(np.diag(L)).sum()
            out[rows, k] = np.log(weight) - 0.5 * (norm + (z**2).sum(axis=0))
    return out


def _textbook(data: _Holed) -> Mixture:
    """EM as the books print it: one factorisation per component and pattern, all rows of a pattern at once."""
    X = data.X
    n, d = X.shape
    groups = _by_pattern(X)
    weights, means, covariances = data.start
    for _ in range(_STEPS):
        joint = _log_densities(groups, n, (weights, means, covariances))
        gamma = np.exp(joint - logsumexp(joint, axis=1, keepdims=True))
        counts = gamma.sum(axis=0)
        new_means, new_covariances = np.empty_like(means), np.empty_like(covariances)
        Y = np.empty((n, d))
        for k in range(_K):
            S, mean = covariances[k], means[k]
            spread = np.zeros((d, d))
            for o, rows, values in groups:
                L = cholesky(S[np.ix_(o, o)], lower=True)
                B = cho_solve((L, True), S[o])
                Y[rows] = mean + (values - mean[o]) @ B
                spread += gamma[rows, k].sum() * (S - S[:, o] @ B)
            new_means[k] = gamma[:, k] @ Y / counts[k]
            Y -= new_means[k]
            new_covariances[k] = (Y.T @ (gamma[:, k, None] * Y) + spread) / counts[k] + _RIDGE * np.eye(d)
        weights, means, covariances = counts / n, new_means, new_covariances
    return weights, means, covariances


def _stepmix(data: _Holed) -> Mixture:
    from stepmix.stepmix import StepMix

    model = StepMix(
        _K, measurement="gaussian_diag_nan", max_iter=_STEPS, abs_tol=0, rel_tol=0, random_state=0, progress_bar=0
    ).fit(data.X)
    found = model.get_parameters()
    variances = np.broadcast_to(found["measurement"]["covariances"], (_K, data.X.shape[1]))
    return found["weights"], found["measurement"]["means"], np.stack([np.diag(v) for v in variances])


def _likelihood(data: _Holed, mixture: Mixture) -> Scores:
    joint = _log_densities(_by_pattern(data.X), len(data.X), mixture)
    return {"mean_log_likelihood": float(logsumexp(joint, axis=1).mean())}


_SIDES: dict[str, Any] = {"gramian": _gramian, "textbook, pattern by pattern": _textbook}
if find_spec("stepmix") is not None:
    _SIDES["stepmix (diagonal)"] = _stepmix

CASES = [
    Case(
        name="incomplete_mixture",
        question="Mixture of 10 full-covariance Gaussians, 20,000 × 20, 20 % missing in 200 patterns, 20 EM steps",
        target="fastest side, log-likelihood not lower",
        data=_holed,
        sides=_SIDES,
        score=_likelihood,
        repeats=3,
    ),
]
