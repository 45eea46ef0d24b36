"""Markov chains whose answers are known by hand, in dense and sparse form."""

import numpy as np
import pytest
from scipy.sparse import csr_array, issparse
from sklearn.exceptions import ConvergenceWarning

from gramian.ranking import (
    is_irreducible,
    is_reversible,
    k_step,
    reverse_chain,
    stationary_distribution,
    stochastic_type,
)
from gramian.ranking.graphs import markov

FOUR = np.array([[0, 1 / 4, 0, 3 / 4], [1 / 6, 3 / 6, 2 / 6, 0], [0, 2 / 6, 1 / 6, 3 / 6], [3 / 7, 0, 3 / 7, 1 / 7]])
RING = np.roll(np.eye(5), 1, axis=1)


@pytest.fixture(params=[np.asarray, csr_array], ids=["dense", "sparse"])
def form(request):
    return request.param


@pytest.fixture
def rng():
    return np.random.default_rng(3)


def dense(P):
    return P.toarray() if issparse(P) else P


@pytest.mark.parametrize(("a", "b"), [(0.6, 0.8), (0.1, 0.3), (0.5, 0.5)])
def test_weather(form, a, b):
    """Left stochastic (dry, rain) with rain staying with probability a and dry with b: π ∝ (1 − a, 1 − b)."""
    P = form(np.array([[b, 1 - a], [1 - b, a]]))
    expected = np.array([1 - a, 1 - b]) / (2 - a - b)
    np.testing.assert_allclose(stationary_distribution(P), expected, atol=1e-11)


def test_four_states(form):
    """A reversible chain with π = (4, 6, 6, 7) / 23; backwards it is itself."""
    P = form(FOUR)
    pi = np.array([4, 6, 6, 7]) / 23
    np.testing.assert_allclose(stationary_distribution(P), pi, atol=1e-12)
    assert is_reversible(P, pi)
    assert is_reversible(P)
    np.testing.assert_allclose(dense(reverse_chain(P, pi)), FOUR, atol=1e-14)
    np.testing.assert_allclose(dense(reverse_chain(form(FOUR.T), pi)), FOUR.T, atol=1e-14)
    assert is_reversible(form(FOUR.T), pi)


def test_ring(form):
    """A one-way ring has a period, a uniform stationary distribution, and runs the other way backwards."""
    assert not is_reversible(form(RING))
    np.testing.assert_allclose(stationary_distribution(form(RING)), 0.2, atol=1e-12)
    np.testing.assert_allclose(dense(reverse_chain(form(RING))), RING.T, atol=1e-12)


def test_reverse_of_the_reverse(form, rng):
    """Twice backwards is forwards, and the stationary distribution is the same both ways, left or right."""
    P = rng.random((6, 6))
    P /= P.sum(axis=1, keepdims=True)
    for chain in (P, P.T):
        back = reverse_chain(form(chain))
        assert stochastic_type(back) == stochastic_type(chain)
        np.testing.assert_allclose(stationary_distribution(back), stationary_distribution(form(chain)), atol=1e-10)
        np.testing.assert_allclose(dense(reverse_chain(back)), chain, atol=1e-9)
        assert not is_reversible(form(chain))


def test_walk_on_an_affinity(form, rng):
    """π = d / vol for P = D^-1 K and for K itself; Px = λx gives Pᵀ(Dx) = λDx; the spectrum is that of D^-½ K D^-½."""
    K = rng.random((8, 8))
    K = K + K.T
    d = K.sum(axis=1)
    P = K / d[:, None]
    assert stochastic_type(form(P)) == "right"
    assert is_reversible(form(P), d / d.sum())
    np.testing.assert_allclose(stationary_distribution(form(P)), d / d.sum(), atol=1e-10)
    np.testing.assert_allclose(stationary_distribution(form(K)), d / d.sum(), atol=1e-14)
    values, vectors = np.linalg.eig(P)
    np.testing.assert_allclose(P.T @ (d[:, None] * vectors), d[:, None] * vectors * values, atol=1e-10)
    np.testing.assert_allclose(np.sort(values.real), np.linalg.eigvalsh(K / np.sqrt(np.outer(d, d))), atol=1e-10)


def test_stochastic_types(form):
    """Right, left, both, neither; a negative entry or a sum that is off is neither."""
    assert stochastic_type(form(FOUR)) == "right"
    assert stochastic_type(form(FOUR.T)) == "left"
    assert stochastic_type(form(RING)) == "doubly"
    assert stochastic_type(form(2 * RING)) is None
    assert stochastic_type(form(np.array([[1.5, -0.5], [-0.5, 1.5]]))) is None
    assert stochastic_type(form(FOUR * (1 + 1e-9))) is None
    assert stochastic_type(form(FOUR * (1 + 1e-9)), atol=1e-8) == "right"


@pytest.mark.parametrize("k", [0, 1, 2, 7, 16])
def test_k_steps(form, k):
    """P^k is k products one after the other, row i the distribution after k steps from i."""
    expected = np.eye(4)
    for _ in range(k):
        expected = expected @ FOUR
    np.testing.assert_allclose(dense(k_step(form(FOUR), k)), expected, atol=1e-14)
    assert issparse(k_step(form(FOUR), k)) == issparse(form(FOUR))


def test_irreducible(form):
    """Only if all states can be reached from all; stored zeros are no steps."""
    assert is_irreducible(form(FOUR))
    assert is_irreducible(form(RING))
    assert not is_irreducible(form(np.eye(3)))
    assert not is_irreducible(form(np.array([[0.5, 0.5], [0.0, 1.0]])))
    assert not is_irreducible(csr_array((np.array([1.0, 0.0, 1.0]), [0, 0, 1], [0, 1, 3]), shape=(2, 2)))


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: k_step(FOUR, -1), "k=-1"),
        (lambda: k_step(FOUR, 1.5), "k=1.5"),
        (lambda: k_step(np.ones((2, 3)), 2), "square"),
        (lambda: stationary_distribution(np.eye(3)), "irreducible"),
        (lambda: stationary_distribution(np.triu(np.ones((3, 3)))), "neither stochastic"),
        (lambda: stationary_distribution(np.array([[0, -1.0], [-1.0, 0]])), "neither stochastic"),
        (lambda: reverse_chain(2 * FOUR), "not stochastic"),
        (lambda: reverse_chain(FOUR, np.ones(3) / 3), r"shape \(3,\)"),
        (lambda: is_reversible(FOUR, [0, 0, 0.5, 0.5]), "positive everywhere"),
    ],
)
def test_refusals(call, message):
    with pytest.raises(ValueError, match=message):
        call()


def test_slow_sparse_chains_warn(monkeypatch):
    """A chain that has not settled says so."""
    monkeypatch.setattr(markov, "_MAX_STEPS", 3)
    with pytest.warns(ConvergenceWarning, match="dense"):
        stationary_distribution(csr_array(FOUR))


def test_pi_is_scaled_and_checked():
    """A multiple of the stationary distribution is one, another vector is not."""
    pi = np.array([4, 6, 6, 7.0])
    assert is_reversible(FOUR, pi)
    ring = np.roll(np.eye(3), 1, axis=1)
    assert not is_reversible(ring, np.full(3, 1e-12))
    with pytest.raises(ValueError, match="pi is not the stationary distribution"):
        reverse_chain(FOUR, [1.0, 2.0, 3.0, 4.0])


def test_a_state_without_steps_is_no_chain():
    with pytest.raises(ValueError, match="P is neither stochastic"):
        stationary_distribution([[0.0]])
