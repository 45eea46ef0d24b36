"""Laws of dependence measures on arbitrary small tables: symmetry, bounds, invariances."""

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from gramian.dependence import center_alignment, hsic, hsic_test
from gramian.kernels import RBF, Laplacian

values = st.floats(-10, 10).map(lambda x: round(x, 2))
sizes = st.tuples(st.integers(6, 14), st.integers(1, 3), st.integers(1, 3))
pairs = sizes.flatmap(
    lambda size: st.tuples(
        arrays(np.float64, (size[0], size[1]), elements=values), arrays(np.float64, (size[0], size[2]), elements=values)
    )
)
estimators = st.sampled_from(["biased", "unbiased"])
kernels = st.sampled_from([RBF(2.0), Laplacian(3.0), "linear"])


def _varied(*tables):
    """Whether every table has a column with some spread."""
    return all(np.ptp(table, axis=0).max() > 0.1 for table in tables)


@given(pairs, estimators, kernels, kernels)
@settings(max_examples=80, deadline=None)
def test_symmetry(data, estimator, first, second):
    """X and Y may change places, and pairs may come in any order."""
    X, Y = data
    value = hsic(X, Y, kernel_x=first, kernel_y=second, estimator=estimator)
    order = np.random.default_rng(0).permutation(len(X))
    tolerance = {"rel": 1e-9, "abs": 1e-10}
    assert hsic(Y, X, kernel_x=second, kernel_y=first, estimator=estimator) == pytest.approx(value, **tolerance)
    shuffled = hsic(X[order], Y[order], kernel_x=first, kernel_y=second, estimator=estimator)
    assert shuffled == pytest.approx(value, **tolerance)


@given(pairs, kernels, kernels)
@settings(max_examples=80, deadline=None)
def test_biased_is_not_negative(data, first, second):
    """The biased estimate is the squared norm of a covariance: at least zero, at most what Cauchy–Schwarz allows."""
    X, Y = data
    value = hsic(X, Y, kernel_x=first, kernel_y=second)
    own = hsic(X, X, kernel_x=first, kernel_y=first) * hsic(Y, Y, kernel_x=second, kernel_y=second)
    assert -1e-12 <= value <= np.sqrt(own) * (1 + 1e-9) + 1e-9


@given(pairs)
@settings(max_examples=60, deadline=None)
def test_linear_kernels(data):
    """With linear kernels HSIC is the squared norm of the covariance matrix."""
    X, Y = data
    covariance = (X - X.mean(axis=0)).T @ (Y - Y.mean(axis=0)) / (len(X) - 1)
    value = hsic(X, Y, kernel_x="linear", kernel_y="linear")
    assert value == pytest.approx(np.sum(covariance**2), rel=1e-9, abs=1e-9)


@given(pairs, estimators, st.floats(0.1, 10), st.floats(-1000, 1000))
@settings(max_examples=60, deadline=None)
def test_affine_kernels(data, estimator, scale, shift):
    """A constant added to a kernel changes nothing, a factor is a factor of HSIC and cancels in the alignment."""
    X, Y = data
    assume(_varied(X, Y))
    K, L = RBF(2.0)(X), RBF(2.0)(Y)
    options = {"kernel_x": "precomputed", "kernel_y": "precomputed", "estimator": estimator}
    # Where K_ij = a_i + a_j off the diagonal, as with one odd row among equals, the alignment is 0 / 0.
    assume(all(hsic(A, A, **options) > 1e-6 for A in (K, L)))
    value = hsic(K, L, **options)
    assert hsic(scale * K + shift, L, **options) == pytest.approx(scale * value, rel=1e-7, abs=1e-9)
    alignment = center_alignment(K, L, **options)
    assert center_alignment(scale * K + shift, L, **options) == pytest.approx(alignment, rel=1e-6, abs=1e-6)


@given(pairs, estimators)
@settings(max_examples=80, deadline=None)
def test_alignment(data, estimator):
    """CKA is at most 1, 1 with itself, not negative if biased, and blind to rotations, moves and scale."""
    X, Y = data
    assume(_varied(X, Y))
    value = center_alignment(X, Y, estimator=estimator)
    assert -1 - 1e-9 <= value <= 1 + 1e-9
    if estimator == "biased":
        assert value >= -1e-9
    assert center_alignment(X, X, estimator=estimator) == pytest.approx(1, abs=1e-9)
    rotation = np.linalg.qr(np.random.default_rng(1).normal(size=(X.shape[1], X.shape[1])))[0]
    turned = 3 * X @ rotation + 20
    assert center_alignment(turned, Y, estimator=estimator) == pytest.approx(value, abs=1e-6)


@given(pairs, st.sampled_from(["permutation", "gamma"]), st.integers(1, 30), st.integers(0, 5))
@settings(max_examples=60, deadline=None)
def test_pvalues(data, method, n_permutations, seed):
    """A p-value is a probability, from permutations a share of them, and never zero then."""
    X, Y = data
    test = hsic_test(
        X, Y, kernel_x=RBF(2.0), kernel_y=RBF(2.0), method=method, n_permutations=n_permutations, random_state=seed
    )
    assert 0 <= test.pvalue <= 1
    assert test.null_variance >= 0
    assert test.statistic == pytest.approx(hsic(X, Y, kernel_x=RBF(2.0), kernel_y=RBF(2.0)), rel=1e-8, abs=1e-12)
    if method == "permutation":
        n_larger = test.pvalue * (n_permutations + 1)
        assert n_larger == pytest.approx(round(n_larger))
        assert test.pvalue >= 1 / (n_permutations + 1) - 1e-12
