"""Random Fourier features against the kernels they approximate, and against their textbook formula."""

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.exceptions import NotFittedError
from sklearn.utils.estimator_checks import check_estimator

import gramian
from gramian.grams import FeatureGram
from gramian.kernels import RBF, Cauchy, InverseMultiquadric, Laplacian, Matern, RationalQuadratic
from gramian.kernels.profile import Exponential
from gramian.landmarks import FourierFeatures


class Halved(RBF):
    """A kernel of a user, derived from RBF by its formula."""

    def profile(self):
        return Exponential("distance", -0.25 / self._get_width() ** 2)


class Squared(RBF):
    """A kernel of a user, derived from RBF by its values."""

    def _tile(self, left, right):
        return super()._tile(left, right) ** 2


@pytest.fixture
def X():
    return np.random.default_rng(20).normal(size=(100, 3))


def test_features_are_the_formula(X):
    """φ(x) = √(1/D) [cos(Wᵀ(x − c)), sin(Wᵀ(x − c))], entry by entry."""
    fitted = FourierFeatures(10, kernel=RBF(width=2.0), random_state=0).fit(X)
    angles = (X - X.mean(axis=0)) @ fitted.frequencies_
    np.testing.assert_allclose(fitted.transform(X), np.hstack([np.cos(angles), np.sin(angles)]) / np.sqrt(5))


@pytest.mark.parametrize(
    "parameters",
    [
        {"kernel": RBF(width=2.0)},
        {"kernel": RBF(width=2.0), "orthogonal": True},
        {"kernel": Laplacian(width=3.0)},
        {"kernel": Matern(width=2.0, smoothness=0.5)},
        {"kernel": Matern(width=2.0, smoothness=1.5), "orthogonal": True},
        {"kernel": Matern(width=2.0, smoothness=2.5)},
        {"kernel": Cauchy(width=2.0)},
        {"kernel": RationalQuadratic(width=2.0, exponent=0.7), "orthogonal": True},
        {"kernel": InverseMultiquadric(offset=1.5)},
        {"kernel": Halved(width=2.0)},
    ],
    ids=repr,
)
def test_products_converge_to_the_kernel(X, parameters):
    """With D = 20,000 frequencies the largest error is below 4/√D, as the spec measured."""
    fitted = FourierFeatures(40_000, random_state=0, **parameters).fit(X)
    assert np.abs(fitted(X) - parameters["kernel"](X)).max() < 4 / np.sqrt(20_000)


@pytest.mark.parametrize("n_components", [1, 6, 7])
@pytest.mark.parametrize("kernel", [RBF(width=1.0), Laplacian(width=1.5)], ids=repr)
def test_unbiased_for_even_and_odd_counts(kernel, n_components):
    """Averaged over many draws, few features give the kernel, also when one cosine has no sine."""
    X = np.random.default_rng(0).normal(size=(6, 2))
    draws = [FourierFeatures(n_components, kernel=kernel, random_state=seed).fit(X)(X) for seed in range(600)]
    error = np.std(draws, axis=0).max() / np.sqrt(600)
    np.testing.assert_allclose(np.mean(draws, axis=0), kernel(X), atol=5 * error)


@settings(max_examples=30, deadline=None)
@given(
    seed=st.integers(0, 2**16),
    n=st.integers(2, 30),
    d=st.integers(1, 6),
    pairs=st.integers(1, 40),
    scale=st.sampled_from([1e-3, 1.0, 1e3]),
    orthogonal=st.booleans(),
)
def test_rows_have_unit_length(seed, n, d, pairs, scale, orthogonal):
    """‖φ(x)‖² = 1 for any data, and diagonal(X) says so."""
    X = scale * np.random.default_rng(seed).normal(size=(n, d))
    fitted = FourierFeatures(2 * pairs, kernel=RBF(width=1.0), orthogonal=orthogonal, random_state=seed).fit(X)
    F = fitted.transform(X)
    assert F.shape == (n, 2 * pairs) == (n, fitted._n_features(X))
    np.testing.assert_allclose((F**2).sum(axis=1), 1, rtol=1e-14)
    np.testing.assert_array_equal(fitted.diagonal(X), 1)


def test_rows_have_the_length_of_the_kernel(X):
    """Where k(x, x) is not 1, ‖φ(x)‖² is k(x, x) all the same."""
    fitted = FourierFeatures(6, kernel=InverseMultiquadric(offset=4.0), random_state=0).fit(X)
    np.testing.assert_allclose((fitted.transform(X) ** 2).sum(axis=1), 0.25)
    np.testing.assert_allclose(fitted.diagonal(X), 0.25)


