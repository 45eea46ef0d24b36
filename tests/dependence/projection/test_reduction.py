"""Dimension reduction by dependence against closed forms, dense formulas and scikit-learn."""

import pickle
import tracemalloc

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.spatial.distance import cdist, pdist
from sklearn.base import clone
from sklearn.datasets import load_wine
from sklearn.decomposition import PCA
from sklearn.exceptions import ConvergenceWarning
from sklearn.metrics import normalized_mutual_info_score, pairwise_distances
from sklearn.model_selection import GridSearchCV, cross_val_score
from sklearn.pipeline import make_pipeline
from sklearn.svm import SVC

import gramian
from gramian.datasets import make_large_gauss
from gramian.dependence.projection import _estimator
from gramian.dependence.projection.reduction import DependenceReduction
from gramian.dependence.projection.weights import PairWeights
from gramian.kernels import RBF, Linear, Multiquadric, RelativeRBF, SquaredDistance
from gramian.landmarks import Nystroem


@pytest.fixture(scope="module")
def wine():
    return load_wine(return_X_y=True)


@pytest.fixture(scope="module")
def model(wine):
    """Wine in three components without its labels."""
    return DependenceReduction(3, n_clusters=3, random_state=0).fit(wine[0])


@pytest.fixture
def rng():
    return np.random.default_rng(11)


def scaled(X):
    return (X - X.mean(axis=0)) / X.std(axis=0)


def projector(components):
    return components.T @ components


def centering(n):
    return np.eye(n) - 1 / n


def indicators(y):
    return (np.asarray(y)[:, None] == np.unique(y)).astype(float)


def gaussian(A, B, width):
    return np.exp(-cdist(A, B, "sqeuclidean") / (2 * width**2))


def nmi(a, b):
    return normalized_mutual_info_score(a, b, average_method="geometric")


def top_projector(A, q):
    vectors = np.linalg.eigh(A)[1][:, -q:]
    return vectors @ vectors.T


