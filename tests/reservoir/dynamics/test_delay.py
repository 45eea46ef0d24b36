"""Delay coordinates, and the choice of delay and dimension."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.spatial.distance import cdist

from gramian.reservoir.dynamics import (
    autocorrelation_zero,
    delay_embedding,
    false_neighbors,
    mutual_information_minimum,
)
from gramian.reservoir.dynamics.delay import nearest_outside
from reservoir.dynamics.trajectories import lorenz, trajectory


@given(st.integers(1, 5), st.integers(1, 7), st.integers(0, 30))
def test_delay_coordinates_are_later_values_of_the_series(dimension, delay, more):
    x = np.random.default_rng(0).normal(size=(dimension - 1) * delay + 1 + more)
    points = delay_embedding(x, dimension, delay)
    assert points.shape == (1 + more, dimension)
    for i in range(len(points)):
        assert points[i].tolist() == [x[i + j * delay] for j in range(dimension)]


def test_a_series_too_short_for_its_coordinates_is_refused():
    with pytest.raises(ValueError, match=r"at least 13 values; x has 12"):
        delay_embedding(np.zeros(12), 4, 4)


def test_the_autocorrelation_of_a_sine_vanishes_after_a_quarter_of_its_period():
    assert autocorrelation_zero(np.sin(2 * np.pi * np.arange(5000) / 39)) == 10


def test_the_first_zero_is_that_of_the_textbook_autocorrelation(rng):
    x = np.convolve(rng.normal(size=600), np.ones(9), mode="valid")
    centered = x - x.mean()
    textbook = [centered[lag:] @ centered[: len(x) - lag] for lag in range(200)]
    assert autocorrelation_zero(x) == next(lag for lag, value in enumerate(textbook) if value <= 0)


def test_a_trend_never_loses_its_autocorrelation_within_a_few_lags():
    with pytest.raises(ValueError, match="max_lag=5"):
        autocorrelation_zero(np.arange(1000.0), max_lag=5)


def test_mutual_information_of_lorenz_has_its_known_first_minimum():
    x = trajectory(lorenz, 6000, 0.02, (1, 1, 20))[:, 0]
    assert mutual_information_minimum(x) in (7, 8, 9)  # 0.16 time units, as in the literature


def test_mutual_information_agrees_with_scikit_learn(rng):
    from sklearn.metrics import mutual_info_score

    from gramian.reservoir.dynamics.delay import _mutual_information

    a, b = rng.integers(0, 6, 400), rng.integers(0, 6, 400)
    np.testing.assert_allclose(_mutual_information(a, b, 6), mutual_info_score(a, b), rtol=1e-12)


def test_lorenz_needs_three_coordinates_and_a_sine_two():
    x = trajectory(lorenz, 3000, 0.02, (1, 1, 20))[:, 0]
    found = false_neighbors(x, 8, theiler=50, max_dimension=4)
    assert found.dimension == 3
    assert found.fractions[0] > 0.5
    assert false_neighbors(np.sin(0.11 * np.arange(2000)), 14, theiler=14, max_dimension=3).dimension == 2


@pytest.mark.parametrize("tests", [{}, {"ratio": 3.0}, {"size": 0.5}, {"ratio": 1e9, "size": 1.2}])
def test_fractions_of_false_neighbours_are_those_of_the_textbook(rng, tests):
    """Kennel's two tests, written out for every point: a jump beside the distance, and a place as far as the series."""
    x, delay, theiler = np.convolve(rng.normal(size=260), np.ones(4), mode="valid"), 2, 5
    found = false_neighbors(x, delay, theiler=theiler, max_dimension=3, **tests).fractions
    ratio, size = tests.get("ratio", 15.0), tests.get("size", 2.0)
    for m in (1, 2, 3):
        n = len(x) - m * delay
        points = np.array([[x[i + j * delay] for j in range(m)] for i in range(n)])
        false = []
        for i in range(n):
            away = [np.linalg.norm(points[i] - points[j]) if abs(i - j) > theiler else np.inf for j in range(n)]
            j = int(np.argmin(away))
            jump = abs(x[i + m * delay] - x[j + m * delay])
            false.append(jump / away[j] > ratio or np.sqrt(away[j] ** 2 + jump**2) > size * x.std())
        assert found[m - 1] == pytest.approx(np.mean(false))
        assert 0 < np.mean(false) < 1


def test_mutual_information_is_taken_from_as_many_bins_as_are_said(rng):
    """√(n / 5), rounded up, along each axis; the first lag after which it rises."""
    x = np.convolve(rng.normal(size=1500), np.ones(6), mode="valid")

    def first_minimum(bins):
        told = []
        for lag in range(1, 40):
            joint = np.histogram2d(x[:-lag], x[lag:], bins, [[x.min(), x.max()]] * 2)[0] / (len(x) - lag)
            apart = np.outer(joint.sum(axis=1), joint.sum(axis=0))
            told.append((joint[joint > 0] * np.log(joint[joint > 0] / apart[joint > 0])).sum())
            if lag > 1 and told[-1] > told[-2]:
                return lag - 1
        return None

    usual = int(np.ceil(np.sqrt(len(x) / 5)))
    assert mutual_information_minimum(x, max_lag=40) == first_minimum(usual)
    other = next(bins for bins in (3, 4, 5, 6, 8, 60) if first_minimum(bins) not in (first_minimum(usual), None))
    assert mutual_information_minimum(x, max_lag=40, n_bins=other) == first_minimum(other)


def test_noise_keeps_its_false_neighbours(rng):
    assert false_neighbors(rng.normal(size=500), max_dimension=3).dimension is None


@pytest.mark.parametrize("theiler", [0, 3, 40])
def test_neighbours_outside_the_window_are_those_of_all_distances(rng, theiler):
    points = np.cumsum(rng.normal(size=(90, 2)), axis=0)  # near in time is near in space
    distances = cdist(points, points)
    distances[np.abs(np.subtract.outer(np.arange(90), np.arange(90))) <= theiler] = np.inf
    nearest, far = nearest_outside(points, theiler)
    np.testing.assert_array_equal(nearest, distances.argmin(axis=1))
    np.testing.assert_allclose(far, distances.min(axis=1))


def test_points_with_nobody_outside_the_window_have_no_neighbour():
    nearest, far = nearest_outside(np.arange(4.0)[:, None], 10)
    assert nearest.tolist() == [-1] * 4
    assert np.isinf(far).all()


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: delay_embedding([1.0, np.nan, 2.0], 2), "NaN"),
        (lambda: delay_embedding(np.zeros((4, 2)), 2), r"shape \(4, 2\)"),
        (lambda: delay_embedding(np.zeros(9), 2, delay=0), "delay=0"),
        (lambda: autocorrelation_zero(np.ones(50)), "all alike"),
        (lambda: mutual_information_minimum(np.arange(50.0), max_lag=50), "max_lag=50"),
        (lambda: false_neighbors(np.arange(40.0), max_dimension=2, theiler=100), "theiler=100"),
    ],
)
def test_bad_input_names_what_is_wrong(call, message):
    with pytest.raises(ValueError, match=message):
        call()


def test_an_autocorrelation_that_stays_positive_is_told_by_its_length(rng):
    noise = rng.normal(size=4000)
    x = np.convolve(noise, np.exp(-np.arange(200) / 20), "valid")
    with pytest.warns(UserWarning, match="falls below 1/e"):
        assert autocorrelation_zero(x, max_lag=40) == pytest.approx(20, abs=6)
