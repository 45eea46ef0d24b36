"""The oddest rows and what is odd about them, in the words of the table: a value, a level, or two that never meet."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from itertools import combinations
from typing import Any

import numpy as np

from gramian.exploration.differences import inner_rows
from gramian.exploration.result import Oddity
from gramian.exploration.wording import day, listing, number_words, percent, short, told_apart
from gramian.tables import BOOLEAN, CATEGORY, DATE, NUMBER, USED, Column
from gramian.typing import Array

ODD = 0.6
"""Score from which a row is called odd: those are counted, and the oddest of them listed."""

_MOST = 20
_FAR = 3.0  # deviations from the own group
_RARE = 0.05  # share of a level in the own group
_LIFT = 3.0  # times rarer than the two values would meet by chance
_PAIRED = 20  # columns of which pairs are looked at
_MANY_GAPS = 0.5  # of the values of a row, to speak of


@dataclass(frozen=True)
class _Coded:
    """A column in few levels: those of a category, or low, ordinary and high for a number."""

    name: str
    codes: Array
    told: Callable[[int], str]
    """The value of a row, and which level that is."""


def oddities(
    frame: Any,
    columns: list[Column],
    labels: Array,
    values: dict[str, Array],
    oddness: Array,
    *,
    among: Array | None = None,
) -> list[Oddity]:
    """The oddest rows, at most 20, each with its reason.

    Parameters
    ----------
    frame : pandas.DataFrame (n, n_columns)
    columns : list of Column
    labels : ndarray (n,)
        Groups; −1 for none.
    values : dict of ndarray (n,)
        The prepared feature of every number and date, NaN where missing.
    oddness : ndarray (n,)
        Scores from 0 to 1; rows below 0.6 are not listed.
    among : ndarray, optional
        Rows that may be listed, in order; by default all.
    """
    rows = np.arange(len(oddness)) if among is None else among
    rows = rows[np.argsort(-oddness[rows], kind="stable")[:_MOST]]
    rows = rows[oddness[rows] >= ODD]
    if not len(rows):
        return []
    reasons: list[list[tuple[float, str]]] = [[] for _ in rows]
    for column in columns:
        if column.kind in (NUMBER, DATE):
            _far_values(reasons, rows, column, frame[column.name], values[column.name], labels)
        elif column.kind in (CATEGORY, BOOLEAN):
            _rare_levels(reasons, rows, column, frame[column.name], labels)
    used = [column for column in columns if column.kind in USED]
    _rare_pairs(reasons, rows, [_coded(column, frame[column.name]) for column in used])
    gaps = frame[[column.name for column in used]].iloc[rows].isna().sum(axis=1)
    unexplained = [place for place, parts in enumerate(reasons) if not parts]
    least = _least_usual(frame, used, labels, rows[unexplained])
    found = []
    for place, (row, parts, missing) in enumerate(zip(rows, reasons, gaps, strict=True)):
        told = [text for _, text in sorted(parts, key=lambda part: -part[0])[:2]]
        if not told and (usual := least[unexplained.index(place)]):
            told = [f"no value is rare by itself; its least usual: {listing(usual)}"]
        if missing > _MANY_GAPS * len(used):
            told.append(f"{missing} of {len(used)} values are missing")
        found.append(Oddity(int(row), float(oddness[row]), "; ".join(told) or "no value is rare by itself"))
    return found


def _peers(labels: Array, group: int) -> tuple[Array, str]:
    """The rows (n,) that a row of a group is compared with, and what they are called."""
    if group >= 0 and labels.max() > 0:
        return labels == group, "its group"
    return np.ones(len(labels), bool), "all rows"


def _least_usual(frame: Any, used: list[Column], labels: Array, rows: Array) -> list[list[str]]:
    """For each row the two values that the fewest rows of its group have, or have as far out."""
    found: list[list[tuple[float, str]]] = [[] for _ in rows]
    for column in used if len(rows) else []:
        cells = frame[column.name]
        graded = column.kind in (NUMBER, DATE)
        values = cells.to_numpy() if graded else cells.factorize(use_na_sentinel=True)[0]
        known = cells.notna().to_numpy()
        told = _words(column, values) if graded else None
        for place, row in enumerate(rows):
            peers, whose = _peers(labels, int(labels[row]))
            own = values[peers & known]
            if not known[row] or len(own) < 3:
                continue
            if told is None:
                share = float(np.mean(own == values[row]))
                text = f"{column.name} {short(cells.iloc[row])} (as {percent(share)} of {whose})"
            else:
                below, above = float(np.mean(own < values[row])), float(np.mean(own > values[row]))
                share = 1 - max(below, above)
                side = f"above {percent(below)}" if below >= above else f"below {percent(above)}"
                text = f"{column.name} {told(values[row])} ({side} of {whose})"
            found[place].append((share, text))
    return [[text for _, text in sorted(parts, key=lambda part: part[0])[:2]] for parts in found]


def _words(column: Column, values: Array) -> Callable[..., str]:
    """How the values of a number or a date are written."""
    return day if column.kind == DATE else number_words(values)


def _far_values(
    reasons: list[list[tuple[float, str]]], rows: Array, column: Column, cells: Any, values: Array, labels: Array
) -> None:
    """Numbers and dates far from what is usual in the own group, which is told as the range of 9 in 10 rows."""
    raw = cells.to_numpy()
    told = _words(column, raw)
    for group in np.unique(labels[rows]):
        peers, whose = _peers(labels, int(group))
        own = np.flatnonzero(peers & np.isfinite(values))
        if len(own) < 3:
            continue
        middle = np.median(values[own])
        spread = max(1.4826 * float(np.median(np.abs(values[own] - middle))), 0.5 * float(values[own].std()))
        low, high = inner_rows(values, own)
        for place in np.flatnonzero(labels[rows] == group):
            row = rows[place]
            far = abs(values[row] - middle) / spread if spread > 0 and np.isfinite(values[row]) else 0.0
            if far >= _FAR and not values[low] <= values[row] <= values[high]:
                three = raw[[row, low, high]]
                own_text, *texts = map(told, three) if column.kind == DATE else told_apart(told, *three.tolist())
                usual = texts[0] if values[low] == values[high] else "–".join(texts)
                reasons[place].append((float(far), f"{column.name} {own_text}, usual {usual} in {whose}"))


def _rare_levels(
    reasons: list[list[tuple[float, str]]], rows: Array, column: Column, cells: Any, labels: Array
) -> None:
    codes, levels = cells.factorize(use_na_sentinel=True)
    for group in np.unique(labels[rows]):
        peers, whose = _peers(labels, int(group))
        own = np.bincount(codes[peers & (codes >= 0)], minlength=len(levels))
        for place in np.flatnonzero((labels[rows] == group) & (codes[rows] >= 0)):
            code = codes[rows[place]]
            share = own[code] / own.sum()
            if share <= _RARE and own.sum() > 1 / _RARE:
                level = f"{column.name} {short(levels[code])}"
                text = (
                    f"the only row of {whose} with {level}"
                    if own[code] == 1
                    else f"{level}, as {percent(share)} of {whose}"
                )
                reasons[place].append((float(-np.log(share)), text))


def _coded(column: Column, cells: Any) -> _Coded:
    if column.kind in (CATEGORY, BOOLEAN):
        codes = cells.factorize(use_na_sentinel=True)[0]
        return _Coded(column.name, codes, lambda row: f"{column.name} {short(cells.iloc[row])}")
    numbers = cells.to_numpy()
    known = cells.notna().to_numpy()
    floats = np.full(len(numbers), np.nan)
    floats[known] = numbers[known].astype("datetime64[s]").astype(float) if column.kind == DATE else numbers[known]
    low, high = np.quantile(floats[known], [0.2, 0.8]) if known.any() else (0.0, 0.0)
    codes = np.where(known, 1 + (floats > high).astype(int) - (floats < low), -1)
    words = _words(column, numbers)
    ends = [words(np.datetime64(int(end), "s") if column.kind == DATE else end) for end in (low, high)]
    places = (f"below {ends[0]}", f"from {ends[0]} to {ends[1]}", f"above {ends[1]}")
    return _Coded(column.name, codes, lambda row: f"{column.name} {words(numbers[row])} ({places[codes[row]]})")


def _rare_pairs(reasons: list[list[tuple[float, str]]], rows: Array, columns: list[_Coded]) -> None:
    """Two values, each ordinary by itself, that hardly ever meet in one row."""
    for first, second in combinations(columns[:_PAIRED], 2):
        known = (first.codes >= 0) & (second.codes >= 0)
        n = int(known.sum())
        if n < 1 / _RARE:
            continue
        width = int(second.codes.max()) + 1
        met = np.bincount(first.codes[known] * width + second.codes[known], minlength=(first.codes.max() + 1) * width)
        table = met.reshape(-1, width)
        expected = table.sum(axis=1, keepdims=True) * table.sum(axis=0) / n
        for place in np.flatnonzero(known[rows]):
            a, b = first.codes[rows[place]], second.codes[rows[place]]
            times, chance = int(table[a, b]), float(expected[a, b])
            if times <= max(1, 0.01 * n) and chance >= _LIFT * times:
                who = "the only row" if times == 1 else f"one of {times} rows"
                text = f"{who} with {first.told(int(rows[place]))} and {second.told(int(rows[place]))}"
                reasons[place].append((float(np.log(chance / times)), text))
