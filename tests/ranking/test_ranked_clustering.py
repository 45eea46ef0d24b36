"""Ranked clustering: the embedding's identities, exact rankings, memberships, outliers, and new samples."""

import numpy as np
import pytest
from scipy.sparse import csr_array
from sklearn.datasets import load_digits, load_iris, load_wine, make_blobs, make_moons
from sklearn.exceptions import NotFittedError

import gramian
from gramian import RankedClustering
from gramian.kernels import RBF, ClusterKernel, NeighborGraph
from gramian.landmarks import Nystroem
from gramian.metrics import adjusted_rand, clustering_accuracy
from gramian.mixture import mcar
from gramian.ranking.kernel_walk.joint_embedding import laplacian_axes, low_degrees, walk_axes
from gramian.ranking.kernel_walk.walk import Walk

ALPHA = 0.15
BETA = ALPHA / (1 - ALPHA)


@pytest.fixture
def blobs():
    return make_blobs(120, centers=3, cluster_std=0.8, random_state=4)


@pytest.fixture
def model(blobs):
    return RankedClustering(3, kernel=RBF(1.0), random_state=0).fit(blobs[0])


def pagerank(K, S, restart=ALPHA):
    """π = (1 − α) Pᵀ π + α s, by a dense solve."""
    P = K / K.sum(axis=1, keepdims=True)
    return restart * np.linalg.solve(np.eye(len(K)) - (1 - restart) * P.T, S)


def green(K):
    """((1 + β) D − K)^-1."""
    return np.linalg.inv((1 + BETA) * np.diag(K.sum(axis=1)) - K)


class TestEmbedding:
    @pytest.mark.parametrize("normalized", [True, False])
    @pytest.mark.parametrize(
        "kernel", [RBF(1.0), ClusterKernel(3, 6, random_state=0), Nystroem(30, kernel=RBF(2.0), random_state=0)]
    )
    def test_fitted_rows_are_themselves(self, kernel, normalized, blobs):
        """Fitted rows given as new ones have their embedding, label and base score again."""
        X = blobs[0]
        fitted = RankedClustering(3, kernel=kernel, normalized=normalized, random_state=0).fit(X)
        np.testing.assert_allclose(fitted.transform(X), fitted.embedding_, atol=1e-8 * abs(fitted.embedding_).max())
        np.testing.assert_array_equal(fitted.predict(X), fitted.labels_)
        np.testing.assert_allclose(fitted.score_samples(X), fitted.base_scores_, rtol=1e-9)

    def test_leading_columns(self, blobs):
        """The columns are scaled eigenvectors: of D^-½ K D^-½ without the first, or of (1 + β) D − K from the first."""
        K = RBF(1.0)(blobs[0])
        d = K.sum(axis=1)
        values, vectors = np.linalg.eigh(K / np.sqrt(np.outer(d, d)))
        expected = vectors[:, -3:-1][:, ::-1] / np.sqrt(d)[:, None]
        expected *= np.sqrt(BETA * d.sum() / (1 + BETA - values[-3:-1][::-1]))
        found = RankedClustering(3, kernel="precomputed", random_state=0).fit(K)
        np.testing.assert_allclose(np.abs(found.embedding_), np.abs(expected), atol=1e-8)
        np.testing.assert_allclose(found.eigenvalues_, values[-3:-1][::-1], atol=1e-10)
        values, vectors = np.linalg.eigh((1 + BETA) * np.diag(d) - K)
        found = RankedClustering(3, kernel="precomputed", normalized=False, random_state=0).fit(K)
        expected = vectors[:, :3] * np.sqrt(BETA * d.sum() / values[:3])
        np.testing.assert_allclose(np.abs(found.embedding_), np.abs(expected), atol=1e-7)


