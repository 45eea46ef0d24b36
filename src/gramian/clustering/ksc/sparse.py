"""A kernel spectral clustering model on few rows: landmarks, a reduced set, or rows chosen by a group lasso.

Landmarks approximate the kernel before the eigenproblem is solved, at a cost linear in the rows. The other two
approximate a solved model, e(x) = Σ_i α_i k(x, x_i) + b, by one on fewer rows. All end in a :class:`ScoreModel`.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
from scipy.sparse.csgraph import connected_components

from gramian.clustering.ksc.model import Eigenproblem, ScoreModel
from gramian.grams import Gram, tiles
from gramian.grams.dense import DenseGram
from gramian.kernels import Expansion, Kernel
from gramian.landmarks import Nystroem
from gramian.typing import Array, Matrix

REDUCTIONS = (None, "cholesky", "reduced_set", "group_lasso")
_PIVOT_ROWS = 5000  # rows, or ten for each pivot, that the pivots of a larger table are chosen from
_BLOCK = 2**21  # similarities to landmarks looked at together
_RIDGE = 1e-10  # of the largest similarity, for rows of the reduced set that are almost alike
_STEPS = 100  # of the group lasso at each strength
_STRENGTHS = 0.7 ** np.arange(1, 40)  # of the one that leaves nothing


def landmark_kernel(kernel: Kernel, m: int, seed: int) -> Nystroem:
    """The kernel seen through m rows: pivots of an incomplete Cholesky factorisation, or random rows.

    Pivots need a positive semi-definite kernel; an indefinite one has features of both signs from random rows.
    """
    selection = "cholesky" if kernel.definite else "uniform"
    return Nystroem(m, kernel=kernel, selection=selection, random_state=seed)


def pivot_rows(n: int, m: int, rng: np.random.Generator) -> Array | None:
    """Some rows to choose m pivots from, for all of them would take an n×m array and most of the time; None for all."""
    enough = max(_PIVOT_ROWS, 10 * m)
    return None if n <= enough else np.sort(rng.choice(n, enough, replace=False))


def large_parts(landmarks: Nystroem, X: Matrix, least: float) -> Array | None:
    """Mask (n,) of the rows in parts of at least so many rows; None where all rows hang together.

    Pivots are first of all outliers. One that is similar to itself alone has an eigenvalue of 1 and would take an axis
    from the clusters. Two landmarks are in one part if they are similar, or if a row is similar to both; a row is in
    the part of the landmark that it is most similar to. Similarities within rounding are none.
    """
    kernel, m = landmarks.kernel_, landmarks.landmarks_.shape[0]
    within = np.abs(tiles.block(kernel, landmarks.landmarks_, None, X.dtype))
    least_similar = 100 * float(np.finfo(within.dtype).eps) * float(within.max())
    links = (within > least_similar).astype(np.float32)
    if connected_components(links, directed=False)[0] == 1:
        return None
    nearest = np.full(X.shape[0], m)  # m: similar to no landmark
    for rows in tiles.slices(X.shape[0], max(1, _BLOCK // m)):
        similar = np.abs(tiles.block(kernel, X[rows], landmarks.landmarks_, X.dtype))
        linked = (similar > least_similar).astype(np.float32)
        links += linked.T @ linked
        nearest[rows] = np.where(linked.any(axis=1), similar.argmax(axis=1), m)
    parts = np.append(connected_components(links > 0, directed=False)[1], -1)[nearest]
    sizes = np.bincount(parts[parts >= 0], minlength=1)
    large: Array = (parts >= 0) & (sizes[parts] >= least)
    return large


def landmark_model(problem: Eigenproblem, landmarks: Nystroem, X: Matrix, gram: Gram | None = None) -> ScoreModel:
    """The model of a landmark kernel as an expansion in the landmarks alone.

    φ(x)·w = Σ_j k(x, landmark_j) β_j, so a new row is compared with the landmarks and needs no features.
    """
    model = problem.model(landmarks, X, gram)
    weights = model.expansion.weights
    assert weights is not None
    coefficients = landmarks.landmark_coefficients(weights)
    return replace(model, expansion=Expansion(landmarks.kernel_, landmarks.landmarks_, coefficients))


@dataclass(frozen=True)
class Reduced:
    """A model on a few of the fitted rows.

    Attributes
    ----------
    rows : ndarray of int (r,)
        In increasing order.
    coefficients : ndarray (r, q)
        ζ of e(x) = Σ_j ζ_j k(x, x_j) + b.
    model : ScoreModel
    """

    rows: Array
    coefficients: Array
    model: ScoreModel


def reduced_set(problem: Eigenproblem, kernel: Kernel, X: Matrix, gram: Gram, rows: Array) -> Reduced:
    """The model on given rows ψ that comes nearest to the full one in feature space.

    ζ = (K_ψψ + ridge)⁻¹ K_ψ· α, and b̃ makes the weighted mean of the scores zero again. With all rows it is the full
    model.

    Parameters
    ----------
    problem : Eigenproblem
    kernel : fitted Kernel
    X : array or CSR (n, d)
    gram : Gram
    rows : ndarray of int (r,)
    """
    inside = problem.degrees.inside.astype(gram.dtype)
    wanted = gram @ np.column_stack([problem.coefficients, inside])
    block = gram.block(rows, rows)
    ridge = _RIDGE * max(float(np.abs(block).max()), np.finfo(np.float64).tiny)
    if gram.dtype == np.float32:
        ridge *= 1e5
    found = DenseGram(block).factorization(ridge).solve(wanted[rows]).astype(gram.dtype)
    spread = np.zeros((gram.shape[0], found.shape[1]), gram.dtype)
    spread[rows] = found
    weights = problem.degrees.weights.astype(gram.dtype)
    intercept = -(weights @ (gram @ spread[:, :-1])) / weights.sum()
    model = problem.model(kernel, X, gram)
    if kernel.pairwise or kernel.sparse_blocks:  # whose values are known between all rows only
        expansion = Expansion(kernel, X, spread, gram=gram)
    else:
        expansion = Expansion(kernel, X[rows], found)
    # Degrees are approximated too, with either sign, so that only those that are nearly zero tell a row like nothing.
    some = len(rows) < gram.shape[0]
    model = replace(model, expansion=expansion, intercept=intercept, of_either_sign=some)
    return Reduced(rows, found[:, :-1], model)


def quantile_rows(scores: Array, labels: Array, prototypes: Array, m: int) -> Array:
    """About m rows that cover every cluster: quantiles of the scores along its prototype, in proportion to its size.

    Parameters
    ----------
    scores : ndarray (n, q)
    labels : ndarray (n,)
        −1 for rows without a cluster.
    prototypes : ndarray (k, q)
    m : int
        At least one row per cluster is taken.
    """
    sizes = np.bincount(labels[labels >= 0], minlength=len(prototypes))
    chosen = []
    for cluster, size in enumerate(sizes):
        members = np.flatnonzero(labels == cluster)
        count = min(size, max(1, round(m * size / sizes.sum())))
        order = members[np.argsort(scores[members] @ prototypes[cluster], kind="stable")]
        chosen.append(order[np.round(np.linspace(0, size - 1, count + 2)[1:-1] if count < size else np.arange(size))
                            .astype(np.intp)])  # fmt: skip
    return np.unique(np.concatenate(chosen))


def group_lasso_rows(problem: Eigenproblem, gram: Gram, m: int) -> Array:
    """The m rows that a group lasso keeps longest.

    Minimises Σ_l (α_l − ζ_l)ᵀ K (α_l − ζ_l) + μ Σ_i ‖ζ_i‖ over coefficients ζ (n, q) by FISTA, for falling μ until m
    rows have a coefficient.

    Parameters
    ----------
    problem : Eigenproblem
    gram : Gram
        Positive semi-definite.
    m : int

    References
    ----------
    Mall, Mehrkanoon, Langone, Suykens (2014). Optimal reduced sets for sparse kernel spectral clustering. IJCNN.
    """
    n = gram.shape[0]
    if m >= n:
        return np.arange(n)
    alpha = problem.coefficients.astype(np.float64)
    target = np.asarray(gram @ alpha, np.float64)
    ends = [float(gram.eigenpairs(1, which, tol=1e-3)[0][0]) for which in ("largest", "smallest")]
    if ends[1] < -1e-6 * ends[0]:
        raise ValueError(
            f"reduction='group_lasso' needs a positive semi-definite kernel but this has the eigenvalue {ends[1]:.3g};"
            " use reduction='reduced_set'"
        )
    step = 1 / (2.02 * ends[0])
    strongest = 2 * float(np.linalg.norm(target, axis=1).max())
    zeta = np.zeros_like(alpha)
    for share in _STRENGTHS:
        zeta = _fista(gram, target, zeta, share * strongest, step)
        if int(zeta.any(axis=1).sum()) >= m:
            break
    sizes = np.linalg.norm(zeta, axis=1)
    return np.sort(np.argsort(-sizes, kind="stable")[:m])


def _fista(gram: Gram, target: Array, start: Array, strength: float, step: float) -> Array:
    """Accelerated proximal gradient descent; the gradient of the quadratic form is 2 (K ζ − K α)."""
    current, ahead, momentum = start, start, 1.0
    for _ in range(_STEPS):
        moved = ahead - 2 * step * (np.asarray(gram @ ahead, np.float64) - target)
        sizes = np.linalg.norm(moved, axis=1, keepdims=True)
        new = moved * np.maximum(1 - step * strength / np.maximum(sizes, np.finfo(np.float64).tiny), 0)
        following = (1 + np.sqrt(1 + 4 * momentum**2)) / 2
        ahead = new + (momentum - 1) / following * (new - current)
        change = float(np.abs(new - current).max())
        current, momentum = new, following
        if change <= 1e-5 * float(np.abs(current).max(initial=0.0)):
            break
    return current
