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


def expected_missing(
    X: Array, parameters: Parameters, covariance_type: CovarianceType, gamma: Array | None = None
) -> Array:
    """Rows (n, d) with E[missing | observed] = Σ_k γ_ik Y_ik in the holes; other entries are not meant for use.

    Parameters
    ----------
    X : ndarray (n, d)
    parameters : Parameters
    covariance_type : {"full", "tied", "diag", "spherical"}
    gamma : ndarray (n, K), optional
        Memberships, if more is known of the rows than X; by default those that X gives.

    Examples
    --------
    >>> import numpy as np
    >>> correlated = Parameters(np.ones(1), np.zeros((1, 2)), np.array([[[1.0, 0.5], [0.5, 1.0]]]))
    >>> expected_missing(np.array([[2.0, np.nan]]), correlated, "full")[0, 1].round(12)
    np.float64(1.0)
    """
    table = IncompleteTable(X)
    if covariance_type in ("diag", "spherical"):
        gamma = memberships(log_joint(table, parameters, covariance_type), axis=1)[0] if gamma is None else gamma
        return gamma @ parameters.means
    log_weights = np.log(parameters.weights)[:, None]
    given = None if gamma is None else gamma[table.order].T
    expected = np.empty_like(table.values)
    for part in complete_rows(table, parameters):
        if given is None:
            here, _ = memberships(part.log_densities + log_weights, axis=0)
        else:
            here = given[:, part.chunk.rows]
        np.multiply(part.deviations, here[:, None], out=part.scratch)
        expected[:, part.chunk.rows] = part.scratch.sum(axis=0) + parameters.means.T @ here
    return table.unsorted(expected)


def draw_missing(
    X: Array, parameters: Parameters, covariance_type: CovarianceType, n_draws: int, rng: np.random.Generator
) -> Iterator[Array]:
    """Random completions (n, d), one at a time, each with components drawn by the memberships that X gives."""
    gamma = memberships(log_joint(IncompleteTable(X), parameters, covariance_type), axis=1)[0]
    for _ in range(n_draws):
        yield conditional_draw(X, parameters, covariance_type, draw_choices(gamma, rng), rng)


def draw_choices(shares: Array, rng: np.random.Generator) -> Array:
    """For each row of shares (n, m) one of the m, drawn by its share, (n,)."""
    edges = np.cumsum(shares, axis=1)
    chosen = (rng.random((len(shares), 1)) * edges[:, -1:] >= edges).sum(axis=1)
    return np.minimum(chosen, shares.shape[1] - 1)


def conditional_draw(
    X: Array, parameters: Parameters, covariance_type: CovarianceType, labels: Array, rng: np.random.Generator
) -> Array:
    """Rows (n, d) drawn from the component that each label names, given the observed values of X.

    A row x̃ drawn from the chosen component is moved to the observed values: x̃ + Σ_·o (Σ_oo)⁻¹ (x_o − x̃_o) has the
    conditional distribution (Matheron's rule), without factors of conditional covariances.
    """
    drawn = random_rows(parameters, covariance_type, labels, rng)
    if covariance_type in ("full", "tied"):
        for k in np.unique(labels):
            rows = np.flatnonzero(labels == k)
            drawn[rows] = _conditioned(X[rows], drawn[rows], _component(parameters, k, covariance_type))
    return drawn


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
