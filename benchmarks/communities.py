"""How good are the communities of ``NetworkKSC``, beside those of Leiden, Louvain, Infomap and others?

``python -m benchmarks.communities`` prints a table and writes ``benchmarks/communities.md``: LFR graphs of 1,000 nodes
(degree exponent 3, size exponent 1.5, mean degree 15, largest 50, communities of 20 to 100) with mixing μ = 0.1 to 0.6,
and labelled networks from the folder of ``--data``. Peers are igraph's; their graph object is built within the clock.
Leiden is run to convergence once; as the best (by modularity) of as many runs as numbers of communities were tried; and
as the best of the runs that fit into the processor time of ``NetworkKSC``.
"""

from __future__ import annotations

import argparse
import csv
import gzip
import random
import sys
import time
import warnings
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path
from typing import Any

import igraph
import networkx
import numpy as np
from scipy.sparse import csr_array, triu

from gramian import NetworkKSC, SpectralClustering
from gramian.datasets import make_planted_graph, read_edgelist
from gramian.metrics import adjusted_rand, conductance, modularity, normalized_mutual_info

ROOT = Path(__file__).resolve().parents[1]
DATA = ROOT.parent / "shared" / "data"
TABLE = ROOT / "benchmarks" / "communities.md"
LABELLED = ("karate", "football", "polbooks", "polblogs", "email_eu_core")
MIXING = (0.1, 0.2, 0.3, 0.4, 0.5, 0.6)
COLUMNS = ("k", "ARI", "NMI", "Q", "conductance", "seconds")

Labels = np.ndarray
Row = dict[str, float]


def lfr(mixing: float, seed: int, n: int = 1000) -> tuple[Any, Labels]:
    """An LFR graph and its communities; seeds on which the generator fails are passed over by the caller."""
    graph = networkx.LFR_benchmark_graph(
        n, 3, 1.5, mixing, average_degree=15, max_degree=50, min_community=20, max_community=100, seed=seed
    )
    graph.remove_edges_from(networkx.selfloop_edges(graph))
    y = np.empty(n, int)
    for number, nodes in enumerate(sorted({tuple(sorted(graph.nodes[v]["community"])) for v in graph})):
        y[list(nodes)] = number
    return csr_array(networkx.to_scipy_sparse_array(graph, nodelist=range(n), dtype=float, format="csr")), y


def lfr_graphs(mixing: float, count: int) -> Iterator[tuple[Any, Labels]]:
    seed = 100
    while count:
        seed += 1
        try:
            yield lfr(mixing, seed)
        except networkx.ExceededMaxIterations:
            continue
        count -= 1


def labelled(name: str, folder: Path) -> tuple[Any, Labels]:
    """A network and the labels of its nodes; the last column of the file of labels."""
    adjacency, nodes = read_edgelist(folder / "networks" / f"{name}.edgelist.gz")
    with gzip.open(folder / "networks" / f"{name}.labels.csv.gz", "rt") as lines:
        names = {row[0]: row[-1] for row in list(csv.reader(lines))[1:]}
    adjacency.setdiag(0)  # self loops count for no method, so they must not count in modularity
    adjacency.eliminate_zeros()
    return adjacency, np.array([names[str(node)] for node in nodes])


def as_igraph(adjacency: Any) -> igraph.Graph:
    edges = triu(adjacency, 1).tocoo()
    graph = igraph.Graph(adjacency.shape[0], np.column_stack([edges.row, edges.col]))
    graph.es["weight"] = edges.data
    return graph


def by_igraph(method: str, adjacency: Any, **options: Any) -> Labels:
    random.seed(0)  # igraph draws from Python's generator
    name = {"infomap": "edge_weights"}.get(method, "weights")
    found = getattr(as_igraph(adjacency), f"community_{method}")(**{name: "weight"}, **options)
    return np.array((found.as_clustering() if hasattr(found, "as_clustering") else found).membership)


def leiden(adjacency: Any, runs: int = 1, seconds: float = np.inf) -> Labels:
    """The partition of largest modularity of so many converged runs, or of those that begin within the time."""
    start = time.process_time()
    graph, best = as_igraph(adjacency), None
    random.seed(0)
    while runs and (best is None or time.process_time() - start < seconds):
        found = graph.community_leiden("modularity", weights="weight", n_iterations=-1)
        best = found if best is None or found.modularity > best.modularity else best
        runs -= 1
    return np.array(best.membership)  # type: ignore[union-attr]


def judged(adjacency: Any, y: Labels, method: Callable[[Any], Labels]) -> tuple[Row, Labels]:
    start = time.process_time()
    labels = method(adjacency)
    seconds = time.process_time() - start
    row = {
        "k": float(len(np.unique(labels[labels >= 0]))),
        "ARI": adjusted_rand(y, labels),
        "NMI": normalized_mutual_info(y, labels),
        "Q": modularity(adjacency, labels),
        "conductance": float(conductance(adjacency, labels).mean()),
        "seconds": seconds,
    }
    return row, labels


