"""ReweightedSVC against scikit-learn's SVC."""

import numpy as np
import pytest
from sklearn.datasets import make_moons
from sklearn.multiclass import OneVsOneClassifier
from sklearn.svm import SVC

from gramian.kernels import RBF, TL1, Linear, Multiquadric, Tanh
from gramian.lssvm import ReweightedSVC


def parabola():
    """150 rows, labels by a parabola, 8 % of them wrong."""
    rng = np.random.default_rng(2)
    X = rng.normal(size=(150, 2))
    y = np.where(X[:, 0] ** 2 + X[:, 1] > 0.5, 1, -1)
    y[rng.random(150) < 0.08] *= -1
    return X, y


def objective(f, beta, K, y, C):
    return 0.5 * beta @ K @ beta + C * np.maximum(0, 1 - y * f).sum()


@pytest.mark.parametrize("C", [0.3, 2.0, 20.0])
@pytest.mark.parametrize(
    "data", [parabola, lambda: make_moons(120, noise=0.3, random_state=0)], ids=["parabola", "moons"]
)
def test_objective_and_decisions_are_those_of_svc(C, data):
    """The objective is within 1e-4 and the decision function within 1e-3 of SVC run to 1e-10."""
    X, labels = data()
    y = np.where(labels == labels.max(), 1.0, -1.0)
    K = RBF(np.sqrt(0.5))(X)
    peer = SVC(C=C, gamma=1.0, tol=1e-10).fit(X, y)
    beta = np.zeros(len(y))
    beta[peer.support_] = peer.dual_coef_[0]
    model = ReweightedSVC(C, kernel=RBF(np.sqrt(0.5))).fit(X, y)
    expected = objective(peer.decision_function(X), beta, K, y, C)
    assert model.objective_ == pytest.approx(expected, rel=1e-4)
    np.testing.assert_allclose(model.decision_function(X), peer.decision_function(X), atol=1e-3)
    ours = np.zeros(len(y))
    ours[model.support_] = model.dual_coef_[0]
    assert model.objective_ == pytest.approx(objective(model.decision_function(X), ours, K, y, C), rel=1e-9)


@pytest.mark.parametrize("seed", [0, 1, 2])
@pytest.mark.parametrize("C", [0.1, 10.0, 100.0, 1e4])
@pytest.mark.parametrize(("kernel", "peer"), [(RBF(1.0), {"gamma": 0.5}), (Linear(), {"kernel": "linear"})], ids=str)
def test_separable_classes_are_separated_as_by_svc(kernel, peer, C, seed):
    """Where no row errs the corner of the hinge is all that holds the solution; SVC stops 1e-6 inside it."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(60, 2))
    y = np.where(np.sin(X[:, 0]) > 0, 1.0, -1.0)
    X = X + 2 * y[:, None]
    other = SVC(C=C, tol=1e-10, **peer).fit(X, y)
    beta = np.zeros(len(y))
    beta[other.support_] = other.dual_coef_[0]
    model = ReweightedSVC(C, kernel=kernel).fit(X, y)
    expected = objective(other.decision_function(X), beta, kernel(X, X), y, C)
    assert model.objective_ <= expected * (1 + 1e-4)
    np.testing.assert_allclose(model.decision_function(X), other.decision_function(X), atol=1e-3)


def test_the_linear_machine_is_svc_too():
    X, y = parabola()
    model = ReweightedSVC(1.0, kernel=Linear()).fit(X, y)
    peer = SVC(C=1.0, kernel="linear", tol=1e-10).fit(X, y)
    np.testing.assert_allclose(model.decision_function(X), peer.decision_function(X), atol=1e-3)


def test_weights_multiply_the_cost():
    X, y = parabola()
    counts = np.random.default_rng(0).integers(0, 3, len(y))
    weighted = ReweightedSVC(1.0, kernel=RBF(1.0)).fit(X, y, sample_weight=counts)
    repeated = ReweightedSVC(1.0, kernel=RBF(1.0)).fit(np.repeat(X, counts, axis=0), np.repeat(y, counts))
    np.testing.assert_allclose(weighted.decision_function(X), repeated.decision_function(X), atol=1e-4)


def test_three_classes_are_refused_with_the_remedy_which_works():
    X = np.random.default_rng(0).normal(size=(60, 2))
    y = np.digitize(X[:, 0], [-0.5, 0.5])
    with pytest.raises(ValueError, match="OneVsOneClassifier"):
        ReweightedSVC().fit(X, y)
    assert OneVsOneClassifier(ReweightedSVC()).fit(X, y).score(X, y) > 0.9


@pytest.mark.parametrize("name", ["C", "floor", "tol", "max_iter"])
def test_numbers_must_be_positive(name):
    X, y = parabola()
    with pytest.raises(ValueError, match=name):
        ReweightedSVC(**{name: 0}).fit(X, y)


@pytest.mark.parametrize("given", [False, True])
def test_indefinite_kernels_are_refused(given):
    """Along a negative eigenvector the objective falls without end; a kernel that is definite on the rows will do."""
    X = np.random.default_rng(0).standard_normal((30, 2))
    y = (X[:, 0] > 0).astype(int)
    kernel = Tanh(1.0, -1.0)
    with pytest.raises(ValueError, match=r"indefinite here .eigenvalue -.*LSSVMClassifier"):
        ReweightedSVC(kernel="precomputed" if given else kernel).fit(kernel(X) if given else X, y)
    for kernel in (TL1(50.0), Multiquadric(1.0)):  # definite at these rows, and where coefficients add up to zero
        peer = SVC(kernel="precomputed", tol=1e-10).fit(kernel(X), y)
        found = ReweightedSVC(kernel=kernel).fit(X, y).decision_function(X)
        np.testing.assert_allclose(found, peer.decision_function(kernel(X)), atol=1e-3)


def test_rows_of_both_classes_leave_nothing_to_learn():
    """f is zero everywhere, with no support vector, and new rows are answered."""
    X = np.random.default_rng(0).standard_normal((10, 2))
    model = ReweightedSVC(kernel=RBF(1.0)).fit(np.r_[X, X], np.repeat([0, 1], 10))
    np.testing.assert_allclose(model.decision_function(X), 0, atol=1e-9)
    assert len(model.support_) == model.dual_coef_.size == 0
    assert model.objective_ == pytest.approx(20)
