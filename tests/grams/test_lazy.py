"""Grams recomputed tile by tile on threads, with tiles so small that many are needed."""

import numpy as np
import pytest
from scipy.sparse import csr_array

import gramian
from gramian.grams import LazyGram, tiles
from gramian.grams.lazy import DeferredGram
from gramian.kernels import RBF, TL1, FunctionKernel, Laplacian, Linear, Polynomial
from grams.gram_case import FEW_VIEWS, GramCase


@pytest.fixture
def many_tiles(monkeypatch):
    """Tiles of at most 8×8 values and threads from the first value on."""
    monkeypatch.setattr(tiles, "TILE_BYTES", 8 * 8 * 8)
    monkeypatch.setattr(tiles, "_SERIAL_ENTRIES", 0)
    with gramian.config(threads=3):
        yield


class LazyCase(GramCase):
    """A kernel, evaluated pair by pair in the textbook."""

    n = 29
    kernel = RBF(width=1.0)

    def data(self):
        return np.random.default_rng(0).standard_normal((self.n, 3)).astype(self.dtype)

    def create(self):
        return LazyGram(self.kernel, self.data())

    def pair(self, x, y):
        return np.exp(-np.sum((x - y) ** 2) / 2)

    def evaluate(self):
        X = self.data()
        X = (X.toarray() if hasattr(X, "toarray") else X).astype(np.float64)
        return np.array([[self.pair(x, y) for y in X] for x in X])


@pytest.mark.usefixtures("many_tiles")
class TestRBF(LazyCase):
    """Distances by GEMM."""


@pytest.mark.usefixtures("many_tiles")
class TestRBFFloat32(LazyCase):
    """Single precision, far from the origin."""

    views = FEW_VIEWS

    dtype = np.float32

    def data(self):
        return super().data() + np.float32(1000)


@pytest.mark.usefixtures("many_tiles")
class TestLaplacian(LazyCase):
    """L1 distances."""

    views = FEW_VIEWS
    kernel = Laplacian(width=2.0)

    def pair(self, x, y):
        return np.exp(-np.sum(np.abs(x - y)) / 2)


@pytest.mark.usefixtures("many_tiles")
class TestPolynomialOfSparseRows(LazyCase):
    """Inner products of CSR rows."""

    views = FEW_VIEWS
    kernel = Polynomial(degree=3, offset=0.5)

    def data(self):
        X = super().data()
        return csr_array(np.where(X > 0, X, 0))

    def pair(self, x, y):
        return (x @ y + 0.5) ** 3


@pytest.mark.usefixtures("many_tiles")
class TestIndefinite(LazyCase):
    """The truncated L1 kernel."""

    kernel = TL1(radius=2.0)

    def pair(self, x, y):
        return max(2.0 - np.sum(np.abs(x - y)), 0.0)


@pytest.mark.usefixtures("many_tiles")
class TestFunction(LazyCase):
    """A function given by the user."""

    views = FEW_VIEWS
    kernel = FunctionKernel(lambda X, Y: 1 / (1 + np.abs(X[:, :1] - Y[:, 0])))

    def pair(self, x, y):
        return 1 / (1 + abs(x[0] - y[0]))


@pytest.mark.usefixtures("many_tiles")
class TestSumOfProducts(LazyCase):
    """Kernel algebra is evaluated tile by tile too."""

    views = FEW_VIEWS
    kernel = 0.5 * RBF(width=1.0) * Linear() + Laplacian(width=1.0)

    def pair(self, x, y):
        return 0.5 * np.exp(-np.sum((x - y) ** 2) / 2) * (x @ y) + np.exp(-np.sum(np.abs(x - y)))


@pytest.mark.usefixtures("many_tiles")
class TestDeferred(LazyCase):
    """Evaluated by the first product."""

    def create(self):
        return DeferredGram(self.kernel, self.data())


class TestRBFLarge(LazyCase):
    """Ordinary tiles, threads, and the iteration."""

    views = FEW_VIEWS

    orders = ("largest", "magnitude")
    lapack_size = 60
    n = 120
    kernel = RBF(width=0.4)

    @pytest.fixture(autouse=True)
    def two_threads(self):
        with gramian.config(threads=2):
            yield

    def evaluate(self):
        X = self.data()
        return np.exp(-((X[:, None] - X[None]) ** 2).sum(axis=2) / (2 * 0.4**2))


def test_rows_have_the_exact_diagonal():
    """rows() puts k(x, x) exactly where a row meets itself, for rows far from the mean too."""
    X = np.random.default_rng(0).standard_normal((60, 5)) * 1e4
    rows = LazyGram(RBF(width=1e-3), X).rows(np.arange(60))
    np.testing.assert_array_equal(np.diag(rows), 1.0)


def test_a_deferred_gram_is_evaluated_once_by_products_and_by_nothing_else(monkeypatch):
    """Blocks, parts, the diagonal and a factorization leave no array behind; the first product does, for all others."""
    X = np.random.default_rng(0).standard_normal((60, 5))
    K, v = RBF(1.0)(X), np.ones(60)
    gram = DeferredGram(RBF(1.0), X)
    gram.block([3, 1], slice(9)), gram.rows([1]), gram.diagonal(), gram.dense(), gram.factorization(1.0).solve(v)
    assert not gram.held
    assert not gram.restricted([4, 2]).held
    np.testing.assert_allclose(gram @ v, K @ v, rtol=1e-12)
    assert gram.held
    monkeypatch.setattr(RBF, "_tile", lambda *_: pytest.fail("evaluated again"))
    np.testing.assert_allclose(gram @ v, K @ v, rtol=1e-12)
    np.testing.assert_allclose(gram.block([3, 1], slice(9)), K[[3, 1], :9], rtol=1e-12)
    np.testing.assert_allclose(gram.restricted([4, 2]).dense(), K[np.ix_([4, 2], [4, 2])], rtol=1e-12)
    np.testing.assert_allclose(gram.dense(), K, rtol=1e-12)
