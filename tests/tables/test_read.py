"""Files of all kinds become the same table, or one line that says where they are wrong."""

from __future__ import annotations

import io
import os
import re
import string
import subprocess
import sys
import threading
from pathlib import Path

import dask.dataframe
import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from gramian.tables.prepare import Preparation
from gramian.tables.read import UnreadableTable, read_table
from gramian.tables.table import Table
from tables.malformed_files import GOOD, write_mended, write_refused


def read(text: str | bytes, **options: object) -> Table:
    data = text.encode() if isinstance(text, str) else text
    return read_table("table.csv", stream=io.BytesIO(data), **options)  # type: ignore[arg-type]


def assert_good(table: Table) -> None:
    assert table.frame["age"].tolist() == [3, 5, 4]
    assert table.frame["coat"].tolist() == ["long", "short", "long"]
    assert table.frame["born"].dt.strftime("%Y-%m-%d").tolist() == ["2020-01-31", "2019-07-12", "2018-05-13"]
    assert table.used == ["age", "coat", "born"]
    assert [str(kind) for kind in table.frame.dtypes] == ["float64", "category", "datetime64[us]"]


def test_refused_files_get_one_line_that_names_the_file_and_the_remedy(tmp_path: Path) -> None:
    files = write_refused(tmp_path)
    assert len(files) >= 20
    for name, (path, pattern) in files.items():
        with pytest.raises(UnreadableTable) as caught:
            read_table(path)
        message = str(caught.value)
        assert re.match(re.escape(name) + pattern, message), message
        assert "\n" not in message
        assert str(tmp_path) not in message
        assert len(message) < 300


def test_mended_files_give_the_table_and_say_what_was_odd(tmp_path: Path) -> None:
    for name, (path, pattern) in write_mended(tmp_path).items():
        table = read_table(path)
        assert_good(table)
        assert table.source == name
        assert bool(table.notes) == bool(pattern)
        assert re.search(pattern, " ".join(table.notes))


def test_what_is_no_file_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(UnreadableTable, match=r"^nothing\.csv does not exist; check the path$"):
        read_table(tmp_path / "nothing.csv")
    with pytest.raises(UnreadableTable, match="is a folder; name a file in it"):
        read_table(tmp_path)
    with pytest.raises(UnreadableTable, match=r"^\. is a folder"):
        read_table(".")

    def forbid(self: Path, mode: str) -> None:
        raise PermissionError(13, "Permission denied")

    monkeypatch.setattr(Path, "open", forbid)
    with pytest.raises(UnreadableTable, match=r"^secret\.csv may not be read by this user"):
        read_table(tmp_path / "secret.csv")


