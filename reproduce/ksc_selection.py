"""Choosing the number of clusters of kernel spectral clustering: the gap of the eigenvalues against published criteria.

Alzate & Suykens (2010) choose width and number by the balanced line fit on validation rows, Mall et al. (2013) by the
balanced angular fit, Langone et al. (2013) by the average membership strength; the lecture shows a toy without numbers.
Here all of them read the same table of ten widths and two to ten clusters, half of the rows held back, on draws whose
number is known, and on noise, where the answer is that no number stands out.
"""

from __future__ import annotations

import time
import warnings
from collections.abc import Callable, Iterator
from functools import partial
from typing import Any

import numpy as np
from sklearn.datasets import make_moons

from gramian import KernelSpectralClustering
from gramian.datasets import make_rings
from gramian.metrics import adjusted_rand
from reproduce.table import Experiment, Options, Record, Task, markdown, select

Drawn = tuple[np.ndarray, np.ndarray]
FIRST = 710_000
"""Seeds count from here; the rule was made on others."""
METHODS = ("gap", "ams", "blf", "baf", "bas")
"""The library's rule, and what each published criterion would have chosen."""


def gaussians(run: int) -> Drawn:
    """2 to 8 clusters of 30 to 200 rows, in 2 to 5 dimensions, deviations 0.7 to 1.2, centres at least 6 apart."""
    rng = np.random.default_rng(FIRST + 1000 + run)
    k, d = int(rng.integers(2, 9)), int(rng.integers(2, 6))
    centers = np.zeros((k, d))
    while np.linalg.norm(centers[:, None] - centers[None] + 99 * np.eye(k)[:, :, None], axis=2).min() <= 6:
        centers = rng.uniform(-12, 12, (k, d))
    sizes = rng.integers(30, 201, k)
    parts = [rng.normal(size=(n, d)) * rng.uniform(0.7, 1.2) + c for n, c in zip(sizes, centers, strict=True)]
    return np.vstack(parts), np.repeat(range(k), sizes)


def nested(run: int) -> Drawn:
    """Five clusters, of which two pairs lie together."""
    rng = np.random.default_rng(FIRST + 2000 + run)
    centers = np.array([(0, 0), (7, 0), (30, 0), (37, 0), (15, 30)])
    sizes = rng.integers(50, 151, 5)
    return np.repeat(centers, sizes, axis=0) + rng.normal(size=(sizes.sum(), 2)), np.repeat(range(5), sizes)


def toy(run: int) -> Drawn:
    """Three clusters at (0, 0), (4, 0), (2, 3.5), deviation 0.6, 200 rows each."""
    rng = np.random.default_rng(FIRST + 3000 + run)
    y = np.repeat(range(3), 200)
    return np.array([(0, 0), (4, 0), (2, 3.5)])[y] + 0.6 * rng.normal(size=(600, 2)), y


def moons(run: int) -> Drawn:
    X, y = make_moons(400, noise=0.06, random_state=FIRST + 4000 + run)
    return X, y


def rings(run: int) -> Drawn:
    X, y = make_rings(random_state=FIRST + 5000 + run)
    return X, y


def one_gaussian(run: int) -> Drawn:
    rng = np.random.default_rng(FIRST + 6000 + run)
    return rng.normal(size=(400, int(rng.integers(2, 6)))), np.zeros(400, int)


def uniform(run: int) -> Drawn:
    rng = np.random.default_rng(FIRST + 7000 + run)
    return rng.uniform(size=(400, int(rng.integers(1, 4)))), np.zeros(400, int)


DRAWS: dict[str, Callable[[int], Drawn]] = {
    "2–8 Gaussian clusters": gaussians,
    "clusters of clusters": nested,
    "three Gaussian clusters": toy,
    "two moons": moons,
    "two rings": rings,
    "one Gaussian": one_gaussian,
    "uniform noise": uniform,
}


def one_draw(name: str, run: int) -> list[Record]:
    """What every rule finds on one draw; ``acc`` is 1 where it is right."""
    X, y = DRAWS[name](run)
    true = len(np.unique(y))
    start = time.process_time()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)
        model = KernelSpectralClustering(random_state=run).fit(X)
    seconds = time.process_time() - start
    nothing = model.chosen_by_ == "nothing"
    right = nothing if true == 1 else (model.n_clusters_ == true and not nothing)
    ari = float(adjusted_rand(y, model.labels_)) if true > 1 else float("nan")
    common: dict[str, Any] = {"dataset": name, "run": run, "rows": len(X)}
    records = [common | {"method": "gap", "acc": float(right), "found": model.n_clusters_, "ari": ari}]
    records[0] |= {"seconds": seconds, "true": true}
    assert model.criteria_choices_ is not None
    for criterion, found in model.criteria_choices_.items():
        records.append(common | {"method": criterion, "acc": float(found == true), "found": found})
    return records


def tasks(options: Options, runs: int) -> Iterator[Task]:
    for name in DRAWS:
        if options.datasets is None or name in options.datasets:
            for run in range(runs):
                yield partial(one_draw, name, run)


def report(records: list[Record]) -> str:
    lines = []
    for name in dict.fromkeys(record["dataset"] for record in records):
        found = select(records, dataset=name)
        ours = select(found, method="gap")
        counts = []
        for method in METHODS:
            part = select(found, method=method)
            silent = name in ("one Gaussian", "uniform noise") and method != "gap"
            counts.append("–" if silent else f"{sum(record['acc'] for record in part):.0f} of {len(part)}")
        seconds = np.mean([record["seconds"] for record in ours])
        ari = np.mean([record["ari"] for record in ours])
        lines.append((name, *counts, "–" if np.isnan(ari) else f"{ari:.3f}", f"{seconds:.2f}"))
    return markdown(("draws", "gap", "AMS", "BLF", "BAF", "BAS", "ARI", "seconds"), lines)


EXPERIMENT = Experiment(
    name="ksc_selection",
    title="Number of clusters of kernel spectral clustering: gap against BLF, BAF, AMS and BAS",
    runs=20,
    tasks=tasks,
    report=report,
    names_ensemble=False,
)