def test_odd_diagonal_is_the_squared_length(X):
    """With an odd count diagonal(X) is still the diagonal of the approximation."""
    fitted = FourierFeatures(7, random_state=0).fit(X)
    assert fitted.transform(X).shape == (100, 7)
    np.testing.assert_allclose(fitted.diagonal(X), np.diagonal(fitted.gram(X).dense()))


def test_shift_changes_nothing(X):
    """Products depend on differences only: rows moved far away, in float32 even, keep theirs."""
    fitted = FourierFeatures(50, kernel=RBF(width=1.0), random_state=0).fit(X)
    far = FourierFeatures(50, kernel=RBF(width=1.0), random_state=0).fit((X + 512).astype(np.float32))
    np.testing.assert_allclose(far((X + 512).astype(np.float32)), fitted(X), atol=2e-3)


def test_orthogonal_frequencies_have_a_smaller_error(X):
    """For the same number of features orthogonal frequencies approximate better, on average."""
    K = RBF(width=2.0)(X)

    def error(orthogonal):
        models = [FourierFeatures(60, kernel=RBF(width=2.0), orthogonal=orthogonal, random_state=i) for i in range(40)]
        return np.mean([((model.fit(X)(X) - K) ** 2).mean() for model in models])

    assert error(True) < 0.8 * error(False)


def test_float32_stays_float32(X):
    """float32 data give float32 features close to the float64 ones."""
    single = FourierFeatures(20, kernel=RBF(width=1.0), random_state=0).fit(X.astype(np.float32))
    double = FourierFeatures(20, kernel=RBF(width=1.0), random_state=0).fit(X)
    assert single.transform(X.astype(np.float32)).dtype == np.float32
    np.testing.assert_allclose(single.transform(X.astype(np.float32)), double.transform(X), atol=1e-5)


def test_sparse_rows_equal_dense_rows(X):
    """CSR input gives the features of its dense form."""
    X = np.where(X > 0, X, 0.0)
    dense = FourierFeatures(20, kernel=RBF(width=1.0), random_state=0).fit(X)
    sparse = FourierFeatures(20, kernel=RBF(width=1.0), random_state=0).fit(sp.csr_array(X))
    np.testing.assert_allclose(sparse.transform(sp.csr_array(X)), dense.transform(X), atol=1e-12)


def test_is_a_kernel(X):
    """gram(X) holds the features and multiplies like the approximate kernel matrix."""
    fitted = FourierFeatures(20, random_state=0).fit(X)
    assert isinstance(fitted.gram(X), FeatureGram)
    np.testing.assert_allclose(fitted.gram(X) @ X, fitted(X) @ X)
    assert fitted.get_feature_names_out()[-1] == "fourierfeatures19"
    with gramian.config(memory_budget=4000), pytest.raises(gramian.MemoryBudgetError, match="100×20 array of features"):
        fitted.transform(X)


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"n_components": 0}, "n_components=0 must be a whole number >= 1"),
        ({"n_components": -2}, "n_components=-2"),
        ({"n_components": 4.0}, "n_components=4.0"),
        ({"kernel": "polynomial"}, "kernel='polynomial' has no known Fourier transform.*Nystroem"),
        ({"kernel": 2.0 * RBF(width=1.0)}, "no known Fourier transform"),
        ({"kernel": Squared(width=1.0)}, "no known Fourier transform"),
        ({"kernel": "gauss"}, "kernel='gauss' is not a kernel"),
        (
            {"kernel": "laplacian", "orthogonal": True},
            "orthogonal=True is for kernels of the Euclidean distance such as 'rbf' but kernel='laplacian'",
        ),
        ({"orthogonal": "yes"}, "orthogonal='yes' must be True or False"),
        ({"kernel": RBF(width=-1.0)}, "width=-1.0"),
    ],
)
def test_bad_parameters_are_named(X, changes, message):
    """Each bad parameter raises a ValueError that names it and says what is allowed."""
    with pytest.raises(ValueError, match=message):
        FourierFeatures(10).set_params(**changes).fit(X)


def test_bad_data_are_refused(X):
    """NaN is refused, sparse rows too where the kernel refuses them, and nothing works before fit."""
    with pytest.raises(NotFittedError):
        FourierFeatures(10).transform(X)
    with pytest.raises(TypeError, match=r"[Ss]parse"):
        FourierFeatures(10, kernel="laplacian").fit(sp.csr_array(X))
    X[0, 0] = np.nan
    with pytest.raises(ValueError, match="NaN"):
        FourierFeatures(10).fit(X)


@pytest.mark.parametrize(
    "model", [FourierFeatures(10), FourierFeatures(7), FourierFeatures(10, orthogonal=True)], ids=repr
)
def test_follows_scikit_learn_conventions(model):
    """scikit-learn's own checks pass."""
    check_estimator(model, on_skip=None)
