"""Consensus clustering: the co-association against a loop over pairs, lifetimes, shapes, holes, and new rows."""

import warnings
from itertools import combinations, pairwise

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.cluster.hierarchy import cophenet, linkage
from scipy.sparse import csr_array
from scipy.spatial.distance import squareform
from sklearn.cluster import KMeans
from sklearn.datasets import load_iris, load_wine, make_blobs, make_moons
from sklearn.exceptions import NotFittedError
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

import gramian
from clustering.textbook import base_labels
from gramian import ConsensusClustering, SpectralClustering
from gramian.clustering import consensus
from gramian.clustering.core import longest_lived
from gramian.clustering.ensemble import evidence
from gramian.clustering.ensemble.agreement import unit_memberships
from gramian.datasets import load_table, make_rings
from gramian.kernels import ClusterKernel
from gramian.metrics import adjusted_rand

LINKAGES = ["average", "single", "spectral"]

# Small and random data often do not tell the number of clusters.
pytestmark = pytest.mark.filterwarnings("ignore:the partitions do not tell the number of clusters:UserWarning")


@pytest.fixture
def rng():
    return np.random.default_rng(7)


@pytest.fixture
def X(rng):
    """Rows without structure."""
    return rng.standard_normal((60, 3))


@pytest.fixture
def blobs():
    """Three well separated groups and their labels."""
    return make_blobs(200, centers=3, cluster_std=0.6, random_state=0)


def pair_loop(labels):
    """S_ij by its definition, one pair at a time."""
    n = len(labels)
    S = np.eye(n)
    for i, j in combinations(range(n), 2):
        both = [m for m in range(labels.shape[1]) if labels[i, m] >= 0 and labels[j, m] >= 0]
        together = sum(labels[i, m] == labels[j, m] for m in both)
        S[i, j] = S[j, i] = together / len(both) if both else 0.0
    return S


def textbook_lifetimes(S, method):
    """k ↦ h_{N−k} − h_{N−k−1}, from SciPy's dendrogram of 1 − S."""
    heights = sorted(linkage(squareform(1 - S, checks=False), method)[:, 2])
    n = len(S)
    return {k: heights[n - k] - heights[n - k - 1] for k in range(2, n)}


