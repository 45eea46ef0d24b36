"""Tables as arrays: how columns of text are coded, what is shown, and the way back to a data frame."""

import numpy as np
import pandas as pd
import pytest
from numpy.testing import assert_array_equal

from gramian.datasets.table import Table, code_column, parse_numbers


@pytest.fixture
def table():
    X = np.array([[1.5, 0.0], [np.nan, 1.0], [2.0, np.nan]])
    y = np.array([1, 0, -1])
    return Table(X, y, ("size", "colour"), ("no", "yes"), {"colour": ("blue", "red")}, "bought", "shop")


def test_the_way_back_to_a_frame(table):
    """Codes become their texts, missing cells and unlabelled rows stay missing, and the target is last."""
    frame = table.frame
    expected = pd.DataFrame(
        {
            "size": [1.5, np.nan, 2.0],
            "colour": pd.Categorical(["blue", "red", None], categories=["blue", "red"]),
            "bought": pd.Categorical(["yes", "no", None], categories=["no", "yes"]),
        }
    )
    pd.testing.assert_frame_equal(frame, expected)
    assert table.frame is frame
    numbers = Table(table.X[:, :1], np.array([0.5, 1.5, 2.5]), ("size",), target="price").frame
    assert_array_equal(numbers["price"], [0.5, 1.5, 2.5])
    assert list(Table(table.X[:, :1], np.array([1.0, 2, 3]), ("size",)).frame.columns) == ["size", "target"]
    assert list(Table(table.X[:, :1], None, ("size",)).frame.columns) == ["size"]


def test_what_is_shown(table):
    """Rows, columns, holes and the target, each only where there is one."""
    assert table.n_missing == 2
    assert repr(table) == (
        "Table 'shop': 3 rows, 2 features (1 categorical), 2 missing cells, target 'bought' with 2 classes"
    )
    assert repr(Table(table.X[:, :1], None, ("size",))) == "Table 'table': 3 rows, 1 features, 1 missing cells"
    numbers = Table(table.X[:, :1], np.zeros(3), ("size",), target="price")
    assert repr(numbers).endswith("1 missing cells, target 'price'")


def test_columns_of_numbers():
    """Spaces do not matter, and what stands for missing is NaN."""
    values, names = code_column([" 1 ", "2e1", "?", "", "-3.5"], "a", missing={"?", ""})
    assert_array_equal(values, [1, 20, np.nan, np.nan, -3.5])
    assert names == ()
    values, names = code_column(["?", "?"], "a", missing={"?"})
    assert np.isnan(values).all()
    assert names == ()


def test_columns_of_text():
    """Codes follow the sorted texts; half numbers, half texts is a column of texts."""
    values, names = code_column(["pear", "apple", "?", "pear"], "a", missing={"?"})
    assert_array_equal(values, [1, 0, np.nan, 1])
    assert names == ("apple", "pear")
    values, names = code_column(["1", "x"], "a", missing=())
    assert_array_equal(values, [0, 1])
    values, names = code_column(["10", "9", "10"], "a", missing=(), categorical=True)
    assert_array_equal(values, [0, 1, 0])
    assert names == ("10", "9")


def test_a_text_among_numbers_is_an_error_with_its_place():
    """The row counts from the line after the header, or is the one given."""
    with pytest.raises(ValueError, match=r"row 5, column 'a': 'x' is not a number; .*categorical=\['a'\]"):
        code_column(["1", "?", "2", "x"], "a", missing={"?"})
    with pytest.raises(ValueError, match="row 40, column 'a'"):
        code_column(["1", "2", "x"], "a", missing=(), rows=[10, 20, 40])
    with pytest.raises(ValueError, match="'inf' is not a number"):
        code_column(["1", "2", "inf"], "a", missing=())


def test_parse_numbers():
    """Numbers, and the places of what is none, all numbers or not."""
    numbers, wrong = parse_numbers(np.array(["1", "2.5"]))
    assert_array_equal(numbers, [1, 2.5])
    assert len(wrong) == 0
    numbers, wrong = parse_numbers(np.array(["1", "x", "nan", "-inf", "4"]))
    assert_array_equal(wrong, [1, 2, 3])
    assert_array_equal(numbers[[0, 4]], [1, 4])
