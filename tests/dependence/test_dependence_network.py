"""The network against its own theory and textbook steps: layers, widths, dependence, answers, refusals."""

import pickle
import warnings

import numpy as np
import pytest
from scipy.linalg import subspace_angles
from scipy.spatial.distance import cdist
from sklearn.datasets import load_digits, load_iris, load_wine, make_blobs
from sklearn.exceptions import ConvergenceWarning
from sklearn.metrics import balanced_accuracy_score
from sklearn.model_selection import KFold
from sklearn.preprocessing import StandardScaler

import gramian
from gramian.configuration import MemoryBudgetError
from gramian.datasets import make_adversarial, make_random_labels, make_spirals
from gramian.dependence.dependence_network import DependenceNetwork
from gramian.dependence.label_bandwidth import class_weights, label_width
from gramian.dependence.layer_diagnostics import KernelClassSums
from gramian.dependence.network_layers import (
    fit_feature_map,
    input_components,
    is_dead,
    objective_components,
    revive,
    smallest_distance,
    solve_projection,
)
from gramian.dependence.weights import PairWeights

# Labels that do not follow the rows put the first width on its bound, and the network says so.
quiet = pytest.mark.filterwarnings("ignore:the width of the first layer lies on the bound")


def gaussian(Z, width):
    return np.exp(-cdist(Z, Z, "sqeuclidean") / (2 * width**2))


def label_kernel(codes):
    """Γ by full matrices."""
    Y = np.eye(codes.max() + 1)[codes]
    centred = Y - Y.mean(axis=0)
    return centred @ centred.T


@pytest.fixture(scope="module")
def wine():
    return load_wine(return_X_y=True)


@pytest.fixture(scope="module")
def wine_network(wine):
    return DependenceNetwork(random_state=0).fit(*wine)


# One layer -----------------------------------------------------------------------------------------------------------


def test_gradient_and_starting_matrix_of_the_objective():
    """∇H = (2/σ²) Q W with Q = Rᵀ(Ĝ − D)R by finite differences; Q does not see the diagonal of K."""
    rng = np.random.default_rng(0)
    R, codes, width = rng.standard_normal((20, 4)), np.arange(20) % 3, 1.4
    gamma = label_kernel(codes)
    W = np.linalg.qr(rng.standard_normal((4, 2)))[0]

    def value(W):
        return (gamma * gaussian(R @ W, width)).sum()

    hat = gamma * gaussian(R @ W, width)
    Q = R.T @ (hat - np.diag(hat.sum(axis=1))) @ R
    numeric = np.zeros_like(W)
    for place in np.ndindex(W.shape):
        step = np.zeros_like(W)
        step[place] = 1e-5
        numeric[place] = (value(W + step) - value(W - step)) / 2e-5
    np.testing.assert_allclose(2 / width**2 * Q @ W, numeric, atol=1e-6)
    hollow = hat - np.diag(np.diagonal(hat))
    np.testing.assert_allclose(R.T @ (hollow - np.diag(hollow.sum(axis=1))) @ R, Q, atol=1e-12)
    # The start: Q₀ = RᵀΓR = Σ n_g² (μ_g − μ)(μ_g − μ)ᵀ, with n_g for the balanced kernel.
    counts, means = np.bincount(codes), np.array([R[codes == g].mean(axis=0) for g in range(3)]) - R.mean(axis=0)
    np.testing.assert_allclose(R.T @ gamma @ R, (means.T * counts**2) @ means, atol=1e-9)
    balanced = PairWeights.of_labels(codes, balanced=True).dense()
    np.testing.assert_allclose(R.T @ balanced @ R, (means.T * counts) @ means, atol=1e-9)


