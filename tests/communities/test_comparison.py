"""Other methods are judged as ours is, and networks joined at random keep their degrees."""

import builtins
import random

import igraph
import numpy as np
from scipy.sparse import csr_array

from gramian.communities.comparison import by_igraph, joined_at_random, judged


def test_numbers_of_igraph_are_igraphs(divided):
    found, _ = divided
    names = {name: i for i, name in enumerate(found.edges.nodes)}
    net = igraph.Graph([(i, j) for i, j in found.edges.ends.T], n=len(names))
    own = judged("gramian", found.edges.adjacency, found.labels)
    assert np.isclose(own.modularity, net.modularity(found.labels - 1))
    leiden, louvain = by_igraph(found.edges.adjacency, 0)
    assert (leiden.method, louvain.method) == ("Leiden", "Louvain")
    random.seed(3)
    best = max(net.community_leiden("modularity", n_iterations=-1).modularity for _ in range(5))
    assert np.isclose(leiden.modularity, best, atol=0.02)


def test_without_igraph_there_is_nothing_to_compare(divided, monkeypatch):
    real = builtins.__import__

    def refuse(name, *rest, **options):
        if name == "igraph":
            raise ImportError(name)
        return real(name, *rest, **options)

    monkeypatch.setattr(builtins, "__import__", refuse)
    assert by_igraph(divided[0].edges.adjacency, 0) is None


def test_nodes_without_edges_are_no_community():
    graph = csr_array(np.array([[0, 1, 0], [1, 0, 0], [0, 0, 0.0]]))
    found = judged("x", graph, np.array([1, 1, 0]))
    assert (found.communities, found.modularity, found.conductance) == (1, 0.0, 0.0)
    assert [other.communities for other in by_igraph(graph, 0)] == [1, 1]


def test_random_networks_keep_degrees(divided):
    graph = divided[0].edges.adjacency
    other = joined_at_random(graph, np.random.default_rng(0))
    assert abs(other - other.T).max() == 0
    assert not other.diagonal().any()
    lost = graph.sum(axis=1) - other.sum(axis=1)
    assert lost.min() >= 0
    assert 0 <= lost.sum() / graph.sum() < 0.1
    assert (other != graph).nnz > graph.nnz / 2
