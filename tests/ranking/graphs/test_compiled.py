"""The compiled loops against what SciPy and NumPy make of the same matrices."""

import numpy as np
import pytest
from scipy.sparse import csr_array

from gramian.ranking.graphs import _compiled as loops
from gramian.ranking.graphs.graph_walk import unsigned
from ranking.textbook import DANGLING, random_graph, textbook


@pytest.fixture
def rng():
    return np.random.default_rng(12)


@pytest.fixture(params=[np.int32, np.int64])
def graph(request, rng):
    """A directed graph with indices of either length, and its arrays as the loops take them."""
    A = csr_array(random_graph(rng, 40, directed=True))
    A = csr_array((A.data, A.indices.astype(request.param), A.indptr.astype(request.param)), shape=A.shape)
    return A, unsigned(A.indptr), unsigned(A.indices)


def test_gather(graph, rng):
    """Sums over neighbours are products with the pattern, for some rows, of a column and of a block."""
    A, indptr, indices = graph
    pattern, X = (A.toarray() > 0).astype(float), rng.random((40, 3))
    one, block = np.empty(20), np.full((20, 3), np.nan)
    loops.gather(indptr, indices, X[:, 0].copy(), one, 10, 30)
    loops.gather_block(indptr, indices, X, block, 10, 30)
    np.testing.assert_allclose(one, (pattern @ X)[10:30, 0])
    np.testing.assert_allclose(block, (pattern @ X)[10:30])


def test_transpose_pattern(graph):
    """Pointers and columns of the transpose, sorted."""
    A, indptr, indices = graph
    pointers, columns = np.zeros_like(A.indptr), np.empty_like(A.indices)
    loops.transpose_pattern(indptr, indices, unsigned(pointers), unsigned(columns))
    expected = csr_array(A.T)
    expected.sort_indices()
    np.testing.assert_array_equal(pointers, expected.indptr)
    np.testing.assert_array_equal(columns, expected.indices)


def test_first_from(graph):
    """The first entry of each row at or right of a column, as searchsorted finds it."""
    A, indptr, indices = graph
    for column in (0, 13, 39, 40):
        place = np.empty(40, np.int64)
        loops.first_from(indptr, indices, column, place)
        expected = [A.indptr[i] + np.searchsorted(A.indices[A.indptr[i] : A.indptr[i + 1]], column) for i in range(40)]
        np.testing.assert_array_equal(place, expected)


@pytest.mark.parametrize("start", [0, 7])
def test_is_symmetric(rng, start):
    """True for a mirrored matrix, false once one weight of the rows looked at differs by more than allowed."""
    A = csr_array(random_graph(rng, 20, density=0.4))
    indptr, indices = unsigned(A.indptr), unsigned(A.indices)

    def look(weights, relative):
        place = indptr[:-1].copy()
        loops.first_from(indptr, indices, start, place)
        return loops.is_symmetric(indptr, indices, weights, place, start, 20, relative)

    assert look(A.data, 1e-12)
    assert look(np.empty(0), 1e-12)
    changed = A.data.copy()
    row = next(i for i in range(start, 20) if A.indptr[i + 1] > A.indptr[i] and A.indices[A.indptr[i + 1] - 1] != i)
    changed[A.indptr[row + 1] - 1] *= 1.001
    assert not look(changed, 1e-12)
    assert look(changed, 0.01)


@pytest.mark.parametrize("dangling", DANGLING)
@pytest.mark.parametrize("columns", [1, 3])
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_sweeps_converge_to_the_textbook(graph, rng, dangling, columns, dtype):
    """Repeated sweeps over the edges into each node reach the dense solve; steps and sums are what they say."""
    A, _, _ = graph
    S = rng.dirichlet(np.ones(40), columns).T.copy()
    incoming = csr_array(A.T)
    sums = A.sum(axis=1)
    sink = sums == 0
    degrees = np.where(sink, 1.0, sums)
    x = np.zeros((40, columns), dtype)
    stuck, factor = np.zeros(columns), np.ones(columns)
    moved, mass = np.empty(columns), np.empty(columns)
    for _ in range(60):
        before = x.copy()
        loops.sweep(
            unsigned(incoming.indptr), unsigned(incoming.indices), incoming.data, 1.0, degrees, sink, np.arange(40), S,
            S.any(axis=1), x, stuck, factor, 0.15, 1.0, DANGLING.index(dangling), moved, mass,
        )  # fmt: skip
        close = 1e-4 if dtype == np.float32 else 1e-12
        np.testing.assert_allclose(moved, (np.abs(x - before) * degrees[:, None]).sum(axis=0), atol=close)
        np.testing.assert_allclose(mass, (x * degrees[:, None]).sum(axis=0), atol=close)
        np.testing.assert_allclose(stuck, x[sink].sum(axis=0), atol=close)
    expected = np.column_stack([textbook(A.toarray(), s, 0.15, dangling) for s in S.T])
    np.testing.assert_allclose(x * degrees[:, None], expected, atol=1e-5 if dtype == np.float32 else 1e-8)


def test_join_neighbours():
    """Two cliques take one label each, and the counts are zero again."""
    A = csr_array(np.kron(np.eye(2), np.ones((5, 5))) - np.eye(10))
    labels, counts = np.arange(10, dtype=np.uint32), np.zeros(10, np.int32)
    for _ in range(3):
        loops.join_neighbours(unsigned(A.indptr), unsigned(A.indices), labels, counts)
    assert len(set(labels[:5])) == len(set(labels[5:])) == 1
    assert labels[0] != labels[5]
    assert not counts.any()


@pytest.mark.parametrize("dangling", DANGLING)
def test_push_keeps_the_balance(graph, dangling):
    """π = p + Σ_i r_i π(i) holds after any number of pushes, π(i) being the dense solution for the seed i."""
    A, indptr, indices = graph
    n, seed = 40, int(np.argmax(np.diff(A.indptr)))
    dense = A.toarray()
    s = np.eye(n)[seed]
    if dangling == "seeds":  # what is stuck returns to this seed, whatever node the mass is pushed from
        dense[dense.sum(axis=1) == 0, seed] = 1
    each = np.column_stack([textbook(dense, e, 0.15, dangling) for e in np.eye(n)])
    for budget in (1, 50, 10_000):
        scores, residual = np.zeros(n), s.copy()
        touched, queued, queue = np.zeros(n, np.int64), np.zeros(n, np.uint8), np.zeros(n, np.int64)
        touched[0], queued[seed] = seed, 1
        count, waiting, edges = loops.push(
            indptr, indices, A.data, scores, residual, np.array([seed]), np.ones(1), touched, 1, queued, queue, 1e-6,
            0.15, DANGLING.index(dangling), budget,
        )  # fmt: skip
        anywhere = waiting * each.mean(axis=1)
        np.testing.assert_allclose(scores + each @ residual + anywhere, each[:, seed], atol=1e-12)
        np.testing.assert_allclose(scores.sum() + residual.sum() + waiting, 1)
        assert set(touched[:count]) == set(np.flatnonzero((scores > 0) | (residual > 0)))
        assert edges > 0
        assert not (queued == 2).any()
    assert np.all(residual <= 1e-6 * np.maximum(1, np.diff(A.indptr)))
