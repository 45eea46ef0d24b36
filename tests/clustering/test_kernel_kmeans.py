"""Kernel k-means against Lloyd's algorithm, double loops and the normalised cut."""

from itertools import product

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.sparse import csr_array
from sklearn.cluster import KMeans
from sklearn.datasets import make_blobs, make_moons
from sklearn.exceptions import ConvergenceWarning

import gramian
from clustering.textbook import lloyd
from gramian import KernelKMeans
from gramian.clustering import kmeans_objective
from gramian.grams import DenseGram, LazyGram
from gramian.kernels import RBF, TL1, GaussianDifference, Linear, NeighborGraph, Polynomial, Tanh
from gramian.landmarks import Nystroem
from gramian.metrics import adjusted_rand, normalized_cut


@pytest.fixture
def rng():
    return np.random.default_rng(9)


@pytest.fixture
def X(rng):
    return rng.standard_normal((50, 3))


@pytest.fixture
def blobs():
    """Four well separated groups and their labels."""
    return make_blobs(120, centers=4, cluster_std=0.5, center_box=(-15, 15), random_state=3)


def objective_by_loops(K, labels, a):
    """Σ_c Σ_{i∈c} a_i (K_ii − 2/s Σ_j a_j K_ij + 1/s² Σ_jl a_j a_l K_jl), literally."""
    total = 0.0
    for c in set(labels):
        members = [i for i in range(len(K)) if labels[i] == c]
        s = sum(a[j] for j in members)
        for i in members:
            cross = sum(a[j] * K[i, j] for j in members)
            inner = sum(a[j] * a[m] * K[j, m] for j in members for m in members)
            total += a[i] * (K[i, i] - 2 * cross / s + inner / s**2)
    return total


def graph_kernel(W, sigma):
    """σ D⁻¹ + D⁻¹ W D⁻¹, whose weighted k-means objective is the normalised cut plus a constant."""
    d = W.sum(axis=1)
    return sigma * np.diag(1 / d) + W / np.outer(d, d)


def random_graph(rng, n):
    """A connected weighted graph with loops."""
    W = rng.random((n, n)) * (rng.random((n, n)) < 0.5) + 0.05
    return W + W.T


class TestObjective:
    @given(st.integers(0, 10**6), st.integers(1, 4))
    @settings(max_examples=25, deadline=None)
    def test_is_the_double_loop(self, seed, k):
        """``kmeans_objective`` is the definition summed over all pairs, weighted or not, definite or not."""
        rng = np.random.default_rng(seed)
        A = rng.standard_normal((8, 8))
        labels = np.concatenate([np.arange(k), rng.integers(0, k, 8 - k)])
        weights = rng.random(8) + 0.1
        K = A + A.T
        assert kmeans_objective(DenseGram(K), labels) == pytest.approx(objective_by_loops(K, labels, np.ones(8)))
        assert kmeans_objective(DenseGram(K), labels, weights) == pytest.approx(objective_by_loops(K, labels, weights))

    def test_names_of_labels_do_not_matter(self, X):
        """Any integers name clusters; gaps between them count for nothing."""
        gram = RBF(1.0).gram(X)
        labels = np.arange(50) % 3
        assert kmeans_objective(gram, labels * 7 - 2) == pytest.approx(kmeans_objective(gram, labels))

    @pytest.mark.parametrize("sigma", [0.0, 1.0, 5.0])
    def test_normalised_cut_identity(self, sigma, rng):
        """J − NCut = Σ_i a_i K_ii − k(σ + 1) for every labelling, with a the degrees."""
        W = random_graph(rng, 14)
        d = W.sum(axis=1)
        K = graph_kernel(W, sigma)
        for k in (2, 3, 5):
            for _ in range(5):
                labels = rng.permutation(np.concatenate([np.arange(k), rng.integers(0, k, 14 - k)]))
                difference = kmeans_objective(DenseGram(K), labels, d) - normalized_cut(W, labels)
                assert difference == pytest.approx(d @ np.diag(K) - k * (sigma + 1), abs=1e-10)

    def test_inertia_is_the_objective_of_the_labels(self, rng, X):
        """``inertia_`` belongs to ``labels_``."""
        weights = rng.random(50) + 0.5
        for kernel in (RBF(1.0), Linear(), TL1(radius=2.0)):
            model = KernelKMeans(4, kernel=kernel, random_state=0).fit(X, sample_weight=weights)
            expected = objective_by_loops(model.kernel_(X), model.labels_, weights)
            assert model.inertia_ == pytest.approx(expected, rel=1e-9)