class TestCoassociation:
    def test_is_the_share_of_partitions_that_agree(self, X):
        """S counts, pair by pair, how often two rows are in one base cluster."""
        model = ConsensusClustering(2, n_partitions=15, random_state=0).fit(X)
        np.testing.assert_allclose(model.coassociation(), pair_loop(base_labels(model)), atol=1e-12)

    def test_is_the_product_of_memberships(self, X):
        """S = H Hᵀ / M, positive semi-definite with a diagonal of ones."""
        model = ConsensusClustering(2, n_partitions=25, random_state=0).fit(X)
        S, H = model.coassociation(), model.memberships_.toarray()
        np.testing.assert_allclose(S, H @ H.T / 25, atol=1e-12)
        np.testing.assert_array_equal(np.diagonal(S), 1)
        assert np.linalg.eigvalsh(S)[0] > -1e-10

    @pytest.mark.parametrize("subsample", [0.3, 0.6, 1.0])
    def test_resampled_is_the_share_where_both_were_seen(self, subsample, X):
        """With ``subsample`` a pair is judged only by the partitions that saw both rows."""
        model = ConsensusClustering(2, n_partitions=12, subsample=subsample, random_state=0).fit(X)
        labels = base_labels(model)
        np.testing.assert_array_equal((labels >= 0).sum(axis=0) >= int(60 * subsample), True)
        np.testing.assert_allclose(model.coassociation(), pair_loop(labels), atol=1e-12)

    def test_pairs_that_never_met_are_not_nan(self, X):
        """Two rows that no partition saw together have S = 0, and every row is like itself."""
        model = ConsensusClustering(2, n_partitions=2, subsample=0.2, random_state=0).fit(X)
        S = model.coassociation()
        both = model.seen_.astype(int) @ model.seen_.T.astype(int)
        assert (both == 0).any()
        np.testing.assert_array_equal(S[both == 0], 0)
        np.testing.assert_array_equal(np.diagonal(S), 1)
        np.testing.assert_array_equal(S, S.T)

    def test_seeing_all_rows_is_no_resampling(self, X):
        """``subsample=1`` has the formula, the range of values and the definiteness of the plain variant."""
        model = ConsensusClustering(2, n_partitions=20, subsample=1.0, random_state=0).fit(X)
        assert model.seen_.all()
        H = model.memberships_.toarray()
        np.testing.assert_allclose(model.coassociation(), H @ H.T / 20, atol=1e-12)

    @pytest.mark.parametrize("method", LINKAGES)
    def test_agreeing_partitions_are_blocks(self, method, rng):
        """Where all runs find the same clusters S is 0/1 in blocks, and they are the consensus."""
        y = np.repeat([0, 1], 20)
        X = 1e-3 * rng.standard_normal((40, 2)) + 100.0 * y[:, None]
        model = ConsensusClustering(
            None, n_partitions=30, min_components=2, max_components=2, linkage=method, random_state=0
        ).fit(X)
        np.testing.assert_array_equal(model.coassociation(), y[:, None] == y)
        assert model.n_clusters_ == 2
        assert adjusted_rand(y, model.labels_) == 1

    def test_beyond_the_budget_it_is_refused(self, X):
        """A dense S above the memory budget is refused with the size, before it is made."""
        model = ConsensusClustering(2, n_partitions=10, random_state=0).fit(X)
        with (
            gramian.config(memory_budget="20kB"),
            pytest.raises(gramian.MemoryBudgetError, match=r"60×60.*memberships_"),
        ):
            model.coassociation()

    @settings(max_examples=30, deadline=None)
    @given(
        n=st.integers(3, 30),
        d=st.integers(1, 4),
        n_partitions=st.integers(1, 12),
        subsample=st.sampled_from([None, 0.4, 0.8]),
        rounding=st.sampled_from([0, 3]),
        seed=st.integers(0, 10**6),
    )
    def test_invariants(self, n, d, n_partitions, subsample, rounding, seed):
        """Any data, with duplicates or without: symmetric, in [0, 1], ones on the diagonal, PSD without resampling."""
        X = np.random.default_rng(seed).normal(size=(n, d)).round(rounding)
        model = ConsensusClustering(2, n_partitions=n_partitions, subsample=subsample, random_state=seed).fit(X)
        S = model.coassociation()
        np.testing.assert_array_equal(S, S.T)
        np.testing.assert_array_equal(np.diagonal(S), 1)
        assert S.min() >= 0
        assert S.max() <= 1
        assert subsample is not None or np.linalg.eigvalsh(S)[0] > -1e-10
        assert (model.memberships_.sum(axis=0) > 0).all()
        assert set(model.labels_) == {0, 1}


class TestBasePartitions:
    def test_sizes_are_drawn_from_the_range(self, rng):
        """The default range is ⌊√n / 2⌋ to ⌈√n⌉; all of it occurs, and nothing else."""
        X = rng.standard_normal((400, 2))
        sizes = partition_sizes(ConsensusClustering(2, random_state=0).fit(X))
        assert len(sizes) == 200
        assert set(sizes) == set(range(10, 21))

    @pytest.mark.parametrize(
        ("parameters", "low", "high"),
        [
            ({"min_components": 5, "max_components": 5}, 5, 5),
            ({"max_components": 3}, 3, 3),
            ({"min_components": 50}, 50, 51),
            ({"min_components": 5}, 5, 20),
            ({"max_components": 12}, 10, 12),
        ],
        ids=str,
    )
    def test_one_end_of_the_range_is_enough(self, parameters, low, high, rng):
        """The end that is not given follows the default, and gives way to the one that is."""
        X = rng.standard_normal((400, 2))
        sizes = partition_sizes(ConsensusClustering(2, n_partitions=40, random_state=0, **parameters).fit(X))
        assert (min(sizes), max(sizes)) == (low, high)

    @pytest.mark.parametrize("offset", [0, 1e9])
    @pytest.mark.parametrize("factor", [1e-170, 1, 1e160])
    def test_units_do_not_matter(self, offset, factor, blobs):
        """Moving or scaling X as a whole, even far, moves no row to another cluster."""
        X, y = blobs
        model = ConsensusClustering(random_state=0).fit((X + offset) * factor)
        assert model.n_clusters_ == 3
        assert adjusted_rand(y, model.labels_) == 1

    def test_an_outlier_does_not_blur_the_others(self, blobs):
        """One row very far away costs the others no digits."""
        X, y = blobs
        labels = ConsensusClustering(4, random_state=0).fit(np.vstack([X, [[1e12, 0]]])).labels_
        assert (labels == labels[-1]).sum() == 1
        assert adjusted_rand(y, labels[:-1]) == 1


