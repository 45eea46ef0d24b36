"""Alternative clustering against a textbook version from full matrices, and on data whose second view is known."""

import pickle
import warnings

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.spatial.distance import cdist, pdist
from sklearn.cluster import KMeans
from sklearn.datasets import make_blobs, make_moons
from sklearn.exceptions import ConvergenceWarning
from sklearn.metrics import normalized_mutual_info_score
from sklearn.preprocessing import StandardScaler

from gramian.datasets import make_large_gauss, make_moon_views, make_small_gauss
from gramian.dependence.projection import _estimator
from gramian.dependence.projection.alternative import AlternativeClustering, alternative_search
from gramian.dependence.projection.reduction import DependenceReduction
from gramian.grams import Gram
from gramian.kernels import RBF, RelativeRBF


def nmi(a, b):
    return normalized_mutual_info_score(a, b, average_method="geometric")


def scaled(X):
    return (X - X.mean(axis=0)) / X.std(axis=0)


def moon(seed, n=400):
    X, given_labels, hidden = make_moon_views(n, random_state=seed)
    return scaled(X), given_labels, hidden


def noisy_moon(seed):
    """Two hundred rows with three columns of noise, which the experiment divides by three."""
    X, given_labels, hidden = make_moon_views(200, n_noise=3, random_state=seed)
    X = scaled(X)
    X[:, 4:] /= 3
    return X, given_labels, hidden


# Data, published width, weight and number of components.
TABLE = {
    "small": (lambda seed: make_small_gauss(random_state=seed), 1.0, 0.04, 1),
    "large": (lambda seed: make_large_gauss(400, random_state=seed), 5.0, 2.0, 3),
    "moon": (moon, 0.1, 1.0, 3),
    "moon with noise": (noisy_moon, 0.2, 0.1, 6),
}


def published(name, **changes):
    _, width, novelty, q = TABLE[name]
    parameters = {"kernel": RBF(width), "novelty": novelty, "n_components": q, "random_state": 0} | changes
    return AlternativeClustering(2, standardize=False, **parameters)


def gaussian(Z, width):
    return np.exp(-cdist(Z, Z, "sqeuclidean") / (2 * width**2))


def textbook(X, y, k, q, weight, width):
    """The method from full n×n matrices, with the plain iterative spectral method and no safeguard."""
    n = len(X)
    H = np.eye(n) - 1 / n
    X = H @ X
    Y = H @ (y[:, None] == np.unique(y))

    def relaxed(K):
        inverse = 1 / np.sqrt(K.sum(axis=1))
        Q = H @ (inverse[:, None] * K * inverse) @ H
        return Q, np.linalg.eigh(Q)[1][:, -k:], inverse

    def top(A):
        return np.linalg.eigh(A)[1][:, -q:]

    _, U, _ = relaxed(gaussian(X, np.median(pdist(X))))
    scatter = X.T @ X
    start = X.T @ (U @ U.T - weight * Y @ Y.T) @ X
    W = top(start + 1e-10 * np.linalg.norm(start) / np.linalg.norm(scatter) * scatter)
    for _ in range(20):
        inverse = 1 / np.sqrt(gaussian(X @ W, width).sum(axis=1))
        gamma = np.outer(inverse, inverse) * (U @ U.T - weight * Y @ Y.T)
        for _ in range(20):
            P = gamma * gaussian(X @ W, width)
            W = top(-X.T @ (np.diag(P.sum(axis=1)) - P) @ X)
        Q, U, _ = relaxed(gaussian(X @ W, width))
    rows = U / np.linalg.norm(U, axis=1, keepdims=True)
    labels = KMeans(k, n_init=10, random_state=0).fit_predict(rows)
    return labels, W @ W.T, weight * np.trace(Y.T @ Q @ Y) - np.trace(U.T @ Q @ U)