class TestSupervised:
    """With y, the projection solves a problem that has closed forms at its edges."""

    def test_linear_kernel_is_supervised_pca(self, wine):
        """Under the linear kernel the components are the top eigenvectors of XᵀHYYᵀHX, and J their eigenvalues."""
        X, y = wine
        model = DependenceReduction(2, kernel="linear").fit(X, y)
        HY = centering(len(X)) @ indicators(y)
        A = scaled(X).T @ HY @ HY.T @ scaled(X)
        np.testing.assert_allclose(projector(model.components_), top_projector(A, 2), atol=1e-10)
        values = np.linalg.eigvalsh(A)[::-1]
        np.testing.assert_allclose(model.eigenvalues_, values[:2])
        assert model.objective_ == pytest.approx(values[:2].sum(), rel=1e-10)
        assert model.n_iter_ == 1
        assert model.stationarity_ == 0

    def test_linear_targets(self, rng):
        """Several real targets with target="linear" give the top eigenvectors of XᵀHYYᵀHX too."""
        X, Y = rng.normal(size=(80, 5)), rng.normal(size=(80, 3))
        model = DependenceReduction(2, kernel="linear", target="linear", standardize=False).fit(X, Y)
        A = X.T @ centering(80) @ Y
        np.testing.assert_allclose(projector(model.components_), top_projector(A @ A.T, 2), atol=1e-10)

    def test_every_row_its_own_class_is_pca(self, wine):
        """If every row is a class of its own, Γ = H, and the linear kernel gives principal components."""
        X, _ = wine
        model = DependenceReduction(3, kernel="linear", target="labels").fit(X, np.arange(len(X)))
        np.testing.assert_allclose(
            projector(model.components_), projector(PCA(3).fit(scaled(X)).components_), atol=1e-10
        )

    def test_wide_gaussian_is_the_linear_kernel(self, wine):
        """As the width grows, the Gaussian's subspace comes near the linear one's like one over its square."""
        X, y = wine
        linear = projector(DependenceReduction(2, kernel="linear").fit(X, y).components_)
        distances = [
            np.linalg.norm(
                projector(DependenceReduction(2, kernel=RBF(width), tol=1e-8).fit(X, y).components_) - linear
            )
            for width in (10.0, 100.0, 1000.0)
        ]
        assert distances[2] < 1e-5
        assert 50 < distances[0] / distances[1] < 200
        assert 50 < distances[1] / distances[2] < 200

    @pytest.mark.parametrize("kernel", [Linear(), SquaredDistance()], ids=str)
    def test_squared_distance_is_linear(self, wine, kernel):
        """Negated squared distances have the linear kernel's subspace, as centred weights see no difference."""
        X, y = wine
        linear = DependenceReduction(2, kernel="linear").fit(X, y)
        model = DependenceReduction(2, kernel=kernel).fit(X, y)
        np.testing.assert_allclose(projector(model.components_), projector(linear.components_), atol=1e-8)

    def test_objective_and_score_are_the_dense_sums(self, wine):
        """objective_ is Tr(K H L H) of the projected rows, score the same over (n − 1)²; the width sees all columns."""
        X, y = wine
        model = DependenceReduction(3).fit(X, y)
        width = np.median(pdist(scaled(X)))
        assert model.kernel_.width_ == pytest.approx(width)
        Z, H, Y = model.transform(X), centering(len(X)), indicators(y)
        expected = np.trace(gaussian(Z, Z, width) @ H @ Y @ Y.T @ H)
        assert model.objective_ == pytest.approx(expected, rel=1e-9)
        assert model.score(X, y) == pytest.approx(expected / (len(X) - 1) ** 2, rel=1e-9)

    def test_known_objective_on_wine(self, wine):
        """Four Gaussian components of wine, with the width as the median of all n² distances, reach 1745.318807."""
        X, y = wine
        width = np.median(cdist(scaled(X), scaled(X)))
        model = DependenceReduction(4, kernel=RBF(width), tol=1e-8).fit(X, y)
        assert model.objective_ > 1745.318807 * (1 - 1e-6)

    def test_solution_is_a_local_maximum(self, wine):
        """The path never falls, the end is stationary, and the curvature certifies a local maximum."""
        X, y = wine
        model = DependenceReduction(2).fit(X, y)
        assert model.converged_
        assert model.stationarity_ < 1e-5
        assert np.all(np.diff(model.objective_path_) >= -1e-9 * model.objective_)
        assert model.second_order(X, y).is_local_maximum
        with pytest.raises(ValueError, match=r"asks for mode 'unsupervised', but .* fitted in mode 'supervised'"):
            model.second_order(X)

    def test_nonlinear_target_of_one_direction(self, rng):
        """A target that is a curve over one direction gives that direction."""
        X = rng.normal(size=(300, 5))
        direction = np.array([1.0, -1.0, 0.0, 0.5, 0.0]) / 1.5
        model = DependenceReduction(1, standardize=False).fit(X, np.tanh(3 * X @ direction))
        assert abs(model.components_[0] @ direction) > 0.98

    def test_even_target_from_random_starts(self, rng):
        """An even function, which no correlation shows, is found from the best of several random starts."""
        X = rng.normal(size=(300, 4))
        direction = np.array([0.6, -0.8, 0.0, 0.0])
        y = np.cos(2 * X @ direction)
        assert np.abs(np.corrcoef(X.T, y)[-1, :-1]).max() < 0.15
        models = [DependenceReduction(1, init="random", random_state=seed).fit(X, y) for seed in range(8)]
        best = max(models, key=lambda model: model.objective_)
        assert abs(best.components_[0] @ direction) > 0.97

    def test_rbf_target_is_the_dense_kernel(self, rng):
        """target="rbf" sums against a Gaussian kernel of y with the median width."""
        X = rng.normal(size=(90, 3))
        y = X[:, 0] + 0.1 * rng.normal(size=90)
        model = DependenceReduction(1).fit(X, y)
        L = gaussian(y[:, None] / y.std(), y[:, None] / y.std(), np.median(pdist(y[:, None] / y.std())))
        Z, H = model.transform(X), centering(90)
        expected = np.trace(gaussian(Z, Z, model.kernel_.width_) @ H @ L @ H)
        assert model.objective_ == pytest.approx(expected, rel=1e-5)

    @pytest.mark.parametrize("step", [1e-6, 0.02, 0.2])
    def test_whole_numbers_are_targets(self, step):
        """Rounded targets, whatever their grain, give the direction that they depend on, not the widest one."""
        rng = np.random.default_rng(0)
        X = rng.normal(size=(400, 6))
        X[:, :3] = rng.normal(size=(400, 1)) + 0.3 * X[:, :3]  # the first principal component
        y = np.round((X[:, 5] + 0.1 * rng.normal(size=400)) / step).astype(int)
        model = DependenceReduction(1).fit(X, y)
        assert model.mode_ == "supervised"  # also with −1 among the values
        assert model.target_ == ("rbf" if step < 0.1 else "labels")
        assert abs(model.components_[0, 5]) > 0.98
        assert model.score(X[:50], y[:50]) > 0

    def test_gap_chooses_the_number_of_components(self, rng):
        """Targets that are two of six columns need two directions."""
        X = rng.normal(size=(400, 6))
        y = X[:, :2]
        model = DependenceReduction(None, kernel="linear", target="linear").fit(X, y)
        assert model.n_components_ == 2
        assert model.projector_diag_[:2].sum() > 1.9

    def test_k_classes_get_at_least_one_direction_less(self):
        """Classes along one line, and a little beside it, keep the directions behind the widest gap."""
        rng = np.random.default_rng(0)
        y = np.arange(240) % 4
        means = np.array([(-24, 1, -1, 0, 0), (-8, -1, 3, 0, 0), (8, -1, -3, 0, 0), (24, 1, 1, 0, 0)])
        model = DependenceReduction(None, kernel="linear", standardize=False).fit(
            means[y] + 0.3 * rng.normal(size=(240, 5)), y
        )
        assert np.argmax(model.eigengaps_) == 0  # the gap alone says one component
        assert model.n_components_ == 3
        assert model.projector_diag_[:3].min() > 0.8

    def test_as_many_components_as_columns_are_a_rotation(self, wine):
        """No distance changes, the columns are uncorrelated in Φ, and the strongest component comes first."""
        X, y = wine[0][:, :4], wine[1]
        model = DependenceReduction(4, random_state=0).fit(X, y)
        np.testing.assert_allclose(model.components_ @ model.components_.T, np.eye(4), atol=1e-12)
        Z = (X - X.mean(axis=0)) / X.std(axis=0)
        np.testing.assert_allclose(pairwise_distances(model.transform(X)), pairwise_distances(Z), atol=1e-6)
        K, L = model.kernel_(Z), y[:, None] == y
        centre = np.eye(len(Z)) - 1 / len(Z)
        P = (centre @ L @ centre) * K / model.kernel_.width_**2  # of the Gaussian: Φ = Xᵀ (P − diag(P 1)) X
        phi = Z.T @ (P - np.diag(P.sum(axis=1))) @ Z
        np.testing.assert_allclose(
            model.components_ @ phi @ model.components_.T, np.diag(model.eigenvalues_), atol=1e-8 * np.abs(phi).max()
        )
        assert np.all(np.diff(model.eigenvalues_) <= 0)
        assert model.converged_
        assert model.second_order(X, y).is_local_maximum

    def test_one_column_is_kept(self, wine):
        """A table of one column has but one rotation, with labels and without."""
        X = wine[0][:, :1]
        for model in (DependenceReduction(1), DependenceReduction(None)):
            np.testing.assert_allclose(np.abs(model.fit(X, wine[1]).components_), [[1.0]])
        assert DependenceReduction(1, n_clusters=2).fit(X).n_components_ == 1

    @pytest.mark.parametrize("kernel", ["rbf", "linear", Multiquadric()], ids=str)
    def test_wine_is_classified_behind_it(self, wine, kernel):
        """An SVM on three components is right on more than 95 of 100 held-out wines."""
        X, y = wine
        model = make_pipeline(DependenceReduction(3 if kernel != "linear" else 2, kernel=kernel), SVC())
        assert cross_val_score(model, X, y, cv=5).mean() > 0.95

    def test_grid_search_tunes_width_and_components(self, wine):
        """The parameters of the reduction and of its kernel are tuned through a pipeline."""
        X, y = wine
        pipeline = make_pipeline(DependenceReduction(1, kernel=RBF()), SVC())
        grid = {"dependencereduction__n_components": [1, 2], "dependencereduction__kernel__width": ["median", 3.0]}
        search = GridSearchCV(pipeline, grid, cv=3).fit(X, y)
        assert search.best_params_["dependencereduction__n_components"] == 2
        assert search.best_score_ > 0.95


