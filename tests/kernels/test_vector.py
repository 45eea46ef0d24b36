"""Kernels given by a profile: one formula for every use, and none where a subclass changes the values otherwise."""

import numpy as np
import pytest
from scipy.spatial.distance import cdist
from sklearn.exceptions import NotFittedError

from gramian.dependence import DependenceReduction, hsic
from gramian.dependence.projection.ism import ism
from gramian.dependence.projection.weights import PairWeights
from gramian.kernels import RBF, Cauchy, GaussianDifference, Laplacian, Linear, NeighborGraph, Polynomial, Profile, Sum
from gramian.kernels.profile import Exponential, VectorKernel
from gramian.landmarks import FourierFeatures
from kernels.kernel_case import KernelCase, rows, square


class Wave(Profile):
    """f(β) = cos β, with the least that a profile has to write."""

    kind = "distance"

    def both(self, beta):
        return np.cos(beta), -np.sin(beta)

    def second_derivative(self, beta):
        return -np.cos(beta)


class Waves(VectorKernel):
    """A kernel of a user, with the least that a kernel has to write."""

    definite = False

    def profile(self):
        return Wave()


class Wider(RBF):
    """Derived from RBF by its formula."""

    def profile(self):
        return Exponential("distance", -0.125 / self._get_width() ** 2)


class Squared(RBF):
    """Derived from RBF by its values."""

    def _tile(self, left, right):
        return super()._tile(left, right) ** 2

    def _diagonal(self, X):
        return super()._diagonal(X) ** 2


class Shifting:
    """A mixin that changes the values of a kernel."""

    def _tile(self, left, right):
        return super()._tile(left, right) + 1

    def _diagonal(self, X):
        return super()._diagonal(X) + 1


class Shifted(Shifting, RBF):
    """Derived from RBF by a mixin."""


class Again(Squared):
    """Has a formula once more."""

    def profile(self):
        return Exponential("distance", -1.0)

    def _tile(self, left, right):
        return VectorKernel._tile(self, left, right)

    def _diagonal(self, X):
        return VectorKernel._diagonal(self, X)


class TestWaves(KernelCase):
    shift_invariant = True

    def create(self):
        return Waves()

    def evaluate(self, x, y):
        return np.cos(square(x, y))


class TestWider(KernelCase):
    waves = True

    def create(self):
        return Wider(width=0.5)

    def evaluate(self, x, y):
        return np.exp(-square(x, y) / 2)


class TestSquared(KernelCase):
    profiled = False

    def create(self):
        return Squared(width=1.0)

    def evaluate(self, x, y):
        return np.exp(-square(x, y))


class TestShifted(KernelCase):
    profiled = False

    def create(self):
        return Shifted(width=1.0)

    def evaluate(self, x, y):
        return np.exp(-square(x, y) / 2) + 1


class TestAgain(KernelCase):
    waves = True

    def create(self):
        return Again(width=1.0)

    def evaluate(self, x, y):
        return np.exp(-square(x, y))


def test_every_formula_goes_with_the_values():
    """A subclass of a sum, or of the Laplacian kernel, that changes the values has no inherited formula either."""

    class Doubled(Sum):
        def _tile(self, left, right):
            return 2 * super()._tile(left, right)

    class Steeper(Laplacian):
        def _tile(self, left, right):
            return super()._tile(left, right) ** 2

    assert Sum(RBF(1.0), Linear()).profiles() is not None
    assert Doubled(RBF(1.0), Linear()).profiles() is None
    assert Laplacian(1.0).frequencies(2, 3, np.random.default_rng(0)) is not None
    assert Steeper(1.0).frequencies(2, 3, np.random.default_rng(0)) is None


@pytest.mark.parametrize("kernel", [Wider(1.0), Squared(1.0), Waves()])
def test_neighbours_follow_the_formula(kernel):
    """The neighbour graph weighs its edges by the kernel's own values, whichever way they were written."""
    X = rows()[3:]
    W = NeighborGraph(3, kernel=kernel).fit(X)(X).toarray()
    K = kernel(X) - 9 * np.eye(len(X))
    named = np.zeros_like(K, bool)
    np.put_along_axis(named, np.argsort(-K, axis=1)[:, :3], True, axis=1)
    np.testing.assert_allclose(W, np.where(named | named.T, K, 0), atol=1e-12)


