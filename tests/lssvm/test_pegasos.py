"""Pegasos against exact machines, its bound on the norm, and its intercepts."""

import numpy as np
import pytest
from scipy import sparse
from sklearn.svm import SVC, LinearSVC

from gramian import Nystroem, PegasosClassifier
from gramian.kernels import RBF
from gramian.lssvm.pegasos import best_intercept
from gramian.randomness import spawn

PENALTY = 1e-3


def shifted_classes(n=2000):
    """Two classes with a true intercept of 0.8, a few rows on the wrong side."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(n, 5))
    margin = X @ rng.normal(size=5) + 0.8 + 0.2 * rng.normal(size=n)
    return X, np.where(margin > 0, 1, -1)


def objective(X, y, w, b, penalty=PENALTY):
    return penalty / 2 * w @ w + np.maximum(0, 1 - y * (X @ w + b)).mean()


def exact(X, y):
    svc = SVC(C=1 / (PENALTY * len(X)), kernel="linear", tol=1e-8).fit(X, y)
    return objective(X, y, svc.coef_[0], svc.intercept_[0])


def fitted_objective(X, y, **changes):
    model = PegasosClassifier(penalty=PENALTY, max_iter=5000, random_state=0, **changes).fit(X, y)
    return objective(X, y, model.coef_[0], model.intercept_[0])


@pytest.mark.parametrize("average", ["tail", None])
def test_augmented_machine_is_within_five_percent_of_the_exact_objective(average):
    X, y = shifted_classes()
    assert fitted_objective(X, y, average=average) < 1.05 * exact(X, y)


def test_augmented_machine_is_within_five_percent_of_linear_svc_with_a_penalised_intercept():
    X, y = shifted_classes()
    model = PegasosClassifier(penalty=PENALTY, max_iter=5000, random_state=0).fit(X, y)
    peer = LinearSVC(C=1 / (PENALTY * len(X)), loss="hinge", max_iter=100_000, tol=1e-8).fit(X, y)
    ours, best = (
        objective(X, y, m.coef_[0], m.intercept_[0]) + PENALTY / 2 * m.intercept_[0] ** 2 for m in (model, peer)
    )
    assert best <= ours * (1 + 1e-6)
    assert ours < 1.05 * best


def test_least_squares_intercepts_are_as_bad_as_measured():
    """The lecture's rule and the mean of a batch about double the objective; no intercept is worse still."""
    X, y = shifted_classes()
    best = exact(X, y)
    lecture, mean, none = (fitted_objective(X, y, fit_intercept=rule) for rule in ("lecture", "batch_mean", False))
    assert 1.7 * best < lecture < 2.6 * best
    assert 1.7 * best < mean < 2.6 * best
    assert none > max(lecture, mean)
    assert fitted_objective(X, y, fit_intercept="optimal") < min(lecture, mean)


def test_best_intercept_has_the_least_hinge_loss():
    rng = np.random.default_rng(0)
    for n in (1, 2, 7, 50):
        values, v = rng.normal(size=n), rng.uniform(0.1, 2, size=n)
        y = rng.choice([-1.0, 1.0], size=n)
        y[0] = 1.0
        for weights in (None, v):
            loss = lambda b, w=weights, f=values, t=y: np.average(np.maximum(0, 1 - t * (f + b)), weights=w)  # noqa: E731
            tried = np.append(np.linspace(-5, 5, 2001), y - values)
            assert loss(best_intercept(values, y, weights)) <= min(map(loss, tried)) + 1e-12


def test_norm_stays_within_its_bound():
    """‖w‖ ≤ 1/√penalty after any number of steps, also in the first, largest ones."""
    X, y = shifted_classes(200)
    for steps in (1, 2, 3, 10, 100):
        for penalty in (1e-4, 1.0):
            model = PegasosClassifier(penalty=penalty, max_iter=steps, average=None, random_state=0).fit(X, y)
            w = np.append(model.coef_[0], model.intercept_)
            assert np.linalg.norm(w) <= (1 + 1e-12) / np.sqrt(penalty)
            assert model.n_iter_ == steps
    # Rows far from zero push the first step beyond the ball.
    free = PegasosClassifier(max_iter=1, project=False, average=None, random_state=0).fit(1e3 * X, y)
    assert np.linalg.norm(free.coef_) > 1e2


def test_steps_are_those_of_the_algorithm():
    """Three steps by hand on the same batches."""
    X, y = shifted_classes(50)
    model = PegasosClassifier(penalty=0.1, max_iter=3, batch_size=4, average=None, random_state=3).fit(X, y)
    rng = np.random.default_rng(3).spawn(2)[1]
    drawn = rng.integers(50, size=12).reshape(3, 4)
    F = np.c_[X, np.ones(50)]
    w = np.zeros(6)
    for t, batch in enumerate(drawn, start=1):
        wrong = batch[y[batch] * (F[batch] @ w) < 1]
        w = w - (0.1 * w - (y[wrong, None] * F[wrong]).sum(axis=0) / 4) / (0.1 * t)
        w *= min(1, 1 / (np.sqrt(0.1) * np.linalg.norm(w)))
    np.testing.assert_allclose(np.append(model.coef_[0], model.intercept_), w, atol=1e-12)


