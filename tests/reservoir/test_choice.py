"""The leak and the bias that a network chooses."""

import warnings
from itertools import product

import numpy as np
import pytest
from sklearn.base import clone

from gramian import EchoStateNetwork
from gramian.reservoir import Reservoir, _choice
from gramian.reservoir._choice import CANDIDATES


@pytest.fixture(scope="module")
def slow():
    """A series that follows its input slowly, and is even in it: it needs a small leak and a bias."""
    rng = np.random.default_rng(0)
    U, level, y = rng.normal(size=(700, 1)), 0.0, []
    for u in U[:, 0]:
        level = 0.9 * level + 0.1 * u**2
        y.append(level)
    return U, np.array(y)


def auto(**parameters):
    return EchoStateNetwork(40, leak_rate="auto", bias_scaling="auto", random_state=0, **parameters)


def test_the_values_that_forecast_the_last_fifth_best(slow):
    U, y = slow
    errors = {}
    for leak, bias in product(*CANDIDATES.values()):
        network = EchoStateNetwork(40, leak_rate=leak, bias_scaling=bias, random_state=0).fit(U, y)
        errors[leak, bias] = network.tuning_["error"].min()
    leak, bias = min(errors, key=errors.get)
    found = auto().fit(U, y)
    assert (found.leak_rate_, found.bias_scaling_) == (leak, bias)
    assert leak < 1
    assert bias > 0
    alone = EchoStateNetwork(40, leak_rate=leak, bias_scaling=bias, random_state=0).fit(U, y)
    np.testing.assert_array_equal(found.predict(U[:50]), alone.predict(U[:50]))
    assert (found.leak_rate, found.bias_scaling) == ("auto", "auto")
    assert (alone.leak_rate_, alone.bias_scaling_) == (leak, bias)


def test_one_of_the_two_alone(slow):
    U, y = slow
    found = EchoStateNetwork(40, leak_rate="auto", bias_scaling=0.1, random_state=0).fit(U, y)
    assert found.bias_scaling_ == 0.1
    assert found.leak_rate_ in CANDIDATES["leak_rate"]


@pytest.mark.parametrize(
    "parameters",
    [{"readout": "ols"}, {"readout": "nu_svr"}, {"regularization": 0.1}, {"reduction": "kpca", "n_components": 5}],
)
def test_other_readouts_take_what_is_best_for_a_ridge(slow, parameters):
    U, y = slow
    best = auto().fit(U, y)
    values = {"leak_rate": best.leak_rate_, "bias_scaling": best.bias_scaling_}
    found = auto(**parameters).fit(U, y)
    alone = EchoStateNetwork(40, random_state=0, **values, **parameters).fit(U, y)
    np.testing.assert_array_equal(found.predict(U[:50]), alone.predict(U[:50]))


@pytest.mark.parametrize("readout", ["ridge", "ols"])
def test_candidates_differ_in_nothing_else(slow, readout, monkeypatch):
    """With no random state too, all have the same weights; so has the network in the end."""
    drawn = []

    class Watched(_choice.Learner):
        def learn(self):
            drawn.append(self.draft.reservoir_.input_weights_)
            return super().learn()

    monkeypatch.setattr(_choice, "Learner", Watched)
    found = auto(readout=readout).set_params(random_state=np.random.default_rng(1)).fit(*slow)
    assert len(drawn) == 6 + (readout == "ols")
    for weights in (*drawn[1:], found.reservoir_.input_weights_):
        np.testing.assert_array_equal(weights, drawn[0])


def test_later_steps_are_learned_with_the_values_of_the_first(slow):
    U, y = slow
    found = auto().partial_fit(U[:400], y[:400])
    values = found.leak_rate_, found.bias_scaling_
    found.partial_fit(U[400:], y[400:])
    assert (found.leak_rate_, found.bias_scaling_) == values
    assert found.readout_.sums.n_samples == 700 - found.washout_


def test_too_few_steps_to_judge_by():
    U = np.arange(4.0)[:, None]
    found = auto().fit(U, U[:, 0])
    assert (found.leak_rate_, found.bias_scaling_) == (1.0, 0.0)


def test_only_the_chosen_one_warns(slow):
    U, y = slow
    with warnings.catch_warnings(record=True) as told:
        warnings.simplefilter("always")
        auto(spectral_radius=3.0, washout=10).fit(U, y)
    assert len(told) == 1
    assert "states that began elsewhere" in str(told[0].message)


def test_a_given_reservoir_has_its_own(slow):
    U, y = slow
    found = auto(reservoir=Reservoir(20, leak_rate=0.4, random_state=0)).fit(U, y)
    assert found.reservoir_.leak_rate == 0.4
    assert not hasattr(found, "leak_rate_")


@pytest.mark.parametrize(("name", "value"), [("leak_rate", "best"), ("leak_rate", 0.0), ("bias_scaling", -1.0)])
def test_bad_values_are_named(slow, name, value):
    with pytest.raises(ValueError, match=f"{name}=.*'auto'"):
        EchoStateNetwork(5, **{name: value}).fit(*slow)


def test_cloned_before_and_after(slow):
    found = auto().fit(*slow)
    assert clone(found).leak_rate == "auto"
