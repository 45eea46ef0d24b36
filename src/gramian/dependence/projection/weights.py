"""The weights of pairs of samples: what a projection is to make alike (positive) or unlike (negative).

The symmetric Γ of every learning problem here (labels, targets, an embedding, the difference of two clusterings) has
low rank. It is held as Γ = C diag(s) Cᵀ and never written down; the solver asks for tiles of it and for thin products.
"""

from __future__ import annotations

from functools import cached_property
from numbers import Real
from typing import Any

import numpy as np
from scipy.sparse import csr_array
from sklearn.utils.validation import check_array, column_or_1d

from gramian.configuration import require_memory
from gramian.dependence.measures._grams import check_labels
from gramian.typing import Array

__all__ = ["PairWeights"]

_DENSE_CLASSES = 48  # with more classes than this, one non-zero per row beats a dense product


class PairWeights:
    """Γ = C diag(s) Cᵀ, the weight of every pair of n samples.

    Parameters
    ----------
    factor : array-like (n, r)
        C.
    scale : array-like (r,), optional
        s, of any signs; by default ones.

    Examples
    --------
    >>> import numpy as np
    >>> PairWeights.of_labels(["a", "a", "b", "b"]).dense()
    array([[ 0.5,  0.5, -0.5, -0.5],
           [ 0.5,  0.5, -0.5, -0.5],
           [-0.5, -0.5,  0.5,  0.5],
           [-0.5, -0.5,  0.5,  0.5]])

    Weights add up and can be scaled, also by a negative number:

    >>> round((PairWeights.of_labels([0, 0, 1, 1]) - 2.0 * PairWeights.of_labels([0, 1, 0, 1])).norm(), 6)
    4.472136
    """

    def __init__(self, factor: Any, scale: Any = None) -> None:
        C = check_array(factor, dtype=np.float64, input_name="factor", ensure_min_samples=2, ensure_min_features=0)
        self._set(C, np.ones(C.shape[1]) if scale is None else np.asarray(scale, np.float64))

    def _set(self, C: Array | None, scale: Array) -> None:
        if C is not None:
            if scale.shape != (C.shape[1],) or not np.all(np.isfinite(scale)):
                raise ValueError(f"scale has shape {scale.shape}; pass {C.shape[1]} finite numbers, one per column")
            self.factor = C
        self.scale = scale

    factor: Array

    # Where weights come from -------------------------------------------------------------------------------

    @classmethod
    def of_labels(cls, y: Any, *, balanced: bool = False) -> PairWeights:
        """H Y Yᵀ H for the indicator matrix Y of the labels.

        Parameters
        ----------
        y : array-like (n,) or (n, v)
            Labels of any kind; several columns are several labelings, whose weights are added.
        balanced : bool, default False
            Divide each class by its size, H Y diag(1/n_g) Yᵀ H: pairs of one class then always weigh more than zero
            and pairs of two classes less, however unequal the classes are.
        """
        y = np.asarray(y)
        if y.ndim not in (1, 2) or y.shape[0] < 2 or y.size == 0:
            raise ValueError(f"y has shape {y.shape}; pass labels of at least two samples, (n,) or (n, v)")
        parts = [_LabelWeights(check_labels(column, "y"), balanced) for column in y.reshape(len(y), -1).T]
        total: PairWeights = parts[0]
        for part in parts[1:]:
            total = total + part
        return total

    @classmethod
    def of_targets(cls, Y: Any) -> PairWeights:
        """H Y Yᵀ H for continuous targets Y, (n,) or (n, v)."""
        Y = np.asarray(Y, np.float64)
        return cls.of_embedding(column_or_1d(Y)[:, None] if Y.ndim == 1 else Y)

    @classmethod
    def of_embedding(cls, U: Any) -> PairWeights:
        """H U Uᵀ H for coordinates U (n, k)."""
        U = check_array(U, dtype=np.float64, input_name="U", ensure_min_samples=2)
        C = U - U.mean(axis=0)
        # The mean of a constant is off by rounding, which would be taken for a target.
        C[:, np.abs(C).max(axis=0) <= 10 * np.finfo(float).eps * np.abs(U).max(axis=0)] = 0
        return cls(C)

    # Algebra -----------------------------------------------------------------------------------------------

    def __add__(self, other: Any) -> PairWeights:
        if not isinstance(other, PairWeights):
            return NotImplemented
        if other.n_samples != self.n_samples:
            raise ValueError(f"weights of {self.n_samples} and of {other.n_samples} samples cannot be added")
        return PairWeights(np.hstack([self.factor, other.factor]), np.concatenate([self.scale, other.scale]))

    def __mul__(self, number: Any) -> PairWeights:
        if not isinstance(number, Real) or isinstance(number, bool):
            return NotImplemented
        if not np.isfinite(float(number)):
            raise ValueError(f"weights cannot be multiplied by {number}; pass a finite number")
        return self._scaled(float(number))

    __rmul__ = __mul__

    def __neg__(self) -> PairWeights:
        return self._scaled(-1.0)

    def __sub__(self, other: Any) -> PairWeights:
        return self + (-other) if isinstance(other, PairWeights) else NotImplemented

    def _scaled(self, number: float) -> PairWeights:
        return PairWeights(self.factor, number * self.scale)

    def divided(self, roots: Any) -> PairWeights:
        """D^-½ Γ D^-½, given the square roots (n,) of the degrees D."""
        roots = column_or_1d(np.asarray(roots, np.float64))
        if roots.shape != (self.n_samples,) or not np.all(roots > 0):
            raise ValueError(f"roots must be {self.n_samples} positive numbers, the square roots of the degrees")
        return PairWeights(self.factor / roots[:, None], self.scale)

    # What it says about itself -----------------------------------------------------------------------------

    @property
    def n_samples(self) -> int:
        """n."""
        return int(self.factor.shape[0])

    def norm(self) -> float:
        """The Frobenius norm of Γ."""
        inner = self.factor.T @ self.factor
        return float(np.sqrt(max(0.0, np.einsum("a,ab,ab,b->", self.scale, inner, inner, self.scale))))

    def dense(self) -> Array:
        """Γ as an n×n array, for tests and small n."""
        n = self.n_samples
        require_memory(8.0 * n * n, f"the dense {n}×{n} matrix of weights", "ask for rows(slice)")
        return self.block(slice(0, n), slice(0, n))

    def rows(self, rows: slice) -> Array:
        """Γ[rows], an array (len(rows), n)."""
        return self.block(rows, slice(0, self.n_samples))

    # What the solver asks for ------------------------------------------------------------------------------

    def block(self, rows: slice, columns: slice) -> Array:
        """Γ[rows, columns] as a new array."""
        return (self.factor[rows] * self.scale) @ self.factor[columns].T

    def diagonal(self) -> Array:
        """Γ_ii, shape (n,)."""
        return np.einsum("ia,a,ia->i", self.factor, self.scale, self.factor)

    def row_sums(self) -> Array:
        """Γ 1, shape (n,); to rounding zero where the weights are centred."""
        return self.factor @ (self.scale * self.factor.sum(axis=0))

    def factor_rows(self, rows: slice | Array) -> Array:
        """C[rows], shape (len(rows), r)."""
        return self.factor[rows]

    def project(self, A: Array, rows: slice) -> Array:
        """C[rows]ᵀ A, shape (r, m)."""
        return self.factor[rows].T @ A

    def expand(self, G: Array, rows: slice) -> Array:
        """C[rows] diag(s) G, shape (len(rows), m)."""
        return self.factor[rows] @ (self.scale[:, None] * G)

    def add_moments(self, out: Array, X: Array, Z: Array, rows: slice) -> None:
        """Add Xᵀ diag(C_a) Z of these rows to out[a], for every column a; :meth:`moments` finishes the sum."""
        C = self.factor[rows]
        for a in range(C.shape[1]):
            out[a] += X.T @ (C[:, a, None] * Z)

    def moments(self, sums: Array) -> Array:
        """What :meth:`add_moments` has added up over all rows, as Xᵀ diag(C_a) Z."""
        return sums


