"""Statistics of columns that lie in many parts: each part is summed up where it is, and the sums are merged.

:class:`Quantiles` keeps a few thousand values of a column of any length and says how far their ranks may be off;
:class:`ColumnStatistics` adds the missing values and the counts of categories, which are exact. Nothing of gramian is
used here; :mod:`gramian.tables.prepare` learns from them, and explorations of folders rank rows by them.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from typing import TypeVar

import numpy as np

from gramian.typing import Array

__all__ = ["ColumnStatistics", "Quantiles", "merged_in_turn"]

Part = TypeVar("Part")

_KEPT = 8192  # values of a column; quantiles of the preparation go to 1 %, of which this is a hundredth
_AT_ONCE = 16  # parts that are merged together


@dataclass(frozen=True)
class Quantiles:
    """The quantiles of a column, from some of its values in order, each of which stands for ``weights`` of them.

    Merging takes all values of both and, where these are more than ``kept``, the values at the ranks
    (i + 1/2) W / kept, of which each then stands for W / kept values of the W. A value that is kept stands for values
    at most so many ranks away, so that every compression adds 1 / kept to the error of ranks, as part of W.

    Attributes
    ----------
    values, weights : ndarray (m,)
        Rising values and how many each stands for.
    error : float
        By how much a rank may be off, as part of the number of values: 0 as long as every value is kept.
    mean : float
        Of all values; exact.
    kept : int
        Values at most.

    Examples
    --------
    >>> import numpy as np
    >>> from gramian.tables.statistics import Quantiles
    >>> column = np.random.default_rng(0).normal(size=100_000)
    >>> merged = Quantiles.merged([Quantiles.of(part) for part in np.array_split(column, 10)])
    >>> bool(abs(np.mean(column <= merged.quantile(0.9)) - 0.9) <= merged.error), merged.error < 0.0005
    (True, True)
    """

    values: Array
    weights: Array
    error: float = 0.0
    mean: float = 0.0
    kept: int = _KEPT

    @classmethod
    def of(cls, values: Array, *, kept: int = _KEPT) -> Quantiles:
        """Of one part, without NaN."""
        mean = float(values.mean()) if len(values) else 0.0
        return cls(np.sort(values), np.ones(len(values)), 0.0, mean, kept)._compressed()

    @classmethod
    def merged(cls, parts: Sequence[Quantiles]) -> Quantiles:
        """Of all parts together."""
        total = sum(part.count for part in parts)
        if not total:
            return parts[0]
        values = np.concatenate([part.values for part in parts])
        weights = np.concatenate([part.weights for part in parts])
        order = np.argsort(values, kind="stable")
        error = sum(part.error * part.count for part in parts) / total
        mean = sum(part.mean * part.count for part in parts) / total
        return cls(values[order], weights[order], error, mean, parts[0].kept)._compressed()

    @property
    def count(self) -> float:
        """Values that are summed up."""
        return float(self.weights.sum())

    def _compressed(self) -> Quantiles:
        if len(self.values) <= self.kept:
            return self
        ranks = (np.arange(self.kept) + 0.5) * (self.count / self.kept)
        places = np.minimum(np.searchsorted(np.cumsum(self.weights), ranks), len(self.values) - 1)
        places[0], places[-1] = 0, len(self.values) - 1  # the ends stay what they are
        even = np.full(self.kept, self.count / self.kept)
        return Quantiles(self.values[places], even, self.error + 1 / self.kept, self.mean, self.kept)

    def evenly(self) -> Array:
        """At most ``kept`` values that all stand for as many: a small column with the same distribution."""
        if len(self.values) <= 1 or np.all(self.weights == self.weights[0]):
            return self.values
        ranks = (np.arange(self.kept) + 0.5) * (self.count / self.kept)
        even = self.values[np.minimum(np.searchsorted(np.cumsum(self.weights), ranks), len(self.values) - 1)]
        even[0], even[-1] = self.values[0], self.values[-1]
        return even

    def quantile(self, share: float) -> float:
        """The value below which a share of all lies."""
        place = np.searchsorted(np.cumsum(self.weights), share * self.count)
        return float(self.values[min(int(place), len(self.values) - 1)])

    def above(self, values: Array) -> Array:
        """How many of all values are larger than each of these."""
        below = np.concatenate([[0.0], np.cumsum(self.weights)])
        return self.count - below[np.searchsorted(self.values, values, side="right")]


@dataclass(frozen=True)
class ColumnStatistics:
    """What is known of a column that lies in many parts.

    Attributes
    ----------
    rows, missing : int
        Exact.
    quantiles : Quantiles
        Of numbers, dates (in seconds) and truth values.
    levels : Counter
        Of categories, exact.
    """

    rows: int
    missing: int
    quantiles: Quantiles = field(default_factory=lambda: Quantiles.of(np.empty(0)))
    levels: Counter[str] = field(default_factory=Counter)

    @classmethod
    def of_numbers(cls, values: Array) -> ColumnStatistics:
        """Of one part, with NaN where missing."""
        seen = values[~np.isnan(values)]
        return cls(len(values), len(values) - len(seen), Quantiles.of(seen))

    @classmethod
    def of_levels(cls, levels: Sequence[str], codes: Array) -> ColumnStatistics:
        """Of one part: the place of each row among the levels, −1 where missing."""
        counts = np.bincount(codes[codes >= 0], minlength=len(levels))
        found = {str(level): int(times) for level, times in zip(levels, counts, strict=True) if times}
        return cls(len(codes), int((codes < 0).sum()), levels=Counter(found))

    @classmethod
    def merged(cls, parts: Sequence[ColumnStatistics]) -> ColumnStatistics:
        """Of all parts together."""
        levels: Counter[str] = Counter()
        for part in parts:
            levels.update(part.levels)
        rows, missing = sum(part.rows for part in parts), sum(part.missing for part in parts)
        return cls(rows, missing, Quantiles.merged([part.quantiles for part in parts]), levels)

    def levels_and_counts(self) -> tuple[Array, Array]:
        """Levels in the order of their letters, and how often each occurs: no part comes first."""
        levels = sorted(self.levels)
        return np.array(levels, dtype=str), np.array([self.levels[level] for level in levels])


def merged_in_turn(parts: Iterable[Part], merge: Callable[[list[Part]], Part]) -> Part:
    """Merge parts as they come, sixteen at a time, then sixteen of the results, and so on.

    At most a few dozen are held at a time, and quantiles of P parts are compressed about log₁₆ P times, not P times.

    Examples
    --------
    >>> from gramian.tables.statistics import merged_in_turn
    >>> merged_in_turn(range(1, 101), sum)
    5050
    """
    waiting: list[list[Part]] = []
    for part in parts:
        merged, level = part, 0
        while True:
            if level == len(waiting):
                waiting.append([])
            waiting[level].append(merged)
            if len(waiting[level]) < _AT_ONCE:
                break
            merged, waiting[level] = merge(waiting[level]), []
            level += 1
    return merge([part for level in reversed(waiting) for part in level])
