"""Functions of one number per pair: values, derivatives, frequencies and tiles, from their definitions.

That each kernel's profile is the kernel, with the right derivatives, is tested by every kernel's own case.
"""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.sparse import csr_array
from scipy.spatial.distance import cdist

from gramian.kernels.profile import (
    Exponential,
    Power,
    Profile,
    beta_diagonal,
    beta_sides,
    beta_tile,
    orthogonal_frequencies,
)


class Cubic(Profile):
    """f(β) = β³, with no more than has to be written."""

    kind = "inner"

    def both(self, beta):
        return beta**3, 3 * beta**2

    def second_derivative(self, beta):
        return 6 * beta


@pytest.mark.parametrize("exponent", [-3, -2, -1.5, -1, -0.5, 0.3, 0.5, 1, 1.5, 2, 3, 4.5, 8, 9, -9])
def test_powers(exponent):
    """a (o + s β)^p and its derivatives are those of NumPy, by products and roots or by logarithms."""
    beta = np.linspace(0.1, 5, 9)
    profile = Power("distance", exponent, offset=0.5, scale=2.0, amplitude=-3.0)
    base = 0.5 + 2 * beta
    np.testing.assert_allclose(profile.value(beta), -3 * base**exponent, rtol=1e-13)
    np.testing.assert_allclose(profile.derivative(beta), -6 * exponent * base ** (exponent - 1), rtol=1e-13)
    second = -12 * exponent * (exponent - 1) * base ** (exponent - 2.0)
    np.testing.assert_allclose(profile.second_derivative(beta), second, rtol=1e-13)
    value, slope = profile.both(beta.copy())
    np.testing.assert_allclose(value, profile.value(beta), rtol=1e-13)
    np.testing.assert_allclose(slope, profile.derivative(beta), rtol=1e-13)
    assert profile.constant_slope == (exponent == 1)


def test_power_of_zero():
    """Any base to the power of zero is one."""
    np.testing.assert_array_equal(Power("inner", 0).value(np.array([0.0, 2.0])), [1, 1])


def test_small_numbers_under_a_large_exponent():
    """(1 + β/p)^−p keeps the digits of β where 1 + β/p would lose them."""
    beta = np.array([1e-9, 1e-3])
    np.testing.assert_allclose(Power("distance", -1e12, offset=1.0, scale=1e-12).value(beta), np.exp(-beta), rtol=1e-9)


def test_what_powers_and_exponentials_say_of_themselves():
    """Signs, monotonicity and resolution follow from the parameters."""
    rbf = Exponential("distance", -0.5 / 3.0**2)
    assert rbf.nonnegative
    assert rbf.decreasing
    assert rbf.resolution == pytest.approx(3.0)
    assert not Exponential("inner", 1.0).decreasing
    assert Exponential("inner", 1.0).resolution == np.inf
    assert not Exponential("distance", -0.5, np.ones(3)).decreasing
    cauchy = Power("distance", -1, offset=1.0, scale=0.25)
    assert cauchy.nonnegative
    assert cauchy.decreasing
    assert cauchy.resolution == pytest.approx(2.0)
    negative = Power("distance", 1, amplitude=-1.0)
    assert not negative.nonnegative
    assert negative.decreasing
    assert not Power("distance", 1).decreasing
    assert not Power("inner", 2).nonnegative


def test_the_least_that_has_to_be_written():
    """value and derivative come from both; integers become floats and are not changed."""
    beta = np.array([1, 2, 3])
    np.testing.assert_array_equal(Cubic().value(beta), [1, 8, 27])
    np.testing.assert_array_equal(Cubic().derivative(beta), [3, 12, 27])
    np.testing.assert_array_equal(beta, [1, 2, 3])
    out = np.array([2.0])
    assert Cubic().value(out, out=out) is out
    assert out[0] == 8
    assert Cubic().frequencies(2, 3, np.random.default_rng(0)) is None


def test_means_of_gaussians():
    """A · mean exp(−τ β) is the power; exponentials have one rate; growing functions have none."""
    power = Power("distance", -1.5, offset=2.0, scale=3.0, amplitude=4.0)
    amplitude, rates = power.gaussian_rates(400_000, np.random.default_rng(0))
    for beta in (0.0, 0.4, 2.0):
        expected = 4 * (2 + 3 * beta) ** -1.5
        assert amplitude * np.exp(-rates * beta).mean() == pytest.approx(expected, rel=5e-3)
    amplitude, rates = Exponential("distance", -0.7).gaussian_rates(3, np.random.default_rng(0))
    assert amplitude == 1
    np.testing.assert_array_equal(rates, 0.7)
    for other in (Exponential("inner", -1.0), Power("inner", -1), Power("distance", 1), Power("distance", -1)):
        assert other.gaussian_rates(3, np.random.default_rng(0)) is None