class TestBesideFiveLines:
    """Groupings that projecting out the known means and spectral clustering find are found by default too."""

    @pytest.mark.parametrize("seed", [0, 2])
    def test_moons_beside_blobs(self, seed):
        """Two moons in two columns, with three blobs known in two others."""
        moons, hidden = make_moons(300, noise=0.06, random_state=seed)
        blobs, known = make_blobs(300, centers=3, random_state=seed + 1)
        model = AlternativeClustering(2, random_state=0).fit(np.hstack([moons, blobs]), known)
        assert nmi(hidden, model.labels_) > 0.9
        assert model.novelty_ < 0.05

    def test_one_column_of_eight(self):
        """Two groups in one column, three known ones in two others, noise in the other five."""
        rng = np.random.default_rng(3)
        hidden, known = rng.integers(2, size=300), rng.integers(3, size=300)
        X = rng.normal(size=(300, 8))
        X[:, 0] += 6 * hidden
        X[:, 1:3] += 5 * rng.normal(size=(3, 2))[known]
        model = AlternativeClustering(2, random_state=0).fit(X, known)
        assert nmi(hidden, model.labels_) > 0.9
        assert np.abs(model.components_[:, 0]).max() > 0.9
        assert model.n_components_ in (1, 2)

    @pytest.mark.filterwarnings("ignore:clusters and projection still changed")  # a direction without groups turns
    def test_three_groups(self):
        """As many groups are sought as asked for, in as many components or one less."""
        rng = np.random.default_rng(0)
        hidden, known = rng.integers(3, size=300), rng.integers(2, size=300)
        X = rng.normal(size=(300, 6))
        X[:, :2] += 6 * np.array([(0, 0), (1, 0), (0, 1)])[hidden]
        X[:, 2] += 6 * known
        model = AlternativeClustering(3, random_state=0).fit(X, known)
        assert nmi(hidden, model.labels_) > 0.9
        assert model.n_components_ in (2, 3)
        assert model.novelty_weight_ in (0.1, 1 / 300)


class TestAgainstTheTextbook:
    @pytest.mark.parametrize("name", ["small", "large", "moon"])
    def test_same_clusters_projection_and_cost(self, name):
        """The published settings give the labels, the subspace and the cost of the textbook version."""
        make, width, novelty, q = TABLE[name]
        X, y, _ = make(0) if name != "moon" else moon(0, 200)
        model = published(name, tol=1e-5, max_iter=50).fit(X, y)
        labels, projector, cost = textbook(X, y, 2, q, novelty, width)
        assert nmi(labels, model.labels_) == pytest.approx(1)
        assert model.cost_ == pytest.approx(cost, rel=1e-3)
        np.testing.assert_allclose(model.components_.T @ model.components_, projector, atol=0.02)

    @pytest.mark.parametrize("kernel", ["rbf", "linear"])
    def test_diagnostics_are_the_dense_traces(self, kernel):
        """Quality, novelty and cost are traces of Q, and the cost is minus the weighted sum of the kernel."""
        X, y, _ = make_small_gauss(random_state=1)
        model = AlternativeClustering(2, kernel=kernel, novelty=0.3, random_state=0).fit(X, y)
        Z, H = model.transform(X), np.eye(40) - 1 / 40
        K = gaussian(Z, model.kernel_.width_) if kernel == "rbf" else Z @ Z.T
        inverse = 1 / np.sqrt(K.sum(axis=1)) if kernel == "rbf" else np.ones(40)
        Q = H @ (inverse[:, None] * K * inverse) @ H
        U, Y = model.embedding_, (y[:, None] == np.unique(y)).astype(float)
        assert model.quality_ == pytest.approx(np.trace(U.T @ Q @ U))
        assert model.novelty_hsic_ == pytest.approx(np.trace(Y.T @ Q @ Y), abs=1e-10)
        gamma = np.outer(inverse, inverse) * (H @ (U @ U.T - 0.3 * Y @ Y.T) @ H)
        assert model.cost_ == pytest.approx(-(gamma * K).sum(), rel=1e-10)
        assert model.cost_ == pytest.approx(-model.objective_path_[-1], rel=1e-10)
        assert model.novelty_ == pytest.approx(nmi(y, model.labels_))
        if kernel == "rbf":
            np.testing.assert_allclose(model.degrees_, K.sum(axis=1))
            assert 0 <= model.quality_ <= 2 + 1e-9
        else:
            assert model.degrees_ is None

    def test_embedding_is_orthonormal_and_centred(self):
        """UᵀU = I, Uᵀ1 = 0 and WᵀW = I."""
        model = published("moon").fit(*moon(2)[:2])
        np.testing.assert_allclose(model.embedding_.T @ model.embedding_, np.eye(2), atol=1e-10)
        np.testing.assert_allclose(model.embedding_.sum(axis=0), 0, atol=1e-8)
        np.testing.assert_allclose(model.components_ @ model.components_.T, np.eye(3), atol=1e-10)

    def test_without_novelty_it_is_reduction_with_degrees(self):
        """novelty=0 gives the labels of unsupervised dimension reduction with degrees."""
        X, y, _ = moon(0, 200)
        model = published("moon", novelty=0.0).fit(X, y)
        other = DependenceReduction(
            3, kernel=RBF(0.1), n_clusters=2, normalize=True, standardize=False, random_state=0
        ).fit(X)
        assert nmi(model.labels_, other.labels_) == pytest.approx(1)
        np.testing.assert_array_equal(published("moon").fit(X).labels_, model.labels_)


