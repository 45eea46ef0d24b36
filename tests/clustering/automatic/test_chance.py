"""Tables without clusters have no structure beyond chance, and tables with clusters have."""

import numpy as np
import pytest
from sklearn.datasets import load_iris, load_wine, make_blobs

from gramian.clustering.automatic.chance import beyond_chance, structure
from gramian.clustering.automatic.completion import Completion


@pytest.fixture
def rng():
    return np.random.default_rng(0)


def _excess(X, rng, columns=None):
    columns = np.arange(X.shape[1]) if columns is None else columns
    complete = Completion(columns).fit_transform
    return beyond_chance(complete(X), np.isnan(X), columns, complete, rng)


@pytest.mark.parametrize("n", [50, 300])
@pytest.mark.parametrize("d", [1, 2, 6, 20])
def test_noise_has_no_structure(n, d, rng):
    tables = [rng.standard_normal((n, d)), rng.uniform(size=(n, d))]
    assert max(_excess(X, rng) for X in tables) <= 1


def test_correlated_noise_and_noise_with_holes_have_no_structure(rng):
    X = rng.standard_normal((200, 6)) @ rng.standard_normal((6, 6))
    assert _excess(X, rng) <= 1
    X[rng.random(X.shape) < 0.2] = np.nan
    assert _excess(X, rng) <= 1


def test_noise_of_few_values_has_no_structure(rng):
    assert _excess(rng.integers(2, size=(200, 8)).astype(float), rng) <= 1


def test_categories_without_groups_have_no_structure_and_those_of_groups_have(rng):
    columns = np.repeat(np.arange(5), 4)
    drawn = rng.integers(4, size=(300, 5))
    group = rng.integers(3, size=300)
    levels = rng.integers(4, size=(3, 5))
    planted = np.where(rng.random((300, 5)) < 0.7, levels[group], drawn)
    noise, groups = (np.eye(4)[table].reshape(300, 20) for table in (drawn, planted))
    assert _excess(noise, rng, columns) <= 1
    assert _excess(noise, rng) > 1  # not told which features say the same
    assert _excess(groups, rng, columns) > 1


def test_correlated_grades_have_no_structure(rng):
    latent = rng.standard_normal((300, 2)) @ rng.standard_normal((2, 8)) + rng.standard_normal((300, 8))
    assert _excess(np.digitize(latent, [-2, -0.7, 0.7, 2]).astype(float), rng) <= 1


@pytest.mark.parametrize("rate", [0.0, 0.2])
def test_tables_with_clusters_have_structure(rate, rng):
    blobs = make_blobs(120, centers=3, n_features=4, random_state=1)[0]
    for X in (load_iris().data, load_wine().data, blobs):
        assert _excess(np.where(rng.random(X.shape) < rate, np.nan, X), rng) > 1


def test_two_heaps_of_one_column_are_structure_and_a_gradient_in_several_is_none(rng):
    """Along a line a walk to ten neighbours is so slow in any table that a gap would make no difference."""
    n = 200
    heaps = np.concatenate([rng.normal(0, 1, n // 2), rng.normal(20, 1, n - n // 2)])
    gradient = np.outer(rng.standard_normal(n), [1, 2, 3]) + 0.05 * rng.standard_normal((n, 3))
    twice = np.column_stack([heaps, heaps + 0.01 * rng.standard_normal(n)])
    assert min(_excess(X, rng) for X in (heaps[:, None], twice)) > 2
    assert max(_excess(X, rng) for X in (gradient, rng.exponential(size=(n, 1)))) <= 1


def test_a_handful_of_rows_has_no_structure(rng):
    assert _excess(rng.standard_normal((7, 2)), rng) == 0.0


@pytest.mark.parametrize("n", [8, 11])
def test_rows_that_are_all_neighbours_have_no_structure(n, rng):
    """Up to eleven rows each is a neighbour of all, so the graphs of all tables are the same one."""
    assert _excess(rng.standard_normal((n, 2)), rng) == pytest.approx(0, abs=1e-6)


def test_empty_rows_and_a_few_rows_are_left_out_of_a_table(rng):
    blobs = make_blobs(120, centers=3, n_features=4, random_state=1)[0]
    X = np.vstack([blobs, np.full((60, 4), np.nan)])
    assert structure(X, None, rng) > 1
    assert structure(X[:7], None, rng) == 0.0
    assert structure(rng.standard_normal((90, 3)), ["a", "a", "b"], rng) <= 1
