"""Data frames with categories, dates and truth values as features, through :mod:`gramian.tables`.

Frames of numbers alone are arrays with names, and are not touched. pandas is needed only when there is such a frame.
"""

from __future__ import annotations

import warnings
from dataclasses import dataclass
from typing import Any

from gramian.mixture.mixed_columns import categorical_columns, is_frame
from gramian.tables import BOOLEAN, CATEGORY, Preparation, read_table
from gramian.typing import Array


def has_other_kinds(X: Any) -> bool:
    """Whether X is a data frame with columns that are no numbers.

    Examples
    --------
    >>> import pandas as pd
    >>> has_other_kinds(pd.DataFrame({"a": [1.0, 2.0]})), has_other_kinds(pd.DataFrame({"a": ["x", "y"]}))
    (False, True)
    """
    return is_frame(X) and 0 not in X.shape and bool(categorical_columns(X, "from_dtype").any())


@dataclass(frozen=True)
class PreparedFrame:
    """The features of a data frame.

    Attributes
    ----------
    features : ndarray (n, m)
        NaN where missing.
    columns : list (m,)
        The column that each feature comes from.
    categories : list
        The columns that are categories or truth values.
    preparation : Preparation
        For new rows.
    """

    features: Array
    columns: list[str]
    categories: list[str]
    preparation: Preparation

    @classmethod
    def of(cls, X: Any) -> PreparedFrame:
        """Learn the kinds of the columns of a pandas or polars frame, and make features of them."""
        table = read_table(X)
        preparation = Preparation().fit(table)
        categories = [column.name for column in table.columns if column.kind in (CATEGORY, BOOLEAN)]
        return cls(preparation.transform(table), preparation.feature_columns_, categories, preparation)


def new_features(preparation: Preparation, X: Any) -> Array:
    """Features of new rows of a frame; a level that was not seen is missing, and so is, with a warning, a slip."""
    if not is_frame(X):
        raise TypeError(
            f"X is {type(X).__name__} but the clusters are those of a data frame; pass a data frame with the columns "
            f"{', '.join(map(repr, list(preparation.kinds_)[:5]))}{', ...' if len(preparation.kinds_) > 5 else ''}"
        )
    table = read_table(X, like=preparation)
    for column in table.columns:
        if column.name in preparation.kinds_ and column.note:
            warnings.warn(f"X, column {column.name!r}: {column.note}", UserWarning, stacklevel=4)
    return preparation.transform(table)
