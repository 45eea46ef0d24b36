"""What every estimator with a kernel does alike: check the data once, fit the kernel, hold it.

A ``fit`` has the same steps everywhere: :meth:`KernelEstimator._check_rows` for X, the functions of
:mod:`gramian.checks` for weights and targets, :meth:`KernelEstimator._fit_on`, the method itself, and
:meth:`KernelEstimator._keep` when all else has succeeded.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from sklearn.base import ClassNamePrefixFeaturesOutMixin, TransformerMixin
from sklearn.utils.validation import validate_data

from gramian.checks import check_samples, check_weights, remember_columns
from gramian.diagram import Estimator
from gramian.grams.base import Gram
from gramian.kernels import Kernel, as_kernel
from gramian.partitions import (
    DistributedAnswers,
    DistributedRows,
    columns_of,
    in_memory,
    is_distributed,
    refuse_frames,
    refuse_partitions,
)
from gramian.randomness import spawn
from gramian.typing import Array, Matrix, RandomState


class KernelEstimator(DistributedAnswers, Estimator):
    """Base of the estimators with a ``kernel`` parameter, supervised or not.

    Attributes
    ----------
    kernel_ : Kernel
        The fitted kernel.
    """

    kernel: Kernel | str | Callable[[Any, Any], Any]
    _fits_partitions: bool = False  # whether fit takes rows of a Dask input where they lie

    def _fit_kernel(self, X: Matrix, *, min_samples: int = 1) -> tuple[Matrix, Kernel, Gram]:
        """X checked, the kernel fitted on it, and its Gram, for a fit without weights and targets."""
        X = self._check_rows(X, min_samples=min_samples)
        return X, *self._fit_on(X)

    def _check_rows(self, X: Matrix, *, min_samples: int = 1) -> Matrix:
        """X as the kernel takes it; nothing of the estimator changes."""
        if is_distributed(X) and self._fits_partitions:
            kernel = self._unfitted_kernel()
            kernel._refuse_partitions()
            return DistributedRows(X, **kernel._checks())
        return check_samples(self, X, ensure_min_samples=min_samples, **self._unfitted_kernel()._checks())

    def _check_weights(self, sample_weight: Any, X: Matrix) -> Array | None:
        """The weights of the rows of checked X, or None where there are none."""
        return None if sample_weight is None else check_weights(sample_weight, X.shape[0], X.dtype)

    def _fit_on(self, X: Matrix, weights: Array | None = None, *, once: bool = False) -> tuple[Kernel, Gram]:
        """The kernel fitted on checked X, whose rows count by their weights, and the Gram of all rows.

        ``once`` says that the Gram is for one factorization, which needs no array of it.
        """
        kernel = self._seeded_kernel(X.shape[0])
        seen = in_memory(X)
        kernel._fitted(seen, weights)
        if isinstance(X, DistributedRows):  # a Gram in memory looks at its own rows
            kernel._check_overflow(seen)
        return kernel, kernel._gram_once(X) if once else kernel._gram_of(X)

    def _keep(self, kernel: Kernel, X: Matrix) -> None:
        """Hold the kernel and the names of X's columns, when all else has succeeded."""
        self.kernel_ = kernel
        self.__dict__.pop("sample_indices_", None)  # of an earlier fit to rows of a Dask input
        remember_columns(self, columns_of(X))

    def _seeded_kernel(self, n_samples: int = 0) -> Kernel:
        """A fresh kernel that draws its random numbers as ``random_state`` says, where it has none of its own."""
        return _seeded(self._unfitted_kernel(n_samples), getattr(self, "random_state", None))

    def _unfitted_kernel(self, n_samples: int = 0) -> Kernel:
        """A fresh kernel as the parameter asks for; an estimator may let it depend on the number of samples."""
        return as_kernel(self.kernel)

    def _check_new(self, X: Matrix) -> Matrix:
        """New rows, checked against what ``fit`` saw."""
        refuse_partitions(self, X)
        return validate_data(self, X, reset=False, **self.kernel_._checks())

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        try:
            kernel = self._unfitted_kernel()
        except ValueError:  # an unknown name is reported by fit; tags must not fail
            return tags
        tags.input_tags.sparse = bool(kernel.accepts_sparse)
        tags.input_tags.allow_nan = bool(kernel.accepts_nan)
        tags.input_tags.pairwise = bool(kernel.pairwise)
        return tags


class EmbeddingEstimator(ClassNamePrefixFeaturesOutMixin, TransformerMixin, KernelEstimator):
    """Base of the estimators whose ``fit`` embeds the samples as ``embedding_`` and that place new ones beside them."""

    def fit_transform(self, X: Matrix, y: Any = None, **fit_params: Any) -> Array:
        """Fit and return the embedding of X, ``embedding_``."""
        if is_distributed(X):
            refuse_frames(self)
        embedding: Array = self.fit(X, y, **fit_params).embedding_
        return embedding

    @property
    def _n_features_out(self) -> int:
        return int(self.embedding_.shape[1])

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.transformer_tags.preserves_dtype = ["float64", "float32"]
        return tags


def _seeded(kernel: Kernel, random_state: RandomState) -> Kernel:
    """A kernel that draws random numbers, and has no ``random_state`` of its own, follows the estimator's."""
    if random_state is None or kernel._frozen:
        return kernel
    if isinstance(inner := kernel.get_params(deep=False).get("kernel"), str):
        kernel.set_params(kernel=as_kernel(inner))  # a name has no parameter to set
    unset = [name for name, value in kernel.get_params().items() if name.endswith("random_state") and value is None]
    children = spawn(random_state, len(unset))
    return kernel.set_params(**{name: int(child.integers(2**31)) for name, child in zip(unset, children, strict=True)})
