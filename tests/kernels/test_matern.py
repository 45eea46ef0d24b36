"""The Matern kernel against its Bessel function, scikit-learn's, and wherever a kernel's formula is asked for."""

import numpy as np
import pytest
from scipy.special import gamma, kv
from sklearn.gaussian_process import kernels as peers

from gramian.dependence import DependenceReduction, hsic
from gramian.embedding import KernelPCA
from gramian.kernels import Matern, NeighborGraph, as_kernel
from gramian.landmarks import FourierFeatures
from kernels.kernel_case import KernelCase, rows, square


def bessel(x, y, width, smoothness):
    """2^(1−ν)/Γ(ν) s^ν K_ν(s), the definition for any smoothness ν."""
    s = np.sqrt(2 * smoothness * square(x, y)) / width
    return 2 ** (1 - smoothness) / gamma(smoothness) * s**smoothness * kv(smoothness, s) if s > 0 else 1.0


class MaternCase(KernelCase):
    smoothness: float
    waves = True
    shift_invariant = True

    def create(self):
        return Matern(width=1.4, smoothness=self.smoothness)

    def evaluate(self, x, y):
        return bessel(x, y, 1.4, self.smoothness)

    def test_scikit_learn_agrees(self, kernel, X, Y):
        """The kernel is scikit-learn's of the same nu."""
        peer = peers.Matern(length_scale=1.4, nu=self.smoothness)
        np.testing.assert_allclose(kernel(X, Y), peer(X, Y), rtol=1e-12)

    def test_neighbours_are_the_nearest(self, X):
        """The neighbour graph finds the most similar rows by distance and weighs them by the kernel."""
        graph = NeighborGraph(3, kernel=self.create()).fit(X[3:])
        plain = NeighborGraph(3).fit(X[3:])(X[3:]).toarray()
        np.testing.assert_allclose(graph(X[3:]).toarray(), plain * graph.kernel_(X[3:]), atol=1e-12)


class TestExponential(MaternCase):
    smoothness = 0.5
    shift_invariant = False  # a root of the distance loses half of its digits

    def test_cut_off_slopes(self, kernel):
        """The slope that grows without bound is exact down to a millionth of the width, and zero for equal rows."""
        profile = kernel.profile()
        beta = (1.4 * np.array([1e-5, 1e-3, 1.0])) ** 2
        expected = -np.exp(-np.sqrt(beta) / 1.4) / (2 * 1.4 * np.sqrt(beta))
        np.testing.assert_allclose(profile.derivative(beta), expected, rtol=1e-12)
        assert profile.derivative(np.zeros(1)) == 0


class TestOnceDifferentiable(MaternCase):
    smoothness = 1.5


class TestTwiceDifferentiable(MaternCase):
    smoothness = 2.5


@pytest.mark.parametrize("smoothness", [1, 2.0, np.inf, "1.5", None])
def test_bad_smoothness(smoothness):
    """Other smoothness is refused by name, with what is allowed."""
    with pytest.raises(ValueError, match=r"smoothness=.* must be one of 0\.5, 1\.5, 2\.5"):
        Matern(smoothness=smoothness).fit(rows())


def test_name():
    """The kernel can be asked for by name."""
    assert repr(as_kernel("matern")) == "Matern()"


@pytest.mark.parametrize("smoothness", [0.5, 1.5, 2.5])
def test_everything_takes_it(smoothness):
    """Kernel PCA, Fourier features, HSIC and dimension reduction take the kernel, which is known to them by profile."""
    rng = np.random.default_rng(0)
    X = rng.standard_normal((60, 4))
    y = (X[:, 0] > 0).astype(int)
    kernel = Matern(width=2.0, smoothness=smoothness)
    K = kernel(X)
    H = np.eye(60) - 1 / 60
    Z = KernelPCA(60, kernel=kernel).fit_transform(X)
    np.testing.assert_allclose(Z @ Z.T, H @ K @ H, atol=1e-8)
    assert np.abs(FourierFeatures(20_000, kernel=kernel, random_state=0).fit(X)(X) - K).max() < 0.06
    assert hsic(X, X, kernel_x=kernel, kernel_y=kernel) == pytest.approx(np.sum((H @ K @ H) ** 2) / 59**2, rel=1e-6)
    reduced = DependenceReduction(1, kernel=kernel).fit(X, y)
    assert abs(reduced.components_[0, 0]) > 0.9
