"""Grams held as CSR: neighbour-like graphs, several components, isolated nodes, negative weights."""

import numpy as np
import pytest
from scipy.sparse import block_diag, coo_array, csr_array, csr_matrix
from scipy.sparse.linalg import eigsh

from gramian.grams import SparseGram
from grams.gram_case import FEW_VIEWS, GramCase


def random_graph(n, seed=0, density=0.15, negative=False):
    """A symmetric matrix with few entries, one node of it isolated."""
    rng = np.random.default_rng(seed)
    A = rng.random((n, n)) * (rng.random((n, n)) < density)
    A = A - 0.5 * (A > 0) if negative else A
    A[0] = A[:, 0] = 0
    return A + A.T


class TestGraph(GramCase):
    """A weighted graph with an isolated node, whose normalised row stays zero."""

    n, negative = 42, False

    def create(self):
        return SparseGram(csr_array(self.evaluate().astype(self.dtype)))

    def evaluate(self):
        return random_graph(self.n, negative=self.negative)


class TestGraphFloat32(TestGraph):
    """In single precision."""

    views = FEW_VIEWS

    dtype = np.float32


class TestGraphLarge(TestGraph):
    """By iteration."""

    views = FEW_VIEWS

    lapack_size = 60
    n = 120


class TestSigned(TestGraph):
    """Weights of both signs."""

    negative = True


class TestOldSparseMatrix(TestGraph):
    """SciPy's older matrix class."""

    views = FEW_VIEWS

    def create(self):
        return SparseGram(csr_matrix(self.evaluate()))


class TestUnsummedTriplets(TestGraph):
    """COO with each entry in two halves."""

    views = FEW_VIEWS

    def create(self):
        A = coo_array(self.evaluate())
        twice = np.concatenate([A.data, A.data]) / 2
        return SparseGram(coo_array((twice, (np.tile(A.row, 2), np.tile(A.col, 2))), shape=A.shape))


def test_whole_number_weights_become_floats():
    """An unweighted graph of ints or bools multiplies in float64."""
    for dtype in (int, bool, np.uint8):
        gram = SparseGram(csr_array(np.array([[0, 1], [1, 0]], dtype)))
        assert gram.dtype == np.float64
        np.testing.assert_allclose(gram @ np.array([0.25, 0.5]), [0.5, 0.25])


def cliques(sizes, seed=0):
    """Disconnected cliques with random weights, shuffled."""
    rng = np.random.default_rng(seed)
    blocks = []
    for size in sizes:
        A = rng.random((size, size)) + 0.1
        blocks.append(A + A.T)
    W = block_diag(blocks).toarray()
    order = rng.permutation(len(W))
    return W[order][:, order]


def test_components():
    """Component labels agree with reachability by powers of the adjacency."""
    W = cliques([3, 4, 1, 5])
    labels = SparseGram(csr_array(W)).components()
    reach = np.linalg.matrix_power((W > 0) + np.eye(len(W)), len(W)) > 0
    np.testing.assert_array_equal(labels[:, None] == labels, reach)


def test_components_of_signed_graphs_are_not_claimed():
    """With a negative weight the top eigenvectors are not indicators, so none are given."""
    assert SparseGram(csr_array(np.array([[0.0, -1.0], [-1.0, 0.0]]))).components() is None


@pytest.mark.parametrize("k", [3, 6, 9])
def test_normalized_graph_with_several_components(k):
    """A graph of 6 components has the eigenvalue 1 six times; fewer, as many and more pairs than that are right."""
    W = cliques([150, 120, 100, 80, 60, 10])
    d = W.sum(axis=1)
    K = W / np.sqrt(np.outer(d, d))
    values, vectors = SparseGram(csr_array(W)).normalized().eigenpairs(k)
    np.testing.assert_allclose(values, np.linalg.eigvalsh(K)[::-1][:k], atol=1e-10)
    np.testing.assert_allclose(vectors.T @ vectors, np.eye(k), atol=1e-8)
    np.testing.assert_allclose(K @ vectors, vectors * values, atol=1e-6)
    leading = np.argmax(np.abs(vectors), axis=0)
    assert np.all(vectors[leading, range(k)] > 0)


def test_normalized_graph_without_edges():
    """A graph without edges has a zero normalised Gram, and any orthonormal vectors."""
    gram = SparseGram(csr_array((600, 600))).normalized()
    values, vectors = gram.eigenpairs(3)
    np.testing.assert_array_equal(values, 0)
    np.testing.assert_allclose(vectors.T @ vectors, np.eye(3), atol=1e-12)


def test_isolated_nodes_beside_components():
    """Isolated nodes have no share in the eigenvectors of eigenvalue 1."""
    W = np.zeros((620, 620))
    W[:600, :600] = cliques([300, 300])
    values, vectors = SparseGram(csr_array(W)).normalized().eigenpairs(2)
    np.testing.assert_allclose(values, 1, atol=1e-12)
    np.testing.assert_allclose(vectors[600:], 0, atol=1e-12)


def test_more_components_than_the_known_ones():
    """Sixty-six components, two more than are read off the graph, give the eigenvalue 1 as often."""
    W = cliques([9] * 66, seed=3)
    d = W.sum(axis=1)
    values, vectors = SparseGram(csr_array(W)).normalized().eigenpairs(66)
    np.testing.assert_allclose(values, 1, atol=1e-9)
    np.testing.assert_allclose((W / np.sqrt(np.outer(d, d))) @ vectors, vectors, atol=1e-6)


def test_smallest_of_a_grid_against_arpack():
    """Both ends of the spectrum of a grid graph agree with ARPACK and with the closed form."""
    rows, columns = 23, 29
    path = [np.diag(np.ones(m - 1), 1) + np.diag(np.ones(m - 1), -1) for m in (rows, columns)]
    W = csr_array(np.kron(path[0], np.eye(columns)) + np.kron(np.eye(rows), path[1]))
    exact = np.add.outer(
        2 * np.cos(np.pi * np.arange(1, rows + 1) / (rows + 1)),
        2 * np.cos(np.pi * np.arange(1, columns + 1) / (columns + 1)),
    ).ravel()
    for which, code, expected in (("largest", "LA", np.sort(exact)[::-1][:5]), ("smallest", "SA", np.sort(exact)[:5])):
        values = SparseGram(W).eigenpairs(5, which)[0]
        np.testing.assert_allclose(values, expected, atol=1e-10)
        np.testing.assert_allclose(
            np.sort(values), np.sort(eigsh(W, 5, which=code, return_eigenvectors=False)), atol=1e-9
        )
