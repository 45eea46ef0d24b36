"""The label kernel and the width search against dense textbook matrices, grids and finite differences."""

import warnings

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.spatial.distance import cdist
from sklearn.datasets import load_iris, load_wine
from sklearn.preprocessing import StandardScaler

import gramian
from gramian.configuration import MemoryBudgetError
from gramian.datasets import make_adversarial, make_random_labels
from gramian.dependence.network._labelled_samples import count_contradictions, stratified_rows, telling_rows
from gramian.dependence.network.label_bandwidth import (
    WidthCurve,
    best_width,
    class_weights,
    label_width,
    separation_weights,
)
from gramian.dependence.projection.weights import PairWeights

sizes = st.lists(st.integers(1, 12), min_size=2, max_size=6)


def dense_label_kernel(codes, balanced=False):
    """Γ = H K_Y H with the matrices written out."""
    Y = np.eye(codes.max() + 1)[codes]
    n = len(codes)
    H = np.eye(n) - 1 / n
    middle = np.diag(1 / Y.sum(axis=0)) if balanced else np.eye(Y.shape[1])
    return H @ Y @ middle @ Y.T @ H


def dependence(X, codes, width, balanced=False):
    """Tr(Γ K), by the full matrices."""
    K = np.exp(-cdist(X, X, "sqeuclidean") / (2 * width**2))
    return float((dense_label_kernel(codes, balanced) * K).sum())


def separation(X, codes, width):
    """Mean kernel value within classes minus that between them."""
    K = np.exp(-cdist(X, X, "sqeuclidean") / (2 * width**2))
    same = codes[:, None] == codes
    return float(K[same].mean() - K[~same].mean())


@pytest.fixture(scope="module")
def wine():
    X, y = load_wine(return_X_y=True)
    return StandardScaler().fit_transform(X), y


# The label kernel ----------------------------------------------------------------------------------------------------


@given(sizes, st.booleans())
@settings(max_examples=60, deadline=None)
def test_class_weights_are_the_centred_label_kernel(counts, balanced):
    """The closed form gives every entry of H K_Y H; rows sum to zero, the rank is k − 1, and S^c sums to −H*."""
    codes = np.repeat(np.arange(len(counts)), counts)
    weights = class_weights(np.array(counts), "balanced" if balanced else "onehot")
    expected = dense_label_kernel(codes, balanced)
    found = weights[np.ix_(codes, codes)]
    np.testing.assert_allclose(found, expected, atol=1e-12)
    np.testing.assert_allclose(PairWeights.of_labels(codes, balanced=balanced).dense(), expected, atol=1e-12)
    np.testing.assert_allclose(found.sum(axis=1), 0, atol=1e-10)
    assert np.linalg.matrix_rank(expected, tol=1e-9) == len(counts) - 1
    same = codes[:, None] == codes
    ideal = float(found[same].sum())
    assert found[~same].sum() == pytest.approx(-ideal, abs=1e-9)
    if balanced:
        assert ideal == pytest.approx(len(codes) - float(np.sum(np.square(counts))) / len(codes))
    else:
        Y = np.eye(len(counts))[codes]
        assert ideal == pytest.approx(np.linalg.norm(Y.T @ (Y - Y.mean(axis=0))) ** 2, abs=1e-9)


@given(sizes)
@settings(max_examples=60, deadline=None)
def test_signs_of_the_label_kernel(counts):
    """Within classes positive; between a and b negative iff p_a + p_b > Σ p², and always so when balanced."""
    shares = np.array(counts) / sum(counts)
    off = ~np.eye(len(counts), dtype=bool)
    onehot, balanced = class_weights(counts), class_weights(counts, "balanced")
    assert (np.diagonal(onehot) > 0).all()
    assert (np.diagonal(balanced) > 0).all()
    assert (balanced[off] < 0).all()
    surplus = shares[:, None] + shares - shares @ shares
    clear = np.abs(surplus) > 1e-12
    np.testing.assert_array_equal(onehot[off & clear] < 0, surplus[off & clear] > 0)


