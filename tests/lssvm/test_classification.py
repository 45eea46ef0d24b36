"""LSSVMClassifier against the published system, regression on labels, and scikit-learn."""

import numpy as np
import pytest
from sklearn.datasets import load_iris, load_wine, make_moons
from sklearn.model_selection import train_test_split

from gramian.kernels import RBF
from gramian.lssvm import LSSVMClassifier, LSSVMRegressor
from gramian.lssvm.coding import CODINGS
from lssvm.textbook_lssvm import refits


def moons(n=100):
    return make_moons(n, noise=0.25, random_state=0)


def test_equals_the_published_system_and_regression_on_labels():
    """[0 yᵀ; y Ω_y + I/γ] [b; a] = [0; 1] has α_i = a_i y_i and the same b."""
    X, labels = moons()
    y = 2.0 * labels - 1
    K, n = RBF(0.7)(X), len(y)
    A = np.block([[np.zeros((1, 1)), y[None]], [y[:, None], np.outer(y, y) * K + np.eye(n) / 5]])
    solution = np.linalg.solve(A, np.concatenate([[0.0], np.ones(n)]))
    model = LSSVMClassifier(RBF(0.7), regularization=5.0).fit(X, labels)
    regression = LSSVMRegressor(RBF(0.7), regularization=5.0).fit(X, y)
    np.testing.assert_allclose(model.dual_coef_, solution[1:] * y, rtol=1e-10, atol=1e-10)
    assert model.intercept_ == pytest.approx(solution[0], rel=1e-10)
    np.testing.assert_allclose(model.decision_function(X), regression.predict(X), rtol=1e-12, atol=1e-12)


def test_exchanging_the_labels_turns_the_sign():
    X, labels = moons()
    first, second = (LSSVMClassifier(RBF(0.7), regularization=5.0).fit(X, y) for y in (labels, 1 - labels))
    np.testing.assert_allclose(first.decision_function(X), -second.decision_function(X), rtol=1e-10, atol=1e-12)


def test_scores_left_out_are_those_of_refits():
    """loo_decision_ holds the score of every row from a fit without it."""
    X, labels = moons(50)
    model = LSSVMClassifier(RBF(0.7), regularization=5.0).fit(X, labels)
    y = 2.0 * labels - 1
    np.testing.assert_allclose(model.loo_decision_, y - refits(RBF(0.7)(X), y, 5.0), rtol=1e-8, atol=1e-10)


@pytest.mark.parametrize("coding", CODINGS)
@pytest.mark.parametrize("decoding", ["loss", "hamming"])
def test_all_codings_learn_three_classes(coding, decoding):
    """The largest score is the prediction, left-out accuracy is high, and probabilities add up to one."""
    X, y = load_iris(return_X_y=True)
    model = LSSVMClassifier(coding=coding, decoding=decoding).fit(X, y)
    np.testing.assert_array_equal(model.decision_function(X).argmax(axis=1), model.predict(X))
    assert (model.loo_decision_.argmax(axis=1) == y).mean() > 0.93
    np.testing.assert_allclose(model.predict_proba(X).sum(axis=1), 1)


def test_one_versus_one_trains_each_pair_on_its_rows():
    """A column of ovo is the machine of two classes alone."""
    X, y = load_iris(return_X_y=True)
    model = LSSVMClassifier(RBF(1.0), regularization=2.0, coding="ovo").fit(X, y)
    pair = y != 1
    alone = LSSVMRegressor(RBF(1.0), regularization=2.0).fit(X[pair], np.where(y[pair] == 0, 1.0, -1.0))
    np.testing.assert_allclose(model.dual_coef_[pair, 1], alone.dual_coef_, rtol=1e-9, atol=1e-9)
    assert (model.dual_coef_[~pair, 1] == 0).all()


