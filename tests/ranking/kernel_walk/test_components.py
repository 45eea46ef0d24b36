"""The eigenvectors of a walk beyond the trivial one, against dense decompositions; errors of what is left out."""

import numpy as np
import pytest
from scipy.sparse import block_diag, csr_array

from gramian.grams import DenseGram, FeatureGram, SparseGram
from gramian.kernels import ClusterKernel
from gramian.ranking.kernel_walk.components import DeflatedGram, decompose
from gramian.ranking.kernel_walk.walk import Walk


@pytest.fixture
def rng():
    return np.random.default_rng(3)


@pytest.mark.parametrize("sparse", [False, True])
def test_deflation_on_components(sparse, rng):
    """On a graph in pieces, pairs beside the trivial one are eigenpairs orthogonal to it: few, many, known or not."""
    sizes = (200, 150, 250, 60)
    W = block_diag([rng.uniform(0.1, 1, (size, size)) for size in sizes]).toarray()
    W = W + W.T
    walk = Walk(SparseGram(csr_array(W)) if sparse else DenseGram(W))
    deflated = DeflatedGram(walk)
    root = np.sqrt(W.sum(axis=1))
    Kn = W / np.outer(root, root)
    for k in (2, 3, 6):
        values, vectors = deflated.eigenpairs(k)
        np.testing.assert_allclose(values[:3], 1, atol=1e-8)
        np.testing.assert_allclose(Kn @ vectors, vectors * values, atol=1e-6)
        np.testing.assert_allclose(vectors.T @ walk.trivial, 0, atol=1e-8)
        np.testing.assert_allclose(vectors.T @ vectors, np.eye(k), atol=1e-8)
    np.testing.assert_allclose(deflated.dense(), Kn - np.outer(walk.trivial, walk.trivial), atol=1e-12)


def test_deflation_keeps_sparse_features(rng):
    """The cluster kernel's walk without its trivial vector, by features, has the eigenvalues of the dense one."""
    X = rng.standard_normal((1100, 2))
    kernel = ClusterKernel(2, 5, random_state=0).fit(X)
    walk = Walk(kernel.gram(X))
    assert isinstance(walk.gram, FeatureGram)
    K = kernel(X)
    root = np.sqrt(K.sum(axis=1))
    expected = np.linalg.eigvalsh(K / np.outer(root, root))[::-1]
    np.testing.assert_allclose(DeflatedGram(walk).eigenpairs(8)[0], expected[1:9], atol=1e-8)
    spectrum = decompose(walk, None, 0.01, definite=True)
    assert len(spectrum.values) == (expected[1:] > 0.01).sum()
