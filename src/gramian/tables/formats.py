"""File formats to columns: separated text, JSON lines, Parquet and Excel, told apart by their content."""

from __future__ import annotations

import codecs
import io
import json
import os
import re
import sys
import warnings
import zipfile
import zlib
from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path
from typing import Any, BinaryIO

import pyarrow as pa
import pyarrow.json
import pyarrow.parquet

from gramian.tables.separated import RawTable, column_names, is_header, read_separated
from gramian.tables.streams import (
    BLOCK,
    Fault,
    Utf8Stream,
    encoding_of,
    in_one_line,
    read_by_arrow,
    unpacked,
    without_preamble,
)

_HEAD = 1 << 18  # bytes from which format and encoding are told
_KNOWN = {
    b"\xd0\xcf\x11\xe0": "an old Excel file; save it as .xlsx or CSV",
    b"%PDF": "a PDF; export the table as CSV",
    b"SQLite format 3": "an SQLite database; export a table as CSV",
    b"\x89HDF": "an HDF5 file; export the table as Parquet or CSV",
    b"ARROW1": "an Arrow file; save it as Parquet",
    b"BZh": "compressed by bzip2; unpack it",
    b"\xfd7zXZ": "compressed by xz; unpack it",
    b"(\xb5/\xfd": "compressed by zstandard; unpack it",
}

# What openpyxl and zipfile raise when they read a book that was cut short or tampered with, or that has a password.
_EXCEL_DAMAGE = (
    AttributeError,
    EOFError,
    LookupError,
    RuntimeError,
    SyntaxError,
    TypeError,
    ValueError,
    zipfile.BadZipFile,
    zlib.error,
)


def opener_of(source: str | os.PathLike[str], stream: BinaryIO | None) -> Callable[[], BinaryIO]:
    """What opens the bytes, again and again; what can be read only once is kept in memory for that."""
    if stream is None and source != "-":
        if Path(source).is_file():
            return lambda: Path(source).open("rb")
        data = Path(source).read_bytes()  # of a pipe
    else:
        data = (stream or sys.stdin.buffer).read()
    return lambda: io.BytesIO(data)


def frame_columns(frame: Any, max_rows: int | None) -> RawTable:
    """The columns of a pandas or polars data frame."""
    notes: list[str] = []
    frame = frame.head(max_rows) if max_rows is not None else frame
    names = column_names([str(name) for name in frame.columns], len(frame.columns), notes)
    if not names or not len(frame):
        raise Fault(" has no columns or no rows; add some")
    if hasattr(frame, "to_arrow"):
        return RawTable(names, list(frame.to_arrow().columns), notes)
    return RawTable(names, [_arrow(name, frame.iloc[:, j]) for j, name in enumerate(names)], notes)


def _arrow(name: str, series: Any) -> Any:
    """A column of pandas; values of several types become texts."""
    try:
        return pa.chunked_array([pa.array(series, from_pandas=True)])
    except pa.ArrowNotImplementedError as error:
        raise Fault(
            f", column {name!r}: values of type {series.dtype} cannot be read; drop the column, or convert it to "
            "numbers or text"
        ) from error
    except (pa.ArrowInvalid, pa.ArrowTypeError):
        return pa.chunked_array([pa.array(series.map(str, na_action="ignore"), pa.string(), from_pandas=True)])


def read_raw(opener: Callable[[], BinaryIO], sheet: str | int | None, max_rows: int | None) -> RawTable:
    """Tell by its content what a file is, and read it."""
    with opener() as file:
        head = file.read(_HEAD)
    if head[:2] == b"\x1f\x8b":
        opener = partial(unpacked, opener)
        with opener() as file:
            head = file.read(_HEAD)
    if not head.strip(b"\x00\xef\xbb\xbf\xff\xfe \t\r\n"):
        raise Fault(" is empty; it needs a line of column names and one line per row")
    if head[:4] == b"PAR1":
        return _parquet(opener, max_rows)
    if head[:4] == b"PK\x03\x04":
        return _excel(opener, sheet, max_rows)
    for magic, what in _KNOWN.items():
        if head.startswith(magic):
            raise Fault(f" is {what}")
    encoding = encoding_of(head)
    start, _ = without_preamble(codecs.getincrementaldecoder(encoding)("replace").decode(head))
    if re.match(r"\s*<(!doctype|html|\?xml|head|body|table)", start, re.IGNORECASE):
        raise Fault(" is a web page or XML, not a table; download the data itself, or export it as CSV")
    if re.match(r"\s*\[\s*[\[{\]]", start):
        return _json_array(Utf8Stream(opener(), encoding), max_rows)

    def in_lines() -> Utf8Stream:
        return Utf8Stream(opener(), encoding, longest_line=BLOCK)

    return (_json_lines if re.match(r'\s*\{\s*["}]', start) else read_separated)(in_lines, max_rows)


def _json_lines(opener: Callable[[], Utf8Stream], max_rows: int | None) -> RawTable:
    with opener() as file:
        try:
            table = read_by_arrow(file, lambda lent: pa.json.read_json(lent, pa.json.ReadOptions(block_size=BLOCK)))
        except pa.ArrowInvalid as error:
            _find_json_fault(opener)
            raise Fault(f" cannot be read ({in_one_line(error)}); write one JSON object per line") from error
        notes = [file.note] * bool(file.note)
    return _from_arrow(table.slice(0, max_rows), notes)


