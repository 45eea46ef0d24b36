"""Tables with categories: which columns count, and whether latent classes or the views of numbers group the rows.

Tables come as prepared features, a few of which may belong to one column. Categories are read back from them: the
levels of a category are the different vectors that its features take.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from gramian.clustering.automatic.latent_classes import ClassModel, LatentClasses, latent_classes
from gramian.clustering.automatic.variables import Coding, Variables, choose_path, effective_rows, told_columns
from gramian.typing import Array

_JUDGED_ROWS = 1000


@dataclass(frozen=True)
class FeatureLevels:
    """Where the columns of a table stand among its features, and the levels of the categories.

    Attributes
    ----------
    names : list
        Of the categories.
    numbers : ndarray (d,) of int
        The first feature of every other column.
    features : list of ndarray of int
        The features of each category.
    levels : list of ndarray (l, number of features)
        What they are for each of its levels.
    """

    names: list[Any]
    numbers: Array
    features: list[Array]
    levels: list[Array]

    @classmethod
    def of(cls, X: Array, columns: Sequence[Any], categorical: Collection[Any]) -> FeatureLevels:
        """From rows (n, m) of features, NaN where missing, and the name of each feature's column."""
        owners = np.asarray(columns, object)
        order = list(dict.fromkeys(columns))
        places = {name: np.flatnonzero(owners == name) for name in order}
        names = [name for name in order if name in categorical]
        blocks = [X[:, places[name]] for name in names]
        levels = [np.unique(block[~np.isnan(block).any(axis=1)], axis=0) for block in blocks]
        numbers = np.array([places[name][0] for name in order if name not in categorical], np.intp)
        return cls(names, numbers, [places[name] for name in names], levels)

    def columns(self, X: Array) -> tuple[Array, Array]:
        """Numbers (n, d), NaN where missing, and codes (n, c) of the categories, −1 where missing or not seen."""
        codes = np.full((len(X), len(self.names)), -1)
        for j, (features, levels) in enumerate(zip(self.features, self.levels, strict=True)):
            for code, level in enumerate(levels):
                codes[(X[:, features] == level).all(axis=1), j] = code
        return X[:, self.numbers], codes


@dataclass(frozen=True)
class MixedModel:
    """Latent classes of a table of features, for new rows."""

    levels: FeatureLevels
    coding: Coding
    kept: Array
    classes: ClassModel

    def posteriors(self, X: Array) -> Array:
        """Probability (n, k) of each class for rows of features; a level that was not seen is missing."""
        return self.classes.posteriors(self.coding(*self.levels.columns(X)).keep(self.kept))


@dataclass(frozen=True)
class MixedChoice:
    """What the categories of a table say about how to group it.

    Attributes
    ----------
    left_out : list
        Categories that no other column depends on; they do not count.
    nothing : bool
        Whether no column depends on another, and all are categories: there is nothing to group by.
    rows : ndarray (m,) of int
        The rows that were judged.
    found : LatentClasses or None
        None where the views of what is left group the table.
    model : MixedModel or None
    """

    left_out: list[Any]
    nothing: bool
    rows: Array
    found: LatentClasses | None
    model: MixedModel | None


def choose_mixed(
    X: Array,
    columns: Sequence[Any],
    categorical: Collection[Any],
    rng: np.random.Generator,
    *,
    n_clusters: int | None,
    max_clusters: int,
) -> MixedChoice:
    """Leave out categories that tell nothing, and fit latent classes where categories are enough of what counts.

    Parameters
    ----------
    X : ndarray (n, m)
        Prepared features, NaN where missing.
    columns : sequence (m,)
        The column that each feature comes from.
    categorical : collection
        The columns that are categories or truth values.
    rng : Generator
    n_clusters : int or None
    max_clusters : int
    """
    rows = np.arange(len(X))
    if len(rows) > _JUDGED_ROWS:
        rows = np.sort(rng.choice(rows, _JUDGED_ROWS, replace=False))
    levels = FeatureLevels.of(X[rows], columns, categorical)
    numbers, codes = levels.columns(X[rows])
    coding = Coding.of(numbers, codes)
    variables = coding(numbers, codes)
    effective = effective_rows(variables, rng)
    told_numbers, told_codes = told_columns(variables, effective)
    # Categories stand last among the discrete columns, in their order.
    told = dict(zip((j for j, _ in coding.categories), told_codes[variables.categories], strict=True))
    left_out = [name for j, name in enumerate(levels.names) if not told.get(j, False)]
    nothing = not variables.numbers.shape[1] and not told_codes.any()
    kept = told_codes | ~variables.categories
    n_told_categories = int(told_codes[variables.categories].sum())
    path = choose_path(n_told_categories, int(told_numbers.sum() + told_codes.sum()))
    if nothing or path == "views" or n_clusters == 1:
        return MixedChoice(left_out, nothing, rows, None, None)
    found = _classes(variables.keep(kept), effective, rng, n_clusters, max_clusters)
    empty = len(np.unique(found.labels)) < found.posteriors.shape[1]  # more classes were asked for than there are
    if empty or (path != "classes" and not found.certain):
        return MixedChoice(left_out, nothing, rows, None, None)
    return MixedChoice(left_out, nothing, rows, found, MixedModel(levels, coding, kept, found.model))


def _classes(
    variables: Variables, effective: float, rng: np.random.Generator, n_clusters: int | None, max_clusters: int
) -> LatentClasses:
    return latent_classes(variables, effective, rng, max_classes=max_clusters, n_classes=n_clusters)
