"""The one place where linear systems with a Gram are solved: (K + diag(d)) X = B.

A task asks a Gram for a factorization and solves with it as often as it likes; here the cheapest faithful method is
chosen:

=========  ========================================================  =========================================
method     how                                                       chosen for
=========  ========================================================  =========================================
dual       Woodbury: an m×m matrix instead of n×n                    K = F diag(w) Fᵀ with few features, d > 0
cholesky   L Lᵀ in place, one n×n array in all                       n up to 10,000 where that array fits
refined    L Lᵀ in single precision, solutions corrected by          the same from 5,000 on in float64, where nothing
           products in double; three quarters of an n×n array        but solutions is wanted (``inverse=False``)
ldl        the same for indefinite matrices                          where Cholesky fails
cg         conjugate gradients, all right-hand sides at once,        everything else, if positive definite
           with a Nyström preconditioner where it saves products
=========  ========================================================  =========================================

The dual is what regression in the features themselves solves, so a Gram with features needs no other door for it. It is
float64 for a float32 Gram too; the n×n factor has the dtype of the Gram.

"refined" takes half the time of "cholesky" and is as accurate. Where corrections do not reach double precision, which
takes a condition of about 10⁷ or more, and where the diagonal of the inverse or the determinant is asked for after all,
the factor in double takes its place, and ``method`` says so from then on.
"""

from __future__ import annotations

import warnings
from abc import ABC, abstractmethod
from collections.abc import Callable
from functools import cached_property
from numbers import Integral
from threading import Lock
from typing import TYPE_CHECKING, Any

import numpy as np
from scipy.linalg import LinAlgWarning
from scipy.sparse import issparse

from gramian.configuration import memory_budget, require_memory
from gramian.grams.base import as_diagonal
from gramian.grams.conjugate_gradients import conjugate_gradients, landmark_features
from gramian.grams.features import FeatureGram, inner, scaled_rows
from gramian.grams.refined import SingleCholesky
from gramian.grams.tiles import slices
from gramian.grams.triangular import SURE, NotDefiniteError, Triangular
from gramian.typing import Array, RandomState

if TYPE_CHECKING:
    from gramian.grams.base import Gram

_DIRECT_SIZE = 10_000  # above this n³/3 multiplications take longer than the iteration, for most kernels
_SPARSE_DIRECT_SIZE = 500  # the same where products are cheap
_REFINED_SIZE = 5000  # below this leave-one-out, which needs the factor in double, would make up for what is saved
_DUAL_SIZE = 3000  # above this the m×m system costs more than the iteration
_REFINED = 1e6  # where K is so many times larger than d, Woodbury loses as many digits and is refined once
_STRIP = 256  # unit vectors solved for together
_METHODS = ("auto", "cholesky", "refined", "ldl", "dual", "cg")


