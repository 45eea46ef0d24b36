"""Columns at a glance: the values of each column by group, and what a careful reader would ask about them.

Nothing here changes what is analysed. Hints are questions to the reader, not alarms.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from itertools import pairwise
from typing import Any

import numpy as np

from gramian.exploration.association import Associations
from gramian.exploration.wording import count, day, listing, number, number_words, percent, short
from gramian.tables import BOOLEAN, CATEGORY, DATE, NUMBER, USED, Column, on_one_scale
from gramian.typing import Array

_BINS = 20
_LEVELS = 8  # bars of a category; the other levels share one
_FEW_NUMBERS = 10  # different whole numbers that may be codes
_SCALE = 4  # columns on one scale are grades, as the answers of a questionnaire
_TELLING_VALUES = 20  # fewer values make no hint
_HEAP = 0.05  # of the values at least, to speak of a second heap
_COPY, _SAME_ORDER = 0.98, 0.95
_NAMED = 3  # copies


@dataclass(frozen=True)
class Glance:
    """Summary statistics of one column.

    Attributes
    ----------
    column, kind : str
    missing : int
        Rows without a value.
    distinct : int
        Different values.
    figures : list of (str, str)
        Smallest, median and largest value, or the most frequent levels and their shares.
    bars : ndarray (b, k) of int
        Rows of each group in each interval or level; empty for columns that are not compared.
    names : list of str
        Of the bars: a level, or the ends of an interval.
    hints : list of str
        What a careful reader would ask, in plain words.
    missing_code : float, optional
        A number of nines far from all others, which may stand for a missing value.
    """

    column: str
    kind: str
    missing: int
    distinct: int
    figures: list[tuple[str, str]] = field(default_factory=list)
    bars: Array = field(default_factory=lambda: np.zeros((0, 0), int))
    names: list[str] = field(default_factory=list)
    hints: list[str] = field(default_factory=list)
    missing_code: float | None = None


def glances(frame: Any, columns: Sequence[Column], labels: Array, associations: Associations) -> list[Glance]:
    """Every column of a table in figures.

    Parameters
    ----------
    frame : pandas.DataFrame (n, n_columns)
        As :class:`gramian.tables.Table` has it.
    columns : list of Column
    labels : ndarray (n,)
        Groups from 0; −1 for rows of no group, which the bars leave out.
    associations : Associations
    """
    scale = on_one_scale(frame, columns)
    grades = scale if len(scale) >= _SCALE else set()
    found = [_glance(frame.iloc[:, j], column, labels, column.name in grades) for j, column in enumerate(columns)]
    place = {item.column: j for j, item in enumerate(found)}
    first, second = np.nonzero(np.triu(np.nan_to_num(associations.strength), 1) >= _COPY)
    same: dict[int, list[str]] = {}
    for i, j in zip(first, second, strict=True):
        kept, other = place[associations.columns[i]], place[associations.columns[j]]
        if _are_copies(frame.iloc[:, kept], frame.iloc[:, other], columns[kept].kind, columns[other].kind):
            same.setdefault(other, []).append(short(columns[kept].name))
    for other, names in same.items():
        if len(names) > _NAMED:
            names = [*names[: _NAMED - 1], count(len(names) - _NAMED + 1, "other column")]
        found[other].hints.append(f"Says almost the same as {listing(names)}.")
    return found


def _are_copies(first: Any, second: Any, kind: str, other_kind: str) -> bool:
    """Whether two columns that nearly determine each other's groups do so for single rows too.

    Two numbers in far heaps depend on each other as copies do, whatever they say within the heaps.
    """
    graded = {NUMBER, DATE}
    if kind not in graded and other_kind not in graded:
        return True
    if kind not in graded or other_kind not in graded:
        return False
    known = (first.notna() & second.notna()).to_numpy()
    ranks = [series[known].rank().to_numpy() for series in (first, second)]
    return bool(abs(np.corrcoef(*ranks)[0, 1]) >= _SAME_ORDER)


def repeated_rows(frame: Any, columns: Sequence[Column]) -> int:
    """How many rows are copies of an earlier row in all columns that are compared."""
    places = [j for j, column in enumerate(columns) if column.kind in USED]
    return int(frame.iloc[:, places].duplicated().sum()) if places else 0


# One column ----------------------------------------------------------------------------------------------------------


def _glance(series: Any, column: Column, labels: Array, is_grade: bool) -> Glance:
    present = series.notna().to_numpy()
    try:
        distinct = int(series.nunique())
    except TypeError:  # lists and the like, as JSON has them
        distinct = int(series.map(str, na_action="ignore").nunique())
    common: dict[str, Any] = {
        "column": column.name,
        "kind": column.kind,
        "missing": int((~present).sum()),
        "distinct": distinct,
    }
    if column.kind not in USED or not present.any():
        return Glance(**common)
    if column.kind in (CATEGORY, BOOLEAN):
        return _of_levels(series[present], labels[present], common)
    values = series[present].to_numpy()
    dates = column.kind == DATE
    numbers = values.astype("datetime64[s]").astype(np.int64).astype(float) if dates else values.astype(float)
    told = _moment if dates else number_words(numbers)
    ends = _ends(numbers)
    bars = _counted(np.clip(np.searchsorted(ends, numbers, side="right") - 1, 0, len(ends) - 2), labels[present])
    whole = not dates and len(ends) > 1 and np.array_equal(ends, ends[0] + np.arange(len(ends)))
    names = [told(low) if whole else f"{told(low)} to {told(high)}" for low, high in pairwise(ends)]
    low, middle, high = np.quantile(numbers, [0, 0.5, 1])
    figures = [("smallest", told(low)), ("median", told(middle)), ("largest", told(high))]
    code = None if dates else _missing_code(numbers)
    hints = (
        [] if dates else _code_hints(column.name, numbers, 0 if is_grade else distinct, code) or _heap_hints(numbers)
    )
    return Glance(**common, figures=figures, bars=bars, names=names, hints=hints, missing_code=code)


def _moment(seconds: float) -> str:
    return day(np.datetime64(round(seconds), "s").astype(object))


def _of_levels(series: Any, labels: Array, common: dict[str, Any]) -> Glance:
    texts = series.map({True: short(True), False: short(False)}) if common["kind"] == BOOLEAN else series.astype(str)
    counts = texts.value_counts()
    counts = counts[counts > 0]
    levels = [str(level) for level in counts.index[:_LEVELS]]
    codes = texts.map({level: i for i, level in enumerate(levels)}).fillna(len(levels)).to_numpy(int)
    more = len(counts) - len(levels)
    names = [short(level) for level in levels] + ([count(more, "other")] if more > 0 else [])
    shares = counts.to_numpy() / len(series)
    figures = [(short(level), percent(share)) for level, share in zip(levels[:3], shares, strict=False)]
    return Glance(**common, figures=figures, bars=_counted(codes, labels, len(names)), names=names)


def _ends(numbers: Array) -> Array:
    """Ends of the intervals of a histogram: one for each value of few whole numbers, else even ones.

    The outermost half per cent of the values falls into the first and the last interval, so that a single value far
    out does not push all others into one bar.
    """
    low, high = float(numbers.min()), float(numbers.max())
    if high - low < _BINS and (numbers == np.round(numbers)).all():
        return np.arange(low, high + 2)
    inner_low, inner_high = np.quantile(numbers, [0.005, 0.995])
    ends = np.linspace(inner_low, inner_high if inner_high > inner_low else inner_low + 1, _BINS + 1)
    ends[0], ends[-1] = min(low, ends[0]), max(high, ends[-1])
    return ends


def _counted(codes: Array, labels: Array, least: int = 0) -> Array:
    """Rows of each group with each code, (b, k)."""
    inside = labels >= 0
    k = int(labels.max(initial=-1)) + 1
    b = max(int(codes.max(initial=-1)) + 1, least)
    return np.bincount(codes[inside] * k + labels[inside], minlength=b * k).reshape(b, k)


# Hints ---------------------------------------------------------------------------------------------------------------


def _code_hints(name: str, numbers: Array, distinct: int, code: float | None) -> list[str]:
    """Values that may stand for something else: for a missing value, or for a category."""
    if len(numbers) < _TELLING_VALUES:
        return []
    if code is not None:
        times = int((numbers == code).sum())
        seen = f"{code:.0f} occurs {count(times, 'time')}, far from all other values"
        return [f"{seen}: if it means missing, say --missing {code:.0f}."]
    if 2 <= distinct <= _FEW_NUMBERS and (numbers == np.round(numbers)).all():
        values = listing([number_words(numbers)(value) for value in np.unique(numbers)])
        return [f"Only the whole numbers {values}: if they are codes, say --category {name!r}."]
    return []


def _missing_code(numbers: Array) -> float | None:
    """A value of nines, such as −999, that occurs again and again beyond all others."""
    for code in (float(numbers.min()), float(numbers.max())):
        others = numbers[numbers != code]
        nines = set(f"{abs(code):.10g}") == {"9"}
        if not nines or len(others) < _TELLING_VALUES or (numbers == code).sum() < 2:
            continue
        nearest = float(np.abs(others - code).min())
        if nearest > np.ptp(others):
            return code
    return None


def _heap_hints(numbers: Array) -> list[str]:
    """Two heaps far apart on a logarithmic scale, as values in two units are."""
    if len(numbers) < _TELLING_VALUES or numbers.min() <= 0:
        return []
    logs = np.sort(np.log10(numbers))
    least = max(2, int(_HEAP * len(logs)))
    gaps = np.diff(logs)[least - 1 : len(logs) - least]
    if not len(gaps):
        return []
    cut = least + int(np.argmax(gaps))
    heaps = logs[:cut], logs[cut:]
    width = max(float(np.subtract(*np.quantile(heap, [0.75, 0.25]))) for heap in heaps)
    if gaps.max() < max(np.log10(2), 2 * width):
        return []
    low, high = (number(10 ** float(np.median(heap))) for heap in heaps)
    return [f"Two heaps of values far apart, around {low} and around {high}: perhaps two units."]
