"""Communities of real networks: the published table of BAF-KSC, and the levels of MH-KSC on PGP.

Mall, Langone and Suykens (2013) compare BAF-KSC with Louvain, Infomap and CNM on eight networks; the table is quoted as
the lecture gives it. Epinions is not available; the others are read from ``--data`` as far as they are there. Beside
the published figures stand the peers run here (igraph) and our model as published (BAF, at most 5,000 training nodes,
10 communities at most as in the published choices, no refinement), and with the number of communities of the largest
modularity, plain and refined. Published conductances follow a
definition that the source does not give, a hundredth of the textbook's, so they cannot be compared.

MH-KSC (Mall, Langone and Suykens, 2014) shows PGP at four levels beside Louvain, Infomap and OSLOM, which have one
scale each, without figures. OSLOM has no installable build and is not run.
"""

from __future__ import annotations

import random
import sys
import time
import warnings
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
from scipy.sparse import triu

from gramian import MultilevelKSC, NetworkKSC
from gramian.datasets import read_edgelist
from gramian.metrics import conductance, modularity, variation_of_information
from reproduce.table import Experiment, Options, Record, Task, markdown, select

PUBLISHED = {
    "Openflights": ((5, 0.533, 0.002), (109, 0.61, 0.02), (18, 0.58, 0.005), (84, 0.60, 0.016)),
    "PGP": ((8, 0.58, 0.002), (105, 0.88, 0.045), (84, 0.87, 0.03), (193, 0.85, 0.041)),
    "Metabolic": ((10, 0.22, 0.028), (10, 0.43, 0.03), (41, 0.41, 0.05), (11, 0.42, 0.021)),
    "HepTh": ((6, 0.45, 0.0004), (172, 0.65, 0.004), (171, 0.3, 0.004), (6, 0.423, 0.0004)),
    "HepPh": ((5, 0.56, 0.0004), (82, 0.72, 0.007), (69, 0.62, 0.06), (6, 0.48, 0.0007)),
    "Enron": ((10, 0.4, 0.002), (1272, 0.62, 0.05), (1099, 0.37, 0.27), (6, 0.25, 0.0045)),
    "Condmat": ((6, 0.28, 0.0002), (1030, 0.79, 0.03), (1086, 0.79, 0.025), (8, 0.38, 0.0003)),
}
"""Network → clusters, modularity and conductance of BAF-KSC, Louvain, Infomap and CNM."""
FILES = {
    "Openflights": "openflights", "PGP": "pgp", "Metabolic": "celegans_metabolic", "HepTh": "ca_hepth",
    "HepPh": "ca_hepph", "Enron": "email_enron", "Condmat": "ca_condmat",
}  # fmt: skip
AS_PUBLISHED, PLAIN, DEFAULT = "BAF-KSC", "NetworkKSC, plain", "NetworkKSC, refined"
PEERS = {"Louvain": "multilevel", "Infomap": "infomap", "CNM": "fastgreedy"}
MOST = 10
"""Communities at most, as in the published column of BAF-KSC."""


def network(name: str, folder: Path) -> Any:
    """The adjacency of a network without self loops and weights."""
    adjacency, _ = read_edgelist(folder / "networks" / f"{FILES[name]}.edgelist.gz")
    adjacency.setdiag(0)
    adjacency.eliminate_zeros()
    adjacency.data[:] = 1.0
    return adjacency


def by_igraph(method: str, adjacency: Any) -> np.ndarray:
    """Communities of one of igraph's methods."""
    import igraph

    random.seed(0)  # igraph draws from Python's generator
    edges = triu(adjacency, 1).tocoo()
    graph = igraph.Graph(adjacency.shape[0], np.column_stack([edges.row, edges.col]))
    found = getattr(graph, f"community_{method}")()
    return np.array((found.as_clustering() if hasattr(found, "as_clustering") else found).membership)


def _ours(adjacency: Any, **options: Any) -> np.ndarray:
    return NetworkKSC(**options).fit(adjacency).labels_


