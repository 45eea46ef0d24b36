"""HSIC and alignment against sums over all quadruples, all permutations, and the textbook's matrices."""

from itertools import permutations

import numpy as np
import pandas as pd
import polars as pl
import pytest
from scipy.sparse import csr_array
from sklearn.datasets import load_iris, load_wine
from sklearn.preprocessing import StandardScaler

import gramian
from dependence.measures.textbook_hsic import centred, gaussian, given, trace, unbiased_by_quadruples
from gramian.dependence import center_alignment, hsic, hsic_test
from gramian.dependence.measures import _pair_sums as pair_sums
from gramian.grams import DenseGram, tiles
from gramian.kernels import RBF, ClusterKernel, Laplacian, NeighborGraph, Polynomial


@pytest.fixture
def rng():
    return np.random.default_rng(0)


@pytest.fixture
def many_tiles(monkeypatch):
    """Tiles of 8×8 values, chunks of 8 rows and threads from the first value on."""
    for name, value in (("_EDGE", 8), ("_CHUNK_ROWS", 8), ("_SHARES", 3)):
        monkeypatch.setattr(pair_sums, name, value)
    monkeypatch.setattr(tiles, "_SERIAL_ENTRIES", 0)
    with gramian.config(threads=3):
        yield


# Estimators ------------------------------------------------------------------------------------------------


def test_biased_by_quadruples(rng):
    """The biased estimate is the sum over all quadruples, samples repeated, over (n − 1)² instead of n²."""
    n = 6
    K, L = gaussian(rng.normal(size=(n, 2))), gaussian(rng.normal(size=n))
    pairs = sum(K[i, j] * L[i, j] for i in range(n) for j in range(n)) / n**2
    triples = sum(K[i, j] * L[i, q] for i in range(n) for j in range(n) for q in range(n)) / n**3
    quadruples = K.sum() * L.sum() / n**4
    expected = (pairs + quadruples - 2 * triples) * n**2 / (n - 1) ** 2
    assert given(K, L) == pytest.approx(expected, rel=1e-12)
    assert given(K, L) == pytest.approx(trace(K, L) / (n - 1) ** 2, rel=1e-12)


def test_unbiased_by_quadruples(rng):
    """The unbiased estimate is the U-statistic, whatever the diagonals."""
    K, L = gaussian(rng.normal(size=(7, 2))), gaussian(rng.normal(size=7))
    expected = unbiased_by_quadruples(K, L)
    assert given(K, L, estimator="unbiased") == pytest.approx(expected, rel=1e-11)
    assert given(K + 5 * np.eye(7), L, estimator="unbiased") == pytest.approx(expected, rel=1e-11)


def test_mean_over_all_pairings(rng):
    """Over all pairings the unbiased estimate averages to zero, the biased one to tr(HKH) tr(HLH) / (n − 1)³."""
    n = 5
    K, L = gaussian(rng.normal(size=(n, 2))), gaussian(rng.normal(size=n))
    orders = [list(order) for order in permutations(range(n))]
    unbiased, biased = (
        np.mean([given(K, L[np.ix_(order, order)], estimator=estimator) for order in orders])
        for estimator in ("unbiased", "biased")
    )
    assert abs(unbiased) < 1e-15
    assert biased == pytest.approx(np.trace(centred(K)) * np.trace(centred(L)) / (n - 1) ** 3, rel=1e-12)


@pytest.mark.parametrize(
    ("load", "expected"), [(load_wine, 1.831565911713486), (load_iris, 0.976220629804987)], ids=["wine", "iris"]
)
def test_known_values(load, expected):
    """Linear kernel and labels on two well-known tables."""
    X, y = load(return_X_y=True)
    X = StandardScaler().fit_transform(X)
    assert hsic(X, y, kernel_x="linear", kernel_y="labels") == pytest.approx(expected, rel=1e-12)
    one_hot = np.eye(3)[y]
    covariance = (X - X.mean(axis=0)).T @ (one_hot - one_hot.mean(axis=0))
    assert np.sum(covariance**2) / (len(X) - 1) ** 2 == pytest.approx(expected, rel=1e-12)


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


def test_blocks(rng):
    """One block of all samples is the unbiased estimate, four samples are one quadruple."""
    X, Y = rng.normal(size=(30, 2)), rng.normal(size=30)
    kernels = {"kernel_x": RBF(1.0), "kernel_y": RBF(1.0)}
    whole = hsic(X, Y, estimator="unbiased", **kernels)
    assert hsic(X, Y, estimator="block", block_size=30, **kernels) == pytest.approx(whole, rel=1e-10)
    four = unbiased_by_quadruples(gaussian(X[:4]), gaussian(Y[:4]))
    assert hsic(X[:4], Y[:4], estimator="linear", **kernels) == pytest.approx(four, rel=1e-10)


