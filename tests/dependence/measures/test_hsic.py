"""HSIC and alignment against sums over all quadruples, all permutations, and the textbook's matrices."""

from itertools import permutations

import numpy as np
import pandas as pd
import pytest
from scipy.sparse import csr_array
from sklearn.datasets import load_iris, load_wine
from sklearn.preprocessing import StandardScaler

from dependence.measures.textbook_hsic import centred, gaussian, given, trace, unbiased_by_quadruples
from gramian.dependence import center_alignment, hsic, hsic_test
from gramian.grams import DenseGram

# Estimators ------------------------------------------------------------------------------------------------


def test_biased_by_quadruples(rng):
    """The biased estimate is the sum over all quadruples, samples repeated, over (n − 1)² instead of n²."""
    n = 6
    K, L = gaussian(rng.normal(size=(n, 2))), gaussian(rng.normal(size=n))
    pairs = sum(K[i, j] * L[i, j] for i in range(n) for j in range(n)) / n**2
    triples = sum(K[i, j] * L[i, q] for i in range(n) for j in range(n) for q in range(n)) / n**3
    quadruples = K.sum() * L.sum() / n**4
    expected = (pairs + quadruples - 2 * triples) * n**2 / (n - 1) ** 2
    assert given(K, L) == pytest.approx(expected, rel=1e-12)
    assert given(K, L) == pytest.approx(trace(K, L) / (n - 1) ** 2, rel=1e-12)


def test_unbiased_by_quadruples(rng):
    """The unbiased estimate is the U-statistic, whatever the diagonals."""
    K, L = gaussian(rng.normal(size=(7, 2))), gaussian(rng.normal(size=7))
    expected = unbiased_by_quadruples(K, L)
    assert given(K, L, estimator="unbiased") == pytest.approx(expected, rel=1e-11)
    assert given(K + 5 * np.eye(7), L, estimator="unbiased") == pytest.approx(expected, rel=1e-11)


def test_mean_over_all_pairings(rng):
    """Over all pairings the unbiased estimate averages to zero, the biased one to tr(HKH) tr(HLH) / (n − 1)³."""
    n = 5
    K, L = gaussian(rng.normal(size=(n, 2))), gaussian(rng.normal(size=n))
    orders = [list(order) for order in permutations(range(n))]
    unbiased, biased = (
        np.mean([given(K, L[np.ix_(order, order)], estimator=estimator) for order in orders])
        for estimator in ("unbiased", "biased")
    )
    assert abs(unbiased) < 1e-15
    assert biased == pytest.approx(np.trace(centred(K)) * np.trace(centred(L)) / (n - 1) ** 3, rel=1e-12)


@pytest.mark.parametrize(
    ("load", "expected"), [(load_wine, 1.831565911713486), (load_iris, 0.976220629804987)], ids=["wine", "iris"]
)
def test_known_values(load, expected):
    """Linear kernel and labels on two well-known tables."""
    X, y = load(return_X_y=True)
    X = StandardScaler().fit_transform(X)
    assert hsic(X, y, kernel_x="linear", kernel_y="labels") == pytest.approx(expected, rel=1e-12)
    one_hot = np.eye(3)[y]
    covariance = (X - X.mean(axis=0)).T @ (one_hot - one_hot.mean(axis=0))
    assert np.sum(covariance**2) / (len(X) - 1) ** 2 == pytest.approx(expected, rel=1e-12)


# What goes in ----------------------------------------------------------------------------------------------


@pytest.mark.parametrize("kernel", ["rbf", "linear"])
def test_single_precision(rng, kernel):
    """float32 data give the same to five digits, with independent samples too."""
    X, Y = rng.normal(size=(600, 4)) + 10, rng.normal(size=(600, 2))
    options = {"kernel_x": kernel, "kernel_y": kernel}
    expected = hsic(X, Y, **options)
    single = X.astype(np.float32), Y.astype(np.float32)
    assert hsic(*single, **options) == pytest.approx(expected, rel=2e-5)
    assert hsic_test(*single, method="gamma", **options).pvalue == pytest.approx(
        hsic_test(X, Y, method="gamma", **options).pvalue, abs=1e-4
    )


# Alignment -------------------------------------------------------------------------------------------------


def test_alignment_is_a_cosine(rng):
    """CKA is the cosine between the centred matrices, debiased CKA that between the U-centred ones."""
    K, L = gaussian(rng.normal(size=(12, 2))), gaussian(rng.normal(size=12))
    Kc, Lc = centred(K), centred(L)
    expected = np.sum(Kc * Lc) / np.linalg.norm(Kc) / np.linalg.norm(Lc)
    kernels = {"kernel_x": "precomputed", "kernel_y": "precomputed"}
    assert center_alignment(K, L, **kernels) == pytest.approx(expected, rel=1e-11)
    assert given(K, L, normalized=True) == pytest.approx(expected, rel=1e-11)
    parts = [unbiased_by_quadruples(A, B) for A, B in ((K, L), (K, K), (L, L))]
    assert center_alignment(K, L, estimator="unbiased", **kernels) == pytest.approx(
        parts[0] / np.sqrt(parts[1] * parts[2]), rel=1e-10
    )


