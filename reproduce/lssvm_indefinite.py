"""Indefinite kernels, TL1 and tanh, against RBF in LS-SVM classification, on ten tables.

Huang et al. (2018) introduce TL1. All three kernels have one parameter of their own with five values, and the same
choice: parameter and regularization of the least squared leave-one-out error. Columns are scaled to [0, 1] for TL1, as
it wants them, and standardised for the other two. Splits are 70 to 30 and the same for all.
"""

from __future__ import annotations

import sys
import time
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from sklearn.model_selection import train_test_split
from sklearn.preprocessing import MinMaxScaler, StandardScaler

from gramian import LSSVMClassifier
from gramian.datasets import read_csv
from gramian.kernels import RBF, TL1, Kernel, Tanh
from reproduce.table import Experiment, Options, Record, Task, lead, markdown, select, signed, summary

TABLES = (
    "banknote", "ecoli", "glass", "heart_statlog", "ionosphere", "pima", "seeds", "sonar", "vehicle", "wdbc",
)  # fmt: skip
ROWS = 700
"""Most rows taken of a table, drawn anew in every run."""


class Contestant(NamedTuple):
    """A kernel of a factor and the number of columns, the factors tried, and how columns are scaled."""

    kernel: Callable[[float, int], Kernel]
    factors: tuple[float, ...]
    scaling: Callable[[], Any]


KERNELS = {
    "RBF": Contestant(lambda factor, d: RBF(factor * np.sqrt(d)), (0.25, 0.5, 1.0, 2.0, 4.0), StandardScaler),
    # Beyond the largest distance the radius only adds a constant, which the intercept takes.
    "TL1": Contestant(lambda factor, d: TL1(factor * d), (0.1, 0.2, 0.35, 0.7, 1.0), MinMaxScaler),
    "tanh": Contestant(lambda factor, d: Tanh(slope=factor / d), (0.02, 0.05, 0.1, 0.3, 1.0), StandardScaler),
}


def load(name: str, folder: Path) -> tuple[np.ndarray, np.ndarray]:
    """Numbers without missing values, and classes of at least ten rows."""
    table = read_csv(folder / "uci" / f"{name}.csv.gz", target="label")
    assert table.y is not None
    values, y = np.unique(table.y, return_inverse=True)
    keep = np.isfinite(table.X).all(axis=1) & (np.bincount(y, minlength=len(values))[y] >= 10)
    return table.X[keep], y[keep]


def tuned(name: str, X: np.ndarray, y: np.ndarray) -> tuple[LSSVMClassifier, Any, float]:
    """The machine with the least squared leave-one-out error of all factors, its scaling and its factor."""
    contestant = KERNELS[name]
    scaler = contestant.scaling().fit(X)
    best: tuple[float, LSSVMClassifier, float] | None = None
    for factor in contestant.factors:
        model = LSSVMClassifier(contestant.kernel(factor, X.shape[1])).fit(scaler.transform(X), y)
        assert model.tuning_ is not None
        error = float(np.min(model.tuning_["score"]))
        if best is None or error < best[0]:
            best = (error, model, factor)
    assert best is not None
    return best[1], scaler, best[2]


def one_split(table: str, run: int, folder: Path, rows: int) -> list[Record]:
    """All kernels on one split."""
    X, y = load(table, folder)
    chosen = np.random.default_rng(run).permutation(len(X))[:rows]
    X, new, y, true = train_test_split(X[chosen], y[chosen], test_size=0.3, random_state=run, stratify=y[chosen])
    records = []
    for name in KERNELS:
        start = time.process_time()
        model, scaler, factor = tuned(name, X, y)
        seconds = time.process_time() - start
        accuracy = float(model.score(scaler.transform(new), true))
        negative = model.signature_[1] / sum(model.signature_)
        records.append(
            {"dataset": table, "run": run, "method": name, "acc": accuracy, "factor": factor, "negative": negative,
             "seconds": seconds, "rows": len(X)}
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
            yield partial(one_split, name, run, options.data, options.samples or ROWS)


def report(records: list[Record]) -> str:
    lines = []
    names = list(dict.fromkeys(record["dataset"] for record in records))
    for name in [*names, "mean"]:
        found = records if name == "mean" else select(records, dataset=name)
        by = {kernel: select(found, method=kernel) for kernel in KERNELS}
        leads = [signed(lead(by[kernel], by["RBF"], by=("dataset", "run"))) for kernel in ("TL1", "tanh")]
        negative = [f"{np.mean([record['negative'] for record in by[kernel]]):.0%}" for kernel in ("TL1", "tanh")]
        lines.append((name, *(str(summary(part)) for part in by.values()), *leads, *negative))
    header = ("table", *KERNELS, "TL1 − RBF", "tanh − RBF", "negative eigenvalues, TL1", "tanh")
    return markdown(header, lines)


EXPERIMENT = Experiment(
    name="lssvm_indefinite",
    title="Indefinite kernels against RBF: accuracy of LS-SVM classifiers",
    runs=3,
    tasks=tasks,
    report=report,
    names_ensemble=False,
)
