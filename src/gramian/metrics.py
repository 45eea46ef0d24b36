"""Scores for partitions, rankings, graph cuts, divergences of clusters, and forecasts.

Pure functions on labels, score vectors, affinity matrices and Grams; they know no estimator. Labels are names: text,
ints and the -1 that other libraries give to noise are all ordinary groups here. To leave points out, leave their rows
out of both arguments.
"""

from collections.abc import Callable
from typing import Any, Literal

import numpy as np
import scipy.sparse as sp
from numpy.typing import ArrayLike
from scipy.optimize import linear_sum_assignment
from scipy.stats import kendalltau, spearmanr
from sklearn.metrics import adjusted_rand_score, normalized_mutual_info_score

from gramian.checks import whole
from gramian.grams import Gram
from gramian.kernels import Kernel, as_kernel
from gramian.score_criteria import (
    average_membership_strength,
    balanced_angular_fit,
    balanced_angular_similarity,
    balanced_line_fit,
)
from gramian.typing import Array, Matrix

__all__ = [
    "adjusted_rand",
    "average_membership_strength",
    "balanced_angular_fit",
    "balanced_angular_similarity",
    "balanced_line_fit",
    "cauchy_schwarz_divergence",
    "clustering_accuracy",
    "conductance",
    "expected_random_ndcg",
    "interval_coverage",
    "mase",
    "modularity",
    "ndcg_at_k",
    "normalized_cut",
    "normalized_mutual_info",
    "nrmse",
    "precision_at_k",
    "rank_correlation",
    "score_cosine",
    "variation_of_information",
]


def clustering_accuracy(y_true: ArrayLike, y_pred: ArrayLike, *, return_mapping: bool = False) -> Any:
    """Share of samples that are right under the best one-to-one naming of the clusters.

    ACC = max over one-to-one maps M of (1/n) Σ_i 1[y_i = M(ŷ_i)], found by the Hungarian method on the table
    of co-occurrences. With more clusters than classes the surplus clusters stay unnamed and count as wrong.

    Parameters
    ----------
    y_true, y_pred : array-like of shape (n,)
        Class and cluster of each sample: ints or text; the two need not use the same names or as many.
    return_mapping : bool, default False
        Also return the best naming, a dict from cluster to class; surplus clusters are not in it.

    Returns
    -------
    float or (float, dict)

    References
    ----------
    H. W. Kuhn, "The Hungarian method for the assignment problem", Naval Research Logistics Quarterly 2
    (1955).

    Examples
    --------
    >>> from gramian.metrics import clustering_accuracy
    >>> clustering_accuracy(["cat", "cat", "dog", "dog"], [1, 1, 0, 1])
    0.75
    """
    classes, clusters, (true_names, pred_names) = _two_partitions(y_true, y_pred)
    table = np.zeros((len(pred_names), len(true_names)), dtype=np.int64)
    np.add.at(table, (clusters, classes), 1)
    rows, columns = linear_sum_assignment(table, maximize=True)
    accuracy = float(table[rows, columns].sum() / len(classes))
    if not return_mapping:
        return accuracy
    names = zip(pred_names[rows].tolist(), true_names[columns].tolist(), strict=True)
    return accuracy, dict(names)


