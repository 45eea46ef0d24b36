"""Forward push: its residual bounds the error, only what is near is touched, and both implementations agree."""

import numpy as np
import pytest
from scipy.sparse import csc_array, csr_array, diags_array

from gramian.ranking import personalized_pagerank, push_pagerank
from gramian.ranking.graphs import push
from ranking.textbook import DANGLING, random_graph, textbook


@pytest.fixture
def rng():
    return np.random.default_rng(6)


@pytest.fixture(params=["compiled", "plain"], autouse=True)
def loops(request, monkeypatch):
    if request.param == "compiled":
        monkeypatch.setattr(push, "_COMPILE_EDGES", 0)
    else:
        monkeypatch.setattr(push, "compiled", lambda: None)


def as_vector(found, n):
    scores = np.zeros(n)
    scores[found.nodes] = found.scores
    return scores


@pytest.mark.parametrize("dangling", DANGLING)
@pytest.mark.parametrize("directed", [True, False])
@pytest.mark.parametrize("tol", [0.3, 1e-2, 1e-7])
def test_residual_is_the_error(rng, dangling, directed, tol):
    """Scores are lower bounds, and their L1 distance to the exact ones is the residual, to rounding."""
    A = random_graph(rng, directed=directed)
    for seeds in (0, [3, 28], {29: 1.0, 4: 2.0}):
        s = np.zeros(30)
        weights = seeds if isinstance(seeds, dict) else dict.fromkeys(np.atleast_1d(seeds).tolist(), 1.0)
        for node, weight in weights.items():
            s[node] = weight / sum(weights.values())
        exact = textbook(A, s, 0.15, dangling)
        found = push_pagerank(csr_array(A), seeds, tol=tol, dangling=dangling)
        scores = as_vector(found, 30)
        assert (scores <= exact + 1e-14).all()
        assert found.residual <= tol
        assert np.abs(exact - scores).sum() == pytest.approx(found.residual, abs=1e-12)


def test_best_first(rng):
    """Nodes come by falling score, ties by index, none twice."""
    found = push_pagerank(csr_array(random_graph(rng, 200, density=0.03)), 5)
    assert len(set(found.nodes.tolist())) == len(found.nodes)
    pairs = list(zip(-found.scores, found.nodes, strict=True))
    assert pairs == sorted(pairs)


@pytest.mark.parametrize("directed", [True, False])
@pytest.mark.parametrize("tol", [0.3, 1e-2, 1e-5])
def test_certified_nodes_are_the_best(rng, directed, tol):
    """The certified head of the list is that of the exact scores, and grows to most of the list as tol falls."""
    for seed in range(10):
        A = random_graph(rng, 60, directed=directed)
        found = push_pagerank(csr_array(A), seed, tol=tol)
        exact = textbook(A, np.eye(60)[seed], 0.15, "seeds")
        k = found.certified
        assert set(found.nodes[:k].tolist()) == set(np.argsort(-exact)[:k].tolist())
        assert tol > 1e-3 or k >= 0.5 * len(found.nodes)


def test_what_is_not_reached_yet_is_not_ruled_out():
    """The seed's six neighbours all lead to node 7, the second best, which a stop after the first push never meets."""
    funnel = np.zeros((8, 8))
    funnel[0, 1:7] = funnel[1:7, 7] = 1
    found = push_pagerank(csr_array(funnel), 0, max_edges=1)
    assert 7 not in found.nodes
    assert textbook(funnel, np.eye(8)[0], 0.15, "seeds")[7] > found.scores[1]
    assert found.certified <= 1


def test_only_the_neighbourhood_is_touched():
    """On a path of 100,000 nodes a query meets a few dozen, and a NaN far away is never read."""
    n = 100_000
    graph = csr_array(diags_array([np.ones(n - 1), np.ones(n - 1)], offsets=[1, -1]))
    graph.data[-1] = np.nan
    found = push_pagerank(graph, 500, tol=1e-4)
    assert len(found.nodes) < 200
    assert found.edges_touched < 5000
    assert np.abs(found.nodes - 500).max() < 100


def test_formats_of_a_graph(rng):
    """Anything square will do; duplicates add up."""
    A = random_graph(rng)
    expected = as_vector(push_pagerank(csr_array(A), 0, tol=1e-9), 30)
    for graph in (A, csc_array(A), csr_array(A).astype(np.float32)):
        np.testing.assert_allclose(as_vector(push_pagerank(graph, 0, tol=1e-9), 30), expected, atol=1e-6)
    twice = csr_array((np.array([1.0, 1.0, 2.0]), [1, 1, 2], [0, 3, 3, 3]), shape=(3, 3))
    exact = textbook(twice.toarray(), np.eye(3)[0], 0.15, "self")
    assert np.abs(as_vector(push_pagerank(twice, 0, tol=1e-9, dangling="self"), 3) - exact).sum() <= 1e-9


def test_a_budget_of_edges_keeps_the_bound(rng):
    """Stopping early leaves the residual exact, and uses at most one node's edges more than allowed."""
    A = random_graph(rng, 200, density=0.1)
    found = push_pagerank(csr_array(A), 0, tol=1e-9, max_edges=500)
    exact = textbook(A, np.eye(200)[0], 0.15, "seeds")
    assert found.residual > 0.01
    assert found.edges_touched < 500 + A.astype(bool).sum()
    assert np.abs(exact - as_vector(found, 200)).sum() == pytest.approx(found.residual, abs=1e-12)


