"""Numbers, shares, values and names as people read them.

Everything a table brings along passes through :func:`clean` before it is shown: a cell may hold control characters,
marks that turn the direction of writing, half of a surrogate pair, or ten thousand letters.
"""

from __future__ import annotations

import math
import re
from typing import Any

import numpy as np

from gramian.exploration.wording import percent
from gramian.typing import Array

FIRST_ROW = 1
FIRST_GROUP = 1
"""What the first row and the first group are called in everything people read."""

MISSING = "–"
LONGEST_NAME, LONGEST_VALUE, LONGEST_SENTENCE = 60, 120, 600

# Controls except tab and line ends, embeddings and overrides of direction, and surrogates without a partner.
_UNSHOWABLE = re.compile("[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069\ufeff\ud800-\udfff]")


def clean(text: object, longest: int = LONGEST_VALUE) -> str:
    """The text on one line, without what cannot be shown, cut to a length."""
    raw = str(text)
    short = " ".join(_UNSHOWABLE.sub("", raw[: 4 * longest]).split())
    if len(short) > longest or len(raw) > 4 * longest:
        return short[: longest - 1].rstrip() + "…"
    return short


def number(value: float, digits: int = 4) -> str:
    """A number with thousands separators and about ``digits`` digits that matter; whole numbers are kept whole.

    Examples
    --------
    >>> from gramian.report.words import number
    >>> number(1234567), number(13.64213), number(-0.000123456), number(2.0)
    ('1,234,567', '13.64', '−0.0001235', '2')
    """
    value = float(value)
    if not math.isfinite(value):
        return MISSING if math.isnan(value) else ("−∞" if value < 0 else "∞")
    size = abs(value)
    if size >= 1e15 or 0 < size < 1e-6:
        text = f"{value:.{digits - 1}e}"
    elif value == int(value):
        text = f"{int(value):,}"
    else:
        decimals = min(max(digits - 1 - math.floor(math.log10(size)), 0), 10)
        text = f"{value:,.{decimals}f}"
        if "." in text:
            text = text.rstrip("0").rstrip(".")
    return text.replace("-", "−")


def rounded(values: Array, error: float) -> Array:
    """Numbers to a ten-thousandth of their error: more digits would say what nobody knows.

    >>> rounded(np.array([1.23456789]), 0.1), rounded(np.array([1.23456789e-18]), 1e-19)
    (array([1.23457]), array([1.23457e-18]))
    """
    largest = float(np.abs(values[np.isfinite(values)]).max(initial=0.0))
    most = 12 if largest == 0 else int(np.clip(16 - np.floor(np.log10(largest)), 12, 300))
    digits = most if error <= 0 else int(np.clip(4 - np.floor(np.log10(error)), 0, most))
    return np.round(values, digits) + 0.0  # no −0


def share(part: float) -> str:
    """A share in per cent, as sentences have it; a dash where it is unknown.

    Examples
    --------
    >>> from gramian.report.words import share
    >>> share(0.0421), share(float("nan"))
    ('4.2 %', '–')
    """
    return MISSING if math.isnan(part) else percent(float(part))


def effect(value: float) -> str:
    """A number of two decimals with its sign.

    Examples
    --------
    >>> from gramian.report.words import effect
    >>> effect(0.254), effect(-1), effect(-0.001)
    ('+0.25', '−1.00', '0.00')
    """
    text = f"{abs(value):.2f}"
    return text if float(text) == 0 else ("+" if value > 0 else "−") + text


def steadiness(value: float) -> str:
    """How surely something is found again, in words; a group of clear ones is at least fairly steady."""
    for least, word in ((0.9, "very steady"), (0.75, "steady"), (0.6, "fairly steady")):
        if value >= least:
            return word
    return "shaky"


def row_name(row: int) -> str:
    return f"{int(row) + FIRST_ROW:,}"


def group_name(label: int) -> str:
    return f"{int(label) + FIRST_GROUP}"


def cell(value: Any, kind: str) -> str:
    """One value of a table, for people; "" where it is missing. Years are numbers without separators."""
    if _is_missing(value):
        return ""
    if kind == "boolean" or isinstance(value, bool | np.bool_):
        return _truth(value)
    if hasattr(value, "strftime"):
        return _moment(value)
    if isinstance(value, str | bytes):
        return clean(value)
    try:
        if kind == "year":
            return f"{float(value):.0f}"
        return number(value) if kind == "number" else clean(value)
    except (TypeError, ValueError):
        return clean(value)


def _is_missing(value: Any) -> bool:
    if value is None:
        return True
    try:
        return bool(value != value)
    except (TypeError, ValueError):  # pandas.NA has no truth value
        return True


def _truth(value: Any) -> str:
    if isinstance(value, str):
        return clean(value)
    return "yes" if value else "no"


def _moment(value: Any) -> str:
    whole_day = (getattr(value, "hour", 0), getattr(value, "minute", 0), getattr(value, "second", 0)) == (0, 0, 0)
    return str(value.strftime("%Y-%m-%d" if whole_day else "%Y-%m-%d %H:%M"))
