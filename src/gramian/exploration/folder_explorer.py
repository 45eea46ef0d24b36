"""Explore a table that lies in many files: learn from a sample of its rows, and answer for all of them in place.

The files are read by workers, one at a time each (:mod:`gramian.exploration.in_parts`); only the sample and sums over
files come here. If all rows fit in the sample, they are explored as those of a single file are.
"""

from __future__ import annotations

import os
import shutil
from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Protocol

import numpy as np

from gramian.checks import whole
from gramian.exploration.analyse import explore
from gramian.exploration.in_parts import (
    Answering,
    Known,
    Totals,
    answer_partition,
    of_all_rows,
    write_partition,
    write_ranked,
)
from gramian.exploration.model import TableModel
from gramian.exploration.result import Exploration
from gramian.exploration.stages import Notify
from gramian.exploration.wording import count
from gramian.tables import (
    ColumnStatistics,
    Layout,
    Preparation,
    Table,
    common_layout,
    find_partitions,
    joined_table,
    layout_of,
    merged_in_turn,
    name_of_partitions,
    partition_rows,
    partition_statistics,
)
from gramian.typing import Array

__all__ = ["SAMPLE", "explore_folder"]

SAMPLE = 50_000
"""Rows of a table in many files that are explored; the others are treated as rows that come later."""

_ANSWERS = "answers"  # a folder beside that of the rows, while these are being made
# The part of the work that is done when each stage ends, where a table is some times as large as its sample.
_ENDS = {"checking files": 0.05, "sampling rows": 0.1, "counting": 0.2, "exploring": 0.5, "answering": 0.85, "": 1.0}


class Calls(Protocol):
    """Who calls functions for files: :class:`gramian.workers.Workers`."""

    def share(self, value: Any) -> Any: ...

    def in_order(
        self,
        function: Callable[..., Any],
        calls: Sequence[tuple[Any, ...]],
        done: Callable[[float], None] | None = None,
    ) -> Any: ...


def explore_folder(
    source: str | os.PathLike[str],
    rows: Path,
    workers: Calls,
    *,
    n_clusters: int | None = None,
    columns: Collection[str] | None = None,
    ignore: Collection[str] | None = None,
    category: Collection[str] = (),
    number: Collection[str] = (),
    missing: Collection[Any] = (),
    alternative: bool = True,
    random_state: int = 0,
    sample: int = SAMPLE,
    notify: Notify | None = None,
) -> tuple[Exploration, TableModel]:
    """Find groups of rows in a table of many files, and write every row with its group.

    Parameters
    ----------
    source : path or pattern
        A folder of Parquet, CSV, TSV or JSON-lines files with the same columns, or a pattern of file names.
    rows : path
        Folder to make, with one Parquet file for each file of the table. Workers on other machines write there too.
    workers : Workers
        From :func:`gramian.workers.open_workers`.
    n_clusters, columns, ignore, category, number, missing, alternative, random_state, notify
        As in :func:`gramian.explore`.
    sample : int, default 50,000
        Rows to explore, drawn by their numbers in the whole table: how it is divided into files changes nothing.

    Returns
    -------
    exploration : Exploration
        Of the sampled rows; sizes of groups and numbers of missing values are those of all rows.
    model : TableModel
        For new rows.

    Raises
    ------
    UnreadableTable
        If there is no file, or a file cannot be read or has other columns; the message names it.
    """
    sample = whole(sample, "sample", least=2)
    told = _Progress(notify)
    files = _Files.checked(find_partitions(source), workers, told("checking files"))
    numbers = files.drawn(sample, random_state)
    table = files.table(
        numbers, name_of_partitions(source), workers, told("sampling rows"),
        columns=columns, ignore=ignore, category=category, number=number, missing=missing,
    )  # fmt: skip
    asked: dict[str, Any] = {
        "n_clusters": n_clusters, "alternative": alternative, "random_state": random_state,
        "notify": told.inside("exploring"),
    }  # fmt: skip
    targets = files.targets(rows)
    rows.mkdir()
    if len(numbers) == files.n_rows:
        found, model = explore(table, **asked)
        found_columns = found.row_columns()
        calls = [
            (path, files.names, {name: column[files.span(i)] for name, column in found_columns.items()}, targets[i])
            for i, path in enumerate(files.paths)
        ]
        _finish(workers.in_order(write_partition, calls, told("")))
        return found, model
    preparation = Preparation().fit(table)
    statistics = files.statistics(preparation, workers, told("counting"))
    found, model = explore(table, preparation=preparation.learn_again(statistics), **asked)
    model.number_rows(numbers)
    answers = rows.with_name(_ANSWERS)
    answers.mkdir()
    totals = _answered(files, numbers, found, model, answers, workers, told("answering"))
    _write_ranked(files, totals, answers, targets, workers, told(""))
    shutil.rmtree(answers)
    return of_all_rows(found, model, numbers, totals, statistics), model


