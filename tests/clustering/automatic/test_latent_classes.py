"""Latent classes: how many there are, and whether a table without groups is told from one with."""

from types import SimpleNamespace

import numpy as np
import pytest
from sklearn.metrics import adjusted_rand_score

from clustering.automatic.class_designs import gradient, planted
from gramian.clustering.automatic.class_tables import ClassTable
from gramian.clustering.automatic.latent_classes import (
    LatentClasses,
    _all_resampled,
    _chosen,
    _verdict,
    _worth_trying,
    beyond_copula,
    latent_classes,
)
from gramian.clustering.automatic.variables import variables_of


@pytest.fixture
def rng():
    return np.random.default_rng(12)


class TestVerdict:
    @pytest.mark.parametrize(
        ("excess", "whole", "least", "between", "usual", "expected"),
        [
            (1.01, 0.75, 0.6, 0.099, 0.5, "clear"),
            (1.0, 1.0, 1.0, 0.05, 0.5, "none"),
            (1.0, 1.0, 1.0, 0.049, 0.5, "weak"),  # hardly a row lies between, where usually half of them do
            (1.0, 1.0, 1.0, 0.049, 0.09, "none"),  # usually as few do
            (0.0, 1.0, 1.0, 0.0, 0.1, "weak"),
            (5.0, 0.74, 1.0, 0.0, 0.5, "weak"),
            (5.0, 1.0, 0.59, 0.0, 0.5, "weak"),
            (5.0, 1.0, 1.0, 0.1, 0.5, "weak"),
        ],
    )
    def test_it_asks_for_structure_stability_and_room_between(self, excess, whole, least, between, usual, expected):
        assert _verdict(excess, whole, np.array([1.0, least]), between, usual) == expected

    @pytest.mark.parametrize(
        ("stability", "excess", "between", "expected"),
        [([0.9, 1.0], 1.01, 0.049, True), ([0.89, 1.0], 5, 0, False), ([1.0, 1.0], 1.0, 0, False),
         ([1.0, 1.0], 5, 0.05, False), ([1.0], 5, 0, False)],
    )  # fmt: skip
    def test_classes_are_certain_if_there_is_hardly_a_doubt(self, stability, excess, between, expected):
        said = SimpleNamespace(cluster_stability=np.array(stability), excess=excess, between=between)
        assert LatentClasses.certain.fget(said) == expected

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
        # What is measured of every class at every number of them has the least as its minimum.
        assert {k: each.min() for k, each in found.alternative_stability.items()} == found.tried
        np.testing.assert_array_equal(found.alternative_stability[3], found.cluster_stability)
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


class TestNumber:
    def test_fewer_classes_that_gain_nearly_as_much_are_preferred(self):
        gains = np.array([0.0, 80.0, 98.0, 100.0])
        assert _chosen({3: 0.95, 4: 0.97}, gains) == 3
        assert _chosen({2: 0.97, 4: 0.97}, gains) == 4
        assert _chosen({3: 0.60, 4: 0.97}, gains) == 4
        assert _chosen({}, gains) == 1

    def test_numbers_with_nine_tenths_of_the_largest_gain_are_tried_and_six_at_most(self):
        assert _worth_trying(np.array([0.0, 10.0, 9.0, 8.99])) == [2, 3]
        assert _worth_trying(np.array([0.0, 9.1, 9.2, 9.3, 9.4, 9.5, 9.6, 9.7, 10.0])) == [4, 5, 6, 7, 8, 9]
        assert _worth_trying(np.array([0.0, -1.0])) == _worth_trying(np.array([0.0])) == []

    def test_classes_that_are_not_found_again_are_resampled_less(self, rng):
        variables, labels = planted(rng, missing=0.0)
        table = ClassTable(variables.keep(np.array([True, True, True, False])))
        random = rng.integers(6, size=len(labels))
        found = _all_resampled(table, {3: labels, 6: random}, rng)
        assert (len(found[3]), len(found[6])) == (10, 4)

    def test_chosen_classes_are_those_of_the_table_with_its_holes(self, rng):
        variables, _ = planted(rng, missing=0.15)
        found = latent_classes(variables, float(len(variables)), rng, max_classes=5)
        alone = ClassTable(variables).fit(len(found.cluster_stability), [found.labels])
        np.testing.assert_allclose(found.posteriors, alone.posteriors, atol=0.02)
        np.testing.assert_allclose(found.model.posteriors(variables), found.posteriors, atol=1e-8)
