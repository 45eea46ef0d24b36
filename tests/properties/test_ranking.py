"""Laws of personalised PageRank on every graph: all solvers agree, scores are distributions, linear in the seeds."""

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.sparse import csr_array

from gramian import personalized_pagerank
from gramian.ranking import push_pagerank, stationary_distribution
from ranking.textbook import DANGLING, textbook

RESTARTS = st.sampled_from([0.03, 0.15, 0.5, 0.97])


@st.composite
def graphs(draw, symmetric=None):
    """Up to twenty nodes: directed or not, weighted or not, with loops, holes, isolated and dangling nodes."""
    n = draw(st.integers(1, 20))
    rng = np.random.default_rng(draw(st.integers(0, 2**32)))
    A = rng.random((n, n)) * (rng.random((n, n)) < draw(st.sampled_from([0.0, 0.05, 0.2, 0.9])))
    if draw(st.booleans()):
        A = (A > 0) * draw(st.sampled_from([1.0, 7.0]))
    if draw(st.booleans()):
        A = A * 10.0 ** rng.integers(-6, 7, (n, n))
    if draw(st.booleans()) if symmetric is None else symmetric:
        A = np.maximum(A, A.T)
    if draw(st.booleans()):
        A[rng.integers(n)] = 0
        A = np.minimum(A, A.T) if symmetric else A
    return A


@st.composite
def restarts(draw, n):
    rng = np.random.default_rng(draw(st.integers(0, 2**32)))
    s = rng.random(n) * (rng.random(n) < 0.5)
    s[rng.integers(n)] += 0.1
    return s / s.sum()


@given(graphs(), st.data(), RESTARTS, st.sampled_from(DANGLING))
@settings(max_examples=80, deadline=None)
def test_all_methods_agree_with_a_dense_solve(A, data, restart, dangling):
    """Every method is within its L1 tolerance of the textbook, as an array and in CSR; scores are distributions."""
    s = data.draw(restarts(len(A)))
    expected = textbook(A, s, restart, dangling)
    methods = ["auto", "power", "gauss_seidel", "direct", "push"] + ["cg", "chebyshev"] * np.array_equal(A, A.T)
    for method in methods:
        for graph in (A, csr_array(A)):
            scores = personalized_pagerank(graph, s, restart=restart, method=method, dangling=dangling)
            assert np.abs(scores - expected).sum() <= 1.001e-8
            assert scores.min() >= 0
            assert abs(scores.sum() - 1) <= 1e-12


@given(graphs(), st.data(), RESTARTS, st.sampled_from(["uniform", "self"]))
@settings(max_examples=60, deadline=None)
def test_linear_in_the_seeds(A, data, restart, dangling):
    """A mixture of seeds gives the mixture of the scores; a seed keeps at least the restart probability."""
    n = len(A)
    s = data.draw(restarts(n))
    each = personalized_pagerank(csr_array(A), np.eye(n), restart=restart, dangling=dangling)
    mixed = personalized_pagerank(csr_array(A), s, restart=restart, dangling=dangling)
    assert np.abs(each @ s - mixed).sum() <= 2.01e-8
    assert np.diag(each).min() >= restart - 1e-8


@given(graphs(symmetric=True), RESTARTS)
@settings(max_examples=60, deadline=None)
def test_the_stationary_distribution_stays(A, restart):
    """Restarting in proportion to the degrees gives the degrees back, in graphs of any number of components."""
    degrees = A.sum(axis=1)
    if degrees.sum() == 0:
        return
    scores = personalized_pagerank(A, "stationary", restart=restart)
    assert np.abs(scores - degrees / degrees.sum()).sum() <= 1e-8


@given(graphs(), st.data(), RESTARTS, st.sampled_from(DANGLING), st.sampled_from([0.5, 1e-2, 1e-6]))
@settings(max_examples=80, deadline=None)
def test_push_bound(A, data, restart, dangling, tol):
    """Scores of a push are lower bounds and miss exactly the residual mass."""
    s = data.draw(restarts(len(A)))
    found = push_pagerank(csr_array(A), s, restart=restart, tol=tol, dangling=dangling)
    exact = textbook(A, s, restart, dangling)
    scores = np.zeros(len(A))
    scores[found.nodes] = found.scores
    assert found.residual <= tol
    assert (scores <= exact + 1e-12).all()
    assert abs(np.abs(exact - scores).sum() - found.residual) <= 1e-10


@given(st.integers(2, 12), st.integers(0, 2**32))
@settings(max_examples=60, deadline=None)
def test_scores_are_stationary_for_the_walk_with_restarts(n, seed):
    """π(α, s) is the stationary distribution of (1 − α) P + α 1 sᵀ."""
    rng = np.random.default_rng(seed)
    P = rng.random((n, n)) + 0.01
    P /= P.sum(axis=1, keepdims=True)
    s = rng.random(n) + 0.01
    s /= s.sum()
    scores = personalized_pagerank(P, s, restart=0.3, tol=1e-12)
    np.testing.assert_allclose(scores, stationary_distribution(0.7 * P + 0.3 * s), atol=1e-10)
