"""Differences between groups, against loops over groups and hand-made cases."""

import numpy as np
import pandas as pd
import pytest

from gramian.exploration.differences import group_differences, sentence
from gramian.tables.table import BOOLEAN, CATEGORY, CONSTANT, DATE, NUMBER, Column


@pytest.fixture
def table():
    rng = np.random.default_rng(0)
    labels = np.repeat([0, 1, 2], [60, 40, 20])
    age = rng.normal(40, 5, 120) + 20 * (labels == 1)
    age[::17] = np.nan
    frame = pd.DataFrame(
        {
            "age": age,
            "city": pd.Categorical(np.where(labels == 2, "Oslo", rng.choice(["Bonn", "Rome"], 120))),
            "member": pd.array(labels == 0, dtype="boolean"),
            "joined": pd.Timestamp("2020-01-01")
            + pd.to_timedelta(rng.integers(0, 300, 120) + 500 * (labels == 2), "D"),
            "one": 1.0,
        }
    )
    frame.loc[labels == 1, "city"] = np.where(rng.random(40) < 0.8, None, frame.loc[labels == 1, "city"])
    kinds = {"age": NUMBER, "city": CATEGORY, "member": BOOLEAN, "joined": DATE, "one": CONSTANT}
    columns = [Column(name, kind, float(frame[name].isna().mean())) for name, kind in kinds.items()]
    days = (frame["joined"] - frame["joined"].min()).dt.days.to_numpy(float)
    return frame, columns, labels, {"age": age, "joined": days}


def test_effects_of_numbers(table):
    """Difference of means over the pooled standard deviation, as a textbook has it."""
    frame, columns, labels, values = table
    found = group_differences(frame, columns, labels, values)
    effect = next(item.effect for item in found[1] if item.column == "age")
    inside, outside = frame["age"][labels == 1].dropna(), frame["age"][labels != 1].dropna()
    m, n = len(inside), len(outside)
    pooled = np.sqrt(((m - 1) * inside.var() + (n - 1) * outside.var()) / (m + n - 2))
    assert effect == pytest.approx((inside.mean() - outside.mean()) / pooled, rel=1e-12)


def test_shares_of_levels_and_gaps(table):
    frame, columns, labels, values = table
    found = group_differences(frame, columns, labels, values)
    city = next(item for item in found[2] if item.column == "city")
    assert (city.level, city.here, city.elsewhere) == ("Oslo", "100 %", "0 %")
    member = next(item for item in found[0] if item.column == "member")
    assert (member.level, member.effect) == ("yes", 1.0)
    gap = next(item for item in found[1] if item.level == "missing")
    assert gap.column == "city"
    assert gap.effect == pytest.approx(
        frame["city"][labels == 1].isna().mean() - frame["city"][labels != 1].isna().mean()
    )


def test_a_group_between_others_is_told_by_where_it_lies():
    """Its mean is that of the others together, but hardly one of them has values like its own."""
    rng = np.random.default_rng(1)
    labels = np.repeat([0, 1, 2], 50)
    size = rng.normal(np.array([0.0, 5.0, 10.0])[labels], 1).round(2)
    day = pd.Timestamp("2024-01-01") + pd.to_timedelta((100 * size + rng.normal(0, 300, 150)).round(), "D")
    frame = pd.DataFrame({"size": size, "day": day, "noise": rng.normal(size=150)})
    columns = [Column("size", NUMBER, 0.0), Column("day", DATE, 0.0), Column("noise", NUMBER, 0.0)]
    values = {"size": size, "day": (day - day.min()).days.to_numpy(float), "noise": frame["noise"].to_numpy()}
    told = group_differences(frame, columns, labels, values)
    assert [item.level for item in told[0] + told[2]] == [""] * len(told[0] + told[2])
    own, others = np.sort(size[50:100]), size[labels != 1]
    low, high = own[2], own[47]  # the 3rd and the 48th of 50: 5 and 95 %
    assert [item.column for item in told[1]] == ["size", "day"]
    between = told[1][0]
    share = np.mean((others >= low) & (others <= high))
    assert between.level == f"from {low:.3g} to {high:.3g}"
    assert (between.here, between.elsewhere) == ("92 %", f"{round(100 * share, 1):g} %")
    assert between.effect == pytest.approx(0.92 - share)
    assert (
        sentence(told[1][:1], {"size": NUMBER}) == f"size is {between.level} in 92 % (elsewhere {between.elsewhere})."
    )
    # Rows drawn at random lie anywhere.
    for seed in range(20):
        anywhere = np.random.default_rng(seed).permutation(labels)
        assert group_differences(frame, columns, anywhere, values) == [[], [], []]


def test_unused_columns_and_largest_first(table):
    frame, columns, labels, values = table
    for group in group_differences(frame, columns, labels, values):
        assert all(item.column != "one" for item in group)
        numbers = [abs(item.effect) for item in group if not item.level]
        assert numbers == sorted(numbers, reverse=True)


def test_rows_of_no_group_do_not_count(table):
    frame, columns, labels, values = table
    outside = labels.copy()
    outside[::5] = -1
    here = outside >= 0
    part = {name: column[here] for name, column in values.items()}
    assert group_differences(frame, columns, outside, values) == group_differences(
        frame[here].reset_index(drop=True), columns, outside[here], part
    )


