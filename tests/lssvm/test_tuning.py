"""The search for width and regularization."""

import numpy as np
import pytest
from sklearn.datasets import make_friedman1

from gramian.kernels import RBF, Linear
from gramian.lssvm import LSSVMClassifier, LSSVMRegressor
from gramian.lssvm.tuning import Problem, choose_regularization, choose_width, part_of, typical_distance
from lssvm.textbook_lssvm import problem, refits


def asked(y, **changes):
    return Problem(y[:, None], None, None, np.ones(1), **changes)


def test_the_regularization_found_has_the_least_error_of_refits():
    """No regularization of a fine grid has a leave-one-out error that is lower by more than 0.1 %."""
    X, y = problem(40)
    best = choose_regularization(RBF(1.5).gram(X), asked(y), "rbf")
    K = RBF(1.5)(X)
    found = np.mean(refits(K, y, best.regularization[0]) ** 2)
    assert best.score == pytest.approx(found, rel=1e-6)
    assert found <= 1.001 * min(np.mean(refits(K, y, gamma) ** 2) for gamma in np.geomspace(1e-2, 1e5, 60))


def test_the_width_found_is_near_the_best_of_many():
    """The error is within 5 % of the least over 30 widths."""
    X, y = problem(80)
    kernel, best = choose_width(X, asked(y))
    every = [choose_regularization(RBF(w).gram(X), asked(y), "rbf").score for w in np.geomspace(0.3, 20, 30)]
    assert best.score <= 1.05 * min(every)
    assert best.score == pytest.approx(choose_regularization(kernel.gram(X), asked(y), "rbf").score, rel=1e-6)


def test_many_rows_are_searched_on_a_part():
    """Widths are tried on 400 rows, the regularization is chosen on all."""
    X, y = make_friedman1(700, random_state=0)
    model = LSSVMRegressor(random_state=0).fit(X, y)
    assert set(model.tuning_["rows"]) == {400, 700}
    assert model.tuning_["score"][model.tuning_["rows"] == 700].min() < 0.05


def test_the_table_holds_what_was_tried():
    X, y = problem(50)
    table = LSSVMRegressor().fit(X, y).tuning_
    assert set(table) == {"kernel", "width", "rows", "regularization", "score"}
    assert len({len(column) for column in table.values()}) == 1
    assert LSSVMRegressor(RBF(1.0), regularization=1.0).fit(X, y).tuning_ is None


def test_a_given_regularization_leaves_the_width_to_the_search():
    X, y = problem(50)
    model = LSSVMRegressor(regularization=3.0).fit(X, y)
    assert model.regularization_ == 3.0
    assert set(model.tuning_["regularization"]) == {3.0}
    assert len(set(model.tuning_["width"])) > 2


@pytest.mark.parametrize("criterion", ["loo", "cv", "robust"])
def test_all_criteria_find_a_good_model(criterion):
    X, y = make_friedman1(200, noise=0.5, random_state=0)
    new, truth = make_friedman1(200, noise=0.5, random_state=1)
    assert LSSVMRegressor(criterion=criterion, n_splits=5).fit(X, y).score(new, truth) > 0.84


def test_the_robust_criterion_is_not_led_by_outliers():
    """With 5 % gross errors the mean size of residuals chooses better than their square, and weights better still."""
    X, y = make_friedman1(200, noise=0.5, random_state=0)
    new, truth = make_friedman1(500, noise=0.0, random_state=1)
    y = y.copy()
    y[::20] += 100
    plain = LSSVMRegressor().fit(X, y).score(new, truth)
    robust = LSSVMRegressor(robust="huber", criterion="robust").fit(X, y).score(new, truth)
    assert robust > 0.85
    assert robust > plain + 0.1


def test_the_scale_of_targets_and_columns_does_not_matter():
    """Nothing set: a change of units changes the predictions by those units alone, up to equally good choices."""
    X, y = problem(60)
    first = LSSVMRegressor().fit(X, y).predict(X)
    second = LSSVMRegressor().fit(X * [1e3, 1e-3, 7.0] + 5, 1e6 * y).predict(X * [1e3, 1e-3, 7.0] + 5)
    np.testing.assert_allclose(second, 1e6 * first, rtol=1e-4)


def test_a_linear_kernel_of_any_scale_finds_its_regularization():
    """Regularizations are tried relative to the size of the kernel."""
    X, y = problem(60)
    first, second = (LSSVMRegressor(Linear()).fit(scale * X, y) for scale in (1.0, 1e4))
    np.testing.assert_allclose(second.predict(1e4 * X), first.predict(X), rtol=1e-6)
    assert first.regularization_ / second.regularization_ == pytest.approx(1e8, rel=1e-6)


def test_a_part_holds_rows_of_every_class():
    y = np.repeat([0, 1, 2], [500, 480, 20])
    question = asked(y * 1.0, strata=y)
    assert np.bincount(y[part_of(question, 100)]).min() >= 2
    assert part_of(question, 100) is part_of(question, 100)


def test_equal_rows_have_a_width():
    assert typical_distance(np.ones((5, 2)), None) == 1.0
    assert LSSVMClassifier().fit(np.ones((6, 2)), [0, 1] * 3).predict(np.ones((1, 2))).shape == (1,)


@pytest.mark.parametrize("weighted", [False, True])
def test_the_robust_criterion_is_the_mean_size_of_residuals_left_out(weighted):
    """By n refits, in units of the output's scale, rows counted by their weights."""
    X, y = problem(30)
    v = np.random.default_rng(1).uniform(0.5, 2, 30) if weighted else None
    question = Problem(y[:, None], v, None, np.array([2.0]), "robust")
    gram = RBF(1.0)._fitted(X).gram(X)
    found = question.scores(question.spectrum(gram), np.array([0.5, 20.0]))[:, 0]
    expected = [np.average(np.abs(refits(RBF(1.0)(X), y, gamma, v)) / 2, weights=v) for gamma in (0.5, 20.0)]
    np.testing.assert_allclose(found, expected, rtol=1e-8)
