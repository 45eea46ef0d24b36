"""The sum over pairs and its Φ against double loops and differences."""

import numpy as np
import pytest
from scipy.spatial.distance import cdist

from dependence.projection.textbook_ism import (
    KERNELS,
    WEIGHTS,
    central_gradient,
    double_loop_phi,
    kernel_of,
    objective,
    orthonormal,
    pair_weights,
    rows,
)
from gramian.dependence.projection import _pairs as pairs
from gramian.dependence.projection._pairs import PairSum, profiles_of
from gramian.dependence.projection.ism import objective as fast_objective
from gramian.kernels import RBF, Linear, SquaredDistance

every_kernel = pytest.mark.parametrize("name", KERNELS)
every_weight = pytest.mark.parametrize("kind", WEIGHTS)


@every_kernel
@every_weight
@pytest.mark.parametrize("zero_diagonal", [False, True])
def test_objective_is_the_sum(name, kind, zero_diagonal):
    """J is Σ Γ ∘ K of the projected rows."""
    X, W, weights = rows(), orthonormal(), pair_weights(kind)
    kernel = kernel_of(name, X)
    expected = objective(X, weights.dense(), kernel, W, zero_diagonal)
    found = fast_objective(X, weights, kernel, W, zero_diagonal)
    assert found == pytest.approx(expected, rel=1e-11, abs=1e-9)
    evaluated = PairSum(X, weights, profiles_of(kernel), zero_diagonal=zero_diagonal).evaluate(W).objective
    assert evaluated == pytest.approx(expected, rel=1e-11, abs=1e-9)


@every_kernel
@every_weight
def test_gradient(name, kind):
    """∇J = 2 Φ W: the constants of every f′ are in Φ."""
    X, W, weights = rows(), orthonormal(), pair_weights(kind)
    kernel = kernel_of(name, X)
    expected = central_gradient(lambda V: objective(X, weights.dense(), kernel, V), W, 1e-5)
    found = 2 * PairSum(X, weights, profiles_of(kernel)).evaluate(W).product(W)
    np.testing.assert_allclose(found, expected, atol=1e-8 * np.abs(expected).max())


@every_kernel
@every_weight
@pytest.mark.parametrize("zero_diagonal", [False, True])
def test_phi_is_the_double_loop(name, kind, zero_diagonal):
    """The vectorised Φ is the sum over pairs, formed or as products, and symmetric."""
    X, W, weights = rows(12), orthonormal(), pair_weights(kind, 12)
    profiles = profiles_of(kernel_of(name, X))
    expected = double_loop_phi(X, weights.dense(), profiles, W, zero_diagonal)
    phi = PairSum(X, weights, profiles, zero_diagonal=zero_diagonal).evaluate(W).matrix
    scale = np.abs(expected).max()
    np.testing.assert_allclose(phi, expected, atol=1e-11 * scale)
    np.testing.assert_allclose(phi, phi.T, atol=1e-13 * scale)
    held = PairSum(X, weights, profiles, zero_diagonal=zero_diagonal, hold=True).evaluate(W)
    assert held.matrix is None
    np.testing.assert_allclose(held.product(np.eye(5)), expected, atol=1e-11 * scale)


@pytest.mark.parametrize("name", ["rbf", "polynomial", "sum", "relative rbf"])
@pytest.mark.parametrize("n_workers", [1, 2, 3])
def test_tiles_add_up(name, n_workers, monkeypatch):
    """Small tiles on several threads give what one tile gives, and the same bits twice."""
    X, W, weights = rows(101), orthonormal(), pair_weights("general", 101)
    profiles = profiles_of(kernel_of(name, X))
    whole = PairSum(X, weights, profiles).evaluate(W)
    monkeypatch.setattr(pairs, "_SERIAL_ROWS", 10)
    monkeypatch.setattr(pairs, "_EDGE", 17)
    monkeypatch.setattr("gramian.grams.tiles._SERIAL_ENTRIES", 0)
    for hold in (False, True):
        total = PairSum(X, weights, profiles, hold=hold, n_workers=n_workers)
        tiled, again = total.evaluate(W), PairSum(X, weights, profiles, hold=hold, n_workers=n_workers).evaluate(W)
        assert tiled.objective == pytest.approx(whole.objective, rel=1e-12)
        assert total.objective(W) == pytest.approx(whole.objective, rel=1e-12)
        phi = tiled.product(np.eye(5))
        np.testing.assert_allclose(phi, whole.matrix, atol=1e-12 * np.abs(phi).max())
        np.testing.assert_array_equal(phi, again.product(np.eye(5)))
        assert tiled.objective == again.objective


