"""Laws of kernels on arbitrary small tables: symmetry, bounds, invariances, positivity."""

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from gramian.kernels import RBF, Cauchy, Cosine, Laplacian, Linear, NeighborGraph, Polynomial, resolve_width

values = st.floats(-100, 100).map(lambda x: round(x, 3))
tables = st.tuples(st.integers(2, 9), st.integers(1, 4)).flatmap(
    lambda shape: arrays(np.float64, shape, elements=values)
)
scales = st.integers(-140, 140).map(lambda power: 10.0**power)


@given(tables, st.floats(0.1, 50), st.floats(-1000, 1000))
@settings(max_examples=80, deadline=None)
def test_translation(X, width, move):
    """Kernels of distances do not change when all rows move."""
    for kernel in (RBF(width), Cauchy(width), Laplacian(width)):
        error = 1e-9 / min(width, 1) ** 2
        np.testing.assert_allclose(kernel(X + move), kernel(X), atol=error)


@given(tables, scales, st.floats(0.1, 50))
@settings(max_examples=80, deadline=None)
def test_common_scale(X, scale, width):
    """Data and width scaled together give the same kernel, over 280 orders of magnitude."""
    for kind in (RBF, Cauchy, Laplacian):
        np.testing.assert_allclose(kind(width * scale)(X * scale), kind(width)(X), atol=1e-8)


@given(tables, st.floats(0.1, 50))
@settings(max_examples=80, deadline=None)
def test_bounds_and_positivity(X, width):
    """Kernels of distances lie in [0, 1], are 1 on the diagonal and for duplicates, symmetric and positive."""
    for kernel in (RBF(width), Cauchy(width), Laplacian(width)):
        K = kernel(np.vstack([X, X[:1]]))
        assert K.min() >= 0
        assert K.max() <= 1
        np.testing.assert_array_equal(np.diag(K), 1)
        assert K[0, -1] == pytest.approx(1, abs=1e-6)
        np.testing.assert_array_equal(K, K.T)
        assert np.linalg.eigvalsh(K)[0] > -1e-6


@given(tables)
@settings(max_examples=60, deadline=None)
def test_cosine_bounds(X):
    """A cosine lies in [−1, 1] and does not change when rows are stretched."""
    K = Cosine()(X)
    assert np.abs(K).max() <= 1 + 1e-12
    stretch = np.random.default_rng(0).uniform(0.1, 9, (len(X), 1))
    np.testing.assert_allclose(Cosine()(X * stretch), K, atol=1e-12)


@given(tables, st.integers(1, 4), st.floats(0, 3))
@settings(max_examples=60, deadline=None)
def test_polynomial_is_a_power(X, degree, offset):
    """The polynomial kernel is a power of the linear one, entry by entry."""
    expected = (Linear()(X) + offset) ** degree
    np.testing.assert_allclose(Polynomial(degree, offset)(X), expected, rtol=1e-9, atol=1e-9 * np.abs(expected).max())


@given(tables, st.permutations(range(4)))
@settings(max_examples=60, deadline=None)
def test_order_of_columns(X, columns):
    """The order of the columns does not matter."""
    columns = [c for c in columns if c < X.shape[1]]
    for kernel in (RBF(3.0), Laplacian(3.0), Linear(), Cosine()):
        np.testing.assert_allclose(kernel(X[:, columns]), kernel(X), rtol=1e-9, atol=1e-7)


@given(tables, st.floats(0.01, 100))
@settings(max_examples=60, deadline=None)
def test_width_scales(X, factor):
    """The median width scales with the data and does not depend on the order of the rows."""
    if np.ptp(X, axis=0).max() == 0:
        with pytest.raises(ValueError, match="all rows are equal"):
            resolve_width("median", X)
        return
    width = resolve_width("median", X)
    assert resolve_width("median", X * factor) == pytest.approx(factor * width, rel=1e-5)
    assert resolve_width("median", X[::-1]) == pytest.approx(width, rel=1e-5)


@given(tables, st.integers(1, 12), st.booleans())
@settings(max_examples=60, deadline=None)
def test_neighbor_graph(X, k, mutual):
    """A neighbour graph is symmetric, has no loops, and each row has at least (or, mutual, at most) k neighbours."""
    X = np.unique(X, axis=0)  # copies hang on their first occurrence, whatever k
    assume(len(X) > 1)
    W = NeighborGraph(k, mutual=mutual).fit(X)(X).toarray()
    np.testing.assert_array_equal(W, W.T)
    np.testing.assert_array_equal(np.diag(W), 0)
    counts = (W > 0).sum(axis=1)
    k = min(k, len(X) - 1)
    assert np.all(counts <= k) if mutual else np.all(counts >= k)