def test_a_projection_is_orthonormal_and_no_worse_than_its_start(wine):
    """WᵀW = I, H at least that of the spectral start; rotated rows rotate W and leave H."""
    X, y = StandardScaler().fit_transform(wine[0]), wine[1]
    weights, width = PairWeights.of_labels(y), label_width(X, y)
    W = solve_projection(X, weights, width, 2).components.T
    np.testing.assert_allclose(W.T @ W, np.eye(2), atol=1e-10)
    gamma = label_kernel(y)
    start = np.linalg.eigh(X.T @ gamma @ X)[1][:, -2:]
    found = (gamma * gaussian(X @ W, width)).sum()
    assert found >= (gamma * gaussian(X @ start, width)).sum()
    turn = np.linalg.qr(np.random.default_rng(0).standard_normal((13, 13)))[0]
    turned = solve_projection(X @ turn, weights, width, 2)
    rotated = (gamma * gaussian(X @ turn @ turned.components.T, width)).sum()
    assert rotated == pytest.approx(found, rel=1e-6)
    assert np.max(subspace_angles(turn @ turned.components.T, W)) < 1e-3


def test_a_wide_kernel_gives_supervised_pca(wine):
    """As the width grows W becomes the top eigenvectors of RᵀΓR (Barshan et al. 2011)."""
    X, y = StandardScaler().fit_transform(wine[0]), wine[1]
    result = solve_projection(X, PairWeights.of_labels(y), 1e4, 2, tol=0.01, max_iter=200)
    expected = np.linalg.eigh(X.T @ label_kernel(y) @ X)[1][:, -2:]
    assert np.cos(subspace_angles(result.components.T, expected)).min() > 1 - 1e-8


def test_a_dead_kernel_is_followed_up_to_a_factor():
    """Where all kernel values underflow, a step takes the eigenvectors of Q with exp(−(d² − d_min²)/(2σ²)) for K."""
    rng = np.random.default_rng(2)
    X, codes, width = rng.standard_normal((30, 6)), np.arange(30) % 2, 5e-3
    weights, gamma = PairWeights.of_labels(codes), label_kernel(codes)
    start = np.linalg.eigh(X.T @ gamma @ X)[1][:, -2:]
    squared = cdist(X @ start, X @ start, "sqeuclidean")
    off = ~np.eye(30, dtype=bool)
    assert np.exp(-squared[off] / (2 * width**2)).max() < 1e-80
    hat = np.where(off, gamma * np.exp(-(squared - squared[off].min()) / (2 * width**2)), 0.0)
    Q = X.T @ (hat - np.diag(hat.sum(axis=1))) @ X
    expected = np.linalg.eigh(Q)[1][:, -2:]
    with np.errstate(under="ignore", over="ignore"):
        found = revive(X, weights, width, start, n_steps=1)
    largest = np.linalg.eigvalsh(Q)
    assert largest[-2] - largest[-3] > 1e-9 * np.abs(largest).max() or largest[-2] < 1e-9 * np.abs(largest).max()
    assert found[:, 0] @ expected[:, -1] == pytest.approx(np.sign(found[:, 0] @ expected[:, -1]), abs=1e-6)
    W = solve_projection(X, weights, width, 2).components.T
    np.testing.assert_allclose(W.T @ W, np.eye(2), atol=1e-10)


def test_a_kernel_is_dead_when_no_two_rows_are_near():
    """exp(−d²/(2σ²)) below 1e-12 for all different rows; equal ones do not count, and one live pair is enough."""
    line = np.arange(700.0)[:, None]
    edge = 1 / np.sqrt(-2 * np.log(1e-12))
    assert smallest_distance(np.vstack([line, line[:5]])) == pytest.approx(1.0)
    assert is_dead(line, 0.99 * edge)
    assert is_dead(np.vstack([line, line]), 0.99 * edge)
    assert not is_dead(line, 1.01 * edge)
    assert not is_dead(np.vstack([line, [[600.5]]]), 0.99 * edge)
    assert not is_dead(np.zeros((4, 2)), 1.0)


@quiet
def test_three_samples_are_enough():
    """A first layer that sets them apart leaves nothing to climb in the next."""
    X = np.random.default_rng(20).normal(size=(3, 3)) + np.array([[0.0], [2.5], [0.0]])
    network = DependenceNetwork(n_features=30, max_layers=3, random_state=0).fit(X, [0, 1, 0])
    np.testing.assert_array_equal(network.predict(X), [0, 1, 0])


