"""The bytes of text files: unpacked, decoded and without marks, in blocks, whatever the file was written in."""

from __future__ import annotations

import codecs
import gzip
import io
import re
import threading
import traceback
import weakref
from collections.abc import Callable
from typing import Any, BinaryIO, TypeVar

import numpy as np

BLOCK = 1 << 22
"""Bytes that Arrow reads at once; it cannot read longer lines."""

_LET_GO = 5.0  # seconds within which Arrow's threads drop a file that has been read

T = TypeVar("T")


class Fault(Exception):
    """What follows the name of the file in a message."""


def in_one_line(error: BaseException) -> str:
    """An error of others in one short line."""
    text = " ".join(str(error).split()) or type(error).__name__
    return text if len(text) <= 120 else text[:117] + "..."


def read_by_arrow(file: Any, read: Callable[[Any], T], *, random_access: bool = False) -> T:
    """Let Arrow read a Python file, and return once its threads have let go of it.

    A thread of Arrow that drops a Python object while Python ends aborts the process ("terminate called without an
    active exception"): it asks for the interpreter's lock, and Python ends the thread inside a destructor of C++. So
    the blocks of a stream are copied to memory of Arrow, and the file itself is waited for.
    """
    import pyarrow as pa  # here, because programs that read no file need none of it

    lent = io.BufferedReader(file, BLOCK)
    let_go = threading.Event()
    weakref.finalize(lent, let_go.set)
    try:
        return read(lent if random_access else pa.BufferedInputStream(pa.PythonFile(lent, "r"), BLOCK))
    except BaseException as error:
        traceback.clear_frames(error.__traceback__)  # they hold the file too
        raise
    finally:
        lent.close()
        del lent
        let_go.wait(_LET_GO)


def unpacked(opener: Callable[[], BinaryIO]) -> BinaryIO:
    return _Gzip(opener())  # type: ignore[return-value]


class _Gzip(gzip.GzipFile):
    """A gzip file that closes the file it reads."""

    def __init__(self, packed: BinaryIO) -> None:
        super().__init__(fileobj=packed, mode="rb")
        self._packed = packed

    def close(self) -> None:
        super().close()
        self._packed.close()


def encoding_of(head: bytes) -> str:
    """UTF-8 unless the first bytes say otherwise."""
    if head[:2] in (b"\xff\xfe", b"\xfe\xff"):
        return "utf-16"
    even, odd = head[0::2].count(0), head[1::2].count(0)
    if max(even, odd) > 0.3 * len(head) and min(even, odd) < 0.01 * len(head):
        return "utf-16-le" if odd > even else "utf-16-be"
    control = np.isin(np.frombuffer(head, np.uint8), [*range(9), *range(14, 32)]).sum()
    if control > 0.01 * len(head):
        raise Fault(" is not text, Parquet or Excel; export the table as CSV")
    return "utf-8"


def _windows_bytes(error: UnicodeError) -> tuple[str, int]:
    """Bytes that are no UTF-8, read as Windows-1252, or as Latin-1 where that has no character either."""
    assert isinstance(error, UnicodeDecodeError)
    wrong = error.object[error.start : error.end]
    return "".join(bytes([b]).decode("cp1252", "ignore") or chr(b) for b in wrong), error.end


codecs.register_error("gramian.windows", _windows_bytes)


def without_preamble(text: str) -> tuple[str, int]:
    """A text without a mark, empty lines and the "sep=;" of Excel at its beginning, and how many lines these were."""
    preamble = re.match(r"\ufeff*[\r\n]*(sep=.[\r\n]+)?", text)
    assert preamble is not None
    return text[preamble.end() :], len(preamble[0].lstrip("\ufeff").splitlines())


class Utf8Stream(io.RawIOBase):
    """The bytes of a text file in UTF-8, whatever they were, without what stands before the table.

    Lines that are longer than ``longest_line``, if it is given, are refused as soon as that many characters are seen.
    """

    def __init__(self, file: BinaryIO, encoding: str, longest_line: int | None = None) -> None:
        self._file, self._encoding, self._longest_line = file, encoding, longest_line
        self._decoder = codecs.getincrementaldecoder(encoding)("strict")
        self._ready = b""
        self._begun, self._ended = False, False
        self._line = 0  # characters of the line that is being read
        self.lines = 0  # read so far
        self.skipped = 0  # lines at the beginning
        self.quotes = False
        self.note = ""

    def readable(self) -> bool:
        return True

    def close(self) -> None:
        self._file.close()
        super().close()

    def readinto(self, buffer: Any) -> int:
        while not self._ready and not self._ended:
            data = self._file.read(1 << 20)
            self._ended = not data
            self._ready = self._decoded(data)
        size = min(len(buffer), len(self._ready))
        buffer[:size], self._ready = self._ready[:size], self._ready[size:]
        return size

    def _decoded(self, data: bytes) -> bytes:
        state = self._decoder.getstate()
        try:
            text = self._decoder.decode(data, self._ended)
        except UnicodeDecodeError as error:
            row = self.lines + 1 + error.object[: error.start].count(b"\n")
            if self._encoding != "utf-8":
                raise Fault(f", row {row}: not {self._encoding.upper()} text; save the file as UTF-8") from error
            self.note = f"row {row} is not UTF-8; what is not was read as Windows-1252"
            self._decoder = codecs.getincrementaldecoder("utf-8")("gramian.windows")
            self._decoder.setstate(state)
            text = self._decoder.decode(data, self._ended)
        if not self._begun:
            text, skipped = without_preamble(text)
            self.skipped += skipped
            self._begun = bool(text)
        if "\0" in text:
            row = self.lines + self.skipped + 1 + text[: text.index("\0")].count("\n")
            raise Fault(f", row {row}: NUL bytes in the text; the file is damaged, fetch or save it again")
        self._measure(text)
        self.lines += text.count("\n")
        self.quotes = self.quotes or '"' in text
        return text.encode()

    def _measure(self, text: str) -> None:
        """Refuse a line without end; blocks are shorter than any limit, so only lines across blocks need a look."""
        ends = [end for end in (text.find("\n"), text.find("\r")) if end >= 0]
        longest = self._line + min(ends, default=len(text))
        if self._longest_line is not None and longest > self._longest_line:
            raise Fault(
                f", row {self.lines + self.skipped + 1}: a line of more than {self._longest_line:,} characters; "
                "write each row on a line of its own"
            )
        last = max(text.rfind("\n"), text.rfind("\r"))
        self._line = longest if last < 0 else len(text) - last - 1