class Factorization(ABC):
    """A factorized K + diag(d), which solves linear systems.

    Attributes
    ----------
    method : {"cholesky", "refined", "ldl", "dual", "cg"}
    n_iter : int
        Products with K that the last :meth:`solve` took; 0 for a factor in the precision of the Gram.
    """

    method: str
    n_iter: int = 0

    def __init__(self, gram: Gram, d: Array) -> None:
        self.gram = gram
        self.d = np.broadcast_to(d, (gram.shape[0],))

    def solve(self, B: Array, *, start: Array | None = None, tol: float | None = None) -> Array:
        """X with (K + diag(d)) X = B.

        Parameters
        ----------
        B : array-like (n,) or (n, b)
            One or several right-hand sides.
        start : array-like, shape of B, optional
            A first guess. Only "cg" uses it.
        tol : float, optional
            Wanted ‖B − A X‖ of every column, relative to ‖B‖; default 1e-10, or 1e-5 for float32. Only "cg" uses it.

        Returns
        -------
        X : ndarray, shape of B
            float64 if the Gram or B is, else float32.

        Warns
        -----
        sklearn.exceptions.ConvergenceWarning
            If conjugate gradients stop before reaching ``tol``.
        """
        B = np.asarray(B)
        n = self.gram.shape[0]
        if B.ndim not in (1, 2) or B.shape[0] != n or B.dtype.kind not in "fiub":
            raise ValueError(f"B has shape {B.shape} and type {B.dtype}; pass numbers of shape ({n},) or ({n}, b)")
        if not np.isfinite(B).all():
            raise ValueError("B holds NaN or infinite values; replace them, or drop those columns")
        if start is not None and np.shape(start) != B.shape:
            raise ValueError(f"start has shape {np.shape(start)}; pass the shape of B, {B.shape}")
        if tol is not None and not 0 < tol < 1:
            raise ValueError(f"tol={tol!r} must be between 0 and 1, such as 1e-8")
        dtype = np.float64 if B.dtype.kind == "f" and B.dtype.itemsize > 4 else self.gram.dtype
        guess = None if start is None else np.asarray(start, np.float64).reshape(B.shape[0], -1)
        X, self.n_iter = self._solve(B if B.ndim == 2 else B[:, None], guess, tol)
        return X.reshape(B.shape).astype(dtype, copy=False)

    @abstractmethod
    def _solve(self, B: Array, start: Array | None, tol: float | None) -> tuple[Array, int]:
        """X (n, b) and the number of products."""

    def quadratic(self, B: Array) -> Array:
        """bᵀ (K + diag(d))⁻¹ b of every column b of B (n, b), shape (b,)."""
        return np.einsum("ij,ij->j", B, self.solve(B))

    @abstractmethod
    def inverse_diagonal(self, rtol: float = 0.0) -> Array:
        """The diagonal of (K + diag(d))⁻¹, shape (n,): leave-one-out residuals divide by it.

        Parameters
        ----------
        rtol : float, default 0
            A relative error that is allowed. From 1e-6 on a Cholesky factor is inverted in single precision, in half
            the time, where that keeps to it in the entries that look worst.
        """

    @abstractmethod
    def log_determinant(self) -> float:
        """log |det(K + diag(d))|."""

    @cached_property
    def reciprocal_condition(self) -> float:
        """Estimate of 1 / (‖A‖ ‖A⁻¹‖) in the 1-norm: of 16 digits (7 in float32) as many are lost as it has zeros."""
        n = self.gram.shape[0]
        return 1 / (_one_norm(self._apply, n) * _one_norm(lambda v: self._solve(v, None, None)[0], n)) if n else 1.0

    def worse_than(self, limit: float) -> bool:
        """Whether the reciprocal condition is below the limit, which is often clear without an estimate of it."""
        return self.reciprocal_condition < limit

    def _apply(self, V: Array) -> Array:
        """(K + diag(d)) V in float64."""
        out = (self.gram @ V).astype(np.float64, copy=False)
        out += self.d[:, None] * V
        return out


def factorization(
    gram: Gram,
    diagonal: float | Array,
    method: str = "auto",
    *,
    preconditioner: int | str = "auto",
    random_state: RandomState = 0,
    consume: bool = False,
    inverse: bool = True,
) -> Factorization:
    """K + diag(diagonal), ready to be solved with.

    Parameters
    ----------
    gram : Gram
        K, definite or not.
    diagonal : float or array-like (n,)
        What is added to the diagonal of K. Any finite numbers, for "dual" positive ones.
    method : {"auto", "cholesky", "refined", "ldl", "dual", "cg"}
        See the table in the module's docstring. "cholesky", "refined" and "cg" refuse a K + diag(diagonal) that is not
        positive definite; "ldl" and "dual" do not need it to be.
    preconditioner : int or "auto"
        For "cg": the number of landmarks, 0 for none.
    random_state : int, Generator or None
        For the landmarks of the preconditioner.
    consume : bool
        Let the factor take the place of a matrix that the Gram holds for itself alone, so that there is one n×n array
        in all. The Gram must not be used afterwards.
    inverse : bool
        Whether :meth:`Factorization.inverse_diagonal` or the determinant will be asked for. Where they will not,
        "auto" may choose "refined"; asked for nevertheless, they cost a second factorization.

    Returns
    -------
    factorization : Factorization

    Warns
    -----
    scipy.linalg.LinAlgWarning
        If the matrix is singular to working precision.

    Examples
    --------
    >>> import numpy as np
    >>> from gramian.grams import DenseGram
    >>> system = DenseGram(np.array([[2.0, 1.0], [1.0, 2.0]])).factorization(1.0)
    >>> system.solve([4.0, 4.0]), system.method
    (array([1., 1.]), 'cholesky')
    """
    if method not in _METHODS:
        raise ValueError(f"method={method!r} must be {', '.join(map(repr, _METHODS[:-1]))} or {_METHODS[-1]!r}")
    if preconditioner != "auto" and not (
        isinstance(preconditioner, Integral) and not isinstance(preconditioner, bool) and preconditioner >= 0
    ):
        raise ValueError(f"preconditioner={preconditioner!r} must be 'auto' or a whole number >= 0 of landmarks")
    d = as_diagonal(diagonal, gram.shape[0], np.float64)
    chosen = _choose(gram, d, inverse) if method == "auto" else method
    if chosen == "dual":
        return _Dual(gram, d)
    if chosen == "cg":
        return _Iterative(gram, d, preconditioner, random_state)
    definite = None if method == "auto" else method != "ldl"
    if chosen == "refined":
        if gram.dtype != np.float64:
            raise ValueError(f"method='refined' corrects to float64, and the Gram is {gram.dtype}; use 'cholesky'")
        _require_factor(gram)  # which may be needed yet
        try:
            return _Refined(gram, d, definite, consume)
        except NotDefiniteError:  # in single precision, which tells little about double
            pass
    return _Direct(gram, d, definite, consume)


