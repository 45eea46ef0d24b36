"""Pre-images: the fixed point of the Gaussian kernel and kernel ridge regression from scores to rows."""

import tracemalloc

import numpy as np
import pytest
from scipy.sparse import csr_array
from scipy.spatial.distance import cdist

import gramian
from gramian import KernelPCA
from gramian.embedding.preimage import RidgePreimage, fixed_point, nearest_rows
from gramian.kernels import RBF, TL1, Cauchy, Kernel, Linear, Matern, Multiquadric, Polynomial


@pytest.fixture
def rng():
    return np.random.default_rng(3)


@pytest.fixture
def X(rng):
    return rng.standard_normal((40, 3))


@pytest.fixture
def circle(rng):
    """A noisy unit circle."""
    angles = rng.uniform(0, 2 * np.pi, 200)
    return np.column_stack([np.cos(angles), np.sin(angles)]) + 0.15 * rng.standard_normal((200, 2))


def off_the_circle(X):
    """Mean distance of the rows to the unit circle."""
    return np.abs(np.linalg.norm(X, axis=1) - 1).mean()


class TestFixedPoint:
    @pytest.mark.parametrize("center", [True, False])
    def test_untruncated_projection_of_a_fitted_row_is_that_row(self, center, X):
        """With all components kept, the pre-image of a fitted row's scores is the row."""
        model = KernelPCA(None, kernel=RBF(1.0), center=center, preimage="fixed_point").fit(X)
        np.testing.assert_allclose(model.inverse_transform(model.embedding_), X, atol=1e-4)

    def test_weights_do_not_move_the_untruncated_pre_image(self, rng, X):
        """The projection on all components is the identity whatever the weights of the samples."""
        model = KernelPCA(None, kernel=RBF(1.0), preimage="fixed_point").fit(X, sample_weight=rng.random(40) + 0.5)
        np.testing.assert_allclose(model.inverse_transform(model.embedding_), X, atol=1e-4)

    def test_denoises_a_circle(self, circle):
        """Projecting on a few components and going back moves noisy rows towards the circle."""
        model = KernelPCA(4, kernel=RBF(0.8), preimage="fixed_point").fit(circle)
        assert off_the_circle(model.inverse_transform(model.embedding_)) < 0.6 * off_the_circle(circle)

    def test_new_rows_are_denoised_too(self, rng, circle):
        """Rows that were not fitted move towards the circle as well."""
        model = KernelPCA(4, kernel=RBF(0.8), preimage="fixed_point").fit(circle)
        angles = rng.uniform(0, 2 * np.pi, 50)
        new = np.column_stack([np.cos(angles), np.sin(angles)]) * rng.uniform(0.75, 1.25, (50, 1))
        assert off_the_circle(model.inverse_transform(model.transform(new))) < 0.7 * off_the_circle(new)

    def test_the_result_is_a_fixed_point(self, rng, X):
        """The returned row satisfies z = Σ g_i k(z, x_i) x_i / Σ g_i k(z, x_i)."""
        G = rng.random((5, len(X)))
        Z = fixed_point(RBF(1.5), X, G, X[:5], tol=1e-12, max_iter=5000)
        weights = G * np.exp(-cdist(Z, X, "sqeuclidean") / (2 * 1.5**2))
        np.testing.assert_allclose(weights @ X / weights.sum(axis=1, keepdims=True), Z, atol=1e-9)

    @pytest.mark.parametrize(
        ("kernel", "formula"),
        [
            (RBF(1.5), lambda d: np.exp(-(d**2) / (2 * 1.5**2))),
            (Cauchy(1.5), lambda d: 1 / (1 + (d / 1.5) ** 2)),
            (Matern(2.0, smoothness=2.5), lambda d: (1 + (s := 5**0.5 * d / 2) + s**2 / 3) * np.exp(-s)),
        ],
        ids=lambda part: str(part) if isinstance(part, Kernel) else "",
    )
    def test_the_result_maximises_the_similarity(self, kernel, formula, rng, X):
        """With positive coefficients no row nearby is more like Σ g_i φ(x_i) than the returned one."""
        G = rng.random((1, len(X)))
        z = fixed_point(kernel, X, G, X[:1], tol=1e-12, max_iter=5000)
        nearby = z + 0.05 * rng.standard_normal((200, 3))
        assert np.all(formula(cdist(nearby, X)) @ G[0] <= formula(cdist(z, X)) @ G[0])

    def test_a_vanishing_denominator_gives_the_start(self, X):
        """Coefficients of zero have no fixed point, so the first guess, the nearest fitted row, is returned."""
        np.testing.assert_array_equal(fixed_point(RBF(1.0), X, np.zeros((2, 40)), X[5:7]), X[5:7])

    def test_one_hopeless_row_does_not_disturb_the_others(self, rng, X):
        """Each row is solved for itself."""
        G = rng.random((3, 40))
        alone = fixed_point(RBF(1.0), X, G, X[:3])
        G[1] = 0
        together = fixed_point(RBF(1.0), X, G, X[:3])
        np.testing.assert_allclose(together[[0, 2]], alone[[0, 2]], atol=1e-10)

    def test_single_precision_stays_single(self, X):
        """float32 rows and scores give float32 pre-images."""
        model = KernelPCA(3, kernel=RBF(1.0), preimage="fixed_point").fit(X.astype(np.float32))
        assert model.inverse_transform(model.embedding_).dtype == np.float32

    @pytest.mark.parametrize(
        "kernel", [Linear(), Polynomial(2), "laplacian", Matern(smoothness=0.5), Multiquadric()], ids=str
    )
    def test_other_kernels_are_refused(self, kernel, X):
        """The fixed point is a property of smooth kernels of the distance; others are sent to ridge."""
        with pytest.raises(ValueError, match=r"preimage='fixed_point'.*'rbf'.*'ridge'"):
            KernelPCA(2, kernel=kernel, preimage="fixed_point").fit(X)


