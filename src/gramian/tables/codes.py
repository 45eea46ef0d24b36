"""Whole numbers that are codes: columns of few values whose order tells nothing of the other columns.

Used by :mod:`gramian.tables.read` once all columns have their types.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from itertools import permutations
from typing import Any

import numpy as np

from gramian.tables.table import BOOLEAN, CATEGORY, DATE, NUMBER, Column
from gramian.typing import Array

__all__ = ["find_codes", "on_one_scale"]

_MOST_VALUES = 10
_TELLING_VALUES = 20  # fewer rows do not tell a code from a number
_LEAST_ROWS = 5  # of a value, for its means to say anything
_SMOOTHER = 0.1  # of all orders of the values; if so many are smoother, the given one means nothing
_SAMPLE, _OTHERS, _LEVELS, _ORDERS = 2000, 40, 8, 2000  # rows, columns, levels and orders that are looked at


def find_codes(frame: Any, rows: Array, columns: Sequence[Column]) -> list[str]:
    """Find the columns of numbers that are rather names, such as 1 and 2 for a gender or 0, 1, 2 for a status.

    Two whole numbers are a category: there is no order to lose. From three to ten, the order is put to the test. If
    neighbouring values are numbers, rows with neighbouring values are more alike than others, so that the path

        S(order) = Σᵢ D(vᵢ, vᵢ₊₁),    D(a, b) = Σⱼ (mean of column j where v = a − mean where v = b)² / s²ⱼ

    from value to value is short, with the sum over the other columns that depend on this one (by the BIC) and sⱼ their
    deviation within values. If at least a tenth of all orders of the values have a shorter path, the values are codes.
    Columns on which no other depends stay numbers, and so do columns on the scale of most columns of numbers (answers
    from 1 to 5, grades from 0 to 3) if most of those are numbers.

    Parameters
    ----------
    frame : pandas.DataFrame (n, n_columns) or dict of Series (n,)
    rows : ndarray
        Rows to look at, without copies of others.
    columns : sequence of Column

    Returns
    -------
    names : list of str

    Examples
    --------
    >>> import numpy as np, pandas as pd
    >>> rng = np.random.default_rng(0)
    >>> status, grade = rng.integers(0, 4, 200), rng.integers(0, 4, 200)
    >>> size = np.array([5.0, 9.0, 1.0, 7.0])[status] + rng.normal(size=200)
    >>> frame = pd.DataFrame({"status": status, "grade": grade, "size": size, "price": grade + rng.normal(size=200)})
    >>> find_codes(frame.astype(float), np.arange(200), [Column(name, "number", 0.0) for name in frame])
    ['status']
    """
    rows = rows[np.linspace(0, len(rows) - 1, min(len(rows), _SAMPLE)).astype(int)]
    few = {column.name: values for column in columns if (values := _few_values(frame[column.name], column)) is not None}
    found = [name for name, values in few.items() if len(values) == 2]
    asked = [name for name, values in few.items() if len(values) > 2]
    others = [column for column in columns if column.kind in (NUMBER, DATE, CATEGORY, BOOLEAN)] if asked else []
    others = [others[j] for j in np.unique(np.linspace(0, len(others) - 1, _OTHERS).astype(int))] if others else []
    features = {column.name: _features(frame[column.name].iloc[rows], column.kind) for column in others}
    for name in asked:
        values = frame[name].iloc[rows].to_numpy(np.float64)
        told = [column for other, column in features.items() if other != name]
        if told and not _is_ordered(values, np.column_stack(told)):
            found.append(name)
    if codes := [name for name in asked if name in found]:
        scale = on_one_scale(frame, columns)
        # A grade that is rarely given tells too little of its order; the others on its scale tell what it is.
        if 2 * sum(name in scale for name in codes) < len(scale):
            found = [name for name in found if name not in scale or name not in codes]
    return [column.name for column in columns if column.name in found]


def on_one_scale(frame: Any, columns: Sequence[Column]) -> set[str]:
    """The whole numbers on the scale of most columns of numbers, as answers from 1 to 5 are; none if there is none."""
    ends = {}
    for name in (column.name for column in columns if column.kind == NUMBER):
        values = frame[name].dropna().to_numpy(np.float64)
        if len(values) and np.all(values == np.rint(values)):
            ends[name] = float(values.min()), float(values.max())
    scales = Counter(ends.values())
    (lowest, highest), times = max(scales.items(), key=lambda item: item[1], default=((0.0, 0.0), 0))
    if 2 * times <= sum(column.kind == NUMBER for column in columns) or highest - lowest < 2:
        return set()
    return {name for name, (low, high) in ends.items() if lowest <= low and high <= highest and high - low > 1}


def _few_values(series: Any, column: Column) -> Array | None:
    """The distinct values of a number column, if they are few and whole."""
    if column.kind != NUMBER:
        return None
    values = np.unique(series.to_numpy(np.float64)[: _SAMPLE * 10])
    values = values[~np.isnan(values)]
    if not 2 <= len(values) <= _MOST_VALUES or not np.all(values == np.rint(values)):
        return None
    known = series.dropna().to_numpy(np.float64)
    values = np.unique(known)
    few = len(known) >= _TELLING_VALUES and len(values) <= _MOST_VALUES
    return values if few and np.all(values == np.rint(values)) else None


def _features(series: Any, kind: str) -> Array:
    """Ranks of numbers and dates, indicators of levels; NaN where missing."""
    if kind in (NUMBER, DATE):
        return np.asarray(series.rank(), np.float64)[:, None]
    codes = series.astype(object).factorize()[0]
    frequent = np.argsort(-np.bincount(codes[codes >= 0], minlength=1), kind="stable")[:_LEVELS]
    frequent = frequent[: max(len(frequent) - 1, 1)]  # the last follows from the others
    return np.where(codes[:, None] >= 0, codes[:, None] == frequent, np.nan)


def _is_ordered(values: Array, Y: Array) -> bool:
    """Whether the order of the values tells something of the columns Y, or no column depends on them."""
    _, codes = np.unique(values[~np.isnan(values)], return_inverse=True)
    Y = Y[~np.isnan(values)]
    frequent = np.flatnonzero(np.bincount(codes) >= _LEAST_ROWS)
    k = len(frequent)
    if k < 3:
        return True
    indicator = (codes[:, None] == frequent).astype(np.float64)
    used = indicator.any(axis=1)
    indicator, Y = indicator[used], Y[used]
    known = ~np.isnan(Y)
    counts = indicator.T @ known
    means = indicator.T @ np.where(known, Y, 0.0) / np.maximum(counts, 1)
    n = counts.sum(axis=0)
    centre = (counts * means).sum(axis=0) / np.maximum(n, 1)
    between = (counts * (means - centre) ** 2).sum(axis=0)
    within = np.where(known, (np.where(known, Y, 0.0) - indicator @ means) ** 2, 0.0).sum(axis=0)
    within = np.maximum(within, 1e-3 * (within + between))
    whole = (counts > 0).all(axis=0) & (between > 0)
    depends = np.zeros(len(n), bool)
    depends[whole] = n[whole] * np.log1p(between[whole] / within[whole]) > (k - 1) * np.log(n[whole])
    if not depends.any():
        return True
    scaled = means[:, depends] / np.sqrt(within[depends] / n[depends])
    apart = ((scaled[:, None] - scaled[None]) ** 2).sum(axis=2)
    orders = _orders(k)
    paths = apart[orders[:, :-1], orders[:, 1:]].sum(axis=1)
    given = apart[np.arange(k - 1), np.arange(1, k)].sum()
    return bool(np.mean(paths < given * (1 - 1e-9)) < _SMOOTHER)


def _orders(k: int) -> Array:
    """All orders of k values, or many of them."""
    if k <= 7:
        return np.array(list(permutations(range(k))))
    rng = np.random.default_rng(k)
    return rng.permuted(np.tile(np.arange(k), (_ORDERS, 1)), axis=1)
