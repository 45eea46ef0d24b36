"""Numbers, shares, lists and dates read as people write them."""

import numpy as np
import pytest

from gramian.exploration.wording import count, day, listing, number, percent, short


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (0.0, "0"), (3.0, "3"), (-3.0, "−3"), (1234567.0, "1,234,567"), (0.012345, "0.0123"), (12.345, "12.3"),
        (999.6, "1,000"), (1.5e-9, "1.5e-09"), (-2e12, "−2e+12"), (np.nan, "missing"), (np.inf, "∞"), (-np.inf, "−∞"),
    ],
)  # fmt: skip
def test_numbers(value, text):
    assert number(value) == text


@pytest.mark.parametrize(
    ("share", "text"),
    [
        (0.0, "0 %"),
        (1e-5, "under 0.1 %"),
        (0.0044, "0.4 %"),
        (0.0996, "10 %"),
        (0.244, "24 %"),
        (0.9949, "99 %"),
        (0.9999, "over 99 %"),
        (1, "100 %"),
    ],
)
def test_shares(share, text):
    assert percent(share) == text


def test_counts_and_lists():
    assert count(1, "row") == "1 row"
    assert count(0, "row") == "0 rows"
    assert count(12345, "category", "categories") == "12,345 categories"
    assert listing([]) == ""
    assert listing(["a"]) == "a"
    assert listing(["a", "b", "c"]) == "a, b and c"


def test_dates_and_levels():
    assert day(np.datetime64("2024-02-29")) == "2024-02-29"
    assert day(np.datetime64("2024-02-29T13:30:10")) == "2024-02-29 13:30"
    assert day(np.datetime64("NaT")) == "missing"
    assert short("x" * 40) == "x" * 40
    assert short("x" * 41) == "x" * 39 + "…"
    assert short(np.bool_(False)) == "no"
