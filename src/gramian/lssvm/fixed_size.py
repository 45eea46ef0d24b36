"""Fixed-size least-squares support vector machines: a model on a few prototypes, learned in one pass over the rows.

Here is what the targets are; everything else is alike and stands in ``_fixed_size.py``.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from sklearn.base import ClassifierMixin, RegressorMixin

from gramian.checks import check_classes, check_targets
from gramian.kernels import Kernel
from gramian.lssvm._fixed_size import FixedSize
from gramian.lssvm.basis import Basis, FoldSums
from gramian.lssvm.classes import Decided, class_codes, class_weighted, plus_minus
from gramian.lssvm.preparation import Standardization
from gramian.partitions import DistributedRows, reduced
from gramian.typing import Array, Matrix, RandomState


class FixedSizeLSSVMRegressor(RegressorMixin, FixedSize):
    """Least-squares support vector regression on a few prototypes, for up to millions of rows.

    With P the prototypes and φ the features that make k(x, P) K(P, P)^+ k(P, y) = φ(x)·φ(y), it minimises

        ½ ‖w‖² + regularization/2 Σ_i v_i (y_i − w·φ(x_i) − b)²,   f(x) = w·φ(x) + b = Σ_j β_j k(x, p_j) + b,

    from sums over the rows, a few thousand rows at a time: n m² operations and m² numbers of memory, whatever n.
    Apart for every fold, the same sums give the cross-validated error of any regularization without another pass.
    With all rows as prototypes it is the dual LS-SVM. A prediction costs m similarities.

    Parameters
    ----------
    n_prototypes : int or "auto", default 500
        m, at most the number of rows; "auto" doubles 25 as long as the cross-validated error on at most 20,000 rows
        falls by a hundredth, up to 3,200.
    kernel : Kernel, str or callable, default "auto"
        "auto" is an RBF kernel on standardised columns whose width has the least cross-validated error on at most
        2,000 rows and 300 prototypes. Any other kernel sees the columns as they are, and must be definite. A kernel
        with features of its own needs no prototypes: ``FourierFeatures(1000)`` gives random waves, ``Linear()`` the
        plain linear model.
    regularization : float, optional
        The papers' γ: weight of the squared errors, so that larger fits harder; ``1 / regularization`` is the alpha of
        scikit-learn's ``Ridge`` in the features. None takes the least 5-fold cross-validated squared error.
    selection : {"uniform", "renyi", "kmeans", "leverage", "cholesky"}, default "uniform"
        How prototypes are chosen; see :class:`gramian.Nystroem`. Above 100,000 rows, among 100,000 random ones.
        "renyi" is the papers' choice; see the notes.
    sparsity : {"rwl1", "l0", "scad", "lq", "two_level"}, optional
        Second stage, which drops prototypes and fits the others anew: ℓ1 penalties whose weights are computed again
        from the coefficients, round after round, as 1/(abs(β) + ε) ("rwl1"), by the derivative of SCAD with a = 3.7
        ("scad") or as q abs(β)^(q−1) ("lq"), or smaller for the largest few coefficients ("two_level"); or ridge
        penalties of weight 1/(β² + ε), which count coefficients ("l0").
    sparsity_options : dict, optional
        Of the second stage: "regularization" (weight of the squared errors against the penalty; by default the fewest
        prototypes whose cross-validated error is within 2 % of the least), "exponent" (q, default 0.5), "level" (of the
        large coefficients, default 0.1), "n_large" (how many these are, default a tenth), "max_rounds" (default 10).
    n_jobs : int, optional
        Threads; None is the library's setting.
    random_state : int, Generator, RandomState or None, default None
        For prototypes and folds.

    Attributes
    ----------
    prototypes_ : ndarray or CSR (r, d) or None
        In the units of X; None where the kernel has features of its own.
    prototype_indices_ : ndarray (r,) or None
        Their rows in the X of ``fit``; None for "kmeans".
    n_prototypes_ : int
        r: fewer than asked for where prototypes add nothing, or the second stage has dropped them.
    coef_ : ndarray (r, q)
        β; or w, where there are no prototypes.
    intercept_ : ndarray (q,)
    regularization_ : float
    kernel_ : Kernel
        The fitted kernel.
    tuning_ : dict
        What was tried: "regularizations" and their "errors", "widths" and "width_errors", "sizes" and "size_errors",
        "sparsity_regularization". Errors are in units of the variance of y.
    sparsity_counts_ : ndarray
        Prototypes left after every round of the second stage.

    Notes
    -----
    The papers choose prototypes of large Rényi entropy. These lie at the rim of the data, where few rows are, and the
    classifier's accuracy was lower than with random rows on six of seven tables (200 or 300 prototypes, three splits
    each; uniform, Rényi, k-means): spambase .920 .916 .921, magic .870 .866 .869, adult .842 .839 .838, forest cover
    .726 .696 .697, letters .845 .829 .849, satellite .898 .900 .906, and 20,000 generated rows of 20 normal columns
    .791 .785 .796. With 500 prototypes of 100,000 such rows they are nearly level: .8015 .8010 .8019, means of 20 draws
    with a standard error of .0003; scikit-learn's Nystroem and RidgeClassifier, also on random rows, have .8018.

    References
    ----------
    Suykens, Van Gestel, De Brabanter, De Moor, Vandewalle (2002). Least Squares Support Vector Machines, chapter 6.

    De Brabanter, De Brabanter, Suykens, De Moor (2010). Optimized fixed-size kernel models for large data sets.
    Computational Statistics & Data Analysis 54(6).

    Mall, Suykens (2015). Very sparse LSSVM reductions for large-scale data. IEEE TNNLS 26(5).

    Examples
    --------
    >>> import numpy as np
    >>> rng = np.random.default_rng(0)
    >>> X = rng.uniform(-6, 6, size=(2000, 1))
    >>> y = np.sinc(X[:, 0] / np.pi) + 0.1 * rng.normal(size=2000)
    >>> model = FixedSizeLSSVMRegressor(40, random_state=0).fit(X, y)
    >>> bool(np.abs(model.predict(X) - np.sinc(X[:, 0] / np.pi)).mean() < 0.02)
    True

    Half of the prototypes or fewer do as well:

    >>> sparse = FixedSizeLSSVMRegressor(40, sparsity="rwl1", random_state=0).fit(X, y)
    >>> sparse.n_prototypes_ <= 20, bool(abs(sparse.score(X, y) - model.score(X, y)) < 0.02)
    (True, True)
    """

    def partial_fit(self, X: Matrix, y: Any, sample_weight: Any = None) -> FixedSizeLSSVMRegressor:
        """Learn from some more rows of a stream.

        The first call chooses prototypes, columns' scales and the kernel's width from its rows, so it should have some
        thousands of them. Where ``regularization`` is None it is chosen anew whenever the stream has grown by half;
        after a ``fit`` what that has chosen stays.

        Parameters
        ----------
        X : array-like or sparse (n, d)
        y : array-like (n,) or (n, q)
        sample_weight : array-like (n,), optional

        Returns
        -------
        self : FixedSizeLSSVMRegressor
        """
        return self._partial_fit(X, y, sample_weight)

    def _targets(
        self, y: Any, X: Matrix, weights: Array | None, *, stream: bool, classes: Any = None
    ) -> tuple[Array, Array | None, dict[str, Any]]:
        y = check_targets(y, X.shape[0])
        Y = y.reshape(len(y), -1).astype(np.float64)
        if not stream or not hasattr(self, "basis_"):
            learned = _units(Standardization(Y, weights), y.ndim == 1)
        else:
            learned = {"_center": self._center, "_unit": self._unit, "_one_target": self._one_target}
            if (y.ndim == 1) != self._one_target or Y.shape[1] != len(self._unit):
                seen = "(n,)" if self._one_target else f"(n, {len(self._unit)})"
                raise ValueError(f"y has shape {y.shape}, but the rows before had y of shape {seen}; pass the same")
        return (Y - learned["_center"]) / learned["_unit"], weights, learned

    def _distributed_targets(self, y: Any) -> tuple[DistributedRows, dict[str, Any]]:
        Y = DistributedRows(y[:, None] if y.ndim == 1 else y, dtype=[np.float64], name="y")
        learned = _units(Standardization(Y), y.ndim == 1)
        return DistributedRows((Y.array - learned["_center"]) / learned["_unit"], name="y"), learned

    def _hold(self, basis: Basis, sums: FoldSums, learned: dict[str, Any], model: dict[str, Any]) -> None:
        # The sums are of targets in units of their deviation; the model is for the user's.
        model["coef_"] = model["coef_"] * learned["_unit"]
        model["intercept_"] = learned["_center"] + learned["_unit"] * model["intercept_"]
        super()._hold(basis, sums, learned, model)

    def predict(self, X: Matrix) -> Array:
        """f of new rows.

        Parameters
        ----------
        X : array-like or sparse (n, d)

        Returns
        -------
        y : ndarray (n,) or (n, q)
        """
        values = self._values(X)
        return values[:, 0] if self._one_target else values

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.target_tags.multi_output = True
        return tags


class FixedSizeLSSVMClassifier(ClassifierMixin, FixedSize, Decided):
    """Least-squares support vector classification on a few prototypes, for up to millions of rows.

    Regression on ±1: one function for two classes, one against the others for each of several. Everything else is as
    in :class:`FixedSizeLSSVMRegressor`.

    Parameters
    ----------
    n_prototypes, kernel, regularization, selection, sparsity, sparsity_options
        See :class:`FixedSizeLSSVMRegressor`. The cross-validated error is the squared one, also here.
    class_weight : dict or "balanced", optional
        Weight of each class's rows; "balanced" is n / (number of classes × rows of the class), for ``fit`` alone.
    n_jobs, random_state
        See :class:`FixedSizeLSSVMRegressor`.

    Attributes
    ----------
    classes_ : ndarray (k,)
    prototypes_, prototype_indices_, n_prototypes_, coef_, intercept_, regularization_, kernel_, tuning_
        See :class:`FixedSizeLSSVMRegressor`.

    References
    ----------
    De Brabanter, De Brabanter, Suykens, De Moor (2010). Optimized fixed-size kernel models for large data sets.
    Computational Statistics & Data Analysis 54(6).

    Examples
    --------
    >>> import numpy as np
    >>> rng = np.random.default_rng(0)
    >>> X = rng.normal(size=(3000, 2))
    >>> y = np.where(X[:, 0] ** 2 + X[:, 1] > 0.5, "above", "below")
    >>> model = FixedSizeLSSVMClassifier(50, random_state=0).fit(X[:2000], y[:2000])
    >>> bool(model.score(X[2000:], y[2000:]) > 0.97)
    True

    A stream names its classes at the first call:

    >>> stream = FixedSizeLSSVMClassifier(50, random_state=0)
    >>> for rows in np.split(np.arange(2000), 4):
    ...     stream = stream.partial_fit(X[rows], y[rows], classes=["above", "below"])
    >>> bool(stream.score(X[2000:], y[2000:]) > 0.97)
    True
    """

    def __init__(
        self,
        n_prototypes: int | str = 500,
        *,
        kernel: Kernel | str | Callable[[Any, Any], Any] = "auto",
        regularization: float | None = None,
        selection: str = "uniform",
        sparsity: str | None = None,
        sparsity_options: dict[str, Any] | None = None,
        class_weight: dict[Any, float] | str | None = None,
        n_jobs: int | None = None,
        random_state: RandomState = None,
    ) -> None:
        super().__init__(
            n_prototypes,
            kernel=kernel,
            regularization=regularization,
            selection=selection,
            sparsity=sparsity,
            sparsity_options=sparsity_options,
            n_jobs=n_jobs,
            random_state=random_state,
        )
        self.class_weight = class_weight

    def partial_fit(
        self, X: Matrix, y: Any, classes: Any = None, sample_weight: Any = None
    ) -> FixedSizeLSSVMClassifier:
        """Learn from some more rows of a stream; see :meth:`FixedSizeLSSVMRegressor.partial_fit`.

        Parameters
        ----------
        X : array-like or sparse (n, d)
        y : array-like (n,)
        classes : array-like (k,)
            All classes that will ever come; at the first call.
        sample_weight : array-like (n,), optional

        Returns
        -------
        self : FixedSizeLSSVMClassifier
        """
        return self._partial_fit(X, y, sample_weight, classes)

    def _targets(
        self, y: Any, X: Matrix, weights: Array | None, *, stream: bool, classes: Any = None
    ) -> tuple[Array, Array | None, dict[str, Any]]:
        codes, known = class_codes(self, y, X.shape[0], classes, weights, stream=stream)
        weighted = class_weighted(self, codes, known, weights, stream=stream)
        return plus_minus(codes, len(known)), weighted, {"classes_": known}

    def _distributed_targets(self, y: Any) -> tuple[DistributedRows, dict[str, Any]]:
        if y.ndim != 1:
            raise ValueError(f"y has {y.ndim} dimensions; pass one class for each row, for instance y[:, 0]")
        known = reduced(_classes, _all_classes, y, name="y")
        if len(known) < 2:
            raise ValueError(
                f"y has one class only, {known.tolist()[0]!r}; a classifier needs rows of at least two classes"
            )
        width = 1 if len(known) == 2 else len(known)
        numbers = y.map_blocks(
            _coded, known, new_axis=1, chunks=(y.chunks[0], (width,)), dtype=np.float64, meta=np.empty((0, 0))
        )
        return DistributedRows(numbers, name="y"), {"classes_": known}


def _units(scaling: Standardization, one_target: bool) -> dict[str, Any]:
    """Origin and unit of the targets."""
    # One target keeps its unit, which the second stage's regularization counts in, unless squares might overflow in
    # single precision; several are made alike, so that none outweighs the others.
    usual = (len(scaling.scale) == 1) & (scaling.scale > 1e-15) & (scaling.scale < 1e15)
    unit = np.where(usual | ~np.isfinite(scaling.scale), 1.0, scaling.scale)
    return {"_center": scaling.mean, "_unit": unit, "_one_target": one_target}


def _classes(y: Array) -> Array:
    return check_classes(y, len(y), least=1)[0]


def _all_classes(parts: list[Array]) -> Array:
    return np.unique(np.concatenate(parts))


def _coded(y: Array, known: Array) -> Array:
    """±1 targets of one partition."""
    return plus_minus(np.searchsorted(known, np.asarray(y, known.dtype)), len(known))
