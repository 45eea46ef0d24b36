"""Latent classes: which columns count, how many classes, and whether a table without groups is told from one with."""

import numpy as np
import pytest
from scipy.stats import chi2_contingency
from sklearn.metrics import adjusted_rand_score

from gramian.clustering.automatic.latent_classes import (
    ClassTable,
    Variables,
    beyond_copula,
    choose_path,
    completed_likelihood,
    effective_rows,
    fit_all,
    gains_of,
    latent_classes,
    quantile_codes,
    told_columns,
    variables_of,
)
from mixture.textbook import level_log_probabilities, log_densities


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


class TestVariables:
    def test_numbers_of_few_values_count_by_value_and_others_in_standard_units(self, rng):
        plain, few, mostly = rng.normal(5, 3, 100), rng.integers(4, size=100) * 2.0, np.zeros(100)
        mostly[:40] = rng.normal(size=40)
        variables = variables_of(np.column_stack([plain, few, mostly, np.ones(100)]), np.full((100, 1), 7))
        np.testing.assert_allclose(variables.numbers[:, 0], (plain - plain.mean()) / plain.std())
        assert variables.codes[:, 0].tolist() == (few / 2).astype(int).tolist()
        assert variables.codes.shape == (100, 2)  # a column of one value says nothing
        assert variables.sizes.tolist() == (variables.codes.max(axis=0) + 1).tolist()
        assert not variables.categories.any()

    def test_codes_are_made_compact(self):
        variables = variables_of(np.empty((4, 0)), np.array([[3, 9, -1, 3], [1, 1, 1, 1]]).T)
        assert variables.codes.ravel().tolist() == [0, 1, -1, 0]
        assert variables.categories.tolist() == [True]

    def test_quantile_codes_split_rows_evenly(self, rng):
        column = rng.exponential(size=500)
        column[:50] = np.nan
        codes = quantile_codes(column)
        assert (codes[:50] == -1).all()
        np.testing.assert_allclose(np.bincount(codes[50:]), 90, atol=1)
        order = np.argsort(column[50:])
        assert (np.diff(codes[50:][order]) >= 0).all()

    def test_copies_are_no_new_rows_and_repeated_cells_are(self, rng):
        variables, _ = planted(rng)
        assert effective_rows(variables, rng) == len(variables)
        copied = variables.rows(np.tile(np.arange(len(variables)), 3))
        assert effective_rows(copied, rng) == pytest.approx(len(variables), rel=0.02)
        cells = variables_of(np.empty((400, 0)), rng.integers(2, size=(400, 3)))
        assert effective_rows(cells, rng) == 400


class TestToldColumns:
    def test_a_category_that_says_nothing_is_not_told(self, rng):
        variables, _ = planted(rng)
        numbers, discrete = told_columns(variables, len(variables))
        assert numbers.tolist() == [True, True]
        assert discrete.tolist() == [True, True, True, False]

    def test_the_test_is_pearsons_with_bonferroni(self, rng):
        """Against SciPy, on tables near the border of significance."""
        borders = []
        for _ in range(60):
            a, b, c = rng.integers(3, size=(3, 120))
            b = np.where(rng.random(120) < 0.25, a, b)
            variables = Variables(np.empty((120, 0)), np.column_stack([a, b, c]), np.array([3, 3, 3]), np.ones(3, bool))
            expected = np.zeros(3, bool)
            for i, j in ((0, 1), (0, 2), (1, 2)):
                table = np.zeros((3, 3))
                np.add.at(table, (variables.codes[:, i], variables.codes[:, j]), 1)
                if chi2_contingency(table, correction=False).pvalue < 0.01 / 3:
                    expected[[i, j]] = True
            borders.append(expected[0])
            assert told_columns(variables, 120.0)[1].tolist() == expected.tolist()
        assert 0.05 < np.mean(borders) < 0.95

    def test_copies_do_not_make_columns_told(self, rng):
        few = rng.integers(3, size=(60, 4))
        variables = variables_of(np.empty((600, 0)), np.tile(few, (10, 1)))
        assert not told_columns(variables, 60.0)[1].any()
        assert told_columns(variables, 600.0)[1].any()

    def test_a_column_alone_is_not_told(self):
        variables = variables_of(np.arange(30.0)[:, None], np.empty((30, 0), int))
        assert told_columns(variables, 30.0)[0].tolist() == [False]

    def test_paths(self):
        assert choose_path(0, 5) == "views"
        assert choose_path(1, 9) == "views"
        assert choose_path(1, 8) == "classes if certain"
        assert choose_path(1, 4) == "classes if certain"
        assert choose_path(1, 3) == "classes"
        assert choose_path(4, 4) == "classes"


class TestClasses:
    def test_likelihood_entropy_and_icl_are_those_of_the_formulas(self, rng):
        variables, _ = planted(rng, 90)
        table = ClassTable(variables)
        found = table.fit(2, table.starts(2, 2, rng))
        p = found.parameters
        split = np.split(p.levels, np.cumsum(variables.sizes)[:-1], axis=1)
        joint = np.log(p.weights) + log_densities(variables.numbers, p.means, [p.covariances] * 2)
        joint += level_log_probabilities(variables.codes, split)
        likelihoods = np.logaddexp.reduce(joint, axis=1)
        gamma = np.exp(joint - likelihoods[:, None])
        assert found.likelihood == pytest.approx(likelihoods.sum())
        np.testing.assert_allclose(found.posteriors, gamma, atol=1e-9)
        assert found.entropy == pytest.approx(-(gamma * np.log(gamma)).sum(), rel=1e-6)
        # weights, means, one covariance, levels but one of each column
        free = 1 + 2 * 2 + 3 + 2 * (2 + 2 + 2 + 7)
        expected = 60 / 90 * (found.likelihood - found.entropy) - 0.5 * free * np.log(60)
        assert completed_likelihood(table, found, 60.0) == pytest.approx(expected)

    def test_gains_are_largest_at_the_planted_number(self, rng):
        variables, labels = planted(rng)
        table = ClassTable(variables)
        fits, gains = fit_all(table, float(len(variables)), 8, rng)
        assert gains[0] == 0
        assert gains.argmax() == 2
        assert len(gains) == 6  # three more that bring nothing
        assert adjusted_rand_score(labels, fits[3].labels) > 0.9
        assert gains_of(table, fits, float(len(variables)))[3] == pytest.approx(gains[2])

    def test_cuts_split_one_class(self, rng):
        variables, labels = planted(rng)
        for cut in ClassTable(variables).cuts(labels, rng):
            changed = np.flatnonzero(cut != labels)
            assert len(np.unique(labels[changed])) == 1
            assert (cut[changed] == 3).all()
            assert 0 < len(changed) < len(labels)


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
        fits = {k: table.fit(k, table.starts(k, 2, rng)) for k in (1, 2)}
        assert beyond_copula(variables, 210.0, [2], gains_of(table, fits, 210.0), rng) < 1.5
