"""The kernels of smooth profiles against their formulas, pair by pair, and against scikit-learn's."""

import numpy as np
import pytest
from scipy.sparse import csr_array
from sklearn.exceptions import NotFittedError
from sklearn.gaussian_process.kernels import RationalQuadratic as PeerRationalQuadratic

from gramian.kernels import (
    RBF,
    ExponentialProduct,
    InverseMultiquadric,
    ProfileKernel,
    RationalQuadratic,
    RelativeRBF,
    as_kernel,
)


def rows(n=19, d=4, seed=0):
    """Reproducible rows with a duplicate."""
    X = np.random.default_rng(seed).standard_normal((n, d))
    X[1] = X[0]
    return X


def square(x, y):
    """‖x − y‖² from the differences."""
    return sum((a - b) ** 2 for a, b in zip(x, y, strict=True))


TEXTBOOK = [
    (InverseMultiquadric(offset=0.6), lambda x, y: (square(x, y) + 0.36) ** -0.5),
    (RationalQuadratic(width=0.9, exponent=1.7), lambda x, y: (1 + square(x, y) / (2 * 1.7 * 0.81)) ** -1.7),
    (ExponentialProduct(width=2.0), lambda x, y: np.exp(x @ y / 4)),
    (ProfileKernel(lambda b: 1 / (1 + b), lambda b: -((1 + b) ** -2)), lambda x, y: 1 / (1 + square(x, y))),
    (ProfileKernel(np.cosh, np.sinh, kind="inner"), lambda x, y: np.cosh(x @ y)),
]
every_kernel = pytest.mark.parametrize(
    ("kernel", "formula"), TEXTBOOK, ids=[type(kernel).__name__ for kernel, _ in TEXTBOOK]
)


def block(formula, X, Y):
    """All pairs, one at a time, in float64."""
    return np.array([[formula(x, y) for y in Y.astype(np.float64)] for x in X.astype(np.float64)])


@every_kernel
def test_formula(kernel, formula):
    """Every kernel is its formula, symmetric to the last bit, with its diagonal, sparse rows as dense ones."""
    X, Y = rows(), rows(7, seed=1)
    K = kernel(X)
    np.testing.assert_allclose(K, block(formula, X, X), rtol=1e-11, atol=1e-12)
    np.testing.assert_allclose(kernel(X, Y), block(formula, X, Y), rtol=1e-11, atol=1e-12)
    np.testing.assert_array_equal(K, K.T)
    np.testing.assert_array_equal(np.diag(K), kernel.diagonal(X))
    np.testing.assert_allclose(kernel(csr_array(X), csr_array(Y)), kernel(X, Y), atol=1e-11)
    single = kernel(X.astype(np.float32))
    assert single.dtype == np.float32
    np.testing.assert_allclose(single, K, rtol=2e-4)


@pytest.mark.parametrize("kernel", [InverseMultiquadric(0.5), RationalQuadratic(0.7, 0.4), ExponentialProduct(2.0)])
def test_definite_kernels_have_no_negative_eigenvalue(kernel):
    """Kernels that call themselves definite are positive semi-definite on every sample tried."""
    assert kernel.definite
    for seed in range(3):
        values = np.linalg.eigvalsh(kernel(rows(30, seed=seed)))
        assert values[0] > -1e-12 * values[-1]


def test_scikit_learn_agrees():
    """The rational quadratic is scikit-learn's, and tends to the Gaussian with its exponent."""
    X, Y = rows(), rows(7, seed=1)
    peer = PeerRationalQuadratic(length_scale=0.9, alpha=1.7)
    np.testing.assert_allclose(RationalQuadratic(0.9, 1.7)(X, Y), peer(X, Y), rtol=1e-12)
    np.testing.assert_allclose(RationalQuadratic(1.3, 1e9)(X), RBF(1.3)(X), rtol=1e-7)


def test_exponential_product_is_an_unnormalised_gaussian():
    """exp(x·y/w²) is the Gaussian times exp(‖x‖²/2w²) of both sides."""
    X = rows()
    lengths = np.exp((X**2).sum(axis=1) / (2 * 1.5**2))
    np.testing.assert_allclose(ExponentialProduct(1.5)(X), RBF(1.5)(X) * np.outer(lengths, lengths), rtol=1e-10)


def relative_widths(X, training, m):
    """w(x) by sorting all distances to distinct rows."""
    distinct = np.unique(training, axis=0)
    out = []
    for x in X:
        r = np.sort(np.sqrt(((distinct - x) ** 2).sum(axis=1)))
        r = r[r > 0][:m]
        out.append(np.sqrt(r.sum() / (1 / r).sum()))
    return np.array(out)


@pytest.mark.parametrize("m", [1, 5, 17])
def test_relative_widths(m):
    """The widths are those of the m nearest distinct rows, for training rows and new ones, copies not counted."""
    X, Y = rows(), rows(7, seed=1)
    kernel = RelativeRBF(m).fit(X)
    own = relative_widths(X, X, m)
    np.testing.assert_allclose(kernel.widths_, own, rtol=1e-12)
    for found, left, right in ((kernel(X), own, own), (kernel(X, Y), own, relative_widths(Y, X, m))):
        other = X if found.shape[1] == len(X) else Y
        expected = np.exp(-block(square, X, other) / (2 * np.outer(left, right)))
        np.testing.assert_allclose(found, expected, atol=1e-10)
    np.testing.assert_array_equal(kernel.diagonal(X), 1)


def test_relative_widths_follow_the_density():
    """Rows in a dense region have smaller widths; scaling the data scales the widths and leaves the kernel."""
    rng = np.random.default_rng(0)
    X = np.vstack([0.1 * rng.normal(size=(30, 2)), 5 + rng.normal(size=(30, 2))])
    kernel = RelativeRBF(10).fit(X)
    assert kernel.widths_[:30].max() < kernel.widths_[30:].min()
    scaled = RelativeRBF(10).fit(7 * X)
    np.testing.assert_allclose(scaled.widths_, 7 * kernel.widths_, rtol=1e-10)
    np.testing.assert_allclose(scaled(7 * X), kernel(X), atol=1e-10)


def test_bad_parameters():
    """What cannot be used is refused by name."""
    X = rows()
    for kernel, message in (
        (InverseMultiquadric(0.0), "offset=0.0"),
        (RationalQuadratic(1.0, -1.0), "exponent=-1.0"),
        (ExponentialProduct(-1.0), "width=-1.0"),
        (RelativeRBF(0), "n_neighbors=0"),
        (ProfileKernel(None, np.sin), "value=None"),
        (ProfileKernel(np.sin, np.cos, kind="angle"), "kind='angle'"),
    ):
        with pytest.raises(ValueError, match=message):
            kernel.fit(X)
    with pytest.raises(ValueError, match="all rows of X are equal"):
        RelativeRBF().fit(np.ones((5, 2)))
    with pytest.raises(ValueError, match="return one like it"):
        ProfileKernel(lambda b: b[:1], np.cos)(X)
    with pytest.raises(ValueError, match="overflows float64"):
        ExponentialProduct(0.01)(10 * X)
    with pytest.raises(NotFittedError):
        RelativeRBF()(X)


@pytest.mark.parametrize("name", ["inverse_multiquadric", "rational_quadratic", "exponential_product", "relative_rbf"])
def test_names(name):
    """The kernels can be asked for by name."""
    kernel = as_kernel(name).fit(rows())
    assert np.all(np.isfinite(kernel(rows())))
