"""Where EM begins: scales of incomplete columns and parameters of clusters."""

import numpy as np
import pytest

from gramian.mixture.starts import cluster_labels, observed_scale, quick_clusters, start_from_labels


@pytest.fixture
def rng():
    return np.random.default_rng(44)


@pytest.mark.parametrize("size", [1e-200, 1.0, 1e200])
def test_scale_of_observed_values(rng, size):
    """Mean and deviation are those of the observed values at any magnitude; equal values are scaled by themselves."""
    X = rng.normal(size=(50, 3)) + 2
    X[rng.random(X.shape) < 0.3] = np.nan
    center, scale = observed_scale(np.column_stack([X * size, np.full(50, -0.1), np.zeros(50)]))
    np.testing.assert_allclose(center[:3] / size, np.nanmean(X, axis=0))
    np.testing.assert_allclose(scale[:3] / size, np.nanstd(X, axis=0))
    assert (center[3], scale[3]) == (-0.1, 0.1)
    assert (center[4], scale[4]) == (0.0, 1.0)
    _, common = observed_scale(X * size, common=True)
    np.testing.assert_allclose(common / size, np.sqrt(np.nanvar(X, axis=0).mean()))


@pytest.mark.parametrize("method", ["kmeans++", "kmeans"])
def test_clusters(rng, method):
    """Far groups are told apart; fewer distinct rows than clusters are no trouble."""
    truth = np.arange(90) % 3
    labels = cluster_labels(rng.normal(size=(90, 2)) + 50.0 * truth[:, None], 3, method, rng)
    assert len(set(zip(labels.tolist(), truth.tolist(), strict=True))) == 3
    assert set(cluster_labels(np.zeros((6, 2)), 4, method, rng)) <= set(range(4))
    assert set(cluster_labels(np.zeros((6, 2)), 1, method, rng)) == {0}


def test_parameters_of_clusters(rng):
    """Weights and means are the clusters'; their covariance has d + 1 rows' worth of that within all clusters."""
    X = rng.normal(size=(40, 2)) + 9.0 * (np.arange(40) % 2)[:, None]
    labels = np.arange(40) % 2
    residuals = [X[labels == k] - X[labels == k].mean(axis=0) for k in (0, 1)]
    pooled = sum(r.T @ r for r in residuals) / 40
    start = start_from_labels(X, labels, 2, "full", 0.0)
    np.testing.assert_allclose(start.weights, 0.5)
    for k, r in enumerate(residuals):
        np.testing.assert_allclose(start.means[k], X[labels == k].mean(axis=0))
        np.testing.assert_allclose(start.covariances[k], (r.T @ r + 3 * pooled) / 23)
    diagonal = start_from_labels(X, labels, 2, "diag", 0.0).covariances
    np.testing.assert_allclose(diagonal, np.einsum("kii->ki", start.covariances))
    np.testing.assert_allclose(start_from_labels(X, labels, 2, "spherical", 0.0).covariances, diagonal.mean(axis=1))
    np.testing.assert_allclose(start_from_labels(X, labels, 2, "tied", 0.5).covariances, pooled + 0.5 * np.eye(2))


@pytest.mark.parametrize("kind", ["full", "tied", "diag", "spherical"])
def test_clusters_without_rows(rng, kind):
    """A component without rows is put at the farthest row, with the weight of one."""
    X = np.vstack([rng.normal(size=(20, 2)), [[30.0, 30.0]]])
    start = start_from_labels(X, np.zeros(21, np.intp), 3, kind, 1e-6)
    np.testing.assert_array_equal(start.means[1], [30.0, 30.0])
    np.testing.assert_allclose(start.weights, np.array([21, 1, 1]) / 23)
    assert all(np.isfinite(part).all() for part in start[:3])


def test_quick_clusters_are_those_of_kmeans(rng):
    X = rng.normal(size=(90, 3)) + 9 * np.eye(3)[np.arange(90) % 3]
    labels = quick_clusters(X, 3, rng)
    assert len(np.unique(np.column_stack([labels, np.arange(90) % 3]), axis=0)) == 3


def test_quick_clusters_of_equal_rows(rng):
    assert set(quick_clusters(np.ones((6, 2)), 4, rng)) <= set(range(4))
