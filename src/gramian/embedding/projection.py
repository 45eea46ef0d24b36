"""What kernel PCA and kernel ECA share: axes in feature space, and the scores of new samples on them."""

from __future__ import annotations

from abc import abstractmethod

import numpy as np
from sklearn.utils.validation import check_is_fitted

from gramian.embedding.preimage import check_scores, fixed_points
from gramian.estimator import EmbeddingEstimator
from gramian.typing import Array, Matrix


class KernelProjection(EmbeddingEstimator):
    """Scores z_j(x) = Σ_i k(x, x_i) α_ij / √|λ_j| on axes w_j = Σ_i α_ij φ(x_i).

    Subclasses set ``embedding_``, ``eigenvalues_``, ``n_components_`` and ``expansion_``, the scores as functions.
    """

    def transform(self, X: Matrix) -> Array:
        """Scores of new samples, without an n_new×n block.

        Parameters
        ----------
        X : array-like or sparse (n_new, d)

        Returns
        -------
        Z : ndarray (n_new, n_components_)
        """
        check_is_fitted(self, "expansion_")
        return self._scores(self._check_new(X))

    def _scores(self, X: Matrix) -> Array:
        """Scores of checked rows."""
        Z: Array = self.expansion_.unchecked(X)
        return Z

    @property
    def _n_features_out(self) -> int:
        return int(self.n_components_)


class InvertibleProjection(KernelProjection):
    """Scores with a way back to rows, where ``preimage`` asked for one.

    Subclasses keep ``preimage_`` of "ridge", or ``X_fit_`` and what ``_image_coefficients`` needs.
    """

    preimage: str | None

    @abstractmethod
    def _image_coefficients(self, Z: Array) -> Array:
        """Coefficients (q, n) of the images φ(x_i) that have the scores Z."""

    def inverse_transform(self, Z: Array) -> Array:
        """Rows whose images are nearest to the given scores.

        Parameters
        ----------
        Z : array-like (q, n_components_)

        Returns
        -------
        X : ndarray (q, d)
        """
        check_is_fitted(self, "expansion_")
        if self.preimage is None:
            raise ValueError("inverse_transform needs preimage='ridge' or preimage='fixed_point' at construction")
        Z = check_scores(Z, self.n_components_)
        if self.preimage == "ridge":
            return np.asarray(self.preimage_(Z))
        return fixed_points(self.kernel_, self.X_fit_, self.embedding_, Z, self._image_coefficients)


def significant(values: Array, n: int) -> Array:
    """Mask of the eigenvalues that rounding alone cannot have made."""
    rounding = 10 * np.sqrt(n) * float(np.finfo(values.dtype).eps)
    return np.abs(values) > max(rounding, 1e-12) * float(np.abs(values).max(initial=0.0))
