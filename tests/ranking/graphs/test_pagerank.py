"""Personalised PageRank against a dense solve, networkx and igraph, on made and on real graphs."""

import warnings

import igraph
import networkx as nx
import numpy as np
import pytest
from scipy.sparse import coo_array, csc_array, csr_array
from sklearn.exceptions import ConvergenceWarning

from gramian import personalized_pagerank
from gramian.grams import DenseGram, SparseGram
from gramian.ranking.graphs import graph_walk, pagerank, push
from ranking.textbook import DANGLING, NETWORKS, random_graph, read_network, textbook

ANY = ("power", "direct", "push", "auto")
SYMMETRIC = (*ANY, "cg", "chebyshev")


@pytest.fixture
def rng():
    return np.random.default_rng(20)


@pytest.fixture(params=["compiled", "plain"])
def loops(request, monkeypatch):
    """Once with the compiled loops, however small the graph, and once as if numba were not installed."""
    if request.param == "compiled":
        monkeypatch.setattr(graph_walk, "_COMPILE_EDGES", 0)
        monkeypatch.setattr(push, "_COMPILE_EDGES", 0)
    else:
        monkeypatch.setattr(graph_walk, "compiled", lambda: None)
        monkeypatch.setattr(push, "compiled", lambda: None)
        monkeypatch.setattr(pagerank, "compiled", lambda: None)
    return request.param


class TestAgainstTheTextbook:
    @pytest.mark.parametrize("dangling", DANGLING)
    @pytest.mark.parametrize("method", SYMMETRIC)
    @pytest.mark.parametrize("weighted", [True, False])
    def test_symmetric(self, rng, loops, method, dangling, weighted):
        """Every method is within tol of the dense solve in L1, isolated nodes and several components included."""
        A = random_graph(rng, weighted=weighted)
        S = rng.random((30, 3))
        S /= S.sum(axis=0)
        expected = np.column_stack([textbook(A, s, 0.15, dangling) for s in S.T])
        for graph in (A, csr_array(A)):
            scores = personalized_pagerank(graph, S, method=method, dangling=dangling)
            assert np.abs(scores - expected).sum(axis=0).max() <= 1e-8

    @pytest.mark.parametrize("dangling", DANGLING)
    @pytest.mark.parametrize("method", ANY)
    @pytest.mark.parametrize("weighted", [True, False])
    def test_directed(self, rng, loops, method, dangling, weighted):
        """The same for directed graphs with nodes that cannot be left."""
        A = random_graph(rng, directed=True, weighted=weighted)
        S = np.eye(30)[:, [0, 28, 29]]
        expected = np.column_stack([textbook(A, s, 0.15, dangling) for s in S.T])
        for graph in (A, csr_array(A)):
            scores = personalized_pagerank(graph, S, method=method, dangling=dangling)
            assert np.abs(scores - expected).sum(axis=0).max() <= 1e-8

    @pytest.mark.parametrize("tol", [1e-2, 1e-5, 1e-11])
    @pytest.mark.parametrize("restart", [0.02, 0.5, 0.99])
    def test_tol_bounds_the_l1_error(self, rng, restart, tol):
        """Two far-apart cliques joined by one edge mix so slowly that a rule on the step alone would stop early."""
        A = np.kron(np.eye(2), np.ones((10, 10)))
        A[0, 10] = A[10, 0] = 0.01
        s = np.eye(20)[5]
        for method in SYMMETRIC:
            scores = personalized_pagerank(A, 5, restart=restart, tol=tol, method=method)
            assert np.abs(scores - textbook(A, s, restart)).sum() <= tol
            assert abs(scores.sum() - 1) < 1e-14

    @pytest.mark.parametrize("form", [csr_array, csc_array, coo_array, DenseGram, SparseGram, np.asfortranarray])
    def test_forms_of_a_graph(self, rng, form):
        """The graph may come in any sparse format, as an array or as a Gram."""
        A = random_graph(rng)
        np.testing.assert_allclose(personalized_pagerank(form(A), 3), personalized_pagerank(A, 3), atol=1e-8)

    def test_types_and_scales_of_weights(self, rng):
        """Only ratios of weights count: whole numbers, booleans, float32 and the ends of the exponent range."""
        A = (random_graph(rng, weighted=False) > 0).astype(float)
        expected = personalized_pagerank(A, 3)
        for graph in (A.astype(bool), A.astype(np.int8), A.astype(np.float32), A * 1e300, A * 1e-300):
            np.testing.assert_allclose(personalized_pagerank(csr_array(graph), 3), expected, atol=1e-8)
            np.testing.assert_allclose(personalized_pagerank(graph, 3), expected, atol=1e-8)

    def test_duplicates_unsorted_rows_and_long_indices(self, rng, loops):
        """Entries given twice add up, and the caller's matrix stays as it was."""
        graph = csr_array((np.array([1.0, 2.0, 1.0, 3.0]), [2, 1, 1, 0], [0, 3, 4, 4]), shape=(3, 3))
        before = graph.copy()
        expected = textbook(graph.toarray(), np.eye(3)[0], 0.15)
        assert np.abs(personalized_pagerank(graph, 0) - expected).sum() <= 1e-8
        np.testing.assert_array_equal(graph.indices, before.indices)
        A = csr_array(random_graph(rng, directed=True, weighted=False))
        long = csr_array((A.data, A.indices.astype(np.int64), A.indptr.astype(np.int64)), shape=A.shape)
        np.testing.assert_allclose(personalized_pagerank(long, 0), personalized_pagerank(A, 0), atol=1e-15)

    def test_threads_do_not_change_a_bit(self, rng, monkeypatch, loops):
        """Sums are formed tile by tile, so one thread and three give the same bits."""
        import gramian
        from gramian.grams import tiles

        monkeypatch.setattr(graph_walk, "_TILE_ROWS", 7)
        monkeypatch.setattr(tiles, "_SERIAL_ENTRIES", 0)
        for directed in (True, False):
            graph = csr_array(random_graph(rng, 100, directed=directed))
            with gramian.config(threads=1):
                one = personalized_pagerank(graph, [1, 2])
            with gramian.config(threads=3):
                np.testing.assert_array_equal(personalized_pagerank(graph, [1, 2]), one)
            assert np.abs(one - textbook(graph.toarray(), np.eye(100)[[1, 2]].mean(axis=0), 0.15)).sum() <= 1e-8

    def test_blocks_of_columns(self, rng, monkeypatch):
        """Many seeds are solved in blocks; each column is what it is alone."""
        monkeypatch.setattr(pagerank, "_BLOCK_BYTES", 0)
        for directed in (True, False):
            A = csr_array(random_graph(rng, directed=directed))
            scores = personalized_pagerank(A, csr_array(np.eye(30)))
            alone = np.column_stack([personalized_pagerank(A, j) for j in range(30)])
            np.testing.assert_allclose(scores, alone, atol=2e-8)


