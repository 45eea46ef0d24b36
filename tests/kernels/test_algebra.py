"""Sums, products and multiples of kernels, kernels on some columns, and their parameters."""

import numpy as np
import pytest
from scipy.sparse import csc_array, csr_array
from scipy.spatial.distance import pdist
from sklearn.base import clone

import gramian
from gramian.embedding import KernelPCA
from gramian.kernels import (
    RBF,
    TL1,
    ClusterKernel,
    Columns,
    Cosine,
    FunctionKernel,
    Laplacian,
    Linear,
    NeighborGraph,
    Polynomial,
    Precomputed,
    Product,
    Scaled,
    Sum,
    Tanh,
)
from gramian.landmarks import FourierFeatures
from kernels.kernel_case import KernelCase, city, square


def rows(n=23, d=3, seed=0):
    """Reproducible rows."""
    return np.random.default_rng(seed).standard_normal((n, d))


def value(kernel, x, y):
    """A combination evaluated by its definition, one pair at a time."""
    if isinstance(kernel, Sum):
        return value(kernel.first, x, y) + value(kernel.second, x, y)
    if isinstance(kernel, Product):
        return value(kernel.first, x, y) * value(kernel.second, x, y)
    if isinstance(kernel, Scaled):
        return kernel.factor * value(kernel.kernel, x, y)
    return kernel(x[None], y[None])[0, 0]


COMBINATIONS = [
    RBF(1.0) + Linear(),
    RBF(1.0) * Linear(),
    2.0 * RBF(1.0),
    RBF(1.0) * 3,
    0.0 * RBF(1.0),
    np.float64(0.5) * Laplacian(1.0),
    (RBF(1.0) + Linear()) * (0.5 * Polynomial(2) + Cosine()),
    2.0 * (3.0 * (Linear() + 0.1 * Cosine())),
    RBF(1.0) + RBF(2.0) + RBF(3.0) * RBF(0.5),
    FunctionKernel(lambda X, Y: X @ Y.T) + Tanh(),
]


@pytest.mark.parametrize("kernel", COMBINATIONS, ids=range(len(COMBINATIONS)))
def test_combinations(kernel):
    """A combination is the combination of its values, symmetric to the bit, with the diagonal and precision kept."""
    X, Y = rows(9), rows(5, seed=1)
    expected = np.array([[value(kernel, x, y) for y in np.vstack([X, Y])] for x in X])
    for fitted in (kernel, clone(kernel).fit(X)):
        K = fitted(X)
        np.testing.assert_allclose(K, expected[:, :9], atol=1e-11)
        np.testing.assert_allclose(fitted(X, Y), expected[:, 9:], atol=1e-11)
        np.testing.assert_array_equal(K, K.T)
        np.testing.assert_array_equal(np.diag(K), fitted.diagonal(X))
        assert fitted(X.astype(np.float32)).dtype == np.float32
        V = np.random.default_rng(2).standard_normal((5, 2))
        np.testing.assert_allclose(fitted.product(X, Y, V), fitted(X, Y) @ V, atol=1e-10)
        np.testing.assert_allclose(fitted.gram(X) @ np.eye(len(X)), K, atol=1e-10)


def test_rules_inside_combinations_are_resolved():
    """fit resolves the widths of parts on copies and leaves the parts as they were."""
    X = rows()
    kernel = RBF() + 2.0 * (Laplacian("median20") * RBF("silverman"))
    kernel.fit(X)
    assert kernel.first_.width_ == RBF().fit(X).width_
    assert kernel.second_.kernel_.first_.width_ == Laplacian("median20").fit(X).width_
    assert not hasattr(kernel.first, "width_")
    assert not hasattr(kernel.second.kernel.second, "width_")
    expected = RBF().fit(X)(X) + 2 * Laplacian("median20").fit(X)(X) * RBF("silverman").fit(X)(X)
    np.testing.assert_allclose(kernel(X), expected, atol=1e-13)


