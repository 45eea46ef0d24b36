"""Discs of communities do not overlap, nodes stay in their disc, and neighbours are near each other."""

import numpy as np
from scipy.sparse import csr_array

from gramian.communities.layout import MOST_NODES, lay_out, place_discs, place_nodes


def test_discs_do_not_overlap():
    rng = np.random.default_rng(0)
    for k in (1, 2, 7, 40):
        weights = rng.random((k, k)) * (rng.random((k, k)) < 0.3)
        radii = np.sqrt(rng.integers(1, 200, k))
        spots = place_discs(weights + weights.T, radii, rng)
        far = np.sqrt(((spots[:, None] - spots[None, :]) ** 2).sum(axis=2))
        np.fill_diagonal(far, np.inf)
        assert (far >= 0.93 * (radii[:, None] + radii[None, :])).all()


def test_joined_discs_are_nearer():
    weights = np.zeros((6, 6))
    weights[[0, 1, 2, 3, 4], [1, 2, 3, 4, 5]] = 1  # a chain
    spots = place_discs(weights + weights.T, np.ones(6), np.random.default_rng(0))
    far = np.sqrt(((spots[:, None] - spots[None, :]) ** 2).sum(axis=2))
    joined = weights + weights.T > 0
    assert far[joined].mean() < far[~joined & ~np.eye(6, dtype=bool)].mean()


def test_nodes_stay_in_their_disc_and_near_neighbours(divided):
    found, _ = divided
    spots, discs = found.layout.nodes, found.layout.discs
    own = discs[found.labels - 1]
    assert (np.sqrt(((spots - own[:, :2]) ** 2).sum(axis=1)) <= own[:, 2]).all()
    np.testing.assert_allclose(discs[:, 2], np.sqrt(np.bincount(found.labels)[1:]))
    ring = csr_array(np.roll(np.eye(30), 1, axis=1) + np.roll(np.eye(30), -1, axis=1))
    spots = place_nodes(ring, np.zeros((30, 2)), np.random.default_rng(0))
    far = np.sqrt(((spots[:, None] - spots[None, :]) ** 2).sum(axis=2))
    assert far[ring.toarray() > 0].mean() < 0.6 * far.mean()


def test_the_weight_between_communities_is_counted(divided):
    found, _ = divided
    graph, labels = found.edges.adjacency.toarray(), found.labels
    k = labels.max()
    slow = [
        [graph[np.ix_(labels == a, labels == b)].sum() * (a != b) for b in range(1, k + 1)] for a in range(1, k + 1)
    ]
    np.testing.assert_allclose(found.layout.between, slow)


def test_large_networks_have_discs_only_and_repeat():
    n = MOST_NODES + 2
    graph = csr_array((np.ones(2), ([0, 1], [1, 0])), shape=(n, n))
    labels = np.where(np.arange(n) < 2, 1, 0)
    found, again = lay_out(graph, labels), lay_out(graph, labels)
    assert (found.nodes.shape, found.discs.shape) == ((0, 2), (1, 3))
    np.testing.assert_array_equal(found.discs, again.discs)
