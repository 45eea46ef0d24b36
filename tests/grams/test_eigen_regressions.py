"""The eigen-solver in cases that once went wrong."""

import warnings

import numpy as np
import pytest
from scipy.sparse import block_diag, csr_array, diags_array

import gramian
from gramian.grams import DenseGram, FeatureGram, SparseGram, eigen
from gramian.grams.eigen import block_krylov
from gramian.kernels import RBF
from grams.gram_case import FEW_VIEWS, GramCase


def rotation(n, seed=0):
    """A random orthogonal matrix."""
    return np.linalg.qr(np.random.default_rng(seed).standard_normal((n, n)))[0]


@pytest.mark.parametrize("kind", [DenseGram, lambda K: SparseGram(csr_array(K))])
def test_more_copies_than_the_block_is_wide(kind):
    """An eigenvalue of multiplicity 30 comes 30 times."""
    B = np.random.default_rng(0).standard_normal((20, 20))
    K = np.kron(np.eye(30), B @ B.T)
    np.testing.assert_allclose(kind(K).eigenpairs(30)[0], np.linalg.eigvalsh(K)[::-1][:30], rtol=1e-8)


def test_forty_separate_clusters():
    """Forty clusters out of each other's reach give the eigenvalue 1 forty times."""
    X = np.repeat(np.arange(40) * 100.0, 20)[:, None] + np.random.default_rng(0).standard_normal((800, 1))
    np.testing.assert_allclose(RBF(1.0).gram(X).normalized().eigenpairs(40)[0], 1, atol=1e-8)


def test_ninety_components():
    """More components than are read off the graph still give one eigenvalue 1 each."""
    W = block_diag([np.ones((6, 6))] * 100).tocsr()
    np.testing.assert_allclose(SparseGram(W).normalized().eigenpairs(59 + 31)[0], 1, atol=1e-8)


def test_smallest_of_low_rank():
    """The smallest eigenvalues of a Gram of rank 5 are zeros, as many as asked for."""
    X = np.random.default_rng(0).standard_normal((600, 5))
    np.testing.assert_allclose(FeatureGram(X).eigenpairs(14, "smallest")[0], 0, atol=1e-8)


class TestSmallestOfAGaussian(GramCase):
    """The lower end of a Gaussian Gram: the scale of the residual is ‖K‖, the vectors stay orthonormal."""

    views = FEW_VIEWS
    lapack_size = 60

    def create(self):
        return DenseGram(self.evaluate())

    def evaluate(self):
        X = np.random.default_rng(0).standard_normal((130, 3))
        return np.exp(-((X[:, None] - X[None]) ** 2).sum(axis=2) / (2 * 0.4**2))


def test_known_vectors_that_leave_nothing():
    """With the whole range known the rest are zeros with orthonormal vectors."""
    F = np.random.default_rng(0).random((36, 2))
    known = np.ascontiguousarray(np.linalg.eigh(F @ F.T)[1][:, -2:])
    values, vectors = FeatureGram(F).eigenpairs(3, known=known, method="krylov")
    np.testing.assert_allclose(values, 0, atol=1e-10)
    np.testing.assert_allclose(vectors.T @ vectors, np.eye(3), atol=1e-8)
    np.testing.assert_allclose(known.T @ vectors, 0, atol=1e-8)


def test_known_vectors_by_magnitude():
    """LAPACK with known vectors never returns them again, also where the rest is zero."""
    K = np.diag([3.0, 2.0, 0.0, 0.0])
    known = np.eye(4)[:, :1]
    _, vectors = DenseGram(K).eigenpairs(3, "magnitude", known=known, method="lapack")
    np.testing.assert_allclose(known.T @ vectors, 0, atol=1e-12)


def test_dual_refuses_the_smallest():
    """method="dual" gives the smallest eigenvalues or an error, never the largest."""
    X = np.random.default_rng(0).standard_normal((60, 5))
    with pytest.raises(ValueError, match="dual"):
        FeatureGram(X).eigenpairs(2, "smallest", method="dual")


def test_dual_does_not_ignore_known():
    """method="dual" leaves known eigenvectors out, or refuses."""
    X = np.random.default_rng(0).standard_normal((60, 5))
    values, vectors = np.linalg.eigh(X @ X.T)
    try:
        found = FeatureGram(X).eigenpairs(2, known=np.ascontiguousarray(vectors[:, -1:]), method="dual")[0]
    except ValueError:
        return
    np.testing.assert_allclose(found, values[-2:-4:-1], rtol=1e-9)


