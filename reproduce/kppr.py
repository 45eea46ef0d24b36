"""What the experiments of the kernel PageRank paper share: its tables, the fixed kernel on them, and the scores.

The paper is S. Løkse, R. Jenssen, "Kernel Personalized PageRank", in S. Løkse, *Leveraging Kernels for Unsupervised
Learning*, thesis, UiT The Arctic University of Norway, 2020. A ranking is judged by NDCG with the exact scores on all
points as relevance. The cluster kernel is fitted once on all points and then taken as a given function; points that
are out of sample are unknown to the walk, not to the kernel.
"""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from typing import Any

import numpy as np
from sklearn.datasets import make_moons

from gramian import KernelPageRank, personalized_pagerank
from gramian.datasets import load_table, read_npz
from gramian.metrics import ndcg_at_k
from reproduce.baselines import Ensemble
from reproduce.table import Ours, Record, summary

RESTART = 0.1
PLACES = (10, 20, 30, 40)
TABLES = ("wdbc", "two_moons", "wine", "iris")
"""The largest first, so that no process waits for it at the end."""

LABELS = {
    "wine": "Wine",
    "iris": "Iris",
    "wdbc": "WDBC",
    "jain": "Two moons (Jain)",
    "make_moons": "Two moons (substitute)",
}
"""Names of the records, in the order of the reports."""


def table(name: str, data: Path | None) -> tuple[str, np.ndarray]:
    """The rows of one of ``TABLES``, and what they are: Jain's two moons are drawn if the data folder lacks them."""
    if name not in TABLES:
        raise ValueError(f"datasets has {name!r}, which the paper does not; pass some of {', '.join(TABLES)}")
    if name != "two_moons":
        return name, load_table(name).X
    path = data / "shapes" / "sipu.npz" if data is not None else None
    if path is not None and path.exists():
        return "jain", read_npz(path, X="jain_X", y="jain_y").X
    return "make_moons", make_moons((276, 97), noise=0.07, random_state=0)[0]


def which_moons(records: Iterable[Record]) -> str:
    """A line that says which two moons these are, or nothing if there are none."""
    names = {record["dataset"] for record in records}
    if "jain" in names:
        return "Two moons: Jain's data, from the data folder. The independent implementation had none of them."
    if "make_moons" in names:
        return (
            "Two moons: the substitute make_moons((276, 97), noise=0.07, random_state=0), since shapes/sipu.npz is not "
            "in the data folder (--data or GRAMIAN_DATA)."
        )
    return ""


def similarities(X: np.ndarray, ensemble: Ensemble, seed: int) -> np.ndarray:
    """The cluster kernel of all points."""
    return ensemble.kernel(seed).fit(X)(X)


def exact_scores(K: np.ndarray, queries: np.ndarray) -> np.ndarray:
    """Personalised PageRank on all points, one column per query."""
    return personalized_pagerank(K, np.eye(len(K))[:, queries], restart=RESTART, method="direct")


def walk_on(K: np.ndarray, **parameters: Any) -> KernelPageRank:
    """Kernel PageRank fitted on given similarities; by default with all eigenvectors of eigenvalue above 0.01."""
    return KernelPageRank(kernel="precomputed", restart=RESTART, **parameters).fit(K)


def rank_all(
    model: KernelPageRank, K: np.ndarray, inside: np.ndarray, outside: np.ndarray, method: str, **query: Any
) -> np.ndarray:
    """Scores of all points by a walk on those inside, one column per query, given as ``seeds`` or as ``query``."""
    inner = model.scores(method=method, **query)
    scores = np.empty((len(K), *inner.shape[1:]))
    scores[inside] = inner
    scores[outside] = model.score_samples(K[np.ix_(outside, inside)], method=method, **query)
    return scores


def ndcg(relevance: np.ndarray, scores: np.ndarray, exclude: Any = None) -> dict[str, Any]:
    """NDCG at all places of the paper, by the name of the column."""
    return {f"ndcg{k}": ndcg_at_k(relevance, scores, k=k, exclude=exclude) for k in PLACES}


def at_all_places(records: list[Record]) -> list[Ours]:
    """Means at all places, with standard errors."""
    return [summary(records, f"ndcg{k}") for k in PLACES]


def short(first: float, last: float) -> str:
    """Two NDCGs as the reference prints them: .977/.984."""
    return "/".join(f"{value:.3f}".removeprefix("0") for value in (first, last))