def normalized_mutual_info(
    y_true: ArrayLike,
    y_pred: ArrayLike,
    *,
    average: Literal["arithmetic", "geometric", "min", "max"] = "arithmetic",
) -> float:
    """Mutual information of two partitions over a mean of their entropies, in [0, 1].

    NMI = I(l, c) / mean(H(l), H(c)). The default mean is the arithmetic one, as in scikit-learn; the papers
    on alternative clustering divide by the geometric mean √(H(l) H(c)), so compare with their tables under
    ``average="geometric"``. Two constant partitions give 1, one constant and one not gives 0.

    Parameters
    ----------
    y_true, y_pred : array-like of shape (n,)
    average : {"arithmetic", "geometric", "min", "max"}, default "arithmetic"

    References
    ----------
    A. Strehl, J. Ghosh, "Cluster ensembles", Journal of Machine Learning Research 3 (2002).

    Examples
    --------
    >>> from gramian.metrics import normalized_mutual_info
    >>> round(normalized_mutual_info([0, 0, 1, 1], ["b", "b", "a", "a"]), 12)
    1.0
    """
    allowed = ("arithmetic", "geometric", "min", "max")
    if average not in allowed:
        raise ValueError(f"average={average!r} is not a mean known here; pass one of {', '.join(allowed)}")
    classes, clusters, _ = _two_partitions(y_true, y_pred)
    return float(normalized_mutual_info_score(classes, clusters, average_method=average))


def adjusted_rand(y_true: ArrayLike, y_pred: ArrayLike) -> float:
    """Rand index corrected for chance: 1 for equal partitions, 0 expected for independent ones.

    Parameters
    ----------
    y_true, y_pred : array-like of shape (n,)

    References
    ----------
    L. Hubert, P. Arabie, "Comparing partitions", Journal of Classification 2 (1985).

    Examples
    --------
    >>> from gramian.metrics import adjusted_rand
    >>> adjusted_rand([0, 0, 1, 1], [5, 5, 3, 3])
    1.0
    """
    classes, clusters, _ = _two_partitions(y_true, y_pred)
    return float(adjusted_rand_score(classes, clusters))


def variation_of_information(y_true: ArrayLike, y_pred: ArrayLike) -> float:
    """Distance between two partitions: VI = H(l) + H(c) − 2 I(l, c), in nats, from 0 to log n.

    What each partition says that the other does not. A metric: zero for equal partitions only, symmetric, and it obeys
    the triangle inequality, which neither the Rand index nor the mutual information does.

    Parameters
    ----------
    y_true, y_pred : array-like of shape (n,)

    References
    ----------
    M. Meilă, "Comparing clusterings: an information based distance", Journal of Multivariate Analysis 98 (2007).

    Examples
    --------
    Half of one partition is halved in the other:

    >>> from gramian.metrics import variation_of_information
    >>> round(variation_of_information([0, 0, 0, 0], ["a", "a", "b", "b"]), 4)
    0.6931
    """
    classes, clusters, (true_names, pred_names) = _two_partitions(y_true, y_pred)
    shape = len(true_names), len(pred_names)
    cells, counts = np.unique(np.ravel_multi_index((classes, clusters), shape), return_counts=True)
    rows, columns = np.unravel_index(cells, shape)
    joint = counts / len(classes)
    own, other = np.bincount(classes) / len(classes), np.bincount(clusters) / len(classes)
    # H(l|c) + H(c|l), of which every term is at least zero: no difference of large entropies is taken.
    return float(joint @ (np.log(own[rows] / joint) + np.log(other[columns] / joint)))


