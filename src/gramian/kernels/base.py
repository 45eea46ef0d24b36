"""What a kernel is.

A kernel resolves what depends on the data in ``fit`` (width rules, mixtures, landmarks) and then gives the similarity
of any two rows. Subclasses write the tile hooks (``_sides``, ``_tile``, ``_diagonal``) or, where the kernel has finite
features, ``_features``; blocks, streamed products and Grams come from here. Kernels know nothing of tasks.

``fit``, ``gram`` and ``product`` check their rows. Estimators have checked them already and ask ``_unchecked`` for
``_fit``, ``_gram`` and ``_product``, which do not.
"""

from __future__ import annotations

from collections.abc import Callable
from copy import copy
from typing import TYPE_CHECKING, Any, Self

import numpy as np
from scipy.sparse import issparse
from sklearn.base import ClassNamePrefixFeaturesOutMixin, TransformerMixin, clone
from sklearn.utils.validation import check_is_fitted, validate_data

from gramian.checks import check_samples, check_weights, is_real, remember_columns
from gramian.configuration import memory_budget, require_memory
from gramian.diagram import Estimator
from gramian.grams import tiles
from gramian.grams.base import Gram
from gramian.grams.dense import DenseGram
from gramian.grams.distributed import DistributedFactor, DistributedGram
from gramian.grams.features import Factor, FeatureGram, KernelFactor, MatrixFactor, squared_norms
from gramian.grams.krein import KreinGram, signed_dot
from gramian.grams.lazy import DeferredGram, LazyGram
from gramian.partitions import (
    DistributedRows,
    columns_of,
    is_distributed,
    output_container,
    refuse_frames,
    refuse_partitions,
)
from gramian.typing import Array, Matrix

if TYPE_CHECKING:  # which needs this module
    from gramian.kernels.profile import Profile, WeightedProfiles

# What gives a kernel its values, and what says so in another way.
_VALUES = ("__call__", "_block", "_sides", "_tile", "_diagonal", "_features")
_FORMULAS = ("profile", "profiles", "frequencies")
_NAMED: dict[str, type[Kernel]] = {}
_MANY = 2000  # most features of rows on workers where there are many: each task sends sums of features × features


