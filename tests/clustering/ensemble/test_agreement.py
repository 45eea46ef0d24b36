"""What partitions agree on."""

import numpy as np
import pytest

from gramian.clustering.ensemble.agreement import affinities, memberships_of, spectral_labels, unit_memberships
from gramian.metrics import clustering_accuracy


@pytest.fixture
def rng():
    return np.random.default_rng(0)


def test_memberships_are_one_hot(rng):
    """H has a one for each partition's cluster, empty clusters included, and H Hᵀ / M is the co-association."""
    partitions = rng.integers(3, size=(4, 7))
    H = memberships_of(partitions, 5)
    assert H.shape == (7, 20)
    np.testing.assert_array_equal(H.toarray().reshape(7, 4, 5).argmax(axis=2), partitions.T)
    together = (partitions[:, :, None] == partitions[:, None, :]).mean(axis=0)
    F = unit_memberships(H)
    np.testing.assert_allclose((F @ F.T).toarray(), together)


def test_affinities_are_mean_coassociations(rng):
    """Memberships times affinities are each row's mean co-association with each cluster."""
    partitions, labels = rng.integers(3, size=(4, 9)), np.repeat([0, 1, 2], 3)
    H = memberships_of(partitions, 3)
    together = (partitions[:, :, None] == partitions[:, None, :]).mean(axis=0)
    expected = np.stack([together[:, labels == c].mean(axis=1) for c in range(3)], axis=1)
    np.testing.assert_allclose(H @ affinities(H, labels), expected)


def test_spectral_labels_of_noisy_partitions(rng):
    """Partitions that each put a fifth of the rows at random agree on the clusters."""
    y = np.repeat([0, 1, 2], 30)
    partitions = np.array([np.where(rng.random(90) < 0.2, rng.integers(3, size=90), (y + m) % 3) for m in range(9)])
    assert clustering_accuracy(y, spectral_labels(memberships_of(partitions, 3), 3, rng)) > 0.95
