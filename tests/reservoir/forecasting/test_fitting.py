"""What is chosen on the last steps of a series."""

import numpy as np

from gramian.reservoir.forecasting.calendar import Clock
from gramian.reservoir.forecasting.fitting import Fitting, padded, simplest
from gramian.reservoir.forecasting.window import Layout


def fitting(values, horizon=3, lags=5):
    layout = Layout(horizon, lags, (), Clock())
    return Fitting(
        values[:, None],
        np.zeros((len(values), 0)),
        layout,
        reservoir=None,
        n_networks=1,
        coverage=0.9,
        random_state=0,
    )


def test_a_simpler_rule_is_kept_unless_clearly_beaten():
    """A gain within its own doubt does not count, a steady one does."""
    rng = np.random.default_rng(0)
    base = 1 + 0.5 * rng.random(100)
    assert simplest({"naive": base, "networks": base + 0.3 * rng.normal(size=100)}, 20) == "naive"
    assert simplest({"naive": base, "lags": base - 0.3, "networks": base - 0.301}, 5) == "lags"
    assert simplest({"naive": base, "lags": base - 0.3, "networks": base - 0.6}, 5) == "networks"


def test_logarithms_are_taken_where_they_help():
    """Growth by a random factor is modelled in logarithms, steps of a random size are not."""
    steps = np.random.default_rng(0).normal(size=500)
    walk = np.zeros(500)
    for t in range(1, 500):
        walk[t] = 0.8 * walk[t - 1] + 0.6 * steps[t]
    assert fitting(np.exp(1.5 * walk))._choice()[0].log
    assert not fitting(10 + walk)._choice()[0].log


def test_short_series_have_simple_rules_only():
    """Too few steps for a network leave the rules that need no learning."""
    models = fitting(np.arange(12.0)).models(needs_network=False)
    assert set(models.rules) == {"naive"}


def test_padding_repeats_the_last_row():
    """Rows that are not known yet repeat the last one."""
    np.testing.assert_array_equal(padded(np.array([[1.0], [2.0]]), 2)[:, 0], [1, 2, 2, 2])


def test_every_network_draws_weights_of_its_own():
    """The mean of four equal networks would be one of them."""
    values = np.random.default_rng(0).normal(size=200)
    task = fitting(values)
    task.n_networks = 4
    members = task._networks(*task._choice()).members
    assert len({member.reservoir.random_state for member in members}) == 4
