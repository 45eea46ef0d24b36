"""Factorizations: which method is chosen, what is refused, and accuracy where it is hard to keep.

That every Gram and every view solves like ``numpy.linalg.solve`` is in ``gram_case``.
"""

import pickle
import tracemalloc
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.linalg import LinAlgWarning
from scipy.sparse import csr_array, diags_array

import gramian
from gramian.grams import DenseGram, FeatureGram, KernelFactor, LazyGram, SparseGram, solve
from gramian.kernels import RBF, Linear


@pytest.fixture
def rng():
    return np.random.default_rng(7)


def path(n):
    """The graph of a path: eigenvalues between −2 and 2."""
    return SparseGram(diags_array([np.ones(n - 1), np.ones(n - 1)], offsets=[-1, 1], shape=(n, n)))


# The choice


def test_auto(rng, monkeypatch):
    """Features few enough: dual. Small: Cholesky, or LDL where that fails. Else conjugate gradients."""
    F = rng.standard_normal((40, 5))
    K = F @ F.T
    assert FeatureGram(F).factorization(1.0).method == "dual"
    assert FeatureGram(F.T).factorization(1.0).method == "cholesky"  # more features than samples
    assert FeatureGram(F).factorization(np.r_[-1.0, np.ones(39)]).method == "ldl"
    assert DenseGram(K).factorization(1.0).method == "cholesky"
    assert DenseGram(K).factorization(-1.0).method == "ldl"
    assert path(60).factorization(3.0).method == "cholesky"
    for name in ("_DIRECT_SIZE", "_SPARSE_DIRECT_SIZE"):
        monkeypatch.setattr(solve, name, 39)
    assert path(60).factorization(3.0).method == "cg"
    assert DenseGram(K).factorization(1.0).method == "cg"
    monkeypatch.setattr(solve, "_DUAL_SIZE", 4)
    assert FeatureGram(F).factorization(1.0).method == "cg"


def test_auto_refines_where_solutions_are_all_that_is_wanted(rng, monkeypatch):
    """Single precision for a large float64 matrix of which no inverse will be asked for."""
    monkeypatch.setattr(solve, "_REFINED_SIZE", 40)
    K = RBF(1.0)(rng.standard_normal((40, 2)))
    assert DenseGram(K).factorization(1.0, inverse=False).method == "refined"
    assert DenseGram(K).factorization(1.0).method == "cholesky"
    assert DenseGram(K[1:, 1:]).factorization(1.0, inverse=False).method == "cholesky"
    assert DenseGram(K.astype(np.float32)).factorization(1.0, inverse=False).method == "cholesky"
    assert DenseGram(K).factorization(-0.5, inverse=False).method == "ldl"
    assert FeatureGram(K[:, :3]).factorization(1.0, inverse=False).method == "dual"
    with pytest.raises(ValueError, match="the Gram is float32; use 'cholesky'"):
        DenseGram(K.astype(np.float32)).factorization(1.0, "refined")
    with gramian.config(memory_budget=40 * 40 * 8 - 1):
        assert DenseGram(K).factorization(1.0, inverse=False).method == "cg"
        with pytest.raises(gramian.MemoryBudgetError, match=r"40×40 factor.*method='cg'"):
            DenseGram(K).factorization(1.0, "refined")


def test_auto_within_the_budget(rng):
    """Where the n×n array does not fit, auto iterates, and asking for the factor names the alternatives."""
    X = rng.standard_normal((300, 2))
    gram, F = LazyGram(RBF(width=1.0), X), FeatureGram(rng.standard_normal((300, 20)))
    exact = np.linalg.solve(RBF(width=1.0)(X) + np.eye(300), X)
    with gramian.config(memory_budget=300 * 300 * 8 - 1):
        system = gram.factorization(1.0)
        assert system.method == "cg"
        np.testing.assert_allclose(system.solve(X), exact, atol=1e-8)
        for method in ("cholesky", "ldl"):
            with pytest.raises(gramian.MemoryBudgetError, match=r"300×300 factor.*method='cg'.*Nystroem.*'dual'"):
                gram.factorization(1.0, method)
    with gramian.config(memory_budget=20 * 20 * 8 - 1):
        assert F.factorization(1.0).method == "cg"
        with pytest.raises(gramian.MemoryBudgetError, match=r"20×20 dual.*method='cg'"):
            F.factorization(1.0, "dual")


