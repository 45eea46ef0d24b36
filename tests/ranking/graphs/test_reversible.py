"""Conjugate gradients and Chebyshev's iteration on symmetric graphs, against dense solves and their known rates."""

import numpy as np
import pytest
from scipy.sparse import csr_array

from gramian.ranking.graphs import graph_walk
from gramian.ranking.graphs.graph_walk import GraphWalk
from gramian.ranking.graphs.power import power_iteration
from gramian.ranking.graphs.reversible import chebyshev, isolated_in_closed_form, reversible_cg
from ranking.textbook import DANGLING, random_graph, textbook

SOLVERS = (reversible_cg, chebyshev)


def path(n):
    """A graph that mixes slowly."""
    return np.diag(np.ones(n - 1), 1) + np.diag(np.ones(n - 1), -1)


@pytest.mark.parametrize("dangling", DANGLING)
@pytest.mark.parametrize("solver", SOLVERS)
@pytest.mark.parametrize("tol", [1e-2, 1e-6, 1e-11])
def test_the_stated_error_is_kept(solver, dangling, tol, monkeypatch):
    """True error <= stated error <= tol in L1, with isolated nodes, some of them seeds, and tiles of rows."""
    monkeypatch.setattr(graph_walk, "_TILE_ROWS", 7)
    A = random_graph(np.random.default_rng(1), 50)
    S = np.column_stack([np.eye(50)[:, [0, 49]], np.full(50, 1 / 50)])
    walk = GraphWalk(csr_array(A))
    assert len(walk.dangling)
    right = isolated_in_closed_form(walk, S, 0.1, dangling)
    scores, stated = solver(walk, right, 0.1, tol, 1000)
    errors = np.abs(scores - np.column_stack([textbook(A, s, 0.1, dangling) for s in S.T])).sum(axis=0)
    assert errors.max() <= stated * (1 + 1e-6) + 1e-14
    assert stated <= tol


@pytest.mark.parametrize("solver", SOLVERS)
def test_too_few_products(solver):
    """Stopped early, the stated error is still a bound, and it falls with the products."""
    A, s = path(60), np.eye(60)[:, :1]
    walk, exact = GraphWalk(csr_array(A)), textbook(A, np.eye(60)[0], 0.05)
    before = np.inf
    for most in (3, 10, 30):
        scores, stated = solver(walk, 0.05 * s, 0.05, 1e-12, most)
        assert np.abs(scores[:, 0] - exact).sum() <= stated < before
        before = stated


@pytest.mark.parametrize("solver", SOLVERS)
def test_fewer_products_than_power_iteration(solver):
    """On a graph that mixes slowly a third of the products reaches the same error: √α instead of α in the rate."""
    walk, s = GraphWalk(csr_array(path(200))), np.eye(200)[:, :1]
    assert power_iteration(walk, s, 0.05, 1e-8, 300, "self")[1] > 1e-8
    assert solver(walk, 0.05 * s, 0.05, 1e-8, 100)[1] <= 1e-8


@pytest.mark.parametrize("dangling", DANGLING)
def test_isolated_nodes_in_closed_form(dangling):
    """With its right side b, (I − (1 − α) Pᵀ) π = b has the textbook's solution, isolated rows of P being zero."""
    A = random_graph(np.random.default_rng(2), 30)
    A[3] = A[:, 3] = 0
    walk = GraphWalk(A)
    S = np.random.default_rng(3).dirichlet(np.ones(30), 3).T
    right = isolated_in_closed_form(walk, S, 0.3, dangling)
    totals = A.sum(axis=1, keepdims=True)
    P = A / np.where(totals > 0, totals, 1)
    found = np.linalg.solve(np.eye(30) - 0.7 * P.T, right)
    np.testing.assert_allclose(found, np.column_stack([textbook(A, s, 0.3, dangling) for s in S.T]), atol=1e-13)
