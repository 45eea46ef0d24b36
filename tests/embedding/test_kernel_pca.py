"""Kernel PCA against textbook eigendecompositions, scikit-learn and its own other paths."""

import tracemalloc

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from scipy.sparse import csr_array
from scipy.spatial.distance import cdist
from sklearn.decomposition import PCA
from sklearn.decomposition import KernelPCA as PeerKernelPCA
from sklearn.exceptions import NotFittedError

import gramian
from gramian import KernelPCA
from gramian.embedding.projection import significant
from gramian.grams import DenseGram, FeatureGram, LazyGram, features
from gramian.kernels import RBF, TL1, Cosine, GaussianDifference, Laplacian, Linear, Polynomial, Tanh
from gramian.landmarks import Nystroem

KERNELS = {
    "rbf": (RBF(1.5), {"kernel": "rbf", "gamma": 1 / (2 * 1.5**2)}),
    "polynomial": (Polynomial(3, 1.0), {"kernel": "poly", "degree": 3, "gamma": 1.0, "coef0": 1.0}),
    "laplacian": (Laplacian(4.0), {"kernel": lambda x, y: np.exp(-np.abs(x - y).sum() / 4)}),
    "linear": (Linear(), {"kernel": "linear"}),
    "cosine": (Cosine(), {"kernel": "cosine"}),
}
INDEFINITE = {
    "tanh": Tanh(0.5, -0.3),
    "tl1": TL1(radius=6.0),
    "difference": GaussianDifference(1.0),
    "precomputed": "precomputed",
}


@pytest.fixture
def rng():
    return np.random.default_rng(7)


@pytest.fixture
def X(rng):
    return rng.standard_normal((60, 4)) * [2.0, 1.5, 1.0, 0.5]


@pytest.fixture
def X_new(rng):
    return rng.standard_normal((15, 4)) + 0.3


def aligned(Z, reference):
    """Z with each column's sign chosen to agree with the reference."""
    return Z * np.where((Z * reference).sum(axis=0) < 0, -1, 1)


def centred(K):
    """K − 1K − K1 + 1K1 with the n×n matrix 1 of entries 1/n."""
    ones = np.full(K.shape, 1 / len(K))
    return K - ones @ K - K @ ones + ones @ K @ ones


def by_magnitude(A):
    """All eigenpairs of A, largest |λ| first."""
    values, vectors = np.linalg.eigh(A)
    order = np.argsort(-np.abs(values))
    return values[order], vectors[:, order]


def similarities(kernel, X, rng):
    """What to fit on and the matrix that it stands for."""
    if kernel != "precomputed":
        return X, kernel.fit(X)(X)
    A = rng.standard_normal((len(X), len(X)))
    return A + A.T, A + A.T


