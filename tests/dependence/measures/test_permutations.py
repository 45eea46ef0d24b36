"""HSIC of permuted samples against traces of permuted matrices."""

import numpy as np
import pytest

import gramian
from dependence.measures.textbook_hsic import gaussian, trace
from gramian.dependence import hsic, hsic_test
from gramian.dependence.measures import _permutations as shuffles
from gramian.dependence.measures._grams import paired_grams
from gramian.grams import DenseGram, tiles
from gramian.kernels import RBF


@pytest.mark.parametrize(("kernel_x", "kernel_y"), [("linear", "linear"), ("rbf", "labels"), ("rbf", "rbf")])
def test_both_ways_to_permute(monkeypatch, rng, kernel_x, kernel_y):
    """Shuffled factors and gathered matrices give the same values, equal to the textbook's for the same orders."""
    X, Y = rng.normal(size=(70, 3)), rng.normal(size=(70, 2))
    if kernel_y == "labels":
        Y = (Y[:, 0] > 0).astype(int)
    x, y = paired_grams(X, Y, kernel_x, kernel_y)
    found = []
    for cost in (0, 10**9):
        monkeypatch.setattr(shuffles, "_GATHER", cost)
        found.append(shuffles.permuted_traces(x, y, 5, np.random.default_rng(7)))
    orders = np.random.default_rng(7)
    orders = [orders.permutation(70) for _ in range(5)]
    K, L = x.dense(), y.dense()
    for observed, permuted in found:
        assert observed == pytest.approx(trace(K, L), rel=1e-9)
        np.testing.assert_allclose(permuted, [trace(K, L[np.ix_(order, order)]) for order in orders], rtol=1e-9)


@pytest.mark.parametrize("kernel_y", ["rbf", "labels"])
def test_repeats(monkeypatch, rng, kernel_y):
    """The same seed gives the same test, for every number of threads; another seed another null."""
    monkeypatch.setattr(tiles, "_SERIAL_ENTRIES", 0)
    X, Y = rng.normal(size=(90, 2)), rng.integers(3, size=90)
    tests = []
    for threads in (1, 3):
        with gramian.config(threads=threads):
            tests.append(hsic_test(X, Y, kernel_y=kernel_y, n_permutations=99, random_state=5))
    assert tests[0].pvalue == tests[1].pvalue
    assert tests[0].null_mean == pytest.approx(tests[1].null_mean, rel=1e-12)
    other = hsic_test(X, Y, kernel_y=kernel_y, n_permutations=99, random_state=6)
    assert other.null_mean != tests[0].null_mean
    block = {"estimator": "block", "block_size": 8}
    assert hsic(X, Y, random_state=1, **block) == hsic(X, Y, random_state=1, **block)


def test_batches_and_strips_change_nothing(monkeypatch, rng):
    """Permutations are the same whatever is drawn, gathered or multiplied together."""
    X, labels = rng.normal(size=(50, 2)), rng.integers(3, size=50)
    for pair in (paired_grams(X, X[:, 0] ** 2, RBF(1.0), RBF(1.0)), paired_grams(X, labels, RBF(1.0), "labels")):
        expected = shuffles.permuted_traces(*pair, 9, np.random.default_rng(2))
        with monkeypatch.context() as few:
            for name, value in (("_STRIP", 7), ("_BATCH", 2), ("_STACK_BYTES", 8 * 50 * 3 * 2)):
                few.setattr(shuffles, name, value)
            found = shuffles.permuted_traces(*pair, 9, np.random.default_rng(2))
        assert found[0] == pytest.approx(expected[0], rel=1e-12)
        np.testing.assert_allclose(found[1], expected[1], rtol=1e-10)


def test_one_side_or_the_other_is_permuted(rng):
    """The side with more features stays in order, whichever comes first; the observed value is the same."""
    X, labels = rng.normal(size=(40, 2)), rng.integers(3, size=40)
    x, y = paired_grams(X, labels, RBF(1.0), "labels")
    first, second = (shuffles.permuted_traces(*pair, 4, np.random.default_rng(0)) for pair in ((x, y), (y, x)))
    assert first[0] == pytest.approx(second[0], rel=1e-12)
    np.testing.assert_allclose(first[1], second[1], rtol=1e-12)


def test_given_matrices_are_not_changed(rng):
    """Matrices that the caller holds are read, not centred in place."""
    K, L = gaussian(rng.normal(size=30)), gaussian(rng.normal(size=30))
    kept = K.copy(), L.copy()
    observed, _ = shuffles.permuted_traces(DenseGram(K), DenseGram(L), 2, np.random.default_rng(0))
    np.testing.assert_array_equal(K, kept[0])
    np.testing.assert_array_equal(L, kept[1])
    assert observed == pytest.approx(trace(K, L), rel=1e-10)
