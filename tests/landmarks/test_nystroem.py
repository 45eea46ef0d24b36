"""Nyström features against the textbook K_nm K_mm⁺ K_mn, scikit-learn, and the exact kernel."""

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.base import clone
from sklearn.exceptions import NotFittedError
from sklearn.kernel_approximation import Nystroem as PeerNystroem
from sklearn.linear_model import Ridge
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import make_pipeline
from sklearn.utils.estimator_checks import check_estimator

import gramian
from gramian import KernelPCA
from gramian.grams import FeatureGram, KreinGram
from gramian.kernels import (
    RBF,
    TL1,
    Cosine,
    Expansion,
    GaussianDifference,
    Kernel,
    Laplacian,
    Linear,
    Polynomial,
    Tanh,
)
from gramian.landmarks import Nystroem, incomplete_cholesky
from gramian.landmarks.whitening import pivoted_cholesky, whitened

SELECTIONS = ["uniform", "kmeans", "renyi", "leverage", "cholesky"]
KERNELS = [RBF(width=1.5), Laplacian(width=2.0), Linear(), Polynomial(degree=3), Cosine(), 0.5 * RBF(width=1.0)]


@pytest.fixture
def X():
    return np.random.default_rng(20).normal(size=(120, 4))


def textbook(kernel, X, landmarks):
    """K_nm K_mm⁺ K_mn with the pseudo-inverse from a full eigendecomposition."""
    return kernel(X, landmarks) @ np.linalg.pinv(kernel(landmarks), rcond=1e-10, hermitian=True) @ kernel(landmarks, X)


class MeanFilled(Kernel):
    """An RBF kernel that takes missing values as zero; a stand-in for kernels that accept NaN."""

    accepts_nan = True

    def _tile(self, left, right):
        return RBF(width=1.0)(np.nan_to_num(left), np.nan_to_num(right))

    def _diagonal(self, X):
        return np.ones(X.shape[0], X.dtype)


@pytest.mark.parametrize("selection", SELECTIONS)
@pytest.mark.parametrize("kernel", KERNELS, ids=repr)
def test_features_give_the_textbook_approximation(X, kernel, selection):
    """F Fᵀ = K_nm K_mm⁺ K_mn for every kernel and every selection, also where K_mm is singular."""
    fitted = Nystroem(30, kernel=kernel, selection=selection, random_state=0).fit(X)
    F = fitted.transform(X)
    expected = textbook(fitted.kernel_, X, fitted.landmarks_)
    np.testing.assert_allclose(F @ F.T, expected, atol=1e-8 * np.abs(expected).max())


def test_new_rows_get_the_textbook_approximation(X):
    """For rows not seen in fit, φ(x)·φ(y) is k(x, landmarks) K_mm⁺ k(landmarks, y) as well."""
    fitted = Nystroem(30, kernel=RBF(width=1.5), random_state=0).fit(X[:80])
    expected = textbook(RBF(width=1.5), X, fitted.landmarks_)[80:, :80]
    np.testing.assert_allclose(fitted.transform(X[80:]) @ fitted.transform(X[:80]).T, expected, atol=1e-8)


def test_equals_scikit_learn_with_the_same_landmarks(X):
    """With scikit-learn's landmarks F Fᵀ is scikit-learn's: the features differ by a rotation only."""
    peer = PeerNystroem(kernel="rbf", gamma=0.3, n_components=25, random_state=0).fit(X)
    kernel = RBF(width=(2 * 0.3) ** -0.5)
    pivots, L = pivoted_cholesky(kernel(peer.components_))
    F, G = whitened(kernel, X, peer.components_[pivots], L), peer.transform(X)
    np.testing.assert_allclose(F @ F.T, G @ G.T, atol=1e-8)


@pytest.mark.parametrize("selection", SELECTIONS)
def test_exact_when_all_rows_are_landmarks(X, selection):
    """With n landmarks the approximation is the kernel itself."""
    K = RBF(width=1.0)(X)
    np.testing.assert_allclose(Nystroem(120, kernel=RBF(width=1.0), selection=selection).fit(X)(X), K, atol=1e-8)


