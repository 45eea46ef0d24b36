"""How fast is personalised PageRank on a million nodes, for one seed, for many, and for the best hundred nodes only?

The graphs have degrees and communities with power-law tails, as networks of people and pages do; without communities
every method would be done in twenty steps. Peers are told the tolerance that makes their L1 error about ours, and the
score of every side says what its error is. Sides whose package is not installed are left out.
"""

from __future__ import annotations

from collections.abc import Callable
from importlib.util import find_spec
from typing import Any

import numpy as np
from scipy.sparse import coo_array, csr_array, csr_matrix, diags_array

from benchmarks.case import Case, Scores
from gramian import personalized_pagerank
from gramian.ranking import push_pagerank

NODES, EDGES, RESTART, TOL = 1_000_000, 10_000_000, 0.15, 1e-8


def power_law_graph(n: int, edges: int, *, directed: bool, seed: int = 0) -> Any:
    """About ``edges`` edges (each stored in both directions if undirected) among n nodes in communities."""
    rng = np.random.default_rng(seed)
    starts = np.append(0, np.cumsum(np.minimum(20 * (1 + rng.pareto(1.5, n // 40)), 2000)).astype(np.int64))
    starts = starts[starts < n]
    label = np.searchsorted(starts, np.arange(n), side="right") - 1
    start, size = starts[label], np.diff(np.append(starts, n))[label]
    activity = 0.1 + rng.pareto(2.0, n)
    if directed:
        activity[rng.random(n) < 0.05] = 0.0  # pages without links
    bounds = np.cumsum(activity)
    source = np.searchsorted(bounds, rng.random(int(1.25 * edges)) * bounds[-1])
    # Within a community as outside of it, a few nodes get most of the edges.
    draw, near = rng.random(len(source)), rng.random(len(source)) < 0.8
    target = np.where(near, start[source] + draw**2 * size[source], draw**3 * n).astype(np.int64)
    name = rng.permutation(n)
    keep = source != target
    source, target = name[source[keep]].astype(np.int32), name[target[keep]].astype(np.int32)
    graph = csr_array(coo_array((np.ones(len(source)), (source, target)), shape=(n, n)))
    if not directed:
        graph = csr_array(graph + graph.T)
    graph.sum_duplicates()
    graph.data[:] = 1.0
    return graph


def _with_seeds(directed: bool, count: int) -> tuple[Any, np.ndarray]:
    graph = power_law_graph(NODES, EDGES, directed=directed)
    # Compiled once per machine, not per query, and so outside the clock.
    small = power_law_graph(150_000, 1_000_000, directed=directed)
    personalized_pagerank(small, 0)
    personalized_pagerank(small, csr_array(np.eye(small.shape[0], 16)), tol=0.1)
    push_pagerank(small, 0)
    linked = np.flatnonzero(np.diff(graph.indptr) >= 5)
    return graph, np.random.default_rng(1).choice(linked, count, replace=False)


def scipy_loop(data: tuple[Any, np.ndarray]) -> np.ndarray:
    """Power iteration as one would write it, dangling mass to the seed, with our stopping rule."""
    graph, seeds = data
    degrees = np.asarray(graph.sum(axis=1))
    inverse = np.divide(1.0, degrees, out=np.zeros_like(degrees), where=degrees > 0)
    transposed = csr_array((diags_array(inverse) @ graph).T)
    sinks = np.flatnonzero(degrees == 0)
    columns = []
    for seed in seeds:
        scores = np.zeros(len(degrees))
        scores[seed] = step = 1.0
        while step > TOL * RESTART / (1 - RESTART):
            new = (1 - RESTART) * (transposed @ scores)
            new[seed] += RESTART + (1 - RESTART) * scores[sinks].sum()
            step = np.abs(new - scores).sum()
            scores = new
        columns.append(scores)
    return np.column_stack(columns)


def _gramian(data: tuple[Any, np.ndarray]) -> np.ndarray:
    graph, seeds = data
    start = csr_array((np.ones(len(seeds)), (seeds, np.arange(len(seeds)))), shape=(graph.shape[0], len(seeds)))
    return personalized_pagerank(graph, start, restart=RESTART, tol=TOL, dangling="seeds")


def _scikit_network(data: tuple[Any, np.ndarray]) -> np.ndarray:
    from sknetwork.ranking import PageRank

    graph, seeds = csr_matrix(data[0]), data[1]
    # Its tolerance is on the length of the step, by default after at most ten steps.
    model = PageRank(1 - RESTART, solver="piteration", n_iter=200, tol=TOL * RESTART / (1 - RESTART))
    return np.column_stack([model.fit_predict(graph, {int(seed): 1}) for seed in seeds])


def _igraph(data: tuple[Any, np.ndarray]) -> np.ndarray:
    import igraph

    graph, seeds = data
    edges = graph.tocoo()
    peer = igraph.Graph(graph.shape[0], np.column_stack([edges.row, edges.col]), directed=True)
    return np.column_stack(
        [peer.personalized_pagerank(damping=1 - RESTART, reset_vertices=[int(seed)]) for seed in seeds]
    )


def _fast_pagerank(data: tuple[Any, np.ndarray]) -> np.ndarray:
    from fast_pagerank import pagerank_power

    graph, seeds = csr_matrix(data[0]), data[1]
    columns = []
    for seed in seeds:
        start = np.zeros(graph.shape[0])
        start[seed] = 1.0
        columns.append(pagerank_power(graph, p=1 - RESTART, personalize=start, tol=TOL * RESTART / (1 - RESTART)))
    return np.column_stack(columns)


_PEERS = {
    "scikit-network": ("sknetwork", _scikit_network),
    "igraph prpack": ("igraph", _igraph),
    "fast-pagerank": ("fast_pagerank", _fast_pagerank),
}


def _installed(*names: str) -> dict[str, Callable[[Any], Any]]:
    return {name: _PEERS[name][1] for name in names if find_spec(_PEERS[name][0])}


def _error(data: tuple[Any, np.ndarray], scores: np.ndarray) -> Scores:
    """L1 error of the first seed's column, by a solve to 1e-12."""
    graph, seeds = data
    exact = personalized_pagerank(graph, int(seeds[0]), restart=RESTART, tol=1e-12, dangling="seeds", method="power")
    return {"edges": int(graph.nnz), "l1_error": float(np.abs(scores[:, 0] - exact).sum())}


def _one(name: str, directed: bool) -> Case:
    kind = "directed" if directed else "undirected"
    return Case(
        name=name,
        question=f"Personalised PageRank of one seed to an L1 error of 1e-8, {kind}, 1,000,000 nodes, 10,000,000 edges",
        target=">= 1.5× faster than the SciPy loop on two cores, error <= 1e-8",
        data=lambda: _with_seeds(directed, 1),
        sides={
            "gramian": _gramian,
            "SciPy loop": scipy_loop,
            # scikit-network has a rule of its own for nodes that cannot be left, and so other scores.
            **_installed(*([] if directed else ["scikit-network"]), "igraph prpack", "fast-pagerank"),
        },
        score=_error,
        repeats=3,
    )


def _push(data: tuple[Any, np.ndarray]) -> Any:
    graph, seeds = data
    options: dict[str, Any] = {"restart": RESTART, "max_edges": 0.045 * graph.nnz, "directed": False, "top": 100}
    return [push_pagerank(graph, int(seed), **options) for seed in seeds]


def _one_by_one(data: tuple[Any, np.ndarray]) -> list[np.ndarray]:
    graph, seeds = data
    return [_gramian((graph, seeds[[j]]))[:, 0] for j in range(len(seeds))]


def _top(data: tuple[Any, np.ndarray], results: Any) -> Scores:
    graph, seeds = data
    start = csr_array((np.ones(len(seeds)), (seeds, np.arange(len(seeds)))), shape=(graph.shape[0], len(seeds)))
    exact = personalized_pagerank(graph, start, restart=RESTART, tol=1e-12, dangling="seeds")
    right = []
    for result, scores in zip(results, exact.T, strict=True):
        found = np.argsort(-result, kind="stable") if isinstance(result, np.ndarray) else result.nodes
        right.append(len(np.intersect1d(found[:100], np.argsort(-scores, kind="stable")[:100])))
    shares: Scores = {"right_of_100": float(np.mean(right)), "least": min(right), "whole_lists": right.count(100)}
    if not isinstance(results[0], np.ndarray):
        shares["edges_used"] = float(np.mean([result.edges_touched for result in results])) / graph.nnz
        shares["l1_bound"] = float(np.mean([result.residual for result in results]))
    return shares


CASES = [
    _one("pagerank_directed", True),
    _one("pagerank_undirected", False),
    Case(
        name="pagerank_64_seeds",
        question="Personalised PageRank of 64 seeds to an L1 error of 1e-8, undirected, 1,000,000 nodes",
        target=">= 6× faster than one seed after the other",
        data=lambda: _with_seeds(False, 64),
        sides={"gramian": _gramian, **(_installed("scikit-network") or {"SciPy loop": scipy_loop})},
        score=_error,
        repeats=1,
    ),
    Case(
        name="push_top100",
        question="The best 100 nodes for each of 16 seeds, undirected, 1,000,000 nodes, 10,000,000 edges",
        target="right, < 5 % of the edges used, >= 20× faster than all scores",
        data=lambda: _with_seeds(False, 16),
        sides={"gramian push": _push, "gramian, all scores": _one_by_one},
        score=_top,
        repeats=1,
    ),
]
