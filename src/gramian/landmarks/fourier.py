"""Random Fourier features: a kernel of differences as an average of random waves, no landmarks needed."""

from __future__ import annotations

import numpy as np
from scipy.sparse import issparse
from sklearn.utils.validation import check_is_fitted

from gramian.checks import check_whole
from gramian.grams import tiles
from gramian.kernels import Kernel, as_kernel
from gramian.kernels.base import FeatureMap
from gramian.randomness import generator
from gramian.typing import Array, Matrix, RandomState


class FourierFeatures(FeatureMap):
    """Approximate a shift-invariant kernel by random Fourier features.

    The kernel k(x − y) is the mean of cos(w·(x − y)) over frequencies w drawn from its Fourier transform. With D of
    them in the columns of W,

        φ(x) = √(a/D) [cos(Wᵀ(x − c)), sin(Wᵀ(x − c))],   φ(x)·φ(y) = (a/D) Σ_j cos(w_j·(x − y)) ≈ k(x, y),

    unbiased, with an error of order 1/√D that does not depend on the data, and ‖φ(x)‖² = a = k(x, x). The mean row c
    cancels in φ(x)·φ(y); it keeps the angles small, which float32 needs. Landmarks (:class:`Nystroem`) reach a given
    error with fewer features; waves need no data but a width, cost one GEMM and suit data that keep coming.

    Parameters
    ----------
    n_components : int, default 100
        Number of features, 2D. If it is odd, one more frequency gives a cosine with a random phase instead of a
        sine of its own; still unbiased, but rows then have unit length only on average.
    kernel : Kernel or str, default "rbf"
        What is approximated: a kernel whose Fourier transform is known, which ``kernel.frequencies`` tells. RBF draws w
        from a normal distribution of deviation 1/width, Matern from a Student-t distribution of 2·smoothness degrees
        of freedom, Laplacian from a Cauchy distribution in each direction; Cauchy, RationalQuadratic and
        InverseMultiquadric average normal distributions.
    orthogonal : bool, default False
        Draw frequencies that are orthogonal to each other in groups of d; a smaller error for the same cost. For
        kernels of the Euclidean distance, so not for Laplacian.
    random_state : int, Generator, RandomState or None, default None
        For the frequencies.

    Attributes
    ----------
    kernel_ : Kernel
        The fitted kernel k.
    frequencies_ : ndarray (d, D)
        W.
    center_ : ndarray (d,)
        c.
    amplitude_ : float
        a, which is 1 for most kernels.
    phase_ : float or None
        Of the last cosine if it has no sine; None if ``n_components`` is even.

    References
    ----------
    Rahimi, Recht (2007). Random features for large-scale kernel machines. NIPS.

    Yu, Suresh, Choromanski, Holtmann-Rice, Kumar (2016). Orthogonal random features. NIPS.

    Examples
    --------
    >>> import numpy as np
    >>> from gramian.kernels import RBF
    >>> X = np.random.default_rng(0).normal(size=(200, 3))
    >>> waves = FourierFeatures(2000, kernel=RBF(width=2.0), random_state=0).fit(X)
    >>> waves.transform(X).shape
    (200, 2000)
    >>> bool(np.abs(waves(X) - RBF(width=2.0)(X)).max() < 0.1)
    True

    Not every kernel is a mean of known waves:

    >>> FourierFeatures(100, kernel="polynomial").fit(X)
    Traceback (most recent call last):
    ...
    ValueError: kernel='polynomial' has no known Fourier transform here; use 'rbf', ...
    """

    approximate = True

    def __init__(
        self,
        n_components: int = 100,
        *,
        kernel: Kernel | str = "rbf",
        orthogonal: bool = False,
        random_state: RandomState = None,
    ) -> None:
        self.n_components = n_components
        self.kernel = kernel
        self.orthogonal = orthogonal
        self.random_state = random_state

    @property
    def accepts_sparse(self) -> bool:  # type: ignore[override]
        return bool(as_kernel(self.kernel).accepts_sparse)

    @property
    def _n_features_out(self) -> int:
        return 2 * int(self.frequencies_.shape[1]) - (self.phase_ is not None)

    def _resolve(self, X: Matrix, sample_weight: Array | None = None) -> None:
        """Resolve the kernel's width and draw the frequencies."""
        self._check_parameters()
        kernel = as_kernel(self.kernel)
        kernel._fitted(X, sample_weight)
        rng = generator(self.random_state)
        frequencies = self._frequencies(kernel, X.shape[1], -(-int(self.n_components) // 2), rng)
        self.kernel_ = kernel
        self.frequencies_ = frequencies.astype(X.dtype, copy=False)
        self.amplitude_ = float(kernel._diagonal(X[:1])[0])
        n = X.shape[0]
        shares = np.full(n, 1 / n) if sample_weight is None else sample_weight / sample_weight.sum()
        self.center_ = np.asarray(shares @ X).ravel().astype(X.dtype)
        self.phase_ = float(rng.uniform(0, 2 * np.pi)) if self.n_components % 2 else None

    # The kernel protocol -----------------------------------------------------------------------------------

    def _features(self, X: Matrix) -> Array:
        check_is_fitted(self)
        frequencies, center = (part.astype(X.dtype, copy=False) for part in (self.frequencies_, self.center_))
        return waves(X, frequencies, center, self.phase_, self.amplitude_)

    def _diagonal(self, X: Matrix) -> Array:
        check_is_fitted(self)
        return np.full(X.shape[0], self.amplitude_, X.dtype) if self.phase_ is None else super()._diagonal(X)

    # The steps of fit --------------------------------------------------------------------------------------

    def _check_parameters(self) -> None:
        check_whole(self, "n_components")
        if not isinstance(self.orthogonal, (bool, np.bool_)):
            raise ValueError(f"orthogonal={self.orthogonal!r} must be True or False")

    def _frequencies(self, kernel: Kernel, d: int, size: int, rng: np.random.Generator) -> Array:
        """W of the fitted kernel, or an error where none are known."""
        frequencies = kernel.frequencies(d, size, rng, orthogonal=bool(self.orthogonal))
        if frequencies is not None:
            return frequencies
        if self.orthogonal and kernel.frequencies(d, 1, rng) is not None:
            raise ValueError(
                f"orthogonal=True is for kernels of the Euclidean distance such as 'rbf' but kernel={self.kernel!r}; "
                "use orthogonal=False"
            )
        raise ValueError(
            f"kernel={self.kernel!r} has no known Fourier transform here; use 'rbf', 'laplacian', 'matern', 'cauchy', "
            "'rational_quadratic' or 'inverse_multiquadric', or approximate it through landmarks: "
            "Nystroem(n_components, kernel=...)"
        )


def waves(X: Matrix, frequencies: Array, center: Array, phase: float | None = None, amplitude: float = 1.0) -> Array:
    """√(amplitude/D) [cos((X − c) W), sin((X − c) W)], computed in place a few rows at a time.

    With a ``phase`` the last cosine is shifted by it and has no sine. On average over phases
    2 cos(a + phase) cos(b + phase) is cos(a − b): half the weight of a pair, so that D counts it as one half.
    """
    n, n_cosines = X.shape[0], frequencies.shape[1]
    n_pairs = n_cosines - (phase is not None)
    out = np.empty((n, n_cosines + n_pairs), X.dtype)
    scale = X.dtype.type(np.sqrt(2 * amplitude / out.shape[1]))
    shift = center @ frequencies

    def fill(rows: slice) -> None:
        angles, sines = out[rows, :n_cosines], out[rows, n_cosines:]
        if issparse(X):
            angles[...] = X[rows] @ frequencies
            angles -= shift
        else:
            np.matmul(X[rows] - center, frequencies, out=angles)
        if phase is not None:
            angles[:, -1] += X.dtype.type(phase)
        np.sin(angles[:, :n_pairs], out=sines)
        np.cos(angles, out=angles)
        out[rows] *= scale

    length = max(1, tiles.TILE_BYTES // (out.shape[1] * out.itemsize))
    tiles.run_threaded(fill, list(tiles.slices(n, length)), entries=float(out.size))
    return out
