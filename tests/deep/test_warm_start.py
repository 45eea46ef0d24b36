"""Labels for the first steps."""

import numpy as np
import pytest

from gramian.deep import warm_start
from gramian.deep.warm_start import given_labels, spectral_labels
from gramian.metrics import clustering_accuracy


@pytest.fixture
def rng():
    return np.random.default_rng(0)


@pytest.fixture
def blobs(rng):
    y = np.repeat([0, 1, 2], 30)
    return rng.normal(size=(90, 2)) + 12 * np.eye(3)[y][:, :2], y


def test_labels_of_blobs(blobs, rng):
    """Spectral labels are those of clear clusters."""
    X, y = blobs
    assert clustering_accuracy(y, spectral_labels(X, 3, rng)) > 0.95


def test_many_rows_get_labels_of_some(blobs, rng, monkeypatch):
    """Beyond the largest number of rows, that many get labels and the others −1."""
    monkeypatch.setattr(warm_start, "MOST_ROWS", 50)
    labels = spectral_labels(blobs[0], 3, rng)
    assert np.count_nonzero(labels >= 0) == 50


@pytest.mark.parametrize("X", [np.ones((60, 2)), np.arange(20.0).reshape(10, 2), np.repeat([[0.0], [1.0]], 40, axis=0)])
def test_rows_that_tell_nothing(X, rng):
    """Few different rows give no labels."""
    assert (spectral_labels(X, 3, rng) == -1).all()


def test_given_labels():
    """Labels of any name are numbered; −1 and None are no labels."""
    np.testing.assert_array_equal(given_labels(["b", None, "a", "b"], 4, 3), [1, -1, 0, 1])
    np.testing.assert_array_equal(given_labels([5, -1, 7], 3, 2), [0, -1, 1])
    with pytest.raises(ValueError, match="init has 3 different labels"):
        given_labels([0, 1, 2], 3, 2)
