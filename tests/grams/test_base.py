"""What every Gram does alike: indices of samples, diagonals, degrees that are kept."""

import contextlib
import pickle

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import gramian
from gramian.grams import DenseGram, FeatureGram, Gram
from gramian.grams.base import as_diagonal, multiplier, on_diagonal, places


class Minimum(Gram):
    """k(i, j) = min(i, j) + 1: the three hooks and nothing else."""

    def _matrix(self):
        i = np.arange(self.shape[0])
        return np.minimum(i[:, None], i) + 1.0

    def _product(self, V):
        return self._matrix() @ V

    def _rows(self, index):
        return self._matrix()[index]

    def _diagonal(self):
        return np.arange(self.shape[0]) + 1.0


def test_three_hooks_are_enough():
    """A Gram of three hooks has entries, parts, views, eigenpairs and solutions."""
    gram, K = Minimum(12, np.float64), np.minimum.outer(np.arange(12), np.arange(12)) + 1.0
    np.testing.assert_array_equal(gram.dense(), K)
    np.testing.assert_array_equal(gram.block([3, 1], slice(2, 5)), K[[3, 1], 2:5])
    np.testing.assert_array_equal(gram.restricted([4, 2]).dense(), K[np.ix_([4, 2], [4, 2])])
    np.testing.assert_array_equal(gram.degrees(), K.sum(axis=1))
    assert gram.trace() == K.trace()
    assert gram.hold().held
    assert (gram.factor, gram.csr, gram.least()) == (None, None, None)
    np.testing.assert_allclose(gram.eigenpairs(2)[0], np.linalg.eigvalsh(K)[::-1][:2])
    np.testing.assert_allclose(gram.factorization(0.0).solve(K[:, 0]), np.eye(12)[0], atol=1e-12)


@given(st.integers(1, 12), st.data())
def test_places_are_numpy_indices(n, data):
    """Slices, whole numbers of either sign and masks name the samples they name in an array."""
    ends = st.none() | st.integers(-n - 2, n + 2)
    index = data.draw(
        st.builds(slice, ends, ends, st.none() | st.sampled_from([1, 2, -1, -3]))
        | st.lists(st.integers(-n, n - 1))
        | st.lists(st.booleans(), min_size=n, max_size=n)
    )
    every = np.arange(n)
    expected = every[index] if isinstance(index, slice) or len(index) else np.empty(0, int)
    np.testing.assert_array_equal(every[places(index, n)], expected)


@given(st.lists(st.integers(0, 6)), st.lists(st.integers(0, 6)))
def test_on_diagonal_finds_every_meeting(rows, columns):
    """All pairs (i, j) with rows[i] == columns[j], each once."""
    i, j = on_diagonal(np.array(rows, int), np.array(columns, int))
    expected = [(a, b) for a in range(len(rows)) for b in range(len(columns)) if rows[a] == columns[b]]
    assert sorted(zip(i.tolist(), j.tolist(), strict=True)) == expected


def test_on_diagonal_of_slices():
    """Two slices meet where they overlap."""
    for rows, columns in ((slice(2, 7), slice(4, 9)), (slice(0, 3), slice(3, 5)), (slice(4, 6), slice(0, 9))):
        i, j = on_diagonal(rows, columns)
        shared = sorted(set(range(rows.start, rows.stop)) & set(range(columns.start, columns.stop)))
        assert (i + rows.start).tolist() == (j + columns.start).tolist() == shared


def test_numbers_are_checked():
    """A diagonal is one number or n; a multiplier is a finite number, and keeps the dtype."""
    np.testing.assert_array_equal(as_diagonal(2, 3, np.float32), np.full(3, 2, np.float32))
    with pytest.raises(ValueError, match=r"shift has shape \(2,\); pass a number or one per sample, shape \(3,\)"):
        as_diagonal([1, 2], 3, float, "shift")
    assert multiplier(0.5, np.dtype(np.float32)).dtype == np.float32
    for bad in (np.nan, True, "1"):
        with pytest.raises(ValueError, match="must be a finite number"):
            multiplier(bad, np.dtype(float))


@pytest.mark.parametrize(
    ("ask", "what"), [(lambda K: K.rows([1, 2]), r"rows\(index\)"), (lambda K: K.restricted(range(9)), "9×9")]
)
def test_the_budget_counts_what_is_asked_for(ask, what):
    """Rows and parts that do not fit are refused before they are computed."""
    with gramian.config(memory_budget=9 * 8), pytest.raises(gramian.MemoryBudgetError, match=what):
        ask(Minimum(12, np.float64))


@pytest.mark.parametrize("kind", [DenseGram, FeatureGram])
def test_whole_numbers_become_floats(kind):
    """A matrix of ints multiplies a vector of fractions like any other matrix."""
    K = kind(np.array([[2, 1], [1, 2]]))
    assert K.dtype == np.float64
    assert np.any(K @ np.array([0.5, 0.5]))


def test_rows_take_slices_and_nothing():
    """rows() takes a slice and an empty list, like an array."""
    gram = DenseGram(np.eye(5))
    assert gram.rows(slice(1, 3)).shape == (2, 5)
    assert gram.rows([]).shape == (0, 5)


def test_a_mask_of_few_rows_fits():
    """The memory of rows(mask) is that of the rows it picks."""
    gram = DenseGram(np.eye(50))
    with gramian.config(memory_budget=50 * 8 * 3):
        assert gram.rows(np.arange(50) < 3).shape == (3, 50)


def test_degrees_cannot_be_spoilt():
    """Writing into degrees() does not change the Gram."""
    gram = DenseGram(np.eye(3))
    with contextlib.suppress(ValueError):
        gram.degrees()[:] = 7
    np.testing.assert_array_equal(gram.degrees(), 1)


def test_grams_can_be_pickled():
    """Grams go to other processes, feature Grams and their views too."""
    for gram in (FeatureGram(np.eye(4)), FeatureGram(np.eye(4)).centered()):
        np.testing.assert_array_equal(pickle.loads(pickle.dumps(gram)).dense(), gram.dense())