def ndcg_at_k(
    relevance: ArrayLike,
    scores: ArrayLike,
    k: int = 10,
    *,
    exclude: ArrayLike | None = None,
    ignore: ArrayLike | None = None,
) -> Any:
    """Normalised discounted cumulative gain of the k best-scored items.

    DCG@k = Σ_{r=1..k} rel(r) / log2(r + 1), with the gain linear in the relevance; NDCG@k divides it by the
    DCG of the k largest relevances. Ties in the scores go to the lower index.

    Parameters
    ----------
    relevance : array-like of shape (n,) or (n, q)
        At least 0. One column per query, as :func:`gramian.personalized_pagerank` returns scores.
    scores : array-like of the same shape
        What the items are ordered by, largest first.
    k : int, default 10
        Length of the list; more than the items left means all of them.
    exclude : int or array-like of int, optional
        Items taken out of the list before positions are counted. For one query, the item or items; for q
        queries, one item for all or q items, one per column. Whether the query itself stays in its list
        changes the result much when the relevances are PageRank scores, for the query holds at least the
        restart probability, so nothing is taken out unless it is named here.
    ignore : array-like of bool, of the shape of ``relevance``, optional
        Further pairs of item and query to take out.

    Returns
    -------
    float or array of shape (q,)
        In [0, 1]. NaN where no item left is relevant: average with ``numpy.nanmean`` and report how many.

    References
    ----------
    K. Järvelin, J. Kekäläinen, "Cumulated gain-based evaluation of IR techniques", ACM TOIS 20 (2002).

    Examples
    --------
    The relevant item comes second, so it is worth 1/log2(3); without the query in the list it comes first:

    >>> from gramian.metrics import ndcg_at_k
    >>> round(ndcg_at_k([0, 1, 0], [0.9, 0.5, 0.1], k=2), 4)
    0.6309
    >>> ndcg_at_k([0, 1, 0], [0.9, 0.5, 0.1], k=2, exclude=0)
    1.0
    """
    gains, order, single = _ranked(relevance, scores, k, exclude, ignore)
    discount = 1.0 / np.log2(np.arange(2, len(order) + 2))
    reached = discount @ np.take_along_axis(gains, order, axis=0)
    ideal = discount @ -np.sort(-gains, axis=0)[: len(order)]
    value = np.full_like(ideal, np.nan)
    np.divide(reached, ideal, out=value, where=ideal > 0)
    return float(value[0]) if single else value


def precision_at_k(
    relevance: ArrayLike,
    scores: ArrayLike,
    k: int = 10,
    *,
    exclude: ArrayLike | None = None,
    ignore: ArrayLike | None = None,
) -> Any:
    """Share of relevant items (relevance > 0) among the k best-scored ones.

    Arguments as in :func:`ndcg_at_k`. Items that run out before place k count as not relevant.

    Examples
    --------
    >>> from gramian.metrics import precision_at_k
    >>> precision_at_k([1, 0, 1, 0], [4, 3, 2, 1], k=2)
    0.5
    """
    gains, order, single = _ranked(relevance, scores, k, exclude, ignore)
    value = (np.take_along_axis(gains, order, axis=0) > 0).sum(axis=0) / k
    return float(value[0]) if single else value


def expected_random_ndcg(class_counts: ArrayLike, *, exclude_query: bool = False) -> float:
    """NDCG@k that a random order reaches when items of the query's class are relevant.

    Σ_c (N_c/N)², or Σ_c (N_c/N) (N_c - 1)/(N - 1) with the query taken out; it does not depend on k as long
    as no class has fewer than k relevant items. Queries are drawn uniformly from the N items.

    Parameters
    ----------
    class_counts : array-like of int
        Number of items N_c of each class; with ``exclude_query`` at least 2 each.
    exclude_query : bool, default False

    Examples
    --------
    >>> from gramian.metrics import expected_random_ndcg
    >>> round(expected_random_ndcg([800, 123, 88, 67, 798, 59]), 4)
    0.3492
    """
    counts = np.asarray(class_counts, dtype=np.float64)
    least = 2 if exclude_query else 1
    if counts.ndim != 1 or counts.size == 0 or not (counts >= least).all():
        raise ValueError(f"class_counts={class_counts!r} must be a list of numbers >= {least}; drop empty classes")
    total = counts.sum()
    if exclude_query:
        return float(counts @ (counts - 1) / (total * (total - 1)))
    return float(counts @ counts / total**2)