# Wider(w) is RBF(2 w). Every user of a kernel must see the formula that the subclass has, not that of its base.


def test_hsic_follows_the_formula():
    """HSIC under a subclass of RBF is that of the subclass's matrix, also where its values are written instead."""
    rng = np.random.default_rng(0)
    X = rng.standard_normal((40, 3))
    Y = X[:, :1] + 0.3 * rng.standard_normal((40, 1))
    H = np.eye(40) - 1 / 40
    L = H @ RBF(1.0)(Y) @ H
    for kernel, K in (
        (Wider(0.7), np.exp(-(cdist(X, X) ** 2) / (8 * 0.7**2))),
        (Squared(1.0), np.exp(-(cdist(X, X) ** 2))),
    ):
        np.testing.assert_allclose(kernel(X), K, atol=1e-12)
        assert hsic(X, Y, kernel_x=kernel, kernel_y=RBF(1.0)) == pytest.approx(np.sum(K * L) / 39**2, rel=1e-9)


def test_dimension_reduction_follows_the_formula():
    """The dependence solver climbs the objective of the subclass, and refuses one that has values but no formula."""
    rng = np.random.default_rng(0)
    X = rng.standard_normal((60, 4))
    y = (X[:, 1] + 0.2 * rng.standard_normal(60) > 0).astype(int)
    weights = PairWeights.of_labels(y)
    result = ism(X, weights, Wider(0.7), n_components=2)
    same = ism(X, weights, RBF(1.4), n_components=2)
    assert result.objective == pytest.approx(same.objective, rel=1e-8)
    assert result.objective != pytest.approx(ism(X, weights, RBF(0.7), n_components=2).objective, rel=1e-3)
    found, expected = (DependenceReduction(2, kernel=kernel).fit(X, y) for kernel in (Wider(0.7), RBF(1.4)))
    assert found.objective_ == pytest.approx(expected.objective_, rel=1e-8)
    np.testing.assert_allclose(found.transform(X), expected.transform(X), atol=1e-5)
    with pytest.raises(ValueError, match="is not a smooth function"):
        DependenceReduction(2, kernel=Squared(1.0)).fit(X, y)


def test_fourier_features_follow_the_formula():
    """Waves of a subclass approximate the subclass; without a formula there are none."""
    X = rows()
    waves = FourierFeatures(20_000, kernel=Wider(0.7), random_state=0).fit(X)
    np.testing.assert_allclose(waves(X), Wider(0.7)(X), atol=0.06)
    with pytest.raises(ValueError, match="no known Fourier transform"):
        FourierFeatures(10, kernel=Squared(1.0)).fit(X)


def test_a_profile_must_be_written():
    """A kernel of this kind without a formula says what is missing."""
    with pytest.raises(NotImplementedError, match=r"VectorKernel must write profile\(\)"):
        VectorKernel()(rows())


@pytest.mark.parametrize("kernel", [RBF(), Laplacian("silverman"), Cauchy("median20"), GaussianDifference()])
def test_width_rules_need_fit(kernel):
    """A width that is a rule cannot be used before fit, and the error says what to do."""
    with pytest.raises(NotFittedError, match="is a rule about the data; call fit"):
        kernel(rows())
    kernel.fit(rows())
    assert np.isfinite(kernel(rows())).all()


@pytest.mark.parametrize("kernel", [RBF(1.3), Polynomial(3)])
def test_fit_changes_nothing_when_parameters_are_numbers(kernel):
    """With all parameters given, fitting on other data does not change the kernel."""
    X = rows()
    np.testing.assert_array_equal(type(kernel)(**kernel.get_params()).fit(rows(30, seed=2))(X), kernel(X))


def test_a_failed_fit_leaves_nothing():
    """After a refused fit the kernel is as unfitted as before."""
    kernel = RBF(width=-1.0)
    with pytest.raises(ValueError, match="width"):
        kernel.fit(np.eye(3))
    assert not [name for name in vars(kernel) if name.endswith("_")]
