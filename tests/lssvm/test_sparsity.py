"""The second stage of sparsity: fewer prototypes, the same function."""

import numpy as np
import pytest
from scipy.optimize import minimize

from gramian import FixedSizeLSSVMClassifier, FixedSizeLSSVMRegressor
from gramian.kernels import RBF, Linear
from gramian.landmarks import NormalEquations
from gramian.lssvm.sparsity import PENALTIES, Sparsity, _lasso, _Problem

GRID = np.linspace(-6, 6, 400)[:, None]


def sinc(seed=0):
    rng = np.random.default_rng(seed)
    X = rng.uniform(-6, 6, size=(500, 1))
    return X, np.sinc(X[:, 0]) + 0.1 * rng.normal(size=500)


def model(sparsity=None, regularization=None, **options):
    """40 prototypes, exp(−d²/σ²) with σ² = 1, first stage at γ = 100."""
    options = {"regularization": regularization, **options} if sparsity else None
    setting = {"kernel": RBF(np.sqrt(0.5)), "regularization": 100.0, "random_state": 0}
    return FixedSizeLSSVMRegressor(40, selection="renyi", sparsity=sparsity, sparsity_options=options, **setting)


def error(fitted):
    return float(np.mean((fitted.predict(GRID) - np.sinc(GRID[:, 0])) ** 2))


@pytest.mark.parametrize("sparsity", PENALTIES)
def test_a_vanishing_penalty_gives_the_first_stage(sparsity):
    X, y = sinc()
    setting = {"kernel": RBF(0.2), "regularization": 100.0, "random_state": 0}  # no prototype is like another
    first = FixedSizeLSSVMRegressor(12, **setting).fit(X, y)
    options = {"sparsity": sparsity, "sparsity_options": {"regularization": 1e9}}
    second = FixedSizeLSSVMRegressor(12, **options, **setting).fit(X, y)
    assert second.n_prototypes_ == first.n_prototypes_
    np.testing.assert_allclose(second.predict(GRID), first.predict(GRID), atol=1e-8)


@pytest.mark.parametrize("sparsity", PENALTIES)
def test_prototypes_never_come_back_and_are_fewer_for_stronger_penalties(sparsity):
    X, y = sinc()
    sizes = []
    for regularization in (0.1, 1.0, 10.0, 100.0):
        fitted = model(sparsity, regularization).fit(X, y)
        assert np.all(np.diff(fitted.sparsity_counts_) <= 0)
        assert len(fitted.prototypes_) == len(fitted.coef_) == fitted.n_prototypes_ <= 40
        np.testing.assert_array_equal(fitted.prototypes_, X[fitted.prototype_indices_])
        sizes.append(fitted.n_prototypes_)
    assert sorted(sizes) == sizes
    assert sizes[0] < sizes[-1]


@pytest.mark.parametrize(
    ("sparsity", "regularization", "prototypes", "most"),
    [("rwl1", 1.0, 12, 1.1e-3), ("rwl1", 10.0, 15, 7e-4), ("l0", 100.0, 10, 2e-3), ("l0", 10.0, 8, 5e-3)],
)
def test_sinc_needs_as_few_prototypes_as_the_reference(sparsity, regularization, prototypes, most):
    """Numbers of prototypes of an independent prototype on such a draw, within four; errors within twice."""
    fitted = model(sparsity, regularization).fit(*sinc())
    assert abs(fitted.n_prototypes_ - prototypes) <= 4
    assert error(fitted) < most


@pytest.mark.parametrize("sparsity", PENALTIES)
def test_a_chosen_strength_halves_the_prototypes_at_about_the_same_error(sparsity):
    X, y = sinc()
    first, second = model().fit(X, y), model(sparsity).fit(X, y)
    assert second.n_prototypes_ <= 0.6 * first.n_prototypes_
    assert error(second) < 2 * error(first)
    assert second.tuning_["sparsity_regularization"] > 0


def test_the_refit_is_a_fixed_size_machine_on_what_is_left():
    X, y = sinc()
    fitted = model("rwl1", 1.0).fit(X, y)
    K = fitted.kernel_(fitted.prototypes_)
    C = fitted.kernel_(X, fitted.prototypes_)
    centred, target = C - C.mean(axis=0), y - y.mean()
    beta = np.linalg.solve(centred.T @ centred + K / 100.0, centred.T @ target)
    expected = fitted.kernel_(GRID, fitted.prototypes_) @ beta + y.mean() - C.mean(axis=0) @ beta
    np.testing.assert_allclose(fitted.predict(GRID), expected, atol=1e-7)


def test_lasso_of_one_and_of_several_targets_minimises_its_objective():
    rng = np.random.default_rng(0)
    C = rng.normal(size=(6, 4))
    for q in (1, 2):
        Z = rng.normal(size=(6, q))

        def objective(flat, Z=Z, q=q):
            B = flat.reshape(4, q)
            return 0.5 * ((Z - C @ B) ** 2).sum() + 0.7 * np.sqrt((B**2).mean(axis=1)).sum()

        found = objective(_lasso(C, Z, 0.7).ravel())
        best = min(minimize(objective, rng.normal(size=4 * q), method="Powell").fun for _ in range(5))
        assert found <= best + 2e-3