def score_cosine(scores: ArrayLike, other: ArrayLike) -> Any:
    """Cosine of the angle between score vectors: how far a ranking moved, say, when values went missing.

    Parameters
    ----------
    scores, other : array-like of shape (n,) or (n, q)
        One column per query.

    Returns
    -------
    float or array of shape (q,)
        In [-1, 1]; NaN where a vector is zero.

    Examples
    --------
    >>> from gramian.metrics import score_cosine
    >>> round(score_cosine([1.0, 0.0], [1.0, 1.0]), 4)
    0.7071
    """
    a, b = _same_shape("scores", scores, "other", other)
    # Scaled by the largest entry first, so that tiny scores (1/n of a large n, squared) cannot underflow.
    a, b = (v / np.maximum(np.abs(v).max(axis=0), np.finfo(np.float64).tiny) for v in (a, b))
    inner, length = np.einsum("i...,i...->...", a, b), np.linalg.norm(a, axis=0) * np.linalg.norm(b, axis=0)
    value = np.full_like(length, np.nan)
    np.divide(inner, length, out=value, where=length > 0)
    value = np.clip(value, -1.0, 1.0)
    return float(value) if value.ndim == 0 else value


def rank_correlation(
    scores: ArrayLike, other: ArrayLike, *, method: Literal["spearman", "kendall"] = "spearman"
) -> float:
    """Agreement of two score vectors in order alone: Spearman's ρ or Kendall's τ_b, in [-1, 1].

    Examples
    --------
    >>> from gramian.metrics import rank_correlation
    >>> round(rank_correlation([1, 2, 3], [10, 20, 400], method="kendall"), 12)
    1.0
    """
    if method not in ("spearman", "kendall"):
        raise ValueError(f"method={method!r} is not a rank correlation known here; pass 'spearman' or 'kendall'")
    a, b = _same_shape("scores", scores, "other", other)
    if a.ndim != 1 or np.ptp(a) == 0 or np.ptp(b) == 0:
        raise ValueError("scores and other must be vectors that are not constant; an order needs unequal scores")
    correlate: Any = spearmanr if method == "spearman" else kendalltau
    return float(correlate(a, b).statistic)


def normalized_cut(W: Matrix, labels: ArrayLike) -> float:
    """Normalised cut of a partition of a graph: Σ_c cut(c, rest) / vol(c), in [0, number of groups].

    vol(c) = Σ_{i∈c} d_i with degrees d = W 1, and cut(c, rest) is the weight that leaves c. A group without
    any weight adds 0.

    Parameters
    ----------
    W : array or SciPy sparse matrix of shape (n, n)
        Symmetric affinities, at least 0. Sparse stays sparse.
    labels : array-like of shape (n,)

    References
    ----------
    J. Shi, J. Malik, "Normalized cuts and image segmentation", IEEE TPAMI 22 (2000).

    Examples
    --------
    A path of four nodes cut in the middle: one edge of three leaves halves of volume 3.

    >>> import numpy as np
    >>> from gramian.metrics import normalized_cut
    >>> path = np.eye(4, k=1) + np.eye(4, k=-1)
    >>> round(normalized_cut(path, [0, 0, 1, 1]), 4)
    0.6667
    """
    inside, volume = _group_weights(W, labels)
    return float(_ratio(volume - inside, volume).sum())


def modularity(W: Matrix, labels: ArrayLike) -> float:
    """Newman's modularity of a partition of a graph: Σ_c [w_in(c)/s - (vol(c)/s)²], in [-1/2, 1].

    s = Σ_ij w_ij, and w_in(c) = Σ_{i,j∈c} w_ij counts each edge from both ends. A self-loop counts as the
    matrix says, once; libraries of graphs count it twice, which here means a doubled diagonal.

    Parameters
    ----------
    W : array or SciPy sparse matrix of shape (n, n)
        Symmetric affinities, at least 0, not all 0. Sparse stays sparse.
    labels : array-like of shape (n,)

    References
    ----------
    M. E. J. Newman, "Modularity and community structure in networks", PNAS 103 (2006).

    Examples
    --------
    >>> import numpy as np
    >>> from gramian.metrics import modularity
    >>> two_pairs = np.kron(np.eye(2), [[0, 1], [1, 0]])
    >>> modularity(two_pairs, [0, 0, 1, 1])
    0.5
    """
    inside, volume = _group_weights(W, labels)
    total = volume.sum()
    if total == 0:
        raise ValueError("W has no edges, so modularity is undefined; pass a graph with at least one weight > 0")
    return float((inside / total - (volume / total) ** 2).sum())


