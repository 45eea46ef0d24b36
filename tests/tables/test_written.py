"""Typed cells are written as people write them."""

from datetime import date, datetime

import pandas as pd
import pyarrow as pa
import pytest

from gramian.tables.written import as_written


@pytest.mark.parametrize(
    ("values", "texts"),
    [
        ([2007, None], ["2007", None]),
        ([0.1, 2.0], ["0.1", "2"]),
        ([True, None], ["true", None]),
        ([date(2024, 2, 29)], ["2024-02-29"]),
        ([datetime(2024, 2, 29), None], ["2024-02-29", None]),
        ([datetime(2024, 2, 29), datetime(2024, 3, 1, 8, 30)], ["2024-02-29 00:00:00", "2024-03-01 08:30:00"]),
        ([datetime(2024, 2, 29, 1, 2, 3, 500000)], ["2024-02-29 01:02:03.500000"]),
        ([[1, 2], None], ["[1, 2]", None]),
        (["a", None], ["a", None]),
    ],
)
def test_values_of_all_types(values, texts):
    assert as_written(pa.chunked_array([pa.array(values)])).to_pylist() == texts


def test_columns_of_pandas():
    assert as_written(pd.Series(["b", None, "a"], dtype="category")).to_pylist() == ["b", None, "a"]
    assert as_written(pd.Series([1, "x", None], dtype=object)).to_pylist() == ["1", "x", None]