class TestChoiceOfMethod:
    def test_without_numba(self, monkeypatch):
        """Asked for by name it says what is missing."""
        monkeypatch.setattr(pagerank, "compiled", lambda: None)
        with pytest.raises(ValueError, match="needs numba"):
            personalized_pagerank(np.ones((3, 3)), 0, method="gauss_seidel")

    @pytest.mark.parametrize(
        ("directed", "seeds", "compiled", "plain"),
        [
            (True, 0, "gauss_seidel", "power"),
            (False, 0, "cg", "cg"),
            (False, np.eye(30)[:, :2], "gauss_seidel", "cg"),
        ],
    )
    def test_chosen_for_large_graphs(self, rng, loops, directed, seeds, compiled, plain):
        """auto is gauss_seidel where the loops are compiled, unless one column of a symmetric graph is asked for."""
        A = csr_array(random_graph(rng, directed=directed))
        same = personalized_pagerank(A, seeds, method=compiled if loops == "compiled" else plain)
        np.testing.assert_array_equal(personalized_pagerank(A, seeds), same)


class TestLaws:
    @pytest.mark.parametrize("method", SYMMETRIC)
    def test_stationary_seeds_stay(self, rng, method):
        """Restarting from the stationary distribution gives it back, for every restart probability."""
        A = random_graph(rng, density=0.3)[:29, :29]
        base = A.sum(axis=1) / A.sum()
        for restart in (0.05, 0.5, 0.95):
            scores = personalized_pagerank(A, "stationary", restart=restart, method=method)
            np.testing.assert_allclose(scores, base, atol=1e-8)

    def test_limits(self, rng):
        """Restarting hardly ever gives the stationary distribution, nearly always the seeds."""
        A = random_graph(rng, density=0.5)[:29, :29]
        np.testing.assert_allclose(personalized_pagerank(A, 2, restart=1e-9), A.sum(axis=1) / A.sum(), atol=1e-6)
        np.testing.assert_allclose(personalized_pagerank(A, 2, restart=1 - 1e-9), np.eye(29)[2], atol=1e-8)

    def test_seed_has_at_least_the_restart(self, rng):
        """The seed has π_j >= α, and by π / d it always comes first."""
        A = random_graph(rng, density=0.3)[:29, :29]
        scores = personalized_pagerank(A, np.eye(29), restart=0.2)
        assert np.diag(scores).min() >= 0.2
        by_degree = personalized_pagerank(A, np.eye(29), restart=0.2, normalize="degree")
        np.testing.assert_array_equal(by_degree.argmax(axis=0), np.arange(29))

    def test_one_step_matrix(self, rng):
        """P_β = β D G_β, column by column: left stochastic, in detailed balance with the stationary distribution."""
        A = random_graph(rng, density=0.3)[:29, :29]
        degrees, beta = A.sum(axis=1), 0.15 / 0.85
        scores = personalized_pagerank(A, np.eye(29), tol=1e-13)
        np.testing.assert_allclose(scores, beta * degrees[:, None] * np.linalg.inv(np.diag((1 + beta) * degrees) - A))
        balance = scores * degrees
        np.testing.assert_allclose(balance, balance.T, atol=1e-10)

    @pytest.mark.parametrize("normalize", ["sqrt_degree", "degree"])
    def test_normalize(self, rng, normalize):
        """Scores are divided by degrees in the graph's own units; a node without edges keeps its score."""
        A = 5.0 * random_graph(rng, weighted=False)
        degrees = np.where(A.sum(axis=1) > 0, A.sum(axis=1), 1)
        divisor = degrees if normalize == "degree" else np.sqrt(degrees)
        for graph in (A, csr_array(A)):
            scores = personalized_pagerank(graph, [0, 29], normalize=normalize)
            np.testing.assert_allclose(scores, personalized_pagerank(graph, [0, 29]) / divisor, rtol=1e-12)

    def test_directed_is_a_promise(self, rng):
        """directed=True only forgoes the fast path; directed=False is believed."""
        A = csr_array(random_graph(rng))
        np.testing.assert_allclose(
            personalized_pagerank(A, 1, directed=True), personalized_pagerank(A, 1, directed=False), atol=2e-8
        )