class Kernel(Estimator):
    """Base of all kernels: a similarity k(x, y) of two rows.

    Attributes
    ----------
    definite : bool
        Whether every Gram matrix is positive semi-definite. Kernels that are not (Kreĭn space) work wherever the
        mathematics allows it and are refused, by name, where not.
    has_features : bool
        Whether ``features(X)`` gives a finite F with K = F Fᵀ.
    has_many_features : bool
        Whether it does, but with so many columns that only rows on workers, which have nothing else, are held by F;
        ``has_features`` is then False.
    feature_signs : ndarray (m,) or None
        J = ±1 where an indefinite kernel has finite features, K = F diag(J) Fᵀ; ``has_features`` is then False. None
        for all others.
    accepts_sparse, accepts_nan : bool
        Whether X may be a sparse matrix, or have missing values.
    pairwise : bool
        Whether X holds similarities instead of samples.
    sparse_blocks : bool
        Whether ``kernel(X, Y)`` is a sparse matrix.
    definiteness_known : bool
        Whether ``definite`` is known; False where only the caller can say, as of a function.
    approximate : bool
        Whether the values approximate those of another kernel, so that they may dip below zero where it does not.
    """

    definite: bool = True
    definiteness_known: bool = True
    has_features: bool = False
    has_many_features: bool = False
    feature_signs: Array | None = None
    accepts_sparse: bool = False
    accepts_nan: bool = False
    pairwise: bool = False
    sparse_blocks: bool = False
    approximate: bool = False
    _frozen: bool = False

    def __init_subclass__(cls, *, name: str | None = None, **options: Any) -> None:
        """Register the ``name`` that ``kernel=`` parameters take for the class.

        Forgets an inherited formula where the class changes the values by other means than its profile.
        """
        super().__init_subclass__(**options)
        if name is not None:
            known = _NAMED.get(name, cls)
            if (known.__module__, known.__qualname__) != (cls.__module__, cls.__qualname__):  # else it is defined anew
                raise ValueError(f"name={name!r} belongs to {known.__name__}; give {cls.__name__} another one")
            _NAMED[name] = cls
        nearest = min(_place(cls, hook) for hook in _VALUES)
        for name in _FORMULAS:
            if nearest < _place(cls, name):
                setattr(cls, name, getattr(Kernel, name))

    # Hooks -------------------------------------------------------------------------------------------------

    def _resolve(self, X: Matrix, sample_weight: Array | None = None) -> None:
        """Learn from X whatever the parameters leave open; a row of weight 2 counts as two rows."""

    def _sides(self, X: Matrix, Y: Matrix) -> tuple[Any, Any]:
        """Both inputs prepared once, as row-sliceable objects for ``_tile``."""
        return X, Y

    def _tile(self, left: Any, right: Any) -> Array:
        """The block of kernel values between prepared rows."""
        raise NotImplementedError

    def _diagonal(self, X: Matrix) -> Array:
        """k(x, x) for every row."""
        raise NotImplementedError

    def _features(self, X: Matrix) -> Matrix:
        """F for checked X, where ``has_features`` or ``has_many_features``."""
        raise TypeError(
            f"{type(self).__name__} has no finite features; approximate it with "
            "gramian.Nystroem(n_components, kernel=...) and use its features"
        )

    def _n_features(self, X: Matrix) -> int:
        """Number of columns of ``_features(X)``, without computing them."""
        return int(X.shape[1])

    def _met_again(self, X: Matrix) -> Array | None:
        """For each row of the Gram of X the row whose similarities it has when it is given again; None if its own."""
        return None

    # The protocol ------------------------------------------------------------------------------------------

    def fit(self, X: Matrix, y: Any = None, sample_weight: Any = None) -> Self:
        """Resolve what depends on the data.

        Parameters
        ----------
        X : array-like or sparse (n, d)
            Samples.
        y : ignored
            Present for scikit-learn's conventions.
        sample_weight : array-like (n,), optional
            How often each row counts: 2 is the row given twice, 0 the row left out. Weights that are not whole numbers
            are scaled to a mean of one.

        Returns
        -------
        self : Kernel
            Of a Dask array or data frame the kernel learns from 50,000 rows, drawn by number.
        """
        if is_distributed(X) and not self.pairwise:
            if sample_weight is not None:
                raise TypeError("sample_weight is for rows in memory; leave it out for a Dask input")
            given = DistributedRows(X, **self._checks())
            return self.fit(given.named(given.sample()), y)
        if self._frozen:
            self._checked(X)
            return self
        rows = check_samples(self, X, **self._checks())
        weights = None if sample_weight is None else check_weights(sample_weight, rows.shape[0], np.float64)
        self._resolve(rows, weights)
        remember_columns(self, X)
        return self

    def frozen(self) -> Self:
        """This fitted kernel as one that keeps what it learned, wherever it is given as ``kernel=``.

        Estimators otherwise fit a fresh copy of the kernel they are given. ``fit`` of a frozen kernel changes nothing,
        and its clone is itself.

        Returns
        -------
        kernel : Kernel
            A copy that shares what was learned.

        Examples
        --------
        >>> import numpy as np
        >>> from gramian import KernelPCA
        >>> from gramian.kernels import RBF
        >>> X = np.random.default_rng(0).normal(size=(50, 3))
        >>> kernel = RBF("median").fit(X)
        >>> bool(KernelPCA(kernel=kernel.frozen()).fit(X[:10]).kernel_.width_ == kernel.width_)
        True
        """
        check_is_fitted(self, "n_features_in_")
        kept = copy(self)
        kept._frozen = True
        return kept

    def __sklearn_clone__(self) -> Self:
        kernel: Self = self if self._frozen else super().__sklearn_clone__()
        return kernel

    def _fit(self, X: Matrix, *, sample_weight: Array | None = None) -> Self:
        self._resolve(X, sample_weight)
        remember_columns(self, X)
        return self

    def _fitted(self, X: Matrix, sample_weight: Array | None = None) -> Self:
        """``fit`` for rows and weights that are checked already."""
        if self._frozen:
            return self
        fit = self._unchecked("fit")
        fit(X) if sample_weight is None else fit(X, sample_weight=sample_weight)
        return self

    def _unchecked(self, name: str) -> Callable[..., Any]:
        """A method for rows that are checked already: its hook, unless a subclass has written the method itself."""
        hook = f"_{name}"
        method: Callable[..., Any] = getattr(
            self, hook if _place(type(self), hook) <= _place(type(self), name) else name
        )
        return method

    def __call__(self, X: Matrix, Y: Matrix | None = None) -> Array:
        """The dense block k(x_i, y_j) of shape (n_X, n_Y); ``Y=None`` is X with itself."""
        X = self._checked(X)
        Y = None if Y is None else self._checked(Y)
        n_columns = X.shape[0] if Y is None else Y.shape[0]
        require_memory(
            float(X.shape[0]) * n_columns * X.dtype.itemsize,
            f"the {X.shape[0]}×{n_columns} kernel block",
            "use gram(X), which does not store it",
        )
        self._check_overflow(X)
        return self._block(X, Y)

    def _block(self, X: Matrix, Y: Matrix | None) -> Array:
        return tiles.block(self, X, Y, X.dtype)

    def _check_overflow(self, X: Matrix) -> None:
        self._finite_diagonal(X)

    def _finite_diagonal(self, X: Matrix) -> Array:
        """k(x, x); an error where it overflows, and with it, for a definite kernel, any other value."""
        with np.errstate(over="ignore", invalid="ignore"):
            diagonal = self._diagonal(X)
        if not np.isfinite(diagonal).all():
            raise ValueError(
                f"{type(self).__name__} overflows {X.dtype} on X, whose largest magnitude is {abs(X).max():.1e}; "
                "scale the columns, for instance with StandardScaler"
            )
        return diagonal

    def diagonal(self, X: Matrix) -> Array:
        """k(x, x) for every row of X, shape (n,)."""
        return self._finite_diagonal(self._checked(X))

    def features(self, X: Matrix) -> Matrix:
        """F with K = F Fᵀ, shape (n, m), for kernels with finite features: dense, CSR, or Dask's as the input is."""
        if is_distributed(X):
            return self._distributed_factor(self._rows_on_workers(X)).rows()
        X = self._checked(X)
        require_memory(
            self._feature_bytes(X),
            f"the {X.shape[0]}×{self._n_features(X)} array of features",
            "ask for a part of the rows at a time, or use gram(X), which does not store it",
        )
        return self._features(X)

    def gram(self, X: Matrix) -> Gram:
        """The cheapest faithful Gram for X: features, a dense matrix, or recomputed tiles; features of a Dask input."""
        if is_distributed(X):
            self._refuse_partitions()
            return self._gram_of(self._rows_on_workers(X))
        return self._gram(self._checked(X))

    def _gram(self, X: Matrix) -> Gram:
        self._check_overflow(X)
        n = X.shape[0]
        if self.has_features and self._n_features(X) < n:
            return FeatureGram(self._factor(X))
        if self.feature_signs is not None and self._n_features(X) < n:
            return KreinGram(self._factor(X), self.feature_signs)
        if float(n) * n * X.dtype.itemsize <= memory_budget():
            return DenseGram(self._block(X, None), owned=True)
        return LazyGram(self, X)

    def _gram_once(self, X: Matrix) -> Gram:
        """As ``gram``, for one factorization: an n×n array that would be held is evaluated only by a product."""
        n = X.shape[0]
        own = any(getattr(type(self), name) is not getattr(Kernel, name) for name in ("gram", "_gram", "_block"))
        fits = float(n) * n * X.dtype.itemsize <= memory_budget()
        if own or not fits or self.has_features or self.feature_signs is not None:
            return self._unchecked("gram")(X)
        self._check_overflow(X)
        return DeferredGram(self, X)

    def product(self, X: Matrix, Y: Matrix, V: Array) -> Array:
        """K(X, Y) @ V without storing the block; V is (n_Y, b) or (n_Y,)."""
        X, Y = self._checked(X), self._checked(Y)
        V = np.asarray(V, dtype=X.dtype)
        if V.shape[:1] != (Y.shape[0],):
            raise ValueError(f"V has shape {V.shape} but Y has {Y.shape[0]} rows; pass V of shape ({Y.shape[0]}, b)")
        return self._product(X, Y, V)

    def _product(self, X: Matrix, Y: Matrix, V: Array) -> Array:
        block = np.ascontiguousarray(V.reshape(len(V), -1))
        if self.has_features:
            out = self._factor(X).product(self._factor(Y).transposed_product(block))
        else:
            out = tiles.product(self, X, Y, block)
        return out.reshape(len(out), *V.shape[1:])

    def _factor(self, X: Matrix) -> Factor:
        """The features of X, recomputed chunk by chunk where they would exceed the memory budget."""
        return MatrixFactor(self._features(X)) if self._feature_bytes(X) <= memory_budget() else self._streamed(X)

    def _gram_of(self, X: Any) -> Gram:
        """The Gram of checked rows, in memory or on workers."""
        if isinstance(X, DistributedRows):
            return DistributedGram(self._distributed_factor(X))
        gram: Gram = self._unchecked("gram")(X)
        return gram

    def _rows_on_workers(self, X: Any) -> DistributedRows:
        """A Dask input, of the columns that the kernel was fitted to."""
        if hasattr(self, "n_features_in_"):
            validate_data(self, columns_of(X), reset=False, skip_check_array=True)
        return DistributedRows(X, **self._checks())

    def _distributed_factor(self, rows: DistributedRows) -> DistributedFactor:
        """The features of rows on workers, computed there."""
        self._refuse_partitions()
        count = self._n_features(np.zeros((1, rows.shape[1]), rows.dtype))
        if self.has_many_features and count > _MANY:
            raise TypeError(
                f"kernel={self!r} has {count:,} features of {rows.shape[1]} columns, too many to be summed over "
                "partitions; approximate it: kernel=gramian.Nystroem(300, kernel=...)"
            )
        return DistributedFactor.of_rows(self._streamed, rows, count)

    def _refuse_partitions(self) -> None:
        """An error where rows on workers have no features to be held by."""
        if not (self.has_features or self.has_many_features):
            raise TypeError(
                f"kernel={self!r} has no finite features, and the n×n similarities of a Dask input fit in no memory; "
                "approximate it: kernel=gramian.Nystroem(300, kernel=...)"
            )

    def _streamed(self, X: Matrix) -> Factor:
        return KernelFactor(self, X, self._n_features(X))

    def _feature_bytes(self, X: Matrix) -> float:
        """What ``_features(X)`` would take."""
        return float(X.shape[0]) * self._n_features(X) * X.dtype.itemsize

    # The formula -------------------------------------------------------------------------------------------

    def profile(self) -> Profile | None:
        """The kernel's formula as a function of one number per pair, or None if it is no such function.

        A subclass that overrides it is another kernel everywhere: in blocks, Grams, Fourier features, neighbour
        search and dependence. One that overrides the values by other means has no profile.
        """
        return None

    def profiles(self) -> WeightedProfiles | None:
        """Pairs (weight, profile) that add up to the kernel, or None if it is no such sum."""
        profile = self.profile()
        return None if profile is None else ((1.0, profile),)

    def frequencies(self, d: int, size: int, rng: np.random.Generator, *, orthogonal: bool = False) -> Array | None:
        """Random ω in the columns of a (d, size) array, with k(x, y) = k(0, 0) · mean of cos(ω·(x − y)).

        None where none are known. Arguments as in :meth:`gramian.kernels.profile.Profile.frequencies`, whose answer
        it is where the kernel has one profile.
        """
        profile = self.profile()
        return None if profile is None else profile.frequencies(d, size, rng, orthogonal=orthogonal)

    # Algebra -----------------------------------------------------------------------------------------------

    def __add__(self, other: Any) -> Kernel:
        from gramian.kernels.algebra import Sum  # which needs this module

        return Sum(self, other) if isinstance(other, Kernel) else NotImplemented

    def __mul__(self, other: Any) -> Kernel:
        from gramian.kernels.algebra import Product, Scaled  # which need this module

        if isinstance(other, Kernel):
            return Product(self, other)
        return Scaled(float(other), self) if is_real(other) else NotImplemented

    __rmul__ = __mul__

    # Validation --------------------------------------------------------------------------------------------

    def _checked(self, X: Matrix, *, reset: bool = False) -> Matrix:
        """X as a float array or CSR; also counts and names the features, as scikit-learn does."""
        if reset or hasattr(self, "n_features_in_"):
            refuse_partitions(self, X)
            return validate_data(self, X, reset=reset, **self._checks())
        return check_samples(self, X, **self._checks())

    def _checks(self) -> dict[str, Any]:
        """What scikit-learn's validation is to allow."""
        return {
            "accept_sparse": "csr" if self.accepts_sparse else False,
            "dtype": [np.float64, np.float32],
            "ensure_all_finite": "allow-nan" if self._nan_in_some_columns else True,
        }

    @property
    def _nan_in_some_columns(self) -> bool:
        """Whether X may have missing values at least in some columns; then the kernel itself refuses the others."""
        return bool(self.accepts_nan)

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = bool(self.accepts_sparse)
        tags.input_tags.allow_nan = bool(self.accepts_nan)
        tags.input_tags.pairwise = bool(self.pairwise)
        return tags