def test_parameters_have_nested_names():
    """get_params, set_params and clone reach into parts, as grid searches need."""
    kernel = RBF(1.0) + 2.0 * Polynomial(3)
    names = kernel.get_params()
    assert names["first__width"] == 1.0
    assert names["second__kernel__degree"] == 3
    kernel.set_params(first__width=0.25, second__factor=0.5, second__kernel__degree=2)
    X = rows()
    np.testing.assert_allclose(kernel(X), RBF(0.25)(X) + 0.5 * Polynomial(2)(X), atol=1e-12)
    copy = clone(kernel)
    assert copy is not kernel
    assert copy.first is not kernel.first
    assert repr(copy) == repr(kernel)


def test_cone_is_positive():
    """Sums, products and non-negative multiples of definite kernels are definite; one indefinite part spoils it."""
    X = rows(40)
    for kernel in (RBF(1.0) + Linear(), RBF(1.0) * Linear(), 2.0 * Laplacian(1.0), Cosine() * (Linear() + RBF(0.5))):
        assert kernel.definite
        values = np.linalg.eigvalsh(kernel(X))
        assert values[0] > -1e-12 * values[-1]
    for kernel in (RBF(1.0) + Tanh(), TL1(1.0) * Linear(), 2.0 * Tanh()):
        assert not kernel.definite


@pytest.mark.parametrize("factor", [-1.0, np.nan, np.inf])
def test_bad_factors(factor):
    """A negative or infinite multiple is refused at fit by name."""
    with pytest.raises(ValueError, match=r"factor=.* must be a finite number >= 0"):
        (factor * RBF(1.0)).fit(rows())


@pytest.mark.parametrize("other", ["rbf", None, [1.0]])
def test_only_kernels_and_numbers_combine(other):
    """Adding or multiplying anything else is a TypeError."""
    with pytest.raises(TypeError, match="unsupported operand"):
        RBF(1.0) + other
    with pytest.raises(TypeError, match=r"unsupported operand|can't multiply"):
        RBF(1.0) * other


@pytest.mark.parametrize("part", ["rbf", RBF, None])
def test_parts_must_be_kernels(part):
    """A part that is not a kernel object is refused by name."""
    for kernel, name in (
        (Sum(part, RBF(1.0)), "first"),
        (Product(RBF(1.0), part), "second"),
        (Scaled(2, part), "kernel"),
    ):
        with pytest.raises(ValueError, match=f"{name}=.* must be a kernel object such as RBF"):
            kernel.fit(rows())


def test_attributes_of_combinations():
    """Sparse input and features are there only if all parts have them."""
    assert (Linear() + RBF(1.0)).accepts_sparse
    assert not (Linear() + Laplacian(1.0)).accepts_sparse
    assert (2.0 * Linear() + Cosine()).has_features
    assert not (Linear() * Linear()).has_features
    assert not (Linear() + RBF(1.0)).has_features


# Some of the columns ---------------------------------------------------------------------------------------


class TestColumns(KernelCase):
    """A kernel that is not a function of the distance of whole rows."""

    profiled = False
    waves = True
    shift_invariant = True

    def create(self):
        return Columns(RBF(1.2), [3, 1])

    def evaluate(self, x, y):
        return np.exp(-square(x[[1, 3]], y[[1, 3]]) / (2 * 1.2**2))


class TestColumnsOfFeatures(KernelCase):
    profiled = False

    def create(self):
        return Columns(Linear(), slice(1, 3))

    def evaluate(self, x, y):
        return x[1:3] @ y[1:3]


class TestViews(KernelCase):
    """Two views of one table: a distance in some columns, another in the rest."""

    profiled = False

    def create(self):
        return Columns(RBF(1.2), [True, True, False, False]) + 0.5 * Columns(Laplacian(2.0), [2, -1])

    def evaluate(self, x, y):
        return np.exp(-square(x[:2], y[:2]) / (2 * 1.2**2)) + 0.5 * np.exp(-city(x[2:], y[2:]) / 2)


class TestRuleOfColumns(KernelCase):
    """The width rule sees the chosen columns only."""

    profiled = False
    waves = True

    def create(self):
        return Columns(RBF("mean20"), slice(None, 2))

    width = 0.2 * pdist(KernelCase().data()[:, :2]).mean()

    def evaluate(self, x, y):
        return np.exp(-square(x[:2], y[:2]) / (2 * self.width**2))

    @pytest.mark.parametrize("kind", [csr_array, csc_array])
    def test_sparse_rows(self, kind, X, Y):
        """The rule finds the same width in sparse rows, and with it the dense result."""
        X, Y = np.maximum(X, 0), np.maximum(Y, 0)
        width = 0.2 * pdist(X[:, :2]).mean()
        kernel = self.create().fit(kind(X))
        assert kernel.kernel_.width_ == pytest.approx(width)
        expected = [[np.exp(-square(x[:2], y[:2]) / (2 * width**2)) for y in Y] for x in X]
        np.testing.assert_allclose(kernel(kind(X), kind(Y)), expected, atol=1e-12)


