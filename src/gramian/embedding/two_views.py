"""What kernel CCA and kernel PLS share: directions in the feature spaces of two views of the same samples.

Both maximise Σ e_i r_i over scores e_i = w·φ(x_i) + b and r_i = v·ψ(y_i) + d, and differ in what the directions w and v
must not be. The problem is solved in the eigenvectors of the two centred Grams, where it is a singular value
decomposition.
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable
from typing import Any, NamedTuple, Self

import numpy as np
from sklearn.base import ClassNamePrefixFeaturesOutMixin, TransformerMixin
from sklearn.utils.validation import check_array, check_is_fitted, validate_data

from gramian.checks import check_count, check_samples, remember_columns
from gramian.diagram import Estimator
from gramian.estimator import _seeded
from gramian.grams import FeatureGram, Gram
from gramian.kernels import Expansion, Kernel, as_kernel
from gramian.landmarks import Nystroem
from gramian.partitions import DistributedAnswers
from gramian.randomness import generator
from gramian.typing import Array, Matrix, RandomState

KernelChoice = Kernel | str | Callable[[Any, Any], Any]

_EXACT_ROWS = 5000  # above this all eigenvectors of a Gram cost too much, and landmarks stand for the rows
_LANDMARKS = 500


class Spectrum(NamedTuple):
    """Eigenvalues (r,) > 0 and eigenvectors (n, r) of a centred Gram."""

    values: Array
    vectors: Array

    def first(self, r: int) -> Spectrum:
        """The r largest."""
        return Spectrum(self.values[:r], self.vectors[:, :r])


class Penalties(NamedTuple):
    """ν of the two views, and what was tried to find them."""

    x: float
    y: float
    tuning: dict[str, Array] | None = None


class TwoViewProjection(ClassNamePrefixFeaturesOutMixin, TransformerMixin, DistributedAnswers, Estimator):
    """Base of the estimators with ``fit(X, Y)``; a subclass says how strongly scores of large variance are shunned."""

    n_components: int
    kernel_x: KernelChoice
    kernel_y: KernelChoice
    random_state: RandomState

    @abstractmethod
    def _chosen(self, left: Spectrum, right: Spectrum, k: int) -> Penalties:
        """ν of the two views for k pairs."""

    def _given(self) -> Any:
        """What the parameters say of ν; an error where it is nothing that it can be."""

    def fit(self, X: Matrix, Y: Any) -> Self:
        """Find the pairs of directions.

        Parameters
        ----------
        X : array-like or sparse (n, d), or (n, n) similarities with ``kernel_x="precomputed"``
        Y : array-like (n,), (n, q) or (n, n)
            The same samples seen otherwise; a vector is one column.

        Returns
        -------
        self : estimator
        """
        rng = generator(self.random_state)
        self._given()
        unfitted_x, unfitted_y = _named(self.kernel_x, "kernel_x"), _named(self.kernel_y, "kernel_y")
        # Rows in one order of memory, so that a data frame gives the same scores to the last digit.
        names, samples = X, check_samples(self, X, ensure_min_samples=2, order="C", **unfitted_x._checks())
        others = _second_view(Y, unfitted_y, samples.shape[0])
        wanted = check_count(self, "n_components", samples.shape[0])
        assert wanted is not None
        seeds = [None if self.random_state is None else int(seed) for seed in rng.integers(2**31, size=2)]
        kernel_x, gram_x = _fitted(unfitted_x, samples, seeds[0])
        kernel_y, gram_y = _fitted(unfitted_y, others, seeds[1])
        left, right = _spectrum(gram_x, kernel_x, "X"), _spectrum(gram_y, kernel_y, "Y")
        wanted = min(wanted, len(left.values), len(right.values))
        nu = self._chosen(left, right, wanted)
        found = directions(left, right, nu.x, nu.y, wanted)
        n = samples.shape[0]
        center = np.full(n, 1 / n)
        self.kernel_x_, self.kernel_y_ = kernel_x, kernel_y
        self.nu_x_, self.nu_y_, self.tuning_ = nu
        self.singular_values_ = found.values
        self.n_components_ = len(found.values)
        self.dual_coef_x_, self.dual_coef_y_ = found.left, found.right
        self.expansion_x_ = Expansion(kernel_x, samples, found.left.astype(gram_x.dtype), gram=gram_x, center=center)
        self.expansion_y_ = Expansion(kernel_y, others, found.right.astype(gram_y.dtype), gram=gram_y, center=center)
        self.correlations_ = correlations(found.left_scores, found.right_scores)
        remember_columns(self, names)
        return self

    def transform(self, X: Matrix, Y: Any = None) -> Any:
        """Scores of new samples in the first view, or in both.

        Parameters
        ----------
        X : array-like or sparse (n_new, d)
        Y : array-like (n_new,) or (n_new, q), optional

        Returns
        -------
        scores : ndarray (n_new, n_components_), or two of them if Y is given
        """
        check_is_fitted(self, "expansion_x_")
        scores = self.expansion_x_.unchecked(validate_data(self, X, reset=False, order="C", **self.kernel_x_._checks()))
        if Y is None:
            return scores
        Y = _second_view(Y, self.kernel_y_, scores.shape[0])
        if Y.shape[1] != self.kernel_y_.n_features_in_:
            raise ValueError(
                f"Y has {Y.shape[1]} columns but fit saw {self.kernel_y_.n_features_in_}; pass the same ones"
            )
        return scores, self.expansion_y_.unchecked(Y)

    @property
    def _n_features_out(self) -> int:
        return int(self.n_components_)

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.target_tags.required = True
        tags.target_tags.one_d_labels = False
        tags.target_tags.two_d_labels = True
        tags.target_tags.multi_output = True
        tags.transformer_tags.preserves_dtype = ["float64", "float32"]
        try:
            kernel = as_kernel(self.kernel_x)
        except ValueError:  # an unknown name is reported by fit; tags must not fail
            return tags
        tags.input_tags.sparse = bool(kernel.accepts_sparse)
        tags.input_tags.allow_nan = bool(kernel.accepts_nan)
        tags.input_tags.pairwise = bool(kernel.pairwise)
        tags.input_tags.positive_only = bool(kernel.__sklearn_tags__().input_tags.positive_only)
        return tags


class Directions(NamedTuple):
    """Singular values (k,), and for both views coefficients and scores of the fitted samples (n, k)."""

    values: Array
    left: Array
    right: Array
    left_scores: Array
    right_scores: Array


def directions(left: Spectrum, right: Spectrum, nu_x: float, nu_y: float, k: int) -> Directions:
    """The k leading pairs of directions w = Φᵀ a and v = Ψᵀ c.

    They maximise Σ e_i r_i with ν_x Σ e_i² + ‖w‖² = 1 and ν_y Σ r_i² + ‖v‖² = 1. With centred Grams U L Uᵀ and
    G = (L / (ν L + I))^½ the maxima are the singular values of G_x U_xᵀ U_y G_y, and a = U_x (L_x (ν_x L_x + I))^-½ p,
    c likewise, for its singular vectors. They solve K_y c = λ (ν_x K_x a + a) and K_x a = λ (ν_y K_y c + c), each in
    the range of its own Gram: a has no part where K_x is zero, for it would mean nothing.
    """
    damped = [np.sqrt(L / (nu * L + 1)) for (L, _), nu in ((left, nu_x), (right, nu_y))]
    M = damped[0][:, None] * (left.vectors.T @ right.vectors) * damped[1]
    squares, P = FeatureGram(M).eigenpairs(k)
    values = np.sqrt(np.maximum(squares, 0))
    solid = values > (1e-9 if M.dtype == np.float64 else 1e-4) * max(float(values[0]), np.finfo(M.dtype).tiny)
    if not solid.any():
        raise ValueError("X and Y have no covariance at all, so there are no directions to find; check that rows match")
    values, P = values[solid], P[:, solid]
    Q = M.T @ P / values
    coefficients = [U @ (D[:, None] / L[:, None] * V) for (L, U), D, V in ((left, damped[0], P), (right, damped[1], Q))]
    # They sum to zero in exact arithmetic; for small eigenvalues rounding breaks it, and the scores with it.
    coefficients = [part - part.mean(axis=0) for part in coefficients]
    scores = [U @ (D[:, None] * V) for (_, U), D, V in ((left, damped[0], P), (right, damped[1], Q))]
    return Directions(values, *coefficients, *scores)


def correlations(left: Array, right: Array) -> Array:
    """Pearson's correlation of each column with its partner; 0 where one of the two is constant."""
    left, right = (part - part.mean(axis=0) for part in (left, right))
    sizes = np.linalg.norm(left, axis=0) * np.linalg.norm(right, axis=0)
    return np.asarray(np.einsum("ij,ij->j", left, right) / np.where(sizes > 0, sizes, 1))


