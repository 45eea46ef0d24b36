"""Kernels of vectors against their formulas, pair by pair, and against scikit-learn's."""

import numpy as np
import pytest
from scipy.sparse import csr_array, csr_matrix
from sklearn.exceptions import NotFittedError
from sklearn.metrics import pairwise

from gramian.kernels import (
    RBF,
    TL1,
    Cauchy,
    Cosine,
    GaussianDifference,
    Laplacian,
    Linear,
    Multiquadric,
    Polynomial,
    SquaredDistance,
    Tanh,
)


def square(x, y):
    """‖x − y‖² from the differences."""
    return sum((a - b) ** 2 for a, b in zip(x, y, strict=True))


def city(x, y):
    """‖x − y‖₁ from the differences."""
    return sum(abs(a - b) for a, b in zip(x, y, strict=True))


def cosine(x, y):
    """The cosine, zero with a zero row."""
    lengths = np.sqrt((x @ x) * (y @ y))
    return x @ y / lengths if lengths else 0.0


TEXTBOOK = [
    (Linear(), lambda x, y: x @ y),
    (Polynomial(), lambda x, y: (x @ y + 1) ** 2),
    (Polynomial(degree=3, offset=0.5), lambda x, y: (x @ y + 0.5) ** 3),
    (Polynomial(degree=1, offset=0), lambda x, y: x @ y),
    (Tanh(slope=0.3, offset=-0.2), lambda x, y: np.tanh(0.3 * (x @ y) - 0.2)),
    (Cosine(), cosine),
    (RBF(width=1.3), lambda x, y: np.exp(-square(x, y) / (2 * 1.3**2))),
    (Cauchy(width=0.8), lambda x, y: 1 / (1 + square(x, y) / 0.8**2)),
    (
        GaussianDifference(width=0.7, ratio=3.0, weight=0.4),
        lambda x, y: np.exp(-square(x, y) / (2 * 0.7**2)) - 0.4 * np.exp(-square(x, y) / (2 * 2.1**2)),
    ),
    (SquaredDistance(), lambda x, y: -square(x, y)),
    (Multiquadric(offset=0.6), lambda x, y: -np.sqrt(square(x, y) + 0.36)),
    (Laplacian(width=1.7), lambda x, y: np.exp(-city(x, y) / 1.7)),
    (TL1(radius=2.5), lambda x, y: max(2.5 - city(x, y), 0.0)),
]
every_kernel = pytest.mark.parametrize(("kernel", "formula"), TEXTBOOK, ids=[repr(kernel) for kernel, _ in TEXTBOOK])


def rows(n=19, d=4, seed=0):
    """Reproducible rows with a duplicate and a zero row."""
    X = np.random.default_rng(seed).standard_normal((n, d))
    X[1] = X[0]
    X[2] = 0
    return X


def block(formula, X, Y):
    """All pairs, one at a time, in float64."""
    return np.array([[formula(x, y) for y in Y.astype(np.float64)] for x in X.astype(np.float64)])


@every_kernel
def test_formula(kernel, formula):
    """Every kernel is its formula, on X with itself and on X with Y."""
    X, Y = rows(), rows(7, seed=1)
    np.testing.assert_allclose(kernel(X), block(formula, X, X), rtol=0, atol=1e-12)
    np.testing.assert_allclose(kernel(X, Y), block(formula, X, Y), rtol=0, atol=1e-12)
    assert kernel(X, Y).shape == (19, 7)


@every_kernel
def test_fit_changes_nothing_when_parameters_are_numbers(kernel, formula):
    """With all parameters given, fitting on other data does not change the kernel."""
    X = rows()
    fitted = type(kernel)(**kernel.get_params()).fit(rows(30, seed=2))
    np.testing.assert_array_equal(fitted(X), kernel(X))
    assert fitted.n_features_in_ == 4


@every_kernel
def test_symmetric_with_exact_diagonal(kernel, formula):
    """K(X) is symmetric to the last bit and its diagonal is diagonal(X), which is the formula."""
    X = rows(40)
    K = kernel(X)
    np.testing.assert_array_equal(K, K.T)
    np.testing.assert_array_equal(np.diag(K), kernel.diagonal(X))
    np.testing.assert_allclose(kernel.diagonal(X), [formula(x, x) for x in X], atol=1e-12)


@every_kernel
def test_definite_kernels_have_no_negative_eigenvalue(kernel, formula):
    """Kernels that call themselves definite are positive semi-definite on every sample tried."""
    for seed in range(3):
        values = np.linalg.eigvalsh(kernel(rows(30, seed=seed)))
        if kernel.definite:
            assert values[0] > -1e-12 * values[-1]


