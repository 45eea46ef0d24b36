"""Scaling of rows before a network."""

import numpy as np
import pytest
from sklearn.preprocessing import StandardScaler

from gramian.deep.scaling import Scaling, in_unit_interval, no_scaling, standard_scaling, unit_scaling


@pytest.fixture
def X():
    return np.random.default_rng(0).normal(3, 5, size=(50, 4))


def test_standard_scaling_is_that_of_scikit_learn(X):
    """Also with holes, over the observed values."""
    X[3:9, 1] = np.nan
    found = standard_scaling(X)
    np.testing.assert_allclose(found.apply(X), StandardScaler().fit_transform(X), atol=1e-12)
    np.testing.assert_allclose(found.undo(found.apply(X)), X, rtol=1e-12)
    np.testing.assert_array_equal(Scaling(**found.arrays).apply(X), found.apply(X))


@pytest.mark.parametrize("factor", [1e150, 1e-150, 1e300])
def test_extreme_magnitudes_do_not_overflow(X, factor):
    np.testing.assert_allclose(standard_scaling(X * factor).apply(X * factor), standard_scaling(X).apply(X), atol=1e-9)


def test_constant_and_empty_columns_stay_finite(X):
    X[:, 0], X[:, 1] = 7.0, np.nan
    scaled = standard_scaling(X).apply(X)
    assert not scaled[:, 0].any()
    assert np.isnan(scaled[:, 1]).all()


def test_pixels_are_scaled_to_the_unit_interval():
    """Black stays zero; pixels that are there already do not change."""
    pixels = np.random.default_rng(0).integers(3, 256, size=(9, 4)).astype(float)
    pixels[0, 0] = 255
    np.testing.assert_allclose(unit_scaling(pixels).apply(pixels), pixels / 255)
    assert unit_scaling(pixels / 255).is_identity
    assert in_unit_interval(unit_scaling(pixels - 100).apply(pixels - 100))
    assert unit_scaling(np.zeros((3, 2))).is_identity
    assert no_scaling(3).is_identity
    assert np.isfinite(unit_scaling(np.array([[-1e308, 1e308]])).scale).all()
