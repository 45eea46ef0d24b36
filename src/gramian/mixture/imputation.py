"""Values for the holes of a table, and new rows, from a Gaussian mixture: pure functions on arrays.

Used by :class:`gramian.mixture.IncompleteGaussianMixture`.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from gramian.mixture.conditionals import factorized
from gramian.mixture.em import CovarianceType, Parameters, complete_rows, log_joint, memberships
from gramian.mixture.patterns import IncompleteTable
from gramian.typing import Array


def expected_missing(X: Array, parameters: Parameters, covariance_type: CovarianceType) -> Array:
    """Rows (n, d) with E[missing | observed] = Σ_k γ_ik Y_ik in the holes; other entries are not meant for use.

    Examples
    --------
    >>> import numpy as np
    >>> correlated = Parameters(np.ones(1), np.zeros((1, 2)), np.array([[[1.0, 0.5], [0.5, 1.0]]]))
    >>> expected_missing(np.array([[2.0, np.nan]]), correlated, "full")[0, 1].round(12)
    np.float64(1.0)
    """
    table = IncompleteTable(X)
    if covariance_type in ("diag", "spherical"):
        return memberships(log_joint(table, parameters, covariance_type), axis=1)[0] @ parameters.means
    log_weights = np.log(parameters.weights)[:, None]
    expected = np.empty_like(table.values)
    for part in complete_rows(table, parameters):
        gamma, _ = memberships(part.log_densities + log_weights, axis=0)
        np.multiply(part.deviations, gamma[:, None], out=part.scratch)
        expected[:, part.chunk.rows] = part.scratch.sum(axis=0) + parameters.means.T @ gamma
    return table.unsorted(expected)


def draw_missing(
    X: Array, parameters: Parameters, covariance_type: CovarianceType, n_draws: int, rng: np.random.Generator
) -> Iterator[Array]:
    """Random completions (n, d), one at a time.

    A row x̃ drawn from the chosen component is moved to the observed values: x̃ + Σ_·o (Σ_oo)⁻¹ (x_o − x̃_o) has the
    conditional distribution (Matheron's rule), without factors of conditional covariances.
    """
    gamma = memberships(log_joint(IncompleteTable(X), parameters, covariance_type), axis=1)[0]
    edges = np.cumsum(gamma, axis=1)
    for _ in range(n_draws):
        labels = (rng.random((len(X), 1)) * edges[:, -1:] >= edges).sum(axis=1)
        labels = np.minimum(labels, gamma.shape[1] - 1)
        drawn = random_rows(parameters, covariance_type, labels, rng)
        if covariance_type in ("full", "tied"):
            for k in np.unique(labels):
                rows = np.flatnonzero(labels == k)
                drawn[rows] = _conditioned(X[rows], drawn[rows], _component(parameters, k, covariance_type))
        yield drawn


def random_rows(
    parameters: Parameters, covariance_type: CovarianceType, labels: Array, rng: np.random.Generator
) -> Array:
    """One complete row from the component that each label names, (n, d)."""
    means, covariances = parameters.means, parameters.covariances
    d = means.shape[1]
    noise = rng.standard_normal((len(labels), d))
    if covariance_type in ("diag", "spherical"):
        deviations = np.sqrt(covariances if covariance_type == "diag" else covariances[:, None])
        return means[labels] + noise * deviations[labels]
    _, factors = factorized(covariances.reshape(-1, d, d))
    for k in np.unique(labels):
        rows = labels == k
        noise[rows] = noise[rows] @ factors[k if covariance_type == "full" else 0].T
    return means[labels] + noise


def _component(parameters: Parameters, k: int, covariance_type: CovarianceType) -> Parameters:
    covariance = parameters.covariances[k] if covariance_type == "full" else parameters.covariances
    return Parameters(np.ones(1), parameters.means[k : k + 1], covariance[None])


def _conditioned(X: Array, drawn: Array, component: Parameters) -> Array:
    """Draws of one component moved to the observed values of their rows."""
    table = IncompleteTable(X)
    centers = np.ascontiguousarray(drawn[table.order].T)
    moved = np.empty_like(centers)
    for part in complete_rows(table, component, centers):
        moved[:, part.chunk.rows] = centers[:, part.chunk.rows] + part.deviations[0]
    return table.unsorted(moved)