@pytest.mark.parametrize("kernel", [Tanh(), SquaredDistance(), Multiquadric(), TL1(1.0), GaussianDifference(1.0)])
def test_indefinite_kernels_say_so(kernel):
    """Kernels with negative eigenvalues on some sample do not claim to be definite."""
    smallest = [np.linalg.eigvalsh(kernel(rows(30, 2, seed)))[0] for seed in range(3)]
    assert min(smallest) < -1e-6
    assert not kernel.definite


@every_kernel
def test_float32_stays_float32(kernel, formula):
    """Single precision in, single precision out, close to the formula in double."""
    X, Y = rows().astype(np.float32), rows(7, seed=1).astype(np.float32)
    for out, expected in ((kernel(X), block(formula, X, X)), (kernel(X, Y), block(formula, X, Y))):
        assert out.dtype == np.float32
        np.testing.assert_allclose(out, expected, atol=2e-5 * np.abs(expected).max())
    assert kernel.diagonal(X).dtype == np.float32
    assert kernel.gram(X).dtype == np.float32
    assert kernel.product(X, Y, np.ones((7, 2))).dtype == np.float32


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize(
    ("kernel", "formula"),
    [pair for pair in TEXTBOOK if isinstance(pair[0], (RBF, Cauchy, Laplacian, TL1, Multiquadric, SquaredDistance))],
    ids=lambda value: repr(value) if not callable(value) or hasattr(value, "fit") else "",
)
def test_far_from_the_origin(kernel, formula, dtype):
    """Kernels of distances are accurate for rows at 10⁴ with distances of about 1, also in single precision."""
    X = (rows() + 1e4).astype(dtype)
    expected = block(formula, X, X)
    accuracy = 2e-6 if dtype == np.float32 else 1e-11
    np.testing.assert_allclose(kernel(X), expected, atol=accuracy * max(1, np.abs(expected).max()))
    np.testing.assert_allclose(kernel(X, X[:5]), expected[:, :5], atol=accuracy * max(1, np.abs(expected).max()))


@every_kernel
@pytest.mark.parametrize("kind", [csr_array, csr_matrix])
def test_sparse_rows(kernel, formula, kind):
    """Sparse rows give the dense result where they are accepted, and a clear refusal where not."""
    X, Y = np.maximum(rows(), 0), np.maximum(rows(7, seed=1), 0)
    if not kernel.accepts_sparse:
        with pytest.raises(TypeError, match="dense data is required"):
            kernel(kind(X))
        return
    np.testing.assert_allclose(kernel(kind(X)), block(formula, X, X), atol=1e-12)
    for left, right in ((kind(X), kind(Y)), (X, kind(Y)), (kind(X), Y)):
        out = kernel(left, right)
        assert isinstance(out, np.ndarray)
        np.testing.assert_allclose(out, block(formula, X, Y), atol=1e-12)
    np.testing.assert_allclose(kernel.diagonal(kind(X)), [formula(x, x) for x in X], atol=1e-12)
    assert kernel(kind(X.astype(np.float32))).dtype == np.float32


