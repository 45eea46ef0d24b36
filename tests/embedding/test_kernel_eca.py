"""Kernel entropy component analysis against the full eigendecomposition."""

from types import SimpleNamespace

import numpy as np
import pytest
from scipy.sparse import csr_array
from scipy.spatial.distance import cdist
from sklearn.datasets import make_blobs

import gramian
from gramian import KernelECA, KernelPCA
from gramian.embedding.kernel_eca import entropy_axes
from gramian.grams import DenseGram, Gram, LazyGram
from gramian.kernels import RBF, TL1, Laplacian, Linear, Polynomial, Tanh
from gramian.landmarks import Nystroem


@pytest.fixture
def rng():
    return np.random.default_rng(11)


@pytest.fixture
def X(rng):
    return rng.standard_normal((50, 3)) + 1


@pytest.fixture
def asked(monkeypatch):
    """How many eigenpairs each call asked for."""
    counts = []
    solve = Gram.eigenpairs

    def spy(self, k, *args, **options):
        counts.append(k)
        return solve(self, k, *args, **options)

    monkeypatch.setattr(Gram, "eigenpairs", spy)
    return counts


@pytest.fixture
def columns(monkeypatch):
    """How many columns each product with a dense Gram had."""
    counts = []
    multiply = DenseGram._product

    def spy(self, V):
        counts.append(V.shape[1])
        return multiply(self, V)

    monkeypatch.setattr(DenseGram, "_product", spy)
    return counts


def brute_force(K, n_components):
    """Indices by eigenvalue, contributions and scores of the axes of largest entropy, from all eigenpairs."""
    values, vectors = np.linalg.eigh(K)
    values, vectors = values[::-1], vectors[:, ::-1]
    contributions = values * vectors.sum(axis=0) ** 2
    best = np.argsort(-contributions)[:n_components]
    return best, contributions[best], vectors[:, best] * np.sqrt(np.maximum(values[best], 0))


def assert_is_brute_force(model, K, atol=1e-8):
    """The model kept the axes that the full decomposition keeps."""
    indices, contributions, Z = brute_force(K, model.n_components_)
    np.testing.assert_array_equal(model.component_indices_, indices)
    np.testing.assert_allclose(model.entropies_, contributions, rtol=1e-6)
    np.testing.assert_allclose(np.abs(model.embedding_), np.abs(Z), atol=atol)


