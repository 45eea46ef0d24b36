"""Kernels made of kernels: sums, products, multiples, and kernels on some of the columns.

Each part is cloned and fitted on its own; blocks and Grams are put together tile by tile, so that nothing larger than
a tile is held twice.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from scipy.sparse import hstack, issparse
from sklearn.base import clone

from gramian.checks import check_real
from gramian.grams.base import Gram
from gramian.grams.features import Factor
from gramian.kernels.base import Kernel
from gramian.typing import Array, Matrix

if TYPE_CHECKING:  # which needs the base
    from gramian.kernels.profile import WeightedProfiles


def _combinable(part: Any, name: str) -> Kernel:
    """A kernel that sums and products can be made of."""
    if not isinstance(part, Kernel) or isinstance(part, type):
        raise ValueError(f"{name}={part!r} must be a kernel object such as RBF()")
    if part.pairwise or part.sparse_blocks:
        raise ValueError(f"{name}={part!r} cannot be part of a sum or product; combine the matrices instead")
    return part


class _Parts(tuple[Any, ...]):
    """Prepared sides of several kernels, sliced together."""

    def __getitem__(self, rows: Any) -> _Parts:
        return _Parts(part[rows] for part in self)

    def __iter__(self) -> Any:
        return super().__iter__()


class _Pair(Kernel):
    """Two kernels evaluated side by side."""

    def __init__(self, first: Kernel, second: Kernel) -> None:
        self.first = first
        self.second = second

    def _parts(self) -> tuple[Kernel, Kernel]:
        if hasattr(self, "first_"):
            return self.first_, self.second_
        return _combinable(self.first, "first"), _combinable(self.second, "second")

    def _resolve(self, X: Matrix, sample_weight: Array | None = None) -> None:
        parts = (_combinable(self.first, "first"), _combinable(self.second, "second"))
        self.first_, self.second_ = (clone(part)._fitted(X, sample_weight) for part in parts)

    @property
    def definite(self) -> bool:  # type: ignore[override]
        return all(part.definite for part in self._parts())

    @property
    def accepts_sparse(self) -> bool:  # type: ignore[override]
        return all(part.accepts_sparse for part in self._parts())

    @property
    def accepts_nan(self) -> bool:  # type: ignore[override]
        return all(part.accepts_nan for part in self._parts())

    @property
    def _nan_in_some_columns(self) -> bool:
        return all(part._nan_in_some_columns for part in self._parts())

    def _check_overflow(self, X: Matrix) -> None:
        for part in self._parts():
            part._check_overflow(X)

    def _sides(self, X: Matrix, Y: Matrix) -> tuple[Any, Any]:
        lefts, rights = zip(*(part._sides(X, Y) for part in self._parts()), strict=True)
        return _Parts(lefts), _Parts(rights)


class Sum(_Pair):
    """k(x, y) = k₁(x, y) + k₂(x, y), written ``first + second``.

    Examples
    --------
    >>> from gramian.kernels import RBF, Linear
    >>> 0.5 * RBF(width=1.0) + Linear()
    Sum(first=Scaled(factor=0.5, kernel=RBF(width=1.0)), second=Linear())
    """

    @property
    def has_features(self) -> bool:  # type: ignore[override]
        return all(part.has_features for part in self._parts())

    @property
    def has_many_features(self) -> bool:  # type: ignore[override]
        each = [part.has_features or part.has_many_features for part in self._parts()]
        return all(each) and not self.has_features

    def profiles(self) -> WeightedProfiles | None:
        parts = [part.profiles() for part in self._parts()]
        if any(part is None for part in parts):
            return None
        terms = tuple(term for part in parts if part is not None for term in part)
        return tuple((weight, profile) for weight, profile in terms if weight) or terms

    def _features(self, X: Matrix) -> Matrix:
        parts = [part._features(X) for part in self._parts()]
        return hstack(parts, "csr") if any(map(issparse, parts)) else np.hstack(parts)

    def _n_features(self, X: Matrix) -> int:
        return sum(part._n_features(X) for part in self._parts())

    def _tile(self, left: Any, right: Any) -> Array:
        first, second = self._parts()
        (left_1, left_2), (right_1, right_2) = left, right
        return first._tile(left_1, right_1) + second._tile(left_2, right_2)

    def _diagonal(self, X: Matrix) -> Array:
        first, second = self._parts()
        return first._diagonal(X) + second._diagonal(X)


class Product(_Pair):
    """k(x, y) = k₁(x, y) · k₂(x, y), written ``first * second``.

    Examples
    --------
    >>> from gramian.kernels import RBF, Linear
    >>> (RBF(width=1.0) * Linear())([[1.0, 2.0]])
    array([[5.]])
    """

    def _check_overflow(self, X: Matrix) -> None:
        self._finite_diagonal(X)  # two finite factors may have an infinite product

    def _tile(self, left: Any, right: Any) -> Array:
        first, second = self._parts()
        (left_1, left_2), (right_1, right_2) = left, right
        return first._tile(left_1, right_1) * second._tile(left_2, right_2)

    def _diagonal(self, X: Matrix) -> Array:
        first, second = self._parts()
        return first._diagonal(X) * second._diagonal(X)


class _Single(Kernel):
    """One kernel, changed."""

    kernel: Kernel

    @property
    def _inner(self) -> Kernel:
        return self.kernel_ if hasattr(self, "kernel_") else _combinable(self.kernel, "kernel")

    @property
    def definite(self) -> bool:  # type: ignore[override]
        return bool(self._inner.definite)

    @property
    def accepts_sparse(self) -> bool:  # type: ignore[override]
        return bool(self._inner.accepts_sparse)

    @property
    def accepts_nan(self) -> bool:  # type: ignore[override]
        return bool(self._inner.accepts_nan)

    @property
    def _nan_in_some_columns(self) -> bool:
        return self._inner._nan_in_some_columns

    @property
    def has_features(self) -> bool:  # type: ignore[override]
        return bool(self._inner.has_features)

    @property
    def has_many_features(self) -> bool:  # type: ignore[override]
        return bool(self._inner.has_many_features)


class Scaled(_Single):
    """c · k(x, y) with c >= 0, written ``c * kernel``.

    Parameters
    ----------
    factor : float
        c. Negative factors would leave the cone of kernels and are refused.
    kernel : Kernel
        k.

    Examples
    --------
    >>> from gramian.kernels import Linear
    >>> (3 * Linear())([[1.0, 2.0]])
    array([[15.]])
    """

    def __init__(self, factor: float, kernel: Kernel) -> None:
        self.factor = factor
        self.kernel = kernel

    def _resolve(self, X: Matrix, sample_weight: Array | None = None) -> None:
        check_real(self, "factor", least=0)
        self.kernel_ = clone(_combinable(self.kernel, "kernel"))._fitted(X, sample_weight)

    def profiles(self) -> WeightedProfiles | None:
        terms = self._inner.profiles()
        factor = check_real(self, "factor", least=0)
        return None if terms is None else tuple((factor * weight, profile) for weight, profile in terms)

    def _features(self, X: Matrix) -> Matrix:
        return self._inner._features(X) * X.dtype.type(np.sqrt(self.factor))

    def _n_features(self, X: Matrix) -> int:
        return self._inner._n_features(X)

    def _check_overflow(self, X: Matrix) -> None:
        self._inner._check_overflow(X)

    def _sides(self, X: Matrix, Y: Matrix) -> tuple[Any, Any]:
        return self._inner._sides(X, Y)

    def _tile(self, left: Any, right: Any) -> Array:
        tile = self._inner._tile(left, right)
        tile *= tile.dtype.type(self.factor)
        return tile

    def _diagonal(self, X: Matrix) -> Array:
        return self._inner._diagonal(X) * X.dtype.type(self.factor)


class Columns(_Single):
    """A kernel on some of the columns of X, so that a sum of kernels sees several views of one table.

    Missing values are refused only in columns that the kernel compares, and only if it does not take them itself: each
    view of a sum may have missing values of its own. Infinite values are errors and not missing values, and are refused
    in every column.

    Parameters
    ----------
    kernel : Kernel
        Sees the chosen columns only; its width rule measures distances in them.
    columns : int, sequence of int, slice, or boolean mask (d,)
        Which columns, in the order given. Negative numbers count from the last one.

    Attributes
    ----------
    kernel_ : Kernel
        The kernel, fitted on the chosen columns.
    columns_ : ndarray of int
        Their indices.

    Examples
    --------
    >>> from gramian.kernels import RBF, Columns, Cosine  # two columns compared by distance, three by direction
    >>> kernel = Columns(RBF(width=1.0), [0, 1]) + Columns(Cosine(), slice(2, 5))
    >>> kernel([[0.0, 0.0, 1.0, 0.0, 0.0]], [[0.0, 0.0, 2.0, 0.0, 0.0], [9.0, 9.0, 0.0, 3.0, 0.0]]).round(3)
    array([[2., 0.]])
    """

    def __init__(self, kernel: Kernel, columns: Any) -> None:
        self.kernel = kernel
        self.columns = columns

    @property
    def _inner(self) -> Kernel:
        if isinstance(self.kernel, Kernel) and (self.kernel.pairwise or self.kernel.sparse_blocks):
            raise ValueError(f"kernel={self.kernel!r} compares all columns of X; pass X[:, columns] instead")
        return super()._inner

    @property
    def _nan_in_some_columns(self) -> bool:
        return True

    def _resolve(self, X: Matrix, sample_weight: Array | None = None) -> None:
        inner = self._inner if not hasattr(self, "kernel_") else self.kernel
        columns = _indices(self.columns, X.shape[1])
        self.kernel_ = clone(inner)._fitted(self._chosen(X, columns), sample_weight)
        self.columns_ = columns

    def _of(self, X: Matrix) -> Matrix:
        """The chosen columns of X."""
        return self._chosen(X, self.columns_ if hasattr(self, "columns_") else _indices(self.columns, X.shape[1]))

    def _chosen(self, X: Matrix, columns: Array) -> Matrix:
        """Columns of X. The whole of X may have missing values, so those of the chosen ones are looked for here."""
        found: Any = X[:, columns] if issparse(X) else np.take(X, columns, axis=1)
        if not self._inner.accepts_nan and np.isnan(found.data if issparse(found) else found).any():
            missing = np.isnan(found.toarray() if issparse(found) else found).any(axis=0)
            raise ValueError(
                f"Input X contains NaN in column {columns[missing.argmax()]}, which {self._inner!r} compares without "
                "taking missing values; impute them, or compare the column by ClusterKernel()"
            )
        return found

    def frequencies(self, d: int, size: int, rng: np.random.Generator, *, orthogonal: bool = False) -> Array | None:
        """Those of the kernel, zero in the other columns; see :meth:`Kernel.frequencies`."""
        columns = _indices(self.columns, d)
        found = self._inner.frequencies(len(columns), size, rng, orthogonal=orthogonal)
        if found is None:
            return None
        out = np.zeros((d, size))
        np.add.at(out, columns, found)
        return out

    def _gram(self, X: Matrix) -> Gram:
        gram: Gram = self._inner._unchecked("gram")(self._of(X))
        return gram

    def _product(self, X: Matrix, Y: Matrix, V: Array) -> Array:
        return np.asarray(self._inner._unchecked("product")(self._of(X), self._of(Y), V))

    def _block(self, X: Matrix, Y: Matrix | None) -> Array:
        return self._inner._block(self._of(X), None if Y is None else self._of(Y))

    def _features(self, X: Matrix) -> Matrix:
        return self._inner._features(self._of(X))

    def _n_features(self, X: Matrix) -> int:
        return self._inner._n_features(self._of(X))

    def _feature_bytes(self, X: Matrix) -> float:
        return self._inner._feature_bytes(self._of(X))

    def _streamed(self, X: Matrix) -> Factor:
        return self._inner._streamed(self._of(X))

    def _check_overflow(self, X: Matrix) -> None:
        self._inner._check_overflow(self._of(X))

    def _sides(self, X: Matrix, Y: Matrix) -> tuple[Any, Any]:
        left = self._of(X)
        return self._inner._sides(left, left if Y is X else self._of(Y))

    def _tile(self, left: Any, right: Any) -> Array:
        return self._inner._tile(left, right)

    def _diagonal(self, X: Matrix) -> Array:
        return self._inner._diagonal(self._of(X))


def _indices(columns: Any, d: int) -> Array:
    """Column numbers from 0 to d − 1, from whatever ``columns`` was given."""
    if isinstance(columns, slice):
        try:
            found = np.arange(d)[columns]
        except (TypeError, ValueError) as error:
            raise ValueError(
                f"columns={columns!r} is not a slice of whole numbers; pass one such as slice(0, {d})"
            ) from error
        outside = [bound for bound in (columns.start, columns.stop) if bound is not None and not -d <= bound <= d]
    else:
        given = np.atleast_1d(np.asarray(columns))
        if given.dtype == bool and given.shape == (d,):
            given = np.flatnonzero(given)
        if given.ndim != 1 or (given.size and given.dtype.kind not in "iu"):
            raise ValueError(
                f"columns={columns!r} must be column numbers, a slice, or one True or False for each of the {d} columns"
            )
        outside = [int(column) for column in given if not -d <= column < d]
        found = np.arange(d)[given.astype(np.intp)] if not outside else given
    if outside:
        raise ValueError(f"columns={columns!r} asks for column {outside[0]} but X has {d}; pass numbers below {d}")
    if not len(found):
        raise ValueError(f"columns={columns!r} chooses none of the {d} columns; pass at least one")
    return found
