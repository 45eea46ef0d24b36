"""Embeddings of a Gram against dense eigenvectors, new samples against fitted ones, and clusters of embedded rows."""

import numpy as np
import pytest
from scipy.spatial.distance import cdist
from sklearn.cluster import KMeans
from sklearn.exceptions import ConvergenceWarning

from gramian.clustering.core import (
    Axes,
    kmeans,
    labels_by_first_row,
    nearest_center,
    numbered,
    refill_empty,
    spectral_labels,
    unit_rows,
    used_labels,
)
from gramian.clustering.core.embedding import walk_of
from gramian.grams import DenseGram
from gramian.kernels import RBF, Linear, NeighborGraph
from gramian.metrics import adjusted_rand

KINDS = ["rw", "sym", "kpca", "keca", "relaxed", "relaxed_kernel"]


@pytest.fixture
def X():
    return np.random.default_rng(3).standard_normal((40, 3))


def groups(seed=0):
    """Three groups far apart, and their labels."""
    rng = np.random.default_rng(seed)
    y = np.arange(45) % 3
    return rng.standard_normal((45, 2)) + 12 * np.eye(3, 2)[y], y


def textbook(K, kind, k):
    """The embedding from dense eigenvectors, up to signs."""
    n, d = len(K), K.sum(axis=1)
    H = np.eye(n) - 1 / n
    W = K / np.sqrt(np.outer(d, d))
    matrix = {"kpca": K, "keca": K, "relaxed": H @ W @ H, "relaxed_kernel": H @ K @ H}.get(kind, W)
    values, vectors = np.linalg.eigh(matrix)
    order = np.argsort(-values * vectors.sum(axis=0) ** 2)[:k] if kind == "keca" else np.argsort(-values)[:k]
    values, vectors = values[order], vectors[:, order]
    if kind in ("kpca", "keca"):
        return values, vectors * np.sqrt(values)
    if kind in ("relaxed", "relaxed_kernel"):
        return values, vectors
    scaled = vectors / np.sqrt(d)[:, None]
    return values, scaled / np.linalg.norm(scaled, axis=1, keepdims=True) if kind == "sym" else scaled


@pytest.mark.parametrize("kind", KINDS)
def test_embedding_by_dense_eigenvectors(kind, X):
    """Every kind is the one of its formula, column by column up to the sign."""
    kernel = RBF(1.5)
    axes = Axes.of(kernel.gram(X), kind, 3, kernel=kernel, tol=None)
    values, expected = textbook(kernel(X), kind, 3)
    np.testing.assert_allclose(axes.values, values, rtol=1e-6)
    Z = axes.embedding()
    np.testing.assert_allclose(Z * np.sign((Z * expected).sum(axis=0)), expected, atol=1e-6)


@pytest.mark.parametrize("kind", KINDS)
def test_fitted_samples_are_placed_where_they_were(kind, X):
    """The eigenvector equation puts a fitted sample at its place."""
    kernel = RBF(1.5)
    gram = kernel.gram(X)
    axes = Axes.of(gram, kind, 3, kernel=kernel, tol=None)
    Z, alone = axes.placement(kernel, X, gram)(X)
    np.testing.assert_allclose(Z, axes.embedding(), atol=1e-6)
    assert not alone.any()


def test_samples_outside_are_left_out(X):
    """Samples that are not inside are embedded at zero, and the others as if they were alone."""
    kernel = RBF(1.5)
    inside = np.arange(40) < 30
    axes = Axes.of(kernel.gram(X), "rw", 2, inside=inside, tol=None)
    np.testing.assert_array_equal(axes.inside, inside)
    np.testing.assert_array_equal(axes.embedding()[30:], 0)
    _, alone = textbook(kernel(X[:30]), "rw", 2)
    found = axes.embedding()[:30]
    np.testing.assert_allclose(found * np.sign((found * alone).sum(axis=0)), alone, atol=1e-6)


def test_known_eigenpairs_are_used(X):
    """Eigenpairs found before are not computed again."""
    gram = RBF(1.5).gram(X)
    known = walk_of(gram).eigenpairs(5)
    axes = Axes.of(gram, "rw", 2, known=known)
    np.testing.assert_array_equal(axes.values, known[0][:2])
    np.testing.assert_array_equal(axes.vectors, known[1][:, :2])


def test_axes_beyond_the_rank_are_left_out():
    """A Gram of rank two has two axes, and one of rank zero none."""
    rows = np.random.default_rng(0).standard_normal((20, 2))
    assert Axes.of(Linear().gram(rows), "kpca", 5).values.shape == (2,)
    with pytest.raises(ValueError, match="X is all zero under this kernel"):
        Axes.of(DenseGram(np.zeros((5, 5))), "kpca", 2)
    with pytest.raises(ValueError, match="all rows of X are alike under this kernel"):
        Axes.of(DenseGram(np.ones((5, 5))), "relaxed_kernel", 2)


