"""Generated series against their recursions and the published figures."""

import numpy as np
import pytest
from scipy.integrate import solve_ivp

from gramian.datasets import make_lorenz, make_mackey_glass, make_moore_spiegel, make_mso, make_narma


def autocorrelation_zero(x):
    x = x - x.mean()
    return next(lag for lag in range(1, len(x)) if x[:-lag] @ x[lag:] <= 0)


def test_published_mackey_glass_obeys_its_recursion():
    """x[n+1] = 0.8187333 x[n] + 0.3625333 g(x[n−7]), with the mean, deviation, range and first zero of the file."""
    x = make_mackey_glass(5000, variant="published")
    g = x[:-8] / (1 + x[:-8] ** 10)
    decay = 1 - 0.2 + 0.02 - 0.008 / 6 + 0.0016 / 24
    np.testing.assert_allclose(x[8:], decay * x[7:-1] + 2 * (1 - decay) * g, atol=1e-14)
    np.testing.assert_allclose([decay, 2 * (1 - decay)], [0.8187333, 0.3625333], atol=1e-7)
    np.testing.assert_allclose([x.mean(), x.std(), x.min(), x.max()], [0.937, 0.218, 0.485, 1.286], atol=2e-3)
    assert autocorrelation_zero(x) == 6


def test_standard_mackey_glass_obeys_its_recursion_and_figures():
    x = make_mackey_glass(30_000, every=1, burn_in=0)
    h = 0.1
    decay = sum((-0.1 * h) ** k / f for k, f in enumerate((1, 1, 2, 6, 24)))
    g = x[:-171] / (1 + x[:-171] ** 10)
    np.testing.assert_allclose(x[171:], decay * x[170:-1] + 2 * (1 - decay) * g, atol=1e-13)
    first = decay * 1.2 + 2 * (1 - decay) * 1.2 / (1 + 1.2**10)
    np.testing.assert_allclose(x[0], first, rtol=1e-14)
    sampled = make_mackey_glass(15_000)
    np.testing.assert_allclose([sampled.mean(), sampled.std()], [0.93, 0.227], atol=5e-3)
    np.testing.assert_allclose([sampled.min(), sampled.max()], [0.416, 1.320], atol=8e-3)
    assert [autocorrelation_zero(make_mackey_glass(5000, every=e)) for e in (10, 20, 30)] == [13, 7, 5]


def test_sampling_and_burn_in_choose_from_one_run():
    every_step = make_mackey_glass(1000, every=1, burn_in=0)
    np.testing.assert_array_equal(make_mackey_glass(50, every=10, burn_in=50), every_step[9::10][50:])
    for variant in ("standard", "published"):
        assert make_mackey_glass(7, variant=variant, burn_in=0).shape == (7,)


@pytest.mark.parametrize(
    ("order", "coefficient", "high"), [(10, 0.005, 1.0), (20, 0.005, 1.0), (20, 0.01, 0.5), (1, 0.05, 0.5)]
)
def test_narma_obeys_its_recursion(order, coefficient, high):
    U, y = make_narma(500, order=order, coefficient=coefficient, input_high=high, random_state=0)
    u = U[:, 0]
    for t in range(order, 499):
        past = sum(y[t - i] for i in range(order))
        expected = 0.3 * y[t] + coefficient * y[t] * past + 1.5 * u[t - order + 1] * u[t] + 0.1
        assert abs(y[t + 1] - expected) < 1e-12
    assert u.min() >= 0
    assert 0.9 * high < u.max() < high


def test_published_narma_never_diverges_and_has_its_mean_and_deviation():
    found = [make_narma(300, max_tries=1, random_state=seed)[1] for seed in range(100)]
    assert max(y.max() for y in found) < 5
    y = make_narma(10_000, burn_in=50, random_state=0)[1]
    np.testing.assert_allclose([y.mean(), y.std()], [0.72, 0.355], atol=0.02)


def test_narma_that_diverges_is_drawn_again_or_refused():
    with pytest.raises(ValueError, match="diverged in 3 draws"):
        make_narma(2000, order=20, coefficient=0.05, max_tries=3, random_state=0)
    first, second = (make_narma(100, random_state=4)[1] for _ in range(2))
    np.testing.assert_array_equal(first, second)


def test_superimposed_oscillators_are_the_formula():
    t = np.arange(1, 101)
    expected = sum(np.sin(f * t) for f in (0.2, 0.311, 0.42, 0.51, 0.63, 0.74))
    np.testing.assert_allclose(make_mso(100), expected, atol=1e-13)


def test_lorenz_by_euler_is_the_published_start():
    x = make_lorenz(5, step=0.01, method="euler", burn_in=0)[:, 0]
    np.testing.assert_allclose(x, [0.1, 0.1, 0.10269, 0.107774, 0.115062], atol=1e-6)


def lorenz(_, p):
    return [10 * (p[1] - p[0]), p[0] * (28 - p[2]) - p[1], p[0] * p[1] - 8 / 3 * p[2]]


def moore_spiegel(_, p):
    return [p[1], p[2], -p[2] - (36 - 100 + 100 * p[0] ** 2) * p[1] - 36 * p[0]]


@pytest.mark.parametrize(
    ("make", "flow", "step", "close"),
    [(make_lorenz, lorenz, 0.005, 1e-4), (make_moore_spiegel, moore_spiegel, 0.05, 1e-4)],
)
def test_flows_are_those_of_a_solver(make, flow, step, close):
    found = make(60, step=step, burn_in=0)
    times = step * np.arange(60)
    expected = solve_ivp(flow, (0, times[-1]), [0.1, 0.1, 0.1], t_eval=times, rtol=1e-11, atol=1e-12).y.T
    np.testing.assert_allclose(found, expected, atol=close * np.abs(expected).max())


def test_attractors_have_their_size():
    x = make_lorenz(3000)
    assert 15 < np.abs(x[:, 0]).max() < 22
    assert 20 < x[:, 2].mean() < 27
    assert np.abs(make_moore_spiegel(2000)[:, 0]).max() < 3


@pytest.mark.parametrize(
    ("call", "told"),
    [
        (lambda: make_mackey_glass(0), "n_samples=0"),
        (lambda: make_mackey_glass(10, variant="old"), "variant='old'"),
        (lambda: make_mackey_glass(10, delay=0), "delay=0"),
        (lambda: make_narma(10, order=0), "order=0"),
        (lambda: make_mso(10, frequencies=()), "frequencies"),
        (lambda: make_lorenz(10, method="heun"), "method='heun'"),
        (lambda: make_lorenz(10, start=(1.0, 2.0)), "three finite numbers"),
        (lambda: make_moore_spiegel(10, step=-1), "step=-1"),
    ],
)
def test_parameters_without_meaning_are_refused(call, told):
    with pytest.raises(ValueError, match=told):
        call()


@pytest.mark.filterwarnings("ignore::RuntimeWarning")
def test_a_step_that_is_too_long_is_told():
    with pytest.raises(ValueError, match="pass a smaller step"):
        make_lorenz(500, step=0.2, method="euler", burn_in=0)