@pytest.mark.parametrize("calibration", ["platt", "isotonic"])
def test_probabilities_are_calibrated_on_rows_left_out(calibration):
    """On new rows the Brier score is far below that of the class shares, 0.66."""
    X, y = load_wine(return_X_y=True)
    X, new, y, truth = train_test_split(X, y, test_size=0.4, random_state=0, stratify=y)
    model = LSSVMClassifier(calibration=calibration).fit(X, y)
    assert np.mean(np.sum((model.predict_proba(new) - np.eye(3)[truth]) ** 2, axis=1)) < 0.15


def test_balanced_weights_raise_the_rare_class():
    rng = np.random.default_rng(0)
    X = np.vstack([rng.normal(size=(180, 2)), rng.normal(size=(20, 2)) + 1.2])
    y = np.repeat([0, 1], [180, 20])
    plain, balanced = (
        LSSVMClassifier(RBF(1.0), regularization=1.0, class_weight=w).fit(X, y) for w in (None, "balanced")
    )
    assert balanced.predict(X[180:]).mean() > plain.predict(X[180:]).mean() + 0.3
    given = LSSVMClassifier(RBF(1.0), regularization=1.0, class_weight={0: 200 / 360, 1: 5.0}).fit(X, y)
    np.testing.assert_allclose(given.decision_function(X), balanced.decision_function(X))


def test_balanced_classes_count_rows_by_their_weights():
    """Each class has the same sum of weights in all."""
    X, y = moons()
    weights = np.random.default_rng(0).uniform(0.1, 2, len(y)) * np.where(y == 1, 3, 1)
    sums = np.bincount(y, weights)
    given = dict(enumerate(sums.sum() / (2 * sums)))
    scores = [
        LSSVMClassifier(RBF(1.0), regularization=1.0, class_weight=w).fit(X, y, weights).decision_function(X)
        for w in ("balanced", given)
    ]
    np.testing.assert_allclose(*scores, rtol=1e-9)


def test_names_of_classes_come_back():
    X, y = moons()
    names = np.array(["no", "yes"])[y]
    model = LSSVMClassifier().fit(X, names)
    assert set(model.predict(X)) == {"no", "yes"}
    assert model.score(X, names) > 0.85


@pytest.mark.parametrize(
    ("changes", "word"),
    [
        ({"coding": "all"}, "coding"),
        ({"decoding": "nearest"}, "decoding"),
        ({"coding": "moc", "decoding": "argmax"}, "argmax"),
        ({"class_weight": {7: 1.0}}, "class_weight"),
        ({"class_weight": {0: -1.0}}, "class_weight"),
        ({"regularization": 0.0}, "regularization"),
    ],
)
def test_what_means_nothing_is_refused_by_name(changes, word):
    X, y = moons()
    with pytest.raises(ValueError, match=word):
        LSSVMClassifier(**changes).fit(X, y)


def test_one_class_is_refused():
    X, y = moons()
    with pytest.raises(ValueError, match="one class"):
        LSSVMClassifier().fit(X, np.zeros_like(y))
    with pytest.raises(ValueError, match="one class"):
        LSSVMClassifier().fit(X, y, sample_weight=y)


@pytest.mark.parametrize("n_classes", [2, 3])
def test_left_out_probabilities_are_those_of_left_out_scores(n_classes):
    """Probability follows the score alike for fitted and for new rows; rows of weight 0 have none."""
    X, y = load_iris(return_X_y=True)
    X, y = X[y < n_classes], y[y < n_classes]
    weights = np.ones(len(y))
    weights[3] = 0
    model = LSSVMClassifier(RBF(2.0), regularization=5.0).fit(X, y, sample_weight=weights)
    found = model.loo_proba()
    assert np.isnan(found[3]).all()
    known = weights > 0
    np.testing.assert_allclose(found[known].sum(axis=1), 1)
    scores, new = model.loo_decision_[known], model.decision_function(X)
    if n_classes == 2:  # a monotone function of the score, the same for all rows
        every = np.concatenate([scores, new])
        shares = np.concatenate([found[known, 1], model.predict_proba(X)[:, 1]])
        assert (np.diff(shares[np.argsort(every)]) >= -1e-12).all()
    assert (found[known].argmax(axis=1) == y[known]).mean() > 0.9