def _place(cls: type, name: str) -> int:
    """How far up the bases of a class an attribute is defined."""
    return next(place for place, base in enumerate(cls.__mro__) if name in vars(base))


class FeatureKernel(Kernel):
    """A kernel defined by its features, k(x, y) = φ(x)·φ(y). Subclasses write ``_features``.

    One with ``feature_signs`` J is k(x, y) = φ(x)·J φ(y).
    """

    has_features: bool = True

    def _sides(self, X: Matrix, Y: Matrix) -> tuple[Any, Any]:
        left = self._features(X)
        return left, left if Y is X else self._features(Y)

    def _tile(self, left: Any, right: Any) -> Array:
        return dot(left, right) if self.feature_signs is None else signed_dot(left, right, self.feature_signs)

    def _check_overflow(self, X: Matrix) -> None:
        """Nothing: only the linear kernel's features are not bounded, and computing features twice costs."""

    def _block(self, X: Matrix, Y: Matrix | None) -> Array:
        left, right = self._sides(X, X if Y is None else Y)
        K = self._tile(left, right)
        if Y is None:
            np.fill_diagonal(K, self._squares(left))
        return K

    def _diagonal(self, X: Matrix) -> Array:
        return self._squares(self._features(X))

    def _squares(self, F: Matrix) -> Array:
        return squared_norms(F) if self.feature_signs is None else KreinGram(F, self.feature_signs).diagonal()


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
        if is_distributed(X):
            refuse_frames(self)
        F = self.features(X)
        # A data frame holds no sparse matrix.
        return F.toarray() if issparse(F) and output_container(self) != "default" else F

    def _n_features(self, X: Matrix) -> int:
        check_is_fitted(self)
        return self._n_features_out

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.transformer_tags.preserves_dtype = ["float64", "float32"]
        return tags


