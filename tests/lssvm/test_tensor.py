"""Tensor-kernel regression against its definition: tensors summed entry by entry, the primal, LS-SVM and refits."""

from itertools import product
from math import factorial

import numpy as np
import pytest
from scipy.optimize import minimize
from sklearn.kernel_ridge import KernelRidge
from sklearn.preprocessing import KernelCenterer

from gramian import TensorKernelRegressor
from gramian.lssvm._tensor_dual import Features, Products, monomials


def reference():
    """The example of the paper's derivation: 15 rows, a quadratic target."""
    rng = np.random.default_rng(9)
    X = rng.uniform(-1, 1, size=(15, 2))
    return X, X[:, 0] ** 2 - X[:, 1] + 0.1 * rng.standard_normal(15)


def tensor_sum(rows, u, order, kappa, x):
    """n^−(m−1) Σ u ⋯ u K(x_i1, …, x_i(m−1), x), one term at a time."""
    n = len(rows)
    total = 0.0
    for chosen in product(range(n), repeat=order - 1):
        total += np.prod(u[list(chosen)]) * kappa((np.prod(rows[list(chosen)], axis=0) * x).sum())
    return total / n ** (order - 1)


def primal(model, X, y, w, b):
    """(1/r) Σ |w|^r + (γ/n) Σ e²/2."""
    r = model.order / (model.order - 1)
    errors = y - monomials(X, model.powers_, model.scales_) @ w - b
    return (np.abs(w) ** r).sum() / r + model.regularization * np.mean(errors**2) / 2


def test_the_value_of_the_derivation_is_reached():
    """The optimal value of the example is 1.43033807, of the primal and of the dual."""
    X, y = reference()
    model = TensorKernelRegressor(4, degree=2, regularization=50.0).fit(X, y)
    assert primal(model, X, y, model.coef_, model.intercept_) == pytest.approx(1.43033807, abs=1e-7)
    assert abs(model.duality_gap_) < 1e-8


def test_no_weights_are_better_in_the_primal():
    """A search from the solution, in all weights and the intercept, finds nothing lower."""
    X, y = reference()
    model = TensorKernelRegressor(4, degree=2, regularization=50.0).fit(X, y)
    best = primal(model, X, y, model.coef_, model.intercept_)
    start = np.r_[model.coef_ + 0.05, model.intercept_]
    found = minimize(lambda v: primal(model, X, y, v[:-1], v[-1]), start, method="Powell", options={"maxiter": 20})
    assert found.fun > best - 1e-9


def test_predictions_are_sums_over_the_tensor():
    """Features and the sum over all triples of rows predict alike, for both kernels."""
    X, y = reference()
    X, y = X[:7], y[:7]
    for kernel, kappa in (("polynomial", lambda t: (0.5 + t) ** 2), ("exponential", np.exp)):
        model = TensorKernelRegressor(4, kernel=kernel, degree=2, offset=0.5, regularization=20.0).fit(X, y)
        new = np.array([[0.3, -0.8], [1.2, 0.4]])
        expected = [tensor_sum(X, model.dual_coef_, 4, kappa, x) + model.intercept_ for x in new]
        np.testing.assert_allclose(model.predict(new), expected, rtol=1e-10)


def test_the_two_terms_of_the_dual_agree():
    """Kernel values at products of rows, and the monomials of the series of exp(Σ_j x_1j ⋯ x_mj), give one term."""
    rng = np.random.default_rng(1)
    X, u = rng.uniform(-1, 1, size=(12, 2)), rng.normal(size=12)
    powers = np.array([(a, b) for a in range(12) for b in range(12)])
    scales = np.array([1 / factorial(a) / factorial(b) for a, b in powers.tolist()]) ** (1 / 4)
    value, slope = Products(X, 4).value_and_slope(u)
    expected, gradient = Features(X, powers, scales, 4).value_and_slope(u)
    assert value == pytest.approx(expected, rel=1e-9)
    np.testing.assert_allclose(slope, gradient, rtol=1e-8)


def test_order_two_is_the_lssvm():
    """m = 2: u/n is the dual coefficient of an LS-SVM with regularization γ/n (centred kernel ridge)."""
    X, y = reference()
    n, gamma = len(y), 30.0
    K = (1 + X @ X.T) ** 3
    centred = KernelCenterer().fit_transform(K)
    ridge = KernelRidge(alpha=n / gamma, kernel="precomputed").fit(centred, y - y.mean())
    model = TensorKernelRegressor(2, degree=3, regularization=gamma).fit(X, y)
    np.testing.assert_allclose(model.dual_coef_ / n, ridge.dual_coef_, atol=1e-7)
    np.testing.assert_allclose(model.predict(X), ridge.predict(centred) + y.mean(), atol=1e-6)
    kernel_only = TensorKernelRegressor(2, kernel="exponential", regularization=gamma).fit(X, y)
    centred = KernelCenterer().fit_transform(np.exp(X @ X.T))
    ridge = KernelRidge(alpha=n / gamma, kernel="precomputed").fit(centred, y - y.mean())
    np.testing.assert_allclose(kernel_only.predict(X), ridge.predict(centred) + y.mean(), atol=1e-6)


