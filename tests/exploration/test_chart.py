"""On the map of rows alike ones lie close, whether their places are solved for or filled in."""

import numpy as np
import pytest

from gramian.exploration.chart import map_of_rows


def unit_rows(n=240, seed=0):
    """Three directions with a little noise."""
    rng = np.random.default_rng(seed)
    group = np.arange(n) % 3
    rows = np.eye(6)[group] + 0.05 * rng.normal(size=(n, 6))
    return (rows / np.linalg.norm(rows, axis=1, keepdims=True)).astype(np.float32), group


def share_of_like_neighbours(places, group):
    distances = np.linalg.norm(places[:, None] - places, axis=2)
    np.fill_diagonal(distances, np.inf)
    return np.mean(group[distances.argmin(axis=1)] == group)


def test_alike_rows_lie_close():
    rows, group = unit_rows()
    places = map_of_rows(rows)
    assert places.shape == (240, 2)
    assert share_of_like_neighbours(places, group) == 1
    np.testing.assert_array_equal(map_of_rows(rows), places)


def test_rows_that_are_not_solved_for_lie_among_their_like(monkeypatch):
    monkeypatch.setattr("gramian.exploration.chart._PLACED", 120)
    rows, group = unit_rows()
    assert share_of_like_neighbours(map_of_rows(rows), group) > 0.98


@pytest.mark.parametrize("n", [2, 4])
def test_a_few_rows_stand_in_line(n):
    places = map_of_rows(np.arange(3.0 * n).reshape(n, 3))
    np.testing.assert_array_equal(places[:, 1], 0)
    assert len(np.unique(places[:, 0])) == n


def test_copies_fill_discs_that_do_not_meet():
    kinds = np.eye(12) * 3
    copies = np.repeat(np.arange(12), 5 * np.arange(1, 13))
    places = map_of_rows(kinds[copies])
    centres = np.array([places[copies == kind].mean(axis=0) for kind in range(12)])
    own = np.linalg.norm(places - centres[copies], axis=1)
    distances = np.linalg.norm(centres[:, None] - centres, axis=2)
    np.fill_diagonal(distances, np.inf)
    assert own.max() < distances.min()
    # As many rows lie in the inner half of the area as in the outer: a disc, not a ring.
    largest = own[copies == 11]
    assert 0.35 < np.mean(largest < largest.max() / np.sqrt(2)) < 0.65


def test_rows_that_are_all_alike_and_rows_without_features():
    for rows in (np.ones((30, 2)), np.empty((30, 0))):
        places = map_of_rows(rows)
        assert places.shape == (30, 2)
        assert np.isfinite(places).all()
        assert len(np.unique(places, axis=0)) == 30