def test_several_classes_share_their_prototypes():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(600, 2))
    labels = np.digitize(X[:, 0], [-0.5, 0.5])
    setting = {"sparsity": "rwl1", "sparsity_options": {"regularization": 0.3}, "random_state": 0}
    fitted = FixedSizeLSSVMClassifier(60, selection="renyi", kernel=RBF(1.0), **setting).fit(X, labels)
    assert fitted.coef_.shape == (fitted.n_prototypes_, 3)
    assert fitted.n_prototypes_ < 50
    assert fitted.score(X, labels) > 0.9


def test_columns_of_a_linear_kernel_are_chosen_too():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(300, 8))
    y = 2 * X[:, 1] - X[:, 5] + 0.1 * rng.normal(size=300)
    fitted = FixedSizeLSSVMRegressor(kernel=Linear(), sparsity="scad", random_state=0).fit(X, y)
    assert np.flatnonzero(fitted.coef_[:, 0]).tolist() == [1, 5]
    np.testing.assert_allclose(fitted.coef_[[1, 5], 0], [2, -1], atol=0.05)


def test_a_stream_keeps_all_prototypes_to_choose_from():
    X, y = sinc()
    fitted = model("rwl1").fit(X, y)
    stream = model("rwl1").partial_fit(X[:250], y[:250]).partial_fit(X[250:], y[250:])
    assert stream.n_prototypes_ < 25
    assert error(stream) < 3 * error(fitted)
    fitted.partial_fit(X, y)  # after fit the strength that it chose stays
    assert fitted.n_prototypes_ < 25


def test_nothing_to_tell_leaves_one_prototype():
    X, _ = sinc()
    fitted = model("rwl1", 1.0).fit(X, np.full(500, 2.0))
    assert fitted.n_prototypes_ == 1
    np.testing.assert_allclose(fitted.predict(GRID), 2.0)


def second_stage(**how):
    """Its problem on six correlated columns of 50 rows; those columns and the targets."""
    rng = np.random.default_rng(0)
    F, columns = rng.normal(size=(50, 6)), np.triu(rng.normal(size=(6, 6))) + 2 * np.eye(6)
    y = F @ columns @ [2.0, 0.0, 0.5, -1.0, 0.0, 0.1] + rng.normal(size=50)
    return _Problem.of(NormalEquations().add(F, y), columns, 0.1, Sparsity(**how)), F @ columns, y


def test_weights_are_the_derivatives_of_the_penalties():
    """SCAD (in units of the columns' deviation), ℓq and the two levels, by differences of the penalties themselves."""
    problem, K, _ = second_stage(penalty="scad")
    unit = K.std(axis=0)
    np.testing.assert_allclose(problem.unit, unit)
    beta = np.array([0.0, 0.3, 0.7, -1.5, 2.5, -9.0])[:, None]
    size, strength = np.abs(beta[:, 0]), 50 * 0.8

    def scad(t, level=0.8, a=3.7):
        falling = (2 * a * level * t - t**2 - level**2) / (2 * (a - 1))
        return np.select([t <= level, t <= a * level], [level * t, falling], (a + 1) * level**2 / 2)

    slope = (scad(size * unit + 1e-6) - scad(np.maximum(size * unit - 1e-6, 0))) / np.where(size > 0, 2e-6, 1e-6)
    expected = np.maximum(slope / 0.8, 1e-3) * unit
    np.testing.assert_allclose(problem._weights(beta, strength), expected, rtol=1e-4)

    problem, _, _ = second_stage(penalty="lq", exponent=0.4)
    little = 0.1 * np.median(np.abs(problem.start))
    powers = [((size + little + step) * unit) ** 0.4 for step in (-1e-7, 1e-7)]
    np.testing.assert_allclose(problem._weights(beta, 1.0), (powers[1] - powers[0]) / 2e-7, rtol=1e-4)

    problem, _, _ = second_stage(penalty="two_level", level=0.2, n_large=2)
    large = np.argsort(size * unit)[-2:]
    np.testing.assert_allclose(problem._weights(beta, 1.0), unit * np.where(np.isin(np.arange(6), large), 0.2, 1.0))


def test_the_reweighted_ridge_ends_at_its_fixed_point():
    """β = (KᵀK + strength diag(1 / (β² + ε)))⁻¹ Kᵀ y of the centred columns, iterated here for as long as it moves."""
    problem, K, y = second_stage(penalty="l0", max_rounds=50)
    K, y = K - K.mean(axis=0), y - y.mean()
    for strength in (0.3, 1.0, 3.0):
        beta = problem.start[:, 0]
        for _ in range(3000):
            beta = np.linalg.solve(K.T @ K + strength * np.diag(1 / (beta**2 + 1e-12)), K.T @ y)
        expected = np.flatnonzero(np.abs(beta) > 1e-3 * np.abs(beta).max())
        np.testing.assert_array_equal(problem.support(strength)[0], expected)
        assert 0 < len(expected) < 6
