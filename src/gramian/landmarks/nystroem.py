"""The Nyström method: any positive semi-definite kernel, approximated by its similarities to a few landmarks."""

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
from gramian.kernels import FunctionKernel, Kernel, as_kernel
from gramian.kernels.base import FeatureMap
from gramian.landmarks import selection as choose
from gramian.landmarks.whitening import pivoted_cholesky, whitened
from gramian.randomness import generator
from gramian.typing import Array, Matrix, RandomState

_SELECTIONS = ("uniform", "kmeans", "renyi", "leverage")


class Nystroem(FeatureMap):
    """A kernel approximated through landmarks, and the features that say so.

    With m landmarks and L Lᵀ = K(landmarks, landmarks), the features of x are

        φ(x) = L^-1 k(landmarks, x),   so that   φ(x)·φ(y) = k(x, landmarks) K(landmarks, landmarks)^+ k(landmarks, y),

    the best approximation of k that sees the data only through the landmarks; it is exact for the landmarks
    themselves. As a transformer it gives the features to a linear model; as a kernel it goes wherever a kernel goes,
    and makes n×m work of what would be n×n: ``KernelPCA(kernel=Nystroem(1000))``.

    Parameters
    ----------
    n_components : int, default 100
        Number of landmarks m. Landmarks that add nothing (duplicates, or a kernel of lower rank) are dropped, so
        there can be fewer features.
    kernel : Kernel, str or callable, default "rbf"
        Positive semi-definite. Of a function this is tested on the landmarks.
    selection : {"uniform", "kmeans", "renyi", "leverage"}, default "uniform"
        How landmarks are chosen:

        - "uniform": random rows; costs nothing.
        - "kmeans": centres of k-means clusters. The smallest error of the kernel on all tables measured.
          Needs data that can be averaged.
        - "renyi": rows swapped until they are spread out (largest quadratic Rényi entropy). Covers rare regions, which
          helps a wide kernel; with a narrow one the landmarks go to outliers and the error is above uniform's.
        - "leverage": rows drawn by how little the others explain them (ridge leverage scores). For any kernel, and
          for missing values where the kernel takes them; between "uniform" and "kmeans".

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
    cholesky_ : ndarray (r, r)
        L. A linear function w·φ(x) is the kernel expansion Σ_j k(x, landmark_j) β_j with β = L^-T w.

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

    A kernel that is not positive semi-definite has no such features:

    >>> Nystroem(50, kernel="tanh").fit(X)
    Traceback (most recent call last):
    ...
    ValueError: kernel=Tanh() is indefinite, ...
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
    def _n_features_out(self) -> int:
        return int(self.cholesky_.shape[0])

    def _resolve(self, X: Matrix, sample_weight: Array | None = None) -> None:
        """Fit the kernel and choose the landmarks, from the rows whose weight is not zero."""
        kernel = self._definite_kernel()
        self._check_parameters()
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
        landmarks, indices = self._select(kernel, X, m)
        within = tiles.block(kernel, landmarks, None, X.dtype)
        pivots, L = pivoted_cholesky(within)
        if not kernel.definite:
            _require_definite(within, pivots, L)
        self.kernel_ = kernel
        self.landmarks_ = landmarks[pivots]
        self.landmark_indices_ = None if indices is None else used[indices[pivots]]
        self.cholesky_ = L

    # The kernel protocol -----------------------------------------------------------------------------------

    def _check_overflow(self, X: Matrix) -> None:
        check_is_fitted(self)
        self.kernel_._check_overflow(X)  # the approximation never exceeds k(x, x)

    def _features(self, X: Matrix) -> Array:
        check_is_fitted(self)
        return whitened(self.kernel_, X, self.landmarks_, self.cholesky_)

    # The steps of fit --------------------------------------------------------------------------------------

    def _definite_kernel(self) -> Kernel:
        kernel = as_kernel(self.kernel)
        if kernel.pairwise:
            raise ValueError(
                f"kernel={self.kernel!r} holds all similarities already, so landmarks save nothing; pass the samples "
                "with a kernel that can compare them, such as 'rbf'"
            )
        if not kernel.definite and not isinstance(kernel, FunctionKernel):
            raise ValueError(
                f"kernel={kernel!r} is indefinite, so it has no real features; use a positive semi-definite one, "
                "such as 'rbf' or 'laplacian', or an estimator that takes indefinite kernels as they are"
            )
        return kernel

    def _check_parameters(self) -> None:
        whole(self.n_components, "n_components")
        if self.selection not in _SELECTIONS:
            raise ValueError(f"selection={self.selection!r} must be one of {', '.join(map(repr, _SELECTIONS))}")

    def _select(self, kernel: Kernel, X: Matrix, m: int) -> tuple[Matrix, Array | None]:
        """The landmarks, and their indices where they are rows of X."""
        rng = generator(self.random_state)
        holes = bool(kernel.accepts_nan) and bool(np.isnan(X.data if issparse(X) else X).any())
        if self.selection == "kmeans":
            if holes:
                raise ValueError("selection='kmeans' cannot average missing values in X; use selection='leverage'")
            return choose.kmeans_landmarks(X, m, rng), None
        if m == X.shape[0]:
            indices = np.arange(m)
        elif self.selection == "renyi":
            # Rows with holes have no Gaussian distance; a kernel that can compare them measures entropy itself.
            indices, _ = choose.renyi(*((kernel, X) if holes else choose.entropy_kernel(X)), m, rng)
        elif self.selection == "leverage":
            indices = choose.leverage(kernel, X, m, rng)
        else:
            indices = choose.uniform(X.shape[0], m, rng)
        return X[indices], indices


def _require_definite(K: Array, pivots: Array, L: Array) -> None:
    """Refuse a kernel matrix that its own Cholesky factor does not give back: it has negative eigenvalues."""
    F = solve_triangular(L, K[pivots], lower=True)
    tolerance = (1e-6 if K.dtype == np.float64 else 1e-3) * float(np.abs(K).max())
    if np.abs(K - F.T @ F).max() > tolerance:
        raise ValueError(
            "the kernel function is not positive semi-definite on these samples, so it has no real features; "
            "pass a kernel= that is, such as 'rbf', or use an estimator that takes indefinite kernels"
        )
