"""What kind of values a column holds, judged by its content, and the column in the type of that kind.

Used by :mod:`gramian.tables.read`, which hands over columns as Arrow read them: text, or what the file said they are.
Work is done on distinct texts, not on cells, and on samples where a guess is checked on all values afterwards.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from contextlib import suppress
from functools import partial
from typing import Any

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.compute as pc

from gramian.tables.table import BOOLEAN, CATEGORY, CONSTANT, DATE, EMPTY, IDENTIFIER, NUMBER, TEXT, USED, Column
from gramian.tables.texts import (
    IN_UTC,
    SIGNS,
    WHOLE,
    are_codes,
    distinct,
    in_utc,
    parse_booleans,
    parse_dates,
    parse_numbers,
    spread,
)
from gramian.typing import Array

__all__ = ["settle"]

_DTYPES = {NUMBER: "float64", BOOLEAN: "boolean", DATE: "datetime64[us]"}
ENOUGH = 0.95
"""Share of the values that must be numbers or dates, for the others to be slips."""

_FEWEST_NAMES = 5  # of fewer values each may be there once by chance

_ID_NAME = re.compile(r"(?i)(^|[\W_])(id|ids|uuid|guid|key|index|idx|no|nr|num|number|row|record|#)[\W_]*$|[a-z]I[Dd]$")
_CODE_NAME = re.compile(r"(?i)(^|[\W_])(id|code|zip|zipcode|postcode|plz)[\W_]*$|[a-z]I[Dd]$")
_CLASS_NAME = re.compile(r"(?i)(^|[\W_])(class|classes|label|labels|category|species)[\W_]*$")
_MOST_CLASSES = 50  # a quantity may be called a label too


def settle(
    name: str,
    values: Any,
    *,
    missing: Sequence[str] = (),
    decimal: str = ".",
    kind: str | None = None,
    form: str = "",
    asked: bool = False,
    first_row: int = 0,
    least: float = ENOUGH,
) -> tuple[Any, Column]:
    """Find the kind of a column and give it the type of that kind.

    Numbers stored as text ("1,234.5", "12 %", "$3"), yes/no words and dates are recognised if at least 95 % of the
    values are such; the rest then counts as missing, and the note says so. Where that leaves a choice:

    - 0 and 1 are a boolean, for people speak of the share of ones. Other two-valued numbers stay numbers and other
      two-valued texts categories, which keeps their names; all three are prepared alike.
    - Whole numbers with few values (1, 2, 3) stay numbers, because codes are usually graded and a number keeps the
      order. They are categories if their name says that they are not (``store_id``, ``zip``, or ``class`` and ``label``
      with at most 50 values), or if they are written with leading zeros or with more digits than a number keeps; or if
      the other columns say so, about which :func:`gramian.tables.codes.find_codes` is asked when all columns are known.
    - Numbers in a column of categories, as pandas has them, are a category, unless most of them are there only once.
    - Identifiers are whole numbers that count the rows, or unique ones named like one (``id``, ``key``, ``no``), or
      unique texts without blanks that hold digits. Measurements are unique too, so uniqueness alone is not enough.
    - Texts of which most are there only once say nothing about likeness: they are kept as text, for display. So are
      numbers that name something (``zip``).

    Parameters
    ----------
    name : str
    values : pyarrow.ChunkedArray (n,)
    missing : sequence of str
        Further texts and numbers that stand for a missing value.
    decimal : {".", ","}
        How to read "1,234" where the column does not tell.
    kind : str, optional
        The kind it must be, one of those that are used, for new rows of a table known before.
    form : str
        How that table's column was written, where new rows do not tell.
    asked : bool, default False
        The user wants this column used, even if it looks like an identifier.
    first_row : int, default 0
        Number of the first row, for messages.
    least : float, default 0.95
        Share of the values that must be of the given kind.

    Returns
    -------
    series : pandas.Series (n,)
        float64, category, boolean or datetime64 by kind; as read for the kinds that are not used.
    column : Column

    Raises
    ------
    ValueError
        If fewer values than that are of the given ``kind``.

    Examples
    --------
    >>> import pyarrow as pa
    >>> from gramian.tables.columns import settle
    >>> series, column = settle("price", pa.chunked_array([["$1,200", "$35.50", "?"]]))
    >>> series.tolist(), column.kind, round(column.missing, 2)
    ([1200.0, 35.5, nan], 'number', 0.33)
    >>> settle("day", pa.chunked_array([["31/12/2020", "01/02/2021"]]))[1].note
    'dates as in 31/12/2020, the day first'
    """
    declared = kind is None and pa.types.is_dictionary(values.type)
    values = _simple(values)
    if kind is None and pa.types.is_integer(values.type) and _beyond_floats(values):
        values = values.cast(pa.string())
    if kind in USED:
        found, (series, note) = kind, _as_kind(name, values, kind, form, missing, decimal, first_row, least)
    elif declared and (category := _declared_category(values, missing)) is not None:
        found, series, note = CATEGORY, category, "numbers that the table has as categories"
    elif pa.types.is_boolean(values.type):
        found, series, note = BOOLEAN, values.to_pandas().astype("boolean"), ""
    elif pa.types.is_timestamp(values.type):
        found, series, note = DATE, in_utc(values.to_pandas()), "" if values.type.tz in (None, "UTC") else IN_UTC
    elif pa.types.is_string(values.type):
        found, series, note, form = _kind_of_texts(name, values, missing, decimal, asked)
    else:
        found, series, note = _kind_of_numbers(name, values, missing, asked)
    present = series[series.notna()]
    if kind not in USED and not len(present):
        found, series, note = EMPTY, pd.Series(np.full(len(values), np.nan)), ""
    elif kind not in USED and found != IDENTIFIER and (present == (first := present.iloc[0])).all():
        if pa.types.is_string(values.type) and found in (BOOLEAN, DATE):  # "NO" alone may be a country
            series = values.to_pandas().where(series.notna().to_numpy())
            first = series[series.notna()].iloc[0]
        found, note = CONSTANT, f"always {_shown(first)}"
    return series.rename(name), Column(name, found, (len(series) - len(present)) / max(len(series), 1), note, form)


def _declared_category(values: Any, missing: Sequence[str]) -> Any:
    """Numbers of a column of categories; None for other values, and where nearly every row has its own."""
    if not (pa.types.is_integer(values.type) or pa.types.is_floating(values.type)):
        return None
    levels, codes = distinct(_as_text(values), missing)
    return _category(levels, codes) if len(levels) <= max(20, 0.5 * int((codes >= 0).sum())) else None


def _simple(values: Any) -> Any:
    """The values as text, whole numbers, numbers, booleans or time stamps; nested ones as text."""
    kind, test = values.type, pa.types
    if test.is_dictionary(kind):
        return _simple(values.cast(kind.value_type))
    if test.is_null(kind) or test.is_decimal(kind) or test.is_float16(kind):
        return values.cast(pa.float64())
    if test.is_duration(kind):
        return pc.divide(values.cast(pa.duration("us")).cast(pa.int64()).cast(pa.float64()), 1e6)
    if test.is_date(kind):
        return values.cast(pa.timestamp("s"))
    if test.is_time(kind) or test.is_large_string(kind) or test.is_string_view(kind):
        return values.cast(pa.string())
    plain = (test.is_string, test.is_boolean, test.is_timestamp, test.is_integer, test.is_floating)
    if any(is_kind(kind) for is_kind in plain):
        return values
    shown = [None if value is None else str(value) for value in values.to_pylist()]
    return pa.chunked_array([pa.array(shown, pa.string())])


def _kind_of_numbers(name: str, values: Any, missing: Sequence[str], asked: bool) -> tuple[str, Any, str]:
    """Kind, series and note of numbers."""
    numbers, n_infinite = _floats(values, missing)
    note = f"{_count(n_infinite, 'infinite value')} as missing" if n_infinite else ""
    seen, series = numbers[~np.isnan(numbers)], pd.Series(numbers)
    if not len(seen) or asked:
        return NUMBER, series, note
    low, high, n = seen.min(), seen.max(), len(seen)
    if low == high or not np.all(seen == np.rint(seen)):
        return NUMBER, series, note
    if low == 0 and high == 1:
        return BOOLEAN, series.astype("boolean"), "0 and 1"
    if low >= 19000101 and high <= 21001231:
        days = pd.to_datetime(pd.Series(_exact(numbers)).astype("string"), format="%Y%m%d", errors="coerce")
        if days.notna().sum() == n:
            return DATE, days, f"dates as in {int(seen[0])}"
    counter = high - low < 1.05 * n and ((low in (0, 1) and n >= 5) or n >= 200)
    like_id, like_code = bool(_ID_NAME.search(name)), bool(_CODE_NAME.search(name))
    like_class = bool(_CLASS_NAME.search(name))
    if counter or like_id or like_code or like_class:
        different = len(np.unique(seen))
        if different >= ENOUGH * n and n >= 3 and (counter or like_id):
            return IDENTIFIER, pd.Series(_exact(numbers)), _once(different, n)
        if (like_code or (like_class and different <= _MOST_CLASSES)) and different <= 0.5 * n:
            return CATEGORY, _category(*distinct(_as_text(values), missing)), "numbers that name something"
        if like_code and n >= _FEWEST_NAMES:
            levels, codes = distinct(_as_text(values), missing)
            return TEXT, _at(levels.to_numpy(zero_copy_only=False), codes, "str"), _once(different, n)
    return NUMBER, series, note


def _kind_of_texts(
    name: str, values: Any, missing: Sequence[str], decimal: str, asked: bool
) -> tuple[str, Any, str, str]:
    """Kind, series, note and form of texts."""
    if (plain := _plain_numbers(values)) is not None:
        return *_kind_of_numbers(name, plain, missing, asked), ""
    levels, codes = distinct(values, missing)
    counts = np.bincount(codes[codes >= 0], minlength=len(levels))
    present = int(counts.sum())
    if not present:
        return EMPTY, pd.Series(np.full(len(codes), np.nan)), "", ""
    if (truth := parse_booleans(levels)) is not None and len(levels) < 7:
        return BOOLEAN, _at(truth, codes, "boolean"), " and ".join(levels.to_pylist()[:2]), ""
    for kind, parse in ((NUMBER, partial(parse_numbers, decimal=decimal)), (DATE, parse_dates)):
        parsed, note, form = parse(levels)
        if parsed is None or counts[~(wrong := pd.isna(parsed))].sum() < ENOUGH * present:
            continue
        note = "; ".join(filter(None, (note, _slips(levels, counts, wrong))))
        if kind == DATE:
            return DATE, _at(parsed, codes), note, form
        numbers = pa.chunked_array([pa.array(_at(parsed, codes), from_pandas=True)])
        kind, series, why = _kind_of_numbers(name, numbers, missing, asked)
        return kind, series, note if kind == NUMBER else why, ""
    return *_kind_of_names(name, levels, codes, present), SIGNS if pc.any(pc.equal(levels, "-")).as_py() else ""


def _slips(levels: Any, counts: Array, wrong: Array) -> str:
    """What is said of the few texts that are not of the kind of the others."""
    if not wrong.any():
        return ""
    example = _shown(levels[int(np.argmax(wrong))].as_py())
    return f"{_count(int(counts[wrong].sum()), 'value')} such as {example} as missing"


def _kind_of_names(name: str, levels: Any, codes: Array, present: int) -> tuple[str, Any, str]:
    """Kind, series and note of texts that are nothing but text."""
    n_levels = len(levels)
    sample = spread(levels).to_pylist()
    long = np.mean([len(text.split()) for text in sample]) >= 5 or np.mean([len(text) for text in sample]) > 50
    if n_levels > 0.5 * present and (n_levels > 20 or n_levels == present >= _FEWEST_NAMES):
        token = np.mean([bool(re.search(r"\d", text)) and " " not in text for text in sample]) > 0.9
        unique = n_levels >= ENOUGH * present and not long and (token or _ID_NAME.search(name))
        note = "free text" if long else _once(n_levels, present)
        return IDENTIFIER if unique else TEXT, _at(levels.to_numpy(zero_copy_only=False), codes, "str"), note
    if long and n_levels > 30:
        return TEXT, _at(levels.to_numpy(zero_copy_only=False), codes, "str"), "free text"
    return CATEGORY, _category(levels, codes), "digits that name something" if are_codes(levels) else ""


def _plain_numbers(values: Any) -> Any:
    """Texts that are all plain numbers as such, or None; a word for infinity alone makes no number of a column."""
    if are_codes(values):
        return None
    for kind in (pa.int64(), pa.float64()):
        try:
            spread(values).cast(kind)
            numbers = values.cast(kind)
        except pa.ArrowInvalid:
            continue
        # Arrow takes 0x1F for a whole number.
        if kind == pa.int64() and pc.any(pc.match_substring(values, "x", ignore_case=True)).as_py():
            return None
        return numbers if pc.any(pc.is_finite(numbers)).as_py() else None
    return None


def _as_kind(
    name: str, values: Any, kind: str, form: str, missing: Sequence[str], decimal: str, first_row: int, least: float
) -> tuple[Any, str]:
    """The series as ``kind``, and a note on slips; raises where less than ``least`` of the values are of it."""
    is_number = pa.types.is_integer(values.type) or pa.types.is_floating(values.type)
    if kind == NUMBER and (is_number or pa.types.is_boolean(values.type)):
        return pd.Series(_floats(values, missing)[0]), ""
    if kind == DATE and pa.types.is_timestamp(values.type):
        return in_utc(values.to_pandas()), ""
    texts = _as_text(values)
    if form == WHOLE:
        texts = pc.replace_substring_regex(texts, r"^\s*\+?(-?\d+)(\.0*)?\s*$", r"\1")
    levels, codes = distinct(texts, missing, signs=form == SIGNS)
    if kind == CATEGORY:
        return _category(levels, codes), ""
    if not len(levels):
        return pd.Series(np.full(len(codes), np.nan)).astype(_DTYPES[kind]), ""
    if kind == BOOLEAN:
        parsed = parse_booleans(levels, every=False)
    elif kind == NUMBER:
        parsed = parse_numbers(levels, decimal, least=0.0)[0]
    else:
        parsed = parse_dates(levels, form, least=0.0)[0]
    wrong, counts = pd.isna(parsed), np.bincount(codes[codes >= 0], minlength=len(levels))
    failed, filled = int(counts[wrong].sum()), int(counts.sum())
    if kind == NUMBER:  # a code may be written in another way, -999.0 for -999
        numbers = np.asarray(parsed, np.float64)
        coded = np.isin(numbers, _parse_codes(missing))
        parsed, filled = np.where(coded, np.nan, numbers), filled - int(counts[coded].sum())
    if filled - failed < least * filled:
        row = int(np.argmax(np.append(wrong, False)[codes]))
        raise ValueError(
            f"row {row + first_row}, column {name!r}: {_shown(levels[int(codes[row])].as_py())} is not a {kind}, as "
            f"{failed:,} of {_count(filled, 'filled cell')}; correct them or leave them empty"
        )
    return _at(parsed, codes, _DTYPES[kind]), _slips(levels, counts, wrong)


def _floats(values: Any, missing: Sequence[str]) -> tuple[Array, int]:
    """Numbers with NaN where missing or infinite, and how many were infinite."""
    numbers = np.array(values.cast(pa.float64(), safe=False).to_numpy(), np.float64)
    numbers[np.isin(numbers, _parse_codes(missing))] = np.nan
    infinite = np.isinf(numbers)
    numbers[infinite] = np.nan
    return numbers, int(infinite.sum())


def _parse_codes(missing: Sequence[str]) -> list[float]:
    """Those codes of missing values that are numbers."""
    numbers = []
    for code in missing:
        with suppress(ValueError):
            numbers.append(float(code))
    return numbers


def _beyond_floats(values: Any) -> bool:
    """Whether a float64 would make different whole numbers equal."""
    ends = pc.min_max(values).as_py()
    return any(abs(ends[end] or 0) > 2**53 for end in ("min", "max"))


def _exact(numbers: Array) -> Any:
    """Whole numbers, of which some may be missing, without a decimal point."""
    gaps = np.isnan(numbers)
    return pd.arrays.IntegerArray(np.where(gaps, 0, numbers).astype(np.int64), gaps)


def _as_text(values: Any) -> Any:
    """Values as people write them, whole numbers without a decimal point."""
    if pa.types.is_floating(values.type):
        numbers = np.array(values.to_numpy(), np.float64)
        if np.all(np.isnan(numbers) | (numbers == np.rint(numbers))) and np.nanmax(np.abs(numbers), initial=0) < 2**53:
            return pa.chunked_array([pa.array(_exact(numbers))]).cast(pa.string())
    return values.cast(pa.string())


def _at(values: Any, codes: Array, dtype: Any = None) -> Any:
    """The value at each code, missing for -1."""
    return pd.Series(values).reindex(codes).reset_index(drop=True).astype(dtype or values.dtype)


def _category(levels: Any, codes: Array) -> Any:
    return pd.Series(pd.Categorical.from_codes(codes, pd.Index(levels.to_pylist(), dtype="str")))


def _count(n: int, noun: str) -> str:
    return f"{n:,} {noun}" + ("s" if n != 1 else "")


def _once(different: int, n: int) -> str:
    return "every value is there once" if different == n else f"{different:,} different values in {n:,} rows"


def _shown(value: Any) -> str:
    text = str(value)
    return repr(text if len(text) <= 40 else text[:37] + "...") if isinstance(value, str) else text
