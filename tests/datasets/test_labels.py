"""Data whose labels say nothing: the construction of their source, and that neighbours mislead."""

import numpy as np
import pytest
from scipy.spatial.distance import cdist

from gramian.datasets import make_adversarial, make_random_labels


@pytest.mark.parametrize("make", [make_adversarial, make_random_labels], ids=lambda make: make.__name__)
def test_seeds_repeat_and_sizes_fit(make):
    """A seed repeats the data, another one changes it, and both classes have half of the samples."""
    X, y = make(40, random_state=1)
    again, other = make(40, random_state=1), make(40, random_state=2)
    np.testing.assert_array_equal(X, again[0])
    np.testing.assert_array_equal(y, again[1])
    assert not np.array_equal(X, other[0])
    np.testing.assert_array_equal(np.bincount(y), [20, 20])
    np.testing.assert_array_equal(make(40, random_state=np.random.default_rng(1))[0], X)


def test_adversarial_pairs_lie_close():
    """Sample i + n/2 is sample i of the unit square, moved by Gaussian noise of the asked deviation."""
    X, _ = make_adversarial(40_000, noise=0.03, random_state=0)
    first, second = X[:20_000], X[20_000:]
    assert first.min() >= 0
    assert first.max() <= 1
    np.testing.assert_allclose(first.mean(axis=0), 0.5, atol=0.01)
    assert np.std(second - first) == pytest.approx(0.03, rel=0.02)


def test_the_nearest_neighbour_of_an_adversarial_point_has_the_other_label():
    """Most points are nearest to their partner, which has the other class."""
    X, y = make_adversarial(80, random_state=0)
    distances = cdist(X, X)
    np.fill_diagonal(distances, np.inf)
    assert (y[distances.argmin(axis=1)] != y).mean() > 0.75


def test_random_labels_do_not_depend_on_the_points():
    """Class means of a large draw are equal, and class sizes differ by at most one."""
    X, y = make_random_labels(30_001, n_features=2, n_classes=3, random_state=0)
    assert np.ptp(np.bincount(y)) == 1
    means = np.array([X[y == g].mean(axis=0) for g in range(3)])
    assert np.abs(means).max() < 0.05


def test_impossible_sizes_are_refused():
    """An odd number of pairs, no feature and negative noise are named."""
    with pytest.raises(ValueError, match="n_samples=7 cannot be split into pairs"):
        make_adversarial(7)
    with pytest.raises(ValueError, match="noise=-1 is not a standard deviation"):
        make_adversarial(8, noise=-1)
    with pytest.raises(ValueError, match="n_features=0 is too small"):
        make_random_labels(8, n_features=0)
    with pytest.raises(ValueError, match="n_classes=0 is too small"):
        make_random_labels(8, n_classes=0)