def test_a_stranger_is_alone(X):
    """A new sample without similarity to any embedded one is told apart, at zero."""
    kernel = NeighborGraph(radius=2.0).fit(X)
    gram = kernel.gram(X)
    Z, alone = Axes.of(gram, "sym", 2).placement(kernel, X, gram)(np.array([[90.0, 0, 0], X[0]]))
    np.testing.assert_array_equal(alone, [True, False])
    np.testing.assert_array_equal(Z[0], 0)


def test_walk_of_negative_similarities():
    """Negative degrees define no walk; the message names the way out."""
    with pytest.raises(ValueError, match="or give n_clusters and embedding='kpca'"):
        walk_of(DenseGram(np.array([[1.0, -2.0], [-2.0, 1.0]])))


@pytest.mark.parametrize("pivots", [True, False])
def test_kmeans(pivots):
    """Groups that lie apart are found, and the centres are the means; without structure it is as good as the peer."""
    X, y = groups()
    Z = np.column_stack([X, X[:, 0] * 0])
    labels, centers = kmeans(Z, 3, seed=0, pivots=pivots)
    assert adjusted_rand(labels, y) == 1
    np.testing.assert_allclose(centers, [Z[labels == c].mean(axis=0) for c in range(3)])
    noise = np.random.default_rng(1).standard_normal((60, 4))
    labels, centers = kmeans(noise, 4, seed=0, n_init=10, pivots=pivots)
    cost = ((noise - centers[labels]) ** 2).sum()
    assert cost <= KMeans(4, n_init=10, random_state=0).fit(noise).inertia_ * (1 + 1e-9)


def test_pivots_leave_out_random_starts_where_groups_are_clear(monkeypatch):
    """One start from the most different rows is enough where it leaves next to no spread."""
    fits = []
    fit = KMeans.fit
    monkeypatch.setattr(KMeans, "fit", lambda self, Z: fits.append(self.n_init) or fit(self, Z))
    kmeans(np.repeat(np.eye(3), 9, axis=0), 3, seed=0)
    assert fits == [1]
    kmeans(np.random.default_rng(0).standard_normal((60, 3)), 3, seed=0, n_init=4)
    assert fits == [1, 1, 4]


def test_rows_that_differ_by_rounding_are_one_cluster():
    """No clusters are made of rounding errors; a warning says that there is one."""
    Z = 0.3 + 1e-16 * np.random.default_rng(0).integers(-3, 4, (20, 1))
    with pytest.warns(ConvergenceWarning, match="distinct clusters"):
        assert not kmeans(Z, 3, seed=0)[0].any()


def test_spectral_labels():
    """Groups far apart are found; a sample that is similar to nothing has label 0."""
    X, y = groups()
    assert adjusted_rand(spectral_labels(RBF(2.0).gram(X), 3, 0), y) == 1
    K = np.zeros((46, 46))
    K[:45, :45] = RBF(2.0)(X)
    labels = spectral_labels(DenseGram(K), 3, 0)
    assert labels[45] == 0
    assert adjusted_rand(labels[:45], y) == 1


def test_labels_are_numbered():
    """By the first row or by size of the old number, with the centres in that order and without empty ones."""
    labels, used = labels_by_first_row(np.array([5, 2, 5, 7, 2]))
    np.testing.assert_array_equal(labels, [0, 1, 0, 2, 1])
    np.testing.assert_array_equal(used, [5, 2, 7])
    labels, used = used_labels(np.array([5, 2, 5, 7, 2]))
    np.testing.assert_array_equal(labels, [1, 0, 1, 2, 0])
    np.testing.assert_array_equal(used, [2, 5, 7])
    labels, centers = numbered(np.array([2, 2, 0]), np.array([[0.0], [1.0], [2.0]]))
    np.testing.assert_array_equal(labels, [0, 0, 1])
    np.testing.assert_array_equal(centers, [[2.0], [0.0]])


def test_nearest_center_and_unit_rows(X):
    """The nearest by all distances; rows of length one, zero rows left."""
    centers = X[:4]
    np.testing.assert_array_equal(nearest_center(X, centers), cdist(X, centers).argmin(axis=1))
    assert nearest_center(X.astype(np.float32), centers).shape == (40,)
    Z = unit_rows(np.vstack([X, np.zeros(3)]))
    np.testing.assert_allclose(np.linalg.norm(Z, axis=1), [1.0] * 40 + [0.0])
    np.testing.assert_allclose(Z[:40] * np.linalg.norm(X, axis=1)[:, None], X)


def test_empty_clusters_take_the_rows_that_fit_worst():
    """Each empty cluster gets the row of largest misfit whose cluster has others."""
    labels = np.array([0, 0, 0, 2])
    assert refill_empty(labels, np.array([1.0, 5.0, 3.0, 9.0]), 4)
    np.testing.assert_array_equal(labels, [0, 1, 3, 2])
    assert not refill_empty(labels, np.zeros(4), 4)
