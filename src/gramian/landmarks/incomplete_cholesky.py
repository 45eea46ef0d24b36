"""Which rows does an incomplete Cholesky factorisation take as pivots? Those that the rows taken before explain least.

Needs the diagonal of the Gram matrix and the columns of the pivots, never n×n. :class:`gramian.landmarks.Nystroem`
uses the pivots as landmarks; the product of its features is then the product of the incomplete Cholesky factor.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from scipy.linalg import solve_triangular

from gramian.checks import real, whole
from gramian.configuration import require_memory
from gramian.grams import tiles
from gramian.grams.features import squared_norms
from gramian.kernels import Kernel
from gramian.typing import Array, Matrix

_LEAST, _MOST = 32, 256  # rows proposed together: fewer waste GEMM's speed, more are rejected more often


class IncompleteCholesky(NamedTuple):
    """An incomplete Cholesky factorisation K ≈ G Gᵀ, from the columns of a few pivots.

    Attributes
    ----------
    pivots : ndarray (r,) of int
        Rows of X, in the order taken.
    factor : ndarray (n, r)
        G, with G[pivots] lower triangular.
    residual : ndarray (n,)
        The diagonal of K − G Gᵀ; zero at the pivots. Its sum is the residual trace, and no entry of K − G Gᵀ is larger
        than the largest one.
    """

    pivots: Array
    factor: Array
    residual: Array


def incomplete_cholesky(
    kernel: Kernel, X: Matrix, m: int, rng: np.random.Generator, *, tol: float = 0.0
) -> IncompleteCholesky:
    """Factorise K ≈ G Gᵀ by at most m pivots (incomplete Cholesky factorisation).

    A pivot is drawn with a probability in proportion to the residual diagonal d = diag(K − G Gᵀ) that the pivots
    before it leave. Taking always the largest residual goes for outliers: of 1,500 rows in clusters of very different
    size, 60 random pivots leave a trace of 24, the largest 99, uniform rows 80; of a normal cloud 106, 222, 108.

    Pivots are proposed in blocks from the residual at the start of the block, and each is kept with probability
    (residual now) / (residual at the start): the same distribution as one by one, at the speed of matrix products.
    Cost O(n m²) and m kernel columns.

    Parameters
    ----------
    kernel : fitted Kernel
        Positive semi-definite.
    X : array or CSR (n, d)
    m : int
        Pivots, at most n. Fewer where the rank of K is less.
    rng : numpy.random.Generator
    tol : float, default 0
        Stop where the residual trace is below this share of the trace of K.

    Returns
    -------
    found : IncompleteCholesky

    References
    ----------
    Chen, Epperly, Tropp, Webber (2025). Randomly pivoted Cholesky: practical approximation of a kernel matrix with few
    entry evaluations. CPAM.

    Epperly, Tropp, Webber (2024). Embrace rejection: kernel matrix approximation by accelerated randomly pivoted
    Cholesky. arXiv:2410.03969.

    Examples
    --------
    >>> import numpy as np
    >>> from gramian.kernels import RBF
    >>> X = np.repeat([[0.0], [1.0], [5.0]], 100, axis=0)  # three distinct rows: rank three
    >>> found = incomplete_cholesky(RBF(width=1.0), X, 10, np.random.default_rng(0))
    >>> found.factor.shape, bool(found.residual.sum() < 1e-9)
    ((300, 3), True)
    """
    n = X.shape[0]
    whole(m, "m", most=n)
    real(tol, "tol", least=0, below=1)
    require_memory(
        float(n) * m * X.dtype.itemsize, f"the {n}×{m} Cholesky factor", "choose from a part of the rows, or fewer rows"
    )
    residual = np.maximum(kernel._diagonal(X).astype(np.float64), 0)
    trace = float(residual.sum())
    # As in pivoted_cholesky: what rounding of the kernel values leaves is no pivot.
    tiny = (1e-10 if X.dtype == np.float64 else 1e-5) * float(residual.max())
    pivots, factor = np.empty(0, np.intp), np.empty((n, m), X.dtype)
    while len(pivots) < m and residual.sum() > tol * trace:
        r = len(pivots)
        chances = np.where(residual > tiny, residual, 0.0)
        if not chances.any():
            break
        n_proposed = min(max(_LEAST, min(_MOST, m // 4)), n)
        proposed = rng.choice(n, n_proposed, p=chances / chances.sum())
        new, L = _accepted(kernel, X[proposed], factor[proposed, :r], residual[proposed], m - r, tiny, rng)
        new = proposed[new]
        columns = factor[:, r : r + len(new)]
        columns[...] = tiles.block(kernel, X, X[new], X.dtype)
        columns -= factor[:, :r] @ factor[new, :r].T
        columns[...] = solve_triangular(L, columns.T, lower=True, check_finite=False).T
        residual -= squared_norms(columns)
        pivots = np.concatenate([pivots, new])
        np.maximum(residual, 0, out=residual)
        residual[pivots] = 0  # exactly: a row is explained by itself
    return IncompleteCholesky(pivots, np.ascontiguousarray(factor[:, : len(pivots)]), residual)


def _accepted(
    kernel: Kernel, rows: Matrix, known: Array, start: Array, most: int, tiny: float, rng: np.random.Generator
) -> tuple[Array, Array]:
    """Which of the proposed rows become pivots, and the Cholesky factor L of their residual matrix.

    ``known`` are their rows of the factor so far, ``start`` their residuals when they were drawn.
    """
    S = tiles.block(kernel, rows, None, rows.dtype).astype(np.float64)
    S -= known.astype(np.float64) @ known.T.astype(np.float64)
    limits = start * rng.random(len(start))
    # Column j of G holds what accepted row j gives to the factor of all proposed rows.
    G = np.zeros((len(start), min(most, len(start))))
    taken: list[int] = []
    for i in range(len(start)):
        if len(taken) == G.shape[1]:
            break
        column = S[:, i] - G[:, : len(taken)] @ G[i, : len(taken)]
        if column[i] > max(limits[i], tiny):
            G[:, len(taken)] = column / np.sqrt(column[i])
            taken.append(i)
    if not taken:  # rounding: the residual known at the start is not in S
        taken, G[:, 0] = [int(np.argmax(start))], 0
        G[taken[0], 0] = np.sqrt(start[taken[0]])
    index = np.array(taken)
    return index, np.tril(G[index, : len(index)])
