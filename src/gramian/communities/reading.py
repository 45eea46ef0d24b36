"""Edge lists to networks: text of two or three columns, with or without a line of names, gzipped or not; GraphML.

Files are known by their content. A line that is no edge is named with its number. Objects in memory go to
:mod:`gramian.communities.graphs`; the analysis, the model and the command line read edges here.
"""

from __future__ import annotations

import csv
import gzip
import io
import os
import re
import sys
import zlib
from array import array
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from itertools import chain, islice
from pathlib import Path
from typing import Any, cast

import numpy as np

from gramian.communities.columns import checked_weight, end_columns, frame_edges, is_number
from gramian.communities.edges import Edges, UnreadableEdges
from gramian.communities.graphs import graph_edges, graphml_edges
from gramian.exploration.wording import count
from gramian.typing import Array

_COMMENTS = ("#", "%")
_SEPARATORS = {"\t": "tabs", ",": "commas", ";": "semicolons", "|": "bars"}
_HEAD = 4096
_XML = (b"<?xml", b"<graphml", b"<!")
_QUOTED = re.compile(r'"(?:[^"]|"")*"')
_SHAPE = "'u v' or 'u v weight'"


def read_edges(source: Any, *, weighted: bool = True) -> Edges:
    """Read a network.

    Parameters
    ----------
    source : path, open file, SciPy sparse or array, pandas or polars data frame, networkx or igraph graph
        ``"-"`` is the standard input. A file has one edge per line, ``u v`` or ``u v weight``, separated by blanks,
        tabs, commas, semicolons or bars; lines that begin with # or % are comments. A first line with names of columns
        is welcome, and then further columns, too. UTF-8, gzipped or not, or GraphML, which needs networkx. Names of
        nodes stay texts: 01 and 1 are two nodes.
    weighted : bool, default True
        Whether to read weights.

    Returns
    -------
    edges : Edges

    Raises
    ------
    UnreadableEdges
        If the file is missing, damaged or no edge list, with the line and the remedy.

    Examples
    --------
    >>> import io
    >>> edges = read_edges(io.StringIO("source,target,weight\\n01,1,0.5\\n1,2,3\\n"))
    >>> edges.nodes, edges.weights
    (['01', '1', '2'], array([0.5, 3. ]))
    >>> read_edges(io.StringIO("a b\\nb c\\nc\\n"))
    Traceback (most recent call last):
        ...
    gramian.communities.edges.UnreadableEdges: file, line 3: 1 field; write 'u v' or 'u v weight', with 2 fields ...
    """
    if isinstance(source, Edges):
        return source
    if not isinstance(source, str | os.PathLike) and not hasattr(source, "read"):
        found = frame_edges(source, weighted) if hasattr(source, "columns") else graph_edges(source, weighted)
    else:
        found = _file_edges(source, weighted)
    if not found.ends.shape[1]:
        raise UnreadableEdges(f"{found.source} holds no edges; write one {_SHAPE} per line")
    return found


# Files ---------------------------------------------------------------------------------------------------------------


def _file_edges(source: Any, weighted: bool) -> Edges:
    if hasattr(source, "read"):
        name = Path(str(getattr(source, "name", "file"))).name
    else:
        name = "standard input" if source == "-" else Path(source).name or str(source)
    try:
        with _opened(source) as file:
            head = file.peek(_HEAD)[:_HEAD]
            if head.lstrip(b"\xef\xbb\xbf \t\r\n").lower().startswith(_XML):
                return graphml_edges(file, name, weighted)
            if head.startswith(b"%%MatrixMarket"):
                raise UnreadableEdges(
                    f"{name} is a MatrixMarket file; read it by scipy.io.mmread and pass the matrix to gramian.network"
                )
            if b"\x00" in head:
                raise UnreadableEdges(f"{name} is not text; write one {_SHAPE} per line, in UTF-8")
            with io.TextIOWrapper(file, encoding="utf-8-sig", newline="") as text:
                return _text_edges(text, name, weighted)
    except FileNotFoundError as error:
        raise UnreadableEdges(f"{name} does not exist; check the path") from error
    except IsADirectoryError as error:
        raise UnreadableEdges(f"{name} is a folder; name a file in it") from error
    except PermissionError as error:
        raise UnreadableEdges(f"{name} may not be read by this user; change its permissions or copy it") from error
    except (zlib.error, EOFError, gzip.BadGzipFile) as error:
        raise UnreadableEdges(f"{name} is damaged gzip ({error}); fetch or save it again") from error


@contextmanager
def _opened(source: Any) -> Iterator[io.BufferedReader[Any]]:
    """The bytes, unpacked; the standard input and files that were open are read whole and stay open."""
    if isinstance(source, str | os.PathLike) and source != "-":
        raw: Any = Path(source).open("rb")  # noqa: SIM115, closed below
    else:
        content = (sys.stdin.buffer if source == "-" else source).read()
        raw = io.BufferedReader(io.BytesIO(content.encode() if isinstance(content, str) else content))
    with raw:
        packed = raw.peek(2)[:2] == b"\x1f\x8b"
        yield io.BufferedReader(cast(Any, gzip.GzipFile(fileobj=raw))) if packed else raw


