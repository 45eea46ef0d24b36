"""Kernels with a fixed number of features: each is its own transformer."""

import numpy as np
import pytest
from scipy.sparse import csr_array, issparse
from sklearn.exceptions import NotFittedError
from sklearn.utils import get_tags

from gramian.kernels.base import FeatureMap


class Hinges(FeatureMap):
    """max(x − knot, 0) for two knots of the first column, dense or sparse."""

    def __init__(self, sparse=False):
        self.sparse = sparse

    def _resolve(self, X, sample_weight=None):
        self.knots_ = np.array([X[:, 0].min(), X[:, 0].mean()])

    def _features(self, X):
        F = np.maximum(X[:, :1] - self.knots_, 0)
        return csr_array(F) if self.sparse else F

    @property
    def _n_features_out(self):
        return 2


X = np.random.default_rng(0).standard_normal((9, 3))
EXPECTED = np.maximum(X[:, :1] - [X[:, 0].min(), X[:, 0].mean()], 0)


@pytest.mark.parametrize("sparse", [False, True])
def test_transform_gives_the_features(sparse):
    """transform is features, sparse where those are, and their products are the kernel."""
    model = Hinges(sparse).fit(X)
    F = model.transform(X)
    assert issparse(F) == sparse
    np.testing.assert_allclose(F.toarray() if sparse else F, EXPECTED)
    np.testing.assert_allclose(model(X), EXPECTED @ EXPECTED.T)
    np.testing.assert_allclose(model.gram(X).dense(), EXPECTED @ EXPECTED.T)
    assert model._n_features(X) == 2


def test_features_have_names():
    """Columns of a data frame are called after the class, also where the features are sparse."""
    pytest.importorskip("pandas")
    model = Hinges(sparse=True).set_output(transform="pandas").fit(X)
    frame = model.transform(X)
    assert list(frame.columns) == ["hinges0", "hinges1"]
    np.testing.assert_allclose(frame.to_numpy(), EXPECTED)


def test_an_unfitted_map_says_so():
    """Features, and even their number, are known after fit only."""
    for ask in (Hinges().transform, Hinges()._n_features):
        with pytest.raises(NotFittedError):
            ask(X)


def test_precision_is_kept():
    """The tags promise single precision for single precision."""
    assert get_tags(Hinges()).transformer_tags.preserves_dtype == ["float64", "float32"]


def test_the_number_of_features_must_be_written():
    """The base does not know how many features there are."""
    with pytest.raises(NotImplementedError):
        _ = FeatureMap()._n_features_out
