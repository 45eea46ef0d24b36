"""Grams recomputed tile by tile on threads, with tiles so small that many are needed."""

import numpy as np
import pytest
from scipy.sparse import csr_array

import gramian
from gramian.grams import LazyGram, tiles
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


@pytest.mark.parametrize("threads", [1, 2, 5])
def test_every_number_of_threads_gives_the_product(monkeypatch, threads):
    """The product is right with one thread, with several, and with more threads than tiles; and it repeats exactly."""
    monkeypatch.setattr(tiles, "_SERIAL_ENTRIES", 0)
    X = np.random.default_rng(0).standard_normal((33, 2))
    V = np.random.default_rng(1).standard_normal((33, 3))
    expected = np.exp(-((X[:, None] - X[None]) ** 2).sum(axis=2) / 2) @ V
    with gramian.config(threads=threads):
        gram = LazyGram(RBF(width=1.0), X)
        first = gram @ V
        np.testing.assert_allclose(first, expected, atol=1e-12)
        for _ in range(5):
            np.testing.assert_array_equal(gram @ V, first)


def test_rows_have_the_exact_diagonal():
    """rows() puts k(x, x) exactly where a row meets itself, for rows far from the mean too."""
    X = np.random.default_rng(0).standard_normal((60, 5)) * 1e4
    rows = LazyGram(RBF(width=1e-3), X).rows(np.arange(60))
    np.testing.assert_array_equal(np.diag(rows), 1.0)


def test_no_tile_exceeds_its_size(monkeypatch):
    """No temporary of the kernel is larger than TILE_BYTES, in products and in blocks."""
    monkeypatch.setattr(tiles, "TILE_BYTES", 16 * 16 * 8)
    sizes = []

    def spy(left, right):
        sizes.append(len(left) * len(right) * 8)
        return np.minimum(left[:, :1], right[:, 0])

    X = np.random.default_rng(0).random((100, 1))
    kernel = FunctionKernel(spy)
    gram = LazyGram(kernel, X)
    gram._diagonal = lambda: np.zeros(100)
    monkeypatch.setattr(FunctionKernel, "_diagonal", lambda self, X: X[:, 0])
    gram @ np.ones((100, 1))
    gram.dense()
    kernel.product(X, X[:70], np.ones((70, 1)))
    kernel(X, X[:70])
    assert max(sizes) <= 16 * 16 * 8


def test_each_pair_is_evaluated_once():
    """The symmetric product evaluates n(n+1)/2 values plus the lower halves of the diagonal tiles, not n²."""
    count = [0]

    class Counting(RBF):
        def _tile(self, left, right):
            count[0] += left.shape[0] * right.shape[0]
            return super()._tile(left, right)

    X = np.random.default_rng(0).standard_normal((400, 2))
    with gramian.config(threads=8):
        LazyGram(Counting(width=1.0), X) @ np.ones((400, 1))
    assert count[0] <= 0.55 * 400**2


def test_an_error_in_a_worker_reaches_the_caller(monkeypatch):
    """A kernel that fails on a thread fails the product, with its own message."""
    monkeypatch.setattr(tiles, "_SERIAL_ENTRIES", 0)

    def broken(left, right):
        raise RuntimeError("no such likeness")

    with gramian.config(threads=2), pytest.raises(RuntimeError, match="no such likeness"):
        tiles.product(FunctionKernel(broken), np.ones((9, 1)), np.ones((9, 1)), np.ones((9, 1)))


def test_a_kernel_that_uses_threads_itself_does_not_deadlock(monkeypatch):
    """A kernel whose tiles are themselves streamed runs serially inside a worker."""
    monkeypatch.setattr(tiles, "_SERIAL_ENTRIES", 0)
    inner = RBF(width=1.0)
    outer = FunctionKernel(lambda left, right: tiles.block(inner, left, right, left.dtype))
    X = np.random.default_rng(0).standard_normal((40, 2))
    with gramian.config(threads=2):
        np.testing.assert_allclose(outer(X, X), inner(X, X), atol=1e-14)


def test_slices_cover_the_range():
    """Slices are consecutive, not longer than asked, and cover everything."""
    for n, length in ((10, 3), (9, 3), (1, 5), (0, 4)):
        pieces = list(tiles.slices(n, length))
        assert [i for piece in pieces for i in range(piece.start, piece.stop)] == list(range(n))
        assert all(piece.stop - piece.start <= length for piece in pieces)
