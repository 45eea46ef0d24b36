"""From a table to groups, ranks, reasons and a model: the whole analysis, through gramian's public names."""

from __future__ import annotations

import platform
import warnings
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager, nullcontext
from dataclasses import replace
from functools import partial
from importlib.metadata import version
from itertools import chain
from typing import Any, NamedTuple

import numpy as np
from sklearn.base import clone
from threadpoolctl import threadpool_limits

import gramian
from gramian import AlternativeClustering, AutoClustering
from gramian.checks import whole
from gramian.exploration.association import associations
from gramian.exploration.chart import map_of_rows
from gramian.exploration.differences import group_differences, sentence
from gramian.exploration.explain import importances, missing_values
from gramian.exploration.glance import glances, repeated_rows
from gramian.exploration.levels import other_levels
from gramian.exploration.model import Placed, TableModel
from gramian.exploration.odd_rows import ODD, oddities
from gramian.exploration.result import Alternative, Cluster, Exploration, View
from gramian.exploration.shown import shown_cells
from gramian.exploration.stages import Notify, Stages
from gramian.exploration.wording import count, listing, percent
from gramian.kernels import RBF
from gramian.metrics import adjusted_rand, normalized_mutual_info
from gramian.second_process import has_second_process, start
from gramian.tables import BOOLEAN, CATEGORY, IGNORED, USED, Preparation, Table, without_copies
from gramian.typing import Array

_FITTED_ROWS = 5000  # the others are assigned, as rows that come later are
_SMALL_TABLE = 2000  # rows up to which more threads only wait for each other
_TELLING_ROWS = 24  # fewer are not told from noise, however far apart their groups
_TYPICAL = 5
_NAMED = 4  # columns with telling gaps in the overview
_ALTERNATIVE_ROWS, _ALTERNATIVE_TURNS = 500, 10  # clusters that stand apart settle in fewer
_ALTERNATIVE_OVERLAP = 0.3  # beyond, it is no other view
_ALTERNATIVE_STABILITY = 0.75  # a second opinion has to be steady
_ALTERNATIVE_LEAST = 0.1  # of the rows: a few rows apart are odd rows, not another grouping
_TOLD = 0.9  # normalised mutual information with a category from which groups say nothing more than that
_STAGES = {
    "preparing": 1,
    "comparing rows": 10,
    "ranking": 3,
    "explaining": 2,
    "another grouping": 4,
    "drawing a map": 3,
}


def explore(
    table: Table,
    *,
    n_clusters: int | None = None,
    alternative: bool = True,
    random_state: int = 0,
    preparation: Preparation | None = None,
    notify: Notify | None = None,
) -> tuple[Exploration, TableModel]:
    """Find groups of rows in a table, what makes them different, who is typical and who is odd.

    Parameters
    ----------
    table : Table
        From :func:`gramian.exploration.read_table`.
    n_clusters : int, optional
        Number of groups; by default it is chosen.
    alternative : bool, default True
        Look for another way to group the rows as well.
    random_state : int, default 0
    preparation : Preparation, optional
        Fitted on more rows than these; by default it is fitted on the table.
    notify : callable, optional
        Called with the name of each stage and the part of the work done before it.

    Returns
    -------
    exploration : Exploration
    model : TableModel
        For new rows.
    """
    n = len(table.frame)
    if n < 2:
        raise ValueError(f"{table.source} has {count(n, 'row')}; groups need at least two")
    if n_clusters is not None and not 1 <= (n_clusters := whole(n_clusters, "n_clusters", least=0)) <= n:
        raise ValueError(f"n_clusters={n_clusters} must be from 1 to the number of rows, {n}")
    if not table.used:
        raise ValueError(_nothing_used(table))
    with threadpool_limits(1) if n <= _SMALL_TABLE else nullcontext(), warnings.catch_warnings():
        # What estimators warn of (empty rows, rows like no other, searches that do not settle) the results say too.
        warnings.simplefilter("ignore", UserWarning)
        return _explore(table, n_clusters, alternative, random_state, preparation, Stages(_STAGES, notify))