class TestUnsupervised:
    """Without y, projection and clusters agree with each other."""

    @pytest.mark.parametrize(
        ("kernel", "least"), [("rbf", 0.84), ("multiquadric", 0.82), ("squared_distance", 0.83), ("linear", 0.8)]
    )
    def test_wines_are_found(self, wine, kernel, least):
        """Three kinds of wine are found without their labels, as well as in the literature."""
        model = DependenceReduction(3, kernel=kernel, n_clusters=3, random_state=0).fit(wine[0])
        assert nmi(wine[1], model.labels_) > least

    def test_clusters_are_eigenvectors_of_the_projected_kernel(self, model, wine):
        """embedding_ is orthonormal, centred, spans the top eigenvectors of HKH, and their sum is the objective."""
        Z, H = model.transform(wine[0]), centering(178)
        Q = H @ gaussian(Z, Z, model.kernel_.width_) @ H
        U = model.embedding_
        np.testing.assert_allclose(U.T @ U, np.eye(3), atol=1e-10)
        np.testing.assert_allclose(U.sum(axis=0), 0, atol=1e-8)
        np.testing.assert_allclose(U @ U.T, top_projector(Q, 3), atol=1e-5)
        assert model.objective_ == pytest.approx(np.linalg.eigvalsh(Q)[-3:].sum(), rel=1e-9)

    def test_objective_never_falls(self, model):
        """Both half-steps raise the same objective."""
        assert np.all(np.diff(model.objective_path_) > -1e-9 * model.objective_)
        assert model.converged_

    @pytest.mark.parametrize("normalize", [False, True])
    def test_new_rows_by_the_textbook_formula(self, wine, normalize):
        """predict is the nearest centre to u(x) = Λ⁻¹Uᵀ(b − b̄), computed here from full matrices."""
        X = wine[0][::2]
        model = DependenceReduction(3, n_clusters=3, normalize=normalize, random_state=0).fit(X)
        Z, Z_new = model.transform(X), model.transform(wine[0][1::2])
        K, B = gaussian(Z, Z, model.kernel_.width_), gaussian(Z_new, Z, model.kernel_.width_)
        if normalize:
            roots = np.sqrt(K.sum(axis=1))
            B = B / np.outer(np.sqrt(B.sum(axis=1)), roots)
            K = K / np.outer(roots, roots)
        centred = B - B.mean(axis=1, keepdims=True) - K.mean(axis=0) + K.mean()
        U = model.embedding_
        values = np.diag(U.T @ centering(len(X)) @ K @ centering(len(X)) @ U)
        rows = centred @ U / values
        rows /= np.linalg.norm(rows, axis=1, keepdims=True)
        expected = cdist(rows, model.cluster_centers_).argmin(axis=1)
        np.testing.assert_array_equal(model.predict(wine[0][1::2]), expected)
        np.testing.assert_array_equal(model.predict(X), model.labels_)

    def test_score_is_the_dependence_on_the_clusters(self, model, wine):
        """Without y the score is HSIC of the projection and the predicted clusters."""
        X, H, Y = wine[0], centering(178), indicators(model.labels_)
        Z = model.transform(X)
        expected = np.trace(gaussian(Z, Z, model.kernel_.width_) @ H @ Y @ Y.T @ H) / 177**2
        assert model.score(X) == pytest.approx(expected, rel=1e-9)

    def test_number_of_clusters_is_found(self, rng):
        """Three groups far apart are counted without being told."""
        X = np.repeat(rng.normal(size=(3, 5)) * 20, 30, axis=0) + rng.normal(size=(90, 5))
        model = DependenceReduction(2, random_state=0).fit(X)
        assert model.n_clusters_ == 3
        assert nmi(np.repeat(range(3), 30), model.labels_) == 1

    def test_components_for_all_clusters(self, wine, model):
        """Without labels the gap does not choose fewer components of positive eigenvalue than k clusters span."""
        assert np.argmax(model.eigengaps_) == 0
        chosen = DependenceReduction(None, n_clusters=3, random_state=0).fit(wine[0])
        assert chosen.n_components_ == 2
        assert nmi(wine[1], chosen.labels_) > 0.84

    def test_objective_is_that_of_the_kept_projection(self, wine, monkeypatch):
        """Where the turns end below their best, the best is kept, and its objective with it."""
        paths = iter([3.0, 5.0, 4.0])
        monkeypatch.setattr(PairWeights, "agreement", lambda weights, gram: next(paths))
        monkeypatch.setattr("gramian.dependence.projection.reduction._TURNS", 3)
        with pytest.warns(ConvergenceWarning, match="still changed"):
            model = DependenceReduction(2, n_clusters=3, random_state=0).fit(wine[0])
        np.testing.assert_array_equal(model.objective_path_, [3, 5, 4])
        assert model.objective_ == 5

    def test_relative_widths(self, wine):
        """The relative RBF, whose widths belong to rows, clusters and predicts too."""
        X = wine[0]
        model = DependenceReduction(3, kernel=RelativeRBF(), n_clusters=3, random_state=0).fit(X)
        assert nmi(wine[1], model.labels_) > 0.8
        np.testing.assert_array_equal(model.predict(X), model.labels_)
        with pytest.raises(ValueError, match="adds a kernel to RelativeRBF"):
            DependenceReduction(2, kernel=RelativeRBF() + RBF()).fit(X)

    def test_degrees_need_a_kernel_without_negative_values(self, wine):
        """normalize=True is refused for kernels whose row sums are no degrees."""
        with pytest.raises(ValueError, match="normalize=True needs a kernel that is never negative"):
            DependenceReduction(2, kernel="linear", normalize=True).fit(wine[0])

    def test_unsettled_turns_are_told(self, wine, monkeypatch):
        """Too few turns give a warning at the caller, and a model that answers."""
        monkeypatch.setattr("gramian.dependence.projection.reduction._TURNS", 1)
        with pytest.warns(ConvergenceWarning, match="still changed after 1 turns") as caught:
            model = DependenceReduction(2, n_clusters=3, random_state=0).fit(wine[0])
        assert caught[0].filename == __file__
        assert not model.converged_
        np.testing.assert_array_equal(model.predict(wine[0]), model.labels_)


