"""Columns on one scale, and values for holes."""

import dask
import dask.array
import numpy as np
import pytest
from scipy.sparse import csr_array, issparse
from sklearn.preprocessing import StandardScaler

from gramian.kernels import ClusterKernel
from gramian.lssvm import LSSVMClassifier, LSSVMRegressor
from gramian.lssvm.preparation import Preparation, Standardization
from gramian.partitions import DistributedRows
from lssvm.textbook_lssvm import problem


def rows(n=120, d=3):
    return np.random.default_rng(0).normal(size=(n, d))


def test_standardised_columns_have_mean_zero_and_deviation_one():
    X = rows() * [1e-3, 1.0, 1e150] + [0.0, 100.0, 0.0]
    Z = Standardization(X).rows(X)
    np.testing.assert_allclose(Z.mean(axis=0), 0, atol=1e-12)
    np.testing.assert_allclose(Z.std(axis=0), 1, rtol=1e-10)
    np.testing.assert_allclose(Standardization(X).original(Z), X, rtol=1e-9)


def test_weights_of_rows_are_repetitions():
    X, times = rows(20), np.arange(20) % 4
    weighted, repeated = Standardization(X, times), Standardization(np.repeat(X, times, axis=0))
    np.testing.assert_allclose(weighted.mean, repeated.mean, atol=1e-14)
    np.testing.assert_allclose(weighted.scale, repeated.scale, rtol=1e-13)


def test_sparse_columns_keep_their_zeros_and_their_differences():
    X = np.where(rows() > 0.5, rows(), 0.0)
    dense, thin = Standardization(X).rows(X), Standardization(csr_array(X)).rows(csr_array(X))
    assert issparse(thin)
    assert thin.nnz == np.count_nonzero(X)
    np.testing.assert_allclose(thin.toarray() - thin.toarray()[0], dense - dense[0], atol=1e-12)
    back = Standardization(csr_array(X)).original(thin)
    np.testing.assert_allclose(back.toarray(), X, atol=1e-12)


def test_columns_that_vary_by_rounding_alone_are_ignored():
    X = np.c_[rows(50), np.where(np.arange(50) % 2, 0.3, 0.1 + 0.2)]
    assert np.isinf(Standardization(X).scale[3])
    assert not Standardization(X).rows(X)[:, 3].any()


def test_columns_that_told_nothing_have_no_say_later():
    """A constant column and one without a value may hold anything in new rows, of any size."""
    X = np.c_[rows(40, 1), np.full(40, 5.0), np.full(40, np.nan)]
    y = np.sin(X[:, 0])
    model = LSSVMRegressor(random_state=0).fit(X, y)
    expected = LSSVMRegressor(random_state=0).fit(X[:, :1], y).predict([[0.3]])
    found = model.predict([[0.3, 5.0, np.nan], [0.3, 6.0, 1.0], [0.3, -1e300, 1e300]])
    assert found[0] == found[1] == found[2]
    if model.preparation_ is not None:
        np.testing.assert_allclose(found[0], expected, atol=0.05)


def test_holes_stay_holes_and_do_not_count():
    X = rows(6000, 2)
    X[:5000, 0] = np.nan
    found = Standardization(X)
    np.testing.assert_allclose(found.mean, np.nanmean(X, axis=0), atol=1e-12)
    np.testing.assert_allclose(found.scale, np.nanstd(X, axis=0), rtol=1e-12)
    assert np.array_equal(np.isnan(found.rows(X)), np.isnan(X))


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
    np.testing.assert_allclose(prepare.original(Z)[known], X[known])
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


@pytest.mark.parametrize("size", [1.0, 1e200])
def test_rows_on_workers_are_measured_as_rows_in_memory(size):
    """Columns that are constant, empty, full of holes, or huge, in partitions of which one has no value of a column."""
    X = np.random.default_rng(0).normal(size=(60, 5)) * size + 3 * size
    X[:, 1] = 0.1
    X[:, 2] = np.nan
    X[:25, 3] = np.nan
    alone = Standardization(X)
    for chunks in (60, 20, 7):
        rows = DistributedRows(dask.array.from_array(X, chunks=(chunks, 5)), ensure_all_finite="allow-nan")
        with dask.config.set(scheduler="synchronous"):
            apart = Standardization(rows)
        np.testing.assert_allclose(apart.mean, alone.mean, rtol=1e-12)
        np.testing.assert_allclose(apart.scale, alone.scale, rtol=1e-12)
