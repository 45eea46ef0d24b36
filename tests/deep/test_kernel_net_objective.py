"""The objective of KernelNet against its definition, its gradient and the published figures."""

import numpy as np
import pytest
import torch

from gramian.datasets import make_parabolas, make_spirals
from gramian.deep import select_subset_size
from gramian.deep.kernel_net_objective import one_hot, pair_dependence, sample_factor, walk
from gramian.deep.scaling import standard_scaling
from gramian.kernels import RBF, resolve_width


@pytest.fixture
def rows():
    return np.random.default_rng(0).normal(size=(40, 3))


def textbook(Z, width, zero_diagonal):
    K = np.exp(-((Z[:, None] - Z) ** 2).sum(axis=2) / (2 * width**2))
    if zero_diagonal:
        np.fill_diagonal(K, 0)
    roots = 1 / np.sqrt(K.sum(axis=1))
    H = np.eye(len(Z)) - 1 / len(Z)
    return K, H @ (roots[:, None] * K * roots) @ H


@pytest.mark.parametrize("zero_diagonal", [True, False])
def test_operator_and_its_leading_values(rows, zero_diagonal):
    K, L = textbook(rows, 1.0, zero_diagonal)
    found = walk(rows, 1.0, zero_diagonal=zero_diagonal)
    np.testing.assert_allclose(found.operator @ np.eye(40), L, atol=1e-12)
    values, U = found.leading(3)
    assert values.sum() == pytest.approx(np.linalg.eigvalsh(L)[-3:].sum(), abs=1e-10)
    assert found.value(U) == pytest.approx(values.sum(), abs=1e-10)
    assert values.sum() <= 3 + 1e-9
    np.testing.assert_allclose(U.mean(axis=0), 0, atol=1e-10)
    B = found.targets(U)
    assert np.sum((B @ B.T) * K) == pytest.approx(found.value(U), abs=1e-10)


def test_gradient_of_the_pair_sum(rows):
    generator = torch.Generator().manual_seed(0)
    B = torch.randn(40, 2, dtype=torch.float64, generator=generator)
    Z = torch.tensor(rows[:8], requires_grad=True)
    assert torch.autograd.gradcheck(lambda z: pair_dependence(z, B[:8], 1.3), (Z,))
    Z = torch.tensor(rows, requires_grad=True)
    pair_dependence(Z, B, 1.3).backward()
    M = (B @ B.T).numpy() * RBF(1.3)(rows)
    np.testing.assert_allclose(Z.grad, -2 / 1.3**2 * (M.sum(axis=1)[:, None] * rows - M @ rows), atol=1e-10)


def test_batches_estimate_the_sum_over_all_pairs(rows):
    B = torch.tensor(np.abs(np.random.default_rng(1).normal(size=(40, 2))))
    Z = torch.tensor(rows)
    rng = np.random.default_rng(2)
    batches = [torch.tensor(rng.choice(40, 5, replace=False)) for _ in range(4000)]
    mean = np.mean([pair_dependence(Z[b], B[b], 1.0).item() for b in batches]) * sample_factor(40, 5)
    assert mean == pytest.approx(pair_dependence(Z, B, 1.0).item(), rel=0.02)


def test_generators_have_the_published_widths_and_objective():
    moon, _ = make_parabolas(1000, random_state=0)
    spiral, _ = make_spirals(3000, random_state=0)
    moon, spiral = (standard_scaling(X).apply(X) for X in (moon, spiral))
    assert resolve_width("median10", moon) == pytest.approx(0.1703, abs=0.002)
    width = resolve_width("median10", spiral)
    assert width == pytest.approx(0.1709, abs=0.002)
    values, _ = walk(spiral, width, zero_diagonal=False).leading(3)
    assert values.sum() == pytest.approx(2.989, abs=0.005)


def test_one_hot():
    np.testing.assert_array_equal(one_hot(np.array([1, 0, 1]), 2), [[0, 1], [1, 0], [0, 1]])


def test_subset_is_smaller_than_the_table_and_grows_with_accuracy():
    X, _ = make_spirals(600, random_state=0)
    sizes = [select_subset_size(X, 3, tol=tol, width="median10", random_state=0) for tol in (0.2, 0.05, 1e-9)]
    assert sizes == sorted(sizes)
    assert sizes[0] < 600
    assert sizes[-1] == 600
    with pytest.raises(ValueError, match="tol=0 must be"):
        select_subset_size(X, 3, tol=0)
