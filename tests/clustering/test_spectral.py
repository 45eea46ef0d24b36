"""Spectral clustering: known partitions, textbook embeddings, and new samples."""

import warnings

import numpy as np
import pytest
from scipy.linalg import eigh
from scipy.sparse import block_diag, csr_array, eye_array
from sklearn.cluster import SpectralClustering as PeerSpectralClustering
from sklearn.datasets import make_blobs, make_moons
from sklearn.exceptions import NotFittedError

import gramian
from gramian import SpectralClustering
from gramian.clustering.core import spectral_labels
from gramian.datasets import make_rings, make_spirals
from gramian.grams import DenseGram, LazyGram, SparseGram
from gramian.kernels import RBF, Laplacian, NeighborGraph, Polynomial
from gramian.landmarks import Nystroem
from gramian.metrics import adjusted_rand, clustering_accuracy, normalized_cut

EMBEDDINGS = ["rw", "sym", "kpca", "keca"]


@pytest.fixture
def rng():
    return np.random.default_rng(5)


@pytest.fixture
def X(rng):
    return rng.standard_normal((70, 3))


@pytest.fixture
def blobs():
    """Four well separated groups and their labels."""
    return make_blobs(160, centers=4, cluster_std=0.6, center_box=(-15, 15), random_state=3)


def aligned(Z, reference):
    """Z with each column's sign chosen to agree with the reference."""
    return Z * np.where((Z * reference).sum(axis=0) < 0, -1, 1)


def blocks(rng, sizes):
    """A graph whose components are the given numbers of nodes, shuffled, and the component of each node."""
    parts = [rng.uniform(0.1, 1, (size, size)) for size in sizes]
    order = rng.permutation(sum(sizes))
    W = block_diag([part + part.T for part in parts]).toarray()[np.ix_(order, order)]
    return W, np.repeat(range(len(sizes)), sizes)[order]


def communities(rng, sizes, inside=0.15, outside=0.01):
    """A connected random graph whose edges are mostly within communities, and the community of each node."""
    y = np.repeat(range(len(sizes)), sizes)
    W = np.triu(rng.random((len(y), len(y))) < np.where(y[:, None] == y, inside, outside), 1)
    return (W + W.T).astype(float), y


def knn_graph(X, n_neighbors=10):
    """The "or" nearest-neighbour graph, from all distances."""
    D = ((X[:, None] - X) ** 2).sum(axis=2)
    np.fill_diagonal(D, np.inf)
    W = np.zeros(D.shape)
    W[np.arange(len(X))[:, None], np.argsort(D, axis=1)[:, :n_neighbors]] = 1
    return np.maximum(W, W.T)