@pytest.mark.parametrize(
    ("columns", "expected"),
    [
        (2, [2]),
        ([0, 2], [0, 2]),
        ((3, -4), [3, 0]),
        (np.array([1, 1]), [1, 1]),
        (slice(1, None), [1, 2, 3]),
        (slice(None, None, -2), [3, 1]),
        (slice(-2, 4), [2, 3]),
        ([False, True, True, False], [1, 2]),
        (np.array([True, False, False, True]), [0, 3]),
    ],
    ids=str,
)
def test_ways_to_choose_columns(columns, expected):
    """Numbers, slices and masks choose columns as they do in NumPy; a column chosen twice counts twice."""
    X = rows(9, 4)
    kernel = Columns(RBF(), columns)
    np.testing.assert_array_equal(kernel.fit(X).columns_, expected)
    assert kernel.kernel_.width_ == pytest.approx(RBF().fit(X[:, expected]).width_)
    np.testing.assert_allclose(kernel(X), kernel.kernel_(X[:, expected]), atol=1e-14)


@pytest.mark.parametrize(
    ("columns", "message"),
    [
        ([0, 7], "asks for column 7 but X has 4; pass numbers below 4"),
        (-5, "asks for column -5 but X has 4"),
        (slice(2, 9), "asks for column 9 but X has 4"),
        (slice(2, 2), "chooses none of the 4 columns"),
        (slice("age"), "is not a slice of whole numbers"),
        (slice(0, 4, 0), "is not a slice of whole numbers"),
        ([], "chooses none of the 4 columns"),
        ([False] * 4, "chooses none of the 4 columns"),
        ([True, False], "must be column numbers, a slice, or one True or False for each of the 4 columns"),
        (["age"], "must be column numbers"),
        ([0.5], "must be column numbers"),
        (None, "must be column numbers"),
        ([[0, 1]], "must be column numbers"),
    ],
    ids=str,
)
def test_columns_outside_of_the_table(columns, message):
    """Columns that X does not have are refused with the number that is wrong, before and in fit."""
    with pytest.raises(ValueError, match=message):
        Columns(RBF(1.0), columns).fit(rows(9, 4))
    with pytest.raises(ValueError, match=message):
        Columns(RBF(1.0), columns)(rows(9, 4))


@pytest.mark.parametrize("kernel", [NeighborGraph(3), Precomputed()])
def test_columns_of_what_takes_all(kernel):
    """A neighbour graph or a matrix of similarities has no columns to choose, and the message says what to do."""
    with pytest.raises(ValueError, match=r"compares all columns of X; pass X\[:, columns\] instead"):
        Columns(kernel, [0]).fit(rows(9, 4))


def test_tags_of_columns():
    """What the kernel takes is what the kernel of some columns takes."""
    assert Columns(ClusterKernel(), [0]).accepts_nan
    assert not Columns(RBF(), [0]).accepts_nan
    assert Columns(RBF(), [0]).accepts_sparse
    assert not Columns(Laplacian(), [0]).accepts_sparse
    assert not Columns(Tanh(), [0]).definite


def test_columns_with_missing_values():
    """A cluster kernel on some columns is the cluster kernel of those columns, missing values and Gram included."""
    X = rows(60, 4)
    X[::5, 1] = np.nan
    inner = ClusterKernel(3, 4, random_state=0)
    kernel = Columns(inner, [1, 2]).fit(X)
    expected = clone(inner).fit(X[:, [1, 2]])
    np.testing.assert_allclose(kernel(X), expected(X[:, [1, 2]]), atol=1e-12)
    np.testing.assert_allclose(kernel.gram(X).dense(), expected.gram(X[:, [1, 2]]).dense(), atol=1e-12)
    F, G = kernel.features(X), expected.features(X[:, [1, 2]])
    np.testing.assert_allclose(F.toarray(), G.toarray(), atol=1e-12)


