"""Tables with categories: which columns count, and whether latent classes or the views of numbers group the rows.

Tables come as prepared features, a few of which may belong to one column. Categories are read back from them: the
levels of a category are the different vectors that its features take.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from sklearn.base import clone

from gramian.clustering.automatic.bending import bends_within_classes
from gramian.clustering.automatic.latent_classes import ClassModel, LatentClasses, latent_classes
from gramian.clustering.automatic.variables import Coding, choose_path, effective_rows, told_columns
from gramian.grams.tiles import slices
from gramian.kernels import ClusterKernel, Columns
from gramian.typing import Array, Matrix

_JUDGED_ROWS = 1000
_CHUNK_ROWS = 16_384


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
        codes = np.empty((len(X), len(self.names)), np.intp)
        for j, (features, levels) in enumerate(zip(self.features, self.levels, strict=True)):
            codes[:, j] = _places(X[:, features], levels)
        return X[:, self.numbers], codes


def _places(rows: Array, levels: Array) -> Array:
    """Which of the different, sorted ``levels`` (l, m) each row (n, m) is equal to; −1 if none.

    Feature by feature, so that the work does not grow with the number of levels.
    """
    place = np.zeros(len(rows), np.intp) if len(levels) else np.full(len(rows), -1)
    own = np.zeros(len(levels), np.intp)  # the number of what each level has in the features so far
    for column, known in zip(rows.T, levels.T, strict=True):
        if not len(levels):
            break
        values, codes = np.unique(known, return_inverse=True)
        near = np.minimum(np.searchsorted(values, column), len(values) - 1)
        keys, own = np.unique(own * len(values) + codes, return_inverse=True)
        wanted = place * len(values) + near
        at = np.minimum(np.searchsorted(keys, wanted), len(keys) - 1)
        place = np.where((place >= 0) & (values[near] == column) & (keys[at] == wanted), at, -1)
    return place


@dataclass(frozen=True)
class MixedModel:
    """Latent classes of a table of features, for new rows."""

    levels: FeatureLevels
    coding: Coding
    kept: Array
    classes: ClassModel
    others: dict[int, ClassModel]

    def posteriors(self, X: Array, n_classes: int | None = None) -> Array:
        """Probability (n, k) of each class for rows of features; a level that was not seen is missing.

        ``n_classes`` asks for one of the other numbers of classes that were fitted.
        """
        model = self.classes if n_classes is None else self.others[n_classes]
        found = np.empty((len(X), len(model.weights)))
        for rows in slices(len(X), _CHUNK_ROWS):
            found[rows] = model.posteriors(self.coding(*self.levels.columns(X[rows])).keep(self.kept))
        return found


@dataclass(frozen=True)
class MixedChoice:
    """What the categories of a table say about how to group it.

    Attributes
    ----------
    left_out : list
        Categories that no other column depends on; they do not count.
    nothing : bool
        Whether no column depends on another, and all are categories: there is nothing to group by.
    groupless : bool
        Whether latent classes were tried, are not what groups the rows, and gain no more than in tables without groups.
    rows : ndarray (m,) of int
        The rows that were judged.
    found : LatentClasses or None
        None where the views of what is left group the table.
    model : MixedModel or None
    """

    left_out: list[Any]
    nothing: bool
    groupless: bool
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
    # Classes take numbers of few values for levels without an order; where these are many, views know more.
    ordered = int((~variables.categories).sum()) > told_numbers.sum() / 3
    if nothing or n_clusters == 1 or (path == "views" and (ordered or not told_numbers.any())):
        return MixedChoice(left_out, nothing, False, rows, None, None)
    bends = bends_within_classes(variables.keep(kept), effective, rng, max_classes=max_clusters)
    coding = coding.bend(bends, numbers)
    variables = coding(numbers, codes).keep(kept)
    found = latent_classes(variables, effective, rng, max_classes=max_clusters, n_classes=n_clusters)
    empty = len(np.unique(found.labels)) < found.posteriors.shape[1]  # more classes were asked for than there are
    if empty or (path != "classes" and not found.certain):
        groupless = path != "views" and not found.excess > 1
        return MixedChoice(left_out, nothing, groupless, rows, None, None)
    model = MixedModel(levels, coding, kept, found.model, found.models)
    return MixedChoice(left_out, nothing, False, rows, found, model)


class _CategoryKernel(Columns):
    """A cluster kernel of a table's columns, for rows of its features: a category counts by its level.

    Parameters
    ----------
    kernel : ClusterKernel
    columns : sequence (m,)
        The column that each feature comes from.
    categories : sequence
        Those of them that are categories.

    Attributes
    ----------
    kernel_ : ClusterKernel
        Fitted on the numbers and the codes of the levels.
    levels_ : FeatureLevels
    """

    def __init__(self, kernel: ClusterKernel, columns: Sequence[Any], categories: Sequence[Any]) -> None:
        self.kernel = kernel
        self.columns = columns
        self.categories = categories

    def _resolve(self, X: Matrix, sample_weight: Array | None = None) -> None:
        self.levels_ = FeatureLevels.of(X, list(self.columns), set(self.categories))
        d = len(self.levels_.numbers)
        coded = np.arange(d, d + len(self.levels_.names))
        kernel = clone(self.kernel).set_params(categorical_features=coded)
        self.kernel_ = kernel._fitted(self._of(X), sample_weight)

    def _of(self, X: Matrix) -> Array:
        """Numbers and codes, NaN where missing."""
        numbers, codes = self.levels_.columns(X)
        return np.hstack([numbers, np.where(codes < 0, np.nan, codes)]).astype(X.dtype, copy=False)

    def frequencies(self, d: int, size: int, rng: np.random.Generator, *, orthogonal: bool = False) -> Array | None:
        """None: it is no function of a difference."""
        return None
