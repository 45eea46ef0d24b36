"""Rank-based reduction, E-value affinities, competing walkers, and the thresholded number of clusters."""

import numpy as np
import pytest
from scipy.sparse import csr_array
from sklearn.datasets import make_blobs
from sklearn.exceptions import ConvergenceWarning
from sklearn.neighbors import KNeighborsClassifier

from gramian import RankedClustering
from gramian.kernels import RBF, ClusterKernel
from gramian.metrics import adjusted_rand
from gramian.ranking import best_ranked, estimate_n_clusters, evalue_affinity, rank_compete


@pytest.fixture
def blobs():
    return make_blobs(90, centers=3, cluster_std=0.5, random_state=4)


class TestBestRanked:
    def test_keeps_the_best_of_each_class(self):
        """The best of every class are kept, all of a small one, none labelled −1; dicts merge clusters."""
        scores = [5, 4, 3, 2, 1, 9, 0]
        labels = [0, 0, 1, 1, 1, -1, 2]
        np.testing.assert_array_equal(best_ranked(scores, labels, 1), [0, 2, 6])
        np.testing.assert_array_equal(best_ranked(scores, labels, 2), [0, 1, 2, 3, 6])
        merged = best_ranked(scores, labels, 3, classes={0: "a", 1: "a", 2: "b"})
        np.testing.assert_array_equal(merged, [0, 1, 2, 6])
        names = np.array(["a", "a", "b", "b", "b", "c", "c"], object)
        np.testing.assert_array_equal(best_ranked(scores, names, 1), [0, 2, 5])

    def test_reduced_training_set_classifies_as_well(self):
        """Nearest neighbours of the best-ranked points alone classify like those of the whole sample."""
        rng = np.random.default_rng(0)

        def draw(n):
            ground = rng.standard_normal((n, 4))
            cloud = rng.standard_normal((n, 4)) + np.where(np.arange(n) % 3 < 2, 4.5, 6.0)[:, None] * np.eye(4)[0]
            cloud[np.arange(n) % 3 == 2, 1] += 8
            return np.vstack([ground, cloud]), np.repeat([0, 1], n)

        X, y = draw(200)
        test, truth = draw(1000)
        model = RankedClustering(3, kernel=ClusterKernel(6, 25), random_state=0).fit(X)
        majority = {c: int(np.bincount(y[model.labels_ == c]).argmax()) for c in range(3)}
        labels = np.array([majority[c] for c in model.labels_])
        kept = best_ranked(model.scores(), labels, 100)
        accuracies = [
            KNeighborsClassifier(1).fit(X[rows], labels[rows]).score(test, truth) for rows in (slice(None), kept)
        ]
        assert len(kept) == 200
        assert accuracies[0] > 0.96
        assert accuracies[1] >= accuracies[0] - 0.005

    def test_refusals(self):
        """Shapes that differ, NaN and lengths below one are refused."""
        with pytest.raises(ValueError, match=r"scores has shape \(2,\) and labels \(3,\)"):
            best_ranked([1, 2], [0, 0, 1], 1)
        with pytest.raises(ValueError, match="scores has NaN"):
            best_ranked([1, np.nan], [0, 0], 1)
        with pytest.raises(ValueError, match="top=0 must be"):
            best_ranked([1, 2], [0, 0], 0)


class TestEvalueAffinity:
    def test_formula(self):
        """Both directions are averaged, no hit is no affinity."""
        E = np.array([[0.0, 1.0, np.inf], [3.0, 0.0, 2.0], [np.inf, 0.5, 0.0]])
        K = evalue_affinity(E, 2.0)
        assert K[0, 1] == pytest.approx((np.exp(-0.5) + np.exp(-1.5)) / 2)
        assert K[0, 2] == 0
        np.testing.assert_array_equal(K, K.T)

    @pytest.mark.parametrize(
        ("E", "width", "message"),
        [([[1.0, 2.0]], 1.0, "square"), ([[-1.0]], 1.0, ">= 0"), ([[np.nan]], 1.0, "NaN"), ([[1.0]], 0, "width=0")],
    )
    def test_refusals(self, E, width, message):
        """What is no matrix of distances, and widths that are not positive, are refused."""
        with pytest.raises(ValueError, match=message):
            evalue_affinity(E, width)


