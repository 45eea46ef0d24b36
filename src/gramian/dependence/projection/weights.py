"""Weights of pairs of samples, from labels, targets or clusters: what a projection is to make alike or unlike.

The symmetric Γ of every learning problem here (labels, targets, an embedding, the difference of two clusterings) has
low rank. It is held as Γ = C diag(s) Cᵀ and never written down; the solver asks for tiles of it and for thin products.
"""

from __future__ import annotations

from copy import copy
from functools import cached_property
from numbers import Real
from typing import Any

import numpy as np
from scipy.sparse import csr_array
from sklearn.utils.validation import check_array, check_consistent_length, column_or_1d

from gramian.configuration import require_memory
from gramian.dependence.measures._grams import check_labels
from gramian.grams import Gram
from gramian.kernels import RBF
from gramian.landmarks import Nystroem
from gramian.typing import Array

__all__ = ["PairWeights"]

UNKNOWN = -1  # as in scikit-learn's semi-supervised estimators
_FEW_VALUES, _ROWS_PER_CLASS = 20, 5  # whole numbers of more values, with fewer rows each, are no classes
_INSTEAD_OF_MISSING = "drop those rows, or mark unknown labels with -1"
_LANDMARKS = 100  # per column: more than the numerical rank of a Gaussian kernel of one number
_DENSE_CLASSES = 48  # with more classes than this, one non-zero per row beats a dense product


class PairWeights:
    """Weights of all pairs of n samples, Γ = C diag(s) Cᵀ.

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

    factor: Array
    scale: Array

    def __init__(self, factor: Any, scale: Any = None) -> None:
        C = check_array(factor, dtype=np.float64, input_name="factor", ensure_min_samples=2, ensure_min_features=0)
        s = np.ones(C.shape[1]) if scale is None else np.asarray(scale, np.float64)
        if s.shape != (C.shape[1],) or not np.all(np.isfinite(s)):
            raise ValueError(f"scale has shape {s.shape}; pass {C.shape[1]} finite numbers, one per column")
        self.factor, self.scale = C, s

    @classmethod
    def _of(cls, C: Array, scale: Array) -> PairWeights:
        """From arrays that were checked before."""
        out = object.__new__(PairWeights)
        out.factor, out.scale = C, scale
        return out

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
        for column in y.reshape(len(y), -1).T:
            check_labels(column, "y")
        return label_weights(y, balanced=balanced)

    @classmethod
    def of_targets(cls, Y: Any) -> PairWeights:
        """H Y Yᵀ H for continuous targets Y, (n,) or (n, v)."""
        Y = np.asarray(Y, np.float64)
        return cls.of_embedding(column_or_1d(Y)[:, None] if Y.ndim == 1 else Y)

    @classmethod
    def of_embedding(cls, U: Any) -> PairWeights:
        """H U Uᵀ H for coordinates U (n, k)."""
        return embedding_weights(check_array(U, dtype=np.float64, input_name="U", ensure_min_samples=2))

    # Algebra -----------------------------------------------------------------------------------------------

    def __add__(self, other: Any) -> PairWeights:
        if not isinstance(other, PairWeights):
            return NotImplemented
        if other.n_samples != self.n_samples:
            raise ValueError(f"weights of {self.n_samples} and of {other.n_samples} samples cannot be added")
        return self._of(np.hstack([self.factor, other.factor]), np.concatenate([self.scale, other.scale]))

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
        return self._of(self.factor, number * self.scale)

    def divided(self, roots: Any) -> PairWeights:
        """D^-½ Γ D^-½, given the square roots (n,) of the degrees D."""
        roots = column_or_1d(np.asarray(roots, np.float64))
        if roots.shape != (self.n_samples,) or not np.all(roots > 0):
            raise ValueError(f"roots must be {self.n_samples} positive numbers, the square roots of the degrees")
        return self._of(self.factor / roots[:, None], self.scale)

    # What it says about itself -----------------------------------------------------------------------------

    @property
    def n_samples(self) -> int:
        """n."""
        return int(self.factor.shape[0])

    def norm(self) -> float:
        """The Frobenius norm of Γ."""
        inner = self.factor.T @ self.factor
        return float(np.sqrt(max(0.0, np.einsum("a,ab,ab,b->", self.scale, inner, inner, self.scale))))

    def agreement(self, gram: Gram) -> float:
        """Σ_ij Γ_ij K_ij, by products of the Gram with the factor of Γ."""
        C = self.factor
        return float(np.einsum("ia,ia,a->", C, gram @ C, self.scale))

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
        self._many = len(classes) > _DENSE_CLASSES
        self.scale = 1.0 / counts if balanced else np.ones(len(classes))

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
    def n_samples(self) -> int:
        return len(self._codes)

    def _scaled(self, number: float) -> PairWeights:
        out = copy(self)
        out.scale = number * self.scale
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


def embedding_weights(U: Array) -> PairWeights:
    """H U Uᵀ H of coordinates that were checked."""
    C = U - U.mean(axis=0)
    # The mean of a constant is off by rounding, which would be taken for a target.
    C[:, np.abs(C).max(axis=0) <= 10 * np.finfo(float).eps * np.abs(U).max(axis=0)] = 0
    return PairWeights._of(C, np.ones(C.shape[1]))


def label_weights(y: Array, *, balanced: bool = False) -> PairWeights:
    """H Y Yᵀ H of labels that were checked, (n,) or (n, v); several labelings are added."""
    first, *others = y.reshape(len(y), -1).T
    total: PairWeights = _LabelWeights(first, balanced)
    for column in others:
        total = total + _LabelWeights(column, balanced)
    return total


# Weights of a target y -------------------------------------------------------------------------------------


def checked_target(y: Any, n: int) -> Array:
    """y as an array (n,) or (n, v) of one plain type, without missing values; text beside numbers makes all text."""
    y = np.asarray(y)
    if y.ndim not in (1, 2):
        raise ValueError(f"y has shape {y.shape}; pass (n,) or (n, v)")
    y = y[:, 0] if y.ndim == 2 and y.shape[1] == 1 else y
    check_consistent_length(np.empty(n), y)
    if y.ndim == 1:
        return plain_labels(y)
    if y.dtype != object:
        return without_missing(y)
    # Each column on its own: a table may hold text in one and numbers in another.
    columns = [plain_labels(column) for column in y.T]
    if all(column.dtype.kind in "biuf" for column in columns):
        return np.column_stack(columns)
    if any(has_fractions(column) for column in columns):
        raise ValueError("y has columns of text and of real numbers; pass labels, or numbers, not both")
    return np.column_stack([column.astype(str) for column in columns])


def plain_labels(y: Array) -> Array:
    """One column y, if it holds objects as the plain numbers or text that they are."""
    if y.dtype != object:
        return without_missing(y)
    values = set(y.tolist())
    if any(_is_missing(value) for value in values):
        raise ValueError(f"Input y contains missing values (None or NaN); {_INSTEAD_OF_MISSING}")
    if len({isinstance(value, str) for value in values}) > 1:
        raise ValueError("y mixes text with other types; make all labels text or all numbers")
    return without_missing(np.array(y.tolist()))


def without_missing(y: Array) -> Array:
    """y itself, unless it holds NaN or infinity."""
    if y.dtype.kind in "fc" and not np.all(np.isfinite(y)):
        raise ValueError(f"Input y contains NaN or infinity; {_INSTEAD_OF_MISSING}")
    return y


def _is_missing(value: Any) -> bool:
    """None, NaN, or one of pandas' marks, which may not be installed."""
    if value is None or type(value).__name__ in ("NAType", "NaTType"):
        return True
    return isinstance(value, Real) and bool(np.isnan(float(value)))


