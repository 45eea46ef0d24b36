"""Texts to numbers, dates and booleans: the parsers of a column that was read as text.

Every parser works on the distinct texts of a column, not on its cells, and judges by a sample whether all are worth
looking at. Used by :mod:`gramian.tables.columns`, which decides what a column is.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.compute as pc

from gramian.typing import Array

MISSING: tuple[str, ...] = ("", "NA", "N/A", "n/a", "<NA>", "NaN", "nan", "null", "NULL", "None", "NaT", "?", ".", "-")
MISSING += ("#N/A", "#NA", "#DIV/0!", "#VALUE!", "#REF!", "#NAME?", "#NUM!")
"""Texts that stand for a missing value in any table; "-" does not where "+" is a value of the same column."""

_WORDS = (("true", "false"), ("yes", "no"), ("y", "n"), ("t", "f"), ("on", "off"))
DAY_FIRST, MONTH_FIRST, SIGNS, WHOLE = "day first", "month first", "+ and -", "whole numbers"  # forms
_SAMPLE = 1000  # distinct texts that tell whether looking at all is worth it

# Numbers as people write them: thousands in groups, decimals after a point (or a comma).
_GROUPED = r"^[+-]?([1-9]\d{0,2}([ '’%s]\d{3})+|\d+)?(\%s\d*)?([eE][+-]?\d+)?$"
_STYLES = {".": _GROUPED % (",", "."), ",": _GROUPED % (".", ",")}
_UNITS = r"^([+-]?)\s*[$€£¥]\s*|\s*[$€£¥%]$"

_DATES: tuple[str, ...] = ("%Y/%m/%d", "%Y.%m.%d", "%d.%m.%Y", "%m/%d/%Y", "%d/%m/%Y", "%d-%m-%Y", "%m-%d-%Y")
_DATES += ("%d %b %Y", "%d-%b-%Y")
_DATES += ("%d %B %Y", "%b %d, %Y", "%B %d, %Y", "%b %d %Y", "%d-%b-%y", "%d.%m.%y", "%m/%d/%y", "%d/%m/%y", "%Y%m%d")
_MONTHS = r"^(?:18|19|20)\d\d[-/](?:0?[1-9]|1[0-2])$"  # a year and a month
_OFFSET = r":\d\d(?:[.,]\d+)?\s?[+-](?!00:?00$)\d\d:?\d\d$"  # a time of a zone other than UTC
IN_UTC = "times of a zone, as universal time (UTC)"
_TIMES = ("", " %H:%M", " %H:%M:%S", " %I:%M %p", " %I:%M:%S %p")


def distinct(values: Any, missing: Sequence[str], *, signs: bool = False) -> tuple[Any, Array]:
    """Distinct texts without blanks around them, sorted, and the place of each cell's text there, -1 if missing.

    A "-" is a value with ``signs``, and where there is a "+".
    """
    coded = values.combine_chunks().dictionary_encode()
    coded = coded.chunk(0) if isinstance(coded, pa.ChunkedArray) else coded
    texts = pc.utf8_trim_whitespace(coded.dictionary)
    signs = signs or bool(pc.any(pc.equal(texts, "+")).as_py())
    left_out = {*MISSING, *missing} - ({"-"} if signs else set())
    kept = texts.filter(pc.invert(pc.is_in(texts, pa.array(sorted(left_out), pa.string())))).unique()
    kept = kept.take(pc.array_sort_indices(kept))
    place = pc.fill_null(pc.index_in(texts, kept), -1).to_numpy(zero_copy_only=False)
    return kept, np.append(place, -1)[pc.fill_null(coded.indices, -1).to_numpy(zero_copy_only=False)]


def parse_booleans(levels: Any, *, every: bool = True) -> Array | None:
    """Texts as True or False, None where they are neither; None if not ``every`` one is a word of the same pair."""
    words = [text.lower() for text in levels.slice(0, 100).to_pylist()]
    if every:
        pair = next((pair for pair in _WORDS if set(words) <= set(pair)), None)
        return None if pair is None else np.array([word == pair[0] for word in words], object)
    truth = {word: word == pair[0] for pair in (*_WORDS, ("1", "0"), ("1.0", "0.0")) for word in pair}
    return np.array([truth.get(text.lower()) for text in levels.to_pylist()], object)


def parse_numbers(levels: Any, decimal: str, *, least: float = 0.5) -> tuple[Array | None, str, str]:
    """Texts as numbers, NaN where they are none, how they were written, ""; None if less than ``least`` are."""

    def clean(texts: Any) -> Any:
        texts = pc.replace_substring_regex(texts, "[\u00a0\u202f\u2009]", " ")
        texts = pc.replace_substring(texts, "\u2212", "-")  # the minus of print
        return pc.replace_substring_regex(texts, _UNITS, r"\1")

    def fits(texts: Any, style: str) -> Any:
        # A digit must stand before the exponent: "e-1" is a name.
        return pc.and_(pc.match_substring_regex(texts, _STYLES[style]), pc.match_substring_regex(texts, r"^[^eE]*\d"))

    sample = clean(spread(levels))
    shares = {style: float(np.mean(fits(sample, style).to_numpy(zero_copy_only=False))) for style in _STYLES}
    style = decimal if shares[","] == shares["."] else max(shares, key=lambda style: shares[style])
    if shares[style] < least or (least and are_codes(levels)):
        return None, "", ""
    texts = clean(levels)
    good = fits(texts, style)
    bare = pc.replace_substring_regex(texts, "[ '’,]|^[+]" if style == "." else "[ '’.]|^[+]", "")
    bare = pc.replace_substring(bare, ",", ".")
    numbers = pc.if_else(good, bare, pa.scalar(None, pa.string())).cast(pa.float64()).to_numpy(zero_copy_only=False)
    unusual = pc.index(pc.and_(good, pc.match_substring_regex(levels, r"[^\d.eE+-]")), True).as_py()
    return numbers, f"numbers written as in {levels[unusual]}" if unusual >= 0 else "", ""


def parse_dates(levels: Any, form: str = "", *, least: float = 0.9) -> tuple[Any, str, str]:
    """Texts as dates, NaT where they are none, how they were written, and the form; None if less than ``least`` are.

    The given ``form`` settles whether the day or the month comes first where either would fit.
    """
    sample = pd.Series(spread(levels, 250).to_pylist(), dtype=object)
    months = bool(len(sample)) and sample.str.contains(_MONTHS, regex=True).mean() >= (least or 0.9)
    if months and least and _are_seasons(sample):
        return None, "", ""
    # Three parts, with a digit somewhere: most texts are no dates, and trying every format on them takes time.
    whole_dates = r"^(?=.*\d)[^\W_]+[\W_]+[^\W_]+[\W_]+[^\W_]+"
    if least and not months and sample.str.contains(whole_dates, regex=True).mean() < least:
        return None, "", ""

    def parse(texts: Any, style: str) -> Any:
        return in_utc(pd.to_datetime(texts, format=style, errors="coerce", utc=True))

    best, score = "ISO8601", parse(sample, "ISO8601").notna().mean()
    for style in ("%Y-%m", "%Y/%m") if months else (day + time for day in _DATES for time in _TIMES):
        if score < 1 and (share := parse(sample, style).notna().mean()) > score:
            best, score = style, share
    if score < least:
        return None, "", ""
    texts = pd.Series(levels.to_pylist(), dtype=object)
    dates, found, order = parse(texts, best), "", ""
    example = texts[int(np.argmax(dates.notna()))]
    if best[:2] in ("%d", "%m") and best[2] in "/-" and "%b" not in best:
        # Whether the day or the month comes first is settled by all values together: one order may fit them all.
        other = best.translate(str.maketrans("dm", "md"))
        swapped = parse(texts, other)
        unclear = swapped.notna().sum() == dates.notna().sum()
        wanted = {"%d": DAY_FIRST, "%m": MONTH_FIRST}
        if swapped.notna().sum() > dates.notna().sum() or (unclear and form == wanted[other[:2]]):
            best, dates, swapped = other, swapped, dates
        if not unclear:
            example = texts[int(np.argmax(dates.notna() & swapped.isna()))]
        found = wanted[best[:2]]
        order = f", the {found}" + ("; the other order would fit as well" if unclear else "")
    note = "" if best == "ISO8601" else f"dates as in {example}{order}"
    return dates.to_numpy(), IN_UTC if sample.str.contains(_OFFSET, regex=True).any() else note, found


def _are_seasons(texts: Any) -> bool:
    """Whether two years stand in all texts, one after the other, as in 2009-10, and not a year and a month."""
    parts = texts.str.extract(r"^\d\d(\d\d)[-/](\d+)$").astype("float64")
    return bool(((parts[0] + 1) % 100 == parts[1]).all())


def in_utc(dates: Any) -> Any:
    """Dates without a time zone, those that had one in universal time."""
    dates = dates.dt.tz_convert(None) if dates.dt.tz is not None else dates
    return dates.astype("datetime64[us]")


def are_codes(texts: Any) -> bool:
    """Whether these are whole numbers, and some have leading zeros or more digits than a float64 keeps."""
    if pc.any(pc.match_substring_regex(spread(texts), r"\D")).as_py():
        return False
    return bool(pc.any(pc.match_substring_regex(texts, r"^(0\d+|\d{16,})$")).as_py())


def spread(values: Any, most: int = _SAMPLE) -> Any:
    """A sample of the values, evenly spaced."""
    if len(values) <= most:
        return values
    return values.take(pa.array(np.linspace(0, len(values) - 1, most).astype(np.int64)))