def compared(adjacency: Any, y: Labels) -> dict[str, Row]:
    """Every method on one network."""
    k = len(np.unique(y))
    fitted: dict[str, NetworkKSC] = {}

    def ours(network: Any, name: str, **options: Any) -> Labels:
        fitted[name] = NetworkKSC(**options).fit(network)
        return fitted[name].labels_

    rows: dict[str, Row] = {}
    rows["NetworkKSC"] = judged(adjacency, y, partial(ours, name="own"))[0]
    tried = len(fitted["own"].selection_["n_clusters"])
    rows["NetworkKSC, plain"] = judged(adjacency, y, partial(ours, name="plain", refine=False))[0]
    rows["NetworkKSC, k given"] = judged(adjacency, y, partial(ours, name="given", n_clusters=k))[0]
    rows["NetworkKSC, k given, plain"] = judged(
        adjacency, y, partial(ours, name="given plain", n_clusters=k, refine=False)
    )[0]
    rows["Leiden"] = judged(adjacency, y, leiden)[0]
    rows["Leiden, best of as many runs"] = judged(adjacency, y, partial(leiden, runs=tried))[0]
    same_time = partial(leiden, runs=10**6, seconds=rows["NetworkKSC"]["seconds"])
    rows["Leiden, best in the same time"] = judged(adjacency, y, same_time)[0]
    for name, method in (("Louvain", "multilevel"), ("Infomap", "infomap"), ("label propagation", "label_propagation")):
        rows[name] = judged(adjacency, y, partial(by_igraph, method))[0]

    def spectral(network: Any) -> Labels:
        return SpectralClustering(k, kernel="precomputed", random_state=0).fit(network).labels_

    rows["SpectralClustering, k given"] = judged(adjacency, y, spectral)[0]
    return rows


def placement(adjacency: Any, seed: int = 0) -> float:
    """A tenth of the nodes hidden and placed by ``predict``: share in their community of the full fit."""
    full = NetworkKSC().fit(adjacency)
    hidden = np.random.default_rng(seed).random(adjacency.shape[0]) < 0.1
    model = NetworkKSC(full.n_clusters_).fit(adjacency[~hidden][:, ~hidden])
    placed = model.predict(adjacency[hidden][:, ~hidden])
    table = np.zeros((int(model.labels_.max()) + 2, int(full.labels_.max()) + 2))
    np.add.at(table, (model.labels_, full.labels_[~hidden]), 1)
    return float((np.argmax(table, axis=1)[placed] == full.labels_[hidden]).mean())


def mean_rows(parts: list[dict[str, Row]]) -> dict[str, Row]:
    return {name: {c: float(np.mean([part[name][c] for part in parts])) for c in COLUMNS} for name in parts[0]}


def table(title: str, rows: dict[str, Row]) -> str:
    lines = [f"## {title}", "", "| method | " + " | ".join(COLUMNS) + " |", "|---|" + "---:|" * len(COLUMNS)]
    for name, row in rows.items():
        cells = [f"{row['k']:.1f}", *(f"{row[c]:.3f}" for c in COLUMNS[1:])]
        lines.append(f"| {name} | " + " | ".join(cells) + " |")
    return "\n".join([*lines, ""])


def main(arguments: list[str]) -> int:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.communities", description="Communities of networks.")
    parser.add_argument("--graphs", type=int, default=10, help="LFR graphs for each mixing")
    parser.add_argument("--data", type=Path, default=DATA, help="folder with the labelled networks")
    parser.add_argument("--out", type=Path, default=TABLE)
    given = parser.parse_args(arguments)
    warnings.simplefilter("ignore")
    NetworkKSC(3).fit(make_planted_graph(300, 3, random_state=0)[0])  # compiled outside the clock
    parts = [f"# Communities of networks\n\n{__doc__.split(chr(10), 2)[2].strip()}\n\nSeconds are processor time.\n"]
    for name in LABELLED:
        if (given.data / "networks" / f"{name}.labels.csv.gz").exists():
            adjacency, y = labelled(name, given.data)
            known = f"{name}: {len(y)} nodes, {len(np.unique(y))} labels"
            parts.append(table(known, compared(adjacency, y)))
            print(parts[-1], flush=True)
    placed = []
    for mixing in MIXING:
        graphs = list(lfr_graphs(mixing, given.graphs))
        parts.append(table(f"LFR, μ = {mixing}: mean of {len(graphs)}", mean_rows([compared(*g) for g in graphs])))
        print(parts[-1], flush=True)
        if mixing <= 0.3:
            shares = [placement(adjacency) for adjacency, _ in graphs]
            placed.append(f"| LFR, μ = {mixing} | {np.mean(shares):.3f} | {min(shares):.3f} |")
    for k, degree in ((10, 20), (20, 20)):
        adjacency = make_planted_graph(10_000, k, degree=degree, random_state=0)[0]
        placed.append(f"| planted, 10,000 nodes, {k} communities | {placement(adjacency):.3f} | |")
    header = [
        "## New nodes",
        "",
        "A tenth of the nodes hidden, placed by `predict`, in their community of the full fit.",
        "",
    ]
    parts.append("\n".join([*header, "| network | mean | least |", "|---|---:|---:|", *placed, ""]))
    print(parts[-1], flush=True)
    given.out.write_text("\n".join(parts))
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
