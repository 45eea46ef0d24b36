"""Values of a table as people read them."""

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from gramian.report.words import cell, clean, effect, number, rounded, share, steadiness


@given(st.text(max_size=300), st.integers(5, 80))
def test_cleaned_text_is_short_and_can_be_written(text, longest):
    short = clean(text, longest)
    assert len(short) <= longest
    assert "\n" not in short
    short.encode()
    assert clean(short, longest) == short


@given(st.floats(allow_nan=False, allow_infinity=False, min_value=-1e14, max_value=1e14))
def test_numbers_keep_four_digits(value):
    read = float(number(value).replace(",", "").replace("−", "-"))
    assert read == pytest.approx(value, rel=1e-3, abs=1e-9)


@pytest.mark.parametrize(
    ("value", "kind", "text"),
    [
        (np.nan, "number", ""),
        (None, "text", ""),
        (pd.NA, "category", ""),
        (pd.NaT, "date", ""),
        (True, "boolean", "yes"),
        (np.False_, "boolean", "no"),
        (np.True_, "ignored", "yes"),
        (pd.Timestamp("2024-02-29"), "date", "2024-02-29"),
        (pd.Timestamp("2024-02-29 07:05"), "date", "2024-02-29 07:05"),
        (12345.678, "number", "12,346"),
        (1234567, "number", "1,234,567"),
        ("a\nb", "text", "a b"),
        ("12,5", "number", "12,5"),
    ],
)
def test_cells(value, kind, text):
    assert cell(value, kind) == text


def test_signs_and_shares():
    assert [effect(value) for value in (0.254, -1.0, 0.0)] == ["+0.25", "−1.00", "0.00"]
    assert share(np.nan) == "–"
    assert [steadiness(value) for value in (0.95, 0.8, 0.6, 0.1)] == [
        "very steady",
        "steady",
        "fairly steady",
        "shaky",
    ]


@pytest.mark.parametrize("unit", [1e-100, 1e-12, 1.0, 1e3])
def test_rounding_keeps_five_digits_of_the_error_in_any_unit(unit):
    """Farads and metres per second squared are small numbers, and none of them is zero."""
    values = np.random.default_rng(0).normal(size=50) * unit
    assert np.abs(rounded(values, 0.1 * unit) - values).max() <= 1e-5 * unit
    assert rounded(np.array([0.1 + 0.2]), 1e-16).tolist() == [0.3]
    assert rounded(np.zeros(2), 0.0).tolist() == [0.0, 0.0]
