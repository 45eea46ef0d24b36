"""Neighbour graphs against brute force over all pairs."""

import pickle

import numpy as np
import pytest
from scipy.sparse import issparse
from scipy.sparse.csgraph import connected_components

import gramian
from gramian.grams import SparseGram
from gramian.kernels import RBF, Cauchy, ClusterKernel, Cosine, Laplacian, NeighborGraph, Polynomial, Precomputed, Tanh
from gramian.kernels import _neighbors as neighbors
from gramian.mixture import mcar


def rows(n=40, d=2, seed=0):
    """Reproducible rows."""
    return np.random.default_rng(seed).standard_normal((n, d))


def distances(X, Y):
    """Euclidean distances from the differences."""
    return np.sqrt(((X[:, None] - Y[None]) ** 2).sum(axis=2))


def named(similarity, k, same):
    """The mask of each row's k most similar columns, itself left out."""
    similarity = similarity.copy()
    if same:
        np.fill_diagonal(similarity, -np.inf)
    mask = np.zeros(similarity.shape, bool)
    np.put_along_axis(mask, np.argsort(-similarity, axis=1)[:, :k], True, axis=1)
    return mask


def textbook(X, *, k=None, radius=None, kernel=None, mutual=False):
    """The symmetric graph as a dense matrix."""
    D = distances(X, X)
    weight = np.ones_like(D) if kernel is None else kernel(X)
    if radius is not None:
        mask = (radius > D) & ~np.eye(len(X), dtype=bool)
    else:
        mask = named(-D if kernel is None else weight, k, same=True)
    return np.where(mask & mask.T if mutual else mask | mask.T, weight, 0.0)


@pytest.mark.parametrize("d", [2, 20])
@pytest.mark.parametrize("mutual", [False, True])
@pytest.mark.parametrize("kernel", [None, RBF(1.5), Cauchy(1.0), Laplacian(2.0), Polynomial(2), 2.0 * RBF(1.0)])
def test_nearest_neighbors(d, mutual, kernel):
    """The graph of the k most similar rows is the one of all pairs, by tree and by brute force, or and mutual."""
    X = rows(d=d)
    W = NeighborGraph(4, kernel=kernel, mutual=mutual).fit(X)(X)
    assert issparse(W)
    np.testing.assert_allclose(W.toarray(), textbook(X, k=4, kernel=kernel, mutual=mutual), rtol=1e-10)
    assert (W != W.T).nnz == 0


def test_cosine_neighbors():
    """With a kernel that is not of distances, the most alike rows are neighbours, not the nearest."""
    X = np.abs(rows(d=3)) * np.logspace(0, 2, 40)[:, None]
    W = NeighborGraph(3, kernel=Cosine()).fit(X)(X).toarray()
    np.testing.assert_allclose(W, textbook(X, k=3, kernel=Cosine()), rtol=1e-10)
    assert not np.array_equal(W > 0, textbook(X, k=3) > 0)


@pytest.mark.parametrize("d", [2, 20])
@pytest.mark.parametrize("kernel", [None, RBF(1.0), Laplacian(1.0)])
def test_radius(d, kernel):
    """All pairs closer than the radius are connected."""
    X = rows(d=d)
    radius = float(np.median(distances(X, X)))
    W = NeighborGraph(radius=radius, kernel=kernel).fit(X)(X)
    np.testing.assert_allclose(W.toarray(), textbook(X, radius=radius, kernel=kernel), rtol=1e-10)


def test_radius_is_strict():
    """Rows exactly at the radius are not connected, and a row without neighbours stays alone."""
    X = np.array([[0.0], [1.0], [1.5], [9.0]])
    W = NeighborGraph(radius=1.0).fit(X)(X).toarray()
    np.testing.assert_array_equal(W, [[0, 0, 0, 0], [0, 0, 1, 0], [0, 1, 0, 0], [0, 0, 0, 0]])


