"""The normalised kernel and distances in feature space, against their definitions."""

import numpy as np
import pytest
from scipy.sparse import csr_array

from gramian import Nystroem
from gramian.kernels import (
    RBF,
    TL1,
    Cosine,
    Linear,
    NeighborGraph,
    Normalized,
    Polynomial,
    Precomputed,
    RelativeRBF,
    Tanh,
    feature_distance,
)
from kernels.kernel_case import KernelCase, rows, square


class TestNormalizedPolynomial(KernelCase):
    profiled = False

    def create(self):
        return Normalized(Polynomial(degree=3, offset=0.5))

    def evaluate(self, x, y):
        return (x @ y + 0.5) ** 3 / np.sqrt((x @ x + 0.5) ** 3 * (y @ y + 0.5) ** 3)


class TestNormalizedRBF(KernelCase):
    """A kernel of the distance changes by a factor only, so its profile and waves stay."""

    waves = True
    shift_invariant = True

    def create(self):
        return Normalized(3.0 * RBF(width=1.5))

    def evaluate(self, x, y):
        return np.exp(-square(x, y) / (2 * 1.5**2))

    def test_frequencies(self, kernel, X):
        """A multiple passes no frequencies on, its kernel does."""
        assert kernel.frequencies(4, 5, np.random.default_rng(0)) is None
        self.create = lambda: Normalized(RBF(width=1.5))
        super().test_frequencies(Normalized(RBF(width=1.5)).fit(X), X)


class TestNormalizedLinear(KernelCase):
    """The normalised linear kernel is the cosine, with features, also of sparse rows; zero rows stay zero."""

    profiled = False

    def create(self):
        return Normalized(Linear())

    def evaluate(self, x, y):
        length = np.linalg.norm(x) * np.linalg.norm(y)
        return x @ y / length if length else 0.0

    def test_is_the_cosine(self, kernel, X):
        np.testing.assert_allclose(kernel.features(X), Cosine().features(X), atol=1e-15)
        assert kernel.has_features


def test_normalized_landmarks():
    """Features of landmarks are normalised; those that count negative are refused where k(x, x) < 0."""
    X = rows(60, 3)
    kernel = Normalized(Nystroem(20, kernel=RBF(width=1.0), random_state=0)).fit(X)
    F = kernel.features(X)
    np.testing.assert_allclose((F**2).sum(axis=1), 1)
    np.testing.assert_allclose(kernel(X), F @ F.T, atol=1e-12)
    assert kernel.gram(X).factor is not None


def test_normalized_refuses_what_has_no_angle():
    """k(x, x) < 0 has no root; a class, a matrix and a graph are no kernel to change."""
    with pytest.raises(ValueError, match=r"gives k\(x, x\) = -0.762 for row 0, so there is no angle"):
        Normalized(Tanh(slope=-1.0))([[1.0]])
    for bad in (RBF, "rbf", Precomputed(), NeighborGraph()):
        with pytest.raises(ValueError, match=r"kernel="):
            Normalized(bad).fit(rows())


def test_normalized_says_what_its_kernel_is():
    """Definiteness and holes are those of the inner kernel."""
    assert not Normalized(TL1(radius=1.0)).definite
    assert Normalized(RBF()).definite
    assert Normalized(RelativeRBF()).fit(rows()).profiles() is None


@pytest.mark.parametrize("kernel", [RBF(width=1.2), Polynomial(2), Linear()], ids=repr)
def test_distance_is_the_formula(kernel):
    """‖φ(x) − φ(y)‖² = k(x, x) + k(y, y) − 2 k(x, y), one pair at a time; zero on the diagonal."""
    X, Y = rows(12), rows(7, seed=1)
    for right, other in ((None, X), (Y, Y)):
        out = feature_distance(kernel, X, right, squared=True)
        for i, x in enumerate(X):
            for j, y in enumerate(other):
                expected = kernel([x])[0, 0] + kernel([y])[0, 0] - 2 * kernel([x], [y])[0, 0]
                assert out[i, j] == pytest.approx(expected, abs=1e-10)
        np.testing.assert_allclose(feature_distance(kernel, X, right), np.sqrt(out))
    assert not np.diag(feature_distance(kernel, X)).any()


def test_linear_distance_is_euclidean_also_sparse():
    """In the linear kernel's feature space distances are those of the rows."""
    X, Y = np.maximum(rows(12), 0), np.maximum(rows(7, seed=1), 0)
    expected = np.linalg.norm(X[:, None] - Y, axis=2)
    np.testing.assert_allclose(feature_distance("linear", X, Y), expected, atol=1e-7)
    np.testing.assert_allclose(feature_distance(Linear(), csr_array(X), csr_array(Y)), expected, atol=1e-7)
    assert feature_distance(Linear(), X.astype(np.float32)).dtype == np.float32


def test_indefinite_distances_keep_their_sign():
    """Where the squared distance is negative it is returned so, and its root with its sign."""
    X = 2 * rows(30)
    kernel = Tanh()
    K = kernel(X)
    expected = np.diag(K)[:, None] + np.diag(K) - 2 * K
    assert expected.min() < -1e-3
    np.testing.assert_allclose(feature_distance(kernel, X, squared=True), expected, atol=1e-14)
    signed = feature_distance(kernel, X)
    np.testing.assert_allclose(signed * np.abs(signed), expected, atol=1e-14)


def test_distances_of_similarities():
    """A precomputed matrix gives distances among its samples, and none to others; a graph gives none."""
    X = rows(10)
    K = RBF(width=1.0)(X)
    np.testing.assert_allclose(feature_distance("precomputed", K), np.sqrt(np.maximum(2 - 2 * K, 0)), atol=1e-7)
    with pytest.raises(ValueError, match="pass Y=None"):
        feature_distance(Precomputed().fit(K), K, K[:3])
    with pytest.raises(ValueError, match="sparse graph"):
        feature_distance("neighbors", X)
