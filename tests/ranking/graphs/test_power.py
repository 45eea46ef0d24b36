"""Power iteration against the textbook: its fixed point, its rate, and the error it states."""

import numpy as np
import pytest
from scipy.sparse import csr_array

from gramian.ranking.graphs import graph_walk
from gramian.ranking.graphs.graph_walk import GraphWalk
from gramian.ranking.graphs.power import power_iteration
from ranking.textbook import DANGLING, random_graph, textbook


def written_out(A, s, restart, dangling, steps):
    """Some steps of r ← (1 − α) Sᵀ r + α s from r = s, every row of S written out."""
    n = len(A)
    sent = {"uniform": np.full((n, n), 1 / n), "seeds": np.tile(s, (n, 1)), "self": np.eye(n)}[dangling]
    totals = A.sum(axis=1, keepdims=True)
    S = np.where(totals > 0, A / np.where(totals > 0, totals, 1), sent)
    r = s
    for _ in range(steps):
        r = (1 - restart) * S.T @ r + restart * s
    return r


@pytest.fixture(params=[True, False])
def A(request):
    return random_graph(np.random.default_rng(5), 40, directed=request.param)


@pytest.mark.parametrize("dangling", DANGLING)
@pytest.mark.parametrize("form", [np.asarray, csr_array])
def test_steps(A, dangling, form, monkeypatch):
    """Two steps are the two steps of the formula, tile by tile."""
    monkeypatch.setattr(graph_walk, "_TILE_ROWS", 7)
    S = np.random.default_rng(6).dirichlet(np.ones(40), 3).T
    scores, error = power_iteration(GraphWalk(form(A)), S, 0.2, 1e-12, 2, dangling)
    for s, found in zip(S.T, scores.T, strict=True):
        np.testing.assert_allclose(found, written_out(A, s, 0.2, dangling, 2), atol=1e-14)
    steps = [np.abs(written_out(A, s, 0.2, dangling, 2) - written_out(A, s, 0.2, dangling, 1)).sum() for s in S.T]
    np.testing.assert_allclose(error, max(steps) * 0.8 / 0.2)


@pytest.mark.parametrize("dangling", DANGLING)
@pytest.mark.parametrize("tol", [0.1, 1e-4, 1e-10])
def test_columns_stop_at_their_own_time(A, dangling, tol):
    """Every column is within tol of the dense solve, and the stated error between its own and tol."""
    S = np.column_stack([np.eye(40)[:, [0, 38, 39]], np.full(40, 1 / 40)])
    scores, stated = power_iteration(GraphWalk(csr_array(A)), S, 0.15, tol, 1000, dangling)
    errors = np.abs(scores - np.column_stack([textbook(A, s, 0.15, dangling) for s in S.T])).sum(axis=0)
    assert errors.max() <= stated <= tol
    np.testing.assert_allclose(scores.sum(axis=0), 1)
