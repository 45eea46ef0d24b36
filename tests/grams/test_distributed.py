"""Grams held by features on the workers of a Dask cluster: what every Gram promises, as computed values."""

import dask
import dask.array as da
import numpy as np
import pytest
from scipy.sparse import csr_array

from gramian.grams import FeatureGram, MatrixFactor
from gramian.grams.distributed import DistributedFactor, DistributedGram
from gramian.kernels import RBF, Linear
from gramian.partitions import DistributedRows, is_distributed
from grams.gram_case import GramCase, center, normalize, weighted_center, weights

VIEWS = [
    (),
    ("centered",),
    ("normalized",),
    ("weighted",),
    ("scaled",),
    ("normalized", "centered"),
    ("normalized", "weighted"),
    ("centered", "weighted"),
    ("weighted", "weighted"),
]


@pytest.fixture(scope="module", autouse=True)
def _in_this_process():
    with dask.config.set(scheduler="synchronous"):
        yield


def features(n, m, seed=0):
    """Non-negative features, some of them zero."""
    rng = np.random.default_rng(seed)
    return rng.random((n, m)) * (rng.random((n, m)) < 0.7)


def on_workers(F, partitions):
    """The Gram of rows of features that lie in partitions of these lengths."""
    return Linear()._gram_of(DistributedRows(da.from_array(F, chunks=(partitions, (F.shape[1],)))))


class TestPartitions(GramCase):
    """Three uneven partitions, and empty ones."""

    n, m, partitions = 43, 9, (20, 0, 7, 16, 0)
    views = VIEWS
    orders = ("largest", "magnitude")

    # These need a matrix, or an array of n entries, in one place, or features that there are none of.
    test_arpack_takes_it = None
    test_dense_is_a_copy = None
    test_restricted = None
    test_scaled_and_new_diagonal = None
    test_bad_numbers_are_refused = None
    test_held_entries = None
    test_partly_held_features = None
    test_memory_budget = None
    test_known_eigenvectors_are_deflated = None
    test_all_eigenpairs = None
    test_eigenpairs_refuse_bad_arguments = None
    test_signature = None
    test_factorization = None
    test_factorization_refuses_bad_arguments = None
    test_product_leaves_its_input_alone = None
    test_forms = None
    test_linear_operator_protocol = None

    def test_block(self, gram, K, views):
        """Blocks of some samples, which come into memory, of the Gram itself and of one view of a view."""
        if views in ((), ("normalized", "centered")):
            super().test_block(gram, K, views)

    def matrix(self):
        return features(self.n, self.m).astype(self.dtype)

    def create(self):
        return on_workers(self.matrix(), self.partitions)

    def evaluate(self):
        F = self.matrix().astype(np.float64)
        return F @ F.T

    def methods(self, gram, which):
        """The dual is the only one."""
        return ["auto", "dual"]

    def assert_eigenpairs(self, pairs, K, expected):
        assert is_distributed(pairs[1])
        super().assert_eigenpairs((pairs[0], pairs[1].compute()), K, expected)

    def test_eigenpairs_repeat(self, gram):
        """There is nothing random."""
        first, again = (gram.eigenpairs(3) for _ in range(2))
        np.testing.assert_array_equal(first[0], again[0])
        np.testing.assert_array_equal(first[1], again[1])

    def test_what_is_as_long_as_the_data_stays_with_it(self, gram, K):
        """Products, degrees, the diagonal and eigenvectors are Dask arrays in the partitions of the rows."""
        found = (gram @ np.ones(len(K)), gram.degrees(), gram.diagonal(), gram.eigenpairs(2)[1])
        for array in found:
            assert is_distributed(array)
            assert array.chunks[0] == self.partitions

    def test_products_with_dask_arrays(self, gram, K):
        """V may lie in other partitions; matvec and matmat do not collect it."""
        V = np.random.default_rng(3).normal(size=(len(K), 2)).astype(self.dtype)
        given = da.from_array(V, chunks=(11, 1))
        for product in (gram @ given, gram.matmat(given), gram.centered().adjoint() @ given):
            assert is_distributed(product)
        self.assert_close(gram @ given, K @ V, K, factor=np.linalg.norm(V))
        self.assert_close(gram.matvec(given[:, 0]), K @ V[:, 0], K, factor=np.linalg.norm(V))
        self.assert_close(gram.form(given, V), V.T @ K @ V, len(K) * K)

    def test_some_rows_come_into_memory(self, gram, K):
        """The Gram of some samples is one in memory, with their entries."""
        for view, dense in ((gram, K), (gram.normalized().centered(), center(normalize(K)))):
            index = np.array([30, 2, 41, 19])
            part = view.restricted(index)
            assert part.held
            self.assert_close(part.dense(), dense[index][:, index], dense)

    def test_weights_may_lie_on_workers(self, gram, K):
        given = da.from_array(weights(len(K)), chunks=10)
        self.assert_close(gram.weighted_centered(given).dense(), weighted_center(K), K)

    def test_what_has_no_features_is_refused(self, gram):
        """The error says what is there instead."""
        calls = (
            lambda: gram.shifted(1.0),
            lambda: gram.scaled(-1.0),
            lambda: gram.with_diagonal(0.0),
            lambda: gram.deflated(np.ones((43, 1))),
            lambda: gram.factorization(1.0),
            lambda: gram.signature(),
        )
        for call in calls:
            with pytest.raises(TypeError, match=r"use products, centered\(\)"):
                call()
        with pytest.raises(ValueError, match="has only its largest eigenvalues computed"):
            gram.eigenpairs(2, "smallest")
        with pytest.raises(ValueError, match="pass 1 <= k <= 43"):
            gram.eigenpairs(44)
        with pytest.raises(ValueError, match="dimension mismatch"):
            gram @ np.ones(42)


