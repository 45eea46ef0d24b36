"""What regression and classification share: weights, the kernel, the regularization, the solution.

:class:`LeastSquaresMachine` is the base of :class:`gramian.lssvm.LSSVMRegressor` and ``LSSVMClassifier``; it learns
functions of X for one or several columns of targets and knows nothing of what they stand for.
"""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np
from scipy.linalg import LinAlgWarning
from scipy.sparse import issparse
from sklearn.utils.validation import check_is_fitted, validate_data

from gramian.checks import check_choice, check_samples, check_whole, is_real
from gramian.estimator import KernelEstimator
from gramian.kernels import RBF, ClusterKernel, Kernel
from gramian.lssvm.indefinite import INDEFINITE, nearest_eigenvalue
from gramian.lssvm.preparation import Preparation
from gramian.lssvm.solution import Sample, Solution, Weights
from gramian.lssvm.system import BorderedSystem
from gramian.lssvm.tuning import Best, Problem, choose_regularization, choose_width, table
from gramian.randomness import generator
from gramian.typing import Array, Matrix, RandomState

_SOLVERS = ("auto", "cholesky", "refined", "ldl", "dual", "cg")
_NEIGHBOUR_ROWS = 5000  # above this, looking up the neighbours of every row with a hole takes too long


class LeastSquaresMachine(KernelEstimator):
    """Base of the least-squares support vector machines."""

    regularization: Any
    criterion: str
    n_splits: int
    indefinite: str
    solver: str
    random_state: RandomState

    # Parameters --------------------------------------------------------------------------------------------

    @property
    def _auto(self) -> bool:
        return isinstance(self.kernel, str) and self.kernel == "auto"

    def _unfitted_kernel(self, n_samples: int = 0) -> Kernel:
        return RBF() if self._auto else super()._unfitted_kernel(n_samples)

    def _check_rows(self, X: Matrix, *, min_samples: int = 1) -> Matrix:
        checks = self._unfitted_kernel()._checks()
        if self._auto:
            checks["ensure_all_finite"] = "allow-nan"
        X = check_samples(self, X, ensure_min_samples=min_samples, order="C", **checks)
        if issparse(X) and np.isnan(X.data).any():
            raise ValueError("X is sparse and contains NaN; pass a dense X to have its holes filled in")
        return X

    def _check_settings(self, n_outputs: int) -> Array | None:
        """The regularizations that are given, (1,) or (q,); None where they are to be chosen."""
        check_choice(self, "criterion", ("loo", "cv", "robust"))
        check_whole(self, "n_splits", least=2)
        check_choice(self, "indefinite", INDEFINITE)
        check_choice(self, "solver", _SOLVERS)
        generator(self.random_state if not isinstance(self.random_state, np.random.Generator) else None)
        value = self.regularization
        if value is None or (isinstance(value, str) and value == "each"):
            return None
        allowed = "pass a number > 0, None to have it chosen, 'each' to have one chosen for every output"
        if is_real(value):
            given = np.array([float(value)])
        elif isinstance(value, (list, tuple, np.ndarray)) and np.asarray(value).dtype.kind in "fiu":
            given = np.asarray(value, np.float64).ravel()
            if len(given) not in (1, n_outputs):
                raise ValueError(f"regularization has {len(given)} entries for {n_outputs} outputs; {allowed}")
        else:
            raise ValueError(f"regularization={value!r} is not known; {allowed}")
        if not (np.isfinite(given) & (given > 0)).all():
            raise ValueError(f"regularization={value!r} must be positive and finite; {allowed}")
        return given

    # Learning ----------------------------------------------------------------------------------------------

    def _chosen(
        self,
        X: Matrix,
        Y: Array,
        weights: Weights,
        given: Array | None,
        scale: Array,
        strata: Array | None = None,
        *,
        once: bool = False,
    ) -> tuple[Sample, Array, dict[str, Array] | None]:
        """The rows with their kernel, its regularization, and the table of what was tried (None if nothing was).

        ``once`` says that the Gram is for one factorization, if there is one regularization and it is given.
        """
        once = once and given is not None and len(given) == 1
        v = weights.product
        active = None if v is None or (v > 0).all() else v > 0
        if active is not None:
            weights, Y = weights[active], Y[active]
            strata = None if strata is None else strata[active]
        several = isinstance(self.regularization, str) if given is None else len(given) > 1
        each = several and Y.shape[1] > 1
        rng = generator(self.random_state)
        problem = Problem(
            Y, weights.product, weights.counts, scale, self.criterion, self.n_splits, each, strata, given, rng
        )
        if self._auto:
            rows = X if active is None else X[active]
            sample, best = self._automatic(rows, Y, weights, problem)
            sample.active = active
            return sample, best.regularization, table(problem.trials) if problem.trials else None
        if active is None or not self._unfitted_kernel().pairwise:
            rows = X if active is None else X[active]
            kernel, gram = self._fit_on(rows, weights.counts, once=once)
        else:  # similarities of the rows that count, among themselves
            rows, (kernel, gram) = X, self._fit_on(X)
            gram = gram.restricted(active)
        sample = Sample(rows, Y, weights, kernel, gram, None, active)
        regularization = np.ones(1) if given is None else given
        if given is None and len(Y) > 1:
            used = sample.repair(self.indefinite)
            regularization = choose_regularization(used, problem, type(kernel).__name__).regularization
        return sample, regularization, table(problem.trials) if problem.trials else None

    def _automatic(self, X: Matrix, Y: Array, weights: Weights, problem: Problem) -> tuple[Sample, Best]:
        """RBF on standardised columns; with holes also on filled-in ones and the cluster kernel, as the error says."""
        if len(Y) == 1:  # nothing can be left out, and the prediction is the one target there is
            problem.given = np.ones(1) if problem.given is None else problem.given
            problem.criterion = "loo"
        holes = not issparse(X) and bool(np.isnan(X).any())
        fillings = ["mean"]
        if holes:
            fillings = ["neighbours", "mixture"] if X.shape[0] <= _NEIGHBOUR_ROWS else ["mixture"]
        best: Best | None = None
        for filling in fillings:
            preparation = Preparation(X, weights.counts, filling, problem.rng.spawn(1)[0])
            rows = preparation(X)
            kernel, found = choose_width(rows, problem, "rbf" if filling == "mean" else f"rbf, {filling}")
            if best is None or found.score < best.score:
                best, chosen = found, (rows, kernel, preparation)
        assert best is not None
        rows, kernel, used = chosen
        if holes:
            cluster = ClusterKernel(random_state=int(problem.rng.integers(2**31)))._fitted(X, weights.counts)
            gram = cluster._unchecked("gram")(X)
            found = choose_regularization(gram, problem, "cluster")
            if found.score < best.score:
                return Sample(X, Y, weights, cluster, gram, None, None), found
        kernel._fitted(rows, weights.counts)
        return Sample(rows, Y, weights, kernel, kernel._unchecked("gram")(rows), used, None), best

    def _unsolved(self, sample: Sample) -> Solution:
        """The system of a sample. Beside a search for the regularization a factor in double costs little."""
        chosen = self.regularization is None or isinstance(self.regularization, str)
        return Solution(sample, self.indefinite, self.solver, self.random_state, inverse=chosen)

    def _solved(self, sample: Sample, regularization: Array) -> Solution:
        """One factorization for every distinct regularization, coefficients and intercepts of every output."""
        solution = self._unsolved(sample)
        solution.fit(regularization)
        return solution

    def _warn_singular(self, sample: Sample, system: BorderedSystem) -> None:
        if not system.near_singular(sample.kernel.definite):
            return
        gamma = system.regularization
        message = f"the system of the machine is close to singular at regularization={gamma:.3g}"
        if not sample.kernel.definite:
            gram = sample.kernel._unchecked("gram")(sample.rows)
            gram = gram if sample.active is None or not sample.kernel.pairwise else gram.restricted(sample.active)
            nearest = nearest_eigenvalue(gram, gamma)
            message += f": the kernel matrix has the eigenvalue {nearest:.6g}, near −1/regularization={-1 / gamma:.6g}"
        warnings.warn(message + "; pass another regularization, a smaller one is safer", LinAlgWarning, stacklevel=4)

    def _keep_solution(self, X: Matrix, solution: Solution, tried: dict[str, Array] | None) -> None:
        sample = solution.sample
        self.tuning_ = tried
        self.preparation_ = sample.preparation
        self.solver_ = solution.method
        self._expansion = solution.expansion()
        self._rows = None if sample.kernel.pairwise else sample.rows
        self._Y, self._weights, self._active = sample.Y, sample.weights, sample.active
        self._solution: Solution | None = solution
        self._keep(sample.kernel, X)

    # Answering ---------------------------------------------------------------------------------------------

    def _check_new(self, X: Matrix) -> Matrix:
        check_is_fitted(self)
        checks = self.kernel_._checks()
        if self.preparation_ is not None:
            checks["ensure_all_finite"] = "allow-nan"
        return validate_data(self, X, reset=False, order="C", **checks)

    def _prepared(self, X: Matrix) -> Matrix:
        return X if self.preparation_ is None else self.preparation_(X)

    @property
    def signature_(self) -> tuple[int, int, int | None]:
        """How many eigenvalues of the kernel matrix are positive, negative and zero; computed when it is asked for.

        Above 4,000 rows at least so many, and None where the number of zeros is not known; see
        :meth:`gramian.grams.Gram.signature`.
        """
        check_is_fitted(self, "kernel_")
        return self._with_system().signature

    def _with_system(self) -> Solution:
        """The solution with its factors, which are not saved with the model and are computed anew after loading."""
        if getattr(self, "_solution", None) is None:
            if self._rows is None:
                raise ValueError(
                    "the matrix of similarities is not saved with a model of kernel='precomputed', and leave-one-out "
                    "residuals, deviations and intervals need it; fit again, or ask before saving"
                )
            gram = self.kernel_._unchecked("gram")(self._rows)
            sample = Sample(self._rows, self._Y, self._weights, self.kernel_, gram, self.preparation_, self._active)
            solution = Solution(sample, self.indefinite, self.solver, self.random_state)
            solution.fit(np.atleast_1d(self.regularization_), getattr(self, "_robust_weights", None))
            self._solution = solution
            return solution
        assert self._solution is not None
        return self._solution

    def __getstate__(self) -> dict[str, Any]:
        state: dict[str, Any] = super().__getstate__()
        if "_solution" in state:
            state = {**state, "_solution": None}  # an n×n factor; computed again from the rows when it is needed
        return state

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        if self._auto:
            tags.input_tags.allow_nan = True
        tags.target_tags.required = True
        return tags
