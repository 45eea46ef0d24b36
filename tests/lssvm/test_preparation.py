"""Columns on one scale, and values for holes."""

import numpy as np
import pytest
from scipy.sparse import csr_array
from sklearn.preprocessing import StandardScaler

from gramian.kernels import ClusterKernel
from gramian.lssvm import LSSVMClassifier, LSSVMRegressor
from gramian.lssvm.preparation import Preparation
from lssvm.textbook_lssvm import problem


def test_columns_are_those_of_the_standard_scaler():
    X = np.random.default_rng(0).normal(size=(50, 3)) * [1, 1e3, 1e-5] + [0, 7, 3]
    np.testing.assert_allclose(Preparation(X)(X), StandardScaler().fit_transform(X), atol=1e-9)
    weights = np.random.default_rng(1).integers(1, 4, 50)
    expected = StandardScaler().fit(np.repeat(X, weights, axis=0)).transform(X)
    np.testing.assert_allclose(Preparation(X, weights * 1.0)(X), expected, atol=1e-9)


def test_constant_columns_become_zero():
    X = np.column_stack([np.full(20, 0.1), np.arange(20.0)])
    assert (Preparation(X)(X)[:, 0] == 0).all()


def test_sparse_rows_are_scaled_only():
    X = csr_array(np.random.default_rng(0).binomial(3, 0.3, (40, 4)) * [1.0, 5.0, 1.0, 0.0])
    Z = Preparation(X)(X)
    assert Z.nnz == X.nnz
    expected = StandardScaler(with_mean=False).fit_transform(X.toarray())
    np.testing.assert_allclose(Z.toarray(), expected, atol=1e-9)


@pytest.mark.parametrize("filling", ["mean", "neighbours", "mixture"])
def test_holes_are_filled_and_known_values_kept(filling):
    X, _ = problem(60)
    holes = np.random.default_rng(0).random(X.shape) < 0.2
    table = np.where(holes, np.nan, X)
    table[:, 2] = np.nan  # a column without a value
    prepare = Preparation(table, None, filling)
    Z = prepare(table)
    assert np.isfinite(Z).all()
    known = ~np.isnan(table)
    np.testing.assert_allclose((Z * prepare.scale + prepare.center)[known], X[known])
    assert np.isfinite(prepare(np.full((1, 3), np.nan))).all()


def test_correlated_columns_fill_each_other():
    """A mixture knows a column from its copy; the mean does not."""
    rng = np.random.default_rng(0)
    x = rng.normal(size=200)
    X = np.column_stack([x, x + 0.01 * rng.normal(size=200)])
    table = X.copy()
    table[::5, 1] = np.nan
    truth = Preparation(X)(X)[::5, 1]
    for filling in ("neighbours", "mixture"):
        assert np.abs(Preparation(table, None, filling)(table)[::5, 1] - truth).mean() < 0.2


def test_a_model_with_holes_says_what_it_chose_and_predicts_with_holes():
    """Leave-one-out compares the cluster kernel with both ways to fill in."""
    X, y = problem(80)
    table = np.where(np.random.default_rng(0).random(X.shape) < 0.2, np.nan, X)
    table[np.isnan(table).all(axis=1), 0] = 0.0
    model = LSSVMRegressor(random_state=0).fit(table, y)
    assert set(model.tuning_["kernel"]) == {"rbf, neighbours", "rbf, mixture", "cluster"}
    assert np.isfinite(model.predict(table)).all()
    assert 1 - np.mean(model.loo_residuals() ** 2) / y.var() > 0.3
    assert isinstance(model.kernel_, ClusterKernel) == (model.preparation_ is None)
    labels = y > np.median(y)
    assert LSSVMClassifier(random_state=0).fit(table, labels).score(table, labels) > 0.7


def test_holes_that_appear_later_are_filled_by_the_mean():
    X, y = problem()
    model = LSSVMRegressor().fit(X, y)
    new = X[:2].copy()
    new[0, 0] = np.nan
    filled = X[:2].copy()
    filled[0, 0] = X[:, 0].mean()
    np.testing.assert_allclose(model.predict(new), model.predict(filled))


def test_sparse_rows_with_holes_are_refused():
    X = csr_array(np.array([[1.0, np.nan], [0.0, 2.0], [3.0, 0.0]]))
    with pytest.raises(ValueError, match="sparse and contains NaN"):
        LSSVMRegressor().fit(X, [1.0, 2.0, 3.0])
