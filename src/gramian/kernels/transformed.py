"""A kernel of rows as a transformer shows them: k(t(x), t(y))."""

from __future__ import annotations

from typing import Any

import numpy as np
from sklearn.base import clone
from sklearn.utils.validation import check_is_fitted

from gramian.grams.base import Gram
from gramian.kernels.algebra import _combinable, _Single
from gramian.kernels.base import Kernel
from gramian.typing import Array, Matrix


class Transformed(_Single):
    """k(t(x), t(y)): a kernel of rows after a transformation t.

    t is any scikit-learn transformer of dense rows: a scaler, a projection, or a network that learned an embedding.
    ``fit`` fits a fresh copy of both. The kernel that a model has learned keeps what it learned
    (:meth:`Kernel.frozen`).

    Parameters
    ----------
    transformer : transformer
        With ``fit`` and ``transform``.
    kernel : Kernel
        k.

    Attributes
    ----------
    transformer_ : transformer
        Fitted t.
    kernel_ : Kernel
        The kernel, fitted on t(X).

    Examples
    --------
    >>> from sklearn.preprocessing import StandardScaler
    >>> from gramian.kernels import RBF, Transformed
    >>> Transformed(StandardScaler(), RBF(width=1.0)).fit([[0.0], [100.0]])([[0.0]], [[0.0], [50.0]]).round(3)
    array([[1.   , 0.607]])
    """

    def __init__(self, transformer: Any, kernel: Kernel) -> None:
        self.transformer = transformer
        self.kernel = kernel

    @classmethod
    def of(cls, transformer: Any, kernel: Kernel, n_features: int) -> Transformed:
        """A frozen kernel of a transformer and a kernel that are fitted already.

        Parameters
        ----------
        transformer : fitted transformer
        kernel : fitted Kernel
        n_features : int
            Columns of the rows that the transformer takes.
        """
        made = cls(transformer, kernel)
        made.transformer_, made.kernel_, made.n_features_in_ = transformer, kernel, n_features
        return made.frozen()

    accepts_sparse = False
    accepts_nan = False

    @property
    def _nan_in_some_columns(self) -> bool:
        return False

    def _resolve(self, X: Matrix, sample_weight: Array | None = None) -> None:
        if not hasattr(self.transformer, "transform") or isinstance(self.transformer, type):
            raise ValueError(f"transformer={self.transformer!r} has no transform; pass a scikit-learn transformer")
        transformer = clone(self.transformer).fit(X)
        kernel = clone(_combinable(self.kernel, "kernel"))
        self.kernel_ = kernel._fitted(_rows(transformer, X), sample_weight)
        self.transformer_ = transformer

    def _of(self, X: Matrix) -> Array:
        """t(X)."""
        check_is_fitted(self, "transformer_")
        return _rows(self.transformer_, X)

    def _check_overflow(self, X: Matrix) -> None:
        self._inner._check_overflow(self._of(X))

    def _gram(self, X: Matrix) -> Gram:
        gram: Gram = self._inner._unchecked("gram")(self._of(X))
        return gram

    def _sides(self, X: Matrix, Y: Matrix) -> tuple[Any, Any]:
        left = self._of(X)
        return self._inner._sides(left, left if Y is X else self._of(Y))

    def _tile(self, left: Any, right: Any) -> Array:
        return self._inner._tile(left, right)

    def _features(self, X: Matrix) -> Matrix:
        return self._inner._features(self._of(X))

    def _n_features(self, X: Matrix) -> int:
        return self._inner._n_features(self._of(X[:1]))

    def _diagonal(self, X: Matrix) -> Array:
        return self._inner._diagonal(self._of(X))


def _rows(transformer: Any, X: Array) -> Array:
    """t(X) as an array in the dtype of X, whatever container the transformer is set to return."""
    return np.ascontiguousarray(transformer.transform(X), dtype=X.dtype)
