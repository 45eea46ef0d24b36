"""What the fixed-size regressor and classifier do alike: choose a basis, sum over the rows, solve, predict.

Prototypes give features (:mod:`gramian.lssvm.basis`), sums over the rows give the ridge regression in them, a second
stage (:mod:`gramian.lssvm.sparsity`) may drop prototypes. Nothing here grows with the number of rows.
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable
from contextlib import nullcontext
from dataclasses import replace
from functools import partial, reduce
from typing import Any, Self

import numpy as np
from scipy.sparse import issparse
from sklearn.utils.validation import check_is_fitted

from gramian.checks import check_positive, n_workers, remember_columns, whole
from gramian.configuration import config
from gramian.estimator import KernelEstimator
from gramian.kernels import RBF, Kernel
from gramian.landmarks import Nystroem
from gramian.lssvm.basis import Basis, FoldSums, cross_validated, drawn_rows, total
from gramian.lssvm.preparation import Standardization
from gramian.lssvm.sparsity import Sparsity, sparsified
from gramian.partitions import DistributedRows, beside, in_memory, is_distributed
from gramian.randomness import spawn
from gramian.typing import Array, Matrix, RandomState

_FOLDS = 5
_TRIED = 10.0 ** (np.arange(-9, 22) / 3)  # regularizations, for features of unit variance in all
_WIDTHS = 2.0 ** np.arange(-3, 3)  # in units of the median distance
_WIDTH_ROWS, _WIDTH_PROTOTYPES = 2000, 300  # that a width is chosen with
_FIRST_SIZE, _LAST_SIZE, _SIZE_ROWS = 25, 3200, 20_000  # prototypes tried by "auto", and the rows they are tried on
_GAIN = 0.01  # of the error, for which twice the prototypes are worth it
_AGAIN = 1.5  # a stream that has grown by this factor chooses its regularization anew


class FixedSize(KernelEstimator):
    """What the regressor and the classifier do alike; they say what the targets are."""

    def __init__(
        self,
        n_prototypes: int | str = 500,
        *,
        kernel: Kernel | str | Callable[[Any, Any], Any] = "auto",
        regularization: float | None = None,
        selection: str = "uniform",
        sparsity: str | None = None,
        sparsity_options: dict[str, Any] | None = None,
        n_jobs: int | None = None,
        random_state: RandomState = None,
    ) -> None:
        self.n_prototypes = n_prototypes
        self.kernel = kernel
        self.regularization = regularization
        self.selection = selection
        self.sparsity = sparsity
        self.sparsity_options = sparsity_options
        self.n_jobs = n_jobs
        self.random_state = random_state

    # Learning ----------------------------------------------------------------------------------------------

    @abstractmethod
    def _targets(
        self, y: Any, X: Matrix, weights: Array | None, *, stream: bool, classes: Any = None
    ) -> tuple[Array, Array | None, dict[str, Any]]:
        """y as numbers (n, q), the weights of the rows, and what else is learned of y."""

    def fit(self, X: Matrix, y: Any, sample_weight: Any = None) -> Self:
        """Choose prototypes, kernel width and regularization as far as they are open, and learn in one pass.

        Parameters
        ----------
        X : array-like or sparse (n, d)
            Of a Dask array or data frame, samples are drawn by row number and sums are made where the rows lie, so
            the model is that of rows in memory; a kernel with features of its own is fitted to 50,000 rows.
        y : array-like (n,) or, for a regressor, (n, q)
        sample_weight : array-like (n,), optional
            Weight of the squared error of each row; 2 counts as the row given twice.

        Returns
        -------
        self : estimator
        """
        self._check_parameters()
        if is_distributed(X):
            return self._fit_distributed(X, y, sample_weight)
        rows = self._check_rows(X)
        Y, weights, learned = self._targets(y, rows, self._check_weights(sample_weight, rows), stream=False)
        with self._threads():
            basis, tuning, seed = self._start(rows, Y, weights)
            sums = FoldSums(self._n_folds(), seed).add(basis, rows, Y, weights)
            model = self._solved(basis, sums, tuning, None)
        self._hold(basis, sums.merged(), learned, model)
        remember_columns(self, X)
        return self

    @abstractmethod
    def _distributed_targets(self, y: Any) -> tuple[DistributedRows, dict[str, Any]]:
        """y, a Dask array (n,) or (n, q), as numbers (n, q), and what else is learned of it."""

    def _fit_distributed(self, X: Any, y: Any, sample_weight: Any) -> Self:
        """The same steps where only samples of the rows, and sums over them, come here."""
        if sample_weight is not None or getattr(self, "class_weight", None) is not None:
            raise TypeError("sample_weight and class_weight are for rows in memory; leave them out for a Dask input")
        rows = DistributedRows(X, **self._unfitted_kernel()._checks())
        Y, learned = self._distributed_targets(beside(y, rows))
        with self._threads():
            basis, tuning, seed = self._start(rows, Y, None)
            part = partial(_part_sums, basis, self._n_folds(), seed, rows.shape[0])
            sums = rows.reduced(part, _merged_sums, Y.array, rows.numbers)
            model = self._solved(basis, sums, tuning, None)
        self._hold(basis, sums.merged(), learned, model)
        remember_columns(self, rows.named(np.zeros((1, rows.shape[1]))))
        return self

    def _partial_fit(self, X: Matrix, y: Any, sample_weight: Any, classes: Any = None) -> Self:
        first = not hasattr(self, "basis_")
        self._check_parameters()
        rows = self._check_rows(X) if first else self._check_new(X)
        checked = self._check_weights(sample_weight, rows)
        Y, weights, learned = self._targets(y, rows, checked, stream=True, classes=classes)
        with self._threads():
            if first:
                basis, tuning, seed = self._start(rows, Y, weights)
                sums, chosen = FoldSums(self._n_folds(), seed), None
            else:
                basis, sums, tuning, chosen = self.basis_, self.sums_.copy(), self.tuning_, self.regularization_
            sums.add(basis, rows, Y, weights)
            if len(sums.folds) > 1 and sums.n_rows >= _AGAIN * tuning.get("rows", 0):
                chosen = None
            model = self._solved(basis, sums, tuning, chosen)
        self._hold(basis, sums, learned, model)
        if first:
            remember_columns(self, X)
        return self

    def _hold(self, basis: Basis, sums: FoldSums, learned: dict[str, Any], model: dict[str, Any]) -> None:
        """Keep all that was learned, when all has succeeded."""
        self.basis_, self.sums_ = basis, sums
        self.kernel_ = basis.kernel if basis.landmarks is None else basis.landmarks.kernel_
        for name, value in (learned | model).items():
            setattr(self, name, value)

    # The steps of fit --------------------------------------------------------------------------------------

    def _start(self, X: Any, Y: Any, weights: Array | None) -> tuple[Basis, dict[str, Any], int]:
        """The basis, how its width and size were chosen, and the seed of the folds; rows in memory or on workers."""
        fold_rng, width_rng, size_rng, prototype_rng = spawn(self.random_state, 4)
        seed = int(fold_rng.integers(2**31))
        tuning: dict[str, Any] = {}
        kernel: Kernel = self._seeded_kernel(X.shape[0])
        if kernel.has_features:
            seen = in_memory(X)
            kernel._fitted(seen, weights)._check_overflow(seen)
            return Basis(kernel), tuning, seed
        scaling = Standardization(X, weights) if self.kernel == "auto" else None
        if scaling is not None:
            kernel = RBF(self._width(X, Y, weights, scaling, width_rng, tuning))
        m = self._size(kernel, X, Y, weights, scaling, size_rng, tuning)
        basis = Basis.of_prototypes(
            kernel, X, m, selection=self.selection, weights=weights, rng=prototype_rng, scaling=scaling
        )
        if scaling is None:
            basis.kernel._check_overflow(in_memory(X))
        return basis, tuning, seed

    def _width(
        self,
        X: Matrix,
        Y: Array,
        weights: Array | None,
        scaling: Standardization,
        rng: np.random.Generator,
        tuning: dict[str, Any],
    ) -> float:
        """The width of least cross-validated error on a part of the rows, by halving steps about the median."""
        X, Y, weights = _some(X, Y, weights, _WIDTH_ROWS, rng)
        Z = scaling.rows(X)
        if abs(Z).max() == 0 or X.shape[0] < 3:
            return 1.0  # all rows are equal, and so are all widths
        unit = RBF()._fitted(Z, weights).width_
        m = _WIDTH_PROTOTYPES if isinstance(self.n_prototypes, str) else min(_WIDTH_PROTOTYPES, self.n_prototypes)
        seed = int(rng.integers(2**31))
        errors: dict[float, float] = {}

        def evaluate(factor: float) -> None:
            kernel = RBF(width=factor * unit)
            errors[factor] = _least_error(kernel, Z, Y, weights, m, seed, scaling=None, selection="uniform")

        for factor in _WIDTHS:
            evaluate(float(factor))
        best = min(errors, key=lambda factor: (errors[factor], factor))
        for factor in (best / np.sqrt(2), best * np.sqrt(2)):
            evaluate(float(factor))
        best = min(errors, key=lambda factor: (errors[factor], factor))
        factors = sorted(errors)
        tuning["widths"] = np.array(factors) * unit
        tuning["width_errors"] = np.array([errors[factor] for factor in factors])
        return best * unit

    def _size(
        self,
        kernel: Kernel,
        X: Matrix,
        Y: Array,
        weights: Array | None,
        scaling: Standardization | None,
        rng: np.random.Generator,
        tuning: dict[str, Any],
    ) -> int:
        """The number of prototypes; "auto" doubles it as long as the cross-validated error falls by a hundredth."""
        if not isinstance(self.n_prototypes, str):
            return int(self.n_prototypes)
        X, Y, weights = _some(X, Y, weights, _SIZE_ROWS, rng)
        seed = int(rng.integers(2**31))
        chosen: dict[str, Any] = {"scaling": scaling, "selection": self.selection}
        sizes, errors = [min(_FIRST_SIZE, X.shape[0])], []
        while True:
            errors.append(_least_error(kernel, X, Y, weights, sizes[-1], seed, **chosen))
            worth_it = len(errors) < 2 or errors[-1] < (1 - _GAIN) * errors[-2]
            if not worth_it or 2 * sizes[-1] > min(_LAST_SIZE, X.shape[0]):
                break
            sizes.append(2 * sizes[-1])
        tuning["sizes"], tuning["size_errors"] = np.array(sizes), np.array(errors)
        return sizes[-1] if worth_it else sizes[-2]

    def _solved(
        self, basis: Basis, sums: FoldSums, tuning: dict[str, Any], regularization: float | None
    ) -> dict[str, Any]:
        """Regularization, coefficients and prototypes from the sums."""
        folds = sums.whitened(basis)
        whole_sums = total(folds)
        tuning = dict(tuning)
        anew = regularization is None
        if anew:
            tuning["rows"] = sums.n_rows
        if self.regularization is not None:
            regularization = float(self.regularization)
        elif regularization is None:
            tried, errors = _regularizations(folds)
            tuning |= {"regularizations": tried, "errors": errors}
            regularization = float(tried[int(np.argmin(errors))])
        ridge = 1 / regularization
        w, intercept = whole_sums.solve(ridge)
        coef, kept = basis.expansion(w), None
        learned: dict[str, Any] = {"tuning_": tuning, "regularization_": regularization}
        how = Sparsity.of(self.sparsity, self.sparsity_options)
        if how is not None:
            if how.regularization is None and not (anew and len(folds) > 1):
                how = replace(how, regularization=tuning.get("sparsity_regularization"))
            left = sparsified(folds, basis.columns(len(w)), ridge, how)
            kept, intercept = left.kept, left.intercept
            if basis.landmarks is not None:
                coef = left.coef
            else:
                coef[...] = 0
                coef[kept] = left.coef
            learned["sparsity_counts_"] = np.array(left.counts)
            tuning["sparsity_regularization"] = left.regularization
        learned |= {"coef_": coef, "intercept_": intercept, "_kept": kept}
        if basis.landmarks is not None:
            index = basis.landmarks.landmark_indices_
            points = basis.landmarks.landmarks_ if kept is None else basis.landmarks.landmarks_[kept]
            learned["prototypes_"] = points if basis.scaling is None else basis.scaling.original(points)
            learned["prototype_indices_"] = index if index is None or kept is None else index[kept]
            learned["n_prototypes_"] = len(coef)
        else:
            learned |= {"prototypes_": None, "prototype_indices_": None, "n_prototypes_": 0}
        return learned

    # Answers -----------------------------------------------------------------------------------------------

    def _values(self, X: Matrix) -> Array:
        """f of new rows, shape (n, q)."""
        check_is_fitted(self)
        X = self._check_new(X)
        with self._threads():
            kept = None if self.basis_.landmarks is None else self._kept
            values = self.basis_.values(X, self.coef_, kept)
        return values + self.intercept_.astype(values.dtype)

    # Checks ------------------------------------------------------------------------------------------------

    def _check_parameters(self) -> None:
        if isinstance(self.n_prototypes, str):
            if self.n_prototypes != "auto":
                raise ValueError(f"n_prototypes={self.n_prototypes!r} must be a whole number >= 1 or 'auto'")
        else:
            whole(self.n_prototypes, "n_prototypes", instead="'auto'")
        check_positive(self, "regularization", none_allowed=True)
        Nystroem(1, selection=self.selection)._check_parameters(self._unfitted_kernel())
        Sparsity.of(self.sparsity, self.sparsity_options)
        n_workers(self)

    def _check_rows(self, X: Matrix, *, min_samples: int = 1) -> Matrix:
        return _row_major(super()._check_rows(X, min_samples=min_samples))

    def _check_new(self, X: Matrix) -> Matrix:
        return _row_major(super()._check_new(X))

    def _n_folds(self) -> int:
        how = Sparsity.of(self.sparsity, self.sparsity_options)
        open_ = self.regularization is None or (how is not None and how.regularization is None)
        return _FOLDS if open_ else 1

    def _threads(self) -> Any:
        return nullcontext() if self.n_jobs is None else config(threads=n_workers(self))

    def _unfitted_kernel(self, n_samples: int = 0) -> Kernel:
        return RBF() if isinstance(self.kernel, str) and self.kernel == "auto" else super()._unfitted_kernel(n_samples)

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.pairwise = False  # similarities are refused
        return tags


def _row_major(X: Matrix) -> Matrix:
    """X in row order: a data frame comes by columns, and its products would round differently."""
    return X if issparse(X) else np.ascontiguousarray(X)


def _some(
    X: Matrix, Y: Array, weights: Array | None, most: int, rng: np.random.Generator
) -> tuple[Matrix, Array, Array | None]:
    """A random part of the rows that have weight, with their targets and weights."""
    used = drawn_rows(X.shape[0], weights, most, rng)
    if len(used) == X.shape[0]:
        return X[:], Y[:], weights
    return X[used], Y[used], None if weights is None else weights[used]


def _part_sums(basis: Basis, n_folds: int, seed: int, n: int, X: Array, Y: Array, numbers: Array) -> FoldSums:
    """The sums of one partition, whose rows have these numbers among n."""
    return FoldSums(n_folds, seed).add_stretch(basis, X, Y, int(numbers[0]), n)


def _merged_sums(parts: list[FoldSums]) -> FoldSums:
    return reduce(FoldSums.merge, parts[1:], parts[0].copy())


def _regularizations(folds: list[Any]) -> tuple[Array, Array]:
    """Regularizations, weakest fit first, and their cross-validated errors."""
    whole_sums = total(folds)
    # The unit makes the choice independent of the scale of the features, as of a linear kernel's columns.
    variance = float(np.trace(whole_sums.feature_products)) / whole_sums.weight
    tried = _TRIED / (variance if variance > 0 else 1.0)
    if len(folds) < 2:
        return tried[:1], np.ones(1)
    return tried, cross_validated(folds, 1 / tried)


def _least_error(
    kernel: Kernel,
    X: Matrix,
    Y: Array,
    weights: Array | None,
    m: int,
    seed: int,
    *,
    scaling: Standardization | None,
    selection: str,
) -> float:
    """The cross-validated error of a kernel on m prototypes, at its best regularization."""
    rng = np.random.default_rng(seed)
    basis = Basis.of_prototypes(kernel, X, m, selection=selection, weights=weights, rng=rng, scaling=scaling)
    folds = FoldSums(_FOLDS, seed).add(basis, X, Y, weights).whitened(basis)
    return float(_regularizations(folds)[1].min())
