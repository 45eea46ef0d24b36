"""States of a reservoir against the equation, and what they must not depend on."""

import subprocess
import sys

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.sparse import csr_array, issparse

from gramian import Reservoir
from gramian.configuration import MemoryBudgetError, config
from gramian.reservoir import _update


@pytest.fixture
def U():
    return np.random.default_rng(1).uniform(-1, 1, (300, 2))


def dense(W):
    return W.toarray() if issparse(W) else W


def by_equation(reservoir, U, Y=None):
    W, out = dense(reservoir.recurrent_weights_), []
    state = np.zeros(reservoir.n_units)
    for t, u in enumerate(U):
        drive = reservoir.input_weights_ @ (reservoir.input_scaling * u) + reservoir.bias_
        if Y is not None and t:
            drive = drive + reservoir.feedback_weights_ @ (
                reservoir.feedback_scaling * reservoir.teacher_scaling * Y[t - 1]
            )
        a = reservoir.leak_rate
        state = (1 - a) * state + a * np.tanh(W @ state + drive)
        out.append(state)
    return np.array(out)


@pytest.mark.parametrize("changes", [{}, {"leak_rate": 0.3, "bias_scaling": 0.5}, {"connectivity": 0.3}])
def test_states_are_those_of_the_equation(U, changes):
    reservoir = Reservoir(40, random_state=0, **changes).fit(U)
    np.testing.assert_allclose(reservoir.transform(U), by_equation(reservoir, U), atol=1e-12)


def test_weights_are_uniform_and_scaled(U):
    """Input weights on [−1, 1), and a bias on [−1, 1) times its scaling."""
    whole, half = (Reservoir(2000, spectral_radius=0.0, bias_scaling=b, random_state=0).fit(U) for b in (1.0, 0.5))
    np.testing.assert_allclose(half.bias_, 0.5 * whole.bias_)
    np.testing.assert_array_equal(half.input_weights_, whole.input_weights_)
    for weights in (whole.bias_, whole.input_weights_):
        assert -1 <= weights.min() < -0.98
        assert 0.98 < weights.max() < 1
        assert abs(weights.mean()) < 3 / np.sqrt(3 * weights.size)
        assert abs(weights.var() - 1 / 3) < 0.03


def test_outputs_are_fed_back_one_step_later(U):
    Y = np.random.default_rng(2).normal(size=(300, 3))
    reservoir = Reservoir(40, feedback_scaling=0.5, teacher_scaling=0.7, random_state=0).fit(U, Y)
    np.testing.assert_allclose(reservoir.transform(U, Y), by_equation(reservoir, U, Y), atol=1e-12)
    with pytest.raises(ValueError, match="feedback must be given"):
        reservoir.transform(U)
    with pytest.raises(ValueError, match="y"):
        Reservoir(40, feedback_scaling=0.5).fit(U)


def test_old_states_are_forgotten(U):
    """Spectral radius 0.8: two random starts are within 1e-8 after 500 steps of the same input."""
    long = np.vstack([U, U])[:501]
    reservoir = Reservoir(60, spectral_radius=0.8, washout=500, random_state=0).fit(long)
    assert reservoir.echo_state_index(long) < 1e-8
    assert Reservoir(60, spectral_radius=3.0, input_scaling=1e-3, random_state=0).fit(long).echo_state_index(long) > 0.1


def test_without_recurrence_only_the_present_input_counts(U):
    reservoir = Reservoir(30, spectral_radius=0.0, random_state=0).fit(U)
    np.testing.assert_allclose(reservoir.transform(U)[100:], reservoir.transform(U[100:]), atol=1e-15)


@settings(max_examples=15, deadline=None)
@given(seed=st.integers(0, 1000), leak=st.floats(0.05, 1.0), radius=st.floats(0.0, 2.0))
def test_states_lie_inside_the_cube_and_permuted_units_permute_them(seed, leak, radius):
    rng = np.random.default_rng(seed)
    U, order = rng.normal(size=(30, 1)), rng.permutation(12)
    reservoir = Reservoir(12, leak_rate=leak, spectral_radius=radius, connectivity=3, random_state=seed).fit(U)
    states = reservoir.transform(U)
    assert np.abs(states).max() < 1
    reservoir.recurrent_weights_ = csr_array(dense(reservoir.recurrent_weights_)[np.ix_(order, order)])
    reservoir.input_weights_ = reservoir.input_weights_[order]
    np.testing.assert_allclose(reservoir.transform(U), states[:, order], atol=1e-12)


def test_a_run_in_blocks_is_the_run(U):
    reservoir = Reservoir(30, noise=0.1, random_state=0).fit(U)
    course = reservoir.start(rng=reservoir.noise_source())
    blocks = [course.advance(U[rows]) for rows in (slice(0, 1), slice(1, 120), slice(120, 120), slice(120, 300))]
    np.testing.assert_allclose(np.vstack(blocks), reservoir.transform(U), atol=1e-14)
    np.testing.assert_array_equal(course.state, blocks[-1][-1])
    with pytest.raises(ValueError, match=r"state has shape \(3,\)"):
        reservoir.start(np.zeros(3))


