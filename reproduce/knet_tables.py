"""Tables 4.2 to 4.7 of the thesis on kernel dependence: clusters by a learned deep kernel (KernelNet).

NMI and seconds on all rows (4.2, 4.3), after training on a share of them (4.4, 4.5), and the weight λ of the
reconstruction on Wine and a spiral (4.6, 4.7). Ours are the defaults of :class:`~gramian.deep.KernelNetClustering` with
the widths of the thesis: a tenth of the median distance for the two drawn sets, the median for the others. Beside them
stand k-means on the columns as they are and scaled, and spectral clustering with the same width and with the width of
the largest gap of eigenvalues among five. AEC, DEC, IMSAT and SpectralNet are quoted.
"""

from __future__ import annotations

import sys
import time
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
from sklearn.cluster import KMeans
from sklearn.datasets import load_wine
from sklearn.preprocessing import StandardScaler

from gramian import SpectralClustering
from gramian.datasets import make_parabolas, make_spirals, read_csv
from gramian.kernels import RBF, resolve_width
from gramian.metrics import normalized_mutual_info
from reproduce.table import Experiment, Options, Record, Task, markdown, select, summary

EIG, SMA = "KernelNet, eigenvectors", "KernelNet, manifold steps"
RAW, SCALED, SPECTRAL, TUNED = "k-means", "k-means, scaled", "spectral, same width", "spectral, width by eigenvalue gap"
QUOTED = ("AEC", "DEC", "IMSAT", "SpectralNet", "SC", "k-means", "KNet_EIG", "KNet_SMA")
BESIDE = {EIG: "KNet_EIG", SMA: "KNet_SMA", RAW: "k-means", SCALED: "k-means", SPECTRAL: "SC", TUNED: "SC"}
"""Which printed column a method of ours stands beside."""

_ALL = {
    "Moon": "56.2 42.2 51.3 100 72.0 66.1 100.0 100.0",
    "Spiral1": "28.3 32.0 59.6 100.0 100.0 42.0 100.0 100.0",
    "Cancer": "79.9 79.2 74.6 82.9 69.8 73.0 84.2 82.5",
    "Wine": "54.6 80.6 72.3 79.7 88.0 42.8 91.0 90.0",
    "RCV": "39.3 51.3 39.0 43.5 46 56.0 46.3 46.1",
    "Face": "76.8 75.8 83.8 75.6 66.0 91.8 93.0 92.6",
}
_SHARE = {
    "Moon": "51.1 45.6 45.5 100.0 - 21.5 100.0 100.0",
    "Spiral1": "32.2 49.5 48.7 100.0 - 56.7 100.0 100.0",
    "Cancer": "76.4 76.9 74.9 82.2 - - 84.0 83.6",
    "Wine": "49.1 81.5 69.4 77.2 - 25.0 91.1 89.3",
    "RCV": "26.8 43.2 35.2 41.3 - 52.5 45.2 43.1",
    "Face": "52.5 67.1 77.8 75.5 - 87.2 92.7 91.1",
}


def _row(line: str) -> dict[str, float]:
    """Method → NMI from 0 to 1; a dash is a method without a figure."""
    cells = zip(QUOTED, line.split(), strict=True)
    return {name: round(float(cell) / 100, 4) for name, cell in cells if cell != "-"}


TABLE_4_2 = {name: _row(line) for name, line in _ALL.items()}
TABLE_4_4 = {name: _row(line) for name, line in _SHARE.items()}
SECONDS = {
    "Moon": (157.9, 147.4, 0.34), "Spiral1": (342.0, 319.0, 4.20), "Cancer": (169.3, 160.3, 0.18),
    "Wine": (469.2, 465.4, 0.03), "RCV": (2910.0, 2196.0, 83.40), "Face": (1340.9, 1323.3, 0.26),
}  # fmt: skip
"""Table 4.3: KNet_EIG and KNet_SMA with their pre-training, and SC, on 16 cores and a graphics card."""
SECONDS_OF_SHARES = {
    "Moon": (50.3, 49.1), "Spiral1": (85.1, 83.4), "Cancer": (20.0, 17.8), "Wine": (75.3, 74.09), "RCV": (77.5, 74.1),
    "Face": (79.0, 77.76),
}  # fmt: skip
"""Table 4.5, the same without SC, which has no answer for new rows."""
SHARES = {"Moon": 0.25, "Spiral1": 0.10, "Cancer": 0.30, "Wine": 0.75, "RCV": 0.06, "Face": 0.35}
LAMBDA_NMI = {
    "Wine": {
        1.0: (0.90, 0.89), 0.1: (0.88, 0.87), 0.01: (0.87, 0.89), 0.005: (0.91, 0.90), 1e-4: (0.91, 0.91),
        0.0: (0.92, 0.91),
    },
    "Spiral1": {
        1.0: (0.446, 0.421), 0.1: (0.412, 0.414), 0.01: (0.421, 0.418), 1e-3: (0.434, 0.419), 1e-4: (0.421, 0.418),
        1e-5: (0.557, 0.558), 1e-6: (0.644, 0.56), 1e-7: (0.969, 0.824), 1e-8: (1.0, 1.0), 0.0: (1.0, 1.0),
    },
}  # fmt: skip
"""Tables 4.6 and 4.7: λ → NMI with eigenvectors and with manifold steps."""
QUICK_LAMBDAS = (1.0, 0.01, 1e-4, 0.0)