class TestDefinite:
    @pytest.mark.parametrize("name", KERNELS)
    def test_equals_scikit_learn(self, name, X, X_new):
        """Centred scores are scikit-learn's up to sign, for fitted and for new rows."""
        kernel, options = KERNELS[name]
        ours = KernelPCA(3, kernel=kernel).fit(X)
        peer = PeerKernelPCA(3, eigen_solver="dense", **options).fit(X)
        reference = peer.transform(X)
        np.testing.assert_allclose(ours.eigenvalues_, peer.eigenvalues_, rtol=1e-9)
        np.testing.assert_allclose(aligned(ours.embedding_, reference), reference, atol=1e-8)
        signs = np.where((ours.embedding_ * reference).sum(axis=0) < 0, -1, 1)
        np.testing.assert_allclose(ours.transform(X_new) * signs, peer.transform(X_new), atol=1e-8)

    def test_equals_scikit_learn_where_the_solver_iterates(self, rng):
        """Above 500 rows, where pairs are found by iteration, the scores are still scikit-learn's."""
        X = rng.standard_normal((650, 3)) * [3.0, 2.0, 1.0]
        ours = KernelPCA(4, kernel=RBF(3.0), tol=1e-10).fit(X)
        reference = PeerKernelPCA(4, kernel="rbf", gamma=1 / 18, eigen_solver="dense").fit_transform(X)
        np.testing.assert_allclose(aligned(ours.embedding_, reference), reference, atol=1e-7)
        np.testing.assert_allclose(ours.transform(X), ours.embedding_, atol=1e-7)

    @pytest.mark.parametrize("name", KERNELS)
    def test_uncentred_scores_keep_the_gram_matrix(self, name, X):
        """With all components Z Zᵀ = K, uncentred, and Z Zᵀ = centred K, centred."""
        kernel = KERNELS[name][0]
        K = kernel.fit(X)(X)
        Z = KernelPCA(None, kernel=kernel, center=False).fit_transform(X)
        np.testing.assert_allclose(Z @ Z.T, K, atol=1e-8 * np.abs(K).max())
        Z = KernelPCA(None, kernel=kernel).fit_transform(X)
        np.testing.assert_allclose(Z @ Z.T, centred(K), atol=1e-8 * np.abs(K).max())

    @pytest.mark.parametrize("center", [True, False])
    def test_scores_are_uncorrelated(self, center, X):
        """Zᵀ Z = Λ, and centred scores have mean zero."""
        model = KernelPCA(6, kernel=RBF(2.0), center=center).fit(X)
        np.testing.assert_allclose(model.embedding_.T @ model.embedding_, np.diag(model.eigenvalues_), atol=1e-9)
        if center:
            np.testing.assert_allclose(model.embedding_.mean(axis=0), 0, atol=1e-10)

    @pytest.mark.parametrize("center", [True, False])
    @pytest.mark.parametrize("name", KERNELS)
    def test_transform_of_fitted_rows_is_the_embedding(self, name, center, X):
        """The scores of the fitted rows, asked for as new ones, are ``embedding_``."""
        model = KernelPCA(3, kernel=KERNELS[name][0], center=center).fit(X)
        np.testing.assert_allclose(model.transform(X), model.embedding_, atol=1e-8)
        np.testing.assert_allclose(model.fit_transform(X), model.embedding_, atol=0)

    def test_linear_kernel_is_pca(self, X, X_new):
        """With the linear kernel the scores and the explained shares are those of PCA."""
        ours, pca = KernelPCA(3, kernel="linear").fit(X), PCA(3).fit(X)
        reference = pca.transform(X)
        np.testing.assert_allclose(aligned(ours.embedding_, reference), reference, atol=1e-9)
        signs = np.where((ours.embedding_ * reference).sum(axis=0) < 0, -1, 1)
        np.testing.assert_allclose(ours.transform(X_new) * signs, pca.transform(X_new), atol=1e-9)
        np.testing.assert_allclose(ours.explained_variance_ratio_, pca.explained_variance_ratio_, rtol=1e-9)
        np.testing.assert_allclose(ours.eigenvalues_ / (len(X) - 1), pca.explained_variance_, rtol=1e-9)

    @pytest.mark.parametrize(("dtype", "offset", "atol"), [(np.float64, 1e6, 1e-6), (np.float32, 1e3, 1e-2)])
    def test_pca_far_from_the_origin(self, dtype, offset, atol, rng):
        """With the linear kernel rows far from zero get the scores that PCA gives them."""
        X = (rng.standard_normal((400, 5)) * [3, 2, 1, 0.5, 0.2] + offset).astype(dtype)
        # By SVD of the centred rows: scikit-learn's default solver for tall X squares them first and is less exact.
        reference = PCA(5, svd_solver="full").fit_transform(X.astype(np.float64))
        model = KernelPCA(5, kernel="linear").fit(X)
        signs = np.sign((model.embedding_ * reference).sum(axis=0))
        np.testing.assert_allclose(model.embedding_ * signs, reference, atol=atol)
        np.testing.assert_allclose(model.transform(X) * signs, reference, atol=atol)

    @pytest.mark.parametrize("name", KERNELS)
    def test_explained_shares_sum_to_one(self, name, X):
        """Shares of some components sum to at most one, of all components to one."""
        kernel = KERNELS[name][0]
        assert KernelPCA(2, kernel=kernel).fit(X).explained_variance_ratio_.sum() <= 1
        assert KernelPCA(None, kernel=kernel).fit(X).explained_variance_ratio_.sum() == pytest.approx(1)

    def test_components_come_by_eigenvalue_with_positive_sign(self, X):
        """Eigenvalues decrease and ``signature_`` is one for a definite kernel."""
        model = KernelPCA(10, kernel=RBF(1.0)).fit(X)
        assert np.all(np.diff(model.eigenvalues_) <= 0)
        assert np.all(model.signature_ == 1)

    def test_fits_repeat_to_the_last_bit(self, X):
        """Two fits of the same data are equal, signs included; the largest entry of an axis is positive."""
        first, second = (KernelPCA(4, kernel="rbf").fit(X).embedding_ for _ in range(2))
        np.testing.assert_array_equal(first, second)
        assert np.all(first[np.abs(first).argmax(axis=0), range(4)] > 0)

    @given(arrays(np.float64, (8, 3), elements=st.integers(-4, 4)), st.integers(-50, 50))
    @settings(max_examples=40, deadline=None)
    def test_centring_removes_any_shift(self, X, shift):
        """Centred distances between scores do not change when all rows move by the same vector."""
        if np.ptp(X, axis=0).any():
            Z, moved = (KernelPCA(None, kernel="linear").fit_transform(rows) for rows in (X, X + shift))
            np.testing.assert_allclose(cdist(moved, moved), cdist(X, X), atol=1e-6)
            np.testing.assert_allclose(cdist(Z, Z), cdist(X, X), atol=1e-6)


