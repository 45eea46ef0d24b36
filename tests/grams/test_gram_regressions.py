"""Grams in cases that once went wrong."""

import contextlib
import pickle
import threading
import tracemalloc

import numpy as np
import pytest
from threadpoolctl import threadpool_info

import gramian
from gramian.grams import DenseGram, FeatureGram, LazyGram, tiles
from gramian.kernels import RBF, Linear


@pytest.mark.parametrize("kind", [DenseGram, FeatureGram])
def test_whole_numbers_become_floats(kind):
    """A matrix of ints multiplies a vector of fractions like any other matrix."""
    K = kind(np.array([[2, 1], [1, 2]]))
    assert K.dtype == np.float64
    assert np.any(K @ np.array([0.5, 0.5]))


def test_rows_take_slices_and_nothing():
    """rows() takes a slice and an empty list, like an array."""
    gram = DenseGram(np.eye(5))
    assert gram.rows(slice(1, 3)).shape == (2, 5)
    assert gram.rows([]).shape == (0, 5)


def test_a_mask_of_few_rows_fits():
    """The memory of rows(mask) is that of the rows it picks."""
    gram = DenseGram(np.eye(50))
    with gramian.config(memory_budget=50 * 8 * 3):
        assert gram.rows(np.arange(50) < 3).shape == (3, 50)


def test_degrees_cannot_be_spoilt():
    """Writing into degrees() does not change the Gram."""
    gram = DenseGram(np.eye(3))
    with contextlib.suppress(ValueError):
        gram.degrees()[:] = 7
    np.testing.assert_array_equal(gram.degrees(), 1)


def test_grams_can_be_pickled():
    """Grams go to other processes, feature Grams and their views too."""
    for gram in (FeatureGram(np.eye(4)), FeatureGram(np.eye(4)).centered()):
        np.testing.assert_array_equal(pickle.loads(pickle.dumps(gram)).dense(), gram.dense())


def test_blas_threads_are_given_back(monkeypatch):
    """After kernels ran on several threads of the caller, BLAS has as many threads as before."""
    monkeypatch.setattr(tiles, "_SERIAL_ENTRIES", 0)
    X = np.random.default_rng(0).standard_normal((300, 5))
    before = [pool["num_threads"] for pool in threadpool_info()]

    def work():
        for _ in range(60):
            RBF(1.0)(X)

    workers = [threading.Thread(target=work) for _ in range(4)]
    with gramian.config(threads=2):
        [worker.start() for worker in workers]
        [worker.join() for worker in workers]
    assert [pool["num_threads"] for pool in threadpool_info()] == before


@pytest.mark.parametrize("view", ["centered", "normalized"])
def test_dense_views_need_one_matrix(view):
    """dense() of a view allocates little more than the one matrix the budget was asked for."""
    X = np.random.default_rng(0).standard_normal((1500, 2))
    gram = getattr(LazyGram(RBF(1.0), X), view)()
    gram.degrees()
    tracemalloc.start()
    gram.dense()
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < 1.6 * 1500 * 1500 * 8


def test_weights_must_be_finite():
    """An infinite weight is refused, not turned into NaN."""
    with pytest.raises(ValueError, match="weights"):
        DenseGram(np.eye(3)).weighted_centered([1.0, np.inf, 1.0])


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