def partition_sizes(model):
    """The number of base clusters of each partition."""
    return [len(set(column)) for column in base_labels(model).T]


class TestNumberOfClusters:
    @pytest.mark.parametrize("method", ["average", "single"])
    @pytest.mark.parametrize("seed", range(4))
    def test_lifetimes_are_those_of_the_textbook(self, method, seed, rng):
        """``lifetimes_`` are differences of SciPy's heights, and the longest is taken."""
        X = rng.standard_normal((40, 2)) + 3 * rng.integers(0, 3, (40, 1))
        model = ConsensusClustering(n_partitions=30, linkage=method, random_state=seed).fit(X)
        expected = textbook_lifetimes(model.coassociation(), method)
        np.testing.assert_allclose(model.lifetimes_, [expected[k] for k in range(2, 40)], atol=1e-12)
        best = max(expected.values())
        assert model.n_clusters_ == min(k for k in expected if expected[k] > best - 1e-9)

    @pytest.mark.parametrize("method", LINKAGES)
    @pytest.mark.parametrize("seed", range(3))
    def test_three_blobs_are_three(self, method, seed):
        """200 points in three blobs of deviation 0.6: every way to choose finds three, and the right ones."""
        X, y = make_blobs(200, centers=3, cluster_std=0.6, random_state=seed)
        model = ConsensusClustering(linkage=method, random_state=0).fit(X)
        assert model.n_clusters_ == 3
        assert adjusted_rand(y, model.labels_) == 1

    @pytest.mark.parametrize("data", [load_iris, load_wine, lambda: load_table("breast_w")])
    def test_overlapping_classes_are_said_not_to_be_told(self, data):
        """Too many clusters are found on real tables, so that the number is marked as a guess."""
        table = data()
        X = StandardScaler().fit_transform(getattr(table, "data", None) if hasattr(table, "data") else table.X)
        with pytest.warns(UserWarning, match="do not tell the number of clusters"):
            model = ConsensusClustering(random_state=0).fit(X)
        assert not model.n_clusters_is_certain_
        assert ConsensusClustering(3, n_partitions=20, random_state=0).fit(X).n_clusters_is_certain_

    @pytest.mark.filterwarnings("error")
    def test_blobs_that_lie_apart_are_certain(self):
        X, _ = make_blobs(200, centers=4, cluster_std=0.8, random_state=3)
        model = ConsensusClustering(random_state=0).fit(X)
        assert model.n_clusters_is_certain_
        assert model.n_clusters_ == 4

    def test_equal_lifetimes_take_fewer_clusters(self):
        """Heights 0, ¼, ½ live equally long as three and as two clusters; it is two."""
        assert longest_lived(np.diff([0.0, 0.1 + 0.2, 0.6])[::-1]) == 2
        assert longest_lived(np.diff([0.0, 0.3, 0.1 + 0.2 + 0.3])[::-1]) == 2
        assert longest_lived(np.diff([0.0, 0.4, 0.6])[::-1]) == 3

    @pytest.mark.parametrize("method", ["average", "single"])
    def test_every_number_can_be_asked_for(self, method, rng):
        """k clusters are k clusters, from 1 to n, also where all heights are equal (duplicates)."""
        X = np.repeat(rng.standard_normal((5, 2)), 4, axis=0)
        for k in range(1, 21):
            model = ConsensusClustering(k, n_partitions=10, linkage=method, random_state=0).fit(X)
            assert model.n_clusters_ == k
            assert sorted(set(model.labels_)) == list(range(k))

    def test_cuts_are_nested(self, X):
        """Each cluster of a finer cut lies within one of a coarser."""
        labels = [ConsensusClustering(k, n_partitions=20, random_state=0).fit(X).labels_ for k in (3, 8, 20)]
        for coarse, fine in pairwise(labels):
            assert all(len(set(coarse[fine == c])) == 1 for c in set(fine))

    def test_spectral_choice_is_that_of_spectral_clustering(self, blobs):
        """The eigengap and the labels are those of SpectralClustering on the dense S."""
        X, _ = blobs
        model = ConsensusClustering(linkage="spectral", random_state=0).fit(X)
        peer = SpectralClustering(None, kernel="precomputed", random_state=0).fit(model.coassociation())
        assert model.n_clusters_ == peer.n_clusters_
        assert adjusted_rand(peer.labels_, model.labels_) == 1
        assert model.linkage_matrix_ is None
        assert model.lifetimes_ is None


