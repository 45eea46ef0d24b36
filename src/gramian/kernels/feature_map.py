"""What Nyström and Fourier features share: a kernel that is its own transformer."""

from __future__ import annotations

from typing import Any

from sklearn.base import ClassNamePrefixFeaturesOutMixin, TransformerMixin
from sklearn.utils.validation import check_is_fitted

from gramian.configuration import require_memory
from gramian.kernels.base import FeatureKernel
from gramian.typing import Array, Matrix


class FeatureMap(ClassNamePrefixFeaturesOutMixin, TransformerMixin, FeatureKernel):
    """A kernel with a fixed number of dense features; subclasses write ``_features`` and ``_n_features_out``."""

    @property
    def _n_features_out(self) -> int:
        raise NotImplementedError

    def transform(self, X: Matrix) -> Array:
        """The features of X, also available as ``features(X)``.

        Parameters
        ----------
        X : array-like or sparse (n, d)
            Samples.

        Returns
        -------
        F : ndarray (n, m)
            F Fᵀ approximates the Gram matrix. In the dtype of X.
        """
        check_is_fitted(self)
        X = self._checked(X)
        require_memory(
            self._feature_bytes(X),
            f"the {X.shape[0]}×{self._n_features_out} array of features",
            "transform a part of the rows at a time, or use gram(X), which does not store it",
        )
        F: Array = self._features(X)
        return F

    def _n_features(self, X: Matrix) -> int:
        check_is_fitted(self)
        return self._n_features_out

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.transformer_tags.preserves_dtype = ["float64", "float32"]
        return tags
