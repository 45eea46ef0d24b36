"""Whole numbers are codes where their order tells nothing of the other columns, and numbers otherwise."""

import io

import numpy as np
import pandas as pd
import pytest

from gramian.tables import read_table
from gramian.tables.codes import find_codes
from gramian.tables.table import Column


def codes_in(frame):
    columns = [Column(name, "number", 0.0) for name in frame]
    return find_codes(frame.astype(float), np.arange(len(frame)), columns)


def others(rng, means, n):
    """Five columns with the given means (n, 5)."""
    return pd.DataFrame(means + rng.normal(size=(n, 5)), columns=list("abcde"))


@pytest.mark.parametrize("places", [[1, 0, 2], [1, 3, 0, 2], [3, 0, 4, 1, 5, 2], np.arange(9) * 4 % 9])
def test_an_order_that_means_nothing(places):
    """Values that lie along one line in another order than their own are codes; in their own they are numbers."""
    rng = np.random.default_rng(0)
    level = rng.integers(0, len(places), 400)
    frame = others(rng, 2.0 * np.asarray(places)[level][:, None] * np.ones(5), 400)
    assert codes_in(frame.assign(status=level)) == ["status"]
    assert codes_in(frame.assign(grade=np.asarray(places)[level])) == []


@pytest.mark.parametrize("seed", range(8))
def test_numbers_of_planted_groups_stay_numbers(seed):
    """A count that differs between groups is no code, wherever the groups lie in the other columns."""
    rng = np.random.default_rng(seed)
    group = rng.integers(0, 3, 300)
    frame = others(rng, 3 * rng.normal(size=(3, 5))[group], 300)
    frame["count"] = rng.poisson(np.array([1.0, 3.0, 6.0])[group]).clip(0, 9)
    assert codes_in(frame) == []


def test_without_dependence_a_number_stays_a_number():
    rng = np.random.default_rng(0)
    assert codes_in(others(rng, 0.0, 300).assign(grade=rng.integers(0, 5, 300))) == []
    assert codes_in(pd.DataFrame({"grade": rng.integers(0, 5, 300)})) == []


def test_two_whole_numbers_are_a_category_if_they_are_not_few():
    rng = np.random.default_rng(0)
    frame = others(rng, 0.0, 40).assign(gender=rng.integers(1, 3, 40), half=rng.integers(1, 3, 40) / 2)
    assert codes_in(frame) == ["gender"]
    assert codes_in(frame.iloc[:15]) == []


def table(n=200):
    """A status of which the size does not follow the order, and a grade of which the price does."""
    rng = np.random.default_rng(3)
    status, grade = rng.integers(0, 4, n), rng.integers(1, 5, n)
    size = 6.0 * np.array([2, 0, 3, 1])[status] + rng.normal(size=n)
    return pd.DataFrame({"status": status, "grade": grade, "size": size, "price": 3 * grade + rng.normal(size=n)})


def test_the_reader_says_so_and_can_be_overruled():
    kinds = {column.name: column for column in read_table(table()).columns}
    assert (kinds["status"].kind, kinds["grade"].kind) == ("category", "number")
    assert kinds["status"].note == "codes; --number status reads them as numbers"
    asked = {column.name: column.kind for column in read_table(table(), number=["status"], category=["grade"]).columns}
    assert (asked["status"], asked["grade"]) == ("number", "category")


def test_a_code_is_the_same_with_and_without_decimals():
    """Programs write whole numbers as 1.0 where some are missing."""
    from gramian.tables import Preparation

    frame = table()
    frame.loc[0, "status"] = np.nan
    text = frame.to_csv(index=False)
    assert "\n1.0," in text
    read = read_table("t.csv", stream=io.BytesIO(text.encode()))
    assert read.frame["status"].cat.categories.tolist() == ["0", "1", "2", "3"]
    preparation = Preparation().fit(read)
    new = read_table("n.csv", stream=io.BytesIO(b"status,grade,size,price\n1,2,3,4\n1.0,2,3,4\n"), like=preparation)
    X = preparation.transform(new)
    np.testing.assert_array_equal(X[0], X[1])
    assert np.isfinite(X).all()


def test_grades_on_the_scale_of_most_columns_are_numbers():
    """A grade that is rarely given may look like a code; the grades beside it say that it is none."""
    rng = np.random.default_rng(1)
    severity = rng.normal(size=300)
    grades = {f"sign_{j}": np.clip(np.rint(1.5 + severity + rng.normal(size=300)), 0, 3) for j in range(6)}
    status = np.array([1, 3, 0, 2])[np.clip(np.rint(1.5 + severity), 0, 3).astype(int)]
    frame = pd.DataFrame(grades)
    assert codes_in(frame.assign(status=status)) == []
    # Beyond the scale, and in a table where most columns are codes, it is what its own order says.
    assert codes_in(frame.assign(status=status + 1)) == ["status"]
    shuffled = pd.DataFrame({name: np.array([1, 3, 0, 2])[grade.astype(int)] for name, grade in grades.items()})
    assert "status" in codes_in(shuffled.assign(status=status, size=severity))
