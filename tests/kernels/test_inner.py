"""Kernels of the inner product against their formulas, and against scikit-learn's."""

import dask
import numpy as np
import pytest
from sklearn.metrics import pairwise

from gramian import KernelPCA
from gramian.kernels import RBF, Cosine, ExponentialProduct, Linear, Polynomial, Tanh
from kernels.kernel_case import KernelCase, rows


class TestLinear(KernelCase):
    def create(self):
        return Linear()

    def evaluate(self, x, y):
        return x @ y


class TestPolynomial(KernelCase):
    def create(self):
        return Polynomial()

    def evaluate(self, x, y):
        return (x @ y + 1) ** 2


class TestCubicPolynomial(KernelCase):
    def create(self):
        return Polynomial(degree=3, offset=0.5)

    def evaluate(self, x, y):
        return (x @ y + 0.5) ** 3


class TestPolynomialOfFirstDegree(KernelCase):
    def create(self):
        return Polynomial(degree=1, offset=0)

    def evaluate(self, x, y):
        return x @ y


class TestPolynomialOfHighDegree(KernelCase):
    single_accuracy = 1e-4

    def create(self):
        return Polynomial(degree=11, offset=2)

    def evaluate(self, x, y):
        return (x @ y + 2) ** 11


class TestTanh(KernelCase):
    def create(self):
        return Tanh(slope=0.3, offset=-0.2)

    def evaluate(self, x, y):
        return np.tanh(0.3 * (x @ y) - 0.2)


class TestExponentialProduct(KernelCase):
    def create(self):
        return ExponentialProduct(width=2.0)

    def evaluate(self, x, y):
        return np.exp(x @ y / 4)


class TestCosine(KernelCase):
    profiled = False

    def create(self):
        return Cosine()

    def evaluate(self, x, y):
        lengths = np.sqrt((x @ x) * (y @ y))
        return x @ y / lengths if lengths else 0.0


@pytest.mark.parametrize(
    ("kernel", "peer"),
    [
        (Linear(), pairwise.linear_kernel),
        (Polynomial(3, 2.0), lambda X, Y: pairwise.polynomial_kernel(X, Y, degree=3, gamma=1, coef0=2)),
        (Tanh(0.5, 0.1), lambda X, Y: pairwise.sigmoid_kernel(X, Y, gamma=0.5, coef0=0.1)),
        (Cosine(), pairwise.cosine_similarity),
    ],
    ids=lambda value: repr(value) if hasattr(value, "fit") else "",
)
def test_scikit_learn_agrees(kernel, peer):
    """Where scikit-learn has the kernel, both agree."""
    X, Y = rows(50, 6), rows(33, 6, seed=1)
    np.testing.assert_allclose(kernel(X, Y), peer(X, Y), atol=1e-12, rtol=1e-12)


def test_quadratic_features():
    """(1 + x·y)² in two dimensions is the inner product of the six explicit quadratic features."""
    X = rows(d=2)
    a, b = X.T
    phi = np.stack([np.ones_like(a), 2**0.5 * a, 2**0.5 * b, 2**0.5 * a * b, a**2, b**2], axis=1)
    np.testing.assert_allclose(Polynomial(2)(X), phi @ phi.T, atol=1e-12)


def test_exponential_product_is_an_unnormalised_gaussian():
    """exp(x·y/w²) is the Gaussian times exp(‖x‖²/2w²) of both sides."""
    X = rows()
    lengths = np.exp((X**2).sum(axis=1) / (2 * 1.5**2))
    np.testing.assert_allclose(ExponentialProduct(1.5)(X), RBF(1.5)(X) * np.outer(lengths, lengths), rtol=1e-10)


def test_a_zero_row_has_no_cosine():
    """A zero row is like nothing, not even itself."""
    K = Cosine()(rows())
    np.testing.assert_array_equal(K[2], 0)
    np.testing.assert_allclose(np.delete(np.diag(K), 2), 1, atol=1e-15)


