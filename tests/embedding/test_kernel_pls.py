"""Kernel PLS against the cross-covariance and scikit-learn's PLSSVD and PLSCanonical."""

import numpy as np
import pytest
from sklearn.cross_decomposition import PLSSVD, PLSCanonical

from embedding.test_kernel_cca import views
from gramian import KernelCCA, KernelPLS
from gramian.kernels import RBF


def test_linear_kernels_are_the_svd_of_the_cross_covariance():
    """λ are the singular values of X_cᵀ Y_c, and scores the projections on its singular vectors, as in PLSSVD."""
    X, Y = views()
    model = KernelPLS(3, kernel_x="linear", kernel_y="linear").fit(X, Y)
    Xc, Yc = X - X.mean(axis=0), Y - Y.mean(axis=0)
    U, values, V = np.linalg.svd(Xc.T @ Yc, full_matrices=False)
    np.testing.assert_allclose(model.singular_values_, values, rtol=1e-9)
    e, r = model.transform(X, Y)
    np.testing.assert_allclose(np.abs(e), np.abs(Xc @ U), atol=1e-8)
    np.testing.assert_allclose(np.abs(r), np.abs(Yc @ V.T), atol=1e-8)
    theirs = PLSSVD(3, scale=False).fit(X, Y)
    np.testing.assert_allclose(np.abs(e), np.abs(theirs.transform(X)), atol=1e-8)


def test_first_pair_is_that_of_pls_canonical():
    """The first pair of scores is scikit-learn's PLSCanonical's, whose deflation begins after it."""
    X, Y = views()
    theirs = PLSCanonical(1, scale=False, tol=1e-14, max_iter=10_000).fit(X, Y).transform(X, Y)
    ours = KernelPLS(1, kernel_x="linear", kernel_y="linear").fit(X, Y).transform(X, Y)
    for a, b in zip(ours, theirs, strict=True):
        np.testing.assert_allclose(np.abs(a), np.abs(b), atol=1e-6 * np.abs(b).max())


def test_is_cca_without_penalty():
    """ν = 0 makes kernel CCA kernel PLS."""
    X, Y = views(60)
    pls = KernelPLS(2, kernel_x=RBF(2.0), kernel_y=RBF(1.0)).fit(X, Y)
    cca = KernelCCA(2, kernel_x=RBF(2.0), kernel_y=RBF(1.0), nu_x=0.0, nu_y=0.0).fit(X, Y)
    np.testing.assert_allclose(pls.singular_values_, cca.singular_values_)
    np.testing.assert_allclose(pls.transform(X), cca.transform(X))


def test_directions_have_unit_length_and_are_orthogonal():
    """wᵀw = aᵀ K a is the identity, and Σ e r is diagonal."""
    X, Y = views(60)
    model = KernelPLS(3, kernel_x=RBF(2.0), kernel_y=RBF(1.0)).fit(X, Y)
    a = model.dual_coef_x_
    np.testing.assert_allclose(a.T @ RBF(2.0)(X) @ a, np.eye(3), atol=1e-9)
    e, r = model.transform(X, Y)
    np.testing.assert_allclose(e.T @ r, np.diag(model.singular_values_), atol=1e-9 * model.singular_values_[0])


def test_float32_and_bad_parameters():
    """Single precision stays; a bad count is named."""
    X, Y = views(60)
    scores = KernelPLS(2).fit(X.astype(np.float32), Y.astype(np.float32)).transform(X.astype(np.float32))
    assert scores.dtype == np.float32
    np.testing.assert_allclose(np.abs(scores), np.abs(KernelPLS(2).fit(X, Y).transform(X)), atol=1e-3)
    with pytest.raises(ValueError, match=r"n_components=2\.5"):
        KernelPLS(2.5).fit(X, Y)
