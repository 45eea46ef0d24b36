"""The random walk with restarts on the samples of a Gram, and its exact scores on any kind of Gram.

A :class:`Walk` is a Gram whose entries were checked to be transition probabilities up to their row sums. It adds what a
Markov chain has (stationary distribution, trivial eigenvector) to ``gram.normalized()``, the operator D^-½ K D^-½ that
has its eigenvectors and refuses negative degrees. :func:`exact_scores` solves for personalised PageRank. The walk of a
graph, which may be directed, is :class:`gramian.ranking.graphs.graph_walk.GraphWalk`.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

import numpy as np
from scipy.sparse import issparse

from gramian.configuration import memory_budget
from gramian.grams import Gram
from gramian.grams.tiles import slices
from gramian.kernels import Kernel
from gramian.typing import Array, Matrix

if TYPE_CHECKING:
    from gramian.ranking.kernel_walk.components import Spectrum

_SCANNED_SAMPLES = 8000  # up to here every similarity is looked at; beyond, those of some rows
_DIRECT_SAMPLES = 500  # below, factorising is a matter of milliseconds
_DUAL_FEATURES = 2000  # above, the m×m system of the features costs more than the iteration
_APPROXIMATE_SHARE = 0.01  # negative part that approximate features may leave of a kernel that has none
_METHODS = {"cg": "cg", "cholesky": "cholesky", "woodbury": "dual"}  # as gram.factorization calls them


class Walk:
    """A Gram read as a Markov chain: from sample i to sample j with probability P_ij = K_ij / d_i.

    Parameters
    ----------
    gram : Gram
        K, with entries >= 0 and no row of zeros; refused otherwise.
    approximate : bool, default False
        Whether K only approximates such a matrix, as landmarks and Fourier features do: a small share of it may then
        be negative.

    Attributes
    ----------
    degrees : ndarray (n,)
        d = K 1, in float64.
    volume : float
        Σ_i d_i.
    roots : ndarray (n,)
        √d.
    base_scores : ndarray (n,)
        d / volume: the stationary distribution, which a walk without restarts ends in.
    trivial : ndarray (n,)
        √(d / volume), the eigenvector of D^-½ K D^-½ for the eigenvalue 1 that every walk has.
    normalized : NormalizedGram
        D^-½ K D^-½.
    """

    def __init__(self, gram: Gram, *, approximate: bool = False) -> None:
        self.gram = gram
        self.degrees = gram.degrees().astype(np.float64)
        if not np.isfinite(self.degrees).all():
            raise ValueError("the kernel gives similarities that are not finite; check X and scale its columns")
        _check_entries(gram, approximate)
        self.normalized = gram.normalized()
        _check_degrees(self.degrees)
        self.volume = float(self.degrees.sum())
        self.roots = np.sqrt(self.degrees)
        self.base_scores = self.degrees / self.volume
        self.trivial = np.sqrt(self.base_scores)


def odds(restart: float) -> float:
    """β = α / (1 − α) of the restart probability α."""
    return restart / (1 - restart)


def exact_scores(
    walk: Walk,
    seeds: Matrix,
    restart: float,
    *,
    solver: str = "auto",
    spectrum: Spectrum | None = None,
    tol: float | None = None,
) -> Array:
    """Personalised PageRank of every sample, for each column of restart probabilities.

    The scores solve π = (1 − α) Pᵀ π + α s, in symmetric form π = α D^½ y with (I − (1 − α) D^-½ K D^-½) y = D^-½ s.
    The trivial eigenvector's part of y is known (it makes the base scores), so the rest is solved orthogonally to it.

    Parameters
    ----------
    walk : Walk
    seeds : ndarray or sparse (n, q)
        Columns s; their sums are kept, so columns of sum one give scores of sum one.
    restart : float
        α in (0, 1).
    solver : {"auto", "cg", "cholesky", "woodbury"}
        Conjugate gradients by products with K; a factorised n×n matrix; or, with K = F Fᵀ, an m×m one.
    spectrum : Spectrum, optional
        Eigenpairs of the walk that are known: conjugate gradients start from the scores they give and have little
        left to do.
    tol : float, optional
        Residual at which conjugate gradients stop, relative to D^-½ s; default 1e-12, or 1e-6 for float32 Grams.

    Returns
    -------
    scores : ndarray (n, q)
    """
    n, q = seeds.shape
    if solver == "auto":
        solver = _choose(walk, q)
    scores = np.empty((n, q))
    solve = _solver(walk, restart, solver, spectrum, tol)
    # A few thin arrays per block, whatever the number of queries.
    for columns in slices(q, int(max(1, min(256, memory_budget() // (64 * n))))):
        part = seeds[:, columns]
        part = part.toarray() if issparse(part) else np.asarray(part, np.float64)
        right = part / walk.roots[:, None]
        right -= np.outer(walk.trivial, walk.trivial @ right)
        solution = solve(right)
        solution -= np.outer(walk.trivial, walk.trivial @ solution)
        scores[:, columns] = np.outer(walk.base_scores, part.sum(axis=0)) + restart * walk.roots[:, None] * solution
    return scores


def _choose(walk: Walk, q: int) -> str:
    n, factor = walk.gram.shape[0], walk.gram.factor
    if n <= _DIRECT_SAMPLES:
        return "cholesky"
    if factor is not None and factor.shape[1] <= min(n, _DUAL_FEATURES, 50 * q):
        return "woodbury"
    return "cg"


def _solver(
    walk: Walk, restart: float, solver: str, spectrum: Spectrum | None, tol: float | None
) -> Callable[[Array], Array]:
    """A function that solves (I − (1 − α) D^-½ K D^-½) Y = B."""
    going_on = 1 - restart
    if solver not in _METHODS:
        raise ValueError(f"solver={solver!r} is not known; pass one of 'auto', 'cg', 'cholesky', 'woodbury'")
    if solver == "woodbury" and walk.normalized.factor is None:
        raise ValueError("solver='woodbury' needs a kernel with finite features; use solver='cg'")
    # Eigenvectors that are known save more products than landmarks, so conjugate gradients get no preconditioner.
    system = walk.normalized.scaled(-going_on).factorization(1.0, _METHODS[solver], preconditioner=0)
    goal = (1e-12 if walk.gram.dtype == np.float64 else 1e-6) if tol is None else tol

    def solve(B: Array) -> Array:
        start = None
        if solver == "cg" and spectrum is not None and len(spectrum.values):
            share = 1 / (1 - going_on * spectrum.values.astype(np.float64))
            start = spectrum.vectors @ (share[:, None] * (spectrum.vectors.T @ B))
        return system.solve(B, start=start, tol=goal)

    return solve


def cross_similarities(kernel: Kernel, gram: Gram, fitted: Matrix, new: Matrix) -> Array:
    """K(fitted, new), shape (n, n_new), through the features that the Gram already holds where it has some."""
    if kernel.pairwise:
        block = new.T
    elif gram.factor is not None and kernel.has_features:
        features = kernel.features(new)
        block = gram.factor.product(np.ascontiguousarray((features.toarray() if issparse(features) else features).T))
    else:
        block = kernel(new, fitted).T
    return np.asarray(block.toarray() if issparse(block) else block, np.float64)


def _check_entries(gram: Gram, approximate: bool) -> None:
    """Refuse negative similarities; of very many, some rows are looked at and ``normalized()`` looks at the sums."""
    if _is_negative(gram, approximate):
        raise ValueError(
            "the kernel gives negative similarities, which cannot be probabilities of a walk; use one with values >= 0 "
            "such as kernel='cluster', 'rbf' or 'neighbors', and do not centre it"
        )


def _check_degrees(degrees: Array) -> None:
    """Refuse samples that a walk cannot leave."""
    alone = np.flatnonzero(degrees <= 0)
    if len(alone):
        who = "1 sample is" if len(alone) == 1 else f"{len(alone)} samples are"
        raise ValueError(
            f"{who} similar to nothing, not even to itself (degree zero; the first is sample {alone[0]}), so a walk "
            "cannot leave it; drop such samples, widen the kernel, raise n_neighbors or add 1 to their diagonal"
        )


def _is_negative(gram: Gram, approximate: bool) -> bool:
    """Whether similarities are negative beyond rounding, from all of them or, of very many, from some rows."""
    rounding = (1e-12 if gram.dtype == np.float64 else 1e-6) * float(np.abs(gram.diagonal()).max(initial=0.0))
    factor, least = gram.factor, gram.least()
    if least is not None and least >= -rounding:
        return False
    if factor is not None and all(chunk.min() >= 0 for _, chunk in factor.chunks()):
        return False
    n = gram.shape[0]
    length = max(1, min(32_000_000, memory_budget()) // (n * gram.dtype.itemsize))
    if least is not None or (factor is None and n <= _SCANNED_SAMPLES):
        blocks = [np.arange(rows.start, rows.stop) for rows in slices(n, length)]
    else:
        blocks = [np.unique(np.linspace(0, n - 1, min(n, length, 256)).astype(np.intp))]
    for index in blocks:
        rows = gram.rows(index)
        if float(rows.min()) >= -max(rounding, 1e-12 * float(rows.max())):
            continue
        # Landmarks and Fourier features of a kernel >= 0 dip a little below zero where it is next to nothing.
        if not approximate or -np.minimum(rows, 0).sum() > _APPROXIMATE_SHARE * np.abs(rows).sum():
            return True
    return False
