"""Copies of rows are told from rows that are equal by chance."""

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from gramian.tables import read_table
from gramian.tables.copies import without_copies


def kept_of(frame):
    kept, place = without_copies([frame[name] for name in frame], len(frame))
    # Every row is stood for by an equal one.
    pd.testing.assert_frame_equal(frame.iloc[kept[place]].reset_index(drop=True), frame.reset_index(drop=True))
    return kept


@pytest.fixture
def measured():
    rng = np.random.default_rng(0)
    frame = pd.DataFrame(
        {"a": rng.normal(size=60).round(2), "b": rng.normal(size=60), "c": rng.choice(list("xyz"), 60)}
    )
    return frame.mask(rng.random(frame.shape) < 0.1)


@pytest.mark.parametrize("arrow", [False, True])
def test_a_pasted_table_is_kept_once(measured, arrow):
    table = pd.concat([measured] * 4, ignore_index=True)
    columns = [pa.chunked_array([pa.array(table[x], from_pandas=True)]) if arrow else table[x] for x in table]
    kept, place = without_copies(columns, len(table))
    np.testing.assert_array_equal(kept, np.arange(60))
    np.testing.assert_array_equal(place, np.tile(np.arange(60), 4))


def test_some_rows_pasted_again_are_copies(measured):
    table = pd.concat([measured, measured.iloc[10:25], measured.iloc[10:12]], ignore_index=True)
    np.testing.assert_array_equal(kept_of(table), np.arange(60))


def test_equal_rows_of_few_values_are_no_copies():
    """Passengers of one class, age and sex are different people; a table of them pasted twice is not."""
    rng = np.random.default_rng(1)
    people = pd.DataFrame({"class": rng.choice(list("123c"), 300), "sex": rng.choice(["m", "f"], 300), "child": 0})
    people.loc[0] = ["1", "m", 1]  # a row that is there once, so that no number divides all counts
    assert len(kept_of(people)) == 300
    assert len(kept_of(pd.concat([people, people], ignore_index=True))) == 300


@pytest.mark.parametrize("counts", [[34, 32, 34], [60, 40], [12, 18, 24, 6]])
def test_a_few_kinds_of_even_numbers_are_no_copies(counts):
    """Of one answer 34 times and of another 32 times nobody copied anything."""
    frame = pd.DataFrame({"answer": np.repeat(np.array(list("abcd"))[: len(counts)], counts)})
    assert len(kept_of(frame)) == sum(counts)
    assert len(kept_of(frame.assign(again=frame["answer"]))) == sum(counts)


@pytest.mark.parametrize(("kinds", "times", "kept"), [(7, 2, 14), (8, 2, 8), (4, 25, 100), (8, 3, 8)])
def test_a_small_table_was_repeated_if_chance_would_hardly_do_it(kinds, times, kept):
    assert len(kept_of(pd.DataFrame({"answer": np.tile(np.arange(kinds), times)}))) == kept


def test_rounded_numbers_agree_by_chance():
    """The number of equal pairs is what independent columns give: 2000 · 1999 / 2 · 1/50 · 1/50, about 800."""
    rng = np.random.default_rng(2)
    table = pd.DataFrame(rng.integers(0, 50, (2000, 2)), columns=["age", "score"])
    assert table.duplicated().sum() > 500
    assert len(kept_of(table)) == 2000
    assert len(kept_of(table[["age"]])) == 2000


@given(st.lists(st.tuples(st.integers(0, 3), st.sampled_from(["a", "b", None])), min_size=1, max_size=30))
@settings(max_examples=60, deadline=None)
def test_rows_stand_for_equal_rows(rows):
    frame = pd.DataFrame(rows, columns=["x", "y"])
    kept = kept_of(frame)
    assert (np.diff(kept) > 0).all()
    assert not frame.drop_duplicates().index.difference(kept).size


def test_an_identifier_of_copied_rows_is_still_one(measured):
    once = measured.assign(customer_id=np.arange(60) * 7 + 1000, word=[f"w{i}" for i in range(60)])
    for times in (once, once.iloc[:40]):
        table = pd.concat([once, times, times], ignore_index=True)
        kinds = {column.name: column.kind for column in read_table(table).columns}
        assert kinds == {column.name: column.kind for column in read_table(once).columns}
        assert kinds["customer_id"] == kinds["word"] == "identifier"
    frame = read_table(pd.concat([once, once], ignore_index=True)).frame
    pd.testing.assert_frame_equal(frame.iloc[60:].reset_index(drop=True), frame.iloc[:60])


def test_nested_and_empty_columns():
    kept, _ = without_copies([pa.array([[i] for i in range(8)] * 2), pa.nulls(16)], 16)
    assert kept.tolist() == list(range(8))
