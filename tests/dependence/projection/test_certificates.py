"""The second-order conditions against differences along geodesics and the Hessian written out."""

from dataclasses import replace

import numpy as np
import pytest
from scipy.linalg import expm

from dependence.projection.textbook_ism import (
    KERNELS,
    WEIGHTS,
    kernel_of,
    objective,
    orthonormal,
    pair_weights,
    rows,
)
from gramian.dependence.projection._pairs import PairSum, profiles_of
from gramian.dependence.projection.certificates import Curvature, second_order
from gramian.dependence.projection.ism import ism
from gramian.dependence.projection.weights import PairWeights
from gramian.kernels import RBF

every_kernel = pytest.mark.parametrize("name", KERNELS)


def geodesic(W, Z, t):
    """The point at t on the geodesic of subspaces from W in the direction Z."""
    generator = Z @ W.T - W @ Z.T
    return expm(t * generator) @ W


def curvature_at(X, weights, kernel, W):
    """The Hessian's products at W."""
    evaluation = PairSum(X, weights, profiles_of(kernel)).evaluate(W)
    return Curvature(X, weights, profiles_of(kernel), W, evaluation.product)


@every_kernel
@pytest.mark.parametrize("kind", WEIGHTS)
def test_hessian_is_the_second_difference(name, kind):
    """⟨Z, −Hess J [Z]⟩ is the second difference of −J along the geodesic, at any W."""
    X, W, weights = rows(), orthonormal(), pair_weights(kind)
    kernel = kernel_of(name, X)
    Z = np.random.default_rng(3).normal(size=W.shape)
    Z -= W @ (W.T @ Z)
    h = 1e-3
    values = [-objective(X, weights.dense(), kernel, geodesic(W, Z, t)) for t in (-2 * h, -h, 0, h, 2 * h)]
    expected = np.dot([-1 / 12, 4 / 3, -5 / 2, 4 / 3, -1 / 12], values) / h**2
    found = np.vdot(Z, curvature_at(X, weights, kernel, W).product(Z[:, :, None])[:, :, 0])
    assert found == pytest.approx(expected, rel=1e-5, abs=1e-6 * np.abs(values).max())


@every_kernel
def test_hessian_is_the_change_of_the_gradient(name):
    """The product is the central difference of the Riemannian gradient, for several directions at once."""
    X, W, weights = rows(), orthonormal(), pair_weights("difference")
    kernel = kernel_of(name, X)
    rng = np.random.default_rng(3)
    Z = rng.normal(size=(*W.shape, 3))
    Z -= np.einsum("dk,kqb->dqb", W @ W.T, Z)
    found = curvature_at(X, weights, kernel, W).product(Z)
    h = 1e-5

    def gradient(V, b):
        image = 2 * PairSum(X, weights, profiles_of(kernel)).evaluate(V).product(V)
        # Along the geodesic the tangent spaces turn; seen from W they are carried back.
        turn = expm(-np.sign(b) * h * (Z[:, :, abs(b) - 1] @ W.T - W @ Z[:, :, abs(b) - 1].T))
        return turn @ (image - V @ (V.T @ image))

    for k in range(3):
        ahead, behind = (gradient(geodesic(W, Z[:, :, k], sign * h), sign * (k + 1)) for sign in (1, -1))
        expected = -(ahead - behind) / (2 * h)
        np.testing.assert_allclose(found[:, :, k], expected, atol=1e-6 * np.abs(expected).max())


def written_out(X, gamma, profile, W, phi):
    """Hs over B with Z = W̄ B, from the formula with every a_ij = vec(W̄ᵀ A_ij W)."""
    n, (d, q) = len(X), W.shape
    values, vectors = np.linalg.eigh(W.T @ phi @ W)
    W = W @ vectors
    beside = np.linalg.svd(W)[0][:, q:]
    other, turn = np.linalg.eigh(beside.T @ phi @ beside)
    beside = beside @ turn
    H = 2 * (np.kron(np.diag(values), np.eye(d - q)) - np.kron(np.eye(q), np.diag(other)))
    loose = tight = 0.0
    for i in range(n):
        for j in range(n):
            a, b = (X[i], X[j]) if profile.kind == "inner" else (X[i] - X[j], X[i] - X[j])
            A = np.outer(a, b) + np.outer(b, a)
            second = gamma[i, j] * float(profile.second_derivative(np.array([a @ W @ W.T @ b]))[0])
            column = (beside.T @ A @ W).ravel(order="F")
            H -= second * np.outer(column, column)
            loose += abs(second) * np.sum(A**2)
            tight += abs(second) * column @ column
    return H, loose, tight


