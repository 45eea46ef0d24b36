"""Steps of kernel k-means against Lloyd's algorithm, the shifted matrix and the objective by loops."""

from itertools import product

import numpy as np
import pytest
from scipy.spatial.distance import cdist
from sklearn.datasets import make_blobs
from sklearn.exceptions import ConvergenceWarning

import gramian
from clustering.textbook import lloyd
from gramian import KernelKMeans
from gramian.clustering import kmeans_objective
from gramian.clustering.core import refill_empty
from gramian.clustering.core.descent import Descent, definite_shift, plus_plus, start_groups
from gramian.grams import DenseGram
from gramian.kernels import RBF, TL1, GaussianDifference, Linear, NeighborGraph, Polynomial, Tanh
from gramian.metrics import adjusted_rand


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


def descend(gram, starts, k, weights, shift=0.0, max_iter=300):
    """The finished descent from the given labels."""
    descent = Descent(gram, k, weights, shift, max_iter, 0)
    descent.run(starts)
    return descent


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
        shift = definite_shift(gram, weights)
        assert (shift > 0) == (not kernel.definite)
        descent = Descent(gram, 5, weights, shift, 300, 0)
        labels = start = rng.permutation(np.arange(50) % 5)[:, None]
        values = []
        for _ in range(12):
            objective, _, following = descent.step(labels)
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
        shift = definite_shift(gram, ones)
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
        assert 0 <= definite_shift(kernel.gram(X), weights) + spectrum[0] <= 1.01 * margin

    def test_the_shift_beside_a_large_eigenvalue(self, rng):
        """A small negative part beside a large eigenvalue is shifted away entirely, also where pairs are iterated."""
        Q = np.linalg.qr(rng.standard_normal((800, 800)))[0]
        K = (Q * np.concatenate([[1000.0], np.linspace(-0.9, 0.9, 799)])) @ Q.T
        assert 0.9 <= definite_shift(DenseGram((K + K.T) / 2), np.ones(800)) <= 0.9 + 2e-3 * 1000

    @pytest.mark.parametrize("kernel", [NeighborGraph(4), TL1(radius=6.0), RBF(0.7)], ids=repr)
    def test_one_step_is_that_of_the_shifted_matrix(self, kernel, rng, X):
        """A shifted step assigns as k-means on K + c diag(1/a), written out, does; clusters of unequal size tell."""
        gram, a = kernel.fit(X).gram(X), rng.random(50) + 0.2
        start = np.repeat([0, 1, 2], [36, 10, 4])
        for shift in (0.0, 0.3, 2.0):
            K = gram.dense() + shift * np.diag(1 / a)
            means = np.array([a * (start == c) / a[start == c].sum() for c in range(3)])
            distance = np.diag(K)[:, None] - 2 * K @ means.T + np.einsum("ci,ij,cj->c", means, K, means)
            _, plain, shifted = Descent(gram, 3, a, shift, 1, 0).step(start[:, None])
            np.testing.assert_array_equal(shifted[:, 0], distance.argmin(axis=1))
            np.testing.assert_array_equal(plain, Descent(gram, 3, a, 0.0, 1, 0).step(start[:, None])[2])

    def test_a_converged_start_stays(self, blobs):
        """Started from the answer it stops at once with it."""
        X, y = blobs
        model = KernelKMeans(4, kernel="linear", init=y).fit(X)
        np.testing.assert_array_equal(model.labels_, y)
        assert model.n_iter_ == 1

    def test_starts_together_are_starts_alone(self, X):
        """All starts are advanced as one, yet the best of them is the best of the same starts run one by one."""
        gram, ones = RBF(0.8).gram(X), np.ones(50)
        starts = plus_plus(gram, 5, 6, ones, np.random.default_rng(1))
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
        alone = [descend(gram, plus_plus(gram, 5, 1, ones, rng), 5, ones) for _ in range(10)]
        with gramian.config(memory_budget="40kB"):
            assert start_groups(50, 5, 10, 8) == [1] * 10
            model = KernelKMeans(5, kernel=RBF(0.8), random_state=np.random.default_rng(0)).fit(X)
        best = min(alone, key=lambda run: run.objective)
        assert model.inertia_ == pytest.approx(best.objective)
        np.testing.assert_array_equal(model.labels_, best.labels)
        assert start_groups(50, 5, 10, 8) == [10]

    def test_one_step_moves_only_the_farthest_row(self, rng):
        """The first step from one full and one empty cluster founds the empty one with the row farthest off."""
        X = np.vstack([rng.normal(5.0, 1.0, (30, 2)), rng.normal(0.0, 0.1, (5, 2)), [[40.0, 40.0]]])
        descent = Descent(Linear().gram(X), 2, np.ones(36), 0.0, 1, 0)
        labels = descent.step(np.zeros((36, 1), int))[1]
        np.testing.assert_array_equal(np.flatnonzero(labels[:, 0]), [35])


class TestStarts:
    def test_plus_plus_labels_are_the_nearest_seeds(self, X):
        """A k-means++ start is a Voronoi partition: every label's seed, a row of it, is its nearest."""
        labels = plus_plus(Linear().gram(X), 4, 3, np.ones(50), np.random.default_rng(0))
        D = cdist(X, X, "sqeuclidean")
        for start in labels.T:
            candidates = [np.flatnonzero(start == c) for c in range(4)]
            assert any(np.array_equal(D[:, list(seeds)].argmin(axis=1), start) for seeds in product(*candidates)), (
                "no four rows explain the partition"
            )

    def test_plus_plus_prefers_distant_rows(self):
        """Of two far groups, one of a single row, both get a seed nearly always."""
        X = np.vstack([np.zeros((50, 1)) + 0.01 * np.arange(50)[:, None], [[1000.0]]])
        labels = plus_plus(Linear().gram(X), 2, 40, np.ones(51), np.random.default_rng(0))
        assert np.mean([len(set(start[:50])) == 1 and start[50] != start[0] for start in labels.T]) > 0.95


class TestRefilling:
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