def test_one_matrix_in_all(rng):
    """Cholesky of a lazy Gram, and of a centred one, allocates one n×n array."""
    n = 1200
    gram = LazyGram(RBF(width=1.0), rng.standard_normal((n, 2)))
    for view in (gram, gram.centered(), gram.centered().restricted(np.arange(n)[::-1])):
        view.degrees()
        tracemalloc.start()
        system = view.factorization(1.0, "cholesky")
        system.solve(np.ones(n))
        peak = tracemalloc.get_traced_memory()[1]
        tracemalloc.stop()
        assert peak < 1.5 * 8 * n * n


def test_three_quarters_of_a_matrix(rng):
    """The refined factor of a lazy Gram allocates half of K in double and half of the factor in single precision."""
    n = 1200
    gram = LazyGram(RBF(width=1.0), rng.standard_normal((n, 2)))
    gram.factorization(1.0, "refined")
    with gramian.config(threads=1):  # every thread has a strip of 256 rows of its own
        tracemalloc.start()
        gram.factorization(1.0, "refined").solve(np.ones(n))
        peak = tracemalloc.get_traced_memory()[1]
        tracemalloc.stop()
    assert peak < 1.3 * 8 * n * n


def test_the_gram_is_left_alone(rng):
    """A factor is made of a copy; the matrix that the Gram holds stays what it was."""
    K = np.cov(rng.standard_normal((6, 50)))
    before = K.copy()
    for method in ("cholesky", "refined", "ldl", "cg"):
        DenseGram(K).factorization(1.0, method).solve(np.ones(6))
        np.testing.assert_array_equal(K, before)


# Refusals and warnings


def test_indefinite_systems_are_refused_by_methods_for_definite_ones():
    """Cholesky and conjugate gradients name LDL, which solves."""
    gram = path(12)
    for ask in (
        lambda: gram.factorization(0.5, "cholesky"),
        lambda: gram.factorization(0.5, "cg").solve(np.arange(12.0)),
    ):
        with pytest.raises(np.linalg.LinAlgError, match=r"not positive definite.*raise diagonal, or use method='ldl'"):
            ask()
    A = gram.dense() + 0.5 * np.eye(12)
    np.testing.assert_allclose(gram.factorization(0.5, "ldl").solve(np.arange(12.0)), np.linalg.solve(A, np.arange(12)))


def test_singular_systems():
    """An exact zero pivot is an error; singular to working precision is a warning with the number."""
    with pytest.raises(np.linalg.LinAlgError, match="is singular, so the system has no single solution"):
        DenseGram(np.zeros((3, 3))).factorization(0.0)
    with pytest.raises(np.linalg.LinAlgError, match="is singular"):
        FeatureGram(np.eye(3)).scaled(-1.0).factorization(1.0, "dual")
    with pytest.warns(LinAlgWarning, match=r"singular to working precision.*raise diagonal"):
        DenseGram(np.ones((40, 40))).factorization(1e-15, "ldl")


def test_cg_says_what_it_cannot_do(monkeypatch):
    """The inverse diagonal takes n solves, which is refused for many samples; the determinant is refused always."""
    monkeypatch.setattr(solve, "_DIRECT_SIZE", 11)
    monkeypatch.setattr(solve, "_STRIP", 5)
    with pytest.raises(ValueError, match=r"12 solves; use method='cholesky', or .*Nystroem.*method='dual'"):
        path(12).factorization(3.0, "cg").inverse_diagonal()
    inverse = np.linalg.inv(path(11).dense() + 3 * np.eye(11))
    np.testing.assert_allclose(path(11).factorization(3.0, "cg").inverse_diagonal(), np.diag(inverse), atol=1e-9)


# In single precision, corrected


@pytest.mark.parametrize("lazy", [True, False])
@pytest.mark.parametrize("consume", [True, False])
def test_what_needs_the_factor_in_double_gets_it(rng, lazy, consume):
    """The diagonal of the inverse and the determinant are those of Cholesky in double, and so is all from then on."""
    X, b = rng.standard_normal((50, 2)), rng.standard_normal((50, 2))
    for ask in ("inverse_diagonal", "log_determinant"):
        gram = LazyGram(RBF(1.0), X) if lazy else DenseGram(RBF(1.0)(X), owned=True)
        system, exact = gram.factorization(0.1, "refined", consume=consume), DenseGram(RBF(1.0)(X)).factorization(0.1)
        np.testing.assert_allclose(system.quadratic(b), exact.quadratic(b), rtol=1e-12)
        assert system.reciprocal_condition == pytest.approx(exact.reciprocal_condition, rel=0.5)
        assert not system.worse_than(1e-12)
        assert system.worse_than(0.5)
        assert system.method == "refined"
        assert system.n_iter > 0
        np.testing.assert_array_equal(getattr(system, ask)(), getattr(exact, ask)())
        assert system.method == "cholesky"
        np.testing.assert_array_equal(system.solve(b), exact.solve(b))
        assert system.n_iter == 0
        np.testing.assert_array_equal(system.quadratic(b), exact.quadratic(b))
        assert system.worse_than(0.5)