class TestRankCompete:
    @pytest.mark.parametrize("make", [np.asarray, csr_array])
    def test_blocks_are_owned(self, make):
        """Walkers end up owning the blocks of a graph; every one has mass one, on its own samples only."""
        rng = np.random.default_rng(0)
        K = np.kron(np.eye(3), np.ones((8, 8))) + 0.01 * rng.random((24, 24))
        result = rank_compete(make((K + K.T) / 2), 3, random_state=0)
        assert adjusted_rand(np.repeat(range(3), 8), result.labels) == 1
        np.testing.assert_allclose(result.scores.sum(axis=0), 1)
        assert np.all((result.scores > 0).sum(axis=1) <= 1)
        assert 0 < result.retained <= 3

    def test_well_separated_groups(self, blobs):
        """On separated blobs it finds the groups, the same for the same seed."""
        K = RBF(1.0)(blobs[0])
        first, second = (rank_compete(K, 3, random_state=5) for _ in range(2))
        np.testing.assert_array_equal(first.labels, second.labels)
        assert adjusted_rand(blobs[1], first.labels) > 0.9

    def test_refusals(self):
        """Impossible counts and negative affinities are refused."""
        with pytest.raises(ValueError, match="n_clusters=4 is more than the n_samples=3"):
            rank_compete(np.ones((3, 3)), 4)
        with pytest.raises(ValueError, match="n_init=0 must be"):
            rank_compete(np.ones((3, 3)), 2, n_init=0)
        with pytest.raises(ValueError, match="negative similarities"):
            rank_compete(np.eye(3) - 0.1, 2)

    def test_samples_that_no_walker_reaches(self):
        """They belong to nobody, and the columns of the scores are the labels."""
        K = np.kron(np.eye(4), np.ones((3, 3)))
        found = rank_compete(K, 2, n_init=3, random_state=0)
        assert set(found.labels.tolist()) == {-1, 0, 1}
        owned = found.labels >= 0
        np.testing.assert_array_equal(np.argmax(found.scores[owned], axis=1), found.labels[owned])
        np.testing.assert_array_equal(found.scores[~owned], 0)

    def test_walkers_that_never_settle_warn(self):
        """On a bipartite graph two walkers may change sides for ever."""
        K = np.kron([[0, 1], [1, 0]], np.ones((2, 2)))
        with pytest.warns(ConvergenceWarning, match="max_iter=5"):
            rank_compete(K, 2, max_iter=5, random_state=0)


class TestNumberOfClusters:
    def test_more_groups_than_clusters_considered(self):
        assert estimate_n_clusters(np.kron(np.eye(25), np.ones((3, 3)))).n_clusters == 20
        assert estimate_n_clusters(np.kron(np.eye(5), np.ones((3, 3))), max_clusters=8).n_clusters == 5

    @pytest.mark.parametrize("parameters", [{"max_clusters": 0}, {"max_clusters": "a"}, {"threshold": np.nan}])
    def test_parameters(self, parameters):
        name = next(iter(parameters))
        with pytest.raises(ValueError, match=f"{name}="):
            estimate_n_clusters(np.eye(3), **parameters)

    def test_blocks_and_singletons(self):
        """Groups are counted, samples cut off by the threshold are counted apart."""
        K = np.kron(np.eye(4), np.full((6, 6), 0.8)) + 0.02
        K = np.pad(K, (0, 2), constant_values=0.01)
        K[24:, 24:] = np.eye(2)
        for given in (K, csr_array(K)):
            count = estimate_n_clusters(given)
            assert (count.n_clusters, count.n_singletons) == (4, 2)
            np.testing.assert_allclose(count.eigenvalues[:5], [1, 1, 1, 1, 0], atol=1e-9)

    def test_one_group(self):
        """One group whose second eigenvalue is small is one cluster."""
        assert estimate_n_clusters(np.ones((10, 10))).n_clusters == 1
        assert estimate_n_clusters(np.eye(3)).n_singletons == 3

    def test_cluster_kernel(self, blobs):
        """Three blobs under the cluster kernel are three clusters."""
        K = ClusterKernel(8, 15, random_state=0).fit(blobs[0])(blobs[0])
        assert estimate_n_clusters(K).n_clusters == 3

    def test_refusals(self):
        """Negative similarities are refused."""
        with pytest.raises(ValueError, match="K has negative similarities"):
            estimate_n_clusters(np.eye(3) - 0.1)