@dataclass(frozen=True)
class _Files:
    """The files of a table, whose columns agree.

    Attributes
    ----------
    paths : list of str
    layout : Layout
        Of all files.
    starts : ndarray (number of files + 1,)
        The number in the whole table of the first row of each file, and the number of all rows.
    """

    paths: list[str]
    layout: Layout
    starts: Array

    @classmethod
    def checked(cls, paths: list[str], workers: Calls, done: Callable[[float], None]) -> _Files:
        layouts = list(workers.in_order(layout_of, [(path,) for path in paths], done))
        return cls(paths, common_layout(paths, layouts), np.cumsum([0, *(layout.rows for layout in layouts)]))

    @property
    def n_rows(self) -> int:
        return int(self.starts[-1])

    @property
    def names(self) -> list[str]:
        return self.layout.names

    @property
    def filled(self) -> list[int]:
        """Places of the files that have rows."""
        return np.flatnonzero(np.diff(self.starts)).tolist()

    def span(self, i: int) -> slice:
        """The numbers in the whole table of the rows of a file."""
        return slice(int(self.starts[i]), int(self.starts[i + 1]))

    def targets(self, folder: Path) -> list[str]:
        """The file of the output for each file: numbered, since files of several folders may have one name."""
        digits = len(str(len(self.paths)))
        stems = [Path(path).name.split(".")[0] for path in self.paths]
        return [str(folder.absolute() / f"{i:0{digits}d}_{stem}.parquet") for i, stem in enumerate(stems, start=1)]

    def drawn(self, sample: int, seed: int) -> Array:
        """Numbers of rows of the whole table, rising: all, or as many as the sample has."""
        if self.n_rows <= sample:
            return np.arange(self.n_rows)
        return np.sort(np.random.default_rng(seed).choice(self.n_rows, sample, replace=False, shuffle=False))

    def taken(self, numbers: Array, i: int) -> tuple[slice, Array]:
        """Which of the drawn rows lie in a file, and where they stand in it."""
        low, high = np.searchsorted(numbers, self.starts[i : i + 2])
        return slice(int(low), int(high)), numbers[low:high] - self.starts[i]

    def table(self, numbers: Array, name: str, workers: Calls, done: Callable[[float], None], **reading: Any) -> Table:
        """The drawn rows, read as those of one file."""
        calls = [(self.paths[i], self.names, self.taken(numbers, i)[1]) for i in self.filled]
        parts = list(workers.in_order(partition_rows, [call for call in calls if len(call[2])], done))
        if not parts:
            raise ValueError(f"{name} has no rows in {count(len(self.paths), 'file')}; add rows")
        note = f"the table lies in {count(len(self.paths), 'file')}"
        return joined_table(name, parts, self.layout.decimal, [note], **reading)

    def statistics(
        self, preparation: Preparation, workers: Calls, done: Callable[[float], None]
    ) -> dict[str, ColumnStatistics]:
        """Of all rows, for each column that is used."""
        shared = workers.share(preparation)
        calls = [(self.paths[i], shared, self.layout.decimal) for i in self.filled]
        return merged_in_turn(workers.in_order(partition_statistics, calls, done), _merged_columns)


def _merged_columns(parts: Sequence[dict[str, ColumnStatistics]]) -> dict[str, ColumnStatistics]:
    return {name: ColumnStatistics.merged([part[name] for part in parts]) for name in parts[0]}


def _answered(
    files: _Files,
    numbers: Array,
    found: Exploration,
    model: TableModel,
    answers: Path,
    workers: Calls,
    done: Callable[[float], None],
) -> Totals:
    """Answer for the rows of every file, and sum up."""
    shared = workers.share(Answering.of(found, model, files.layout.decimal))
    calls = [
        (files.paths[i], shared, Known.of(found, *files.taken(numbers, i)), _kept(answers, i)) for i in files.filled
    ]
    return merged_in_turn(workers.in_order(answer_partition, calls, done), Totals.merged)


def _write_ranked(
    files: _Files,
    totals: Totals,
    answers: Path,
    targets: list[str],
    workers: Calls,
    done: Callable[[float], None],
) -> None:
    """Write every file with its answers; those without rows get the same columns."""
    shared = workers.share(totals.scores)
    first = files.filled[0]
    with np.load(_kept(answers, first)) as kept:
        empty = {name: kept[name][:0] for name in kept.files}
    for i in set(range(len(files.paths))) - set(files.filled):
        np.savez(_kept(answers, i), **empty)
    calls = [
        (path, files.names, _kept(answers, i), shared, target)
        for i, (path, target) in enumerate(zip(files.paths, targets, strict=True))
    ]
    _finish(workers.in_order(write_ranked, calls, done))


def _kept(answers: Path, i: int) -> str:
    return str(answers.absolute() / f"{i}.npz")


def _finish(results: Any) -> None:
    """Have all calls made, whose results are files."""
    for _ in results:
        pass


class _Progress:
    """Tells somebody how far each stage is, as part of the whole."""

    def __init__(self, notify: Notify | None) -> None:
        self.notify = notify

    def _told(self, stage: str, name: str, done: float) -> None:
        names = list(_ENDS)
        start = _ENDS[names[names.index(stage) - 1]] if stage != names[0] else 0.0
        if self.notify is not None:
            self.notify(name, start + done * (_ENDS[stage] - start))

    def __call__(self, stage: str) -> Callable[[float], None]:
        """For a stage that tells the part of it that is done."""
        self._told(stage, stage, 0.0)
        return lambda done: self._told(stage, stage, done)

    def inside(self, stage: str) -> Notify:
        """For a stage that has named stages of its own."""
        return lambda name, done: self._told(stage, name or stage, done)
