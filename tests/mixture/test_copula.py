"""Tables of a normal copula have the shares, tails and pairs of the table they stand for, and no groups."""

import numpy as np
import pytest
from scipy.stats import norm

from gramian.mixture.copula import draw_tables, fit_copula, whitened_levels


@pytest.fixture(scope="module")
def table():
    """A skewed number and another that follows it, a category that follows both, and an independent one."""
    rng = np.random.default_rng(4)
    skewed = rng.exponential(size=800)
    other = skewed + rng.normal(size=800)
    category = np.searchsorted([0.5, 1.5], skewed + 0.5 * rng.normal(size=800))
    apart = rng.choice(4, 800, p=[0.55, 0.25, 0.15, 0.05])
    numbers, codes = np.column_stack([skewed, other]), np.column_stack([category, apart])
    numbers[rng.random(numbers.shape) < 0.1] = np.nan
    codes[rng.random(codes.shape) < 0.1] = -1
    return numbers, codes


@pytest.fixture(scope="module")
def drawn(table):
    copula = fit_copula(*table, np.array([3, 4]), np.random.default_rng(0))
    ((numbers, codes),) = draw_tables(copula, 20_000, 1, np.random.default_rng(1))
    return numbers, codes


@pytest.mark.parametrize("shares", [[0.5, 0.5], [0.1, 0.2, 0.7], [0.97, 0.01, 0.01, 0.01]])
def test_whitened_levels_have_mean_zero_and_unit_covariance(shares):
    shares = np.array(shares)
    points = whitened_levels(shares)
    assert points.shape == (len(shares), len(shares) - 1)
    np.testing.assert_allclose(shares @ points, 0, atol=1e-10)
    np.testing.assert_allclose(points.T @ np.diag(shares) @ points, np.eye(len(shares) - 1), atol=1e-10)


def test_heavy_tails_are_kept_and_other_numbers_are_normal(table, drawn):
    levels = np.linspace(0.05, 0.95, 19)
    given, found = table[0][:, 0], drawn[0][:, 0]
    expected = np.nanquantile(given, levels)
    np.testing.assert_allclose(np.quantile(found, levels), expected, atol=0.08 * np.nanstd(given))
    modes = np.concatenate([np.random.default_rng(0).normal(side, 0.2, 300) for side in (-1, 1)])[:, None]
    copula = fit_copula(modes, np.empty((600, 0), int), np.empty(0, int), np.random.default_rng(0))
    ((one, _),) = draw_tables(copula, 20_000, 1, np.random.default_rng(1))
    expected = norm(modes.mean(), modes.std()).ppf(levels)
    np.testing.assert_allclose(np.quantile(one, levels), expected, atol=0.05)


def test_categories_keep_their_shares(table, drawn):
    for given, found in zip(table[1].T, drawn[1].T, strict=True):
        expected = np.bincount(given[given >= 0]) / (given >= 0).sum()
        np.testing.assert_allclose(np.bincount(found) / len(found), expected, atol=0.03)


def test_pairs_keep_their_dependence(table, drawn):
    x, y = table[0].T
    both = ~np.isnan(x) & ~np.isnan(y)
    assert np.corrcoef(*drawn[0].T)[0, 1] == pytest.approx(np.corrcoef(x[both], y[both])[0, 1], abs=0.06)
    for given, found in zip(table[1].T, drawn[1].T, strict=True):
        for level in range(given.max() + 1):  # mean of a number in each level, in deviations
            expected = np.nanmean(x[given == level])
            assert drawn[0][found == level, 0].mean() == pytest.approx(expected, abs=0.25 * np.nanstd(x))


def test_two_groups_become_one_cloud():
    """Numbers that are bimodal together keep their correlation, and the place between the modes is filled."""
    rng = np.random.default_rng(5)
    labels = rng.integers(2, size=600)
    X = rng.normal(size=(600, 3)) * 0.3 + np.where(labels, 1, -1)[:, None] * np.array([1, 1, -1])
    copula = fit_copula(X, np.empty((600, 0), int), np.empty(0, int), rng)
    ((found, _),) = draw_tables(copula, 5000, 1, rng)
    np.testing.assert_allclose(np.corrcoef(found.T), np.corrcoef(X.T), atol=0.03)
    assert (np.abs(X[:, 0]) < 0.3).mean() < 0.02
    assert (np.abs(found[:, 0]) < 0.3).mean() > 0.15


@pytest.mark.parametrize("kind", ["uniform", "ordered normal", "ordered uniform"])
def test_other_kinds_keep_shares_and_dependence(kind, table):
    copula = fit_copula(*table, np.array([3, 4]), np.random.default_rng(0), kind=kind)
    ((numbers, codes),) = draw_tables(copula, 20_000, 1, np.random.default_rng(1))
    assert numbers.shape == (20_000, 2)
    for given, found in zip(table[1].T, codes.T, strict=True):
        expected = np.bincount(given[given >= 0]) / (given >= 0).sum()
        np.testing.assert_allclose(np.bincount(found) / len(found), expected, atol=0.04)
    x, category = table[0][:, 0], table[1][:, 0]
    for level in range(3):
        expected = np.nanmean(x[category == level])
        assert numbers[codes[:, 0] == level, 0].mean() == pytest.approx(expected, abs=0.3 * np.nanstd(x))


def test_ordered_levels_follow_a_column_as_closely_as_one_that_was_cut():
    """A number cut into five parts leaves no doubt about the level; scores of levels would leave much."""
    rng = np.random.default_rng(2)
    x = rng.normal(size=800)
    codes = rng.permutation(5)[np.searchsorted(norm.ppf([0.2, 0.4, 0.6, 0.8]), x)][:, None]
    left = {}
    for kind in ("normal", "ordered normal"):
        copula = fit_copula(x[:, None], codes, np.array([5]), np.random.default_rng(0), kind=kind)
        ((found, levels),) = draw_tables(copula, 5000, 1, np.random.default_rng(1))
        within = [found[levels[:, 0] == level, 0].var() for level in range(5)]
        left[kind] = np.mean(within)
    cut = np.mean([x[codes[:, 0] == level].var() for level in range(5)])
    assert left["ordered normal"] < 1.5 * cut
    assert left["ordered normal"] < left["normal"]
