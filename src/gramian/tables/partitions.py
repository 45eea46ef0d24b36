"""A table in many files: which files these are, whether they fit together, some of their rows, and their statistics.

One file is one partition, and every function here but the first reads one, so that it can run where the file is.
Explorations of folders call them on workers and merge what they return; no function holds more than one file.
"""

from __future__ import annotations

import glob
import os
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from gramian.tables.prepare import Preparation, prepared_column
from gramian.tables.read import UnreadableTable, raw_table, typed_table
from gramian.tables.statistics import ColumnStatistics
from gramian.tables.streams import in_one_line
from gramian.tables.table import CATEGORY, Table, nearest
from gramian.typing import Array

__all__ = [
    "Layout",
    "common_layout",
    "find_partitions",
    "in_partitions",
    "joined_table",
    "layout_of",
    "name_of_partitions",
    "partition_rows",
    "partition_statistics",
    "typed_rows",
]

_ENDINGS = (".parquet", ".pq", ".csv", ".tsv", ".txt", ".jsonl", ".ndjson", ".csv.gz", ".tsv.gz", ".jsonl.gz")


def in_partitions(source: Any) -> bool:
    """Whether a source is a folder, or a pattern such as ``"sales/*.parquet"``, rather than one file."""
    if not isinstance(source, (str, os.PathLike)):
        return False
    return os.path.isdir(source) or (glob.has_magic(os.fspath(source)) and not os.path.exists(source))


def name_of_partitions(source: str | os.PathLike[str]) -> str:
    """What a table in many files is called: as its folder, or as the folder of the pattern."""
    path = Path(source).resolve()
    while glob.has_magic(path.name):
        path = path.parent
    return path.name or "table"


def find_partitions(source: str | os.PathLike[str]) -> list[str]:
    """The files of a table, in the order of their names.

    Parameters
    ----------
    source : path or pattern
        A folder, of which all Parquet, CSV, TSV and JSON-lines files are taken but those whose names begin with a dot
        or an underscore; or a pattern, of which all files are.

    Raises
    ------
    UnreadableTable
        If there are none.
    """
    if os.path.isdir(source):
        files = [path for path in Path(source).iterdir() if path.name.lower().endswith(_ENDINGS)]
        found = sorted(str(path.resolve()) for path in files if path.is_file() and path.name[0] not in "._")
        what = f"the folder {source} holds no Parquet, CSV, TSV or JSON-lines file"
    else:
        found = sorted(str(Path(path).resolve()) for path in glob.glob(os.fspath(source)) if os.path.isfile(path))
        what = f"no file matches {source}"
    if not found:
        raise UnreadableTable(f"{what}; check the path")
    return found


@dataclass(frozen=True)
class Layout:
    """The columns of a partition, to compare with those of the first.

    Attributes
    ----------
    names : list of str
    types : list of str
        "number", "text", "boolean", "date", "other", or "nothing" for a column without values.
    decimal : str
        How a text file writes decimals; "" if it has none.
    rows : int
        Of this partition.
    """

    names: list[str]
    types: list[str]
    decimal: str
    rows: int


def common_layout(paths: Sequence[str], layouts: Sequence[Layout]) -> Layout:
    """The columns that all partitions have; how these write decimals, and the number of all rows.

    Raises
    ------
    UnreadableTable
        If a partition has other columns, types or decimals than those before it; the message names it.
    """
    names, known, writes = layouts[0].names, dict.fromkeys(layouts[0].names, ("nothing", "")), ("", "")
    for path, layout in zip(paths, layouts, strict=True):
        name, first = Path(path).name, Path(paths[0]).name
        if absent := [column for column in names if column not in layout.names]:
            near = nearest(absent[0], [column for column in layout.names if column not in known])
            mend = f"rename {near[0]!r}" if near else "add it, or leave the file out"
            raise UnreadableTable(f"{name} has no column {absent[0]!r}, which {first} has; {mend}")
        if further := [column for column in layout.names if column not in known]:
            raise UnreadableTable(
                f"{name} has a column {further[0]!r}, which {first} does not have; drop it, or leave the file out"
            )
        for column, type_ in zip(layout.names, layout.types, strict=True):
            before, where = known[column]
            if before == "nothing":
                known[column] = type_, name
            elif type_ not in (before, "nothing"):
                raise UnreadableTable(
                    f"{name}, column {column!r}: {type_} where {where} has {before}; "
                    "write all files with the same types"
                )
        writes = writes if writes[0] else (layout.decimal, name)
        if layout.decimal not in ("", writes[0]):
            raise UnreadableTable(
                f"{name} writes decimals with {layout.decimal!r}, {writes[1]} with {writes[0]!r}; write all files alike"
            )
    types = [known[column][0] for column in names]
    return Layout(names, types, writes[0] or ".", sum(layout.rows for layout in layouts))


