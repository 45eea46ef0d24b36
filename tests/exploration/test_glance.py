"""Columns in figures: counts against those of pandas, and hints where a careful reader would stop."""

import numpy as np
import pandas as pd
import pytest

from gramian.exploration.association import Associations
from gramian.exploration.glance import glances, repeated_rows
from gramian.tables import BOOLEAN, CATEGORY, DATE, IDENTIFIER, NUMBER, Column

NONE = Associations([], np.zeros((0, 0)))


def glance(values, kind=NUMBER, labels=None, name="column"):
    frame = pd.DataFrame({name: values})
    missing = float(frame[name].isna().mean())
    labels = np.zeros(len(frame), int) if labels is None else np.asarray(labels)
    return glances(frame, [Column(name, kind, missing)], labels, NONE)[0]


@pytest.fixture
def rng():
    return np.random.default_rng(3)


def test_bars_count_every_row_of_every_group_once(rng):
    values = rng.standard_normal(500)
    values[::7] = np.nan
    labels = rng.integers(-1, 3, 500)
    found = glance(values, labels=labels)
    present = ~np.isnan(values)
    for group in range(3):
        assert found.bars[:, group].sum() == (present & (labels == group)).sum()
    assert found.missing == np.isnan(values).sum()
    assert found.distinct == len(np.unique(values[present]))
    assert len(found.names) == len(found.bars) == 20


def test_a_value_far_out_does_not_push_the_others_into_one_bar(rng):
    values = np.append(rng.uniform(0, 1, 999), 1e6)
    assert (glance(values).bars[:, 0] > 20).all()


def test_whole_numbers_have_a_bar_each():
    found = glance(np.repeat([1.0, 2.0, 4.0], [5, 3, 2]))
    assert found.names == ["1", "2", "3", "4"]
    assert found.bars[:, 0].tolist() == [5, 3, 0, 2]
    assert found.figures == [("smallest", "1"), ("median", "1.5"), ("largest", "4")]


def test_levels_come_by_frequency_and_rare_ones_share_a_bar():
    values = pd.Categorical([f"level {i}" for i in range(12) for _ in range(20 - i)])
    found = glance(values, CATEGORY)
    assert found.names == [f"level {i}" for i in range(8)] + ["4 others"]
    assert found.bars[:, 0].tolist() == [20 - i for i in range(8)] + [sum(20 - i for i in range(8, 12))]
    total = sum(20 - i for i in range(12))
    assert found.figures[0] == ("level 0", f"{100 * 20 / total:.0f} %")


def test_truth_values_and_dates():
    assert glance(pd.array([True, False, True, None], "boolean"), BOOLEAN).bars[:, 0].tolist() == [2, 1]
    days = glance(pd.date_range("2024-01-01", periods=100), DATE)
    assert days.figures[0] == ("smallest", "2024-01-01")
    assert days.figures[2] == ("largest", "2024-04-09")
    assert days.bars.sum() == 100


def test_columns_in_far_heaps_are_no_copies(rng):
    """Both tell the groups, and so depend on each other as copies do; within a group they have nothing in common."""
    group = np.repeat([0, 1], 60)
    size, weight = rng.normal(9.0 * group, 1), rng.normal(-9.0 * group, 1)
    frame = pd.DataFrame({"size": size, "weight": weight, "inches": (size / 2.54).round(2)})
    frame["kind"] = pd.Categorical(np.array(["a", "b"])[group])
    frame["sort"] = pd.Categorical(np.array(["x", "y"])[group])
    kinds = [NUMBER, NUMBER, NUMBER, CATEGORY, CATEGORY]
    columns = [Column(name, kind, 0.0) for name, kind in zip(frame, kinds, strict=True)]
    alike = Associations(list(frame), np.full((5, 5), 0.99))
    hints = {item.column: item.hints for item in glances(frame, columns, group, alike)}
    assert hints["inches"] == ["Says almost the same as size."]
    assert hints["sort"] == ["Says almost the same as kind."]
    assert hints["weight"] == hints["kind"] == hints["size"] == []


