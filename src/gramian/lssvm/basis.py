"""The functions that a fixed-size model is a sum of, and their sums over the rows.

A :class:`Basis` holds a few prototypes, whose similarities to x are the functions, or a kernel that has finite features
itself. :class:`FoldSums` adds up what ridge regression needs of them, a strip of rows at a time and apart for every
fold of a cross-validation. The fixed-size machines and Pegasos stand on both.
"""

from __future__ import annotations

import numpy as np
from scipy.linalg import eigvalsh, solve_triangular

from gramian.configuration import require_memory
from gramian.grams import tiles
from gramian.kernels import Kernel
from gramian.kernels.expansion import Expansion
from gramian.landmarks import NormalEquations, Nystroem
from gramian.lssvm.preparation import Standardization
from gramian.typing import Array, Matrix

STRIP = 4096  # rows whose features are held at a time
_CANDIDATES = 100_000  # rows that prototypes are chosen among; more would cost copies of X, not find better ones
# Where K(prototypes, prototypes) has a condition number below this, products of kernel values are whitened after they
# are summed; above it rounding would show, and every row is whitened before. Six digits of float64 are left, and three
# of float32.
_CONDITION = {np.dtype(np.float64): 1e6, np.dtype(np.float32): 1e4}


def drawn_rows(n: int, weights: Array | None, most: int, rng: np.random.Generator) -> Array:
    """At most ``most`` numbers of rows that have weight, rising; without weights nothing as long as n is made."""
    if weights is None:
        return np.arange(n) if n <= most else np.sort(rng.choice(n, most, replace=False))
    used = np.flatnonzero(weights)
    return used if len(used) <= most else np.sort(rng.choice(used, most, replace=False))


class Basis:
    """Functions φ_1, …, φ_m with f(x) = Σ_j φ_j(x) W_j, orthonormal in the kernel's space.

    Of landmarks P with K(P, P) = L Lᵀ the functions are L^-1 k(P, x), so that f is also Σ_j k(x, p_j) β_j with
    β = L^-T W: similarities to the prototypes are enough to predict.

    Parameters
    ----------
    kernel : fitted Kernel
        Whose features, ``kernel.features``, are the functions.
    scaling : Standardization, optional
        Of the columns, before the kernel sees them.
    landmarks : Nystroem, optional
        ``kernel`` itself, where it has landmarks.
    """

    def __init__(
        self, kernel: Kernel, scaling: Standardization | None = None, landmarks: Nystroem | None = None
    ) -> None:
        self.kernel = kernel
        self.scaling = scaling
        self.landmarks = landmarks
        self.summed_first = False
        self.root: Array | None = None
        if landmarks is not None:
            if landmarks.cholesky_ is None:
                raise ValueError(
                    f"kernel={landmarks.kernel!r} is indefinite on these rows, and prototypes need a positive "
                    "semi-definite one, such as 'rbf'; LSSVMRegressor and LSSVMClassifier take indefinite kernels"
                )
            self.root = landmarks.cholesky_.astype(np.float64)
            spectrum = eigvalsh(self.root @ self.root.T)
            self.summed_first = bool(spectrum[-1] < _CONDITION[landmarks.cholesky_.dtype] * spectrum[0])

    @classmethod
    def of_prototypes(
        cls,
        kernel: Kernel,
        X: Matrix,
        m: int,
        *,
        selection: str,
        weights: Array | None,
        rng: np.random.Generator,
        scaling: Standardization | None = None,
    ) -> Basis:
        """The similarities to m rows of X or, by k-means, centres of rows."""
        used = drawn_rows(X.shape[0], weights, _CANDIDATES, rng)
        some = X[:] if len(used) == X.shape[0] else X[used]
        chosen = Nystroem(
            min(m, len(used)), kernel=kernel, selection=selection, random_state=int(rng.integers(2**31))
        )._fitted(
            some if scaling is None else scaling.rows(some),
            None if weights is None else weights[used].astype(np.float64),
        )
        if chosen.landmark_indices_ is not None:
            chosen.landmark_indices_ = used[chosen.landmark_indices_]
        return cls(chosen, scaling, chosen)

    def size(self, X: Matrix) -> int:
        """m."""
        return self.kernel._n_features(X)

    def features(self, X: Matrix) -> Matrix:
        """φ of a few checked rows, shape (n, m)."""
        return self.kernel._features(self._prepared(X))

    def add(self, sums: NormalEquations, X: Matrix, Y: Array, weights: Array | None) -> None:
        """Add checked rows to sums, of features or, where that costs no digits, of similarities not yet whitened."""
        Z = self._prepared(X)
        if self.landmarks is not None and self.summed_first:
            F = tiles.block(self.landmarks.kernel_, Z, self.landmarks.landmarks_.astype(Z.dtype, copy=False), Z.dtype)
        else:
            F = self.kernel._features(Z)
        sums.add(F, Y, weights)

    def whitened(self, sums: NormalEquations) -> NormalEquations:
        """What :meth:`add` has summed, as sums of the features."""
        if self.root is None or not self.summed_first:
            return sums
        return sums.mapped(solve_triangular(self.root, np.eye(len(self.root)), lower=True).T)

    def columns(self, m: int) -> Array:
        """T with φ(x) T = k(x, P), the way from features to similarities; the identity where there are no prototypes.

        Upper triangular, of shape (m, m).
        """
        return np.eye(m) if self.root is None else self.root.T

    def expansion(self, w: Array) -> Array:
        """β with φ(x)·w = Σ_j k(x, p_j) β_j, for w of shape (m, q); w itself where there are no prototypes."""
        return solve_triangular(self.columns(len(w)), w)

    def values(self, X: Matrix, coef: Array, kept: Array | None = None) -> Array:
        """f for checked rows from β (or W, where there are no prototypes), shape (n, q).

        ``kept`` are the prototypes that the rows of ``coef`` belong to; all by default.
        """
        Z = self._prepared(X)
        if self.landmarks is None:
            return self.kernel._streamed(Z).product(coef.astype(Z.dtype, copy=False))
        points = self.landmarks.landmarks_
        points = points if kept is None else points[kept]
        return Expansion(self.landmarks.kernel_, points.astype(Z.dtype, copy=False), coef).unchecked(Z)

    def _prepared(self, X: Matrix) -> Matrix:
        return X if self.scaling is None else self.scaling.rows(X)


