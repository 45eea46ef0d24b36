"""Double descent: the test error of least squares on random waves peaks where their number is that of the rows.

The figure of Belkin, Hsu, Ma and Mandal (2018) in numbers: minimum-norm least squares on D random cosines of 200 rows.
Reference values come from an independent prototype with the same generator.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial

import numpy as np

from reproduce.table import Experiment, Options, Record, Task, markdown, select

N_ROWS, N_COLUMNS, N_TEST, NOISE, SQUARED_WIDTH = 200, 10, 1000, 0.1, 8.0
REFERENCE = {
    10: 0.626, 20: 0.542, 40: 0.460, 80: 0.480, 120: 0.518, 160: 0.740, 190: 2.70, 200: 34.5, 210: 3.22, 240: 0.729,
    300: 0.456, 400: 0.270, 800: 0.182, 1600: 0.166, 6400: 0.143,
}  # fmt: skip
"""Number of features → test error, the median over ten draws of features."""


def data() -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
    """Rows with noisy targets, and test rows with the true ones."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(N_ROWS, N_COLUMNS))
    y = _truth(X) + NOISE * rng.normal(size=N_ROWS)
    new = rng.normal(size=(N_TEST, N_COLUMNS))
    return X, y, new, _truth(new)


def _truth(X: np.ndarray) -> np.ndarray:
    return np.asarray(np.sin(X[:, 0]) + 0.5 * X[:, 1] * X[:, 2])


def errors(n_features: int, run: int) -> tuple[float, float]:
    """Mean squared error on the rows fitted and on test rows."""
    X, y, new, truth = data()
    rng = np.random.default_rng((run, n_features))
    W = rng.normal(scale=np.sqrt(2 / SQUARED_WIDTH), size=(N_COLUMNS, n_features))
    phases = rng.uniform(0, 2 * np.pi, size=n_features)

    def waves(Z: np.ndarray) -> np.ndarray:
        return np.asarray(np.sqrt(2 / n_features) * np.cos(Z @ W + phases))

    F = waves(X)
    w = np.linalg.lstsq(F, y, rcond=1e-12)[0]
    return float(np.mean((F @ w - y) ** 2)), float(np.mean((waves(new) @ w - truth) ** 2))


def one_run(run: int) -> list[Record]:
    records = []
    for n_features in REFERENCE:
        train, test = errors(n_features, run)
        records.append({"dataset": "waves", "method": n_features, "run": run, "mse": test, "train": train})
    return records


def tasks(options: Options, runs: int) -> Iterator[Task]:
    for run in range(runs):
        yield partial(one_run, run)


def report(records: list[Record]) -> str:
    lines = []
    for n_features, reference in REFERENCE.items():
        ours = select(records, method=n_features)
        quartiles = np.quantile([record["mse"] for record in ours], [0.25, 0.5, 0.75])
        train = np.median([record["train"] for record in ours])
        spread = f"{quartiles[0]:.3g} to {quartiles[2]:.3g}"
        lines.append((n_features, f"{reference:g}", f"{quartiles[1]:.3g}", spread, f"{train:.1e}"))
    header = ("features", "reference, median of 10", "ours, median", "quartiles", "training error")
    return markdown(header, lines)


EXPERIMENT = Experiment(
    name="double_descent",
    title="Double descent: 200 rows, random waves, least squares of least norm",
    runs=10,
    tasks=tasks,
    report=report,
    names_ensemble=False,
)
