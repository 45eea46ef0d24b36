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
    Z = (rows - np.nanmean(rows, axis=0)) / np.nanstd(rows, axis=0)
    reach = np.sort(nan_euclidean_distances(Z) / np.sqrt(Z.shape[1]), axis=1)[:, 10]
    center = np.median(reach)
    z = np.maximum(reach - center, 0) / (1.4826 * np.median(np.abs(reach - center)))
    np.testing.assert_allclose(Oddness().fit(rows).score(rows), z / (z + 5), atol=1e-9)


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
    monkeypatch.setattr("gramian.exploration.oddness._DISTANCES_AT_ONCE", 1000)
    np.testing.assert_array_equal(Oddness().fit(rows).score(rows), whole)
    monkeypatch.setattr("gramian.exploration.oddness._COMPARED", 120)
    part = Oddness(seed=1).fit(rows).score(rows)
    assert np.corrcoef(part, whole)[0, 1] > 0.8


def test_doubles_are_not_odd():
    X = np.repeat(np.arange(3.0), 20)[:, None]
    oddness = Oddness().fit(X)
    assert not oddness.score(X).any()
    assert oddness.score(np.array([[50.0]]))[0] > 0.9