class TestRankings:
    def test_cluster_scores_are_pagerank(self, model, blobs):
        """Scores with a cluster as seeds are exact PageRank; weighted by size they add up to those of all samples."""
        K = RBF(1.0)(blobs[0])
        S = (model.labels_[:, None] == np.arange(3)) / np.bincount(model.labels_)
        np.testing.assert_allclose(model.cluster_scores_, pagerank(K, S), atol=1e-10)
        whole = model.cluster_scores_ @ np.bincount(model.labels_) / 120
        np.testing.assert_allclose(whole, pagerank(K, np.full(120, 1 / 120)), atol=1e-10)
        np.testing.assert_allclose(model.scores(), whole, atol=1e-10)
        np.testing.assert_allclose(model.scores([4, 9]), pagerank(K, np.isin(np.arange(120), [4, 9]) / 2), atol=1e-10)

    def test_lists(self, model, blobs):
        """Within a cluster, all samples, members of another one, everything: each list sorts the right scores."""
        pi, labels = model.cluster_scores_, model.labels_
        members = np.flatnonzero(labels == 1)
        np.testing.assert_array_equal(model.rank(1), members[np.argsort(-pi[members, 1], kind="stable")])
        np.testing.assert_array_equal(model.rank(1, top=3), model.rank(1)[:3])
        np.testing.assert_array_equal(model.rank(1, within=False), np.argsort(-pi[:, 1], kind="stable"))
        other = np.flatnonzero(labels == 2)
        np.testing.assert_array_equal(model.rank(1, target=2), other[np.argsort(-pi[other, 1], kind="stable")])
        np.testing.assert_array_equal(model.rank(), np.argsort(-model.scores(), kind="stable"))
        tops = model.top_per_cluster(4)
        assert [list(top) for top in tops] == [list(model.rank(c, top=4)) for c in range(3)]
        np.testing.assert_array_equal(model.exemplars_, [top[0] for top in tops])

    def test_query(self, model, blobs):
        """A fitted sample lists the others by its own scores; a new row by those of its first step."""
        X = blobs[0]
        K = RBF(1.0)(X)
        scores = pagerank(K, np.eye(120)[7])
        scores[7] = -1
        np.testing.assert_array_equal(model.query(7), np.argsort(-scores, kind="stable")[:10])
        assert len(model.query(7, top=None)) == 119
        new = X[7] + 0.1
        k = RBF(1.0)([new], X)[0]
        expected = (1 - ALPHA) * pagerank(K, k / k.sum())
        np.testing.assert_allclose(model.scores(query=new), expected, atol=1e-12)
        np.testing.assert_array_equal(model.query(new, top=6), np.argsort(-expected, kind="stable")[:6])
        assert model.scores(query=X[:2]).shape == (120, 2)

    def test_memberships(self):
        """Memberships are the odds of the last restart, sum to one, and name the cluster; new samples have them too."""
        X, _ = make_blobs([60, 40, 20], cluster_std=0.8, random_state=4)
        model, K = RankedClustering(3, kernel=RBF(1.0), random_state=0).fit(X), RBF(1.0)(X)
        S = (model.labels_[:, None] == np.arange(3)) / 120
        joint = pagerank(K, S)
        np.testing.assert_allclose(model.memberships_, joint / joint.sum(axis=1, keepdims=True), atol=1e-10)
        np.testing.assert_allclose(model.memberships_.sum(axis=1), 1, atol=1e-12)
        assert np.mean(model.memberships_.argmax(axis=1) == model.labels_) > 0.99
        new = X[:5] + 0.5
        joint = RBF(1.0)(new, X) @ (joint / K.sum(axis=1)[:, None])
        np.testing.assert_allclose(model.predict_proba(new), joint / joint.sum(axis=1, keepdims=True), atol=1e-10)

    def test_cohesion(self, model):
        """Cohesion is the mass that members keep, from the restart probability to one."""
        for c in range(3):
            assert model.cohesion_[c] == pytest.approx(model.cluster_scores_[model.labels_ == c, c].sum())
        assert np.all((model.cohesion_ >= ALPHA) & (model.cohesion_ <= 1))

    def test_parameters_set_later_do_not_mix_with_what_was_fitted(self, model, blobs):
        before = model.scores(5)
        model.set_params(restart=0.9)
        np.testing.assert_array_equal(model.scores(5), before)

    def test_restart_on_the_border(self):
        """Across two moons the members nearest to the other come first, and scores stay exact on a sparse graph."""
        X, _ = make_moons(200, noise=0.05, random_state=0)
        model = RankedClustering(2, kernel=NeighborGraph(8), random_state=0).fit(X)
        W = NeighborGraph(8)(X).toarray()
        S = (model.labels_[:, None] == np.arange(2)) / np.bincount(model.labels_)
        np.testing.assert_allclose(model.cluster_scores_, pagerank(W, S), atol=1e-10)