class TestSemiSupervised:
    @pytest.mark.parametrize("view", [0, 1])
    @pytest.mark.parametrize("share", [1.0, 0.2])
    def test_labels_choose_the_view(self, view, share):
        """Of two clusterings of the same rows, a few labels choose which one is found."""
        X, *views = make_large_gauss(400, random_state=0)
        X = X[:, :3] / X[:, :3].std()
        y = np.where(np.random.default_rng(1).random(400) < share, views[view], -1)
        model = DependenceReduction(1, kernel=RBF(1.0), mode="semi", standardize=False, random_state=0).fit(X, y)
        assert model.n_clusters_ == 2
        assert nmi(views[view], model.labels_) > 0.99
        assert np.isfinite(model.score(X, y))

    def test_no_weight_is_unsupervised(self, wine):
        """label_weight=0 forgets the labels."""
        X, y = wine
        semi = DependenceReduction(2, mode="semi", n_clusters=3, label_weight=0, random_state=0).fit(X, y)
        free = DependenceReduction(2, n_clusters=3, random_state=0).fit(X)
        np.testing.assert_array_equal(semi.labels_, free.labels_)

    def test_large_weight_is_supervised(self, wine):
        """A very large weight gives the projection of the labelled rows' problem."""
        X, y = wine
        semi = DependenceReduction(2, mode="semi", label_weight=1e6, random_state=0).fit(X, y)
        full = DependenceReduction(2).fit(X, y)
        np.testing.assert_allclose(projector(semi.components_), projector(full.components_), atol=1e-2)

    @pytest.mark.parametrize(
        ("y", "mode"),
        [
            ([-1, 1] * 20, "supervised"),
            ([-1, 0, 1, 2] * 10, "semi"),
            (np.array([-1, 0, 1, 2] * 10, dtype=object), "semi"),
            ([-2, -1, 0, 1] * 10, "supervised"),
            ([0, 1] * 20, "supervised"),
            (None, "unsupervised"),
        ],
    )
    def test_y_tells_the_mode(self, rng, y, mode):
        """−1 beside two or more other labels means unknown; −1 and 1 are two classes."""
        assert DependenceReduction(1, random_state=0).fit(rng.normal(size=(40, 3)), y).mode_ == mode

    def test_the_mode_follows_the_last_fit(self, wine):
        """After a supervised fit nothing of an earlier clustering is left."""
        X, y = wine
        model = DependenceReduction(2, n_clusters=3, random_state=0).fit(X)
        assert hasattr(model, "predict")
        model.fit(X, y)
        assert not hasattr(model, "predict")
        assert not hasattr(model, "labels_")