def test_prototypes_make_it_a_kernel_machine():
    X = np.random.default_rng(0).normal(size=(1000, 2))
    y = (X**2).sum(axis=1) > 1.2
    model = PegasosClassifier(50, kernel=RBF(1.0), random_state=0).fit(X, y)
    assert model.score(X, y) > 0.97
    assert len(model.prototypes_) == model.coef_.shape[1] <= 50
    landmarks = model.basis_.landmarks
    assert isinstance(landmarks, Nystroem)
    by_features = landmarks.transform(X) @ model.coef_[0] + model.intercept_[0]
    np.testing.assert_allclose(model.decision_function(X), by_features, atol=1e-6)


def test_several_classes_are_one_against_the_others():
    X, _ = shifted_classes(600)
    labels = np.array(["low", "middle", "high"])[np.digitize(X[:, 0], [-1, 1])]
    model = PegasosClassifier(40, kernel=RBF(2.0), random_state=0).fit(X, labels)
    values = model.decision_function(X)
    np.testing.assert_array_equal(model.predict(X), model.classes_[values.argmax(axis=1)])
    assert model.score(X, labels) > 0.85


def test_a_stream_comes_near_the_optimum():
    X, y = shifted_classes()
    stream = PegasosClassifier(penalty=PENALTY, random_state=0)
    for piece in np.array_split(np.tile(np.arange(2000), 50), 100):
        stream.partial_fit(X[piece], y[piece], classes=[-1, 1])
    assert stream.n_iter_ == 5000
    assert objective(X, y, stream.coef_[0], stream.intercept_[0]) < 1.05 * exact(X, y)
    with pytest.raises(ValueError, match="y has the class 5"):
        stream.partial_fit(X[:2], [5, 1])


def test_weights_say_how_often_rows_are_drawn():
    X, y = shifted_classes()
    half = np.arange(2000) < 1000
    y = np.where(half, y, -y)  # the other half says the opposite
    model = PegasosClassifier(penalty=PENALTY, max_iter=3000, random_state=0).fit(X, y, sample_weight=half)
    assert model.score(X[half], y[half]) > 0.95


def test_sparse_rows_answer_as_dense_ones():
    X, y = shifted_classes(300)
    X[np.abs(X) < 0.5] = 0
    for n_prototypes in (None, 20):
        dense = PegasosClassifier(n_prototypes, max_iter=500, random_state=0).fit(X, y).decision_function(X)
        found = PegasosClassifier(n_prototypes, max_iter=500, random_state=0).fit(sparse.csr_array(X), y)
        np.testing.assert_allclose(found.decision_function(sparse.csr_array(X)), dense, atol=1e-6)


def test_standing_still_ends_the_descent():
    X, y = shifted_classes(300)
    assert PegasosClassifier(tol=10.0, random_state=0).fit(X, y).n_iter_ < 1000


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({"penalty": 0}, "penalty=0 must be a positive number"),
        ({"fit_intercept": "some"}, "fit_intercept='some' is not known"),
        ({"average": "all"}, "average='all' is not known"),
        ({"kernel": RBF(1.0)}, "would be ignored, because n_prototypes=None is the linear machine"),
        ({"n_prototypes": 0}, "n_prototypes=0 must be"),
        ({"n_prototypes": 5, "kernel": "precomputed"}, "holds all similarities already"),
    ],
)
def test_bad_parameters_are_refused_by_name(changes, words):
    with pytest.raises(ValueError, match=words):
        PegasosClassifier(**changes).fit(*shifted_classes(30))


def test_a_stream_counts_rows_by_their_weights():
    """The sub-gradient of a batch is weighted, and divided by its rows also where the last batch is short."""
    rng = np.random.default_rng(0)
    X, weights = rng.normal(size=(25, 3)), rng.uniform(0.1, 2, 25)
    y = np.where(X[:, 0] > 0, 1, -1)
    settings = {"penalty": 0.1, "batch_size": 10, "fit_intercept": False, "average": None, "random_state": 0}
    model = PegasosClassifier(**settings).partial_fit(X, y, classes=[-1, 1], sample_weight=weights)
    seed = int(spawn(0, 2)[1].integers(2**31))
    order = np.random.default_rng((seed, 0)).permutation(25)
    w, share = np.zeros(3), weights / weights.mean()
    for t, batch in enumerate((order[:10], order[10:20], order[20:]), 1):
        pull = np.where(y[batch] * (X[batch] @ w) < 1, y[batch] * share[batch], 0.0)
        w = (1 - 1 / t) * w + X[batch].T @ pull / (0.1 * t * len(batch))
        w *= min(1, 1 / (np.sqrt(0.1) * np.linalg.norm(w)))
    np.testing.assert_allclose(model.coef_[0], w, rtol=1e-9)