def test_blocks_of_a_sorted_table(rng):
    """Blocks are drawn at random: their mean is near the unbiased estimate where rows are sorted by label."""
    labels = np.repeat(np.arange(3), 400)
    X = labels + rng.normal(size=1200)
    exact = hsic(X, labels, kernel_y="labels", estimator="unbiased")
    for estimator in ("block", "linear"):
        values = [hsic(X, labels, kernel_y="labels", estimator=estimator, random_state=seed) for seed in range(20)]
        error = np.std(values, ddof=1) / np.sqrt(len(values))
        assert abs(np.mean(values) - exact) < 4 * error + 1e-3 * exact
        assert error < 0.1 * exact


@pytest.mark.parametrize("block_size", [4, 12, 30])
def test_variance_of_blocks(rng, block_size):
    """For independent samples the variance is about 2 tr(C_x²) tr(C_y²) / (n (B − 3)), and the blocks estimate it."""
    n, kernels = 120, {"kernel_x": RBF(1.0), "kernel_y": RBF(1.0)}
    many = rng.normal(size=(2, 2000))
    size_x, size_y = (hsic(Z, Z, estimator="unbiased", **kernels) for Z in many)
    tests = [hsic_test(*rng.normal(size=(2, n)), method="block", block_size=block_size, **kernels) for _ in range(400)]
    values = np.array([test.statistic for test in tests])
    assert abs(values.mean()) < 4 * values.std() / 20
    stated = 2 * size_x * size_y / (n * (block_size - 3))
    assert values.var() == pytest.approx(stated, rel=0.35)
    assert np.mean([test.null_variance for test in tests]) == pytest.approx(values.var(), rel=0.25)


# What goes in ----------------------------------------------------------------------------------------------


def test_containers(rng):
    """Arrays, data frames, vectors and sparse matrices say the same."""
    X, y = np.round(rng.normal(size=(50, 3)), 1), rng.normal(size=50)
    expected = hsic(X, y)
    names = ["a", "b", "c"]
    for table in (pd.DataFrame(X, columns=names), pl.DataFrame(X, schema=names), csr_array(X), X.tolist()):
        assert hsic(table, y) == pytest.approx(expected, rel=1e-9)
    for vector in (y[:, None], pd.Series(y), pl.Series(y), y.tolist()):
        assert hsic(X, vector) == pytest.approx(expected, rel=1e-12)


def test_labels(rng):
    """Labels of any kind are compared for equality."""
    X, codes = rng.normal(size=(40, 2)), rng.integers(3, size=40)
    expected = hsic(X, np.equal.outer(codes, codes).astype(float), kernel_y="precomputed")
    names = np.array(["red", "green", "blue"])[codes]
    for labels in (
        codes,
        names,
        names.tolist(),
        pd.Series(names),
        pd.Categorical(names),
        pl.Series(names),
        codes * 0.5,
    ):
        assert hsic(X, labels, kernel_y="labels") == pytest.approx(expected, rel=1e-10)


def test_holes(rng):
    """Rows with holes, through a kernel that takes them; either way of holding it."""
    X = np.vstack([rng.normal(size=(60, 3)), rng.normal(size=(60, 3)) + 4])
    X[rng.random(X.shape) < 0.2] = np.nan
    X[np.isnan(X).all(axis=1)] = 0.0
    labels = np.repeat([0, 1], 60)
    for kernel in (ClusterKernel(3, 4, random_state=0), ClusterKernel(10, 20, random_state=0)):
        K = kernel.fit(X)(X)
        expected = hsic(K, labels, kernel_x="precomputed", kernel_y="labels")
        assert hsic(X, labels, kernel_x=kernel, kernel_y="labels") == pytest.approx(expected, rel=1e-6)
    assert hsic_test(X, labels, kernel_x=kernel, kernel_y="labels", random_state=0).pvalue == 0.001


def test_graphs_and_grams(rng):
    """Sparse similarities, a Gram and a view of one go in as ``precomputed``."""
    X, y = rng.normal(size=(60, 2)), rng.normal(size=60)
    graph = NeighborGraph(8).fit(X)(X)
    dense = hsic(graph.toarray(), y, kernel_x="precomputed")
    assert hsic(graph, y, kernel_x="precomputed") == pytest.approx(dense, rel=1e-9)
    assert hsic(X, y, kernel_x=NeighborGraph(8)) == pytest.approx(dense, rel=1e-9)
    view = DenseGram(gaussian(X)).normalized()
    assert hsic(view, y, kernel_x="precomputed") == pytest.approx(
        hsic(view.dense(), y, kernel_x="precomputed"), rel=1e-9
    )