@pytest.mark.parametrize("mutual", [False, True])
@pytest.mark.parametrize("kernel", [None, RBF(1.0), Polynomial(2)])
def test_copies_count_as_one_neighbor(kernel, mutual):
    """Six copies of five rows: neighbours are other rows, by their first occurrence, and copies hang on theirs."""
    distinct, copies = rows(5), 6
    X = np.repeat(distinct, copies, axis=0)
    W = NeighborGraph(3, kernel=kernel, mutual=mutual).fit(X)(X).toarray()
    weight = np.ones((5, 5)) if kernel is None else kernel(distinct)
    mask = named(-distances(distinct, distinct) if kernel is None else weight, 3, same=True)
    first = copies * np.arange(5)
    between = (mask & mask.T if mutual else mask | mask.T) * weight
    np.testing.assert_allclose(W[np.ix_(first, first)], between, rtol=1e-12)
    expected = np.zeros((30, 30))
    for i in range(5):
        for j in range(5):
            if i != j and not mutual:  # every copy names the first occurrence of the row's neighbours
                expected[copies * i : copies * (i + 1), copies * j] = mask[i, j] * weight[i, j]
        expected[copies * i, copies * i + 1 : copies * (i + 1)] = weight[i, i]
    expected = np.maximum(expected, expected.T)
    expected[np.ix_(first, first)] = between
    np.testing.assert_allclose(W, expected, rtol=1e-12)


def test_heaps_of_copies_stay_connected():
    """Rows that occur more often than there are neighbours do not fall apart into one component per value."""
    X = np.repeat(np.arange(6.0)[:, None], 20, axis=0)
    W = NeighborGraph(5).fit(X)(X)
    assert connected_components(W)[0] == 1


def test_all_rows_alike_hang_on_the_first():
    """With one distinct row the graph is a star."""
    W = NeighborGraph(3).fit(np.ones((4, 2)))(np.ones((4, 2))).toarray()
    np.testing.assert_array_equal(W, [[0, 1, 1, 1], [1, 0, 0, 0], [1, 0, 0, 0], [1, 0, 0, 0]])


def test_sharpened_cluster_kernel_with_holes():
    """Each row's most similar rows under a kernel that takes missing values, as brute force over its block has it."""
    X = mcar(rows(60), 0.3, random_state=0)[0]
    graph = NeighborGraph(5, kernel=ClusterKernel(3, 8, random_state=0)).fit(X)
    K = graph.kernel_(X)
    mask = named(K, 5, same=True)
    np.testing.assert_allclose(graph(X).toarray(), np.where(mask | mask.T, K, 0), atol=1e-12)


def test_most_similar_rows_are_found_across_tiles(monkeypatch):
    """Rows that compete tile by tile give the neighbours of the whole."""
    monkeypatch.setattr(neighbors, "_TILE_COLUMNS", 7)
    X = rows(40)
    K = Laplacian(1.0)(X)
    mask = named(K, 4, same=True)
    W = NeighborGraph(4, kernel=Laplacian(1.0)).fit(X)(X).toarray()
    np.testing.assert_allclose(W, np.where(mask | mask.T, K, 0), rtol=1e-12)


@pytest.mark.parametrize("kernel", [None, RBF(1.0), Laplacian(1.0)])
def test_more_neighbors_than_rows(kernel):
    """Asking for at least n neighbours connects all pairs."""
    X = rows(7)
    W = NeighborGraph(50, kernel=kernel).fit(X)(X).toarray()
    expected = np.ones((7, 7)) if kernel is None else kernel(X)
    np.testing.assert_allclose(W, expected * (1 - np.eye(7)), rtol=1e-12)


def connected(X, new, k, kernel=None, *, mutual=False):
    """Edges of new rows by the definition: to rows they name, or that would give up their last neighbour for them."""
    if kernel is None:
        likeness, own, weight = -distances(new, X), -distances(X, X), np.ones((len(new), len(X)))
    else:
        likeness, own, weight = kernel(new, X), kernel(X), kernel(new, X)
    names = named(likeness, k, same=False)
    would = np.zeros_like(names)
    for j in range(len(X)):
        others = np.sort(np.delete(own[j], j))[::-1]
        would[:, j] = likeness[:, j] > others[k - 1]
    return np.where(names & would if mutual else names | would, weight, 0)


