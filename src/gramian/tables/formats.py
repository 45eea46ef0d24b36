"""File formats to columns: separated text, JSON lines, Parquet and Excel, told apart by their content."""

from __future__ import annotations

import codecs
import csv
import io
import json
import os
import re
import sys
import warnings
import zipfile
import zlib
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from itertools import islice
from pathlib import Path
from typing import Any, BinaryIO

import numpy as np
import pyarrow as pa
import pyarrow.csv
import pyarrow.json
import pyarrow.parquet

from gramian.tables.columns import MISSING
from gramian.tables.streams import Fault, Utf8Stream, encoding_of, in_one_line, unpacked, without_preamble

_HEAD = 1 << 18  # bytes from which encoding, separator and names are told
_BLOCK = 1 << 22
_SEPARATORS = ("\t", ";", "|", ",")  # a comma last: it stands in numbers too
_NUMBER = re.compile(r"[+-]?(\d+([.,]\d*)?|[.,]\d+)([eE][+-]?\d+)?")
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


@dataclass
class RawTable:
    """Columns as the file has them."""

    names: list[str]
    arrays: list[Any]
    notes: list[str]
    decimal: str = "."
    first_row: int = 1  # number of the first row of values, as a spreadsheet counts


def opener_of(source: str | os.PathLike[str], stream: BinaryIO | None) -> Callable[[], BinaryIO]:
    """What opens the bytes, again and again; what can be read only once is kept in memory for that."""
    if stream is None and source != "-":
        if Path(source).is_file():
            return lambda: Path(source).open("rb")
        data = Path(source).read_bytes()  # of a pipe
    else:
        data = (stream or sys.stdin.buffer).read()
    return lambda: io.BytesIO(data)


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
    # The head may end within a character, and in the middle of a line.
    start, _ = without_preamble(codecs.getincrementaldecoder(encoding)("replace").decode(head))
    if re.match(r"\s*<(!doctype|html|\?xml|head|body|table)", start, re.IGNORECASE):
        raise Fault(" is a web page or XML, not a table; download the data itself, or export it as CSV")
    if re.match(r"\s*\[\s*[\[{\]]", start):
        return _json_array(Utf8Stream(opener(), encoding), max_rows)
    if re.match(r'\s*\{\s*["}]', start):
        return _json_lines(lambda: Utf8Stream(opener(), encoding), max_rows)
    return _separated(lambda: Utf8Stream(opener(), encoding), start, len(head) == _HEAD, max_rows)


def _separated(opener: Callable[[], Utf8Stream], start: str, cut: bool, max_rows: int | None) -> RawTable:
    """Read separated text."""
    separator, rows = _sniff(start, cut)
    width, notes = len(rows[0]), []
    decimal = _decimal(separator, rows[1:])
    if separator != "," and width > 1:
        words = {";": "semicolons", "\t": "tabs", "|": "bars"}[separator]
        notes.append(f"columns are separated by {words}" + (", decimals by a comma" if decimal == "," else ""))
    header = _is_header(rows)
    names = _names(rows[0] if header else None, width, notes)
    if header and len(rows) == 1 and not cut:
        raise Fault(" has column names but no rows; add rows")
    codes = [code for code in MISSING if code != "-"]  # left to the columns, since it may be one of + and -
    batches, n_rows = [], 0
    with opener() as file:
        try:
            reader = pa.csv.open_csv(
                io.BufferedReader(file, _BLOCK),
                read_options=pa.csv.ReadOptions(
                    column_names=names, skip_rows_after_names=int(header), block_size=_BLOCK
                ),
                parse_options=pa.csv.ParseOptions(delimiter=separator, newlines_in_values=True),
                convert_options=pa.csv.ConvertOptions(
                    column_types=dict.fromkeys(names, pa.string()), null_values=codes, strings_can_be_null=True
                ),
            )
            while max_rows is None or n_rows < max_rows:
                batches.append(reader.read_next_batch())
                n_rows += len(batches[-1])
        except StopIteration:
            pass
        except pa.ArrowInvalid as error:
            _find_fault(opener, separator, width)
            raise Fault(f" cannot be read ({in_one_line(error)}); save it as plain CSV") from error
        quotes, note, first_row = file.quotes, file.note, 1 + file.skipped + header
    if not n_rows:
        raise Fault(" has column names but no rows; add rows")
    table = pa.Table.from_batches(batches).slice(0, max_rows)
    # A quote that is not closed swallows lines, which a cell with several lines may be the sign of.
    if quotes and any(pa.compute.any(pa.compute.match_substring(column, "\n")).as_py() for column in table.columns):
        _find_fault(opener, separator, width)
    return RawTable(names, list(table.columns), notes + [note] * bool(note), decimal, first_row)


