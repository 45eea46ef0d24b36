"""Every way to cluster finds clusters that lie apart, and the spectral ones are those of a textbook computation."""

import numpy as np
import pytest
from sklearn.cluster import KMeans
from sklearn.datasets import make_blobs

from gramian.clustering.automatic.rows import Rows
from gramian.clustering.automatic.views import WAYS, clusterings, fitting_ways, mixture_parts
from gramian.metrics import adjusted_rand


@pytest.fixture(scope="module")
def blobs():
    X, y = make_blobs(120, centers=[[0, 0, 0], [8, 0, 4], [0, 9, 0]], random_state=0)
    X[np.random.default_rng(0).random(len(X)) < 0.2, 0] = np.nan
    return Rows.of(X, None, 0)[0], y


@pytest.mark.parametrize("name", WAYS)
def test_every_way_finds_blobs_with_any_number(name, blobs):
    rows, y = blobs
    found = clusterings(name, rows, [2, 3], 0)
    assert sorted(found) == [2, 3]
    assert adjusted_rand(y, found[3]) > 0.9
    assert len(np.unique(found[2])) == 2
    assert clusterings(name, rows, [], 0) == {}


@pytest.mark.parametrize("name", ["nearest", "mutual", "continuous", "self_tuning", "sharpened_kernel", "cluster_walk"])
def test_spectral_ways_cluster_the_leading_eigenvectors(name, blobs):
    rows, _ = blobs
    W = rows.gram(name).dense()
    roots = np.sqrt(W.sum(axis=1))
    vectors = np.linalg.eigh(W / roots[:, None] / roots)[1][:, -3:]
    vectors /= np.linalg.norm(vectors, axis=1, keepdims=True)
    expected = KMeans(3, n_init=20, random_state=0).fit_predict(vectors)
    assert adjusted_rand(expected, clusterings(name, rows, [3], 0)[3]) > 0.98


def test_the_mixture_is_that_of_its_clusters(blobs):
    rows, _ = blobs
    model, order = mixture_parts(3, rows, 0)
    labels = clusterings("gaussian_mixture", rows, [3], 0)[3]
    np.testing.assert_array_equal(model.predict(rows.completed), labels)
    assert order[0] == labels[0]
    assert sorted(order) == [0, 1, 2]


def test_a_mixture_needs_few_features_for_its_rows():
    rng = np.random.default_rng(0)
    wide = Rows.of(rng.normal(size=(20, 11)), None, 0)[0]
    assert "gaussian_mixture" not in fitting_ways(wide)
    narrow = Rows.of(rng.normal(size=(20, 10)), None, 0)[0]
    assert fitting_ways(narrow) == list(WAYS)
