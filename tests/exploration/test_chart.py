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


@pytest.mark.parametrize("n", [1, 2, 4])
def test_a_few_rows_stand_in_line(n):
    np.testing.assert_array_equal(map_of_rows(np.ones((n, 3)))[:, 0], np.arange(n))
