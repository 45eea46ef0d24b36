"""What :class:`DependenceReduction` and :class:`AlternativeClustering` share.

Both scale the columns, choose between exact sums and landmarks, and project new rows.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from sklearn.base import ClassNamePrefixFeaturesOutMixin, TransformerMixin, clone
from sklearn.utils.validation import check_is_fitted, validate_data

from gramian.checks import check_choice, check_positive, check_whole, whole
from gramian.dependence.projection._pairs import profiles_of
from gramian.dependence.projection.ism import ISMResult
from gramian.estimator import KernelEstimator
from gramian.kernels import Kernel, Linear, RelativeRBF, Scaled, SquaredDistance, Sum
from gramian.landmarks import Nystroem
from gramian.partitions import refuse_partitions
from gramian.typing import Array

EXACT_SAMPLES = 20_000  # beyond, summing over all pairs takes minutes per step
_ROUNDING = 10  # a deviation of so many units in the last place of the largest entry is that of a constant column
_NO_VARIANCE = 1e-10  # of the largest: a direction of less is one in which columns depend on each other


class ColumnScaling:
    """Centre and scale the columns of X, and leave constant ones out.

    A constant column says nothing, but as a direction of eigenvalue zero it would be preferred to one of negative
    eigenvalue; so the solver does not see it. Nor one that is constant up to rounding, as 0.3 and 0.1 + 0.2 are: scaled
    to unit variance it would be noise.

    Parameters
    ----------
    X : ndarray (n, d)
    standardize : bool
        Divide by the standard deviations; otherwise the columns are only centred.
    whiten : bool
        Turn the varying columns into uncorrelated ones of unit variance, their scaled principal components.

    Attributes
    ----------
    mean, scale : ndarray (d,), float64
    varying : ndarray (d,) of bool
    whitening : ndarray (number of varying columns, r) or None
        What the scaled columns are multiplied by.
    """

    def __init__(self, X: Array, *, standardize: bool, whiten: bool = False) -> None:
        # In units of the largest entry, whose square is always in range.
        size = np.abs(X).max(axis=0).astype(np.float64)
        size[size == 0] = 1
        deviation = (X / size).std(axis=0)
        self.varying = deviation > _ROUNDING * np.finfo(X.dtype).eps
        if not self.varying.any():
            raise ValueError("all columns of X are constant, so there is nothing to project; check X")
        self.mean = size * (X / size).mean(axis=0)
        self.scale = np.where(self.varying, size * deviation, 1.0) if standardize else np.ones(X.shape[1])
        self.whitening: Array | None = None
        if whiten:
            _, lengths, axes = np.linalg.svd(self.informative(X), full_matrices=False)
            kept = lengths**2 > _NO_VARIANCE * lengths[0] ** 2
            self.whitening = axes[kept].T * (np.sqrt(len(X)) / lengths[kept])

    def informative(self, X: Array) -> Array:
        """The varying columns of X, scaled, as float64; whitened if asked for."""
        scaled = np.asarray((X[:, self.varying] - self.mean[self.varying]) / self.scale[self.varying])
        return scaled if self.whitening is None else scaled @ self.whitening

    def spread(self, components: Array) -> Array:
        """Components of what ``informative`` gives as weights of all scaled columns, zero for the constant ones."""
        out = np.zeros((len(components), len(self.varying)))
        out[:, self.varying] = components if self.whitening is None else components @ self.whitening.T
        return out

    def lifted(self, components: Array) -> Array:
        """Rows (q, d) by which coordinates of the projection are multiplied to give scaled columns again."""
        if self.whitening is None:
            return self.spread(components)
        out = np.zeros((len(components), len(self.varying)))
        out[:, self.varying] = components @ np.linalg.pinv(self.whitening)
        return out


def check_n_components(n_components: Any, d: int) -> int | None:
    """``n_components`` as an int, at most the number d of columns to project, or None."""
    if n_components is None:
        return None
    count = whole(n_components, "n_components", instead="None")
    if count > d:
        raise ValueError(
            f"n_components={count} is more than the n_features={d} left without constant columns (with whiten=True, "
            f"also without linear combinations of others); pass n_components <= {d}"
        )
    return count


class Projector(ClassNamePrefixFeaturesOutMixin, TransformerMixin, KernelEstimator):
    """The base of estimators that project columns by an orthonormal W, found by the iterative spectral method."""

    columns_: ColumnScaling
    solution_: ISMResult
    components_: Array

    def _check_solver_parameters(self) -> None:
        check_choice(self, "init", ("spectral", "random"))
        check_choice(self, "approximation", ("auto", None, "nystroem", "fourier"))
        check_choice(self, "standardize", (True, False))
        check_whole(self, "n_features", "n_init", "max_iter")
        check_whole(self, "verbose", least=0)
        check_positive(self, "tol")

    def _keep_projection(self, solution: ISMResult, columns: ColumnScaling) -> None:
        self.columns_, self.solution_ = columns, solution
        self.mean_, self.scale_ = columns.mean, columns.scale
        self.components_ = columns.spread(solution.components)
        self.n_components_ = len(self.components_)
        self.stationarity_ = solution.residual

    def transform(self, X: Any) -> Array:
        """The projection ((x − mean_) / scale_) · components_ᵀ of new rows.

        Parameters
        ----------
        X : array-like (n_new, d)

        Returns
        -------
        Z : ndarray (n_new, n_components_)
        """
        check_is_fitted(self, "components_")
        X = self._check_new(X)
        return (((X - self.mean_) / self.scale_) @ self.components_.T).astype(X.dtype, copy=False)

    def _projected(self, X: Any) -> Array:
        """New rows as the kernel of projected rows takes them."""
        check_is_fitted(self, "components_")
        return projected_rows(self.kernel_, self.columns_.informative(self._check_new(X)), self.solution_.components)

    def _check_new(self, X: Any) -> Array:
        refuse_partitions(self, X)
        return validate_data(self, X, reset=False, dtype=[np.float64, np.float32])

    @property
    def _n_features_out(self) -> int:
        return int(self.n_components_)

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = tags.input_tags.allow_nan = tags.input_tags.pairwise = False
        tags.transformer_tags.preserves_dtype = ["float64", "float32"]
        return tags


# Kernels of projected rows ---------------------------------------------------------------------------------


class _GivenWidths(RelativeRBF):
    """The relative RBF of rows whose last entry is their width, because distances between projections do not tell."""

    def _resolve(self, X: Array, sample_weight: Array | None = None) -> None:
        """Nothing: the widths come with the rows."""

    def _sides(self, X: Array, Y: Array) -> tuple[object, object]:
        return self._sides_of_widths(X[:, :-1], Y[:, :-1], X[:, -1], Y[:, -1])

    def _diagonal(self, X: Array) -> Array:
        return np.ones(X.shape[0], X.dtype)


def projected_kernel(kernel: Kernel) -> Kernel:
    """A fitted kernel with its numbers, unfitted, for rows of another number of columns."""
    if isinstance(kernel, Sum):
        if any(isinstance(part, RelativeRBF) for part in kernel._parts()):
            raise ValueError(
                f"kernel={kernel!r} adds a kernel to RelativeRBF, which works only alone here; pass one of the two"
            )
        first, second = (projected_kernel(part) for part in kernel._parts())
        return Sum(first, second)
    if isinstance(kernel, Scaled):
        return Scaled(kernel.factor, projected_kernel(kernel._inner))
    if isinstance(kernel, SquaredDistance):
        return Scaled(2.0, Linear())  # the same after centring, and with features
    if isinstance(kernel, RelativeRBF):
        return _GivenWidths(kernel.n_neighbors)
    width = {"width": kernel.width_} if hasattr(kernel, "width_") else {}
    return clone(kernel).set_params(**width)


def projected_rows(kernel: Kernel, X: Array, components: Array) -> Array:
    """X Wᵀ, with the widths of the rows of X behind it where the kernel has such."""
    Z = X @ components.T
    while isinstance(kernel, Scaled):
        kernel = kernel._inner
    return np.column_stack([Z, kernel._widths(X)]) if isinstance(kernel, RelativeRBF) else Z


def has_degrees(kernel: Kernel) -> bool:
    """Whether the kernel is never negative, so that its row sums can serve as degrees."""
    return all(profile.nonnegative for _, profile in profiles_of(kernel))


@dataclass(frozen=True)
class Approximation:
    """Whether sums over pairs are exact or use landmarks.

    Attributes
    ----------
    kind : {None, "fourier", "nystroem"}
        Of the projection's objective.
    landmarks : bool
        Whether clusters are those of landmarks.
    n_features : int
    seed : int
    """

    kind: str | None
    landmarks: bool
    n_features: int
    seed: int

    @classmethod
    def of(cls, approximation: str | None, n_features: int, kernel: Kernel, n: int, seed: int) -> Approximation:
        """Resolve ``approximation="auto"`` for n samples; a kernel that is not definite stays exact."""
        profiles = profiles_of(kernel)  # refuses kernels of other families
        landmarks = approximation is not None if approximation != "auto" else n > EXACT_SAMPLES
        if approximation == "auto":
            # With constant slopes the problem is solved at once, without a sum over pairs.
            sums = landmarks and kernel.definite and not all(profile.constant_slope for _, profile in profiles)
            approximation = "nystroem" if sums else None
        return cls(approximation, landmarks, min(int(n_features), n), seed)

    def fitted(self, kernel: Kernel, rows: Array) -> Kernel:
        """The kernel, or its landmark approximation, fitted on rows."""
        if self.landmarks and kernel.definite and not kernel.has_features:
            kernel = Nystroem(self.n_features, kernel=kernel, random_state=self.seed)
        return kernel._fitted(rows)