class TestWeights:
    def test_integer_weights_are_repeated_rows(self, rng, X, X_new):
        """A row of weight w counts as w copies: the same eigenvalues and the same scores for new rows."""
        weights = rng.integers(1, 4, len(X))
        weighted = KernelPCA(4, kernel=RBF(2.0)).fit(X, sample_weight=weights)
        repeated = KernelPCA(4, kernel=RBF(2.0)).fit(np.repeat(X, weights, axis=0))
        np.testing.assert_allclose(weighted.eigenvalues_, repeated.eigenvalues_, rtol=1e-9)
        reference = repeated.transform(X_new)
        np.testing.assert_allclose(aligned(weighted.transform(X_new), reference), reference, atol=1e-9)
        np.testing.assert_allclose(weighted.explained_variance_ratio_, repeated.explained_variance_ratio_, rtol=1e-9)

    def test_equal_weights_change_only_the_scale(self, X, X_new):
        """Doubling all weights doubles the eigenvalues and leaves the axes, so scores of new rows, alone."""
        plain = KernelPCA(3, kernel=RBF(2.0)).fit(X)
        double = KernelPCA(3, kernel=RBF(2.0)).fit(X, sample_weight=np.full(len(X), 2.0))
        np.testing.assert_allclose(double.eigenvalues_, 2 * plain.eigenvalues_, rtol=1e-10)
        np.testing.assert_allclose(double.transform(X_new), plain.transform(X_new), atol=1e-10)

    def test_equals_the_textbook_with_zero_weights(self, rng, X):
        """Weights, some zero, give the published symmetric solution restricted to the active rows."""
        v = rng.random(len(X)) * (rng.random(len(X)) < 0.7)
        K = RBF(2.0)(X)
        a = v > 0
        s = np.sqrt(v[a])
        u = s / np.linalg.norm(s)
        A = K[np.ix_(a, a)] * np.outer(s, s)
        image = A @ u
        A = A - np.outer(u, image) - np.outer(image, u) + (u @ image) * np.outer(u, u)
        values, B = np.linalg.eigh(A)
        values, B = values[::-1][:4], B[:, ::-1][:, :4]
        alpha = np.zeros((len(X), 4))
        alpha[a] = s[:, None] * B
        scores = K @ alpha - (v @ K @ alpha) / v.sum()
        model = KernelPCA(4, kernel=RBF(2.0)).fit(X, sample_weight=v)
        np.testing.assert_allclose(model.eigenvalues_, values, rtol=1e-9)
        reference = scores / np.sqrt(values)
        np.testing.assert_allclose(aligned(model.embedding_, reference), reference, atol=1e-9)
        np.testing.assert_allclose(model.transform(X), model.embedding_, atol=1e-9)

    @pytest.mark.parametrize("center", [True, False])
    def test_zero_weight_leaves_a_row_out(self, center, rng, X):
        """Rows of weight zero have no say but still get scores."""
        weights = (rng.random(len(X)) < 0.6).astype(float)
        model = KernelPCA(3, kernel=RBF(2.0), center=center).fit(X, sample_weight=weights)
        kept = KernelPCA(3, kernel=RBF(2.0), center=center).fit(X[weights > 0])
        reference = kept.transform(X)
        np.testing.assert_allclose(aligned(model.embedding_, reference), reference, atol=1e-9)

    @pytest.mark.parametrize("center", [True, False])
    def test_weighted_scores_are_uncorrelated(self, center, rng, X):
        """Zᵀ V Z = Λ with V the weights, and centred scores have weighted mean zero."""
        v = rng.random(len(X)) + 0.1
        model = KernelPCA(4, kernel=Laplacian(3.0), center=center).fit(X, sample_weight=v)
        Z = model.embedding_
        np.testing.assert_allclose(Z.T @ (v[:, None] * Z), np.diag(model.eigenvalues_), atol=1e-9)
        if center:
            np.testing.assert_allclose(v @ Z, 0, atol=1e-9)

    @pytest.mark.parametrize(
        ("weights", "words"),
        [
            (np.ones(3), "shape"),
            (-np.ones(60), "not negative"),
            (np.zeros(60), "not all zero"),
            (np.full(60, np.nan), "finite"),
        ],
        ids=["short", "negative", "zero", "nan"],
    )
    def test_bad_weights_are_refused(self, weights, words, X):
        """Weights that mean nothing are refused with the parameter's name."""
        with pytest.raises(ValueError, match=rf"sample_weight.*{words}"):
            KernelPCA().fit(X, sample_weight=weights)


