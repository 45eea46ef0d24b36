"""Networks that the tests of this folder share."""

import networkx as nx
import numpy as np
from scipy.sparse import csr_array


def weighted_graph(rng, n=60, density=0.1):
    """A symmetric CSR matrix of random weights without self loops."""
    A = np.triu(rng.random((n, n)) * (rng.random((n, n)) < density), 1)
    return csr_array(A + A.T)


def cliques(count, size):
    """Complete graphs that are not joined."""
    return csr_array(np.kron(np.eye(count), np.ones((size, size)) - np.eye(size)))


def karate():
    """Zachary's club, unweighted."""
    return nx.to_scipy_sparse_array(nx.karate_club_graph(), weight=None, dtype=float, format="csr")
