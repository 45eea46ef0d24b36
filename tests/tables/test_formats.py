"""File formats are told apart by their content."""

import gzip
import io

import pandas as pd
import pytest

from gramian.tables.formats import opener_of, read_raw
from gramian.tables.streams import Fault


def read(data, sheet=None, max_rows=None):
    return read_raw(lambda: io.BytesIO(data), sheet, max_rows)


def cells(table):
    return {name: array.to_pylist() for name, array in zip(table.names, table.arrays, strict=True)}


FRAME = pd.DataFrame({"a": [1.5, 2.5, 4.0], "b": ["x", "y", "x"]})


def excel(**options):
    file = io.BytesIO()
    FRAME.to_excel(file, index=False, **options)
    return file.getvalue()


@pytest.mark.parametrize("packed", [False, True])
@pytest.mark.parametrize("kind", ["parquet", "lines", "array", "excel"])
def test_formats_hold_the_same_cells(kind, packed):
    data = {
        "parquet": FRAME.to_parquet(),
        "lines": FRAME.to_json(orient="records", lines=True).encode(),
        "array": FRAME.to_json(orient="records").encode(),
        "excel": excel(),
    }[kind]
    table = read(gzip.compress(data) if packed else data)
    assert cells(table) == {"a": [1.5, 2.5, 4.0], "b": ["x", "y", "x"]}
    assert cells(read(data, max_rows=2)) == {"a": [1.5, 2.5], "b": ["x", "y"]}


def test_text_is_separated_text():
    assert cells(read(b"a,b\n1.5,x\n")) == {"a": ["1.5"], "b": ["x"]}


@pytest.mark.parametrize(
    ("head", "what"),
    [
        (b"%PDF-1.7", " is a PDF; export"),
        (b"BZh91AY", " is compressed by bzip2; unpack it"),
        (b"\xfd7zXZ\0", " is compressed by xz; unpack it"),
        (b"ARROW1\0\0", " is an Arrow file; save it as Parquet"),
        (b"  <?xml version='1.0'?>", " is a web page or XML"),
        (b"\xef\xbb\xbf \r\n", " is empty; it needs"),
        (b"[]", " is not a list of JSON objects"),
        (b'{"a": 1}\n{"a": "x"}\n', ", row 2, column 'a': str where float stood before"),
    ],
)
def test_what_is_no_table_is_named(head, what):
    with pytest.raises(Fault) as caught:
        read(head)
    assert str(caught.value).startswith(what)


def test_rows_of_excel_are_counted_as_it_does():
    table = read(excel(startrow=3, startcol=2))
    assert table.first_row == 5
    assert cells(table)["b"] == ["x", "y", "x"]


def test_a_sheet_is_named_by_its_place_or_name():
    data = excel(sheet_name="data")
    assert cells(read(data, sheet=0)) == cells(read(data, sheet="data"))
    with pytest.raises(Fault, match=r" has no sheet 1; it has 'data'"):
        read(data, sheet=1)


def test_what_can_be_read_once_is_opened_again(tmp_path):
    opener = opener_of("-", io.BytesIO(b"a\n1\n"))
    assert opener().read() == opener().read() == b"a\n1\n"
    (tmp_path / "t.csv").write_bytes(b"b")
    with opener_of(tmp_path / "t.csv", None)() as file:
        assert file.read() == b"b"