class _Lines:
    """Lines that are neither empty nor comments, counted from 1 with those that are."""

    def __init__(self, file: io.TextIOBase, name: str) -> None:
        self.file, self.name, self.number = file, name, 0

    def __iter__(self) -> Iterator[str]:
        try:
            for line in self.file:
                self.number += 1
                if not line.isspace() and not line.startswith(_COMMENTS):
                    yield line
        except UnicodeDecodeError as error:
            raise UnreadableEdges(
                f"{self.name}, after line {self.number}: not UTF-8 text; save the file as UTF-8"
            ) from error

    def fields(self) -> tuple[str | None, Iterator[tuple[int, list[str]]]]:
        """What separates fields, found out from the first line, and the number and the fields of each line."""
        every = iter(self)
        first = next(every, "")
        bare = _QUOTED.sub("", first.strip())
        separator = next((mark for mark in _SEPARATORS if mark in bare), None)
        return separator, self._split(chain([first] if first else [], every), separator)

    def _split(self, every: Iterator[str], separator: str | None) -> Iterator[tuple[int, list[str]]]:
        if separator is None:
            yield from ((self.number, line.split()) for line in every)
            return
        try:
            for fields in csv.reader(every, delimiter=separator, strict=True, skipinitialspace=True):
                yield self.number, [field.strip() for field in fields]
        except csv.Error as error:
            raise self.fault(self.number, f"{error}; correct the quotes in this line") from error

    def fault(self, number: int, text: str) -> UnreadableEdges:
        return UnreadableEdges(f"{self.name}, line {number}: {text}")


def _text_edges(file: io.TextIOBase, name: str, weighted: bool) -> Edges:
    lines = _Lines(file, name)
    separator, rows = lines.fields()
    ahead = list(islice(rows, 2))
    if not ahead:
        raise UnreadableEdges(f"{name} holds no edges; write one {_SHAPE} per line")
    number, head = ahead[0]
    places = _named_columns(head, ahead[1][1] if len(ahead) > 1 else [], weighted)
    notes = [] if separator is None else [f"columns are separated by {_SEPARATORS[separator]}"]
    if places is not None:
        notes.append(f"the first line has names; columns read: {', '.join(head[place] for place in places)}")
        ahead = ahead[1:]
    elif len(head) not in (2, 3):
        raise lines.fault(number, f"{_fields(head)}; write {_SHAPE}, or a first line with the names of the columns")
    else:
        places = (0, 1, 2) if len(head) == 3 and weighted else (0, 1)
    nodes, ends, weights = _collected(lines, chain(ahead, rows), len(head), places)
    return Edges(name, nodes, ends, weights, len(places) == 3, notes)


def _fields(fields: Sequence[str]) -> str:
    return count(len(fields), "field")


def _named_columns(head: list[str], below: list[str], weighted: bool) -> tuple[int, ...] | None:
    """The places of the two ends, and of the weight if there is one, if the first line has names of columns."""
    places = end_columns(head, letters=False)
    if places is None:
        # Names that are not known are told from nodes by what stands below them.
        named_weight = len(head) == len(below) == 3 and not is_number(head[2]) and is_number(below[2])
        codes = len(below) > 1 and all(map(is_number, below[:2])) and not any(map(is_number, head[:2]))
        if not (named_weight or codes):
            return None
        places = (0, 1, 2) if named_weight else (0, 1)
    return places if weighted else places[:2]


def _collected(
    lines: _Lines, rows: Iterator[tuple[int, list[str]]], width: int, places: tuple[int, ...]
) -> tuple[list[str], Array, Array]:
    """Names, ends and weights of all lines; a line that is no edge is named."""
    index: dict[str, int] = {}
    one, other, weights = array("q"), array("q"), array("d")
    a, b = places[:2]
    for number, fields in rows:
        if len(fields) != width:
            raise lines.fault(
                number, f"{_fields(fields)}; write {_SHAPE}, with {count(width, 'field')} as in the lines before"
            )
        if not fields[a] or not fields[b]:
            raise lines.fault(number, "the name of a node is empty; write both ends of the edge")
        one.append(index.setdefault(fields[a], len(index)))
        other.append(index.setdefault(fields[b], len(index)))
        if len(places) == 3:
            try:
                weights.append(checked_weight(fields[places[2]]))
            except ValueError as error:
                raise lines.fault(number, str(error)) from None
    ends = np.array([one, other], dtype=np.int64).reshape(2, -1)
    return list(index), ends, np.array(weights) if len(places) == 3 else np.ones(ends.shape[1])
