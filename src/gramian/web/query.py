"""Questions to a finished exploration: the rows most like one row, with their values."""

from __future__ import annotations

import json
import threading
from functools import lru_cache
from pathlib import Path
from typing import Any

from gramian.exploration import TableModel, load_table_model
from gramian.report import MODEL, ROWS, SUMMARY
from gramian.tables import IDENTIFIER

_COLUMNS = 6  # shown of a row
_LONGEST_VALUE = 80
_BLOCK = 1 << 24  # bytes of rows.csv read at once
_one_at_a_time = threading.Lock()


def rows_like(result: Path, row: int, top: int) -> dict[str, Any]:
    """The rows most like a row (counted from 1), best first.

    Parameters
    ----------
    result : Path
        Folder that an exploration has written.
    row, top : int

    Returns
    -------
    found : dict
        ``columns``, and for the row asked for and those like it ``row``, ``group`` and ``values``, the latter with
        ``score``.

    Raises
    ------
    ValueError
        If the table has no such row.
    """
    summary = json.loads((result / SUMMARY).read_text("utf-8"))
    if row > summary["rows"]:
        raise ValueError(f"row {row:,} does not exist: the table has {summary['rows']:,} rows")
    with _one_at_a_time:
        near, scores = _model(result / MODEL).like(row - 1, top)
    columns = _telling(summary)
    # The column of groups steps aside for one of the table that has its name.
    group = "gramian_group" if any(column["name"] == "group" for column in summary["columns"]) else "group"
    values = _values(result / ROWS, [row, *(int(r) + 1 for r in near)], columns, group)
    return {
        "columns": columns,
        "asked": values[0],
        "rows": [item | {"score": float(score)} for item, score in zip(values[1:], scores, strict=True)],
    }


@lru_cache(maxsize=2)
def _model(path: Path) -> TableModel:
    return load_table_model(path)


def _telling(summary: dict[str, Any]) -> list[str]:
    """Columns to show: what names the rows, then what tells the groups apart."""
    names = [column["name"] for column in summary["columns"] if column["kind"] == IDENTIFIER][:1]
    return (names + [item["column"] for item in summary["features"]])[:_COLUMNS]


def _values(path: Path, rows: list[int], columns: list[str], group: str) -> list[dict[str, Any]]:
    """Group and values of rows, read in one pass that keeps a block at a time."""
    import pyarrow as pa  # type: ignore[import-untyped,unused-ignore]
    from pyarrow import csv

    wanted = list(dict.fromkeys([group, *columns]))
    found: dict[int, dict[str, Any]] = {}
    start = 1
    with csv.open_csv(
        path,
        read_options=csv.ReadOptions(block_size=_BLOCK),
        parse_options=csv.ParseOptions(newlines_in_values=True),
        convert_options=csv.ConvertOptions(
            include_columns=wanted, column_types=dict.fromkeys(wanted, pa.string()), strings_can_be_null=False
        ),
    ) as reader:
        for batch in reader:
            here = [row for row in rows if start <= row < start + len(batch)]
            for row, cells in zip(here, batch.take([row - start for row in here]).to_pylist(), strict=True):
                shown = {name: cells[name][:_LONGEST_VALUE] for name in columns}
                found[row] = {"row": row, "group": int(cells[group]), "values": shown}
            start += len(batch)
            if len(found) == len(set(rows)):
                break
    return [found[row] for row in rows]