@pytest.mark.parametrize("d", [2, 20])
@pytest.mark.parametrize("mutual", [False, True])
@pytest.mark.parametrize("kernel", [None, RBF(1.0), Laplacian(1.0), Polynomial(2), Tanh(0.1, 0.0)])
def test_new_rows(d, mutual, kernel):
    """A new row is tied to the rows it names and to those that would name it, by tree, brute force and tiles."""
    X, new = rows(d=d), rows(6, d, seed=1)
    graph = NeighborGraph(3, kernel=kernel, mutual=mutual).fit(X)
    W = graph(new, X)
    assert issparse(W)
    expected = connected(X, new, 3, None if kernel is None else graph.kernel_, mutual=mutual)
    np.testing.assert_allclose(W.toarray(), expected, rtol=1e-10)
    V = np.random.default_rng(2).standard_normal((40, 2))
    np.testing.assert_allclose(graph.product(new, X, V), W @ V, atol=1e-13)


@pytest.mark.parametrize("kernel", [None, RBF(1.0), Laplacian(1.0)])
def test_new_rows_within_a_radius(kernel):
    """A new row is tied to all rows within the radius."""
    X, new = rows(), rows(6, seed=1)
    weight = np.ones((6, 40)) if kernel is None else kernel(new, X)
    W = NeighborGraph(radius=0.8, kernel=kernel).fit(X)(new, X)
    np.testing.assert_allclose(W.toarray(), np.where(distances(new, X) < 0.8, weight, 0), rtol=1e-10)


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize(
    "kernel", [None, RBF(1.0), Laplacian(1.0), Tanh(0.1, 0.0), ClusterKernel(3, 6, random_state=0)]
)
@pytest.mark.parametrize("options", [{"n_neighbors": 3}, {"n_neighbors": 3, "mutual": True}, {"radius": 0.8}])
def test_fitted_rows_find_their_edges_again(kernel, options, dtype):
    """Fitted rows given again, in another order and among new rows, have the edges that they have in the graph."""
    X, new = np.round(rows(60), 1).astype(dtype), rows(7, seed=1).astype(dtype)  # rounded: many distances are equal
    X = X[np.unique(X, axis=0, return_index=True)[1]]
    graph = NeighborGraph(kernel=kernel, **options).fit(X)
    W = graph.gram(X).dense()
    np.testing.assert_array_equal(graph(X, X).toarray(), W)
    order = np.random.default_rng(0).permutation(len(X) + 7)
    mixed = graph(np.vstack([X, new])[order], X).toarray()
    expected = np.vstack([W, graph(new, X).toarray()])[order]
    np.testing.assert_allclose(mixed, expected, rtol=1e-6)


def test_a_copy_of_a_row_that_occurs_often_is_its_first_occurrence():
    """Of several equal fitted rows the first one answers; the sign of zero and the bits of NaN do not matter."""
    X = np.array([[0.0, 1.0], [0.0, 1.0], [3.0, 1.0], [4.0, 5.0], [0.0, 1.0]])
    graph = NeighborGraph(1).fit(X)
    np.testing.assert_array_equal(graph(np.array([[-0.0, 1.0]]), X).toarray(), graph(X).toarray()[:1])
    holes = mcar(rows(30), 0.3, random_state=0)[0]
    graph = NeighborGraph(3, kernel=ClusterKernel(2, 4, random_state=0)).fit(holes)
    again = np.where(np.isnan(holes), -np.nan, holes)
    np.testing.assert_array_equal(graph(again, holes).toarray(), graph(holes).toarray())


def test_few_rows_take_any_new_one():
    """Rows with fewer neighbours than they may have would name every new row, as would a single distinct one."""
    for kernel in (None, Laplacian(1.0)):
        W = NeighborGraph(5, kernel=kernel, mutual=True).fit(rows(4))([[50.0, 0.0]], rows(4))
        np.testing.assert_array_equal(
            W.toarray() > 0, np.ones((1, 4)) if kernel is None else kernel([[50.0, 0.0]], rows(4)) > 0
        )
    W = NeighborGraph(5).fit(np.ones((3, 2)))([[2.0, 2.0]], np.ones((3, 2)))
    np.testing.assert_array_equal(W.toarray(), [[1, 0, 0]])


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_gram_is_sparse(dtype):
    """The Gram is sparse in the precision of the data, with zero diagonal and the degrees of the graph."""
    X = rows().astype(dtype)
    for kernel in (None, RBF(1.0), Laplacian(1.0)):
        gram = NeighborGraph(4, kernel=kernel).fit(X).gram(X)
        assert isinstance(gram, SparseGram)
        assert gram.dtype == dtype
        assert gram.matrix.nnz <= 2 * 4 * 40
        np.testing.assert_array_equal(gram.diagonal(), 0)
        expected = textbook(X.astype(np.float64), k=4, kernel=kernel).sum(axis=1)
        np.testing.assert_allclose(gram.degrees(), expected, rtol=1e-5)
    np.testing.assert_array_equal(NeighborGraph().fit(X).diagonal(X), np.zeros(40))