def conductance(W: Matrix, labels: ArrayLike) -> Array:
    """Conductance of each group of a graph: cut(c, rest) / min(vol(c), vol(rest)), in [0, 1].

    A group without weight, or without weight outside it, has nothing to cut and gets 0.

    Parameters
    ----------
    W : array or SciPy sparse matrix of shape (n, n)
        Symmetric affinities, at least 0. Sparse stays sparse.
    labels : array-like of shape (n,)

    Returns
    -------
    array of shape (number of groups,)
        In the sorted order of the labels, the order of ``numpy.unique(labels)``.

    References
    ----------
    R. Kannan, S. Vempala, A. Vetta, "On clusterings: good, bad and spectral", Journal of the ACM 51 (2004).

    Examples
    --------
    >>> import numpy as np
    >>> from gramian.metrics import conductance
    >>> path = np.eye(4, k=1) + np.eye(4, k=-1)
    >>> conductance(path, ["end", "middle", "middle", "middle"])
    array([1., 1.])
    """
    inside, volume = _group_weights(W, labels)
    return _ratio(volume - inside, np.minimum(volume, volume.sum() - volume))


def cauchy_schwarz_divergence(
    X: Matrix | Gram,
    memberships: ArrayLike,
    *,
    kernel: Kernel | str | Callable[[Any, Any], Any] = "rbf",
    pair_normalization: Literal["mean", "paper"] = "mean",
) -> float:
    """Cauchy–Schwarz divergence of clusters: how far apart their densities are, by kernel density estimates.

    With a column a_c of memberships for each of k clusters and a kernel matrix K, the overlap of two clusters is the
    cosine of the angle between their mean features, and the divergence is minus the logarithm of the mean overlap,

        D = −log( 2 / (k (k − 1)) Σ_{c<e} a_cᵀ K a_e / √(a_cᵀ K a_c · a_eᵀ K a_e) ).

    It is 0 for clusters of equal densities and infinite for clusters without any similarity between them.

    Parameters
    ----------
    X : array or sparse (n, d), (n, n) similarities with ``kernel="precomputed"``, or a Gram
    memberships : array-like of shape (n,) or (n, k)
        Labels, or the membership of each sample in each cluster, at least 0. Scaling a column changes nothing.
    kernel : Kernel, str or callable, default "rbf"
        Fitted to X; not used for a Gram.
    pair_normalization : {"mean", "paper"}, default "mean"
        "paper" divides the sum over pairs by k, as published for deep clustering; D is then at least −log((k − 1) / 2).

    Returns
    -------
    float

    References
    ----------
    M. Kampffmeyer et al., "Deep divergence-based approach to clustering", Neural Networks 113 (2019).

    Examples
    --------
    >>> import numpy as np
    >>> from gramian.metrics import cauchy_schwarz_divergence
    >>> K = np.array([[1.0, 0.5], [0.5, 1.0]])
    >>> round(cauchy_schwarz_divergence(K, [0, 1], kernel="precomputed"), 4)
    0.6931
    """
    if pair_normalization not in ("mean", "paper"):
        raise ValueError(f"pair_normalization={pair_normalization!r} is not known; pass 'mean' or 'paper'")
    gram = X if isinstance(X, Gram) else as_kernel(kernel).fit(X).gram(X)
    A = _memberships(memberships, gram.shape[0])
    k = A.shape[1]
    products = A.T @ (gram @ A.astype(gram.dtype, copy=False)).astype(np.float64)
    inner = np.diagonal(products)
    if not (inner > 0).all():
        raise ValueError(f"cluster {int(np.argmin(inner))} is not similar to itself under this kernel; use another one")
    overlap = float((products / np.sqrt(np.outer(inner, inner)))[np.triu_indices(k, 1)].sum())
    share = overlap * (2 / (k * (k - 1)) if pair_normalization == "mean" else 1 / k)
    return -float(np.log(share)) if share > 0 else np.inf


