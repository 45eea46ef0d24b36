"""Genie linkage, against the algorithm of the paper on all pairs of clusters."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.cluster.hierarchy import cut_tree, linkage
from scipy.spatial.distance import cdist

from gramian.clustering.automatic.genie import genie_merges, gini_index, labels_after
from gramian.clustering.automatic.graphs import spanning_tree
from gramian.metrics import adjusted_rand


def naive_genie(rows, k, threshold):
    """Gagolewski, Bartoszuk, Cena (2016), section 3.1: single linkage between all pairs of clusters, O(n³)."""
    D = cdist(rows, rows)
    clusters = [[i] for i in range(len(rows))]
    while len(clusters) > k:
        sizes = sorted(len(c) for c in clusters)
        m = len(sizes)
        differences = sum(abs(a - b) for a in sizes for b in sizes) / 2
        gini = differences / ((m - 1) * sum(sizes))
        pairs = [(a, b) for a in range(m) for b in range(a)]
        if gini > threshold:
            pairs = [(a, b) for a, b in pairs if min(len(clusters[a]), len(clusters[b])) == sizes[0]]
        a, b = min(pairs, key=lambda pair: D[np.ix_(clusters[pair[0]], clusters[pair[1]])].min())
        clusters[b] += clusters[a]
        del clusters[a]
    labels = np.empty(len(rows), int)
    for number, members in enumerate(clusters):
        labels[members] = number
    return labels


@settings(max_examples=25, deadline=None)
@given(seed=st.integers(0, 10**6), n=st.integers(3, 30), threshold=st.sampled_from([0.1, 0.3, 0.5]))
def test_clusters_are_those_of_the_paper(seed, n, threshold):
    rng = np.random.default_rng(seed)
    rows = np.vstack([rng.normal(size=(n, 2)), rng.normal(4, 0.3, (n // 2, 2))])
    edges, _ = spanning_tree(rows)
    order = genie_merges(edges, threshold=threshold)
    assert sorted(order) == list(range(len(rows) - 1))
    for k in (2, 3, 5):
        if k <= len(rows):
            assert adjusted_rand(naive_genie(rows, k, threshold), labels_after(edges, order, k)) == pytest.approx(1)


def test_without_a_threshold_it_is_single_linkage():
    rows = np.random.default_rng(0).normal(size=(60, 2))
    edges, _ = spanning_tree(rows)
    expected = cut_tree(linkage(rows, "single"), n_clusters=[4]).ravel()
    assert adjusted_rand(expected, labels_after(edges, genie_merges(edges, threshold=1.0), 4)) == 1


@given(sizes=st.lists(st.integers(1, 50), min_size=2, max_size=30))
def test_the_gini_index_is_the_mean_difference(sizes):
    m, total = len(sizes), sum(sizes)
    expected = sum(abs(a - b) for a in sizes for b in sizes) / (2 * (m - 1) * total)
    assert gini_index(np.array(sizes)) == pytest.approx(expected)


def test_one_cluster_is_equal_to_itself():
    assert gini_index(np.array([7])) == 0.0
