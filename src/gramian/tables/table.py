"""A table with typed columns, and the kinds of columns it can have."""

from __future__ import annotations

import difflib
from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Any, Protocol

NUMBER, CATEGORY, BOOLEAN, DATE = "number", "category", "boolean", "date"
IDENTIFIER, CONSTANT, TEXT, EMPTY, IGNORED = "identifier", "constant", "text", "empty", "ignored"
CODES = "codes"
"""How the note of a category begins whose levels are whole numbers without an order."""
USED = (NUMBER, CATEGORY, BOOLEAN, DATE)
"""Kinds of columns that tell rows apart; the others are kept for display only."""


@dataclass(frozen=True)
class Column:
    """What is known of one column.

    Attributes
    ----------
    name : str
    kind : str
        One of the kinds of this module.
    missing : float
        Share of rows without a value.
    note : str
        Why it is of this kind, where that is not plain; for people.
    form : str
        How it was written, where later rows may not tell: "day first" or "month first" for dates, "+ and -" for
        categories in which "-" is not a missing value, "whole numbers" for categories of which 1 and 1.0 are the same.
    """

    name: str
    kind: str
    missing: float
    note: str = ""
    form: str = ""


class Reading(Protocol):
    """How the columns of a table were read, for its later rows: a Preparation knows it, and a model of a series.

    Attributes
    ----------
    kinds_ : dict from str to str
        Kind of each column that is used.
    forms_ : dict from str to str
        How those columns were written, as in :class:`Column`.
    missing_ : list of str
        The codes of missing values that were declared.
    """

    kinds_: dict[str, str]
    forms_: dict[str, str]
    missing_: list[str]


@dataclass(frozen=True)
class Table:
    """A table with typed columns.

    Attributes
    ----------
    frame : pandas.DataFrame (n, n_columns)
        Numbers as float64, categories as category, booleans as boolean, dates as datetime64; columns that are not
        used as they were read. Missing values are missing.
    columns : list of Column
        One for each column of ``frame``.
    source : str
        Name of the file, without its folders.
    notes : list of str
        What was decided while reading, for people.
    missing : list of str
        The codes of missing values that were declared.
    cells : dict of str to pyarrow.ChunkedArray
        Every column as it was read, for outputs that give values back as they came: "t" for true, 11.02.2024 for a
        date, 2007 for a number.
    """

    frame: Any
    columns: list[Column]
    source: str
    notes: list[str] = field(default_factory=list)
    missing: list[str] = field(default_factory=list)
    cells: dict[str, Any] = field(default_factory=dict)

    @property
    def used(self) -> list[str]:
        """Names of the columns that tell rows apart."""
        return [column.name for column in self.columns if column.kind in USED]


def nearest(name: str, known: Iterable[str]) -> list[str]:
    """The known column names that are spelled most like an unknown one.

    >>> nearest("wieght", ["id", "Weight", "height"])
    ['Weight', 'height']
    """
    lower = {text.lower(): text for text in known}
    return [lower[match] for match in difflib.get_close_matches(str(name).lower(), lower, 3, 0.5)]
