"""Grams held as full matrices: positive, indefinite, singular, with repeated eigenvalues, in both precisions."""

import numpy as np

from gramian.grams import DenseGram
from grams.gram_case import FEW_VIEWS, GramCase


def points(n, d=3, seed=0):
    """Reproducible rows."""
    return np.random.default_rng(seed).standard_normal((n, d))


def gaussian(X, width=1.0):
    """exp(−‖x−y‖²/(2 width²)) from the differences themselves."""
    X = X.astype(np.float64)
    return np.exp(-((X[:, None] - X[None]) ** 2).sum(axis=2) / (2 * width**2))


class TestPositive(GramCase):
    """A Gaussian kernel matrix."""

    def create(self):
        return DenseGram(self.evaluate())

    def evaluate(self):
        return gaussian(points(41), width=0.7)


class TestPositiveFloat32(TestPositive):
    """The same in single precision."""

    views = FEW_VIEWS

    dtype = np.float32

    def create(self):
        return DenseGram(self.evaluate().astype(np.float32))


class TestPositiveLarge(TestPositive):
    """Large enough that "auto" iterates."""

    orders = ("largest", "magnitude")
    lapack_size = 60
    views = FEW_VIEWS

    def evaluate(self):
        return gaussian(points(130), width=0.4)


class TestPositiveLargeFloat32(TestPositiveFloat32):
    """The iteration in single precision."""

    lapack_size = 60
    views = FEW_VIEWS

    def evaluate(self):
        return gaussian(points(130), width=0.4)


class TestIndefinite(GramCase):
    """A random symmetric matrix with as many negative as positive eigenvalues."""

    n = 40

    def create(self):
        return DenseGram(self.evaluate())

    def evaluate(self):
        A = points(self.n, self.n, seed=1)
        return A + A.T


class TestIndefiniteLarge(TestIndefinite):
    """An indefinite matrix of which "auto" finds both ends by iteration."""

    views = FEW_VIEWS

    lapack_size = 60
    n = 110


class TestRepeatedEigenvalues(GramCase):
    """Eigenvalues 5, 5, 5, 2, 2 and zeros: as many copies as the matrix has must come."""

    n = 38

    def create(self):
        return DenseGram(self.evaluate())

    def evaluate(self):
        Q = np.linalg.qr(points(self.n, self.n, seed=2))[0]
        values = np.zeros(self.n)
        values[:5] = 5, 5, 5, 2, 2
        K = (Q * values) @ Q.T
        return (K + K.T) / 2


class TestRepeatedEigenvaluesLarge(TestRepeatedEigenvalues):
    """The same for the iteration."""

    views = FEW_VIEWS

    lapack_size = 60
    n = 120


def test_the_matrix_is_kept_by_reference():
    """A DenseGram does not copy the n×n matrix it is given."""
    K = gaussian(points(20))
    assert DenseGram(K).matrix is K


def test_one_sample():
    """A single sample has one eigenpair, and its centred Gram is zero."""
    gram = DenseGram(np.array([[4.0]]))
    values, vectors = gram.eigenpairs(1)
    np.testing.assert_allclose(values, [4.0])
    np.testing.assert_allclose(vectors, [[1.0]])
    np.testing.assert_allclose(gram.centered().dense(), [[0.0]])
    np.testing.assert_allclose(gram.normalized().dense(), [[1.0]])
