"""The Cauchy–Schwarz divergence against a double sum."""

import numpy as np
import pytest

from gramian.grams import FeatureGram
from gramian.kernels import RBF
from gramian.metrics import (
    cauchy_schwarz_divergence,
)


@pytest.fixture
def rng():
    return np.random.default_rng(20)


def double_sum(K, A):
    """The mean overlap of two clusters by sums over all pairs of samples and clusters."""
    n, k = A.shape

    def product(c, e):
        return sum(A[i, c] * A[j, e] * K[i, j] for i in range(n) for j in range(n))

    pairs = [(c, e) for c in range(k) for e in range(c + 1, k)]
    return sum(product(c, e) / np.sqrt(product(c, c) * product(e, e)) for c, e in pairs) / len(pairs)


@pytest.mark.parametrize("k", [2, 3, 4])
def test_cauchy_schwarz_divergence_is_the_double_sum(k):
    """Soft and crisp memberships, rows, similarities and Grams give what the sums over pairs of samples give."""
    rng = np.random.default_rng(k)
    X, A = rng.standard_normal((12, 3)), rng.random((12, k))
    K = RBF(1.3)(X)
    soft = -np.log(double_sum(K, A))
    assert cauchy_schwarz_divergence(X, A, kernel=RBF(1.3)) == pytest.approx(soft)
    assert cauchy_schwarz_divergence(K, A * rng.random(k), kernel="precomputed") == pytest.approx(soft)
    assert cauchy_schwarz_divergence(FeatureGram(np.linalg.cholesky(K)), A) == pytest.approx(soft)
    paper = cauchy_schwarz_divergence(X, A, kernel=RBF(1.3), pair_normalization="paper")
    assert paper == pytest.approx(soft - np.log((k - 1) / 2))
    labels = np.arange(12) % k
    crisp = -np.log(double_sum(K, np.eye(k)[labels]))
    assert cauchy_schwarz_divergence(X, [f"c{label}" for label in labels], kernel=RBF(1.3)) == pytest.approx(crisp)


def test_cauchy_schwarz_divergence_at_its_ends():
    """Equal densities are 0 apart, clusters without similarity infinitely, and far clusters farther than near ones."""
    X = np.repeat(np.random.default_rng(0).standard_normal((6, 2)), 2, axis=0)
    assert cauchy_schwarz_divergence(X, np.arange(12) % 2, kernel=RBF(1.0)) == pytest.approx(0, abs=1e-12)
    assert cauchy_schwarz_divergence(np.eye(4), [0, 0, 1, 1], kernel="precomputed") == np.inf
    y = np.repeat([0, 1], 6)
    near, far = (cauchy_schwarz_divergence(X + shift * y[:, None], y, kernel=RBF(1.0)) for shift in (1, 3))
    assert 0 < near < far
    tiny = np.column_stack([np.ones(12), np.full(12, 1e-250)])
    assert cauchy_schwarz_divergence(X, tiny, kernel=RBF(1.0)) == pytest.approx(0, abs=1e-12)


@pytest.mark.parametrize(
    ("memberships", "message"),
    [
        ([0, 0, 0], "at least two clusters"),
        ([0, 1], r"shape \(2, 2\); pass \(3,\) labels or \(3, k\)"),
        ([[1.0, 0.0]] * 3, "none of them empty"),
        ([[1.0, -1.0]] * 3, "negative or not finite"),
    ],
)
def test_cauchy_schwarz_divergence_refuses(memberships, message):
    """Memberships that are no clusters are refused, and so is a kernel under which a cluster has no size."""
    with pytest.raises(ValueError, match=message):
        cauchy_schwarz_divergence(np.eye(3), memberships)
    with pytest.raises(ValueError, match="pair_normalization='sum' is not known"):
        cauchy_schwarz_divergence(np.eye(3), [0, 1, 1], pair_normalization="sum")
    with pytest.raises(ValueError, match="cluster 1 is not similar to itself"):
        cauchy_schwarz_divergence(np.diag([1.0, 0.0, 0.0]), [0, 1, 1], kernel="precomputed")


@pytest.mark.parametrize("scale", [1e-200, 1e200])
def test_cauchy_schwarz_divergence_does_not_depend_on_the_scale_of_the_kernel(scale):
    K = np.array([[1.0, 0.5], [0.5, 1.0]])
    assert cauchy_schwarz_divergence(scale * K, [0, 1], kernel="precomputed") == pytest.approx(np.log(2))
