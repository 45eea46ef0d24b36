"""The Gram: the similarities of n samples as a linear operator, however they are stored.

A new kind of Gram writes three hooks (``_product``, ``_rows``, ``_diagonal``) and inherits everything else; ``_block``
and ``_restricted`` are worth writing where a few entries cost less than their rows. Kernels make Grams; tasks use
them; neither asks which kind it has, only what it can do (``factor``, ``held``, ``csr``).
"""

from __future__ import annotations

from abc import abstractmethod
from numbers import Real
from typing import TYPE_CHECKING, Any, Literal

import numpy as np
from scipy.sparse.linalg import LinearOperator

from gramian.configuration import require_memory
from gramian.typing import Array, RandomState

if TYPE_CHECKING:
    from scipy.sparse import csr_array

    from gramian.grams.features import Factor
    from gramian.grams.signature import Signature
    from gramian.grams.solve import Factorization
    from gramian.grams.views import NormalizedGram

Index = slice | Array
"""Samples as the hooks get them: a slice of step 1, or whole numbers from 0 to n − 1."""

Which = Literal["largest", "magnitude", "smallest"]


class Gram(LinearOperator):
    """A symmetric n×n operator K of pairwise similarities.

    Parameters
    ----------
    n : int
        Number of samples.
    dtype : numpy dtype
        ``float32`` or ``float64``; products are computed and returned in it.

    Attributes
    ----------
    cheap_products : bool
        Whether K @ V costs little more than touching V (sparse K); the eigen-solver then uses narrow blocks.
    held : bool
        Whether the entries, or the features they are products of, are in memory. Where they are not, every product
        and every block evaluates the kernel again; whoever needs many of them can ask for :meth:`hold` first.
    csr : scipy.sparse.csr_array or None
        The matrix itself where it is held in sparse form, to be read and not written; None otherwise. A view is an
        operator and has none.
    on_workers : bool
        Whether the rows lie on the workers of a Dask cluster, so that what is as long as the data is a Dask array.
    """

    on_workers: bool = False
    cheap_products: bool = False
    held: bool = False

    def __init__(self, n: int, dtype: Any) -> None:
        super().__init__(dtype=np.dtype(dtype), shape=(n, n))
        self._degrees: Array | None = None

    # What a kind of Gram must say about itself -------------------------------------------------------------

    @abstractmethod
    def _product(self, V: Array) -> Array:
        """K @ V for V of shape (n, b) in the Gram's dtype."""

    @abstractmethod
    def _rows(self, index: Array) -> Array:
        """K[index] as a dense array (len(index), n)."""

    @abstractmethod
    def _diagonal(self) -> Array:
        """The n entries K[i, i]."""

    # What it may say where that is cheaper ------------------------------------------------------------------

    def _dense(self) -> Array:
        return self._rows(np.arange(self.shape[0]))

    def _surrendered(self) -> Array:
        """The whole matrix for the caller to write into; the Gram is not asked for anything afterwards."""
        return self._dense()

    def _block(self, rows: Index, columns: Index) -> Array:
        """K[rows][:, columns] as a new array."""
        every = np.arange(self.shape[0])
        return np.array(self._rows(every[rows])[:, columns])

    def _restricted(self, index: Array) -> Gram:
        """The Gram of the samples ``index``, no sample twice."""
        from gramian.grams.dense import DenseGram

        k = len(index)
        require_memory(float(k) * k * self.dtype.itemsize, f"the {k}×{k} Gram matrix", "restrict to fewer samples")
        return DenseGram(self._block(index, index))

    @property
    def factor(self) -> Factor | None:
        """F with K = F Fᵀ where the Gram has one, else None."""
        return None

    @property
    def _signed_factor(self) -> tuple[Factor, Array] | None:
        """F and w (m,) with K = F diag(w) Fᵀ where the Gram has them: features, of which some may count negative."""
        return None if self.factor is None else (self.factor, np.ones(self.factor.shape[1]))

    @property
    def csr(self) -> csr_array | None:
        return None

    # What tasks call ---------------------------------------------------------------------------------------

    def degrees(self) -> Array:
        """Row sums K 1, computed once."""
        if self._degrees is None:
            self._degrees = self._product(np.ones((self.shape[0], 1), self.dtype))[:, 0]
            self._degrees.flags.writeable = False  # the same array is handed to every caller
        return self._degrees

    def diagonal(self) -> Array:
        """The diagonal k(x_i, x_i), without the matrix."""
        return self._diagonal()

    def rows(self, index: Any) -> Array:
        """Rows K[index] as a dense array of shape (len(index), n)."""
        index = as_array(places(index, self.shape[0]))
        require_memory(float(len(index)) * self.shape[0] * self.dtype.itemsize, "rows(index)", "ask for fewer rows")
        return self._rows(index)

    def block(self, rows: Any, columns: Any) -> Array:
        """K[rows][:, columns] as a new dense array, at the cost of these entries alone.

        Parameters
        ----------
        rows, columns : slice, int or array-like of int or bool
            Samples, in any order and as often as wanted.

        Returns
        -------
        block : ndarray (len(rows), len(columns))
            The caller's own.
        """
        n = self.shape[0]
        rows, columns = places(rows, n), places(columns, n)
        require_memory(
            float(count(rows)) * count(columns) * self.dtype.itemsize,
            "block(rows, columns)",
            "ask for fewer rows or columns",
        )
        return self._block(rows, columns)

    def restricted(self, index: Any) -> Gram:
        """The Gram of some samples alone, K[index][:, index], held as this one is.

        Entries stay what they are: of a centred or normalised Gram it has those of the whole, not those of the chosen
        samples centred or normalised again.

        Parameters
        ----------
        index : slice or array-like of int or bool
            The samples, in any order, none twice.
        """
        index = as_array(places(index, self.shape[0]))
        if len(np.unique(index)) < len(index):
            raise ValueError("index names a sample twice; pass every sample once")
        return self._restricted(index)

    def hold(self) -> Gram:
        """This Gram with all that its products need in memory; itself where that is so already (``held``)."""
        if self.held:
            return self
        from gramian.grams.dense import DenseGram
        from gramian.grams.features import FeatureGram

        return DenseGram(self.dense()) if self.factor is None else FeatureGram(self.factor).hold()

    def form(self, A: Array, B: Array) -> Array:
        """Aᵀ K B, shape (a, b), for A (n, a) and B (n, b); of features one pass, where a product takes two."""
        signed = self._signed_factor
        if signed is None:
            return np.asarray(A.T @ (self @ B))
        both = signed[0].transposed_product(np.hstack([A, B]).astype(self.dtype, copy=False))
        left, right = both[:, : A.shape[1]], both[:, A.shape[1] :]
        return np.asarray((left.T * signed[1].astype(self.dtype)) @ right)

    def hold_some(self, most: float) -> Gram:
        """This Gram with as many of its first rows of features in memory as take ``most`` bytes.

        For methods that read features several times which are too large to be held: what is held need not be computed
        again. Itself where there are no features, or where they are held already.
        """
        return self

    def dense(self) -> Array:
        """The whole matrix as a new n×n array; refused above the memory budget."""
        n = self.shape[0]
        require_memory(
            float(n) * n * self.dtype.itemsize,
            f"the dense {n}×{n} Gram matrix",
            "work with products, degrees() and eigenpairs(), which need no matrix, or approximate the kernel by "
            "landmarks: kernel=gramian.Nystroem(n_components, kernel=...)",
        )
        return self._dense()

    def least(self) -> float | None:
        """The smallest entry, where every entry is held; None where that would mean to compute them all."""
        return None

    def trace(self) -> float:
        """Sum of the diagonal, which is the sum of all eigenvalues."""
        return float(self.diagonal().sum(dtype=np.float64))

    def eigenpairs(
        self,
        k: int,
        which: Which = "largest",
        *,
        tol: float | None = None,
        known: Array | None = None,
        method: str = "auto",
        random_state: RandomState = 0,
    ) -> tuple[Array, Array]:
        """k eigenvalues and orthonormal eigenvectors; see :func:`gramian.grams.eigen.eigenpairs`."""
        from gramian.grams.eigen import eigenpairs

        return eigenpairs(self, k, which, tol=tol, known=known, method=method, random_state=random_state)

    def signature(self, k: int | None = None) -> Signature:
        """The numbers of positive, negative and zero eigenvalues; see :func:`gramian.grams.signature.signature`."""
        from gramian.grams.signature import signature

        return signature(self, k)

    def factorization(
        self,
        diagonal: float | Array,
        method: str = "auto",
        *,
        preconditioner: int | str = "auto",
        random_state: RandomState = 0,
        consume: bool = False,
        inverse: bool = True,
    ) -> Factorization:
        """K + diag(diagonal), ready to be solved with; see :func:`gramian.grams.solve.factorization`."""
        from gramian.grams.solve import factorization

        return factorization(
            self,
            diagonal,
            method,
            preconditioner=preconditioner,
            random_state=random_state,
            consume=consume,
            inverse=inverse,
        )

    def _known_top(self, most: int) -> Array | None:
        """At most ``most`` orthonormal eigenvectors of the largest eigenvalue, where known without solving."""
        return None

    # Views: operators of the same kind, copying nothing ----------------------------------------------------

    def centered(self) -> Gram:
        """M K M with M = I − 11ᵀ/n: the Gram of the features minus their mean."""
        from gramian.grams.views import centered

        return centered(self)

    def normalized(self) -> NormalizedGram:
        """D^-½ K D^-½ with D the degrees; a row of degree zero stays zero."""
        from gramian.grams.views import normalized

        return normalized(self)

    def weighted_centered(self, weights: Array) -> Gram:
        """Π V^½ K V^½ Π with V = diag(weights) and Π orthogonal to √weights: weighted kernel PCA's operator."""
        from gramian.grams.views import weighted_centered

        return weighted_centered(self, weights)

    def shifted(self, shift: float | Array) -> Gram:
        """K + shift·I, or K + diag(shift) for an array (n,)."""
        from gramian.grams.views import ShiftedGram

        return ShiftedGram(self, shift)

    def scaled(self, c: float) -> Gram:
        """c K.

        With c >= 0 features stay features. A negative c makes a definite Gram negative definite: it has no features
        (``factor`` is None) and no random walk, but products, eigenpairs and :meth:`factorization` are right for it.
        """
        from gramian.grams.views import scaled

        return scaled(self, c)

    def deflated(self, scores: Array) -> Gram:
        """K − S Sᵀ for scores S (n, q): the Gram of the features less their part along unit directions w.

        With S_ij = w_j·φ(x_i) for orthonormal w_j the features are φ(x) − Σ_j w_j (w_j·φ(x)).
        """
        from gramian.grams.views import deflated

        return deflated(self, scores)

    def with_diagonal(self, diagonal: float | Array) -> Gram:
        """K with its diagonal replaced by a number or by an array (n,)."""
        from gramian.grams.views import DiagonalGram

        return DiagonalGram(self, diagonal)

    # SciPy's side of the protocol --------------------------------------------------------------------------

    def _matmat(self, V: Array) -> Array:
        # A float64 block against a float32 Gram must not make a float64 copy of the Gram.
        return self._product(np.ascontiguousarray(V, dtype=self.dtype))

    def _matvec(self, v: Array) -> Array:
        return self._matmat(np.reshape(v, (-1, 1)))[:, 0]

    def _adjoint(self) -> Gram:
        return self

    def _transpose(self) -> Gram:
        return self