def _explore(
    table: Table,
    n_clusters: int | None,
    alternative: bool,
    random_state: int,
    preparation: Preparation | None,
    stages: Stages,
) -> tuple[Exploration, TableModel]:
    n = len(table.frame)
    with stages("preparing"):
        preparation, X, kept, place, fitted = _ready(table, preparation, n_clusters, random_state)
    with stages("comparing rows"):
        names = preparation.feature_columns_
        categories = [column.name for column in table.columns if column.kind in (CATEGORY, BOOLEAN)]
        choice = AutoClustering(n_clusters, random_state=random_state).fit(
            X[fitted], feature_columns=names, categorical_columns=categories
        )
        verdict, evidence = choice.verdict_, choice.evidence_
        views = [View(**candidate) for candidate in choice.candidates_]
        if verdict == "none":
            evidence = []  # parts of rows without groups are no groups that could be found again
            if n_clusters is None:  # a cut that means nothing would be read all the same
                choice = AutoClustering(1, random_state=random_state).fit(X[fitted], feature_columns=names)
                views = []
    with stages("ranking"):
        model = TableModel(preparation, choice)
        # Where the choice looked at all of these rows, its similarity is fitted to them already.
        kernel = choice.kernel_.frozen() if len(choice.rows_) == len(fitted) else clone(choice.kernel_)
        told = {name for name, counts in zip(names, choice.used_, strict=True) if counts}
        searched = alternative and verdict != "none" and len(told) > 1 and n >= 50
        another = None
        if searched and len(fitted) == n <= _SMALL_TABLE:  # the groups of all rows are known, so it can begin
            another = start(_another, X, model.number(choice.labels_), kept, choice.used_, random_state)
        model.fit(X[fitted], choice.labels_, fitted, kernel, seed=random_state)
        labels, membership, rank, oddness, embedding, completed = _rows(model, X, fitted, kept, place)
        if (order := _largest_first(labels)) is not None:
            model.renumber(order)
            labels = np.where(labels >= 0, np.argsort(order)[labels], -1)
        model.remember(labels, rank, embedding)
        values = _values(preparation, X)
        if searched and another is None:
            another = (start if n <= _SMALL_TABLE else partial)(_another, X, labels, kept, choice.used_, random_state)
    with _map_beside(completed, random_state) as drawn:
        with stages("explaining"):
            stability = choice.cluster_stability_[np.argsort(model.number_)]
            if verdict == "none":
                stability = np.full_like(stability, np.nan)
            clusters = _clusters(table, labels, rank, values, stability, random_state, kept)
            different = X[kept] if len(kept) < n else X  # copies are no evidence
            reasons = importances(different, names, table.columns, labels[kept], seed=random_state)
            # Each different row once, and none that is among the most typical of its group, however small that is.
            among = np.setdiff1d(kept, [row for cluster in clusters for row in cluster.typical])
            odd = oddities(table.frame, table.columns, labels, values, oddness, among=among)
            gaps = missing_values(table.frame, table.columns, X, preparation.feature_columns_, seed=random_state)
            if len(kept) < n:
                without = missing_values(table.frame.iloc[kept], table.columns, different, names, seed=random_state)
                gaps = replace(gaps, informative=without.informative)
            telling = [item.column for item in reasons]
            model.show(shown_cells(table, telling))
            together = associations(different, names, table.columns, telling, seed=random_state)
            shown = glances(table.frame, table.columns, labels, together)
        levels = []
        if verdict != "none":
            described = partial(_level, table, embedding, values, kept, random_state)
            levels = other_levels(choice, X, labels, kept, (names, table.columns), described, seed=random_state)
        with stages("another grouping"):
            found = another() if another is not None else None
            other = _alternative(table, found, values, kept, random_state) if found is not None else None
        with stages("drawing a map"):
            coordinates = drawn()
    exploration = Exploration(
        source=table.source, columns=table.columns, frame=table.frame,
        verdict=verdict, stability=float(stability.min()), sentences=[],
        views=views, evidence=evidence,
        labels=labels, membership=membership, rank=rank, oddness=oddness, coordinates=coordinates, embedding=embedding,
        clusters=clusters, importances=reasons, oddities=odd, missingness=gaps,
        alternative=other, made=_made(stages, n_clusters, random_state, len(fitted), table),
        glances=shown, associations=together, repeated=repeated_rows(table.frame, table.columns),
        cells=table.cells, levels=levels, n_odd=int((oddness[among] >= ODD).sum()),
    )  # fmt: skip
    exploration.sentences.extend(overview(exploration, choice, n - len(kept)))
    return exploration, model


