"""The turns of projection and clusters against eigenvectors of whole matrices."""

import numpy as np
import pytest
from scipy.spatial.distance import cdist, pdist
from sklearn.exceptions import ConvergenceWarning
from sklearn.metrics import normalized_mutual_info_score as nmi

from dependence.projection.textbook_ism import blobs
from gramian.dependence.projection._alternating import (
    ClustersForNewRows,
    RelaxedClusters,
    alternate,
    clusters_of_all_columns,
    degree_roots,
)
from gramian.dependence.projection._climb import sine
from gramian.dependence.projection._estimator import Approximation
from gramian.dependence.projection.weights import ClusterWeights
from gramian.grams import DenseGram
from gramian.kernels import RBF

EXACT = Approximation(None, False, 512, 0)


def gaussian(Z, width):
    return np.exp(-cdist(Z, Z, "sqeuclidean") / (2 * width**2))


def relaxed(K, k, normalize):
    """Eigenvalues and the k leading eigenvectors of H D^-½ K D^-½ H, or of H K H."""
    H = np.eye(len(K)) - 1 / len(K)
    roots = np.sqrt(K.sum(axis=1)) if normalize else np.ones(len(K))
    values, vectors = np.linalg.eigh(H @ (K / np.outer(roots, roots)) @ H)
    return values[::-1][:k], vectors[:, ::-1][:, :k]


def turns_of(X, y_count=3, **options):
    start = clusters_of_all_columns(X, y_count, EXACT)
    settings = {"approximation": EXACT, "normalize": False, **options}
    return alternate(X, RBF(2.0).fit(X), 2, start.vectors, ClusterWeights(), y_count, **settings)


class TestRelaxedClusters:
    @pytest.mark.parametrize("normalize", [False, True])
    def test_leading_eigenvectors(self, normalize):
        """U and its eigenvalues are those of the dense matrix; degrees only where they are used."""
        K = gaussian(blobs(60)[0], 1.5)
        found = RelaxedClusters.of(DenseGram(K), 3, normalize=normalize)
        values, vectors = relaxed(K, 3, normalize)
        np.testing.assert_allclose(found.values, values, rtol=1e-8)
        assert sine(vectors, found.vectors) < 1e-6
        if normalize:
            np.testing.assert_allclose(found.roots, np.sqrt(K.sum(axis=1)), rtol=1e-10)
        else:
            assert found.roots is None

    def test_separation(self):
        """1 − (1 − λ_{k−1}) / (1 − λ_k), near one for clusters far apart; zero where a cut is one row."""
        X = np.vstack([np.random.default_rng(0).normal(size=(40, 2)) + centre for centre in ((0, 0), (9, 0))])
        found = RelaxedClusters.of(DenseGram(gaussian(X, 1.0)), 2, normalize=True)
        first, second = found.values
        assert found.separation == pytest.approx(1 - (1 - first) / (1 - second))
        assert found.separation > 0.9
        X[0] = 100
        assert RelaxedClusters.of(DenseGram(gaussian(X, 1.0)), 2, normalize=True).separation == 0

    def test_separation_without_degrees(self):
        found = RelaxedClusters.of(DenseGram(gaussian(blobs(60)[0], 1.5)), 3, normalize=False)
        assert found.separation == pytest.approx(1 - found.values[2] / found.values[1])
        assert RelaxedClusters.of(DenseGram(np.eye(8) + 1), 1, normalize=False).separation == 0

    def test_roots_of_degrees_are_positive(self):
        """Also of a row that is similar to none."""
        roots = degree_roots(DenseGram(np.diag([4.0, 9.0, 0.0])))
        np.testing.assert_allclose(roots[:2], [2, 3])
        assert 0 < roots[2] < 1e-5


class TestFirstClusters:
    def test_they_are_of_a_gaussian_of_median_width(self):
        X = blobs(60)[0]
        found = clusters_of_all_columns(X, 3, EXACT)
        assert sine(relaxed(gaussian(X, np.median(pdist(X))), 3, True)[1], found.vectors) < 1e-5

    @pytest.mark.parametrize("k", [2, 3, 4])
    def test_their_number_is_seen(self, k):
        rng = np.random.default_rng(0)
        X = rng.normal(size=(150, 4)) + 12 * np.eye(4)[np.arange(150) % k]
        assert clusters_of_all_columns(X, None, EXACT).n_clusters == k


class TestTurns:
    def test_they_end_where_both_are_stationary(self):
        """U are the clusters of the projection, and the projection is stationary for them, by dense matrices."""
        X, y = blobs()
        turns = turns_of(X)
        assert turns.converged
        W = turns.solution.components.T
        K = gaussian(X @ W, 2.0)
        np.testing.assert_allclose(turns.rows, X @ W, atol=1e-10)
        np.testing.assert_allclose(turns.gram.dense(), K, atol=1e-10)
        U = turns.clusters.vectors
        assert sine(relaxed(K, 3, False)[1], U) < 1e-5
        P = (U @ U.T) * K
        image = X.T @ (np.diag(P.sum(axis=1)) - P) @ X @ W
        assert np.linalg.norm(image - W @ (W.T @ image)) < 0.05 * np.linalg.norm(image)
        assert turns.objective == pytest.approx(np.sum((U @ U.T) * K), rel=1e-8)
        assert nmi(y, ClustersForNewRows(turns, 3, 10, 0).labels) > 0.3

    def test_the_objective_never_falls_without_degrees(self):
        path = turns_of(blobs()[0], tol=1e-9).objective_path
        assert np.diff(path).min() >= -1e-9 * path[-1]

    def test_too_few_turns_are_told(self):
        """The best of them is kept, and the warning says how many there were and what to do."""
        turns = turns_of(blobs()[0], max_iter=1)
        assert not turns.converged
        with pytest.warns(ConvergenceWarning, match="still changed after 1 turns.*; do something"):
            turns.warn_if_unsettled("do something")

    @pytest.mark.parametrize("normalize", [False, True])
    def test_new_rows_that_are_old_rows(self, normalize):
        """Fitted rows find their own clusters; labels are numbered by first appearance; far rows get the nearest."""
        X, _ = blobs()
        turns = turns_of(X, normalize=normalize)
        clusters = ClustersForNewRows(turns, 3, 5, 0)
        np.testing.assert_array_equal(clusters.predict(turns.rows), clusters.labels)
        first = [np.flatnonzero(clusters.labels == label)[0] for label in range(3)]
        assert first == sorted(first)
        if normalize:
            far = 1e3 * turns.rows[[4]] / np.linalg.norm(turns.rows[4])
            nearest = cdist(far, turns.rows).argmin()
            assert clusters.predict(far)[0] == clusters.labels[nearest]