def test_order_six_by_products_is_stationary():
    """For m = 6 the products of three rows give u_i = γ e_i."""
    X, y = reference()
    model = TensorKernelRegressor(6, kernel="exponential", regularization=20.0).fit(X, y)
    np.testing.assert_allclose(model.dual_coef_, 20.0 * (y - model.predict(X)), atol=1e-5)
    assert abs(model.dual_coef_.sum()) < 1e-9


@pytest.mark.parametrize("loss", ["epsilon_insensitive", "huber"])
def test_other_losses_close_the_gap_and_bound_the_influence(loss):
    """The certificate holds, u stays in its box and sums to zero, and one wild target moves little."""
    X, y = reference()
    model = TensorKernelRegressor(4, degree=2, regularization=50.0, loss=loss, epsilon=0.2).fit(X, y)
    assert abs(model.duality_gap_) < 1e-5
    assert np.abs(model.dual_coef_).max() <= (50.0 if loss == "epsilon_insensitive" else 10.0) + 1e-9
    assert abs(model.dual_coef_.mean()) < 1e-7
    wild = y.copy()
    wild[4] += 50
    moved = TensorKernelRegressor(4, degree=2, regularization=50.0, loss=loss, epsilon=0.2).fit(X, wild)
    others = np.delete(np.arange(15), 4)
    squared = TensorKernelRegressor(4, degree=2, regularization=50.0).fit(X, wild)
    assert np.abs(moved.predict(X) - y)[others].mean() < 0.5 * np.abs(squared.predict(X) - y)[others].mean()


def test_weights_that_matter_grow_fewer_with_the_order():
    """A target of three monomials of 56: the effective support shrinks from m = 2 to 4 to 8."""
    rng = np.random.default_rng(3)
    X = rng.uniform(-1, 1, size=(60, 5))
    y = X[:, 0] * X[:, 1] - 2 * X[:, 2] ** 3 + X[:, 3]
    support = []
    for order in (2, 4, 8):
        w = np.abs(TensorKernelRegressor(order, degree=3, regularization=1000.0).fit(X, y).coef_)
        support.append(int((w > 1e-3 * w.max()).sum()))
    assert support[0] > support[1] > support[2]


@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        ({"order": 3}, "order=3 must be even"),
        ({"kernel": "rbf"}, "kernel='rbf' is not known"),
        ({"regularization": 0}, "regularization=0"),
        ({"offset": -1}, "offset=-1"),
        ({"degree": 0}, "degree=0"),
        ({"loss": "hinge"}, "loss='hinge' is not known"),
        ({"epsilon": 0, "loss": "huber"}, "epsilon=0"),
    ],
)
def test_bad_parameters_are_named(parameters, message):
    """Each error names its parameter."""
    X, y = reference()
    with pytest.raises(ValueError, match=message):
        TensorKernelRegressor(**parameters).fit(X, y)


def test_too_many_rows_for_products_are_refused():
    """The exponential kernel says how many rows it takes and what to use instead."""
    X = np.zeros((101, 2))
    with pytest.raises(ValueError, match="use kernel='polynomial'"):
        TensorKernelRegressor(4, kernel="exponential").fit(X, np.arange(101.0))


def test_a_constant_target_is_predicted():
    """With nothing to explain all weights are zero."""
    X, _ = reference()
    model = TensorKernelRegressor().fit(X, np.full(15, 3.0))
    np.testing.assert_allclose(model.predict(X), 3.0)


def test_targets_whose_squares_are_no_numbers():
    """The size of y that cannot be fitted is told, and what to do."""
    X, y = reference()
    with pytest.raises(ValueError, match=r"y has values up to .*e\+200.*divide y"):
        TensorKernelRegressor().fit(X, y * 1e200)


@pytest.mark.parametrize("kernel", ["polynomial", "exponential"])
def test_new_rows_whose_powers_overflow_are_refused(kernel):
    """No NaN and no infinity is called a prediction."""
    X, y = reference()
    model = TensorKernelRegressor(kernel=kernel).fit(X, y)
    with pytest.raises(ValueError, match=r"X has values up to .*powers overflow; pass rows like those of fit"):
        model.predict(X * 1e200)
