"""New rows follow the vote of the nearest clustered rows, as scikit-learn's classifier has it."""

import numpy as np
import pytest
from sklearn.neighbors import KNeighborsClassifier

from gramian.clustering.automatic.assignment import votes


@pytest.fixture
def clustered():
    rng = np.random.default_rng(0)
    return rng.normal(size=(80, 3)), rng.integers(4, size=80)


def test_shares_are_those_of_a_classifier_by_neighbours(clustered, monkeypatch):
    rows, labels = clustered
    new = np.random.default_rng(1).normal(size=(200, 3))
    expected = KNeighborsClassifier(5).fit(rows, labels).predict_proba(new)
    found = votes(new, rows, labels, 4)
    np.testing.assert_allclose(found, expected, atol=1e-8)
    monkeypatch.setattr("gramian.clustering.automatic.assignment._AT_ONCE", 30)
    np.testing.assert_array_equal(votes(new, rows, labels, 4), found)


def test_the_nearest_row_breaks_ties():
    rows, labels = np.array([[0.0], [1.0], [2.0], [3.0], [9.0]]), np.array([1, 0, 0, 1, 2])
    assert votes(np.array([[-1.0], [3.1]]), rows, labels, 3).argmax(axis=1).tolist() == [1, 1]
    assert votes(np.array([[1.2]]), rows, labels, 3).argmax(axis=1).tolist() == [0]


def test_clustered_rows_keep_their_clusters(clustered):
    rows, labels = clustered
    np.testing.assert_array_equal(votes(rows, rows, labels, 4).argmax(axis=1), labels)
    wide = np.hstack([rows] * 6)  # where distances are computed by products, and equal rows are not at distance 0
    np.testing.assert_array_equal(votes(wide, wide, labels, 4).argmax(axis=1), labels)


def test_fewer_rows_than_voters():
    np.testing.assert_allclose(votes(np.array([[0.4]]), np.array([[0.0], [1.0]]), np.array([0, 1]), 2), [[0.5, 0.5]])