class TestClusters:
    @pytest.mark.parametrize("normalized", [True, False])
    def test_reference_accuracies(self, normalized):
        """Iris and wine under the cluster kernel reach the accuracies of the reference runs, 0.90 and 0.966."""
        for load, least in ((load_iris, 0.85), (load_wine, 0.94)):
            X, y = load(return_X_y=True)
            model = RankedClustering(3, kernel=ClusterKernel(10, 30), normalized=normalized, random_state=0).fit(X)
            assert clustering_accuracy(y, model.labels_) >= least

    def test_number_of_clusters(self):
        """Left open, the number of clusters is found, and the eigenvalues that tell it are kept."""
        X, y = make_blobs(200, centers=5, cluster_std=0.5, center_box=(-12, 12), random_state=2)
        model = RankedClustering(kernel=RBF(1.0), random_state=0).fit(X)
        assert model.n_clusters_ == 5
        assert adjusted_rand(y, model.labels_) == 1
        assert model.transition_eigenvalues_[0] == 1
        assert len(model.transition_eigenvalues_) == 21

    @pytest.mark.parametrize("make", [np.asarray, csr_array])
    def test_components_are_clusters(self, make):
        """The components of a graph are its clusters, with all of the mass kept."""
        W = np.kron(np.eye(4), np.ones((6, 6)))
        model = RankedClustering(4, kernel="precomputed", random_state=0).fit(make(W))
        assert adjusted_rand(np.repeat(range(4), 6), model.labels_) == 1
        np.testing.assert_allclose(model.cohesion_, 1)

    def test_graphs_without_groups(self):
        """A star has no positive eigenvalue beyond the trivial one: said, with a way out; one cluster is no problem."""
        star = np.zeros((4, 4))
        star[0, 1:] = star[1:, 0] = 1
        with pytest.raises(ValueError, match="normalized=False"):
            RankedClustering(2, kernel="precomputed").fit(star)
        for K in (star, np.ones((4, 4))):
            model = RankedClustering(1, kernel="precomputed").fit(K)
            np.testing.assert_array_equal(model.labels_, 0)
            np.testing.assert_allclose(model.memberships_, 1)

    def test_copies_of_rows_in_a_neighbour_graph(self):
        """Equal rows have one label, and meet it again when they are given as new rows."""
        X = np.repeat(np.random.default_rng(2).standard_normal((20, 2)), 3, axis=0)
        model = RankedClustering(2, kernel=NeighborGraph(10), random_state=0).fit(X)
        np.testing.assert_array_equal(model.labels_.reshape(20, 3), model.labels_[::3, None].repeat(3, axis=1))
        np.testing.assert_array_equal(model.predict(X), model.labels_)

    def test_cosine(self, blobs):
        """The angular variant clusters well separated groups and predicts by direction."""
        X, y = blobs
        model = RankedClustering(3, kernel=RBF(1.0), normalized=False, metric="cosine", random_state=0).fit(X)
        assert adjusted_rand(y, model.labels_) > 0.95
        np.testing.assert_array_equal(model.predict(X), model.labels_)

    def test_missing_values(self):
        """A table with holes is clustered and ranked under the default kernel, and so are new rows with holes."""
        X, y = make_blobs(150, centers=3, n_features=4, cluster_std=0.7, random_state=1)
        holes, _ = mcar(X, 0.2, random_state=0)
        model = RankedClustering(3, kernel=ClusterKernel(5, 10), random_state=0).fit(holes)
        assert adjusted_rand(y, model.labels_) > 0.85
        assert model.predict(holes[:4]).shape == (4,)
        assert np.mean(y[model.query(holes[5], top=10)] == y[5]) > 0.8

    def test_toy_of_the_thesis_is_compact(self):
        """Three normal clusters: JRC separates them as well as kernel PCA does, and more compactly."""
        rng = np.random.default_rng(0)
        means = np.array([[0, 0], [2, 0], [1, 1.8]])
        y = np.repeat(range(3), 100)
        X = means[y] + rng.standard_normal((300, 2)) * np.sqrt(0.15)
        K = ClusterKernel(8, 20, random_state=0).fit(X)(X)
        model = RankedClustering(3, kernel="precomputed", normalized=False, random_state=0).fit(K)
        assert clustering_accuracy(y, model.labels_) > 0.98

        def spread(Z):
            centers = np.array([Z[y == c].mean(axis=0) for c in range(3)])
            between = np.mean([np.linalg.norm(centers[i] - centers[j]) for i, j in ((0, 1), (0, 2), (1, 2))])
            return np.linalg.norm(Z - centers[y], axis=1).mean() / between

        values, vectors = np.linalg.eigh(K)
        assert spread(model.embedding_) <= spread(vectors[:, -3:] * np.sqrt(values[-3:]))


