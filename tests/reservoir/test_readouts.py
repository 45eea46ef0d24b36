"""Streamed readouts against the same regressions computed with all rows in memory."""

import numpy as np
import pytest
from sklearn.base import BaseEstimator, RegressorMixin
from sklearn.exceptions import ConvergenceWarning
from sklearn.linear_model import ElasticNet, Lasso, Ridge
from sklearn.multioutput import MultiOutputRegressor
from sklearn.svm import NuSVR

from gramian.landmarks import NormalEquations
from gramian.reservoir.readouts import (
    RELATIVE_RIDGES,
    StreamedReadout,
    _smoothest,
    check_readout,
    check_regularization,
    fitted_regressor,
    named_regressor,
    principal_directions,
)


@pytest.fixture
def steps():
    rng = np.random.default_rng(0)
    S = rng.normal(size=(600, 25)) @ np.diag(10.0 ** -np.linspace(0, 3, 25)) + 2.0
    Y = S @ rng.normal(size=(25, 2)) + 0.05 * rng.normal(size=(600, 2)) + [1.0, -3.0]
    return S, Y


def streamed(S, Y, block, judged=0, **options):
    readout = StreamedReadout(**options)
    cut = len(S) - judged
    for start in range(0, cut, block):
        readout.add(S[start : min(start + block, cut)], Y[start : min(start + block, cut)])
    for start in range(cut, len(S), block):
        readout.add(S[start : start + block], Y[start : start + block], judge=True)
    return readout


def test_a_given_ridge_is_scikit_learns(steps):
    S, Y = steps
    W, b, used = streamed(S, Y, 100, regularization=0.3).solve()
    model = Ridge(alpha=0.3).fit(S, Y)
    np.testing.assert_allclose(W, model.coef_.T, rtol=1e-9, atol=1e-9)
    np.testing.assert_allclose(b, model.intercept_, rtol=1e-9)
    np.testing.assert_array_equal(used, 0.3)


def test_ridge_in_primal_and_dual_are_one(steps):
    """W = (SᵀS + λI)⁻¹Sᵀy = Sᵀ(SSᵀ + λI)⁻¹y on centred rows, also with fewer steps than features."""
    S, Y = (part[:15] for part in steps)
    W, _, _ = streamed(S, Y, 4, regularization=0.1).solve()
    F, T = S - S.mean(axis=0), Y - Y.mean(axis=0)
    np.testing.assert_allclose(W, F.T @ np.linalg.solve(F @ F.T + 0.1 * np.eye(15), T), atol=1e-10)


@pytest.mark.parametrize("kind", ["ridge", "lasso", "elastic_net"])
def test_one_block_or_many_give_the_same(steps, kind):
    S, Y = steps
    one, many = (streamed(S, Y, block, 120, kind=kind) for block in (600, 7))
    for found, expected in zip(many.solve(), one.solve(), strict=True):
        np.testing.assert_allclose(found, expected, rtol=1e-6 if kind != "ridge" else 1e-9)


def test_of_equal_errors_the_largest_penalty_is_chosen():
    """Small penalties of a lasso often have one solution, and rounding must not choose between them."""
    errors = np.array([[3.0, 1.0], [1.0, 1.0 - 1e-15], [1.0 + 1e-15, 2.0]])
    np.testing.assert_array_equal(_smoothest(errors, np.array([9.0, 0.1, 0.01])), [1, 0])


def test_the_ridge_is_the_best_on_the_judged_steps_and_then_learns_from_all(steps):
    S, Y = steps
    readout = streamed(S, Y, 50, 120)
    W, b, used = readout.solve()
    F = S[:480] - S[:480].mean(axis=0)
    ridges = RELATIVE_RIDGES * np.trace(F.T @ F)
    errors = np.array(
        [((Ridge(alpha=r).fit(S[:480], Y[:480]).predict(S[480:]) - Y[480:]) ** 2).sum(axis=0) for r in ridges]
    )
    np.testing.assert_allclose(readout.errors, errors, rtol=1e-5)
    best = errors.argmin(axis=0)
    centred = S - S.mean(axis=0)
    np.testing.assert_allclose(used, (RELATIVE_RIDGES * np.trace(centred.T @ centred))[best], rtol=1e-9)
    for j in range(2):
        model = Ridge(alpha=used[j]).fit(S, Y[:, j])
        np.testing.assert_allclose(W[:, j], model.coef_, rtol=1e-7, atol=1e-9)
        np.testing.assert_allclose(b[j], model.intercept_, rtol=1e-7)
    told = readout.tuning(np.array([1.0, 2.0]))
    np.testing.assert_allclose(told["error"], np.sqrt(errors / 120) * [1, 2], rtol=1e-5)
    assert told["regularization"].shape == RELATIVE_RIDGES.shape


@pytest.mark.parametrize(("kind", "model"), [("lasso", Lasso), ("elastic_net", ElasticNet)])
def test_sparse_readouts_are_scikit_learns_without_the_rows(steps, kind, model):
    S, Y = steps
    W, b, _ = streamed(S, Y, 100, kind=kind, regularization=0.01).solve()
    for j in range(2):
        expected = model(alpha=0.01, tol=1e-10, max_iter=100_000).fit(S, Y[:, j])
        np.testing.assert_allclose(W[:, j], expected.coef_, atol=2e-3)
        found = S @ W[:, j] + b[j]
        np.testing.assert_allclose(found, expected.predict(S), atol=5e-3)


