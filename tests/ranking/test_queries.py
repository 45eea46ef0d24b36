"""Arguments and answers of the kernel rankings: numbers of components, seeds as columns, and lists."""

import numpy as np
import pytest
from scipy.sparse import csc_array

from gramian import KernelPageRank
from gramian.ranking import _queries, best_first
from gramian.ranking._queries import (
    check_components,
    check_eigenvalue_tol,
    degree_divisor,
    ranked_lists,
    restart_columns,
)


@pytest.fixture
def rng():
    return np.random.default_rng(3)


@pytest.mark.parametrize("top", [None, 1, 7, 50, 99])
def test_best_first_is_a_stable_sort(top, rng):
    """Lists with many ties equal a stable sort's, whatever their length."""
    scores = rng.integers(0, 5, (50, 3)).astype(float)
    expected = np.argsort(-scores, axis=0, kind="stable")[:top]
    np.testing.assert_array_equal(best_first(scores, top), expected)
    np.testing.assert_array_equal(best_first(scores[:, 1], top), expected[:, 1])


@pytest.mark.parametrize("top", [None, 1, 9, 100])
@pytest.mark.parametrize("divided", [False, True])
def test_ranked_lists_in_blocks(top, divided, rng, monkeypatch):
    """Lists block by block are those of a sort of all scores, without what is excluded."""
    monkeypatch.setattr(_queries, "_BLOCK_ENTRIES", 60)
    scores, divisor = rng.random((20, 7)), rng.random((20, 1)) if divided else None
    exclude = np.zeros((20, 7))
    exclude[[3, 5], 2] = exclude[0, 4] = 1
    sizes = []

    def blocks(columns):
        sizes.append(scores[:, columns].shape[1])
        return scores[:, columns].copy()

    values = scores / divisor if divided else scores
    expected = np.argsort(-values, axis=0)[:top]
    np.testing.assert_array_equal(ranked_lists(blocks, 20, 7, top, divisor), expected)
    assert sizes == [3, 3, 1]
    values = np.where(exclude > 0, -1, values)
    expected = np.argsort(-values, axis=0)[: min(top or 20, 18)]
    np.testing.assert_array_equal(ranked_lists(blocks, 20, 7, top, divisor, exclude=csc_array(exclude)), expected)
    with pytest.raises(ValueError, match="leaves none to rank"):
        ranked_lists(blocks, 20, 1, top, divisor, exclude=csc_array(np.ones((20, 1))))


def test_components_are_a_number_or_a_part():
    """A whole number counts, a float is a part of the n − 1 that there are, and at least one."""
    for value, expected in [(None, None), (3, 3), (41, 40), (1.0, 40), (0.5, 20), (1e-6, 1), (np.int64(7), 7)]:
        assert check_components(KernelPageRank(n_components=value), 41) == expected
    for bad in (0, -1, 1.5, 0.0, 42, True, "all", np.nan):
        with pytest.raises(ValueError, match="n_components="):
            check_components(KernelPageRank(n_components=bad), 41)


def test_eigenvalue_tol_is_between_zero_and_one():
    assert check_eigenvalue_tol(KernelPageRank(eigenvalue_tol=None)) is None
    assert check_eigenvalue_tol(KernelPageRank(eigenvalue_tol=0.2)) == 0.2
    for bad in (0, 1, -0.1, True, "small", np.nan):
        with pytest.raises(ValueError, match="eigenvalue_tol="):
            check_eigenvalue_tol(KernelPageRank(eigenvalue_tol=bad))


def test_seeds_become_sparse_columns():
    """Columns sum to one and store no zeros; "stationary" is by degree."""
    degrees = np.array([1.0, 2.0, 5.0])
    columns, single = restart_columns(np.array([[0.0, 2.0], [0.0, 2.0], [3.0, 0.0]]), degrees)
    np.testing.assert_allclose(columns.toarray(), [[0, 0.5], [0, 0.5], [1, 0]])
    assert columns.nnz == 3
    assert not single
    columns, single = restart_columns("stationary", degrees)
    np.testing.assert_allclose(columns.toarray()[:, 0], degrees / 8)
    assert single


def test_degree_divisor():
    degrees = np.array([1.0, 4.0])
    assert degree_divisor("none", degrees) is None
    np.testing.assert_array_equal(degree_divisor("sqrt_degree", degrees), [[1], [2]])
    np.testing.assert_array_equal(degree_divisor("degree", degrees), [[1], [4]])
    for bad in (None, "root", 2):
        with pytest.raises(ValueError, match="normalize="):
            degree_divisor(bad, degrees)
