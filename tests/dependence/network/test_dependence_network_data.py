"""The network and unusual data: what it copes with, what it refuses."""

import warnings

import numpy as np
import pytest
from sklearn.datasets import make_blobs
from sklearn.exceptions import ConvergenceWarning

import gramian
from gramian.configuration import MemoryBudgetError
from gramian.datasets import make_adversarial
from gramian.dependence.network.dependence_network import DependenceNetwork
from gramian.dependence.network.label_bandwidth import class_weights

# Labels that do not follow the rows put the first width on its bound, and the network says so.
quiet = pytest.mark.filterwarnings("ignore:the width of the first layer lies on the bound")


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
        with pytest.raises(ValueError, match=f"is not one of the n_layers_={n}"):
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
