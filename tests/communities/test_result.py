"""Membership is the share of a node's weight that stays in its community."""

import numpy as np


def test_membership(divided):
    found, _ = divided
    graph, n = found.edges.adjacency.toarray(), len(found.labels)
    for node in range(n):
        own = sum(graph[node, other] for other in range(n) if found.labels[other] == found.labels[node])
        assert np.isclose(found.membership[node], own / graph[node].sum())
    assert found.membership.min() > 0.4
