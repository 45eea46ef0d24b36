"""Transformed: a kernel after a transformer is the kernel of the transformed rows."""

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.decomposition import PCA
from sklearn.preprocessing import StandardScaler

import gramian
from gramian.kernels import RBF, Linear, Transformed


@pytest.fixture
def X():
    return np.random.default_rng(0).normal(size=(30, 4)) * [1, 10, 100, 0.1]


@pytest.mark.parametrize("inner", [RBF("median"), Linear()])
def test_blocks_products_and_grams_are_those_of_the_transformed_rows(X, inner):
    kernel = Transformed(StandardScaler(), inner).fit(X)
    seen = StandardScaler().fit(X).transform(X)
    expected = clone(inner).fit(seen)(seen)
    np.testing.assert_allclose(kernel(X), expected)
    np.testing.assert_allclose(kernel(X[:3], X), expected[:3])
    np.testing.assert_allclose(kernel.gram(X).dense(), expected)
    np.testing.assert_allclose(kernel.product(X, X, np.ones(30)), expected.sum(axis=1), atol=1e-12)
    np.testing.assert_allclose(kernel.diagonal(X), np.diagonal(expected))


def test_features_are_those_of_the_inner_kernel(X):
    kernel = Transformed(PCA(2), Linear()).fit(X)
    np.testing.assert_allclose(kernel.features(X), PCA(2).fit(X).transform(X))


def test_of_keeps_what_was_learned(X, tmp_path):
    scaler = StandardScaler().fit(X)
    kernel = Transformed.of(scaler, RBF(1.0).fit(scaler.transform(X)), 4)
    np.testing.assert_allclose(clone(kernel).fit(X[:5])(X), RBF(1.0)(scaler.transform(X)))
    gramian.save(kernel, tmp_path / "kernel.gramian")
    np.testing.assert_array_equal(gramian.load(tmp_path / "kernel.gramian")(X), kernel(X))


def test_refuses_what_is_no_transformer(X):
    with pytest.raises(ValueError, match="transformer='scale' has no transform"):
        Transformed("scale", RBF()).fit(X)
    with pytest.raises(ValueError, match="kernel='rbf' must be a kernel object"):
        Transformed(StandardScaler(), "rbf").fit(X)
