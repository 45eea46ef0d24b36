"""Lyapunov exponents of maps and flows that have known ones."""

import numpy as np
import pytest
from scipy.spatial.distance import cdist

from gramian.reservoir.dynamics import lyapunov_from_data, lyapunov_spectrum
from reservoir.dynamics.trajectories import logistic_map, lorenz, moore_spiegel, trajectory


def test_the_logistic_map_parts_neighbours_by_a_factor_of_two():
    x = logistic_map(3500)
    assert lyapunov_from_data(x, fit=(0, 5)).exponent == pytest.approx(np.log(2), abs=0.03)
    assert lyapunov_from_data(x).exponent == pytest.approx(np.log(2), abs=0.03)


def test_the_curve_is_the_mean_growth_of_distances_of_textbook_neighbours(rng):
    points, horizon, theiler = np.cumsum(rng.normal(size=(80, 2)), axis=0), 6, 4
    among = points[: 80 - horizon]
    distances = cdist(among, among)
    distances[np.abs(np.subtract.outer(np.arange(74), np.arange(74))) <= theiler] = np.inf
    near = distances.argmin(axis=1)
    growth = [
        np.mean(
            [np.log(np.linalg.norm(points[k + t] - points[near[k] + t]) / distances[k, near[k]]) for k in range(74)]
        )
        for t in range(horizon + 1)
    ]
    found = lyapunov_from_data(points, step=0.5, theiler=theiler, horizon=horizon, fit=(0, 2))
    np.testing.assert_allclose(found.curve, growth, atol=1e-12)
    np.testing.assert_allclose(found.times, 0.5 * np.arange(7))
    np.testing.assert_allclose(found.exponent, np.polyfit(found.times[:5], found.curve[:5], 1)[0])


def test_lorenz_is_chaotic_at_its_known_rate_and_a_sine_is_not():
    exponents = [
        lyapunov_from_data(trajectory(lorenz, 3000, 0.02, (1 + i, 1, 20)), step=0.02, theiler=50).exponent
        for i in range(3)
    ]
    assert np.mean(exponents) == pytest.approx(0.906, rel=0.1)
    angle = 0.0731 * np.arange(3000)
    circle = lyapunov_from_data(np.stack([np.sin(angle), np.cos(angle)], axis=1), theiler=60)
    assert abs(circle.exponent) < 1e-4


def test_the_spectra_of_two_flows_sum_to_their_divergence():
    spectrum = lyapunov_spectrum(lorenz, (1, 1, 20), duration=40, burn_in=15, n_trajectories=60)
    assert spectrum.sum() == pytest.approx(-(10 + 1 + 8 / 3), abs=0.02)
    assert spectrum[0] == pytest.approx(0.906, abs=0.03)
    assert spectrum[1] == pytest.approx(0, abs=0.02)
    assert (np.diff(spectrum) < 0).all()
    other = lyapunov_spectrum(moore_spiegel, (0.5, 0.5, 0.5), duration=8, burn_in=8, n_trajectories=40)
    assert other.sum() == pytest.approx(-1, abs=0.01)
    assert other[0] > 0.1


def test_exponents_of_a_linear_flow_are_the_real_parts_of_its_eigenvalues():
    A = np.array([[-0.5, 2.0, 0.0], [-2.0, -0.5, 0.3], [0.0, 0.0, -1.5]])
    spectrum = lyapunov_spectrum(lambda s: s @ A.T, (1, 1, 1), duration=15, burn_in=8, n_trajectories=3)
    np.testing.assert_allclose(spectrum, [-0.5, -0.5, -1.5], atol=0.03)
    largest = lyapunov_spectrum(lambda s: s @ A.T, (1, 1, 1), duration=15, burn_in=8, n_trajectories=3, n_exponents=1)
    np.testing.assert_allclose(largest, [-0.5], atol=0.03)


def test_pairs_that_start_at_the_same_place_are_left_out():
    x = np.tile(np.arange(20.0), 6)
    with pytest.raises(ValueError, match="not at the same place"):
        lyapunov_from_data(x, theiler=19, horizon=5)


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: lyapunov_from_data(np.arange(3.0)), "horizon=0"),
        (lambda: lyapunov_from_data(logistic_map(100), step=0.0), "step=0.0"),
        (lambda: lyapunov_from_data(logistic_map(100), fit=(50, 60)), "fit=.*up to 20"),
        (lambda: lyapunov_from_data(logistic_map(100), fit="linear"), "fit='linear'"),
        (lambda: lyapunov_spectrum(lorenz, (1, 1, 20), n_exponents=4), "n_exponents=4"),
        (lambda: lyapunov_spectrum(lorenz, (1, np.nan, 20)), "finite"),
        (lambda: lyapunov_spectrum(lorenz, (1, 1, 20), step=-1), "step=-1"),
        (lambda: lyapunov_spectrum(lambda s: s[:, :1], (1, 1, 20)), "flow returned shape"),
        (lambda: lyapunov_spectrum(lambda s: 100 * s, (1.0,), duration=1e3), "leaves for infinity"),
    ],
)
@pytest.mark.filterwarnings("ignore:overflow", "ignore:invalid value")
def test_bad_input_names_what_is_wrong(call, message):
    with pytest.raises(ValueError, match=message):
        call()


def test_rounding_of_a_periodic_series_is_not_taken_for_chaos():
    """With a period of 40 steps neighbours lie 1e-16 apart, and part by chance: the slope was 1.7 a step."""
    x = np.sin(2 * np.pi * np.arange(3000) / 40)
    points = np.stack([x[:-10], x[10:]], axis=1)
    with pytest.raises(ValueError, match="periodic and not chaotic"):
        lyapunov_from_data(points, theiler=20)


def test_noise_is_told_from_chaos(rng):
    noise = rng.normal(size=1002)
    for points in (rng.normal(size=(1000, 3)), np.stack([noise[:-2], noise[1:-1], noise[2:]], axis=1)):
        with pytest.warns(UserWarning, match="as in noise"):
            lyapunov_from_data(points, theiler=1)