def multiplier(c: Any, dtype: np.dtype[Any]) -> Any:
    """A finite number in the Gram's dtype."""
    if not isinstance(c, Real) or isinstance(c, bool) or not np.isfinite(float(c)):
        raise ValueError(f"c={c!r} must be a finite number")
    return dtype.type(c)


# Indices ---------------------------------------------------------------------------------------------------


def places(index: Any, n: int) -> Index:
    """Any NumPy index of n samples as the hooks want it; an IndexError if it reaches outside."""
    if isinstance(index, slice):
        start, stop, step = index.indices(n)
        return slice(start, max(start, stop)) if step == 1 else np.arange(start, stop, step)
    index = np.atleast_1d(np.asarray(index))
    if index.size == 0 and index.dtype.kind != "b":
        return np.empty(0, np.intp)
    if index.ndim != 1 or index.dtype.kind not in "iub" or (index.dtype.kind == "b" and len(index) != n):
        raise IndexError(f"index={index!r} selects no samples; pass a slice, whole numbers or {n} booleans")
    if index.dtype.kind == "b":
        return np.flatnonzero(index)
    if index.min() < -n or index.max() >= n:
        raise IndexError(f"index {index.max() if index.max() >= n else index.min()} is out of bounds for {n} samples")
    return np.where(index < 0, index + n, index).astype(np.intp, copy=False)


