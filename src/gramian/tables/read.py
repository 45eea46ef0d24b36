"""Files to tables: read a file of any known format, and say in one line what is wrong where that fails.

A file is known by its content; its ending only helps the reader of messages. Text goes through one stream that decodes
it, so that files of any size are read in blocks; columns become Arrow arrays and :mod:`gramian.tables.columns` gives
them their types.
"""

from __future__ import annotations

import gzip
import io
import os
import shlex
import zlib
from collections.abc import Collection, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, BinaryIO

from gramian.checks import whole
from gramian.partitions import refuse_partitions
from gramian.tables.streams import Fault, in_one_line
from gramian.tables.table import CATEGORY, CODES, IGNORED, NUMBER, Column, Reading, Table, nearest

if TYPE_CHECKING:
    from gramian.tables.separated import RawTable

__all__ = ["UnreadableTable", "raw_table", "read_table", "typed_table"]

_FOLDER = (
    "write it with to_parquet and explore the folder with gramian.explorer.explore_folder, or pass some of its rows"
)
_MOST = 0.5  # of the filled cells of new rows must be of the kind of their column


class UnreadableTable(ValueError):
    """A file that cannot be read as a table; the message is one line that says where and what to do."""


def read_table(
    source: Any,
    *,
    columns: Collection[str] | None = None,
    ignore: Collection[str] | None = None,
    category: Collection[str] = (),
    number: Collection[str] = (),
    missing: Collection[Any] = (),
    sheet: str | int | None = None,
    max_rows: int | None = None,
    like: Reading | None = None,
    stream: BinaryIO | None = None,
) -> Table:
    """Read a table from a file or a data frame: CSV, JSON lines, Parquet, Excel, pandas or polars; text may be gzipped.

    Encoding (UTF-8, UTF-16, otherwise Windows-1252), separator (comma, semicolon, tab, bar), decimal comma and the
    line of names are found out from the beginning of the file. "", NA, N/A, NaN, null, None, ?, . and - are missing
    values in every table. What is decided on the way is in the table's ``notes``.

    Parameters
    ----------
    source : str, path, open file or data frame
        ``"-"`` is the standard input. Data frames are those of pandas and polars.
    columns, ignore : collection of str, optional
        Names of the columns to use, or not to use; the others are kept for display. An identifier named in
        ``columns`` is used as a number where it is one.
    category, number : collection of str
        Names of columns that are to be read as categories, such as codes 1, 2, 3, or as numbers.
    missing : collection of str or numbers
        Further codes of missing values, such as -999.
    sheet : str or int, optional
        Of an Excel file, by name or number from 0; the first that is not empty by default.
    max_rows : int, optional
        Read this many rows from the top.
    like : Reading, optional
        Such as a Preparation fitted on another table, of which these are new rows: its columns are read as they were
        there, with the same kinds, codes of missing values and order of day and month, about which few rows may say
        less. A cell that is not of the kind of its column is missing (:func:`gramian.tables.unseen_values` says
        where), unless more than half of the filled cells of the column are such.
    stream : binary file, optional
        Read this, and take ``source`` for its name.

    Returns
    -------
    Table

    Raises
    ------
    UnreadableTable
        If the file is missing, damaged, empty or no table, with row, column and remedy where they are known.

    Examples
    --------
    >>> import io
    >>> from gramian.tables.read import read_table
    >>> text = b"no;weight;coat;born\\n1;4,1;long;2020-03-01\\n2;?;short;2019-07-12\\n3;30,5;short;2021-01-30\\n"
    >>> pets = read_table("pets.csv", stream=io.BytesIO(text))
    >>> [(column.name, column.kind) for column in pets.columns]
    [('no', 'identifier'), ('weight', 'number'), ('coat', 'category'), ('born', 'date')]
    >>> pets.frame["weight"].tolist(), pets.notes
    ([4.1, nan, 30.5], ['columns are separated by semicolons, decimals by a comma'])
    >>> read_table("pets.csv", stream=io.BytesIO(b"weight,coat\\n4.1,long,soft\\n"))
    Traceback (most recent call last):
        ...
    gramian.tables.read.UnreadableTable: pets.csv, row 2: 3 cells but 2 columns; correct the row, or put cells that ...
    """
    # Here, because programs that read no file need none of pyarrow and pandas.
    try:
        from gramian.tables.formats import frame_columns, opener_of, read_raw
    except ModuleNotFoundError as error:
        words = f"a table needs {error.name} to be read; install it with: pip install 'gramian[app]'"
        raise ModuleNotFoundError(words, name=error.name) from error

    if max_rows is not None:
        max_rows = whole(max_rows, "max_rows", instead="None")
    if hasattr(source, "read") and stream is None:
        source, stream = str(getattr(source, "name", "file")), source
    if stream is not None and isinstance(stream.read(0), str):  # opened as text
        stream = io.BytesIO(stream.read().encode())  # type: ignore[attr-defined]
    refuse_partitions("read_table", source, _FOLDER)
    is_path = isinstance(source, (str, os.PathLike))
    if hasattr(source, "collect_schema") and hasattr(source, "collect"):
        raise TypeError(f"source is of type {type(source).__name__}, which has no rows yet; pass source.collect()")
    is_frame = not is_path and hasattr(source, "columns")
    if not is_frame and not is_path:
        kind = type(source).__name__
        raise TypeError(f"source is of type {kind}; pass a path, an open file, or a data frame of pandas or polars")
    if is_frame:
        name = "the data frame"
    else:
        name = "standard input" if source == "-" and stream is None else Path(source).name or str(source)
    with _told_in_one_line(name):
        raw = frame_columns(source, max_rows) if is_frame else read_raw(opener_of(source, stream), sheet, max_rows)
    asked: dict[str, Any] = {} if like is None else {"like": like, "least": _MOST}
    return typed_table(
        name, raw, columns=columns, ignore=ignore, category=category, number=number, missing=missing, **asked
    )


