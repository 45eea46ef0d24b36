"""Gauss–Seidel sweeps against a dense solve: graphs of all kinds, panels, orders of nodes, extreme weights."""

import numpy as np
import pytest
from scipy.sparse import coo_array, csr_array

from gramian import personalized_pagerank
from gramian.ranking.graphs import gauss_seidel, graph_walk
from gramian.ranking.graphs.graph_walk import GraphWalk
from ranking.textbook import DANGLING, random_graph, textbook


@pytest.fixture
def rng():
    return np.random.default_rng(20)


@pytest.mark.parametrize("directed", [True, False])
@pytest.mark.parametrize("sweeps", [1, 3, 10])
def test_the_bound_holds_however_early_it_stops(rng, directed, sweeps):
    """After few sweeps the stated error is at least the true one, and not a hundred times it."""
    A = random_graph(rng, 60, directed=directed)
    S = np.eye(60)[:, :5]
    walk = GraphWalk(csr_array(A))
    scores, bound = gauss_seidel.gauss_seidel(walk, graph_walk.compiled(), S, 0.15, 1e-14, sweeps, "uniform")
    error = np.abs(scores - np.column_stack([textbook(A, s, 0.15) for s in S.T])).sum(axis=0).max()
    assert error <= bound <= 100 * error


@pytest.mark.parametrize("dangling", DANGLING)
@pytest.mark.parametrize("weighted", [True, False])
@pytest.mark.parametrize("directed", [True, False])
def test_against_the_textbook(rng, directed, weighted, dangling):
    """Within tol of the dense solve, for arrays and CSR, loops included, at coarse and at fine tolerances."""
    A = random_graph(rng, directed=directed, weighted=weighted)
    A[3, 3] = 1.0
    S = np.eye(30)[:, [0, 28, 29]]
    expected = np.column_stack([textbook(A, s, 0.15, dangling) for s in S.T])
    for tol in (1e-3, 1e-8, 1e-12):
        for graph in (A, csr_array(A)):
            scores = personalized_pagerank(graph, S, method="gauss_seidel", dangling=dangling, tol=tol)
            assert np.abs(scores - expected).sum(axis=0).max() <= tol
            np.testing.assert_allclose(scores.sum(axis=0), 1, atol=1e-14)


@pytest.mark.parametrize("directed", [True, False])
@pytest.mark.parametrize("dangling", DANGLING)
def test_panels_in_a_better_order(rng, monkeypatch, directed, dangling):
    """Several panels, of nodes in another order, are the dense solve too, for sparse and for dense seeds."""
    monkeypatch.setattr(gauss_seidel, "_PANEL", 8)
    monkeypatch.setattr(gauss_seidel, "_ORDER_NODES", 0)
    for weighted in (True, False):
        A = random_graph(rng, directed=directed, weighted=weighted)
        even = np.full((30, 30), 1 / 30)
        for S in (np.eye(30), 0.5 * np.eye(30) + 0.5 * even):
            expected = np.column_stack([textbook(A, s, 0.15, dangling) for s in S.T])
            for seeds in (S, csr_array(S)):
                scores = personalized_pagerank(csr_array(A), seeds, method="gauss_seidel", dangling=dangling)
                assert np.abs(scores - expected).sum(axis=0).max() <= 1e-8


def test_order_brings_neighbours_together(rng):
    """Of shuffled cliques on a ring, neighbours end up at less than half their distance."""
    cliques = np.kron(np.eye(6), np.ones((8, 8))) - np.eye(48)
    for i in range(6):
        j = (8 * i + 9) % 48
        cliques[8 * i, j] = cliques[j, 8 * i] = 1
    shuffle = rng.permutation(48)
    graph = coo_array(cliques[np.ix_(shuffle, shuffle)])
    names = gauss_seidel.neighbours_together(csr_array(graph), graph_walk.compiled())
    np.testing.assert_array_equal(np.sort(names), np.arange(48))
    place = np.argsort(names)
    assert np.abs(place[graph.row] - place[graph.col]).mean() < 0.5 * np.abs(graph.row - graph.col).mean()


def test_weights_beyond_single_precision():
    """Degrees from 1e-60 to 1 are swept in double precision throughout."""
    A = np.array([[0, 1, 0, 0], [1, 0, 1e-60, 0], [0, 1e-60, 0, 1e-60], [0, 0, 1e-60, 0]])
    expected = textbook(A, np.eye(4)[3], 0.15)
    for graph in (A, csr_array(A)):
        scores = personalized_pagerank(graph, 3, method="gauss_seidel")
        assert np.abs(scores - expected).sum() <= 1e-8


def test_many_dead_ends_do_not_stop_the_sweeps():
    """What sinks hold is summed anew, so that rounding does not pile up and small errors are reached."""
    rng = np.random.default_rng(1)
    n = 3000
    heads, tails = rng.integers(n, size=(2, 2500))
    graph = csr_array((np.ones(len(heads)), (heads, tails)), shape=(n, n))
    exact = textbook(graph.toarray(), np.full(n, 1 / n), 0.05, "uniform")
    scores = personalized_pagerank(graph, restart=0.05, method="gauss_seidel", tol=1e-12)
    assert np.abs(scores - exact).sum() <= 1e-12 + 1e-13