def _nothing_used(table: Table) -> str:
    asked = [column for column in table.columns if column.kind != IGNORED]
    if not asked:
        return "no column is left to compare rows by; name at least one in columns, or ignore fewer"
    which = "column" if len(asked) == len(table.columns) else "column that was asked for"
    return f"no {which} tells rows apart: all are constant, empty, identifiers or free text"


# Parts ---------------------------------------------------------------------------------------------------------------


@contextmanager
def _map_beside(completed: Array, seed: int) -> Iterator[Callable[[], Array]]:
    """The map of the rows, for whoever asks: of small tables it is drawn in the meantime.

    If there is no second process, on another thread: its work is products of matrices that hold no lock, and it uses no
    random numbers of others. Other parts would have to wait for each other: they are many short steps, and some listen
    to warnings, which threads share.
    """
    if len(completed) > _SMALL_TABLE:
        yield lambda: map_of_rows(completed, seed=seed)
        return
    if has_second_process():
        yield start(partial(map_of_rows, seed=seed), completed)
        return
    with ThreadPoolExecutor(1) as beside:
        yield beside.submit(map_of_rows, completed, seed=seed).result


class _Ready(NamedTuple):
    """A table as numbers, and which of its rows are grouped."""

    preparation: Preparation
    X: Array  # (n, d), prepared
    kept: Array  # the first of every set of equal rows
    place: Array  # (n,), of each row's like in kept
    fitted: Array  # those of kept that are grouped; the others join them


def _ready(table: Table, preparation: Preparation | None, n_clusters: int | None, seed: int) -> _Ready:
    # Copies count once, so that a table pasted twice gives the same answer.
    n = len(table.frame)
    kept, place = without_copies((table.frame[name] for name in table.used), n)
    if preparation is None:
        preparation = Preparation().fit(replace(table, frame=table.frame.iloc[kept]) if len(kept) < n else table)
    X = preparation.transform(table)
    fitted = kept[np.asarray(np.isfinite(X).any(axis=1))[kept]]  # an empty row is like no other
    if len(fitted) < max(2, n_clusters or 0):
        wanted = "two" if n_clusters is None else f"n_clusters={n_clusters}"
        raise ValueError(f"{table.source} has {count(len(fitted), 'different row')} with values, fewer than {wanted}")
    if len(fitted) > _FITTED_ROWS:
        fitted = np.sort(np.random.default_rng(seed).choice(fitted, _FITTED_ROWS, replace=False))
    return _Ready(preparation, X, kept, place, fitted)


class _Rows(NamedTuple):
    """What is found of every row."""

    labels: Array  # (n,)
    membership: Array  # (n,), in the own group
    rank: Array  # (n,), in the own group
    oddness: Array  # (n,)
    embedding: Array  # (n, p)
    completed: Array  # (n, d), for the map


