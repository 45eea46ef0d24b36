"""Which rows stand for all rows? Ways to choose landmarks.

Pure functions of a fitted kernel and checked data, each with its own view of a good choice: any rows (uniform),
centres of dense regions (k-means), rows far from each other (Rényi entropy), rows that the others cannot explain
(ridge leverage scores). :class:`gramian.landmarks.Nystroem` and the fixed-size models call them.
"""

from __future__ import annotations

import numpy as np
from scipy.linalg import cholesky, eigvalsh
from scipy.sparse import issparse
from sklearn.cluster import KMeans, kmeans_plusplus
from sklearn.preprocessing import StandardScaler

from gramian.grams import tiles
from gramian.grams.features import squared_norms
from gramian.kernels import RBF, Kernel, as_kernel, resolve_width
from gramian.landmarks.whitening import whitened
from gramian.typing import Array, Matrix

_KMEANS_ROWS = 20  # rows per centre that k-means sees; more move the centres little
_KMEANS_STEPS = 3  # of Lloyd; with good seeds the approximation error has settled by then
_PILOT_ROWS = 1000
_BATCH = 512  # candidates whose similarities are computed together
_STRIP_BYTES = 64 * 2**20


def uniform(n: int, m: int, rng: np.random.Generator) -> Array:
    """m of n indices, all equally likely, none twice.

    Examples
    --------
    >>> import numpy as np
    >>> sorted(uniform(3, 3, np.random.default_rng(0)).tolist())
    [0, 1, 2]
    """
    return rng.choice(n, m, replace=False)


def kmeans_landmarks(X: Matrix, m: int, rng: np.random.Generator) -> Array:
    """Centres of m k-means clusters of a sample of the rows.

    Parameters
    ----------
    X : array or CSR (n, d)
        Without missing values.
    m : int
        Number of centres.
    rng : numpy.random.Generator

    Returns
    -------
    centers : ndarray (m, d)
        Fewer where X has fewer distinct rows; dense even where X is sparse.

    References
    ----------
    Zhang, Tsang, Kwok (2008). Improved Nyström low-rank approximation and error analysis. ICML.

    Examples
    --------
    >>> import numpy as np
    >>> X = np.array([[0.0], [0.2], [5.0], [5.2]])
    >>> np.sort(kmeans_landmarks(X, 2, np.random.default_rng(0)), axis=0)
    array([[0.1],
           [5.1]])
    """
    if X.shape[0] > _KMEANS_ROWS * m:
        X = X[np.sort(uniform(X.shape[0], _KMEANS_ROWS * m, rng))]
    rows, counts = _distinct(X, rng)
    if rows.shape[0] <= m:
        return rows.toarray() if issparse(rows) else rows
    # Good seeds matter more than convergence, and one trial per seed finds them: the greedy seeding that is
    # scikit-learn's default gives the same error at ten times the cost.
    seed = int(rng.integers(2**31))
    seeds, _ = kmeans_plusplus(rows, m, sample_weight=counts, random_state=seed, n_local_trials=1)
    search = KMeans(m, init=seeds, n_init=1, max_iter=_KMEANS_STEPS, random_state=seed)
    return search.fit(rows, sample_weight=counts).cluster_centers_


def _distinct(X: Matrix, rng: np.random.Generator) -> tuple[Matrix, Array]:
    """The distinct rows of X and how often each occurs."""
    if not issparse(X):
        return np.unique(X, axis=0, return_counts=True)
    # Equal sparse rows have equal projections, to the last bit; different ones differ with probability one.
    projection = X @ rng.standard_normal(X.shape[1])
    _, first, counts = np.unique(projection, return_index=True, return_counts=True)
    return X[first], counts


# Quadratic Rényi entropy -----------------------------------------------------------------------------------


def renyi_entropy(kernel: Kernel, X: Matrix) -> float:
    """Quadratic Rényi entropy −log(1ᵀ K 1 / n²) of the density that the kernel smooths over the rows.

    Parameters
    ----------
    kernel : Kernel
        With values >= 0 and, to be a density estimate, a width for density; fitted where its width is a rule.
    X : array-like or sparse (n, d)

    Examples
    --------
    >>> from gramian.kernels import RBF
    >>> round(renyi_entropy(RBF(width=1.0), [[0.0], [100.0]]), 4)  # two rows with nothing in common: log 2
    0.6931
    """
    gram = kernel.gram(X)
    return _entropy(float(gram.degrees().sum(dtype=np.float64)), gram.shape[0])


def _entropy(total: float, m: int) -> float:
    if not total > 0:
        raise ValueError(
            f"the kernel values sum to {total:.3g}, so the subset has no entropy; "
            "use a kernel with values >= 0, such as RBF()"
        )
    return float(-np.log(total / m**2))


