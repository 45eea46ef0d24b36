"""Pre-images: from scores in feature space back to rows, by regression or by a fixed point."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from scipy.sparse import issparse
from sklearn.neighbors import NearestNeighbors
from sklearn.utils.validation import check_array

from gramian.configuration import memory_budget
from gramian.grams import tiles
from gramian.grams.features import squared_norms
from gramian.kernels import RBF, Kernel
from gramian.kernels.profile import Profile, beta_sides, beta_tile
from gramian.landmarks import NormalEquations, Nystroem
from gramian.randomness import generator
from gramian.typing import Array, Matrix, RandomState

_ATTEMPTS = 3
_TINY = 1e-12


class RidgePreimage:
    """Kernel ridge regression from scores to rows, through landmarks so that it never needs n×n.

    Parameters
    ----------
    embedding : ndarray (n, k)
        Scores of the fitted samples.
    X : ndarray (n, d)
        The fitted samples.
    ridge : float
        Regularisation, relative to the mean square of a feature.
    n_landmarks : int
        With as many landmarks as samples this is plain kernel ridge regression.
    """

    def __init__(
        self, embedding: Array, X: Array, ridge: float, n_landmarks: int = 500, random_state: RandomState = 0
    ) -> None:
        self.map = Nystroem(min(n_landmarks, len(X)), kernel=RBF(), random_state=random_state).fit(embedding)
        self.mean = X.mean(axis=0)
        sums, squares = NormalEquations(), 0.0
        for rows, F in self.map._factor(embedding).chunks():
            sums.add(F, X[rows] - self.mean)
            squares += float(squared_norms(F).sum(dtype=np.float64))
        coefficients, _ = sums.solve(ridge * squares / len(sums.feature_mean), fit_intercept=False)
        self.coefficients = coefficients.astype(X.dtype, copy=False)

    def __call__(self, Z: Array) -> Array:
        return self.map.features(Z) @ self.coefficients + self.mean


def fixed_point(
    kernel: Kernel,
    X: Array,
    G: Array,
    start: Array,
    *,
    max_iter: int = 100,
    tol: float = 1e-6,
    random_state: RandomState = 0,
) -> Array:
    """Rows z with φ(z) nearest to Σ_i g_i φ(x_i), for a kernel f(‖x − y‖²) that falls with the distance.

    Iterates z ← Σ_i g_i s_i x_i / Σ_i g_i s_i with s_i = f′(‖z − x_i‖²) / f′(0), which is k(z, x_i) for the Gaussian
    kernel. Where the denominator vanishes the row starts again from ``start`` plus a little noise; after three failures
    it stays there.

    Parameters
    ----------
    kernel : Kernel
        Fitted, with the profile f.
    G : ndarray (q, n)
        One row of coefficients per wanted pre-image.
    start : ndarray (q, d)
        First guesses, and what to return on failure.
    """
    rng = generator(random_state)
    profile = kernel.profile()
    assert profile is not None  # check_preimage saw to it
    steepest = _slope_at_zero(profile)
    Z = start.copy()
    spread = X.std(axis=0)
    failures = np.zeros(len(Z), int)
    active = np.arange(len(Z))
    for _ in range(max_iter):
        beta = beta_tile("distance", *beta_sides("distance", Z[active], X), profile.resolution)
        weights = profile.derivative(beta) * (G[active] / steepest)
        total = weights.sum(axis=1)
        good = np.abs(total) > _TINY
        moved = np.divide(weights @ X, total[:, None], out=Z[active].copy(), where=good[:, None])
        bad = active[~good]
        failures[bad] += 1
        moved[~good] = start[bad] + 0.01 * spread * rng.standard_normal((len(bad), X.shape[1])).astype(X.dtype)
        lost = failures[active] >= _ATTEMPTS
        moved[lost] = start[active[lost]]
        step = np.linalg.norm(moved - Z[active], axis=1)
        done = good & (step <= tol * np.maximum(np.linalg.norm(moved, axis=1), _TINY))
        Z[active] = moved
        active = active[~(done | lost)]
        if not len(active):
            break
    return Z


def _slope_at_zero(profile: Profile) -> float:
    with np.errstate(all="ignore"):  # infinite for a kernel that is not smooth
        return float(profile.derivative(np.zeros(1))[0])


def check_preimage(kind: str | None, X: Matrix, kernel: Kernel) -> None:
    """Refuse a way back that the samples or the kernel do not have."""
    if kind is None:
        return
    if kernel.pairwise or issparse(X):
        raise ValueError(f"preimage={kind!r} needs dense samples, not similarities or sparse X; pass None")
    if kind == "fixed_point":
        profile = kernel.profile()
        falls = profile is not None and profile.decreasing and -np.inf < _slope_at_zero(profile) < 0
        if not (falls and kernel.definite):
            raise ValueError(
                "preimage='fixed_point' needs a definite kernel that falls smoothly with the distance, such as 'rbf'; "
                "use preimage='ridge'"
            )


def check_scores(Z: Array, n_components: int) -> Array:
    """Scores as ``inverse_transform`` takes them."""
    Z = check_array(Z, dtype=[np.float64, np.float32], input_name="Z")
    if Z.shape[1] != n_components:
        raise ValueError(f"Z has {Z.shape[1]} columns but the model has n_components_={n_components}")
    return Z


def fixed_points(kernel: Kernel, X: Array, embedding: Array, Z: Array, coefficients: Callable[[Array], Array]) -> Array:
    """Rows whose images are nearest to Σ_i g_i φ(x_i) with g = ``coefficients(z)`` for the rows z of Z, strip by strip.

    The iteration starts from the fitted sample whose scores are nearest.
    """
    start = X[nearest_rows(embedding, Z)]
    found = np.empty_like(start)
    strip = max(1, min(tiles.TILE_BYTES, memory_budget() // 4) // X[:, 0].nbytes)
    for rows in tiles.slices(len(Z), strip):
        found[rows] = fixed_point(kernel, X, coefficients(Z[rows]), start[rows])
    return found


def nearest_rows(embedding: Array, Z: Array) -> Array:
    """Index of the fitted sample whose scores are nearest to each row of Z."""
    index: Array = NearestNeighbors(n_neighbors=1).fit(embedding).kneighbors(Z, return_distance=False)[:, 0]
    return index
