"""Class sums against dense matrices, closed-form widths against their promise, and the corrected bound."""

import pickle

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.spatial.distance import cdist
from sklearn.datasets import load_iris
from sklearn.preprocessing import StandardScaler

import gramian
from gramian.configuration import MemoryBudgetError
from gramian.datasets import make_adversarial, make_random_labels
from gramian.dependence.network._layer_diagnostics import KernelClassSums
from gramian.dependence.network.class_average import ClassAverageChain, ClassSumLayer, two_layer_widths
from gramian.dependence.network.label_bandwidth import class_weights
from gramian.kernels import RBF


def gaussian(X, Y, width):
    return np.exp(-cdist(X, Y, "sqeuclidean") / (2 * width**2))


def relative_dependence(Z, codes, width):
    """Tr(Γ K) / H* by full matrices."""
    gamma = class_weights(np.bincount(codes))[np.ix_(codes, codes)]
    return float((gamma * gaussian(Z, Z, width)).sum() / gamma[codes[:, None] == codes].sum())


# One layer -----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("normalization", [None, "class", "scalar", "polar"])
def test_a_layer_is_kernel_sums_over_classes(normalization):
    """Z = K Y M, with M from Yᵀ K Y; "polar" directions are orthonormal and "class" ones have length one."""
    rng = np.random.default_rng(0)
    codes = np.repeat([0, 1, 2], [5, 8, 4])
    X, new = rng.standard_normal((17, 3)), rng.standard_normal((6, 3))
    layer = ClassSumLayer.of(X, np.bincount(codes), 1.2, normalization)
    K, Y = gaussian(X, X, 1.2), np.eye(3)[codes]
    within = Y.T @ K @ Y
    values, vectors = np.linalg.eigh(within)
    M = {
        None: np.eye(3),
        "class": np.diag(np.diagonal(within) ** -0.5),
        "scalar": np.eye(3) / np.sqrt(values[-1]),
        "polar": vectors @ np.diag(values**-0.5) @ vectors.T,
    }[normalization]
    np.testing.assert_allclose(layer(X), K @ Y @ M, atol=1e-9)
    np.testing.assert_allclose(layer(new), gaussian(new, X, 1.2) @ Y @ M, atol=1e-9)
    inner = layer.scaling.T @ within @ layer.scaling  # WᵀW for W = Φᵀ Y M
    if normalization == "polar":
        np.testing.assert_allclose(inner, np.eye(3), atol=1e-9)
    if normalization == "class":
        np.testing.assert_allclose(np.diagonal(inner), 1, atol=1e-12)
    if normalization == "scalar":
        assert np.linalg.norm(inner, 2) == pytest.approx(1)


