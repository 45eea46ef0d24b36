"""Networks from plain descriptions."""

import copy
import json

import numpy as np
import pytest
import torch

from gramian.deep.architecture import ACTIVATIONS, NONNEGATIVE, build, check_image_shape, check_sizes
from gramian.deep.base import load_weights, weights_of


def seeded():
    return torch.Generator().manual_seed(0)


def test_a_perceptron_is_its_formula():
    """The module computes activation(W x + b) layer after layer."""
    net = build({"kind": "mlp", "sizes": [3, 4, 2], "activation": "tanh"}, seeded())
    weights = weights_of(net)
    X = np.random.default_rng(0).normal(size=(5, 3)).astype(np.float32)
    hidden = np.tanh(X @ weights["0.0.weight"].T + weights["0.0.bias"])
    expected = hidden @ weights["1.0.weight"].T + weights["1.0.bias"]
    np.testing.assert_allclose(net(torch.tensor(X)).detach().numpy(), expected, atol=1e-6)
    np.testing.assert_allclose(net[:-1](torch.tensor(X)).detach().numpy(), hidden, atol=1e-6)


def test_glorot_and_he_have_their_spreads():
    for init, spread in (("glorot", np.sqrt(2 / 700)), ("he", np.sqrt(2 / 300))):
        weights = build({"kind": "mlp", "sizes": [300, 400], "init": init}, seeded())[0][0]
        assert abs(weights.weight.std().item() / spread - 1) < 0.02
        assert not weights.bias.any()


@pytest.mark.parametrize(
    ("image_shape", "flat"),
    [((1, 28, 28), 1024), ((1, 8, 8), 256), ((3, 32, 32), 1600), ((1, 7, 5), 64)],
)
def test_convolutions_fit_the_image(image_shape, flat):
    """28×28 images shrink as in LeNet to 64 filters of 4×4; images too small for that are padded."""
    net = build({"kind": "cnn", "image_shape": list(image_shape), "outputs": 10}, seeded())
    X = torch.zeros(2, int(np.prod(image_shape)))
    assert net[:4](X).shape == (2, flat)
    assert net(X).shape == (2, 10)


def test_images_too_small_are_refused():
    with pytest.raises(ValueError, match="image_shape of 3×3 pixels is too small for 2 convolutions"):
        build({"kind": "cnn", "image_shape": [1, 3, 3], "outputs": 2}, seeded())


def test_building_leaves_the_global_generator_alone():
    before = torch.get_rng_state()
    for description in (
        {"kind": "mlp", "sizes": [3, 4, 2], "batch_norm": [0]},
        {"kind": "cnn", "image_shape": [1, 8, 8], "outputs": 2},
        {"kind": "parts", "modules": {"a": {"kind": "mlp", "sizes": [2, 2]}}},
    ):
        json.dumps(description)
        kept = copy.deepcopy(description)
        net, again, empty = build(description, seeded()), build(description, seeded()), build(description)
        assert description == kept
        for name, value in weights_of(net).items():
            np.testing.assert_array_equal(weights_of(again)[name], value)
        load_weights(empty, weights_of(net))
        for name, value in weights_of(net).items():
            np.testing.assert_array_equal(weights_of(empty)[name], value)
    assert torch.equal(torch.get_rng_state(), before)


@pytest.mark.parametrize("name", sorted(ACTIVATIONS))
def test_activations_called_non_negative_are(name):
    values = ACTIVATIONS[name]()(torch.linspace(-5, 5, 11)[None])
    assert bool((values >= 0).all()) == (name in NONNEGATIVE)


def test_sizes_and_shapes_are_checked_by_name():
    assert check_sizes((3, 4)) == [3, 4]
    assert check_sizes(np.array([3, 4])) == [3, 4]
    assert check_sizes(5) == [5]
    for bad in ((3, 0), "ab", 2.5, (1, "x"), None):
        with pytest.raises(ValueError, match="hidden_layer_sizes"):
            check_sizes(bad)
    assert check_image_shape((1, 2, 3), 6) == [1, 2, 3]
    assert check_image_shape(np.array([1, 2, 3]), 6) == [1, 2, 3]
    with pytest.raises(ValueError, match=r"image_shape=\(1, 2, 3\) holds 6 pixels but X has 7 columns"):
        check_image_shape((1, 2, 3), 7)
    with pytest.raises(ValueError, match=r"image_shape=5 must be \(channels, height, width\)"):
        check_image_shape(5, 5)


def test_unknown_kinds_are_refused():
    with pytest.raises(ValueError, match="kind='rnn' of a network is not known"):
        build({"kind": "rnn"})
