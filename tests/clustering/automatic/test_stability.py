"""Stability of clusterings and of single clusters, against slow computations."""

import numpy as np
import pytest
from sklearn.metrics import adjusted_rand_score

from gramian.clustering.automatic.stability import cluster_stability, stability


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
