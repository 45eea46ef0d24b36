"""Attractors seen through one coordinate."""

import numpy as np
import pytest
from sklearn.decomposition import PCA

from gramian.reservoir import Reservoir
from gramian.reservoir.dynamics import correlation_dimension, delay_embedding, reconstruct_attractor
from reservoir.dynamics.trajectories import lorenz, trajectory


@pytest.fixture(scope="module")
def x():
    return trajectory(lorenz, 3000, 0.02, (1, 1, 20))[:, 0]


def test_delays_are_the_delay_embedding(x):
    np.testing.assert_array_equal(reconstruct_attractor(x, "delay", delay=8), delay_embedding(x, 3, 8))
    chosen = reconstruct_attractor(x, "delay")
    assert len(x) - len(chosen) in (14, 16, 18)  # twice a delay of about 0.16 time units


def test_components_are_those_of_the_states(x):
    reservoir = Reservoir(40, random_state=1)
    states = reservoir.fit_transform(((x - x.mean()) / x.std())[:, None])[50:]
    found = reconstruct_attractor(x, reservoir=reservoir, washout=50)
    expected = PCA(3).fit_transform(states)
    np.testing.assert_allclose(np.abs(found), np.abs(expected), atol=1e-8)


def test_a_small_reservoir_is_seen_as_it_is(x):
    points = reconstruct_attractor(x, "esn-small", random_state=0)
    assert points.shape == (2900, 3)
    assert (np.abs(points) < 1).all()


def test_kernel_components_of_all_steps_follow_from_some(x):
    points = reconstruct_attractor(np.tile(x, 2), "esn-kpca", reservoir=Reservoir(30, random_state=0))
    assert points.shape == (5900, 3)
    # The same input after the same past has the same place, whether its state was fitted or not.
    np.testing.assert_allclose(points[1000:2900], points[4000:], atol=1e-6)


def test_the_usual_reservoir_sees_an_attractor_of_about_two_dimensions(x):
    points = reconstruct_attractor(x, random_state=0)
    assert 1.6 < correlation_dimension(points, theiler=50).dimension < 2.4


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"method": "umap"}, "method='umap'"),
        ({"washout": 3000}, "washout=3000"),
        ({"n_components": 0}, "n_components=0"),
    ],
)
def test_bad_input_names_what_is_wrong(x, arguments, message):
    with pytest.raises(ValueError, match="all alike"):
        reconstruct_attractor(np.ones(500))
    with pytest.raises(ValueError, match=message):
        reconstruct_attractor(x, **arguments)