def layout_of(path: str) -> Layout:
    """Columns and number of rows of one partition; of a Parquet file only its end is read."""
    from pyarrow import parquet

    from gramian.tables.separated import column_names

    with open(path, "rb") as file:
        is_parquet = file.read(4) == b"PAR1"
    if not is_parquet:
        raw = raw_table(path)
        types = [_type_word(array.type) for array in raw.arrays]
        decimal = raw.decimal if raw.decimal == "," or _has_points(raw.arrays) else ""
        return Layout(list(raw.names), types, decimal, len(raw.arrays[0]) if raw.arrays else 0)
    try:
        opened = parquet.ParquetFile(path)
    except (OSError, ValueError) as error:  # what Arrow raises of damaged files is a ValueError
        raise UnreadableTable(f"{Path(path).name} is damaged Parquet; fetch or save it again") from error
    with opened:
        schema = opened.schema_arrow
        names = column_names(schema.names, len(schema.names), [])
        return Layout(names, [_type_word(type_) for type_ in schema.types], "", opened.metadata.num_rows)


def _has_points(arrays: Sequence[Any]) -> bool:
    """Whether some text is a number with a decimal point."""
    import pyarrow.compute as pc

    texts = (array for array in arrays if _type_word(array.type) == "text")
    return any(pc.any(pc.match_substring_regex(array, r"^[+-]?\d+\.\d+$")).as_py() for array in texts)


def _type_word(type_: Any) -> str:
    from pyarrow import types

    if types.is_dictionary(type_):
        return _type_word(type_.value_type)
    words = {
        "nothing": (types.is_null,),
        "number": (types.is_integer, types.is_floating, types.is_decimal, types.is_duration),
        "text": (types.is_string, types.is_large_string, types.is_string_view, types.is_time),
        "boolean": (types.is_boolean,),
        "date": (types.is_timestamp, types.is_date),
    }
    return next((word for word, tests in words.items() if any(test(type_) for test in tests)), "other")


def partition_rows(path: str, names: Sequence[str], rows: Array | None = None) -> Any:
    """Some rows of one partition, or all, as an Arrow table with these columns as they are written there."""
    import pyarrow as pa

    raw = raw_table(path)
    arrays = dict(zip(raw.names, raw.arrays, strict=True))
    taken = {}
    for name in names:
        array = arrays[name]
        if pa.types.is_dictionary(array.type):  # levels have other numbers in other files
            array = array.cast(array.type.value_type)
        taken[name] = array if rows is None else array.take(pa.array(rows))
    return pa.table(taken)


def joined_table(name: str, parts: Sequence[Any], decimal: str, notes: list[str], **reading: Any) -> Table:
    """Rows of several partitions as one table, typed as those of one file.

    Parameters
    ----------
    name : str
    parts : sequence of pyarrow.Table
        From :func:`partition_rows`, with the same columns.
    decimal : str
        How text files write decimals.
    notes : list of str
    **reading
        As in :func:`gramian.tables.read_table`: columns, ignore, category, number, missing.
    """
    import pyarrow as pa

    from gramian.tables.separated import RawTable

    try:
        rows = pa.concat_tables(parts, promote_options="permissive")
    except pa.ArrowException as error:
        raise UnreadableTable(
            f"the files of {name} have types that do not go together ({in_one_line(error)}); write all files with the "
            "same types"
        ) from error
    return typed_table(name, RawTable(rows.column_names, rows.columns, notes, decimal=decimal), **reading)


def typed_rows(path: str, preparation: Preparation, decimal: str) -> Table:
    """The columns of one partition that a preparation uses, read as in the table it was fitted on."""
    from gramian.tables.separated import RawTable

    cells = partition_rows(path, list(preparation.kinds_))
    raw = RawTable(cells.column_names, cells.columns, [], decimal=decimal)
    return typed_table(Path(path).name, raw, like=preparation)


def partition_statistics(path: str, preparation: Preparation, decimal: str) -> dict[str, ColumnStatistics]:
    """Statistics of the columns that a preparation uses, over one partition."""
    frame = typed_rows(path, preparation, decimal).frame
    found = {}
    for name, kind in preparation.kinds_.items():
        values = prepared_column(frame[name], name, kind)
        if kind == CATEGORY:
            found[name] = ColumnStatistics.of_levels(list(map(str, values.categories)), np.asarray(values.codes))
        else:
            found[name] = ColumnStatistics.of_numbers(values)
    return found
