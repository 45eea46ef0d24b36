"""LSSVMRegressor against the bordered matrix, kernel ridge, refits and Gaussian processes."""

import pickle

import numpy as np
import pytest
from sklearn.datasets import load_diabetes
from sklearn.gaussian_process import GaussianProcessRegressor
from sklearn.gaussian_process import kernels as gp
from sklearn.kernel_ridge import KernelRidge
from sklearn.preprocessing import KernelCenterer

from gramian.grams import solve, tiles
from gramian.kernels import RBF, TL1, Linear, Tanh
from gramian.lssvm import LSSVMRegressor
from lssvm.textbook_lssvm import bordered, problem, refits


@pytest.mark.parametrize("kernel", [RBF(1.5), Linear()], ids=repr)
def test_equals_kernel_ridge_on_the_centred_kernel(kernel):
    """Kernel ridge with a centred kernel and centred targets has the same coefficients and predictions."""
    X, y = problem()
    new = X[:10] + 0.1
    center = KernelCenterer()
    ridge = KernelRidge(alpha=1 / 7, kernel="precomputed").fit(center.fit_transform(kernel(X)), y - y.mean())
    model = LSSVMRegressor(kernel, regularization=7.0).fit(X, y)
    np.testing.assert_allclose(model.dual_coef_, ridge.dual_coef_, rtol=1e-8, atol=1e-8)
    expected = ridge.predict(center.transform(kernel(new, X))) + y.mean()
    np.testing.assert_allclose(model.predict(new), expected, rtol=1e-8)


def test_the_linear_machine_is_solved_in_its_features_and_equals_the_dual():
    """With d < n the primal is solved, and predictions are those of the n×n system."""
    X, y = problem(80, 4)
    model = LSSVMRegressor(Linear(), regularization=2.0).fit(X, y)
    alpha, b = bordered(X @ X.T, y, 2.0)
    assert model.solver_ == "dual"
    np.testing.assert_allclose(model.predict(X), X @ (X.T @ alpha) + b, rtol=1e-8)


@pytest.mark.parametrize("kernel", [RBF(1.0), Linear(), TL1(2.0), Tanh(0.5, -0.3)], ids=repr)
def test_leave_one_out_residuals_are_those_of_refits(kernel):
    """loo_residuals() refits nothing, and agrees with n fits, also with weights and indefinite kernels."""
    X, y = problem(40)
    weights = np.random.default_rng(3).uniform(0.5, 3, 40)
    model = LSSVMRegressor(kernel, regularization=4.0).fit(X, y, sample_weight=weights)
    expected = refits(kernel(X), y, 4.0, weights)
    np.testing.assert_allclose(model.loo_residuals(), expected, rtol=1e-8, atol=1e-8 * np.abs(expected).max())


@pytest.mark.parametrize("kernel", [RBF(1.5), Linear(), TL1(3.0)], ids=repr)
def test_a_weight_of_two_is_the_row_twice_for_deviations_and_intervals(kernel):
    """Every copy has its share of the coefficient, and is left out alone."""
    X, y = problem(40)
    counts = np.random.default_rng(1).integers(1, 4, 40)
    copies = np.repeat(np.arange(40), counts)
    weighted = LSSVMRegressor(kernel, regularization=4.0).fit(X, y, sample_weight=counts)
    repeated = LSSVMRegressor(kernel, regularization=4.0).fit(X[copies], y[copies])
    new = X[:9] + 0.3
    np.testing.assert_allclose(weighted.loo_residuals()[copies], repeated.loo_residuals(), atol=1e-9)
    np.testing.assert_allclose(
        weighted.predict(new, return_std=True), repeated.predict(new, return_std=True), rtol=1e-8
    )
    for coverage in (0.3, 0.6, 0.9):
        intervals = [model.predict_interval(new, coverage) for model in (weighted, repeated)]
        np.testing.assert_allclose(*intervals, rtol=1e-8)


