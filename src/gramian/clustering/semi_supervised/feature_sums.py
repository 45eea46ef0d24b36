"""Semi-supervised clustering in the features of a kernel: sums over rows, which can keep coming, and one small system.

With features f of m columns and signs J, K = F J Fᵀ, the scores are e = f·w + b, and w and b solve the symmetric system

    [J − Fᵀ R F, −Fᵀ R 1; −1ᵀ R F, −1ᵀ R 1] [w; b] = γ₂ [Fᵀ C; 1ᵀ C],        R = γ₁ V − γ₂ A,

of size m + 1. Its sums over all rows and over the labelled ones are two :class:`gramian.landmarks.NormalEquations`.
:class:`gramian.SemiSupervisedKSC` uses this wherever the kernel has features, as landmarks give them.
"""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np
from scipy.linalg import eigvalsh
from scipy.sparse import issparse

from gramian.clustering.semi_supervised.response import walk_weights
from gramian.configuration import memory_budget, require_memory
from gramian.grams import tiles
from gramian.grams.base import Index
from gramian.grams.features import Factor, MatrixFactor
from gramian.grams.triangular import Triangular
from gramian.kernels import Kernel
from gramian.landmarks import NormalEquations
from gramian.typing import Array, Matrix

_STRIP = 4096  # labelled rows left out together
# Condition of K(landmarks, landmarks), by the bytes of a number, up to which sums of similarities lose too few digits
# to show: six of 16, or four of 7.
_CONDITION = {8: 1e6, 4: 1e4}


class Columns:
    """The functions of x that are summed, and the way from them to the features.

    Features of landmarks are similarities to them times a matrix. Where that matrix costs few digits it is applied to
    the sums, not to every row, which saves half of the work.

    Parameters
    ----------
    kernel : fitted Kernel
        With features.

    Attributes
    ----------
    mapping : ndarray (m, r) or None
        What turns columns into features; None where they are the features.
    """

    def __init__(self, kernel: Kernel) -> None:
        self.kernel = kernel
        self.mapping: Array | None = None
        root = getattr(kernel, "cholesky_", None)
        if root is not None:
            spectrum = eigvalsh(root.astype(np.float64) @ root.T)
            if spectrum[-1] < _CONDITION[root.dtype.itemsize] * spectrum[0]:
                self.mapping = kernel.landmark_coefficients(np.eye(len(root)))

    def of(self, X: Matrix) -> Factor:
        """The columns of checked rows, recomputed chunk by chunk where they would exceed the memory budget."""
        if self.mapping is None:
            return self.kernel._factor(X)
        columns = _Similarities(self.kernel.kernel_, X, self.kernel.landmarks_)
        fits = float(X.shape[0]) * columns.shape[1] * X.dtype.itemsize <= memory_budget()
        return MatrixFactor(columns.chunk_of(slice(0, X.shape[0]))) if fits else columns


class _Similarities(Factor):
    """Similarities to landmarks."""

    def __init__(self, kernel: Kernel, X: Matrix, landmarks: Matrix) -> None:
        super().__init__((X.shape[0], landmarks.shape[0]), X.dtype)
        self.kernel, self.X, self.landmarks = kernel, X, landmarks.astype(X.dtype, copy=False)

    def chunk_of(self, rows: Index) -> Matrix:
        return tiles.block(self.kernel, self.X[rows], self.landmarks, self.dtype)