@pytest.mark.parametrize("name", ["rbf", "scaled polynomial", "multiquadric"])
def test_certificate(name):
    """At the solver's end the smallest eigenvalue and both bounds are those of the matrices written out."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(40, 5))
    y = (X[:, 0] + 0.3 * rng.normal(size=40) > 0).astype(int) + (X[:, 1] > 0.5)
    weights, kernel = PairWeights.of_labels(y), kernel_of(name, X)
    result = ism(X, weights, kernel, 2, tol=1e-9, max_iter=2000)
    found = second_order(X, weights, kernel, result)
    (scale, profile), W = profiles_of(kernel)[0], result.components.T
    phi = PairSum(X, weights, profiles_of(kernel)).evaluate(W).matrix
    H, loose, tight = written_out(X, scale * weights.dense(), profile, W, phi)
    values = np.linalg.eigvalsh(H)
    assert found.smallest_eigenvalue == pytest.approx(values[0], rel=1e-5, abs=1e-5 * values[-1])
    assert found.bound == pytest.approx(loose, rel=1e-9)
    assert found.tight_bound == pytest.approx(tight, rel=1e-9)
    assert found.tight_bound <= found.bound
    assert found.is_local_maximum == (values[0] >= -1e-5 * values[-1])
    spectrum = np.linalg.eigvalsh(phi)[::-1]
    assert found.eigengap == pytest.approx(2 * (spectrum[1] - spectrum[2]), rel=1e-8)
    assert found.bound_holds == (found.eigengap >= loose)
    assert found.tight_bound_holds == (found.eigengap >= tight)


def test_bound_holds_for_wide_gaussians():
    """For a wide Gaussian the sufficient condition holds, and with it the exact one."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(50, 4))
    weights = PairWeights.of_labels(X[:, 0] > 0)
    kernel = RBF(200.0)
    found = second_order(X, weights, kernel, ism(X, weights, kernel, 1))
    assert found.bound_holds
    assert found.is_local_maximum
    assert found.smallest_eigenvalue > 0


def test_a_minimum_is_not_a_maximum():
    """The maximum of −J is no local maximum of J."""
    rng = np.random.default_rng(1)
    X = rng.normal(size=(50, 4))
    weights, kernel = PairWeights.of_labels(X[:, 0] > 0), RBF(2.0)
    opposite = ism(X, -weights, kernel, 1)
    assert second_order(X, -weights, kernel, opposite).is_local_maximum
    found = second_order(X, weights, kernel, opposite)
    assert not found.is_local_maximum
    assert found.smallest_eigenvalue < 0
    with pytest.raises(ValueError, match="pass the X it is of"):
        second_order(X[:, :3], weights, kernel, opposite)


def test_no_maximum_where_it_still_rises():
    """A point with a gradient is no maximum, however J curves there."""
    X = rows(60, 4)
    weights, kernel = PairWeights.of_labels(X[:, 0] > 0), RBF(200.0)
    end = ism(X, weights, kernel, 1)
    held = second_order(X, weights, kernel, end)
    assert held.residual < 1e-6
    assert held.is_local_maximum
    W = end.components.T + 0.05 * orthonormal(4, 1)
    moved = replace(end, components=(W / np.linalg.norm(W)).T)
    found = second_order(X, weights, kernel, moved)
    assert found.smallest_eigenvalue > 0
    assert found.residual > 1e-3
    assert not any((found.is_local_maximum, found.bound_holds, found.tight_bound_holds))


def test_bad_results():
    """What is no result, or no tolerance, is refused by name."""
    X = rows(30, 4)
    weights, kernel = PairWeights.of_labels(X[:, 0] > 0), RBF(2.0)
    with pytest.raises(ValueError, match="result must be what ism returns but is of type NoneType"):
        second_order(X, weights, kernel, None)
    with pytest.raises(ValueError, match="tol=0 must be a positive number"):
        second_order(X, weights, kernel, ism(X, weights, kernel, 1), tol=0)
