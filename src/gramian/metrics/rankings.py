"""Scores for ranked lists, and how alike two score vectors are."""

from __future__ import annotations

from typing import Any, Literal

import numpy as np
from numpy.typing import ArrayLike
from scipy.stats import kendalltau, spearmanr

from gramian.checks import whole
from gramian.typing import Array


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