class LabelSums:
    """What the small system needs to know of the rows seen so far.

    A row counts by 1 over its degree. Rows of a stream have the degree that follows from the mean features of all rows
    up to theirs; in one piece that is the mean of all, and the sums are exact.

    Parameters
    ----------
    signs : ndarray (m,)
        J.
    approximate : bool
        Whether the features approximate a kernel of values >= 0, see ``walk_weights``.
    mapping : ndarray (c, m), optional
        What turns the columns that are added into features.
    """

    def __init__(self, signs: Array, *, approximate: bool = False, mapping: Array | None = None) -> None:
        self.signs = signs.astype(np.float64)
        self.approximate = approximate
        self.mapping = None if mapping is None else mapping.astype(np.float64)
        self.n_rows = 0
        self.feature_sum = np.zeros(len(signs) if mapping is None else len(mapping))
        self.smooth = NormalEquations()
        self.labelled = NormalEquations()
        m = len(signs)
        require_memory(8.0 * (m + 1) ** 2 * 4, f"the sums of {m} features", "use fewer prototypes, or fewer features")

    def count(self, chunks: Iterable[Matrix]) -> LabelSums:
        """First pass: the features that degrees are measured with."""
        for chunk in chunks:
            self.feature_sum += np.asarray(chunk.sum(axis=0), np.float64).ravel()
            self.n_rows += chunk.shape[0]
        return self

    def mean_degrees(self, F: Matrix) -> Array:
        """The degree of rows over the number of rows: f·J f̄."""
        mean = self.feature_sum / max(self.n_rows, 1)
        if self.mapping is None:
            return np.asarray(F @ (self.signs * mean).astype(F.dtype), np.float64)
        return np.asarray(F @ (self.mapping @ (self.signs * (mean @ self.mapping))).astype(F.dtype), np.float64)

    def add(self, F: Matrix, labelled: Array, targets: Array, *, smooth: bool = True) -> LabelSums:
        """Second pass: a chunk of features, the places of labelled rows in it, and these rows' c (l, q).

        Without ``smooth`` all rows count alike, which degrees that no walk can have need not then be positive for.
        """
        weights = walk_weights(self.mean_degrees(F), approximate=self.approximate) if smooth else None
        self.smooth.add(F, np.zeros((F.shape[0], 1), F.dtype), weights)
        if len(labelled):
            self.labelled.add(F[labelled], targets.astype(F.dtype))
        return self

    def copy(self) -> LabelSums:
        """Sums that can go on without changing these."""
        out = LabelSums(self.signs, approximate=self.approximate, mapping=self.mapping)
        out.n_rows, out.feature_sum = self.n_rows, self.feature_sum.copy()
        out.smooth.merge(self.smooth)
        out.labelled.merge(self.labelled)
        return out

    def solve(self, smoothness: float, label_weight: float) -> FeatureSolution:
        """w and b for γ₁ and γ₂."""
        return FeatureSolution(self, smoothness, label_weight)


class FeatureSolution:
    """The solution of the small system, in features less their weighted mean, which leaves b by itself.

    Attributes
    ----------
    coef : ndarray (m, q)
        w.
    intercept : ndarray (q,)
        b.
    is_convex : bool
        Whether the system is positive definite: its Cholesky factor exists, and the solution is a minimum.
    reciprocal_condition : float
    """

    def __init__(self, sums: LabelSums, smoothness: float, label_weight: float) -> None:
        smooth, labelled, self.mapping = sums.smooth, sums.labelled, sums.mapping
        if self.mapping is not None:
            smooth, labelled = smooth.mapped(self.mapping), labelled.mapped(self.mapping)
        m, count, share = len(sums.signs), float(labelled.n_samples), smoothness / sums.n_rows
        self.label_weight = label_weight
        self.center = smooth.feature_mean
        offset = labelled.feature_mean - self.center
        A = np.empty((m + 1, m + 1))
        A[:m, :m] = -share * smooth.feature_products
        A[:m, :m] += label_weight * labelled.feature_products
        A[:m, :m] += label_weight * count * np.outer(offset, offset)
        A.flat[: m * (m + 1) : m + 2] += sums.signs
        A[m, :m] = A[:m, m] = label_weight * count * offset
        A[m, m] = label_weight * count - share * smooth.weight
        right = np.empty((m + 1, labelled.cross_products.shape[1]))
        right[:m] = labelled.cross_products + count * np.outer(offset, labelled.target_mean)
        right[m] = count * labelled.target_mean
        self.factor = Triangular(A, None)
        self.is_convex = self.factor.method == "cholesky"
        self.reciprocal_condition = float(self.factor.reciprocal_condition)
        solved = self.factor.solve(label_weight * right)
        self.coef = solved[:m]
        self.intercept = solved[m] - self.center @ self.coef

    @property
    def column_coef(self) -> Array:
        """The same function as weights of the columns that were added."""
        return self.coef if self.mapping is None else np.asarray(self.mapping @ self.coef)

    def left_out(self, F: Matrix, targets: Array) -> Array:
        """Scores of labelled rows with columns F and targets c, with each label taken away in turn.

        With g = (f − f̄, 1) and h = γ₂ gᵀ A⁻¹ g the score without the own label is (e − h c) / (1 − h).
        """
        out = np.empty(targets.shape)
        for rows in tiles.slices(len(targets), _STRIP):
            part = F[rows].toarray() if issparse(F) else np.asarray(F[rows])
            part = part if self.mapping is None else part @ self.mapping
            g = np.column_stack([part.astype(np.float64) - self.center, np.ones(len(part))])
            pull = self.label_weight * self.factor.quadratic(np.ascontiguousarray(g.T))[:, None]
            scores = part @ self.coef + self.intercept
            out[rows] = (scores - pull * targets[rows]) / np.where(pull == 1, np.nan, 1 - pull)
        return out
