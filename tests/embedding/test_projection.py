"""What kernel PCA and kernel ECA share: scores of new rows, names of components, eigenvalues that count."""

import numpy as np
import pytest
from sklearn.exceptions import NotFittedError

from gramian.embedding import KernelECA, KernelPCA
from gramian.embedding.projection import significant
from gramian.kernels import RBF

PROJECTIONS = [KernelPCA(3, kernel=RBF(1.5)), KernelECA(3, kernel=RBF(1.5))]
both = pytest.mark.parametrize("model", PROJECTIONS, ids=["KernelPCA", "KernelECA"])


@pytest.fixture
def X():
    return np.random.default_rng(0).standard_normal((20, 3))


@both
def test_scores_of_fitted_rows(model, X):
    """fit_transform is the embedding, and so is transform of the fitted rows."""
    Z = model.fit_transform(X)
    assert Z is model.embedding_
    assert Z.shape == (20, 3)
    np.testing.assert_allclose(model.transform(X), Z, atol=1e-8)
    np.testing.assert_allclose(model.transform(X[:4].tolist()), Z[:4], atol=1e-8)


@both
def test_names_of_components(model, X):
    """Components are named after the class, as many as there are."""
    pytest.importorskip("pandas")
    name = type(model).__name__.lower()
    assert list(model.fit(X).get_feature_names_out()) == [f"{name}{i}" for i in range(3)]


@both
def test_new_rows_are_checked(model, X):
    """An unfitted model says so; rows with other columns or missing values are refused."""
    with pytest.raises(NotFittedError):
        type(model)().transform(X)
    model.fit(X)
    with pytest.raises(ValueError, match="2 features"):
        model.transform(X[:, :2])
    with pytest.raises(ValueError, match="contains NaN"):
        model.transform(np.full((1, 3), np.nan))


def test_fit_transform_passes_weights_on(X):
    """Weights reach fit."""
    weights = np.arange(20.0)
    Z = KernelPCA(2, kernel=RBF(1.5)).fit_transform(X, sample_weight=weights)
    np.testing.assert_array_equal(Z, KernelPCA(2, kernel=RBF(1.5)).fit(X, sample_weight=weights).embedding_)


@pytest.mark.parametrize(
    ("values", "n", "expected"),
    [
        ([1.0, 1e-11, 1e-13], 100, [True, True, False]),
        ([-1.0, 1e-11, -1e-13], 100, [True, True, False]),
        ([1.0, 1e-6, 1e-3], 100, [True, True, True]),
        ([0.0, 0.0], 5, [False, False]),
    ],
)
def test_significant_in_double_precision(values, n, expected):
    """Eigenvalues below a trillionth of the largest magnitude are rounding."""
    np.testing.assert_array_equal(significant(np.array(values), n), expected)


def test_significant_in_single_precision():
    """In single precision rounding grows with the root of the number of samples: 10 √n eps."""
    eps = float(np.finfo(np.float32).eps)
    values = np.array([1.0, 110 * eps, 90 * eps], np.float32)
    np.testing.assert_array_equal(significant(values, 100), [True, True, False])
    np.testing.assert_array_equal(significant(values, 400), [True, False, False])