class TestComponents:
    """A graph in pieces has eigenvalue 1 once per piece, and the pieces are the clusters."""

    @pytest.mark.parametrize("embedding", ["rw", "sym"])
    @pytest.mark.parametrize("make", [np.asarray, csr_array], ids=["dense", "sparse"])
    @pytest.mark.parametrize("sizes", [(20, 15, 30), (250, 100, 300, 50)], ids=["small", "large"])
    def test_components_are_recovered(self, sizes, make, embedding, rng):
        """Blocks, few or many nodes, dense or sparse, are recovered exactly."""
        W, y = blocks(rng, sizes)
        model = SpectralClustering(len(sizes), kernel="precomputed", embedding=embedding, random_state=0).fit(make(W))
        np.testing.assert_allclose(model.eigenvalues_, 1, atol=1e-8)
        assert adjusted_rand(y, model.labels_) == 1
        assert normalized_cut(W, model.labels_) == pytest.approx(0, abs=1e-12)

    @pytest.mark.parametrize("embedding", ["kpca", "keca"])
    def test_definite_blocks_are_recovered(self, embedding, rng):
        """Under a definite block-diagonal kernel the other two embeddings find the blocks too."""
        y = rng.permutation(np.repeat([0, 1, 2], [20, 15, 30]))
        K = (y[:, None] == y) + 0.1 * np.eye(65)
        model = SpectralClustering(3, kernel="precomputed", embedding=embedding, random_state=0).fit(K)
        assert adjusted_rand(y, model.labels_) == 1

    @pytest.mark.parametrize("k", [2, 3, 5])
    def test_more_components_than_clusters_are_not_cut(self, k, rng):
        """With fewer clusters than components, components are merged, never cut."""
        W, y = blocks(rng, [90, 80, 70, 150, 60, 40, 100])
        model = SpectralClustering(k, kernel="precomputed", random_state=0).fit(csr_array(W))
        assert normalized_cut(W, model.labels_) == pytest.approx(0, abs=1e-12)
        assert len(set(model.labels_)) == k
        assert all(len(set(model.labels_[y == c])) == 1 for c in range(7))

    def test_very_many_components(self, rng):
        """A hundred components are a hundred clusters."""
        W, y = blocks(rng, [7] * 100)
        model = SpectralClustering(100, kernel="precomputed", random_state=0).fit(csr_array(W))
        np.testing.assert_allclose(model.eigenvalues_, 1, atol=1e-6)
        assert adjusted_rand(y, model.labels_) == 1

    @pytest.mark.parametrize("count", [10, 30, 100])
    @pytest.mark.parametrize("kind", [DenseGram, lambda K: SparseGram(csr_array(K))], ids=["dense", "sparse"])
    def test_equal_components_have_equal_eigenvalues(self, kind, count):
        """Each of many equal cliques counts once: its eigenvalue is found as often, with orthonormal vectors."""
        size = max(10, 600 // count)
        values, vectors = kind(np.kron(np.eye(count), np.ones((size, size)))).eigenpairs(count)
        np.testing.assert_allclose(values, size, rtol=1e-6)
        np.testing.assert_allclose(vectors.T @ vectors, np.eye(count), atol=1e-8)

    def test_repeated_eigenvalues_of_a_connected_graph(self):
        """The walk on a hypercube of ten dimensions has the eigenvalue 0.8 ten times."""
        nodes = np.arange(1024)
        W = csr_array(np.isin(nodes[:, None] ^ nodes, 2 ** np.arange(10)).astype(float))
        values = SparseGram(W).normalized().eigenpairs(11)[0]
        np.testing.assert_allclose(values, [1.0] + 10 * [0.8], atol=1e-6)

    @pytest.mark.parametrize("sizes", [(20, 30), (300, 400)], ids=["small", "large"])
    @pytest.mark.parametrize("embedding", ["rw", "sym"])
    def test_isolated_nodes_belong_to_no_cluster(self, embedding, sizes, rng):
        """Nodes without an edge get −1 with a warning that counts them, and do not disturb the others."""
        W, y = blocks(rng, sizes)
        W = np.pad(W, (0, 3))
        with pytest.warns(UserWarning, match="3 samples have no similarity"):
            model = SpectralClustering(2, kernel="precomputed", embedding=embedding, random_state=0).fit(csr_array(W))
        assert np.all(model.labels_[-3:] == -1)
        assert adjusted_rand(y, model.labels_[:-3]) == 1
        assert np.all(model.embedding_[-3:] == 0)

    @pytest.mark.parametrize("embedding", ["rw", "sym"])
    @pytest.mark.parametrize("form", [np.asarray, csr_array])
    def test_a_tiny_component_takes_no_cluster(self, form, embedding, rng):
        """Two communities beside a pair of nodes are the two clusters, as if there were no pair (polblogs)."""
        W, y = communities(rng, [150, 150])
        whole = np.zeros((302, 302))
        whole[:300, :300] = W
        whole[300, 301] = whole[301, 300] = 1
        model = SpectralClustering(2, kernel="precomputed", embedding=embedding, random_state=0)
        with pytest.warns(UserWarning, match=r"2 samples are similar only to each other and too few to be one of 2"):
            model.fit(form(whole))
        np.testing.assert_array_equal(model.labels_[300:], -1)
        assert adjusted_rand(y, model.labels_[:300]) > 0.95
        alone = SpectralClustering(2, kernel="precomputed", embedding=embedding, random_state=0).fit(form(W))
        np.testing.assert_array_equal(model.labels_[:300], alone.labels_)
        assert model.n_clusters_ == 2
        with pytest.warns(UserWarning, match="no similarity"):
            np.testing.assert_array_equal(model.predict(form(whole)), model.labels_)

    @pytest.mark.parametrize("embedding", ["rw", "sym"])
    def test_a_few_nodes_on_a_thread_take_no_cluster(self, embedding, rng):
        """Three nodes that hang on the network by one edge have an eigenvalue near 1 too, and still no cluster."""
        W, y = communities(rng, [150, 150])
        whole = np.zeros((303, 303))
        whole[:300, :300] = W
        whole[300:, 300:] = 5 * (1 - np.eye(3))
        whole[0, 300] = whole[300, 0] = 1
        model = SpectralClustering(2, kernel="precomputed", embedding=embedding, random_state=0).fit(whole)
        assert adjusted_rand(y, model.labels_[:300]) > 0.95

    def test_a_small_component_among_many_clusters_is_one(self, rng):
        """Five of sixty nodes are enough for a cluster."""
        W, y = blocks(rng, [55, 5])
        assert adjusted_rand(y, SpectralClustering(2, kernel="precomputed", random_state=0).fit(W).labels_) == 1

    @pytest.mark.parametrize("embedding", EMBEDDINGS)
    @pytest.mark.parametrize("k", [3, None])
    @pytest.mark.parametrize("form", [np.eye, eye_array])
    def test_similarities_that_connect_nothing_are_refused(self, form, k, embedding):
        """The identity has no clusters; cutting off single samples would be an answer without meaning."""
        with pytest.raises(ValueError, match=r"fall apart into components too small .* widen the kernel"):
            SpectralClustering(k, kernel="precomputed", embedding=embedding).fit(form(120))

    def test_the_warning_points_at_the_caller(self, rng):
        """The warning about isolated samples names the caller's file, in ``fit`` and in ``predict``."""
        W = np.pad(blocks(rng, (20, 30))[0], (0, 1))
        with pytest.warns(UserWarning, match="1 sample has no similarity") as caught:
            model = SpectralClustering(2, kernel="precomputed", random_state=0).fit(W)
        assert caught[0].filename == __file__
        with pytest.warns(UserWarning, match="1 sample has no similarity") as caught:
            model.predict(W)
        assert caught[0].filename == __file__

    def test_too_few_connected_nodes_are_refused(self, rng):
        """More clusters than connected samples are refused with both numbers and a remedy."""
        W = np.zeros((6, 6))
        W[0, 1] = W[1, 0] = 1
        with pytest.raises(ValueError, match=r"n_clusters=3 but only 2 samples.*lower n_clusters"):
            SpectralClustering(3, kernel="precomputed").fit(W)


class TestShapes:
    @pytest.mark.parametrize("embedding", ["rw", "sym"])
    def test_two_moons(self, embedding):
        """The neighbour graph separates two moons without an error."""
        X, y = make_moons(400, noise=0.05, random_state=0)
        kernel = NeighborGraph(n_neighbors=10)
        model = SpectralClustering(2, kernel=kernel, embedding=embedding, random_state=0).fit(X)
        assert adjusted_rand(y, model.labels_) == 1

    def test_rings(self):
        """The default kernel separates concentric rings without an error."""
        X, y = make_rings(random_state=0)
        assert adjusted_rand(y, SpectralClustering(2, random_state=0).fit(X).labels_) == 1

    @pytest.mark.parametrize("n", [450, 900])
    def test_spirals(self, n):
        """The default kernel separates the arms of a spiral, by LAPACK and by iteration."""
        X, y = make_spirals(n, noise=0.02, random_state=0)
        assert adjusted_rand(y, SpectralClustering(3, random_state=0).fit(X).labels_) == 1

    def test_known_limit_of_full_similarities(self):
        """Not every kernel finds moons: the Gaussian at its median width cannot, whatever the embedding."""
        X, y = make_moons(200, noise=0.05, random_state=0)
        for embedding in EMBEDDINGS:
            model = SpectralClustering(2, kernel="rbf", embedding=embedding, random_state=0).fit(X)
            assert adjusted_rand(y, model.labels_) < 0.9

    @pytest.mark.parametrize("data", ["blobs", "moons"])
    def test_agrees_with_scikit_learn(self, data, blobs):
        """On the same affinity both find the same partition; scikit-learn's embedding is "rw"."""
        if data == "blobs":
            W, k = RBF(2.0)(blobs[0]), 4
        else:
            W, k = knn_graph(make_moons(300, noise=0.06, random_state=1)[0]), 2
        peer = PeerSpectralClustering(k, affinity="precomputed", random_state=0)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", UserWarning)  # scikit-learn's about a graph in several pieces
            reference = peer.fit(W).labels_
        ours = SpectralClustering(k, kernel="precomputed", embedding="rw", random_state=0).fit(W)
        assert adjusted_rand(reference, ours.labels_) == 1

    @pytest.mark.parametrize("embedding", EMBEDDINGS)
    def test_the_order_of_samples_does_not_matter(self, embedding, rng, blobs):
        """Shuffled samples fall into the same groups."""
        X, _ = blobs
        order = rng.permutation(len(X))
        plain = SpectralClustering(4, kernel=RBF(2.0), embedding=embedding, random_state=0).fit(X)
        shuffled = SpectralClustering(4, kernel=RBF(2.0), embedding=embedding, random_state=0).fit(X[order])
        assert adjusted_rand(plain.labels_[order], shuffled.labels_) == 1


class TestEmbeddings:
    """Each embedding against a dense textbook computation."""

    @pytest.mark.parametrize("kernel", [RBF(1.0), Laplacian(2.0), Polynomial(2, 4.0)], ids=repr)
    def test_rw_is_the_generalised_problem(self, kernel, X):
        """u solves L u = μ D u, smallest μ first, with uᵀ D u = 1; eigenvalues_ are 1 − μ."""
        W = kernel(X)
        W = W if W.min() >= 0 else W - W.min()
        D = np.diag(W.sum(axis=1))
        mu, U = eigh(D - W, D, subset_by_index=(0, 3))
        model = SpectralClustering(4, kernel="precomputed", embedding="rw", random_state=0).fit(W)
        np.testing.assert_allclose(model.eigenvalues_, 1 - mu, atol=1e-10)
        np.testing.assert_allclose(aligned(model.embedding_, U), U, atol=1e-8)

    def test_sym_has_unit_rows_of_the_normalised_laplacian(self, X):
        """Rows of the eigenvectors of D^-½ (D − W) D^-½ scaled to length one."""
        W = RBF(1.0)(X)
        roots = 1 / np.sqrt(W.sum(axis=1))
        Z = np.linalg.eigh(np.eye(70) - W * np.outer(roots, roots))[1][:, :4]
        Z = Z / np.linalg.norm(Z, axis=1, keepdims=True)
        model = SpectralClustering(4, kernel=RBF(1.0), embedding="sym", random_state=0).fit(X)
        np.testing.assert_allclose(aligned(model.embedding_, Z), Z, atol=1e-8)

    def test_kpca_is_the_uncentred_gram(self, X):
        """Z = E Λ^½ of K itself."""
        values, vectors = np.linalg.eigh(RBF(1.0)(X))
        Z = vectors[:, ::-1][:, :4] * np.sqrt(values[::-1][:4])
        model = SpectralClustering(4, kernel=RBF(1.0), embedding="kpca", random_state=0).fit(X)
        np.testing.assert_allclose(model.eigenvalues_, values[::-1][:4], rtol=1e-10)
        np.testing.assert_allclose(aligned(model.embedding_, Z), Z, atol=1e-8)

    def test_keca_takes_the_axes_of_largest_entropy(self, X):
        """Columns √λ e with the largest λ (eᵀ1)²."""
        values, vectors = np.linalg.eigh(RBF(0.6)(X))
        best = np.argsort(-values * vectors.sum(axis=0) ** 2)[:4]
        Z = vectors[:, best] * np.sqrt(values[best])
        model = SpectralClustering(4, kernel=RBF(0.6), embedding="keca", random_state=0).fit(X)
        np.testing.assert_allclose(aligned(model.embedding_, Z), Z, atol=1e-8)

    @pytest.mark.parametrize("embedding", ["rw", "sym"])
    def test_axes_beyond_the_rank_are_left_out(self, embedding):
        """Eigenvectors of eigenvalue zero, as a kernel of two features has, are arbitrary and not clustered."""
        X, y = make_blobs(300, centers=np.array([[10, 1], [1, 10], [7, 7]]), cluster_std=0.3, random_state=0)
        model = SpectralClustering(3, kernel="cosine", embedding=embedding, random_state=0).fit(X)
        assert model.embedding_.shape == (300, 2)
        assert model.eigenvalues_.min() > 0
        np.testing.assert_array_equal(model.predict(X), model.labels_)
        assert adjusted_rand(y, model.labels_) > 0.95

    def test_negative_axes_are_left_out(self):
        """The walk between two sides of a graph has the eigenvalue −1, which is no axis."""
        W = np.kron([[0.0, 1.0], [1.0, 0.0]], np.ones((5, 5)))
        W[0, 1] = W[1, 0] = 1.0
        roots = 1 / np.sqrt(W.sum(axis=1))
        expected = np.linalg.eigvalsh(W * np.outer(roots, roots))[::-1]
        model = SpectralClustering(2, kernel="precomputed", n_components=10, random_state=0).fit(W)
        np.testing.assert_allclose(model.eigenvalues_, expected[expected > 1e-6], atol=1e-10)

    @pytest.mark.parametrize("embedding", EMBEDDINGS)
    def test_n_components_is_the_width(self, embedding, X):
        """More or fewer eigenvectors than clusters may be used."""
        for n_components in (2, 6):
            model = SpectralClustering(
                3, kernel=RBF(1.0), embedding=embedding, n_components=n_components, random_state=0
            ).fit(X)
            assert model.embedding_.shape == (70, n_components)
            assert model.cluster_centers_.shape == (3, n_components)
            assert model.transform(X[:5]).shape == (5, n_components)

    @pytest.mark.parametrize("embedding", ["rw", "sym", "kpca"])
    def test_centres_are_means_and_labels_the_nearest(self, embedding, blobs):
        """``cluster_centers_`` are the means of the embedded clusters."""
        X, _ = blobs
        model = SpectralClustering(4, kernel=RBF(2.0), embedding=embedding, random_state=0).fit(X)
        for c in range(4):
            np.testing.assert_allclose(
                model.cluster_centers_[c], model.embedding_[model.labels_ == c].mean(axis=0), atol=1e-10
            )


class TestNewSamples:
    @pytest.mark.parametrize("embedding", EMBEDDINGS)
    def test_transform_of_fitted_rows_is_the_embedding(self, embedding, X):
        """Under a full kernel the fitted rows, asked for as new ones, are where they were."""
        model = SpectralClustering(4, kernel=RBF(1.0), embedding=embedding, random_state=0).fit(X)
        np.testing.assert_allclose(model.transform(X), model.embedding_, atol=1e-6)

    @pytest.mark.parametrize("embedding", ["rw", "kpca"])
    def test_transform_where_the_solver_iterates(self, embedding, rng):
        """Above 500 samples too, to the accuracy that was asked for."""
        X = rng.standard_normal((600, 3)) * [3.0, 2.0, 1.0]
        model = SpectralClustering(3, kernel=RBF(2.0), embedding=embedding, tol=1e-9, random_state=0).fit(X)
        scale = np.abs(model.embedding_).max()
        np.testing.assert_allclose(model.transform(X), model.embedding_, atol=1e-6 * scale)

    def test_rw_by_the_textbook(self, rng, X):
        """u(x) = Σ_i k(x, x_i) u_i / (λ Σ_i k(x, x_i))."""
        new = rng.standard_normal((9, 3))
        model = SpectralClustering(3, kernel=RBF(1.0), embedding="rw", random_state=0).fit(X)
        K_new = RBF(1.0)(new, X)
        expected = K_new @ model.embedding_ / (model.eigenvalues_ * K_new.sum(axis=1, keepdims=True))
        np.testing.assert_allclose(model.transform(new), expected, atol=1e-10)
        # "sym" is the same row scaled to length one.
        sym = SpectralClustering(3, kernel=RBF(1.0), embedding="sym", random_state=0).fit(X).transform(new)
        expected /= np.linalg.norm(expected, axis=1, keepdims=True)
        np.testing.assert_allclose(aligned(sym, expected), expected, atol=1e-10)

    @pytest.mark.parametrize("embedding", EMBEDDINGS)
    def test_predict_repeats_the_labels(self, embedding, blobs):
        """On separated data the fitted rows are predicted their own labels."""
        X, y = blobs
        model = SpectralClustering(4, kernel=RBF(2.0), embedding=embedding, random_state=0).fit(X)
        assert adjusted_rand(y, model.labels_) == 1
        np.testing.assert_array_equal(model.predict(X), model.labels_)

    @pytest.mark.parametrize("embedding", ["rw", "sym"])
    def test_predict_repeats_the_labels_of_a_neighbour_graph(self, embedding):
        """On moons, where the graph of new rows is not that of the fitted ones, the labels still agree."""
        X, _ = make_moons(400, noise=0.05, random_state=0)
        model = SpectralClustering(2, embedding=embedding, random_state=0).fit(X)
        np.testing.assert_array_equal(model.predict(X), model.labels_)

    @pytest.mark.parametrize("kernel", ["auto", "neighbors", NeighborGraph(5, mutual=True), NeighborGraph(radius=1.5)])
    def test_fitted_rows_find_their_place_in_a_graph_again(self, kernel, X):
        """Under a neighbour graph too ``transform`` is ``fit_transform`` and ``predict`` repeats the labels."""
        model = SpectralClustering(3, kernel=kernel, random_state=0)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # of a few rows that the mutual graph leaves alone
            Z = model.fit_transform(X)
            np.testing.assert_allclose(model.transform(X[::-1])[::-1], Z, atol=1e-6)
            np.testing.assert_array_equal(model.predict(X[:9]), model.labels_[:9])

    def test_held_out_moons(self):
        """A model of some moons knows new ones."""
        X, y = make_moons(800, noise=0.06, random_state=2)
        model = SpectralClustering(2, random_state=0).fit(X[:400])
        assert clustering_accuracy(y[400:], model.predict(X[400:])) > 0.99

    @pytest.mark.parametrize("embedding", EMBEDDINGS)
    def test_held_out_blobs(self, embedding, blobs):
        """Half the rows, fitted, predict the other half without an error."""
        X, y = blobs
        model = SpectralClustering(4, kernel=RBF(2.0), embedding=embedding, random_state=0).fit(X[::2])
        assert adjusted_rand(y[1::2], model.predict(X[1::2])) == 1

    def test_keca_predicts_by_angle(self, rng):
        """Clusters along two directions are told apart by angle, short rows and long ones alike."""
        y = np.repeat([0, 1], 60)
        theta = np.where(y == 0, 0.2, 1.3) + 0.05 * rng.standard_normal(120)
        X = rng.uniform(0.1, 20, (120, 1)) * np.column_stack([np.cos(theta), np.sin(theta)])
        model = SpectralClustering(2, kernel="linear", embedding="keca", random_state=0).fit(X)
        assert adjusted_rand(y, model.labels_) == 1
        np.testing.assert_array_equal(model.predict(X / 7), model.labels_)

    def test_a_stranger_gets_no_label(self, blobs):
        """A new row out of every fitted row's reach gets −1 and a zero embedding, with a warning."""
        X, _ = blobs
        model = SpectralClustering(4, kernel=NeighborGraph(radius=3.0), random_state=0).fit(X)
        new = np.vstack([X[:3], [[1e3, 1e3]]])
        with pytest.warns(UserWarning, match="1 sample has no similarity"):
            labels = model.predict(new)
        np.testing.assert_array_equal(labels, [*model.labels_[:3], -1])
        np.testing.assert_array_equal(model.transform(new)[-1], 0)

    def test_precomputed_rows(self, blobs):
        """New samples of a precomputed affinity are rows of similarities to the fitted ones, dense or sparse."""
        X, y = blobs
        K = RBF(2.0)(X[:120])
        model = SpectralClustering(4, kernel="precomputed", random_state=0).fit(K)
        new = RBF(2.0)(X[120:], X[:120])
        assert adjusted_rand(y[120:], model.predict(new)) == 1
        np.testing.assert_array_equal(model.predict(csr_array(new)), model.predict(new))


class TestChoice:
    @pytest.mark.parametrize("k", [2, 3, 4, 5])
    def test_the_eigengap_counts_blobs(self, k):
        """With a local kernel the largest gap is at the number of separated groups."""
        X, y = make_blobs(60 * k, centers=k, cluster_std=0.4, center_box=(-15, 15), random_state=8)
        model = SpectralClustering(None, kernel=RBF(1.0), random_state=0).fit(X)
        assert model.n_clusters_ == k
        assert adjusted_rand(y, model.labels_) == 1

    @pytest.mark.parametrize("sizes", [(30, 20, 25), (200, 150, 180, 120)], ids=["small", "large"])
    def test_the_eigengap_counts_dense_components(self, sizes, rng):
        """Components that mix well are counted, by LAPACK and by iteration."""
        W, y = blocks(rng, sizes)
        model = SpectralClustering(None, kernel="precomputed", random_state=0).fit(csr_array(W))
        assert model.n_clusters_ == len(sizes)
        assert adjusted_rand(y, model.labels_) == 1

    def test_candidates_are_the_leading_eigenvalues(self, X):
        """``candidate_eigenvalues_`` are those of D^-½ K D^-½, one more than ``max_clusters``."""
        model = SpectralClustering(None, kernel=RBF(1.0), max_clusters=6, random_state=0).fit(X)
        W = RBF(1.0)(X)
        roots = 1 / np.sqrt(W.sum(axis=1))
        expected = np.linalg.eigvalsh(W * np.outer(roots, roots))[::-1][:7]
        np.testing.assert_allclose(model.candidate_eigenvalues_, expected, atol=1e-10)
        assert 2 <= model.n_clusters_ <= 6

    @pytest.mark.parametrize("width", [0.4, 0.7, 1.0])
    def test_the_choice_is_the_largest_relative_gap(self, width, X):
        """(λ_k − λ_{k+1}) / (1 − λ_{k+1})^0.5 is largest, of k from 2 on, at the number chosen."""
        W = RBF(width)(X)
        roots = 1 / np.sqrt(W.sum(axis=1))
        values = np.linalg.eigvalsh(W * np.outer(roots, roots))[::-1]
        gaps = {k: (values[k - 1] - values[k]) / (1 - values[k]) ** 0.5 for k in range(2, 21)}
        assert SpectralClustering(None, kernel=RBF(width), random_state=0).fit(X).n_clusters_ == max(gaps, key=gaps.get)

    @pytest.mark.parametrize("name", ["moons", "rings", "spirals", "blobs"])
    def test_the_choice_with_the_default_kernel(self, name):
        """With the sharpened kernel long clusters are counted as one each."""
        X, k = {
            "moons": (make_moons(400, noise=0.05, random_state=0)[0], 2),
            "rings": (make_rings(random_state=0)[0], 2),
            "spirals": (make_spirals(600, noise=0.02, random_state=0)[0], 3),
            "blobs": (make_blobs(300, centers=3, cluster_std=0.5, random_state=1)[0], 3),
        }[name]
        assert SpectralClustering(None, random_state=0).fit(X).n_clusters_ == k

    def test_more_components_than_max_clusters(self):
        """Candidates that are all one have no gap; then ``max_clusters`` is taken, not a gap of rounding."""
        W = csr_array(block_diag([np.ones((20, 20))] * 30))
        assert SpectralClustering(None, kernel="precomputed", random_state=0).fit(W).n_clusters_ == 20

    def test_three_samples_are_two_clusters(self):
        """The smallest sample that leaves a choice."""
        X = np.array([[0.0], [0.1], [5.0]])
        model = SpectralClustering(None, kernel=RBF(1.0), random_state=0).fit(X)
        assert model.n_clusters_ == 2
        assert model.labels_[0] == model.labels_[1] != model.labels_[2]

    def test_two_samples_leave_no_choice(self):
        """With two samples the number must be given, which is said."""
        with pytest.raises(ValueError, match=r"n_clusters=None needs .*three samples.*n_samples=2"):
            SpectralClustering(None, kernel="rbf").fit(np.eye(2))

    def test_max_clusters_of_one_leaves_no_choice(self, X):
        """``max_clusters`` must leave something to choose from."""
        with pytest.raises(ValueError, match="max_clusters=1"):
            SpectralClustering(None, kernel="rbf", max_clusters=1).fit(X)


class TestPaths:
    @pytest.mark.parametrize("embedding", EMBEDDINGS)
    def test_all_ways_to_hold_the_gram_agree(self, embedding, blobs):
        """Rows, CSR rows, the matrix and all landmarks give the same embedding up to sign."""
        X, _ = blobs
        options = {"embedding": embedding, "random_state": 0}
        expected = SpectralClustering(4, kernel=RBF(2.0), **options).fit(X)
        others = [
            SpectralClustering(4, kernel=RBF(2.0), **options).fit(csr_array(X)),
            SpectralClustering(4, kernel="precomputed", **options).fit(RBF(2.0)(X)),
            SpectralClustering(4, kernel=Nystroem(160, kernel=RBF(2.0), random_state=0), **options).fit(X),
        ]
        for other in others:
            np.testing.assert_allclose(other.eigenvalues_, expected.eigenvalues_, rtol=1e-6)
            reference = expected.embedding_
            np.testing.assert_allclose(aligned(other.embedding_, reference), reference, atol=1e-6)
            assert adjusted_rand(expected.labels_, other.labels_) == 1

    @pytest.mark.parametrize("embedding", ["rw", "kpca"])
    def test_recomputed_tiles_give_what_the_matrix_gives(self, embedding):
        """Beyond the memory budget the labels and the embedding are the same."""
        X, y = make_blobs(560, centers=3, cluster_std=0.6, center_box=(-15, 15), random_state=3)
        options = {"kernel": RBF(4.0), "embedding": embedding, "tol": 1e-9, "random_state": 0}
        held = SpectralClustering(3, **options).fit(X)
        with gramian.config(memory_budget="1MB"):
            lazy = SpectralClustering(3, **options).fit(X)
            assert isinstance(lazy.kernel_.gram(X), LazyGram)
            np.testing.assert_array_equal(lazy.predict(X), lazy.labels_)
        np.testing.assert_allclose(aligned(lazy.embedding_, held.embedding_), held.embedding_, atol=1e-6)
        assert adjusted_rand(y, lazy.labels_) == 1

    def test_sparse_and_dense_affinities_agree(self):
        """The same graph held sparse or dense gives the same clusters."""
        X, y = make_moons(300, noise=0.05, random_state=0)
        W = knn_graph(X)
        for matrix in (W, csr_array(W)):
            labels = SpectralClustering(2, kernel="precomputed", random_state=0).fit(matrix).labels_
            assert adjusted_rand(y, labels) == 1

    def test_the_neighbour_kernel_is_the_neighbour_graph(self):
        """``kernel="neighbors"`` clusters like the graph made by hand from all distances."""
        X, _ = make_moons(300, noise=0.1, random_state=0)
        by_name = SpectralClustering(2, kernel="neighbors", random_state=0).fit(X)
        by_hand = SpectralClustering(2, kernel="precomputed", random_state=0).fit(knn_graph(X))
        np.testing.assert_allclose(by_name.eigenvalues_, by_hand.eigenvalues_, atol=1e-10)
        assert adjusted_rand(by_name.labels_, by_hand.labels_) > 0.9

    def test_landmarks_cluster_many_samples(self):
        """A Nyström kernel clusters thousands of samples through a thin factor."""
        X, y = make_blobs(5000, centers=5, n_features=4, cluster_std=0.6, center_box=(-10, 10), random_state=1)
        model = SpectralClustering(5, kernel=Nystroem(60, kernel=RBF(2.0), random_state=0), random_state=0).fit(X)
        assert adjusted_rand(y, model.labels_) > 0.99
        np.testing.assert_array_equal(model.predict(X), model.labels_)

    @pytest.mark.parametrize("embedding", EMBEDDINGS)
    def test_single_precision_stays_single(self, embedding, blobs):
        """float32 rows have a float32 embedding and the same clusters."""
        X, y = blobs
        X = X.astype(np.float32)
        model = SpectralClustering(4, kernel=RBF(2.0), embedding=embedding, random_state=0).fit(X)
        assert model.embedding_.dtype == model.transform(X).dtype == model.eigenvalues_.dtype == np.float32
        assert adjusted_rand(y, model.labels_) == 1
        np.testing.assert_array_equal(model.predict(X), model.labels_)

    @pytest.mark.parametrize("embedding", EMBEDDINGS)
    def test_seeds_repeat(self, embedding, X):
        """The same seed gives the same labels, also on data without structure."""
        first, second = (
            SpectralClustering(5, kernel=RBF(1.0), embedding=embedding, n_init=1, random_state=3).fit(X)
            for _ in range(2)
        )
        np.testing.assert_array_equal(first.labels_, second.labels_)
        np.testing.assert_array_equal(first.embedding_, second.embedding_)

    def test_duplicates_share_a_cluster(self, rng):
        """Copies of as many rows as clusters are told apart."""
        y = rng.permutation(np.repeat(np.arange(3), 20))
        X = rng.standard_normal((3, 2))[y]
        for embedding in EMBEDDINGS:
            model = SpectralClustering(3, kernel="rbf", embedding=embedding, random_state=0).fit(X)
            assert adjusted_rand(y, model.labels_) == 1

    def test_labels_for_other_methods_are_the_same(self, blobs):
        """``spectral_labels``, which starts kernel k-means, finds what the estimator finds."""
        X, y = blobs
        assert adjusted_rand(y, spectral_labels(RBF(2.0).gram(X), 4, 0)) == 1


class TestParameters:
    def test_a_failed_fit_is_not_fitted(self, X):
        """After a refused ``fit`` the model says that it is not fitted."""
        model = SpectralClustering(100, kernel="rbf")
        with pytest.raises(ValueError, match="n_clusters"):
            model.fit(X)
        with pytest.raises(NotFittedError):
            model.predict(X)

    def test_one_cluster_takes_all(self, X):
        """k = 1 is a partition too."""
        for embedding in EMBEDDINGS:
            model = SpectralClustering(1, kernel=RBF(1.0), embedding=embedding, random_state=0).fit(X)
            assert not model.labels_.any()
            assert not model.predict(X).any()

    def test_as_many_clusters_as_samples(self, rng):
        """k = n puts every sample alone."""
        X = rng.standard_normal((6, 2))
        model = SpectralClustering(6, kernel=RBF(0.5), random_state=0).fit(X)
        assert sorted(model.labels_) == list(range(6))

    @pytest.mark.parametrize(
        ("parameters", "words"),
        [
            ({"n_clusters": 71}, "n_clusters=71 .*n_samples=70.*n_clusters <= 70"),
            ({"n_clusters": 0}, "n_clusters=0 .*>= 1 or None"),
            ({"n_clusters": "two"}, "n_clusters='two'"),
            ({"n_components": 71}, "n_components=71"),
            ({"embedding": "laplacian"}, "embedding='laplacian'.*'rw', 'sym', 'kpca', 'keca'"),
            ({"n_init": 0}, "n_init=0"),
            ({"kernel": "knn"}, "kernel='knn'.*'neighbors'"),
            ({"kernel": "linear"}, "negative similarities.*embedding='kpca'"),
            ({"kernel": "tanh", "embedding": "keca"}, "indefinite"),
        ],
        ids=str,
    )
    def test_bad_parameters_are_refused(self, parameters, words, X):
        """A parameter that cannot work is refused with its name, its value and what is allowed."""
        with pytest.raises(ValueError, match=words):
            SpectralClustering(**{"n_clusters": 2, **parameters}).fit(X)


@pytest.mark.parametrize("kernel", [NeighborGraph(5), NeighborGraph(5, kernel=RBF(width=1.0)), "auto"], ids=str)
def test_copies_of_rows_in_a_neighbour_graph(kernel):
    """Equal rows have one embedding and one label, and meet them again when they are given as new rows."""
    X = np.repeat(np.random.default_rng(0).standard_normal((30, 3)), 3, axis=0)
    model = SpectralClustering(2, kernel=kernel, random_state=0)
    Z = model.fit_transform(X)
    np.testing.assert_allclose(model.transform(X), Z, atol=1e-9)
    np.testing.assert_array_equal(model.predict(X), model.labels_)
    np.testing.assert_array_equal(model.labels_.reshape(30, 3), model.labels_[::3, None].repeat(3, axis=1))
