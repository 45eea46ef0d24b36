"""Random choices of table cells that leave no row and no column without a value.

The numerical core of the simulators in ``missingness.py``: pure functions on masks, one pass each, no loop over
samples. ``candidates`` are the cells that may be drawn, ``observed`` all cells that hold a value.
"""

from __future__ import annotations

import numpy as np
import scipy.sparse as sp
from scipy.sparse.csgraph import maximum_bipartite_matching

from gramian.typing import Array

__all__ = ["draw_count", "draw_independently", "newly_empty"]


def newly_empty(observed: Array, removed: Array, axis: int) -> bool:
    """Whether some line along ``axis`` held values and has none left."""
    return bool((observed.any(axis=axis) & ~(observed & ~removed).any(axis=axis)).any())


def draw_count(
    candidates: Array, observed: Array, count: int, rng: np.random.Generator, *, rate: float, allow_empty: bool
) -> Array:
    """Draw ``count`` candidate cells uniformly: those with the smallest of random keys.

    A line (row or column) is emptied only if its largest key is drawn, since all others are smaller. Keeping that
    one cell and drawing the next smallest key elsewhere therefore redraws offending cells and touches no others.
    """
    keys = rng.random(candidates.shape)
    free = candidates
    if not allow_empty:
        free = candidates & ~_last_of_line(candidates, observed, keys)
        if count > free.sum():
            free = candidates & ~_smallest_cover(candidates, observed, rng)
    places = np.flatnonzero(free)
    if count > len(places):
        limit = "" if allow_empty else " without emptying a row or column"
        raise ValueError(
            f"rate={rate} asks for {count} more holes, {len(places)} are possible{limit}; pass a lower rate"
        )
    removed = np.zeros(candidates.shape, dtype=bool)
    if count:
        removed.flat[places[np.argpartition(keys.ravel()[places], count - 1)[:count]]] = True
    return removed


def draw_independently(
    candidates: Array, observed: Array, chance: Array, rng: np.random.Generator, *, allow_empty: bool
) -> Array:
    """Draw each candidate cell with its own chance, but for the last cell of a line that would lose all."""
    margin = rng.random(candidates.shape) - chance
    removed = candidates & (margin < 0)
    return removed if allow_empty else removed & ~_last_of_line(candidates, observed, margin)


def _uncovered(candidates: Array, observed: Array, axis: int) -> Array:
    """Lines that hold candidates only, so that drawing could empty them."""
    lines = candidates.any(axis=axis) & ~(observed & ~candidates).any(axis=axis)
    return np.asarray(lines)


def _last_of_line(candidates: Array, observed: Array, keys: Array) -> Array:
    """The cell with the largest key of each line that could be emptied."""
    keys = np.where(candidates, keys, -np.inf)
    kept = np.zeros(candidates.shape, dtype=bool)
    rows = np.flatnonzero(_uncovered(candidates, observed, axis=1))
    kept[rows, keys[rows].argmax(axis=1)] = True
    columns = np.flatnonzero(_uncovered(candidates, observed, axis=0) & ~kept.any(axis=0))
    kept[keys[:, columns].argmax(axis=0), columns] = True
    return kept


def _smallest_cover(candidates: Array, observed: Array, rng: np.random.Generator) -> Array:
    """As few cells as possible that together touch every line that could be emptied.

    Such a cover is a maximum matching of rows and columns, plus one cell for each line that is left over (Gallai
    1959). It is needed only when nearly everything must go; then the largest keys may take too many cells.
    """
    rows, columns = _uncovered(candidates, observed, axis=1), _uncovered(candidates, observed, axis=0)
    kept = np.zeros(candidates.shape, dtype=bool)
    shuffled = rng.permutation(candidates.shape[1])
    both = sp.csr_array((candidates & rows[:, None] & columns)[:, shuffled])
    partner = maximum_bipartite_matching(both, perm_type="column")
    matched = np.flatnonzero(partner >= 0)
    kept[matched, shuffled[partner[matched]]] = True
    keys = np.where(candidates, rng.random(candidates.shape), -np.inf)
    left = np.flatnonzero(rows & ~kept.any(axis=1))
    kept[left, keys[left].argmax(axis=1)] = True
    left = np.flatnonzero(columns & ~kept.any(axis=0))
    kept[keys[:, left].argmax(axis=0), left] = True
    return kept