def _sniff(start: str, cut: bool) -> tuple[str, list[list[str]]]:
    """The separator and the first rows; ``cut``: the text goes on."""
    lines = list(islice(io.StringIO(start, newline=""), 500))
    lines = lines[:-1] if cut and len(lines) > 1 else lines
    best, best_share, best_rows = ",", 0.0, [[""]]
    for separator in _SEPARATORS:
        rows = _parsed(lines, separator)
        width = len(rows[0])
        share = float(np.mean([len(row) == width for row in rows])) if width > 1 else 0.0
        # Commas only win by being clearly more regular: they stand within numbers and sentences.
        if share > best_share + (0.1 if best_share else 0.0):
            best, best_share, best_rows = separator, share, rows
    return best, best_rows if best_share else _parsed(lines, best)


def _parsed(lines: list[str], separator: str) -> list[list[str]]:
    try:
        rows = [[cell.strip() for cell in row] for row in csv.reader(lines, delimiter=separator) if row]
    except csv.Error:  # a very long cell: an open quote, found when the file is read
        rows = [line.rstrip("\r\n").split(separator) for line in lines]
    return rows or [[""]]


def _decimal(separator: str, rows: list[list[str]]) -> str:
    """Whether decimals follow a comma; in a table separated by semicolons they do unless points are seen."""
    cells = [cell for row in rows for cell in row]
    comma = sum(bool(re.fullmatch(r"[+-]?\d+,\d+", cell)) for cell in cells)
    point = sum(bool(re.fullmatch(r"[+-]?\d+\.\d+", cell)) for cell in cells)
    return "," if separator != "," and comma > point else "."


def _is_header(rows: Sequence[Sequence[Any]]) -> bool:
    """Whether the first row holds names: no numbers with decimals, not only numbers, no text found below again."""
    first = ["" if cell is None else str(cell) for cell in rows[0]]
    numbers = [cell for cell in first if _NUMBER.fullmatch(cell)]
    if not numbers:
        return True
    if len(numbers) == sum(cell not in MISSING for cell in first) or any(re.search(r"[.,eE]", n) for n in numbers):
        return False
    return not any(
        cell not in MISSING and cell not in numbers and any(j < len(row) and row[j] == cell for row in rows[1:])
        for j, cell in enumerate(first)
    )


def _names(cells: Sequence[Any] | None, width: int, notes: list[str]) -> list[str]:
    """A name for each column, all different."""
    if cells is None:
        notes.append("row 1 holds values, not names; columns are called column 1, column 2, ...")
        return [f"column {j + 1}" for j in range(width)]
    names: list[str] = []
    for j, cell in enumerate(cells):
        name = " ".join(str("" if cell is None else cell).split())
        if not name:
            notes.append(f"the column at place {j + 1} has no name; it is called column {j + 1}")
            name = f"column {j + 1}"
        if name in names:
            again = next(new for k in range(2, width + 2) if (new := f"{name} ({k})") not in names)
            notes.append(f"there are several columns {name!r}; the one at place {j + 1} is called {again!r}")
            name = again
        names.append(name)
    return names


