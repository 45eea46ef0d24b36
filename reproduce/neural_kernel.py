"""Networks of random Fourier blocks (Mehrkanoon, Suykens 2018) by their depth, beside kernel machines.

The lecture that names them prints no numbers, so there is nothing to reproduce but the comparison: one to three blocks,
fixed and trained frequencies, against a support vector machine, a linear machine on the same number of Fourier features
and a plain network. 30 % of the rows are held out; a run is a split.
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
from sklearn.datasets import load_breast_cancer, load_digits, load_wine
from sklearn.exceptions import ConvergenceWarning
from sklearn.linear_model import RidgeClassifier
from sklearn.model_selection import train_test_split
from sklearn.neural_network import MLPClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVC

from gramian import FourierFeatures
from gramian.datasets import read_csv
from gramian.kernels import RBF
from reproduce.table import Experiment, Options, Record, Task, markdown, select, summary

BUNDLED = {"digits": load_digits, "wine": load_wine, "wdbc": load_breast_cancer}
FILES = {"segment": "uci/segment.csv.gz", "vehicle": "uci/vehicle.csv.gz"}
MACHINE, WAVES, PLAIN = "SVC, RBF", "ridge on 200 Fourier features", "plain network, 64–64"


def models(run: int, steps: int | None) -> dict[str, Any]:
    """Name → unfitted model; every one scales its columns."""
    from gramian.deep import NeuralKernelClassifier

    more: dict[str, Any] = {"random_state": run} | ({"max_iter": steps} if steps else {})
    return {
        "1 block": NeuralKernelClassifier(1, **more),
        "2 blocks": NeuralKernelClassifier(2, **more),
        "3 blocks": NeuralKernelClassifier(3, **more),
        "2 blocks, frequencies trained": NeuralKernelClassifier(2, train_frequencies=True, **more),
        WAVES: make_pipeline(
            StandardScaler(), FourierFeatures(200, kernel=RBF("median"), random_state=run), RidgeClassifier(1.0)
        ),
        PLAIN: make_pipeline(StandardScaler(), MLPClassifier((64, 64), max_iter=60, random_state=run)),
        MACHINE: make_pipeline(StandardScaler(), SVC()),
    }


def load(name: str, folder: Path | None) -> tuple[np.ndarray, np.ndarray]:
    if name in BUNDLED:
        X, y = BUNDLED[name](return_X_y=True)
        return X, y
    table = read_csv((folder or Path()) / FILES[name], target="label")
    return np.asarray(table.X, float), np.unique(np.asarray(table.y), return_inverse=True)[1]


def one_split(name: str, run: int, folder: Path | None, steps: int | None) -> list[Record]:
    """Accuracy of every model on rows held out."""
    import torch

    torch.set_num_threads(1)
    X, y = load(name, folder)
    old, new, y_old, y_new = train_test_split(X, y, test_size=0.3, stratify=y, random_state=run)
    records = []
    for method, model in models(run, steps).items():
        start = time.process_time()
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", ConvergenceWarning)  # the plain network stops after 60 passes
            model.fit(old, y_old)
        seconds = time.process_time() - start
        score = float(model.score(new, y_new))
        records.append({"dataset": name, "run": run, "method": method, "acc": score, "seconds": seconds})
    return records


def tasks(options: Options, runs: int) -> Iterator[Task]:
    for name in (*BUNDLED, *FILES):
        if options.datasets is not None and name not in options.datasets:
            continue
        if name in FILES and not (options.data and (options.data / FILES[name]).exists()):
            print(f"{name} left out: {FILES[name]} is not in the folder named by --data", file=sys.stderr)
            continue
        for run in range(runs):
            yield partial(one_split, name, run, options.data, options.samples)


def report(records: list[Record]) -> str:
    names = list(dict.fromkeys(record["dataset"] for record in records))
    lines = []
    for method in dict.fromkeys(record["method"] for record in records):
        own = select(records, method=method)
        cells = (str(summary(select(own, dataset=name), "acc")) for name in names)
        lines.append((method, *cells, f"{np.mean([record['seconds'] for record in own]):.2f}"))
    table = markdown(("accuracy on rows held out ± s.e.", *names, "mean processor s of a fit"), lines)
    return f"{table}\n\n{CLOSING}"


CLOSING = """### What the figures do not say

- Nothing is published beside them: the lecture names the method without numbers; the paper's tables are not at hand.
- All models have their default settings; a tuned machine or network may gain a point or two.
- These tables have a few thousand rows at most, where a kernel machine is at home. The network's case, more rows than a
  kernel matrix can hold, is not shown here."""

EXPERIMENT = Experiment(
    name="neural_kernel",
    title="Networks of random Fourier blocks (Mehrkanoon and Suykens 2018): accuracy by depth",
    runs=5,
    tasks=tasks,
    report=report,
    names_ensemble=False,
    published_runs=10,
)
