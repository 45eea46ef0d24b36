"""Regularization under other names."""

import numpy as np
import pytest
from sklearn.gaussian_process import GaussianProcessRegressor
from sklearn.gaussian_process import kernels as gp
from sklearn.kernel_ridge import KernelRidge

from gramian.kernels import RBF
from gramian.lssvm import LSSVMRegressor, regularization_from_lambda
from lssvm.textbook_lssvm import problem


def test_lambda_of_the_hilbert_space_is_that_of_kernel_ridge():
    """(1/n) Σ e² + λ ‖f‖² is kernel ridge with alpha = λ n = 1/γ, and the machine's with centred kernel and targets."""
    X, y = problem(40)
    gamma = regularization_from_lambda(0.01, 40)
    K, c = RBF(1.0)(X), np.linalg.solve(RBF(1.0)(X) + 0.01 * 40 * np.eye(40), y)
    np.testing.assert_allclose(KernelRidge(alpha=1 / gamma, kernel="precomputed").fit(K, y).dual_coef_, c)
    M = np.eye(40) - 1 / 40
    centred = KernelRidge(alpha=1 / gamma, kernel="precomputed").fit(M @ K @ M, y - y.mean())
    model = LSSVMRegressor(RBF(1.0), regularization=gamma).fit(X, y)
    np.testing.assert_allclose(model.dual_coef_, centred.dual_coef_, atol=1e-9)
    wide = gp.RBF(1.0) + gp.ConstantKernel(1e7)
    process = GaussianProcessRegressor(wide, alpha=1 / gamma, optimizer=None).fit(X, y)
    np.testing.assert_allclose(model.predict(X), process.predict(X), rtol=1e-4)


@pytest.mark.parametrize(("value", "n", "word"), [(0.0, 5, "lambda_"), (-1.0, 5, "lambda_"), (1.0, 0, "n")])
def test_nonsense_is_refused(value, n, word):
    with pytest.raises(ValueError, match=word):
        regularization_from_lambda(value, n)