def test_rows_of_weight_zero_are_still_there_after_loading():
    X, y = problem(40)
    model = LSSVMRegressor(RBF(1.5), regularization=4.0).fit(X, y, sample_weight=np.arange(40) % 4 > 0)
    loaded = pickle.loads(pickle.dumps(model))
    np.testing.assert_allclose(loaded.loo_residuals(), model.loo_residuals())
    assert np.isnan(loaded.loo_residuals()[::4]).all()


def test_a_weight_of_two_is_the_row_twice():
    """Nothing set: predictions are those of repeated rows, and so is the width."""
    X, y = problem(40)
    counts = np.random.default_rng(1).integers(0, 4, 40)
    weighted = LSSVMRegressor().fit(X, y, sample_weight=counts)
    repeated = LSSVMRegressor().fit(np.repeat(X, counts, axis=0), np.repeat(y, counts))
    np.testing.assert_allclose(weighted.predict(X), repeated.predict(X), rtol=1e-4)
    np.testing.assert_allclose(weighted.kernel_.width, repeated.kernel_.width, rtol=1e-3)


def test_several_outputs_share_a_factorization_and_are_those_of_each_alone():
    X, y = problem()
    Y = np.column_stack([y, -2 * y + 1, X[:, 2]])
    model = LSSVMRegressor(RBF(1.0), regularization=3.0).fit(X, Y)
    for j in range(3):
        alone = LSSVMRegressor(RBF(1.0), regularization=3.0).fit(X, Y[:, j])
        np.testing.assert_allclose(model.predict(X)[:, j], alone.predict(X), rtol=1e-9, atol=1e-9)
        np.testing.assert_allclose(model.loo_residuals()[:, j], alone.loo_residuals(), rtol=1e-9, atol=1e-9)
    assert model.predict_interval(X[:5]).shape == (5, 3, 2)


def test_each_output_may_have_a_regularization_of_its_own():
    """ "each" finds for every output what it would find alone."""
    X, y = problem()
    Y = np.column_stack([y, np.random.default_rng(0).normal(size=len(y))])
    model = LSSVMRegressor(RBF(1.0), regularization="each").fit(X, Y)
    alone = [LSSVMRegressor(RBF(1.0)).fit(X, column).regularization_ for column in Y.T]
    np.testing.assert_allclose(model.regularization_, alone, rtol=1e-9)
    given = LSSVMRegressor(RBF(1.0), regularization=alone).fit(X, Y)
    np.testing.assert_allclose(given.predict(X), model.predict(X), rtol=1e-9)


def test_deviation_is_that_of_the_gaussian_process():
    """With the variances that were estimated, scikit-learn's process with a wide constant says the same."""
    X, y = problem(50)
    new = X[:8] + 0.3
    model = LSSVMRegressor(RBF(1.3), regularization=20.0).fit(X, y)
    inverse = np.linalg.inv(np.block([[np.zeros((1, 1)), np.ones((1, 50))],
                                      [np.ones((50, 1)), RBF(1.3)(X) + np.eye(50) / 20]]))  # fmt: skip
    variance = np.mean(model.dual_coef_**2 / np.diag(inverse)[1:])
    kernel = gp.ConstantKernel(variance) * gp.RBF(1.3) + gp.ConstantKernel(1e6)
    process = GaussianProcessRegressor(kernel, alpha=variance / 20, optimizer=None).fit(X, y)
    mean, deviation = process.predict(new, return_std=True)
    ours, std = model.predict(new, return_std=True)
    np.testing.assert_allclose(ours, mean, rtol=1e-5)
    np.testing.assert_allclose(std, deviation, rtol=1e-3)


def test_a_shift_of_the_targets_moves_the_intercept_alone():
    X, y = problem()
    first, second = (LSSVMRegressor(RBF(1.0), regularization=2.0).fit(X, t) for t in (y, y + 100))
    np.testing.assert_allclose(second.dual_coef_, first.dual_coef_, atol=1e-9)
    assert second.intercept_ - first.intercept_ == pytest.approx(100)


