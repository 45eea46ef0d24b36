"""What a call of fit uses and keeps: washout, validation block, samples of states, and nothing of a refused call."""

import numpy as np
import pytest
from sklearn.decomposition import PCA
from sklearn.linear_model import Ridge

from gramian import EchoStateNetwork, Reservoir
from gramian.configuration import MemoryBudgetError, config
from gramian.reservoir import _learning, reductions


@pytest.fixture
def series():
    rng = np.random.default_rng(0)
    U = rng.uniform(-1, 1, (500, 1))
    return U, np.convolve(U[:, 0], [0.5, 0.3, -0.4])[:500]


def test_the_washout_is_not_learned_from(series):
    U, y = series
    spoiled = y.copy()
    spoiled[:40] = 1e3 * np.sin(np.arange(40))
    networks = [
        EchoStateNetwork(30, washout=40, standardize=False, regularization=0.1, random_state=0).fit(U, target)
        for target in (y, spoiled)
    ]
    np.testing.assert_allclose(networks[0].coef_, networks[1].coef_, rtol=1e-10)
    assert networks[0].washout_ == 40


@pytest.mark.parametrize(("washout", "length"), [(500, 500), (600, 500)])
def test_a_washout_of_everything_is_refused(series, washout, length):
    U, y = series
    with pytest.raises(ValueError, match=f"washout={washout} leaves none of the {length} rows"):
        EchoStateNetwork(10, washout=washout).fit(U, y)
    with pytest.raises(ValueError, match="of sequence 1"):
        EchoStateNetwork(10, washout=100).fit([U[:400], U[400:]], [y[:400], y[400:]])


def test_the_last_fifth_judges(series):
    U, y = series
    network = EchoStateNetwork(30, washout=100, random_state=0).fit(U, y)
    assert network.readout_.n_judged == 80
    assert network.readout_.sums.n_samples == 400
    tried = network.tuning_
    np.testing.assert_allclose(tried["regularization"][tried["error"][:, 0].argmin()], network.regularization_)


def test_blocks_do_not_change_what_is_learned(series, monkeypatch):
    U, y = series
    one = EchoStateNetwork(30, reduction="pca", noise=0.01, random_state=0).fit(U, y)
    monkeypatch.setattr(_learning, "STRIP", 17)
    many = EchoStateNetwork(30, reduction="pca", noise=0.01, random_state=0).fit(U, y)
    np.testing.assert_allclose(many.predict(U), one.predict(U), rtol=1e-8, atol=1e-9)


def test_a_reservoir_that_does_not_forget_is_told():
    U = 1e-3 * np.random.default_rng(0).normal(size=(300, 1))
    with pytest.warns(UserWarning, match="echo_state_index"):
        EchoStateNetwork(50, spectral_radius=2.0, standardize=False, random_state=0).fit(U, U[:, 0])
    driven = {"spectral_radius": 1.1, "input_scaling": 2.0, "washout": 150, "random_state": 0}
    EchoStateNetwork(50, feedback_scaling=0.1, **driven).fit(U, U[:, 0])


def test_a_kernel_reduction_sees_states_spread_over_time(series, monkeypatch):
    U, y = series
    monkeypatch.setattr(reductions, "MOST_KERNEL_STATES", 60)
    network = EchoStateNetwork(30, reduction="kpca", n_components=5, random_state=0).fit(U, y)
    assert network.reduction_.embedding_.shape == (60, 5)
    assert network.readout_.sums.n_samples == 450


def test_what_would_not_fit_is_refused_with_the_way_out(series):
    U, y = series
    with config(memory_budget=100_000):
        with pytest.raises(MemoryBudgetError, match="'pca', which streams"):
            EchoStateNetwork(30, reduction=PCA(2)).fit(U, y)
        with pytest.raises(MemoryBudgetError, match="pass a readout from ridge"):
            EchoStateNetwork(30, readout=Ridge()).fit(U, y)
        EchoStateNetwork(30, reduction="pca").fit(U, y)


def test_a_refused_call_leaves_the_network_as_it_was(series):
    U, y = series
    network = EchoStateNetwork(20, random_state=0).fit(U, y)
    before = dict(vars(network))
    with pytest.raises(ValueError, match="2 outputs, but those before had 1"):
        network.partial_fit(U, np.column_stack([y, y]))
    network.set_params(reduction="pca", n_components=10_000)
    with pytest.raises(ValueError, match="n_components=10000 is more than the 20 units"):
        network.fit(U, y)
    assert all(vars(network)[name] is value for name, value in before.items() if name.endswith("_"))


def test_constant_targets_are_predicted_as_they_are():
    U = np.random.default_rng(0).normal(size=(50, 2))
    network = EchoStateNetwork(10, random_state=0).fit(U, np.full(50, 7.0))
    np.testing.assert_allclose(network.predict(U), 7.0)
    assert EchoStateNetwork(10).fit(np.full((50, 1), 3.0), np.full(50, 7.0)).generate(3).tolist() == [7.0, 7.0, 7.0]


def test_a_reservoir_of_ones_own_takes_the_place_of_the_parameters(series):
    U, y = series
    own = Reservoir(30, noise=0.05, noise_distribution="normal", washout=60, random_state=0)
    network = EchoStateNetwork(reservoir=own, random_state=5).fit(U, y)
    assert network.reservoir_.n_units == 30
    assert network.washout_ == 60
    assert not hasattr(own, "input_weights_")
