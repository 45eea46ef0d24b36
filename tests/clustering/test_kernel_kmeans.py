"""Kernel k-means against Lloyd's algorithm, double loops and the normalised cut."""

from itertools import product

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.sparse import csr_array
from scipy.spatial.distance import cdist
from sklearn.cluster import KMeans
from sklearn.datasets import make_blobs, make_moons
from sklearn.exceptions import ConvergenceWarning

import gramian
from gramian import KernelKMeans
from gramian.clustering import kmeans_objective
from gramian.clustering.core import refill_empty
from gramian.clustering.kernel_kmeans import _definite_shift, _Descent, _groups, _plus_plus
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


def lloyd(X, labels, k):
    """Textbook k-means from given labels; returns the labels after every step, until they repeat."""
    history = [labels]
    while True:
        means = np.array([X[labels == c].mean(axis=0) for c in range(k)])
        labels = cdist(X, means, "sqeuclidean").argmin(axis=1)
        if np.array_equal(labels, history[-1]):
            return history
        history.append(labels)


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


def descend(gram, starts, k, weights, shift=0.0, max_iter=300):
    """The finished descent from the given labels."""
    descent = _Descent(gram, k, weights, shift, max_iter, 0)
    descent.run(starts)
    return descent


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


class TestDescent:
    def test_linear_kernel_is_lloyds_algorithm(self, rng, X):
        """From the same start every step and the final labels are those of k-means on the rows."""
        start = rng.permutation(np.arange(50) % 4)
        history = lloyd(X, start, 4)
        assert len(history) > 3, "the start must need a few steps"
        for step, labels in enumerate(history[1:], start=1):
            with pytest.warns(ConvergenceWarning, match=f"max_iter={step} ") as caught:
                model = KernelKMeans(4, kernel="linear", init=start, max_iter=step).fit(X)
            np.testing.assert_array_equal(model.labels_, labels)
            assert caught[0].filename == __file__
        final = KernelKMeans(4, kernel="linear", init=start, max_iter=len(history)).fit(X)
        np.testing.assert_array_equal(final.labels_, history[-1])
        assert final.n_iter_ == len(history)

    @pytest.mark.parametrize("weighted", [False, True])
    @pytest.mark.parametrize(
        "kernel", [RBF(0.7), Polynomial(3), TL1(radius=6.0), NeighborGraph(4), Tanh(2.0, -1.0)], ids=repr
    )
    def test_objective_never_increases(self, kernel, weighted, rng, X):
        """Step by step the objective falls, for indefinite kernels too under the shifted step."""
        gram = kernel.fit(X).gram(X)
        weights = rng.random(50) + 0.2 if weighted else np.ones(50)
        shift = _definite_shift(gram, weights)
        assert (shift > 0) == (not kernel.definite)
        descent = _Descent(gram, 5, weights, shift, 300, 0)
        labels = start = rng.permutation(np.arange(50) % 5)[:, None]
        values = []
        for _ in range(12):
            objective, _, following = descent._step(labels)
            values.append(kmeans_objective(gram, labels[:, 0], weights))
            assert objective[0] == pytest.approx(values[-1])
            labels = following
        assert np.all(np.diff(values) <= 1e-9 * abs(values[0]))
        # Plain steps, which go farther, are taken as long as they lower the objective too.
        descent.run(start)
        assert descent.objective < values[0]
        assert descent.objective == pytest.approx(kmeans_objective(gram, descent.labels, weights))

    @pytest.mark.parametrize("kernel", [NeighborGraph(4), TL1(radius=6.0), Tanh(2.0, -1.0), RBF(0.7)], ids=repr)
    def test_more_iterations_never_end_worse(self, kernel, rng, X):
        """The result after m + 1 steps is at least as good as after m, and its objective is its labels'."""
        gram, ones = kernel.fit(X).gram(X), np.ones(50)
        shift = _definite_shift(gram, ones)
        start = rng.permutation(np.arange(50) % 5)[:, None]
        runs = [descend(gram, start, 5, ones, shift, steps) for steps in range(1, 12)]
        assert np.all(np.diff([run.objective for run in runs]) <= 0)
        for run in runs:
            assert run.objective == pytest.approx(kmeans_objective(gram, run.labels))

    @pytest.mark.parametrize("kernel", [Tanh(2.0, -1.0), GaussianDifference(0.5)], ids=repr)
    def test_the_shift_makes_the_weighted_matrix_definite(self, kernel, rng, X):
        """K + c diag(1/a) has no negative eigenvalue, and c is not larger than that needs."""
        weights = rng.random(50) + 0.2
        K = kernel.fit(X)(X)
        roots = np.sqrt(weights)
        spectrum = np.linalg.eigvalsh(K * np.outer(roots, roots))
        # One thousandth of the largest magnitude is the margin for an eigenvalue found by iteration.
        margin = 1e-3 * np.abs(spectrum).max()
        assert 0 <= _definite_shift(kernel.gram(X), weights) + spectrum[0] <= 1.01 * margin

    def test_the_shift_beside_a_large_eigenvalue(self, rng):
        """A small negative part beside a large eigenvalue is shifted away entirely, also where pairs are iterated."""
        Q = np.linalg.qr(rng.standard_normal((800, 800)))[0]
        K = (Q * np.concatenate([[1000.0], np.linspace(-0.9, 0.9, 799)])) @ Q.T
        assert 0.9 <= _definite_shift(DenseGram((K + K.T) / 2), np.ones(800)) <= 0.9 + 2e-3 * 1000

    @pytest.mark.parametrize("kernel", [NeighborGraph(4), TL1(radius=6.0), RBF(0.7)], ids=repr)
    def test_one_step_is_that_of_the_shifted_matrix(self, kernel, rng, X):
        """A shifted step assigns as k-means on K + c diag(1/a), written out, does; clusters of unequal size tell."""
        gram, a = kernel.fit(X).gram(X), rng.random(50) + 0.2
        start = np.repeat([0, 1, 2], [36, 10, 4])
        for shift in (0.0, 0.3, 2.0):
            K = gram.dense() + shift * np.diag(1 / a)
            means = np.array([a * (start == c) / a[start == c].sum() for c in range(3)])
            distance = np.diag(K)[:, None] - 2 * K @ means.T + np.einsum("ci,ij,cj->c", means, K, means)
            _, plain, shifted = _Descent(gram, 3, a, shift, 1, 0)._step(start[:, None])
            np.testing.assert_array_equal(shifted[:, 0], distance.argmin(axis=1))
            np.testing.assert_array_equal(plain, _Descent(gram, 3, a, 0.0, 1, 0)._step(start[:, None])[2])

    def test_a_converged_start_stays(self, blobs):
        """Started from the answer it stops at once with it."""
        X, y = blobs
        model = KernelKMeans(4, kernel="linear", init=y).fit(X)
        np.testing.assert_array_equal(model.labels_, y)
        assert model.n_iter_ == 1

    def test_starts_together_are_starts_alone(self, X):
        """All starts are advanced as one, yet the best of them is the best of the same starts run one by one."""
        gram, ones = RBF(0.8).gram(X), np.ones(50)
        starts = _plus_plus(gram, 5, 6, ones, np.random.default_rng(1))
        alone = [descend(gram, starts[:, [s]], 5, ones) for s in range(6)]
        together = descend(gram, starts, 5, ones)
        best = min(alone, key=lambda run: run.objective)
        assert together.objective == pytest.approx(best.objective)
        assert adjusted_rand(best.labels, together.labels) == 1
        assert together.n_iter == best.n_iter
        assert together.settled

    def test_starts_in_groups_are_starts_together(self, X):
        """Where the budget allows one start at a time the answer is the best of the same starts run one by one."""
        gram, ones, rng = RBF(0.8).gram(X), np.ones(50), np.random.default_rng(0)
        alone = [descend(gram, _plus_plus(gram, 5, 1, ones, rng), 5, ones) for _ in range(10)]
        with gramian.config(memory_budget="40kB"):
            assert _groups(50, 5, 10, 8) == [1] * 10
            model = KernelKMeans(5, kernel=RBF(0.8), random_state=np.random.default_rng(0)).fit(X)
        best = min(alone, key=lambda run: run.objective)
        assert model.inertia_ == pytest.approx(best.objective)
        np.testing.assert_array_equal(model.labels_, best.labels)
        assert _groups(50, 5, 10, 8) == [10]


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

    def test_plus_plus_labels_are_the_nearest_seeds(self, X):
        """A k-means++ start is a Voronoi partition: every label's seed, a row of it, is its nearest."""
        labels = _plus_plus(Linear().gram(X), 4, 3, np.ones(50), np.random.default_rng(0))
        D = cdist(X, X, "sqeuclidean")
        for start in labels.T:
            candidates = [np.flatnonzero(start == c) for c in range(4)]
            assert any(np.array_equal(D[:, list(seeds)].argmin(axis=1), start) for seeds in product(*candidates)), (
                "no four rows explain the partition"
            )

    def test_plus_plus_prefers_distant_rows(self):
        """Of two far groups, one of a single row, both get a seed nearly always."""
        X = np.vstack([np.zeros((50, 1)) + 0.01 * np.arange(50)[:, None], [[1000.0]]])
        labels = _plus_plus(Linear().gram(X), 2, 40, np.ones(51), np.random.default_rng(0))
        assert np.mean([len(set(start[:50])) == 1 and start[50] != start[0] for start in labels.T]) > 0.95

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

    def test_one_step_moves_only_the_farthest_row(self, rng):
        """The first step from one full and one empty cluster founds the empty one with the row farthest off."""
        X = np.vstack([rng.normal(5.0, 1.0, (30, 2)), rng.normal(0.0, 0.1, (5, 2)), [[40.0, 40.0]]])
        descent = _Descent(Linear().gram(X), 2, np.ones(36), 0.0, 1, 0)
        labels = descent._step(np.zeros((36, 1), int))[1]
        np.testing.assert_array_equal(np.flatnonzero(labels[:, 0]), [35])

    def test_refilling_does_not_empty_another_cluster(self):
        """Two empty clusters must not both be filled from the same cluster of two."""
        labels = np.array([0, 0, 1, 1])
        assert refill_empty(labels, np.array([5.0, 4.0, 0.0, 0.0]), 4)
        assert sorted(labels) == [0, 1, 2, 3]
        assert not refill_empty(labels, np.zeros(4), 4)

    def test_refilling_takes_the_worst_fit(self):
        """The empty clusters get, in turn, the rows of largest misfit."""
        labels = np.array([0, 0, 0, 0, 2])
        refill_empty(labels, np.array([1.0, 3.0, 0.0, 2.0, 9.0]), 4)
        np.testing.assert_array_equal(labels, [0, 1, 0, 3, 2])

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
