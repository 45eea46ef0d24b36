"""The one object that every loader returns: a table coded as numbers, with the names to read it back.

``bundled.py``, ``local.py`` and ``openml.py`` build it; nothing here reads files. pandas is imported only when
``frame`` is asked for.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import numpy as np

from gramian.typing import Array

__all__ = ["Table", "code_column", "parse_numbers"]


@dataclass(frozen=True, eq=False, repr=False)
class Table:
    """A data table as arrays.

    Attributes
    ----------
    X : array of shape (n, d)
        Numbers, NaN where a value is missing. A column of text holds the codes 0, 1, ... of its categories.
    y : array of shape (n,) or None
        The target: codes into ``target_names`` with -1 for unlabelled rows, or numbers if ``target_names`` is empty.
    feature_names : tuple of str
        Names of the columns of X.
    target_names : tuple of str
        What the codes in y stand for.
    categories : dict from str to tuple of str
        For each column of text, what its codes stand for.
    target : str or None
        Name of the target column.
    name, description : str
        What the table is called, where it comes from and under which licence.

    Examples
    --------
    >>> from gramian.datasets import load_table
    >>> zoo = load_table("zoo")
    >>> zoo
    Table 'zoo': 101 rows, 16 features (15 categorical), 0 missing cells, target 'label' with 7 classes
    >>> zoo.categories["milk"]
    ('false', 'true')
    """

    X: Array
    y: Array | None
    feature_names: tuple[str, ...]
    target_names: tuple[str, ...] = ()
    categories: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    target: str | None = None
    name: str = "table"
    description: str = ""

    def __repr__(self) -> str:
        n, d = self.X.shape
        text = f"Table {self.name!r}: {n} rows, {d} features"
        if self.categories:
            text += f" ({len(self.categories)} categorical)"
        text += f", {self.n_missing} missing cells"
        if self.target is not None:
            text += f", target {self.target!r}"
            text += f" with {len(self.target_names)} classes" if self.target_names else ""
        return text

    @property
    def n_missing(self) -> int:
        """Number of missing cells of X."""
        return int(np.isnan(self.X).sum())

    @cached_property
    def frame(self) -> Any:
        """The table as a pandas DataFrame, categories spelled out and the target last. Needs pandas.

        Examples
        --------
        >>> from gramian.datasets import load_table
        >>> load_table("zoo").frame[["milk", "legs", "label"]].head(2)
           milk  legs   label
        0  true   4.0  mammal
        1  true   4.0  mammal
        """
        try:
            import pandas as pd
        except ImportError as error:
            raise ImportError("Table.frame needs pandas; install it with: pip install 'gramian[app]'") from error
        columns: dict[str, Any] = {}
        for name, column in zip(self.feature_names, self.X.T, strict=True):
            if name in self.categories:
                codes = np.where(np.isnan(column), -1, column).astype(np.intp)
                columns[name] = pd.Categorical.from_codes(codes, list(self.categories[name]))
            else:
                columns[name] = column
        if self.y is not None:
            coded = bool(self.target_names)
            columns[self.target or "target"] = (
                pd.Categorical.from_codes(self.y, list(self.target_names)) if coded else self.y
            )
        return pd.DataFrame(columns)


def code_column(
    cells: Sequence[str],
    name: str,
    *,
    missing: Collection[str],
    categorical: bool = False,
    rows: Sequence[int] | None = None,
) -> tuple[Array, tuple[str, ...]]:
    """Turn one column of text into numbers.

    A column in which more than half of the filled cells are numbers is numeric, and a cell that is not is an
    error; any other column is categorical, and its codes follow the sorted texts.

    Parameters
    ----------
    cells : sequence of str
    name : str
        For messages.
    missing : collection of str
        Texts that stand for a missing value, which becomes NaN.
    categorical : bool, default False
        Code the texts even if they look like numbers.
    rows : sequence of int, optional
        Line of the file that holds each cell, for messages; counted from 2 if not given.

    Returns
    -------
    values : array of shape (n,)
    categories : tuple of str
        Empty for a numeric column.

    Examples
    --------
    >>> from gramian.datasets.table import code_column
    >>> code_column(["b", "a", "?"], "grade", missing={"?"})
    (array([ 1.,  0., nan]), ('a', 'b'))
    >>> code_column(["1.5", "2", "three"], "grade", missing=())
    Traceback (most recent call last):
        ...
    ValueError: row 4, column 'grade': 'three' is not a number; correct the cell, add it to missing=, or ...
    """
    texts = np.array([cell.strip() for cell in cells], dtype=str)
    filled = ~np.isin(texts, np.array(list(missing), dtype=str))
    values = np.full(len(texts), np.nan)
    if not categorical:
        numbers, wrong = parse_numbers(texts[filled])
        if len(wrong) == 0 or len(wrong) < 0.5 * filled.sum():
            if len(wrong):
                place = int(np.flatnonzero(filled)[wrong[0]])
                row = place + 2 if rows is None else rows[place]
                raise ValueError(
                    f"row {row}, column {name!r}: {str(texts[place])!r} is not a number; "
                    f"correct the cell, add it to missing=, or pass categorical=[{name!r}]"
                )
            values[filled] = numbers
            return values, ()
    names, codes = np.unique(texts[filled], return_inverse=True)
    values[filled] = codes
    return values, tuple(names.tolist())


def parse_numbers(texts: Array) -> tuple[Array, Array]:
    """The texts as numbers, and the places of those that are none or not finite.

    Examples
    --------
    >>> import numpy as np
    >>> from gramian.datasets.table import parse_numbers
    >>> parse_numbers(np.array(["1", "2e3", "x", "inf"]))[1]
    array([2, 3])
    """
    try:
        numbers = texts.astype(np.float64)
    except ValueError:
        numbers = np.array([_number(text) for text in texts.tolist()])
    return numbers, np.flatnonzero(~np.isfinite(numbers))


def _number(text: str) -> float:
    try:
        return float(text)
    except ValueError:
        return np.nan
