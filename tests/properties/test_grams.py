"""Laws of every Gram of every data set: kinds agree, centred degrees vanish, spectra stay in their bounds."""

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.sparse import csr_array

from gramian.grams import DenseGram, FeatureGram, LazyGram, SparseGram
from gramian.kernels import RBF, Linear


@st.composite
def tables(draw, most=12, scales=True):
    """Small tables with duplicates, constant and zero columns, at any scale from 1e-70 to 1e70."""
    n, d = draw(st.integers(2, most)), draw(st.integers(1, 4))
    X = np.random.default_rng(draw(st.integers(0, 2**32))).standard_normal((n, d))
    if draw(st.booleans()):
        X[:, 0] = draw(st.sampled_from([0.0, 1.0, -3.0]))
    for i in range(n):
        if draw(st.booleans()):
            X[i] = X[0]
    if draw(st.booleans()):
        X = np.round(X)
    return X * 10.0 ** draw(st.integers(-70, 70)) if scales else X


def close(actual, expected, size, accuracy=1e-10):
    """Equal relative to a size."""
    np.testing.assert_allclose(actual, expected, rtol=0, atol=accuracy * size)


@given(tables())
@settings(max_examples=60, deadline=None)
def test_kinds_agree(X):
    """Dense, feature, lazy and sparse Grams of the same data multiply, sum and diagonalise alike."""
    K = np.array([[x @ y for y in X] for x in X])
    size = np.abs(K).sum(axis=1).max()
    n = len(X)
    V = np.random.default_rng(0).standard_normal((n, 2))
    spectrum = np.linalg.eigvalsh(K)[::-1]
    for gram in (
        DenseGram(K),
        FeatureGram(X),
        FeatureGram(csr_array(X)),
        LazyGram(Linear(), X),
        SparseGram(csr_array(K)),
    ):
        close(gram @ V, K @ V, 10 * size)
        close(gram.degrees(), K.sum(axis=1), size)
        close(gram.diagonal(), np.diag(K), size)
        close(gram.dense(), K, size)
        close(gram.eigenpairs(n)[0], spectrum, size)
        close(gram.centered() @ V, DenseGram(K).centered().dense() @ V, 10 * size)


@given(tables())
@settings(max_examples=60, deadline=None)
def test_centred_degrees_vanish(X):
    """The rows of a centred Gram sum to zero, and centring again changes nothing."""
    K = X @ X.T
    size = np.abs(K).sum(axis=1).max()
    gram = FeatureGram(X).centered()
    close(gram.degrees(), 0, size)
    close(gram.centered().dense(), gram.dense(), size)


@given(tables(scales=False), st.floats(0.05, 20))
@settings(max_examples=60, deadline=None)
def test_normalized_spectrum(X, width):
    """A non-negative kernel, normalised, has its spectrum within [−1, 1] and the eigenvalue 1 with vector √degrees."""
    gram = RBF(width).gram(X)
    values = gram.normalized().eigenpairs(len(X))[0]
    assert values[0] <= 1 + 1e-12
    assert values[-1] >= -1 - 1e-12
    roots = np.sqrt(gram.degrees())
    close(gram.normalized() @ roots, roots, 10)


@given(tables(), st.sampled_from(["largest", "magnitude", "smallest"]))
@settings(max_examples=60, deadline=None)
def test_eigenvalues_sum_to_the_trace(X, which):
    """All eigenvalues of a Gram, a centred one and a shifted one sum to its trace."""
    size = np.abs(X @ X.T).sum(axis=1).max()
    for gram in (FeatureGram(X), FeatureGram(X).centered(), DenseGram(X @ X.T).shifted(float(size))):
        close(gram.eigenpairs(len(X), which)[0].sum(), gram.trace(), len(X) * size)


@given(tables(scales=False), st.integers(0, 2**32))
@settings(max_examples=60, deadline=None)
def test_weighted_centring(X, seed):
    """Vectors of the weighted-centred Gram are orthogonal to √weights, and equal weights are plain centring."""
    K = RBF(1.0).gram(X)
    weights = np.random.default_rng(seed).random(len(X)) + 0.01
    close(K.weighted_centered(weights) @ np.sqrt(weights), 0, len(X))
    close(K.weighted_centered(np.full(len(X), 3.0)).dense(), 3 * K.centered().dense(), len(X))
