"""The strength of association between columns, against correlations and columns that determine each other."""

import numpy as np
import pytest

from gramian.exploration.association import Associations, associations
from gramian.tables import CATEGORY, NUMBER, Column


def number_columns(*names):
    return [Column(name, NUMBER, 0.0) for name in names]


@pytest.fixture
def rng():
    return np.random.default_rng(5)


def test_numbers_on_a_line_a_parabola_and_by_themselves(rng):
    x = rng.standard_normal(400)
    X = np.column_stack([x, 2 * x + 1e-6, x**2 - 1, rng.standard_normal(400)])
    names = ["x", "line", "parabola", "noise"]
    found = associations(X, names, number_columns(*names), names)
    assert found.columns == names
    np.testing.assert_array_equal(np.diag(found.strength), 1)
    np.testing.assert_array_equal(found.strength, found.strength.T)
    assert found.strength[0, 1] > 0.9
    assert found.strength[0, 2] > 0.4  # which a correlation, 0 here, does not see
    assert found.strength[0, 3] < 0.2


@pytest.mark.parametrize("rho", [0.5, 0.9])
def test_of_normal_numbers_it_is_about_the_size_of_the_correlation(rng, rho):
    X = rng.multivariate_normal([0, 0], [[1, rho], [rho, 1]], 500)
    found = associations(X, ["a", "b"], number_columns("a", "b"), ["a", "b"])
    assert found.strength[0, 1] == pytest.approx(rho, abs=0.17)


def test_category_with_number(rng):
    codes = rng.integers(0, 3, 300)
    levels = np.eye(3)[codes]
    X = np.column_stack([levels, codes + 0.1 * rng.standard_normal(300), rng.standard_normal(300)])
    columns = [Column("kind", CATEGORY, 0.0), *number_columns("tells", "noise")]
    found = associations(X, ["kind"] * 3 + ["tells", "noise"], columns, ["tells", "kind", "noise"])
    assert found.columns == ["tells", "kind", "noise"]
    assert found.strength[0, 1] > 0.8
    assert found.strength[1, 2] < 0.2


def test_rows_without_both_values_are_left_out(rng):
    x = rng.standard_normal(200)
    X = np.column_stack([x, x, x])
    X[::2, 1] = np.nan
    X[1::2, 2] = np.nan
    found = associations(X, ["a", "b", "c"], number_columns("a", "b", "c"), ["a", "b", "c"])
    assert found.strength[0, 1] > 0.95
    assert np.isnan(found.strength[1, 2])  # no row has both


def test_constant_and_nearly_empty_columns_are_left_out(rng):
    X = np.column_stack([rng.standard_normal(100), np.ones(100), np.full(100, np.nan)])
    X[:5, 2] = 1.0
    assert associations(X, ["a", "b", "c"], number_columns("a", "b", "c"), ["a", "b", "c"]).columns == ["a"]


def test_only_the_first_columns_and_some_rows_are_compared(rng):
    X = rng.standard_normal((2000, 30))
    names = [f"c{j}" for j in range(30)]
    found = associations(X, names, number_columns(*names), names[::-1], seed=1)
    assert found.columns == names[::-1][:24]
    again = associations(X, names, number_columns(*names), names[::-1], seed=1)
    np.testing.assert_array_equal(found.strength, again.strength)


def test_strongest_pairs_come_first_and_weak_ones_not_at_all():
    strength = np.array([[1, 0.4, 0.9], [0.4, 1, np.nan], [0.9, np.nan, 1]])
    found = Associations(["a", "b", "c"], strength)
    assert found.strongest() == [("a", "c", 0.9), ("a", "b", 0.4)]
    assert found.strongest(1) == [("a", "c", 0.9)]
