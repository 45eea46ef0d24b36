"""Lags and products against those written out by hand."""

import numpy as np
import pytest

from gramian import EchoStateNetwork, NextGenerationReservoir
from gramian.configuration import MemoryBudgetError, config


def test_lags_and_products_are_those_written_out():
    U = np.random.default_rng(0).normal(size=(20, 2))
    states = NextGenerationReservoir(2, stride=3, degree=3).fit(U).transform(U)
    t = 7
    lagged = np.concatenate([U[t], U[t - 3]])
    pairs = [lagged[i] * lagged[j] for i in range(4) for j in range(i, 4)]
    triples = [lagged[i] * lagged[j] * lagged[k] for i in range(4) for j in range(i, 4) for k in range(j, 4)]
    np.testing.assert_allclose(states[t], [*lagged, *pairs, *triples], rtol=1e-14)
    np.testing.assert_array_equal(states[2, 2:4], 0)  # nothing came before


def test_a_run_in_blocks_is_the_run():
    U = np.random.default_rng(0).normal(size=(50, 1))
    reservoir = NextGenerationReservoir(5, stride=2).fit(U)
    course = reservoir.start()
    blocks = [course.advance(U[:3]), course.advance(U[3:4]), course.advance(U[4:])]
    np.testing.assert_array_equal(np.vstack(blocks), reservoir.transform(U))
    again = reservoir.start(course.state).advance(U[:1])
    np.testing.assert_array_equal(again[0, :5], [U[0, 0], *U[[-2, -4, -6, -8], 0]])


def test_degree_one_is_autoregression():
    """With lags alone the network is a ridge regression on them."""
    from sklearn.linear_model import Ridge

    x = np.random.default_rng(0).normal(size=300).cumsum()
    reservoir = NextGenerationReservoir(4, degree=1)
    network = EchoStateNetwork(reservoir=reservoir, regularization=1e-8, include_input=False).fit(x[:-1, None], x[1:])
    rows = np.column_stack([x[3 - j : -1 - j] for j in range(4)])
    expected = Ridge(alpha=1e-10).fit(rows, x[4:]).predict(rows)
    np.testing.assert_allclose(network.predict(x[:-1, None], "zeros")[3:], expected, rtol=1e-6)


def test_it_learns_a_quadratic_map_and_goes_on():
    x = np.zeros(600)
    for t in range(2, 600):
        x[t] = 1 - 1.4 * x[t - 1] ** 2 + 0.3 * x[t - 2]
    network = EchoStateNetwork(reservoir=NextGenerationReservoir(2)).fit(x[:499, None], x[1:500])
    np.testing.assert_allclose(network.generate(12), x[500:512], atol=1e-3)


def test_too_many_products_and_overflow_are_refused():
    with config(memory_budget="10MB"), pytest.raises(MemoryBudgetError, match="fewer lags"):
        NextGenerationReservoir(40, degree=4).fit(np.ones((5, 1)))
    with pytest.raises(ValueError, match="overflow; scale the columns"):
        NextGenerationReservoir(1).fit_transform(np.full((5, 1), 1e200))
