"""Kernels that are not positive semi-definite."""

import numpy as np
import pytest
from scipy.linalg import LinAlgWarning
from sklearn.exceptions import ConvergenceWarning

from gramian import config
from gramian.kernels import RBF, TL1, GaussianDifference, Tanh
from gramian.lssvm import LSSVMClassifier, LSSVMRegressor
from lssvm.textbook_lssvm import bordered, problem

KERNELS = [TL1(2.0), Tanh(0.5, -0.3), GaussianDifference(0.7)]


def spectra(values, how):
    """Eigenvalues of the repaired matrix, and of P."""
    return {
        "clip": (values.clip(min=0), (values > 0) * 1.0),
        "flip": (np.abs(values), np.sign(values)),
        "square": (values**2, values),
        "shift": (values - min(values.min(), 0), np.ones_like(values)),
    }[how]


@pytest.mark.parametrize("kernel", KERNELS, ids=repr)
def test_the_direct_solution_is_stationary_in_krein_space(kernel):
    """All derivatives of ½(‖w₊‖² − ‖w₋‖²) + γ/2 Σ e² vanish, with w₊ = Φ₊ᵀ α and w₋ = −Φ₋ᵀ α."""
    X, y = problem(50)
    model = LSSVMRegressor(kernel, regularization=3.0).fit(X, y)
    values, U = np.linalg.eigh(kernel(X))
    positive, negative = U[:, values > 0] * np.sqrt(values[values > 0]), U[:, values < 0] * np.sqrt(-values[values < 0])
    plus, minus = positive.T @ model.dual_coef_, -negative.T @ model.dual_coef_
    e = y - positive @ plus - negative @ minus - model.intercept_
    assert np.abs(plus - 3 * positive.T @ e).max() < 1e-8
    assert np.abs(-minus - 3 * negative.T @ e).max() < 1e-8
    assert abs(e.sum()) < 1e-8
    np.testing.assert_allclose(model.predict(X), y - e, atol=1e-9)


@pytest.mark.parametrize("how", ["clip", "flip", "square", "shift"])
@pytest.mark.parametrize("kernel", KERNELS, ids=repr)
def test_repaired_spectra_have_their_out_of_sample_maps(kernel, how):
    """f(x) = k(x) P α + b, with α of the repaired matrix."""
    X, y = problem(40)
    new = X[:6] + 0.2
    values, U = np.linalg.eigh(kernel(X))
    repaired, P = spectra(values, how)
    alpha, b = bordered((U * repaired) @ U.T, y, 3.0)
    model = LSSVMRegressor(kernel, regularization=3.0, indefinite=how).fit(X, y)
    expected = kernel(new, X) @ ((U * P) @ (U.T @ alpha)) + b
    np.testing.assert_allclose(model.predict(new), expected, rtol=1e-6, atol=1e-7)
    if how != "shift":
        np.testing.assert_allclose(model.predict(X), (U * repaired) @ (U.T @ alpha) + b, rtol=1e-6, atol=1e-7)


@pytest.mark.parametrize("how", ["clip", "flip", "square"])
@pytest.mark.parametrize("kernel", KERNELS, ids=repr)
def test_deviations_are_those_of_the_repaired_matrix(kernel, how):
    """At fitted rows the posterior deviation of f, from the definition, with K' in the place of K."""
    X, y = problem(40)
    values, U = np.linalg.eigh(kernel(X))
    K = (U * spectra(values, how)[0]) @ U.T
    A = np.block([[np.zeros((1, 1)), np.ones((1, 40))], [np.ones((40, 1)), K + np.eye(40) / 3]])
    inverse = np.linalg.inv(A)
    alpha, _ = bordered(K, y, 3.0)
    new = np.vstack([np.ones(40), K])
    expected = np.mean(alpha**2 / np.diag(inverse)[1:]) * (np.diag(K) - (new * (inverse @ new)).sum(axis=0))
    model = LSSVMRegressor(kernel, regularization=3.0, indefinite=how).fit(X, y)
    np.testing.assert_allclose(model.predict(X, return_std=True)[1] ** 2, expected, rtol=1e-5)
    lower, upper = model.predict_interval(X + 0.1).T
    assert (lower < upper).all()
    assert np.isfinite(upper).all()


