"""Direct models with and without a reservoir: streaming, horizons and groups."""

import numpy as np
import pytest

from gramian import EchoStateNetwork
from gramian.reservoir import Reservoir
from gramian.reservoir.forecasting import networks
from gramian.reservoir.forecasting.calendar import Clock
from gramian.reservoir.forecasting.networks import DirectForecast, NetworkEnsemble
from gramian.reservoir.forecasting.window import Layout, Window


@pytest.fixture
def window():
    rng = np.random.default_rng(1)
    values = np.sin(0.7 * np.arange(400))[:, None] + 0.2 * rng.normal(size=(400, 1))
    return Window(0, values, np.ones((400, 1), bool), np.zeros((403, 0)))


def test_horizon_one_is_a_one_step_network(window):
    """Without lags a direct forecast of one step is an echo state network of the next value."""
    layout = Layout(1, 0, (), Clock(), anchor=-1)
    model = DirectForecast(layout, Reservoir(30, random_state=0))
    model.learn(window, 40, 320)
    y = window.values
    ridge = float(model.penalties[0][0])
    network = EchoStateNetwork(
        reservoir=Reservoir(30, random_state=0), standardize=False, include_input=False, washout=40
    )
    states = Reservoir(30, random_state=0).fit(y).transform(y[:-1])[40:]
    penalty = ridge * ((states - states.mean(axis=0)) ** 2).sum()
    network.set_params(regularization=penalty).fit(y[:-1], y[1:, 0])
    forecasts, _ = model.run(window, 0, 400, None)
    np.testing.assert_allclose(forecasts[:-1, 0, 0], network.predict(y[:-1], initial_state="zeros"), atol=1e-7)


def test_blocks_do_not_matter(window, monkeypatch):
    """Runs in one block or in many give the same forecasts."""
    layout = Layout(3, 5, (9,), Clock(), recalled=(9,))
    model = DirectForecast(layout, Reservoir(20, random_state=0))
    first, _ = model.learn(window, 50, 320)
    monkeypatch.setattr(networks, "STRIP", 37)
    again = DirectForecast(layout, Reservoir(20, random_state=0))
    second, _ = again.learn(window, 50, 320)
    np.testing.assert_allclose(first, second, atol=1e-6)
    whole, _ = model.run(window, 100, 200, None)
    half, state = model.run(window, 100, 150, None)
    rest, _ = model.run(window, 150, 200, state)
    np.testing.assert_allclose(whole, np.concatenate([half, rest]), atol=1e-10)


def test_judged_forecasts_have_not_seen_the_end(window):
    """Another end of the series from ``cut + h`` on does not change the forecast from ``cut``, its penalty given."""
    layout = Layout(1, 5, (), Clock())
    other = Window(0, window.values.copy(), window.known, window.others)
    other.values[330:] = -other.values[330:]
    found = []
    for each in (window, other):
        model = DirectForecast(layout)
        learned, judged = networks.DirectSums(1), networks.DirectSums(1)
        model.groups = [[1]]
        for rows, S, _ in model._blocks(each, 0, 400, None):
            model._add(each, rows, S, 20, 320, [[learned, networks.DirectSums(1), judged]])
        found.append(networks.solved(learned, np.array([1e-6])).shared)
    np.testing.assert_array_equal(*found)


def test_holes_split_the_horizons_into_groups(window):
    """Complete series have one group; many holes make several, which cover all horizons once."""
    layout = Layout(8, 3, (), Clock())
    model = DirectForecast(layout)
    model.learn(window, 20, 320)
    assert model.groups == [list(range(1, 9))]
    known = np.ones((400, 1), bool)
    known[::6] = False
    model.learn(Window(0, window.values, known, np.zeros((408, 0))), 20, 320)
    assert len(model.groups) > 1
    assert sorted(h for group in model.groups for h in group) == list(range(1, 9))


def test_ensemble_is_the_mean_of_its_members(window):
    """The forecast of the ensemble is the mean of the forecasts."""
    layout = Layout(2, 3, (), Clock())
    members = [DirectForecast(layout, Reservoir(10, random_state=seed)) for seed in range(2)]
    ensemble = NetworkEnsemble(members)
    ensemble.learn(window, 20, 320)
    found, _ = ensemble.run(window, 390, 400, ensemble.start())
    alone = [member.run(window, 390, 400, None)[0] for member in members]
    np.testing.assert_allclose(found, np.mean(alone, axis=0))