class TestRidge:
    def test_equals_kernel_ridge_regression(self, rng, X):
        """With all rows as landmarks this is kernel ridge regression of the centred rows on the scores."""
        scores = rng.standard_normal((40, 4))
        ridge = RidgePreimage(scores, X, 1e-2, n_landmarks=40)
        width = ridge.map.kernel_.width_
        K = np.exp(-cdist(scores, scores, "sqeuclidean") / (2 * width**2))
        new = rng.standard_normal((9, 4))
        K_new = np.exp(-cdist(new, scores, "sqeuclidean") / (2 * width**2))
        penalty = 1e-2 * np.trace(K) / len(ridge.map.landmarks_)
        expected = K_new @ np.linalg.solve(K + penalty * np.eye(40), X - X.mean(axis=0)) + X.mean(axis=0)
        np.testing.assert_allclose(ridge(new), expected, atol=1e-8)

    def test_few_landmarks_regress_on_their_features(self, rng, X):
        """With fewer landmarks this is ridge regression on their features, scaled by the mean square of a feature."""
        scores = rng.standard_normal((40, 4))
        ridge = RidgePreimage(scores, X, 1e-2, n_landmarks=8)
        F = ridge.map.transform(scores)
        assert F.shape[1] == 8
        penalty = 1e-2 * (F**2).sum(axis=0).mean()
        weights = np.linalg.solve(F.T @ F + penalty * np.eye(8), F.T @ (X - X.mean(axis=0)))
        np.testing.assert_allclose(ridge(scores), F @ weights + X.mean(axis=0), atol=1e-9)

    @pytest.mark.parametrize("kernel", [RBF(2.0), "linear", TL1(radius=8.0)], ids=str)
    def test_fitted_rows_come_back(self, kernel, X):
        """For any kernel whose scores tell the rows apart a small ridge nearly returns the fitted rows."""
        model = KernelPCA(3, kernel=kernel, preimage="ridge", ridge=1e-6).fit(X)
        error = np.mean((model.inverse_transform(model.embedding_) - X) ** 2)
        assert error < 0.05 * X.var()

    def test_denoises_a_circle(self, circle):
        """Regression from a few scores moves noisy rows towards the circle."""
        model = KernelPCA(2, kernel=RBF(0.8), preimage="ridge").fit(circle)
        assert off_the_circle(model.inverse_transform(model.embedding_)) < 0.8 * off_the_circle(circle)

    def test_repeats(self, X):
        """Two fits give the same pre-images, landmarks included."""
        first, second = (
            model.inverse_transform(model.embedding_)
            for model in (KernelPCA(2, preimage="ridge").fit(X) for _ in range(2))
        )
        np.testing.assert_array_equal(first, second)

    def test_single_precision_stays_single(self, X):
        """float32 rows and scores give float32 pre-images."""
        model = KernelPCA(3, preimage="ridge").fit(X.astype(np.float32))
        assert model.inverse_transform(model.embedding_).dtype == np.float32


class TestRefusals:
    @pytest.mark.parametrize("preimage", ["ridge", "fixed_point"])
    def test_rows_are_needed(self, preimage, X):
        """A precomputed matrix and sparse rows have no pre-images, which ``fit`` says."""
        with pytest.raises(ValueError, match=rf"preimage='{preimage}' needs dense samples"):
            KernelPCA(2, kernel="precomputed", preimage=preimage).fit(X @ X.T)
        with pytest.raises(ValueError, match=rf"preimage='{preimage}' needs dense samples"):
            KernelPCA(2, preimage=preimage).fit(csr_array(X))

    def test_the_inverse_must_be_asked_for(self, X):
        """Without ``preimage`` the rows are not kept and the error says what to pass."""
        model = KernelPCA(2).fit(X)
        assert not hasattr(model, "X_fit_")
        with pytest.raises(ValueError, match="preimage='ridge'"):
            model.inverse_transform(model.embedding_)

    def test_scores_must_have_the_models_columns(self, X):
        """Scores of another width are refused with both numbers."""
        model = KernelPCA(2, preimage="ridge").fit(X)
        with pytest.raises(ValueError, match=r"3 columns.*n_components_=2"):
            model.inverse_transform(np.zeros((4, 3)))

    def test_scores_must_be_finite(self, X):
        """NaN among the scores is refused by name."""
        model = KernelPCA(2, preimage="fixed_point").fit(X)
        with pytest.raises(ValueError, match=r"Z contains NaN"):
            model.inverse_transform(np.full((1, 2), np.nan))


def test_nearest_rows_are_the_nearest(rng):
    """The start of an inverse is the fitted sample whose scores are closest."""
    scores, new = rng.standard_normal((30, 3)), rng.standard_normal((8, 3))
    np.testing.assert_array_equal(nearest_rows(scores, new), cdist(new, scores).argmin(axis=1))


def test_pre_images_are_found_in_strips(rng):
    """The pre-images of n scores need no n×n array."""
    X = rng.standard_normal((1500, 2))
    model = KernelPCA(3, kernel=RBF(1.0), preimage="fixed_point").fit(X)
    tracemalloc.start()
    with gramian.config(memory_budget="4MB"):
        model.inverse_transform(model.embedding_)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < 1500 * 1500 * 8
