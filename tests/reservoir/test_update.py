"""The state update in NumPy against the formula, one step at a time."""

from types import SimpleNamespace

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


def test_states_without_the_product_of_scipy(monkeypatch):
    monkeypatch.setattr(_update, "csr_matvec", None)
    rng = np.random.default_rng(1)
    W, drives = rng.normal(size=(20, 20)) * 0.2, rng.normal(size=(150, 20))
    states = drives.copy()
    Recurrence(csr_array(W), 0.5, 150).advance(states, np.zeros(20))
    np.testing.assert_allclose(states, by_formula(W, 0.5, drives, np.zeros(20)), atol=1e-13)


@pytest.mark.parametrize("sparse", [True, False])
def test_without_drive_the_state_of_rest_is_kept(sparse):
    rng = np.random.default_rng(2)
    W = rng.normal(size=(200, 200)) * (rng.random((200, 200)) < 0.05)  # of spectral radius 3: nothing is forgotten
    drives = np.zeros((300, 200))
    drives[298:] = rng.normal(size=(2, 200))
    for states in (drives.copy(), drives[:298].copy()):
        Recurrence(csr_array(W) if sparse else W, 0.5, 300).advance(states, np.zeros(200))
        np.testing.assert_array_equal(states[:298], 0)
        expected = by_formula(W, 0.5, drives[298 : len(states)], np.zeros(200))
        np.testing.assert_allclose(states[298:], expected.reshape(-1, 200), atol=1e-13)


def asked_for_numba(monkeypatch, W, n_steps, *, loaded):
    """Whether a run of so many steps asks for the compiled loop."""
    asked = []
    monkeypatch.setattr(_update, "compiled", lambda: asked.append(True))
    monkeypatch.setattr(_update, "sys", SimpleNamespace(modules={"numba": None} if loaded else {}))
    Recurrence(W, 1.0, n_steps)
    return bool(asked)


def test_only_runs_that_make_up_for_it_are_compiled_for(monkeypatch):
    W = csr_array(np.eye(100))
    assert not asked_for_numba(monkeypatch, W, 10**6, loaded=False)
    assert asked_for_numba(monkeypatch, W, 10**7, loaded=False)
    assert asked_for_numba(monkeypatch, W, 10**6, loaded=True)
    assert not asked_for_numba(monkeypatch, W, 1000, loaded=True)
    assert not asked_for_numba(monkeypatch, np.eye(100), 10**7, loaded=True)  # a full matrix goes through BLAS


def test_without_numba_long_runs_go_through_numpy(monkeypatch):
    monkeypatch.setattr(_update, "compiled", lambda: None)
    states = np.ones((3, 100))
    Recurrence(csr_array(np.eye(100)), 1.0, 10**7).advance(states, np.zeros(100))
    np.testing.assert_allclose(states[0], np.tanh(1.0))
