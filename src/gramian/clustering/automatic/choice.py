"""The automatic choice: rows to judge by, the number of clusters, the way to cluster, and how sure it is."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from gramian.clustering.automatic.rows import Rows
from gramian.clustering.automatic.scoring import agreements, closest, normalized_cut, scores
from gramian.clustering.automatic.stability import cluster_stability, stability
from gramian.clustering.automatic.verdict import verdict
from gramian.clustering.automatic.views import MIXTURE, WAYS, clusterings
from gramian.clustering.core import labels_by_first_row, shares_of_gaps
from gramian.kernels import NeighborGraph
from gramian.typing import Array

_JUDGED_ROWS = 1000
_FEWEST_ROWS = 8  # different ones; fewer do not show clusters, unless each of them occurs often
_FEWEST_IN_CLUSTER = 3  # rows that show one
_CUT_NEIGHBORS = 5
_RESAMPLES = 6
_COUNTS = 4  # numbers of clusters that are tried, at most
_WIDE = 0.5  # of the widest gap
_FOUND_AGAIN = 0.8  # Jaccard index of every cluster, for more of them than agreement would choose


@dataclass(frozen=True)
class Judged:
    """The rows that are clustered and judged.

    Attributes
    ----------
    index : ndarray (m,)
        At most 1,000 rows of the table, no two of them equal.
    of_few_kinds : bool
        Whether the table has a handful of different rows, each of which occurs often: then all copies are among the
        rows, and the kinds are the clusters.
    n_clusters : int or None
    most : int
        Clusters considered; 1 for rows too few to tell.
    """

    index: Array
    of_few_kinds: bool
    n_clusters: int | None
    most: int

    @classmethod
    def of(
        cls,
        X: Array,
        n_clusters: int | None,
        max_clusters: int,
        columns: Sequence[Any] | None,
        rng: np.random.Generator,
    ) -> Judged:
        """Rows of X (n, d), NaN where missing, and how many clusters to look for."""
        filled = np.where(np.isnan(X), np.inf, X)
        kinds, distinct, copies = np.unique(filled, axis=0, return_index=True, return_counts=True)
        if len(distinct) == 1:
            raise ValueError("X has no column with two different observed values, so no row can be told from another")
        if n_clusters is not None and n_clusters > len(distinct):
            most = len(distinct)
            raise ValueError(
                f"n_clusters={n_clusters} is more than the {most} different rows; pass n_clusters <= {most}"
            )
        heaps = int(np.sum(np.isfinite(kinds).all(axis=1) & (copies >= _FEWEST_IN_CLUSTER)))
        of_few_kinds = len(kinds) < _FEWEST_ROWS and heaps > 1 and not _all_combinations(kinds, columns)
        if of_few_kinds:  # only with their copies can kinds be resampled
            n_clusters, distinct = n_clusters or min(heaps, max_clusters), np.arange(len(X))
        length = min(len(distinct), max(_JUDGED_ROWS, 5 * (n_clusters or 1)))
        index = np.sort(rng.choice(distinct, length, replace=False))
        if n_clusters is not None:
            most = int(n_clusters)
        else:
            most = max(2, min(max_clusters, length // _FEWEST_IN_CLUSTER)) if length >= _FEWEST_ROWS else 1
        return cls(index, of_few_kinds, n_clusters, most)


def _all_combinations(kinds: Array, columns: Sequence[Any] | None) -> bool:
    """Whether every value of each of several columns occurs with every value of the others, as without clusters."""
    names = np.arange(kinds.shape[1]) if columns is None else np.asarray(columns)
    values = [len(np.unique(kinds[:, names == name], axis=0)) for name in np.unique(names)]
    varying = [count for count in values if count > 1]
    return len(varying) > 1 and len(kinds) == int(np.prod(varying))


@dataclass(frozen=True)
class Choice:
    """The chosen clustering of the judged rows into k clusters.

    Attributes
    ----------
    name : str
        Of the way to cluster, a key of :data:`~gramian.clustering.automatic.views.WAYS`.
    labels : ndarray (m,)
    candidates : list of dict
        All ways with this number of clusters, best first.
    agreements : ndarray
        Adjusted Rand indices with the ways of other families.
    """

    name: str
    labels: Array
    candidates: list[dict[str, Any]]
    agreements: Array

    @property
    def agreement(self) -> float:
        """Median agreement; 1 where there is nothing to agree with."""
        return float(np.median(self.agreements)) if len(self.agreements) else 1.0

    @property
    def mean_agreement(self) -> float:
        """Mean agreement; 1 where there is nothing to agree with."""
        return float(np.mean(self.agreements)) if len(self.agreements) else 1.0


class Trials:
    """The rows clustered in several ways with several numbers of clusters.

    Parameters
    ----------
    rows : Rows
    ways : sequence of str
    seed : int
    """

    def __init__(self, rows: Rows, ways: Sequence[str], seed: int) -> None:
        self.rows, self.ways, self.seed = rows, ways, seed
        self.graph = NeighborGraph(_CUT_NEIGHBORS).fit(rows.completed)(rows.completed)
        self.found: dict[str, dict[int, Array]] = {name: {} for name in ways}

    def add(self, counts: Iterable[int], *, without: str = "") -> None:
        """Cluster with these numbers of clusters, in all ways but one."""
        for name, found in self.found.items():
            if name != without:
                new = sorted(set(counts) - set(found))
                for k, labels in clusterings(name, self.rows, new, self.seed).items():
                    found[k] = labels_by_first_row(labels)[0]

    def choose(self, k: int) -> Choice:
        """The way that others agree with and that cuts few edges; see :func:`scoring.scores`."""
        ways = [name for name in self.ways if k in self.found[name]]
        found = [self.found[name][k] for name in ways]
        pairs = agreements(found, [WAYS[name].family for name in ways])
        agreement, cuts = closest(pairs), np.array([normalized_cut(labels, self.graph) for labels in found])
        score = scores(agreement, cuts)
        order = np.argsort(-score, kind="stable")
        candidates = [
            {
                "name": ways[i],
                "title": WAYS[ways[i]].title,
                "n_clusters": k,
                "agreement": float(agreement[i]),
                "cut": float(cuts[i]),
                "score": float(score[i]),
                "chosen": bool(i == order[0]),
            }
            for i in order
        ]
        best = int(order[0])
        return Choice(ways[best], found[best], candidates, pairs[best][~np.isnan(pairs[best])])


def choose(trials: Trials, judged: Judged) -> tuple[Choice, list[int]]:
    """The number of clusters and the way to cluster, and numbers to show beside it.

    Two walks are asked for the number of clusters: one between the rows that mixtures most often keep together, one
    between the 20 nearest neighbours. Their eigenvalues propose at most four numbers, those after which the gap is
    widest, and each is judged by a sum: how wide the gap is, the mean of both walks, from 0 to 1
    (:func:`~gramian.clustering.core.shares_of_gaps`), and how well the ways to cluster agree on this number, by their
    mean adjusted Rand index. Evidence: on 48 labelled sets the mean adjusted Rand index with the classes is 0.65, with
    the right number 0.68, with the largest number that one of three walks shows 0.60, by the gaps of one of the two
    walks and the agreement 0.60, by the agreement alone 0.58.

    Ways agree more easily on fewer clusters. So a larger number is taken if one of the walks has its widest gap there
    and all its clusters are found again in resampled rows (Jaccard index of at least 0.8). Evidence: 0.663 instead of
    0.650 on the 48 sets, 0.468 instead of 0.460 with a fifth of the values missing, all of it on tables. Limits from
    0.75 to 0.85 do the same on all sets but one; with lower ones shapes fall apart. Evidence against: on 76 shapes that
    it was not chosen on 0.716 instead of 0.728 (0.470 instead of 0.463 with a fifth missing).

    Parameters
    ----------
    trials : Trials
    judged : Judged
    """
    if judged.n_clusters is not None or judged.most <= 2:
        trials.add([judged.most])
        return trials.choose(judged.most), [judged.most]
    rows = trials.rows
    shares = shares_of_gaps([rows.sharpened, rows.neighbors], judged.most)
    gaps = shares.mean(axis=0)
    widest = np.argsort(-gaps, kind="stable")[:_COUNTS]
    counts = [2 + int(place) for place in widest if gaps[place] >= _WIDE * gaps.max()]
    trials.add(counts, without=MIXTURE)  # which costs more than all other ways together
    k = max(counts, key=lambda count: float(gaps[count - 2]) + trials.choose(count).mean_agreement)
    finer = {2 + int(place) for place in shares.argmax(axis=1)} & {count for count in counts if count > k}
    k = next((count for count in sorted(finer, reverse=True) if _is_found_again(trials, count)), k)
    trials.add([k])
    shown = {*counts, k - 1, k, k + 1}
    return trials.choose(k), sorted(count for count in shown if 2 <= count <= judged.most)


def _is_found_again(trials: Trials, k: int) -> bool:
    """Whether all of k clusters are found in parts of the rows."""
    choice = trials.choose(k)
    resampled = _resampled(choice.name, trials.rows, [k], trials.seed)[k]
    return float(cluster_stability(choice.labels, resampled).min()) >= _FOUND_AGAIN


def _resampled(way: str, rows: Rows, counts: list[int], seed: int) -> dict[int, list[tuple[Array, Array]]]:
    """Clusterings of parts of the rows with several numbers of clusters."""
    rng = np.random.default_rng(seed)
    found: dict[int, list[tuple[Array, Array]]] = {count: [] for count in counts}
    for _ in range(_RESAMPLES):
        kept, part = rows.part(rng)
        possible = [count for count in counts if count <= len(kept)]
        for count, labels in clusterings(way, part, possible, seed, n_init=2).items():
            found[count].append((kept, labels))
    return found


@dataclass(frozen=True)
class Evidence:
    """How surely the chosen clusters are found again.

    Attributes
    ----------
    stability : float
        Mean adjusted Rand index with clusterings of resampled rows.
    cluster_stability : ndarray (k,)
        Mean largest Jaccard index of each cluster.
    counts : list of (int, float)
        Numbers of clusters, and the stability of the least stable cluster with each.
    verdict : str
    levels : dict of int to ndarray (m,)
        Labels with each of these numbers.
    level_stability : dict of int to ndarray
        The stability of each of their clusters.
    """

    stability: float
    cluster_stability: Array
    counts: list[tuple[int, float]]
    verdict: str
    levels: dict[int, Array]
    level_stability: dict[int, Array]


def gather_evidence(choice: Choice, rows: Rows, counts: list[int], excess: float, seed: int) -> Evidence:
    """Cluster parts of the rows in the chosen way, with several numbers of clusters.

    Parameters
    ----------
    choice : Choice
    rows : Rows
        Those that were chosen by.
    counts : list of int
        Numbers of clusters that are shown beside the chosen one.
    excess : float
        Structure beyond chance, see :func:`~gramian.clustering.automatic.verdict.verdict`.
    seed : int
    """
    k = int(choice.labels.max()) + 1
    # A mixture costs far more than k-means, and is not tried with numbers that are only shown.
    others = [] if choice.name == MIXTURE else [count for count in counts if count != k]
    whole = {k: choice.labels, **clusterings(choice.name, rows, others, seed)}
    found = _resampled(choice.name, rows, list(whole), seed)
    each = {count: cluster_stability(labels, found[count]) for count, labels in whole.items()}
    return Evidence(
        stability(choice.labels, found[k]),
        each[k],
        sorted((count, float(own.min())) for count, own in each.items()),
        verdict(excess, choice.agreement, each[k]),
        whole,
        each,
    )
