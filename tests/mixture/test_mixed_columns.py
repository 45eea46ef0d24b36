"""Categorical columns of arrays and frames, and their entries as numbers of levels."""

import numpy as np
import pandas as pd
import polars as pl
import pytest

from gramian.mixture.mixed_columns import categorical_columns, codes_of, learn_levels, numbers_of, written

FRAME = pd.DataFrame(
    {
        "size": [1.5, np.nan, 2.5, 3.0],
        "kind": pd.Categorical(["b", "a", None, "b"], categories=["b", "a", "never"]),
        "count": pd.array([1, 2, None, 4], dtype="Int64"),
        "word": ["x", None, "y", "x"],
        "text": pd.array(["u", pd.NA, "v", "u"], dtype="string"),
        "yes": [True, False, True, True],
        "perhaps": pd.array([True, None, False, True], dtype="boolean"),
    }
)
CATEGORICAL = [False, True, False, True, True, True, True]


def test_categories_text_and_booleans_of_a_frame_are_categorical():
    assert categorical_columns(FRAME, "from_dtype").tolist() == CATEGORICAL
    lazy = pl.DataFrame({"a": [1, 2], "b": ["x", None], "c": [True, False], "d": [0.5, None]})
    assert categorical_columns(lazy, "from_dtype").tolist() == [False, True, True, False]
    assert not categorical_columns(np.zeros((2, 3)), "from_dtype").any()


@pytest.mark.parametrize("given", [[1, 3], [False, True, False, True], np.array([-1, 1]), ["b", "d"]])
def test_indices_masks_and_names_say_the_same(given):
    frame = pd.DataFrame(np.zeros((2, 4)), columns=list("abcd"))
    assert categorical_columns(frame, given).tolist() == [False, True, False, True]


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ("all", "'all' is not known"),
        ([4], "from 0 to 3"),
        ([0.5], "from 0 to 3"),
        ([True], "pass 4 booleans"),
        (["z"], "'z', which is not a column"),
        ([[0]], "pass a flat list"),
    ],
)
def test_what_is_no_column_is_refused(given, message):
    with pytest.raises(ValueError, match=message):
        categorical_columns(pd.DataFrame(np.zeros((2, 4)), columns=list("abcd")), given)


def test_levels_are_the_observed_values_sorted_and_codes_their_places():
    mask = categorical_columns(FRAME, "from_dtype")
    levels = learn_levels(FRAME, mask)
    assert [level.tolist() for level in levels] == [["a", "b"], ["x", "y"], ["u", "v"], [False, True], [False, True]]
    expected = [[1, 0, -1, 1], [0, -1, 1, 0], [0, -1, 1, 0], [1, 0, 1, 1], [1, -1, 0, 1]]
    assert codes_of(FRAME, mask, levels).T.tolist() == expected
    np.testing.assert_array_equal(numbers_of(FRAME, ~mask, None), [[1.5, 1], [np.nan, 2], [2.5, np.nan], [3, 4]])


def test_polars_and_arrays_of_objects_give_the_same_codes():
    mask = np.array([False, True])
    pandas = pd.DataFrame({"a": [1.0, 2.0, 3.0], "b": ["x", None, "a"]})
    for X in (pandas, pl.from_pandas(pandas), pandas.to_numpy(dtype=object)):
        levels = learn_levels(X, mask)
        assert levels[0].tolist() == ["a", "x"]
        assert codes_of(X, mask, levels).ravel().tolist() == [1, -1, 0]
        np.testing.assert_array_equal(numbers_of(X, ~mask, None).ravel(), [1, 2, 3])


def test_unseen_levels_have_no_code():
    mask = np.ones(1, bool)
    assert codes_of(np.array([["b"], ["c"]], object), mask, [np.array(["a", "b"])]).ravel().tolist() == [1, -1]
    assert codes_of(np.array([[3.0], [2.0], [np.nan]]), mask, [np.array([2.0])]).ravel().tolist() == [-1, 0, -1]
    assert codes_of(np.array([[1.0]]), mask, [np.array(["a"])]).ravel().tolist() == [-1]
    for nothing_known in (np.array([["a"]], object), np.array([[1.0]])):
        assert codes_of(nothing_known, mask, [np.array([])]).ravel().tolist() == [-1]
    assert codes_of(np.array([[None]], object), mask, [np.array(["a"])]).ravel().tolist() == [-1]


@pytest.mark.parametrize("mixed", [["a", 1], [(1, 2), (3, 4)]])
def test_values_of_several_types_are_refused(mixed):
    X = np.empty((2, 1), object)
    X[0, 0], X[1, 0] = mixed
    with pytest.raises(TypeError, match=r"column 0 of X .* convert it to text"):
        learn_levels(X, np.ones(1, bool))


def test_levels_are_written_where_nothing_stood():
    mask = np.array([True, False])
    X = pd.DataFrame({"b": ["x", None, "new", None], "a": [1.0, np.nan, 3.0, 4.0]})
    numbers, codes = np.array([[1.0], [2.0], [3.0], [4.0]]), np.array([[1], [1], [0], [-1]])
    table = written(X, mask, numbers, [np.array(["x", "y"])], codes)
    assert table.tolist() == [["x", 1.0], ["y", 2.0], ["new", 3.0], [None, 4.0]]
    plain = written(None, mask, np.array([[0.5]]), [np.array([7.0, 8.0])], np.array([[1]]))
    assert plain.dtype == np.float64
    assert plain.tolist() == [[8.0, 0.5]]
