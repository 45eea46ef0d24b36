"""Numbers, lists and counts as people write them."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from datetime import datetime
from typing import Any

import numpy as np


def number(value: float, digits: int = 3) -> str:
    """A number in few digits, without exponents where that is readable.

    >>> number(1234567.0), number(0.012345), number(-3.0), number(1.5e-9)
    ('1,234,567', '0.0123', '−3', '1.5e-09')
    """
    if not np.isfinite(value):
        return "missing" if np.isnan(value) else ("∞" if value > 0 else "−∞")
    if value != 0 and not 1e-4 <= abs(value) < 1e9:
        text = f"{value:.{digits}g}"
    elif abs(value) >= 10 ** (digits - 1) or value == round(value):
        text = f"{value:,.0f}"
    else:
        text = f"{value:.{digits}g}"
    return text.replace("-", "−", 1) if value < 0 else text


def are_years(values: Any) -> bool:
    """Whether numbers look like years: whole, from 1500 to 2100; missing ones do not matter.

    >>> are_years(np.array([1987.0, np.nan, 2007.0])), are_years(np.array([900.0, 2007.0]))
    (True, False)
    """
    numbers = np.asarray(values, np.float64)
    known = numbers[np.isfinite(numbers)]
    return bool(len(known) and known.min() >= 1500 and known.max() <= 2100 and (known == np.rint(known)).all())


def number_words(values: Any) -> Callable[..., str]:
    """How to write the numbers of a column: years without thousands separators, others as :func:`number` does.

    >>> number_words(np.array([1987.0, 2007.0]))(2007.0), number_words(np.array([7.0, 2007.0]))(2007.0)
    ('2007', '2,007')
    """
    return _year if are_years(values) else number


def _year(value: float, digits: int = 3) -> str:
    return number(value, digits).replace(",", "")


def told_apart(words: Callable[..., str], *values: float) -> list[str]:
    """Numbers written by :func:`number_words`, in as many digits as tell those that differ apart.

    >>> told_apart(number, 1.5112, 1.5148, 2.0), told_apart(number, 1.0, 1.0)
    (['1.511', '1.515', '2'], ['1', '1'])
    """
    told = [words(value) for value in values]
    for digits in range(4, 10):
        if len(set(told)) == len(set(values)):
            break
        told = [words(value, digits) for value in values]
    return told


def percent(share: float) -> str:
    """A share in per cent, with a decimal below 10 %; never 0 % for something, never 100 % for less than all.

    >>> percent(0.244), percent(0.0421), percent(0.0), percent(1e-5), percent(0.997), percent(1.0)
    ('24 %', '4.2 %', '0 %', 'under 0.1 %', 'over 99 %', '100 %')
    """
    if 0 < share < 0.0005:
        return "under 0.1 %"
    if 0.995 <= share < 1:
        return "over 99 %"
    return f"{round(100 * share, 1 if share < 0.0995 else 0):g} %"


def count(n: int, one: str, many: str = "") -> str:
    """How many of something.

    >>> count(1, "row"), count(12345, "row"), count(2, "category", "categories")
    ('1 row', '12,345 rows', '2 categories')
    """
    return f"{n:,} {one if n == 1 else many or one + 's'}"


def listing(words: Sequence[str]) -> str:
    """Words with commas and an "and".

    >>> listing(["a"]), listing(["a", "b"]), listing(["a", "b", "c"])
    ('a', 'a and b', 'a, b and c')
    """
    return ", ".join(words[:-1]) + " and " + words[-1] if len(words) > 1 else "".join(words)


def day(value: Any) -> str:
    """A date, with the time of day only where there is one.

    >>> day(np.datetime64("2024-02-29")), day(np.datetime64("2024-02-29T13:30"))
    ('2024-02-29', '2024-02-29 13:30')
    """
    moment = np.datetime64(value, "s").astype(datetime)
    if moment is None:
        return "missing"
    midnight = (moment.hour, moment.minute, moment.second) == (0, 0, 0)
    return f"{moment:%Y-%m-%d}" if midnight else f"{moment:%Y-%m-%d %H:%M}"


def short(value: Any, length: int = 40) -> str:
    """A level in words: yes and no, or the beginning of a long text.

    >>> short("x" * 50, 5), short(True)
    ('xxxx…', 'yes')
    """
    text = ("no", "yes")[bool(value)] if isinstance(value, (bool, np.bool_)) else str(value)
    return text if len(text) <= length else text[: length - 1] + "…"