@pytest.mark.parametrize("sparse", [False, True])
def test_missing_values_in_columns_that_do_not_count(sparse):
    """They change nothing; in a column that counts they are refused by its number, also in new rows."""
    X, Y = rows(20, 4), rows(5, 4, seed=1)
    expected = RBF().fit(X[:, [3, 1]])(Y[:, [3, 1]], X[:, [3, 1]])
    X[::3, 0], Y[1, 2] = np.nan, np.nan
    given = csr_array if sparse else np.asarray
    kernel = Columns(RBF(), [3, 1]).fit(given(X))
    np.testing.assert_allclose(kernel(given(Y), given(X)), expected, atol=1e-12)
    Y[2, 1] = np.nan
    message = r"NaN in column 1, which RBF\(\) compares .* impute them"
    for call in (kernel, kernel.gram, kernel.diagonal, kernel.fit, lambda Z: kernel.product(Z, Z, np.ones(5))):
        with pytest.raises(ValueError, match=message):
            call(given(Y))


def test_infinite_values_in_columns_that_do_not_count():
    """They are errors, not missing values, and refused in every column."""
    X = rows(20, 4)
    X[3, 0] = np.inf
    with pytest.raises(ValueError, match="X contains infinity"):
        Columns(RBF(), [3, 1]).fit(X)


def test_views_with_missing_values_of_their_own():
    """A sum of views is the sum of their kernels where each has missing values, also in an estimator."""
    X = rows(60, 5)
    X[::5, 1] = np.nan
    X[1::7, 3] = np.nan
    parts = [ClusterKernel(3, 4, random_state=0), ClusterKernel(2, 3, random_state=1), RBF()]
    views = [slice(0, 2), slice(2, 4), [4]]
    kernel = Columns(parts[0], views[0]) + Columns(parts[1], views[1]) + Columns(parts[2], views[2])
    K = sum(clone(part).fit(X[:, view])(X[:, view]) for part, view in zip(parts, views, strict=True))
    np.testing.assert_allclose(kernel.fit(X)(X), K, atol=1e-12)
    np.testing.assert_allclose(kernel.gram(X).dense(), K, atol=1e-12)
    model = KernelPCA(3, kernel=kernel).fit(X)
    np.testing.assert_allclose(np.abs(model.embedding_), np.abs(KernelPCA(3, kernel="precomputed").fit_transform(K)))
    np.testing.assert_allclose(model.transform(X[:7]), model.embedding_[:7], atol=1e-9)
    with pytest.raises(ValueError, match="X contains NaN"):
        (kernel + RBF()).fit(X)  # which compares all columns
    X[0, 4] = np.nan
    with pytest.raises(ValueError, match="NaN in column 4"):
        KernelPCA(3, kernel=2 * kernel).fit(X)


def test_views_in_estimators(tmp_path):
    """Kernel PCA of two views is that of the summed matrices; files keep the model; searches reach the parts."""
    X = rows(40, 4)
    kernel = Columns(RBF(), [0, 1]) + Columns(Cosine(), slice(2, 4))
    model = KernelPCA(3, kernel=kernel).fit(X)
    K = RBF().fit(X[:, :2])(X[:, :2]) + Cosine()(X[:, 2:])
    np.testing.assert_allclose(np.abs(model.embedding_), np.abs(KernelPCA(3, kernel="precomputed").fit_transform(K)))
    np.testing.assert_allclose(model.transform(csr_array(X)), model.embedding_, atol=1e-9)
    gramian.save(model, tmp_path / "views.gramian")
    np.testing.assert_array_equal(gramian.load(tmp_path / "views.gramian").transform(X[:5]), model.transform(X[:5]))
    assert clone(model).set_params(kernel__first__kernel__width=2.0).fit(X).kernel_.first_.kernel_.width_ == 2.0


def test_fourier_features_of_columns():
    """Frequencies are zero in the columns that do not count."""
    X = rows(30, 4)
    waves = FourierFeatures(20_000, kernel=Columns(RBF(1.5), [2, 0]), random_state=0).fit(X)
    assert not waves.frequencies_[[1, 3]].any()
    np.testing.assert_allclose(waves(X), RBF(1.5)(X[:, [0, 2]]), atol=0.06)
