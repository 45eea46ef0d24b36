"""Ridge regression from sums over the samples, which can be added chunk by chunk, merged and subtracted.

:class:`NormalEquations` holds what least squares needs to know of features F and targets Y: a few m×m and m×q sums,
whatever the number of samples. Pre-images use it; so can streams, folds of a cross-validation and several machines.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy.linalg.blas import dger
from scipy.sparse import issparse

from gramian.grams.features import inner, scaled_rows
from gramian.grams.tiles import slices
from gramian.grams.triangular import NotDefiniteError, Triangular
from gramian.typing import Array, Matrix

_STRIP = 4096  # rows centred together


class NormalEquations:
    """Sums from which ridge regression is solved for any regularisation, without the samples.

    Minimises Σ_i v_i ‖y_i − Wᵀ f_i − b‖² + ridge ‖W‖², the objective of scikit-learn's ``Ridge(alpha=ridge)`` with
    sample weights v. The sums are kept about the means, as in Chan's parallel variance, so features far from the
    origin lose no digits to the intercept. float32 chunks are multiplied in float32 and summed in float64.

    Attributes
    ----------
    n_samples : int
        Rows added.
    weight : float
        Sum of their weights.
    feature_mean, target_mean : ndarray (m,), (q,)
        Weighted means of F and Y.
    feature_products : ndarray (m, m)
        Σ v (f − mean)(f − mean)ᵀ.
    cross_products : ndarray (m, q)
        Σ v (f − mean)(y − mean)ᵀ.
    target_squares : ndarray (q,)
        Σ v (y − mean)² of every target.

    References
    ----------
    Chan, Golub, LeVeque (1983). Algorithms for computing the sample variance. The American Statistician 37(3).

    Examples
    --------
    Cross-validation of many ridges from one pass over the samples: the sums of a training set are the total minus
    those of its fold.

    >>> import numpy as np
    >>> rng = np.random.default_rng(0)
    >>> F, Y = rng.normal(size=(90, 3)), rng.normal(size=(90, 2))
    >>> folds = [NormalEquations().add(F[i::3], Y[i::3]) for i in range(3)]
    >>> total = folds[0] + folds[1] + folds[2]
    >>> ridges = [0.1, 1.0, 10.0]
    >>> errors = sum(fold.residual_squares(*(total - fold).solve(ridges)) for fold in folds)
    >>> errors.shape
    (3, 2)
    """

    n_samples: int = 0
    weight: float = 0.0
    feature_mean: Array
    target_mean: Array
    feature_products: Array
    cross_products: Array
    target_squares: Array

    def add(self, F: Matrix, Y: Array, sample_weight: Array | None = None) -> NormalEquations:
        """Add samples.

        Parameters
        ----------
        F : ndarray or CSR (n, m)
            Features.
        Y : ndarray (n,) or (n, q)
            Targets; a vector is one target.
        sample_weight : array-like (n,), optional
            Weights >= 0; default 1.

        Returns
        -------
        self : NormalEquations
        """
        F, Y, v = self._checked(F, Y, sample_weight)
        if issparse(F):
            return self.merge(_of_sparse(F, Y, v))
        for rows in slices(F.shape[0], _STRIP):
            self.merge(_of_dense(F[rows], Y[rows], None if v is None else v[rows]))
        return self

    def merge(self, other: NormalEquations) -> NormalEquations:
        """Add the samples that another one has seen.

        In any order and grouping the sums are the same up to rounding.

        Parameters
        ----------
        other : NormalEquations
            Of the same features and targets; left as it is.

        Returns
        -------
        self : NormalEquations
        """
        self._combine(other, 1)
        return self

    def __add__(self, other: NormalEquations) -> NormalEquations:
        """The sums of both."""
        return self._copy().merge(other)

    def __sub__(self, other: NormalEquations) -> NormalEquations:
        """The sums without those of ``other``, whose samples must be among ours."""
        out = self._copy()
        out._combine(other, -1)
        return out

    def mapped(self, T: Array) -> NormalEquations:
        """The sums that the features F T would have given, without the samples.

        Columns of the identity choose features; a triangular T whitens them.

        Parameters
        ----------
        T : ndarray (m, r)

        Returns
        -------
        equations : NormalEquations
            With r features; the targets are the same.
        """
        out = self._copy()
        if self.n_samples:
            out.feature_mean = self.feature_mean @ T
            products = T.T @ (self.feature_products @ T)
            out.feature_products = (products + products.T) / 2
            out.cross_products = T.T @ self.cross_products
        return out

    def solve(self, ridges: float | Array, *, fit_intercept: bool = True) -> tuple[Array, Array]:
        """Coefficients and intercept for one ridge or for many at once.

        One ridge takes a Cholesky factorisation, many take one eigendecomposition together.

        Parameters
        ----------
        ridges : float or array-like (r,)
            Penalties >= 0 on ‖W‖². With 0 the solution of least norm is returned.
        fit_intercept : bool, default True
            Whether b is fitted, unpenalised; else it is zero.

        Returns
        -------
        coefficients : ndarray (m, q) or (r, m, q)
            W.
        intercept : ndarray (q,) or (r, q)
            b.
        """
        ridge = np.asarray(ridges, np.float64)
        if ridge.ndim > 1 or not ridge.size or not (np.isfinite(ridge) & (ridge >= 0)).all():
            raise ValueError(f"ridges={ridges!r} must be a number >= 0 or several of them, finite")
        if not self.weight > 0:
            raise ValueError("there is nothing to solve: call add with samples of positive weight first")
        A, B = self.feature_products, self.cross_products
        if not fit_intercept:
            A = A + self.weight * np.outer(self.feature_mean, self.feature_mean)
            B = B + self.weight * np.outer(self.feature_mean, self.target_mean)
        coefficients = _one_ridge(A, B, float(ridge)) if ridge.ndim == 0 else None
        if coefficients is None:
            coefficients = _many_ridges(A, B, ridge)
        if not fit_intercept:
            return coefficients, np.zeros((*ridge.shape, B.shape[1]))
        return coefficients, self.target_mean - self.feature_mean @ coefficients

    def residual_squares(self, coefficients: Array, intercept: Array | float = 0.0) -> Array:
        """Σ_i v_i (y_i − Wᵀ f_i − b)² of every target, for any W and b, from the sums alone.

        Exact up to rounding relative to the sum of squares of the targets.

        Parameters
        ----------
        coefficients : ndarray (..., m, q)
            W, as :meth:`solve` of these or of other samples returned it.
        intercept : ndarray (..., q), default 0
            b.

        Returns
        -------
        squares : ndarray (..., q)
        """
        if not self.n_samples:
            raise ValueError("there are no residuals yet: call add with samples first")
        W = np.asarray(coefficients, np.float64)
        about_mean = self.target_squares + (W * (self.feature_products @ W - 2 * self.cross_products)).sum(axis=-2)
        offset = self.target_mean - self.feature_mean @ W - intercept
        return np.asarray(np.maximum(about_mean, 0) + self.weight * offset**2)

    # Inside ------------------------------------------------------------------------------------------------

    def _checked(self, F: Any, Y: Any, weights: Any) -> tuple[Matrix, Array, Array | None]:
        F = _floats(F.tocsr() if issparse(F) else np.asarray(F), "F")
        Y = _floats(np.asarray(Y), "Y")
        Y = Y[:, None] if Y.ndim == 1 else Y
        if F.ndim != 2 or Y.ndim != 2 or F.shape[0] != Y.shape[0]:
            raise ValueError(f"F and Y have shapes {F.shape} and {Y.shape}; pass (n, m) and (n, q) of the same rows")
        if not (np.isfinite(F.data if issparse(F) else F).all() and np.isfinite(Y).all()):
            raise ValueError("F or Y holds NaN or infinite values; drop or fill those samples first")
        if self.n_samples:
            self._check_alike(F.shape[1], Y.shape[1])
        if weights is None:
            return F, Y, None
        v = np.asarray(weights, np.float64)
        if v.shape != (F.shape[0],) or not (np.isfinite(v) & (v >= 0)).all():
            raise ValueError(f"sample_weight must be {F.shape[0]} finite values >= 0, one per sample; got {v.shape}")
        return F, Y, v

    def _check_alike(self, m: int, q: int) -> None:
        if self.cross_products.shape != (m, q):
            own = self.cross_products.shape
            raise ValueError(
                f"{m} features and {q} targets cannot be added to sums over {own[0]} features and {own[1]} targets"
            )

    def _copy(self) -> NormalEquations:
        out = NormalEquations()
        for name, value in vars(self).items():
            setattr(out, name, value.copy() if isinstance(value, np.ndarray) else value)
        return out

    def _combine(self, other: NormalEquations, sign: int) -> None:
        """Add (sign 1) or take away (−1) sums: C ± C' ± (w w' / (w ± w')) δ δᵀ, δ the difference of the means."""
        if not other.n_samples:
            return
        if not self.n_samples and sign > 0:
            vars(self).update(vars(other._copy()))
            return
        total = self.weight + sign * other.weight
        n_samples = self.n_samples + sign * other.n_samples
        if n_samples < 0 or total < -1e-9 * self.weight:
            raise ValueError("sums with more samples cannot be subtracted from sums with fewer; swap the two")
        self._check_alike(*other.cross_products.shape)
        if n_samples == 0 or total <= 1e-12 * self.weight:  # nothing of weight is left
            total, share, mixed = 0.0, 0.0, 0.0
        else:
            share = sign * other.weight / total
            mixed = self.weight * share
        f = other.feature_mean - self.feature_mean
        y = other.target_mean - self.target_mean
        _add(self.feature_products, other.feature_products, sign)
        if mixed and len(f):  # BLAS adds the outer product in place; that of a symmetric matrix may be its transpose
            self.feature_products = dger(mixed, f, f, a=self.feature_products.T, overwrite_a=True).T
        self.cross_products += sign * other.cross_products + mixed * np.outer(f, y)
        self.target_squares += sign * other.target_squares + mixed * y * y
        self.feature_mean += share * f
        self.target_mean += share * y
        self.weight, self.n_samples = total, n_samples


def _add(total: Array, part: Array, sign: int) -> None:
    """Add or take away in place; the large sums need no array beside them."""
    (np.add if sign > 0 else np.subtract)(total, part, out=total)


def _floats(values: Any, name: str) -> Any:
    if values.dtype.kind == "c":
        raise ValueError(f"{name} has type {values.dtype}; pass real numbers, such as the real and the imaginary parts")
    return values if values.dtype.kind == "f" and values.dtype.itemsize >= 4 else values.astype(np.float64)


def _sums(n: int, weight: float, means: tuple[Array, Array], products: tuple[Array, Array, Array]) -> NormalEquations:
    out = NormalEquations()
    out.n_samples, out.weight = n, weight
    out.feature_mean, out.target_mean = means
    out.feature_products, out.cross_products, out.target_squares = products
    return out


def _means(F: Matrix, Y: Array, v: Array | None) -> tuple[float, Array, Array]:
    """The sum of the weights and the weighted means, in float64."""
    total = float(F.shape[0]) if v is None else float(v.sum())
    share = np.full(F.shape[0], 1 / total if total else 0.0) if v is None else v / (total or 1.0)
    return total, np.asarray(share @ F, np.float64), np.asarray(share @ Y, np.float64)


def _of_dense(F: Array, Y: Array, v: Array | None) -> NormalEquations:
    """The sums of a strip, centred before it is multiplied, in its own dtype."""
    weight, f, y = _means(F, Y, v)
    f_near, y_near = f.astype(F.dtype), y.astype(Y.dtype)
    F, Y = F - f_near, Y - y_near  # copies, which may be written
    if v is not None:
        F *= np.sqrt(v).astype(F.dtype)[:, None]
        Y *= np.sqrt(v).astype(Y.dtype)[:, None]
    # Means rounded to float32 are not the means: the sums about them are moved to the true ones.
    f_off, y_off = f - f_near, y - y_near
    products, crossed = inner(F, F), inner(F, Y)
    if f_off.any() or y_off.any():
        products -= weight * np.outer(f_off, f_off)
        crossed -= weight * np.outer(f_off, y_off)
    squares = np.einsum("ij,ij->j", Y, Y, dtype=np.float64) - weight * y_off**2
    return _sums(len(F), weight, (f, y), (products, crossed, np.maximum(squares, 0)))


def _of_sparse(F: Matrix, Y: Array, v: Array | None) -> NormalEquations:
    """The sums of sparse features, centred after they are multiplied: before, they would be written out in full."""
    weight, f, y = _means(F, Y, v)
    Y = Y.astype(np.float64) - y
    if v is not None:
        F, Y = (scaled_rows(side, np.sqrt(v).astype(side.dtype)) for side in (F, Y))
    products = inner(F, F) - weight * np.outer(f, f)
    # Σ v f (y − mean) needs no centring of f where the weighted y sum to zero.
    return _sums(F.shape[0], weight, (f, y), (products, inner(F, Y), np.einsum("ij,ij->j", Y, Y)))


def _one_ridge(A: Array, B: Array, ridge: float) -> Array | None:
    """(A + ridge I)⁻¹ B by Cholesky; None where that matrix is singular to working precision."""
    regular = A.copy()
    regular.flat[:: len(A) + 1] += ridge
    try:
        factor = Triangular(regular, True)
    except NotDefiniteError:
        return None
    return None if factor.worse_than(float(np.finfo(np.float64).eps)) else factor.solve(B)


def _many_ridges(A: Array, B: Array, ridge: Array) -> Array:
    """(A + ridge I)⁺ B for every ridge from one eigendecomposition of A."""
    values, vectors = np.linalg.eigh(A)  # unlike SciPy's it lets other threads work meanwhile
    values = np.maximum(values, 0)
    raised = values + ridge[..., None]
    # The eigenvalues of a singular A are rounding, by some libraries more than len(A) units of it.
    negligible = raised <= 10 * len(A) * np.finfo(np.float64).eps * values[-1:].max(initial=0.0)
    inverse = np.where(negligible, 0.0, 1 / np.where(negligible, 1.0, raised))
    return np.asarray(vectors @ (inverse[..., None] * (vectors.T @ B)))
