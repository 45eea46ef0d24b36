"""One layer of the network against its theory: gradient, start, components, feature maps."""

import numpy as np
import pytest
from scipy.linalg import subspace_angles
from scipy.spatial.distance import cdist
from sklearn.preprocessing import StandardScaler

from dependence.network.textbook_network import gaussian, label_kernel
from gramian.dependence.network._network_layers import (
    fit_feature_map,
    input_components,
    is_dead,
    objective_components,
    revive,
    smallest_distance,
    solve_projection,
)
from gramian.dependence.network.dependence_network import DependenceNetwork
from gramian.dependence.network.label_bandwidth import label_width
from gramian.dependence.projection.weights import PairWeights

# Labels that do not follow the rows put the first width on its bound, and the network says so.
quiet = pytest.mark.filterwarnings("ignore:the width of the first layer lies on the bound")


# One layer -----------------------------------------------------------------------------------------------------------


def test_gradient_and_starting_matrix_of_the_objective():
    """∇H = (2/σ²) Q W with Q = Rᵀ(Ĝ − D)R by finite differences; Q does not see the diagonal of K."""
    rng = np.random.default_rng(0)
    R, codes, width = rng.standard_normal((20, 4)), np.arange(20) % 3, 1.4
    gamma = label_kernel(codes)
    W = np.linalg.qr(rng.standard_normal((4, 2)))[0]

    def value(W):
        return (gamma * gaussian(R @ W, width)).sum()

    hat = gamma * gaussian(R @ W, width)
    Q = R.T @ (hat - np.diag(hat.sum(axis=1))) @ R
    numeric = np.zeros_like(W)
    for place in np.ndindex(W.shape):
        step = np.zeros_like(W)
        step[place] = 1e-5
        numeric[place] = (value(W + step) - value(W - step)) / 2e-5
    np.testing.assert_allclose(2 / width**2 * Q @ W, numeric, atol=1e-6)
    hollow = hat - np.diag(np.diagonal(hat))
    np.testing.assert_allclose(R.T @ (hollow - np.diag(hollow.sum(axis=1))) @ R, Q, atol=1e-12)
    # The start: Q₀ = RᵀΓR = Σ n_g² (μ_g − μ)(μ_g − μ)ᵀ, with n_g for the balanced kernel.
    counts, means = np.bincount(codes), np.array([R[codes == g].mean(axis=0) for g in range(3)]) - R.mean(axis=0)
    np.testing.assert_allclose(R.T @ gamma @ R, (means.T * counts**2) @ means, atol=1e-9)
    balanced = PairWeights.of_labels(codes, balanced=True).dense()
    np.testing.assert_allclose(R.T @ balanced @ R, (means.T * counts) @ means, atol=1e-9)


def test_a_projection_is_orthonormal_and_no_worse_than_its_start(wine):
    """WᵀW = I, H at least that of the spectral start; rotated rows rotate W and leave H."""
    X, y = StandardScaler().fit_transform(wine[0]), wine[1]
    weights, width = PairWeights.of_labels(y), label_width(X, y)
    W = solve_projection(X, weights, width, 2).components.T
    np.testing.assert_allclose(W.T @ W, np.eye(2), atol=1e-10)
    gamma = label_kernel(y)
    start = np.linalg.eigh(X.T @ gamma @ X)[1][:, -2:]
    found = (gamma * gaussian(X @ W, width)).sum()
    assert found >= (gamma * gaussian(X @ start, width)).sum()
    turn = np.linalg.qr(np.random.default_rng(0).standard_normal((13, 13)))[0]
    turned = solve_projection(X @ turn, weights, width, 2)
    rotated = (gamma * gaussian(X @ turn @ turned.components.T, width)).sum()
    assert rotated == pytest.approx(found, rel=1e-6)
    assert np.max(subspace_angles(turn @ turned.components.T, W)) < 1e-3


def test_a_wide_kernel_gives_supervised_pca(wine):
    """As the width grows W becomes the top eigenvectors of RᵀΓR (Barshan et al. 2011)."""
    X, y = StandardScaler().fit_transform(wine[0]), wine[1]
    result = solve_projection(X, PairWeights.of_labels(y), 1e4, 2, tol=0.01, max_iter=200)
    expected = np.linalg.eigh(X.T @ label_kernel(y) @ X)[1][:, -2:]
    assert np.cos(subspace_angles(result.components.T, expected)).min() > 1 - 1e-8


