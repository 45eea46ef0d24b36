"""The state update in NumPy against the formula, one step at a time."""

import numpy as np
import pytest
from scipy.sparse import csr_array

from gramian.reservoir import _update
from gramian.reservoir._update import Recurrence


def by_formula(W, leak, drives, state):
    states = []
    for drive in drives:
        state = (1 - leak) * state + leak * np.tanh(W @ state + drive)
        states.append(state)
    return np.array(states)


@pytest.mark.parametrize("leak", [1.0, 0.3])
@pytest.mark.parametrize("sparse", [True, False])
def test_states_are_those_of_the_formula(leak, sparse):
    rng = np.random.default_rng(0)
    W = rng.normal(size=(30, 30)) * (rng.random((30, 30)) < 0.2) * 0.3
    drives, state = rng.normal(size=(50, 30)), rng.uniform(-1, 1, 30)
    states, kept = drives.copy(), state.copy()
    Recurrence(csr_array(W) if sparse else W, leak, 50).advance(states, state)
    np.testing.assert_allclose(states, by_formula(W, leak, drives, state), atol=1e-13)
    np.testing.assert_array_equal(state, kept)


def test_huge_drives_saturate():
    states = np.array([[1e200, -1e200], [1e3, -1e3]])
    Recurrence(np.zeros((2, 2)), 1.0, 2).advance(states, np.zeros(2))
    np.testing.assert_array_equal(states, [[1, -1], [1, -1]])


def test_short_runs_are_not_compiled_for(monkeypatch):
    def refuse():
        raise AssertionError("numba was asked for")

    monkeypatch.setattr(_update, "compiled", refuse)
    Recurrence(csr_array(np.eye(100)), 1.0, 1000)
    with pytest.raises(AssertionError):
        Recurrence(csr_array(np.eye(100)), 1.0, 10**6)
    Recurrence(np.eye(100), 1.0, 10**6)  # a full matrix goes through BLAS


def test_without_numba_long_runs_go_through_numpy(monkeypatch):
    monkeypatch.setattr(_update, "compiled", lambda: None)
    states = np.ones((3, 100))
    Recurrence(csr_array(np.eye(100)), 1.0, 10**6).advance(states, np.zeros(100))
    np.testing.assert_allclose(states[0], np.tanh(1.0))
