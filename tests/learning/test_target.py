"""The column to predict: numbers, classes as the table writes them, and one-line errors that say what to do."""

import io

import numpy as np
import pandas as pd
import pytest

from gramian.learning.target import other_columns, target_of
from gramian.tables import read_table


def table(text, **options):
    return read_table("t.csv", stream=io.BytesIO(text.encode()), **options)


def frame(n=30):
    rng = np.random.default_rng(0)
    return pd.DataFrame(
        {
            "id": [f"a{i}" for i in range(n)],
            "weight": rng.normal(size=n),
            "day": pd.Timestamp("2024-01-01") + pd.to_timedelta(np.arange(n), "D"),
            "one": 1.0,
            "none": [None] * n,
            "huge": rng.normal(size=n) * 1e200,
            "tiny": rng.normal(size=n) * 1e-200,
            "few": [1.5, 2.5, 3.25] + [None] * (n - 3),
        }
    )


@pytest.mark.parametrize(
    ("name", "told"),
    [
        ("wieght", "has no column 'wieght'; did you mean 'weight'"),
        ("zzz", "has no column 'zzz'; it has 'id', 'weight'"),
        ("id", "looks like an identifier.*--number id"),
        ("day", "holds dates"),
        ("one", "has one value only"),
        ("none", "has no value"),
        (3, "has no column 3; it has 'id'"),
        ("huge", r"differ by .*e\+200, so squared errors"),
        ("tiny", r"differ by \d.*e-200, so squared errors.*another unit"),
        ("few", "has 3 values; at least 10"),
    ],
)
def test_what_cannot_be_predicted(name, told):
    with pytest.raises(ValueError, match=told):
        target_of(read_table(frame()), name)


def test_a_column_left_out_is_no_target():
    with pytest.raises(ValueError, match="is left out by --ignore"):
        target_of(read_table(frame(), ignore=["weight"]), "weight")


def test_truth_values_are_named_as_they_are_written():
    lines = "".join(f"{i}.5,{'t' if i % 3 else 'f'}\n" for i in range(20))
    found = target_of(table("x,alive\n" + lines + "3.5,\n"), "alive")
    assert found.classes == ["f", "t"]
    assert found.values.tolist() == [int(i % 3 > 0) for i in range(20)] + [-1]
    assert found.known.sum() == 20


def test_codes_are_classes_and_may_be_numbers():
    rng = np.random.default_rng(0)
    lines = "".join(f"{x:.4f},{c}\n" for x, c in zip(rng.normal(size=60), rng.integers(1, 4, 60), strict=True))
    read = table("x,kind\n" + lines, category=["kind"])
    assert target_of(read, "kind").classes == ["1", "2", "3"]
    assert target_of(table("x,kind\n" + lines, number=["kind"]), "kind").classes == []


def test_too_few_and_too_many_classes():
    lines = "".join(f"{i}.5,{'a' if i else 'b'}\n" for i in range(20))
    with pytest.raises(ValueError, match="two classes of at least two rows each; it has 'a' in 19 rows, 'b' in 1 row"):
        target_of(table("x,kind\n" + lines, category=["kind"]), "kind")
    lines = "".join(f"{i}.5,k{i % 60}\n" for i in range(240))
    with pytest.raises(ValueError, match="has 60 classes, more than 50"):
        target_of(table("x,kind\n" + lines, category=["kind"]), "kind")


def test_the_target_is_no_column_to_predict_from():
    read = read_table(frame())
    assert "weight" not in other_columns(read, "weight").used
    with pytest.raises(ValueError, match="no column but 'weight' that tells rows apart"):
        other_columns(read_table(frame()[["id", "weight", "one", "none"]]), "weight")
