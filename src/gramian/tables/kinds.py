"""The kinds of columns a table can have, and a column as it was read."""

from __future__ import annotations

from dataclasses import dataclass

NUMBER, CATEGORY, BOOLEAN, DATE = "number", "category", "boolean", "date"
IDENTIFIER, CONSTANT, TEXT, EMPTY, IGNORED = "identifier", "constant", "text", "empty", "ignored"
USED = (NUMBER, CATEGORY, BOOLEAN, DATE)
"""Kinds of columns that tell rows apart; the others are kept for display only."""


@dataclass(frozen=True)
class Column:
    """One column as it was read.

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
        categories in which "-" is not a missing value.
    """

    name: str
    kind: str
    missing: float
    note: str = ""
    form: str = ""