def entropy_kernel(X: Matrix) -> tuple[Kernel, Matrix]:
    """The Gaussian that measures entropy, and the standardised data it is for.

    The bandwidth is the rule of thumb for density estimates, h = 1.06 n^(-1/(4+d)) on standardised data, but at
    least 0.05 of the median squared distance: narrower and all rows would be strangers, every subset equal.

    Parameters
    ----------
    X : array or CSR (n, d)
        Without missing values.

    Returns
    -------
    kernel : RBF
    Z : array or CSR (n, d)
        X with unit variances.
    """
    Z = StandardScaler(with_mean=not issparse(X)).set_output(transform="default").fit_transform(X)
    if (Z.max(axis=0) - Z.min(axis=0)).max() == 0:
        return RBF(width=1.0), Z  # all rows are equal, and so are all subsets
    n, d = X.shape
    h = 1.06 * n ** (-1 / (4 + d))
    # The papers write exp(−d²/σ²) with σ² = 2(√2 h)²; here it is exp(−d²/(2 width²)), so width² = σ²/2.
    squared = max(2 * (np.sqrt(2) * h) ** 2, 0.05 * resolve_width("median", Z) ** 2)
    return RBF(width=float(np.sqrt(squared / 2))), Z


def renyi(
    kernel: Kernel, X: Matrix, m: int, rng: np.random.Generator, n_trials: int | None = None
) -> tuple[Array, Array]:
    """A subset of large quadratic Rényi entropy, by swaps.

    Start from random rows; again and again propose to swap a random row of the subset for a random row outside, and
    do it if the sum of all similarities within the subset falls. The similarities of a batch of candidates, to the
    subset and among themselves, are two GEMMs; with row sums kept up to date a proposal costs O(1) and a swap O(m).

    Parameters
    ----------
    kernel : fitted Kernel
        With values >= 0; :func:`entropy_kernel` gives the usual one.
    X : array or CSR (n, d)
    m : int
        Rows to choose, at most n.
    rng : numpy.random.Generator
    n_trials : int, optional
        Proposals; default 10 m.

    Returns
    -------
    indices : ndarray (m,) of int
    entropies : ndarray (1 + number of swaps,)
        The entropy at the start and after every swap; it only grows.

    References
    ----------
    Suykens, Van Gestel, De Brabanter, De Moor, Vandewalle (2002). Least Squares Support Vector Machines, chapter 6.

    Examples
    --------
    >>> import numpy as np
    >>> from gramian.kernels import RBF
    >>> X = np.array([[0.0], [0.1], [0.2], [9.0]])
    >>> indices, entropies = renyi(RBF(width=1.0), X, 2, np.random.default_rng(0), n_trials=100)
    >>> 3 in indices  # the row far from the others is always worth having
    True
    """
    n = X.shape[0]
    subset = uniform(n, m, rng)
    within = tiles.block(kernel, X[subset], None, X.dtype).astype(np.float64)
    sums = within.sum(axis=1)
    total = float(sums.sum())
    entropies = [_entropy(total, m)]
    left = 10 * m if n_trials is None else n_trials
    outside = np.ones(n, bool)
    outside[subset] = False
    while left > 0 and m < n:
        batch = rng.choice(np.flatnonzero(outside), min(_BATCH, left, n - m), replace=False)
        left -= len(batch)
        places = rng.integers(m, size=len(batch))
        across = tiles.block(kernel, X[batch], X[subset], X.dtype).astype(np.float64)
        among = tiles.block(kernel, X[batch], None, X.dtype).astype(np.float64)
        across_sums = across.sum(axis=1)
        for q, p in enumerate(places.tolist()):
            # What the sum of the subset's Gram matrix loses with row p and gains with candidate q.
            change = -2 * sums[p] + within[p, p] + 2 * (across_sums[q] - across[q, p]) + among[q, q]
            if change >= 0:
                continue
            row = across[q].copy()
            row[p] = among[q, q]
            sums += row - within[p]
            sums[p] = row.sum()
            within[p] = within[:, p] = row
            across_sums += among[q] - across[:, p]
            across[:, p] = among[q]
            outside[subset[p]], outside[batch[q]] = True, False
            subset[p] = batch[q]
            total += change
            entropies.append(_entropy(total, m))
    return subset, np.array(entropies)


# Ridge leverage scores -------------------------------------------------------------------------------------


