"""Kernels of the Euclidean distance against their formulas, and against scikit-learn's."""

import numpy as np
import pytest
from scipy.sparse import csr_array
from sklearn.gaussian_process import kernels as peers
from sklearn.metrics import pairwise

from gramian.kernels import (
    RBF,
    Cauchy,
    GaussianDifference,
    InverseMultiquadric,
    Multiquadric,
    RationalQuadratic,
    SquaredDistance,
)
from kernels.kernel_case import KernelCase, rows, square


class DistanceCase(KernelCase):
    shift_invariant = True


class TestRBF(DistanceCase):
    waves = True

    def create(self):
        return RBF(width=1.3)

    def evaluate(self, x, y):
        return np.exp(-square(x, y) / (2 * 1.3**2))


class TestCauchy(DistanceCase):
    waves = True

    def create(self):
        return Cauchy(width=0.8)

    def evaluate(self, x, y):
        return 1 / (1 + square(x, y) / 0.8**2)


class TestRationalQuadratic(DistanceCase):
    waves = True

    def create(self):
        return RationalQuadratic(width=0.9, exponent=1.7)

    def evaluate(self, x, y):
        return (1 + square(x, y) / (2 * 1.7 * 0.81)) ** -1.7


class TestInverseMultiquadric(DistanceCase):
    waves = True

    def create(self):
        return InverseMultiquadric(offset=0.6)

    def evaluate(self, x, y):
        return (square(x, y) + 0.36) ** -0.5


class TestGaussianDifference(DistanceCase):
    def create(self):
        return GaussianDifference(width=0.7, ratio=3.0, weight=0.4)

    def evaluate(self, x, y):
        return np.exp(-square(x, y) / (2 * 0.7**2)) - 0.4 * np.exp(-square(x, y) / (2 * 2.1**2))


class TestSquaredDistance(DistanceCase):
    def create(self):
        return SquaredDistance()

    def evaluate(self, x, y):
        return -square(x, y)


class TestMultiquadric(DistanceCase):
    def create(self):
        return Multiquadric(offset=0.6)

    def evaluate(self, x, y):
        return -np.sqrt(square(x, y) + 0.36)


def test_scikit_learn_agrees():
    """Where scikit-learn has the kernel, both agree; the rational quadratic tends to the Gaussian."""
    X, Y = rows(50, 6), rows(33, 6, seed=1)
    np.testing.assert_allclose(RBF(0.9)(X, Y), pairwise.rbf_kernel(X, Y, gamma=1 / (2 * 0.9**2)), atol=1e-12)
    peer = peers.RationalQuadratic(length_scale=0.9, alpha=1.7)
    np.testing.assert_allclose(RationalQuadratic(0.9, 1.7)(X, Y), peer(X, Y), rtol=1e-12)
    np.testing.assert_allclose(RationalQuadratic(1.3, 1e9)(X), RBF(1.3)(X), rtol=1e-7)
    single = RationalQuadratic(1.3, 1e7)(X.astype(np.float32))
    np.testing.assert_allclose(single, RBF(1.3)(X), atol=1e-5)


@pytest.mark.parametrize("kernel", [SquaredDistance(), Multiquadric(), GaussianDifference(1.0)])
def test_indefinite_kernels_say_so(kernel):
    """Kernels with negative eigenvalues on some sample do not claim to be definite."""
    assert min(np.linalg.eigvalsh(kernel(rows(30, 2, seed)))[0] for seed in range(3)) < -1e-6
    assert not kernel.definite


@pytest.mark.parametrize(
    ("kernel", "message"),
    [
        (RBF(width=0), "width=0 must be positive"),
        (RBF(width=-1.0), "width=-1.0 must be positive"),
        (RBF(width=np.nan), "width=nan must be positive"),
        (RBF(width="wide"), "width='wide' is neither a positive number nor a rule"),
        (RBF(width=None), "width=None is neither"),
        (Cauchy(width=True), "width=True is neither"),
        (GaussianDifference(1.0, ratio=1.0), "ratio=1.0 must be a finite number > 1"),
        (GaussianDifference(1.0, weight=-0.1), "weight=-0.1 must be a finite number >= 0"),
        (Multiquadric(offset=0), "offset=0 must be a finite number > 0"),
        (InverseMultiquadric(offset=-1.0), "offset=-1.0 must be a finite number > 0"),
        (RationalQuadratic(1.0, np.nan), "exponent=nan must be a finite number > 0"),
    ],
)
def test_bad_parameters(kernel, message):
    """A bad parameter is refused at fit by name, with its value and what is allowed."""
    with pytest.raises(ValueError) as caught:
        kernel.fit(rows())
    assert message in str(caught.value)


