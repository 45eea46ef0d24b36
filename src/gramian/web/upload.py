"""Tables that come in as forms: written to disk while they arrive, and counted.

The name that the client gives a file is shown to people. It names nothing on disk: the file is called ``table``, with
an ending from a fixed list.
"""

from __future__ import annotations

import re
from collections.abc import AsyncIterator
from pathlib import Path
from typing import IO

from python_multipart.exceptions import FormParserError
from python_multipart.multipart import MultipartParser, parse_options_header
from starlette.exceptions import HTTPException

from gramian.web.guard import FORM_BYTES, too_large

SUFFIXES = (".csv", ".tsv", ".txt", ".parquet", ".xlsx", ".jsonl", ".ndjson", ".json", ".zip", ".npz")
"""Endings that stored tables may have, also with ``.gz``; a file is known by its content, so any other becomes .txt."""

_LONGEST_NAME = 120
_FIELDS = 10


def stored_name(name: str) -> str:
    """The name on disk of a table that the client calls ``name``."""
    match = re.search(r"(\.[a-z]+?)(\.gz)?\Z", name.lower())
    suffix, packed = match.groups() if match else (None, None)
    return f"table{suffix if suffix in SUFFIXES else '.txt'}{packed or ''}"


def shown_name(name: str) -> str:
    """A client's file name as people see it: no folders, nothing unprintable."""
    last = re.split(r"[\\/]", name)[-1]
    return "".join(c for c in last if c.isprintable()).strip()[:_LONGEST_NAME] or "table"


class Form:
    """A multipart form with one file, which goes straight to a folder.

    Parameters
    ----------
    content_type : str
        Header of the request, which has the boundary.
    folder : Path
        Where the file goes.
    max_bytes : int
        Of the file.

    Attributes
    ----------
    fields : dict from str to str
    name, table : str
        The file's name for people and on disk; empty until it has begun.
    """

    def __init__(self, content_type: str, folder: Path, max_bytes: int) -> None:
        kind, options = parse_options_header(content_type)
        boundary = options.get(b"boundary")
        if kind != b"multipart/form-data" or not boundary:
            raise HTTPException(400, "the upload is not a form; send multipart/form-data with a part called file")
        self.fields: dict[str, str] = {}
        self.name = self.table = ""
        self._folder, self._max_bytes, self._size = folder, max_bytes, 0
        self._file: IO[bytes] | None = None
        self._header = self._value = b""
        self._disposition = b""
        self._field, self._text = "", bytearray()
        self._ended = False
        try:
            self._parser = MultipartParser(
                boundary,
                {
                    "on_part_begin": self._part_begins,
                    "on_header_field": self._header_name,
                    "on_header_value": self._header_value,
                    "on_header_end": self._header_ends,
                    "on_headers_finished": self._headers_end,
                    "on_part_data": self._part_data,
                    "on_part_end": self._part_ends,
                    "on_end": self._form_ends,
                },
            )
        except FormParserError as error:
            raise _malformed(error) from error

    async def read(self, chunks: AsyncIterator[bytes]) -> None:
        """Take the form in as it arrives."""
        try:
            async for chunk in chunks:
                self._parser.write(chunk)
            self._parser.finalize()
        except FormParserError as error:
            raise _malformed(error) from error
        finally:
            if self._file is not None:
                self._file.close()
        if not self._ended:
            raise HTTPException(400, "the upload ended too early; send it again")
        if not self.table:
            raise HTTPException(422, "no table was sent; choose a file")

    def _part_begins(self) -> None:
        self._disposition = self._header = self._value = b""
        self._text = bytearray()

    def _header_name(self, data: bytes, start: int, end: int) -> None:
        self._header += data[start:end]

    def _header_value(self, data: bytes, start: int, end: int) -> None:
        self._value += data[start:end]

    def _header_ends(self) -> None:
        if self._header.lower() == b"content-disposition":
            self._disposition = self._value
        self._header = self._value = b""

    def _headers_end(self) -> None:
        _, options = parse_options_header(self._disposition)
        self._field = options.get(b"name", b"").decode("utf-8", "replace")
        if self._field != "file":
            return
        if self.table:
            raise HTTPException(422, "two tables were sent; send one at a time")
        name = options.get(b"filename", b"").decode("utf-8", "replace")
        if name:  # a browser sends an empty one if no file was chosen
            self.name, self.table = shown_name(name), stored_name(name)
            self._file = (self._folder / self.table).open("wb")

    def _part_data(self, data: bytes, start: int, end: int) -> None:
        if self._field == "file":
            self._size += end - start
            if self._size > self._max_bytes:
                raise HTTPException(413, too_large(self._max_bytes))
            if self._file is not None:
                self._file.write(data[start:end])
            return
        self._text += data[start:end]
        if len(self._text) > FORM_BYTES:
            raise HTTPException(413, f"the field {self._field[:40]!r} is too long")

    def _part_ends(self) -> None:
        if self._field != "file":
            self.fields[self._field] = self._text.decode("utf-8", "replace")
            if len(self.fields) > _FIELDS:
                raise HTTPException(422, f"the form has more than {_FIELDS} fields")

    def _form_ends(self) -> None:
        self._ended = True


def _malformed(error: Exception) -> HTTPException:
    return HTTPException(400, f"the upload is not a valid form ({' '.join(str(error).split())[:200]}); send it again")