def test_error_is_positive_semi_definite_and_zero_at_landmarks(X):
    """K − K̂ is a Schur complement: no negative eigenvalues, zero rows at the landmarks."""
    fitted = Nystroem(20, kernel=RBF(width=1.5), random_state=0).fit(X)
    residual = RBF(width=1.5)(X) - fitted(X)
    assert np.linalg.eigvalsh(residual).min() > -1e-9
    np.testing.assert_allclose(residual[fitted.landmark_indices_], 0, atol=1e-9)


@settings(max_examples=30, deadline=None)
@given(
    seed=st.integers(0, 2**16),
    n=st.integers(2, 60),
    d=st.integers(1, 5),
    share=st.floats(0.05, 1.0),
    copies=st.integers(1, 3),
    selection=st.sampled_from(SELECTIONS),
)
def test_any_shape_and_duplicates(seed, n, d, share, copies, selection):
    """Whatever the shape and however many duplicates, K̂ is K at the landmarks, which defines it, and K − K̂ >= 0."""
    X = np.repeat(np.random.default_rng(seed).normal(size=(n, d)), copies, axis=0)
    m = max(1, int(share * len(X)))
    fitted = Nystroem(m, kernel=RBF(width=1.0), selection=selection, random_state=seed).fit(X)
    F = fitted.transform(X)
    assert F.shape == (len(X), fitted._n_features(X))
    assert F.shape[1] <= min(m, n)
    K = RBF(width=1.0)
    np.testing.assert_allclose(fitted(fitted.landmarks_, X), K(fitted.landmarks_, X), atol=1e-5)
    assert np.linalg.eigvalsh(K(X) - F @ F.T).min() > -1e-5


def test_rank_of_the_kernel_bounds_the_features(X):
    """A linear kernel in 4 dimensions needs 4 features, however many landmarks are asked for, and is then exact."""
    fitted = Nystroem(50, kernel="linear", random_state=0).fit(X)
    assert fitted.landmarks_.shape == (4, 4)
    assert fitted.get_feature_names_out().tolist() == ["nystroem0", "nystroem1", "nystroem2", "nystroem3"]
    np.testing.assert_allclose(fitted(X), X @ X.T, atol=1e-9)


def test_zero_kernel_gives_zero_features():
    """Where all similarities are zero there is one feature, and it is zero."""
    for selection in ("uniform", "cholesky"):
        model = Nystroem(3, kernel="linear", selection=selection).fit(np.zeros((5, 2)))
        assert model.transform(np.zeros((5, 2))).tolist() == [[0.0]] * 5


def test_one_sample():
    """One row is its own landmark."""
    np.testing.assert_allclose(Nystroem(1, kernel=RBF(width=1.0)).fit_transform([[3.0, 4.0]]), [[1.0]])


def test_landmark_indices_point_at_landmarks(X):
    """landmarks_ are the rows landmark_indices_ of the data, no row twice; k-means centres are not rows."""
    for selection in ["uniform", "renyi", "leverage", "cholesky"]:
        fitted = Nystroem(15, selection=selection, random_state=0).fit(X)
        np.testing.assert_array_equal(X[fitted.landmark_indices_], fitted.landmarks_)
        assert len(set(fitted.landmark_indices_.tolist())) == 15
    assert Nystroem(15, selection="kmeans", random_state=0).fit(X).landmark_indices_ is None


def test_kernel_expansion_from_weights(X):
    """A linear function of the features is the kernel expansion with β = L^-T w, as documented."""
    fitted = Nystroem(20, kernel=RBF(width=1.5), random_state=0).fit(X)
    w = np.arange(20.0)
    beta = np.linalg.solve(fitted.cholesky_.T, w)
    np.testing.assert_allclose(fitted.kernel_(X, fitted.landmarks_) @ beta, fitted.transform(X) @ w, atol=1e-9)


def test_many_strips_and_panels():
    """More rows than one strip and more landmarks than one panel change nothing but the order of work."""
    X = np.random.default_rng(0).normal(size=(9000, 3))
    with gramian.config(threads=2):
        fitted = Nystroem(300, kernel=Laplacian(width=1.0), random_state=0).fit(X)
        F = fitted.transform(X)
    L = np.linalg.cholesky(fitted.kernel_(fitted.landmarks_))
    few = np.random.default_rng(1).choice(9000, 200, replace=False)
    np.testing.assert_allclose(F[few], np.linalg.solve(L, fitted.kernel_(fitted.landmarks_, X[few])).T, atol=1e-8)


