"""Splines and wavelets against their formulas, and their definiteness."""

import numpy as np
import pytest
from scipy.integrate import quad

from gramian.kernels import Spline, Wavelet
from kernels.kernel_case import KernelCase, rows


def spline(x, y):
    """1 + x y + ∫ (|x| − t)₊ (|y| − t)₊ dt for numbers of one sign, the integral by its antiderivative."""
    if x * y < 0:
        return 1 + x * y
    a, b = abs(x), abs(y)
    m = min(a, b)
    return 1 + x * y + a * b * m - (a + b) * m**2 / 2 + m**3 / 3


class TestSpline(KernelCase):
    profiled = False

    def create(self):
        return Spline()

    def evaluate(self, x, y):
        return np.prod([spline(a, b) for a, b in zip(x, y, strict=True)])


class TestWavelet(KernelCase):
    profiled = False
    waves = True
    shift_invariant = True

    def create(self):
        return Wavelet(width=1.7)

    def evaluate(self, x, y):
        return np.prod(
            [np.cos(1.75 * (a - b) / 1.7) * np.exp(-((a - b) ** 2) / (2 * 1.7**2)) for a, b in zip(x, y, strict=True)]
        )


@pytest.mark.parametrize(("x", "y"), [(0.3, 0.8), (2.0, 2.0), (-0.5, -1.5), (0.0, 3.0)])
def test_spline_is_an_integral_over_knots(x, y):
    """The bend is ∫ (|x| − t)₊ (|y| − t)₊ dt, computed numerically."""
    area = quad(lambda t: max(abs(x) - t, 0) * max(abs(y) - t, 0), 0, 4, points=[abs(x), abs(y)])[0]
    assert Spline()([[x]], [[y]])[0, 0] == pytest.approx(1 + x * y + area)


def test_spline_in_the_unit_interval_is_the_published_one():
    """For columns >= 0 it is 1 + xy + xy min − (x + y)/2 min² + min³/3."""
    x, y = np.random.default_rng(0).random((2, 50, 1))
    m = np.minimum(x, y.T)
    np.testing.assert_allclose(Spline()(x, y), 1 + x * y.T + x * y.T * m - (x + y.T) / 2 * m**2 + m**3 / 3, rtol=1e-13)


@pytest.mark.parametrize("kernel", [Spline(), Wavelet(width=0.1), Wavelet(width=1.0), Wavelet(width=30.0)], ids=repr)
@pytest.mark.parametrize("d", [1, 2, 6])
def test_definite(kernel, d):
    """No negative eigenvalue, of either sign of the data, in one column or several."""
    for seed in range(3):
        X = rows(120, d, seed)
        values = np.linalg.eigvalsh(kernel(X))
        assert values[0] > -1e-12 * values[-1]


def test_orthogonal_frequencies_are_not_known():
    """The transform of a wavelet is known along the axes only."""
    assert Wavelet(width=1.0).frequencies(3, 5, np.random.default_rng(0), orthogonal=True) is None
