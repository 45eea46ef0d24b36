"""Ranking on manifolds against the paper's iteration, Kruskal's graph and the PageRank identity."""

import numpy as np
import pytest
from scipy.sparse.csgraph import connected_components
from scipy.spatial.distance import cdist
from sklearn.datasets import make_moons

from gramian import personalized_pagerank
from gramian.ranking import rank_on_manifold


@pytest.fixture
def X():
    return make_moons(60, noise=0.05, random_state=0)[0]


def papers_graph(X, width):
    """Edges by rising distance, one more at a time, until the graph is connected."""
    D = cdist(X, X)
    for threshold in np.unique(D):
        if connected_components(threshold >= D)[0] == 1:
            break
    W = np.where(threshold >= D, np.exp(-(D**2) / (2 * width**2)), 0)
    np.fill_diagonal(W, 0)
    return W


def papers_iteration(W, y, propagation):
    d = W.sum(axis=1)
    S = W / np.sqrt(np.outer(d, d))
    f = y.astype(float)
    for _ in range(5000):
        f = propagation * S @ f + (1 - propagation) * y
    return f


@pytest.mark.parametrize("seeds", [4, [4, 30, 59]])
def test_against_the_papers_iteration(X, seeds):
    """f ← a S f + (1 − a) y, run to the end, for one query and for several."""
    y = np.zeros(60)
    y[seeds] = 1
    expected = papers_iteration(papers_graph(X, 0.2), y, 0.99)
    np.testing.assert_allclose(rank_on_manifold(X, seeds, width=0.2), expected, atol=1e-12)
    np.testing.assert_allclose(
        rank_on_manifold(cdist(X, X), seeds, width=0.2, metric="precomputed"), expected, atol=1e-12
    )


def test_identity_with_pagerank(X):
    """f_i = π_i √(d_j / d_i) for a single query j, to 1e-12."""
    W = papers_graph(X, 0.3)
    d = W.sum(axis=1)
    for j in (0, 17):
        pi = personalized_pagerank(W, j, restart=0.1, method="direct")
        f = rank_on_manifold(X, j, width=0.3, restart=0.1)
        np.testing.assert_allclose(f, pi * np.sqrt(d[j] / d), atol=1e-12)
        by_option = personalized_pagerank(W, j, restart=0.1, method="direct", normalize="sqrt_degree")
        np.testing.assert_allclose(f, by_option * np.sqrt(d[j]), atol=1e-12)


def test_copies_of_a_sample(X):
    """Distances of zero are edges, not missing ones: a copy of the query is as relevant as any sample can be."""
    doubled = np.vstack([X, X[:3]])
    f = rank_on_manifold(doubled, 0, width=0.2)
    assert np.isfinite(f).all()
    assert set(np.argsort(-f)[:2].tolist()) == {0, 60}
    same = rank_on_manifold(np.ones((4, 2)), 1, width=1.0)
    assert same.argmax() == 1


def test_moons_are_followed():
    """All samples of the query's moon come before any of the other."""
    X, y = make_moons(200, noise=0.03, random_state=1)
    query = int(np.flatnonzero(y == 0)[0])
    order = np.argsort(-rank_on_manifold(X, query, width=0.1))
    assert (y[order[:100]] == 0).mean() > 0.98


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"width": 0.0}, "width=0.0"),
        ({"width": -1}, "width=-1"),
        ({"width": 1e-4}, "pass width >="),
        ({"X": np.zeros((60, 60)), "width": "median", "metric": "precomputed"}, "rule for vectors"),
        ({"metric": "precomputed"}, "precomputed"),
        ({"seeds": 60}, "node 60"),
        ({"seeds": np.eye(60)}, "one set of seeds"),
        ({"restart": 0}, "restart=0"),
    ],
)
def test_refusals(X, change, message):
    arguments = {"X": X, "seeds": 0, "width": 0.3} | change
    with pytest.raises(ValueError, match=message):
        rank_on_manifold(**arguments)


def test_distances_must_be_symmetric(X):
    with pytest.raises(ValueError, match="not symmetric"):
        rank_on_manifold(np.triu(cdist(X, X)), 0, width=0.3, metric="precomputed")