class TestIndefinite:
    @pytest.mark.parametrize("center", [True, False])
    @pytest.mark.parametrize("name", INDEFINITE)
    def test_equals_a_dense_eigendecomposition(self, name, center, rng, X):
        """Pairs come by |λ| with scores √|λ| e and the sign of λ in ``signature_``."""
        X, K = similarities(INDEFINITE[name], X, rng)
        K = centred(K) if center else K
        model = KernelPCA(50, kernel=INDEFINITE[name], center=center).fit(X)
        values, vectors = by_magnitude(K)
        values, vectors = values[:50], vectors[:, :50]
        assert values.min() < 0, "the data must show both signs"
        np.testing.assert_allclose(model.eigenvalues_, values, rtol=1e-7)
        np.testing.assert_array_equal(model.signature_, np.sign(values))
        reference = vectors * np.sqrt(np.abs(values))
        np.testing.assert_allclose(aligned(model.embedding_, reference), reference, atol=1e-7)

    @pytest.mark.parametrize("name", INDEFINITE)
    def test_all_scores_with_their_signs_keep_the_gram_matrix(self, name, rng, X):
        """Z diag(signature) Zᵀ = K in the Kreĭn space."""
        X, K = similarities(INDEFINITE[name], X, rng)
        model = KernelPCA(None, kernel=INDEFINITE[name], center=False).fit(X)
        Z = model.embedding_
        np.testing.assert_allclose((Z * model.signature_) @ Z.T, K, atol=1e-8 * np.abs(K).max())

    @pytest.mark.parametrize("center", [True, False])
    @pytest.mark.parametrize("name", INDEFINITE)
    def test_transform_of_fitted_rows_is_the_embedding(self, name, center, rng, X):
        """Fitted rows asked for as new ones get their scores, which are eigenvectors also where λ < 0."""
        X, K = similarities(INDEFINITE[name], X, rng)
        model = KernelPCA(8, kernel=INDEFINITE[name], center=center).fit(X)
        np.testing.assert_allclose(model.transform(X), model.embedding_, atol=1e-8)
        K = centred(K) if center else K
        np.testing.assert_allclose(
            K @ model.embedding_, model.embedding_ * model.eigenvalues_, atol=1e-7 * np.abs(K).max()
        )

    @pytest.mark.parametrize("name", INDEFINITE)
    def test_order_largest_takes_positive_eigenvalues_only(self, name, rng, X):
        """``order="largest"`` keeps the algebraically largest eigenvalues."""
        X, K = similarities(INDEFINITE[name], X, rng)
        model = KernelPCA(4, kernel=INDEFINITE[name], order="largest").fit(X)
        np.testing.assert_allclose(model.eigenvalues_, np.linalg.eigvalsh(centred(K))[::-1][:4], rtol=1e-8)
        assert np.all(model.signature_ == 1)
        everything = KernelPCA(None, kernel=INDEFINITE[name], order="largest").fit(X)
        values = np.linalg.eigvalsh(centred(K))
        assert everything.n_components_ == np.sum(values > 1e-10 * values[-1]) < len(X) - 1

    def test_iterated_pairs_equal_the_dense_ones(self, rng):
        """Above 500 rows the pairs of largest magnitude, of both signs, are the right ones."""
        n = 600
        Q = np.linalg.qr(rng.standard_normal((n, n)))[0]
        spectrum = np.concatenate([[9.0, -8.0, 7.0, -6.0], rng.uniform(-1, 1, n - 4)])
        K = (Q * spectrum) @ Q.T
        model = KernelPCA(4, kernel="precomputed", center=False, tol=1e-10).fit((K + K.T) / 2)
        np.testing.assert_allclose(model.eigenvalues_, [9, -8, 7, -6], rtol=1e-8)
        reference = Q[:, :4] * np.sqrt([9, 8, 7, 6])
        np.testing.assert_allclose(np.abs(model.embedding_), np.abs(reference), atol=1e-6)

    @given(arrays(np.float64, (7, 7), elements=st.integers(-5, 5)))
    @settings(max_examples=40, deadline=None)
    def test_any_symmetric_matrix_is_kept(self, A):
        """Whatever symmetric matrix is given, all uncentred scores with their signs give it back."""
        K = A + A.T
        if K.any():
            model = KernelPCA(None, kernel="precomputed", center=False).fit(K)
            Z = model.embedding_
            np.testing.assert_allclose((Z * model.signature_) @ Z.T, K, atol=1e-7)