def compared(name: str, folder: Path) -> list[Record]:
    """Every method on one network."""
    adjacency = network(name, folder)
    methods: dict[str, Callable[[Any], np.ndarray]] = {
        AS_PUBLISHED: partial(_ours, criterion="baf", max_train=5000, max_clusters=MOST, refine=False),
        PLAIN: partial(_ours, criterion="modularity", refine=False),
        DEFAULT: partial(_ours, criterion="modularity"),
        **{peer: partial(by_igraph, method) for peer, method in PEERS.items()},
    }
    records = []
    for method, find in methods.items():
        start = time.process_time()
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", UserWarning)  # a subset of 5,000 falls apart, and says so
            labels = find(adjacency)
        records.append(_record(name, method, adjacency, labels, time.process_time() - start))
    return records


def levels(folder: Path) -> list[Record]:
    """Four levels of PGP from fine to coarse, and their distance to the peers' partitions."""
    adjacency = network("PGP", folder)
    start = time.process_time()
    model = MultilevelKSC(100).fit(adjacency)
    seconds = time.process_time() - start
    peers = {peer: by_igraph(method, adjacency) for peer, method in PEERS.items() if peer != "CNM"}
    chosen = np.unique(np.linspace(0, len(model.levels_) - 1, 4).astype(int))
    records = []
    for level in chosen:
        labels = model.labels_at(int(level))
        record = _record("PGP levels", f"MH-KSC, level {level}", adjacency, labels, seconds)
        records.append(record | {f"vi_{p}": variation_of_information(labels, q) for p, q in peers.items()})
    for peer, labels in peers.items():
        record = _record("PGP levels", peer, adjacency, labels, 0.0)
        records.append(record | {f"vi_{p}": variation_of_information(labels, q) for p, q in peers.items()})
    return records


def _record(name: str, method: str, adjacency: Any, labels: np.ndarray, seconds: float) -> Record:
    return {
        "dataset": name, "run": 0, "method": method, "clusters": len(np.unique(labels[labels >= 0])),
        "modularity": modularity(adjacency, labels), "conductance": float(conductance(adjacency, labels).mean()),
        "seconds": seconds,
    }  # fmt: skip


def tasks(options: Options, runs: int) -> Iterator[Task]:
    for name, file in FILES.items():
        if options.datasets is not None and name not in options.datasets:
            continue
        if not (options.data and (options.data / "networks" / f"{file}.edgelist.gz").exists()):
            print(f"{name} left out: networks/{file}.edgelist.gz is not in the folder named by --data", file=sys.stderr)
            continue
        yield partial(compared, name, options.data)
        if name == "PGP":
            yield partial(levels, options.data)


def report(records: list[Record]) -> str:
    header = ("network", "method", "published Cl / Q / Con", "Cl", "Q", "Con, textbook mean", "s")
    lines = []
    for name, published in PUBLISHED.items():
        known = dict(zip((AS_PUBLISHED, *PEERS), published, strict=True))
        for record in select(records, dataset=name):
            then = known.get(record["method"])
            shown = "" if then is None else f"{then[0]} / {then[1]:g} / {then[2]:g}"
            lines.append((name, record["method"], shown, *_figures(record)))
    parts = [markdown(header, lines)] if lines else []
    if found := select(records, dataset="PGP levels"):
        header = ("PGP", "Cl", "Q", "Con", "s", "VI to Louvain", "VI to Infomap")
        lines = [(r["method"], *_figures(r), f"{r['vi_Louvain']:.2f}", f"{r['vi_Infomap']:.2f}") for r in found]
        parts.append(markdown(header, lines))
    return "\n\n".join(parts)


def _figures(record: Record) -> tuple[str, ...]:
    return (
        str(record["clusters"]),
        f"{record['modularity']:.3f}",
        f"{record['conductance']:.3f}",
        f"{record['seconds']:.1f}",
    )


EXPERIMENT = Experiment(
    name="ksc_networks",
    title="Communities of networks: BAF-KSC, Louvain, Infomap, CNM; levels of PGP",
    runs=1,
    tasks=tasks,
    report=report,
    names_ensemble=False,
)
