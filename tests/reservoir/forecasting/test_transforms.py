"""Units: there and back, with and without logarithms."""

import numpy as np
import pytest

from gramian.reservoir.forecasting.transforms import Units, takes_log


@pytest.mark.parametrize("log", [False, True])
def test_there_and_back(log):
    """Standard units have mean 0 and deviation 1, and go back to the values; holes stay."""
    values = np.exp(np.random.default_rng(0).normal(size=(50, 2)))
    values[3, 1] = np.nan
    units = Units(values, log)
    standard = units.standard(values)
    np.testing.assert_allclose(np.nanmean(standard, axis=0), 0, atol=1e-12)
    np.testing.assert_allclose(np.nanstd(standard, axis=0), 1)
    np.testing.assert_allclose(units.original(standard), values, rtol=1e-10)


def test_zeros_do_not_break_the_logarithm():
    """Series with zeros get an offset; later values below all others stay finite."""
    values = np.array([[0.0], [5.0], [10.0]])
    assert takes_log(values)
    units = Units(values, True)
    assert np.isfinite(units.standard(np.array([[-100.0]]))).all()
    assert not takes_log(-values)


def test_constant_columns_have_a_scale():
    """A column that does not vary is all zeros in standard units."""
    np.testing.assert_array_equal(Units(np.full((4, 1), 3.0)).standard(np.full((4, 1), 3.0)), 0)


def test_two_values_take_no_logarithm():
    """Series of 0 and 1, or of any two values, stay as they are, also beside another column; three values may not."""
    switched = np.random.default_rng(0).integers(2, size=(60, 1)).astype(float)
    assert not takes_log(switched)
    assert not takes_log(switched + 3)
    assert not takes_log(np.hstack([switched, np.arange(60.0)[:, None]]))
    switched[7], switched[8] = np.nan, 0.5
    assert takes_log(switched)