@every_kernel
def test_basis_does_not_matter(name):
    """J and Φ depend on the subspace only; kernels of distances do not see a translation."""
    X, W, weights = rows(), orthonormal(), pair_weights("general")
    profiles = profiles_of(kernel_of(name, X))
    turned = PairSum(X, weights, profiles).evaluate(W @ orthonormal(2, 2, seed=5))
    moved = PairSum(X + 3.0, weights, profiles).evaluate(W)
    plain = PairSum(X, weights, profiles).evaluate(W)
    scale = np.abs(plain.matrix).max()
    assert turned.objective == pytest.approx(plain.objective, rel=1e-11)
    np.testing.assert_allclose(turned.matrix, plain.matrix, atol=1e-11 * scale)
    if all(profile.kind == "distance" for _, profile in profiles):
        assert moved.objective == pytest.approx(plain.objective, rel=1e-10)
        np.testing.assert_allclose(moved.matrix, plain.matrix, atol=1e-10 * scale)


def test_squared_distance_is_twice_linear():
    """With centred weights Tr(Γ K) of −‖x − y‖² is twice that of x·y, and so is Φ."""
    X, W, weights = rows(), orthonormal(), pair_weights("labels")
    squared, linear = (PairSum(X, weights, profiles_of(kernel)).evaluate(W) for kernel in (SquaredDistance(), Linear()))
    assert squared.objective == pytest.approx(2 * linear.objective, rel=1e-10)
    np.testing.assert_allclose(squared.matrix, 2 * linear.matrix, atol=1e-10)


def test_phi_is_linear_in_the_kernel():
    """Φ of a conic sum is the sum of the multiples of Φ, constants included."""
    X, W, weights = rows(), orthonormal(), pair_weights("difference")
    parts = {name: PairSum(X, weights, profiles_of(kernel_of(name, X))).evaluate(W) for name in ("rbf", "polynomial")}
    both = 0.3 * KERNELS["rbf"] + 2.0 * KERNELS["polynomial"]
    found = PairSum(X, weights, profiles_of(both)).evaluate(W)
    expected = 0.3 * parts["rbf"].matrix + 2.0 * parts["polynomial"].matrix
    np.testing.assert_allclose(found.matrix, expected, atol=1e-11 * np.abs(expected).max())
    one_hot = 1.0 * KERNELS["rbf"] + 0.0 * KERNELS["polynomial"]
    same = PairSum(X, weights, profiles_of(one_hot)).evaluate(W).matrix
    np.testing.assert_allclose(same, parts["rbf"].matrix, atol=1e-12)


@pytest.mark.parametrize("width", [1.0, 1e-3])
def test_rows_far_out_keep_their_digits(width):
    """Rows far from the others, but near each other, count by their differences, as the kernel itself has them."""
    X = np.vstack([rows(20, 2), rows(4, 2, seed=3) * width + 1e5])
    weights = pair_weights("general", 24)
    expected = np.sum(weights.dense() * np.exp(-cdist(X, X, "sqeuclidean") / (2 * width**2)))
    found = PairSum(X, weights, profiles_of(RBF(width))).objective(np.eye(2))
    assert found == pytest.approx(expected, rel=1e-7)