def test_double_takes_over_where_single_precision_does_not_do(rng, monkeypatch):
    """Where there is no factor, at once; where corrections do not reach double precision, when it shows."""
    X, b = rng.standard_normal((60, 2)), rng.standard_normal(60)
    gram = DenseGram(RBF(3.0)(X))
    for method in ("refined", "auto"):
        monkeypatch.setattr(solve, "_REFINED_SIZE", 60)
        system = gram.factorization(1e-7, method, inverse=False)
        x = system.solve(b)
        assert system.method == "cholesky"
        np.testing.assert_array_equal(x, gram.factorization(1e-7, "cholesky").solve(b))
    system = gram.factorization(1.0, "refined")
    assert system.method == "refined"
    monkeypatch.setattr(solve.SingleCholesky, "solve", lambda *_: None)
    np.testing.assert_array_equal(system.solve(b), gram.factorization(1.0, "cholesky").solve(b))
    assert system.method == "cholesky"


def test_a_rough_inverse_needs_memory(rng):
    """It takes half an array more, and where that does not fit the exact one takes its place."""
    X = rng.standard_normal((100, 2))
    exact = LazyGram(RBF(1.0), X).factorization(0.1).inverse_diagonal()
    with gramian.config(memory_budget=8 * 100 * 100):
        for method in ("cholesky", "refined"):
            found = LazyGram(RBF(1.0), X).factorization(0.1, method).inverse_diagonal(1e-6)
            np.testing.assert_array_equal(found, exact)
    for method in ("cholesky", "refined"):
        found = LazyGram(RBF(1.0), X).factorization(0.1, method).inverse_diagonal(1e-6)
        np.testing.assert_allclose(found, exact, rtol=1e-6)
        assert not np.array_equal(found, exact)


def test_several_threads_share_one_factor_in_double(rng):
    """Whoever asks first makes it; a consumed matrix could not be factorised twice."""
    X = rng.standard_normal((200, 2))
    exact = DenseGram(RBF(1.0)(X)).factorization(0.1)
    system = DenseGram(RBF(1.0)(X), owned=True).factorization(0.1, "refined", consume=True)
    system = pickle.loads(pickle.dumps(system))
    with ThreadPoolExecutor(4) as pool:
        solved = [pool.submit(system.solve, X) for _ in range(20)]
        found = [pool.submit(system.inverse_diagonal) for _ in range(8)]
        for part in found:
            np.testing.assert_array_equal(part.result(), exact.inverse_diagonal())
        for part in solved:
            np.testing.assert_allclose(part.result(), exact.solve(X), rtol=1e-9, atol=1e-12)


# Accuracy


@settings(deadline=None, max_examples=40)
@given(st.integers(1, 30), st.integers(0, 8), st.integers(0, 10**6), st.floats(1e-3, 1e3))
def test_woodbury_with_features_of_either_sign(n, m, seed, level):
    """K = F diag(w) Fᵀ with any weights, zero included, and any diagonal > 0."""
    rng = np.random.default_rng(seed)
    F, w, d = rng.standard_normal((n, m)), rng.integers(-2, 3, m) * 1.0, level * rng.uniform(0.5, 2, n)

    class Signed(DenseGram):
        @property
        def _signed_factor(self):
            return FeatureGram(F).factor, w

    A = F * w @ F.T + np.diag(d)
    if np.linalg.cond(A) > 1e6:
        return
    system = Signed(F * w @ F.T).factorization(d, "dual")
    B = rng.standard_normal((n, 2))
    tolerance = 1e-9 * np.abs(np.linalg.inv(A)).max() * max(1.0, np.linalg.norm(B)) * np.linalg.cond(A)
    np.testing.assert_allclose(system.solve(B), np.linalg.solve(A, B), atol=tolerance)
    np.testing.assert_allclose(system.inverse_diagonal(), np.diag(np.linalg.inv(A)), atol=tolerance)
    assert system.log_determinant() == pytest.approx(np.linalg.slogdet(A)[1], abs=1e-6)


def test_refined_where_woodbury_cancels(rng):
    """With a diagonal of 1e-6 one pass leaves a residual of 1e-7, the second one 1e-13."""
    F = rng.standard_normal((200, 6))
    b = F @ np.ones(6)
    x = FeatureGram(F).factorization(1e-6, "dual").solve(b)
    assert np.linalg.norm(b - (F @ (F.T @ x) + 1e-6 * x)) < 1e-12 * np.linalg.norm(b)


