"""Personalised PageRank by a factorisation against the textbook, and where the matrix is hard to factorise."""

import numpy as np
import pytest
from scipy.sparse import csr_array

import gramian
from gramian import personalized_pagerank
from gramian.ranking.graphs.direct import direct_solution
from gramian.ranking.graphs.graph_walk import GraphWalk
from ranking.textbook import DANGLING, random_graph, textbook


@pytest.mark.parametrize("form", [np.asarray, csr_array])
@pytest.mark.parametrize("dangling", DANGLING)
@pytest.mark.parametrize("directed", [True, False])
@pytest.mark.parametrize("weight", [None, 1.0, 3.0])
def test_against_the_textbook(directed, dangling, form, weight):
    """Exact to rounding, with nodes that cannot be left, weights or none, and a restart of one in a hundred million."""
    A = random_graph(np.random.default_rng(3), directed=directed, weighted=weight is None) * (weight or 1.0)
    S = np.random.default_rng(4).dirichlet(np.ones(30), 4).T
    for restart, close in ((0.15, 1e-13), (1e-8, 1e-6)):
        scores = direct_solution(GraphWalk(form(A)), S, restart, dangling)
        expected = np.column_stack([textbook(A, s, restart, dangling) for s in S.T])
        np.testing.assert_allclose(scores, expected, atol=close)
        if restart == 0.15:
            np.testing.assert_allclose(scores.sum(axis=0), 1)


def test_a_dense_system_above_the_budget_is_refused():
    """A dense matrix would be copied; the error names another method."""
    with gramian.config(memory_budget="1kB"), pytest.raises(gramian.MemoryBudgetError, match="method='power'"):
        direct_solution(GraphWalk(np.ones((20, 20))), np.full((20, 1), 0.05), 0.15, "uniform")


def test_direct_solve_of_weights_far_apart():
    """Well conditioned whatever the weights: no warning, and the answer of the iteration."""
    A = np.random.default_rng(0).random((8, 8)) * 10.0 ** -np.arange(0, 24, 3)[:, None]
    np.testing.assert_allclose(
        personalized_pagerank(A, 2, method="direct"), personalized_pagerank(A, 2, method="power", tol=1e-12), atol=1e-11
    )
