"""Weights of rows, and the solution of a sample."""

import numpy as np
import pytest

from gramian.kernels import RBF, Linear
from gramian.lssvm import LSSVMRegressor
from gramian.lssvm.solution import Weights
from lssvm.textbook_lssvm import bordered, problem


def test_whole_weights_are_counts_and_others_importance():
    assert Weights.of(np.array([1.0, 2.0])).counts is not None
    assert Weights.of(np.array([1.0, 1.0])).product is None
    mixed = Weights.of(np.array([1.0, 0.5]), np.array([2.0, 2.0]))
    assert mixed.counts is None
    np.testing.assert_array_equal(mixed.product, [2.0, 1.0])


@pytest.mark.parametrize("kernel", [RBF(1.0), "precomputed", Linear()], ids=repr)
def test_rows_of_weight_zero_are_not_there(kernel):
    """Coefficients are zero, predictions those of the other rows alone."""
    X, y = problem(40)
    weights = np.where(np.arange(40) % 3 == 0, 0.0, 1.5)
    used = weights > 0
    values = RBF(1.0)(X) if kernel == "precomputed" else X
    model = LSSVMRegressor(kernel, regularization=2.0).fit(values, y, sample_weight=weights)
    inner = RBF(1.0) if kernel == "precomputed" else kernel
    alpha, b = bordered(inner(X[used]), y[used], 2.0, weights[used])
    assert (model.dual_coef_[~used] == 0).all()
    np.testing.assert_allclose(model.predict(values), inner(X, X[used]) @ alpha + b, rtol=1e-7)
    assert np.isnan(model.loo_residuals()[~used]).all()
