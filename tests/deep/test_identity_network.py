"""The identity network returns its input exactly, whatever its sizes."""

import numpy as np
import pytest
import torch

from gramian.deep.architecture import build
from gramian.deep.identity_network import make_identity


@pytest.mark.parametrize("hidden", [[6], [12, 12], [20, 7, 31]])
def test_network_returns_its_input(hidden):
    network = build({"kind": "mlp", "sizes": [3, *hidden, 3]})
    make_identity(network, np.random.default_rng(0))
    x = torch.tensor(np.random.default_rng(1).normal(size=(50, 3)))
    np.testing.assert_allclose(network.double()(x).detach(), x, atol=1e-6)


def test_copies_of_a_unit_have_different_gradients():
    network = build({"kind": "mlp", "sizes": [2, 8, 2]})
    make_identity(network, np.random.default_rng(0))
    x = torch.tensor(np.random.default_rng(1).normal(size=(50, 2))).float()
    torch.sum(torch.tanh(network(x)) ** 2).backward()
    gradients = network[0][0].weight.grad.abs().sum(dim=1).round(decimals=5).tolist()
    assert len(set(gradients)) == 8