class TestAxes:
    @pytest.mark.parametrize("kernel", [RBF(1.0), Laplacian(2.0), Polynomial(2), Linear()], ids=repr)
    def test_all_contributions_sum_to_the_information_potential(self, kernel, X):
        """Σ_j λ_j (e_jᵀ1)² over all axes is 1ᵀK1 = n² mean(K)."""
        model = KernelECA(len(X), kernel=kernel).fit(X)
        assert model.entropies_.sum() == pytest.approx(len(X) ** 2 * kernel(X).mean(), rel=1e-9)

    def test_all_axes_are_those_of_uncentred_kernel_pca(self, X):
        """Keeping every axis gives uncentred kernel PCA with its columns in another order."""
        eca = KernelECA(len(X), kernel=RBF(1.0)).fit(X)
        pca = KernelPCA(None, kernel=RBF(1.0), center=False).fit(X)
        assert eca.n_components_ == pca.n_components_
        np.testing.assert_allclose(eca.embedding_, pca.embedding_[:, eca.component_indices_], atol=1e-9)
        np.testing.assert_allclose(eca.embedding_ @ eca.embedding_.T, RBF(1.0)(X), atol=1e-9)

    @pytest.mark.parametrize("kernel", [RBF(0.7), Laplacian(1.0), Polynomial(3)], ids=repr)
    @pytest.mark.parametrize("n_components", [1, 3, 10])
    def test_the_largest_contributions_are_kept(self, kernel, n_components, X):
        """The axes are the choice from the full eigendecomposition, in decreasing order."""
        model = KernelECA(n_components, kernel=kernel).fit(X)
        assert_is_brute_force(model, kernel(X))
        assert np.all(np.diff(model.entropies_) <= 0)

    def test_the_order_is_not_that_of_the_eigenvalues(self, rng):
        """Data symmetric about the origin have odd axes of large variance and no entropy, which are passed over."""
        half = rng.normal([3.0, 0.0], 1.0, (60, 2))
        X = np.vstack([half, -half])
        model = KernelECA(2, kernel=RBF(1.5)).fit(X)
        assert 1 not in model.component_indices_
        assert_is_brute_force(model, RBF(1.5)(X))

    def test_equal_contributions_go_to_the_lower_index(self):
        """Among exact ties, as of the identity matrix, the first axes are taken."""
        model = KernelECA(2, kernel="precomputed").fit(np.eye(5))
        np.testing.assert_array_equal(model.component_indices_, [0, 1])
        np.testing.assert_allclose(model.entropies_, 1)

    def test_equal_contributions_go_to_the_larger_eigenvalue(self):
        """Of axes with the same contribution λ s² the one of larger eigenvalue comes first."""
        # Columns with exact sums: eigenvectors of a matrix would tie only up to rounding.
        values, sums = np.array([16.0, 8.0, 4.0, 1.0]), np.array([0.5, 1.0, 1.0, 2.0])
        vectors = np.vstack([sums, np.zeros((3, 4))])
        gram = SimpleNamespace(
            shape=(4, 4), degrees=lambda: np.full(4, 5.0), eigenpairs=lambda k, **_: (values[:k], vectors[:, :k])
        )
        _, _, entropies, places = entropy_axes(gram, 3, RBF(1.0), None)
        np.testing.assert_array_equal(places, [1, 0, 2])
        np.testing.assert_array_equal(entropies, [8, 4, 4])

    def test_equal_clusters_share_the_entropy(self, rng):
        """Equal blocks have a repeated eigenvalue; however its axes are turned, together they carry everything."""
        K = np.kron(np.eye(3), np.ones((10, 10)))
        model = KernelECA(3, kernel="precomputed").fit(K)
        assert model.entropies_.sum() == pytest.approx(K.sum())
        np.testing.assert_allclose(model.embedding_ @ model.embedding_.T, K, atol=1e-9)


