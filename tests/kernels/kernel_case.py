"""The checks every kernel must pass against its textbook definition, evaluated one pair of rows at a time.

A subclass of :class:`KernelCase` says how to ``create`` the kernel and how to ``evaluate`` it slowly, in float64 and
without the package; it inherits every test below.
"""

import pickle

import numpy as np
import pytest
from scipy.sparse import csr_array, csr_matrix, issparse
from sklearn.base import clone

import gramian
from gramian.kernels import Kernel


def rows(n=19, d=4, seed=0):
    """Reproducible rows with a duplicate and a zero row."""
    X = np.random.default_rng(seed).standard_normal((n, d))
    X[1] = X[0]
    X[2] = 0
    return X


def square(x, y):
    """‖x − y‖² from the differences."""
    return sum((a - b) ** 2 for a, b in zip(x, y, strict=True))


def city(x, y):
    """‖x − y‖₁ from the differences."""
    return sum(abs(a - b) for a, b in zip(x, y, strict=True))


class KernelCase:
    """Subclass, name it ``Test…``, write ``create`` and ``evaluate``."""

    single_accuracy = 2e-5  # in float32, relative to the largest value
    profiled = True  # whether the kernel is a function of one number per pair
    waves = False  # whether the kernel's frequencies are known
    shift_invariant = False  # whether rows may lie far from the origin

    def create(self) -> Kernel:
        """An unfitted kernel, the same every time."""
        raise NotImplementedError

    def evaluate(self, x, y):
        """k(x, y) for two float64 rows, from the definition."""
        raise NotImplementedError

    def data(self):
        """The rows that the kernel is fitted on."""
        return self.admissible(rows())

    def admissible(self, X):
        """Rows that the kernel takes."""
        return X

    # What the tests share ----------------------------------------------------------------------------------

    @pytest.fixture
    def X(self):
        return self.data()

    @pytest.fixture
    def Y(self):
        return self.admissible(rows(7, self.data().shape[1], seed=1))

    @pytest.fixture
    def kernel(self, X):
        return self.create().fit(X)

    def block(self, X, Y):
        """All pairs, one at a time."""
        return np.array([[self.evaluate(x, y) for y in Y.astype(np.float64)] for x in X.astype(np.float64)])

    def assert_close(self, actual, expected, accuracy=1e-11):
        np.testing.assert_allclose(actual, expected, rtol=0, atol=accuracy * max(1, np.abs(expected).max()))

    # Values ------------------------------------------------------------------------------------------------

    def test_block(self, kernel, X, Y):
        """The block is the formula, on X with itself and on X with Y."""
        self.assert_close(kernel(X), self.block(X, X))
        self.assert_close(kernel(X, Y), self.block(X, Y))
        assert kernel(X, Y).shape == (len(X), 7)

    def test_symmetric_with_exact_diagonal(self, kernel, X):
        """K(X) is symmetric to the last bit and its diagonal is diagonal(X), which is the formula."""
        K = kernel(X)
        np.testing.assert_array_equal(K, K.T)
        np.testing.assert_array_equal(np.diag(K), kernel.diagonal(X))
        self.assert_close(kernel.diagonal(X), [self.evaluate(x, x) for x in X])

    def test_gram_and_product(self, kernel, X, Y):
        """Grams, held or streamed, and products multiply like the block."""
        V = np.random.default_rng(2).standard_normal((7, 2))
        self.assert_close(kernel.product(X, Y, V), self.block(X, Y) @ V, 1e-10)
        self.assert_close(kernel.product(X, Y, V[:, 0]), self.block(X, Y) @ V[:, 0], 1e-10)
        expected = self.block(X, X)
        self.assert_close(kernel.gram(X) @ np.eye(len(X)), expected)
        with gramian.config(memory_budget=len(X) * 8):
            self.assert_close(kernel.gram(X) @ np.eye(len(X)), expected)

    def test_features(self, kernel, X):
        """F Fᵀ = K where there are finite features; elsewhere a refusal that names the approximation."""
        if not (kernel.has_features or kernel.has_many_features):
            with pytest.raises(TypeError, match=r"has no finite features; approximate it with gramian\.Nystroem"):
                kernel.features(X)
            return
        F = kernel.features(X)
        F = F.toarray() if issparse(F) else F
        self.assert_close(F @ F.T, self.block(X, X))

    def test_float32(self, kernel, X, Y):
        """Single precision in, single precision out, close to the formula in double."""
        X, Y = X.astype(np.float32), Y.astype(np.float32)
        for out, expected in ((kernel(X), self.block(X, X)), (kernel(X, Y), self.block(X, Y))):
            assert out.dtype == np.float32
            np.testing.assert_allclose(out, expected, rtol=0, atol=self.single_accuracy * np.abs(expected).max())
        assert kernel.diagonal(X).dtype == kernel.gram(X).dtype == np.float32
        assert kernel.product(X, Y, np.ones((7, 2))).dtype == np.float32

    @pytest.mark.parametrize("kind", [csr_array, csr_matrix])
    def test_sparse_rows(self, kind, X, Y):
        """Sparse rows give the dense result where they are accepted, and a clear refusal where not."""
        kernel = self.create()
        if not kernel.accepts_sparse:
            with pytest.raises(TypeError, match="dense data is required"):
                kernel.fit(kind(X))
            return
        X, Y = np.maximum(X, 0), np.maximum(Y, 0)
        kernel.fit(kind(X))
        self.assert_close(kernel(kind(X)), self.block(X, X))
        for left, right in ((kind(X), kind(Y)), (X, kind(Y)), (kind(X), Y)):
            out = kernel(left, right)
            assert isinstance(out, np.ndarray)
            self.assert_close(out, self.block(X, Y))
        self.assert_close(kernel.diagonal(kind(X)), [self.evaluate(x, x) for x in X])
        assert kernel(kind(X.astype(np.float32))).dtype == np.float32

    @pytest.mark.parametrize("dtype", [np.float32, np.float64])
    def test_far_from_the_origin(self, X, dtype):
        """Kernels of differences are accurate for rows at 10⁴ with distances of about 1, also in single precision."""
        if not self.shift_invariant:
            return
        X = (X + 1e4).astype(dtype)
        kernel = self.create().fit(X)
        expected = self.block(X, X)
        accuracy = 5e-6 if dtype == np.float32 else 1e-10
        self.assert_close(kernel(X), expected, accuracy)
        self.assert_close(kernel(X, X[:5]), expected[:, :5], accuracy)

    def test_definite_kernels_have_no_negative_eigenvalue(self, X):
        """A kernel that calls itself definite is positive semi-definite on every sample tried."""
        if not self.create().definite:
            return
        for seed in range(3):
            Z = self.admissible(rows(30, X.shape[1], seed))
            values = np.linalg.eigvalsh(self.create().fit(Z)(Z))
            assert values[0] > -1e-12 * values[-1]

    # The formula -------------------------------------------------------------------------------------------

    def test_profile_is_the_kernel(self, kernel, X):
        """Σ weight · f(β), β from the rows, is the kernel, where it has profiles; they say what is so."""
        profiles = kernel.profiles()
        assert (profiles is not None) == self.profiled
        if profiles is None:
            return
        total = 0.0
        for weight, profile in profiles:
            beta = X @ X.T if profile.kind == "inner" else np.array([[square(x, y) for y in X] for x in X])
            u = np.ones(len(X)) if profile.row_scales is None else profile.row_scales
            values = profile.value(np.outer(u, u) * beta)
            total = total + weight * values
            assert not profile.nonnegative or values.min() >= 0
            if profile.decreasing:
                assert profile.kind == "distance"
                assert np.all(np.diff(profile.value(np.linspace(0, 9, 50))) < 0)
        self.assert_close(total, self.block(X, X), 1e-10)

    def test_derivatives(self, kernel):
        """f′ and f″ are the central differences of f and f′; ``both`` is the two; arguments are kept."""
        for _, profile in kernel.profiles() or ():
            beta = np.linspace(0.3, 4, 23)
            kept = beta.copy()
            step = 1e-5
            for function, derivative in (
                (profile.value, profile.derivative),
                (profile.derivative, profile.second_derivative),
            ):
                expected = (function(beta + step) - function(beta - step)) / (2 * step)
                np.testing.assert_allclose(derivative(beta), expected, rtol=1e-6, atol=1e-7)
            np.testing.assert_array_equal(beta, kept)
            assert profile.constant_slope == (np.ptp(profile.derivative(beta)) < 1e-12)
            value, slope = profile.both(beta.copy())
            np.testing.assert_allclose(value, profile.value(kept), rtol=1e-13)
            np.testing.assert_allclose(slope, profile.derivative(kept), rtol=1e-13)
            out = np.empty_like(beta)
            assert profile.value(beta, out=out) is out
            assert profile.value(beta, out=beta) is beta
            np.testing.assert_array_equal(out, beta)

    def test_slopes_are_finite_at_zero(self, kernel):
        """f, f′ and f″ are finite for a pair of equal rows, as the dependence solver needs."""
        for _, profile in kernel.profiles() or ():
            for part in (*profile.both(np.zeros(3)), profile.second_derivative(np.zeros(3))):
                assert np.isfinite(part).all()

    def test_frequencies(self, kernel, X):
        """The mean of cos(ω·(x − y)) over random ω approximates k(x, y) / k(x, x), where frequencies are known."""
        rng = np.random.default_rng(0)
        found = kernel.frequencies(X.shape[1], 20_000, rng)
        assert (found is not None) == self.waves
        if found is None:
            return
        assert found.shape == (X.shape[1], 20_000)
        differences = X[:9, None] - X[None, :9]
        cosines = np.cos(differences @ found).mean(axis=2)
        expected = self.block(X[:9], X[:9]) / self.evaluate(X[0], X[0])
        np.testing.assert_allclose(cosines, expected, atol=4 / np.sqrt(20_000))

    # Weights -----------------------------------------------------------------------------------------------

    def test_weights_are_repetitions(self, X, Y):
        """A row of weight 2 is the row given twice, and one of weight 0 is not there."""
        weights = np.arange(len(X)) % 3
        weighted, repeated = (
            self.create().fit(X, sample_weight=weights),
            self.create().fit(np.repeat(X, weights, axis=0)),
        )
        self.assert_close(weighted(X, Y), repeated(X, Y), 1e-13)
        assert weighted.n_features_in_ == X.shape[1]
        np.testing.assert_array_equal(self.create().fit(X, sample_weight=np.ones(len(X)))(X), self.create().fit(X)(X))

    def test_bad_weights(self, X):
        """Weights that are negative, or not one per row, are refused by name."""
        for bad in (-np.ones(len(X)), np.ones(len(X) - 1), np.zeros(len(X))):
            with pytest.raises(ValueError, match="sample_weight"):
                self.create().fit(X, sample_weight=bad)

    # Conventions -------------------------------------------------------------------------------------------

    def test_clone_and_pickle(self, kernel, X):
        """A clone is unfitted and gives the same kernel once fitted; a pickled kernel answers alike."""
        copy = clone(kernel)
        assert repr(copy) == repr(self.create())
        assert not [name for name in vars(copy) if name.endswith("_")]
        np.testing.assert_array_equal(copy.fit(X)(X), kernel(X))
        if "lambda" not in repr(kernel) and "function" not in repr(kernel):
            np.testing.assert_array_equal(pickle.loads(pickle.dumps(kernel))(X), kernel(X))

    def test_bad_data(self, kernel, X):
        """Infinity, a flat array and another number of columns are refused, and NaN unless the kernel takes it."""
        assert kernel.n_features_in_ == X.shape[1]
        with pytest.raises(ValueError, match=f"expecting {X.shape[1]} features"):
            kernel(X[:, :-1])
        with pytest.raises(ValueError, match="Expected 2D array"):
            kernel(np.ones(4))
        for bad in (np.nan, np.inf):
            X = self.data()
            X[3, 1] = bad
            if np.isnan(bad) and kernel.accepts_nan:
                assert np.isfinite(kernel(X)).all()
                continue
            with pytest.raises(ValueError, match=r"contains NaN|contains infinity"):
                kernel(X)

    def test_data_are_not_changed(self, kernel, X, Y):
        """The kernel does not write into the rows it is given."""
        before = X.copy(), Y.copy()
        kernel(X), kernel(X, Y), kernel.diagonal(X), kernel.product(X, Y, np.ones((7, 1))), kernel.gram(X).degrees()
        np.testing.assert_array_equal(X, before[0])
        np.testing.assert_array_equal(Y, before[1])