class TestRank:
    def test_all_components_are_those_of_the_rank(self, X):
        """n_components=None keeps as many components as the centred Gram has rank."""
        assert KernelPCA(None, kernel="linear").fit(X).n_components_ == 4
        assert KernelPCA(None, kernel=RBF(0.5)).fit(X).n_components_ == len(X) - 1

    def test_more_components_than_rank_are_dropped(self, X):
        """Components without variance are left out instead of dividing by zero."""
        model = KernelPCA(20, kernel="linear").fit(X)
        assert model.n_components_ == model.embedding_.shape[1] == model.transform(X).shape[1] == 4
        np.testing.assert_allclose(cdist(model.embedding_, model.embedding_), cdist(X, X), atol=1e-9)

    def test_three_distinct_rows_span_a_plane(self, rng):
        """Many copies of three rows have two centred components, whatever the kernel."""
        X = np.repeat(rng.standard_normal((3, 5)), 10, axis=0)
        model = KernelPCA(10, kernel=RBF(2.0)).fit(X)
        assert model.n_components_ == 2
        assert len(np.unique(model.embedding_.round(8), axis=0)) == 3

    def test_small_components_of_many_single_precision_rows_are_kept(self):
        """A hundredth of the largest eigenvalue is not rounding, however many samples there are."""
        assert significant(np.array([1.0, 0.01], np.float32), 10**6).all()

    def test_constant_rows_are_refused(self):
        """Equal rows have no variance, which is said."""
        with pytest.raises(ValueError, match="no variance"):
            KernelPCA(2, kernel=RBF(1.0)).fit(np.ones((10, 2)))


