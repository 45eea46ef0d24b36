"""Stability, separation and the comparison with noise, against slow computations and tables without clusters."""

import numpy as np
import pytest
from scipy.sparse import csr_array
from sklearn.datasets import load_iris, load_wine, make_blobs
from sklearn.metrics import adjusted_rand_score

from gramian.clustering.automatic.completion import Completion
from gramian.clustering.automatic.stability import beyond_chance, cluster_stability, separation, stability
from gramian.metrics import modularity


@pytest.fixture
def rng():
    return np.random.default_rng(0)


def _resampled(rng, n, k, times):
    rows = [np.sort(rng.choice(n, n // 2, replace=False)) for _ in range(times)]
    return [(part, rng.integers(k, size=len(part))) for part in rows]


def test_stability_is_the_mean_rand_index_of_a_naive_loop(rng):
    labels = rng.integers(3, size=60)
    resampled = [
        (rows, np.where(rng.random(len(rows)) < 0.2, 0, labels[rows])) for rows, _ in _resampled(rng, 60, 3, 5)
    ]
    total = 0.0
    for rows, others in resampled:
        total += adjusted_rand_score([labels[row] for row in rows], others)
    assert stability(labels, resampled) == pytest.approx(total / 5)


def test_disagreement_is_no_negative_stability():
    assert stability(np.array([0, 0, 1, 1]), [(np.arange(4), np.array([0, 1, 0, 1]))]) == 0.0


def test_cluster_stability_is_the_jaccard_index_of_sets(rng):
    labels = rng.integers(-1, 4, size=50)
    resampled = _resampled(rng, 50, 5, 6)
    expected = []
    for cluster in range(4):
        largest = []
        for rows, others in resampled:
            here = {row for row in rows if labels[row] == cluster}
            # Rows of no cluster are left out.
            groups = [{r for r, o in zip(rows, others, strict=True) if o == g and labels[r] >= 0} for g in set(others)]
            if here:
                largest.append(max(len(here & group) / len(here | group) for group in groups))
        expected.append(np.mean(largest))
    np.testing.assert_allclose(cluster_stability(labels, resampled), expected)


def test_a_cluster_in_no_resample_has_no_stability():
    found = cluster_stability(np.array([0, 0, 1]), [(np.array([0, 1]), np.array([2, 2]))])
    np.testing.assert_array_equal(found, [1.0, 0.0])


def test_separation_is_made_of_modularity_and_silhouette(rng):
    X, labels = make_blobs(40, centers=3, cluster_std=3.0, random_state=0)
    K = np.exp(-((X[:, None] - X) ** 2).sum(axis=2) / 20)
    graph = csr_array(np.triu(rng.random((40, 40)) < 0.2, 1) * 1.0)
    graph = graph + graph.T
    silhouettes = []
    for i in range(40):
        means = [np.mean([K[i, j] for j in range(40) if labels[j] == c and j != i]) for c in range(3)]
        own, other = means[labels[i]], max(means[c] for c in range(3) if c != labels[i])
        silhouettes.append((own - other) / max(own, other))
    degrees = graph.sum(axis=1)
    most = 1 - sum((degrees[labels == c].sum() / degrees.sum()) ** 2 for c in range(3))
    q = max(0.0, modularity(graph, labels))
    expected = (q * q / most * np.mean(silhouettes)) ** (1 / 3)
    assert separation(labels, K, graph) == pytest.approx(expected)


def test_separation_prefers_the_gap_between_clusters(rng):
    X, labels = make_blobs(60, centers=[[0, 0], [9, 9]], random_state=0)
    K = np.exp(-((X[:, None] - X) ** 2).sum(axis=2) / 20)
    graph = csr_array((K > 0.5) * 1.0 - np.eye(60))
    assert separation(labels, K, graph) > separation((X[:, 0] > X[:, 0].mean() + 4).astype(int), K, graph)
    assert separation(np.zeros(60, int), K, graph) == 0.0


def _excess(X, rng, columns=None):
    columns = np.arange(X.shape[1]) if columns is None else columns
    complete = Completion(columns).fit_transform
    return beyond_chance(complete(X), np.isnan(X), columns, complete, rng)


@pytest.mark.parametrize("n", [50, 300])
@pytest.mark.parametrize("d", [1, 2, 6, 20])
def test_noise_has_no_structure(n, d, rng):
    tables = [rng.standard_normal((n, d)), rng.uniform(size=(n, d))]
    assert max(_excess(X, rng) for X in tables) <= 1


def test_correlated_noise_and_noise_with_holes_have_no_structure(rng):
    X = rng.standard_normal((200, 6)) @ rng.standard_normal((6, 6))
    assert _excess(X, rng) <= 1
    X[rng.random(X.shape) < 0.2] = np.nan
    assert _excess(X, rng) <= 1


def test_noise_of_few_values_has_no_structure(rng):
    assert _excess(rng.integers(2, size=(200, 8)).astype(float), rng) <= 1


def test_categories_without_groups_have_no_structure_and_those_of_groups_have(rng):
    columns = np.repeat(np.arange(5), 4)
    drawn = rng.integers(4, size=(300, 5))
    group = rng.integers(3, size=300)
    levels = rng.integers(4, size=(3, 5))
    planted = np.where(rng.random((300, 5)) < 0.7, levels[group], drawn)
    noise, groups = (np.eye(4)[table].reshape(300, 20) for table in (drawn, planted))
    assert _excess(noise, rng, columns) <= 1
    assert _excess(noise, rng) > 1  # not told which features say the same
    assert _excess(groups, rng, columns) > 1


def test_correlated_grades_have_no_structure(rng):
    latent = rng.standard_normal((300, 2)) @ rng.standard_normal((2, 8)) + rng.standard_normal((300, 8))
    assert _excess(np.digitize(latent, [-2, -0.7, 0.7, 2]).astype(float), rng) <= 1


@pytest.mark.parametrize("rate", [0.0, 0.2])
def test_tables_with_clusters_have_structure(rate, rng):
    blobs = make_blobs(120, centers=3, n_features=4, random_state=1)[0]
    for X in (load_iris().data, load_wine().data, blobs):
        assert _excess(np.where(rng.random(X.shape) < rate, np.nan, X), rng) > 1


def test_a_handful_of_rows_has_no_structure(rng):
    assert _excess(rng.standard_normal((7, 2)), rng) == 0.0


@pytest.mark.parametrize("n", [8, 11])
def test_rows_that_are_all_neighbours_have_no_structure(n, rng):
    """Up to eleven rows each is a neighbour of all, so the graphs of all tables are the same one."""
    assert _excess(rng.standard_normal((n, 2)), rng) == pytest.approx(0, abs=1e-6)
