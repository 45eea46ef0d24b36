"""Answers for the rows of a table that lies in many files, given and written where the files are.

:func:`answer_partition`, :func:`write_partition` and :func:`write_ranked` handle one file each and run on workers. Only
sums leave them: answers wait in a file until the ranks within groups of all rows are known, so that no memory grows
with the number of files. :mod:`gramian.exploration.folder_explorer` calls them.
"""

from __future__ import annotations

import copy
import os
import uuid
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from gramian.exploration.analyse import overview
from gramian.exploration.model import TableModel
from gramian.exploration.odd_rows import ODD
from gramian.exploration.result import Cluster, Exploration
from gramian.tables import ColumnStatistics, Quantiles, partition_rows, typed_rows
from gramian.typing import Array

__all__ = ["Answering", "Known", "Totals", "answer_partition", "of_all_rows", "write_partition", "write_ranked"]

_REMEMBERED = ("groups_", "ranks_", "places_", "shown_")  # of a model: what it lists, not what it answers with


@dataclass(frozen=True)
class Answering:
    """What a worker needs to answer for rows.

    Attributes
    ----------
    model : TableModel
        Without what it remembers of the sampled rows.
    others : dict of str to (callable, int)
        Further groupings of prepared rows and their numbers of groups, by the names of their columns in the output.
    patterns : list of list of str
        Sets of columns that miss together, to be counted.
    decimal : str
        How text files write decimals.
    """

    model: TableModel
    others: dict[str, tuple[Callable[[Array], Array], int]]
    patterns: list[list[str]]
    decimal: str

    @classmethod
    def of(cls, found: Exploration, model: TableModel, decimal: str) -> Answering:
        """From what was found in a sample."""
        light = copy.copy(model)
        for name in _REMEMBERED:
            delattr(light, name)
        others = {
            name: (grouping.answer, len(grouping.clusters))
            for name, grouping in found.other_groupings().items()
            if grouping.answer is not None
        }
        return cls(light, others, [list(names) for names, _ in found.missingness.patterns], decimal)


@dataclass(frozen=True)
class Known:
    """What the exploration of the sample has said of some rows of a partition already.

    Attributes
    ----------
    rows : ndarray (m,)
        Where they stand in the partition.
    groups, membership, oddness : ndarray (m,)
    others : dict of str to ndarray (m,)
    """

    rows: Array
    groups: Array
    membership: Array
    oddness: Array
    others: dict[str, Array]

    @classmethod
    def of(cls, found: Exploration, taken: slice, rows: Array) -> Known:
        """Of the sampled rows ``taken``, which stand at ``rows`` in their partition."""
        others = {name: grouping.labels[taken] for name, grouping in found.other_groupings().items()}
        return cls(rows, found.labels[taken], found.membership[taken], found.oddness[taken], others)


@dataclass(frozen=True)
class Totals:
    """Sums over rows, which add up over partitions.

    Attributes
    ----------
    groups : ndarray (k + 1,)
        Rows of no group, then of each group.
    others : dict of str to ndarray
        The same of the other groupings.
    odd, complete : int
        Rows like few others, and rows without a missing value.
    patterns : ndarray
        Rows with each pattern of missing values.
    scores : list of Quantiles (k + 1,)
        Of the scores of each group's rows, by which rows are ranked.
    """

    groups: Array
    others: dict[str, Array]
    odd: int
    complete: int
    patterns: Array
    scores: list[Quantiles]

    @classmethod
    def merged(cls, parts: Sequence[Totals]) -> Totals:
        """Of all parts together."""
        first = parts[0]
        return cls(
            np.sum([part.groups for part in parts], axis=0),
            {name: np.sum([part.others[name] for part in parts], axis=0) for name in first.others},
            sum(part.odd for part in parts),
            sum(part.complete for part in parts),
            np.sum([part.patterns for part in parts], axis=0),
            [Quantiles.merged([part.scores[c] for part in parts]) for c in range(len(first.scores))],
        )


def answer_partition(path: str, answering: Answering, known: Known, answers: str) -> Totals:
    """Groups, membership and oddness of all rows of one partition; of those that are known, as they are known.

    Parameters
    ----------
    path : str
        A partition with at least one row.
    answering : Answering
    known : Known
    answers : str
        File to keep the answers in, for :func:`write_ranked`.
    """
    model, k = answering.model, answering.model.n_clusters_
    names = list(model.preparation.kinds_)
    table = typed_rows(path, model.preparation, answering.decimal)
    X = model.preparation.transform(table)
    groups, memberships, scores, oddness = model.answer(X)
    groups[known.rows], oddness[known.rows] = known.groups, known.oddness
    own = np.arange(len(X)), np.maximum(groups, 0)
    membership = np.where(groups >= 0, memberships[own], 0.0)
    membership[known.rows], score = known.membership, scores[own]
    others = {}
    for name, (answer, size) in answering.others.items():
        found = np.asarray(answer(X))
        # A finer grouping may have a group that no sampled row is in: it is not described, so it is none.
        others[name] = np.where((groups >= 0) & (found < size), found, -1)
        others[name][known.rows] = known.others[name]
    gaps = table.frame[names].isna().to_numpy()
    wanted = [np.isin(names, pattern) for pattern in answering.patterns]
    columns = _columns(groups, membership, np.zeros(len(X), np.int64), oddness, others)
    _write_whole(answers, lambda draft: _save_arrays(draft, columns | {"score": score}))
    return Totals(
        np.bincount(groups + 1, minlength=k + 1),
        {name: np.bincount(others[name] + 1, minlength=size + 1) for name, (_, size) in answering.others.items()},
        int((oddness >= ODD).sum()),
        int((~gaps.any(axis=1)).sum()),
        np.array([int((gaps == pattern).all(axis=1).sum()) for pattern in wanted], int),
        [Quantiles.of(score[groups == c]) for c in range(-1, k)],
    )


