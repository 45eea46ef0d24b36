"""Graphs for the ranking tests, and personalised PageRank by the textbook: a dense transition matrix and a solve."""

import os
from pathlib import Path

import numpy as np

from gramian.datasets import read_edgelist

DANGLING = ("uniform", "seeds", "self")
DATA = Path(os.environ.get("GRAMIAN_DATA", Path(__file__).resolve().parents[3] / "shared" / "data"))
NETWORKS = sorted((DATA / "networks").glob("*.edgelist.gz"))


def textbook(A, s, restart, dangling="uniform"):
    """Solve (I − (1 − α) Sᵀ) π = α s with every row of S written out."""
    A = np.asarray(A, float)
    n = len(A)
    S = np.zeros((n, n))
    for i, row in enumerate(A):
        if row.sum() > 0:
            S[i] = row / row.sum()
        elif dangling == "self":
            S[i, i] = 1
        else:
            S[i] = 1 / n if dangling == "uniform" else s
    return np.linalg.solve(np.eye(n) - (1 - restart) * S.T, restart * s)


def random_graph(rng, n=30, *, directed=False, weighted=True, density=0.1):
    """With an isolated node, a dangling one and, usually, several components."""
    A = (rng.random((n, n)) < density) * (rng.random((n, n)) if weighted else 1.0)
    if not directed:
        A = np.maximum(A, A.T)
    A[-1] = A[:, -1] = 0
    if directed:
        A[-2] = 0
    return A


def read_network(path):
    """The adjacency matrix of a stored network; the file says whether it is directed."""
    import gzip

    with gzip.open(path, "rt") as lines:
        directed = any(line.startswith("# directed") for line in (next(lines), next(lines), next(lines)))
    return read_edgelist(path, directed=directed).adjacency, directed