def _second_view(Y: Any, kernel: Kernel, n: int) -> Matrix:
    """Y as rows that its kernel takes, one for each sample."""
    if Y is None:
        raise ValueError("fit requires y to be passed, but the target y is None; pass fit(X, Y)")
    rows = check_array(Y, input_name="Y", ensure_2d=False, order="C", **kernel._checks())
    rows = rows.reshape(-1, 1) if rows.ndim == 1 else rows
    if rows.shape[0] != n:
        raise ValueError(f"Y has {rows.shape[0]} rows but X has {n}; pass the same samples in both")
    return rows


def _named(choice: KernelChoice, name: str) -> Kernel:
    """A fresh kernel; an error names its parameter."""
    try:
        return as_kernel(choice)
    except ValueError as error:
        raise ValueError(f"{name}: {error}") from error


def _fitted(kernel: Kernel, X: Matrix, seed: int | None) -> tuple[Kernel, Gram]:
    """The kernel of a view fitted on it, through landmarks where there are many rows, and its Gram."""
    if X.shape[0] > _EXACT_ROWS and not (kernel.has_features or kernel.pairwise or kernel.sparse_blocks):
        kernel = Nystroem(_LANDMARKS, kernel=kernel)
    kernel = _seeded(kernel, seed)
    kernel._fitted(X)
    return kernel, kernel._unchecked("gram")(X)


def _spectrum(gram: Gram, kernel: Kernel, name: str) -> Spectrum:
    """All eigenpairs of the centred Gram that rounding cannot have made."""
    n = gram.shape[0]
    most = n if gram.factor is None else min(n, gram.factor.shape[1])
    values, vectors = gram.centered().eigenpairs(most)
    tolerance = 1e-10 if gram.dtype == np.float64 else 1e-5
    # Centring leaves rounding of what was there before.
    rounding = 10 * float(np.finfo(gram.dtype).eps) * abs(gram.trace())
    keep = values > max(tolerance * float(np.abs(values).max()), rounding)
    if values.min() < -max(100 * tolerance * float(np.abs(values).max()), rounding):
        raise ValueError(
            f"kernel_{name.lower()}={kernel!r} is indefinite here (eigenvalue {values.min():.2g}), so variances may be "
            "negative; use a positive semi-definite kernel such as 'rbf'"
        )
    if not keep.any():
        raise ValueError(f"all rows of {name} are alike under its kernel, so they vary with nothing; check {name}")
    return Spectrum(values[keep], np.ascontiguousarray(vectors[:, keep]))
