"""Batches of k-means partitions against plain distances and Lloyd's fixed point."""

import numpy as np
import pytest
from scipy.sparse import csr_array
from sklearn.datasets import make_blobs

from clustering.textbook import base_labels
from gramian import ConsensusClustering
from gramian.clustering.ensemble import partitions
from gramian.clustering.ensemble.partitions import KMeansPartitions
from gramian.metrics import adjusted_rand
from gramian.randomness import spawn


@pytest.fixture
def rng():
    return np.random.default_rng(7)


@pytest.fixture
def X(rng):
    """Rows without structure."""
    return rng.standard_normal((60, 3))


def test_rows_are_with_their_nearest_centre(X):
    """Every partition puts each row to the nearest of its stored centres, by plain distances."""
    model = ConsensusClustering(2, n_partitions=9, random_state=0).fit(X)
    labels, start = base_labels(model), 0
    framed = (X - model.base_.shift) / model.base_.scale
    for batch in model.base_.batches:
        for centers, offsets, columns in zip(batch.centers, batch.offsets, batch.columns, strict=True):
            held = np.isfinite(offsets)
            distances = ((framed[:, None] - centers[held]) ** 2).sum(axis=2)
            np.testing.assert_array_equal(labels[:, start], columns[held][distances.argmin(axis=1)])
            start += 1
    assert start == 9


@pytest.mark.parametrize("subsample", [None, 0.5])
def test_finished_partitions_are_those_of_k_means(subsample, X, monkeypatch):
    """With enough steps the centres are the means of the rows they hold: a fixed point of Lloyd's algorithm."""
    monkeypatch.setattr(partitions, "_MAX_ITER", 100)
    model = ConsensusClustering(2, n_partitions=15, subsample=subsample, random_state=0).fit(X)
    framed = (X - model.base_.shift) / model.base_.scale
    members = model.memberships_.toarray()
    means = (members.T @ framed) / members.sum(axis=0)[:, None]
    for batch in model.base_.batches:
        held = np.isfinite(batch.offsets)
        np.testing.assert_allclose(batch.centers[held], means[batch.columns[held]], atol=1e-12)


def test_many_rows_are_learned_from_a_part(rng, monkeypatch):
    """Centres learned from some rows still partition all of them."""
    monkeypatch.setattr(partitions, "_TRAINING_ROWS", 50)
    monkeypatch.setattr(partitions, "_ROWS_PER_CENTER", 2)
    X, y = make_blobs(600, centers=3, cluster_std=0.6, center_box=(-15, 15), random_state=0)
    lengths, nearest = [], partitions.KMeansBatch.nearest

    def counted(batch, X):
        lengths.append(X.shape[0])
        return nearest(batch, X)

    monkeypatch.setattr(partitions.KMeansBatch, "nearest", counted)
    for subsample in (None, 0.2):
        lengths.clear()
        model = ConsensusClustering(3, n_partitions=60, subsample=subsample, random_state=0).fit(X)
        assert set(lengths) == {50, 600}
        assert model.n_clusters_ == 3
        assert adjusted_rand(y, model.labels_) == 1


def test_empty_clusters_are_left_out(rng):
    """Copies of a few rows leave centres without rows; they have no column in H, and take no new row."""
    X = np.repeat(rng.standard_normal((3, 2)), 20, axis=0)
    model = ConsensusClustering(3, n_partitions=20, min_components=8, max_components=12, random_state=0).fit(X)
    held = [np.isfinite(batch.offsets) for batch in model.base_.batches]
    assert sum(mask.sum() for mask in held) == model.memberships_.shape[1] <= 60
    columns = [batch.columns[mask] for batch, mask in zip(model.base_.batches, held, strict=True)]
    np.testing.assert_array_equal(np.concatenate(columns), np.arange(model.memberships_.shape[1]))


def learned(X, counts, seen=None):
    """Partitions of X and its memberships."""
    models = KMeansPartitions()
    children = spawn(np.random.default_rng(0), len(counts))
    return models, models.fit(X, np.array(counts), seen, children, n_workers=1, advance=lambda n: None)


def test_partitions_are_told_apart_by_their_columns(X):
    """Each partition has columns of its own, as many as it has clusters, and every row is in one cluster of each."""
    told = []
    models = KMeansPartitions()
    H = models.fit(X, np.array([2, 3, 5]), None, spawn(np.random.default_rng(0), 3), n_workers=1, advance=told.append)
    assert sum(told) == 3
    assert H.shape == (60, 10)
    np.testing.assert_array_equal(np.add.reduceat(H.toarray(), [0, 2, 5], axis=1), 1)
    assert (H.sum(axis=0) > 0).all()


def test_new_rows_as_fitted_ones(X):
    """Fitted rows given again, dense or sparse, have the memberships they had; those not seen have them everywhere."""
    models, H = learned(X, [4, 6])
    assert (models.memberships(X, n_workers=1) != H).nnz == 0
    sparse, H = learned(csr_array(X), [4, 6])
    assert (sparse.memberships(csr_array(X), n_workers=1) != H).nnz == 0
    seen = np.zeros((60, 2), bool)
    seen[:40, 0] = seen[20:, 1] = True
    models, H = learned(X, [4, 6], seen)
    np.testing.assert_array_equal(np.diff(H.indptr), seen.sum(axis=1))
    everywhere = models.memberships(X, n_workers=2)
    assert (np.diff(everywhere.indptr) == 2).all()
    assert (H - everywhere.multiply(H)).nnz == 0