def test_taking_out_a_common_factor_keeps_the_eigenvectors():
    """exp(−(d² − d_min²)/(2σ²)) gives the matrix Q of the plain kernel up to a factor."""
    rng = np.random.default_rng(4)
    R, codes, width = rng.standard_normal((15, 3)), np.arange(15) % 2, 0.4
    gamma, squared = label_kernel(codes), cdist(R, R, "sqeuclidean")
    off = ~np.eye(15, dtype=bool)

    def matrix(K):
        hat = np.where(off, gamma * K, 0.0)
        return R.T @ (hat - np.diag(hat.sum(axis=1))) @ R

    least = squared[off].min()
    plain, shifted = matrix(np.exp(-squared / (2 * width**2))), matrix(np.exp(-(squared - least) / (2 * width**2)))
    np.testing.assert_allclose(shifted, plain * np.exp(least / (2 * width**2)), rtol=1e-10)


def test_number_of_components_of_an_input(wine):
    """Singular values, not squared and of the uncentred rows, summed to 90 %; at least 2k, at most the columns."""
    X = StandardScaler().fit_transform(wine[0])
    assert input_components(X, 0.9, 3) == 11
    assert input_components(X, 0.9, 6) == 12
    assert input_components(X, 0.9, 20) == 13
    assert input_components(X, 0.05, 2) == 4
    R = np.random.default_rng(0).standard_normal((30, 8)) + 3.0
    values = np.sqrt(np.linalg.eigvalsh(R.T @ R)[::-1])
    for kept in (0.3, 0.6, 0.9):
        shares = np.cumsum(values) / values.sum()
        assert input_components(R, kept, 1) == max(int(np.argmax(shares >= kept)) + 1, 2)


def test_number_of_components_of_the_objective(wine):
    """The positive eigenvalues of Q at the projection, summed to 90 %, by the full matrix."""
    X, y = StandardScaler().fit_transform(wine[0]), wine[1]
    weights, width = PairWeights.of_labels(y), label_width(X, y)
    projection = solve_projection(X, weights, width, 11)
    hat = label_kernel(y) * gaussian(X @ projection.components.T, width)
    values = np.linalg.eigvalsh(X.T @ (hat - np.diag(hat.sum(axis=1))) @ X)[::-1]
    positive = values[values > 0]
    for kept in (0.5, 0.9, 0.99):
        expected = int(np.argmax(np.cumsum(positive) >= kept * positive.sum())) + 1
        assert objective_components(X, weights, width, projection, kept) == expected


@pytest.mark.parametrize("kind", ["fourier", "orthogonal", "nystroem", "exact"])
def test_feature_maps_stand_for_the_kernel(kind):
    """R Rᵀ is the Gaussian kernel: within 5/√m for waves, exactly for all rows as landmarks."""
    Z = np.random.default_rng(0).standard_normal((60, 3))
    made = fit_feature_map(kind, Z, 1.5, 2000, seed=1)
    R = made.features(Z)
    error = np.abs(R @ R.T - gaussian(Z, 1.5)).max()
    assert error < (5 / np.sqrt(2000) if kind in ("fourier", "orthogonal") else 1e-8)
    np.testing.assert_allclose(np.linalg.norm(R, axis=1), 1, atol=1e-8)


# The network ---------------------------------------------------------------------------------------------------------


