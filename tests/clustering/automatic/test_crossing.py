"""Categories that cross the classes: told by the likelihood from those that make them, and taken away."""

import numpy as np
import pytest
from scipy.stats import multivariate_normal
from sklearn.metrics import adjusted_rand_score

from gramian.clustering.automatic.class_tables import Search, completed_likelihood, search
from gramian.clustering.automatic.crossing import Crossing, _own, beside_crossings
from gramian.clustering.automatic.variables import variables_of

CENTRES = 5 * np.array([[0, 0, 0], [1, 0, 1], [0, 1, -1]])


def crossed(rng, n=300, effect=3.0):
    """Three groups in three numbers and a category; a second category of two levels moves all numbers alike."""
    labels, side = rng.integers(3, size=n), rng.integers(2, size=n)
    numbers = rng.normal(size=(n, 3)) + CENTRES[labels] + effect * side[:, None]
    telling = np.where(rng.random(n) < 0.85, labels, rng.integers(3, size=n))
    return variables_of(numbers, np.column_stack([telling, side])), labels, side


@pytest.fixture
def rng():
    return np.random.default_rng(5)


def test_the_means_of_levels_are_taken_away(rng):
    variables, _, _ = crossed(rng, 60)
    variables.numbers[3, 1] = np.nan
    variables.codes[7, 1] = -1
    crossing = Crossing.of(variables, 1)
    for level in (0, 1):
        column = variables.numbers[variables.codes[:, 1] == level, 1]
        expected = np.nansum(column) / (np.sum(~np.isnan(column)) + 1)
        assert crossing.shifts[level, 1] == pytest.approx(expected)
    left = crossing(variables)
    np.testing.assert_array_equal(left.codes, variables.codes[:, :1])
    np.testing.assert_array_equal(left.numbers[7], variables.numbers[7])  # of no known level
    row = 11
    np.testing.assert_allclose(left.numbers[row] + crossing.shifts[variables.codes[row, 1]], variables.numbers[row])


def test_descriptions_beside_and_within_are_of_the_same_table(rng):
    """With one class, both are a normal density times shares of levels, less ½ log n for each parameter."""
    variables, _, side = crossed(rng, 200)
    found = search(variables, 200.0, rng, max_classes=1)
    beside = Crossing.of(variables, 1)(variables)
    alone = search(beside, 200.0, rng, max_classes=1)
    described = _own(variables, 1, 200.0) + completed_likelihood(alone.table, alone.fits[1], 200.0)
    Z = beside.numbers
    spread = Z.T @ Z / 200 - np.outer(Z.mean(axis=0), Z.mean(axis=0)) + np.eye(3) / 200
    expected = multivariate_normal(Z.mean(axis=0), spread).logpdf(Z).sum()
    for codes in (variables.codes[:, 0], side):
        counts = np.bincount(codes)
        expected += (counts * np.log(counts / 200)).sum()
    expected -= 0.5 * np.log(200) * (3 + 6 + 2 + 1 + 3)  # means, covariance, levels of both, effect
    assert described == pytest.approx(expected, abs=1.5)  # the priors of one row
    assert described > completed_likelihood(found.table, found.fits[1], 200.0)


def test_a_category_that_moves_numbers_alike_in_all_groups_stands_beside_them(rng):
    variables, labels, _ = crossed(rng)
    found = search(variables, 300.0, rng, max_classes=8)
    assert found.gains.argmax() + 1 == 6
    crossings, left, anew = beside_crossings(variables, found, 300.0, rng, max_classes=8)
    assert [crossing.column for crossing in crossings] == [1]
    assert left.codes.shape == (300, 1)
    assert anew.gains.argmax() + 1 == 3
    assert adjusted_rand_score(labels, anew.fits[3].labels) > 0.95


def test_the_category_that_tells_the_groups_stays(rng):
    """Also where it tells them without fail, so that numbers beside it have no groups left."""
    labels = rng.integers(4, size=240)
    numbers = rng.normal(size=(240, 2)) + 5 * np.array([[0, 0], [1, 0], [0, 1], [1, 1]])[labels]
    other = np.where(rng.random(240) < 0.7, labels, rng.integers(4, size=240))
    variables = variables_of(numbers, np.column_stack([labels, other]))
    found = search(variables, 240.0, rng, max_classes=6)
    crossings, left, same = beside_crossings(variables, found, 240.0, rng, max_classes=6)
    assert crossings == []
    assert left is variables
    assert same is found


def test_with_a_given_number_descriptions_by_as_many_classes_are_compared(rng):
    variables, _, _ = crossed(rng)
    found = search(variables, 300.0, rng, max_classes=7)
    assert beside_crossings(variables, found, 300.0, rng, max_classes=7, n_classes=3).crossings
    assert not beside_crossings(variables, found, 300.0, rng, max_classes=7, n_classes=6).crossings


def test_without_numbers_nothing_crosses(rng):
    variables = variables_of(np.empty((90, 0)), rng.integers(3, size=(90, 3)))
    found = search(variables, 90.0, rng, max_classes=3)
    assert isinstance(found, Search)
    assert beside_crossings(variables, found, 90.0, rng, max_classes=3).crossings == []
