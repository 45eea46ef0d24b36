"""Sums over all pairs of samples against traces of whole matrices."""

import numpy as np
import pytest
from hypothesis import given as example
from hypothesis import strategies as st
from scipy.sparse import csr_array

import gramian
from dependence.measures.textbook_hsic import centred, gaussian, given, trace, unbiased_by_quadruples
from gramian.dependence import hsic
from gramian.dependence.measures import _pair_sums as pair_sums
from gramian.grams import DenseGram, FeatureGram, tiles
from gramian.kernels import RBF, Laplacian, Polynomial


@pytest.fixture
def many_tiles(monkeypatch):
    """Tiles of 8×8 values, chunks of 8 rows and threads from the first value on."""
    for name, value in (("_EDGE", 8), ("_CHUNK_ROWS", 8), ("_SHARES", 3)):
        monkeypatch.setattr(pair_sums, name, value)
    monkeypatch.setattr(tiles, "_SERIAL_ENTRIES", 0)
    with gramian.config(threads=3):
        yield


@pytest.mark.parametrize("estimator", ["biased", "unbiased"])
@pytest.mark.parametrize("kernel", [RBF(1.0), Laplacian(2.0), Polynomial(3), RBF(1.0) + 0.5 * Polynomial()])
def test_tiles_match_matrices(many_tiles, rng, kernel, estimator):
    """Streamed tiles give what the matrices give, for kernels of every family."""
    X, Y = rng.normal(size=(45, 3)), rng.normal(size=45)
    expected = given(kernel(X), gaussian(Y), estimator=estimator)
    assert hsic(X, Y, kernel_x=kernel, kernel_y=RBF(1.0), estimator=estimator) == pytest.approx(expected, rel=1e-10)
    if estimator == "biased":
        assert expected == pytest.approx(trace(kernel(X), gaussian(Y)) / 44**2, rel=1e-10)


def test_threads_change_nothing(monkeypatch, rng):
    """The value is the same to the last bit for every number of threads."""
    monkeypatch.setattr(pair_sums, "_EDGE", 16)
    monkeypatch.setattr(tiles, "_SERIAL_ENTRIES", 0)
    X, Y = rng.normal(size=(200, 3)), rng.normal(size=(200, 2))
    values = []
    for threads in (1, 2, 5):
        with gramian.config(threads=threads):
            values.append(hsic(X, Y))
    assert len(set(values)) == 1


@pytest.mark.parametrize("estimator", ["biased", "unbiased"])
def test_features_match_matrices(many_tiles, rng, estimator):
    """Two factors, one factor or none: the same value."""
    X, Y = rng.normal(size=(40, 3)) + 100, rng.normal(size=(40, 2))
    labels = rng.integers(4, size=40)
    one_hot = np.eye(4)[labels]
    pairs = [
        (hsic(X, Y, kernel_x="linear", kernel_y="linear", estimator=estimator), X @ X.T, Y @ Y.T),
        (hsic(X, Y, kernel_x="linear", kernel_y=RBF(1.0), estimator=estimator), X @ X.T, gaussian(Y)),
        (hsic(Y, labels, kernel_x=RBF(1.0), kernel_y="labels", estimator=estimator), gaussian(Y), one_hot @ one_hot.T),
        (hsic(labels, Y, kernel_x="labels", kernel_y="linear", estimator=estimator), one_hot @ one_hot.T, Y @ Y.T),
    ]
    for value, K, L in pairs:
        assert value == pytest.approx(given(K, L, estimator=estimator), rel=1e-8)


@pytest.mark.parametrize("offset", [0.0, 1e6])
def test_nearly_constant_kernels(rng, offset):
    """A constant added to the kernel changes nothing, even one that is much larger than the kernel."""
    K, L = gaussian(rng.normal(size=80)), gaussian(rng.normal(size=80))
    for estimator in ("biased", "unbiased"):
        expected = given(K, L, estimator=estimator)
        assert given(K + offset, L + offset, estimator=estimator) == pytest.approx(expected, rel=1e-6)


