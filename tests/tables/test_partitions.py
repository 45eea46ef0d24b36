"""Files of one table are found in order, compared with each other, and read like parts of one file."""

import re
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from exploration.conftest import customers
from gramian.tables import (
    ColumnStatistics,
    Preparation,
    UnreadableTable,
    common_layout,
    find_partitions,
    in_partitions,
    joined_table,
    layout_of,
    name_of_partitions,
    partition_rows,
    partition_statistics,
    read_table,
    typed_rows,
)


@pytest.fixture
def frame():
    return customers(200)[0]


def written(frame, folder, kind, places):
    """The files of a table that is cut at some places."""
    folder.mkdir()
    paths = []
    for i, rows in enumerate(np.split(np.arange(len(frame)), places)):
        paths.append(str(folder / f"part{i}.{kind}"))
        part = frame.iloc[rows]
        part.to_csv(paths[-1], index=False) if kind == "csv" else part.to_parquet(paths[-1], index=False)
    return paths


def common(*paths):
    return common_layout(paths, [layout_of(path) for path in paths])


def test_folders_and_patterns_are_many_files(tmp_path):
    sales = tmp_path / "sales"
    sales.mkdir()
    for name in ("b.csv", "a.parquet", "_SUCCESS.csv", ".hidden.csv", "notes.md"):
        (sales / name).write_text("x\n1\n")
    assert [Path(path).name for path in find_partitions(sales)] == ["a.parquet", "b.csv"]
    assert [Path(path).name for path in find_partitions(str(sales / "*.csv"))] == ["_SUCCESS.csv", "b.csv"]
    assert in_partitions(sales)
    assert in_partitions(str(sales / "*.csv"))
    assert not in_partitions(sales / "b.csv")
    assert not in_partitions(pd.DataFrame())
    assert name_of_partitions(sales) == name_of_partitions(str(sales / "*.csv")) == "sales"
    with pytest.raises(UnreadableTable, match=r"no file matches .*\*\.tsv; check the path"):
        find_partitions(str(sales / "*.tsv"))


def test_a_folder_without_tables_is_refused(tmp_path):
    (tmp_path / "notes.md").write_text("x")
    with pytest.raises(UnreadableTable, match="holds no Parquet, CSV, TSV or JSON-lines file; check the path"):
        find_partitions(tmp_path)


@pytest.mark.parametrize("kind", ["csv", "parquet"])
def test_layouts_tell_columns_and_rows(frame, tmp_path, kind):
    paths = written(frame, tmp_path / "parts", kind, [50, 51])
    layouts = [layout_of(path) for path in paths]
    assert [layout.rows for layout in layouts] == [50, 1, 149]
    for layout in layouts:
        assert layout.names == list(frame.columns)
    common = common_layout(paths, layouts)
    assert (common.names, common.decimal, common.rows) == (list(frame.columns), ".", 200)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda frame: frame.rename(columns={"age": "agee"}), "no column 'age', which a.parquet has; rename 'agee'"),
        (lambda frame: frame.drop(columns="plan"), "b.parquet has no column 'plan', which a.parquet has; add it"),
        (lambda frame: frame.assign(more=1), "b.parquet has a column 'more', which a.parquet does not have; drop it"),
        (lambda frame: frame.assign(age="old"), "b.parquet, column 'age': text where a.parquet has number"),
    ],
)  # fmt: skip
def test_other_columns_and_types_are_named(frame, tmp_path, change, message):
    first, second = str(tmp_path / "a.parquet"), str(tmp_path / "b.parquet")
    frame.to_parquet(first, index=False)
    change(frame).to_parquet(second, index=False)
    with pytest.raises(UnreadableTable, match=re.escape(message)):
        common(first, second)


def test_columns_may_stand_in_another_order_or_be_empty(frame, tmp_path):
    first, second = str(tmp_path / "a.parquet"), str(tmp_path / "b.parquet")
    frame.to_parquet(first, index=False)
    frame[frame.columns[::-1]].assign(plan=None).to_parquet(second, index=False)
    common(first, second)
    joined = joined_table("both", [partition_rows(path, list(frame.columns)) for path in (first, second)], ".", [])
    assert joined.frame["age"].iloc[:200].tolist() == pytest.approx(frame["age"].tolist(), nan_ok=True)
    assert joined.frame["age"].iloc[200:].tolist() == pytest.approx(frame["age"].tolist(), nan_ok=True)
    assert joined.frame["plan"].iloc[200:].isna().all()