def test_every_number_of_the_report_is_what_it_says(wine, wine_network):
    """Width, components, H, H/H*, alignment, T and C, recomputed layer by layer from full matrices."""
    X, y = wine
    R = StandardScaler().fit_transform(X)
    gamma, same = label_kernel(y), y[:, None] == y
    H = np.eye(len(y)) - 1 / len(y)
    for place, report in enumerate(wine_network.report_):
        layer = wine_network.layers_[place]
        assert report.width == layer.width == wine_network.widths_[place]
        assert report.n_components == len(layer.components) == wine_network.n_components_[place]
        Z = R @ layer.components.T
        K = gaussian(Z, layer.width)
        assert report.hsic == pytest.approx((gamma * K).sum(), rel=1e-6)
        assert report.relative_hsic == pytest.approx((gamma * K).sum() / gamma[same].sum(), rel=1e-6)
        cosine = (gamma * K).sum() / np.linalg.norm(H @ K @ H) / np.linalg.norm(gamma)
        assert report.alignment == pytest.approx(cosine, rel=1e-6)
        squared = cdist(Z, Z, "sqeuclidean")
        assert report.scatter_ratio == pytest.approx(squared[same].sum() / squared[~same].sum(), rel=1e-6)
        assert report.cosine_ratio == pytest.approx(K[~same].mean() / K[same].mean(), rel=1e-6)
        np.testing.assert_allclose(wine_network.transform(X, place, "projection"), Z, atol=1e-8)
        np.testing.assert_allclose(wine_network.kernel_sequence(X)[place], K, atol=1e-7)
        R = layer.feature_map.transform(Z)
        np.testing.assert_allclose(wine_network.transform(X, place, "features"), R, atol=1e-8)
        assert report.feature_alignment == pytest.approx(KernelClassSums.of_features(R, y).alignment())
        # The width of a layer is the one that follows the labels best on its input.
        np.testing.assert_allclose(layer.components @ layer.components.T, np.eye(report.n_components), atol=1e-9)
    assert wine_network.widths_[0] == pytest.approx(label_width(StandardScaler().fit_transform(X), y))
    lines = wine_network.summary().splitlines()
    assert len(lines) == wine_network.n_layers_ + 1


def test_sizes_of_the_layers_on_wine(wine_network):
    """11 of 13 in the first layer, about 75 in the second, then at least two per class."""
    sizes = wine_network.n_components_
    assert sizes[0] == 11
    assert 70 <= sizes[1] <= 82
    assert (sizes[2:] >= 6).all()
    assert (sizes[2:] <= 9).all()


@quiet
@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize("name", ["wine", "iris", "random", "adversarial"])
def test_relative_dependence_does_not_fall(name, seed):
    """H/H* rises from layer to layer, whatever the labels."""
    X, y = {
        "wine": lambda: load_wine(return_X_y=True),
        "iris": lambda: load_iris(return_X_y=True),
        "random": lambda: make_random_labels(random_state=0),
        "adversarial": lambda: make_adversarial(random_state=0),
    }[name]()
    network = DependenceNetwork(random_state=seed).fit(X, y)
    sequence = [report.relative_hsic for report in network.report_]
    assert (np.diff(sequence) > -1e-3).all()
    assert network.n_layers_ > 1


@quiet
@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
@pytest.mark.parametrize("make", [make_random_labels, make_adversarial])
def test_labels_that_mean_nothing_are_fitted(make):
    """Every fold of random and adversarial labels ends with a normalised HSIC above 0.98; the width search is why."""
    X, y = make(random_state=0)
    for train, _ in KFold(10, shuffle=True, random_state=0).split(X):
        network = DependenceNetwork(random_state=0).fit(X[train], y[train])
        assert network.report_[-1].alignment > 0.98
        assert network.score(X[train], y[train]) > 0.95


def test_spirals_end_as_a_simplex():
    """Three arms: new points are classified, and the centred class means have cosines of −1/2."""
    X, y = make_spirals(450, random_state=0)
    network = DependenceNetwork(random_state=0).fit(X, y)
    new, labels = make_spirals(300, random_state=1)
    assert network.score(new, labels) > 0.97
    Z = network.transform(X, space="projection")
    sums = KernelClassSums.of_kernel(network.layers_[-1].kernel(), Z, y)
    cosines = sums.mean_geometry().cosines[np.triu_indices(3, 1)]
    np.testing.assert_allclose(cosines, -0.5, atol=0.05)


def test_wine_in_folds(wine):
    """At least 0.95 on new rows and 0.98 on the fitted ones."""
    X, y = wine
    scores = []
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        for train, test in KFold(4, shuffle=True, random_state=0).split(X):
            network = DependenceNetwork(random_state=0).fit(X[train], y[train])
            assert network.n_components_[0] in (10, 11)
            scores.append((network.score(X[test], y[test]), network.score(X[train], y[train])))
    new, fitted = np.mean(scores, axis=0)
    assert new >= 0.95
    assert fitted >= 0.98