def test_parameters_are_checked_without_fit():
    """Parameters that would give another function, or none, are refused by the formula itself."""
    for kernel, name in (
        (RationalQuadratic(1.0, 0.0), "exponent"),
        (Multiquadric(-1.0), "offset"),
        (InverseMultiquadric(np.nan), "offset"),
    ):
        with pytest.raises(ValueError, match=f"{name}=.* must be a finite number > 0"):
            kernel(rows())


def test_overflow_is_refused_by_name():
    """Distances too large for the dtype are an error that says to scale, not NaN."""
    with pytest.raises(ValueError, match="overflow float32; scale the columns"):
        RBF(1.0)(np.array([[1e25, 0.0], [0.0, 0.0]], np.float32))


# Digits ----------------------------------------------------------------------------------------------------


def gaussian(X, width=1.0):
    """exp(−‖x−y‖²/(2 width²)) from the differences, in float64."""
    X = X.astype(np.float64)
    return np.exp(-((X[:, None] - X[None]) ** 2).sum(axis=2) / (2 * width**2))


def test_float32_clusters_far_apart():
    """Centring is not enough where clusters are far apart: single precision stays accurate inside them."""
    X = np.random.default_rng(0).standard_normal((100, 3))
    X[:50] += 1000
    X[50:] -= 1000
    X = X.astype(np.float32)
    # Centring rounds coordinates of 1,000 once more, to 2^-14: that much of the distance is lost, and no more.
    np.testing.assert_allclose(RBF(1.0)(X), gaussian(X), atol=1e-4)


def test_outlier_in_float64():
    """One row at 1e8 does not cost the others their digits."""
    X = np.random.default_rng(0).standard_normal((100, 3))
    X[0] += 1e8
    np.testing.assert_allclose(RBF(1.0)(X), gaussian(X), atol=1e-9)


def test_outlier_in_float32():
    """One row at 1e4 does not cost the others their digits in single precision."""
    X = np.random.default_rng(0).standard_normal((100, 3)).astype(np.float32)
    X[0] = 1e4
    np.testing.assert_allclose(RBF(1.0)(X), gaussian(X), atol=1e-5)


def test_sparse_float32_far_from_the_origin():
    """Sparse rows are as accurate as dense ones."""
    X = (np.random.default_rng(0).standard_normal((50, 3)) + 1e4).astype(np.float32)
    np.testing.assert_allclose(RBF(1.0)(csr_array(X)), gaussian(X), atol=1e-4)


def test_duplicates_are_exactly_alike():
    """Rows that are equal have similarity exactly 1, within X and against a copy of it."""
    X = np.random.default_rng(0).standard_normal((30, 7)) * 100
    X[15:] = X[:15]
    K = RBF(0.01)(X)
    np.testing.assert_allclose(K[np.arange(15), np.arange(15, 30)], 1, atol=1e-12)
    np.testing.assert_allclose(np.diag(RBF(0.01)(X, X.copy())), 1, atol=1e-12)


@pytest.mark.parametrize(("scale", "dtype"), [(1e-170, np.float64), (1e160, np.float64), (1e-21, np.float32)])
def test_extreme_widths(scale, dtype):
    """A width whose square leaves the range gives the kernel or an error about the width, never NaN or ZeroDivision."""
    X = np.array([[1.0], [2.0], [0.0]])
    try:
        K = RBF(scale)((X * scale).astype(dtype))
    except ValueError:
        return
    np.testing.assert_allclose(K, gaussian(X), atol=1e-4)