class TestLinkage:
    @pytest.mark.parametrize("method", ["average", "single"])
    def test_the_dendrogram_is_scipys(self, method, X):
        """Heights and cophenetic distances are those of SciPy's linkage of the dense 1 − S."""
        model = ConsensusClustering(2, n_partitions=20, linkage=method, random_state=0).fit(X)
        expected = linkage(squareform(1 - model.coassociation(), checks=False), method)
        np.testing.assert_allclose(model.linkage_matrix_[:, 2], expected[:, 2], atol=1e-12)
        np.testing.assert_allclose(cophenet(model.linkage_matrix_), cophenet(expected), atol=1e-12)
        assert model.linkage_matrix_[-1, 3] == len(X)

    def test_single_linkage_of_resampled_partitions(self, X):
        """The variant that judges pairs by the partitions that saw both gives SciPy's dendrogram too."""
        model = ConsensusClustering(2, n_partitions=20, linkage="single", subsample=0.6, random_state=0).fit(X)
        expected = linkage(squareform(1 - model.coassociation(), checks=False), "single")
        np.testing.assert_allclose(cophenet(model.linkage_matrix_), cophenet(expected), atol=1e-12)

    @pytest.mark.parametrize("shape", ["rings", "moons"])
    def test_single_linkage_follows_shapes_that_k_means_cuts(self, shape):
        """Rings and moons are found, and counted, where k-means on the rows fails."""
        X, y = make_rings(random_state=0) if shape == "rings" else make_moons(400, noise=0.05, random_state=0)
        assert adjusted_rand(y, KMeans(2, n_init=10, random_state=0).fit_predict(X)) < 0.6
        model = ConsensusClustering(linkage="single", random_state=0).fit(X)
        assert model.n_clusters_ == 2
        assert adjusted_rand(y, model.labels_) == 1
        np.testing.assert_array_equal(model.predict(X), model.labels_)

    def test_linkages_agree_on_blobs(self, blobs):
        """Where the groups are clear all three find the same partition."""
        X, _ = blobs
        first, *others = (ConsensusClustering(linkage=name, random_state=0).fit(X).labels_ for name in LINKAGES)
        assert all(adjusted_rand(first, other) == 1 for other in others)

    @pytest.mark.parametrize("subsample", [None, 0.4])
    def test_spectral_features_by_their_definition(self, subsample, X):
        """F Fᵀ is n_ij / √(m_i m_j), counted pair by pair, and S where every partition saw every row."""
        model = ConsensusClustering(2, n_partitions=9, subsample=subsample, random_state=0).fit(X)
        labels = base_labels(model)
        seen = [set(np.flatnonzero(row >= 0)) for row in labels]
        expected = [
            [sum(labels[i, m] == labels[j, m] for m in a & b) / np.sqrt(len(a) * len(b)) for j, b in enumerate(seen)]
            for i, a in enumerate(seen)
        ]
        F = unit_memberships(model.memberships_)
        np.testing.assert_allclose((F @ F.T).toarray(), expected, atol=1e-12)
        assert subsample or np.allclose(expected, model.coassociation())

    def test_spectral_of_resampled_partitions(self, blobs):
        """Spectral clustering of resampled partitions finds the groups, and their number."""
        X, y = blobs
        model = ConsensusClustering(linkage="spectral", subsample=0.5, random_state=0).fit(X)
        assert model.n_clusters_ == 3
        assert adjusted_rand(y, model.labels_) == 1

    def test_auto_is_average_for_few_rows_and_spectral_for_many(self, blobs, monkeypatch):
        """The switch depends on the number of rows only."""
        X, y = blobs
        few = ConsensusClustering(random_state=0).fit(X)
        average = ConsensusClustering(linkage="average", random_state=0).fit(X)
        np.testing.assert_array_equal(few.linkage_matrix_, average.linkage_matrix_)
        monkeypatch.setattr(consensus, "_LINKAGE_ROWS", 199)
        many = ConsensusClustering(random_state=0).fit(X)
        assert many.linkage_matrix_ is None
        assert adjusted_rand(y, many.labels_) == 1

    def test_all_pairs_beyond_the_budget_are_refused(self, blobs):
        """Average linkage names the alternative, which then works within the same budget; so does single linkage."""
        X, y = blobs
        # 200 rows: 318 kB for the pairs, 40 kB for the memberships.
        with gramian.config(memory_budget="200kB"):
            with pytest.raises(gramian.MemoryBudgetError, match=r"200 rows.*linkage='spectral'"):
                ConsensusClustering(linkage="average", n_partitions=50, random_state=0).fit(X)
            for method in ("spectral", "single"):
                model = ConsensusClustering(3, linkage=method, n_partitions=50, random_state=0).fit(X)
                assert adjusted_rand(y, model.labels_) == 1

    def test_memberships_beyond_the_budget_are_refused(self, blobs):
        """Too many partitions for the budget are refused with the parameter to lower."""
        with (
            gramian.config(memory_budget="200kB"),
            pytest.raises(gramian.MemoryBudgetError, match=r"n_partitions=200.*lower n_partitions"),
        ):
            ConsensusClustering(linkage="spectral").fit(blobs[0])

    def test_many_rows(self):
        """Tens of thousands of rows are clustered through their memberships."""
        X, y = make_blobs(20_000, centers=4, n_features=5, cluster_std=0.8, random_state=2)
        model = ConsensusClustering(n_partitions=20, random_state=0).fit(X)
        assert model.linkage_matrix_ is None
        assert model.n_clusters_ == 4
        assert adjusted_rand(y, model.labels_) > 0.999