def test_small_classes_are_better_merged_under_the_onehot_kernel():
    """80/10/10: the small classes attract each other with +0.46, and merging them raises Tr(Γ K) from 676 to 768."""
    codes = np.repeat([0, 1, 2], [80, 10, 10])
    gamma = dense_label_kernel(codes)
    assert class_weights([80, 10, 10])[1, 2] == pytest.approx(0.46)
    merged = np.minimum(codes, 1)
    assert (gamma * (codes[:, None] == codes)).sum() == pytest.approx(676)
    assert (gamma * (merged[:, None] == merged)).sum() == pytest.approx(768)
    balanced = dense_label_kernel(codes, balanced=True)
    assert (balanced * (codes[:, None] == codes)).sum() > (balanced * (merged[:, None] == merged)).sum()


# The curve -----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("label_kernel", ["onehot", "balanced"])
def test_the_curve_is_the_dependence_over_its_best(wine, label_kernel):
    """Height times H* is Tr(Γ K) by full matrices, and the slope is its derivative."""
    X, y = wine
    curve = WidthCurve.of(X, y, "hsic", label_kernel)
    ideal = float((dense_label_kernel(y, label_kernel == "balanced") * (y[:, None] == y)).sum())
    distances = cdist(X, X)
    assert curve.unit == pytest.approx(np.median(distances[np.triu_indices(len(X), 1)]))
    for width in (0.3, 1.0, 3.0, 20.0):
        place = np.log(width / curve.unit)
        height, slope = curve(place)
        assert height * ideal == pytest.approx(dependence(X, y, width, label_kernel == "balanced"), rel=1e-9)
        numeric = (curve(place + 1e-5)[0] - curve(place - 1e-5)[0]) / 2e-5
        assert slope == pytest.approx(numeric, abs=1e-8)
        # dH/dσ = Σ Γ K D² / σ³
        K = np.exp(-(distances**2) / (2 * width**2))
        direct = (dense_label_kernel(y, label_kernel == "balanced") * K * distances**2).sum() / width**3
        assert slope * ideal / width == pytest.approx(direct, rel=1e-8)


def test_the_separation_curve_is_the_difference_of_means(wine):
    """Its weights are 1/|S| within and −1/|S^c| between classes."""
    X, y = wine
    weights = separation_weights(np.bincount(y))
    K = np.exp(-cdist(X, X, "sqeuclidean") / (2 * 3.0**2))
    assert (weights[np.ix_(y, y)] * K).sum() == pytest.approx(separation(X, y, 3.0), rel=1e-10)


def test_dropping_pairs_of_a_sample_with_itself_moves_no_maximum(wine):
    """They add Tr Γ at every width."""
    X, y = wine
    gamma = dense_label_kernel(y)
    widths = np.geomspace(0.5, 50, 40)
    whole = np.array([dependence(X, y, width) for width in widths])
    without = whole - np.trace(gamma)
    off = gamma - np.diag(np.diagonal(gamma))
    direct = [(off * np.exp(-cdist(X, X, "sqeuclidean") / (2 * width**2))).sum() for width in widths]
    np.testing.assert_allclose(without, direct, atol=1e-6)
    assert whole.argmax() == np.argmax(direct)


# The search ----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("search", ["local", "global"])
@pytest.mark.parametrize("criterion", ["hsic", "separation"])
def test_the_width_is_a_maximum(wine, search, criterion):
    """No width of a fine grid does better on wine, whose curve has one peak."""
    X, y = wine
    width = label_width(X, y, criterion=criterion, search=search)
    height = dependence if criterion == "hsic" else separation
    best = height(X, y, width)
    assert all(height(X, y, other) <= best * (1 + 1e-9) for other in np.geomspace(0.5, 50, 200))


def test_both_criteria_agree_on_classes_of_equal_size():
    """For balanced classes −Q_sep is a multiple of Γ; for others the widths are close."""
    X, y = load_iris(return_X_y=True)
    assert label_width(X, y) == pytest.approx(label_width(X, y, criterion="separation"), rel=1e-3)
    uneven = np.concatenate([np.arange(50), np.arange(50, 70), np.arange(100, 120)])
    first, second = (label_width(X[uneven], y[uneven], criterion=name) for name in ("hsic", "separation"))
    assert first != second
    assert first == pytest.approx(second, rel=0.1)


