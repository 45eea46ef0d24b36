"""The Nyström method: a kernel, definite or not, approximated by its similarities to a few landmarks."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from typing import Any

import numpy as np
from scipy.linalg import solve_triangular
from scipy.sparse import issparse
from sklearn.utils.validation import check_is_fitted

from gramian.checks import whole
from gramian.grams import tiles
from gramian.kernels import Kernel, as_kernel
from gramian.kernels.base import FeatureMap
from gramian.landmarks import selection as choose
from gramian.landmarks.incomplete_cholesky import incomplete_cholesky
from gramian.landmarks.whitening import best_truncation, pivoted_cholesky, projected, signed_root, whitened
from gramian.randomness import generator
from gramian.typing import Array, Matrix, RandomState

_SELECTIONS = ("uniform", "kmeans", "renyi", "leverage", "cholesky")
_OTHERS = 200  # rows that tell how well an indefinite kernel is described
_FOR_DEFINITE = ("leverage", "cholesky")


class Nystroem(FeatureMap):
    """Approximate a kernel from a few landmark rows (Nyström method).

    With m landmarks and L Lᵀ = K(landmarks, landmarks), the features of x are

        φ(x) = L^-1 k(landmarks, x),   so that   φ(x)·φ(y) = k(x, landmarks) K(landmarks, landmarks)^+ k(landmarks, y),

    the best approximation of k that sees the data only through the landmarks; it is exact for the landmarks
    themselves. As a transformer it gives the features to a linear model; as a kernel it goes wherever a kernel goes,
    and makes n×m work of what would be n×n: ``KernelPCA(kernel=Nystroem(1000))``.

    An indefinite kernel (Tanh, TL1, a function) has K(landmarks, landmarks) = U Λ Uᵀ with eigenvalues of both signs.
    Its features are φ(x) = |Λ|^-½ Uᵀ k(landmarks, x) with the signs J of Λ, and the same approximation is φ(x)·J φ(y):
    ``gram(X)`` is then a :class:`gramian.grams.KreinGram`. Eigenvalues of both signs leave some of them close to zero,
    over which the features of other rows would be large and wrong; those below ``truncation_`` are left out. Without
    that, TL1 of radius 0.8 on 300 rows of [0, 1]³ has a relative error of 1.3 with 60 landmarks, with it of 0.25.

    Parameters
    ----------
    n_components : int, default 100
        Number of landmarks m. Landmarks that add nothing (duplicates, or a kernel of lower rank) are dropped, so
        there can be fewer features.
    kernel : Kernel, str or callable, default "rbf"
        Of an indefinite one, and of a function, it is tested on the landmarks whether features count negative.
    selection : {"uniform", "kmeans", "renyi", "leverage", "cholesky"}, default "uniform"
        How landmarks are chosen:

        - "uniform": random rows; costs nothing.
        - "kmeans": centres of k-means clusters. The smallest error of the kernel on all tables measured.
          Needs data that can be averaged.
        - "renyi": rows swapped until they are spread out (largest quadratic Rényi entropy). Covers rare regions, which
          helps a wide kernel; with a narrow one the landmarks go to outliers and the error is above uniform's.
        - "leverage": rows drawn by how little the others explain them (ridge leverage scores). For any kernel, and
          for missing values where the kernel takes them; between "uniform" and "kmeans". For definite kernels.
        - "cholesky": pivots of an incomplete Cholesky factorisation of the whole Gram matrix, drawn by the diagonal
          that the pivots before leave unexplained, see :func:`gramian.landmarks.incomplete_cholesky`. The features
          reproduce its factor, F Fᵀ = L Lᵀ. For definite kernels, with or without missing values; takes the n×m factor
          in memory, and tells ``residual_trace_``. Where rows can be averaged "kmeans" is better: of 20,000 rows in 10
          columns, 200 landmarks leave out 8.6 % of the trace of a normal cloud and 3.8 % of uneven clusters in 0.13 s,
          those of "kmeans" 7.0 % and 3.6 % in 0.03 s, "uniform" 8.1 % and 4.6 %.

        A smaller error of the kernel is not always a better prediction: where the target varies most among the
        common rows, uniform landmarks can predict as well or better. ``benchmarks/landmarks.py`` measures both.
    random_state : int, Generator, RandomState or None, default None
        For the selection.

    Attributes
    ----------
    kernel_ : Kernel
        The fitted kernel k.
    landmarks_ : array or CSR (r, d)
        The landmarks in use, most informative first.
    landmark_indices_ : ndarray (r,) or None
        Their rows in the X of ``fit``; None for "kmeans", whose landmarks are not rows.
    cholesky_ : ndarray (r, r) or None
        L. None for an indefinite kernel.
    projection_ : ndarray (m, r) or None
        U |Λ|^-½ of an indefinite kernel; None for a definite one.
    truncation_ : float or None
        For an indefinite kernel, the share of the largest |λ| below which eigenvalues were left out; chosen by the
        error for 200 other rows. 1e-10 (float32: 1e-5) is none.
    signature_ : ndarray (r,)
        The sign of each feature, J; all 1 for a definite kernel.
    residual_trace_ : float or None
        For ``selection="cholesky"`` the trace of K − F Fᵀ over the rows of ``fit``; its share of the trace of K is what
        the features leave out. None for other selections, which do not look at all rows.

    References
    ----------
    Williams, Seeger (2001). Using the Nyström method to speed up kernel machines. NIPS.

    Examples
    --------
    >>> import numpy as np
    >>> from gramian.kernels import RBF
    >>> X = np.random.default_rng(0).normal(size=(500, 2))
    >>> approximate = Nystroem(50, kernel=RBF(width=1.0), selection="kmeans", random_state=0).fit(X)
    >>> approximate.transform(X).shape
    (500, 50)
    >>> bool(np.abs(approximate(X) - RBF(width=1.0)(X)).mean() < 1e-4)
    True

    A kernel that is not positive semi-definite has features of which some count negative:

    >>> indefinite = Nystroem(50, kernel="tl1", random_state=0).fit(X)
    >>> F, J = indefinite.transform(X), indefinite.signature_
    >>> np.allclose((F * J) @ F.T, indefinite(X)), bool((J < 0).any())
    (True, True)
    """

    approximate = True

    def __init__(
        self,
        n_components: int = 100,
        *,
        kernel: Kernel | str | Callable[[Any, Any], Any] = "rbf",
        selection: str = "uniform",
        random_state: RandomState = None,
    ) -> None:
        self.n_components = n_components
        self.kernel = kernel
        self.selection = selection
        self.random_state = random_state

    @property
    def accepts_sparse(self) -> bool:  # type: ignore[override]
        return bool(as_kernel(self.kernel).accepts_sparse)

    @property
    def accepts_nan(self) -> bool:  # type: ignore[override]
        return bool(as_kernel(self.kernel).accepts_nan)

    @property
    def definite(self) -> bool:  # type: ignore[override]
        if hasattr(self, "signature_"):
            return bool((self.signature_ > 0).all())
        return bool(as_kernel(self.kernel).definite)

    @property
    def feature_signs(self) -> Array | None:  # type: ignore[override]
        return self.signature_ if hasattr(self, "signature_") and (self.signature_ < 0).any() else None

    @property
    def has_features(self) -> bool:  # type: ignore[override]
        return self.feature_signs is None

    @property
    def _n_features_out(self) -> int:
        return len(self.signature_)

    def _resolve(self, X: Matrix, sample_weight: Array | None = None) -> None:
        """Fit the kernel and choose the landmarks, from the rows whose weight is not zero."""
        kernel = self._comparing_kernel()
        self._check_parameters(kernel)
        kernel._fitted(X, sample_weight)
        used = np.arange(X.shape[0]) if sample_weight is None else np.flatnonzero(sample_weight)
        X = X if len(used) == X.shape[0] else X[used]
        m = min(int(self.n_components), X.shape[0])
        if m < self.n_components:
            warnings.warn(
                f"n_components={self.n_components} is more than the {m} samples; all of them become landmarks",
                UserWarning,
                stacklevel=3,
            )
        landmarks, indices, residual_trace = self._select(kernel, X, m)
        within = tiles.block(kernel, landmarks, None, X.dtype)
        pivots, L = pivoted_cholesky(within)
        self.cholesky_, self.projection_, truncation = None, None, None
        if kernel.definite or _gives_back(within, pivots, L):
            self.cholesky_, self.signature_ = L, np.ones(len(L), np.int8)
        else:
            pivots = np.arange(len(within))
            others = self._others(X, indices)
            across, among = (tiles.block(kernel, others, right, X.dtype) for right in (landmarks, None))
            truncation = best_truncation(within, across, among)
            self.projection_, self.signature_ = signed_root(within, truncation)
        self.kernel_ = kernel
        self.landmarks_ = landmarks[pivots]
        self.landmark_indices_ = None if indices is None else used[indices[pivots]]
        self.residual_trace_ = residual_trace
        self.truncation_ = truncation

    # The kernel protocol -----------------------------------------------------------------------------------

    def _check_overflow(self, X: Matrix) -> None:
        check_is_fitted(self)
        self.kernel_._check_overflow(X)  # the approximation of a definite kernel never exceeds k(x, x)

    def _features(self, X: Matrix) -> Array:
        check_is_fitted(self)
        if self.projection_ is not None:
            return projected(self.kernel_, X, self.landmarks_, self.projection_)
        assert self.cholesky_ is not None
        return whitened(self.kernel_, X, self.landmarks_, self.cholesky_)

    def landmark_coefficients(self, weights: Array) -> Array:
        """β with φ(x)·w = Σ_j k(x, landmark_j) β_j: a linear function of the features as an expansion in the kernel.

        Parameters
        ----------
        weights : ndarray (r,) or (r, b)
            w.

        Returns
        -------
        coefficients : ndarray (number of landmarks,) or (number of landmarks, b)
            L^-T w, or U |Λ|^-½ w for an indefinite kernel.
        """
        check_is_fitted(self)
        weights = np.asarray(weights)
        if weights.ndim not in (1, 2) or len(weights) != self._n_features_out:
            r = self._n_features_out
            raise ValueError(f"weights has shape {weights.shape}; pass one row for each of the {r} features")
        if self.projection_ is not None:
            return np.asarray(self.projection_ @ weights)
        return np.asarray(solve_triangular(self.cholesky_, weights, lower=True, trans="T"))

    # The steps of fit --------------------------------------------------------------------------------------

    def _comparing_kernel(self) -> Kernel:
        kernel = as_kernel(self.kernel)
        if kernel.pairwise:
            raise ValueError(
                f"kernel={self.kernel!r} holds all similarities already, so landmarks save nothing; pass the samples "
                "with a kernel that can compare them, such as 'rbf'"
            )
        if kernel.sparse_blocks:
            raise ValueError(
                f"kernel={kernel!r} is a sparse graph, in which most rows know no landmark; use it without landmarks, "
                "or a kernel that compares all rows, such as 'rbf'"
            )
        return kernel

    def _check_parameters(self, kernel: Kernel) -> None:
        whole(self.n_components, "n_components")
        if self.selection not in _SELECTIONS:
            raise ValueError(f"selection={self.selection!r} must be one of {', '.join(map(repr, _SELECTIONS))}")
        if self.selection in _FOR_DEFINITE and not kernel.definite and kernel.definiteness_known:
            raise ValueError(
                f"selection={self.selection!r} is for positive semi-definite kernels but kernel={kernel!r} is "
                "indefinite; use selection='uniform', 'kmeans' or 'renyi'"
            )

    def _others(self, X: Matrix, landmarks: Array | None) -> Matrix:
        """Some rows that are no landmarks, or all rows where there are no others."""
        others = np.arange(X.shape[0]) if landmarks is None else np.setdiff1d(np.arange(X.shape[0]), landmarks)
        return X if not len(others) else X[others[choose.uniform(len(others), min(_OTHERS, len(others)), generator(0))]]

    def _select(self, kernel: Kernel, X: Matrix, m: int) -> tuple[Matrix, Array | None, float | None]:
        """The landmarks, their indices where they are rows of X, and the residual trace where it is known."""
        rng = generator(self.random_state)
        holes = bool(kernel.accepts_nan) and bool(np.isnan(X.data if issparse(X) else X).any())
        if self.selection == "kmeans":
            if holes:
                raise ValueError("selection='kmeans' cannot average missing values in X; use selection='leverage'")
            return choose.kmeans_landmarks(X, m, rng), None, None
        if self.selection == "cholesky":
            indices, _, residual = incomplete_cholesky(kernel, X, m, rng)
            indices = indices if len(indices) else np.zeros(1, np.intp)  # every similarity is zero
            return X[indices], indices, float(residual.sum())
        if m == X.shape[0]:
            indices = np.arange(m)
        elif self.selection == "renyi":
            # Rows with holes have no Gaussian distance; a kernel that can compare them measures entropy itself.
            indices, _ = choose.renyi(*((kernel, X) if holes else choose.entropy_kernel(X)), m, rng)
        elif self.selection == "leverage":
            indices = choose.leverage(kernel, X, m, rng)
        else:
            indices = choose.uniform(X.shape[0], m, rng)
        return X[indices], indices, None


def _gives_back(K: Array, pivots: Array, L: Array) -> bool:
    """Whether its Cholesky factor gives a kernel matrix back; if not, it has negative eigenvalues."""
    F = solve_triangular(L, K[pivots], lower=True)
    tolerance = (1e-6 if K.dtype == np.float64 else 1e-3) * float(np.abs(K).max())
    return bool(np.abs(K - F.T @ F).max() <= tolerance)