class TestWhitening:
    """``whiten=True``: W is sought among uncorrelated columns of unit variance."""

    def test_rows_are_those_of_a_fit_on_whitened_columns(self, wine):
        """The projection is that of the columns whitened by hand, with their median width."""
        X, y = wine
        Z = (X - X.mean(axis=0)) / X.std(axis=0)
        values, vectors = np.linalg.eigh(Z.T @ Z / len(Z))
        white = Z @ vectors / np.sqrt(values)
        expected = DependenceReduction(2, standardize=False).fit(white, y)
        model = DependenceReduction(2, whiten=True).fit(X, y)
        assert model.objective_ == pytest.approx(expected.objective_, rel=1e-6)
        got, wanted = model.transform(X), expected.transform(white)
        np.testing.assert_allclose(pairwise_distances(got), pairwise_distances(wanted), atol=1e-4)
        np.testing.assert_allclose(got.T @ got / len(X), np.eye(2), atol=1e-8)  # orthonormal among white columns

    def test_components_weigh_the_scaled_columns(self, wine):
        """``transform`` is a product with ``components_``, and the projector is that of their rows."""
        X, y = wine
        X = np.column_stack([X, X[:, 0] + X[:, 1], np.ones(len(X))])  # a combination and a constant
        model = DependenceReduction(2, whiten=True).fit(X, y)
        assert model.components_.shape == (2, 15)
        assert not model.components_[:, 14].any()
        np.testing.assert_allclose(model.transform(X), (X - model.mean_) / model.scale_ @ model.components_.T)
        B = model.components_
        np.testing.assert_allclose(model.projector_diag_, np.diag(B.T @ np.linalg.inv(B @ B.T) @ B), atol=1e-10)
        Z = model.transform(X)
        np.testing.assert_allclose(model.transform(model.inverse_transform(Z)), Z, atol=1e-8)
        with pytest.raises(ValueError, match="n_components=14 is more than the n_features=13"):
            DependenceReduction(14, whiten=True).fit(X, y)

    def test_without_labels_it_predicts_too(self, wine):
        """Clusters of the fitted rows are found again."""
        model = DependenceReduction(2, n_clusters=3, whiten=True, random_state=0).fit(wine[0])
        np.testing.assert_array_equal(model.predict(wine[0]), model.labels_)