class TestWeights:
    @pytest.mark.parametrize("kernel", [Linear(), RBF(1.0)], ids=repr)
    def test_integer_weights_are_repeated_rows(self, kernel, rng, X):
        """A row of weight w counts as w copies: the same labels and the same objective."""
        weights = rng.integers(1, 5, 50)
        start = rng.permutation(np.arange(50) % 3)
        weighted = KernelKMeans(3, kernel=kernel, init=start).fit(X, sample_weight=weights)
        repeated = KernelKMeans(3, kernel=kernel, init=np.repeat(start, weights)).fit(np.repeat(X, weights, axis=0))
        np.testing.assert_array_equal(np.repeat(weighted.labels_, weights), repeated.labels_)
        assert weighted.inertia_ == pytest.approx(repeated.inertia_)
        new = rng.standard_normal((20, 3))
        np.testing.assert_array_equal(weighted.predict(new), repeated.predict(new))

    def test_finds_the_smallest_normalised_cut(self, rng):
        """With the degrees as weights and the graph's kernel the answer is the best cut of all partitions."""
        W = 0.05 * rng.random((10, 10))
        W[:5, :5] += 1
        W[5:, 5:] += 1
        W = W + W.T
        best = min(normalized_cut(W, labels) for labels in product(range(2), repeat=10) if len(set(labels)) == 2)
        model = KernelKMeans(2, kernel="precomputed", random_state=0)
        model.fit(graph_kernel(W, 2.0), sample_weight=W.sum(axis=1))
        assert normalized_cut(W, model.labels_) == pytest.approx(best)

    @pytest.mark.parametrize("weights", [np.zeros(50), -np.ones(50), np.ones(49), np.eye(50)[0]])
    def test_bad_weights_are_refused(self, weights, X):
        """Weights must be positive, one per row."""
        with pytest.raises(ValueError, match="sample_weight"):
            KernelKMeans(2).fit(X, sample_weight=weights)


class TestStarts:
    @pytest.mark.parametrize("init", ["k-means++", "spectral"])
    def test_separated_blobs_are_found(self, init, blobs):
        """Both starts find well separated groups exactly."""
        X, y = blobs
        model = KernelKMeans(4, kernel=RBF(3.0), init=init, random_state=0).fit(X)
        assert adjusted_rand(y, model.labels_) == 1
        assert model.n_clusters_ == 4

    def test_given_labels_are_the_start(self, X):
        """The start is taken as it is, whatever its integer type."""
        start = np.arange(50) % 2
        expected = lloyd(X, start, 2)[-1]
        for init in (start.astype(np.uint8), start.tolist()):
            np.testing.assert_array_equal(KernelKMeans(2, kernel="linear", init=init).fit(X).labels_, expected)

    @pytest.mark.parametrize(
        "init", ["random", np.zeros(50), np.zeros(49, int), np.full(50, 3), np.full(50, -1)], ids=lambda v: str(v)[:12]
    )
    def test_bad_starts_are_refused(self, init, X):
        """A start must be one of two names or one label from 0 to k − 1 per row."""
        with pytest.raises(ValueError, match=r"init must be 'k-means\+\+', 'spectral' or 50 labels from 0 to 2"):
            KernelKMeans(3, init=init).fit(X)

    def test_more_starts_are_not_worse(self, X):
        """Ten starts reach an objective at most that of the worst single one."""
        many = KernelKMeans(6, kernel=RBF(0.5), n_init=10, random_state=0).fit(X).inertia_
        singles = [KernelKMeans(6, kernel=RBF(0.5), n_init=1, random_state=s).fit(X).inertia_ for s in range(10)]
        assert many <= np.median(singles)