def as_diagonal(values: Any, n: int, dtype: Any, name: str = "diagonal") -> Array:
    """A number or n of them as an array (n,)."""
    values = np.asarray(values)
    if values.dtype.kind not in "fiub":
        raise ValueError(f"{name} has type {values.dtype}; pass real numbers")
    values = values.astype(dtype, copy=False)
    if values.shape not in ((), (n,)):
        raise ValueError(f"{name} has shape {values.shape}; pass a number or one per sample, shape ({n},)")
    if not np.isfinite(values).all():
        raise ValueError(f"{name} holds NaN or infinite values; pass finite numbers")
    return np.broadcast_to(values, (n,))


def as_array(index: Index) -> Array:
    """Samples as whole numbers."""
    return np.arange(index.start, index.stop) if isinstance(index, slice) else index


def count(index: Index) -> int:
    """How many samples."""
    return index.stop - index.start if isinstance(index, slice) else len(index)


def on_diagonal(rows: Index, columns: Index) -> tuple[Array, Array]:
    """Where a block meets the diagonal: all (i, j) with rows[i] == columns[j]."""
    if isinstance(rows, slice) and isinstance(columns, slice):
        shared = np.arange(max(rows.start, columns.start), min(rows.stop, columns.stop))
        return shared - rows.start, shared - columns.start
    rows, columns = as_array(rows), as_array(columns)
    order = np.argsort(columns, kind="stable")
    first, last = (np.searchsorted(columns[order], rows, side=side) for side in ("left", "right"))
    times = last - first
    within = np.arange(times.sum()) - np.repeat(np.cumsum(times) - times, times)
    return np.repeat(np.arange(len(rows)), times), order[np.repeat(first, times) + within]