def _find_fault(opener: Callable[[], Utf8Stream], separator: str, width: int) -> None:
    """Look for the row that is wrong, line by line, and complain."""
    with opener() as file, io.TextIOWrapper(io.BufferedReader(file), "utf-8", newline="") as text:
        reader = csv.reader(text, delimiter=separator, strict=True)
        row = 1
        try:
            for cells in reader:
                if cells and len(cells) != width:
                    raise Fault(
                        f", row {row + file.skipped}: {len(cells)} cells but {width} columns; "
                        "correct the row, or put cells that contain the separator in quotes"
                    )
                row = reader.line_num + 1
        except csv.Error as error:
            raise Fault(f", row {row + file.skipped}: quotes that do not match; close or double them") from error


def _json_lines(opener: Callable[[], Utf8Stream], max_rows: int | None) -> RawTable:
    with opener() as file:
        try:
            table = pa.json.read_json(io.BufferedReader(file, _BLOCK), pa.json.ReadOptions(block_size=_BLOCK))
        except pa.ArrowInvalid as error:
            _find_json_fault(opener)
            raise Fault(f" cannot be read ({in_one_line(error)}); write one JSON object per line") from error
        notes = [file.note] * bool(file.note)
    return _from_arrow(table.slice(0, max_rows), notes)


def _find_json_fault(opener: Callable[[], Utf8Stream]) -> None:
    """Look for the line that is wrong, and complain."""
    kinds: dict[str, type] = {}
    with opener() as file:
        for row, line in enumerate(io.BufferedReader(file), start=1):
            try:
                cells = json.loads(line) if line.strip() else {}
            except ValueError as error:
                raise Fault(f", row {row}: {in_one_line(error)}; write one JSON object per line") from error
            if not isinstance(cells, dict):
                raise Fault(f", row {row}: no JSON object; write one JSON object per line")
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
            raise Fault(f" is no JSON ({in_one_line(error)}); write one JSON object per line") from error
    if not rows or not all(isinstance(row, dict) for row in rows):
        raise Fault(" is no list of JSON objects; write one JSON object per line")
    rows = rows[:max_rows]
    names = list(dict.fromkeys(name for row in rows for name in row))
    arrays = [_cells([row.get(name) for row in rows]) for name in names]
    return RawTable(_names(names, len(names), notes := ["one JSON array, not JSON lines"]), arrays, notes)


def _parquet(opener: Callable[[], BinaryIO], max_rows: int | None) -> RawTable:
    with opener() as file:
        try:
            # A part of a gzip cannot be jumped to.
            parquet = pa.parquet.ParquetFile(file if file.seekable() else io.BytesIO(file.read()))
            batches, n_rows = [], 0
            for batch in parquet.iter_batches(1 << 16):
                batches.append(batch)
                n_rows += len(batch)
                if max_rows is not None and n_rows >= max_rows:
                    break
            table = pa.Table.from_batches(batches, parquet.schema_arrow)
        except (pa.ArrowException, OSError) as error:
            raise Fault(f" is damaged Parquet ({in_one_line(error)}); fetch or save it again") from error
    return _from_arrow(table.slice(0, max_rows), [])


def _from_arrow(table: Any, notes: list[str]) -> RawTable:
    return RawTable(_names(table.column_names, table.num_columns, notes), list(table.columns), notes)


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
                f" is no Excel file or damaged ({in_one_line(error)}); save it again as .xlsx or CSV"
            ) from error
    if not numbered:
        raise Fault(" holds no values; name another sheet, or fill this one")
    notes = [f"read from sheet {name!r} of {len(names)}"] if len(names) > 1 and sheet is None else []
    first_row, rows = _below_titles(numbered, notes)
    header = _is_header(rows)
    titles = _names(rows[0] if header else None, len(rows[0]), notes)
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
