"""Kernels that come from the user: a matrix of similarities, a function of two arrays, or one of a number per pair."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from typing import Any

import numpy as np
from scipy.sparse import csr_array, issparse

from gramian.checks import check_choice
from gramian.grams.base import Gram
from gramian.grams.dense import DenseGram
from gramian.grams.features import squared_norms
from gramian.grams.sparse import SparseGram
from gramian.grams.tiles import slices
from gramian.kernels.base import Kernel
from gramian.kernels.profile import Profile, VectorKernel
from gramian.typing import Array, Matrix

_MANY_BETAS = 1000  # which tell whether a function is negative anywhere


class Precomputed(Kernel, name="precomputed"):
    """The data are the similarities: a symmetric n×n matrix at ``fit``, rows against those n samples later.

    Asymmetry up to 1e-8 of the largest entry (1e-6 in single precision) is rounding and averaged away, up to 1e-3 it
    is averaged with a warning, beyond that it is an error. Whether the matrix is positive semi-definite is not assumed.

    Examples
    --------
    >>> Precomputed().fit([[1.0, 0.5], [0.5, 1.0]]).gram([[1.0, 0.5], [0.5, 1.0]]).degrees()
    array([1.5, 1.5])
    """

    definite: bool = False
    accepts_sparse: bool = True
    pairwise: bool = True

    def _resolve(self, X: Matrix, sample_weight: Array | None = None) -> None:
        """Check that X is a symmetric matrix of similarities; those of rows of weight zero stay."""
        symmetric(X)

    def __call__(self, X: Matrix, Y: Matrix | None = None) -> Array:
        """X itself, which already holds the similarities."""
        X = self._checked(X)
        return X.toarray() if issparse(X) else X

    def diagonal(self, X: Matrix) -> Array:
        """The diagonal of the square matrix; for new samples their self-similarity is not known."""
        X = self._checked(X)
        if X.shape[0] != X.shape[1]:
            raise ValueError(f"only a square matrix of similarities has a diagonal but X has shape {X.shape}")
        return np.asarray(X.diagonal())

    def _gram(self, X: Matrix) -> Gram:
        X = symmetric(X)
        return SparseGram(X) if issparse(X) else DenseGram(X)

    def product(self, X: Matrix, Y: Matrix, V: Array) -> Array:
        """X @ V, X being the rows of similarities to the fitted samples."""
        return self._product(self._checked(X), Y, V)

    def _product(self, X: Matrix, Y: Matrix, V: Array) -> Array:
        return X @ np.asarray(V, X.dtype)


def symmetric(K: Matrix) -> Matrix:
    """K with its rounding asymmetry averaged away; an error if it is not square or not symmetric."""
    if K.shape[0] != K.shape[1]:
        raise ValueError(
            f"kernel='precomputed' needs a square matrix of similarities at fit but X has shape {K.shape}; "
            "pass the n×n matrix, or the samples with another kernel"
        )
    if issparse(K) and not K.has_canonical_format:
        K = K.copy()  # SciPy adds up duplicates in place, and this is the caller's matrix
        K.sum_duplicates()
    largest = max(float(K.max()), -float(K.min()))
    # In strips, so that a large matrix is not copied to be looked at.
    difference = max(float(abs(K[rows] - K[:, rows].T).max()) for rows in slices(K.shape[0], 1024))
    asymmetry = difference / largest if largest else 0.0
    if asymmetry == 0:
        return K
    if asymmetry > 1e-3:
        raise ValueError(
            f"kernel='precomputed' needs a symmetric matrix but X differs from its transpose by {asymmetry:.1e} of "
            "its largest entry; pass (X + X.T) / 2 if that is what you mean"
        )
    if asymmetry > max(1e-8, 10 * float(np.finfo(K.dtype).eps)):
        warnings.warn(
            f"the precomputed matrix X differs from its transpose by {asymmetry:.1e} of its largest entry and was "
            "averaged with it",
            UserWarning,
            stacklevel=3,
        )
    return csr_array((K + K.T) / 2) if issparse(K) else (K + K.T) / 2


class FunctionKernel(Kernel):
    """A kernel from a function: ``function(X, Y)`` gives the block of shape (n_X, n_Y).

    Parameters
    ----------
    function : callable
        Takes two arrays of rows, returns their similarities. It may be called with any subset of the rows, and
        from several threads at once.

    Examples
    --------
    >>> FunctionKernel(lambda X, Y: X @ Y.T)([[1.0, 2.0]])
    array([[5.]])
    """

    definite: bool = False
    definiteness_known: bool = False

    def __init__(self, function: Callable[[Array, Array], Array]) -> None:
        self.function = function

    def _resolve(self, X: Matrix, sample_weight: Array | None = None) -> None:
        if not callable(self.function):
            raise ValueError(f"function={self.function!r} must be a function of two arrays")

    def _tile(self, left: Any, right: Any) -> Array:
        block = np.array(self.function(left, right), dtype=left.dtype)  # a copy: callers may write into it
        if block.shape != (left.shape[0], right.shape[0]):
            raise ValueError(
                f"the kernel function returned shape {block.shape} for {left.shape[0]} and {right.shape[0]} rows; "
                "it must take two arrays of rows and return all their pairwise similarities"
            )
        if not np.all(np.isfinite(block)):
            raise ValueError("the kernel function returned NaN or infinity; it must be finite for all rows")
        return block

    def _diagonal(self, X: Matrix) -> Array:
        # Small square blocks: a function of two arrays has no cheaper way to k(x, x), and they show asymmetry.
        blocks = [self._tile(X[rows], X[rows]) for rows in slices(X.shape[0], 64)]
        for block in blocks:
            if np.abs(block - block.T).max() > 1e-3 * np.abs(block).max():
                raise ValueError(
                    "the kernel function is not symmetric: function(X, Y) must be the transpose of function(Y, X)"
                )
        return np.concatenate([np.diagonal(block) for block in blocks])


class ProfileKernel(VectorKernel):
    """k(x, y) = f(x·y) or f(‖x − y‖²) for a function f that the user writes, with its derivative.

    Parameters
    ----------
    value : callable
        f: takes an array of any shape, returns a new array of that shape.
    derivative : callable
        f′, likewise. The dependence solver needs it.
    second_derivative : callable, optional
        f″. Only the second-order certificate needs it.
    kind : {"distance", "inner"}, default "distance"
        What f is a function of: the squared distance or the inner product.
    nonnegative : bool, optional
        Whether f is never negative, so that row sums of the kernel can serve as degrees. By default ``fit`` looks at
        f over the range that distances or inner products of X and of its projections can have.

    Examples
    --------
    >>> import numpy as np
    >>> logarithmic = ProfileKernel(lambda b: -np.log1p(b), lambda b: -1 / (1 + b))
    >>> logarithmic([[0.0]], [[2.0]]).round(3)
    array([[-1.609]])
    """

    definite: bool = False

    def __init__(
        self,
        value: Callable[[Array], Array],
        derivative: Callable[[Array], Array],
        second_derivative: Callable[[Array], Array] | None = None,
        kind: str = "distance",
        nonnegative: bool | None = None,
    ) -> None:
        self.value = value
        self.derivative = derivative
        self.second_derivative = second_derivative
        self.kind = kind
        self.nonnegative = nonnegative

    def _resolve(self, X: Matrix, sample_weight: Array | None = None) -> None:
        profile = self.profile()
        if self.nonnegative is None:
            self.nonnegative_ = _is_nonnegative(profile, X)

    def profile(self) -> Profile:
        check_choice(self, "kind", ("distance", "inner"))
        check_choice(self, "nonnegative", (True, False, None))
        for name in ("value", "derivative"):
            if not callable(getattr(self, name)):
                raise ValueError(f"{name}={getattr(self, name)!r} must be a function of an array")
        if self.second_derivative is not None and not callable(self.second_derivative):
            raise ValueError(f"second_derivative={self.second_derivative!r} must be a function of an array, or None")
        found = getattr(self, "nonnegative_", False) if self.nonnegative is None else bool(self.nonnegative)
        return _Written(self, found)


class _Written(Profile):
    """The functions of a ProfileKernel."""

    def __init__(self, kernel: ProfileKernel, nonnegative: bool) -> None:
        self.kernel = kernel
        self.kind = "inner" if kernel.kind == "inner" else "distance"
        self.nonnegative = nonnegative

    def _value(self, beta: Array) -> Array:
        return self._called("value", beta)

    def both(self, beta: Array) -> tuple[Array, Array]:
        return self._called("value", beta.copy()), self._called("derivative", beta)

    def second_derivative(self, beta: Array) -> Array:
        if self.kernel.second_derivative is None:
            raise ValueError("the kernel has second_derivative=None, which the second-order certificate needs; pass f″")
        return self._called("second_derivative", np.array(beta))

    def _called(self, name: str, beta: Array) -> Array:
        """One of the user's functions, as a new array of the dtype of β; an error if it gives no numbers."""
        given = beta.copy()  # the function may write into what it gets
        with np.errstate(all="ignore"):
            out = getattr(self.kernel, name)(beta)
        if np.shape(out) != given.shape or np.asarray(out).dtype.kind not in "fiub":
            shown = "None" if out is None else f"{np.asarray(out).dtype} of shape {np.shape(out)}"
            raise ValueError(
                f"{name} of ProfileKernel returned {shown} for an array of shape {given.shape}; return one like it, of "
                "real numbers"
            )
        found = np.array(out, given.dtype)
        if not np.isfinite(found).all():
            where = float(given[~np.isfinite(found)].flat[0])
            raise ValueError(
                f"{name} of ProfileKernel is not finite at β = {where:g}; return finite numbers there, for instance by "
                "an offset, or scale the columns of X"
            )
        return found


def _is_nonnegative(profile: Profile, X: Matrix) -> bool:
    """Whether f is not negative at any of many β, over all that rows of X and their projections can have."""
    largest = 4 * float(squared_norms(X).max())
    beta = np.concatenate([np.linspace(0, largest, _MANY_BETAS), np.geomspace(1e-9, 1, _MANY_BETAS) * largest])
    return bool(profile.value(beta if profile.kind == "distance" else np.concatenate([beta, -beta]) / 4).min() >= 0)