def uneven_blobs(seed, gap=1.5):
    """Class 0 around the origin and two small classes side by side, 160/20/20, and 200 of each to test on."""
    rng = np.random.default_rng(seed)

    def draw(sizes):
        parts = [
            rng.standard_normal((sizes[0], 2)),
            [6, gap / 2] + 0.5 * rng.standard_normal((sizes[1], 2)),
            [6, -gap / 2] + 0.5 * rng.standard_normal((sizes[2], 2)),
        ]
        return np.vstack(parts), np.repeat([0, 1, 2], sizes)

    return *draw((160, 20, 20)), *draw((200, 200, 200))


def test_small_classes_need_the_balanced_kernel():
    """Two small classes side by side: the one-hot kernel warns and merges them, the balanced one keeps them apart."""
    gains = []
    for seed in range(3):
        X, y, new, labels = uneven_blobs(seed)
        scores = []
        for kernel in ("onehot", "balanced"):
            with warnings.catch_warnings(record=True) as caught:
                warnings.simplefilter("always")
                network = DependenceNetwork(label_kernel=kernel, max_layers=6, random_state=0).fit(X, y)
            said = [str(warning.message) for warning in caught if "label_kernel='balanced'" in str(warning.message)]
            assert len(said) == (kernel == "onehot")
            scores.append(balanced_accuracy_score(labels, network.predict(new)))
        gains.append(scores[1] - scores[0])
    assert np.mean(gains) > 0.1


# Settings ------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "changes",
    [
        {"feature_map": "orthogonal"},
        {"feature_map": "nystroem", "n_features": 60},
        {"feature_map": "exact"},
        {"width": "separation"},
        {"width": "median"},
        {"width": 1.5},
        {"width_search": "local"},
        {"width_search": "plateau"},
        {"n_components": 4},
        {"n_components": "objective_spectrum"},
        {"label_kernel": "balanced"},
        {"decision_space": "projection"},
        {"standardize": False},
        {"prune": True},
        {"enforce_monotone": True},
        {"max_samples": 80},
    ],
    ids=str,
)
@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
def test_every_setting_classifies(changes):
    """Three clear groups are told apart whatever is chosen."""
    X, y = make_blobs(150, centers=3, n_features=4, cluster_std=1.5, random_state=3)
    network = DependenceNetwork(max_layers=4, random_state=0, **changes).fit(X[:100], y[:100])
    assert network.score(X[100:], y[100:]) > 0.9
    if changes.get("n_components") == 4:
        assert set(network.n_components_) == {4}
    if changes.get("width") == 1.5:
        assert set(network.widths_) == {1.5}
    if changes.get("decision_space") == "projection":
        assert network.transform(X).shape == (150, network.n_components_[-1])


def test_widths_can_be_given_one_by_one(wine):
    """And then say how many layers there are."""
    network = DependenceNetwork(width=(3.0, 0.7), random_state=0).fit(*wine)
    np.testing.assert_array_equal(network.widths_, [3.0, 0.7])
    assert network.n_layers_ == 2


def test_exact_features_are_the_kernel_of_the_fitted_rows(wine):
    """With feature_map="exact" the features of layer l have the kernel matrix of layer l as inner products."""
    X, y = wine
    network = DependenceNetwork(feature_map="exact", max_layers=3, random_state=0).fit(X, y)
    for place, K in enumerate(network.kernel_sequence(X)):
        R = network.transform(X, place, "features")
        np.testing.assert_allclose(R @ R.T, K, atol=1e-8)
        assert network.report_[place].feature_alignment == pytest.approx(network.report_[place].alignment, rel=1e-6)


def test_monotone_layers_and_pruning(wine):
    """``enforce_monotone`` keeps H rising; ``prune`` ends at the highest normalised HSIC."""
    X, y = load_iris(return_X_y=True)
    whole = DependenceNetwork(random_state=1).fit(X, y)
    pruned = DependenceNetwork(prune=True, random_state=1).fit(X, y)
    alignments = [report.alignment for report in whole.report_]
    assert pruned.n_layers_ == int(np.argmax(alignments)) + 1
    assert pruned.class_means_.shape == (3, 300)
    rising = DependenceNetwork(enforce_monotone=True, random_state=1).fit(X, y)
    assert (np.diff([report.relative_hsic for report in rising.report_]) > 1e-6).all()