def test_one_group_and_tiny_groups(table):
    frame, columns, labels, values = table
    assert group_differences(frame, columns, np.zeros(120, int), values) == [[]]
    labels = np.r_[np.zeros(119, int), 1]
    assert len(group_differences(frame, columns, labels, values)) == 2


def test_groups_of_one_value_each():
    """Nothing varies within groups: as different as can be shown, and no division by zero."""
    frame = pd.DataFrame({"a": [0.0, 0.0, 1.0, 1.0]})
    columns = [Column("a", NUMBER, 0.0)]
    (first,), (second,) = group_differences(frame, columns, np.array([0, 0, 1, 1]), {"a": frame["a"].to_numpy()})
    assert (first.effect, second.effect) == (-9.9, 9.9)


def test_random_groups_do_not_differ():
    """Of 60 draws hardly any has a group of which a difference is told, whatever the sizes of the groups."""
    told = 0
    for seed in range(60):
        rng = np.random.default_rng(seed)
        labels = rng.choice(3, 120, p=[0.6, 0.3, 0.1])
        numbers = {f"x{j}": np.where(rng.random(120) < 0.2, np.nan, rng.standard_normal(120)) for j in range(5)}
        levels = {f"c{j}": pd.Categorical(rng.choice(list("abcd"), 120, p=[0.7, 0.2, 0.06, 0.04])) for j in range(5)}
        columns = [Column(name, NUMBER, 0.2) for name in numbers] + [Column(name, CATEGORY, 0.0) for name in levels]
        told += any(group_differences(pd.DataFrame(numbers | levels), columns, labels, numbers))
    assert told <= 6


def test_a_level_called_missing_is_not_a_gap():
    labels = np.repeat([0, 1], 20)
    frame = pd.DataFrame({"state": pd.Categorical(np.where(labels == 0, "missing", "fine"))})
    first, _ = group_differences(frame, [Column("state", CATEGORY, 0.0)], labels, {})
    assert sentence(first, {"state": CATEGORY}) == "state is 'missing' in 100 % (elsewhere 0 %)."


def test_sentence(table):
    frame, columns, labels, values = table
    kinds = {column.name: column.kind for column in columns}
    told = sentence(group_differences(frame, columns, labels, values)[2], kinds)
    assert "city is Oslo in 100 % (elsewhere 0 %)" in told
    assert "later joined" in told
    assert sentence([], kinds) == "No column stands out."


def test_names_of_columns_keep_their_letters():
    labels = np.repeat([0, 1], 20)
    frame = pd.DataFrame({"state": pd.Categorical(np.where(labels == 0, "on", "off")), "size": 5.0 * labels})
    columns = [Column("state", CATEGORY, 0.0), Column("size", NUMBER, 0.0)]
    first, _ = group_differences(frame, columns[:1], labels, {})
    assert sentence(first, {"state": CATEGORY}).startswith("state is on")
    first, _ = group_differences(frame, columns[1:], labels, {"size": frame["size"].to_numpy()})
    assert sentence(first, {"size": NUMBER}).startswith("Far lower size")


def test_the_middle_of_an_even_number_of_dates_lies_between_them():
    days = pd.Series(pd.to_datetime(["2024-01-01", "2024-01-03", "2024-01-09", "2024-02-01"] * 2))
    days[4:] += pd.Timedelta(days=4000)
    labels = np.repeat([0, 1], 4)
    values = {"day": days.to_numpy().astype("datetime64[s]").astype(float)}
    first, _ = group_differences(pd.DataFrame({"day": days}), [Column("day", DATE, 0.0)], labels, values)
    assert first[0].here == "2024-01-06"


@pytest.mark.parametrize(
    ("here", "there", "told"),
    [
        ([0.0, 0, 0, 9, 8], [0.0, 0, 0, 0, 1], "igher gain (3.4 on average, elsewhere 0.2 on average)."),
        ([1.5171, 1.5172, 1.5173], [1.5151, 1.5152, 1.5153], "higher gain (around 1.517, elsewhere 1.515)."),
        ([2007.0, 2007, 2009, 2010], [2007.0, 2007, 2007, 2007], "igher gain (around 2008, elsewhere 2007)."),
    ],
)
def test_typical_values_of_two_sides_do_not_look_the_same(here, there, told):
    """Means stand for medians that are equal, and digits are added where three are not enough."""
    values = np.array([here, there]).repeat(20, axis=0).ravel()
    labels = np.repeat([0, 1], len(values) // 2)
    first, _ = group_differences(
        pd.DataFrame({"gain": values}), [Column("gain", NUMBER, 0.0)], labels, {"gain": values}
    )
    assert sentence(first, {"gain": NUMBER}).endswith(told)


def test_copies_are_no_evidence():
    """A difference too small to tell from chance stays untold when the table is repeated."""
    rng = np.random.default_rng(3)
    size, labels = rng.normal(size=24), np.repeat([0, 1], 12)
    size[:12] += 0.5
    columns = [Column("size", NUMBER, 0.0)]

    def told(times):
        repeated = np.tile(size, times)
        frame = pd.DataFrame({"size": repeated})
        return group_differences(frame, columns, np.tile(labels, times), {"size": repeated}, once=1 / times)

    assert told(1) == told(8) == [[], []]