@pytest.mark.parametrize("scale", [1e-200, 1e200])
def test_cosine_at_any_scale(scale):
    """The cosine of rows whose squares leave the range of floats is still the cosine."""
    X = np.array([[1.0, 0.0], [1.0, 1.0]])
    np.testing.assert_allclose(Cosine()(X * scale), Cosine()(X), atol=1e-12)


def test_indefinite_kernels_say_so():
    """The hyperbolic tangent has negative eigenvalues on some sample and does not claim to be definite."""
    assert min(np.linalg.eigvalsh(Tanh()(rows(30, 2, seed)))[0] for seed in range(3)) < -1e-6
    assert not Tanh().definite


@pytest.mark.parametrize(
    ("kernel", "message"),
    [
        (Polynomial(degree=0), "degree=0 must be a whole number >= 1"),
        (Polynomial(degree=1.5), "degree=1.5 must be a whole number"),
        (Polynomial(degree=True), "degree=True must be a whole number"),
        (Polynomial(offset=-1), "offset=-1 must be a finite number >= 0"),
        (Tanh(slope="x"), "slope='x' must be a finite number"),
        (Tanh(offset=np.inf), "offset=inf must be a finite number"),
        (ExponentialProduct(-1.0), "width=-1.0 must be positive"),
    ],
)
def test_bad_parameters(kernel, message):
    """A bad parameter is refused at fit by name, with its value and what is allowed."""
    with pytest.raises(ValueError) as caught:
        kernel.fit(rows())
    assert message in str(caught.value)


def test_overflow_is_refused_by_name():
    """Data too large for the dtype are an error that says to scale, not NaN."""
    with pytest.raises(ValueError, match=r"overflows float64 .* scale the columns"):
        Polynomial(3)(np.array([[1e120, 0.0]]))
    with pytest.raises(ValueError, match="overflows float64"):
        ExponentialProduct(0.01)(10 * rows())


@pytest.mark.parametrize(
    "kernel", [Polynomial(2), Polynomial(3, 0.5), Polynomial(2, 0.0), 2 * Polynomial(2) + Linear()]
)
@pytest.mark.parametrize("lengths", [(30,), (10, 10, 10), (0, 17, 1, 0, 12)], ids=str)
def test_monomials_hold_rows_on_workers(kernel, lengths):
    """An exact kernel PCA of rows in partitions, which have no n×n Gram."""
    da = pytest.importorskip("dask.array")
    X, new = rows(30, 4), rows(5, 4, seed=1)
    parts = np.split(X, np.cumsum(lengths)[:-1])
    parted = da.concatenate([da.from_array(part, chunks=(max(len(part), 1), 4)) for part in parts])
    with dask.config.set(scheduler="synchronous"):
        found = KernelPCA(5, kernel=kernel).fit(parted)
    expected = KernelPCA(5, kernel=kernel).fit(X)
    np.testing.assert_allclose(found.eigenvalues_, expected.eigenvalues_, rtol=1e-10)
    np.testing.assert_allclose(np.abs(found.transform(new)), np.abs(expected.transform(new)), rtol=0, atol=1e-8)


def test_too_many_monomials_are_refused_before_any_work():
    da = pytest.importorskip("dask.array")
    X = da.from_array(np.zeros((30, 40)), chunks=(10, 40))
    with (
        dask.config.set(scheduler="synchronous"),
        pytest.raises(TypeError, match=r"has 12,341 features of 40 columns, too many .* kernel=gramian\.Nystroem"),
    ):
        Polynomial(3).gram(X)


def test_monomials_are_not_those_of_another_formula():
    class Squared(Polynomial):
        def profile(self):
            return Linear().profile()

    assert not Squared().has_many_features
    with pytest.raises(TypeError, match="has no finite features"):
        Squared().features(rows(3, 2))
