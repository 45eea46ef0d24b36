"""Kernels of the Manhattan distance against their formulas, and against scikit-learn's."""

import numpy as np
import pytest
from sklearn.exceptions import NotFittedError
from sklearn.metrics import pairwise

from gramian.kernels import TL1, Laplacian
from kernels.kernel_case import KernelCase, city, rows


class TestLaplacian(KernelCase):
    profiled = False
    waves = True
    shift_invariant = True

    def create(self):
        return Laplacian(width=1.7)

    def evaluate(self, x, y):
        return np.exp(-city(x, y) / 1.7)


class TestTL1(KernelCase):
    profiled = False
    shift_invariant = True

    def create(self):
        return TL1(radius=2.5)

    def evaluate(self, x, y):
        return max(2.5 - city(x, y), 0.0)


class TestTL1OfDefaultRadius(KernelCase):
    """The radius is 0.7 times the number of features unless given."""

    profiled = False

    def create(self):
        return TL1()

    def evaluate(self, x, y):
        return max(0.7 * 4 - city(x, y), 0.0)


def test_scikit_learn_agrees():
    """The Laplacian kernel is scikit-learn's with gamma = 1 / width."""
    X, Y = rows(50, 6), rows(33, 6, seed=1)
    np.testing.assert_allclose(Laplacian(0.9)(X, Y), pairwise.laplacian_kernel(X, Y, gamma=1 / 0.9), atol=1e-12)


def test_radius_needs_fit():
    """Without a radius TL1 has to see the data first."""
    with pytest.raises(NotFittedError, match="radius=None depends on the data; call fit"):
        TL1()(rows())


def test_tl1_is_indefinite():
    """TL1 has negative eigenvalues on some sample and does not claim to be definite."""
    assert min(np.linalg.eigvalsh(TL1(1.0)(rows(30, 2, seed)))[0] for seed in range(3)) < -1e-6
    assert not TL1(1.0).definite


def test_no_orthogonal_frequencies():
    """The Laplacian kernel is no function of the Euclidean distance, so its frequencies cannot be rotated."""
    assert Laplacian(1.0).frequencies(3, 5, np.random.default_rng(0), orthogonal=True) is None


@pytest.mark.parametrize(
    ("kernel", "message"),
    [
        (Laplacian(width=np.inf), "width=inf must be positive and finite"),
        (TL1(radius=-2), "radius=-2 must be a finite number > 0"),
    ],
)
def test_bad_parameters(kernel, message):
    """A bad parameter is refused at fit by name, with its value and what is allowed."""
    with pytest.raises(ValueError) as caught:
        kernel.fit(rows())
    assert message in str(caught.value)
