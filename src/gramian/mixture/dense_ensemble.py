"""Mixtures with full or tied covariance for the cluster kernel, one after another.

Where columns are correlated within groups a diagonal covariance spends components on a slanted group. A full one
does not, at the price of a factorisation per component, missing pattern and step: for few columns and few patterns.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from gramian.mixture.em import CovarianceType, Parameters, log_joint, memberships, run_em
from gramian.mixture.ensemble import initial_mixtures
from gramian.mixture.levels import Levels
from gramian.mixture.patterns import IncompleteTable
from gramian.typing import Array


def fit_dense_mixtures(
    X: Array,
    sizes: Array,
    rng: np.random.Generator,
    *,
    tied: bool,
    max_iter: int,
    floor: Array,
    hot: Array | None = None,
    levels: Levels | None = None,
) -> list[Parameters]:
    """Mixtures of the given sizes after ``max_iter`` steps of EM, from the same starts as diagonal ones.

    Parameters
    ----------
    X : ndarray (n, d)
        NaN where missing, columns centred.
    sizes : ndarray (n_models,)
    rng : Generator
    tied : bool
        One covariance for all components of a mixture.
    max_iter : int
    floor : ndarray (d,)
        Added to the variances after each step: a mere floor would not keep a full covariance from being singular.
    hot, levels : optional
        The levels of the rows in categorical columns, (n, L), and what they are; see :mod:`gramian.mixture.levels`.
    """
    table = _table(X, hot)
    kind: CovarianceType = "tied" if tied else "full"
    fitted = []
    for part in initial_mixtures(X, sizes, rng, floor, hot=hot, levels=levels).split(1):
        weights, means, variances = (a.astype(np.float64) for a in (part.weights, part.means, part.variances))
        covariances = variances[:, :, None] * np.eye(X.shape[1])
        if tied:
            covariances = np.einsum("k,kij->ij", weights, covariances)
        start = Parameters(weights, means, covariances, None if levels is None else part.levels.astype(np.float64))
        ridge = floor.astype(np.float64)
        fit = run_em(table, start, covariance_type=kind, max_iter=max_iter, tol=0, ridge=ridge, levels=levels)
        fitted.append(fit.parameters)
    return fitted


def _table(X: Array, hot: Array | None) -> IncompleteTable:
    return IncompleteTable(X.astype(np.float64, copy=False), None if hot is None else hot.T)


def stack_dense(mixtures: list[Parameters]) -> tuple[Array, Array, Array, Array]:
    """Weights, means, covariances and levels of all components; covariances of all mixtures if tied."""
    join = np.concatenate if mixtures[0].covariances.ndim == 3 else np.stack
    return (
        np.concatenate([mixture.weights for mixture in mixtures]),
        np.concatenate([mixture.means for mixture in mixtures]),
        join([mixture.covariances for mixture in mixtures]),
        np.concatenate([_levels(mixture) for mixture in mixtures]),
    )


def _levels(mixture: Parameters) -> Array:
    return np.empty((len(mixture.weights), 0)) if mixture.levels is None else mixture.levels


def split_dense(sizes: Array, weights: Array, means: Array, covariances: Array, levels: Array) -> list[Parameters]:
    """The mixtures that were stacked."""
    ends = np.cumsum(sizes)[:-1]
    matrices = covariances if len(covariances) < len(weights) else np.split(covariances, ends)
    parts = (np.split(weights, ends), np.split(means, ends), matrices, np.split(levels, ends))
    return [Parameters(*of_one) for of_one in zip(*parts, strict=True)]


def dense_posteriors(mixtures: list[Parameters], X: Array, hot: Array | None = None) -> Iterator[Array]:
    """γ of each mixture in turn, shape (components, rows)."""
    table = _table(X, hot)
    for parameters in mixtures:
        gamma, _ = memberships(log_joint(table, parameters, "full"), axis=1)
        yield gamma.T.astype(X.dtype, copy=False)