class _LabelWeights(PairWeights):
    """Weights of one labeling, by class: C_ia = 1[y_i = a] − p_a with p_a the share of class a.

    Sums over samples are sums within classes and a correction, so they cost the same for any number of classes.
    """

    def __init__(self, y: Array, balanced: bool) -> None:
        classes, codes, counts = np.unique(y, return_inverse=True, return_counts=True)
        self._codes = codes.ravel()
        self._shares = counts / len(y)
        self._set(None, 1.0 / counts if balanced else np.ones(len(classes)))

    @cached_property
    def factor(self) -> Array:  # type: ignore[override]
        n, r = self.n_samples, len(self._shares)
        require_memory(8.0 * n * r, f"the {n}×{r} matrix of labels", "use fewer classes")
        return self.factor_rows(slice(0, n))

    @cached_property
    def _indicators(self) -> csr_array:
        n = self.n_samples
        return csr_array((np.ones(n), self._codes, np.arange(n + 1)), shape=(n, len(self._shares)))

    @property
    def _many(self) -> bool:
        return len(self._shares) > _DENSE_CLASSES

    @property
    def n_samples(self) -> int:
        return len(self._codes)

    def _scaled(self, number: float) -> PairWeights:
        out = object.__new__(_LabelWeights)
        out._codes, out._shares = self._codes, self._shares
        out._set(None, number * self.scale)
        return out

    def norm(self) -> float:
        # Σ_ab s_a s_b (p_a [a = b] − p_a p_b)², without the matrix of classes by classes.
        p, s = self._shares, self.scale
        square = float((s @ p**2) ** 2 + s**2 @ (p**2 * (1 - 2 * p)))
        return float(self.n_samples * np.sqrt(max(0.0, square)))

    def block(self, rows: slice, columns: slice) -> Array:
        if not self._many:
            return super().block(rows, columns)
        left, right = self._codes[rows], self._codes[columns]
        scaled = self._shares * self.scale
        out = np.where(left[:, None] == right, self.scale[right], 0.0)
        out -= scaled[right] - self._shares @ scaled
        out -= scaled[left][:, None]
        return out

    def diagonal(self) -> Array:
        p, s = self._shares, self.scale
        return (s - 2 * p * s + p**2 @ s)[self._codes]

    def row_sums(self) -> Array:
        return np.zeros(self.n_samples)

    def factor_rows(self, rows: slice | Array) -> Array:
        codes = self._codes[rows]
        C = np.tile(-self._shares, (len(codes), 1))
        C[np.arange(len(codes)), codes] += 1
        return C

    def project(self, A: Array, rows: slice) -> Array:
        if not self._many:
            return super().project(A, rows)
        return self._indicators[rows].T @ A - np.outer(self._shares, A.sum(axis=0))

    def expand(self, G: Array, rows: slice) -> Array:
        if not self._many:
            return super().expand(G, rows)
        scaled = self.scale[:, None] * G
        return (scaled - self._shares @ scaled)[self._codes[rows]]

    def add_moments(self, out: Array, X: Array, Z: Array, rows: slice) -> None:
        codes = self._codes[rows]
        order = np.argsort(codes, kind="stable")
        ends = np.cumsum(np.bincount(codes, minlength=len(out)))
        X, Z = X[order], Z[order]
        for a, end in enumerate(ends):
            start = ends[a - 1] if a else 0
            if end > start:
                out[a] += X[start:end].T @ Z[start:end]

    def moments(self, sums: Array) -> Array:
        return sums - self._shares[:, None, None] * sums.sum(axis=0)
