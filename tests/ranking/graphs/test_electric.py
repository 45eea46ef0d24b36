"""Resistances of circuits known by hand, against pseudo-inverses, and the corrected bound."""

import numpy as np
import pytest
from scipy.linalg import pinvh
from scipy.sparse import csr_array

from gramian.ranking import effective_resistance, resistance_error_bound
from ranking.textbook import random_graph


@pytest.fixture
def rng():
    return np.random.default_rng(8)


def quadratic(G):
    return np.diag(G)[:, None] + np.diag(G) - 2 * G


def connected(rng, n):
    K = rng.random((n, n)) * (rng.random((n, n)) < 0.4) + np.diag(np.ones(n - 1), 1)
    return K + K.T


def test_circuits_by_hand():
    """Resistors in series add, in parallel their conductances do; all of K_n is 2 / n."""
    triangle = [[0, 1.0, 1.0], [1.0, 0, 1.0], [1.0, 1.0, 0]]
    np.testing.assert_allclose(effective_resistance(triangle)[0, 1], 2 / 3)
    square = np.roll(np.eye(4), 1, axis=1)
    np.testing.assert_allclose(effective_resistance(square + square.T, [(0, 1), (0, 2)]), [0.75, 1.0])
    np.testing.assert_allclose(effective_resistance(np.ones((6, 6)))[0, 5], 2 / 6)


@pytest.mark.parametrize("form", [np.asarray, csr_array])
def test_against_pseudo_inverses(rng, form):
    """All pairs and some, by L⁺ and by D^-½ (I − D^-½ K D^-½)⁺ D^-½."""
    K = connected(rng, 20)
    d = K.sum(axis=1)
    R = effective_resistance(form(K))
    np.testing.assert_allclose(R, quadratic(pinvh(np.diag(d) - K)), atol=1e-12)
    roots = 1 / np.sqrt(d)
    normalized = pinvh(np.eye(20) - roots[:, None] * K * roots)
    np.testing.assert_allclose(R, quadratic(roots[:, None] * normalized * roots), atol=1e-12)
    pairs = rng.integers(20, size=(7, 2))
    np.testing.assert_allclose(effective_resistance(form(K), pairs), R[tuple(pairs.T)], atol=1e-13)


@pytest.mark.parametrize("form", [np.asarray, csr_array])
def test_with_restarts(rng, form):
    """R_α by the inverse of (1 + β) D − K, finite across components; R is infinite there."""
    K = np.zeros((10, 10))
    K[:5, :5], K[5:, 5:] = connected(rng, 5), connected(rng, 5)
    beta = 0.2 / 0.8
    expected = beta * quadratic(np.linalg.inv(np.diag((1 + beta) * K.sum(axis=1)) - K))
    np.testing.assert_allclose(effective_resistance(form(K), restart=0.2), expected, atol=1e-13)
    R = effective_resistance(form(K))
    assert np.isinf(R[:5, 5:]).all()
    assert np.isfinite(R[:5, :5]).all()
    np.testing.assert_allclose(R[5:, 5:], quadratic(pinvh(np.diag(K[5:, 5:].sum(axis=1)) - K[5:, 5:])), atol=1e-12)


def test_isolated_nodes(rng):
    """A node without edges is infinitely far from all others, with restarts or without, and at itself."""
    K = random_graph(rng, 12, density=0.5)
    for restart in (None, 0.1):
        R = effective_resistance(K, restart=restart)
        assert np.isinf(R[-1, :-1]).all()
        assert R[-1, -1] == 0


def test_corrected_bound(rng):
    """|β R − R_α| is within the bound on a hundred graphs at any scale of the weights, and the printed one is not."""
    printed_fails = 0
    for _ in range(100):
        n = int(rng.integers(3, 15))
        K = connected(rng, n) * 10.0 ** rng.integers(-2, 3)
        restart = rng.choice([0.01, 0.15, 0.6])
        beta = restart / (1 - restart)
        gap = np.abs(beta * effective_resistance(K) - effective_resistance(K, restart=restart))
        bound = resistance_error_bound(K, restart=restart)
        assert (gap <= bound * (1 + 1e-9)).all()
        d = K.sum(axis=1)
        wrong = np.linalg.eigvalsh(np.diag(d) - K)[1]
        printed_fails += (gap > beta**2 / wrong**2 * (1 / d[:, None] + 1 / d) * (1 + 1e-9)).any()
        np.testing.assert_allclose(resistance_error_bound(K, [(0, 1)], restart=restart), bound[0, 1], rtol=1e-12)
    assert printed_fails > 10


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"graph": np.triu(np.ones((3, 3)))}, "symmetric"),
        ({"graph": np.ones((3, 3)), "pairs": [(0, 3)]}, "pairs contains 3"),
        ({"graph": np.ones((3, 3)), "pairs": [(0, -1)]}, "pairs contains -1"),
        ({"graph": np.ones((3, 3)), "pairs": [0, 1]}, "pairs has shape"),
        ({"graph": np.ones((3, 3)), "pairs": [(0.5, 1.0)]}, "pairs has shape"),
        ({"graph": np.ones((3, 3)), "restart": 1.0}, "restart=1.0"),
        ({"graph": -np.ones((3, 3))}, "weight -1"),
    ],
)
def test_refusals(arguments, message):
    with pytest.raises(ValueError, match=message):
        effective_resistance(**arguments)


def test_zeros_that_are_stored_are_no_edges():
    """Components are told apart although SciPy's own function takes a stored zero for an edge."""
    data, rows, columns = [1.0, 1, 0, 0, 1, 1], [0, 1, 1, 2, 2, 3], [1, 0, 2, 1, 3, 2]
    graph = csr_array((np.array(data), (rows, columns)), shape=(4, 4))
    np.testing.assert_allclose(effective_resistance(graph, [(0, 1), (0, 2)]), [1, np.inf])
    np.testing.assert_allclose(resistance_error_bound(graph, [(0, 1), (0, 2)], restart=0.5), [0.5, np.inf])
    assert graph.nnz == 6


def test_bound_of_several_components_and_of_isolated_nodes():
    """μ is the smallest eigenvalue that is not zero, of all components together; lonely nodes change nothing."""
    path = np.diag(np.ones(3), 1)
    path += path.T
    d = path.sum(axis=1)
    mu = np.linalg.eigvalsh(np.eye(4) - path / np.sqrt(np.outer(d, d)))[1]
    graph = np.zeros((7, 7))
    graph[:4, :4] = path
    graph[4, 5] = graph[5, 4] = 1.0
    beta = 0.25
    bound = resistance_error_bound(graph, restart=0.2)
    np.testing.assert_allclose(bound[0, 1], (beta / mu) ** 2 * 1.5)
    np.testing.assert_allclose(bound[4, 5], (beta / mu) ** 2 * 2)
    assert np.isinf(bound[0, 4])
    assert np.isinf(bound[0, 6])
    assert bound[6, 6] == 0
