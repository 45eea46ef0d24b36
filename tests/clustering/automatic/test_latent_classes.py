"""Latent classes: how many there are, and whether a table without groups is told from one with."""

import numpy as np
import pytest
from sklearn.metrics import adjusted_rand_score

from gramian.clustering.automatic.class_tables import ClassTable
from gramian.clustering.automatic.latent_classes import beyond_copula, latent_classes
from gramian.clustering.automatic.variables import variables_of


@pytest.fixture
def rng():
    return np.random.default_rng(12)


def planted(rng, n=210, missing=0.05):
    """Three unequal groups in two numbers and three categories, beside a category that says nothing."""
    labels = rng.choice(3, n, p=[0.5, 0.3, 0.2])
    numbers = rng.normal(size=(n, 2)) + 4 * np.array([[0, 0], [1, 0], [0, 1]])[labels]
    codes = np.where(rng.random((n, 3)) < 0.85, labels[:, None], rng.integers(3, size=(n, 3)))
    codes = np.column_stack([codes, rng.integers(8, size=n)])
    numbers[rng.random(numbers.shape) < missing] = np.nan
    codes[rng.random(codes.shape) < missing] = -1
    return variables_of(numbers, codes), labels


def gradient(rng, n=210):
    """Numbers and categories that follow one even slope: no groups."""
    slope = rng.uniform(-1, 1, n)
    numbers = slope[:, None] + 0.4 * rng.normal(size=(n, 2))
    codes = [np.searchsorted(cuts, slope + 0.4 * rng.normal(size=n)) for cuts in ([-0.3, 0.4], [0.0], [-0.5, 0, 0.5])]
    return variables_of(numbers, np.column_stack(codes))


class TestVerdict:
    def test_planted_groups_are_clear(self, rng):
        variables, labels = planted(rng)
        found = latent_classes(variables.keep(np.array([True, True, True, False])), float(len(variables)), rng)
        assert found.verdict == "clear"
        assert len(found.cluster_stability) == 3
        assert adjusted_rand_score(labels, found.labels) > 0.9
        assert found.excess > 1
        assert (np.diff(np.bincount(found.labels)) <= 0).all()  # by falling size
        np.testing.assert_array_equal(found.posteriors.argmax(axis=1), found.labels)
        assert set(found.tried) <= set(range(2, 9))
        assert set(found.alternatives) == set(found.tried)
        np.testing.assert_array_equal(found.alternatives[3], found.labels)
        assert found.certain

    def test_a_gradient_has_no_groups(self, rng):
        variables = gradient(rng)
        found = latent_classes(variables, float(len(variables)), rng, max_classes=6)
        assert found.verdict == "none"
        assert not found.certain

    def test_independent_columns_have_one_class(self, rng):
        variables = variables_of(rng.normal(size=(150, 2)), rng.integers(3, size=(150, 3)))
        found = latent_classes(variables, 150.0, rng, max_classes=5)
        assert found.verdict == "none"

    def test_the_number_of_classes_may_be_given(self, rng):
        variables, _ = planted(rng, 120)
        found = latent_classes(variables, 120.0, rng, n_classes=2)
        assert list(found.tried) == [2]
        assert found.posteriors.shape == (120, 2)

    def test_gains_of_a_copula_are_no_excess(self, rng):
        """A table drawn from a copula itself is one of the references."""
        variables = gradient(rng)
        table = ClassTable(variables)
        labels = table.fit(2, table.starts(2, 4, rng)).labels
        excess, between = beyond_copula(variables, 210.0, {2: labels}, rng)
        assert excess < 1.5
        assert 0 < between < 1