class TestMissingValues:
    @pytest.fixture
    def holed(self, rng):
        """Three groups in ten columns with 30 % of the values missing."""
        X, y = make_blobs(150, centers=3, n_features=10, cluster_std=1.5, random_state=0)
        return np.where(rng.random(X.shape) < 0.3, np.nan, X), y

    @pytest.mark.parametrize("method", LINKAGES)
    def test_groups_with_holes_are_found(self, method, holed):
        """With holes the partitions are mixtures, and the groups and new rows with holes are found."""
        X, y = holed
        model = ConsensusClustering(linkage=method, random_state=0).fit(X)
        assert isinstance(model.base_, ClusterKernel)
        assert model.n_clusters_ == 3
        assert adjusted_rand(y, model.labels_) == 1
        np.testing.assert_array_equal(model.predict(X), model.labels_)

    def test_is_the_hard_cluster_kernel(self, holed):
        """S of mixture partitions is the Gram matrix of the hard cluster kernel, and H is one-hot."""
        X, _ = holed
        model = ConsensusClustering(3, base="mixture", n_partitions=30, random_state=0).fit(X)
        np.testing.assert_allclose(model.coassociation(), model.base_(X), atol=1e-10)
        np.testing.assert_allclose(model.coassociation(), pair_loop(base_labels(model)), atol=1e-12)
        assert base_labels(model).shape[1] >= 30

    def test_the_base_can_be_asked_for(self, blobs):
        """Complete rows go to k-means by default and to mixtures on demand."""
        X, y = blobs
        assert not isinstance(ConsensusClustering(3, n_partitions=10, random_state=0).fit(X).base_, ClusterKernel)
        model = ConsensusClustering(base="mixture", n_partitions=60, random_state=0).fit(X)
        assert isinstance(model.base_, ClusterKernel)
        assert adjusted_rand(y, model.labels_) == 1

    def test_k_means_refuses_holes(self, holed, blobs):
        """k-means says what can take missing values, at ``fit`` and at ``predict``."""
        with pytest.raises(ValueError, match=r"missing values.*base='kmeans'.*base='mixture'"):
            ConsensusClustering(3, base="kmeans").fit(holed[0])
        X, _ = blobs
        model = ConsensusClustering(3, n_partitions=10, random_state=0).fit(X)
        with pytest.raises(ValueError, match=r"missing values.*fit with base='mixture'"):
            model.predict(np.where(np.arange(2), np.nan, X))

    def test_resampling_is_for_k_means(self, holed):
        """``subsample`` does not go with mixtures, and says so."""
        with pytest.raises(ValueError, match=r"subsample=0\.5 is for base='kmeans'"):
            ConsensusClustering(3, subsample=0.5).fit(holed[0])

    def test_sparse_rows_are_for_k_means(self, holed):
        """A sparse X cannot have missing values, and mixtures want it dense."""
        with pytest.raises(ValueError, match="sparse X must not have missing values"):
            ConsensusClustering(3).fit(csr_array(holed[0]))
        with pytest.raises(TypeError, match="dense"):
            ConsensusClustering(3, base="mixture").fit(csr_array(np.eye(10)))


