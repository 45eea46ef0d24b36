"""Profiles against the kernels they are of, and their derivatives against differences."""

import numpy as np
import pytest

from dependence.projection.textbook_ism import KERNELS, kernel_of, rows
from gramian.dependence.projection._pairs import profiles_of
from gramian.kernels import (
    RBF,
    InverseMultiquadric,
    Laplacian,
    Linear,
    Multiquadric,
    Polynomial,
    ProfileKernel,
    RationalQuadratic,
    RelativeRBF,
)


def check_slopes(profiles, X):
    for _, profile in profiles:
        profile.check_derivative(X)


every_kernel = pytest.mark.parametrize("name", KERNELS)


@every_kernel
def test_the_profiles_add_up_to_the_kernel(name):
    """Σ μ f(β), β from the rows, is the kernel's block."""
    X = rows()
    kernel = kernel_of(name, X)
    inner = X @ X.T
    squared = ((X[:, None] - X[None]) ** 2).sum(axis=2)
    total = np.zeros_like(inner)
    for weight, profile in profiles_of(kernel):
        beta = inner if profile.kind == "inner" else squared
        u = np.ones(len(X)) if profile.row_scales is None else profile.row_scales
        total += weight * profile.value(np.outer(u, u) * beta)
    np.testing.assert_allclose(total, kernel(X), rtol=1e-10, atol=1e-10)


@every_kernel
def test_derivatives(name):
    """f′ and f″ are the central differences of f and f′."""
    beta = np.linspace(0.3, 4, 23)
    for _, profile in profiles_of(kernel_of(name, rows())):
        for function, derivative, step in (
            (profile.value, profile.derivative, 1e-5),
            (profile.derivative, profile.second_derivative, 1e-5),
        ):
            expected = (function(beta + step) - function(beta - step)) / (2 * step)
            np.testing.assert_allclose(derivative(beta), expected, rtol=1e-7, atol=1e-7)


@every_kernel
def test_both_is_the_two(name):
    """``both`` may overwrite its argument; ``value`` and ``derivative`` may not, and all agree."""
    for _, profile in profiles_of(kernel_of(name, rows())):
        beta = np.linspace(0.0, 3, 11)
        kept = beta.copy()
        value, derivative = profile.value(beta), profile.derivative(beta)
        profile.second_derivative(beta)
        np.testing.assert_array_equal(beta, kept)
        for one, other in zip(profile.both(beta), (value, derivative), strict=True):
            np.testing.assert_allclose(one, other, rtol=1e-14)


@every_kernel
def test_nonnegative_profiles_are(name):
    """A profile that calls itself nonnegative never gives a negative value."""
    for _, profile in profiles_of(kernel_of(name, rows())):
        if profile.nonnegative:
            assert profile.value(np.linspace(-5 if profile.kind == "inner" else 0, 50, 99)).min() >= 0


@pytest.mark.parametrize("name", ["rbf", "cauchy", "inverse multiquadric", "rational quadratic"])
def test_means_of_gaussians(name):
    """A · mean exp(−τ β) tends to f(β)."""
    ((_, profile),) = profiles_of(kernel_of(name, rows()))
    amplitude, rates = profile.gaussian_rates(400_000, np.random.default_rng(0))
    for beta in (0.0, 0.5, 3.0):
        found = amplitude * np.exp(-rates * beta).mean()
        assert found == pytest.approx(float(profile.value(np.array([beta]))[0]), rel=5e-3)


@pytest.mark.parametrize("kernel", [Laplacian(1.0), RBF(1.0) * Linear(), RBF(1.0) + Laplacian(1.0)])
def test_other_kernels_are_refused(kernel):
    """A kernel outside the family is refused by name, with the family listed."""
    with pytest.raises(ValueError, match=r"is not a smooth function .*RBF, Cauchy.*ProfileKernel"):
        profiles_of(kernel)