def raw_table(path: str | os.PathLike[str]) -> RawTable:
    """The columns of a file as they are written there, one part of a larger table.

    Raises
    ------
    UnreadableTable
        As :func:`read_table` does.
    """
    from gramian.tables.formats import opener_of, read_raw

    with _told_in_one_line(Path(path).name):
        return read_raw(opener_of(path, None), None, None)


def typed_table(
    name: str,
    raw: RawTable,
    *,
    columns: Collection[str] | None = None,
    ignore: Collection[str] | None = None,
    category: Collection[str] = (),
    number: Collection[str] = (),
    missing: Collection[Any] = (),
    like: Reading | None = None,
    least: float | None = None,
) -> Table:
    """The table of columns that were read, each with its type; the arguments are those of :func:`read_table`.

    At least the part ``least`` of the filled cells must be of a kind that is given, by default all but slips.
    """
    with _told_in_one_line(name):
        columns, ignore = (None if names is None else _listed(names) for names in (columns, ignore))
        chosen = _chosen(raw.names, columns, ignore)
        codes = [str(code) for code in _listed(missing)] + (like.missing_ if like else [])
        kinds = _kinds(raw.names, _listed(category), _listed(number)) if like is None else like.kinds_
        forms = {} if like is None else like.forms_
        return _typed(name, raw, chosen, columns is not None, codes, kinds, forms, like is None, least)


@contextmanager
def _told_in_one_line(name: str) -> Iterator[None]:
    """What is wrong with a file, as one line that names it."""
    import pyarrow as pa

    try:
        yield
    except Fault as fault:
        raise UnreadableTable(f"{name}{fault}") from fault
    except FileNotFoundError as error:
        raise UnreadableTable(f"{name} does not exist; check the path") from error
    except IsADirectoryError as error:
        raise UnreadableTable(f"{name} is a folder; name a file in it") from error
    except PermissionError as error:
        raise UnreadableTable(f"{name} may not be read by this user; change its permissions or copy it") from error
    except (zlib.error, EOFError, gzip.BadGzipFile) as error:
        raise UnreadableTable(f"{name} is damaged gzip ({in_one_line(error)}); fetch or save it again") from error
    except (OSError, pa.ArrowException) as error:
        raise UnreadableTable(f"{name} cannot be read ({in_one_line(error)}); fetch or save it again") from error


