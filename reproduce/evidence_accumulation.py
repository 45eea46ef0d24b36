"""Evidence accumulation (Fred and Jain 2005): the votes of many k-means partitions against single runs of k-means.

The thesis describes the method without an experiment. Here shapes that k-means cannot cut and real tables are clustered
with the number of clusters given, by one k-means start, by the best of ten, and by the votes of 200 quick partitions
with average linkage, single linkage and spectral clustering of the votes; and with the number left to the votes.
"""

from __future__ import annotations

import time
import warnings
from collections.abc import Callable, Iterator
from functools import partial

import numpy as np
from sklearn.cluster import KMeans
from sklearn.exceptions import ConvergenceWarning

from gramian import ConsensusClustering
from gramian.datasets import load_table, make_crescents, make_parabolas, make_rings, make_spirals
from gramian.metrics import adjusted_rand
from reproduce.baselines import standardize
from reproduce.table import Experiment, Options, Record, Task, lead, markdown, select, signed, summary

SHAPES: dict[str, Callable[[int], tuple[np.ndarray, np.ndarray]]] = {
    "rings": lambda seed: make_rings(random_state=seed),
    "crescents": lambda seed: make_crescents(random_state=seed),
    "parabolas": lambda seed: make_parabolas(random_state=seed),
    "spirals": lambda seed: make_spirals(random_state=seed),
}
TABLES = ("iris", "wine", "wdbc", "ecoli")
SINGLE = {"k-means, one start": 1, "k-means, best of ten": 10}
VOTES = {"votes, average linkage": "average", "votes, single linkage": "single", "votes, spectral": "spectral"}
UNKNOWN = "votes, number unknown"
METHODS = (*SINGLE, *VOTES, UNKNOWN)


def one_run(name: str, run: int, partitions: int) -> list[Record]:
    """All methods on one draw of a shape, or on a table with other starts."""
    if name in SHAPES:
        X, y = SHAPES[name](run)
    else:
        table = load_table(name)
        X, y = standardize(table.X), table.y
    k = len(np.unique(y))
    records: list[Record] = []

    def score(method: str, fitted: Callable[[], np.ndarray]) -> None:
        start = time.perf_counter()
        labels = fitted()
        seconds = round(time.perf_counter() - start, 4)
        found = {"ari": adjusted_rand(y, labels), "k": len(np.unique(labels)), "classes": k, "seconds": seconds}
        records.append({"dataset": name, "run": run, "method": method, **found})

    for method, starts in SINGLE.items():
        score(method, KMeans(k, init="random", n_init=starts, random_state=run).fit(X).labels_.copy)
    with warnings.catch_warnings():
        # An uncertain number of clusters is a result here, and the column of k tells it.
        warnings.simplefilter("ignore", ConvergenceWarning)
        warnings.simplefilter("ignore", UserWarning)
        for method, linkage in VOTES.items():
            model = ConsensusClustering(k, n_partitions=partitions, base="kmeans", linkage=linkage, random_state=run)
            score(method, lambda model=model: model.fit(X).labels_)
        model = ConsensusClustering(n_partitions=partitions, base="kmeans", linkage="average", random_state=run)
        score(UNKNOWN, lambda: model.fit(X).labels_)
    return records


def tasks(options: Options, runs: int) -> Iterator[Task]:
    partitions = 20 if options.samples else 200
    for run in range(runs):
        for name in options.datasets or (*SHAPES, *TABLES):
            yield partial(one_run, name=name, run=run, partitions=partitions)


def report(records: list[Record]) -> str:
    names = [name for name in (*SHAPES, *TABLES) if select(records, dataset=name)]
    rows = []
    for name in names:
        here = select(records, dataset=name)
        rows.append((name, *(summary(select(here, method=method), "ari") for method in METHODS)))
    ahead = []
    for method in VOTES:
        votes = select(records, method=method)
        rivals = select(records, method="k-means, best of ten")
        ahead.append(f"{method} {signed(lead(votes, rivals, 'ari', by=('dataset', 'run')))}")
    numbers = []
    for name in names:
        found = select(records, dataset=name, method=UNKNOWN)
        right = sum(record["k"] == record["classes"] for record in found)
        numbers.append(f"{name} {right} of {len(found)}")
    return "\n\n".join(
        [
            "Adjusted Rand index, mean ± standard error over runs. The thesis prints no figures for this method.",
            markdown(["data", *METHODS], rows),
            f"Lead over the best of ten k-means, mean over all data: {'; '.join(ahead)}.",
            f"Right number of clusters by the longest lifetime: {'; '.join(numbers)}.",
            "### What the figures do not say\n\nThe linkage that wins on a shape loses on a table, and nothing but the "
            "labels tells which to take: a single column of this table is what a user can have, not the best of each "
            "row. The partitions have √n / 2 to √n clusters, as the default has; Fred and Jain choose the range by "
            "hand. The longest lifetime seldom finds the number of clusters here.",
        ]
    )


EXPERIMENT = Experiment(
    name="evidence_accumulation",
    title="Evidence accumulation (Fred and Jain 2005): votes of many partitions against single runs of k-means",
    runs=10,
    tasks=tasks,
    report=report,
    names_ensemble=False,
)
