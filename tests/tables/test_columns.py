"""The kind of a column follows from its content, and its values survive the change of type."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from gramian.tables.columns import settle
from gramian.tables.table import Column


def settled(values: Any, name: str = "x", **options: Any) -> tuple[pd.Series, Column]:
    return settle(name, pa.chunked_array([pa.array(values)]), **options)


def kind_of(values: Any, name: str = "x") -> str:
    return settled(values, name)[1].kind


@pytest.mark.parametrize(
    ("texts", "numbers"),
    [
        (["1", "2.5", "-3e2"], [1, 2.5, -300]),
        (["1,234.5", "12", "1,000,000"], [1234.5, 12, 1_000_000]),
        (["12 %", "3.5%", "100 %"], [12, 3.5, 100]),
        (["$3", "-$4.50", "$1,200"], [3, -4.5, 1200]),
        (["3 €", "4,50 €", "1.200,00 €"], [3, 4.5, 1200]),
        (["1 234,5", "2\u00a0345,5", "7"], [1234.5, 2345.5, 7]),
        (["1'234", "12'345.5", "7"], [1234, 12345.5, 7]),
        (["+1.5", " 2 ", "3."], [1.5, 2, 3]),
        (["\u22121.5", "2", "\u22123"], [-1.5, 2, -3]),
        (["0,125", "0,250", "0,375"], [0.125, 0.25, 0.375]),  # thousands do not begin with a zero
    ],
)
def test_numbers_written_by_people(texts: list[str], numbers: list[float]) -> None:
    series, column = settled(texts)
    assert series.tolist() == numbers
    assert str(series.dtype) == "float64"
    assert column.kind == "number"


def test_a_few_slips_do_not_make_a_text_of_numbers() -> None:
    _, column = settled([str(i / 4) for i in range(96)] + ["about 3"] * 4)
    assert column.kind == "number"
    assert column.missing == 0.04
    assert column.note == "4 values such as 'about 3' as missing"
    assert kind_of(["1.5", "2.5"] * 45 + ["low", "high"] * 5) == "category"


def test_a_column_of_nothing_but_the_word_for_infinity_is_text() -> None:
    series, column = settled(["INF", None, "inf", "INF"])
    assert column.kind == "category"
    assert series.astype(object).tolist()[:1] == ["INF"]
    series, column = settled(["1.5", "inf", "2"])
    assert column.kind == "number"
    assert (series.isna().tolist(), column.note) == ([False, True, False], "1 infinite value as missing")


def test_two_values() -> None:
    series, column = settled(["Yes", "no", "", "YES"])
    assert series.tolist() == [True, False, pd.NA, True]
    assert column.kind == "boolean"
    assert kind_of([0, 1, 1, 0]) == kind_of(["0", "1", "0"]) == kind_of([True, False]) == "boolean"
    assert kind_of([1, 2, 2, 1]) == "number"
    assert kind_of(["male", "female", "male"]) == "category"
    assert kind_of(["yes", "no", "maybe", "no"]) == "category"


def test_few_whole_numbers_stay_numbers_unless_the_name_or_zeros_say_otherwise() -> None:
    assert kind_of([1, 2, 3, 1, 2, 3, 3], "grade") == "number"
    assert kind_of([1, 2, 3, 1, 2, 3, 3], "store_id") == "category"
    for name in ("label", "Class", "wine_class"):
        assert kind_of([1, 2, 3, 1, 2, 3, 3], name) == kind_of([1.0, 2.0, 2.0, 1.0], name) == "category"
    assert kind_of([1, 2, 3, 1, 2, 3, 3], "classes_taken") == kind_of([1, 2, 3.5, 1, 2], "class") == "number"
    assert kind_of([*range(51)] * 3, "label") == "number"
    assert kind_of([20095, 10115, 80331, 10115, 50667], "zip") == "text"  # most are there once
    assert kind_of([20095, 10115, 80331, 10115, 50667], "price") == "number"
    series, column = settled(["00501", "10001", "00501", "10001"])
    assert column.kind == "category"
    assert series.tolist()[0] == "00501"


def test_identifiers_and_columns_that_are_only_unique() -> None:
    rng = np.random.default_rng(0)
    assert kind_of(np.arange(50)) == kind_of(rng.permutation(np.arange(1, 51))) == "identifier"
    assert kind_of(rng.permutation(np.arange(300)) + 5000) == "identifier"
    assert kind_of(rng.choice(10**6, 50, replace=False), "customerId") == "identifier"
    assert kind_of(rng.choice(10**6, 50, replace=False), "income") == "number"
    assert kind_of(np.arange(1990, 2021), "year") == "number"
    assert kind_of(rng.normal(size=100)) == kind_of(rng.normal(size=100).astype(str).tolist()) == "number"
    assert kind_of(rng.normal(size=100), "id") == "number"
    assert kind_of([f"A-{i}" for i in range(40)]) == "identifier"


@pytest.mark.parametrize("written", [lambda number: number, str])
@pytest.mark.parametrize("first", [2**53, 2**63 - 9])
def test_whole_numbers_that_a_float_does_not_keep_are_names(written: Any, first: int) -> None:
    """Seen as floats they would all be the same."""
    numbers = [first + i for i in range(8)]
    series, column = settled([written(number) for number in numbers], "account")
    assert column.kind == "identifier"
    assert [int(value) for value in series] == numbers
    assert kind_of([written(number) for number in numbers] * 9, "account") == "category"


def test_a_decimal_among_many_whole_numbers_is_no_leading_zero() -> None:
    texts = [str(i % 90) for i in range(100_000)]
    texts[7] = "0.5"
    series, column = settled(texts, "grade")
    assert column.kind == "number"
    assert series[7] == 0.5


def test_hexadecimal_texts_are_texts() -> None:
    series, column = settled(["0x10", "0x1F", "0X20"] * 3)
    assert column.kind == "category"
    assert series.tolist()[:3] == ["0x10", "0x1F", "0X20"]


def test_declared_codes_need_not_be_plain_numbers() -> None:
    series, _ = settled([1.5, -9e9, 2.0, 1.2], missing=["-9e9", "1.2.3", "unknown"])
    assert series.isna().tolist() == [False, True, False, False]


def test_texts() -> None:
    words = ["the", "quick", "brown", "fox", "jumps", "over", "lazy", "dogs"]
    rng = np.random.default_rng(0)
    sentences = [" ".join(rng.choice(words, 8)) for _ in range(60)]
    assert settled(sentences)[1] == Column("x", "text", 0.0, "free text")
    names = [f"{a}{b}" for a in ("an", "be", "ce", "do", "el") for b in ("na", "ra", "lo", "mi", "su")]
    assert kind_of(names) == "text"
    assert kind_of(names * 4) == "category"


def test_empty_and_constant() -> None:
    assert kind_of(["", "NA", " "]) == kind_of([None, None]) == kind_of([float("nan")] * 2) == "empty"
    assert settled(["a", "a", None])[1] == Column("x", "constant", 1 / 3, "always 'a'")
    assert settled([2, 2, 2])[1].note == "always 2.0"
    series, column = settled(["NO", None, "NO"])
    assert (series.tolist()[0], series.isna().tolist()) == ("NO", [False, True, False])
    assert column == Column("x", "constant", 1 / 3, "always 'NO'")


def test_infinite_numbers_are_missing() -> None:
    series, column = settled(["inf", "1.5", "-inf", "2"])
    assert series.isna().tolist() == [True, False, True, False]
    assert column.note == "2 infinite values as missing"


@pytest.mark.parametrize(
    "form",
    [
        "%Y-%m-%d",
        "%Y-%m-%dT%H:%M:%S",
        "%Y-%m-%d %H:%M",
        "%d/%m/%Y",
        "%m/%d/%Y",
        "%d.%m.%Y",
        "%Y/%m/%d",
        "%d-%m-%Y %H:%M",
        "%m/%d/%Y %I:%M %p",
        "%d %b %Y",
        "%B %d, %Y",
        "%d/%m/%y",
        "%Y%m%d",
    ],
)
def test_dates_are_read_back_in_any_common_format(form: str) -> None:
    dates = pd.date_range("2019-01-07 13:45", periods=60, freq="8D")
    texts = [date.strftime(form) for date in dates]
    series, column = settled(texts)
    expected = [pd.to_datetime(text, format=form) for text in texts]
    assert column.kind == "date"
    assert series.tolist() == expected
    assert ("the day first" in column.note) == (form[:3] in ("%d/", "%d-"))


def test_the_order_of_day_and_month_is_told_by_one_value_and_unclear_without() -> None:
    _, column = settled(["01/02/2020", "03/04/2020"] * 300)
    assert column.note.endswith("the month first; the other order would fit as well")
    series, column = settled(["01/02/2020", "03/04/2020"] * 300 + ["13/01/2020"])
    assert column.note == "dates as in 13/01/2020, the day first"
    assert series[0] == pd.Timestamp("2020-02-01")


def test_time_zones_become_universal_time() -> None:
    series, _ = settled(["2020-01-01T00:30:00+02:00", "2020-06-01T12:00:00Z"])
    assert series.tolist() == [pd.Timestamp("2019-12-31 22:30"), pd.Timestamp("2020-06-01 12:00")]


def test_a_given_kind_is_kept_or_refused() -> None:
    assert settled([1.0, 2.0, None], kind="category")[0].tolist()[:2] == ["1", "2"]
    assert settled(["7", "7"], kind="number")[1].kind == "number"
    assert settled([True, None], kind="number")[0].tolist()[0] == 1
    assert settled([1, 0, None], kind="boolean")[0].tolist() == [True, False, pd.NA]
    assert settled([20200131], kind="date")[0].tolist() == [pd.Timestamp("2020-01-31")]
    assert str(settled([None, None], kind="date")[0].dtype) == "datetime64[us]"
    for kind, value in (("number", "many"), ("boolean", "maybe"), ("date", "soon")):
        with pytest.raises(ValueError, match=rf"row 12, column 'x': '{value}' is not a {kind}"):
            settled(["", "", value], kind=kind, first_row=10)


def test_numbers_that_a_frame_has_as_categories_are_a_category() -> None:
    """Who calls a column of pandas categorical has said what it is; names of single rows are no kinds all the same."""
    levels = [2.0, 1.0, None, 10.0, 1.0] * 6
    for values in (levels, pd.array(levels, dtype="Int64")):
        series, column = settled(pd.Categorical(values))
        assert column.kind == "category"
        assert series[:5].tolist()[:2] == ["2", "1"]
        assert series.isna().sum() == 6
        assert settled(values)[1].kind == "number"
    assert settled(pd.Categorical(np.arange(50) * 1.5))[1].kind == "number"
    assert settled(pd.Categorical(["2020-01-01", "2020-01-02"] * 4))[1].kind == "date"
    assert settled(pd.Categorical([3, 3, 3]))[1].kind == "constant"
    assert settled(pd.Categorical([3, 4, 3]), kind="number")[0].tolist() == [3.0, 4.0, 3.0]


@given(
    values=st.lists(st.sampled_from(["a", "b", "7", "8.5", "", "NA", "2020-01-01", "yes", "no", "0"]), min_size=1),
    seed=st.integers(0, 100),
)
@settings(max_examples=60, deadline=None)
def test_the_order_of_rows_does_not_change_a_column(values: list[str], seed: int) -> None:
    order = np.random.default_rng(seed).permutation(len(values))
    series, column = settled(values)
    shuffled, again = settled([values[i] for i in order])
    assert again.kind == column.kind
    assert again.missing == column.missing
    pd.testing.assert_series_equal(series.iloc[order].reset_index(drop=True), shuffled)


def test_a_code_of_missing_values_may_be_written_in_another_way() -> None:
    """-999.0 is -999 in a column that must be of numbers too, and no slip."""
    for kind in (None, "number"):
        series, column = settled(["-999.0", "1.5", "2", "-9.99e2"], missing=["-999"], kind=kind)
        assert series.isna().tolist() == [True, False, False, True]
        assert (column.kind, column.note) == ("number", "")
