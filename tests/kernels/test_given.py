"""Kernels that come from the user: names, matrices and functions."""

import numpy as np
import pytest
from scipy.sparse import csr_array, issparse

from gramian.clustering import SpectralClustering
from gramian.dependence import DependenceReduction
from gramian.grams import DenseGram, SparseGram
from gramian.kernels import RBF, FunctionKernel, Kernel, Linear, Precomputed, ProfileKernel, as_kernel, kernel_names
from kernels.kernel_case import KernelCase, square


def rows(n=21, d=3, seed=0):
    """Reproducible rows."""
    return np.random.default_rng(seed).standard_normal((n, d))


def similarities(n=12):
    """A symmetric matrix of similarities."""
    A = rows(n, n)
    return A + A.T


# as_kernel -------------------------------------------------------------------------------------------------


def test_every_registered_name_is_a_kernel():
    """Each name gives a fresh kernel, and the list of names is sorted."""
    names = kernel_names()
    assert names == sorted(names)
    assert {"rbf", "linear", "polynomial", "laplacian", "cosine", "tanh", "tl1", "neighbors", "precomputed"} <= set(
        names
    )
    for name in names:
        first, second = as_kernel(name), as_kernel(name)
        assert isinstance(first, Kernel)
        assert first is not second


def test_kernels_are_cloned():
    """A kernel passed as a parameter is copied unfitted, so the user's object is never fitted."""
    mine = RBF(width="median").fit(rows())
    copy = as_kernel(mine)
    assert copy is not mine
    assert copy.width == "median"
    assert not hasattr(copy, "width_")


def test_functions_become_kernels():
    """A function of two arrays is wrapped."""
    X = rows()
    np.testing.assert_allclose(as_kernel(lambda A, B: A @ B.T)(X), Linear()(X), atol=1e-13)


@pytest.mark.parametrize("kernel", ["gauss", "RBF", "", None, 3, [RBF()]])
def test_bad_kernels(kernel):
    """Anything else is refused with its value and the list of what is allowed."""
    with pytest.raises(ValueError, match=r"kernel=.* is not a kernel; pass one of 'cauchy', .*'rbf'.* a function"):
        as_kernel(kernel)


# Precomputed -----------------------------------------------------------------------------------------------


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_precomputed_matrix(dtype):
    """The matrix is its own Gram, and rows against the fitted samples are their own block."""
    K = similarities().astype(dtype)
    kernel = Precomputed().fit(K)
    gram = kernel.gram(K)
    assert isinstance(gram, DenseGram)
    assert gram.dtype == dtype
    np.testing.assert_array_equal(gram.dense(), K)
    np.testing.assert_array_equal(kernel(K[:3]), K[:3])
    np.testing.assert_array_equal(kernel.diagonal(K), np.diag(K))
    V = np.random.default_rng(1).standard_normal((12, 2)).astype(dtype)
    np.testing.assert_allclose(kernel.product(K[:3], None, V), K[:3] @ V, rtol=1e-6)


def test_a_symmetric_matrix_is_not_copied():
    """An exactly symmetric matrix is used as it is."""
    K = similarities()
    assert Precomputed().fit(K).gram(K).matrix is K


def test_precomputed_sparse():
    """A sparse matrix stays sparse."""
    K = np.where(np.abs(similarities()) > 1, similarities(), 0)
    kernel = Precomputed().fit(csr_array(K))
    gram = kernel.gram(csr_array(K))
    assert isinstance(gram, SparseGram)
    np.testing.assert_array_equal(gram.matrix.toarray(), K)
    lopsided = csr_array(K + 1e-10 * np.triu(K, 1))
    averaged = kernel.gram(lopsided).matrix
    assert issparse(averaged)
    np.testing.assert_array_equal(averaged.toarray(), averaged.toarray().T)


def test_rounding_asymmetry_is_averaged_silently():
    """An asymmetry of 1e-10 of the largest entry is averaged away without a word."""
    K = similarities()
    noisy = K + 1e-10 * np.abs(K).max() * np.triu(np.ones_like(K), 1)
    out = Precomputed().fit(noisy).gram(noisy).dense()
    np.testing.assert_array_equal(out, out.T)
    np.testing.assert_allclose(out, (noisy + noisy.T) / 2, atol=1e-15)


def test_small_asymmetry_warns():
    """An asymmetry of 1e-5 is averaged with a warning that says how large it is."""
    K = similarities()
    noisy = K + 1e-5 * np.abs(K).max() * np.triu(np.ones_like(K), 1)
    with pytest.warns(UserWarning, match=r"differs from its transpose by 1\.0e-05"):
        Precomputed().fit(noisy)
    with pytest.warns(UserWarning, match="averaged"):
        np.testing.assert_allclose(Precomputed().gram(noisy).dense(), (noisy + noisy.T) / 2, atol=1e-15)


def test_large_asymmetry_is_refused():
    """An asymmetry of 1e-2 is an error that names the remedy."""
    K = similarities()
    noisy = K + 1e-2 * np.abs(K).max() * np.triu(np.ones_like(K), 1)
    for matrix in (noisy, csr_array(noisy)):
        with pytest.raises(ValueError, match=r"needs a symmetric matrix .* pass \(X \+ X\.T\) / 2"):
            Precomputed().fit(matrix)


def test_samples_are_not_similarities():
    """Fitting on a rectangular matrix says that a square one is needed."""
    with pytest.raises(ValueError, match=r"needs a square matrix of similarities at fit but X has shape \(21, 3\)"):
        Precomputed().fit(rows())


