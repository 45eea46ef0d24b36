"""Factors in single precision with corrections in double, against dense solutions in double."""

import pickle

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import gramian
from gramian.grams import DenseGram, LazyGram, refined, tiles
from gramian.grams.refined import LowerHalf, Packed, SingleCholesky
from gramian.grams.triangular import NotDefiniteError
from gramian.kernels import RBF

EPS = np.finfo(float).eps


@pytest.fixture
def short(monkeypatch):
    """Strips of seven rows and tiles of eleven columns, on threads."""
    monkeypatch.setattr(refined, "_STRIP", 7)
    monkeypatch.setattr(refined, "_TILE", 11)
    monkeypatch.setattr(tiles, "_SERIAL_ENTRIES", 0)
    with gramian.config(threads=3):
        yield


def backward_error(A, X, B):
    """Of every column, in the norm of the matrix that is factorised: with a diagonal of about one."""
    s = np.exp2(-np.round(np.log2(np.diag(A)) / 2))
    left = np.linalg.norm(s[:, None] * (B - A @ X), axis=0)
    return left / (np.linalg.norm(s[:, None] * A * s) * np.linalg.norm(X / s[:, None], axis=0))


@pytest.mark.usefixtures("short")
@pytest.mark.parametrize("n", [1, 2, 3, 6, 7, 13, 14, 15, 28, 50, 101])
@pytest.mark.parametrize("held", [True, False])
def test_equals_a_dense_solution(n, held):
    """Any number of rows, several right-hand sides of any size, and a diagonal that spans six orders."""
    rng = np.random.default_rng(n)
    X = rng.standard_normal((n, 3))
    d, B = np.geomspace(1e-3, 1e3, n), rng.standard_normal((n, 3)) * [1e-200, 0, 1e200]
    K = RBF(1.0)(X)
    A = K + np.diag(d)
    system = SingleCholesky(DenseGram(K) if held else LazyGram(RBF(1.0), X), d)
    found, n_products = system.solve(B)
    expected = np.linalg.solve(A, B)
    np.testing.assert_allclose(found / [1e-200, 1, 1e200], expected / [1e-200, 1, 1e200], atol=1e-10)
    assert 1 <= n_products <= 4
    np.testing.assert_allclose(system.product(X), A @ X, atol=1e-12 * np.abs(A).max())
    assert (system.half is None) == held
    s = system.scale
    assert system.size == pytest.approx(np.linalg.norm(s[:, None] * A * s))
    assert system.least_pivot == pytest.approx((np.diag(np.linalg.cholesky(A)) ** 2).min(), rel=1e-3)
    assert np.linalg.norm(A, 1) <= system.norm_bound


@settings(deadline=None, max_examples=80)
@given(st.integers(2, 60), st.integers(0, 10**6), st.floats(-2, 3), st.floats(-8, 3), st.booleans(), st.integers(1, 4))
def test_backward_error_is_that_of_double_or_there_is_no_answer(n, seed, width, level, doubled, b):
    """From narrow to wide kernels, from much to nothing on the diagonal, with duplicates: right, or refused."""
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((n, 2))
    if doubled:
        X[n // 2 :] = X[: n - n // 2]
    K, d = RBF(10**width)(X), np.full(n, 10**level)
    A, B = K + np.diag(d), rng.standard_normal((n, b))
    try:
        found = SingleCholesky(DenseGram(K), d).solve(B)
    except NotDefiniteError:
        assert np.linalg.cond(A) > 1e5
        return
    if found is None:
        assert np.linalg.cond(A) > 1e4
        return
    assert (backward_error(A, found[0], B) <= 4 * EPS).all()


@pytest.mark.parametrize("scale", [1e-60, 1.0, 1e60])
def test_entries_beyond_single_precision(scale):
    """The diagonal is brought to about one by powers of two, row by row, so that nothing over- or underflows."""
    rng = np.random.default_rng(0)
    F = rng.standard_normal((40, 60)) * np.geomspace(1e-20, 1e20, 40)[:, None] * scale
    A, b = F @ F.T, F @ rng.standard_normal((60, 2))
    found, _ = SingleCholesky(DenseGram(A), np.zeros(40)).solve(b)
    assert (backward_error(A, found, b) <= 4 * EPS).all()


@pytest.mark.parametrize(
    "A", [np.diag([1.0, -1.0]), np.diag([1.0, 0.0]), np.diag([1.0, np.nan]), [[1.0, 2.0], [2.0, 1.0]], [[1, 1], [1, 1]]]
)
def test_what_has_no_factor(A):
    """Diagonals that are not positive are found at once, others by the factorization."""
    with pytest.raises(NotDefiniteError):
        SingleCholesky(DenseGram(np.array(A, np.float64)), np.zeros(2))


def test_huge_entries_beside_a_small_diagonal():
    """They overflow single precision, without a warning, and there is no factor."""
    with pytest.raises(NotDefiniteError):
        SingleCholesky(DenseGram(np.array([[1.0, 1e50], [1e50, 1.0]])), np.zeros(2))


def test_refinement_stops_where_the_other_matrix_is_not_near():
    """A correction that leaves more than a tenth of the residual ends it; a good one takes few products."""
    A = np.diag(np.linspace(1, 2, 20))
    B = np.ones((20, 1))
    assert refined.refined(A.__matmul__, lambda R: R, B, np.linalg.norm(A)) is None
    X, n_products = refined.refined(A.__matmul__, lambda R: np.linalg.solve(A, R) * 0.999, B, np.linalg.norm(A))
    np.testing.assert_allclose(X, np.linalg.solve(A, B), rtol=1e-15)
    assert n_products <= 6
    X, n_products = refined.refined(A.__matmul__, np.zeros_like, 0 * B, np.linalg.norm(A))
    assert n_products == 1
    assert not X.any()


def test_products_with_a_half():
    """Strips of rows up to the diagonal say all of a symmetric matrix, in whatever order they came."""
    A = np.random.default_rng(0).standard_normal((20, 20))
    A += A.T
    half = LowerHalf(20)
    for start, stop in ((8, 20), (0, 8)):
        half.rows[start] = A[start:stop, :stop].copy()
    V = np.random.default_rng(1).standard_normal((20, 3))
    np.testing.assert_allclose(half.product(V), A @ V, atol=1e-13)


@pytest.mark.parametrize("n", [0, 1, 2, 5, 8])
def test_packed_solves_like_a_dense_matrix(n):
    """Every entry has its own place, whether the number of rows is odd or even."""
    F = np.random.default_rng(n).standard_normal((n, n + 3))
    A = F @ F.T + np.eye(n)
    packed = Packed(n)
    for rows in packed.strips():
        packed.put(rows, A[rows, : rows.stop])
    np.testing.assert_allclose(packed.diagonal(), np.diag(A), rtol=1e-6)
    packed.factorize()
    B = np.random.default_rng(1).standard_normal((n, 2))
    np.testing.assert_allclose(packed.solve(B), np.linalg.solve(A, B), rtol=1e-4, atol=1e-5)
    assert packed.solve(B[:, :0]).shape == (n, 0)


def test_pickled():
    """A copy in another process solves alike."""
    X = np.random.default_rng(0).standard_normal((30, 2))
    system = SingleCholesky(LazyGram(RBF(1.0), X), np.ones(30))
    np.testing.assert_array_equal(pickle.loads(pickle.dumps(system)).solve(X)[0], system.solve(X)[0])