def nrmse(y_true: ArrayLike, y_pred: ArrayLike) -> float:
    """Root mean square error over the standard deviation of the truth: 0 for a perfect forecast, 1 for the mean.

    NRMSE = √( Σ_t ‖y_t − ŷ_t‖² / Σ_t ‖y_t − mean(y)‖² ); for one output it is √(1 − R²).

    Parameters
    ----------
    y_true : array-like of shape (n,) or (n, q)
        Steps with a missing value (NaN) are left out.
    y_pred : array-like of the same shape

    Returns
    -------
    float

    Examples
    --------
    >>> from gramian.metrics import nrmse
    >>> nrmse([1.0, 2.0, 3.0], [2.0, 2.0, 2.0])
    1.0
    """
    true, found = _forecast(y_true, y_pred)
    spread = float(((true - true.mean(axis=0)) ** 2).sum())
    if not spread > 0:
        raise ValueError(
            "y_true does not vary, so errors cannot be measured by its deviation; use the mean square error"
        )
    return float(np.sqrt(((true - found) ** 2).sum() / spread))


def mase(y_true: ArrayLike, y_pred: ArrayLike, y_train: ArrayLike, *, period: int = 1) -> float:
    """Mean absolute error over that of the seasonal naive forecast on the training series.

    MASE = mean_t abs(y_t − ŷ_t) / mean_t abs(x_t − x_{t−period}). Below 1 the forecast is better than repeating the
    last season, as that does one season ahead on the training series x. Several outputs are averaged, each over its
    own.

    Parameters
    ----------
    y_true, y_pred : array-like of shape (n,) or (n, q)
        Steps with a missing true value (NaN) are left out.
    y_train : array-like of shape (T,) or (T, q)
        In the order of time, holes allowed.
    period : int, default 1
        Steps of a season; 1 compares with the last value.

    Returns
    -------
    float

    References
    ----------
    R. J. Hyndman, A. B. Koehler, "Another look at measures of forecast accuracy", International Journal of
    Forecasting 22 (2006).

    Examples
    --------
    >>> from gramian.metrics import mase
    >>> mase([5.0, 6.0], [5.5, 6.5], [1.0, 2.0, 3.0, 4.0])
    0.5
    """
    true, found = _forecast(y_true, y_pred)
    series = np.asarray(y_train, np.float64)
    series = series[:, None] if series.ndim == 1 else series
    lag = whole(period, "period")
    if series.ndim != 2 or series.shape[1] != true.shape[1]:
        raise ValueError(f"y_train has shape {series.shape}; pass the {true.shape[1]} columns of y_true")
    if len(series) <= lag:
        raise ValueError(f"period={lag} needs more than the {len(series)} steps of y_train; pass a smaller period")
    with np.errstate(invalid="ignore"):
        steps = np.abs(series[lag:] - series[:-lag])
    known = np.isfinite(steps)
    scale = np.where(known, steps, 0).sum(axis=0) / np.maximum(known.sum(axis=0), 1)
    if not (scale > 0).all():
        raise ValueError(f"y_train repeats itself exactly, or is never known, at period={lag}; nothing to compare with")
    return float((np.abs(true - found).mean(axis=0) / scale).mean())


