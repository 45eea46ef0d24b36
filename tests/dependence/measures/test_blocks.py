"""HSIC of blocks against the U-statistic of every block, the whole sample, and the stated variance."""

import numpy as np
import pytest

from dependence.measures.textbook_hsic import gaussian, unbiased_by_quadruples
from gramian.dependence import hsic, hsic_test
from gramian.dependence.measures._blocks import block_values
from gramian.grams import DenseGram
from gramian.kernels import RBF


def test_blocks(rng):
    """One block of all samples is the unbiased estimate, four samples are one quadruple."""
    X, Y = rng.normal(size=(30, 2)), rng.normal(size=30)
    kernels = {"kernel_x": RBF(1.0), "kernel_y": RBF(1.0)}
    whole = hsic(X, Y, estimator="unbiased", **kernels)
    assert hsic(X, Y, estimator="block", block_size=30, **kernels) == pytest.approx(whole, rel=1e-10)
    four = unbiased_by_quadruples(gaussian(X[:4]), gaussian(Y[:4]))
    assert hsic(X[:4], Y[:4], estimator="linear", **kernels) == pytest.approx(four, rel=1e-10)


def test_blocks_of_a_sorted_table(rng):
    """Blocks are drawn at random: their mean is near the unbiased estimate where rows are sorted by label."""
    labels = np.repeat(np.arange(3), 400)
    X = labels + rng.normal(size=1200)
    exact = hsic(X, labels, kernel_y="labels", estimator="unbiased")
    for estimator in ("block", "linear"):
        values = [hsic(X, labels, kernel_y="labels", estimator=estimator, random_state=seed) for seed in range(20)]
        error = np.std(values, ddof=1) / np.sqrt(len(values))
        assert abs(np.mean(values) - exact) < 4 * error + 1e-3 * exact
        assert error < 0.1 * exact


@pytest.mark.parametrize("block_size", [4, 12, 30])
def test_variance_of_blocks(rng, block_size):
    """For independent samples the variance is about 2 tr(C_x²) tr(C_y²) / (n (B − 3)), and the blocks estimate it."""
    n, kernels = 120, {"kernel_x": RBF(1.0), "kernel_y": RBF(1.0)}
    many = rng.normal(size=(2, 2000))
    size_x, size_y = (hsic(Z, Z, estimator="unbiased", **kernels) for Z in many)
    tests = [
        hsic_test(*rng.normal(size=(2, n)), method="block", block_size=block_size, random_state=rng, **kernels)
        for _ in range(400)
    ]
    values = np.array([test.statistic for test in tests])
    assert abs(values.mean()) < 4 * values.std() / 20
    stated = 2 * size_x * size_y / (n * (block_size - 3))
    assert values.var() == pytest.approx(stated, rel=0.35)
    assert np.mean([test.null_variance for test in tests]) == pytest.approx(values.var(), rel=0.25)


def test_each_block_is_the_statistic_of_its_samples(rng):
    """Every value is the U-statistic of a block of the drawn order; what fills no block is left out."""
    K, L = gaussian(rng.normal(size=17)), gaussian(rng.normal(size=(17, 2)))
    found = block_values(DenseGram(K), DenseGram(L), 5, np.random.default_rng(3))
    blocks = np.random.default_rng(3).permutation(17)[:15].reshape(3, 5)
    expected = [unbiased_by_quadruples(K[np.ix_(block, block)], L[np.ix_(block, block)]) for block in blocks]
    np.testing.assert_allclose(found, expected, rtol=1e-10)


def test_strips_of_blocks_are_put_in_their_places(rng):
    """More blocks than one strip compares at once: the same values as one by one."""
    n, size = 600, 4
    K, L = (DenseGram(gaussian(rng.normal(size=n))) for _ in range(2))
    found = block_values(K, L, size, np.random.default_rng(1))
    blocks = np.random.default_rng(1).permutation(n).reshape(-1, size)
    for place in (0, 31, 32, 100, 149):
        rows = np.ix_(blocks[place], blocks[place])
        expected = unbiased_by_quadruples(K.dense()[rows], L.dense()[rows])
        assert found[place] == pytest.approx(expected, rel=1e-9)


def test_rounding_is_no_dependence():
    """Equal similarities leave only rounding, which is set to exactly zero."""
    constant = DenseGram(np.full((40, 40), 0.1))
    values = block_values(constant, DenseGram(gaussian(np.arange(40.0))), 8, np.random.default_rng(0))
    np.testing.assert_array_equal(values, 0.0)


def test_blocks_of_many_columns_in_single_precision(rng):
    """With many columns all similarities are nearly the same; what is left of them counts, in float32 too."""
    X = rng.normal(size=(400, 300)).astype(np.float32)
    Y = X + rng.normal(size=(400, 300)).astype(np.float32)
    found, expected = (
        hsic_test(A, B, method="block", random_state=0) for A, B in ((X, Y), (X.astype(float), Y.astype(float)))
    )
    assert expected.pvalue < 1e-6
    assert found.pvalue == pytest.approx(expected.pvalue, rel=0.05)
