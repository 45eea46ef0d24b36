"""Rows, images and a model that several tests of clustering networks share."""

import numpy as np
import pytest
from sklearn.datasets import load_digits


@pytest.fixture(scope="module")
def blobs():
    rng = np.random.default_rng(0)
    y = np.repeat([0, 1, 2], 40)
    return rng.normal(size=(120, 4)) + 8 * np.eye(4)[y], y


@pytest.fixture(scope="module")
def digits():
    X, y = load_digits(n_class=3, return_X_y=True)
    return X[:240], y[:240]


@pytest.fixture(scope="module")
def images(digits):
    """A model of three kinds of digits, trained for a moment."""
    from gramian.deep import DivergenceClustering

    return DivergenceClustering(3, image_shape=(1, 8, 8), max_iter=60, random_state=0).fit(digits[0])