def interval_coverage(y_true: ArrayLike, lower: ArrayLike, upper: ArrayLike) -> float:
    """Share of the true values inside their intervals, ends included.

    Parameters
    ----------
    y_true : array-like of shape (n,) or (n, q)
        Missing values (NaN) are left out.
    lower, upper : array-like of the same shape
        Ends, which may be infinite.

    Returns
    -------
    float

    Examples
    --------
    >>> from gramian.metrics import interval_coverage
    >>> interval_coverage([1.0, 2.0, 3.0, 4.0], [0.0, 0.0, 0.0, 5.0], [1.0, 3.0, 2.0, 6.0])
    0.5
    """
    true, low, high = (np.asarray(values, np.float64) for values in (y_true, lower, upper))
    if not true.shape == low.shape == high.shape or true.ndim not in (1, 2) or not true.size:
        shapes = f"{true.shape}, {low.shape} and {high.shape}"
        raise ValueError(f"y_true, lower and upper have shapes {shapes}; pass one shape, (n,) or (n, q)")
    known = ~np.isnan(true)
    if not known.any():
        raise ValueError("y_true has no known value; pass at least one")
    if np.isnan(low[known]).any() or np.isnan(high[known]).any():
        raise ValueError("lower or upper holds NaN where y_true is known; pass an interval for each known value")
    return float(((low <= true) & (true <= high))[known].mean())


def _memberships(memberships: ArrayLike, n: int) -> Array:
    """Memberships (n, k), each column scaled to a largest value of 1, so that small ones keep their digits."""
    values = np.asarray(memberships)
    if values.ndim == 1:
        codes, names = _codes("memberships", values)
        values = np.eye(len(names))[codes]
    A = values.astype(np.float64)
    if A.ndim != 2 or len(A) != n:
        raise ValueError(f"memberships has shape {A.shape}; pass ({n},) labels or ({n}, k) memberships")
    if not np.isfinite(A).all() or A.min() < 0:
        raise ValueError("memberships has entries that are negative or not finite; pass values >= 0")
    if A.shape[1] < 2 or not A.any(axis=0).all():
        raise ValueError("memberships must have at least two clusters, none of them empty; drop empty columns")
    return A / A.max(axis=0)


def _codes(name: str, labels: ArrayLike) -> tuple[Array, Array]:
    """Codes 0..c-1 of the labels and the sorted names they stand for."""
    values = np.asarray(labels)
    if values.ndim != 1 or values.size == 0:
        raise ValueError(f"{name} has shape {values.shape}; pass one label per sample, shape (n,) with n >= 1")
    if values.dtype.kind == "f" and not np.isfinite(values).all():
        raise ValueError(f"{name} contains NaN or infinity; drop these rows or give them a label of their own")
    try:
        names, codes = np.unique(values, return_inverse=True)
    except TypeError as error:
        raise ValueError(f"{name} mixes types that cannot be ordered; pass all ints or all text") from error
    return codes, names


def _two_partitions(y_true: ArrayLike, y_pred: ArrayLike) -> tuple[Array, Array, tuple[Array, Array]]:
    classes, true_names = _codes("y_true", y_true)
    clusters, pred_names = _codes("y_pred", y_pred)
    if len(classes) != len(clusters):
        raise ValueError(
            f"y_true has {len(classes)} labels and y_pred {len(clusters)}; pass labels of the same samples"
        )
    return classes, clusters, (true_names, pred_names)


def _same_shape(name: str, values: ArrayLike, other_name: str, others: ArrayLike) -> tuple[Array, Array]:
    a, b = np.asarray(values, dtype=np.float64), np.asarray(others, dtype=np.float64)
    if a.shape != b.shape or a.ndim not in (1, 2) or a.size == 0:
        raise ValueError(
            f"{name} has shape {a.shape} and {other_name} {b.shape}; pass two of one shape, (n,) or (n, q)"
        )
    for label, array in ((name, a), (other_name, b)):
        if np.isnan(array).any():
            raise ValueError(f"{label} contains NaN, which has no place in a ranking; drop these items first")
    return a, b


def _forecast(y_true: ArrayLike, y_pred: ArrayLike) -> tuple[Array, Array]:
    """Truth and forecast (n, q) of the steps whose truth is known."""
    true, found = np.asarray(y_true, np.float64), np.asarray(y_pred, np.float64)
    if true.shape != found.shape or true.ndim not in (1, 2) or not true.size:
        raise ValueError(f"y_true has shape {true.shape} and y_pred {found.shape}; pass one shape, (n,) or (n, q)")
    true, found = (side.reshape(len(side), -1) for side in (true, found))
    known = ~np.isnan(true).any(axis=1)
    if not known.any():
        raise ValueError("y_true has no step whose values are all known; pass at least one")
    true, found = true[known], found[known]
    if not (np.isfinite(true).all() and np.isfinite(found).all()):
        raise ValueError("y_true is infinite, or y_pred is NaN or infinite where y_true is known; drop these steps")
    return true, found