def test_float32_stays_float32_and_close(X):
    """float32 data give float32 features whose products are within float32 accuracy of the float64 ones."""
    single = Nystroem(40, kernel=RBF(width=2.0), random_state=0).fit(X.astype(np.float32))
    F = single.transform(X.astype(np.float32))
    assert F.dtype == np.float32
    assert single.transform(X).dtype == np.float64
    expected = textbook(RBF(width=2.0), X, single.landmarks_.astype(np.float64))
    np.testing.assert_allclose(F @ F.T, expected, atol=2e-4)


@pytest.mark.parametrize("selection", SELECTIONS)
def test_sparse_rows_equal_dense_rows(X, selection):
    """CSR input gives the approximation that its dense form gives with the same landmarks."""
    X = np.where(X > 0.5, X, 0.0)
    fitted = Nystroem(20, kernel=RBF(width=1.0), selection=selection, random_state=0).fit(sp.csr_array(X))
    landmarks = fitted.landmarks_.toarray() if sp.issparse(fitted.landmarks_) else fitted.landmarks_
    F = fitted.transform(sp.csr_array(X))
    np.testing.assert_allclose(F @ F.T, textbook(RBF(width=1.0), X, landmarks), atol=1e-8)
    np.testing.assert_allclose(fitted.transform(X), F, atol=1e-8)


def test_is_a_kernel(X):
    """gram(X) holds the features, products need no n×n matrix, and sums with other kernels work."""
    fitted = Nystroem(20, kernel=RBF(width=1.0), random_state=0).fit(X)
    gram = fitted.gram(X)
    assert isinstance(gram, FeatureGram)
    np.testing.assert_allclose(gram.dense(), fitted(X))
    np.testing.assert_allclose(fitted.diagonal(X), np.diagonal(fitted(X)))
    total = (Nystroem(20, kernel=RBF(width=1.0), random_state=0) + Linear()).fit(X)
    np.testing.assert_allclose(total.gram(X).dense(), fitted(X) + X @ X.T)


def test_small_budget_recomputes_chunks(X):
    """Under a small memory budget the Gram recomputes its features and still gives the same products."""
    fitted = Nystroem(20, kernel=RBF(width=1.0), random_state=0).fit(X)
    expected = fitted(X) @ X
    with gramian.config(memory_budget=4000):
        np.testing.assert_allclose(fitted.gram(X) @ X, expected, atol=1e-9)
        with pytest.raises(gramian.MemoryBudgetError, match=r"120×20 array of features.*gram\(X\)"):
            fitted.transform(X)


def test_same_seed_same_landmarks(X):
    """random_state fixes the choice; fit advances no state of its own."""
    for selection in SELECTIONS:
        model = Nystroem(10, selection=selection, random_state=3)
        np.testing.assert_array_equal(model.fit(X).landmarks_, clone(model).fit(X).landmarks_)


def test_missing_values_where_the_kernel_takes_them(X):
    """Rows with holes work with a kernel that accepts them, except for k-means, which cannot average them."""
    X[::3, 1] = np.nan
    for selection in ["uniform", "renyi", "leverage", "cholesky"]:
        assert np.isfinite(Nystroem(20, kernel=MeanFilled(), selection=selection).fit_transform(X)).all()
    with pytest.raises(ValueError, match="selection='kmeans' cannot average missing values"):
        Nystroem(20, kernel=MeanFilled(), selection="kmeans").fit(X)
    with pytest.raises(ValueError, match="NaN"):
        Nystroem(20).fit(X)


def test_kernel_function_is_tested_on_the_landmarks(X):
    """A function that is positive semi-definite on the landmarks has plain features, another one signed ones."""
    fitted = Nystroem(20, kernel=lambda A, B: A @ B.T, random_state=0).fit(X)
    F = fitted.transform(X)
    np.testing.assert_allclose(F @ F.T, X @ X.T, atol=1e-9)
    assert fitted.definite
    assert fitted.has_features
    assert not Nystroem(20, kernel=lambda A, B: np.tanh(A @ B.T - 1), random_state=0).fit(X).definite


