"""Approximated sums over pairs against the Gram of the features, differences, and the exact sum."""

import numpy as np
import pytest
from sklearn.exceptions import ConvergenceWarning

from dependence.projection.textbook_ism import (
    KERNELS,
    WEIGHTS,
    blobs,
    central_gradient,
    orthonormal,
    pair_weights,
    rows,
)
from gramian.dependence.projection._approximate import FourierPairSum, NystroemPairSum
from gramian.dependence.projection._pairs import PairSum, profiles_of
from gramian.dependence.projection.ism import ism, objective, sine
from gramian.dependence.projection.weights import PairWeights
from gramian.kernels import RBF, Cauchy, ExponentialProduct, InverseMultiquadric, Polynomial, RationalQuadratic

every_weight = pytest.mark.parametrize("kind", WEIGHTS)
WAVES = [RBF(1.3), Cauchy(1.2), InverseMultiquadric(0.8), RationalQuadratic(1.1, 1.7), RBF(1.0) + 0.5 * Cauchy(2.0)]
DEFINITE = [*WAVES, KERNELS["polynomial"], KERNELS["exponential product"], RBF(1.0) + KERNELS["scaled polynomial"]]


@pytest.mark.parametrize(("approximation", "close"), [("nystroem", 1e-4), ("fourier", 0.15)])
def test_approximations_find_the_subspace(approximation, close):
    """The approximated problem has nearly the subspace of the exact one, and its path never falls."""
    X, y = blobs(1000, 10)
    weights = PairWeights.of_labels(y)
    exact = ism(X, weights, RBF(2.0), 2)
    result = ism(X, weights, RBF(2.0), 2, approximation=approximation, n_features=300, random_state=0)
    assert sine(exact.components.T, result.components.T) < close
    assert objective(X, weights, RBF(2.0), result.components.T) >= exact.objective * (1 - 0.01)
    path = result.objective_path
    assert np.all(np.diff(path) >= -1e-9 * np.abs(path[:-1]))
    assert result.converged


def test_flat_landmarks():
    """The same through landmarks, where these are fewer than the rows."""
    X = 1e3 * rows(200, 6)
    weights, options = PairWeights.of_labels(X[:, 3] > 0), {"approximation": "nystroem", "n_features": 50}
    with pytest.warns(ConvergenceWarning, match="flat on all projections of X"):
        assert not ism(X, weights, RBF(1.0), 2, random_state=0, **options).converged
    assert ism(X, weights, RBF(1e3), 2, random_state=0, **options).converged


def test_landmarks_without_a_kernel():
    """A kernel that is zero, or not finite, among the landmarks is told apart from a failure of linear algebra."""
    X, weights = rows(50, 4), PairWeights.of_labels(np.arange(50) % 2)
    with pytest.warns(ConvergenceWarning, match="flat"):
        ism(0 * X, weights, Polynomial(2, 0.0), 2, approximation="nystroem")
    with pytest.raises(ValueError, match="the kernel overflows on the projected X; scale the columns"):
        ism(1e3 * X, weights, ExponentialProduct(1.0), 2, approximation="nystroem")


def outside(W, V):
    """The part of V orthogonal to the subspace."""
    return V - W @ (W.T @ V)


@every_weight
@pytest.mark.parametrize("kernel", WAVES, ids=repr)
def test_waves(kernel, kind):
    """J is that of the features' Gram, and Φ gives its exact gradient out of the subspace."""
    X, W, weights = rows(40), orthonormal(), pair_weights(kind, 40)
    total = FourierPairSum(X, weights, profiles_of(kernel), 2, 64, np.random.default_rng(0))
    angles = X @ W @ total.frequencies
    Z = np.hstack([np.cos(angles), np.sin(angles)]) * np.sqrt(np.tile(total.amplitudes, 2))
    evaluation = total.evaluate(W)
    assert evaluation.objective == pytest.approx(np.sum(weights.dense() * (Z @ Z.T)), rel=1e-10)
    expected = outside(W, central_gradient(total.objective, W))
    np.testing.assert_allclose(outside(W, 2 * evaluation.product(W)), expected, atol=1e-8 * np.abs(expected).max())


