"""Still drawings put every row where the map has it, one unit as long in both directions, and inside their box."""

import re

import numpy as np
import pytest

from gramian.report.stills import HEIGHT, MOST_POINTS, WIDTH, evidence_points, still_map


@pytest.fixture
def rng():
    return np.random.default_rng(0)


def dots(group):
    """Centres of the dots of a group, read back from its SVG path."""
    return np.array(re.findall(r"M(-?\d+) (-?\d+)h0", group.path), int).reshape(-1, 2)


def test_dots_are_the_coordinates_moved_scaled_and_turned_upside_down(rng):
    coordinates = rng.uniform([-3, 10], [5, 13], size=(60, 2))
    labels = np.repeat([0, 1, 2], 20)
    drawing = still_map(coordinates, labels)
    drawn = np.vstack([dots(group) for group in drawing.groups])  # labels are sorted, so rows keep their order
    assert drawn.shape == (60, 2)
    # x' = a + s x and y' = b - s y with one s > 0, up to rounding to whole pixels
    design = np.zeros((120, 3))
    design[:60, 0], design[:60, 2] = 1, coordinates[:, 0]
    design[60:, 1], design[60:, 2] = 1, -coordinates[:, 1]
    target = drawn.T.ravel()
    solution, *_ = np.linalg.lstsq(design, target)
    assert solution[2] > 0
    assert np.abs(design @ solution - target).max() <= 1.01
    assert drawn.min() >= 0
    assert drawn[:, 0].max() <= WIDTH
    assert drawn[:, 1].max() <= HEIGHT
    assert (drawn[:, 0].max() - drawn[:, 0].min()) > 0.85 * WIDTH  # the box is used


def test_numbers_stand_in_the_middle_of_their_groups_in_their_colours(rng):
    centres = np.array([[0.0, 0.0], [10.0, 0.0], [0.0, 10.0]])
    labels = np.repeat([-1, 0, 9], 50)
    drawing = still_map(centres[np.repeat([0, 1, 2], 50)] + rng.normal(size=(150, 2)), labels)
    assert [group.label for group in drawing.groups] == [-1, 0, 9]
    for group in drawing.groups:
        np.testing.assert_allclose([group.x, group.y], np.median(dots(group), axis=0), atol=1)
    unlike, first, tenth = (group.colour for group in drawing.groups)
    assert unlike == -1
    assert first == 0
    assert 0 <= tenth < 9  # colours are used again


def test_many_rows_are_sampled_alike_in_every_run_and_drawn_smaller(rng):
    many = rng.normal(size=(3 * MOST_POINTS, 2))
    labels = np.zeros(len(many), int)
    one, again, few = still_map(many, labels), still_map(many, labels), still_map(many[:50], labels[:50])
    assert one == again
    assert 0.9 * MOST_POINTS < len(dots(one.groups[0])) <= MOST_POINTS
    assert one.dot < few.dot
    assert len(dots(few.groups[0])) == 50


def test_equal_rows_and_rows_without_a_place_are_drawn():
    coordinates = np.array([[2.0, 2.0], [2.0, 2.0], [np.nan, np.nan]])
    (group,) = still_map(coordinates, np.zeros(3, int), height=200).groups
    assert len(group.path) > 0
    assert np.isfinite([group.x, group.y]).all()


def test_evidence_runs_from_left_to_right_and_from_bottom_to_top():
    points = evidence_points([(4, 0.25), (2, 1.0), (3, 0.5)], chosen=3, width=200, height=100)
    assert [(point.groups, point.x, point.y) for point in points] == [(2, 0, 0), (3, 100, 50), (4, 200, 75)]
    assert [point.chosen for point in points] == [False, True, False]


def test_evidence_out_of_range_stays_in_the_box_and_what_is_unknown_is_left_out():
    points = evidence_points([(2, -0.5), (3, 1.5), (4, np.nan)], chosen=2, width=10, height=10)
    assert [(point.value, point.y) for point in points] == [(-0.5, 10), (1.5, 0)]
    assert evidence_points([], chosen=1, width=10, height=10) == []
    (alone,) = evidence_points([(2, 0.5)], chosen=2, width=10, height=10)
    assert (alone.x, alone.y) == (0, 5)
