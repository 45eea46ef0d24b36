"""The walk on a graph: degrees, symmetry and the product with Pᵀ, against dense matrices."""

import numpy as np
import pytest
from scipy.sparse import coo_array, csr_array

import gramian
from gramian import personalized_pagerank
from gramian.grams import DenseGram, SparseGram
from gramian.ranking.graphs import graph_walk
from gramian.ranking.graphs.graph_walk import GraphWalk, as_matrix, unsigned
from ranking.textbook import random_graph


@pytest.fixture
def rng():
    return np.random.default_rng(11)


@pytest.fixture(params=["compiled", "plain"], autouse=True)
def loops(request, monkeypatch):
    """Once with the compiled loops, however small the graph, and once as if numba were not installed."""
    monkeypatch.setattr(graph_walk, "_COMPILE_EDGES", 0)
    if request.param == "plain":
        monkeypatch.setattr(graph_walk, "compiled", lambda: None)


def by_tiles(walk, Y):
    """Aᵀ Y, put together from the tiles."""
    found = np.full(Y.shape, np.nan)

    def work(t, rows):
        found[rows] = walk.product(rows, Y)

    walk.each(work, Y.shape[1])
    return found


@pytest.mark.parametrize("form", [np.asarray, csr_array])
@pytest.mark.parametrize("weight", [None, 1.0, 7.0])
@pytest.mark.parametrize("directed", [True, False])
@pytest.mark.parametrize("columns", [1, 4])
def test_product(rng, monkeypatch, directed, weight, form, columns):
    """One step of the walk is Pᵀ X, for weights, no weights and equal weights, on one column and on several."""
    monkeypatch.setattr(graph_walk, "_TILE_ROWS", 9)
    A = random_graph(rng, 40, directed=directed, weighted=weight is None) * (weight or 1.0)
    walk, X = GraphWalk(form(A)), rng.random((40, columns))
    totals = A.sum(axis=1, keepdims=True)
    P = A / np.where(totals > 0, totals, 1)
    np.testing.assert_allclose(by_tiles(walk, X * walk.inverse), P.T @ X, atol=1e-14)
    np.testing.assert_array_equal(walk.dangling, np.flatnonzero(totals == 0))
    # Degrees are in units of the largest weight.
    np.testing.assert_allclose(walk.degrees * A.max(), totals[:, 0])
    assert walk.symmetric is not directed
    assert walk.n == 40


@pytest.mark.parametrize("threads", [1, 3])
@pytest.mark.parametrize("weighted", [True, False])
def test_symmetry_is_seen(rng, threads, weighted):
    """A symmetric graph is, and one missing or different entry anywhere makes it directed, on any number of threads."""
    A = random_graph(rng, 60, weighted=weighted, density=0.2)
    with gramian.config(threads=threads):
        assert GraphWalk(csr_array(A)).symmetric
        assert GraphWalk(A).symmetric
        edges = np.argwhere(np.triu(A, 1))
        for i, j in edges[:: len(edges) // 6]:
            for other in (0.0, 2.0):
                B = A.copy()
                B[i, j] *= other
                assert not GraphWalk(csr_array(B)).symmetric
                assert not GraphWalk(B).symmetric
        B = A.copy()
        B[tuple(edges[0])] *= 1 + 1e-15  # what rounding leaves is no direction
        assert GraphWalk(csr_array(B)).symmetric


def test_directed_is_believed(rng):
    """What the caller says about the graph is not looked up."""
    A = random_graph(rng)
    assert not GraphWalk(A, directed=True).symmetric
    assert GraphWalk(np.triu(A), directed=False).symmetric
    with pytest.raises(ValueError, match="directed=1 must be"):
        GraphWalk(A, directed=1)


def test_matrices_are_not_copied_without_need(rng):
    """Canonical CSR in float64 is used as it is; entries given twice are added and stored zeros dropped in a copy."""
    A = csr_array(random_graph(rng))
    assert np.shares_memory(as_matrix(A).data, A.data)
    twice = csr_array(coo_array(([1.0, 2.0, 0.0], ([0, 0, 1], [1, 1, 0])), shape=(2, 2)))
    raw = csr_array((np.array([1.0, 2.0, 0.0]), np.array([1, 1, 0]), np.array([0, 2, 3])), shape=(2, 2))
    for graph in (twice, raw):
        entries = graph.nnz
        np.testing.assert_array_equal(as_matrix(graph).toarray(), [[0, 3], [0, 0]])
        assert as_matrix(graph).nnz == 1
        assert graph.nnz == entries
    for gram in (DenseGram(A.toarray()), SparseGram(A)):
        found = as_matrix(gram)
        np.testing.assert_array_equal(found.toarray() if hasattr(found, "toarray") else found, A.toarray())
    assert isinstance(as_matrix(SparseGram(A)), csr_array)


def test_unsigned_indices_share_memory():
    """Indices of 32 bits are seen as unsigned, longer ones as they are."""
    short, long = np.arange(3, dtype=np.int32), np.arange(3, dtype=np.int64)
    assert unsigned(short).dtype == np.uint32
    assert np.shares_memory(unsigned(short), short)
    assert unsigned(long) is long


def test_stored_zeros_and_tiny_weights():
    """A zero that is stored is no edge, even on one side only; weights too small to divide by are refused."""
    path = csr_array((np.array([1.0, 0.0, 1.0, 1.0, 1.0]), ([0, 0, 1, 1, 2], [1, 2, 0, 2, 1])), shape=(3, 3))
    np.testing.assert_allclose(personalized_pagerank(path, 0, method="cg"), personalized_pagerank(path.toarray(), 0))
    assert path.nnz == 5
    with pytest.raises(ValueError, match="too small to divide by"):
        personalized_pagerank(np.array([[0, 1e-320], [1e-320, 0]]), 0)
