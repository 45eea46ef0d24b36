"""What makes groups of rows different, column by column, in units people can read."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy.special import stdtrit

from gramian.exploration.result import Difference
from gramian.exploration.wording import day, listing, number, number_words, percent, short, told_apart
from gramian.tables import BOOLEAN, CATEGORY, DATE, NUMBER, USED, Column
from gramian.typing import Array

_SHOWN = 8  # differences kept per group
_NOTABLE = 0.3  # of a standard deviation, or as far apart on the scale of shares
_CHANCE = 0.05  # that any difference of random groups is told
_TOLD = 3  # differences in a sentence
_MEDIAN_ROWS = 50_000  # a typical value needs no more
_LARGE, _HUGE = 0.8, 2.0
_DAY = 86_400
_ON_AVERAGE = " on average"


@dataclass(frozen=True)
class _Found:
    """A difference with what sorts it: its size on one scale for numbers and shares."""

    size: float
    inside: float  # rows that were compared, of the group
    outside: float
    difference: Difference
    levels: int = 1  # of which the one that differs most was taken

    def is_notable(self, tests: int, once: float) -> bool:
        """Whether it is worth telling, and more than random groups of these sizes would show in one of so many tests.

        Means and shares have a variance of 1 / rows on this scale, of which copies do not count. The groups were found
        in the same columns, so this is the least to ask for.
        """
        inside, outside = once * self.inside, once * self.outside
        freedom = inside + outside - 2
        if freedom < 1:
            return False
        quantile = stdtrit(freedom, 1 - _CHANCE / (2 * tests * self.levels))
        return bool(self.size >= max(_NOTABLE, quantile * np.sqrt(1 / inside + 1 / outside)))


def group_differences(
    frame: Any,
    columns: list[Column],
    labels: Array,
    values: dict[str, Array],
    *,
    seed: int = 0,
    once: float = 1.0,
) -> list[list[Difference]]:
    """For every group the columns in which it differs most from the other rows, largest first.

    Differences that are small, or that random groups of the same sizes would show as well, are not told. A group whose
    means and shares are those of all others, as of one that lies between them, is told by the columns in which its
    values lie close together: the interval of 9 in 10 of them, and how many other rows have such values.

    Parameters
    ----------
    frame : pandas.DataFrame (n, …)
    columns : list of Column
    labels : ndarray (n,), 0 … k − 1; negative for rows of no group
    values : dict
        Column → numbers (n,) to compare, for columns that are numbers or dates; heavy tails tamed, NaN for missing.
    seed : int
        Of the rows that typical values are taken from.
    once : float, default 1.0
        Share of the rows that are no copies of others.
    """
    k = int(labels.max()) + 1
    found: list[list[_Found]] = [[] for _ in range(k)]
    if k < 2:
        return [[] for _ in range(k)]
    shown = np.arange(len(labels))
    if len(shown) > _MEDIAN_ROWS:
        shown = np.sort(np.random.default_rng(seed).choice(shown, _MEDIAN_ROWS, replace=False))
    tests = 0
    for column in columns:
        if column.kind not in USED:
            continue
        cells = frame[column.name]
        missing = np.asarray(cells.isna())
        parts = [_of_gaps(column, missing, labels, k)] if missing.any() else []
        if column.kind in (NUMBER, DATE):
            parts.append(_of_values(column, cells.to_numpy()[shown], labels[shown], values[column.name], labels, k))
        elif column.kind in (CATEGORY, BOOLEAN):
            parts.append(_of_levels(column, cells, missing, labels, k))
        tests += k * len(parts)
        for part in parts:
            for group, more in zip(found, part, strict=True):
                group.extend(more)
    notable = [[item for item in group if item.is_notable(tests, once)] for group in found]
    for c in (c for c, group in enumerate(notable) if not group):
        close = [
            item
            for column in columns
            if column.kind in (NUMBER, DATE) and (item := _of_interval(column, frame[column.name], values, labels, c))
        ]
        notable[c] = [item for item in close if item.is_notable(tests + k * len(close), once)]
    return [[item.difference for item in sorted(group, key=lambda item: -item.size)[:_SHOWN]] for group in notable]


def _of_values(column: Column, raw: Array, of_raw: Array, values: Array, labels: Array, k: int) -> list[list[_Found]]:
    """Differences of means in pooled standard deviations, shown as medians."""
    here = (labels >= 0) & np.isfinite(values)
    counts = np.bincount(labels[here], minlength=k).astype(float)
    sums = np.bincount(labels[here], values[here], k)
    squares = np.bincount(labels[here], values[here] ** 2, k)
    words = number if column.kind == DATE else number_words(raw)
    result: list[list[_Found]] = []
    for c in range(k):
        inside, outside = counts[c], counts.sum() - counts[c]
        if inside < 2 or outside < 2:
            result.append([])
            continue
        means = sums[c] / inside, (sums.sum() - sums[c]) / outside
        within = squares[c] - inside * means[0] ** 2 + (squares.sum() - squares[c]) - outside * means[1] ** 2
        deviation = np.sqrt(max(within, 0.0) / (inside + outside - 2))
        apart = means[0] - means[1]
        # Two groups of one value each are as far apart as can be shown.
        effect = float(np.clip(apart / deviation if deviation > 0 else np.sign(apart) * np.inf, -9.9, 9.9))
        if abs(effect) < _NOTABLE:
            result.append([])
            continue
        sides = raw[of_raw == c], raw[(of_raw >= 0) & (of_raw != c)]
        shown = [_middle_day(side) for side in sides] if column.kind == DATE else _typical(*sides, words, effect)
        result.append([_Found(abs(effect), inside, outside, Difference(column.name, effect, *shown))])
    return result


def _of_interval(column: Column, cells: Any, values: dict[str, Array], labels: Array, group: int) -> _Found | None:
    """How many rows have such values as 9 in 10 of the group have; None if the others have them as often."""
    known = np.isfinite(values[column.name])
    own = np.flatnonzero(known & (labels == group))
    others = np.flatnonzero(known & (labels >= 0) & (labels != group))
    if len(own) < 2 or len(others) < 2:
        return None
    raw = cells.to_numpy()
    low, high = raw[inner_rows(values[column.name], own)]
    here, there = (float(np.mean((raw[rows] >= low) & (raw[rows] <= high))) for rows in (own, others))
    if here <= there:
        return None
    ends = [day(low), day(high)] if column.kind == DATE else told_apart(number_words(raw), low, high)
    interval = ends[0] if low == high else f"from {ends[0]} to {ends[1]}"
    size = float(_angle(here * len(own), len(own)) - _angle(there * len(others), len(others)))
    difference = Difference(column.name, here - there, percent(here), percent(there), interval)
    return _Found(size, len(own), len(others), difference, len(own))


def inner_rows(values: Array, rows: Array) -> Array:
    """The two of some rows whose values 5 and 95 % of them do not exceed: the same if every row is there twice."""
    ends = [max(0, math.ceil(part * len(rows) - 1e-9) - 1) for part in (0.05, 0.95)]
    return np.asarray(rows[np.argsort(values[rows], kind="stable")[ends]])


def _middle_day(raw: Array) -> str:
    seconds = np.sort(raw[~np.isnat(raw)].astype("datetime64[s]").astype(np.int64))
    if not len(seconds):
        return "missing"
    middle = int(seconds[(len(seconds) - 1) // 2] + seconds[len(seconds) // 2]) // 2
    whole_days = not (seconds % _DAY).any()
    return day(np.datetime64(middle - middle % _DAY if whole_days else middle, "s"))


def _typical(here: Array, there: Array, words: Callable[..., str], effect: float) -> list[str]:
    """Medians of numbers; means where the medians are equal, as of columns that are mostly zero."""
    sides = [side[np.isfinite(side)] for side in (here, there)]
    if not all(map(len, sides)):
        return [words(float(np.median(side))) if len(side) else "missing" for side in sides]
    medians, means = ([float(middle(side)) for side in sides] for middle in (np.median, np.mean))
    if medians[0] == medians[1] and (means[0] - means[1]) * effect > 0:
        return [f"{text}{_ON_AVERAGE}" for text in told_apart(words, *means)]
    return told_apart(words, *medians)


def _of_levels(column: Column, cells: Any, missing: Array, labels: Array, k: int) -> list[list[_Found]]:
    """The level whose share differs most; both levels of a yes and no say the same."""
    codes, levels = cells.factorize(use_na_sentinel=True)
    here = (labels >= 0) & ~missing
    if len(levels) < 2 or not here.any():
        return [[] for _ in range(k)]
    cell = labels[here] * len(levels) + codes[here]
    table = np.bincount(cell, minlength=k * len(levels)).reshape(k, -1).astype(float)
    totals = table.sum(axis=1, keepdims=True)
    others, total_others = table.sum(axis=0) - table, totals.sum() - totals
    inside, outside = table / np.maximum(totals, 1), others / np.maximum(total_others, 1)
    sizes = np.abs(_angle(table, totals) - _angle(others, total_others))
    result = []
    for c in range(k):
        best = int(np.argmax(sizes[c] * (inside[c] >= outside[c]))) if len(levels) > 2 else int(np.argmax(inside[c]))
        shares = float(inside[c, best]), float(outside[c, best])
        # A level of this name is not a gap.
        level = "'missing'" if levels[best] == "missing" else short(levels[best])
        told = percent(shares[0]), percent(shares[1])
        difference = Difference(column.name, shares[0] - shares[1], *told, level)
        compared = totals[c, 0], totals.sum() - totals[c, 0]
        found = _Found(float(sizes[c, best]), *compared, difference, len(levels) if len(levels) > 2 else 1)
        result.append([found] if min(compared) else [])
    return result


def _of_gaps(column: Column, missing: Array, labels: Array, k: int) -> list[list[_Found]]:
    here = labels >= 0
    sizes = np.bincount(labels[here], minlength=k)
    gaps = np.bincount(labels[here & missing], minlength=k)
    result = []
    for c in range(k):
        counts, compared = (gaps[c], gaps.sum() - gaps[c]), (sizes[c], sizes.sum() - sizes[c])
        shares = counts[0] / max(1, compared[0]), counts[1] / max(1, compared[1])
        size = float(abs(_angle(counts[0], compared[0]) - _angle(counts[1], compared[1])))
        told = percent(shares[0]), percent(shares[1])
        difference = Difference(column.name, float(shares[0] - shares[1]), *told, "missing")
        result.append([_Found(size, *compared, difference)] if min(compared) else [])
    return result


def _angle(count: Any, total: Any) -> Any:
    """Cohen's scale of shares, on which differences compare with those in standard deviations.

    With Anscombe's correction, without which a share of 0 or 1 in a small group is too far out.
    """
    return 2 * np.arcsin(np.sqrt((count + 0.375) / (total + 0.75)))


# In words ------------------------------------------------------------------------------------------------------------


def sentence(differences: list[Difference], kinds: dict[str, str]) -> str:
    """The most telling differences of a group in words; names of columns keep their letters as they are."""
    parts = [_in_words(item, kinds[item.column]) for item in differences[:_TOLD]] or ["no column stands out"]
    told = listing(parts)
    first = told if differences and told.startswith(differences[0].column) else told[0].upper() + told[1:]
    return f"{first}."


def _in_words(item: Difference, kind: str) -> str:
    if item.level == "missing":
        often = "more" if item.effect > 0 else "less"
        return f"{item.column} {often} often missing ({item.here}, elsewhere {item.elsewhere})"
    if item.level:
        return f"{item.column} is {item.level} in {item.here} (elsewhere {item.elsewhere})"
    strength = "far " if abs(item.effect) >= _HUGE else "" if abs(item.effect) >= _LARGE else "somewhat "
    words = ("later", "earlier") if kind == DATE else ("higher", "lower")
    word = words[0] if item.effect > 0 else words[1]
    around = "" if item.here.endswith(_ON_AVERAGE) else "around "
    return f"{strength}{word} {item.column} ({around}{item.here}, elsewhere {item.elsewhere})"
