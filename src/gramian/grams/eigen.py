"""The one place where eigenproblems are solved.

Every task asks a Gram for its leading eigenpairs; here the cheapest faithful method is chosen:

=========  ========================================================  =========================================
method     how                                                       chosen for
=========  ========================================================  =========================================
lapack     dense ``eigh`` of the wanted range                        small n, or k a large part of n
dual       ``eigh`` of FᵀF (m×m), then V = F W Λ^-½                  K = F Fᵀ with few features
           ``eigh`` of R J Rᵀ with F = Q R, then V = F J Rᵀ Y Λ^-1   K = F J Fᵀ with few features
krylov     block Krylov subspace, thick restarts                     everything else, also indefinite
=========  ========================================================  =========================================

ARPACK is not among them: one vector at a time it reads a dense K once per vector instead of once per block, and it
needs luck to find all copies of a repeated eigenvalue, which graphs have. On graphs with small gaps and none repeated
it is the faster one. ``benchmarks/eigensolvers.py`` measures both.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable
from typing import TYPE_CHECKING

import numpy as np
from scipy.linalg import eigh, eigvalsh, qr
from scipy.sparse import issparse
from scipy.sparse.linalg import LinearOperator
from sklearn.exceptions import ConvergenceWarning

from gramian.configuration import memory_budget
from gramian.grams.tiles import slices
from gramian.randomness import generator
from gramian.typing import Array, RandomState

if TYPE_CHECKING:
    from gramian.grams.base import Gram, Which
    from gramian.grams.distributed import DistributedFactor
    from gramian.grams.features import Factor

_LAPACK_SIZE = 500  # below this LAPACK takes milliseconds and is exact
_SMALLEST_SIZE = 4000  # the same for the smallest eigenvalues, where LAPACK takes seconds and the iteration minutes
_DUAL_SIZE = 3000  # above this the m×m eigenproblem costs more than the iteration
_NARROW = 16  # vectors of a block at most where a product costs little more than touching them
_MAX_PRODUCTS = 2000  # block products before the iteration gives up


def eigenpairs(
    gram: Gram,
    k: int,
    which: Which = "largest",
    *,
    tol: float | None = None,
    known: Array | None = None,
    method: str = "auto",
    random_state: RandomState = 0,
) -> tuple[Array, Array]:
    """The k leading eigenvalues of a Gram and their eigenvectors.

    Parameters
    ----------
    gram : Gram
        Symmetric operator, definite or not.
    k : int
        How many pairs.
    which : {"largest", "magnitude", "smallest"}
        Largest first, largest absolute value first, or smallest first.
    tol : float, optional
        Wanted residual ‖K v − λ v‖ relative to |λ| (for "smallest" to the largest |λ|). An eigenvalue is then right
        to tol, with a clear gap to about tol², and an eigenvector to about tol over its relative gap. Default 1e-7
        for float64, 1e-4 for float32. Only "krylov" uses it, the other methods are exact.
    known : ndarray (n, q), optional
        Orthonormal eigenvectors that are known already; the returned ones are orthogonal to them.
    method : {"auto", "lapack", "dual", "krylov"}
        See the table in the module's docstring.
    random_state : int, Generator or None
        For the random starting block.

    Returns
    -------
    values : ndarray (k,)
    vectors : ndarray (n, k)
        Orthonormal columns, each with its entry of largest magnitude positive.

    Warns
    -----
    ConvergenceWarning
        If the iteration stops before reaching ``tol``; the message says how far it came.
    """
    n = gram.shape[0]
    n_known = 0 if known is None or known.ndim != 2 else known.shape[1]
    if which not in ("largest", "magnitude", "smallest"):
        raise ValueError(f"which={which!r} must be 'largest', 'magnitude' or 'smallest'")
    if method not in ("auto", "lapack", "dual", "krylov"):
        raise ValueError(f"method={method!r} must be 'auto', 'lapack', 'dual' or 'krylov'")
    _check_known(known, n)
    if not 1 <= k <= n - n_known:
        raise ValueError(f"k={k} eigenpairs asked of {n - n_known}; pass 1 <= k <= {n - n_known}")
    if known is None and which == "largest" and method != "lapack" and n > _LAPACK_SIZE:
        known = gram._known_top(k)
        if known is not None:
            return _complete_known(gram, k, known, tol, method, random_state)
    if method == "auto":
        method = _choose(gram, k, which, n_known)
    if method == "dual":
        signed = gram._signed_factor
        if signed is None or (which == "smallest" and gram.factor is not None) or n_known:
            raise ValueError(
                "method='dual' needs a Gram with features, finds the smallest eigenvalues of indefinite Grams only, "
                "and takes no known vectors; use method='krylov'"
            )
        if gram.factor is not None:
            values, vectors = _dual(gram.factor, k, random_state)
        else:
            values, vectors = _signed_dual(*signed, k, which, random_state)
    elif method == "lapack":
        values, vectors = _lapack(gram.dense(), k, which, known)
    else:
        tol = (1e-7 if gram.dtype == np.float64 else 1e-4) if tol is None else tol
        values, vectors = block_krylov(gram, k, which, tol=tol, known=known, random_state=random_state)
    return values.astype(gram.dtype, copy=False), fix_signs(vectors.astype(gram.dtype, copy=False))


def fix_signs(vectors: Array) -> Array:
    """Flip columns so that the entry of largest magnitude (the first such) is positive."""
    leading = np.argmax(np.abs(vectors), axis=0)
    signs = np.where(vectors[leading, np.arange(vectors.shape[1])] < 0, -1, 1).astype(vectors.dtype)
    return vectors * signs


def order(values: Array, which: Which) -> Array:
    """Indices that sort eigenvalues the way ``which`` asks."""
    return np.argsort(-_key(values, which), kind="stable")


def _key(values: Array, which: Which) -> Array:
    """How much an eigenvalue is wanted."""
    return {"largest": values, "magnitude": np.abs(values), "smallest": -values}[which]


def _check_known(known: Array | None, n: int) -> None:
    if known is None:
        return
    if known.ndim != 2 or known.shape[0] != n or known.shape[1] > n:
        raise ValueError(f"known has shape {known.shape}; pass orthonormal columns of shape ({n}, q)")
    if known.size and np.abs(known.T @ known - np.eye(known.shape[1])).max() > 1e-4:
        raise ValueError("the columns of known are not orthonormal; pass unit eigenvectors, orthogonal to each other")


def _choose(gram: Gram, k: int, which: Which, n_known: int) -> str:
    n = gram.shape[0]
    signed = gram._signed_factor
    solved = signed is not None and (which != "smallest" or gram.factor is None) and not n_known
    if solved and signed is not None and signed[0].shape[1] <= min(n, _DUAL_SIZE):
        return "dual"
    fits = 3.0 * n * n * gram.dtype.itemsize <= memory_budget()
    # The smallest eigenvalues of a kernel lie close together, and an iteration needs very many products for them.
    few = _SMALLEST_SIZE if which == "smallest" and not gram.cheap_products else _LAPACK_SIZE
    return "lapack" if fits and (n <= few or k > n // 10) else "krylov"


def _complete_known(
    gram: Gram, k: int, known: Array, tol: float | None, method: str, random_state: RandomState
) -> tuple[Array, Array]:
    """Largest eigenpairs of which the first ones, of equal eigenvalue, are given."""
    values = np.einsum("ij,ij->j", known, gram @ known)
    vectors = fix_signs(known)
    if (missing := k - known.shape[1]) > 0:
        more = eigenpairs(gram, missing, tol=tol, known=known, method=method, random_state=random_state)
        values, vectors = np.concatenate([values, more[0]]), np.hstack([vectors, more[1]])
    return values, vectors


def _lapack(K: Array, k: int, which: Which, known: Array | None) -> tuple[Array, Array]:
    rest = None
    if known is not None and known.shape[1]:
        # The same problem in an orthonormal basis of what is orthogonal to the known vectors.
        rest = qr(known.astype(K.dtype, copy=False))[0][:, known.shape[1] :]
        K = rest.T @ K @ rest
    n = K.shape[0]
    wanted = {"largest": (n - k, n - 1), "smallest": (0, k - 1), "magnitude": None}[which]
    try:
        values, vectors = eigh(K, subset_by_index=wanted, check_finite=False)
        found = len(values) >= k
    except np.linalg.LinAlgError:
        found = False
    if not found:  # LAPACK's range search fails on eigenvalues of many vectors, as in a multiple of the identity
        values, vectors = eigh(K, driver="evd", check_finite=False)
    best = order(values, which)[:k]
    values, vectors = values[best], vectors[:, best]
    return values, vectors if rest is None else rest @ vectors


def _dual(factor: Factor, k: int, random_state: RandomState) -> tuple[Array, Array]:
    """Eigenpairs of F Fᵀ from those of Fᵀ F: the same eigenvalues, V = F W Λ^-½."""
    m = factor.shape[1]
    values, W = eigh(factor.dual(), subset_by_index=(max(0, m - k), m - 1), check_finite=False)
    values, W = values[::-1], W[:, ::-1]
    solid = values > m * np.finfo(factor.dtype).eps * max(float(values[0]), 0.0)
    values, W = values[solid], W[:, solid]
    # Small eigenvalues leave V orthonormal only to eps λ_1/λ; the singular values of QᵀF put that right.
    Q = np.linalg.qr(factor.product(np.ascontiguousarray(W / np.sqrt(values))))[0]
    rotation, lengths, _ = np.linalg.svd(factor.transposed_product(Q).T, full_matrices=False)
    values, vectors = lengths**2, Q @ rotation
    missing = k - len(values)
    if missing:  # rank below k: the rest of the pairs are zero eigenvalues with any orthonormal vectors
        extra = generator(random_state).standard_normal((factor.shape[0], missing))
        vectors = np.hstack([vectors, orthonormalize(extra, vectors.astype(np.float64))[0]])
        values = np.concatenate([values, np.zeros(missing, values.dtype)])
    return values, vectors


def dual_axes(factor: DistributedFactor, k: int) -> tuple[Array, Array]:
    """The largest eigenvalues of F Fᵀ and axes A (m, k) such that F A are its eigenvectors.

    For features of which no product is in one place. One pass gives the dual, another one what rounding in it leaves
    to put right, as in memory, and the signs. Fewer than k where the rank is lower.
    """
    m, k = factor.shape[1], min(k, *factor.shape)
    values, W = eigh(factor.dual(), subset_by_index=(m - k, m - 1), check_finite=False)
    values, W = values[::-1].astype(np.float64), W[:, ::-1].astype(np.float64)
    solid = values > m * np.finfo(factor.dtype).eps * max(float(values[0]), 0.0)
    W = W[:, solid] / np.sqrt(values[solid])
    if not W.size:
        return np.empty(0), W
    image, squares, low, high = factor.spanned(W)
    # Q = F W (BᵀB)^-½ is orthonormal, and the singular values of QᵀF are those of F in its span.
    lengths, axes = np.linalg.eigh(squares)
    whitening = (axes / np.sqrt(lengths)) @ axes.T
    rotation, roots, _ = np.linalg.svd((image @ whitening).T, full_matrices=False)
    turn = whitening @ rotation
    kept, reach = np.diag(turn), np.maximum(-low, high)
    ends = np.sort(np.stack([low, high]) * kept, axis=0)
    # By so much at most the entries of a column change beside that; it decides about signs only where ends are even.
    moved = reach @ np.abs(turn - np.diag(kept))
    if (np.abs(ends.sum(axis=0)) <= 2 * moved).any():
        ends = np.stack(factor.spanned(W @ turn)[2:])
    low, high = ends
    return roots**2, W @ turn * np.where(-low > high, -1, 1)


def _signed_dual(
    factor: Factor, weights: Array, k: int, which: Which, random_state: RandomState
) -> tuple[Array, Array]:
    """Eigenpairs of F diag(w) Fᵀ from those of the small R diag(w) Rᵀ = Y Θ Yᵀ, where F = Q R.

    Q is not needed: an eigenvector v = Q y is F diag(w) Rᵀ y / θ. FᵀF would do instead of R, but features that
    cancel (F J Fᵀ much smaller than F Fᵀ) would lose half of their digits in it.
    """
    n = factor.shape[0]
    R = triangle(factor)
    theta, Y = eigh((R * weights) @ R.T, check_finite=False)
    size = float(np.einsum("ij,ij,j->", R, R, np.abs(weights)))
    solid = np.abs(theta) > float(np.finfo(factor.dtype).eps) * size
    theta, Y = theta[solid], Y[:, solid]
    # The other n − r eigenvalues are zeros. Their vectors are orthogonal to all others, not only to those asked for.
    leading = order(np.concatenate([theta, np.zeros(n - len(theta))]), which)[:k]
    kept = leading if leading.max() < len(theta) else np.arange(len(theta))
    W = weights[:, None] * (R.T @ Y[:, kept]) / theta[kept]
    V = np.linalg.qr(factor.product(np.ascontiguousarray(W, factor.dtype)).astype(np.float64))[0]
    # Small eigenvalues leave V right only to eps ‖F‖²/θ; the small problem in its span puts that right.
    B = factor.transposed_product(V.astype(factor.dtype)).astype(np.float64)
    values, rotation = np.linalg.eigh((B.T * weights) @ B)
    vectors = V @ rotation
    if len(kept) < k or len(kept) == len(theta):
        missing = min(k, n - len(kept))
        extra = generator(random_state).standard_normal((n, missing))
        vectors = np.hstack([vectors, orthonormalize(extra, vectors)[0]])
        values = np.concatenate([values, np.zeros(missing)])
    best = order(values, which)[:k]
    return values[best], vectors[:, best]


def triangle(factor: Factor) -> Array:
    """R of F = Q R in float64, shape (min(n, m), m), from one pass over the rows of F."""
    m = factor.shape[1]
    R = np.empty((0, m))
    for _, chunk in factor.chunks():
        for rows in slices(chunk.shape[0], max(2048, 4 * m)):
            part = chunk[rows].toarray() if issparse(chunk) else chunk[rows]
            R = np.asarray(np.linalg.qr(np.vstack([R, part.astype(np.float64, copy=False)]), mode="r"))
    return R


def spectrum(gram: Gram) -> Array | None:
    """All n eigenvalues, increasing, where they are cheap: from features, or up to 4,000 samples; None otherwise."""
    n, signed = gram.shape[0], gram._signed_factor
    if signed is not None and signed[0].shape[1] <= min(n, _DUAL_SIZE):
        R = triangle(signed[0])
        values = eigvalsh((R * signed[1]) @ R.T, check_finite=False)
        return np.sort(np.concatenate([values, np.zeros(n - len(values))]))
    if n > _SMALLEST_SIZE or 2.0 * n * n * gram.dtype.itemsize > memory_budget():
        return None
    return np.asarray(eigvalsh(gram.dense(), overwrite_a=True, check_finite=False))


def orthonormalize(V: Array, *against: Array, scale: float = 0.0) -> tuple[Array, Array, list[Array]]:
    """Q, R and parts C with V = Σ_i against_i C_i + Q R, where Q is orthonormal and orthogonal to ``against``.

    Blocks of GEMMs only: project, then orthonormalise through the small VᵀV. The projection is repeated where it
    cancelled digits; once more is enough. Directions of V below the rounding of its largest one (or of ``scale``)
    are dropped, so Q may be narrower than V.
    """
    R = np.eye(V.shape[1])
    parts = [np.zeros((basis.shape[1], V.shape[1])) for basis in against]
    for _ in range(2):
        largest = float(np.einsum("ij,ij->j", V, V).max(initial=0.0))
        for basis, part in zip(against, parts, strict=True):
            along = basis.T @ V
            V = V - basis @ along
            part += along @ R
        V, R, shortest = _whiten(V, R, scale)
        if shortest**2 > 0.25 * largest:
            break
        scale = 0.0  # from here on the directions have unit length, whatever the scale of V was
    V, R, _ = _whiten(V, R, 0.0)
    return V, R, parts


def _whiten(V: Array, R: Array, scale: float) -> tuple[Array, Array, float]:
    """Q, R' with V R = Q R', Q orthonormal to the rounding of VᵀV, and the length of the shortest direction kept."""
    squares, rotation = np.linalg.eigh(V.T @ V)
    eps = float(np.finfo(V.dtype).eps)
    solid = squares > max(10 * eps * V.shape[1] * float(squares.max(initial=0.0)), (100 * eps * scale) ** 2)
    lengths = np.sqrt(squares[solid])
    shortest = float(lengths.min(initial=np.inf))
    return V @ (rotation[:, solid] / lengths), (lengths[:, None] * rotation[:, solid].T) @ R, shortest


def block_krylov(
    operator: LinearOperator,
    k: int,
    which: Which = "largest",
    *,
    tol: float = 1e-7,
    known: Array | None = None,
    random_state: RandomState = 0,
    block: int | None = None,
) -> tuple[Array, Array]:
    """Leading eigenpairs of a symmetric operator by a block Krylov subspace with thick restarts.

    A block of b vectors finds at most b copies of a repeated eigenvalue. Where a product reads or recomputes a
    matrix the block is wider than k, which costs little; where it costs little more than touching V (sparse K) a
    narrow block reaches further per product, and a second, short run beside the pairs found looks for copies that it
    missed. Two vectors are enough for few pairs; with many, products with the basis take most of the time, and a
    block makes them matrix products (99 pairs of 7,000 samples: 2.6 s with two vectors, 1.1 s with 16).
    """
    wide = k + 4
    if block is None:
        block = max(2, min(_NARROW, k // 6)) if getattr(operator, "cheap_products", False) else wide
    known = np.empty((operator.shape[0], 0)) if known is None else known.astype(np.float64, copy=False)
    rng = generator(random_state)

    # What rounding in the products leaves of an exact pair.
    rounding = (1000 if operator.dtype == np.float64 else 10) * float(np.finfo(operator.dtype).eps)

    def wanted(values: Array, scale: float) -> Array:
        size = np.full_like(values, scale) if which == "smallest" else np.abs(values)
        return np.maximum(tol * size, min(tol, rounding) * scale)

    def converged(values: Array, residual: Array, scale: float) -> bool:
        return bool(np.all(residual[:k] <= wanted(values[:k], scale)))

    values, vectors, done = _krylov_run(operator, k, which, known, rng, block, converged)
    if block >= k or not done or operator.shape[0] <= known.shape[1] + k:
        return values, vectors
    last = _key(values[-1:], which)[0]

    def clear(others: Array, residual: Array, scale: float) -> bool:
        """Whether the best pair beside those found is accurate enough to tell which side of the last it is on."""
        lead = abs(float(last - _key(others[:1], which)[0]))
        return bool(residual[0] <= max(float(wanted(others[:1], scale)[0]), 0.05 * lead))

    others, _, _ = _krylov_run(operator, 1, which, np.hstack([known, vectors]), rng, block, clear, quiet=True)
    if _key(others, which)[0] > last + 10 * tol * float(np.abs(values).max()):
        values, vectors, _ = _krylov_run(operator, k, which, known, rng, wide, converged)
    return values, vectors


def _krylov_run(
    operator: LinearOperator,
    k: int,
    which: Which,
    known: Array,
    rng: np.random.Generator,
    block: int,
    enough: Callable[[Array, Array, float], bool],
    quiet: bool = False,
) -> tuple[Array, Array, bool]:
    """One run until ``enough(ritz values, residual norms, lower bound of the largest |λ|)``.

    The basis Q grows by one block per product: W = K Q_last is orthogonalised against all of Q, what remains is
    Q_next R. With T = Qᵀ K Q = Y Θ Yᵀ the Ritz pair (θ, Q y) has residual norm ‖R y_last‖, so convergence costs
    nothing to check. A full basis is replaced by its best Ritz vectors and the last block.
    """
    n = operator.shape[0]
    n_free = n - known.shape[1]
    block = min(n_free, block)
    keep = min(n_free, k + max(2 * block, k // 2))
    capacity = min(n_free, max(keep + 4 * block, 2 * keep, 40))
    # The thin basis is float64 for a float32 operator too: orthogonality is what the method lives on.
    basis = np.empty((n, capacity + block), order="F")
    last = orthonormalize(rng.standard_normal((n, block)), known)[0]
    T = np.zeros((capacity + block, capacity + block))
    size = 0  # columns of the basis with a known column of T
    scale = 0.0  # lower bound of the largest |λ|
    Q, Y, values = basis[:, :0], np.empty((0, 0)), np.empty(0)
    for _ in range(_MAX_PRODUCTS):
        if size + last.shape[1] > capacity:
            # Thick restart: K (Q Y) = (Q Y) Θ + last (R Y_last), so T is Θ and the next product adds its border.
            basis[:, :keep] = Q @ Y[:, :keep]
            T[:] = 0
            T[range(keep), range(keep)] = values[:keep]
            size = keep
        width = last.shape[1]
        columns = slice(size, size + width)
        basis[:, columns] = last
        Q = basis[:, : size + width]
        W = (operator @ last).astype(np.float64, copy=False)
        if not np.all(np.isfinite(W)):
            raise ValueError("the Gram holds NaN or infinite values, so it has no eigenpairs; check the kernel and X")
        scale = max(scale, float(np.linalg.norm(W, axis=0).max()))
        last, R, parts = orthonormalize(W, Q, known, scale=scale)
        size += width
        T[:size, columns] = parts[0]
        T[columns, :size] = parts[0].T
        values, Y = np.linalg.eigh(T[:size, :size])
        best = order(values, which)
        values, Y = values[best], Y[:, best]
        residual = np.linalg.norm(R @ Y[size - width : size], axis=0)
        if size >= k and (size >= n_free or enough(values, residual, scale)):
            return values[:k], Q @ Y[:, :k], True
        if last.shape[1] == 0:  # an invariant subspace that is too small: go on from somewhere else
            last = orthonormalize(rng.standard_normal((n, min(block, n_free - size))), Q, known)[0]
    if not quiet:
        warnings.warn(
            f"eigenpairs(k={k}) stopped after {_MAX_PRODUCTS} block products with relative residual "
            f"{residual[:k].max() / scale:.1e}, above what was asked for; the eigenvectors are that accurate. "
            "Raise tol, ask for fewer pairs, or use a kernel with a clearer spectral gap",
            ConvergenceWarning,
            stacklevel=5,
        )
    return values[:k], Q @ Y[:, :k], False