class TestEmptyClusters:
    def test_empty_clusters_are_refilled(self, X):
        """A start that leaves clusters empty still ends with all of them used and a lower objective."""
        start = np.zeros(50, int)
        model = KernelKMeans(4, kernel="linear", init=start).fit(X)
        assert set(model.labels_) == {0, 1, 2, 3}
        assert model.inertia_ < kmeans_objective(Linear().gram(X), start)

    def test_the_farthest_rows_found_the_new_clusters(self):
        """An outlier in a crowded cluster becomes the empty cluster."""
        X = np.array([[0.0], [0.1], [0.2], [50.0]])
        labels = KernelKMeans(2, kernel="linear", init=np.zeros(4, int)).fit(X).labels_
        np.testing.assert_array_equal(labels == labels[3], [False, False, False, True])

    def test_as_many_clusters_as_rows(self, X):
        """With k = n every row is its own cluster and the objective is zero."""
        model = KernelKMeans(50, kernel=RBF(1.0), random_state=0).fit(X)
        assert sorted(model.labels_) == list(range(50))
        assert model.inertia_ == pytest.approx(0, abs=1e-12)

    def test_one_cluster(self, X):
        """With k = 1 the objective is the total scatter."""
        model = KernelKMeans(1, kernel="linear", random_state=0).fit(X)
        assert model.inertia_ == pytest.approx(((X - X.mean(axis=0)) ** 2).sum())

    def test_duplicates_share_a_cluster(self, rng):
        """Copies of as many rows as clusters are told apart, at objective zero."""
        y = rng.permutation(np.repeat(np.arange(3), 10))
        X = rng.standard_normal((3, 2))[y]
        model = KernelKMeans(3, random_state=0).fit(X)
        assert adjusted_rand(y, model.labels_) == 1
        assert model.inertia_ == pytest.approx(0, abs=1e-9)

    def test_more_clusters_than_distinct_rows(self, rng):
        """Five clusters of three distinct rows: said, counted as three, and predict agrees."""
        X = np.repeat(rng.standard_normal((3, 2)), 20, axis=0)
        with pytest.warns(ConvergenceWarning, match="only 3 distinct clusters found of n_clusters=5") as caught:
            model = KernelKMeans(5, random_state=0).fit(X)
        assert caught[0].filename == __file__
        assert model.n_clusters_ == 3
        np.testing.assert_array_equal(model.predict(X), model.labels_)


class TestPredict:
    @pytest.mark.parametrize("kernel", [Linear(), RBF(1.0), Polynomial(2), TL1(radius=3.0)], ids=repr)
    def test_is_the_nearest_weighted_mean(self, kernel, rng, X):
        """New rows go to the mean at the smallest k(x,x) − 2 Σ a k(x,·)/s + ‖m‖²."""
        weights = rng.random(50) + 0.5
        new = rng.standard_normal((25, 3))
        model = KernelKMeans(4, kernel=kernel, random_state=0).fit(X, sample_weight=weights)
        K, K_new = model.kernel_(X), model.kernel_(new, X)
        distance = np.empty((25, 4))
        for c in range(4):
            a = weights * (model.labels_ == c) / weights[model.labels_ == c].sum()
            distance[:, c] = model.kernel_.diagonal(new) - 2 * K_new @ a + a @ K @ a
        np.testing.assert_array_equal(model.predict(new), distance.argmin(axis=1))

    @pytest.mark.parametrize("kernel", [Linear(), RBF(1.0), Polynomial(2)], ids=repr)
    def test_fitted_rows_keep_their_labels(self, kernel, X):
        """A converged fit with a definite kernel predicts its own labels."""
        model = KernelKMeans(4, kernel=kernel, random_state=0).fit(X)
        np.testing.assert_array_equal(model.predict(X), model.labels_)

    @pytest.mark.parametrize("kernel", [GaussianDifference(0.3), Tanh(1.0, -0.5)], ids=repr)
    def test_fitted_rows_keep_their_labels_under_indefinite_kernels(self, kernel):
        """Where plain steps settle, an indefinite kernel predicts its own labels too."""
        X, _ = make_moons(300, noise=0.05, random_state=0)
        model = KernelKMeans(4, kernel=kernel, random_state=0).fit(X)
        np.testing.assert_array_equal(model.predict(X), model.labels_)

    def test_held_out_blobs(self, blobs):
        """Half the rows, fitted, predict the other half without an error."""
        X, y = blobs
        model = KernelKMeans(4, kernel=RBF(3.0), random_state=0).fit(X[::2])
        assert adjusted_rand(y[1::2], model.predict(X[1::2])) == 1