# Indefinite kernels ----------------------------------------------------------------------------------------

INDEFINITE = [Tanh(offset=-1.0), TL1(radius=6.0), TL1(), GaussianDifference(), Linear() + TL1(radius=6.0)]


@pytest.mark.parametrize("selection", ["uniform", "kmeans", "renyi"])
@pytest.mark.parametrize("kernel", INDEFINITE, ids=repr)
def test_signed_features_give_the_textbook_approximation(X, kernel, selection):
    """F J Fᵀ = K_nm K_mm⁺ K_mn for an indefinite kernel, with the eigenvalues of K_mm left out that it says."""
    fitted = Nystroem(40, kernel=kernel, selection=selection, random_state=0).fit(X)
    F, J = fitted.transform(X), fitted.signature_
    across, within = fitted.kernel_(X, fitted.landmarks_), fitted.kernel_(fitted.landmarks_)
    truncation = fitted.truncation_ or 1e-10  # None: the kernel is definite on these landmarks
    values = np.linalg.eigvalsh(within)
    assert (J < 0).sum() == (values < -truncation * np.abs(values).max()).sum()
    assert fitted.definite == (fitted.feature_signs is None) == fitted.has_features == bool((J > 0).all())
    expected = across @ np.linalg.pinv(within, rcond=truncation, hermitian=True) @ across.T
    scale = np.abs(expected).max()
    np.testing.assert_allclose((F * J) @ F.T, expected, atol=1e-7 * scale)
    np.testing.assert_allclose(fitted(X), expected, atol=1e-7 * scale)
    np.testing.assert_allclose(fitted(X[:7], X), expected[:7], atol=1e-7 * scale)
    np.testing.assert_allclose(fitted.diagonal(X), np.diag(expected), atol=1e-7 * scale)
    np.testing.assert_array_equal(fitted(X), fitted(X).T)


def test_indefinite_kernel_is_exact_with_all_rows(X):
    """With n landmarks the approximation is the indefinite kernel itself, and so is its signature."""
    for kernel in (TL1(radius=6.0), Tanh()):
        K = kernel.fit(X)(X)
        fitted = Nystroem(120, kernel=kernel).fit(X)
        np.testing.assert_allclose(fitted(X), K, atol=1e-8)
        assert (fitted.signature_ < 0).sum() == kernel.gram(X).signature().n_negative


def test_signed_gram_is_held_by_its_features(X):
    """gram(X) is F J Fᵀ: products, eigenpairs and linear systems are those of the matrix, also centred."""
    fitted = Nystroem(40, kernel=TL1(radius=6.0), random_state=0).fit(X)
    gram = fitted.gram(X)
    assert isinstance(gram, KreinGram)
    K = fitted(X)
    np.testing.assert_allclose(gram.dense(), K, atol=1e-10)
    for which in ("largest", "magnitude", "smallest"):
        M = np.eye(120) - 1 / 120
        values = np.linalg.eigvalsh(M @ K @ M)
        expected = {"largest": values[::-1], "smallest": values, "magnitude": values[np.argsort(-np.abs(values))]}
        found = gram.centered().eigenpairs(5, which, method="dual")[0]
        np.testing.assert_allclose(found, expected[which][:5], atol=1e-9)
    b = np.arange(120.0)
    system = gram.factorization(0.3)
    assert system.method == "dual"
    np.testing.assert_allclose(system.solve(b), np.linalg.solve(K + 0.3 * np.eye(120), b), rtol=1e-8)


def test_signed_expansion(X):
    """Σ_i k(x, x_i) a_i through signed features is the sum itself, centred or not."""
    fitted = Nystroem(40, kernel=TL1(radius=6.0), random_state=0).fit(X)
    A = np.random.default_rng(0).standard_normal((90, 2))
    expected = fitted(X[90:], X[:90]) @ A
    for gram in (None, fitted.gram(X[:90])):
        expansion = Expansion(fitted, X[:90], A, gram=gram)
        assert expansion.points is None
        np.testing.assert_allclose(expansion(X[90:]), expected, atol=1e-9)
        v = np.full(90, 1 / 90)
        A0 = A - A.mean(axis=0)
        centered = fitted(X[90:], X[:90]) @ A0 - v @ fitted(X[:90]) @ A0
        np.testing.assert_allclose(Expansion(fitted, X[:90], A0, gram=gram, center=v)(X[90:]), centered, atol=1e-9)


