"""Answers for the rows of a table that lies in many files, given and written where the files are.

:func:`answer_partition` and :func:`write_partition` read one file each and run on workers; what they return is summed
up there too, and only sums reach whoever asked. :mod:`gramian.folder_explorer` calls them.
"""

from __future__ import annotations

import os
import uuid
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace

import numpy as np

from gramian.exploration.analyse import ODD, overview
from gramian.exploration.model import TableModel
from gramian.exploration.result import Cluster, Exploration
from gramian.tables import ColumnStatistics, Quantiles, partition_rows, typed_rows
from gramian.typing import Array

__all__ = ["Answering", "Answers", "Known", "Totals", "answer_partition", "of_all_rows", "write_partition"]


@dataclass(frozen=True)
class Answering:
    """What a worker needs to answer for rows.

    Attributes
    ----------
    model : TableModel
    others : dict of str to callable
        Further groupings of prepared rows, by the names of their columns in the output.
    patterns : list of list of str
        Sets of columns that miss together, to be counted.
    decimal : str
        How text files write decimals.
    """

    model: TableModel
    others: dict[str, Callable[[Array], Array]]
    patterns: list[list[str]]
    decimal: str

    @classmethod
    def of(cls, found: Exploration, model: TableModel, decimal: str) -> Answering:
        """From what was found in a sample."""
        others = {f"group_of_{len(level.clusters)}": level.answer for level in found.levels}
        if found.alternative is not None:
            others["other_group"] = found.alternative.answer
        named = {name: answer for name, answer in others.items() if answer is not None}
        return cls(model, named, [list(names) for names, _ in found.missingness.patterns], decimal)


@dataclass(frozen=True)
class Known:
    """What the exploration of the sample has said of some rows of a partition already.

    Attributes
    ----------
    rows : ndarray (m,)
        Where they stand in the partition.
    groups, membership, rank, oddness : ndarray (m,)
    others : dict of str to ndarray (m,)
    """

    rows: Array
    groups: Array
    membership: Array
    rank: Array
    oddness: Array
    others: dict[str, Array]

    @classmethod
    def of(cls, found: Exploration, taken: slice, rows: Array) -> Known:
        """Of the sampled rows ``taken``, which stand at ``rows`` in their partition."""
        others = {f"group_of_{len(level.clusters)}": level.labels[taken] for level in found.levels}
        if found.alternative is not None:
            others["other_group"] = found.alternative.labels[taken]
        return cls(rows, found.labels[taken], found.membership[taken], found.rank[taken], found.oddness[taken], others)


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


@dataclass(frozen=True)
class Answers:
    """What is found of the rows of one partition; it stays with the worker that found it.

    Attributes
    ----------
    groups, membership, score, oddness : ndarray (n,)
    others : dict of str to ndarray (n,)
    rank : ndarray (n,) or None
        If the exploration knew all of these rows.
    totals : Totals
    """

    groups: Array
    membership: Array
    score: Array
    oddness: Array
    others: dict[str, Array]
    totals: Totals = field(repr=False)
    rank: Array | None = None


def answer_partition(path: str, answering: Answering, known: Known, n: int) -> Answers:
    """Groups, membership and oddness of all rows of one partition; of those that are known, as they are known.

    Parameters
    ----------
    path : str
    answering : Answering
    known : Known
    n : int
        Rows of the partition.
    """
    model, k = answering.model, answering.model.n_clusters_
    if not n:
        nothing = [np.empty(0, type_) for type_ in (np.int32, np.float32, np.float64, np.float32)]
        others = {name: np.empty(0, np.int32) for name in answering.others}
        return Answers(*nothing, others, _totals_of_none(answering))
    table = typed_rows(path, model.preparation, answering.decimal)
    gaps = table.frame[list(model.preparation.kinds_)].isna().to_numpy()
    rank, others = None, {}
    if len(known.rows) == n:
        groups, membership, oddness, rank = known.groups, known.membership, known.oddness, known.rank
        score, others = -rank.astype(float), known.others
    else:
        X = model.preparation.transform(table)
        groups, memberships, scores, oddness = model.answer(X)
        groups[known.rows], oddness[known.rows] = known.groups, known.oddness
        own = np.arange(n), np.maximum(groups, 0)
        membership = np.where(groups >= 0, memberships[own], 0.0)
        membership[known.rows], score = known.membership, scores[own]
        for name, answer in answering.others.items():
            others[name] = np.where(groups >= 0, answer(X), -1)
            others[name][known.rows] = known.others[name]
    names = list(model.preparation.kinds_)
    wanted = [np.isin(names, pattern) for pattern in answering.patterns]
    totals = Totals(
        np.bincount(groups + 1, minlength=k + 1),
        {name: np.bincount(found + 1, minlength=64)[:64] for name, found in others.items()},
        int((oddness >= ODD).sum()),
        int((~gaps.any(axis=1)).sum()),
        np.array([int((gaps == pattern).all(axis=1).sum()) for pattern in wanted], int),
        [Quantiles.of(score[groups == c]) for c in range(-1, k)],
    )
    short = {name: found.astype(np.int32) for name, found in others.items()}
    return Answers(
        groups.astype(np.int32), membership.astype(np.float32), score, oddness.astype(np.float32), short, totals, rank
    )


def _totals_of_none(answering: Answering) -> Totals:
    k = answering.model.n_clusters_
    others = {name: np.zeros(64, int) for name in answering.others}
    nothing = [Quantiles.of(np.empty(0)) for _ in range(k + 1)]
    return Totals(np.zeros(k + 1, int), others, 0, 0, np.zeros(len(answering.patterns), int), nothing)


def totals_of(answers: Answers) -> Totals:
    """The sums of one partition, which leave the worker."""
    return answers.totals


def write_partition(path: str, answers: Answers, totals: Totals, names: Sequence[str], target: str) -> None:
    """Write the rows of one partition as they came, with what was found beside them, as one Parquet file.

    Ranks within groups of all partitions come from the merged quantiles of the scores: exact where a group has at
    most as many rows as these keep, otherwise off by at most their ``error`` of the group's rows.
    """
    import pyarrow as pa
    from pyarrow import parquet

    rows = partition_rows(path, names)
    rank = answers.rank
    if rank is None:
        rank = np.empty(len(answers.groups), np.int64)
        for c, scores in enumerate(totals.scores, start=-1):
            members = answers.groups == c
            rank[members] = 1 + np.rint(scores.above(answers.score[members])).astype(np.int64)
    found = {
        "group": answers.groups + 1,
        "membership": np.round(answers.membership, 4),
        "rank_in_group": rank,
        "oddness": np.round(answers.oddness, 4),
    } | {name: labels + 1 for name, labels in answers.others.items()}
    for name, column in found.items():
        while name in names:
            name = f"gramian_{name}"
        rows = rows.append_column(name, pa.array(column))
    # Two workers may write the same partition, if one was thought lost; a file is whole whoever comes last.
    draft = f"{target}.{uuid.uuid4().hex}.part"
    try:
        parquet.write_table(rows, draft)
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
    levels = [
        replace(level, clusters=sized(level.clusters, totals.others[f"group_of_{len(level.clusters)}"]))
        for level in found.levels
    ]
    other = found.alternative
    if other is not None:
        other = replace(other, clusters=sized(other.clusters, totals.others["other_group"]))
    whole = replace(
        found, columns=columns, clusters=sized(found.clusters, totals.groups), missingness=gaps, levels=levels,
        alternative=other, numbers=numbers, n_rows=n, sentences=[],
    )  # fmt: skip
    whole.sentences.extend(overview(whole, model.clusterer, 0, totals.odd))
    return whole
