"""Image queries in the thesis on joint ranking and clustering: which images are like a given four or nine?

The thesis shows lists of images for some queries from 400 fours and 400 nines of USPS: lists by joint ranking stay with
the digit, lists by Euclidean distance with the look of it. Here every image is a query, and the part of its own digit
among the first 10, 20 and 50 is counted. USPS needs ``images/usps.npz``; the small digits of scikit-learn, for which
there are figures of an independent implementation, are always run. Images are reduced to 20 principal components.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial
from pathlib import Path

import numpy as np
from scipy.spatial.distance import cdist
from sklearn.cluster import KMeans
from sklearn.datasets import load_digits
from sklearn.decomposition import PCA

from gramian.datasets import read_npz
from gramian.metrics import clustering_accuracy, precision_at_k
from reproduce.baselines import N_INIT, Ensemble
from reproduce.joint import data_file, full_covariances, joint, kpca, quietly
from reproduce.table import Experiment, Options, Record, Task, lead, markdown, select, signed, summary

PLACES = (10, 20, 50)
SMALL, USPS = "digits (8×8)", "usps"
COMPONENTS = 20
FULL = "joint, full covariances"

REIMPLEMENTED = {
    ("joint", 10): 0.991,
    ("joint", 20): 0.982,
    ("joint", 50): 0.981,
    ("Euclidean", 10): 0.992,
    ("Euclidean", 20): 0.979,
    ("Euclidean", 50): 0.961,
    ("joint", "acc"): 0.992,
    ("KPCA", "acc"): 0.909,
    ("k-means", "acc"): 0.975,
}
"""Of the small digits, by an independent implementation with 10 restarts and one seed."""


def fours_and_nines(path: Path | None, each: int, rng: np.random.Generator) -> tuple[str, np.ndarray, np.ndarray]:
    """So many fours and nines of USPS, drawn anew; without its file all those of the small digits."""
    if path is None:
        X, y = load_digits(return_X_y=True)
        chosen = np.flatnonzero((y == 4) | (y == 9))
        return SMALL, X[chosen] / 16.0, y[chosen]
    table = read_npz(path)
    y = np.asarray(table.y)
    groups = [np.flatnonzero(y == digit) for digit in (4, 9)]
    chosen = np.concatenate([rng.choice(group, min(each, len(group)), replace=False) for group in groups])
    return USPS, table.X[chosen].astype(np.float64) / 1000.0, y[chosen]


def one_draw(path: Path | None, run: int, each: int, ensemble: Ensemble) -> list[Record]:
    """Precision of both rankings over all queries, and accuracy of three clusterings, on one draw of images."""
    name, X, y = fours_and_nines(path, each, np.random.default_rng(run))
    X = PCA(min(COMPONENTS, *X.shape), random_state=0).fit_transform(X)
    K = ensemble.kernel(run).fit(X)(X)
    model = quietly(joint(2, run), K)
    full = quietly(joint(2, run), full_covariances(ensemble, run).fit(X)(X))
    everyone = np.arange(len(X))
    same = (y[:, None] == y[None, :]).astype(np.float64)
    rankings = {
        "joint": model.scores(np.eye(len(X))),
        FULL: full.scores(np.eye(len(X))),
        "Euclidean": -cdist(X, X),
    }
    records: list[Record] = []
    for method, scores in rankings.items():
        precisions = {
            f"precision{k}": float(np.mean(precision_at_k(same, scores, k, exclude=everyone))) for k in PLACES
        }
        records.append({"dataset": name, "method": method, "run": run, **precisions})
    models = {
        "joint": model,
        FULL: full,
        "KPCA": kpca(2, run).fit(K),
        "k-means": KMeans(2, n_init=N_INIT, random_state=run).fit(X),
    }
    for method, found in models.items():
        accuracy = float(clustering_accuracy(y, found.labels_))
        records.append({"dataset": name, "method": method, "run": run, "acc": accuracy})
    return records


def tasks(options: Options, runs: int) -> Iterator[Task]:
    # Principal components share the unit of the pixels, and their spread is what tells them from noise.
    ensemble = Ensemble(options.restarts, options.components, standardize=False)
    usps = data_file(options.data, "images/usps.npz")
    for path in (None,) if usps is None else (usps, None):
        for run in range(runs):
            yield partial(one_draw, path, run, options.samples or 400, ensemble)


def report(records: list[Record]) -> str:
    found = [name for name in (USPS, SMALL) if select(records, dataset=name)]
    note = "" if USPS in found else "images/usps.npz is not in the data folder (--data or GRAMIAN_DATA): no USPS. "
    parts = [
        note + "Part of the query's own digit among the first of the list, the query left out, mean over all queries. "
        "The thesis has lists of images alone; re-implemented figures are of the small digits.",
        markdown(
            (
                "images, place",
                "joint re-impl.",
                "joint ± s.e.",
                "full covariances ± s.e.",
                "Euclidean re-impl.",
                "Euclidean ± s.e.",
                "joint's lead ± s.e.",
                "full's lead ± s.e.",
            ),
            [row for name in found for row in _precisions(records, name)],
        ),
        "Clustering into two, accuracy:",
        markdown(
            ("images, method", "re-implemented", "ours ± s.e.", "difference", "lowest to highest"),
            [row for name in found for row in _accuracies(records, name)],
        ),
    ]
    return "\n\n".join(parts)


def _precisions(records: list[Record], name: str) -> Iterator[tuple[object, ...]]:
    here = [record for record in select(records, dataset=name) if "precision10" in record]
    ours, full, rival = (select(here, method=method) for method in ("joint", FULL, "Euclidean"))
    for k in PLACES:
        score = f"precision{k}"
        again = [f"{REIMPLEMENTED[method, k]:.3f}" if name == SMALL else None for method in ("joint", "Euclidean")]
        values = [summary(group, score) for group in (ours, full, rival)]
        ahead = [signed(lead(group, rival, score)) for group in (ours, full)]
        yield f"{name} @{k}", again[0], *values[:2], again[1], values[2], *ahead


def _accuracies(records: list[Record], name: str) -> Iterator[tuple[object, ...]]:
    for method in ("joint", FULL, "KPCA", "k-means"):
        here = [record for record in select(records, dataset=name, method=method) if "acc" in record]
        ours, values = summary(here), [record["acc"] for record in here]
        again = REIMPLEMENTED[method.removesuffix(FULL[5:]), "acc"] if name == SMALL else None
        beside = (None, ours, None) if again is None else (f"{again:.3f}", ours, f"{ours.mean - again:+.3f}")
        yield f"{name}, {method}", *beside, f"{min(values):.3f} to {max(values):.3f}"


EXPERIMENT = Experiment(
    name="joint_digits",
    title="Image queries among fours and nines (joint ranking and clustering)",
    runs=5,
    tasks=tasks,
    report=report,
)
