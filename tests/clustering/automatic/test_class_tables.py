"""Mixtures of one table: the formulas, starts, parts, and numbers completed for the search."""

import numpy as np
import pytest
from sklearn.metrics import adjusted_rand_score

from clustering.automatic.class_designs import planted
from gramian.clustering.automatic.class_tables import ClassTable, completed, completed_likelihood, fit_all
from gramian.clustering.automatic.variables import Variables
from mixture.textbook import level_log_probabilities, log_densities


@pytest.fixture
def rng():
    return np.random.default_rng(12)


def test_likelihood_entropy_and_icl_are_those_of_the_formulas(rng):
    variables, _ = planted(rng, 90)
    table = ClassTable(variables)
    found = table.fit(2, table.starts(2, 2, rng))
    p = found.parameters
    split = np.split(p.levels, np.cumsum(variables.sizes)[:-1], axis=1)
    joint = np.log(p.weights) + log_densities(variables.numbers, p.means, p.covariances)
    joint += level_log_probabilities(variables.codes, split)
    likelihoods = np.logaddexp.reduce(joint, axis=1)
    gamma = np.exp(joint - likelihoods[:, None])
    assert found.likelihood == pytest.approx(likelihoods.sum())
    np.testing.assert_allclose(found.posteriors, gamma, atol=1e-9)
    assert found.entropy == pytest.approx(-(gamma * np.log(gamma)).sum(), rel=1e-6)
    # weights, means, one covariance, a size but that of one class, levels but one of each column
    free = 1 + 2 * 2 + 3 + 1 + 2 * (2 + 2 + 2 + 7)
    expected = 60 / 90 * (found.likelihood - found.entropy) - 0.5 * free * np.log(60)
    assert completed_likelihood(table, found, 60.0) == pytest.approx(expected)


def test_gains_are_largest_at_the_planted_number(rng):
    variables, labels = planted(rng)
    table = ClassTable(variables)
    fits, gains = fit_all(table, float(len(variables)), 8, rng)
    assert gains[0] == 0
    assert gains.argmax() == 2
    assert len(gains) == 6  # three more that bring nothing
    assert adjusted_rand_score(labels, fits[3].labels) > 0.9
    one, three = (completed_likelihood(table, fits[k], float(len(variables))) for k in (1, 3))
    assert three - one == pytest.approx(gains[2])


@pytest.mark.parametrize("seed", range(3))
def test_a_table_in_which_one_class_takes_all_rows_is_searched_to_the_end(seed):
    """As what is left of a number that a category tells: a class of all rows cannot be merged with another."""
    rng, nothing = np.random.default_rng(seed), np.empty(0, int)
    variables = Variables(1e-3 * rng.normal(size=(60, 1)), np.empty((60, 0), int), nothing, nothing.astype(bool))
    table = ClassTable(variables)
    assert table.merges(np.zeros(60, int)) == []
    assert fit_all(table, 60.0, 5, rng)[1].argmax() == 0


def test_cuts_split_one_class(rng):
    variables, labels = planted(rng)
    for cut in ClassTable(variables).cuts(labels, rng):
        changed = np.flatnonzero(cut != labels)
        assert len(np.unique(labels[changed])) == 1
        assert (cut[changed] == 3).all()
        assert 0 < len(changed) < len(labels)


def test_merges_join_two_classes_and_leave_no_gap(rng):
    variables, labels = planted(rng)
    for merged in ClassTable(variables).merges(labels):
        assert set(merged) == {0, 1}
        assert len(np.unique(np.column_stack([labels, merged]), axis=0)) == 3


def test_parts_are_fitted_as_tables_of_their_own(rng):
    variables, labels = planted(rng)
    rows = np.sort(rng.choice(len(labels), 140, replace=False))
    (found,) = ClassTable(variables).fit_parts(3, [(rows, [labels[rows]])])
    alone = ClassTable(variables.rows(rows))
    expected = alone.fit(3, [labels[rows]], finished=1, tol=1e-4).labels
    assert (found == expected).mean() > 0.98  # shares of levels, which the prior has, are those of all rows


def test_completed_numbers_keep_what_is_known_and_follow_the_group(rng):
    variables, labels = planted(rng, missing=0.15)
    filled = completed(variables)
    holes = np.isnan(variables.numbers)
    np.testing.assert_allclose(filled.numbers[~holes], variables.numbers[~holes], atol=1e-12)
    assert np.isfinite(filled.numbers).all()
    np.testing.assert_array_equal(filled.codes, variables.codes)
    means = np.array([np.nanmean(variables.numbers[labels == k], axis=0) for k in range(3)])
    within = np.abs(filled.numbers - means[labels])[holes]
    overall = np.abs(filled.numbers[holes])
    assert within.mean() < 0.5 * overall.mean()


def test_completed_is_the_table_itself_without_holes(rng):
    variables, _ = planted(rng, missing=0.0)
    assert completed(variables) is variables
