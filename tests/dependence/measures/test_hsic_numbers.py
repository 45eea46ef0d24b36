"""HSIC of constant data, of offsets, and of very large and very small numbers."""

import numpy as np
import pytest

from gramian.dependence import UndefinedAlignmentError, center_alignment, hsic, hsic_test
from gramian.kernels import RBF, Polynomial, SquaredDistance

# Constant data ---------------------------------------------------------------------------------------------


@pytest.mark.parametrize("kernel", ["rbf", "linear", "cluster", "laplacian"])
def test_constant_data(rng, kernel):
    """Nothing depends on constant columns: zero, p = 1, and no alignment."""
    X, constant = rng.normal(size=(40, 2)), np.full(40, 0.1)
    for estimator in ("biased", "unbiased", "block", "linear"):
        assert hsic(X, constant, kernel_y=kernel, estimator=estimator) == 0
    for method in ("gamma", "permutation", "block"):
        test = hsic_test(X, constant, kernel_y=kernel, method=method, n_permutations=19)
        assert (test.statistic, test.pvalue) == (0, 1)
    with pytest.raises(UndefinedAlignmentError, match="all samples of Y are equally similar"):
        center_alignment(X, constant, kernel_y=kernel)


def test_constant_matrices_and_labels(rng):
    """The same for a matrix of equal similarities and for a single category."""
    X = rng.normal(size=(30, 2))
    for Y, kernel in ((np.full((30, 30), 0.3), "precomputed"), (["a"] * 30, "labels")):
        assert hsic(X, Y, kernel_y=kernel) == pytest.approx(0, abs=1e-30)
        assert hsic_test(X, Y, kernel_y=kernel, method="gamma").pvalue == 1
        with pytest.raises(UndefinedAlignmentError, match="all samples of X are equally similar"):
            center_alignment(Y, X, kernel_x=kernel)


@pytest.mark.parametrize("kernel", [RBF(1.0), RBF(1e-8)], ids=["far apart", "narrow"])
def test_samples_that_are_all_unlike(rng, kernel):
    """Where no two samples are alike only rounding is left, and that is no dependence."""
    for _ in range(20):
        X, Y = rng.normal(size=(2, 100, 300))
        options = {"kernel_x": kernel, "kernel_y": kernel}
        for method in ("gamma", "permutation", "block"):
            assert hsic_test(X, Y, method=method, n_permutations=19, **options).pvalue == 1
        assert hsic(X, Y, estimator="block", **options) == 0


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_equal_similarities(rng, dtype):
    """A constant matrix is independent of everything, by every method and in every dtype."""
    constant, y = np.full((60, 60), 0.3, dtype), rng.normal(size=60)
    for method in ("gamma", "permutation", "block"):
        assert hsic_test(constant, y, kernel_x="precomputed", method=method, n_permutations=19).pvalue == 1


def test_one_odd_sample(rng):
    """U-centred, labels with a single sample in one of two classes are zero, so nothing is aligned with them."""
    X, labels = rng.normal(size=(31, 2)), np.repeat([0, 1], [30, 1])
    for kernel in ("linear", "rbf"):
        options = {"kernel_x": kernel, "kernel_y": "labels"}
        with pytest.raises(UndefinedAlignmentError, match=r"unbiased estimate of HSIC\(Y, Y\) is zero"):
            center_alignment(X, labels, estimator="unbiased", **options)
        assert 0 < center_alignment(X, labels, **options) < 1


def test_a_value_that_occurs_once(rng):
    """A column of two values of which one occurs once: 0 without normalisation, and never an end for the caller."""
    column, y = np.repeat([0.0, 1.0], [30, 1]), rng.normal(size=31)
    for kernel in ("linear", RBF(1.0)):
        assert hsic(column, y, kernel_x=kernel, estimator="unbiased") == pytest.approx(0, abs=1e-15)
        with pytest.raises(UndefinedAlignmentError, match=r"unbiased estimate of HSIC\(X, X\) is zero"):
            hsic(column, y, kernel_x=kernel, estimator="unbiased", normalized=True)
        for method in ("gamma", "permutation", "block"):
            assert 0 < hsic_test(column, y, kernel_x=kernel, method=method, n_permutations=19).pvalue <= 1