def _choose(gram: Gram, d: Array, inverse: bool) -> str:
    n, signed = gram.shape[0], gram._signed_factor
    if signed is not None and (d > 0).all():
        m = signed[0].shape[1]
        if m <= min(n, _DUAL_SIZE) and 8.0 * m * m <= memory_budget():
            return "dual"
    fits = float(n) * n * gram.dtype.itemsize <= memory_budget()
    if not fits or n > (_SPARSE_DIRECT_SIZE if gram.cheap_products else _DIRECT_SIZE):
        return "cg"
    return "cholesky" if inverse or n < _REFINED_SIZE or gram.dtype != np.float64 else "refined"


def _require_factor(gram: Gram) -> None:
    n = gram.shape[0]
    require_memory(
        float(n) * n * gram.dtype.itemsize,
        f"the {n}×{n} factor",
        "use method='cg', which needs products only, or approximate the kernel by landmarks, "
        "kernel=gramian.Nystroem(n_components, kernel=...), and method='dual'",
    )


class _Direct(Factorization):
    """An n×n triangular factor."""

    def __init__(self, gram: Gram, d: Array, definite: bool | None, consume: bool = False) -> None:
        super().__init__(gram, d)
        _require_factor(gram)
        A = np.ascontiguousarray(gram._surrendered() if consume else gram._dense())
        if np.abs(d).max(initial=0.0) > np.finfo(A.dtype).max:
            raise ValueError(f"diagonal has values up to {np.abs(d).max():.1e}, too large for a {A.dtype} Gram")
        A.flat[:: len(A) + 1] += d.astype(A.dtype)
        self._factor = _factorized(A, definite)
        self.method = self._factor.method

    @cached_property
    def reciprocal_condition(self) -> float:
        """LAPACK's estimate of 1 / (‖A‖ ‖A⁻¹‖) in the 1-norm."""
        return self._factor.reciprocal_condition

    def worse_than(self, limit: float) -> bool:
        return self._factor.worse_than(limit)

    def _solve(self, B: Array, start: Array | None, tol: float | None) -> tuple[Array, int]:
        return self._factor.solve(B.astype(self.gram.dtype, copy=False)), 0

    def quadratic(self, B: Array) -> Array:
        return self._factor.quadratic(np.asarray(B).astype(self.gram.dtype, copy=False))

    def inverse_diagonal(self, rtol: float = 0.0) -> Array:
        return self._factor.inverse_diagonal(rtol if 1.5 * self._factor.L.nbytes <= memory_budget() else 0.0)

    def log_determinant(self) -> float:
        return self._factor.log_determinant()


