"""Separated text to columns: the separator, the line of names, the cells, and the row that is wrong.

Used by :mod:`gramian.tables.formats`; the rules for names and for the line of names serve Excel sheets too.
"""

from __future__ import annotations

import csv
import io
import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import islice
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.csv

from gramian.tables.streams import BLOCK, Fault, Utf8Stream, in_one_line, read_by_arrow
from gramian.tables.texts import MISSING

_HEAD = 1 << 18  # bytes from which separator and names are told
_MOST_COLUMNS = 100_000
_SEPARATORS = ("\t", ";", "|", ",")  # a comma last: it stands in numbers too
_NUMBER = re.compile(r"[+-]?(\d+([.,]\d*)?|[.,]\d+)([eE][+-]?\d+)?")


@dataclass
class RawTable:
    """Columns as the file has them."""

    names: list[str]
    arrays: list[Any]
    notes: list[str]
    decimal: str = "."
    first_row: int = 1  # number of the first row of values, as a spreadsheet counts


def read_separated(opener: Callable[[], Utf8Stream], max_rows: int | None) -> RawTable:
    """Read separated text."""
    start, cut = _beginning(opener)
    separator, rows = _sniff(start, cut)
    width, notes = len(rows[0]), []
    decimal = _decimal(separator, rows[1:])
    if separator != "," and width > 1:
        words = {";": "semicolons", "\t": "tabs", "|": "bars"}[separator]
        notes.append(f"columns are separated by {words}" + (", decimals by a comma" if decimal == "," else ""))
    header = is_header(rows)
    names = column_names(rows[0] if header else None, width, notes)
    empty = RawTable(names, [pa.array([], pa.string()) for _ in names], notes)
    if header and len(rows) == 1 and not cut:
        return empty
    codes = [code for code in MISSING if code != "-"]  # left to the columns, since it may be one of + and -
    read_options = pa.csv.ReadOptions(column_names=names, skip_rows_after_names=int(header), block_size=BLOCK)
    parse_options = pa.csv.ParseOptions(delimiter=separator, newlines_in_values=True)
    convert_options = pa.csv.ConvertOptions(
        column_types=dict.fromkeys(names, pa.string()), null_values=codes, strings_can_be_null=True
    )

    def batches_of(lent: Any) -> list[Any]:
        reader = pa.csv.open_csv(lent, read_options, parse_options, convert_options)
        batches, n_rows = [], 0
        for batch in reader:
            batches.append(batch)
            n_rows += len(batch)
            if max_rows is not None and n_rows >= max_rows:
                break
        return batches

    with opener() as file:
        try:
            batches = read_by_arrow(file, batches_of)
        except pa.ArrowInvalid as error:
            _find_fault(opener, separator, width)
            raise Fault(f" cannot be read ({in_one_line(error)}); save it as plain CSV") from error
        quotes, note, first_row = file.quotes, file.note, 1 + file.skipped + header
    if not any(len(batch) for batch in batches):
        return empty
    table = pa.Table.from_batches(batches).slice(0, max_rows)
    # A quote that is not closed swallows lines, which a cell with several lines may be the sign of.
    if quotes and any(pa.compute.any(pa.compute.match_substring(column, "\n")).as_py() for column in table.columns):
        _find_fault(opener, separator, width)
    return RawTable(names, list(table.columns), notes + [note] * bool(note), decimal, first_row)


def _beginning(opener: Callable[[], Utf8Stream]) -> tuple[str, bool]:
    """The first lines, at least one, and whether the text goes on.

    They come through the stream that the cells come through, so that names and values are decoded alike.
    """
    with opener() as file, io.BufferedReader(file, _HEAD) as reader:
        head = reader.read(_HEAD)
        while not re.search(rb"[\r\n]", head) and (more := reader.read(_HEAD)):
            head += more
        first = re.split(rb"[\r\n]", head, maxsplit=1)[0]
        cells = 1 + max(first.count(separator.encode()) for separator in _SEPARATORS)
        if cells > _MOST_COLUMNS:
            raise Fault(
                f", row {1 + file.skipped}: {cells:,} cells, and a table may have {_MOST_COLUMNS:,} columns; "
                "write each row on a line of its own, or leave columns out"
            )
        return head.decode("utf-8", "ignore"), bool(reader.read(1))


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


def is_header(rows: Sequence[Sequence[Any]]) -> bool:
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


def column_names(cells: Sequence[Any] | None, width: int, notes: list[str]) -> list[str]:
    """A name for each column, all different."""
    if cells is None:
        notes.append("row 1 holds values, not names; columns are called column 1, column 2, ...")
        return [f"column {j + 1}" for j in range(width)]
    names: dict[str, None] = {}
    for j, cell in enumerate(cells):
        name = " ".join(str("" if cell is None else cell).split())
        if not name:
            notes.append(f"the column at place {j + 1} has no name; it is called column {j + 1}")
            name = f"column {j + 1}"
        if name in names:
            again = next(new for k in range(2, width + 2) if (new := f"{name} ({k})") not in names)
            notes.append(f"there are several columns {name!r}; the one at place {j + 1} is called {again!r}")
            name = again
        names[name] = None
    return list(names)


def _find_fault(opener: Callable[[], Utf8Stream], separator: str, width: int) -> None:
    """Look for the row that is wrong, line by line, and raise what is wrong with it."""
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
            where = f", row {row + file.skipped}"
            if "field limit" in str(error):
                most = f"a cell of more than {csv.field_size_limit():,} characters"
                raise Fault(f"{where}: {most}; close the quotes that it opens, or shorten it") from error
            raise Fault(f"{where}: quotes that do not match; close or double them") from error
