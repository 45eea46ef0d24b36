"""``gramian.explore``: one call from a table to groups, reasons, odd rows, a report and a model for new rows.

The top of the applications in Python, as the command line and the server are for people: it reads
(:mod:`gramian.tables`), analyses (:mod:`gramian.exploration`) and writes (:mod:`gramian.report`).
"""

from __future__ import annotations

import os
import tempfile
from collections.abc import Callable, Collection
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from gramian import exploration
from gramian.exploration import Exploration, TableModel
from gramian.exploration import explore as analyse
from gramian.outcome import Outcome, index_of
from gramian.report import (
    REPORT,
    ROW_PARTS,
    rows_with_groups,
    summary,
    whole_folder,
    write_findings,
    write_folder,
    write_report,
)
from gramian.tables import Table, find_partitions, read_table
from gramian.workers import open_workers

__all__ = ["Explored", "explore", "explore_folder"]

NOTEBOOK_LIMIT = 1_000_000
"""Bytes of a report inside a notebook, which is saved with every copy of it; ``report()`` has up to 5,000,000."""


@dataclass(frozen=True, repr=False)
class Explored(Outcome):
    """What :func:`explore` found in a table.

    Attributes
    ----------
    found : Exploration
        Everything, as plain data.
    model : TableModel
        For new rows; ``gramian.save(model, path)`` keeps it, and ``gramian assign`` reads it.
    index : pandas.Index, optional
        Of the data frame that was explored, which :attr:`rows` has too; groups and reports count rows from 1.
    frame : data frame, optional
        What was explored, if it was a data frame of pandas or polars.
    """

    found: Exploration
    model: TableModel
    index: Any = None
    frame: Any = None

    @property
    def verdict(self) -> str:
        """Whether there are groups: "clear", "weak" or "none"."""
        return self.found.verdict

    @property
    def groups(self) -> Any:
        """One row per group: size, share, stability, a sentence and the most typical row; a pandas DataFrame.

        Where no groups stand out, the stability is NaN.
        """
        import pandas as pd

        n = self.found.n_rows
        rows = [
            {
                "group": cluster.label + 1,
                "size": cluster.size,
                "share": cluster.size / n,
                "stability": cluster.stability,
                "sentence": cluster.sentence,
                "typical_row": self.found.number(cluster.typical[0]) + 1 if cluster.typical else 0,
            }
            for cluster in self.found.clusters
        ]
        return pd.DataFrame(rows).set_index("group") if rows else pd.DataFrame()

    @property
    def rows(self) -> Any:
        """The table with group, membership, rank in the group and oddness of every row; a pandas DataFrame.

        A data frame that was explored keeps its index, its values and their types; of a file, numbers, dates and truth
        values are such.
        """
        frame = self.frame.to_pandas() if hasattr(self.frame, "to_pandas") else self.frame
        rows = rows_with_groups(self.found, frame)
        return rows if self.index is None else rows.set_axis(self.index)

    def summary(self) -> dict[str, Any]:
        """The findings without the single rows, ready for JSON."""
        return summary(self.found)

    def _write_report(self, path: Path) -> Path:
        return write_report(self.found, path)

    def _page(self) -> str:
        with tempfile.TemporaryDirectory(prefix="gramian_") as folder:
            return write_report(self.found, Path(folder) / REPORT, limit=NOTEBOOK_LIMIT).read_text(encoding="utf-8")

    def _write_folder(self, folder: Path, *, force: bool) -> None:
        write_folder(self.found, self.model, folder, force=force)