def test_what_a_node_still_gets_on_symmetric_edges(rng):
    """π = p + D h with h = α ρ + (1 − α) S h and ρ = D⁻¹ r, which is what ``directed=False`` estimates."""
    A = random_graph(rng, 40, density=0.2)[:-1, :-1]
    state = push.PushState(csr_array(A), np.array([0]), np.ones(1), 0.15, "seeds")
    state.run(0.2, np.inf)
    degrees = A.sum(axis=1)
    h = np.linalg.solve(np.eye(39) - 0.85 * A / degrees[:, None], 0.15 * state.residual / degrees)
    np.testing.assert_allclose(state.scores + degrees * h, textbook(A, np.eye(39)[0], 0.15), rtol=1e-12)


@pytest.mark.parametrize("weight", [1.0, 1e-200])
def test_symmetric_edges_sharpen_the_best(rng, weight, monkeypatch):
    """Scores are closer to the exact ones, the bound and what it proves still hold, and units do not matter."""
    monkeypatch.setattr(push, "_SHARPENED", 50)
    groups = np.repeat(np.arange(20), 30)
    A = (rng.random((600, 600)) < np.where(groups[:, None] == groups, 0.3, 0.01)).astype(float)
    A = np.maximum(A, A.T) * weight
    gains = []
    for seed in range(0, 600, 60):
        exact = textbook(A, np.eye(600)[seed], 0.15)
        plain = push_pagerank(csr_array(A), seed, max_edges=2000)
        sharp = push_pagerank(csr_array(A), seed, max_edges=2000, directed=False)
        assert np.abs(as_vector(sharp, 600) - exact).sum() <= sharp.residual
        assert set(sharp.nodes[: sharp.certified]) == set(np.argsort(-exact)[: sharp.certified])
        best = np.argsort(-exact)[:30]
        gains.append([np.abs(as_vector(found, 600) - exact)[best].mean() for found in (plain, sharp)])
    before, after = np.mean(gains, axis=0)
    assert after < 0.5 * before


@pytest.mark.parametrize("top", [1, 7, 39, 40, 1000])
def test_the_best_alone(rng, top):
    """The head of the whole list, ties included, and no more proved than by the whole."""
    A = random_graph(rng, 60, weighted=False, density=0.05)
    whole = push_pagerank(csr_array(A), 0, tol=1e-4)
    head = push_pagerank(csr_array(A), 0, tol=1e-4, top=top)
    np.testing.assert_array_equal(head.nodes, whole.nodes[:top])
    np.testing.assert_array_equal(head.scores, whole.scores[:top])
    falls = whole.scores - np.append(whole.scores[1:], 0.0)
    proved = np.flatnonzero(falls[: len(head.nodes)] > whole.residual)
    assert head.certified == (proved[-1] + 1 if len(proved) else 0)


def test_a_lone_seed_on_symmetric_edges():
    """Without any edge there is nothing to sharpen."""
    found = push_pagerank(csr_array((3, 3)), 1, directed=False)
    assert found.nodes.tolist() == [1]


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"seeds": 3}, "seeds=3"),
        ({"seeds": -1}, "seeds=-1"),
        ({"seeds": []}, "empty"),
        ({"seeds": np.eye(3)}, "one restart distribution"),
        ({"restart": 1.0}, "restart=1.0"),
        ({"tol": 0.0}, "tol=0.0"),
        ({"max_edges": 0}, "max_edges=0"),
        ({"dangling": None}, "dangling=None"),
        ({"directed": "no"}, "directed='no'"),
        ({"top": 0}, "top=0"),
        ({"graph": np.ones((2, 3))}, "square"),
        ({"graph": csr_array((2, 3))}, "square"),
        ({"graph": csr_array(np.array([[0, -1.0, 2], [1, 0, 0], [1, 0, 0]]))}, "node 0"),
        ({"graph": csr_array(np.array([[0, np.nan, 2], [1, 0, 0], [1, 0, 0]]))}, "node 0"),
        ({"graph": csr_array(np.array([[0, np.inf, 2], [1, 0, 0], [1, 0, 0]]))}, "node 0"),
    ],
)
def test_refusals(change, message):
    arguments = {"graph": csr_array(np.ones((3, 3))), "seeds": 0} | change
    with pytest.raises(ValueError, match=message):
        push_pagerank(**arguments)


def test_weights_at_the_ends_of_the_floats():
    """Tiny weights are weights, and sums beyond the largest float are refused, not taken for dead ends."""
    for weight in (1e-309, 1.0):
        found = push_pagerank(csr_array(np.array([[0.0, weight], [weight, 0.0]])), 0, tol=1e-6)
        np.testing.assert_allclose(found.scores[np.argsort(found.nodes)], [1 / 1.85, 0.85 / 1.85], atol=1e-6)
    huge = np.array([[0, 1e308], [1e308, 1e308]])
    with pytest.raises(ValueError, match="at node 1"):
        push_pagerank(huge, 1)
    np.testing.assert_allclose(personalized_pagerank(huge, 1), personalized_pagerank(huge / 1e308, 1), atol=1e-8)


@pytest.mark.parametrize(
    "parameters", [{"tol": "a"}, {"max_edges": "a"}, {"dangling": np.array([1, 2])}, {"restart": 1e-17}]
)
def test_parameters_that_are_none(parameters):
    with pytest.raises(ValueError, match=next(iter(parameters))):
        push_pagerank(np.eye(3), 0, **parameters)
