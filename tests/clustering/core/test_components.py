"""Components and eigenvectors too small for a cluster, on graphs whose parts are known."""

import numpy as np
import pytest
from scipy.sparse import csr_array
from scipy.sparse.csgraph import connected_components

from gramian.clustering.core import components
from gramian.clustering.core.components import large_components, least_cluster, participation, spread_pairs
from gramian.grams import DenseGram, FeatureGram, SparseGram


def parts(sizes, seed=0):
    """A shuffled random graph with components of the given sizes, and the size of each node's component."""
    rng = np.random.default_rng(seed)
    n = sum(sizes)
    W = np.zeros((n, n))
    start = 0
    for size in sizes:
        for i in range(start + 1, start + size):  # a random tree
            j = rng.integers(start, i)
            W[i, j] = W[j, i] = rng.uniform(0.1, 1)
        start += size
    order = rng.permutation(n)
    return W[np.ix_(order, order)], np.repeat(sizes, sizes)[order]


@pytest.mark.parametrize("hold", [DenseGram, lambda W: SparseGram(csr_array(W))], ids=["dense", "sparse"])
@pytest.mark.parametrize("rows_at_once", [3, 256])
def test_large_components(hold, rows_at_once, monkeypatch):
    """The nodes of components of at least so many nodes, isolated ones included, however the matrix is held."""
    monkeypatch.setattr(components, "_ROWS_AT_ONCE", rows_at_once)
    W, sizes = parts([20, 1, 5, 2, 11, 1])
    assert connected_components(csr_array(W))[0] == 6
    for least in (1, 2, 2.5, 5, 12):
        np.testing.assert_array_equal(large_components(hold(W), least), sizes >= least)


def test_a_kernel_without_zeros_is_known_from_its_first_row():
    """No second row is asked for."""
    asked = []

    class Asked(DenseGram):
        def rows(self, index):
            asked.append(len(index))
            return super().rows(index)

    assert large_components(Asked(np.ones((40, 40))), 2).all()
    assert asked == [1]


def test_stored_zeros_are_no_edges():
    """An entry that is stored as zero connects nothing."""
    W = csr_array((np.array([1.0, 1, 0, 0]), ([0, 1, 1, 2], [1, 0, 2, 1])), shape=(3, 3))
    np.testing.assert_array_equal(large_components(SparseGram(W), 2), [True, True, False])
    assert W.nnz == 4


def test_a_gram_that_holds_no_entries_is_one_component():
    """Features are not multiplied out to look for zeros."""
    assert large_components(FeatureGram(np.eye(5, 3)), 3).all()


def test_least_cluster():
    """½ √(n / k): a pair is none of two clusters of a thousand samples, five of sixty may be one."""
    assert least_cluster(1000, 2) == pytest.approx(0.5 * 500**0.5)
    assert least_cluster(1000, 2) > 2
    assert least_cluster(60, 2) < 5
    assert least_cluster(8, 8) <= 1


def test_participation_counts_samples():
    """A vector that is even on m samples lies on m of them, whatever its sign and length."""
    E = np.zeros((10, 3))
    E[:1, 0], E[2:6, 1], E[:, 2] = 3, [1, -1, 1, -1], 0.1
    np.testing.assert_allclose(participation(E), [1, 4, 10])


def test_axes_on_few_samples_are_passed_over_where_they_are_many():
    """Of two axes a stray one gives way to the next that is spread; of four a single one stays."""
    vectors = np.zeros((12, 12))
    vectors[:, 0] = 1
    vectors[3, 1] = vectors[4, 3] = 1
    vectors[:, [2, *range(4, 12)]] = np.random.default_rng(0).choice([-1, 1], (12, 9))
    values, asked = np.linspace(1, 0.1, 12), []

    def eigenpairs(k):
        asked.append(k)
        return values[:k], vectors[:, :k]

    found = spread_pairs(eigenpairs, 2, 3.0)
    np.testing.assert_array_equal(found[0], values[[0, 2]])
    np.testing.assert_array_equal(found[1], vectors[:, [0, 2]])
    assert asked == [2, 12]
    np.testing.assert_array_equal(spread_pairs(eigenpairs, 3, 3.0)[0], values[[0, 2, 4]])  # one of three is a third
    np.testing.assert_array_equal(spread_pairs(eigenpairs, 5, 3.0)[0], values[[0, 2, 4, 5, 6]])  # two of five
    np.testing.assert_array_equal(spread_pairs(eigenpairs, 8, 3.0)[0], values[:8])  # two of eight
    np.testing.assert_array_equal(spread_pairs(eigenpairs, 2, 99.0)[0], values[:2])  # nothing is spread so far