class TestNewRows:
    @pytest.mark.parametrize("subsample", [None, 0.6])
    def test_mean_coassociation_by_its_definition(self, subsample, X):
        """``decision_function`` is the mean S with each cluster's rows, counted pair by pair; the largest wins."""
        model = ConsensusClustering(3, n_partitions=12, subsample=subsample, random_state=0).fit(X[:50])
        labels, new = base_labels(model), model._memberships(X[50:]).indices.reshape(10, 12)
        expected = np.zeros((10, 3))
        for r in range(10):
            for c in range(3):
                rows = np.flatnonzero(model.labels_ == c)
                expected[r, c] = np.mean(
                    [np.mean([new[r, m] == labels[i, m] for m in range(12) if labels[i, m] >= 0]) for i in rows]
                )
        found = model.decision_function(X[50:])
        np.testing.assert_allclose(found, expected, atol=1e-12)
        np.testing.assert_array_equal(model.predict(X[50:]), expected.argmax(axis=1))

    @pytest.mark.parametrize("method", LINKAGES)
    @pytest.mark.parametrize("options", [{}, {"subsample": 0.6}, {"base": "mixture"}], ids=str)
    def test_the_fitted_rows_keep_their_labels(self, method, options, X):
        """``predict`` repeats the labels, also without structure, in any order and one row at a time."""
        model = ConsensusClustering(5, linkage=method, n_partitions=30, random_state=0, **options).fit(X)
        if method == "single":  # the test means something: the mean alone would answer otherwise
            assert (model.decision_function(X).argmax(axis=1) != model.labels_).any()
        np.testing.assert_array_equal(model.predict(X[::-1]), model.labels_[::-1])
        np.testing.assert_array_equal([model.predict(row[None])[0] for row in X[:9]], model.labels_[:9])

    def test_fitted_memberships_are_repeated(self, X):
        """The base models give fitted rows the memberships they had."""
        model = ConsensusClustering(3, n_partitions=15, random_state=0).fit(X)
        assert (model._memberships(X) != model.memberships_).nnz == 0

    @pytest.mark.parametrize("method", LINKAGES)
    def test_held_out_rows(self, method):
        """Half of the rows, fitted, predict the other half."""
        X, y = make_blobs(400, centers=4, cluster_std=0.6, center_box=(-15, 15), random_state=3)
        model = ConsensusClustering(4, linkage=method, n_partitions=80, random_state=0).fit(X[::2])
        assert adjusted_rand(y[1::2], model.predict(X[1::2])) == 1

    def test_held_out_moons(self):
        """Winding clusters know new rows too."""
        X, y = make_moons(800, noise=0.05, random_state=2)
        model = ConsensusClustering(2, linkage="single", random_state=0).fit(X[:400])
        assert adjusted_rand(y[:400], model.labels_) == 1
        assert adjusted_rand(y[400:], model.predict(X[400:])) > 0.98

    def test_many_new_rows_are_answered_in_parts(self, blobs, monkeypatch):
        """Splitting the new rows changes nothing."""
        X, _ = blobs
        model = ConsensusClustering(3, n_partitions=10, random_state=0).fit(X)
        whole = model.decision_function(np.tile(X, (3, 1)))
        monkeypatch.setattr(consensus, "_MEMBERSHIPS_AT_ONCE", 70)
        np.testing.assert_allclose(model.decision_function(np.tile(X, (3, 1))), whole, atol=1e-12)

    def test_a_row_far_from_all_still_has_a_cluster(self, blobs):
        """A new row out of reach joins the nearest base clusters, which hold fitted rows."""
        X, _ = blobs
        model = ConsensusClustering(3, n_partitions=20, random_state=0).fit(X)
        far = np.array([[1e6, 1e6], [-1e6, 0]])
        assert (model.decision_function(far).max(axis=1) > 0).all()
        assert set(model.predict(far)) <= {0, 1, 2}