class TestReading:
    """What the components say about the columns."""

    def test_constant_columns_have_no_weight(self, wine):
        """A constant column changes nothing and gets weight zero."""
        X, y = wine
        padded = np.insert(X, 4, 7.0, axis=1)
        plain, model = DependenceReduction(2).fit(X, y), DependenceReduction(2).fit(padded, y)
        np.testing.assert_allclose(np.delete(model.components_, 4, axis=1), plain.components_, atol=1e-8)
        assert model.feature_importances_[4] == 0
        np.testing.assert_allclose(model.transform(padded), plain.transform(X), atol=1e-7)

    @pytest.mark.parametrize("dtype", [np.float64, np.float32])
    @pytest.mark.parametrize("standardize", [True, False])
    def test_columns_constant_up_to_rounding(self, wine, standardize, dtype):
        """A column of 0.3 and 0.1 + 0.2 is constant: a small change of it moves nothing."""
        X, y = wine
        noise = np.arange(len(X)) % 2 * np.finfo(dtype).eps
        padded = np.column_stack([X, 0.3 * (1 + noise)]).astype(dtype)
        model = DependenceReduction(2, standardize=standardize).fit(padded, y)
        assert not model.components_[:, -1].any()
        moved = padded + np.r_[np.zeros(13), 1e-3].astype(dtype)
        np.testing.assert_array_equal(model.transform(moved), model.transform(padded))

    @pytest.mark.parametrize("standardize", [True, False])
    def test_constant_columns_do_not_count(self, rng, standardize):
        """More components than columns that vary are refused, whether or not constant ones make up the number."""
        X = np.hstack([rng.normal(size=(30, 3)), np.full((30, 2), 0.3)])
        with pytest.raises(ValueError, match=r"more than the n_features=3 left without constant columns"):
            DependenceReduction(4, standardize=standardize).fit(X, np.arange(30) % 2)

    def test_importances_and_projector(self, wine):
        """Importances sum to one; the projector's diagonal sums to the number of components; rows are orthonormal."""
        model = DependenceReduction(3).fit(*wine)
        assert model.feature_importances_.sum() == pytest.approx(1)
        assert model.projector_diag_.sum() == pytest.approx(3)
        np.testing.assert_allclose(model.components_ @ model.components_.T, np.eye(3), atol=1e-10)
        expected = np.sqrt(np.maximum(model.eigenvalues_, 0) @ model.components_**2)
        np.testing.assert_allclose(model.feature_importances_, expected / expected.sum())

    def test_inverse_transform_keeps_the_coordinates(self, wine):
        """Coordinates go to rows and back unchanged; rows come back as their projection onto the subspace."""
        X, y = wine
        model = DependenceReduction(2).fit(X, y)
        Z = model.transform(X)
        back = model.inverse_transform(Z)
        np.testing.assert_allclose(model.transform(back), Z, atol=1e-9)
        np.testing.assert_allclose(scaled(X) @ projector(model.components_), (back - X.mean(axis=0)) / X.std(axis=0))
        with pytest.raises(ValueError, match="Z has 3 columns"):
            model.inverse_transform(np.ones((2, 3)))

    @settings(max_examples=10, deadline=None)
    @given(seed=st.integers(0, 2**20))
    def test_order_units_and_names_do_not_matter(self, seed):
        """Permuted rows or columns, shifted and scaled columns and renamed labels give the same weights."""
        rng = np.random.default_rng(seed)
        X = rng.normal(size=(40, 4)) + np.repeat([[0.0], [2.0]], 20, axis=0) * [1, 0.5, 0, 0]
        y = np.repeat([0, 1], 20)
        rows, columns = rng.permutation(40), rng.permutation(4)
        names = np.array(["b", "a"])[y]
        model = DependenceReduction(1).fit(X, y)
        other = DependenceReduction(1).fit((X * [1, 5, 0.1, 2] + [3, 0, -7, 100])[rows][:, columns], names[rows])
        np.testing.assert_allclose(
            projector(other.components_), projector(model.components_)[np.ix_(columns, columns)], atol=1e-4
        )
        assert other.objective_ == pytest.approx(model.objective_, rel=1e-7)


