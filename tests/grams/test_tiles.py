"""Tiles: blocks and products pair by pair, on any number of threads, with bounded temporaries."""

import os
import subprocess
import sys
import threading

import numpy as np
import pytest
from threadpoolctl import threadpool_info

import gramian
from gramian.grams import LazyGram, tiles
from gramian.kernels import RBF, FunctionKernel


def gaussian(X, Y):
    """exp(−‖x − y‖² / 2), pair by pair."""
    return np.array([[np.exp(-np.sum((x - y) ** 2) / 2) for y in Y] for x in X])


@pytest.fixture
def small_tiles(monkeypatch):
    """Tiles of at most 8×8 values and threads from the first value on."""
    monkeypatch.setattr(tiles, "TILE_BYTES", 8 * 8 * 8)
    monkeypatch.setattr(tiles, "_SERIAL_ENTRIES", 0)


@pytest.mark.usefixtures("small_tiles")
@pytest.mark.parametrize("threads", [1, 3])
@pytest.mark.parametrize(("n", "m"), [(1, 1), (5, 23), (37, 8), (40, 41)])
def test_blocks_and_products_of_any_shape(threads, n, m):
    """block, its symmetric form, product and gram_product are those of the pairs, for shapes that fill no tile."""
    rng = np.random.default_rng(0)
    X, Y = rng.standard_normal((n, 2)), rng.standard_normal((m, 2))
    V, W = rng.standard_normal((m, 3)), rng.standard_normal((n, 2))
    kernel = RBF(width=1.0)
    with gramian.config(threads=threads):
        np.testing.assert_allclose(tiles.block(kernel, X, Y, X.dtype), gaussian(X, Y), atol=1e-14)
        np.testing.assert_allclose(tiles.product(kernel, X, Y, V), gaussian(X, Y) @ V, atol=1e-13)
        np.testing.assert_allclose(tiles.gram_product(kernel, X, W), gaussian(X, X) @ W, atol=1e-13)
        K = tiles.block(kernel, X, None, X.dtype)
    np.testing.assert_allclose(K, gaussian(X, X), atol=1e-14)
    np.testing.assert_array_equal(K, K.T)
    np.testing.assert_array_equal(np.diag(K), 1.0)


def test_few_values_start_no_threads(monkeypatch):
    """Below the threshold the caller's own thread does the work; from it on, workers do, BLAS held to one thread."""
    seen = []

    def work(task):
        seen.append((task, threading.current_thread() is threading.main_thread()))

    tiles.run_threaded(work, [1, 2], entries=tiles._SERIAL_ENTRIES - 1, n_workers=2)
    tiles.run_threaded(work, [3], entries=tiles._SERIAL_ENTRIES, n_workers=2)
    tiles.run_threaded(work, [4], entries=tiles._SERIAL_ENTRIES, n_workers=1)
    assert seen == [(1, True), (2, True), (3, False), (4, True)]


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


@pytest.mark.skipif(not hasattr(os, "fork"), reason="a system without fork")
def test_a_copy_of_the_process_has_threads_of_its_own(monkeypatch):
    monkeypatch.setattr(tiles, "_SERIAL_ENTRIES", 0)
    tiles.run_threaded(lambda _: None, range(4), entries=1, n_workers=2)
    code = (
        "import os; from gramian.grams import tiles; go = lambda: tiles.run_threaded("
        "lambda _: None, range(4), entries=1e9, n_workers=2)\ngo()\nchild = os.fork()\ngo()\n"
        "child or os._exit(0)\nassert os.waitpid(child, 0)[1] == 0"
    )
    subprocess.run([sys.executable, "-c", code], check=True, timeout=60)


def test_threads_are_kept_for_the_next_call(monkeypatch):
    monkeypatch.setattr(tiles, "_SERIAL_ENTRIES", 0)
    names = set()
    barrier = threading.Barrier(2)

    def work(_):
        barrier.wait(10)  # both threads have to come
        names.add(threading.get_ident())

    for _ in range(3):
        tiles.run_threaded(work, range(2), entries=1, n_workers=2)
    assert len(names) == 2
