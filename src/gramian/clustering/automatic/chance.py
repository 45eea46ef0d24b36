"""Is there anything to find, or would a table without clusters look alike?

A walk on the neighbour graph of a table with clusters stays longer among some rows than on reference tables without.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Any

import numpy as np

from gramian.clustering.automatic.completion import Completion
from gramian.kernels import NeighborGraph
from gramian.typing import Array

_NEIGHBORS = 10
_TESTED_ROWS = 500  # are enough to tell whether there is anything to find
_FEWEST_ROWS = 8  # fewer do not show clusters
_REFERENCES = 20  # tables of each kind
_FIRST_REFERENCES = 8  # are enough where the table is far beyond them
_FAR = 2.0  # times the level
_SLOW = 6.0  # of −log(1 − λ) of references, which is cut at 6.9: so near the end gaps can make no difference
_WIDE = 10  # one in so many of the rows are neighbours then
_DEVIATIONS = 2.5  # beyond the mean of the references
_EIGENVALUES = 7
_RESOLUTION = 0.02  # of −log(1 − λ): finer differences between tables say nothing
_FEW_VALUES = 20


def structure(X: Array, columns: Sequence[Any] | None, rng: np.random.Generator) -> float:
    """:func:`beyond_chance` of at most 500 rows of X, equal ones among them as in the table.

    Parameters
    ----------
    X : ndarray (n, d)
        NaN where missing.
    columns : sequence (d,), optional
        The column of the table that each feature comes from.
    rng : Generator
    """
    X = X[~np.isnan(X).all(axis=1)]  # rows without values would all lie in the middle, between the clusters
    sample = X[np.sort(rng.choice(len(X), min(len(X), _TESTED_ROWS), replace=False))]
    if len(sample) < _FEWEST_ROWS:
        return 0.0
    completion = Completion(columns)
    completed = completion.fit(sample).filled(sample)
    holes = np.isnan(sample)[:, completion.used_]

    def complete(holed: Array) -> Array:
        return Completion(completion.columns_).fit(holed).filled(holed)

    return beyond_chance(completed, holes, completion.columns_, complete, rng)


def beyond_chance(
    completed: Array, holes: Array, columns: Array, complete: Callable[[Array], Array], rng: np.random.Generator
) -> float:
    """By how much a walk on the neighbour graph is held up more than on tables without clusters.

    The leading eigenvalues λ_2, λ_3, … of the walk are near 1 if groups of rows hardly lead to others; here they count
    as −log(1 − λ). Reference tables have as many rows and columns, and the same holes, but no clusters: normal with the
    covariance of the rows; uniform in a box along their principal axes; and independent, uniform. A feature of few
    different values is drawn to the nearest of them, or shuffled where it is independent; features that say the same of
    a row in several ways, as indicators of a category do, are shuffled together. The largest excess of an
    eigenvalue over the references, in their standard deviations, is divided by what one reference in hundreds would
    have over the others; the least of the three quotients counts. There are 20 references of each kind, but 8 where the
    quotient with these exceeds 2, and no further kinds where one is at most 1.

    Along a line, as of a single column, a walk to the 10 nearest rows hardly gets anywhere in any table, and a gap may
    lie between them by chance. Where it is so in the references, each row is tied to a tenth of the rows instead.

    Parameters
    ----------
    completed : ndarray (n, d)
        Features in comparable units, holes filled.
    holes : ndarray (n, d) of bool
    columns : ndarray (d,) of int
        The column of the table that each feature comes from.
    complete : callable
        How holes were filled.
    rng : Generator

    Returns
    -------
    excess : float
        Above 1, the rows have structure that the references do not have.

    References
    ----------
    Tibshirani, Walther, Hastie (2001). Estimating the number of clusters in a data set via the gap statistic. Journal
    of the Royal Statistical Society B 63, for the reference tables.
    """
    if len(completed) < _FEWEST_ROWS:
        return 0.0
    draws = list(_references(completed, columns))

    def references(draw: Callable[[np.random.Generator], Array], count: int, neighbors: int) -> list[Array]:
        tables = (draw(rng) for _ in range(count))
        filled = (complete(np.where(holes, np.nan, table)) if holes.any() else table for table in tables)
        return [_held_up(table, neighbors) for table in filled]

    neighbors, least = _NEIGHBORS, np.inf
    drawn = references(draws[0], _FIRST_REFERENCES, neighbors)
    if np.mean([values[0] for values in drawn]) > _SLOW:
        neighbors = max(_NEIGHBORS, len(completed) // _WIDE)
        drawn = references(draws[0], _FIRST_REFERENCES, neighbors)
    found = _held_up(completed, neighbors)
    for draw in draws:
        drawn = drawn or references(draw, _FIRST_REFERENCES, neighbors)
        if (quotient := _excess(found, np.array(drawn))) <= _FAR:
            drawn += references(draw, _REFERENCES - _FIRST_REFERENCES, neighbors)
            quotient = _excess(found, np.array(drawn))
        least, drawn = min(least, quotient), []
        if least <= 1:  # others cannot find more
            break
    return least


def _excess(found: Array, references: Array) -> float:
    """Largest difference from the mean of the references, in their deviations, by what is usual of each of them."""
    total, squares, count = references.sum(axis=0), (references**2).sum(axis=0), len(references)

    def largest(values: Array, total: Array, squares: Array, count: int) -> Array:
        mean = total / count
        deviation = np.sqrt(np.maximum(squares / count - mean**2, _RESOLUTION**2))
        peaks: Array = ((values - mean) / deviation).max(axis=-1)
        return peaks

    usual = largest(references, total - references, squares - references**2, count - 1)
    # Where the references are all alike, as graphs of a dozen rows are, a step of the resolution is the least level.
    level = max(1.0, float(usual.mean() + _DEVIATIONS * usual.std(ddof=1)))
    return float(largest(found, total, squares, count)) / level


def _held_up(rows: Array, neighbors: int) -> Array:
    """−log(1 − λ) of the leading eigenvalues of a walk to so many neighbours, but the trivial one."""
    rows = rows if rows.shape[1] else np.zeros((len(rows), 1))  # of a reference in which every feature is constant
    graph = NeighborGraph(neighbors).fit(rows).gram(rows)
    values = graph.normalized().eigenpairs(min(_EIGENVALUES + 1, len(rows) - 1), tol=1e-4)[0]
    return -np.log(np.maximum(1 - values[1:], 1e-3))


def _references(completed: Array, columns: Array) -> Iterator[Callable[[np.random.Generator], Array]]:
    """Functions that draw a table without clusters."""
    n = len(completed)
    together = [features for column in np.unique(columns) if len(features := np.flatnonzero(columns == column)) > 1]
    alone = np.setdiff1d(np.arange(len(columns)), np.concatenate([*together, []]))
    few = np.array([j for j in alone if len(np.unique(completed[:, j])) <= min(_FEW_VALUES, n // 2)], int)
    levels = [np.unique(completed[:, j]) for j in few]
    center, low, high = (f(completed[:, alone], axis=0) for f in (np.mean, np.min, np.max))
    _, lengths, axes = np.linalg.svd(completed[:, alone] - center, full_matrices=False)
    lengths, m = lengths / np.sqrt(n), len(lengths)

    def table(drawn: Array, rng: np.random.Generator) -> Array:
        rows = np.empty_like(completed)
        rows[:, alone] = drawn
        for features in together:
            rows[:, features] = completed[np.ix_(rng.permutation(n), features)]
        return rows

    def along_axes(drawn: Array, rng: np.random.Generator) -> Array:
        rows = table(center + (drawn * lengths) @ axes, rng)
        for j, values in zip(few, levels, strict=True):
            rows[:, j] = values[np.searchsorted((values[1:] + values[:-1]) / 2, rows[:, j])]
        return rows

    def independent(rng: np.random.Generator) -> Array:
        rows = table(rng.uniform(low, high, (n, len(alone))), rng)
        rows[:, few] = rng.permuted(completed[:, few], axis=0)
        return rows

    yield lambda rng: along_axes(rng.standard_normal((n, m)), rng)
    yield lambda rng: along_axes(rng.uniform(-(3**0.5), 3**0.5, (n, m)), rng)
    yield independent