def test_training_stops_as_told(wine):
    """At the threshold, at the depth, or when layers bring nothing more."""
    assert DependenceNetwork(threshold=0.7, random_state=0).fit(*wine).n_layers_ == 1
    assert DependenceNetwork(threshold=1.0, max_layers=3, random_state=0).fit(*wine).n_layers_ == 3
    impatient = DependenceNetwork(threshold=1.0, patience=1, min_gain=0.5, max_layers=9, random_state=0).fit(*wine)
    assert impatient.n_layers_ == 3


def test_a_sample_of_rows_trains_the_layers_and_all_rows_place_the_means():
    """With ``max_samples`` the layers see that many rows; class means are those of all rows."""
    X, y = load_digits(return_X_y=True)
    network = DependenceNetwork(max_samples=300, max_layers=3, random_state=0).fit(X, y)
    R = network.transform(X)
    means = np.array([R[y == g].mean(axis=0) for g in range(10)])
    np.testing.assert_allclose(network.class_means_, means, atol=1e-9)
    assert network.score(X, y) > 0.85


# Answers -------------------------------------------------------------------------------------------------------------


def test_decisions_follow_the_nearest_class_mean(wine, wine_network):
    """Scores are −‖r − μ‖²; predictions their largest; probabilities their softmax over the temperature."""
    X, y = wine
    R = wine_network.transform(X)
    means = np.array([R[y == g].mean(axis=0) for g in range(3)])
    scores = -cdist(R, means, "sqeuclidean")
    np.testing.assert_allclose(wine_network.decision_function(X), scores, atol=1e-8)
    np.testing.assert_array_equal(wine_network.predict(X), scores.argmax(axis=1))
    raised = np.exp(scores / wine_network.temperature_)
    np.testing.assert_allclose(wine_network.predict_proba(X), raised / raised.sum(axis=1)[:, None], atol=1e-8)


def test_the_temperature_is_the_most_likely_one(wine, wine_network):
    """No other temperature explains the softened training labels better, and none is so low as to be certain."""
    X, y = wine
    scores, counts = wine_network.decision_function(X), np.bincount(y)
    own = (counts[y] + 1) / (counts[y] + 3)
    targets = np.where(np.eye(3, dtype=bool)[y], own[:, None], ((1 - own) / 2)[:, None])

    def loss(temperature):
        logits = scores / temperature
        return -(targets * (logits - np.log(np.exp(logits).sum(axis=1))[:, None])).sum()

    best = loss(wine_network.temperature_)
    assert all(loss(wine_network.temperature_ * factor) >= best for factor in (0.5, 0.9, 1.1, 2.0))
    assert wine_network.predict_proba(X).max() < 0.999


def test_two_classes_have_one_score_of_the_second(wine):
    """Its sign decides."""
    X, y = wine[0][wine[1] < 2], np.array(["red", "white"])[wine[1][wine[1] < 2]]
    network = DependenceNetwork(random_state=0).fit(X, y)
    score = network.decision_function(X)
    assert score.shape == (len(X),)
    np.testing.assert_array_equal(np.where(score > 0, "white", "red"), network.predict(X))
    np.testing.assert_array_equal(network.classes_, ["red", "white"])


def test_answers_do_not_depend_on_order_and_repeat(wine, wine_network):
    """New rows are answered one by one; a seed repeats the network, another changes it; pickling keeps it."""
    X, y = wine
    order = np.random.default_rng(0).permutation(len(X))
    np.testing.assert_array_equal(wine_network.predict(X)[order], wine_network.predict(X[order]))
    np.testing.assert_allclose(wine_network.transform(X[:1]), wine_network.transform(X)[:1], atol=1e-10)
    first, again, other = (DependenceNetwork(max_layers=2, random_state=seed).fit(X, y) for seed in (0, 0, 1))
    np.testing.assert_array_equal(again.decision_function(X), first.decision_function(X))
    assert not np.allclose(other.transform(X, 0), first.transform(X, 0))
    back = pickle.loads(pickle.dumps(wine_network))
    np.testing.assert_array_equal(back.decision_function(X), wine_network.decision_function(X))
    assert back.summary() == wine_network.summary()