class TestPaths:
    def test_single_precision_stays_single(self, X, X_new):
        """float32 rows give float32 scores that agree with the float64 ones."""
        single = KernelPCA(3, kernel=RBF(2.0)).fit(X.astype(np.float32))
        double = KernelPCA(3, kernel=RBF(2.0)).fit(X)
        scores = single.transform(X_new.astype(np.float32))
        assert single.embedding_.dtype == single.eigenvalues_.dtype == scores.dtype == np.float32
        np.testing.assert_allclose(aligned(single.embedding_, double.embedding_), double.embedding_, atol=1e-4)
        signs = np.where((single.embedding_ * double.embedding_).sum(axis=0) < 0, -1, 1)
        np.testing.assert_allclose(scores * signs, double.transform(X_new), atol=1e-4)

    @pytest.mark.parametrize("kernel", [Linear(), Cosine(), RBF(2.0), Polynomial(2)], ids=repr)
    def test_sparse_rows_give_what_dense_rows_give(self, kernel, rng):
        """A CSR matrix is embedded as its dense copy is, and transforms either."""
        X = rng.standard_normal((40, 6)) * (rng.random((40, 6)) < 0.5)
        dense, sparse = KernelPCA(3, kernel=kernel).fit(X), KernelPCA(3, kernel=kernel).fit(csr_array(X))
        np.testing.assert_allclose(aligned(sparse.embedding_, dense.embedding_), dense.embedding_, atol=1e-8)
        np.testing.assert_allclose(sparse.transform(csr_array(X)), sparse.embedding_, atol=1e-8)

    def test_precomputed_similarities_give_what_rows_give(self, X, X_new):
        """The Gram matrix in place of the rows, and kernel rows in place of new rows, change nothing."""
        kernel = RBF(2.0)
        rows = KernelPCA(3, kernel=kernel).fit(X)
        given_matrix = KernelPCA(3, kernel="precomputed").fit(kernel(X))
        np.testing.assert_allclose(given_matrix.embedding_, rows.embedding_, atol=1e-9)
        np.testing.assert_allclose(given_matrix.transform(kernel(X_new, X)), rows.transform(X_new), atol=1e-9)

    def test_a_function_is_a_kernel(self, X, X_new):
        """A function of two arrays works like the kernel it computes."""
        ours = KernelPCA(3, kernel=lambda A, B: np.exp(-cdist(A, B, "sqeuclidean") / 8)).fit(X)
        reference = KernelPCA(3, kernel=RBF(2.0)).fit(X)
        np.testing.assert_allclose(ours.transform(X_new), reference.transform(X_new), atol=1e-9)

    @pytest.mark.parametrize("center", [True, False])
    def test_features_give_what_the_gram_matrix_gives(self, center, X, X_new):
        """The m×m dual of a kernel with features equals the n×n problem."""
        features = KernelPCA(4, kernel="linear", center=center).fit(X)
        matrix = KernelPCA(4, kernel=lambda A, B: A @ B.T, center=center).fit(X)
        assert isinstance(features.kernel_.gram(X), FeatureGram)
        assert isinstance(matrix.kernel_.gram(X), DenseGram)
        np.testing.assert_allclose(features.eigenvalues_, matrix.eigenvalues_, rtol=1e-9)
        np.testing.assert_allclose(aligned(features.embedding_, matrix.embedding_), matrix.embedding_, atol=1e-8)
        reference = matrix.transform(X_new)
        np.testing.assert_allclose(aligned(features.transform(X_new), reference), reference, atol=1e-8)

    @pytest.mark.parametrize("center", [True, False])
    def test_landmark_features_give_what_their_gram_matrix_gives(self, center, rng, X, X_new):
        """Under a Nyström kernel the thin path equals kernel PCA of the approximated matrix itself."""
        weights = rng.random(len(X)) + 0.2
        thin = KernelPCA(4, kernel=Nystroem(20, kernel=RBF(2.0), random_state=0), center=center)
        thin.fit(X, sample_weight=weights)
        matrix = KernelPCA(4, kernel="precomputed", center=center).fit(thin.kernel_(X), sample_weight=weights)
        np.testing.assert_allclose(thin.eigenvalues_, matrix.eigenvalues_, rtol=1e-8)
        np.testing.assert_allclose(aligned(thin.embedding_, matrix.embedding_), matrix.embedding_, atol=1e-8)
        reference = matrix.transform(thin.kernel_(X_new, X))
        np.testing.assert_allclose(aligned(thin.transform(X_new), reference), reference, atol=1e-8)

    @pytest.mark.parametrize("center", [True, False])
    def test_recomputed_tiles_give_what_the_matrix_gives(self, center, rng):
        """Beyond the memory budget the Gram is never held, and the result is the same."""
        X = rng.standard_normal((620, 3)) * [3.0, 2.0, 1.0]
        held = KernelPCA(3, kernel=RBF(3.0), center=center, tol=1e-10).fit(X)
        with gramian.config(memory_budget="1MB"):
            lazy = KernelPCA(3, kernel=RBF(3.0), center=center, tol=1e-10).fit(X)
            assert isinstance(lazy.kernel_.gram(X), LazyGram)
            np.testing.assert_allclose(lazy.transform(X), held.embedding_, atol=1e-7)
        np.testing.assert_allclose(lazy.embedding_, held.embedding_, atol=1e-7)

    def test_recomputed_features_give_what_held_ones_give(self, rng):
        """Features beyond the memory budget are recomputed chunk by chunk with the same result."""
        X = rng.standard_normal((900, 8)) + 1
        held = KernelPCA(3, kernel="linear").fit(X)
        with gramian.config(memory_budget="20kB"):
            chunked = KernelPCA(3, kernel="linear").fit(X)
            np.testing.assert_allclose(chunked.transform(X), held.embedding_, atol=1e-8)
        np.testing.assert_allclose(chunked.embedding_, held.embedding_, atol=1e-8)