class TestHiddenViews:
    @pytest.mark.parametrize(
        ("name", "least"), [("small", 1.0), ("large", 1.0), ("moon", 0.97), ("moon with noise", 0.95)]
    )
    def test_published_settings_find_them(self, name, least):
        """With the published parameters the hidden clustering is found on every random state, nothing of the given."""
        found, novelty = [], []
        for seed in range(5):
            X, y, hidden = TABLE[name][0](seed)
            model = published(name).fit(X, y)
            found.append(nmi(hidden, model.labels_))
            novelty.append(model.novelty_)
        assert np.mean(found) >= least - 1e-12
        assert max(novelty) < 0.01

    @pytest.mark.parametrize(
        ("name", "least"), [("small", 1.0), ("large", 1.0), ("moon", 0.97), ("moon with noise", 0.9)]
    )
    def test_defaults_find_them(self, name, least):
        """With no parameter but the data (as scaled by the experiment) they are found too."""
        found = []
        for seed in range(3):
            X, y, hidden = TABLE[name][0](seed) if name != "moon" else moon(seed, 200)
            model = AlternativeClustering(standardize=name != "moon with noise", random_state=0).fit(X, y)
            found.append(nmi(hidden, model.labels_))
            assert model.novelty_ < 0.01
        assert np.mean(found) >= least - 1e-12

    @pytest.mark.parametrize("seed", range(3))
    def test_defaults_where_nothing_stands_apart(self, seed):
        """Without a clear alternative the width is not one that isolates rows, and the turns come to rest."""
        rng = np.random.default_rng(seed)
        X = rng.normal(size=(120, 6))
        model = AlternativeClustering(random_state=0).fit(X, rng.integers(2, size=120))
        parts = model.kernel_.width_ / np.median(pdist(StandardScaler().fit_transform(X)))
        assert min(abs(parts - part) for part in (0.5, 0.2, 0.1, 0.05)) < 1e-9
        assert np.bincount(model.labels_).min() > 20
        assert np.median(model.degrees_) > 5  # a row alone has degree 1
        assert model.novelty_ < 0.02

    def test_spectral_start_beats_random_ones(self):
        """From the spectral start the hidden moons are found; from random ones much less often."""
        found = {"spectral": [], "random": []}
        for seed in range(10):
            X, y, hidden = moon(seed, 200)
            for init, scores in found.items():
                with warnings.catch_warnings():
                    warnings.simplefilter("ignore", UserWarning)
                    scores.append(nmi(hidden, published("moon", init=init, random_state=seed).fit(X, y).labels_))
        assert np.mean(found["spectral"]) - np.mean(found["random"]) >= 0.2

    @pytest.mark.parametrize("kernel", ["linear", "squared_distance", "multiquadric", RelativeRBF()], ids=str)
    @pytest.mark.parametrize("novelty", [0.04, 1.0])
    def test_other_kernels(self, kernel, novelty):
        """Kernels with negative values, which have no degrees, find the other pair of blobs; so do relative widths."""
        X, y, hidden = make_small_gauss(random_state=3)
        model = AlternativeClustering(kernel=kernel, novelty=novelty, standardize=False, random_state=0).fit(X, y)
        assert nmi(hidden, model.labels_) == pytest.approx(1)
        np.testing.assert_array_equal(model.predict(X), model.labels_)

    @pytest.mark.filterwarnings("ignore:clusters and projection still changed")  # where it is not found
    @pytest.mark.parametrize(("kernel", "least"), [("auto", 4), (RBF(0.5), 3)], ids=str)
    def test_a_chain_finds_view_after_view(self, kernel, least):
        """Three independent splits are found one after the other by passing what is known as columns.

        Not on every draw: two splits that are equally clear can first be found as their exclusive or.
        """
        bits = np.array([[int(c) for c in f"{i % 8:03b}"] for i in range(160)])
        found = 0
        for seed in range(5):
            X = 6 * bits * [1.0, 0.9, 0.8] + 0.3 * np.random.default_rng(seed).normal(size=(160, 3))
            known = bits[:, :1]
            for _ in range(2):
                model = AlternativeClustering(2, kernel=kernel, random_state=0).fit(X, known)
                known = np.column_stack([known, model.labels_])
            assert model.novelty_.shape == (2,)
            assert model.novelty_.max() < 0.01
            found += all(max(nmi(split, column) for column in known.T) > 0.99 for split in bits.T)
        assert found >= least

    def test_balance(self):
        """novelty="balance" is the ratio of the two terms under all columns."""
        X, y, hidden = make_small_gauss(random_state=0)
        model = published("small", novelty="balance").fit(X, y)
        assert nmi(hidden, model.labels_) == pytest.approx(1)
        centred, H = X - X.mean(axis=0), np.eye(40) - 1 / 40
        K = gaussian(centred, np.median(pdist(X)))
        inverse = 1 / np.sqrt(K.sum(axis=1))
        Q = H @ (inverse[:, None] * K * inverse) @ H
        Y = (y[:, None] == np.unique(y)).astype(float)
        expected = np.linalg.eigvalsh(Q)[-2:].sum() / np.trace(Y.T @ Q @ Y)
        assert model.novelty_weight_ == pytest.approx(expected, rel=1e-6)