def _ranked(
    relevance: ArrayLike, scores: ArrayLike, k: int, exclude: ArrayLike | None, ignore: ArrayLike | None
) -> tuple[Array, Array, bool]:
    """Gains (n, q) with removed items at 0, the items in the first k places, and whether q was implied."""
    gains, values = _same_shape("relevance", relevance, "scores", scores)
    if not (gains >= 0).all() or np.isinf(gains).any():
        raise ValueError(f"relevance has values from {gains.min()} to {gains.max()}; they must be finite and >= 0")
    k = whole(k, "k")
    single = gains.ndim == 1
    removed = np.zeros(gains.shape, dtype=bool)
    if ignore is not None:
        given = np.asarray(ignore)
        if given.dtype != bool or given.shape != gains.shape:
            raise ValueError(
                f"ignore has dtype {given.dtype} and shape {given.shape}; pass bools of shape {gains.shape}"
            )
        removed |= given
    if exclude is not None:
        items = np.asarray(exclude)
        fits = items.ndim == 0 or (items.ndim == 1 and (single or len(items) == gains.shape[1]))
        if items.dtype.kind not in "iu" or not fits or (items < 0).any() or (items >= len(gains)).any():
            allowed = "an index or a list of indices" if single else f"an index or {gains.shape[1]} indices"
            raise ValueError(f"exclude={exclude!r} does not name items; pass {allowed} in 0..{len(gains) - 1}")
        removed[items if single else (items, np.arange(gains.shape[1]))] = True
    columns = (len(gains), -1)
    # lexsort is stable and its last key leads: kept items first, then high scores, then low indices.
    order = np.lexsort((-values.reshape(columns), removed.reshape(columns)), axis=0)[:k]
    return np.where(removed, 0.0, gains).reshape(columns), order, single


def _group_weights(W: Matrix, labels: ArrayLike) -> tuple[Array, Array]:
    """Weight inside each group, diag(Hᵀ W H) with the indicator matrix H, and its volume, Hᵀ W 1."""
    codes, names = _codes("labels", labels)
    affinity: Any = W if sp.issparse(W) else np.asarray(W)
    n = len(codes)
    if affinity.ndim != 2 or affinity.shape != (n, n):
        raise ValueError(f"W has shape {affinity.shape} but there are {n} labels; pass W of shape ({n}, {n})")
    if affinity.dtype.kind != "f":
        affinity = affinity.astype(np.float64)  # bools and unsigned ints cannot be subtracted
    entries: Array = affinity.tocoo().data if sp.issparse(W) else affinity
    if not np.isfinite(entries).all() or (entries < 0).any():
        raise ValueError("W has entries that are negative or not finite; pass an uncentred affinity >= 0")
    if abs(affinity - affinity.T).max() > 1e-8 * max(entries.max(initial=0.0), 0.0):
        raise ValueError("W is not symmetric; for a directed graph pass (W + W.T) / 2")
    indicator = sp.csr_array((np.ones(n), (codes, np.arange(n))), shape=(len(names), n))
    by_group: Any = indicator @ affinity
    inside = (by_group @ indicator.T).diagonal()
    return np.asarray(inside, dtype=np.float64), np.asarray(by_group.sum(axis=1), dtype=np.float64).ravel()


def _ratio(cut: Array, volume: Array) -> Array:
    """Cut over volume, 0 where there is no volume; rounding below 0 is removed."""
    return np.divide(np.maximum(cut, 0.0), volume, out=np.zeros_like(volume), where=volume > 0)
