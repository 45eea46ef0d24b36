"""What the views see of rows, against the definitions on full matrices."""

import numpy as np
import pytest

from gramian.clustering.automatic.rows import Rows, cluster_kernel
from gramian.kernels import NeighborGraph


@pytest.fixture(scope="module")
def table():
    rng = np.random.default_rng(0)
    X = np.vstack([rng.normal(size=(30, 3)), rng.normal(5, 1, (30, 3))])
    X[rng.random(X.shape) < 0.1] = np.nan
    return X


@pytest.fixture(scope="module")
def rows(table):
    return Rows.of(table, None, 0)[0]


def test_similarities_are_the_cluster_kernel(table, rows):
    K = cluster_kernel(len(table), 0).fit(table)(table)
    np.testing.assert_allclose(rows.similarities.dense(), K, atol=1e-5)
    assert rows.gram("cluster_walk") is rows.similarities


def test_sharpened_keeps_the_most_similar_rows(rows, monkeypatch):
    K = rows.similarities.dense()
    expected = np.zeros_like(K)
    for i in range(60):
        for j in sorted((j for j in range(60) if j != i), key=lambda j: -K[i, j])[:20]:
            expected[i, j] = expected[j, i] = K[i, j]
    np.testing.assert_allclose(rows.sharpened.dense(), expected)
    monkeypatch.setattr("gramian.clustering.automatic.rows._STRIP", 7)
    np.testing.assert_allclose(Rows(rows.features, rows.restarts, rows.completed).sharpened.dense(), expected)


def test_neighbours_are_those_of_completed_rows(rows):
    Z = rows.completed
    np.testing.assert_array_equal(rows.neighbors.dense(), NeighborGraph(20).fit(Z)(Z).toarray())


def test_a_part_has_its_rows_and_half_of_the_mixtures(rows):
    kept, part = rows.part(np.random.default_rng(0))
    assert len(part) == len(kept) == 42
    assert len(np.unique(part.restarts)) == 6
    np.testing.assert_array_equal(part.completed, rows.completed[kept])
    seen = np.isin(rows.restarts, part.restarts)
    np.testing.assert_array_equal(part.features, rows.features[kept][:, seen])
    again, _ = rows.part(np.random.default_rng(0))
    np.testing.assert_array_equal(again, kept)