def explore(
    source: Any,
    *,
    n_clusters: int | None = None,
    columns: Collection[str] | None = None,
    ignore: Collection[str] | None = None,
    category: Collection[str] = (),
    number: Collection[str] = (),
    missing: Collection[Any] = (),
    alternative: bool = True,
    random_state: int = 0,
    notify: Callable[[str, float], None] | None = None,
) -> Explored:
    """Find groups of rows in a table, what makes them different, who is typical and who is odd.

    Missing values, categories, dates and truth values are welcome; nothing has to be scaled or encoded.

    Parameters
    ----------
    source : path, open file, pandas or polars data frame, or Table
        What :func:`gramian.tables.read_table` reads.
    n_clusters : int, optional
        Number of groups; by default it is chosen.
    columns, ignore : collection of str, optional
        Columns to compare rows by, or to leave out.
    category, number : collection of str
        Columns to read as categories or as numbers, where they look like the other.
    missing : collection of str or numbers
        Codes of missing values, such as -999.
    alternative : bool, default True
        Look for another way to group the rows as well.
    random_state : int, default 0
    notify : callable, optional
        Called with the name of each stage and the part of the work done before it.

    Returns
    -------
    explored : Explored

    Examples
    --------
    >>> import numpy as np, pandas as pd
    >>> import gramian
    >>> rng = np.random.default_rng(0)
    >>> kind = np.repeat([0, 1], 40)
    >>> frame = pd.DataFrame(rng.normal(size=(80, 4)) + 6.0 * kind[:, None], columns=["size", "speed", "age", "weight"])
    >>> frame.loc[::9, "speed"] = np.nan
    >>> found = gramian.explore(frame)
    >>> found.verdict, len(found.groups), found.rows["group"].nunique()
    ('clear', 2, 2)
    """
    table = source
    if not isinstance(source, Table):
        table = read_table(source, columns=columns, ignore=ignore, category=category, number=number, missing=missing)
    found, model = analyse(
        table, n_clusters=n_clusters, alternative=alternative, random_state=random_state, notify=notify
    )
    # A copy, so that a column that is added or replaced later is none that was explored.
    index = index_of(source)
    frame = source.copy(deep=False) if index is not None else source if hasattr(source, "to_pandas") else None
    return Explored(found, model, index, frame)


def explore_folder(
    source: str | os.PathLike[str],
    folder: str | os.PathLike[str],
    *,
    workers: int | None = None,
    scheduler: str | None = None,
    force: bool = False,
    **asked: Any,
) -> Explored:
    """Explore a table that lies in many files, of which no memory has to hold more than one at a time.

    At most 50,000 rows are explored, drawn at random; the others get the groups that rows that come later would get.
    Needs the extra ``scale``.

    Parameters
    ----------
    source : path or pattern
        A folder of Parquet, CSV, TSV or JSON-lines files with the same columns, or a pattern such as
        ``"sales/*.parquet"``. Rows are counted through all files, in the order of their names.
    folder : path
        Made, with the report, the summary, the model, and ``rows``: one Parquet file for each file of the table.
    workers : int, optional
        Processes to start on this machine; two by default.
    scheduler : str, optional
        Address of a Dask scheduler, whose workers are used instead; they must reach both folders by the same paths.
    force : bool, default False
        Replace the output of an earlier run.
    **asked
        ``sample``, the number of rows to explore, and the arguments of :func:`explore`.

    Returns
    -------
    explored : Explored
        Sizes of groups are those of all rows; :attr:`Explored.rows` has the rows that were explored, and in its index
        their numbers in the whole table, from 0.

    Examples
    --------
    >>> from gramian.explorer import explore_folder
    >>> explore_folder("no such folder/*.csv", "found", workers=2)
    Traceback (most recent call last):
        ...
    gramian.tables.read.UnreadableTable: no file matches no such folder/*.csv; check the path
    """
    import pandas as pd

    find_partitions(source)  # where there are none, this is told before workers are started
    with whole_folder(Path(folder), force=force) as draft:
        with open_workers(workers, scheduler) as opened:
            found, model = exploration.explore_folder(source, draft / ROW_PARTS, opened, **asked)
        write_findings(found, model, draft)
    return Explored(found, model, None if found.numbers is None else pd.Index(found.numbers))
