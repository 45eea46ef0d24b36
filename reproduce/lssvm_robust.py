"""A curve with outliers by the LS-SVM and its robust versions.

The lecture of J. A. K. Suykens shows such a figure, made with LS-SVMlab, without numbers. The numbers beside ours are
of a plain NumPy computation of the same formulas: 61 points of sinc with uniform noise, six of them outliers, width and
regularization given, twenty draws. Its RBF is exp(−d²/σ²) with σ² = 1, so our width is √½.
"""

from __future__ import annotations

import time
from collections.abc import Iterator
from functools import partial
from typing import Any

import numpy as np

from gramian.kernels import RBF
from gramian.lssvm import LSSVMRegressor, Reweighting
from reproduce.table import Experiment, Options, Record, Task, markdown, select

RUNS = 20
POINTS = np.arange(-6, 6.0001, 0.2)
WIDTH, REGULARIZATION = np.sqrt(0.5), 10.0

METHODS: dict[str, Any] = {
    "no weights": None,
    "Hampel, one step": "weighted",
    "Hampel": "hampel",
    "Huber": "huber",
    "logistic": "logistic",
    "myriad, δ = 2": Reweighting("myriad", threshold=2.0),
    "myriad, δ = 1": Reweighting("myriad", threshold=1.0),
    "myriad, δ = 0.5": Reweighting("myriad", threshold=0.5),
}
REIMPLEMENTED = {
    "no weights": (0.0527, None),
    "Hampel, one step": (0.0028, 1),
    "Hampel": (0.0010, 5),
    "Huber": (0.0008, 17),
    "logistic": (0.0010, 77),
    "myriad, δ = 2": (0.0007, 15),
    "myriad, δ = 1": (0.027, 65),
    "myriad, δ = 0.5": (0.060, 46),
}
"""Mean squared error and rounds by an independent computation."""


def curve(run: int) -> np.ndarray:
    """The targets of one draw."""
    rng = np.random.default_rng(run)
    y = np.sinc(POINTS) + 0.1 * rng.random(len(POINTS))
    y[[14, 16, 18]] = 0.7 + 0.3 * rng.random(3)
    y[[40, 43, 45]] = 1.5 + 0.2 * rng.random(3)
    return y


def one_draw(run: int) -> list[Record]:
    """All methods on one draw."""
    X, y, truth = POINTS[:, None], curve(run), np.sinc(POINTS) + 0.05
    records = []
    for method, robust in METHODS.items():
        start = time.process_time()
        model = LSSVMRegressor(RBF(WIDTH), regularization=REGULARIZATION, robust=robust).fit(X, y)
        seconds = round(time.process_time() - start, 4)
        error = float(np.mean((model.predict(X) - truth) ** 2))
        records.append(
            {"dataset": "sinc", "method": method, "run": run, "mse": error, "rounds": model.n_iter_, "seconds": seconds}
        )
    return records


def tasks(options: Options, runs: int) -> Iterator[Task]:
    for run in range(runs):
        yield partial(one_draw, run)


def report(records: list[Record]) -> str:
    rows = []
    for method, (error, rounds) in REIMPLEMENTED.items():
        found = select(records, method=method)
        ours = np.array([record["mse"] for record in found])
        spread = ours.std(ddof=1) / np.sqrt(len(ours)) if len(ours) > 1 else np.nan
        steps = np.mean([record["rounds"] for record in found])
        known = "" if rounds is None else rounds
        rows.append([method, f"{error:.4f}", f"{ours.mean():.5f} ± {spread:.5f}", known, f"{steps:.1f}"])
    return markdown(["method", "re-implemented", "ours ± s.e.", "rounds", "our rounds"], rows)


EXPERIMENT = Experiment(
    name="lssvm_robust",
    title="A curve with outliers: mean squared error of robust LS-SVMs",
    runs=RUNS,
    tasks=tasks,
    report=report,
    names_ensemble=False,
)