def test_kernels_can_be_sorted_by_class(wine, wine_network):
    """With labels the rows come class by class, so that the matrix shows blocks."""
    X, y = wine
    shuffled = np.random.default_rng(1).permutation(len(X))
    plain = wine_network.kernel_sequence(X)[-1]
    sorted_by_class = wine_network.kernel_sequence(X[shuffled], y[shuffled])[-1]
    order = shuffled[np.argsort(y[shuffled], kind="stable")]
    np.testing.assert_allclose(sorted_by_class, plain[np.ix_(order, order)], atol=1e-9)


# Unusual data --------------------------------------------------------------------------------------------------------


def test_a_class_of_one_sample_is_kept():
    """It has a mean of its own and is found again."""
    X, y = make_blobs([30, 30, 1], random_state=0)
    network = DependenceNetwork(random_state=0).fit(X, y)
    assert network.class_means_.shape[0] == 3
    np.testing.assert_array_equal(network.predict(X[y == 2]), [2])
    assert network.predict_proba(X).shape == (61, 3)


def test_constant_columns_do_no_harm(wine):
    """They are scaled to zero and change nothing."""
    X, y = wine
    padded = np.column_stack([X, np.full(len(X), 7.0)])
    network = DependenceNetwork(random_state=0, max_layers=2).fit(padded, y)
    assert network.score(padded, y) > 0.95
    moved = padded + np.r_[np.zeros(13), 100.0]
    assert np.isfinite(network.transform(moved)).all()


def test_contradicting_rows_are_counted():
    """Equal rows of different classes keep H* out of reach; the warning says how many rows there are."""
    X, y = make_blobs(40, centers=2, random_state=0)
    X, y = np.vstack([X, X[:3]]), np.append(y, 1 - y[:3])
    with pytest.warns(UserWarning, match="6 rows of X equal a row of another class"):
        DependenceNetwork(random_state=0, max_layers=3).fit(X, y)


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
def test_labels_apart_from_the_rows_are_noticed():
    """The width of the first layer lies on its bound, and the network says what that means."""
    X, y = make_adversarial(random_state=0)
    with pytest.warns(UserWarning, match="y does not follow the distances between rows of X"):
        DependenceNetwork(random_state=0, max_layers=2).fit(X, y)


@pytest.mark.parametrize(
    ("X", "y", "message"),
    [
        (np.ones((6, 2)), [0, 1, 0, 1, 0, 1], "all rows of X are equal"),
        (np.arange(6.0)[:, None], ["a"] * 6, "y has one class only, .*a.*; pass labels of at least two classes"),
        (np.arange(6.0)[:, None], [0.1, 0.2, 0.3, 0.5, 0.7, 0.9], "Unknown label type"),
        (np.arange(6.0)[:, None], None, "requires y"),
        (np.array([[0.0], [np.nan], [1.0]]), [0, 1, 0], "NaN"),
        (np.arange(6.0)[:, None], [0, 1], "inconsistent numbers of samples"),
    ],
)
def test_data_that_cannot_be_learned_are_refused(X, y, message):
    """With what is wrong."""
    with pytest.raises(ValueError, match=message):
        DependenceNetwork().fit(X, y)


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"width": "narrow"}, "width='narrow' is not known; pass one of 'hsic', 'separation', 'median'"),
        ({"width": -1.0}, "width=-1.0 must be"),
        ({"width": ()}, r"width=\(\) must be"),
        ({"width": (1.0, 0.0)}, r"width=\(1.0, 0.0\) must be"),
        ({"n_components": "many"}, "n_components='many' is not known"),
        ({"n_components": 0}, "n_components=0 must be a whole number"),
        ({"spectrum_kept": 1.5}, r"spectrum_kept=1.5 must lie in \(0, 1\]"),
        ({"threshold": 0}, "threshold=0 must be"),
        ({"feature_map": "rff"}, "feature_map='rff' is not known"),
        ({"decision_space": "rkhs"}, "decision_space='rkhs' is not known"),
        ({"max_samples": 1}, "max_samples=1 must be a whole number >= 2"),
        ({"min_gain": -0.1}, "min_gain=-0.1 must be a finite number >= 0"),
    ],
    ids=str,
)
def test_settings_that_mean_nothing_are_refused(changes, message, wine):
    """By name, with what is allowed."""
    with pytest.raises(ValueError, match=message):
        DependenceNetwork(**changes).fit(*wine)


