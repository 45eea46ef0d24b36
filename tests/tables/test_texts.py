"""Texts become numbers, dates and booleans, or stay what they are."""

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest

from gramian.tables.texts import are_codes, distinct, parse_booleans, parse_dates, parse_numbers, spread


def test_distinct_texts_and_their_places():
    values = pa.chunked_array([["b", " a ", None], ["NA", "b", "odd"]])
    texts, place = distinct(values, ["odd"])
    assert texts.to_pylist() == ["a", "b"]
    assert place.tolist() == [1, 0, -1, -1, 1, -1]


@pytest.mark.parametrize(
    ("others", "signs", "kept"), [(["x"], False, False), (["+"], False, True), (["x"], True, True)]
)
def test_a_minus_is_missing_unless_there_are_signs(others, signs, kept):
    texts, _ = distinct(pa.chunked_array([["-", *others]]), [], signs=signs)
    assert ("-" in texts.to_pylist()) is kept


@pytest.mark.parametrize(
    ("texts", "decimal", "numbers"),
    [
        (["1.5", "-2", "+3e2"], ".", [1.5, -2, 300]),
        (["1,234.5", "12"], ".", [1234.5, 12]),
        (["1.234,5", "12"], ",", [1234.5, 12]),
        (["1,234", "2,345"], ".", [1234, 2345]),
        (["1,234", "2,345"], ",", [1.234, 2.345]),
        (["$1 200", "\u22123 €", "15%"], ".", [1200, -3, 15]),
        (["1", "2", "much"], ".", [1, 2, np.nan]),
    ],
)
def test_numbers_as_people_write_them(texts, decimal, numbers):
    np.testing.assert_array_equal(parse_numbers(pa.array(texts), decimal)[0], numbers)


@pytest.mark.parametrize("texts", [["a", "b", "1"], ["007", "010"], ["12345678901234567", "1"]])
def test_texts_and_codes_are_no_numbers(texts):
    assert parse_numbers(pa.array(texts), ".")[0] is None


def test_codes_have_zeros_in_front_or_more_digits_than_a_number_keeps():
    assert are_codes(pa.array(["007", "1"]))
    assert are_codes(pa.array(["1234567890123456"]))
    assert not are_codes(pa.array(["0", "10", "123456789012345"]))
    assert not are_codes(pa.array(["007", "x"]))


@pytest.mark.parametrize(
    ("texts", "form", "expected"),
    [
        (["2020-01-31", "2020-02-01 10:30"], "", ["2020-01-31", "2020-02-01 10:30"]),
        (["31.01.2020", "01.02.2020"], "", ["2020-01-31", "2020-02-01"]),
        (["13/01/2020", "02/01/2020"], "", ["2020-01-13", "2020-01-02"]),
        (["01/13/2020", "01/02/2020"], "", ["2020-01-13", "2020-01-02"]),
        (["01/02/2020"], "day first", ["2020-02-01"]),
        (["01/02/2020"], "month first", ["2020-01-02"]),
        (["5 Mar 2020", "12 Apr 2021"], "", ["2020-03-05", "2021-04-12"]),
        (["2021-01", "2021-12"], "", ["2021-01-01", "2021-12-01"]),
        (["2021/1", "2021/12"], "", ["2021-01-01", "2021-12-01"]),
    ],
)
def test_dates(texts, form, expected):
    dates = parse_dates(pa.array(texts), form)[0]
    assert list(dates) == [pd.Timestamp(text) for text in expected]


def test_texts_that_are_no_dates():
    assert parse_dates(pa.array(["one two three", "4"]))[0] is None
    assert parse_dates(pa.array(["2009-10", "2010-11"]))[0] is None  # seasons, from one year to the next


def test_booleans():
    assert parse_booleans(pa.array(["Yes", "no"])).tolist() == [True, False]
    assert parse_booleans(pa.array(["yes", "true"])) is None
    assert parse_booleans(pa.array(["yes", "0", "perhaps"]), every=False).tolist() == [True, False, None]


def test_a_sample_is_spread_over_all():
    assert spread(pa.array(range(5)), 10).to_pylist() == [0, 1, 2, 3, 4]
    assert spread(pa.array(range(100)), 3).to_pylist() == [0, 49, 99]