def _rows(model: TableModel, X: Array, fitted: Array, kept: Array, place: Array) -> _Rows:
    """All rows, fitted or not, each compared with the fitted ones once; copies are as their like."""
    n = len(X)
    found = model.fitted_places(X[fitted])
    # What is large is kept in single precision; ranks go by scores, which are not.
    every = Placed(*(np.empty((n, *part.shape[1:]), np.float32 if part.ndim == 2 else part.dtype) for part in found))
    others = np.setdiff1d(kept, fitted, assume_unique=True)
    for rows, placed in chain([(fitted, found)], model.places(X, others)):
        for column, part in zip(every, placed, strict=True):
            column[rows] = part
    if len(kept) < n:
        every = Placed(*(part[kept[place]] for part in every))
    rank = _best_first(every.groups, every.score)
    return _Rows(every.groups, every.membership, rank, every.oddness, every.embedding, every.completed)


def _largest_first(labels: Array) -> Array | None:
    """The groups by falling size, counting all rows; None if they are numbered so already."""
    sizes = np.bincount(labels[labels >= 0])
    return None if (sizes[1:] <= sizes[:-1]).all() else np.argsort(-sizes, kind="stable")


def _best_first(labels: Array, score: Array) -> Array:
    """Rank (n,) in the own group, from 1 for the best; rows of no group come last."""
    n = len(labels)
    order = np.lexsort((-score, np.maximum(labels, 0), labels < 0))
    rank = np.empty(n, int)
    _, first = np.unique(labels[order], return_index=True)
    starts = np.zeros(n, int)
    starts[np.sort(first)] = np.sort(first)
    rank[order] = np.arange(n) - np.maximum.accumulate(starts) + 1
    return rank


def _values(preparation: Preparation, X: Array) -> dict[str, Array]:
    """The first feature of every column: its number, or for a date the time that has passed."""
    first: dict[str, Array] = {}
    for j, name in enumerate(preparation.feature_columns_):
        first.setdefault(name, X[:, j])
    return first


def _clusters(
    table: Table, labels: Array, rank: Array, values: dict[str, Array], stability: Array, seed: int, kept: Array
) -> list[Cluster]:
    """Groups in words; of rows that are copies, ``kept`` has one each, and typical rows are such."""
    kinds = {column.name: column.kind for column in table.columns}
    once = len(kept) / len(labels)
    differences = group_differences(table.frame, table.columns, labels, values, seed=seed, once=once)
    clusters = []
    for c, found in enumerate(differences):
        members = kept[labels[kept] == c]
        typical = members[np.argsort(rank[members], kind="stable")[:_TYPICAL]]
        told = sentence(found, kinds)
        clusters.append(Cluster(c, int((labels == c).sum()), float(stability[c]), typical.tolist(), found, told))
    return clusters


def _level(
    table: Table, embedding: Array, values: dict[str, Array], kept: Array, seed: int, groups: Array, stability: Array
) -> list[Cluster]:
    """The groups of a coarser or finer level."""
    central = _central_first(embedding, np.maximum(groups, 0))
    return _clusters(table, groups, central, values, stability, seed, kept)


class _Another(NamedTuple):
    """Another grouping of all rows."""

    labels: Array  # (n,)
    rank: Array  # (n,)
    overlap: float
    stability: float
    model: AlternativeClustering
    number: Array  # (2,), of each of the model's groups: 0 is the larger
    used: Array  # (d,), the features it is one of