def test_too_many_pairs(monkeypatch, rng):
    """What would take too long is refused, and the message names what is faster."""
    monkeypatch.setattr(pair_sums, "_MOST_SAMPLES", 30)
    X, y = rng.normal(size=(40, 2)), rng.normal(size=40)
    with pytest.raises(ValueError, match="approximation='nystroem' or estimator='block'"):
        hsic(X, y)
    assert hsic(X, y, kernel_x="linear", kernel_y="linear") > 0
    assert hsic(X, y, approximation="nystroem") > 0
    assert np.isfinite(hsic(X, y, estimator="linear"))


def _grams(rng, kind):
    """A Gram of one kind with its matrix."""
    F = rng.normal(size=(15, 3)) + 5
    if kind == "dense":
        K = gaussian(F)
        return DenseGram(K), K
    if kind == "features":
        return FeatureGram(F), F @ F.T
    one_hot = np.eye(4)[rng.integers(4, size=15)]
    return FeatureGram(csr_array(one_hot)), one_hot @ one_hot.T


@pytest.mark.parametrize("y_kind", ["dense", "features", "sparse"])
@pytest.mark.parametrize("x_kind", ["dense", "features", "sparse"])
def test_sums_are_traces(rng, x_kind, y_kind):
    """tr(KHLH), tr(KHKH), the U-statistic and the centred diagonal, of every pair of kinds of Gram."""
    (x, K), (y, L) = _grams(rng, x_kind), _grams(rng, y_kind)
    sums = pair_sums.pair_sums(x, y, squares=True)
    n = len(K)
    assert sums.centred() == pytest.approx(trace(K, L), rel=1e-9)
    np.testing.assert_allclose(sums.squares(), [trace(K, K), trace(L, L)], rtol=1e-9)
    unbiased = pair_sums.unbiased_product(sums.xy, sums.x, sums.y) / (n * (n - 3))
    assert unbiased == pytest.approx(unbiased_by_quadruples(K, L), rel=1e-8)
    for side, M in ((sums.x, K), (sums.y, L)):
        np.testing.assert_allclose(side.centred_diagonal(), np.diag(centred(M)), rtol=1e-8, atol=1e-10)
    assert pair_sums.pair_sums(x, y, squares=False).xx is None


def test_tiles_are_shifted_by_rows_and_columns(rng):
    """A tile differs from the matrix by a_i + a_j, and its own diagonal is exact."""
    K = gaussian(rng.normal(size=20))
    side = pair_sums.Tiles(DenseGram(K))
    rows = slice(0, 20)
    shift = K - side(rows, rows)
    np.testing.assert_allclose(shift, np.add.outer(np.diag(shift), np.diag(shift)) / 2, atol=1e-12)
    np.testing.assert_allclose(side(slice(3, 9), slice(11, 20)), side(rows, rows)[3:9, 11:20], atol=1e-15)
    np.testing.assert_allclose(side.diagonal, np.diag(side(rows, rows)), atol=1e-14)


@example(seed=st.integers(0, 10_000), offset=st.floats(-1e3, 1e3))
def test_what_centring_removes_changes_nothing(seed, offset):
    """K_ij + a_i + a_j has the same sums as K, for any a."""
    rng = np.random.default_rng(seed)
    K, L = gaussian(rng.normal(size=9)), gaussian(rng.normal(size=9))
    a = rng.normal(size=9) + offset
    found = pair_sums.pair_sums(DenseGram(K + a[:, None] + a), DenseGram(L), squares=False).centred()
    assert found == pytest.approx(trace(K, L), rel=1e-7, abs=1e-9)


def test_constant_similarities_are_rounding():
    """Of equal similarities no more than rounding is left of the norm, and of others much more."""
    sums = pair_sums.pair_sums(DenseGram(np.full((30, 30), 0.3)), DenseGram(gaussian(np.arange(30.0))), squares=True)
    assert sums.x.is_rounding(np.sqrt(max(sums.squares()[0], 0.0)))
    assert not sums.y.is_rounding(np.sqrt(sums.squares()[1]))