def test_layers_and_spaces_that_do_not_exist_are_refused(wine, wine_network):
    """Counted from both ends."""
    X, _ = wine
    n = wine_network.n_layers_
    np.testing.assert_array_equal(wine_network.transform(X, 0), wine_network.transform(X, -n))
    for layer in (n, -n - 1, 0.5):
        with pytest.raises(ValueError, match=f"is none of the n_layers_={n}"):
            wine_network.transform(X, layer)
    with pytest.raises(ValueError, match="space='rkhs' is not known; pass one of 'features', 'projection'"):
        wine_network.transform(X, space="rkhs")


def test_a_class_weight_table_decides_the_imbalance_warning():
    """No warning where every weight between classes is negative."""
    assert class_weights([10, 9, 8])[~np.eye(3, dtype=bool)].max() < 0
    X, y = make_blobs([20, 18, 16], random_state=0)
    DependenceNetwork(random_state=0, max_layers=1).fit(X, y)


def test_a_solver_that_is_stopped_says_so(wine):
    """Too few steps give a warning with the parameter to raise."""
    with pytest.warns(ConvergenceWarning, match="stopped at max_iter=1; raise max_iter or tol"):
        DependenceNetwork(max_iter=1, tol=1e-9, max_layers=2, random_state=0).fit(*wine)


@pytest.mark.filterwarnings("ignore:.* rows of X equal a row of another class")
@quiet
def test_rows_that_are_nearly_all_equal():
    """The few rows that differ train the layers, wherever they are."""
    X, y = np.zeros((6000, 3)), np.arange(6000) % 2
    X[:4] = np.vstack([np.eye(3), [1, 1, 0]])
    network = DependenceNetwork(random_state=0, max_samples=100, max_layers=1).fit(X, y)
    assert np.unique(network.transform(X[:5]), axis=0).shape == (5, 300)
    assert network.widths_[0] > 0


@pytest.mark.parametrize("factor", [1e-200, 1e200])
def test_units_of_any_size(wine, factor):
    """Scaled columns have no size; raw ones whose squares are out of range are refused."""
    X, y = wine
    plain, model = (DependenceNetwork(random_state=0, max_layers=1).fit(rows, y) for rows in (X, factor * X))
    np.testing.assert_array_equal(model.predict(factor * X), plain.predict(X))
    with pytest.raises(ValueError, match="out of range; pass standardize=True"):
        DependenceNetwork(standardize=False).fit(factor * X, y)


def test_many_classes_are_not_a_matrix():
    """Every class has a mean, but no square matrix of classes is made, and layers see max_samples rows."""
    rng = np.random.default_rng(0)
    X = np.repeat(rng.normal(size=(3000, 3)), 2, axis=0) + 1e-3 * rng.normal(size=(6000, 3))
    network = DependenceNetwork(random_state=0, max_samples=100, max_layers=1, n_features=50)
    with gramian.config(memory_budget="20MB"), warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)
        network.fit(X, np.arange(6000) // 2)
        with pytest.raises(MemoryBudgetError, match="6000 rows for 3000 classes"):
            network.predict(X)
        assert network.predict(X[:10]).shape == (10,)
    assert network.class_means_.shape == (3000, 50)
    assert np.isfinite(network.class_means_).all()


def test_classes_keep_their_type_and_are_named_plainly():
    """Labels as objects come back as objects; a single class is named without its array type."""
    X = np.arange(12.0).reshape(6, 2)
    network = DependenceNetwork(random_state=0, max_layers=1).fit(X, np.array([3, 3, 3, 7, 7, 7], dtype=object))
    assert network.classes_.dtype == object
    assert network.classes_.tolist() == [3, 7]
    with pytest.raises(ValueError, match="y has one class only, 5; pass"):
        DependenceNetwork().fit(X, np.full(6, 5))
    with pytest.raises(ValueError, match="Input y contains missing values"):
        DependenceNetwork().fit(X, np.array(["a", "b", None] * 2, dtype=object))