def _another(X: Array, labels: Array, kept: Array, used: Array, seed: int) -> _Another | None:
    """A grouping that the first does not tell, found again from either half of the rows; None if there is none.

    Of the features that are used: a category that no other column depends on would be a grouping by itself.
    """
    X = X[:, used]
    rng = np.random.default_rng(seed)
    rows = rng.permutation(kept[labels[kept] >= 0])[:_ALTERNATIVE_ROWS]
    some = np.where(np.isfinite(X[rows]), X[rows], 0.0)  # the middle of every column
    if np.linalg.matrix_rank(some - some.mean(axis=0)) < 2:  # along one line there is no other direction to look in
        return None
    known = labels[rows]
    model = AlternativeClustering(2, max_iter=_ALTERNATIVE_TURNS, random_state=seed).fit(some, known)
    # The settings that all rows chose serve the halves too: choosing them takes most of the time. Random starts would
    # miss a second grouping more often than spectral ones, and find again more cuts through elongated clouds.
    settings = {"kernel": RBF(model.kernel_.width_), "novelty": model.novelty_weight_}
    again = clone(model).set_params(n_components=model.n_components_, **settings)
    first, second = (clone(again).fit(some[half::2], known[half::2]).predict(some) for half in (0, 1))
    stability = max(0.0, adjusted_rand(first, second))
    if stability < _ALTERNATIVE_STABILITY:
        return None
    filled = np.where(np.isfinite(X), X, 0.0)
    whole = np.asarray(model.predict(filled))
    grouped = labels >= 0  # a row without any value has no group of either kind
    overlap = normalized_mutual_info(labels[grouped], whole[grouped])
    sizes = np.bincount(whole[grouped], minlength=2)
    smallest = sizes.min() / len(whole)
    if overlap > _ALTERNATIVE_OVERLAP or smallest < _ALTERNATIVE_LEAST:
        return None
    number = np.argsort(np.argsort(-sizes, kind="stable"))
    whole = number[whole]
    rank = _central_first(np.asarray(model.transform(filled)), whole)
    return _Another(np.where(grouped, whole, -1), rank, float(overlap), float(stability), model, number, used)


def _telling_category(table: Table | Exploration, labels: Array, rows: Array) -> str:
    """The category or truth value that says by itself which group a row is in; "" if none does."""
    grouped = rows[labels[rows] >= 0]
    for column in table.columns:
        if column.kind in (CATEGORY, BOOLEAN):
            codes = table.frame[column.name].iloc[grouped].factorize()[0]
            if normalized_mutual_info(labels[grouped[codes >= 0]], codes[codes >= 0]) >= _TOLD:
                return column.name
    return ""


def _other_groups(model: AlternativeClustering, number: Array, used: Array, X: Array) -> Array:
    """The other grouping of prepared rows, with the middle of the column where a value is missing."""
    X = X[:, used]
    return np.asarray(number[np.asarray(model.predict(np.where(np.isfinite(X), X, 0.0)))])


def _alternative(table: Table, found: _Another, values: dict[str, Array], kept: Array, seed: int) -> Alternative | None:
    """Another grouping in words; None if it is but one column, as a category is or a number that is cut in two."""
    if _telling_category(table, found.labels, kept):
        return None
    unknown = np.full(2, np.nan)  # its halves are compared as a whole
    clusters = _clusters(table, found.labels, found.rank, values, unknown, seed, kept)
    telling = list(dict.fromkeys(item.column for cluster in clusters for item in cluster.differences))[:3]
    if len(telling) < 2:
        return None
    told = f"The rows can also be grouped another way, by {listing(telling)}."
    answer = partial(_other_groups, found.model, found.number, found.used)
    return Alternative(found.labels, found.overlap, found.stability, clusters, told, answer)


def _central_first(places: Array, labels: Array) -> Array:
    """Rank (n,) of each row in its group, from 1 for the row nearest to the mean of the group."""
    sums = np.column_stack([np.bincount(labels, column) for column in places.T])
    means = sums / np.bincount(labels)[:, None]
    order = np.lexsort((np.linalg.norm(places - means.astype(places.dtype)[labels], axis=1), labels))
    rank = np.empty(len(labels), int)
    starts = np.searchsorted(labels[order], np.arange(len(means)))
    rank[order] = np.arange(len(labels)) - starts[labels[order]] + 1
    return rank


# In words ------------------------------------------------------------------------------------------------------------