def test_bad_parameters():
    """What cannot be used is said by name."""
    with pytest.raises(ValueError, match="widths of RelativeRBF depend on the data"):
        profiles_of(RelativeRBF())
    with pytest.raises(ValueError, match=r"factor=-1\.0"):
        profiles_of(-1.0 * RBF(1.0))
    with pytest.raises(ValueError, match="degree=0"):
        profiles_of(Polynomial(0))
    with pytest.raises(ValueError, match="kind='both'"):
        profiles_of(ProfileKernel(np.exp, np.exp, kind="both"))
    with pytest.raises(ValueError, match="second_derivative=None"):
        profiles_of(ProfileKernel(np.exp, np.exp))[0][1].second_derivative(np.ones(1))


@pytest.mark.parametrize("value", [0.0, -1.0, np.nan])
def test_parameters_are_positive(value):
    """Parameters that would give another function, or none, are refused by name."""
    for kernel, name in (
        (RationalQuadratic(1.0, value), "exponent"),
        (Multiquadric(value), "offset"),
        (InverseMultiquadric(value), "offset"),
    ):
        with pytest.raises(ValueError, match=f"{name}=.* must be a finite number > 0"):
            profiles_of(kernel)


@pytest.mark.parametrize(
    ("value", "derivative", "message"),
    [
        (lambda b: -np.sqrt(b), lambda b: -0.5 / np.sqrt(b), "derivative of ProfileKernel is not finite at β = 0"),
        (lambda b: np.log(b), lambda b: b, "value of ProfileKernel is not finite at β = 0"),
        (lambda b: -b, lambda b: -1.0, r"derivative of ProfileKernel returned float64 of shape \(\) for"),
        (lambda b: -b, lambda b: b[:1], r"derivative of ProfileKernel returned float64 of shape \(1,\) for"),
        (lambda b: None, lambda b: b, "value of ProfileKernel returned None"),
        (lambda b: b.astype(str), lambda b: b, "value of ProfileKernel returned <U32"),
    ],
)
def test_functions_that_give_no_numbers(value, derivative, message):
    """What a user's function returns is checked, and the message says which function it was."""
    ((_, profile),) = profiles_of(ProfileKernel(value, derivative))
    with pytest.raises(ValueError, match=message):
        profile.both(np.linspace(0, 1, 5))


@pytest.mark.parametrize("kind", ["inner", "distance"])
def test_derivatives_that_are_not(kind):
    """A derivative of another function is refused, with the numbers; the right one, kinks included, is not."""
    X = rows()

    def gauss(b):
        return np.exp(-b / 2)

    for wrong in (lambda b: 0.5 * gauss(b), lambda b: -gauss(b), gauss):
        with pytest.raises(ValueError, match="pass the derivative of value"):
            check_slopes(profiles_of(ProfileKernel(gauss, wrong, kind=kind)), X)
    check_slopes(profiles_of(ProfileKernel(gauss, lambda b: -0.5 * gauss(b), kind=kind)), X)
    kinked = ProfileKernel(lambda b: -np.maximum(b, 1.0), lambda b: -(b > 1.0).astype(float), kind=kind)
    check_slopes(profiles_of(kinked), X)
    check_slopes(profiles_of(ProfileKernel(gauss, lambda b: -0.5 * gauss(b), kind=kind)), np.zeros_like(X))


def test_widths_of_rows_next_to_each_other():
    """Rows nearer than the root of the smallest number have a width that is not zero."""
    widths = RelativeRBF(2).fit([[0.0], [1e-170], [1.0]]).widths_
    assert np.all(widths > 0)


def test_large_exponents():
    """The rational quadratic of a large exponent is the Gaussian, without overflow."""
    beta = np.linspace(0, 5, 7)
    ((_, heavy),) = profiles_of(RationalQuadratic(1.5, 1e7))
    ((_, gauss),) = profiles_of(RBF(1.5))
    np.testing.assert_allclose(heavy.value(beta), gauss.value(beta), rtol=1e-5)
    np.testing.assert_allclose(heavy.derivative(beta), gauss.derivative(beta), rtol=1e-5)