@pytest.mark.parametrize("offset", [0.0, 1e6])
def test_nearly_constant_kernels(rng, offset):
    """A constant added to the kernel changes nothing, even one that is much larger than the kernel."""
    K, L = gaussian(rng.normal(size=80)), gaussian(rng.normal(size=80))
    for estimator in ("biased", "unbiased"):
        expected = given(K, L, estimator=estimator)
        assert given(K + offset, L + offset, estimator=estimator) == pytest.approx(expected, rel=1e-6)


@pytest.mark.parametrize("kernel", ["rbf", "linear"])
def test_single_precision(rng, kernel):
    """float32 data give the same to five digits, with independent samples too."""
    X, Y = rng.normal(size=(600, 4)) + 10, rng.normal(size=(600, 2))
    options = {"kernel_x": kernel, "kernel_y": kernel}
    expected = hsic(X, Y, **options)
    single = X.astype(np.float32), Y.astype(np.float32)
    assert hsic(*single, **options) == pytest.approx(expected, rel=2e-5)
    assert hsic_test(*single, method="gamma", **options).pvalue == pytest.approx(
        hsic_test(X, Y, method="gamma", **options).pvalue, abs=1e-4
    )


@pytest.mark.parametrize("approximation", ["nystroem", "fourier"])
def test_approximations(rng, approximation):
    """Landmarks are within 1 % and lower; waves are right on average."""
    X = rng.normal(size=(1500, 3))
    Y = X[:, :1] ** 2 + 0.5 * rng.normal(size=(1500, 1))
    exact = hsic(X, Y)
    values = np.array(
        [hsic(X, Y, approximation=approximation, n_features=200, random_state=seed) for seed in range(12)]
    )
    if approximation == "nystroem":
        assert np.all((values > 0.99 * exact) & (values < 1.0001 * exact))
    else:
        assert abs(values.mean() - exact) < 4 * values.std() / np.sqrt(len(values))


def test_all_landmarks(rng):
    """With every sample a landmark nothing is lost; labels and given matrices are not approximated."""
    X, labels = rng.normal(size=(50, 2)), rng.integers(3, size=50)
    exact = hsic(X, labels, kernel_y="labels")
    assert hsic(X, labels, kernel_y="labels", approximation="nystroem") == pytest.approx(exact, rel=1e-6)
    K = gaussian(X)
    assert given(K, K, approximation="nystroem") == given(K, K)


# Alignment -------------------------------------------------------------------------------------------------


def test_alignment_is_a_cosine(rng):
    """CKA is the cosine between the centred matrices, debiased CKA that between the U-centred ones."""
    K, L = gaussian(rng.normal(size=(12, 2))), gaussian(rng.normal(size=12))
    Kc, Lc = centred(K), centred(L)
    expected = np.sum(Kc * Lc) / np.linalg.norm(Kc) / np.linalg.norm(Lc)
    kernels = {"kernel_x": "precomputed", "kernel_y": "precomputed"}
    assert center_alignment(K, L, **kernels) == pytest.approx(expected, rel=1e-11)
    assert given(K, L, normalized=True) == pytest.approx(expected, rel=1e-11)
    parts = [unbiased_by_quadruples(A, B) for A, B in ((K, L), (K, K), (L, L))]
    assert center_alignment(K, L, estimator="unbiased", **kernels) == pytest.approx(
        parts[0] / np.sqrt(parts[1] * parts[2]), rel=1e-10
    )


def test_debiased_alignment_of_wide_noise(rng):
    """With more columns than rows noise looks aligned, unless the bias is removed."""
    X, Y = rng.normal(size=(2, 40, 800))
    assert center_alignment(X, Y) > 0.9
    assert abs(center_alignment(X, Y, estimator="unbiased")) < 0.1


# Bad input -------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"estimator": "best"}, "estimator='best' is not known; pass one of 'biased', 'unbiased'"),
        ({"normalized": 1}, "normalized=1 must be True or False"),
        ({"normalized": True, "estimator": "block"}, "normalized=True is not for estimator='block'"),
        ({"block_size": 5}, "block_size=5 is only for estimator='block'"),
        ({"block_size": 3, "estimator": "block"}, "block_size=3 must be a whole number from 4 to 20"),
        ({"approximation": "svd"}, "approximation='svd' is not known; pass None, 'nystroem' or 'fourier'"),
        ({"n_features": 0}, "n_features=0 must be a whole number >= 1"),
        ({"kernel_y": "gaussian"}, "kernel_y: kernel='gaussian' is not a kernel; .*'labels'"),
        ({"kernel_x": "precomputed"}, "X: kernel='precomputed' needs a square matrix"),
        ({"kernel_y": "labels"}, "Y has 20 different labels for 20 samples"),
        ({"kernel_x": "polynomial", "approximation": "fourier"}, "X: kernel=.* has no known Fourier transform"),
    ],
)
def test_bad_parameters(rng, options, message):
    """Every parameter out of range is refused by name."""
    with pytest.raises(ValueError, match=message):
        hsic(rng.normal(size=(20, 2)), rng.normal(size=20), **options)