def test_a_sparse_readout_that_did_not_settle_says_so():
    rng = np.random.default_rng(0)
    S = rng.normal(size=(200, 3)) @ rng.normal(size=(3, 40)) + 1e-5 * rng.normal(size=(200, 40))
    y = rng.normal(size=(200, 1))
    with pytest.warns(ConvergenceWarning):
        streamed(S, y, 200, kind="lasso", regularization=1e-9).solve()


def test_least_squares_of_dependent_columns_takes_the_shortest_solution(steps):
    S, Y = steps
    S = np.hstack([S[:, :5], S[:, :5]])
    W, _, used = streamed(S, Y, 100, kind="ols", regularization=5.0).solve()
    rows = S - S.mean(axis=0)
    np.testing.assert_allclose(W, np.linalg.pinv(rows) @ (Y - Y.mean(axis=0)), atol=1e-8)
    assert not used.any()
    assert streamed(S, Y, 100, 100, kind="ols").errors is None


def test_a_projection_is_folded_in(steps):
    """Solving among P w is ridge on the features S P."""
    S, Y = steps
    P = np.random.default_rng(3).normal(size=(25, 4))
    W, b, _ = StreamedReadout("ridge", 0.5, lambda sums: P).add(S, Y).solve()
    model = Ridge(alpha=0.5).fit(S @ P, Y)
    np.testing.assert_allclose(W, P @ model.coef_.T, rtol=1e-8)
    np.testing.assert_allclose(b, model.intercept_, rtol=1e-8)


def test_float32_rows_lose_the_digits_that_float64_rows_keep():
    """Why states are never float32: SᵀS of a smooth series is ill-conditioned."""
    t = np.arange(4000)[:, None]
    S = np.sin(0.05 * (t - np.arange(12)))  # rank two, but for products of the last digits
    S = S + 1e-5 * np.random.default_rng(0).normal(size=S.shape)
    y = S @ np.linspace(-300, 300, 12)[:, None]

    def error(rows):
        W, b, _ = StreamedReadout(regularization=1e-9).add(rows, y).solve()
        return float(np.sqrt(np.mean((S @ W + b - y) ** 2)))

    assert error(S) < 1e-3 * error(S.astype(np.float32))


def test_too_few_steps_to_judge_take_a_small_ridge():
    S, Y = np.eye(3), np.ones((3, 1))
    W, _, used = StreamedReadout().add(S, Y, judge=True).solve()
    assert np.isfinite(W).all()
    np.testing.assert_allclose(used, 1e-6 * 2.0)


def test_directions_are_principal_and_signed():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(50, 6))
    C = np.cov(X.T)
    V, values = principal_directions(C, 3)
    np.testing.assert_allclose(C @ V, V * values, atol=1e-12)
    assert (np.diff(values) < 0).all()
    assert (V[np.abs(V).argmax(axis=0), range(3)] > 0).all()
    low = principal_directions(np.diag([2.0, 1.0, 0.0, 0.0]), 4)
    assert low[1].tolist() == [2.0, 1.0]


def test_named_readouts_become_smoother_with_the_regularization():
    assert named_regressor("nu_svr", 0.5).C == 2.0
    assert named_regressor("nu_svr", None).C == 10.0
    assert named_regressor("linear_nu_svr", None).kernel == "linear"
    assert named_regressor("ls_svm", 0.5).regularization == 2.0
    assert named_regressor("ls_svm", None).regularization is None
    with pytest.raises(ValueError, match="regularization=0 must be > 0"):
        named_regressor("nu_svr", 0)


def test_nu_svr_keeps_its_bounds(steps):
    """Σ abs(α) = C ν T where the constraint is active, and no abs(α) is above C."""
    S, Y = (part[:150] for part in steps)
    model = fitted_regressor(NuSVR(C=0.5, nu=0.3), None, S, Y[:, :1])
    assert np.abs(model.dual_coef_).max() <= 0.5 + 1e-9
    np.testing.assert_allclose(np.abs(model.dual_coef_).sum(), 0.5 * 0.3 * 150, rtol=1e-6)


def test_several_outputs_of_a_regressor_of_one(steps):
    S, Y = (part[:100] for part in steps)
    assert isinstance(fitted_regressor("nu_svr", None, S, Y), MultiOutputRegressor)
    assert isinstance(fitted_regressor(Ridge(), None, S, Y), Ridge)


def test_what_is_no_readout_is_refused():
    class Constant(RegressorMixin, BaseEstimator):
        def fit(self, X, y):
            return self

        def predict(self, X):
            return np.zeros(len(X))

    check_readout(Constant())
    for wrong in ("svr", 3, None, Constant):
        with pytest.raises(ValueError, match="readout="):
            check_readout(wrong)
    assert check_regularization("auto") is None
    assert check_regularization(0) == 0.0
    with pytest.raises(ValueError, match="regularization"):
        check_regularization("none")
    assert isinstance(StreamedReadout().sums, NormalEquations)