def test_constant_targets_are_predicted_exactly():
    X, _ = problem()
    model = LSSVMRegressor().fit(X, np.full(len(X), 0.1))
    assert (model.predict(X + 1) == 0.1).all()
    assert (model.loo_residuals() == 0).all()


@pytest.mark.parametrize("n", [1, 2, 3])
def test_very_few_rows_work(n):
    X, y = problem(n)
    model = LSSVMRegressor().fit(X, y)
    assert np.isfinite(model.predict(X)).all()
    assert np.isinf(model.predict_interval(X)).all()


def test_nothing_set_beats_the_mean_on_real_data():
    X, y = load_diabetes(return_X_y=True)
    model = LSSVMRegressor().fit(X, y)
    assert 1 - np.mean(model.loo_residuals() ** 2) / y.var() > 0.45


@pytest.mark.parametrize("value", [0, -1.0, np.nan, np.inf, "much"])
def test_a_regularization_that_is_none_is_refused_by_name(value):
    X, y = problem()
    with pytest.raises(ValueError, match="regularization"):
        LSSVMRegressor(regularization=value).fit(X, y)


def test_targets_with_holes_are_refused():
    X, y = problem()
    y[3] = np.nan
    with pytest.raises(ValueError, match="y contains NaN"):
        LSSVMRegressor().fit(X, y)


@pytest.mark.parametrize("unit", [1e-300, 1e-150, 1e150, 1e300])
@pytest.mark.parametrize("options", [{}, {"robust": "huber"}, {"robust": "hampel", "criterion": "robust"}], ids=repr)
def test_targets_of_any_size_are_learned_alike(unit, options):
    """Squares of such numbers are infinite or zero; the model in other units is the same model."""
    X, y = problem(30)
    options = {"kernel": RBF(1.5), **options}
    expected, model = LSSVMRegressor(**options).fit(X, y), LSSVMRegressor(**options).fit(X, y * unit)
    np.testing.assert_allclose(model.predict(X) / unit, expected.predict(X), rtol=1e-6)
    deviation = model.predict(X, return_std=True)[1] / unit
    np.testing.assert_allclose(deviation, expected.predict(X, return_std=True)[1], rtol=1e-5)
    np.testing.assert_allclose(model.predict_interval(X) / unit, expected.predict_interval(X), rtol=1e-5)


@pytest.mark.parametrize("criterion", ["loo", "cv", "robust"])
def test_a_single_row_is_its_target(criterion):
    model = LSSVMRegressor(criterion=criterion).fit([[1.0, 2.0]], [3.0])
    assert model.predict([[1.0, 2.0], [5.0, 5.0]]).tolist() == [3.0, 3.0]


@pytest.mark.parametrize("unit", [1 / 40, 0.3, 1e3 + 0.5])
def test_weights_of_another_unit_are_the_same_model(unit):
    """Weights that add up to one, say, with the regularization that goes with them."""
    X, y = problem(40)
    plain = LSSVMRegressor(RBF(1.5), regularization=4.0).fit(X, y)
    model = LSSVMRegressor(RBF(1.5), regularization=4.0 / unit).fit(X, y, sample_weight=np.full(40, unit))
    np.testing.assert_allclose(model.predict(X), plain.predict(X), rtol=1e-8)
    np.testing.assert_allclose(model.predict_interval(X + 0.1), plain.predict_interval(X + 0.1), rtol=1e-7)
    np.testing.assert_allclose(model.predict(X, return_std=True)[1], plain.predict(X, return_std=True)[1], rtol=1e-7)
    chosen = LSSVMRegressor(RBF(1.5)).fit(X, y, sample_weight=np.full(40, unit))
    np.testing.assert_allclose(chosen.predict(X), LSSVMRegressor(RBF(1.5)).fit(X, y).predict(X), rtol=1e-5)


@pytest.fixture
def refined_from_30(monkeypatch):
    """Single precision for 30 rows and more."""
    monkeypatch.setattr(solve, "_REFINED_SIZE", 30)