def test_bad_data(rng):
    """Data that cannot be compared are refused, and the message says which side."""
    X, y = rng.normal(size=(20, 2)), rng.normal(size=20)
    holes = np.where(np.arange(20) == 3, np.nan, y)
    lopsided = gaussian(y) + np.triu(np.ones((20, 20)))
    cases = [
        ((X, y[:-1]), {}, "X has 20 samples but Y has 19"),
        ((X[:1], y[:1]), {}, "n_samples=1 is too few; this needs at least 2"),
        ((X[:3], y[:3]), {"estimator": "unbiased"}, "n_samples=3 is too few; this needs at least 4"),
        ((X, holes), {}, "Input Y contains NaN"),
        ((X, ["a", "b"] * 10), {}, "Y holds text; pass kernel_y='labels'"),
        ((["a", "b"] * 10, y), {}, "X holds text; pass kernel_x='labels'"),
        ((X, lopsided), {"kernel_y": "precomputed"}, "Y: kernel='precomputed' needs a symmetric matrix"),
        ((X, X), {"kernel_y": "labels"}, "labels are a vector"),
        ((X, csr_array(X)), {"kernel_y": "labels"}, "labels are a vector"),
        ((X, np.where(np.isnan(holes), np.nan, 1.0)), {"kernel_y": "labels"}, "missing labels"),
        ((X, ["a", None] * 10), {"kernel_y": "labels"}, "Y has missing labels"),
        ((X, pd.Categorical(["a", None] * 10)), {"kernel_y": "labels"}, "Y has missing labels"),
        ((X, [1.0, np.inf] * 10), {"kernel_y": "labels"}, "Y has missing labels"),
        ((X, np.array(["a", 1] * 10, object)), {"kernel_y": "labels"}, "Y mixes labels of types int, str"),
        ((None, y), {}, "X is None; pass an array"),
        ((DenseGram(gaussian(y)), y), {}, "kernel_x='precomputed'"),
    ]
    for data, options, message in cases:
        with pytest.raises(ValueError, match=message):
            hsic(*data, **options)


def test_lopsided_matrices(rng):
    """A matrix that is symmetric up to a little is averaged with its transpose, and that is said once."""
    K, y = gaussian(rng.normal(size=20)), rng.normal(size=20)
    K[0, 1] += 1e-6
    with pytest.warns(UserWarning, match="differs from its transpose") as caught:
        found = hsic(K, y, kernel_x="precomputed")
    assert len(caught) == 1
    assert found == hsic((K + K.T) / 2, y, kernel_x="precomputed")


def test_bad_tests(rng):
    """The same for the tests of independence and the alignment."""
    X, y = rng.normal(size=(20, 2)), rng.normal(size=20)
    cases = [
        ({"method": "chi2"}, "method='chi2' is not known; pass one of 'permutation', 'gamma', 'block'"),
        ({"n_permutations": 0}, "n_permutations=0 must be a whole number >= 1"),
        ({"block_size": 5}, "block_size=5 is only for method='block'"),
        ({"method": "block", "block_size": 11}, "block_size=11 leaves one block"),
        ({"method": "gamma", "kernel_x": lambda A, B: -A @ B.T}, "needs positive semi-definite kernels"),
    ]
    for options, message in cases:
        with pytest.raises(ValueError, match=message):
            hsic_test(X, y, **options)
    with pytest.raises(ValueError, match="n_samples=5 is too few"):
        hsic_test(X[:5], y[:5], method="gamma")
    with pytest.raises(ValueError, match="estimator='block' is not known; pass 'biased' or 'unbiased'"):
        center_alignment(X, y, estimator="block")


def test_too_many_pairs(monkeypatch, rng):
    """What would take too long is refused, and the message names what is faster."""
    monkeypatch.setattr(pair_sums, "_MOST_SAMPLES", 30)
    X, y = rng.normal(size=(40, 2)), rng.normal(size=40)
    with pytest.raises(ValueError, match="approximation='nystroem' or estimator='block'"):
        hsic(X, y)
    assert hsic(X, y, kernel_x="linear", kernel_y="linear") > 0
    assert hsic(X, y, approximation="nystroem") > 0
    assert np.isfinite(hsic(X, y, estimator="linear"))
