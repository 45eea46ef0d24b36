"""Bends of numbers: those that make a column normal within its groups, and none where it is."""

import numpy as np
import pytest

from gramian.clustering.automatic.bending import bends_within_classes
from gramian.clustering.automatic.class_tables import ClassTable, completed, fit_all
from gramian.clustering.automatic.variables import Coding, Variables, bent


@pytest.fixture
def rng():
    return np.random.default_rng(3)


def groups(rng, n=400):
    """Two groups in two numbers, the second log-normal within each, and two categories; a few holes."""
    labels = rng.integers(2, size=n)
    plain = rng.normal(size=n) + 4 * labels
    skewed = np.exp(0.8 * (rng.normal(size=n) + 2.5 * labels) / 1.6)
    codes = np.where(rng.random((n, 2)) < 0.85, labels[:, None], 1 - labels[:, None])
    numbers = np.column_stack([plain, skewed])
    numbers[rng.random(numbers.shape) < 0.03] = np.nan
    return numbers, codes


def test_the_slope_is_the_derivative_on_both_sides_of_the_tangent():
    z = np.linspace(-3, 3, 41)
    for bend in (-0.8, -0.1, 0.3, 1.2):
        numeric = (bent(z + 1e-6, bend) - bent(z - 1e-6, bend)) / 2e-6
        np.testing.assert_allclose(bent(z, bend, slope=True), numeric, rtol=1e-4)
        assert (np.diff(bent(z, bend)) > 0).all()
    np.testing.assert_array_equal(bent(z, 0.0), z)


def test_only_what_is_skewed_within_groups_is_bent_and_then_groups_are_counted_rightly(rng):
    numbers, codes = groups(rng)
    coding = Coding.of(numbers, codes)
    variables = coding(numbers, codes)
    bends = bends_within_classes(variables, 400.0, rng, max_classes=8)
    assert bends[1] >= 0.4
    assert abs(bends[0]) < bends[1] / 2  # two modes, but each is normal
    table = coding.bend(bends, numbers)(numbers, codes)
    assert np.nanmean(table.numbers, axis=0) == pytest.approx(0, abs=1e-12)
    assert np.nanstd(table.numbers, axis=0) == pytest.approx(1)
    before, after = (fit_all(ClassTable(completed(each)), 400.0, 8, rng)[1] for each in (variables, table))
    assert before.argmax() + 1 > 2  # what the bends are for
    assert after.argmax() + 1 == 2


def test_new_rows_are_bent_like_those_fitted(rng):
    numbers, codes = groups(rng, 100)
    coding = Coding.of(numbers, codes).bend(np.array([0.0, 0.5]), numbers)
    whole, few = coding(numbers, codes), coding(numbers[:7], codes[:7])
    np.testing.assert_allclose(whole.numbers[:7], few.numbers)


def test_a_table_without_numbers_has_no_bends(rng):
    codes = rng.integers(3, size=(50, 3))
    variables = Variables(np.empty((50, 0)), codes, np.full(3, 3), np.ones(3, bool))
    assert bends_within_classes(variables, 50.0, rng, max_classes=3).shape == (0,)


def test_a_pile_of_rows_at_the_end_of_a_column_is_not_bent_away(rng):
    """Where a third have nothing, a bend would make classes of those that have nothing and those that have some."""
    n = 300
    labels = rng.integers(2, size=n)
    amount = np.where(rng.random(n) < 0.33, 0.0, np.exp(rng.normal(size=n)))
    codes = np.where(rng.random((n, 3)) < 0.85, labels[:, None], 1 - labels[:, None])
    table = np.column_stack([rng.normal(size=n) + 3 * labels, amount])
    variables = Coding.of(table, codes)(table, codes)
    assert bends_within_classes(variables, float(n), rng, max_classes=6)[1] == 0
    some = variables.rows(np.flatnonzero(amount > 0))
    assert bends_within_classes(some, float(len(some)), rng, max_classes=6)[1] > 0
