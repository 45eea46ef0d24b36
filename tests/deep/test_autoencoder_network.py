"""The network of an autoencoder."""

import numpy as np
import pytest
import torch
from sklearn.decomposition import PCA

from gramian.deep.architecture import build
from gramian.deep.autoencoder_network import layer_loss, principal_axes, whole_loss
from gramian.deep.holes import Cells


def network(tied=True, masked=False, **more):
    described = {"kind": "autoencoder", "sizes": [4, 3, 2], "tied": tied, "masked": masked, "activation": "tanh"} | more
    return build(described, torch.Generator().manual_seed(0))


@pytest.fixture
def cells():
    X = torch.tensor(np.random.default_rng(0).uniform(size=(30, 4)), dtype=torch.float32)
    return Cells(X, torch.zeros(4), False)


def test_encoder_and_decoder_are_their_formulas(cells):
    """The decoder runs through the transposed matrices of the encoder."""
    net = network(code_activation="identity")
    W0, W1 = (W.detach().numpy() for W in net.up)
    x = cells.values.numpy()
    z = np.tanh(x @ W0.T) @ W1.T
    np.testing.assert_allclose(net.encode(cells.values).detach(), z, atol=1e-6)
    back = 1 / (1 + np.exp(-np.tanh(z @ W1) @ W0))
    np.testing.assert_allclose(net.decode(torch.tensor(z)).detach(), back, atol=1e-6)


def test_tied_weights_are_one_parameter_with_both_gradients(cells):
    """The gradient of a tied matrix is the sum of those of the encoder's and the decoder's own."""
    tied, untied = network(), network(tied=False)
    with torch.no_grad():
        for W, U, V in zip(tied.up, untied.up, untied.down, strict=True):
            U.copy_(W)
            V.copy_(W.T)
    assert len(list(tied.parameters())) == 6
    for net in (tied, untied):
        whole_loss(net, cells, 0.0, None, None, 0.0)(torch.arange(30))["loss"].backward()
    for W, U, V in zip(tied.up, untied.up, untied.down, strict=True):
        np.testing.assert_allclose(W.grad, U.grad + V.grad.T, atol=1e-7)


def test_masked_networks_take_the_mask_and_give_values():
    net = network(masked=True)
    assert net.encode(torch.zeros(5, 8)).shape == (5, 2)
    assert net.decode(torch.zeros(5, 2)).shape == (5, 4)


@pytest.mark.parametrize("place", [0, 1])
def test_a_layer_alone_trains_only_itself(cells, place):
    net = network()
    layer_loss(net, place, cells, 0.0, None, None, 0.0)(torch.arange(30))["loss"].backward()
    trained = {id(p) for p in net.layer(place)}
    assert {id(p) for p in net.parameters() if p.grad is not None} == trained


def test_a_term_of_the_codes_is_weighed_in(cells):
    """Loss = (1 − λ) error + λ term."""
    net = network()
    terms = whole_loss(net, cells, 0.0, None, lambda Z, batch: (Z**2).sum() + batch.sum(), 0.3)(torch.arange(30))
    expected = 0.7 * terms["reconstruction"] + 0.3 * terms["alignment"]
    assert terms["loss"].item() == pytest.approx(expected.item())


def test_main_directions_are_those_of_pca(cells):
    net = network()
    Z = net.encode(cells.values).detach().numpy().astype(float)
    mean, axes, alive = principal_axes(net, cells)
    pca = PCA().fit(Z)
    np.testing.assert_allclose(mean, Z.mean(axis=0), atol=1e-6)
    np.testing.assert_allclose(np.abs(axes @ pca.components_.T), np.eye(2), atol=1e-4)
    assert alive


def test_main_directions_of_fewer_rows_than_codes_are_those_of_pca(cells):
    net = network(sizes=[4, 3, 40])
    few = Cells(cells.values[:6], cells.fill, False)
    Z = net.encode(few.values).detach().numpy().astype(float)
    mean, axes, alive = principal_axes(net, few)
    np.testing.assert_allclose(mean, Z.mean(axis=0), atol=1e-6)
    expected = PCA(3).fit(Z).components_
    np.testing.assert_allclose(np.abs(axes[:3] @ expected.T), np.eye(3), atol=1e-3)
    assert axes.shape == (6, 40)
    assert alive


def test_rows_held_back_are_seen_without_noise(cells):
    """In evaluation mode the loss with hidden cells is the loss without."""
    module, noise, batch = network(), torch.Generator().manual_seed(2), torch.arange(6)
    clean = whole_loss(module, cells, 0.0, noise, None, 0.0)(batch)["loss"]
    noisy = whole_loss(module, cells, 0.5, noise, None, 0.0)
    assert noisy(batch)["loss"] != clean
    module.eval()
    assert noisy(batch)["loss"] == clean