def peers(adjacency, seeds, directed):
    """networkx and igraph, both with dangling mass to the seeds."""
    n = adjacency.shape[0]
    graph = nx.from_scipy_sparse_array(adjacency, create_using=nx.DiGraph if directed else nx.Graph)
    weights = dict.fromkeys(seeds, 1.0)
    found = nx.pagerank(graph, alpha=0.85, personalization=weights, tol=1e-14 / n, max_iter=500)
    yield "networkx", np.array([found[i] for i in range(n)])
    edges = adjacency.tocoo()
    # Both directions of an undirected edge are given: igraph counts a loop twice in an undirected graph's degrees.
    other = igraph.Graph(n, np.column_stack([edges.row, edges.col]), directed=True)
    reset = np.zeros(n)
    reset[seeds] = 1.0
    weights = edges.data.tolist()
    yield "igraph", np.array(other.personalized_pagerank(damping=0.85, reset=reset, weights=weights))


MADE = {
    "karate": (nx.to_scipy_sparse_array(nx.karate_club_graph(), dtype=float), False),
    "scale-free": (nx.to_scipy_sparse_array(nx.scale_free_graph(300, seed=0), dtype=float), True),
    "path": (nx.to_scipy_sparse_array(nx.path_graph(50), dtype=float), False),
    "arborescence": (nx.to_scipy_sparse_array(nx.full_rary_tree(2, 60, create_using=nx.DiGraph), dtype=float), True),
}