def _columns(groups: Array, membership: Array, rank: Array, oddness: Array, others: Mapping[str, Array]) -> Any:
    """Columns of the output, as :meth:`Exploration.row_columns` has them."""
    return {
        "group": (groups + 1).astype(np.int32),
        "membership": np.round(membership, 4).astype(np.float32),
        "rank_in_group": rank,
        "oddness": np.round(oddness, 4).astype(np.float32),
    } | {name: (labels + 1).astype(np.int32) for name, labels in others.items()}


def _save_arrays(path: str, arrays: dict[str, Any]) -> None:
    with open(path, "wb") as file:
        np.savez(file, **arrays)


def write_ranked(path: str, names: Sequence[str], answers: str, scores: Sequence[Quantiles], target: str) -> None:
    """Write the rows of one partition with the answers that were kept, ranked within the groups of all partitions.

    Ranks come from the merged quantiles of the scores: exact where a group has at most as many rows as these keep,
    otherwise off by at most their ``error`` of the group's rows.
    """
    with np.load(answers) as kept:
        columns = {name: kept[name] for name in kept.files}
    score = columns.pop("score")
    for group, merged in enumerate(scores):
        members = columns["group"] == group
        columns["rank_in_group"][members] = 1 + np.rint(merged.above(score[members])).astype(np.int64)
    write_partition(path, names, columns, target)


def write_partition(path: str, names: Sequence[str], columns: Mapping[str, Array], target: str) -> None:
    """Write the rows of one partition as they came, with what was found beside them, as one Parquet file."""
    import pyarrow as pa
    from pyarrow import parquet

    rows = partition_rows(path, names)
    for name, column in columns.items():
        while name in names:
            name = f"gramian_{name}"
        rows = rows.append_column(name, pa.array(column))
    _write_whole(target, lambda draft: parquet.write_table(rows, draft))


def _write_whole(target: str, write: Callable[[str], None]) -> None:
    """Write a file that is whole whoever comes last: two workers may write the same, if one was thought lost."""
    draft = f"{target}.{uuid.uuid4().hex}.part"
    try:
        write(draft)
        os.replace(draft, target)
    finally:
        if os.path.exists(draft):
            os.unlink(draft)


def of_all_rows(
    found: Exploration,
    model: TableModel,
    numbers: Array,
    totals: Totals,
    statistics: dict[str, ColumnStatistics],
) -> Exploration:
    """What was found in a sample, with the sizes of groups and the missing values of all rows.

    Parameters
    ----------
    found : Exploration
        Of the sampled rows.
    model : TableModel
    numbers : ndarray (n,)
        Where these stand in the whole table.
    totals : Totals
    statistics : dict of str to ColumnStatistics
        Of the columns that are used.
    """
    n = int(totals.groups.sum())

    def sized(clusters: list[Cluster], counts: Array) -> list[Cluster]:
        return [replace(cluster, size=int(counts[cluster.label + 1])) for cluster in clusters]

    columns = [
        replace(column, missing=statistics[column.name].missing / n) if column.name in statistics else column
        for column in found.columns
    ]
    missing = sum(one.missing for one in statistics.values())
    patterns = [
        (names, int(rows)) for (names, _), rows in zip(found.missingness.patterns, totals.patterns, strict=True)
    ]
    gaps = replace(
        found.missingness,
        share=missing / max(n * len(statistics), 1),
        complete_rows=totals.complete,
        patterns=sorted(patterns, key=lambda pattern: -pattern[1]),
    )
    levels = [replace(level, clusters=sized(level.clusters, totals.others[level.column])) for level in found.levels]
    other = found.alternative
    if other is not None:
        other = replace(other, clusters=sized(other.clusters, totals.others[other.column]))
    typical = [row for cluster in found.clusters for row in cluster.typical]
    whole = replace(
        found, columns=columns, clusters=sized(found.clusters, totals.groups), missingness=gaps, levels=levels,
        alternative=other, numbers=numbers, n_rows=n, sentences=[],
        n_odd=totals.odd - int((found.oddness[typical] >= ODD).sum()),
    )  # fmt: skip
    whole.sentences.extend(overview(whole, model.clusterer, 0))
    return whole
