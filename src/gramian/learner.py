"""``gramian.learn``: one call from a table to a tuned prediction of one of its columns, a report and a model.

Beside :mod:`gramian.explorer`: it reads (:mod:`gramian.tables`), learns (:mod:`gramian.learning`) and writes
(:mod:`gramian.report`).
"""

from __future__ import annotations

from collections.abc import Callable, Collection
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from gramian.learning import Learned, TargetModel
from gramian.learning import learn as analyse
from gramian.outcome import Outcome, index_of
from gramian.report import (
    learned_rows,
    learned_summary,
    predicted_rows,
    write_learned_folder,
    write_learned_report,
)
from gramian.tables import Table, read_table

__all__ = ["Trained", "learn"]


@dataclass(frozen=True, repr=False)
class Trained(Outcome):
    """What :func:`learn` found about a column of a table.

    Attributes
    ----------
    found : Learned
        Everything, as plain data.
    model : TargetModel
        For new rows; ``gramian.save(model, path)`` keeps it, and ``gramian predict`` reads it.
    index : pandas.Index, optional
        Of the data frame that was learned from, which :attr:`rows` has too; reports count rows from 1.
    """

    found: Learned
    model: TargetModel
    index: Any = None

    @property
    def verdict(self) -> str:
        """How well the column is predicted: "clear", "weak" or "none"."""
        return self.found.verdict

    @property
    def matters(self) -> Any:
        """The columns that matter, one row each: by how much the error grows when it is shuffled; a DataFrame."""
        import pandas as pd

        names = ["column", "kind", "increase", "spread"]
        return pd.DataFrame([asdict(item) for item in self.found.matters], columns=names).set_index("column")

    @property
    def rows(self) -> Any:
        """The table with what is predicted of every row without its own value; a pandas DataFrame."""
        rows = learned_rows(self.found)
        return rows if self.index is None else rows.set_axis(self.index)

    def predict(self, source: Any) -> Any:
        """Rows that come later with prediction, interval or probabilities, and a note; a pandas DataFrame.

        Parameters
        ----------
        source : path, open file, pandas or polars data frame, or Table
        """
        table = source if isinstance(source, Table) else read_table(source, like=self.model.preparation)
        rows = predicted_rows(self.model, table)
        index = index_of(source)
        return rows if index is None else rows.set_axis(index)

    def summary(self) -> dict[str, Any]:
        """The findings without the single rows, ready for JSON."""
        return learned_summary(self.found)

    def _write_report(self, path: Path) -> Path:
        return write_learned_report(self.found, path)

    def _write_folder(self, folder: Path, *, force: bool) -> None:
        write_learned_folder(self.found, self.model, folder, force=force)


def learn(
    source: Any,
    target: str,
    *,
    columns: Collection[str] | None = None,
    ignore: Collection[str] | None = None,
    category: Collection[str] = (),
    number: Collection[str] = (),
    missing: Collection[Any] = (),
    random_state: int = 0,
    notify: Callable[[str, float], None] | None = None,
) -> Trained:
    """Learn to predict one column of a table from the others, and say how well.

    Missing values, categories, dates and truth values are welcome; nothing has to be scaled, encoded or tuned.

    Parameters
    ----------
    source : path, open file, pandas or polars data frame, or Table
        What :func:`gramian.tables.read_table` reads.
    target : str
        The column to predict: numbers, categories or truth values.
    columns, ignore : collection of str, optional
        Columns to predict from, or to leave out.
    category, number : collection of str
        Columns to read as categories or as numbers, where they look like the other.
    missing : collection of str or numbers
        Codes of missing values, such as -999.
    random_state : int, default 0
    notify : callable, optional
        Called with the name of each stage and the part of the work done before it.

    Returns
    -------
    trained : Trained

    Examples
    --------
    >>> import numpy as np, pandas as pd
    >>> import gramian
    >>> rng = np.random.default_rng(0)
    >>> frame = pd.DataFrame(rng.normal(size=(120, 3)), columns=["size", "speed", "age"])
    >>> frame["price"] = 3 * frame["size"] + frame["age"] ** 2 + 0.1 * rng.normal(size=120)
    >>> trained = gramian.learn(frame, target="price")
    >>> trained.verdict, list(trained.matters.index)
    ('clear', ['size', 'age'])
    >>> trained.predict(pd.DataFrame({"size": [0.0], "speed": [0.0], "age": [1.0]}))["prediction"].round().tolist()
    [1.0]
    """
    table = source
    if not isinstance(source, Table):
        chosen = None if columns is None else [*columns, *([] if target in columns else [target])]
        table = read_table(source, columns=chosen, ignore=ignore, category=category, number=number, missing=missing)
    found, model = analyse(table, target, random_state=random_state, notify=notify)
    return Trained(found, model, index_of(source))
