"""The network against its own theory and textbook steps: layers, widths, settings, answers."""

import pickle
import warnings

import numpy as np
import pytest
from scipy.spatial.distance import cdist
from sklearn.datasets import load_digits, load_iris, load_wine, make_blobs
from sklearn.exceptions import ConvergenceWarning
from sklearn.metrics import balanced_accuracy_score
from sklearn.model_selection import KFold
from sklearn.preprocessing import StandardScaler

from dependence.network.textbook_network import gaussian, label_kernel
from gramian.datasets import make_adversarial, make_random_labels, make_spirals
from gramian.dependence.network._layer_diagnostics import KernelClassSums
from gramian.dependence.network.dependence_network import DependenceNetwork
from gramian.dependence.network.label_bandwidth import label_width

# Labels that do not follow the rows put the first width on its bound, and the network says so.
quiet = pytest.mark.filterwarnings("ignore:the width of the first layer lies on the bound")


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