@pytest.mark.parametrize(("dtype", "decay", "close"), [(np.float64, -6.8, 1e-8), (np.float32, -2.2, 1e-5)])
def test_dual_vectors_are_orthonormal(dtype, decay, close):
    """Eigenvectors from the dual are orthonormal to rounding also for small eigenvalues."""
    rng = np.random.default_rng(0)
    F = ((rng.standard_normal((600, 10)) * np.logspace(0, decay, 10)) @ rotation(10)).astype(dtype)
    values, vectors = FeatureGram(F).eigenpairs(10)
    np.testing.assert_allclose(vectors.T @ vectors, np.eye(len(values)), atol=close)


@pytest.mark.parametrize("products", range(20, 30))
def test_giving_up_returns_what_was_found(monkeypatch, products):
    """After the last product the vectors are orthonormal and as good as the warning says."""
    monkeypatch.setattr(eigen, "_MAX_PRODUCTS", products)
    path = diags_array([np.ones(2999), np.ones(2999)], offsets=[1, -1]).tocsr()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        vectors = block_krylov(DenseGram(path.toarray()[:400, :400]), 4)[1]
    np.testing.assert_allclose(vectors.T @ vectors, np.eye(4), atol=1e-8)


def test_a_dominant_eigenvalue_does_not_hide_the_others():
    """One eigenvalue of 1e8 (data far from the origin, not centred) leaves the next ones accurate."""
    values = np.r_[1e8, np.linspace(1, 0, 599) ** 2]
    Q = rotation(600)
    K = (Q * values) @ Q.T
    found = DenseGram((K + K.T) / 2).eigenpairs(4)[0]
    np.testing.assert_allclose(found[1:], values[1:4], rtol=1e-3)


def test_a_component_of_tiny_weights_is_a_component():
    """A pair connected by a weight of 1e-13 has the eigenvalue 1 like every component."""
    W = block_diag([np.ones((600, 600)), 1e-13 * np.ones((2, 2))]).tocsr()
    np.testing.assert_allclose(SparseGram(W).normalized().eigenpairs(2)[0], 1, atol=1e-8)


def test_unknown_method_is_refused_for_graphs_too():
    """A misspelt method is an error also where the eigenvectors are known beforehand."""
    with pytest.raises(ValueError, match="method='qr'"):
        SparseGram(block_diag([np.ones((300, 300))] * 2).tocsr()).normalized().eigenpairs(2, method="qr")


def test_small_matrices_within_a_small_budget():
    """Below the LAPACK size too, "auto" does not need more memory than the budget allows."""
    X = np.random.default_rng(0).standard_normal((300, 2))
    with gramian.config(memory_budget=300 * 300 * 8 - 1):
        values = RBF(1.0).gram(X).eigenpairs(2)[0]
    np.testing.assert_allclose(values, np.linalg.eigvalsh(RBF(1.0)(X))[:-3:-1], rtol=1e-9)


@pytest.mark.parametrize("known", [np.ones(4) / 2, np.ones((3, 1)), np.ones((4, 1))])
def test_bad_known_vectors_are_refused(known):
    """Known vectors of the wrong shape or not orthonormal are an error that names them."""
    with pytest.raises(ValueError, match="known"):
        DenseGram(np.diag([1.0, 2.0, 3.0, 4.0])).eigenpairs(1, known=known)


@pytest.mark.parametrize("size", [1e13, 1e15, 1e100, 1e-100])
def test_units_do_not_matter(size):
    """A Gram in other units has the same eigenvalues in those units (polynomial kernels reach 1e15 easily)."""
    X = np.random.default_rng(0).standard_normal((600, 20))
    K = (X @ X.T + 1) ** 2
    K *= size / np.linalg.norm(K, 2)
    np.testing.assert_allclose(DenseGram(K).eigenpairs(4)[0], np.linalg.eigvalsh(K)[::-1][:4], rtol=1e-8)


def test_a_graph_with_eigenvalues_of_many_vectors():
    """LAPACK's search for a part of the spectrum ends in an internal error on this graph of a dozen nodes."""
    A = np.ones((12, 12)) - np.eye(12)
    A[[2, 11, 3, 4], [11, 2, 4, 3]] = 0
    K = A / np.sqrt(np.outer(A.sum(axis=0), A.sum(axis=0)))
    values, vectors = DenseGram(K).eigenpairs(8)
    np.testing.assert_allclose(values, np.linalg.eigvalsh(K)[::-1][:8], atol=1e-12)
    np.testing.assert_allclose(K @ vectors, vectors * values, atol=1e-12)
