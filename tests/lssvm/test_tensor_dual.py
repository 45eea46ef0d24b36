"""The parts of the dual problem of tensor-kernel regression, one by one."""

from itertools import product
from math import factorial

import numpy as np
import pytest
from scipy.optimize import check_grad, minimize_scalar

from gramian.lssvm._tensor_dual import Features, Loss, Products, monomial_scales, monomials, multisets, n_multisets


@pytest.mark.parametrize(("n", "size"), [(4, 0), (4, 1), (4, 2), (3, 3), (2, 4)])
def test_multisets_count_every_order_once(n, size):
    """Multisets times their orders are all n^size words."""
    members, orders = multisets(n, size)
    assert len(members) == n_multisets(n, size)
    words = np.array(list(product(range(n), repeat=size)), int).reshape(n**size, size)
    for row, count in zip(members, orders, strict=True):
        assert count == (np.sort(words, axis=1) == row).all(axis=1).sum()


def test_monomials_make_the_polynomial_kernel_of_four_rows():
    """Σ_k φ_k(x₁) ⋯ φ_k(x₄) = (c + Σ_j x₁j ⋯ x₄j)^s."""
    rows = np.random.default_rng(0).normal(size=(4, 3))
    powers = np.array([p for p in product(range(4), repeat=3) if sum(p) <= 3])
    scales = monomial_scales(powers, 3, 0.7, 4)
    expected = (0.7 + rows.prod(axis=0).sum()) ** 3
    assert monomials(rows, powers, scales).prod(axis=0).sum() == pytest.approx(expected)
    assert scales[0] == pytest.approx((factorial(3) / factorial(3) * 0.7**3) ** 0.25)


def test_slopes_are_derivatives():
    """Both terms have the gradient of their value."""
    rng = np.random.default_rng(2)
    X, u = rng.uniform(-1, 1, size=(9, 2)), rng.normal(size=9)
    powers = np.array([[0, 0], [1, 0], [0, 2], [1, 1]])
    for term in (Features(X, powers, np.ones(4), 4), Products(X, 4), Products(X, 6)):
        value, slope = (lambda v, t=term: t.value_and_slope(v)[0]), (lambda v, t=term: t.value_and_slope(v)[1])
        assert check_grad(value, slope, u) < 1e-5


@pytest.mark.parametrize("kind", ["squared", "epsilon_insensitive", "huber"])
@pytest.mark.parametrize("u", [-0.5, 0.0, 0.3])
def test_conjugates_are_suprema(kind, u):
    """curvature u²/2 + slack |u| = sup_e (u e − γ L(e))."""
    loss = Loss(kind, 2.0, 0.4)
    assert loss.most is None or abs(u) <= loss.most
    best = minimize_scalar(lambda e: float(loss(np.array(e))) - u * e, bounds=(-30, 30), method="bounded")
    assert loss.curvature * u**2 / 2 + loss.slack * abs(u) == pytest.approx(-best.fun, abs=1e-4)
