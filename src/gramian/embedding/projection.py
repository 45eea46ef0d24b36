"""What kernel PCA and kernel ECA share: axes in feature space, and the scores of new samples on them."""

from __future__ import annotations

from typing import Any

import numpy as np
from sklearn.base import ClassNamePrefixFeaturesOutMixin, TransformerMixin
from sklearn.utils.validation import check_is_fitted

from gramian.estimator import KernelEstimator
from gramian.kernels import Expansion
from gramian.typing import Array, Matrix


class KernelProjection(ClassNamePrefixFeaturesOutMixin, TransformerMixin, KernelEstimator):
    """Scores z_j(x) = (Σ_i k(x, x_i) α_ij + b_j) / √|λ_j| on axes w_j = Σ_i α_ij φ(x_i)."""

    def _set_axes(self, X: Matrix, values: Array, coefficients: Array, intercept: Array) -> None:
        """Store the axes α (n, k) with eigenvalues λ and offsets b."""
        self.eigenvalues_ = values
        self.n_components_ = len(values)
        scale = np.sqrt(np.abs(values))
        self.intercept_ = intercept / scale
        self.expansion_ = Expansion(self.kernel_, X, coefficients / scale)

    def transform(self, X: Matrix) -> Array:
        """Scores of new samples, without an n_new×n block.

        Parameters
        ----------
        X : array-like or sparse (n_new, d)

        Returns
        -------
        Z : ndarray (n_new, n_components_)
        """
        check_is_fitted(self)
        X = self._check_new(X)
        return self.expansion_(X) + self.intercept_.astype(X.dtype, copy=False)

    def fit_transform(self, X: Matrix, y: Any = None, **fit_params: Any) -> Array:
        """Fit and return the scores of X, ``embedding_``."""
        self.fit(X, y, **fit_params)
        embedding: Array = self.embedding_
        return embedding

    @property
    def _n_features_out(self) -> int:
        return int(self.n_components_)

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.transformer_tags.preserves_dtype = ["float64", "float32"]
        return tags


def significant(values: Array, n: int) -> Array:
    """Mask of the eigenvalues that rounding alone cannot have made."""
    largest = float(np.abs(values).max(initial=0.0))
    return np.abs(values) > max(n * float(np.finfo(values.dtype).eps), 1e-12) * largest
