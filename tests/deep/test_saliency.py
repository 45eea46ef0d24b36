"""Guided back-propagation."""

import torch
from torch import nn

from gramian.deep.architecture import build
from gramian.deep.saliency import guided_gradient


def test_one_layer_by_hand():
    """Through one rectified layer only units that are active and speak for the score count."""
    module = nn.Sequential(nn.Linear(2, 3), nn.ReLU(), nn.Linear(3, 1))
    with torch.no_grad():
        module[0].weight.copy_(torch.tensor([[1.0, 0.0], [0.0, 1.0], [1.0, 1.0]]))
        module[0].bias.copy_(torch.tensor([0.0, -5.0, 0.0]))
        module[2].weight.copy_(torch.tensor([[2.0, 3.0, -4.0]]))
    # The second unit is not active and the third speaks against the score: only the first passes.
    found = guided_gradient(module, lambda rows: module(rows)[:, 0], torch.tensor([[1.0, 1.0]]))
    torch.testing.assert_close(found, torch.tensor([[2.0, 0.0]]))


def test_the_hooks_are_taken_away():
    """After the call the network's gradient is the plain one again."""
    module = build({"kind": "mlp", "sizes": [3, 8, 2]}, torch.Generator().manual_seed(0)).double().eval()
    rows = torch.randn(4, 3, dtype=torch.float64, generator=torch.Generator().manual_seed(1))

    def plain():
        inputs = rows.clone().requires_grad_(True)
        return torch.autograd.grad(module(inputs)[:, 0].sum(), inputs)[0]

    before = plain()
    guided = guided_gradient(module, lambda values: module(values)[:, 0], rows)
    torch.testing.assert_close(plain(), before)
    assert not torch.allclose(guided, before)
    assert not any(layer._backward_hooks for layer in module.modules())