class TestNewRows:
    def test_fitted_and_fresh_rows(self):
        """Fitted rows keep their label, and four hundred fresh ones get the hidden view's."""
        X, y, _ = make_moon_views(random_state=0)
        X_new, _, hidden = make_moon_views(random_state=50)
        model = AlternativeClustering(2, kernel=RBF(0.1), n_components=3, random_state=0).fit(X, y)
        np.testing.assert_array_equal(model.predict(X), model.labels_)
        assert nmi(hidden, model.predict(X_new)) >= 0.97
        np.testing.assert_allclose(model.transform(X), scaled(X) @ model.components_.T, atol=1e-10)

    def test_a_row_far_away(self):
        """A row that is similar to nothing is an outlier and takes the label of the nearest row."""
        X, y, _ = make_small_gauss(random_state=0)
        model = published("small").fit(X, y)
        far = np.array([[0.0, 500.0], [0.0, -500.0], [2.5, 2.5]])
        np.testing.assert_array_equal(model.is_outlier(far), [True, True, False])
        top, bottom = model.labels_[X[:, 1].argmax()], model.labels_[X[:, 1].argmin()]
        np.testing.assert_array_equal(model.predict(far), [top, bottom, top])

    def test_many_rows_use_landmarks(self, monkeypatch):
        """Above the limit landmarks stand for all rows, in the projection, the clusters and predict."""
        monkeypatch.setattr(_estimator, "EXACT_SAMPLES", 500)
        X, y, hidden = make_large_gauss(2000, random_state=0)
        model = AlternativeClustering(2, kernel=RBF("median50"), n_features=200, random_state=0).fit(X, y)
        assert nmi(hidden, model.labels_) > 0.99
        assert model.clusters_.place.expansion.points is None
        np.testing.assert_array_equal(model.predict(X), model.labels_)


class TestSearch:
    def test_best_first(self):
        """The search orders by separation less likeness, and its best finds the moons."""
        X, y, hidden = moon(0, 200)
        models = alternative_search(X, y, widths=(0.05, 0.5), novelty=(0.1, 1.0), random_state=0)
        merit = [model.separation_ - model.novelty_ for model in models]
        assert merit == sorted(merit, reverse=True)
        assert len(models) == 4
        assert nmi(hidden, models[0].labels_) == pytest.approx(1)

    def test_separation_is_one_less_the_ratio_of_cuts(self):
        """separation_ is 1 − (1 − λ₁)/(1 − λ₂) of the eigenvalues of Q for two clusters."""
        model = published("large").fit(*make_large_gauss(200, random_state=0)[:2])
        first, second = model.eigenvalues_
        assert model.separation_ == pytest.approx(1 - (1 - first) / (1 - second))

    @pytest.mark.parametrize(("n_clusters", "kernel"), [(1, "rbf"), (2, "linear")])
    def test_no_separation_where_there_is_nothing_to_compare(self, n_clusters, kernel):
        """One cluster has no cut, and one projected column under the linear kernel no second eigenvalue."""
        X, y, _ = make_small_gauss(random_state=0)
        model = AlternativeClustering(n_clusters, kernel=kernel, n_components=1, random_state=0).fit(X, y)
        assert model.separation_ == 0

    def test_empty_grids_are_refused(self):
        with pytest.raises(ValueError, match="at least one value"):
            alternative_search(np.eye(4), [0, 0, 1, 1], widths=())