class TestOutliers:
    @pytest.fixture
    def planted(self):
        """Two blobs of 150 and four points far from everything."""
        rng = np.random.default_rng(1)
        blobs = np.vstack([rng.normal(0, 0.3, (150, 2)), rng.normal([4, 0], 0.3, (150, 2))])
        far = np.array([[20.0, 20], [-20, 20], [20, -20], [-20, -20]])
        return np.vstack([blobs, far])

    def test_low_degree_points_are_flagged(self, planted):
        """Exactly the planted points are flagged, have the worst outlier scores, and take axes of the published Z."""
        with pytest.warns(UserWarning, match=r"4 of 4 axes.*4 samples.*prune_low_degree='auto'"):
            model = RankedClustering(2, kernel=RBF(0.6), normalized=False, n_components=4, random_state=0).fit(planted)
        np.testing.assert_array_equal(np.flatnonzero(model.low_degree_mask_), range(300, 304))
        assert set(np.argsort(model.outlier_scores_)[-4:]) == set(range(300, 304))
        energy = model.embedding_**2 / (model.embedding_**2).sum(axis=0)
        assert np.all(1 / (energy**2).sum(axis=0) < 1.5)
        np.testing.assert_array_equal(low_degrees(Walk(RBF(0.6).gram(planted)), ALPHA), model.low_degree_mask_)

    @pytest.mark.parametrize("drop", ["auto", 4])
    @pytest.mark.parametrize("pairwise", [False, True])
    def test_pruning_restores_the_clusters(self, pairwise, drop, planted):
        """Without them the two clusters come back; the pruned points have label −1 and are ranked all the same."""
        kernel, X = ("precomputed", RBF(0.6)(planted)) if pairwise else (RBF(0.6), planted)
        model = RankedClustering(2, kernel=kernel, normalized=False, prune_low_degree=drop, random_state=0).fit(X)
        assert np.all(model.labels_[300:] == -1)
        assert adjusted_rand(np.repeat([0, 1], 150), model.labels_[:300]) == 1
        assert np.isfinite(model.embedding_).all()
        np.testing.assert_allclose(model.cluster_scores_.sum(axis=0), 1, atol=1e-10)
        np.testing.assert_array_equal(model.predict(X[:300]), model.labels_[:300])

    def test_axes_of_single_samples_are_told(self):
        """Where the criterion of low degree sees nothing, an axis may still go to one sample; so it is measured."""
        X = load_digits().data[:500] / 16
        with pytest.warns(UserWarning, match="2 of 3 axes of the embedding went to single samples"):
            model = RankedClustering(3, kernel=RBF("median30"), normalized=False, random_state=0).fit(X)
        assert not model.low_degree_mask_.any()
        assert np.sort(np.bincount(model.labels_))[1] < 5

    def test_digits_with_noise(self):
        """Four rows of noise among digits are flagged and take the first four axes; without them, clusters come."""
        rng = np.random.default_rng(0)
        digits = load_digits().data[:500] / 16
        X = np.vstack([digits, rng.normal(0, 5, (4, 64))])
        D = np.sqrt(((digits[:, None] - digits) ** 2).sum(axis=2))
        kernel = RBF(0.3 * float(np.median(D[np.triu_indices(500, 1)])))
        walk = Walk(kernel.gram(X))
        np.testing.assert_array_equal(np.flatnonzero(low_degrees(walk, ALPHA)), range(500, 504))
        Z = laplacian_axes(walk, ALPHA, 5).embedding
        on_noise = (Z[500:] ** 2).sum(axis=0) / (Z**2).sum(axis=0)
        np.testing.assert_allclose(on_noise, [1, 1, 1, 1, 0], atol=1e-6)
        # Similar to nothing else at all, they are components of their own for the normalised walk too.
        assert np.all(walk_axes(walk, 5)[0][:4] > 1 - 1e-6)
        with pytest.warns(UserWarning, match="axes of the embedding went to 4 samples of low degree"):
            RankedClustering(5, kernel=kernel, random_state=0).fit(X)
        model = RankedClustering(5, kernel=kernel, prune_low_degree="auto", random_state=0).fit(X)
        assert np.all(np.bincount(model.labels_[:500]) > 5)

    def test_normalized_embedding_is_robust(self):
        """Points of low degree that are still connected take axes of the published embedding only."""
        rng = np.random.default_rng(2)
        X = np.vstack([rng.normal(0, 0.5, (150, 2)), rng.normal([4, 0], 0.5, (150, 2)), [[2.0, 3.0], [2.0, -3.0]]])
        y = np.repeat([0, 1], 150)
        model = RankedClustering(2, kernel=RBF(0.8), random_state=0).fit(X)
        np.testing.assert_array_equal(np.flatnonzero(model.low_degree_mask_), [300, 301])
        assert adjusted_rand(y, model.labels_[:300]) == 1
        with pytest.warns(UserWarning, match=r"2 of 2 axes.*normalized=True"):
            published = RankedClustering(2, kernel=RBF(0.8), normalized=False, random_state=0).fit(X)
        assert adjusted_rand(y, published.labels_[:300]) < 0.5

    def test_new_samples_out_of_reach(self, model):
        """A new sample like nothing has label −1, equal memberships, the base score 0, and a warning."""
        far = np.full((1, 2), 1e3)
        with pytest.warns(UserWarning, match="1 sample has no similarity to any other and label -1"):
            assert model.predict(far)[0] == -1
        with pytest.warns(UserWarning, match="belong to all clusters alike"):
            np.testing.assert_allclose(model.predict_proba(far), 1 / 3)
        assert model.score_samples(far)[0] == 0
        assert np.all(model.transform(far) == 0)

    def test_pruned_samples_out_of_reach(self):
        """What is left of a score of zero by rounding is no membership."""
        K = np.zeros((11, 11))
        K[:7, :7], K[7:10, 7:10] = 1, 1
        K[:10, :10] += 0.05
        K[10, 10] = 0.01
        model = RankedClustering(2, kernel="precomputed", prune_low_degree=1, random_state=0).fit(K)
        assert model.labels_[-1] == -1
        np.testing.assert_array_equal(model.memberships_[-1], [0.5, 0.5])

    def test_a_new_sample_on_a_pole_has_no_place_but_no_infinity_either(self):
        """Where (1 + β) d(x) = μ_j the published extension divides by zero."""
        K = RBF(1.0)(np.arange(8.0)[:, None])
        model = RankedClustering(2, kernel="precomputed", normalized=False, random_state=0).fit(K)
        row = np.zeros((1, 8))
        row[0, 0] = model.eigenvalues_[0] / (1 + BETA)
        Z = model.transform(row)
        assert Z[0, 0] == 0
        assert np.isfinite(Z).all()