@pytest.mark.usefixtures("refined_from_30")
@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("precomputed", [False, True])
def test_a_refined_fit_is_that_of_the_bordered_matrix(weighted, precomputed):
    """Coefficients, residuals left out and deviations are as exact as with a factor in double."""
    X, y = problem(60)
    v = np.random.default_rng(1).uniform(1e-3, 1e3, len(y)) if weighted else None
    data = RBF(1.0)(X) if precomputed else X
    model = LSSVMRegressor("precomputed" if precomputed else RBF(1.0), regularization=5.0).fit(data, y, v)
    assert model.solver_ == "refined"
    alpha, b = bordered(RBF(1.0)(X), y, 5.0, v)
    np.testing.assert_allclose(model.dual_coef_, alpha, rtol=0, atol=1e-11 * np.abs(alpha).max())
    assert model.intercept_ == pytest.approx(b, rel=1e-11)
    expected = refits(RBF(1.0)(X), y, 5.0, v)
    np.testing.assert_allclose(model.loo_residuals(), expected, atol=1e-8 * np.abs(expected).max())
    if not precomputed:
        exact = LSSVMRegressor(RBF(1.0), regularization=5.0, solver="cholesky").fit(X, y, v)
        np.testing.assert_allclose(model.predict(X[:5], return_std=True), exact.predict(X[:5], return_std=True))
        np.testing.assert_allclose(pickle.loads(pickle.dumps(model)).loo_residuals(), expected, rtol=1e-6)


@pytest.mark.usefixtures("refined_from_30")
def test_a_refined_fit_holds_no_matrix(monkeypatch):
    """K is evaluated strip by strip into its half; residuals left out evaluate it once more."""
    X, y = problem(60)
    whole = []
    dense = tiles.block
    monkeypatch.setattr(tiles, "block", lambda *given: whole.append(1) or dense(*given))
    model = LSSVMRegressor(RBF(1.0), regularization=5.0).fit(X, y)
    model.predict(X)
    assert not whole
    model.loo_residuals()
    assert len(whole) == 1


@pytest.mark.usefixtures("refined_from_30")
def test_what_single_precision_does_not_do_is_solved_as_before():
    """A huge regularization, an indefinite kernel, single precision of the data, one system for every output."""
    X, y = problem(60)
    for kernel, gamma, found in ((RBF(3.0), 1e9, "cholesky"), (TL1(2.0), 5.0, "ldl")):
        model = LSSVMRegressor(kernel, regularization=gamma).fit(X, y)
        assert model.solver_ == found
        alpha = bordered(kernel(X), y, gamma)[0]
        np.testing.assert_allclose(model.dual_coef_, alpha, atol=1e-5 * np.abs(alpha).max())
    assert LSSVMRegressor(RBF(1.0)).fit(X, y).solver_ == "cholesky"  # the regularization is chosen
    X32, y32 = X.astype(np.float32), y.astype(np.float32)
    assert LSSVMRegressor(RBF(1.0), regularization=5.0).fit(X32, y32).solver_ == "cholesky"
    both = LSSVMRegressor(RBF(1.0), regularization=[5.0, 50.0]).fit(X, np.column_stack([y, -y]))
    for j, gamma in enumerate((5.0, 50.0)):
        np.testing.assert_allclose(both.dual_coef_[:, j], (-1) ** j * bordered(RBF(1.0)(X), y, gamma)[0], rtol=1e-8)


@pytest.mark.usefixtures("refined_from_30")
def test_robust_fits_are_refined_too():
    """Every round of weights has a factor of its own, of a Gram that is held."""
    X, y = problem(60)
    y[3] += 50
    exact = LSSVMRegressor(RBF(1.0), regularization=5.0, robust="huber", solver="cholesky").fit(X, y)
    model = LSSVMRegressor(RBF(1.0), regularization=5.0, robust="huber").fit(X, y)
    assert model.solver_ == "refined"
    np.testing.assert_allclose(model.dual_coef_, exact.dual_coef_, rtol=1e-6, atol=1e-9)
