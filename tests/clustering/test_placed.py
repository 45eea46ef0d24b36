"""New samples get the cluster of the nearest centre in the embedding."""

import numpy as np
import pytest

from gramian import RankedClustering, SpectralClustering
from gramian.clustering.placed import PlacedClusters, warn_isolated


class Placed(PlacedClusters):
    """Samples are placed where they lie; those beyond 10 are similar to none."""

    def __init__(self, centers, by_direction):
        self.cluster_centers_ = np.asarray(centers, float)
        self.by_direction = by_direction

    def _place(self, X):
        return X, np.abs(X).max(axis=1) > 10

    @property
    def _by_direction(self):
        return self.by_direction


@pytest.mark.parametrize("by_direction", [False, True])
def test_nearest_centre(by_direction):
    """By distance or by angle, as computed one pair at a time; ``transform`` is the placement."""
    rng = np.random.default_rng(0)
    X, centers = rng.normal(size=(40, 2)), np.array([[3.0, 0.0], [0.2, 0.2], [-1.0, 2.0]])
    model = Placed(centers, by_direction)
    if by_direction:
        cost = [[-x @ c / np.sqrt((x @ x) * (c @ c)) for c in centers] for x in X]
    else:
        cost = [[np.sum((x - c) ** 2) for c in centers] for x in X]
    expected = np.argmin(cost, axis=1)
    assert len(set(expected)) == 3
    np.testing.assert_array_equal(model.predict(X), expected)
    np.testing.assert_array_equal(model.transform(X), X)


def test_the_two_ways_differ():
    """A short row may be nearest to one centre and point to another."""
    X, centers = np.array([[0.1, 0.0]]), [[5.0, 0.0], [0.0, 0.1]]
    assert Placed(centers, by_direction=False).predict(X) == [1]
    assert Placed(centers, by_direction=True).predict(X) == [0]


def test_samples_similar_to_none():
    """They have label −1, and a warning counts them."""
    model = Placed([[0.0, 0.0], [5.0, 5.0]], by_direction=False)
    with pytest.warns(UserWarning, match="2 samples have no similarity to any other and label -1; widen the kernel"):
        labels = model.predict(np.array([[0.0, 1.0], [99.0, 0.0], [4.0, 5.0], [0.0, -99.0]]))
    np.testing.assert_array_equal(labels, [0, -1, 1, -1])
    with pytest.warns(UserWarning, match="1 sample has no similarity"):
        warn_isolated(1)
    warn_isolated(0)


@pytest.mark.parametrize("model", [SpectralClustering(2, kernel="rbf"), RankedClustering(2, kernel="rbf")])
def test_estimators_place_fitted_samples_where_they_are(model):
    """``transform`` of the fitted rows is ``embedding_`` and ``predict`` is ``labels_``."""
    rng = np.random.default_rng(1)
    X = np.vstack([rng.normal(size=(20, 2)), rng.normal(size=(20, 2)) + 8])
    model.set_params(random_state=0).fit(X)
    np.testing.assert_allclose(model.transform(X), model.embedding_, atol=1e-8)
    np.testing.assert_array_equal(model.predict(X), model.labels_)