def is_partial(y: Array) -> bool:
    """Whether y is labels of which some, but at least two classes, are known; −1 and 1 alone are two classes.

    Other negative values make −1 a value like them.
    """
    if y.ndim != 1 or y.dtype.kind not in "if" or y.min() != UNKNOWN:
        return False
    return len(np.unique(y)) > 2


def has_fractions(y: Array) -> bool:
    """Whether y holds numbers that are not whole."""
    return bool(y.dtype.kind == "f" and (y != np.floor(y)).any())


def target_kind(y: Array) -> str:
    """Whether y reads as "labels" or as numbers, for which a Gaussian kernel ("rbf") is right.

    Whole numbers may be either. With hardly two rows of a value, equality says next to nothing about a target, while
    with five or more it finds the direction as well as a Gaussian kernel does; classes commonly have that many.
    """
    if y.dtype.kind not in "iuf":
        return "labels"
    if has_fractions(y):
        return "rbf"
    distinct = max(map(len, map(np.unique, y.reshape(len(y), -1).T)))
    return "rbf" if distinct > _FEW_VALUES and len(y) < _ROWS_PER_CLASS * distinct else "labels"


def target_weights(y: Array, kind: str) -> PairWeights:
    """H L H for the kernel L of y that ``kind`` names: "labels", "linear" or "rbf"."""
    if kind == "labels":
        weights = label_weights(y)
    else:
        numbers = check_array(y.reshape(len(y), -1), dtype=np.float64, input_name="y")
        if not np.ptp(numbers, axis=0).any():
            raise ValueError("y is constant, so nothing can depend on it; pass a y that varies")
        weights = PairWeights.of_targets(numbers if kind == "linear" else _gaussian_factor(numbers))
    if weights.norm() == 0:
        raise ValueError("y has only one class, so nothing can depend on it; pass a y with two or more")
    return weights


def partial_weights(y: Array) -> PairWeights:
    """H Y Yᵀ H among the rows whose label is known; the other rows weigh nothing."""
    known = y != UNKNOWN
    classes, codes = np.unique(y[known], return_inverse=True)
    if len(classes) < 2:
        raise ValueError(f"y has {len(classes)} classes other than -1; pass labels of two or more")
    Y = np.zeros((len(y), len(classes)))
    Y[np.flatnonzero(known), codes] = 1
    Y[known] -= Y[known].mean(axis=0)
    return PairWeights(Y)


class ClusterWeights:
    """Γ of clusters U, with that of known labels beside it.

    Parameters
    ----------
    known : PairWeights or None
        Γ of the labels.
    weight : float
        How much it counts, both in units of their norms.
    """

    def __init__(self, known: PairWeights | None = None, weight: float = 0.0) -> None:
        self.known = known if weight else None
        self.weight = weight

    def __call__(self, U: Array, roots: Array | None) -> PairWeights:
        clusters = embedding_weights(U)
        clusters = clusters if roots is None else clusters.divided(roots)
        if self.known is None:
            return clusters
        return (1 / clusters.norm()) * clusters + (self.weight / self.known.norm()) * self.known


def _gaussian_factor(Y: Array) -> Array:
    """F with F Fᵀ the centred Gaussian kernel of the scaled targets, with as few columns as that needs."""
    deviation = Y.std(axis=0)
    Y = (Y - Y.mean(axis=0)) / np.where(deviation > 0, deviation, 1)
    n_landmarks = min(_LANDMARKS * Y.shape[1], len(Y))
    F = Nystroem(n_landmarks, kernel=RBF(), random_state=0).fit(Y).features(Y)
    F = F - F.mean(axis=0)
    values, vectors = np.linalg.eigh(F.T @ F)
    return np.asarray(F @ vectors[:, values > 1e-8 * values[-1]])