@pytest.mark.parametrize("kind", ["list", "groups"])
def test_every_sequence_starts_from_rest(U, kind):
    reservoir = Reservoir(30, random_state=0).fit(U)
    alone = [reservoir.transform(U[:100]), reservoir.transform(U[100:])]
    if kind == "list":
        found = reservoir.transform([U[:100], U[100:]])
    else:
        found = np.split(reservoir.transform(U, groups=np.repeat([4, 2], [100, 200])), [100])
    for part, expected in zip(found, alone, strict=True):
        np.testing.assert_allclose(part, expected, atol=1e-15)


@pytest.mark.parametrize(
    ("distribution", "low", "high"), [("uniform_positive", 0, 0.1), ("uniform", -0.1, 0.1), ("normal", -0.6, 0.6)]
)
def test_noise_is_of_its_kind_repeats_and_leaves_the_weights_alone(distribution, low, high):
    U = np.zeros((400, 1))
    plain = Reservoir(50, spectral_radius=0.0, random_state=7).fit(U)
    noisy = Reservoir(50, spectral_radius=0.0, noise=0.1, noise_distribution=distribution, random_state=7).fit(U)
    np.testing.assert_array_equal(plain.input_weights_, noisy.input_weights_)
    drawn = np.arctanh(noisy.transform(U))
    np.testing.assert_array_equal(noisy.transform(U), noisy.transform(U))
    assert low <= drawn.min() < low + 0.2 * (high - low)
    assert high - 0.2 * (high - low) < drawn.max() <= high
    assert abs(drawn.mean() - (0.05 if low == 0 else 0)) < 0.003
    assert noisy.noise_source(0).random() != noisy.noise_source(1).random()
    assert plain.noise_source() is None


def test_float32_in_is_float32_out_of_float64_states(U):
    reservoir = Reservoir(30, random_state=0).fit(U)
    single = reservoir.transform(U.astype(np.float32))
    assert single.dtype == np.float32
    np.testing.assert_array_equal(
        single, reservoir.transform(U.astype(np.float32).astype(np.float64)).astype(np.float32)
    )


def test_washout_is_a_tenth_at_most_a_hundred_by_default():
    reservoir = Reservoir(5)
    assert [reservoir.washout_of(n) for n in (5, 50, 500, 5000)] == [0, 5, 50, 100]
    assert Reservoir(5, washout=7).washout_of(5000) == 7


def test_states_that_do_not_fit_are_refused_with_the_way_out(U):
    reservoir = Reservoir(30, random_state=0).fit(U)
    with config(memory_budget=1000), pytest.raises(MemoryBudgetError, match="start"):
        reservoir.transform(U)
    with config(memory_budget=1000), pytest.raises(MemoryBudgetError, match="n_units"):
        Reservoir(200).fit(U)
    with pytest.raises(ValueError, match="washout=300 leaves none"):
        Reservoir(30, washout=300).fit(U).echo_state_index(U)


def test_sequences_are_told_apart_by_their_mean_state():
    """Two kinds of waves that differ in their order alone; a linear classifier of mean states tells them apart."""
    from sklearn.linear_model import LogisticRegression

    rng = np.random.default_rng(0)

    def wave(kind):
        rising = np.linspace(-1, 1, rng.integers(20, 40))[:, None]
        return (rising if kind else rising[::-1]) + 0.2 * rng.normal(size=rising.shape)

    kinds = np.arange(120) % 2
    waves = [wave(kind) for kind in kinds]
    reservoir = Reservoir(60, input_scaling=1.0, bias_scaling=0.5, random_state=0).fit(waves)
    means = np.array([states.mean(axis=0) for states in reservoir.transform(waves)])
    assert LogisticRegression(C=100).fit(means[:80], kinds[:80]).score(means[80:], kinds[80:]) > 0.95


def test_numba_waits_for_a_long_series():
    code = (
        "import sys, numpy; from gramian import EchoStateNetwork as N; x = numpy.sin(numpy.arange(500.0));"
        "N(100).fit(x[:-1, None], x[1:]).generate(5); raise SystemExit('numba' in sys.modules)"
    )
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0
    assert _update._COMPILE_WORK > 10**6


def test_the_echo_of_a_reservoir_with_feedback_is_measured_without_any():
    U, y = np.random.default_rng(0).normal(size=(300, 1)), np.ones(300)
    fed = Reservoir(30, spectral_radius=1.3, feedback_scaling=0.5, random_state=0).fit(U, y)
    alone = Reservoir(30, spectral_radius=1.3, random_state=0).fit(U)
    assert fed.echo_state_index(U) == pytest.approx(alone.echo_state_index(U))