def _typed(
    name: str,
    raw: RawTable,
    chosen: set[str],
    asked: bool,
    missing: list[str],
    kinds: dict[str, str],
    forms: dict[str, str],
    judged: bool,
    least: float | None,
) -> Table:
    """Give all columns their types; those in ``kinds`` have theirs already, and if not ``judged`` all that matter."""
    import numpy as np
    import pandas as pd
    import pyarrow as pa

    from gramian.tables.codes import find_codes
    from gramian.tables.columns import ENOUGH, settle
    from gramian.tables.copies import without_copies
    from gramian.tables.texts import WHOLE

    arrays = [array if isinstance(array, pa.ChunkedArray) else pa.chunked_array([array]) for array in raw.arrays]
    n = len(arrays[0]) if arrays else 0
    # What a column is does not depend on how often rows were copied: an identifier stays one.
    kept, place = without_copies(arrays, n) if judged else (np.arange(n), np.arange(n))
    cells = dict(zip(raw.names, arrays, strict=True))

    def typed(column_name: str, kind: str | None, form: str) -> tuple[Any, Column]:
        values = cells[column_name]
        try:
            series, column = settle(
                column_name,
                values.take(pa.array(kept)) if len(kept) < n else values,
                missing=missing,
                decimal=raw.decimal,
                kind=kind,
                form=form,
                asked=asked and column_name in chosen,
                first_row=raw.first_row,
                least=ENOUGH if least is None else least,
            )
        except ValueError as error:
            raise Fault(f", {error}") from error
        if len(kept) < n:
            series = series.take(place).reset_index(drop=True)
            column = replace(column, missing=float(series.isna().mean()))
        return series, column

    found = {name: typed(name, kinds.get(name) if name in chosen else None, forms.get(name, "")) for name in raw.names}
    if judged:
        free = [column for name, (_, column) in found.items() if name in chosen]
        for code in find_codes({name: series for name, (series, _) in found.items()}, kept, free):
            if code not in kinds:
                series, column = typed(code, CATEGORY, WHOLE)
                found[code] = series, replace(column, note=f"{CODES}; --number {_quoted(code)} reads them as numbers")
    described = [
        column if name in chosen else replace(column, kind=IGNORED, note="left out on request")
        for name, (_, column) in found.items()
    ]
    series = {name: series for name, (series, _) in found.items()}
    frame = pd.DataFrame(series)
    if not len(frame):
        raise Fault(" has column names but no rows; add rows")
    if len(frame) == 1:
        raw.notes.append("there is one row only")
    if len(described) == 1:
        raw.notes.append("there is one column only; if there should be more, separate them by commas")
    return Table(frame, described, name, raw.notes, missing, cells)


def _listed(given: Any) -> Collection[Any]:
    """Several names or codes; one alone is meant as such, not by its letters."""
    return [given] if isinstance(given, (str, int, float)) else given


def _quoted(name: str) -> str:
    """A name as it is written on a command line."""
    return shlex.quote(f'"{name}"' if "," in name else name)


def _chosen(names: Sequence[str], columns: Collection[str] | None, ignore: Collection[str] | None) -> set[str]:
    """The columns to use."""
    _check_known(names, [*(columns or ()), *(ignore or ())])
    return set(names if columns is None else columns) - set(ignore or ())


def _kinds(names: Sequence[str], category: Collection[str], number: Collection[str]) -> dict[str, str]:
    """The kinds that are asked for."""
    _check_known(names, [*category, *number])
    if both := sorted(set(category) & set(number)):
        raise Fault(f", column {both[0]!r}: asked for as a category and as a number; choose one")
    return dict.fromkeys(category, CATEGORY) | dict.fromkeys(number, NUMBER)


def _check_known(names: Sequence[str], asked: Sequence[str]) -> None:
    for name in asked:
        if name not in names:
            if near := nearest(name, names):
                raise Fault(f" has no column {name!r}; did you mean {', '.join(map(repr, near))}?")
            more = ", ..." if len(names) > 5 else ""
            raise Fault(f" has no column {name!r}; it has {', '.join(map(repr, names[:5]))}{more}")