def test_types_are_compared_with_the_first_file_that_has_any(frame, tmp_path):
    paths = [str(tmp_path / f"{name}.parquet") for name in "abc"]
    for path, plan in zip(paths, (None, "basic", 7), strict=True):
        frame.assign(plan=plan).to_parquet(path, index=False)
    with pytest.raises(UnreadableTable, match=r"c.parquet, column 'plan': number where b.parquet has text"):
        common(*paths)


def test_decimals_must_be_written_alike(tmp_path):
    first, second = str(tmp_path / "a.csv"), str(tmp_path / "b.csv")
    Path(first).write_text("x;y\n1,5;2\n2,5;3\n")
    Path(second).write_text("x;y\n1.5;2\n2.5;3\n")
    with pytest.raises(UnreadableTable, match=r"b.csv writes decimals with '.', a.csv with ','"):
        common(first, second)


def test_files_of_whole_numbers_go_with_decimal_commas(tmp_path):
    """A file without any decimal says nothing of how decimals are written."""
    first, second = str(tmp_path / "a.csv"), str(tmp_path / "b.csv")
    Path(first).write_text("x;y\n1,5;2\n2,5;3\n")
    Path(second).write_text("x;y\n1;2\n2;3\n")
    common(first, second)
    assert common(second, first).decimal == ","


@pytest.mark.parametrize("name", ["torn.parquet", "torn.csv.gz"])
def test_damaged_files_are_named(tmp_path, name):
    path = tmp_path / name
    path.write_bytes(b"PAR1 and nothing more" if name.endswith("parquet") else b"\x1f\x8b\x08\x00rest")
    with pytest.raises(UnreadableTable, match=f"^{re.escape(name)} is damaged"):
        layout_of(str(path))


@pytest.mark.parametrize("kind", ["csv", "parquet"])
def test_joined_rows_are_read_as_those_of_one_file(frame, tmp_path, kind):
    paths = written(frame, tmp_path / "parts", kind, [60, 120])
    one = read_table(written(frame, tmp_path / "one", kind, [])[0])
    names = list(frame.columns)
    many = joined_table("many", [partition_rows(path, names) for path in paths], ".", ["three files"])
    pd.testing.assert_frame_equal(many.frame, one.frame)
    assert many.columns == one.columns
    assert (many.source, many.notes) == ("many", ["three files"])
    some = partition_rows(paths[1], names, np.array([0, 59]))
    assert joined_table("some", [some], ".", []).frame["noise"].tolist() == pytest.approx(
        one.frame["noise"].iloc[[60, 119]].tolist(), nan_ok=True
    )


def test_types_that_do_not_go_together_are_told(tmp_path):
    import pyarrow as pa

    parts = [pa.table({"x": ["a"]}), pa.table({"x": [[1]]})]
    with pytest.raises(UnreadableTable, match="the files of both have types that do not go together"):
        joined_table("both", parts, ".", [])


@pytest.mark.parametrize("kind", ["csv", "parquet"])
def test_statistics_of_parts_are_those_of_the_whole(frame, tmp_path, kind):
    """Counts and quantiles against pandas, and each part is read with the types of the whole."""
    one = read_table(written(frame, tmp_path / "one", kind, [])[0])
    preparation = Preparation().fit(one)
    paths = written(frame, tmp_path / "parts", kind, [7, 120])
    parts = [partition_statistics(path, preparation, ".") for path in paths]
    merged = {name: ColumnStatistics.merged([part[name] for part in parts]) for name in preparation.kinds_}
    for name in merged:
        assert merged[name].missing == frame[name].isna().sum()
        assert merged[name].rows == 200
    assert merged["plan"].levels == frame["plan"].value_counts().to_dict()
    np.testing.assert_array_equal(merged["age"].quantiles.values, np.sort(frame["age"].dropna()))
    seconds = pd.to_datetime(frame["joined"].dropna()).astype("datetime64[s]").astype(int)
    np.testing.assert_array_equal(merged["joined"].quantiles.values, np.sort(seconds))
    again = typed_rows(paths[2], preparation, ".")
    np.testing.assert_allclose(preparation.transform(again), preparation.transform(one)[120:])


def test_a_wrong_value_names_the_file(frame, tmp_path):
    preparation = Preparation().fit(read_table(written(frame, tmp_path / "one", "csv", [])[0]))
    path = tmp_path / "wrong.csv"
    frame.iloc[:20].astype({"age": object}).assign(age="old").to_csv(path, index=False)
    with pytest.raises(UnreadableTable, match=r"^wrong.csv, .*column 'age'"):
        typed_rows(str(path), preparation, ".")
