"""Every way of naming seeds gives the distribution it describes, and what describes none is refused by name."""

import numpy as np
import pytest
from scipy.sparse import csr_array, issparse

from gramian.ranking import restart_matrix


@pytest.mark.parametrize(
    ("seeds", "expected"),
    [
        (None, [0.25, 0.25, 0.25, 0.25]),
        ("uniform", [0.25, 0.25, 0.25, 0.25]),
        (2, [0, 0, 1, 0]),
        (np.int32(2), [0, 0, 1, 0]),
        ([0, 3], [0.5, 0, 0, 0.5]),
        ([3, 0, 3], [0.5, 0, 0, 0.5]),
        ({1, 2}, [0, 0.5, 0.5, 0]),
        (range(2), [0.5, 0.5, 0, 0]),
        ({1: 1, 3: 3.0}, [0, 0.25, 0, 0.75]),
        (np.array([True, False, True, False]), [0.5, 0, 0.5, 0]),
        (np.array([1.0, 0, 3.0, 0]), [0.25, 0, 0.75, 0]),
        ([1e308, 1e308, 0.0, 0.0], [0.5, 0.5, 0, 0]),
    ],
)
def test_one_distribution(seeds, expected):
    """Indices, sets, masks, weights and dictionaries are one column of sum one."""
    column, squeeze = restart_matrix(seeds, 4)
    assert squeeze
    np.testing.assert_allclose(column[:, 0], expected, rtol=1e-15)


def test_batches():
    """Columns are normalised one by one; sparse stays sparse; a single column is still a batch."""
    weights = np.array([[1.0, 0], [1.0, 2.0], [0, 6.0]])
    dense, squeeze = restart_matrix(weights, 3)
    assert not squeeze
    np.testing.assert_allclose(dense, [[0.5, 0], [0.5, 0.25], [0, 0.75]])
    sparse, squeeze = restart_matrix(csr_array(weights), 3)
    assert issparse(sparse)
    assert not squeeze
    np.testing.assert_allclose(sparse.toarray(), dense)
    assert not restart_matrix(weights[:, :1], 3)[1]


def test_stationary_is_in_proportion_to_degrees():
    column, squeeze = restart_matrix("stationary", 3, degrees=np.array([1.0, 2.0, 1.0]))
    assert squeeze
    np.testing.assert_allclose(column[:, 0], [0.25, 0.5, 0.25])


def test_the_callers_array_is_left_alone():
    weights = np.array([2.0, 2.0])
    sparse = csr_array(np.array([[2.0], [2.0]]))
    restart_matrix(weights, 2)
    restart_matrix(sparse, 2)
    np.testing.assert_array_equal(weights, 2.0)
    np.testing.assert_array_equal(sparse.data, 2.0)


@pytest.mark.parametrize(
    ("seeds", "message"),
    [
        ([], "empty"),
        ({}, "empty"),
        (np.zeros(4, bool), "empty"),
        (4, "node 4"),
        (-1, "node -1"),
        ([0, 9], "node 9"),
        ({0.5: 1.0}, "0.5"),
        (True, "True"),
        (1.5, "1.5"),
        ("all", "'all'"),
        ("stationary", "'stationary'"),
        ({0: -1.0}, "-1.0"),
        ({0: 0.0}, "no weight"),
        ({0: "much"}, "real numbers"),
        (np.array([1.0, np.nan, 0, 0]), "nan"),
        (np.array([1.0, np.inf, 0, 0]), "inf"),
        (np.array([1.0, -2.0, 0, 0]), "-2.0"),
        (np.zeros(4), "no weight in column 0"),
        (np.ones(3), r"shape \(3,\)"),
        (np.ones((3, 2)), r"shape \(3, 2\)"),
        (np.ones((4, 0)), "no column"),
        (np.ones((4, 2, 2)), "shape"),
        (np.ones(3, bool), "mask of 3"),
        (np.array([[1.0, 0], [0, 0], [0, 0], [0, 0]]), "column 1"),
        (csr_array(np.ones((3, 1))), "one row per node"),
        (csr_array(np.array([[1.0, 0], [0, 0], [0, 0], [0, 0]])), "column 1"),
        (csr_array(-np.ones((4, 1))), "-1.0"),
    ],
)
def test_refusals(seeds, message):
    """An error names seeds and the value."""
    with pytest.raises(ValueError, match=message) as caught:
        restart_matrix(seeds, 4)
    assert "seeds" in str(caught.value)