class FoldSums:
    """Sums of features and targets over rows that keep coming, apart for every fold of a cross-validation.

    Rows are dealt to the folds at random, evenly over every stretch of the stream.

    Parameters
    ----------
    n_folds : int
        1 where nothing is to be chosen.
    seed : int
        Of the dealing.
    """

    def __init__(self, n_folds: int, seed: int) -> None:
        self.seed = seed
        self.n_rows = 0
        self.folds = [NormalEquations() for _ in range(n_folds)]

    def add(self, basis: Basis, X: Matrix, Y: Array, weights: Array | None = None) -> FoldSums:
        """Add checked rows, targets (n, q) and weights."""
        k, m = len(self.folds), basis.size(X)
        require_memory(
            8.0 * m * m * (k + 2),
            f"the sums of {m} features in {k} folds",
            "use fewer prototypes, or a kernel with fewer features",
        )
        Y = Y.astype(X.dtype, copy=False)
        for strip in tiles.slices(X.shape[0], k * STRIP):
            length = strip.stop - strip.start
            if k == 1:
                basis.add(self.folds[0], X[strip], Y[strip], None if weights is None else weights[strip])
                self.n_rows += length
                continue
            dealt = self._dealt(self.n_rows, length)
            for place in range(k):
                index = strip.start + np.flatnonzero(dealt == place)
                if len(index):
                    v = None if weights is None else weights[index]
                    basis.add(self.folds[place], X[index], Y[index], v)
            self.n_rows += length
        return self

    def add_stretch(self, basis: Basis, X: Array, Y: Array, first: int, n: int) -> FoldSums:
        """Add the rows from number ``first`` on of n, each to the fold that :meth:`add` of all n would deal it to."""
        Y = Y.astype(X.dtype, copy=False)
        size = len(self.folds) * STRIP
        for start in range(first - first % size, first + len(X), size):
            low, high = max(start, first), min(start + size, first + len(X))
            dealt = self._dealt(start, min(size, n - start))[low - start : high - start]
            for place, fold in enumerate(self.folds):
                index = low - first + np.flatnonzero(dealt == place)
                if len(index):
                    basis.add(fold, X[index], Y[index], None)
        self.n_rows += len(X)
        return self

    def _dealt(self, start: int, length: int) -> Array:
        """The fold of each row of a strip that begins with row number ``start`` of the stream."""
        places = np.empty(length, np.intp)
        order = np.random.default_rng((self.seed, start)).permutation(length)
        places[order] = (np.arange(length) + start) % len(self.folds)
        return places

    def merge(self, other: FoldSums) -> FoldSums:
        """Add the rows that other sums of the same folds have seen."""
        self.n_rows += other.n_rows
        for fold, more in zip(self.folds, other.folds, strict=True):
            fold.merge(more)
        return self

    def whitened(self, basis: Basis) -> list[NormalEquations]:
        """The folds that have rows of weight, as sums of the features of the basis."""
        return [basis.whitened(fold) for fold in self.folds if fold.weight > 0]

    def copy(self) -> FoldSums:
        """Sums that can go on without changing these."""
        out = FoldSums(0, self.seed)
        out.n_rows = self.n_rows
        out.folds = [NormalEquations().merge(fold) for fold in self.folds]
        return out

    def merged(self) -> FoldSums:
        """One fold of all rows, for when the choice is made."""
        out = FoldSums(1, self.seed)
        out.n_rows = self.n_rows
        for fold in self.folds:
            out.folds[0].merge(fold)
        return out


def total(folds: list[NormalEquations]) -> NormalEquations:
    """The sums of all folds."""
    whole = NormalEquations()
    for fold in folds:
        whole.merge(fold)
    return whole


def cross_validated(folds: list[NormalEquations], ridges: Array) -> Array:
    """Mean squared error on the fold left out, for every ridge, shape (r,).

    The mean is over rows by weight and over targets, each in units of its variance, so that 1 is as good as the mean.
    """
    whole = total(folds)
    squares = sum(fold.residual_squares(*(whole - fold).solve(ridges)) for fold in folds)
    variance = whole.target_squares
    return np.asarray(np.mean(squares / np.where(variance > 0, variance, 1.0), axis=1))
