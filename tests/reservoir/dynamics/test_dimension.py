"""Correlation sums and dimensions of sets that have known ones."""

import numpy as np
import pytest
from scipy.spatial.distance import pdist, squareform
from scipy.stats import linregress

from gramian.reservoir.dynamics import correlation_dimension, correlation_sum, delay_embedding
from gramian.reservoir.dynamics.dimension import _straight_part, line
from reservoir.dynamics.trajectories import lorenz, trajectory


@pytest.mark.parametrize("theiler", [0, 1, 12])
def test_the_sum_is_the_share_of_pairs_among_all_distances(rng, theiler):
    points = np.cumsum(rng.normal(size=(120, 3)), axis=0)
    distances = squareform(pdist(points))
    later, earlier = np.tril_indices(120, -theiler - 1)
    radii = np.array([3.0, 0.7, 10.0, 1e6])
    textbook = [(distances[later, earlier] < radius).mean() for radius in radii]
    np.testing.assert_allclose(correlation_sum(points, radii, theiler=theiler), textbook, rtol=1e-14)


def test_pairs_at_exactly_the_radius_are_not_nearer_than_it():
    assert correlation_sum(np.array([0.0, 1.0]), [1.0]).tolist() == [0]
    assert correlation_sum(np.array([0.0, 1.0]), [1.0 + 1e-12]).tolist() == [1]


def test_reference_points_count_their_own_pairs_only(rng):
    points = rng.normal(size=(60, 2))
    distances, steps = squareform(pdist(points)), np.abs(np.subtract.outer(np.arange(60), np.arange(60)))
    chosen = [0, 12, 24, 36, 48]
    textbook = (distances[chosen] < 1)[steps[chosen] > 2].mean()
    np.testing.assert_allclose(correlation_sum(points, [1.0], theiler=2, n_references=5), [textbook])


def test_a_line_a_square_and_a_closed_curve_have_their_dimensions(rng):
    assert correlation_dimension(rng.uniform(size=3000)).dimension == pytest.approx(1, abs=0.05)
    assert correlation_dimension(rng.uniform(size=(4000, 2))).dimension == pytest.approx(2, abs=0.15)
    sine = delay_embedding(np.sin(0.1 * np.arange(3000)), 2, 15)
    assert correlation_dimension(sine, theiler=60).dimension == pytest.approx(1, abs=0.1)


def test_the_lorenz_attractor_has_its_known_dimension():
    points = trajectory(lorenz, 8000, 0.02, (1, 1, 20))
    found = correlation_dimension(points, theiler=50)
    assert found.dimension == pytest.approx(2.05, abs=0.08)
    assert found.standard_error < 0.02
    inside = (found.radii >= found.fitted[0]) & (found.radii <= found.fitted[1])
    slope = linregress(np.log(found.radii[inside]), np.log(found.sums[inside]))
    assert slope.slope == pytest.approx(found.dimension)
    assert slope.stderr == pytest.approx(found.standard_error)


def test_a_densely_sampled_curve_looks_too_simple_without_the_window(rng):
    noise = np.cumsum(rng.normal(size=(3000, 4)), axis=0)
    smooth = noise[100:] - noise[:-100]
    near, far = (correlation_dimension(smooth, radii=np.geomspace(4, 12, 9), fit=(4, 12), theiler=w) for w in (0, 200))
    assert near.dimension < far.dimension - 0.5
    assert far.dimension > 3.3


def test_a_curve_without_a_straight_part_is_said():
    with pytest.warns(UserWarning, match="nowhere a straight line"):
        assert _straight_part(np.linspace(1, 5, 12)) == slice(4, 12)
    assert _straight_part(np.array([5.0, 3.0, *[2.0] * 9, 1.0])) == slice(2, 11)
    assert _straight_part(np.array([5.0, 3.0, 1.0])) == slice(0, 3)  # too few radii to choose among


def test_a_straight_part_is_within_a_tenth_of_its_median():
    """A longer run that is bent by more is not taken."""
    slopes = np.array([2.6, 2.6, *[2.0, 2.05] * 5, 1.7, 1.7])
    assert _straight_part(slopes) == slice(2, 12)
    assert _straight_part(np.array([2.2, 2.2, *[2.0, 2.05] * 5, 1.9, 1.9])) == slice(0, 14)


def test_a_range_of_radii_can_be_given(rng):
    points = rng.uniform(size=(500, 1))
    found = correlation_dimension(points, radii=np.geomspace(0.01, 0.5, 9), fit=(0.02, 0.1))
    assert 0.02 <= found.fitted[0] < found.fitted[1] <= 0.1
    assert len(found.radii) == 9


def test_the_slope_of_two_points_has_no_error():
    slope, error = line(np.array([0.0, 2.0]), np.array([1.0, 4.0]))
    assert slope == 1.5
    assert np.isnan(error)


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: correlation_dimension(np.ones((50, 2))), "same place"),
        (lambda: correlation_dimension(np.arange(12.0), radii=[0.1, 0.2, 0.3]), "only 0 of the radii"),
        (lambda: correlation_dimension(np.arange(500.0), fit=(0.1, 0.2)), "fit="),
        (lambda: correlation_dimension(np.arange(500.0), fit="all"), "fit='all'"),
        (lambda: correlation_sum(np.arange(5.0), [0.0]), "radii"),
        (lambda: correlation_sum(np.arange(5.0), [1.0], theiler=4), "theiler=4 leaves no pair"),
        (lambda: correlation_sum(np.zeros((2, 2, 2)), [1.0]), "dim 3"),
    ],
)
def test_bad_input_names_what_is_wrong(call, message):
    with pytest.raises(ValueError, match=message):
        call()
