"""How fast are communities of networks of 100,000 to 4,000,000 nodes found?

Planted graphs whose nodes are in random order, so that no side profits from neighbours in memory. The peer is igraph's
Leiden by its defaults; building its graph object counts. The score ``cpu`` is processor time of one side's work: the
wall clock of the table depends on what else the machine does. The last cases have the sizes of the networks of the
lecture on kernel methods for big data (YouTube, roads of California, LiveJournal), generated: those data are not
bundled. Roads are a grid from which edges were dropped.
"""

from __future__ import annotations

import random
import time
from collections.abc import Callable
from functools import partial
from importlib.util import find_spec
from typing import Any

import numpy as np
from scipy.sparse import coo_array, csr_array, triu

from benchmarks.case import Case, Scores
from gramian import NetworkKSC
from gramian.datasets import make_planted_graph
from gramian.metrics import adjusted_rand


def shuffled(n: int, k: int, degree: float, inside: float = 0.7) -> tuple[Any, np.ndarray]:
    """A planted graph with its nodes in random order, and the compiled loops ready."""
    NetworkKSC(3).fit(make_planted_graph(500, 3, random_state=0)[0])
    adjacency, y = make_planted_graph(n, k, degree=degree, inside=inside, random_state=0)
    place = np.random.default_rng(1).permutation(n).astype(np.int32)
    rows = np.repeat(place, np.diff(adjacency.indptr))
    moved = csr_array((adjacency.data, (rows, place[adjacency.indices])), shape=(n, n))
    moved.sort_indices()
    named = np.empty_like(y)
    named[place] = y
    return moved, named


def grid_like(n: int, edges: int) -> tuple[Any, np.ndarray]:
    """About n nodes of a square grid with so many of its edges; "communities" are tiles of it."""
    NetworkKSC(3).fit(make_planted_graph(500, 3, random_state=0)[0])
    side = int(np.sqrt(n))
    node = np.arange(side * side, dtype=np.int32).reshape(side, side)
    right, down = (node[:, :-1].ravel(), node[:, 1:].ravel()), (node[:-1].ravel(), node[1:].ravel())
    source, target = (np.concatenate([a, b]) for a, b in zip(right, down, strict=True))
    keep = np.random.default_rng(0).random(len(source)) < edges / len(source)
    source, target = source[keep], target[keep]
    ends = np.concatenate([source, target]), np.concatenate([target, source])
    graph = csr_array(coo_array((np.ones(len(ends[0])), ends), shape=(side * side, side * side)))
    graph.sort_indices()
    tile = side // 7 + 1
    return graph, (np.arange(side)[:, None] // tile * 7 + np.arange(side) // tile).ravel()


def ours(data: tuple[Any, np.ndarray], k: int | None) -> tuple[np.ndarray, float, float, int]:
    start = time.process_time()
    model = NetworkKSC(k).fit(data[0])
    return model.labels_, time.process_time() - start, model.modularity_, model.train_size_


def igraph_leiden(data: tuple[Any, np.ndarray]) -> tuple[np.ndarray, float, float, int]:
    import igraph

    random.seed(0)
    start = time.process_time()
    edges = triu(data[0], 1).tocoo()
    graph = igraph.Graph(data[0].shape[0], np.column_stack([edges.row, edges.col]))
    found = graph.community_leiden("modularity")
    return np.array(found.membership), time.process_time() - start, found.modularity, 0


def score(data: tuple[Any, np.ndarray], result: tuple[np.ndarray, float, float, int]) -> Scores:
    labels, cpu, quality, train = result
    return {
        "cpu": round(cpu, 2),
        "ari": adjusted_rand(data[1], labels),
        "q": quality,
        "k": int(labels.max()) + 1,
        "train": train,
        "edges": int(data[0].nnz // 2),
    }


def _case(name: str, question: str, target: str, data: Callable[[], Any], k: int | None, *, peer: bool = True) -> Case:
    sides: dict[str, Callable[[Any], Any]] = {"gramian": partial(ours, k=k)}
    if peer and find_spec("igraph"):
        sides["igraph Leiden"] = igraph_leiden
    return Case(name, question, target, data, sides, score, repeats=1)


_HUNDRED = partial(shuffled, 100_000, 100, 20)
CASES = [
    _case(
        "communities_100k",
        "100 communities of 100,000 nodes, 1,000,000 edges, k given",
        "processor time <= igraph's with its graph, ARI >= 0.98",
        _HUNDRED,
        100,
    ),
    _case(
        "communities_100k_unknown",
        "the same, k unknown",
        "processor time <= igraph's with its graph, k within 2 %",
        _HUNDRED,
        None,
    ),
    _case(
        "communities_100k_20",
        "20 communities of 100,000 nodes, 1,000,000 edges, k given",
        "processor time <= half of igraph's",
        partial(shuffled, 100_000, 20, 20),
        20,
    ),
    _case(
        "communities_1m",
        "50 communities of 1,000,000 nodes, 5,000,000 edges, k given",
        "processor time <= 0.6 of igraph's, Q and ARI not lower, < 2.5 GB",
        partial(shuffled, 1_000_000, 50, 10),
        50,
    ),
    _case(
        "communities_youtube_size",
        "1,134,890 nodes, 2,987,624 edges, 50 planted communities, k given",
        "finishes",
        partial(shuffled, 1_134_890, 50, 2 * 2_987_624 / 1_134_890),
        50,
        peer=False,
    ),
    _case(
        "communities_road_size",
        "1,965,206 nodes, grid-like (5,533,214 directed edges), k = 49 given",
        "finishes",
        partial(grid_like, 1_965_206, 5_533_214 // 2),
        49,
        peer=False,
    ),
    _case(
        "communities_livejournal_size",
        "3,997,962 nodes, 34,681,189 edges, 100 planted communities, k given",
        "finishes",
        partial(shuffled, 3_997_962, 100, 2 * 34_681_189 / 3_997_962),
        100,
        peer=False,
    ),
]