def test_precomputed_rows_must_match():
    """New rows against another number of samples than were fitted are refused."""
    kernel = Precomputed().fit(similarities())
    with pytest.raises(ValueError, match="expecting 12 features"):
        kernel(np.ones((2, 11)))
    with pytest.raises(ValueError, match="NaN"):
        kernel(np.full((2, 12), np.nan))


def test_zero_matrix():
    """The zero matrix is symmetric."""
    assert Precomputed().fit(np.zeros((4, 4))).gram(np.zeros((4, 4))).degrees().tolist() == [0, 0, 0, 0]


# FunctionKernel --------------------------------------------------------------------------------------------


def test_function_block_diagonal_and_gram():
    """A function kernel gives its values, also beyond the 64-row pieces of its diagonal."""
    X, Y = rows(150), rows(7, seed=1)
    kernel = FunctionKernel(lambda A, B: np.exp(-np.abs(A[:, :1] - B[:, 0])))
    exact = np.exp(-np.abs(X[:, :1] - X[:, 0]))
    np.testing.assert_allclose(kernel(X), exact, atol=1e-15)
    np.testing.assert_allclose(kernel(X, Y), np.exp(-np.abs(X[:, :1] - Y[:, 0])), atol=1e-15)
    np.testing.assert_allclose(kernel.diagonal(X), 1)
    np.testing.assert_allclose(kernel.gram(X).degrees(), exact.sum(axis=1), atol=1e-11)
    assert kernel(X.astype(np.float32)).dtype == np.float32
    assert not kernel.definite


@pytest.mark.parametrize("answer", [1.0, np.ones(3), np.ones((2, 2)), np.ones((5, 5, 1))])
def test_function_of_the_wrong_shape(answer):
    """A function that does not return all pairs is refused with both shapes."""
    with pytest.raises(ValueError, match=r"returned shape .* for 5 and 5 rows; it must take two arrays"):
        FunctionKernel(lambda A, B: answer)(rows(5))


@pytest.mark.parametrize("answer", [np.nan, np.inf])
def test_function_that_is_not_finite(answer):
    """NaN and infinity from a function are refused."""
    with pytest.raises(ValueError, match="returned NaN or infinity"):
        FunctionKernel(lambda A, B: np.full((len(A), len(B)), answer))(rows(5), rows(4))


def test_function_must_be_callable():
    """Something that cannot be called is refused by name."""
    with pytest.raises(ValueError, match="function=3 must be a function of two arrays"):
        FunctionKernel(3).fit(rows())


# A function of one number, written by the user -----------------------------------------------------------------


def gaussian(beta):
    return np.exp(-beta / 2)


def gaussian_slope(beta):
    return -0.5 * np.exp(-beta / 2)


def gaussian_curve(beta):
    return 0.25 * np.exp(-beta / 2)


def doubled(beta):
    return 2 * beta


def twos(beta):
    return np.full_like(beta, 2.0)


def written(**changes):
    """RBF(1.0), written by a user."""
    return ProfileKernel(gaussian, gaussian_slope, gaussian_curve, **changes)


class TestProfileKernel(KernelCase):
    def create(self):
        return written()

    def evaluate(self, x, y):
        return np.exp(-square(x, y) / 2)


class TestProfileKernelOfProducts(KernelCase):
    def create(self):
        return ProfileKernel(np.square, doubled, twos, kind="inner")

    def evaluate(self, x, y):
        return (x @ y) ** 2


def test_nonnegative_is_found_by_fit():
    """fit finds out whether the function is negative anywhere that X and its projections reach; the user may say so."""
    X = rows()
    assert written().fit(X).profile().nonnegative
    assert not written(nonnegative=False).fit(X).profile().nonnegative
    assert not ProfileKernel(lambda b: 1 - b, lambda b: -np.ones_like(b)).fit(X).profile().nonnegative
    late = ProfileKernel(lambda b: 100 - b, lambda b: -np.ones_like(b))
    assert late.fit(X).profile().nonnegative
    assert not late.fit(10 * X).profile().nonnegative
    odd = ProfileKernel(lambda b: b, lambda b: np.ones_like(b), kind="inner")
    assert not odd.fit(X).profile().nonnegative
    with pytest.raises(ValueError, match="nonnegative='yes' is not known"):
        written(nonnegative="yes").fit(X)


def test_written_rbf_clusters_like_rbf():
    """With RBF's formula, degrees and so clusters are RBF's, in spectral clustering and in unsupervised reduction."""
    rng = np.random.default_rng(0)
    X = np.vstack([rng.standard_normal((30, 4)) + shift for shift in ([0] * 4, [5, 0, 0, 0], [0, 5, 0, 0])])
    ours, theirs = (SpectralClustering(3, kernel=kernel, random_state=0).fit(X) for kernel in (written(), RBF(1.0)))
    np.testing.assert_array_equal(ours.labels_, theirs.labels_)
    np.testing.assert_allclose(ours.embedding_, theirs.embedding_, atol=1e-8)
    ours, theirs = (
        DependenceReduction(2, kernel=kernel, n_clusters=3, random_state=0).fit(X) for kernel in (written(), RBF(1.0))
    )
    assert ours.objective_ == pytest.approx(theirs.objective_, rel=1e-8)
    np.testing.assert_array_equal(ours.labels_, theirs.labels_)