def test_kernel_pca_through_signed_landmarks(X):
    """With all rows as landmarks, kernel PCA of an indefinite kernel is that of the kernel itself."""
    exact = KernelPCA(4, kernel=TL1(radius=6.0)).fit(X)
    through = KernelPCA(4, kernel=Nystroem(120, kernel=TL1(radius=6.0))).fit(X)
    np.testing.assert_allclose(through.eigenvalues_, exact.eigenvalues_, rtol=1e-8)
    np.testing.assert_array_equal(through.signature_, exact.signature_)
    np.testing.assert_allclose(np.abs(through.transform(X[:9])), np.abs(exact.transform(X[:9])), atol=1e-6)


def test_truncation_helps_where_eigenvalues_come_close_to_zero():
    """For a narrow TL1 the plain pseudo-inverse has errors above the kernel itself, the features have not."""
    X = np.random.default_rng(0).random((300, 3))
    K = TL1(radius=0.8)(X)
    plain, chosen = [], []
    for seed in range(5):
        fitted = Nystroem(60, kernel=TL1(radius=0.8), random_state=seed).fit(X)
        chosen.append(np.linalg.norm(K - fitted(X)) / np.linalg.norm(K))
        i = fitted.landmark_indices_
        plain.append(np.linalg.norm(K - K[:, i] @ np.linalg.pinv(K[np.ix_(i, i)]) @ K[i]) / np.linalg.norm(K))
    assert np.median(plain) > 1
    assert np.median(chosen) < 0.3


def test_signed_float32_and_sparse(X):
    """float32 stays float32 and close; sparse rows give what dense rows give."""
    single = Nystroem(40, kernel=TL1(radius=6.0), random_state=0).fit(X.astype(np.float32))
    F = single.transform(X.astype(np.float32))
    assert F.dtype == single.gram(X.astype(np.float32)).dtype == np.float32
    landmarks = single.landmarks_.astype(np.float64)
    across = TL1(radius=6.0)(X, landmarks)
    inverse = np.linalg.pinv(TL1(radius=6.0)(landmarks), rcond=single.truncation_, hermitian=True)
    np.testing.assert_allclose((F * single.signature_) @ F.T, across @ inverse @ across.T, atol=2e-3)
    assert Nystroem(40, kernel=Tanh(), random_state=0).fit(X).accepts_sparse == Tanh().accepts_sparse


def test_signed_small_budget_recomputes_chunks(X):
    """Under a small memory budget the signed features are recomputed and products stay the same."""
    fitted = Nystroem(20, kernel=Tanh(), random_state=0).fit(X)
    expected = fitted(X) @ X
    with gramian.config(memory_budget=4000):
        np.testing.assert_allclose(fitted.gram(X) @ X, expected, atol=1e-8)


@pytest.mark.parametrize("kernel", [RBF(width=1.5), TL1(radius=6.0)], ids=repr)
def test_landmark_coefficients(X, kernel):
    """A linear function of the features is the kernel expansion over the landmarks that it says."""
    fitted = Nystroem(20, kernel=kernel, random_state=0).fit(X)
    r = fitted.transform(X).shape[1]
    for w in (np.arange(float(r)), np.ones((r, 3))):
        beta = fitted.landmark_coefficients(w)
        np.testing.assert_allclose(fitted.kernel_(X, fitted.landmarks_) @ beta, fitted.transform(X) @ w, atol=1e-8)
    with pytest.raises(ValueError, match=rf"weights has shape \(3,\); pass one row for each of the {r} features"):
        fitted.landmark_coefficients(np.ones(3))


# Pivots of an incomplete Cholesky factorisation ------------------------------------------------------------


