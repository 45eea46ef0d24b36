"""Cells as texts, for outputs that give values back as they came.

Text files have texts already. Parquet, Excel and data frames have values with types, which are written as people do.
"""

from __future__ import annotations

from typing import Any

__all__ = ["as_written"]


def as_written(values: Any) -> Any:
    """Write the cells of a column as text: whole numbers without a point, days without a time of day.

    Parameters
    ----------
    values : pyarrow.ChunkedArray or pandas.Series (n,)

    Returns
    -------
    texts : pyarrow.ChunkedArray of string (n,)
        Null where a value is missing.

    Examples
    --------
    >>> import pandas as pd
    >>> as_written(pd.Series(pd.to_datetime(["2024-02-29", None]))).to_pylist()
    ['2024-02-29', None]
    >>> as_written(pd.Series([2007, None, 1.5])).to_pylist()
    ['2007', None, '1.5']
    """
    import pyarrow as pa
    import pyarrow.compute as pc

    if not isinstance(values, pa.ChunkedArray):
        try:
            values = pa.chunked_array([pa.array(values, from_pandas=True)])
        except (pa.ArrowInvalid, pa.ArrowTypeError):  # values of several types
            values = pa.chunked_array([pa.array(values.map(str, na_action="ignore"), pa.string(), from_pandas=True)])
    if pa.types.is_dictionary(values.type):
        values = values.cast(values.type.value_type)
    try:
        texts = values.cast(pa.string())
    except (pa.ArrowNotImplementedError, pa.ArrowInvalid):  # lists and the like
        shown = [None if value is None else str(value) for value in values.to_pylist()]
        texts = pa.chunked_array([pa.array(shown, pa.string())])
    if pa.types.is_timestamp(values.type):
        texts = pc.replace_substring_regex(texts, r"\.0+(Z?)$", r"\1")
        if pc.all(pc.match_substring_regex(texts, " 00:00:00$")).as_py():
            texts = pc.replace_substring(texts, " 00:00:00", "")
    return texts
