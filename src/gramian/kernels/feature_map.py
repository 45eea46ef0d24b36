"""What kernels with a fixed number of features share: each is its own transformer."""

from __future__ import annotations

from typing import Any

from scipy.sparse import issparse
from sklearn import get_config
from sklearn.base import ClassNamePrefixFeaturesOutMixin, TransformerMixin
from sklearn.utils.validation import check_is_fitted

from gramian.kernels.base import FeatureKernel
from gramian.typing import Matrix


class FeatureMap(ClassNamePrefixFeaturesOutMixin, TransformerMixin, FeatureKernel):
    """A kernel with a fixed number of features; subclasses write ``_features`` and ``_n_features_out``."""

    @property
    def _n_features_out(self) -> int:
        raise NotImplementedError

    def transform(self, X: Matrix) -> Matrix:
        """The features of X, also available as ``features(X)``.

        Parameters
        ----------
        X : array-like or sparse (n, d)
            Samples.

        Returns
        -------
        F : ndarray or CSR (n, m)
            F Fᵀ is, or approximates, the Gram matrix. In the dtype of X.
        """
        check_is_fitted(self)
        F = self.features(X)
        container = getattr(self, "_sklearn_output_config", {}).get("transform") or get_config()["transform_output"]
        return F.toarray() if issparse(F) and container != "default" else F  # a data frame holds no sparse matrix

    def _n_features(self, X: Matrix) -> int:
        check_is_fitted(self)
        return self._n_features_out

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.transformer_tags.preserves_dtype = ["float64", "float32"]
        return tags