@pytest.mark.parametrize(
    ("kernel", "peer"),
    [
        (Linear(), pairwise.linear_kernel),
        (Polynomial(3, 2.0), lambda X, Y: pairwise.polynomial_kernel(X, Y, degree=3, gamma=1, coef0=2)),
        (Tanh(0.5, 0.1), lambda X, Y: pairwise.sigmoid_kernel(X, Y, gamma=0.5, coef0=0.1)),
        (RBF(0.9), lambda X, Y: pairwise.rbf_kernel(X, Y, gamma=1 / (2 * 0.9**2))),
        (Laplacian(0.9), lambda X, Y: pairwise.laplacian_kernel(X, Y, gamma=1 / 0.9)),
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


@pytest.mark.parametrize("kernel", [Linear(), Cosine(), 2.5 * Cosine(), Linear() + Cosine(), Linear() + 0.5 * Linear()])
@pytest.mark.parametrize("kind", [np.asarray, csr_array])
def test_features(kernel, kind):
    """F Fᵀ = K for kernels with features, dense and sparse, in both precisions."""
    X = rows()
    for dtype, accuracy in ((np.float64, 1e-12), (np.float32, 1e-5)):
        F = kernel.features(kind(X.astype(dtype)))
        assert F.dtype == dtype
        assert kernel.has_features
        F = F.toarray() if kind is csr_array else F
        np.testing.assert_allclose(F @ F.T, kernel(X), atol=accuracy)


@pytest.mark.parametrize("kernel", [RBF(1.0), Polynomial(), RBF(1.0) + Linear(), 2.0 * RBF(1.0), Linear() * Linear()])
def test_no_features(kernel):
    """Kernels without finite features say so and name the approximation."""
    assert not kernel.has_features
    with pytest.raises(TypeError, match=r"has no finite features; approximate it with gramian\.Nystroem"):
        kernel.features(rows())


def test_a_zero_row_has_no_cosine():
    """A zero row is like nothing, not even itself."""
    K = Cosine()(rows())
    np.testing.assert_array_equal(K[2], 0)
    np.testing.assert_allclose(np.delete(np.diag(K), 2), 1, atol=1e-15)


def test_tl1_default_radius():
    """The radius of TL1 is 0.7 times the number of features unless given, and needs fit to know it."""
    X = np.random.default_rng(0).random((12, 5))
    np.testing.assert_allclose(TL1().fit(X)(X), block(lambda x, y: max(3.5 - city(x, y), 0.0), X, X), atol=1e-12)
    with pytest.raises(NotFittedError, match="radius=None depends on the data; call fit"):
        TL1()(X)


@pytest.mark.parametrize("kernel", [RBF(), Laplacian("silverman"), Cauchy("median20"), GaussianDifference()])
def test_width_rules_need_fit(kernel):
    """A width that is a rule cannot be used before fit, and the error says what to do."""
    with pytest.raises(NotFittedError, match="is a rule about the data; call fit"):
        kernel(rows())
    kernel.fit(rows())
    assert np.isfinite(kernel(rows())).all()


@pytest.mark.parametrize(
    ("kernel", "message"),
    [
        (RBF(width=0), "width=0 must be positive"),
        (RBF(width=-1.0), "width=-1.0 must be positive"),
        (RBF(width=np.nan), "width=nan must be positive"),
        (RBF(width="wide"), "width='wide' is neither a positive number nor a rule"),
        (RBF(width=None), "width=None is neither"),
        (Cauchy(width=True), "width=True is neither"),
        (Laplacian(width=np.inf), "width=inf must be positive and finite"),
        (Polynomial(degree=0), "degree=0 must be a whole number >= 1"),
        (Polynomial(degree=1.5), "degree=1.5 must be a whole number"),
        (Polynomial(offset=-1), "offset=-1 must be a finite number >= 0"),
        (Tanh(slope="x"), "slope='x' must be a finite number"),
        (Tanh(offset=np.inf), "offset=inf must be a finite number"),
        (GaussianDifference(1.0, ratio=1.0), "ratio=1.0 must be a finite number > 1"),
        (GaussianDifference(1.0, weight=-0.1), "weight=-0.1 must be a finite number >= 0"),
        (Multiquadric(offset=0), "offset=0 must be a finite number > 0"),
        (TL1(radius=-2), "radius=-2 must be a finite number > 0"),
    ],
)
def test_bad_parameters(kernel, message):
    """A bad parameter is refused at fit by name, with its value and what is allowed."""
    with pytest.raises(ValueError) as caught:
        kernel.fit(rows())
    assert message in str(caught.value)


@every_kernel
def test_bad_data(kernel, formula):
    """NaN, infinity, a flat array and another number of features than at fit are refused."""
    X = rows()
    fitted = type(kernel)(**kernel.get_params()).fit(X)
    with pytest.raises(ValueError, match="expecting 4 features"):
        fitted(X[:, :3])
    for bad in (np.nan, np.inf):
        X = rows()
        X[3, 1] = bad
        with pytest.raises(ValueError, match=r"contains NaN|contains infinity"):
            kernel(X)
    with pytest.raises(ValueError, match="Expected 2D array"):
        kernel(np.ones(4))


def test_data_are_not_changed():
    """No kernel writes into the rows it is given."""
    for kernel, _ in TEXTBOOK:
        X, Y = rows(), rows(7, seed=1)
        before = X.copy(), Y.copy()
        kernel(X), kernel(X, Y), kernel.diagonal(X), kernel.product(X, Y, np.ones((7, 1))), kernel.gram(X).degrees()
        np.testing.assert_array_equal(X, before[0])
        np.testing.assert_array_equal(Y, before[1])


def test_overflow_is_refused_by_name():
    """Data too large for the dtype are an error that says to scale, not NaN."""
    with pytest.raises(ValueError, match=r"overflows float64 .* scale the columns"):
        Polynomial(3)(np.array([[1e120, 0.0]]))
    with pytest.raises(ValueError, match="overflow float32; scale the columns"):
        RBF(1.0)(np.array([[1e25, 0.0], [0.0, 0.0]], np.float32))
