"""Tables with categories: which columns count, and whether latent classes or the views of numbers group the rows.

Tables come as prepared features, a few of which may belong to one column. Categories are read back from them: the
levels of a category are the different vectors that its features take.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from sklearn.base import clone

from gramian.clustering.automatic.bending import bends_within_classes
from gramian.clustering.automatic.class_tables import Search, search
from gramian.clustering.automatic.crossing import Crossing, beside_crossings
from gramian.clustering.automatic.latent_classes import (
    ClassModel,
    LatentClasses,
    beyond_copula,
    finer_classes,
    latent_classes,
)
from gramian.clustering.automatic.rows import cluster_kernel
from gramian.clustering.automatic.variables import Coding, Variables, choose_path, effective_rows, told_columns
from gramian.grams.tiles import slices
from gramian.kernels import ClusterKernel, Columns, Kernel
from gramian.second_process import start
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
    """Latent classes of a table of features, for new rows.

    Attributes
    ----------
    levels : FeatureLevels
    coding : Coding
    kept : ndarray of bool
        The discrete columns that count.
    crossings : list of Crossing
        Categories beside the classes.
    classes : ClassModel
    others : dict of int to ClassModel
        For other numbers of classes.
    finer : dict of int to ClassModel
        Those among which the crossing categories count as columns of the classes.
    """

    levels: FeatureLevels
    coding: Coding
    kept: Array
    crossings: list[Crossing]
    classes: ClassModel
    others: dict[int, ClassModel]
    finer: dict[int, ClassModel]

    def ordered(self, order: Array) -> MixedModel:
        """The same with the classes in another order."""
        return replace(self, classes=self.classes.ordered(order))

    def posteriors(self, X: Array, n_classes: int | None = None) -> Array:
        """Probability (n, k) of each class for rows of features; a level that was not seen is missing.

        ``n_classes`` asks for one of the other numbers of classes that were fitted.
        """
        model = self.classes if n_classes is None else {**self.others, **self.finer}[n_classes]
        found = np.empty((len(X), len(model.weights)))
        for rows in slices(len(X), _CHUNK_ROWS):
            variables = self.coding(*self.levels.columns(X[rows])).keep(self.kept)
            for crossing in () if n_classes in self.finer else self.crossings:
                variables = crossing(variables)
            found[rows] = model.posteriors(variables)
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
    crossing : sequence
        Categories beside the latent classes.
    kernel : callable or None
        Gives the cluster kernel of the columns that count, fitted to these rows.
    """

    left_out: list[Any]
    nothing: bool
    groupless: bool
    rows: Array
    found: LatentClasses | None
    model: MixedModel | None
    crossing: Sequence[Any] = ()
    kernel: Callable[[], Kernel] | None = None


def choose_mixed(
    X: Array,
    columns: Sequence[Any],
    categorical: Collection[Any],
    rng: np.random.Generator,
    *,
    n_clusters: int | None,
    max_clusters: int,
    seed: int = 0,
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
    seed : int, default 0
        Of the kernel.
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
    used = np.array([name not in left_out for name in columns])
    among = [name for name, counts in zip(columns, used, strict=True) if counts]
    kernel = start(_fitted_kernel, X[np.ix_(rows, used)], among, set(levels.names), seed)
    bends = bends_within_classes(variables.keep(kept), effective, rng, max_classes=max_clusters)
    coding = coding.bend(bends, numbers)
    variables = coding(numbers, codes).keep(kept)
    whole = search(variables, effective, rng, max_classes=max_clusters)
    crossings, beside, left = beside_crossings(
        variables, whole, effective, rng, max_classes=max_clusters, n_classes=n_clusters
    )
    if crossings and not _has_classes(variables, whole, effective, rng):
        crossings, beside, left = [], variables, whole
    found = latent_classes(beside, effective, rng, max_classes=max_clusters, n_classes=n_clusters, found=left)
    empty = len(np.unique(found.labels)) < found.posteriors.shape[1]  # more classes were asked for than there are
    if empty or (path != "classes" and not found.certain):
        groupless = path != "views" and not found.excess > 1
        return MixedChoice(left_out, nothing, groupless, rows, None, None)
    discrete: list[Any] = [None] * int((~variables.categories).sum())
    discrete += [name for j, name in enumerate(levels.names) if told.get(j, False)]
    crossing_names = [discrete.pop(crossing.column) for crossing in crossings]
    finer: dict[int, ClassModel] = {}
    if crossings and n_clusters is None:
        labels, each, of_all = finer_classes(variables, whole, rng)
        k, least = len(of_all.weights), float(each.min())
        if k > found.posteriors.shape[1] and least > found.tried.get(k, 0.0):
            finer[k] = of_all
            found.tried[k], found.alternatives[k], found.alternative_stability[k] = least, labels, each
    model = MixedModel(levels, coding, kept, crossings, found.model, found.models, finer)
    return MixedChoice(left_out, nothing, False, rows, found, model, crossing_names, kernel)


def _fitted_kernel(X: Array, columns: Sequence[Any], categorical: Collection[Any], seed: int) -> Kernel:
    """The cluster kernel of rows of features, by their columns."""
    known = [name for name in dict.fromkeys(columns) if name in categorical]
    return _CategoryKernel(cluster_kernel(len(X), seed), columns, known).fit(X)


def _has_classes(variables: Variables, found: Search, rows: float, rng: np.random.Generator) -> bool:
    """Whether classes gain more than in tables without groups: in a gradient, too, categories move the numbers."""
    judged = {2, 3, int(found.gains.argmax()) + 1} & set(found.fits)
    return beyond_copula(variables, rows, {k: found.fits[k].labels for k in judged}, rng)[0] > 1


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