def kernel_names() -> list[str]:
    """The names that every ``kernel=`` parameter takes."""
    return sorted(_NAMED)


def as_kernel(kernel: Kernel | str | Callable[[Any, Any], Any], name: str = "kernel") -> Kernel:
    """A fresh, unfitted kernel from whatever a ``kernel=`` parameter was given.

    Parameters
    ----------
    kernel : Kernel, str or callable
        A kernel (cloned), a registered name, or a function of two arrays.
    name : str
        The parameter it was given to, for messages.

    Examples
    --------
    >>> from gramian.kernels import as_kernel
    >>> as_kernel("rbf")
    RBF()
    """
    if isinstance(kernel, type):
        raise ValueError(f"{name}={kernel.__name__} is a class; pass an object, {kernel.__name__}()")
    if isinstance(kernel, Kernel):
        return clone(kernel)
    if isinstance(kernel, str) and kernel in _NAMED:
        return _NAMED[kernel]()
    if callable(kernel):
        from gramian.kernels.given import FunctionKernel  # which needs this module

        return FunctionKernel(kernel)
    raise ValueError(
        f"{name}={kernel!r} is not a kernel; pass one of {', '.join(map(repr, kernel_names()))}, "
        "a gramian.kernels object, or a function of two arrays"
    )


def dot(left: Matrix, right: Matrix) -> Array:
    """left @ rightᵀ as a dense array, whichever of the two are sparse."""
    out = left @ right.T
    return out.toarray() if issparse(out) else np.asarray(out)
