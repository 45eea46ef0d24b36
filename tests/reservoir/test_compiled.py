"""The compiled state update gives the numbers of the plain one."""

import numpy as np
import pytest

from gramian.reservoir import Reservoir, _compiled, _update


@pytest.mark.parametrize("leak", [1.0, 0.4])
@pytest.mark.parametrize("connectivity", [10, 0.08])  # units of equal and of different degree
def test_compiled_and_plain_states_are_the_same(monkeypatch, leak, connectivity):
    U = np.random.default_rng(0).normal(size=(400, 2))
    reservoir = Reservoir(120, connectivity=connectivity, leak_rate=leak, bias_scaling=0.2, noise=0.01, random_state=3)
    reservoir.fit(U)
    monkeypatch.setattr(_update, "compiled", lambda: None)
    plain = reservoir.transform(U)
    monkeypatch.setattr(_update, "compiled", lambda: _compiled)
    monkeypatch.setattr(_update, "_COMPILED_WORK", 0)
    np.testing.assert_allclose(reservoir.transform(U), plain, rtol=0, atol=1e-12)


def test_tanh_is_exact_to_rounding():
    rng = np.random.default_rng(0)
    x = np.concatenate(
        [rng.normal(size=5000) * 10.0 ** rng.integers(-8, 3, 5000), [0.0, -0.0, 19.9, 20.1, 1e300, -1e300]]
    )
    found, power = x.copy(), np.empty_like(x)
    _compiled._tanh(found, power, power.view(np.int64))
    np.testing.assert_allclose(found, np.tanh(x), rtol=0, atol=5e-16)
