"""Grams held by features: arrays, CSR, recomputed chunks, more features than samples, rank below k."""

import numpy as np
import pytest
from scipy.sparse import csr_array, csr_matrix

import gramian
from gramian.grams import FeatureGram
from gramian.grams.features import squared_norms
from gramian.kernels import Linear
from grams.gram_case import FEW_VIEWS, GramCase


def features(n, m, seed=0, density=1.0):
    """Non-negative features, some of them zero."""
    rng = np.random.default_rng(seed)
    return rng.random((n, m)) * (rng.random((n, m)) < density)


def recomputed(F, length, kernel=None):
    """The Gram of a linear kernel that may not hold F, so that it asks for ``length`` rows at a time."""
    with gramian.config(memory_budget=length * F.shape[1] * F.dtype.itemsize):
        gram = (kernel or Linear()).gram(F)
    assert gram.factor.chunk_length == length
    return gram


class TestArray(GramCase):
    """F as an array."""

    n, m, density = 43, 9, 1.0

    def matrix(self):
        return features(self.n, self.m, density=self.density).astype(self.dtype)

    def create(self):
        return FeatureGram(self.matrix())

    def evaluate(self):
        F = self.matrix().astype(np.float64)
        return F @ F.T


class TestArrayFloat32(TestArray):
    """F in single precision."""

    views = FEW_VIEWS

    dtype = np.float32


class TestArrayLarge(TestArray):
    """Enough samples that "auto" uses the dual or iterates."""

    views = FEW_VIEWS

    lapack_size = 60
    n, m = 130, 12


class TestArrayLargeFloat32(TestArrayLarge):
    """The same in single precision."""

    views = FEW_VIEWS

    dtype = np.float32


class TestMoreFeaturesThanSamples(TestArray):
    """The dual is larger than the Gram."""

    views = FEW_VIEWS

    n, m = 30, 70


class TestRankBelowK(TestArray):
    """Two features cannot give four positive eigenvalues; the rest are zeros with orthonormal vectors."""

    views = FEW_VIEWS
    n, m = 36, 2
    test_known_eigenvectors_are_deflated = None  # nothing but zeros is left


class TestRankBelowKLarge(TestRankBelowK):
    """The same for the iteration and the dual."""

    views = FEW_VIEWS

    lapack_size = 60
    n = 120


class TestNoFeaturesAtAll(TestArray):
    """F = 0: every eigenvalue is zero."""

    test_known_eigenvectors_are_deflated = None
    test_arpack_takes_it = None  # ARPACK refuses the zero matrix

    views = FEW_VIEWS

    def matrix(self):
        return np.zeros((self.n, self.m), self.dtype)


class TestSparse(TestArray):
    """F as CSR."""

    density = 0.2

    def create(self):
        return FeatureGram(csr_array(self.matrix()))


class TestSparseFloat32(TestSparse):
    """CSR in single precision."""

    views = FEW_VIEWS

    dtype = np.float32


class TestSparseLarge(TestSparse):
    """CSR with many samples."""

    views = FEW_VIEWS

    lapack_size = 60
    n, m = 130, 12


class TestOldSparseMatrix(TestSparse):
    """SciPy's older matrix class, whose * and + mean something else."""

    views = FEW_VIEWS

    def create(self):
        return FeatureGram(csr_matrix(self.matrix()))


class TestChunks(TestArray):
    """F recomputed seven rows at a time."""

    def create(self):
        return recomputed(self.matrix(), 7)


class TestSparseChunks(TestSparse):
    """CSR chunks."""

    views = FEW_VIEWS

    def create(self):
        return recomputed(csr_array(self.matrix()), 5)


class TestChunksLarge(TestChunks):
    """Chunks with many samples."""

    views = FEW_VIEWS

    lapack_size = 60
    n, m = 130, 12


def test_views_of_a_factor_in_small_chunks(monkeypatch):
    """A view plans its own chunks and gives the same factor however short they are."""
    F = features(50, 6)
    whole = FeatureGram(F).centered().factor.dual()
    monkeypatch.setattr("gramian.grams.features._CHUNK_BYTES", 3 * 6 * 8)
    factor = FeatureGram(F).centered().factor
    assert factor.chunk_length == 3
    np.testing.assert_allclose(factor.dual(), whole, atol=1e-12)


def test_only_one_chunk_at_a_time():
    """Products, diagonal, rows and the dual of a recomputed factor ask for one planned chunk at a time."""
    lengths = []

    class Counting(Linear):
        def _features(self, X):
            lengths.append(X.shape[0])
            return X

    gram = recomputed(features(50, 6), 8, Counting())
    lengths.clear()
    gram @ np.ones((50, 2))
    gram.diagonal(), gram.rows([1, 49]), gram.degrees(), gram.factor.dual(), gram.dense()
    assert max(lengths) == 8


def test_factor_in_memory_is_not_copied():
    """The one chunk of a factor held in memory is the very array."""
    F = features(20, 3)
    ((rows, chunk),) = FeatureGram(F).factor.chunks()
    assert chunk is F
    assert rows == slice(0, 20)


@pytest.mark.parametrize("kind", [np.asarray, csr_array, csr_matrix])
def test_squared_norms(kind):
    """‖x‖² of rows, dense or sparse, as a flat array."""
    F = features(9, 4, density=0.5)
    out = squared_norms(kind(F))
    assert out.shape == (9,)
    np.testing.assert_allclose(out, [sum(x * x for x in row) for row in F], atol=1e-14)


def test_building_a_recomputed_gram_computes_no_whole_features():
    """gram(X) of features beyond the budget asks for no more rows of them than a chunk has."""
    lengths = []

    class Counting(Linear):
        def _features(self, X):
            lengths.append(X.shape[0])
            return X

    with gramian.config(memory_budget=8 * 6 * 8):
        Counting().gram(np.ones((500, 6)))
    assert max(lengths, default=0) <= 8
