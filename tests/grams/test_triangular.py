"""Factors in place against dense inverses: definite and indefinite, with blocks of two, restored after a failure."""

import pickle
import tracemalloc
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from gramian.grams import triangular
from gramian.grams.triangular import NotDefiniteError, Triangular


def symmetric(n, seed=0):
    """Entries of either sign and a small diagonal, so that LDL interchanges rows and makes blocks of two."""
    A = np.random.default_rng(seed).standard_normal((n, n))
    A = A + A.T
    A[np.diag_indices(n)] *= 0.1
    return A


def positive(n, seed=0):
    F = np.random.default_rng(seed).standard_normal((n, n + 3))
    return F @ F.T + np.eye(n)


def check(A, definite, order="C"):
    n = len(A)
    expected = np.linalg.inv(A.astype(np.float64))
    factor = Triangular(np.array(A, order=order), definite)
    accuracy = 1e-13 if A.dtype == np.float64 else 1e-5
    atol = accuracy * n * np.linalg.cond(A.astype(np.float64)) * np.abs(expected).max()
    B = np.random.default_rng(1).standard_normal((n, 2)).astype(A.dtype)
    np.testing.assert_allclose(factor.solve(B), expected @ B, atol=3 * atol)
    np.testing.assert_allclose(factor.quadratic(B), np.einsum("ij,ik,kj->j", B, expected, B), atol=3 * n * atol)
    np.testing.assert_allclose(factor.inverse_diagonal(), np.diag(expected), atol=atol)
    assert factor.log_determinant() == pytest.approx(
        np.linalg.slogdet(A.astype(np.float64))[1], abs=accuracy * n * np.linalg.cond(A.astype(np.float64))
    )
    assert factor.solve(B).dtype == factor.inverse_diagonal().dtype == A.dtype
    return factor


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
@pytest.mark.parametrize("order", ["C", "F"])
@pytest.mark.parametrize("strip", [7, 256])
def test_definite(monkeypatch, dtype, order, strip):
    """Cholesky where it exists, in either layout, by strips of any length."""
    monkeypatch.setattr(triangular, "_STRIP", strip)
    A = positive(40).astype(dtype)
    for definite in (True, None):
        assert check(A, definite, order).method == "cholesky"


@settings(deadline=None, max_examples=40)
@given(st.integers(1, 25), st.integers(0, 10**6), st.sampled_from([3, 256]))
def test_indefinite(n, seed, strip):
    """LDL asked for, and LDL after a Cholesky that failed on the way, which leaves half of the matrix to restore."""
    before, triangular._STRIP = triangular._STRIP, strip
    try:
        A = symmetric(n, seed)
        if np.linalg.cond(A) > 1e6 or np.linalg.eigvalsh(A)[0] > 0:
            return
        for definite in (False, None):
            assert check(A, definite).method == "ldl"
    finally:
        triangular._STRIP = before


def test_blocks_of_two():
    """A zero diagonal has no pivots of size one; entries near the largest number do not overflow on the way."""
    A = np.array([[0.0, 2.0, 0, 0], [2.0, 0, 0, 0], [0, 0, 0, 5.0], [0, 0, 5.0, 1.0]])
    assert len(check(A, False).blocks.first) == 2
    huge = Triangular(np.array([[0.0, 1e200], [1e200, 0.0]]), False)
    np.testing.assert_allclose(huge.solve(np.array([[1e200], [2e200]])), [[2.0], [1.0]])
    assert huge.log_determinant() == pytest.approx(2 * np.log(1e200))


def test_what_cannot_be_factorised():
    """No Cholesky of an indefinite matrix, no LDL of a singular one, nothing of NaN."""
    with pytest.raises(NotDefiniteError):
        Triangular(symmetric(5), True)
    with pytest.raises(np.linalg.LinAlgError, match="singular"):
        Triangular(np.zeros((3, 3)), False)
    with pytest.raises(ValueError, match="NaN or infinite values"):
        Triangular(np.full((3, 3), np.nan), None)


def test_condition():
    """LAPACK's estimate is within a small factor of the 1-norm condition."""
    for A, definite in ((positive(30), True), (symmetric(30), False)):
        true = 1 / np.linalg.cond(A, 1)
        assert true * 0.99 <= Triangular(A.copy(), definite).reciprocal_condition <= 5 * true


@settings(deadline=None, max_examples=60)
@given(st.integers(2, 20), st.integers(0, 10**6), st.floats(-17, 0), st.sampled_from([1e-16, 1e-12, 1e-6]))
def test_pivots_tell_what_the_estimate_would(n, seed, power, limit):
    """Where the pivots decide whether a matrix is too close to singular, LAPACK's estimate decides alike."""
    rng = np.random.default_rng(seed)
    Q = np.linalg.qr(rng.standard_normal((n, n)))[0]
    A = (Q * np.append(10**power, rng.uniform(1, 2, n - 1))) @ Q.T
    try:
        factor = Triangular((A + A.T) / 2, True)
    except NotDefiniteError:
        return
    assert factor.worse_than(limit) == (factor.reciprocal_condition < limit)