@pytest.mark.parametrize("k", [2, 4])
def test_ideal_limit_of_two_layers(k):
    """Where the first kernel is the identity, H/H* = 1 − exp(−1/(ζ σ₁²)); 0.917915 for ζ = 40, σ₁ = 0.1."""
    codes = np.repeat(np.arange(k), 80 // k)
    X = 100.0 * np.arange(80)[:, None]
    layer = ClassSumLayer.of(X, np.bincount(codes), 1e-3, None)
    output = layer(X) / np.sqrt(40)
    expected = 1 - np.exp(-1 / (40 * 0.1**2))
    assert expected == pytest.approx(0.917915, abs=1e-6)
    sums = KernelClassSums.of_kernel(RBF(width=0.1), output, codes)
    assert sums.hsic() / sums.ideal_hsic() == pytest.approx(expected, abs=1e-6)


# Two layers ----------------------------------------------------------------------------------------------------------


@given(st.integers(0, 2**20), st.integers(2, 4), st.integers(1, 4), st.sampled_from([0.5, 0.1, 0.01, 1e-4]))
@settings(max_examples=60, deadline=None)
def test_two_layers_reach_the_promised_dependence(seed, k, d, gap):
    """On any distinct rows and any labels with the sign condition, H/H* is at least 1 − gap."""
    rng = np.random.default_rng(seed)
    n = int(rng.integers(2 * k, 60))
    codes = np.sort(np.concatenate([np.arange(k), rng.integers(0, k, n - k)]))
    weights = class_weights(np.bincount(codes))
    if weights[~np.eye(k, dtype=bool)].max() >= 0:
        return
    X = rng.standard_normal((n, d))
    first, second = two_layer_widths(X, gap)
    output = gaussian(X, X, first) @ np.eye(k)[codes]
    assert relative_dependence(output, codes, second) >= 1 - gap
    np.testing.assert_allclose(ClassSumLayer.of(X, np.bincount(codes), first, None)(X), output, atol=1e-6)


@pytest.mark.parametrize("make", [make_adversarial, make_random_labels])
def test_two_layers_fit_labels_that_mean_nothing(make):
    """Adversarial and random labels are reached to one per cent."""
    X, y = make(random_state=0)
    first, second = two_layer_widths(X, 0.01)
    output = gaussian(X, X, first) @ np.eye(2)[y]
    assert relative_dependence(output, y, second) > 0.99


def test_two_layer_widths_follow_the_formula():
    """ε, σ₀ and σ₁ written out; equal rows and gaps outside (0, 1) are refused."""
    X = np.random.default_rng(1).standard_normal((20, 2))
    distances = cdist(X, X)
    least = distances[distances > 0].min()
    epsilon = min(0.5, 0.5 * (0.1 / np.log(2 / 0.1)) ** 0.5)
    first, second = two_layer_widths(X, 0.1)
    assert first == pytest.approx(least / np.sqrt(2 * np.log(20 / epsilon)))
    assert second == pytest.approx((1 - epsilon) / np.sqrt(np.log(20)))
    with pytest.raises(ValueError, match="two rows of X are equal"):
        two_layer_widths(np.ones((3, 2)))
    for gap in (0.0, 1.0, -1.0, np.nan):
        with pytest.raises(ValueError, match=r"gap=.* must lie between 0 and 1"):
            two_layer_widths(X, gap)


def test_the_corrected_lower_bound_holds():
    """With u the largest kernel value between rows, Σ_S Γ e^(−N_g u²/σ₁²) − Σ_S^c |Γ| e^(−N_gh/σ₁²) never exceeds H."""
    rng = np.random.default_rng(3)
    for _ in range(60):
        n = int(rng.integers(4, 12))
        codes = np.sort(np.concatenate([[0, 0, 1, 1], rng.integers(0, 2, n - 4)]))
        counts = np.bincount(codes)
        X = rng.standard_normal((n, 2))
        gamma = class_weights(counts)[np.ix_(codes, codes)]
        for first in (0.05, 0.2, 0.8):
            K = gaussian(X, X, first)
            u = K[~np.eye(n, dtype=bool)].max()
            output = K @ np.eye(2)[codes]
            same = codes[:, None] == codes
            within = ((counts**2).sum() - counts**2 + (counts - 1) ** 2) / 2  # N_g for ζ = 1
            lifted = np.maximum(0, 1 - counts * u) ** 2
            apart = (lifted[:, None] + lifted) / 2  # N_gh
            for second in (0.1, 0.5, 2.0):
                H = (gamma * gaussian(output, output, second)).sum()
                near = np.exp(-within[codes][:, None] * u**2 / second**2) * np.ones((1, n))
                far = np.exp(-apart[np.ix_(codes, codes)] / second**2)
                bound = (gamma * near)[same].sum() - (np.abs(gamma) * far)[~same].sum()
                assert bound <= H + 1e-9


# The chain -----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("make", [make_adversarial, make_random_labels])
@pytest.mark.parametrize("normalization", ["class", "scalar", "polar"])
def test_dependence_rises_with_every_layer(make, normalization):
    """Strictly, by construction; and the alignment said to be reached is that of the output."""
    X, y = make(random_state=1)
    chain = ClassAverageChain(normalization=normalization).fit(X, y)
    assert chain.n_layers_ > 1
    assert (np.diff(chain.alignments_) > 0).all()
    output = chain.transform(X)
    again = KernelClassSums.of_kernel(RBF(width=chain.output_width_), output, y).alignment()
    assert again == pytest.approx(chain.alignments_[-1], rel=1e-6)
    assert chain.score(X, y) > 0.7


def test_the_chain_answers_for_new_rows():
    """Iris, half against half; the transform of a fitted row is the output it had."""
    X, y = load_iris(return_X_y=True)
    names = np.array(["setosa", "versicolor", "virginica"])[y]
    chain = ClassAverageChain(threshold=0.7).fit(X[::2], names[::2])
    assert chain.score(X[1::2], names[1::2]) > 0.9
    Z = StandardScaler().fit_transform(X[::2])
    for layer in chain.layers_:
        sums = gaussian(Z, layer.inputs, layer.width) @ np.repeat(np.eye(3), layer.counts, axis=0)
        Z = sums @ layer.scaling
    np.testing.assert_allclose(chain.transform(X[::2]), Z, atol=1e-7)
    back = pickle.loads(pickle.dumps(chain))
    np.testing.assert_array_equal(back.predict(X), chain.predict(X))


def test_a_stalled_chain_can_fall_back_on_two_layers():
    """Then the training labels are reached, by one layer of sums and the kernel on it."""
    X, y = make_adversarial(random_state=0)
    stalled = ClassAverageChain().fit(X, y)
    assert stalled.alignments_[-1] < 0.99
    rescued = ClassAverageChain(fallback="two_layer").fit(X, y)
    assert rescued.n_layers_ == 1
    assert rescued.alignments_[-1] > 0.99
    assert relative_dependence(rescued.transform(X), y, rescued.output_width_) >= 0.99
    assert rescued.score(X, y) == 1.0
    doubled, labels = np.vstack([X, X[:1]]), np.append(y, 1)
    with pytest.raises(ValueError, match="fallback='two_layer' is not possible: two rows of X are equal"):
        ClassAverageChain(fallback="two_layer").fit(doubled, labels)


def test_data_without_any_dependence_are_refused():
    """Equal rows, and more neighbours than samples, are named."""
    with pytest.raises(ValueError, match="all rows of X are equal"):
        ClassAverageChain().fit(np.ones((6, 2)), [0, 1, 0, 1, 0, 1])
    with pytest.raises(ValueError, match="n_neighbors=5 is more than the 4 samples"):
        ClassAverageChain().fit(np.arange(4.0)[:, None], [0, 0, 1, 1])
    # Every row is there once in each class, so that no kernel tells the classes apart.
    twins = np.repeat(np.arange(10.0), 2)[:, None]
    with pytest.raises(ValueError, match="no width of the series makes the classes of y depend on X"):
        ClassAverageChain().fit(twins, np.tile([0, 1], 10))


def test_very_many_classes_are_refused_in_time():
    """The matrix of class sums is named before it is made."""
    with gramian.config(memory_budget="1MB"), pytest.raises(MemoryBudgetError, match="600×300 matrix of class sums"):
        ClassSumLayer.of(np.zeros((600, 2)), np.full(300, 2), 1.0, None)


def test_units_of_any_size():
    """Columns are scaled whatever their size."""
    X, y = load_iris(return_X_y=True)
    plain, small = (ClassAverageChain(max_layers=2).fit(rows, y) for rows in (X, 1e-200 * X))
    np.testing.assert_allclose(small.alignments_, plain.alignments_, rtol=1e-6)