def ridge_leverage_scores(kernel: Kernel | str, X: Matrix, regularization: float) -> Array:
    """How much each row matters to a kernel ridge fit: the diagonal of K (K + λI)^-1, exactly.

    Factorises the n×n matrix where the kernel has no features, so it is for a few thousand rows;
    ``Nystroem(selection="leverage")`` estimates the scores for any number.

    Parameters
    ----------
    kernel : Kernel, str or callable
        Positive semi-definite.
    X : array-like or sparse (n, d)
    regularization : float
        λ > 0. The scores sum to the effective dimension at λ.

    Returns
    -------
    scores : ndarray (n,)
        Between 0 and 1.

    References
    ----------
    Alaoui, Mahoney (2015). Fast randomized kernel ridge regression with statistical guarantees. NeurIPS.

    Examples
    --------
    >>> from gramian.kernels import Linear
    >>> ridge_leverage_scores(Linear(), [[1.0], [0.0], [2.0]], 5.0)
    array([0.1, 0. , 0.4])
    """
    if not (np.isfinite(regularization) and regularization > 0):
        raise ValueError(f"regularization={regularization!r} must be positive and finite; try 1e-3 times n")
    fitted = as_kernel(kernel).fit(X)
    gram = fitted.gram(X)
    system = gram.factorization(regularization, "cholesky" if gram.factor is None else "auto")
    return np.clip(1 - regularization * system.inverse_diagonal(), 0, 1)  # K (K + λI)^-1 = I − λ (K + λI)^-1


def approximate_leverage_scores(kernel: Kernel, X: Matrix, pilot: Array, regularization: float) -> Array:
    """Ridge leverage scores of all rows as seen from a pilot sample of them, without the n×n matrix.

    With s uniform pilot rows S in the place of all n, (k_ii − k_iS (K_SS + (s/n) λI)^-1 k_Si) / λ: the factor s/n
    is the weight of the sample, and with all rows as pilot the scores are exact.

    Parameters
    ----------
    kernel : fitted Kernel
    X : array or CSR (n, d)
    pilot : ndarray (s,) of int
        Rows of X.
    regularization : float
        λ > 0.

    Returns
    -------
    scores : ndarray (n,)

    References
    ----------
    Musco, Musco (2017). Recursive sampling for the Nyström method. NeurIPS.
    """
    n, s = X.shape[0], len(pilot)
    points = X[pilot]
    within = tiles.block(kernel, points, None, X.dtype).astype(np.float64)
    within[np.diag_indices(s)] += regularization * s / n
    # Whitening needs the triangular factor itself, not solutions with it.
    L = cholesky(within, lower=True, overwrite_a=True)
    scores = np.empty(n)
    for rows in tiles.slices(n, max(1, _STRIP_BYTES // (s * X.dtype.itemsize))):
        explained = squared_norms(whitened(kernel, X[rows], points, L))
        scores[rows] = kernel._diagonal(X[rows]) - explained
    return np.clip(scores / regularization, 0, 1)


def leverage(kernel: Kernel, X: Matrix, m: int, rng: np.random.Generator) -> Array:
    """m rows drawn in proportion to their approximate ridge leverage scores, none twice.

    Parameters
    ----------
    kernel : fitted Kernel
        Positive semi-definite.
    X : array or CSR (n, d)
    m : int
        Rows to choose, at most n.
    rng : numpy.random.Generator

    Returns
    -------
    indices : ndarray (m,) of int

    Examples
    --------
    >>> import numpy as np
    >>> from gramian.kernels import RBF
    >>> X = np.append(np.zeros(99), 9.0)[:, None]  # 99 copies of one row, and another
    >>> sum(99 in leverage(RBF(width=1.0), X, 10, np.random.default_rng(i)) for i in range(100)) > 90
    True
    """
    n = X.shape[0]
    pilot = uniform(n, min(-(-m // 2), _PILOT_ROWS), rng)
    spectrum = eigvalsh(tiles.block(kernel, X[pilot], None, X.dtype).astype(np.float64))[::-1] * (n / len(pilot))
    # λ = (1/k) Σ_{i>k} λ_i bounds the effective dimension, the sum of the scores, by 2k. A third of the pilot is
    # what the pilot can still estimate; with a smaller λ it takes every row that it has not seen for important.
    k = max(1, len(pilot) // 6)
    regularization = max(float(spectrum[k:].sum()) / k, 1e-10 * float(spectrum.sum()), np.finfo(np.float64).tiny)
    scores = approximate_leverage_scores(kernel, X, pilot, regularization)
    # The m first of n exponential clocks that tick at the rates of the scores: sampling without replacement.
    clocks = rng.exponential(size=n) / np.maximum(scores, 1e-12)
    return np.argpartition(clocks, m - 1)[:m]
