"""Whitened similarities to landmarks: K(X, landmarks) L^-T, and the pivots that L is made of."""

import numpy as np
import pytest
from scipy.linalg import solve_triangular

import gramian
from gramian.grams import tiles
from gramian.kernels import RBF, TL1, Laplacian, Tanh
from gramian.landmarks.whitening import best_truncation, pivoted_cholesky, signed_root, whitened


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
@pytest.mark.parametrize("r", [1, 127, 128, 300])
@pytest.mark.parametrize("threads", [1, 2])
def test_whitened_is_a_triangular_solve(monkeypatch, dtype, r, threads):
    """Panels and strips of any number give SciPy's triangular solve, in the dtype of X."""
    monkeypatch.setattr(tiles, "TILE_BYTES", 32 * r * np.dtype(dtype).itemsize)  # strips of a few rows
    monkeypatch.setattr(tiles, "_SERIAL_ENTRIES", 0)
    rng = np.random.default_rng(0)
    X = rng.standard_normal((700, 5)).astype(dtype)
    landmarks = X[:r]
    kernel = Laplacian(width=1.0)
    L = np.linalg.cholesky(kernel(landmarks.astype(np.float64)))
    with gramian.config(threads=threads):
        F = whitened(kernel, X, landmarks, L)
    assert F.dtype == dtype
    expected = solve_triangular(L, kernel(landmarks.astype(np.float64), X.astype(np.float64)), lower=True).T
    np.testing.assert_allclose(F, expected, atol=1e-11 if dtype == np.float64 else 2e-5)


def test_features_of_the_landmarks_give_their_similarities():
    """φ(landmarks) φ(landmarks)ᵀ is K(landmarks, landmarks) exactly."""
    X = np.random.default_rng(1).standard_normal((20, 2))
    K = RBF(width=0.5)(X)
    pivots, L = pivoted_cholesky(K)
    F = whitened(RBF(width=0.5), X, X[pivots], L)
    np.testing.assert_allclose(F[pivots] @ F[pivots].T, K[np.ix_(pivots, pivots)], atol=1e-8)


def test_pivots_of_nothing():
    """Where every similarity is zero one landmark stays, and its features are zero."""
    pivots, L = pivoted_cholesky(np.zeros((4, 4), np.float32))
    np.testing.assert_array_equal(pivots, [0])
    np.testing.assert_array_equal(L, [[1]])
    assert L.dtype == np.float32


@pytest.mark.parametrize(("dtype", "step"), [(np.float64, 1e-12), (np.float32, 1e-7)])
def test_rounding_is_not_rank(dtype, step):
    """A row that differs from another by rounding alone is dropped; one that differs by more stays."""
    for change, rank in ((step, 2), (0.1, 3)):
        K = np.eye(3)
        K[:2, :2] = [[1, 1 - change], [1 - change, 1]]
        assert len(pivoted_cholesky(K.astype(dtype))[0]) == rank


def test_pivoted_cholesky_orders_and_drops():
    """Pivots reproduce K to the tolerance, their factor has a falling positive diagonal, dependent rows go."""
    F = np.random.default_rng(0).normal(size=(30, 6))
    K = F @ F.T
    pivots, L = pivoted_cholesky(K)
    assert len(pivots) == 6
    np.testing.assert_allclose(L @ L.T, K[np.ix_(pivots, pivots)], atol=1e-10)
    assert (np.diff(np.diagonal(L)) < 0).all()
    whitened_rows = np.linalg.solve(L, K[pivots])
    np.testing.assert_allclose(whitened_rows.T @ whitened_rows, K, atol=1e-8)


def test_signed_root_is_that_of_the_pseudo_inverse():
    """P J Pᵀ = K⁺ for a symmetric K of either sign, positive signs first, small eigenvalues left out."""
    rng = np.random.default_rng(0)
    Q = np.linalg.qr(rng.standard_normal((8, 8)))[0]
    K = (Q * [5, 3, 1e-3, 1e-13, 0, -1e-3, -2, -4]) @ Q.T
    for truncation, r in ((1e-10, 6), (1e-2, 4)):
        P, J = signed_root(K, truncation)
        assert P.shape == (8, r)
        assert J.tolist() == sorted(J.tolist(), reverse=True)
        expected = np.linalg.pinv(K, rcond=truncation, hermitian=True)
        np.testing.assert_allclose((P * J) @ P.T, expected, atol=1e-9 * np.abs(expected).max())


def test_best_truncation():
    """None where landmarks describe the other rows; one that lowers the error where eigenvalues come close to zero."""
    X = np.random.default_rng(0).random((260, 3))
    for kernel, helps in ((Tanh(), False), (TL1(radius=0.8), True)):
        m = 120
        K, across, among = kernel(X[:m]), kernel(X[m:], X[:m]), kernel(X[m:])
        truncation = best_truncation(K, across, among)
        assert (truncation > 1e-10) == helps

        def error(truncation, K=K, across=across, among=among):
            P, J = signed_root(K, truncation)
            return np.linalg.norm(among - (across @ P * J) @ (across @ P).T)

        assert error(truncation) <= error(1e-10)
