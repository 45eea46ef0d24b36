"""The pairs of directions of two views against the generalised eigenproblem and its stationarity equations."""

import numpy as np
import pytest
from scipy.linalg import eigh

from gramian.embedding.two_views import Spectrum, correlations, directions
from gramian.kernels import RBF


def centered(K):
    M = np.eye(len(K)) - 1 / len(K)
    return M @ K @ M


def spectrum(K):
    """Eigenpairs of a centred matrix, largest first, zeros left out."""
    values, vectors = np.linalg.eigh(K)
    keep = values > 1e-10 * values[-1]
    return Spectrum(values[keep][::-1], vectors[:, keep][:, ::-1])


@pytest.fixture
def grams():
    """Two centred Grams of related data."""
    rng = np.random.default_rng(0)
    X = rng.standard_normal((60, 3))
    Y = np.column_stack([np.sin(X[:, 0]), X[:, 1] ** 2]) + 0.3 * rng.standard_normal((60, 2))
    return centered(RBF(width=2.0)(X)), centered(RBF(width=1.0)(Y))


def generalised(Kx, Ky, nu_x, nu_y, k):
    """The k largest λ of [0, Kx Ky; Ky Kx, 0] = λ [(ν Kx + I) Kx, 0; 0, (ν Ky + I) Ky], as the dual, symmetrised."""
    n, zero = len(Kx), np.zeros_like(Kx)
    A = np.block([[zero, Kx @ Ky], [Ky @ Kx, zero]])
    B = np.block([[nu_x * Kx @ Kx + Kx, zero], [zero, nu_y * Ky @ Ky + Ky]])
    return eigh(A, B + 1e-12 * np.trace(B) / n * np.eye(2 * n), eigvals_only=True)[::-1][:k]


@pytest.mark.parametrize("nu", [(0.0, 0.0), (1.0, 1.0), (0.1, 10.0), (100.0, 100.0)])
def test_singular_values_solve_the_generalised_eigenproblem(grams, nu):
    """The singular value decomposition gives the positive eigenvalues of the dual problem."""
    found = directions(*map(spectrum, grams), *nu, 4)
    np.testing.assert_allclose(found.values, generalised(*grams, *nu, 4), rtol=1e-6)


@pytest.mark.parametrize("nu", [(0.0, 0.0), (1.0, 1.0), (0.1, 10.0), (100.0, 100.0)])
def test_stationarity(grams, nu):
    """K_y c = λ (ν_x K_x a + a) and K_x a = λ (ν_y K_y c + c) in the ranges of K_x and K_y; scores are K a and K c.

    In the null space of its Gram a coefficient means nothing; there it is zero.
    """
    Kx, Ky = grams
    left, right = spectrum(Kx), spectrum(Ky)
    found = directions(left, right, *nu, 4)
    a, c, values = found.left, found.right, found.values
    size = np.abs(a).max() + np.abs(c).max()
    for U, first, second in (
        (left.vectors, Ky @ c, values * (nu[0] * Kx @ a + a)),
        (right.vectors, Kx @ a, values * (nu[1] * Ky @ c + c)),
    ):
        np.testing.assert_allclose(U.T @ first, U.T @ second, rtol=0, atol=1e-8 * size)
    np.testing.assert_allclose(np.hstack([a, c]).sum(axis=0), 0, atol=1e-8 * size)
    np.testing.assert_allclose(found.left_scores, Kx @ a, rtol=0, atol=1e-8 * size)
    np.testing.assert_allclose(found.right_scores, Ky @ c, rtol=0, atol=1e-8 * size)
    # The constraint of each pair.
    np.testing.assert_allclose(nu[0] * ((Kx @ a) ** 2).sum(axis=0) + (a * (Kx @ a)).sum(axis=0), 1, rtol=1e-8)
    np.testing.assert_allclose(values, ((Kx @ a) * (Ky @ c)).sum(axis=0), rtol=1e-8)


def test_views_without_covariance_are_refused():
    """Where no direction of one view varies with the other there is no pair."""
    left, right = Spectrum(np.ones(2), np.eye(10)[:, :2]), Spectrum(np.ones(2), np.eye(10)[:, 2:4])
    with pytest.raises(ValueError, match="no covariance at all"):
        directions(left, right, 1.0, 1.0, 2)


def test_correlations():
    """Pearson's, column by column; a constant column correlates with nothing."""
    rng = np.random.default_rng(0)
    A, B = rng.standard_normal((2, 50, 3))
    A[:, 2] = 4.0
    expected = [np.corrcoef(A[:, j], B[:, j])[0, 1] for j in range(2)]
    np.testing.assert_allclose(correlations(A, B), [*expected, 0.0], atol=1e-14)
