"""Rows far from all others are odd, near ones are not, and the score is what its definition says."""

import numpy as np
import pytest
from sklearn.metrics.pairwise import nan_euclidean_distances

from gramian.exploration.oddness import Oddness


@pytest.fixture
def rows():
    rng = np.random.default_rng(0)
    X = np.vstack([rng.normal(0, 1, (150, 4)), rng.normal(8, 1, (80, 4))]) * [1, 10, 100, 1]
    X[rng.random(X.shape) < 0.15] = np.nan
    return X


def test_the_score_is_that_of_its_definition(rows):
    groups = np.repeat([0, 1], [150, 80])
    Z = (rows - np.nanmean(rows, axis=0)) / np.nanstd(rows, axis=0)
    distances = nan_euclidean_distances(Z) / np.sqrt(Z.shape[1])
    reach = np.sort(distances, axis=1)[:, 1:11].mean(axis=1)

    def deviation(values):
        return 1.4826 * np.median(np.abs(values - np.median(values)))

    apart = distances[::2] ** 2
    overall = max(deviation(reach), 0.1 * np.sqrt(np.median(apart[apart > 1e-12])))
    z = np.empty(len(rows))
    for group in (0, 1):
        own = groups == group
        usual = max(overall, deviation(reach[own]))
        z[own] = np.minimum((reach[own] - np.median(reach[own])) / usual, (reach[own] - np.median(reach)) / overall)
    z = np.maximum(z, 0)
    oddness = Oddness().fit(rows, groups)
    np.testing.assert_allclose(oddness.score(rows, groups), z / (z + 5), atol=1e-9)


def test_a_small_group_far_from_the_others_is_not_odd_row_by_row(rows):
    rng = np.random.default_rng(1)
    few = rng.normal([30, 300, 3000, 30], [1, 10, 100, 1], (8, 4))
    groups = np.repeat([0, 1, 2], [150, 80, 8])
    X = np.vstack([rows, few])
    alone = Oddness().fit(X).score(few)
    together = Oddness().fit(X, groups).score(few, groups[-8:])
    assert alone.min() > 0.5
    assert np.median(together) < 0.1
    # A row that belongs to none stays odd, whichever group it is counted to.
    stray = np.full((3, 4), [60.0, 600.0, 6000.0, 60.0])
    assert Oddness().fit(X, groups).score(stray, np.array([0, 1, -1])).min() > 0.8


def test_two_rows_do_not_make_each_other_ordinary(rows):
    X = np.vstack([rows, [[40, 400, 4000, 40]] * 2])
    groups = np.repeat([0, 1, 2], [150, 80, 2])
    assert Oddness().fit(X, groups).score(X, groups)[-2:].min() > 0.5


def test_on_categories_the_score_is_graded():
    """Fewer copies and more columns that differ make a row odder, step by step."""
    X = np.repeat([[0.0] * 5, [1.0] * 5, [0.0, 0.0, 0.0, 0.0, 1.0]], [100, 100, 6], axis=0)
    common, rare, one_off, two_off = (
        Oddness().fit(X).score(np.array([[0, 0, 0, 0, 0], [0, 0, 0, 0, 1], [0, 0, 0, 1, 0], [0, 0, 1, 1, 0]]))
    )
    assert common == 0
    assert 0 < rare < one_off < two_off < 0.95


def test_far_rows_are_odd_whatever_is_missing_and_empty_ones_are_not(rows):
    oddness = Oddness().fit(rows)
    new = np.array([[0, 0, 0, 0], [30, 300, 3000, 30], [np.nan, np.nan, 3000, np.nan], [np.nan] * 4, [4, 40, 400, 4.0]])
    ordinary, far, far_too, empty, between = oddness.score(new)
    assert ordinary < 0.2
    assert far > 0.9
    assert far_too > 0.9
    assert empty == 0
    assert between > ordinary


def test_a_part_of_many_rows_gives_nearly_the_same(rows, monkeypatch):
    whole = Oddness().fit(rows).score(rows)
    monkeypatch.setattr("gramian.clustering.automatic.completion._DISTANCES_AT_ONCE", 1000)
    np.testing.assert_array_equal(Oddness().fit(rows).score(rows), whole)
    monkeypatch.setattr("gramian.exploration.oddness._COMPARED", 120)
    part = Oddness(seed=1).fit(rows).score(rows)
    assert np.corrcoef(part, whole)[0, 1] > 0.8


def test_doubles_are_not_odd():
    X = np.repeat(np.arange(3.0), 20)[:, None]
    oddness = Oddness().fit(X)
    assert not oddness.score(X).any()
    assert oddness.score(np.array([[50.0]]))[0] > 0.9