def _find_json_fault(opener: Callable[[], Utf8Stream]) -> None:
    """Look for the line that is wrong, and raise what is wrong with it."""
    kinds: dict[str, type] = {}
    with opener() as file:
        for row, line in enumerate(io.BufferedReader(file), start=1):
            try:
                cells = json.loads(line) if line.strip() else {}
            except ValueError as error:
                raise Fault(f", row {row}: {in_one_line(error)}; write one JSON object per line") from error
            if not isinstance(cells, dict):
                raise Fault(f", row {row}: not a JSON object; write one JSON object per line")
            for name, cell in cells.items():
                kind = float if type(cell) is int else type(cell)
                if cell is not None and kinds.setdefault(name, kind) is not kind:
                    words = f"{kind.__name__} where {kinds[name].__name__} stood before"
                    raise Fault(f", row {row}, column {name!r}: {words}; write null for missing values")


def _json_array(file: Utf8Stream, max_rows: int | None) -> RawTable:
    with file:
        try:
            rows = json.loads(file.readall())
        except ValueError as error:
            raise Fault(f" is not JSON ({in_one_line(error)}); write one JSON object per line") from error
    if not rows or not all(isinstance(row, dict) for row in rows):
        raise Fault(" is not a list of JSON objects; write one JSON object per line")
    rows = rows[:max_rows]
    names = list(dict.fromkeys(name for row in rows for name in row))
    arrays = [_cells([row.get(name) for row in rows]) for name in names]
    return RawTable(column_names(names, len(names), notes := ["one JSON array, not JSON lines"]), arrays, notes)


def _parquet(opener: Callable[[], BinaryIO], max_rows: int | None) -> RawTable:
    def rows_of(lent: Any) -> Any:
        parquet = pa.parquet.ParquetFile(lent)
        batches, n_rows = [], 0
        for batch in parquet.iter_batches(1 << 16):
            batches.append(batch)
            n_rows += len(batch)
            if max_rows is not None and n_rows >= max_rows:
                break
        return pa.Table.from_batches(batches, parquet.schema_arrow)

    with opener() as file:
        try:
            # A part of a gzip cannot be jumped to.
            whole_file = file if file.seekable() else io.BytesIO(file.read())
            table = read_by_arrow(whole_file, rows_of, random_access=True)
        except (pa.ArrowException, OSError) as error:
            raise Fault(f" is damaged Parquet ({in_one_line(error)}); fetch or save it again") from error
    return _from_arrow(table.slice(0, max_rows), [])


def _from_arrow(table: Any, notes: list[str]) -> RawTable:
    return RawTable(column_names(table.column_names, table.num_columns, notes), list(table.columns), notes)


def _excel(opener: Callable[[], BinaryIO], sheet: str | int | None, max_rows: int | None) -> RawTable:
    import openpyxl

    with opener() as file, warnings.catch_warnings():
        warnings.simplefilter("ignore")  # about styles and other things that are no values
        try:
            book = openpyxl.load_workbook(file, read_only=True, data_only=True)
            names = [one.title for one in book.worksheets]
            filled = ((name, found) for name in _sheets(names, sheet) if (found := _sheet_rows(book[name])))
            name, numbered = next(filled, ("", {}))
        except _EXCEL_DAMAGE as error:
            raise Fault(
                f" is not an Excel file, or is damaged ({in_one_line(error)}); save it again as .xlsx or CSV"
            ) from error
    if not numbered:
        raise Fault(" holds no values; name another sheet, or fill this one")
    notes = [f"read from sheet {name!r} of {len(names)}"] if len(names) > 1 and sheet is None else []
    first_row, rows = _below_titles(numbered, notes)
    header = is_header(rows)
    titles = column_names(rows[0] if header else None, len(rows[0]), notes)
    body = rows[header:][:max_rows]
    arrays = [_cells([row[j] for row in body]) for j in range(len(titles))]
    return RawTable(titles, arrays, notes, first_row=first_row + header)


def _sheets(names: list[str], sheet: str | int | None) -> list[str]:
    """The sheets to look at."""
    if sheet is None:
        return names
    if isinstance(sheet, int) and 0 <= sheet < len(names):
        return [names[sheet]]
    if sheet not in names:
        raise Fault(f" has no sheet {sheet!r}; it has {', '.join(map(repr, names))}")
    return [str(sheet)]


def _sheet_rows(sheet: Any) -> dict[int, tuple[Any, ...]]:
    """Rows of a sheet that are not empty, by their numbers."""
    sheet.reset_dimensions()  # what the file says of its own size is often wrong
    rows = enumerate(sheet.iter_rows(values_only=True), start=1)
    return {number: row for number, row in rows if _filled(row)}


def _below_titles(rows: dict[int, tuple[Any, ...]], notes: list[str]) -> tuple[int, list[tuple[Any, ...]]]:
    """The rows of the table and the number of the first, without columns that are empty at both sides.

    Rows of one cell above wider ones are a title, which would else be taken for a name.
    """
    widest = max(len(_filled(row)) for row in rows.values())
    first = next(number for number, row in rows.items() if len(_filled(row)) > 1 or widest == 1)
    for number in [number for number in rows if number < first]:
        title = rows.pop(number)
        notes.append(f"row {number} is a title, not names: {title[_filled(title)[0]]!s:.40}")
    places = [j for row in rows.values() for j in _filled(row)]
    low, high = min(places), max(places) + 1
    return first, [tuple(row[low:high]) + (None,) * (high - max(len(row), low)) for row in rows.values()]


def _filled(row: Sequence[Any]) -> list[int]:
    """The places of cells that hold something."""
    return [j for j, cell in enumerate(row) if cell not in (None, "")]


def _cells(cells: list[Any]) -> Any:
    """Python values as one Arrow array, as text if they differ in kind."""
    try:
        return pa.array(cells)
    except (pa.ArrowException, OverflowError):
        return pa.array([None if cell is None else str(cell) for cell in cells], pa.string())
