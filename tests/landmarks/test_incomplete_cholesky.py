"""Incomplete Cholesky factors against one pivot at a time, and what they promise of their residual."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.sparse import csr_array

import gramian
from gramian.kernels import RBF, Laplacian, Linear, Polynomial
from gramian.landmarks import incomplete_cholesky


def one_by_one(K, pivots):
    """The incomplete factor of given pivots, a column at a time."""
    G = np.zeros((len(K), len(pivots)))
    for r, s in enumerate(pivots):
        column = K[:, s] - G[:, :r] @ G[s, :r]
        G[:, r] = column / np.sqrt(column[s])
    return G


def drawn(K, m, rng):
    """The residual trace after m pivots, each drawn from the residual that the last one left."""
    G, d = np.zeros((len(K), m)), np.diag(K).copy()
    for r in range(m):
        s = rng.choice(len(K), p=d / d.sum())
        column = K[:, s] - G[:, :r] @ G[s, :r]
        G[:, r] = column / np.sqrt(column[s])
        d = np.maximum(d - G[:, r] ** 2, 0)
        d[s] = 0
    return d.sum()


@pytest.mark.parametrize("kernel", [RBF(width=1.0), Laplacian(width=2.0), Polynomial(3)], ids=repr)
def test_factor_is_that_of_its_pivots(kernel):
    """Blocks change nothing but the order of work: G is the textbook factor of the pivots in their order."""
    X = np.random.default_rng(0).standard_normal((400, 5))
    found = incomplete_cholesky(kernel, X, 50, np.random.default_rng(1))
    K = kernel(X)
    np.testing.assert_allclose(found.factor, one_by_one(K, found.pivots), atol=1e-8 * np.sqrt(K.max()))
    np.testing.assert_allclose(np.triu(found.factor[found.pivots], 1), 0, atol=1e-9 * np.sqrt(K.max()))
    np.testing.assert_allclose(found.residual, np.diag(K - found.factor @ found.factor.T), atol=1e-9 * K.max())
    assert len(set(found.pivots.tolist())) == 50


def test_blocks_draw_like_one_pivot_at_a_time():
    """The mean residual trace over many seeds is that of drawing pivots one by one."""
    rng = np.random.default_rng(0)
    X = np.vstack([0.1 * rng.standard_normal((250, 3)), rng.standard_normal((30, 3)) + 5])
    K = RBF(width=1.0)(X)
    many = range(60)
    slow = np.array([drawn(K, 20, np.random.default_rng(i)) for i in many])
    fast = np.array([incomplete_cholesky(RBF(width=1.0), X, 20, np.random.default_rng(i)).residual.sum() for i in many])
    assert abs(slow.mean() - fast.mean()) < 4 * np.sqrt((slow.var() + fast.var()) / len(many))


def test_better_than_uniform_rows_on_uneven_clusters():
    """Small clusters are not missed."""
    rng = np.random.default_rng(0)
    X = np.vstack([0.1 * rng.standard_normal((960, 3)), rng.standard_normal((40, 3)) + 5])
    found = incomplete_cholesky(RBF(width=1.0), X, 30, np.random.default_rng(0))
    some = np.random.default_rng(0).choice(1000, 30, replace=False)
    G = one_by_one(RBF(width=1.0)(X) + 1e-10 * np.eye(1000), some)
    assert found.residual.sum() < 0.3 * (1000 - (G**2).sum())


@settings(max_examples=30, deadline=None)
@given(
    seed=st.integers(0, 2**16),
    n=st.integers(1, 60),
    d=st.integers(1, 4),
    share=st.floats(0, 1),
    copies=st.integers(1, 3),
)
def test_any_shape_and_duplicates(seed, n, d, share, copies):
    """K − G Gᵀ is positive semi-definite with the residual as its diagonal, whatever the shape; no row comes twice."""
    X = np.repeat(np.random.default_rng(seed).standard_normal((n, d)), copies, axis=0)
    m = max(1, int(share * len(X)))
    found = incomplete_cholesky(RBF(width=1.0), X, m, np.random.default_rng(seed))
    assert 1 <= len(found.pivots) <= min(m, n)
    assert len(np.unique(X[found.pivots], axis=0)) == len(found.pivots)
    E = RBF(width=1.0)(X) - found.factor @ found.factor.T
    assert np.linalg.eigvalsh(E).min() > -1e-6
    np.testing.assert_allclose(np.diag(E), found.residual, atol=1e-7)
    assert np.abs(E).max() <= found.residual.max() + 1e-6
    assert not found.residual[found.pivots].any()


def test_stops_at_the_rank_and_at_the_tolerance():
    """A kernel of rank 3 has 3 pivots; tol ends the search earlier."""
    X = np.random.default_rng(0).standard_normal((200, 3))
    assert len(incomplete_cholesky(Linear(), X, 50, np.random.default_rng(0)).pivots) == 3
    found = incomplete_cholesky(RBF(width=2.0), X, 150, np.random.default_rng(0), tol=0.05)
    assert len(found.pivots) < 150
    assert found.residual.sum() <= 0.05 * 200


def test_zero_kernel_has_no_pivots():
    """Where every similarity is zero nothing is left to explain."""
    found = incomplete_cholesky(Linear(), np.zeros((5, 2)), 3, np.random.default_rng(0))
    assert found.pivots.shape == (0,)
    assert found.factor.shape == (5, 0)


def test_float32_and_sparse():
    """float32 stays float32; CSR rows give what dense rows give."""
    X = np.random.default_rng(0).standard_normal((300, 4))
    single = incomplete_cholesky(RBF(width=2.0), X.astype(np.float32), 40, np.random.default_rng(0))
    assert single.factor.dtype == np.float32
    E = RBF(width=2.0)(X) - single.factor.astype(np.float64) @ single.factor.T
    np.testing.assert_allclose(np.diag(E), single.residual, atol=1e-4)
    X = np.where(X > 0.5, X, 0.0)
    dense, sparse = (
        incomplete_cholesky(RBF(width=2.0), rows, 40, np.random.default_rng(0)) for rows in (X, csr_array(X))
    )
    np.testing.assert_array_equal(dense.pivots, sparse.pivots)
    np.testing.assert_allclose(dense.factor, sparse.factor, atol=1e-8)


def test_bad_arguments_are_refused():
    """m and tol say what they take; a factor above the memory budget is not begun."""
    X = np.zeros((5, 2))
    for m in (0, 6, 2.5):
        with pytest.raises(ValueError, match=f"m={m}"):
            incomplete_cholesky(RBF(width=1.0), X, m, np.random.default_rng(0))
    with pytest.raises(ValueError, match=r"tol=1 must be a finite number >= 0 and < 1"):
        incomplete_cholesky(RBF(width=1.0), X, 2, np.random.default_rng(0), tol=1)
    with gramian.config(memory_budget=10), pytest.raises(gramian.MemoryBudgetError, match="5×2 Cholesky factor"):
        incomplete_cholesky(RBF(width=1.0), X, 2, np.random.default_rng(0))