@every_weight
def test_waves_inside_the_complement(kind):
    """Off the gradient Φ is the dense one with f′ replaced by the same features' Gram."""
    X, W, weights = rows(40), orthonormal(), pair_weights(kind, 40)
    total = FourierPairSum(X, weights, profiles_of(RBF(1.3)), 2, 64, np.random.default_rng(0))
    angles = X @ W @ total.frequencies
    Z = np.hstack([np.cos(angles), np.sin(angles)])
    psi = weights.dense() * -(Z @ Z.T) / 32 / (2 * 1.3**2)
    dense = 2 * X.T @ (np.diag(psi.sum(axis=1)) - psi) @ X
    found = total.evaluate(W).matrix
    for side in (W, np.linalg.svd(W)[0][:, 2:]):
        np.testing.assert_allclose(side.T @ found @ side, side.T @ dense @ side, atol=1e-9 * np.abs(dense).max())


@every_weight
@pytest.mark.parametrize("zero_diagonal", [False, True])
@pytest.mark.parametrize("kernel", DEFINITE, ids=repr)
def test_landmarks(kernel, kind, zero_diagonal):
    """J is that of the landmarks' approximation, and Φ gives its exact gradient, all of it."""
    X, W, weights = rows(40), orthonormal(), pair_weights(kind, 40)
    total = NystroemPairSum(
        X, weights, profiles_of(kernel), 2, 9, np.random.default_rng(0), zero_diagonal=zero_diagonal
    )
    evaluation = total.evaluate(W)
    L = total.landmarks @ W
    across, within = kernel(X @ W, L), kernel(L)
    K = across @ np.linalg.solve(within + total._jitter * np.eye(9), across.T)
    if zero_diagonal:
        K -= np.diag(kernel.diagonal(X @ W))
    expected = np.sum(weights.dense() * K)
    assert evaluation.objective == pytest.approx(expected, rel=1e-6, abs=1e-7 * np.abs(K).sum())
    gradient = central_gradient(total.objective, W, 1e-5)
    np.testing.assert_allclose(2 * evaluation.product(W), gradient, atol=2e-6 * np.abs(gradient).max())


@pytest.mark.parametrize("kernel", WAVES, ids=repr)
def test_all_landmarks_are_exact(kernel):
    """With every row a landmark, J and Φ are the exact ones."""
    X, W, weights = rows(40), orthonormal(), pair_weights("labels", 40)
    exact = PairSum(X, weights, profiles_of(kernel)).evaluate(W)
    found = NystroemPairSum(X, weights, profiles_of(kernel), 2, 40, np.random.default_rng(0)).evaluate(W)
    assert found.objective == pytest.approx(exact.objective, rel=1e-5)
    np.testing.assert_allclose(found.matrix, exact.matrix, atol=1e-4 * np.abs(exact.matrix).max())


@pytest.mark.parametrize("approximate", [FourierPairSum, NystroemPairSum])
def test_chunks_add_up(approximate, monkeypatch):
    """Chunks of rows on threads give what one chunk gives."""
    X, W, weights = rows(300), orthonormal(), pair_weights("labels", 300)
    arguments = X, weights, profiles_of(RBF(1.3)), 2, 40
    whole = approximate(*arguments, np.random.default_rng(0)).evaluate(W)
    monkeypatch.setattr("gramian.dependence.projection._approximate._CHUNK_BYTES", 1)
    monkeypatch.setattr("gramian.grams.tiles._SERIAL_ENTRIES", 0)
    parts = approximate(*arguments, np.random.default_rng(0), n_workers=3).evaluate(W)
    assert parts.objective == pytest.approx(whole.objective, rel=1e-10)
    np.testing.assert_allclose(parts.matrix, whole.matrix, atol=1e-7 * np.abs(whole.matrix).max())
