"""Indefinite kernels, TL1 and tanh, against RBF in kernel spectral clustering, on tables whose classes are known.

Mehrkanoon, Huang & Suykens (2018) cluster with indefinite kernels; their tables are not available to us. All three
kernels have ten values of their parameter, of which the model chooses one on the half of the rows held back, with the
number of clusters given. Columns are scaled to [0, 1] for TL1, as it wants them, and standardised for tanh; RBF has
both.
"""

from __future__ import annotations

import sys
import time
import warnings
from collections.abc import Iterator
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
from sklearn.preprocessing import MinMaxScaler, StandardScaler

from gramian import KernelSpectralClustering
from gramian.kernels import TL1, Tanh
from gramian.metrics import adjusted_rand
from reproduce.lssvm_indefinite import load
from reproduce.table import Experiment, Options, Record, Task, lead, markdown, select, signed, summary

TABLES = ("banknote", "breast_w", "ecoli", "glass", "iris", "ionosphere", "seeds", "vehicle", "wdbc", "wine")
ROWS = 600
"""Most rows taken of a table, drawn anew in every run."""
KERNELS = ("RBF", "RBF, [0, 1]", "TL1", "tanh")
PAIRS = (("TL1", "RBF, [0, 1]"), ("tanh", "RBF"))
"""An indefinite kernel, and the definite one on the same columns."""


def _kernel(name: str, d: int) -> Any:
    if name == "TL1":
        return [TL1(float(factor * d)) for factor in np.geomspace(0.05, 1, 10)]
    if name == "tanh":
        return [Tanh(slope=float(factor / d)) for factor in np.geomspace(0.02, 1, 10)]
    return "rbf"


def one_run(table: str, run: int, folder: Path, rows: int) -> list[Record]:
    """All kernels on one draw of rows."""
    X, y = load(table, folder)
    chosen = np.random.default_rng(run).permutation(len(X))[:rows]
    X, y = X[chosen], y[chosen]
    records: list[Record] = []
    for name in KERNELS:
        scaled = (MinMaxScaler() if name in PAIRS[0] else StandardScaler()).fit_transform(X)
        model = KernelSpectralClustering(len(np.unique(y)), kernel=_kernel(name, X.shape[1]), random_state=run)
        start = time.process_time()
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", UserWarning)
            model.fit(scaled)
        seconds = time.process_time() - start
        negative = 0.0 if model.signature_ is None else model.signature_[1] / len(X)
        records.append(
            {"dataset": table, "run": run, "method": name, "ari": float(adjusted_rand(y, model.labels_)),
             "negative": negative, "seconds": seconds, "rows": len(X)}
        )  # fmt: skip
    return records


def tasks(options: Options, runs: int) -> Iterator[Task]:
    for name in TABLES:
        if options.datasets is not None and name not in options.datasets:
            continue
        if not (options.data and (options.data / "uci" / f"{name}.csv.gz").exists()):
            print(f"{name} left out: uci/{name}.csv.gz is not in the folder named by --data", file=sys.stderr)
            continue
        for run in range(runs):
            yield partial(one_run, name, run, options.data, options.samples or ROWS)


def report(records: list[Record]) -> str:
    lines = []
    names = list(dict.fromkeys(record["dataset"] for record in records))
    for name in [*names, "mean"]:
        found = records if name == "mean" else select(records, dataset=name)
        by = {kernel: select(found, method=kernel) for kernel in KERNELS}
        leads = [signed(lead(by[one], by[other], "ari", by=("dataset", "run"))) for one, other in PAIRS]
        negative = [f"{np.mean([record['negative'] for record in by[kernel]]):.0%}" for kernel in ("TL1", "tanh")]
        lines.append((name, *(str(summary(part, "ari")) for part in by.values()), *leads, *negative))
    header = ("table", *KERNELS, *(f"{one} − {other}" for one, other in PAIRS), "negative eigenvalues, TL1", "tanh")
    return markdown(header, lines)


EXPERIMENT = Experiment(
    name="ksc_indefinite",
    title="Indefinite kernels against RBF: adjusted Rand index of kernel spectral clustering",
    runs=5,
    tasks=tasks,
    report=report,
    names_ensemble=False,
)