class TestPromises:
    @pytest.mark.parametrize("method", LINKAGES)
    @pytest.mark.parametrize("subsample", [None, 0.7])
    def test_threads_do_not_change_the_result(self, method, subsample, rng):
        """One thread or three: the same memberships and labels, bit for bit, duplicates included."""
        X = rng.standard_normal((300, 3)).round(1)
        options = {"n_partitions": 40, "linkage": method, "subsample": subsample, "random_state": 4}
        one, three, default = (ConsensusClustering(4, n_jobs=jobs, **options).fit(X) for jobs in (1, 3, None))
        for other in (three, default):
            assert (one.memberships_ != other.memberships_).nnz == 0
            np.testing.assert_array_equal(one.labels_, other.labels_)
            np.testing.assert_array_equal(one.decision_function(X), other.decision_function(X))

    @pytest.mark.parametrize("method", LINKAGES)
    def test_order_of_rows_does_not_matter(self, method, blobs, rng):
        """Shuffled rows have the same partition, up to the numbers of its clusters."""
        X, _ = blobs
        order = rng.permutation(len(X))
        straight, shuffled = (ConsensusClustering(linkage=method, random_state=0).fit(Z) for Z in (X, X[order]))
        assert adjusted_rand(straight.labels_[order], shuffled.labels_) == 1

    @pytest.mark.parametrize("method", ["average", "single"])
    def test_the_same_votes_in_another_order_are_the_same_tree(self, method, X, rng):
        """Given H, shuffling its rows shuffles the dendrogram's distances and nothing else."""
        H = ConsensusClustering(2, n_partitions=20, random_state=0).fit(X).memberships_
        order = rng.permutation(len(X))

        def distances(H):
            if method == "single":
                return squareform(cophenet(evidence.single_linkage(H)))
            return squareform(evidence.condensed_distances(H, None))

        np.testing.assert_allclose(distances(H)[np.ix_(order, order)], distances(H[order]), atol=1e-12)

    def test_seeds_repeat_and_differ(self, X):
        """The same seed gives the same votes, another seed others."""
        first, again, other = (
            ConsensusClustering(3, n_partitions=10, random_state=seed).fit(X).coassociation() for seed in (1, 1, 2)
        )
        np.testing.assert_array_equal(first, again)
        assert (first != other).any()

    @pytest.mark.parametrize("method", LINKAGES)
    def test_sparse_rows_answer_as_dense(self, method, blobs):
        """CSR rows have the same clusters, fitted and new."""
        X, y = blobs
        model = ConsensusClustering(linkage=method, random_state=0).fit(csr_array(X))
        assert adjusted_rand(y, model.labels_) == 1
        np.testing.assert_array_equal(model.predict(csr_array(X)), model.labels_)
        np.testing.assert_array_equal(model.predict(X), model.labels_)
        dense = ConsensusClustering(linkage=method, random_state=0).fit(X)
        np.testing.assert_array_equal(dense.predict(csr_array(X)), dense.labels_)

    def test_single_precision_stays_single(self, blobs):
        """float32 rows have float32 votes and means, and the same clusters."""
        X, y = blobs
        for method in LINKAGES:
            model = ConsensusClustering(linkage=method, random_state=0).fit(X.astype(np.float32))
            assert model.memberships_.dtype == model.coassociation().dtype == np.float32
            assert model.decision_function(X.astype(np.float32)).dtype == np.float32
            assert adjusted_rand(y, model.labels_) == 1

    @pytest.mark.parametrize("subsample", [None, 0.7])
    @pytest.mark.parametrize("base", ["kmeans", "mixture"])
    def test_models_are_saved_and_loaded(self, base, subsample, blobs, tmp_path):
        """A loaded model answers the same, with everything it learned."""
        X, _ = blobs
        if base == "mixture" and subsample:
            subsample = None
        options = {"base": base, "subsample": subsample, "n_partitions": 20}
        model = ConsensusClustering(3, random_state=np.random.default_rng(0), **options)
        model.set_params(random_state=0).fit(X)
        gramian.save(model, tmp_path / "model.gramian")
        back = gramian.load(tmp_path / "model.gramian")
        np.testing.assert_array_equal(back.decision_function(X), model.decision_function(X))
        np.testing.assert_array_equal(back.coassociation(), model.coassociation())
        np.testing.assert_array_equal(back.linkage_matrix_, model.linkage_matrix_)

    def test_tables_and_pipelines(self, blobs):
        """A data frame works, also behind a scaler."""
        X, y = blobs
        table = pd.DataFrame(X, columns=["length", "width"])
        pipeline = make_pipeline(StandardScaler(), ConsensusClustering(random_state=0)).fit(table)
        assert adjusted_rand(y, pipeline.predict(table)) == 1

    @pytest.mark.parametrize("method", LINKAGES)
    def test_duplicates_share_a_cluster(self, method, rng):
        """Copies of a few rows are never told apart."""
        y = rng.permutation(np.repeat(np.arange(3), 20))
        X = np.array([[0.0, 0.0], [5.0, 0.0], [0.0, 5.0]])[y]
        model = ConsensusClustering(3, linkage=method, random_state=0).fit(X)
        assert adjusted_rand(y, model.labels_) == 1
        np.testing.assert_array_equal(model.predict(X), model.labels_)

    @pytest.mark.parametrize("method", LINKAGES)
    def test_one_cluster_takes_all(self, method, X):
        """k = 1 is a partition too."""
        model = ConsensusClustering(1, n_partitions=20, linkage=method, random_state=0).fit(X)
        assert not model.labels_.any()
        assert not model.predict(X).any()
        np.testing.assert_allclose(model.decision_function(X)[:, 0], model.coassociation().mean(axis=1), atol=1e-12)

    def test_two_rows_are_two_clusters(self):
        """The smallest sample there is."""
        model = ConsensusClustering(2, random_state=0).fit([[0.0], [1.0]])
        assert sorted(model.labels_) == [0, 1]
        assert model.lifetimes_.shape == (0,)