class _Refined(Factorization):
    """A Cholesky factor in single precision and products in double, until a factor in double is needed."""

    def __init__(self, gram: Gram, d: Array, definite: bool | None, consume: bool) -> None:
        super().__init__(gram, d)
        self.method = "refined"
        self._near: SingleCholesky | None = SingleCholesky(gram, self.d)
        self._exact: _Direct | None = None
        self._options = (definite, consume)
        self._lock = Lock()  # the factor in double may take the place of a matrix that solutions multiply with

    def _switch(self) -> _Direct:
        """The factor in double, made where there is none yet; the caller holds the lock."""
        if self._exact is None:
            self._near = None  # first, for its memory
            self._exact = _Direct(self.gram, self.d, *self._options)
            self.method = self._exact.method
        return self._exact

    @property
    def _double(self) -> _Direct:
        with self._lock:
            return self._switch()

    def _solve(self, B: Array, start: Array | None, tol: float | None) -> tuple[Array, int]:
        with self._lock:
            found = None if self._near is None else self._near.solve(B.astype(np.float64, copy=False))
            if found is not None:
                return found
            exact = self._switch()
        return exact._solve(B, start, tol)

    def quadratic(self, B: Array) -> Array:
        return super().quadratic(B) if self._exact is None else self._exact.quadratic(B)

    def inverse_diagonal(self, rtol: float = 0.0) -> Array:
        return self._double.inverse_diagonal(rtol)

    def log_determinant(self) -> float:
        return self._double.log_determinant()

    @cached_property
    def reciprocal_condition(self) -> float:
        """As of the factor in double, or estimated by products and solutions while there is none."""
        with self._lock:
            size = None if self._near is None else _one_norm(self._near.product, len(self.d))
        inverse = 0.0 if size is None else _one_norm(lambda V: self._solve(V, None, None)[0], len(self.d))
        return self._double.reciprocal_condition if size is None or self._exact is not None else 1 / (size * inverse)

    def worse_than(self, limit: float) -> bool:
        if self._exact is not None:
            return self._exact.worse_than(limit)
        with self._lock:
            near = self._near
        sure = near is not None and near.least_pivot > SURE * limit * near.norm_bound
        return not sure and self.reciprocal_condition < limit

    def __getstate__(self) -> dict[str, Any]:
        return {name: value for name, value in self.__dict__.items() if name != "_lock"}

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.__dict__.update(state, _lock=Lock())


class _Dual(Factorization):
    """Woodbury: with K = F diag(w) Fᵀ, D = diag(d) > 0, J = sign(w) and G = D^-½ F |w|^½,

    (K + D)⁻¹ = D^-½ (I − G (J + GᵀG)⁻¹ Gᵀ) D^-½,    |det(K + D)| = det D · |det(J + GᵀG)|.
    """

    method = "dual"

    def __init__(self, gram: Gram, d: Array) -> None:
        super().__init__(gram, d)
        signed = gram._signed_factor
        if signed is None:
            raise ValueError("method='dual' needs a Gram with features; use method='cholesky' or 'cg'")
        if not (d > 0).all():
            raise ValueError(f"diagonal has the value {d.min():.3g}; method='dual' needs values > 0: use method='ldl'")
        self.factor, weights = signed
        m = self.factor.shape[1]
        require_memory(8.0 * m * m, f"the {m}×{m} dual", "use method='cg', or a kernel with fewer features")
        self._root = np.sqrt(np.abs(weights))
        # Features that all count negative, I − F Fᵀ, leave a definite matrix if its sign is turned.
        self._sign = -1.0 if m and weights.max() < 0 else 1.0
        small = self._sign * self._inner()
        small.flat[:: m + 1] += np.where(weights < 0, -self._sign, self._sign)
        self._cancels = float(np.abs(np.diagonal(small)).max(initial=0.0)) > _REFINED
        self._small = _factorized(small, None)

    def _inner(self) -> Array:
        """GᵀG in float64."""
        total = np.zeros((self.factor.shape[1],) * 2)
        scale = 1 / np.sqrt(self.d)
        even = scale.min(initial=np.inf) == scale.max(initial=0.0)  # then F need not be copied
        for rows, chunk in self.factor.chunks():
            part = chunk if even else scaled_rows(chunk, scale[rows].astype(chunk.dtype))
            total += inner(part, part)
        root = self._root * scale[0] if even else self._root
        total *= root[:, None]
        total *= root
        return total

    def _solve(self, B: Array, start: Array | None, tol: float | None) -> tuple[Array, int]:
        B = B.astype(np.float64, copy=False)
        X = self._woodbury(B)
        if self._cancels:
            X += self._woodbury(B - self._apply(X))
        return X, 0

    def _woodbury(self, B: Array) -> Array:
        right = B / self.d[:, None]
        dtype = self.factor.dtype
        weights = self._root[:, None] * self.factor.transposed_product(right.astype(dtype, copy=False))
        weights = (self._sign * self._root)[:, None] * self._small.solve(weights)
        right -= self.factor.product(weights.astype(dtype)) / self.d[:, None]
        return right

    def inverse_diagonal(self, rtol: float = 0.0) -> Array:
        out = np.empty(self.gram.shape[0])
        for rows, chunk in self.factor.chunks():
            for part in slices(chunk.shape[0], 4096):
                here = slice(rows.start + part.start, rows.start + part.stop)
                block = chunk[part].toarray() if issparse(chunk) else chunk[part]
                G = block.astype(np.float64).T * self._root[:, None] / np.sqrt(self.d[here])
                out[here] = (1 - self._sign * self._small.quadratic(G)) / self.d[here]
        return out.astype(self.gram.dtype, copy=False)

    def log_determinant(self) -> float:
        return float(np.log(self.d).sum()) + self._small.log_determinant()


