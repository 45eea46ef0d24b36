"""Odd rows have reasons that name what is odd: a value, a level, or two that never meet."""

import numpy as np
import pandas as pd
import pytest

from gramian.exploration.odd_rows import oddities
from gramian.tables import CATEGORY, DATE, EMPTY, NUMBER, Column


def reasons(frame, kinds, odd, labels=None):
    """The reasons of the named rows, oddest first."""
    n = len(frame)
    columns = [Column(name, kinds[name], 0.0) for name in frame]
    values = {
        name: frame[name].to_numpy().astype("datetime64[s]").astype(float) if kind == DATE else frame[name].to_numpy()
        for name, kind in kinds.items()
        if kind in (NUMBER, DATE)
    }
    oddness = np.zeros(n)
    oddness[odd] = np.linspace(0.9, 0.6, len(odd))
    found = oddities(frame, columns, np.zeros(n, int) if labels is None else labels, values, oddness)
    assert [item.row for item in found] == list(odd)
    return [item.reason for item in found]


@pytest.fixture
def rng():
    return np.random.default_rng(2)


def test_a_far_value_is_told_with_what_is_usual_in_its_group(rng):
    pulse = np.r_[rng.uniform(40, 90, 50).round(), rng.uniform(150, 200, 50).round()]
    pulse[3] = 184.0
    labels = np.repeat([0, 1], 50)
    own = np.sort(pulse[:50])
    (told,) = reasons(pd.DataFrame({"pulse": pulse}), {"pulse": NUMBER}, [3], labels)
    assert told == f"pulse 184, usual {own[2]:.0f}–{own[47]:.0f} in its group"


def test_a_far_value_has_the_digits_that_tell_it_from_what_is_usual():
    index = np.linspace(1.5171, 1.5179, 60)
    index[9] = 1.5112
    (told,) = reasons(pd.DataFrame({"RI": index}), {"RI": NUMBER}, [9])
    assert told.startswith("RI 1.511, usual 1.517–1.518")


def test_a_date_far_out(rng):
    days = pd.Series(pd.Timestamp("2024-01-01") + pd.to_timedelta(rng.integers(0, 30, 60), "D"))
    days[7] = pd.Timestamp("2031-05-06")
    (told,) = reasons(pd.DataFrame({"born": days}), {"born": DATE}, [7])
    assert told.startswith("born 2031-05-06, usual 2024-01-0")


def test_a_rare_level_is_counted_in_the_own_group():
    level = np.array(["x"] * 100, object)
    level[60] = "y"
    level[[70, 71]] = "z"
    level[:20] = "w"
    frame = pd.DataFrame({"b": pd.Categorical(level)})
    labels = np.repeat([0, 1], 50)
    assert reasons(frame, {"b": CATEGORY}, [60, 70, 3], labels) == [
        "the only row of its group with b y",
        "b z, as 4 % of its group",
        "no value is rare by itself; its least usual: b w (as 40 % of its group)",
    ]


def test_two_levels_that_never_meet_elsewhere():
    species = np.repeat(["Adelie", "Gentoo"], 60)
    island = np.repeat(["Torgersen", "Biscoe"], 60)
    island[5] = "Biscoe"
    frame = pd.DataFrame({"species": pd.Categorical(species), "island": pd.Categorical(island)})
    (told,) = reasons(frame, {"species": CATEGORY, "island": CATEGORY}, [5])
    assert told == "the only row with species Adelie and island Biscoe"


def test_a_level_and_a_number_that_never_meet_elsewhere(rng):
    heavy = np.repeat([False, True], 100)
    weight = np.where(heavy, rng.uniform(60, 80, 200), rng.uniform(10, 30, 200))
    weight[4] = 75.0
    frame = pd.DataFrame({"kind": pd.Categorical(np.where(heavy, "large", "small")), "weight": weight})
    told = reasons(frame, {"kind": CATEGORY, "weight": NUMBER}, [4])[0]
    high = np.quantile(weight, 0.8)
    assert f"the only row with kind small and weight 75 (above {high:.3g})" in told


def test_gaps_are_counted_in_columns_that_are_used():
    frame = pd.DataFrame({"a": [1.0, 1.2, np.nan], "b": [1.0, 2.0, np.nan], "c": [np.nan] * 3})
    assert reasons(frame, {"a": NUMBER, "b": NUMBER, "c": EMPTY}, [2]) == ["2 of 2 values are missing"]


def test_a_row_without_rare_values_has_its_least_usual_ones_named(rng):
    """The reason names values, also where none is far out."""
    frame = pd.DataFrame({"size": np.arange(100.0), "coat": pd.Categorical(["long"] * 80 + ["short"] * 20)})
    frame.loc[5, "size"] = 90.0
    labels = np.repeat([0, 1], [90, 10])
    (told,) = reasons(frame, {"size": NUMBER, "coat": CATEGORY}, [70], labels)
    assert told == (
        "no value is rare by itself; its least usual: size 70 (above 77 % of its group) and "
        "coat long (as 89 % of its group)"
    )
    assert np.mean(frame["size"][:90] < 70) == pytest.approx(0.7667, abs=1e-4)


def test_without_groups_rows_are_compared_with_all_rows(rng):
    """No groups: nothing is said of a group. A row of no group is compared with all rows too."""
    pulse = rng.uniform(40, 90, 60).round()
    pulse[3] = 184.0
    frame = pd.DataFrame({"pulse": pulse})
    (alone,) = reasons(frame, {"pulse": NUMBER}, [3])
    assert alone.endswith(" in all rows")
    labels = np.repeat([0, 1], 30)
    labels[3] = -1
    assert reasons(frame, {"pulse": NUMBER}, [3], labels) == [alone]


def test_rows_with_a_low_score_are_not_listed():
    frame = pd.DataFrame({"a": [1.0, 2.0, 3.0]})
    columns = [Column("a", NUMBER, 0.0)]
    values = {"a": frame["a"].to_numpy()}
    assert oddities(frame, columns, np.zeros(3, int), values, np.array([0.0, 0.59, 0.3])) == []


def test_only_some_rows_may_be_listed():
    """Typical rows of a small group and copies of a listed row are left out by the caller."""
    frame = pd.DataFrame({"a": [1.0, 2.0, 3.0]})
    columns = [Column("a", NUMBER, 0.0)]
    values = {"a": frame["a"].to_numpy()}
    found = oddities(frame, columns, np.zeros(3, int), values, np.array([0.9, 0.6, 0.7]), among=np.array([1, 2]))
    assert [item.row for item in found] == [2, 1]