def test_the_plateau_search_takes_the_largest_width_near_the_maximum():
    """Of a dense grid of widths it is the largest with 99 % of the height, to the spacing of the grid."""
    X, y = make_random_labels(60, random_state=0)
    width = label_width(X, y, search="plateau")
    median = np.median(cdist(X, X)[np.triu_indices(60, 1)])
    grid = median * np.geomspace(0.1, 100, 2000)
    heights = np.array([dependence(X, y, other) for other in grid])
    edge = grid[np.flatnonzero(heights >= 0.99 * heights.max())[-1]]
    assert edge / 1.1 < width <= edge * 1.001


@pytest.mark.parametrize("make", [make_adversarial, make_random_labels])
def test_the_lower_bound_keeps_the_width_off_the_plateau(make):
    """Where labels do not follow distances the width stays at or above a tenth of the median; a bound is named."""
    X, y = make(random_state=0)
    median = np.median(cdist(X, X)[np.triu_indices(len(X), 1)])
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        width = label_width(X, y)
    assert width >= 0.1 * median * (1 - 1e-9)
    on_bound = width <= 0.1 * median * (1 + 1e-5)
    assert [str(warning.message)[:9] for warning in caught] == (["the width"] if on_bound else [])
    with pytest.warns(UserWarning, match="lies on a bound of the search"):
        label_width(X, y, bounds=(5.0, 10.0))


@given(st.integers(0, 2**20), st.sampled_from([1e-60, 1e-3, 1e4, 1e60]))
@settings(max_examples=15, deadline=None)
def test_the_width_scales_with_the_data(seed, scale):
    """Rows scaled by a number, or moved, change the width by that number, or not at all."""
    rng = np.random.default_rng(seed)
    codes = np.arange(30) % 3
    X = rng.standard_normal((30, 2)) + 3 * codes[:, None]
    width = best_width(X, codes).width
    assert best_width(scale * X, codes).width == pytest.approx(scale * width, rel=1e-6)
    assert best_width(X + 5.0, codes).width == pytest.approx(width, rel=1e-6)


def test_a_sample_of_rows_finds_nearly_the_same_width(wine):
    """With fewer rows than there are, the width is close and depends on the seed alone."""
    X, y = wine
    whole = label_width(X, y, max_samples=None)
    assert label_width(X, y, max_samples=90, random_state=0) == pytest.approx(whole, rel=0.1)
    drawn = [label_width(X, y, max_samples=60, random_state=seed) for seed in (1, 1, 2)]
    assert drawn[0] == drawn[1] != drawn[2]


def test_equal_rows_do_not_matter_unless_all_are():
    """Many duplicates leave a zero median, so distances of different rows count; equal rows everywhere are refused."""
    X = np.repeat([[0.0], [1.0]], [30, 3], axis=0)
    codes = np.repeat([0, 1], [30, 3])
    assert best_width(X, codes).width > 0
    assert best_width(np.zeros((5, 2)), np.array([0, 1, 0, 1, 0])) is None
    with pytest.raises(ValueError, match="all rows of X are equal"):
        label_width(np.zeros((4, 1)), [0, 1, 0, 1])


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"criterion": "mi"}, "criterion='mi' is not known; pass one of 'hsic', 'separation'"),
        ({"search": "wide"}, "search='wide' is not known"),
        ({"label_kernel": "even"}, "label_kernel='even' is not known"),
        ({"bounds": (1.0, 0.5)}, r"bounds=\(1.0, 0.5\) must be two finite multiples"),
    ],
)
def test_unknown_settings_are_refused(changes, message):
    """By name, with what is allowed."""
    with pytest.raises(ValueError, match=message):
        label_width([[0.0], [1.0]], [0, 1], **changes)


def test_one_class_is_refused():
    """There is nothing to depend on."""
    with pytest.raises(ValueError, match="y has one class only"):
        label_width([[0.0], [1.0]], [1, 1])