class _Iterative(Factorization):
    """Conjugate gradients by products with K."""

    method = "cg"

    def __init__(self, gram: Gram, d: Array, preconditioner: int | str, random_state: RandomState) -> None:
        super().__init__(gram, d)
        features = landmark_features(gram, d, preconditioner, random_state)
        self._near = None if features is None else _Dual(FeatureGram(features[0]), d + features[1])

    def _solve(self, B: Array, start: Array | None, tol: float | None) -> tuple[Array, int]:
        tol = (1e-10 if self.gram.dtype == np.float64 else 1e-5) if tol is None else tol
        precondition = None if self._near is None else self._near._woodbury
        return conjugate_gradients(self._apply, B, tol=tol, start=start, precondition=precondition)

    def inverse_diagonal(self, rtol: float = 0.0) -> Array:
        """The diagonal of (K + diag(d))⁻¹, from a solution for every sample: as many products as n solves take."""
        n = self.gram.shape[0]
        if n > _DIRECT_SIZE:
            raise ValueError(
                f"the inverse diagonal by conjugate gradients would take {n} solves; use method='cholesky', or "
                "approximate the kernel by landmarks, kernel=gramian.Nystroem(n_components, kernel=...), and use "
                "method='dual'"
            )
        out = np.empty(n, self.gram.dtype)
        for columns in slices(n, _STRIP):
            unit = np.zeros((n, columns.stop - columns.start))
            unit[columns] = np.eye(unit.shape[1])
            out[columns] = np.diagonal(self._solve(unit, None, None)[0][columns])
        return out

    def log_determinant(self) -> float:
        raise ValueError(
            "method='cg' has no factor to read the determinant from; use method='cholesky', or approximate the kernel "
            "by landmarks, kernel=gramian.Nystroem(n_components, kernel=...), and use method='dual'"
        )


def _factorized(A: Array, definite: bool | None) -> Triangular:
    """A, an array of our own, replaced by its factor; errors and warnings in the caller's words."""
    try:
        factor = Triangular(A, definite)
    except NotDefiniteError as error:
        raise np.linalg.LinAlgError(
            "K + diag(diagonal) is not positive definite, so it has no Cholesky factor; raise diagonal, or use "
            "method='ldl'"
        ) from error
    except np.linalg.LinAlgError as error:
        raise np.linalg.LinAlgError(
            "K + diag(diagonal) is singular, so the system has no single solution; change diagonal"
        ) from error
    if factor.worse_than(float(np.finfo(A.dtype).eps)):
        warnings.warn(
            f"K + diag(diagonal) is singular to working precision (reciprocal condition "
            f"{factor.reciprocal_condition:.1e}); its solutions may have no correct digit: raise diagonal",
            LinAlgWarning,
            stacklevel=5,
        )
    return factor


def _one_norm(apply: Callable[[Array], Array], n: int) -> float:
    """Hager's estimate of ‖A‖₁ of a symmetric A given by its products; a lower bound that is rarely far below."""
    # Hager starts from a constant vector, which every centred K maps to zero, so that the search would end at once.
    x = np.linspace(1, 2, n)[:, None] * np.where(np.arange(n) % 2, -1.0, 1.0)[:, None]
    x /= np.abs(x).sum()
    estimate = 0.0
    for _ in range(5):
        y = apply(x)
        estimate = max(estimate, float(np.abs(y).sum()))
        slope = apply(np.where(y < 0, -1.0, 1.0))
        steepest = int(np.argmax(np.abs(slope)))
        if np.abs(slope[steepest, 0]) <= float((slope * x).sum()):
            break
        x = np.zeros((n, 1))
        x[steepest] = 1
    return estimate
