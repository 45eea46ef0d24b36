"""Columns of a table as variables: numbers in standard units, codes of categories, and which depend on others.

Pure functions on arrays, used for tables with categories. One column is one variable, never several features.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Literal

import numpy as np
from scipy.stats import chi2

from gramian.mixture.levels import indicators
from gramian.typing import Array

Path = Literal["views", "classes", "classes if certain"]

_BINS = 5
_FEW_VALUES = 10  # of a number that counts by its values
_TANGENT = 0.1  # of a logarithm, which goes on straight below
_LEVEL = 0.01  # of all tests together


@dataclass(frozen=True)
class Variables:
    """One variable for each column of a table.

    Attributes
    ----------
    numbers : ndarray (n, d)
        Columns of numbers in standard units, NaN where missing.
    codes : ndarray (n, c) of int
        Levels of the discrete columns: categories, and numbers of few values. −1 where missing.
    sizes : ndarray (c,) of int
        How many levels each of them has; at least two, and each occurs.
    categories : ndarray (c,) of bool
        Which discrete columns are categories; the others are numbers and are never left out.
    """

    numbers: Array
    codes: Array
    sizes: Array
    categories: Array

    def __len__(self) -> int:
        return len(self.numbers)

    def rows(self, index: Array) -> Variables:
        """Some of the rows; levels keep their numbers."""
        return Variables(self.numbers[index], self.codes[index], self.sizes, self.categories)

    def keep(self, discrete: Array) -> Variables:
        """Without the discrete columns that a mask leaves out."""
        return Variables(self.numbers, self.codes[:, discrete], self.sizes[discrete], self.categories[discrete])


def bent(z: Array, bend: float, *, slope: bool = False) -> Array:
    """y = log(1 + bend · z) / bend, or with ``slope`` dy/dz; where 1 + bend · z is below 0.1, along the tangent.

    Examples
    --------
    >>> import numpy as np
    >>> bent(np.array([-1.0, 0.0, 1.0]), 0.5).round(2)
    array([-1.39,  0.  ,  0.81])
    """
    inner = 1 + bend * z
    if slope:
        return 1 / np.maximum(inner, _TANGENT)
    if bend == 0:
        return z
    return (np.log(np.maximum(inner, _TANGENT)) + np.minimum(inner - _TANGENT, 0) / _TANGENT) / bend


@dataclass(frozen=True)
class NumberCode:
    """How a column of numbers counts: in standard units, by its values, or by the part of the rows it falls into."""

    discrete: bool
    center: float
    scale: float
    ends: Array  # between neighbouring codes, if discrete
    bend: float = 0.0  # of standard units, see bent
    bent_center: float = 0.0
    bent_scale: float = 1.0

    def __call__(self, column: Array) -> Array:
        if not self.discrete:
            return (bent((column - self.center) / self.scale, self.bend) - self.bent_center) / self.bent_scale
        codes: Array = np.where(np.isnan(column), -1, np.searchsorted(self.ends, column, side="left"))
        return codes


@dataclass(frozen=True)
class Coding:
    """How the columns of a table become variables, for its own rows and for new ones.

    Attributes
    ----------
    numbers : list of (int, NumberCode)
        The columns of numbers that say something: where they stand, and how they count.
    categories : list of (int, ndarray)
        The columns of codes that say something, and the codes that occur.
    """

    numbers: list[tuple[int, NumberCode]]
    categories: list[tuple[int, Array]]

    @classmethod
    def of(cls, numbers: Array, codes: Array) -> Coding:
        """From columns of numbers (n, d) with NaN and columns of codes (n, c) with −1 where missing.

        Numbers with at most ten values count by value, and those with one value in more than half of their rows by
        quantile; the others in standard units. A column with a single value says nothing and is left out.
        """
        coded = [(j, code) for j, column in enumerate(numbers.T) if (code := _number_code(column)) is not None]
        known = [(j, np.unique(column[column >= 0])) for j, column in enumerate(codes.T)]
        return cls(coded, [(j, levels) for j, levels in known if len(levels) > 1])

    def __call__(self, numbers: Array, codes: Array) -> Variables:
        """Variables of rows of the same columns; a code that did not occur is missing."""
        n = len(numbers)
        plain = [code(numbers[:, j]) for j, code in self.numbers if not code.discrete]
        discrete = [code(numbers[:, j]) for j, code in self.numbers if code.discrete]
        sizes = [len(code.ends) + 1 for _, code in self.numbers if code.discrete]
        n_numbers = len(discrete)
        for j, levels in self.categories:
            place = np.minimum(np.searchsorted(levels, codes[:, j]), len(levels) - 1)
            discrete.append(np.where(levels[place] == codes[:, j], place, -1))
            sizes.append(len(levels))
        table = np.column_stack([np.empty((n, 0), np.intp), *discrete])
        categories = np.arange(len(sizes)) >= n_numbers
        return Variables(np.column_stack([np.empty((n, 0)), *plain]), table, np.array(sizes, np.intp), categories)

    def bend(self, bends: Array, numbers: Array) -> Coding:
        """The same with the columns in standard units bent, and in standard units of these rows again."""
        left, coded = iter(bends.tolist()), []
        for j, code in self.numbers:
            if not code.discrete and (bend := next(left)):
                values = bent(code(numbers[:, j]), bend)
                center, scale = float(np.nanmean(values)), float(np.nanstd(values))
                coded.append((j, replace(code, bend=bend, bent_center=center, bent_scale=scale)))
            else:
                coded.append((j, code))
        return Coding(coded, self.categories)


def variables_of(numbers: Array, codes: Array) -> Variables:
    """The variables of a table, see :class:`Coding`."""
    return Coding.of(numbers, codes)(numbers, codes)


def _number_code(column: Array) -> NumberCode | None:
    observed = column[~np.isnan(column)]
    values, counts = np.unique(observed, return_counts=True)
    if len(values) < 2:
        return None
    discrete = len(values) <= _FEW_VALUES or counts.max() > len(observed) / 2
    return NumberCode(discrete, float(observed.mean()), float(observed.std()), _ends(observed))


def _ends(observed: Array) -> Array:
    """Ends between codes: halfway between values if there are at most ten, else those of five equal parts of rows."""
    values = np.unique(observed)
    if len(values) <= _FEW_VALUES:
        return (values[1:] + values[:-1]) / 2
    ends = np.unique(np.quantile(observed, np.arange(1, _BINS) / _BINS))
    # A part without rows, as above the largest value, has no code.
    return ends[np.isin(np.arange(1, len(ends) + 1), np.searchsorted(ends, observed, side="left"))]


def quantile_codes(column: Array) -> Array:
    """Numbers as codes: their values if there are at most ten, else five parts of equally many rows; −1 where missing.

    Examples
    --------
    >>> import numpy as np
    >>> quantile_codes(np.array([3.0, np.nan, 1.0, 3.0])).tolist()
    [1, -1, 0, 1]
    """
    observed = column[~np.isnan(column)]
    return NumberCode(True, 0.0, 1.0, _ends(observed) if len(observed) else np.empty(0))(column)


def effective_rows(variables: Variables, rng: np.random.Generator) -> float:
    """n · min(1, different rows / different rows after each column is shuffled).

    Copies of rows say nothing new, while the cells of a small cross table repeat in any order.
    """
    table = np.column_stack([np.nan_to_num(variables.numbers, nan=np.inf), variables.codes])
    if not table.shape[1]:
        return float(len(table))
    found = len(np.unique(table, axis=0))
    shuffled = [len(np.unique(rng.permuted(table, axis=0), axis=0)) for _ in range(3)]
    return len(table) * min(1.0, found / float(np.mean(shuffled)))


def told_columns(variables: Variables, rows: float) -> tuple[Array, Array]:
    """Which columns of numbers, and which discrete ones, depend on at least one other column.

    Pearson's χ² of the codes of each pair, scaled to the effective number of ``rows``, at a level of 1 % over all pairs
    together (Bonferroni). All cross tables come from one product.
    """
    n, d = variables.numbers.shape
    codes = np.column_stack([*(quantile_codes(column) for column in variables.numbers.T), variables.codes])
    sizes = codes.max(axis=0, initial=-1) + 1
    total = codes.shape[1]
    if total < 2:
        return np.zeros(d, bool), np.zeros(total - d, bool)
    hot = indicators(codes, sizes).astype(np.float64)
    tables = hot @ hot.T
    ends = np.cumsum(sizes)
    told = np.zeros(total, bool)
    least = _LEVEL / (total * (total - 1) / 2)
    for i in range(total):
        for j in range(i):
            if told[i] and told[j]:
                continue
            table = tables[ends[i] - sizes[i] : ends[i], ends[j] - sizes[j] : ends[j]]
            table = table[table.sum(axis=1) > 0][:, table.sum(axis=0) > 0]
            freedom = (table.shape[0] - 1) * (table.shape[1] - 1)
            if freedom < 1:
                continue
            expected = np.outer(table.sum(axis=1), table.sum(axis=0)) / table.sum()
            statistic = float(((table - expected) ** 2 / expected).sum()) * rows / n
            if chi2.sf(statistic, freedom) < least:
                told[i] = told[j] = True
    return told[:d], told[d:]


def choose_path(n_told_categories: int, n_told: int) -> Path:
    """Whether the similarities of numbers or latent classes group the table, by the told columns.

    Classes where a third of them or more are categories; similarities where fewer than an eighth are, unless classes
    are certain; in between classes if they are certain, and what they say of whether there are any groups.
    """
    if n_told_categories == 0 or n_told_categories < n_told / 8:
        return "views"
    return "classes if certain" if n_told_categories < n_told / 3 else "classes"
