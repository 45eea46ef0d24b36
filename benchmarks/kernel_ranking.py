"""How fast are queries and new rows once a walk is decomposed, beside solving or fitting again for each?"""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy.sparse import csc_array
from sklearn.datasets import make_blobs

from benchmarks.case import Case, Scores
from gramian import ClusterKernel, KernelPageRank
from gramian.metrics import ndcg_at_k
from gramian.ranking import best_first
from gramian.ranking.kernel_walk.walk import exact_scores

N, QUERIES, NEW, SOLVED, JUDGED, TOP = 100_000, 1000, 10_000, 4, 32, 50


def _rows(n: int, seed: int) -> np.ndarray:
    X, _ = make_blobs(n, centers=20, n_features=8, cluster_std=2.5, random_state=0)
    return X + 0.1 * np.random.default_rng(seed).standard_normal(X.shape)


def _unfitted() -> KernelPageRank:
    # 10 mixtures of 2 to 15 components: 1190 features, whose small dual is decomposed.
    return KernelPageRank(kernel=ClusterKernel(10, 15), n_components=60, random_state=0)


def _fitted() -> KernelPageRank:
    return _unfitted().fit(_rows(N, 1))


def _seeds(count: int) -> csc_array:
    seeds = np.random.default_rng(2).choice(N, QUERIES, replace=False)[:count]
    return csc_array((np.ones(count), (seeds, np.arange(count))), shape=(N, count))


def _one_by_one(model: KernelPageRank) -> np.ndarray:
    """Lists without the decomposition: every query solves for itself, to six digits."""
    walk, seeds, lists = model._the_walk(), _seeds(SOLVED), []
    for j in range(SOLVED):
        scores = exact_scores(walk, seeds[:, [j]], model.restart, solver="cg", tol=1e-6)[:, 0]
        scores[seeds.indices[j]] = -np.inf
        lists.append(best_first(scores, TOP))
    return np.array(lists).T


def _queries_score(model: KernelPageRank, lists: np.ndarray) -> Scores:
    """How good the lists of the first queries are: NDCG@50 by exact scores, the query left out."""
    count = min(JUDGED, lists.shape[1])
    seeds = _seeds(count)
    exact = model.scores(seeds, method="exact")
    places = np.zeros((N, count))
    np.put_along_axis(places, lists[:, :count], np.arange(len(lists), 0, -1.0)[:, None], axis=0)
    quality = ndcg_at_k(exact, places, TOP, exclude=seeds.indices)
    return {"queries": int(lists.shape[1]), "ndcg_at_50": float(np.mean(quality)), "components": model.n_components_}


def _new_data() -> tuple[KernelPageRank, np.ndarray]:
    return _fitted(), _rows(N, 3)[:NEW]


def _refit(data: tuple[KernelPageRank, np.ndarray]) -> np.ndarray:
    return _unfitted().fit(np.vstack([_rows(N, 1), data[1]])).scores(7)[N:]


def _new_score(data: tuple[KernelPageRank, np.ndarray], scores: np.ndarray) -> Scores:
    return {"rows": len(scores), "mean_score": float(scores.mean())}


def _case(name: str, question: str, target: str, data: Any, sides: dict[str, Any], score: Any) -> Case:
    return Case(name=name, question=question, target=target, data=data, sides=sides, score=score, repeats=1)


CASES = [
    _case(
        "kernel_pagerank_queries",
        f"Top-{TOP} lists of {QUERIES:,} queries on {N:,} rows, the walk decomposed; solving does {SOLVED} of them",
        ">= 100× faster per query than an exact solve for each",
        _fitted,
        {
            "gramian": lambda model: model.rank(_seeds(QUERIES), top=TOP, exclude_seeds=True),
            f"exact, {SOLVED} queries": _one_by_one,
        },
        _queries_score,
    ),
    _case(
        "kernel_pagerank_new_rows",
        f"Scores of {NEW:,} new rows for a query among {N:,} fitted ones",
        ">= 100× faster than fitting again with them",
        _new_data,
        {
            "gramian": lambda data: data[0].score_samples(data[1], seeds=7),
            "fit again": _refit,
        },
        _new_score,
    ),
]