class TestParameters:
    @pytest.mark.parametrize(
        ("parameters", "words"),
        [
            ({"n_clusters": 61}, "n_clusters=61 .*n_samples=60.*n_clusters <= 60"),
            ({"n_clusters": 0}, "n_clusters=0 .*>= 1 or None"),
            ({"n_partitions": 0}, "n_partitions=0 .*>= 1"),
            ({"n_partitions": 2.5}, r"n_partitions=2\.5"),
            ({"min_components": 9, "max_components": 4}, "min_components=9 is more than max_components=4"),
            ({"max_components": 61}, "max_components=61 is more than"),
            ({"min_components": 31, "subsample": 0.5}, "min_components=31 is more than the 30 rows.*subsample=0.5"),
            ({"min_components": 0}, "min_components=0"),
            ({"base": "gmm"}, "base='gmm'.*'kmeans', 'mixture'"),
            ({"linkage": "ward"}, "linkage='ward'.*'average', 'single', 'spectral'"),
            ({"subsample": 0.0}, r"subsample=0\.0 .*above 0"),
            ({"subsample": 1.5}, r"subsample=1\.5"),
            ({"n_jobs": 0}, "n_jobs=0"),
            ({"verbose": -1}, "verbose=-1"),
            ({"random_state": "seed"}, "random_state='seed'"),
        ],
        ids=str,
    )
    def test_bad_parameters_are_refused(self, parameters, words, X):
        """A parameter that cannot work is refused with its name, its value and what is allowed."""
        model = ConsensusClustering(**{"n_clusters": 2, **parameters})
        with pytest.raises(ValueError, match=words):
            model.fit(X)
        with pytest.raises(NotFittedError):
            model.predict(X)

    def test_too_few_rows(self):
        """One row is refused; two leave no choice of the number of clusters."""
        with pytest.raises(ValueError, match="minimum of 2"):
            ConsensusClustering(1).fit([[1.0]])
        with pytest.raises(ValueError, match="n_clusters=None needs at least three samples; got n_samples=2"):
            ConsensusClustering().fit([[1.0], [2.0]])

    def test_nothing_is_warned_about(self, X):
        """No warning of NumPy's or scikit-learn's comes through, on any path."""
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            for method in LINKAGES:
                for subsample in (None, 0.1):
                    model = ConsensusClustering(
                        3, n_partitions=5, linkage=method, subsample=subsample, random_state=0
                    ).fit(X)
                    assert model.n_clusters_ == 3
