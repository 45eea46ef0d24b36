"""Ranking on data manifolds: the walk of personalised PageRank on the sparsest connected neighbour graph of the data.

One code path with :func:`gramian.personalized_pagerank`, whose scores it divides by the roots of the degrees.
"""

from __future__ import annotations

from numbers import Real
from typing import Any

import numpy as np
from sklearn.metrics import pairwise_distances
from sklearn.utils import check_array

from gramian.configuration import require_memory
from gramian.kernels import resolve_width
from gramian.ranking.graphs.pagerank import personalized_pagerank
from gramian.ranking.graphs.seeds import restart_matrix
from gramian.typing import Array


def rank_on_manifold(
    X: Any, seeds: Any, *, width: float | str = "median", restart: float = 0.01, metric: str = "euclidean"
) -> Array:
    """Rank samples by their relevance to query samples along a neighbour graph (manifold ranking).

    Edges are added by rising distance until the graph is connected; with W_ij = exp(−dist² / (2 width²)) on the edges,
    W_ii = 0 and S = D^-½ W D^-½, the scores are f = α (I − (1 − α) S)^-1 y, with y one at the seeds and α the
    ``restart``. For a single seed j, f_i = π_i √(d_j / d_i): personalised PageRank without the advantage of
    well-connected samples.

    Parameters
    ----------
    X : array-like (n, d), or (n, n) with ``metric="precomputed"``
        Samples, or their distances.
    seeds : int, list of int, bool (n,), dict, float (n,)
        The queries, or their weights, which are taken relative to the largest: y is 1 there.
    width : float or str, default "median"
        Of the Gaussian: a number or, for vectors, a rule such as ``"median"``.
    restart : float, default 0.01
        α. The paper's α is the weight of propagation, 1 − ``restart``, and is 0.99 there.
    metric : str, default "euclidean"
        A distance of :func:`sklearn.metrics.pairwise_distances`.

    Returns
    -------
    ndarray (n,)
        Scores; larger is more relevant.

    References
    ----------
    Zhou, Weston, Gretton, Bousquet, Schölkopf (2004). Ranking on data manifolds. NeurIPS.

    Examples
    --------
    >>> import numpy as np
    >>> from gramian.ranking import rank_on_manifold
    >>> X = np.array([[0.0], [1.0], [2.0], [5.0]])
    >>> np.argsort(-rank_on_manifold(X, 0, width=1.0, restart=0.1))
    array([0, 1, 2, 3])
    """
    given = metric == "precomputed"
    X = check_array(X, dtype=np.float64, ensure_min_samples=2)
    n = X.shape[0]
    require_memory(16.0 * n * n, f"the distances of {n} samples", "rank with KernelPageRank on a neighbour graph")
    distances = _checked_distances(X) if given else pairwise_distances(X, metric=metric)
    if isinstance(width, str):
        if given:
            raise ValueError(f"width={width!r} is a rule for vectors; with metric='precomputed' pass a number")
        width = float(resolve_width(width, X))
    if not isinstance(width, Real) or isinstance(width, bool) or not 0 < float(width) < np.inf:
        raise ValueError(f"width={width!r} must be a positive number or a rule such as 'median'")
    near = distances <= _longest_tree_edge(distances)
    weights = np.where(near, np.exp(-0.5 * (distances / float(width)) ** 2), 0.0)
    np.fill_diagonal(weights, 0.0)
    weights = np.maximum(weights, weights.T)  # distances may differ from their mirror images in the last bit
    degrees = weights.sum(axis=1)
    if degrees.min() <= np.finfo(float).tiny:
        raise ValueError(
            f"width={float(width):g} is so small that sample {int(degrees.argmin())} has no similar sample; "
            f"pass width >= {_longest_tree_edge(distances) / 5:.3g}"
        )
    queries, single = restart_matrix(seeds, n)
    if not single:
        raise ValueError("rank_on_manifold takes one set of seeds; call it once for each column")
    query = queries[:, 0] / queries.max()
    # D^-½ π for the restart distribution D^½ y / Σ D^½ y is f up to that sum.
    start = np.sqrt(degrees) * query
    method = "direct" if n <= 2000 else "auto"
    scores = personalized_pagerank(
        weights, start, restart=restart, normalize="sqrt_degree", directed=False, method=method, tol=1e-10
    )
    return scores * start.sum()


def _checked_distances(distances: Array) -> Array:
    if distances.shape[0] != distances.shape[1] or distances.min() < 0:
        raise ValueError(f"X has shape {distances.shape}; with metric='precomputed' pass distances >= 0, (n, n)")
    if not np.allclose(distances, distances.T):
        raise ValueError("X is not symmetric; with metric='precomputed' pass distances with d(i, j) = d(j, i)")
    return distances


def _longest_tree_edge(distances: Array) -> float:
    """The longest edge of a minimum spanning tree, by Prim: the threshold at which the graph becomes connected.

    SciPy's tree takes distances of zero for missing edges, and copies of a sample have them.
    """
    n = len(distances)
    reach = distances[0].copy()
    outside = np.ones(n, bool)
    outside[0] = False
    longest = 0.0
    for _ in range(n - 1):
        nearest = int(np.argmin(np.where(outside, reach, np.inf)))
        longest = max(longest, float(reach[nearest]))
        outside[nearest] = False
        np.minimum(reach, distances[nearest], out=reach)
    return longest