def test_standard_input(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("sys.stdin", io.TextIOWrapper(io.BytesIO(GOOD)))
    table = read_table("-")
    assert_good(table)
    assert table.source == "standard input"


def test_bytes_that_are_not_utf8_are_read_as_windows_1252() -> None:
    table = read("name,x\nJosé,1.5\nAnna,2.5\nJosé,3\nAnna,4\n".encode("cp1252"))
    assert table.frame["name"].tolist() == ["José", "Anna", "José", "Anna"]
    assert table.notes == ["row 2 is not UTF-8; what is not was read as Windows-1252"]
    mixed = read("name,x\nJosé,1.5\n".encode() * 1 + "Zoë,2\nZoë,3\n".encode("cp1252") + "José,4\n".encode())
    assert mixed.frame["name"].tolist() == ["José", "Zoë", "Zoë", "José"]
    assert mixed.notes == ["row 3 is not UTF-8; what is not was read as Windows-1252"]


def test_a_character_across_two_blocks_is_kept() -> None:
    rows = "é,ü€\n" * 400_000  # more than two blocks of the stream
    table = read("x,a,b\n".replace("x,", "") + rows)
    assert set(table.frame["a"]) == {"é"}
    assert set(table.frame["b"]) == {"ü€"}
    assert len(table.frame) == 400_000


def test_decimal_comma() -> None:
    table = read("a;b;c\n1,5;1.234,5;1,234\n2,25;2,5;2,345\n")
    assert table.frame.to_numpy().tolist() == [[1.5, 1234.5, 1.234], [2.25, 2.5, 2.345]]
    assert "decimals by a comma" in table.notes[0]
    assert read('a,b\n"1,234",x\n"2,345",y\n').frame["a"].tolist() == [1234, 2345]


def test_missing_codes() -> None:
    codes = ["", "NA", "N/A", "NaN", "nan", "null", "NULL", "None", "?", "-", ".", "#N/A", "   "]
    numbers = read("x,y\n" + "".join(f"{code},{i % 3}\n" for i, code in enumerate(codes)) + "1.5,1\n2.5,1\n")
    assert numbers.frame["x"].isna().tolist() == [True] * len(codes) + [False, False]
    texts = read("x,y\n" + "".join(f"{code},{i % 3}\n" for i, code in enumerate(codes)) + "a,1\nb,1\n")
    assert texts.frame["x"].isna().tolist() == [True] * len(codes) + [False, False]
    assert texts.columns[0].missing == pytest.approx(len(codes) / (len(codes) + 2))


def test_declared_codes_are_missing_and_others_are_not() -> None:
    text = "x,y\n-999,a\n1.5,b\n-999.0,unknown\n2,a\n"
    assert read(text).frame["x"].tolist() == [-999, 1.5, -999, 2]
    declared = read(text, missing=(-999, "unknown")).frame
    assert declared["x"].isna().tolist() == [True, False, True, False]
    assert declared["y"].isna().tolist() == [False, False, True, False]


def test_columns_and_ignore() -> None:
    text = "id,age,coat\n11,3,long\n12,5,short\n13,4,long\n14,8,short\n"
    assert read(text).used == ["age", "coat"]
    assert read(text, ignore=["coat"]).used == ["age"]
    assert [column.kind for column in read(text, ignore=["coat"]).columns] == ["identifier", "number", "ignored"]
    assert read(text, columns=["id", "coat"]).used == ["id", "coat"]  # what is asked for is used
    with pytest.raises(UnreadableTable, match=r"^table\.csv has no column 'coats'; did you mean 'coat'\?$"):
        read(text, columns=["coats"])
    with pytest.raises(UnreadableTable, match="has no column 'Age'; did you mean 'age'"):
        read(text, ignore=["Age"])


def test_names() -> None:
    table = read(",a,a, b  c ,\n0,1.5,2.5,3,x\n1,2.5,4,5,y\n")
    assert list(table.frame) == ["column 1", "a", "a (2)", "b c", "column 5"]
    assert len(table.notes) == 3
    headless = read("1.5,2,a\n2.5,3,b\n3.5,5,a\n")
    assert list(headless.frame) == ["column 1", "column 2", "column 3"]
    assert len(headless.frame) == 3
    assert "row 1 holds values" in headless.notes[0]
    assert len(read("1,2\n3,4\n").frame) == 2
    assert list(read("country,2019,2020\nchad,1,2\npolen,3,4\n").frame) == ["country", "2019", "2020"]
    assert len(read("5.1,3.5,setosa\n4.9,3.0,setosa\n").frame) == 2


def test_small_tables() -> None:
    row = read("a,b\n1.5,x\n")
    assert len(row.frame) == 1
    assert "one row" in row.notes[0]
    column = read("a\n1.5\n2\n3.5\n")
    assert column.frame["a"].tolist() == [1.5, 2, 3.5]
    assert "one column" in column.notes[0]


def test_cells_with_lines_and_separators() -> None:
    table = read('a,b\n"x, y",1.5\n"two\nlines",2.5\n"say ""hi""",3\n')
    assert table.frame["a"].tolist() == ["x, y", "two\nlines", 'say "hi"']


def test_max_rows(tmp_path: Path) -> None:
    frame = pd.DataFrame({"a": np.arange(200_000) / 7, "b": "some text"})
    frame.to_csv(tmp_path / "t.csv", index=False)
    frame.to_parquet(tmp_path / "t.parquet")
    for name in ("t.csv", "t.parquet"):
        table = read_table(tmp_path / name, max_rows=70_000)
        np.testing.assert_allclose(table.frame["a"], frame["a"][:70_000], rtol=1e-15)
    with pytest.raises(ValueError, match="max_rows=0 must be"):
        read("a\n1\n", max_rows=0)


def test_excel_sheets(tmp_path: Path) -> None:
    path = tmp_path / "book.xlsx"
    with pd.ExcelWriter(path) as book:
        pd.DataFrame().to_excel(book, sheet_name="cover", index=False)
        frame = pd.DataFrame({"a": [1.5, None, 3], "b": ["x", 7, "y"], "c": [True, False, None], "d": ["#N/A", 1, 2]})
        frame.to_excel(book, sheet_name="data", index=False, startrow=2, startcol=1)
        pd.DataFrame({"z": [1.5, 2]}).to_excel(book, sheet_name="more", index=False)
    table = read_table(path)
    assert table.notes == ["read from sheet 'data' of 3"]
    assert table.frame["a"].tolist()[::2] == [1.5, 3]
    assert table.frame["b"].tolist() == ["x", "7", "y"]
    assert table.frame["c"].tolist()[:2] == [True, False]
    assert table.frame["d"].tolist()[1:] == [1, 2]
    assert list(read_table(path, sheet="more").frame) == list(read_table(path, sheet=2).frame) == ["z"]
    with pytest.raises(UnreadableTable, match=r"^book\.xlsx has no sheet 'x'; it has 'cover', 'data', 'more'$"):
        read_table(path, sheet="x")
    with pytest.raises(UnreadableTable, match="holds no values; name another sheet"):
        read_table(path, sheet="cover")


def test_titles_above_an_excel_table(tmp_path: Path) -> None:
    path = tmp_path / "book.xlsx"
    titles = [("Sales of 2020", None), (None, None), ("in Euro", None)]
    rows = [*titles, ("shop", "sold"), ("a", "much"), ("b", 2.5), ("a", "more")]
    pd.DataFrame(rows).to_excel(path, index=False, header=False)
    table = read_table(path)
    assert list(table.frame) == ["shop", "sold"]
    assert table.notes == ["row 1 is a title, not names: Sales of 2020", "row 3 is a title, not names: in Euro"]
    like = Preparation().fit(read("shop,sold\na,1.5\nb,2.5\n"))
    with pytest.raises(
        UnreadableTable, match="row 5, column 'sold': 'much' is not a number, as 2 of 3 filled cells; corr"
    ):
        read_table(path, like=like)


def test_a_pipe_is_read_whole(tmp_path: Path) -> None:
    """It can be opened once only, and is longer than what tells its format."""
    text = b"a,b\n" + b"1.5,x\n2.5,y\n" * 30_000
    os.mkfifo(tmp_path / "pipe")
    writer = threading.Thread(target=lambda: (tmp_path / "pipe").write_bytes(text))
    writer.start()
    table = read_table(tmp_path / "pipe")
    writer.join()
    assert len(table.frame) == 60_000
    assert list(table.frame) == ["a", "b"]


def test_lines_end_where_arrow_ends_them() -> None:
    """Other characters at which Python splits lines are part of a cell."""
    table = read("a\x0bb,c\nx\u2028y,1.5\nz\x85,2.5\n")
    assert list(table.frame) == ["a b", "c"]
    assert table.frame["a b"].tolist() == ["x\u2028y", "z"]


def test_parquet_types(tmp_path: Path) -> None:
    frame = pd.DataFrame(
        {
            "whole": pd.array([5, None, 9], dtype="Int64"),
            "small": np.array([1.5, 2, 3], np.float32),
            "flag": pd.array([True, None, False], dtype="boolean"),
            "level": pd.Categorical(["a", "b", None]),
            "when": pd.to_datetime(["2020-01-01", None, "2020-03-01"]).tz_localize("Europe/Oslo"),
            "wait": pd.to_timedelta([60, 90, 120], unit="s"),
            "nested": [[1], [2], [1]],
        }
    )
    frame.to_parquet(tmp_path / "t.parquet")
    table = read_table(tmp_path / "t.parquet")
    kinds = {column.name: column.kind for column in table.columns}
    assert kinds["whole"] == kinds["small"] == kinds["wait"] == "number"
    assert (kinds["flag"], kinds["level"], kinds["when"]) == ("boolean", "category", "date")
    assert table.frame["when"].iloc[0] == pd.Timestamp("2019-12-31 23:00")
    assert table.frame["wait"].tolist() == [60, 90, 120]


def test_a_column_of_a_type_that_is_not_known_is_named() -> None:
    frame = pd.DataFrame({"size": [1.0, 2.0], "wave": [1 + 2j, 3j]})
    with pytest.raises(UnreadableTable, match=r"^the data frame, column 'wave': values of type complex128 cannot be"):
        read_table(frame)


def test_new_rows_are_read_as_the_kinds_they_were() -> None:
    explored = read("x,level,flag,day\n1.5,0a,true,2020-01-01\n2.5,1,false,2020-01-05\n4,0,true,2020-02-01\n")
    like = Preparation().fit(explored)
    few = read("x,level,flag,day\n1,0,1,2020-01-01\n0,1,yes,2020-01-02\n", like=like)
    assert [column.kind for column in few.columns] == ["number", "category", "boolean", "date"]
    assert few.frame["level"].tolist() == ["0", "1"]
    assert few.frame["flag"].tolist() == [True, True]
    with pytest.raises(UnreadableTable, match=r"^table\.csv, row 3, column 'x': 'much' is not a number, as 2 of 3"):
        read("x\n1\nmuch\nmore\n", like=like)


def test_a_cell_of_new_rows_that_is_not_of_its_kind_is_missing() -> None:
    """One slip does not refuse a file of few rows; a kind that is asked for still needs nearly all cells."""
    explored = read("x,flag,day\n1.5,true,2020-01-01\n2.5,false,2020-01-05\n4,true,2020-02-01\n")
    like = Preparation().fit(explored)
    new = read("x,flag,day\nabc,yes,gestern\n0,maybe,2020-01-02\n", like=like)
    assert new.frame.isna().to_numpy().tolist() == [[True, False, True], [False, True, False]]
    assert new.columns[0].note == "1 value such as 'abc' as missing"
    with pytest.raises(UnreadableTable, match=r"row 2, column 'x': 'abc' is not a number, as 1 of 4 filled cells"):
        read("x,y\nabc,1\n1,2\n2,1\n3,2\n", number=["x"])


@pytest.mark.parametrize(("telling", "month"), [("13/04/2021", 4), ("04/13/2021", 3)])
@pytest.mark.parametrize("new", ["03/04/2021", "03/04/2021 10:30", "3-4-2021", "03/04/21"])
def test_new_rows_have_the_order_of_day_and_month_of_the_table(telling: str, month: int, new: str) -> None:
    like = Preparation().fit(read(f"day\n{telling}\n01/02/2021\n05/06/2021\n"))
    assert read(f"day\n{new}\n", like=like).frame["day"].dt.month.tolist() == [month]
    # What can be read in one way only is read so.
    clear = read("day\n2021-03-04\n", like=like).frame["day"]
    assert clear.dt.month.tolist() == [3]
    assert read("day\n03/14/2021\n03/04/2021\n", like=like).frame["day"].dt.month.tolist() == [3, 3]


def test_new_rows_have_the_missing_codes_of_the_table() -> None:
    like = Preparation().fit(read("x,sign\n1.5,+\n2.5,-\n-999,+\n4,-\n", missing=[-999]))
    new = read("x,sign\n-999,-\n8,-\n", like=like)
    assert new.frame["x"].isna().tolist() == [True, False]
    assert new.frame["sign"].tolist() == ["-", "-"]


def test_slips_that_were_let_pass_are_let_pass_again() -> None:
    """A table that can be explored can be read again as new rows of itself."""
    text = "x,day\n" + "".join(f"{i}.5,2020-01-{i % 28 + 1:02}\n" for i in range(60)) + "much,2020-02-30\n"
    like = Preparation().fit(table := read(text))
    again = read(text, like=like)
    pd.testing.assert_frame_equal(again.frame, table.frame)
    assert again.columns[0].note == "1 value such as 'much' as missing"


def test_a_missing_code_of_plus_and_minus_is_a_value() -> None:
    assert read("x,y\n+,1.5\n-,2.5\n?,3\n").frame["x"].isna().tolist() == [False, False, True]


cells = st.text(alphabet=string.ascii_letters + " ,;|\t\"'éß", min_size=1, max_size=8)


@given(
    rows=st.lists(
        st.tuples(st.one_of(st.none(), st.floats(-1e12, 1e12)), st.one_of(st.none(), cells)), min_size=2, max_size=30
    )
)
@settings(max_examples=60, deadline=None)
def test_what_pandas_writes_is_read_back(rows: list[tuple[float | None, str | None]]) -> None:
    """Numbers and texts survive the way through a CSV file, whatever they contain."""
    numbers = pd.Series([number for number, _ in rows], dtype=float) + 0.25  # not whole, so no kind but a number
    texts = pd.Series([text for _, text in rows], dtype="str")
    data = pd.DataFrame({"the number": numbers, "the text": texts}).to_csv(index=False)
    frame = read(data).frame
    read_numbers = pd.to_numeric(frame["the number"].astype(object), errors="coerce").to_numpy(float)
    np.testing.assert_array_equal(read_numbers, numbers.to_numpy())
    missing = {"", "NA", "None", "nan", "NaN", "null", "NULL", "n/a", "NaT"}
    expected = [None if pd.isna(t) or t.strip() in missing else t.strip() for t in texts]
    words = {"true", "yes", "y", "t", "on", "false", "no", "n", "f", "off"}
    if {str(t).lower() for t in expected if t is not None} <= words:
        return  # yes/no words become booleans, which tests of columns look at
    found = frame["the text"].astype(object)
    assert [None if pd.isna(value) else value for value in found] == expected


def test_data_frames_are_read_as_files_are():
    pandas = pd.DataFrame(
        {
            "size": [1.5, None, 3.0, 4.0],
            "flag": pd.array([True, False, None, True], "boolean"),
            "level": pd.Categorical(["a", "b", "a", None]),
            "day": pd.to_datetime(["2024-01-01", "2024-02-01", None, "2024-03-01"]),
            "text": ["1", "2", "3", "4"],
            "mixed": [1, "x", None, "x"],
        }
    )
    table = read_table(pandas)
    kinds = {column.name: column.kind for column in table.columns}
    assert kinds == {
        "size": "number", "flag": "boolean", "level": "category", "day": "date", "text": "number",
        "mixed": "category",
    }  # fmt: skip
    assert table.source == "the data frame"
    assert table.frame["level"].tolist()[:3] == ["a", "b", "a"]
    polars = pytest.importorskip("polars").from_pandas(pandas.drop(columns="mixed"))
    again = read_table(polars)
    assert {column.name: column.kind for column in again.columns} == {k: v for k, v in kinds.items() if k != "mixed"}
    assert read_table(pandas, max_rows=2).frame["size"].tolist()[0] == 1.5
    with pytest.raises(UnreadableTable, match="no columns or no rows"):
        read_table(pd.DataFrame())


def test_open_files_are_read(tmp_path):
    path = tmp_path / "pets.csv"
    path.write_text("weight,coat\n4.1,long\n3,short\n")
    with path.open("rb") as file:
        assert read_table(file).source == "pets.csv"
    assert read_table(io.BytesIO(path.read_bytes())).frame["weight"].tolist() == [4.1, 3.0]


def test_kinds_can_be_asked_for():
    frame = pd.DataFrame({"status": [1, 2, 3, 1], "zip": [10115, 20095, 10115, 20095]})
    table = read_table(frame, category=["status"], number=["zip"])
    assert [column.kind for column in table.columns] == ["category", "number"]
    assert table.frame["status"].tolist() == ["1", "2", "3", "1"]
    with pytest.raises(UnreadableTable, match="column 'zip': asked for as a category and as a number"):
        read_table(frame, category=["zip"], number=["zip"])


def test_an_unknown_column_is_answered_with_the_nearest():
    frame = pd.DataFrame({name: [1.0, 2.0] for name in ("alpha", "beta", "gamma", "delta", "epsilon", "Income")})
    with pytest.raises(UnreadableTable, match=r"no column 'income'; did you mean 'Income'\?"):
        read_table(frame, ignore=["income"])
    with pytest.raises(UnreadableTable, match="no column 'zzz'; it has 'alpha', 'beta', 'gamma', 'delta', 'epsilon', "):
        read_table(frame, ignore=["zzz"])


def test_files_opened_as_text_are_read_too(tmp_path):
    text = "size,coat\n4.1,long\n5,größer\n7.5,long\n"
    path = tmp_path / "pets.csv"
    path.write_text(text, encoding="utf-8")
    with path.open(encoding="utf-8") as opened:
        table = read_table(opened)
    assert table.source == "pets.csv"
    assert table.frame.equals(read_table(path).frame)
    assert read_table(io.StringIO(text)).frame.equals(table.frame)


@pytest.mark.parametrize("source", [None, 5, {"a": [1, 2]}, np.zeros((3, 2))])
def test_what_is_no_table_is_named_with_what_is(source):
    with pytest.raises(TypeError, match=f"{type(source).__name__}; pass a path, an open file, or a data frame"):
        read_table(source)


def test_a_lazy_frame_has_to_be_collected():
    lazy = pytest.importorskip("polars").LazyFrame({"a": [1.0, 2.0]})
    with pytest.raises(TypeError, match=r"LazyFrame, which has no rows yet; pass source.collect\(\)"):
        read_table(lazy)


def test_one_name_or_code_alone_is_no_list_of_letters():
    frame = pd.DataFrame({"size": [1.0, -999.0, 3.0], "kind": [1, 2, 1], "more": [0.1, 0.2, 0.4]})
    table = read_table(frame, columns="size", missing=-999)
    assert [column.kind for column in table.columns] == ["number", "ignored", "ignored"]
    assert table.frame["size"].isna().tolist() == [False, True, False]
    one = read_table(frame, ignore="more", category="kind", number="size")
    assert [column.kind for column in one.columns] == ["number", "category", "ignored"]


def test_a_dask_frame_is_not_collected():
    given = dask.dataframe.from_pandas(pd.DataFrame({"a": [1.0, 2.0]}), npartitions=1)
    with pytest.raises(TypeError, match=r"not a Dask input; write it with to_parquet and explore the folder"):
        read_table(given)


def test_a_missing_library_names_the_extra():
    code = (
        "import sys; sys.modules['pyarrow'] = None\n"
        "import gramian\n"
        "try: gramian.explore('t.csv')\n"
        "except ModuleNotFoundError as error: print(error, error.name)"
    )
    printed = subprocess.run([sys.executable, "-c", code], check=True, capture_output=True, text=True).stdout
    assert printed.strip() == "a table needs pyarrow to be read; install it with: pip install 'gramian[app]' pyarrow"
