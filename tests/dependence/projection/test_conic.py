"""Shares of kernels in a sum against centred alignments of whole matrices."""

import tracemalloc

import numpy as np
import pytest

from dependence.projection.textbook_ism import objective, orthonormal, pair_weights, projected, rows
from gramian.dependence.projection._pairs import PairSum, profiles_of
from gramian.dependence.projection.conic import alignment_weights, combined_kernel
from gramian.dependence.projection.ism import ism
from gramian.dependence.projection.weights import PairWeights
from gramian.kernels import RBF, Linear, Multiquadric, Polynomial, RelativeRBF


def centred(K):
    """H K H."""
    H = np.eye(len(K)) - 1 / len(K)
    return H @ K @ H


def test_alignment_shares():
    """The shares are the centred alignments, made to sum to one; alignf is the best of all nonnegative sums."""
    X, weights = rows(40), pair_weights("labels", 40)
    kernels = [RBF(1.5), Polynomial(3, 1.0), Linear(), Multiquadric(1.0)]
    K = [centred(kernel(X)) for kernel in kernels]
    gamma = weights.dense()
    aligned = np.array([np.sum(k * gamma) / np.linalg.norm(k) for k in K])
    shares = alignment_weights(X, weights, kernels)
    np.testing.assert_allclose(shares, np.maximum(aligned, 0) / np.maximum(aligned, 0).sum(), rtol=1e-9)
    assert shares.sum() == pytest.approx(1)
    best = alignment_weights(X, weights, kernels, method="alignf")
    assert best.min() >= 0
    assert np.linalg.norm(best) == pytest.approx(1)

    def alignment(v):
        total = sum(a * k / np.linalg.norm(k) for a, k in zip(v, K, strict=True))
        return np.sum(total * gamma) / np.linalg.norm(total)

    rng = np.random.default_rng(0)
    assert all(alignment(best) >= alignment(v) - 1e-12 for v in [shares, *rng.dirichlet(np.ones(4), 300)])
    np.testing.assert_array_equal(alignment_weights(X, weights, kernels, method="uniform"), 0.25)


def test_no_matrix_is_stored():
    """Kernels are evaluated again for every pair of them; several n×n matrices would not fit."""
    X = rows(1500, 3)
    weights = PairWeights.of_targets(X[:, 0])
    tracemalloc.start()
    alignment_weights(X, weights, [RBF(1.0), RBF(2.0), Multiquadric(1.0)])
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < 8 * 1500**2


def test_combined_kernel():
    """The sum has its shares over the norms, and one share alone is that kernel."""
    X, W, weights = rows(40), orthonormal(), pair_weights("labels", 40)
    kernels = [RBF(1.5), RelativeRBF(8).fit(X)]
    norms = [np.linalg.norm(centred(kernel(X))) for kernel in kernels]
    both = combined_kernel(X, weights, kernels, shares=[0.3, 0.7])
    expected = sum(
        s / norm * objective(X, weights.dense(), kernel, W)
        for s, norm, kernel in zip([0.3, 0.7], norms, kernels, strict=True)
    )
    assert PairSum(X, weights, profiles_of(both)).objective(W) == pytest.approx(expected, rel=1e-9)
    one = combined_kernel(X, weights, kernels, shares=[1, 0], normalize=False)
    np.testing.assert_allclose(projected(one, X, W), projected(kernels[0], X, W), atol=1e-12)
    aligned = combined_kernel(X, weights, kernels)
    assert ism(X, weights, aligned, 2, max_iter=1000).converged


def test_shares_that_cannot_be():
    """Bad shares and kernels are refused; kernels that all disagree count alike, with a warning."""
    X, weights = rows(40), pair_weights("labels", 40)
    with pytest.raises(ValueError, match="2 numbers >= 0"):
        combined_kernel(X, weights, [RBF(1.0), Linear()], shares=[1.0, -1.0])
    with pytest.raises(ValueError, match="is one kernel; pass a list"):
        alignment_weights(X, weights, Linear())
    with pytest.raises(ValueError, match="kernels is empty"):
        alignment_weights(X, weights, [])
    with pytest.raises(ValueError, match="method='best'"):
        alignment_weights(X, weights, [Linear()], method="best")
    with pytest.warns(UserWarning, match="no kernel agrees"):
        shares = alignment_weights(X, -weights, [RBF(1.0), Linear()])
    np.testing.assert_array_equal(shares, 0.5)
