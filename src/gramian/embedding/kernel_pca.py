"""Kernel principal component analysis: centred or not, weighted, indefinite, with pre-images."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from gramian.checks import check_choice, check_count, check_positive
from gramian.embedding.preimage import RidgePreimage, check_preimage
from gramian.embedding.projection import InvertibleProjection, significant
from gramian.grams import Gram, SandwichGram
from gramian.grams.base import Which
from gramian.kernels import Expansion, Kernel
from gramian.partitions import answered, is_distributed
from gramian.typing import Array, Matrix


class KernelPCA(InvertibleProjection):
    """Principal components in the feature space of a kernel.

    With eigenpairs (λ_j, e_j) of the centred Gram matrix, sample i has the score √λ_j e_ij on component j, and a
    new x the score (Σ_i k(x, x_i) e_ij + b_j) / √λ_j with b_j = −(1/n) Σ_i (K e_j)_i. The Gram may be dense,
    recomputed or held by features: with ``kernel=Nystroem(...)`` memory and time are linear in n.

    Parameters
    ----------
    n_components : int or None, default 2
        Components to keep; None keeps all with a non-zero eigenvalue.
    kernel : Kernel, str or callable, default "rbf"
    center : bool, default True
        Centre the features. Uncentred, the scores keep the Gram matrix itself: Z Zᵀ = K.
    order : {"magnitude", "largest"}, default "magnitude"
        Which eigenvalues lead when the kernel is indefinite. Components of negative eigenvalue count with
        √|λ| and are marked in ``signature_``. A definite kernel has none.
    preimage : {None, "ridge", "fixed_point"}, default None
        How ``inverse_transform`` goes back to rows: kernel ridge regression from the scores, or the fixed point of a
        kernel that falls smoothly with the distance, such as the Gaussian. None saves keeping the samples.
    ridge : float, default 1e-3
        Regularisation of ``preimage="ridge"``.
    tol : float, default 1e-5
        Accuracy of the eigenvectors, see :func:`gramian.grams.eigen.eigenpairs`; that of the eigenvalues is about
        its square. Up to 500 samples the solution is exact.

    Attributes
    ----------
    embedding_ : ndarray (n, n_components_)
        Scores of the fitted samples.
    eigenvalues_ : ndarray (n_components_,)
    explained_variance_ratio_ : ndarray (n_components_,)
        Share of each component in the total variance in feature space, |λ_j| over the trace for definite kernels.
    signature_ : ndarray (n_components_,)
        Sign of each eigenvalue, all 1 for definite kernels.
    kernel_ : Kernel
    n_components_ : int

    References
    ----------
    Schölkopf, Smola, Müller (1998). Nonlinear component analysis as a kernel eigenvalue problem.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from gramian import KernelPCA
    >>> Z = KernelPCA(2, kernel="rbf").fit_transform(load_iris().data)
    >>> Z.shape
    (150, 2)
    """

    _fits_partitions = True

    def __init__(
        self,
        n_components: int | None = 2,
        *,
        kernel: Kernel | str | Callable[[Any, Any], Any] = "rbf",
        center: bool = True,
        order: Which = "magnitude",
        preimage: str | None = None,
        ridge: float = 1e-3,
        tol: float | None = 1e-5,
    ) -> None:
        self.n_components = n_components
        self.kernel = kernel
        self.center = center
        self.order = order
        self.preimage = preimage
        self.ridge = ridge
        self.tol = tol

    def fit(self, X: Matrix, y: Any = None, sample_weight: Any = None) -> KernelPCA:
        """Find the components.

        Parameters
        ----------
        X : array-like or sparse (n, d), or (n, n) similarities with ``kernel="precomputed"``
            A Dask array or data frame with a kernel of finite features, such as ``Nystroem(300)``, is analysed where
            it lies; ``embedding_`` is then a Dask array, computed when asked for.
        y : ignored
        sample_weight : array-like (n,), optional
            Weights of the samples in mean, covariance and the kernel's width rule; zero leaves a sample out.

        Returns
        -------
        self : KernelPCA
        """
        check_choice(self, "order", ("magnitude", "largest"))
        check_choice(self, "preimage", (None, "ridge", "fixed_point"))
        check_choice(self, "center", (True, False))
        check_positive(self, "ridge")
        check_positive(self, "tol", none_allowed=True)
        if is_distributed(X):
            return self._fit_distributed(X, sample_weight)
        samples = X
        X = self._check_rows(X, min_samples=2 if self.center else 1)
        n = X.shape[0]
        weights = self._check_weights(sample_weight, X)
        wanted = check_count(self, "n_components", n, none_allowed=True) or n
        kernel, gram = self._fit_on(X, weights)
        check_preimage(self.preimage, X, kernel)
        view = self._operator(gram, weights)
        if gram.factor is not None:  # no more components than features
            wanted = min(wanted, gram.factor.shape[1])
        which: Which = "largest" if kernel.definite else self.order
        values, vectors = view.eigenpairs(wanted, which, tol=self.tol)
        keep = significant(values, n) & ((values > 0) | (which == "magnitude"))
        if not keep.any():
            raise ValueError("all samples are alike under the kernel, so X has no variance to analyse; check X")
        self._keep(kernel, samples)
        self._finish(X, gram, view, weights, values[keep], np.ascontiguousarray(vectors[:, keep]))
        return self

    def _fit_distributed(self, X: Any, sample_weight: Any) -> KernelPCA:
        """The axes from the features' mean and scatter, which are sums over the partitions; scores stay there."""
        if sample_weight is not None or self.preimage is not None:
            raise TypeError("sample_weight and preimage are for rows in memory; leave them out for a Dask input")
        rows = self._check_rows(X)
        n = rows.shape[0]
        wanted = check_count(self, "n_components", n, none_allowed=True) or n
        kernel, gram = self._fit_on(rows)
        view: Any = gram.centered() if self.center else gram
        values, axes = view.eigenaxes(wanted)
        keep = significant(values, n)
        if not keep.any():
            raise ValueError("all samples are alike under the kernel, so X has no variance to analyse; check X")
        self._keep(kernel, X)
        factor = view.factor
        offset = None if factor.origin is None else factor.origin.astype(gram.dtype)
        self.expansion_ = Expansion.of_weights(kernel, axes[:, keep] * np.sqrt(values[keep]), offset)
        self.eigenvalues_ = values[keep]
        self.n_components_ = len(self.eigenvalues_)
        self.signature_ = np.ones(self.n_components_, gram.dtype)
        self.explained_variance_ratio_ = self.eigenvalues_ / np.trace(factor.dual())
        self.embedding_ = answered(self, "transform", rows)
        return self

    def _operator(self, gram: Gram, weights: Array | None) -> Gram:
        if weights is None:
            return gram.centered() if self.center else gram
        return gram.weighted_centered(weights) if self.center else SandwichGram(gram, np.sqrt(weights))

    def _finish(self, X: Matrix, gram: Gram, view: Gram, weights: Array | None, values: Array, vectors: Array) -> None:
        """Axes and scores from the eigenpairs (λ, β) of the weighted operator, with α = √v β."""
        n, roots = len(vectors), np.sqrt(np.abs(values))
        v = np.full(n, 1 / n, gram.dtype) if weights is None else weights / weights.sum()
        coefficients = vectors if weights is None else np.sqrt(weights)[:, None] * vectors
        if self.center:
            # 1ᵀα = 0 holds in exact arithmetic; for small λ rounding breaks it and the scores with it.
            coefficients = coefficients - np.outer(v, coefficients.sum(axis=0))
        center = v if self.center else None
        self.expansion_ = Expansion(self.kernel_, X, coefficients / roots, gram=gram, center=center)
        if weights is None:  # K e = λ e needs no product
            self.embedding_ = vectors * (np.sign(values) * roots)
        else:
            image = gram @ coefficients
            self.embedding_ = (image - (v @ image if self.center else 0)) / roots
        self.eigenvalues_ = values
        self.n_components_ = len(values)
        self.signature_ = np.sign(values)
        self.explained_variance_ratio_ = np.abs(values) / max(view.trace(), float(np.abs(values).sum()))
        if self.preimage is not None:
            self.X_fit_ = X
            self.dual_coef_ = coefficients / values  # e_j(x)/λ_j weighs α_j in the projection of φ(x)
            self.mean_coef_ = v if self.center else np.zeros_like(v)
        if self.preimage == "ridge":
            used = np.ones(n, bool) if weights is None else weights > 0
            self.preimage_ = RidgePreimage(self.embedding_[used], X[used], self.ridge)

    def _image_coefficients(self, Z: Array) -> Array:
        return np.asarray(self.mean_coef_ + (Z * np.sqrt(np.abs(self.eigenvalues_))) @ self.dual_coef_.T)