class TestRefusals:
    @pytest.mark.parametrize(
        ("parameters", "message"),
        [
            ({"restart": 1}, "restart=1 must be a probability"),
            ({"n_clusters": 121}, "n_clusters=121 is more than the n_samples=120"),
            ({"metric": "angle"}, "metric='angle' is not known"),
            ({"normalized": "yes"}, "normalized='yes' is not known"),
            ({"prune_low_degree": 119}, "prune_low_degree=119 is more than 118; pass prune_low_degree <= 118"),
            ({"prune_low_degree": "all"}, "prune_low_degree='all' must be"),
            ({"n_clusters": None, "max_clusters": 1}, "n_clusters=None needs max_clusters >= 2"),
            ({"n_clusters": 100, "prune_low_degree": 50}, "n_clusters=100 is more than the 70 samples left"),
        ],
    )
    def test_parameters(self, parameters, message, blobs):
        """Parameters out of range are refused by name and value."""
        with pytest.raises(ValueError, match=message):
            RankedClustering(kernel=RBF(1.0)).set_params(**{"n_clusters": 3, **parameters}).fit(blobs[0])

    def test_questions(self, model):
        """Clusters, samples and lengths that do not exist are refused."""
        with pytest.raises(ValueError, match="cluster=3 is more than 2; pass cluster <= 2"):
            model.rank(3)
        with pytest.raises(ValueError, match="target=-1 must be a whole number from 0 to 2"):
            model.rank(0, target=-1)
        with pytest.raises(ValueError, match="top=-1 must be"):
            model.query(3, top=-1)
        with pytest.raises(ValueError, match=r"index_or_row=0\.5 must be"):
            model.query(0.5)
        with pytest.raises(ValueError, match="seeds contains node 120"):
            model.query(120)
        with pytest.raises(ValueError, match="either seeds"):
            model.scores(3, query=[0.0, 0.0])
        with pytest.raises(NotFittedError):
            RankedClustering().rank(0)

    def test_walks_that_are_none(self):
        """Negative similarities and samples that are all alike are refused with the remedy."""
        with pytest.raises(ValueError, match="negative similarities"):
            RankedClustering(2, kernel="linear").fit([[1.0], [-1.0], [2.0]])
        with pytest.raises(ValueError, match="all samples are alike"):
            RankedClustering(2, kernel="precomputed").fit(np.ones((5, 5)))


def test_saved_model_answers_all_questions(model, blobs, tmp_path):
    """A loaded model ranks, queries and predicts as before, and its file holds no Gram."""
    gramian.save(model, tmp_path / "model.gramian")
    back = gramian.load(tmp_path / "model.gramian")
    assert "_walk" not in vars(back)
    np.testing.assert_array_equal(back.query(7), model.query(7))
    np.testing.assert_array_equal(back.rank(1), model.rank(1))
    np.testing.assert_array_equal(back.query(blobs[0][3] + 0.1), model.query(blobs[0][3] + 0.1))
    np.testing.assert_array_equal(back.predict_proba(blobs[0]), model.predict_proba(blobs[0]))