class TestPromises:
    @settings(max_examples=8, deadline=None)
    @given(seed=st.integers(0, 2**20))
    def test_names_of_known_clusters_do_not_matter(self, seed):
        """Renamed and reordered known labels give the same alternative."""
        X, y, _ = make_small_gauss(random_state=seed)
        names = np.array(["z", "a"])[y]
        first, second = published("small").fit(X, y), published("small").fit(X, names)
        np.testing.assert_array_equal(first.labels_, second.labels_)

    def test_repeats_and_copies(self):
        """The same seed repeats bit for bit, and a pickled copy predicts alike."""
        X, y, _ = moon(0, 200)
        first, second = (AlternativeClustering(random_state=1).fit(X, y) for _ in range(2))
        np.testing.assert_array_equal(first.labels_, second.labels_)
        np.testing.assert_array_equal(first.components_, second.components_)
        np.testing.assert_array_equal(pickle.loads(pickle.dumps(first)).predict(X), first.labels_)

    def test_one_known_cluster_is_told(self):
        """A known clustering of one cluster restricts nothing, which a warning says."""
        X, _, _ = make_small_gauss(random_state=0)
        with pytest.warns(UserWarning, match="only one cluster") as caught:
            model = published("small", kernel="auto").fit(X, np.zeros(40, int))
        assert [warning.filename for warning in caught] == [__file__]
        assert model.novelty_weight_ == 0

    def test_eigenvectors_that_are_not_exact_are_told_once(self, monkeypatch):
        """Not by every width that is tried and every turn, but of the clusters that are kept."""
        exact = Gram.eigenpairs

        def unsettled(*arguments, **options):
            warnings.warn("stopped", ConvergenceWarning, stacklevel=2)
            return exact(*arguments, **options)

        monkeypatch.setattr(Gram, "eigenpairs", unsettled)
        X, y, _ = make_small_gauss(random_state=0)
        with pytest.warns(ConvergenceWarning, match="eigenvectors that tell the clusters apart") as caught:
            AlternativeClustering(random_state=0).fit(X, y)
        assert [warning.filename for warning in caught] == [__file__]

    def test_labelings_of_several_types(self):
        """A table of known labelings may hold text in one column and numbers in the other."""
        X, y, hidden = make_small_gauss(random_state=0)
        table = pd.DataFrame({"first": np.array(["b", "a"])[y], "second": y})
        model = published("small").fit(X, table)
        np.testing.assert_array_equal(model.labels_, published("small").fit(X, np.column_stack([y, y])).labels_)
        assert nmi(hidden, model.labels_) == pytest.approx(1)

    @pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
    def test_many_small_known_clusters(self):
        """Whole numbers are labels here, however many, where a regression would take them for numbers."""
        X, y, _ = make_small_gauss(random_state=0)
        assert published("small").fit(X, np.arange(40) // 2 + 100 * y).novelty_ > 0

    @pytest.mark.parametrize(
        ("changes", "message"),
        [
            ({"n_components": 3}, "n_components=3 is more than the n_features=2"),
            ({"n_clusters": 0}, "n_clusters=0 must be a whole number >= 1"),
            ({"n_clusters": 41}, "n_clusters=41 is more than"),
            ({"novelty": -1.0}, "novelty=-1.0 must be a finite number >= 0"),
            ({"novelty": "much"}, "novelty='much' is not known; pass a number >= 0, 'auto' or 'balance'"),
            ({"kernel": "laplacian"}, "is not a smooth function"),
            ({"init": "other"}, "init='other' is not known"),
        ],
    )
    def test_wrong_parameters(self, changes, message):
        """A wrong parameter is named, with what is allowed."""
        X, y, _ = make_small_gauss(random_state=0)
        with pytest.raises(ValueError, match=message):
            AlternativeClustering(**changes).fit(X, y)

    @pytest.mark.parametrize(
        ("y", "message"),
        [
            (np.linspace(0, 1, 40), "y holds real numbers"),
            (np.full(40, np.nan), "y contains NaN"),
            (np.zeros(39, int), "inconsistent numbers of samples"),
        ],
    )
    def test_wrong_labels(self, y, message):
        """What is no labelling of the rows is refused."""
        with pytest.raises(ValueError, match=message):
            AlternativeClustering().fit(make_small_gauss(random_state=0)[0], y)

    def test_two_rows(self):
        """Two rows that are known to differ have no alternative."""
        with pytest.raises(ValueError, match="n_samples=2; an alternative to y needs at least 3"):
            AlternativeClustering().fit([[0.0, 1.0, 2.0], [3.0, 4.0, 6.0]], [0, 1])
