"""Columns as variables: how they count, for new rows too, and which of them depend on others."""

import numpy as np
import pytest
from scipy.stats import chi2_contingency

from clustering.automatic.class_designs import planted
from gramian.clustering.automatic.variables import (
    Coding,
    Variables,
    choose_path,
    effective_rows,
    quantile_codes,
    told_columns,
    variables_of,
)


@pytest.fixture
def rng():
    return np.random.default_rng(12)


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


class TestCoding:
    def test_new_rows_are_coded_as_the_old_ones(self, rng):
        numbers = np.column_stack(
            [rng.normal(size=80), rng.integers(4, size=80), np.where(rng.random(80) < 0.6, 0, rng.normal(size=80))]
        )
        codes = np.column_stack([rng.integers(3, size=80) * 2, np.full(80, 5)])
        numbers[3, 0], codes[4, 0] = np.nan, -1
        coding = Coding.of(numbers, codes)
        whole = coding(numbers, codes)
        part = coding(numbers[10:20], codes[10:20])
        np.testing.assert_array_equal(part.codes, whole.codes[10:20])
        np.testing.assert_array_equal(part.numbers, whole.numbers[10:20])
        assert whole.codes.max(axis=0).tolist() == (whole.sizes - 1).tolist()
        assert whole.categories.tolist() == [False, False, True]

    def test_levels_that_were_not_seen_are_missing(self):
        coding = Coding.of(np.empty((4, 0)), np.array([[0], [3], [3], [0]]))
        assert coding(np.empty((3, 0)), np.array([[3], [1], [9]])).codes.ravel().tolist() == [1, -1, -1]