def test_a_large_graph_is_never_dense():
    """Twenty thousand rows give a graph far below the memory budget that the dense matrix would break."""
    import gramian

    X = rows(20000)
    with gramian.config(memory_budget="100MB"):
        gram = NeighborGraph(5, kernel=RBF("median20")).fit(X).gram(X)
        assert gram.matrix.nnz <= 2 * 5 * 20000
        np.testing.assert_allclose(gram @ np.ones(20000), gram.degrees())


def test_weighting_kernel_is_fitted_on_a_copy():
    """The width rule of the weighting kernel is resolved in fit, on a copy."""
    X = rows()
    graph = NeighborGraph(4, kernel=RBF("median")).fit(X)
    assert graph.kernel_.width_ == RBF("median").fit(X).width_
    assert not hasattr(graph.kernel, "width_")


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"n_neighbors": 0}, r"n_neighbors=0 must be a whole number >= 1"),
        ({"n_neighbors": 2.5}, r"n_neighbors=2\.5 must be a whole number"),
        ({"radius": 0.0}, r"radius=0\.0 must be a positive number"),
        ({"radius": "far"}, r"radius='far' must be a positive number"),
        ({"mutual": 1}, r"mutual=1 must be True or False"),
        ({"kernel": Precomputed()}, r"kernel=Precomputed\(\) must be a kernel of samples"),
    ],
)
def test_bad_parameters(options, message):
    """A bad parameter is refused by name, with its value and what is allowed."""
    with pytest.raises(ValueError, match=message):
        NeighborGraph(**options).fit(rows())


def test_one_row():
    """A single row has no neighbours."""
    with pytest.raises(ValueError, match=r"at least two rows .* n_samples=1"):
        NeighborGraph().fit(rows(1))


def test_graphs_do_not_add():
    """A sum with a graph is refused by name instead of failing inside."""
    for kernel in (RBF(1.0) + NeighborGraph(), 2.0 * NeighborGraph(), NeighborGraph() * RBF(1.0), 2.0 * Precomputed()):
        with pytest.raises(ValueError, match="cannot be part of a sum or product; combine the matrices"):
            kernel.fit(np.eye(5))


def test_radius_does_not_take_holes():
    """Distances between rows with holes do not exist; the refusal comes from the check, not from inside."""
    graph = NeighborGraph(radius=1.0, kernel=ClusterKernel(2, 3, random_state=0))
    assert not graph.accepts_nan
    with pytest.raises(ValueError, match="NaN"):
        graph.fit([[1.0, np.nan], [0.0, 1.0], [2.0, 3.0]])


def test_fitted_rows_are_prepared_once(monkeypatch):
    """Asking again about the same rows does not compute their features again, and a copy starts afresh."""
    X, new = rows(50), rows(3, seed=1)
    graph = NeighborGraph(5, kernel=ClusterKernel(2, 4, random_state=0)).fit(X)
    first = graph(new, X)
    asked = []
    features = ClusterKernel._features
    monkeypatch.setattr(ClusterKernel, "_features", lambda self, Z: asked.append(len(Z)) or features(self, Z))
    np.testing.assert_array_equal(graph(new, X).toarray(), first.toarray())
    assert asked == [3]
    again = pickle.loads(pickle.dumps(graph))
    np.testing.assert_array_equal(again(new, X).toarray(), first.toarray())
    assert 50 in asked


def test_neighbors_beyond_the_budget_come_from_tiles():
    """Where the block does not fit, tiles give the same graph."""
    X = mcar(rows(300), 0.2, random_state=0)[0]
    graph = NeighborGraph(5, kernel=ClusterKernel(2, 4, random_state=0)).fit(X)
    whole = graph(X)
    with gramian.config(memory_budget="500kB"):
        tiled = graph(X)
    np.testing.assert_allclose(tiled.toarray(), whole.toarray(), atol=1e-12)
