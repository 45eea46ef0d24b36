"""Scores for forecasts against their formulas."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from gramian.metrics import (
    interval_coverage,
    mase,
    nrmse,
)


@pytest.fixture
def rng():
    return np.random.default_rng(20)


def test_nrmse_of_a_perfect_forecast_is_zero_and_of_the_mean_one():
    y = np.random.default_rng(0).normal(size=50)
    assert nrmse(y, y) == 0
    assert abs(nrmse(y, np.full(50, y.mean())) - 1) < 1e-15


def test_nrmse_of_several_columns_is_the_formula():
    """Each column varies about its own mean."""
    rng = np.random.default_rng(3)
    true = rng.normal(size=(40, 2)) + np.array([0.0, 50.0])
    found = true + rng.normal(size=(40, 2))
    expected = np.sqrt(((true - found) ** 2).sum() / ((true - true.mean(axis=0)) ** 2).sum())
    assert abs(nrmse(true, found) - expected) < 1e-12


@settings(max_examples=30, deadline=None)
@given(scale=st.floats(0.01, 100), shift=st.floats(-100, 100), columns=st.integers(1, 3))
def test_nrmse_does_not_depend_on_units_and_is_the_root_of_what_r2_leaves(scale, shift, columns):
    from sklearn.metrics import r2_score

    rng = np.random.default_rng(1)
    true, found = rng.normal(size=(2, 40, columns))
    value = nrmse(true, found)
    assert abs(nrmse(scale * true + shift, scale * found + shift) - value) < 1e-9 * value
    if columns == 1:
        assert abs(value - np.sqrt(1 - r2_score(true, found))) < 1e-12


@pytest.mark.parametrize("scale", [1e-250, 1e250])
def test_nrmse_of_tiny_and_huge_numbers(scale):
    true, found = scale * np.random.default_rng(2).normal(size=(2, 30))
    assert nrmse(true, found) == pytest.approx(nrmse(true / scale, found / scale))


def test_a_constant_does_not_vary_by_the_rounding_of_its_mean():
    with pytest.raises(ValueError, match="does not vary"):
        nrmse(np.full(7, 0.1), np.full(7, 0.2))


def test_mase_of_the_seasonal_naive_forecast_is_one():
    x = np.random.default_rng(0).normal(size=120)
    assert abs(mase(x[7:], x[:-7], x, period=7) - 1) < 1e-12
    two = np.column_stack([x, 100 * x])
    assert abs(mase(two[7:], two[:-7], two, period=7) - 1) < 1e-12


def test_coverage_counts_values_inside_ends_included():
    assert interval_coverage([0.0, 1.0, 2.0], [0.0, 2.0, -np.inf], [0.0, 3.0, np.inf]) == 2 / 3


def test_missing_true_values_are_left_out():
    assert nrmse([1.0, np.nan, 3.0], [1.0, 9.0, 3.0]) == 0
    assert mase([2.0, np.nan], [3.0, np.nan], [0.0, 1.0, np.nan, 2.0, 3.0]) == 1
    assert interval_coverage([np.nan, 1.0], [np.nan, 0.0], [np.nan, 2.0]) == 1


@pytest.mark.parametrize(
    ("call", "told"),
    [
        (lambda: nrmse([1.0, 1.0], [1.0, 2.0]), "does not vary"),
        (lambda: nrmse([1.0, 2.0], [1.0, np.nan]), "y_pred is NaN"),
        (lambda: nrmse([1.0, 2.0], [1.0]), "shape"),
        (lambda: nrmse([np.nan], [1.0]), "no step"),
        (lambda: mase([1.0], [1.0], [1.0, 2.0], period=2), "period=2 needs more"),
        (lambda: mase([1.0], [1.0], [1.0, 1.0]), "repeats itself"),
        (lambda: mase([1.0], [1.0], [[1.0, 2.0]] * 3), "1 columns of y_true"),
        (lambda: interval_coverage([1.0], [0.0, 1.0], [2.0]), "shape"),
        (lambda: interval_coverage([1.0], [np.nan], [2.0]), "NaN where y_true is known"),
        (lambda: interval_coverage([np.nan], [0.0], [2.0]), "no known value"),
    ],
)
def test_forecasts_that_do_not_fit_are_refused(call, told):
    with pytest.raises(ValueError, match=told):
        call()