class TestCosts:
    def test_all_linear_components_cost_no_matrix(self, rng):
        """All components of five features need no n×n array."""
        X = rng.standard_normal((2000, 5))
        tracemalloc.start()
        KernelPCA(None, kernel="linear").fit(X)
        peak = tracemalloc.get_traced_memory()[1]
        tracemalloc.stop()
        assert peak < 10 * X.nbytes

    def test_features_are_computed_and_held_once(self, rng, monkeypatch):
        """Through landmarks each row's features are computed once, and beside them there are only chunks."""
        n, m = 20000, 100
        X = rng.standard_normal((n, 5))
        monkeypatch.setattr(features, "_CHUNK_BYTES", 2**20)
        compute, rows = Nystroem._features, []

        def spy(self, X):
            rows.append(X.shape[0])
            tracemalloc.reset_peak()  # what the choice of landmarks took before is not of interest
            return compute(self, X)

        monkeypatch.setattr(Nystroem, "_features", spy)
        tracemalloc.start()
        KernelPCA(3, kernel=Nystroem(m, random_state=0)).fit(X)
        peak = tracemalloc.get_traced_memory()[1]
        tracemalloc.stop()
        assert sum(rows) == n
        assert peak < 1.7 * n * m * 8

    def test_small_samples_need_no_budget(self, rng):
        """Below the size where LAPACK is the default a tight budget changes the method, not the answer."""
        X = rng.standard_normal((400, 3))
        expected = KernelPCA(2, kernel=RBF(1.0)).fit(X).embedding_
        with gramian.config(memory_budget="1MB"):
            tight = KernelPCA(2, kernel=RBF(1.0), tol=1e-8).fit(X).embedding_
        np.testing.assert_allclose(aligned(tight, expected), expected, atol=1e-6)


class TestParameters:
    def test_a_failed_fit_is_not_fitted(self, X):
        """After a refused ``fit`` the model says that it is not fitted."""
        model = KernelPCA(100)
        with pytest.raises(ValueError, match="n_components"):
            model.fit(X)
        with pytest.raises(NotFittedError):
            model.transform(X)

    @pytest.mark.parametrize(
        ("parameters", "words"),
        [
            ({"n_components": 61}, "n_components=61 .*n_samples=60.*n_components <= 60"),
            ({"n_components": 0}, "n_components=0 .*>= 1 or None"),
            ({"n_components": 2.5}, "n_components=2.5"),
            ({"order": "smallest"}, "order='smallest'.*'magnitude', 'largest'"),
            ({"preimage": "newton"}, "preimage='newton'.*'ridge', 'fixed_point'"),
            ({"preimage": "ridge", "ridge": -1.0}, "ridge=-1.0 must be"),
            ({"kernel": "gauss"}, "kernel='gauss'.*'rbf'"),
        ],
        ids=str,
    )
    def test_bad_parameters_are_refused_by_name(self, parameters, words, X):
        """A parameter out of range is refused with its name, its value and what is allowed."""
        with pytest.raises(ValueError, match=words):
            KernelPCA(**parameters).fit(X)

    def test_the_given_kernel_is_not_touched(self, X):
        """``fit`` learns on a copy of the kernel; the one passed in stays unfitted."""
        kernel = RBF("median")
        model = KernelPCA(2, kernel=kernel).fit(X)
        assert not hasattr(kernel, "width_")
        assert model.kernel is kernel
        assert model.kernel_.width_ > 0
