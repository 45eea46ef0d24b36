"""Values of new rows that the fitted table did not have: levels never seen, and numbers and dates far outside.

Such values are answered for all the same, and cells that are not of the kind of their column count as missing;
:func:`unseen_values` says where they are, so that people can be told.
"""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from gramian.tables.prepare import Preparation, number_feature, prepared_column
from gramian.tables.table import BOOLEAN, CATEGORY, DATE, NUMBER, Table
from gramian.typing import Array

__all__ = ["Unseen", "unseen_values"]

_FAR = 1.0  # deviations of the column beyond the smallest and the largest value
EMPTY = "no value to compare by"
_KINDS = {NUMBER: "number", DATE: "date", BOOLEAN: "truth value"}


@dataclass(frozen=True)
class Unseen:
    """What is unusual about new rows.

    Attributes
    ----------
    values : dict of str to dict of int to str
        For each column the rows (from 0) with a value that was not seen, and what is said of it.
    empty : ndarray of int
        Rows without any value to compare by; they have no group.
    n_rows : int
    unread : dict of str to dict of int to str
        The same for cells that hold something, but no value of the kind of their column; they count as missing.
    """

    values: dict[str, dict[int, str]]
    empty: Array
    n_rows: int
    unread: dict[str, dict[int, str]] = field(default_factory=dict)

    def notes(self) -> list[str]:
        """What is said of each row, "" for most."""
        told: list[list[str]] = [[] for _ in range(self.n_rows)]
        for found in (self.unread, self.values):
            for rows in found.values():
                for row, text in rows.items():
                    told[row].append(text)
        for row in self.empty:
            told[row].append(EMPTY)
        return ["; ".join(texts) for texts in told]

    def summary(self, *, groups: bool = True) -> list[str]:
        """All rows together, one sentence for each thing that is unusual; ``groups`` are said to be none for some."""
        told = []
        unread = "values that cannot be read and count as missing"
        for found, what in ((self.unread, unread), (self.values, "values that were not seen")):
            if n := len({row for rows in found.values() for row in rows}):
                which = ", ".join(f"{name} ({len(rows):,})" for name, rows in found.items() if rows)
                told.append(f"{n:,} {'row has' if n == 1 else 'rows have'} {what}: {which}")
        if n := len(self.empty):
            more = " and no group" if groups else ""
            told.append(f"{n:,} {'row has' if n == 1 else 'rows have'} no value to compare by{more}")
        return told


def unseen_values(preparation: Preparation, table: Any) -> Unseen:
    """Find the values of new rows that the table did not have.

    A number or date lies far outside if it is more than one standard deviation of its prepared column beyond the
    smallest or the largest value seen, so that a heavy tail may go on further than a light one.

    Parameters
    ----------
    preparation : Preparation
        Fitted on the table.
    table : Table or pandas.DataFrame
        The new rows.

    Returns
    -------
    unseen : Unseen

    Examples
    --------
    >>> import io
    >>> import pandas as pd
    >>> from gramian.tables import Preparation, read_table
    >>> from gramian.tables.unseen import unseen_values
    >>> text = b"weight,coat\\n4.1,long\\n,short\\n30,short\\n5.2,none\\n11,none\\n9.5,long\\n"
    >>> pets = Preparation().fit(read_table("pets.csv", stream=io.BytesIO(text)))
    >>> new = pd.DataFrame({"coat": ["long", "blue", None], "weight": [9.5, 900, None]})
    >>> unseen_values(pets, new).notes()
    ['', "weight 900 lies outside 4.1–30; coat 'blue' was not seen", 'no value to compare by']
    >>> unseen_values(pets, new).summary()
    ['1 row has values that were not seen: weight (1), coat (1)', '1 row has no value to compare by and no group']
    """
    frame = getattr(table, "frame", table)
    empty = np.flatnonzero(~np.isfinite(preparation.transform(table)).any(axis=1))
    found: dict[str, dict[int, str]] = {}
    for name, kind in preparation.kinds_.items():
        if kind == CATEGORY:
            found[name] = _levels(name, preparation.recipes_[name], prepared_column(frame[name], name, kind))
        elif kind in (NUMBER, DATE):
            recipe = preparation.recipes_[name]
            found[name] = _far_outside(name, kind, recipe.get("elapsed", recipe), frame[name])
    unread = {}
    if isinstance(table, Table):
        for name, kind in preparation.kinds_.items():
            if kind in _KINDS and name in table.cells:
                unread[name] = _unread(name, kind, table.cells[name], frame[name], table.missing)
    return Unseen(found, empty, len(frame), unread)


def _unread(name: str, kind: str, cells: Any, series: Any, missing: Collection[str]) -> dict[int, str]:
    from gramian.tables.texts import MISSING
    from gramian.tables.written import as_written

    rows = np.flatnonzero(series.isna().to_numpy() & cells.is_valid().to_numpy())
    if not len(rows):
        return {}
    texts = [str(text).strip() for text in as_written(cells.take(rows)).to_pylist()]
    known = {*MISSING, *missing}
    codes = {_number(code) for code in missing} - {None}
    return {
        int(row): f"{name} {_cut(text)!r} is not a {_KINDS[kind]}"
        for row, text in zip(rows, texts, strict=True)
        if text not in known and _number(text) not in codes
    }


def _number(text: str) -> float | None:
    try:
        return float(text)
    except ValueError:
        return None


def _levels(name: str, recipe: dict[str, Any], values: Any) -> dict[int, str]:
    known = np.isin(np.asarray(values.categories, dtype=object).astype(str), np.asarray(recipe["levels"], dtype=str))
    rows = np.flatnonzero(np.append(~known, False)[values.codes])
    return {int(row): f"{name} {_cut(values[row])!r} was not seen" for row in rows}


def _far_outside(name: str, kind: str, recipe: dict[str, Any], series: Any) -> dict[int, str]:
    values = prepared_column(series, name, kind)
    low, high = recipe["range"]
    feature = number_feature(recipe, values)
    ends = number_feature(recipe, np.array([low, high]))
    with np.errstate(invalid="ignore"):
        rows = np.flatnonzero((feature < ends[0] - _FAR) | (feature > ends[1] + _FAR))
    told = _moment if kind == DATE else _plain
    return {int(row): f"{name} {told(values[row])} lies outside {told(low)}–{told(high)}" for row in rows}


def _plain(value: float) -> str:
    return f"{value:.10g}"


def _moment(seconds: float) -> str:
    text = str(np.datetime64(round(seconds), "s"))
    return text.removesuffix("T00:00:00").replace("T", " ")


def _cut(text: str) -> str:
    return text if len(text) <= 40 else text[:39] + "…"