@pytest.mark.parametrize("orthogonal", [False, True])
def test_frequencies_of_the_gaussian(orthogonal):
    """Frequencies of exp(−τ β) have variance 2τ in every direction."""
    W = Exponential("distance", -0.7).frequencies(3, 60_000, np.random.default_rng(0), orthogonal=orthogonal)
    np.testing.assert_allclose(W @ W.T / 60_000, 1.4 * np.eye(3), atol=0.03)


@pytest.mark.parametrize(("d", "size"), [(3, 9), (4, 10), (5, 2)])
def test_orthogonal_frequencies(d, size):
    """Within a group of d the columns are orthogonal; their lengths are those of normal vectors on average."""
    W = orthogonal_frequencies(d, size, np.random.default_rng(0))
    assert W.shape == (d, size)
    for start in range(0, size, d):
        group = W[:, start : start + d]
        products = group.T @ group
        np.testing.assert_allclose(products - np.diag(np.diag(products)), 0, atol=1e-12)
    many = orthogonal_frequencies(d, 30_000, np.random.default_rng(1))
    assert (many**2).sum(axis=0).mean() == pytest.approx(d, rel=0.02)
    assert np.abs(many.mean(axis=1)).max() < 0.03


# Tiles of β ------------------------------------------------------------------------------------------------


@given(st.integers(0, 999), st.integers(1, 9), st.integers(1, 9), st.integers(1, 5), st.floats(-1e3, 1e3))
@settings(max_examples=60, deadline=None)
def test_tiles_are_distances(seed, n, m, d, move):
    """A tile of any rows holds squared distances or inner products, dense or sparse, never below zero."""
    rng = np.random.default_rng(seed)
    X, Y = rng.standard_normal((n, d)) + move, rng.standard_normal((m, d)) + move
    for left_rows, right_rows in ((X, Y), (csr_array(X), csr_array(Y)), (X, csr_array(Y))):
        left, right = beta_sides("distance", left_rows, right_rows)
        tile = beta_tile("distance", left[: n // 2 + 1], right, 1.0)
        np.testing.assert_allclose(tile, cdist(X[: n // 2 + 1], Y, "sqeuclidean"), atol=1e-8)
        assert tile.min() >= 0
        left, right = beta_sides("inner", left_rows, right_rows)
        np.testing.assert_allclose(beta_tile("inner", left, right), X @ Y.T, rtol=1e-9, atol=1e-6)


@pytest.mark.parametrize("kind", [np.asarray, csr_array])
def test_far_rows_are_measured_by_differences(kind):
    """Two far clusters: distances inside each are right relative to the resolution, though the rows are large."""
    X = np.random.default_rng(0).standard_normal((20, 3))
    X[10:] += 1e9
    sides = beta_sides("distance", kind(X), kind(X))
    tile = beta_tile("distance", *sides, 1.0)
    np.testing.assert_allclose(tile[10:, 10:], cdist(X[10:], X[10:], "sqeuclidean"), atol=1e-6)
    coarse = beta_tile("distance", *sides)
    assert np.abs(coarse[10:, 10:] - tile[10:, 10:]).max() > 1


def test_diagonals():
    """β of a row with itself is its squared length, or zero."""
    X = np.array([[3.0, 4.0], [0.0, 1.0]])
    np.testing.assert_array_equal(beta_diagonal("inner", X), [25, 1])
    np.testing.assert_array_equal(beta_diagonal("distance", X), [0, 0])


def test_distances_that_overflow():
    """Rows whose squares leave the range of floats are refused with a remedy."""
    with pytest.raises(ValueError, match=r"overflow float32; scale the columns"):
        beta_sides("distance", np.array([[-1e30], [1e30]], np.float32), np.array([[-1e30], [1e30]], np.float32))


def test_wrong_derivatives_are_noticed():
    """check_derivative compares with differences, at the betas of a few rows."""

    class Wrong(Cubic):
        def both(self, beta):
            return beta**3, 2 * beta**2

    X = np.random.default_rng(0).standard_normal((9, 3))
    Cubic().check_derivative(X)
    Exponential("distance", -1.0).check_derivative(X)
    with pytest.raises(ValueError, match="pass the derivative of value"):
        Wrong().check_derivative(X)