def test_columns_that_are_not_compared_have_figures_only():
    found = glance(["a", "b", None], IDENTIFIER)
    assert (found.distinct, found.missing, found.bars.size) == (2, 1, 0)


@pytest.mark.parametrize("code", [-999.0, 9999.0, -9.0])
def test_a_code_of_nines_far_out_may_mean_missing(rng, code):
    values = rng.uniform(0, 1, 200)
    values[:12] = code
    assert glance(values).hints == [
        f"{code:.0f} occurs 12 times, far from all other values: if it means missing, say --missing {code:.0f}."
    ]


def test_nines_among_other_values_mean_nothing(rng):
    assert glance(np.r_[rng.uniform(0, 2000, 300), 999.0, 999.0]).hints == []


def test_few_whole_numbers_may_be_codes(rng):
    hint = glance(rng.integers(1, 4, 100).astype(float), name="status").hints[0]
    assert hint == "Only the whole numbers 1, 2 and 3: if they are codes, say --category 'status'."
    assert glance(rng.integers(0, 40, 300).astype(float)).hints == []


def test_answers_on_one_scale_are_no_codes(rng):
    """Fifty columns of answers from 0 to 4 would all be asked about; a code among them still is."""
    frame = pd.DataFrame(rng.integers(0, 5, (100, 5)).astype(float), columns=list("abcde"))
    frame["status"] = rng.integers(7, 10, 100).astype(float)
    columns = [Column(name, NUMBER, 0.0) for name in frame]
    hints = {item.column: item.hints for item in glances(frame, columns, np.zeros(100, int), NONE)}
    assert hints.pop("status")[0].startswith("Only the whole numbers 7, 8 and 9")
    assert not any(hints.values())
    few = glances(frame[["a", "b", "c"]], columns[:3], np.zeros(100, int), NONE)
    assert all(item.hints for item in few)


def test_two_heaps_far_apart_may_be_two_units(rng):
    protein = np.r_[rng.normal(7, 0.6, 150), rng.normal(70, 6, 50)]
    assert "Two heaps of values far apart, around 7" in glance(protein).hints[0]
    assert glance(rng.lognormal(0, 1, 300)).hints == []
    assert glance(np.r_[rng.normal(10, 1, 150), rng.normal(14, 1, 50)]).hints == []


def test_a_column_that_says_the_same_as_another_is_named(rng):
    frame = pd.DataFrame({"a": rng.standard_normal(30)})
    frame["b"] = 3 * frame["a"] + 0.01 * rng.standard_normal(30)
    both = Associations(["a", "b"], np.array([[1, 0.99], [0.99, 1]]))
    found = glances(frame, [Column("a", NUMBER, 0.0), Column("b", NUMBER, 0.0)], np.zeros(30, int), both)
    assert found[1].hints == ["Says almost the same as a."]
    assert found[0].hints == []
    frame = pd.DataFrame(dict.fromkeys("abcde", frame["a"]))
    columns = [Column(name, NUMBER, 0.0) for name in frame]
    found = glances(frame, columns, np.zeros(30, int), Associations(list(frame), np.ones((5, 5))))
    assert found[3].hints == ["Says almost the same as a, b and c."]
    assert found[4].hints == ["Says almost the same as a, b and 2 other columns."]


def test_repeated_rows_are_counted_by_the_columns_compared():
    frame = pd.DataFrame({"id": [1, 2, 3, 4], "x": [1.0, 1.0, np.nan, np.nan]})
    assert repeated_rows(frame, [Column("id", IDENTIFIER, 0.0), Column("x", NUMBER, 0.5)]) == 2
    assert repeated_rows(frame, [Column("id", IDENTIFIER, 0.0)] * 2) == 0