@pytest.mark.parametrize("form", [np.asarray, csr_array])
def test_dual_streams_chunks_and_sums_in_double(form, rng):
    """Features recomputed a few rows at a time, float32, sparse or not: sums in float64, never more than a chunk."""
    F = rng.standard_normal((5000, 4)).astype(np.float32) * (rng.random((5000, 4)) < 0.5)
    lengths = []

    class Counting(Linear):
        def _features(self, X):
            lengths.append(X.shape[0])
            return X

    gram = FeatureGram(KernelFactor(Counting(), form(F), 4, 600))
    system = gram.factorization(2.0)
    exact = F.astype(np.float64)
    inner = np.linalg.inv(2 * np.eye(4) + exact.T @ exact)
    b = rng.standard_normal(5000)
    np.testing.assert_allclose(system.solve(b), (b - exact @ (inner @ (exact.T @ b))) / 2, atol=1e-5)
    leverage = np.einsum("ij,jk,ik->i", exact, inner, exact)
    np.testing.assert_allclose(system.inverse_diagonal(), (1 - leverage) / 2, atol=1e-6)
    expected = 5000 * np.log(2) + np.linalg.slogdet(np.eye(4) + exact.T @ exact / 2)[1]
    assert system.log_determinant() == pytest.approx(expected, rel=1e-9)
    assert max(lengths) == 600


def test_start_and_tolerance_of_the_iteration(rng):
    """A good start saves products; a looser tolerance too; the default reaches 1e-10."""
    gram = path(800)
    b = rng.standard_normal((800, 2))
    system = gram.factorization(2.05, "cg")
    x = system.solve(b)
    needed = system.n_iter
    assert np.linalg.norm(b - (gram @ x + 2.05 * x)) < 1e-9 * np.linalg.norm(b)
    system.solve(b, start=x)
    assert system.n_iter <= 2
    system.solve(b, tol=1e-3)
    assert 2 < system.n_iter < 0.6 * needed


def test_condition_of_every_method(rng):
    """Hager's estimate finds the norm of a matrix whose largest column the first guess does not see."""
    d = np.r_[np.ones(20), 1e5]
    assert FeatureGram(np.zeros((21, 1))).factorization(d).reciprocal_condition == pytest.approx(1e-5)
    assert DenseGram(np.zeros((21, 21))).factorization(d, "cg").reciprocal_condition == pytest.approx(1e-5)
    assert DenseGram(np.zeros((21, 21))).factorization(d).reciprocal_condition == pytest.approx(1e-5)


@pytest.mark.parametrize("method", ["dual", "cg"])
def test_condition_of_a_centered_gram(method):
    """A search that starts from a constant vector ends there, at 1: it is an eigenvector of every centred Gram."""
    u = np.array([[1.0], [-1.0], [-1.0], [1.0]])  # exact in float64, so that no rounding leads the search on
    A = 64 * u @ u.T + np.eye(4)
    true = 1 / (np.linalg.norm(A, 1) * np.linalg.norm(np.linalg.inv(A), 1))
    gram = FeatureGram(8 * u).centered()
    assert gram.factorization(1.0, method).reciprocal_condition == pytest.approx(true)


def test_types(rng):
    """Solutions are float32 or float64, whatever B is; what is no real diagonal of the Gram's dtype is refused."""
    K = np.eye(3)
    for B, gram, expected in [
        (np.longdouble, np.float64, np.float64),
        (np.float16, np.float32, np.float32),
        (np.int64, np.float32, np.float32),
        (np.float64, np.float32, np.float64),
    ]:
        assert DenseGram(K.astype(gram)).factorization(1.0).solve(np.ones(3, B)).dtype == expected
    with pytest.raises(ValueError, match="diagonal has type complex128"):
        DenseGram(K).factorization(np.array([1j, 1, 1]))
    with pytest.raises(ValueError, match=r"diagonal has values up to 1.0e\+39, too large for a float32"):
        DenseGram(K.astype(np.float32)).factorization(1e39)


def test_a_consumed_gram_hands_over_its_own_matrix_only():
    """The factor takes the place of a matrix that a kernel made, and never that of an array someone else holds."""
    X = np.random.default_rng(0).normal(size=(30, 2))
    own, lent = RBF(1.0).gram(X), DenseGram(RBF(1.0)(X))
    matrix, array = own.matrix, lent.matrix
    expected = RBF(1.0).gram(X).factorization(0.5).solve(np.ones(30))
    for gram in (own, lent):
        np.testing.assert_array_equal(gram.factorization(0.5, consume=True).solve(np.ones(30)), expected)
    assert not np.array_equal(matrix, RBF(1.0)(X))
    np.testing.assert_array_equal(array, RBF(1.0)(X))