@pytest.mark.parametrize("how", ["direct", "clip", "flip", "square", "shift"])
def test_the_regularization_is_chosen_for_the_repaired_matrix(how):
    """The chosen one has about the least leave-one-out error of all, and a robust fit chooses alike."""
    X, y = problem(40)
    robust = {"robust": "huber", "criterion": "robust"}
    if how == "direct":  # a fit is no minimum, so nothing makes the weights settle
        with pytest.warns(ConvergenceWarning, match="did not settle"):
            LSSVMRegressor(TL1(2.0), indefinite=how, **robust).fit(X, y)
    for options in ({},) if how == "direct" else ({}, robust):
        model = LSSVMRegressor(TL1(2.0), indefinite=how, **options).fit(X, y)
        tried = [
            np.abs(LSSVMRegressor(TL1(2.0), regularization=gamma, indefinite=how).fit(X, y).loo_residuals())
            for gamma in np.geomspace(1e-2, 1e3, 25)
        ]
        error = np.abs(model.loo_residuals())
        if options:
            assert error.mean() <= 1.1 * min(size.mean() for size in tried)
        else:
            assert (error**2).mean() <= 1.01 * min((size**2).mean() for size in tried)


@pytest.mark.parametrize("how", ["direct", "clip", "flip", "shift"])
def test_a_definite_matrix_is_left_as_it_is(how):
    X, y = problem(40)
    K = RBF(1.0)(X)
    plain = LSSVMRegressor(RBF(1.0), regularization=3.0).fit(X, y).predict(X)
    model = LSSVMRegressor("precomputed", regularization=3.0, indefinite=how).fit(K, y)
    np.testing.assert_allclose(model.predict(K), plain, rtol=1e-6)


def test_the_signature_counts_eigenvalues():
    X, y = problem(30)
    values = np.linalg.eigvalsh(TL1(2.0)(X))
    for how in ("direct", "clip"):
        model = LSSVMRegressor(TL1(2.0), regularization=1.0, indefinite=how).fit(X, y)
        assert model.signature_ == ((values > 0).sum(), (values < 0).sum(), 0)
    assert LSSVMRegressor("linear", regularization=1.0).fit(X, y).signature_ == (3, 0, 27)


def test_a_system_close_to_singular_names_the_eigenvalue():
    """Where an eigenvalue meets −1/γ the warning says which."""
    X, y = problem(30)
    K = Tanh(0.5, -0.3)(X)
    least = np.linalg.eigvalsh(K)[0]
    with pytest.warns(LinAlgWarning, match=f"eigenvalue {least:.5g}"):
        LSSVMRegressor("precomputed", regularization=-1 / least).fit(K, y)


@pytest.mark.parametrize(("kernel", "least"), list(zip(KERNELS, [0.5, -0.1, 0.2], strict=True)), ids=repr)
def test_the_search_avoids_singular_systems(kernel, least):
    """Nothing is warned about, and the model learns, but for tanh, which has no even functions to learn this one by."""
    X, y = problem(80)
    model = LSSVMRegressor(kernel).fit(X, y)
    assert 1 - np.mean(model.loo_residuals() ** 2) / y.var() > least
    labels = y > np.median(y)
    assert LSSVMClassifier(kernel).fit(X, labels).score(X, labels) > 0.7


def test_eigenvectors_above_the_memory_budget_are_refused_with_the_remedy():
    X, y = problem(80)
    model = LSSVMRegressor(TL1(2.0), regularization=0.2, indefinite="clip")
    with config(memory_budget=4e4), pytest.raises(MemoryError, match="use indefinite='direct', or landmarks"):
        model.fit(X, y)
