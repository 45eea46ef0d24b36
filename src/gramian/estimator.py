"""What every task built on a kernel does alike: take a ``kernel=``, check X once, hold the fitted kernel."""

from __future__ import annotations

from collections.abc import Callable
from numbers import Integral, Real
from typing import Any

import numpy as np
from sklearn.base import BaseEstimator
from sklearn.utils.validation import validate_data

from gramian.grams.base import Gram
from gramian.kernels import Kernel, as_kernel
from gramian.typing import Array, Matrix


class KernelEstimator(BaseEstimator):
    """Base of the estimators with a ``kernel`` parameter.

    Attributes
    ----------
    kernel_ : Kernel
        The fitted kernel.
    """

    kernel: Kernel | str | Callable[[Any, Any], Any]

    def _fit_kernel(self, X: Matrix, *, min_samples: int = 1) -> tuple[Matrix, Kernel, Gram]:
        """X checked, the kernel fitted on it, and its Gram; ``fit`` sets ``kernel_`` when all else has succeeded."""
        kernel = as_kernel(self.kernel)
        X = validate_data(self, X, reset=True, ensure_min_samples=min_samples, **kernel._checks())
        kernel.fit(X)
        return X, kernel, kernel.gram(X)

    def _check_new(self, X: Matrix) -> Matrix:
        """New rows, checked against what ``fit`` saw."""
        return validate_data(self, X, reset=False, **self.kernel_._checks())

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        try:
            kernel = as_kernel(self.kernel)
        except ValueError:  # an unknown name is reported by fit; tags must not fail
            return tags
        tags.input_tags.sparse = bool(kernel.accepts_sparse)
        tags.input_tags.allow_nan = bool(kernel.accepts_nan)
        tags.input_tags.pairwise = bool(kernel.pairwise)
        return tags


def check_count(owner: Any, name: str, n_samples: int, *, none_allowed: bool = False) -> int | None:
    """A parameter such as ``n_clusters`` that must be a whole number from 1 to the number of samples."""
    value = getattr(owner, name)
    if value is None and none_allowed:
        return None
    if not isinstance(value, Integral) or isinstance(value, bool) or int(value) < 1:
        raise ValueError(f"{name}={value!r} must be a whole number >= 1" + (" or None" if none_allowed else ""))
    if int(value) > n_samples:
        raise ValueError(f"{name}={value} is more than the n_samples={n_samples}; pass {name} <= {n_samples}")
    return int(value)


def check_positive(owner: Any, *names: str, none_allowed: bool = False) -> None:
    """Parameters such as ``tol`` that must be finite positive numbers."""
    for name in names:
        value = getattr(owner, name)
        if value is None and none_allowed:
            continue
        if not isinstance(value, Real) or isinstance(value, bool) or not 0 < float(value) < np.inf:
            raise ValueError(f"{name}={value!r} must be a positive number" + (" or None" if none_allowed else ""))


def check_whole(owner: Any, *names: str, least: int = 1) -> None:
    """Parameters such as ``n_init`` that must be whole numbers."""
    for name in names:
        value = getattr(owner, name)
        if not isinstance(value, Integral) or isinstance(value, bool) or int(value) < least:
            raise ValueError(f"{name}={value!r} must be a whole number >= {least}")


def check_choice(owner: Any, name: str, choices: tuple[Any, ...]) -> Any:
    """A parameter that must be one of a few values."""
    value = getattr(owner, name)
    if not any(value is choice or (isinstance(value, str) and value == choice) for choice in choices):
        raise ValueError(f"{name}={value!r} is not known; pass one of {', '.join(map(repr, choices))}")
    return value


def check_weights(sample_weight: Any, n_samples: int, dtype: Any) -> Array:
    """Sample weights as an array: finite, not negative, not all zero."""
    weights = np.asarray(sample_weight, dtype)
    if weights.shape != (n_samples,):
        raise ValueError(f"sample_weight has shape {weights.shape}; pass one weight per sample, {n_samples}")
    if not np.all(np.isfinite(weights)) or weights.min() < 0 or not weights.any():
        raise ValueError("sample_weight must be finite, not negative and not all zero; clip or drop the offending rows")
    return weights
