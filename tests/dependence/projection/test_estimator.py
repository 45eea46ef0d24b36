"""What the projecting estimators share: scaled columns, kernels of projected rows, and the choice of landmarks."""

import numpy as np
import pytest
from scipy.spatial.distance import cdist
from sklearn.decomposition import PCA
from sklearn.preprocessing import StandardScaler

from dependence.projection.textbook_ism import orthonormal, projected, rows
from gramian.dependence.projection import _estimator
from gramian.dependence.projection._estimator import (
    Approximation,
    ColumnScaling,
    check_n_components,
    has_degrees,
    projected_kernel,
    projected_rows,
)
from gramian.kernels import RBF, Laplacian, Linear, Multiquadric, Polynomial, RelativeRBF, SquaredDistance
from gramian.landmarks import Nystroem


class TestColumns:
    def test_standardised_columns(self, wine):
        """As scikit-learn scales them, without the constant one; means and scales are those of all columns."""
        X = np.column_stack([wine[0], np.full(len(wine[0]), 7.0)])
        columns = ColumnScaling(X, standardize=True)
        np.testing.assert_allclose(columns.informative(X), StandardScaler().fit_transform(wine[0]), atol=1e-10)
        np.testing.assert_array_equal(columns.varying, [True] * 13 + [False])
        assert (columns.mean[-1], columns.scale[-1]) == (7.0, 1.0)

    def test_centred_columns(self, wine):
        X = wine[0]
        columns = ColumnScaling(X, standardize=False)
        np.testing.assert_allclose(columns.informative(X), X - X.mean(axis=0), atol=1e-9)
        np.testing.assert_array_equal(columns.scale, 1.0)

    @pytest.mark.parametrize("factor", [1e-200, 1e200])
    def test_numbers_whose_squares_are_out_of_range(self, rng, factor):
        X = rng.normal(size=(30, 2))
        found = ColumnScaling(factor * X, standardize=True).informative(factor * X)
        np.testing.assert_allclose(found, StandardScaler().fit_transform(X), rtol=1e-10)

    def test_whitened_columns_are_scaled_principal_components(self, wine):
        """Uncorrelated, of unit variance; a column that repeats another adds nothing."""
        X = np.column_stack([wine[0], 2 * wine[0][:, 0] + 1])
        columns = ColumnScaling(X, standardize=True, whiten=True)
        found = columns.informative(X)
        expected = PCA(13, whiten=True).fit_transform(StandardScaler().fit_transform(X)) * np.sqrt(178 / 177)
        np.testing.assert_allclose(np.abs(found), np.abs(expected), atol=1e-6)
        np.testing.assert_allclose(found.T @ found / len(X), np.eye(13), atol=1e-9)

    @pytest.mark.parametrize("whiten", [False, True])
    def test_weights_of_all_columns(self, rng, whiten):
        """``spread`` weights give the same projection, and ``lifted`` rows lead back to the scaled columns."""
        X = np.column_stack([rng.normal(size=(40, 3)) @ rng.normal(size=(3, 3)), np.ones(40)])
        columns = ColumnScaling(X, standardize=True, whiten=whiten)
        components = orthonormal(3, 3).T
        Z = columns.informative(X) @ components.T
        scaled = (X - columns.mean) / columns.scale
        np.testing.assert_allclose(scaled @ columns.spread(components).T, Z, atol=1e-9)
        np.testing.assert_allclose(Z @ columns.lifted(components), scaled, atol=1e-9)

    def test_nothing_that_varies(self):
        with pytest.raises(ValueError, match="all columns of X are constant"):
            ColumnScaling(np.full((5, 2), 0.1 + 0.2), standardize=True)


@pytest.mark.parametrize(
    ("given", "message"),
    [(4, "n_components=4 is more than the n_features=3"), (0, "n_components=0"), (1.5, "n_components=1.5")],
)
def test_numbers_of_components(given, message):
    assert check_n_components(None, 3) is None
    assert check_n_components(np.int64(3), 3) == 3
    with pytest.raises(ValueError, match=message):
        check_n_components(given, 3)


class TestKernelsOfProjectedRows:
    @pytest.mark.parametrize(
        "kernel",
        [RBF(), 0.5 * RBF(1.3), Polynomial(3), Multiquadric(0.7), RBF() + 0.2 * Polynomial(2), RelativeRBF(6)],
        ids=repr,
    )
    def test_numbers_learned_on_all_columns_are_kept(self, kernel):
        """The kernel of X W with the widths that were learned on X, evaluated by its formula."""
        X, W = rows(20), orthonormal()
        kernel = kernel.fit(X)
        Z = projected_rows(kernel, X, W.T)
        found = projected_kernel(kernel).fit(Z)(Z)
        np.testing.assert_allclose(found, projected(kernel, X, W), atol=1e-10)

    def test_squared_distances_have_features(self):
        """−‖x − y‖² and twice the inner product are the same after centring."""
        X, W = rows(20), orthonormal()
        Z = X @ W
        kernel = projected_kernel(SquaredDistance().fit(X)).fit(Z)
        H = np.eye(20) - 1 / 20
        np.testing.assert_allclose(H @ kernel(Z) @ H, -H @ cdist(Z, Z, "sqeuclidean") @ H, atol=1e-10)
        assert kernel.has_features

    def test_a_sum_with_relative_widths_is_refused(self):
        with pytest.raises(ValueError, match="adds a kernel to RelativeRBF"):
            projected_kernel((RelativeRBF(6) + RBF(1.0)).fit(rows(20)))

    def test_degrees(self):
        """Only kernels that are never negative have degrees."""
        assert has_degrees(RBF(1.0) + 0.5 * RBF(2.0))
        assert not has_degrees(Linear())
        assert not has_degrees(RBF(1.0) + Multiquadric(1.0))


class TestApproximation:
    @pytest.mark.parametrize(
        ("choice", "kernel", "n", "kind", "landmarks"),
        [
            ("auto", RBF(1.0), 100, None, False),
            ("auto", RBF(1.0), 101, "nystroem", True),
            ("auto", Linear(), 101, None, True),
            ("auto", Multiquadric(1.0), 101, None, True),
            (None, RBF(1.0), 101, None, False),
            ("fourier", RBF(1.0), 50, "fourier", True),
        ],
    )
    def test_what_is_chosen(self, monkeypatch, choice, kernel, n, kind, landmarks):
        """Landmarks beyond the limit, where the kernel allows them and there is a sum to approximate."""
        monkeypatch.setattr(_estimator, "EXACT_SAMPLES", 100)
        found = Approximation.of(choice, 512, kernel, n, 3)
        assert found == Approximation(kind, landmarks, min(512, n), 3)

    def test_fitted_kernels(self):
        """The kernel itself, or its landmarks where it has no features of its own."""
        X = rows(30)
        exact, few = Approximation(None, False, 10, 0), Approximation("nystroem", True, 10, 0)
        np.testing.assert_allclose(exact.fitted(RBF(1.0), X)(X), np.exp(-cdist(X, X, "sqeuclidean") / 2), atol=1e-10)
        assert isinstance(few.fitted(RBF(1.0), X), Nystroem)
        assert len(few.fitted(RBF(1.0), X).landmarks_) == 10
        for kernel in (Linear(), Multiquadric(1.0)):
            assert few.fitted(kernel, X) is kernel

    def test_other_kernels_are_refused(self):
        with pytest.raises(ValueError, match="is not a smooth function of an inner product or squared distance"):
            Approximation.of(None, 512, Laplacian(1.0), 10, 0)