class TestScale:
    """Many rows go through landmarks, without anything n×n."""

    def test_landmarks_are_used_beyond_the_limit(self, wine, monkeypatch):
        """Above the documented number of samples the kernel becomes one of landmarks, and answers stay close."""
        X, y = wine
        exact = DependenceReduction(2).fit(X, y)
        monkeypatch.setattr(_estimator, "EXACT_SAMPLES", 100)
        near = DependenceReduction(2, n_features=150, random_state=0).fit(X, y)
        np.testing.assert_allclose(projector(near.components_), projector(exact.components_), atol=0.02)
        clusters = DependenceReduction(3, n_clusters=3, n_features=100, random_state=0).fit(X)
        assert isinstance(clusters.clusters_.place.expansion.kernel, Nystroem)
        assert nmi(y, clusters.labels_) > 0.8
        np.testing.assert_array_equal(clusters.predict(X), clusters.labels_)

    @pytest.mark.parametrize("kernel", ["rbf", "linear", "squared_distance"])
    def test_many_rows_need_little_memory(self, kernel, monkeypatch):
        """Twenty thousand rows are clustered in a twentieth of the memory of their Gram matrix."""
        monkeypatch.setattr(_estimator, "EXACT_SAMPLES", 1000)
        rng = np.random.default_rng(0)
        y = rng.integers(2, size=20_000)
        X = rng.normal(size=(20_000, 5)) + 4 * y[:, None] * [1, 0, 0, 0, 0]
        tracemalloc.start()
        with gramian.config(memory_budget="100MB"):
            model = DependenceReduction(
                1, kernel=kernel, n_clusters=2, n_features=50, standardize=False, random_state=0
            ).fit(X)
        peak = tracemalloc.get_traced_memory()[1]
        tracemalloc.stop()
        assert nmi(y, model.labels_) > 0.7
        assert peak < 0.05 * 8 * 20_000**2