# Large and small numbers -----------------------------------------------------------------------------------


@pytest.mark.parametrize("method", ["gamma", "permutation", "block"])
def test_offsets(rng, method):
    """An offset much larger than the spread hides nothing from linear kernels: time stamps, or float32."""
    options = {"kernel_x": "linear", "kernel_y": "linear", "method": method, "random_state": 0}
    x = rng.normal(size=300)
    y = x + 0.3 * rng.normal(size=300)
    expected = hsic_test(x, y, **options).pvalue
    assert expected < 0.01
    assert hsic_test(1.7e9 + 1e5 * x, 1.7e9 + 1e5 * y, **options).pvalue == pytest.approx(expected, rel=1e-4)
    single = (x + 30).astype(np.float32), (y + 30).astype(np.float32)
    assert hsic_test(*single, **options).pvalue == pytest.approx(expected, rel=1e-3)
    assert center_alignment((x + 1000).astype(np.float32), y) == pytest.approx(center_alignment(x, y), rel=1e-4)


def test_wide_kernels_in_single_precision(rng):
    """A kernel next to one everywhere still tells dependent samples from independent ones."""
    x, noise = rng.normal(size=(2, 300)).astype(np.float32)
    options = {"kernel_x": RBF(30.0), "kernel_y": RBF(30.0), "method": "gamma"}
    assert hsic_test(x, x + noise, **options).pvalue < 1e-20
    expected = hsic_test(x.astype(float), noise.astype(float), **options).pvalue
    assert hsic_test(x, noise, **options).pvalue == pytest.approx(expected, abs=0.01)


@pytest.mark.parametrize(
    ("kernel", "factor", "dtype"),
    [
        ("linear", 1e10, np.float32),
        ("linear", 1e-15, np.float32),
        ("linear", 1e30, np.float64),
        ("linear", 1e-100, np.float64),
        (Polynomial(3, 0.0), 1e5, np.float32),
        (SquaredDistance(), 1e30, np.float64),
    ],
)
def test_scale_changes_no_test(rng, kernel, factor, dtype):
    """Neither p-values nor alignments depend on the scale of the data, up to the largest and smallest numbers."""
    X, Y = rng.normal(size=(2, 100, 1)).astype(dtype)
    options = {"kernel_x": kernel, "kernel_y": kernel}
    factor = dtype(factor)
    for method in ("gamma", "permutation", "block"):
        found, expected = (
            hsic_test(a * X, a * Y, method=method, n_permutations=99, random_state=0, **options).pvalue
            for a in (factor, dtype(1))
        )
        assert found == pytest.approx(expected, rel=1e-3)
    assert center_alignment(factor * X, Y, **options) == pytest.approx(center_alignment(X, Y, **options), rel=1e-4)


def test_values_scale_with_the_kernel(rng):
    """HSIC of data scaled by a power of two is the value times its fourth power, to the last bit."""
    X, Y = rng.normal(size=(2, 40, 1))
    for estimator in ("biased", "unbiased", "block"):
        options = {"kernel_x": "linear", "kernel_y": "linear", "estimator": estimator, "random_state": 0}
        assert hsic(2.0**60 * X, 2.0**60 * Y, **options) == 2.0**240 * hsic(X, Y, **options)


def test_values_that_are_no_numbers(rng):
    """What is too large for a number is refused with the remedy, without a warning before it."""
    X, Y = 1e100 * rng.normal(size=(2, 40, 1))
    linear = {"kernel_x": "linear", "kernel_y": "linear"}
    with pytest.raises(ValueError, match="sums over X and Y overflow; scale the columns"):
        hsic(X, Y, **linear)
    for method in ("gamma", "permutation", "block"):
        with pytest.raises(ValueError, match="sums over X and Y overflow; scale the columns"):
            hsic_test(X, Y, method=method, n_permutations=19, **linear)
    with pytest.raises(ValueError, match="scale the columns"):
        center_alignment(1e200 * X, Y)