class TestCertificate:
    """Above 500 samples only leading pairs are found, until no other can contribute more."""

    def test_symmetric_clusters(self, rng, asked):
        """Many balanced clusters, mirrored, hide entropy behind axes of larger variance that have none."""
        half = np.repeat(2 * rng.standard_normal((12, 4)), 25, axis=0) + 0.3 * rng.standard_normal((300, 4))
        X = np.vstack([half, -half])
        K = RBF(2.0)(X)
        model = KernelECA(6, kernel=RBF(2.0), tol=1e-10).fit(X)
        assert_is_brute_force(model, K, atol=1e-6)
        sums = np.linalg.eigh(K)[1][:, ::-1].sum(axis=0)
        assert np.sum(sums[: model.component_indices_.max()] ** 2 < 1e-8) >= 4, "leading axes must lack entropy"
        assert max(asked) < 60

    def test_flat_spectra_are_searched_further(self, rng, asked):
        """Where the first pairs cannot prove the choice, more are found, and the choice is the full one's."""
        X = rng.standard_normal((560, 8))
        model = KernelECA(4, kernel=RBF(0.9)).fit(X)
        assert len(asked) > 1
        assert_is_brute_force(model, RBF(0.9)(X), atol=1e-6)

    def test_flat_spectra_cost_at_most_the_full_decomposition(self, rng, asked, columns):
        """Where few axes prove nothing, the products of the search stay below the 9n³ operations of all axes."""
        n = 1000
        X = rng.standard_normal((n, 10))
        KernelECA(5, kernel=RBF("median20")).fit(X)
        assert asked[-1] == n, "the spectrum must be so flat that all axes are needed"
        assert all(count <= n // 10 for count in asked[:-1])
        assert sum(columns) * 2 * n**2 < 9 * n**3

    def test_a_checked_matrix_costs_little_more_than_a_kernel(self, rng, columns):
        """Whether a precomputed matrix is definite is not worth many times the products of the embedding itself."""
        X = rng.standard_normal((1500, 5))
        K = Laplacian(1.0)(X)
        KernelECA(2, kernel=Laplacian(1.0)).fit(X)
        unchecked = sum(columns)
        columns.clear()
        KernelECA(2, kernel="precomputed").fit(K)
        assert 0 < unchecked < sum(columns) < 3 * unchecked

    def test_entropy_far_down_the_spectrum(self, rng):
        """An axis of entropy is found even behind more axes without any than are looked at first."""
        n = 600
        Q = np.linalg.qr(np.column_stack([np.ones(n), rng.standard_normal((n, n - 1))]))[0]
        # The constant vector, the only one with a sum, has the eigenvalue of rank 41.
        spectrum = np.concatenate([[10.0], np.linspace(50, 11, 40), np.zeros(n - 41)])
        K = (Q * spectrum) @ Q.T
        model = KernelECA(1, kernel="precomputed").fit((K + K.T) / 2)
        np.testing.assert_array_equal(model.component_indices_, [40])
        np.testing.assert_allclose(model.entropies_, [10.0 * n], rtol=1e-8)
        np.testing.assert_allclose(model.embedding_, np.sqrt(10 / n), rtol=1e-5)

    def test_recomputed_tiles_give_what_the_matrix_gives(self, rng):
        """Beyond the memory budget the axes are the same."""
        X = rng.standard_normal((550, 3))
        held = KernelECA(3, kernel=RBF(2.0), tol=1e-10).fit(X)
        with gramian.config(memory_budget="1MB"):
            lazy = KernelECA(3, kernel=RBF(2.0), tol=1e-10).fit(X)
            assert isinstance(lazy.kernel_.gram(X), LazyGram)
        np.testing.assert_allclose(lazy.embedding_, held.embedding_, atol=1e-7)


class TestPaths:
    def test_transform_of_fitted_rows_is_the_embedding(self, X):
        """The scores of the fitted rows, asked for as new ones, are ``embedding_``."""
        model = KernelECA(4, kernel=RBF(1.0)).fit(X)
        np.testing.assert_allclose(model.transform(X), model.embedding_, atol=1e-8)

    def test_new_rows_by_the_textbook(self, rng, X):
        """z_j(x) = Σ_i k(x, x_i) e_ij / √λ_j."""
        new = rng.standard_normal((7, 3))
        model = KernelECA(3, kernel=RBF(1.0)).fit(X)
        K_new = np.exp(-cdist(new, X, "sqeuclidean") / 2)
        np.testing.assert_allclose(model.transform(new), K_new @ model.embedding_ / model.eigenvalues_, atol=1e-9)

    def test_clusters_lie_in_different_directions(self):
        """Samples of well separated clusters are orthogonal, those of one cluster parallel."""
        X, y = make_blobs(90, centers=3, cluster_std=0.3, center_box=(-20, 20), random_state=2)
        Z = KernelECA(3, kernel=RBF(2.0)).fit_transform(X)
        U = Z / np.linalg.norm(Z, axis=1, keepdims=True)
        cosines = U @ U.T
        same = y[:, None] == y
        assert cosines[same].min() > 0.9
        assert cosines[~same].max() < 0.1

    def test_features_give_what_their_gram_matrix_gives(self, X):
        """Under a Nyström kernel the thin path keeps the axes of the approximated matrix."""
        model = KernelECA(3, kernel=Nystroem(15, kernel=RBF(1.0), random_state=0)).fit(X)
        assert_is_brute_force(model, model.kernel_(X))

    def test_sparse_single_and_precomputed_agree(self, X):
        """CSR rows, float32 rows and the Gram matrix itself give the same scores as dense rows."""
        expected = KernelECA(3, kernel=RBF(1.0)).fit(X)
        sparse = KernelECA(3, kernel=RBF(1.0)).fit(csr_array(X))
        single = KernelECA(3, kernel=RBF(1.0)).fit(X.astype(np.float32))
        matrix = KernelECA(3, kernel="precomputed").fit(RBF(1.0)(X))
        np.testing.assert_allclose(sparse.embedding_, expected.embedding_, atol=1e-8)
        np.testing.assert_allclose(matrix.embedding_, expected.embedding_, atol=1e-8)
        np.testing.assert_allclose(single.embedding_, expected.embedding_, atol=1e-4)
        assert single.embedding_.dtype == single.transform(X.astype(np.float32)).dtype == np.float32

    def test_fewer_axes_where_the_rank_is_lower(self, X):
        """A linear kernel of three features has three axes, whatever was asked."""
        assert KernelECA(10, kernel="linear").fit(X).n_components_ == 3


class TestRefusals:
    @pytest.mark.parametrize("kernel", [Tanh(1.0, -1.0), TL1(radius=3.0), "squared_distance"], ids=str)
    def test_indefinite_kernels_are_refused(self, kernel, X):
        """Entropy needs a definite kernel; others are refused by name with a remedy."""
        with pytest.raises(ValueError, match=r"(?s)kernel=.*indefinite.*'rbf'"):
            KernelECA(2, kernel=kernel).fit(X)

    def test_an_indefinite_matrix_is_refused(self, X):
        """A precomputed matrix with an eigenvalue of −0.3 % of the largest is refused, with one of rounding not."""
        # The check is coarse, 0.2 %, because a finer one would cost more than the embedding.
        K = RBF(1.0)(X)
        e = np.linalg.eigh(K)[1][:, 0]
        K_bad = K - 3e-3 * np.linalg.norm(K, 2) * np.outer(e, e)
        with pytest.raises(ValueError, match="indefinite"):
            KernelECA(2, kernel="precomputed").fit((K_bad + K_bad.T) / 2)
        KernelECA(2, kernel="precomputed").fit(K - 1e-14 * np.eye(len(K)))

    def test_a_large_indefinite_matrix_is_refused(self, rng):
        """Above 500 samples, where the lowest eigenvalue is found by iteration, −1 % is still seen."""
        Q = np.linalg.qr(rng.standard_normal((600, 600)))[0]
        K = (Q * np.concatenate([[10.0, -0.1], rng.uniform(0, 1, 598)])) @ Q.T
        with pytest.raises(ValueError, match="indefinite"):
            KernelECA(2, kernel="precomputed").fit((K + K.T) / 2)

    def test_a_definite_function_is_accepted(self, X):
        """A function whose matrix turns out definite is as good as the kernel it computes."""
        ours = KernelECA(2, kernel=lambda A, B: np.exp(-cdist(A, B, "sqeuclidean") / 2)).fit(X)
        np.testing.assert_allclose(ours.embedding_, KernelECA(2, kernel=RBF(1.0)).fit(X).embedding_, atol=1e-9)

    def test_zero_data_are_refused(self):
        """Rows that are zero in feature space carry no entropy, which is said."""
        with pytest.raises(ValueError, match="no axis carries entropy"):
            KernelECA(1, kernel="linear").fit(np.zeros((5, 2)))

    def test_axes_of_rounding_are_not_entropy(self, rng):
        """Centred rows under the linear kernel carry no entropy, which is said."""
        X = rng.standard_normal((200, 3))
        with pytest.raises(ValueError, match="no axis carries entropy"):
            KernelECA(2, kernel="linear").fit(X - X.mean(axis=0))

    def test_there_is_no_centring(self):
        """Centring would remove all entropy, so the parameter does not exist."""
        with pytest.raises(TypeError, match="center"):
            KernelECA(2, center=True)

    def test_too_many_components_are_refused(self, X):
        """More axes than samples are refused with both numbers; None, which kernel PCA takes, is too."""
        with pytest.raises(ValueError, match=r"n_components=51 .*n_samples=50"):
            KernelECA(51).fit(X)
        with pytest.raises(ValueError, match="n_components=None"):
            KernelECA(None).fit(X)
