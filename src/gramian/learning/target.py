"""The column that is to be predicted: its values as numbers or classes, and what is said where that cannot be."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from gramian.exploration.wording import count
from gramian.tables import (
    BOOLEAN,
    CATEGORY,
    CONSTANT,
    DATE,
    EMPTY,
    IDENTIFIER,
    IGNORED,
    NUMBER,
    TEXT,
    Column,
    Table,
    as_written,
    nearest,
)
from gramian.typing import Array

_FEWEST_ROWS = 10
_MOST_CLASSES = 50
_LARGEST = 1e100  # and its inverse: differences whose squares are numbers yet

_REFUSED = {
    DATE: "holds dates, and numbers or categories are predicted; add a column with the days since some date",
    IDENTIFIER: "looks like an identifier, a value of its own for every row; if it is a quantity, pass --number {}",
    TEXT: "holds free text; if its values are classes, pass --category {}",
    CONSTANT: "has one value only, so there is nothing to predict; name another column",
    EMPTY: "has no value; name another column",
    IGNORED: "is left out by --ignore or --columns; leave it in to predict it",
}


@dataclass(frozen=True)
class Target:
    """The column to predict.

    Attributes
    ----------
    name : str
    values : ndarray (n,)
        Numbers with NaN, or classes 0, 1, … with −1 where there is none.
    classes : list of str
        As the table writes them; empty for numbers.
    """

    name: str
    values: Array
    classes: list[str]

    @property
    def known(self) -> Array:
        """Which rows have a value, (n,)."""
        return self.values >= 0 if self.classes else np.isfinite(self.values)


def target_of(table: Table, name: str) -> Target:
    """The column of that name, or an error that says why it cannot be predicted and what to do."""
    column = next((column for column in table.columns if column.name == name), None)
    if column is None:
        names = [column.name for column in table.columns]
        near = nearest(name, names)
        known = f"did you mean {', '.join(map(repr, near))}?" if near else f"it has {_some(names)}"
        raise ValueError(f"{table.source} has no column {name!r}; {known}")
    if column.kind in _REFUSED:
        raise ValueError(f"{table.source}, column {name!r} {_REFUSED[column.kind].format(name)}")
    series = table.frame[name]
    if column.kind == NUMBER:
        found = Target(name, series.to_numpy(np.float64, na_value=np.nan), [])
    else:
        found = _classes(table, column, series)
    n = int(found.known.sum())
    if n < _FEWEST_ROWS:
        raise ValueError(
            f"{table.source}, column {name!r} has {count(n, 'value')}; at least {_FEWEST_ROWS} rows need one"
        )
    if not found.classes:
        with np.errstate(over="ignore"):
            spread = float(np.ptp(found.values[found.known]))
        if spread == 0:
            raise ValueError(f"{table.source}, column {name!r} {_REFUSED[CONSTANT]}")
        if not 1 / _LARGEST < spread < _LARGEST:
            raise ValueError(
                f"{table.source}, column {name!r} has values that differ by {spread:.1e}, so squared errors are too "
                "large or too small for numbers; write the column in another unit"
            )
    return found


def _classes(table: Table, column: Column, series: Any) -> Target:
    import pandas as pd

    if column.kind == BOOLEAN:
        codes = np.where(series.isna(), -1, series.fillna(False).to_numpy(bool)).astype(int)
        texts = pd.Series(as_written(table.cells.get(column.name, series)).to_pandas())
        written = [texts[codes == code].dropna() for code in (0, 1)]
        names = [str(found.mode().iloc[0]) if len(found) else "" for found in written]
    else:
        values = series.astype("category") if column.kind != CATEGORY else series
        codes = np.asarray(values.cat.codes, int)
        names = [str(level) for level in values.cat.categories]
    present, place = np.unique(codes[codes >= 0], return_inverse=True)
    sizes = np.bincount(place)
    where = f"{table.source}, column {column.name!r}"
    if len(present) > _MOST_CLASSES:
        raise ValueError(
            f"{where} has {len(present):,} classes, more than {_MOST_CLASSES}; join rare classes, or pass "
            f"--number {column.name} if it is a quantity"
        )
    if (sizes >= 2).sum() < 2:
        raise ValueError(f"{where} needs two classes of at least two rows each; it has {_sized(names, present, sizes)}")
    numbered = np.full(len(codes), -1)
    numbered[codes >= 0] = place
    return Target(column.name, numbered, [names[code] for code in present])


def _sized(names: list[str], present: Array, sizes: Array) -> str:
    return ", ".join(
        f"{names[code]!r} in {count(int(n), 'row')}" for code, n in zip(present[:5], sizes[:5], strict=True)
    )


def _some(names: list[str]) -> str:
    return ", ".join(map(repr, names[:5])) + (", ..." if len(names) > 5 else "")


def other_columns(table: Table, name: str) -> Table:
    """The table without the column in what tells rows apart."""
    columns = [replace(column, kind=IGNORED) if column.name == name else column for column in table.columns]
    rest = replace(table, columns=columns)
    if not rest.used:
        raise ValueError(
            f"{table.source} has no column but {name!r} that tells rows apart: the others are constant, empty, "
            "identifiers or free text"
        )
    return rest
