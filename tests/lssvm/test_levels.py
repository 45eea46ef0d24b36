"""Kernel PCA in several levels: gradient by finite differences, a monotone ascent, orthonormal hidden features."""

from itertools import pairwise

import numpy as np
import pytest
from sklearn.decomposition import KernelPCA

from gramian.kernels import RBF, Cauchy, Linear
from gramian.lssvm._levels import Level, ascend, greedy, retracted, riemannian_slope


def rows(n=60, seed=0):
    """Three blobs."""
    rng = np.random.default_rng(seed)
    return np.vstack([rng.normal(c, 0.6, size=(n // 3, 2)) for c in ((0, 0), (3, 0), (0, 3))])


def centre(K):
    """M K M."""
    M = np.eye(len(K)) - 1 / len(K)
    return M @ K @ M


def gaussian(H, width):
    return np.exp(-((H[:, None] - H[None]) ** 2).sum(axis=2) / (2 * width**2))


def test_the_first_level_is_kernel_pca():
    """Eigenvectors of the centred Gram, up to sign."""
    X = rows()
    (level,) = greedy(X, [RBF(width=1.0)], [2.0], [3])
    scores = KernelPCA(3, kernel="rbf", gamma=0.5, eigen_solver="dense").fit(X)
    expected = scores.eigenvectors_
    np.testing.assert_allclose(np.abs((level.hidden * expected).sum(axis=0)), 1, atol=1e-9)
    assert level.energy == pytest.approx(scores.eigenvalues_.sum() / 2)


@pytest.mark.parametrize("kernel", [RBF(width=0.3), Cauchy(width=0.4)])
def test_the_slope_is_the_derivative_along_the_manifold(kernel):
    """d/dt of both energies along a retracted tangent step is the inner product with the slope.

    Away from the eigenvectors, where the energy of the level itself would be flat.
    """
    X = rows()
    first, second = greedy(X, [RBF(width=1.0), kernel], [1.5, 0.7], [3, 2])
    H = retracted(first.hidden + 0.05 * np.random.default_rng(0).normal(size=first.hidden.shape))
    first = Level(first.kernel, first.eta, first.gram, H)
    second = Level(second.kernel, second.eta, second.kernel.gram(H).centered(), second.hidden)
    slope = riemannian_slope(first, second)
    along = np.random.default_rng(1).normal(size=slope.shape)
    across = first.hidden.T @ along
    along -= first.hidden @ (across + across.T) / 2

    def energies(t):
        H = retracted(first.hidden + t * along)
        below = Level(first.kernel, first.eta, first.gram, H)
        above = Level(second.kernel, second.eta, second.kernel.gram(H).centered(), second.hidden)
        return below.energy + above.energy

    step = 1e-5
    change = (energies(step) - energies(-step)) / (2 * step)
    assert change == pytest.approx(float((slope * along).sum()), rel=1e-6)


@pytest.mark.parametrize("sizes", [(3, 2), (4, 3, 2)])
def test_the_objective_rises_to_a_stationary_point(sizes):
    """Never falls, ends with a small slope, keeps columns orthonormal, and beats the greedy start."""
    X = rows()
    start = greedy(X, [RBF() for _ in sizes], [1.0] * len(sizes), list(sizes))
    levels, path = ascend(start, 300, 1e-6)
    assert np.diff(path).min() > -1e-10
    assert path[-1] > path[0] + 1e-3
    for level in levels:
        np.testing.assert_allclose(level.hidden.T @ level.hidden, np.eye(level.hidden.shape[1]), atol=1e-10)
    # The objective by definition, from the hidden features alone.
    width = levels[0].kernel.width_
    total = np.trace(levels[0].hidden.T @ centre(gaussian(X, width)) @ levels[0].hidden)
    for below, level in pairwise(levels):
        total += np.trace(level.hidden.T @ centre(gaussian(below.hidden, level.kernel.width_)) @ level.hidden)
    assert path[-1] == pytest.approx(total)


def test_upper_levels_need_a_kernel_of_the_distance():
    """A linear second level would be degenerate."""
    assert len(greedy(rows(), [Linear(), RBF()], [1.0, 1.0], [2, 2])) == 2
    with pytest.raises(ValueError, match="levels above the first"):
        greedy(rows(), [RBF(), Linear()], [1.0, 1.0], [2, 2])


def test_retraction_keeps_the_span_and_the_signs():
    """An orthonormal matrix is its own retraction."""
    H = np.linalg.qr(np.random.default_rng(0).normal(size=(9, 3)))[0]
    np.testing.assert_allclose(retracted(H), H, atol=1e-12)


def test_equal_rows_have_no_hidden_features():
    """Their centred Gram is rounding, of which every multiple is as good."""
    with pytest.raises(ValueError, match="alike"):
        greedy(np.ones((20, 2)), [RBF(1.0)], [1.0], [2])