def test_good_pivots_need_no_estimate(monkeypatch):
    """The estimate takes ten solutions, which a matrix far from singular is spared."""
    monkeypatch.setattr(Triangular, "reciprocal_condition", property(lambda _: pytest.fail("estimated")))
    assert not Triangular(positive(30), True).worse_than(1e-16)


@pytest.mark.parametrize("definite", [True, False])
def test_several_threads(definite):
    """The factor is whole again after the diagonal of the inverse, and nobody solves with it meanwhile."""
    A = positive(300) if definite else symmetric(300)
    B = np.random.default_rng(1).standard_normal((300, 2))
    factor = pickle.loads(pickle.dumps(Triangular(A.copy(), definite)))
    expected, diagonal = factor.solve(B), np.diag(np.linalg.inv(A))
    with ThreadPoolExecutor(4) as pool:
        inverted = [pool.submit(factor.inverse_diagonal) for _ in range(20)]
        solved = [pool.submit(factor.solve, B) for _ in range(200)]
        for found in solved:
            np.testing.assert_array_equal(found.result(), expected)
        for found in inverted:
            np.testing.assert_allclose(found.result(), diagonal, rtol=1e-8)


@pytest.mark.parametrize("definite", [True, False, None])
def test_empty(definite):
    """A matrix of no rows solves nothing."""
    factor = Triangular(np.empty((0, 0)), definite)
    assert factor.solve(np.empty((0, 2))).shape == (0, 2)
    assert factor.log_determinant() == 0
    assert factor.reciprocal_condition == 1
    assert factor.inverse_diagonal().shape == (0,)


@pytest.mark.parametrize("definite", [True, False, None])
def test_the_factor_replaces_the_matrix(definite):
    """No second n×n array: neither to factorise, nor after a failed Cholesky, nor for the diagonal of the inverse."""
    n = 1600
    A = positive(n) if definite else -positive(n)
    tracemalloc.start()
    factor = Triangular(A, definite)
    factor.inverse_diagonal()
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert np.shares_memory(A, factor.L)
    assert peak < 0.8 * 8 * n * n  # strips of 256 columns, twice


def squared_distances(x):
    return (x[:, None] - x) ** 2


@pytest.mark.parametrize(("n", "strip"), [(1, 7), (20, 7), (300, 64)])
def test_a_diagonal_to_a_millionth(monkeypatch, n, strip):
    """Where so much error is allowed the inverse is one in single precision, and L stays as it is."""
    monkeypatch.setattr(triangular, "_STRIP", strip)
    A = positive(n)
    factor = Triangular(A.copy(), True)
    before = np.tril(factor.L)
    found, exact = factor.inverse_diagonal(1e-6), factor.inverse_diagonal()
    np.testing.assert_allclose(found, np.diag(np.linalg.inv(A)), rtol=1e-6)
    np.testing.assert_array_equal(np.tril(factor.L), before)
    assert found.dtype == np.float64
    assert (found != exact).any()


@pytest.mark.parametrize("scale", [1e-100, 1e100])
def test_a_diagonal_beyond_single_precision(scale):
    """What over- or underflows there is computed in double, without a warning."""
    A = positive(30) * scale
    np.testing.assert_allclose(Triangular(A.copy(), True).inverse_diagonal(1e-6), np.diag(np.linalg.inv(A)), rtol=1e-9)


def test_a_few_entries_that_single_precision_gets_wrong():
    """Among 400 rows without any likeness, ten that lose digits are found, and all is computed in double."""
    A = np.eye(400)
    among = np.arange(100, 300, 20)
    A[np.ix_(among, among)] = np.exp(-squared_distances(np.linspace(0, 1, 10)) / 2)
    A[np.diag_indices(400)] += 1e-9
    factor = Triangular(A.copy(), True)
    rough, error = factor._single_inverse_diagonal()
    exact = factor.inverse_diagonal()
    assert error > 1e-6
    assert error == pytest.approx(np.abs(rough / exact - 1).max(), rel=1e-2)
    np.testing.assert_array_equal(factor.inverse_diagonal(1e-6), exact)
    assert not np.array_equal(factor.inverse_diagonal(1.0), exact)


def test_rough_inverses_are_of_cholesky_in_double():
    """LDL and float32 have no cheaper inverse, so what error is allowed changes nothing."""
    for A, definite in ((symmetric(20), False), (positive(20).astype(np.float32), True)):
        factor = Triangular(A, definite)
        np.testing.assert_array_equal(factor.inverse_diagonal(1.0), factor.inverse_diagonal())