CLUSTERS = {"Moon": 2, "Spiral1": 3, "Cancer": 2, "Wine": 3, "RCV": 4, "Face": 20}
WIDTHS = {"Moon": "median10", "Spiral1": "median10"}
FILES = {"Cancer": "uci/breast_w.csv.gz", "RCV": "text/rcv1_10k_pca5.csv.gz", "Face": "images/cmu_faces_pca27.csv.gz"}
GRID = ("median10", "median20", "median50", "median", "median200")
LANDMARKS = 1500
"""Rows that spectral clustering is fitted to, at most; the others are placed by it."""

Data = tuple[np.ndarray, np.ndarray]


def load(name: str, folder: Path | None, samples: int | None = None) -> Data:
    """Rows as they are and their classes; Cancer is the original table without its 16 rows with holes."""
    if name == "Moon":
        return make_parabolas(samples or 1000, random_state=0)
    if name == "Spiral1":
        return make_spirals(samples or 3000, random_state=0)
    if name == "Wine":
        X, y = load_wine(return_X_y=True)
        return X, y
    table = read_csv((folder or Path()) / FILES[name])
    X = np.asarray(table.X, float)
    target = table.y if table.y is not None else X[:, -1]
    X = X if table.y is not None else X[:, :-1]
    full = np.isfinite(X).all(axis=1)
    return X[full], np.unique(np.asarray(target)[full], return_inverse=True)[1]


# One run -------------------------------------------------------------------------------------------------------------


def one_run(name: str, run: int, folder: Path | None, samples: int | None) -> list[Record]:
    """All methods on all rows, and the networks trained on the share of Table 4.4."""
    import torch

    torch.set_num_threads(1)
    X, y = load(name, folder, samples)
    k, Z = CLUSTERS[name], StandardScaler().fit_transform(X)
    some = np.random.default_rng(run).choice(len(X), max(round(SHARES[name] * len(X)), 2 * k), replace=False)
    answers: dict[tuple[str, str], Callable[[], np.ndarray]] = {
        (RAW, "all"): lambda: KMeans(k, n_init=10, random_state=run).fit(X).labels_,
        (SCALED, "all"): lambda: KMeans(k, n_init=10, random_state=run).fit(Z).labels_,
        (SPECTRAL, "all"): lambda: spectral(Z, k, WIDTHS.get(name, "median"), run),
        (TUNED, "all"): lambda: spectral(Z, k, widest_gap(Z, k, run), run),
        (SCALED, "share"): lambda: KMeans(k, n_init=10, random_state=run).fit(Z[some]).predict(Z),
        (SPECTRAL, "share"): lambda: spectral(Z, k, WIDTHS.get(name, "median"), run, some),
    }
    for method, update in ((EIG, "eig"), (SMA, "sma")):
        answers[method, "all"] = partial(_network, X, k, name, run, update)
        answers[method, "share"] = partial(_network, X, k, name, run, update, some)
    records = []
    for (method, rows), answer in answers.items():
        start = time.process_time()
        labels = answer()
        seconds = time.process_time() - start
        records.append(
            {
                "dataset": name,
                "method": method,
                "rows": rows,
                "weight": 0.0,
                "run": run,
                "nmi": normalized_mutual_info(y, labels, average="geometric"),
                "seconds": seconds,
            }
        )
    return records


def one_weight(name: str, weight: float, run: int, samples: int | None) -> list[Record]:
    """The network with a reconstruction of weight λ, both ways to follow U."""
    import torch

    torch.set_num_threads(1)
    X, y = load(name, None, samples)
    records = []
    for method, update in ((EIG, "eig"), (SMA, "sma")):
        model = _model(name, CLUSTERS[name], run, update, reconstruction_weight=weight, init="pretrain")
        labels = model.fit(X).labels_
        nmi = normalized_mutual_info(y, labels, average="geometric")
        moved = float(np.mean((model.embedding_ - StandardScaler().fit_transform(X)) ** 2))
        records.append(
            {
                "dataset": name,
                "method": method,
                "rows": "weights",
                "weight": weight,
                "run": run,
                "nmi": nmi,
                "objective": model.objective_,
                "moved": moved,
            }
        )
    return records


def _model(name: str, k: int, run: int, update: str, **settings: Any) -> Any:
    from gramian.deep import KernelNetClustering

    return KernelNetClustering(k, width=WIDTHS.get(name, "median"), update=update, random_state=run, **settings)


def _network(X: np.ndarray, k: int, name: str, run: int, update: str, some: np.ndarray | None = None) -> np.ndarray:
    model = _model(name, k, run, update)
    return np.asarray(model.fit(X).labels_ if some is None else model.fit(X[some]).cluster_all(X))


