"""Writes files that people really have and no reader likes, and says what should be said about each."""

from __future__ import annotations

import gzip
import io
import zipfile
from pathlib import Path

import pandas as pd

GOOD = b"age,coat,born\n3,long,2020-01-31\n5,short,2019-07-12\n4,long,2018-05-13\n"


def _parquet() -> bytes:
    return bytes(pd.read_csv(io.BytesIO(GOOD)).to_parquet())


def _excel() -> bytes:
    file = io.BytesIO()
    pd.read_csv(io.BytesIO(GOOD)).to_excel(file, index=False)
    return file.getvalue()


def _zip(name: str, data: bytes) -> bytes:
    file = io.BytesIO()
    with zipfile.ZipFile(file, "w") as archive:
        archive.writestr(name, data)
    return file.getvalue()


def write_refused(folder: Path) -> dict[str, tuple[Path, str]]:
    """Files that must be refused: what each is, and a pattern that the message must match after the file's name."""
    lines = "\n".join(f'{{"a": {i}, "b": "x"}}' for i in range(5))
    files: dict[str, tuple[bytes, str]] = {
        "empty.csv": (b"", " is empty; it needs"),
        "blank.csv": (b"\n  \n\n", " is empty; it needs"),
        "mark_only.csv": (b"\xef\xbb\xbf", " is empty; it needs"),
        "header_only.csv": (b"age,coat\n", " has column names but no rows; add rows"),
        "one_word.csv": (b"age", " has column names but no rows; add rows"),
        "header_only.parquet": (
            bytes(pd.DataFrame({"a": [1.0]}).head(0).to_parquet()),
            " has column names but no rows",
        ),
        "long_row.csv": (GOOD + b"1,long,2020-01-01,9\n", ", row 5: 4 cells but 3 columns; correct the row"),
        "short_row.csv": (GOOD + b"1,long\n" + GOOD[15:], ", row 5: 2 cells but 3 columns; correct the row"),
        "after_blank_lines.csv": (b"\n\n" + GOOD + b"1\n", ", row 7: 1 cells but 3 columns"),
        "late_row.csv": (GOOD + GOOD[14:] * 50_000 + b"1,2\n", r", row 150005: 2 cells but 3 columns"),
        "open_quote.csv": (b'a,b\n1,"x\n2,y\n3,z\n', ", row 2: quotes that do not match; close or double"),
        "open_quote_middle.csv": (b'a,b\n1,"x\n2,"y"\n3,z\n', ", row 2: quotes that do not match; close or double"),
        "huge_open_quote.csv": (
            b'a,b\n1,"x\n' + b"2,y\n" * 50_000,
            ", row 2: a cell of more than 131,072 characters; close",
        ),
        "nul.csv": (
            GOOD + GOOD[14:] * 9 + b"3,lo\0ng,2020-01-31\n",
            ", row 32: NUL bytes in the text; the file is damaged",
        ),
        "picture.csv": (b"\x89PNG\r\n\x1a\n" + bytes(range(256)) * 20, " is not text, Parquet or Excel; export"),
        "document.csv": (b"%PDF-1.4\n%\xe2\xe3\n1 0 obj", " is a PDF; export the table as CSV"),
        "old.xls": (b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1" + bytes(600), " is an old Excel file; save it as .xlsx or CSV"),
        "database.csv": (b"SQLite format 3\0" + bytes(100), " is an SQLite database; export a table"),
        "page.csv": (
            b"<!DOCTYPE html>\n<html><body>Log in</body></html>",
            " is a web page or XML, not a table; download",
        ),
        "cut.csv.gz": (gzip.compress(GOOD * 500)[:-20], " is damaged gzip .*; fetch or save it again"),
        "broken.csv.gz": (b"\x1f\x8b\x08\0\0\0\0\0\0\x03" + b"rubbish" * 9, " is damaged gzip .*; fetch or save"),
        "cut.parquet": (_parquet()[:-30], " is damaged Parquet .*; fetch or save it again"),
        "broken.parquet": (b"PAR1" + bytes(50) + b"PAR1", " is damaged Parquet .*; fetch or save it again"),
        "cut.xlsx": (_excel()[:-200], " is not an Excel file, or is damaged .*; save it again"),
        "unknown_packing.xlsx": (
            _excel().replace(b"PK\x01\x02\x14\x03\x14\0\0\0\x08\0", b"PK\x01\x02\x14\x03\x14\0\0\0\x63\0"),
            " is not an Excel file, or is damaged .*; save it again",
        ),
        "archive.xlsx": (_zip("data.csv", GOOD), " is not an Excel file, or is damaged .*; save it again"),
        "torn.jsonl": (f"{lines}\n{{'a': 1}}\n".encode(), ", row 6: .*; write one JSON object per line"),
        "mixed.jsonl": (f'{lines}\n{{"a": "many"}}\n'.encode(), ", row 6, column 'a': str where float stood before"),
        "list.jsonl": (f"{lines}\n[1, 2]\n".encode(), ", row 6: not a JSON object; write one JSON object per line"),
        "numbers.json": (b"[[1, 2], [3, 4]]", " is not a list of JSON objects; write one"),
        "cut.json": (b'[{"a": 1}, {"a": ', " is not JSON .*; write one JSON object per line"),
        "cut_utf16.csv": ("a;b\n1;ä\n".encode("utf-16")[:-1], ", row .*: not UTF-16 text; save the file as UTF-8"),
    }
    return {name: (_written(folder / name, data), pattern) for name, (data, pattern) in files.items()}


def write_mended(folder: Path) -> dict[str, tuple[Path, str]]:
    """Files that hold ``GOOD`` in spite of all, and a pattern that one of the notes must match, "" for no note."""
    text = GOOD.decode()
    files: dict[str, tuple[bytes, str]] = {
        "marked.csv": (b"\xef\xbb\xbf" + GOOD, ""),
        "utf16.csv": (text.encode("utf-16"), ""),
        "utf16_unmarked.csv": (text.encode("utf-16-le"), ""),
        "utf16_big.csv": (text.encode("utf-16-be"), ""),
        "windows_lines.csv": (GOOD.replace(b"\n", b"\r\n"), ""),
        "old_mac_lines.csv": (GOOD.replace(b"\n", b"\r"), ""),
        "blank_lines.csv": (b"\n\n" + GOOD.replace(b"\n", b"\n\n"), ""),
        "no_last_newline.csv": (GOOD.rstrip(), ""),
        "semicolons.csv": (GOOD.replace(b",", b";"), "separated by semicolons"),
        "told.csv": (b"sep=;\r\n" + GOOD.replace(b",", b";"), "separated by semicolons"),
        "tabs.txt": (GOOD.replace(b",", b"\t"), "separated by tabs"),
        "bars.csv": (GOOD.replace(b",", b"|"), "separated by bars"),
        "blanks.csv": (GOOD.replace(b",", b" , "), ""),
        "quoted.csv": (
            b'"age","coat","born"\n' + b'"3","long","2020-01-31"\n"5","short","2019-07-12"\n' + GOOD[-18:],
            "",
        ),
        "packed.csv.gz": (gzip.compress(GOOD), ""),
        "packed.csv": (gzip.compress(GOOD), ""),
        "really_parquet.csv": (_parquet(), ""),
        "packed.parquet.gz": (gzip.compress(_parquet()), ""),
        "really_excel.csv": (_excel(), ""),
        "array.jsonl": (pd.read_csv(io.BytesIO(GOOD)).to_json(orient="records").encode(), "one JSON array"),
        "lines.csv": (pd.read_csv(io.BytesIO(GOOD)).to_json(orient="records", lines=True).encode(), ""),
    }
    return {name: (_written(folder / name, data), pattern) for name, (data, pattern) in files.items()}


def _written(path: Path, data: bytes) -> Path:
    path.write_bytes(data)
    return path