def test_a_dead_kernel_is_followed_up_to_a_factor():
    """Where all kernel values underflow, a step takes the eigenvectors of Q with exp(−(d² − d_min²)/(2σ²)) for K."""
    rng = np.random.default_rng(4)
    X, codes, width = rng.standard_normal((30, 6)), np.arange(30) % 2, 5e-3
    weights, gamma = PairWeights.of_labels(codes), label_kernel(codes)
    start = np.linalg.qr(rng.standard_normal((6, 2)))[0]
    squared = cdist(X @ start, X @ start, "sqeuclidean")
    off = ~np.eye(30, dtype=bool)
    assert np.exp(-squared[off] / (2 * width**2)).max() < 1e-80
    hat = np.where(off, gamma * np.exp(-(squared - squared[off].min()) / (2 * width**2)), 0.0)
    Q = X.T @ (hat - np.diag(hat.sum(axis=1))) @ X
    expected = np.linalg.eigh(Q)[1][:, -2:]
    with np.errstate(under="ignore", over="ignore"):
        found = revive(X, weights, width, start, n_steps=1)
    largest = np.linalg.eigvalsh(Q)
    assert largest[-2] - largest[-3] > 1e-9 * np.abs(largest).max() or largest[-2] < 1e-9 * np.abs(largest).max()
    assert found[:, 0] @ expected[:, -1] == pytest.approx(np.sign(found[:, 0] @ expected[:, -1]), abs=1e-6)
    W = solve_projection(X, weights, width, 2).components.T
    np.testing.assert_allclose(W.T @ W, np.eye(2), atol=1e-10)


def test_a_kernel_is_dead_when_no_two_rows_are_near():
    """exp(−d²/(2σ²)) below 1e-12 for all different rows; equal ones do not count, and one live pair is enough."""
    line = np.arange(700.0)[:, None]
    edge = 1 / np.sqrt(-2 * np.log(1e-12))
    assert smallest_distance(np.vstack([line, line[:5]])) == pytest.approx(1.0)
    assert is_dead(line, 0.99 * edge)
    assert is_dead(np.vstack([line, line]), 0.99 * edge)
    assert not is_dead(line, 1.01 * edge)
    assert not is_dead(np.vstack([line, [[600.5]]]), 0.99 * edge)
    assert not is_dead(np.zeros((4, 2)), 1.0)


@quiet
def test_three_samples_are_enough():
    """A first layer that sets them apart leaves nothing to climb in the next."""
    X = np.random.default_rng(20).normal(size=(3, 3)) + np.array([[0.0], [2.5], [0.0]])
    network = DependenceNetwork(n_features=30, max_layers=3, random_state=0).fit(X, [0, 1, 0])
    np.testing.assert_array_equal(network.predict(X), [0, 1, 0])


def test_taking_out_a_common_factor_keeps_the_eigenvectors():
    """exp(−(d² − d_min²)/(2σ²)) gives the matrix Q of the plain kernel up to a factor."""
    rng = np.random.default_rng(4)
    R, codes, width = rng.standard_normal((15, 3)), np.arange(15) % 2, 0.4
    gamma, squared = label_kernel(codes), cdist(R, R, "sqeuclidean")
    off = ~np.eye(15, dtype=bool)

    def matrix(K):
        hat = np.where(off, gamma * K, 0.0)
        return R.T @ (hat - np.diag(hat.sum(axis=1))) @ R

    least = squared[off].min()
    plain, shifted = matrix(np.exp(-squared / (2 * width**2))), matrix(np.exp(-(squared - least) / (2 * width**2)))
    np.testing.assert_allclose(shifted, plain * np.exp(least / (2 * width**2)), rtol=1e-10)


def test_number_of_components_of_an_input(wine):
    """Singular values, not squared and of the uncentred rows, summed to 90 %; at least 2k, at most the columns."""
    X = StandardScaler().fit_transform(wine[0])
    assert input_components(X, 0.9, 3) == 11
    assert input_components(X, 0.9, 6) == 12
    assert input_components(X, 0.9, 20) == 13
    assert input_components(X, 0.05, 2) == 4
    R = np.random.default_rng(0).standard_normal((30, 8)) + 3.0
    values = np.sqrt(np.linalg.eigvalsh(R.T @ R)[::-1])
    for kept in (0.3, 0.6, 0.9):
        shares = np.cumsum(values) / values.sum()
        assert input_components(R, kept, 1) == max(int(np.argmax(shares >= kept)) + 1, 2)


def test_number_of_components_of_the_objective(wine):
    """The positive eigenvalues of Q at the projection, summed to 90 %, by the full matrix."""
    X, y = StandardScaler().fit_transform(wine[0]), wine[1]
    weights, width = PairWeights.of_labels(y), label_width(X, y)
    projection = solve_projection(X, weights, width, 11)
    hat = label_kernel(y) * gaussian(X @ projection.components.T, width)
    values = np.linalg.eigvalsh(X.T @ (hat - np.diag(hat.sum(axis=1))) @ X)[::-1]
    positive = values[values > 0]
    for kept in (0.5, 0.9, 0.99):
        expected = int(np.argmax(np.cumsum(positive) >= kept * positive.sum())) + 1
        assert objective_components(X, weights, width, projection, kept) == expected


@pytest.mark.parametrize("kind", ["fourier", "orthogonal", "nystroem", "exact"])
def test_feature_maps_stand_for_the_kernel(kind):
    """R Rᵀ is the Gaussian kernel: within 5/√m for waves, exactly for all rows as landmarks."""
    Z = np.random.default_rng(0).standard_normal((60, 3))
    made = fit_feature_map(kind, Z, 1.5, 2000, seed=1)
    R = made.features(Z)
    error = np.abs(R @ R.T - gaussian(Z, 1.5)).max()
    assert error < (5 / np.sqrt(2000) if kind in ("fourier", "orthogonal") else 1e-8)
    np.testing.assert_allclose(np.linalg.norm(R, axis=1), 1, atol=1e-8)