@pytest.mark.parametrize("name", [*MADE, *(path.name for path in NETWORKS)])
def test_networkx_and_igraph(name):
    """With dangling='seeds' the scores are those of networkx and igraph, on made and on all stored networks."""
    paths = {path.name: path for path in NETWORKS}
    adjacency, directed = MADE[name] if name in MADE else read_network(paths[name])
    adjacency = csr_array(adjacency)
    seeds = [0, adjacency.shape[0] // 2]
    ours = personalized_pagerank(adjacency, seeds, dangling="seeds", tol=1e-11)
    for peer, theirs in peers(adjacency, seeds, directed):
        # igraph's own stopping rule leaves some 1e-9.
        assert np.abs(ours - theirs).sum() <= (1e-10 if peer == "networkx" else 1e-7), peer


def test_networkx_uniform_dangling():
    """With dangling='uniform' the scores are networkx's once it is told to spread dangling mass."""
    adjacency = csr_array(MADE["scale-free"][0])
    n = adjacency.shape[0]
    graph = nx.from_scipy_sparse_array(adjacency, create_using=nx.DiGraph)
    even = dict.fromkeys(range(n), 1 / n)
    theirs = nx.pagerank(graph, personalization={5: 1.0}, dangling=even, tol=1e-14 / n, max_iter=500)
    ours = personalized_pagerank(adjacency, 5, tol=1e-11)
    assert np.abs(ours - np.array([theirs[i] for i in range(n)])).sum() <= 1e-10
    plain = nx.pagerank(graph, tol=1e-14 / n, max_iter=500)
    assert np.abs(personalized_pagerank(adjacency, tol=1e-11) - np.array(list(plain.values()))).sum() <= 1e-10


class TestRefusals:
    @pytest.mark.parametrize(
        ("graph", "message"),
        [
            (np.ones((2, 3)), r"graph has shape \(2, 3\)"),
            (np.ones(3), "graph has shape"),
            (np.ones((0, 0)), "no nodes"),
            (csr_array((2, 3)), r"graph has shape \(2, 3\)"),
            (np.array([[0, -1.0], [1.0, 0]]), "weight -1"),
            (csr_array(np.array([[0, -1.0], [1.0, 0]])), "weight -1"),
            (np.array([[0, np.nan], [1.0, 0]]), "NaN"),
            (csr_array(np.array([[0, np.inf], [1.0, 0]])), "infinite"),
            (np.array([["a", "b"], ["c", "d"]]), "type"),
            (np.ones((2, 2), complex), "type complex"),
            (csr_array(np.array([[0, 1e308, 0], [1.0, 0, 1e-310], [0, 5e-324, 0]])), "heaviest"),
        ],
    )
    def test_graphs(self, graph, message):
        with pytest.raises(ValueError, match=message) as caught:
            personalized_pagerank(graph, 0)
        assert "graph" in str(caught.value)

    @pytest.mark.parametrize(
        "bad",
        [
            {"restart": 0.0},
            {"restart": 1},
            {"restart": -0.1},
            {"restart": np.nan},
            {"restart": "often"},
            {"restart": True},
            {"method": "magic"},
            {"tol": 0},
            {"tol": np.inf},
            {"tol": None},
            {"dangling": "stay"},
            {"normalize": "root"},
            {"directed": "no"},
            {"max_iter": 0},
            {"max_iter": 2.5},
        ],
    )
    def test_parameters(self, bad):
        """The error names the parameter and its value."""
        ((name, value),) = bad.items()
        with pytest.raises(ValueError) as caught:
            personalized_pagerank(np.ones((3, 3)), 0, **bad)
        assert f"{name}={value!r}" in str(caught.value)

    @pytest.mark.parametrize("method", ["cg", "chebyshev"])
    def test_symmetric_methods_refuse_directed_graphs(self, method, loops):
        """In the pattern, even if all nodes have one edge in and one out, or in one weight."""
        for A in (
            np.triu(np.ones((3, 3))),
            np.roll(np.eye(4), 1, axis=1),
            np.array([[0, 1.0, 1], [1, 0, 1], [1, 1.001, 0]]),
        ):
            for graph in (A, csr_array(A)):
                with pytest.raises(ValueError, match="symmetric"):
                    personalized_pagerank(graph, 0, method=method)

    def test_memory(self):
        """Scores above the memory budget are refused before they are computed."""
        import gramian

        with gramian.config(memory_budget="1kB"), pytest.raises(gramian.MemoryBudgetError, match="fewer columns"):
            personalized_pagerank(csr_array((1000, 1000)), 0)

    @pytest.mark.parametrize("method", ["power", "gauss_seidel", "cg", "chebyshev", "push"])
    def test_too_few_iterations_warn(self, rng, method):
        """What did not converge says so, and is still a distribution."""
        A = np.diag(np.ones(49), 1) + np.diag(np.ones(49), -1)
        with pytest.warns(ConvergenceWarning, match="max_iter=2"):
            scores = personalized_pagerank(A, 0, method=method, max_iter=2)
        assert abs(scores.sum() - 1) < 1e-12
        assert scores.min() >= 0

    def test_default_iterations_suffice(self):
        """A bipartite graph with a small restart is the slowest there is; the default number of steps is enough."""
        A = np.diag(np.ones(49), 1) + np.diag(np.ones(49), -1)
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            expected = personalized_pagerank(A, 0, restart=0.01, method="direct")
            for method in (*SYMMETRIC, "gauss_seidel"):
                scores = personalized_pagerank(A, 0, restart=0.01, method=method)
                assert np.abs(scores - expected).sum() < 1e-8


def test_numba_waits_for_a_large_graph():
    """Neither importing gramian nor ranking a small graph loads numba."""
    import subprocess
    import sys

    code = (
        "import sys, numpy, gramian; gramian.personalized_pagerank(numpy.ones((3, 3)), 0); "
        "raise SystemExit('numba' in sys.modules)"
    )
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0
