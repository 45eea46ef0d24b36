"""Multilayer perceptrons of rectified units that return their input exactly.

x = relu(x) − relu(−x), so a hidden layer of 2d units can carry d numbers unchanged. Training that starts there starts
from the data as they are, without a pre-training.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import torch
from torch import nn

from gramian.typing import Array


def make_identity(module: nn.Sequential, rng: np.random.Generator) -> None:
    """Set the weights of a multilayer perceptron with ReLU so that it returns its input.

    Feature j takes w pairs of units, relu(a_i x_j) and relu(−a_i x_j), and returns as Σ_i (1/(w a_i)) of their
    differences. The random a_i > 0 give copies of a unit different gradients and change nothing in the sum, because
    relu(a x) = a relu(x). Units beyond 2dw get random inputs and no say in the output, which training may give them.

    Parameters
    ----------
    module : Sequential
        Made by :func:`gramian.deep.architecture.mlp` with sizes d, h, …, h', d, each hidden one at least 2d.
    rng : numpy.random.Generator
    """
    layers = [stage[0] for stage in module]
    d = layers[0].in_features
    copies = min(layer.out_features for layer in layers[:-1]) // (2 * d)
    used = 2 * d * copies
    factors = rng.uniform(0.5, 1.5, d * copies)
    features = np.repeat(np.arange(d), copies)
    signs = np.tile([1.0, -1.0], d * copies)
    entry = np.zeros((used, d))
    entry[np.arange(used), np.repeat(features, 2)] = signs * np.repeat(factors, 2)
    leave = np.zeros((d, used))
    leave[np.repeat(features, 2), np.arange(used)] = signs / np.repeat(factors, 2) / copies
    with torch.no_grad():
        for place, layer in enumerate(layers):
            weight = np.zeros((layer.out_features, layer.in_features))
            if place < len(layers) - 1:
                spare = layer.out_features - used
                weight[used:] = rng.normal(size=(spare, layer.in_features)) * np.sqrt(2 / layer.in_features)
                weight[:used, : d if place == 0 else used] = entry if place == 0 else np.eye(used)
            else:
                weight[:, :used] = leave
            layer.weight.copy_(_like(weight, layer.weight))
            layer.bias.zero_()


def _like(values: Array, tensor: Any) -> Any:
    return torch.tensor(values, dtype=tensor.dtype, device=tensor.device)