def test_debiased_alignment_of_wide_noise(rng):
    """With more columns than rows noise looks aligned, unless the bias is removed."""
    X, Y = rng.normal(size=(2, 40, 800))
    assert center_alignment(X, Y) > 0.9
    assert abs(center_alignment(X, Y, estimator="unbiased")) < 0.1


# Bad input -------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"estimator": "best"}, "estimator='best' is not known; pass one of 'biased', 'unbiased'"),
        ({"normalized": 1}, "normalized=1 must be True or False"),
        ({"normalized": True, "estimator": "block"}, "normalized=True is not for estimator='block'"),
        ({"block_size": 5}, "block_size=5 is only for estimator='block'"),
        ({"block_size": 3, "estimator": "block"}, "block_size=3 must be a whole number from 4 to 20"),
        ({"approximation": "svd"}, "approximation='svd' is not known; pass None, 'nystroem' or 'fourier'"),
        ({"n_features": 0}, "n_features=0 must be a whole number >= 1"),
        ({"kernel_y": "gaussian"}, "kernel_y: kernel='gaussian' is not a kernel; .*'labels'"),
        ({"kernel_x": "precomputed"}, "X: kernel='precomputed' needs a square matrix"),
        ({"kernel_y": "labels"}, "Y has 20 different labels for 20 samples"),
        ({"kernel_x": "polynomial", "approximation": "fourier"}, "X: kernel=.* has no known Fourier transform"),
    ],
)
def test_bad_parameters(rng, options, message):
    """Every parameter out of range is refused by name."""
    with pytest.raises(ValueError, match=message):
        hsic(rng.normal(size=(20, 2)), rng.normal(size=20), **options)


def test_bad_data(rng):
    """Data that cannot be compared are refused, and the message says which side."""
    X, y = rng.normal(size=(20, 2)), rng.normal(size=20)
    holes = np.where(np.arange(20) == 3, np.nan, y)
    lopsided = gaussian(y) + np.triu(np.ones((20, 20)))
    cases = [
        ((X, y[:-1]), {}, "X has 20 samples but Y has 19"),
        ((X[:1], y[:1]), {}, "n_samples=1 is too few; this needs at least 2"),
        ((X[:3], y[:3]), {"estimator": "unbiased"}, "n_samples=3 is too few; this needs at least 4"),
        ((X, holes), {}, "Input Y contains NaN"),
        ((X, ["a", "b"] * 10), {}, "Y holds text; pass kernel_y='labels'"),
        ((["a", "b"] * 10, y), {}, "X holds text; pass kernel_x='labels'"),
        ((X, lopsided), {"kernel_y": "precomputed"}, "Y: kernel='precomputed' needs a symmetric matrix"),
        ((X, X), {"kernel_y": "labels"}, "labels are a vector"),
        ((X, csr_array(X)), {"kernel_y": "labels"}, "labels are a vector"),
        ((X, np.where(np.isnan(holes), np.nan, 1.0)), {"kernel_y": "labels"}, "missing labels"),
        ((X, ["a", None] * 10), {"kernel_y": "labels"}, "Y has missing labels"),
        ((X, pd.Categorical(["a", None] * 10)), {"kernel_y": "labels"}, "Y has missing labels"),
        ((X, [1.0, np.inf] * 10), {"kernel_y": "labels"}, "Y has missing labels"),
        ((X, np.array(["a", 1] * 10, object)), {"kernel_y": "labels"}, "Y mixes labels of types int, str"),
        ((None, y), {}, "X is None; pass an array"),
        ((DenseGram(gaussian(y)), y), {}, "kernel_x='precomputed'"),
    ]
    for data, options, message in cases:
        with pytest.raises(ValueError, match=message):
            hsic(*data, **options)


def test_lopsided_matrices(rng):
    """A matrix that is symmetric up to a little is averaged with its transpose, and that is said once."""
    K, y = gaussian(rng.normal(size=20)), rng.normal(size=20)
    K[0, 1] += 1e-6
    with pytest.warns(UserWarning, match="differs from its transpose") as caught:
        found = hsic(K, y, kernel_x="precomputed")
    assert len(caught) == 1
    assert found == hsic((K + K.T) / 2, y, kernel_x="precomputed")


def test_bad_tests(rng):
    """The same for the tests of independence and the alignment."""
    X, y = rng.normal(size=(20, 2)), rng.normal(size=20)
    cases = [
        ({"method": "chi2"}, "method='chi2' is not known; pass one of 'permutation', 'gamma', 'block'"),
        ({"n_permutations": 0}, "n_permutations=0 must be a whole number >= 1"),
        ({"block_size": 5}, "block_size=5 is only for method='block'"),
        ({"method": "block", "block_size": 11}, "block_size=11 leaves one block"),
        ({"method": "gamma", "kernel_x": lambda A, B: -A @ B.T}, "needs positive semi-definite kernels"),
    ]
    for options, message in cases:
        with pytest.raises(ValueError, match=message):
            hsic_test(X, y, **options)
    with pytest.raises(ValueError, match="n_samples=5 is too few"):
        hsic_test(X[:5], y[:5], method="gamma")
    with pytest.raises(ValueError, match="estimator='block' is not known; pass 'biased' or 'unbiased'"):
        center_alignment(X, y, estimator="block")
