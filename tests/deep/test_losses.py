"""Alignment of kernels, against its closed forms."""

import numpy as np
import pytest
import torch
from torch.autograd import gradcheck

from gramian.deep import alignment_distance, ideal_kernel, kernel_alignment
from gramian.deep.losses import code_alignment, code_distance


@pytest.fixture
def rng():
    return np.random.default_rng(0)


def psd(rng, n=12, rank=5):
    Z = rng.normal(size=(n, rank))
    return Z @ Z.T


def test_the_distance_is_that_of_normalised_matrices(rng):
    """L_c is ‖C/‖C‖ − P/‖P‖‖, its square 2 − 2A, and 0 ≤ L_c ≤ √2."""
    C, P = psd(rng), psd(rng)
    expected = np.linalg.norm(C / np.linalg.norm(C) - P / np.linalg.norm(P))
    found = alignment_distance(C, P)
    assert isinstance(found, float)
    assert found == pytest.approx(expected, abs=1e-12)
    assert found**2 == pytest.approx(2 - 2 * kernel_alignment(C, P), abs=1e-12)
    assert alignment_distance(C, P, squared=True) == pytest.approx(found**2, abs=1e-12)
    assert 0 <= found <= np.sqrt(2)
    assert alignment_distance(C, C) < 2e-6  # the floor under the root
    assert alignment_distance(C, C, squared=True) == pytest.approx(0, abs=1e-12)


def test_scales_and_rotations_change_nothing(rng):
    C, P = psd(rng), psd(rng)
    for first, second in ((3, 0.1), (1e-9, 1e-9), (1e-200, 1e200)):
        assert alignment_distance(first * C, second * P) == pytest.approx(alignment_distance(C, P), abs=1e-10)
    Z, Q = rng.normal(size=(12, 4)), np.linalg.qr(rng.normal(size=(4, 4)))[0]
    found = [float(code_distance(torch.tensor(codes), torch.tensor(P))) for codes in (Z, 7 * Z, Z @ Q)]
    np.testing.assert_allclose(found, alignment_distance(Z @ Z.T, P), rtol=1e-10)


def test_centred_alignment_centres_both(rng):
    Z, P = rng.normal(size=(12, 4)) + 1, psd(rng)
    H = np.eye(12) - 1 / 12
    expected = kernel_alignment(H @ Z @ Z.T @ H, H @ P @ H)
    assert kernel_alignment(Z @ Z.T, P, centered=True) == pytest.approx(expected, abs=1e-12)
    found = code_alignment(torch.tensor(Z), torch.tensor(P), centered=True)
    assert float(found) == pytest.approx(expected, abs=1e-12)


@pytest.mark.parametrize("squared", [False, True])
@pytest.mark.parametrize("centered", [False, True])
@pytest.mark.parametrize("n", [3, 8])  # fewer and more rows than codes
def test_gradients(rng, squared, centered, n):
    Z = torch.tensor(rng.normal(size=(n, 4)), requires_grad=True)
    P = torch.tensor(psd(rng, n))
    assert gradcheck(lambda Z: code_distance(Z, P, centered=centered, squared=squared), Z)


def test_the_gradient_is_the_published_formula(rng):
    """dL/dC = −(1/L)(P/(‖C‖‖P‖) − a C/‖C‖²) and dL/dZ = 2 (dL/dC) Z."""
    Z, P = rng.normal(size=(9, 4)), psd(rng, 9)
    codes = torch.tensor(Z, requires_grad=True)
    code_distance(codes, torch.tensor(P)).backward()
    C = Z @ Z.T
    a, L, norm = kernel_alignment(C, P), alignment_distance(C, P), np.linalg.norm(C)
    slope = -(P / (norm * np.linalg.norm(P)) - a * C / norm**2) / L
    np.testing.assert_allclose(codes.grad.numpy(), 2 * slope @ Z, rtol=1e-6)


def test_the_ideal_kernel_has_its_closed_forms():
    """Against c balanced classes the constant kernel has A = 1/√c and the identity A = √(c/n)."""
    y = np.repeat(np.arange(10), 6)
    K = ideal_kernel(y)
    assert kernel_alignment(np.ones((60, 60)), K) == pytest.approx(1 / np.sqrt(10))
    assert alignment_distance(np.ones((60, 60)), K) == pytest.approx(1.1694, abs=1e-4)
    assert kernel_alignment(np.eye(60), K) == pytest.approx(np.sqrt(10 / 60))
    np.testing.assert_array_equal(ideal_kernel(np.array(["b", "a"])[y % 2]), np.equal.outer(y % 2, y % 2))


def test_the_rank_m_approximation_aligns_by_its_eigenvalues(rng):
    """A(K_m, P) = sqrt(Σ_{i≤m} λ² / Σ λ²): it falls to zero distance, and no worse with each component."""
    P = psd(rng, 15, 8)
    values, vectors = np.linalg.eigh(P)
    values, vectors = values[::-1], vectors[:, ::-1]
    distances = []
    for m in range(1, 16):
        K = (vectors[:, :m] * np.maximum(values[:m], 0)) @ vectors[:, :m].T
        expected = np.sqrt((values[:m] ** 2).sum() / (values**2).sum())
        assert kernel_alignment(K, P) == pytest.approx(expected, abs=1e-10)
        distances.append(alignment_distance(K, P))
    assert np.all(np.diff(distances) <= 1e-7)
    assert distances[-1] < 2e-6


def test_zero_codes_are_no_catastrophe(rng):
    """Dead codes have alignment 0, distance √2 and no gradient."""
    Z = torch.zeros(6, 3, dtype=torch.float64, requires_grad=True)
    loss = code_distance(Z, torch.tensor(psd(rng, 6)))
    loss.backward()
    assert loss.item() == pytest.approx(np.sqrt(2))
    assert torch.isfinite(Z.grad).all()
    assert kernel_alignment(np.zeros((3, 3)), np.eye(3)) == 0


def test_shapes_that_do_not_fit_are_refused():
    with pytest.raises(ValueError, match=r"L has shape \(3, 3\); pass two square matrices"):
        kernel_alignment(np.eye(2), np.eye(3))
    with pytest.raises(ValueError, match="K has shape"):
        kernel_alignment(np.ones((2, 3)), np.ones((2, 3)))
