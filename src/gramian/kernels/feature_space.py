"""Angle and distance in the feature space of a kernel: the normalised kernel, and ‖φ(x) − φ(y)‖."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import numpy as np
from scipy.sparse import issparse
from sklearn.base import clone

from gramian.grams.features import scaled_rows, squared_norms
from gramian.kernels.algebra import _combinable, _Single
from gramian.kernels.base import Kernel, as_kernel
from gramian.typing import Array, Matrix

if TYPE_CHECKING:  # which needs the base
    from gramian.kernels.profile import WeightedProfiles


class _WithScales:
    """Prepared rows and a factor for each, sliced together."""

    def __init__(self, rows: Any, scales: Array) -> None:
        self.rows, self.scales = rows, scales

    def __getitem__(self, index: Any) -> _WithScales:
        return _WithScales(self.rows[index], self.scales[index])


class Normalized(_Single):
    """k(x, y) / √(k(x, x) k(y, y)): the cosine of the angle between φ(x) and φ(y).

    Every row is then equally like itself, which takes the length of rows out of a polynomial kernel or a product. A
    row with k(x, x) = 0 is like nothing, not even itself. Kernels of a distance are constant on the diagonal and change
    by a factor only.

    Parameters
    ----------
    kernel : Kernel
        k, with k(x, x) >= 0.

    Attributes
    ----------
    kernel_ : Kernel
        The fitted k.

    Examples
    --------
    >>> from gramian.kernels import Polynomial
    >>> Normalized(Polynomial(degree=2, offset=0.0))([[1.0, 0.0]], [[3.0, 0.0], [3.0, 3.0]]).round(3)
    array([[1. , 0.5]])
    """

    def __init__(self, kernel: Kernel) -> None:
        self.kernel = kernel

    def _resolve(self, X: Matrix, sample_weight: Array | None = None) -> None:
        self.kernel_ = clone(_combinable(self.kernel, "kernel"))._fitted(X, sample_weight)

    def profiles(self) -> WeightedProfiles | None:
        """Those of the kernel over k(x, x), where that is the same for all rows; None otherwise."""
        terms = self._inner.profiles()
        if terms is None or any(profile.kind != "distance" or profile.row_scales is not None for _, profile in terms):
            return None
        size = sum(weight * float(profile.value(np.zeros(1))[0]) for weight, profile in terms)
        return tuple((weight / size, profile) for weight, profile in terms) if size > 0 else None

    def frequencies(self, d: int, size: int, rng: np.random.Generator, *, orthogonal: bool = False) -> Array | None:
        """Those of the kernel, which do not change with a factor; see :meth:`Kernel.frequencies`."""
        return self._inner.frequencies(d, size, rng, orthogonal=orthogonal)

    def _check_overflow(self, X: Matrix) -> None:
        self._inner._finite_diagonal(X)

    def _n_features(self, X: Matrix) -> int:
        return self._inner._n_features(X)

    def _feature_bytes(self, X: Matrix) -> float:
        return self._inner._feature_bytes(X)

    def _features(self, X: Matrix) -> Matrix:
        F = self._inner._features(X)
        return scaled_rows(F, self._scales(squared_norms(F)))

    def _sides(self, X: Matrix, Y: Matrix) -> tuple[Any, Any]:
        left, right = self._inner._sides(X, Y)
        scales = self._scales(self._inner._diagonal(X))
        others = scales if Y is X else self._scales(self._inner._diagonal(Y))
        return _WithScales(left, scales), _WithScales(right, others)

    def _tile(self, left: Any, right: Any) -> Array:
        tile = self._inner._tile(left.rows, right.rows)
        tile *= left.scales[:, None] * right.scales  # the product of the two first, so that pairs commute
        return tile

    def _diagonal(self, X: Matrix) -> Array:
        return (self._scales(self._inner._diagonal(X)) > 0).astype(X.dtype)

    def _scales(self, diagonal: Array) -> Array:
        """1 / √k(x, x), zero for rows like nothing."""
        if diagonal.size and diagonal.min() < 0:
            raise ValueError(
                f"kernel={self.kernel!r} gives k(x, x) = {diagonal.min():.3g} for row {int(diagonal.argmin())}, so "
                "there is no angle; use a positive semi-definite kernel"
            )
        positive = diagonal > 0
        return np.asarray(positive / np.sqrt(np.where(positive, diagonal, 1)), diagonal.dtype)


def feature_distance(
    kernel: Kernel | str | Callable[[Any, Any], Any], X: Matrix, Y: Matrix | None = None, *, squared: bool = False
) -> Array:
    """Distances ‖φ(x) − φ(y)‖ in the feature space of a kernel, from k(x, x) + k(y, y) − 2 k(x, y).

    For an indefinite kernel that sum may be negative: points of a Kreĭn space can be at a distance whose square is
    negative. Such a distance is returned with its sign, −√|·|, and so is its square; nothing is clipped. For a definite
    kernel a sum below zero is rounding and the distance zero.

    Parameters
    ----------
    kernel : Kernel, str or callable
        A kernel is taken as it is (fitted, or with numbers for parameters), a name or function is fitted on X.
    X : array-like or sparse (n, d), or (n, n) similarities with a fitted ``Precomputed``
    Y : array-like or sparse (q, d), optional
        Default X.
    squared : bool, default False
        Return the squares.

    Returns
    -------
    distances : ndarray (n, q)

    Examples
    --------
    >>> from gramian.kernels import Linear, Tanh
    >>> feature_distance(Linear(), [[0.0, 0.0]], [[3.0, 4.0]])
    array([[5.]])
    >>> feature_distance(Tanh(), [[2.0]], [[2.5]]).round(4)  # longer rows saturate: k(x, y) > (k(x, x) + k(y, y)) / 2
    array([[-0.0223]])
    """
    if not isinstance(kernel, Kernel):
        kernel = as_kernel(kernel).fit(X)
    K = kernel(X, Y)
    if issparse(K):
        raise ValueError(f"kernel={kernel!r} is a sparse graph, in which most distances are unknown; use another")
    if Y is None:
        left = right = np.diagonal(K).copy()
    elif kernel.pairwise:
        raise ValueError(f"kernel={kernel!r} holds similarities, but not k(y, y) of other rows; pass Y=None")
    else:
        left, right = kernel.diagonal(X), kernel.diagonal(Y)
    K = -2 * K  # a new array: of given similarities K may be the caller's own
    K += left[:, None]
    K += right
    if kernel.definite:
        np.maximum(K, 0, out=K)
    if squared:
        return K
    return np.asarray(np.sign(K) * np.sqrt(np.abs(K)))
