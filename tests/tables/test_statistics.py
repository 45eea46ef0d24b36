"""Statistics of parts, merged, are those of the whole: exactly, or within the error that they state."""

from collections import Counter

import numpy as np
import pytest

from gramian.tables import ColumnStatistics, Quantiles, merged_in_turn


@pytest.fixture
def column():
    return np.random.default_rng(0).lognormal(size=60_000).round(3)


def in_parts(column, n_parts):
    places = np.sort(np.random.default_rng(n_parts).integers(0, len(column), n_parts - 1))
    return np.split(column, places)


@pytest.mark.parametrize("n_parts", [1, 3, 17, 40])
def test_ranks_are_off_by_no_more_than_is_stated(column, n_parts):
    parts = (Quantiles.of(part, kept=500) for part in in_parts(column, n_parts))
    merged = merged_in_turn(parts, Quantiles.merged)
    assert len(merged.values) <= 500
    assert 0 < merged.error <= 4 / 500
    assert merged.count == pytest.approx(len(column))
    assert merged.mean == pytest.approx(column.mean())
    assert (merged.values[0], merged.values[-1]) == (column.min(), column.max())
    for share in (0.01, 0.25, 0.5, 0.9, 0.99):
        value = merged.quantile(share)
        below, up_to = (column < value).mean(), (column <= value).mean()
        assert below - merged.error <= share <= up_to + merged.error
    asked = np.quantile(column, np.linspace(0, 1, 50))
    true = (column > asked[:, None]).sum(axis=1)
    assert np.abs(merged.above(asked) - true).max() <= merged.error * len(column) + 1


def test_few_values_are_all_kept():
    """Up to as many values as are kept, nothing is approximated."""
    column = np.random.default_rng(1).normal(size=300)
    merged = Quantiles.merged([Quantiles.of(part, kept=300) for part in in_parts(column, 7)])
    np.testing.assert_array_equal(merged.values, np.sort(column))
    np.testing.assert_array_equal(merged.evenly(), np.sort(column))
    assert merged.error == 0
    np.testing.assert_array_equal(merged.above(column), (column > column[:, None]).sum(axis=1))


def test_an_even_column_has_the_same_distribution(column):
    """Values that stand for unlike numbers of others become a column in which all count alike."""
    parts = [Quantiles.of(column[:50], kept=400), Quantiles.of(column[50:], kept=400)]
    unlike = Quantiles(
        np.concatenate([part.values for part in parts]), np.concatenate([part.weights for part in parts]), kept=400
    )
    order = np.argsort(unlike.values)
    even = Quantiles(unlike.values[order], unlike.weights[order], kept=400).evenly()
    assert len(even) == 400
    for share in (0.1, 0.5, 0.9):
        assert np.mean(column <= np.quantile(even, share)) == pytest.approx(share, abs=0.01)


def test_parts_without_values_change_nothing():
    nothing, some = Quantiles.of(np.empty(0)), Quantiles.of(np.array([3.0, 1.0]))
    merged = Quantiles.merged([nothing, some, nothing])
    assert merged.values.tolist() == [1.0, 3.0]
    assert merged.mean == 2.0
    assert Quantiles.merged([nothing, nothing]).count == 0


def test_counts_are_exact():
    levels = np.random.default_rng(2).choice(["a", "b", "cc", ""], 1000)
    parts = []
    for part in in_parts(levels, 9):
        known = sorted({*part} - {""})
        codes = np.array([known.index(level) if level else -1 for level in part], int)
        parts.append(ColumnStatistics.of_levels([*known, "never"], np.where(codes < 0, -1, codes)))
    merged = ColumnStatistics.merged(parts)
    true = Counter(levels.tolist())
    assert (merged.rows, merged.missing) == (1000, true.pop(""))
    assert merged.levels == true
    names, counts = merged.levels_and_counts()
    assert names.tolist() == ["a", "b", "cc"]
    assert counts.tolist() == [true[name] for name in names]


def test_missing_numbers_are_counted():
    values = np.array([1.0, np.nan, 2.0, np.nan])
    merged = ColumnStatistics.merged([ColumnStatistics.of_numbers(values), ColumnStatistics.of_numbers(values[:2])])
    assert (merged.rows, merged.missing) == (6, 3)
    assert merged.quantiles.values.tolist() == [1.0, 1.0, 2.0]


@pytest.mark.parametrize("n_parts", [1, 15, 16, 17, 256, 300])
def test_parts_are_merged_in_their_order_and_few_are_held(n_parts):
    most = 0

    def merge(parts):
        nonlocal most
        most = max(most, len(parts))
        return [number for part in parts for number in part]

    assert merged_in_turn(([number] for number in range(n_parts)), merge) == list(range(n_parts))
    assert most <= 3 * 16