def overview(found: Exploration, choice: AutoClustering, copies: int) -> list[str]:
    """The whole in sentences."""
    n, k, untold = found.n_rows, found.n_clusters, choice.left_out_
    told = []
    if found.made["parameters"]["clusters"] == 1:
        told.append(f"The {count(n, 'row')} are taken as one group, as asked.")
    elif found.verdict == "none":
        few = f"{count(n, 'row')} are too few to tell whether they form groups."
        none = f"No groups stand out among the {count(n, 'row')}: random rows of such columns look just as grouped."
        told.append(few if n < _TELLING_ROWS else none)
        if k > 1:
            told.append(f"The {count(k, 'part')} shown are the cut that was asked for.")
    else:
        strength = {"clear": "clearly", "weak": "only weakly"}[found.verdict]
        asked = "" if found.made["parameters"]["clusters"] == "chosen" else ", as many as asked for"
        told.append(f"The {count(n, 'row')} fall {strength} into {count(k, 'group')}{asked}.")
        telling = [item.column for item in found.importances[:3] if item.dependence >= 0.05]
        if telling:
            told.append(f"The groups differ most in {listing(telling)}.")
        if alone := _telling_category(found, found.labels, np.arange(len(found.labels))):
            told.append(f"{alone} alone says of nearly every row which group it is in; without it there may be others.")
        told += [level.sentence for level in found.levels]
        if choice.crossing_:
            across = f"cut{'s' if len(choice.crossing_) == 1 else ''} across the groups"
            told.append(f"{listing(choice.crossing_)} {across}, with much the same differences in each.")
    if untold:
        tell, do = ("tells", "does") if len(untold) == 1 else ("tell", "do")
        parts = "parts" if found.verdict == "none" else "groups"
        none = f" and {do} not count for the {parts}" if k > 1 else ""
        told.append(f"{listing(untold)} {tell} nothing about the other columns{none}.")
    codes: dict[float, list[str]] = {}
    for glance in found.glances:
        if glance.missing_code is not None:
            codes.setdefault(glance.missing_code, []).append(glance.column)
    for code, names in codes.items():
        told.append(f"{code:.0f} counts as a value of {listing(names)}; if it means missing, say --missing {code:.0f}.")
    if copies:
        told.append(f"{count(copies, 'row is a copy of another', 'rows are copies of others')} and changed nothing.")
    if groupless := n - sum(cluster.size for cluster in found.clusters):
        none = " and no group" if k > 1 else ""
        told.append(f"{count(groupless, 'row has', 'rows have')} no value to compare by{none}.")
    if found.n_odd:
        told.append(f"{count(found.n_odd, 'row is', 'rows are')} like few others.")
    if found.missingness.share > 0:
        text = f"{percent(found.missingness.share)} of the values are missing"
        gaps = [name for name, _, _ in found.missingness.informative]
        if len(gaps) > _NAMED:
            gaps = [*gaps[: _NAMED - 1], f"{len(gaps) - _NAMED + 1} other columns"]
        told.append(f"{text}; whether a value is missing is informative in {listing(gaps)}." if gaps else f"{text}.")
    if found.alternative is not None:
        told.append(found.alternative.sentence)
    left_out = [column.name for column in found.columns if column.kind not in USED]
    if left_out:
        told.append(f"Not used to compare rows: {listing(left_out[:5])}{' and others' if len(left_out) > 5 else ''}.")
    return told


def _made(stages: Stages, n_clusters: int | None, seed: int, fitted: int, table: Table) -> dict[str, Any]:
    names = ("numpy", "scipy", "scikit-learn", "pandas")
    return {
        "parameters": {"clusters": "chosen" if n_clusters is None else n_clusters, "seed": seed, "rows fitted": fitted},
        "versions": {"gramian": gramian.__version__, "python": platform.python_version()}
        | {name: version(name) for name in names},
        "seconds": stages.seconds,
        "notes": list(table.notes),
    }
