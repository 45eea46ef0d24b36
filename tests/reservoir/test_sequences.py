"""Sequences in their three forms, and the answers in the form they came in."""

import numpy as np
import pandas as pd
import pytest

from gramian.reservoir import Reservoir
from gramian.reservoir.sequences import check_sequences, check_series, first_rows, is_list

OWNER = Reservoir()
A, B = np.arange(6.0).reshape(3, 2), np.arange(4.0).reshape(2, 2) + 10


def test_one_array_is_one_sequence():
    found = check_sequences(OWNER, A, reset=True)
    assert found.single
    assert found.n_rows == 3
    np.testing.assert_array_equal(found.answer([A]), A)


def test_a_list_of_arrays_is_answered_by_a_list():
    found = check_sequences(OWNER, [A, B], reset=True)
    assert [len(part) for part in found.parts] == [3, 2]
    assert not found.single
    answer = found.answer([A[:, 0], B[:, 0]])
    assert isinstance(answer, list)
    np.testing.assert_array_equal(answer[1], B[:, 0])


def test_groups_are_answered_by_one_array():
    both = np.vstack([A, B])
    found = check_sequences(OWNER, both, ["a"] * 3 + ["b"] * 2, reset=True)
    np.testing.assert_array_equal(found.parts[1], B)
    np.testing.assert_array_equal(found.answer(found.parts), both)


def test_rows_as_lists_are_one_array_and_frames_are_sequences():
    assert not is_list(A.tolist())
    assert is_list([pd.DataFrame(A), pd.DataFrame(B)])
    assert first_rows([A, B]) is A
    assert first_rows(A) is A


def test_float32_is_remembered_and_computed_in_float64():
    found = check_sequences(OWNER, [A.astype(np.float32), B.astype(np.float32)], reset=True)
    assert found.dtype == np.float32
    assert found.parts[0].dtype == np.float64
    assert check_sequences(OWNER, [A.astype(np.float32), B], reset=True).dtype == np.float64


@pytest.mark.parametrize(
    ("U", "groups", "told"),
    [
        ([A, B[:, :1]], None, "sequence 1 has 1 columns but sequence 0 has 2"),
        ([A, B], [0] * 5, "groups cannot be given with a list"),
        (A, [0, 1], "one label for each of the 3 rows"),
        (A, [0, 1, 0], "comes back after another"),
        ([A[:1]], None, "1 rows in all sequences"),
        ([A[:, 0], B[:, 0]], None, r"shape \(3,\), \(2,\); pass each sequence as rows"),
    ],
)
def test_sequences_that_do_not_fit_are_refused(U, groups, told):
    with pytest.raises(ValueError, match=told):
        check_sequences(OWNER, U, groups, reset=True, min_rows=2)


def test_targets_follow_the_sequences():
    found = check_sequences(OWNER, [A, B], reset=True)
    parts = check_series([[1, 2, 3], [4, 5]], found)
    assert [part.shape for part in parts] == [(3, 1), (2, 1)]
    for wrong, told in (
        ([1, 2, 3, 4, 5], "list of 2 arrays"),
        ([[1, 2, 3]], "list of 2 arrays"),
        ([[1, 2, 3], [[4, 4], [5, 5]]], "sequence 1 has 2 columns"),
        ([[1, 2, 3], [4]], "sequence 1 has 1 entries but X has 2 rows"),
        ([[1, 2, np.nan], [4, 5]], "NaN"),
    ):
        with pytest.raises(ValueError, match=told):
            check_series(wrong, found)