def test_cholesky_landmarks_are_its_pivots(X):
    """F Fᵀ is the product of the incomplete Cholesky factor, and residual_trace_ is what is left of the trace."""
    kernel = RBF(width=1.5)
    fitted = Nystroem(30, kernel=kernel, selection="cholesky", random_state=4).fit(X)
    pivots, G, residual = incomplete_cholesky(kernel, X, 30, np.random.default_rng(4))
    assert set(fitted.landmark_indices_.tolist()) == set(pivots.tolist())
    np.testing.assert_allclose(fitted(X), G @ G.T, atol=1e-9)
    assert fitted.residual_trace_ == pytest.approx(residual.sum())
    assert fitted.residual_trace_ == pytest.approx(np.trace(kernel(X) - fitted(X)), rel=1e-6)
    assert Nystroem(30, selection="uniform").fit(X).residual_trace_ is None


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"n_components": 0}, "n_components=0 must be a whole number >= 1"),
        ({"n_components": -3}, "n_components=-3"),
        ({"n_components": 2.5}, "n_components=2.5"),
        ({"n_components": True}, "n_components=True"),
        (
            {"selection": "random"},
            "selection='random' must be one of 'uniform', .*, 'cholesky'",
        ),
        ({"selection": None}, "selection=None"),
        ({"kernel": "tanh", "selection": "leverage"}, r"kernel=Tanh\(\) is indefinite; use selection='uniform'"),
        ({"kernel": "tl1", "selection": "cholesky"}, r"kernel=TL1\(\) is indefinite"),
        ({"kernel": "neighbors"}, r"kernel=NeighborGraph\(\) is a sparse graph.*such as 'rbf'"),
        ({"kernel": "precomputed"}, "kernel='precomputed' holds all similarities already"),
        ({"kernel": "gauss"}, "kernel='gauss' is not a kernel"),
        ({"random_state": -1}, "random_state=-1"),
    ],
)
def test_bad_parameters_are_named(X, changes, message):
    """Each bad parameter raises a ValueError that names it, its value and what to do."""
    with pytest.raises(ValueError, match=message):
        Nystroem(10).set_params(**changes).fit(X)


def test_more_landmarks_than_samples_warns(X):
    """n_components above n warns, naming the parameter, and uses every sample."""
    with pytest.warns(UserWarning, match="n_components=500 is more than the 120 samples"):
        fitted = Nystroem(500, kernel=RBF(width=0.5)).fit(X)
    assert fitted.landmarks_.shape == (120, 4)


def test_not_fitted_is_said(X):
    """Before fit, every question raises NotFittedError."""
    model = Nystroem(10)
    for ask in (model.transform, model.features, model.gram, model):
        with pytest.raises(NotFittedError):
            ask(X)


@pytest.mark.parametrize("selection", SELECTIONS)
def test_follows_scikit_learn_conventions(selection):
    """scikit-learn's own checks pass for every selection, but repeated rows draw other landmarks than weighted ones."""
    kinds = ("dense", "sparse")
    draws = {f"check_sample_weight_equivalence_on_{kind}_data": "landmarks are drawn from the rows" for kind in kinds}
    check_estimator(Nystroem(5, selection=selection), on_skip=None, expected_failed_checks=draws)


def test_rows_of_weight_zero_are_no_landmarks(X):
    """Weights count in the kernel's width, and a row of weight zero is never a landmark."""
    weights = np.arange(len(X)) % 3
    model = Nystroem(10, random_state=0).fit(X, sample_weight=weights)
    assert weights[model.landmark_indices_].min() > 0
    np.testing.assert_array_equal(model.landmarks_, X[model.landmark_indices_])
    assert model.kernel_.width_ == pytest.approx(RBF().fit(np.repeat(X, weights, axis=0)).width_)
    assert model.kernel_.width_ != pytest.approx(RBF().fit(X).width_)


def test_in_a_pipeline_and_a_search(X):
    """Parameters of the kernel are searched through the pipeline, and data frames come out when asked for."""
    y = np.sin(X[:, 0])
    search = GridSearchCV(
        make_pipeline(Nystroem(20, kernel=RBF(), random_state=0), Ridge(1e-3)),
        {"nystroem__kernel__width": [0.01, 2.0]},
    ).fit(X, y)
    assert search.best_params_ == {"nystroem__kernel__width": 2.0}
    frame = Nystroem(3, random_state=0).set_output(transform="pandas").fit_transform(X)
    assert list(frame.columns) == ["nystroem0", "nystroem1", "nystroem2"]