class TestOnePartition(TestPartitions):
    """All rows in one place."""

    partitions = (43,)
    views = VIEWS[:4]
    test_block = test_rows = None  # as in three partitions


class TestManyPartitions(TestPartitions):
    """Seventeen of them."""

    partitions = (2,) * 12 + (0, 1, 3, 5, 10)
    views = VIEWS[:4]
    test_block = test_rows = None  # as in three partitions


class TestFloat32(TestPartitions):
    """Single precision."""

    dtype = np.float32
    views = VIEWS[:4]
    test_block = test_rows = None  # as in three partitions


class TestSparseFeatures(TestPartitions):
    """Features that are CSR in every partition."""

    views = VIEWS[:4]
    test_block = test_rows = None  # as in three partitions

    def create(self):
        rows = DistributedRows(da.from_array(self.matrix(), chunks=(self.partitions, (self.m,))))
        return DistributedGram(DistributedFactor.of_rows(_sparse, rows, self.m))


def _sparse(part):
    return MatrixFactor(csr_array(part))


def test_far_features_keep_their_digits():
    """Rows that lie together far from the origin: centred before they are multiplied, in one pass."""
    rng = np.random.default_rng(0)
    F = rng.normal(size=(300, 4)) + 1e7
    exact = np.linalg.svd(F - F.mean(axis=0), compute_uv=False) ** 2
    values = on_workers(F, (100, 7, 193)).centered().eigenpairs(4)[0]
    np.testing.assert_allclose(values, exact, rtol=1e-8)


def test_small_eigenvalues_keep_their_digits():
    """The second pass puts right what the dual loses: eigenvalues 1e-9 of the largest."""
    rng = np.random.default_rng(0)
    F = np.linalg.qr(rng.normal(size=(200, 3)))[0] * [1.0, 1e-3, 3e-5]
    values, vectors = on_workers(F, (100, 100)).eigenpairs(3)
    np.testing.assert_allclose(values, [1, 1e-6, 9e-10], rtol=1e-9)
    np.testing.assert_allclose(vectors.T @ vectors, np.eye(3), atol=1e-9)


def test_rank_below_k_gives_fewer_pairs():
    """Zero eigenvalues have any vectors; of a Dask input none are made up."""
    values, vectors = on_workers(features(60, 2), (30, 30)).eigenpairs(4)
    assert values.shape == (2,)
    assert vectors.shape == (60, 2)
    assert on_workers(np.zeros((60, 2)), (30, 30)).eigenpairs(4)[0].shape == (0,)


def test_passes_over_the_rows_are_few():
    """Centring and the dual are one pass, the eigenpairs another."""
    seen = []

    def counted(part):
        seen.append(len(part))
        return MatrixFactor(part)

    rows = DistributedRows(da.from_array(features(90, 4), chunks=(30, 4)))
    DistributedGram(DistributedFactor.of_rows(counted, rows, 4)).centered().eigenaxes(2)
    assert len(seen) == 2 * 3


def test_partitions_are_computed_a_chunk_at_a_time(monkeypatch):
    """What a worker holds of the features does not grow with the partition."""
    F = features(5000, 3)
    rows = DistributedRows(da.from_array(F, chunks=(5000, 3)))
    kernel = Linear()
    most = []
    plain = Linear._features
    monkeypatch.setattr(Linear, "_features", lambda self, X: (most.append(len(X)), plain(self, X))[1])
    monkeypatch.setattr("gramian.grams.features._CHUNK_BYTES", 500 * 3 * 8)
    gram = kernel._gram_of(rows)
    np.testing.assert_allclose(gram.centered().eigenpairs(3)[0], FeatureGram(F).centered().eigenpairs(3)[0])
    assert max(most) <= 500


def test_kernels_without_features_name_landmarks():
    rows = DistributedRows(da.from_array(features(20, 3), chunks=10))
    with pytest.raises(TypeError, match="Nystroem"):
        RBF(1.0)._gram_of(rows)