def spectral(Z: np.ndarray, k: int, width: Any, run: int, some: np.ndarray | None = None) -> np.ndarray:
    """Labels of all rows by a model of some of them, at most ``LANDMARKS``."""
    rows = np.arange(len(Z)) if some is None else some
    if len(rows) > LANDMARKS:
        rows = np.random.default_rng(run).choice(rows, LANDMARKS, replace=False)
    return np.asarray(SpectralClustering(k, kernel=RBF(width), random_state=run).fit(Z[rows]).predict(Z))


def widest_gap(Z: np.ndarray, k: int, run: int) -> float:
    """The width with the largest gap after the k-th eigenvalue of the normalised kernel, on at most 600 rows."""
    rows = np.random.default_rng(run).permutation(len(Z))[:600]
    gaps = {}
    for rule in GRID:
        width = resolve_width(rule, Z[rows])
        K = RBF(width).fit(Z[rows])(Z[rows])
        root = np.sqrt(K.sum(axis=1))
        values = np.linalg.eigvalsh(K / np.outer(root, root))[::-1]
        gaps[width] = values[k - 1] - values[k]
    return float(max(gaps, key=lambda width: gaps[width]))


# The tables ----------------------------------------------------------------------------------------------------------


def tasks(options: Options, runs: int) -> Iterator[Task]:
    for name in CLUSTERS:
        if options.datasets is not None and name not in options.datasets:
            continue
        if name in FILES and not (options.data and (options.data / FILES[name]).exists()):
            print(f"{name} left out: {FILES[name]} is not in the folder named by --data", file=sys.stderr)
            continue
        for run in range(runs):
            yield partial(one_run, name, run, options.data, options.samples)
        for weight in LAMBDA_NMI.get(name, ()):
            if options.full or weight in QUICK_LAMBDAS:
                for run in range(runs if options.full else 1):
                    yield partial(one_weight, name, weight, run, options.samples or (None if options.full else 600))


def report(records: list[Record]) -> str:
    parts = []
    for rows, number, published in (("all", "4.2", TABLE_4_2), ("share", "4.4", TABLE_4_4)):
        lines = []
        for name in dict.fromkeys(record["dataset"] for record in records):
            for method in BESIDE:
                if ours := select(records, dataset=name, rows=rows, method=method):
                    there = published[name].get(BESIDE[method])
                    seconds = f"{np.mean([record['seconds'] for record in ours]):.2f}"
                    lines.append(
                        (
                            f"{name}, {method}",
                            there,
                            summary(ours, "nmi"),
                            _printed_seconds(rows, name, method),
                            seconds,
                        )
                    )
        title = "all rows" if rows == "all" else "trained on a share, asked for all"
        head = ("data, method", "published NMI", "ours ± s.e.", "published s", "ours, processor s")
        parts += [f"### Tables {number} and {'4.3' if rows == 'all' else '4.5'}: {title}", markdown(head, lines)]
    for name, number in (("Wine", "4.6"), ("Spiral1", "4.7")):
        if found := select(records, dataset=name, rows="weights"):
            lines = []
            for weight in dict.fromkeys(record["weight"] for record in found):
                for method, column in ((EIG, 0), (SMA, 1)):
                    ours = select(found, weight=weight, method=method)
                    objective, moved = (f"{np.mean([one[key] for one in ours]):.3f}" for key in ("objective", "moved"))
                    there = LAMBDA_NMI[name][weight][column]
                    lines.append((f"λ = {weight:g}, {method}", there, summary(ours, "nmi"), objective, moved))
            head = ("weight, method", "published NMI", "ours ± s.e.", "objective", "mean squared move of a cell")
            parts += [f"### Table {number}: {name}", markdown(head, lines)]
    quoted = ((name, *(row.get(method) for method in QUOTED)) for name, row in TABLE_4_2.items())
    return "\n\n".join([*parts, "### All of Table 4.2 as printed", markdown(("data", *QUOTED), quoted), CLOSING])


def _printed_seconds(rows: str, name: str, method: str) -> float | None:
    known = SECONDS[name] if rows == "all" else SECONDS_OF_SHARES[name]
    where = {EIG: 0, SMA: 1, SPECTRAL: 2}.get(method, 9)
    return known[where] if where < len(known) else None


CLOSING = """### What the figures do not say

The printed k-means of Moon and Wine is on columns as they are, and the printed SC on Moon has a poor width: scaled
k-means and spectral clustering with the network's own width are the fair rivals. On the two drawn sets the default
trains no round with U in it, so both updates are one there. The defaults of the network (rounds, noise, width of the
refinement) were chosen on Moon, Spiral, Wine, Cancer and Face with their classes in sight, so these NMI are optimistic;
RCV had no part in it. All tables are fixed, the drawn ones too: the standard error is of random states and shares
alone. Scales of λ differ from the thesis', whose objective on Wine is not the one it defines; the quick budget has one
run for each λ, on 600 points of the spiral. λ has no part in the refinement, which is all that the default trains on
the spiral, so our rows of Table 4.7 say nothing about λ."""

EXPERIMENT = Experiment(
    name="knet_tables",
    title="KernelNet (Wu 2020, Tables 4.2 to 4.7): NMI and seconds",
    runs=3,
    tasks=tasks,
    report=report,
    names_ensemble=False,
    published_runs=10,
)