class TestRefusals:
    @pytest.mark.parametrize(
        ("changes", "message"),
        [
            ({"n_components": 14}, r"n_components=14 is more than the n_features=13.*n_components <= 13"),
            ({"n_components": 0}, "n_components=0 must be a whole number"),
            ({"kernel": "cosine"}, "is not a smooth function"),
            ({"kernel": "nothing"}, "kernel='nothing' is not a kernel"),
            ({"mode": "other"}, "mode='other' is not known"),
            ({"target": "other"}, "target='other' is not known"),
            ({"label_weight": -1}, "label_weight=-1 must be a finite number >= 0"),
            ({"n_clusters": 0, "mode": "unsupervised"}, "n_clusters=0 must be a whole number >= 1"),
            ({"n_clusters": 500, "mode": "unsupervised"}, "n_clusters=500 is more than"),
            ({"approximation": "magic"}, "approximation='magic' is not known"),
        ],
    )
    def test_parameters(self, wine, changes, message):
        """A wrong parameter is named, with what is allowed."""
        with pytest.raises(ValueError, match=message):
            DependenceReduction(**changes).fit(*wine)

    @pytest.mark.parametrize(
        ("y", "message"),
        [
            (np.zeros(178, int), "only one class"),
            (np.full(178, 0.5), "y is constant"),
            (np.where(np.arange(178) == 3, np.nan, 0.5), "y contains NaN"),
            (np.zeros(20, int), "inconsistent numbers of samples"),
            (np.zeros((178, 2, 2)), r"y has shape \(178, 2, 2\)"),
            (np.array(["a", None] * 89, dtype=object), "Input y contains missing values"),
            (np.array(["a", float("nan")] * 89, dtype=object), "Input y contains missing values"),
            (pd.Series(["a", pd.NA] * 89, dtype="string"), "Input y contains missing values"),
            (pd.Series([1, pd.NA] * 89, dtype="Int64"), "Input y contains"),
            (np.array([1, "a"] * 89, dtype=object), "y mixes text with other types"),
            (pd.DataFrame({"a": ["x", "y"] * 89, "b": [0.5, 1.5] * 89}), "columns of text and of real numbers"),
        ],
    )
    def test_targets(self, wine, y, message):
        """A y that says nothing, or not enough, is refused."""
        with pytest.raises(ValueError, match=message):
            DependenceReduction(2).fit(wine[0], y)

    def test_a_fold_of_one_class_scores_nothing(self, wine):
        """HSIC with a constant y is 0, so a fold that has one class only is no error."""
        X, y = wine
        model = DependenceReduction(2, kernel="linear").fit(X, y)
        assert model.score(X[:20], y[:20]) == 0
        semi = DependenceReduction(2, kernel="linear", mode="semi", random_state=0).fit(X, y)
        assert semi.score(X[:20], np.where(y[:20] == 0, -1, y[:20])) == 0

    def test_warnings_name_the_caller(self, wine):
        """A warning of the solver points to the line that called fit."""
        with pytest.warns(UserWarning, match="n_components=4 is more than the 2 directions") as caught:
            DependenceReduction(4, kernel="linear").fit(*wine)
        assert caught[0].filename == __file__

    def test_missing_values(self, wine):
        """NaN in X is refused with a word about what to do."""
        X = wine[0].copy()
        X[0, 0] = np.nan
        with pytest.raises(ValueError, match="X contains NaN"):
            DependenceReduction(2).fit(X, wine[1])

    def test_modes_without_y(self, wine):
        """Modes that need labels say so, also when too few are known."""
        with pytest.raises(ValueError, match="mode='semi' requires y"):
            DependenceReduction(2, mode="semi").fit(wine[0])
        with pytest.raises(ValueError, match="1 classes other than -1"):
            DependenceReduction(2, mode="semi").fit(wine[0], np.where(wine[1] == 0, 0, -1))
        with pytest.raises(ValueError, match="mode='semi' needs y of whole numbers"):
            DependenceReduction(2, mode="semi").fit(*wine[:1], wine[0][:, 0])
        with pytest.raises(ValueError, match="scored with labels"):
            DependenceReduction(2).fit(*wine).score(wine[0])


def test_repeats_and_copies(wine):
    """The same seed gives the same labels bit for bit; a pickled copy answers alike; a clone is unfitted."""
    X, _ = wine
    first, second = (DependenceReduction(2, n_clusters=3, random_state=4).fit(X) for _ in range(2))
    np.testing.assert_array_equal(first.labels_, second.labels_)
    np.testing.assert_array_equal(first.components_, second.components_)
    copy = pickle.loads(pickle.dumps(first))
    np.testing.assert_array_equal(copy.predict(X), first.labels_)
    assert not hasattr(clone(first), "components_")
