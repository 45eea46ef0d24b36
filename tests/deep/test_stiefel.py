"""Cayley steps stay orthonormal and climb to the leading eigenvectors."""

import numpy as np
import pytest

from gramian.deep.stiefel import cayley_ascent, cayley_step, orthonormalized, slope_along


@pytest.fixture
def problem():
    rng = np.random.default_rng(0)
    L = rng.normal(size=(30, 30))
    U, _ = np.linalg.qr(rng.normal(size=(30, 3)))
    return (L + L.T) / 2, U


@pytest.mark.parametrize("step", [1e-3, 0.1, 1.0, 10.0])
def test_step_is_orthonormal_and_equals_the_dense_cayley_transform(problem, step):
    L, U = problem
    G = 2 * L @ U
    A = -(G @ U.T - U @ G.T)
    moved = cayley_step(U, G, step)
    dense = np.linalg.solve(np.eye(30) + step / 2 * A, (np.eye(30) - step / 2 * A) @ U)
    np.testing.assert_allclose(moved.T @ moved, np.eye(3), atol=1e-10)
    np.testing.assert_allclose(moved, dense, atol=1e-11)


def test_the_printed_sign_does_not_stay_orthonormal(problem):
    L, U = problem
    G = L @ U
    A = -(G @ U.T + U @ G.T)
    moved = np.linalg.solve(np.eye(30) + A / 2, (np.eye(30) - A / 2) @ U)
    assert np.abs(moved.T @ moved - np.eye(3)).max() > 0.1


def test_slope_is_half_the_squared_norm_of_the_skew_matrix(problem):
    L, U = problem
    G = 2 * L @ U
    A = G @ U.T - U @ G.T
    assert slope_along(U, G) == pytest.approx(0.5 * np.sum(A**2))
    small = 1e-6
    rise = [np.sum(V * (L @ V)) for V in (cayley_step(U, G, small), cayley_step(U, G, -small))]
    assert (rise[0] - rise[1]) / (2 * small) == pytest.approx(slope_along(U, G), rel=1e-6)


def test_ascent_reaches_the_leading_eigenvalues(problem):
    L, U = problem
    found, value = cayley_ascent(U, L.__matmul__, max_steps=3000)
    assert value == pytest.approx(np.sort(np.linalg.eigvalsh(L))[-3:].sum(), abs=1e-6)
    np.testing.assert_allclose(found.T @ found, np.eye(3), atol=1e-10)


def test_ascent_never_falls(problem):
    L, U = problem
    values = [np.sum(U * (L @ U))]
    for _ in range(5):
        U, value = cayley_ascent(U, L.__matmul__, max_steps=1)
        values.append(value)
    assert np.all(np.diff(values) >= 0)


def test_orthonormalized_keeps_an_orthonormal_matrix(problem):
    _, U = problem
    np.testing.assert_allclose(orthonormalized(U), U, atol=1e-14)
