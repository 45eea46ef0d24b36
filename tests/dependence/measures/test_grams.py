"""The Grams of two samples against dense kernel matrices, whatever the samples come in."""

import numpy as np
import pandas as pd
import polars as pl
import pytest
from scipy.sparse import csr_array

from dependence.measures.textbook_hsic import gaussian, given
from gramian.dependence import hsic, hsic_test
from gramian.dependence.measures._grams import check_labels, moderate, moderate_grams, paired_grams, restored
from gramian.grams import DenseGram, FeatureGram
from gramian.kernels import RBF, ClusterKernel, NeighborGraph


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


def test_pairs_of_grams(rng):
    """Each side is the matrix of its own kernel; the numbers of samples have to agree and to be enough."""
    X, labels = rng.normal(size=(12, 2)), rng.integers(3, size=12)
    x, y = paired_grams(X, labels, RBF(0.7), "labels")
    np.testing.assert_allclose(x.dense(), gaussian(X, 0.7), atol=1e-12)
    np.testing.assert_array_equal(y.dense(), np.equal.outer(labels, labels))
    with pytest.raises(ValueError, match="X has 12 samples but Y has 11"):
        paired_grams(X, labels[:-1], "rbf", "labels")
    with pytest.raises(ValueError, match="n_samples=12 is too few; this needs at least 13"):
        paired_grams(X, labels, "rbf", "labels", least=13)
    with pytest.raises(ValueError, match="approximation='none' is not known"):
        paired_grams(X, labels, "rbf", "labels", approximation="none")


def test_equal_rows_are_equally_alike():
    """Of equal rows no width can be told; all similarities are one."""
    x, _ = paired_grams(np.full((5, 2), 3.0), np.arange(5.0), "rbf", "rbf")
    np.testing.assert_array_equal(x.dense(), 1.0)


@pytest.mark.parametrize("size", [1e-200, 1e-9, 0.5, 3.0, 1e12, 1e200])
def test_moderate_grams_times_their_unit_are_the_same(rng, size):
    """The unit is a power of four, so dividing by it changes no digit; ordinary sizes are left alone."""
    K = size * gaussian(rng.normal(size=6))
    gram, unit = moderate(DenseGram(K), "X")
    np.testing.assert_array_equal(gram.dense() * unit, K)
    assert np.log2(unit) % 2 == 0
    assert 2.0**-20 <= np.abs(gram.diagonal()).max() <= 2.0**20
    assert (unit == 1) == (2.0**-20 <= size <= 2.0**20)


def test_a_zero_diagonal_is_not_the_size(rng):
    """Of a Gram whose diagonal is zero, as squared distances have, some rows tell the size."""
    D = 1e30 * np.subtract.outer(np.arange(4.0), np.arange(4.0)) ** 2
    gram, unit = moderate(DenseGram(D), "X")
    np.testing.assert_array_equal(gram.dense() * unit, D)
    assert unit > 1e20
    with pytest.raises(ValueError, match="sums over X overflow"):
        moderate(FeatureGram(np.array([[1e200], [1.0]])), "X")


def test_restored_units():
    """A value in units of both sides; zero stays zero, and what is too large is told."""
    assert restored(0.25, 4.0, 16.0) == 16.0
    assert restored(0.0, 2.0**900, 2.0**900) == 0.0
    with pytest.raises(ValueError, match="sums over X and Y overflow"):
        restored(1.0, 2.0**900, 2.0**900)


@pytest.mark.parametrize(
    ("labels", "message"),
    [
        (np.array(["a", None], object), "y has missing labels"),
        (np.array(["2020-01-01", "NaT"], "M8[D]"), "y has missing labels"),
        (np.array([1.0, np.inf]), "y has missing labels"),
        (np.array(["a", 1], object), "y mixes labels of types int, str"),
    ],
)
def test_labels_that_cannot_be_compared(labels, message):
    with pytest.raises(ValueError, match=message):
        check_labels(labels, "y")


def test_moderate_pairs():
    """Two sides in units of their own, whose product with the units is that of the kernels."""
    X, Y = np.arange(5.0)[:, None], 1e9 * np.arange(5.0)[::-1, None]
    x, y, units = moderate_grams(X, Y, "linear", "linear", least=5)
    assert units[0] == 1.0 < units[1]
    np.testing.assert_allclose(units[1] * y.dense(), Y @ Y.T, rtol=1e-12)
    np.testing.assert_allclose(x.dense(), X @ X.T, rtol=1e-12)
    with pytest.raises(ValueError, match="n_samples=5 is too few"):
        moderate_grams(X, Y, "linear", "linear", least=6)