class TestPaths:
    def test_all_ways_to_hold_the_gram_agree(self, rng, X):
        """Precomputed, sparse, lazy, through features: from one start the labels are the same."""
        start = rng.permutation(np.arange(50) % 3)
        expected = KernelKMeans(3, kernel=RBF(1.0), init=start).fit(X)
        sparse = KernelKMeans(3, kernel=RBF(1.0), init=start).fit(csr_array(X))
        matrix = KernelKMeans(3, kernel="precomputed", init=start).fit(RBF(1.0)(X))
        features = KernelKMeans(3, kernel=Nystroem(50, kernel=RBF(1.0), random_state=0), init=start).fit(X)
        with gramian.config(memory_budget="10kB"):
            lazy = KernelKMeans(3, kernel=RBF(1.0), init=start).fit(X)
            assert isinstance(lazy.kernel_.gram(X), LazyGram)
        for other in (sparse, matrix, features, lazy):
            np.testing.assert_array_equal(other.labels_, expected.labels_)
            assert other.inertia_ == pytest.approx(expected.inertia_)
        np.testing.assert_array_equal(matrix.predict(RBF(1.0)(X[:9], X)), expected.predict(X[:9]))

    def test_seeds_repeat(self, X):
        """The same seed gives the same labels."""
        first, second = (KernelKMeans(5, random_state=4).fit(X).labels_ for _ in range(2))
        np.testing.assert_array_equal(first, second)

    def test_single_precision(self, blobs):
        """float32 rows are clustered and predicted like float64 ones."""
        X, y = blobs
        model = KernelKMeans(4, kernel=RBF(3.0), random_state=0).fit(X.astype(np.float32))
        assert model.offsets_.dtype == np.float32
        assert adjusted_rand(y, model.predict(X.astype(np.float32))) == 1

    @pytest.mark.parametrize(
        ("parameters", "words"),
        [
            ({"n_clusters": 51}, "n_clusters=51 .*n_samples=50"),
            ({"n_clusters": None}, "n_clusters=None"),
            ({"n_init": 0}, "n_init=0 must be"),
            ({"max_iter": 0}, "max_iter=0 must be"),
            ({"max_iter": 1.5}, "max_iter=1.5 must be"),
        ],
        ids=str,
    )
    def test_bad_parameters_are_refused_by_name(self, parameters, words, X):
        """A parameter out of range is refused with its name and value."""
        with pytest.raises(ValueError, match=words):
            KernelKMeans(**parameters).fit(X)


def test_single_precision_objective_far_from_zero():
    """Rows at 1000 ± 10 in float32 have the objective that they have in float64."""
    X, _ = make_blobs(500, centers=3, n_features=2, cluster_std=0.5, random_state=1)
    X = (X + 1000).astype(np.float32)
    expected = KMeans(3, n_init=10, random_state=0).fit(X.astype(np.float64)).inertia_
    assert KernelKMeans(3, kernel="linear", random_state=0).fit(X).inertia_ == pytest.approx(expected, rel=0.01)


def test_descent_settles_where_only_a_plain_step_would_rise():
    """A fixed point of the shifted step is an answer, not a cycle until max_iter."""
    X, _ = make_moons(300, noise=0.05, random_state=0)
    model = KernelKMeans(4, kernel=NeighborGraph(10), random_state=0).fit(X)
    assert model.n_iter_ < 100
