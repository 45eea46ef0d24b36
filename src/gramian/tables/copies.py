"""Rows that are copies of others, and which of them to keep so that copies do not change what is found.

Rows may be equal because a table was pasted twice, or because two things have the same few properties. Only the first
are copies: ten passengers of one class, age group and sex are ten passengers.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import numpy as np

from gramian.typing import Array

__all__ = ["without_copies"]

_FEWEST_KINDS = 8  # distinct rows; the numbers of fewer kinds may all be even by chance
_MANY_VALUES = 0.05  # chance that two rows agree in a column, up to which the column counts as evidence
_BY_CHANCE = 0.1  # of the equal pairs; if less are expected by chance, equal rows are copies


def without_copies(columns: Iterable[Any], n_rows: int) -> tuple[Array, Array]:
    """Find the rows to keep, and for every row the place of its equal among them.

    Two kinds of copies are told from rows that are equal by chance:

    - Every one of at least 8 distinct rows occurs a multiple of g > 1 times: the table was repeated g times, and a g-th
      part is kept. By chance m counts are all even once in 2 to the m times, so fewer kinds of rows say nothing.
    - Many more pairs of rows are equal than columns of many values would let expect if they had nothing to do with
      each other, n (n − 1) / 2 · Π pⱼ, with pⱼ the share of pairs that agree in column j: one of each is kept. At
      least two such columns are needed, for one alone says nothing about chance.

    Parameters
    ----------
    columns : iterable of pandas or Arrow arrays (n,)
        Missing values equal each other. Columns are read only as far as needed.
    n_rows : int

    Returns
    -------
    kept : ndarray (m,)
        Numbers of the rows to keep, in order; all of them if there are no copies.
    place : ndarray (n,)
        ``kept[place[i]]`` is a row equal to row i.

    Examples
    --------
    >>> import pandas as pd
    >>> kept, place = without_copies([pd.Series([4, 7, 1, 3, 9, 2, 8, 5] * 2), pd.Series(["a", "b"] * 8)], 16)
    >>> kept.tolist(), place.tolist()
    ([0, 1, 2, 3, 4, 5, 6, 7], [0, 1, 2, 3, 4, 5, 6, 7, 0, 1, 2, 3, 4, 5, 6, 7])
    """
    import pandas as pd

    everything = np.arange(n_rows)
    same = np.zeros(n_rows, np.int64)
    coded, different = [], 1
    for column in columns:
        codes = _codes(column)
        coded.append(codes)
        # −1 stands for a missing value.
        same, levels = pd.factorize(same * (int(codes.max(initial=0)) + 2) + codes + 1)
        different = len(levels)
        if different == n_rows:
            return everything, everything
    counts = np.bincount(same)
    if not n_rows or different == 1:
        return everything, everything
    copies = int(np.gcd.reduce(counts))
    keep = counts // (copies if different >= _FEWEST_KINDS else 1)
    if _are_copies(coded, counts):
        keep = np.ones_like(counts)
    # The how-manieth of its like a row is.
    order = np.argsort(same, kind="stable")
    starts = np.cumsum(counts) - counts
    turn = np.empty(n_rows, np.int64)
    turn[order] = everything - np.repeat(starts, counts)
    kept = np.flatnonzero(turn < keep[same])
    by_like = np.argsort(same[kept], kind="stable")
    return kept, by_like[(np.cumsum(keep) - keep)[same] + turn % keep[same]]


def _are_copies(coded: list[Array], counts: Array) -> bool:
    """Whether equal rows are too many for chance."""
    n = float(counts.sum())
    pairs = _pairs(counts)
    agree = [_pairs(np.bincount(codes + 1)) / (n * (n - 1) / 2) for codes in coded]
    telling = [share for share in agree if share <= _MANY_VALUES]
    return pairs > 0 and len(telling) > 1 and float(np.prod(telling)) * n * (n - 1) / 2 < _BY_CHANCE * pairs


def _pairs(counts: Array) -> float:
    """Pairs of equal values."""
    sizes = counts.astype(float)
    return float(sizes @ (sizes - 1) / 2)


def _codes(column: Any) -> Array:
    """Distinct values as whole numbers from 0, −1 where missing."""
    import pandas as pd
    import pyarrow as pa

    if isinstance(column, (pa.Array, pa.ChunkedArray)):
        if pa.types.is_nested(column.type):
            column = pa.array([None if value is None else str(value) for value in column.to_pylist()], pa.string())
        column = pa.chunked_array([column]) if isinstance(column, pa.Array) else column
        if pa.types.is_dictionary(column.type):
            column = column.cast(column.type.value_type)
        if pa.types.is_null(column.type):
            return np.full(len(column), -1, np.int64)
        coded = column.combine_chunks().dictionary_encode()
        coded = coded.combine_chunks() if isinstance(coded, pa.ChunkedArray) else coded
        return np.asarray(coded.indices.fill_null(-1).to_numpy(zero_copy_only=False), np.int64)
    return np.asarray(pd.factorize(column)[0], np.int64)
