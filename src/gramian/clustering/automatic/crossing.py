"""Categories that cross the latent classes: they have the same shares in all, and move the numbers alike in each.

Females are lighter than males in every species. Latent classes take columns for independent within a class, so such a
category would cut each of them in two. Whether it does is asked of the likelihood: with the category as a column of
the classes, or beside them. Used for tables with categories; what is left is grouped by ``latent_classes.py``.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import NamedTuple

import numpy as np

from gramian.clustering.automatic.class_tables import ClassTable, Search, completed, completed_likelihood, search
from gramian.clustering.automatic.variables import Variables
from gramian.typing import Array


@dataclass(frozen=True)
class Crossing:
    """A category beside the classes: the numbers are normal within classes once its levels' means are taken away.

    Attributes
    ----------
    column : int
        Where it stands among the discrete columns.
    shifts : ndarray (l, d)
        Means of the numbers for each of its levels.
    """

    column: int
    shifts: Array

    @classmethod
    def of(cls, variables: Variables, column: int) -> Crossing:
        """From the rows of each level, and one more at the middle of the table."""
        hot = (variables.codes[:, [column]] == np.arange(variables.sizes[column])).astype(np.float64)
        known = ~np.isnan(variables.numbers)
        return cls(column, hot.T @ np.where(known, variables.numbers, 0.0) / (hot.T @ known + 1))

    def __call__(self, variables: Variables) -> Variables:
        """Without the category and what it does to the numbers; where it is missing, they stay as they are."""
        moved = np.vstack([self.shifts, np.zeros(self.shifts.shape[1])])[variables.codes[:, self.column]]
        others = np.arange(variables.codes.shape[1]) != self.column
        return replace(variables.keep(others), numbers=variables.numbers - moved)


class Crossed(NamedTuple):
    """What is left of a table beside the categories that cross its classes."""

    crossings: list[Crossing]  # each a column of what those before it have left
    variables: Variables
    found: Search


def beside_crossings(
    variables: Variables,
    found: Search,
    rows: float,
    rng: np.random.Generator,
    *,
    max_classes: int,
    n_classes: int | None = None,
) -> Crossed:
    """Take categories out of the columns of the classes as long as the table is described better with them beside.

    Both descriptions are of the whole table. With category c in the classes it is the ICL of the mixture; with c beside
    them it is log p(c) + ICL of the mixture of numbers − E(numbers | c) and of the other columns, where c has
    (levels − 1)(1 + numbers) parameters. For c beside fewer classes than gain most in the table, the two are compared
    in the classes that are there; only where c beside them is better, mixtures are searched anew.

    Parameters
    ----------
    variables : Variables
    found : Search
        The mixtures of all columns.
    rows : float
        Effective number of rows.
    rng : Generator
    max_classes : int
    n_classes : int, optional
        The number of classes, if it is known: descriptions by as many are compared.
    """
    crossings: list[Crossing] = []
    spent = 0.0  # what the categories beside the classes take to describe
    while variables.numbers.shape[1]:
        best = n_classes or int(found.gains.argmax()) + 1
        coarser = [k for k in ([n_classes] if n_classes else range(2, best)) if k in found.fits and k > 1]
        if not coarser:
            break
        filled = completed(variables)
        described = {
            c: _described(filled, found, c, coarser, rows) for c in np.flatnonzero(variables.categories).tolist()
        }
        column = max(described, key=described.__getitem__, default=-1)
        before = spent + completed_likelihood(found.table, found.fits[best], rows)
        if column < 0 or spent + described[column] <= before:
            break
        crossing = Crossing.of(filled, column)
        left = crossing(variables)
        anew = search(left, rows, rng, max_classes=max_classes)
        if anew.gains.argmax() == 0:  # the category is what tells the groups
            break
        spent += _own(variables, column, rows)
        crossings, variables, found = [*crossings, crossing], left, anew
    return Crossed(crossings, variables, found)


def _described(filled: Variables, found: Search, column: int, numbers: list[int], rows: float) -> float:
    """The best description of a table with a category beside some of the numbers of classes that were found in it."""
    table = ClassTable(Crossing.of(filled, column)(filled))
    fits = (table.fit(k, [found.fits[k].labels]) for k in numbers)
    return _own(filled, column, rows) + max(completed_likelihood(table, fit, rows) for fit in fits)


def _own(variables: Variables, column: int, rows: float) -> float:
    """What a category beside the classes takes to describe: its shares, and what it does to the numbers."""
    counts = np.bincount(variables.codes[variables.codes[:, column] >= 0, column])
    counts = counts[counts > 0]
    likelihood = float((counts * np.log(counts / counts.sum())).sum())
    parameters = (int(variables.sizes[column]) - 1) * (1 + variables.numbers.shape[1])
    return rows / len(variables) * likelihood - 0.5 * parameters * float(np.log(rows))
