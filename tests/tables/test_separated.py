"""Separated text: separator, names, cells, and the row that is wrong."""

import io
import tracemalloc

import pytest

from gramian.tables.separated import column_names, is_header, read_separated
from gramian.tables.streams import BLOCK, Fault, Utf8Stream


def read(data, max_rows=None):
    return read_separated(lambda: Utf8Stream(io.BytesIO(data), "utf-8", longest_line=BLOCK), max_rows)


def refused(data, match):
    """Read a table that is refused, without taking much memory beside it."""
    tracemalloc.start()
    try:
        with pytest.raises(Fault, match=match):
            read(data)
        assert tracemalloc.get_traced_memory()[1] < 60e6
    finally:
        tracemalloc.stop()


@pytest.mark.parametrize("encoding", ["cp1252", "latin-1", "utf-8"])
def test_names_are_decoded_as_cells_are(encoding):
    """Names of a Windows-1252 file were full of U+FFFD once."""
    table = read("größe;café\nüber;1\nnaïve;2\n".encode(encoding))
    assert table.names == ["größe", "café"]
    assert table.arrays[0].to_pylist() == ["über", "naïve"]
    assert bool(table.notes[1:]) == (encoding != "utf-8")


def test_a_very_long_line_is_called_that():
    """A line of 50 MB is no matter of quotes; it is refused after its first four."""
    refused(b"a,b\n" + b"x" * 50_000_000 + b"\n", r"^, row 2: a line of more than 4,194,304 characters; write each row")


def test_a_line_of_very_many_cells_is_counted():
    """Two million cells are two million, not 131073; they stop being read at the longest line."""
    refused(b"1," * 1_999_999 + b"1\n", r"^, row 1: 2,000,000 cells, and a table may have 100,000 columns; write each")
    refused(b"12345," * 1_999_999 + b"1\n", r"^, row 1: a line of more than 4,194,304 characters; write each row")


@pytest.mark.parametrize(("separator", "word"), [(";", "semicolons"), ("\t", "tabs"), ("|", "bars")])
def test_separators(separator, word):
    table = read(separator.join("ab").encode() + b"\n" + separator.join(("1,5", "2")).encode() + b"\n")
    assert table.names == ["a", "b"]
    assert (table.notes, table.decimal) == ([f"columns are separated by {word}, decimals by a comma"], ",")


def test_a_comma_wins_only_if_it_is_more_regular():
    assert read(b"a;b\n1,2;3,4\n5,6;7,8\n").names == ["a", "b"]
    assert read(b"a,b\n1;2,3\n4,5\n").names == ["a", "b"]


def test_rows_are_cut_at_the_number_asked_for():
    data = b"a,b\n" + b"1,2\n" * 100
    assert len(read(data, 7).arrays[0]) == 7
    assert len(read(data).arrays[0]) == 100


@pytest.mark.parametrize("data", [b"a,b\n", b"a,b", b"a,b\n\n\n"])
def test_names_alone_are_a_table_without_rows(data):
    """One of many files may have none; whoever needs rows refuses it."""
    found = read(data)
    assert found.names == ["a", "b"]
    assert [(len(array), str(array.type)) for array in found.arrays] == [(0, "string")] * 2


@pytest.mark.parametrize(
    ("data", "match"),
    [
        (b"a,b\n1,2\n3\n", ", row 3: 1 cells but 2 columns; correct the row"),
        (b'a,b\n1,"x\n2,y\n', ", row 2: quotes that do not match"),
        (b'a,b\n1,"' + b"x\n" * 70_000, ", row 2: a cell of more than 131,072 characters; close the quotes"),
    ],
)
def test_wrong_rows_are_named(data, match):
    refused(data, match)


@pytest.mark.parametrize(
    ("rows", "header"),
    [
        ([["a", "b"], ["1", "2"]], True),
        ([["1", "2"], ["3", "4"]], False),
        ([["country", "2019"], ["chad", "1"]], True),
        ([["x", "2019"], ["x", "1"]], False),
        ([["x", "1.5"], ["y", "2"]], False),
    ],
)
def test_the_line_of_names(rows, header):
    assert is_header(rows) is header


def test_names_differ():
    notes = []
    assert column_names(["a", " a ", "", None, "b  c"], 5, notes) == ["a", "a (2)", "column 3", "column 4", "b c"]
    assert len(notes) == 3
    assert column_names(None, 2, notes) == ["column 1", "column 2"]
