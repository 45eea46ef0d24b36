"""Every number of a layer's report against dense matrices and double loops; the theory's identities."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.spatial.distance import cdist

from gramian.dependence.network._layer_diagnostics import (
    KernelClassSums,
    LayerReport,
    class_scatter,
    report_table,
    scatter_ratio,
)
from gramian.dependence.network.label_bandwidth import class_weights
from gramian.kernels import RBF, Linear
from gramian.landmarks import FourierFeatures


@pytest.fixture
def rng():
    return np.random.default_rng(8)


@pytest.fixture
def labelled(rng):
    """Rows of three classes of unequal size, in no order."""
    codes = rng.permutation(np.repeat([0, 1, 2], [12, 9, 14]))
    return rng.standard_normal((35, 4)) + codes[:, None], codes


def centring(n):
    return np.eye(n) - 1 / n


def alignment(K, codes):
    """Normalised HSIC with Y Yᵀ, by full matrices."""
    H, KY = centring(len(K)), (codes[:, None] == codes).astype(float)
    centred, labels = H @ K @ H, H @ KY @ H
    return float((centred * labels).sum() / np.linalg.norm(centred) / np.linalg.norm(labels))


# Sums over classes ---------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("label_kernel", ["onehot", "balanced"])
def test_dependence_of_a_kernel_matrix(labelled, label_kernel):
    """H = Tr(Γ K) and H* = Tr(Γ Y Yᵀ) by full matrices."""
    Z, codes = labelled
    K = np.exp(-cdist(Z, Z, "sqeuclidean") / (2 * 1.5**2))
    gamma = class_weights(np.bincount(codes), label_kernel)[np.ix_(codes, codes)]
    sums = KernelClassSums.of_kernel(RBF(width=1.5), Z, codes)
    assert sums.hsic(label_kernel) == pytest.approx((gamma * K).sum(), rel=1e-10)
    assert sums.ideal_hsic(label_kernel) == pytest.approx((gamma * (codes[:, None] == codes)).sum(), rel=1e-10)


def test_alignment_of_a_kernel_matrix(labelled):
    """Hn is the cosine of the centred kernel matrices; in strips as in one piece."""
    Z, codes = labelled
    K = np.exp(-cdist(Z, Z, "sqeuclidean") / (2 * 1.5**2))
    assert KernelClassSums.of_kernel(RBF(width=1.5), Z, codes).alignment() == pytest.approx(alignment(K, codes))


def test_balanced_alignment_repeats_small_classes(rng):
    """It is the plain alignment of the data with every class repeated up to one size."""
    codes = np.repeat([0, 1, 2], [2, 3, 6])
    Z = rng.standard_normal((11, 2)) + codes[:, None]
    repeated = np.concatenate([np.repeat(np.flatnonzero(codes == g), times) for g, times in enumerate([3, 2, 1])])
    K = np.exp(-cdist(Z, Z, "sqeuclidean") / (2 * 1.5**2))
    expected = alignment(K[np.ix_(repeated, repeated)], codes[repeated])
    assert KernelClassSums.of_kernel(RBF(width=1.5), Z, codes).alignment("balanced") == pytest.approx(expected)
    assert KernelClassSums.of_features(Z, codes).alignment("balanced") == pytest.approx(
        alignment((Z @ Z.T)[np.ix_(repeated, repeated)], codes[repeated])
    )


def test_strips_of_rows_add_up(labelled, monkeypatch):
    """The pass over the kernel matrix does not depend on the length of its strips."""
    Z, codes = labelled
    whole = KernelClassSums.of_kernel(RBF(width=1.5), Z, codes)
    monkeypatch.setattr("gramian.grams.tiles.TILE_BYTES", 8 * 35 * 4)
    strips = KernelClassSums.of_kernel(RBF(width=1.5), Z, codes)
    np.testing.assert_allclose(strips.sums, whole.sums, rtol=1e-12)
    assert strips.norm == pytest.approx(whole.norm)
    assert strips.balanced_norm == pytest.approx(whole.balanced_norm)


@pytest.mark.parametrize("n_columns", [3, 60])
def test_features_are_their_linear_kernel(rng, n_columns):
    """The linear-time sums of features R are those of R Rᵀ, with fewer and with more columns than rows."""
    R, codes = rng.standard_normal((30, n_columns)), np.arange(30) % 4
    fast, slow = KernelClassSums.of_features(R, codes), KernelClassSums.of_kernel(Linear(), R, codes)
    np.testing.assert_allclose(fast.sums, slow.sums, rtol=1e-9)
    np.testing.assert_allclose(fast.diagonal, slow.diagonal, rtol=1e-12)
    assert fast.norm == pytest.approx(slow.norm, rel=1e-9)
    assert fast.balanced_norm == pytest.approx(slow.balanced_norm, rel=1e-9)
    assert fast.alignment() == pytest.approx(alignment(R @ R.T, codes), rel=1e-9)


@given(st.integers(0, 2**20), st.floats(0.05, 20), st.lists(st.integers(1, 8), min_size=2, max_size=4))
@settings(max_examples=40, deadline=None)
def test_alignment_lies_between_zero_and_one(seed, width, counts):
    """For every definite kernel; it does not change when rows are shuffled."""
    rng = np.random.default_rng(seed)
    codes = np.repeat(np.arange(len(counts)), counts)
    Z = rng.standard_normal((len(codes), 2))
    found = KernelClassSums.of_kernel(RBF(width=width), Z, codes).alignment()
    assert -1e-9 <= found <= 1 + 1e-9
    order = rng.permutation(len(codes))
    again = KernelClassSums.of_kernel(RBF(width=width), Z[order], codes[order]).alignment()
    assert again == pytest.approx(found, abs=1e-6)


def test_the_label_kernel_itself_has_alignment_one():
    """K = Y Yᵀ, and any multiple of it plus a constant."""
    codes = np.repeat([0, 1, 2], [3, 7, 4])
    for R in (np.eye(3)[codes], np.hstack([2 * np.eye(3)[codes], np.ones((14, 1))])):
        assert KernelClassSums.of_features(R, codes).alignment() == pytest.approx(1.0)


def test_random_features_stay_below_one_for_many_classes():
    """Even at perfect geometry m waves reach about 1 / √(1 + k/m): 20 classes, 300 features end near 0.97."""
    codes = np.repeat(np.arange(20), 15)
    Z = 10.0 * np.eye(20)[codes]
    assert KernelClassSums.of_kernel(RBF(width=1.0), Z, codes).alignment() == pytest.approx(1.0, abs=1e-6)
    waves = [FourierFeatures(300, kernel=RBF(1.0), random_state=seed).fit(Z).features(Z) for seed in range(5)]
    found = np.mean([KernelClassSums.of_features(R, codes).alignment() for R in waves])
    assert found == pytest.approx(1 / np.sqrt(1 + 20 / 300), abs=0.01)
    assert found < 0.99


# Ratios and geometry -------------------------------------------------------------------------------------------------


def test_ratios_by_double_loops(labelled):
    """C over pairs of different and of equal classes by means and sums, T by squared distances, pairs i = i counted."""
    Z, codes = labelled
    K = np.exp(-cdist(Z, Z, "sqeuclidean") / (2 * 1.5**2))
    within, between, inner, outer, n_inner, n_outer = 0.0, 0.0, 0.0, 0.0, 0, 0
    for i in range(len(Z)):
        for j in range(len(Z)):
            if codes[i] == codes[j]:
                inner, n_inner = inner + K[i, j], n_inner + 1
                within += np.sum((Z[i] - Z[j]) ** 2)
            else:
                outer, n_outer = outer + K[i, j], n_outer + 1
                between += np.sum((Z[i] - Z[j]) ** 2)
    sums = KernelClassSums.of_kernel(RBF(width=1.5), Z, codes)
    assert sums.cosine_ratio() == pytest.approx((outer / n_outer) / (inner / n_inner))
    assert sums.cosine_ratio("sum") == pytest.approx(outer / inner)
    assert scatter_ratio(Z, codes) == pytest.approx(within / between)


def test_scatter_is_the_mean_square_around_class_means(labelled):
    """And zero when every class is one point, where T is zero too."""
    Z, codes = labelled
    squares = [np.sum((Z[codes == g] - Z[codes == g].mean(axis=0)) ** 2) for g in range(3)]
    assert class_scatter(Z, codes) == pytest.approx(sum(squares) / len(Z))
    points = np.array([[0.0, 1.0], [5.0, 2.0], [1.0, 9.0]])[codes]
    assert class_scatter(points, codes) == pytest.approx(0.0, abs=1e-12)
    assert scatter_ratio(points, codes) == pytest.approx(0.0, abs=1e-12)
    assert scatter_ratio(np.ones((35, 2)), codes) == np.inf


def test_geometry_of_class_means_in_feature_space(labelled):
    """Cosines around the mean of the class means, and scatter around them, from explicit features."""
    Z, codes = labelled
    R = Z - 0.3
    means = np.array([R[codes == g].mean(axis=0) for g in range(3)])
    centred = means - means.mean(axis=0)
    unit = centred / np.linalg.norm(centred, axis=1)[:, None]
    within = [np.mean(np.sum((R[codes == g] - means[g]) ** 2, axis=1)) for g in range(3)]
    for sums in (KernelClassSums.of_features(R, codes), KernelClassSums.of_kernel(Linear(), R, codes)):
        geometry = sums.mean_geometry()
        np.testing.assert_allclose(geometry.cosines, unit @ unit.T, atol=1e-9)
        np.testing.assert_allclose(geometry.within, within, rtol=1e-9)


@pytest.mark.parametrize("k", [2, 3, 7])
def test_orthogonal_classes_form_a_simplex(k):
    """One orthonormal point per class: cosines −1/(k − 1), no scatter, C zero, H equal to H*."""
    codes = np.repeat(np.arange(k), np.arange(2, k + 2))
    sums = KernelClassSums.of_features(np.eye(k)[codes], codes)
    expected = np.where(np.eye(k, dtype=bool), 1.0, -1 / (k - 1))
    np.testing.assert_allclose(sums.mean_geometry().cosines, expected, atol=1e-12)
    np.testing.assert_allclose(sums.mean_geometry().within, 0, atol=1e-12)
    assert sums.cosine_ratio() == 0
    assert sums.hsic() == pytest.approx(sums.ideal_hsic())


# Identities of the theory --------------------------------------------------------------------------------------------


def test_identities_of_the_solvers_surrogate(rng):
    """Σ Ĝ rᵢᵀWWᵀrⱼ − Σ Dᵢ‖Wᵀrᵢ‖² = Tr(WᵀRᵀ(Ĝ − D)RW) with the norm squared, and Σ Dᵢ = H/σ²."""
    R, codes, width = rng.standard_normal((25, 5)), np.arange(25) % 3, 1.3
    W = np.linalg.qr(rng.standard_normal((5, 2)))[0]
    gamma = class_weights(np.bincount(codes))[np.ix_(codes, codes)]
    Z = R @ W
    hat = gamma * np.exp(-cdist(Z, Z, "sqeuclidean") / (2 * width**2)) / width**2
    degrees = hat.sum(axis=1)
    surrogate = (hat * (Z @ Z.T)).sum() - degrees @ (Z**2).sum(axis=1)
    assert surrogate == pytest.approx(np.trace(W.T @ R.T @ (hat - np.diag(degrees)) @ R @ W))
    unsquared = (hat * (Z @ Z.T)).sum() - degrees @ np.linalg.norm(Z, axis=1)
    assert abs(surrogate - unsquared) > 1e-3
    hsic = KernelClassSums.of_kernel(RBF(width=width), Z, codes).hsic()
    assert degrees.sum() == pytest.approx(hsic / width**2, rel=1e-9)


def test_identity_of_weighted_differences(rng):
    """Σ Ψᵢⱼ (xᵢ − xⱼ)(xᵢ − xⱼ)ᵀ = 2 Xᵀ(D − Ψ)X for symmetric Ψ."""
    X, psi = rng.standard_normal((8, 3)), rng.standard_normal((8, 8))
    psi = psi + psi.T
    total = sum(psi[i, j] * np.outer(X[i] - X[j], X[i] - X[j]) for i in range(8) for j in range(8))
    np.testing.assert_allclose(total, 2 * X.T @ (np.diag(psi.sum(axis=1)) - psi) @ X, atol=1e-12)


# The table -----------------------------------------------------------------------------------------------------------


def test_the_table_has_one_line_per_layer():
    """Columns stand under their names."""
    report = LayerReport(0.5, 6, 1234.5, 0.87654, 0.99, 0.98, 0.0123, 0.045, 0.1, 0.2, 12)
    header, first, second = report_table([report, report]).splitlines()
    assert header.split() == ["layer", "width", "components", "H", "H/H*", "align", "T", "C", "steps"]
    assert first.split() == ["1", "0.5", "6", "1234", "0.877", "0.990", "0.012", "0.045", "12"]
    assert second.split()[0] == "2"
    assert len(header) == len(first)