# Rows ----------------------------------------------------------------------------------------------------------------


@given(sizes, st.integers(2, 40), st.integers(0, 100))
@settings(max_examples=60, deadline=None)
def test_stratified_rows_keep_the_shares(counts, n_rows, seed):
    """Each class gives its share, at least two if all have room; rows are sorted and none comes twice."""
    codes = np.random.default_rng(seed).permutation(np.repeat(np.arange(len(counts)), counts))
    rows = stratified_rows(codes, n_rows, np.random.default_rng(seed))
    assert (np.diff(rows) > 0).all()
    if len(codes) <= n_rows:
        np.testing.assert_array_equal(rows, np.arange(len(codes)))
        return
    drawn = np.bincount(codes[rows], minlength=len(counts))
    shares = np.array(counts) * n_rows / len(codes)
    assert (drawn <= np.maximum(shares + 0.5, 2)).all()
    assert len(rows) <= 2 * n_rows
    if (drawn > 0).all():
        assert (drawn >= np.minimum(counts, 2)).all()
        assert (drawn >= np.minimum(shares - 0.5, counts)).all()


def test_many_classes_do_not_draw_all_rows():
    """Two rows of each of a thousand classes are not drawn where a hundred are asked for; large classes go first."""
    codes = np.r_[np.repeat(np.arange(1000), 2), np.full(1000, 1000)]
    rows = stratified_rows(codes, 100, np.random.default_rng(0))
    drawn = np.bincount(codes[rows], minlength=1001)
    assert 100 <= len(rows) <= 101
    assert drawn[1000] == 33
    assert set(drawn[:1000]) == {0, 2}


@pytest.mark.parametrize("label_kernel", ["onehot", "balanced"])
def test_a_width_for_very_many_classes(label_kernel):
    """Classes that are not drawn do not count."""
    rng = np.random.default_rng(0)
    X = np.repeat(rng.normal(size=(1000, 2)), 2, axis=0) + 1e-3 * rng.normal(size=(2000, 2))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)
        width = label_width(X, np.repeat(np.arange(1000), 2), max_samples=50, label_kernel=label_kernel, random_state=0)
    assert 0 < width < 1


def test_rows_that_differ_are_drawn_if_there_are_any():
    """Where nearly all rows are equal, the draw is among the different rows of each class."""
    X = np.zeros((5000, 2))
    X[:2] = np.eye(2)
    codes = np.arange(5000) % 2
    rows = telling_rows(X, codes, 20, np.random.default_rng(0))
    np.testing.assert_array_equal(np.unique(np.column_stack([X, codes])[rows], axis=0).shape, (4, 3))
    assert len(rows) == 4


def test_too_many_rows_are_refused_before_they_are_compared():
    """With what they would take and which parameter to lower."""
    with gramian.config(memory_budget="1MB"), pytest.raises(MemoryBudgetError, match=r"1000 rows .*max_samples"):
        label_width(np.random.default_rng(0).random((1000, 2)), np.arange(1000) % 2, max_samples=None)


@pytest.mark.parametrize(
    ("y", "message"),
    [
        ([0, 1, None, 1], "Input y contains missing values"),
        (["a", "b", float("nan"), "b"], "Input y contains missing values"),
        ([1, "a", 1, "a"], "y mixes text with other types"),
    ],
)
def test_labels_that_are_none_are_refused(y, message):
    """Missing labels, and labels of two types, are named as such."""
    with pytest.raises(ValueError, match=message):
        label_width(np.eye(4), np.array(y, dtype=object))


def test_contradictions_are_counted_by_row():
    """Rows that equal a row of another class, both sides counted; equal rows of one class are none."""
    X = np.array([[0.0, 1.0], [0.0, 1.0], [2.0, 2.0], [2.0, 2.0], [3.0, 0.0], [0.0, 1.0]])
    assert count_contradictions(X, np.array([0, 0, 1, 1, 0, 0])) == 0
    assert count_contradictions(X, np.array([0, 1, 1, 1, 0, 0])) == 3
    assert count_contradictions(X, np.array([0, 1, 1, 0, 0, 0])) == 5
