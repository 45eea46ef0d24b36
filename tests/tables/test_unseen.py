"""Values that the fitted table did not have are found, each by its row, column and value."""

import io

import numpy as np
import pandas as pd
import pytest

from gramian.tables import Preparation, read_table
from gramian.tables.unseen import unseen_values


@pytest.fixture(scope="module")
def preparation():
    rng = np.random.default_rng(0)
    n = 200
    pets = pd.DataFrame(
        {
            "weight": rng.uniform(1, 40, n).round(1),
            "price": np.exp(rng.normal(5, 1, n)).round(2),
            "coat": rng.choice(["long", "short", "none"], n),
            "born": pd.Timestamp("2019-01-01") + pd.to_timedelta(rng.integers(0, 800, n), "D"),
            "tame": rng.choice([True, False], n),
        }
    )
    pets.loc[0, "weight"], pets.loc[1, "weight"] = 1.0, 40.0
    return Preparation().fit(read_table(pets))


def rows(**columns):
    n = max(len(values) for values in columns.values())
    default = {
        "weight": [5.0] * n,
        "price": [150.0] * n,
        "coat": ["long"] * n,
        "born": [pd.Timestamp("2020-01-01")] * n,
    }
    return pd.DataFrame(default | {"tame": [True] * n} | columns)


def test_levels_and_values_far_outside(preparation):
    new = rows(
        weight=[900.0, 41.0, -30.0, np.nan],
        coat=["blue", "long", None, "short"],
        born=[*pd.to_datetime(["2020-01-01", "2040-06-01", "2019-05-05"]), pd.NaT],
    )
    found = unseen_values(preparation, new)
    assert found.notes() == [
        "weight 900 lies outside 1–40; coat 'blue' was not seen",
        f"born 2040-06-01 lies outside {_born(preparation)}",
        "weight -30 lies outside 1–40",
        "",
    ]
    assert found.summary() == ["3 rows have values that were not seen: weight (2), coat (1), born (1)"]


def _born(preparation):
    low, high = preparation.recipes_["born"]["elapsed"]["range"]
    return "–".join(str(np.datetime64(int(end), "s").astype("datetime64[D]")) for end in (low, high))


def test_a_heavy_tail_may_go_on(preparation):
    """Twice the largest price is nothing unusual where prices are spread over a hundredfold; twice the weight is."""
    low, high = preparation.recipes_["price"]["range"]
    assert high / low > 50
    assert unseen_values(preparation, rows(price=[2 * high, 100 * high])).notes()[0] == ""
    assert unseen_values(preparation, rows(price=[2 * high, 100 * high])).notes()[1] != ""
    assert unseen_values(preparation, rows(weight=[80.0])).notes() != [""]


def test_rows_without_any_value(preparation):
    new = rows(weight=[np.nan] * 2, price=[np.nan] * 2, coat=[None, "long"], born=[pd.NaT] * 2, tame=[None] * 2)
    found = unseen_values(preparation, new)
    assert found.empty.tolist() == [0]
    assert found.notes() == ["no value to compare by", ""]
    assert found.summary() == ["1 row has no value to compare by and no group"]


def test_cells_that_are_not_of_their_kind_are_named(preparation):
    """They count as missing; codes of missing values, and cells that say that there is none, are no slips."""
    text = (
        "weight,price,coat,born,tame\nabc,1e3,long,2020-01-01,yes\n inf ,-999,long,gestern,perhaps\n"
        "5,150,long,2020-01-01,no\nN/A,-,long,?,\n5,150,long,2020-01-01,no\n"
    )
    table = read_table("new.csv", stream=io.BytesIO(text.encode()), like=preparation, missing=[-999])
    found = unseen_values(preparation, table)
    assert found.notes() == [
        "weight 'abc' is not a number",
        "weight 'inf' is not a number; born 'gestern' is not a date; tame 'perhaps' is not a truth value",
        "",
        "",
        "",
    ]
    assert found.summary() == [
        "2 rows have values that cannot be read and count as missing: weight (2), born (1), tame (1)"
    ]
    # Numbers of a file that knows their type may be infinite too.
    frame = rows(weight=[5.0, np.inf, np.nan, -999.0])
    found = unseen_values(preparation, read_table(frame, like=preparation, missing=[-999]))
    assert found.notes() == ["", "weight 'inf' is not a number", "", ""]


def test_columns_that_are_not_there_are_named_with_the_nearest(preparation):
    with pytest.raises(ValueError, match="no column 'weight'; rename 'Wieght' if it is meant, or add it"):
        unseen_values(preparation, rows(weight=[1.0]).rename(columns={"weight": "Wieght"}))


def test_nothing_unusual_is_nothing_said(preparation):
    found = unseen_values(preparation, rows(weight=[5.0, 39.0]))
    assert (found.notes(), found.summary()) == (["", ""], [])
