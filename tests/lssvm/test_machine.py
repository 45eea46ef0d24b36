"""What regression and classification share."""

import numpy as np
import pytest

import gramian
from gramian import Nystroem
from gramian.kernels import RBF, TL1
from gramian.lssvm import LSSVMClassifier, LSSVMRegressor
from lssvm.textbook_lssvm import problem


@pytest.mark.parametrize("model", [LSSVMRegressor(robust="huber"), LSSVMRegressor(TL1(2.0)), LSSVMRegressor("linear")])
def test_a_loaded_model_still_gives_residuals_deviations_and_intervals(model, tmp_path):
    """The factor is not saved; it is computed anew from the rows."""
    X, y = problem(40)
    model.fit(X, y)
    expected = model.loo_residuals(), model.predict_interval(X), model.predict(X, return_std=True)[1]
    gramian.save(model, tmp_path / "model.gramian")
    back = gramian.load(tmp_path / "model.gramian")
    assert back._solution is None
    found = back.loo_residuals(), back.predict_interval(X), back.predict(X, return_std=True)[1]
    for left, right in zip(found, expected, strict=True):
        np.testing.assert_allclose(left, right, rtol=1e-6, atol=1e-9)


def test_a_loaded_model_of_similarities_says_what_it_lacks(tmp_path):
    X, y = problem(30)
    K = RBF(1.0)(X)
    gramian.save(LSSVMRegressor("precomputed", regularization=1.0).fit(K, y), tmp_path / "model.gramian")
    back = gramian.load(tmp_path / "model.gramian")
    assert back.predict(K).shape == (30,)
    with pytest.raises(ValueError, match="precomputed"):
        back.loo_residuals()


def test_a_matrix_above_the_budget_is_solved_by_conjugate_gradients():
    """``solver_`` says so, and predictions are those of the factor."""
    X, y = problem(600)
    exact = LSSVMRegressor(RBF(1.0), regularization=2.0).fit(X, y)
    with gramian.config(memory_budget="2MB"):
        model = LSSVMRegressor(RBF(1.0), regularization=2.0).fit(X, y)
        classifier = LSSVMClassifier(RBF(1.0), regularization=2.0).fit(X, y > y.mean())
    assert (exact.solver_, model.solver_, classifier.solver_) == ("cholesky", "cg", "cg")
    np.testing.assert_allclose(model.predict(X), exact.predict(X), rtol=1e-6)
    assert classifier.predict_proba(X).shape == (600, 2)


def test_the_matrix_of_the_user_is_left_alone():
    """Factorising in place takes the place of our own matrix only."""
    X, y = problem(30)
    K = RBF(1.0)(X)
    before = K.copy()
    LSSVMRegressor("precomputed", regularization=1.0).fit(K, y)
    LSSVMRegressor("precomputed").fit(K, y)
    np.testing.assert_array_equal(K, before)


@pytest.mark.parametrize("solver", ["cholesky", "ldl", "cg"])
def test_all_solvers_agree(solver):
    X, y = problem(60)
    expected = LSSVMRegressor(RBF(1.0), regularization=2.0).fit(X, y)
    model = LSSVMRegressor(RBF(1.0), regularization=2.0, solver=solver).fit(X, y)
    assert model.solver_ == solver
    np.testing.assert_allclose(model.predict(X), expected.predict(X), rtol=1e-7)


@pytest.mark.parametrize("solver", ["cholesky", "cg", "dual"])
def test_a_solver_that_cannot_is_named_with_what_can(solver):
    """Cholesky and conjugate gradients need a positive definite system, the dual a kernel with features."""
    X, y = problem(60)
    words = "needs a kernel with features.*solver='auto'" if solver == "dual" else "solver='ldl', or a smaller regular"
    with pytest.raises(ValueError, match=f"solver='{solver}'.*{words}"):  # a LinAlgError is one
        LSSVMRegressor(TL1(3.0), regularization=1e3, solver=solver).fit(X, y)
    landmarks = Nystroem(20, kernel=TL1(3.0), random_state=0)
    assert LSSVMRegressor(landmarks, regularization=2.0, solver="dual").fit(X, y).solver_ == "dual"


@pytest.mark.parametrize("cls", [LSSVMRegressor, LSSVMClassifier])
def test_single_precision_stays(cls):
    X, y = (part.astype(np.float32) for part in problem(80))
    model = cls().fit(X, y > 3 if cls is LSSVMClassifier else y)
    assert model.dual_coef_.dtype == np.float32
    answer = model.decision_function(X) if cls is LSSVMClassifier else model.predict(X)
    assert answer.dtype == np.float32


@pytest.mark.parametrize(
    ("changes", "word"),
    [
        ({"criterion": "aic"}, "criterion"),
        ({"n_splits": 1}, "n_splits"),
        ({"indefinite": "drop"}, "indefinite"),
        ({"solver": "qr"}, "solver"),
        ({"regularization": [1.0, 2.0, 3.0]}, "regularization"),
        ({"robust": "tukey"}, "robust"),
    ],
)
def test_settings_that_mean_nothing_are_refused_by_name(changes, word):
    X, y = problem(20)
    with pytest.raises(ValueError, match=word):
        LSSVMRegressor(**changes).fit(X, y)
